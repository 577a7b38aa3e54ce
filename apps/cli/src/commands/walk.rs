//! The commands that walks through models of all languages share, and the messages about wrong commands.

use std::io::{self, Write};

use masque_text::did_you_mean;

use crate::Exit;

/// Whether to read the next command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Continue,
    Quit,
}

/// A walk through a model, step by step.
pub(super) trait Walk {
    /// The help text.
    fn help(&self) -> &'static str;

    /// The words that commands begin with.
    fn words(&self) -> &'static [&'static str];

    /// Writes what can be chosen.
    fn list(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the state in which the walk begins, if there is only one, and what can be chosen.
    fn start(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.has_state() {
            self.state(out)?;
        }
        self.list(out)
    }

    /// Takes the steps of a run of a trace file, as far as they are possible.
    fn follow(&mut self, run: &masque_driver::trace::TraceRun) -> super::follow::Followed;

    /// Whether the walk has begun: an initial state is chosen, or there is only one.
    fn has_state(&self) -> bool;

    /// Writes the current state.
    fn state(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the path taken so far.
    fn path(&mut self, out: &mut dyn Write) -> io::Result<()>;

    /// Takes the choice with this number.
    fn choose(&mut self, line: &str, number: &str, out: &mut dyn Write) -> Result<(), Refused>;

    /// Goes back this many steps.
    fn back(&mut self, line: &str, n_steps: usize, out: &mut dyn Write) -> Result<(), Refused>;

    /// Decides a formula at the current state.
    fn ask(&mut self, line: &str, formula: &str, out: &mut dyn Write) -> Result<(), Refused>;

    /// Runs a command that only this kind of walk has. Returns false if the line is no such command.
    fn own_command(&mut self, _: &str, _: &mut dyn Write) -> Result<bool, Refused> {
        Ok(false)
    }

    /// Takes a random step, or chooses a random initial state, and writes it. `roll(n)` returns a number below n.
    /// `n_digits` is the number of digits of the last index. Returns false where no step is possible.
    fn random_step(
        &mut self,
        roll: &mut dyn FnMut(usize) -> usize,
        n_digits: usize,
        out: &mut dyn Write,
    ) -> io::Result<bool>;

    /// Writes the end of a path that was written step by step.
    fn end_path(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// The exit code so far: inconclusive if a question hit a limit.
    fn exit(&self) -> Exit;

    /// Runs the command in a line.
    fn command(&mut self, line: &str, out: &mut dyn Write) -> Result<Next, Refused> {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with("--") || self.own_command(line, out)? {
            return Ok(Next::Continue);
        }
        if let Some(formula) = trimmed.strip_prefix('?') {
            let formula = formula.trim();
            return match self.ask(line, formula, out) {
                Ok(()) => Ok(Next::Continue),
                Err(Refused::Formula { mistakes, .. }) => {
                    Err(Refused::Formula { from: offset(line, formula), mistakes })
                }
                Err(refused) => Err(refused),
            };
        }
        let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let rest = rest.trim();
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        if !rest.is_empty() && word != "back" && (is_number || self.words().contains(&word)) {
            return Err(refuse(line, rest, format!("`{word}` takes nothing more"), None));
        }
        match word {
            "help" => write!(out, "{}", self.help())?,
            "quit" | "exit" => return Ok(Next::Quit),
            "list" => self.list(out)?,
            "state" => self.state(out)?,
            "path" => self.path(out)?,
            "back" => self.back(line, steps_back(line, rest)?, out)?,
            number if is_number => self.choose(line, number, out)?,
            _ => return Err(unknown_command(line, word, self.words())),
        }
        Ok(Next::Continue)
    }
}

/// Why a command could not be run.
pub(super) enum Refused {
    /// A part of the line is wrong: its range in bytes, and the message with a hint.
    Command { from: usize, to: usize, message: String, hint: Option<String> },
    /// A formula has errors. It begins at this byte of the line.
    Formula { from: usize, mistakes: Box<masque_driver::Refused> },
    /// The output cannot be written.
    Io(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Io(error)
    }
}

impl From<Box<masque_driver::Refused>> for Refused {
    fn from(mistakes: Box<masque_driver::Refused>) -> Refused {
        Refused::Formula { from: 0, mistakes }
    }
}

/// The offset of a part of a line, in bytes. The part is a slice of the line, so it is the distance of their
/// starts.
fn offset(line: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(line.as_ptr() as usize).min(line.len())
}

/// Refuses a part of a line.
pub(super) fn refuse(line: &str, part: &str, message: String, hint: Option<String>) -> Refused {
    let from = offset(line, part);
    Refused::Command { from, to: (from + part.len()).min(line.len()), message, hint }
}

/// Refuses a word that is not a command.
fn unknown_command(line: &str, word: &str, words: &[&str]) -> Refused {
    let guess = did_you_mean(word, words);
    let hint = guess.unwrap_or_else(|| "`help` lists the commands".to_string());
    refuse(line, word, format!("there is no command `{word}`"), Some(hint))
}

/// Refuses a number that is not among `n` choices.
pub(super) fn no_choice(line: &str, number: &str, n: usize) -> Refused {
    let hint = match n {
        0 => "there are no choices here; `back` goes back".to_string(),
        1 => "the only choice is 1".to_string(),
        n => format!("the choices are 1 to {n}; `list` shows them"),
    };
    refuse(line, number, format!("there is no choice `{number}`"), Some(hint))
}

/// The number of steps in `back` or `back 3`.
fn steps_back(line: &str, rest: &str) -> Result<usize, Refused> {
    match rest {
        "" => Ok(1),
        number => {
            number.parse().map_err(|_| refuse(line, rest, format!("`{rest}` is not a number of steps"), None))
        }
    }
}

/// Refuses to go back beyond the beginning of a path with this many states.
pub(super) fn too_far_back(line: &str, n_states: usize) -> Refused {
    let hint = format!("the path so far has {}", masque_text::counted(n_states, "state", "states"));
    refuse(line, line.trim(), "that is too far back".to_string(), Some(hint))
}
