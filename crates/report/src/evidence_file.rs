//! Evidence as a file of its own: text, a graph for Graphviz, or a page for a browser.

use std::fmt;
use std::io::{self, Write};

use masque_driver::{Decision, Model, PropertyText, Shown};

use crate::chart_dot::write_chart_cluster;
use crate::evidence_context::EvidenceContext;
use crate::evidence_page::add_model;
use crate::graph::{Graph, GraphLimits};
use crate::graph_dot::write_cluster;
use crate::html::Page;
use crate::lines::WIDTH;
use crate::text::Text;
use crate::wording::shortened;
use crate::{ExplanationReport, Subject};

/// Maximum number of characters of a formula in the label of a graph.
const MAX_FORMULA_CHARS: usize = 1000;

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
    page: Page,
    n_graphs: usize,
}

impl EvidenceFile {
    /// A file without evidence.
    pub fn new(format: EvidenceFormat, text: Text) -> Self {
        let text = Text { color: false, evidence: true, width: WIDTH, ..text };
        EvidenceFile { format, text, body: String::new(), page: Page::default(), n_graphs: 0 }
    }

    /// Adds the evidence of a check.
    pub fn add(&mut self, subject: Subject<'_>) -> io::Result<()> {
        match self.format {
            EvidenceFormat::Text => self.add_text(subject),
            EvidenceFormat::Html => add_model(&mut self.page, Text { full: true, ..self.text }, subject),
            EvidenceFormat::Dot => {
                let Some(model) = &subject.loaded.model else { return Ok(()) };
                let name = subject.loaded.name();
                for (property, decision) in &subject.answers() {
                    self.add_graph(&name, model, property, decision).map_err(io::Error::other)?;
                }
                Ok(())
            }
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
            EvidenceFormat::Html => write!(out, "{}", self.page.html()),
        }
    }

    fn add_text(&mut self, subject: Subject<'_>) -> io::Result<()> {
        let mut out = Vec::new();
        writeln!(out, "{}:", subject.loaded.name())?;
        self.text.run_evidence(&mut out, subject)?;
        writeln!(out)?;
        self.body += &String::from_utf8_lossy(&out);
        Ok(())
    }

    /// Adds the evidence for a verdict as a graph for Graphviz, if there is any, with all states and variables.
    fn add_graph(
        &mut self,
        file: &str,
        model: &Model,
        property: &PropertyText,
        decision: &Decision,
    ) -> fmt::Result {
        let Some(shown) = &decision.evidence else { return Ok(()) };
        self.n_graphs += 1;
        let (title, verdict) = (&property.title, decision.verdict);
        let formula = shortened(property.text.clone(), MAX_FORMULA_CHARS);
        let caption = format!("{file}: {title} {verdict}: {formula}");
        let graph = match (shown, model) {
            (Shown::Trace(trace), _) => {
                return write_chart_cluster(&mut self.body, trace, self.n_graphs, &caption);
            }
            (Shown::Reasons(evidence), Model::Ispl(system)) => {
                Graph::new(&EvidenceContext::new(system, evidence), GraphLimits::NONE)
            }
            (Shown::Worlds(explanation), Model::Bdi(worlds)) => {
                Graph::of_worlds(&ExplanationReport::new(worlds, explanation), GraphLimits::NONE)
            }
            (Shown::Run(path), _) => Graph::of_labels(path, GraphLimits::NONE),
            _ => return Ok(()),
        };
        write_cluster(&mut self.body, &graph, self.n_graphs, &caption)
    }
}
