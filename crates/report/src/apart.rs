//! Evidence as a file of its own: text, a graph for Graphviz, or a page for a browser.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::Subject;
use crate::dot::write_cluster;
use crate::frame::{Frame, shortened};
use crate::graph::Graph;
use crate::html::{FOOT, HEAD, write_legend};
use crate::lines::{Lines, WIDTH};
use crate::show::Teller;
use crate::svg::{escaped, write_svg};
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
                        write_legend(&mut self.body, &graph)?;
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
