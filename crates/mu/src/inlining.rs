//! Inlining: operands that need no position of their own.
//!
//! Most formulas state a few facts about the steps of each state: `<->tt && [-P]X`, `f || <->X`. Every
//! operand of such a conjunction or disjunction that is not a leaf needs the transitions of the state. So
//! the state is expanded first, and two kinds of operands are inlined:
//!
//! ```text
//! <A>p, [A]p with p a leaf       the transitions decide it at once
//! [A]X in a conjunction,         its steps become moves of the conjunction or disjunction itself
//! <A>X in a disjunction
//! ```
//!
//! Inlining does not query the system for more, and values are the same. Evidence contains inlined
//! operands again (`region`). On a mixed level steps are not inlined, because there the priorities of all
//! positions of a play count.

use crate::formula::{ActionId, Formula, FormulaNode, FormulaNodeId};
use crate::game::{is_leaf, leaf};
use crate::levels::Level;
use crate::tree::Modality;
use crate::{Lts, Space, StateId};

/// The nodes of a formula that need transitions.
#[derive(Debug)]
pub(crate) struct Inlining {
    /// For each node, whether all its operands but leaves need the transitions of the state.
    needs_step: Vec<bool>,
}

/// Treatment of an operand of a conjunction or disjunction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OperandRole {
    /// An atom or a constant.
    Leaf,
    /// A modality on a leaf, which the transitions decide at once.
    ModalLeaf,
    /// A modality whose steps are moves of the conjunction or disjunction.
    Steps(ActionId, FormulaNodeId),
    /// An operand with a position of its own.
    Stored,
}

impl Inlining {
    pub(crate) fn new(formula: &Formula) -> Inlining {
        let mut needs_step: Vec<bool> = Vec::with_capacity(formula.nodes().len());
        for node in formula.nodes() {
            // Operands have smaller indices, unless they are bodies of outer equations.
            let is_near = |operand: &FormulaNodeId| needs_step.get(operand.index()).copied().unwrap_or(false);
            needs_step.push(match node {
                FormulaNode::Constant(_) | FormulaNode::Atom(..) | FormulaNode::Variable(_) => false,
                FormulaNode::Modal(..) => true,
                FormulaNode::And(operands) | FormulaNode::Or(operands) => {
                    let mut others =
                        operands.iter().filter(|operand| !is_leaf(formula, **operand)).peekable();
                    others.peek().is_some() && others.all(is_near)
                }
            });
        }
        Inlining { needs_step }
    }

    /// Whether a position at this node needs the transitions of its state.
    pub(crate) fn needs_step(&self, node: FormulaNodeId) -> bool {
        self.needs_step[node.index()]
    }

    /// Returns how an operand of a node is treated.
    pub(crate) fn role(&self, formula: &Formula, node: FormulaNodeId, operand: FormulaNodeId) -> OperandRole {
        if is_leaf(formula, operand) {
            return OperandRole::Leaf;
        }
        let FormulaNode::Modal(modality, action, inner) = formula.node(operand) else {
            return OperandRole::Stored;
        };
        if !self.needs_step(node) {
            return OperandRole::Stored;
        }
        if is_leaf(formula, *inner) {
            return OperandRole::ModalLeaf;
        }
        let same = match formula.node(node) {
            FormulaNode::And(_) => Modality::Box,
            _ => Modality::Diamond,
        };
        let is_mixed =
            |node: FormulaNodeId| formula.levels()[formula.level_of(node) as usize] == Level::Mixed;
        if *modality == same && !is_mixed(node) && !is_mixed(operand) {
            OperandRole::Steps(*action, *inner)
        } else {
            OperandRole::Stored
        }
    }
}

/// Returns the truth of a modality on a leaf, in an expanded state; `None` if transitions beyond a bound may
/// change it. Calls `visit` with each state in which the leaf is evaluated.
pub(crate) fn modal_leaf_truth<L: Lts>(
    formula: &Formula,
    space: &mut Space<L>,
    state: StateId,
    modal: FormulaNodeId,
    visit: &mut dyn FnMut(StateId),
) -> Option<bool> {
    let FormulaNode::Modal(modality, action, inner) = formula.node(modal) else { return None };
    let is_any = *modality == Modality::Diamond;
    for i in 0..space.transitions(state).len() {
        let (label, to) = space.transitions(state)[i];
        if space.is_in(formula, *action, label) {
            visit(to);
            if leaf(formula, space, to, *inner) == Some(is_any) {
                return Some(is_any);
            }
        }
    }
    space.cut(state).is_none().then_some(!is_any)
}
