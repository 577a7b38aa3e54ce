//! Truth of formulas and properties, one arm per operator. [BB04 §2, §5]
//!
//! If a program has fairness conditions, path quantifiers range over the paths on which each of them
//! holds infinitely often. [CGP99 §6.3]

use masque_verdict::{Verdict, Why};

use super::{Reference, State};
use crate::model::{AgentId, Edge, Formula, FormulaId, Question, VarId};
use crate::outcome::{PropertyResult, Status};
use crate::plan::WorldId;
use crate::tree::{Op, Realism};

impl Reference<'_> {
    /// Whether an explicit attitude is true in a state: by its value, or by its definition.
    pub fn label(&mut self, world: WorldId, state: &State, var: VarId) -> bool {
        match self.model.var(var).definition {
            Some(definition) => self.holds_now(world, state, definition),
            None => self.value(state, var) != 0,
        }
    }

    /// Whether an attitude is true in a state: by its label, or in all accessible states.
    fn attitude(&mut self, world: WorldId, state: &State, formula: FormulaId) -> bool {
        let Formula::Attitude { edge, arg, explicit } = *self.model.formula(formula) else { return false };
        if let Some(var) = explicit
            && self.plan.is_label(self.model, world, true)
        {
            return self.label(world, state, var);
        }
        self.holds_in_accessible(world, state, edge, arg)
    }

    /// Whether `Acc_e(s) ⊆ ⟦φ⟧_v`.
    pub fn holds_in_accessible(&mut self, world: WorldId, state: &State, edge: Edge, arg: FormulaId) -> bool {
        let Some(child) = self.plan.child(world, edge) else { return true };
        let accessible = self.accessible(world, state, edge);
        let holds = self.sat(child, arg);
        accessible.iter().zip(&holds).all(|(is_accessible, holds)| !is_accessible || *holds)
    }

    /// Whether a formula without temporal operators is true in a state, kept or not.
    pub(super) fn holds_now(&mut self, world: WorldId, state: &State, formula: FormulaId) -> bool {
        match self.model.formula(formula).clone() {
            Formula::Constant(value) => value,
            Formula::Var(var) => self.value(state, var) != 0,
            Formula::Compare(rel, a, b) => rel.holds(self.number(state, a), self.number(state, b)),
            Formula::Do(action) => state.action == Some(action),
            Formula::Not(f) => !self.holds_now(world, state, f),
            Formula::And(parts) => parts.iter().all(|&f| self.holds_now(world, state, f)),
            Formula::Or(parts) => parts.iter().any(|&f| self.holds_now(world, state, f)),
            Formula::Iff(f, g) => self.holds_now(world, state, f) == self.holds_now(world, state, g),
            Formula::Attitude { .. } => self.attitude(world, state, formula),
            temporal => unreachable!("the checker admits no {temporal:?} in a program"),
        }
    }

    /// Returns the kept states of a world in which a formula is true.
    pub fn sat(&mut self, world: WorldId, formula: FormulaId) -> Vec<bool> {
        if let Some(known) = self.known.get(&(world, formula)) {
            return known.clone();
        }
        let result = self.evaluate(world, formula);
        self.known.insert((world, formula), result.clone());
        result
    }

    fn evaluate(&mut self, world: WorldId, formula: FormulaId) -> Vec<bool> {
        let kept = self.world(world).kept.clone();
        let not = |set: Vec<bool>| -> Vec<bool> { set.iter().zip(&kept).map(|(a, b)| !a && *b).collect() };
        match self.model.formula(formula).clone() {
            Formula::Constant(value) => kept.iter().map(|is_kept| *is_kept && value).collect(),
            Formula::Var(_) | Formula::Compare(..) | Formula::Do(_) | Formula::Attitude { .. } => {
                let states = self.world(world).states.clone();
                (0..kept.len()).map(|s| kept[s] && self.holds_now(world, &states[s], formula)).collect()
            }
            Formula::Not(f) => not(self.sat(world, f)),
            Formula::And(parts) => parts.iter().fold(kept.clone(), |set, &f| and(&set, &self.sat(world, f))),
            Formula::Or(parts) => {
                parts.iter().fold(vec![false; kept.len()], |set, &f| or(&set, &self.sat(world, f)))
            }
            Formula::Iff(f, g) => {
                let (f, g) = (self.sat(world, f), self.sat(world, g));
                (0..kept.len()).map(|s| kept[s] && f[s] == g[s]).collect()
            }
            Formula::Ex(f) => {
                let f = self.sat(world, f);
                self.some_next(world, &f)
            }
            Formula::Eg(f) => {
                let f = self.sat(world, f);
                self.some_always(world, &f)
            }
            Formula::Ef(f) => {
                let f = self.sat(world, f);
                self.some_until(world, &kept, &f)
            }
            Formula::Eu(f, g) => {
                let (f, g) = (self.sat(world, f), self.sat(world, g));
                self.some_until(world, &f, &g)
            }
            // AX f = ¬EX ¬f
            Formula::Ax(f) => {
                let f = not(self.sat(world, f));
                not(self.some_next(world, &f))
            }
            // AF f = ¬EG ¬f
            Formula::Af(f) => {
                let f = not(self.sat(world, f));
                not(self.some_always(world, &f))
            }
            // AG f = ¬EF ¬f
            Formula::Ag(f) => {
                let f = not(self.sat(world, f));
                not(self.some_until(world, &kept, &f))
            }
            Formula::Au(f, g) => {
                let (f, g) = (self.sat(world, f), self.sat(world, g));
                self.all_until(world, &f, &g)
            }
            // E[f R g] = ¬A[¬f U ¬g]
            Formula::Er(f, g) => {
                let (f, g) = (not(self.sat(world, f)), not(self.sat(world, g)));
                not(self.all_until(world, &f, &g))
            }
            // A[f R g] = ¬E[¬f U ¬g]
            Formula::Ar(f, g) => {
                let (f, g) = (not(self.sat(world, f)), not(self.sat(world, g)));
                not(self.some_until(world, &f, &g))
            }
        }
    }

    /// Returns `EX f`: some successor satisfies `f` and starts a fair path.
    fn some_next(&mut self, world: WorldId, f: &[bool]) -> Vec<bool> {
        let target = and(f, &self.fair(world));
        let world = self.world(world);
        let has_next = |s: usize| world.next[s].iter().any(|&t| target[t]);
        (0..f.len()).map(|s| world.kept[s] && has_next(s)).collect()
    }

    /// Returns `E[f U g] = μZ. g ∨ (f ∧ EX Z)`.
    fn some_until(&mut self, world: WorldId, f: &[bool], g: &[bool]) -> Vec<bool> {
        let mut set = and(g, &self.fair(world));
        let world = self.world(world);
        loop {
            let step = |s: usize| f[s] && world.next[s].iter().any(|&t| set[t]);
            let larger: Vec<bool> = (0..set.len()).map(|s| set[s] || step(s)).collect();
            if larger == set {
                return set;
            }
            set = larger;
        }
    }

    /// Returns `A[f U g] = ¬(E[¬g U (¬f ∧ ¬g)] ∨ EG ¬g)`.
    fn all_until(&mut self, world: WorldId, f: &[bool], g: &[bool]) -> Vec<bool> {
        let kept = self.world(world).kept.clone();
        let not = |set: &[bool]| -> Vec<bool> { set.iter().zip(&kept).map(|(a, b)| !a && *b).collect() };
        let (not_f, not_g) = (not(f), not(g));
        let left = self.some_until(world, &not_g, &and(&not_f, &not_g));
        let right = self.some_always(world, &not_g);
        not(&or(&left, &right))
    }

    /// Returns `EG f` on fair paths: some path within `f` leads to a state on a cycle within `f` that
    /// satisfies every fairness condition. Computed by reachability from each state.
    fn some_always(&mut self, world: WorldId, f: &[bool]) -> Vec<bool> {
        let program = self.plan.program(world);
        let fair: Vec<Vec<bool>> =
            self.model.program(program).fair.iter().map(|&fair| self.sat(world, fair)).collect();
        let next = &self.world(world).next;
        let n_states = f.len();
        // reach[s]: the states that can be reached from s within f, in one step or more.
        let reach: Vec<Vec<bool>> = (0..n_states).map(|s| reached_from(next, f, s)).collect();
        let on_fair_cycle = |s: usize| {
            let of_cycle = |t: usize| reach[s][t] && reach[t][s];
            of_cycle(s) && fair.iter().all(|set| (0..n_states).any(|t| set[t] && of_cycle(t)))
        };
        let good: Vec<bool> = (0..n_states).map(|s| f[s] && on_fair_cycle(s)).collect();
        (0..n_states).map(|s| f[s] && (good[s] || (0..n_states).any(|t| good[t] && reach[s][t]))).collect()
    }

    /// Returns the states that start a fair path.
    pub(super) fn fair(&mut self, world: WorldId) -> Vec<bool> {
        let kept = self.world(world).kept.clone();
        let program = self.plan.program(world);
        if self.model.program(program).fair.is_empty() {
            return kept;
        }
        self.some_always(world, &kept)
    }

    /// Whether a state satisfies a kind of realism.
    fn realism(&mut self, world: WorldId, state: &State, realism: Realism, agent: AgentId) -> bool {
        let [b, d, i] = Op::ALL.map(|op| self.accessible(world, state, Edge { op, agent }));
        let subset = |a: &[bool], b: &[bool]| a.iter().zip(b).all(|(a, b)| !a || *b);
        let meet = |a: &[bool], b: &[bool]| a.iter().zip(b).any(|(a, b)| *a && *b);
        match realism {
            Realism::Strong => subset(&b, &d) && subset(&d, &i),
            Realism::Plain => subset(&i, &d) && subset(&d, &b),
            Realism::Weak => meet(&b, &d) && meet(&d, &i) && meet(&b, &i),
        }
    }
}

/// Returns the states that can be reached from `start` within `f`, in one step or more.
fn reached_from(next: &[Vec<usize>], f: &[bool], start: usize) -> Vec<bool> {
    let mut reached = vec![false; f.len()];
    let mut open: Vec<usize> = if f[start] { vec![start] } else { Vec::new() };
    while let Some(s) = open.pop() {
        for &t in next[s].iter().filter(|&&t| f[t]) {
            if !std::mem::replace(&mut reached[t], true) {
                open.push(t);
            }
        }
    }
    reached
}

fn and(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a && *b).collect()
}

fn or(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a || *b).collect()
}

/// Decides a property: whether it is true in all states of its world, or in the initial ones.
pub(super) fn property(reference: &mut Reference<'_>, index: usize) -> PropertyResult {
    let model = reference.model;
    let property = &model.properties[index];
    let world = reference.plan.properties[index];
    let built = reference.world(world).clone();
    if built.status != Status::Ok {
        return PropertyResult::undecided(Verdict::Unknown(Why::NoModel));
    }
    let n_states = built.states.len();
    let is_required = |s: usize| built.kept[s] && (!property.initially || built.initial[s]);
    let holds: Vec<bool> = match property.question {
        Question::Formula(formula) => reference.sat(world, formula),
        Question::Serial(edge) => (0..n_states)
            .map(|s| built.kept[s] && reference.accessible(world, &built.states[s], edge).contains(&true))
            .collect(),
        Question::Realism(realism, agent) => (0..n_states)
            .map(|s| built.kept[s] && reference.realism(world, &built.states[s], realism, agent))
            .collect(),
        Question::Subworld(_) => {
            let Some(outer) = reference.plan.outer_worlds[index] else { unreachable!("planned") };
            if reference.world(outer).status != Status::Ok {
                return PropertyResult::undecided(Verdict::Unknown(Why::NoModel));
            }
            reference.states_within(world, outer)
        }
    };
    let fair = reference.fair(world);
    // Sub-worlds are compared with all their paths, fair or not.
    let is_about_paths = !matches!(property.question, Question::Subworld(_));
    let verdict = if is_about_paths && !(0..n_states).any(|s| built.kept[s] && built.initial[s] && fair[s]) {
        Verdict::Unknown(Why::NoFairPath)
    } else {
        Verdict::from((0..n_states).all(|s| !is_required(s) || holds[s]))
    };
    let is_vacuous = verdict == Verdict::Holds
        && property.antecedent.is_some_and(|antecedent| {
            let is_true = reference.sat(world, antecedent.formula);
            !(0..n_states).any(|s| (is_required(s) || antecedent.is_everywhere) && is_true[s])
        });
    let satisfied = Some((super::count(&holds), super::count(&built.kept)));
    PropertyResult { satisfied, is_vacuous, ..PropertyResult::undecided(verdict) }
}
