//! The states and choices of a simulation, as text.

use std::io::{self, Write};

use masque_driver::{
    AgentId, Choices, Count, JointAction, MAX_LISTED_SUCCESSORS, Model, Path, Shown, Simulation, State, Step,
    System, Truth,
};

use crate::chart_layout::event_text;
use crate::lines::{Lines, PLAIN, STATE};
use crate::path::{PathWriter, action_text, assignment, changed, doing, values, write_list};
use crate::{Detail, PathReport, Text};

impl Text {
    /// Writes a state after a heading: all variables, or only those that differ from the state `before`.
    pub fn state(
        self,
        out: &mut dyn Write,
        system: &System,
        head: &str,
        state: &State,
        before: Option<&State>,
    ) -> io::Result<()> {
        let all = values(system, state).0;
        let items = match before {
            None => all.iter().map(assignment).collect(),
            Some(before) => changed(&all, &values(system, before).0).map(assignment).collect(),
        };
        let mut lines = Lines { out, width: self.width, color: self.color };
        let head = format!("{head}  ");
        write_list(&mut lines, &head, [STATE, PLAIN], items, self.limits().variables, "nothing changes")
    }

    /// Writes the initial states to choose from.
    pub fn initial_choices(self, out: &mut dyn Write, simulation: &Simulation) -> io::Result<()> {
        let Simulation { system, initial, n_initial, .. } = simulation;
        if initial.is_empty() {
            return writeln!(out, "there is no initial state to choose");
        }
        writeln!(out, "initial states:")?;
        let first = &initial[0];
        for (position, state) in initial.iter().enumerate() {
            let before = (position > 0).then_some(first);
            self.state(out, system, &format!("{:4}", position + 1), state, before)?;
        }
        if initial.len() > 1 {
            writeln!(out, "      (all but the first: only the differences from the first)")?;
        }
        match n_initial.as_deref() {
            None => Ok(()),
            Some(more @ ("more" | "perhaps more")) => writeln!(out, "      and {more}"),
            Some(count) => writeln!(out, "      the first {} of {count}", initial.len()),
        }
    }

    /// Writes the joint actions to choose from.
    pub fn choices(self, out: &mut dyn Write, system: &System, choices: &Choices) -> io::Result<()> {
        if choices.listed.is_empty() {
            return writeln!(out, "no joint action is possible here");
        }
        for (position, (joint, successors)) in choices.listed.iter().enumerate() {
            let mut items = self.joint_items(system, joint, &choices.choosing);
            let note = match successors.count() {
                one if one.is_one() => String::new(),
                none if none.is_zero() => "  (leads nowhere: a value would leave its range)".to_string(),
                count => format!("  (leads to {count} states: choose {0}.1, {0}.2, ..)", position + 1),
            };
            if let Some(last) = items.last_mut() {
                last.push_str(&note);
            }
            let pieces: Vec<_> = items.into_iter().map(|item| (PLAIN, item)).collect();
            let mut lines = Lines { out: &mut *out, width: self.width, color: self.color };
            lines.flow(&[(PLAIN, format!("{:4}  ", position + 1))], "      ", &pieces, ", ")?;
        }
        if choices.count == choices.listed.len().into() {
            return Ok(());
        }
        let (n_listed, count) = (choices.listed.len(), &choices.count);
        writeln!(out, "      the first {n_listed} of {count} joint actions; `with AGENT=ACTION` lists others")
    }

    /// Writes the successors of a joint action that has several.
    pub fn successors(
        self,
        out: &mut dyn Write,
        system: &System,
        (state, number): (&State, usize),
        states: &[State],
        count: &Count,
    ) -> io::Result<()> {
        writeln!(out, "it leads to {count} states:")?;
        for (position, next) in states.iter().take(MAX_LISTED_SUCCESSORS).enumerate() {
            self.state(out, system, &format!("{number:4}.{:<2}", position + 1), next, Some(state))?;
        }
        Ok(())
    }

    /// The actions of the agents that have a choice; of all agents if none has, or with `-v`.
    pub fn joint(self, system: &System, joint: &JointAction, choosing: &[AgentId]) -> String {
        self.joint_items(system, joint, choosing).join(", ")
    }

    /// The actions of a joint action that are shown, at least one text.
    fn joint_items(self, system: &System, joint: &JointAction, choosing: &[AgentId]) -> Vec<String> {
        let all = choosing.is_empty() || self.detail == Detail::Verbose;
        let is_shown = |name: &str| all || choosing.iter().any(|&agent| system.agent(agent).name == name);
        let items: Vec<String> =
            doing(system, joint).0.iter().filter(|(name, _)| is_shown(name)).map(action_text).collect();
        if items.is_empty() { vec!["(the only joint action)".to_string()] } else { items }
    }

    /// Writes the path so far.
    pub fn run_so_far(self, out: &mut dyn Write, system: &System, path: &Path) -> io::Result<()> {
        let lines = Lines { out, width: self.width, color: self.color };
        PathReport::new(system, path, None).write_marked(lines, self.limits().variables, "#")
    }

    /// Writes the last step of a path that is written while it is taken: the joint action and the variables it
    /// changes, or all variables of the first state. `position` is the index of the state in the whole path, of
    /// which `path` may be the end, and `n_digits` the number of digits of the last index.
    pub fn last_step(
        self,
        out: &mut dyn Write,
        system: &System,
        path: &Path,
        (position, n_digits): (usize, usize),
    ) -> io::Result<()> {
        let lines = Lines { out, width: self.width, color: self.color };
        let mut writer = PathWriter { lines, n_digits, limit: self.limits().variables, mark: "#" };
        if let Some(joint) = path.actions.last() {
            writer.actions(&doing(system, joint))?;
        }
        let [.., state] = &path.states[..] else { return Ok(()) };
        let before = path.states.len().checked_sub(2).map(|index| values(system, &path.states[index]));
        writer.state(position, &values(system, state), before.as_ref())
    }

    /// Writes the parts of a state of a protocol or of a transition system, after `n_steps` steps.
    pub fn state_parts(
        self,
        out: &mut dyn Write,
        n_steps: usize,
        parts: &[(String, String)],
    ) -> io::Result<()> {
        let width = parts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (position, (name, value)) in parts.iter().enumerate() {
            let head = if position == 0 { format!("#{n_steps}") } else { String::new() };
            let mut lines = Lines { out: &mut *out, width: self.width, color: self.color };
            lines.line(&[(STATE, format!("{head:<5}")), (PLAIN, format!("{name:width$}  {value}"))])?;
        }
        Ok(())
    }

    /// Writes labelled steps, numbered from 1.
    pub fn steps(self, out: &mut dyn Write, steps: &[Step]) -> io::Result<()> {
        steps.iter().enumerate().try_for_each(|(index, step)| self.step(out, index + 1, step))
    }

    /// Writes a labelled step with its number.
    pub fn step(self, out: &mut dyn Write, number: usize, step: &Step) -> io::Result<()> {
        let text = step.event.as_ref().map_or_else(|| step.label.clone(), event_text);
        writeln!(out, "{number:4}  {text}")
    }

    /// Returns evidence as text.
    pub fn evidence_text(self, model: &Model, shown: &Shown) -> String {
        let mut out = Vec::new();
        // Writing to a vector cannot fail.
        _ = self.shown(&mut out, model, shown);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Writes the truth of a formula at a state, with its evidence.
    pub fn answer(self, out: &mut dyn Write, system: &System, truth: &Truth) -> io::Result<()> {
        writeln!(out, "{}", if truth.holds { "true" } else { "false" })?;
        if let Some(why) = &truth.withheld {
            writeln!(out, "  evidence withheld: {why}; this is a bug, please report it")?;
        }
        let Some(mut evidence) = truth.evidence.clone() else { return Ok(()) };
        // The user knows the path so far; only the state at which the formula is evaluated is shown.
        let n_known = evidence.start.states.len().saturating_sub(1);
        evidence.start.states.drain(..n_known);
        evidence.start.actions.clear();
        self.claims(out, system, &evidence)
    }
}

/// Returns a joint action as text: the action of each agent.
pub fn joint_text(system: &System, joint: &JointAction) -> String {
    Text { detail: Detail::Verbose, ..Text::default() }.joint(system, joint, &[])
}

/// Returns the names of the variables and their values at a state.
pub fn state_values(system: &System, state: &State) -> Vec<(String, String)> {
    values(system, state).0
}
