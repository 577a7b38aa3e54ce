//! The work of a check: facts first, then the verdicts in order, then vacuity.
//!
//! Whatever is found is told at once through a channel, so that nothing is lost when time runs out.

use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_model::{Deadlock, Formula, FormulaId, Overflow, Property, Strategies, System};
use masque_verdict::{
    Budget, Encoded, Extent, Facts, Outcome, Stats, Stop, Unsupported, Vacuous, Verdict, Why, replay,
    replay_path, subformulas, vacuous_antecedents,
};

use crate::compare::{self, Disagreement};
use crate::engines::{AnyEngine, EXPLICIT, choose};

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
    Extent(FormulaId, Extent),
    Cost(Cost),
    /// Several engines were asked, and what came of it.
    Compared(Compared),
}

/// What came of asking a second engine.
pub(crate) enum Compared {
    /// So many properties are supported by two engines.
    Comparable(usize),
    /// The facts are the same.
    Facts,
    /// All that was said of a property is the same.
    Property,
    /// Something is not.
    Differs(Disagreement),
}

/// Whether one engine answers, or all do and are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    CrossCheck,
    /// One engine answers, and tells how widely the properties and their parts are true.
    Survey,
}

/// Up to so many states uniform strategies are searched for among stored ones: a second or two to
/// explore them.
const MOST_STORED: u64 = 1_000_000;

/// Of a property so many parts are told of.
pub const MOST_PARTS: usize = 1000;

/// Decides the properties of a system and tells what it finds.
///
/// A listener that has gone away is no reason to stop: the budget is.
pub(crate) fn work(
    system: &System,
    candidates: &[AnyEngine],
    mode: Mode,
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
    let mut used = Used { system, budget, candidates, mode, encoded: Vec::new() };
    match used.facts(leader) {
        Err(stop) => tell(Event::Stopped(stop)),
        Ok(facts) => {
            tell(Event::Facts(facts.clone()));
            if mode == Mode::CrossCheck {
                used.compare_facts(leader, &facts, &plan, &tell);
            }
            if !is_refused(system, &facts) {
                if mode == Mode::Plain {
                    used.prefer_stored(&mut plan, &facts);
                }
                used.decide(&plan, leader, &tell);
                if mode == Mode::Survey {
                    used.survey(&plan, leader, &tell);
                }
            }
        }
    }
    for (engine, encoded) in &used.encoded {
        tell(Event::Cost(Cost { engine: candidates[*engine].name(), stats: encoded.stats() }));
    }
}

/// Whether some strategies in a property must be uniform.
fn asks_for_uniform(system: &System, property: &Property) -> bool {
    let mut seen = vec![false; system.formulas.len()];
    let mut open = vec![property.formula];
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match system.formulas.get(id) {
            Formula::Enforces(_, strategies, _) if strategies != Strategies::Perfect => return true,
            _ => system.formulas.each_operand(id, |operand| open.push(operand)),
        }
    }
    false
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
    candidates: &'w [AnyEngine],
    mode: Mode,
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

    fn name(&self, engine: usize) -> &'static str {
        self.candidates[engine].name()
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

    /// One engine's answer; evidence is replayed, because it is shown as true.
    fn outcome(&mut self, engine: usize, property: &Property) -> Outcome {
        let (system, budget) = (self.system, self.budget);
        let outcome = match self.encoded(engine) {
            Err(stop) => stop.into(),
            Ok(encoded) => encoded.decide(property, budget),
        };
        if let Some(evidence) = &outcome.evidence {
            let replayed = replay(system, property, outcome.verdict == Verdict::Holds, evidence);
            if let Err(error) = replayed {
                panic!("the evidence for property {} does not replay: {error}", property.title);
            }
        }
        outcome
    }

    /// Gives properties with uniform strategies to the engine that stores every state, if there is a
    /// choice and the states are few.
    fn prefer_stored(&self, plan: &mut [Option<usize>], facts: &Facts) {
        let Some(explicit) = self.candidates.iter().position(|engine| engine.name() == EXPLICIT) else {
            return;
        };
        if !facts.states.parse::<u64>().is_ok_and(|states| states <= MOST_STORED) {
            return;
        }
        for (engine, property) in plan.iter_mut().zip(&self.system.properties) {
            let is_better = engine.is_some()
                && asks_for_uniform(self.system, property)
                && self.candidates[explicit].supports(self.system, property).is_ok();
            if is_better {
                *engine = Some(explicit);
            }
        }
    }

    fn decide(&mut self, plan: &[Option<usize>], leader: usize, tell: &dyn Fn(Event)) {
        let mut holding = Vec::new();
        for (position, property) in self.system.properties.iter().enumerate() {
            let Some(mut engine) = plan[position] else { continue };
            let start = Instant::now();
            let mut outcome = self.outcome(engine, property);
            // What is too large for one engine may not be for the other.
            let is_too_large = matches!(outcome.verdict, Verdict::Unknown(Why::Memory | Why::States));
            if is_too_large
                && engine != leader
                && self.candidates[leader].supports(self.system, property).is_ok()
            {
                engine = leader;
                outcome = self.outcome(engine, property);
            }
            if outcome.verdict == Verdict::Holds {
                holding.push((position, engine));
            }
            let decided =
                Decided { outcome: outcome.clone(), engine: Some(self.name(engine)), time: start.elapsed() };
            tell(Event::Decided(position, decided));
            if self.mode == Mode::CrossCheck {
                self.compare_outcomes(position, (engine, &outcome), tell);
            }
        }
        for (position, engine) in holding {
            let Ok(vacuous) = self.vacuous(engine, position) else { return };
            if self.mode == Mode::CrossCheck {
                self.compare_vacuity(position, (engine, &vacuous), tell);
            }
            if !vacuous.is_empty() {
                tell(Event::Vacuous(position, vacuous));
            }
        }
    }

    /// Tells how widely each property and each of its parts are true, until a limit is hit. The
    /// parts of what no engine decides may be simple enough.
    fn survey(&mut self, plan: &[Option<usize>], leader: usize, tell: &dyn Fn(Event)) {
        let (system, budget) = (self.system, self.budget);
        let mut asked = vec![false; system.formulas.len()];
        for (position, property) in system.properties.iter().enumerate() {
            let engine = plan[position].unwrap_or(leader);
            for part in subformulas(&system.formulas, property.formula, MOST_PARTS).0 {
                if std::mem::replace(&mut asked[part.formula.index()], true) {
                    continue;
                }
                match self.encoded(engine).and_then(|encoded| encoded.extent(part.formula, budget)) {
                    Ok(extent) => tell(Event::Extent(part.formula, extent)),
                    Err(stop) if stop.why == Why::Unsupported => {}
                    Err(_) => return,
                }
            }
        }
    }

    fn vacuous(&mut self, engine: usize, position: usize) -> Result<Vec<Vacuous>, Stop> {
        let (system, budget) = (self.system, self.budget);
        vacuous_antecedents(self.encoded(engine)?, system, &system.properties[position], budget)
    }
}

/// The second opinions: what the other engines say of what one has answered.
impl Used<'_, '_> {
    /// The engines besides `first` that support a property.
    fn others(&self, first: usize, position: usize) -> Vec<usize> {
        let property = &self.system.properties[position];
        let supports = |e: &usize| self.candidates[*e].supports(self.system, property).is_ok();
        (0..self.candidates.len()).filter(|e| *e != first).filter(supports).collect()
    }

    fn compare_facts(&mut self, first: usize, facts: &Facts, plan: &[Option<usize>], tell: &dyn Fn(Event)) {
        let has_other = |(position, engine): (usize, &Option<usize>)| {
            engine.is_some_and(|engine| !self.others(engine, position).is_empty())
        };
        let comparable = plan.iter().enumerate().filter(|entry| has_other(*entry)).count();
        tell(Event::Compared(Compared::Comparable(comparable)));
        for engine in (0..self.candidates.len()).filter(|e| *e != first) {
            let Ok(found) = self.facts(engine) else { continue };
            let differences =
                compare::facts(self.system, (self.name(first), facts), (self.name(engine), &found));
            if differences.is_empty() {
                tell(Event::Compared(Compared::Facts));
            }
            differences.into_iter().for_each(|d| tell(Event::Compared(Compared::Differs(d))));
        }
    }

    fn compare_outcomes(&mut self, position: usize, first: (usize, &Outcome), tell: &dyn Fn(Event)) {
        let property = &self.system.properties[position];
        let others = self.others(first.0, position);
        let mut n_agreeing = 0;
        for &engine in &others {
            let outcome = self.outcome(engine, property);
            let is_limited = self.budget.memory().is_some() || self.budget.check().is_err();
            let (one, other) = ((self.name(first.0), first.1), (self.name(engine), &outcome));
            match compare::outcomes(self.system, position, one, other, is_limited) {
                Ok(is_same) => n_agreeing += usize::from(is_same),
                Err(disagreement) => tell(Event::Compared(Compared::Differs(disagreement))),
            }
        }
        if !others.is_empty() && n_agreeing == others.len() {
            tell(Event::Compared(Compared::Property));
        }
    }

    fn compare_vacuity(&mut self, position: usize, first: (usize, &Vec<Vacuous>), tell: &dyn Fn(Event)) {
        for engine in self.others(first.0, position) {
            let Ok(vacuous) = self.vacuous(engine, position) else { continue };
            let (one, other) = ((self.name(first.0), first.1), (self.name(engine), &vacuous));
            if let Some(disagreement) = compare::vacuity(self.system, position, one, other) {
                tell(Event::Compared(Compared::Differs(disagreement)));
            }
        }
    }
}
