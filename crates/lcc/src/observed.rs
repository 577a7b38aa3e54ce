//! What a formula sees of a protocol in which agents send at once.
//!
//! ```text
//! φ  ::=  final | done(i) | idle(i) | at(i, r) | φ ∧ φ | φ ∨ φ
//!      |  mu X. φ ∨ <P>φ ∨ <A>X          EF φ, <A* . P>φ          AG, [A* . P] are their duals
//!      |  mu X. φ ∨ (<->tt ∧ [A]X)       AF φ, inev(P)            EG is its dual
//!      |  nu X. mu Y. φ ∨ <P>X ∨ <A>Y    again and again P        and mu X. nu Y., and their duals
//!      |  <B>φ, [B]φ                     where B is never a receipt: what is offered
//! U  ::=  φ | <->tt | mu X. <->tt ∧ [R]X                           where R is receipts only
//!      |  U ∧ U | U ∨ U | AG U, [A* . P]U | AF U
//! ```
//!
//! Formulas φ are those of CTL*-X, with action patterns on the way: they are the same in a state and
//! in those that it comes to by steps that are not seen, as [GKPP99] shows. A step is not seen if it
//! is in all A (`passed`) and in no P or B (`awaited`, `offered`), and changes no atom.
//!
//! That a state is not stuck is not of this kind: it may be so only because something is still to be
//! sent. Nor is `mu X. <->tt ∧ [R]X`, that no receipts in R lead to where nothing can be done. But where
//! some agent can only send, or only make an internal step, both are true: no receipt of others takes
//! that step away, and receipts use the mail up. So if such a formula is false in a state, nothing is
//! still to be sent there that the reduced system has sent before; then the reduced system comes to this
//! very state by the same visible steps. Where it must hold on all ways (U), the reduced system is
//! as good as the whole; its negation may stand where some way is asked for.

use masque_mu::tree::{Modality, Sign};
use masque_mu::{Action, ActionId, EquationId, Formula, Node, NodeId};
use rustc_hash::FxHashSet;

use crate::symbol::Symbol;
use crate::system::System;
use crate::term::{Functor, TermId};
use crate::vocabulary::Atom;

/// What a formula sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Observed {
    /// An invisible label is in all of these: the ways on which nothing happens.
    pub(crate) passed: Vec<ActionId>,
    /// An invisible label is in none of these: what is waited for.
    pub(crate) awaited: Vec<ActionId>,
    /// An invisible label is in none of these, and an invisible step does not make them possible.
    pub(crate) offered: Vec<ActionId>,
    /// The agents whose state the formula speaks of.
    pub(crate) agents: Vec<u32>,
    /// Whether it speaks of final states.
    pub(crate) is_final_seen: bool,
}

/// Which ways lead to a part of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ways {
    /// None: it is about the first state.
    First,
    /// It must hold on all ways.
    All,
    /// It must hold on some way.
    Some,
    /// Neither.
    Mixed,
}

impl Ways {
    /// The ways to a part that itself asks for all, or for some.
    fn then(self, ways: Ways) -> Ways {
        if self == Ways::First || self == ways { ways } else { Ways::Mixed }
    }
}

/// Not of a shape that is known to be insensitive.
struct Sensitive;

struct Reader<'s> {
    formula: &'s Formula,
    system: &'s System,
    /// What occurs in constraints on receipts.
    guards: FxHashSet<Functor>,
    /// The equations being looked at.
    within: Vec<usize>,
    observed: Observed,
}

impl Observed {
    /// What a formula sees, if it cannot see how many steps there are.
    pub(crate) fn new(formula: &Formula, system: &System) -> Option<Observed> {
        let (guards, within, observed) = (receipt_guards(system), Vec::new(), Observed::default());
        let mut reader = Reader { formula, system, guards, within, observed };
        reader.state(formula.root(), Ways::First).ok()?;
        Some(reader.observed)
    }
}

impl Reader<'_> {
    /// A state formula.
    fn state(&mut self, node: NodeId, ways: Ways) -> Result<(), Sensitive> {
        if let Node::Variable(outer) = self.formula.node(node) {
            return self.recurrence(*outer);
        }
        let Some(id) = equation_of(self.formula, node)? else { return self.simple(node, ways) };
        if self.within.contains(&id) {
            return Err(Sensitive);
        }
        self.within.push(id);
        let result = self.equation(id, ways);
        self.within.pop();
        result
    }

    /// A state formula that is no fixpoint.
    fn simple(&mut self, node: NodeId, ways: Ways) -> Result<(), Sensitive> {
        match self.formula.node(node) {
            Node::Constant(_) => Ok(()),
            Node::Atom(atom, _) => {
                match self.system.atoms.get(atom.index()) {
                    Some(Atom::Final) => self.observed.is_final_seen = true,
                    Some(Atom::Done(agent) | Atom::Idle(agent) | Atom::At(agent, _)) => {
                        self.observed.agents.push(*agent)
                    }
                    None => return Err(Sensitive),
                }
                Ok(())
            }
            Node::And(parts) | Node::Or(parts) => parts.iter().try_for_each(|part| self.state(*part, ways)),
            Node::Modal(modality, ..) if is_stuckness(self.formula, node) => {
                let needed = if *modality == Modality::Diamond { Ways::All } else { Ways::Some };
                if ways.then(needed) == needed { Ok(()) } else { Err(Sensitive) }
            }
            Node::Modal(_, action, inner) if !self.may_be_receipt(*action) => {
                self.observed.offered.push(*action);
                self.state(*inner, Ways::Mixed)
            }
            Node::Modal(..) | Node::Variable(_) => Err(Sensitive),
        }
    }

    /// `mu X. φ ∨ <P>φ ∨ <A>X`, `mu X. φ ∨ (<->tt ∧ [A]X)`, and their duals.
    fn equation(&mut self, id: usize, ways: Ways) -> Result<(), Sensitive> {
        let formula = self.formula;
        let equation = &formula.equations()[id];
        // By its steps a least fixpoint asks for some way, but by a pair for all runs.
        let (is_mu, same, by_steps, on_runs) = match equation.sign {
            Sign::Mu => (true, Modality::Diamond, Ways::Some, Ways::All),
            Sign::Nu => (false, Modality::Box, Ways::All, Ways::Some),
        };
        let pair_of = |node: NodeId| match (formula.node(node), is_mu) {
            (Node::And(pair), true) | (Node::Or(pair), false) => dual_pair(formula, pair, id, is_mu),
            _ => None,
        };
        if let Some(action) = pair_of(equation.body) {
            let is_momentary = self.is_receipt(action) && ways.then(on_runs) == on_runs;
            if !is_momentary {
                self.observed.passed.push(action);
            }
            return Ok(());
        }
        let parts = match (formula.node(equation.body), is_mu) {
            (Node::Or(parts), true) | (Node::And(parts), false) => parts.as_slice(),
            _ => std::slice::from_ref(&equation.body),
        };
        let pairs: Vec<ActionId> = parts.iter().filter_map(|part| pair_of(*part)).collect();
        if pairs.len() > 1 {
            return Err(Sensitive);
        }
        // On every run or on some run: not both in one equation.
        let is_paired = !pairs.is_empty();
        let ways = ways.then(if is_paired { on_runs } else { by_steps });
        self.observed.passed.extend(pairs);
        for &part in parts {
            match formula.node(part) {
                _ if pair_of(part).is_some() => {}
                Node::Modal(modality, action, inner)
                    if *modality == same && !is_paired && !is_stuckness(formula, part) =>
                {
                    if is_variable(formula, *inner, id) {
                        self.observed.passed.push(*action);
                    } else {
                        self.observed.awaited.push(*action);
                        self.state(*inner, ways)?;
                    }
                }
                // What is no such part is the whole body, where that is one state formula.
                _ if part == equation.body => self.simple(part, Ways::Mixed)?,
                _ => self.state(part, ways)?,
            }
        }
        Ok(())
    }

    /// `nu X. mu Y. φ ∨ <P>X ∨ <A>Y`, with either sign outside, and the duals.
    fn recurrence(&mut self, outer: EquationId) -> Result<(), Sensitive> {
        let formula = self.formula;
        let body = formula.equation(outer).body;
        let (modality, parts) = match formula.node(body) {
            Node::Or(parts) => (Modality::Diamond, parts),
            Node::And(parts) => (Modality::Box, parts),
            _ => return Err(Sensitive),
        };
        // Exactly two equations share the body: a third would be passed without being seen.
        if formula.equations().iter().filter(|equation| equation.body == body).count() != 2 {
            return Err(Sensitive);
        }
        let before = self.within.len();
        let sharing = formula.equations().iter().enumerate().filter(|(_, equation)| equation.body == body);
        self.within.extend(sharing.map(|(id, _)| id));
        for &part in parts {
            match formula.node(part) {
                Node::Modal(found, action, inner) if *found == modality && *inner == body => {
                    self.observed.passed.push(*action);
                }
                Node::Modal(found, action, inner)
                    if *found == modality && *formula.node(*inner) == Node::Variable(outer) =>
                {
                    self.observed.awaited.push(*action);
                }
                // All else is a state formula that knows nothing of these variables.
                _ if is_closed(formula, part, body, outer) => self.state(part, Ways::Mixed)?,
                _ => return Err(Sensitive),
            }
        }
        self.within.truncate(before);
        Ok(())
    }

    /// Whether all labels in a set are receipts.
    fn is_receipt(&self, action: ActionId) -> bool {
        match self.formula.action(action) {
            Action::Is(pattern) => self.system.patterns[pattern.index()].is_receipt(),
            Action::Either(parts) => parts.iter().all(|part| self.is_receipt(*part)),
            Action::Any | Action::Not(_) => false,
        }
    }

    /// Whether a receipt may be in a set.
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

/// All that occurs in constraints on receipts, in clauses and in processes given at the start.
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
        found.extend(terms.functor(term).filter(|_| is_guard));
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
fn is_closed(formula: &Formula, node: NodeId, body: NodeId, outer: EquationId) -> bool {
    let mut todo = vec![node];
    let mut seen = FxHashSet::default();
    while let Some(node) = todo.pop() {
        if node == body || *formula.node(node) == Node::Variable(outer) {
            return false;
        }
        if !seen.insert(node) {
            continue;
        }
        match formula.node(node) {
            Node::Constant(_) | Node::Atom(..) => {}
            Node::And(parts) | Node::Or(parts) => todo.extend(parts),
            Node::Modal(_, _, inner) => todo.push(*inner),
            Node::Variable(equation) => todo.push(formula.equation(*equation).body),
        }
    }
    true
}

/// Whether a node stands for the variable of an equation: that is the same as its body.
fn is_variable(formula: &Formula, node: NodeId, id: usize) -> bool {
    node == formula.equations()[id].body
}

/// The equation that a node is the body of.
fn equation_of(formula: &Formula, node: NodeId) -> Result<Option<usize>, Sensitive> {
    let equations = formula.equations().iter().enumerate();
    let mut found = equations.filter(|(_, equation)| equation.body == node).map(|(id, _)| id);
    match (found.next(), found.next()) {
        (id, None) => Ok(id),
        // Two fixpoints in one node, as in `nu X. mu Y. ..`, met from inside.
        _ => Err(Sensitive),
    }
}

/// `<->tt` or `[-]ff`.
fn is_stuckness(formula: &Formula, node: NodeId) -> bool {
    let Node::Modal(modality, action, inner) = formula.node(node) else { return false };
    let wanted = *modality == Modality::Diamond;
    *formula.action(*action) == Action::Any && *formula.node(*inner) == Node::Constant(wanted)
}

/// The action of `<->tt ∧ [A]X` for a least fixpoint, of `[-]ff ∨ <A>X` for a greatest.
fn dual_pair(formula: &Formula, pair: &[NodeId], id: usize, is_mu: bool) -> Option<ActionId> {
    let (stuck, step) = match is_mu {
        true => (Modality::Diamond, Modality::Box),
        false => (Modality::Box, Modality::Diamond),
    };
    let is_stuck = |node: NodeId| {
        is_stuckness(formula, node) && matches!(formula.node(node), Node::Modal(found, ..) if *found == stuck)
    };
    let action = |node: NodeId| match formula.node(node) {
        Node::Modal(found, action, inner) if *found == step && is_variable(formula, *inner, id) => {
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
