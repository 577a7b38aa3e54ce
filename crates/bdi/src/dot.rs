//! The tree of worlds as a drawing for Graphviz.

use std::fmt::Write;

use crate::run::WorldReport;

/// The worlds in the DOT language: a box for each path, an arrow for each edge.
///
/// A removed world is dashed; a world that lost states is grey.
pub fn worlds_dot(worlds: &[WorldReport]) -> String {
    let mut out = String::from("digraph worlds {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (index, world) in worlds.iter().enumerate() {
        let mut label = format!("{}\n{}", world.path, states(world));
        for removal in &world.removed {
            _ = write!(label, "\n{}: {} ({})", removal.states, removal.attitude, removal.why);
        }
        let style = match (world.status, world.kept == world.built) {
            ("ok", true) => "",
            ("ok", false) => ", style=filled, fillcolor=grey90",
            _ => ", style=dashed",
        };
        _ = writeln!(out, "  w{index} [label={}{style}];", quoted(&label));
    }
    for (index, world) in worlds.iter().enumerate() {
        let Some((parent, edge)) = world.path.rsplit_once('.') else { continue };
        if let Some(parent) = worlds.iter().position(|other| other.path == parent) {
            _ = writeln!(out, "  w{parent} -> w{index} [label={}];", quoted(edge));
        }
    }
    out.push_str("}\n");
    out
}

/// How many states a world has and had, in words.
pub(crate) fn states(world: &WorldReport) -> String {
    match (world.status, world.kept == world.built) {
        ("ok", true) => format!("{} states", world.kept),
        ("ok", false) => format!("{} of {} states", world.kept, world.built),
        (status, _) => format!("{} states, {status}", world.built),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
