//! LCC files: `masque check` on all of them together.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use masque_driver::lcc::{self, Loaded, Request, Run, Wanted};
use masque_driver::{Diagnostic, Limits, OrderChoice, Reorder};
use masque_report::{self as report, RunReport, Text};

use super::bdi::{of_ispl, wrong_language};
use super::check::Apart;
use crate::Context;
use crate::args::{CheckArgs, Format};
use crate::progress::Display;

/// LCC files that are one run.
pub(super) struct Files {
    /// The file in whose place on the command line the run is reported.
    pub(super) first: PathBuf,
    protocols: Vec<PathBuf>,
    /// A note that belongs to no file.
    note: Option<Diagnostic>,
}

/// The runs that the LCC files of a command line are: one, or with `--each` one for each team.
pub(super) fn runs(args: &CheckArgs) -> Vec<Files> {
    let named: Vec<PathBuf> = args.files.iter().filter(|file| lcc::is_lcc(file)).cloned().collect();
    let Some(first) = named.first().cloned() else { return Vec::new() };
    let mut runs: Vec<Files> = Vec::new();
    if args.each {
        let lcc::Each { runs: files, left_out } = lcc::each(&named, &request(args));
        let alone = |file: PathBuf| Files { first: file.clone(), protocols: vec![file], note: None };
        runs.extend(files.into_iter().map(alone));
        if let Some(last) = runs.last_mut() {
            last.note = left_out;
        }
    }
    // Files without any team are one run, which says so.
    if runs.is_empty() {
        let protocols = named.into_iter().filter(|file| !lcc::is_properties(file)).collect();
        runs.push(Files { first, protocols, note: None });
    }
    runs
}

fn request(args: &CheckArgs) -> Request {
    Request {
        options: args.options.clone(),
        properties: args.question.properties.clone(),
        import_roots: args.import_roots.clone(),
    }
}

/// Decides every property of LCC files that are one run, and tells it, unless the report is to be JSON.
pub(super) fn check_lcc(
    args: &CheckArgs,
    (context, text): (&Context, Text),
    (files, position): (&Files, Option<usize>),
    out: &mut dyn Write,
    apart: Option<&mut Apart>,
) -> anyhow::Result<RunReport> {
    let start = Instant::now();
    let properties = args.files.iter().filter(|file| lcc::is_properties(file));
    let properties: Vec<PathBuf> = properties.chain(&args.property_files).cloned().collect();
    let mut loaded = lcc::load(&files.protocols, &properties, &request(args));
    loaded.diagnostics.extend(files.note.clone());
    if let Some(diagnostic) = misplaced(args) {
        loaded.diagnostics.push(diagnostic);
        loaded.instance = None;
    }
    let run = if args.parse_only { None } else { decide(args, context, &mut loaded, start) };
    let report = report::lcc_report(&loaded, run.as_ref(), args.stats);
    if let Some(apart) = apart {
        apart.add(&report, |file| file.add_lcc(&loaded, run.as_ref()))?;
    }
    if args.format == Format::Text {
        text.lcc_run(out, &report, (&loaded, run.as_ref()), position)?;
        out.flush()?;
    }
    Ok(report)
}

/// An option that LCC files do not have.
fn misplaced(args: &CheckArgs) -> Option<Diagnostic> {
    let of_work = [
        ("--engine", args.work.engine.name() != "auto"),
        ("--order", args.work.order != OrderChoice::Auto),
        ("--reorder", args.work.reorder != Reorder::Auto),
        ("--jobs", args.work.jobs.is_some()),
        ("--parallel", args.work.parallel.is_some()),
    ];
    let (name, _) = of_ispl(args).into_iter().chain(of_work).find(|(_, is_given)| *is_given)?;
    Some(wrong_language(name, "ISPL", "what LCC files mean is changed by `--option NAME=VALUE`"))
}

/// An option that only LCC files have, for files of other languages.
pub(super) fn of_lcc(args: &CheckArgs) -> [(&'static str, bool); 2] {
    [("--properties", !args.property_files.is_empty()), ("--explore", args.explore)]
}

fn decide(args: &CheckArgs, context: &Context, loaded: &mut Loaded, start: Instant) -> Option<Run> {
    let instance = loaded.instance.take()?;
    let limits = Limits {
        deadline: args.work.timeout.and_then(|timeout| start.checked_add(timeout)),
        memory: args.work.memory,
        interrupt: context.interrupt.clone(),
    };
    let name = loaded.name();
    let mut display = context.progress.then(|| Display::new(&name));
    let mut observe = |progress| {
        if let Some(display) = &mut display {
            display.show(progress);
        }
    };
    let wanted = Wanted { counts: args.explore, evidence: args.evidence };
    Some(lcc::check(instance, wanted, &limits, &mut observe))
}
