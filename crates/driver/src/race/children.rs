//! The processes of a race. None outlives it.

use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;
use std::thread::{Builder, JoinHandle, sleep};
use std::time::{Duration, Instant};

use super::{News, Task};
use crate::decide::Event;

/// The program that lanes are processes of, and its arguments.
pub(super) struct Program {
    pub(super) path: PathBuf,
    pub(super) args: Vec<String>,
}

/// What is heard from a lane.
pub(super) enum Heard {
    Event(Box<Event>),
    /// There will be no more; whether all has been told.
    End(bool),
}

/// How a lane ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// All has been told.
    Whole,
    /// It ended by itself before that: our own bug.
    Bug,
    /// The system ended it.
    Killed,
}

/// How long a process may take to end that has closed its output.
const PATIENCE: Duration = Duration::from_secs(1);

/// Running processes, each with a thread that listens to it.
pub(super) struct Children {
    children: Vec<Child>,
    listeners: Vec<JoinHandle<()>>,
}

impl Children {
    /// Starts a process for each task, and tells what is heard from it together with its number.
    pub(super) fn start(
        program: &Program,
        tasks: Vec<Task>,
        n_properties: usize,
        sender: &Sender<(usize, Heard)>,
    ) -> io::Result<Children> {
        // Whatever is started is stopped when this is dropped, also half-way.
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
                // A listener that has gone away has seen enough.
                let hear = |event| _ = sender.send((number, Heard::Event(event)));
                let is_whole = attend(stdin, stdout, &task, n_properties, hear).unwrap_or(false);
                _ = sender.send((number, Heard::End(is_whole)));
            };
            all.listeners.push(Builder::new().name(format!("lane {number}")).spawn(listen)?);
        }
        Ok(all)
    }

    /// How a process ended that has closed its output without telling all.
    pub(super) fn ending(&mut self, number: usize) -> Ending {
        let child = &mut self.children[number];
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match child.try_wait() {
                Ok(Some(status)) if status.code().is_some() => return Ending::Bug,
                Ok(None) => sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return Ending::Killed,
            }
        }
        Ending::Killed
    }

    /// Ends what still runs, and waits for it.
    pub(super) fn stop(&mut self) {
        for child in &mut self.children {
            // What has ended already cannot be ended again.
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

/// Gives a process its task and listens to the end; answers whether all has been told.
///
/// Its input stays open so long: when it closes, the process knows that nobody listens any more.
fn attend(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    task: &Task,
    n_properties: usize,
    mut hear: impl FnMut(Box<Event>),
) -> io::Result<bool> {
    let mut line = serde_json::to_vec(task)?;
    line.push(b'\n');
    stdin.write_all(&line)?;
    for line in BufReader::new(stdout).split(b'\n') {
        match serde_json::from_slice(&line?)? {
            News::End => return Ok(true),
            // A lane that speaks of a property that does not exist is not one of ours.
            News::Event(event) if event.property().is_some_and(|property| property >= n_properties) => {
                return Ok(false);
            }
            News::Event(event) => hear(event),
        }
    }
    Ok(false)
}
