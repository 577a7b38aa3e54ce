//! The variables of a program: those it declares or, without a `var` line, those it uses.

use std::collections::hash_map::Entry;

use masque_text::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Checker, capped};
use crate::model::{Domain, ProgramId, Var, VarId};
use crate::print::{formula_text, term_text};
use crate::tree::{Assign, Body, Expr, ExprKind, Stmt, StmtKind, Target, Type, Value};

/// Maximum number of values of a range.
const MAX_RANGE_VALUES: u64 = 1 << 24;

/// The variables of a program by canonical text.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    pub(super) plain: FxHashMap<String, VarId>,
    pub(super) explicit: FxHashMap<String, VarId>,
    /// Explicit attitudes as they were first written.
    pub(super) attitudes: Vec<(VarId, Expr)>,
    /// Whether only declared variables exist.
    pub(super) is_closed: bool,
    /// Location of the first declared variable.
    pub(super) first_declared: Option<Span>,
}

/// A mention of a variable in a program.
enum Mention<'t> {
    Atom(String, Span),
    Attitude(&'t Expr),
}

impl Checker<'_> {
    /// Adds the variables of a program to the model, plain ones first.
    pub(super) fn vocabulary(&mut self, program: ProgramId, body: &Body) -> Vocabulary {
        let first_declared = body.vars.first().map(|decl| decl.term.span);
        let mut vocabulary = Vocabulary { is_closed: body.has_vars, first_declared, ..Vocabulary::default() };
        for decl in &body.vars {
            let name = term_text(&decl.term);
            let domain = self.domain(&decl.kind, decl.term.span);
            if let Some(&first) = vocabulary.plain.get(&name) {
                let first = self.model.var(first).span;
                self.duplicate("variable", &name, decl.term.span, first);
                continue;
            }
            let var = self.add_var(program, name.clone(), domain, decl.term.span);
            vocabulary.plain.insert(name, var);
        }
        self.check_value_names(body, &vocabulary);
        let found = mentions(body);
        for item in &found {
            if let (Mention::Atom(name, span), false) = (item, vocabulary.is_closed)
                && !vocabulary.plain.contains_key(name)
            {
                let var = self.add_var(program, name.clone(), Domain::Bool, *span);
                vocabulary.plain.insert(name.clone(), var);
            }
        }
        for item in found {
            let Mention::Attitude(expr) = item else { continue };
            let name = formula_text(expr);
            if let Entry::Vacant(entry) = vocabulary.explicit.entry(name) {
                let var = self.add_var(program, entry.key().clone(), Domain::Bool, expr.span);
                entry.insert(var);
                vocabulary.attitudes.push((var, expr.clone()));
            }
        }
        vocabulary
    }

    fn add_var(&mut self, program: ProgramId, name: String, domain: Domain, span: Span) -> VarId {
        let id = VarId(self.model.vars.len() as u32);
        self.model.vars.push(Var { program, name, domain, attitude: None, definition: None, span });
        self.model.programs[program.index()].vars.push(id);
        id
    }

    fn domain(&mut self, kind: &Type, variable: Span) -> Domain {
        match kind {
            Type::Bool => Domain::Bool,
            Type::Range(low, high, span) => {
                let domain = Domain::Range(*low, *high);
                if low > high {
                    let message = format!("the range {low}..{high} is empty");
                    self.report(Diagnostic::error("bdi/bad-range", *span, message));
                    return Domain::Range(*low, *low);
                }
                if domain.size() > MAX_RANGE_VALUES {
                    let message = format!("the range {low}..{high} has more than {MAX_RANGE_VALUES} values");
                    self.report(Diagnostic::error("bdi/bad-range", *span, message));
                    return Domain::Range(*low, *low);
                }
                domain
            }
            Type::Enum(names) => {
                let (mut values, mut seen): (Vec<String>, _) = (Vec::new(), FxHashSet::default());
                for name in names {
                    if seen.insert(&name.text) {
                        values.push(name.text.clone());
                    } else {
                        self.duplicate("value", &name.text, name.span, variable);
                    }
                }
                Domain::Enum(values)
            }
        }
    }

    /// Reports enumerated values that have the name of a variable.
    fn check_value_names(&mut self, body: &Body, vocabulary: &Vocabulary) {
        for decl in &body.vars {
            let Type::Enum(names) = &decl.kind else { continue };
            for name in names {
                if let Some(&var) = vocabulary.plain.get(&name.text) {
                    let first = self.model.var(var).span;
                    self.duplicate("variable", &name.text, name.span, first);
                }
            }
        }
    }

    /// Reports a second declaration.
    pub(super) fn duplicate(&mut self, what: &str, name: &str, span: Span, first: Span) {
        let message = format!("there is a second {what} `{}`", capped(name));
        let diagnostic = Diagnostic::error("bdi/duplicate", span, message).also(first, "first declared here");
        self.report(diagnostic.hint("give one of them another name, or remove it"));
    }
}

/// Returns the attitudes that a program assigns or declares, each once.
pub(super) fn explicit_attitudes(body: &Body) -> Vec<&Expr> {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let attitudes = mentions(body).into_iter().filter_map(|item| match item {
        Mention::Attitude(expr) => Some(expr),
        Mention::Atom(..) => None,
    });
    attitudes.filter(|expr| seen.insert(formula_text(expr))).collect()
}

/// Returns the variables mentioned in a program outside the arguments of attitudes, in the order of the
/// text.
fn mentions(body: &Body) -> Vec<Mention<'_>> {
    let mut mentions = Vec::new();
    for decl in &body.bdis {
        mentions.push(Mention::Attitude(&decl.atom));
        if let Some(definition) = &decl.definition {
            mentions_in_expr(definition, None, &mut mentions);
        }
    }
    for assign in &body.init {
        mentions_in_assign(assign, &mut mentions);
    }
    for stmt in &body.program {
        mentions_in_stmt(stmt, &mut mentions);
    }
    mentions
}

fn mentions_in_assign<'t>(assign: &'t Assign, mentions: &mut Vec<Mention<'t>>) {
    let bound = match &assign.target {
        Target::Term(term) => {
            mentions.push(Mention::Atom(term_text(term), term.span));
            None
        }
        Target::Attitude(expr) => {
            mentions.push(Mention::Attitude(expr));
            None
        }
        Target::All(name, _) => Some(name.text.as_str()),
    };
    if let Value::Expr(expr) = &assign.value {
        mentions_in_expr(expr, bound, mentions);
    }
}

fn mentions_in_stmt<'t>(stmt: &'t Stmt, mentions: &mut Vec<Mention<'t>>) {
    match &stmt.kind {
        StmtKind::Skip => {}
        StmtKind::Do(action) => {
            if action.name.text == "read" {
                for arg in action.args.iter().flatten() {
                    mentions_in_expr(arg, None, mentions);
                }
            }
        }
        StmtKind::Assign(assigns) => assigns.iter().for_each(|assign| mentions_in_assign(assign, mentions)),
        StmtKind::If { arms, otherwise } => {
            for (condition, body) in arms {
                mentions_in_expr(condition, None, mentions);
                mentions_in_stmt(body, mentions);
            }
            if let Some(body) = otherwise {
                mentions_in_stmt(body, mentions);
            }
        }
        StmtKind::Loop(stmts) | StmtKind::Choice(stmts) | StmtKind::Block(stmts) => {
            stmts.iter().for_each(|stmt| mentions_in_stmt(stmt, mentions));
        }
    }
}

/// Adds the atoms of a formula, except for the name that a `forall` binds.
fn mentions_in_expr<'t>(expr: &'t Expr, bound: Option<&str>, mentions: &mut Vec<Mention<'t>>) {
    match &expr.kind {
        ExprKind::Term(term) => {
            if bound != Some(term.name.text.as_str()) || term.args.is_some() {
                mentions.push(Mention::Atom(term_text(term), term.span));
            }
        }
        ExprKind::Constant(_) | ExprKind::Number(_) | ExprKind::Do(_) | ExprKind::Attitude { .. } => {}
        ExprKind::Not(arg) | ExprKind::Unary(_, _, arg) | ExprKind::Commit(_, arg) => {
            mentions_in_expr(arg, bound, mentions)
        }
        ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Implies(items) | ExprKind::Iff(items) => {
            items.iter().for_each(|item| mentions_in_expr(item, bound, mentions));
        }
        ExprKind::Binary(_, _, args) | ExprKind::Compare(_, args) | ExprKind::Persistent(args) => {
            args.iter().for_each(|arg| mentions_in_expr(arg, bound, mentions));
        }
        ExprKind::Sum(items) => items.iter().for_each(|(_, item)| mentions_in_expr(item, bound, mentions)),
    }
}
