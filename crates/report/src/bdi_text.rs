//! BDI files as text: explanations, and the tree of worlds, also for Graphviz.

use std::fmt::Write as _;
use std::io::{self, Write};

use masque_driver::bdi::explanation::RemovalReason;
use masque_driver::bdi::outcome::Status;
use masque_driver::{Loaded, Model};

use crate::bdi::{ExplanationReport, StateReport, WorldReport, why_word};
use crate::graph_dot::quoted;
use crate::lines::{Lines, PLAIN, Piece, STATE};
use crate::long_paths::{Shown, cut};
use crate::path::changed;
use crate::run_table::RunTable;
use crate::run_text::{RunText, View};
use crate::text::{Detail, Text};
use crate::wording::plural;
use crate::{CountReport, Entries};

/// Number of states shown at each end of a long path without `--full`.
const STATES_AT_EACH_END: usize = 13;

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
                    writeln!(out, "{:width$}      {when}: {}", "", state_texts(last, true).join(", "))?;
                }
            }
        }
        // A world with several paths is compared by its shortest path only.
        let is_shortest = |path: &str| match &loaded.model {
            Some(Model::Bdi(worlds)) => worlds
                .plan
                .paths
                .iter()
                .any(|known| known.text == path && worlds.plan.name(known.world) == path),
            _ => true,
        };
        for (path, world) in worlds.0.iter().filter(|_| self.detail != Detail::Quiet) {
            let outer = world.subworld_of.as_ref().filter(|outer| !outer.is_empty());
            if let Some(outer) = outer.filter(|_| is_shortest(path)) {
                writeln!(out, "{path} is a sub-world of {}", outer.join(", "))?;
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

impl Text {
    /// Writes a part of an explanation and, indented, the parts that explain its last state.
    pub(crate) fn explanation(
        self,
        out: &mut dyn Write,
        part: &ExplanationReport,
        level: usize,
    ) -> io::Result<()> {
        let indent = "  ".repeat(level.min(20));
        let mut lines = Lines { out, width: self.width, color: self.color };
        for sentence in headings(part, level) {
            lines.sentence(PLAIN, &indent, &sentence)?;
        }
        let ends = if self.full { usize::MAX } else { STATES_AT_EACH_END };
        let important: Vec<usize> = part.back_to.into_iter().collect();
        let shown = cut(part.states.len(), ends, &important);
        if self.view == View::Steps {
            write_states(&mut lines, part, &indent, &shown)?;
        } else {
            let table = RunTable::of_world(part);
            RunText { table: &table, shown: &shown, limits: self.limits() }.write(&mut lines, View::Table)?;
        }
        if let Some(difference) = &part.difference {
            lines.sentence(PLAIN, &indent, difference)?;
        }
        part.next.iter().try_for_each(|next| self.explanation(out, next, level + 1))
    }
}

/// The sentences above the states of a part.
pub(crate) fn headings(part: &ExplanationReport, level: usize) -> Vec<String> {
    let value = if part.holds { "true" } else { "false" };
    match &part.edge {
        Some(edge) => {
            let asserted = if part.asserted.is_empty() {
                "nothing is asserted".to_string()
            } else {
                format!("asserted: {}", part.asserted.join(", "))
            };
            let same = match part.same.as_deref() {
                Some("variables") => "its own variables are the same; ",
                Some(_) => "its own action is the same; ",
                None => "",
            };
            let leads = format!("{edge} leads to a state of {} ({same}{asserted})", part.world);
            if part.text.starts_with("subworld") {
                return vec![format!("{leads}:")];
            }
            vec![leads, format!("where {} is {value}:", part.text)]
        }
        None if level > 1 => vec![format!("{} is {value}:", part.text)],
        None => Vec::new(),
    }
}

/// Writes the states of a part, each with what changes.
fn write_states(
    lines: &mut Lines<'_>,
    part: &ExplanationReport,
    indent: &str,
    shown: &[Shown],
) -> io::Result<()> {
    let width = part.states.len().saturating_sub(1).to_string().len();
    let mut before: Option<&StateReport> = None;
    for shown in shown {
        let position = match *shown {
            Shown::Position(position) => position,
            Shown::LeftOut(n) => {
                let states = plural(n, "state", "states");
                let text = format!("{indent}  .. {states} left out (--full shows all)");
                lines.line(&[(PLAIN, text)])?;
                continue;
            }
        };
        let state = &part.states[position];
        let text = match before {
            None => state_texts(state, true),
            Some(before) => change_texts(before, state, true),
        };
        let items: Vec<Piece> = text.into_iter().map(|item| (PLAIN, item)).collect();
        let head = (STATE, format!("{indent}  {position:>width$}  "));
        lines.flow(&[head], &format!("{indent}    {:width$}  ", ""), &items, ", ")?;
        before = Some(state);
    }
    match part.back_to {
        Some(back) => lines.line(&[(PLAIN, format!("{indent}  repeated forever from {back}"))]),
        None => Ok(()),
    }
}

/// The values of a state that are not false, and with `has_action` the action that led to it.
pub(crate) fn state_texts(state: &StateReport, has_action: bool) -> Vec<String> {
    let true_ones = state.values.0.iter().filter(|(_, value)| value != "false");
    let mut parts: Vec<String> = true_ones.map(written).collect();
    parts.extend(state.action.iter().filter(|_| has_action).map(|action| format!("do {action}")));
    if parts.is_empty() { vec!["(all false)".to_string()] } else { parts }
}

/// The values that differ from the state before, and with `has_action` the action that led to the state.
pub(crate) fn change_texts(before: &StateReport, state: &StateReport, has_action: bool) -> Vec<String> {
    let action = state.action.iter().filter(|_| has_action);
    let mut parts: Vec<String> = action.map(|action| format!("do {action}")).collect();
    parts.extend(changed(&state.values.0, &before.values.0).map(written));
    if parts.is_empty() { vec!["(nothing changes)".to_string()] } else { parts }
}

fn written((name, value): &(String, String)) -> String {
    match value.as_str() {
        "true" => name.clone(),
        "false" => format!("!{name}"),
        _ => format!("{name} = {value}"),
    }
}
