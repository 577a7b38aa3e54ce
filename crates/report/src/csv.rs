//! Comma-separated values, as RFC 4180 describes them, and runs as such tables.

use std::io::{self, Write};

use masque_driver::trace::TraceAction;
use masque_driver::{EventAction, Trace};

use crate::named_run::NamedRun;

/// Writes a record. A field is quoted if it contains a comma, a quote or a line break.
pub(crate) fn write_record<T: AsRef<str>>(
    out: &mut dyn Write,
    fields: impl IntoIterator<Item = T>,
) -> io::Result<()> {
    let quoted = |field: T| match field.as_ref() {
        text if text.contains([',', '"', '\n', '\r']) => format!("\"{}\"", text.replace('"', "\"\"")),
        text => text.to_string(),
    };
    let fields: Vec<String> = fields.into_iter().map(quoted).collect();
    // A record with one empty field must not look like an empty line.
    let line = if fields == [""] { "\"\"".to_string() } else { fields.join(",") };
    out.write_all(format!("{line}\r\n").as_bytes())
}

/// Writes runs as one table: a row for each state, and columns for the variables and for the step from the state.
pub(crate) fn write_csv(out: &mut dyn Write, runs: &[NamedRun]) -> io::Result<()> {
    let Some(first) = runs.first() else { return Ok(()) };
    let has_files = runs.iter().any(|run| run.file != first.file);
    let has_worlds = runs.iter().any(|run| run.world != first.world);
    let has_loops = runs.iter().any(|run| run.back_to.is_some());
    let mut key: Vec<&str> = Vec::new();
    key.extend(has_files.then_some("file"));
    key.extend((runs.len() > 1).then_some(["property", "run"]).into_iter().flatten());
    key.extend(has_worlds.then_some("world"));
    key.push("step");
    // Runs of several models or worlds may have different columns.
    let mut columns: Vec<String> = Vec::new();
    for name in runs.iter().flat_map(column_names) {
        if !columns.contains(&name) {
            columns.push(name);
        }
    }
    let last = has_loops.then_some("loop to");
    write_record(out, key.iter().copied().chain(columns.iter().map(String::as_str)).chain(last))?;
    for run in runs {
        for state in 0..run.states.len() {
            let mut fields: Vec<String> = Vec::new();
            fields.extend(has_files.then(|| run.file.clone()));
            if runs.len() > 1 {
                fields.extend([run.property.clone(), run.number.to_string()]);
            }
            fields.extend(has_worlds.then(|| run.world.clone().unwrap_or_default()));
            fields.push(state.to_string());
            let cells = cells(run, state);
            let cell = |name: &String| cells.iter().find(|(known, _)| known == name);
            fields.extend(
                columns.iter().map(|name| cell(name).map_or(String::new(), |(_, text)| text.clone())),
            );
            let loop_to = run.back_to.filter(|_| state + 1 == run.states.len());
            fields.extend(has_loops.then(|| loop_to.map_or(String::new(), |to| to.to_string())));
            write_record(out, fields)?;
        }
    }
    Ok(())
}

/// The columns of a run: the step from the state, then the variables.
fn column_names(run: &NamedRun) -> Vec<String> {
    let mut names = Vec::new();
    for step in &run.steps {
        match step {
            TraceAction::Joint(actions) => {
                for name in actions.iter().map(|(agent, _)| action_column(agent)) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
            }
            TraceAction::Label(_) if names.is_empty() => names.push("label".to_string()),
            _ => {}
        }
    }
    if let Some(trace) = &run.trace {
        names.extend(trace.agents.iter().map(|agent| action_column(agent)));
    }
    names.extend(run.variables.iter().map(|variable| variable.name.clone()));
    names
}

/// The column of an agent's actions, in the words of ISPL.
fn action_column(agent: &str) -> String {
    format!("{agent}.Action")
}

/// The cells of a row that are not empty, by column.
fn cells(run: &NamedRun, state: usize) -> Vec<(String, String)> {
    let mut cells: Vec<(String, String)> = match run.steps.get(state) {
        Some(TraceAction::Joint(actions)) => {
            actions.iter().map(|(agent, action)| (action_column(agent), action.clone())).collect()
        }
        Some(TraceAction::Label(label)) => vec![("label".to_string(), label.clone())],
        _ => Vec::new(),
    };
    if let Some(trace) = &run.trace {
        cells.extend(agent_actions(trace, state));
    }
    let values = run.variables.iter().zip(&run.states[state]);
    cells.extend(values.filter_map(|(variable, text)| Some((variable.name.clone(), text.clone()?))));
    cells
}

/// What each agent does in an event of a protocol.
fn agent_actions(trace: &Trace, index: usize) -> Vec<(String, String)> {
    let Some(event) = trace.events.get(index) else { return Vec::new() };
    let to = |peer: &str| if peer.is_empty() { String::new() } else { format!(" to {peer}") };
    match &event.action {
        EventAction::Internal { by } => vec![(action_column(by), "internal step".to_string())],
        EventAction::Sent { by, to: peer, message } => {
            vec![(action_column(by), format!("sends {message}{}", to(peer)))]
        }
        EventAction::Taken { by, from, message } => {
            vec![(action_column(by), format!("receives {message} from {from}"))]
        }
        EventAction::Exchanged { from, to: peer, message } => vec![
            (action_column(from), format!("sends {message}{}", to(peer))),
            (action_column(peer), format!("receives {message} from {from}")),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_needed() {
        let mut out = Vec::new();
        write_record(&mut out, ["a", "b,c", "say \"hi\"", "two\nlines", ""]).unwrap();
        write_record(&mut out, [""]).unwrap();
        let expected = "a,\"b,c\",\"say \"\"hi\"\"\",\"two\nlines\",\r\n\"\"\r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
