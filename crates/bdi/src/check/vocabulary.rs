//! Which variables a program has: what it declares or, without a `var` line, what it uses.

use std::collections::hash_map::Entry;

use masque_text::{Diagnostic, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Checker, capped};
use crate::model::{Domain, ProgramId, Var, VarId};
use crate::print::{formula_text, term_text};
use crate::tree::{Assign, Body, Expr, Kind, Stmt, StmtKind, Target, Type, Value};

/// Ranges with more values than this are refused.
const LARGEST_RANGE: u64 = 1 << 24;

/// The variables of a program by canonical text.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    pub(super) plain: FxHashMap<String, VarId>,
    pub(super) explicit: FxHashMap<String, VarId>,
    /// Explicit attitudes as they were first written.
    pub(super) attitudes: Vec<(VarId, Expr)>,
    /// Whether only declared variables exist.
    pub(super) is_closed: bool,
}

/// What is met on the way through a program, in the order of the text.
enum Met<'t> {
    Atom(String, Span),
    Attitude(&'t Expr),
}

impl Checker<'_> {
    /// The variables of a program; plain ones come first.
    pub(super) fn vocabulary(&mut self, program: ProgramId, body: &Body) -> Vocabulary {
        let mut vocabulary = Vocabulary { is_closed: body.has_vars, ..Vocabulary::default() };
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
        self.enumerators(body, &vocabulary);
        let met = walk(body);
        for item in &met {
            if let (Met::Atom(name, span), false) = (item, vocabulary.is_closed)
                && !vocabulary.plain.contains_key(name)
            {
                let var = self.add_var(program, name.clone(), Domain::Bool, *span);
                vocabulary.plain.insert(name.clone(), var);
            }
        }
        for item in met {
            let Met::Attitude(expr) = item else { continue };
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
                if domain.size() > LARGEST_RANGE {
                    let message = format!("the range {low}..{high} has more than {LARGEST_RANGE} values");
                    self.report(Diagnostic::error("bdi/bad-range", *span, message));
                    return Domain::Range(*low, *low);
                }
                domain
            }
            Type::Enum(names) => {
                let mut values: Vec<String> = Vec::new();
                for name in names {
                    if values.contains(&name.text) {
                        self.duplicate("value", &name.text, name.span, variable);
                    } else {
                        values.push(name.text.clone());
                    }
                }
                Domain::Enum(values)
            }
        }
    }

    /// A value that has the name of a variable could be either.
    fn enumerators(&mut self, body: &Body, vocabulary: &Vocabulary) {
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

    pub(super) fn duplicate(&mut self, what: &str, name: &str, span: Span, first: Span) {
        let message = format!("there is a second {what} `{}`", capped(name));
        let diagnostic = Diagnostic::error("bdi/duplicate", span, message).also(first, "the first is here");
        self.report(diagnostic.hint("give one of them another name, or remove it"));
    }
}

/// The attitudes that a program assigns or declares, each once.
pub(super) fn explicit_attitudes(body: &Body) -> Vec<&Expr> {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let attitudes = walk(body).into_iter().filter_map(|item| match item {
        Met::Attitude(expr) => Some(expr),
        Met::Atom(..) => None,
    });
    attitudes.filter(|expr| seen.insert(formula_text(expr))).collect()
}

/// All of a program outside the arguments of attitudes, in the order of the text.
fn walk(body: &Body) -> Vec<Met<'_>> {
    let mut met = Vec::new();
    for decl in &body.bdis {
        met.push(Met::Attitude(&decl.atom));
        if let Some(definition) = &decl.definition {
            walk_expr(definition, None, &mut met);
        }
    }
    for assign in &body.init {
        walk_assign(assign, &mut met);
    }
    for stmt in &body.program {
        walk_stmt(stmt, &mut met);
    }
    met
}

fn walk_assign<'t>(assign: &'t Assign, met: &mut Vec<Met<'t>>) {
    let bound = match &assign.target {
        Target::Term(term) => {
            met.push(Met::Atom(term_text(term), term.span));
            None
        }
        Target::Attitude(expr) => {
            met.push(Met::Attitude(expr));
            None
        }
        Target::All(name) => Some(name.text.as_str()),
    };
    if let Value::Expr(expr) = &assign.value {
        walk_expr(expr, bound, met);
    }
}

fn walk_stmt<'t>(stmt: &'t Stmt, met: &mut Vec<Met<'t>>) {
    match &stmt.kind {
        StmtKind::Skip => {}
        StmtKind::Do(action) => {
            if action.name.text == "read" {
                for arg in action.args.iter().flatten() {
                    walk_expr(arg, None, met);
                }
            }
        }
        StmtKind::Assign(assigns) => assigns.iter().for_each(|assign| walk_assign(assign, met)),
        StmtKind::If { arms, otherwise } => {
            for (condition, body) in arms {
                walk_expr(condition, None, met);
                walk_stmt(body, met);
            }
            if let Some(body) = otherwise {
                walk_stmt(body, met);
            }
        }
        StmtKind::Loop(stmts) | StmtKind::Choice(stmts) | StmtKind::Block(stmts) => {
            stmts.iter().for_each(|stmt| walk_stmt(stmt, met));
        }
    }
}

/// The atoms of a formula; the name that a `forall` binds is none.
fn walk_expr<'t>(expr: &'t Expr, bound: Option<&str>, met: &mut Vec<Met<'t>>) {
    match &expr.kind {
        Kind::Term(term) => {
            if bound != Some(term.name.text.as_str()) || term.args.is_some() {
                met.push(Met::Atom(term_text(term), term.span));
            }
        }
        Kind::Constant(_) | Kind::Number(_) | Kind::Do(_) | Kind::Attitude { .. } => {}
        Kind::Not(arg) | Kind::Unary(_, _, arg) | Kind::Commit(_, arg) => walk_expr(arg, bound, met),
        Kind::And(items) | Kind::Or(items) | Kind::Implies(items) | Kind::Iff(items) => {
            items.iter().for_each(|item| walk_expr(item, bound, met));
        }
        Kind::Binary(_, _, args) | Kind::Compare(_, args) | Kind::Persistent(args) => {
            args.iter().for_each(|arg| walk_expr(arg, bound, met));
        }
        Kind::Sum(items) => items.iter().for_each(|(_, item)| walk_expr(item, bound, met)),
    }
}
