//! Runs as Mermaid diagrams: a sequence diagram for a protocol, a state diagram for every other model.

use std::fmt::Write as _;
use std::io::{self, Write};

use masque_driver::{EventAction, Trace};

use crate::named_run::NamedRun;

/// Writes a run as a diagram.
pub(crate) fn write_mermaid(out: &mut dyn Write, run: &NamedRun) -> io::Result<()> {
    let mut title = match run.n_runs {
        1 => format!("{} {}", run.property, run.verdict),
        n => format!("{} {}, run {} of {n}", run.property, run.verdict, run.number),
    };
    if let Some(world) = &run.world {
        title += &format!(", world {world}");
    }
    let mut text = format!("---\ntitle: {}\n---\n", quoted_title(&title));
    let written = match &run.trace {
        Some(trace) => sequence_diagram(&mut text, trace),
        None => state_diagram(&mut text, run),
    };
    written.map_err(io::Error::other)?;
    out.write_all(text.as_bytes())
}

/// A title as a double-quoted YAML string.
fn quoted_title(title: &str) -> String {
    let plain: String = title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A text in which no character has a meaning in Mermaid: all but letters, digits and a few signs are
/// written as character codes, and so is the first letter of `end`, which would close a block.
fn escaped(text: &str) -> String {
    let mut result = String::new();
    for c in text.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '_' | '.' | ',' | '(' | ')' | '=' | '+' => {
                result.push(c)
            }
            c if c.is_control() => result.push(' '),
            c => _ = write!(result, "#{};", u32::from(c)),
        }
    }
    let words = result.split(' ').map(|word| match word {
        word if word.eq_ignore_ascii_case("end") => format!("#{};{}", word.as_bytes()[0], &word[1..]),
        word => word.to_string(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A state diagram. The first state has all variables, every other state those that change.
fn state_diagram(text: &mut String, run: &NamedRun) -> std::fmt::Result {
    writeln!(text, "stateDiagram-v2")?;
    for (index, values) in run.states.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &run.states[before]);
        let changed = |column: &usize| before.is_none_or(|before| before[*column] != values[*column]);
        let mut lines = vec![format!("#35;{index}")];
        lines.extend((0..values.len()).filter(changed).filter_map(|column| {
            let value = values[column].as_ref()?;
            Some(escaped(&format!("{} = {value}", run.variables[column].name)))
        }));
        if index > 0 && lines.len() == 1 {
            lines.push("no change".to_string());
        }
        writeln!(text, "  state \"{}\" as s{index}", lines.join("<br/>"))?;
    }
    writeln!(text, "  [*] --> s0")?;
    for index in 0..run.states.len() {
        let to = if index + 1 < run.states.len() { Some(index + 1) } else { run.back_to };
        let Some(to) = to else { continue };
        write!(text, "  s{index} --> s{to}")?;
        match escaped(&run.step_text(index)) {
            label if label.is_empty() => writeln!(text)?,
            label => writeln!(text, " : {label}")?,
        }
    }
    Ok(())
}

/// A sequence diagram. A message that is received later has a number, by which its receipt refers to it.
fn sequence_diagram(text: &mut String, trace: &Trace) -> std::fmt::Result {
    writeln!(text, "sequenceDiagram")?;
    for (index, (agent, role)) in trace.agents.iter().zip(&trace.roles).enumerate() {
        let name = if role.is_empty() { agent.clone() } else { format!("{agent}: {role}") };
        writeln!(text, "  participant p{index} as {}", escaped(&name))?;
    }
    let mut indent = "  ";
    for index in 0..trace.events.len() {
        if trace.loop_at == Some(index) {
            writeln!(text, "  loop repeated forever")?;
            indent = "    ";
        }
        for line in event_lines(trace, index) {
            writeln!(text, "{indent}{line}")?;
        }
    }
    if trace.loop_at.is_some() {
        writeln!(text, "  end")?;
    }
    let everyone = match trace.agents.len() {
        0 | 1 => "p0".to_string(),
        n => format!("p0,p{}", n - 1),
    };
    for reason in &trace.blame {
        writeln!(text, "  Note over {everyone}: stuck#58; {}", escaped(reason))?;
    }
    Ok(())
}

/// The lines of an event.
fn event_lines(trace: &Trace, index: usize) -> Vec<String> {
    let event = &trace.events[index];
    let agent = |id: &str| trace.agents.iter().position(|other| other == id);
    let note = |at: Option<usize>, text: String| {
        at.map(|at| format!("Note over p{at}: {text}")).into_iter().collect::<Vec<_>>()
    };
    match &event.action {
        EventAction::Internal { by } if event.because.is_empty() => {
            note(agent(by), "internal step".to_string())
        }
        EventAction::Internal { by } => note(agent(by), escaped(&event.because.join(", "))),
        EventAction::Exchanged { from, to, message } => match (agent(from), agent(to)) {
            (Some(from), Some(to)) => vec![format!("p{from}->>p{to}: {}", escaped(message))],
            _ => Vec::new(),
        },
        EventAction::Sent { by, to, message } => {
            let receipt = trace.events.iter().position(|other| other.sent == Some(index));
            let receiver = receipt.and_then(|receipt| match &trace.events[receipt].action {
                EventAction::Taken { by, .. } => agent(by),
                _ => None,
            });
            let message = escaped(message);
            match (agent(by), receiver.or_else(|| agent(to)), receipt) {
                (Some(from), Some(to), Some(receipt)) if receipt == index + 1 => {
                    vec![format!("p{from}->>p{to}: {message}")]
                }
                (Some(from), Some(to), Some(_)) => vec![format!("p{from}-)p{to}: ({}) {message}", index + 1)],
                (Some(from), Some(to), None) => vec![format!("p{from}-xp{to}: {message} (not received)")],
                (from, None, _) => note(from, format!("sends {message} to any agent (not received)")),
                (None, ..) => Vec::new(),
            }
        }
        EventAction::Taken { by, from, message } => match event.sent {
            // The arrow of the sending, which is the event before, shows the receipt too.
            Some(sent) if sent + 1 == index => Vec::new(),
            Some(sent) => note(agent(by), format!("receives ({}) {}", sent + 1, escaped(message))),
            None => note(agent(by), format!("receives {}", escaped(&format!("{message} from {from}")))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn no_character_has_a_meaning() {
        assert_eq!(escaped("a: b; c#d"),       "a#58; b#59; c#35;d");
        assert_eq!(escaped("end End send end"), "#101;nd #69;nd send #101;nd");
        assert_eq!(escaped("<b>\"x\"\n%%"),    "#60;b#62;#34;x#34; #37;#37;");
        assert_eq!(escaped("é → {x}"),         "#233; #8594; #123;x#125;");
        assert_eq!(quoted_title("a \"b\" \\"), r#""a \"b\" \\""#);
    }
}
