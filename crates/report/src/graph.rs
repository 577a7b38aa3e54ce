//! Evidence as a graph: states as cards, steps, and pairs of indistinguishable states.
//!
//! Every path goes down a column of its own. A state that is drawn already is not repeated: the path
//! continues from its card. A state that is indistinguishable from another is put into the same row if
//! possible.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use masque_driver::{
    AgentId, Because, DecidedBy, EvidencePath, Possibility, ReasonId, StateId, Unfolding, VarId,
};

use crate::evidence_context::{Abridged, EvidenceContext, formula_variables};
use crate::evidence_text::{number, why_not_shown};
use crate::folded::folded;
use crate::graph_layout::{MAX_LINE_CHARS, NORM_LABEL};
use crate::limits::Limits;
use crate::lines::PLAIN;
use crate::long_paths::{Shown, cut};
use crate::run_text::broken;
use crate::wording::plural;

/// Limits of a drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphLimits {
    /// Number of states drawn at each end of a long path.
    pub(crate) at_each_end: usize,
    /// Maximum number of cards.
    pub(crate) cards: usize,
    /// Maximum number of variables on the first card of a path.
    pub(crate) first_variables: usize,
    /// Maximum number of changed variables on a card, and of compared variables of each kind.
    pub(crate) changed_variables: usize,
    /// Maximum number of claims on a card.
    pub(crate) claims: usize,
    /// Limits of the actions at a step.
    pub(crate) step: Limits,
}

impl GraphLimits {
    /// A drawing that gives an overview.
    pub(crate) const OVERVIEW: GraphLimits = GraphLimits {
        at_each_end: 5,
        cards: 150,
        first_variables: 12,
        changed_variables: 8,
        claims: 4,
        step: Limits { actions: 6, ..Limits::NORMAL },
    };
    /// A drawing of everything.
    pub(crate) const NONE: GraphLimits = GraphLimits {
        at_each_end: usize::MAX,
        cards: usize::MAX,
        first_variables: usize::MAX,
        changed_variables: usize::MAX,
        claims: usize::MAX,
        step: Limits::NONE,
    };
}

/// Evidence as cards in columns and rows.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) cards: Vec<Card>,
    pub(crate) steps: Vec<Step>,
    pub(crate) alike: Vec<Alike>,
    /// Agents that cannot distinguish states, for the legend. Elsewhere an agent is an index in this list.
    pub(crate) agents: Vec<GraphAgent>,
    /// Notes on what is not drawn.
    pub(crate) notes: Vec<String>,
    /// Whether each row is a layer: arrows lead from row to row, between any two columns.
    pub(crate) is_layered: bool,
    /// Whether something is not drawn because of the limits.
    pub(crate) is_abridged: bool,
    /// Number of states of the runs so far, with those that are left out. They are numbered from 0.
    pub(crate) n_numbered: usize,
}

/// An agent in a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GraphAgent {
    pub(crate) name: String,
    /// Index of the agent in its system, which selects its colour.
    pub(crate) colour: usize,
}

/// A state, or a part of a path that is left out.
pub(crate) struct Card {
    /// State; `None` for a part that is left out.
    pub(crate) state: Option<StateId>,
    /// Heading: `#3`, or empty.
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
    pub(crate) column: usize,
    pub(crate) row: usize,
    pub(crate) variables: Vec<VarId>,
    pub(crate) marks: BTreeMap<VarId, Mark>,
}

/// A line on a card.
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) mark: Mark,
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// A value.
    Value,
    /// A value that agents see and that is the same at the indistinguishable state.
    Seen,
    /// A difference that occurs in the formula.
    Differs,
    /// A claim that is true.
    True,
    /// A claim that is false.
    False,
    /// A choice of a strategy.
    Choice,
}

impl Mark {
    /// CSS class of such lines.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Mark::Value => "value",
            Mark::Seen => "seen",
            Mark::Differs => "differs",
            Mark::True => "true",
            Mark::False => "false",
            Mark::Choice => "choice",
        }
    }
}

/// A step from a card to another.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Actions of the agents.
    pub(crate) doing: Vec<String>,
}

/// Two cards that are related, but not by a step.
#[derive(PartialEq, Eq)]
pub(crate) struct Alike {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: AlikeKind,
}

/// How two cards are related.
#[derive(PartialEq, Eq)]
pub(crate) enum AlikeKind {
    /// Agents cannot distinguish the states. The agents are indices in [`Graph::agents`].
    Indistinguishable(Vec<usize>),
    /// Norms admit the second state.
    Admitted,
    /// An edge between worlds leads from the first state to the second.
    Edge(String),
}

impl Graph {
    pub(crate) fn new(context: &EvidenceContext<'_>, limits: GraphLimits) -> Graph {
        let mut builder = Builder {
            context,
            limits,
            graph: Graph::default(),
            cards: HashMap::new(),
            taken: BTreeSet::new(),
            drawn: HashSet::new(),
        };
        builder.build();
        builder.graph
    }

    /// The label of a line between two cards: the agents that cannot distinguish them, or the edge.
    pub(crate) fn label(&self, alike: &Alike) -> String {
        match &alike.kind {
            AlikeKind::Indistinguishable(agents) => {
                let names: Vec<&str> = agents.iter().map(|agent| self.agents[*agent].name.as_str()).collect();
                names.join(", ")
            }
            AlikeKind::Admitted => NORM_LABEL.to_string(),
            AlikeKind::Edge(edge) => edge.clone(),
        }
    }

    /// The index of the colour of a line between two cards; `None` for a neutral one.
    pub(crate) fn colour(&self, alike: &Alike) -> Option<usize> {
        match &alike.kind {
            AlikeKind::Indistinguishable(agents) => agents.first().map(|agent| self.agents[*agent].colour),
            AlikeKind::Admitted | AlikeKind::Edge(_) => None,
        }
    }

    /// Breaks lines that are too long for a card.
    pub(crate) fn wrapped(mut self) -> Graph {
        for card in &mut self.cards {
            let lines = std::mem::take(&mut card.lines);
            card.lines = lines.into_iter().flat_map(|line| wrapped_line(&line)).collect();
        }
        self
    }

    /// The lines on the card of a state.
    fn lines_of(
        context: &EvidenceContext<'_>,
        card: &Card,
        state: StateId,
        claims: &[ReasonId],
        max_claims: usize,
    ) -> Vec<Line> {
        let value = |&variable: &VarId| Line {
            text: context.assignment(variable, state),
            mark: card.marks.get(&variable).copied().unwrap_or(Mark::Value),
        };
        let mut lines: Vec<Line> = card.variables.iter().map(value).collect();
        for &id in claims.iter().take(max_claims) {
            let reason = context.evidence.reason(id);
            let not_shown = match reason.because {
                Because::NotShown(missing) => format!(" ({})", why_not_shown(missing)),
                _ => String::new(),
            };
            let mark = if reason.holds { Mark::True } else { Mark::False };
            let text = format!("{}: {}{not_shown}", mark.word(), context.formula(reason.formula));
            lines.push(Line { text, mark });
        }
        if claims.len() > max_claims {
            let text = format!("and {} more claims", claims.len() - max_claims);
            lines.push(Line { text, mark: Mark::Value });
        }
        lines
    }
}

/// The parts of a line that fit on a card.
fn wrapped_line(line: &Line) -> Vec<Line> {
    let parts = broken(&(PLAIN, line.text.clone()), MAX_LINE_CHARS);
    parts.into_iter().map(|(_, text)| Line { text, mark: line.mark }).collect()
}

struct Builder<'a> {
    context: &'a EvidenceContext<'a>,
    limits: GraphLimits,
    graph: Graph,
    /// Index of the card of each state.
    cards: HashMap<StateId, usize>,
    /// Columns and rows that are occupied by a card.
    taken: BTreeSet<(usize, usize)>,
    /// Steps that are drawn.
    drawn: HashSet<Step>,
}

impl Builder<'_> {
    fn build(&mut self) {
        let evidence = self.context.evidence;
        self.run(&evidence.start, &[], None);
        let order = self.context.order();
        let mut n_not_drawn = 0;
        for &id in &order {
            let reason = evidence.reason(id);
            if self.graph.cards.len() >= self.limits.cards {
                let has_no_run = matches!(
                    reason.because,
                    Because::Here | Because::Operands(_) | Because::DeadEnd(_) | Because::NotShown(_)
                );
                n_not_drawn += usize::from(!has_no_run);
                continue;
            }
            match &reason.because {
                Because::Path(showing) => {
                    let showing = folded(showing);
                    self.run(&showing.run, &self.context.important(&showing), None);
                }
                Because::Strategy(strategy) => self.run(&strategy.play, &[], None),
                Because::Responses(answers) => {
                    answers.path.iter().for_each(|path| self.run(path, &[], None));
                    self.run(&answers.play, &answers.fair, None);
                }
                Because::Unfolded(unfolding) => self.unfolding(unfolding),
                Because::Possible(possible) => self.possible(reason.state, possible),
                Because::Chain(chain) => {
                    let mut before = reason.state;
                    for (nth, link) in chain.links.iter().enumerate() {
                        if self.graph.cards.len() >= self.limits.cards {
                            self.not_drawn(&format!("{} more links", chain.links.len() - nth));
                            break;
                        }
                        self.alike(before, link.state, &[link.agent], &link.path);
                        before = link.state;
                    }
                }
                _ => {}
            }
        }
        if n_not_drawn > 0 {
            self.not_drawn(&format!("{n_not_drawn} more claims"));
        }
        self.write_cards(&order);
    }

    fn not_drawn(&mut self, what: &str) {
        self.graph.is_abridged = true;
        self.graph.notes.push(format!("{what} are not drawn"));
    }

    /// Adds the steps of an unfolded fixpoint, and its indistinguishable states.
    fn unfolding(&mut self, unfolding: &Unfolding) {
        for node in &unfolding.nodes {
            match &node.by {
                DecidedBy::Steps(list) => {
                    for (joint, index) in list {
                        let states = vec![node.state, unfolding.nodes[*index].state];
                        self.run(
                            &EvidencePath { states, actions: vec![joint.clone()], back_to: None },
                            &[],
                            None,
                        );
                    }
                }
                DecidedBy::Possible { view, path: Some(path), node: other } => {
                    self.alike(node.state, unfolding.nodes[*other].state, view, path);
                }
                _ => {}
            }
            if self.graph.cards.len() >= self.limits.cards {
                self.not_drawn("more claims");
                break;
            }
        }
    }

    fn write_cards(&mut self, order: &[ReasonId]) {
        let mut claims: HashMap<StateId, Vec<ReasonId>> = HashMap::new();
        for &id in order {
            claims.entry(self.context.evidence.reason(id).state).or_default().push(id);
        }
        for card in &mut self.graph.cards {
            if let Some(state) = card.state {
                let claims = claims.get(&state).map_or(&[][..], Vec::as_slice);
                self.graph.is_abridged |= claims.len() > self.limits.claims;
                let lines = Graph::lines_of(self.context, card, state, claims, self.limits.claims);
                card.lines.splice(0..0, lines);
            }
        }
    }

    fn possible(&mut self, here: StateId, possible: &Possibility) {
        let Possibility { view, state, path: Some(path), reason, .. } = possible else { return };
        self.alike(here, *state, view, path);
        let in_formula =
            formula_variables(self.context.system, self.context.evidence.reason(*reason).formula);
        let mut decisive = self.context.differing(here, *state);
        decisive.retain(|variable| in_formula[variable.index()]);
        for (variables, mark) in [(self.context.seen_by(view), Mark::Seen), (decisive, Mark::Differs)] {
            for variable in self.context.abridge(variables, self.limits.changed_variables).shown {
                for state in [here, *state] {
                    self.mark(state, variable, mark);
                }
            }
        }
    }

    fn mark(&mut self, state: StateId, variable: VarId, mark: Mark) {
        let Some(card) = self.cards.get(&state).map(|&card| &mut self.graph.cards[card]) else { return };
        let known = card.marks.entry(variable).or_insert(mark);
        *known = mark.max(*known);
        if !card.variables.contains(&variable) {
            card.variables.push(variable);
        }
    }

    /// Adds a path to a state next to one from which it is indistinguishable.
    fn alike(&mut self, here: StateId, other: StateId, view: &[AgentId], path: &EvidencePath) {
        let row = self.cards.get(&here).map(|&card| self.graph.cards[card].row);
        self.run(path, &[], row);
        let (Some(&from), Some(&to)) = (self.cards.get(&here), self.cards.get(&other)) else { return };
        let agents: Vec<usize> = view.iter().map(|agent| self.legend(*agent)).collect();
        let kind = if agents.is_empty() { AlikeKind::Admitted } else { AlikeKind::Indistinguishable(agents) };
        let alike = Alike { from, to, kind };
        if !self.graph.alike.contains(&alike) {
            self.graph.alike.push(alike);
        }
    }

    fn legend(&mut self, agent: AgentId) -> usize {
        let name = &self.context.system.agent(agent).name;
        let known = self.graph.agents.iter().position(|known| known.name == *name);
        known.unwrap_or_else(|| {
            self.graph.agents.push(GraphAgent { name: name.clone(), colour: agent.index() });
            self.graph.agents.len() - 1
        })
    }

    /// Adds the new states and steps of a path. Its last state is put into row `end` if possible.
    fn run(&mut self, run: &EvidencePath, important: &[usize], end: Option<usize>) {
        let important: Vec<usize> = important.iter().copied().chain(run.back_to).collect();
        let shown = cut(run.states.len(), self.limits.at_each_end, &important);
        let mut row = end.map_or(0, |end| (end + 1).saturating_sub(shown.len()));
        let mut column = None;
        let mut before: Option<(usize, Option<usize>)> = None;
        for (index, &entry) in shown.iter().enumerate() {
            let (state, position) = match entry {
                Shown::Position(position) => (Some(run.states[position]), Some(position)),
                Shown::LeftOut(_) => (None, None),
            };
            let card = match state.and_then(|state| self.cards.get(&state)).copied() {
                Some(known) => known,
                None => {
                    let left = before.map_or(0, |(card, _)| self.graph.cards[card].column);
                    let column =
                        *column.get_or_insert_with(|| self.free_column(left, row, shown.len() - index));
                    self.card(
                        entry,
                        state,
                        before.and_then(|(card, _)| self.graph.cards[card].state),
                        (column, row),
                    )
                }
            };
            if let Some((from, position)) = before {
                self.step(from, card, run, position);
            }
            row = self.graph.cards[card].row + 1;
            before = Some((card, position));
        }
        let start = run.back_to.and_then(|start| self.cards.get(&run.states[start]).copied());
        if let (Some(to), Some((from, position))) = (start, before) {
            self.step(from, to, run, position);
        }
    }

    /// The first column from `left` on in which `n_rows` rows from `row` on are free.
    fn free_column(&self, left: usize, row: usize, n_rows: usize) -> usize {
        let is_free = |column: &usize| !(row..row + n_rows).any(|row| self.taken.contains(&(*column, row)));
        (left..).find(is_free).unwrap_or(left)
    }

    fn card(
        &mut self,
        entry: Shown,
        state: Option<StateId>,
        before: Option<StateId>,
        (column, row): (usize, usize),
    ) -> usize {
        let id = self.graph.cards.len();
        self.taken.insert((column, row));
        let title = state.map(number).unwrap_or_default();
        let Abridged { shown: variables, n_left_out } = match (state, before) {
            (None, _) => self.context.abridge(Vec::new(), 0),
            (Some(state), Some(before)) => {
                self.context.abridge(self.context.differing(before, state), self.limits.changed_variables)
            }
            (Some(_), None) => self
                .context
                .abridge(self.context.system.variable_ids().collect(), self.limits.first_variables),
        };
        self.graph.is_abridged |= state.is_none() || n_left_out > 0;
        let text = match entry {
            Shown::LeftOut(n) => Some(plural(n, "state", "states") + " left out"),
            Shown::Position(_) if n_left_out > 0 => Some(format!("and {n_left_out} more variables")),
            Shown::Position(_) => None,
        };
        let lines = text.into_iter().map(|text| Line { text, mark: Mark::Value }).collect();
        self.cards.extend(state.map(|state| (state, id)));
        let marks = BTreeMap::new();
        self.graph.cards.push(Card { state, title, lines, column, row, variables, marks });
        id
    }

    fn step(&mut self, from: usize, to: usize, run: &EvidencePath, position: Option<usize>) {
        let joint = position.and_then(|position| run.actions.get(position)?.as_ref());
        let doing = joint.map_or(Vec::new(), |joint| {
            let ends = [from, to].map(|card| self.graph.cards[card].state);
            let changed = match ends {
                [Some(before), Some(after)] => self.context.differing(before, after),
                _ => Vec::new(),
            };
            let abridged = self.context.doing(joint, &changed, self.limits.step);
            self.graph.is_abridged |= abridged.n_left_out > 0;
            let more = (abridged.n_left_out > 0).then(|| format!("and {} more", abridged.n_left_out));
            abridged.shown.into_iter().chain(more).collect()
        });
        let step = Step { from, to, doing };
        if self.drawn.insert(step.clone()) {
            self.graph.steps.push(step);
        }
    }
}
