//! Where the cards of a graph are drawn, in pixels.
//!
//! Columns have equal widths; a row is as high as its highest card, and the gap above it as high as
//! the actions written there.

use crate::graph::{Card, Graph, Step};
use crate::lines::columns;

/// The width of a letter and the height of a line, in the typeface of the page.
pub(crate) const LETTER: f64 = 6.7;
pub(crate) const LINE: f64 = 15.0;
/// Longer lines are cut.
pub(crate) const MOST_LETTERS: usize = 40;
/// From a card's edge to its text.
pub(crate) const PAD: f64 = 10.0;
/// Between the arrow's ends and what is written beside it.
const ARROW: f64 = 14.0;
const MARGIN: f64 = 16.0;
/// Written at a state that norms admit.
pub(crate) const NORM: &str = "admitted";

/// The place of each card, and of what is written at each step.
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) cards: Vec<Place>,
    /// What is written at each step, in lines.
    pub(crate) doing: Vec<Vec<String>>,
    /// The first line of it.
    pub(crate) doing_at: Vec<(f64, f64)>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Place {
    /// The middle from left to right.
    pub(crate) fn middle(&self) -> f64 {
        self.x + self.width / 2.0
    }
    pub(crate) fn right(&self) -> f64 {
        self.x + self.width
    }
    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.height
    }
}

impl Graph {
    /// Whether a step leads back, or sideways: it is drawn round the cards, not down.
    pub(crate) fn is_back(&self, step: &Step) -> bool {
        self.cards[step.to].row <= self.cards[step.from].row
    }
}

impl Layout {
    pub(crate) fn new(graph: &Graph) -> Layout {
        let lines = |card: &Card| card.lines.len() + usize::from(!card.title.is_empty());
        let letters = graph.cards.iter().flat_map(|card| &card.lines).map(|line| columns(&line.text));
        let widest = letters.max().unwrap_or(0).clamp(16, MOST_LETTERS);
        let card_width = widest as f64 * LETTER + 2.0 * PAD;
        let names = graph.agents.iter().map(|name| columns(name)).max().unwrap_or(0).max(columns(NORM));
        let between = ((names + 4) as f64 * LETTER).clamp(90.0, 240.0);

        let doing: Vec<Vec<String>> =
            graph.steps.iter().map(|step| packed(&step.doing, (widest / 2 + 4).max(20))).collect();
        // What leads back is written below its card, everything else above the card it leads to.
        let n_cards = graph.cards.len();
        let (mut above, mut below) = (vec![0; n_cards], vec![0; n_cards]);
        let mut line_of = Vec::new();
        for (step, text) in graph.steps.iter().zip(&doing) {
            let lines = if graph.is_back(step) { &mut below[step.from] } else { &mut above[step.to] };
            line_of.push(*lines);
            *lines += text.len();
        }
        let n_rows = graph.cards.iter().map(|card| card.row + 1).max().unwrap_or(0);
        let (mut heights, mut gaps) = (vec![0; n_rows], vec![(0, 0); n_rows + 1]);
        for (id, card) in graph.cards.iter().enumerate() {
            heights[card.row] = heights[card.row].max(lines(card));
            gaps[card.row].1 = gaps[card.row].1.max(above[id]);
            gaps[card.row + 1].0 = gaps[card.row + 1].0.max(below[id]);
        }
        let (mut y, mut tops) = (MARGIN, Vec::new());
        for (row, height) in heights.iter().enumerate() {
            let (under, over) = gaps[row];
            y += if row == 0 { over as f64 * LINE } else { (under + over) as f64 * LINE + 2.0 * ARROW };
            tops.push(y);
            y += *height as f64 * LINE + 2.0 * PAD;
        }
        let place = |card: &Card| Place {
            x: MARGIN + card.column as f64 * (card_width + between),
            y: tops[card.row],
            width: card_width,
            height: lines(card) as f64 * LINE + 2.0 * PAD,
        };
        let cards: Vec<Place> = graph.cards.iter().map(place).collect();
        let doing_at = graph.steps.iter().zip(line_of).map(|(step, line)| {
            let (from, to) = (&cards[step.from], &cards[step.to]);
            match graph.is_back(step) {
                true => (from.middle() + 8.0, from.bottom() + (line + 1) as f64 * LINE),
                false => {
                    let top = to.y - ARROW - above[step.to] as f64 * LINE;
                    (to.middle() + 8.0, top + (line + 1) as f64 * LINE - 4.0)
                }
            }
        });
        let doing_at: Vec<(f64, f64)> = doing_at.collect();
        let right = cards.iter().map(Place::right).fold(0.0, f64::max);
        // What is written at a step begins in the middle of its card.
        let written = doing
            .iter()
            .zip(&doing_at)
            .flat_map(|(lines, at)| lines.iter().map(|line| at.0 + columns(line) as f64 * LETTER));
        let width = written.fold(right + between.max(60.0), f64::max) + MARGIN;
        let height = y + gaps[n_rows].0 as f64 * LINE + MARGIN;
        Layout { width, height, cards, doing, doing_at }
    }
}

/// Items with commas, as many in a line as there is room for.
pub(crate) fn packed(items: &[String], most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if columns(line) + columns(item) + 2 <= most => {
                line.push_str(", ");
                line.push_str(item);
            }
            _ => lines.push(item.clone()),
        }
    }
    lines
}
