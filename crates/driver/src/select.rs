//! Properties and agents by the names that a user gives them.

use std::sync::Arc;

use masque_model::{AgentId, System};
use masque_text::{Diagnostic, Severity, did_you_mean};

use crate::Loaded;

/// Of the names there are so many are listed in a message.
const MOST_NAMES: usize = 12;

impl Loaded {
    /// Keeps these properties only, each by its name or its position from 1, in the order of the
    /// text; all if no name is given. A name that means nothing is said among the diagnostics, and
    /// then there is no model to check.
    pub fn keep_properties(&mut self, names: &[String]) {
        let Some(system) = self.system.as_mut().filter(|_| !names.is_empty()) else { return };
        let mut kept = vec![false; system.properties.len()];
        let mut unknown = Vec::new();
        for name in names {
            let positions = positions(system, name);
            if positions.is_empty() {
                unknown.push(unknown_property(system, name));
            }
            positions.into_iter().for_each(|position| kept[position] = true);
        }
        if !unknown.is_empty() {
            self.diagnostics.extend(unknown);
            self.system = None;
            return;
        }
        let mut kept = kept.into_iter();
        Arc::make_mut(system).properties.retain(|_| kept.next().unwrap_or(false));
    }
}

/// The positions of the properties that are meant: all instances that share a name, or the one of a
/// title such as `safe[i=2]`. A name counts before a position.
fn positions(system: &System, name: &str) -> Vec<usize> {
    let properties = system.properties.iter().enumerate();
    let named = properties.filter(|(_, property)| property.name == name || property.title == name);
    let named: Vec<usize> = named.map(|(position, _)| position).collect();
    if !named.is_empty() {
        return named;
    }
    let position = name.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
    position.filter(|position| *position < system.properties.len()).into_iter().collect()
}

fn unknown_property(system: &System, name: &str) -> Diagnostic {
    let message = format!("there is no property `{name}`");
    let names = system.properties.iter().map(|property| property.title.as_str());
    let guess = did_you_mean(name, names.clone());
    let help = guess.unwrap_or_else(|| match system.properties.is_empty() {
        true => "the file has no formulas; ask with `--property 'AG p'`".to_string(),
        false => format!("the properties are {}", list(names)),
    });
    Diagnostic::nowhere(Severity::Error, "cli/unknown-property", message).hint(help)
}

/// The agent of this name; if there is none, what to say.
pub fn agent(system: &System, name: &str) -> Result<AgentId, Box<Diagnostic>> {
    let found = system.agent_ids().find(|&agent| system.agent(agent).name == name);
    found.ok_or_else(|| {
        let names = system.agents.iter().map(|agent| agent.name.as_str());
        let guess = did_you_mean(name, names.clone());
        let help = guess.unwrap_or_else(|| format!("the agents are {}", list(names)));
        let message = format!("there is no agent `{name}`");
        Box::new(Diagnostic::nowhere(Severity::Error, "cli/unknown-agent", message).hint(help))
    })
}

/// The first names, and how many more there are.
fn list<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    let n_names = names.clone().count();
    let mut text = names.take(MOST_NAMES).collect::<Vec<_>>().join(", ");
    if n_names > MOST_NAMES {
        text += &format!(" and {} more", n_names - MOST_NAMES);
    }
    text
}
