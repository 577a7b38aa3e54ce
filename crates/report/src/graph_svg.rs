//! A graph of evidence as an SVG drawing.

use std::cmp::Ordering;
use std::fmt::{self, Write};

use crate::graph::{Alike, AlikeKind, Card, Graph};
use crate::graph_layout::{
    ALIKE_SHIFTS, ASCENT, BAND_HEIGHT, LINE_HEIGHT, Layout, MAX_LINE_CHARS, N_ALIKE_SHIFTS, PAD, Rectangle,
};
use crate::wording::shortened;

/// Number of colours for agents on the page. Further agents reuse them.
pub(crate) const N_COLOURS: usize = 8;

/// Distance between a card and an arrow on its left that leads past others, in pixels.
const SIDE_LANE: f64 = 34.0;
/// Height in which an arrow of a layered graph changes columns, in pixels.
const TURN_HEIGHT: f64 = 16.0;

/// Draws a graph; `title` is its name.
pub(crate) fn write_svg(out: &mut String, graph: &Graph, title: &str) -> fmt::Result {
    let layout = Layout::new(graph);
    open_svg(out, layout.width, layout.height, title)?;
    steps(out, graph, &layout)?;
    for (nth, alike) in graph.alike.iter().enumerate() {
        write_alike(out, graph, &layout, alike, nth)?;
    }
    for (card, place) in graph.cards.iter().zip(&layout.cards) {
        write_card(out, card, place)?;
    }
    step_texts(out, &layout)?;
    writeln!(out, "</svg>")
}

/// Writes the start of a drawing of this size, in pixels.
pub(crate) fn open_svg(out: &mut String, width: f64, height: f64, title: &str) -> fmt::Result {
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
    )?;
    write_title(out, title)
}

/// Writes the name of a drawing or of a group in it, which browsers show as a tooltip.
pub(crate) fn write_title(out: &mut String, title: &str) -> fmt::Result {
    writeln!(out, "<title>{}</title>", escaped(title))
}

/// Writes one line of text; `class` is its CSS class.
pub(crate) fn write_text(out: &mut String, class: &str, (x, y): (f64, f64), text: &str) -> fmt::Result {
    writeln!(out, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(text))
}

/// Writes a rectangle with rounded corners; `radius` is in pixels.
pub(crate) fn write_rect(out: &mut String, place: Rectangle, radius: u32) -> fmt::Result {
    let Rectangle { x, y, width, height } = place;
    writeln!(out, r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="{radius}"/>"#)
}

fn steps(out: &mut String, graph: &Graph, layout: &Layout) -> fmt::Result {
    for step in &graph.steps {
        let (from, to) = (&layout.cards[step.from], &layout.cards[step.to]);
        let path = if graph.is_sideways(step) {
            let lane = layout.lanes[graph.cards[step.from].column];
            match (step.from == step.to, from.x == to.x, graph.is_leftwards(step)) {
                (true, _, is_left) => self_loop(from, is_left),
                (false, true, is_left) => around(from, to, if is_left { -SIDE_LANE } else { lane }),
                (false, false, _) => across(from, to),
            }
        } else if graph.is_layered {
            layered(from, to, turning_height(graph, layout, step.from))
        } else if to.x > from.x {
            // To the side and then down, so that the arrow does not cross the text below the card.
            let (x1, y1, x2, y2) = (from.right(), from.bottom() - 14.0, to.middle(), to.y);
            format!("M{x1:.1} {y1:.1} C{x2:.1} {y1:.1} {x2:.1} {y1:.1} {x2:.1} {y2:.1}")
        } else {
            let (x1, y1, x2, y2) = (from.middle(), from.bottom(), to.middle(), to.y);
            let half = (y2 - y1) / 2.0;
            let (a, b) = (y1 + half, y2 - half);
            format!("M{x1:.1} {y1:.1} C{x1:.1} {a:.1} {x2:.1} {b:.1} {x2:.1} {y2:.1}")
        };
        let (one, other) = (id(graph, step.from), id(graph, step.to));
        writeln!(
            out,
            r##"<path class="step" data-from="{one}" data-to="{other}" d="{path}" marker-end="url(#arrow)"/>"##
        )?;
    }
    Ok(())
}

/// The height at which arrows from a card of a layered graph change columns: below all cards of its row, and
/// another one for each column.
fn turning_height(graph: &Graph, layout: &Layout, card: usize) -> f64 {
    let Card { row, column, .. } = graph.cards[card];
    let in_row = || graph.cards.iter().zip(&layout.cards).filter(|(card, _)| card.row == row);
    let bottom = in_row().map(|(_, place)| place.bottom()).fold(0.0, f64::max);
    let share = column as f64 / in_row().count().max(1) as f64;
    bottom + share * (BAND_HEIGHT - TURN_HEIGHT)
}

/// The path of an arrow down to the next row that changes columns below all cards of its row.
fn layered(from: &Rectangle, to: &Rectangle, low: f64) -> String {
    let (x1, y1, x2, y2) = (from.middle(), from.bottom(), to.middle(), to.y);
    let end = low + TURN_HEIGHT;
    format!("M{x1:.1} {y1:.1} V{low:.1} C{x1:.1} {end:.1} {x2:.1} {low:.1} {x2:.1} {end:.1} V{y2:.1}")
}

/// The path of an arrow from a card to itself.
fn self_loop(card: &Rectangle, is_left: bool) -> String {
    let (x, bend) = if is_left { (card.x, card.x - 44.0) } else { (card.right(), card.right() + 44.0) };
    let (y1, y2) = (card.bottom() - 12.0, card.y + 12.0);
    format!("M{x:.1} {y1:.1} C{bend:.1} {y1:.1} {bend:.1} {y2:.1} {x:.1} {y2:.1}")
}

/// The path of an arrow between two cards of a column, past the cards and texts between them. It runs at this
/// distance from the cards, on the left if the distance is negative.
fn around(from: &Rectangle, to: &Rectangle, distance: f64) -> String {
    let (y1, y2) = (from.y + from.height / 2.0, to.y + to.height / 2.0);
    let x = if distance < 0.0 { from.x } else { from.right() };
    let lane = x + distance;
    let (side, turn) = (8.0_f64.copysign(distance), 8.0_f64.copysign(y2 - y1));
    let (before, start, end) = (lane - side, y1 + turn, y2 - turn);
    format!(
        "M{x:.1} {y1:.1} H{before:.1} Q{lane:.1} {y1:.1} {lane:.1} {start:.1} V{end:.1} Q{lane:.1} {y2:.1} {before:.1} {y2:.1} H{x:.1}"
    )
}

/// The path of an arrow between the sides of two cards that face each other.
fn across(from: &Rectangle, to: &Rectangle) -> String {
    let (y1, y2) = (from.bottom() - 12.0, to.y + 12.0);
    let (x1, x2) = if from.x < to.x { (from.right(), to.x) } else { (from.x, to.right()) };
    let middle = (x1 + x2) / 2.0;
    format!("M{x1:.1} {y1:.1} C{middle:.1} {y1:.1} {middle:.1} {y2:.1} {x2:.1} {y2:.1}")
}

/// Writes the actions at the steps. They come after all lines, so that no line runs over them.
fn step_texts(out: &mut String, layout: &Layout) -> fmt::Result {
    for text in &layout.doing {
        let class = if text.is_left { "doing label end" } else { "doing label" };
        for (nth, line) in text.lines.iter().enumerate() {
            write_text(out, class, (text.at.0, text.at.1 + nth as f64 * LINE_HEIGHT), line)?;
        }
    }
    Ok(())
}

/// Draws a dotted line between two cards, with the names of the agents that cannot distinguish them.
fn write_alike(out: &mut String, graph: &Graph, layout: &Layout, alike: &Alike, nth: usize) -> fmt::Result {
    let (from, to) = (&layout.cards[alike.from], &layout.cards[alike.to]);
    let shift = ALIKE_SHIFTS.0 + ALIKE_SHIFTS.1 * (nth % N_ALIKE_SHIFTS) as f64;
    let (y1, y2) = (from.y + shift.min(from.height - 8.0), to.y + shift.min(to.height - 8.0));
    let (x1, x2, x) = match from.x.total_cmp(&to.x) {
        Ordering::Less => (from.right(), to.x, from.right() + 8.0),
        Ordering::Greater => (from.x, to.right(), to.right() + 8.0),
        Ordering::Equal => (from.right(), to.right(), from.right() + 26.0),
    };
    let bend = if from.x == to.x { 40.0 } else { (x2 - x1) / 2.0 };
    let (a, b) = if from.x == to.x { (x1 + bend, x2 + bend) } else { (x1 + bend, x2 - bend) };
    let text = graph.label(alike);
    let class = match (graph.colour(alike), &alike.kind) {
        (Some(colour), _) => format!("alike agent-{}", colour % N_COLOURS),
        (None, AlikeKind::Edge(_)) => "norm edge".to_string(),
        (None, _) => "norm".to_string(),
    };
    let head = if matches!(alike.kind, AlikeKind::Edge(_)) { r#" marker-end="url(#arrow)""# } else { "" };
    let (one, other) = (id(graph, alike.from), id(graph, alike.to));
    writeln!(
        out,
        r#"<path class="{class}" data-from="{one}" data-to="{other}" data-agents="{}" d="M{x1:.1} {y1:.1} C{a:.1} {y1:.1} {b:.1} {y2:.1} {x2:.1} {y2:.1}"{head}/>"#,
        escaped(&text)
    )?;
    // Next to the left card, where there is no other text.
    let y = if from.x <= to.x { y1 } else { y2 } - 5.0;
    write_text(out, &format!("{class} name label"), (x, y), &text)
}

fn write_card(out: &mut String, card: &Card, place: &Rectangle) -> fmt::Result {
    match card.state {
        Some(state) => writeln!(out, r#"<g class="state" data-state="{}">"#, state.0)?,
        None => writeln!(out, r#"<g class="left-out">"#)?,
    }
    let all: Vec<&str> = card.lines.iter().map(|line| line.text.as_str()).collect();
    write_title(out, &[&card.title, "\n", &all.join("\n")].concat())?;
    write_rect(out, *place, 6)?;
    let (left, mut y) = (place.x + PAD, place.y + PAD + ASCENT);
    if !card.title.is_empty() {
        write_text(out, "number", (left, y), &card.title)?;
        y += LINE_HEIGHT;
    }
    for line in &card.lines {
        write_text(out, line.mark.word(), (left, y), &shortened(line.text.clone(), MAX_LINE_CHARS - 2))?;
        y += LINE_HEIGHT;
    }
    writeln!(out, "</g>")
}

fn id(graph: &Graph, card: usize) -> String {
    graph.cards[card].state.map_or(String::new(), |state| state.0.to_string())
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // HTML does not allow control characters.
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
