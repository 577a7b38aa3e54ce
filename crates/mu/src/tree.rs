//! The syntax tree of formulas, with the span of each part.

use masque_text::{Sources, Span, on_one_line};

use crate::lexer::Token;

/// A formula and its location.
#[derive(Clone, Debug)]
pub struct Phi {
    /// Form of the formula.
    pub kind: FormulaKind,
    /// Location in the source.
    pub span: Span,
}

/// The forms of a formula. Chains are flat: `a && b && c` is one conjunction.
#[derive(Clone, Debug)]
pub enum FormulaKind {
    /// `tt`.
    True,
    /// `ff`.
    False,
    /// A fixpoint variable.
    Variable(String),
    /// A state atom of the language, as written.
    Atom(String),
    /// `deadlock`: no transition, and not final.
    Deadlock,
    /// `!phi`.
    Not(Box<Phi>),
    /// `phi && phi && ..`.
    And(Vec<Phi>),
    /// `phi || phi || ..`.
    Or(Vec<Phi>),
    /// `phi -> phi -> ..`, which associates to the right.
    Implies(Vec<Phi>),
    /// `<R>phi` or `[R]phi`.
    Modal(Modality, Regular, Box<Phi>),
    /// `mu X. phi` or `nu X. phi`.
    Fixpoint(Sign, Name, Box<Phi>),
    /// `AG phi` and the other path operators.
    Path(PathOperator, Box<Phi>),
    /// `inev(P)`: every maximal path performs `P`.
    Inevitable(Pattern),
    /// `resp(P, Q)`: after each `P`, every maximal path performs `Q`.
    Response(Pattern, Pattern),
}

/// A word and its location.
#[derive(Clone, Debug)]
pub struct Name {
    /// The word.
    pub text: String,
    /// Location in the source.
    pub span: Span,
}

/// FormulaKind of a fixpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// `mu`, the least fixpoint.
    Mu,
    /// `nu`, the greatest fixpoint.
    Nu,
}

/// FormulaKind of a modality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modality {
    /// `<R>`: some path in `R` leads to a state that satisfies the operand.
    Diamond,
    /// `[R]`: all paths in `R` lead to states that satisfy the operand.
    Box,
}

/// The path operators of CTL, which abbreviate fixpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathOperator {
    /// On all paths, always.
    AG,
    /// On some path, eventually.
    EF,
    /// On all maximal paths, eventually.
    AF,
    /// On some maximal path, always.
    EG,
    /// After every step.
    AX,
    /// After some step.
    EX,
}

impl PathOperator {
    /// All operators.
    pub const ALL: [PathOperator; 6] = [Self::AG, Self::EF, Self::AF, Self::EG, Self::AX, Self::EX];

    /// Returns the operator as it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::AG => "AG",
            Self::EF => "EF",
            Self::AF => "AF",
            Self::EG => "EG",
            Self::AX => "AX",
            Self::EX => "EX",
        }
    }
}

/// A regular expression over steps, inside a modality.
#[derive(Clone, Debug)]
pub enum Regular {
    /// One step.
    Step(Pattern),
    /// `R . S . ..`.
    Sequence(Vec<Regular>),
    /// `R | S | ..`.
    Choice(Vec<Regular>),
    /// `R*`.
    Star(Box<Regular>),
    /// `R+`.
    Plus(Box<Regular>),
}

/// A set of steps.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `-`: any step.
    Any,
    /// `-P`: any step that `P` does not match.
    Not(Box<Pattern>),
    /// `{P, ..}`: a step that one of the patterns matches.
    Set(Vec<Pattern>),
    /// A pattern of the language, as written.
    Is(String, Span),
}

/// A property of a file: `name : formula ;`.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name.
    pub name: Name,
    /// Formula.
    pub phi: Phi,
    /// The text of the formula, on one line and without comments; `None` if it was not read from a text.
    pub written: Option<String>,
}

impl Named {
    /// A property whose formula was read from one of the sources.
    pub fn read(sources: &Sources, name: Name, phi: Phi) -> Named {
        let written = Some(on_one_line::<Token>(sources.slice(phi.span)));
        Named { name, phi, written }
    }

    /// The formula as its author wrote it, or else as printed.
    pub fn text(&self) -> String {
        self.written.clone().unwrap_or_else(|| self.phi.to_string())
    }
}
