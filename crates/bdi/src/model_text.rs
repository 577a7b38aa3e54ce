//! Checked formulas as text, for explanations. The parser reads the text back as the same formula.

use crate::model::{Expr, ExprId, Formula, FormulaId, Model, Property};
use crate::print::sum_sign;

impl Model {
    /// Returns a property as its author wrote it.
    pub fn written_text(&self, property: &Property) -> String {
        self.wording.property(property.written).unwrap_or_else(|| property.text.clone())
    }

    /// Returns a formula as text, with brackets around every operand that is a chain or a comparison.
    pub fn formula_text(&self, id: FormulaId) -> String {
        let mut out = String::new();
        self.write(&mut out, id);
        out
    }

    fn write(&self, out: &mut String, id: FormulaId) {
        let chain = |out: &mut String, parts: &[FormulaId], sign: &str| {
            for (i, &part) in parts.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { sign });
                self.write_operand(out, part);
            }
        };
        let between = |out: &mut String, quantifier: &str, f: FormulaId, op: &str, g: FormulaId| {
            out.push_str(quantifier);
            out.push('[');
            self.write(out, f);
            out.push_str(op);
            self.write(out, g);
            out.push(']');
        };
        match self.formula(id) {
            Formula::Constant(value) => out.push_str(if *value { "true" } else { "false" }),
            Formula::Var(var) => out.push_str(&self.var(*var).name),
            Formula::Compare(rel, a, b) => {
                let (left, right) = (self.number_text(*a, *b), self.number_text(*b, *a));
                out.push_str(&format!("{left} {} {right}", rel.sign()));
            }
            Formula::Do(action) => out.push_str(&format!("do {}", self.actions[action.index()].name)),
            Formula::Not(f) => self.write_prefix(out, "!", *f),
            Formula::And(parts) => chain(out, parts, " & "),
            // `f -> g` is stored as `!f | g`.
            Formula::Or(parts) => chain(out, parts, " | "),
            Formula::Iff(f, g) => chain(out, &[*f, *g], " <-> "),
            Formula::Ex(f) => self.write_prefix(out, "EX ", *f),
            Formula::Eg(f) => self.write_prefix(out, "EG ", *f),
            Formula::Ef(f) => self.write_prefix(out, "EF ", *f),
            Formula::Ax(f) => self.write_prefix(out, "AX ", *f),
            Formula::Ag(f) => self.write_prefix(out, "AG ", *f),
            Formula::Af(f) => self.write_prefix(out, "AF ", *f),
            Formula::Eu(f, g) => between(out, "E", *f, " U ", *g),
            Formula::Au(f, g) => between(out, "A", *f, " U ", *g),
            Formula::Er(f, g) => between(out, "E", *f, " R ", *g),
            Formula::Ar(f, g) => between(out, "A", *f, " R ", *g),
            // Only the text by which an explicit attitude was declared denotes its variable.
            Formula::Attitude { explicit: Some(var), .. } => out.push_str(&self.var(*var).name),
            Formula::Attitude { .. } if self.spellings.contains_key(&id) => {
                out.push_str(&self.spellings[&id]);
            }
            Formula::Attitude { edge, arg, .. } => {
                let agent = &self.agents[edge.agent.index()].name;
                out.push_str(&format!("{}({agent}, ", edge.op.name()));
                self.write(out, *arg);
                out.push(')');
            }
        }
    }

    fn write_prefix(&self, out: &mut String, sign: &str, f: FormulaId) {
        out.push_str(sign);
        self.write_operand(out, f);
    }

    fn write_operand(&self, out: &mut String, f: FormulaId) {
        let is_compound = matches!(
            self.formula(f),
            Formula::And(_) | Formula::Or(_) | Formula::Iff(..) | Formula::Compare(..)
        );
        if is_compound {
            out.push('(');
            self.write(out, f);
            out.push(')');
        } else {
            self.write(out, f);
        }
    }

    /// Returns a number as text; in a comparison with an enumerated variable, the name of the value.
    fn number_text(&self, expr: ExprId, other: ExprId) -> String {
        match (&self.exprs[expr.index()], &self.exprs[other.index()]) {
            (Expr::Number(value), Expr::Var(var)) => self.var(*var).domain.text(*value),
            (Expr::Number(value), _) => value.to_string(),
            (Expr::Var(var), _) => self.var(*var).name.clone(),
            (Expr::Sum(items), _) => {
                let mut text = String::new();
                for (i, (is_negative, item)) in items.iter().enumerate() {
                    text.push_str(sum_sign(i, *is_negative));
                    match &self.exprs[item.index()] {
                        Expr::Sum(_) => text.push_str(&format!("({})", self.number_text(*item, *item))),
                        _ => text.push_str(&self.number_text(*item, *item)),
                    }
                }
                text
            }
        }
    }
}
