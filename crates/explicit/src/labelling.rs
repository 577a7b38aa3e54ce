//! Labelling: for each formula the set of states where it is true, operands first.
//!
//! One labeller serves every engine that stores states. [`StoredStates`] is what an engine provides:
//! atoms, paths, knowledge and games on the states that it stores. [`Labelling`] is derived from
//! that. If several workers store the states of one system, each runs this code on its own states.
//! All take the same branches, because every decision that depends on the states of all workers is made by
//! a vote ([`StoredStates::any`], [`StoredStates::count`]).

use std::rc::Rc;

use masque_model::{AgentId, At, ExprId, Formula, FormulaId, GroupId, Paths as Ranging, Strategies, System};
use masque_verdict::{Automaton, Bounds, Budget, RegionPart, State, Stop, Verdict, Why, outside_logic};
use rustc_hash::FxHashSet;

use crate::bitset::Bitset;
use crate::fragment;
use crate::labels::{Domain, Labels, PartialLabel, Scope};
use crate::mu::fixpoint;
use crate::product::some_path;
use crate::region::region;
use crate::strategic::Goal;

/// The stored states, and the operators that relate states to each other.
///
/// All sets that are passed in are subsets of the domain `D`, restricted to the states stored here.
pub trait StoredStates<'s> {
    /// Whether a label that has decided a property is kept after that.
    const KEEPS_DECISIVE_LABELS: bool;

    /// System that the states belong to.
    fn system(&self) -> &'s System;

    /// Labels computed so far.
    fn labels(&mut self) -> &mut Labels;

    /// Number of states stored here.
    fn n_states(&self) -> usize;

    /// Number of initial states stored here. These are the first ones.
    fn n_initial(&self) -> usize;

    /// Whether a claim is true here or, if other workers store states too, at any of them.
    fn any(&mut self, is_true_here: bool) -> Result<bool, Stop>;

    /// Number of states in a set, including those stored by other workers.
    fn count(&mut self, states: &Bitset) -> Result<u64, Stop>;

    /// Checks whether this number of bytes may be held in addition.
    fn check_memory(&mut self, more: u64, budget: &Budget) -> Result<(), Stop>;

    /// States of a set where a condition is true.
    fn where_true(&mut self, condition: ExprId, states: &Bitset, budget: &Budget) -> Result<Bitset, Stop>;

    /// `EX φ`: some successor satisfies `φ`.
    ///
    /// ```text
    /// ⟦EX φ⟧ = {s ∈ D | s → t for some t ∈ ⟦φ⟧}
    /// ```
    ///
    /// False at a deadlock. Under fairness a fair path starts at `t`, because `t ∈ D`.
    fn exists_next(&mut self, phi: &Bitset, domain: &Bitset, budget: &Budget) -> Result<Bitset, Stop>;

    /// `E(φ U ψ) = μZ. ψ ∨ (φ ∧ EX Z)`
    ///
    /// A finite path is enough. Under fairness `ψ ⊆ D`, and steps before a fair path keep it fair.
    fn exists_until(&mut self, phi: &Bitset, psi: &Bitset, budget: &Budget) -> Result<Bitset, Stop>;

    /// `EG φ`: some infinite path, fair if there are constraints, stays in `φ`.
    fn exists_globally(
        &mut self,
        phi: &Bitset,
        constraints: &[Bitset],
        budget: &Budget,
    ) -> Result<Bitset, Stop>;

    /// `EX{c} φ`: some step with `c` leads to `φ`.
    fn exists_step(
        &mut self,
        condition: ExprId,
        phi: &Bitset,
        domain: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop>;

    /// States at which an infinite path starts, fair if there are constraints, that an automaton accepts.
    /// `meeting` has the states that meet the literals of each cover.
    fn exists_accepted_path(
        &mut self,
        automaton: &Automaton,
        meeting: Vec<Bitset>,
        constraints: &[Bitset],
        budget: &Budget,
    ) -> Result<Bitset, Stop>;

    /// States at which agents who combine what they see know `φ`, given where `φ` is false.
    ///
    /// ```text
    /// ⟦K_i φ⟧ = D ∖ {s | some t ∈ D ∖ ⟦φ⟧ has l_i(t) = l_i(s)}
    /// ```
    fn knows(
        &mut self,
        agents: &[AgentId],
        domain: &Bitset,
        not_phi: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop>;

    /// `C_Γ φ = νZ. E_Γ(φ ∧ Z)`, given where `φ` is false.
    fn common_knowledge(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        not_phi: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop>;

    /// `<Γ> path`: states at which the group has a strategy.
    fn enforces(&mut self, question: Enforcement<'_>, budget: &Budget) -> Result<Bitset, Stop>;

    /// Index of a state, if it is stored here.
    fn find_state(&self, state: &State) -> Result<Option<usize>, Stop>;

    /// States of a set that agents who combine what they see cannot distinguish from a state.
    fn alike(&self, agents: &[AgentId], state: &State, among: &Bitset) -> Result<Bitset, Stop>;

    /// `νZ. R ∩ post(Z)`: states of `R` that can be reached inside `R` by arbitrarily long paths.
    fn recurrent(&mut self, inside: Bitset, budget: &Budget) -> Result<Bitset, Stop>;

    /// Bounds of a formula if not all reachable states are known, otherwise `None`.
    fn partial_bounds(&mut self, _: FormulaId, _: &Budget) -> Result<Option<Bounds<Rc<Bitset>>>, Stop> {
        Ok(None)
    }

    /// Fair domain if not all reachable states are known, otherwise `None`.
    fn partial_fair_domain(&mut self, _: &Budget) -> Result<Option<Domain>, Stop> {
        Ok(None)
    }
}

/// The question at which states a group has a strategy.
pub struct Enforcement<'a> {
    /// Group of agents.
    pub group: GroupId,
    /// Kind of strategies that count.
    pub strategies: Strategies,
    /// Goal that the group has to enforce.
    pub goal: Goal,
    /// Domain and fairness constraints.
    pub scope: Scope,
    /// If given, the result has to be right at these states only, and may lack others.
    pub asked: Option<&'a Bitset>,
}

/// Truth of formulas at stored states.
pub trait Labelling<'s>: StoredStates<'s> + Sized {
    /// `D`: the reachable states, or with fairness constraints those at which a fair path starts.
    ///
    /// ```text
    /// D = ⟦E_fair G true⟧ over all reachable states
    /// ```
    ///
    /// The constraints themselves are labelled without fairness.
    fn domain(&mut self, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        let system = self.system();
        if !system.fairness.is_empty() && self.labels().fair.is_none() {
            let fair = match self.partial_fair_domain(budget)? {
                Some(fair) => fair,
                None => {
                    let mut constraints = Vec::new();
                    for &constraint in &system.fairness {
                        constraints.push((*label(self, constraint, budget)?).clone());
                    }
                    let all = Rc::clone(&self.labels().plain.states);
                    let states = self.exists_globally(&all, &constraints, budget)?;
                    Domain::new(Rc::new(states), constraints.into())
                }
            };
            self.labels().fair = Some(fair);
        }
        Ok(self.labels().scope().domain)
    }

    /// Initial states in `D`.
    fn initial(&mut self, budget: &Budget) -> Result<Bitset, Stop> {
        let domain = self.domain(budget)?;
        Ok(Bitset::first(self.n_initial(), self.n_states()).and(&domain))
    }

    /// `⟦φ⟧ = {s ∈ D | s ⊨ φ}`
    fn truth(&mut self, formula: FormulaId, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        self.domain(budget)?;
        label(self, formula, budget)
    }

    /// States of `asked` where a formula is true. For other states the result means nothing.
    ///
    /// Uniform strategies are searched for state by state, and most properties ask only at the initial
    /// states, so this saves most of the work.
    fn truth_among(
        &mut self,
        formula: FormulaId,
        asked: &Bitset,
        budget: &Budget,
    ) -> Result<Rc<Bitset>, Stop> {
        let domain = self.domain(budget)?;
        let is_known = self.labels().domain().known.contains_key(&formula);
        match self.system().formulas.get(formula) {
            Formula::Not(f) if !is_known => {
                let truth = self.truth_among(f, asked, budget)?;
                Ok(Rc::new((*domain).clone().minus(&truth)))
            }
            Formula::Enforces(_, strategies, path) if strategies != Strategies::Perfect && !is_known => {
                let partly = self.labels().domain().partly.get(&formula);
                let is_new = partly.is_none_or(|label| !asked.is_subset(&label.asked));
                if self.any(is_new)? {
                    for operand in self.system().formulas.operands(path) {
                        self.truth(operand, budget)?;
                    }
                    let truth = enforces(self, formula, Some(asked), budget)?;
                    let nowhere = || Bitset::empty(asked.len());
                    let partly = &mut self.labels().domain().partly;
                    let before = partly.remove(&formula);
                    let PartialLabel { asked: known, truth: all } =
                        before.unwrap_or_else(|| PartialLabel { asked: nowhere(), truth: nowhere() });
                    let label = PartialLabel { asked: known.or(asked).or(&truth), truth: all.or(&truth) };
                    partly.insert(formula, label);
                }
                let partly = self.labels().domain().partly.get(&formula);
                partly.map(|label| Rc::new(label.truth.clone())).ok_or(Stop::from(Why::Unsupported))
            }
            _ => self.truth(formula, budget),
        }
    }

    /// Whether a formula is true at some state of `D`, including those stored by other workers.
    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        let is_true_here = match self.labels().occurs.get(&formula) {
            Some(&occurs) => occurs,
            None => !self.truth(formula, budget)?.is_empty(),
        };
        self.any(is_true_here)
    }

    /// States of a set that are green for an agent: its RedStates is false there.
    fn green(&mut self, agent: AgentId, states: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        match self.system().agent(agent).red {
            None => Ok(states.clone()),
            Some(red) => Ok(states.clone().minus(&self.where_true(red, states, budget)?)),
        }
    }

    /// States that meet all parts.
    fn region(&mut self, parts: &[RegionPart], budget: &Budget) -> Result<Bitset, Stop> {
        region(self, parts, budget)
    }

    /// Whether a formula is true wherever it is asked.
    ///
    /// ```text
    /// M ⊨ φ   iff   I ∩ D ⊆ ⟦φ⟧  (at initial),   D ⊆ ⟦φ⟧  (at reachable)
    /// ```
    fn verdict(&mut self, formula: FormulaId, at: At, budget: &Budget) -> Result<Verdict, Stop> {
        let system = self.system();
        self.labels().turn_to(system, formula);
        let initial = self.initial(budget)?;
        let n_initial = self.count(&initial)?;
        if n_initial == 0 && !system.fairness.is_empty() {
            return Ok(Verdict::Unknown(Why::NoFairPath));
        }
        let (asked, is_one_initial) = match at {
            At::Initial => (initial, n_initial == 1),
            At::Reachable => {
                let domain = (*self.domain(budget)?).clone();
                let is_one = n_initial == 1 && self.count(&domain)? == 1;
                (domain, is_one)
            }
        };
        let mut conjuncts = vec![formula];
        while let Some(conjunct) = conjuncts.pop() {
            if let Formula::And(list) = system.formulas.get(conjunct) {
                conjuncts.extend(list.iter().rev());
            } else if !is_true_in(self, conjunct, &asked, is_one_initial, budget)? {
                return Ok(Verdict::Fails);
            }
        }
        Ok(Verdict::Holds)
    }
}

impl<'s, S: StoredStates<'s>> Labelling<'s> for S {}

/// Whether a formula is true in all of `asked`: the initial states, or the whole domain.
///
/// `AG φ` is true at all initial states iff `φ` is true at all reachable ones. This is so under fairness
/// too: a state of `D` is reached from an initial state by a path of states that are all in `D`.
/// If `asked` is a single initial state, `EF φ` is true iff `φ` is true somewhere.
fn is_true_in<'s, S: StoredStates<'s>>(
    states: &mut S,
    formula: FormulaId,
    asked: &Bitset,
    is_one_initial: bool,
    budget: &Budget,
) -> Result<bool, Stop> {
    let formulas = &states.system().formulas;
    let always = fragment::always(formulas, formula);
    let possibly = if is_one_initial { fragment::possibly(formulas, formula) } else { None };
    let decisive = always.or(possibly).unwrap_or(formula);
    if S::KEEPS_DECISIVE_LABELS {
        states.labels().decisive.insert(decisive);
    }
    if possibly.is_some() {
        let phi = states.truth(decisive, budget)?;
        return states.any(!phi.is_empty());
    }
    let is_violated = match always {
        Some(phi) => {
            let domain = states.domain(budget)?;
            !domain.is_subset(&*states.truth(phi, budget)?)
        }
        None => !asked.is_subset(&*states.truth_among(formula, asked, budget)?),
    };
    Ok(!states.any(is_violated)?)
}

/// Labels a formula, all its parts first.
fn label<'s>(
    states: &mut impl StoredStates<'s>,
    root: FormulaId,
    budget: &Budget,
) -> Result<Rc<Bitset>, Stop> {
    if outside_logic(&states.system().formulas, root).is_some() {
        return Err(Why::Unsupported.into());
    }
    for formula in unknown_parts(states, root) {
        budget.check()?;
        let set = label_one(states, formula, budget)?;
        states.check_memory(set.bytes(), budget)?;
        states.labels().domain().known.insert(formula, Rc::new(set));
    }
    known(states, root)
}

/// State formulas inside `root` that are not labelled yet, operands before users.
fn unknown_parts<'s>(states: &mut impl StoredStates<'s>, root: FormulaId) -> Vec<FormulaId> {
    let formulas = &states.system().formulas;
    let is_path = formulas.path_formulas();
    let labels = states.labels();
    let known = &labels.domain().known;
    let mut stack = vec![root];
    let mut parts = FxHashSet::default();
    while let Some(id) = stack.pop() {
        if !known.contains_key(&id) && parts.insert(id) {
            formulas.each_operand(id, |operand| stack.push(operand));
        }
    }
    let mut parts: Vec<FormulaId> = parts.into_iter().collect();
    // Path formulas have no labels, and those of open formulas are not stored.
    parts.retain(|&id| !is_path[id.index()] && !labels.fixpoints.is_open(id));
    parts.sort_unstable();
    parts
}

/// Label of a formula that has one.
pub(crate) fn known<'s>(states: &mut impl StoredStates<'s>, formula: FormulaId) -> Result<Rc<Bitset>, Stop> {
    states.labels().known(formula).ok_or(Stop::from(Why::Unsupported))
}

/// Labels a formula whose operands are labelled.
pub(crate) fn label_one<'s>(
    states: &mut impl StoredStates<'s>,
    formula: FormulaId,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let system = states.system();
    let domain = states.labels().scope().domain;
    let nowhere = || Bitset::empty(domain.len());
    let not = |phi: &Bitset| (*domain).clone().minus(phi);
    Ok(match system.formulas.get(formula) {
        Formula::Bool(true) => (*domain).clone(),
        Formula::Bool(false) => nowhere(),
        Formula::Proposition(p) => {
            states.where_true(system.propositions[p.index()].condition, &domain, budget)?
        }
        Formula::Condition(condition) => states.where_true(condition, &domain, budget)?,
        Formula::Green(agent) => states.green(agent, &domain, budget)?,
        Formula::Red(agent) => not(&states.green(agent, &domain, budget)?),
        Formula::Not(f) => not(&*known(states, f)?),
        Formula::And(list) => {
            let mut all = (*domain).clone();
            for &f in list {
                all = all.and(&*known(states, f)?);
            }
            all
        }
        Formula::Or(list) => {
            let mut some = nowhere();
            for &f in list {
                some = some.or(&*known(states, f)?);
            }
            some
        }
        Formula::Implies(f, g) => not(&*known(states, f)?).or(&*known(states, g)?),
        Formula::Iff(f, g) => {
            let differ = (*known(states, f)?).clone().xor(&*known(states, g)?);
            not(&differ)
        }
        Formula::Exists(Ranging::Ctl, path) => exists(states, path, budget)?,
        Formula::Forall(Ranging::Ctl, path) => not(&violated(states, path, budget)?),
        Formula::Exists(Ranging::Infinite, path) => some_path(states, path, true, budget)?,
        // `A φ = ¬E ¬φ`
        Formula::Forall(Ranging::Infinite, path) => not(&some_path(states, path, false, budget)?),
        Formula::Enforces(..) => enforces(states, formula, None, budget)?,
        Formula::ExistsStep(condition, f) => {
            let phi = known(states, f)?;
            states.exists_step(condition, &phi, &domain, budget)?
        }
        Formula::ForallStep(condition, f) => {
            let not_phi = not(&*known(states, f)?);
            not(&states.exists_step(condition, &not_phi, &domain, budget)?)
        }
        Formula::Least(..) | Formula::Greatest(..) => fixpoint(states, formula, budget)?,
        Formula::Knows(agent, f) => {
            let not_phi = not(&*known(states, f)?);
            states.knows(&[agent], &domain, &not_phi, budget)?
        }
        Formula::EveryoneKnows(group, f) => {
            let not_phi = not(&*known(states, f)?);
            let mut all = (*domain).clone();
            for &agent in &system.groups[group.index()].agents {
                all = all.and(&states.knows(&[agent], &domain, &not_phi, budget)?);
            }
            all
        }
        Formula::DistributedKnowledge(group, f) => {
            let not_phi = not(&*known(states, f)?);
            states.knows(&system.groups[group.index()].agents, &domain, &not_phi, budget)?
        }
        Formula::CommonKnowledge(group, f) => {
            let not_phi = not(&*known(states, f)?);
            states.common_knowledge(group, &domain, &not_phi, budget)?
        }
        Formula::Correct(agent, f) => {
            let phi = known(states, f)?;
            // `O_i φ`: φ at every state of D that is green for i; the same at all states.
            let is_violated = !states.green(agent, &domain, budget)?.is_subset(&phi);
            if states.any(is_violated)? { nowhere() } else { (*domain).clone() }
        }
        Formula::KnowsUnder(agent, group, f) => {
            let mut bad = not(&*known(states, f)?);
            // `KH(i, Γ, φ)`: as K, but only states green for all of Γ count.
            for &member in &system.groups[group.index()].agents {
                bad = states.green(member, &bad, budget)?;
            }
            states.knows(&[agent], &domain, &bad, budget)?
        }
        Formula::Next(_)
        | Formula::Finally(_)
        | Formula::Globally(_)
        | Formula::Until(..)
        | Formula::WeakUntil(..)
        | Formula::Release(..)
        | Formula::Bound(_) => return Err(Why::Unsupported.into()),
    })
}

/// `E path`, where the path formula is one operator on state formulas.
///
/// ```text
/// EF φ = E(true U φ)     E(φ W ψ) = E(φ U ψ) ∨ EG φ     E(φ R ψ) = E(ψ U (φ ∧ ψ)) ∨ EG ψ
/// ```
fn exists<'s>(states: &mut impl StoredStates<'s>, path: FormulaId, budget: &Budget) -> Result<Bitset, Stop> {
    let path = states.system().formulas.get(path);
    let (left, right) = operands(states, path)?;
    let Scope { domain, constraints } = states.labels().scope();
    match path {
        Formula::Next(_) => states.exists_next(&left, &domain, budget),
        Formula::Finally(_) => states.exists_until(&domain, &left, budget),
        Formula::Globally(_) => states.exists_globally(&left, &constraints, budget),
        Formula::Until(..) => states.exists_until(&left, &right, budget),
        Formula::WeakUntil(..) => {
            let until = states.exists_until(&left, &right, budget)?;
            Ok(until.or(&states.exists_globally(&left, &constraints, budget)?))
        }
        Formula::Release(..) => {
            let both = (*left).clone().and(&right);
            let until = states.exists_until(&right, &both, budget)?;
            Ok(until.or(&states.exists_globally(&right, &constraints, budget)?))
        }
        _ => Err(Why::Unsupported.into()),
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
fn violated<'s>(
    states: &mut impl StoredStates<'s>,
    path: FormulaId,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let path = states.system().formulas.get(path);
    let (left, right) = operands(states, path)?;
    let Scope { domain, constraints } = states.labels().scope();
    let not_left = (*domain).clone().minus(&left);
    let not_right = (*domain).clone().minus(&right);
    match path {
        Formula::Next(_) => states.exists_next(&not_left, &domain, budget),
        Formula::Finally(_) => states.exists_globally(&not_left, &constraints, budget),
        Formula::Globally(_) => states.exists_until(&domain, &not_left, budget),
        Formula::Until(..) => {
            let neither = not_left.and(&not_right);
            let until = states.exists_until(&not_right, &neither, budget)?;
            Ok(until.or(&states.exists_globally(&not_right, &constraints, budget)?))
        }
        Formula::WeakUntil(..) => states.exists_until(&not_right, &not_left.and(&not_right), budget),
        Formula::Release(..) => states.exists_until(&not_left, &not_right, budget),
        _ => Err(Why::Unsupported.into()),
    }
}

/// `<Γ> path`. If states are given, the label is right there and may lack others.
fn enforces<'s>(
    states: &mut impl StoredStates<'s>,
    formula: FormulaId,
    asked: Option<&Bitset>,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let formulas = &states.system().formulas;
    let Formula::Enforces(group, strategies, path) = formulas.get(formula) else {
        return Err(Why::Unsupported.into());
    };
    let path = formulas.get(path);
    let (left, right) = operands(states, path)?;
    let scope = states.labels().scope();
    let goal = Goal::new(path, &left, &right, &scope.domain)?;
    states.enforces(Enforcement { group, strategies, goal, scope, asked }, budget)
}

/// Labels of a temporal operator's operands. If there is only one operand, its label twice.
fn operands<'s>(
    states: &mut impl StoredStates<'s>,
    path: Formula<'_>,
) -> Result<(Rc<Bitset>, Rc<Bitset>), Stop> {
    match path {
        Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => {
            let phi = known(states, f)?;
            Ok((Rc::clone(&phi), phi))
        }
        Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => {
            Ok((known(states, f)?, known(states, g)?))
        }
        _ => Err(Why::Unsupported.into()),
    }
}
