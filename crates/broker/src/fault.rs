//! What is answered when a call cannot be: a code, a sentence, and data for programs.
//!
//! Codes from -32700 to -32600 are those of the standard; the others are ours and never change their
//! meaning. The page `docs/broker.md` has a table of them.

use masque_lcc::Next;
use masque_report::{DiagnosticReport, EventReport};
use schemars::JsonSchema;
use serde::Serialize;

/// The `error` member of an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct Fault {
    /// Which kind of error; see the table of codes.
    pub code: i64,
    /// What is wrong, in one sentence.
    pub message: String,
    /// More, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<Details>>,
}

/// What an error says to programs.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ErrorData")]
pub struct Details {
    /// What is wrong with a text, place by place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticReport>,
    /// What can happen, if something was said to happen that cannot; or the events that are meant, if
    /// it could be several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<Move>>,
    /// The limit that was hit: `sessions`, `memory`, `queue`, `body`, `batch`, `time` or `children`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Words that would have been accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
}

/// Something that can happen now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Move {
    /// Its place in the list, from 0; `advance` takes it, if moves look alike above all.
    pub number: usize,
    /// What happens.
    #[serde(flatten)]
    pub event: EventReport,
    /// What remains of those who take part in it afterwards, as `now` statements.
    pub then: Vec<String>,
}

impl From<&Next> for Move {
    fn from(next: &Next) -> Move {
        Move { number: next.number, event: EventReport::from(&next.event), then: next.then.clone() }
    }
}

impl Fault {
    /// Not JSON.
    pub const PARSE: i64 = -32700;
    /// JSON, but no call.
    pub const INVALID: i64 = -32600;
    /// No such method.
    pub const METHOD: i64 = -32601;
    /// Parameters that the method does not take.
    pub const PARAMS: i64 = -32602;
    /// A bug of ours.
    pub const INTERNAL: i64 = -32603;
    /// No such session: never opened, closed, or idle for too long.
    pub const SESSION: i64 = -32001;
    /// A text with errors; its diagnostics are in the data.
    pub const TEXT: i64 = -32002;
    /// What is said to have happened cannot happen.
    pub const CANNOT: i64 = -32003;
    /// What is said to have happened could be several moves.
    pub const AMBIGUOUS: i64 = -32004;
    /// A limit of the service leaves no room.
    pub const LIMIT: i64 = -32005;
    /// Too much work is waiting; try again later.
    pub const BUSY: i64 = -32006;
    /// The call was cancelled.
    pub const CANCELLED: i64 = -32007;
    /// The service is about to end.
    pub const STOPPING: i64 = -32008;
    /// The child process that was to check a model ended without a report.
    pub const CHILD: i64 = -32009;
    /// The request did not get past the door: token, host, path or content type.
    pub const DOOR: i64 = -32010;

    /// A fault without data.
    pub fn new(code: i64, message: impl Into<String>) -> Fault {
        Fault { code, message: message.into(), data: None }
    }

    fn with(code: i64, message: impl Into<String>, data: Details) -> Fault {
        Fault { code, message: message.into(), data: Some(Box::new(data)) }
    }

    /// Not JSON.
    pub fn parse(why: &str) -> Fault {
        Fault::new(Fault::PARSE, format!("this is not JSON: {why}"))
    }

    /// JSON, but no call.
    pub fn invalid(why: &str) -> Fault {
        Fault::new(Fault::INVALID, why)
    }

    /// No such method.
    pub fn method(name: &str, accepted: impl IntoIterator<Item = &'static str>) -> Fault {
        let accepted: Vec<String> = accepted.into_iter().map(str::to_string).collect();
        let message =
            format!("there is no method `{}`; the methods are {}", brief(name), accepted.join(", "));
        Fault::with(Fault::METHOD, message, Details { accepted, ..Details::default() })
    }

    /// Parameters that the method does not take.
    pub fn params(why: impl Into<String>) -> Fault {
        Fault::new(Fault::PARAMS, why)
    }

    /// No such session.
    pub fn session(name: &str) -> Fault {
        let message = format!("there is no session `{}`: it was never opened, or is closed", brief(name));
        Fault::new(Fault::SESSION, message)
    }

    /// A text with errors.
    pub fn text(diagnostics: Vec<DiagnosticReport>) -> Fault {
        let mut errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == "error");
        let first = errors.next().map_or("it cannot be used", |diagnostic| &diagnostic.message);
        let message = match errors.count() {
            0 => first.to_string(),
            1 => format!("{first}, and one more error"),
            n => format!("{first}, and {n} more errors"),
        };
        Fault::with(Fault::TEXT, message, Details { diagnostics, ..Details::default() })
    }

    /// What is said to have happened is none of the moves, or could be several: these.
    pub fn moves(code: i64, message: impl Into<String>, moves: Vec<Move>) -> Fault {
        Fault::with(code, message, Details { moves: Some(moves), ..Details::default() })
    }

    /// A limit leaves no room.
    pub fn limit(limit: &str, message: impl Into<String>) -> Fault {
        Fault::with(Fault::LIMIT, message, Details { limit: Some(limit.to_string()), ..Details::default() })
    }

    /// Too much work is waiting.
    pub fn busy(limit: &str, most: usize) -> Fault {
        let message = format!("too much is waiting already ({most}); try again later");
        Fault::with(Fault::BUSY, message, Details { limit: Some(limit.to_string()), ..Details::default() })
    }

    /// The call was cancelled.
    pub fn cancelled() -> Fault {
        Fault::new(Fault::CANCELLED, "the call was cancelled")
    }

    /// The service is about to end.
    pub fn stopping() -> Fault {
        Fault::new(Fault::STOPPING, "the service is about to end")
    }

    /// A bug of ours.
    pub fn internal(what: &str) -> Fault {
        Fault::new(Fault::INTERNAL, format!("this is a bug of masque, please report it: {what}"))
    }

    /// The fault as JSON, in one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| {
            format!("{{\"code\":{},\"message\":\"the error cannot be written\"}}", self.code)
        })
    }
}

/// A text of the user's that is repeated in a message: not all of it, if it is long.
pub(crate) fn brief(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => text.to_string(),
        Some((end, _)) => format!("{}..", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_short() {
        let fault = Fault::session(&"é".repeat(100_000));
        assert!(fault.message.len() < 300, "{}", fault.message.len());
        assert_eq!(brief("abc"), "abc");
    }
}
