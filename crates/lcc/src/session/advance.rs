//! What can happen now, and following what did.
//!
//! The state of an interaction is one. If what happened could lead to several states (the same label,
//! but different answers to a constraint bound to variables that the label does not show), it is
//! ambiguous, and the caller picks one of them by its number.

use std::fmt;

use masque_mu::{Completeness, LabelId, Lts, StateId};
use masque_text::Diagnostic;

use super::Session;
use crate::trace::Event;

/// Something that can happen now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Next {
    /// Its number among all that can.
    pub number: usize,
    /// What happens.
    pub event: Event,
    /// What remains of those who take part in it afterwards, as `now` statements.
    pub then: Vec<String>,
}

/// All that can happen now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    /// In a fixed order.
    pub next: Vec<Next>,
    /// The bound beyond which there may be more.
    pub cut: Option<&'static str>,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An agent makes an internal step.
    Internal,
    /// A message is sent.
    Sent,
    /// A message is taken from those under way.
    Taken,
    /// A message is sent and taken in one step.
    Exchanged,
}

/// What an event is like: what is left out may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Like {
    /// Its kind.
    pub kind: Option<Kind>,
    /// The message, as a term; variables and `_` stand for anything.
    pub message: Option<String>,
    /// The id of the sender, or of who makes an internal step.
    pub from: Option<String>,
    /// The id of the receiver.
    pub to: Option<String>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// The event with this number in [`Session::moves`].
    Number(usize),
    /// The event with this label, as [`Event::label`] has it.
    Label(String),
    /// The event that matches an action pattern of formulas, such as `in(offer(_))@c1`.
    Pattern(String),
    /// The event that is like this.
    Like(Like),
}

/// Why the interaction cannot be followed. It is where it was.
#[derive(Clone, Debug)]
pub enum CannotAdvance {
    /// The pattern cannot be read.
    Unreadable(Vec<Diagnostic>),
    /// Nothing of that kind can happen: this can.
    Impossible(Moves),
    /// Several events are meant, or one that leads to several states: these.
    Ambiguous(Vec<Next>),
}

impl fmt::Display for CannotAdvance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, next: &[Next]| {
            next.iter().try_for_each(|next| write!(f, "\n  {}: {}", next.number, next.event.label))
        };
        match self {
            CannotAdvance::Unreadable(diagnostics) => {
                let message = diagnostics.first().map_or("", |diagnostic| diagnostic.message.as_str());
                write!(f, "the pattern cannot be read: {message}")
            }
            CannotAdvance::Impossible(moves) => {
                write!(f, "this cannot happen now; what can:")?;
                list(f, &moves.next)?;
                match moves.cut {
                    Some(bound) => write!(f, "\n  and what lies beyond the bound `{bound}`"),
                    None if moves.next.is_empty() => write!(f, " nothing"),
                    None => Ok(()),
                }
            }
            CannotAdvance::Ambiguous(next) => {
                write!(f, "this can happen in several ways; give the number of one:")?;
                list(f, next)
            }
        }
    }
}

impl std::error::Error for CannotAdvance {}

impl Like {
    /// The action patterns that match such events and no others.
    fn patterns(&self) -> Vec<String> {
        let any = |text: &Option<String>| text.clone().unwrap_or("_".to_string());
        let (message, from, to) = (any(&self.message), any(&self.from), any(&self.to));
        let pattern = |kind: Kind| match kind {
            Kind::Internal => format!("#@{from}"),
            Kind::Sent => format!("out({message}, a(_, {to}))@{from}"),
            Kind::Taken => format!("in({message}, a(_, {from}))@{to}"),
            Kind::Exchanged => format!("tau({message}, a(_, {from}), a(_, {to}))"),
        };
        // An internal step has no message and no receiver.
        let has_exchange = self.message.is_some() || self.to.is_some();
        match self.kind {
            Some(kind) => vec![pattern(kind)],
            None if has_exchange => [Kind::Sent, Kind::Taken, Kind::Exchanged].map(pattern).to_vec(),
            None => [Kind::Internal, Kind::Sent, Kind::Taken, Kind::Exchanged].map(pattern).to_vec(),
        }
    }
}

impl Session {
    /// What can happen now.
    pub fn moves(&mut self) -> Moves {
        let (steps, cut) = self.steps();
        let next = steps.iter().enumerate().map(|(number, step)| self.next(number, *step)).collect();
        Moves { next, cut }
    }

    /// Follows the interaction: this happened. The answer is the event; if it cannot have happened,
    /// or if it is not clear which event is meant, the state is as it was.
    pub fn advance(&mut self, happened: &Happened) -> Result<Event, CannotAdvance> {
        let (steps, cut) = self.steps();
        let meant: Vec<usize> = match happened {
            Happened::Number(number) => (0..steps.len()).filter(|at| at == number).collect(),
            Happened::Label(label) => {
                let system = self.space.system();
                (0..steps.len()).filter(|at| system.label_text(steps[*at].0) == *label).collect()
            }
            Happened::Pattern(pattern) => self.matching(&steps, std::slice::from_ref(pattern))?,
            Happened::Like(like) => self.matching(&steps, &like.patterns())?,
        };
        match meant.as_slice() {
            [] => {
                let next = (0..steps.len()).map(|at| self.next(at, steps[at])).collect();
                Err(CannotAdvance::Impossible(Moves { next, cut }))
            }
            [at] => {
                let (label, target) = steps[*at];
                self.space.lts().go(target);
                self.has_past = true;
                Ok(self.space.system().event(label))
            }
            several => {
                let next = several.iter().map(|at| self.next(*at, steps[*at])).collect();
                Err(CannotAdvance::Ambiguous(next))
            }
        }
    }

    /// The transitions of the state, each once, and the bound beyond which there are more.
    fn steps(&mut self) -> (Vec<(LabelId, StateId)>, Option<&'static str>) {
        let state = self.space.initial();
        let mut steps = Vec::new();
        let complete = self.space.lts().successors(state, &mut |label, target| {
            if !steps.contains(&(label, target)) {
                steps.push((label, target));
            }
        });
        match complete {
            Completeness::Complete => (steps, None),
            Completeness::Cut(bound) => (steps, Some(bound)),
        }
    }

    fn next(&mut self, number: usize, (label, target): (LabelId, StateId)) -> Next {
        let from = self.space.initial();
        let system = self.space.system();
        Next { number, event: system.event(label), then: system.changed(from, target) }
    }

    /// The transitions that match one of the patterns.
    fn matching(
        &mut self,
        steps: &[(LabelId, StateId)],
        patterns: &[String],
    ) -> Result<Vec<usize>, CannotAdvance> {
        let mut read = Vec::new();
        for pattern in patterns {
            let file = self.text("event", pattern).map_err(CannotAdvance::Unreadable)?;
            let span = self.sources.span(file);
            let found = self.space.lts().read_pattern(pattern, span);
            read.push(found.map_err(|diagnostic| CannotAdvance::Unreadable(vec![diagnostic]))?);
        }
        let system = self.space.lts();
        let mut is_meant = |label: LabelId| {
            let label = system.label_term(label);
            read.iter().any(|pattern| system.label_matches(label, pattern))
        };
        Ok((0..steps.len()).filter(|at| is_meant(steps[*at].0)).collect())
    }
}
