//! Records that need no map: `{"from": "pat", "to": "cody", "message": "task(fix_login)"}` for protocols, and
//! `{"Lamp.Action": "switch", "Lamp.on": true}` for interpreted systems.
//!
//! A `message` or `constraint` that is a string is a term as LCC writes it, in which variables match any term. As an
//! object with one key it is a term whose arguments are values, which are never parsed: `{"task": ["fix_login"]}`.

use super::apply::BadRecord;
use super::{Observed, ObservedEvent, ObservedKind};
use crate::record::{Json, Time, TimeUnit, text_constant};

/// The keys of a record that belong to no event.
const HEAD_KEYS: [&str; 2] = ["session", "time"];
/// The keys of an event of a protocol.
const EVENT_KEYS: [&str; 6] = ["from", "to", "message", "kind", "by", "constraint"];

/// What records without a map describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordForm {
    /// Events of a protocol.
    Event,
    /// Columns of an interpreted system: actions, variables and propositions by name.
    Columns,
}

impl RecordForm {
    /// What would be accepted, for messages.
    fn accepted(self) -> &'static str {
        match self {
            RecordForm::Event => {
                "expected an object such as {\"from\": \"ann\", \"to\": \"bob\", \"message\": \"ask(5)\"} or {\"by\": \
                 \"ann\", \"constraint\": \"edit(7)\"}; for other records, write a map"
            }
            RecordForm::Columns => {
                "expected an object such as {\"Lamp.Action\": \"switch\", \"Lamp.on\": true}; for other records, write a map"
            }
        }
    }
}

/// The observation of a record without a map.
///
/// # Errors
///
/// If the record has no event, or a key or value that is not accepted.
pub fn plain_record(record: &Json, form: RecordForm) -> Result<Observed, BadRecord> {
    let accepted = form.accepted();
    let Json::Object(fields) = record else {
        return Err(BadRecord::new(format!("the record is {}; {accepted}", record.kind())));
    };
    let event = match form {
        RecordForm::Event => event(record, fields, accepted)?,
        // A record without columns says that there was a step.
        RecordForm::Columns => ObservedEvent { columns: columns(fields)?, ..ObservedEvent::default() },
    };
    Ok(Observed { session: text(record, "session")?, time: time(record)?, event: Some(event) })
}

fn event(record: &Json, fields: &[(String, Json)], accepted: &str) -> Result<ObservedEvent, BadRecord> {
    let is_known = |key: &str| HEAD_KEYS.contains(&key) || EVENT_KEYS.contains(&key);
    if let Some((key, _)) = fields.iter().find(|(key, _)| !is_known(key)) {
        return Err(BadRecord::new(format!("the record has the key `{key}`; {accepted}")));
    }
    let kind = match text(record, "kind")? {
        Some(word) => {
            let found = ObservedKind::WORDS.into_iter().find(|(known, _)| *known == word);
            let (_, kind) = found.ok_or_else(|| {
                BadRecord::new(format!(
                    "`kind` is `{word}`; expected `internal`, `sent`, `taken` or `exchanged`"
                ))
            })?;
            Some(kind)
        }
        None => None,
    };
    let event = ObservedEvent {
        kind,
        by: text(record, "by")?,
        from: text(record, "from")?,
        to: text(record, "to")?,
        message: term(record, "message")?,
        constraint: term(record, "constraint")?,
        columns: Vec::new(),
    };
    if event == ObservedEvent::default() {
        return Err(BadRecord::new(format!("the record describes no event; {accepted}")));
    }
    Ok(event)
}

fn value<'r>(record: &'r Json, key: &str) -> Option<&'r Json> {
    record.get(key).filter(|value| **value != Json::Null)
}

fn text(record: &Json, key: &str) -> Result<Option<String>, BadRecord> {
    let Some(value) = value(record, key) else { return Ok(None) };
    let text = value.scalar_text();
    text.map(Some).ok_or_else(|| BadRecord::new(format!("`{key}` is {}; expected a string", value.kind())))
}

fn time(record: &Json) -> Result<Option<Time>, BadRecord> {
    let Some(value) = value(record, "time") else { return Ok(None) };
    let time = Time::of(value, TimeUnit::Seconds);
    time.map(Some).map_err(|found| BadRecord::new(format!("`time` is {found}")))
}

/// A term: text of LCC, or a name with values as its arguments.
fn term(record: &Json, key: &str) -> Result<Option<String>, BadRecord> {
    let Some(value) = value(record, key) else { return Ok(None) };
    let refused = || {
        BadRecord::new(format!(
            "`{key}` is {}; expected a term such as \"ask(5)\", or an object such as {{\"ask\": [5]}}",
            value.kind()
        ))
    };
    match value {
        Json::Text(text) => Ok(Some(text.clone())),
        Json::Object(fields) => match &fields[..] {
            [(name, Json::List(arguments))] => {
                let too_large = |_| {
                    BadRecord::new(format!("`{key}` has a number that is too large; write it as a string"))
                };
                let terms: Result<Vec<String>, _> = arguments.iter().map(Json::term).collect();
                let terms = terms.map_err(too_large)?;
                if terms.is_empty() {
                    return Ok(Some(text_constant(name)));
                }
                Ok(Some(format!("{}({})", text_constant(name), terms.join(", "))))
            }
            _ => Err(refused()),
        },
        _ => Err(refused()),
    }
}

/// Every key but those of the head, with its value as text. `null` means that the value is not known.
fn columns(fields: &[(String, Json)]) -> Result<Vec<(String, String)>, BadRecord> {
    let is_column =
        |(key, value): &&(String, Json)| !HEAD_KEYS.contains(&key.as_str()) && *value != Json::Null;
    let column = |(key, value): &(String, Json)| {
        let text = value.scalar_text().ok_or_else(|| {
            let expected = "expected a string, a number or a truth value";
            BadRecord::new(format!("`{key}` is {}; {expected}", value.kind()))
        })?;
        Ok((key.clone(), text))
    };
    fields.iter().filter(is_column).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Observed, BadRecord> {
        plain_record(&Json::parse(text).unwrap(), RecordForm::Event)
    }

    #[test]
    fn records_are_observations() {
        let observed = read(
            r#"{"session": 7, "time": 1.5, "from": "pat", "to": "cody", "message": {"task": ["X", 1]}}"#,
        )
        .unwrap();
        assert_eq!((observed.session.as_deref(), observed.time), (Some("7"), Some(Time(1_500_000_000))));
        let event = observed.event.unwrap();
        assert_eq!((event.from.as_deref(), event.message.as_deref()), (Some("pat"), Some("task('X', 1)")));
        let event =
            read(r#"{"kind": "internal", "by": "rex", "constraint": "merge(_)", "to": null}"#).unwrap();
        assert_eq!(event.event.unwrap().constraint.as_deref(), Some("merge(_)"));
    }

    #[test]
    fn other_records_are_refused() {
        for (record, message) in [
            ("[]", "the record is a list; expected an object"),
            ("{}", "the record describes no event; expected"),
            (r#"{"session": "s"}"#, "the record describes no event; expected"),
            (r#"{"form": "pat"}"#, "the record has the key `form`; expected"),
            (r#"{"from": []}"#, "`from` is a list; expected a string"),
            (r#"{"message": {"a": 1}}"#, "`message` is an object; expected a term such as"),
            (r#"{"message": 7}"#, "`message` is a number; expected a term such as"),
            (r#"{"by": "a", "kind": "Sent"}"#, "`kind` is `Sent`; expected `internal`, `sent`"),
            (r#"{"by": "a", "time": "noon"}"#, "`time` is `noon`; expected a text such as `2026-"),
            (r#"{"by": "a", "time": []}"#, "`time` is a list; expected a text such as `2026-"),
            (r#"{"by": "a", "time": 1e17}"#, "`time` is a number that is too large (integers have 64 bits"),
            (r#"{"by": 18446744073709551615}"#, "`by` is a number that is too large (integers have 64 bits"),
        ] {
            let bad = read(record).unwrap_err();
            assert!(bad.message.starts_with(message), "{record}: {}", bad.message);
        }
    }

    #[test]
    fn columns_are_texts() {
        let record =
            Json::parse(r#"{"L.Action": "on", "L.n": 3, "lit": true, "L.x": null, "session": "a"}"#).unwrap();
        let columns = plain_record(&record, RecordForm::Columns).unwrap().event.unwrap().columns;
        let expected = [("L.Action", "on"), ("L.n", "3"), ("lit", "true")];
        assert_eq!(columns, expected.map(|(name, value)| (name.to_string(), value.to_string())));
        // A record that says nothing is about a step of which nothing is known.
        for nothing in ["{}", r#"{"L.x": null}"#, r#"{"session": "a", "time": 1}"#] {
            let record = Json::parse(nothing).unwrap();
            let event = plain_record(&record, RecordForm::Columns).unwrap().event;
            assert_eq!(event, Some(ObservedEvent::default()), "{nothing}");
        }
        let bad = Json::parse(r#"{"L.n": [3]}"#).unwrap();
        let message = plain_record(&bad, RecordForm::Columns).unwrap_err().message;
        assert_eq!(message, "`L.n` is a list; expected a string, a number or a truth value");
    }
}
