//! `masque check`: decides every property of every file.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use masque_driver::{self as driver, CrossCheck, Disagreement, EngineOptions, Limits, Loaded, Run};
use masque_report::{self as report, RunReport, Settings, Subject};

use super::{bdi, lcc};
use crate::args::{CheckArgs, Format};
use crate::progress::Display;
use crate::{Context, Exit};

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
    let request = args.request();
    let settings = Settings { request: &request, engine: args.work.engine, stats: args.stats };
    // LCC files together are one run, in the place of the first of them.
    let first_lcc = args.files.iter().position(|file| driver::lcc::is_lcc(file));
    let is_run =
        |(position, file): &(usize, &PathBuf)| !driver::lcc::is_lcc(file) || first_lcc == Some(*position);
    let files: Vec<&PathBuf> = args.files.iter().enumerate().filter(is_run).map(|(_, file)| file).collect();
    let is_several = files.len() > 1;
    let mut exit = Exit::AllHold;
    let mut reports = Vec::new();
    for (position, file) in files.into_iter().enumerate() {
        if driver::lcc::is_lcc(file) {
            let report = lcc::check_lcc(args, context, is_several.then_some(position), out)?;
            exit.raise(Exit::of(report.counts(), args.deny.is_some()));
            if args.explore && report.states.is_none() && !args.parse_only {
                exit.raise(Exit::Inconclusive);
            }
            reports.push(report);
            continue;
        }
        if driver::bdi::is_bdi(file) {
            let report = bdi::check_bdi(args, context, (file, is_several.then_some(position)), out)?;
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
        let options = args.engine_options(loaded.order(&args.work.order));
        let run = decide(args, context, &loaded, &options, start);
        if let Some(found) = run.as_ref().and_then(disagreement) {
            disagree(
                err,
                &loaded,
                &report::run_report(Subject { loaded: &loaded, run: None }, settings),
                found,
            )?;
            return Ok(Exit::Bug);
        }
        let subject = Subject { loaded: &loaded, run: run.as_ref() };
        let report = report::run_report(subject, settings);
        exit.raise(Exit::of(report.counts(), args.deny.is_some()));
        if args.format == Format::Text {
            context.text.run(out, &report, subject, is_several.then_some(position))?;
            out.flush()?;
        }
        if context.progress && !args.stats {
            _ = writeln!(std::io::stderr(), "{}", time(&loaded.name, start.elapsed()));
        }
        reports.push(report);
    }
    match args.format {
        Format::Json => report::json(out, reports)?,
        Format::Text if is_several => context.text.total(out, &reports)?,
        Format::Text => {}
    }
    Ok(exit)
}

/// Decides the properties, if there are any to decide.
fn decide(
    args: &CheckArgs,
    context: &Context,
    loaded: &Loaded,
    options: &EngineOptions,
    start: Instant,
) -> Option<Run> {
    let system = loaded.system.as_ref().filter(|_| !args.parse_only)?;
    let limits = Limits {
        deadline: args.work.timeout.and_then(|timeout| start.checked_add(timeout)),
        memory: args.work.memory,
        interrupt: context.interrupt.clone(),
    };
    let mut display = context.progress.then(|| Display::new(&loaded.name));
    let mut observe = |progress| {
        if let Some(display) = &mut display {
            display.show(progress);
        }
    };
    Some(driver::check(system, options, &limits, &mut observe))
}

/// What the engines disagree on, if they do.
fn disagreement(run: &Run) -> Option<&CrossCheck> {
    run.cross_check.as_ref().filter(|found| !found.disagreements.is_empty())
}

/// All that we need to know of a disagreement.
fn disagree(
    err: &mut dyn Write,
    loaded: &Loaded,
    report: &RunReport,
    found: &CrossCheck,
) -> std::io::Result<()> {
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
                let (name, formula) = (&property.name, system.formula_text(property.formula));
                writeln!(err, "  on {question} of property {name} (at {}), {formula}:", property.at.name())?;
            }
        }
        for (engine, answer) in answers {
            writeln!(err, "    {engine}: {answer}")?;
        }
    }
    Ok(())
}

fn time(name: &str, time: Duration) -> String {
    format!("{name}: {:.3} s", time.as_secs_f64())
}
