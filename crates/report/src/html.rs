//! Evidence as a file of its own: text, a graph for Graphviz, or a page for a browser.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::Subject;
use crate::dot::write_cluster;
use crate::frame::{Frame, shortened};
use crate::graph::{Graph, Mark};
use crate::lines::{Lines, WIDTH};
use crate::show::Teller;
use crate::svg::{N_COLOURS, escaped, write_svg};
use crate::text::{Text, after};

/// Longer formulas are cut in headings.
const MOST_LETTERS: usize = 1000;

/// How evidence is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceFormat {
    /// As in the report.
    Text,
    /// For Graphviz.
    Dot,
    /// One page that needs nothing else.
    Html,
}

/// A file with the evidence of one or more models.
#[derive(Clone, Debug)]
pub struct EvidenceFile {
    format: EvidenceFormat,
    text: Text,
    body: String,
    n_graphs: usize,
}

impl EvidenceFile {
    /// A file without evidence.
    pub fn new(format: EvidenceFormat, text: Text) -> Self {
        let text = Text { color: false, evidence: true, width: WIDTH, ..text };
        EvidenceFile { format, text, body: String::new(), n_graphs: 0 }
    }

    /// Adds what shows the verdicts on a model.
    pub fn add(&mut self, subject: Subject<'_>) -> io::Result<()> {
        match self.format {
            EvidenceFormat::Text => {
                let mut out = Vec::new();
                writeln!(out, "{}:", subject.loaded.name)?;
                self.text.run_evidence(&mut out, subject)?;
                writeln!(out)?;
                self.body += &String::from_utf8_lossy(&out);
                Ok(())
            }
            EvidenceFormat::Dot | EvidenceFormat::Html => self.draw(subject).map_err(io::Error::other)?,
        }
    }

    /// Writes the file.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            EvidenceFormat::Text => write!(out, "{}", self.body),
            EvidenceFormat::Dot => {
                writeln!(out, "digraph evidence {{\n  node [fontname=monospace, fontsize=10];")?;
                writeln!(out, "  edge [fontname=monospace, fontsize=9];\n{}}}", self.body)
            }
            EvidenceFormat::Html => write!(out, "{HEAD}{}{FOOT}", self.body),
        }
    }

    /// A drawing for each verdict that something shows; a page has the other verdicts, too.
    fn draw(&mut self, subject: Subject<'_>) -> Result<io::Result<()>, std::fmt::Error> {
        let name = &subject.loaded.name;
        let is_page = self.format == EvidenceFormat::Html;
        if is_page {
            writeln!(self.body, "<h1>{}</h1>", escaped(name))?;
        }
        let (Some(system), Some(run)) = (subject.loaded.system.as_deref(), subject.run) else {
            if is_page {
                writeln!(self.body, "<p>The file was not checked.</p>")?;
            }
            return Ok(Ok(()));
        };
        for (property, decided) in system.properties.iter().zip(&run.decided) {
            let formula = shortened(system.formula_text(property.formula), MOST_LETTERS);
            let verdict = decided.outcome.verdict;
            let frame = decided.outcome.evidence.as_ref().map(|evidence| Frame::new(system, evidence));
            if is_page {
                writeln!(
                    self.body,
                    r#"<section><h2><span class="verdict {}">{verdict}</span> {} <code>{}</code></h2>"#,
                    verdict.word(),
                    escaped(&property.name),
                    escaped(&formula)
                )?;
            }
            if let Some(frame) = frame {
                let title = format!("{name}: {} {verdict}: {formula}", property.name);
                let graph = Graph::new(&frame);
                self.n_graphs += 1;
                match is_page {
                    false => write_cluster(&mut self.body, &graph, self.n_graphs, &title)?,
                    true => {
                        write!(
                            self.body,
                            "<p>{} {verdict}{}.",
                            escaped(&property.name),
                            after(frame.evidence)
                        )?;
                        legend(&mut self.body, &graph)?;
                        writeln!(self.body, r#"<div class="drawing">"#)?;
                        write_svg(&mut self.body, &graph, &title)?;
                        writeln!(self.body, "</div>")?;
                        if let Err(error) = self.tell(&frame) {
                            return Ok(Err(error));
                        }
                    }
                }
            } else if is_page {
                writeln!(self.body, "<p>Nothing to show.</p>")?;
            }
            if is_page {
                writeln!(self.body, "</section>")?;
            }
        }
        Ok(Ok(()))
    }

    /// The same in words, below the drawing.
    fn tell(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut out = Vec::new();
        let mut lines = Lines { out: &mut out, width: WIDTH, color: false };
        Teller::new(frame, &mut lines, self.text.limits()).tell()?;
        let text = escaped(&String::from_utf8_lossy(&out));
        self.body += &format!("<details><summary>In words</summary><pre>{text}</pre></details>\n");
        Ok(())
    }
}

/// Who has which colour, and what is not drawn.
fn legend(out: &mut String, graph: &Graph) -> std::fmt::Result {
    write!(out, r#" <span class="key">A solid arrow is a step.</span>"#)?;
    for (position, name) in graph.agents.iter().enumerate() {
        let colour = position % N_COLOURS;
        let name = escaped(name);
        write!(
            out,
            r#" <span class="key"><svg width="34" height="10"><path class="alike agent-{colour}" d="M1 5 H33"/></svg> {name} cannot tell apart</span>"#
        )?;
    }
    if graph.alike.iter().any(|alike| alike.agents.is_empty()) {
        let text = "a state that norms admit";
        write!(
            out,
            r#" <span class="key"><svg width="34" height="10"><path class="norm" d="M1 5 H33"/></svg> {text}</span>"#
        )?;
    }
    for (mark, text) in [(Mark::Seen, "seen and equal"), (Mark::Differs, "the difference that counts")] {
        if graph.cards.iter().flat_map(|card| &card.lines).any(|line| line.mark == mark) {
            write!(out, r#" <span class="key {}">{text}</span>"#, mark.word())?;
        }
    }
    writeln!(out, "</p>")?;
    graph.notes.iter().try_for_each(|note| writeln!(out, "<p>{}</p>", escaped(note)))
}

const FOOT: &str = "</main></body></html>\n";

const HEAD: &str = r##"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Evidence</title>
<style>
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --page: #ffffff; --card: #f6f8fa; --edge: #b1bac4;
  --good: #1a7f37; --bad: #cf222e; --open: #9a6700; --accent: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --page: #0d1117; --card: #161b22;
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
.step { fill: none; stroke: var(--ink); stroke-width: 1.3; } #arrow path { fill: var(--ink); }
path.alike, path.norm { fill: none; stroke-width: 2.2; stroke-dasharray: 2 5; stroke-linecap: round; stroke: var(--agent); }
.norm { --agent: var(--soft); } svg text.name { fill: var(--agent); font-weight: 700; }
.agent-0 { --agent: #0f7ae5; } .agent-1 { --agent: #d1509f; } .agent-2 { --agent: #2c9a4b; } .agent-3 { --agent: #d3670e; }
.agent-4 { --agent: #9564e8; } .agent-5 { --agent: #b08800; } .agent-6 { --agent: #17929b; } .agent-7 { --agent: #e5484d; }
.hidden { position: absolute; width: 0; height: 0; }
</style></head><body>
<svg class="hidden" aria-hidden="true"><defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 L10 5 L0 10 z"/></marker></defs></svg>
<main>
"##;
