//! Evidence as data.
//!
//! States, formulas and reasons are stored in lists, each once, and referred to by their indices. Reasons
//! share parts, so as a tree they could become very large.

use masque_driver::{
    AgentId, Because, DecidedBy, Evidence, EvidencePath, Formula, FormulaId, JointAction, LabelledPath,
    Model, NotShownReason, PathReason, Possibility, Reason, ReasonId, Response, Row, Shown, StateId, System,
    UnfoldedClaim, VarId,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{doing, values};
use crate::{Entries, ExplanationReport, TraceReport};

/// Evidence for a verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnyEvidence {
    /// For interpreted systems: reasons for claims.
    Reasons(EvidenceReport),
    /// For BDI: paths through worlds.
    Worlds(Box<ExplanationReport>),
    /// For LCC: a trace.
    Trace(Box<TraceReport>),
    /// For transition systems: a path.
    Run(Box<LabelledRunReport>),
}

impl AnyEvidence {
    /// Converts evidence to data with the names of the model.
    pub(crate) fn new(model: &Model, shown: &Shown) -> Option<Self> {
        Some(match (shown, model) {
            (Shown::Reasons(evidence), Model::Ispl(system)) => {
                AnyEvidence::Reasons(EvidenceReport::new(system, evidence))
            }
            (Shown::Worlds(explanation), Model::Bdi(worlds)) => {
                AnyEvidence::Worlds(Box::new(ExplanationReport::new(worlds, explanation)))
            }
            (Shown::Trace(trace), _) => AnyEvidence::Trace(Box::new((&**trace).into())),
            (Shown::Run(run), _) => AnyEvidence::Run(Box::new((&**run).into())),
            _ => return None,
        })
    }
}

/// A path of a transition system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelledRunReport {
    /// States, by their numbers in the file.
    pub states: Vec<u64>,
    /// Labels of the transitions between them. If the path has a loop, the last transition leads back.
    pub labels: Vec<String>,
    /// For an infinite path: index in `states` to which the last transition leads back.
    #[serde(rename = "loop")]
    pub back_to: Option<usize>,
    /// Whether the last state has no transitions.
    pub deadlock: bool,
}

impl From<&LabelledPath> for LabelledRunReport {
    fn from(run: &LabelledPath) -> Self {
        LabelledRunReport {
            states: run.states.clone(),
            labels: run.labels.clone(),
            back_to: run.back_to,
            deadlock: run.is_stuck,
        }
    }
}

/// Evidence for a verdict: reasons for claims. The first claim is about the property itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceReport {
    /// All states of the evidence: the values of all variables (`Agent.variable`) in the syntax of the
    /// language. Elsewhere a state is an index in this list.
    pub states: Vec<Entries<String>>,
    /// All formulas of the evidence, fully parenthesized. Elsewhere a formula is an index in this list.
    pub formulas: Vec<String>,
    /// The same formulas, as written where the text of the property has them.
    pub texts: Vec<String>,
    /// Path from an initial state to the state at which the property is evaluated.
    pub start: RunPath,
    /// Reasons. The first is about the property, at the end of `start`. A reason refers to others by their
    /// indices in this list, and only to reasons about parts of its formula.
    pub reasons: Vec<ReasonReport>,
}

/// A path through the system: finite, or infinite with a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunPath {
    /// States, at least one.
    pub states: Vec<usize>,
    /// For each step, the action of each agent that has actions. Null is the step of a dead end to itself
    /// that `--deadlock stutter` adds.
    pub actions: Vec<Option<Entries<String>>>,
    /// For an infinite path: index in `states` to which the last step leads back.
    #[serde(rename = "loop")]
    pub back_to: Option<usize>,
}

/// A claim that a formula is true or false at a state, and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonReport {
    /// Formula of the claim.
    pub formula: usize,
    /// Truth value claimed.
    pub holds: bool,
    /// State at which the claim is made.
    pub state: usize,
    /// Reason for the claim.
    pub because: BecauseReport,
}

/// Why a formula is true or false at a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BecauseReport {
    /// The formula depends on this state only.
    Here,
    /// Claims about parts of the formula, at the same state, decide.
    Operands {
        /// Reasons of these claims.
        reasons: Vec<usize>,
    },
    /// The state has no successor. That decides, together with claims at the same state.
    DeadEnd {
        /// Reasons of these claims.
        reasons: Vec<usize>,
    },
    /// A path from the state is a witness for `E`, or a counterexample to `A`.
    Run {
        /// Path.
        run: RunPath,
        /// Claims about its states, in the order of positions.
        claims: Vec<PositionReport>,
        /// For an infinite path: for each fairness constraint, a position on the loop at which it is true.
        fair: Vec<usize>,
    },
    /// The operand is false at a state that the agents of `view` together cannot distinguish from this one,
    /// and at which the agents of `green` are green.
    Possible {
        /// Agents that cannot distinguish the states; empty for `O`, which is about all states.
        view: Vec<String>,
        /// Agents that must be green.
        green: Vec<String>,
        /// Other state.
        state: usize,
        /// Path from an initial state to the other state; null if it is the same state.
        path: Option<RunPath>,
        /// Reason for which the operand is false there.
        reason: usize,
    },
    /// The operand is false at the end of a chain of states. Some member of the group cannot distinguish
    /// each state from the one before.
    Chain {
        /// Links of the chain; empty if the operand is false at the state of the claim.
        links: Vec<LinkReport>,
        /// Reason for which the operand is false at the end.
        reason: usize,
    },
    /// A strategy of the group enforces the goal against all other agents.
    Strategy {
        /// States from which the strategy wins: the state of the claim, and with uniform strategies all
        /// states that must be won together with it.
        from: Vec<usize>,
        /// Actions to choose.
        rows: Vec<RowReport>,
        /// Play against opponents who delay the end as long as they can.
        play: RunPath,
        /// If the play is infinite and not fair: index of a fairness constraint that is never true on its
        /// loop.
        unmet: Option<usize>,
        /// Reasons of the claims about the states to which the strategy may lead.
        reasons: Vec<usize>,
    },
    /// For every choice of the group, the other agents have a response that prevents the goal.
    Answers {
        /// State from which the others prevent the goal: the state of the claim, or with uniform strategies
        /// one that must be won together with it.
        from: usize,
        /// Path from an initial state to it; null if it is the state of the claim.
        path: Option<RunPath>,
        /// Responses, at all states to which the responses may lead.
        rows: Vec<AnswerReport>,
        /// Play of a group that delays its defeat as long as it can.
        play: RunPath,
        /// If the play is infinite: for each fairness constraint, a position on the loop at which it is
        /// true.
        fair: Vec<usize>,
        /// Reasons of the claims about the states to which the responses may lead.
        reasons: Vec<usize>,
    },
    /// The fixpoint is unfolded as often as needed.
    Unfolded {
        /// Claims about parts of the fixpoint; the first is about the fixpoint itself. Elsewhere a node is an
        /// index in this list.
        nodes: Vec<UnfoldedReport>,
    },
    /// The claim is true, but one path or one state cannot show it.
    NotShown {
        /// `all-paths`, `all-states`, `strategies`, `fixpoint`, `fairness` or `too-much`: what evidence would
        /// have to cover, or that it would be too large.
        #[schemars(extend("enum" = ["all-paths", "all-states", "strategies", "fixpoint", "fairness", "too-much"]))]
        missing: &'static str,
    },
}

/// A claim at a position of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PositionReport {
    /// Index in the `states` of the path.
    pub position: usize,
    /// Reason of the claim.
    pub reason: usize,
}

/// The actions that agents choose when they see certain values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowReport {
    /// Variables that are seen and their values. With perfect information that is the whole state.
    pub sees: Entries<String>,
    /// State with these values.
    pub state: usize,
    /// Action of each agent.
    pub actions: Entries<String>,
}

/// A response of the other agents to a choice of the group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerReport {
    /// State at which the group chooses.
    pub state: usize,
    /// With fairness: whether the goal is already violated, so that the others only keep the path fair.
    pub violated: bool,
    /// With fairness: index of the constraint to be met next.
    pub seeks: Option<usize>,
    /// Action of each member of the group.
    pub choice: Entries<String>,
    /// Action of each other agent.
    pub answer: Entries<String>,
    /// Next state; null if the joint action has no successor.
    pub next: Option<usize>,
}

/// A claim about a part of a fixpoint. Its variables stand for the fixpoints that contain it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnfoldedReport {
    /// Part of the fixpoint.
    pub formula: usize,
    /// Truth value claimed.
    pub holds: bool,
    /// State at which the claim is made.
    pub state: usize,
    /// Fixpoints on whose variables the part depends, the outermost first.
    pub scope: Vec<usize>,
    /// Claims that decide this one.
    pub by: SupportReport,
}

/// What decides a claim about a part of a fixpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SupportReport {
    /// The part has no free variable: the claim has a reason of its own.
    Reason {
        /// Reason of the claim.
        reason: usize,
    },
    /// Claims at the same state: about operands, the body of a fixpoint, or the fixpoint that a variable
    /// stands for.
    Nodes {
        /// Indices of these claims.
        nodes: Vec<usize>,
    },
    /// Claims at successors: at one of them, or at all of them.
    Steps {
        /// Steps to these successors.
        steps: Vec<StepReport>,
    },
    /// A claim at a state that the agents of `view` together cannot distinguish from this one.
    Possible {
        /// Agents that cannot distinguish the states; empty for `O`, which is about all states.
        view: Vec<String>,
        /// Path from an initial state to the other state; null if it is the same state.
        path: Option<RunPath>,
        /// Index of the claim there.
        node: usize,
    },
    /// Claims at all possible states: those that agents cannot distinguish, or that norms admit.
    Alike {
        /// Indices of these claims.
        nodes: Vec<usize>,
    },
}

/// A step to the state of another claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepReport {
    /// Action of each agent; null is the step of a dead end to itself.
    pub actions: Option<Entries<String>>,
    /// Index of the claim at the successor.
    pub node: usize,
}

/// One link of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkReport {
    /// Agent that cannot distinguish the two states.
    pub agent: String,
    /// State that the link leads to.
    pub state: usize,
    /// Path from an initial state to that state.
    pub path: RunPath,
}

impl EvidenceReport {
    /// Converts evidence about a system.
    pub(crate) fn new(system: &System, evidence: &Evidence) -> Self {
        let mut formulas: Vec<_> = evidence.reasons.iter().map(|reason| reason.formula).collect();
        for reason in &evidence.reasons {
            if let Because::Unfolded(unfolding) = &reason.because {
                formulas.extend(unfolding.nodes.iter().map(|node| node.formula));
            }
        }
        // Larger formulas have larger ids, so the property comes first and its parts follow.
        formulas.sort_unstable_by(|a, b| b.cmp(a));
        formulas.dedup();
        let written = system.written_parts(evidence.root().formula);
        let index = |id| formulas.partition_point(|formula| *formula > id);
        EvidenceReport {
            states: evidence.states.iter().map(|state| values(system, state)).collect(),
            start: run(system, &evidence.start),
            reasons: evidence
                .reasons
                .iter()
                .map(|reason| ReasonReport {
                    formula: index(reason.formula),
                    holds: reason.holds,
                    state: reason.state.index(),
                    because: because(system, evidence, reason, &index),
                })
                .collect(),
            texts: formulas.iter().map(|&formula| system.part_text(&written, formula)).collect(),
            formulas: formulas.iter().map(|&formula| system.formula_text(formula)).collect(),
        }
    }
}

fn run(system: &System, run: &EvidencePath) -> RunPath {
    RunPath {
        states: run.states.iter().map(|state| state.index()).collect(),
        actions: run.actions.iter().map(|joint| joint.as_ref().map(|joint| doing(system, joint))).collect(),
        back_to: run.back_to,
    }
}

fn because(
    system: &System,
    evidence: &Evidence,
    reason: &Reason,
    index: &dyn Fn(FormulaId) -> usize,
) -> BecauseReport {
    let all = |list: &[ReasonId]| list.iter().map(|reason| reason.index()).collect();
    let names = |agents: &[_]| agents.iter().map(|&agent| system.agent(agent).name.clone()).collect();
    match &reason.because {
        Because::Here => BecauseReport::Here,
        Because::Operands(list) => BecauseReport::Operands { reasons: all(list) },
        Because::DeadEnd(list) => BecauseReport::DeadEnd { reasons: all(list) },
        Because::Path(PathReason { run: path, claims, fair }) => BecauseReport::Run {
            run: run(system, path),
            claims: claims
                .iter()
                .map(|&(position, reason)| PositionReport { position, reason: reason.index() })
                .collect(),
            fair: fair.clone(),
        },
        Because::Possible(Possibility { view, green, state, path, reason }) => BecauseReport::Possible {
            view: names(view),
            green: names(green),
            state: StateId::index(*state),
            path: path.as_ref().map(|path| run(system, path)),
            reason: reason.index(),
        },
        Because::Chain(chain) => BecauseReport::Chain {
            links: chain
                .links
                .iter()
                .map(|link| LinkReport {
                    agent: system.agent(link.agent).name.clone(),
                    state: link.state.index(),
                    path: run(system, &link.path),
                })
                .collect(),
            reason: chain.reason.index(),
        },
        Because::Strategy(strategy) => BecauseReport::Strategy {
            from: strategy.from.iter().map(|state| state.index()).collect(),
            rows: strategy.rows.iter().map(|row| row_report(system, evidence, row)).collect(),
            play: run(system, &strategy.play),
            unmet: strategy.unmet,
            reasons: all(&strategy.claims),
        },
        Because::Responses(answers) => BecauseReport::Answers {
            from: answers.from.index(),
            path: answers.path.as_ref().map(|path| run(system, path)),
            rows: answers.rows.iter().map(|row| answer_report(system, reason.formula, row)).collect(),
            play: run(system, &answers.play),
            fair: answers.fair.clone(),
            reasons: all(&answers.claims),
        },
        Because::Unfolded(unfolding) => BecauseReport::Unfolded {
            nodes: unfolding.nodes.iter().map(|node| node_report(system, node, index)).collect(),
        },
        Because::NotShown(missing) => BecauseReport::NotShown { missing: word(*missing) },
    }
}

fn row_report(system: &System, evidence: &Evidence, row: &Row) -> RowReport {
    let state = evidence.state(row.state);
    let value = |v: VarId| (system.full_name(v), system.value_text(v, state[v.index()]));
    let action = |(agent, action): (&_, &masque_driver::ActionId)| {
        let agent = system.agent(*agent);
        (agent.name.clone(), agent.actions[action.index()].name.clone())
    };
    RowReport {
        sees: row.sees.iter().map(|&v| value(v)).collect(),
        state: row.state.index(),
        actions: row.agents.iter().zip(&row.actions).map(action).collect(),
    }
}

fn answer_report(system: &System, formula: FormulaId, row: &Response) -> AnswerReport {
    let members = members(system, formula);
    let all = doing(system, &row.joint);
    let is_member = |name: &str| members.iter().any(|&agent| system.agent(agent).name == name);
    let part =
        |of_group: bool| all.0.iter().filter(|(name, _)| is_member(name) == of_group).cloned().collect();
    AnswerReport {
        state: row.state.index(),
        violated: row.stage.violated,
        seeks: row.stage.seeks,
        choice: part(true),
        answer: part(false),
        next: row.next.map(StateId::index),
    }
}

/// Returns the members of the group of a coalition formula.
pub(crate) fn members(system: &System, formula: FormulaId) -> &[AgentId] {
    match system.formulas.get(formula) {
        Formula::Enforces(group, ..) => &system.groups[group.index()].agents,
        _ => &[],
    }
}

fn node_report(system: &System, node: &UnfoldedClaim, index: &dyn Fn(FormulaId) -> usize) -> UnfoldedReport {
    let step = |(joint, node): &(Option<JointAction>, usize)| StepReport {
        actions: joint.as_ref().map(|joint| doing(system, joint)),
        node: *node,
    };
    UnfoldedReport {
        formula: index(node.formula),
        holds: node.holds,
        state: node.state.index(),
        scope: node.scope.iter().map(|&formula| index(formula)).collect(),
        by: match &node.by {
            DecidedBy::Reason(reason) => SupportReport::Reason { reason: reason.index() },
            DecidedBy::Nodes(nodes) => SupportReport::Nodes { nodes: nodes.clone() },
            DecidedBy::Steps(steps) => SupportReport::Steps { steps: steps.iter().map(step).collect() },
            DecidedBy::Possible { view, path, node } => SupportReport::Possible {
                view: view.iter().map(|&agent| system.agent(agent).name.clone()).collect(),
                path: path.as_ref().map(|path| run(system, path)),
                node: *node,
            },
            DecidedBy::Alike(nodes) => SupportReport::Alike { nodes: nodes.clone() },
        },
    }
}

fn word(missing: NotShownReason) -> &'static str {
    match missing {
        NotShownReason::AllPaths => "all-paths",
        NotShownReason::AllStates => "all-states",
        NotShownReason::Strategies => "strategies",
        NotShownReason::Fixpoint => "fixpoint",
        NotShownReason::Fairness => "fairness",
        NotShownReason::TooMuch => "too-much",
    }
}
