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
    /// The initial states to choose from.
    initial: Vec<usize>,
    /// The steps taken; if there are several initial states, the first chooses one.
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
        let initial = explorer.initial();
        let (taken, text, exit) = (Vec::new(), context.text, Exit::AllHold);
        (!initial.is_empty()).then_some(StepWalk { explorer, initial, taken, text, context, work, exit })
    }

    /// The current state; none before one of several initial states is chosen.
    fn state(&self) -> Option<usize> {
        match (self.taken.last(), &self.initial[..]) {
            (Some(step), _) => Some(step.to),
            (None, [only]) => Some(*only),
            (None, _) => None,
        }
    }

    /// What can be chosen.
    fn steps(&mut self) -> Steps {
        if let Some(state) = self.state() {
            return self.explorer.steps(state);
        }
        let step = |&to: &usize| Step { label: self.describe(to), event: None, to };
        Steps { steps: self.initial.iter().map(step).collect(), cut: None }
    }

    /// A state in one line: what is not false there.
    fn describe(&self, state: usize) -> String {
        let values = self.explorer.values(state).into_iter().filter(|(_, value)| value != "false");
        let parts: Vec<String> = values.map(|(name, value)| format!("{name} = {value}")).collect();
        parts.join(", ")
    }

    /// Steps whose labels alone do not say which is which, with the states that they lead to.
    fn told_apart(&self, mut steps: Vec<Step>) -> Vec<Step> {
        let labels: Vec<String> = steps.iter().map(|step| step.label.clone()).collect();
        for step in steps.iter_mut().filter(|step| step.event.is_none()) {
            if labels.iter().filter(|label| **label == step.label).count() > 1 {
                step.label = format!("{}: {}", step.label, self.describe(step.to));
            }
        }
        steps
    }

    fn show_state(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.state() {
            Some(state) => self.text.state_parts(out, self.taken.len(), &self.explorer.values(state)),
            None => writeln!(out, "no initial state is chosen yet"),
        }
    }

    fn choose(&mut self, line: &str, number: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let Steps { steps, .. } = self.steps();
        let position = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let step = position.and_then(|position| steps.get(position));
        let step = step.ok_or_else(|| no_choice(line, number, steps.len()))?;
        self.taken.push(step.clone());
        self.show_state(out)?;
        Ok(self.list(out)?)
    }

    fn ask(&mut self, formula: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let limits = self.work.limits(Instant::now(), &self.context.interrupt);
        let Some(state) = self.state() else { return Ok(writeln!(out, "choose an initial state first")?) };
        let asked = self.explorer.ask(state, formula, &limits);
        let asked = asked.map_err(Refused::Formula)?;
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
        let Steps { steps, cut } = self.steps();
        let steps = self.told_apart(steps);
        self.text.steps(out, &steps)?;
        if let (true, Some(state)) = (steps.is_empty(), self.state()) {
            writeln!(out, "no step is possible here")?;
            self.explorer.end(state).iter().try_for_each(|reason| writeln!(out, "  {reason}"))?;
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
        let steps = self.steps().steps;
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
