//! The work of a check: facts first, then the verdicts in order, then vacuity.
//!
//! Whatever is found is told at once through a channel, so that nothing is lost when time runs out.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_model::{Deadlock, Overflow, System};
use masque_verdict::{
    Budget, Encoded, Engine, Facts, Outcome, Stats, Stop, Unsupported, Vacuous, Verdict, Why, replay,
    replay_path, vacuous_antecedents,
};

use crate::engines::choose;

/// The answer to one property.
#[derive(Clone, Debug)]
pub struct Decided {
    /// Verdict and evidence.
    pub outcome: Outcome,
    /// The engine that answered, if one did.
    pub engine: Option<&'static str>,
    /// How long it took after the facts were known.
    pub time: Duration,
}

impl Decided {
    /// Not decided, by no engine.
    pub(crate) fn unknown(why: Why) -> Decided {
        Decided { outcome: Verdict::Unknown(why).into(), engine: None, time: Duration::ZERO }
    }
}

/// What an engine has cost.
#[derive(Clone, Debug)]
pub struct Cost {
    /// The engine's name.
    pub engine: &'static str,
    /// Its own account.
    pub stats: Stats,
}

/// What the work tells while it goes on.
pub(crate) enum Event {
    Facts(Facts),
    /// The facts could not be had: nothing else can.
    Stopped(Stop),
    Decided(usize, Decided),
    Unsupported(usize, Unsupported),
    Vacuous(usize, Vec<Vacuous>),
    Cost(Cost),
}

/// Decides the properties of a system and tells what it finds.
///
/// A listener that has gone away is no reason to stop: the budget is.
pub(crate) fn work(
    system: &System,
    candidates: &[&'static dyn Engine],
    budget: &Budget,
    events: &Sender<Event>,
) {
    let tell = |event| _ = events.send(event);
    let mut plan = Vec::new();
    for (position, property) in system.properties.iter().enumerate() {
        let choice = choose(candidates, system, property);
        if let Err(lacking) = choice {
            if let Some(unsupported) = lacking {
                tell(Event::Unsupported(position, unsupported));
            }
            tell(Event::Decided(position, Decided::unknown(Why::Unsupported)));
        }
        plan.push(choice.ok());
    }
    let Some(leader) = plan.iter().flatten().min().copied().or((!candidates.is_empty()).then_some(0)) else {
        return;
    };
    // The best engine in use tells the facts; all engines agree on them.
    let mut used = Used { system, budget, candidates, encoded: Vec::new() };
    match used.facts(leader) {
        Err(stop) => tell(Event::Stopped(stop)),
        Ok(facts) => {
            let is_refused = is_refused(system, &facts);
            tell(Event::Facts(facts));
            if !is_refused {
                used.decide(&plan, &tell);
            }
        }
    }
    for (engine, encoded) in &used.encoded {
        tell(Event::Cost(Cost { engine: candidates[*engine].name(), stats: encoded.stats() }));
    }
}

/// Whether the facts make the model an error, so that its properties mean nothing.
pub(crate) fn is_refused(system: &System, facts: &Facts) -> bool {
    facts.no_initial_state
        || (system.meaning.deadlock == Deadlock::Error && facts.deadlock.is_some())
        || (system.meaning.overflow == Overflow::Error && facts.overflow.is_some())
}

/// The engines in use, each with the system in its own form.
struct Used<'w, 's> {
    system: &'s System,
    budget: &'w Budget,
    candidates: &'w [&'static dyn Engine],
    encoded: Vec<(usize, Box<dyn Encoded + 's>)>,
}

impl<'s> Used<'_, 's> {
    fn encoded(&mut self, engine: usize) -> Result<&mut (dyn Encoded + 's), Stop> {
        let position = match self.encoded.iter().position(|(e, _)| *e == engine) {
            Some(position) => position,
            None => {
                let encoded = self.candidates[engine].encode(self.system, self.budget)?;
                self.encoded.push((engine, encoded));
                self.encoded.len() - 1
            }
        };
        Ok(self.encoded[position].1.as_mut())
    }

    /// The facts; their paths are replayed, because they are shown as true.
    fn facts(&mut self, engine: usize) -> Result<Facts, Stop> {
        let (system, budget) = (self.system, self.budget);
        let facts = self.encoded(engine)?.facts(budget)?;
        for path in facts.deadlock.iter().chain(facts.overflow.as_ref().map(|o| &o.path)) {
            assert_eq!(replay_path(system, path), Ok(()), "a path in the facts does not replay");
        }
        Ok(facts)
    }

    fn decide(&mut self, plan: &[Option<usize>], tell: &dyn Fn(Event)) {
        let (system, budget) = (self.system, self.budget);
        let mut holding = Vec::new();
        for (position, property) in system.properties.iter().enumerate() {
            let Some(engine) = plan[position] else { continue };
            let start = Instant::now();
            let outcome = match self.encoded(engine) {
                Err(stop) => stop.into(),
                Ok(encoded) => encoded.decide(property, budget),
            };
            if let Some(evidence) = &outcome.evidence {
                let replayed = replay(system, property, evidence);
                assert_eq!(replayed, Ok(()), "the evidence for property {} does not replay", property.name);
            }
            if outcome.verdict == Verdict::Holds {
                holding.push((position, engine));
            }
            let engine = Some(self.candidates[engine].name());
            tell(Event::Decided(position, Decided { outcome, engine, time: start.elapsed() }));
        }
        for (position, engine) in holding {
            let property = &system.properties[position];
            let Ok(encoded) = self.encoded(engine) else { return };
            match vacuous_antecedents(encoded, system, property, budget) {
                Ok(vacuous) if vacuous.is_empty() => {}
                Ok(vacuous) => tell(Event::Vacuous(position, vacuous)),
                Err(_) => return,
            }
        }
    }
}
