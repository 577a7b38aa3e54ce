//! Converts the syntax tree of a formula into the form in which it is solved: pushes negation to the atoms,
//! replaces regular modalities and abbreviations by fixpoints, resolves variables, and lets the
//! vocabulary read patterns and atoms.
//!
//! ```text
//! <R.S>f = <R><S>f      <R|S>f = <R>f || <S>f      <R*>f = mu X. f || <R>X      <R+>f = mu X. <R>(f || X)
//! AG f   = nu Z. f && [-]Z                         EF f  = mu Z. f || <->Z
//! AF f   = mu Z. f || (<->tt && [-]Z)              EG f  = nu Z. f && ([-]ff || <->Z)
//! inev(P) = mu Z. <->tt && [-P]Z                   resp(P, Q) = nu Z. [-]Z && [P] inev(Q)
//! deadlock = [-]ff && !final
//! ```
//!
//! and dually for boxes and under negation. Every part of the text becomes a bounded number of nodes,
//! because the operand of a regular modality is resolved once and its node is shared.

use masque_text::{Diagnostic, Span};

use crate::Vocabulary;
use crate::formula::{Action, ActionId, Builder, Formula, FormulaNode, FormulaNodeId};
use crate::tree::{FormulaKind, Modality, Name, PathOperator, Pattern, Phi, Regular, Sign};

/// Resolves a formula. Returns `None` if there are errors.
pub fn resolve(phi: &Phi, words: &mut dyn Vocabulary) -> (Option<Formula>, Vec<Diagnostic>) {
    let mut resolver =
        Resolver { builder: Builder::new(), words, scope: Vec::new(), diagnostics: Vec::new() };
    let root = resolver.formula(phi, true);
    let Resolver { builder, mut diagnostics, .. } = resolver;
    if diagnostics.iter().any(Diagnostic::is_error) {
        // Drop warnings about unused variables: the formula may use them when its errors are fixed.
        diagnostics.retain(Diagnostic::is_error);
        return (None, diagnostics);
    }
    (Some(builder.finish(root)), diagnostics)
}

/// A variable in scope.
struct Bound {
    name: Name,
    variable: FormulaNodeId,
    /// Whether its fixpoint stands under an even number of negations.
    positive: bool,
    used: bool,
}

struct Resolver<'w> {
    builder: Builder,
    words: &'w mut dyn Vocabulary,
    scope: Vec<Bound>,
    diagnostics: Vec<Diagnostic>,
}

/// Formulas. `positive` is false under an odd number of negations; the node is then the negation.
impl Resolver<'_> {
    fn formula(&mut self, phi: &Phi, positive: bool) -> FormulaNodeId {
        match &phi.kind {
            FormulaKind::True => self.builder.constant(positive),
            FormulaKind::False => self.builder.constant(!positive),
            FormulaKind::Variable(name) => self.variable(name, phi.span, positive),
            FormulaKind::Atom(text) => self.atom(text, phi.span, positive),
            FormulaKind::Deadlock => {
                let is_final = self.atom("final", phi.span, !positive);
                let end = self.builder.constant(!positive);
                let stuck = self.builder.after_any(modality(Modality::Box, positive), end);
                self.chain(vec![stuck, is_final], positive)
            }
            FormulaKind::Not(inner) => self.formula(inner, !positive),
            FormulaKind::And(chain) => {
                let operands = chain.iter().map(|phi| self.formula(phi, positive)).collect();
                self.chain(operands, positive)
            }
            FormulaKind::Or(chain) => {
                let operands = chain.iter().map(|phi| self.formula(phi, positive)).collect();
                self.chain(operands, !positive)
            }
            FormulaKind::Implies(chain) => self.implication(chain, positive),
            FormulaKind::Modal(kind, regular, inner) => {
                let inner = self.formula(inner, positive);
                self.regular(modality(*kind, positive), regular, inner)
            }
            FormulaKind::Fixpoint(sign, name, body) => self.fixpoint(*sign, name, body, positive),
            FormulaKind::Path(operator, inner) => self.path(*operator, inner, positive),
            FormulaKind::Inevitable(pattern) => {
                let action = self.complement(pattern);
                self.inevitable(action, positive)
            }
            FormulaKind::Response(first, second) => self.response(first, second, positive),
        }
    }

    /// Adds a conjunction if `all` is true, and a disjunction otherwise.
    fn chain(&mut self, operands: Vec<FormulaNodeId>, all: bool) -> FormulaNodeId {
        if all { self.builder.and(operands) } else { self.builder.or(operands) }
    }

    /// Resolves `a -> b -> c` as `!a || !b || c`.
    fn implication(&mut self, chain: &[Phi], positive: bool) -> FormulaNodeId {
        let last = chain.len().saturating_sub(1);
        let side = |(i, phi): (usize, &Phi)| self.formula(phi, positive == (i == last));
        let operands = chain.iter().enumerate().map(side).collect();
        self.chain(operands, !positive)
    }

    fn atom(&mut self, text: &str, span: Span, positive: bool) -> FormulaNodeId {
        match self.words.atom(text, span) {
            Ok(atom) => self.builder.node(FormulaNode::Atom(atom, positive)),
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                self.builder.constant(true)
            }
        }
    }

    fn variable(&mut self, name: &str, span: Span, positive: bool) -> FormulaNodeId {
        let Some(bound) = self.scope.iter_mut().rev().find(|bound| bound.name.text == name) else {
            let bound: Vec<String> =
                self.scope.iter().map(|bound| format!("`{}`", bound.name.text)).collect();
            let help = if bound.is_empty() {
                format!("bind it with `mu {name}.` or `nu {name}.`; atoms begin with a lower-case letter")
            } else {
                format!("bound here: {}", bound.join(", "))
            };
            let message = format!("no fixpoint binds the variable `{name}`");
            self.diagnostics.push(Diagnostic::error("mu/free-variable", span, message).hint(help));
            return self.builder.constant(true);
        };
        bound.used = true;
        if bound.positive != positive {
            let message = format!("the variable `{name}` occurs under an odd number of negations");
            self.diagnostics.push(
                Diagnostic::error("mu/negative-variable", span, message)
                    .label("here it is negated")
                    .also(bound.name.span, "so this fixpoint need not exist")
                    .hint("the left side of `->` counts as a negation"),
            );
        }
        bound.variable
    }

    fn fixpoint(&mut self, sign: Sign, name: &Name, body: &Phi, positive: bool) -> FormulaNodeId {
        if let Some(outer) = self.scope.iter().rev().find(|bound| bound.name.text == name.text) {
            let message = format!("`{}` is bound again inside its own fixpoint", name.text);
            self.diagnostics.push(
                Diagnostic::warning("mu/shadowed-variable", name.span, message)
                    .also(outer.name.span, "the outer variable cannot be used inside")
                    .hint("give the inner variable another name"),
            );
        }
        let (equation, variable) = self.builder.open(dual(sign, positive), &name.text);
        self.scope.push(Bound { name: name.clone(), variable, positive, used: false });
        let body = self.formula(body, positive);
        self.builder.close(equation, body);
        if let Some(Bound { used: false, name, .. }) = self.scope.pop() {
            let message = format!("the variable `{}` is not used", name.text);
            self.diagnostics.push(
                Diagnostic::warning("mu/unused-variable", name.span, message)
                    .hint("without its variable a fixpoint says what its body says"),
            );
        }
        variable
    }
}

/// Abbreviations.
impl Resolver<'_> {
    fn path(&mut self, operator: PathOperator, inner: &Phi, positive: bool) -> FormulaNodeId {
        use PathOperator::{AF, AG, AX, EF, EG, EX};
        let dual = match operator {
            AG => EF,
            EF => AG,
            AF => EG,
            EG => AF,
            AX => EX,
            EX => AX,
        };
        let operator = if positive { operator } else { dual };
        let sign = match operator {
            AG | EG => Sign::Nu,
            EF | AF => Sign::Mu,
            AX | EX => {
                let inner = self.formula(inner, positive);
                let kind = if operator == AX { Modality::Box } else { Modality::Diamond };
                return self.builder.after_any(kind, inner);
            }
        };
        let (equation, variable) = self.builder.open(sign, operator.word());
        let now = self.formula(inner, positive);
        let all = matches!(operator, AG | AF);
        let kind = if all { Modality::Box } else { Modality::Diamond };
        let next = self.builder.after_any(kind, variable);
        let later = match operator {
            // A path may end: AF requires a step, and EG holds without one.
            AF | EG => {
                let end = self.builder.constant(all);
                let step = self.builder.after_any(modality(kind, false), end);
                self.chain(vec![step, next], all)
            }
            _ => next,
        };
        let body = self.chain(vec![now, later], sign == Sign::Nu);
        self.builder.close(equation, body);
        variable
    }

    /// Adds `mu Z. <->tt && [other]Z`, where `other` is the complement of the pattern that is inevitable.
    fn inevitable(&mut self, other: ActionId, positive: bool) -> FormulaNodeId {
        let (equation, variable) = self.builder.open(dual(Sign::Mu, positive), "inev");
        let end = self.builder.constant(positive);
        let step = self.builder.after_any(modality(Modality::Diamond, positive), end);
        let next = self.builder.modal(modality(Modality::Box, positive), other, variable);
        let body = self.chain(vec![step, next], positive);
        self.builder.close(equation, body);
        variable
    }

    /// Adds `nu Z. [-]Z && [P] inev(Q)`.
    fn response(&mut self, first: &Pattern, second: &Pattern, positive: bool) -> FormulaNodeId {
        let (equation, variable) = self.builder.open(dual(Sign::Nu, positive), "resp");
        let (first, second) = (self.pattern(first), self.complement(second));
        let response = self.inevitable(second, positive);
        let kind = modality(Modality::Box, positive);
        let next = self.builder.after_any(kind, variable);
        let asked = self.builder.modal(kind, first, response);
        let body = self.chain(vec![next, asked], positive);
        self.builder.close(equation, body);
        variable
    }
}

/// Regular modalities and patterns.
impl Resolver<'_> {
    fn regular(&mut self, kind: Modality, regular: &Regular, then: FormulaNodeId) -> FormulaNodeId {
        let all = kind == Modality::Box;
        let sign = if all { Sign::Nu } else { Sign::Mu };
        match regular {
            Regular::Step(pattern) => {
                let action = self.pattern(pattern);
                self.builder.modal(kind, action, then)
            }
            Regular::Sequence(chain) => chain.iter().rev().fold(then, |then, r| self.regular(kind, r, then)),
            Regular::Choice(chain) => {
                let operands = chain.iter().map(|r| self.regular(kind, r, then)).collect();
                self.chain(operands, all)
            }
            Regular::Star(inner) => {
                let (equation, variable) = self.builder.open(sign, "*");
                let again = self.regular(kind, inner, variable);
                let body = self.chain(vec![then, again], all);
                self.builder.close(equation, body);
                variable
            }
            Regular::Plus(inner) => {
                let (equation, variable) = self.builder.open(sign, "+");
                let after = self.chain(vec![then, variable], all);
                let body = self.regular(kind, inner, after);
                self.builder.close(equation, body);
                variable
            }
        }
    }

    fn pattern(&mut self, pattern: &Pattern) -> ActionId {
        let action = match pattern {
            Pattern::Any => Action::Any,
            Pattern::Not(inner) => Action::Not(self.pattern(inner)),
            Pattern::Set(patterns) => Action::Either(patterns.iter().map(|p| self.pattern(p)).collect()),
            Pattern::Is(text, span) => match self.words.pattern(text, *span) {
                Ok(pattern) => Action::Is(pattern),
                Err(diagnostic) => {
                    self.diagnostics.push(diagnostic);
                    Action::Any
                }
            },
        };
        self.builder.action(action)
    }

    /// Resolves the complement of a pattern.
    fn complement(&mut self, pattern: &Pattern) -> ActionId {
        let action = self.pattern(pattern);
        self.builder.action(Action::Not(action))
    }
}

fn dual(sign: Sign, positive: bool) -> Sign {
    match (sign, positive) {
        (Sign::Mu, true) | (Sign::Nu, false) => Sign::Mu,
        _ => Sign::Nu,
    }
}

fn modality(kind: Modality, positive: bool) -> Modality {
    match (kind, positive) {
        (Modality::Diamond, true) | (Modality::Box, false) => Modality::Diamond,
        _ => Modality::Box,
    }
}
