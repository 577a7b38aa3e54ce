//! The parts of a formula that have a truth of their own at a state, for models with labelled steps.
//!
//! A part of a formula of the mu-calculus has none if it mentions a variable that a fixpoint outside of it binds. In a
//! formula about BDI worlds, the argument of an attitude is about states of another world.

use std::collections::HashSet;

use masque_bdi::tree::{Expr, ExprKind, Question, Tree};
use masque_mu::tree::{FormulaKind, Phi};
use masque_text::Sources;

use crate::load::Model;

/// A part of a formula.
pub(super) struct FormulaPart {
    pub(super) text: String,
    /// Number of listed formulas that contain it.
    pub(super) depth: usize,
    /// Whether the same formula is listed before; then its parts are not listed again.
    pub(super) is_repeated: bool,
}

/// Returns at most `max_parts` parts of a formula of a model, without the formula itself and constants, each before its own parts.
/// There are none if the text is no formula; deciding it reports the errors.
pub(super) fn formula_parts(model: &Model, formula: &str, max_parts: usize) -> Vec<FormulaPart> {
    let mut list = List { found: Vec::new(), seen: HashSet::new(), max_parts };
    let mut sources = Sources::default();
    match model {
        Model::Bdi(_) => {
            // A property begins with its world.
            let mut tree = Tree::default();
            if let Ok(file) = sources.add("formula", format!("a : {formula}"))
                && masque_bdi::parse_property(&sources, file, &mut tree).is_empty()
                && let Some(Question::Formula(expr)) = tree.properties.first().map(|found| &found.question)
            {
                list.below_expr(expr, 1);
            }
        }
        _ => {
            if let Ok(file) = sources.add("formula", formula)
                && let (Some(phi), _) = masque_mu::parse_formula(&sources, sources.span(file))
            {
                list.below_phi(&phi, 1);
            }
        }
    }
    list.found
}

struct List {
    found: Vec<FormulaPart>,
    seen: HashSet<String>,
    max_parts: usize,
}

impl List {
    /// Adds a part. Returns whether its own parts are to be listed.
    fn add(&mut self, text: String, depth: usize) -> bool {
        let is_repeated = !self.seen.insert(text.clone());
        self.found.push(FormulaPart { text, depth, is_repeated });
        !is_repeated
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.max_parts
    }

    fn below_phi(&mut self, phi: &Phi, depth: usize) {
        for operand in operands(phi) {
            if self.is_full() {
                return;
            }
            if matches!(operand.kind, FormulaKind::True | FormulaKind::False) {
                continue;
            }
            if is_open(operand, &mut Vec::new()) {
                self.below_phi(operand, depth);
            } else if self.add(operand.to_string(), depth) {
                self.below_phi(operand, depth + 1);
            }
        }
    }

    fn below_expr(&mut self, expr: &Expr, depth: usize) {
        let operands: &[Expr] = match &expr.kind {
            ExprKind::Not(operand) | ExprKind::Unary(_, _, operand) => std::slice::from_ref(operand),
            ExprKind::And(list) | ExprKind::Or(list) | ExprKind::Implies(list) | ExprKind::Iff(list) => list,
            ExprKind::Binary(_, _, pair) => &pair[..],
            _ => &[],
        };
        for operand in operands {
            if self.is_full() {
                return;
            }
            if matches!(operand.kind, ExprKind::Constant(_)) {
                continue;
            }
            if self.add(masque_bdi::formula_text(operand), depth) {
                self.below_expr(operand, depth + 1);
            }
        }
    }
}

fn operands(phi: &Phi) -> &[Phi] {
    match &phi.kind {
        FormulaKind::Not(operand)
        | FormulaKind::Modal(_, _, operand)
        | FormulaKind::Fixpoint(_, _, operand)
        | FormulaKind::Path(_, operand) => std::slice::from_ref(operand),
        FormulaKind::And(list) | FormulaKind::Or(list) | FormulaKind::Implies(list) => list,
        FormulaKind::True
        | FormulaKind::False
        | FormulaKind::Variable(_)
        | FormulaKind::Atom(_)
        | FormulaKind::Deadlock
        | FormulaKind::Inevitable(_)
        | FormulaKind::Response(..) => &[],
    }
}

/// Whether a formula mentions a fixpoint variable that it does not bind.
fn is_open<'p>(phi: &'p Phi, bound: &mut Vec<&'p str>) -> bool {
    match &phi.kind {
        FormulaKind::Variable(name) => !bound.contains(&name.as_str()),
        FormulaKind::Fixpoint(_, name, body) => {
            bound.push(&name.text);
            let found = is_open(body, bound);
            bound.pop();
            found
        }
        _ => operands(phi).iter().any(|operand| is_open(operand, bound)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(phi: &str, max_parts: usize) -> Vec<(usize, String)> {
        let mut list = List { found: Vec::new(), seen: HashSet::new(), max_parts };
        let mut sources = Sources::default();
        let file = sources.add("formula", phi).unwrap();
        list.below_phi(&masque_mu::parse_formula(&sources, sources.span(file)).0.unwrap(), 1);
        list.found.into_iter().map(|part| (part.depth, part.text)).collect()
    }

    #[test]
    fn only_closed_parts_are_listed() {
        let text = |text: &str| text.to_string();
        assert_eq!(
            parts_of("nu X. (AG <a>tt && [b]X) && EF <a>tt", 10),
            [(1, text("AG <a>tt")), (2, text("<a>tt")), (1, text("EF <a>tt")), (2, text("<a>tt")),]
        );
        assert_eq!(parts_of("AG <a>tt && EF <b>tt", 2).len(), 2);
    }
}
