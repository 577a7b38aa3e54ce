//! Properties and agents by the names that a user gives them.

use std::sync::Arc;

use masque_model::{AgentId, System};
use masque_text::{Diagnostic, Severity, did_you_mean};

use crate::load::Model;
use crate::property::PropertyText;

/// Of the names there are so many are listed in a message.
const MOST_NAMES: usize = 12;

impl Model {
    /// Keeps these properties only, each by its name or its position from 1, in the order of the text; all
    /// if no name is given. The answer says which names mean nothing.
    pub(crate) fn keep(&mut self, names: &[String]) -> Vec<Diagnostic> {
        if names.is_empty() {
            return Vec::new();
        }
        let properties = self.properties();
        let mut kept = vec![false; properties.len()];
        let mut unknown = Vec::new();
        for name in names {
            let positions = positions(&properties, name);
            if positions.is_empty() {
                unknown.push(unknown_property(&properties, name));
            }
            positions.into_iter().for_each(|position| kept[position] = true);
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

/// The positions of the properties that are meant: all instances that share a name, or the one of a
/// title such as `safe[i=2]`. A name counts before a position.
fn positions(properties: &[PropertyText], name: &str) -> Vec<usize> {
    let is_named = |(_, property): &(usize, &PropertyText)| property.name == name || property.title == name;
    let named = properties.iter().enumerate().filter(is_named);
    let named: Vec<usize> = named.map(|(position, _)| position).collect();
    if !named.is_empty() {
        return named;
    }
    let position = name.parse::<usize>().ok().and_then(|position| position.checked_sub(1));
    position.filter(|position| *position < properties.len()).into_iter().collect()
}

fn unknown_property(properties: &[PropertyText], name: &str) -> Diagnostic {
    let message = format!("there is no property `{name}`");
    let names = properties.iter().map(|property| property.title.as_str());
    let guess = did_you_mean(name, names.clone());
    let help = guess.unwrap_or_else(|| match properties.is_empty() {
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
