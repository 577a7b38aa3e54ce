//! The page around drawings of evidence: its style, and the legend of a drawing.

use std::fmt::Write;

use crate::chart_layout::{Chart, Fate};
use crate::graph::{Graph, Mark};
use crate::graph_svg::{N_COLOURS, escaped};

/// Writes the colours of the agents, and what is not drawn.
pub(crate) fn write_legend(out: &mut String, graph: &Graph) -> std::fmt::Result {
    write!(out, r#" <span class="key">A solid arrow is a step.</span>"#)?;
    for (position, name) in graph.agents.iter().enumerate() {
        let colour = position % N_COLOURS;
        let name = escaped(name);
        write!(
            out,
            r#" <span class="key"><svg width="34" height="10"><path class="alike agent-{colour}" d="M1 5 H33"/></svg> {name} cannot distinguish</span>"#
        )?;
    }
    if graph.alike.iter().any(|alike| alike.agents.is_empty()) {
        let text = "a state that norms admit";
        write!(
            out,
            r#" <span class="key"><svg width="34" height="10"><path class="norm" d="M1 5 H33"/></svg> {text}</span>"#
        )?;
    }
    for (mark, text) in [(Mark::Seen, "seen and equal"), (Mark::Differs, "difference in the formula")] {
        if graph.cards.iter().flat_map(|card| &card.lines).any(|line| line.mark == mark) {
            write!(out, r#" <span class="key {}">{text}</span>"#, mark.word())?;
        }
    }
    writeln!(out, "</p>")?;
    graph.notes.iter().try_for_each(|note| writeln!(out, "<p>{}</p>", escaped(note)))
}

/// Writes the meaning of the symbols of a chart.
pub(crate) fn write_chart_legend(out: &mut String, chart: &Chart) -> std::fmt::Result {
    let is_open = |fate: Fate| fate.note().is_some();
    let keys = [
        (!chart.messages.is_empty(), "An arrow is a message, from where it is sent to where it is received."),
        (!chart.steps.is_empty(), "A box is an internal step of an agent, with its constraints."),
        (
            chart.messages.iter().any(|message| is_open(message.fate)),
            "An open dot is an end outside the trace.",
        ),
    ];
    for (_, text) in keys.iter().filter(|(is_there, _)| *is_there) {
        write!(out, r#" <span class="key">{text}</span>"#)?;
    }
    writeln!(out, "</p>")
}

/// The end of the page.
pub(crate) const FOOT: &str = "</main></body></html>\n";

/// The beginning of the page, with its style.
pub(crate) const HEAD: &str = r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Evidence</title>
<style>
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --page: #ffffff; --card: #f6f8fa; --edge: #b1bac4;
  --good: #1a7f37; --bad: #cf222e; --open: #9a6700; --accent: #0550ae; }
@media screen and (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --page: #0d1117; --card: #161b22;
  --edge: #484f58; --good: #3fb950; --bad: #ff7b72; --open: #d29922; --accent: #79c0ff; } }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { padding: 1rem 2rem 4rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; font-weight: 600; margin: 2rem 0 .3rem; }
code, pre, svg text { font-family: "DejaVu Sans Mono", ui-monospace, Menlo, Consolas, monospace; }
code { font-weight: 400; font-size: .92em; overflow-wrap: anywhere; }
pre { font-size: 12px; line-height: 1.4; overflow-x: auto; }
.verdict { border-radius: 4px; padding: .1em .5em; border: 1px solid; }
.verdict.holds { color: var(--good); } .verdict.fails { color: var(--bad); } .verdict.unknown { color: var(--open); }
.drawing { overflow-x: auto; border: 1px solid var(--edge); border-radius: 8px; }
.key { color: var(--soft); margin-right: 1em; white-space: nowrap; }
.key.seen { color: var(--good); } .key.differs { color: var(--bad); font-weight: 700; }
svg text { font-size: 11px; fill: var(--ink); white-space: pre; }
svg rect { fill: var(--card); stroke: var(--edge); }
.left-out rect { stroke-dasharray: 4 4; }
svg .number { font-weight: 700; fill: var(--accent); }
svg .seen { fill: var(--good); } svg .differs { fill: var(--bad); font-weight: 700; }
svg .true { fill: var(--good); font-style: italic; } svg .false { fill: var(--bad); font-style: italic; }
svg .doing { fill: var(--soft); }
.lifeline path { fill: none; stroke: var(--edge); stroke-width: 1.3; stroke-dasharray: 5 3; }
.lifeline path.rests { stroke: var(--good); stroke-width: 4; stroke-dasharray: none; }
.lifeline path.stuck { stroke: var(--bad); stroke-width: 2.4; stroke-dasharray: none; }
svg .middle { text-anchor: middle; } svg .end { text-anchor: end; } svg text.left-out { fill: var(--soft); }
svg .label { paint-order: stroke; stroke: var(--page); stroke-width: 3px; stroke-linejoin: round; }
.sent { fill: var(--ink); } .open { fill: var(--page); stroke: var(--ink); stroke-width: 1.3; }
.repeated { --agent: var(--accent); } .repeated .back { fill: none; stroke: var(--accent); stroke-width: 1.6; }
.repeated .bound { fill: none; stroke: var(--accent); stroke-width: .8; stroke-dasharray: 1 4; }
.step { fill: none; stroke: var(--ink); stroke-width: 1.3; } #arrow path { fill: var(--ink); }
path.alike, path.norm { fill: none; stroke-width: 2.2; stroke-dasharray: 2 5; stroke-linecap: round; stroke: var(--agent); }
.norm { --agent: var(--soft); } svg text.name { fill: var(--agent); font-weight: 700; }
.agent-0 { --agent: #0f7ae5; } .agent-1 { --agent: #d1509f; } .agent-2 { --agent: #2c9a4b; } .agent-3 { --agent: #d3670e; }
.agent-4 { --agent: #9564e8; } .agent-5 { --agent: #b08800; } .agent-6 { --agent: #17929b; } .agent-7 { --agent: #e5484d; }
@media print { main { padding: 0; } .drawing { overflow: visible; border: 0; } .drawing svg { max-width: 100%; height: auto; }
  h1, h2 { break-after: avoid; } }
.hidden { position: absolute; width: 0; height: 0; }
</style></head><body>
<svg class="hidden" aria-hidden="true"><defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z"/></marker></defs></svg>
<main>
"##;
