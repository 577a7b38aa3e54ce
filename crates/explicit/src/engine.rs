//! The engine: explores on `encode`, labels on `decide`.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::time::Instant;

use masque_evidence::explain;
use masque_model::{FormulaId, Property, System};
use masque_verdict::{
    Budget, CertificateRequest, Early, Encoded, Engine, Extent, Facts, FairInitial, NotCertified, Oracle,
    Outcome, Path, Show, Stats, Stop, Unsupported, Why, inside_logic, least_overflow, outside_logic,
};

use crate::bitset::Bitset;
use crate::early::Watch;
use crate::explore::explore;
use crate::fragment;
use crate::jobs::Jobs;
use crate::label::{Compiled, Labeller};
use crate::labelling::Labelling;
use crate::paths::least_shortest_path;
use crate::steps::{Steps, Tuning};

/// The engine's name.
pub(crate) const NAME: &str = "explicit";

/// The explicit-state engine: every reachable state is stored, one by one.
///
/// It decides the whole logic: CTL, LTL, CTL*, ATL and the mu-calculus with knowledge and norms, with
/// or without fairness.
///
/// ```
/// use masque_explicit::Explicit;
/// use masque_ispl::{Options, check, parse};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Engine, Verdict};
///
/// let mut sources = Sources::default();
/// let text = "
///     Agent Light
///       Vars: on : boolean; end Vars
///       Actions = {wait, switch};
///       Protocol: Other : {wait, switch}; end Protocol
///       Evolution: on = ~on if Action = switch; end Evolution
///     end Agent
///     Evaluation lit if Light.on; end Evaluation
///     InitStates !Light.on; end InitStates
///     Formulae AG EF lit; AF lit; end Formulae";
/// let file = sources.add("light.ispl", text).unwrap();
/// let (mut tree, _) = parse(&sources, file);
/// let system = check(&sources, &mut tree, &Options::default()).system.unwrap();
///
/// let budget = Budget::unlimited();
/// let mut encoded = Explicit::default().encode(&system, &budget).unwrap();
/// assert_eq!(encoded.facts(&budget).unwrap().states.to_string(), "2");
/// let verdicts: Vec<Verdict> = system.properties.iter().map(|p| encoded.decide(p, &budget).verdict).collect();
/// assert_eq!(verdicts, [Verdict::Holds, Verdict::Fails]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Explicit {
    /// The verdicts that get evidence.
    pub evidence: Show,
    /// Number of threads. `None` means one per processor.
    pub jobs: Option<NonZeroUsize>,
}

impl Engine for Explicit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported> {
        inside_logic(system, property)
    }

    fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        let explored = Explored::new(*self, system, Jobs::new(self.jobs), early, budget);
        Ok(Box::new(explored.map_err(|(stop, _)| stop)?))
    }
}

/// A system with all its reachable states.
pub(crate) struct Explored<'s> {
    engine: Explicit,
    system: &'s System,
    labeller: Labeller<'s>,
    stats: Stats,
}

impl<'s> Explored<'s> {
    /// Explores a system. An error contains the sizes of the layers that were found.
    pub(crate) fn new(
        engine: Explicit,
        system: &'s System,
        jobs: Jobs,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Explored<'s>, (Stop, Vec<u32>)> {
        let mut stats = Stats::default();
        let start = Instant::now();
        budget.check().map_err(|stop| (stop, Vec::new()))?;
        let steps = Rc::new(Steps::new(system, Tuning::default()));
        stats.spend("compile", start.elapsed());
        let start = Instant::now();
        let mut watch = Watch::new(system, Rc::clone(&steps), engine.evidence, early);
        let explored = explore(&mut watch, fragment::needs_transitions(system), &jobs, budget);
        let space = explored.map_err(|stop| (stop, watch.layers.clone()))?;
        stats.spend("explore", start.elapsed());
        let compiled = Compiled { steps, atoms: watch.atoms };
        Ok(Explored { engine, system, labeller: Labeller::new(system, compiled, space, jobs), stats })
    }

    fn try_decide(&mut self, property: &Property, budget: &Budget) -> Result<Outcome, Stop> {
        if self.engine.supports(self.system, property).is_err() {
            return Err(Why::Unsupported.into());
        }
        let start = Instant::now();
        let verdict = self.labeller.verdict(property.formula, property.at, budget);
        self.stats.spend("label", start.elapsed());
        let mut outcome = Outcome::from(verdict?);
        if let Some(holds) = self.engine.evidence.wanted(outcome.verdict) {
            let start = Instant::now();
            // If the budget ends here, the evidence is missing, but the verdict stands.
            let evidence = explain(&mut self.labeller, self.system, property, holds, budget);
            outcome.evidence = evidence.ok().flatten();
            self.stats.spend("evidence", start.elapsed());
        }
        Ok(outcome)
    }

    pub(crate) fn n_states(&self) -> usize {
        self.labeller.space.n_states()
    }

    /// Returns the states with their labels.
    pub(crate) fn into_labeller(self) -> Labeller<'s> {
        self.labeller
    }

    fn path_to(&self, targets: &Bitset, budget: &Budget) -> Result<Option<Path>, Stop> {
        let Labeller { steps, space, .. } = &self.labeller;
        least_shortest_path(self.system, steps, space, targets, budget)
    }

    fn path_to_any(&self, targets: &[u32], budget: &Budget) -> Result<Option<Path>, Stop> {
        let mut set = Bitset::empty(self.n_states());
        targets.iter().for_each(|&state| _ = set.insert(state as usize));
        self.path_to(&set, budget)
    }

    fn fair_initial(&mut self, budget: &Budget) -> Result<FairInitial, Stop> {
        let n_fair = match self.labeller.initial(budget) {
            Ok(initial) => initial.count(),
            Err(stop) if stop.why == Why::Unsupported => return Ok(FairInitial::Unsupported),
            Err(stop) => return Err(stop),
        };
        Ok(match n_fair {
            n if n == self.labeller.space.n_initial() => FairInitial::All,
            0 => FairInitial::None,
            _ => FairInitial::Some,
        })
    }
}

impl Encoded for Explored<'_> {
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
        let start = Instant::now();
        let space = &self.labeller.space;
        let deadlock = self.path_to_any(&space.nearest_deadlocks, budget)?;
        let overflow = match self.path_to_any(&space.nearest_overflows, budget)? {
            Some(path) => least_overflow(self.system, path, budget)?,
            None => None,
        };
        self.stats.spend("evidence", start.elapsed());
        Ok(Facts {
            states: self.n_states().into(),
            no_initial_state: self.labeller.space.n_initial() == 0,
            deadlock,
            overflow,
            fair_initial: self.fair_initial(budget)?,
        })
    }

    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
        let outcome = self.try_decide(property, budget).unwrap_or_else(Outcome::from);
        // The property may be asked again with more time.
        if budget.is_over() {
            self.labeller.labels.put_off();
        }
        outcome
    }

    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        self.labeller.is_true_somewhere(formula, budget)
    }

    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
        if outside_logic(&self.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        let phi = self.labeller.truth(formula, budget)?;
        let (domain, initial) = (self.labeller.domain(budget)?, self.labeller.initial(budget)?);
        Ok(Extent {
            states: phi.count().into(),
            of_states: domain.count().into(),
            of_initial: initial.count().into(),
            initial: initial.and(&phi).count().into(),
        })
    }

    fn certificate(
        &mut self,
        request: &CertificateRequest<'_>,
        budget: &Budget,
    ) -> Result<String, NotCertified> {
        self.labeller.certificate(request, budget)
    }

    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        Some(&mut self.labeller)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        stats.states = Some(self.n_states() as u64);
        stats.transitions = self.labeller.space.graph.as_ref().map(|graph| graph.n_edges() as u64);
        stats.bytes = self.labeller.peak_bytes;
        stats
    }
}
