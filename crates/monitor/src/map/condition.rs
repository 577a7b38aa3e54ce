//! Conditions on records: `when = { method = "tools/call", 'params.name' = ["read", "write"] }`.

use super::path::Path;
use super::values::Values;
use crate::record::Json;

/// Tests, all of which a record must pass.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Condition(pub(super) Vec<(Path, Test)>);

/// A test of the value at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// It is one of these.
    OneOf(Vec<Scalar>),
    /// There is one, and it is none of these.
    NoneOf(Vec<Scalar>),
    /// Whether there is one.
    Exists(bool),
    /// It is a string that begins with this text.
    StartsWith(String),
}

/// A value that a condition compares with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    Text(String),
    Int(i64),
    Bool(bool),
}

impl Condition {
    /// Whether a record passes all tests.
    pub(super) fn holds(&self, values: &Values<'_>) -> bool {
        self.0.iter().all(|(path, test)| test.passes(values.find(path)))
    }
}

impl Test {
    fn passes(&self, value: Option<&Json>) -> bool {
        let is_among =
            |scalars: &[Scalar]| value.is_some_and(|value| scalars.iter().any(|scalar| scalar.is(value)));
        match self {
            Test::OneOf(scalars) => is_among(scalars),
            Test::NoneOf(scalars) => value.is_some() && !is_among(scalars),
            Test::Exists(expected) => value.is_some() == *expected,
            Test::StartsWith(prefix) => matches!(value, Some(Json::Text(text)) if text.starts_with(prefix)),
        }
    }
}

impl Scalar {
    pub(super) fn into_json(self) -> Json {
        match self {
            Scalar::Text(text) => Json::Text(text),
            Scalar::Int(number) => Json::Int(number),
            Scalar::Bool(value) => Json::Bool(value),
        }
    }

    fn is(&self, value: &Json) -> bool {
        match (self, value) {
            (Scalar::Text(expected), Json::Text(text)) => expected == text,
            (Scalar::Int(expected), Json::Int(number)) => expected == number,
            (Scalar::Bool(expected), Json::Bool(value)) => expected == value,
            _ => false,
        }
    }
}
