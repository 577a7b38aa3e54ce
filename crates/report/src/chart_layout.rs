//! The layout of a trace of a protocol as a message sequence chart, in pixels.
//!
//! Agents are lifelines, from left to right in the order of the team; events are rows, downwards.
//! A message that is received right after it is sent takes one row; otherwise its arrow leads down from the
//! row in which it is sent to the row in which it is received. Every text is written in the row of its
//! event, so texts never overlap; arrows may cross them.

use masque_driver::{End, Event, EventAction, Trace};

use crate::graph_layout::{CHAR_WIDTH, LINE_HEIGHT, PAD, packed};
use crate::lcc::deed_parts;
use crate::lines::columns;
use crate::long_paths::{Shown, cut};
use crate::wording::shortened;

/// Number of events drawn at each end of a long trace.
pub(crate) const EVENTS_AT_EACH_END: usize = 60;
/// Maximum number of characters of a message.
const MAX_LABEL_CHARS: usize = 44;
/// Maximum number of characters of a line in the box of an internal step.
const MAX_BOX_CHARS: usize = 36;
/// Maximum number of characters of an agent's name or role.
const MAX_HEAD_CHARS: usize = 22;
/// Maximum number of lines in the box of an internal step.
const MAX_BOX_LINES: usize = 4;
/// Minimum number of rows of a chart that repeats the names of agents at the bottom.
const MIN_ROWS_WITH_FEET: usize = 24;
/// Margin around the chart, in pixels.
const MARGIN: f64 = 16.0;
/// Width of the column for the arrow that leads back to the start of a loop, in pixels.
const LOOP_MARGIN: f64 = 84.0;
/// Distance between the end of an arrow and its label, in pixels.
const ARROW_PAD: f64 = 12.0;
/// Minimum width of a chart in pixels, for the text below it.
const MIN_WIDTH: f64 = 500.0;
/// Distance between the receiver and the end of the arrow of a message that is not received, in pixels.
const UNTAKEN_GAP: f64 = 24.0;

/// A chart with the positions of all its elements.
pub(crate) struct Chart {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) lifelines: Vec<Lifeline>,
    /// Vertical positions at which lifelines begin and end.
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// Vertical position of the repeated names, if they are repeated.
    pub(crate) feet: Option<f64>,
    pub(crate) messages: Vec<Message>,
    pub(crate) steps: Vec<InternalStep>,
    /// Vertical positions at which events are left out, with their numbers.
    pub(crate) left_out: Vec<(f64, usize)>,
    /// Vertical positions at which the loop begins and ends.
    pub(crate) repeated: Option<(f64, f64)>,
    /// Vertical positions at which the row of an event begins and ends that was observed and is not possible.
    pub(crate) violated: Option<(f64, f64)>,
    pub(crate) end: End,
    /// Lines below the chart: how the trace ends, and why agents are stuck.
    pub(crate) notes: Vec<String>,
    pub(crate) notes_at: f64,
}

/// The column of an agent.
pub(crate) struct Lifeline {
    pub(crate) id: String,
    pub(crate) role: String,
    pub(crate) x: f64,
    /// Half the width of the heading, in pixels.
    pub(crate) half: f64,
    /// Whether the agent has finished, or is idle, at the end.
    pub(crate) rests: bool,
}

/// Whether and when a message is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is received.
    Taken,
    /// It was in transit at the start, and is received.
    Found,
    /// It is in transit at the end of the loop, and is received in the next iteration.
    NextRound,
    /// It is not received.
    NotTaken,
}

impl Fate {
    /// The fate of a message that event `at` sends and that no event of the trace receives.
    pub(crate) fn of_untaken(trace: &Trace, at: usize) -> Fate {
        // The same messages are in transit at both ends of a loop, so the next iteration receives it.
        let is_repeated = trace.loop_at.is_some_and(|start| start <= at);
        if is_repeated { Fate::NextRound } else { Fate::NotTaken }
    }

    /// The text at the open end of an arrow.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Fate::Taken => None,
            Fate::Found => Some("in transit at the start"),
            Fate::NextRound => Some("received in the next iteration"),
            Fate::NotTaken => Some("not received"),
        }
    }
}

/// An arrow from a sender to a receiver.
pub(crate) struct Message {
    /// Ids of sender and receiver; empty if the trace names no agent.
    pub(crate) agents: [String; 2],
    pub(crate) from: (f64, f64),
    pub(crate) to: (f64, f64),
    /// Whether an agent sends it to itself.
    pub(crate) is_own: bool,
    pub(crate) fate: Fate,
    pub(crate) label: String,
    /// Description for the tooltip.
    pub(crate) title: String,
}

/// An internal step of an agent: a box on its lifeline.
pub(crate) struct InternalStep {
    pub(crate) agent: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) half: f64,
    pub(crate) height: f64,
    pub(crate) lines: Vec<String>,
    pub(crate) title: String,
}

impl Chart {
    /// The chart of a trace; of a long one, this many events at each end.
    pub(crate) fn new(trace: &Trace, events_at_each_end: usize) -> Chart {
        Chart::with_violation(trace, events_at_each_end, None)
    }

    /// The chart of observed events, of which one may be impossible.
    pub(crate) fn with_violation(trace: &Trace, events_at_each_end: usize, violated: Option<usize>) -> Chart {
        let rows = Rows::new(trace, events_at_each_end);
        let agents = shown_agents(trace);
        let plans = plans(trace, &rows, &agents);
        let (xs, right) = place_columns(trace, &agents, &plans);
        let head = 2.0 * LINE_HEIGHT + PAD;
        let top = MARGIN + head;
        // Heights of the rows, then their lower edges.
        let mut heights = vec![14.0_f64; rows.shown.len()];
        for (row, shown) in rows.shown.iter().enumerate() {
            if matches!(shown, Shown::LeftOut(_)) {
                heights[row] = 2.0 * LINE_HEIGHT + 4.0;
            }
        }
        for plan in &plans {
            let row = rows.of[plan.at];
            heights[row] = heights[row].max(plan.height());
        }
        let (mut y, mut lows) = (top + 10.0, Vec::new());
        for height in &heights {
            y += height + 8.0;
            lows.push(y);
        }
        let bottom = y + 22.0;
        let mut chart = Chart {
            width: right,
            height: 0.0,
            lifelines: Vec::new(),
            top,
            bottom,
            feet: None,
            messages: Vec::new(),
            steps: Vec::new(),
            left_out: Vec::new(),
            repeated: trace.loop_at.map(|at| {
                let row = rows.of[at];
                (lows[row] - heights[row] - 5.0, y + 8.0)
            }),
            violated: violated.map(|at| {
                let row = rows.of[at];
                (lows[row] - heights[row] - 3.0, lows[row] + 5.0)
            }),
            end: trace.end,
            notes: Vec::new(),
            notes_at: 0.0,
        };
        for (column, &agent) in agents.iter().enumerate() {
            let (id, role) = (trace.agents[agent].clone(), trace.roles[agent].clone());
            let half = head_width(&id, &role) / 2.0;
            chart.lifelines.push(Lifeline { id, role, x: xs[column], half, rests: trace.rests[agent] });
        }
        for (row, shown) in rows.shown.iter().enumerate() {
            if let Shown::LeftOut(n) = shown {
                chart.left_out.push((lows[row] - heights[row] / 2.0, *n));
            }
        }
        let line = |at: usize, note: bool| {
            let row = rows.of[at];
            match rows.shown[row] {
                Shown::LeftOut(_) => lows[row] - heights[row] / 2.0,
                Shown::Position(_) => lows[row] - if note { LINE_HEIGHT } else { 2.0 },
            }
        };
        for plan in plans {
            chart.draw(trace, plan, &xs, &line);
        }
        let mut low = bottom + 10.0;
        if rows.shown.len() >= MIN_ROWS_WITH_FEET {
            chart.feet = Some(bottom);
            low += head;
        }
        chart.notes = notes(trace, ((right - 2.0 * MARGIN) / CHAR_WIDTH) as usize);
        chart.notes_at = low + LINE_HEIGHT;
        chart.height = low + chart.notes.len() as f64 * LINE_HEIGHT + MARGIN;
        chart
    }

    /// Adds a planned element; `line` returns the vertical position of the arrow of an event.
    fn draw(&mut self, trace: &Trace, plan: Planned, xs: &[f64], line: &dyn Fn(usize, bool) -> f64) {
        let event = &trace.events[plan.at];
        let title = event_text(event);
        match plan.element {
            Element::InternalStep { column, lines } => {
                let height = box_height(lines.len());
                let y = line(plan.at, false) + 2.0 - height;
                let (x, half) = (xs[column], box_width(&lines) / 2.0);
                let agent = self.lifelines[column].id.clone();
                self.steps.push(InternalStep { agent, x, y, half, height, lines, title });
            }
            Element::Message { from, to, taken, fate, label } => {
                let has_note = fate.note().is_some();
                let y = line(plan.at, has_note);
                let end = taken.map_or(y, |taken| line(taken, false).max(y));
                let id = |column: Option<usize>| column.map_or("", |column| &self.lifelines[column].id);
                let agents = [id(from), id(to)].map(str::to_string);
                let room = arrow_width(&label, fate);
                let (x1, x2) = match (from.map(|c| xs[c]), to.map(|c| xs[c])) {
                    (Some(x1), Some(x2)) if fate == Fate::Taken => (x1, x2),
                    (Some(x1), Some(x2)) if x1 < x2 => (x1, x2 - UNTAKEN_GAP),
                    (Some(x1), Some(x2)) if x1 > x2 => (x1, x2 + UNTAKEN_GAP),
                    (Some(x1), _) => (x1, x1 + room),
                    (None, Some(x2)) => (x2 + room, x2),
                    (None, None) => return,
                };
                let is_own = fate == Fate::Taken && from == to;
                let end = if is_own { end.max(y + 10.0) } else { end };
                let message = Message { agents, from: (x1, y), to: (x2, end), is_own, fate, label, title };
                self.messages.push(message);
            }
        }
    }
}

/// The rows of the chart, and the row of each event.
struct Rows {
    shown: Vec<Shown>,
    /// For each event, the index of its row, or of the gap in which it is left out.
    of: Vec<usize>,
}

impl Rows {
    fn new(trace: &Trace, events_at_each_end: usize) -> Rows {
        let important: Vec<usize> = trace.loop_at.into_iter().collect();
        let (mut shown, mut of) = (Vec::new(), Vec::new());
        for item in cut(trace.events.len(), events_at_each_end, &important) {
            let n = match item {
                Shown::Position(at) => {
                    let shares_row = at > 0
                        && matches!(shown.last(), Some(Shown::Position(last)) if last + 1 == at)
                        && trace.immediate_receiver(at - 1).is_some();
                    if shares_row {
                        of.push(shown.len() - 1);
                        continue;
                    }
                    1
                }
                Shown::LeftOut(n) => n,
            };
            of.extend(std::iter::repeat_n(shown.len(), n));
            shown.push(item);
        }
        Rows { shown, of }
    }

    fn is_shown(&self, at: usize) -> bool {
        matches!(self.shown[self.of[at]], Shown::Position(_))
    }
}

/// Indices of the agents that occur in the trace or are stuck at its end; all if there are none.
fn shown_agents(trace: &Trace) -> Vec<usize> {
    let is_named = |agent: &String| {
        trace.events.iter().any(|event| {
            let (_, by, peer, _) = deed_parts(&event.action);
            by == agent || peer == Some(agent)
        })
    };
    let all = 0..trace.agents.len();
    let is_shown = |&at: &usize| is_named(&trace.agents[at]) || (trace.end == End::Stuck && !trace.rests[at]);
    let shown: Vec<usize> = all.clone().filter(is_shown).collect();
    if shown.is_empty() { all.collect() } else { shown }
}

/// An element to be drawn at an event.
struct Planned {
    /// Index of the event.
    at: usize,
    element: Element,
}

enum Element {
    InternalStep {
        column: usize,
        lines: Vec<String>,
    },
    /// `taken` is the index of the event that receives the message.
    Message {
        from: Option<usize>,
        to: Option<usize>,
        taken: Option<usize>,
        fate: Fate,
        label: String,
    },
}

impl Planned {
    /// Height of the element in the event's row, in pixels.
    fn height(&self) -> f64 {
        match &self.element {
            Element::InternalStep { lines, .. } => box_height(lines.len()),
            Element::Message { fate, .. } => {
                LINE_HEIGHT + 4.0 + if fate.note().is_some() { LINE_HEIGHT } else { 2.0 }
            }
        }
    }
}

fn box_height(n_lines: usize) -> f64 {
    n_lines as f64 * LINE_HEIGHT + 8.0
}

fn box_width(lines: &[String]) -> f64 {
    lines.iter().map(|line| columns(line)).max().unwrap_or(0) as f64 * CHAR_WIDTH + 14.0
}

fn head_width(id: &str, role: &str) -> f64 {
    let letters = |text: &str| columns(text).min(MAX_HEAD_CHARS + 2);
    letters(id).max(letters(role)).max(4) as f64 * CHAR_WIDTH + 2.0 * PAD
}

/// A name, shortened for a heading.
pub(crate) fn in_head(text: &str) -> String {
    shortened(text.to_string(), MAX_HEAD_CHARS)
}

/// Width of an arrow with this label, in pixels.
fn arrow_width(label: &str, fate: Fate) -> f64 {
    let note = fate.note().map_or(0, columns);
    columns(label).max(note) as f64 * CHAR_WIDTH + 2.0 * ARROW_PAD
}

/// The elements to be drawn, event by event. A message is drawn at the event that sends it.
fn plans(trace: &Trace, rows: &Rows, agents: &[usize]) -> Vec<Planned> {
    let column = |name: &str| agents.iter().position(|&agent| trace.agents[agent] == name);
    let mut takers = vec![None; trace.events.len()];
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(sent) = event.sent {
            takers[sent] = Some(at);
        }
    }
    let mut plans = Vec::new();
    for (at, event) in trace.events.iter().enumerate() {
        // An arrow may start at an event that is left out; then it has no label.
        let label = |message: &str| {
            if rows.is_shown(at) { shortened(message.to_string(), MAX_LABEL_CHARS) } else { String::new() }
        };
        let element = match &event.action {
            EventAction::Internal { by } => {
                column(by).map(|column| Element::InternalStep { column, lines: boxed(event) })
            }
            EventAction::Sent { by, to, message } => {
                let taken: Option<usize> = takers[at];
                let receiver = taken.and_then(|taken| match &trace.events[taken].action {
                    EventAction::Taken { by, .. } => column(by),
                    _ => None,
                });
                let fate = if taken.is_some() { Fate::Taken } else { Fate::of_untaken(trace, at) };
                let to = receiver.or_else(|| column(to));
                Some(Element::Message { from: column(by), to, taken, fate, label: label(message) })
            }
            EventAction::Taken { by, message, .. } if event.sent.is_none() => Some(Element::Message {
                from: None,
                to: column(by),
                taken: None,
                fate: Fate::Found,
                label: label(message),
            }),
            EventAction::Taken { .. } => None,
            EventAction::Exchanged { from, to, message } => Some(Element::Message {
                from: column(from),
                to: column(to),
                taken: None,
                fate: Fate::Taken,
                label: label(message),
            }),
        };
        let reaches = takers[at].is_some_and(|taken| rows.is_shown(taken));
        if rows.is_shown(at) || reaches {
            plans.extend(element.map(|element| Planned { at, element }));
        }
    }
    plans
}

/// The constraints of an internal step, as the lines of a box.
fn boxed(event: &Event) -> Vec<String> {
    let reasons = event.informative_reasons();
    if reasons.is_empty() {
        return vec!["#".to_string()];
    }
    let items: Vec<String> =
        reasons.iter().map(|literal| shortened(literal.to_string(), MAX_BOX_CHARS)).collect();
    let mut lines = packed(&items, MAX_BOX_CHARS);
    if lines.len() > MAX_BOX_LINES {
        lines.truncate(MAX_BOX_LINES - 1);
        lines.push("..".to_string());
    }
    lines
}

/// An event in words.
pub(crate) fn event_text(event: &Event) -> String {
    let mut text = match &event.action {
        EventAction::Internal { by } => format!("{by} makes an internal step"),
        EventAction::Sent { by, to, message } if to.is_empty() => {
            format!("{by} sends {message} to any agent that accepts it")
        }
        EventAction::Sent { by, to, message } => format!("{by} sends {message} to {to}"),
        EventAction::Taken { by, message, .. } => format!("{by} receives {message}"),
        EventAction::Exchanged { from, to, message } => {
            format!("{from} sends {message} to {to}, which receives it")
        }
    };
    if !event.because.is_empty() {
        text += ", because ";
        text += &event.because.join(", ");
    }
    text
}

/// The horizontal position of each lifeline, and the width of the chart, in pixels.
fn place_columns(trace: &Trace, agents: &[usize], plans: &[Planned]) -> (Vec<f64>, f64) {
    let n = agents.len();
    // Widths to the left of the first lifeline, between two lifelines, and to the right of the last.
    let mut gaps = vec![40.0_f64; n + 1];
    gaps[0] = 0.0;
    let widen = |gaps: &mut Vec<f64>, at: usize, needed: f64| gaps[at] = gaps[at].max(needed);
    let halves: Vec<f64> =
        agents.iter().map(|&agent| head_width(&trace.agents[agent], &trace.roles[agent]) / 2.0).collect();
    for column in 0..n {
        widen(&mut gaps, column, halves[column] + if column > 0 { halves[column - 1] + 14.0 } else { 0.0 });
        widen(&mut gaps, column + 1, halves[column]);
    }
    let mut arrows: Vec<(usize, usize, f64)> = Vec::new();
    for plan in plans {
        match &plan.element {
            Element::InternalStep { column, lines } => {
                let needed = box_width(lines) / 2.0 + 10.0;
                widen(&mut gaps, *column, needed);
                widen(&mut gaps, *column + 1, needed);
            }
            Element::Message { from, to, fate, label, .. } => {
                let needed = arrow_width(label, *fate);
                match (from, to) {
                    (Some(from), Some(to)) if from != to => {
                        let needed = needed + if *fate == Fate::Taken { 6.0 } else { UNTAKEN_GAP + 6.0 };
                        arrows.push((*from.min(to), *from.max(to), needed));
                    }
                    (Some(column), _) | (None, Some(column)) => {
                        widen(&mut gaps, column + 1, needed + 40.0);
                    }
                    (None, None) => {}
                }
            }
        }
    }
    // Short arrows first: long ones then have the room that short ones need.
    arrows.sort_by(|one, other| {
        (one.1 - one.0, one.0).cmp(&(other.1 - other.0, other.0)).then(one.2.total_cmp(&other.2))
    });
    for (low, high, needed) in arrows {
        let have: f64 = gaps[low + 1..=high].iter().sum();
        let more = (needed - have).max(0.0) / (high - low) as f64;
        gaps[low + 1..=high].iter_mut().for_each(|gap| *gap += more);
    }
    let mut x = MARGIN + if trace.loop_at.is_some() { LOOP_MARGIN } else { 0.0 };
    let mut xs = Vec::new();
    for gap in &gaps[..n] {
        x += gap;
        xs.push(x);
    }
    (xs, (x + gaps[n] + MARGIN).max(MIN_WIDTH))
}

/// How the trace ends, in lines of at most `max_chars` characters.
fn notes(trace: &Trace, max_chars: usize) -> Vec<String> {
    let text = match trace.end {
        End::Final => "final: all agents have finished, and no message is in transit",
        End::Stuck => "stuck: no event is possible, and the state is not final",
        End::Loop => "",
        End::Decided => "the last step decides, for every continuation",
        End::Open => "from here on, several paths together decide",
    };
    let mut notes = Vec::new();
    let all = std::iter::once(text.to_string()).chain(trace.blame.iter().map(|reason| format!("  {reason}")));
    for note in all.filter(|note| !note.is_empty()) {
        let mut line = String::new();
        for word in note.split(' ') {
            if columns(&line) + 1 + columns(word) > max_chars.max(40) && !line.trim().is_empty() {
                notes.push(std::mem::take(&mut line));
                line += "    ";
            } else if !line.is_empty() || word.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        notes.push(line);
    }
    notes
}
