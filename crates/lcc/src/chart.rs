//! Draws a trace as a message sequence chart.
//!
//! A message that is received immediately after it is sent is one arrow. Otherwise the sending is an
//! arrow `~>` that ends in the mailbox of the receiver, and the receipt is a mark on the receiver's line.

use crate::trace::{Event, EventAction, Trace};

/// A row of a chart. Columns are agents in the order of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A message from one agent to another.
    Arrow {
        /// The sender's column.
        from: usize,
        /// The receiver's column; `None` if the message names no agent of the chart as its receiver.
        to: Option<usize>,
        /// The message.
        text: String,
        /// Whether the message is received immediately after it is sent.
        is_received: bool,
    },
    /// The receipt of a message that was sent earlier, or an internal step.
    Mark {
        /// The agent's column.
        column: usize,
        /// What the agent does.
        text: String,
    },
    /// The beginning of the loop: the rows from here on repeat forever.
    Loop,
}

/// A message sequence chart as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The headings of the columns: ids of agents.
    pub agents: Vec<String>,
    /// The rows, in the order of the events.
    pub rows: Vec<Row>,
}

/// Draws the chart of a trace. Agents that do not take part in it have no column.
pub fn chart(trace: &Trace) -> Chart {
    let takes_part = |agent: &&String| {
        trace.events.iter().any(|event| match &event.action {
            EventAction::Internal { by } => by == *agent,
            EventAction::Sent { by, to, .. } => by == *agent || to == *agent,
            EventAction::Taken { by, from, .. } => by == *agent || from == *agent,
            EventAction::Exchanged { from, to, .. } => from == *agent || to == *agent,
        })
    };
    let agents: Vec<String> = trace.agents.iter().filter(takes_part).cloned().collect();
    let column = |agent: &str| agents.iter().position(|other| other == agent);
    let mut rows = Vec::new();
    let mut index = 0;
    while index < trace.events.len() {
        if trace.loop_at == Some(index) {
            rows.push(Row::Loop);
        }
        let event = &trace.events[index];
        let receiver = trace.immediate_receiver(index);
        index += 1;
        let row = match &event.action {
            EventAction::Internal { by } => {
                column(by).map(|column| Row::Mark { column, text: reasons(event) })
            }
            EventAction::Taken { by, message, .. } => {
                column(by).map(|column| Row::Mark { column, text: format!("receives {message}") })
            }
            EventAction::Exchanged { from, to, message } => column(from).map(|from| Row::Arrow {
                from,
                to: column(to),
                text: message.clone(),
                is_received: true,
            }),
            EventAction::Sent { by, to, message } => {
                index += usize::from(receiver.is_some());
                column(by).map(|from| Row::Arrow {
                    from,
                    to: column(receiver.unwrap_or(to)),
                    text: message.clone(),
                    is_received: receiver.is_some(),
                })
            }
        };
        rows.extend(row);
    }
    Chart { agents, rows }
}

impl Trace {
    /// Returns the agent that receives the message of an event in the next event; `None` if the next event is
    /// something else, or begins the loop.
    pub fn immediate_receiver(&self, index: usize) -> Option<&str> {
        if self.loop_at == Some(index + 1) {
            return None;
        }
        let next = self.events.get(index + 1)?;
        match &next.action {
            EventAction::Taken { by, .. } if next.sent == Some(index) => Some(by),
            _ => None,
        }
    }
}

/// The text of an internal step: the constraints that allowed it, or `#` if there are none.
fn reasons(event: &Event) -> String {
    if event.because.is_empty() { "#".to_string() } else { event.because.join(", ") }
}

impl Chart {
    /// Returns the chart as plain text.
    ///
    /// ```text
    /// b               s
    /// |---- offer --->|
    /// |               | # willing
    /// |<---- ok ------|
    /// ```
    pub fn text(&self) -> String {
        let n = self.agents.len();
        let mut gaps = vec![6; n];
        let widen = |gaps: &mut Vec<usize>, from: usize, to: usize, needed: usize| {
            let (low, high) = (from.min(to), from.max(to));
            let have: usize = gaps[low..high].iter().sum::<usize>() + (high - low).saturating_sub(1);
            gaps[low] += needed.saturating_sub(have);
        };
        for (index, agent) in self.agents.iter().enumerate().take(n.saturating_sub(1)) {
            gaps[index] = gaps[index].max(agent.chars().count() + 1);
        }
        for row in &self.rows {
            if let Row::Arrow { from, to: Some(to), text, .. } = row
                && from != to
            {
                widen(&mut gaps, *from, *to, text.chars().count() + 6);
            }
        }
        let mut columns = vec![0; n];
        for index in 1..n {
            columns[index] = columns[index - 1] + gaps[index - 1] + 1;
        }
        let mut out = String::new();
        let mut head = Line::default();
        for (agent, column) in self.agents.iter().zip(&columns) {
            head.write(*column, agent);
        }
        out += &head.finish();
        for row in &self.rows {
            let mut line = Line::default();
            columns.iter().for_each(|column| line.write(*column, "|"));
            match row {
                Row::Loop => line.tail("repeated forever from here"),
                Row::Mark { column, text } => {
                    line.write(columns[*column], "*");
                    line.tail(&format!("{}: {text}", self.agents[*column]));
                }
                Row::Arrow { from, to: Some(to), text, is_received } if from != to => {
                    line.write(
                        columns[*from.min(to)] + 1,
                        &arrow(columns[*from], columns[*to], text, *is_received),
                    );
                }
                Row::Arrow { from, to, text, is_received } => {
                    let whom = match (to, is_received) {
                        (None, _) => "to any agent that accepts it",
                        (Some(_), false) => "to itself",
                        (Some(_), true) => "to itself, and receives it",
                    };
                    line.write(columns[*from], "*");
                    line.tail(&format!("{}: sends {text} {whom}", self.agents[*from]));
                }
            }
            out += &line.finish();
        }
        out
    }
}

/// Returns `---- text --->` or `<--- text ----`, as long as the distance between two columns.
fn arrow(from: usize, to: usize, text: &str, is_received: bool) -> String {
    let length = from.abs_diff(to) - 1;
    let stroke = if is_received { "-" } else { "~" };
    let bars = length.saturating_sub(text.chars().count() + 3);
    let (left, right) = (stroke.repeat(bars / 2), stroke.repeat(bars - bars / 2));
    if from < to { format!("{left} {text} {right}>") } else { format!("<{left} {text} {right}") }
}

/// A line of text that can be written to at any column.
#[derive(Default)]
struct Line(Vec<char>);

impl Line {
    fn write(&mut self, start: usize, text: &str) {
        for (column, character) in (start..).zip(text.chars()) {
            if self.0.len() <= column {
                self.0.resize(column + 1, ' ');
            }
            self.0[column] = character;
        }
    }

    /// Appends text after two spaces.
    fn tail(&mut self, text: &str) {
        self.write(self.0.len() + 2, text);
    }

    fn finish(self) -> String {
        let text: String = self.0.into_iter().collect();
        format!("{}\n", text.trim_end())
    }
}
