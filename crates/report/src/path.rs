//! Paths through a system, as data and as text.

use std::io::{self, Write};

use masque_driver::{Finding, JointAction, Path, State, System};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;
use crate::lines::{Lines, PLAIN};

/// A finite path from an initial state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PathReport {
    /// For each state the values of all variables (`Agent.variable`), as the language writes them.
    pub states: Vec<Entries<String>>,
    /// For each step what each agent does; an agent without actions does not appear. If there are
    /// as many as states, the last tells what happens in the last state.
    pub actions: Vec<Entries<String>>,
}

impl PathReport {
    /// The path that a finding shows, if it shows one.
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

    /// The first state, then what is done and what it changes, each numbered. At most `most`
    /// variables of a state are shown.
    pub(crate) fn write_text(&self, out: &mut dyn Write, most: usize, width: usize) -> io::Result<()> {
        let mut lines = Lines { out, width, color: false };
        let width = self.states.len().saturating_sub(1).to_string().len();
        for (position, state) in self.states.iter().enumerate() {
            let values: Vec<String> = match position.checked_sub(1) {
                None => state.0.iter().map(assignment).collect(),
                Some(last) => {
                    let before = self.states[last].0.iter();
                    let changed = state.0.iter().zip(before).filter(|(now, before)| now != before);
                    changed.map(|(now, _)| assignment(now)).collect()
                }
            };
            write_list(&mut lines, &format!("  {position:width$}  "), values, most, "nothing changes")?;
            if let Some(actions) = self.actions.get(position) {
                let doing = actions.0.iter().map(|(agent, action)| format!("{agent}: {action}")).collect();
                write_list(&mut lines, &format!("  {:width$}    ", ""), doing, most, "nobody acts")?;
            }
        }
        Ok(())
    }
}

/// The values of all variables in a state.
pub(crate) fn values(system: &System, state: &State) -> Entries<String> {
    let variables = system.variable_ids().zip(state);
    variables.map(|(v, &value)| (system.full_name(v), system.value_text(v, value))).collect()
}

/// What each agent does in a joint action.
pub(crate) fn doing(system: &System, joint: &JointAction) -> Entries<String> {
    let doing = (system.agents.iter().zip(joint))
        .map(|(agent, action)| (agent.name.as_str(), agent.actions[action.index()].name.clone()));
    doing.filter(|(_, action)| !action.is_empty()).collect()
}

pub(crate) fn assignment((name, value): &(String, String)) -> String {
    format!("{name} = {value}")
}

/// Items separated by commas, wrapped, each line indented like the first.
pub(crate) fn write_list(
    lines: &mut Lines<'_>,
    head: &str,
    mut items: Vec<String>,
    most: usize,
    none: &str,
) -> io::Result<()> {
    if items.len() > most {
        let rest = items.len() - most;
        items.truncate(most);
        items.push(format!("and {rest} more"));
    }
    if items.is_empty() {
        items.push(format!("({none})"));
    }
    let pieces: Vec<_> = items.into_iter().map(|item| (PLAIN, item)).collect();
    lines.flow(&[(PLAIN, head.to_string())], &" ".repeat(head.len()), &pieces, ", ")
}
