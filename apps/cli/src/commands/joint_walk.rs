//! A walk along joint actions, through an interpreted system.

use std::io::{self, Write};

use masque_driver::{
    self as driver, ActionId, AgentId, Diagnostic, EngineOptions, Loaded, MAX_LISTED_SUCCESSORS, Request,
    Simulation, State,
};
use masque_report::Text;

use super::follow::{Followed, follow_system};
use super::walk::{Refused, Walk, no_choice, refuse, too_far_back};
use crate::args::WorkArgs;
use crate::{Context, Exit};

/// Maximum number of indistinguishable states shown.
const MAX_SHOWN_ALIKE: usize = 12;
/// Maximum index of a successor that can be chosen by number.
const MAX_SUCCESSOR_INDEX: usize = 1 << 20;

const HELP: &str = "  3             choose number 3 of the list
  3.2           choose number 3, and the second of its successors
  list          list the choices
  with A=x B=y  list joint actions in which A does x and B does y; `with` alone lists all again
  back, back 3  go back one step, or three
  state         show all variables of the current state
  path          show the path so far
  ? FORMULA     is the formula true at the current state, and why?
  ~ AGENT ..    list the states that the agents together cannot distinguish from this one
  help          show this list
  quit, exit    end; so does Ctrl-D
";

/// A simulation with everything its commands need.
pub(super) struct JointWalk<'a> {
    pub(super) simulation: Simulation,
    pub(super) loaded: &'a Loaded,
    pub(super) text: Text,
    pub(super) context: &'a Context,
    pub(super) work: &'a WorkArgs,
    pub(super) options: EngineOptions,
    pub(super) request: Request,
    /// The exit code so far: inconclusive if a question hit a limit.
    pub(super) exit: Exit,
    /// Number of states that a random walk has visited.
    pub(super) n_random: usize,
}

impl Walk for JointWalk<'_> {
    fn help(&self) -> &'static str {
        HELP
    }

    fn words(&self) -> &'static [&'static str] {
        &["list", "with", "back", "state", "path", "help", "quit", "exit"]
    }

    fn list(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.simulation.choices() {
            None => self.text.initial_choices(out, &self.simulation),
            Some(choices) => self.text.choices(out, &self.simulation.system, &choices),
        }
    }

    fn follow(&mut self, run: &driver::trace::TraceRun) -> Followed {
        follow_system(&mut self.simulation, run)
    }

    fn has_state(&self) -> bool {
        self.simulation.state().is_some()
    }

    fn state(&mut self, out: &mut dyn Write) -> io::Result<()> {
        match self.simulation.state() {
            Some(state) => self.text.state(out, &self.simulation.system, &self.head(), state, None),
            None => self.list(out),
        }
    }

    fn path(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.text.run_so_far(out, &self.simulation.system, self.simulation.path())
    }

    fn random_step(
        &mut self,
        roll: &mut dyn FnMut(usize) -> usize,
        n_digits: usize,
        out: &mut dyn Write,
    ) -> io::Result<bool> {
        if !self.simulation.random_step(roll) {
            return Ok(false);
        }
        let (system, path) = (&self.simulation.system, self.simulation.path());
        self.text.last_step(out, system, path, (self.n_random, n_digits))?;
        self.n_random += 1;
        self.simulation.forget_past();
        Ok(true)
    }

    fn exit(&self) -> Exit {
        self.exit
    }

    /// `~ AGENT ..` and `with A=x B=y`
    fn own_command(&mut self, line: &str, out: &mut dyn Write) -> Result<bool, Refused> {
        let trimmed = line.trim();
        if let Some(names) = trimmed.strip_prefix('~') {
            self.alike(line, names, out)?;
        } else if trimmed.split_whitespace().next() == Some("with") {
            self.with(line, &trimmed["with".len()..], out)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn back(&mut self, line: &str, n_steps: usize, out: &mut dyn Write) -> Result<(), Refused> {
        let n_states = self.simulation.path().states.len();
        let is_too_far = n_steps >= n_states && self.has_one_initial_state();
        if is_too_far || !self.simulation.back(n_steps) {
            return Err(too_far_back(line, n_states));
        }
        if self.simulation.state().is_some() {
            self.state(out)?;
        }
        Ok(self.list(out)?)
    }

    fn ask(&mut self, line: &str, formula: &str, out: &mut dyn Write) -> Result<(), Refused> {
        if self.simulation.state().is_none() {
            let hint = "choose an initial state first".to_string();
            return Err(refuse(line, line.trim(), "there is no state to ask about".to_string(), Some(hint)));
        }
        let request = Request { properties: vec![formula.to_string()], ..self.request.clone() };
        let limits = self.work.limits(&self.context.interrupt);
        let asked = self.loaded.again_within(&request, &limits);
        if let Some(why) = asked.stopped {
            return Ok(self.unknown(why, out)?);
        }
        let limits = limits.after_loading(&asked);
        let Some(system) = asked.system().cloned() else {
            let Loaded { sources, diagnostics, .. } = asked;
            return Err(Box::new(driver::Refused { sources, diagnostics }).into());
        };
        match driver::truth_at(&system, self.simulation.path(), &self.options, &limits) {
            Ok(truth) => Ok(self.text.answer(out, &system, &truth)?),
            Err(why) => Ok(self.unknown(why, out)?),
        }
    }

    /// `N` or `N.M`
    fn choose(&mut self, line: &str, number: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let (first, second) = number.split_once('.').map_or((number, None), |(a, b)| (a, Some(b)));
        let index = |text: &str| text.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let none = |n: usize| no_choice(line, number, n);
        let Some(choices) = self.simulation.choices() else {
            let n_initial = self.simulation.initial.len();
            return match index(first) {
                Some(chosen) if second.is_none() && self.simulation.begin(chosen) => self.arrive(out),
                _ => Err(none(n_initial)),
            };
        };
        let n_listed = choices.listed.len();
        let chosen = index(first).and_then(|i| choices.listed.get(i)).ok_or_else(|| none(n_listed))?;
        let (joint, successors) = chosen;
        let count = successors.count();
        // Successors beyond the listed ones can also be chosen by number.
        let next: Option<State> = match (&count, second) {
            (none, _) if none.is_zero() => {
                let message = "this joint action has no successor: a value would leave its range".to_string();
                return Err(refuse(line, number, message, None));
            }
            (one, None) if one.is_one() => successors.iter().next(),
            (_, Some(second)) => {
                index(second).and_then(|i| successors.iter().nth(i.min(MAX_SUCCESSOR_INDEX)))
            }
            (_, None) => {
                let states: Vec<State> = successors.iter().take(MAX_LISTED_SUCCESSORS).collect();
                let position = index(first).unwrap_or_default() + 1;
                if let Some(state) = self.simulation.state() {
                    let system = &self.simulation.system;
                    self.text.successors(out, system, (state, position), &states, &count)?;
                }
                return Ok(());
            }
        };
        let hint = format!("it has {count} successors: {first}.1, {first}.2, ..");
        let next =
            next.ok_or_else(|| refuse(line, number, format!("there is no choice `{number}`"), Some(hint)))?;
        let joint = joint.clone();
        self.simulation.step(joint, next);
        self.arrive(out)
    }
}

impl JointWalk<'_> {
    /// Whether there is only one state in which the walk can begin.
    pub(super) fn has_one_initial_state(&self) -> bool {
        self.simulation.initial.len() == 1 && self.simulation.n_initial.is_none()
    }

    /// The name of the current state: its index in the path.
    fn head(&self) -> String {
        format!("#{}", self.simulation.path().actions.len())
    }

    /// Writes how the current state differs from the one before, and what can be chosen there.
    fn arrive(&mut self, out: &mut dyn Write) -> Result<(), Refused> {
        let states = &self.simulation.path().states;
        if let Some(state) = states.last() {
            let before = states.len().checked_sub(2).map(|index| &states[index]);
            self.text.state(out, &self.simulation.system, &self.head(), state, before)?;
        }
        Ok(self.list(out)?)
    }

    /// `with A=x B=y`
    fn with(&mut self, line: &str, rest: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let system = self.simulation.system.clone();
        let mut fixed: Vec<(AgentId, ActionId)> = Vec::new();
        for part in rest.split([' ', ',']).filter(|part| !part.is_empty()) {
            let Some((name, action)) = part.split_once('=') else {
                let hint = "write `with AGENT=ACTION`".to_string();
                return Err(refuse(line, part, format!("`{part}` names no action"), Some(hint)));
            };
            let agent = driver::find_agent(&system, name).map_err(|d| refuse_name(line, part, *d))?;
            let actions = &system.agent(agent).actions;
            let Some(index) = actions.iter().position(|a| a.name == action) else {
                let names = actions.iter().map(|a| a.name.as_str());
                let hint = format!("its actions are {}", names.collect::<Vec<_>>().join(", "));
                let message = format!("`{name}` has no action `{action}`");
                return Err(refuse(line, part, message, Some(hint)));
            };
            fixed.push((agent, ActionId(index as u32)));
        }
        self.simulation.fix(fixed);
        Ok(self.list(out)?)
    }

    /// `~ AGENT ..`
    fn alike(&mut self, line: &str, names: &str, out: &mut dyn Write) -> Result<(), Refused> {
        let system = self.simulation.system.clone();
        let mut agents = Vec::new();
        for name in names.split([' ', ',']).filter(|name| !name.is_empty()) {
            agents.push(driver::find_agent(&system, name).map_err(|d| refuse_name(line, name, *d))?);
        }
        let state = match self.simulation.state() {
            Some(state) if !agents.is_empty() => state.clone(),
            Some(_) => {
                let hint = "write `~ AGENT`".to_string();
                return Err(refuse(line, line.trim(), "no agent is named".to_string(), Some(hint)));
            }
            None => {
                let hint = "choose an initial state first".to_string();
                let message = "no initial state is chosen yet".to_string();
                return Err(refuse(line, line.trim(), message, Some(hint)));
            }
        };
        let limits = self.work.limits(&self.context.interrupt).after_loading(self.loaded);
        match driver::alike(&system, &agents, &state, MAX_SHOWN_ALIKE + 1, &self.options, &limits) {
            Err(why) => self.unknown(why, out)?,
            Ok((states, count)) => {
                let others: Vec<&State> =
                    states.iter().filter(|s| **s != state).take(MAX_SHOWN_ALIKE).collect();
                match &count {
                    one if one.is_one() => writeln!(out, "no other state looks the same")?,
                    none if none.is_zero() => {
                        writeln!(out, "no fair path starts here, so this state is not considered")?
                    }
                    _ => writeln!(
                        out,
                        "{count} states look the same, this one included; the others differ in"
                    )?,
                }
                for other in &others {
                    self.text.state(out, &system, "    ", other, Some(&state))?;
                }
                if count != (others.len() + 1).into() && !count.is_zero() {
                    writeln!(out, "      and more")?;
                }
            }
        }
        Ok(())
    }

    fn unknown(&mut self, why: driver::Why, out: &mut dyn Write) -> io::Result<()> {
        match why {
            driver::Why::NoFairPath => writeln!(out, "no fair path starts here, so no formula has a value"),
            why => {
                self.exit.raise(Exit::Inconclusive);
                writeln!(out, "unknown({})", why.word())
            }
        }
    }
}

/// A diagnostic about a name as an error at this part of the command.
fn refuse_name(line: &str, part: &str, diagnostic: Diagnostic) -> Refused {
    refuse(line, part, diagnostic.message, diagnostic.help)
}
