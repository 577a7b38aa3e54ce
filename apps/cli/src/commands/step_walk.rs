//! A walk along labelled steps: through a protocol, or a transition system.

use std::io::{self, Write};
use std::time::Instant;

use masque_driver::{Explorer, Step, Steps, Verdict};
use masque_report::Text;

use super::walk::{Next, Refused, Walk, no_choice, refuse, steps_back, too_far_back, unknown_command};
use crate::args::WorkArgs;
use crate::{Context, Exit};

const HELP: &str = "\
  3             take step 3 of the list
  list          the steps that can be taken
  back, back 3  go back one step, or three
  state         what the state is made of
  path          the run so far
  ? FORMULA     is it true here, and why
  help, quit
";

/// A walk with all that its commands need.
pub(super) struct StepWalk<'a> {
    explorer: Box<dyn Explorer>,
    start: usize,
    taken: Vec<Step>,
    text: Text,
    context: &'a Context,
    work: &'a WorkArgs,
    exit: Exit,
}

impl<'a> StepWalk<'a> {
    /// A walk from the initial state; none if there is no such state.
    pub(super) fn new(
        mut explorer: Box<dyn Explorer>,
        context: &'a Context,
        work: &'a WorkArgs,
    ) -> Option<StepWalk<'a>> {
        let start = *explorer.initial().first()?;
        let (taken, text, exit) = (Vec::new(), context.text, Exit::AllHold);
        Some(StepWalk { explorer, start, taken, text, context, work, exit })
    }

    fn state(&self) -> usize {
        self.taken.last().map_or(self.start, |step| step.to)
    }

    fn show_state(&self, out: &mut dyn Write) -> io::Result<()> {
        self.text.state_parts(out, self.taken.len(), &self.explorer.values(self.state()))
    }

    fn choose(&mut self, line: &str, number: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let Steps { steps, .. } = self.explorer.steps(self.state());
        let position = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let step = position.and_then(|position| steps.get(position));
        let step = step.ok_or_else(|| no_choice(line, number, steps.len()))?;
        self.taken.push(step.clone());
        self.show_state(out)?;
        Ok(self.list(out)?)
    }

    fn ask(&mut self, formula: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let limits = self.work.limits(Instant::now(), &self.context.interrupt);
        let asked = self.explorer.ask(self.state(), formula, &limits);
        let asked = asked.map_err(|mistakes| Refused::Formula(Box::new(mistakes)))?;
        match asked.verdict {
            Verdict::Holds => writeln!(out, "true")?,
            Verdict::Fails => writeln!(out, "false")?,
            Verdict::Unknown(why) => {
                self.exit.raise(Exit::Inconclusive);
                writeln!(out, "unknown({})", why.word())?;
            }
        }
        Ok(asked.shown.map_or(Ok(()), |shown| self.text.run_shown(out, &shown))?)
    }
}

impl Walk for StepWalk<'_> {
    fn command(&mut self, line: &str, out: &mut dyn Write) -> Result<Next, Refused> {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with("--") {
            return Ok(Next::Go);
        }
        if let Some(formula) = trimmed.strip_prefix('?') {
            self.ask(formula.trim(), out)?;
            return Ok(Next::Go);
        }
        let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let rest = rest.trim();
        if !rest.is_empty() && word != "back" {
            return Err(refuse(line, rest, format!("`{word}` takes nothing more"), None));
        }
        match word {
            "help" => write!(out, "{HELP}")?,
            "quit" => return Ok(Next::Quit),
            "list" => self.list(out)?,
            "state" => self.show_state(out)?,
            "path" => self.path(out)?,
            "back" => {
                let n_steps = steps_back(line, rest)?;
                let left = self.taken.len().checked_sub(n_steps);
                let left = left.ok_or_else(|| too_far_back(line, self.taken.len() + 1))?;
                self.taken.truncate(left);
                self.show_state(out)?;
                self.list(out)?;
            }
            number if number.starts_with(|c: char| c.is_ascii_digit()) => self.choose(line, number, out)?,
            _ => {
                let words = ["list", "back", "state", "path", "help", "quit"];
                return Err(unknown_command(line, word, &words));
            }
        }
        Ok(Next::Go)
    }

    fn list(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Steps { steps, cut } = self.explorer.steps(self.state());
        self.text.steps(out, &steps)?;
        if steps.is_empty() {
            writeln!(out, "no step is possible here")?;
            self.explorer.end(self.state()).iter().try_for_each(|reason| writeln!(out, "  {reason}"))?;
        }
        match cut {
            Some(bound) => writeln!(out, "      the bound `{bound}` leaves other steps out"),
            None => Ok(()),
        }
    }

    fn path(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.text.steps(out, &self.taken)?;
        self.show_state(out)
    }

    fn random_step(&mut self, roll: &mut dyn FnMut(usize) -> usize) -> bool {
        let steps = self.explorer.steps(self.state()).steps;
        if steps.is_empty() {
            return false;
        }
        self.taken.push(steps[roll(steps.len())].clone());
        true
    }

    fn exit(&self) -> Exit {
        self.exit
    }
}
