//! State and path formulas: one tree for CTL, LTL, CTL*, ATL, the mu-calculus, knowledge and
//! correctness.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::pool::{List, Pool};
use crate::{AgentId, ExprId, GroupId, PropositionId};

/// A formula of [`Formulas`]; operands have smaller ids than the formulas that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FormulaId(u32);

impl FormulaId {
    /// Returns the index in the pool, for tables indexed by formula.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The variable of a fixpoint; [`Formulas::fixpoint_name`] has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FixpointId(pub(crate) u32);

impl FixpointId {
    /// Returns the index among all fixpoint variables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The paths that a quantifier ranges over; the difference matters only at states without successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paths {
    /// CTL: the operators are the usual fixpoints of EX, so a finite path can satisfy `EF`.
    Ctl,
    /// LTL and CTL*: infinite paths only.
    Infinite,
}

/// The strategies that a coalition may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Strategies {
    /// Any memoryless strategy on global states.
    Perfect,
    /// Uniform, winning from all states that some member cannot distinguish from this one (ATL_ir).
    Uniform,
    /// Uniform, winning from all states that the members together cannot distinguish from this one.
    UniformJoint,
    /// Uniform, winning from this state.
    UniformObjective,
}

impl Strategies {
    /// All values.
    pub const ALL: [Strategies; 4] =
        [Strategies::Perfect, Strategies::Uniform, Strategies::UniformJoint, Strategies::UniformObjective];

    /// Returns the word used in formulas and by `--strategies`.
    pub fn name(self) -> &'static str {
        match self {
            Strategies::Perfect => "perfect",
            Strategies::Uniform => "uniform",
            Strategies::UniformJoint => "uniform-joint",
            Strategies::UniformObjective => "uniform-objective",
        }
    }
}

/// One formula, its operands as ids. Each operator's truth definition is in `semantics`.
pub type Formula<'p> = FormulaWith<&'p [FormulaId]>;

/// A formula whose lists of operands have the type `L`: slices outside the pool, `List`s inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormulaWith<L> {
    /// `true` or `false`.
    Bool(bool),
    /// A proposition of the Evaluation section.
    Proposition(PropositionId),
    /// A condition on the current state, written in the formula itself.
    Condition(ExprId),
    /// The agent's local state is green.
    Green(AgentId),
    /// The agent's local state is red.
    Red(AgentId),
    /// Negation.
    Not(FormulaId),
    /// Conjunction.
    And(L),
    /// Disjunction.
    Or(L),
    /// Implication.
    Implies(FormulaId, FormulaId),
    /// Equivalence.
    Iff(FormulaId, FormulaId),
    /// `E`: on some path.
    Exists(Paths, FormulaId),
    /// `A`: on all paths.
    Forall(Paths, FormulaId),
    /// `X`, a path formula.
    Next(FormulaId),
    /// `F`, a path formula.
    Finally(FormulaId),
    /// `G`, a path formula.
    Globally(FormulaId),
    /// `U`, a path formula.
    Until(FormulaId, FormulaId),
    /// `W`, a path formula: until, or forever.
    WeakUntil(FormulaId, FormulaId),
    /// `R`, a path formula: the dual of until.
    Release(FormulaId, FormulaId),
    /// `K(i, phi)`
    Knows(AgentId, FormulaId),
    /// `GK(g, phi)`
    EveryoneKnows(GroupId, FormulaId),
    /// `DK(g, phi)`
    DistributedKnowledge(GroupId, FormulaId),
    /// `GCK(g, phi)`
    CommonKnowledge(GroupId, FormulaId),
    /// `O(i, phi)`: phi is true in all states in which `i` behaves correctly.
    Correct(AgentId, FormulaId),
    /// `KH(i, g, phi)`: `i` knows, on the assumption that all of `g` behave correctly.
    KnowsUnder(AgentId, GroupId, FormulaId),
    /// `<g> path`: the group can enforce the path formula.
    Enforces(GroupId, Strategies, FormulaId),
    /// `EX{c} phi`: after some step with `c`, a condition on the state and the joint action.
    ExistsStep(ExprId, FormulaId),
    /// `AX{c} phi`: after every step with `c`.
    ForallStep(ExprId, FormulaId),
    /// `mu Z. phi`: the least fixpoint.
    Least(FixpointId, FormulaId),
    /// `nu Z. phi`: the greatest fixpoint.
    Greatest(FixpointId, FormulaId),
    /// The variable of an enclosing fixpoint.
    Bound(FixpointId),
}

impl Formula<'_> {
    /// Returns whether this is a temporal operator without a path quantifier: `X F G U W R`.
    pub fn is_temporal(&self) -> bool {
        matches!(
            self,
            Formula::Next(_)
                | Formula::Finally(_)
                | Formula::Globally(_)
                | Formula::Until(..)
                | Formula::WeakUntil(..)
                | Formula::Release(..)
        )
    }

    /// Returns whether this is decided by one state if its operands are: an atom or a connective.
    pub fn is_local_operator(&self) -> bool {
        matches!(
            self,
            Formula::Bool(_)
                | Formula::Proposition(_)
                | Formula::Condition(_)
                | Formula::Green(_)
                | Formula::Red(_)
                | Formula::Not(_)
                | Formula::And(_)
                | Formula::Or(_)
                | Formula::Implies(..)
                | Formula::Iff(..)
        )
    }
}

impl<L> FormulaWith<L> {
    /// Returns the same formula with another type of list.
    fn with_list<M>(self, change: impl FnOnce(L) -> M) -> FormulaWith<M> {
        match self {
            FormulaWith::Bool(a) => FormulaWith::Bool(a),
            FormulaWith::Proposition(a) => FormulaWith::Proposition(a),
            FormulaWith::Condition(a) => FormulaWith::Condition(a),
            FormulaWith::Green(a) => FormulaWith::Green(a),
            FormulaWith::Red(a) => FormulaWith::Red(a),
            FormulaWith::Not(a) => FormulaWith::Not(a),
            FormulaWith::And(list) => FormulaWith::And(change(list)),
            FormulaWith::Or(list) => FormulaWith::Or(change(list)),
            FormulaWith::Implies(a, b) => FormulaWith::Implies(a, b),
            FormulaWith::Iff(a, b) => FormulaWith::Iff(a, b),
            FormulaWith::Exists(a, b) => FormulaWith::Exists(a, b),
            FormulaWith::Forall(a, b) => FormulaWith::Forall(a, b),
            FormulaWith::Next(a) => FormulaWith::Next(a),
            FormulaWith::Finally(a) => FormulaWith::Finally(a),
            FormulaWith::Globally(a) => FormulaWith::Globally(a),
            FormulaWith::Until(a, b) => FormulaWith::Until(a, b),
            FormulaWith::WeakUntil(a, b) => FormulaWith::WeakUntil(a, b),
            FormulaWith::Release(a, b) => FormulaWith::Release(a, b),
            FormulaWith::Knows(a, b) => FormulaWith::Knows(a, b),
            FormulaWith::EveryoneKnows(a, b) => FormulaWith::EveryoneKnows(a, b),
            FormulaWith::DistributedKnowledge(a, b) => FormulaWith::DistributedKnowledge(a, b),
            FormulaWith::CommonKnowledge(a, b) => FormulaWith::CommonKnowledge(a, b),
            FormulaWith::Correct(a, b) => FormulaWith::Correct(a, b),
            FormulaWith::KnowsUnder(a, b, c) => FormulaWith::KnowsUnder(a, b, c),
            FormulaWith::Enforces(a, b, c) => FormulaWith::Enforces(a, b, c),
            FormulaWith::ExistsStep(a, b) => FormulaWith::ExistsStep(a, b),
            FormulaWith::ForallStep(a, b) => FormulaWith::ForallStep(a, b),
            FormulaWith::Least(a, b) => FormulaWith::Least(a, b),
            FormulaWith::Greatest(a, b) => FormulaWith::Greatest(a, b),
            FormulaWith::Bound(a) => FormulaWith::Bound(a),
        }
    }
}

/// The formulas of one system, each stored once.
///
/// ```
/// use masque_model::{Formula, Formulas, Paths};
/// let mut formulas = Formulas::default();
/// let p = formulas.add(Formula::Bool(true));
/// let finally = formulas.add(Formula::Finally(p));
/// let ef = formulas.add(Formula::Exists(Paths::Ctl, finally));
/// assert_eq!(formulas.get(ef), Formula::Exists(Paths::Ctl, finally));
/// assert!(p < finally && finally < ef);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    pool: Pool<FormulaWith<List>, FormulaId>,
    /// The names of the fixpoint variables; different fixpoints may use the same variable.
    fixpoints: Vec<String>,
}

impl Formulas {
    /// Returns the number of different formulas; ids are `0..len`.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// Returns whether there are no formulas.
    pub fn is_empty(&self) -> bool {
        self.pool.len() == 0
    }

    /// Returns all ids, operands before users.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = FormulaId> + use<> {
        (0..self.pool.len() as u32).map(FormulaId)
    }

    /// Returns the fixpoint variable with this name; adds it if it is new.
    pub fn fixpoint(&mut self, name: &str) -> FixpointId {
        let index = self.fixpoints.iter().position(|known| known == name).unwrap_or_else(|| {
            self.fixpoints.push(name.to_string());
            self.fixpoints.len() - 1
        });
        FixpointId(index as u32)
    }

    /// Returns the name of a fixpoint variable.
    pub fn fixpoint_name(&self, id: FixpointId) -> &str {
        &self.fixpoints[id.index()]
    }

    /// Returns the number of fixpoint variables.
    pub fn n_fixpoints(&self) -> usize {
        self.fixpoints.len()
    }

    /// Returns the id of a formula; adds it if it is new. Formulas are not simplified.
    pub fn add(&mut self, formula: Formula<'_>) -> FormulaId {
        let node = formula.with_list(|list| self.pool.list(list));
        FormulaId(self.pool.intern(node))
    }

    /// Returns the formula with an id.
    pub fn get(&self, id: FormulaId) -> Formula<'_> {
        self.pool.get(id.0).with_list(|list| self.pool.operands(list))
    }

    /// Returns the direct subformulas of `id`.
    pub fn operands(&self, id: FormulaId) -> Vec<FormulaId> {
        let mut operands = Vec::new();
        self.each_operand(id, |operand| operands.push(operand));
        operands
    }

    /// Calls `visit` for a formula and its subformulas, each once. The operands of a formula for which it returns
    /// false are left out, unless they are operands of another one.
    pub fn each_part(&self, root: FormulaId, mut visit: impl FnMut(FormulaId) -> bool) {
        let mut seen = BTreeSet::from([root]);
        let mut open = vec![root];
        while let Some(part) = open.pop() {
            if visit(part) {
                self.each_operand(part, |operand| {
                    if seen.insert(operand) {
                        open.push(operand);
                    }
                });
            }
        }
    }

    /// Calls `visit` for each direct subformula of `id`.
    pub fn each_operand(&self, id: FormulaId, mut visit: impl FnMut(FormulaId)) {
        match self.get(id) {
            Formula::Bool(_)
            | Formula::Proposition(_)
            | Formula::Condition(_)
            | Formula::Green(_)
            | Formula::Red(_)
            | Formula::Bound(_) => {}
            Formula::And(list) | Formula::Or(list) => list.iter().copied().for_each(visit),
            Formula::Implies(f, g)
            | Formula::Iff(f, g)
            | Formula::Until(f, g)
            | Formula::WeakUntil(f, g)
            | Formula::Release(f, g) => {
                visit(f);
                visit(g);
            }
            Formula::Not(f)
            | Formula::Exists(_, f)
            | Formula::Forall(_, f)
            | Formula::Next(f)
            | Formula::Finally(f)
            | Formula::Globally(f)
            | Formula::Knows(_, f)
            | Formula::EveryoneKnows(_, f)
            | Formula::DistributedKnowledge(_, f)
            | Formula::CommonKnowledge(_, f)
            | Formula::Correct(_, f)
            | Formula::KnowsUnder(_, _, f)
            | Formula::Enforces(_, _, f)
            | Formula::ExistsStep(_, f)
            | Formula::ForallStep(_, f)
            | Formula::Least(_, f)
            | Formula::Greatest(_, f) => visit(f),
        }
    }

    /// Returns whether the truth of a formula depends on the current state only. Visits its parts once each.
    pub fn is_local(&self, root: FormulaId) -> bool {
        let mut open = BTreeSet::from([root]);
        while let Some(id) = open.pop_last() {
            if !self.get(id).is_local_operator() {
                return false;
            }
            self.each_operand(id, |operand| _ = open.insert(operand));
        }
        true
    }

    /// Returns for each part of a formula the signs with which it occurs there, given those of the formula itself:
    /// `signs[0]` and `signs[1]` change places below each negation and left side of an implication. Of other
    /// operators only those are entered for which `enters` is true.
    pub fn signs(
        &self,
        root: FormulaId,
        signs: [bool; 2],
        enters: impl Fn(Formula<'_>) -> bool,
    ) -> BTreeMap<FormulaId, [bool; 2]> {
        let mut found = BTreeMap::from([(root, signs)]);
        let mut next = Some(root);
        while let Some(id) = next {
            let signs = found[&id];
            let mut add = |operand: FormulaId, flips: bool| {
                let entry: &mut [bool; 2] = found.entry(operand).or_default();
                entry[0] |= signs[usize::from(flips)];
                entry[1] |= signs[usize::from(!flips)];
            };
            match self.get(id) {
                Formula::Not(f) => add(f, true),
                Formula::Implies(f, g) => {
                    add(f, true);
                    add(g, false);
                }
                Formula::Iff(f, g) => [f, g].into_iter().for_each(|operand| {
                    add(operand, false);
                    add(operand, true);
                }),
                formula if enters(formula) => self.each_operand(id, |operand| add(operand, false)),
                _ => {}
            }
            // Operands have smaller ids, so the signs of the next one are complete.
            next = found.range(..id).next_back().map(|(id, _)| *id);
        }
        found
    }

    /// Returns for each formula whether it is a path formula: some temporal operator in it is outside all
    /// path quantifiers, coalitions and knowledge operators. Indexed by id.
    pub fn path_formulas(&self) -> Vec<bool> {
        let mut is_path = vec![false; self.len()];
        for id in self.ids() {
            is_path[id.index()] = match self.get(id) {
                formula if formula.is_temporal() => true,
                Formula::Not(f) => is_path[f.index()],
                Formula::And(list) | Formula::Or(list) => list.iter().any(|f| is_path[f.index()]),
                Formula::Implies(f, g) | Formula::Iff(f, g) => is_path[f.index()] || is_path[g.index()],
                _ => false,
            };
        }
        is_path
    }
}
