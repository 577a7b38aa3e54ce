//! Random trees for the tests of printing and layout.

use fastrand::Rng;
use masque_mu::tree::{FormulaKind, Modality, Name, PathOperator, Pattern, Phi, Regular, Sign};
use masque_text::Span;

/// Patterns of a language that are difficult to tokenize.
const PRIMITIVES: [&str; 12] = [
    "a",
    "tt",
    "mu",
    "τ",
    "in(offer(X), a(seller, _))@c1",
    "out('it)s', \"<->\")@a(b,c)",
    "in([a|T])@7",
    "#",
    "#(not (p(_) and X < -1))@w",
    "'any text'",
    "\"SEND !1\"",
    "in(/* no */ x)",
];
const ATOMS: [&str; 6] = ["final", "p", "at(c, second(_))", "done('X.509')", "idle(c)", "_x"];
/// A variable may be bound again or be free: printing and parsing do not check that.
const VARIABLES: [&str; 4] = ["X", "Y", "Until", "A"];

/// Makes syntactically correct trees, valid or not.
pub(crate) struct Maker {
    pub(crate) random: Rng,
}

impl Maker {
    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.random.usize(..items.len())]
    }

    /// Returns a formula with operators nested to this depth.
    pub(crate) fn phi(&mut self, depth: u32) -> Phi {
        Phi { kind: self.kind(depth), span: Span::default() }
    }

    fn chain(&mut self, depth: u32) -> Vec<Phi> {
        (0..self.random.usize(2..4)).map(|_| self.phi(depth)).collect()
    }

    fn kind(&mut self, depth: u32) -> FormulaKind {
        if depth == 0 {
            return match self.random.u8(..6) {
                0 => FormulaKind::True,
                1 => FormulaKind::False,
                2 => FormulaKind::Deadlock,
                3 => FormulaKind::Variable(self.pick(&VARIABLES).to_string()),
                _ => FormulaKind::Atom(self.pick(&ATOMS).to_string()),
            };
        }
        let inside = depth - 1;
        match self.random.u8(..12) {
            0 => self.kind(0),
            1 | 2 => FormulaKind::Not(Box::new(self.phi(inside))),
            3 => FormulaKind::And(self.chain(inside)),
            4 => FormulaKind::Or(self.chain(inside)),
            5 => FormulaKind::Implies(self.chain(inside)),
            6 => {
                let operator = self.pick(&PathOperator::ALL);
                FormulaKind::Path(operator, Box::new(self.phi(inside)))
            }
            7 => FormulaKind::Inevitable(self.pattern(inside)),
            8 => FormulaKind::Response(self.pattern(inside), self.pattern(inside)),
            9 => {
                let sign = self.pick(&[Sign::Mu, Sign::Nu]);
                let name = Name { text: self.pick(&VARIABLES).to_string(), span: Span::default() };
                FormulaKind::Fixpoint(sign, name, Box::new(self.phi(inside)))
            }
            _ => {
                let modality = self.pick(&[Modality::Diamond, Modality::Box]);
                let regular = self.regular(inside);
                FormulaKind::Modal(modality, regular, Box::new(self.phi(inside)))
            }
        }
    }

    fn regular(&mut self, depth: u32) -> Regular {
        if depth == 0 {
            return Regular::Step(self.pattern(1));
        }
        let n = self.random.usize(2..4);
        match self.random.u8(..5) {
            0 => Regular::Step(self.pattern(depth)),
            1 => Regular::Sequence((0..n).map(|_| self.regular(depth - 1)).collect()),
            2 => Regular::Choice((0..n).map(|_| self.regular(depth - 1)).collect()),
            3 => Regular::Star(Box::new(self.regular(depth - 1))),
            _ => Regular::Plus(Box::new(self.regular(depth - 1))),
        }
    }

    fn pattern(&mut self, depth: u32) -> Pattern {
        match self.random.u8(..5) {
            0 => Pattern::Any,
            1 if depth > 0 => Pattern::Not(Box::new(self.pattern(depth - 1))),
            2 if depth > 0 => {
                let n = self.random.usize(1..4);
                Pattern::Set((0..n).map(|_| self.pattern(depth - 1)).collect())
            }
            _ => Pattern::Is(self.pick(&PRIMITIVES).to_string(), Span::default()),
        }
    }
}
