//! Truth of formulas on a part of the reachable states.
//!
//! During exploration a formula has two bounds: the states where it is surely true, no matter which states
//! are found later, and the states where it is possibly true. A known state is _open_ if some of its
//! successors may be unknown; an open state possibly leads anywhere. An agent may be unable to distinguish
//! an unknown state from a known one, so knowledge can be refuted here but never confirmed. Under fairness
//! a state counts as sure only if a fair path from it lies completely in the explored part.
//!
//! Exploring more states only tightens the bounds, so a verdict that follows from them is final.

use std::collections::BTreeMap;

use crate::Stop;
use masque_model::{AgentId, At, ExprId, Formula, FormulaId, Formulas, GroupId, Paths, Property, System};
use serde::{Deserialize, Serialize};

/// Where a formula is surely true, and where it is possibly true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds<S> {
    /// States where it is true, no matter which states are found later.
    pub surely: S,
    /// These states and all others where it may become true.
    pub possibly: S,
}

/// The explored states as an engine represents them, with set operations and images.
pub trait ExploredStates {
    /// Set of explored states.
    type Set: Clone;

    /// Bounds computed so far.
    fn bounds_cache(&mut self) -> &mut BoundsCache<Self::Set>;
    /// The set of all explored states (`true`), or the empty set.
    fn constant(&mut self, value: bool) -> Self::Set;
    /// The complement among the explored states.
    fn not(&mut self, set: &Self::Set) -> Result<Self::Set, Stop>;
    /// The intersection.
    fn and(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Stop>;
    /// The union.
    fn or(&mut self, a: &Self::Set, b: &Self::Set) -> Result<Self::Set, Stop>;
    /// Whether a set is empty.
    fn is_empty(&mut self, set: &Self::Set) -> Result<bool, Stop>;
    /// The initial states; all of them are known.
    fn initial(&mut self) -> Self::Set;
    /// Whether there is exactly one initial state.
    fn has_one_initial(&mut self) -> Result<bool, Stop>;
    /// States with possibly unknown successors.
    fn open(&mut self) -> Result<Self::Set, Stop>;
    /// States where a condition is true.
    fn where_true(&mut self, condition: ExprId) -> Result<Self::Set, Stop>;
    /// States where an agent is green.
    fn green(&mut self, agent: AgentId) -> Result<Self::Set, Stop>;
    /// States with a known successor in `phi`.
    fn exists_next(&mut self, phi: &Self::Set) -> Result<Self::Set, Stop>;
    /// States from which known transitions lead through `phi` to `psi`.
    fn exists_until(&mut self, phi: &Self::Set, psi: &Self::Set) -> Result<Self::Set, Stop>;
    /// States from which known transitions stay in `phi` forever and meet each constraint infinitely often.
    fn exists_globally(&mut self, phi: &Self::Set, constraints: &[Self::Set]) -> Result<Self::Set, Stop>;
    /// States that the agents together cannot distinguish from some state of a set.
    fn confused(&mut self, agents: &[AgentId], set: &Self::Set) -> Result<Self::Set, Stop>;
    /// States that a chain inside `inside` connects to a set: some member of the group cannot distinguish
    /// each state of the chain from the next.
    fn confused_by_chains(
        &mut self,
        group: GroupId,
        set: &Self::Set,
        inside: &Self::Set,
    ) -> Result<Self::Set, Stop>;
}

/// Bounds of formulas on one part of the states.
#[derive(Debug)]
pub struct BoundsCache<S> {
    /// Bounds of each formula, over all paths (`false`) or fair paths (`true`).
    known: BTreeMap<(FormulaId, bool), Bounds<S>>,
    /// States that surely start a fair path, and for each constraint the states where it is surely true.
    fair: Option<(S, Vec<S>)>,
}

impl<S> Default for BoundsCache<S> {
    fn default() -> BoundsCache<S> {
        BoundsCache { known: BTreeMap::default(), fair: None }
    }
}

impl<S> BoundsCache<S> {
    /// All stored sets.
    pub fn sets(&self) -> impl Iterator<Item = &S> {
        let bounds = self.known.values().flat_map(|bounds| [&bounds.surely, &bounds.possibly]);
        let fair = self.fair.iter().flat_map(|(states, constraints)| constraints.iter().chain([states]));
        bounds.chain(fair)
    }
}

/// Evaluates formulas on a part of the states.
pub struct PartialEvaluator<'l, S> {
    /// System of the formulas.
    pub system: &'l System,
    /// Explored states.
    pub explored: S,
}

/// Returns the conditions under which a single state decides a property.
pub fn deciding_states(formulas: &Formulas, property: FormulaId) -> Vec<DecidingState> {
    let mut found = Vec::new();
    let mut conjuncts = vec![property];
    while let Some(conjunct) = conjuncts.pop() {
        match formulas.get(conjunct) {
            Formula::And(list) => conjuncts.extend(list),
            _ => found.extend(hunt(formulas, conjunct)),
        }
    }
    found
}

/// A kind of state whose discovery decides a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidingState {
    /// Formula that the state satisfies or violates.
    pub formula: FormulaId,
    /// Whether the state satisfies it.
    pub holds: bool,
    /// Whether the property holds once such a state is found. `true` requires a single initial state.
    pub verdict: bool,
}

/// Whether one path decides a property: it is `AG φ` or `EF φ`, or one of them negated.
pub fn is_decided_by_one_path(formulas: &Formulas, property: FormulaId) -> bool {
    hunt(formulas, property).is_some()
}

/// `AG φ` fails as soon as a state without `φ` is found. `EF φ` holds as soon as a state with `φ` is found,
/// if there is one initial state.
fn hunt(formulas: &Formulas, formula: FormulaId) -> Option<DecidingState> {
    let (inner, is_negated) = match formulas.get(formula) {
        Formula::Not(inner) => (inner, true),
        _ => (formula, false),
    };
    let (path, holds) = match formulas.get(inner) {
        Formula::Forall(Paths::Ctl, path) => (path, false),
        Formula::Exists(Paths::Ctl, path) => (path, true),
        _ => return None,
    };
    match (formulas.get(path), holds) {
        (Formula::Globally(formula), false) | (Formula::Finally(formula), true) => {
            Some(DecidingState { formula, holds, verdict: holds != is_negated })
        }
        _ => None,
    }
}

impl<S: ExploredStates> PartialEvaluator<'_, S> {
    /// Returns whether a property holds, or `None` if the explored part does not decide it.
    pub fn verdict(&mut self, property: &Property) -> Result<Option<bool>, Stop> {
        let mut all_hold = true;
        let mut conjuncts = vec![property.formula];
        while let Some(conjunct) = conjuncts.pop() {
            if let Formula::And(list) = self.system.formulas.get(conjunct) {
                conjuncts.extend(list);
                continue;
            }
            match self.conjunct(conjunct, property.at)? {
                Some(false) => return Ok(Some(false)),
                holds => all_hold &= holds.is_some(),
            }
        }
        Ok(all_hold.then_some(true))
    }

    fn conjunct(&mut self, formula: FormulaId, at: At) -> Result<Option<bool>, Stop> {
        // A counterexample needs a path from some initial state; a witness is needed from every one.
        if let Some(hunt) = hunt(&self.system.formulas, formula)
            && (!hunt.verdict || (at == At::Initial && self.explored.has_one_initial()?))
        {
            let Bounds { surely, possibly } = self.fairly(hunt.formula)?;
            let found = if hunt.holds { surely } else { self.explored.not(&possibly)? };
            return Ok((!self.is_nowhere_fair(&found)?).then_some(hunt.verdict));
        }
        let Bounds { surely, possibly } = self.fairly(formula)?;
        let mut refuted = self.explored.not(&possibly)?;
        if at == At::Reachable {
            return Ok((!self.is_nowhere_fair(&refuted)?).then_some(false));
        }
        let initial = self.explored.initial();
        refuted = self.explored.and(&refuted, &initial)?;
        if !self.is_nowhere_fair(&refuted)? {
            return Ok(Some(false));
        }
        let not_sure = self.explored.not(&surely)?;
        let not_sure = self.explored.and(&not_sure, &initial)?;
        let is_sure = self.explored.is_empty(&not_sure)? && !self.is_nowhere_fair(&initial)?;
        Ok(is_sure.then_some(true))
    }

    /// Bounds of a part of a property, over fair paths if there are fairness constraints.
    pub fn fairly(&mut self, formula: FormulaId) -> Result<Bounds<S::Set>, Stop> {
        self.bounds(formula, !self.system.fairness.is_empty())
    }

    /// States at which a fair path surely starts, and for each constraint the states where it is surely
    /// true. The constraints themselves are evaluated over all paths.
    pub fn fair(&mut self) -> Result<(S::Set, Vec<S::Set>), Stop> {
        if let Some(fair) = &self.explored.bounds_cache().fair {
            return Ok(fair.clone());
        }
        let mut constraints = Vec::new();
        for &constraint in &self.system.fairness {
            constraints.push(self.bounds(constraint, false)?.surely);
        }
        let all = self.explored.constant(true);
        let states =
            if constraints.is_empty() { all } else { self.explored.exists_globally(&all, &constraints)? };
        self.explored.bounds_cache().fair = Some((states.clone(), constraints.clone()));
        Ok((states, constraints))
    }

    /// Whether no state of a set surely starts a fair path.
    fn is_nowhere_fair(&mut self, set: &S::Set) -> Result<bool, Stop> {
        let among = self.among_fair(set, true)?;
        self.explored.is_empty(&among)
    }

    fn among_fair(&mut self, set: &S::Set, fairly: bool) -> Result<S::Set, Stop> {
        if !fairly || self.system.fairness.is_empty() {
            return Ok(set.clone());
        }
        let (fair, _) = self.fair()?;
        self.explored.and(set, &fair)
    }

    fn bounds(&mut self, formula: FormulaId, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        if let Some(known) = self.explored.bounds_cache().known.get(&(formula, fairly)) {
            return Ok(known.clone());
        }
        let bounds = self.new_bounds(formula, fairly)?;
        self.explored.bounds_cache().known.insert((formula, fairly), bounds.clone());
        Ok(bounds)
    }

    fn new_bounds(&mut self, formula: FormulaId, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        let system = self.system;
        Ok(match system.formulas.get(formula) {
            Formula::Bool(value) => exact(self.explored.constant(value)),
            Formula::Proposition(p) => {
                exact(self.explored.where_true(system.propositions[p.index()].condition)?)
            }
            Formula::Condition(condition) => exact(self.explored.where_true(condition)?),
            Formula::Green(agent) => exact(self.explored.green(agent)?),
            Formula::Red(agent) => {
                let green = exact(self.explored.green(agent)?);
                self.not(green)?
            }
            Formula::Not(f) => self.negated(f, fairly)?,
            Formula::And(list) => {
                let mut all = exact(self.explored.constant(true));
                for &f in list {
                    let phi = self.bounds(f, fairly)?;
                    all = self.and(&all, &phi)?;
                }
                all
            }
            Formula::Or(list) => {
                let mut some = exact(self.explored.constant(false));
                for &f in list {
                    let phi = self.bounds(f, fairly)?;
                    some = self.or(&some, &phi)?;
                }
                some
            }
            Formula::Implies(f, g) => {
                let (not_phi, psi) = (self.negated(f, fairly)?, self.bounds(g, fairly)?);
                self.or(&not_phi, &psi)?
            }
            Formula::Iff(f, g) => {
                let (phi, psi) = (self.bounds(f, fairly)?, self.bounds(g, fairly)?);
                let (not_phi, not_psi) = (self.not(phi.clone())?, self.not(psi.clone())?);
                let (both, neither) = (self.and(&phi, &psi)?, self.and(&not_phi, &not_psi)?);
                self.or(&both, &neither)?
            }
            Formula::Exists(Paths::Ctl, path) => self.exists(path, fairly)?,
            Formula::Forall(Paths::Ctl, path) => {
                let violated = self.violated(path, fairly)?;
                self.not(violated)?
            }
            Formula::Knows(agent, f) => {
                let wrong = self.refuted(f, &[], fairly)?;
                self.doubtful(&[agent], &wrong)?
            }
            Formula::DistributedKnowledge(group, f) => {
                let wrong = self.refuted(f, &[], fairly)?;
                self.doubtful(&system.groups[group.index()].agents, &wrong)?
            }
            Formula::EveryoneKnows(group, f) => {
                let wrong = self.refuted(f, &[], fairly)?;
                let mut all = exact(self.explored.constant(true));
                for &agent in &system.groups[group.index()].agents {
                    let known = self.doubtful(&[agent], &wrong)?;
                    all = self.and(&all, &known)?;
                }
                all
            }
            Formula::CommonKnowledge(group, f) => {
                let wrong = self.refuted(f, &[], fairly)?;
                let all = self.explored.constant(true);
                let inside = self.among_fair(&all, fairly)?;
                let doubt = self.explored.confused_by_chains(group, &wrong, &inside)?;
                self.never_sure(doubt)?
            }
            Formula::KnowsUnder(agent, group, f) => {
                let wrong = self.refuted(f, &system.groups[group.index()].agents, fairly)?;
                self.doubtful(&[agent], &wrong)?
            }
            Formula::Correct(agent, f) => {
                let wrong = self.refuted(f, &[agent], fairly)?;
                let is_refuted = !self.explored.is_empty(&wrong)?;
                let doubt = self.explored.constant(is_refuted);
                self.never_sure(doubt)?
            }
            // LTL and CTL*, coalitions, fixpoints: undecided before all states are known.
            _ => {
                let nowhere = self.explored.constant(false);
                self.never_sure(nowhere)?
            }
        })
    }

    fn not(&mut self, phi: Bounds<S::Set>) -> Result<Bounds<S::Set>, Stop> {
        Ok(Bounds { surely: self.explored.not(&phi.possibly)?, possibly: self.explored.not(&phi.surely)? })
    }

    fn negated(&mut self, formula: FormulaId, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        let phi = self.bounds(formula, fairly)?;
        self.not(phi)
    }

    fn and(&mut self, a: &Bounds<S::Set>, b: &Bounds<S::Set>) -> Result<Bounds<S::Set>, Stop> {
        let surely = self.explored.and(&a.surely, &b.surely)?;
        Ok(Bounds { surely, possibly: self.explored.and(&a.possibly, &b.possibly)? })
    }

    fn or(&mut self, a: &Bounds<S::Set>, b: &Bounds<S::Set>) -> Result<Bounds<S::Set>, Stop> {
        let surely = self.explored.or(&a.surely, &b.surely)?;
        Ok(Bounds { surely, possibly: self.explored.or(&a.possibly, &b.possibly)? })
    }

    /// `E path`.
    ///
    /// ```text
    /// EF φ = E(true U φ)     E(φ W ψ) = E(φ U ψ) ∨ EG φ     E(φ R ψ) = E(ψ U (φ ∧ ψ)) ∨ EG ψ
    /// ```
    fn exists(&mut self, path: FormulaId, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        match self.system.formulas.get(path) {
            Formula::Next(f) => {
                let phi = self.bounds(f, fairly)?;
                self.next(&phi, fairly)
            }
            Formula::Finally(f) => {
                let (all, phi) = (exact(self.explored.constant(true)), self.bounds(f, fairly)?);
                self.until(&all, &phi, fairly)
            }
            Formula::Globally(f) => {
                let phi = self.bounds(f, fairly)?;
                self.globally(&phi, fairly)
            }
            Formula::Until(f, g) => {
                let (phi, psi) = (self.bounds(f, fairly)?, self.bounds(g, fairly)?);
                self.until(&phi, &psi, fairly)
            }
            Formula::WeakUntil(f, g) => {
                let (phi, psi) = (self.bounds(f, fairly)?, self.bounds(g, fairly)?);
                let (until, globally) = (self.until(&phi, &psi, fairly)?, self.globally(&phi, fairly)?);
                self.or(&until, &globally)
            }
            Formula::Release(f, g) => {
                let (phi, psi) = (self.bounds(f, fairly)?, self.bounds(g, fairly)?);
                let both = self.and(&phi, &psi)?;
                let (until, globally) = (self.until(&psi, &both, fairly)?, self.globally(&psi, fairly)?);
                self.or(&until, &globally)
            }
            _ => {
                let nowhere = self.explored.constant(false);
                self.never_sure(nowhere)
            }
        }
    }

    /// States where `A path` is false: each `A` is the dual of an `E`.
    ///
    /// ```text
    /// AX φ = ¬EX ¬φ     AF φ = ¬EG ¬φ     AG φ = ¬EF ¬φ
    /// A(φ U ψ) = ¬(E(¬ψ U (¬φ ∧ ¬ψ)) ∨ EG ¬ψ)
    /// A(φ W ψ) = ¬E(¬ψ U (¬φ ∧ ¬ψ))
    /// A(φ R ψ) = ¬E(¬φ U ¬ψ)
    /// ```
    fn violated(&mut self, path: FormulaId, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        match self.system.formulas.get(path) {
            Formula::Next(f) => {
                let not_phi = self.negated(f, fairly)?;
                self.next(&not_phi, fairly)
            }
            Formula::Finally(f) => {
                let not_phi = self.negated(f, fairly)?;
                self.globally(&not_phi, fairly)
            }
            Formula::Globally(f) => {
                let (all, not_phi) = (exact(self.explored.constant(true)), self.negated(f, fairly)?);
                self.until(&all, &not_phi, fairly)
            }
            Formula::Until(f, g) => {
                let (not_phi, not_psi) = (self.negated(f, fairly)?, self.negated(g, fairly)?);
                let neither = self.and(&not_phi, &not_psi)?;
                let (early, never) =
                    (self.until(&not_psi, &neither, fairly)?, self.globally(&not_psi, fairly)?);
                self.or(&early, &never)
            }
            Formula::WeakUntil(f, g) => {
                let (not_phi, not_psi) = (self.negated(f, fairly)?, self.negated(g, fairly)?);
                let neither = self.and(&not_phi, &not_psi)?;
                self.until(&not_psi, &neither, fairly)
            }
            Formula::Release(f, g) => {
                let (not_phi, not_psi) = (self.negated(f, fairly)?, self.negated(g, fairly)?);
                self.until(&not_phi, &not_psi, fairly)
            }
            _ => {
                let nowhere = self.explored.constant(false);
                self.never_sure(nowhere)
            }
        }
    }

    /// `EX φ`: surely true by a known transition, possibly true by an unknown one.
    fn next(&mut self, phi: &Bounds<S::Set>, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        let goal = self.among_fair(&phi.surely, fairly)?;
        let surely = self.explored.exists_next(&goal)?;
        let (known, open) = (self.explored.exists_next(&phi.possibly)?, self.explored.open()?);
        Ok(Bounds { surely, possibly: self.explored.or(&known, &open)? })
    }

    /// `E(φ U ψ)`: a path through `φ` may leave the explored states.
    fn until(
        &mut self,
        phi: &Bounds<S::Set>,
        psi: &Bounds<S::Set>,
        fairly: bool,
    ) -> Result<Bounds<S::Set>, Stop> {
        let goal = self.among_fair(&psi.surely, fairly)?;
        let surely = self.explored.exists_until(&phi.surely, &goal)?;
        let leaving = self.leaving(&phi.possibly)?;
        let goal = self.explored.or(&psi.possibly, &leaving)?;
        Ok(Bounds { surely, possibly: self.explored.exists_until(&phi.possibly, &goal)? })
    }

    /// `EG φ`: a path may stay in `φ` among the explored states, or leave them.
    fn globally(&mut self, phi: &Bounds<S::Set>, fairly: bool) -> Result<Bounds<S::Set>, Stop> {
        let constraints = if fairly { self.fair()?.1 } else { Vec::new() };
        let surely = self.explored.exists_globally(&phi.surely, &constraints)?;
        let leaving = self.leaving(&phi.possibly)?;
        let leaves = self.explored.exists_until(&phi.possibly, &leaving)?;
        let stays = self.explored.exists_globally(&phi.possibly, &[])?;
        Ok(Bounds { surely, possibly: self.explored.or(&stays, &leaves)? })
    }

    fn leaving(&mut self, set: &S::Set) -> Result<S::Set, Stop> {
        let open = self.explored.open()?;
        self.explored.and(set, &open)
    }

    /// States where a formula is surely false, a fair path surely starts, and these agents are green.
    fn refuted(&mut self, formula: FormulaId, green: &[AgentId], fairly: bool) -> Result<S::Set, Stop> {
        let possibly = self.bounds(formula, fairly)?.possibly;
        let mut wrong = self.explored.not(&possibly)?;
        for &agent in green {
            let green = self.explored.green(agent)?;
            wrong = self.explored.and(&wrong, &green)?;
        }
        self.among_fair(&wrong, fairly)
    }

    /// `K φ`, given the states where `φ` is surely false.
    fn doubtful(&mut self, agents: &[AgentId], wrong: &S::Set) -> Result<Bounds<S::Set>, Stop> {
        let doubt = self.explored.confused(agents, wrong)?;
        self.never_sure(doubt)
    }

    /// Bounds of a formula that can be refuted but not confirmed.
    fn never_sure(&mut self, refuted: S::Set) -> Result<Bounds<S::Set>, Stop> {
        Ok(Bounds { surely: self.explored.constant(false), possibly: self.explored.not(&refuted)? })
    }
}

fn exact<S: Clone>(set: S) -> Bounds<S> {
    Bounds { surely: set.clone(), possibly: set }
}
