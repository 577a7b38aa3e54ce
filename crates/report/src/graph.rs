//! Evidence as a graph: states as cards, steps, and states that look the same to somebody.
//!
//! Every run goes down a column of its own; a state that was met before is not repeated, the run
//! leaves from it. A state that is confused with another is put into the same row if it can be.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use masque_driver::{AgentId, Because, PathRun, Possibility, ReasonId, StateId, Support, Unfolding, VarId};

use crate::cut::{Shown, cut};
use crate::frame::{Abridged, Frame, formula_variables};
use crate::show::{number, why_not_shown};
use crate::wording::plural;

/// Of a long run so many states at each end are drawn.
const ENDS: usize = 5;
/// So many cards are drawn.
const MOST_CARDS: usize = 150;
/// Of a state so many variables are drawn where a run begins.
const MOST_FIRST: usize = 12;
/// Of a state so many changed variables are drawn, and so many of each kind that are compared.
const MOST_CHANGED: usize = 8;
/// So many claims are written on a card.
const MOST_CLAIMS: usize = 4;
/// So many actions are written at a step.
const MOST_ACTIONS: usize = 6;

/// Evidence, ready to be drawn.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) cards: Vec<Card>,
    pub(crate) steps: Vec<Step>,
    pub(crate) alike: Vec<Alike>,
    /// Those who cannot tell states apart, for a legend; elsewhere an agent is its position here.
    pub(crate) agents: Vec<String>,
    /// What is not drawn.
    pub(crate) notes: Vec<String>,
}

/// A state, or a stretch of a run that is left out.
pub(crate) struct Card {
    /// `#3`; none for a stretch that is left out.
    pub(crate) state: Option<StateId>,
    /// What stands on top.
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

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// A value.
    Value,
    /// A value that somebody sees, the same in the state that they confuse with this one.
    Seen,
    /// A difference that decides.
    Differs,
    /// A claim that is true.
    True,
    /// A claim that is false.
    False,
}

impl Mark {
    /// The class of such lines.
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
    /// What the agents do.
    pub(crate) doing: Vec<String>,
}

/// Two cards that look the same.
#[derive(PartialEq, Eq)]
pub(crate) struct Alike {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// To them, positions in [`Graph::agents`]; nobody for a state that norms admit.
    pub(crate) agents: Vec<usize>,
}

impl Graph {
    pub(crate) fn new(frame: &Frame<'_>) -> Graph {
        let mut builder =
            Builder { frame, graph: Graph::default(), cards: HashMap::new(), taken: BTreeSet::new() };
        builder.build();
        builder.graph
    }

    /// Names of those to whom two cards look the same.
    pub(crate) fn names(&self, alike: &Alike) -> String {
        let names: Vec<&str> = alike.agents.iter().map(|agent| self.agents[*agent].as_str()).collect();
        names.join(", ")
    }

    /// What is written on the card of a state.
    fn lines_of(frame: &Frame<'_>, card: &Card, state: StateId, claims: &[ReasonId]) -> Vec<Line> {
        let value = |&variable: &VarId| Line {
            text: frame.assignment(variable, state),
            mark: card.marks.get(&variable).copied().unwrap_or(Mark::Value),
        };
        let mut lines: Vec<Line> = card.variables.iter().map(value).collect();
        for &id in claims.iter().take(MOST_CLAIMS) {
            let reason = frame.evidence.reason(id);
            let not_shown = match reason.because {
                Because::NotShown(missing) => format!(" ({})", why_not_shown(missing)),
                _ => String::new(),
            };
            let mark = if reason.holds { Mark::True } else { Mark::False };
            let text = format!("{}: {}{not_shown}", mark.word(), frame.formula(reason.formula));
            lines.push(Line { text, mark });
        }
        if claims.len() > MOST_CLAIMS {
            let text = format!("and {} more claims", claims.len() - MOST_CLAIMS);
            lines.push(Line { text, mark: Mark::Value });
        }
        lines
    }
}

struct Builder<'a> {
    frame: &'a Frame<'a>,
    graph: Graph,
    /// The card of a state.
    cards: HashMap<StateId, usize>,
    /// Columns and rows that have a card.
    taken: BTreeSet<(usize, usize)>,
}

impl Builder<'_> {
    fn build(&mut self) {
        let evidence = self.frame.evidence;
        self.run(&evidence.start, &[], None);
        let order = self.frame.order();
        let mut n_not_drawn = 0;
        for &id in &order {
            let reason = evidence.reason(id);
            if self.graph.cards.len() >= MOST_CARDS {
                let has_no_run = matches!(
                    reason.because,
                    Because::Here | Because::Operands(_) | Because::DeadEnd(_) | Because::NotShown(_)
                );
                n_not_drawn += usize::from(!has_no_run);
                continue;
            }
            match &reason.because {
                Because::Run(showing) => self.run(&showing.run, &self.frame.important(showing), None),
                Because::Strategy(strategy) => self.run(&strategy.play, &[], None),
                Because::Answers(answers) => {
                    answers.path.iter().for_each(|path| self.run(path, &[], None));
                    self.run(&answers.play, &answers.fair, None);
                }
                Because::Unfolded(unfolding) => self.unfolding(unfolding),
                Because::Possible(possible) => self.possible(reason.state, possible),
                Because::Chain(chain) => {
                    let mut before = reason.state;
                    for (nth, link) in chain.links.iter().enumerate() {
                        if self.graph.cards.len() >= MOST_CARDS {
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
        self.graph.notes.push(format!("{what} are not drawn; the JSON report has all"));
    }

    /// The steps of an unfolded fixpoint, and the states that look alike in it.
    fn unfolding(&mut self, unfolding: &Unfolding) {
        for node in &unfolding.nodes {
            match &node.by {
                Support::Steps(list) => {
                    for (joint, place) in list {
                        let states = vec![node.state, unfolding.nodes[*place].state];
                        self.run(&PathRun { states, actions: vec![joint.clone()], back_to: None }, &[], None);
                    }
                }
                Support::Possible { view, path: Some(path), node: place } => {
                    self.alike(node.state, unfolding.nodes[*place].state, view, path);
                }
                _ => {}
            }
            if self.graph.cards.len() >= MOST_CARDS {
                self.not_drawn("more claims");
                break;
            }
        }
    }

    fn write_cards(&mut self, order: &[ReasonId]) {
        let mut claims: HashMap<StateId, Vec<ReasonId>> = HashMap::new();
        for &id in order {
            claims.entry(self.frame.evidence.reason(id).state).or_default().push(id);
        }
        for card in &mut self.graph.cards {
            if let Some(state) = card.state {
                let claims = claims.get(&state).map_or(&[][..], Vec::as_slice);
                card.lines.splice(0..0, Graph::lines_of(self.frame, card, state, claims));
            }
        }
    }

    fn possible(&mut self, here: StateId, possible: &Possibility) {
        let Possibility { view, state, path: Some(path), reason, .. } = possible else { return };
        self.alike(here, *state, view, path);
        let speaks_of = formula_variables(self.frame.system, self.frame.evidence.reason(*reason).formula);
        let mut decisive = self.frame.differing(here, *state);
        decisive.retain(|variable| speaks_of[variable.index()]);
        for (variables, mark) in [(self.frame.seen_by(view), Mark::Seen), (decisive, Mark::Differs)] {
            for variable in self.frame.abridge(variables, MOST_CHANGED).shown {
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

    /// A run to a state, beside the one that it is confused with.
    fn alike(&mut self, here: StateId, other: StateId, view: &[AgentId], path: &PathRun) {
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
        let name = &self.frame.system.agent(agent).name;
        let known = self.graph.agents.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.graph.agents.push(name.clone());
            self.graph.agents.len() - 1
        })
    }

    /// Adds what is new of a run; its last state goes into row `end` if that is possible.
    fn run(&mut self, run: &PathRun, important: &[usize], end: Option<usize>) {
        let important: Vec<usize> = important.iter().copied().chain(run.back_to).collect();
        let shown = cut(run.states.len(), ENDS, &important);
        let mut row = end.map_or(0, |end| (end + 1).saturating_sub(shown.len()));
        let mut column = None;
        let mut before: Option<(usize, Option<usize>)> = None;
        for (place, &entry) in shown.iter().enumerate() {
            let (state, position) = match entry {
                Shown::Position(position) => (Some(run.states[position]), Some(position)),
                Shown::LeftOut(_) => (None, None),
            };
            let card = match state.and_then(|state| self.cards.get(&state)).copied() {
                Some(known) => known,
                None => {
                    let left = before.map_or(0, |(card, _)| self.graph.cards[card].column);
                    let column =
                        *column.get_or_insert_with(|| self.free_column(left, row, shown.len() - place));
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

    /// The first column from `left` on that has room for so many rows.
    fn free_column(&self, left: usize, row: usize, rows: usize) -> usize {
        let is_free = |column: &usize| !(row..row + rows).any(|row| self.taken.contains(&(*column, row)));
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
            (None, _) => self.frame.abridge(Vec::new(), 0),
            (Some(state), Some(before)) => {
                self.frame.abridge(self.frame.differing(before, state), MOST_CHANGED)
            }
            (Some(_), None) => self.frame.abridge(self.frame.system.variable_ids().collect(), MOST_FIRST),
        };
        let text = match entry {
            Shown::LeftOut(n) => Some(plural(n, "state is", "states are") + " left out"),
            Shown::Position(_) if n_left_out > 0 => Some(format!("and {n_left_out} more variables")),
            Shown::Position(_) => None,
        };
        let lines = text.into_iter().map(|text| Line { text, mark: Mark::Value }).collect();
        self.cards.extend(state.map(|state| (state, id)));
        let marks = BTreeMap::new();
        self.graph.cards.push(Card { state, title, lines, column, row, variables, marks });
        id
    }

    fn step(&mut self, from: usize, to: usize, run: &PathRun, position: Option<usize>) {
        let joint = position.and_then(|position| run.actions.get(position)?.as_ref());
        let doing = joint.map_or(Vec::new(), |joint| {
            let ends = [from, to].map(|card| self.graph.cards[card].state);
            let changed = match ends {
                [Some(before), Some(after)] => self.frame.differing(before, after),
                _ => Vec::new(),
            };
            let abridged = self.frame.doing(joint, &changed, MOST_ACTIONS);
            let more = (abridged.n_left_out > 0).then(|| format!("and {} more", abridged.n_left_out));
            abridged.shown.into_iter().chain(more).collect()
        });
        let step = Step { from, to, doing };
        if !self.graph.steps.contains(&step) {
            self.graph.steps.push(step);
        }
    }
}
