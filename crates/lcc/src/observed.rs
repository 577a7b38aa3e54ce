//! Which steps a formula can observe, for the reduction in which agents send at once (`eager.rs`).
//!
//! ```text
//! φ  ::=  final | done(i) | idle(i) | at(i, r) | φ ∧ φ | φ ∨ φ
//!      |  mu X. φ ∨ <P>φ ∨ <A>X          EF φ, <A* . P>φ          AG, [A* . P] are their duals
//!      |  mu X. φ ∨ (<->tt ∧ [A]X)       AF φ, inev(P)            EG is its dual
//!      |  nu X. mu Y. φ ∨ <P>X ∨ <A>Y    infinitely often P       and mu X. nu Y., and their duals
//!      |  <B>φ, [B]φ                     where B is never a receipt: an action that is offered
//! U  ::=  φ | <->tt | mu X. <->tt ∧ [R]X                           where R contains receipts only
//!      |  U ∧ U | U ∨ U | AG U, [A* . P]U | AF U
//! ```
//!
//! Formulas φ are those of CTL*-X, with action patterns along paths. By [GKPP99] they have the same truth
//! value in a state and in all states that it reaches by unobserved steps. A step is unobserved if its label
//! is in all A (`passed`) and in no P or B (`awaited`, `offered`), and if it changes no atom.
//!
//! `<->tt` (the state is not stuck) is not such a formula: it may be true only because a message has not been
//! sent yet. Neither is `mu X. <->tt ∧ [R]X` (no sequence of receipts in R leads to a stuck state). But where
//! some agent can only send, or only make an internal step, both are true: no receipt by other agents removes
//! that step, and receipts use up the messages under way. So if such a formula is false in a state, there is
//! no pending step that the reduced system takes earlier; the reduced system then reaches the same state by
//! the same observed steps. Where such a formula must hold on all paths (U), the reduced system therefore
//! gives the same verdict as the whole system. Its negation is allowed where some path is asked for.

use masque_mu::tree::{Modality, Sign};
use masque_mu::{Action, ActionId, EquationId, Formula, FormulaNode, FormulaNodeId};
use rustc_hash::FxHashSet;

use crate::symbol::Symbol;
use crate::system::System;
use crate::term::{Functor, TermId};
use crate::vocabulary::Atom;

/// What a formula observes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    /// Actions A along paths: an unobserved label is in all of these.
    pub(crate) passed: Vec<ActionId>,
    /// Actions P that end a path: an unobserved label is in none of these.
    pub(crate) awaited: Vec<ActionId>,
    /// Actions B that are offered: an unobserved label is in none of these, and an unobserved step does not
    /// make them possible.
    pub(crate) offered: Vec<ActionId>,
    /// Indices of the agents whose state an atom of the formula refers to.
    pub(crate) agents: Vec<u32>,
    /// Whether the atom `final` occurs.
    pub(crate) is_final_seen: bool,
}

/// The paths on which a subformula is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paths {
    /// No path: the subformula is about the initial state.
    First,
    /// The subformula must hold on all paths.
    All,
    /// The subformula must hold on some path.
    Some,
    /// Path quantifiers of both kinds surround the subformula.
    Mixed,
}

impl Paths {
    /// Returns the paths of a subformula below a quantifier `paths`.
    fn then(self, paths: Paths) -> Paths {
        if self == Paths::First || self == paths { paths } else { Paths::Mixed }
    }
}

/// The formula is not of a shape that is known to be insensitive to unobserved steps.
struct Sensitive;

struct Reader<'s> {
    formula: &'s Formula,
    system: &'s System,
    /// Functors that occur in constraints on receipts.
    guards: FxHashSet<Functor>,
    /// The equations being visited, from the outermost to the innermost.
    within: Vec<usize>,
    observed: Observed,
}

impl Observed {
    /// Determines what a formula observes; `None` if it may be sensitive to the number of steps.
    pub(crate) fn new(formula: &Formula, system: &System) -> Option<Observed> {
        let (guards, within, observed) = (receipt_guards(system), Vec::new(), Observed::default());
        let mut reader = Reader { formula, system, guards, within, observed };
        reader.state(formula.root(), Paths::First).ok()?;
        Some(reader.observed)
    }
}

impl Reader<'_> {
    /// Visits a state formula.
    fn state(&mut self, node: FormulaNodeId, paths: Paths) -> Result<(), Sensitive> {
        if let FormulaNode::Variable(outer) = self.formula.node(node) {
            return self.recurrence(*outer);
        }
        let Some(id) = equation_of(self.formula, node)? else { return self.simple(node, paths) };
        if self.within.contains(&id) {
            return Err(Sensitive);
        }
        self.within.push(id);
        let result = self.equation(id, paths);
        self.within.pop();
        result
    }

    /// Visits a state formula that is not a fixpoint.
    fn simple(&mut self, node: FormulaNodeId, paths: Paths) -> Result<(), Sensitive> {
        match self.formula.node(node) {
            FormulaNode::Constant(_) => Ok(()),
            FormulaNode::Atom(atom, _) => {
                match self.system.atoms.get(atom.index()) {
                    Some(Atom::Final) => self.observed.is_final_seen = true,
                    Some(Atom::Done(agent) | Atom::Idle(agent) | Atom::At(agent, _)) => {
                        self.observed.agents.push(*agent)
                    }
                    None => return Err(Sensitive),
                }
                Ok(())
            }
            FormulaNode::And(parts) | FormulaNode::Or(parts) => {
                parts.iter().try_for_each(|part| self.state(*part, paths))
            }
            FormulaNode::Modal(modality, ..) if is_stuck_test(self.formula, node) => {
                let needed = if *modality == Modality::Diamond { Paths::All } else { Paths::Some };
                if paths.then(needed) == needed { Ok(()) } else { Err(Sensitive) }
            }
            FormulaNode::Modal(_, action, inner) if !self.may_be_receipt(*action) => {
                self.observed.offered.push(*action);
                self.state(*inner, Paths::Mixed)
            }
            FormulaNode::Modal(..) | FormulaNode::Variable(_) => Err(Sensitive),
        }
    }

    /// Visits `mu X. φ ∨ <P>φ ∨ <A>X`, `mu X. φ ∨ (<->tt ∧ [A]X)`, and their duals.
    fn equation(&mut self, id: usize, paths: Paths) -> Result<(), Sensitive> {
        let formula = self.formula;
        let equation = &formula.equations()[id];
        // A least fixpoint quantifies over some path by its steps `<A>X`, but over all runs by a pair
        // `<->tt ∧ [A]X`. A greatest fixpoint is dual.
        let (is_mu, same, by_steps, on_runs) = match equation.sign {
            Sign::Mu => (true, Modality::Diamond, Paths::Some, Paths::All),
            Sign::Nu => (false, Modality::Box, Paths::All, Paths::Some),
        };
        let pair_of = |node: FormulaNodeId| match (formula.node(node), is_mu) {
            (FormulaNode::And(pair), true) | (FormulaNode::Or(pair), false) => {
                dual_pair(formula, pair, id, is_mu)
            }
            _ => None,
        };
        if let Some(action) = pair_of(equation.body) {
            let is_momentary = self.is_receipt(action) && paths.then(on_runs) == on_runs;
            if !is_momentary {
                self.observed.passed.push(action);
            }
            return Ok(());
        }
        let parts = match (formula.node(equation.body), is_mu) {
            (FormulaNode::Or(parts), true) | (FormulaNode::And(parts), false) => parts.as_slice(),
            _ => std::slice::from_ref(&equation.body),
        };
        let pairs: Vec<ActionId> = parts.iter().filter_map(|part| pair_of(*part)).collect();
        if pairs.len() > 1 {
            return Err(Sensitive);
        }
        // An equation quantifies over all runs or over some run, not both.
        let is_paired = !pairs.is_empty();
        let paths = paths.then(if is_paired { on_runs } else { by_steps });
        self.observed.passed.extend(pairs);
        for &part in parts {
            match formula.node(part) {
                _ if pair_of(part).is_some() => {}
                FormulaNode::Modal(modality, action, inner)
                    if *modality == same && !is_paired && !is_stuck_test(formula, part) =>
                {
                    if is_variable(formula, *inner, id) {
                        self.observed.passed.push(*action);
                    } else {
                        self.observed.awaited.push(*action);
                        self.state(*inner, paths)?;
                    }
                }
                // The whole body is one state formula without such parts.
                _ if part == equation.body => self.simple(part, Paths::Mixed)?,
                _ => self.state(part, paths)?,
            }
        }
        Ok(())
    }

    /// Visits `nu X. mu Y. φ ∨ <P>X ∨ <A>Y`, with either fixpoint outside, and the duals.
    fn recurrence(&mut self, outer: EquationId) -> Result<(), Sensitive> {
        let formula = self.formula;
        let body = formula.equation(outer).body;
        let (modality, parts) = match formula.node(body) {
            FormulaNode::Or(parts) => (Modality::Diamond, parts),
            FormulaNode::And(parts) => (Modality::Box, parts),
            _ => return Err(Sensitive),
        };
        // Exactly two equations must share the body, because a third one would be skipped.
        if formula.equations().iter().filter(|equation| equation.body == body).count() != 2 {
            return Err(Sensitive);
        }
        let before = self.within.len();
        let sharing = formula.equations().iter().enumerate().filter(|(_, equation)| equation.body == body);
        self.within.extend(sharing.map(|(id, _)| id));
        for &part in parts {
            match formula.node(part) {
                FormulaNode::Modal(found, action, inner) if *found == modality && *inner == body => {
                    self.observed.passed.push(*action);
                }
                FormulaNode::Modal(found, action, inner)
                    if *found == modality && *formula.node(*inner) == FormulaNode::Variable(outer) =>
                {
                    self.observed.awaited.push(*action);
                }
                // Any other part must be a state formula without these variables.
                _ if is_closed(formula, part, body, outer) => self.state(part, Paths::Mixed)?,
                _ => return Err(Sensitive),
            }
        }
        self.within.truncate(before);
        Ok(())
    }

    /// Whether all labels in an action set are receipts.
    fn is_receipt(&self, action: ActionId) -> bool {
        match self.formula.action(action) {
            Action::Is(pattern) => self.system.patterns[pattern.index()].is_receipt(),
            Action::Either(parts) => parts.iter().all(|part| self.is_receipt(*part)),
            Action::Any | Action::Not(_) => false,
        }
    }

    /// Whether an action set may contain a receipt.
    fn may_be_receipt(&self, action: ActionId) -> bool {
        match self.formula.action(action) {
            Action::Is(pattern) => {
                let pattern = &self.system.patterns[pattern.index()];
                match pattern.literal() {
                    Some(literal) => {
                        let functor = self.system.terms.functor(literal);
                        functor.is_none_or(|functor| self.guards.contains(&functor))
                    }
                    None => pattern.is_receipt(),
                }
            }
            Action::Either(parts) => parts.iter().any(|part| self.may_be_receipt(*part)),
            Action::Any | Action::Not(_) => true,
        }
    }
}

/// Collects the functors in constraints on receipts, in clauses and in the initial processes.
fn receipt_guards(system: &System) -> FxHashSet<Functor> {
    let (program, terms) = (&system.program, &system.terms);
    let bodies = program.clauses.iter().map(|clause| clause.body);
    let mut todo: Vec<(TermId, bool)> = bodies.map(|body| (body, false)).collect();
    todo.extend(program.agents.iter().flat_map(|agent| [(agent.now, false), (agent.start, false)]));
    let (mut seen, mut found) = (FxHashSet::default(), FxHashSet::default());
    while let Some((term, is_guard)) = todo.pop() {
        if !seen.insert((term, is_guard)) {
            continue;
        }
        if is_guard {
            found.extend(terms.functor(term));
        }
        let args = terms.args(term);
        let guards = match (terms.symbol(term), args) {
            (Some(Symbol::GUARD), [step, _]) => terms.symbol(*step) == Some(Symbol::RECEIVE),
            _ => false,
        };
        todo.extend(args.iter().map(|arg| (*arg, is_guard || guards)));
    }
    found
}

/// Whether a node does not depend on the equations that share a body.
fn is_closed(formula: &Formula, node: FormulaNodeId, body: FormulaNodeId, outer: EquationId) -> bool {
    let mut todo = vec![node];
    let mut seen = FxHashSet::default();
    while let Some(node) = todo.pop() {
        if node == body || *formula.node(node) == FormulaNode::Variable(outer) {
            return false;
        }
        if !seen.insert(node) {
            continue;
        }
        match formula.node(node) {
            FormulaNode::Constant(_) | FormulaNode::Atom(..) => {}
            FormulaNode::And(parts) | FormulaNode::Or(parts) => todo.extend(parts),
            FormulaNode::Modal(_, _, inner) => todo.push(*inner),
            FormulaNode::Variable(equation) => todo.push(formula.equation(*equation).body),
        }
    }
    true
}

/// Whether a node is the variable of an equation, which is represented by the body of the equation.
fn is_variable(formula: &Formula, node: FormulaNodeId, id: usize) -> bool {
    node == formula.equations()[id].body
}

/// Returns the equation whose body is this node; an error if there are two.
fn equation_of(formula: &Formula, node: FormulaNodeId) -> Result<Option<usize>, Sensitive> {
    let equations = formula.equations().iter().enumerate();
    let mut found = equations.filter(|(_, equation)| equation.body == node).map(|(id, _)| id);
    match (found.next(), found.next()) {
        (id, None) => Ok(id),
        // Two fixpoints share the node, as in `nu X. mu Y. ..`, and it is reached from inside.
        _ => Err(Sensitive),
    }
}

/// Whether a node is `<->tt` or `[-]ff`.
fn is_stuck_test(formula: &Formula, node: FormulaNodeId) -> bool {
    let FormulaNode::Modal(modality, action, inner) = formula.node(node) else { return false };
    let wanted = *modality == Modality::Diamond;
    *formula.action(*action) == Action::Any && *formula.node(*inner) == FormulaNode::Constant(wanted)
}

/// Returns the action A of `<->tt ∧ [A]X` for a least fixpoint, of `[-]ff ∨ <A>X` for a greatest.
fn dual_pair(formula: &Formula, pair: &[FormulaNodeId], id: usize, is_mu: bool) -> Option<ActionId> {
    let (stuck, step) =
        if is_mu { (Modality::Diamond, Modality::Box) } else { (Modality::Box, Modality::Diamond) };
    let is_stuck = |node: FormulaNodeId| {
        is_stuck_test(formula, node)
            && matches!(formula.node(node), FormulaNode::Modal(found, ..) if *found == stuck)
    };
    let action = |node: FormulaNodeId| match formula.node(node) {
        FormulaNode::Modal(found, action, inner) if *found == step && is_variable(formula, *inner, id) => {
            Some(*action)
        }
        _ => None,
    };
    match *pair {
        [one, two] if is_stuck(one) => action(two),
        [one, two] if is_stuck(two) => action(one),
        _ => None,
    }
}
