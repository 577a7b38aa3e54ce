//! Paths through a system, as data and as text.

use std::io::{self, Write};

use anstyle::Style;
use masque_driver::{Finding, JointAction, Path, State, System};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;
use crate::limits::Limits;
use crate::lines::{ACTION, Lines, PLAIN, STATE};
use crate::long_paths::{Shown, cut};
use crate::wording::plural;

/// A finite path from an initial state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathReport {
    /// For each state, the values of all variables (`Agent.variable`) in the syntax of the language.
    pub states: Vec<Entries<String>>,
    /// For each step, the action of each agent that has actions. If there are as many entries as states,
    /// the last one is the joint action at the last state that the diagnostic is about.
    pub actions: Vec<Entries<String>>,
}

impl PathReport {
    /// Returns the path of a finding, if it has one.
    pub(crate) fn of_finding(system: &System, finding: &Finding) -> Option<Self> {
        finding.path.as_ref().map(|path| PathReport::new(system, path, finding.then.as_ref()))
    }

    pub(crate) fn new(system: &System, path: &Path, then: Option<&JointAction>) -> Self {
        let actions = path.actions.iter().chain(then);
        PathReport {
            states: path.states.iter().map(|state| values(system, state)).collect(),
            actions: actions.map(|joint| doing(system, joint)).collect(),
        }
    }

    /// Writes the first state, then each joint action and the variables it changes.
    pub(crate) fn write_text(&self, out: &mut dyn Write, limits: Limits, width: usize) -> io::Result<()> {
        self.write_marked(Lines { out, width, color: false }, limits, "")
    }

    /// Does what [`PathReport::write_text`] does, with `mark` before the number of each state.
    pub(crate) fn write_marked(
        &self,
        lines: Lines<'_>,
        limits: Limits,
        mark: &'static str,
    ) -> io::Result<()> {
        let n_digits = self.states.len().saturating_sub(1).to_string().len();
        let mut path = PathWriter { lines, n_digits, limit: limits.variables, mark };
        let mut before = None;
        for shown in cut(self.states.len(), limits.at_each_end, &[]) {
            match shown {
                Shown::Position(position) => {
                    path.state(position, &self.states[position], before)?;
                    self.actions.get(position).map_or(Ok(()), |actions| path.actions(actions))?;
                    before = Some(&self.states[position]);
                }
                Shown::LeftOut(n) => path.left_out(n)?,
            }
        }
        Ok(())
    }

    /// Writes that the states are those of the path of an earlier message with this `code`, and the joint
    /// action at the last state if that path does not have it.
    pub(crate) fn write_reference(
        &self,
        out: &mut dyn Write,
        code: &str,
        earlier: &PathReport,
        limits: Limits,
        width: usize,
    ) -> io::Result<()> {
        let mut path = PathWriter::new(out, self.states.len(), limits, width);
        let which = if self.states.len() == 1 { "the same state" } else { "the same path" };
        path.lines.line(&[(PLAIN, format!("  {which} as for {code} above"))])?;
        match self.actions.get(self.states.len() - 1) {
            Some(actions) if earlier.actions.get(self.states.len() - 1) != Some(actions) => {
                path.lines.line(&[(PLAIN, "  and then".to_string())])?;
                path.actions(actions)
            }
            _ => Ok(()),
        }
    }
}

/// Writes a path, state by state.
pub(crate) struct PathWriter<'o> {
    pub(crate) lines: Lines<'o>,
    /// Number of digits of the last position.
    pub(crate) n_digits: usize,
    /// Maximum number of variables or actions shown.
    pub(crate) limit: usize,
    /// Text before the number of a state.
    pub(crate) mark: &'static str,
}

impl<'o> PathWriter<'o> {
    fn new(out: &'o mut dyn Write, n_states: usize, limits: Limits, width: usize) -> Self {
        let n_digits = n_states.saturating_sub(1).to_string().len();
        PathWriter { lines: Lines { out, width, color: false }, n_digits, limit: limits.variables, mark: "" }
    }

    fn left_out(&mut self, n: usize) -> io::Result<()> {
        let states = plural(n, "state", "states");
        self.lines.line(&[(PLAIN, format!("  .. {states} left out (--full shows all)"))])
    }

    /// Writes a state: all variables, or those that differ from the state before.
    pub(crate) fn state(
        &mut self,
        position: usize,
        state: &Entries<String>,
        before: Option<&Entries<String>>,
    ) -> io::Result<()> {
        let values: Vec<String> = match before {
            None => state.0.iter().map(assignment).collect(),
            Some(before) => changed(&state.0, &before.0).map(assignment).collect(),
        };
        let number = format!("{}{position}", self.mark);
        let head = format!("  {number:>0$}  ", self.n_digits + self.mark.len());
        write_list(&mut self.lines, &head, [STATE, PLAIN], values, self.limit, "nothing changes")
    }

    /// Writes a joint action.
    pub(crate) fn actions(&mut self, actions: &Entries<String>) -> io::Result<()> {
        let doing = actions.0.iter().map(action_text).collect();
        let head = " ".repeat(self.n_digits + self.mark.len() + 6);
        write_list(&mut self.lines, &head, [PLAIN, ACTION], doing, self.limit, "no agent acts")
    }
}

/// The values of all variables at a state.
pub(crate) fn values(system: &System, state: &State) -> Entries<String> {
    let variables = system.variable_ids().zip(state);
    variables.map(|(v, &value)| (system.full_name(v), system.value_text(v, value))).collect()
}

/// The action of each agent that has actions.
pub(crate) fn doing(system: &System, joint: &JointAction) -> Entries<String> {
    let doing = (system.agents.iter().zip(joint))
        .map(|(agent, action)| (agent.name.as_str(), agent.actions[action.index()].name.clone()));
    doing.filter(|(_, action)| !action.is_empty()).collect()
}

pub(crate) fn assignment((name, value): &(String, String)) -> String {
    format!("{name} = {value}")
}

pub(crate) fn action_text((agent, action): &(String, String)) -> String {
    format!("{agent}: {action}")
}

/// The entries of a state that differ from those of the state before.
pub(crate) fn changed<'e>(
    now: &'e [(String, String)],
    before: &'e [(String, String)],
) -> impl Iterator<Item = &'e (String, String)> {
    now.iter().zip(before).filter(|(now, before)| now != before).map(|(now, _)| now)
}

/// The first `limit` items, and the number of the others if there are any.
pub(crate) fn cut_list(mut items: Vec<String>, limit: usize) -> Vec<String> {
    let n_more = items.len().saturating_sub(limit);
    items.truncate(limit);
    items.extend((n_more > 0).then(|| format!("and {n_more} more")));
    items
}

/// Writes items separated by commas, wrapped, each line indented like the first, in the styles of the head and of
/// the items. Writes `none` in
/// parentheses if there are no items.
pub(crate) fn write_list(
    lines: &mut Lines<'_>,
    head: &str,
    [head_style, style]: [Style; 2],
    items: Vec<String>,
    limit: usize,
    none: &str,
) -> io::Result<()> {
    let is_cut = items.len() > limit;
    let mut items = cut_list(items, limit);
    if let (true, Some(last)) = (is_cut, items.last_mut()) {
        *last += " (--full shows them)";
    }
    if items.is_empty() {
        items.push(format!("({none})"));
    }
    let pieces: Vec<_> = items.into_iter().map(|item| (style, item)).collect();
    lines.flow(&[(head_style, head.to_string())], &" ".repeat(head.len()), &pieces, ", ")
}
