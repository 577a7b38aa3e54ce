//! The layout of the cards of a graph, in pixels.
//!
//! Columns have equal widths. A row is as high as its highest card, and the gap above it as high as the
//! actions written there.

use crate::graph::{Card, Graph, Step};
use crate::lines::columns;

/// Width of a character in the typeface of the page, in pixels.
pub(crate) const CHAR_WIDTH: f64 = 6.7;
/// Height of a line in the typeface of the page, in pixels.
pub(crate) const LINE_HEIGHT: f64 = 15.0;
/// Maximum number of characters of a line on a card.
pub(crate) const MAX_LINE_CHARS: usize = 40;
/// Distance between the edge of a card and its text, in pixels.
pub(crate) const PAD: f64 = 10.0;
/// Distance between the ends of an arrow and the text beside it, in pixels.
const ARROW_PAD: f64 = 14.0;
/// Margin around the drawing, in pixels.
const MARGIN: f64 = 16.0;
/// Label of a line to a state that norms admit.
pub(crate) const NORM_LABEL: &str = "admitted";

/// The positions of all cards, and of the texts at all steps.
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) cards: Vec<Rectangle>,
    /// Lines of text at each step.
    pub(crate) doing: Vec<Vec<String>>,
    /// Position of the first of these lines.
    pub(crate) doing_at: Vec<(f64, f64)>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rectangle {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rectangle {
    /// The horizontal middle.
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
    /// Whether a step leads up or sideways: its arrow is drawn around the cards, not down.
    pub(crate) fn is_back(&self, step: &Step) -> bool {
        self.cards[step.to].row <= self.cards[step.from].row
    }
}

impl Layout {
    pub(crate) fn new(graph: &Graph) -> Layout {
        let lines = |card: &Card| card.lines.len() + usize::from(!card.title.is_empty());
        let letters = graph.cards.iter().flat_map(|card| &card.lines).map(|line| columns(&line.text));
        let widest = letters.max().unwrap_or(0).clamp(16, MAX_LINE_CHARS);
        let card_width = widest as f64 * CHAR_WIDTH + 2.0 * PAD;
        let names = graph.agents.iter().map(|name| columns(name)).max().unwrap_or(0).max(columns(NORM_LABEL));
        let between = ((names + 4) as f64 * CHAR_WIDTH).clamp(90.0, 240.0);

        let doing: Vec<Vec<String>> =
            graph.steps.iter().map(|step| packed(&step.doing, (widest / 2 + 4).max(20))).collect();
        // The text of a step that leads back is below its first card, any other above its second card.
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
            y += if row == 0 {
                over as f64 * LINE_HEIGHT
            } else {
                (under + over) as f64 * LINE_HEIGHT + 2.0 * ARROW_PAD
            };
            tops.push(y);
            y += *height as f64 * LINE_HEIGHT + 2.0 * PAD;
        }
        let place = |card: &Card| Rectangle {
            x: MARGIN + card.column as f64 * (card_width + between),
            y: tops[card.row],
            width: card_width,
            height: lines(card) as f64 * LINE_HEIGHT + 2.0 * PAD,
        };
        let cards: Vec<Rectangle> = graph.cards.iter().map(place).collect();
        let doing_at = graph.steps.iter().zip(line_of).map(|(step, line)| {
            let (from, to) = (&cards[step.from], &cards[step.to]);
            if graph.is_back(step) {
                (from.middle() + 8.0, from.bottom() + (line + 1) as f64 * LINE_HEIGHT)
            } else {
                let top = to.y - ARROW_PAD - above[step.to] as f64 * LINE_HEIGHT;
                (to.middle() + 8.0, top + (line + 1) as f64 * LINE_HEIGHT - 4.0)
            }
        });
        let doing_at: Vec<(f64, f64)> = doing_at.collect();
        let right = cards.iter().map(Rectangle::right).fold(0.0, f64::max);
        // The text at a step begins in the middle of its card and may extend beyond it.
        let written = doing
            .iter()
            .zip(&doing_at)
            .flat_map(|(lines, at)| lines.iter().map(|line| at.0 + columns(line) as f64 * CHAR_WIDTH));
        let width = written.fold(right + between.max(60.0), f64::max) + MARGIN;
        let height = y + gaps[n_rows].0 as f64 * LINE_HEIGHT + MARGIN;
        Layout { width, height, cards, doing, doing_at }
    }
}

/// Joins items with commas into lines of at most `max_chars` characters, if no item is longer.
pub(crate) fn packed(items: &[String], max_chars: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if columns(line) + columns(item) + 2 <= max_chars => {
                line.push_str(", ");
                line.push_str(item);
            }
            _ => lines.push(item.clone()),
        }
    }
    lines
}
