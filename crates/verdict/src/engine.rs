//! The traits that engines implement.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use masque_model::{FormulaId, Property, System};
use serde::{Deserialize, Serialize};

use crate::{Budget, CertificateRequest, Early, Extent, Facts, NotCertified, Oracle, Outcome, Stop, Verdict};

/// Decides properties of checked systems.
///
/// An engine may answer `Unknown`; it must not answer wrongly. Evidence names states and actions of
/// the checked system, never of the encoding, so `replay` need not trust the engine.
pub trait Engine: Sync {
    /// The name used by `--engine`, in reports and in benchmark tables.
    fn name(&self) -> &'static str;

    /// Says why `property` lies outside this engine's fragment, if it does.
    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported>;

    /// Encodes `system` once; the result then decides any number of properties. Verdicts that are final
    /// before all states are explored are passed to `early` at once.
    fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop>;

    /// Encodes `system` without early verdicts.
    fn encode<'s>(&self, system: &'s System, budget: &Budget) -> Result<Box<dyn Encoded + 's>, Stop> {
        self.explore(system, &mut Early::deaf(), budget)
    }
}

/// A system in an engine's own form.
///
/// After a `Stop` the encoded system can still be used: results computed so far are kept, and the same
/// method can be called again with a larger budget.
pub trait Encoded {
    /// Computes the facts about the system that do not depend on its properties.
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop>;

    /// Decides one property. If the budget runs out, the verdict is `Unknown`.
    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome;

    /// Decides one property without evidence. A later [`decide`](Self::decide) reuses the result.
    fn verdict(&mut self, property: &Property, budget: &Budget) -> Verdict {
        self.decide(property, budget).verdict
    }

    /// Whether a state formula is true at some state of the domain: a reachable state, and one on a
    /// fair path if there are fairness constraints.
    ///
    /// A formula outside the engine's fragment stops with [`Why::Unsupported`].
    ///
    /// [`Why::Unsupported`]: crate::Why::Unsupported
    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop>;

    /// Counts the states of the domain, and the initial states in it, at which a state formula is true.
    ///
    /// A formula outside the engine's fragment stops with [`Why::Unsupported`].
    ///
    /// [`Why::Unsupported`]: crate::Why::Unsupported
    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop>;

    /// Writes the certificate of a verdict, a text in the format `masque.certificate/1`.
    fn certificate(&mut self, _: &CertificateRequest<'_>, _: &Budget) -> Result<String, NotCertified> {
        Err(NotCertified::Engine)
    }

    /// The engine's oracle for single states and paths, if it has one.
    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        None
    }

    /// Time and memory used so far.
    fn stats(&self) -> Stats;
}

/// The verdicts for which an engine gives evidence: the values of `--evidence`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Show {
    /// No evidence.
    None,
    /// Evidence for properties that fail.
    #[default]
    Failed,
    /// Also for properties that hold, if one path or one state shows that they do.
    All,
}

impl Show {
    /// Whether evidence is wanted for a verdict: `Some(true)` for one that holds, `Some(false)` for one that
    /// fails, `None` if not.
    ///
    /// ```
    /// use masque_verdict::{Show, Verdict};
    /// assert_eq!(Show::Failed.wanted(Verdict::Holds), None);
    /// assert_eq!(Show::All.wanted(Verdict::Fails), Some(false));
    /// ```
    pub fn wanted(self, verdict: Verdict) -> Option<bool> {
        match (verdict, self) {
            (Verdict::Fails, Show::Failed | Show::All) => Some(false),
            (Verdict::Holds, Show::All) => Some(true),
            _ => None,
        }
    }
}

/// Time and memory that an encoded system has used so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Phases of the engine's work, in the order in which they began.
    pub phases: Vec<Phase>,
    /// Number of stored states, if the engine stores single states.
    pub states: Option<u64>,
    /// Number of stored transitions, if the engine stores single transitions.
    pub transitions: Option<u64>,
    /// Peak size of the engine's own data, in bytes.
    pub bytes: u64,
    /// Other counts by name: `bits`, `peak nodes`.
    pub figures: Vec<(Cow<'static, str>, u64)>,
    /// Remarks on how the engine worked, a few words each.
    pub notes: Vec<String>,
}

impl Stats {
    /// Adds time to a phase, which is created if it does not exist.
    pub fn spend(&mut self, name: &'static str, time: Duration) {
        match self.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.time += time,
            None => self.phases.push(Phase { name: name.into(), time }),
        }
    }
}

/// A phase of an engine's work, and the time it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// Name: `explore`, `label`.
    pub name: Cow<'static, str>,
    /// Total time of the phase.
    pub time: Duration,
}

/// Why a property lies outside an engine's fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Unsupported formula: the property, a part of it, or a part of a fairness constraint.
    pub formula: FormulaId,
    /// Its kind, a plural noun: `strategic operators`.
    pub what: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} are not supported", self.what)
    }
}

impl std::error::Error for Unsupported {}
