//! Explanations through worlds in a file of evidence, in words.

use std::io;

use crate::apart::{EvidenceFile, EvidenceFormat, NOTHING, UNCHECKED};
use crate::bdi_text::write_explanation;
use crate::svg::escaped;
use crate::{AnyEvidence, RunReport};

impl EvidenceFile {
    /// Adds what shows the verdicts on a BDI file. Worlds within worlds are no graph of states, so
    /// nothing is added to a file for Graphviz.
    pub fn add_bdi(&mut self, report: &RunReport) -> io::Result<()> {
        if self.format == EvidenceFormat::Dot {
            return Ok(());
        }
        let is_page = self.format == EvidenceFormat::Html;
        self.name(&report.files.join(", ")).map_err(io::Error::other)?;
        if is_page && report.properties.is_empty() {
            self.body += UNCHECKED;
        }
        for property in &report.properties {
            let (name, word) = (&property.name, &property.verdict);
            let verdict = match &property.reason {
                Some(reason) => format!("{word}({reason})"),
                None => word.clone(),
            };
            self.heading((word, &verdict), name, &property.formula).map_err(io::Error::other)?;
            match &property.evidence {
                Some(AnyEvidence::Worlds(explanation)) => {
                    let mut out = Vec::new();
                    write_explanation(&mut out, explanation, 1)?;
                    let text = String::from_utf8_lossy(&out);
                    let head = format!("{name} {word} in {}:", explanation.world);
                    self.body += &match is_page {
                        true => format!("<p>{}</p>\n<pre>{}</pre>\n", escaped(&head), escaped(&text)),
                        false => format!("\n{head}\n{text}"),
                    };
                }
                _ if is_page => self.body += NOTHING,
                _ => {}
            }
            self.end_section();
        }
        if !is_page {
            self.body.push('\n');
        }
        Ok(())
    }
}
