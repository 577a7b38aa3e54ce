//! Expressions over the variables and actions of a model that is being built.

use std::ops;

use crate::build::{Action, Origin, Variable, is_word};

/// A condition or a number over variables and actions.
///
/// An expression is made from variables, actions and values: `n.less_than(3) & !lit.expr()`.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The expression in ISPL.
    pub(crate) text: String,
    shape: Shape,
    /// The builders whose variables and actions occur.
    pub(crate) origins: Vec<Origin>,
    /// Names of values that are not words.
    pub(crate) wrong_values: Vec<String>,
}

/// How the outermost part of an expression is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A name or a constant.
    Atom,
    /// A chain of one of these operators, without brackets around it.
    Chain(&'static str),
    /// Anything else.
    Other,
}

impl Expr {
    fn atom(text: impl Into<String>) -> Expr {
        Expr { text: text.into(), shape: Shape::Atom, origins: Vec::new(), wrong_values: Vec::new() }
    }

    /// A value of an enumeration.
    pub fn value(name: &str) -> Expr {
        let wrong_values = if is_word(name) { Vec::new() } else { vec![name.to_string()] };
        Expr { wrong_values, ..Expr::atom(name) }
    }

    fn of(text: String, origin: Origin) -> Expr {
        Expr { origins: vec![origin], ..Expr::atom(text) }
    }

    fn bracketed(self) -> String {
        match self.shape {
            Shape::Atom => self.text,
            Shape::Chain(_) | Shape::Other => format!("({})", self.text),
        }
    }

    fn join(mut self, operator: &'static str, shape: Shape, mut other: Expr) -> Expr {
        let origins = std::mem::take(&mut other.origins);
        let wrong_values = std::mem::take(&mut other.wrong_values);
        for origin in origins {
            if !self.origins.contains(&origin) {
                self.origins.push(origin);
            }
        }
        self.wrong_values.extend(wrong_values);
        let (origins, wrong_values) =
            (std::mem::take(&mut self.origins), std::mem::take(&mut self.wrong_values));
        // A chain of one operator needs no brackets, and grows in place.
        let mut text =
            if shape != Shape::Other && self.shape == shape { self.text } else { self.bracketed() };
        text += operator;
        text += &other.bracketed();
        Expr { text, shape, origins, wrong_values }
    }

    fn chain(self, operator: &'static str, other: Expr) -> Expr {
        self.join(operator, Shape::Chain(operator), other)
    }

    /// Equality.
    pub fn equals(self, other: impl Into<Expr>) -> Expr {
        self.join(" = ", Shape::Other, other.into())
    }

    /// Inequality.
    pub fn differs_from(self, other: impl Into<Expr>) -> Expr {
        self.join(" <> ", Shape::Other, other.into())
    }

    /// Less than.
    pub fn less_than(self, other: impl Into<Expr>) -> Expr {
        self.join(" < ", Shape::Other, other.into())
    }

    /// At most.
    pub fn at_most(self, other: impl Into<Expr>) -> Expr {
        self.join(" <= ", Shape::Other, other.into())
    }

    /// Implication.
    pub fn implies(self, other: impl Into<Expr>) -> Expr {
        self.join(" -> ", Shape::Other, other.into())
    }
}

impl Variable {
    /// The value of the variable.
    pub fn expr(&self) -> Expr {
        Expr::of(self.full_name.clone(), self.origin)
    }

    /// Whether the variable has a value.
    pub fn is(&self, value: impl Into<Expr>) -> Expr {
        self.expr().equals(value)
    }

    /// Whether the variable has another value.
    pub fn is_not(&self, value: impl Into<Expr>) -> Expr {
        self.expr().differs_from(value)
    }

    /// Whether the variable is less than a number.
    pub fn less_than(&self, value: impl Into<Expr>) -> Expr {
        self.expr().less_than(value)
    }
}

impl Action {
    /// Whether the agent performs this action in the step.
    pub fn performed(&self) -> Expr {
        Expr::of(format!("{}.Action", self.agent_name), self.origin).equals(Expr::atom(self.name.clone()))
    }
}

impl From<bool> for Expr {
    fn from(value: bool) -> Expr {
        Expr::atom(if value { "true" } else { "false" })
    }
}

impl From<i64> for Expr {
    fn from(value: i64) -> Expr {
        match value < 0 {
            true => Expr { shape: Shape::Other, ..Expr::atom(value.to_string()) },
            false => Expr::atom(value.to_string()),
        }
    }
}

impl From<&Variable> for Expr {
    fn from(variable: &Variable) -> Expr {
        variable.expr()
    }
}

impl From<&str> for Expr {
    /// A value of an enumeration.
    fn from(name: &str) -> Expr {
        Expr::value(name)
    }
}

impl ops::BitAnd for Expr {
    type Output = Expr;

    fn bitand(self, other: Expr) -> Expr {
        self.chain(" and ", other)
    }
}

impl ops::BitOr for Expr {
    type Output = Expr;

    fn bitor(self, other: Expr) -> Expr {
        self.chain(" or ", other)
    }
}

impl ops::Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        let (origins, wrong_values) = (self.origins.clone(), self.wrong_values.clone());
        Expr { text: format!("!({})", self.text), shape: Shape::Other, origins, wrong_values }
    }
}

impl<E: Into<Expr>> ops::Add<E> for Expr {
    type Output = Expr;

    fn add(self, other: E) -> Expr {
        self.chain(" + ", other.into())
    }
}

impl<E: Into<Expr>> ops::Sub<E> for Expr {
    type Output = Expr;

    fn sub(self, other: E) -> Expr {
        self.join(" - ", Shape::Other, other.into())
    }
}
