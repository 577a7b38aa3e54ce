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

/// On a page, of a file with errors.
pub(crate) const UNCHECKED: &str = "<p>The file was not checked.</p>";
/// On a page, of a verdict that no one run or state shows.
pub(crate) const NOTHING: &str = "<p>Nothing to show.</p>";

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
    pub(crate) format: EvidenceFormat,
    pub(crate) text: Text,
    pub(crate) body: String,
    pub(crate) n_graphs: usize,
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
                self.name(&subject.loaded.name).map_err(io::Error::other)?;
                let mut out = Vec::new();
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
        self.name(name)?;
        let (Some(system), Some(run)) = (subject.loaded.system.as_deref(), subject.run) else {
            if is_page {
                writeln!(self.body, "{UNCHECKED}")?;
            }
            return Ok(Ok(()));
        };
        for (property, decided) in system.properties.iter().zip(&run.decided) {
            let formula = shortened(system.formula_text(property.formula), MOST_LETTERS);
            let verdict = decided.outcome.verdict;
            let frame = decided.outcome.evidence.as_ref().map(|evidence| Frame::new(system, evidence));
            self.heading((verdict.word(), &verdict.to_string()), &property.title, &formula)?;
            if let Some(frame) = frame {
                let title = format!("{name}: {} {verdict}: {formula}", property.title);
                let graph = Graph::new(&frame);
                self.n_graphs += 1;
                match is_page {
                    false => write_cluster(&mut self.body, &graph, self.n_graphs, &title)?,
                    true => {
                        write!(
                            self.body,
                            "<p>{} {verdict}{}.",
                            escaped(&property.title),
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
                writeln!(self.body, "{NOTHING}")?;
            }
            self.end_section();
        }
        Ok(Ok(()))
    }

    /// The name of what was checked, on a page.
    pub(crate) fn name(&mut self, name: &str) -> std::fmt::Result {
        match self.format {
            EvidenceFormat::Html => writeln!(self.body, "<h1>{}</h1>", escaped(name)),
            EvidenceFormat::Text => writeln!(self.body, "{name}:"),
            EvidenceFormat::Dot => Ok(()),
        }
    }

    /// The beginning of a section, on a page: a verdict, as a word and with its reason, and of what.
    pub(crate) fn heading(
        &mut self,
        (word, verdict): (&str, &str),
        name: &str,
        formula: &str,
    ) -> std::fmt::Result {
        if self.format != EvidenceFormat::Html {
            return Ok(());
        }
        let (verdict, name) = (escaped(verdict), escaped(name));
        let formula = escaped(&shortened(formula.to_string(), MOST_LETTERS));
        writeln!(
            self.body,
            r#"<section><h2><span class="verdict {word}">{verdict}</span> {name} <code>{formula}</code></h2>"#
        )
    }

    /// The end of a section, on a page.
    pub(crate) fn end_section(&mut self) {
        if self.format == EvidenceFormat::Html {
            self.body += "</section>\n";
        }
    }

    /// The same in words, below a drawing.
    pub(crate) fn in_words(&mut self, text: &str) {
        self.body += &format!("<details><summary>In words</summary><pre>{}</pre></details>\n", escaped(text));
    }

    /// The same in words, below the drawing.
    fn tell(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut out = Vec::new();
        let mut lines = Lines { out: &mut out, width: WIDTH, color: false };
        Teller::new(frame, &mut lines, self.text.limits()).tell()?;
        self.in_words(&String::from_utf8_lossy(&out));
        Ok(())
    }
}
