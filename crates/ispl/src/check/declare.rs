//! Declarations: agents, variables, actions and enumerations.

use std::sync::Arc;

use masque_model::{Action, ActionId, Agent, AgentId, Domain, Protocol, SymbolId, VarId, Variable};
use masque_text::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::{Checker, EnumId, Enumeration, Scope};
use crate::tree::{self, Pattern, Section, Symbol, Type};

impl Checker<'_> {
    /// Declares one agent for each `Agent`, or for each instance of a family.
    pub(super) fn declare_agents(&mut self) {
        let tree = self.tree;
        for (template, agent) in tree.sections.agents.iter().enumerate() {
            if !agent.pattern.indexes.is_empty() {
                self.families.insert(agent.pattern.name, agent.pattern.span);
            }
            let any =
                self.each_name(&agent.pattern, &mut |checker, name| checker.declare_agent(template, name));
            if !any {
                let message = format!("the family `{}` has no members", self.names.text(agent.pattern.name));
                self.empty_array(agent.pattern.span, message);
            }
        }
        let only_environment = self.system.environment.is_some() && self.system.agents.len() == 1;
        if self.n_errors == 0 && (only_environment || self.system.agents.is_empty()) {
            let message = "there is no agent besides the Environment";
            let span = tree.sections.agents.first().map_or(tree.span.slice(0, 0), |agent| agent.heading);
            self.report(
                Diagnostic::error("ispl/no-agents", span, message).hint("add one: `Agent NAME .. end Agent`"),
            );
        }
    }

    fn declare_agent(&mut self, template: usize, name: Symbol) {
        let agent = &self.tree.sections.agents[template];
        let id = AgentId(self.system.agents.len() as u32);
        let text = self.names.text(name).to_string();
        if let Some(first) = self.agents.insert(name, id) {
            let message = format!("agent `{text}` is declared twice");
            let first = self.system.agent(first).span;
            self.report(
                Diagnostic::error("ispl/duplicate-agent", agent.heading, message)
                    .also(first, "first declared here"),
            );
        }
        if text == "Environment" {
            self.system.environment = Some(id);
        }
        self.sections_of(agent, &text);
        self.system.agents.push(Agent {
            name: text,
            variables: Vec::new(),
            sees: Vec::new(),
            actions: Vec::new(),
            protocol: Protocol::Unconstrained,
            evolution: Vec::new(),
            red: None,
            span: agent.heading,
        });
        self.scopes.push(Scope { bindings: self.bindings.clone(), template, ..Scope::default() });
    }

    /// Checks that an agent has the sections of its dialect, and none of the other dialect.
    fn sections_of(&mut self, agent: &tree::Agent, name: &str) {
        let is_environment = name == "Environment";
        let modern = [
            ("Vars", agent.vars.as_ref().map(|s| s.heading)),
            ("Obsvars", agent.obsvars.as_ref().map(|s| s.heading)),
            ("Lobsvars", agent.lobsvars.as_ref().map(|s| s.heading)),
            ("RedStates", agent.red_states.as_ref().map(|s| s.heading)),
        ];
        let papers = [
            ("Lstate", agent.lstate.as_ref().map(|s| s.heading)),
            ("Lgreen", agent.lgreen.as_ref().map(|s| s.heading)),
        ];
        let (foreign, other) = if self.is_papers() {
            (&modern[..], "files whose agents have `Lstate` are read in the dialect of the 2004/05 papers")
        } else {
            (&papers[..], "`Lgreen` belongs to `Lstate`, the dialect of the 2004/05 papers")
        };
        for (section, span) in foreign {
            if let Some(span) = span {
                let message = format!("`{section}` does not belong to this dialect");
                self.report(Diagnostic::error("ispl/mixed-dialects", *span, message).hint(other));
            }
        }
        let mandatory: &[(&str, bool)] = match (self.is_papers(), is_environment) {
            (true, _) => &[
                ("Lstate", agent.lstate.is_none()),
                ("Action", agent.actions.is_none()),
                ("Protocol", agent.protocol.is_none()),
                ("Ev", agent.evolution.is_none()),
            ],
            (false, false) => &[
                ("Vars", agent.vars.is_none()),
                ("Actions", agent.actions.is_none()),
                ("Protocol", agent.protocol.is_none()),
                ("Evolution", agent.evolution.is_none()),
            ],
            (false, true) => &[],
        };
        let missing: Vec<String> = mandatory
            .iter()
            .filter(|(_, is_missing)| *is_missing)
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        if !missing.is_empty() {
            let message = format!("agent `{name}` has no {} section", missing.join(" or "));
            self.report(
                Diagnostic::error("ispl/missing-section", agent.heading, message)
                    .hint("a section may be empty, but it must be present"),
            );
        }
        if let (Some(obsvars), false) = (&agent.obsvars, is_environment) {
            let message = "only the Environment has `Obsvars`";
            self.report(
                Diagnostic::error("ispl/misplaced-section", obsvars.heading, message).hint(
                    "declare what all agents see in the Environment, what one agent owns in its `Vars`",
                ),
            );
        }
        if let (Some(lobsvars), true) = (&agent.lobsvars, is_environment) {
            let message = "the Environment sees all its variables and has no `Lobsvars`";
            self.error("ispl/misplaced-section", lobsvars.heading, message);
        }
    }

    /// Declares the variables and actions of all agents; then determines which agent sees which
    /// variables.
    pub(super) fn declare_variables(&mut self) {
        for agent in self.system.agent_ids() {
            self.in_agent(agent, |checker, template| {
                if let Some(lstate) = &template.lstate {
                    checker.declare_local_states(agent, template, lstate);
                }
                for section in [&template.obsvars, &template.vars].into_iter().flatten() {
                    let is_shared = template.obsvars.as_ref().is_some_and(|s| std::ptr::eq(s, section));
                    checker.each_item(&section.items, &mut |checker, variable| {
                        checker.declare_variable(agent, variable, is_shared);
                    });
                }
                checker.declare_actions(agent, template);
            });
        }
        for agent in self.system.agent_ids() {
            self.in_agent(agent, |checker, template| checker.visibility(agent, template));
        }
    }

    /// Runs `body` with the bindings of an agent's instance and its template.
    pub(super) fn in_agent(&mut self, agent: AgentId, body: impl FnOnce(&mut Self, &tree::Agent)) {
        let scope = &self.scopes[agent.index()];
        let template = &self.tree.sections.agents[scope.template];
        let outer = std::mem::replace(&mut self.bindings, scope.bindings.clone());
        body(self, template);
        self.bindings = outer;
    }

    /// Declares the only variable of an agent in the papers' dialect, its local state.
    fn declare_local_states(
        &mut self,
        agent: AgentId,
        template: &tree::Agent,
        lstate: &Section<Vec<Pattern>>,
    ) {
        let name = self.names.intern("Lstate");
        let ty = self
            .enumeration(&lstate.items, lstate.span)
            .map_or(VariableType::Wrong, VariableType::Enumeration);
        self.add_variable(agent, name, template.heading, ty);
    }

    fn declare_variable(&mut self, agent: AgentId, variable: &tree::Variable, is_shared: bool) {
        let pattern = &variable.pattern;
        if !pattern.indexes.is_empty() {
            self.scopes[agent.index()].arrays.insert(pattern.name, pattern.span);
        }
        let any = self.each_name(pattern, &mut |checker, name| {
            // Evaluated for each instance, because a bound may depend on the index.
            let ty = checker.domain(variable).unwrap_or(VariableType::Wrong);
            if let Some(id) = checker.add_variable(agent, name, pattern.span, ty)
                && is_shared
            {
                checker.scopes[agent.index()].shared.insert(id);
            }
        });
        if !any {
            let message = format!("the array `{}` has no elements", self.names.text(pattern.name));
            self.empty_array(pattern.span, message);
        }
    }

    fn empty_array(&mut self, span: Span, message: String) {
        self.is_incomplete = true;
        self.report(
            Diagnostic::error("ispl/empty-array", span, message)
                .label("this range is empty")
                .hint("a declaration needs at least one index; are the parameters right?"),
        );
    }

    fn add_variable(&mut self, agent: AgentId, name: Symbol, span: Span, ty: VariableType) -> Option<VarId> {
        let id = VarId(self.system.variables.len() as u32);
        let text = self.names.text(name).to_string();
        if let Some(first) = self.scopes[agent.index()].variables.get(&name) {
            let message = format!("variable `{text}` is declared twice");
            let first = self.system.variable(*first).span;
            self.report(
                Diagnostic::error("ispl/duplicate-variable", span, message)
                    .also(first, "first declared here"),
            );
            return None;
        }
        self.scopes[agent.index()].variables.insert(name, id);
        let (domain, enumeration) = match ty {
            VariableType::Boolean => (Domain::Boolean, None),
            VariableType::Range(lo, hi) => (Domain::Integers(lo, hi), None),
            VariableType::Enumeration(e) => {
                (Domain::Values(self.enumerations[e as usize].values.clone()), Some(e))
            }
            VariableType::Wrong => (Domain::Values([].into()), None),
        };
        self.system.variables.push(Variable { name: text, owner: agent, domain, span });
        self.variable_enums.push(enumeration);
        self.system.agents[agent.index()].variables.push(id);
        Some(id)
    }

    fn domain(&mut self, variable: &tree::Variable) -> Option<VariableType> {
        match &variable.ty {
            Type::Boolean => Some(VariableType::Boolean),
            Type::Range(lo, hi) => {
                let span = self.tree.expr(*lo).span.to(self.tree.expr(*hi).span);
                let (lo, hi) = (self.constant(*lo)?, self.constant(*hi)?);
                if lo > hi {
                    let message = format!("the range {lo}..{hi} is empty");
                    self.report(
                        Diagnostic::error("ispl/empty-range", span, message)
                            .hint("a range is written `lo..hi` with lo at most hi"),
                    );
                    return None;
                }
                Some(VariableType::Range(lo, hi))
            }
            Type::Enumeration(values) => {
                Some(VariableType::Enumeration(self.enumeration(values, variable.span)?))
            }
        }
    }

    /// Returns the enumeration with these values; creates it if there is none.
    fn enumeration(&mut self, values: &[Pattern], span: Span) -> Option<EnumId> {
        let mut ids: Vec<SymbolId> = Vec::new();
        let mut members = FxHashMap::default();
        let mut first_spans = FxHashMap::default();
        for pattern in values {
            self.each_name(pattern, &mut |checker, name| {
                let next = SymbolId(checker.system.symbols.len() as u32);
                let id = *checker.symbols.entry(name).or_insert(next);
                if id == next {
                    checker.system.symbols.push(checker.names.text(name).to_string());
                }
                members.insert(name, id);
                if let Some(first) = first_spans.insert(name, pattern.span) {
                    let message = format!("value `{}` is listed twice", checker.names.text(name));
                    checker.report(
                        Diagnostic::error("ispl/duplicate-value", pattern.span, message)
                            .also(first, "first listed here"),
                    );
                }
                ids.push(id);
            });
        }
        if ids.is_empty() {
            let message = "an enumeration needs at least one value";
            self.report(
                Diagnostic::error("ispl/empty-enumeration", span, message)
                    .hint("list its values: `{low, high}`"),
            );
            return None;
        }
        let values: Arc<[SymbolId]> = ids.into();
        let next = self.enumerations.len() as EnumId;
        let id = *self.enumeration_index.entry(values.clone()).or_insert(next);
        if id == next {
            self.enumerations.push(Enumeration { values, members });
        }
        Some(id)
    }

    fn declare_actions(&mut self, agent: AgentId, template: &tree::Agent) {
        let is_environment = self.system.environment == Some(agent);
        if let Some(section) = &template.actions {
            self.scopes[agent.index()].actions_span = Some(section.span);
            let mut first_spans = FxHashMap::default();
            for pattern in &section.items {
                self.each_name(pattern, &mut |checker, name| {
                    let actions = &mut checker.system.agents[agent.index()].actions;
                    let id = ActionId(actions.len() as u32);
                    let text = checker.names.text(name).to_string();
                    if let Some(first) = first_spans.insert(name, pattern.span) {
                        let message = format!("action `{text}` is listed twice");
                        checker.report(
                            Diagnostic::error("ispl/duplicate-action", pattern.span, message)
                                .also(first, "first listed here"),
                        );
                    } else {
                        actions.push(Action { name: text });
                        checker.scopes[agent.index()].actions.insert(name, id);
                    }
                });
            }
            if self.system.agent(agent).actions.is_empty() && !is_environment {
                let message = format!("agent `{}` has no actions", self.system.agent(agent).name);
                self.report(
                    Diagnostic::error("ispl/no-actions", section.span, message)
                        .hint("an agent that does nothing has one action for it: `Actions = {none};`"),
                );
            }
        }
        if self.system.agent(agent).actions.is_empty() {
            // An Environment without actions gets one unnamed action.
            self.system.agents[agent.index()].actions.push(Action { name: String::new() });
        }
    }

    /// Determines what an agent sees: its own variables, the Environment's Obsvars, and its Lobsvars.
    fn visibility(&mut self, agent: AgentId, template: &tree::Agent) {
        let mut sees = self.system.agent(agent).variables.clone();
        if let Some(environment) = self.system.environment.filter(|e| *e != agent) {
            sees.extend(self.scopes[environment.index()].shared.iter().copied());
            if let Some(lobsvars) = &template.lobsvars {
                for pattern in &lobsvars.items {
                    self.each_name(pattern, &mut |checker, name| {
                        if let Some(id) = checker.lobsvar(environment, name, pattern) {
                            checker.scopes[agent.index()].shared.insert(id);
                            sees.push(id);
                        }
                    });
                }
            }
        } else if let Some(lobsvars) = &template.lobsvars
            && self.system.environment.is_none()
            && !lobsvars.items.is_empty()
        {
            let message = "`Lobsvars` lists variables of the Environment, and there is none";
            self.error("ispl/unknown-agent", lobsvars.span, message);
        }
        sees.sort_unstable();
        sees.dedup();
        self.system.agents[agent.index()].sees = sees;
    }

    fn lobsvar(&mut self, environment: AgentId, name: Symbol, pattern: &Pattern) -> Option<VarId> {
        let scope = &self.scopes[environment.index()];
        let Some(&id) = scope.variables.get(&name) else {
            self.unknown_variable(environment, pattern.name, name, pattern.span);
            return None;
        };
        if scope.shared.contains(&id) {
            let message =
                format!("every agent sees `{}` already: it is one of the Obsvars", self.names.text(name));
            self.report(
                Diagnostic::warning("ispl/needless-lobsvar", pattern.span, message)
                    .hint("remove it here, or declare it among the Environment's `Vars`"),
            );
        }
        Some(id)
    }
}

/// The type of a variable, with its bounds computed.
enum VariableType {
    Boolean,
    Range(i64, i64),
    Enumeration(EnumId),
    /// A type with an error. The variable is declared anyway, so that its uses are not errors.
    Wrong,
}
