//! Workers that are threads of this process.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use masque_model::System;
use masque_verdict::Budget;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::{Allocator, AllocatorBuilder, Hooks, initialize_from};

use crate::command::{Command, Reply};
use crate::crew::{Crew, Event, Member};
use crate::net::Net;
use crate::worker::{Orders, serve};

/// What a worker thread is called.
const NAME: &str = "a thread";
/// Successors are found by recursion over the agents that have a choice.
const STACK: usize = 64 << 20;

/// Starts so many workers for a system.
pub(crate) fn start(system: &Arc<System>, workers: usize, limits: &Budget) -> Result<Crew, String> {
    let (sender, events) = channel();
    let mut members: Vec<Box<dyn Member>> = Vec::new();
    let mut parts = Vec::new();
    for number in 0..workers {
        let (commands, inbox) = channel();
        let flag = Arc::new(AtomicBool::new(false));
        let budget = budget(limits.memory(), &flag).with_meter(limits.meter().clone());
        let orders = Inbox { number, commands: inbox, events: sender.clone() };
        parts.push(Some((orders, budget)));
        members.push(Box::new(Thread { commands: Some(commands), flag }));
    }
    let system = Arc::clone(system);
    if workers == 1 {
        start_one(system, parts)?;
        return Ok(Crew::new(members, events, Duration::MAX));
    }
    let parts = Mutex::new(parts);
    let work = move |allocator: Allocator| {
        let part = parts.lock().unwrap_or_else(PoisonError::into_inner)[allocator.index()].take();
        if let Some((mut orders, budget)) = part {
            serve(&system, Net::new(allocator, budget), None, &mut orders);
        }
    };
    let refill = Hooks::default().refill;
    let builders = ProcessBuilder::new_typed_vector(workers, refill, None);
    let builders = builders.into_iter().map(AllocatorBuilder::Process).collect();
    let guards = initialize_from(builders, Box::new(()), work)?;
    // The guards wait for the workers when they are dropped, and panic if one of them did. Workers
    // end when their commands do, and whoever asks one that has panicked hears of it.
    std::mem::forget(guards);
    Ok(Crew::new(members, events, Duration::MAX))
}

/// One worker needs nobody to talk to, and so no thread of timely's, whose stacks are small.
fn start_one(system: Arc<System>, parts: Vec<Option<(Inbox, Budget)>>) -> Result<(), String> {
    let work = move || {
        for (mut orders, budget) in parts.into_iter().flatten() {
            let alone = Allocator::Thread(timely::communication::allocator::Thread::default());
            serve(&system, Net::new(alone, budget), None, &mut orders);
        }
    };
    let builder = Builder::new().name("worker".to_string()).stack_size(STACK);
    builder.spawn(work).map(drop).map_err(|error| error.to_string())
}

/// What a worker may use; the flag stops it.
pub(crate) fn budget(memory: Option<u64>, flag: &Arc<AtomicBool>) -> Budget {
    let budget = Budget::default().with_cancel(Arc::clone(flag));
    match memory {
        Some(memory) => budget.with_memory(memory),
        None => budget,
    }
}

struct Thread {
    commands: Option<Sender<Command>>,
    flag: Arc<AtomicBool>,
}

impl Member for Thread {
    fn name(&self) -> String {
        NAME.to_string()
    }

    fn beats(&self) -> bool {
        false
    }

    fn command(&mut self, command: &Command) -> io::Result<()> {
        self.flag.store(false, Ordering::Relaxed);
        let sent = self.commands.as_ref().map(|commands| commands.send(command.clone()));
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn stop(&mut self) -> io::Result<()> {
        self.flag.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
        self.commands = None;
    }
}

/// A worker's end.
struct Inbox {
    number: usize,
    commands: Receiver<Command>,
    events: Sender<(usize, Event)>,
}

impl Orders for Inbox {
    fn next(&mut self) -> Option<Command> {
        self.commands.recv().ok()
    }

    fn reply(&mut self, reply: Reply) -> bool {
        self.events.send((self.number, Event::Reply(reply))).is_ok()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        _ = self.events.send((self.number, Event::Lost(None)));
    }
}
