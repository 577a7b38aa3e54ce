//! One lane of a race: a process that does one task.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use masque_verdict::Why;

use super::{News, Task};
use crate::check::Limits;
use crate::decide::{self, Event};
use crate::load_text;
use crate::worker::start;

/// Does the task that a race has sent as one line, and writes what it finds.
///
/// # Errors
///
/// If the line is no task, or the other side no longer reads.
///
/// # Panics
///
/// If the engine does: its bug is handed on.
pub fn lane(task: &str, out: &mut dyn Write) -> io::Result<()> {
    let task: Task = serde_json::from_str(task)?;
    let no_task = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
    let deadline = task.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let loaded = load_text(&task.name, &task.text, &task.request);
    let system = loaded.system().cloned().ok_or_else(|| no_task("no model"))?;
    let limits = Limits { deadline, memory: task.memory, ..Limits::default() };
    let (asked, budget) = (task.options.asked(), limits.budget());
    let work = move |sender: &_| decide::work(&system, &asked, &budget, sender);
    match start(work) {
        None => send(out, &News::Event(Box::new(Event::Stopped(Why::Memory.into()))))?,
        Some((worker, events)) => {
            forward(&events, out)?;
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
    send(out, &News::End)
}

/// What no engine of a lane supports, and which one it is, the other side knows.
fn forward(events: &Receiver<Event>, out: &mut dyn Write) -> io::Result<()> {
    let is_news = |event: &Event| !matches!(event, Event::Chosen(_) | Event::Unsupported(..));
    events.iter().filter(is_news).try_for_each(|event| send(out, &News::Event(Box::new(event))))
}

fn send(out: &mut dyn Write, news: &News) -> io::Result<()> {
    serde_json::to_writer(&mut *out, news)?;
    out.write_all(b"\n")?;
    out.flush()
}
