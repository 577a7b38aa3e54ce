//! `masque worlds`: the possible worlds of a BDI file.

use std::io::Write;

use masque_driver::{self as driver, Language, Request, Work};
use masque_report::{self as report, Subject};

use super::check::check_with_progress;
use crate::args::{WorldsArgs, WorldsFormat};
use crate::{Context, Exit, bug};

/// `worlds FILE`: writes the tree of worlds, with their sizes, and which states were removed and why.
pub fn worlds(
    args: &WorldsArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let work = Work { lists_subworlds: true, ..args.work.work() };
    let request = Request { options: args.options.clone(), work, ..Request::default() };
    let limits = args.work.limits(&context.interrupt);
    let mut loaded = driver::load_within(&[&args.file], &request, &limits);
    if loaded.language.is_some_and(|language| language != Language::Bdi) && !loaded.has_errors() {
        let help = "`masque export` exports the states of models in all languages";
        loaded.refuse(Some(driver::wrong_language("worlds", &[Language::Bdi], help)));
    }
    let run = check_with_progress(context, &loaded, &limits)?;
    let found = run.iter().flat_map(|run| &run.findings).map(|finding| &finding.diagnostic);
    let errors: Vec<_> = loaded.diagnostics.iter().chain(found).filter(|d| d.is_error()).collect();
    if !errors.is_empty() {
        context.text.diagnostics(out, &loaded.sources, errors)?;
        return Ok(Exit::BadInput);
    }
    if loaded.stopped.is_some() {
        context.text.diagnostics(err, &loaded.sources, &loaded.diagnostics)?;
        return Ok(Exit::Inconclusive);
    }
    let report = report::run_report(Subject { loaded: &loaded, run: run.as_ref() }, false);
    let Some(worlds) = &report.worlds else {
        writeln!(out, "{}: not all worlds could be built within the limits", loaded.name())?;
        return Ok(Exit::Inconclusive);
    };
    bug::write_bugs(err, &report)?;
    let exit = if report.counts().bugs > 0 { Exit::Bug } else { Exit::AllHold };
    match args.format {
        WorldsFormat::Text => {
            context.text.worlds(out, worlds, &loaded)?;
        }
        WorldsFormat::Json => report::json(out, vec![report])?,
        WorldsFormat::Dot => out.write_all(report::worlds_dot(worlds).as_bytes())?,
    }
    Ok(exit)
}
