//! What an engine is.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use masque_model::{FormulaId, Property, System};
use serde::{Deserialize, Serialize};

use crate::{Budget, Early, Extent, Facts, Oracle, Outcome, Stop, Verdict};

/// Decides properties of checked systems.
///
/// An engine may answer `Unknown`; it must not answer wrongly. Evidence names states and actions of
/// the checked system, never of the encoding, so `replay` need not trust the engine.
pub trait Engine: Sync {
    /// The name used by `--engine`, in reports and in benchmark tables.
    fn name(&self) -> &'static str;

    /// Says why `property` lies outside this engine's fragment, if it does.
    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported>;

    /// Encodes `system` once; the result then answers any number of properties. Verdicts that show on
    /// the way are told at once.
    fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop>;

    /// Encodes `system` while nobody listens.
    fn encode<'s>(&self, system: &'s System, budget: &Budget) -> Result<Box<dyn Encoded + 's>, Stop> {
        self.explore(system, &mut Early::deaf(), budget)
    }
}

/// A system in an engine's own form.
///
/// After a `Stop` the encoded system is still good: what was computed is kept, and the question can
/// be asked again with a larger budget.
pub trait Encoded {
    /// What there is to know besides the properties.
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop>;

    /// Decides one property. A budget that runs out is `Unknown` here.
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

    /// In how many states of the domain a state formula is true, and in how many initial ones.
    ///
    /// A formula outside the engine's fragment stops with [`Why::Unsupported`].
    ///
    /// [`Why::Unsupported`]: crate::Why::Unsupported
    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop>;

    /// Answers to questions about single states and paths, if the engine has them.
    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        None
    }

    /// What it has cost so far.
    fn stats(&self) -> Stats;
}

/// Which verdicts an engine gives evidence for, as `--evidence` has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Show {
    /// None.
    None,
    /// Properties that fail.
    #[default]
    Failed,
    /// Also properties that hold, where one run or one state shows it.
    All,
}

impl Show {
    /// Whether a verdict is to have evidence, and if so whether it is that the property holds.
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

/// What an encoded system has cost so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// The engine's steps in the order in which they began.
    pub phases: Vec<Phase>,
    /// States stored one by one, if the engine does that.
    pub states: Option<u64>,
    /// Transitions stored one by one, if the engine does that.
    pub transitions: Option<u64>,
    /// The most bytes the engine's own data took at one time.
    pub bytes: u64,
    /// What else there is to count, under its name: `bits`, `peak nodes`.
    pub figures: Vec<(Cow<'static, str>, u64)>,
    /// What there is to say about how it went about it, in a few words each.
    pub notes: Vec<String>,
}

impl Stats {
    /// Adds time to a phase, new or not.
    pub fn spend(&mut self, name: &'static str, time: Duration) {
        match self.phases.iter_mut().find(|phase| phase.name == name) {
            Some(phase) => phase.time += time,
            None => self.phases.push(Phase { name: name.into(), time }),
        }
    }
}

/// The time a part of the work took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phase {
    /// What was done: `explore`, `label`.
    pub name: Cow<'static, str>,
    /// How long it took in all.
    pub time: Duration,
}

/// Why a property lies outside an engine's fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The part that does: the property, a part of it, or a part of a fairness constraint.
    pub formula: FormulaId,
    /// What it is: `strategic operators`.
    pub what: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} are not supported", self.what)
    }
}

impl std::error::Error for Unsupported {}
