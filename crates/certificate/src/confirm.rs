//! The check of one certificate: from its sets and a model to an answer.

use std::fmt;
use std::time::{Duration, Instant};

use masque_model::{At, FormulaId, System, VarId};
use sha2::{Digest, Sha256};

use crate::conditions::Conditions;
use crate::encode::Encoded;
use crate::format::{Certificate, Node};
use crate::kernel::{Limit, Set};

/// Returns the digest of the texts of a model: SHA-256 of each text after its length and a line feed.
pub fn digest<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update(format!("{}\n", text.len()));
        hash.update(text);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Limits on a check.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Time from now on; unlimited if `None`.
    pub time: Option<Duration>,
    /// Memory of the diagrams, in bytes.
    pub bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { time: None, bytes: 4 << 30 }
    }
}

/// Why a certificate is not confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A condition is violated.
    Refused {
        /// The condition: its row and the part of the formula.
        condition: String,
        /// A state at which it is violated, if there is a single one.
        state: Option<String>,
    },
    /// The certificate does not fit the model, or is outside what certificates cover.
    Input(String),
    /// A limit was reached.
    Limit(Limit),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused { condition, state: None } => write!(f, "violated: {condition}"),
            Failure::Refused { condition, state: Some(state) } => {
                write!(f, "violated: {condition}\n  at {state}")
            }
            Failure::Input(what) => f.write_str(what),
            Failure::Limit(Limit::Time) => f.write_str("the time limit was reached"),
            Failure::Limit(Limit::Memory) => f.write_str("the memory limit was reached"),
            Failure::Limit(Limit::Values) => {
                f.write_str("an expression has too many values for this checker")
            }
        }
    }
}

/// Confirms that a formula holds, or fails, in a system, as a certificate claims.
///
/// The sets are taken from the certificate; the formula, the states where it is required, and the meaning of the
/// system are those that are passed in.
pub fn confirm(
    system: &System,
    (formula, at): (FormulaId, At),
    certificate: &Certificate,
    limits: Limits,
) -> Result<(), Failure> {
    let deadline = limits.time.map(|time| Instant::now() + time);
    let encoded = Encoded::new(system, certificate, limits.bytes, deadline)?;
    let diagrams = encoded.values.diagrams.clone();
    let sets = encoded.sets(&certificate.nodes);
    let answer = Conditions::new(system, certificate, encoded, sets).verdict(formula, at);
    // After a limit, no answer means anything.
    diagrams.exceeded().map_or(answer, |limit| Err(Failure::Limit(limit)))
}

impl Encoded<'_> {
    /// Makes the sets of the nodes of a certificate, by number; number 0 is everything.
    fn sets(&self, nodes: &[Node]) -> Vec<Set> {
        let mut sets = vec![self.values.diagrams.constant(true)];
        for Node { bit, low, high } in nodes {
            let [low, high] = [low, high].map(|child| match (&sets[child.0 as usize >> 1], child.0 & 1) {
                (set, 0) => set.clone(),
                (set, _) => set.not(),
            });
            sets.push(self.values.diagrams.branch(2 * bit, &low, &high));
        }
        sets
    }

    /// Returns a state of a set as text; `None` if the set is empty.
    pub(crate) fn some_state(&self, set: &Set) -> Option<String> {
        let (values, system) = (set.some_valuation()?, self.values.system);
        let text = |v: VarId| {
            let levels = (0_u32..).zip(&self.values.levels.variables[v.index()]);
            let code =
                levels.map(|(power, level)| u64::from(values.get(level) == Some(&true)) << power).sum();
            let domain = &system.variable(v).domain;
            let is_valid = u128::from(code) < domain.size();
            let value = if is_valid { system.value_text(v, domain.value(code)) } else { "?".to_string() };
            format!("{}={value}", system.full_name(v))
        };
        Some(system.variable_ids().map(text).collect::<Vec<_>>().join(" "))
    }
}
