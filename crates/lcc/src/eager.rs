//! Sending at once: partial-order reduction for mailbox communication. [GKPP99]
//!
//! Where an agent can do nothing but send one message, or make one internal step, nobody can change
//! that: others only add messages or take their own. If the formula does not see the step, the state
//! may as well have that one successor; the rest happens after it, as it would have before. N agents
//! that answer a request then answer in one order instead of N!.
//!
//! The four conditions of [GKPP99] for branching time:
//!
//! ```text
//! C0  the ample set is not empty                   it has one step
//! C1  nothing that depends on it happens first     the agent has no other step and no receipt
//! C2  its step is invisible                        checked for the formula and the label, below
//! C3  no cycle leaves a step out for ever          a sending adds to the mail, and an internal step
//!                                                  leads to a state not met before; so a cycle has
//!                                                  a state that is fully expanded
//! C4  it is a single step                          it is
//! ```
//!
//! The formula must not see how many steps there are. [`Observed`] accepts the usual shapes: state
//! formulas over `final`, `deadlock`, `done`, `idle` and `at`, and over these AG, EF, AF, EG, `inev`
//! and `resp`, with action patterns on the way (`<R* . P>`, `[R* . P]`). For any other formula
//! nothing is reduced. A bound is no obstacle: where a sending would cross it, nothing is reduced.

use masque_mu::tree::{Modality, Sign};
use masque_mu::{
    Action, ActionId, AtomId, Completeness, Formula, LabelId, Lts, Node, NodeId, PatternId, StateId,
};
use rustc_hash::FxHashMap;

use crate::options::Comm;
use crate::system::System;
use crate::vocabulary::Atom;

/// What a formula sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Observed {
    /// An invisible label is in all of these: the ways on which nothing happens.
    passed: Vec<ActionId>,
    /// An invisible label is in none of these: what is waited for.
    awaited: Vec<ActionId>,
    /// The agents whose state the formula speaks of.
    agents: Vec<u32>,
    /// Whether it speaks of final states.
    is_final_seen: bool,
    /// The equations being looked at.
    within: Vec<usize>,
}

/// Not of a shape that is known to be insensitive.
struct Sensitive;

impl Observed {
    fn new(formula: &Formula, atoms: &[Atom]) -> Option<Observed> {
        let mut observed = Observed::default();
        observed.state(formula, atoms, formula.root()).ok()?;
        Some(observed)
    }

    /// A state formula.
    fn state(&mut self, formula: &Formula, atoms: &[Atom], node: NodeId) -> Result<(), Sensitive> {
        if let Some(id) = equation_of(formula, node)? {
            if self.within.contains(&id) {
                return Err(Sensitive);
            }
            self.within.push(id);
            let result = self.equation(formula, atoms, id);
            self.within.pop();
            return result;
        }
        self.simple(formula, atoms, node)
    }

    /// A state formula that is no fixpoint.
    fn simple(&mut self, formula: &Formula, atoms: &[Atom], node: NodeId) -> Result<(), Sensitive> {
        match formula.node(node) {
            Node::Constant(_) => Ok(()),
            Node::Atom(atom, _) => {
                match atoms.get(atom.index()) {
                    Some(Atom::Final) => self.is_final_seen = true,
                    Some(Atom::Done(agent) | Atom::Idle(agent) | Atom::At(agent, _)) => {
                        self.agents.push(*agent)
                    }
                    None => return Err(Sensitive),
                }
                Ok(())
            }
            Node::And(parts) | Node::Or(parts) => {
                parts.iter().try_for_each(|part| self.state(formula, atoms, *part))
            }
            // Stuck, or not: a state that a sending leaves is not stuck, and if the one it leads to
            // is, nothing else could be done before either.
            Node::Modal(..) if is_stuckness(formula, node) => Ok(()),
            Node::Modal(..) => Err(Sensitive),
            Node::Variable(_) => Err(Sensitive),
        }
    }

    /// `mu X. φ ∨ <B>ψ ∨ <A>X`, `mu X. φ ∨ (<->tt ∧ [A]X)`, and their duals.
    fn equation(&mut self, formula: &Formula, atoms: &[Atom], id: usize) -> Result<(), Sensitive> {
        let equation = &formula.equations()[id];
        let (outer, same, other) = match equation.sign {
            Sign::Mu => (true, Modality::Diamond, Modality::Box),
            Sign::Nu => (false, Modality::Box, Modality::Diamond),
        };
        let parts = match (formula.node(equation.body), outer) {
            (Node::Or(parts), true) | (Node::And(parts), false) => {
                if is_dual_pair(formula, parts, other, id, outer) {
                    vec![equation.body]
                } else {
                    parts.clone()
                }
            }
            _ => vec![equation.body],
        };
        let (mut n_steps, mut n_pairs) = (0, 0);
        for part in parts {
            match formula.node(part) {
                Node::Modal(modality, action, inner) if *modality == same && !is_stuckness(formula, part) => {
                    if is_variable(formula, *inner, id) {
                        self.passed.push(*action);
                    } else {
                        self.awaited.push(*action);
                        self.state(formula, atoms, *inner)?;
                    }
                    n_steps += 1;
                }
                Node::And(pair) if outer && is_dual_pair(formula, pair, other, id, outer) => {
                    self.pass_pair(formula, pair, other);
                    n_pairs += 1;
                }
                Node::Or(pair) if !outer && is_dual_pair(formula, pair, other, id, outer) => {
                    self.pass_pair(formula, pair, other);
                    n_pairs += 1;
                }
                // What is no such part is the whole body, where that is one state formula.
                _ if part == equation.body => self.simple(formula, atoms, part)?,
                _ => self.state(formula, atoms, part)?,
            }
        }
        // On every run or on some run: not both in one equation.
        if n_pairs > 1 || (n_pairs == 1 && n_steps > 0) { Err(Sensitive) } else { Ok(()) }
    }

    fn pass_pair(&mut self, formula: &Formula, pair: &[NodeId], modality: Modality) {
        for part in pair.iter().filter(|part| !is_stuckness(formula, **part)) {
            if let Node::Modal(found, action, _) = formula.node(*part)
                && *found == modality
            {
                self.passed.push(*action);
            }
        }
    }
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
        // Two fixpoints in one node, as in `nu X. mu Y. ..`: they alternate.
        _ => Err(Sensitive),
    }
}

/// `<->tt` or `[-]ff`.
fn is_stuckness(formula: &Formula, node: NodeId) -> bool {
    let Node::Modal(modality, action, inner) = formula.node(node) else { return false };
    let wanted = *modality == Modality::Diamond;
    *formula.action(*action) == Action::Any && *formula.node(*inner) == Node::Constant(wanted)
}

/// `<->tt ∧ [A]X` for a least fixpoint, `[-]ff ∨ <A>X` for a greatest.
fn is_dual_pair(formula: &Formula, pair: &[NodeId], modality: Modality, id: usize, outer: bool) -> bool {
    let stuckness = pair.iter().filter(|node| {
        let wanted = if outer { Modality::Diamond } else { Modality::Box };
        is_stuckness(formula, **node)
            && matches!(formula.node(**node), Node::Modal(found, ..) if *found == wanted)
    });
    let steps = pair.iter().filter(|node| {
        matches!(formula.node(**node), Node::Modal(found, _, inner)
            if *found == modality && is_variable(formula, *inner, id))
    });
    pair.len() == 2 && stuckness.count() == 1 && steps.count() == 1
}

/// A system in which agents send at once what the formula does not see.
#[derive(Debug)]
pub struct Eager<'s> {
    system: &'s mut System,
    formula: &'s Formula,
    observed: Observed,
    visible: FxHashMap<LabelId, bool>,
    /// What was decided for each state: asking twice gives the same answer.
    chosen: FxHashMap<StateId, Option<(LabelId, StateId)>>,
}

impl<'s> Eager<'s> {
    /// The reduced system for a formula, if the formula cannot see the difference.
    pub fn new(system: &'s mut System, formula: &'s Formula) -> Option<Eager<'s>> {
        let observed = Observed::new(formula, &system.atoms)?;
        let is_mailbox = system.program.options.comm == Comm::Mailbox;
        is_mailbox.then(|| Eager {
            system,
            formula,
            observed,
            visible: FxHashMap::default(),
            chosen: FxHashMap::default(),
        })
    }

    fn is_in(&mut self, action: ActionId, label: LabelId) -> bool {
        match self.formula.action(action).clone() {
            Action::Any => true,
            Action::Is(pattern) => self.system.matches(label, pattern),
            Action::Not(inner) => !self.is_in(inner, label),
            Action::Either(parts) => parts.into_iter().any(|part| self.is_in(part, label)),
        }
    }

    fn is_visible(&mut self, label: LabelId) -> bool {
        if let Some(known) = self.visible.get(&label) {
            return *known;
        }
        let Observed { passed, awaited, .. } = self.observed.clone();
        let is_visible = passed.into_iter().any(|action| !self.is_in(action, label))
            || awaited.into_iter().any(|action| self.is_in(action, label));
        self.visible.insert(label, is_visible);
        is_visible
    }

    /// The one step that stands for all, if there is one.
    fn ample(&mut self, state: StateId) -> Option<(LabelId, StateId)> {
        if let Some(chosen) = self.chosen.get(&state) {
            return *chosen;
        }
        let n_agents = self.system.program.agents.len();
        let chosen = (0..n_agents).find_map(|agent| self.ample_of(state, agent));
        self.chosen.insert(state, chosen);
        chosen
    }

    fn ample_of(&mut self, state: StateId, agent: usize) -> Option<(LabelId, StateId)> {
        // A server that begins by itself leaves a state that may be final.
        if self.observed.agents.contains(&(agent as u32)) || self.system.is_idle(state, agent) {
            return None;
        }
        let n_states = self.system.n_states();
        let only = self.system.only_step(state, agent)?;
        let is_new = only.target.index() >= n_states;
        let is_seen = self.observed.is_final_seen && self.system.is_final(only.target);
        let is_good = (only.is_sending || is_new) && !is_seen && !self.is_visible(only.label);
        is_good.then_some((only.label, only.target))
    }
}

impl Lts for Eager<'_> {
    fn initial(&mut self) -> StateId {
        self.system.initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        match self.ample(state) {
            Some((label, target)) => {
                step(label, target);
                Completeness::Complete
            }
            None => self.system.successors(state, step),
        }
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.system.holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.system.matches(label, pattern)
    }
}
