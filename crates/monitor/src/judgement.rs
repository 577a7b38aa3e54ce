//! What an observation changes.

use masque_text::Span;

/// The result of adding one observation to a log. Only what changed is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the observation is possible.
    pub event: EventVerdict,
    /// Goals whose status changed.
    pub goals: Vec<GoalChange>,
    /// Properties other than goals whose truth changed.
    pub facts: Vec<FactChange>,
    /// Obligation instances whose status changed.
    pub obligations: Vec<InstanceChange>,
    /// Number of possible states.
    pub n_states: u64,
}

/// The judgement of an observation that was not added to the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// What the observation would change.
    pub judgement: Judgement,
    /// The status of each goal after it; empty if it is not possible.
    pub goals: Vec<GoalChange>,
}

/// What is known after a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Number of possible states.
    pub n_states: u64,
    /// All goals, with their status.
    pub goals: Vec<GoalChange>,
    /// All properties other than goals, with their truth.
    pub facts: Vec<FactChange>,
    /// Obligation instances that are owed or perhaps owed.
    pub obligations: Vec<InstanceChange>,
    /// Why there may be more possible states, if a bound hides some.
    pub unknown: Option<String>,
}

/// Whether an observation is possible after the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventVerdict {
    /// Some run whose observable part is the log continues with it.
    Possible,
    /// No run does.
    Violated(Violation),
    /// A bound hides steps that might match it; the reason.
    Unknown(String),
}

/// Why an observation is impossible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violation {
    /// Observable steps that were possible instead, as text.
    pub instead: Vec<String>,
    /// Why the agents could not make the step, and whose rule forbade it.
    pub because: Vec<Reason>,
}

impl Violation {
    /// An observation that is certainly impossible, although a limit was reached before it was known why.
    pub(crate) fn unexplained() -> Violation {
        let text = "why it is impossible was not found within the limits on time and memory".to_string();
        Violation { instead: Vec::new(), because: vec![Reason { text, rules: Vec::new() }] }
    }
}

/// Why a step is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The explanation, such as `rita could not open: rule 1 of archive requires member(rita)`.
    pub text: String,
    /// Locations of the rules that the explanation names.
    pub rules: Vec<Span>,
}

/// The truth of a property in the possible states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// It is true in all possible states.
    Certain,
    /// It is true in some possible states and false in others.
    Possible,
    /// It is false in all possible states.
    Impossible,
    /// It is not decided in some possible state; the reason.
    Unknown(String),
}

/// The status of a goal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoalStatus {
    /// The goal was reached on every possible run.
    Reached,
    /// It will be reached on all continuations of all possible runs (`AF`, `inev`), or can be reached from all possible
    /// states (`EF`, `<->`).
    Certain,
    /// The goal can be reached from some possible state, and was never certain.
    Possible,
    /// The goal was certain and now is only possible.
    AtRisk,
    /// The goal cannot be reached from any possible state.
    Lost,
    /// The goal is not decided; the reason.
    Unknown(String),
}

/// A goal whose status changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalChange {
    /// Name of the property.
    pub goal: String,
    /// New status.
    pub status: GoalStatus,
}

/// A property other than a goal whose truth changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// Name of the property.
    pub property: String,
    /// New truth.
    pub truth: Truth,
}

/// An obligation with the values of its variables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObligationInstance {
    /// Name of the obligation's property, such as `obligation_1`.
    pub obligation: String,
    /// The act with its values, as text: who owes what to whom.
    pub owes: String,
    /// Values of the variables that the triggering event bound.
    pub bindings: Vec<(String, String)>,
}

/// The status of an obligation instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceStatus {
    /// Owed on all possible runs.
    Owed,
    /// Owed on some possible runs.
    PerhapsOwed,
    /// The act was performed on all possible runs on which it was due.
    Met,
    /// Ended on all possible runs, on some of them by `until` and not by the act.
    Discharged,
    /// Perhaps owed before; now no possible run has made it due.
    NeverDue,
}

/// An obligation instance whose status changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstanceChange {
    /// The instance.
    pub instance: ObligationInstance,
    /// New status.
    pub status: InstanceStatus,
}

/// What is left at the end of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closing {
    /// Obligation instances that are owed on all possible runs.
    pub open: Vec<ObligationInstance>,
    /// Obligation instances that are owed on some possible runs.
    pub perhaps_open: Vec<ObligationInstance>,
    /// Goals that were not reached on every possible run, with their last status.
    pub goals: Vec<GoalChange>,
    /// Why the state at the end is not known, if a bound hides steps.
    pub unknown: Option<String>,
}
