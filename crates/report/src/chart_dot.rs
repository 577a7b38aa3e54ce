//! A trace of a protocol for Graphviz: a line of events for each agent, and messages between the lines.

use std::fmt::{self, Write};

use masque_driver::{End, Event, EventAction, Trace};

use crate::chart_layout::Fate;
use crate::graph_dot::quoted;
use crate::lcc::deed_parts;

/// Writes a trace as a cluster, number `nth` of its file.
pub(crate) fn write_chart_cluster(out: &mut String, trace: &Trace, nth: usize, title: &str) -> fmt::Result {
    let mut lines = Lines { trace, nth, last: vec![None; trace.agents.len()] };
    writeln!(out, "  subgraph cluster_{nth} {{\n    label={};", quoted(title))?;
    for (at, event) in trace.events.iter().enumerate() {
        match &event.action {
            EventAction::Internal { by } => {
                let label = if event.because.is_empty() { "#".to_string() } else { event.because.join("\n") };
                lines.node(
                    out,
                    by,
                    &node_name(at, false),
                    &format!("shape=box, label={}", quoted(&label)),
                )?;
            }
            EventAction::Sent { by, .. } | EventAction::Taken { by, .. } => {
                lines.node(out, by, &node_name(at, false), "shape=point")?;
            }
            EventAction::Exchanged { from, to, .. } => {
                lines.node(out, from, &node_name(at, false), "shape=point")?;
                lines.node(out, to, &node_name(at, true), "shape=point")?;
            }
        }
        lines.message(out, at, event)?;
    }
    lines.ends(out)?;
    writeln!(out, "  }}")
}

/// The name of an event's node. An exchange has two nodes.
fn node_name(at: usize, is_taker: bool) -> String {
    format!("e{at}{}", if is_taker { "t" } else { "" })
}

/// The lines of events of all agents.
struct Lines<'t> {
    trace: &'t Trace,
    nth: usize,
    /// The last node of each agent, once it has one.
    last: Vec<Option<String>>,
}

impl Lines<'_> {
    /// Adds a node to the line of an agent.
    fn node(&mut self, out: &mut String, agent: &str, name: &str, shape: &str) -> fmt::Result {
        let Some(column) = self.trace.agents.iter().position(|other| other == agent) else { return Ok(()) };
        let nth = self.nth;
        if self.last[column].is_none() {
            let label = quoted(&format!("{agent}\n{}", self.trace.roles[column]));
            writeln!(
                out,
                "    n{nth}_a{column} [shape=box, style=rounded, group={}, label={label}];",
                quoted(agent)
            )?;
            self.last[column] = Some(format!("a{column}"));
        }
        writeln!(out, "    n{nth}_{name} [{shape}, group={}];", quoted(agent))?;
        if let Some(last) = self.last[column].replace(name.to_string()) {
            writeln!(out, "    n{nth}_{last} -> n{nth}_{name} [dir=none, style=dashed, weight=8];")?;
        }
        Ok(())
    }

    /// Writes the arrow of a message, once both of its ends are written.
    fn message(&self, out: &mut String, at: usize, event: &Event) -> fmt::Result {
        let nth = self.nth;
        match &event.action {
            EventAction::Exchanged { message, .. } => {
                let (from, to, label) = (node_name(at, false), node_name(at, true), quoted(message));
                writeln!(out, "    n{nth}_{from} -> n{nth}_{to} [constraint=false, label={label}];")
            }
            EventAction::Taken { message, .. } => {
                let (to, label) = (node_name(at, false), quoted(message));
                match event.sent {
                    Some(sent) => {
                        let from = node_name(sent, false);
                        writeln!(out, "    n{nth}_{from} -> n{nth}_{to} [label={label}];")
                    }
                    None => {
                        let text = quoted(Fate::Found.note().unwrap_or_default());
                        writeln!(out, "    n{nth}_o{at} [shape=plaintext, label={text}];")?;
                        writeln!(out, "    n{nth}_o{at} -> n{nth}_{to} [label={label}];")
                    }
                }
            }
            EventAction::Sent { message, .. } => {
                if self.trace.events.iter().any(|other| other.sent == Some(at)) {
                    return Ok(());
                }
                let text = Fate::of_untaken(self.trace, at).note().unwrap_or_default();
                writeln!(out, "    n{nth}_o{at} [shape=plaintext, label={}];", quoted(text))?;
                let (from, label) = (node_name(at, false), quoted(message));
                writeln!(out, "    n{nth}_{from} -> n{nth}_o{at} [arrowhead=odot, label={label}];")
            }
            EventAction::Internal { .. } => Ok(()),
        }
    }

    /// Writes how the lines end, or where they lead back to.
    fn ends(&self, out: &mut String) -> fmt::Result {
        let nth = self.nth;
        for (column, agent) in self.trace.agents.iter().enumerate() {
            let Some(last) = &self.last[column] else { continue };
            match (self.trace.end, self.trace.loop_at) {
                (End::Final | End::Stuck, _) => {
                    let text = if self.trace.rests[column] { "finished" } else { "stuck" };
                    let group = quoted(agent);
                    writeln!(out, "    n{nth}_z{column} [shape=plaintext, group={group}, label={text}];")?;
                    writeln!(
                        out,
                        "    n{nth}_{last} -> n{nth}_z{column} [dir=none, style=dashed, weight=8];"
                    )?;
                }
                (_, Some(start)) => {
                    let first = self.trace.events[start..].iter().enumerate().find_map(|(more, event)| {
                        let at = start + more;
                        match &event.action {
                            EventAction::Exchanged { to, .. } if to == agent => Some(node_name(at, true)),
                            action => (deed_parts(action).1 == agent).then(|| node_name(at, false)),
                        }
                    });
                    if let Some(first) = first {
                        let label = quoted("forever");
                        writeln!(
                            out,
                            "    n{nth}_{last} -> n{nth}_{first} [style=dotted, constraint=false, label={label}];"
                        )?;
                    }
                }
                _ => {}
            }
        }
        for (at, reason) in self.trace.blame.iter().enumerate() {
            writeln!(out, "    n{nth}_b{at} [shape=plaintext, label={}];", quoted(reason))?;
        }
        Ok(())
    }
}
