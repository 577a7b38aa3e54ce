//! Replays evidence: states, paths and steps first, then each reason.
//!
//! What replay cannot check is listed in [`Trusted`]: claims that are not shown; with fairness constraints,
//! that a fair path starts at the end of each finite path; and dead ends with too many joint actions to try
//! them all.

use masque_model::semantics::{enabled_actions, is_true};
use masque_model::{AgentId, At, Deadlock, Property, System, VarId};
use masque_verdict::claims::local_formulas;
use masque_verdict::{Evidence, EvidencePath, JointAction, Moves, Path, ReasonId, State};

use crate::fault::{ReplayError, Trusted};
use crate::reason::Case;
use crate::wellformed::WellFormed;

/// Confirms that a path starts at an initial state and that each step is a step of the system.
pub fn replay_path(system: &System, path: &Path) -> Result<(), ReplayError> {
    let replayer = Replayer::new(system, &path.states)?;
    let states: Vec<&State> = path.states.iter().collect();
    replayer.is_initial(states.first().copied())?;
    replayer.steps(&states, path.actions.iter().map(Some))
}

/// Confirms the evidence for a property that holds (`holds`) or fails, by the definition alone. Returns what
/// is taken on trust.
pub fn replay(
    system: &System,
    property: &Property,
    holds: bool,
    evidence: &Evidence,
) -> Result<Trusted, ReplayError> {
    let replayer = Replayer::new(system, &evidence.states)?;
    let well_formed = WellFormed::new(evidence)?;
    let Evidence { start, reasons, .. } = evidence;
    replayer.run(well_formed, start, true)?;
    let Some(root) = reasons.first() else { return Err(ReplayError::Shape) };
    let is_start = start.back_to.is_none()
        && start.last() == Some(root.state)
        && (property.at == At::Reachable || start.states.len() == 1);
    if (root.formula, root.holds) != (property.formula, holds) || !is_start {
        return Err(ReplayError::OtherProperty);
    }
    let mut trusted = Trusted::default();
    for (id, reason) in (0..).map(ReasonId).zip(reasons) {
        replayer.reason(Case { evidence: well_formed, id, reason }, &mut trusted)?;
    }
    trusted.fair.sort_unstable();
    trusted.fair.dedup();
    trusted.constraints.sort_unstable();
    trusted.constraints.dedup();
    Ok(trusted)
}

/// Checks evidence on a system.
pub(crate) struct Replayer<'s> {
    pub(crate) system: &'s System,
    pub(crate) moves: Moves<'s>,
    /// For each formula, whether it is local.
    pub(crate) is_local: Vec<bool>,
}

impl<'s> Replayer<'s> {
    /// Checks that these are states of the system.
    fn new(system: &'s System, states: &[State]) -> Result<Replayer<'s>, ReplayError> {
        for (position, state) in states.iter().enumerate() {
            if state.len() != system.variables.len() {
                return Err(ReplayError::Shape);
            }
            let outside = |v: &VarId| !system.variable(*v).domain.contains(state[v.index()]);
            if let Some(variable) = system.variable_ids().find(outside) {
                return Err(ReplayError::NotInDomain { state: position, variable });
            }
        }
        let is_local = local_formulas(&system.formulas);
        Ok(Replayer { system, moves: Moves::new(system), is_local })
    }

    fn is_initial(&self, state: Option<&State>) -> Result<(), ReplayError> {
        let state = state.ok_or(ReplayError::Shape)?;
        let is_initial = is_true(self.system, self.system.initial, state, &[]);
        if is_initial { Ok(()) } else { Err(ReplayError::NotInitial) }
    }

    /// Confirms a path, and that it starts at an initial state if `from_initial`.
    pub(crate) fn run(
        &self,
        evidence: WellFormed<'_>,
        run: &EvidencePath,
        from_initial: bool,
    ) -> Result<(), ReplayError> {
        let states = evidence.states(run);
        if from_initial {
            self.is_initial(states.first().copied())?;
        }
        self.steps(&states, run.actions.iter().map(Option::as_ref))
    }

    /// Confirms that each action leads from its state to the next.
    fn steps<'a>(
        &self,
        states: &[&State],
        actions: impl ExactSizeIterator<Item = Option<&'a JointAction>>,
    ) -> Result<(), ReplayError> {
        if states.len() != actions.len() + 1 {
            return Err(ReplayError::Shape);
        }
        for (step, joint) in actions.enumerate() {
            let (state, next) = (states[step], states[step + 1]);
            let Some(joint) = joint else {
                // Only in the step that `stutter` adds does no agent act.
                let stays = self.system.meaning.deadlock == Deadlock::Stutter && state == next;
                if stays && self.moves.has_successor(state) != Some(true) {
                    continue;
                }
                return Err(ReplayError::NotASuccessor { step });
            };
            if joint.len() != self.system.agents.len() {
                return Err(ReplayError::Shape);
            }
            let is_disabled =
                |i: &AgentId| !enabled_actions(self.system, *i, state).contains(&joint[i.index()]);
            if let Some(agent) = self.system.agent_ids().find(is_disabled) {
                return Err(ReplayError::NotEnabled { step, agent });
            }
            if !self.moves.leads_to(state, joint, next) {
                return Err(ReplayError::NotASuccessor { step });
            }
        }
        Ok(())
    }
}
