//! Evidence: what shows a verdict, as reasons for claims.
//!
//! A *claim* says that a formula is true or false at a state. Its *reason* shows why, by claims
//! about the formula's operands: at the same state for a connective, along a path for a temporal
//! operator, at a state that cannot be told apart for knowledge. A claim that only all paths or all
//! states together would show is marked as not shown.
//!
//! Evidence is canonical, so that all engines show the same: `masque_evidence::explain` says which
//! reason is taken where there are several.

use masque_model::{ActionId, AgentId, FormulaId, VarId};
use serde::{Deserialize, Serialize};

use crate::{JointAction, State};

/// A state of [`Evidence::states`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StateId(pub u32);

impl StateId {
    /// The position in [`Evidence::states`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A reason of [`Evidence::reasons`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ReasonId(pub u32);

impl ReasonId {
    /// The position in [`Evidence::reasons`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What shows a verdict: reasons that refer to each other and to states, each stored once.
///
/// The reasons form a tree in which equal parts are shared: a reason refers only to reasons about
/// smaller formulas, so a walk from the first one ends. Claims that rest on each other are there only
/// inside an [`Unfolding`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// All states that are spoken of, each once, in the order in which they first are.
    pub states: Vec<State>,
    /// A run from an initial state to the state at which the property is looked at: of no step,
    /// unless the property must be true at all reachable states and is true at the initial ones.
    pub start: Run,
    /// The first is about the property, at the end of `start`. Each but that one is referred to.
    pub reasons: Vec<Reason>,
}

impl Evidence {
    /// The state behind an id.
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id.index()]
    }

    /// The reason behind an id.
    pub fn reason(&self, id: ReasonId) -> &Reason {
        &self.reasons[id.index()]
    }

    /// The reason for the verdict.
    pub fn root(&self) -> &Reason {
        &self.reasons[0]
    }

    /// The claims that are not shown, in the order of [`Evidence::reasons`].
    pub fn not_shown(&self) -> impl Iterator<Item = (&Reason, Missing)> {
        self.reasons.iter().filter_map(|reason| match reason.because {
            Because::NotShown(missing) => Some((reason, missing)),
            _ => None,
        })
    }
}

/// A claim, and why it is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A state formula.
    pub formula: FormulaId,
    /// Whether it is true or false.
    pub holds: bool,
    /// State at which the claim is made.
    pub state: StateId,
    /// Why the formula is true or false there.
    pub because: Because,
}

/// Why a formula is true or false at a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Because {
    /// The formula speaks of this state only: it is a proposition, a condition, green or red, or
    /// built from these by connectives.
    Here,
    /// Operands of the formula, at the same state, decide.
    ///
    /// For a connective: all that are needed, and of several that would do by themselves one. For
    /// a temporal operator: what is so at once (`AF φ` is true where `φ` is, `E(φ U ψ)` is false
    /// where neither is true).
    Operands(Vec<ReasonId>),
    /// The state has no successor, and that decides, together with what operands are there.
    DeadEnd(Vec<ReasonId>),
    /// A run from the state does what the operator says that some run does.
    Run(Showing),
    /// A state that somebody cannot tell from this one, or that norms admit.
    Possible(Possibility),
    /// A chain of states, each looking the same as the one before to some member of the group.
    Chain(Chain),
    /// A strategy of the group enforces it.
    Strategy(Strategy),
    /// Whatever the group chooses, the others have an answer that spoils it.
    Answers(Answers),
    /// The fixpoint is unfolded as often as is needed.
    Unfolded(Unfolding),
    /// One run or one state cannot show it.
    NotShown(Missing),
}

impl Because {
    /// The reasons referred to, in order.
    pub fn each_reason(&self, mut visit: impl FnMut(ReasonId)) {
        match self {
            Because::Here | Because::NotShown(_) => {}
            Because::Operands(list) | Because::DeadEnd(list) => list.iter().copied().for_each(visit),
            Because::Run(showing) => showing.claims.iter().for_each(|&(_, reason)| visit(reason)),
            Because::Possible(possibility) => visit(possibility.reason),
            Because::Chain(chain) => visit(chain.reason),
            Because::Strategy(strategy) => strategy.claims.iter().copied().for_each(visit),
            Because::Answers(answers) => answers.claims.iter().copied().for_each(visit),
            Because::Unfolded(unfolding) => unfolding.nodes.iter().for_each(|node| {
                if let Support::Reason(id) = node.by {
                    visit(id);
                }
            }),
        }
    }
}

/// A run that shows something, with the claims that must be so on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Showing {
    /// It begins in the state of the claim.
    pub run: Run,
    /// Positions in `run.states`, in increasing order, with what is claimed there. Positions that
    /// do not matter are not mentioned.
    pub claims: Vec<(usize, ReasonId)>,
    /// If the run has a loop: for each fairness constraint of the system a position on the loop
    /// where it is true.
    pub fair: Vec<usize>,
}

/// A path through the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// At least one.
    pub states: Vec<StateId>,
    /// `actions[k]` leads from `states[k]` to `states[k + 1]`, or, if it is the last and the run has
    /// a loop, back to where the loop begins. None is the step of a dead end to itself that
    /// `stutter` adds: nobody acts.
    pub actions: Vec<Option<JointAction>>,
    /// Where the loop begins, if the run goes on for ever.
    pub back_to: Option<usize>,
}

impl Run {
    /// The last state. A run has at least one; `None` only if somebody has made one that has not.
    pub fn last(&self) -> Option<StateId> {
        self.states.last().copied()
    }
}

/// A state that must be reckoned with: one that agents cannot tell from the state of the claim, or
/// one where they behave correctly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Possibility {
    /// The agents that cannot tell the two states apart, even together. None for `O(i, φ)`, which
    /// speaks of all states.
    pub view: Vec<AgentId>,
    /// The agents that must be green in the other state.
    pub green: Vec<AgentId>,
    /// The other state; it may be the same one.
    pub state: StateId,
    /// A run from an initial state to it; none if it is the state of the claim.
    pub path: Option<Run>,
    /// Why the operand is false there.
    pub reason: ReasonId,
}

/// A chain of states that shows that something is not common knowledge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    /// The first from the state of the claim, each next from the state before; none if the operand
    /// is false right there.
    pub links: Vec<Link>,
    /// Why the operand is false at the end of the chain.
    pub reason: ReasonId,
}

/// One link of a [`Chain`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The agent that cannot tell the two states apart.
    pub agent: AgentId,
    /// The state it leads to.
    pub state: StateId,
    /// A run from an initial state to that state.
    pub path: Run,
}

/// A strategy that enforces what a coalition's formula says, whatever the others do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strategy {
    /// The states from which it does: the state of the claim, and with uniform strategies all that
    /// must be won together with it.
    pub from: Vec<StateId>,
    /// What to do.
    pub rows: Vec<Row>,
    /// What is so at the states to which the strategy may lead: all that must be so on the way, or
    /// all that must be so at the end. With fairness nothing is claimed where no fair run goes on.
    pub claims: Vec<ReasonId>,
    /// How it is played against opponents who put off the end as long as they can. It begins in the
    /// state of the claim.
    pub play: Run,
    /// If the play goes on for ever and is not fair: a fairness constraint that it does not meet on
    /// its loop. A group may win by that alone.
    pub unmet: Option<usize>,
}

/// What agents do where they see what they see of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// With perfect information all members of the group, else one of them.
    pub agents: Vec<AgentId>,
    /// What decides: with perfect information all variables, else what the agent sees.
    pub sees: Vec<VarId>,
    /// A state in which they see it.
    pub state: StateId,
    /// One for each of the agents.
    pub actions: Vec<ActionId>,
}

/// What the others do so that a group cannot enforce what a coalition's formula says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The state from which they do it: the state of the claim, or with uniform strategies one that
    /// must be won together with it.
    pub from: StateId,
    /// A run from an initial state to it; none if it is the state of the claim.
    pub path: Option<Run>,
    /// An answer to each choice of the group, wherever the answers may lead.
    pub rows: Vec<Answer>,
    /// What is so at the states to which the answers may lead: that the end has not come, or that the
    /// goal is violated.
    pub claims: Vec<ReasonId>,
    /// How it is played against a group that puts off its defeat as long as it can. It begins in
    /// `from`.
    pub play: Run,
    /// If the play has a loop: for each fairness constraint of the system a position on the loop
    /// where it is true.
    pub fair: Vec<usize>,
}

/// What the others do when the group has chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// State at which the group chooses.
    pub state: StateId,
    /// How far the others are at that point of the play.
    pub stage: Stage,
    /// What the members of the group do.
    pub actions: Vec<ActionId>,
    /// What all agents do, the members as they chose.
    pub joint: JointAction,
    /// Where that leads; none if no step follows.
    pub next: Option<StateId>,
}

/// How far the others are. Without fairness there is one stage only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stage {
    /// The goal is violated, it remains to keep the run fair.
    pub violated: bool,
    /// The fairness constraint that is to be met next; when it is met the next one comes, and after
    /// the last the first. None without fairness, and while the goal must first be violated.
    pub seeks: Option<usize>,
}

/// Why a fixpoint is true or false at a state: claims about parts of it, in which the variables of
/// fixpoints stand for these, each with those that decide it.
///
/// They may lead round in circles. What is true may rest on itself by way of a greatest fixpoint, and
/// what is false by way of a least one: on every circle the outermost fixpoint that is unfolded is
/// such.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfolding {
    /// The first is the claim itself.
    pub nodes: Vec<Node>,
}

/// A claim about a part of a fixpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Part of the fixpoint: a state formula, which may contain free variables.
    pub formula: FormulaId,
    /// Whether it is true or false.
    pub holds: bool,
    /// State at which the claim is made.
    pub state: StateId,
    /// The fixpoints whose variables the part depends on, the outermost first.
    pub scope: Vec<FormulaId>,
    /// The claims that decide this one.
    pub by: Support,
}

/// Why a claim about a part of a fixpoint is so. Nodes are spoken of by their position in
/// [`Unfolding::nodes`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Support {
    /// It depends on no variable: it is a claim with a reason of its own.
    Reason(ReasonId),
    /// These, at the same state, decide: operands of a connective, the body of a fixpoint, or the
    /// fixpoint that a variable stands for.
    Nodes(Vec<usize>),
    /// These, after steps: one that leads there, or all that there are.
    Steps(Vec<(Option<JointAction>, usize)>),
    /// One at a state that somebody cannot tell from this one, or that norms admit.
    Possible {
        /// The agents that cannot tell the two states apart, even together.
        view: Vec<AgentId>,
        /// A run from an initial state to the other state; none if it is the same.
        path: Option<Run>,
        /// The claim there.
        node: usize,
    },
    /// These, at all states that must be reckoned with.
    Alike(Vec<usize>),
}

/// Why a claim is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Missing {
    /// It is about all runs from the state.
    AllPaths,
    /// It is about all states that somebody cannot tell from this one, or that norms admit.
    AllStates,
    /// It is about all uniform strategies of a group: none will do, though with perfect information
    /// there is one.
    Strategies,
    /// It is about a fixpoint whose variable stands under an operator that is not unfolded.
    Fixpoint,
    /// It is about what a group can enforce, and a fairness constraint speaks of more than one state.
    Fairness,
    /// The evidence would become too large.
    TooMuch,
}
