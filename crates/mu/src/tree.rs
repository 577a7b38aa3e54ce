//! Formulas as they are written, with the place of each part.

use masque_text::Span;

/// A formula and where it stands.
#[derive(Clone, Debug)]
pub struct Phi {
    /// What it says.
    pub kind: Kind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a formula. Chains are flat: `a && b && c` is one conjunction.
#[derive(Clone, Debug)]
pub enum Kind {
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
    /// `AG phi` and its kin.
    Path(PathOperator, Box<Phi>),
    /// `inev(P)`: every maximal run performs `P`.
    Inevitable(Pattern),
    /// `resp(P, Q)`: after each `P`, every maximal run performs `Q`.
    Response(Pattern, Pattern),
}

/// A word and where it stands.
#[derive(Clone, Debug)]
pub struct Name {
    /// The word.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Least or greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// `mu`, the least fixpoint.
    Mu,
    /// `nu`, the greatest fixpoint.
    Nu,
}

/// Some step, or all steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modality {
    /// `<R>`: some run of `R` leads to ..
    Diamond,
    /// `[R]`: all runs of `R` lead to ..
    Box,
}

/// The path operators of CTL, which abbreviate fixpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathOperator {
    /// Wherever one may go.
    AG,
    /// Somewhere one can go.
    EF,
    /// On every maximal run, at some time.
    AF,
    /// On some maximal run, always.
    EG,
    /// After every step.
    AX,
    /// After some step.
    EX,
}

impl PathOperator {
    /// All of them.
    pub const ALL: [PathOperator; 6] = [Self::AG, Self::EF, Self::AF, Self::EG, Self::AX, Self::EX];

    /// The operator as it is written.
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

/// What a modality follows: sequences of steps.
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

/// What one step may be.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// `-`: any step.
    Any,
    /// `-P`: any other step.
    Not(Box<Pattern>),
    /// `{P, ..}`: a step that one of them describes.
    Set(Vec<Pattern>),
    /// A pattern of the language, as written.
    Is(String, Span),
}

/// A property of a file: `name : formula ;`.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name.
    pub name: Name,
    /// What it says.
    pub phi: Phi,
}
