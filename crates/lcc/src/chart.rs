//! Draws a trace as a message sequence chart.
//!
//! A message that is received immediately after it is sent is one arrow. Otherwise the sending is an
//! arrow `~>` that ends in the mailbox of the receiver, and the receipt is a mark on the receiver's line.

use crate::trace::{Event, EventAction, Trace};

/// Distance between the agents' lines and the text to their right.
const TAIL_GAP: usize = 2;
/// Minimum number of characters for the text to the right of the columns.
const MIN_TAIL_CHARS: usize = 24;

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

/// The text of an internal step: the constraints that allowed it, if they say something.
fn reasons(event: &Event) -> String {
    let reasons = event.informative_reasons();
    if reasons.is_empty() { "internal step".to_string() } else { reasons.join(", ") }
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
        self.text_within(usize::MAX).unwrap_or_default()
    }

    /// Returns the chart as plain text with lines of at most `width` characters, if no word is longer; `None` if
    /// the columns need more. The texts of rows without an arrow are to the right of the columns, or beside the
    /// marks if there is no room; they are wrapped.
    pub fn text_within(&self, width: usize) -> Option<String> {
        let columns = self.columns();
        let n_used = columns.last().map_or(0, |last| last + 1);
        let heading = columns.iter().zip(&self.agents).map(|(column, agent)| column + agent.chars().count());
        let has_tail = self.rows.iter().any(|row| self.tail(row).is_some());
        let is_beside = width.saturating_sub(n_used + TAIL_GAP) < MIN_TAIL_CHARS;
        if heading.max().unwrap_or(0) > width || (has_tail && is_beside && width < 2 * MIN_TAIL_CHARS) {
            return None;
        }
        let mut head = Line::default();
        for (agent, column) in self.agents.iter().zip(&columns) {
            head.write(*column, agent);
        }
        let mut out = head.finish();
        for row in &self.rows {
            let place = match row {
                Row::Mark { column, .. } | Row::Arrow { from: column, .. } if is_beside => {
                    Place::beside(columns[*column], width)
                }
                Row::Loop if is_beside => Place::beside(0, width),
                _ => Place::Right { start: n_used + TAIL_GAP, room: width.saturating_sub(n_used + TAIL_GAP) },
            };
            let tail = self.tail(row).map(|text| wrapped(&text, place.room())).unwrap_or_default();
            for part in 0..tail.len().max(1) {
                let mut line = Line::default();
                columns.iter().for_each(|column| line.write(*column, "|"));
                if part == 0 {
                    draw(&mut line, row, &columns);
                }
                if let Some(text) = tail.get(part) {
                    line.write(place.start(text), text);
                }
                out += &line.finish();
            }
        }
        Some(out)
    }

    /// The positions of the agents' lines: as near to each other as headings and messages allow.
    fn columns(&self) -> Vec<usize> {
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
        columns
    }

    /// The text to the right of the columns.
    fn tail(&self, row: &Row) -> Option<String> {
        match row {
            Row::Loop => Some("repeated forever from here".to_string()),
            Row::Mark { column, text } => Some(format!("{}: {text}", self.agents[*column])),
            Row::Arrow { from, to: Some(to), .. } if from != to => None,
            Row::Arrow { from, to, text, is_received } => {
                let whom = match (to, is_received) {
                    (None, _) => "to any agent that accepts it",
                    (Some(_), false) => "to itself",
                    (Some(_), true) => "to itself, and receives it",
                };
                Some(format!("{}: sends {text} {whom}", self.agents[*from]))
            }
        }
    }
}

/// Where the text of a row is written.
#[derive(Clone, Copy)]
enum Place {
    /// From a position to the right.
    Right { start: usize, room: usize },
    /// Up to a position, from the left.
    Left { end: usize },
}

impl Place {
    /// The side of a mark where there is more room.
    fn beside(mark: usize, width: usize) -> Place {
        let room = width.saturating_sub(mark + TAIL_GAP);
        if room >= mark {
            Place::Right { start: mark + TAIL_GAP, room }
        } else {
            Place::Left { end: mark - 1 }
        }
    }

    fn room(self) -> usize {
        match self {
            Place::Right { room, .. } => room,
            Place::Left { end } => end,
        }
    }

    fn start(self, text: &str) -> usize {
        match self {
            Place::Right { start, .. } => start,
            Place::Left { end } => end.saturating_sub(text.chars().count()),
        }
    }
}

/// Draws a row over the agents' lines.
fn draw(line: &mut Line, row: &Row, columns: &[usize]) {
    match row {
        Row::Loop => {}
        Row::Arrow { from, to: Some(to), text, is_received } if from != to => {
            line.write(columns[*from.min(to)] + 1, &arrow(columns[*from], columns[*to], text, *is_received));
        }
        Row::Mark { column, .. } | Row::Arrow { from: column, .. } => line.write(columns[*column], "*"),
    }
}

/// Breaks a text between words into lines of at most `width` characters, if no word is longer. Further lines
/// are indented.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let n_lines = lines.len();
        let line = &mut lines[n_lines - 1];
        if !line.trim().is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("  {word}"));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
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

    fn finish(self) -> String {
        let text: String = self.0.into_iter().collect();
        format!("{}\n", text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three agents with a message and a mark of each.
    fn sample() -> Chart {
        let mark = |column| Row::Mark { column, text: "receives a message that is long".to_string() };
        Chart {
            agents: ["ann", "bob", "carla"].map(String::from).to_vec(),
            rows: vec![
                Row::Arrow { from: 0, to: Some(2), text: "m".repeat(40), is_received: true },
                Row::Loop,
                mark(0),
                mark(1),
                mark(2),
                Row::Arrow { from: 1, to: None, text: "n".to_string(), is_received: false },
            ],
        }
    }

    #[test]
    fn charts_fit_into_the_width_or_are_refused() {
        let chart = sample();
        for width in 0..200 {
            match chart.text_within(width) {
                None => assert!(width < 53, "{width}"),
                Some(text) => {
                    let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
                    assert!(widest <= width, "{width}: {widest}\n{text}");
                    assert_eq!(text.matches("receives").count(), 3, "{text}");
                }
            }
        }
        insta::assert_snapshot!(chart.text_within(60).unwrap());
        insta::assert_snapshot!(chart.text_within(80).unwrap());
        assert_eq!(chart.text(), chart.text_within(1000).unwrap());
    }
}
