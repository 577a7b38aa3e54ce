//! The loop of the server on standard input and output.
//!
//! One thread reads messages, one thread runs the loop, and each task has a thread of its own, so the loop always
//! answers. Everything arrives in one channel.

use std::io::{self, BufReader, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use crate::server::{Config, Done, Server, Task};
use crate::transport::{Incoming, read, refuse};

/// Stack of a thread that runs a task, in bytes.
const TASK_STACK_BYTES: usize = 16 << 20;

/// What the loop receives.
enum Event {
    Incoming(Incoming),
    Done(Box<Done>),
}

/// Serves a client on standard input and output until it sends `exit` or closes standard input. Returns the exit code
/// of the process.
///
/// # Errors
///
/// If standard output is closed, or a thread cannot be started.
pub fn serve(config: Config) -> io::Result<i32> {
    let (sender, events) = channel();
    let reading = sender.clone();
    Builder::new().name("lsp-input".to_string()).spawn(move || {
        let mut stream = BufReader::new(io::stdin());
        loop {
            let incoming = read(&mut stream);
            let is_end = matches!(incoming, Incoming::End);
            if reading.send(Event::Incoming(incoming)).is_err() || is_end {
                return;
            }
        }
    })?;
    let mut server = Server::new(config);
    let mut out = io::stdout().lock();
    let code = loop {
        let Ok(event) = events.recv() else { break 1 };
        let messages = match event {
            Event::Incoming(Incoming::Message(message)) => server.handle(*message),
            Event::Incoming(Incoming::Malformed(reason)) => {
                refuse(&mut out, &reason)?;
                Vec::new()
            }
            // Without `exit`, the client has died.
            Event::Incoming(Incoming::End) => break server.exit_code().unwrap_or(1),
            Event::Done(done) => server.finish(*done),
        };
        for message in messages {
            message.write(&mut out)?;
        }
        out.flush()?;
        if let Some(code) = server.exit_code() {
            break code;
        }
        while let Some(task) = server.next_task() {
            start(task, &sender)?;
        }
    };
    server.stop();
    // Checks notice that they are cancelled, and end their processes.
    while server.has_running_checks() {
        match events.recv_timeout(std::time::Duration::from_secs(2)) {
            Ok(Event::Done(done)) => _ = server.finish(*done),
            Ok(Event::Incoming(_)) => {}
            Err(_) => break,
        }
    }
    Ok(code)
}

fn start(task: Task, sender: &Sender<Event>) -> io::Result<()> {
    let sender = sender.clone();
    let name = format!("lsp-{}", task.name());
    let run = move || {
        // Sending fails only after the loop has ended.
        task.run(&mut |done| _ = sender.send(Event::Done(Box::new(done))));
    };
    Builder::new().name(name).stack_size(TASK_STACK_BYTES).spawn(run).map(|_| ())
}
