//! The log of the service on standard error: one line for each event of the service, and at a higher level one
//! for each call.

use std::io::Write;

use masque_text::printable;

/// Log levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Log {
    /// Nothing.
    Silent,
    /// The start, the end, and other events that matter to an operator.
    #[default]
    Events,
    /// All events and every call.
    Calls,
}

impl Log {
    /// Logs an event of the service.
    pub fn event(self, line: &str) {
        if self >= Log::Events {
            write(line);
        }
    }

    /// Logs a call and its result.
    pub fn call(self, line: impl FnOnce() -> String) {
        if self >= Log::Calls {
            write(&line());
        }
    }
}

/// Writes one line; text of clients in it cannot begin another line or control a terminal. Errors are
/// ignored: the service works without its log.
fn write(line: &str) {
    _ = writeln!(std::io::stderr(), "masque broker: {}", printable(line));
}
