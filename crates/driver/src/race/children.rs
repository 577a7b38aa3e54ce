//! The processes of a race. None outlives it.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use super::{Output, Task};
use crate::decide::Message;

/// The program that contenders run, and its arguments.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) args: Vec<String>,
}

/// What a listening thread receives from a contender.
pub(super) enum Received {
    Message(Box<Message>),
    /// The last message; `is_finished` says whether the contender finished its task.
    End {
        is_finished: bool,
    },
}

/// How a contender ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It finished its task.
    Finished,
    /// It exited before that: a bug in Masque.
    Bug,
    /// The operating system killed it.
    Killed,
}

/// Time that a process may take to exit after it has closed its output.
const MAX_EXIT_DELAY: Duration = Duration::from_secs(1);

/// Running processes, each with a thread that reads its output.
pub(super) struct Children {
    children: Vec<Child>,
    listeners: Vec<JoinHandle<()>>,
}

impl Children {
    /// Starts a process for each task. What is received from it is sent on, together with the task's index.
    pub(super) fn start(
        program: &Program,
        tasks: Vec<Task>,
        n_properties: usize,
        sender: &Sender<(usize, Received)>,
    ) -> io::Result<Children> {
        // If a later process cannot be started, dropping this stops the earlier ones.
        let mut all = Children { children: Vec::new(), listeners: Vec::new() };
        for (number, task) in tasks.into_iter().enumerate() {
            let mut command = Command::new(&program.path);
            command.args(&program.args).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn()?;
            let pipes = child.stdin.take().zip(child.stdout.take());
            all.children.push(child);
            let Some((stdin, stdout)) = pipes else { return Err(io::ErrorKind::BrokenPipe.into()) };
            let sender = sender.clone();
            let listen = move || {
                // Sending fails if the race is over.
                let forward = |message| _ = sender.send((number, Received::Message(message)));
                let is_finished = attend(stdin, stdout, &task, n_properties, forward).unwrap_or(false);
                _ = sender.send((number, Received::End { is_finished }));
            };
            all.listeners.push(Builder::new().name(format!("contender {number}")).spawn(listen)?);
        }
        Ok(all)
    }

    /// How a process ended that has closed its output without finishing its task.
    pub(super) fn ending(&mut self, number: usize) -> Ending {
        let child = &mut self.children[number];
        let start = Instant::now();
        while start.elapsed() < MAX_EXIT_DELAY {
            match child.try_wait() {
                Ok(Some(status)) if status.code().is_some() => return Ending::Bug,
                Ok(None) => sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return Ending::Killed,
            }
        }
        Ending::Killed
    }

    /// Kills the processes that still run, and waits for all.
    pub(super) fn stop(&mut self) {
        for child in &mut self.children {
            // This fails if the process has already exited.
            _ = child.kill();
        }
        for child in &mut self.children {
            _ = child.wait();
        }
        for listener in self.listeners.drain(..) {
            _ = listener.join();
        }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Sends a process its task and forwards its messages until it ends. Returns whether it finished its task.
///
/// The input of the process stays open until then: when it closes, the process knows that the race is over.
fn attend(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    task: &Task,
    n_properties: usize,
    mut forward: impl FnMut(Box<Message>),
) -> io::Result<bool> {
    let mut line = serde_json::to_vec(task)?;
    line.push(b'\n');
    stdin.write_all(&line)?;
    for line in BufReader::new(stdout).split(b'\n') {
        match serde_json::from_slice(&line?)? {
            Output::End => return Ok(true),
            // A process that reports on a property that does not exist is not a contender.
            Output::Message(message) if message.property().is_some_and(|index| index >= n_properties) => {
                return Ok(false);
            }
            Output::Message(message) => forward(message),
        }
    }
    Ok(false)
}
