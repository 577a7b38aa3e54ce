//! The runs of evidence as files for other programs.

use std::io::{self, Write};

use masque_driver::Limits;

use crate::Subject;
use crate::csv::write_csv;
use crate::itf::write_itf;
use crate::mermaid::write_mermaid;
use crate::named_run::{NamedRun, PropertyRuns, named_runs};

/// Format of files with runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Informal Trace Format: JSON, one run per file.
    Itf,
    /// Mermaid: a diagram, one run per file.
    Mermaid,
    /// Comma-separated values, all runs in one table.
    Csv,
}

impl TraceFormat {
    /// Whether a file has one run only.
    fn is_single(self) -> bool {
        self != TraceFormat::Csv
    }
}

/// The runs of the evidence of one or more models.
#[derive(Clone, Debug)]
pub struct TraceFiles {
    format: TraceFormat,
    runs: Vec<NamedRun>,
    /// Messages about parts of the evidence that are not runs.
    pub notes: Vec<String>,
}

impl TraceFiles {
    /// No runs yet.
    pub fn new(format: TraceFormat) -> TraceFiles {
        TraceFiles { format, runs: Vec::new(), notes: Vec::new() }
    }

    /// Adds the runs of the evidence of a check.
    pub fn add(&mut self, subject: Subject<'_>, limits: &Limits) {
        for PropertyRuns { runs, note } in named_runs(subject, limits) {
            self.runs.extend(runs);
            self.notes.extend(note);
        }
    }

    /// The number of runs.
    pub fn n_runs(&self) -> usize {
        self.runs.len()
    }

    /// The files to write, each named by what distinguishes it from the others: empty for a single file.
    pub fn names(&self) -> Vec<String> {
        if self.runs.is_empty() || !self.format.is_single() || self.runs.len() == 1 {
            return vec![String::new()];
        }
        let mut names: Vec<String> = Vec::new();
        for run in &self.runs {
            let property = file_name(&run.property);
            let name = if run.n_runs == 1 { property } else { format!("{property}-{}", run.number) };
            // Two models, or two properties that differ in signs only, may give the same name.
            let mut unique = name.clone();
            let mut count = 1;
            while names.contains(&unique) {
                count += 1;
                unique = format!("{name}_{count}");
            }
            names.push(unique);
        }
        names
    }

    /// Writes the file with an index in [`TraceFiles::names`].
    pub fn write(&self, out: &mut dyn Write, index: usize) -> io::Result<()> {
        match (self.format, self.runs.get(index)) {
            (TraceFormat::Csv, _) => write_csv(out, &self.runs),
            (TraceFormat::Itf, Some(run)) => write_itf(out, run),
            (TraceFormat::Mermaid, Some(run)) => write_mermaid(out, run),
            (_, None) => Ok(()),
        }
    }
}

/// A name with letters, digits, `-` and `_` only, for use in a file's name.
fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = text.chars().map(plain).take(100).collect();
    let name = name.trim_matches('_');
    if name.is_empty() { "property".to_string() } else { name.to_string() }
}
