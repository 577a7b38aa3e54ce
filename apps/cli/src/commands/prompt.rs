//! The prompt of a dialogue: lines that are typed, with editing and a history where the terminal allows it.
//!
//! Lines are read on another thread, because reading cannot be interrupted: a signal that ends the process would
//! otherwise find the terminal in the mode of the editor.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use rustyline::{Config, Editor};

/// Text before each line.
const PROMPT: &str = "> ";
/// Time between two looks at the interrupt flag while a line is typed.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Reads lines from a terminal.
pub(super) struct Prompt {
    requests: SyncSender<()>,
    lines: Receiver<io::Result<String>>,
    /// Whether the editor writes the prompt.
    has_editor: bool,
    mode: TerminalMode,
}

impl Prompt {
    /// A prompt on standard input. Lines can be edited if standard output is a terminal too.
    ///
    /// # Errors
    ///
    /// If the system refuses a thread.
    pub(super) fn new() -> io::Result<Prompt> {
        let has_editor = io::stdin().is_terminal() && io::stdout().is_terminal() && !is_simple_terminal();
        let (requests, requested) = sync_channel(1);
        let (sender, lines) = sync_channel(0);
        let mode = TerminalMode::current();
        let read = move || {
            let read = if has_editor { edited_lines } else { plain_lines };
            read(&requested, &sender)
        };
        std::thread::Builder::new().name("prompt".to_string()).spawn(read)?;
        Ok(Prompt { requests, lines, has_editor, mode })
    }

    /// Reads the next line; none at the end of the input, after Ctrl-C, or when the process is asked to end.
    pub(super) fn line(&mut self, interrupt: &AtomicBool, out: &mut dyn Write) -> io::Result<Option<String>> {
        if !self.has_editor {
            write!(out, "{PROMPT}")?;
        }
        out.flush()?;
        if self.requests.send(()).is_err() {
            return Ok(None);
        }
        let line = loop {
            match self.lines.recv_timeout(POLL_INTERVAL) {
                Ok(line) => break Some(line),
                Err(RecvTimeoutError::Disconnected) => break None,
                Err(RecvTimeoutError::Timeout) if interrupt.load(Ordering::Relaxed) => {
                    self.mode.restore();
                    writeln!(out)?;
                    return Ok(None);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        };
        if line.is_none() && !self.has_editor {
            writeln!(out)?;
        }
        line.transpose()
    }
}

/// Whether the terminal has no cursor movements, or does not say what it is.
fn is_simple_terminal() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb") && cfg!(unix)
}

/// Reads lines with an editor, until the end of the input.
fn edited_lines(requests: &Receiver<()>, lines: &SyncSender<io::Result<String>>) {
    let config = Config::builder().auto_add_history(true).bracketed_paste(false).build();
    let history = MemHistory::with_config(&config);
    let Ok(mut editor) = Editor::<(), MemHistory>::with_history(config, history) else {
        return plain_lines(requests, lines);
    };
    while requests.recv().is_ok() {
        let line = match editor.readline(PROMPT) {
            Ok(line) => Ok(line),
            Err(ReadlineError::Eof | ReadlineError::Interrupted) => return,
            Err(ReadlineError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        };
        if lines.send(line).is_err() {
            return;
        }
    }
}

/// Reads lines as the terminal delivers them.
fn plain_lines(requests: &Receiver<()>, lines: &SyncSender<io::Result<String>>) {
    let mut typed = io::stdin().lines();
    while requests.recv().is_ok() {
        let Some(line) = typed.next() else { return };
        if lines.send(line).is_err() {
            return;
        }
    }
}

/// The mode of the terminal before the editor changes it.
#[cfg(unix)]
struct TerminalMode(Option<nix::sys::termios::Termios>);

#[cfg(unix)]
impl TerminalMode {
    fn current() -> TerminalMode {
        TerminalMode(nix::sys::termios::tcgetattr(io::stdin()).ok())
    }

    fn restore(&self) {
        use nix::sys::termios::{SetArg, tcsetattr};
        if let Some(mode) = &self.0 {
            _ = tcsetattr(io::stdin(), SetArg::TCSANOW, mode);
        }
    }
}

/// The mode of the terminal, which the system restores itself.
#[cfg(not(unix))]
struct TerminalMode;

#[cfg(not(unix))]
impl TerminalMode {
    fn current() -> TerminalMode {
        TerminalMode
    }

    fn restore(&self) {}
}
