//! The work of a check: facts first, then the verdicts in order, then vacuity. Verdicts that show while
//! states are still being explored are told at once, and stand whatever comes of the rest.
//!
//! Whatever is found is told at once through a channel, so that nothing is lost when time runs out.
//!
//! The facts are for all properties. After them no property takes what belongs to another: each has an
//! equal share of the time that is left, in rounds (`masque_verdict::in_shares`), and all of the memory.
//! An engine that runs out of memory after it has answered other questions is asked again with nothing
//! but the system.

use std::borrow::Cow;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_model::{Deadlock, Formula, FormulaId, Overflow, Property, Strategies, System};
use masque_replay::{replay, replay_path};
use masque_verdict::{
    Budget, Encoded, Extent, Facts, Outcome, Path, Show, Stats, Stop, Unsupported, Vacuous, Verdict, Why,
    in_shares, remarks, subformulas, vacuous_antecedents,
};

use serde::{Deserialize, Serialize};

use crate::check::{Decision, Shown};
use crate::compare::Disagreement;
use crate::engines::{AnyEngine, EXPLICIT, choose};
use crate::portfolio::Portfolio;

/// The answer to one property of an interpreted system.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Decided {
    /// Verdict and evidence.
    pub outcome: Outcome,
    /// Why evidence is withheld: it does not replay. That is a bug of ours.
    pub withheld: Option<String>,
    /// What must be said beside the verdict: that the property holds for the wrong reason.
    pub remarks: Vec<String>,
    /// The engine that answered, if one did.
    pub engine: Option<Cow<'static, str>>,
    /// How long it took after the facts were known.
    pub time: Duration,
}

impl From<Decided> for Decision {
    fn from(decided: Decided) -> Decision {
        let Decided { outcome, withheld, remarks, engine, time } = decided;
        Decision {
            verdict: outcome.verdict,
            evidence: outcome.evidence.map(|evidence| Shown::Reasons(Box::new(evidence))),
            withheld,
            remarks,
            engine,
            time,
            satisfied: None,
        }
    }
}

impl Decided {
    /// Not decided, by no engine.
    pub(crate) fn unknown(why: Why) -> Decided {
        Decided {
            outcome: Verdict::Unknown(why).into(),
            withheld: None,
            remarks: Vec::new(),
            engine: None,
            time: Duration::ZERO,
        }
    }
}

/// What an engine has cost.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// The engine's name.
    pub engine: Cow<'static, str>,
    /// Its own account.
    pub stats: Stats,
}

/// What the work reports while it goes on. A race sends it from process to process, except for what only
/// other kinds of checks report.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// Which engine was chosen and why, if there was a choice.
    Chosen(String),
    Facts(Facts),
    /// The facts could not be had: nothing else can.
    Stopped(Stop),
    /// A bug of ours that costs a path in the facts.
    Bug(String),
    Decided(usize, Decided),
    #[serde(skip)]
    Unsupported(usize, Unsupported),
    Vacuous(usize, Vec<Vacuous>),
    /// What must be said beside the verdict of a property that was decided before.
    Remarks(usize, Vec<String>),
    #[serde(skip)]
    Extent(FormulaId, Extent),
    Cost(Cost),
    /// Several engines were asked, and what came of it.
    #[serde(skip)]
    Compared(Compared),
}

impl Event {
    /// The position of the property that this is about, if it is about one.
    pub(crate) fn property(&self) -> Option<usize> {
        match self {
            Event::Decided(position, _)
            | Event::Unsupported(position, _)
            | Event::Vacuous(position, _)
            | Event::Remarks(position, _) => Some(*position),
            _ => None,
        }
    }
}

/// What came of asking a second engine.
#[derive(Debug)]
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

/// How a check goes about it.
#[derive(Clone)]
pub(crate) struct Asked {
    /// The engines to choose from, best first.
    pub(crate) candidates: Vec<AnyEngine>,
    /// Whether stored states and diagrams take turns, if that is left to us.
    pub(crate) portfolio: Option<Portfolio>,
    pub(crate) mode: Mode,
    /// Whether only verdicts are wanted: no count of states, nothing else that takes all of them.
    pub(crate) is_quick: bool,
    /// Which verdicts get evidence.
    pub(crate) evidence: Show,
}

/// Decides the properties of a system and tells what it finds.
///
/// A listener that has gone away is no reason to stop: the budget is.
pub(crate) fn work(system: &System, asked: &Asked, budget: &Budget, events: &Sender<Event>) {
    let Asked { candidates, portfolio, mode, is_quick, evidence } = asked;
    let (mode, is_quick, evidence) = (*mode, *is_quick, *evidence);
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
    let listens = |position: &usize| mode == Mode::Plain && plan[*position].is_some();
    let open = (0..plan.len()).filter(listens).collect();
    let mut used = Used { system, budget, candidates, mode, is_quick, evidence, open, encoded: Vec::new() };
    let prepared = used.prepare(portfolio.as_ref(), leader, &mut plan, &tell).and_then(|leader| {
        let (facts, bugs) = used.facts(leader)?;
        Ok((leader, facts, bugs))
    });
    match prepared {
        Err(_) if is_quick && used.open.is_empty() => {}
        Err(stop) => tell(Event::Stopped(stop)),
        Ok((leader, facts, bugs)) => {
            if !is_quick || facts.no_initial_state {
                bugs.into_iter().for_each(|bug| tell(Event::Bug(bug)));
                tell(Event::Facts(facts.clone()));
            }
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
    for InUse { engine, encoded, .. } in &used.encoded {
        tell(Event::Cost(Cost { engine: candidates[*engine].name().into(), stats: encoded.stats() }));
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
    is_quick: bool,
    evidence: Show,
    /// The properties that wait for a verdict while states are being explored.
    open: Vec<usize>,
    encoded: Vec<InUse<'s>>,
}

/// What an engine says of a property.
struct Answer {
    outcome: Outcome,
    /// Why its evidence is withheld, if it does not replay.
    withheld: Option<String>,
}

/// An engine with the system in its own form.
struct InUse<'s> {
    /// Position of the engine among the candidates.
    engine: usize,
    encoded: Box<dyn Encoded + 's>,
    /// Whether it holds more than the states and the facts: it was asked about a property.
    has_answered: bool,
}

impl<'s> Used<'_, 's> {
    fn in_use(&mut self, engine: usize, budget: &Budget) -> Result<&mut InUse<'s>, Stop> {
        let position = match self.encoded.iter().position(|one| one.engine == engine) {
            Some(position) => position,
            None => {
                let encoded = self.candidates[engine].encode(self.system, budget)?;
                self.encoded.push(InUse { engine, encoded, has_answered: false });
                self.encoded.len() - 1
            }
        };
        Ok(&mut self.encoded[position])
    }

    fn encoded(&mut self, engine: usize, budget: &Budget) -> Result<&mut (dyn Encoded + 's), Stop> {
        Ok(self.in_use(engine, budget)?.encoded.as_mut())
    }

    fn name(&self, engine: usize) -> &'static str {
        self.candidates[engine].name()
    }

    /// The facts; their paths are replayed, because they are shown as true. One that does not replay
    /// is withheld, and that is a bug.
    fn facts(&mut self, engine: usize) -> Result<(Facts, Vec<String>), Stop> {
        let (system, budget) = (self.system, self.budget);
        let mut facts = self.encoded(engine, budget)?.facts(budget)?;
        let mut bugs = Vec::new();
        let deadlock = facts.deadlock.as_mut().map(|path| ("a deadlock", path));
        let overflow = facts.overflow.as_mut().map(|overflow| ("an overflow", &mut overflow.path));
        for (what, path) in deadlock.into_iter().chain(overflow) {
            if let Err(error) = replay_path(system, path) {
                bugs.push(format!("the path to {what} does not replay: {error}"));
                *path = Path::withheld();
            }
        }
        Ok((facts, bugs))
    }

    /// One engine's answer; evidence is replayed, because it is shown as true. Evidence that does not
    /// replay is withheld, and the answer says why.
    ///
    /// What an engine keeps of other properties is given up if there is too little memory with it.
    fn outcome(&mut self, engine: usize, property: &Property, budget: &Budget) -> Answer {
        let (had_answered, mut outcome) = self.ask(engine, property, budget);
        if had_answered && outcome.verdict == Verdict::Unknown(Why::Memory) {
            self.encoded.retain(|one| one.engine != engine);
            (_, outcome) = self.ask(engine, property, budget);
        }
        replayed(self.system, property, outcome)
    }

    /// An engine's answer, and whether it has been asked about properties before.
    fn ask(&mut self, engine: usize, property: &Property, budget: &Budget) -> (bool, Outcome) {
        match self.in_use(engine, budget) {
            Err(stop) => (false, stop.into()),
            Ok(InUse { encoded, has_answered, .. }) => {
                let had_answered = std::mem::replace(has_answered, true);
                (had_answered, encoded.decide(property, budget))
            }
        }
    }

    /// Gives properties with uniform strategies to the engine that stores every state, if there is a
    /// choice and the states are few.
    fn prefer_stored(&self, plan: &mut [Option<usize>], facts: &Facts) {
        let Some(explicit) = self.candidates.iter().position(|engine| engine.name() == EXPLICIT) else {
            return;
        };
        if facts.states.to_u64().is_none_or(|states| states > MOST_STORED) {
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

    /// Decides the properties, each within its share of the time, and tells what holds vacuously.
    fn decide(&mut self, plan: &[Option<usize>], leader: usize, tell: &dyn Fn(Event)) {
        let budget = self.budget;
        let is_left = |position: &usize| !self.is_quick || self.open.contains(position);
        let asked: Vec<(usize, usize)> = (0..plan.len())
            .filter(is_left)
            .filter_map(|position| Some((position, plan[position]?)))
            .collect();
        let (mut spent, mut is_known) = (vec![Duration::ZERO; asked.len()], vec![false; asked.len()]);
        let mut holding = Vec::new();
        in_shares(asked.len(), budget, |number, share| {
            let (position, preferred) = asked[number];
            let start = Instant::now();
            let (engine, mut answer) = self.answer(position, preferred, leader, share);
            if self.is_quick {
                answer.outcome = self.fewest_layers(position, self.name(engine), answer.outcome);
            }
            spent[number] += start.elapsed();
            // A verdict without evidence is better than none.
            if is_known[number] && !is_decided(&answer.outcome) {
                return true;
            }
            let is_finished = !is_cut_short(&answer, share);
            let was_known = std::mem::replace(&mut is_known[number], is_decided(&answer.outcome));
            if answer.outcome.verdict == Verdict::Holds && !was_known {
                holding.push((position, engine));
            }
            let decided = Decided {
                outcome: answer.outcome.clone(),
                withheld: answer.withheld.clone(),
                remarks: Vec::new(),
                engine: Some(self.name(engine).into()),
                time: spent[number],
            };
            tell(Event::Decided(position, decided));
            if self.mode == Mode::CrossCheck && is_finished {
                self.compare_outcomes(position, (engine, &answer), share, tell);
            }
            is_finished
        });
        // What takes all states is not looked for if only verdicts are wanted.
        holding.retain(|_| !self.is_quick);
        holding.sort_unstable();
        in_shares(holding.len(), budget, |number, share| {
            let (position, engine) = holding[number];
            let Ok(vacuous) = self.vacuous(engine, position, share) else { return false };
            if self.mode == Mode::CrossCheck {
                self.compare_vacuity(position, (engine, &vacuous), share, tell);
            }
            if !vacuous.is_empty() {
                tell(Event::Vacuous(position, vacuous));
            }
            let Ok(remarks) = self.remarks(engine, position, share) else { return false };
            if self.mode == Mode::CrossCheck {
                self.compare_remarks(position, (engine, &remarks), share, tell);
            }
            if !remarks.is_empty() {
                tell(Event::Remarks(position, remarks));
            }
            true
        });
    }

    /// The answer to a property by the engine that is preferred for it, or by the leader if it is too
    /// large for that one.
    fn answer(
        &mut self,
        position: usize,
        preferred: usize,
        leader: usize,
        share: &Budget,
    ) -> (usize, Answer) {
        let property = &self.system.properties[position];
        let answer = self.outcome(preferred, property, share);
        let is_too_large = matches!(answer.outcome.verdict, Verdict::Unknown(Why::Memory | Why::States));
        let has_other =
            preferred != leader && self.candidates[leader].supports(self.system, property).is_ok();
        match is_too_large && has_other {
            true => (leader, self.outcome(leader, property, share)),
            false => (preferred, answer),
        }
    }

    /// Tells how widely each property and each of its parts are true, each property within its share of
    /// the time. The parts of what no engine decides may be simple enough.
    fn survey(&mut self, plan: &[Option<usize>], leader: usize, tell: &dyn Fn(Event)) {
        let (system, budget) = (self.system, self.budget);
        let mut is_told = vec![false; system.formulas.len()];
        in_shares(system.properties.len(), budget, |position, share| {
            let engine = plan[position].unwrap_or(leader);
            for part in subformulas(&system.formulas, system.properties[position].formula, MOST_PARTS).0 {
                if is_told[part.formula.index()] {
                    continue;
                }
                match self.encoded(engine, share).and_then(|encoded| encoded.extent(part.formula, share)) {
                    Ok(extent) => tell(Event::Extent(part.formula, extent)),
                    Err(stop) if stop.why == Why::Unsupported => {}
                    Err(_) => return false,
                }
                is_told[part.formula.index()] = true;
            }
            true
        });
    }

    fn vacuous(&mut self, engine: usize, position: usize, budget: &Budget) -> Result<Vec<Vacuous>, Stop> {
        let system = self.system;
        vacuous_antecedents(self.encoded(engine, budget)?, system, &system.properties[position], budget)
    }

    fn remarks(&mut self, engine: usize, position: usize, budget: &Budget) -> Result<Vec<String>, Stop> {
        let system = self.system;
        remarks(self.encoded(engine, budget)?, system, &system.properties[position], budget)
    }
}

/// An engine's answer, its evidence withheld if it does not replay.
fn replayed(system: &System, property: &Property, mut outcome: Outcome) -> Answer {
    let holds = outcome.verdict == Verdict::Holds;
    let replayed = outcome.evidence.as_ref().map(|evidence| replay(system, property, holds, evidence));
    let withheld = replayed.and_then(Result::err).map(|error| error.to_string());
    if withheld.is_some() {
        outcome.evidence = None;
    }
    Answer { outcome, withheld }
}

pub(crate) fn is_decided(outcome: &Outcome) -> bool {
    matches!(outcome.verdict, Verdict::Holds | Verdict::Fails)
}

/// Whether a share ended before a property had its verdict, or its evidence.
fn is_cut_short(Answer { outcome, withheld }: &Answer, share: &Budget) -> bool {
    match outcome.verdict {
        Verdict::Unknown(why) => why == Why::Timeout,
        Verdict::Holds | Verdict::Fails => {
            outcome.evidence.is_none() && withheld.is_none() && share.is_over()
        }
    }
}

mod prepare;
mod second;
#[cfg(test)]
mod tests;
