//! BDI files as text: explanations, and the tree of worlds, also for Graphviz.

use std::fmt::Write as _;
use std::io::{self, Write};

use masque_driver::bdi::explanation::RemovalReason;
use masque_driver::bdi::outcome::Status;
use masque_driver::{Loaded, Model};

use crate::bdi::{ExplanationReport, StateReport, WorldReport, why_word};
use crate::graph_dot::quoted;
use crate::path::changed;
use crate::text::{Detail, Text};
use crate::wording::plural;
use crate::{CountReport, Entries};

/// Maximum number of states shown of a path. The JSON report has all.
const MAX_SHOWN_STATES: usize = 40;

impl Text {
    /// Writes the tree of worlds: sizes, and which states were removed and why.
    pub fn worlds(
        self,
        out: &mut dyn Write,
        worlds: &Entries<WorldReport>,
        loaded: &Loaded,
    ) -> io::Result<()> {
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_string();
        let name = |path: &str| format!("{}{}", "  ".repeat(path.matches('.').count()), last(path));
        let width = worlds.0.iter().map(|(path, _)| name(path).chars().count()).max().unwrap_or_default();
        for (path, world) in &worlds.0 {
            let size = size(world);
            let mut lost = Vec::new();
            for (count, what) in [
                (&world.bad, "incoherent"),
                (&world.dead, "without a future"),
                (&world.unreachable, "unreachable"),
            ] {
                if *count != CountReport::Number(0) {
                    lost.push(format!("{count} {what}"));
                }
            }
            let lost = if lost.is_empty() { String::new() } else { format!(" ({})", lost.join(", ")) };
            let program = if last(path).contains(&world.program) {
                String::new()
            } else {
                format!(" [{}]", world.program)
            };
            writeln!(out, "{:width$}  {size}{lost}{program}", name(path))?;
            if self.detail == Detail::Quiet {
                continue;
            }
            for removal in &world.removed {
                let (lack, have) = match removal.states {
                    CountReport::Number(1) => ("lacks", "has"),
                    _ => ("lack", "have"),
                };
                let why = match removal.why {
                    RemovalReason::Lacks(_) => {
                        format!("{lack} {}, whose argument holds in all accessible states", removal.attitude)
                    }
                    RemovalReason::NothingAccessible(_) => {
                        format!("{have} no accessible state on {}", removal.attitude)
                    }
                };
                writeln!(out, "{:width$}    {} {why}", "", removal.states)?;
                if let Some(last) = removal.example.last() {
                    let when = match removal.example.len() - 1 {
                        0 => "initially".to_string(),
                        1 => "after one step".to_string(),
                        n => format!("after {n} steps"),
                    };
                    writeln!(out, "{:width$}      {when}: {}", "", write_state(last))?;
                }
            }
        }
        match &loaded.model {
            Some(Model::Bdi(worlds)) if worlds.plan.is_cut => {
                writeln!(out, "and more paths to the same worlds")
            }
            _ => Ok(()),
        }
    }
}

/// Returns the worlds in the DOT language: a box for each path, an arrow for each edge.
///
/// A removed world is dashed; a world from which states were removed is grey.
pub fn worlds_dot(worlds: &Entries<WorldReport>) -> String {
    let mut out = String::from("digraph worlds {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (index, (path, world)) in worlds.0.iter().enumerate() {
        let style = match world.status {
            Status::Ok if world.kept == world.built => "",
            Status::Ok => ", style=filled, fillcolor=grey90",
            _ => ", style=dashed",
        };
        let mut label = format!("{path}\n{}", size(world));
        for removal in &world.removed {
            _ = write!(label, "\n{}: {} ({})", removal.states, removal.attitude, why_word(removal.why));
        }
        _ = writeln!(out, "  w{index} [label={}{style}];", quoted(&label));
    }
    for (index, (path, _)) in worlds.0.iter().enumerate() {
        let Some((parent, edge)) = path.rsplit_once('.') else { continue };
        if let Some(parent) = worlds.0.iter().position(|(other, _)| other == parent) {
            _ = writeln!(out, "  w{parent} -> w{index} [label={}];", quoted(edge));
        }
    }
    out.push_str("}\n");
    out
}

/// The number of remaining states of a world, or why it was removed.
fn size(world: &WorldReport) -> String {
    let built = plural(&world.built, "state", "states");
    match world.status {
        Status::Ok if world.kept == world.built => built,
        Status::Ok => format!("{} of {built}", world.kept),
        status => format!("{}, {built} built", status.text()),
    }
}

/// Writes a part of an explanation and, indented, the parts that explain its last state.
pub(crate) fn write_explanation(
    out: &mut dyn Write,
    part: &ExplanationReport,
    level: usize,
) -> io::Result<()> {
    let indent = "  ".repeat(level.min(20));
    let value = if part.holds { "true" } else { "false" };
    match (&part.edge, part.kind.as_str()) {
        (Some(edge), _) => {
            let asserted = if part.asserted.is_empty() {
                "nothing is asserted".to_string()
            } else {
                format!("asserted: {}", part.asserted.join(", "))
            };
            writeln!(out, "{indent}{edge} leads to a state of {} ({asserted})", part.world)?;
            writeln!(out, "{indent}where {} is {value}:", part.text)?;
        }
        (None, _) if level > 1 => writeln!(out, "{indent}{} is {value}:", part.text)?,
        (None, _) => {}
    }
    for (position, state) in part.states.iter().enumerate() {
        if position == MAX_SHOWN_STATES && part.states.len() > MAX_SHOWN_STATES + 1 {
            writeln!(
                out,
                "{indent}  .. {} more states (--format json shows all)",
                part.states.len() - MAX_SHOWN_STATES
            )?;
            break;
        }
        let text = match position.checked_sub(1).and_then(|last| part.states.get(last)) {
            None => write_state(state),
            Some(before) => write_change(before, state),
        };
        writeln!(out, "{indent}  {position}  {text}")?;
    }
    if let Some(back) = part.back_to {
        writeln!(out, "{indent}  repeated forever from {back}")?;
    }
    part.next.iter().try_for_each(|next| write_explanation(out, next, level + 1))
}

fn write_state(state: &StateReport) -> String {
    let true_ones = state.values.0.iter().filter(|(_, value)| value != "false");
    let mut parts: Vec<String> = true_ones.map(written).collect();
    parts.extend(state.action.iter().map(|action| format!("do {action}")));
    if parts.is_empty() { "(all false)".to_string() } else { parts.join(", ") }
}

fn write_change(before: &StateReport, state: &StateReport) -> String {
    let mut parts: Vec<String> = state.action.iter().map(|action| format!("do {action}")).collect();
    parts.extend(changed(&state.values.0, &before.values.0).map(written));
    if parts.is_empty() { "(nothing changes)".to_string() } else { parts.join(", ") }
}

fn written((name, value): &(String, String)) -> String {
    match value.as_str() {
        "true" => name.clone(),
        "false" => format!("!{name}"),
        _ => format!("{name} = {value}"),
    }
}
