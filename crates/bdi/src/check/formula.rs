//! Checks formulas. Each belongs to a program; the argument of an attitude belongs to the program that
//! the attitude leads to.

use masque_text::{Diagnostic, Span, did_you_mean};

use super::{Checker, capped};
use crate::model::{Action, ActionId, Domain, Edge, Expr, ExprId, Formula, FormulaId, ProgramId, VarId};
use crate::print::{formula_text, term_text};
use crate::tree::{self, Binary, Commitment, ExprKind, Op, Quantifier, Rel, Unary};

/// Context in which a formula is read.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// Program that the formula belongs to.
    pub(super) program: ProgramId,
    /// Whether temporal operators are allowed outside attitudes.
    pub(super) is_temporal: bool,
    /// Name that a `forall` binds, and the variable it stands for.
    pub(super) bound: Option<(&'a str, VarId)>,
}

impl Context<'_> {
    /// Returns the context of a condition, a right side or a definition.
    pub(super) fn fixed(program: ProgramId) -> Self {
        Context { program, is_temporal: false, bound: None }
    }

    /// Returns the context of a property or of the argument of an attitude.
    pub(super) fn temporal(program: ProgramId) -> Self {
        Context { program, is_temporal: true, bound: None }
    }
}

/// A result; `None` if there are errors, which have been reported.
pub(super) type Resolved<T> = Option<T>;

impl Checker<'_> {
    /// Checks a formula and adds it to the model.
    pub(super) fn formula(&mut self, context: Context<'_>, expr: &tree::Expr) -> Resolved<FormulaId> {
        let formula = self.lowered(context, expr)?;
        if self.is_in_property {
            let no_indexes = std::iter::empty::<(&str, i64)>();
            self.model.wording.add_part(formula.index(), expr.span, no_indexes);
        }
        Some(formula)
    }

    /// Checks a formula that another one stands for. The text has no part for it.
    fn rewritten(&mut self, context: Context<'_>, expr: &tree::Expr) -> Resolved<FormulaId> {
        let is_in_property = std::mem::replace(&mut self.is_in_property, false);
        let formula = self.formula(context, expr);
        self.is_in_property = is_in_property;
        formula
    }

    fn lowered(&mut self, context: Context<'_>, expr: &tree::Expr) -> Resolved<FormulaId> {
        let formula = match &expr.kind {
            ExprKind::Constant(value) => Formula::Constant(*value),
            ExprKind::Number(_) | ExprKind::Sum(_) => return self.mistyped(expr, "a formula", "a number"),
            ExprKind::Term(term) => return self.atom(context, term),
            ExprKind::Do(action) => Formula::Do(self.action(context.program, action)),
            ExprKind::Not(arg) => Formula::Not(self.formula(context, arg)?),
            ExprKind::And(items) => Formula::And(self.all(context, items)?),
            ExprKind::Or(items) => Formula::Or(self.all(context, items)?),
            ExprKind::Implies(items) => {
                let items = self.all(context, items)?;
                let (&last, antecedents) = items.split_last()?;
                let mut result = last;
                for &antecedent in antecedents.iter().rev() {
                    let not = self.add(Formula::Not(antecedent));
                    result = self.add(Formula::Or(vec![not, result]));
                }
                return Some(result);
            }
            ExprKind::Iff(items) => {
                let items = self.all(context, items)?;
                let (&first, rest) = items.split_first()?;
                return Some(rest.iter().fold(first, |left, &right| self.add(Formula::Iff(left, right))));
            }
            ExprKind::Unary(quantifier, op, arg) => {
                self.temporal_is_allowed(context, expr)?;
                let arg = self.formula(context, arg)?;
                match (quantifier, op) {
                    (Quantifier::E, Unary::X) => Formula::Ex(arg),
                    (Quantifier::E, Unary::F) => Formula::Ef(arg),
                    (Quantifier::E, Unary::G) => Formula::Eg(arg),
                    (Quantifier::A, Unary::X) => Formula::Ax(arg),
                    (Quantifier::A, Unary::F) => Formula::Af(arg),
                    (Quantifier::A, Unary::G) => Formula::Ag(arg),
                }
            }
            ExprKind::Binary(quantifier, op, args) => {
                self.temporal_is_allowed(context, expr)?;
                let (f, g) = (self.formula(context, &args[0]), self.formula(context, &args[1]));
                let (f, g) = (f?, g?);
                match (quantifier, op) {
                    (Quantifier::E, Binary::U) => Formula::Eu(f, g),
                    (Quantifier::A, Binary::U) => Formula::Au(f, g),
                    (Quantifier::E, Binary::R) => Formula::Er(f, g),
                    (Quantifier::A, Binary::R) => Formula::Ar(f, g),
                    // f W g = g R (f | g)
                    (Quantifier::E, Binary::W) => Formula::Er(g, self.add(Formula::Or(vec![f, g]))),
                    (Quantifier::A, Binary::W) => Formula::Ar(g, self.add(Formula::Or(vec![f, g]))),
                }
            }
            ExprKind::Attitude { op, dual: true, agent, arg } => {
                // PB(i, f) = !B(i, !f)
                let not = tree::Expr { kind: ExprKind::Not(arg.clone()), span: arg.span };
                let kind =
                    ExprKind::Attitude { op: *op, dual: false, agent: agent.clone(), arg: Box::new(not) };
                Formula::Not(self.rewritten(context, &tree::Expr { kind, span: expr.span })?)
            }
            ExprKind::Attitude { op, dual: false, agent, arg } => {
                let edge = Edge { op: *op, agent: self.agent(agent)? };
                let child = self.model.child(context.program, edge);
                let arg = self.formula(Context::temporal(child), arg)?;
                let attitude = self.attitude(context, expr, edge, arg);
                if !context.is_temporal {
                    let spans = &mut self.model.attitude_spans;
                    spans.entry((context.program, attitude)).or_insert(expr.span);
                }
                return Some(attitude);
            }
            ExprKind::Compare(rel, args) => return self.comparison(context, *rel, &args[0], &args[1]),
            ExprKind::Commit(commitment, intention) => {
                let meaning = self.commitment(*commitment, intention)?;
                return self.rewritten(context, &meaning);
            }
            ExprKind::Persistent(args) => return self.rewritten(context, &persistence(&args[0], &args[1])),
        };
        Some(self.add(formula))
    }

    /// Adds an attitude, which is explicit if its text is the name of an explicit one.
    fn attitude(&mut self, context: Context<'_>, expr: &tree::Expr, edge: Edge, arg: FormulaId) -> FormulaId {
        let vocabulary = &self.vocabularies[context.program.index()];
        if vocabulary.explicit.is_empty() {
            return self.add(Formula::Attitude { edge, arg, explicit: None });
        }
        let text = formula_text(expr);
        let explicit = vocabulary.explicit.get(&text).copied();
        let id = self.add(Formula::Attitude { edge, arg, explicit });
        if explicit.is_none() {
            self.model.spellings.entry(id).or_insert(text);
        }
        id
    }

    /// Checks all formulas of a list and reports every error in it.
    fn all(&mut self, context: Context<'_>, items: &[tree::Expr]) -> Resolved<Vec<FormulaId>> {
        let items: Vec<_> = items.iter().map(|item| self.formula(context, item)).collect();
        items.into_iter().collect()
    }

    fn temporal_is_allowed(&mut self, context: Context<'_>, expr: &tree::Expr) -> Resolved<()> {
        if context.is_temporal {
            return Some(());
        }
        let diagnostic = Diagnostic::error(
            "bdi/temporal-condition",
            expr.span,
            "temporal operator outside a BDI modality",
        )
        .label("the steps of a program would depend on themselves")
        .hint("a program may test what holds now and what it believes: `B(a, AF p)`");
        self.report(diagnostic);
        None
    }

    /// Checks an atom: a boolean variable.
    fn atom(&mut self, context: Context<'_>, term: &tree::Term) -> Resolved<FormulaId> {
        let var = self.variable(context, term)?;
        match &self.model.var(var).domain {
            Domain::Bool => Some(self.label(var)),
            domain => {
                let example = domain.text(domain.bounds().0);
                let message = format!("`{}` is not true or false", capped(&term_text(term)));
                let diagnostic = Diagnostic::error("bdi/type-mismatch", term.span, message)
                    .hint(format!("compare it, as in `{} = {example}`", capped(&term_text(term))));
                self.report(diagnostic);
                None
            }
        }
    }

    /// Returns the formula that says that a boolean variable is true.
    pub(super) fn label(&mut self, var: VarId) -> FormulaId {
        let formula = match self.model.var(var).attitude {
            None => Formula::Var(var),
            Some(attitude) => {
                Formula::Attitude { edge: attitude.edge, arg: attitude.arg, explicit: Some(var) }
            }
        };
        self.add(formula)
    }

    /// Resolves a variable of the program.
    pub(super) fn variable(&mut self, context: Context<'_>, term: &tree::Term) -> Resolved<VarId> {
        if let (Some((name, var)), None) = (context.bound, &term.args)
            && term.name.text == name
        {
            return Some(var);
        }
        let name = term_text(term);
        let vocabulary = &self.vocabularies[context.program.index()];
        if let Some(&var) = vocabulary.plain.get(&name) {
            return Some(var);
        }
        let mut names: Vec<&String> = vocabulary.plain.keys().take(self.max_considered_names()).collect();
        names.sort_unstable();
        let program = self.model.program(context.program);
        let list: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
        let help = did_you_mean(&name, &names).unwrap_or_else(|| {
            if vocabulary.plain.is_empty() {
                format!("{} has no variables", program.name)
            } else {
                format!("the variables of {} are {}", program.name, capped(&list.join(", ")))
            }
        });
        let (owner, declared) = (program.name.clone(), program.span);
        let is_undeclared = vocabulary.is_closed && !context.is_temporal;
        let place = vocabulary.first_declared.filter(|_| is_undeclared && term.args.is_none());
        let (code, message) = if is_undeclared {
            ("bdi/undeclared", format!("undeclared variable {}", capped(&name)))
        } else {
            ("bdi/unknown-atom", format!("unknown atom {}", capped(&name)))
        };
        let mut diagnostic =
            Diagnostic::error(code, term.span, message).label(format!("{owner} has no such variable"));
        if is_undeclared {
            diagnostic = diagnostic.hint("a program with a `var` line declares all its variables there");
        }
        diagnostic = diagnostic.also(declared, "the program is here").hint(help);
        if let (Some(place), None) = (place, &diagnostic.fix) {
            let before = Span { start: place.start, end: place.start };
            diagnostic = diagnostic.fix(format!("declare `{name}`"), before, format!("{name}, "));
        }
        self.report(diagnostic);
        None
    }

    /// Resolves an action; reports one that no step performs, so that `do` is always false.
    fn action(&mut self, program: ProgramId, term: &tree::Term) -> ActionId {
        let name = term_text(term);
        let found = self.action_ids.get(&(program, name.clone())).copied();
        let id = found.unwrap_or_else(|| self.add_action(program, term, false));
        if !self.model.actions[id.index()].occurs {
            let who = self.model.program(program).name.clone();
            let message = format!("{who}: action {} never occurs", capped(&name));
            let program = self.model.program(program);
            let names = program.actions.iter().take(self.max_considered_names());
            let names = names.map(|id| &self.model.actions[id.index()]);
            let names: Vec<String> = names.filter(|a| a.occurs).map(|a| a.name.clone()).collect();
            let diagnostic = Diagnostic::warning("bdi/unknown-action", term.span, message)
                .label("this is false in all states")
                .help(did_you_mean(&name, names));
            self.report(diagnostic);
        }
        id
    }

    pub(super) fn add_action(&mut self, program: ProgramId, term: &tree::Term, occurs: bool) -> ActionId {
        let id = ActionId(self.model.actions.len() as u32);
        let (name, functor) = (term_text(term), term.name.text.clone());
        self.action_ids.insert((program, name.clone()), id);
        self.model.actions.push(Action { name, functor, program, occurs });
        self.model.programs[program.index()].actions.push(id);
        id
    }
}

/// Numbers and enumerated values.
impl Checker<'_> {
    fn comparison(
        &mut self,
        context: Context<'_>,
        rel: Rel,
        left: &tree::Expr,
        right: &tree::Expr,
    ) -> Resolved<FormulaId> {
        let (of_left, of_right) = (self.named_values(context, left), self.named_values(context, right));
        let (a, b) = match of_left.or(of_right) {
            Some(domain) => {
                if !matches!(rel, Rel::Eq | Rel::Ne) {
                    return self.mistyped(left, "a number", "an enumerated value, which has no order");
                }
                (self.member(context, &domain, left)?, self.member(context, &domain, right)?)
            }
            None => {
                let (a, b) = (self.number(context, left), self.number(context, right));
                (a?, b?)
            }
        };
        Some(self.add(Formula::Compare(rel, a, b)))
    }

    /// Returns the values of an enumerated variable; `None` for any other expression.
    fn named_values(&self, context: Context<'_>, expr: &tree::Expr) -> Option<Domain> {
        let ExprKind::Term(term) = &expr.kind else { return None };
        let var = self.vocabularies[context.program.index()].plain.get(&term_text(term))?;
        let domain = &self.model.var(*var).domain;
        matches!(domain, Domain::Enum(_)).then(|| domain.clone())
    }

    /// Checks a value of an enumeration, or a variable with the same values.
    pub(super) fn member(
        &mut self,
        context: Context<'_>,
        domain: &Domain,
        expr: &tree::Expr,
    ) -> Resolved<ExprId> {
        let (ExprKind::Term(term), Domain::Enum(names)) = (&expr.kind, domain) else {
            return self.mistyped(expr, "one of the variable's values", "something else");
        };
        if let Some(&var) = self.vocabularies[context.program.index()].plain.get(&term_text(term)) {
            if self.model.var(var).domain == *domain {
                return Some(self.add_expr(Expr::Var(var)));
            }
            return self.mistyped(expr, "a variable with the same values", "one with others");
        }
        if let Some(code) = names.iter().position(|name| *name == term_text(term)) {
            return Some(self.add_expr(Expr::Number(code as i64)));
        }
        let message = format!("`{}` is not one of the values", capped(&term_text(term)));
        let help = did_you_mean(&term.name.text, names)
            .unwrap_or_else(|| format!("the values are {}", capped(&names.join(", "))));
        self.report(Diagnostic::error("bdi/unknown-value", expr.span, message).hint(help));
        None
    }

    /// Checks an arithmetic expression.
    pub(super) fn number(&mut self, context: Context<'_>, expr: &tree::Expr) -> Resolved<ExprId> {
        let result = match &expr.kind {
            ExprKind::Number(value) => Expr::Number(*value),
            ExprKind::Term(term) => {
                let var = self.variable(context, term)?;
                match self.model.var(var).domain {
                    Domain::Range(..) => Expr::Var(var),
                    Domain::Bool => return self.mistyped(expr, "a number", "true or false"),
                    Domain::Enum(_) => return self.mistyped(expr, "a number", "an enumerated value"),
                }
            }
            ExprKind::Sum(items) => {
                let items: Vec<_> =
                    items.iter().map(|(minus, item)| Some((*minus, self.number(context, item)?))).collect();
                Expr::Sum(items.into_iter().collect::<Option<_>>()?)
            }
            _ => return self.mistyped(expr, "a number", "a formula"),
        };
        Some(self.add_expr(result))
    }

    pub(super) fn mistyped<T>(&mut self, expr: &tree::Expr, wanted: &str, found: &str) -> Resolved<T> {
        let message = format!("expected {wanted}, found {found}");
        let help = match (wanted, found) {
            ("a number", "true or false") => {
                Some("`=` compares numbers and values; between formulas write `<->`".to_string())
            }
            ("a formula", _) => Some("compare it with another number".to_string()),
            _ => None,
        };
        let diagnostic = Diagnostic::error("bdi/type-mismatch", expr.span, message);
        self.report(diagnostic.label(format!("this is {found}")).help(help));
        None
    }
}

/// Commitment. [RG91 §5]
impl Checker<'_> {
    /// Returns the formula that defines a commitment.
    ///
    /// ```text
    /// blind          I(i, AF f) -> A[I(i, AF f) U B(i, f)]
    /// single-minded  I(i, AF f) -> A[I(i, AF f) U (B(i, f) | !B(i, EF f))]
    /// open-minded    I(i, AF f) -> A[I(i, AF f) U (B(i, f) | !D(i, EF f))]
    /// ```
    fn commitment(&mut self, commitment: Commitment, intention: &tree::Expr) -> Resolved<tree::Expr> {
        let span = intention.span;
        let (agent, goal) = match &intention.kind {
            ExprKind::Attitude { agent, arg, .. } => match &arg.kind {
                ExprKind::Unary(Quantifier::A, Unary::F, goal) => (agent, goal),
                _ => return self.no_goal(commitment, span),
            },
            _ => return self.no_goal(commitment, span),
        };
        let make = |kind| tree::Expr { kind, span };
        let attitude = |op, arg: tree::Expr| {
            make(ExprKind::Attitude { op, dual: false, agent: agent.clone(), arg: Box::new(arg) })
        };
        let within_reach = make(ExprKind::Unary(Quantifier::E, Unary::F, goal.clone()));
        let done = attitude(Op::B, (**goal).clone());
        let dropped = match commitment {
            Commitment::Blind => done,
            Commitment::SingleMinded | Commitment::OpenMinded => {
                let op = if commitment == Commitment::SingleMinded { Op::B } else { Op::D };
                let not = make(ExprKind::Not(Box::new(attitude(op, within_reach))));
                make(ExprKind::Or(vec![done, not]))
            }
        };
        let kept = ExprKind::Binary(Quantifier::A, Binary::U, Box::new([intention.clone(), dropped]));
        Some(make(ExprKind::Implies(vec![intention.clone(), make(kept)])))
    }

    fn no_goal<T>(&mut self, commitment: Commitment, span: Span) -> Resolved<T> {
        let message = format!("`{}` requires an intention of the form `I(i, AF f)`", commitment.name());
        let diagnostic = Diagnostic::error("bdi/commitment-form", span, message)
            .hint("for other intentions there is `persistent I(i, f) unless g`");
        self.report(diagnostic);
        None
    }
}

/// Returns `AG (I(i, f) -> A[I(i, f) W drop])`.
fn persistence(intention: &tree::Expr, drop: &tree::Expr) -> tree::Expr {
    let make = |kind| tree::Expr { kind, span: intention.span };
    let kept = ExprKind::Binary(Quantifier::A, Binary::W, Box::new([intention.clone(), drop.clone()]));
    let implies = make(ExprKind::Implies(vec![intention.clone(), make(kept)]));
    make(ExprKind::Unary(Quantifier::A, Unary::G, Box::new(implies)))
}
