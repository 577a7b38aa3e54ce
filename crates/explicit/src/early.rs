//! Verdicts during exploration.
//!
//! Formulas are evaluated on complete layers; all layers except the last are expanded. Evidence comes from
//! the smallest number of layers that decides the property, so it does not depend on the moment of the
//! evaluation.

use std::rc::Rc;

use masque_evidence::explain;
use masque_model::{AgentId, ExprId, FormulaId, GroupId, Property, System};
use masque_verdict::{
    BoundsCache, Budget, Early, Evidence, ExploredStates, Outcome, PartialEvaluator, Show, Stop, Verdict,
    deciding_states,
};

use crate::atoms::{Atoms, Reader};
use crate::bitset::Bitset;
use crate::engine::NAME;
use crate::explore::Space;
use crate::jobs::Jobs;
use crate::knowledge::Classes;
use crate::label::{Compiled, Labeller};
use crate::labelling::{Labelling, StoredStates};
use crate::steps::Steps;
use crate::store::Store;

/// Minimum number of states before formulas are evaluated for the first time.
const MIN_STATES_TO_EVALUATE: usize = 1024;

/// Number of budget steps of the final evaluation after a limit, in addition to one step per
/// [`STATES_PER_STEP`] states.
const MIN_FINAL_STEPS: u64 = 16;
const STATES_PER_STEP: u64 = 512;

/// Evaluates the open properties during exploration and reports their verdicts.
pub(crate) struct Watch<'w, 'e, 's> {
    pub(crate) system: &'s System,
    pub(crate) steps: Rc<Steps<'s>>,
    pub(crate) atoms: Rc<Atoms<'s>>,
    evidence: Show,
    early: &'w mut Early<'e>,
    /// Property, condition that decides it, and the truth value searched for.
    hunted: Vec<(usize, FormulaId, bool)>,
    /// Number of states already examined for these conditions.
    n_hunted: usize,
    /// Number of states at which all open properties are evaluated next.
    next_look: usize,
    /// Sizes of the layers of a stopped exploration.
    pub(crate) layers: Vec<u32>,
}

impl<'w, 'e, 's> Watch<'w, 'e, 's> {
    pub(crate) fn new(
        system: &'s System,
        steps: Rc<Steps<'s>>,
        evidence: Show,
        early: &'w mut Early<'e>,
    ) -> Watch<'w, 'e, 's> {
        let atoms = Rc::new(Atoms::new(system, &steps.layout));
        let hunted = early
            .open()
            .flat_map(|index| {
                let deciding_states = deciding_states(&system.formulas, system.properties[index].formula);
                deciding_states.into_iter().map(move |hunt| (index, hunt.formula, hunt.holds))
            })
            .filter(|&(_, formula, _)| system.formulas.is_local(formula))
            .collect();
        let (n_hunted, next_look, layers) = (0, MIN_STATES_TO_EVALUATE, Vec::new());
        Watch { system, steps, atoms, evidence, early, hunted, n_hunted, next_look, layers }
    }

    /// Evaluates properties before the last layer is expanded.
    pub(crate) fn on_layer(&mut self, store: &Store, layers: &[u32], budget: &Budget) -> Result<(), Stop> {
        if !self.early.is_listening() {
            return Ok(());
        }
        let found = self.hunt(store, budget)?;
        let open: Vec<usize> = if store.len() < self.next_look {
            found
        } else {
            self.next_look = store.len() * self.early.growth();
            self.early.open().collect()
        };
        self.evaluate(&open, store, layers, budget);
        self.early.enough()
    }

    /// Evaluates properties when all states are known. In quick mode it treats the layers as if there were more
    /// states, so that evidence is the same as from an exploration that stopped earlier.
    pub(crate) fn on_complete(&mut self, store: &Store, layers: &[u32], budget: &Budget) -> Result<(), Stop> {
        if self.early.is_quick() {
            let open: Vec<usize> = self.early.open().collect();
            self.evaluate(&open, store, layers, budget);
        }
        self.early.enough()
    }

    /// Evaluates the open properties once more after a limit has stopped the exploration, with a budget
    /// in proportion to the number of states.
    pub(crate) fn on_stop(&mut self, store: &Store, layers: &[u32], budget: &Budget) {
        let steps = MIN_FINAL_STEPS + store.len() as u64 / STATES_PER_STEP;
        let budget = budget.clone().with_steps(steps).with_states(u64::MAX);
        let open: Vec<usize> = self.early.open().collect();
        self.evaluate(&open, store, layers, &budget);
        self.layers = layers.windows(2).map(|ends| ends[1] - ends[0]).collect();
        // An incomplete layer is informative only if it is larger than the previous one.
        let partly = store.len() as u32 - layers.last().copied().unwrap_or(0);
        if self.layers.last().is_some_and(|&last| partly > last) {
            self.layers.push(partly);
        }
    }

    /// Returns the open properties that a newly found state may decide.
    fn hunt(&mut self, store: &Store, budget: &Budget) -> Result<Vec<usize>, Stop> {
        let mut found = Vec::new();
        if self.hunted.is_empty() {
            return Ok(found);
        }
        let mut reader = Reader::new(&self.atoms, &self.steps.layout);
        for state in self.n_hunted..store.len() {
            if state % 4096 == 4095 {
                budget.check()?;
            }
            reader.turn_to(store.row(state));
            self.hunted.retain(|&(index, formula, holds)| {
                let is_found = reader.is_true(self.system, formula) == holds;
                if is_found {
                    found.push(index);
                }
                !is_found
            });
            if self.hunted.is_empty() {
                break;
            }
        }
        self.n_hunted = store.len();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Evaluates properties on complete layers. A limit here ends the evaluation, not the exploration.
    fn evaluate(&mut self, open: &[usize], store: &Store, layers: &[u32], budget: &Budget) {
        let is_begun = layers.last().is_some_and(|&n_states| n_states > 0);
        if open.is_empty() || !is_begun {
            return;
        }
        let Ok(mut labeller) = self.labeller(store, layers, budget) else { return };
        for &index in open {
            let property = &self.system.properties[index];
            if let Ok(Some(holds)) = labeller.look(budget).verdict(property) {
                let verdict = Verdict::from(holds);
                let mut outcome = Outcome::from(verdict);
                if self.evidence.wanted(verdict).is_some() {
                    // If the budget ends here, the evidence is missing, but the verdict stands.
                    let shown = self.least_evidence(property, holds, store, layers, budget);
                    outcome.evidence = shown.ok().flatten();
                }
                self.early.decided(index, NAME, outcome);
            }
        }
        let early = &self.early;
        let is_open: Vec<usize> = early.open().collect();
        self.hunted.retain(|(index, ..)| is_open.contains(index));
    }

    /// Returns the evidence from the smallest deciding number of layers.
    fn least_evidence(
        &self,
        property: &Property,
        holds: bool,
        store: &Store,
        layers: &[u32],
        budget: &Budget,
    ) -> Result<Option<Evidence>, Stop> {
        let decides = |n_layers: usize| -> Result<Option<Labeller<'s>>, Stop> {
            let mut labeller = self.labeller(store, &layers[..=n_layers], budget)?;
            Ok((labeller.look(budget).verdict(property)? == Some(holds)).then_some(labeller))
        };
        // A number of layers decides the property if a smaller one does: double it, then bisect.
        let (mut too_few, mut enough) = (0, 1);
        let mut shows = loop {
            match decides(enough)? {
                Some(labeller) => break labeller,
                None if enough == layers.len() - 1 => return Ok(None),
                None => (too_few, enough) = (enough, (enough * 2).min(layers.len() - 1)),
            }
        };
        while enough - too_few > 1 {
            let middle = usize::midpoint(too_few, enough);
            match decides(middle)? {
                Some(labeller) => (shows, enough) = (labeller, middle),
                None => too_few = middle,
            }
        }
        explain(&mut shows, self.system, property, holds, budget)
    }

    /// Creates a labeller for the states of these layers.
    fn labeller(&self, store: &Store, layers: &[u32], budget: &Budget) -> Result<Labeller<'s>, Stop> {
        let nth_last = |n: usize| layers[layers.len() - n] as usize;
        budget.check_memory(store.bytes() * 2)?;
        let space = Space {
            store: store.prefix(nth_last(1))?,
            layers: layers.to_vec(),
            n_expanded: nth_last(2),
            nearest_deadlocks: Vec::new(),
            nearest_overflows: Vec::new(),
            graph: None,
        };
        let one_thread = Jobs::new(std::num::NonZeroUsize::new(1));
        let compiled = Compiled { steps: Rc::clone(&self.steps), atoms: Rc::clone(&self.atoms) };
        Ok(Labeller::new(self.system, compiled, space, one_thread))
    }
}

impl<'s> Labeller<'s> {
    /// Evaluates formulas on a partial exploration.
    pub(crate) fn look<'l>(&'l mut self, budget: &'l Budget) -> PartialEvaluator<'l, PartialStates<'l, 's>> {
        PartialEvaluator { system: self.system, explored: PartialStates { labeller: self, budget } }
    }
}

/// View of a labeller as a partial exploration.
pub(crate) struct PartialStates<'l, 's> {
    labeller: &'l mut Labeller<'s>,
    budget: &'l Budget,
}

impl PartialStates<'_, '_> {
    fn all(&self) -> Bitset {
        Bitset::full(self.labeller.space.n_states())
    }

    /// Returns the states of `inside` whose class contains a state of the set.
    fn touched(&self, classes: &Classes, set: &Bitset, inside: &Bitset) -> Result<Rc<Bitset>, Stop> {
        let untouched = classes.untouched(inside, set, &self.labeller.jobs)?;
        Ok(Rc::new(inside.clone().minus(&untouched)))
    }
}

impl ExploredStates for PartialStates<'_, '_> {
    type Set = Rc<Bitset>;

    fn bounds_cache(&mut self) -> &mut BoundsCache<Rc<Bitset>> {
        &mut self.labeller.noted
    }

    fn constant(&mut self, value: bool) -> Rc<Bitset> {
        Rc::new(if value { self.all() } else { Bitset::empty(self.labeller.space.n_states()) })
    }

    fn not(&mut self, set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        self.labeller.check_memory(set.bytes() * 2, self.budget)?;
        Ok(Rc::new(self.all().minus(set)))
    }

    fn and(&mut self, a: &Rc<Bitset>, b: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new((**a).clone().and(b)))
    }

    fn or(&mut self, a: &Rc<Bitset>, b: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new((**a).clone().or(b)))
    }

    fn is_empty(&mut self, set: &Rc<Bitset>) -> Result<bool, Stop> {
        Ok(set.is_empty())
    }

    fn initial(&mut self) -> Rc<Bitset> {
        let space = &self.labeller.space;
        Rc::new(Bitset::first(space.n_initial(), space.n_states()))
    }

    fn has_one_initial(&mut self) -> Result<bool, Stop> {
        Ok(self.labeller.space.n_initial() == 1)
    }

    fn open(&mut self) -> Result<Rc<Bitset>, Stop> {
        let expanded = Bitset::first(self.labeller.space.n_expanded, self.labeller.space.n_states());
        Ok(Rc::new(self.all().minus(&expanded)))
    }

    fn where_true(&mut self, condition: ExprId) -> Result<Rc<Bitset>, Stop> {
        let all = self.all();
        Ok(Rc::new(self.labeller.where_true(condition, &all, self.budget)?))
    }

    fn green(&mut self, agent: AgentId) -> Result<Rc<Bitset>, Stop> {
        let all = self.all();
        Ok(Rc::new(self.labeller.green(agent, &all, self.budget)?))
    }

    fn exists_next(&mut self, phi: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let all = self.all();
        Ok(Rc::new(self.labeller.exists_next(phi, &all, self.budget)?))
    }

    fn exists_until(&mut self, phi: &Rc<Bitset>, psi: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        Ok(Rc::new(self.labeller.exists_until(phi, psi, self.budget)?))
    }

    fn exists_globally(&mut self, phi: &Rc<Bitset>, constraints: &[Rc<Bitset>]) -> Result<Rc<Bitset>, Stop> {
        let constraints: Vec<Bitset> = constraints.iter().map(|set| (**set).clone()).collect();
        Ok(Rc::new(self.labeller.exists_globally(phi, &constraints, self.budget)?))
    }

    fn confused(&mut self, agents: &[AgentId], set: &Rc<Bitset>) -> Result<Rc<Bitset>, Stop> {
        let classes = self.labeller.view(agents, self.budget)?;
        self.touched(&classes, set, &self.all())
    }

    fn confused_by_chains(
        &mut self,
        group: GroupId,
        set: &Rc<Bitset>,
        inside: &Rc<Bitset>,
    ) -> Result<Rc<Bitset>, Stop> {
        let classes = self.labeller.connected(group, inside, self.budget)?;
        self.touched(&classes, set, inside)
    }
}
