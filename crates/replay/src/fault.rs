//! The results of replay: what is taken on trust, or why evidence is refused.

use std::fmt;

use masque_model::{AgentId, VarId};
use masque_verdict::{ReasonId, StateId};

/// The parts of evidence that are taken on trust, because replay cannot check them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusted {
    /// Claims that are not shown.
    pub claims: Vec<ReasonId>,
    /// States at which a fair path must start.
    pub fair: Vec<StateId>,
    /// Dead ends with too many joint actions to try them all.
    pub dead_ends: Vec<StateId>,
    /// Reasons with a strategy for several states: that no other state must be won as well. Reasons with an
    /// unfolded fixpoint: that no other states are indistinguishable, and that no fair path starts at the
    /// successors that are left out.
    pub questions: Vec<ReasonId>,
    /// Fairness constraints that are not local, by index, with the states at which they are claimed to be
    /// true.
    pub constraints: Vec<(usize, StateId)>,
}

impl Trusted {
    /// Whether all of the evidence is confirmed.
    pub fn is_empty(&self) -> bool {
        self.claims.is_empty()
            && self.fair.is_empty()
            && self.dead_ends.is_empty()
            && self.questions.is_empty()
            && self.constraints.is_empty()
    }
}

/// Why evidence, or a path, is refused. Steps are counted from 0; step `k` leads to state `k + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayError {
    /// Something is missing, occurs twice, or has the wrong length; or a reference is invalid.
    Shape,
    /// A state has a value that is not in its variable's domain.
    NotInDomain {
        /// Index of the state.
        state: usize,
        /// Variable whose value is outside its domain.
        variable: VarId,
    },
    /// The first state of a path does not satisfy InitStates.
    NotInitial,
    /// An agent performs an action that its protocol does not enable.
    NotEnabled {
        /// Position of the step, from 0.
        step: usize,
        /// Agent whose action is not enabled.
        agent: AgentId,
    },
    /// The joint action does not lead to the next state.
    NotASuccessor {
        /// Position of the step, from 0.
        step: usize,
    },
    /// The evidence is not about the property and its verdict.
    OtherProperty,
    /// A reason does not show its claim.
    Refused {
        /// Reason that does not show its claim.
        reason: ReasonId,
        /// Fault of the reason.
        fault: Fault,
    },
}

/// A fault of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This kind of reason does not show this kind of claim.
    Kind,
    /// The formula has the opposite truth value at the state.
    Truth,
    /// The claims are not those that the meaning of the formula requires.
    Claims,
    /// The path does not start at the state of the claim, or does not end where it must.
    Ends,
    /// A fairness constraint is not met on the loop.
    Unfair,
    /// An agent can distinguish the states.
    Seen,
    /// An agent that must be green is red.
    Red,
    /// The state has a successor.
    NotADeadEnd,
    /// The strategy chooses no action, two actions, or an impossible action at a state to which it leads.
    NoStrategy,
    /// The strategy does not enforce the goal.
    NotEnforced,
    /// There is no response to a choice of the group, there are two, or the response is impossible.
    NoAnswer,
    /// The responses do not prevent the goal.
    NotSpoiled,
    /// A claim about a fixpoint depends on itself in a way that its kind does not allow.
    Circle,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Kind => "a reason of this kind cannot show this claim",
            Fault::Truth => "the formula has the opposite truth value at the state",
            Fault::Claims => "the claims are not those that the formula requires",
            Fault::Ends => "the path does not start or end at the required state",
            Fault::Unfair => "a fairness constraint is not met on the loop",
            Fault::Seen => "the agent can distinguish the states",
            Fault::Red => "an agent that must be green is red",
            Fault::NotADeadEnd => "the state has a successor",
            Fault::NoStrategy => "the strategy does not choose a possible action",
            Fault::NotEnforced => "the strategy does not enforce the goal",
            Fault::NoAnswer => "there is no valid response to a choice of the group",
            Fault::NotSpoiled => "the responses do not prevent the goal",
            Fault::Circle => "a claim about a fixpoint depends on itself",
        })
    }
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReplayError::Shape => f.write_str("the evidence is malformed"),
            ReplayError::NotInDomain { state, variable } => {
                write!(f, "variable {} of state {state} is outside its domain", variable.0)
            }
            ReplayError::NotInitial => f.write_str("the first state is not initial"),
            ReplayError::NotEnabled { step, agent } => {
                write!(f, "the action of agent {} in step {step} is not enabled", agent.0)
            }
            ReplayError::NotASuccessor { step } => write!(f, "step {step} does not lead to the next state"),
            ReplayError::OtherProperty => {
                f.write_str("the evidence is not about the property and its verdict")
            }
            ReplayError::Refused { reason, fault } => write!(f, "reason {}: {fault}", reason.0),
        }
    }
}

impl std::error::Error for ReplayError {}
