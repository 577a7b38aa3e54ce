//! LCC instances as text: runs as message sequence charts, and why agents are stuck.

use std::io::{self, Write};

use masque_driver::{Trace, chart};

use crate::ProtocolReport;
use crate::text::{Detail, Text};

/// Of the rows of a chart so many are shown; the report as JSON has all events.
const MOST_ROWS: usize = 60;

impl Text {
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

/// What is both permitted and forbidden, and the constraints that no agent knows about.
pub(crate) fn findings(out: &mut dyn Write, protocol: &ProtocolReport) -> io::Result<()> {
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
