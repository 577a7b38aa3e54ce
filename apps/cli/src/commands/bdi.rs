//! BDI files: `masque check` on one of them, and `masque worlds`.

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use masque_driver::bdi::{self, Loaded, Request, Run};
use masque_driver::{Diagnostic, Limits, OrderChoice, Reorder, Severity};
use masque_report::{self as report, RunReport, Text};

use super::lcc;
use crate::args::{CheckArgs, EvidenceAs, Format, WorkArgs, WorldsArgs, WorldsFormat};
use crate::progress::Display;
use crate::{Context, Exit, bug};

/// Decides every property of one BDI file and tells it, unless the report is to be JSON.
pub(super) fn check_bdi(
    args: &CheckArgs,
    (context, text): (&Context, Text),
    (file, position): (&Path, Option<usize>),
    out: &mut dyn Write,
) -> anyhow::Result<RunReport> {
    let start = Instant::now();
    let request = Request { options: args.options.clone(), properties: args.question.properties.clone() };
    let mut loaded = bdi::load(file, &request);
    if let Some(diagnostic) = misplaced(args, true) {
        loaded.diagnostics.push(diagnostic);
        loaded.model = None;
    }
    let run = if args.parse_only { None } else { decide(&args.work, context, &loaded, start) };
    let report = report::bdi_report(&loaded, run.as_ref(), args.work.engine, args.stats);
    if args.format == Format::Text {
        text.bdi_run(out, &report, (&loaded, run.as_ref()), position)?;
        out.flush()?;
    }
    Ok(report)
}

/// An option that the language of a file does not have.
pub(super) fn misplaced(args: &CheckArgs, is_bdi: bool) -> Option<Diagnostic> {
    let help = match is_bdi {
        true => "what a BDI file means is changed by `--option NAME=VALUE`",
        false => "check files of different languages one by one",
    };
    let of_lcc = lcc::of_lcc(args).map(|option| (option, "LCC"));
    let of_others: Vec<_> = match is_bdi {
        true => of_ispl(args).map(|option| (option, "ISPL")).into(),
        false => vec![(("--option", !args.options.is_empty()), "BDI and LCC")],
    };
    if is_bdi && args.evidence_format == EvidenceAs::Dot {
        let help = "`--evidence-format html` and `text` have the explanations in words, `json` as data; \
                    `masque worlds --format dot` draws the worlds";
        return Some(wrong_language("--evidence-format dot", "ISPL and LCC", help));
    }
    let given = of_others.into_iter().chain(of_lcc).find(|((_, is_given), _)| *is_given);
    match given {
        Some(((name, _), language)) => Some(wrong_language(name, language, help)),
        None if is_bdi => misplaced_work(&args.work),
        None => None,
    }
}

/// Options about what a model means that only ISPL files have, and whether they are given.
pub(super) fn of_ispl(args: &CheckArgs) -> [(&'static str, bool); 8] {
    [
        ("-D", !args.question.model.defines.is_empty()),
        ("--at", args.question.at.is_some()),
        ("--deadlock", args.question.model.deadlock.is_some()),
        ("--overflow", args.question.model.overflow.is_some()),
        ("--strategies", args.question.strategies.is_some()),
        ("--cross-check", args.cross_check),
        ("--quick", args.quick),
        ("--processes", args.cluster.is_given()),
    ]
}

/// A way of working that there is not for BDI files. What is the default may be said, too.
fn misplaced_work(work: &WorkArgs) -> Option<Diagnostic> {
    let given = [
        ("--engine", !matches!(work.engine.name(), "auto" | "symbolic")),
        ("--order", work.order != OrderChoice::Auto),
        ("--reorder", work.reorder != Reorder::Auto),
        ("--jobs", work.jobs.is_some()),
        ("--parallel", work.parallel.is_some()),
    ];
    let (name, _) = given.iter().find(|(_, is_given)| *is_given)?;
    let help =
        "BDI files have one engine, which orders its variables itself; `--timeout` and `--memory` limit it";
    Some(wrong_language(name, "ISPL", help))
}

pub(super) fn wrong_language(option: &str, language: &str, help: &str) -> Diagnostic {
    let message = format!("`{option}` is an option for {language} files");
    Diagnostic::nowhere(Severity::Error, "cli/wrong-language", message).hint(help)
}

fn decide(work: &WorkArgs, context: &Context, loaded: &Loaded, start: Instant) -> Option<Run> {
    let model = loaded.model.as_ref()?;
    let limits = Limits {
        deadline: work.timeout.and_then(|timeout| start.checked_add(timeout)),
        memory: work.memory,
        interrupt: context.interrupt.clone(),
    };
    let mut display = context.progress.then(|| Display::new(&loaded.name));
    let mut observe = |progress| {
        if let Some(display) = &mut display {
            display.show(progress);
        }
    };
    Some(bdi::check(model, &limits, &mut observe))
}

/// `worlds FILE`: the tree of worlds, their sizes, and what was removed and why.
pub fn worlds(
    args: &WorldsArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let request = Request { options: args.options.clone(), properties: Vec::new() };
    let mut loaded = bdi::load(&args.file, &request);
    if let Some(diagnostic) = misplaced_work(&args.work) {
        loaded.diagnostics.push(diagnostic);
        loaded.model = None;
    }
    let run = decide(&args.work, context, &loaded, start);
    let found = run.iter().flat_map(|run| &run.diagnostics);
    let errors: Vec<_> = loaded.diagnostics.iter().chain(found).filter(|d| d.is_error()).collect();
    if !errors.is_empty() {
        context.text.diagnostics(out, &loaded.sources, errors)?;
        return Ok(Exit::BadInput);
    }
    let Some(worlds) = run.as_ref().and_then(|run| run.worlds.as_ref()) else {
        writeln!(out, "{}: not all worlds could be built within the limits", loaded.name)?;
        return Ok(Exit::Inconclusive);
    };
    let report = report::bdi_report(&loaded, run.as_ref(), args.work.engine, false);
    bug::tell(err, &report)?;
    let exit = if report.counts().bugs > 0 { Exit::Bug } else { Exit::AllHold };
    match args.format {
        WorldsFormat::Text => {
            context.text.worlds(out, worlds, run.as_ref().is_some_and(|run| run.is_cut))?;
        }
        WorldsFormat::Json => report::json(out, vec![report])?,
        WorldsFormat::Dot => out.write_all(bdi::worlds_dot(worlds).as_bytes())?,
    }
    Ok(exit)
}
