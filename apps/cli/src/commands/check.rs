//! `masque check`: decides every property of every file.

use std::io::Write;
use std::time::{Duration, Instant};

use masque_driver::{self as driver, CrossCheck, Disagreement, EngineOptions, Limits, Loaded, Run};
use masque_report::{self as report, Settings, Subject};

use crate::args::{CheckArgs, Format};
use crate::progress::Display;
use crate::{Context, Exit};

/// `check FILE..`: a run per file, then the gravest exit of all.
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
    let is_several = args.files.len() > 1;
    let mut exit = Exit::AllHold;
    let mut reports = Vec::new();
    for (position, file) in args.files.iter().enumerate() {
        let start = Instant::now();
        let mut loaded = driver::load(file, &request);
        let options = args.engine_options(loaded.order(&args.work.order));
        let run = decide(args, context, &loaded, &options, start);
        if let Some(found) = run.as_ref().and_then(disagreement) {
            return disagree(err, &loaded, settings, found);
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
                let (name, formula) = (&property.name, system.formula_text(property.formula));
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
    use masque_driver::{EngineChoice, Request};

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

    #[test]
    fn no_disagreement_is_no_bug() {
        assert_eq!(disagreement(&run(Vec::new())), None);
        assert_eq!(disagreement(&Run { cross_check: None, ..run(Vec::new()) }), None);
    }
}
