//! A graph of evidence as a drawing.

use std::fmt::{self, Write};

use crate::frame::shortened;
use crate::graph::{Alike, Card, Graph};
use crate::layout::{LINE, Layout, MOST_LETTERS, NORM, PAD, Place};

/// The page has so many colours for agents; then they begin again.
pub(crate) const N_COLOURS: usize = 8;

/// Draws a graph; `title` says what it shows.
pub(crate) fn write_svg(out: &mut String, graph: &Graph, title: &str) -> fmt::Result {
    let layout = Layout::new(graph);
    let (width, height) = (layout.width, layout.height);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0}" height="{height:.0}" viewBox="0 0 {width:.0} {height:.0}">"#
    )?;
    writeln!(out, "<title>{}</title>", escaped(title))?;
    steps(out, graph, &layout)?;
    for (nth, alike) in graph.alike.iter().enumerate() {
        write_alike(out, graph, &layout, alike, nth)?;
    }
    for (card, place) in graph.cards.iter().zip(&layout.cards) {
        write_card(out, card, place)?;
    }
    writeln!(out, "</svg>")
}

fn steps(out: &mut String, graph: &Graph, layout: &Layout) -> fmt::Result {
    for ((step, doing), at) in graph.steps.iter().zip(&layout.doing).zip(&layout.doing_at) {
        let (from, to) = (&layout.cards[step.from], &layout.cards[step.to]);
        let path = match graph.is_back(step) {
            true => {
                let (x1, y1, x2, y2) = (from.right(), from.bottom() - 12.0, to.right(), to.y + 12.0);
                let bend = x1.max(x2) + 44.0;
                format!("M{x1:.1} {y1:.1} C{bend:.1} {y1:.1} {bend:.1} {y2:.1} {x2:.1} {y2:.1}")
            }
            // To the side and down: what is written below the card stays legible.
            false if to.x > from.x => {
                let (x1, y1, x2, y2) = (from.right(), from.bottom() - 14.0, to.middle(), to.y);
                format!("M{x1:.1} {y1:.1} C{x2:.1} {y1:.1} {x2:.1} {y1:.1} {x2:.1} {y2:.1}")
            }
            false => {
                let (x1, y1, x2, y2) = (from.middle(), from.bottom(), to.middle(), to.y);
                let half = (y2 - y1) / 2.0;
                let (a, b) = (y1 + half, y2 - half);
                format!("M{x1:.1} {y1:.1} C{x1:.1} {a:.1} {x2:.1} {b:.1} {x2:.1} {y2:.1}")
            }
        };
        let (one, other) = (id(graph, step.from), id(graph, step.to));
        writeln!(
            out,
            r##"<path class="step" data-from="{one}" data-to="{other}" d="{path}" marker-end="url(#arrow)"/>"##
        )?;
        let (x, y) = *at;
        let back = graph.is_back(step);
        for (nth, line) in doing.iter().enumerate() {
            let y = y + nth as f64 * LINE;
            let class = if back { "doing back" } else { "doing" };
            writeln!(out, r#"<text class="{class}" x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(line))?;
        }
    }
    Ok(())
}

/// A dotted line from side to side, with the names of those who cannot tell.
fn write_alike(out: &mut String, graph: &Graph, layout: &Layout, alike: &Alike, nth: usize) -> fmt::Result {
    let (from, to) = (&layout.cards[alike.from], &layout.cards[alike.to]);
    let shift = 22.0 + 14.0 * (nth % 4) as f64;
    let (y1, y2) = (from.y + shift.min(from.height - 8.0), to.y + shift.min(to.height - 8.0));
    let (x1, x2, x) = match from.x.total_cmp(&to.x) {
        std::cmp::Ordering::Less => (from.right(), to.x, from.right() + 8.0),
        std::cmp::Ordering::Greater => (from.x, to.right(), to.right() + 8.0),
        std::cmp::Ordering::Equal => (from.right(), to.right(), from.right() + 26.0),
    };
    let bend = if from.x == to.x { 40.0 } else { (x2 - x1) / 2.0 };
    let (a, b) = if from.x == to.x { (x1 + bend, x2 + bend) } else { (x1 + bend, x2 - bend) };
    let names: Vec<&str> = alike.agents.iter().map(|agent| graph.agents[*agent].as_str()).collect();
    let (class, text) = match alike.agents.first() {
        Some(agent) => (format!("alike agent-{}", agent % N_COLOURS), names.join(", ")),
        None => ("norm".to_string(), NORM.to_string()),
    };
    let (one, other) = (id(graph, alike.from), id(graph, alike.to));
    writeln!(
        out,
        r#"<path class="{class}" data-from="{one}" data-to="{other}" data-agents="{}" d="M{x1:.1} {y1:.1} C{a:.1} {y1:.1} {b:.1} {y2:.1} {x2:.1} {y2:.1}"/>"#,
        escaped(&names.join(", "))
    )?;
    // By the left one of the two, where nothing else is written.
    let y = if from.x <= to.x { y1 } else { y2 } - 4.0;
    writeln!(out, r#"<text class="{class} name" x="{x:.1}" y="{y:.1}">{}</text>"#, escaped(&text))
}

fn write_card(out: &mut String, card: &Card, place: &Place) -> fmt::Result {
    let Place { x, y, width, height } = *place;
    match card.state {
        Some(state) => writeln!(out, r#"<g class="state" data-state="{}">"#, state.0)?,
        None => writeln!(out, r#"<g class="left-out">"#)?,
    }
    let all: Vec<&str> = card.lines.iter().map(|line| line.text.as_str()).collect();
    writeln!(out, "<title>{}</title>", escaped(&[&card.title, "\n", &all.join("\n")].concat()))?;
    writeln!(out, r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="6"/>"#)?;
    let (left, mut line_y) = (x + PAD, y + PAD + 11.0);
    if !card.title.is_empty() {
        writeln!(
            out,
            r#"<text class="number" x="{left:.1}" y="{line_y:.1}">{}</text>"#,
            escaped(&card.title)
        )?;
        line_y += LINE;
    }
    for line in &card.lines {
        let (class, text) = (line.mark.word(), escaped(&shortened(line.text.clone(), MOST_LETTERS - 2)));
        writeln!(out, r#"<text class="{class}" x="{left:.1}" y="{line_y:.1}">{text}</text>"#)?;
        line_y += LINE;
    }
    writeln!(out, "</g>")
}

fn id(graph: &Graph, card: usize) -> String {
    graph.cards[card].state.map_or(String::new(), |state| state.0.to_string())
}

/// Text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Control characters have no place in a page.
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
