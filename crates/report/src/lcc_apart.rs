//! Runs of LCC protocols in a file of evidence.

use std::fmt::{self, Write};
use std::io;

use masque_driver::lcc::{Answer, Loaded, Run};

use crate::apart::{EvidenceFile, EvidenceFormat, NOTHING, UNCHECKED};
use crate::chart::{Chart, told};
use crate::chart_dot::write_chart_cluster;
use crate::chart_svg::write_chart;
use crate::html::write_chart_legend;

/// So many events are told to those who cannot see a drawing.
const MOST_TOLD: usize = 200;

impl EvidenceFile {
    /// Adds what shows the verdicts on an LCC instance.
    pub fn add_lcc(&mut self, loaded: &Loaded, run: Option<&Run>) -> io::Result<()> {
        self.name(&loaded.name()).map_err(io::Error::other)?;
        let Some(run) = run else {
            if self.format == EvidenceFormat::Html {
                self.body += UNCHECKED;
            }
            return Ok(());
        };
        if self.format == EvidenceFormat::Text {
            let mut out = Vec::new();
            self.text.traces(&mut out, run)?;
            self.body += &String::from_utf8_lossy(&out);
            self.body.push('\n');
            return Ok(());
        }
        for answer in &run.answers {
            let Answer { name, formula, verdict, .. } = answer;
            self.heading((verdict.word(), &verdict.to_string()), name, formula)
                .and_then(|()| self.draw_run(&loaded.name(), answer))
                .map_err(io::Error::other)?;
            if let Some(trace) = answer.trace.as_ref().filter(|_| self.format == EvidenceFormat::Html) {
                let mut out = Vec::new();
                self.text.trace(&mut out, trace)?;
                self.in_words(&String::from_utf8_lossy(&out));
            }
            self.end_section();
        }
        Ok(())
    }

    /// The drawing of a run, if there is one.
    fn draw_run(&mut self, file: &str, answer: &Answer) -> fmt::Result {
        let Answer { name, formula, verdict, trace, .. } = answer;
        let is_page = self.format == EvidenceFormat::Html;
        let Some(trace) = trace else {
            return if is_page { writeln!(self.body, "{NOTHING}") } else { Ok(()) };
        };
        let title = format!("{file}: {name} {verdict}: {formula}");
        self.n_graphs += 1;
        if !is_page {
            return write_chart_cluster(&mut self.body, trace, self.n_graphs, &title);
        }
        let chart = Chart::new(trace);
        let mut events: Vec<String> = trace.events.iter().take(MOST_TOLD).map(told).collect();
        let n_more = trace.events.len() - events.len();
        events.extend((n_more > 0).then(|| format!("and {n_more} more events")));
        events.extend(trace.loop_at.map(|at| format!("for ever again from event {}", at + 1)));
        events.extend(trace.blame.iter().map(|reason| format!("stuck: {reason}")));
        write!(self.body, "<p>")?;
        write_chart_legend(&mut self.body, &chart)?;
        writeln!(self.body, r#"<div class="drawing">"#)?;
        write_chart(&mut self.body, &chart, &title, &events.join(";\n"))?;
        writeln!(self.body, "</div>")
    }
}
