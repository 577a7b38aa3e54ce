//! The errors of calls: a code, a message, and data for programs.
//!
//! Codes from -32700 to -32600 are those of the JSON-RPC standard. The others are specific to Masque and never
//! change their meaning; `docs/broker.md` has a table of them.

use masque_lcc::PossibleEvent;
use masque_report::{DiagnosticReport, EventReport};
use masque_verdict::{Stop, Why};
use schemars::JsonSchema;
use serde::Serialize;

/// The `error` member of an answer.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct Fault {
    /// The kind of error; see the table of codes.
    pub code: i64,
    /// The error in one sentence.
    pub message: String,
    /// Further data for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<Details>>,
}

/// Data of an error for programs.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "ErrorData")]
pub struct Details {
    /// The diagnostics of a text with errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<DiagnosticReport>,
    /// The possible events, if the reported event is not possible; the matching events, if several match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moves: Option<Vec<Move>>,
    /// The limit that was hit: `sessions`, `memory`, `queue`, `body`, `bodies`, `batch`, `time` or `children`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// Values that would have been accepted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
}

/// An event that is possible now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Move {
    /// Index in the list. `advance` accepts it, which is useful if several moves look alike.
    pub number: usize,
    /// The event.
    #[serde(flatten)]
    pub event: EventReport,
    /// The states of the participating agents afterwards, as `now` statements.
    pub then: Vec<String>,
}

impl From<&PossibleEvent> for Move {
    fn from(next: &PossibleEvent) -> Move {
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
    /// A bug in Masque.
    pub const INTERNAL: i64 = -32603;
    /// No such session: never opened, closed, or idle for too long.
    pub const SESSION: i64 = -32001;
    /// A text with errors; its diagnostics are in the data.
    pub const TEXT: i64 = -32002;
    /// The reported event is not possible.
    pub const CANNOT: i64 = -32003;
    /// The reported event matches several moves.
    pub const AMBIGUOUS: i64 = -32004;
    /// A limit of the service was hit.
    pub const LIMIT: i64 = -32005;
    /// Too many calls are waiting; try again later.
    pub const BUSY: i64 = -32006;
    /// The call was cancelled.
    pub const CANCELLED: i64 = -32007;
    /// The service is stopping.
    pub const STOPPING: i64 = -32008;
    /// The child process that checks a model ended without a report.
    pub const CHILD: i64 = -32009;
    /// The HTTP request is refused because of its token, host, path or content type.
    pub const REFUSED: i64 = -32010;

    /// A change cannot be saved, and was not made.
    pub const UNSAVED: i64 = -32011;

    /// The session follows a log, and changes only by further events.
    pub const FOLLOWED: i64 = -32012;

    /// The session follows a log with this many events.
    pub fn followed(n_events: u64) -> Fault {
        let n = masque_text::counted(n_events as usize, "event", "events");
        let message = format!(
            "this session follows a log with {n}, so it changes only by `observe`; open another session for other rules \
             or states"
        );
        Fault::new(Fault::FOLLOWED, message)
    }

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
        let message = format!("there is no session `{}`: it was never opened, or it is closed", brief(name));
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

    /// The reported event is none of the possible moves, or matches several; `moves` lists them.
    pub fn moves(code: i64, message: impl Into<String>, moves: Vec<Move>) -> Fault {
        Fault::with(code, message, Details { moves: Some(moves), ..Details::default() })
    }

    /// A limit of the service was hit.
    pub fn limit(limit: &str, message: impl Into<String>) -> Fault {
        Fault::with(Fault::LIMIT, message, Details { limit: Some(limit.to_string()), ..Details::default() })
    }

    /// The call was stopped by its time limit, its memory limit or a cancellation, and has changed nothing.
    pub fn stopped(stop: Stop) -> Fault {
        match stop.why {
            Why::Interrupted => Fault::cancelled(),
            Why::Memory => Fault::limit("memory", "the call was stopped: it needs too much memory"),
            _ => Fault::limit("time", "the call was stopped: its time limit is exceeded"),
        }
    }

    /// Too many calls are waiting.
    pub fn busy(limit: &str, max: usize) -> Fault {
        let message =
            format!("the service is busy: the limit `{limit}` of {max} is reached; try again later");
        Fault::with(Fault::BUSY, message, Details { limit: Some(limit.to_string()), ..Details::default() })
    }

    /// The call was cancelled.
    pub fn cancelled() -> Fault {
        Fault::new(Fault::CANCELLED, "the call was cancelled")
    }

    /// The service is stopping.
    pub fn stopping() -> Fault {
        Fault::new(Fault::STOPPING, "the service is stopping")
    }

    /// A change cannot be saved.
    pub fn unsaved(why: &str) -> Fault {
        Fault::new(Fault::UNSAVED, format!("the change cannot be saved, so it was not made: {why}"))
    }

    /// A bug in Masque.
    pub fn internal(what: &str) -> Fault {
        Fault::new(Fault::INTERNAL, format!("this is a bug in Masque, please report it: {what}"))
    }

    /// The fault as JSON, in one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| {
            format!("{{\"code\":{},\"message\":\"the error cannot be written\"}}", self.code)
        })
    }
}

/// The beginning of a text from the client, to be quoted in a message.
pub(crate) fn brief(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
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
