//! JSON-RPC 2.0: parsing of messages and writing of responses. [JSONRPC]
//!
//! This module does not know the methods. Parameters by position, which the standard also allows, are refused
//! later, by the methods. Parsing does not copy the message. An id is kept as it was written, so that `1.0`, `"1"`
//! and a number of thirty digits are returned byte for byte.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fault::Fault;

/// A call within a message.
#[derive(Debug)]
pub(crate) struct Call<'m> {
    /// The id for the response; none for a notification, which gets no response.
    pub id: Option<Id>,
    /// Name of the method.
    pub method: String,
    /// The parameters as they were written; none if they were omitted.
    pub params: Option<&'m RawValue>,
}

/// The id of a request: a string, a number or null, as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Id(Box<str>);

impl Id {
    /// The id of responses to messages whose id cannot be read.
    pub(crate) fn null() -> Id {
        Id("null".into())
    }

    /// The id as JSON.
    pub(crate) fn as_json(&self) -> &str {
        &self.0
    }

    /// Reads an id. Lists, objects and truth values are not ids.
    pub(crate) fn read(raw: &RawValue) -> Option<Id> {
        let is_id = !raw.get().starts_with(['[', '{', 't', 'f']);
        is_id.then(|| Id(raw.get().into()))
    }
}

/// A call that cannot be parsed.
#[derive(Debug)]
pub(crate) struct Misread {
    /// The id for the response; null if it cannot be read.
    pub id: Id,
    /// The error.
    pub fault: Fault,
}

/// A message: one call, or several with a common response.
#[derive(Debug)]
pub(crate) enum Message<'m> {
    /// One call.
    Single(Result<Call<'m>, Misread>),
    /// A list of calls; an error in one does not affect the others.
    Batch(Vec<Result<Call<'m>, Misread>>),
}

/// Parses a message. A list may have at most `max_calls` calls.
pub(crate) fn read(text: &[u8], max_calls: usize) -> Message<'_> {
    let misread = |fault| Message::Single(Err(Misread { id: Id::null(), fault }));
    let raw: &RawValue = match serde_json::from_slice(text) {
        Ok(raw) => raw,
        Err(error) => return misread(Fault::parse(&error.to_string())),
    };
    if !raw.get().starts_with('[') {
        return Message::Single(call(raw));
    }
    match serde_json::from_str::<Vec<&RawValue>>(raw.get()) {
        Err(error) => misread(Fault::parse(&error.to_string())),
        Ok(calls) if calls.is_empty() => misread(Fault::invalid("a batch has at least one call")),
        Ok(calls) if calls.len() > max_calls => misread(Fault::limit(
            "batch",
            format!("a batch of {} calls is too long; the maximum is {max_calls}", calls.len()),
        )),
        Ok(calls) => Message::Batch(calls.into_iter().map(call).collect()),
    }
}

/// The members of a call. Other members are ignored; the standard does not define them.
#[derive(Deserialize)]
struct Members<'m> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'m RawValue>,
    #[serde(borrow, default)]
    method: Option<&'m RawValue>,
    #[serde(borrow, default)]
    params: Option<&'m RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'m RawValue>,
}

/// Distinguishes `"id": null`, which is an id, from a missing id.
fn present<'de, D: serde::Deserializer<'de>>(source: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(source).map(Some)
}

fn call(raw: &RawValue) -> Result<Call<'_>, Misread> {
    let without_id = |fault| Misread { id: Id::null(), fault };
    if !raw.get().starts_with('{') {
        return Err(without_id(Fault::invalid("a call must be an object")));
    }
    let members: Members<'_> =
        serde_json::from_str(raw.get()).map_err(|error| without_id(Fault::invalid(&error.to_string())))?;
    let id = match members.id.map(Id::read) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => return Err(without_id(Fault::invalid("`id` must be a string, a number or null"))),
    };
    let misread =
        |message| Misread { id: id.clone().unwrap_or_else(Id::null), fault: Fault::invalid(message) };
    if members.jsonrpc.is_none_or(|version| string(version).as_deref() != Some("2.0")) {
        return Err(misread("`jsonrpc` must be \"2.0\""));
    }
    let Some(method) = members.method.and_then(string) else {
        return Err(misread("`method` must be a string"));
    };
    if members.params.is_some_and(|params| !params.get().starts_with(['[', '{'])) {
        return Err(misread("`params` must be an object"));
    }
    Ok(Call { id, method, params: members.params })
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A response as one line of JSON.
pub(crate) fn answer(id: &Id, outcome: &Result<Box<RawValue>, Fault>) -> String {
    let (member, value) = match outcome {
        Ok(result) => ("result", result.get().to_string()),
        Err(fault) => ("error", fault.to_json()),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{member}\":{value}}}", id.as_json())
}

/// The response to a batch; none if all its calls were notifications.
pub(crate) fn answers(answers: &[String]) -> Option<String> {
    (!answers.is_empty()).then(|| format!("[{}]", answers.join(",")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A parsed call as text: its id, method and parameters, or the id and code of the error.
    fn shown(call: &Result<Call<'_>, Misread>) -> String {
        match call {
            Ok(call) => {
                let id = call.id.as_ref().map_or("-", Id::as_json);
                format!("{id} {} {}", call.method, call.params.map_or("-", RawValue::get))
            }
            Err(misread) => format!("{} {}", misread.id.as_json(), misread.fault.code),
        }
    }

    #[rustfmt::skip]
    #[test]
    fn single_messages() {
        let rows = [
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,                       "1 m -"),
            (r#" {"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}} "#,    r#"1 m {"a":1}"#),
            (r#"{"jsonrpc":"2.0","id":"1","method":"m","params":[]}"#,         r#""1" m []"#),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#,                     "1.0 m -"),
            (r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}"#, "123456789012345678901234567890 m -"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,                    "null m -"),
            (r#"{"jsonrpc":"2.0","method":"m"}"#,                              "- m -"),
            (r#"{"jsonrpc":"2.0","method":"\u006d","more":{}}"#,               "- m -"),
            (r#"{"jsonrpc":"\u0032.0","id":1,"method":"m"}"#,                  "1 m -"),
            ("",                                                               "null -32700"),
            ("{",                                                              "null -32700"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"} {}"#,                    "null -32700"),
            ("\"\u{0}\"",                                                      "null -32700"),
            ("[]",                                                             "null -32600"),
            ("1",                                                              "null -32600"),
            ("null",                                                           "null -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#,                "null -32600"),
            (r#"{"jsonrpc":"2.0","id":[],"method":"m"}"#,                      "null -32600"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#,                    "null -32600"),
            (r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#,                       "7 -32600"),
            (r#"{"id":7,"method":"m"}"#,                                       "7 -32600"),
            (r#"{"jsonrpc":"2.0","id":7}"#,                                    "7 -32600"),
            (r#"{"jsonrpc":"2.0","id":7,"method":1}"#,                         "7 -32600"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"m","params":1}"#,            "7 -32600"),
        ];
        for (text, expected) in rows {
            let Message::Single(call) = read(text.as_bytes(), 3) else { panic!("{text} is a batch") };
            assert_eq!(shown(&call), expected, "{text}");
        }
    }

    #[test]
    fn batches() {
        let text = r#"[1, {"jsonrpc":"2.0","id":1,"method":"m"}, {"jsonrpc":"2.0","method":"n"}]"#;
        let Message::Batch(calls) = read(text.as_bytes(), 3) else { panic!("a batch") };
        let calls: Vec<String> = calls.iter().map(shown).collect();
        assert_eq!(calls, ["null -32600", "1 m -", "- n -"]);
        let Message::Single(Err(misread)) = read(b"[1, 2, 3, 4]", 3) else { panic!("too long") };
        assert_eq!(misread.fault.code, -32005);
    }

    /// Parameters are not parsed here, so deep nesting needs no stack.
    #[test]
    fn deep_nesting_needs_no_stack() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{deep}}}"#);
        let Message::Single(Ok(call)) = read(text.as_bytes(), 3) else { panic!("a call") };
        assert_eq!(call.params.map(|params| params.get().len()), Some(200_000));
    }

    #[test]
    fn answers_are_lines() {
        let result = RawValue::from_string(r#"{"a":1}"#.to_string()).unwrap();
        assert_eq!(answer(&Id::null(), &Ok(result)), r#"{"jsonrpc":"2.0","id":null,"result":{"a":1}}"#);
        let fault = answer(&Id::null(), &Err(Fault::invalid("no")));
        assert_eq!(fault, r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#);
        assert_eq!(answers(&[]), None);
        assert_eq!(answers(&["1".to_string(), "2".to_string()]).as_deref(), Some("[1,2]"));
    }
}
