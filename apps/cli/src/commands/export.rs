//! `masque export`: the reachable states for other programs.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use masque_driver::{
    self as driver, Cut, Diagnostic, EngineOptions, Limits, Loaded, Model, Severity, System,
};
use masque_report::{Detail, GraphReport, dddmp};

use crate::args::{ExportArgs, ExportFormat};
use crate::{Context, Exit};

/// Drawings with more states than this are of no use to anyone.
const MOST_DRAWN: u32 = 1000;
/// Programs read more.
const MOST_WRITTEN: u32 = 100_000;

/// `export FILE`: standard output has the graph or diagram, standard error all messages.
pub fn export(
    args: &ExportArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let loaded = driver::load(&args.files, &args.model.request(&args.work));
    let options = &loaded.engine_options;
    let is_shown = |d: &&Diagnostic| {
        d.is_error() || (d.severity == Severity::Warning && context.text.detail > Detail::Quiet)
    };
    context.text.diagnostics(err, &loaded.sources, loaded.diagnostics.iter().filter(is_shown))?;
    let Some(model) = &loaded.model else { return Ok(Exit::BadInput) };
    let limits = args.work.limits(start, &context.interrupt);
    let default = if args.format == ExportFormat::Dot { MOST_DRAWN } else { MOST_WRITTEN };
    let most = args.max_states.unwrap_or(default) as usize;
    let Model::Ispl(system) = model else {
        if args.format == ExportFormat::Dddmp || args.view.is_some() {
            bail!("`--format dddmp` and `--view` are for ISPL files");
        }
        let mut explorer = match loaded.explorer(most, &limits) {
            Ok(Some(explorer)) => explorer,
            Ok(None) => bail!("there is nothing to explore"),
            Err(why) => return stopped(err, why),
        };
        let graph = driver::state_graph(&mut *explorer, most, &limits);
        let cut = graph.cut;
        return write(args, &loaded, &GraphReport::of_states(&loaded, graph), cut, (out, err));
    };
    let view = match args.view.as_deref().map(|name| driver::find_agent(system, name)).transpose() {
        Ok(view) => view,
        Err(diagnostic) => {
            context.text.diagnostics(err, &loaded.sources, [&*diagnostic])?;
            return Ok(Exit::BadInput);
        }
    };
    if args.format == ExportFormat::Dddmp {
        if view.is_some() || args.max_states.is_some() {
            bail!("`--view` and `--max-states` are for graphs; a diagram is of the whole set");
        }
        return set(system, &loaded.name(), options, &limits, (out, err));
    }
    let graph = match driver::graph(system, most, options, &limits) {
        Ok(graph) => graph,
        Err(why) => return stopped(err, why),
    };
    write(args, &loaded, &GraphReport::new(&loaded, system, &graph, view), graph.cut, (out, err))
}

/// Writes a graph, and on standard error why it is not all, if it is not.
fn write(
    args: &ExportArgs,
    loaded: &Loaded,
    report: &GraphReport,
    cut: Option<Cut>,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> anyhow::Result<Exit> {
    match args.format {
        ExportFormat::Dot => report.dot(out)?,
        ExportFormat::Aut => report.aut(out)?,
        ExportFormat::Json | ExportFormat::Dddmp => report.json(out)?,
    }
    if let Some(cut) = &report.cut {
        writeln!(err, "{}: {cut}", loaded.name())?;
    }
    Ok(match cut {
        Some(Cut::Stopped(_)) => Exit::Inconclusive,
        _ => Exit::AllHold,
    })
}

/// The reachable set as a diagram.
fn set(
    system: &Arc<System>,
    name: &str,
    options: &EngineOptions,
    limits: &Limits,
    (out, err): (&mut dyn Write, &mut dyn Write),
) -> anyhow::Result<Exit> {
    match driver::diagram(system, options, limits) {
        Ok(diagram) => {
            dddmp(out, system, &diagram, name)?;
            Ok(Exit::AllHold)
        }
        Err(why) => stopped(err, why),
    }
}

fn stopped(err: &mut dyn Write, why: driver::Why) -> anyhow::Result<Exit> {
    writeln!(err, "the reachable states could not be found: {}", why.word())?;
    Ok(Exit::Inconclusive)
}
