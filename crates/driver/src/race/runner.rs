//! One contender of a race: a process that does one task.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use masque_verdict::Why;

use super::{Output, Task};
use crate::check::Limits;
use crate::decide::{self, Message};
use crate::helper_thread::spawn;

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
        send(out, &stopped(why))?;
        return send(out, &Output::End);
    }
    let no_model = || io::Error::new(io::ErrorKind::InvalidInput, "the task contains no model");
    let system = loaded.system().cloned().ok_or_else(no_model)?;
    let (setup, budget) = (task.options.setup(), limits.after_loading(&loaded).budget());
    let work = move |sender: &_| decide::work(&system, &setup, &budget, sender);
    match spawn(work) {
        None => send(out, &stopped(Why::Memory))?,
        Some((thread, messages)) => {
            forward(&messages, out)?;
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
    send(out, &Output::End)
}

/// The message that a limit was hit.
fn stopped(why: Why) -> Output {
    Output::Message(Box::new(Message::Stopped(why.into())))
}

/// Writes all messages but those about the choice of an engine, which the race makes itself.
fn forward(messages: &Receiver<Message>, out: &mut dyn Write) -> io::Result<()> {
    let is_sent = |message: &Message| !matches!(message, Message::Chosen(_) | Message::Unsupported(..));
    messages.iter().filter(is_sent).try_for_each(|message| send(out, &Output::Message(Box::new(message))))
}

fn send(out: &mut dyn Write, output: &Output) -> io::Result<()> {
    serde_json::to_writer(&mut *out, output)?;
    out.write_all(b"\n")?;
    out.flush()
}
