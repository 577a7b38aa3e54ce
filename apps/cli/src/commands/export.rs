//! `masque export`: exports the reachable states for other programs.

use std::io::Write;

use anyhow::bail;
use masque_driver::{self as driver, Cut, Model};
use masque_report::{Detail, GraphReport, dddmp};

use crate::args::{ExportArgs, ExportFormat};
use crate::{Context, Exit};

/// Default maximum number of states in a graph that is drawn.
const MAX_DRAWN_STATES: u32 = 1000;
/// Default maximum number of states in a graph for other programs.
const MAX_WRITTEN_STATES: u32 = 100_000;

/// Default maximum number of removed states in a graph that is drawn.
const MAX_DRAWN_REMOVED: u32 = 100;

/// `export FILE`: writes a graph or decision diagram to standard output, and messages to standard error.
pub fn export(
    args: &ExportArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let limits = args.work.limits(&context.interrupt);
    let loaded = driver::load_within(&args.files, &args.model.request(&args.work), &limits);
    let options = &loaded.engine_options;
    context.loading(err, &loaded, Detail::Normal)?;
    let Some(model) = &loaded.model else { return Ok(Exit::without_model(&loaded)) };
    let limits = limits.after_loading(&loaded);
    let default = if args.format == ExportFormat::Dot { MAX_DRAWN_STATES } else { MAX_WRITTEN_STATES };
    let max_states = args.max_states.unwrap_or(default) as usize;
    let (report, cut) = if let Model::Ispl(system) = model {
        let view = match args.view.as_deref().map(|name| driver::find_agent(system, name)).transpose() {
            Ok(view) => view,
            Err(diagnostic) => {
                context.text.diagnostics(err, &loaded.sources, [&*diagnostic])?;
                return Ok(Exit::BadInput);
            }
        };
        if args.format == ExportFormat::Dddmp {
            if view.is_some() || args.max_states.is_some() {
                bail!("`--view` and `--max-states` are for graphs, not for `--format dddmp`");
            }
            return match driver::diagram(system, options, &limits) {
                Ok(diagram) => {
                    dddmp(out, system, &diagram, &loaded.name())?;
                    Ok(Exit::AllHold)
                }
                Err(why) => stopped(err, why),
            };
        }
        match driver::graph(system, max_states, options, &limits) {
            Ok(graph) => (GraphReport::new(&loaded, system, &graph, view), graph.cut),
            Err(why) => return stopped(err, why),
        }
    } else {
        if args.format == ExportFormat::Dddmp || args.view.is_some() {
            bail!("`--format dddmp` and `--view` are for ISPL files");
        }
        let few = if args.format == ExportFormat::Dot { MAX_DRAWN_REMOVED } else { MAX_WRITTEN_STATES };
        let max_removed =
            (args.format != ExportFormat::Aut).then_some(args.max_removed.unwrap_or(few) as usize);
        let mut explorer = match loaded.explorer_with_removed(max_states, max_removed, &limits) {
            Ok(Some(explorer)) => explorer,
            Ok(None) => bail!("this model has no states to export"),
            Err(why) => return stopped(err, why),
        };
        let (graph, removed) = match driver::state_graph(&mut *explorer, max_states, &limits) {
            Ok(graph) => graph,
            Err(why) => return stopped(err, why),
        };
        let cut = graph.cut;
        (GraphReport::of_states(&loaded, graph, removed), cut)
    };
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

/// Reports that a limit was hit before there was anything to export.
fn stopped(err: &mut dyn Write, why: driver::Why) -> anyhow::Result<Exit> {
    writeln!(err, "the reachable states could not be found: {}", why.word())?;
    Ok(Exit::Inconclusive)
}
