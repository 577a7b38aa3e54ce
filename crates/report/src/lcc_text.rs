//! LCC protocols as text: traces as message sequence charts, and why agents are stuck.

use std::io::{self, Write};

use masque_driver::{Trace, chart};

use crate::ProtocolReport;
use crate::text::{Detail, Text};

/// Maximum number of rows shown of a chart. The JSON report has all events.
const MAX_CHART_ROWS: usize = 60;

impl Text {
    /// Writes a trace as a chart, and why agents are stuck at its end.
    pub(crate) fn trace(self, out: &mut dyn Write, trace: &Trace) -> io::Result<()> {
        let text = chart(trace).text();
        let n_rows = text.lines().count();
        let limit = if self.detail == Detail::Verbose { usize::MAX } else { MAX_CHART_ROWS };
        // One more row takes no more room than the line that replaces it.
        let n_shown = if n_rows <= limit.saturating_add(1) { n_rows } else { limit };
        for row in text.lines().take(n_shown) {
            writeln!(out, "  {row}")?;
        }
        if n_shown < n_rows {
            writeln!(out, "  .. {} more rows (-v shows them all)", n_rows - n_shown)?;
        }
        trace.blame.iter().try_for_each(|reason| writeln!(out, "  stuck: {reason}"))
    }
}

/// Writes what is both permitted and forbidden, and the constraints that no clause of an agent defines.
pub(crate) fn findings(out: &mut dyn Write, protocol: &ProtocolReport) -> io::Result<()> {
    for (found, what) in [
        (&protocol.conflicts, "both permitted and forbidden"),
        (&protocol.unknown_constraints, "constraints unknown to the agent"),
    ] {
        if !found.is_empty() {
            writeln!(out, "{what}: {}", found.join(", "))?;
        }
    }
    Ok(())
}
