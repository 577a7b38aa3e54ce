//! A graph of evidence for Graphviz.

use std::fmt::{self, Write};

use crate::graph::{AlikeKind, Graph};

/// Colours of the agents that cannot distinguish states. Further agents reuse them.
const COLOURS: [&str; 8] =
    ["#0969da", "#bf3989", "#1a7f37", "#bc4c00", "#8250df", "#9a6700", "#1b7c83", "#cf222e"];

/// Writes a graph as a cluster, number `nth` of its file.
pub(crate) fn write_cluster(out: &mut String, graph: &Graph, nth: usize, title: &str) -> fmt::Result {
    writeln!(out, "  subgraph cluster_{nth} {{")?;
    writeln!(out, "    label={};", quoted(title))?;
    for (id, card) in graph.cards.iter().enumerate() {
        let mut label = String::new();
        let title = (!card.title.is_empty()).then_some(&card.title);
        for line in title.into_iter().chain(card.lines.iter().map(|line| &line.text)) {
            label += line;
            label.push('\n');
        }
        let shape = if card.state.is_some() { "box, style=rounded" } else { "plaintext" };
        writeln!(out, "    n{nth}_{id} [shape={shape}, label={}];", left_aligned(&label))?;
    }
    for step in &graph.steps {
        let label = left_aligned(&step.doing.iter().map(|line| format!("{line}\n")).collect::<String>());
        writeln!(out, "    n{nth}_{} -> n{nth}_{} [label={label}];", step.from, step.to)?;
    }
    for alike in &graph.alike {
        let colour = graph.colour(alike).map_or("#808080", |colour| COLOURS[colour % COLOURS.len()]);
        let (from, to, label) = (alike.from, alike.to, quoted(&graph.label(alike)));
        let direction = if matches!(alike.kind, AlikeKind::Edge(_)) { "forward" } else { "none" };
        write!(out, "    n{nth}_{from} -> n{nth}_{to} [dir={direction}, style=dotted, constraint=false, ")?;
        writeln!(out, "color=\"{colour}\", fontcolor=\"{colour}\", label={label}];")?;
    }
    writeln!(out, "  }}")
}

/// Quotes a string of the DOT language. The format of Aldebaran quotes in the same way.
pub(crate) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Quotes a string whose lines are left-aligned.
fn left_aligned(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\l"))
}
