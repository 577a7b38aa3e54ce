//! One contender of a race: a process that does one task.

use std::io::{self, Write};
use std::time::Instant;

use masque_verdict::Budget;

use super::{Output, Task};
use crate::check::Limits;
use crate::decide::{self, Message};
use crate::helper_thread::supervise;

/// Does the task in a line that a race has sent, and writes what it finds.
///
/// # Errors
///
/// If the line is not a task, or the output cannot be written.
///
/// # Panics
///
/// If the engine panics.
pub fn run_contender(task: &str, out: &mut dyn Write) -> io::Result<()> {
    let task: Task = serde_json::from_str(task)?;
    let deadline = task.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let limits = Limits { deadline, memory: task.memory, ..Limits::default() };
    let loaded = task.model.load_within(&limits);
    if let Some(why) = loaded.stopped {
        send_message(out, Message::Stopped(why.into()))?;
        return send(out, &Output::End);
    }
    let no_model = || io::Error::new(io::ErrorKind::InvalidInput, "the task contains no model");
    let system = loaded.system().cloned().ok_or_else(no_model)?;
    let limits = limits.after_loading(&loaded);
    let (setup, budget) = (task.options.setup(), limits.budget());
    let work = move |budget: &Budget, sender: &_| decide::work(&system, &setup, budget, sender);
    let mut written = Ok(());
    let why = supervise(&limits, &budget, work, &mut |message| {
        if written.is_ok() {
            written = message.into_iter().filter(is_sent).try_for_each(|message| send_message(out, message));
        }
    });
    written?;
    if let Some(why) = why {
        send_message(out, Message::Stopped(why.into()))?;
    }
    send(out, &Output::End)
}

/// Whether a message is sent: all but those about the choice of an engine, which the race makes itself.
fn is_sent(message: &Message) -> bool {
    !matches!(message, Message::Chosen(_) | Message::Unsupported(..))
}

fn send_message(out: &mut dyn Write, message: Message) -> io::Result<()> {
    send(out, &Output::Message(Box::new(message)))
}

fn send(out: &mut dyn Write, output: &Output) -> io::Result<()> {
    serde_json::to_writer(&mut *out, output)?;
    out.write_all(b"\n")?;
    out.flush()
}
