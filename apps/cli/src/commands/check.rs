//! `masque check`: decides every property of every file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use masque_driver::{
    self as driver, CrossCheck, Deadlock, Disagreement, EngineChoice, EngineOptions, Limits, Loaded,
    Overflow, Progress, Request, Run, System,
};
use masque_report::{self as report, EvidenceFile, EvidenceFormat, RunReport, Settings, Subject, Text};

use super::{bdi, lcc, race, worker};
use crate::args::{CheckArgs, EvidenceAs, Format};
use crate::progress::Display;
use crate::{Context, Exit, bug};

/// `check FILE..`: a run per file, or for all LCC files together; then the gravest exit of all.
///
/// If the engines disagree, `err` gets a report to send us; verdicts that are known to be doubtful
/// are not told.
pub fn check(
    args: &CheckArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let format = match args.evidence_format {
        EvidenceAs::Text if args.evidence_out.is_none() => return report_all(args, context, out, err, None),
        EvidenceAs::Text => Some(EvidenceFormat::Text),
        EvidenceAs::Dot => Some(EvidenceFormat::Dot),
        EvidenceAs::Html => Some(EvidenceFormat::Html),
        EvidenceAs::Json => None,
    };
    let file = format.map(|format| EvidenceFile::new(format, context.text));
    let mut apart = Apart { file, reports: Vec::new() };
    let Some(path) = &args.evidence_out else {
        // Standard output is for the evidence.
        let mut report = Vec::new();
        let exit = report_all(args, context, &mut report, err, Some(&mut apart))?;
        err.write_all(&report)?;
        apart.write(out)?;
        return Ok(exit);
    };
    // A place that cannot be written to is better told now than after a long check.
    let cannot = || format!("cannot write {}", path.display());
    let mut evidence = BufWriter::new(File::create(path).with_context(cannot)?);
    let exit = report_all(args, context, out, err, Some(&mut apart))?;
    apart.write(&mut evidence).and_then(|()| evidence.flush()).with_context(cannot)?;
    Ok(exit)
}

/// Evidence that does not go into the report.
pub(super) struct Apart {
    /// Where it is collected; JSON is the reports themselves.
    file: Option<EvidenceFile>,
    reports: Vec<RunReport>,
}

impl Apart {
    /// Adds a run: `draw` adds its evidence to a file that is not JSON.
    pub(super) fn add(
        &mut self,
        report: &RunReport,
        draw: impl FnOnce(&mut EvidenceFile) -> io::Result<()>,
    ) -> io::Result<()> {
        match &mut self.file {
            Some(file) => draw(file),
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

/// `--quick` sees as few states as it can, so it goes with nothing that asks for all of them.
fn refuse_quick(args: &CheckArgs, request: &Request) -> anyhow::Result<()> {
    let asks_for_all = [
        ("--cross-check", args.cross_check),
        ("--deadlock error", request.deadlock == Some(Deadlock::Error)),
        ("--overflow error", request.overflow == Some(Overflow::Error)),
    ];
    match asks_for_all.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if args.quick => {
            bail!("`--quick` sees as few states as it can, and `{option}` asks for all of them: choose one")
        }
        _ => Ok(()),
    }
}

/// Checks and reports every file.
fn report_all(
    args: &CheckArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
    mut apart: Option<&mut Apart>,
) -> anyhow::Result<Exit> {
    let request = args.question.request();
    refuse_quick(args, &request)?;
    let hosts = match worker::hosts(args) {
        Ok(hosts) => hosts,
        Err(refused) => {
            context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
            return Ok(Exit::BadInput);
        }
    };
    let plan = worker::plan(args, hosts)?;
    let engine = plan.as_ref().map_or(args.work.engine, |_| EngineChoice::Named("cluster"));
    let settings = Settings { request: &request, engine, stats: args.stats };
    let text = Text { evidence: apart.is_none(), ..context.text };
    let jobs = jobs(args);
    let is_several = jobs.len() > 1;
    let mut exit = Exit::AllHold;
    let mut reports = Vec::new();
    for (position, job) in jobs.into_iter().enumerate() {
        let place = is_several.then_some(position);
        let file = match job {
            Job::File(file) => file,
            Job::Lcc(files) => {
                let report =
                    lcc::check_lcc(args, (context, text), (&files, place), out, apart.as_deref_mut())?;
                bug::tell(err, &report)?;
                exit.raise(Exit::of(report.counts(), args.deny.is_some()));
                if args.explore && report.states.is_none() && !args.parse_only {
                    exit.raise(Exit::Inconclusive);
                }
                reports.push(report);
                continue;
            }
        };
        if driver::bdi::is_bdi(file) {
            let report = bdi::check_bdi(args, (context, text), (file, place), out)?;
            if let Some(apart) = &mut apart {
                apart.add(&report, |file| file.add_bdi(&report))?;
            }
            bug::tell(err, &report)?;
            exit.raise(Exit::of(report.counts(), args.deny.is_some()));
            reports.push(report);
            continue;
        }
        let start = Instant::now();
        let mut loaded = driver::load(file, &request);
        if let Some(diagnostic) = bdi::misplaced(args, false) {
            loaded.diagnostics.push(diagnostic);
            loaded.system = None;
        }
        let mut options = args.engine_options(&mut loaded);
        if let Some(plan) = &plan {
            options.choice = engine;
            options.cluster = driver::cluster::engine(&loaded, &request, plan);
        }
        let run = decide(args, context, &loaded, &options, start)?;
        if let Some(cluster) = &options.cluster {
            // Once the workers are ended, the check, if it was left behind, has nothing true to say.
            let trouble = cluster.trouble().message();
            cluster.end();
            if let Some(trouble) = trouble {
                writeln!(err, "error: {trouble}")?;
                exit.raise(Exit::Inconclusive);
            }
        }
        if let Some(found) = run.as_ref().and_then(disagreement) {
            return disagree(err, &loaded, settings, found);
        }
        let subject = Subject { loaded: &loaded, run: run.as_ref() };
        let report = report::run_report(subject, settings);
        bug::tell(err, &report)?;
        exit.raise(Exit::of(report.counts(), args.deny.is_some()));
        if let Some(apart) = &mut apart {
            apart.add(&report, |file| file.add(subject))?;
        }
        if args.format == Format::Text {
            text.run(out, &report, subject, place)?;
            out.flush()?;
        }
        if context.progress && !args.stats {
            _ = writeln!(std::io::stderr(), "{}", time(&loaded.name, start.elapsed()));
        }
        reports.push(report);
    }
    match args.format {
        Format::Json => report::json(out, reports)?,
        Format::Text if is_several => text.total(out, &reports)?,
        Format::Text => {}
    }
    Ok(exit)
}

/// One run.
enum Job<'a> {
    File(&'a Path),
    Lcc(lcc::Files),
}

/// The runs of a command line, in the order of their first files.
fn jobs(args: &CheckArgs) -> Vec<Job<'_>> {
    let mut of_lcc = lcc::runs(args).into_iter().peekable();
    let mut jobs = Vec::new();
    for file in &args.files {
        if !driver::lcc::is_lcc(file) {
            jobs.push(Job::File(file));
        } else if let Some(files) = of_lcc.next_if(|files| files.first == *file) {
            jobs.push(Job::Lcc(files));
        }
    }
    jobs
}

/// Decides the properties, if there are any to decide.
fn decide(
    args: &CheckArgs,
    context: &Context,
    loaded: &Loaded,
    options: &EngineOptions,
    start: Instant,
) -> anyhow::Result<Option<Run>> {
    let Some(system) = loaded.system.as_ref().filter(|_| !args.parse_only) else { return Ok(None) };
    let limits = args.work.limits(start, &context.interrupt);
    if args.work.engine == EngineChoice::Race {
        let request = args.question.request();
        return race::check(context, (loaded, &request), options, &limits).map(Some);
    }
    Ok(Some(watched(context, loaded, system, options, &limits)))
}

/// Decides all properties of a system, with progress for whoever wants to see it.
pub(super) fn watched(
    context: &Context,
    loaded: &Loaded,
    system: &Arc<System>,
    options: &EngineOptions,
    limits: &Limits,
) -> Run {
    driver::check(system, options, limits, &mut observer(context, loaded))
}

/// Shows progress to whoever wants to see it.
pub(super) fn observer(context: &Context, loaded: &Loaded) -> impl FnMut(Progress) {
    let mut display = context.progress.then(|| Display::new(&loaded.name));
    move |progress| {
        if let Some(display) = &mut display {
            display.show(progress);
        }
    }
}

/// What the engines disagree on, if they do.
fn disagreement(run: &Run) -> Option<&CrossCheck> {
    run.cross_check.as_ref().filter(|found| !found.disagreements.is_empty())
}

/// Tells all that we need to know of a disagreement.
fn disagree(
    err: &mut dyn Write,
    loaded: &Loaded,
    settings: Settings<'_>,
    found: &CrossCheck,
) -> anyhow::Result<Exit> {
    let report = report::run_report(Subject { loaded, run: None }, settings);
    writeln!(err, "masque: this is a bug: {found}; please report it together with the file:")?;
    writeln!(err, "  version: masque {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(err, "  file: {}", loaded.name)?;
    for (name, value) in &report.parameters.0 {
        writeln!(err, "  parameter: {name} = {value}")?;
    }
    for (name, value) in &report.options.0 {
        writeln!(err, "  option: {name} = {value}")?;
    }
    for Disagreement { property, question, answers } in &found.disagreements {
        let property = property.and_then(|p| Some((loaded.system.as_ref()?, p)));
        match property.map(|(system, p)| (system, &system.properties[p])) {
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
    use masque_driver::Request;

    use super::*;

    /// The work of engines that were asked, as it is told when two of them differ on `wrong`.
    fn run(wrong: Vec<Disagreement>) -> Run {
        let engines = vec!["explicit", "symbolic"];
        let cross_check = CrossCheck { engines, disagreements: wrong, ..CrossCheck::default() };
        Run {
            states: Some("2".to_string()),
            decided: Vec::new(),
            findings: Vec::new(),
            costs: Vec::new(),
            explored: None,
            reason: None,
            cross_check: Some(cross_check),
            extents: Default::default(),
            bugs: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// No two engines of ours differ on any model we know, so the answers are made up.
    #[test]
    fn a_disagreement_is_a_bug_with_a_report() {
        let text = std::fs::read_to_string("tests/models/lamps.ispl").unwrap();
        let request = Request { defines: vec!["N=3".to_string()], ..Request::default() };
        let loaded = driver::load_text("lamps.ispl", &text, &request);
        let settings = Settings { request: &request, engine: EngineChoice::Auto, stats: false };
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
        let exit = disagree(&mut err, &loaded, settings, disagreement(&run).unwrap()).unwrap();
        assert_eq!((exit, exit.code()), (Exit::Bug, 101));
        let said = String::from_utf8(err).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(said);
    }

    /// Evidence that does not replay is withheld: every verdict is reported, the bug too, and the exit
    /// code is 101.
    #[test]
    fn withheld_evidence_is_a_bug_that_leaves_the_verdicts() {
        let text = std::fs::read_to_string("tests/models/lamps.ispl").unwrap();
        let request = Request::default();
        let loaded = driver::load_text("lamps.ispl", &text, &request);
        let settings = Settings { request: &request, engine: EngineChoice::Auto, stats: false };
        let system = loaded.system.as_ref().unwrap();
        let options = EngineOptions { evidence: driver::Show::All, ..EngineOptions::default() };
        let mut run = driver::check(system, &options, &Limits::default(), &mut |_| {});
        let lie = run.decided.iter().position(|decided| decided.outcome.evidence.is_some()).unwrap();
        run.decided[lie].outcome.evidence = None;
        run.decided[lie].withheld = Some("made up".to_string());
        run.bugs.push("the path to a deadlock does not replay: made up".to_string());
        let subject = Subject { loaded: &loaded, run: Some(&run) };
        let report = report::run_report(subject, settings);
        let exit = Exit::of(report.counts(), false);
        assert_eq!((exit, exit.code()), (Exit::Bug, 101));
        let (mut out, mut err) = (Vec::new(), Vec::new());
        Text::default().run(&mut out, &report, subject, None).unwrap();
        bug::tell(&mut err, &report).unwrap();
        report::json(&mut out, vec![report]).unwrap();
        let (out, err) = (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap());
        assert!(out.contains("\n  evidence withheld: made up\n"), "{out}");
        assert!(out.contains("\"evidence_withheld\": \"made up\""), "{out}");
        assert_eq!(out.matches("\"verdict\": ").count(), run.decided.len());
        let name = &system.properties[lie].name;
        let asks = "masque: this is a bug; please report it together with the input that shows it: ";
        let lines = [
            format!("{asks}the evidence for property {name} does not replay: made up"),
            format!("{asks}the path to a deadlock does not replay: made up"),
        ];
        assert_eq!(err.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn no_disagreement_is_no_bug() {
        assert_eq!(disagreement(&run(Vec::new())), None);
        assert_eq!(disagreement(&Run { cross_check: None, ..run(Vec::new()) }), None);
    }
}
