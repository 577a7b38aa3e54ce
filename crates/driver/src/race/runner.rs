//! One lane of a race: a process that does one task.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use masque_verdict::Why;

use super::wire::{News, Task};
use crate::decide::{self, Event};
use crate::load_text;
use crate::supervise::Limits;
use crate::worker::start;

/// Does the task that [`race`](super::race()) has sent as one line, and tells what it finds.
///
/// # Errors
///
/// If the line is no task, or nobody listens.
///
/// # Panics
///
/// If the engine does: its bug is handed on.
pub fn lane(task: &str, out: &mut dyn Write) -> io::Result<()> {
    let task: Task = serde_json::from_str(task)?;
    let no_task = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
    let deadline = task.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let system =
        load_text(&task.name, &task.text, &task.request).system.ok_or_else(|| no_task("no model"))?;
    let options = task.options().ok_or_else(|| no_task("no such engine"))?;
    let limits = Limits { deadline, memory: task.memory, ..Limits::default() };
    let (asked, budget) = (options.asked(), limits.budget());
    let work = move |sender: &_| decide::work(&system, &asked, &budget, sender);
    match start(work) {
        None => tell(out, News::of(Event::Stopped(Why::Memory.into())))?,
        Some((worker, events)) => {
            forward(&events, out)?;
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
    tell(out, Some(News::End))
}

fn forward(events: &Receiver<Event>, out: &mut dyn Write) -> io::Result<()> {
    events.iter().try_for_each(|event| tell(out, News::of(event)))
}

fn tell(out: &mut dyn Write, news: Option<News>) -> io::Result<()> {
    let Some(news) = news else { return Ok(()) };
    serde_json::to_writer(&mut *out, &news)?;
    out.write_all(b"\n")?;
    out.flush()
}
