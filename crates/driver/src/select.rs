//! Properties and agents by the names that a user gives them.

use std::sync::Arc;

use masque_model::{AgentId, System};
use masque_text::{Diagnostic, Severity, did_you_mean};

use crate::load::Model;
use crate::property::PropertyText;

/// Maximum number of names listed in a message.
const MAX_LISTED_NAMES: usize = 12;

impl Model {
    /// Keeps only the properties with these names or positions from 1; all if no name is given. Returns errors
    /// about names that no property has.
    pub(crate) fn keep(&mut self, names: &[String]) -> Vec<Diagnostic> {
        if names.is_empty() {
            return Vec::new();
        }
        let properties = self.properties();
        let mut kept = vec![false; properties.len()];
        let mut unknown = Vec::new();
        for name in names {
            let indices = indices(&properties, name);
            if indices.is_empty() {
                unknown.push(unknown_property(&properties, name));
            }
            indices.into_iter().for_each(|index| kept[index] = true);
        }
        let mut of_worlds = kept.clone().into_iter();
        let mut kept = kept.into_iter();
        let mut is_kept = || kept.next().unwrap_or(false);
        match self {
            Model::Ispl(system) => Arc::make_mut(system).properties.retain(|_| is_kept()),
            Model::Bdi(worlds) => {
                if let Some(worlds) = Arc::get_mut(worlds) {
                    worlds.programs.properties.retain(|_| is_kept());
                    worlds.plan.properties.retain(|_| of_worlds.next().unwrap_or(false));
                }
            }
            Model::Lcc(instance) => instance.properties.retain(|_| is_kept()),
            Model::Aut(instance) => instance.properties.retain(|_| is_kept()),
        }
        unknown
    }
}

/// The indices of the properties that a name selects: all instances that share the name, or the one with a
/// title such as `safe[i=2]`, or else the property at this position.
fn indices(properties: &[PropertyText], name: &str) -> Vec<usize> {
    let is_named = |(_, property): &(usize, &PropertyText)| property.name == name || property.title == name;
    let named = properties.iter().enumerate().filter(is_named);
    let named: Vec<usize> = named.map(|(index, _)| index).collect();
    if !named.is_empty() {
        return named;
    }
    let index = name.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
    index.filter(|index| *index < properties.len()).into_iter().collect()
}

fn unknown_property(properties: &[PropertyText], name: &str) -> Diagnostic {
    let message = format!("there is no property `{name}`");
    let names = properties.iter().map(|property| property.title.as_str());
    let guess = did_you_mean(name, names.clone());
    let help = guess.unwrap_or_else(|| {
        if properties.is_empty() {
            "the file has no formulas; add one with `--property 'AG p'`".to_string()
        } else {
            format!("the properties are {}", list(names))
        }
    });
    Diagnostic::nowhere(Severity::Error, "cli/unknown-property", message).hint(help)
}

/// Finds the agent with this name.
///
/// # Errors
///
/// If there is no such agent; the diagnostic lists the agents or suggests one.
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

/// The first [`MAX_LISTED_NAMES`] names, and the number of the others.
fn list<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    let n_names = names.clone().count();
    let mut text = names.take(MAX_LISTED_NAMES).collect::<Vec<_>>().join(", ");
    if n_names > MAX_LISTED_NAMES {
        text += &format!(" and {} more", n_names - MAX_LISTED_NAMES);
    }
    text
}
