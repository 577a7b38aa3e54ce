//! State and path formulas: one tree for CTL, LTL, CTL*, ATL, the mu-calculus, knowledge and
//! correctness.

use serde::{Deserialize, Serialize};

use crate::pool::{List, Pool};
use crate::{AgentId, ExprId, GroupId, PropositionId};

/// A formula of [`Formulas`]; operands have smaller ids than the formulas that use them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FormulaId(u32);

impl FormulaId {
    /// The position in the pool, for tables indexed by formula.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The variable of a fixpoint; [`Formulas::fixpoint_name`] has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FixpointId(pub(crate) u32);

impl FixpointId {
    /// The position among all variables of fixpoints.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a path quantifier ranges over; it matters at states without successors only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paths {
    /// CTL: the operators are the usual fixpoints of EX, so `EF` may be met by a finite path.
    Ctl,
    /// LTL and CTL*: infinite paths only.
    Infinite,
}

/// Which strategies a coalition may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Strategies {
    /// Any memoryless strategy on global states.
    Perfect,
    /// Uniform, winning from all states that some member confuses with this one (ATL_ir).
    Uniform,
    /// Uniform, winning from all states that the members together confuse with this one.
    UniformJoint,
    /// Uniform, winning from this state.
    UniformObjective,
}

impl Strategies {
    /// The word used in formulas and by `--strategies`.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formula<'p> {
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
    And(&'p [FormulaId]),
    /// Disjunction.
    Or(&'p [FormulaId]),
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
    /// `O(i, phi)`: wherever `i` behaves correctly.
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
    /// The variable of a fixpoint around it.
    Bound(FixpointId),
}

impl Formula<'_> {
    /// Whether this is an operator of paths, with no quantifier over them: `X F G U W R`.
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Bool(bool),
    Proposition(PropositionId),
    Condition(ExprId),
    Green(AgentId),
    Red(AgentId),
    Not(FormulaId),
    And(List),
    Or(List),
    Implies(FormulaId, FormulaId),
    Iff(FormulaId, FormulaId),
    Exists(Paths, FormulaId),
    Forall(Paths, FormulaId),
    Next(FormulaId),
    Finally(FormulaId),
    Globally(FormulaId),
    Until(FormulaId, FormulaId),
    WeakUntil(FormulaId, FormulaId),
    Release(FormulaId, FormulaId),
    Knows(AgentId, FormulaId),
    EveryoneKnows(GroupId, FormulaId),
    DistributedKnowledge(GroupId, FormulaId),
    CommonKnowledge(GroupId, FormulaId),
    Correct(AgentId, FormulaId),
    KnowsUnder(AgentId, GroupId, FormulaId),
    Enforces(GroupId, Strategies, FormulaId),
    ExistsStep(ExprId, FormulaId),
    ForallStep(ExprId, FormulaId),
    Least(FixpointId, FormulaId),
    Greatest(FixpointId, FormulaId),
    Bound(FixpointId),
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
    pool: Pool<Node, FormulaId>,
    /// The names of fixpoint variables; different fixpoints may use the same.
    fixpoints: Vec<String>,
}

impl Formulas {
    /// How many different formulas there are; ids are `0..len`.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pool.len() == 0
    }

    /// All ids, operands before users.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = FormulaId> + use<> {
        (0..self.pool.len() as u32).map(FormulaId)
    }

    /// The variable of this name, new or not.
    pub fn fixpoint(&mut self, name: &str) -> FixpointId {
        let position = self.fixpoints.iter().position(|known| known == name).unwrap_or_else(|| {
            self.fixpoints.push(name.to_string());
            self.fixpoints.len() - 1
        });
        FixpointId(position as u32)
    }

    /// The name of a fixpoint's variable.
    pub fn fixpoint_name(&self, id: FixpointId) -> &str {
        &self.fixpoints[id.index()]
    }

    /// How many variables of fixpoints there are.
    pub fn n_fixpoints(&self) -> usize {
        self.fixpoints.len()
    }

    /// The id of a formula, new or not. Formulas are kept as they were written.
    pub fn add(&mut self, formula: Formula<'_>) -> FormulaId {
        let node = match formula {
            Formula::Bool(b) => Node::Bool(b),
            Formula::Proposition(p) => Node::Proposition(p),
            Formula::Condition(e) => Node::Condition(e),
            Formula::Green(i) => Node::Green(i),
            Formula::Red(i) => Node::Red(i),
            Formula::Not(f) => Node::Not(f),
            Formula::And(list) => Node::And(self.pool.list(list)),
            Formula::Or(list) => Node::Or(self.pool.list(list)),
            Formula::Implies(f, g) => Node::Implies(f, g),
            Formula::Iff(f, g) => Node::Iff(f, g),
            Formula::Exists(paths, f) => Node::Exists(paths, f),
            Formula::Forall(paths, f) => Node::Forall(paths, f),
            Formula::Next(f) => Node::Next(f),
            Formula::Finally(f) => Node::Finally(f),
            Formula::Globally(f) => Node::Globally(f),
            Formula::Until(f, g) => Node::Until(f, g),
            Formula::WeakUntil(f, g) => Node::WeakUntil(f, g),
            Formula::Release(f, g) => Node::Release(f, g),
            Formula::Knows(i, f) => Node::Knows(i, f),
            Formula::EveryoneKnows(g, f) => Node::EveryoneKnows(g, f),
            Formula::DistributedKnowledge(g, f) => Node::DistributedKnowledge(g, f),
            Formula::CommonKnowledge(g, f) => Node::CommonKnowledge(g, f),
            Formula::Correct(i, f) => Node::Correct(i, f),
            Formula::KnowsUnder(i, g, f) => Node::KnowsUnder(i, g, f),
            Formula::Enforces(g, strategies, f) => Node::Enforces(g, strategies, f),
            Formula::ExistsStep(c, f) => Node::ExistsStep(c, f),
            Formula::ForallStep(c, f) => Node::ForallStep(c, f),
            Formula::Least(z, f) => Node::Least(z, f),
            Formula::Greatest(z, f) => Node::Greatest(z, f),
            Formula::Bound(z) => Node::Bound(z),
        };
        FormulaId(self.pool.intern(node))
    }

    /// The formula behind an id.
    pub fn get(&self, id: FormulaId) -> Formula<'_> {
        match self.pool.get(id.0) {
            Node::Bool(b) => Formula::Bool(b),
            Node::Proposition(p) => Formula::Proposition(p),
            Node::Condition(e) => Formula::Condition(e),
            Node::Green(i) => Formula::Green(i),
            Node::Red(i) => Formula::Red(i),
            Node::Not(f) => Formula::Not(f),
            Node::And(list) => Formula::And(self.pool.operands(list)),
            Node::Or(list) => Formula::Or(self.pool.operands(list)),
            Node::Implies(f, g) => Formula::Implies(f, g),
            Node::Iff(f, g) => Formula::Iff(f, g),
            Node::Exists(paths, f) => Formula::Exists(paths, f),
            Node::Forall(paths, f) => Formula::Forall(paths, f),
            Node::Next(f) => Formula::Next(f),
            Node::Finally(f) => Formula::Finally(f),
            Node::Globally(f) => Formula::Globally(f),
            Node::Until(f, g) => Formula::Until(f, g),
            Node::WeakUntil(f, g) => Formula::WeakUntil(f, g),
            Node::Release(f, g) => Formula::Release(f, g),
            Node::Knows(i, f) => Formula::Knows(i, f),
            Node::EveryoneKnows(g, f) => Formula::EveryoneKnows(g, f),
            Node::DistributedKnowledge(g, f) => Formula::DistributedKnowledge(g, f),
            Node::CommonKnowledge(g, f) => Formula::CommonKnowledge(g, f),
            Node::Correct(i, f) => Formula::Correct(i, f),
            Node::KnowsUnder(i, g, f) => Formula::KnowsUnder(i, g, f),
            Node::Enforces(g, strategies, f) => Formula::Enforces(g, strategies, f),
            Node::ExistsStep(c, f) => Formula::ExistsStep(c, f),
            Node::ForallStep(c, f) => Formula::ForallStep(c, f),
            Node::Least(z, f) => Formula::Least(z, f),
            Node::Greatest(z, f) => Formula::Greatest(z, f),
            Node::Bound(z) => Formula::Bound(z),
        }
    }

    /// The direct subformulas of `id`.
    pub fn operands(&self, id: FormulaId) -> Vec<FormulaId> {
        let mut operands = Vec::new();
        self.each_operand(id, |operand| operands.push(operand));
        operands
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

    /// For each formula, whether it is a path formula: a temporal operator stands outside all
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
