//! The uses of names in the bodies of all sections, by the rules of the checker.

use masque_text::{NameKind, Span};

use super::{Indexer, New};
use crate::tree::{
    Agent, ExprId, Index, Item, Kind, Line, Modality, Party, Pattern, ProtocolLine, Ref, Symbol, Type,
};

/// The place of an expression, which determines what its names mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A section of the agent with this scope.
    Agent(usize),
    /// Evaluation and InitStates.
    Global,
    /// A formula.
    Formula,
    /// A comparison or a condition on a step in a formula.
    InFormula,
    /// A range or an index.
    Constant,
}

/// Sections.
impl<'t> Indexer<'t> {
    pub(super) fn bodies(&mut self) {
        let tree = self.tree;
        for param in &tree.sections.params {
            param.value.inspect(|value| self.expr(*value, Place::Constant));
        }
        for agent in &tree.sections.agents {
            self.agent(agent);
        }
        if let Some(section) = &tree.sections.evaluation {
            self.items(&section.items, &mut |indexer, definition| {
                indexer.parent = indexer.propositions.get(&definition.pattern.name).copied();
                let n_bound = indexer.open_pattern(&definition.pattern);
                indexer.expr(definition.condition, Place::Global);
                indexer.close_pattern(n_bound);
            });
        }
        if let Some(condition) = tree.sections.init_states.as_ref().and_then(|section| section.items) {
            self.expr(condition, Place::Global);
        }
        if let Some(section) = &tree.sections.groups {
            self.items(&section.items, &mut |indexer, group| {
                indexer.parent = indexer.groups.get(&group.pattern.name).copied();
                let n_bound = indexer.open_pattern(&group.pattern);
                indexer.agents_in(&group.members);
                indexer.close_pattern(n_bound);
            });
        }
        for section in [&tree.sections.fairness, &tree.sections.formulae].into_iter().flatten() {
            self.items(&section.items, &mut |indexer, line| {
                let label = line.label.as_ref();
                indexer.parent = label.and_then(|label| indexer.properties.get(&label.name).copied());
                let n_bound = label.map_or(0, |label| indexer.open_pattern(label));
                indexer.expr(line.formula, Place::Formula);
                indexer.close_pattern(n_bound);
            });
        }
        self.parent = None;
    }

    fn agent(&mut self, agent: &'t Agent) {
        let Some(scope) = self.scope_of(&agent.pattern) else { return };
        let place = Place::Agent(scope);
        let declaration = Some(self.scopes[scope].declaration);
        self.parent = declaration;
        let n_bound = self.open_pattern(&agent.pattern);
        let own = self.indexes[self.indexes.len() - n_bound..].to_vec();
        self.scopes[scope].indexes.extend(own);
        for section in [&agent.obsvars, &agent.vars].into_iter().flatten() {
            self.items(&section.items, &mut |indexer, variable| {
                indexer.parent = indexer.scopes[scope].variables.get(&variable.pattern.name).copied();
                let n_bound = indexer.open_pattern(&variable.pattern);
                indexer.type_names(&variable.ty);
                indexer.close_pattern(n_bound);
                indexer.parent = declaration;
            });
        }
        if let Some(section) = &agent.lobsvars {
            self.lobsvars(scope, &section.items);
        }
        for pattern in
            [&agent.actions, &agent.lstate].into_iter().flatten().flat_map(|section| &section.items)
        {
            self.indexes_of(pattern);
        }
        if let Some(section) = &agent.lgreen {
            for pattern in &section.items {
                self.local_state(scope, pattern.name, pattern.span);
                self.indexes_of(pattern);
            }
        }
        if let Some(condition) = agent.red_states.as_ref().and_then(|section| section.items) {
            self.expr(condition, place);
        }
        if let Some(section) = &agent.protocol {
            self.items(&section.items, &mut |indexer, line| indexer.protocol_line(scope, line));
        }
        if let Some(section) = &agent.evolution {
            self.items(&section.items, &mut |indexer, line| indexer.evolution_line(scope, line));
        }
        self.close_pattern(n_bound);
        self.parent = None;
    }

    fn type_names(&mut self, ty: &'t Type) {
        match ty {
            Type::Boolean => {}
            Type::Range(lo, hi) => {
                self.expr(*lo, Place::Constant);
                self.expr(*hi, Place::Constant);
            }
            Type::Enumeration(values) => values.iter().for_each(|value| self.indexes_of(value)),
        }
    }

    fn lobsvars(&mut self, scope: usize, patterns: &'t [Pattern]) {
        for pattern in patterns {
            let seen = self.environment.and_then(|at| self.scopes[at].variables.get(&pattern.name).copied());
            if let Some(seen) = seen {
                self.use_at(seen, pattern.name, pattern.span);
                let observer = self.scopes[scope].declaration;
                self.observers.entry(seen).or_default().push(observer);
            }
            self.indexes_of(pattern);
        }
    }

    fn protocol_line(&mut self, scope: usize, line: &'t ProtocolLine) {
        match self.tree.expr(line.condition).kind {
            Kind::Name(name) if self.word_lstate.is_some() => self.state_name(scope, name, line.condition),
            _ => self.expr(line.condition, Place::Agent(scope)),
        }
        for pattern in &line.actions {
            self.action(scope, pattern.name, pattern.span);
            self.indexes_of(pattern);
        }
    }

    fn evolution_line(&mut self, scope: usize, line: &'t Line) {
        match self.tree.expr(line.effect).kind {
            Kind::Name(name) if self.word_lstate.is_some() => self.state_name(scope, name, line.effect),
            _ => self.expr(line.effect, Place::Agent(scope)),
        }
        self.expr(line.condition, Place::Agent(scope));
    }

    /// Adds the uses in a local state that stands alone, in the dialect of the papers.
    fn state_name(&mut self, scope: usize, name: Ref, id: ExprId) {
        self.local_state(scope, name.name, self.tree.expr(id).span);
        self.constants(name);
    }

    pub(super) fn local_state(&mut self, scope: usize, name: Symbol, at: Span) {
        if let Some(states) = self.scopes[scope].local_states
            && self.enumerations.has(states, name)
        {
            self.enumerations.add_use(states, name, at);
        }
    }

    pub(super) fn action(&mut self, scope: usize, name: Symbol, at: Span) {
        if let Some(&action) = self.scopes[scope].actions.get(&name) {
            self.use_at(action, name, at);
        }
    }

    fn agents_in(&mut self, members: &[Pattern]) {
        for pattern in members {
            self.agent_name(pattern.name, pattern.span);
            self.indexes_of(pattern);
        }
    }

    /// Adds the use of an agent's name. Returns its scope.
    pub(super) fn agent_name(&mut self, name: Symbol, at: Span) -> Option<usize> {
        let scope = *self.agents.get(&name)?;
        self.use_at(self.scopes[scope].declaration, name, at);
        Some(scope)
    }
}

/// Index variables.
impl<'t> Indexer<'t> {
    fn items<T>(&mut self, items: &'t [Item<T>], one: &mut impl FnMut(&mut Self, &'t T)) {
        for item in items {
            match item {
                Item::One(statement) => one(self, statement),
                Item::For { binder, items, .. } => {
                    self.bind(*binder);
                    self.items(items, one);
                    self.indexes.pop();
                }
            }
        }
    }

    /// Brings an index variable into scope. The caller removes it.
    fn bind(&mut self, binder: u32) {
        let binder = self.tree.binders[binder as usize];
        self.expr(binder.lo, Place::Constant);
        self.expr(binder.hi, Place::Constant);
        let new = New { name: binder.name, at: binder.span, whole: binder.span, parent: self.parent };
        let declaration = self.declare(NameKind::Index, new);
        self.indexes.push((binder.name, declaration));
        if let Some(condition) = binder.condition {
            self.expr(condition, Place::Constant);
        }
    }

    /// Adds the uses in the indexes of a pattern, and brings its index variables into scope. Returns their number.
    fn open_pattern(&mut self, pattern: &Pattern) -> usize {
        let mut n_bound = 0;
        for index in &pattern.indexes {
            match *index {
                Index::At(index) => self.expr(index, Place::Constant),
                Index::Each(binder) => {
                    self.bind(binder);
                    n_bound += 1;
                }
            }
        }
        n_bound
    }

    fn close_pattern(&mut self, n_bound: usize) {
        self.indexes.truncate(self.indexes.len() - n_bound);
    }

    fn indexes_of(&mut self, pattern: &Pattern) {
        let n_bound = self.open_pattern(pattern);
        self.close_pattern(n_bound);
    }

    fn constants(&mut self, name: Ref) {
        let tree = self.tree;
        for &index in tree.list(name.indexes) {
            self.expr(index, Place::Constant);
        }
    }
}

/// Expressions.
impl Indexer<'_> {
    fn expr(&mut self, id: ExprId, place: Place) {
        self.operand(id, place, None);
    }

    /// Adds the uses in an expression that is compared with a value of an enumeration, if there is one.
    fn operand(&mut self, id: ExprId, place: Place, other: Option<u32>) {
        let tree = self.tree;
        let expr = tree.expr(id);
        match expr.kind {
            Kind::Bool(_) | Kind::Number(_) | Kind::Error => {}
            Kind::Name(name) => {
                self.plain_name(name, expr.span, place, other);
                self.constants(name);
            }
            Kind::Member(agent, name) => self.member(agent, name, expr.span),
            Kind::Not(a) | Kind::BitNot(a) | Kind::Negate(a) | Kind::Temporal(_, a) | Kind::Path(_, a) => {
                self.expr(a, place);
            }
            Kind::Compare(_, a, b) => self.comparison(a, b, place),
            Kind::Chain { operands, .. } => tree.list(operands).iter().for_each(|a| self.expr(*a, place)),
            Kind::Count(conditions) => tree.list(conditions).iter().for_each(|a| self.expr(*a, place)),
            Kind::Call(_, list) => tree.list(list).iter().for_each(|a| self.expr(*a, Place::Constant)),
            Kind::Aggregate(_, binder, body) => {
                self.bind(binder);
                self.expr(body, place);
                self.indexes.pop();
            }
            Kind::Modal(index) => {
                let modal = &tree.modals[index as usize];
                for (position, party) in modal.parties.iter().enumerate() {
                    let is_single =
                        matches!(modal.modality, Modality::Knows | Modality::Correct | Modality::KnowsUnder);
                    self.party(party, is_single && position == 0);
                }
                self.expr(modal.body, place);
            }
            Kind::Step(_, condition, body) => {
                self.expr(condition, Place::InFormula);
                self.expr(body, place);
            }
            Kind::Fixpoint(index) => self.fixpoint(index, expr.span, place),
        }
    }

    fn fixpoint(&mut self, index: u32, whole: Span, place: Place) {
        let fixpoint = self.tree.fixpoints[index as usize];
        let new = New { name: fixpoint.name, at: fixpoint.name_span, whole, parent: self.parent };
        let declaration = self.declare(NameKind::Fixpoint, new);
        self.fixpoints.push((fixpoint.name, declaration));
        self.expr(fixpoint.body, place);
        self.fixpoints.pop();
    }

    fn party(&mut self, party: &Party, is_single: bool) {
        match party {
            Party::Set(members, _) => {
                self.agents_in(members);
            }
            Party::Named(name, span) => {
                let is_agent = self.agents.contains_key(&name.name);
                match self.groups.get(&name.name).copied() {
                    Some(group) if !(is_single && is_agent) => self.use_at(group, name.name, *span),
                    _ => _ = self.agent_name(name.name, *span),
                }
                self.constants(*name);
            }
        }
    }

    fn comparison(&mut self, a: ExprId, b: ExprId, place: Place) {
        let place = if place == Place::Formula { Place::InFormula } else { place };
        for (action, name) in [(a, b), (b, a)] {
            let Some(owner) = self.actor(action, place) else { continue };
            self.expr(action, place);
            let name = self.tree.expr(name);
            if let Kind::Name(action) = name.kind {
                self.action(owner, action.name, name.span);
                self.constants(action);
            }
            return;
        }
        let (left, right) = (self.enumeration_of(a, place), self.enumeration_of(b, place));
        if let (Some(left), Some(right)) = (left, right) {
            self.enumerations.unite(left, right);
        }
        self.operand(a, place, right);
        self.operand(b, place, left);
    }

    /// Returns the scope of the agent whose action this expression is: `Action`, `Agent.Action`.
    fn actor(&self, id: ExprId, place: Place) -> Option<usize> {
        let is_action = |name: Ref| Some(name.name) == self.word_action && name.indexes.len == 0;
        let scope = match (self.tree.expr(id).kind, place) {
            (Kind::Name(name), Place::Agent(scope)) if is_action(name) => scope,
            (Kind::Member(agent, name), _) if is_action(name) => *self.agents.get(&agent.name)?,
            _ => return None,
        };
        let is_variable =
            self.word_action.is_some_and(|word| self.scopes[scope].variables.contains_key(&word));
        (!is_variable).then_some(scope)
    }

    /// Returns the enumeration of the variable that an expression is, if it is one of an enumeration.
    fn enumeration_of(&self, id: ExprId, place: Place) -> Option<u32> {
        let (scope, name) = match (self.tree.expr(id).kind, place) {
            (Kind::Name(name), Place::Agent(scope)) => (scope, name.name),
            (Kind::Member(agent, name), _) => (*self.agents.get(&agent.name)?, name.name),
            _ => return None,
        };
        self.enumeration_in(scope, name)
    }

    /// Returns the enumeration of a variable of an agent.
    pub(super) fn enumeration_in(&self, scope: usize, name: Symbol) -> Option<u32> {
        match self.scopes[scope].variables.get(&name) {
            Some(variable) => self.variable_enums.get(variable).copied(),
            None if Some(name) == self.word_lstate => self.scopes[scope].local_states,
            None => None,
        }
    }

    /// Adds the use of a name without an agent: an index, a variable of the agent, a parameter, a proposition, or
    /// a value of the enumeration on the other side of a comparison.
    pub(super) fn plain_name(&mut self, name: Ref, span: Span, place: Place, other: Option<u32>) {
        let symbol = name.name;
        let bound =
            |names: &[(Symbol, u32)]| names.iter().rev().find(|(one, _)| *one == symbol).map(|one| one.1);
        let proposition = self.propositions.get(&symbol).copied();
        if place == Place::Formula {
            let fixpoint = bound(&self.fixpoints).filter(|_| name.indexes.len == 0);
            if let Some(found) = fixpoint.or(proposition) {
                return self.use_at(found, symbol, span);
            }
        }
        let own = match place {
            Place::Agent(scope) => self.scopes[scope].variables.get(&symbol).copied(),
            _ => None,
        };
        let constant = || bound(&self.indexes).or_else(|| self.parameters.get(&symbol).copied());
        if let Some(found) = own.or_else(constant) {
            return self.use_at(found, symbol, span);
        }
        match other {
            Some(values) if self.enumerations.has(values, symbol) => {
                self.enumerations.add_use(values, symbol, span);
            }
            _ => {
                if let (Place::InFormula, Some(found)) = (place, proposition) {
                    self.use_at(found, symbol, span);
                }
            }
        }
    }

    /// Adds the uses in `Agent.name`.
    fn member(&mut self, agent: Ref, name: Ref, span: Span) {
        if let Some(scope) = self.agent_name(agent.name, span)
            && let Some(&variable) = self.scopes[scope].variables.get(&name.name)
        {
            let at = self.after_dot(agent, name, span);
            self.use_at(variable, name.name, at);
        }
        self.constants(agent);
        self.constants(name);
    }

    /// Returns the location of the second name of `Agent.name`.
    fn after_dot(&self, agent: Ref, name: Ref, span: Span) -> Span {
        if name.indexes.len == 0 {
            let length = self.names.text(name.name).len() as u32;
            return Span { start: span.end - length, end: span.end };
        }
        // Only white space, comments and the indexes of the agent stand before the `.`.
        let text = self.sources.slice(span);
        let bytes = text.as_bytes();
        let (mut at, mut depth, mut is_after_dot) = (self.names.text(agent.name).len(), 0u32, false);
        while at < bytes.len() {
            match bytes[at] {
                b'-' if bytes[at..].starts_with(b"--") => {
                    at += text[at..].find('\n').unwrap_or(bytes.len() - at);
                    continue;
                }
                b'[' => depth += 1,
                b']' => depth = depth.saturating_sub(1),
                b'.' if depth == 0 => is_after_dot = true,
                byte if is_after_dot && !byte.is_ascii_whitespace() => break,
                _ => {}
            }
            at += 1;
        }
        Span { start: span.start + at as u32, end: span.end }
    }
}
