//! Comparisons and expected types: which values may be compared, and what a context requires.

use masque_model::{AgentId, ExprId as Lowered, Relation};
use masque_text::{Diagnostic, Span};

use super::bounds::Bounds;
use super::expr::{Context, Type, Typed};
use super::{Checker, EnumId};
use crate::tree::{ExprId, Kind, Symbol};

/// One side of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Side {
    /// The expression in the tree.
    pub(super) id: ExprId,
    /// The lowered expression and its type.
    pub(super) typed: Typed,
}

/// One side of a comparison of numbers.
#[derive(Clone, Copy)]
struct NumberSide {
    id: ExprId,
    bounds: Bounds,
}

impl Checker<'_> {
    /// Lowers `Action = a` and `Agent.Action = a`. Returns `None` for any other comparison.
    pub(super) fn action_comparison(
        &mut self,
        relation: Relation,
        a: ExprId,
        b: ExprId,
        context: Context,
    ) -> Option<Typed> {
        let left = self.tree.expr(a);
        let agent = match left.kind {
            Kind::Name(name) if name.name == self.word_action && name.indexes.len == 0 => None,
            Kind::Member(agent, name) if name.name == self.word_action && name.indexes.len == 0 => {
                Some(agent)
            }
            _ => return None,
        };
        let own = match context {
            Context::Local(own) | Context::Evolution(own) => Some(own),
            Context::Global | Context::Formula | Context::Step => None,
        };
        let owner = match (agent, own) {
            (Some(agent), _) => match self.agent_named(agent, left.span, true) {
                Some(agent) => agent,
                None => return Some(self.wrong()),
            },
            (None, Some(own)) => own,
            (None, None) => return None,
        };
        if let Some(&variable) = self.scopes[owner.index()].variables.get(&self.word_action) {
            if !matches!(context, Context::Evolution(_) | Context::Step) {
                return None;
            }
            let message = "`Action` is both a variable and the action of the agent";
            let declared = self.system.variable(variable).span;
            self.report(
                Diagnostic::error("ispl/ambiguous-name", left.span, message)
                    .also(declared, "the variable")
                    .hint("rename the variable"),
            );
            return Some(self.wrong());
        }
        if !matches!(context, Context::Evolution(_) | Context::Step) {
            let message = "actions can be read in Evolution only, and in `EX{ }` and `AX{ }`";
            self.report(
                Diagnostic::error("ispl/action-outside-evolution", left.span, message).hint(
                    "elsewhere there is no step; record the action in a variable, and read the variable",
                ),
            );
            return Some(self.wrong());
        }
        Some(self.action_is(relation, owner, b))
    }

    fn action_is(&mut self, relation: Relation, owner: AgentId, b: ExprId) -> Typed {
        let right = self.tree.expr(b);
        let Kind::Name(name) = right.kind else {
            let message = "an action can only be compared with the name of an action";
            self.report(
                Diagnostic::error("ispl/action-alone", right.span, message)
                    .also(self.actions_span(owner), "its actions are declared here"),
            );
            return self.wrong();
        };
        let Some(name) = self.resolve(name) else { return self.wrong() };
        let Some(&action) = self.scopes[owner.index()].actions.get(&name) else {
            self.unknown_action(owner, name, right.span);
            return self.wrong();
        };
        let is = self.system.exprs.action_is(owner, action);
        let expr = match relation {
            Relation::Equal => is,
            Relation::Unequal => self.system.exprs.not(is),
            _ => {
                self.error("ispl/type-mismatch", right.span, "actions are compared with `=` and `<>` only");
                return self.wrong();
            }
        };
        Typed { expr, ty: Type::Boolean }
    }

    pub(super) fn unknown_action(&mut self, agent: AgentId, used: Symbol, span: Span) {
        let scope = &self.scopes[agent.index()];
        let is_environment = self.system.environment == Some(agent);
        if scope.actions.is_empty() && (self.is_papers() || !is_environment) {
            return; // It has no actions, which was reported.
        }
        let message =
            format!("agent `{}` has no action `{}`", self.system.agent(agent).name, self.names.text(used));
        let help = self.suggest(used, scope.actions.keys());
        self.report(
            Diagnostic::error("ispl/unknown-action", span, message)
                .label("not an action of this agent")
                .also(self.actions_span(agent), "its actions are declared here")
                .help(help),
        );
    }

    /// Returns the span of an agent's actions, or of the agent if it declares none.
    fn actions_span(&self, agent: AgentId) -> Span {
        self.scopes[agent.index()].actions_span.unwrap_or(self.system.agent(agent).span)
    }

    /// Lowers a comparison of two typed sides.
    pub(super) fn compare(&mut self, relation: Relation, left: Side, right: Side, context: Context) -> Typed {
        let (Side { id: a, typed: left }, Side { id: b, typed: right }) = (left, right);
        let (left, right) = match context {
            Context::Formula | Context::Step => {
                (self.as_value(left, a, right.ty), self.as_value(right, b, left.ty))
            }
            _ => (left, right),
        };
        let span = self.tree.expr(a).span.to(self.tree.expr(b).span);
        let is_equality = matches!(relation, Relation::Equal | Relation::Unequal);
        let (left_expr, right_expr) = match (left.ty, right.ty) {
            (Type::Number(x), Type::Number(y)) => {
                self.literal_in_range(
                    relation,
                    NumberSide { id: a, bounds: x },
                    NumberSide { id: b, bounds: y },
                );
                (left.expr, right.expr)
            }
            (Type::Boolean, Type::Boolean) if is_equality => (left.expr, right.expr),
            (Type::Enumeration(x), Type::Enumeration(y)) if is_equality => {
                if !self.is_subset(x, y) && !self.is_subset(y, x) {
                    let message = "these enumerations cannot be compared: neither contains the other";
                    self.report(
                        Diagnostic::error("ispl/incomparable-values", span, message)
                            .also(self.tree.expr(a).span, self.values_text(x))
                            .also(self.tree.expr(b).span, self.values_text(y)),
                    );
                    return self.wrong();
                }
                (left.expr, right.expr)
            }
            (Type::Enumeration(x), Type::Word(word)) if is_equality => match self.value(x, word, b) {
                Some(value) => (left.expr, value),
                None => return self.wrong(),
            },
            (Type::Word(word), Type::Enumeration(y)) if is_equality => match self.value(y, word, a) {
                Some(value) => (value, right.expr),
                None => return self.wrong(),
            },
            (Type::Wrong, Type::Word(_)) | (Type::Word(_), Type::Wrong) => return self.wrong(),
            (Type::Enumeration(x), Type::Word(word)) | (Type::Word(word), Type::Enumeration(x))
                if self.enumerations[x as usize].members.contains_key(&word) =>
            {
                self.error("ispl/type-mismatch", span, "enumerations are compared with `=` and `<>` only");
                return self.wrong();
            }
            (Type::Word(word), _) => return self.unknown_name(word, self.tree.expr(a).span, context),
            (_, Type::Word(word)) => return self.unknown_name(word, self.tree.expr(b).span, context),
            (Type::Wrong, _) | (_, Type::Wrong) => return self.wrong(),
            (x, y) => {
                let message = if std::mem::discriminant(&x) == std::mem::discriminant(&y) {
                    format!("{} are compared with `=` and `<>` only", plural_type_name(x))
                } else {
                    format!("{} cannot be compared with {}", type_name(x), type_name(y))
                };
                let help = match x {
                    _ if std::mem::discriminant(&x) == std::mem::discriminant(&y) => None,
                    Type::Boolean => {
                        Some("compare a boolean with `true`, `false` or another boolean".to_string())
                    }
                    Type::Number(_) => Some("compare a number with a number".to_string()),
                    Type::Enumeration(x) => {
                        Some(format!("the left-hand side is one of {}", self.values_text(x)))
                    }
                    Type::Word(_) | Type::Wrong => None,
                };
                self.report(Diagnostic::error("ispl/type-mismatch", span, message).help(help));
                return self.wrong();
            }
        };
        Typed { expr: self.system.exprs.compare(relation, left_expr, right_expr), ty: Type::Boolean }
    }

    /// Resolves one side of a comparison in a formula. A proposition may have the name of a value; if
    /// the other side is an enumeration with this value, the name is the value.
    fn as_value(&mut self, side: Typed, at: ExprId, other: Type) -> Typed {
        let (Type::Boolean, Type::Enumeration(id), Kind::Name(name)) =
            (side.ty, other, self.tree.expr(at).kind)
        else {
            return side;
        };
        let word = self.resolve(name);
        let symbol = word.and_then(|word| self.enumerations[id as usize].members.get(&word).copied());
        match symbol {
            Some(symbol) => Typed { expr: self.system.exprs.symbol(symbol), ty: other },
            None => side,
        }
    }

    /// Returns the value with this name in an enumeration.
    pub(super) fn value(&mut self, id: EnumId, word: Symbol, at: ExprId) -> Option<Lowered> {
        let enumeration = &self.enumerations[id as usize];
        if let Some(&symbol) = enumeration.members.get(&word) {
            return Some(self.system.exprs.symbol(symbol));
        }
        let message =
            format!("`{}` is not one of the values {}", self.names.text(word), self.values_text(id));
        let help = self.suggest(word, enumeration.members.keys());
        self.report(Diagnostic::error("ispl/unknown-value", self.tree.expr(at).span, message).help(help));
        None
    }

    pub(super) fn values_text(&self, id: EnumId) -> String {
        let values = &self.enumerations[id as usize].values;
        let mut names: Vec<&str> =
            values.iter().take(8).map(|v| self.system.symbols[v.index()].as_str()).collect();
        if values.len() > 8 {
            names.push("..");
        }
        format!("{{{}}}", names.join(", "))
    }

    pub(super) fn is_subset(&self, a: EnumId, b: EnumId) -> bool {
        let (a, b) = (&self.enumerations[a as usize], &self.enumerations[b as usize]);
        a.members.keys().all(|value| b.members.contains_key(value))
    }

    /// Reports a name that is neither a variable nor a value that is allowed here.
    pub(super) fn unknown_name(&mut self, word: Symbol, span: Span, context: Context) -> Typed {
        let text = self.names.text(word);
        let (message, help) = match context {
            Context::Local(agent) | Context::Evolution(agent) if self.lacks_variables(agent) => {
                return self.wrong();
            }
            Context::Local(agent) | Context::Evolution(agent) => (
                format!("agent `{}` has no variable `{text}`", self.system.agent(agent).name),
                masque_text::did_you_mean(text, ["true", "false"]).or_else(|| {
                    let variables = self.scopes[agent.index()].variables.keys();
                    self.suggest_or_list(word, variables, "its variables are")
                }),
            ),
            Context::Global => (
                format!("`{text}` is not a variable; variables are written `Agent.name` here"),
                self.with_owner(word),
            ),
            Context::Formula | Context::Step => (
                format!("there is no proposition or variable `{text}`"),
                self.with_owner(word)
                    .or_else(|| self.suggest_or_list(word, self.propositions.keys(), "the propositions are")),
            ),
        };
        let written = help.as_deref().and_then(|help| help.strip_prefix("write `")?.strip_suffix('`'));
        let fix = written.map(|written| (format!("write `{written}`"), written.to_string()));
        let mut diagnostic = Diagnostic::error("ispl/unknown-name", span, message).help(help);
        if let Some((title, written)) = fix {
            diagnostic = diagnostic.fix(title, span, written);
        }
        self.report(diagnostic);
        self.wrong()
    }

    /// Returns a help line for a variable that is written without its agent.
    pub(super) fn with_owner(&self, name: Symbol) -> Option<String> {
        let owner = self.system.agent_ids().find(|a| self.scopes[a.index()].variables.contains_key(&name))?;
        Some(format!("write `{}.{}`", self.system.agent(owner).name, self.names.text(name)))
    }

    /// Warns if a variable is compared with a number outside its range: `x < 4` with `x : 0..3`.
    fn literal_in_range(&mut self, relation: Relation, left: NumberSide, right: NumberSide) {
        let literal = |checker: &Self, id| matches!(checker.tree.expr(id).kind, Kind::Number(_));
        let variable =
            |checker: &Self, id| matches!(checker.tree.expr(id).kind, Kind::Name(_) | Kind::Member(..));
        let (at, value, range) = match (literal(self, left.id), literal(self, right.id)) {
            (false, true) if variable(self, left.id) => (right.id, right.bounds.lo, left.bounds),
            (true, false) if variable(self, right.id) => (left.id, left.bounds.lo, right.bounds),
            _ => return,
        };
        // An index or parameter is a name, too, and has only one value.
        if range.lo == range.hi || (range.lo..=range.hi).contains(&value) {
            return;
        }
        let message = format!("{value} lies outside the variable's range {}..{}", range.lo, range.hi);
        let order = if at == right.id { range.lo.cmp(&value) } else { value.cmp(&range.lo) };
        let label = if relation.admits(order) {
            "this comparison is always true"
        } else {
            "this comparison is never true"
        };
        self.report(
            Diagnostic::warning("ispl/literal-out-of-range", self.tree.expr(at).span, message).label(label),
        );
    }

    pub(super) fn expect_boolean(&mut self, typed: Typed, id: ExprId, context: Context) -> Lowered {
        match typed.ty {
            Type::Boolean | Type::Wrong => return typed.expr,
            Type::Word(word) => _ = self.unknown_name(word, self.tree.expr(id).span, context),
            other => {
                let message = format!("expected a condition, found {}", type_name(other));
                self.report(
                    Diagnostic::error("ispl/not-a-condition", self.tree.expr(id).span, message)
                        .hint("compare it with a value, or use a boolean variable"),
                );
            }
        }
        self.system.exprs.bool(false)
    }

    pub(super) fn expect_number(&mut self, id: ExprId, context: Context) -> (Lowered, Bounds) {
        let typed = self.expr(id, context);
        let span = self.tree.expr(id).span;
        match typed.ty {
            Type::Number(bounds) => return (typed.expr, bounds),
            Type::Wrong => {}
            Type::Word(word) => _ = self.unknown_name(word, span, context),
            other => {
                let message = format!("expected a number, found {}", type_name(other));
                self.report(
                    Diagnostic::error("ispl/not-a-number", span, message)
                        .hint("arithmetic is for numbers; `count( )` counts the conditions that are true"),
                );
            }
        }
        (self.system.exprs.number(0), Bounds::range(0, 0))
    }
}

/// Returns the name of a type in messages, with its article.
pub(super) fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Boolean => "a boolean",
        Type::Number(_) => "a number",
        Type::Enumeration(_) | Type::Word(_) => "a value of an enumeration",
        Type::Wrong => "an error",
    }
}

/// Returns the plural of the name of a type in messages.
fn plural_type_name(ty: Type) -> &'static str {
    match ty {
        Type::Boolean => "booleans",
        _ => "enumerations",
    }
}
