//! Evidence: what shows a verdict, and its replay on the checked system.

use std::cmp::Ordering;
use std::fmt;

use masque_model::semantics::{enabled_actions, is_green, is_true};
use masque_model::{AgentId, At, Domain, Formula, FormulaId, Paths, Property, System, VarId};

use crate::{JointAction, State, leads_to};

/// What shows a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// For a property that fails: a path to a state that shows it. If the property is `AG φ` (or a
    /// conjunction with such a conjunct that fails) this is a state where `φ` is false, otherwise a
    /// state where the property must be true and is not.
    Path(Path),
}

/// A finite path from an initial state.
///
/// The paths in evidence and facts are canonical, so that all engines show the same: of the paths
/// to any of the states in question first the shortest; of these the one whose sequence of states
/// is least, in the order of [`compare_states`]; and each step with the least joint action that
/// makes it, in lexicographic order of action ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// At least one; the first is initial.
    pub states: Vec<State>,
    /// One fewer: `actions[k]` leads from `states[k]` to `states[k + 1]`.
    pub actions: Vec<JointAction>,
}

/// The canonical order of states: variable by variable, by the values' position in their domain.
///
/// A value outside its domain, which no state has, comes first.
pub fn compare_states(system: &System, left: &[i64], right: &[i64]) -> Ordering {
    let differing = (system.variables.iter().zip(left).zip(right)).find(|((_, l), r)| l != r);
    match differing {
        None => left.len().cmp(&right.len()),
        Some(((variable, l), r)) => match variable.domain {
            Domain::Boolean | Domain::Integers(..) => l.cmp(r),
            Domain::Values(_) => variable.domain.code(*l).cmp(&variable.domain.code(*r)),
        },
    }
}

/// Why evidence is refused. Steps are counted from 0; step `k` leads to state `k + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// There is no state, or not one action fewer than states, or a row of the wrong length.
    Shape,
    /// A state has a value that is not in its variable's domain.
    NotInDomain {
        /// The state's position.
        state: usize,
        /// The variable.
        variable: VarId,
    },
    /// The first state does not satisfy InitStates.
    NotInitial,
    /// An agent performs an action that its protocol does not enable.
    NotEnabled {
        /// The step.
        step: usize,
        /// The agent.
        agent: AgentId,
    },
    /// The joint action does not lead to the next state.
    NotASuccessor {
        /// The step.
        step: usize,
    },
    /// The path is legal, but its last state does not falsify what it should.
    ShowsNothing,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Shape => f.write_str("the path is malformed"),
            ReplayError::NotInDomain { state, variable } => {
                write!(f, "variable {} of state {state} is outside its domain", variable.0)
            }
            ReplayError::NotInitial => f.write_str("the first state is not initial"),
            ReplayError::NotEnabled { step, agent } => {
                write!(f, "agent {} may not act so in step {step}", agent.0)
            }
            ReplayError::NotASuccessor { step } => write!(f, "step {step} does not lead to its next state"),
            ReplayError::ShowsNothing => f.write_str("the last state does not falsify the property"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Confirms evidence for a property that fails, from the definition alone.
///
/// The path must be legal ([`replay_path`]). Whether its last state shows the failure is confirmed
/// as far as the formula speaks of that state only: propositions, conditions, green and red, and
/// the connectives. Temporal and epistemic parts are taken on trust.
pub fn replay(system: &System, property: &Property, evidence: &Evidence) -> Result<(), ReplayError> {
    let Evidence::Path(path) = evidence;
    replay_path(system, path)?;
    let at_start = property.at == At::Reachable || path.actions.is_empty();
    match path.states.last() {
        Some(last) if may_fail(system, property.formula, last, at_start) => Ok(()),
        _ => Err(ReplayError::ShowsNothing),
    }
}

/// Confirms that a path starts in an initial state and that each step is one of the system.
pub fn replay_path(system: &System, path: &Path) -> Result<(), ReplayError> {
    let well_shaped = path.states.len() == path.actions.len() + 1
        && path.states.iter().all(|s| s.len() == system.variables.len())
        && path.actions.iter().all(|a| a.len() == system.agents.len());
    if !well_shaped {
        return Err(ReplayError::Shape);
    }
    for (position, state) in path.states.iter().enumerate() {
        if let Some(variable) =
            system.variable_ids().find(|v| !system.variable(*v).domain.contains(state[v.index()]))
        {
            return Err(ReplayError::NotInDomain { state: position, variable });
        }
    }
    if !is_true(system, system.initial, &path.states[0], &[]) {
        return Err(ReplayError::NotInitial);
    }
    for (step, joint) in path.actions.iter().enumerate() {
        let state = &path.states[step];
        if let Some(agent) =
            system.agent_ids().find(|&i| !enabled_actions(system, i, state).contains(&joint[i.index()]))
        {
            return Err(ReplayError::NotEnabled { step, agent });
        }
        if !leads_to(system, state, joint, &path.states[step + 1]) {
            return Err(ReplayError::NotASuccessor { step });
        }
    }
    Ok(())
}

/// Whether a property may fail because of `state`: some `AG φ` among its conjuncts has a `φ` that
/// may be false there, or, where `at_start`, it may itself be false there.
fn may_fail(system: &System, formula: FormulaId, state: &[i64], at_start: bool) -> bool {
    if let Formula::And(list) = system.formulas.get(formula) {
        return list.iter().any(|&f| may_fail(system, f, state, at_start));
    }
    if let Formula::Forall(Paths::Ctl, path) = system.formulas.get(formula)
        && let Formula::Globally(phi) = system.formulas.get(path)
    {
        return local_truth(system, phi, state) != Some(true);
    }
    at_start && local_truth(system, formula, state) != Some(true)
}

/// The truth of a formula at `state`, if it depends on that state only.
fn local_truth(system: &System, formula: FormulaId, state: &[i64]) -> Option<bool> {
    let of = |f: FormulaId| local_truth(system, f, state);
    match system.formulas.get(formula) {
        Formula::Bool(b) => Some(b),
        Formula::Proposition(p) => {
            Some(is_true(system, system.propositions[p.index()].condition, state, &[]))
        }
        Formula::Condition(condition) => Some(is_true(system, condition, state, &[])),
        Formula::Green(agent) => Some(is_green(system, agent, state)),
        Formula::Red(agent) => Some(!is_green(system, agent, state)),
        Formula::Not(f) => of(f).map(|b| !b),
        Formula::And(list) => junction(list.iter().map(|&f| of(f)), true),
        Formula::Or(list) => junction(list.iter().map(|&f| of(f)), false),
        Formula::Implies(f, g) => junction([of(f).map(|b| !b), of(g)].into_iter(), false),
        Formula::Iff(f, g) => Some(of(f)? == of(g)?),
        _ => None,
    }
}

/// A conjunction (`neutral` is true) or disjunction of truths that may be missing.
fn junction(truths: impl Iterator<Item = Option<bool>>, neutral: bool) -> Option<bool> {
    let mut result = Some(neutral);
    for truth in truths {
        match truth {
            Some(b) if b != neutral => return Some(b),
            Some(_) => {}
            None => result = None,
        }
    }
    result
}
