//! Evidence for a verdict, as reasons for claims: the data types.
//!
//! A *claim* says that a formula is true or false at a state. Its *reason* shows why, by claims
//! about the formula's operands: at the same state for a connective, along a path for a temporal
//! operator, at an indistinguishable state for knowledge. A claim that only all paths or all states
//! together would show is marked as not shown.
//!
//! Evidence is canonical, so all engines give the same: `masque_evidence::explain` defines which of
//! several possible reasons is chosen.

use masque_model::{ActionId, AgentId, FormulaId, VarId};
use serde::{Deserialize, Serialize};

use crate::{JointAction, State};

/// Index of a state in [`Evidence::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StateId(pub u32);

impl StateId {
    /// The index in [`Evidence::states`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a reason in [`Evidence::reasons`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReasonId(pub u32);

impl ReasonId {
    /// The index in [`Evidence::reasons`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Evidence for a verdict: reasons that refer to each other and to states, each stored once.
///
/// The reasons form a directed acyclic graph: a reason refers only to reasons about smaller formulas.
/// Claims that depend on each other in a cycle occur only inside an [`Unfolding`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// All states that occur in the evidence, each once, in the order of their first occurrence.
    pub states: Vec<State>,
    /// Path from an initial state to the state at which the property is evaluated. It has no steps unless
    /// the property must be true at all reachable states and is true at the initial ones.
    pub start: EvidencePath,
    /// Reasons. The first is about the property, at the end of `start`; some reason refers to each of the
    /// others.
    pub reasons: Vec<Reason>,
}

impl Evidence {
    /// Returns the state with this index.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// Returns the reason with this index.
    pub fn reason(&self, id: ReasonId) -> &Reason {
        &self.reasons[id.index()]
    }

    /// Returns the reason for the verdict.
    pub fn root(&self) -> &Reason {
        &self.reasons[0]
    }

    /// Returns the claims that are not shown, in the order of [`Evidence::reasons`].
    pub fn not_shown(&self) -> impl Iterator<Item = (&Reason, NotShownReason)> {
        self.reasons.iter().filter_map(|reason| match reason.because {
            Because::NotShown(missing) => Some((reason, missing)),
            _ => None,
        })
    }
}

/// A claim and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// State formula of the claim.
    pub formula: FormulaId,
    /// Truth value claimed.
    pub holds: bool,
    /// State at which the claim is made.
    pub state: StateId,
    /// Why the formula is true or false there.
    pub because: Because,
}

/// Why a formula is true or false at a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Because {
    /// The formula depends on this state only: it is a proposition, a condition, green or red, or built
    /// from these by connectives.
    Here,
    /// The truth of operands at the same state decides.
    ///
    /// For a connective: all operands that are needed, or one if each of several would be enough. For a
    /// temporal operator that the state itself decides: `AF φ` is true where `φ` is, `E(φ U ψ)` is false
    /// where neither operand is true.
    Operands(Vec<ReasonId>),
    /// The state has no successor. That decides, together with the truth of these operands there.
    DeadEnd(Vec<ReasonId>),
    /// A path from the state is a witness for `E`, or a counterexample to `A`.
    Path(PathReason),
    /// The operand is false at a state that agents cannot distinguish from this one, or that norms admit.
    Possible(Possibility),
    /// The operand is false at the end of a chain of states. Some member of the group cannot distinguish
    /// each state from the one before.
    Chain(Chain),
    /// A strategy of the group enforces the goal.
    Strategy(GroupStrategy),
    /// For every choice of the group, the other agents have a response that prevents the goal.
    Responses(Responses),
    /// The fixpoint is unfolded as often as needed.
    Unfolded(Unfolding),
    /// One path or one state cannot show the claim.
    NotShown(NotShownReason),
}

impl Because {
    /// Calls `visit` for each reason referred to, in order.
    pub fn each_reason(&self, mut visit: impl FnMut(ReasonId)) {
        match self {
            Because::Here | Because::NotShown(_) => {}
            Because::Operands(list) | Because::DeadEnd(list) => list.iter().copied().for_each(visit),
            Because::Path(showing) => showing.claims.iter().for_each(|&(_, reason)| visit(reason)),
            Because::Possible(possibility) => visit(possibility.reason),
            Because::Chain(chain) => visit(chain.reason),
            Because::Strategy(strategy) => strategy.claims.iter().copied().for_each(visit),
            Because::Responses(answers) => answers.claims.iter().copied().for_each(visit),
            Because::Unfolded(unfolding) => unfolding.nodes.iter().for_each(|node| {
                if let DecidedBy::Reason(id) = node.by {
                    visit(id);
                }
            }),
        }
    }
}

/// A path that shows a claim, with the claims about its states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathReason {
    /// Path that starts at the state of the claim.
    pub run: EvidencePath,
    /// Positions in `run.states`, in increasing order, each with a claim about that state. Positions that
    /// do not matter are left out.
    pub claims: Vec<(usize, ReasonId)>,
    /// If the path has a loop: for each fairness constraint of the system, a position on the loop at which
    /// it is true.
    pub fair: Vec<usize>,
}

/// A path through the system: finite, or infinite with a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidencePath {
    /// States, at least one.
    pub states: Vec<StateId>,
    /// `actions[k]` leads from `states[k]` to `states[k + 1]`. If the path has a loop, the last action leads
    /// back to `states[back_to]`. `None` is the step of a dead end to itself that `stutter` adds, in which
    /// no agent acts.
    pub actions: Vec<Option<JointAction>>,
    /// Position at which the loop begins; `None` for a finite path.
    pub back_to: Option<usize>,
}

impl EvidencePath {
    /// Returns the last state; `None` only for a path without states, which is malformed.
    pub fn last(&self) -> Option<StateId> {
        self.states.last().copied()
    }
}

/// A possible state: one that agents cannot distinguish from the state of the claim, or one at which
/// agents behave correctly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Possibility {
    /// Agents that cannot distinguish the two states even if they combine what they see. Empty for
    /// `O(i, φ)`, which is about all states.
    pub view: Vec<AgentId>,
    /// Agents that must be green at the other state.
    pub green: Vec<AgentId>,
    /// Possible state; it may be the state of the claim.
    pub state: StateId,
    /// Path from an initial state to it; `None` if it is the state of the claim.
    pub path: Option<EvidencePath>,
    /// Reason for which the operand is false there.
    pub reason: ReasonId,
}

/// A chain of states that shows that something is not common knowledge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// Links. The first starts at the state of the claim, each other one at the state that the link before
    /// leads to. Empty if the operand is false at the state of the claim.
    pub links: Vec<Link>,
    /// Reason for which the operand is false at the end of the chain.
    pub reason: ReasonId,
}

/// One link of a [`Chain`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Agent that cannot distinguish the two states.
    pub agent: AgentId,
    /// State that the link leads to.
    pub state: StateId,
    /// Path from an initial state to that state.
    pub path: EvidencePath,
}

/// A strategy with which a group enforces the goal of a coalition formula against all other agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupStrategy {
    /// States from which the strategy wins: the state of the claim, and with uniform strategies all states
    /// that must be won together with it.
    pub from: Vec<StateId>,
    /// Actions to choose.
    pub rows: Vec<Row>,
    /// Claims about the states to which the strategy may lead: everything that must be true before the end
    /// of the goal, or at its end. With fairness there are no claims about states at which no fair path
    /// starts.
    pub claims: Vec<ReasonId>,
    /// Play from the state of the claim against opponents who delay the end as long as they can.
    pub play: EvidencePath,
    /// If the play is infinite and not fair: index of a fairness constraint that is never true on its loop.
    /// A group may win in this way.
    pub unmet: Option<usize>,
}

/// The actions that agents choose when they see certain values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// With perfect information all members of the group, otherwise one member.
    pub agents: Vec<AgentId>,
    /// Variables on which the choice depends: with perfect information all of them, otherwise those that
    /// the agent sees.
    pub sees: Vec<VarId>,
    /// State whose values of these variables are meant.
    pub state: StateId,
    /// Actions, one per agent.
    pub actions: Vec<ActionId>,
}

/// The responses with which the other agents prevent a group from enforcing the goal of a coalition
/// formula.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Responses {
    /// State from which the others prevent the goal: the state of the claim, or with uniform strategies one
    /// that must be won together with it.
    pub from: StateId,
    /// Path from an initial state to it; `None` if it is the state of the claim.
    pub path: Option<EvidencePath>,
    /// A response to each choice of the group, at every state to which the responses may lead.
    pub rows: Vec<Response>,
    /// Claims about the states to which the responses may lead: that the end has not come, or that the goal
    /// is violated.
    pub claims: Vec<ReasonId>,
    /// Play from `from` against a group that delays its defeat as long as it can.
    pub play: EvidencePath,
    /// If the play has a loop: for each fairness constraint of the system, a position on the loop at which
    /// it is true.
    pub fair: Vec<usize>,
}

/// A response of the other agents to a choice of the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Response {
    /// State at which the group chooses.
    pub state: StateId,
    /// Progress of the others at that point of the play.
    pub stage: Stage,
    /// Actions that the members of the group choose.
    pub actions: Vec<ActionId>,
    /// Actions of all agents, including those of the members.
    pub joint: JointAction,
    /// State to which the joint action leads; `None` if it has no successor.
    pub next: Option<StateId>,
}

/// Progress of the other agents towards preventing the goal. Without fairness there are two stages: the
/// goal is violated or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stage {
    /// Whether the goal is violated; then the others only have to keep the path fair.
    pub violated: bool,
    /// Index of the fairness constraint to be met next. When it is met, the next one follows, and the first
    /// one after the last. `None` without fairness, and while the goal must first be violated.
    pub seeks: Option<usize>,
}

/// Why a fixpoint is true or false at a state: claims about its parts, each with the claims that decide
/// it. A bound variable stands for its fixpoint.
///
/// The claims may form cycles. A true claim may depend on itself through a greatest fixpoint, and a false
/// one through a least fixpoint: on every cycle, the outermost unfolded fixpoint is of that kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfolding {
    /// Claims; the first is the one about the fixpoint itself.
    pub nodes: Vec<UnfoldedClaim>,
}

/// A claim about a part of a fixpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfoldedClaim {
    /// Part of the fixpoint: a state formula, which may contain free variables.
    pub formula: FormulaId,
    /// Truth value claimed.
    pub holds: bool,
    /// State at which the claim is made.
    pub state: StateId,
    /// Fixpoints on whose variables the part depends, the outermost first.
    pub scope: Vec<FormulaId>,
    /// Claims that decide this one.
    pub by: DecidedBy,
}

/// What decides a claim about a part of a fixpoint. Other claims are indices in [`Unfolding::nodes`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DecidedBy {
    /// The part has no free variable: the claim has a reason of its own.
    Reason(ReasonId),
    /// Claims at the same state: about operands of a connective, the body of a fixpoint, or the fixpoint that
    /// a variable stands for.
    Nodes(Vec<usize>),
    /// Claims at successors: at one of them, or at all of them.
    Steps(Vec<(Option<JointAction>, usize)>),
    /// A claim at a state that agents cannot distinguish from this one, or that norms admit.
    Possible {
        /// Agents that cannot distinguish the two states even if they combine what they see.
        view: Vec<AgentId>,
        /// Path from an initial state to the other state; `None` if it is the same state.
        path: Option<EvidencePath>,
        /// Index of the claim there.
        node: usize,
    },
    /// Claims at all possible states: those that agents cannot distinguish, or that norms admit.
    Alike(Vec<usize>),
}

/// Why a claim is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NotShownReason {
    /// The claim is about all paths from the state.
    AllPaths,
    /// The claim is about all states that agents cannot distinguish from this one, or that norms admit.
    AllStates,
    /// The claim is about all uniform strategies of a group: none of them wins, although a strategy with
    /// perfect information does.
    Strategies,
    /// The claim is about a fixpoint whose variable occurs under an operator that is not unfolded.
    Fixpoint,
    /// The claim is about what a group can enforce, and some fairness constraint depends on more than one
    /// state.
    Fairness,
    /// The evidence would become too large.
    TooMuch,
}
