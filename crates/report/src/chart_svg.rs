//! A message sequence chart as an SVG drawing.

use std::fmt::{self, Write};

use masque_driver::End;

use crate::chart_layout::{Chart, Fate, InternalStep, Message, in_head};
use crate::graph_layout::{ASCENT, LINE_HEIGHT, PAD, Rectangle, text_width};
use crate::graph_svg::{escaped, open_svg, write_rect, write_text, write_title};
use crate::wording::plural;

/// Draws a chart. `title` is its name, `description` its events in words.
pub(crate) fn write_chart(out: &mut String, chart: &Chart, title: &str, description: &str) -> fmt::Result {
    open_svg(out, chart.width, chart.height, title)?;
    writeln!(out, "<desc>{}</desc>", escaped(description))?;
    lifelines(out, chart)?;
    repeated(out, chart)?;
    if let Some((top, bottom)) = chart.violated {
        let (x, width) = (PAD, chart.width - 2.0 * PAD);
        writeln!(
            out,
            r#"<rect class="violated" x="{x:.1}" y="{top:.1}" width="{width:.1}" height="{:.1}"><title>This event is not possible here.</title></rect>"#,
            bottom - top
        )?;
    }
    chart.messages.iter().try_for_each(|message| arrow(out, message))?;
    chart.steps.iter().try_for_each(|step| internal_step(out, step))?;
    // Texts last, so that no arrow runs over them.
    chart.messages.iter().try_for_each(|message| label(out, message))?;
    for (y, n) in &chart.left_out {
        let text = format!(".. {} left out ..", plural(n, "event", "events"));
        write_text(out, "left-out middle", (chart.width / 2.0, y + 4.0), &text)?;
    }
    for (nth, note) in chart.notes.iter().enumerate() {
        let class = match (chart.end, nth) {
            (End::Stuck, 0) => "differs",
            (End::Final, _) => "seen",
            _ => "value",
        };
        write_text(out, class, (PAD + 6.0, chart.notes_at + nth as f64 * LINE_HEIGHT), note)?;
    }
    writeln!(out, "</svg>")
}

/// Draws the lifelines with their headings, and how each of them ends.
fn lifelines(out: &mut String, chart: &Chart) -> fmt::Result {
    let (top, bottom) = (chart.top, chart.bottom);
    for line in &chart.lifelines {
        let x = line.x;
        writeln!(out, r#"<g class="lifeline" data-agent="{}">"#, escaped(&line.id))?;
        write_title(out, &format!("{} begins as {}", line.id, line.role))?;
        writeln!(out, r#"<path d="M{x:.1} {top:.1} V{bottom:.1}"/>"#)?;
        if chart.feet.is_none() && line.rests && matches!(chart.end, End::Final | End::Stuck) {
            writeln!(out, r#"<path class="rests" d="M{:.1} {bottom:.1} H{:.1}"/>"#, x - 9.0, x + 9.0)?;
        }
        if chart.end == End::Stuck && !line.rests {
            let (left, right, low, high) = (x - 6.0, x + 6.0, bottom - 12.0, bottom);
            writeln!(
                out,
                r#"<path class="stuck" d="M{left:.1} {low:.1} L{right:.1} {high:.1} M{right:.1} {low:.1} L{left:.1} {high:.1}"/>"#
            )?;
        }
        let head = 2.0 * LINE_HEIGHT + PAD;
        for y in std::iter::once(top - head).chain(chart.feet) {
            write_rect(out, Rectangle { x: x - line.half, y, width: 2.0 * line.half, height: head }, 6)?;
            write_text(out, "number middle", (x, y + LINE_HEIGHT + 1.0), &in_head(&line.id))?;
            write_text(out, "doing middle", (x, y + 2.0 * LINE_HEIGHT + 1.0), &in_head(&line.role))?;
        }
        writeln!(out, "</g>")?;
    }
    Ok(())
}

/// Draws the loop: an arrow on the left that leads back to its start.
fn repeated(out: &mut String, chart: &Chart) -> fmt::Result {
    let Some((start, end)) = chart.repeated else { return Ok(()) };
    let (left, inner) = (PAD + 4.0, 84.0);
    let right = chart.width - PAD;
    writeln!(out, r#"<g class="repeated"><title>This part is repeated forever.</title>"#)?;
    writeln!(
        out,
        r#"<path class="bound" d="M{inner:.1} {start:.1} H{right:.1} M{inner:.1} {end:.1} H{right:.1}"/>"#
    )?;
    writeln!(
        out,
        r##"<path class="back" d="M{inner:.1} {end:.1} H{left:.1} V{start:.1} H{inner:.1}" marker-end="url(#arrow)"/>"##
    )?;
    write_text(out, "name", (left + 6.0, start + LINE_HEIGHT + 1.0), "forever")?;
    writeln!(out, "</g>")
}

fn arrow(out: &mut String, message: &Message) -> fmt::Result {
    let ((x1, y1), (x2, y2)) = (message.from, message.to);
    let [from, to] = message.agents.each_ref().map(|id| escaped(id));
    writeln!(out, r#"<g class="message" data-from="{from}" data-to="{to}">"#)?;
    write_title(out, &message.title)?;
    let path = if message.is_own {
        format!("M{x1:.1} {y1:.1} h26 V{y2:.1} h-26")
    } else {
        format!("M{x1:.1} {y1:.1} L{x2:.1} {y2:.1}")
    };
    let (head, open) = match message.fate {
        Fate::Taken => (true, None),
        Fate::Found => (true, Some(message.from)),
        Fate::NextRound | Fate::NotTaken => (false, Some(message.to)),
    };
    let head = if head { r#" marker-end="url(#arrow)""# } else { "" };
    writeln!(out, r#"<path class="step" d="{path}"{head}/>"#)?;
    // A dot marks where a message is sent, because its arrow may run behind boxes.
    if message.from.1 != message.to.1 && !message.is_own {
        writeln!(out, r#"<circle class="sent" cx="{x1:.1}" cy="{y1:.1}" r="2.6"/>"#)?;
    }
    if let Some((x, y)) = open {
        writeln!(out, r#"<circle class="open" cx="{x:.1}" cy="{y:.1}" r="4"/>"#)?;
    }
    writeln!(out, "</g>")
}

/// Writes the message above the start of its arrow, and below it whether it is received.
fn label(out: &mut String, message: &Message) -> fmt::Result {
    if message.label.is_empty() {
        return Ok(());
    }
    let ((x1, y1), (x2, y2)) = (message.from, message.to);
    let is_level = y1 == y2;
    // In the middle of a level arrow; otherwise next to the sender, where the arrow does not cross it.
    let (class, x) = match x1 < x2 || message.is_own {
        _ if is_level => ("middle", (x1 + x2) / 2.0),
        true => ("", x1 + 8.0),
        false => ("end", x1 - 8.0),
    };
    write_behind(out, class, (x, y1 - 5.0), &message.label)?;
    let title = escaped(&message.title);
    let (y, text) = (y1 - 5.0, escaped(&message.label));
    writeln!(
        out,
        r#"<text class="label {class}" x="{x:.1}" y="{y:.1}"><title>{title}</title>{text}</text>"#
    )?;
    if let Some(note) = message.fate.note() {
        write_behind(out, class, (x, y1 + LINE_HEIGHT - 2.0), note)?;
        write_text(out, &format!("doing label {class}"), (x, y1 + LINE_HEIGHT - 2.0), note)?;
    }
    Ok(())
}

/// Covers what is behind a text, so that arrows of other messages do not run through it.
fn write_behind(out: &mut String, class: &str, (x, y): (f64, f64), text: &str) -> fmt::Result {
    let width = text_width(text);
    let left = match class {
        "middle" => x - width / 2.0,
        "end" => x - width,
        _ => x,
    };
    let (top, height) = (y - ASCENT + 2.0, LINE_HEIGHT - 3.0);
    writeln!(
        out,
        r#"<rect class="behind" x="{left:.1}" y="{top:.1}" width="{width:.1}" height="{height:.1}"/>"#
    )
}

fn internal_step(out: &mut String, step: &InternalStep) -> fmt::Result {
    let InternalStep { x, y, half, height, .. } = *step;
    writeln!(out, r#"<g class="own" data-agent="{}">"#, escaped(&step.agent))?;
    write_title(out, &step.title)?;
    write_rect(out, Rectangle { x: x - half, y, width: 2.0 * half, height }, 4)?;
    for (nth, line) in step.lines.iter().enumerate() {
        write_text(out, "value middle", (x, y + (nth + 1) as f64 * LINE_HEIGHT), line)?;
    }
    writeln!(out, "</g>")
}

#[cfg(test)]
mod tests {
    use masque_driver::{Event, EventAction, Trace};

    use super::*;
    use crate::chart_layout::{EVENTS_AT_EACH_END, event_text};

    fn event(action: EventAction, because: &[&str], sent: Option<usize>) -> Event {
        let because = because.iter().map(|text| text.to_string()).collect();
        Event { action, because, sent, label: String::new() }
    }

    /// A message that is received later, one that is not received, and characters that HTML must escape.
    #[test]
    fn a_chart_is_drawn() {
        let [ann, bob] = ["ann", "bob"].map(String::from);
        let trace = Trace {
            agents: vec![ann.clone(), bob.clone()],
            roles: vec!["client".to_string(), "shop(<a&b>)".to_string()],
            rests: vec![false, true],
            events: vec![
                event(
                    EventAction::Sent { by: ann.clone(), to: bob.clone(), message: "ask".into() },
                    &["x < 3"],
                    None,
                ),
                event(EventAction::Internal { by: ann.clone() }, &["waits(ann)"], None),
                event(
                    EventAction::Taken { by: bob.clone(), from: ann.clone(), message: "ask".into() },
                    &[],
                    Some(0),
                ),
                event(EventAction::Sent { by: bob, to: ann, message: "reply(\"yes\")".into() }, &[], None),
            ],
            loop_at: None,
            end: End::Stuck,
            blame: vec!["ann waits for answer from a(shop, bob)".to_string()],
        };
        let events: Vec<String> = trace.events.iter().map(event_text).collect();
        let mut out = String::new();
        write_chart(&mut out, &Chart::new(&trace, EVENTS_AT_EACH_END), "p fails", &events.join("; "))
            .unwrap();
        insta::assert_snapshot!(out);
    }
}
