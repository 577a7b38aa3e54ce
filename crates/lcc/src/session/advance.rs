//! Lists the events that are possible in the current state, and advances the session by one of them.
//!
//! A session is in exactly one state. If the event that happened could lead to several states (with the same
//! label, but different solutions for variables that the label does not show), it is ambiguous, and the
//! caller selects one of them by its index.

use std::fmt;

use masque_mu::{Completeness, LabelId, Lts, StateId};
use masque_text::Diagnostic;
use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashSet;

use super::Session;
use crate::trace::Event;

/// An event that is possible in the current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleEvent {
    /// Index among the possible events.
    pub number: usize,
    /// The event.
    pub event: Event,
    /// What remains of the clauses of the participating agents afterwards, as `now` statements.
    pub then: Vec<String>,
}

/// All events that are possible in the current state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleEvents {
    /// The events, in a fixed order.
    pub next: Vec<PossibleEvent>,
    /// Name of the bound that was exceeded, if any; there may then be more events.
    pub cut: Option<&'static str>,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// An agent makes an internal step.
    Internal,
    /// A message is sent.
    Sent,
    /// A message under way is received.
    Taken,
    /// A message is sent and received in one step.
    Exchanged,
}

/// A partial description of an event. `None` matches any value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventDescription {
    /// Kind of the event.
    pub kind: Option<EventKind>,
    /// The message, as a term in which variables and `_` match any term.
    pub message: Option<String>,
    /// Id of the sender, or of the agent that makes an internal step.
    pub from: Option<String>,
    /// Id of the receiver.
    pub to: Option<String>,
}

/// Selects the event that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventSelector {
    /// The event with this index in [`Session::possible_events`].
    Index(usize),
    /// The event whose [`Event::label`] is this text.
    Label(String),
    /// The event that matches an action pattern of formulas, such as `in(offer(_))@c1`.
    Pattern(String),
    /// The event that matches this description.
    Description(EventDescription),
}

/// The error if a session cannot advance. Its state is unchanged.
#[derive(Clone, Debug)]
pub enum CannotAdvance {
    /// The pattern cannot be parsed.
    Unreadable(Vec<Diagnostic>),
    /// No possible event matches; these are the possible events.
    Impossible(PossibleEvents),
    /// These events match: several, or one that leads to several states.
    Ambiguous(Vec<PossibleEvent>),
    /// A limit was exceeded.
    Stopped(Stop),
}

impl fmt::Display for CannotAdvance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, next: &[PossibleEvent]| {
            next.iter().try_for_each(|next| write!(f, "\n  {}: {}", next.number, next.event.label))
        };
        match self {
            CannotAdvance::Unreadable(diagnostics) => {
                let message = diagnostics.first().map_or("", |diagnostic| diagnostic.message.as_str());
                write!(f, "the pattern cannot be parsed: {message}")
            }
            CannotAdvance::Impossible(moves) => {
                write!(f, "this event is not possible now; the possible events are:")?;
                list(f, &moves.next)?;
                match moves.cut {
                    Some(bound) => write!(f, "\n  and possibly others beyond the bound `{bound}`"),
                    None if moves.next.is_empty() => write!(f, " none"),
                    None => Ok(()),
                }
            }
            CannotAdvance::Stopped(stop) => write!(f, "the search for events was stopped: {stop}"),
            CannotAdvance::Ambiguous(next) => {
                write!(f, "several events match; give the number of one:")?;
                list(f, next)
            }
        }
    }
}

impl std::error::Error for CannotAdvance {}

impl EventDescription {
    /// Returns action patterns that match exactly the described events.
    fn patterns(&self) -> Vec<String> {
        let any = |text: &Option<String>| text.clone().unwrap_or("_".to_string());
        let (message, from, to) = (any(&self.message), any(&self.from), any(&self.to));
        let pattern = |kind: EventKind| match kind {
            EventKind::Internal => format!("#@{from}"),
            EventKind::Sent => format!("out({message}, a(_, {to}))@{from}"),
            EventKind::Taken => format!("in({message}, a(_, {from}))@{to}"),
            EventKind::Exchanged => format!("tau({message}, a(_, {from}), a(_, {to}))"),
        };
        // An internal step has no message and no receiver.
        let has_exchange = self.message.is_some() || self.to.is_some();
        match self.kind {
            Some(kind) => vec![pattern(kind)],
            None if has_exchange => {
                [EventKind::Sent, EventKind::Taken, EventKind::Exchanged].map(pattern).to_vec()
            }
            None => [EventKind::Internal, EventKind::Sent, EventKind::Taken, EventKind::Exchanged]
                .map(pattern)
                .to_vec(),
        }
    }
}

impl Session {
    /// Returns the events that are possible in the current state.
    pub fn possible_events(&mut self) -> PossibleEvents {
        let (steps, cut) = self.steps();
        let next = (0..steps.len()).map(|number| self.next(number, &steps)).collect();
        PossibleEvents { next, cut }
    }

    /// Returns the events that are possible in the current state, within the time and memory of a budget.
    pub fn possible_events_within(&mut self, budget: &Budget) -> Result<PossibleEvents, Stop> {
        let (steps, cut) = self.within(budget, Session::steps)?;
        Ok(PossibleEvents { next: self.events(0..steps.len(), &steps, budget)?, cut })
    }

    /// Describes some of the transitions of the current state.
    fn events(
        &self,
        numbers: impl IntoIterator<Item = usize>,
        steps: &[(LabelId, StateId)],
        budget: &Budget,
    ) -> Result<Vec<PossibleEvent>, Stop> {
        let mut bytes = 0;
        let event = |number: usize| {
            let next = self.next(number, steps);
            bytes += next.then.iter().map(|text| text.len() as u64 + 64).sum::<u64>() + 512;
            budget.check()?;
            budget.check_memory(self.bytes() + bytes)?;
            Ok(next)
        };
        numbers.into_iter().map(event).collect()
    }

    /// Advances the session by the event that happened, and returns the event. If the event is not possible,
    /// or if several match, the state is unchanged.
    pub fn advance(&mut self, happened: &EventSelector) -> Result<Event, CannotAdvance> {
        self.advance_within(happened, &Budget::unlimited())
    }

    /// Does what [`Session::advance`] does, within the time and memory of a budget.
    pub fn advance_within(
        &mut self,
        happened: &EventSelector,
        budget: &Budget,
    ) -> Result<Event, CannotAdvance> {
        let (steps, cut) = self.within(budget, Session::steps).map_err(CannotAdvance::Stopped)?;
        let events = |session: &Session, numbers: &[usize]| {
            session.events(numbers.iter().copied(), &steps, budget).map_err(CannotAdvance::Stopped)
        };
        let matching: Vec<usize> = match happened {
            EventSelector::Index(number) => (0..steps.len()).filter(|index| index == number).collect(),
            EventSelector::Label(label) => {
                let system = self.space.system();
                (0..steps.len()).filter(|index| system.label_text(steps[*index].0) == *label).collect()
            }
            EventSelector::Pattern(pattern) => self.matching(&steps, std::slice::from_ref(pattern))?,
            EventSelector::Description(like) => self.matching(&steps, &like.patterns())?,
        };
        match matching.as_slice() {
            [] => {
                let all: Vec<usize> = (0..steps.len()).collect();
                let next = events(self, &all)?;
                Err(CannotAdvance::Impossible(PossibleEvents { next, cut }))
            }
            [index] => {
                let (label, target) = steps[*index];
                self.space.lts().start_at(target);
                self.has_past = true;
                Ok(self.space.system().event(label))
            }
            several => Err(CannotAdvance::Ambiguous(events(self, several)?)),
        }
    }

    /// Returns the transitions of the current state, each once, and the bound that was exceeded, if any.
    pub(crate) fn steps(&mut self) -> (Vec<(LabelId, StateId)>, Option<&'static str>) {
        let state = self.space.initial();
        let (mut steps, mut seen) = (Vec::new(), FxHashSet::default());
        let complete = self.space.lts().successors(state, &mut |label, target| {
            if seen.insert((label, target)) {
                steps.push((label, target));
            }
        });
        match complete {
            Completeness::Complete => (steps, None),
            Completeness::Cut(bound) => (steps, Some(bound)),
        }
    }

    fn next(&self, number: usize, steps: &[(LabelId, StateId)]) -> PossibleEvent {
        let system = self.space.system();
        let ((label, target), from) = (steps[number], system.current());
        PossibleEvent { number, event: system.event(label), then: system.changed(from, target) }
    }

    /// Returns the indices of the transitions that match one of the patterns.
    fn matching(
        &mut self,
        steps: &[(LabelId, StateId)],
        patterns: &[String],
    ) -> Result<Vec<usize>, CannotAdvance> {
        let mut read = Vec::new();
        for pattern in patterns {
            let file = self.text("event", pattern).map_err(CannotAdvance::Unreadable)?;
            let span = self.sources.span(file);
            let found = self.space.lts().read_pattern(pattern, span, &[]);
            read.push(found.map_err(|diagnostic| CannotAdvance::Unreadable(vec![diagnostic]))?);
        }
        let system = self.space.lts();
        let mut is_matching = |label: LabelId| {
            let label = system.label_term(label);
            read.iter().any(|pattern| system.label_matches(label, pattern, &[]))
        };
        Ok((0..steps.len()).filter(|index| is_matching(steps[*index].0)).collect())
    }
}
