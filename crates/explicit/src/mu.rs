//! The mu-calculus: fixpoints by iteration, and steps restricted by the agents' actions.
//!
//! A fixpoint's body is labelled repeatedly, with the current value of the variable, until
//! nothing changes. An inner fixpoint of the same kind as the outer one continues from its last value,
//! because that is below (or, for greatest fixpoints, above) its next one; only fixpoints of the other
//! kind are reset. So the number of iterations grows with the
//! alternation depth, not with the nesting depth. [EL86 §4; CGP99 §7.4]

use std::rc::Rc;

use masque_model::{ActionId, Expr, ExprId, Fixpoints, Formula, FormulaId, Formulas, System, semantics};
use masque_verdict::{Budget, Stop, Why};
use rustc_hash::FxHashSet;

use crate::bitset::Bitset;
use crate::graph::{Edges, Graph};
use crate::jobs::Jobs;
use crate::label::Labeller;
use crate::labelling::{StoredStates, known, label_one};
use crate::labels::OpenLabels;
use crate::moves::Odometer;
use crate::steps::Steps;
use crate::store::Store;
use crate::successors::Stepper;

/// `⟦μZ. φ⟧` and `⟦νZ. φ⟧`, given the labels of all closed formulas inside.
pub(crate) fn fixpoint<'s>(
    states: &mut impl StoredStates<'s>,
    formula: FormulaId,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let formulas = &states.system().formulas;
    let (variable, body, is_least) = match formulas.get(formula) {
        Formula::Least(z, body) => (z, body, true),
        Formula::Greatest(z, body) => (z, body, false),
        _ => return Err(Why::Unsupported.into()),
    };
    let n_states = states.n_states();
    let labels = states.labels();
    let is_open = labels.fixpoints.is_open(formula);
    if !is_open {
        labels.open = OpenLabels::default();
    }
    let bound = formulas.ids().find(|&id| formulas.get(id) == Formula::Bound(variable));
    let parts = open_parts(formulas, &labels.fixpoints, body);
    let reset = other_kind(formulas, &labels.fixpoints, body, is_least);
    let mut set = match labels.open.reached.get(&formula) {
        Some(reached) => Rc::clone(reached),
        None if is_least => Rc::new(Bitset::empty(n_states)),
        None => labels.scope().domain,
    };
    loop {
        budget.check()?;
        let open = &mut states.labels().open;
        if let Some(bound) = bound {
            open.sets.insert(bound, Rc::clone(&set));
        }
        for inner in &reset {
            open.reached.remove(inner);
        }
        for &part in &parts {
            // The labels of the variables in scope are set already.
            if !matches!(formulas.get(part), Formula::Bound(_)) {
                let value = Rc::new(label_one(states, part, budget)?);
                states.check_memory(value.bytes(), budget)?;
                states.labels().open.sets.insert(part, value);
            }
        }
        let next = known(states, body)?;
        if !states.any(next != set)? {
            break;
        }
        set = next;
    }
    let open = &mut states.labels().open;
    if is_open {
        open.reached.insert(formula, Rc::clone(&set));
    } else {
        // No open label is needed any more.
        *open = OpenLabels::default();
    }
    Ok((*set).clone())
}

impl Labeller<'_> {
    /// Returns the transitions by joint actions that satisfy a condition. They are computed once and kept.
    pub(crate) fn steps_with(&mut self, condition: ExprId, budget: &Budget) -> Result<Rc<Graph>, Stop> {
        if let Some((_, graph)) = self.steps_with.iter().find(|(known, _)| *known == condition) {
            return Ok(Rc::clone(graph));
        }
        let base = self.bytes();
        let mut finder = StepsWith::new(self.system, &self.steps, condition, budget);
        let graph = Rc::new(steps_with(&mut finder, &self.space.store, base, &self.jobs, budget)?);
        self.check_memory(graph.bytes(), budget)?;
        self.steps_with.push((condition, Rc::clone(&graph)));
        Ok(graph)
    }
}

/// Returns the open formulas inside a fixpoint's body, operands first. They include open inner fixpoints
/// but not the formulas inside these.
fn open_parts(formulas: &Formulas, fixpoints: &Fixpoints, body: FormulaId) -> Vec<FormulaId> {
    let mut parts = FxHashSet::default();
    let is_path = formulas.path_formulas();
    let mut stack = vec![body];
    let mut seen = FxHashSet::default();
    while let Some(id) = stack.pop() {
        if !fixpoints.is_open(id) || !seen.insert(id) {
            continue;
        }
        if !is_path[id.index()] {
            parts.insert(id);
        }
        if !matches!(formulas.get(id), Formula::Least(..) | Formula::Greatest(..)) {
            formulas.each_operand(id, |operand| stack.push(operand));
        }
    }
    let mut parts: Vec<FormulaId> = parts.into_iter().collect();
    parts.sort_unstable();
    parts
}

/// Returns the open fixpoints inside a body that must restart when the outer one, least or greatest, has
/// changed: those of the other kind, where a negation in between changes the kind.
fn other_kind(formulas: &Formulas, fixpoints: &Fixpoints, body: FormulaId, is_least: bool) -> Vec<FormulaId> {
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut stack = vec![(body, false)];
    while let Some((id, is_odd)) = stack.pop() {
        if !fixpoints.is_open(id) || !seen.insert((id, is_odd)) {
            continue;
        }
        match formulas.get(id) {
            Formula::Least(..) if is_least == is_odd => found.push(id),
            Formula::Greatest(..) if is_least != is_odd => found.push(id),
            _ => {}
        }
        match formulas.get(id) {
            Formula::Not(f) => stack.push((f, !is_odd)),
            Formula::Implies(f, g) => stack.extend([(f, !is_odd), (g, is_odd)]),
            Formula::Iff(f, g) => stack.extend([(f, true), (f, false), (g, true), (g, false)]),
            _ => formulas.each_operand(id, |operand| stack.push((operand, is_odd))),
        }
    }
    found
}

/// Finds the transitions by joint actions that satisfy the condition of `finder`.
fn steps_with(
    finder: &mut StepsWith<'_>,
    store: &Store,
    base: u64,
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Graph, Stop> {
    let mut edges = Edges::default();
    let mut found: Vec<u32> = Vec::new();
    for state in 0..store.len() {
        if state % 1024 == 0 {
            budget.check()?;
            budget.check_memory(base + edges.bytes())?;
        }
        found.clear();
        finder.expand(store.row(state), |next| {
            found.push(store.find(next).ok_or(Stop::from(Why::Unsupported))?);
            Ok(())
        })?;
        edges.add_source(&mut found)?;
    }
    edges.into_graph(jobs, budget, base)
}

/// Finds the successors of one state after the other by joint actions that satisfy a condition.
///
/// Only the actions that the condition reads are chosen one by one; the others are combined as in
/// exploration.
pub struct StepsWith<'a> {
    system: &'a System,
    steps: &'a Steps<'a>,
    stepper: Stepper<'a>,
    condition: ExprId,
    /// The agents whose actions the condition reads.
    agents: Vec<usize>,
}

impl<'a> StepsWith<'a> {
    pub(crate) fn new(
        system: &'a System,
        steps: &'a Steps<'a>,
        condition: ExprId,
        budget: &'a Budget,
    ) -> StepsWith<'a> {
        let agents = agents_read(system, condition);
        StepsWith { system, steps, stepper: Stepper::new(steps, budget), condition, agents }
    }

    /// Calls `found` for each successor of a packed state by such a joint action. A successor may be found
    /// twice.
    pub fn expand(
        &mut self,
        row: &[u64],
        mut found: impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let state = self.steps.layout.unpack(self.system, row);
        let enabled = self.stepper.enabled_actions(row);
        let mut joint = vec![ActionId(0); self.system.agents.len()];
        let lists: Vec<&[u32]> = self.agents.iter().map(|&agent| &enabled[agent][..]).collect();
        let mut choice = Odometer::new(&lists);
        while let Some(chosen) = choice.next() {
            for (&agent, &action) in self.agents.iter().zip(&chosen) {
                joint[agent] = ActionId(action);
                self.stepper.only(agent, Some(action));
            }
            if semantics::is_true(self.system, self.condition, &state, &joint) {
                self.stepper.expand(row, &mut found)?;
            }
        }
        self.agents.iter().for_each(|&agent| self.stepper.only(agent, None));
        Ok(())
    }
}

/// Returns the agents whose actions a condition reads, in increasing order.
fn agents_read(system: &System, condition: ExprId) -> Vec<usize> {
    let parts = crate::bounds::parts(&system.exprs, [condition]);
    let mut agents: Vec<usize> = parts
        .into_iter()
        .filter_map(|part| match system.exprs.get(part) {
            Expr::ActionIs(agent, _) => Some(agent.index()),
            _ => None,
        })
        .collect();
    agents.sort_unstable();
    agents.dedup();
    agents
}
