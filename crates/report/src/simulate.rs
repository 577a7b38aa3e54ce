//! The states and choices of a simulation, as text.

use std::io::{self, Write};

use masque_driver::{
    AgentId, Choices, Count, JointAction, MOST_SUCCESSORS, Model, Path, Shown, Simulation, State, Step,
    System, Truth,
};

use crate::chart::told;
use crate::lines::Lines;
use crate::path::{action_text, assignment, changed, doing, values, write_list};
use crate::{Detail, PathReport, Text};

impl Text {
    /// A state under a heading; if one to compare with is given, what differs from it.
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
        write_list(&mut lines, &format!("{head}  "), items, self.limits().variables, "nothing changes")
    }

    /// The initial states to choose from.
    pub fn initial_choices(self, out: &mut dyn Write, simulation: &Simulation) -> io::Result<()> {
        let Simulation { system, initial, n_initial, .. } = simulation;
        if initial.is_empty() {
            return writeln!(out, "no initial state can be chosen");
        }
        writeln!(out, "initial states:")?;
        let first = &initial[0];
        for (position, state) in initial.iter().enumerate() {
            let before = (position > 0).then_some(first);
            self.state(out, system, &format!("{:4}", position + 1), state, before)?;
        }
        if initial.len() > 1 {
            writeln!(out, "      (of all but the first only what differs from it)")?;
        }
        match n_initial.as_deref() {
            None => Ok(()),
            Some(more @ ("more" | "perhaps more")) => writeln!(out, "      and {more}"),
            Some(count) => writeln!(out, "      the first {} of {count}", initial.len()),
        }
    }

    /// What may be done next.
    pub fn choices(self, out: &mut dyn Write, system: &System, choices: &Choices) -> io::Result<()> {
        if choices.listed.is_empty() {
            return writeln!(out, "nothing can be done here");
        }
        for (position, (joint, successors)) in choices.listed.iter().enumerate() {
            let mut text = self.joint(system, joint, &choices.choosing);
            match successors.count() {
                one if one.is_one() => {}
                none if none.is_zero() => text += "  (leads nowhere: a value would leave its range)",
                count => {
                    text += &format!("  (leads to {count} states: choose {0}.1, {0}.2, ..)", position + 1)
                }
            }
            writeln!(out, "{:4}  {text}", position + 1)?;
        }
        if choices.count == choices.listed.len().into() {
            return Ok(());
        }
        let (n_listed, count) = (choices.listed.len(), &choices.count);
        writeln!(out, "      the first {n_listed} of {count} joint actions; `with AGENT=ACTION` lists others")
    }

    /// Where one joint action leads, if it leaves a choice.
    pub fn successors(
        self,
        out: &mut dyn Write,
        system: &System,
        (state, number): (&State, usize),
        states: &[State],
        count: &Count,
    ) -> io::Result<()> {
        writeln!(out, "it leads to {count} states:")?;
        for (position, next) in states.iter().take(MOST_SUCCESSORS).enumerate() {
            self.state(out, system, &format!("{number:4}.{:<2}", position + 1), next, Some(state))?;
        }
        Ok(())
    }

    /// A joint action: what those do who have a choice; all if nobody has, or with `-v`.
    pub fn joint(self, system: &System, joint: &JointAction, choosing: &[AgentId]) -> String {
        let all = choosing.is_empty() || self.detail == Detail::Verbose;
        let is_shown = |name: &str| all || choosing.iter().any(|&agent| system.agent(agent).name == name);
        let items: Vec<String> =
            doing(system, joint).0.iter().filter(|(name, _)| is_shown(name)).map(action_text).collect();
        if items.is_empty() { "(the only thing to do)".to_string() } else { items.join(", ") }
    }

    /// The run so far.
    pub fn run_so_far(self, out: &mut dyn Write, system: &System, path: &Path) -> io::Result<()> {
        PathReport::new(system, path, None).write_text(out, self.limits().variables, self.width)
    }

    /// What a state of a protocol or of a transition system is made of, after this many steps.
    pub fn state_parts(
        self,
        out: &mut dyn Write,
        n_steps: usize,
        parts: &[(String, String)],
    ) -> io::Result<()> {
        let width = parts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
        for (position, (name, value)) in parts.iter().enumerate() {
            let head = if position == 0 { n_steps.to_string() } else { String::new() };
            writeln!(out, "{head:<4}{name:width$}  {value}")?;
        }
        Ok(())
    }

    /// Labelled steps, by their numbers from 1.
    pub fn steps(self, out: &mut dyn Write, steps: &[Step]) -> io::Result<()> {
        for (position, Step { label, event, .. }) in steps.iter().enumerate() {
            let text = event.as_ref().map_or_else(|| label.clone(), told);
            writeln!(out, "{:4}  {text}", position + 1)?;
        }
        Ok(())
    }

    /// What shows a verdict, as a text of its own.
    pub fn evidence_text(self, model: &Model, shown: &Shown) -> String {
        let mut out = Vec::new();
        // Writing to a vector cannot fail.
        _ = self.shown(&mut out, model, shown);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The answer to a question at a state.
    pub fn answer(self, out: &mut dyn Write, system: &System, truth: &Truth) -> io::Result<()> {
        writeln!(out, "{}", if truth.holds { "true" } else { "false" })?;
        if let Some(why) = &truth.withheld {
            writeln!(out, "  evidence withheld: {why}; this is a bug, please report it")?;
        }
        let Some(mut evidence) = truth.evidence.clone() else { return Ok(()) };
        // The run so far is known; what matters is where the formula is looked at.
        let n_known = evidence.start.states.len().saturating_sub(1);
        evidence.start.states.drain(..n_known);
        evidence.start.actions.clear();
        self.claims(out, system, &evidence)
    }
}

/// A joint action as text: what each agent does.
pub fn joint_text(system: &System, joint: &JointAction) -> String {
    Text { detail: Detail::Verbose, ..Text::default() }.joint(system, joint, &[])
}

/// The values of a state by the names of its variables.
pub fn state_values(system: &System, state: &State) -> Vec<(String, String)> {
    values(system, state).0
}
