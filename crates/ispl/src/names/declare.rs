//! The declarations of all sections, without the expressions in them.

use masque_text::{NameKind, Span};
use rustc_hash::FxHashMap;

use super::{Indexer, New, Scope, Table};
use crate::tree::{Agent, Item, Pattern, Section, Symbol, Type, Variable};

/// Calls a function for each statement, those in loops included.
pub(super) fn each<'t, T>(items: &'t [Item<T>], one: &mut impl FnMut(&'t T)) {
    for item in items {
        match item {
            Item::One(statement) => one(statement),
            Item::For { items, .. } => each(items, one),
        }
    }
}

impl<'t> Indexer<'t> {
    pub(super) fn declare_all(&mut self) {
        let tree = self.tree;
        for param in &tree.sections.params {
            let new = New { name: param.name, at: param.name_span, whole: param.span, parent: None };
            self.declare_in(Table::Parameters, new);
        }
        for agent in &tree.sections.agents {
            self.declare_agent(agent);
        }
        if let Some(section) = &tree.sections.evaluation {
            each(&section.items, &mut |definition| {
                self.declare_pattern(Table::Propositions, &definition.pattern, definition.span, None);
            });
        }
        if let Some(section) = &tree.sections.groups {
            each(&section.items, &mut |group| {
                self.declare_pattern(Table::Groups, &group.pattern, group.span, None);
            });
        }
        for section in [&tree.sections.fairness, &tree.sections.formulae].into_iter().flatten() {
            each(&section.items, &mut |line| {
                if let Some(label) = &line.label {
                    self.declare_pattern(Table::Properties, label, line.span, None);
                }
            });
        }
    }

    /// Declares the name of a pattern once, whatever its indexes are.
    fn declare_pattern(&mut self, table: Table, pattern: &Pattern, whole: Span, parent: Option<u32>) -> u32 {
        self.declare_in(table, New { name: pattern.name, at: pattern.span, whole, parent })
    }

    fn declare_agent(&mut self, agent: &'t Agent) {
        let Pattern { name, span, .. } = agent.pattern;
        let scope = self.agent_scope(name, span, agent.span);
        let parent = Some(self.scopes[scope].declaration);
        for section in [&agent.obsvars, &agent.vars].into_iter().flatten() {
            each(&section.items, &mut |variable| self.declare_variable(scope, variable));
        }
        if let Some(lstate) = &agent.lstate {
            let members = self.members(&lstate.items);
            self.scopes[scope].local_states = Some(self.enumerations.add(members, lstate.span, parent));
        }
        if let Some(Section { items, .. }) = &agent.actions {
            for pattern in items {
                self.declare_pattern(Table::Actions(scope), pattern, pattern.span, parent);
            }
        }
    }

    /// Returns the scope of an agent, and declares the agent if this is its first heading.
    pub(super) fn agent_scope(&mut self, name: Symbol, at: Span, whole: Span) -> usize {
        if let Some(&known) = self.agents.get(&name) {
            self.use_at(self.scopes[known].declaration, name, at);
            return known;
        }
        let declaration = self.declare(NameKind::Agent, New { name, at, whole, parent: None });
        let line = self.one_line(at);
        self.index.declarations[declaration as usize].text = format!("Agent {line}");
        let scope = self.scopes.len();
        self.scopes.push(Scope {
            declaration,
            variables: FxHashMap::default(),
            actions: FxHashMap::default(),
            local_states: None,
            indexes: Vec::new(),
        });
        self.agents.insert(name, scope);
        if self.names.text(name) == "Environment" {
            self.environment = Some(scope);
        }
        scope
    }

    fn declare_variable(&mut self, scope: usize, variable: &'t Variable) {
        let parent = Some(self.scopes[scope].declaration);
        let Variable { pattern, ty, span } = variable;
        let declaration = self.declare_pattern(Table::Variables(scope), pattern, *span, parent);
        if let Type::Enumeration(values) = ty {
            let members = self.members(values);
            let new = self.enumerations.add(members, *span, Some(declaration));
            // The elements of an array may be declared one by one.
            match self.variable_enums.get(&declaration) {
                Some(&first) => self.enumerations.unite(first, new),
                None => _ = self.variable_enums.insert(declaration, new),
            }
        }
    }

    fn members(&self, values: &[Pattern]) -> Vec<(Symbol, Span)> {
        values.iter().map(|value| (value.name, value.span)).collect()
    }
}
