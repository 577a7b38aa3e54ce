//! Formulas: fairness constraints and properties.

use masque_model::{At, Formula, FormulaId, Group, GroupId, Paths, Property, SentenceId};
use masque_text::{Diagnostic, Fix, Span};
use rustc_hash::FxHashMap;

use super::Checker;
use super::expr::Context;
use super::fixpoint::Sign;
use crate::tree::{
    Aggregate, ExprId, FormulaLine, Index, Item, Kind, Logic, Modal, Modality, Op, Party, Pattern,
    Quantifier, Ref, Temporal,
};

/// A lowered formula.
#[derive(Clone, Copy)]
pub(super) struct Lowered {
    pub(super) id: FormulaId,
    /// Whether a temporal operator is outside all path quantifiers, so that this is a path formula.
    is_path: bool,
}

impl Checker<'_> {
    pub(super) fn fairness(&mut self) {
        let Some(section) = &self.tree.sections.fairness else { return };
        self.each_item(&section.items, &mut |checker, line: &FormulaLine| {
            if line.logic != Logic::State {
                let message = "a fairness constraint is a state formula";
                checker.error("ispl/wrong-logic", line.span, message);
                return;
            }
            let formula = checker.formula(line.formula, Paths::Ctl);
            checker.system.fairness.push(formula.id);
        });
    }

    pub(super) fn properties(&mut self) {
        let tree = self.tree;
        if let Some(section) = &tree.sections.formulae {
            self.formulas(&section.items);
        }
        self.formulas(&tree.extra);
        self.titles();
        if self.system.properties.is_empty() && self.n_errors == 0 {
            let span = tree.sections.formulae.as_ref().map_or(tree.span.after(), |section| section.heading);
            self.report(
                Diagnostic::note(
                    "ispl/no-formulas",
                    span,
                    "there is nothing to check: the file has no formulas",
                )
                .hint("add a `Formulae` section, or use `--property 'AG p'`"),
            );
        }
    }

    fn formulas(&mut self, items: &[Item<FormulaLine>]) {
        for item in items {
            let n_before = self.system.properties.len();
            let alone = std::slice::from_ref(item);
            self.each_item(alone, &mut |checker, line: &FormulaLine| checker.property(line));
            let is_empty = self.system.properties.len() == n_before && self.n_errors == 0;
            if let Item::For { span, .. } = item
                && is_empty
                && !self.is_incomplete
            {
                self.report(
                    Diagnostic::note("ispl/empty-family", *span, "no formula of this `for` is checked")
                        .label("its range is empty"),
                );
            }
        }
    }

    fn property(&mut self, line: &FormulaLine) {
        self.aggregates.clear();
        self.is_in_property = true;
        let formula = match line.logic {
            Logic::State => self.formula(line.formula, Paths::Ctl),
            Logic::CtlStar => self.formula(line.formula, Paths::Infinite),
            Logic::Ltl => {
                let path = self.formula(line.formula, Paths::Infinite);
                self.add(Formula::Forall(Paths::Infinite, path.id))
            }
        };
        if formula.is_path {
            let message = "a temporal operator is not under an `A`, an `E` or a knowledge operator";
            self.report(
                Diagnostic::error("ispl/not-a-state-formula", line.span, message)
                    .hint("begin the formula with `LTL` instead of `CTL*`, or put an `A` before it"),
            );
        }
        let default = if self.is_papers() { At::Reachable } else { At::Initial };
        let position = self.system.properties.len() + 1;
        // A label begins with a letter, so it is never the number of another property.
        let name = match &line.label {
            Some(label) => self.label(label, line.span),
            None => position.to_string(),
        };
        let at = self.options.at.unwrap_or(default);
        let index = self.bindings.iter().map(|(name, value)| (self.names.text(*name).to_string(), *value));
        let (index, empty_aggregates) = (index.collect(), self.empty_aggregates());
        let property = Property::new(name, formula.id, at, line.span);
        let written = Some(self.written(line.formula_span, formula.id));
        self.system.properties.push(Property { index, written, empty_aggregates, ..property });
    }

    /// Returns the keywords of the aggregates of the current formula that have no member in any instance.
    fn empty_aggregates(&self) -> Vec<&'static str> {
        let empty = self.aggregates.iter().filter(|(_, n_members)| **n_members == 0);
        let mut words: Vec<&'static str> = empty
            .map(|(&id, _)| match self.tree.expr(ExprId(id)).kind {
                Kind::Aggregate(Aggregate::Exists, ..) => "exists",
                _ => "forall",
            })
            .collect();
        words.sort_unstable();
        words.dedup();
        words
    }

    /// Sets the titles of properties: instances of one formula in a loop that share a name get their
    /// index values added.
    fn titles(&mut self) {
        let mut uses: FxHashMap<String, usize> = FxHashMap::default();
        for property in &self.system.properties {
            *uses.entry(property.name.clone()).or_default() += 1;
        }
        for property in self.system.properties.iter_mut().filter(|p| uses[&p.name] > 1) {
            let index: Vec<String> = property.index.iter().map(|(name, v)| format!("{name}={v}")).collect();
            property.title = format!("{}[{}]", property.name, index.join(","));
        }
    }

    /// Returns the name of a property whose formula has the span `line`.
    fn label(&mut self, label: &Pattern, line: Span) -> String {
        if label.indexes.iter().any(|index| matches!(index, Index::Each(_))) {
            let message = "a label with a range would name several properties, and there is one formula";
            self.report(
                Diagnostic::error("ispl/label-with-range", label.span, message)
                    .hint("put the formula into a `for`: `for i in 1..N { name[i] : .. ; }`"),
            );
        }
        let mut name = String::new();
        self.each_name(label, &mut |checker, symbol| name = checker.names.text(symbol).to_string());
        let first = *self.labels.entry(name.clone()).or_insert(line);
        if first != line {
            let message = format!("two properties are called `{name}`");
            self.report(
                Diagnostic::error("ispl/duplicate-label", label.span, message)
                    .also(first, "the first one")
                    .hint("give each its own name; only instances of one formula in a `for` share a name"),
            );
        }
        name
    }

    pub(super) fn add(&mut self, formula: Formula<'_>) -> Lowered {
        let is_path = formula.is_temporal();
        Lowered { id: self.system.formulas.add(formula), is_path }
    }

    /// Ends the wording of a property that was read at `span`.
    fn written(&mut self, span: Span, formula: FormulaId) -> SentenceId {
        self.is_in_property = false;
        let (text, names) = (self.sources.slice(span), &self.names);
        let bindings = self.bindings.iter().map(|(name, value)| (names.text(*name), *value));
        self.system.wording.add_part(formula.index(), span, bindings.clone());
        self.system.wording.add_property(text, span, bindings)
    }

    pub(super) fn formula(&mut self, id: ExprId, paths: Paths) -> Lowered {
        self.count_lowered();
        let lowered = self.lower(id, paths);
        if self.is_in_property {
            let (span, names) = (self.tree.expr(id).span, &self.names);
            let bindings = self.bindings.iter().map(|(name, value)| (names.text(*name), *value));
            self.system.wording.add_part(lowered.id.index(), span, bindings);
        }
        lowered
    }

    fn lower(&mut self, id: ExprId, paths: Paths) -> Lowered {
        let expr = self.tree.expr(id);
        match expr.kind {
            Kind::Bool(value) => self.add(Formula::Bool(value)),
            Kind::Name(name) => match self.bound(name, expr.span) {
                Some(bound) => bound,
                None => self.proposition(id, name, expr.span),
            },
            Kind::Member(agent, name) => self.member_formula(id, agent, name, expr.span),
            Kind::Compare(..) => self.condition_formula(id),
            Kind::Not(a) => {
                let a = self.under(Sign::negated, |checker| checker.formula(a, paths));
                match self.system.formulas.get(a.id) {
                    Formula::Bool(value) if !self.bindings.is_empty() => self.add(Formula::Bool(!value)),
                    _ => Lowered { is_path: a.is_path, ..self.add(Formula::Not(a.id)) },
                }
            }
            Kind::Chain { operands, ops } => self.chain(id, self.tree.list(operands), ops, paths),
            Kind::Aggregate(aggregate @ (Aggregate::Forall | Aggregate::Exists), binder, body) => {
                let mut parts = Vec::new();
                self.each(binder, |checker| parts.push(checker.formula(body, paths)));
                *self.aggregates.entry(id.0).or_default() += parts.len();
                self.formula_junction(parts, aggregate == Aggregate::Forall, true)
            }
            Kind::Path(quantifier, path) => {
                let path = self.formula(path, paths);
                match quantifier {
                    Quantifier::All => self.add(Formula::Forall(paths, path.id)),
                    Quantifier::Some => self.add(Formula::Exists(paths, path.id)),
                }
            }
            Kind::Temporal(temporal, a) => {
                let a = self.formula(a, paths).id;
                self.add(match temporal {
                    Temporal::Next => Formula::Next(a),
                    Temporal::Finally => Formula::Finally(a),
                    Temporal::Globally => Formula::Globally(a),
                })
            }
            Kind::Modal(index) => self.modal(&self.tree.modals[index as usize], paths),
            Kind::Step(quantifier, condition, body) => {
                let (condition, body) =
                    (self.condition(condition, Context::Step), self.formula(body, paths).id);
                self.add(match quantifier {
                    Quantifier::All => Formula::ForallStep(condition, body),
                    Quantifier::Some => Formula::ExistsStep(condition, body),
                })
            }
            Kind::Fixpoint(index) => self.fixpoint(&self.tree.fixpoints[index as usize], paths),
            Kind::Error => self.add(Formula::Bool(false)),
            Kind::BitNot(_) => {
                let span = self.tree.expr(id).span;
                let is_sign = self.sources.slice(span).starts_with('~');
                let edits = vec![(span.slice(0, 1), "!".to_string())];
                let fix = is_sign.then(|| Fix { title: "write `!`".to_string(), edits });
                self.not_a_formula_with(id, "write `!` for negation in formulas", fix)
            }
            _ => self.not_a_formula(id, "compare it with a value to make it a condition"),
        }
    }

    fn not_a_formula(&mut self, id: ExprId, help: &str) -> Lowered {
        self.not_a_formula_with(id, help, None)
    }

    fn not_a_formula_with(&mut self, id: ExprId, help: &str, fix: Option<Fix>) -> Lowered {
        let message = "expected a formula, found an expression";
        let diagnostic = Diagnostic::error("ispl/not-a-formula", self.tree.expr(id).span, message).hint(help);
        self.report(Diagnostic { fix, ..diagnostic });
        self.add(Formula::Bool(false))
    }

    /// Returns the fix that replaces the bit operators between operands by those of formulas.
    fn logical_signs(&self, operands: &[ExprId], op: Op) -> Option<Fix> {
        let (sign, word) = match op {
            Op::BitAnd => ("&", "and"),
            Op::BitOr => ("|", "or"),
            _ => return None,
        };
        let edit = |pair: &[ExprId]| {
            let (left, right) = (self.tree.expr(pair[0]).span, self.tree.expr(pair[1]).span);
            let between = Span { start: left.end, end: right.start };
            let text = if left.end < right.start { self.sources.slice(between) } else { "" };
            let at = text.find(sign)?;
            let is_plain = text.chars().all(|c| c.is_whitespace() || "()".contains(c) || sign.contains(c));
            let place = between.slice(at as u32, at as u32 + 1);
            is_plain.then(|| (place, spaced(word, &text[..at], &text[at + 1..])))
        };
        let edits = operands.windows(2).map(edit).collect::<Option<Vec<_>>>()?;
        Some(Fix { title: format!("write `{word}`"), edits })
    }

    fn proposition(&mut self, id: ExprId, reference: Ref, span: Span) -> Lowered {
        let Some(name) = self.resolve(reference) else { return self.add(Formula::Bool(false)) };
        if let Some(&proposition) = self.propositions.get(&name) {
            return self.add(Formula::Proposition(proposition));
        }
        if self.binding(name).is_some() {
            return self.not_a_formula(id, "compare it with a value to make it a condition");
        }
        if self.is_incomplete && reference.indexes.len > 0 {
            return self.add(Formula::Bool(false));
        }
        let text = self.names.text(name);
        if let Some(&family) = self.proposition_families.get(&reference.name) {
            let (code, message) = match reference.indexes.len {
                0 => (
                    "ispl/wrong-index-count",
                    format!("`{text}` is a family of propositions and needs an index"),
                ),
                _ => ("ispl/index-out-of-range", format!("the family has no proposition `{text}`")),
            };
            self.report(Diagnostic::error(code, span, message).also(family, "the family is defined here"));
        } else {
            let message = format!("there is no proposition `{text}`");
            let help = self
                .with_owner(name)
                .or_else(|| self.suggest_or_list(name, self.propositions.keys(), "the propositions are"))
                .or_else(|| {
                    let none = self.propositions.is_empty();
                    none.then(|| format!("define it: `Evaluation {text} if ..; end Evaluation`"))
                });
            let label = match &self.tree.sections.evaluation {
                Some(section) if section.items.is_empty() => "Evaluation is empty",
                Some(_) => "not defined in Evaluation",
                None => "there is no Evaluation",
            };
            self.report(Diagnostic::error("ispl/unknown-proposition", span, message).label(label).help(help));
        }
        self.add(Formula::Bool(false))
    }

    /// Lowers `Agent.GreenStates`, `Agent.RedStates`, or a boolean variable.
    fn member_formula(&mut self, id: ExprId, agent: Ref, name: Ref, span: Span) -> Lowered {
        let word = self.names.text(name.name);
        let is_green = word == "GreenStates";
        if !is_green && word != "RedStates" {
            return self.condition_formula(id);
        }
        let Some(owner) = self.agent_named(agent, span, true) else { return self.add(Formula::Bool(false)) };
        if let Some(&variable) = self.scopes[owner.index()].variables.get(&name.name) {
            let declared = self.system.variable(variable).span;
            let message = format!("`{}` is both a variable and a set of states", self.names.text(name.name));
            self.report(
                Diagnostic::error("ispl/ambiguous-name", span, message)
                    .also(declared, "the variable")
                    .hint("rename the variable"),
            );
        }
        self.add(if is_green { Formula::Green(owner) } else { Formula::Red(owner) })
    }

    /// Lowers a condition on the state, or on indexes only.
    fn condition_formula(&mut self, id: ExprId) -> Lowered {
        let condition = self.condition(id, Context::Formula);
        match self.system.exprs.get(condition) {
            masque_model::Expr::Bool(value) => self.add(Formula::Bool(value)),
            _ => self.add(Formula::Condition(condition)),
        }
    }

    fn chain(&mut self, id: ExprId, operands: &[ExprId], ops: u32, paths: Paths) -> Lowered {
        let tree = self.tree;
        let op = tree.ops[ops as usize];
        if op.level() > Op::UNTIL {
            let help = match op {
                Op::BitAnd => "write `and` in formulas",
                Op::BitOr => "write `or` in formulas",
                Op::BitXor => "write `!(a <-> b)` in formulas",
                _ => "compare it with a value to make it a condition",
            };
            return self.not_a_formula_with(id, help, self.logical_signs(operands, op));
        }
        let mut parts = Vec::with_capacity(operands.len());
        for (position, &operand) in operands.iter().enumerate() {
            let is_left = position + 1 < operands.len();
            parts.push(match op {
                Op::Implies if is_left => self.under(Sign::negated, |c| c.formula(operand, paths)),
                Op::Iff => self.under(|_| Sign::Both, |c| c.formula(operand, paths)),
                _ => self.formula(operand, paths),
            });
        }
        let mut fold = |parts: &mut dyn Iterator<Item = (Lowered, Op)>, first: Lowered| {
            parts.fold(first, |left, (right, op)| {
                let formula = match op {
                    Op::Until => Formula::Until(left.id, right.id),
                    Op::WeakUntil => Formula::WeakUntil(left.id, right.id),
                    Op::Release => Formula::Release(left.id, right.id),
                    Op::Iff => Formula::Iff(left.id, right.id),
                    // The caller folds implications from the right.
                    _ => Formula::Implies(right.id, left.id),
                };
                let added = self.add(formula);
                Lowered { is_path: added.is_path || left.is_path || right.is_path, ..added }
            })
        };
        let ops = &tree.ops[ops as usize..ops as usize + parts.len() - 1];
        match op {
            Op::And | Op::Or => self.formula_junction(parts, op == Op::And, !self.bindings.is_empty()),
            Op::Implies => {
                let last = parts[parts.len() - 1];
                fold(&mut parts[..parts.len() - 1].iter().rev().map(|&part| (part, Op::Implies)), last)
            }
            _ => fold(&mut parts[1..].iter().copied().zip(ops.iter().copied()), parts[0]),
        }
    }

    /// Lowers a conjunction or disjunction. With `simplify`, constant operands, which come from
    /// conditions on indexes, are removed.
    fn formula_junction(&mut self, mut parts: Vec<Lowered>, is_and: bool, simplify: bool) -> Lowered {
        if simplify {
            let value = |checker: &Self, part: &Lowered| match checker.system.formulas.get(part.id) {
                Formula::Bool(value) => Some(value),
                _ => None,
            };
            if parts.iter().any(|part| value(self, part) == Some(!is_and)) {
                return self.add(Formula::Bool(!is_and));
            }
            parts.retain(|part| value(self, part) != Some(is_and));
            match parts[..] {
                [] => return self.add(Formula::Bool(is_and)),
                [only] => return only,
                _ => {}
            }
        }
        let is_path = parts.iter().any(|part| part.is_path);
        let ids: Vec<FormulaId> = parts.iter().map(|part| part.id).collect();
        let added = self.add(if is_and { Formula::And(&ids) } else { Formula::Or(&ids) });
        Lowered { is_path, ..added }
    }

    fn modal(&mut self, modal: &Modal, paths: Paths) -> Lowered {
        let body = self.formula(modal.body, paths);
        // A knowledge operator is about states: a path formula under it is about all paths.
        let state = if body.is_path && !matches!(modal.modality, Modality::Enforces(_)) {
            self.add(Formula::Forall(paths, body.id)).id
        } else {
            body.id
        };
        let [first, ..] = &modal.parties[..] else { return body };
        let formula = match modal.modality {
            Modality::Knows | Modality::Correct | Modality::KnowsUnder => {
                let Some(agent) = self.single(first, modal.modality) else {
                    return self.add(Formula::Bool(false));
                };
                match (modal.modality, modal.parties.get(1)) {
                    (Modality::Correct, _) => Formula::Correct(agent, state),
                    (Modality::KnowsUnder, Some(under)) => {
                        let Some(group) = self.group(under) else { return self.add(Formula::Bool(false)) };
                        Formula::KnowsUnder(agent, group, state)
                    }
                    _ => Formula::Knows(agent, state),
                }
            }
            modality => {
                let Some(group) = self.group(first) else { return self.add(Formula::Bool(false)) };
                match modality {
                    Modality::EveryoneKnows => Formula::EveryoneKnows(group, state),
                    Modality::DistributedKnowledge => Formula::DistributedKnowledge(group, state),
                    Modality::CommonKnowledge => Formula::CommonKnowledge(group, state),
                    Modality::Enforces(strategies) => {
                        let strategies = strategies.unwrap_or(self.system.default_strategies);
                        Formula::Enforces(group, strategies, body.id)
                    }
                    _ => return body,
                }
            }
        };
        self.add(formula)
    }

    /// Returns the agent of `K`, `O` or `KH`.
    fn single(&mut self, party: &Party, modality: Modality) -> Option<masque_model::AgentId> {
        let (span, agents) = match party {
            Party::Named(name, span) => {
                let symbol = self.resolve(*name)?;
                if let (Some(&(group, _)), false) =
                    (self.groups.get(&symbol), self.agents.contains_key(&symbol))
                {
                    (*span, self.system.groups[group.index()].agents.clone())
                } else {
                    return self.agent_named(*name, *span, false);
                }
            }
            Party::Set(members, span) => (*span, self.members(members, *span)),
        };
        if let [only] = agents[..] {
            return Some(only);
        }
        if !agents.is_empty() {
            let message = format!("`{}` is about one agent, and this is a group", modality.word());
            self.report(
                Diagnostic::error("ispl/not-an-agent", span, message)
                    .hint("for groups there are `GK` (everyone knows), `DK` (together they know) and `GCK` (it is common knowledge)"),
            );
        }
        None
    }

    /// Returns the group of an operator, given by name, as a single agent, or as a set in braces.
    fn group(&mut self, party: &Party) -> Option<GroupId> {
        match party {
            Party::Named(name, span) => {
                let symbol = self.resolve(*name)?;
                if let Some(&(group, _)) = self.groups.get(&symbol) {
                    return Some(group);
                }
                let Some(&agent) = self.agents.get(&symbol) else {
                    let message = format!("there is no group or agent `{}`", self.names.text(symbol));
                    let known: Vec<_> = self.groups.keys().chain(self.agents.keys()).copied().collect();
                    let help = self.suggest(symbol, &known).unwrap_or(
                        "define it in Groups, or list agents in braces: `{Alice, Bob}`".to_string(),
                    );
                    self.report(Diagnostic::error("ispl/unknown-group", *span, message).hint(help));
                    return None;
                };
                let name = self.system.agent(agent).name.clone();
                Some(self.system.intern_group(Group { name, agents: vec![agent] }))
            }
            Party::Set(members, span) => {
                let agents = self.members(members, *span);
                if agents.is_empty() {
                    return None;
                }
                let names: Vec<&str> = agents.iter().map(|a| self.system.agent(*a).name.as_str()).collect();
                let name = format!("{{{}}}", names.join(", "));
                Some(self.system.intern_group(Group { name, agents }))
            }
        }
    }
}

/// A word with the space that it needs between two texts.
fn spaced(word: &str, before: &str, after: &str) -> String {
    let space = |near: &str, is_there: bool| if near.is_empty() || !is_there { " " } else { "" };
    let left = space(before, before.ends_with(char::is_whitespace));
    let right = space(after, after.starts_with(char::is_whitespace));
    format!("{left}{word}{right}")
}
