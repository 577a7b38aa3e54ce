//! `masque test`: compares the results of models with the expectations in their comments.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread::available_parallelism;

use anyhow::{Context as _, bail};
use masque_driver::{
    self as driver, Diagnostic, EngineChoice, LeftOut, Limits, Severity, Sources, TestFiles, TestPool,
    TestProgress, TestRequest, TestStatus, Tested, Unread, Why,
};
use masque_report::{Detail, DiagnosticReport, ModelTestReport, TestReport};

use crate::args::{Format, TestArgs};
use crate::test_progress::TestDisplay;
use crate::{Context, Exit};

/// `test [PATH..]`: tests every model below the paths, several at a time, and reports them in order.
pub fn test(
    args: &TestArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.engine == EngineChoice::Race {
        bail!(
            "`--engine race` is for `masque check`; this command accepts `auto`, `explicit` and `symbolic`"
        );
    }
    let limits = Limits::new(None, None, &context.interrupt);
    let reading = Limits::new(args.timeout, args.memory, &context.interrupt);
    let expect = args.expect.as_deref().map(|path| driver::read_expect_file(path, &reading));
    let expect = match expect.transpose() {
        Ok(expect) => expect,
        Err(Unread::Stopped(why)) => {
            writeln!(err, "the expectations could not be read: {}", why.word())?;
            return Ok(Exit::Inconclusive);
        }
        Err(Unread::Refused(diagnostic)) => {
            context.text.diagnostics(err, &Sources::default(), [&*diagnostic])?;
            return Ok(Exit::BadInput);
        }
    };
    let paths = args.all_paths();
    let files = match driver::test_files(&paths, &args.request(NonZeroUsize::MIN), &limits) {
        Ok(files) => files,
        Err(Why::Interrupted) => {
            writeln!(err, "the search for models was interrupted")?;
            return Ok(Exit::Inconclusive);
        }
        Err(why) => {
            writeln!(err, "the search for models was stopped: {}", why.word())?;
            return Ok(Exit::Inconclusive);
        }
    };
    let mut session = Session::new(args, context, &files);
    session.report_paths(&files, out, err)?;
    if files.models.is_empty() && session.exit < Exit::BadInput {
        session.fail(nothing_to_test(&files), out)?;
    }
    let pool = pool(args, context, expect, files.models.len());
    session.run(&pool, &files, out, err)?;
    session.finish(out)
}

/// How the models are tested: as many at a time as requested, with the processors divided among them.
fn pool(args: &TestArgs, context: &Context, expect: Option<(String, String)>, n_models: usize) -> TestPool {
    let processors = available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = args.jobs.unwrap_or(processors);
    let at_once = jobs.get().min(n_models.max(1));
    let threads = NonZeroUsize::new(processors.get() / at_once).unwrap_or(NonZeroUsize::MIN);
    TestPool {
        test: TestRequest { request: args.request(threads), is_strict: args.strict, expect },
        jobs,
        timeout: args.timeout,
        memory: args.memory,
        interrupt: Arc::clone(&context.interrupt),
    }
}

/// The error that there is no model to test.
fn nothing_to_test(files: &TestFiles) -> Diagnostic {
    let message = "there is no model to test";
    let help = match files.left_out.first() {
        Some(LeftOut { name, why, .. }) => format!("`{name}` is no model, because {why}"),
        None => {
            "models are files that end in .ispl, .bdi, .lcc or .aut; hidden folders are skipped".to_string()
        }
    };
    Diagnostic::nowhere(Severity::Error, "test/no-models", message).hint(help)
}

/// One run of the command.
struct Session<'a> {
    args: &'a TestArgs,
    context: &'a Context,
    report: TestReport,
    unmatched: Vec<Vec<driver::Unmatched>>,
    exit: Exit,
}

impl<'a> Session<'a> {
    fn new(args: &'a TestArgs, context: &'a Context, files: &TestFiles) -> Session<'a> {
        let report = TestReport::new(&files.left_out);
        Session { args, context, report, unmatched: Vec::new(), exit: Exit::AllHold }
    }

    fn is_text(&self) -> bool {
        self.args.format == Format::Text
    }

    /// Reports paths that cannot be read, and files that are no models: those that the user named, and with `-v`
    /// all of them.
    fn report_paths(
        &mut self,
        files: &TestFiles,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> anyhow::Result<()> {
        for error in &files.errors {
            self.fail(error.clone(), out)?;
        }
        let is_verbose = self.context.text.detail == Detail::Verbose;
        if !files.models.is_empty() && self.is_text() && self.context.text.detail > Detail::Quiet {
            for LeftOut { name, why, .. } in files.left_out.iter().filter(|left| left.is_named || is_verbose)
            {
                writeln!(err, "{name}: not tested by itself, because {why}")?;
            }
        }
        Ok(())
    }

    /// Reports an error that is not about one model.
    fn fail(&mut self, diagnostic: Diagnostic, out: &mut dyn Write) -> anyhow::Result<()> {
        self.exit.raise(Exit::BadInput);
        if self.is_text() {
            self.context.text.diagnostics(out, &Sources::default(), [&diagnostic])?;
        }
        self.report.errors.push(DiagnosticReport::new(&Sources::default(), &diagnostic));
        Ok(())
    }

    /// Tests all models.
    fn run(
        &mut self,
        pool: &TestPool,
        files: &TestFiles,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let display = self.context.progress.then(TestDisplay::new);
        let mut done = |_, tested: Option<Tested>| match &display {
            Some(display) => display.suspend(|| self.add(tested.as_ref(), out, err)),
            None => self.add(tested.as_ref(), out, err),
        };
        let mut observe = |progress: TestProgress<'_>| {
            if let Some(display) = &display {
                display.show(progress);
            }
        };
        pool.run(&files.models, &mut done, &mut observe).context("cannot test the models")
    }

    /// Adds the test of a model; none if it was not tested.
    fn add(
        &mut self,
        tested: Option<&Tested>,
        out: &mut dyn Write,
        err: &mut dyn Write,
    ) -> std::io::Result<()> {
        let Some(tested) = tested else {
            self.report.add_not_tested();
            self.exit.raise(Exit::Inconclusive);
            return Ok(());
        };
        for bug in &tested.bugs {
            crate::bug::write_bug(err, bug)?;
            self.exit.raise(Exit::Bug);
        }
        self.exit.raise(match tested.status() {
            TestStatus::AsExpected | TestStatus::WithoutExpectations => Exit::AllHold,
            TestStatus::Undecided => Exit::Inconclusive,
            TestStatus::Differs => Exit::SomeFail,
            TestStatus::Broken => Exit::BadInput,
        });
        if tested.loaded.model.is_some() {
            self.unmatched.push(tested.unmatched.clone());
        }
        let report = ModelTestReport::new(tested);
        if self.is_text() {
            self.context.text.model_test(out, &report, tested)?;
            out.flush()?;
        }
        self.report.add(report);
        Ok(())
    }

    /// Writes the summary, or the whole report as JSON.
    fn finish(mut self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        for diagnostic in driver::unmatched_everywhere(&self.unmatched) {
            self.fail(diagnostic, out)?;
        }
        match self.args.format {
            Format::Text => self.context.text.test_summary(out, &self.report)?,
            Format::Json => self.report.json(out)?,
        }
        Ok(self.exit)
    }
}
