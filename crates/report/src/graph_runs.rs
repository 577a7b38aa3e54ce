//! Explanations of BDI files and paths of transition systems as graphs.

use std::collections::BTreeMap;

use masque_driver::{LabelledPath, StateId};

use crate::ExplanationReport;
use crate::bdi::StateReport;
use crate::bdi_text::{change_texts, state_texts};
use crate::graph::{Alike, AlikeKind, Card, Graph, GraphLimits, Line, Mark, Step};
use crate::long_paths::{Shown, cut};
use crate::wording::plural;

impl Graph {
    /// The graph of a path of a transition system.
    pub(crate) fn of_labels(path: &LabelledPath, limits: GraphLimits) -> Graph {
        let mut graph = Graph::default();
        let title = |position: usize| path.states.get(position).map_or(String::new(), u64::to_string);
        let label = |position: usize| path.labels.get(position).cloned().into_iter().collect();
        let run = Run { n_states: path.states.len(), back_to: path.back_to, title: &title, label: &label };
        let cards = graph.add_run(&run, None, (0, 0), limits);
        if let (true, Some(Some(last))) = (path.is_stuck, cards.last()) {
            graph.cards[*last].lines.push(line("no transitions", Mark::False));
        }
        graph
    }

    /// The graph of an explanation: a column for each path through a world, and lines along the edges between
    /// worlds.
    pub(crate) fn of_worlds(explanation: &ExplanationReport, limits: GraphLimits) -> Graph {
        let mut graph = Graph::default();
        graph.add_part(explanation, None, limits);
        graph
    }

    /// Adds a part of an explanation and those that explain its last state; `from` is the card of that state
    /// in the part before.
    fn add_part(&mut self, part: &ExplanationReport, from: Option<usize>, limits: GraphLimits) {
        let free_column = self.cards.iter().map(|card| card.column + 1).max().unwrap_or(0);
        let column = match from.map(|from| &self.cards[from]) {
            Some(card) if part.edge.is_none() && self.is_lowest(card) => card.column,
            _ => free_column,
        };
        let title = |position: usize| position.to_string();
        let next = |position: usize| match (part.states.get(position + 1), part.back_to) {
            (None, Some(start)) => part.states.get(start),
            (next, _) => next,
        };
        let label = |position: usize| {
            let action = next(position).and_then(|state| state.action.as_ref());
            action.map(|action| format!("do {action}")).into_iter().collect()
        };
        let run = Run { n_states: part.states.len(), back_to: part.back_to, title: &title, label: &label };
        // A path within the same world continues at the card before; its first state is that card's state.
        let joins = from.filter(|_| part.edge.is_none());
        let row = match (from, joins) {
            (Some(from), None) => self.cards[from].row,
            _ => 0,
        };
        let cards = self.add_run(&run, joins, (column, row), limits);
        let mut before: Option<&StateReport> = None;
        for (position, card) in cards.iter().enumerate() {
            let Some(card) = *card else { continue };
            let state = &part.states[position];
            if Some(card) != joins {
                let lines = match before {
                    None => state_texts(state, false),
                    Some(before) => change_texts(before, state, false),
                };
                let world = (position == 0).then(|| line(&format!("world {}", part.world), Mark::Value));
                let lines = lines.iter().map(|text| line(text, Mark::Value));
                self.cards[card].lines.splice(0..0, world.into_iter().chain(lines));
            }
            before = Some(state);
        }
        let (first, last) = (cards.first().copied().flatten(), cards.last().copied().flatten());
        // The whole explanation and a jump are about their last states.
        let about = if part.edge.is_some() || from.is_none() { last } else { first };
        if let Some(card) = about {
            let mark = if part.holds { Mark::True } else { Mark::False };
            let text = format!("{}: {}", mark.word(), part.text);
            let lines = &mut self.cards[card].lines;
            if !lines.iter().any(|line| line.text == text) {
                lines.push(line(&text, mark));
            }
        }
        if let (Some(edge), Some(from), Some(to)) = (&part.edge, from, last) {
            self.alike.push(Alike { from, to, kind: AlikeKind::Edge(edge.clone()) });
        }
        part.next.iter().for_each(|next| self.add_part(next, last, limits));
    }

    /// Whether no card is below a card in its column.
    fn is_lowest(&self, card: &Card) -> bool {
        !self.cards.iter().any(|other| other.column == card.column && other.row > card.row)
    }

    /// Adds cards and steps for a run, from a place down. `first` is the card of its first state if that is
    /// drawn already. Returns the card of each state; `None` for states that are left out.
    fn add_run(
        &mut self,
        run: &Run<'_>,
        first: Option<usize>,
        (column, mut row): (usize, usize),
        limits: GraphLimits,
    ) -> Vec<Option<usize>> {
        let important: Vec<usize> = run.back_to.into_iter().collect();
        let (first_number, n_known) = (self.n_numbered, usize::from(first.is_some()));
        self.n_numbered += run.n_states.saturating_sub(n_known);
        let mut cards = vec![None; run.n_states];
        let mut before: Option<(usize, Option<usize>)> = None;
        for shown in cut(run.n_states, limits.at_each_end, &important) {
            let (position, title, text) = match shown {
                Shown::Position(position) => (Some(position), (run.title)(position), None),
                Shown::LeftOut(n) => (None, String::new(), Some(plural(n, "state", "states") + " left out")),
            };
            self.is_abridged |= position.is_none();
            let id = match (position, first) {
                (Some(0), Some(first)) => first,
                _ => {
                    let lines = text.iter().map(|text| line(text, Mark::Value)).collect();
                    // States are counted in the order of the runs, with those that are left out.
                    let state = position.map(|position| StateId((first_number + position - n_known) as u32));
                    let (variables, marks) = (Vec::new(), BTreeMap::new());
                    self.cards.push(Card { state, title, lines, column, row, variables, marks });
                    self.cards.len() - 1
                }
            };
            row = self.cards[id].row + 1;
            if let Some(position) = position {
                cards[position] = Some(id);
            }
            if let Some((from, position)) = before {
                let doing = position.map_or(Vec::new(), run.label);
                self.steps.push(Step { from, to: id, doing });
            }
            before = Some((id, position));
        }
        let start = run.back_to.and_then(|start| cards.get(start).copied().flatten());
        if let (Some(to), Some((from, position))) = (start, before) {
            let doing = position.map_or(Vec::new(), run.label);
            self.steps.push(Step { from, to, doing });
        }
        cards
    }
}

/// A run of numbered states.
struct Run<'r> {
    n_states: usize,
    back_to: Option<usize>,
    title: &'r dyn Fn(usize) -> String,
    /// What happens in the step from a position.
    label: &'r dyn Fn(usize) -> Vec<String>,
}

fn line(text: &str, mark: Mark) -> Line {
    Line { text: text.to_string(), mark }
}
