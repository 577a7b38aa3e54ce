//! Evidence as a graph: states as cards, steps, and pairs of indistinguishable states.
//!
//! Every path goes down a column of its own. A state that is drawn already is not repeated: the path
//! continues from its card. A state that is indistinguishable from another is put into the same row if
//! possible.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use masque_driver::{
    AgentId, Because, DecidedBy, EvidencePath, Possibility, ReasonId, StateId, Unfolding, VarId,
};

use crate::evidence_context::{Abridged, EvidenceContext, formula_variables};
use crate::evidence_text::{number, why_not_shown};
use crate::long_paths::{Shown, cut};
use crate::wording::plural;

/// Number of states drawn at each end of a long path.
const STATES_AT_EACH_END: usize = 5;
/// Maximum number of cards.
const MAX_CARDS: usize = 150;
/// Maximum number of variables on the first card of a path.
const MAX_FIRST_VARIABLES: usize = 12;
/// Maximum number of changed variables on a card, and of compared variables of each kind.
const MAX_CHANGED_VARIABLES: usize = 8;
/// Maximum number of claims on a card.
const MAX_CLAIMS_PER_CARD: usize = 4;
/// Maximum number of actions at a step.
const MAX_ACTIONS_PER_STEP: usize = 6;

/// Evidence as cards in columns and rows.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) cards: Vec<Card>,
    pub(crate) steps: Vec<Step>,
    pub(crate) alike: Vec<Alike>,
    /// Agents that cannot distinguish states, for the legend. Elsewhere an agent is an index in this list.
    pub(crate) agents: Vec<String>,
    /// Notes on what is not drawn.
    pub(crate) notes: Vec<String>,
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
    variables: Vec<VarId>,
    marks: BTreeMap<VarId, Mark>,
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
        }
    }
}

/// A step from a card to another.
#[derive(PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Actions of the agents.
    pub(crate) doing: Vec<String>,
}

/// Two cards whose states agents cannot distinguish, or of which norms admit the second.
#[derive(PartialEq, Eq)]
pub(crate) struct Alike {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The agents, as indices in [`Graph::agents`]; empty for a state that norms admit.
    pub(crate) agents: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(context: &EvidenceContext<'_>) -> Graph {
        let mut builder =
            Builder { context, graph: Graph::default(), cards: HashMap::new(), taken: BTreeSet::new() };
        builder.build();
        builder.graph
    }

    /// Names of the agents that cannot distinguish two cards.
    pub(crate) fn names(&self, alike: &Alike) -> String {
        let names: Vec<&str> = alike.agents.iter().map(|agent| self.agents[*agent].as_str()).collect();
        names.join(", ")
    }

    /// The lines on the card of a state.
    fn lines_of(
        context: &EvidenceContext<'_>,
        card: &Card,
        state: StateId,
        claims: &[ReasonId],
    ) -> Vec<Line> {
        let value = |&variable: &VarId| Line {
            text: context.assignment(variable, state),
            mark: card.marks.get(&variable).copied().unwrap_or(Mark::Value),
        };
        let mut lines: Vec<Line> = card.variables.iter().map(value).collect();
        for &id in claims.iter().take(MAX_CLAIMS_PER_CARD) {
            let reason = context.evidence.reason(id);
            let not_shown = match reason.because {
                Because::NotShown(missing) => format!(" ({})", why_not_shown(missing)),
                _ => String::new(),
            };
            let mark = if reason.holds { Mark::True } else { Mark::False };
            let text = format!("{}: {}{not_shown}", mark.word(), context.formula(reason.formula));
            lines.push(Line { text, mark });
        }
        if claims.len() > MAX_CLAIMS_PER_CARD {
            let text = format!("and {} more claims", claims.len() - MAX_CLAIMS_PER_CARD);
            lines.push(Line { text, mark: Mark::Value });
        }
        lines
    }
}

struct Builder<'a> {
    context: &'a EvidenceContext<'a>,
    graph: Graph,
    /// Index of the card of each state.
    cards: HashMap<StateId, usize>,
    /// Columns and rows that are occupied by a card.
    taken: BTreeSet<(usize, usize)>,
}

impl Builder<'_> {
    fn build(&mut self) {
        let evidence = self.context.evidence;
        self.run(&evidence.start, &[], None);
        let order = self.context.order();
        let mut n_not_drawn = 0;
        for &id in &order {
            let reason = evidence.reason(id);
            if self.graph.cards.len() >= MAX_CARDS {
                let has_no_run = matches!(
                    reason.because,
                    Because::Here | Because::Operands(_) | Because::DeadEnd(_) | Because::NotShown(_)
                );
                n_not_drawn += usize::from(!has_no_run);
                continue;
            }
            match &reason.because {
                Because::Path(showing) => self.run(&showing.run, &self.context.important(showing), None),
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
                        if self.graph.cards.len() >= MAX_CARDS {
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
        self.graph.notes.push(format!("{what} are not drawn (--format json shows all)"));
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
            if self.graph.cards.len() >= MAX_CARDS {
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
                card.lines.splice(0..0, Graph::lines_of(self.context, card, state, claims));
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
            for variable in self.context.abridge(variables, MAX_CHANGED_VARIABLES).shown {
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
        let agents = view.iter().map(|agent| self.legend(*agent)).collect();
        let alike = Alike { from, to, agents };
        if !self.graph.alike.contains(&alike) {
            self.graph.alike.push(alike);
        }
    }

    fn legend(&mut self, agent: AgentId) -> usize {
        let name = &self.context.system.agent(agent).name;
        let known = self.graph.agents.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.graph.agents.push(name.clone());
            self.graph.agents.len() - 1
        })
    }

    /// Adds the new states and steps of a path. Its last state is put into row `end` if possible.
    fn run(&mut self, run: &EvidencePath, important: &[usize], end: Option<usize>) {
        let important: Vec<usize> = important.iter().copied().chain(run.back_to).collect();
        let shown = cut(run.states.len(), STATES_AT_EACH_END, &important);
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
                self.context.abridge(self.context.differing(before, state), MAX_CHANGED_VARIABLES)
            }
            (Some(_), None) => {
                self.context.abridge(self.context.system.variable_ids().collect(), MAX_FIRST_VARIABLES)
            }
        };
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
            let abridged = self.context.doing(joint, &changed, MAX_ACTIONS_PER_STEP);
            let more = (abridged.n_left_out > 0).then(|| format!("and {} more", abridged.n_left_out));
            abridged.shown.into_iter().chain(more).collect()
        });
        let step = Step { from, to, doing };
        if !self.graph.steps.contains(&step) {
            self.graph.steps.push(step);
        }
    }
}
