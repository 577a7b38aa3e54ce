//! What the service says on standard error: one line for each event of its own life, and one for each
//! call if more is wanted.

use std::io::Write;

/// How much is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Log {
    /// Nothing.
    Silent,
    /// The start, the end, and what an operator should know.
    #[default]
    Events,
    /// Every call, too.
    Calls,
}

impl Log {
    /// An event in the life of the service.
    pub fn event(self, line: &str) {
        if self >= Log::Events {
            write(line);
        }
    }

    /// A call and what became of it.
    pub fn call(self, line: impl FnOnce() -> String) {
        if self >= Log::Calls {
            write(&line());
        }
    }
}

/// Nobody need listen.
fn write(line: &str) {
    _ = writeln!(std::io::stderr(), "masque broker: {line}");
}
