//! LCC protocols as text: traces as message sequence charts or lists of events, and why agents are stuck.

use std::io::{self, Write};

use masque_driver::{Event, EventAction, Trace, chart};

use crate::ProtocolReport;
use crate::lines::{Lines, PLAIN, Piece, STATE, STRONG, columns};
use crate::long_paths::{Shown, cut};
use crate::run_table::RunTable;
use crate::run_text::{RunText, View};
use crate::text::Text;
use crate::wording::plural;

/// Maximum number of rows shown of a chart without `--full`.
const MAX_CHART_ROWS: usize = 60;
/// Number of events shown at each end of a long list without `--full`.
const EVENTS_AT_EACH_END: usize = 25;
/// Number of columns by which a chart is indented.
const INDENT: usize = 2;

impl Text {
    /// Writes a trace, and why agents are stuck at its end: as a chart if it fits into the width, otherwise
    /// as a numbered list.
    pub(crate) fn trace(self, out: &mut dyn Write, trace: &Trace) -> io::Result<()> {
        let mut lines = Lines { out, width: self.width, color: self.color };
        let chart = chart(trace).text_within(self.width.saturating_sub(INDENT));
        match (self.view, chart) {
            (View::Lanes, _) => self.event_lanes(&mut lines, trace)?,
            (View::Steps, Some(chart)) => self.chart(&mut lines, &chart)?,
            (View::Steps, None) | (View::Table, _) => self.event_list(&mut lines, trace)?,
        }
        trace.blame.iter().try_for_each(|reason| lines.sentence(PLAIN, "  ", &format!("stuck: {reason}")))
    }

    fn chart(self, lines: &mut Lines<'_>, chart: &str) -> io::Result<()> {
        let n_rows = chart.lines().count();
        let limit = if self.full { usize::MAX } else { MAX_CHART_ROWS };
        // One more row takes no more room than the line that replaces it.
        let n_shown = if n_rows <= limit.saturating_add(1) { n_rows } else { limit };
        for row in chart.lines().take(n_shown) {
            lines.line(&[(PLAIN, format!("  {row}"))])?;
        }
        match n_rows - n_shown {
            0 => Ok(()),
            n => lines.line(&[(PLAIN, format!("  .. {n} more rows (--full shows them all)"))]),
        }
    }

    /// The events that are shown.
    fn shown_events(self, trace: &Trace) -> Vec<Shown> {
        let ends = if self.full { usize::MAX } else { EVENTS_AT_EACH_END };
        let important: Vec<usize> = trace.loop_at.into_iter().collect();
        cut(trace.events.len(), ends, &important)
    }

    fn event_lanes(self, lines: &mut Lines<'_>, trace: &Trace) -> io::Result<()> {
        let table = RunTable::of_trace(trace);
        let shown = self.shown_events(trace);
        RunText { table: &table, shown: &shown, limits: self.limits() }.write(lines, View::Lanes)
    }

    /// Writes the events with their numbers, one below the other.
    fn event_list(self, lines: &mut Lines<'_>, trace: &Trace) -> io::Result<()> {
        let width = trace.events.len().to_string().len();
        let agents = (0..trace.events.len()).map(|at| columns(&who(trace, at))).max().unwrap_or(0);
        // Sentences need room; very long names are not padded to.
        let agents = agents.min(self.width / 3);
        for shown in self.shown_events(trace) {
            match shown {
                // The receipt is in the line of the message.
                Shown::Position(at) if at > 0 && trace.immediate_receiver(at - 1).is_some() => {}
                Shown::Position(at) => {
                    if trace.loop_at == Some(at) {
                        lines.line(&[(PLAIN, "  repeated forever from here:".to_string())])?;
                    }
                    let head = [
                        (STATE, format!("  {:>width$}  ", at + 1)),
                        (STRONG, format!("{:agents$}  ", who(trace, at))),
                    ];
                    let next = " ".repeat(2 + width + 2 + agents + 2);
                    let words: Vec<Piece> =
                        what(trace, at).split(' ').map(|word| (PLAIN, word.to_string())).collect();
                    lines.flow(&head, &next, &words, " ")?;
                }
                Shown::LeftOut(n) => {
                    let events = plural(n, "event", "events");
                    lines.line(&[(PLAIN, format!("  .. {events} left out (--full shows all)"))])?;
                }
            }
        }
        Ok(())
    }
}

/// The agents of an event: `ann`, `ann -> bob`, `ann ~> bob` for a message that is not received in the next
/// event.
fn who(trace: &Trace, at: usize) -> String {
    if let (EventAction::Sent { by, .. }, Some(to)) = (&trace.events[at].action, trace.immediate_receiver(at))
    {
        return format!("{by} -> {to}");
    }
    match &trace.events[at].action {
        EventAction::Internal { by } | EventAction::Taken { by, .. } => by.clone(),
        EventAction::Sent { by, to, .. } if to.is_empty() => by.clone(),
        EventAction::Sent { by, to, .. } => format!("{by} ~> {to}"),
        EventAction::Exchanged { from, to, .. } => format!("{from} -> {to}"),
    }
}

/// What happens in an event, and the number of the event that belongs to it.
fn what(trace: &Trace, at: usize) -> String {
    let event: &Event = &trace.events[at];
    let reasons = event.informative_reasons().join(", ");
    let because = if reasons.is_empty() { String::new() } else { format!(" ({reasons})") };
    match &event.action {
        EventAction::Internal { .. } if reasons.is_empty() => "internal step".to_string(),
        EventAction::Internal { .. } => format!("internal step: {reasons}"),
        EventAction::Exchanged { message, .. } => format!("{message}{because}"),
        EventAction::Sent { message, .. } if trace.immediate_receiver(at).is_some() => {
            format!("{message}{because}")
        }
        EventAction::Sent { message, .. } => {
            let taken = trace.events.iter().position(|other| other.sent == Some(at));
            let then = match taken {
                Some(taken) => format!(", received at {}", taken + 1),
                None => String::new(),
            };
            format!("sends {message}{then}{because}")
        }
        EventAction::Taken { message, from, .. } => {
            let since = match event.sent {
                Some(sent) => format!("sent at {}", sent + 1),
                None => "in transit at the start".to_string(),
            };
            let from = if from.is_empty() { String::new() } else { format!(" from {from}") };
            format!("receives {message}{from}, {since}{because}")
        }
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
