//! A trace as a message sequence chart.
//!
//! A message that is taken right after it is sent is one arrow; else the sending is an arrow that
//! ends in the mailbox of the receiver, `~>`, and the receipt a mark on the receiver's line.

use crate::trace::{Deed, Event, Trace};

/// A row of a chart. Columns are agents, in the order of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Row {
    /// A message from one agent to another; `to` is the mailbox of nobody in particular if `None`.
    Arrow {
        /// The sender's column.
        from: usize,
        /// The receiver's column.
        to: Option<usize>,
        /// What is sent.
        text: String,
        /// Whether it is taken at once.
        is_taken: bool,
    },
    /// An agent takes a message that was sent before, or makes an internal step.
    Mark {
        /// The agent's column.
        at: usize,
        /// What it does.
        text: String,
    },
    /// From here on everything is repeated for ever.
    Loop,
}

/// A message sequence chart as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chart {
    /// The headings of the columns.
    pub agents: Vec<String>,
    /// The rows, from the first event on.
    pub rows: Vec<Row>,
}

/// The chart of a trace; agents that do nothing in it have no column.
pub fn chart(trace: &Trace) -> Chart {
    let takes_part = |agent: &&String| {
        trace.events.iter().any(|event| match &event.deed {
            Deed::Internal { by } => by == *agent,
            Deed::Sent { by, to, .. } => by == *agent || to == *agent,
            Deed::Taken { by, from, .. } => by == *agent || from == *agent,
            Deed::Exchanged { from, to, .. } => from == *agent || to == *agent,
        })
    };
    let agents: Vec<String> = trace.agents.iter().filter(takes_part).cloned().collect();
    let column = |agent: &str| agents.iter().position(|other| other == agent);
    let mut rows = Vec::new();
    let mut at = 0;
    while at < trace.events.len() {
        if trace.loop_at == Some(at) {
            rows.push(Row::Loop);
        }
        let event = &trace.events[at];
        let taker = trace.taker_at_once(at);
        at += 1;
        let row = match &event.deed {
            Deed::Internal { by } => column(by).map(|at| Row::Mark { at, text: reasons(event) }),
            Deed::Taken { by, message, .. } => {
                column(by).map(|at| Row::Mark { at, text: format!("takes {message}") })
            }
            Deed::Exchanged { from, to, message } => column(from).map(|from| Row::Arrow {
                from,
                to: column(to),
                text: message.clone(),
                is_taken: true,
            }),
            Deed::Sent { by, to, message } => {
                at += usize::from(taker.is_some());
                column(by).map(|from| Row::Arrow {
                    from,
                    to: column(taker.unwrap_or(to)),
                    text: message.clone(),
                    is_taken: taker.is_some(),
                })
            }
        };
        rows.extend(row);
    }
    Chart { agents, rows }
}

impl Trace {
    /// Who takes the message of an event right after it is sent, if the next event is that and
    /// belongs to the same round.
    pub fn taker_at_once(&self, at: usize) -> Option<&str> {
        let next = self.events.get(at + 1).filter(|_| self.loop_at != Some(at + 1))?;
        match &next.deed {
            Deed::Taken { by, .. } if next.sent == Some(at) => Some(by),
            _ => None,
        }
    }
}

fn reasons(event: &Event) -> String {
    match event.because.is_empty() {
        true => "#".to_string(),
        false => event.because.join(", "),
    }
}

impl Chart {
    /// The chart in plain characters.
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
        for (at, agent) in self.agents.iter().enumerate().take(n.saturating_sub(1)) {
            gaps[at] = gaps[at].max(agent.chars().count() + 1);
        }
        for row in &self.rows {
            if let Row::Arrow { from, to: Some(to), text, .. } = row
                && from != to
            {
                widen(&mut gaps, *from, *to, text.chars().count() + 6);
            }
        }
        let mut columns = vec![0; n];
        for at in 1..n {
            columns[at] = columns[at - 1] + gaps[at - 1] + 1;
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
                Row::Loop => line.tail("repeated for ever from here"),
                Row::Mark { at, text } => {
                    line.write(columns[*at], "*");
                    line.tail(&format!("{}: {text}", self.agents[*at]));
                }
                Row::Arrow { from, to: Some(to), text, is_taken } if from != to => {
                    line.write(
                        columns[*from.min(to)] + 1,
                        &arrow(columns[*from], columns[*to], text, *is_taken),
                    );
                }
                Row::Arrow { from, to, text, is_taken } => {
                    let whom = match (to, is_taken) {
                        (None, _) => "to whoever takes it",
                        (Some(_), false) => "to itself",
                        (Some(_), true) => "to itself, and takes it",
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

/// `---- text --->` or `<--- text ----`, as long as the way between two columns.
fn arrow(from: usize, to: usize, text: &str, is_taken: bool) -> String {
    let length = from.abs_diff(to) - 1;
    let stroke = if is_taken { "-" } else { "~" };
    let bars = length.saturating_sub(text.chars().count() + 3);
    let (left, right) = (stroke.repeat(bars / 2), stroke.repeat(bars - bars / 2));
    match from < to {
        true => format!("{left} {text} {right}>"),
        false => format!("<{left} {text} {right}"),
    }
}

/// A line of text that is written to at any column.
#[derive(Default)]
struct Line(Vec<char>);

impl Line {
    fn write(&mut self, at: usize, text: &str) {
        for (place, character) in (at..).zip(text.chars()) {
            if self.0.len() <= place {
                self.0.resize(place + 1, ' ');
            }
            self.0[place] = character;
        }
    }

    fn tail(&mut self, text: &str) {
        let at = self.0.len() + 2;
        self.write(at, text);
    }

    fn finish(self) -> String {
        let text: String = self.0.into_iter().collect();
        format!("{}\n", text.trim_end())
    }
}
