//! The behaviour of agents (red states, protocol, evolution), propositions, initial states, groups.

use std::collections::BTreeSet;

use masque_model::{
    ActionId, AgentId, Assignment, Assignments, ExprId as Lowered, Group, Line, Proposition, PropositionId,
    Protocol, ProtocolLine, VarId,
};
use masque_text::{Diagnostic, Span};

use super::Checker;
use super::compare::type_name;
use super::expr::{Context, Type};
use crate::tree::{self, ExprId, Kind, Op, Pattern, Symbol};

/// Maximum number of local states, of all agents together, among which a green one is looked for.
const MAX_LOCAL_STATES: u32 = 1 << 20;

impl Checker<'_> {
    pub(super) fn agent_behaviour(&mut self) {
        for agent in self.system.agent_ids() {
            self.in_agent(agent, |checker, template| {
                checker.red_states(agent, template);
                checker.protocol(agent, template);
                if let Some(evolution) = &template.evolution {
                    checker.each_item(&evolution.items, &mut |checker, line| checker.evolution(agent, line));
                }
            });
        }
    }

    /// Lowers RedStates, or the complement of Lgreen.
    fn red_states(&mut self, agent: AgentId, template: &tree::Agent) {
        if let Some(condition) = template.red_states.as_ref().and_then(|section| section.items) {
            let red = self.condition(condition, Context::Local(agent));
            self.system.agents[agent.index()].red = Some(red);
        }
        let (Some(lgreen), Some(&variable)) = (&template.lgreen, self.system.agent(agent).variables.first())
        else {
            return;
        };
        let mut green = Vec::new();
        for pattern in &lgreen.items {
            self.each_name(pattern, &mut |checker, name| {
                green.extend(checker.local_state(variable, name, pattern.span));
            });
        }
        let green = self.system.exprs.or(green);
        let red = self.system.exprs.not(green);
        self.system.agents[agent.index()].red = Some(red);
    }

    /// Reports agents without a green local state [JAL05 §2.1], one of each family.
    pub(super) fn require_green_states(&mut self) {
        let (mut n_states, mut reported) = (MAX_LOCAL_STATES, BTreeSet::new());
        for agent in self.system.agent_ids() {
            let template = self.scopes[agent.index()].template;
            if self.system.has_green_state(agent, &mut n_states) != Some(false) || !reported.insert(template)
            {
                continue;
            }
            let message = format!("all local states of agent `{}` are red", self.system.agent(agent).name);
            self.in_agent(agent, |checker, template| {
                let red_states = template.red_states.as_ref().map(|section| section.heading);
                let Some(span) = red_states.or(template.lgreen.as_ref().map(|section| section.heading))
                else {
                    return;
                };
                let hint = match red_states {
                    Some(_) => {
                        "write a condition that is false in some local state, or leave out `RedStates`"
                    }
                    None => "name at least one local state in `Lgreen`, or leave it out",
                };
                checker.report(Diagnostic::error("ispl/no-green-state", span, message.clone()).hint(hint));
            });
        }
    }

    /// Lowers `Lstate = name`.
    fn local_state(&mut self, variable: VarId, name: Symbol, span: Span) -> Option<Lowered> {
        let enumeration = &self.enumerations[self.variable_enums[variable.index()]? as usize];
        let Some(&symbol) = enumeration.members.get(&name) else {
            let message = format!("`{}` is not one of the agent's local states", self.names.text(name));
            let help = self.suggest(name, enumeration.members.keys());
            self.report(Diagnostic::error("ispl/unknown-value", span, message).help(help));
            return None;
        };
        let exprs = &mut self.system.exprs;
        let (left, right) = (exprs.variable(variable), exprs.symbol(symbol));
        Some(exprs.compare(masque_model::Relation::Equal, left, right))
    }

    fn protocol(&mut self, agent: AgentId, template: &tree::Agent) {
        let is_environment = self.system.environment == Some(agent);
        let Some(section) = &template.protocol else { return };
        let mut lines = Vec::new();
        let mut other: Option<(Vec<ActionId>, Span)> = None;
        self.each_item(&section.items, &mut |checker, line| {
            let actions = checker.action_set(agent, &line.actions, line.span);
            if line.is_other && checker.is_other(agent, line) {
                if let Some((_, first)) = &other {
                    let message = "there is a second `Other` line";
                    let first = *first;
                    checker.report(
                        Diagnostic::error("ispl/duplicate-other", line.span, message)
                            .also(first, "the first one"),
                    );
                }
                other = Some((actions, line.span));
                return;
            }
            if let Some((_, first)) = &other {
                let first = *first;
                checker.report(
                    Diagnostic::error("ispl/other-not-last", first, "`Other` is the last line of a protocol")
                        .also(line.span, "this line follows it"),
                );
            }
            let condition = checker.protocol_condition(agent, line.condition);
            lines.push(ProtocolLine { condition, actions, span: line.span });
        });
        if lines.is_empty() && other.is_none() && is_environment {
            return; // The Environment may always perform any action.
        }
        let other = other.map(|(actions, _)| actions);
        self.system.agents[agent.index()].protocol = Protocol::Lines { lines, other };
    }

    /// Returns whether the word `Other` is the keyword. It is an error if a variable has that name.
    fn is_other(&mut self, agent: AgentId, line: &tree::ProtocolLine) -> bool {
        let Kind::Name(name) = self.tree.expr(line.condition).kind else { return false };
        let Some(&variable) = self.scopes[agent.index()].variables.get(&name.name) else { return true };
        let declared = self.system.variable(variable).span;
        let span = self.tree.expr(line.condition).span;
        self.report(
            Diagnostic::error(
                "ispl/ambiguous-name",
                span,
                "`Other` is both a variable and the last line of a protocol",
            )
            .also(declared, "the variable")
            .hint("write `Other = true`, or rename the variable")
            .fix("write `Other = true`", Span { start: span.end, end: span.end }, " = true"),
        );
        true
    }

    /// Lowers the condition of a protocol line; in the papers' dialect it may be a local state.
    fn protocol_condition(&mut self, agent: AgentId, condition: ExprId) -> Lowered {
        let expr = self.tree.expr(condition);
        if let (true, Kind::Name(name)) = (self.is_papers(), expr.kind) {
            let variable = self.system.agent(agent).variables.first().copied();
            let name = self.resolve(name);
            let state = variable.zip(name).and_then(|(v, name)| self.local_state(v, name, expr.span));
            return state.unwrap_or_else(|| self.system.exprs.bool(false));
        }
        self.condition(condition, Context::Local(agent))
    }

    fn action_set(&mut self, agent: AgentId, patterns: &[Pattern], span: Span) -> Vec<ActionId> {
        let (mut actions, mut all_known, n_errors) = (Vec::new(), true, self.n_errors);
        for pattern in patterns {
            self.each_name(pattern, &mut |checker, name| match checker.scopes[agent.index()]
                .actions
                .get(&name)
            {
                Some(&action) => actions.push(action),
                None => {
                    all_known = false;
                    checker.unknown_action(agent, name, pattern.span);
                }
            });
        }
        actions.sort_unstable();
        actions.dedup();
        if actions.is_empty() && all_known && n_errors == self.n_errors {
            self.report(
                Diagnostic::error("ispl/no-actions", span, "a protocol line needs at least one action")
                    .hint("where an agent can do nothing, give it an action for that: `{none}`"),
            );
        }
        actions
    }

    /// `x = 1 and y = 2 if condition`, or `state if condition` in the papers' dialect.
    fn evolution(&mut self, agent: AgentId, line: &tree::Line) {
        let context = Context::Evolution(agent);
        let mut assignments = Assignments::new();
        let mut spans = Vec::new();
        let effect = self.tree.expr(line.effect);
        match effect.kind {
            Kind::Name(name) if self.is_papers() => {
                let variable = self.system.agent(agent).variables.first().copied();
                let name = self.resolve(name);
                if let Some((variable, name)) = variable.zip(name)
                    && self.local_state(variable, name, effect.span).is_some()
                {
                    let symbol = self.symbols[&name];
                    assignments.push((variable, self.system.exprs.symbol(symbol)));
                }
            }
            _ => self.assignments(line.effect, context, &mut assignments, &mut spans),
        }
        if self.system.meaning.assignment == Assignment::Single && assignments.len() > 1 {
            let message = "with SingleAssignment a line assigns one variable";
            self.report(
                Diagnostic::error("ispl/several-assignments", effect.span, message)
                    .hint("write one line for each, or choose `Semantics = MultiAssignment;`"),
            );
        }
        let condition = self.condition(line.condition, context);
        self.system.agents[agent.index()].evolution.push(Line { assignments, condition, span: line.span });
    }

    /// Lowers assignments; `spans` gets the span of each.
    fn assignments(
        &mut self,
        id: ExprId,
        context: Context,
        assignments: &mut Assignments,
        spans: &mut Vec<Span>,
    ) {
        let expr = self.tree.expr(id);
        match expr.kind {
            Kind::Chain { operands, ops } if self.tree.ops[ops as usize] == Op::And => {
                for &operand in self.tree.list(operands) {
                    self.assignments(operand, context, assignments, spans);
                }
            }
            Kind::Compare(masque_model::Relation::Equal, target, value) => {
                let Some(variable) = self.target(target, context) else { return };
                let span = self.tree.expr(target).span;
                if let Some(i) = assignments.iter().position(|(assigned, _)| *assigned == variable) {
                    let message =
                        format!("`{}` is assigned twice in one line", self.system.variable(variable).name);
                    self.report(
                        Diagnostic::error("ispl/assigned-twice", span, message)
                            .also(spans[i], "first assigned here")
                            .hint("of two lines with the same condition one is chosen"),
                    );
                }
                let value = self.assigned_value(variable, value, context);
                assignments.push((variable, value));
                spans.push(span);
            }
            Kind::Error => {}
            _ => {
                let message = "expected an assignment `variable = value`";
                self.report(
                    Diagnostic::error("ispl/not-an-assignment", expr.span, message)
                        .hint("assignments are joined by `and`; the condition is written after `if`"),
                );
            }
        }
    }

    fn target(&mut self, id: ExprId, context: Context) -> Option<VarId> {
        let expr = self.tree.expr(id);
        let Context::Evolution(agent) = context else { return None };
        let name = match expr.kind {
            Kind::Name(name) => name,
            Kind::Member(owner, name) => {
                let owner = self.agent_named(owner, expr.span, true)?;
                if owner != agent {
                    let (own, other) = (&self.system.agent(agent).name, &self.system.agent(owner).name);
                    let message = format!("agent `{own}` can change its own variables only");
                    let help = format!("move the line to agent `{other}`, where `{own}.Action` can be read");
                    self.report(Diagnostic::error("ispl/foreign-assignment", expr.span, message).hint(help));
                    return None;
                }
                name
            }
            Kind::Error => return None,
            _ => {
                let message = "expected a variable of the agent on the left of `=`";
                self.error("ispl/not-an-assignment", expr.span, message);
                return None;
            }
        };
        let symbol = self.resolve(name)?;
        match self.scopes[agent.index()].variables.get(&symbol) {
            Some(&variable) => Some(variable),
            None => {
                self.unknown_variable(agent, name.name, symbol, expr.span);
                None
            }
        }
    }

    /// Lowers the value assigned to a variable, and checks its type.
    fn assigned_value(&mut self, variable: VarId, id: ExprId, context: Context) -> Lowered {
        let target = self.variable(variable);
        let value = self.expr(id, context);
        let span = self.tree.expr(id).span;
        match (target.ty, value.ty) {
            (_, Type::Wrong) | (Type::Wrong, _) | (Type::Boolean, Type::Boolean) => {}
            (Type::Number(range), Type::Number(bounds)) => {
                if bounds.hi < range.lo || range.hi < bounds.lo {
                    let message = format!(
                        "this value always lies outside the variable's range {}..{}",
                        range.lo, range.hi
                    );
                    self.report(
                        Diagnostic::warning("ispl/always-overflows", span, message)
                            .also(self.system.variable(variable).span, "declared here")
                            .hint("a choice with such a value is removed: the line never takes effect"),
                    );
                }
            }
            (Type::Enumeration(e), Type::Word(word)) => {
                return self.value(e, word, id).unwrap_or(value.expr);
            }
            (Type::Enumeration(target), Type::Enumeration(source)) => {
                if !self.is_subset(source, target) {
                    let name = &self.system.variable(variable).name;
                    let message = format!("`{name}` does not have all values of the right-hand side");
                    let (has, needs) = (self.values_text(target), self.values_text(source));
                    self.report(
                        Diagnostic::error("ispl/values-not-contained", span, message)
                            .label(format!("one of {needs}"))
                            .also(self.system.variable(variable).span, format!("one of {has}")),
                    );
                }
            }
            (_, Type::Word(word)) => return self.unknown_name(word, span, context).expr,
            (expected, found) => {
                let name = &self.system.variable(variable).name;
                let message =
                    format!("`{name}` is {}, and this is {}", type_name(expected), type_name(found));
                self.report(
                    Diagnostic::error("ispl/type-mismatch", span, message)
                        .also(self.system.variable(variable).span, "declared here"),
                );
            }
        }
        value.expr
    }
}

/// Propositions, initial states, groups.
impl Checker<'_> {
    pub(super) fn evaluation(&mut self) {
        let Some(section) = &self.tree.sections.evaluation else { return };
        self.each_item(&section.items, &mut |checker, definition| {
            let pattern = &definition.pattern;
            if !pattern.indexes.is_empty() {
                checker.proposition_families.insert(pattern.name, pattern.span);
            }
            checker.each_name(pattern, &mut |checker, name| {
                let condition = checker.condition(definition.condition, Context::Global);
                let id = PropositionId(checker.system.propositions.len() as u32);
                let text = checker.names.text(name).to_string();
                if let Some(first) = checker.propositions.insert(name, id) {
                    let message = format!("proposition `{text}` is defined twice");
                    let first = checker.system.propositions[first.index()].span;
                    checker.report(
                        Diagnostic::error("ispl/duplicate-proposition", pattern.span, message)
                            .also(first, "first defined here"),
                    );
                }
                checker.system.propositions.push(Proposition { name: text, condition, span: pattern.span });
            });
        });
    }

    /// Reports a missing InitStates section as an error, and a missing Evaluation as a note.
    pub(super) fn missing_sections(&mut self) {
        // The end of the text without the white space after it.
        let n_bytes = self.sources.slice(self.tree.span).trim_end().len() as u32;
        let span = self.tree.span.slice(n_bytes, n_bytes);
        if self.tree.sections.init_states.is_none() {
            let message = "there is no `InitStates` section";
            self.report(Diagnostic::error("ispl/missing-section", span, message).hint(
                "add `InitStates .. end InitStates` after the agents; if this file is a part of a \
                         model, check the file that imports it",
            ));
        }
        if self.tree.sections.evaluation.is_none() {
            let message = "there is no `Evaluation` section, so formulas have no propositions";
            self.report(
                Diagnostic::note("ispl/no-evaluation", span, message)
                    .hint("formulas may still use conditions such as `Alice.x = 1`"),
            );
        }
    }

    pub(super) fn init_states(&mut self) {
        let Some(section) = &self.tree.sections.init_states else { return };
        match section.items {
            Some(condition) => self.system.initial = self.condition(condition, Context::Global),
            None => self.report(
                Diagnostic::error(
                    "ispl/missing-condition",
                    section.heading,
                    "`InitStates` needs a condition",
                )
                .hint("write `true;` to make every state initial")
                .fix("insert `true;`", section.heading.after(), " true;"),
            ),
        }
    }

    pub(super) fn group_definitions(&mut self) {
        let Some(section) = &self.tree.sections.groups else { return };
        self.each_item(&section.items, &mut |checker, group| {
            checker.each_name(&group.pattern, &mut |checker, name| {
                // A group without members is an error, but uses of its name are not.
                let agents = checker.members(&group.members, group.span);
                let text = checker.names.text(name).to_string();
                let id = checker.system.intern_group(Group { name: text, agents });
                if let Some((_, first)) = checker.groups.insert(name, (id, group.pattern.span)) {
                    let message = format!("group `{}` is defined twice", checker.names.text(name));
                    checker.report(
                        Diagnostic::error("ispl/duplicate-group", group.pattern.span, message)
                            .also(first, "first defined here"),
                    );
                }
            });
        });
    }

    /// Returns the agents of a set. The list is empty after an error, which was reported.
    pub(super) fn members(&mut self, members: &[Pattern], span: Span) -> Vec<AgentId> {
        let mut agents = Vec::new();
        let mut all_known = true;
        for pattern in members {
            self.each_name(pattern, &mut |checker, name| {
                let reference = tree::Ref { name, indexes: tree::List::EMPTY };
                match checker.agents.get(&name) {
                    Some(&agent) => agents.push(agent),
                    None => {
                        all_known = false;
                        if pattern.indexes.is_empty() {
                            checker.agent_named(reference, pattern.span, false);
                        } else {
                            checker.unknown_member(pattern, name);
                        }
                    }
                }
            });
        }
        agents.sort_unstable();
        agents.dedup();
        if agents.is_empty() && all_known && !self.is_incomplete {
            self.report(
                Diagnostic::error("ispl/empty-group", span, "a group needs at least one agent")
                    .hint("name its agents: `{Alice, Bob}`"),
            );
        }
        agents
    }

    fn unknown_member(&mut self, pattern: &Pattern, name: Symbol) {
        if self.is_incomplete {
            return;
        }
        let text = self.names.text(name);
        match self.families.get(&pattern.name) {
            Some(&family) => {
                let message = format!("the family has no member `{text}`");
                self.report(
                    Diagnostic::error("ispl/index-out-of-range", pattern.span, message)
                        .also(family, "the family is declared here"),
                );
            }
            None => {
                let message = format!("there is no agent `{text}`");
                let help = self.suggest_or_list(pattern.name, self.agents.keys(), "the agents are");
                self.report(Diagnostic::error("ispl/unknown-agent", pattern.span, message).help(help));
            }
        }
    }
}
