//! Checks programs: types of assignments, and compilation to points.
//!
//! A statement is compiled with the point `next` at which the program continues, and compilation
//! returns the entry of the statement. So sequences are compiled from right to left, and the entry of an
//! empty block is `next` itself.

use masque_text::{Diagnostic, Span};
use rustc_hash::FxHashSet;

use super::formula::{Context, Resolved};
use super::{BYTES_PER_PART, Checker};
use crate::model::{
    Assign, Attitude, Condition2, Domain, Edge, Expr, Formula, FormulaId, Point, PointId, ProgramId, Step,
    Value, VarId,
};
use crate::print::{formula_text, term_text};
use crate::tree::{self, Body, ExprKind, Stmt, StmtKind, Target};

impl Checker<'_> {
    /// Checks the arguments of the explicit attitudes of a program.
    pub(super) fn attitudes(&mut self, program: ProgramId) {
        let attitudes = std::mem::take(&mut self.vocabularies[program.index()].attitudes);
        for (var, expr) in &attitudes {
            let ExprKind::Attitude { op, agent, arg, .. } = &expr.kind else { continue };
            let Some(agent) = self.agent(agent) else { continue };
            let edge = Edge { op: *op, agent };
            let child = self.model.child(program, edge);
            self.declare_actions();
            if let Some(arg) = self.formula(Context::temporal(child), arg) {
                self.model.vars[var.index()].attitude = Some(Attitude { edge, arg });
            }
        }
    }

    /// Declares the actions of all programs, so that `do a` can be resolved in every formula.
    fn declare_actions(&mut self) {
        if std::mem::replace(&mut self.has_actions, true) {
            return;
        }
        for index in 0..self.bodies.len() {
            let program = ProgramId(index as u32);
            let mut open: Vec<&Stmt> = self.bodies[index].program.iter().rev().collect();
            while let Some(stmt) = open.pop() {
                match &stmt.kind {
                    StmtKind::Do(action) => _ = self.performed(program, action),
                    StmtKind::If { arms, otherwise } => {
                        open.extend(otherwise.iter().map(|body| &**body));
                        open.extend(arms.iter().rev().map(|(_, body)| body));
                    }
                    StmtKind::Loop(stmts) | StmtKind::Choice(stmts) | StmtKind::Block(stmts) => {
                        open.extend(stmts.iter().rev());
                    }
                    StmtKind::Skip | StmtKind::Assign(_) => {}
                }
            }
        }
    }

    fn performed(&mut self, program: ProgramId, term: &tree::Term) -> crate::model::ActionId {
        match self.action_ids.get(&(program, term_text(term))) {
            Some(&id) => id,
            None => self.add_action(program, term, true),
        }
    }

    /// Checks definitions, fairness conditions, initial assignments and statements of a program.
    pub(super) fn program(&mut self, program: ProgramId, body: &Body) {
        self.declare_actions();
        for decl in &body.bdis {
            let Some(definition) = &decl.definition else { continue };
            let Some(&var) = self.vocabularies[program.index()].explicit.get(&formula_text(&decl.atom))
            else {
                continue;
            };
            let definition = self.formula(Context::fixed(program), definition);
            if self.model.var(var).definition.is_some() {
                let (name, first) = (self.model.var(var).name.clone(), self.model.var(var).span);
                self.duplicate("definition", &name, decl.atom.span, first);
            }
            self.model.vars[var.index()].definition = definition;
        }
        for fair in &body.fair {
            let fair = self.formula(Context::fixed(program), fair);
            self.model.programs[program.index()].fair.extend(fair);
        }
        let init = self.assigns(program, &body.init);
        let end = self.point(program, Point::End);
        let entry = self.sequence(program, &body.program, end);
        let program = &mut self.model.programs[program.index()];
        (program.init, program.entry) = (init, entry);
    }

    fn point(&mut self, program: ProgramId, point: Point) -> PointId {
        self.limits.charge(BYTES_PER_PART);
        let points = &mut self.model.programs[program.index()].points;
        points.push(point);
        PointId(points.len() as u32 - 1)
    }

    fn sequence(&mut self, program: ProgramId, stmts: &[Stmt], next: PointId) -> PointId {
        let stuck = stmts.iter().position(never_ends);
        if let Some(dead) = stuck.and_then(|index| stmts.get(index + 1)) {
            let diagnostic = Diagnostic::note("bdi/dead-code", dead.span, "this is never reached")
                .label("the statement before it never ends")
                .hint("a loop is never left; put what follows inside it, or before it");
            self.report(diagnostic);
        }
        stmts.iter().rev().fold(next, |next, stmt| self.statement(program, stmt, next))
    }

    fn statement(&mut self, program: ProgramId, stmt: &Stmt, next: PointId) -> PointId {
        match &stmt.kind {
            StmtKind::Skip => {
                let step = Step { action: None, assigns: Vec::new() };
                self.point(program, Point::Step(step, next))
            }
            StmtKind::Do(action) => {
                let is_read = action.name.text == "read";
                let assigns = if is_read { self.read(program, action) } else { Vec::new() };
                let action = Some(self.performed(program, action));
                self.point(program, Point::Step(Step { action, assigns }, next))
            }
            StmtKind::Assign(assigns) => {
                let assigns = self.assigns(program, assigns);
                self.point(program, Point::Step(Step { action: None, assigns }, next))
            }
            StmtKind::If { arms, otherwise } => {
                let mut rest = match otherwise {
                    Some(body) => self.statement(program, body, next),
                    None => next,
                };
                for (condition, body) in arms.iter().rev() {
                    let body = self.statement(program, body, next);
                    if let Some(condition) = self.formula(Context::fixed(program), condition) {
                        rest = self.point(program, Point::If(condition, body, rest));
                    }
                }
                rest
            }
            StmtKind::Loop(stmts) => {
                let head = self.point(program, Point::End);
                let body = self.sequence(program, stmts, head);
                self.model.programs[program.index()].points[head.index()] = Point::Loop(body);
                head
            }
            StmtKind::Choice(stmts) => {
                let points = stmts.iter().map(|stmt| self.statement(program, stmt, next)).collect();
                self.point(program, Point::Choice(points))
            }
            StmtKind::Block(stmts) => self.sequence(program, stmts, next),
        }
    }

    /// Returns the assignments of `do read(x, y)`: each variable gets an arbitrary value.
    fn read(&mut self, program: ProgramId, action: &tree::Term) -> Vec<Assign> {
        let mut assigns: Vec<Assign> = Vec::new();
        for arg in action.args.iter().flatten() {
            let ExprKind::Term(term) = &arg.kind else {
                let diagnostic = Diagnostic::error(
                    "bdi/read-target",
                    arg.span,
                    "the arguments of `read` must be variables of the program",
                )
                .hint("write `do read(p, q)`");
                self.report(diagnostic);
                continue;
            };
            if let Some(var) = self.variable(Context::fixed(program), term) {
                assigns.push(Assign { var, value: Value::Any, span: arg.span });
            }
        }
        assigns
    }

    /// Checks the assignments of one step; the last of several assignments to a variable counts.
    fn assigns(&mut self, program: ProgramId, assigns: &[tree::Assign]) -> Vec<Assign> {
        let mut result: Vec<Assign> = Vec::new();
        let mut add = |assign: Option<Assign>| result.extend(assign);
        for assign in assigns {
            if self.is_stopped() {
                break;
            }
            match &assign.target {
                Target::Term(term) => {
                    let var = self.variable(Context::fixed(program), term);
                    add(var.and_then(|var| self.assign(Context::fixed(program), var, assign)));
                }
                Target::Attitude(expr) => {
                    let known = self.vocabularies[program.index()].explicit.get(&formula_text(expr));
                    let Some(&var) = known else { continue };
                    if self.model.var(var).definition.is_some() {
                        self.defined(var, expr.span);
                    } else {
                        add(self.assign(Context::fixed(program), var, assign));
                    }
                }
                Target::All(name, _) => {
                    for index in 0..self.model.program(program).vars.len() {
                        let var = self.model.program(program).vars[index];
                        let variable = self.model.var(var);
                        if variable.domain == Domain::Bool && variable.definition.is_none() {
                            let bound = Some((name.text.as_str(), var));
                            let context = Context { bound, ..Context::fixed(program) };
                            add(self.assign(context, var, assign));
                        }
                    }
                }
            }
        }
        last_of_each(result)
    }

    fn defined(&mut self, var: VarId, span: Span) {
        let message = format!("`{}` is defined and cannot be assigned", self.model.var(var).name);
        let diagnostic = Diagnostic::error("bdi/defined", span, message)
            .also(self.model.var(var).span, "it is defined here")
            .hint("assign to the attitudes that its definition reads");
        self.report(diagnostic);
    }

    fn assign(&mut self, context: Context<'_>, var: VarId, assign: &tree::Assign) -> Resolved<Assign> {
        let span = assign.span;
        let tree::Value::Expr(expr) = &assign.value else {
            return Some(Assign { var, value: Value::Any, span });
        };
        let domain = self.model.var(var).domain.clone();
        let value = match &domain {
            Domain::Bool => Value::Formula(self.formula(context, expr)?),
            Domain::Enum(_) => Value::Expr(self.member(context, &domain, expr)?),
            Domain::Range(low, high) => {
                let number = self.number(context, expr)?;
                if let Expr::Number(value) = self.model.exprs[number.index()]
                    && !(*low..=*high).contains(&value)
                {
                    let name = &self.model.var(var).name;
                    let message = format!("`{name}` goes from {low} to {high} and cannot be {value}");
                    let declared = self.model.var(var).span;
                    let diagnostic = Diagnostic::error("bdi/out-of-range", expr.span, message)
                        .also(declared, "its range is declared here");
                    self.report(diagnostic);
                    return None;
                }
                Value::Expr(number)
            }
        };
        Some(Assign { var, value, span })
    }
}

/// The last assignment to each variable, in the order of the text.
fn last_of_each(assigns: Vec<Assign>) -> Vec<Assign> {
    let mut seen = FxHashSet::default();
    let mut last: Vec<Assign> = assigns.into_iter().rev().filter(|assign| seen.insert(assign.var)).collect();
    last.reverse();
    last
}

/// Whether control never leaves a statement.
fn never_ends(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Loop(_) => true,
        StmtKind::Choice(stmts) => stmts.iter().all(never_ends),
        StmtKind::Block(stmts) => stmts.iter().any(never_ends),
        StmtKind::If { arms, otherwise: Some(last) } => {
            arms.iter().all(|(_, body)| never_ends(body)) && never_ends(last)
        }
        _ => false,
    }
}

/// Definitions.
impl Checker<'_> {
    /// Reports definitions that depend on themselves.
    ///
    /// A definition reads the label of an explicit attitude, and all explicit attitudes of the edge of
    /// any other attitude. With `condition2 = infer` it reads every attitude in the second way.
    pub(super) fn check_definitions(&mut self) {
        for index in 0..self.model.vars.len() {
            let start = VarId(index as u32);
            if self.model.vars[index].definition.is_none() || self.is_stopped() {
                continue;
            }
            let mut seen = vec![false; self.model.vars.len()];
            let mut open = vec![start];
            let mut is_cyclic = false;
            while let Some(var) = open.pop()
                && !self.is_stopped()
            {
                let Some(definition) = self.model.var(var).definition else { continue };
                for read in self.read_by(var, definition) {
                    is_cyclic |= read == start;
                    if !std::mem::replace(&mut seen[read.index()], true) {
                        open.push(read);
                    }
                }
            }
            if is_cyclic {
                let var = self.model.var(start);
                let message = format!("the definition of `{}` depends on itself", var.name);
                let diagnostic = Diagnostic::error("bdi/cyclic-definition", var.span, message)
                    .hint("an attitude that is not explicit depends on all explicit ones about that agent");
                self.report(diagnostic);
            }
        }
    }

    /// Returns the attitudes whose labels a definition reads.
    fn read_by(&self, var: VarId, definition: FormulaId) -> Vec<VarId> {
        let mut read = Vec::new();
        for attitude in self.model.attitudes(definition) {
            let Formula::Attitude { edge, explicit, .. } = *self.model.formula(attitude) else { continue };
            match explicit {
                Some(explicit) if self.model.options.condition2 == Condition2::Remove => read.push(explicit),
                _ => {
                    let program = self.model.program(self.model.var(var).program);
                    let is_of_edge =
                        |v: &&VarId| self.model.var(**v).attitude.is_some_and(|a| a.edge == edge);
                    read.extend(program.vars.iter().filter(is_of_edge));
                }
            }
        }
        read
    }
}
