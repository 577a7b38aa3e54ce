//! Workers that are threads of this process.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use masque_model::System;
use masque_verdict::Budget;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::{Allocator, AllocatorBuilder, Hooks, initialize_from};

use crate::command::{Command, Reply};
use crate::net::Net;
use crate::worker::{Orders, serve};
use crate::worker_set::{Message, WorkerHandle, WorkerSet};

/// Name of a worker thread in messages.
const NAME: &str = "a thread";
/// Stack size of a worker thread, in bytes. Successors are found by recursion over the agents that have a
/// choice.
const STACK_BYTES: usize = 64 << 20;

/// Starts worker threads for a system.
pub(crate) fn start(system: &Arc<System>, workers: usize, limits: &Budget) -> Result<WorkerSet, String> {
    let (sender, messages) = channel();
    let mut handles: Vec<Box<dyn WorkerHandle>> = Vec::new();
    let mut parts = Vec::new();
    for index in 0..workers {
        let (commands, inbox) = channel();
        let flag = Arc::new(AtomicBool::new(false));
        let budget = budget(limits.memory(), &flag).with_meter(limits.meter().clone());
        let orders = Inbox { index, commands: inbox, messages: sender.clone() };
        parts.push(Some((orders, budget)));
        handles.push(Box::new(ThreadHandle { commands: Some(commands), flag }));
    }
    let system = Arc::clone(system);
    if workers == 1 {
        start_one(system, parts)?;
        return Ok(WorkerSet::new(handles, messages, Duration::MAX));
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
    // Dropping the guards would wait for the workers, and panic if one of them did. Workers end when their
    // channel of commands is closed, and a worker that panics sends `Message::Lost`.
    std::mem::forget(guards);
    Ok(WorkerSet::new(handles, messages, Duration::MAX))
}

/// Starts a single worker. It needs no communication, and so no thread of timely, whose stack is short.
fn start_one(system: Arc<System>, parts: Vec<Option<(Inbox, Budget)>>) -> Result<(), String> {
    let work = move || {
        for (mut orders, budget) in parts.into_iter().flatten() {
            let allocator = Allocator::Thread(timely::communication::allocator::Thread::default());
            serve(&system, Net::new(allocator, budget), None, &mut orders);
        }
    };
    let builder = Builder::new().name("worker".to_string()).stack_size(STACK_BYTES);
    builder.spawn(work).map(drop).map_err(|error| error.to_string())
}

/// Returns the budget of a worker, which the flag cancels.
pub(crate) fn budget(memory: Option<u64>, flag: &Arc<AtomicBool>) -> Budget {
    let budget = Budget::default().with_cancel(Arc::clone(flag));
    match memory {
        Some(memory) => budget.with_memory(memory),
        None => budget,
    }
}

/// The supervisor's handle of a worker thread.
struct ThreadHandle {
    commands: Option<Sender<Command>>,
    flag: Arc<AtomicBool>,
}

impl WorkerHandle for ThreadHandle {
    fn name(&self) -> String {
        NAME.to_string()
    }

    fn last_heard(&self) -> Option<Instant> {
        None
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

impl Drop for ThreadHandle {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
        self.commands = None;
    }
}

/// The worker's ends of the channels to the supervisor.
struct Inbox {
    index: usize,
    commands: Receiver<Command>,
    messages: Sender<(usize, Message)>,
}

impl Orders for Inbox {
    fn next(&mut self) -> Option<Command> {
        self.commands.recv().ok()
    }

    fn reply(&mut self, reply: Reply) -> bool {
        self.messages.send((self.index, Message::Reply(reply))).is_ok()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        _ = self.messages.send((self.index, Message::Lost(None)));
    }
}
