//! The operators, one function each, and the verdict.

use std::collections::HashSet;
use std::rc::Rc;

use super::strategies::Moves;
use super::{State, Structure, explore, is_green, is_true};
use crate::{AgentId, At, Fixpoints, Formula, FormulaId, GroupId, Paths, Property, System, VarId};

/// Whether a model has a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Truth {
    /// It is true in all states in which it is required.
    Holds,
    /// It is false in some state in which it is required.
    Fails,
    /// There are fairness constraints, and no fair path starts at an initial state.
    NoFairPath,
    /// The formula, or a fairness constraint, is not a state formula, has free variables or a
    /// fixpoint that may not exist, or has more temporal operators in a path formula, or more uniform
    /// strategies, than can be tried.
    Unsupported,
}

/// A set of states: for each state of the structure, whether it is in the set.
pub(super) type States = Vec<bool>;

/// Returns whether the system has the property. Explores the whole system, however large it is.
pub fn holds(system: &System, property: &Property) -> Truth {
    match explore(system, usize::MAX) {
        Some(structure) => holds_in(&structure, system, property),
        None => Truth::Unsupported,
    }
}

/// Returns whether the system, whose reachable part is `structure`, has the property.
///
/// ```text
/// M ⊨ φ   iff   g ⊨ φ for every g ∈ I ∩ D     (at initial)
/// M ⊨ φ   iff   g ⊨ φ for every g ∈ D         (at reachable)
/// ```
///
/// `D` is the [`domain`]. Without fairness it is all of `G`; with fairness, and `I ∩ D` empty, the
/// verdict is `NoFairPath` in both cases. A system without initial states has every property: that is
/// an error of the model, which the caller reports.
pub fn holds_in(structure: &Structure, system: &System, property: &Property) -> Truth {
    let Some(mut truths) = Truths::new(structure, system) else { return Truth::Unsupported };
    let fair_initial = and(&structure.initial, &truths.domain);
    if !system.fairness.is_empty() && !fair_initial.contains(&true) {
        return Truth::NoFairPath;
    }
    let Some(phi) = truths.of(property.formula) else { return Truth::Unsupported };
    let required = match property.at {
        At::Initial => &fair_initial,
        At::Reachable => &truths.domain,
    };
    if is_subset(required, &phi) { Truth::Holds } else { Truth::Fails }
}

/// Computes the states at which a formula is true, a subset of the [`domain`]; `None` where a verdict would
/// be [`Truth::Unsupported`].
pub fn truth_set(structure: &Structure, system: &System, formula: FormulaId) -> Option<Vec<bool>> {
    Truths::new(structure, system)?.of(formula)
}

/// As [`truth_set`], for several formulas; common subformulas are computed once.
pub fn truth_sets(
    structure: &Structure,
    system: &System,
    formulas: impl IntoIterator<Item = FormulaId>,
) -> Vec<Option<Vec<bool>>> {
    let mut truths = Truths::new(structure, system);
    formulas.into_iter().map(|formula| truths.as_mut()?.of(formula)).collect()
}

/// Computes the states over which all operators range: the reachable ones, or, if there are fairness
/// constraints, those from which a fair path starts. `None` if a constraint is unsupported.
pub fn domain(structure: &Structure, system: &System) -> Option<Vec<bool>> {
    Some(Truths::new(structure, system)?.domain)
}

/// The truth of formulas in one structure.
#[derive(Clone)]
pub(super) struct Truths<'a> {
    pub(super) structure: &'a Structure,
    pub(super) system: &'a System,
    /// `D`. Every set below is a subset of it, and a complement is taken inside it.
    pub(super) domain: States,
    /// For each fairness constraint the states in which it is true.
    pub(super) constraints: Vec<States>,
    /// Results by formula: formulas are hash-consed, so equal ones are computed once. Results that
    /// depend on a free fixpoint variable are not kept.
    known: Vec<Option<States>>,
    fixpoints: Rc<Fixpoints>,
    /// The current values of fixpoint variables.
    pub(super) bound: Vec<Option<States>>,
    /// The successors by joint actions, once they are needed.
    pub(super) moves: Option<Rc<Moves>>,
}

impl<'a> Truths<'a> {
    /// `D = {g ∈ G | a path from g meets every constraint infinitely often} = ⟦E_fair G true⟧`.
    ///
    /// The constraints themselves are evaluated without fairness, over all of `G`. With no
    /// constraint `D = G`, not `⟦EG true⟧`: deadlocked states belong to it.
    pub(super) fn new(structure: &'a Structure, system: &'a System) -> Option<Self> {
        let all = vec![true; structure.n_states()];
        let fixpoints = Rc::new(system.formulas.fixpoints());
        let blank = |domain, constraints| Truths {
            structure,
            system,
            domain,
            constraints,
            known: vec![None; system.formulas.len()],
            fixpoints: Rc::clone(&fixpoints),
            bound: vec![None; system.formulas.n_fixpoints()],
            moves: None,
        };
        let mut plain = blank(all.clone(), Vec::new());
        let constraints = system.fairness.iter().map(|&c| plain.of(c)).collect::<Option<Vec<_>>>()?;
        if constraints.is_empty() {
            return Some(plain);
        }
        let fair = blank(all.clone(), constraints.clone()).exists_globally(&all);
        Some(blank(fair, constraints))
    }

    /// `⟦φ⟧ = {g ∈ D | g ⊨ φ}`, the dispatch over operators.
    pub(super) fn of(&mut self, formula: FormulaId) -> Option<States> {
        if let Some(known) = &self.known[formula.index()] {
            return Some(known.clone());
        }
        if !self.fixpoints.is_sound(formula) {
            return None;
        }
        let system = self.system;
        let truth = match system.formulas.get(formula) {
            Formula::Bool(b) => self.where_true(|_| b),
            Formula::Proposition(p) => {
                let condition = system.propositions[p.index()].condition;
                self.where_true(|g| is_true(system, condition, g, &[]))
            }
            Formula::Condition(condition) => self.where_true(|g| is_true(system, condition, g, &[])),
            Formula::Green(i) => self.where_true(|g| is_green(system, i, g)),
            Formula::Red(i) => self.where_true(|g| !is_green(system, i, g)),
            Formula::Not(f) => self.not_of(f)?,
            Formula::And(list) => {
                let sets = list.iter().map(|&f| self.of(f)).collect::<Option<Vec<_>>>()?;
                sets.iter().fold(self.domain.clone(), |all, phi| and(&all, phi))
            }
            Formula::Or(list) => {
                let sets = list.iter().map(|&f| self.of(f)).collect::<Option<Vec<_>>>()?;
                sets.iter().fold(self.nowhere(), |some, phi| or(&some, phi))
            }
            Formula::Implies(f, g) => {
                let (phi, psi) = (self.of(f)?, self.of(g)?);
                or(&self.not(&phi), &psi)
            }
            Formula::Iff(f, g) => {
                let (phi, psi) = (self.of(f)?, self.of(g)?);
                or(&and(&phi, &psi), &and(&self.not(&phi), &self.not(&psi)))
            }
            Formula::Exists(Paths::Ctl, path) => self.exists(path)?,
            Formula::Forall(Paths::Ctl, path) => self.forall(path)?,
            Formula::Knows(i, f) => {
                let phi = self.of(f)?;
                self.knows(i, &phi)
            }
            Formula::EveryoneKnows(group, f) => {
                let phi = self.of(f)?;
                self.everyone_knows(group, &phi)
            }
            Formula::DistributedKnowledge(group, f) => {
                let phi = self.of(f)?;
                self.distributed_knowledge(group, &phi)
            }
            Formula::CommonKnowledge(group, f) => {
                let phi = self.of(f)?;
                self.common_knowledge(group, &phi)
            }
            Formula::Correct(i, f) => {
                let phi = self.of(f)?;
                self.correct(i, &phi)
            }
            Formula::KnowsUnder(i, group, f) => {
                let phi = self.of(f)?;
                self.knows_under(i, group, &phi)
            }
            Formula::Exists(Paths::Infinite, path) => self.some_path(path)?,
            Formula::Forall(Paths::Infinite, path) => {
                // `A φ = ¬E ¬φ`: the guesses of a tableau for `φ` also show where `¬φ` is true.
                let violated = self.some_path_without(path)?;
                self.not(&violated)
            }
            Formula::Enforces(group, strategies, path) => self.enforces(group, strategies, path)?,
            Formula::ExistsStep(condition, f) => {
                let phi = self.of(f)?;
                self.exists_step(condition, &phi)
            }
            Formula::ForallStep(condition, f) => {
                let not_phi = self.not_of(f)?;
                self.not(&self.exists_step(condition, &not_phi))
            }
            Formula::Least(z, body) => self.fixpoint(z, body, true)?,
            Formula::Greatest(z, body) => self.fixpoint(z, body, false)?,
            Formula::Bound(z) => self.bound[z.index()].clone()?,
            // Path formulas in place of a state formula.
            Formula::Next(_)
            | Formula::Finally(_)
            | Formula::Globally(_)
            | Formula::Until(..)
            | Formula::WeakUntil(..)
            | Formula::Release(..) => return None,
        };
        if !self.fixpoints.is_open(formula) {
            self.known[formula.index()] = Some(truth.clone());
        }
        Some(truth)
    }

    /// `E path` in CTL, where the path formula is one operator on state formulas.
    ///
    /// ```text
    /// EF φ = E(true U φ)     E(φ W ψ) = E(φ U ψ) ∨ EG φ     E(φ R ψ) = E(ψ U (φ ∧ ψ)) ∨ EG ψ
    /// ```
    ///
    /// The last one is `¬A(¬φ U ¬ψ)`: release is the dual of until, at dead ends too.
    fn exists(&mut self, path: FormulaId) -> Option<States> {
        let (phi, psi) = self.operands(path)?;
        self.exists_sets(path, &phi, &psi)
    }

    /// `E path`, given the sets in which the operands are true; the same twice if there is one operand.
    pub(super) fn exists_sets(&self, path: FormulaId, phi: &States, psi: &States) -> Option<States> {
        Some(match self.system.formulas.get(path) {
            Formula::Next(_) => self.exists_next(phi),
            Formula::Finally(_) => self.exists_until(&self.domain, phi),
            Formula::Globally(_) => self.exists_globally(phi),
            Formula::Until(..) => self.exists_until(phi, psi),
            Formula::WeakUntil(..) => or(&self.exists_until(phi, psi), &self.exists_globally(phi)),
            Formula::Release(..) => or(&self.exists_until(psi, &and(phi, psi)), &self.exists_globally(psi)),
            _ => return None,
        })
    }

    /// Returns the sets in which the operands of a temporal operator are true; the same twice if there is
    /// one operand.
    pub(super) fn operands(&mut self, path: FormulaId) -> Option<(States, States)> {
        Some(match self.system.formulas.get(path) {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => (self.of(f)?, self.of(f)?),
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => {
                (self.of(f)?, self.of(g)?)
            }
            _ => return None,
        })
    }

    /// `A path` in CTL: by duality, nothing is defined twice.
    ///
    /// ```text
    /// AX φ = ¬EX ¬φ     AF φ = ¬EG ¬φ     AG φ = ¬EF ¬φ
    /// A(φ U ψ) = ¬(E(¬ψ U (¬φ ∧ ¬ψ)) ∨ EG ¬ψ)
    /// A(φ W ψ) = ¬E(¬ψ U (¬φ ∧ ¬ψ))
    /// A(φ R ψ) = ¬E(¬φ U ¬ψ)
    /// ```
    ///
    /// At a dead end no path continues: `AX φ` and `AF φ` are true, `AG φ` is `φ`, `A(φ U ψ)` and
    /// `A(φ W ψ)` are `φ ∨ ψ`, `A(φ R ψ)` is `ψ`. Under fairness the quantified `E` ranges over
    /// fair paths and the complement is inside `D`, so these quantify over all fair paths.
    fn forall(&mut self, path: FormulaId) -> Option<States> {
        let (phi, psi) = self.operands(path)?;
        self.forall_sets(path, &phi, &psi)
    }

    /// `A path`, given the sets in which the operands are true; the same twice if there is one operand.
    pub(super) fn forall_sets(&self, path: FormulaId, phi: &States, psi: &States) -> Option<States> {
        let (not_phi, not_psi) = (self.not(phi), self.not(psi));
        let violated = match self.system.formulas.get(path) {
            Formula::Next(_) => self.exists_next(&not_phi),
            Formula::Finally(_) => self.exists_globally(&not_phi),
            Formula::Globally(_) => self.exists_until(&self.domain, &not_phi),
            Formula::Until(..) => {
                let too_early = self.exists_until(&not_psi, &and(&not_phi, &not_psi));
                or(&too_early, &self.exists_globally(&not_psi))
            }
            Formula::WeakUntil(..) => self.exists_until(&not_psi, &and(&not_phi, &not_psi)),
            Formula::Release(..) => self.exists_until(&not_phi, &not_psi),
            _ => return None,
        };
        Some(self.not(&violated))
    }

    /// `EX φ`: some successor satisfies `φ`. [CGP99 §3.1]
    ///
    /// ```text
    /// g ⊨ EX φ   iff   g → g' and g' ⊨ φ for some g' ∈ D
    /// ```
    ///
    /// False at a dead end. Under fairness `g' ∈ D` ensures that a fair path continues from `g'`.
    pub(super) fn exists_next(&self, phi: &States) -> States {
        let step = |(g, &in_domain): (usize, &bool)| {
            in_domain && self.structure.successors[g].iter().any(|&successor| phi[successor])
        };
        self.domain.iter().enumerate().map(step).collect()
    }

    /// `E(φ U ψ) = μZ. ψ ∨ (φ ∧ EX Z)`. [CGP99 §6.2]
    ///
    /// A finite path is enough: at a dead end this is `ψ`. Under fairness `ψ ⊆ D` ensures that a
    /// fair path starts where `ψ` is met, and a fair path with further steps before it is still fair.
    fn exists_until(&self, phi: &States, psi: &States) -> States {
        let mut z = self.nowhere();
        loop {
            let next = or(psi, &and(phi, &self.exists_next(&z)));
            if next == z {
                return z;
            }
            z = next;
        }
    }

    /// `EG φ`: some infinite path, fair if there are constraints, stays in `φ`. [CGP99 §6.3, EL86]
    ///
    /// ```text
    /// EG φ = νZ. φ ∧ EX Z                                        without constraints
    /// EG φ = νZ. φ ∧ ⋀_c EX E(φ U (φ ∧ Z ∧ c))                   with constraints c
    /// ```
    ///
    /// Why the second is the definition. Let `P` be the states at which a fair path inside `φ`
    /// starts. `P` solves the equation: for each `c` such a path meets `c` again after its first
    /// step, and from there on it is a fair path inside `φ`. And any solution `Z` is inside `P`:
    /// from a state of `Z` walk, in at least one step and inside `φ`, to a state of `Z` in `c₁`,
    /// from there to one in `c₂`, and so on in a cycle; this path is infinite and fair.
    ///
    /// Both are false at a dead end.
    pub(super) fn exists_globally(&self, phi: &States) -> States {
        let mut z = self.domain.clone();
        loop {
            let mut next = phi.clone();
            if self.constraints.is_empty() {
                next = and(&next, &self.exists_next(&z));
            }
            for c in &self.constraints {
                let goal = and(phi, &and(&z, c));
                next = and(&next, &self.exists_next(&self.exists_until(phi, &goal)));
            }
            if next == z {
                return z;
            }
            z = next;
        }
    }

    /// `K_i φ`: agent `i` knows `φ`. [FHMV95 §2.1, §4.2]
    ///
    /// ```text
    /// g ⊨ K_i φ   iff   g' ⊨ φ for every g' ∈ D with l_i(g') = l_i(g)
    /// ⟦K_i φ⟧      =    D ∖ {g | some g' ∈ D ∖ ⟦φ⟧ has l_i(g') = l_i(g)}
    /// ```
    ///
    /// `l_i(g)` is what `i` sees of `g`.
    pub(super) fn knows(&self, agent: AgentId, phi: &States) -> States {
        let possible = self.agreeing_on(&self.system.agent(agent).sees, &self.not(phi));
        self.not(&possible)
    }

    /// `E_Γ φ = ⋀_{i ∈ Γ} K_i φ`: everyone in the group knows `φ`. [FHMV95 §2.2]
    pub(super) fn everyone_knows(&self, group: GroupId, phi: &States) -> States {
        let agents = &self.system.groups[group.index()].agents;
        agents.iter().fold(self.domain.clone(), |all, &i| and(&all, &self.knows(i, phi)))
    }

    /// `D_Γ φ`: the group's members know `φ` when they combine what they see. [FHMV95 §2.2]
    ///
    /// ```text
    /// g ⊨ D_Γ φ   iff   g' ⊨ φ for every g' ∈ D with l_i(g') = l_i(g) for all i ∈ Γ
    /// ```
    ///
    /// States agree on every `l_i` iff they agree on every variable that some member sees.
    pub(super) fn distributed_knowledge(&self, group: GroupId, phi: &States) -> States {
        let agents = &self.system.groups[group.index()].agents;
        let seen: Vec<VarId> =
            agents.iter().flat_map(|&i| self.system.agent(i).sees.iter().copied()).collect();
        self.not(&self.agreeing_on(&seen, &self.not(phi)))
    }

    /// `C_Γ φ = νZ. E_Γ(φ ∧ Z)`: common knowledge as a greatest fixpoint. [FHMV95 Thm 2.4.2]
    ///
    /// The iteration starts at `D`, the largest set.
    pub(super) fn common_knowledge(&self, group: GroupId, phi: &States) -> States {
        let mut z = self.domain.clone();
        loop {
            let next = self.everyone_knows(group, &and(phi, &z));
            if next == z {
                return z;
            }
            z = next;
        }
    }

    /// `O_i φ`: `φ` in all states in which `i` behaves correctly. [JAL05 §2.1]
    ///
    /// ```text
    /// g ⊨ O_i φ   iff   g' ⊨ φ for every g' ∈ D that is green for i
    /// ```
    ///
    /// It does not depend on `g`: it is true in all of `D` or nowhere.
    pub(super) fn correct(&self, agent: AgentId, phi: &States) -> States {
        let green = self.where_true(|g| is_green(self.system, agent, g));
        if is_subset(&green, phi) { self.domain.clone() } else { self.nowhere() }
    }

    /// `K̂_i^Γ φ`: `i` knows `φ`, assuming that all of `Γ` behave correctly. [JAL05 §2.1]
    ///
    /// ```text
    /// g ⊨ K̂_i^Γ φ   iff   g' ⊨ φ for every g' ∈ D with l_i(g') = l_i(g) that is green for all of Γ
    /// ```
    ///
    /// `g` itself need not be green. The paper's truth clause reads as if one green member
    /// sufficed; its algorithm `SAT_KH` (§3) and its prose say all (see "Decisions" in `docs/ispl.md`).
    pub(super) fn knows_under(&self, agent: AgentId, group: GroupId, phi: &States) -> States {
        let members = &self.system.groups[group.index()].agents;
        let green = self.where_true(|g| members.iter().all(|&j| is_green(self.system, j, g)));
        let possible = self.agreeing_on(&self.system.agent(agent).sees, &and(&green, &self.not(phi)));
        self.not(&possible)
    }

    /// Returns the states of `D` that agree with some state of `set` on all of `variables`.
    pub(super) fn agreeing_on(&self, variables: &[VarId], set: &States) -> States {
        let seen = |g: &State| variables.iter().map(|v| g[v.index()]).collect::<Vec<i64>>();
        let states = self.structure.states.iter();
        let views: HashSet<Vec<i64>> =
            states.zip(set).filter(|&(_, &in_set)| in_set).map(|(g, _)| seen(g)).collect();
        self.where_true(|g| views.contains(&seen(g)))
    }

    /// `{g ∈ D | test(g)}`
    pub(super) fn where_true(&self, test: impl Fn(&State) -> bool) -> States {
        let states = self.structure.states.iter();
        states.zip(&self.domain).map(|(g, &in_domain)| in_domain && test(g)).collect()
    }

    /// `D ∖ φ`
    pub(super) fn not(&self, phi: &States) -> States {
        self.domain.iter().zip(phi).map(|(&in_domain, &b)| in_domain && !b).collect()
    }

    /// `⟦¬φ⟧ = D ∖ ⟦φ⟧`
    fn not_of(&mut self, formula: FormulaId) -> Option<States> {
        let phi = self.of(formula)?;
        Some(self.not(&phi))
    }

    pub(super) fn nowhere(&self) -> States {
        vec![false; self.domain.len()]
    }
}

pub(super) fn and(a: &States, b: &States) -> States {
    a.iter().zip(b).map(|(&a, &b)| a && b).collect()
}

pub(super) fn or(a: &States, b: &States) -> States {
    a.iter().zip(b).map(|(&a, &b)| a || b).collect()
}

pub(super) fn is_subset(a: &States, b: &States) -> bool {
    a.iter().zip(b).all(|(&a, &b)| !a || b)
}
