//! Static analysis of expressions for the compiler: the fields that they read, the constant ones, and those
//! that test a single field.

use masque_model::{Domain, Expr, ExprId, Relation, System};

use crate::bounds::{self, Bounds, parts};
use crate::codeset::{CodeSet, Simple};
use crate::exact::Exact;
use crate::layout::{Layout, Slot};

/// Simplest form of a condition.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// A constant.
    Known(bool),
    /// A test whether the code of one field is in a set.
    Codes(Slot, CodeSet),
    /// Any other condition, or not a condition.
    Other,
}

/// Fields that an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Support {
    Nothing,
    One(Slot),
    Several,
}

/// Facts about some expressions and their parts, by expression id. Entries of other expressions are
/// meaningless.
pub(crate) struct Analysis {
    /// The parts, operands before users.
    pub(crate) parts: Vec<ExprId>,
    pub(crate) bounds: Vec<Bounds>,
    pub(crate) shapes: Vec<Shape>,
    /// Whether this is a condition built from conditions only, as all are in a well-typed model. Such a
    /// condition always has a value.
    pub(crate) is_sound: Vec<bool>,
    /// Whether the value depends on the agents' actions.
    pub(crate) reads_actions: Vec<bool>,
    support: Vec<Support>,
}

/// Maximum size of a domain that is enumerated when conditions on it are compiled.
const MAX_ENUMERATED_DOMAIN: u128 = 1024;
/// Maximum size of a domain whose subsets are stored as bits.
pub(crate) const MAX_BITMAP_DOMAIN: u128 = 1 << 20;
/// Maximum number of evaluations of parts that are spent on the table of one condition or assignment.
pub(crate) const MAX_TABLE_EVALUATIONS: u128 = 4096;

impl Analysis {
    pub(crate) fn new(system: &System, layout: &Layout, roots: &[ExprId]) -> Analysis {
        let n_exprs = system.exprs.len();
        let mut analysis = Analysis {
            parts: parts(&system.exprs, roots.iter().copied()),
            bounds: vec![Bounds::BOOLEAN; n_exprs],
            shapes: vec![Shape::Other; n_exprs],
            is_sound: vec![false; n_exprs],
            reads_actions: vec![false; n_exprs],
            support: vec![Support::Nothing; n_exprs],
        };
        for index in 0..analysis.parts.len() {
            let part = analysis.parts[index];
            analysis.add(system, layout, part);
        }
        analysis
    }

    fn add(&mut self, system: &System, layout: &Layout, part: ExprId) {
        let index = part.index();
        let expr = system.exprs.get(part);
        let known = &self.bounds;
        let variable = |v| bounds::of_domain(&system.variable(v).domain);
        self.bounds[index] = bounds::of_expr(expr, variable, |e| known[e.index()]);
        let (mut support, mut reads_actions) = match expr {
            Expr::Variable(v) => (Support::One(Slot::Variable(v)), false),
            Expr::ActionIs(agent, _) => (Support::One(Slot::Action(agent)), true),
            _ => (Support::Nothing, false),
        };
        system.exprs.each_operand(part, |operand| {
            support = join(support, self.support[operand.index()]);
            reads_actions |= self.reads_actions[operand.index()];
        });
        self.support[index] = support;
        self.reads_actions[index] = reads_actions;
        self.is_sound[index] = match expr {
            Expr::Bool(_) | Expr::ActionIs(..) | Expr::Compare(..) => true,
            Expr::Variable(v) => system.variable(v).domain == Domain::Boolean,
            Expr::Not(a) => self.is_sound[a.index()],
            Expr::And(list) | Expr::Or(list) | Expr::Xor(list) => {
                list.iter().all(|e| self.is_sound[e.index()])
            }
            _ => false,
        };
        if self.is_sound[index] {
            self.shapes[index] = self.shape(system, layout, part, expr);
        }
    }

    pub(crate) fn shape_of(&self, expr: ExprId) -> &Shape {
        &self.shapes[expr.index()]
    }

    /// Returns the only field that an expression reads, if its domain can be enumerated.
    pub(crate) fn enumerable_support(&self, system: &System, expr: ExprId) -> Option<Slot> {
        match self.support[expr.index()] {
            Support::One(slot) if size_of(system, slot) <= MAX_ENUMERATED_DOMAIN => Some(slot),
            _ => None,
        }
    }

    fn shape(&self, system: &System, layout: &Layout, part: ExprId, expr: Expr<'_>) -> Shape {
        if let Some(truth) = self.bounds[part.index()].as_truth() {
            return Shape::Known(truth);
        }
        match expr {
            Expr::Variable(v) => codes(system, Slot::Variable(v), CodeSet::One(1)),
            Expr::ActionIs(agent, action) => {
                codes(system, Slot::Action(agent), CodeSet::One(u64::from(action.0)))
            }
            Expr::Not(a) => match self.shape_of(a) {
                Shape::Known(truth) => Shape::Known(!truth),
                Shape::Codes(slot, set) if size_of(system, *slot) <= MAX_ENUMERATED_DOMAIN => {
                    codes(system, *slot, set.complement(size_of(system, *slot) as u64))
                }
                _ => Shape::Other,
            },
            Expr::And(list) => self.junction(system, list, true),
            Expr::Or(list) => self.junction(system, list, false),
            Expr::Compare(relation, a, b) => self
                .variable_and_constant(system, layout, relation, a, b)
                .or_else(|| self.by_enumeration(system, layout, part))
                .unwrap_or(Shape::Other),
            Expr::Xor(_) => self.by_enumeration(system, layout, part).unwrap_or(Shape::Other),
            _ => Shape::Other,
        }
    }

    /// A conjunction or disjunction of tests of one field is a test of that field.
    fn junction(&self, system: &System, list: &[ExprId], is_and: bool) -> Shape {
        let mut result: Option<(Slot, CodeSet)> = None;
        for &e in list {
            match (self.shape_of(e), &mut result) {
                (Shape::Known(truth), _) if *truth == is_and => {}
                (Shape::Known(truth), _) => return Shape::Known(*truth),
                (Shape::Codes(slot, set), None) => result = Some((*slot, set.clone())),
                (Shape::Codes(slot, set), Some((first, all))) if slot == first => {
                    let size = size_of(system, *slot);
                    match (&*all, set) {
                        (CodeSet::One(a), CodeSet::One(b)) if is_and && a != b => return Shape::Known(false),
                        (CodeSet::One(a), CodeSet::One(b)) if a == b => {}
                        _ if size > MAX_BITMAP_DOMAIN => return Shape::Other,
                        _ if is_and => *all = all.combine(set, size as u64, |a, b| a & b),
                        _ => all.extend(set, size as u64),
                    }
                }
                _ => return Shape::Other,
            }
        }
        match result {
            None => Shape::Known(is_and),
            Some((slot, set)) => codes(system, slot, set),
        }
    }

    /// A comparison of a variable with a constant. Equality is supported for domains of any size.
    fn variable_and_constant(
        &self,
        system: &System,
        layout: &Layout,
        relation: Relation,
        a: ExprId,
        b: ExprId,
    ) -> Option<Shape> {
        let (variable, constant, is_mirrored) = match (system.exprs.get(a), system.exprs.get(b)) {
            (Expr::Variable(v), constant) => (v, constant, false),
            (constant, Expr::Variable(v)) => (v, constant, true),
            _ => return None,
        };
        let value = constant_value(constant)?;
        let slot = Slot::Variable(variable);
        match (relation, layout.code(system, variable, value)) {
            (Relation::Equal, Some(code)) => Some(codes(system, slot, CodeSet::One(code))),
            (Relation::Equal, None) => Some(Shape::Known(false)),
            (Relation::Unequal, None) => Some(Shape::Known(true)),
            _ if size_of(system, slot) > MAX_ENUMERATED_DOMAIN => None,
            _ => {
                let domain = &system.variable(variable).domain;
                let set = CodeSet::filter(domain.size() as u64, |code| {
                    let order = domain.value(code).cmp(&value);
                    relation.admits(if is_mirrored { order.reverse() } else { order })
                });
                Some(codes(system, slot, set))
            }
        }
    }

    /// A condition on one field with an enumerable domain, by evaluating it for each code.
    fn by_enumeration(&self, system: &System, layout: &Layout, part: ExprId) -> Option<Shape> {
        let slot = self.enumerable_support(system, part)?;
        let exact = Exact::new(system, part);
        if exact.n_parts() as u128 * size_of(system, slot) > MAX_TABLE_EVALUATIONS {
            return None;
        }
        let set = CodeSet::filter(size_of(system, slot) as u64, |code| {
            let mut row = vec![0; layout.n_row_words];
            layout.field(slot).set(&mut row, code);
            exact.is_true(layout, &row)
        });
        Some(codes(system, slot, set))
    }
}

/// Returns the number of codes of a field.
pub(crate) fn size_of(system: &System, slot: Slot) -> u128 {
    match slot {
        Slot::Variable(variable) => system.variable(variable).domain.size(),
        Slot::Action(agent) => system.agent(agent).actions.len().max(1) as u128,
    }
}

/// Returns the value of a constant expression.
pub(crate) fn constant_value(expr: Expr<'_>) -> Option<i64> {
    match expr {
        Expr::Bool(b) => Some(i64::from(b)),
        Expr::Number(n) => Some(n),
        Expr::Symbol(s) => Some(i64::from(s.0)),
        _ => None,
    }
}

fn codes(system: &System, slot: Slot, set: CodeSet) -> Shape {
    match set.simplify(u64::try_from(size_of(system, slot)).unwrap_or(u64::MAX)) {
        Simple::Empty => Shape::Known(false),
        Simple::Full => Shape::Known(true),
        Simple::Proper(set) => Shape::Codes(slot, set),
    }
}

fn join(left: Support, right: Support) -> Support {
    match (left, right) {
        (Support::Nothing, other) | (other, Support::Nothing) => other,
        (Support::One(a), Support::One(b)) if a == b => left,
        _ => Support::Several,
    }
}
