//! A walk along labelled steps: through a protocol, a transition system, or the worlds of a BDI file.

use std::io::{self, Write};

use masque_driver::{Explorer, Step, StepPath, Steps, Verdict};
use masque_report::Text;

use super::follow::{Followed, follow_steps};
use super::walk::{Refused, Walk, no_choice, too_far_back};
use crate::args::WorkArgs;
use crate::{Context, Exit};

const HELP: &str = "  3             take step 3 of the list
  list          list the possible steps
  back, back 3  go back one step, or three
  state         show the current state
  path          show the path so far
  ? FORMULA     is the formula true at the current state, and why?
  help          show this list
  quit, exit    end; so does Ctrl-D
";

/// A walk with everything its commands need.
pub(super) struct StepWalk<'a> {
    path: StepPath,
    text: Text,
    context: &'a Context,
    work: &'a WorkArgs,
    exit: Exit,
}

impl<'a> StepWalk<'a> {
    /// A walk from an initial state; none if there is no such state.
    pub(super) fn new(
        explorer: Box<dyn Explorer>,
        context: &'a Context,
        work: &'a WorkArgs,
    ) -> Option<StepWalk<'a>> {
        let (path, text, exit) = (StepPath::new(explorer)?, context.text, Exit::AllHold);
        Some(StepWalk { path, text, context, work, exit })
    }
}

/// A state in one line, without the values that are false.
fn describe(values: Vec<(String, String)>) -> String {
    let values = values.into_iter().filter(|(_, value)| value != "false");
    let parts: Vec<String> = values.map(|(name, value)| format!("{name} = {value}")).collect();
    parts.join(", ")
}

/// Adds the target state to each label that several steps share, unless an event describes the step.
fn distinguish(path: &StepPath, steps: &mut [Step]) {
    let labels: Vec<String> = steps.iter().map(|step| step.label.clone()).collect();
    for step in steps.iter_mut().filter(|step| step.event.is_none()) {
        if labels.iter().filter(|label| **label == step.label).count() > 1 {
            step.label = format!("{}: {}", step.label, describe(path.values(step.to)));
        }
    }
}

impl Walk for StepWalk<'_> {
    fn help(&self) -> &'static str {
        HELP
    }

    fn words(&self) -> &'static [&'static str] {
        &["list", "back", "state", "path", "help", "quit", "exit"]
    }

    fn list(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let Steps { mut steps, cut } = self.path.steps(describe);
        distinguish(&self.path, &mut steps);
        self.text.steps(out, &steps)?;
        if let (true, Some(state)) = (steps.is_empty(), self.path.state()) {
            writeln!(out, "no step is possible here")?;
            self.path.explorer().end(state).iter().try_for_each(|reason| writeln!(out, "  {reason}"))?;
        }
        match cut {
            Some(bound) => writeln!(out, "      the bound `{bound}` leaves other steps out"),
            None => Ok(()),
        }
    }

    fn follow(&mut self, run: &masque_driver::trace::TraceRun) -> Followed {
        follow_steps(&mut self.path, run)
    }

    fn has_state(&self) -> bool {
        self.path.state().is_some()
    }

    fn state(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.path.state() {
            Some(state) => self.text.state_parts(out, self.path.n_taken(), &self.path.values(state)),
            None => writeln!(out, "no initial state is chosen yet"),
        }
    }

    fn path(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.text.steps(out, self.path.taken())?;
        self.state(out)
    }

    fn choose(&mut self, line: &str, number: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let Steps { steps, .. } = self.path.steps(describe);
        let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let step = index.and_then(|index| steps.get(index));
        let step = step.ok_or_else(|| no_choice(line, number, steps.len()))?;
        self.path.take(step.clone());
        self.state(out)?;
        Ok(self.list(out)?)
    }

    fn back(&mut self, line: &str, n_steps: usize, out: &mut dyn Write) -> Result<(), Refused> {
        if !self.path.back(n_steps) {
            return Err(too_far_back(line, self.path.taken().len() + 1));
        }
        self.state(out)?;
        Ok(self.list(out)?)
    }

    fn ask(&mut self, _: &str, formula: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let limits = self.work.limits(&self.context.interrupt);
        let Some(state) = self.path.state() else {
            return Ok(writeln!(out, "choose an initial state first")?);
        };
        let asked = self.path.explorer().ask(state, formula, &limits)?;
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

    fn random_step(
        &mut self,
        roll: &mut dyn FnMut(usize) -> usize,
        _: usize,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        let mut steps = self.path.steps(describe).steps;
        if steps.is_empty() {
            return Ok(false);
        }
        let step = steps.swap_remove(roll(steps.len()));
        self.text.step(out, self.path.n_taken() + 1, &step)?;
        self.path.take(step);
        self.path.forget_past();
        Ok(true)
    }

    fn end_path(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.state(out)
    }

    fn exit(&self) -> Exit {
        self.exit
    }
}
