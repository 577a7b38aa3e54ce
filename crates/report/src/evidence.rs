//! What shows a verdict, as data.
//!
//! States, formulas and reasons stand in lists, each once, and are referred to by their position:
//! reasons share parts, so written out as a tree they could become very long.

use masque_driver::{
    AgentId, Answer, Because, Evidence, Formula, FormulaId, JointAction, LabelledRun, Missing, Model, Node,
    PathRun, Possibility, Reason, ReasonId, Row, Showing, Shown, StateId, Support, System, VarId,
};
use schemars::JsonSchema;
use serde::Serialize;

use crate::path::{doing, values};
use crate::{Entries, ExplanationReport, TraceReport};

/// What is shown for a verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnyEvidence {
    /// For interpreted systems: reasons for claims.
    Reasons(EvidenceReport),
    /// For BDI: paths through worlds.
    Worlds(Box<ExplanationReport>),
    /// For LCC: what happens on a run.
    Trace(Box<TraceReport>),
    /// For transition systems: a run.
    Run(Box<LabelledRunReport>),
}

impl AnyEvidence {
    /// What is shown, as data, in the words of the model.
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

/// A run of a transition system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelledRunReport {
    /// The states, by their numbers in the file.
    pub states: Vec<u64>,
    /// The labels of the transitions between them; of a loop, the last leads back.
    pub labels: Vec<String>,
    /// Of a run that goes on forever: the position in `states` to which the last label leads back.
    #[serde(rename = "loop")]
    pub back_to: Option<usize>,
    /// Whether the last state has no transitions.
    pub deadlock: bool,
}

impl From<&LabelledRun> for LabelledRunReport {
    fn from(run: &LabelledRun) -> Self {
        LabelledRunReport {
            states: run.states.clone(),
            labels: run.labels.clone(),
            back_to: run.back_to,
            deadlock: run.is_stuck,
        }
    }
}

/// What shows a verdict: reasons for claims, the first for the property itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EvidenceReport {
    /// All states that are spoken of: the values of all variables (`Agent.variable`), as the
    /// language writes them. Elsewhere a state is its position here.
    pub states: Vec<Entries<String>>,
    /// All formulas that are spoken of, fully bracketed. Elsewhere a formula is its position here.
    pub formulas: Vec<String>,
    /// From an initial state to the state at which the property is looked at.
    pub start: RunPath,
    /// The first is about the property, at the end of `start`. A reason refers to others by their
    /// position here, and only to reasons about parts of its formula.
    pub reasons: Vec<ReasonReport>,
}

/// A path through the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunPath {
    /// The states, at least one.
    pub states: Vec<usize>,
    /// For each step what each agent does; an agent without actions does not appear. Null is the
    /// step of a dead end to itself that `--deadlock stutter` adds.
    pub actions: Vec<Option<Entries<String>>>,
    /// The position in `states` to which the last action leads back, if the run goes on for ever.
    #[serde(rename = "loop")]
    pub back_to: Option<usize>,
}

/// A claim, that a formula is true or false at a state, and why it is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReasonReport {
    /// The formula.
    pub formula: usize,
    /// Whether it is true or false.
    pub holds: bool,
    /// The state.
    pub state: usize,
    /// Why.
    pub because: BecauseReport,
}

/// Why a formula is true or false at a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum BecauseReport {
    /// The formula speaks of this state only.
    Here,
    /// These claims about parts of the formula, at the same state, decide.
    Operands {
        /// Their reasons.
        reasons: Vec<usize>,
    },
    /// The state has no successor; that decides, together with these claims at the same state.
    DeadEnd {
        /// Their reasons.
        reasons: Vec<usize>,
    },
    /// A run from the state does what the operator says that some run does.
    Run {
        /// The run.
        run: RunPath,
        /// What is claimed along it, in the order of positions.
        claims: Vec<PositionReport>,
        /// If the run goes on for ever: for each fairness constraint a position on the loop where
        /// it is true.
        fair: Vec<usize>,
    },
    /// A state that the agents of `view`, even together, cannot tell from this one, and where the
    /// agents of `green` are green.
    Possible {
        /// Those who cannot tell; nobody for `O`, which speaks of all states.
        view: Vec<String>,
        /// Those who must be green.
        green: Vec<String>,
        /// The other state.
        state: usize,
        /// From an initial state to it; null if it is the same state.
        path: Option<RunPath>,
        /// Why the operand is false there.
        reason: usize,
    },
    /// A chain of states, each looking the same as the one before to some member of the group.
    Chain {
        /// Its links; none if the operand is false right here.
        links: Vec<LinkReport>,
        /// Why the operand is false at its end.
        reason: usize,
    },
    /// A strategy of the group enforces it, whatever the others do.
    Strategy {
        /// The states from which it does: the state of the claim, and with uniform strategies all
        /// that must be won together with it.
        from: Vec<usize>,
        /// What to do.
        rows: Vec<RowReport>,
        /// How it is played against opponents who put off the end as long as they can.
        play: RunPath,
        /// If the play goes on for ever and is not fair: the number of a fairness constraint that is
        /// never true on its loop.
        unmet: Option<usize>,
        /// What is claimed at the states to which the strategy may lead.
        reasons: Vec<usize>,
    },
    /// Whatever the group chooses, the others have an answer that spoils it.
    Answers {
        /// The state from which they do: the state of the claim, or with uniform strategies one that
        /// must be won together with it.
        from: usize,
        /// From an initial state to it; null if it is the state of the claim.
        path: Option<RunPath>,
        /// The answers, wherever they may lead.
        rows: Vec<AnswerReport>,
        /// How it is played by a group that puts off its defeat as long as it can.
        play: RunPath,
        /// If the play goes on for ever: for each fairness constraint a position on the loop where it
        /// is true.
        fair: Vec<usize>,
        /// What is claimed at the states to which the answers may lead.
        reasons: Vec<usize>,
    },
    /// The fixpoint is unfolded as often as is needed.
    Unfolded {
        /// Claims about parts of the fixpoint, the first the claim itself. Elsewhere a node is its
        /// position here.
        nodes: Vec<UnfoldedReport>,
    },
    /// It is so, but one run or one state cannot show it.
    NotShown {
        /// `all-paths`, `all-states`, `strategies`, `fixpoint`, `fairness` or `too-much`: what would
        /// have to be shown, or that it would be too long.
        #[schemars(extend("enum" = ["all-paths", "all-states", "strategies", "fixpoint", "fairness", "too-much"]))]
        missing: &'static str,
    },
}

/// A claim at a position of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PositionReport {
    /// The position in the run's `states`.
    pub position: usize,
    /// The claim's reason.
    pub reason: usize,
}

/// What agents do where they see what they see of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowReport {
    /// What is seen: the values of these variables. With perfect information that is the whole state.
    pub sees: Entries<String>,
    /// A state in which it is seen.
    pub state: usize,
    /// What each of the agents does.
    pub actions: Entries<String>,
}

/// What the others do when the group has chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnswerReport {
    /// Where.
    pub state: usize,
    /// With fairness: whether the goal is violated already, so that it remains to keep the run fair.
    pub violated: bool,
    /// With fairness: the number of the constraint that is to be met next.
    pub seeks: Option<usize>,
    /// What each member of the group does.
    pub choice: Entries<String>,
    /// What each of the others does.
    pub answer: Entries<String>,
    /// Where that leads; null if no step follows.
    pub next: Option<usize>,
}

/// A claim about a part of a fixpoint, in which variables stand for the fixpoints around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnfoldedReport {
    /// The part.
    pub formula: usize,
    /// Whether it is true or false.
    pub holds: bool,
    /// Where.
    pub state: usize,
    /// The fixpoints that its variables stand for, the outermost first.
    pub scope: Vec<usize>,
    /// Why.
    pub by: SupportReport,
}

/// Why a claim about a part of a fixpoint is so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SupportReport {
    /// The part has no variables of fixpoints around it: it has a reason of its own.
    Reason {
        /// Its reason.
        reason: usize,
    },
    /// These decide at the same state: operands, the body of a fixpoint, or what a variable stands for.
    Nodes {
        /// The nodes.
        nodes: Vec<usize>,
    },
    /// These decide after steps: one that leads there, or all that there are.
    Steps {
        /// The steps.
        steps: Vec<StepReport>,
    },
    /// One at a state that the agents of `view`, even together, cannot tell from this one decides.
    Possible {
        /// Those who cannot tell; nobody for `O`, which speaks of all states.
        view: Vec<String>,
        /// From an initial state to the other state; null if it is the same state.
        path: Option<RunPath>,
        /// The node there.
        node: usize,
    },
    /// These, at all states that must be reckoned with, decide.
    Alike {
        /// The nodes.
        nodes: Vec<usize>,
    },
}

/// A step from a node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepReport {
    /// What each agent does; null is the step of a dead end to itself.
    pub actions: Option<Entries<String>>,
    /// Where it leads.
    pub node: usize,
}

/// One link of a chain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LinkReport {
    /// Who cannot tell the two states apart.
    pub agent: String,
    /// The state it leads to.
    pub state: usize,
    /// From an initial state to that state.
    pub path: RunPath,
}

impl EvidenceReport {
    /// The report on evidence about a system.
    pub(crate) fn new(system: &System, evidence: &Evidence) -> Self {
        let mut formulas: Vec<_> = evidence.reasons.iter().map(|reason| reason.formula).collect();
        for reason in &evidence.reasons {
            if let Because::Unfolded(unfolding) = &reason.because {
                formulas.extend(unfolding.nodes.iter().map(|node| node.formula));
            }
        }
        // Larger formulas have larger ids: the property comes first, its parts after it.
        formulas.sort_unstable_by(|a, b| b.cmp(a));
        formulas.dedup();
        let position = |id| formulas.partition_point(|formula| *formula > id);
        EvidenceReport {
            states: evidence.states.iter().map(|state| values(system, state)).collect(),
            start: run(system, &evidence.start),
            reasons: evidence
                .reasons
                .iter()
                .map(|reason| ReasonReport {
                    formula: position(reason.formula),
                    holds: reason.holds,
                    state: reason.state.index(),
                    because: because(system, evidence, reason, &position),
                })
                .collect(),
            formulas: formulas.iter().map(|&formula| system.formula_text(formula)).collect(),
        }
    }
}

fn run(system: &System, run: &PathRun) -> RunPath {
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
    position: &dyn Fn(FormulaId) -> usize,
) -> BecauseReport {
    let all = |list: &[ReasonId]| list.iter().map(|reason| reason.index()).collect();
    let names = |agents: &[_]| agents.iter().map(|&agent| system.agent(agent).name.clone()).collect();
    match &reason.because {
        Because::Here => BecauseReport::Here,
        Because::Operands(list) => BecauseReport::Operands { reasons: all(list) },
        Because::DeadEnd(list) => BecauseReport::DeadEnd { reasons: all(list) },
        Because::Run(Showing { run: path, claims, fair }) => BecauseReport::Run {
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
        Because::Answers(answers) => BecauseReport::Answers {
            from: answers.from.index(),
            path: answers.path.as_ref().map(|path| run(system, path)),
            rows: answers.rows.iter().map(|row| answer_report(system, reason.formula, row)).collect(),
            play: run(system, &answers.play),
            fair: answers.fair.clone(),
            reasons: all(&answers.claims),
        },
        Because::Unfolded(unfolding) => BecauseReport::Unfolded {
            nodes: unfolding.nodes.iter().map(|node| node_report(system, node, position)).collect(),
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

fn answer_report(system: &System, formula: FormulaId, row: &Answer) -> AnswerReport {
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

/// The members of the group of a coalition's formula.
pub(crate) fn members(system: &System, formula: FormulaId) -> &[AgentId] {
    match system.formulas.get(formula) {
        Formula::Enforces(group, ..) => &system.groups[group.index()].agents,
        _ => &[],
    }
}

fn node_report(system: &System, node: &Node, position: &dyn Fn(FormulaId) -> usize) -> UnfoldedReport {
    let step = |(joint, node): &(Option<JointAction>, usize)| StepReport {
        actions: joint.as_ref().map(|joint| doing(system, joint)),
        node: *node,
    };
    UnfoldedReport {
        formula: position(node.formula),
        holds: node.holds,
        state: node.state.index(),
        scope: node.scope.iter().map(|&formula| position(formula)).collect(),
        by: match &node.by {
            Support::Reason(reason) => SupportReport::Reason { reason: reason.index() },
            Support::Nodes(nodes) => SupportReport::Nodes { nodes: nodes.clone() },
            Support::Steps(steps) => SupportReport::Steps { steps: steps.iter().map(step).collect() },
            Support::Possible { view, path, node } => SupportReport::Possible {
                view: view.iter().map(|&agent| system.agent(agent).name.clone()).collect(),
                path: path.as_ref().map(|path| run(system, path)),
                node: *node,
            },
            Support::Alike(nodes) => SupportReport::Alike { nodes: nodes.clone() },
        },
    }
}

fn word(missing: Missing) -> &'static str {
    match missing {
        Missing::AllPaths => "all-paths",
        Missing::AllStates => "all-states",
        Missing::Strategies => "strategies",
        Missing::Fixpoint => "fixpoint",
        Missing::Fairness => "fairness",
        Missing::TooMuch => "too-much",
    }
}
