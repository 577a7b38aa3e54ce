//! Names in the items of the tree.

use masque_text::Span;

use super::items::{Item, ItemKind};
use super::scopes::{Key, ProgramIndex, Scopes};
use crate::parser::operator;
use crate::print::term_text;
use crate::tree::{
    Assign, Body, Expr, ExprKind, Name, Op, Path, Question, Stmt, StmtKind, Target, Term, Type, Value,
};

/// Declares the names of an agent or a view of the tree, so that they can be used in any item.
pub(super) fn declare_names(scopes: &mut Scopes<'_>, item: &Item) {
    let is_view = item.kind == ItemKind::View;
    let Some(at) = item.in_tree.filter(|_| is_view || item.kind == ItemKind::Agent) else { return };
    let Some(&program) = scopes.in_tree.get(&(is_view, at)) else { return };
    let tree = scopes.tree;
    let body = if is_view { &tree.views[at].body } else { &tree.agents[at].body };
    for decl in &body.vars {
        let key = Key::Variable(decl.term.name.text.clone(), decl.term.args.is_some());
        let (whole, text, domain) = variable(scopes, &decl.term, &decl.kind);
        let declared = scopes.declare_in(program, key, &decl.term.name, whole, text);
        let details = &mut scopes.declarations[declared as usize].details;
        if details.len() == 1 {
            details.push(domain);
        }
        if let Type::Enum(values) = &decl.kind {
            for value in values {
                let text = format!("{} : value of {}", value.text, decl.term.name.text);
                let key = Key::Value(value.text.clone());
                scopes.declare_in(program, key, value, value.span, text);
            }
        }
    }
    let mut walker = Walker { scopes, declares: true };
    walker.body(program, body);
}

/// Returns location, text and domain of a declared variable.
fn variable(scopes: &Scopes<'_>, term: &Term, kind: &Type) -> (Span, String, String) {
    let name = term_text(term);
    let bits = |n_values: u64| u64::BITS - n_values.saturating_sub(1).leading_zeros();
    match kind {
        Type::Bool => (term.span, format!("{name} : boolean"), "true or false, 1 bit".to_string()),
        Type::Range(low, high, span) => {
            let n_values = high.saturating_sub(*low).saturating_add(1).max(0) as u64;
            let text = format!("{name} : {}", super::scopes::one_line(scopes.sources.slice(*span)));
            (term.span.to(*span), text, format!("{n_values} values, {} bits", bits(n_values)))
        }
        Type::Enum(values) => {
            let names: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
            let text = super::scopes::one_line(&format!("{name} : {{{}}}", names.join(", ")));
            let whole = values.last().map_or(term.span, |last| term.span.to(last.span));
            let n_values = values.len() as u64;
            (whole, text, format!("{n_values} values, {} bits", bits(n_values)))
        }
    }
}

/// Adds the uses of names in all items of the tree.
pub(super) fn use_names(scopes: &mut Scopes<'_>) {
    let tree = scopes.tree;
    for at in 0..tree.agents.len() {
        if let Some(&program) = scopes.in_tree.get(&(false, at)) {
            Walker { scopes, declares: false }.body(program, &tree.agents[at].body);
        }
    }
    for (at, view) in tree.views.iter().enumerate() {
        scopes.use_agent(&view.agent);
        scopes.use_agent(&view.observer);
        if let Some(&program) = scopes.in_tree.get(&(true, at)) {
            Walker { scopes, declares: false }.body(program, &view.body);
        }
    }
    for name in tree.mas.iter().flat_map(|(names, _)| names).chain(&tree.tops) {
        scopes.use_agent(name);
    }
    for property in &tree.properties {
        let mut walker = Walker { scopes, declares: false };
        let program = match &property.path {
            Some(path) => walker.path(path),
            None => walker.scopes.top,
        };
        walker.question(program, &property.question, property.question_span);
    }
    for option in tree.options.iter().filter(|option| option.name.text == "delay") {
        if !matches!(option.value.text.as_str(), "all" | "none") {
            scopes.join_actions(&option.value);
        }
    }
}

/// Context in which names are read.
#[derive(Clone, Copy)]
struct Context<'a> {
    /// Program that names belong to; `None` if it is unknown.
    program: Option<ProgramIndex>,
    /// Program of the outermost formula.
    observer: Option<ProgramIndex>,
    /// Name that a `forall` binds, and its declaration.
    bound: Option<(&'a str, Option<u32>)>,
    /// Whether names are variables even if they are not declared.
    is_mention: bool,
    /// Whether the names are arguments of a term, where agents are named, too.
    is_argument: bool,
}

impl<'a> Context<'a> {
    fn of(program: Option<ProgramIndex>, is_mention: bool) -> Context<'a> {
        Context { program, observer: program, bound: None, is_mention, is_argument: false }
    }
}

/// Walks over items; declares names that need no declaration, or adds uses.
struct Walker<'s, 't> {
    scopes: &'s mut Scopes<'t>,
    declares: bool,
}

impl Walker<'_, '_> {
    fn body(&mut self, program: ProgramIndex, body: &Body) {
        let context = Context::of(Some(program), true);
        let declared = if self.declares { &[][..] } else { &body.vars };
        for decl in declared {
            self.variable(Context { is_mention: false, ..context }, &decl.term);
            if let Type::Enum(values) = &decl.kind {
                for value in values {
                    let known = self.scopes.programs[program].names.get(&Key::Value(value.text.clone()));
                    if let Some(&declaration) = known {
                        self.scopes.add_use(value.span, declaration);
                    }
                }
            }
        }
        for decl in &body.bdis {
            self.expr(context, &decl.atom);
            decl.definition.iter().for_each(|definition| self.expr(context, definition));
        }
        for fair in &body.fair {
            self.expr(Context { is_mention: false, ..context }, fair);
        }
        body.init.iter().for_each(|assign| self.assign(context, assign));
        body.program.iter().for_each(|stmt| self.stmt(context, stmt));
    }

    fn stmt(&mut self, context: Context<'_>, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Skip => {}
            StmtKind::Do(action) => self.action(context, action),
            StmtKind::Assign(assigns) => assigns.iter().for_each(|assign| self.assign(context, assign)),
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.expr(context, condition);
                    self.stmt(context, body);
                }
                otherwise.iter().for_each(|body| self.stmt(context, body));
            }
            StmtKind::Loop(stmts) | StmtKind::Choice(stmts) | StmtKind::Block(stmts) => {
                stmts.iter().for_each(|stmt| self.stmt(context, stmt));
            }
        }
    }

    fn assign(&mut self, context: Context<'_>, assign: &Assign) {
        let mut bound = None;
        match &assign.target {
            Target::Term(term) => self.term(context, term),
            Target::Attitude(expr) => self.expr(context, expr),
            Target::All(name, again) => {
                let mut index = None;
                if !self.declares {
                    let declared = self.scopes.declare_index(context.program, name, name.span.to(*again));
                    self.scopes.add_use(*again, declared);
                    index = Some(declared);
                }
                bound = Some((name.text.as_str(), index));
            }
        }
        if let Value::Expr(expr) = &assign.value {
            self.expr(Context { bound, ..context }, expr);
        }
    }

    /// Reads an action: its arguments are names only, but those of `read` are variables.
    fn action(&mut self, context: Context<'_>, term: &Term) {
        // `read` is built in and is not a name.
        if let Some(program) = context.program
            && term.name.text != "read"
        {
            let key = Key::Action(term.name.text.clone());
            let text = format!("do {}", super::scopes::one_line(&term_text(term)));
            let action = self.scopes.declare_in(program, key, &term.name, term.span, text);
            if !self.declares {
                self.scopes.add_use(term.name.span, action);
                self.observe(context, action);
            }
        }
        let is_mention = context.is_mention && term.name.text == "read";
        self.args(Context { is_mention, ..context }, term);
    }

    fn args(&mut self, context: Context<'_>, term: &Term) {
        let context = Context { bound: None, is_argument: true, ..context };
        term.args.iter().flatten().for_each(|arg| self.expr(context, arg));
    }

    /// Reads a variable or an enumerated value.
    fn variable(&mut self, context: Context<'_>, term: &Term) {
        if let (Some((bound, index)), None) = (context.bound, &term.args)
            && bound == term.name.text
        {
            index.into_iter().for_each(|index| self.scopes.add_use(term.name.span, index));
            return;
        }
        let key = Key::Variable(term.name.text.clone(), term.args.is_some());
        if let Some(program) = context.program {
            let is_open = self.scopes.programs[program].is_open;
            if self.declares && context.is_mention && is_open {
                let text = super::scopes::one_line(&format!("{} : boolean", term_text(term)));
                let declared = self.scopes.declare_in(program, key.clone(), &term.name, term.span, text);
                let details = &mut self.scopes.declarations[declared as usize].details;
                if details.len() == 1 {
                    details.push("true or false, 1 bit, declared by its first use".to_string());
                }
            }
            let names = &self.scopes.programs[program].names;
            let value = || names.get(&Key::Value(term.name.text.clone())).filter(|_| term.args.is_none());
            let found = names.get(&key).or_else(value).copied();
            if let (Some(found), false) = (found, self.declares) {
                self.scopes.add_use(term.name.span, found);
                self.observe(context, found);
            } else if !self.declares && context.is_argument && term.args.is_none() {
                self.scopes.use_agent(&term.name);
            }
        } else if !self.declares && context.is_argument && term.args.is_none() {
            self.scopes.use_agent(&term.name);
        }
        self.args(Context { is_mention: false, ..context }, term);
    }

    /// Remembers that another program has attitudes about a name.
    fn observe(&mut self, context: Context<'_>, declaration: u32) {
        if let Some(observer) = context.observer.filter(|_| context.observer != context.program) {
            let title = self.scopes.programs[observer].title.clone();
            self.scopes.observers.entry(declaration).or_default().insert(title);
        }
    }

    /// Reads an attitude about an agent.
    fn attitude(&mut self, context: Context<'_>, op: Op, agent: &Name, arg: &Expr) {
        if self.declares {
            return;
        }
        self.scopes.use_agent(agent);
        let program = context.program.and_then(|program| self.scopes.child(program, op, &agent.text));
        let is_argument = context.is_argument;
        self.expr(Context { program, bound: None, is_mention: false, is_argument, ..context }, arg);
    }

    fn expr(&mut self, context: Context<'_>, expr: &Expr) {
        match &expr.kind {
            ExprKind::Constant(_) | ExprKind::Number(_) => {}
            ExprKind::Term(term) => self.term(context, term),
            ExprKind::Do(_) if self.declares => {}
            ExprKind::Do(action) => self.action(Context { is_mention: false, ..context }, action),
            ExprKind::Attitude { op, agent, arg, .. } => self.attitude(context, *op, agent, arg),
            ExprKind::Commit(_, intention) => {
                self.expr(context, intention);
                // The goal is also an argument of a belief or a desire.
                if let (ExprKind::Attitude { agent, .. }, Some(program)) = (&intention.kind, context.program)
                {
                    let [b, d, i] = Op::ALL.map(|op| self.scopes.child(program, op, &agent.text));
                    let pairs = [b.zip(i), d.zip(i)];
                    pairs.into_iter().flatten().for_each(|(a, b)| self.scopes.join_programs(a, b));
                }
            }
            ExprKind::Not(arg) | ExprKind::Unary(_, _, arg) => self.expr(context, arg),
            ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Implies(items) | ExprKind::Iff(items) => {
                items.iter().for_each(|item| self.expr(context, item));
            }
            ExprKind::Binary(_, _, args) | ExprKind::Compare(_, args) | ExprKind::Persistent(args) => {
                args.iter().for_each(|arg| self.expr(context, arg));
            }
            ExprKind::Sum(items) => items.iter().for_each(|(_, item)| self.expr(context, item)),
        }
    }

    fn term(&mut self, context: Context<'_>, term: &Term) {
        match self.subscripted(context, term) {
            Some((op, agent, arg)) => self.attitude(context, op, &agent, arg),
            None => self.variable(context, term),
        }
    }

    /// Returns the parts of `B_rcv(f)` if `rcv` is an agent whose item is broken, so that the parser took it for a
    /// term.
    fn subscripted<'e>(&self, context: Context<'_>, term: &'e Term) -> Option<(Op, Name, &'e Expr)> {
        let (letters, agent) = term.name.text.split_once('_')?;
        let (op, _) = operator(letters)?;
        let Some([arg]) = term.args.as_deref() else { return None };
        let key = Key::Variable(term.name.text.clone(), true);
        let is_variable = context.program.is_some_and(|at| self.scopes.programs[at].names.contains_key(&key));
        if !self.scopes.agents.contains_key(agent) || is_variable {
            return None;
        }
        let span = term.name.span.slice(letters.len() as u32 + 1, term.name.text.len() as u32);
        Some((op, Name { text: agent.to_string(), span }, arg))
    }

    /// Reads a path; returns the program of the world it leads to.
    fn path(&mut self, path: &Path) -> Option<ProgramIndex> {
        let mut program = match &path.root {
            Some(root) => {
                self.scopes.use_agent(root);
                self.scopes.program_of(&root.text)
            }
            None => self.scopes.top,
        };
        for (op, agent) in &path.steps {
            self.scopes.use_agent(agent);
            program = program.and_then(|program| self.scopes.child(program, *op, &agent.text));
        }
        program
    }

    fn question(&mut self, program: Option<ProgramIndex>, question: &Question, span: Span) {
        match question {
            Question::Formula(formula) => self.expr(Context::of(program, false), formula),
            Question::Serial(_, agent) | Question::Realism(_, agent) => _ = self.scopes.use_agent(agent),
            Question::Introspection(op, agent) => {
                self.scopes.use_agent(agent);
                let child = program.and_then(|program| self.scopes.child(program, *op, &agent.text));
                let below = child.and_then(|child| self.scopes.child(child, *op, &agent.text));
                if let (Some(child), Some(below)) = (child, below) {
                    self.scopes.join_programs(child, below);
                }
            }
            Question::Subworld(first, second) => {
                let programs = (self.path(first), self.path(second));
                let key = Key::Variable("subworld".to_string(), true);
                let term = program.and_then(|program| self.scopes.programs[program].names.get(&key).copied());
                match (term, programs) {
                    (Some(term), _) => {
                        self.scopes.add_use(span.slice(0, "subworld".len() as u32), term);
                    }
                    (None, (Some(a), Some(b))) => self.scopes.join_programs(a, b),
                    _ => {}
                }
            }
        }
    }
}
