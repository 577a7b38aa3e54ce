//! The monitor of one log.

use std::cell::RefCell;
use std::rc::Rc;

use masque_verdict::{Budget, State, Stop};

use super::diagrams::Diagrams;
use super::model::Engine;
use super::observation::IsplObservation;
use super::sets::StateSets;
use super::stored::Stored;
use super::tracker::{Judged, Log, Shared};
use crate::{Closing, Judgement, Monitor, Preview, Status};

/// The possible states after one log of an interpreted system.
///
/// All monitors of one model share its sets, so they belong to one thread.
#[derive(Clone)]
pub struct IsplMonitor<'s>(Tracked<'s>);

#[derive(Clone)]
enum Tracked<'s> {
    Stored(Tracker<'s, Stored<'s>>),
    Diagrams(Tracker<'s, Diagrams<'s>>),
}

/// A log and what it shares with others.
struct Tracker<'s, S: StateSets> {
    shared: Rc<RefCell<Shared<'s, S>>>,
    log: Log<S::Set>,
}

impl<S: StateSets> Clone for Tracker<'_, S> {
    fn clone(&self) -> Self {
        Tracker { shared: Rc::clone(&self.shared), log: self.log.clone() }
    }
}

impl<'s> IsplMonitor<'s> {
    pub(super) fn new(engine: &Engine<'s>) -> IsplMonitor<'s> {
        IsplMonitor(match engine {
            Engine::Stored(shared) => Tracked::Stored(Tracker::new(shared)),
            Engine::Diagrams(shared) => Tracked::Diagrams(Tracker::new(shared)),
        })
    }

    /// Returns the first possible states in the canonical order, at most `max`.
    pub fn possible_states(&self, max: usize, budget: &Budget) -> Result<Vec<State>, Stop> {
        match &self.0 {
            Tracked::Stored(tracker) => tracker.first(max, budget),
            Tracked::Diagrams(tracker) => tracker.first(max, budget),
        }
    }
}

impl Monitor for IsplMonitor<'_> {
    type Observation = IsplObservation;

    fn observe(&mut self, record: &IsplObservation, budget: &Budget) -> Result<Judgement, Stop> {
        match &mut self.0 {
            Tracked::Stored(tracker) => tracker.observe(record, budget),
            Tracked::Diagrams(tracker) => tracker.observe(record, budget),
        }
    }

    fn preview(&mut self, record: &IsplObservation, budget: &Budget) -> Result<Preview, Stop> {
        match &self.0 {
            Tracked::Stored(tracker) => tracker.preview(record, budget),
            Tracked::Diagrams(tracker) => tracker.preview(record, budget),
        }
    }

    fn status(&mut self, _: &Budget) -> Result<Status, Stop> {
        Ok(match &self.0 {
            Tracked::Stored(tracker) => tracker.status(),
            Tracked::Diagrams(tracker) => tracker.status(),
        })
    }

    fn is_over(&mut self, budget: &Budget) -> Result<bool, Stop> {
        match &self.0 {
            Tracked::Stored(tracker) => tracker.is_over(budget),
            Tracked::Diagrams(tracker) => tracker.is_over(budget),
        }
    }

    fn close(&mut self, _: &Budget) -> Result<Closing, Stop> {
        Ok(match &self.0 {
            Tracked::Stored(tracker) => tracker.close(),
            Tracked::Diagrams(tracker) => tracker.close(),
        })
    }
}

impl<'s, S: StateSets> Tracker<'s, S> {
    fn new(shared: &Rc<RefCell<Shared<'s, S>>>) -> Tracker<'s, S> {
        let log = shared.borrow().empty.clone();
        Tracker { shared: Rc::clone(shared), log }
    }

    fn observe(&mut self, record: &IsplObservation, budget: &Budget) -> Result<Judgement, Stop> {
        let Judged { judgement, next } = self.shared.borrow_mut().judge(&self.log, record, budget)?;
        if let Some(next) = next {
            self.log = next;
        }
        Ok(judgement)
    }

    fn preview(&self, record: &IsplObservation, budget: &Budget) -> Result<Preview, Stop> {
        self.shared.borrow_mut().preview(&self.log, record, budget)
    }

    fn status(&self) -> Status {
        self.shared.borrow().status(&self.log)
    }

    fn is_over(&self, budget: &Budget) -> Result<bool, Stop> {
        self.shared.borrow_mut().is_over(&self.log, budget)
    }

    fn close(&self) -> Closing {
        self.shared.borrow().closing(&self.log)
    }

    fn first(&self, max: usize, budget: &Budget) -> Result<Vec<State>, Stop> {
        self.shared.borrow_mut().first(&self.log, max, budget)
    }
}
