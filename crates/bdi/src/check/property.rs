//! Properties and checks, each in its world.

use masque_text::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::Checker;
use super::formula::{Context, Resolved};
use crate::model::{
    AgentId, Antecedent, Domain, Edge, Formula, FormulaId, ProgramId, Property, Question, WorldPath,
};
use crate::print::formula_text;
use crate::tree::{self, ExprKind, Name, Op, Quantifier, Tree, Unary};

impl Checker<'_> {
    pub(super) fn properties(&mut self, tree: &Tree) {
        let mut names: FxHashMap<String, Span> = FxHashMap::default();
        for (index, property) in tree.properties.iter().enumerate() {
            if self.is_stopped() {
                return;
            }
            let name = property.name.as_ref().map_or((index + 1).to_string(), |name| name.text.clone());
            let span = property.name.as_ref().map_or(property.span, |name| name.span);
            if let Some(&first) = names.get(&name) {
                self.duplicate("property", &name, span, first);
            }
            names.insert(name.clone(), span);
            let resolved = self.property(property, name, span);
            self.model.properties.extend(resolved);
        }
    }

    fn property(&mut self, property: &tree::Property, name: String, span: Span) -> Resolved<Property> {
        let (mut path, program) = self.world(property.path.as_ref())?;
        let (text, question) = match &property.question {
            tree::Question::Subworld(first, second) => {
                if let Some(term) = self.term_for_subworld(program, first, second) {
                    (self.model.formula_text(term), Question::Formula(term))
                } else {
                    self.only_worlds(property)?;
                    let (inner, _) = self.world(Some(first))?;
                    let (outer, _) = self.world(Some(second))?;
                    let texts = [&inner, &outer].map(|path| self.model.path_text(path));
                    path = inner;
                    (format!("subworld({})", texts.join(", ")), Question::Subworld(outer))
                }
            }
            tree::Question::Formula(expr) => {
                self.is_in_property = true;
                let formula = self.formula(Context::temporal(program), expr);
                self.is_in_property = false;
                (formula_text(expr), Question::Formula(formula?))
            }
            tree::Question::Serial(op, agent) => {
                let edge = Edge { op: *op, agent: self.agent(agent)? };
                (format!("serial {}", self.model.edge_text(edge)), Question::Serial(edge))
            }
            tree::Question::Introspection(op, agent) => {
                let edge = Edge { op: *op, agent: self.agent(agent)? };
                let formula = self.introspection(program, *op, agent, property.span)?;
                (format!("introspection {}", self.model.edge_text(edge)), Question::Formula(formula))
            }
            tree::Question::Realism(realism, agent) => {
                let id = self.agent(agent)?;
                self.one_picture(program, id, agent)?;
                (format!("realism {} {}", realism.name(), agent.text), Question::Realism(*realism, id))
            }
        };
        let antecedent = match &property.question {
            tree::Question::Formula(expr) => self.antecedent(program, expr, !property.initially),
            _ => None,
        };
        let no_indexes = std::iter::empty::<(&str, i64)>();
        let written = self.model.wording.add_property(&property.text.0, property.question_span, no_indexes);
        let initially = property.initially;
        Some(Property { name, text, written, initially, path, question, antecedent, span })
    }

    /// Returns the antecedent of an implication, perhaps under `AG`.
    fn antecedent(
        &mut self,
        program: ProgramId,
        expr: &tree::Expr,
        is_everywhere: bool,
    ) -> Option<Antecedent> {
        match &expr.kind {
            ExprKind::Unary(Quantifier::A, Unary::G, arg) => self.antecedent(program, arg, true),
            ExprKind::Implies(items) => {
                let formula = self.formula(Context::temporal(program), items.first()?)?;
                Some(Antecedent { formula, is_everywhere })
            }
            _ => None,
        }
    }

    /// Resolves the path to a world; returns also the program of that world.
    fn world(&mut self, path: Option<&tree::Path>) -> Resolved<(WorldPath, ProgramId)> {
        let root = match path.and_then(|path| path.root.as_ref()) {
            Some(name) => self.agent(name)?,
            None => self.model.top?,
        };
        let mut program = self.model.agents[root.index()].program;
        let mut edges = Vec::new();
        for (op, name) in path.iter().flat_map(|path| &path.steps) {
            let edge = Edge { op: *op, agent: self.agent(name)? };
            program = self.model.child(program, edge);
            edges.push(edge);
        }
        Some((WorldPath { root, edges }, program))
    }

    /// Returns the variable that `subworld(a, b)` denotes, if the program has one of that name.
    fn term_for_subworld(
        &mut self,
        program: ProgramId,
        first: &tree::Path,
        second: &tree::Path,
    ) -> Option<FormulaId> {
        let (a, b) = (first.root.as_ref()?, second.root.as_ref()?);
        let is_term = first.steps.is_empty() && second.steps.is_empty();
        let name = format!("subworld({}, {})", a.text, b.text);
        let var = *self.vocabularies[program.index()].plain.get(&name).filter(|_| is_term)?;
        (self.model.var(var).domain == Domain::Bool).then(|| self.add(Formula::Var(var)))
    }

    /// Reports a world or `initially` before a question that names its worlds itself.
    fn only_worlds(&mut self, property: &tree::Property) -> Resolved<()> {
        if property.path.is_none() && !property.initially {
            return Some(());
        }
        let message = "`subworld` compares two whole worlds";
        let diagnostic = Diagnostic::error("bdi/subworld-of-states", property.question_span, message)
            .label("it names both worlds itself")
            .hint("leave out `initially` and `in`: `property p: subworld(v, w);`");
        self.report(diagnostic);
        None
    }

    /// Returns positive and negative introspection as a formula: for each explicit `O(i, f)`
    ///
    /// ```text
    /// (O(i, f) -> O(i, O(i, f))) & (!O(i, f) -> O(i, !O(i, f)))
    /// ```
    fn introspection(&mut self, program: ProgramId, op: Op, agent: &Name, span: Span) -> Resolved<FormulaId> {
        let id = self.agent(agent)?;
        let edge = Edge { op, agent: id };
        let body = self.bodies[program.index()];
        let make = |kind| tree::Expr { kind, span };
        let about = |arg: tree::Expr| {
            make(ExprKind::Attitude { op, dual: false, agent: agent.clone(), arg: Box::new(arg) })
        };
        let mut parts = Vec::new();
        for expr in super::vocabulary::explicit_attitudes(body) {
            if !matches!(&expr.kind, ExprKind::Attitude { op: o, agent: a, .. } if *o == op && a.text == agent.text)
            {
                continue;
            }
            let not = make(ExprKind::Not(Box::new(expr.clone())));
            parts.push(make(ExprKind::Implies(vec![expr.clone(), about(expr.clone())])));
            parts.push(make(ExprKind::Implies(vec![not.clone(), about(not)])));
        }
        if parts.is_empty() {
            let text = self.model.edge_text(edge);
            let message = format!("{} has no explicit {text} to check", self.model.program(program).name);
            let diagnostic = Diagnostic::error("bdi/nothing-to-check", span, message)
                .hint("an attitude is explicit if the program assigns it or declares it with `bdi`");
            self.report(diagnostic);
            return None;
        }
        let parts: Vec<_> = parts.iter().map(|part| self.formula(Context::temporal(program), part)).collect();
        let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
        Some(self.add(Formula::And(parts)))
    }

    /// Reports an agent that is pictured by different programs: states of different programs cannot be
    /// compared.
    fn one_picture(&mut self, program: ProgramId, agent: AgentId, name: &Name) -> Resolved<()> {
        let pictures = Op::ALL.map(|op| self.model.child(program, Edge { op, agent }));
        let Some(other) = pictures.iter().find(|&&picture| picture != pictures[0]) else { return Some(()) };
        let message = format!("{} is pictured by different programs", name.text);
        let (first, second) = (self.model.program(pictures[0]).span, self.model.program(*other).span);
        let diagnostic = Diagnostic::error("bdi/different-pictures", name.span, message)
            .also(first, "beliefs use this program")
            .also(second, "desires or intentions use this program")
            .hint("realism compares states of one picture; declare one view for all attitudes");
        self.report(diagnostic);
        None
    }
}
