//! LCC instances as text: runs as message sequence charts, and why agents are stuck.

use std::io::{self, Write};

use masque_driver::lcc::{Loaded, Run, Trace, chart};

use crate::lcc::not_counted;
use crate::text::{Detail, Shown, Text, summary, write_stats};
use crate::{ProtocolReport, RunReport};

/// Of the rows of a chart so many are shown; the report as JSON has all events.
const MOST_ROWS: usize = 60;

impl Text {
    /// The report on one LCC instance; `position` is its place among several runs.
    pub fn lcc_run(
        self,
        out: &mut dyn Write,
        report: &RunReport,
        (loaded, run): (&Loaded, Option<&Run>),
        position: Option<usize>,
    ) -> io::Result<()> {
        let name = loaded.name();
        self.heading(out, &name, position)?;
        if self.detail == Detail::Verbose {
            writeln!(out, "language: lcc\nfiles: {}", loaded.names.join(", "))?;
            if !loaded.options.is_empty() {
                let options: Vec<String> = loaded.options.iter().map(|(n, v)| format!("{n} = {v}")).collect();
                writeln!(out, "options: {}", options.join(", "))?;
            }
        }
        self.properties(out, &report.properties)?;
        if self.detail > Detail::Quiet {
            run.filter(|_| self.evidence).map_or(Ok(()), |run| self.traces(out, run))?;
            if !report.properties.is_empty() {
                writeln!(out)?;
            }
        }
        let mut shown = Shown::default();
        let found = run.and_then(not_counted);
        for diagnostic in loaded.diagnostics.iter().chain(&found) {
            self.diagnostic(out, &loaded.sources, diagnostic, &mut shown)?;
        }
        shown.rest(out)?;
        if self.detail > Detail::Quiet {
            report.protocol.as_ref().map_or(Ok(()), |protocol| findings(out, protocol))?;
            writeln!(out, "{name}: {}", about(report, loaded))?;
        }
        report.stats.as_ref().map_or(Ok(()), |stats| write_stats(out, stats))
    }

    /// The runs that show verdicts.
    pub(crate) fn traces(self, out: &mut dyn Write, run: &Run) -> io::Result<()> {
        for answer in &run.answers {
            let Some(trace) = &answer.trace else { continue };
            writeln!(out, "\n{} {}:", answer.name, answer.verdict)?;
            self.trace(out, trace)?;
        }
        Ok(())
    }

    /// A run as a chart, and why it ends where it does.
    pub(crate) fn trace(self, out: &mut dyn Write, trace: &Trace) -> io::Result<()> {
        let text = chart(trace).text();
        let n_rows = text.lines().count();
        let most = if self.detail == Detail::Verbose { usize::MAX } else { MOST_ROWS };
        // One row more is as short as saying that there is one.
        let n_shown = if n_rows <= most.saturating_add(1) { n_rows } else { most };
        for row in text.lines().take(n_shown) {
            writeln!(out, "  {row}")?;
        }
        if n_shown < n_rows {
            writeln!(out, "  .. {} more rows (-v shows them all)", n_rows - n_shown)?;
        }
        trace.blame.iter().try_for_each(|reason| writeln!(out, "  stuck: {reason}"))
    }
}

/// What is both permitted and forbidden, and what nobody can tell.
fn findings(out: &mut dyn Write, protocol: &ProtocolReport) -> io::Result<()> {
    for (found, what) in [
        (&protocol.conflicts, "permitted and forbidden"),
        (&protocol.unknown_constraints, "constraints of which the agent knows nothing"),
    ] {
        if !found.is_empty() {
            writeln!(out, "{what}: {}", found.join(", "))?;
        }
    }
    Ok(())
}

/// What there is to say in one line.
fn about(report: &RunReport, loaded: &Loaded) -> String {
    // What was checked is no longer there: this was only to be read.
    if let Some(instance) = &loaded.instance {
        let mut parts = vec![
            plural(instance.system.team().len() as u64, "agent", "agents"),
            plural(instance.properties.len() as u64, "property", "properties"),
        ];
        let n_warnings = report.counts().warnings as u64;
        parts.extend((n_warnings > 0).then(|| plural(n_warnings, "warning", "warnings")));
        return parts.join(", ");
    }
    summary(report)
}

fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
