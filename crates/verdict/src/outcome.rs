//! The three verdicts, and the reasons for `Unknown`.

use std::fmt;

use masque_model::semantics::Truth;
use serde::{Deserialize, Serialize};

use crate::{Evidence, Stop};

/// Whether a system has a property.
///
/// ```
/// use masque_verdict::{Verdict, Why};
/// let verdict = Verdict::Unknown(Why::NoFairPath);
/// assert_eq!((verdict.word(), verdict.reason()), ("unknown", Some("no-fair-path")));
/// assert_eq!(verdict.to_string(), "unknown(no-fair-path)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// True at all initial (or all reachable) states.
    Holds,
    /// False at some initial (or reachable) state.
    Fails,
    /// Not decided.
    Unknown(Why),
}

impl Verdict {
    /// `holds`, `fails` or `unknown`, as in reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Fails => "fails",
            Verdict::Unknown(_) => "unknown",
        }
    }

    /// The reason for `Unknown`, as in reports.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Verdict::Holds | Verdict::Fails => None,
            Verdict::Unknown(why) => Some(why.word()),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            None => f.write_str(self.word()),
            Some(reason) => write!(f, "{}({reason})", self.word()),
        }
    }
}

impl From<Truth> for Verdict {
    fn from(truth: Truth) -> Verdict {
        match truth {
            Truth::Holds => Verdict::Holds,
            Truth::Fails => Verdict::Fails,
            Truth::NoFairPath => Verdict::Unknown(Why::NoFairPath),
            Truth::Unsupported => Verdict::Unknown(Why::Unsupported),
        }
    }
}

impl From<bool> for Verdict {
    /// `true` holds.
    fn from(holds: bool) -> Verdict {
        if holds { Verdict::Holds } else { Verdict::Fails }
    }
}

/// The reason for which a property is not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Why {
    /// The deadline passed.
    Timeout,
    /// The memory budget is used up.
    Memory,
    /// There are more states than allowed.
    States,
    /// The check was cancelled.
    Interrupted,
    /// The formula, or a fairness constraint, lies outside the engine's fragment.
    Unsupported,
    /// No initial state starts a fair path.
    NoFairPath,
    /// The world of the property does not exist: its synthesis left no state.
    NoModel,
    /// A worker of the distributed engine was lost, or failed.
    Workers,
    /// The verdict depends on states beyond a bound of the model: `cap` (messages in transit), `depth` (of
    /// a term), `psize` (size of a process), `sld` (depth of a proof), `unfold` (role changes in one step)
    /// or `states` (explored states).
    ///
    /// The name is not serialized: only verdicts on interpreted systems are sent between processes, and
    /// these systems have no bounds.
    Bound(#[serde(skip)] &'static str),
}

impl Why {
    /// All reasons that reports name.
    pub const ALL: [Why; 14] = [
        Why::Timeout,
        Why::Memory,
        Why::States,
        Why::Interrupted,
        Why::Unsupported,
        Why::NoFairPath,
        Why::NoModel,
        Why::Workers,
        Why::Bound("cap"),
        Why::Bound("depth"),
        Why::Bound("psize"),
        Why::Bound("sld"),
        Why::Bound("unfold"),
        Why::Bound("states"),
    ];

    /// The reason with this name.
    ///
    /// ```
    /// use masque_verdict::Why;
    /// assert_eq!(Why::from_word("no-fair-path"), Some(Why::NoFairPath));
    /// assert_eq!(Why::from_word("fate"), None);
    /// ```
    pub fn from_word(word: &str) -> Option<Why> {
        Why::ALL.into_iter().find(|why| why.word() == word)
    }

    /// Whether a limit or the user stopped the check, so that more time or memory may decide the property.
    pub fn is_limit(self) -> bool {
        matches!(self, Why::Timeout | Why::Memory | Why::States | Why::Interrupted | Why::Workers)
    }

    /// The name used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Why::Timeout => "timeout",
            Why::Memory => "memory",
            Why::States => "states",
            Why::Interrupted => "interrupted",
            Why::Unsupported => "unsupported",
            Why::NoFairPath => "no-fair-path",
            Why::NoModel => "no-model",
            Why::Workers => "workers",
            Why::Bound("cap") => "bound:cap",
            Why::Bound("depth") => "bound:depth",
            Why::Bound("psize") => "bound:psize",
            Why::Bound("sld") => "bound:sld",
            Why::Bound("unfold") => "bound:unfold",
            Why::Bound("states") => "bound:states",
            Why::Bound(_) => "bound",
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The result of deciding one property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Verdict.
    pub verdict: Verdict,
    /// Evidence for the verdict, if the engine has any.
    pub evidence: Option<Evidence>,
}

impl From<Verdict> for Outcome {
    fn from(verdict: Verdict) -> Outcome {
        Outcome { verdict, evidence: None }
    }
}

impl From<Stop> for Outcome {
    fn from(stop: Stop) -> Outcome {
        Verdict::Unknown(stop.why).into()
    }
}
