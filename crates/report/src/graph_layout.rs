//! The layout of the cards of a graph, in pixels.
//!
//! Cards have equal widths. A row is as high as its highest card and the texts beside its cards. The gap above
//! a row is as high as the actions written there, and the gap to the right of a column as wide as the texts
//! written there.

use crate::graph::{Card, Graph, Step};
use crate::lines::columns;

/// Width of a character in the typeface of drawings, in pixels.
pub(crate) const CHAR_WIDTH: f64 = 7.85;
/// Height of a line in the typeface of drawings, in pixels.
pub(crate) const LINE_HEIGHT: f64 = 18.0;
/// Distance between the top of a line of text and its base line, in pixels.
pub(crate) const ASCENT: f64 = 13.0;
/// Maximum number of characters of a line on a card.
pub(crate) const MAX_LINE_CHARS: usize = 46;
/// Distance between the edge of a card and its text, in pixels.
pub(crate) const PAD: f64 = 10.0;
/// Distance between the ends of an arrow and the text beside it, in pixels.
const ARROW_PAD: f64 = 14.0;
/// Margin around the drawing, in pixels.
const MARGIN: f64 = 16.0;
/// Minimum width between two columns, in pixels.
const MIN_GAP: f64 = 100.0;
/// Minimum width between two columns of a layered graph, in pixels.
const MIN_LAYERED_GAP: f64 = 28.0;
/// Maximum width that the names of agents add between two columns, in pixels.
const MAX_NAME_GAP: f64 = 280.0;
/// Distance between a card and the text beside the arrow that leaves it to the side, in pixels.
pub(crate) const SIDE_TEXT: f64 = 42.0;
/// Maximum number of characters of a line beside an arrow that leaves a card to the side.
const MAX_SIDE_CHARS: usize = 30;
/// Distances of the first dotted line from the top of its card, and of each further one from the one before,
/// in pixels.
pub(crate) const ALIKE_SHIFTS: (f64, f64) = (24.0, 18.0);
/// Number of dotted lines that leave a card at different heights.
pub(crate) const N_ALIKE_SHIFTS: usize = 4;
/// Height of the band below a row in which arrows of a layered graph change columns, in pixels.
pub(crate) const BAND_HEIGHT: f64 = 48.0;
/// Label of a line to a state that norms admit.
pub(crate) const NORM_LABEL: &str = "admitted";

/// The positions of all cards, and of the texts at all steps.
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) cards: Vec<Rectangle>,
    /// The text at each step.
    pub(crate) doing: Vec<StepText>,
    /// For each column, the distance between a card and the arrows that lead past others, in pixels. It is
    /// large enough for the texts between the rows.
    pub(crate) lanes: Vec<f64>,
}

/// The text at a step.
pub(crate) struct StepText {
    pub(crate) lines: Vec<String>,
    /// Position of the first line.
    pub(crate) at: (f64, f64),
    /// Whether the text ends at this position rather than beginning there.
    pub(crate) is_left: bool,
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
    /// Whether the arrow of a step leaves its card to the side: it leads up, to the same row, or past a row.
    pub(crate) fn is_sideways(&self, step: &Step) -> bool {
        let (from, to) = (self.cards[step.from].row, self.cards[step.to].row);
        if self.is_layered {
            return false;
        }
        to <= from || (to > from + 1 && self.cards[step.from].column == self.cards[step.to].column)
    }

    /// Whether the arrow of a step leaves its card to the left: within a column, if dotted lines leave to the
    /// right.
    pub(crate) fn is_leftwards(&self, step: &Step) -> bool {
        let is_in_column = self.cards[step.from].column == self.cards[step.to].column;
        let has_dots = |card: usize| self.alike.iter().any(|alike| alike.from == card || alike.to == card);
        self.is_sideways(step) && is_in_column && (has_dots(step.from) || has_dots(step.to))
    }

    /// Whether the arrow of a step comes from a column on the right, so that its text is on the left of it.
    fn comes_from_right(&self, step: &Step) -> bool {
        !self.is_layered
            && !self.is_sideways(step)
            && self.cards[step.from].column > self.cards[step.to].column
    }
}

/// Width of a text in a drawing, in pixels.
pub(crate) fn text_width(text: &str) -> f64 {
    columns(text) as f64 * CHAR_WIDTH
}

impl Layout {
    pub(crate) fn new(graph: &Graph) -> Layout {
        let letters = graph.cards.iter().flat_map(|card| &card.lines).map(|line| columns(&line.text));
        let widest = letters.max().unwrap_or(0).clamp(16, MAX_LINE_CHARS);
        let card_width = widest as f64 * CHAR_WIDTH + 2.0 * PAD;
        let texts: Vec<Vec<String>> = graph
            .steps
            .iter()
            .map(|step| {
                let limit = if graph.is_sideways(step) { MAX_SIDE_CHARS } else { (widest / 2 + 4).max(20) };
                packed(&step.doing, limit)
            })
            .collect();
        let lines = StepLines::new(graph, &texts);
        let lanes = lanes(graph, &texts, card_width);
        let xs = columns_at(graph, &texts, &lanes, card_width);
        let (tops, bottom) = rows_at(graph, &lines);
        let place = |card: &Card| Rectangle {
            x: xs[card.column],
            y: tops[card.row],
            width: card_width,
            height: card_height(card),
        };
        let cards: Vec<Rectangle> = graph.cards.iter().map(place).collect();
        let doing: Vec<StepText> = (graph.steps.iter().zip(texts).zip(&lines.of_step))
            .map(|((step, texts), &line)| {
                let lane = side_distance(graph, step, &lanes);
                let at = lines.position(graph, &cards, step, line, lane);
                let is_left = graph.comes_from_right(step) || graph.is_leftwards(step);
                StepText { lines: texts, at, is_left }
            })
            .collect();
        let right = cards.iter().map(Rectangle::right).fold(0.0, f64::max);
        let last_lane = lanes.last().copied().unwrap_or(0.0);
        let gap = if graph.alike.is_empty() { SIDE_TEXT.max(last_lane) } else { MIN_GAP };
        let written = doing.iter().filter(|text| !text.is_left).flat_map(|text| {
            let x = text.at.0;
            text.lines.iter().map(move |line| x + text_width(line))
        });
        let names = graph.alike.iter().map(|alike| {
            let card = &cards[if cards[alike.from].x <= cards[alike.to].x { alike.from } else { alike.to }];
            card.right() + 30.0 + text_width(&graph.label(alike))
        });
        let width = written.chain(names).fold(right + gap, f64::max) + MARGIN;
        Layout { width, height: bottom + MARGIN, cards, doing, lanes }
    }
}

/// Where the lines of text at steps are written: which line above or beside its card is the first of a step.
struct StepLines {
    /// Number of lines above each card.
    above: Vec<usize>,
    /// Number of lines beside each card.
    beside: Vec<usize>,
    /// Number of dotted lines at each card.
    n_alike: Vec<usize>,
    of_step: Vec<usize>,
}

impl StepLines {
    fn new(graph: &Graph, texts: &[Vec<String>]) -> StepLines {
        let n = graph.cards.len();
        let mut lines =
            StepLines { above: vec![0; n], beside: vec![0; n], n_alike: vec![0; n], of_step: Vec::new() };
        for (step, text) in graph.steps.iter().zip(texts) {
            // The text of an arrow to the side is beside its first card, any other above its second card.
            let count = if graph.is_sideways(step) {
                &mut lines.beside[step.from]
            } else {
                &mut lines.above[step.to]
            };
            lines.of_step.push(*count);
            *count += text.len();
        }
        for alike in &graph.alike {
            lines.n_alike[alike.from] += 1;
            lines.n_alike[alike.to] += 1;
        }
        lines
    }

    /// Distance between the top of a card and the text beside it, which is below the dotted lines.
    fn beside_shift(&self, card: usize, height: f64) -> f64 {
        match self.n_alike[card].min(N_ALIKE_SHIFTS) {
            0 => ((height - self.beside[card] as f64 * LINE_HEIGHT) / 2.0).max(0.0),
            n => ALIKE_SHIFTS.0 + (n - 1) as f64 * ALIKE_SHIFTS.1 + 6.0,
        }
    }

    /// Position of the first line of the text at a step.
    fn position(
        &self,
        graph: &Graph,
        cards: &[Rectangle],
        step: &Step,
        line: usize,
        distance: f64,
    ) -> (f64, f64) {
        let (from, to) = (&cards[step.from], &cards[step.to]);
        if graph.is_sideways(step) {
            let is_left = graph.is_leftwards(step);
            let shift = if is_left { 0.0 } else { self.beside_shift(step.from, from.height) };
            let x = if is_left { from.x - distance } else { from.right() + distance };
            (x, from.y + shift + line as f64 * LINE_HEIGHT + ASCENT)
        } else {
            let top = to.y - ARROW_PAD - self.above[step.to] as f64 * LINE_HEIGHT;
            let side = if graph.comes_from_right(step) { -9.0 } else { 9.0 };
            (to.middle() + side, top + line as f64 * LINE_HEIGHT + ASCENT)
        }
    }
}

fn card_height(card: &Card) -> f64 {
    let n_lines = card.lines.len() + usize::from(!card.title.is_empty());
    n_lines as f64 * LINE_HEIGHT + 2.0 * PAD
}

/// The widest line of a text, in pixels.
fn widest(lines: &[String]) -> f64 {
    lines.iter().map(|line| text_width(line)).fold(0.0, f64::max)
}

/// For each column, the distance between a card and the arrows that lead past others.
fn lanes(graph: &Graph, texts: &[Vec<String>], card_width: f64) -> Vec<f64> {
    let n_columns = graph.cards.iter().map(|card| card.column + 1).max().unwrap_or(0);
    let mut lanes = vec![SIDE_TEXT - 8.0; n_columns];
    for (step, lines) in graph.steps.iter().zip(texts) {
        if !graph.is_sideways(step) && !graph.comes_from_right(step) {
            let lane = &mut lanes[graph.cards[step.to].column];
            *lane = lane.max(9.0 + widest(lines) - card_width / 2.0 + 14.0);
        }
    }
    lanes
}

/// Distance between a card and the text of an arrow that leaves it to the side.
fn side_distance(graph: &Graph, step: &Step, lanes: &[f64]) -> f64 {
    if step.from == step.to || graph.is_leftwards(step) {
        SIDE_TEXT
    } else {
        lanes[graph.cards[step.from].column] + 8.0
    }
}

/// The left edges of the columns.
fn columns_at(graph: &Graph, texts: &[Vec<String>], lanes: &[f64], card_width: f64) -> Vec<f64> {
    let n_columns = graph.cards.iter().map(|card| card.column + 1).max().unwrap_or(0);
    let mut gaps = vec![if graph.is_layered { MIN_LAYERED_GAP } else { MIN_GAP }; n_columns];
    let mut widen = |column: usize, needed: f64| gaps[column] = gaps[column].max(needed);
    for alike in &graph.alike {
        let [from, to] = [alike.from, alike.to].map(|card| graph.cards[card].column);
        widen(from.min(to), (text_width(&graph.label(alike)) + 4.0 * CHAR_WIDTH).min(MAX_NAME_GAP));
    }
    let mut left = MARGIN;
    for (step, lines) in graph.steps.iter().zip(texts) {
        let width = widest(lines);
        let beside = side_distance(graph, step, lanes) + width + 16.0;
        let overhang = width + 25.0 - card_width / 2.0;
        if graph.is_leftwards(step) || graph.comes_from_right(step) {
            let needed = if graph.is_leftwards(step) { beside } else { overhang };
            match graph.cards[step.to].column.checked_sub(1) {
                Some(column) => widen(column, needed),
                None => left = left.max(needed),
            }
        } else if graph.is_sideways(step) {
            widen(graph.cards[step.from].column, beside);
        } else {
            widen(graph.cards[step.to].column, overhang);
        }
    }
    let mut xs = Vec::new();
    for gap in gaps {
        xs.push(left);
        left += card_width + gap;
    }
    xs
}

/// The upper edges of the rows, and the lower edge of the last.
fn rows_at(graph: &Graph, lines: &StepLines) -> (Vec<f64>, f64) {
    let n_rows = graph.cards.iter().map(|card| card.row + 1).max().unwrap_or(0);
    let (mut heights, mut above) = (vec![0.0_f64; n_rows], vec![0; n_rows]);
    for (id, card) in graph.cards.iter().enumerate() {
        let height = card_height(card);
        let beside = lines.beside_shift(id, height) + lines.beside[id] as f64 * LINE_HEIGHT;
        let needed = if lines.beside[id] > 0 { height.max(beside) } else { height };
        heights[card.row] = heights[card.row].max(needed);
        above[card.row] = above[card.row].max(lines.above[id]);
    }
    let (mut y, mut tops) = (MARGIN, Vec::new());
    for (row, height) in heights.iter().enumerate() {
        let band = if graph.is_layered { BAND_HEIGHT } else { 0.0 };
        y += above[row] as f64 * LINE_HEIGHT + if row == 0 { 0.0 } else { 2.0 * ARROW_PAD + band };
        tops.push(y);
        y += height;
    }
    (tops, y)
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
