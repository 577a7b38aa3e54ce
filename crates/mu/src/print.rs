//! Formulas as text with only necessary brackets. Parsing the text gives the same formula.

use std::fmt::{Display, Formatter, Result};

use crate::tree::{FormulaKind, Modality, Pattern, Phi, Regular, Sign};

/// Precedence of an operator, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tightness {
    Fixpoint,
    Implies,
    Or,
    And,
    Prefix,
}

impl Display for Phi {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        formula(self, Tightness::Fixpoint, f)
    }
}

/// Writes a formula in a context where operators that bind less tightly than `at` need brackets.
fn formula(phi: &Phi, at: Tightness, f: &mut Formatter<'_>) -> Result {
    use Tightness::{And, Fixpoint, Implies, Or, Prefix};
    let own = match &phi.kind {
        FormulaKind::Fixpoint(..) => Fixpoint,
        FormulaKind::Implies(_) => Implies,
        FormulaKind::Or(_) => Or,
        FormulaKind::And(_) => And,
        _ => Prefix,
    };
    if own < at {
        f.write_str("(")?;
        formula(phi, Fixpoint, f)?;
        return f.write_str(")");
    }
    match &phi.kind {
        FormulaKind::True => f.write_str("tt"),
        FormulaKind::False => f.write_str("ff"),
        FormulaKind::Variable(text) | FormulaKind::Atom(text) => f.write_str(text),
        FormulaKind::Deadlock => f.write_str("deadlock"),
        FormulaKind::Not(inner) => {
            f.write_str("!")?;
            formula(inner, Prefix, f)
        }
        FormulaKind::And(chain) => joined(chain, " && ", f, |phi, f| formula(phi, Prefix, f)),
        FormulaKind::Or(chain) => joined(chain, " || ", f, |phi, f| formula(phi, And, f)),
        FormulaKind::Implies(chain) => joined(chain, " -> ", f, |phi, f| formula(phi, Or, f)),
        FormulaKind::Modal(Modality::Diamond, regular, inner) => {
            write!(f, "<{regular}>")?;
            formula(inner, Prefix, f)
        }
        FormulaKind::Modal(Modality::Box, regular, inner) => {
            write!(f, "[{regular}]")?;
            formula(inner, Prefix, f)
        }
        FormulaKind::Fixpoint(sign, name, body) => {
            write!(f, "{} {}. ", if *sign == Sign::Mu { "mu" } else { "nu" }, name.text)?;
            formula(body, Fixpoint, f)
        }
        FormulaKind::Path(operator, inner) => {
            write!(f, "{} ", operator.word())?;
            formula(inner, Prefix, f)
        }
        FormulaKind::Inevitable(pattern) => write!(f, "inev({pattern})"),
        FormulaKind::Response(first, second) => write!(f, "resp({first}, {second})"),
    }
}

/// Writes the links of a chain with `sign` between them.
fn joined<T>(
    chain: &[T],
    sign: &str,
    f: &mut Formatter<'_>,
    write: impl Fn(&T, &mut Formatter<'_>) -> Result,
) -> Result {
    for (i, link) in chain.iter().enumerate() {
        if i > 0 {
            f.write_str(sign)?;
        }
        write(link, f)?;
    }
    Ok(())
}

impl Display for Regular {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Regular::Step(pattern) => write!(f, "{pattern}"),
            Regular::Choice(chain) => joined(chain, " | ", f, |regular, f| match regular {
                Regular::Choice(_) => write!(f, "({regular})"),
                _ => write!(f, "{regular}"),
            }),
            Regular::Sequence(chain) => joined(chain, " . ", f, |regular, f| match regular {
                Regular::Choice(_) | Regular::Sequence(_) => write!(f, "({regular})"),
                _ => write!(f, "{regular}"),
            }),
            Regular::Star(inner) => repeated(inner, "*", f),
            Regular::Plus(inner) => repeated(inner, "+", f),
        }
    }
}

fn repeated(inner: &Regular, sign: &str, f: &mut Formatter<'_>) -> Result {
    match inner {
        Regular::Step(pattern) => write!(f, "{pattern}{sign}"),
        _ => write!(f, "({inner}){sign}"),
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Pattern::Any => f.write_str("-"),
            Pattern::Not(inner) => write!(f, "-{inner}"),
            Pattern::Set(patterns) => {
                f.write_str("{")?;
                joined(patterns, ", ", f, |pattern, f| write!(f, "{pattern}"))?;
                f.write_str("}")
            }
            Pattern::Is(text, _) => f.write_str(text),
        }
    }
}
