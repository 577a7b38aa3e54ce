//! Runs in the Informal Trace Format (ITF), the JSON format of Apalache and Quint.
//!
//! See <https://apalache-mc.org/docs/adr/015adr-trace.html>.

use std::io::{self, Write};

use masque_driver::trace::{MAIL_VARIABLE, TraceAction, TraceVariable, VariableKind};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Entries;
use crate::check::write_json;
use crate::named_run::NamedRun;

/// Address of the description of the format.
const DESCRIPTION: &str = "https://apalache-mc.org/docs/adr/015adr-trace.html";
/// Largest integer that the format allows as a JSON number.
const MAX_PLAIN_INTEGER: u64 = (1 << 53) - 1;

/// A trace.
#[derive(Serialize)]
struct ItfTrace {
    #[serde(rename = "#meta")]
    meta: Entries<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    params: Vec<String>,
    vars: Vec<String>,
    states: Vec<Entries<Value>>,
    #[serde(rename = "loop", skip_serializing_if = "Option::is_none")]
    back_to: Option<usize>,
}

/// Writes a run as one JSON object.
pub(crate) fn write_itf(out: &mut dyn Write, run: &NamedRun) -> io::Result<()> {
    let mut meta: Vec<(&str, Value)> = vec![
        ("format", "ITF".into()),
        ("format-description", DESCRIPTION.into()),
        ("source", run.file.as_str().into()),
        ("description", concat!("Created by masque ", env!("CARGO_PKG_VERSION")).into()),
        ("property", run.property.as_str().into()),
        ("formula", run.formula.as_str().into()),
        ("verdict", run.verdict.into()),
        ("run", run.number.into()),
        ("runs", run.n_runs.into()),
    ];
    meta.extend(run.world.as_ref().map(|world| ("world", world.as_str().into())));
    let trace = ItfTrace {
        meta: meta.into_iter().collect(),
        params: run.parameters.iter().map(|(name, _)| name.clone()).collect(),
        vars: run.variables.iter().map(|variable| variable.name.clone()).collect(),
        states: (0..run.states.len()).map(|index| state(run, index)).collect(),
        back_to: run.back_to,
    };
    write_json(out, &trace)
}

fn state(run: &NamedRun, index: usize) -> Entries<Value> {
    let mut meta = vec![("index", Value::from(index))];
    let action = match run.steps.get(index) {
        None | Some(TraceAction::NotGiven) => None,
        Some(TraceAction::Stutter) => Some(Value::Null),
        Some(TraceAction::Label(label)) => Some(label.as_str().into()),
        Some(TraceAction::Joint(actions)) => {
            Some(actions.iter().map(|(agent, action)| (agent.clone(), action.as_str())).collect())
        }
    };
    meta.extend(action.map(|action| ("action", action)));
    let meta: Value = meta.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    let mut entries = vec![("#meta".to_string(), meta)];
    if index == 0 {
        entries
            .extend(run.parameters.iter().map(|(name, value)| (name.clone(), integer(&value.to_string()))));
    }
    let values = run.variables.iter().zip(&run.states[index]);
    entries.extend(
        values.filter_map(|(variable, text)| {
            Some((variable.name.clone(), itf_value(variable, text.as_ref()?)))
        }),
    );
    Entries(entries)
}

fn itf_value(variable: &TraceVariable, text: &str) -> Value {
    match variable.kind {
        VariableKind::Boolean => (text == "true").into(),
        VariableKind::Integer => integer(text),
        VariableKind::Text if variable.name == MAIL_VARIABLE => {
            text.split("; ").filter(|message| !message.is_empty()).collect()
        }
        VariableKind::Text => text.into(),
    }
}

/// An integer as the format writes it.
fn integer(text: &str) -> Value {
    match text.parse::<i64>() {
        Ok(value) if value.unsigned_abs() <= MAX_PLAIN_INTEGER => value.into(),
        _ => json!({ "#bigint": text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_integers_are_strings() {
        assert_eq!(integer("-9007199254740991"), json!(-9_007_199_254_740_991_i64));
        assert_eq!(integer("9007199254740992"), json!({ "#bigint": "9007199254740992" }));
        assert_eq!(integer("9223372036854775807"), json!({ "#bigint": "9223372036854775807" }));
    }
}
