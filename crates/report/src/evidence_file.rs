//! Evidence as a file of its own: text, a graph for Graphviz, or a page for a browser.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use masque_driver::{Decision, Model, PropertyText, Shown, Trace};

use crate::Subject;
use crate::chart_dot::write_chart_cluster;
use crate::chart_layout::{Chart, event_text};
use crate::chart_svg::write_chart;
use crate::evidence_context::EvidenceContext;
use crate::graph::Graph;
use crate::graph_dot::write_cluster;
use crate::graph_svg::{escaped, write_svg};
use crate::html::{FOOT, HEAD, write_chart_legend, write_legend};
use crate::lines::WIDTH;
use crate::text::{Text, after};
use crate::wording::shortened;

/// Maximum number of characters of a formula in a heading.
const MAX_FORMULA_CHARS: usize = 1000;

/// Text on a page for a file with errors.
const UNCHECKED_NOTE: &str = "<p>The file was not checked.</p>\n";
/// Text on a page for a verdict without evidence.
const NO_EVIDENCE_NOTE: &str = "<p>There is no evidence.</p>";
/// Maximum number of events in the description of a chart for screen readers.
const MAX_DESCRIBED_EVENTS: usize = 200;

/// Format of a file with evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceFormat {
    /// Text as in the report.
    Text,
    /// DOT, the language of Graphviz.
    Dot,
    /// One HTML page without external resources.
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

    /// Adds the evidence of a check.
    pub fn add(&mut self, subject: Subject<'_>) -> io::Result<()> {
        let name = subject.loaded.name();
        self.name(&name).map_err(io::Error::other)?;
        if self.format == EvidenceFormat::Text {
            let mut out = Vec::new();
            self.text.run_evidence(&mut out, subject)?;
            writeln!(out)?;
            self.body += &String::from_utf8_lossy(&out);
            return Ok(());
        }
        let answers = subject.answers();
        if self.format == EvidenceFormat::Html && subject.run.is_none() {
            self.body += UNCHECKED_NOTE;
        }
        let Some(model) = &subject.loaded.model else { return Ok(()) };
        for (property, decision) in &answers {
            let drawing = Drawing { file: &name, model, property, decision };
            self.draw(drawing).map_err(io::Error::other)?;
            if let Some(shown) = &decision.evidence
                && self.format == EvidenceFormat::Html
            {
                let mut out = Vec::new();
                self.text.shown(&mut out, model, shown)?;
                self.in_words(&String::from_utf8_lossy(&out), shown);
            }
            self.end_section();
        }
        Ok(())
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

    /// Adds the drawing of the evidence for a verdict, if there is any. A page also lists verdicts without
    /// evidence.
    fn draw(&mut self, drawing: Drawing<'_>) -> fmt::Result {
        let Drawing { file, model, property, decision } = drawing;
        let (title, verdict) = (&property.title, decision.verdict);
        let formula = shortened(property.text.clone(), MAX_FORMULA_CHARS);
        self.heading((verdict.word(), &verdict.to_string()), title, &formula)?;
        let is_page = self.format == EvidenceFormat::Html;
        let Some(shown) = &decision.evidence else {
            return if is_page { writeln!(self.body, "{NO_EVIDENCE_NOTE}") } else { Ok(()) };
        };
        if is_page {
            write!(self.body, "<p>{} {verdict}{}.", escaped(title), after(model, shown))?;
        }
        let caption = format!("{file}: {title} {verdict}: {formula}");
        match (shown, model) {
            (Shown::Reasons(evidence), Model::Ispl(system)) => {
                self.draw_graph(&Graph::new(&EvidenceContext::new(system, evidence)), &caption)
            }
            (Shown::Trace(trace), _) => self.draw_chart(trace, &caption),
            // Explanations of BDI files and paths of transition systems are shown as text only.
            _ if is_page => writeln!(self.body, "</p>"),
            _ => Ok(()),
        }
    }

    fn draw_graph(&mut self, graph: &Graph, caption: &str) -> fmt::Result {
        self.n_graphs += 1;
        if self.format == EvidenceFormat::Dot {
            return write_cluster(&mut self.body, graph, self.n_graphs, caption);
        }
        write_legend(&mut self.body, graph)?;
        writeln!(self.body, r#"<div class="drawing">"#)?;
        write_svg(&mut self.body, graph, caption)?;
        writeln!(self.body, "</div>")
    }

    fn draw_chart(&mut self, trace: &Trace, caption: &str) -> fmt::Result {
        self.n_graphs += 1;
        if self.format == EvidenceFormat::Dot {
            return write_chart_cluster(&mut self.body, trace, self.n_graphs, caption);
        }
        let chart = Chart::new(trace);
        let mut events: Vec<String> =
            trace.events.iter().take(MAX_DESCRIBED_EVENTS).map(event_text).collect();
        let n_more = trace.events.len() - events.len();
        events.extend((n_more > 0).then(|| format!("and {n_more} more events")));
        events.extend(trace.loop_at.map(|at| format!("repeated forever from event {}", at + 1)));
        events.extend(trace.blame.iter().map(|reason| format!("stuck: {reason}")));
        write_chart_legend(&mut self.body, &chart)?;
        writeln!(self.body, r#"<div class="drawing">"#)?;
        write_chart(&mut self.body, &chart, caption, &events.join(";\n"))?;
        writeln!(self.body, "</div>")
    }

    /// Writes the name of the model.
    fn name(&mut self, name: &str) -> std::fmt::Result {
        match self.format {
            EvidenceFormat::Html => writeln!(self.body, "<h1>{}</h1>", escaped(name)),
            EvidenceFormat::Text => writeln!(self.body, "{name}:"),
            EvidenceFormat::Dot => Ok(()),
        }
    }

    /// Writes the start of a section of a page: the verdict as a word and in full, the name and the formula
    /// of the property.
    fn heading(&mut self, (word, verdict): (&str, &str), name: &str, formula: &str) -> std::fmt::Result {
        if self.format != EvidenceFormat::Html {
            return Ok(());
        }
        let (verdict, name) = (escaped(verdict), escaped(name));
        let formula = escaped(&shortened(formula.to_string(), MAX_FORMULA_CHARS));
        writeln!(
            self.body,
            r#"<section><h2><span class="verdict {word}">{verdict}</span> {name} <code>{formula}</code></h2>"#
        )
    }

    /// Writes the end of a section of a page.
    fn end_section(&mut self) {
        if self.format == EvidenceFormat::Html {
            self.body += "</section>\n";
        }
    }

    /// Adds the evidence in words to a page: below a drawing, or alone if there is none.
    fn in_words(&mut self, text: &str, shown: &Shown) {
        let text = escaped(text);
        self.body += &match shown {
            Shown::Reasons(_) | Shown::Trace(_) => {
                format!("<details><summary>In words</summary><pre>{text}</pre></details>\n")
            }
            Shown::Worlds(_) | Shown::Run(_) => format!("<pre>{text}</pre>\n"),
        };
    }
}

/// A property and its verdict, to be drawn.
#[derive(Clone, Copy)]
struct Drawing<'a> {
    file: &'a str,
    model: &'a Model,
    property: &'a PropertyText,
    decision: &'a Decision,
}
