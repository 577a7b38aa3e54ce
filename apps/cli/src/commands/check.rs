//! `masque check`: decides the properties of files.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use masque_driver::{
    self as driver, CrossCheck, Deadlock, Diagnostic, Disagreement, Language, Limits, Loaded, Overflow,
    Request, Run, RunFiles, Sources,
};
use masque_report::{
    self as report, CiRun, EvidenceFile, EvidenceFormat, RunReport, Subject, Text, TraceFiles, TraceFormat,
};

use super::certificates::Certificates;
use super::{NO_THREAD, trace_output, worker};
use crate::args::{CheckArgs, CheckFormat, EvidenceAs};
use crate::progress::Display;
use crate::{Context, Exit, bug, github, interrupt};

/// `check FILE..`: one run per file, and one for all LCC files together. Returns the most severe exit of all.
///
/// If engines disagree, a bug report is written to `err`, and no verdicts of the file are reported.
pub fn check(
    args: &CheckArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.end_with_input {
        interrupt::end_with_input(args.remove_folder.clone()).context(NO_THREAD)?;
    }
    Ok(check_files(args, context, out, err)?.exit)
}

/// The result of a check of all files.
pub(super) struct Checked {
    /// The most severe exit of all runs.
    pub(super) exit: Exit,
    /// Reports on the runs, unless they were written as JSON.
    pub(super) reports: Vec<RunReport>,
    /// The files that were read, imports included, and imports that do not exist.
    pub(super) files: Vec<PathBuf>,
}

/// Checks and reports all files, and writes evidence to a file of its own if that is requested.
pub(super) fn check_files(
    args: &CheckArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Checked> {
    let format = match args.evidence_format {
        EvidenceAs::Text if args.evidence_out.is_none() => return report_all(args, context, out, err, None),
        EvidenceAs::Text => Some(EvidenceFormat::Text),
        EvidenceAs::Dot => Some(EvidenceFormat::Dot),
        EvidenceAs::Html => Some(EvidenceFormat::Html),
        EvidenceAs::Json => None,
        EvidenceAs::Itf => return check_with_traces(args, context, TraceFormat::Itf, out, err),
        EvidenceAs::Mermaid => return check_with_traces(args, context, TraceFormat::Mermaid, out, err),
        EvidenceAs::Csv => return check_with_traces(args, context, TraceFormat::Csv, out, err),
    };
    let file = format.map(|format| EvidenceFile::new(format, context.text));
    let mut separate = SeparateEvidence { file, traces: None, reports: Vec::new() };
    let Some(path) = &args.evidence_out else {
        // The evidence goes to standard output, and the report to standard error.
        let mut report = Vec::new();
        let checked = report_all(args, context, &mut report, err, Some(&mut separate))?;
        err.write_all(&report)?;
        separate.write(out)?;
        return Ok(checked);
    };
    // The file is created first, so that an error is reported before a long check.
    let cannot = || format!("cannot write {}", path.display());
    let mut evidence = BufWriter::new(File::create(path).with_context(cannot)?);
    let checked = report_all(args, context, out, err, Some(&mut separate))?;
    separate.write(&mut evidence).and_then(|()| evidence.flush()).with_context(cannot)?;
    Ok(checked)
}

/// Checks with the runs of evidence as files for other programs.
fn check_with_traces(
    args: &CheckArgs,
    context: &Context,
    format: TraceFormat,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Checked> {
    let path = args.evidence_out.as_deref();
    trace_output::refuse_folder(path)?;
    let traces = Some(TraceFiles::new(format));
    let mut separate = SeparateEvidence { file: None, traces, reports: Vec::new() };
    let mut report = Vec::new();
    // Without a file the evidence goes to standard output, and the report to standard error.
    let mut checked = match path {
        Some(_) => report_all(args, context, out, err, Some(&mut separate))?,
        None => report_all(args, context, &mut report, err, Some(&mut separate))?,
    };
    err.write_all(&report)?;
    if let Some(traces) = &separate.traces {
        checked.exit.raise(trace_output::write(traces, path, out, err)?);
    }
    Ok(checked)
}

/// Evidence that is not part of the report.
struct SeparateEvidence {
    /// The evidence in another format than JSON.
    file: Option<EvidenceFile>,
    /// The runs of the evidence.
    traces: Option<TraceFiles>,
    /// The reports, which contain the evidence in JSON.
    reports: Vec<RunReport>,
}

impl SeparateEvidence {
    fn add(&mut self, report: &RunReport, subject: Subject<'_>, limits: &Limits) -> io::Result<()> {
        if let Some(traces) = &mut self.traces {
            // The runs are as long as the evidence, and finding their states takes no search.
            traces.add(subject, &Limits { deadline: None, ..limits.clone() });
            return Ok(());
        }
        match &mut self.file {
            Some(file) => file.add(subject),
            None => {
                self.reports.push(report.clone());
                Ok(())
            }
        }
    }

    fn write(self, out: &mut dyn Write) -> io::Result<()> {
        match self.file {
            Some(file) => file.write(out),
            None => report::json(out, self.reports),
        }
    }
}

/// Refuses `--quick`, which explores as few states as possible, together with options that need all states.
fn refuse_quick(args: &CheckArgs, request: &Request) -> anyhow::Result<()> {
    let asks_for_all = [
        ("--cross-check", args.cross_check),
        ("--deadlock error", request.deadlock == Some(Deadlock::Error)),
        ("--overflow error", request.overflow == Some(Overflow::Error)),
    ];
    match asks_for_all.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if args.quick => {
            bail!(
                "`--quick` explores as few states as possible, but `{option}` needs all of them: choose one"
            )
        }
        _ => Ok(()),
    }
}

/// Checks and reports every run.
fn report_all(
    args: &CheckArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
    mut separate: Option<&mut SeparateEvidence>,
) -> anyhow::Result<Checked> {
    let without_reports = |exit| Checked { exit, reports: Vec::new(), files: Vec::new() };
    let limits = args.work.limits(&context.interrupt);
    let hosts = match worker::hosts(args, &limits) {
        Ok(hosts) => hosts,
        Err(refused) => {
            context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
            let is_wrong = refused.diagnostics.iter().any(Diagnostic::is_error);
            return Ok(without_reports(if is_wrong { Exit::BadInput } else { Exit::Inconclusive }));
        }
    };
    let mut request = args.request(worker::plan(args, hosts)?);
    refuse_quick(args, &request)?;
    let mut certificates = Certificates::new(args)?;
    let text = Text { evidence: separate.is_none(), ..context.text };
    let runs = match driver::runs(&args.files, args.each, &request, &limits) {
        Ok(runs) => runs.into_iter().map(Ok).collect(),
        Err(why) => vec![Err(why)],
    };
    let is_several = runs.len() > 1;
    request.is_for_several = is_several;
    let mut unmatched = Vec::new();
    let mut exit = Exit::AllHold;
    let (mut reports, mut ci_runs, mut files) = (Vec::new(), Vec::new(), Vec::new());
    let is_annotated = context.github && !args.end_with_input;
    let is_ci = matches!(args.format, CheckFormat::Sarif | CheckFormat::Junit);
    for (index, run) in runs.into_iter().enumerate() {
        let start = Instant::now();
        let limits = args.work.limits(&context.interrupt);
        let mut loaded = match run {
            Ok(files) => load(&files, &request, &limits),
            Err(why) => driver::not_loaded(&args.files, &request, why),
        };
        loaded.refuse(undrawable(args, &loaded));
        unmatched.extend(loaded.model.is_some().then(|| loaded.unmatched.clone()));
        let mut run = if args.parse_only { None } else { check_with_progress(context, &loaded, &limits)? };
        if let (Some(certificates), Some(run)) = (&mut certificates, &mut run) {
            certificates.settle(&loaded, run, &limits)?;
        }
        if let Some(error) = run.as_ref().and_then(|run| run.cluster_error.as_ref()) {
            writeln!(err, "error: {error}")?;
        }
        if let Some(found) = run.as_ref().and_then(disagreement) {
            return report_disagreement(err, &loaded, found).map(without_reports);
        }
        let subject = Subject { loaded: &loaded, run: run.as_ref() };
        let report = report::run_report(subject, args.stats);
        bug::write_bugs(err, &report)?;
        exit.raise(Exit::of(report.counts(), args.deny.is_some()));
        if is_incomplete(args, subject, &report) {
            exit.raise(Exit::Inconclusive);
        }
        if let Some(separate) = &mut separate {
            separate.add(&report, subject, &limits)?;
        }
        if args.format == CheckFormat::Text {
            text.run(out, &report, subject, is_several.then_some(index))?;
            out.flush()?;
        }
        if context.progress && !args.stats {
            _ = writeln!(std::io::stderr(), "{}", time(&loaded.name(), start.elapsed()));
        }
        if is_ci || is_annotated {
            ci_runs.push(CiRun::new(report.clone(), subject, args.deny.is_some()));
        }
        files.extend(loaded.watched_files());
        reports.push(report);
    }
    let unmatched = driver::unmatched_everywhere(&unmatched);
    if !unmatched.is_empty() {
        context.text.diagnostics(err, &Sources::default(), &unmatched)?;
        exit.raise(Exit::BadInput);
    }
    match args.format {
        CheckFormat::Json => report::json(out, std::mem::take(&mut reports))?,
        CheckFormat::Sarif => report::sarif(out, &ci_runs, exit.code(), &std::env::current_dir()?)?,
        CheckFormat::Junit => report::junit(out, &ci_runs)?,
        CheckFormat::Text if is_several => text.total(out, &reports)?,
        CheckFormat::Text => {}
    }
    if is_annotated {
        out.flush()?;
        ci_runs.iter().try_for_each(|run| github::annotate(err, run))?;
    }
    Ok(Checked { exit, reports, files })
}

/// Whether a run stopped before it had what was asked for, besides verdicts.
fn is_incomplete(args: &CheckArgs, Subject { loaded, run }: Subject<'_>, report: &RunReport) -> bool {
    let has_no_count = args.explore && run.is_some() && report.states.is_none();
    let has_failed = run.is_some_and(|run| run.cluster_error.is_some());
    loaded.stopped.is_some() || has_failed || has_no_count
}

/// Loads the files of a run.
fn load(run: &RunFiles, request: &Request, limits: &Limits) -> Loaded {
    let mut loaded = driver::load_within(&run.files, request, limits);
    loaded.diagnostics.extend(run.note.clone());
    loaded
}

/// The error about evidence of a BDI file in DOT: it is not a graph of states.
fn undrawable(args: &CheckArgs, loaded: &Loaded) -> Option<Diagnostic> {
    let help = "`--evidence-format html` and `text` explain in words, `json` has the data; \
                `masque worlds --format dot` draws the worlds";
    let is_drawn = args.evidence_format == EvidenceAs::Dot && loaded.language == Some(Language::Bdi);
    is_drawn.then(|| driver::wrong_language("--evidence-format dot", &[Language::Ispl, Language::Lcc], help))
}

/// Checks a loaded model, with progress on a terminal.
pub(super) fn check_with_progress(
    context: &Context,
    loaded: &Loaded,
    limits: &Limits,
) -> anyhow::Result<Option<Run>> {
    let name = loaded.name();
    let mut display = context.progress.then(|| Display::new(&name));
    let mut observe = |progress| {
        if let Some(display) = &mut display {
            display.show(progress);
        }
    };
    driver::check(loaded, limits, &mut observe).context("cannot start a process")
}

/// The result of a cross-check, if the engines disagree.
fn disagreement(run: &Run) -> Option<&CrossCheck> {
    run.system_details()?.cross_check.as_ref().filter(|found| !found.disagreements.is_empty())
}

/// Writes a bug report about a disagreement.
fn report_disagreement(err: &mut dyn Write, loaded: &Loaded, found: &CrossCheck) -> anyhow::Result<Exit> {
    writeln!(err, "masque: this is a bug: {found}; please report it together with the file:")?;
    writeln!(err, "  version: masque {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(err, "  file: {}", loaded.name())?;
    for (name, value) in &loaded.parameters {
        writeln!(err, "  parameter: {name} = {value}")?;
    }
    for (name, value) in &loaded.options {
        writeln!(err, "  option: {name} = {value}")?;
    }
    for Disagreement { property, question, answers } in &found.disagreements {
        let property = property.and_then(|index| Some((loaded.system()?, index)));
        match property.map(|(system, index)| (system, &system.properties[index])) {
            None => writeln!(err, "  on {question}:")?,
            Some((system, property)) => {
                let (name, formula) = (&property.title, system.formula_text(property.formula));
                writeln!(err, "  on {question} of property {name} (at {}), {formula}:", property.at.name())?;
            }
        }
        for (engine, answer) in answers {
            writeln!(err, "    {engine}: {answer}")?;
        }
    }
    Ok(Exit::Bug)
}

fn time(name: &str, time: Duration) -> String {
    format!("{name}: {:.3} s", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use masque_driver::{Details, Request, Show, Shown, SystemDetails, Work};

    use super::*;

    /// A run with these disagreements.
    fn run(disagreements: Vec<Disagreement>) -> Run {
        let engines = vec!["explicit", "symbolic"];
        let cross_check = CrossCheck { engines, disagreements, ..CrossCheck::default() };
        let details = SystemDetails { cross_check: Some(cross_check), ..SystemDetails::default() };
        Run { details: Details::Ispl(details), ..Run::default() }
    }

    /// The disagreements are invented, because the engines agree on all known models.
    #[test]
    fn a_disagreement_is_a_bug_with_a_report() {
        let text = std::fs::read_to_string("tests/models/lamps.ispl").unwrap();
        let request = Request { defines: vec!["N=3".to_string()], ..Request::default() };
        let loaded = driver::load_text("lamps.ispl", &text, &request);
        let answers =
            |one: &str, other: &str| [("explicit", one.to_string()), ("symbolic", other.to_string())];
        let run = run(vec![
            Disagreement {
                property: None,
                question: "the number of reachable states",
                answers: answers("8", "7"),
            },
            Disagreement { property: Some(0), question: "the verdict", answers: answers("holds", "fails") },
        ]);
        let mut err = Vec::new();
        let exit = report_disagreement(&mut err, &loaded, disagreement(&run).unwrap()).unwrap();
        assert_eq!((exit, exit.code()), (Exit::Bug, 101));
        let text = String::from_utf8(err).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(text);
    }

    /// Evidence that does not replay is withheld: every verdict is reported, the bug too, and the exit
    /// code is 101.
    #[test]
    fn withheld_evidence_is_a_bug_that_leaves_the_verdicts() {
        let text = std::fs::read_to_string("tests/models/lamps.ispl").unwrap();
        let work = Work { evidence: Show::All, ..Work::default() };
        let loaded = driver::load_text("lamps.ispl", &text, &Request { work, ..Request::default() });
        let mut run = driver::check(&loaded, &Limits::default(), &mut |_| {}).unwrap().unwrap();
        let is_shown = |shown: &Option<Shown>| shown.is_some();
        let lie = run.decisions.iter().position(|decision| is_shown(&decision.evidence)).unwrap();
        run.decisions[lie].evidence = None;
        run.decisions[lie].withheld = Some("made up".to_string());
        run.bugs.push("the path to a deadlock does not replay: made up".to_string());
        let subject = Subject { loaded: &loaded, run: Some(&run) };
        let report = report::run_report(subject, false);
        let exit = Exit::of(report.counts(), false);
        assert_eq!((exit, exit.code()), (Exit::Bug, 101));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        Text::default().run(&mut out, &report, subject, None).unwrap();
        bug::write_bugs(&mut err, &report).unwrap();
        report::json(&mut out, vec![report]).unwrap();
        let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
        assert!(out.contains("\n  evidence withheld: made up\n"), "{out}");
        assert!(out.contains("\"evidence_withheld\": \"made up\""), "{out}");
        assert_eq!(out.matches("\"verdict\": ").count(), run.decisions.len());
        let name = &loaded.system().unwrap().properties[lie].name;
        let asks = "masque: this is a bug; please report it together with the input that shows it: ";
        let lines = [
            format!("{asks}the evidence for property {name} does not replay: made up"),
            format!("{asks}the path to a deadlock does not replay: made up"),
        ];
        assert_eq!(err.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn agreement_is_not_a_bug() {
        assert_eq!(disagreement(&run(Vec::new())), None);
        assert_eq!(disagreement(&Run::default()), None);
    }
}
