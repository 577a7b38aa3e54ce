//! BDI files as text: explanations that go through worlds, and the tree of worlds.

use std::io::{self, Write};

use masque_driver::WorldReport;

use crate::bdi::{ExplanationReport, StateReport};
use crate::text::{Detail, Text};

/// Of the steps of a path so many are shown; the report as JSON has all.
const MOST_STATES: usize = 40;

impl Text {
    /// The tree of worlds: sizes, and what was removed and why.
    pub fn worlds(self, out: &mut dyn Write, worlds: &[WorldReport], is_cut: bool) -> io::Result<()> {
        let name = |world: &WorldReport| {
            let depth = world.path.matches('.').count();
            let last = world.path.rsplit('.').next().unwrap_or_default();
            format!("{}{last}", "  ".repeat(depth))
        };
        let width = worlds.iter().map(|world| name(world).chars().count()).max().unwrap_or_default();
        for world in worlds {
            let size = match (world.status, world.kept == world.built) {
                ("ok", true) => states(&world.kept),
                ("ok", false) => format!("{} of {}", world.kept, states(&world.built)),
                (status, _) => format!("{status}, {} built", states(&world.built)),
            };
            let mut lost = Vec::new();
            for (count, what) in [
                (&world.bad, "incoherent"),
                (&world.dead, "without a future"),
                (&world.unreachable, "unreachable"),
            ] {
                if count != "0" {
                    lost.push(format!("{count} {what}"));
                }
            }
            let lost = if lost.is_empty() { String::new() } else { format!(" ({})", lost.join(", ")) };
            let picture =
                match world.path.rsplit('.').next().is_some_and(|last| last.contains(&world.program)) {
                    true => String::new(),
                    false => format!(" [{}]", world.program),
                };
            writeln!(out, "{:width$}  {size}{lost}{picture}", name(world))?;
            if self.detail == Detail::Quiet {
                continue;
            }
            for removal in &world.removed {
                let is_one = removal.states == "1";
                let why = match (removal.why, is_one) {
                    ("implied", true) => format!("lacks {}, which the picture implies", removal.attitude),
                    ("implied", false) => format!("lack {}, which the picture implies", removal.attitude),
                    (_, true) => format!("has nothing accessible on {}", removal.attitude),
                    (_, false) => format!("have nothing accessible on {}", removal.attitude),
                };
                writeln!(out, "{:width$}    {} {why}", "", removal.states)?;
                if let Some(last) = removal.example.last() {
                    let when = match removal.example.len() - 1 {
                        0 => "initially".to_string(),
                        1 => "after one step".to_string(),
                        n => format!("after {n} steps"),
                    };
                    writeln!(out, "{:width$}      {when}: {}", "", write_state(&StateReport::from(last)))?;
                }
            }
        }
        if is_cut {
            writeln!(out, "and more ways to the same worlds")?;
        }
        Ok(())
    }
}

fn states(count: &str) -> String {
    format!("{count} {}", if count == "1" { "state" } else { "states" })
}

/// A part and, further in, what explains its last state.
pub(crate) fn write_explanation(
    out: &mut dyn Write,
    part: &ExplanationReport,
    level: usize,
) -> io::Result<()> {
    let indent = "  ".repeat(level.min(20));
    let value = if part.holds { "true" } else { "false" };
    match (&part.edge, part.kind.as_str()) {
        (Some(edge), _) => {
            let asserted = match part.asserted.is_empty() {
                true => "nothing is asserted".to_string(),
                false => format!("asserted: {}", part.asserted.join(", ")),
            };
            writeln!(out, "{indent}{edge} leads to a state of {} ({asserted})", part.world)?;
            writeln!(out, "{indent}where {} is {value}:", part.formula)?;
        }
        (None, _) if level > 1 => writeln!(out, "{indent}{} is {value}:", part.formula)?,
        (None, _) => {}
    }
    for (position, state) in part.states.iter().enumerate() {
        if position == MOST_STATES && part.states.len() > MOST_STATES + 1 {
            writeln!(out, "{indent}  .. {} more", part.states.len() - MOST_STATES)?;
            break;
        }
        let text = match position.checked_sub(1).and_then(|last| part.states.get(last)) {
            None => write_state(state),
            Some(before) => write_change(before, state),
        };
        writeln!(out, "{indent}  {position}  {text}")?;
    }
    if let Some(back) = part.back_to {
        writeln!(out, "{indent}  and again from {back}")?;
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
    let pairs = state.values.0.iter().zip(&before.values.0);
    let mut parts: Vec<String> = state.action.iter().map(|action| format!("do {action}")).collect();
    parts.extend(pairs.filter(|(now, before)| now != before).map(|(now, _)| written(now)));
    if parts.is_empty() { "(nothing changes)".to_string() } else { parts.join(", ") }
}

fn written((name, value): &(String, String)) -> String {
    match value.as_str() {
        "true" => name.clone(),
        "false" => format!("!{name}"),
        _ => format!("{name} = {value}"),
    }
}
