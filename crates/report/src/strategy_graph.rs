//! A strategy of a group as a graph: the states to which it may lead, the choice at each, and what follows.
//!
//! Evidence has the strategy as a table and one play. The other states are found by following the table on the
//! system, for every response of the other agents.

use std::collections::{BTreeMap, HashMap};

use masque_driver::{
    ActionId, AgentId, Formula, FormulaId, GroupStrategy, Neighbourhood, Reason, State, StateId, VarId,
};

use crate::evidence::members;
use crate::evidence_context::EvidenceContext;
use crate::evidence_text::number;
use crate::graph::{Card, Graph, Line, Mark, Step};

/// Maximum number of states that are followed.
const MAX_STATES: usize = 400;
/// Maximum number of states of a strategy that is drawn.
pub(crate) const MAX_DRAWN_STATES: usize = 60;

/// A strategy, followed on the system.
#[derive(Default)]
pub(crate) struct StrategyGraph {
    pub(crate) nodes: Vec<Node>,
    /// Whether all states to which the strategy may lead are nodes.
    pub(crate) is_complete: bool,
}

/// A state to which a strategy may lead.
pub(crate) struct Node {
    /// Name: the number of the state in the evidence, or of the node if it is not in the evidence.
    pub(crate) name: String,
    state: State,
    /// Number of steps from the states at which the strategy begins.
    layer: usize,
    /// Node from which it was reached first.
    parent: Option<usize>,
    /// For each member, the row of the strategy that applies.
    pub(crate) rows: Vec<usize>,
    /// Whether the goal is met here.
    is_end: bool,
    /// Nodes that may follow, each with the responses of the other agents that lead there.
    next: BTreeMap<usize, Vec<String>>,
}

impl StrategyGraph {
    /// Follows a strategy from the states at which it must succeed.
    pub(crate) fn new(context: &EvidenceContext<'_>, reason: &Reason, strategy: &GroupStrategy) -> Self {
        let goal = Goal::new(context, reason, strategy);
        let mut nearby = Neighbourhood::new(context.system);
        let mut graph = StrategyGraph { is_complete: true, ..StrategyGraph::default() };
        let mut known: HashMap<u32, usize> = HashMap::new();
        let names: HashMap<&State, String> = (context.evidence.states.iter().enumerate())
            .map(|(at, state)| (state, number(StateId(at as u32))))
            .collect();
        let mut numbers: Vec<u32> = Vec::new();
        for &from in &strategy.from {
            let id = nearby.number(context.evidence.state(from).clone());
            graph.node(&mut known, &mut numbers, (id, None), &nearby, &names);
        }
        let mut at = 0;
        while at < graph.nodes.len() {
            let state = graph.nodes[at].state.clone();
            graph.nodes[at].is_end = goal.is_end(&state, graph.nodes[at].layer);
            let chosen = if graph.nodes[at].is_end { None } else { goal.chosen(&state) };
            if let Some((rows, actions)) = chosen {
                graph.nodes[at].rows = rows;
                let Some(steps) = nearby.steps(numbers[at]) else {
                    graph.is_complete = false;
                    break;
                };
                for step in steps.iter() {
                    let Some(joint) = &step.joint else { continue };
                    if goal
                        .members
                        .iter()
                        .zip(&actions)
                        .any(|(agent, action)| joint[agent.index()] != *action)
                    {
                        continue;
                    }
                    for &target in &step.targets {
                        if graph.nodes.len() >= MAX_STATES && !known.contains_key(&target) {
                            graph.is_complete = false;
                            continue;
                        }
                        let to = graph.node(&mut known, &mut numbers, (target, Some(at)), &nearby, &names);
                        let response = goal.response(context, joint);
                        let texts = graph.nodes[at].next.entry(to).or_default();
                        if !texts.contains(&response) {
                            texts.push(response);
                        }
                    }
                }
            }
            at += 1;
        }
        graph
    }

    fn node(
        &mut self,
        known: &mut HashMap<u32, usize>,
        numbers: &mut Vec<u32>,
        (id, parent): (u32, Option<usize>),
        nearby: &Neighbourhood<'_>,
        names: &HashMap<&State, String>,
    ) -> usize {
        if let Some(&node) = known.get(&id) {
            return node;
        }
        let state = nearby.state(id).clone();
        let name = names.get(&state).cloned().unwrap_or_else(|| format!("+{}", self.nodes.len()));
        let layer = parent.map_or(0, |parent| self.nodes[parent].layer + 1);
        let (rows, next) = (Vec::new(), BTreeMap::new());
        self.nodes.push(Node { name, state, layer, parent, rows, is_end: false, next });
        numbers.push(id);
        known.insert(id, self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The names of the states that may follow where a row of the strategy applies.
    pub(crate) fn after(&self, row: usize) -> Vec<&str> {
        let nodes = self.nodes.iter().filter(|node| node.rows.contains(&row));
        let mut all: Vec<&str> = Vec::new();
        for target in nodes.flat_map(|node| node.next.keys()) {
            let name = self.nodes[*target].name.as_str();
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }

    /// The names of the states where a row of the strategy applies.
    pub(crate) fn at(&self, row: usize) -> Vec<&str> {
        self.nodes.iter().filter(|node| node.rows.contains(&row)).map(|node| node.name.as_str()).collect()
    }

    /// The drawing: a row for each number of steps. Steps to a state that is drawn above are written on the
    /// card where they begin.
    pub(crate) fn graph(&self, context: &EvidenceContext<'_>, strategy: &GroupStrategy) -> Graph {
        let mut graph = Graph { is_layered: true, ..Graph::default() };
        let mut n_in_layer: Vec<usize> = Vec::new();
        let moving = self.moving();
        for node in &self.nodes {
            if n_in_layer.len() <= node.layer {
                n_in_layer.resize(node.layer + 1, 0);
            }
            let (column, row) = (n_in_layer[node.layer], node.layer);
            n_in_layer[node.layer] += 1;
            let before = node.parent.map(|parent| &self.nodes[parent].state);
            let is_shown = |v: &VarId| match before {
                Some(before) => before[v.index()] != node.state[v.index()],
                None => moving[v.index()] || context.matters(*v),
            };
            let value = |v: VarId| Line {
                text: format!(
                    "{} = {}",
                    context.system.full_name(v),
                    context.system.value_text(v, node.state[v.index()])
                ),
                mark: Mark::Value,
            };
            let mut lines: Vec<Line> = context.system.variable_ids().filter(is_shown).map(value).collect();
            let choices = node.rows.iter().flat_map(|&row| choice_texts(context, strategy, row));
            lines.extend(choices.map(|text| Line { text: format!("\u{25b8} {text}"), mark: Mark::Choice }));
            if node.is_end {
                lines.push(Line { text: "goal reached".to_string(), mark: Mark::True });
            }
            for (to, _) in node.next.iter().filter(|(to, _)| self.nodes[**to].layer != node.layer + 1) {
                let text = format!("may lead to {}", self.nodes[*to].name);
                lines.push(Line { text, mark: Mark::Value });
            }
            let state = Some(StateId(graph.cards.len() as u32));
            let (variables, marks) = (Vec::new(), BTreeMap::new());
            graph.cards.push(Card { state, title: node.name.clone(), lines, column, row, variables, marks });
        }
        for (from, node) in self.nodes.iter().enumerate() {
            for (&to, responses) in
                node.next.iter().filter(|(to, _)| self.nodes[**to].layer == node.layer + 1)
            {
                let mut doing: Vec<String> =
                    responses.iter().filter(|text| !text.is_empty()).cloned().collect();
                if doing.len() > 3 {
                    doing = vec![format!("{} responses", doing.len())];
                }
                // One text is enough for arrows to the same card.
                let is_written = graph.steps.iter().any(|step| step.to == to && step.doing == doing);
                let doing = if is_written { Vec::new() } else { doing };
                graph.steps.push(Step { from, to, doing });
            }
        }
        graph
    }

    /// For each variable, whether it differs between two nodes.
    fn moving(&self) -> Vec<bool> {
        let Some(first) = self.nodes.first() else { return Vec::new() };
        let differs = |at: usize| self.nodes.iter().any(|node| node.state[at] != first.state[at]);
        (0..first.state.len()).map(differs).collect()
    }
}

/// The actions of a row of a strategy, as in `TianJi: wait`.
pub(crate) fn choice_texts(
    context: &EvidenceContext<'_>,
    strategy: &GroupStrategy,
    row: usize,
) -> Vec<String> {
    let row = &strategy.rows[row];
    action_texts(context, &row.agents, &row.actions)
}

/// The actions of these agents; agents without actions are left out.
pub(crate) fn action_texts(
    context: &EvidenceContext<'_>,
    agents: &[AgentId],
    actions: &[ActionId],
) -> Vec<String> {
    let text = |(&agent, &action): (&AgentId, &ActionId)| {
        let agent = context.system.agent(agent);
        let name = &agent.actions.get(action.index())?.name;
        (!name.is_empty()).then(|| format!("{}: {name}", agent.name))
    };
    agents.iter().zip(actions).filter_map(text).collect()
}

/// A strategy with what it must achieve.
struct Goal<'a> {
    context: &'a EvidenceContext<'a>,
    strategy: &'a GroupStrategy,
    members: Vec<AgentId>,
    /// Formula at whose states the goal is met.
    end: Option<FormulaId>,
    /// Whether the goal is about the next state only.
    is_next: bool,
}

impl<'a> Goal<'a> {
    fn new(context: &'a EvidenceContext<'a>, reason: &Reason, strategy: &'a GroupStrategy) -> Self {
        let formulas = &context.system.formulas;
        let path = match formulas.get(reason.formula) {
            Formula::Enforces(_, _, path) => Some(formulas.get(path)),
            _ => None,
        };
        let end = match path {
            Some(Formula::Finally(end) | Formula::Until(_, end)) => Some(end),
            _ => None,
        };
        let members = members(context.system, reason.formula).to_vec();
        Goal { context, strategy, members, end, is_next: matches!(path, Some(Formula::Next(_))) }
    }

    fn is_end(&self, state: &State, layer: usize) -> bool {
        let evidence = self.context.evidence;
        let is_claimed = |end: FormulaId| {
            self.strategy
                .claims
                .iter()
                .map(|&id| evidence.reason(id))
                .any(|claim| claim.formula == end && claim.holds && evidence.state(claim.state) == state)
        };
        self.end.is_some_and(is_claimed) || (self.is_next && layer > 0)
    }

    /// The rows that apply at a state, and the action of each member; `None` if the strategy is not defined
    /// for all members.
    fn chosen(&self, state: &State) -> Option<(Vec<usize>, Vec<ActionId>)> {
        let (mut rows, mut actions) = (Vec::new(), Vec::new());
        for member in &self.members {
            let (at, row) = self.strategy.rows.iter().enumerate().find(|(_, row)| {
                let known = self.context.evidence.state(row.state);
                row.agents.contains(member) && row.sees.iter().all(|v| known[v.index()] == state[v.index()])
            })?;
            let place = row.agents.iter().position(|agent| agent == member)?;
            actions.push(*row.actions.get(place)?);
            if !rows.contains(&at) {
                rows.push(at);
            }
        }
        Some((rows, actions))
    }

    /// The actions of the other agents that have a choice.
    fn response(&self, context: &EvidenceContext<'_>, joint: &[ActionId]) -> String {
        let others: Vec<AgentId> = (context.system.agent_ids())
            .filter(|agent| !self.members.contains(agent) && context.system.agent(*agent).actions.len() > 1)
            .collect();
        let actions: Vec<ActionId> = others.iter().map(|agent| joint[agent.index()]).collect();
        action_texts(context, &others, &actions).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use masque_driver::{Because, Limits, Model, Request, Show, Shown, Work, check, load_text};

    use super::*;

    /// The play of a strategy is one of the paths of its graph, and every state has a choice or is an end.
    #[test]
    fn plays_follow_the_graph() {
        let mut n_strategies = 0;
        for text in [
            include_str!("../../../models/ispl/horse_race.ispl"),
            include_str!("../../../models/ispl/card_game.ispl"),
        ] {
            let work = Work { evidence: Show::All, ..Work::default() };
            let loaded = load_text("model.ispl", text, &Request { work, ..Request::default() });
            let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap().unwrap();
            let Some(Model::Ispl(system)) = &loaded.model else { panic!("{:?}", loaded.diagnostics) };
            for decision in &run.decisions {
                let Some(Shown::Reasons(evidence)) = &decision.evidence else { continue };
                let context = EvidenceContext::new(system, evidence);
                for reason in &evidence.reasons {
                    let Because::Strategy(strategy) = &reason.because else { continue };
                    n_strategies += 1;
                    follow(&StrategyGraph::new(&context, reason, strategy), &context, strategy);
                }
            }
        }
        assert!(n_strategies >= 4, "{n_strategies}");
    }

    fn follow(graph: &StrategyGraph, context: &EvidenceContext<'_>, strategy: &GroupStrategy) {
        assert!(graph.is_complete);
        let node = |id: StateId| {
            let state = context.evidence.state(id);
            graph.nodes.iter().position(|node| node.state == *state).unwrap_or_else(|| panic!("no {id:?}"))
        };
        for pair in strategy.play.states.windows(2) {
            let (from, to) = (node(pair[0]), node(pair[1]));
            assert!(graph.nodes[from].next.contains_key(&to), "{pair:?}");
        }
        for node in &graph.nodes {
            assert!(node.is_end || !node.rows.is_empty(), "{}", node.name);
        }
        for row in 0..strategy.rows.len() {
            assert!(!graph.at(row).is_empty(), "row {row} applies somewhere");
        }
    }
}
