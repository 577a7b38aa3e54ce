//! What walks through models of all languages share: commands, and what is wrong with one.

use std::io::{self, Write};

use masque_text::did_you_mean;

use crate::Exit;

/// Whether to read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Go,
    Quit,
}

/// A walk through a model, step by step.
pub(super) trait Walk {
    /// Does what a line says.
    fn command(&mut self, line: &str, out: &mut dyn Write) -> Result<Next, Refused>;

    /// Writes what can be chosen.
    fn list(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the run so far.
    fn path(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Takes a step at random, or begins; `roll(n)` is a number below n. False where no step is possible.
    fn random_step(&mut self, roll: &mut dyn FnMut(usize) -> usize) -> bool;

    /// Whether a question was not answered.
    fn exit(&self) -> Exit;
}

/// A command that could not be done: where in the line, how long, and what to say.
pub(super) enum Refused {
    /// A part of the command line, in bytes, and the message with a hint.
    Command { from: usize, to: usize, message: String, hint: Option<String> },
    /// A formula with mistakes; they are drawn in its own text.
    Formula(Box<masque_driver::Refused>),
    /// The output cannot be written.
    Io(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Io(error)
    }
}

/// Refuses a part of a line.
pub(super) fn refuse(line: &str, part: &str, message: String, hint: Option<String>) -> Refused {
    // A part is a slice of the line, so the distance of their beginnings is its place.
    let from = (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len());
    Refused::Command { from, to: (from + part.len()).min(line.len()), message, hint }
}

/// Refuses a word that is not a command.
pub(super) fn unknown_command(line: &str, word: &str, words: &[&str]) -> Refused {
    let guess = did_you_mean(word, words);
    let hint = guess.unwrap_or_else(|| "`help` lists the commands".to_string());
    refuse(line, word, format!("there is no command `{word}`"), Some(hint))
}

/// Refuses a number that is not among `n` choices.
pub(super) fn no_choice(line: &str, number: &str, n: usize) -> Refused {
    let hint = match n {
        0 => "nothing can be chosen here; `back` goes back".to_string(),
        1 => "there is one choice, 1".to_string(),
        n => format!("the choices are 1 to {n}; `list` shows them"),
    };
    refuse(line, number, format!("there is no choice `{number}`"), Some(hint))
}

/// The number of steps in `back` or `back 3`.
pub(super) fn steps_back(line: &str, rest: &str) -> Result<usize, Refused> {
    match rest {
        "" => Ok(1),
        number => {
            number.parse().map_err(|_| refuse(line, rest, format!("`{rest}` is not a number of steps"), None))
        }
    }
}

/// Refuses to go back beyond the beginning of a run with this many states.
pub(super) fn too_far_back(line: &str, n_states: usize) -> Refused {
    let hint = format!("the run so far has {n_states} {}", if n_states == 1 { "state" } else { "states" });
    refuse(line, line.trim(), "that is too far back".to_string(), Some(hint))
}
