//! A system explored in parts: facts and verdicts from the results of all workers. [KLQ10 Procedure 7]

use std::time::Instant;

use masque_model::{Formula, FormulaId, Property, System};
use masque_verdict::{
    Budget, Encoded, Extent, Facts, FairInitial, Oracle, Outcome, Show, Stats, Stop, Verdict, Why,
    outside_ctl,
};

use super::strategy::Parts;
use super::team::run_workers;
use super::worker::{Member, Worker};
use crate::check::Checker;
use crate::space::{Limited, Natural, exact};
use crate::world::Submodel;

/// The explored system, as the control process `CP` of the paper sees it.
pub(super) struct Partitioned<'s> {
    system: &'s System,
    parts: Parts<'s>,
    evidence: Show,
    /// For each formula, whether every worker knows where it is true in its submodels.
    is_known: Vec<bool>,
    whole: Whole,
    stats: Stats,
}

/// The model of all states, in the first worker's space: for paths, evidence and other questions that the
/// workers cannot answer by themselves.
enum Whole {
    /// Not built yet.
    NotBuilt,
    /// Built, while the first worker's checker has its own submodel.
    Stored(Box<Submodel>),
    /// In the first worker's checker; the variant holds what the checker had before.
    InChecker(Box<Submodel>),
}

impl<'s> Partitioned<'s> {
    pub(super) fn new(parts: Parts<'s>, evidence: Show, stats: Stats) -> Partitioned<'s> {
        let system = parts.workers[0].checker.system;
        let is_known = vec![false; system.formulas.len()];
        Partitioned { system, parts, evidence, is_known, whole: Whole::NotBuilt, stats }
    }

    /// `P_CHECK(M, φ)`: asks all workers, once all know where the epistemic subformulas are true. Returns
    /// whether one of them gives the answer `decisive`. [Procedure 7]
    ///
    /// The first such answer ends the evaluations of all workers. The exchanges before them always come to
    /// their end, so that later formulas can use their results.
    fn finds<A>(&mut self, formula: FormulaId, budget: &Budget, decisive: bool, ask: A) -> Limited<bool>
    where
        A: Fn(&mut Checker<'s>) -> Limited<bool> + Sync,
    {
        if outside_ctl(&self.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        let open = self.open(formula);
        self.return_checker();
        let is_shared = self.parts.is_shared;
        let found = run_workers(&mut self.parts.workers, budget, set_budget, |index, worker, team| {
            Member { worker, index, team }.satisfy(&open)?;
            // In a shared store this would also end the exchanges of other workers.
            if !is_shared {
                set_budget(worker, team.search_budget());
            }
            worker.finds(decisive, team, &ask)
        })?;
        // Only now: after a stop some workers may know more than others, and all compute it again.
        open.into_iter().for_each(|formula| self.is_known[formula.index()] = true);
        Ok(found.into_iter().any(|is_found| is_found))
    }

    /// Returns the epistemic subformulas that are not known yet, each after those inside it: formulas have
    /// larger ids than their operands.
    fn open(&self, formula: FormulaId) -> Vec<FormulaId> {
        let formulas = &self.system.formulas;
        let (mut open, mut seen, mut stack) = (Vec::new(), vec![false; formulas.len()], vec![formula]);
        while let Some(id) = stack.pop() {
            if self.is_known[id.index()] || std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            if is_epistemic(&formulas.get(id)) {
                open.push(id);
            }
            formulas.each_operand(id, |operand| stack.push(operand));
        }
        open.sort_unstable_by_key(|id| id.index());
        open
    }

    /// Returns the first worker's checker with the model of all states.
    fn whole(&mut self, budget: &Budget) -> Limited<&mut Checker<'s>> {
        let workers = &mut self.parts.workers;
        workers[0].checker.encoder.space.set_budget(budget);
        if matches!(self.whole, Whole::NotBuilt) {
            let mut all = Vec::new();
            let space = &workers[0].checker.encoder.space;
            for (index, worker) in workers.iter().enumerate() {
                for submodel in &worker.submodels {
                    all.push(match index {
                        0 => submodel.reachable.clone(),
                        _ => space.unpack(&worker.checker.encoder.space.pack(&submodel.reachable))?,
                    });
                }
            }
            let encoder = &workers[0].checker.encoder;
            let reachable = encoder.balanced(all, false)?;
            let whole = Submodel::new(encoder, self.parts.initial.clone(), reachable);
            self.whole = Whole::Stored(Box::new(whole));
        }
        self.whole = match std::mem::replace(&mut self.whole, Whole::NotBuilt) {
            Whole::Stored(mut whole) => {
                workers[0].checker.swap(&mut whole);
                Whole::InChecker(whole)
            }
            other => other,
        };
        Ok(&mut workers[0].checker)
    }

    /// Gives the first worker's checker its own submodel back.
    fn return_checker(&mut self) {
        self.whole = match std::mem::replace(&mut self.whole, Whole::NotBuilt) {
            Whole::InChecker(mut whole) => {
                self.parts.workers[0].checker.swap(&mut whole);
                Whole::Stored(whole)
            }
            other => other,
        };
    }

    fn facts_of_parts(&mut self, budget: &Budget) -> Limited<Facts> {
        self.return_checker();
        let faulty =
            run_workers(&mut self.parts.workers, budget, set_budget, |_, worker, _| worker.is_faulty())?;
        // The reported paths are the shortest, then least, of all parts together.
        if faulty.into_iter().any(|is_faulty| is_faulty) {
            return self.whole(budget)?.facts(budget);
        }
        let states = if self.parts.is_disjoint {
            let counts = self.parts.workers.iter().map(Worker::n_states);
            counts.fold(Natural::from(0u32), |sum, count| sum + count)
        } else {
            let whole = self.whole(budget)?;
            whole.encoder.space.count(&whole.reachable, whole.encoder.layout.n_current())
        };
        Ok(Facts {
            states: exact(&states),
            no_initial_state: false,
            deadlock: None,
            overflow: None,
            fair_initial: FairInitial::All,
        })
    }
}

fn is_epistemic(formula: &Formula<'_>) -> bool {
    matches!(
        formula,
        Formula::Knows(..)
            | Formula::EveryoneKnows(..)
            | Formula::DistributedKnowledge(..)
            | Formula::CommonKnowledge(..)
            | Formula::Correct(..)
            | Formula::KnowsUnder(..)
    )
}

fn set_budget(worker: &Worker<'_>, budget: &Budget) {
    worker.checker.encoder.space.set_budget(budget);
}

impl Encoded for Partitioned<'_> {
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
        let start = Instant::now();
        let facts = self.facts_of_parts(budget);
        self.stats.spend("facts", start.elapsed());
        facts
    }

    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
        let start = Instant::now();
        let verdict = match self.finds(property.formula, budget, false, |checker| checker.holds(property)) {
            Ok(is_refuted) => (!is_refuted).into(),
            Err(stop) => Verdict::Unknown(stop.why),
        };
        self.stats.spend("decide", start.elapsed());
        let mut outcome = Outcome::from(verdict);
        if let Some(holds) = self.evidence.wanted(verdict) {
            let start = Instant::now();
            // If the budget runs out here, only the evidence is missing.
            outcome.evidence =
                self.whole(budget).ok().and_then(|whole| whole.evidence(property, holds, budget));
            self.stats.spend("evidence", start.elapsed());
        }
        outcome
    }

    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        self.finds(formula, budget, true, |checker| checker.is_true_somewhere(formula))
    }

    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
        if outside_ctl(&self.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        self.whole(budget)?.extent(formula)
    }

    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        match self.whole(&Budget::unlimited()) {
            Ok(checker) => Some(checker),
            Err(_) => None,
        }
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        let Parts { workers, n_parts, is_shared, .. } = &self.parts;
        let stores = if *is_shared { &workers[..1] } else { &workers[..] };
        let sum = |of: &dyn Fn(&Worker<'_>) -> u64| stores.iter().map(of).sum::<u64>();
        stats.bytes = sum(&|worker| worker.checker.encoder.space.peak_bytes());
        let Checker { encoder, relation, .. } = &workers[0].checker;
        let reachable = workers.iter().flat_map(|worker| {
            worker.submodels.iter().map(|part| worker.checker.encoder.space.size(&part.reachable) as u64)
        });
        stats.figures = vec![
            ("bits".into(), encoder.layout.n_bits.into()),
            ("parts".into(), *n_parts as u64),
            ("workers".into(), workers.len() as u64),
            ("events".into(), relation.events.len() as u64),
            ("relation nodes".into(), relation.largest(encoder) as u64),
            ("reachable nodes".into(), reachable.sum()),
            ("live nodes".into(), sum(&|worker| worker.checker.encoder.space.nodes() as u64)),
            ("peak nodes".into(), sum(&|worker| worker.checker.encoder.space.peak_nodes() as u64)),
            ("steps".into(), workers.iter().map(|worker| u64::from(worker.n_steps)).sum()),
            ("submodels asked".into(), workers.iter().map(|worker| worker.n_asked).sum()),
            ("diagram steps".into(), sum(&|worker| worker.checker.encoder.space.steps())),
            (
                "most diagram steps of a worker".into(),
                stores.iter().map(|worker| worker.checker.encoder.space.steps()).max().unwrap_or(0),
            ),
        ];
        stats
    }
}
