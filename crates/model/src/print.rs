//! Expressions and formulas as text that reads back as the same tree.
//!
//! A condition and a formula may mean the same and still be different trees: `Ag.x = false` is one
//! condition, `!Ag.x` the negation of another. So a condition inside a formula is always printed as
//! a variable or a comparison, the only two forms that the parser reads as a condition.

use std::fmt::Write;

use crate::{AgentId, Expr, ExprId, FixpointId, Formula, FormulaId, GroupId, Paths, Strategies, System};

/// A piece that is still to be printed. An explicit stack of pieces replaces recursion.
enum Piece {
    Text(&'static str),
    Expr(ExprId),
    Formula(FormulaId),
    /// An operand of `and`, `or`, `->` or `<->`, in brackets unless it binds tighter.
    Operand(FormulaId),
    /// The operand of `!`; a comparison needs brackets there.
    Negated(FormulaId),
    /// An operand of `U`, `W` or `R`, which bind tighter than `!`.
    Tight(FormulaId),
    /// An operand of a comparison, `^` or an arithmetic operator.
    Term(ExprId),
}

/// How tightly the text of a formula binds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tightness {
    /// An infix operator, or a fixpoint, whose body extends to the end.
    Loose,
    Negation,
    Comparison,
    /// A name, a prefix with its operand in brackets, a function.
    Atom,
}

impl System {
    /// Returns the formula in the syntax of ISPL. Formulas with quantifiers over infinite paths are printed
    /// in CTL*, also those of LTL: `CTL* A(G(F(p)))`.
    pub fn formula_text(&self, id: FormulaId) -> String {
        let logic = if self.is_about_infinite_paths(id) { "CTL* " } else { "" };
        self.write(vec![Piece::Formula(id), Piece::Text(logic)])
    }

    /// Returns whether some quantifier in a formula ranges over infinite paths.
    fn is_about_infinite_paths(&self, root: FormulaId) -> bool {
        let mut seen = vec![false; self.formulas.len()];
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            match self.formulas.get(id) {
                Formula::Exists(Paths::Infinite, _) | Formula::Forall(Paths::Infinite, _) => return true,
                _ => self.formulas.each_operand(id, |f| {
                    if !std::mem::replace(&mut seen[f.index()], true) {
                        open.push(f);
                    }
                }),
            }
        }
        false
    }

    /// Returns the expression in the syntax of ISPL.
    pub fn expr_text(&self, id: ExprId) -> String {
        self.write(vec![Piece::Expr(id)])
    }

    fn write(&self, mut stack: Vec<Piece>) -> String {
        let mut out = String::new();
        while let Some(piece) = stack.pop() {
            let begin = stack.len();
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Operand(id) => {
                    let is_bracketed = self.tightness(id) == Tightness::Loose;
                    enclose(&mut stack, Piece::Formula(id), is_bracketed);
                }
                Piece::Negated(id) => {
                    let is_bracketed = matches!(self.tightness(id), Tightness::Loose | Tightness::Comparison);
                    enclose(&mut stack, Piece::Formula(id), is_bracketed);
                }
                Piece::Tight(id) => {
                    enclose(&mut stack, Piece::Formula(id), self.tightness(id) != Tightness::Atom);
                }
                Piece::Term(id) => {
                    let expr = self.exprs.get(id);
                    let is_bracketed = matches!(expr, Expr::Compare(..) | Expr::ActionIs(..) | Expr::Not(_));
                    enclose(&mut stack, Piece::Expr(id), is_bracketed);
                }
                Piece::Formula(id) => self.formula_pieces(id, &mut out, &mut stack),
                Piece::Expr(id) => self.expr_pieces(id, &mut out, &mut stack),
            }
            stack[begin..].reverse();
        }
        out
    }

    fn tightness(&self, id: FormulaId) -> Tightness {
        match self.formulas.get(id) {
            Formula::And(_)
            | Formula::Or(_)
            | Formula::Implies(..)
            | Formula::Iff(..)
            | Formula::Until(..)
            | Formula::WeakUntil(..)
            | Formula::Release(..)
            | Formula::Least(..)
            | Formula::Greatest(..) => Tightness::Loose,
            Formula::Not(_) => Tightness::Negation,
            Formula::Condition(e) if !self.is_plain_condition(e) => Tightness::Comparison,
            _ => Tightness::Atom,
        }
    }

    /// Returns whether a condition in a formula is printed without a comparison, as in other places.
    fn is_plain_condition(&self, e: ExprId) -> bool {
        match self.exprs.get(e) {
            Expr::Bool(_) => true,
            // `Ag.GreenStates` would be parsed as the set of states.
            Expr::Variable(v) => !matches!(&*self.variable(v).name, "GreenStates" | "RedStates"),
            _ => false,
        }
    }

    /// Prints a condition inside a formula: as a variable or a comparison.
    fn condition_pieces(&self, e: ExprId, stack: &mut Vec<Piece>) {
        match self.exprs.get(e) {
            _ if self.is_plain_condition(e) => stack.push(Piece::Expr(e)),
            Expr::Compare(..) => stack.push(Piece::Expr(e)),
            Expr::Not(inner) => stack.extend([Piece::Term(inner), Piece::Text(" = false")]),
            _ => stack.extend([Piece::Term(e), Piece::Text(" = true")]),
        }
    }

    fn formula_pieces(&self, id: FormulaId, out: &mut String, stack: &mut Vec<Piece>) {
        use Piece::{Operand, Text, Tight};
        let until = |stack: &mut Vec<Piece>, f, word, g| stack.extend([Tight(f), Text(word), Tight(g)]);
        let infix = |stack: &mut Vec<Piece>, f, word, g| stack.extend([Operand(f), Text(word), Operand(g)]);
        let prefix = |stack: &mut Vec<Piece>, word, f| {
            stack.extend([Text(word), Text("("), Piece::Formula(f), Text(")")]);
        };
        match self.formulas.get(id) {
            Formula::Bool(b) => out.push_str(if b { "true" } else { "false" }),
            Formula::Proposition(p) => out.push_str(&self.propositions[p.index()].name),
            Formula::Condition(e) => self.condition_pieces(e, stack),
            Formula::Green(i) => _ = write!(out, "{}.GreenStates", self.agent(i).name),
            Formula::Red(i) => _ = write!(out, "{}.RedStates", self.agent(i).name),
            Formula::Not(f) => stack.extend([Text("!"), Piece::Negated(f)]),
            Formula::And(list) => join(stack, list.iter().map(|&f| Operand(f)), " and "),
            Formula::Or(list) => join(stack, list.iter().map(|&f| Operand(f)), " or "),
            Formula::Implies(f, g) => infix(stack, f, " -> ", g),
            Formula::Iff(f, g) => infix(stack, f, " <-> ", g),
            Formula::Until(f, g) => until(stack, f, " U ", g),
            Formula::WeakUntil(f, g) => until(stack, f, " W ", g),
            Formula::Release(f, g) => until(stack, f, " R ", g),
            Formula::Exists(paths, f) => self.quantified("E", paths, f, stack),
            Formula::Forall(paths, f) => self.quantified("A", paths, f, stack),
            Formula::Next(f) => prefix(stack, "X", f),
            Formula::Finally(f) => prefix(stack, "F", f),
            Formula::Globally(f) => prefix(stack, "G", f),
            Formula::Knows(i, f) => self.epistemic("K", Some(i), None, f, out, stack),
            Formula::EveryoneKnows(g, f) => self.epistemic("GK", None, Some(g), f, out, stack),
            Formula::DistributedKnowledge(g, f) => self.epistemic("DK", None, Some(g), f, out, stack),
            Formula::CommonKnowledge(g, f) => self.epistemic("GCK", None, Some(g), f, out, stack),
            Formula::Correct(i, f) => self.epistemic("O", Some(i), None, f, out, stack),
            Formula::KnowsUnder(i, g, f) => self.epistemic("KH", Some(i), Some(g), f, out, stack),
            Formula::Enforces(g, strategies, f) => {
                _ = write!(out, "<{}", self.groups[g.index()].name);
                if strategies != Strategies::Perfect || self.default_strategies != Strategies::Perfect {
                    _ = write!(out, ", {}", strategies.name());
                }
                out.push('>');
                stack.push(Operand(f));
            }
            Formula::ExistsStep(c, f) => self.step("EX{", c, f, stack),
            Formula::ForallStep(c, f) => self.step("AX{", c, f, stack),
            Formula::Least(z, f) => self.fixpoint("mu", z, f, out, stack),
            Formula::Greatest(z, f) => self.fixpoint("nu", z, f, out, stack),
            Formula::Bound(z) => out.push_str(self.formulas.fixpoint_name(z)),
        }
    }

    /// `EX{c}(..)`
    fn step(&self, word: &'static str, condition: ExprId, f: FormulaId, stack: &mut Vec<Piece>) {
        let (condition, operand) = (Piece::Expr(condition), Piece::Formula(f));
        stack.extend([Piece::Text(word), condition, Piece::Text("}("), operand, Piece::Text(")")]);
    }

    /// `mu Z.(..)`
    fn fixpoint(&self, word: &str, z: FixpointId, f: FormulaId, out: &mut String, stack: &mut Vec<Piece>) {
        _ = write!(out, "{word} {}.", self.formulas.fixpoint_name(z));
        stack.extend([Piece::Text("("), Piece::Formula(f), Piece::Text(")")]);
    }

    /// `AG(..)` in CTL where a temporal operator follows, `A(..)` otherwise.
    fn quantified(&self, quantifier: &'static str, paths: Paths, path: FormulaId, stack: &mut Vec<Piece>) {
        stack.push(Piece::Text(quantifier));
        match self.formulas.get(path) {
            Formula::Next(_) | Formula::Finally(_) | Formula::Globally(_) if paths == Paths::Ctl => {
                stack.push(Piece::Formula(path));
            }
            _ => stack.extend([Piece::Text("("), Piece::Formula(path), Piece::Text(")")]),
        }
    }

    fn epistemic(
        &self,
        word: &str,
        agent: Option<AgentId>,
        group: Option<GroupId>,
        f: FormulaId,
        out: &mut String,
        stack: &mut Vec<Piece>,
    ) {
        _ = write!(out, "{word}(");
        for name in
            agent.map(|i| &self.agent(i).name).into_iter().chain(group.map(|g| &self.groups[g.index()].name))
        {
            _ = write!(out, "{name}, ");
        }
        stack.extend([Piece::Formula(f), Piece::Text(")")]);
    }

    fn expr_pieces(&self, id: ExprId, out: &mut String, stack: &mut Vec<Piece>) {
        let nary = |stack: &mut Vec<Piece>, list: &[ExprId], piece: fn(ExprId) -> Piece, word| {
            stack.push(Piece::Text("("));
            join(stack, list.iter().map(|&e| piece(e)), word);
            stack.push(Piece::Text(")"));
        };
        match self.exprs.get(id) {
            Expr::Bool(b) => out.push_str(if b { "true" } else { "false" }),
            Expr::Number(n) => _ = write!(out, "{n}"),
            Expr::Symbol(s) => out.push_str(&self.symbols[s.index()]),
            Expr::Variable(v) => out.push_str(&self.full_name(v)),
            Expr::ActionIs(agent, action) => {
                let agent = self.agent(agent);
                _ = write!(out, "{}.Action = {}", agent.name, agent.actions[action.index()].name);
            }
            Expr::Not(a) => stack.extend([Piece::Text("!("), Piece::Expr(a), Piece::Text(")")]),
            Expr::Negate(a) => stack.extend([Piece::Text("-("), Piece::Expr(a), Piece::Text(")")]),
            Expr::And(list) => nary(stack, list, Piece::Expr, " and "),
            Expr::Or(list) => nary(stack, list, Piece::Expr, " or "),
            Expr::Xor(list) => nary(stack, list, Piece::Term, " ^ "),
            Expr::Sum(list) if list.iter().any(|&e| self.is_boolean(e)) => {
                stack.push(Piece::Text("count("));
                join(stack, list.iter().map(|&e| Piece::Expr(e)), ", ");
                stack.push(Piece::Text(")"));
            }
            // A sum or product of one operand is a different tree from the operand.
            Expr::Sum(&[only]) => stack.extend([Piece::Text("("), Piece::Term(only), Piece::Text(" + 0)")]),
            Expr::Product(&[only]) => {
                stack.extend([Piece::Text("("), Piece::Term(only), Piece::Text(" * 1)")])
            }
            Expr::Sum(list) => nary(stack, list, Piece::Term, " + "),
            Expr::Product(list) => nary(stack, list, Piece::Term, " * "),
            Expr::Divide(a, b) => nary(stack, &[a, b], Piece::Term, " / "),
            Expr::Modulo(a, b) => nary(stack, &[a, b], Piece::Term, " mod "),
            Expr::Compare(relation, a, b) => {
                let operator = [" ", relation.symbol(), " "].map(Piece::Text);
                stack.extend([Piece::Term(a)].into_iter().chain(operator).chain([Piece::Term(b)]));
            }
        }
    }
}

/// Pushes a piece, in brackets or not.
fn enclose(stack: &mut Vec<Piece>, piece: Piece, is_bracketed: bool) {
    if is_bracketed {
        stack.extend([Piece::Text("("), piece, Piece::Text(")")]);
    } else {
        stack.push(piece);
    }
}

fn join(stack: &mut Vec<Piece>, pieces: impl Iterator<Item = Piece>, word: &'static str) {
    for (i, piece) in pieces.enumerate() {
        if i > 0 {
            stack.push(Piece::Text(word));
        }
        stack.push(piece);
    }
}
