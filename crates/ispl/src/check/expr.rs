//! Conditions and arithmetic: names resolved, types checked, lowered to the model's pool.

use masque_model::{AgentId, ExprId as Lowered, Relation, VarId};
use masque_text::{Diagnostic, Span};

use super::bounds::Bounds;
use super::compare::Side;
use super::{Checker, EnumId};
use crate::tree::{Aggregate, ExprId, Item, Kind, Op, Ref, Symbol};

/// The context of an expression, which determines what it may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// RedStates or Protocol of an agent: the variables that it sees.
    Local(AgentId),
    /// Evolution of an agent: the variables that it sees, and the actions of all agents.
    Evolution(AgentId),
    /// Evaluation and InitStates: all variables, as `Agent.name`.
    Global,
    /// A formula: all variables, and propositions.
    Formula,
    /// A condition on a step in a formula: as in a formula, and the actions of all agents.
    Step,
}

impl Context {
    fn agent(self) -> Option<AgentId> {
        match self {
            Context::Local(agent) | Context::Evolution(agent) => Some(agent),
            Context::Global | Context::Formula | Context::Step => None,
        }
    }
}

/// The type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Boolean,
    Number(Bounds),
    Enumeration(EnumId),
    /// A name that is not a variable. It is a value if the other side of a comparison has that value.
    Word(Symbol),
    /// An expression with an error, which was reported. It is accepted in every context.
    Wrong,
}

/// A lowered expression and its type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Typed {
    pub(super) expr: Lowered,
    pub(super) ty: Type,
}

impl Checker<'_> {
    /// Lowers a condition. After an error the result is `false`.
    pub(super) fn condition(&mut self, id: ExprId, context: Context) -> Lowered {
        let typed = self.expr(id, context);
        self.expect_boolean(typed, id, context)
    }

    pub(super) fn wrong(&mut self) -> Typed {
        Typed { expr: self.system.exprs.bool(false), ty: Type::Wrong }
    }

    fn boolean(&self, expr: Lowered) -> Typed {
        Typed { expr, ty: Type::Boolean }
    }

    pub(super) fn expr(&mut self, id: ExprId, context: Context) -> Typed {
        self.count_lowered();
        let expr = self.tree.expr(id);
        match expr.kind {
            Kind::Bool(value) => {
                let expr = self.system.exprs.bool(value);
                self.boolean(expr)
            }
            Kind::Number(n) => self.number(n),
            Kind::Name(name) => self.name(name, expr.span, context),
            Kind::Member(agent, name) => self.member(agent, name, expr.span, context),
            Kind::Not(a) | Kind::BitNot(a) => {
                let a = self.condition(a, context);
                let expr = self.system.exprs.not(a);
                self.boolean(expr)
            }
            Kind::Negate(a) => {
                let (a, bounds) = self.expect_number(a, context);
                let expr = self.system.exprs.negate(a);
                self.checked_number(expr, bounds.negate(), id)
            }
            Kind::Compare(relation, a, b) => self.comparison(relation, a, b, context),
            Kind::Chain { operands, ops } => {
                let first = self.tree.ops[ops as usize];
                match first {
                    Op::Plus | Op::Minus => self.sum(id, context),
                    Op::Times | Op::Divide | Op::Modulo => self.product(id, context),
                    Op::Until | Op::WeakUntil | Op::Release => self.formula_only(id),
                    _ => self.junction(self.tree.list(operands), ops, context),
                }
            }
            Kind::Call(..) => match self.constant(id) {
                Some(value) => self.number(value),
                None => self.wrong(),
            },
            Kind::Count(conditions) => {
                let mut lowered = Vec::new();
                for &condition in self.tree.list(conditions) {
                    lowered.push(self.condition(condition, context));
                }
                let bounds = Bounds::range(0, lowered.len() as i64);
                let expr = self.system.exprs.sum(lowered);
                self.checked_number(expr, bounds, id)
            }
            Kind::Aggregate(aggregate, binder, body) => self.aggregate(id, aggregate, binder, body, context),
            Kind::Path(..) | Kind::Temporal(..) | Kind::Modal(_) | Kind::Step(..) | Kind::Fixpoint(_) => {
                self.formula_only(id)
            }
            Kind::Error => self.wrong(),
        }
    }

    fn formula_only(&mut self, id: ExprId) -> Typed {
        let message = "temporal and epistemic operators are allowed in formulas, not in conditions";
        self.error("ispl/not-a-condition", self.tree.expr(id).span, message);
        self.wrong()
    }

    fn number(&mut self, value: i64) -> Typed {
        let expr = self.system.exprs.number(value);
        Typed { expr, ty: Type::Number(Bounds::range(value, value)) }
    }

    fn checked_number(&mut self, expr: Lowered, bounds: Bounds, id: ExprId) -> Typed {
        if !bounds.fit() {
            let message = "the value of this expression may not fit into 64 bits";
            self.report(
                Diagnostic::error("ispl/arithmetic-too-large", self.tree.expr(id).span, message)
                    .hint("narrow the ranges of the variables in it"),
            );
            return self.wrong();
        }
        Typed { expr, ty: Type::Number(bounds) }
    }
}

/// Names.
impl Checker<'_> {
    pub(super) fn variable(&mut self, id: VarId) -> Typed {
        use masque_model::Domain;
        let expr = self.system.exprs.variable(id);
        let ty = match (&self.system.variable(id).domain, self.variable_enums[id.index()]) {
            (Domain::Boolean, _) => Type::Boolean,
            (Domain::Integers(lo, hi), _) => Type::Number(Bounds::range(*lo, *hi)),
            (Domain::Values(_), Some(id)) => Type::Enumeration(id),
            (Domain::Values(_), None) => Type::Wrong,
        };
        Typed { expr, ty }
    }

    /// Resolves a name: an index, a variable of the agent, a parameter, a proposition, else a value.
    fn name(&mut self, reference: Ref, span: Span, context: Context) -> Typed {
        let Some(name) = self.resolve(reference) else { return self.wrong() };
        let own = context.agent().and_then(|agent| self.scopes[agent.index()].variables.get(&name).copied());
        if !self.bindings.is_empty() || !self.params.is_empty() {
            match (self.binding(name), own) {
                (Some(_), Some(variable)) => {
                    let message =
                        format!("`{}` is both a variable and an index or parameter", self.names.text(name));
                    let declared = self.system.variable(variable).span;
                    self.report(
                        Diagnostic::error("ispl/ambiguous-name", span, message)
                            .also(declared, "the variable")
                            .hint("rename one of them"),
                    );
                    return self.wrong();
                }
                (Some(value), None) => return self.number(value),
                _ => {}
            }
        }
        if let Some(variable) = own {
            return self.variable(variable);
        }
        if matches!(context, Context::Formula | Context::Step)
            && let Some(proposition) = self.propositions.get(&name)
        {
            return self.boolean(self.system.propositions[proposition.index()].condition);
        }
        if name == self.word_action && context.agent().is_some() {
            return self.action_alone(span);
        }
        if let Some(agent) = context.agent()
            && reference.indexes.len > 0
            && self.scopes[agent.index()].arrays.contains_key(&reference.name)
        {
            self.unknown_variable(agent, reference.name, name, span);
            return self.wrong();
        }
        Typed { ty: Type::Word(name), ..self.wrong() }
    }

    /// Resolves `Agent.variable`, and checks that the context may read it.
    fn member(&mut self, agent: Ref, name: Ref, span: Span, context: Context) -> Typed {
        let Some(owner) = self.agent_named(agent, span, true) else { return self.wrong() };
        let Some(symbol) = self.resolve(name) else { return self.wrong() };
        if symbol == self.word_action && !self.scopes[owner.index()].variables.contains_key(&symbol) {
            return self.action_alone(span);
        }
        let Some(&variable) = self.scopes[owner.index()].variables.get(&symbol) else {
            let tail = self.tail(span);
            self.unknown_variable(owner, name.name, symbol, tail);
            return self.wrong();
        };
        match context.agent() {
            Some(reader) if reader != owner => self.check_visible(reader, owner, variable, span),
            _ => {}
        }
        self.variable(variable)
    }

    /// Reports `Action` outside a comparison.
    pub(super) fn action_alone(&mut self, span: Span) -> Typed {
        let message = "`Action` is not a value: compare it with the name of an action";
        let help = format!("write `{} = NAME`", self.sources.slice(span));
        self.report(Diagnostic::error("ispl/action-alone", span, message).hint(help));
        self.wrong()
    }

    /// Reports a variable that an agent does not see.
    fn check_visible(&mut self, reader: AgentId, owner: AgentId, variable: VarId, span: Span) {
        let (reads, owns) = (&self.system.agent(reader).name, &self.system.agent(owner).name);
        let is_environment = self.system.environment == Some(owner);
        if self.is_papers() {
            if !is_environment {
                let message = format!("agent `{reads}` reads the local state of `{owns}`");
                self.report(
                    Diagnostic::note("ispl/reads-local-state", span, message)
                        .hint("the 2004 paper allows this, the 2005 paper only for the Environment"),
                );
            }
            return;
        }
        let declared = self.system.variable(variable).span;
        if !is_environment {
            let message = format!("agent `{reads}` cannot read a variable of agent `{owns}`");
            self.report(
                Diagnostic::error("ispl/foreign-variable", span, message)
                    .label("not visible here")
                    .also(declared, "declared here")
                    .hint("an agent reads its own variables, the variables of the Environment that it sees, and all actions"),
            );
        } else if !self.scopes[owner.index()].shared.contains(&variable)
            && !self.scopes[reader.index()].shared.contains(&variable)
        {
            let name = &self.system.variable(variable).name;
            let message = format!("agent `{reads}` does not see `Environment.{name}`");
            let help =
                format!("add `{name}` to its `Lobsvars`, or declare it among the Environment's `Obsvars`");
            self.report(
                Diagnostic::error("ispl/hidden-variable", span, message)
                    .label("not visible here")
                    .also(declared, "declared here")
                    .hint(help),
            );
        }
    }

    /// Returns the agent with this name; `in_member` if it is the first part of `Agent.name`.
    pub(super) fn agent_named(&mut self, reference: Ref, span: Span, in_member: bool) -> Option<AgentId> {
        let name = self.resolve(reference)?;
        if let Some(&agent) = self.agents.get(&name) {
            return Some(agent);
        }
        if self.is_incomplete && reference.indexes.len > 0 {
            return None;
        }
        let span = if in_member { self.head(span) } else { span };
        if let Some(&family) = self.families.get(&reference.name) {
            let (code, message) = match reference.indexes.len {
                0 => (
                    "ispl/wrong-index-count",
                    format!("`{}` is a family of agents and needs an index", self.names.text(name)),
                ),
                _ => (
                    "ispl/index-out-of-range",
                    format!("the family has no member `{}`", self.names.text(name)),
                ),
            };
            self.report(Diagnostic::error(code, span, message).also(family, "the family is declared here"));
            return None;
        }
        let message = format!("there is no agent `{}`", self.names.text(name));
        let help = self.suggest_or_list(name, self.agents.keys(), "the agents are");
        self.report(Diagnostic::error("ispl/unknown-agent", span, message).help(help));
        None
    }

    /// Returns whether the agent has no section for its variables, which was reported.
    pub(super) fn lacks_variables(&self, agent: AgentId) -> bool {
        let template = &self.tree.sections.agents[self.scopes[agent.index()].template];
        if self.is_papers() {
            template.lstate.is_none()
        } else {
            template.vars.is_none() && self.system.environment != Some(agent)
        }
    }

    pub(super) fn unknown_variable(&mut self, owner: AgentId, base: Symbol, name: Symbol, span: Span) {
        if self.is_incomplete && base != name || self.lacks_variables(owner) {
            return;
        }
        let scope = &self.scopes[owner.index()];
        let agent = &self.system.agent(owner).name;
        let text = self.names.text(name);
        if let Some(&array) = scope.arrays.get(&base) {
            let (code, message) = if base == name {
                ("ispl/wrong-index-count", format!("`{text}` is an array and needs an index"))
            } else {
                ("ispl/index-out-of-range", format!("the array has no element `{text}`"))
            };
            self.report(Diagnostic::error(code, span, message).also(array, "the array is declared here"));
            return;
        }
        let message = format!("agent `{agent}` has no variable `{text}`");
        let help = self.suggest_or_list(name, scope.variables.keys(), "its variables are");
        let declared = self.system.agent(owner).span;
        let vars = &self.tree.sections.agents[self.scopes[owner.index()].template].vars;
        // Without a similar name, the declaration may be missing. A heading ends before its colon.
        let is_plain = help.as_ref().is_none_or(|help| !help.starts_with("did you mean")) && base == name;
        let place =
            vars.as_ref().and_then(|vars| vars.items.first()).filter(|_| is_plain).map(|item| match item {
                Item::One(variable) => variable.span,
                Item::For { span, .. } => *span,
            });
        let diagnostic = Diagnostic::error("ispl/unknown-variable", span, message)
            .also(declared, "the agent is declared here")
            .help(help);
        self.report(match place {
            Some(place) => diagnostic.fix(
                format!("declare `{text}`"),
                Span { start: place.start, end: place.start },
                format!("{text} : boolean;\n    "),
            ),
            None => diagnostic,
        });
    }
}

/// Operators.
impl Checker<'_> {
    /// Lowers `and or & | ^ -> <->` on booleans.
    fn junction(&mut self, operands: &[ExprId], ops: u32, context: Context) -> Typed {
        let mut lowered = Vec::with_capacity(operands.len());
        for &operand in operands {
            if self.is_stopped() {
                return self.wrong();
            }
            lowered.push(self.condition(operand, context));
        }
        let exprs = &mut self.system.exprs;
        let ops = &self.tree.ops[ops as usize..ops as usize + operands.len() - 1];
        let expr = match ops[0] {
            Op::And | Op::BitAnd => exprs.and(lowered),
            Op::Or => exprs.or(lowered),
            Op::Implies => {
                // a -> (b -> c) is one disjunction, for a chain of any length.
                let last = lowered.len() - 1;
                for left in &mut lowered[..last] {
                    *left = exprs.not(*left);
                }
                exprs.or(lowered)
            }
            Op::Iff => {
                // a <-> b <-> .. is the negation of their exclusive or, once for each `<->`.
                let odd = exprs.xor(lowered);
                if ops.len() % 2 == 1 { exprs.not(odd) } else { odd }
            }
            _ if ops.iter().all(|op| *op == Op::BitOr) => exprs.or(lowered),
            _ if ops.iter().all(|op| *op == Op::BitXor) => exprs.xor(lowered),
            _ => {
                let mut lowered = lowered.into_iter();
                let first = lowered.next().unwrap_or_else(|| exprs.bool(false));
                lowered.zip(ops).fold(first, |left, (right, op)| match op {
                    Op::BitOr => exprs.or(vec![left, right]),
                    _ => exprs.xor(vec![left, right]),
                })
            }
        };
        self.boolean(expr)
    }

    /// Lowers `a + b - c ..` to one sum.
    fn sum(&mut self, id: ExprId, context: Context) -> Typed {
        let Kind::Chain { operands, ops } = self.tree.expr(id).kind else { return self.wrong() };
        let operands = self.tree.list(operands);
        let mut lowered = Vec::with_capacity(operands.len());
        let mut bounds = Bounds::range(0, 0);
        for (i, &operand) in operands.iter().enumerate() {
            let (mut expr, mut one) = self.expect_number(operand, context);
            if i > 0 && self.tree.ops[ops as usize + i - 1] == Op::Minus {
                expr = self.system.exprs.negate(expr);
                one = one.negate();
            }
            lowered.push(expr);
            bounds = bounds.plus(one);
        }
        let expr = self.system.exprs.sum(lowered);
        self.checked_number(expr, bounds, id)
    }

    /// Lowers `a * b / c mod d ..` from the left; consecutive `*` are one product.
    fn product(&mut self, id: ExprId, context: Context) -> Typed {
        let Kind::Chain { operands, ops } = self.tree.expr(id).kind else { return self.wrong() };
        let operands = self.tree.list(operands);
        let (mut left, mut bounds) = self.expect_number(operands[0], context);
        let mut factors = vec![left];
        for (i, &operand) in operands[1..].iter().enumerate() {
            let (right, divisor) = self.expect_number(operand, context);
            let op = self.tree.ops[ops as usize + i];
            if op == Op::Times {
                factors.push(right);
                bounds = bounds.times(divisor);
            } else {
                if divisor.may_be_zero() {
                    let message = "this divisor can be zero";
                    self.report(
                        Diagnostic::warning("ispl/may-divide-by-zero", self.tree.expr(operand).span, message)
                            .hint("a comparison with x/0 is false, an assignment of it removes its choice"),
                    );
                }
                left = if factors.len() == 1 { left } else { self.system.exprs.product(factors) };
                left = match op {
                    Op::Divide => self.system.exprs.divide(left, right),
                    _ => self.system.exprs.modulo(left, right),
                };
                bounds = if op == Op::Divide { bounds.over(divisor) } else { bounds.modulo(divisor) };
                factors = vec![left];
            }
            if !bounds.fit() {
                break;
            }
        }
        let expr = if factors.len() == 1 { factors[0] } else { self.system.exprs.product(factors) };
        self.checked_number(expr, bounds, id)
    }

    /// Lowers `sum`, `count`, `forall`, `exists` over an index.
    fn aggregate(
        &mut self,
        id: ExprId,
        aggregate: Aggregate,
        binder: u32,
        body: ExprId,
        context: Context,
    ) -> Typed {
        let mut lowered = Vec::new();
        let mut bounds = Bounds::range(0, 0);
        self.each(binder, |checker| match aggregate {
            Aggregate::Sum => {
                let (expr, one) = checker.expect_number(body, context);
                lowered.push(expr);
                bounds = bounds.plus(one);
            }
            Aggregate::Count => {
                lowered.push(checker.condition(body, context));
                bounds = bounds.plus(Bounds::range(0, 1));
            }
            Aggregate::Forall | Aggregate::Exists => lowered.push(checker.condition(body, context)),
        });
        let exprs = &mut self.system.exprs;
        match aggregate {
            Aggregate::Forall => {
                let expr = exprs.and(lowered);
                self.boolean(expr)
            }
            Aggregate::Exists => {
                let expr = exprs.or(lowered);
                self.boolean(expr)
            }
            Aggregate::Sum | Aggregate::Count => {
                let expr = exprs.sum(lowered);
                self.checked_number(expr, bounds, id)
            }
        }
    }

    fn comparison(&mut self, relation: Relation, a: ExprId, b: ExprId, context: Context) -> Typed {
        if let Some(expr) = self.action_comparison(relation, a, b, context) {
            return expr;
        }
        if matches!(relation, Relation::Equal | Relation::Unequal)
            && let Some(expr) = self.action_comparison(relation, b, a, context)
        {
            return expr;
        }
        let left = Side { id: a, typed: self.expr(a, context) };
        let right = Side { id: b, typed: self.expr(b, context) };
        self.compare(relation, left, right, context)
    }
}
