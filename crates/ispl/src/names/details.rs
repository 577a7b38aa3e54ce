//! What an editor shows about a name: its domain, how many bits it needs, which agents see it.

use masque_text::on_one_line;

use super::declare::each;
use super::size::{Values, bits};
use super::{Indexer, MAX_SHOWN_BYTES, Scope};
use crate::lexer::Token;
use crate::tree::{Agent, Section, Type, Variable};

/// Maximum number of names that are listed in one detail.
const MAX_LISTED: usize = 12;

impl<'t> Indexer<'t> {
    /// Adds details to the declarations.
    pub(super) fn details(&mut self) {
        let (tree, values) = (self.tree, self.parameter_values());
        for param in &tree.sections.params {
            if let (Some(value), Some(&declaration)) =
                (values.get(&param.name), self.parameters.get(&param.name))
            {
                self.add_details(declaration, vec![format!("Default value: {value}.")]);
            }
        }
        for agent in &tree.sections.agents {
            let Some(scope) = self.scope_of(&agent.pattern) else { continue };
            self.variable_details(scope, agent, &values);
            self.agent_details(scope, agent, &values);
        }
    }

    /// Gives a declaration its details. Those of a second declaration of the same name are left out.
    fn add_details(&mut self, declaration: u32, details: Vec<String>) {
        let found = &mut self.index.declarations[declaration as usize].details;
        if found.is_empty() {
            *found = details;
        }
    }

    fn agent_details(&mut self, scope: usize, agent: &Agent, values: &Values) {
        let owner = self.scopes[scope].declaration;
        let name = self.index.declarations[owner as usize].name.clone();
        let mut details = Vec::new();
        if !agent.pattern.indexes.is_empty() {
            details.push(match self.n_names(&agent.pattern, values) {
                Some(1) | None => "A family of agents.".to_string(),
                Some(n_names) => format!("A family of {n_names} agents."),
            });
        }
        let Scope { variables, actions, .. } = &self.scopes[scope];
        for (what, declared) in [("Variables", variables), ("Actions", actions)] {
            let mut sorted: Vec<u32> = declared.values().copied().collect();
            sorted.sort_unstable();
            details.extend(self.listed(what, &sorted));
        }
        let actions: Vec<u32> = actions.values().copied().collect();
        for action in actions {
            self.add_details(action, vec![format!("Action of agent `{name}`.")]);
        }
        self.add_details(owner, details);
    }

    /// Returns a sentence that lists names, or `None` if there are none.
    fn listed(&self, what: &str, declarations: &[u32]) -> Option<String> {
        let name = |declaration: &u32| self.index.declarations[*declaration as usize].name.as_str();
        let names = masque_text::first_names(declarations.iter().map(name), MAX_LISTED);
        (!names.is_empty()).then(|| format!("{what}: {names}."))
    }

    fn variable_details(&mut self, scope: usize, agent: &'t Agent, values: &Values) {
        for (section, is_shared) in [(&agent.obsvars, true), (&agent.vars, false)] {
            let Some(Section { items, .. }) = section else { continue };
            each(items, &mut |variable: &Variable| {
                let Some(&declaration) = self.scopes[scope].variables.get(&variable.pattern.name) else {
                    return;
                };
                if self.index.declarations[declaration as usize].details.is_empty() {
                    let mut details = self.size_details(variable, values);
                    details.push(self.seen_by(scope, declaration, is_shared));
                    self.add_details(declaration, details);
                }
            });
        }
    }

    fn size_details(&self, variable: &Variable, values: &Values) -> Vec<String> {
        let domain = match &variable.ty {
            Type::Boolean => "boolean".to_string(),
            Type::Range(lo, hi) => self.one_line(self.tree.expr(*lo).span.to(self.tree.expr(*hi).span)),
            Type::Enumeration(patterns) => match (patterns.first(), patterns.last()) {
                (Some(first), Some(last)) => {
                    let text = self.sources.slice(first.span.to(last.span));
                    let short = &text[..text.floor_char_boundary(MAX_SHOWN_BYTES)];
                    let dots = if short.len() < text.len() { " .." } else { "" };
                    format!("{{{}{dots}}}", on_one_line::<Token>(short))
                }
                _ => "{}".to_string(),
            },
        };
        let n_values = self.n_values(&variable.ty, values);
        let mut details = vec![match n_values {
            Some(1) => format!("Domain: {domain} (1 value)."),
            Some(n_values) => format!("Domain: {domain} ({n_values} values)."),
            None => format!("Domain: {domain}."),
        }];
        if let Some(n_bits) = n_values.map(bits) {
            let unit = if n_bits == 1 { "bit" } else { "bits" };
            details.push(match self.n_names(&variable.pattern, values) {
                Some(n_elements) if !variable.pattern.indexes.is_empty() && n_elements != 1 => {
                    format!("{n_elements} elements of {n_bits} {unit} each.")
                }
                _ => format!("{n_bits} {unit}."),
            });
        }
        details
    }

    /// Returns a sentence about the agents that see a variable.
    fn seen_by(&self, scope: usize, declaration: u32, is_shared: bool) -> String {
        let owner = self.scopes[scope].declaration;
        if is_shared {
            return "Every agent sees it.".to_string();
        }
        let others = self.observers.get(&declaration).map_or(&[][..], |others| others);
        let seers: Vec<u32> = [owner].into_iter().chain(others.iter().copied()).collect();
        match &seers[..] {
            [only] => format!("Only `{}` sees it.", self.index.declarations[*only as usize].name),
            _ => self.listed("Seen by", &seers).unwrap_or_default(),
        }
    }
}
