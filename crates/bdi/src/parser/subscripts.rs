//! Attitudes with a subscript and brackets: `B_rcv(p | q)`.
//!
//! Such a text is also a name with arguments. It is an attitude if `rcv` is an agent of the system and no program
//! declares a variable `B_rcv(..)`. Agents may stand in another file, so this is decided when all files are read.
//! Likewise, `view B_rcv in snd` is a view of `B_rcv` if there is such an agent, and of `B(rcv)` if not.

use rustc_hash::FxHashSet;

use super::{Rewrite, operator};
use crate::tree::{
    Assign, Body, Expr, ExprKind, Name, Op, Question, Stmt, StmtKind, Target, Term, Tree, Value, View,
};

/// Replaces terms such as `B_rcv(f)` by attitudes. Returns how the formatter writes them.
pub(super) fn resolve(tree: &mut Tree) -> Vec<Rewrite> {
    let agents: FxHashSet<String> = tree.agents.iter().map(|agent| agent.name.text.clone()).collect();
    let bodies = tree.agents.iter().map(|agent| &agent.body).chain(tree.views.iter().map(|view| &view.body));
    let declared = bodies
        .flat_map(|body| &body.vars)
        .filter(|decl| decl.term.args.is_some())
        .map(|decl| decl.term.name.text.clone())
        .collect();
    let mut resolver = Resolver { agents, declared, rewrites: Vec::new() };
    tree.agents.iter_mut().for_each(|agent| resolver.body(&mut agent.body));
    tree.views.iter_mut().for_each(|view| resolver.view(view));
    for property in &mut tree.properties {
        if let Question::Formula(formula) = &mut property.question {
            resolver.expr(formula);
        }
    }
    resolver.rewrites
}

struct Resolver {
    /// Names of the agents.
    agents: FxHashSet<String>,
    /// Functors of declared variables with arguments.
    declared: FxHashSet<String>,
    rewrites: Vec<Rewrite>,
}

impl Resolver {
    fn view(&mut self, view: &mut View) {
        if let (None, Some((op, agent))) = (view.op, self.subscripted_agent(&view.agent)) {
            let text = format!("{}({})", op.name(), agent.text);
            self.rewrites.push(Rewrite { span: view.agent.span, text });
            (view.op, view.agent) = (Some(op), agent);
        }
        self.body(&mut view.body);
    }

    /// Returns operator and agent of `B_rcv`, if this is not the name of an agent.
    fn subscripted_agent(&self, name: &Name) -> Option<(Op, Name)> {
        let (letters, agent) = name.text.split_once('_')?;
        let (op, dual) = operator(letters)?;
        if dual || self.agents.contains(&name.text) || !self.agents.contains(agent) {
            return None;
        }
        let span = name.span.slice(letters.len() as u32 + 1, name.text.len() as u32);
        Some((op, Name { text: agent.to_string(), span }))
    }

    fn body(&mut self, body: &mut Body) {
        for decl in &mut body.bdis {
            self.expr(&mut decl.atom);
            decl.definition.iter_mut().for_each(|definition| self.expr(definition));
        }
        body.fair.iter_mut().for_each(|fair| self.expr(fair));
        body.init.iter_mut().for_each(|assign| self.assign(assign));
        body.program.iter_mut().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Skip => {}
            StmtKind::Do(action) => self.args(action),
            StmtKind::Assign(assigns) => assigns.iter_mut().for_each(|assign| self.assign(assign)),
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.expr(condition);
                    self.stmt(body);
                }
                otherwise.iter_mut().for_each(|body| self.stmt(body));
            }
            StmtKind::Loop(stmts) | StmtKind::Choice(stmts) | StmtKind::Block(stmts) => {
                stmts.iter_mut().for_each(|stmt| self.stmt(stmt));
            }
        }
    }

    fn assign(&mut self, assign: &mut Assign) {
        match &mut assign.target {
            Target::Term(term) => match self.attitude(term) {
                Some(kind) if !matches!(kind, ExprKind::Attitude { dual: true, .. }) => {
                    assign.target = Target::Attitude(Expr { kind, span: term.span });
                }
                _ => self.args(term),
            },
            Target::Attitude(expr) => self.expr(expr),
            Target::All(..) => {}
        }
        if let Value::Expr(expr) = &mut assign.value {
            self.expr(expr);
        }
    }

    fn args(&mut self, term: &mut Term) {
        term.args.iter_mut().flatten().for_each(|arg| self.expr(arg));
    }

    fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Constant(_) | ExprKind::Number(_) => {}
            ExprKind::Term(term) => match self.attitude(term) {
                Some(kind) => expr.kind = kind,
                None => self.args(term),
            },
            ExprKind::Do(action) => self.args(action),
            ExprKind::Not(arg) | ExprKind::Unary(_, _, arg) | ExprKind::Commit(_, arg) => self.expr(arg),
            ExprKind::Attitude { arg, .. } => self.expr(arg),
            ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Implies(items) | ExprKind::Iff(items) => {
                items.iter_mut().for_each(|item| self.expr(item));
            }
            ExprKind::Binary(_, _, args) | ExprKind::Compare(_, args) | ExprKind::Persistent(args) => {
                args.iter_mut().for_each(|arg| self.expr(arg));
            }
            ExprKind::Sum(items) => items.iter_mut().for_each(|(_, item)| self.expr(item)),
        }
    }

    /// Returns the attitude that a term stands for, if it is one.
    fn attitude(&mut self, term: &Term) -> Option<ExprKind> {
        let (letters, agent) = term.name.text.split_once('_')?;
        let (op, dual) = operator(letters)?;
        let Some([arg]) = term.args.as_deref() else { return None };
        if !self.agents.contains(agent) || self.declared.contains(&term.name.text) {
            return None;
        }
        let mut arg = Box::new(arg.clone());
        self.expr(&mut arg);
        let at = letters.len() as u32;
        let span = term.name.span.slice(at + 1, term.name.text.len() as u32);
        self.rewrites.push(Rewrite { span: term.name.span, text: letters.to_string() });
        let before = arg.span.slice(0, 0);
        self.rewrites.push(Rewrite { span: before, text: format!("{agent}, ") });
        Some(ExprKind::Attitude { op, dual, agent: Name { text: agent.to_string(), span }, arg })
    }
}
