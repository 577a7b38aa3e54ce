//! What replay answers: what is taken on trust, or why evidence is refused.

use std::fmt;

use masque_model::{AgentId, VarId};
use masque_verdict::{ReasonId, StateId};

/// What of evidence is taken on trust, because one run cannot confirm it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusted {
    /// Claims that are not shown.
    pub claims: Vec<ReasonId>,
    /// States from which a fair run must go on.
    pub fair: Vec<StateId>,
    /// Dead ends with too many choices to try all.
    pub dead_ends: Vec<StateId>,
    /// Reasons with a strategy for several states: that no other state must be won as well. Reasons
    /// with an unfolded fixpoint: that no other states look alike, and that no fair run starts where
    /// steps lead that are left out.
    pub questions: Vec<ReasonId>,
    /// Fairness constraints that speak of more than one state, with the states at which they are
    /// said to be true.
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
    /// Something is missing, stands twice, or has the wrong length; or a reference leads nowhere.
    Shape,
    /// A state has a value that is not in its variable's domain.
    NotInDomain {
        /// The state's position.
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
    /// The evidence is about something else than the property and its verdict.
    OtherProperty,
    /// A reason does not show its claim.
    Refused {
        /// Reason that does not show its claim.
        reason: ReasonId,
        /// What is wrong with it.
        fault: Fault,
    },
}

/// What may be wrong with a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// This kind of reason does not show this kind of claim.
    Kind,
    /// The state itself says otherwise.
    Truth,
    /// The claims made are not those that the formula's meaning asks for.
    Claims,
    /// The run does not begin in the claim's state, or does not end where it must.
    Ends,
    /// A fairness constraint is not met on the loop.
    Unfair,
    /// An agent sees a difference.
    Seen,
    /// An agent that must be green is red.
    Red,
    /// The state has a successor.
    NotADeadEnd,
    /// The strategy says nothing, two things, or something impossible at a state to which it leads.
    NoStrategy,
    /// The strategy does not enforce the goal.
    NotEnforced,
    /// There is no answer to a choice of the group, there are two, or it is impossible.
    NoAnswer,
    /// The answers do not spoil the goal.
    NotSpoiled,
    /// A claim about a fixpoint rests on itself in the wrong way.
    Circle,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fault::Kind => "such a reason cannot show such a claim",
            Fault::Truth => "the state says otherwise",
            Fault::Claims => "the formula needs other claims",
            Fault::Ends => "the run begins or ends elsewhere",
            Fault::Unfair => "a fairness constraint is not met on the loop",
            Fault::Seen => "the agent sees a difference",
            Fault::Red => "an agent is red",
            Fault::NotADeadEnd => "the state has a successor",
            Fault::NoStrategy => "the strategy does not say what to do",
            Fault::NotEnforced => "the strategy does not enforce the goal",
            Fault::NoAnswer => "a choice of the group is not answered",
            Fault::NotSpoiled => "the answers do not spoil the goal",
            Fault::Circle => "a fixpoint rests on itself",
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
                write!(f, "agent {} may not act so in step {step}", agent.0)
            }
            ReplayError::NotASuccessor { step } => write!(f, "step {step} does not lead to its next state"),
            ReplayError::OtherProperty => f.write_str("the evidence is about something else"),
            ReplayError::Refused { reason, fault } => write!(f, "reason {}: {fault}", reason.0),
        }
    }
}

impl std::error::Error for ReplayError {}
