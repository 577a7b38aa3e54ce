//! Fixpoints: their variables in scope, and the number of negations above each use.

use masque_model::{FixpointId, Formula, Paths};
use masque_text::{Diagnostic, Span};

use super::Checker;
use super::formula::Lowered;
use crate::tree::{Fixpoint, Ref, Symbol};

/// The variable of an enclosing fixpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundVariable {
    name: Symbol,
    span: Span,
    id: FixpointId,
    sign: Sign,
    is_used: bool,
}

/// The parity of the number of negations between a fixpoint and the current subformula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Even,
    Odd,
    /// Inside `<->`, where each side counts both as negated and as not negated.
    Both,
}

impl Sign {
    /// Returns the sign under one more negation.
    pub(super) fn negated(self) -> Sign {
        match self {
            Sign::Even => Sign::Odd,
            Sign::Odd => Sign::Even,
            Sign::Both => Sign::Both,
        }
    }
}

impl Checker<'_> {
    pub(super) fn fixpoint(&mut self, fixpoint: &Fixpoint, paths: Paths) -> Lowered {
        let Fixpoint { is_least, name, name_span: span, body } = *fixpoint;
        let text = self.names.text(name).to_string();
        if let Some(outer) = self.fixpoints.iter().find(|bound| bound.name == name) {
            let message = format!("the variable `{text}` is bound already");
            let outer = outer.span;
            self.report(
                Diagnostic::error("ispl/shadowed-fixpoint", span, message)
                    .label("bound again")
                    .also(outer, "bound here first")
                    .hint("give one of them another name"),
            );
        } else if self.propositions.contains_key(&name) || self.binding(name).is_some() {
            let message = format!("`{text}` is both the variable of a fixpoint and something else");
            let defined = self.propositions.get(&name).map(|p| self.system.propositions[p.index()].span);
            let mut diagnostic =
                Diagnostic::error("ispl/ambiguous-name", span, message).hint("rename the variable");
            if let Some(defined) = defined {
                diagnostic = diagnostic.also(defined, "the proposition");
            }
            self.report(diagnostic);
        }
        let id = self.system.formulas.fixpoint(&text);
        self.fixpoints.push(BoundVariable { name, span, id, sign: Sign::Even, is_used: false });
        let body = self.formula(body, paths).id;
        if let Some(BoundVariable { is_used: false, .. }) = self.fixpoints.pop() {
            let message = format!("the variable `{text}` is not used");
            self.report(
                Diagnostic::warning("ispl/unused-fixpoint", span, message)
                    .hint("without it the fixpoint is the formula after the `.`"),
            );
        }
        self.add(if is_least { Formula::Least(id, body) } else { Formula::Greatest(id, body) })
    }

    /// Lowers the variable of an enclosing fixpoint. Returns `None` if the name is not one.
    pub(super) fn bound(&mut self, reference: Ref, span: Span) -> Option<Lowered> {
        if reference.indexes.len > 0 {
            return None;
        }
        let bound = self.fixpoints.iter_mut().rev().find(|bound| bound.name == reference.name)?;
        bound.is_used = true;
        let BoundVariable { span: binder, id, sign, .. } = *bound;
        if sign != Sign::Even {
            let text = self.names.text(reference.name);
            let message = match sign {
                Sign::Both => format!("the variable `{text}` occurs in an equivalence"),
                _ => format!("the variable `{text}` occurs under an odd number of negations"),
            };
            self.report(
                Diagnostic::error("ispl/negative-fixpoint", span, message)
                    .label("here it is negated")
                    .also(binder, "so this fixpoint need not exist")
                    .hint(
                        "the left side of `->` counts as a negation; each side of `<->` is both negated and not negated",
                    ),
            );
        }
        Some(self.add(Formula::Bound(id)))
    }

    /// Lowers a subformula under an operator that changes the signs of fixpoint variables.
    pub(super) fn under<T>(&mut self, change: fn(Sign) -> Sign, read: impl FnOnce(&mut Self) -> T) -> T {
        let signs: Vec<Sign> = self.fixpoints.iter().map(|bound| bound.sign).collect();
        self.fixpoints.iter_mut().for_each(|bound| bound.sign = change(bound.sign));
        let part = read(self);
        self.fixpoints.iter_mut().zip(signs).for_each(|(bound, sign)| bound.sign = sign);
        part
    }
}
