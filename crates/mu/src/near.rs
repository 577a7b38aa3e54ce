//! Positions that need not be stored.
//!
//! Most formulas say at each state a few things about its steps: `<->tt && [-P]X`, `f || <->X`.
//! A conjunction or disjunction of that kind is *near*: whatever decides it needs the state's
//! transitions, so it is looked into when they are there, and two kinds of operands are passed over:
//!
//! ```text
//! <A>p, [A]p with p a leaf       its value is seen at once: a glance
//! [A]X in a conjunction,         its steps are as good as moves of the conjunction itself: what all
//! <A>X in a disjunction          operands need, all their steps need
//! ```
//!
//! Nothing is asked of a system that would not be asked without this, and values are the same. What
//! is passed over has its place in evidence again (`play`). On a mixed level, where the positions of
//! a play count, steps are not passed over.

use crate::formula::{ActionId, Formula, Node, NodeId};
use crate::game::{is_leaf, leaf};
use crate::levels::Level;
use crate::tree::Modality;
use crate::{Lts, Space, StateId};

/// Which nodes of a formula are near.
#[derive(Debug)]
pub(crate) struct Near {
    /// For each node, whether all that may decide it needs the state's transitions.
    needs_step: Vec<bool>,
}

/// What an operand of a conjunction or disjunction is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// An atom or a constant.
    Leaf,
    /// A modality on a leaf, seen at once.
    Glance,
    /// A modality whose steps are moves of its own.
    Steps(ActionId, NodeId),
    /// A position of its own.
    Apart,
}

impl Near {
    pub(crate) fn new(formula: &Formula) -> Near {
        let mut needs_step: Vec<bool> = Vec::with_capacity(formula.nodes().len());
        for node in formula.nodes() {
            // Operands have smaller numbers, unless they are bodies of equations further out.
            let is_near = |operand: &NodeId| needs_step.get(operand.index()).copied().unwrap_or(false);
            needs_step.push(match node {
                Node::Constant(_) | Node::Atom(..) | Node::Variable(_) => false,
                Node::Modal(..) => true,
                Node::And(operands) | Node::Or(operands) => {
                    let mut others =
                        operands.iter().filter(|operand| !is_leaf(formula, **operand)).peekable();
                    others.peek().is_some() && others.all(is_near)
                }
            });
        }
        Near { needs_step }
    }

    /// Whether a position at this node needs the transitions of its state.
    pub(crate) fn needs_step(&self, node: NodeId) -> bool {
        self.needs_step[node.index()]
    }

    /// What an operand is to a node.
    pub(crate) fn part(&self, formula: &Formula, node: NodeId, operand: NodeId) -> Part {
        if is_leaf(formula, operand) {
            return Part::Leaf;
        }
        let Node::Modal(modality, action, inner) = formula.node(operand) else { return Part::Apart };
        if !self.needs_step(node) {
            return Part::Apart;
        }
        if is_leaf(formula, *inner) {
            return Part::Glance;
        }
        let same = match formula.node(node) {
            Node::And(_) => Modality::Box,
            _ => Modality::Diamond,
        };
        let is_mixed = |node: NodeId| formula.levels()[formula.level_of(node) as usize] == Level::Mixed;
        match *modality == same && !is_mixed(node) && !is_mixed(operand) {
            true => Part::Steps(*action, *inner),
            false => Part::Apart,
        }
    }
}

/// The truth of a modality on a leaf, in a state whose transitions are known; none if what lies
/// beyond a bound may change it. The states that are looked at are told.
pub(crate) fn glance<L: Lts>(
    formula: &Formula,
    space: &mut Space<L>,
    state: StateId,
    modal: NodeId,
    see: &mut dyn FnMut(StateId),
) -> Option<bool> {
    let Node::Modal(modality, action, inner) = formula.node(modal) else { return None };
    let is_any = *modality == Modality::Diamond;
    for i in 0..space.transitions(state).len() {
        let (label, to) = space.transitions(state)[i];
        if space.is_in(formula, *action, label) {
            see(to);
            if leaf(formula, space, to, *inner) == Some(is_any) {
                return Some(is_any);
            }
        }
    }
    space.cut(state).is_none().then_some(!is_any)
}
