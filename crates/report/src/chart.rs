//! A run of a protocol as a message sequence chart: what is drawn where, in pixels.
//!
//! Agents are lifelines, from left to right in the order of the team; events are rows, downwards.
//! A message that is taken right after it is sent is one row; else its arrow leads down, from the
//! row where it is sent to the row where it is taken. Nothing is written in another row than its
//! own, so texts never meet; arrows may cross them.

use masque_driver::{Deed, End, Event, Trace};

use crate::cut::{Shown, cut};
use crate::layout::{LETTER, LINE, PAD, packed};
use crate::lcc::deed_parts;
use crate::lines::columns;
use crate::wording::shortened;

/// Of a long run so many events at each end are drawn.
const ENDS: usize = 60;
/// Longer messages, constraints and names are cut.
const MOST_LETTERS: usize = 44;
const MOST_IN_BOX: usize = 36;
const MOST_IN_HEAD: usize = 22;
/// So many lines are written in a box.
const MOST_LINES: usize = 4;
/// From this many rows on the names of agents are repeated at the bottom.
const LONG: usize = 24;
const MARGIN: f64 = 16.0;
/// For the arrow that leads back, and what is written there.
const BACK: f64 = 76.0;
/// From the end of an arrow to what is written along it.
const ARROW: f64 = 12.0;
/// The least width, for what is written below.
const NARROW: f64 = 500.0;
/// How far before its receiver the arrow of a message ends that nobody takes.
const SHORT: f64 = 22.0;

/// A chart, ready to be drawn.
pub(crate) struct Chart {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) lifelines: Vec<Lifeline>,
    /// Where lifelines begin and end.
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// Where the names are repeated.
    pub(crate) feet: Option<f64>,
    pub(crate) messages: Vec<Message>,
    pub(crate) steps: Vec<Own>,
    /// Where events are left out, and how many.
    pub(crate) left_out: Vec<(f64, usize)>,
    /// Where the part begins and ends that is repeated for ever.
    pub(crate) repeated: Option<(f64, f64)>,
    pub(crate) end: End,
    /// What is written below: how the run ends, and why it is stuck.
    pub(crate) notes: Vec<String>,
    pub(crate) notes_at: f64,
}

/// An agent.
pub(crate) struct Lifeline {
    pub(crate) id: String,
    pub(crate) role: String,
    pub(crate) x: f64,
    /// Half the width of its heading.
    pub(crate) half: f64,
    /// Whether it has finished, or rests, at the end.
    pub(crate) rests: bool,
}

/// What becomes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is taken.
    Taken,
    /// It was under way at the start, and is taken.
    Found,
    /// It is under way where the loop begins again, and taken then.
    NextRound,
    /// Nobody takes it.
    NotTaken,
}

impl Fate {
    /// What becomes of a message that an event sends and that no event of the trace takes.
    pub(crate) fn of_untaken(trace: &Trace, at: usize) -> Fate {
        // A loop ends with the messages it began with, so what it leaves it takes.
        let is_repeated = trace.loop_at.is_some_and(|start| start <= at);
        if is_repeated { Fate::NextRound } else { Fate::NotTaken }
    }

    /// What is written at the open end of an arrow.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Fate::Taken => None,
            Fate::Found => Some("under way at the start"),
            Fate::NextRound => Some("received in the next round"),
            Fate::NotTaken => Some("not received"),
        }
    }
}

/// An arrow from a sender to a receiver.
pub(crate) struct Message {
    /// The ids of both, empty where it is nobody in particular.
    pub(crate) agents: [String; 2],
    pub(crate) from: (f64, f64),
    pub(crate) to: (f64, f64),
    /// Whether it leads from an agent to itself.
    pub(crate) is_own: bool,
    pub(crate) fate: Fate,
    pub(crate) label: String,
    /// All there is to say of it.
    pub(crate) title: String,
}

/// A step of an agent's own.
pub(crate) struct Own {
    pub(crate) agent: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) half: f64,
    pub(crate) height: f64,
    pub(crate) lines: Vec<String>,
    pub(crate) title: String,
}

impl Chart {
    pub(crate) fn new(trace: &Trace) -> Chart {
        let rows = Rows::new(trace);
        let agents = shown_agents(trace);
        let plans = plans(trace, &rows, &agents);
        let (xs, right) = place_columns(trace, &agents, &plans);
        let head = 2.0 * LINE + PAD;
        let top = MARGIN + head;
        // The bottom edge of each row, and of what stands in it.
        let mut heights = vec![14.0_f64; rows.shown.len()];
        for (row, shown) in rows.shown.iter().enumerate() {
            if matches!(shown, Shown::LeftOut(_)) {
                heights[row] = 2.0 * LINE + 4.0;
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
                Shown::Position(_) => lows[row] - if note { LINE } else { 2.0 },
            }
        };
        for plan in plans {
            chart.draw(trace, plan, &xs, &line);
        }
        let mut low = bottom + 10.0;
        if rows.shown.len() >= LONG {
            chart.feet = Some(bottom);
            low += head;
        }
        chart.notes = notes(trace, ((right - 2.0 * MARGIN) / LETTER) as usize);
        chart.notes_at = low + LINE;
        chart.height = low + chart.notes.len() as f64 * LINE + MARGIN;
        chart
    }

    /// Puts down what was planned; `line` is where the arrow of an event runs.
    fn draw(&mut self, trace: &Trace, plan: Plan, xs: &[f64], line: &dyn Fn(usize, bool) -> f64) {
        let event = &trace.events[plan.at];
        let title = told(event);
        match plan.what {
            What::Own { column, lines } => {
                let height = plan_box(lines.len());
                let y = line(plan.at, false) + 2.0 - height;
                let (x, half) = (xs[column], box_width(&lines) / 2.0);
                let agent = self.lifelines[column].id.clone();
                self.steps.push(Own { agent, x, y, half, height, lines, title });
            }
            What::Message { from, to, taken, fate, label } => {
                let has_note = fate.note().is_some();
                let y = line(plan.at, has_note);
                let end = taken.map_or(y, |taken| line(taken, false).max(y));
                let id = |column: Option<usize>| column.map_or("", |column| &self.lifelines[column].id);
                let agents = [id(from), id(to)].map(str::to_string);
                let room = plan_room(&label, fate);
                let (x1, x2) = match (from.map(|c| xs[c]), to.map(|c| xs[c])) {
                    (Some(x1), Some(x2)) if fate == Fate::Taken => (x1, x2),
                    (Some(x1), Some(x2)) if x1 < x2 => (x1, x2 - SHORT),
                    (Some(x1), Some(x2)) if x1 > x2 => (x1, x2 + SHORT),
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

/// Which events are shown, and in which row each of them stands.
struct Rows {
    shown: Vec<Shown>,
    /// For each event its row, or that of the gap in which it is left out.
    of: Vec<usize>,
}

impl Rows {
    fn new(trace: &Trace) -> Rows {
        let important: Vec<usize> = trace.loop_at.into_iter().collect();
        let (mut shown, mut of) = (Vec::new(), Vec::new());
        for item in cut(trace.events.len(), ENDS, &important) {
            let n = match item {
                Shown::Position(at) => {
                    let is_with_last = at > 0
                        && matches!(shown.last(), Some(Shown::Position(last)) if last + 1 == at)
                        && trace.taker_at_once(at - 1).is_some();
                    if is_with_last {
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

/// The agents that take part, and those that are stuck.
fn shown_agents(trace: &Trace) -> Vec<usize> {
    let is_named = |agent: &String| {
        trace.events.iter().any(|event| {
            let (_, by, peer, _) = deed_parts(&event.deed);
            by == agent || peer == Some(agent)
        })
    };
    let all = 0..trace.agents.len();
    let is_shown = |&at: &usize| is_named(&trace.agents[at]) || (trace.end == End::Stuck && !trace.rests[at]);
    let shown: Vec<usize> = all.clone().filter(is_shown).collect();
    if shown.is_empty() { all.collect() } else { shown }
}

/// Something that is to be drawn at an event.
struct Plan {
    at: usize,
    what: What,
}

enum What {
    Own {
        column: usize,
        lines: Vec<String>,
    },
    /// `taken` is the event that takes it.
    Message {
        from: Option<usize>,
        to: Option<usize>,
        taken: Option<usize>,
        fate: Fate,
        label: String,
    },
}

impl Plan {
    /// The height of what stands in the event's row.
    fn height(&self) -> f64 {
        match &self.what {
            What::Own { lines, .. } => plan_box(lines.len()),
            What::Message { fate, .. } => LINE + 4.0 + if fate.note().is_some() { LINE } else { 2.0 },
        }
    }
}

fn plan_box(n_lines: usize) -> f64 {
    n_lines as f64 * LINE + 8.0
}

fn box_width(lines: &[String]) -> f64 {
    lines.iter().map(|line| columns(line)).max().unwrap_or(0) as f64 * LETTER + 14.0
}

fn head_width(id: &str, role: &str) -> f64 {
    let letters = |text: &str| columns(text).min(MOST_IN_HEAD + 2);
    letters(id).max(letters(role)).max(4) as f64 * LETTER + 2.0 * PAD
}

/// A name as it fits into a heading.
pub(crate) fn in_head(text: &str) -> String {
    shortened(text.to_string(), MOST_IN_HEAD)
}

/// The room that an arrow with this label takes.
fn plan_room(label: &str, fate: Fate) -> f64 {
    let note = fate.note().map_or(0, columns);
    columns(label).max(note) as f64 * LETTER + 2.0 * ARROW
}

/// What is drawn of a trace, event by event. A message is drawn where it is sent.
fn plans(trace: &Trace, rows: &Rows, agents: &[usize]) -> Vec<Plan> {
    let column = |name: &str| agents.iter().position(|&agent| trace.agents[agent] == name);
    let mut takers = vec![None; trace.events.len()];
    for (at, event) in trace.events.iter().enumerate() {
        if let Some(sent) = event.sent {
            takers[sent] = Some(at);
        }
    }
    let mut plans = Vec::new();
    for (at, event) in trace.events.iter().enumerate() {
        // An arrow may come from among events that are left out; nothing else is written there.
        let label = |message: &str| {
            if rows.is_shown(at) { shortened(message.to_string(), MOST_LETTERS) } else { String::new() }
        };
        let what = match &event.deed {
            Deed::Internal { by } => column(by).map(|column| What::Own { column, lines: boxed(event) }),
            Deed::Sent { by, to, message } => {
                let taken: Option<usize> = takers[at];
                let taker = taken.and_then(|taken| match &trace.events[taken].deed {
                    Deed::Taken { by, .. } => column(by),
                    _ => None,
                });
                let fate = if taken.is_some() { Fate::Taken } else { Fate::of_untaken(trace, at) };
                let to = taker.or_else(|| column(to));
                Some(What::Message { from: column(by), to, taken, fate, label: label(message) })
            }
            Deed::Taken { by, message, .. } if event.sent.is_none() => Some(What::Message {
                from: None,
                to: column(by),
                taken: None,
                fate: Fate::Found,
                label: label(message),
            }),
            Deed::Taken { .. } => None,
            Deed::Exchanged { from, to, message } => Some(What::Message {
                from: column(from),
                to: column(to),
                taken: None,
                fate: Fate::Taken,
                label: label(message),
            }),
        };
        let reaches = takers[at].is_some_and(|taken| rows.is_shown(taken));
        if rows.is_shown(at) || reaches {
            plans.extend(what.map(|what| Plan { at, what }));
        }
    }
    plans
}

/// The constraints of an internal step, as lines of a box.
fn boxed(event: &Event) -> Vec<String> {
    if event.because.is_empty() {
        return vec!["#".to_string()];
    }
    let items: Vec<String> =
        event.because.iter().map(|literal| shortened(literal.clone(), MOST_IN_BOX)).collect();
    let mut lines = packed(&items, MOST_IN_BOX);
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES - 1);
        lines.push("..".to_string());
    }
    lines
}

/// An event in words.
pub(crate) fn told(event: &Event) -> String {
    let mut text = match &event.deed {
        Deed::Internal { by } => format!("{by} makes a step of its own"),
        Deed::Sent { by, to, message } if to.is_empty() => {
            format!("{by} sends {message} to whoever takes it")
        }
        Deed::Sent { by, to, message } => format!("{by} sends {message} to {to}"),
        Deed::Taken { by, message, .. } => format!("{by} takes {message}"),
        Deed::Exchanged { from, to, message } => format!("{from} sends {message} to {to}, who takes it"),
    };
    if !event.because.is_empty() {
        text += ", because ";
        text += &event.because.join(", ");
    }
    text
}

/// The place of each column, and the width of the whole.
fn place_columns(trace: &Trace, agents: &[usize], plans: &[Plan]) -> (Vec<f64>, f64) {
    let n = agents.len();
    // What stands to the left of the first lifeline, between two, and to the right of the last.
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
        match &plan.what {
            What::Own { column, lines } => {
                let needed = box_width(lines) / 2.0 + 10.0;
                widen(&mut gaps, *column, needed);
                widen(&mut gaps, *column + 1, needed);
            }
            What::Message { from, to, fate, label, .. } => {
                let needed = plan_room(label, *fate);
                match (from, to) {
                    (Some(from), Some(to)) if from != to => {
                        let needed = needed + if *fate == Fate::Taken { 6.0 } else { SHORT + 6.0 };
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
    // Short ways first: what they need, longer ones have.
    arrows.sort_by(|one, other| {
        (one.1 - one.0, one.0).cmp(&(other.1 - other.0, other.0)).then(one.2.total_cmp(&other.2))
    });
    for (low, high, needed) in arrows {
        let have: f64 = gaps[low + 1..=high].iter().sum();
        let more = (needed - have).max(0.0) / (high - low) as f64;
        gaps[low + 1..=high].iter_mut().for_each(|gap| *gap += more);
    }
    let mut x = MARGIN + if trace.loop_at.is_some() { BACK } else { 0.0 };
    let mut xs = Vec::new();
    for gap in &gaps[..n] {
        x += gap;
        xs.push(x);
    }
    (xs, (x + gaps[n] + MARGIN).max(NARROW))
}

/// How the run ends, in lines of so many letters.
fn notes(trace: &Trace, letters: usize) -> Vec<String> {
    let text = match trace.end {
        End::Final => "final: everybody has finished, and no message is under way",
        End::Stuck => "stuck: nothing can happen, and the state is not final",
        End::Loop => "",
        End::Decided => "the last step decides, however the run goes on",
        End::Open => "from here on several runs together decide",
    };
    let mut notes = Vec::new();
    let all = std::iter::once(text.to_string()).chain(trace.blame.iter().map(|reason| format!("  {reason}")));
    for note in all.filter(|note| !note.is_empty()) {
        let mut line = String::new();
        for word in note.split(' ') {
            if columns(&line) + 1 + columns(word) > letters.max(40) && !line.trim().is_empty() {
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
