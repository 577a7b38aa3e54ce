//! The result of `masque monitor` as data: one JSON object per line, schema `masque.monitor/1`.

use std::io::{self, Write};

use masque_monitor::map::{ObservedEvent, ObservedKind};
use masque_monitor::{
    CloseReason, Closing, EventVerdict, FactChange, GoalChange, GoalStatus, InstanceChange, InstanceStatus,
    Judgement, ObligationInstance, Reason, Status, Truth,
};
use masque_text::Sources;
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;
use crate::printable_json::write_json_line;

/// Name of the schema.
pub const MONITOR_SCHEMA: &str = "masque.monitor/1";

/// A line of the output.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(title = "masque.monitor/1")]
pub enum MonitorLine {
    /// The first line: what is monitored.
    Start(MonitorStart),
    /// An observation: if something changed, or with `--verbose` or `--enforce`.
    Event(Box<MonitorEvent>),
    /// A line of the log that was not used, or something that happened to the log.
    Problem(MonitorProblem),
    /// A session that was closed.
    Session(MonitorSession),
    /// The last line.
    Summary(MonitorSummary),
}

/// What is monitored.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct MonitorStart {
    /// Name of the schema.
    #[schemars(extend("const" = MONITOR_SCHEMA))]
    pub schema: &'static str,
    /// Files of the model.
    pub files: Vec<String>,
    /// The log; `-` is standard input.
    pub log: String,
    /// The map; null if records are used as they are.
    pub map: Option<String>,
    /// The agent whose view the log is.
    pub agent: Option<String>,
    /// Whether impossible events are denied.
    pub enforce: bool,
    /// Goals before the first event.
    pub goals: Vec<GoalReport>,
    /// Other properties before the first event.
    pub facts: Vec<FactReport>,
}

/// A goal and its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GoalReport {
    /// Name of the property.
    pub goal: String,
    /// `reached`; `certain` and `possible`; `at_risk` (was certain, is possible); `lost` (impossible); `unknown`.
    #[schemars(extend("enum" = ["reached", "certain", "possible", "at_risk", "lost", "unknown"]))]
    pub status: &'static str,
    /// Why it is unknown.
    pub reason: Option<String>,
}

/// A property other than a goal and its truth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FactReport {
    /// Name of the property.
    pub property: String,
    /// Whether it is true in all, some or none of the possible states.
    #[schemars(extend("enum" = ["certain", "possible", "impossible", "unknown"]))]
    pub truth: &'static str,
    /// Why it is unknown.
    pub reason: Option<String>,
}

/// An obligation with the values of its variables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObligationReport {
    /// Name of the obligation.
    pub obligation: String,
    /// Who owes what.
    pub owes: String,
    /// Values of the variables.
    pub bindings: Entries<String>,
    /// What happened to it; `open` at the end of a session.
    #[schemars(extend("enum" = ["owed", "perhaps_owed", "met", "discharged", "never_due", "open", "perhaps_open"]))]
    pub status: &'static str,
}

/// An observed event, as far as the log describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ObservedReport {
    /// `internal`, `sent`, `taken` or `exchanged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Agent that acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Message, as a term of LCC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Constraint of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraint: Option<String>,
    /// Columns of an interpreted system: actions of the step, values after it.
    #[serde(skip_serializing_if = "Entries::is_empty")]
    pub columns: Entries<String>,
}

/// The judgement of an observation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MonitorEvent {
    /// Line of the log.
    pub line: u64,
    /// Key of the session; null if there is only one.
    pub session: Option<String>,
    /// What was observed.
    pub event: ObservedReport,
    /// `possible`; `violated` (no run continues with it); `unknown`; `after_end` (no step was possible any more);
    /// `after_violation` (not judged). With `--enforce` also `ignored` (the map matches nothing in the record), `ended`
    /// (it only ends a session) and `bad_record`.
    #[schemars(extend("enum" = ["possible", "violated", "unknown", "after_end", "after_violation", "ignored", "ended", "bad_record"]))]
    pub verdict: &'static str,
    /// With `--enforce`: `allow` or `deny`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["allow", "deny"]))]
    pub decision: Option<&'static str>,
    /// Why the verdict is unknown.
    pub reason: Option<String>,
    /// For a violation: what was possible instead.
    pub instead: Vec<String>,
    /// For a violation: why the event was not possible.
    pub because: Vec<BlameReport>,
    /// Goals whose status changed.
    pub goals: Vec<GoalReport>,
    /// Other properties whose truth changed.
    pub facts: Vec<FactReport>,
    /// Obligations whose status changed.
    pub obligations: Vec<ObligationReport>,
    /// Number of possible states; null if the event was not judged.
    pub states: Option<u64>,
}

/// Why an event is not possible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BlameReport {
    /// The explanation.
    pub text: String,
    /// Rules that the explanation names.
    pub rules: Vec<RuleReport>,
}

/// The place of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleReport {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Text of the rule in one line.
    pub rule: String,
}

/// A line of the log that was not used, or something that happened to the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MonitorProblem {
    /// `bad_record`; `late_record` (it arrived after later ones were used); `rotated`, `truncated`, `missing` (the log
    /// file); `incomplete` (the last line before that); `gaps` (records leave out what the agent of `--as` sees).
    #[schemars(extend("enum" = ["bad_record", "late_record", "rotated", "truncated", "missing", "incomplete", "gaps"]))]
    pub problem: &'static str,
    /// Line of the log.
    pub line: Option<u64>,
    /// Column in characters, from 1.
    pub column: Option<usize>,
    /// What is wrong, and what would be accepted.
    pub message: String,
}

/// A session that was closed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MonitorSession {
    /// Key of the session; null if there is only one.
    pub session: Option<String>,
    /// `over` (no further step is possible), `ended` (the log says so), `idle`, `violated`, `log_end`, `too_many`
    /// (sessions were open), `stopped` (a limit was reached).
    #[schemars(extend("enum" = ["over", "ended", "idle", "violated", "log_end", "too_many", "stopped"]))]
    pub reason: &'static str,
    /// Number of events.
    pub events: u64,
    /// Obligations that are open, and those that are perhaps open.
    pub obligations: Vec<ObligationReport>,
    /// Goals that were not reached on every possible run.
    pub goals: Vec<GoalReport>,
    /// Why the end is not known.
    pub unknown: Option<String>,
    /// Last events, for the chart.
    #[serde(skip)]
    pub history: Vec<ObservedEvent>,
    /// Number of events before these.
    #[serde(skip)]
    pub n_dropped: u64,
    /// Explanations of the violation, for the page.
    #[serde(skip)]
    pub violation: Option<Box<MonitorEvent>>,
}

/// The numbers of all events and sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MonitorSummary {
    /// Lines with text.
    pub lines: u64,
    /// Observations.
    pub events: u64,
    /// Records that match no part of the map.
    pub ignored: u64,
    /// Lines that could not be used.
    pub bad_records: u64,
    /// Observations that arrived too late to be put in order, and were not used.
    pub late_records: u64,
    /// Observations with an earlier time than the one before, used as they arrived.
    pub out_of_order: u64,
    /// Sessions.
    pub sessions: u64,
    /// Sessions with an event that is not possible.
    pub violated: u64,
    /// Events that were denied.
    pub denied: u64,
    /// Events in sessions after a violation, which were not judged.
    pub not_judged: u64,
    /// Goals that were lost, over all sessions.
    pub lost: u64,
    /// Obligations that are open at the end of their sessions.
    pub open: u64,
    /// Obligations that are perhaps open.
    pub perhaps_open: u64,
    /// Events and sessions about which something is unknown.
    pub unknown: u64,
    /// Whether the user stopped the command.
    pub interrupted: bool,
}

impl MonitorSummary {
    /// Whether a line could not be used.
    pub fn has_bad_input(&self) -> bool {
        self.bad_records > 0
    }

    /// Whether something is wrong: an impossible event, a lost goal, or an open obligation.
    pub fn has_failure(&self) -> bool {
        self.violated + self.denied + self.lost + self.open > 0
    }

    /// Whether something is not known.
    pub fn is_inconclusive(&self) -> bool {
        self.unknown + self.perhaps_open + self.late_records > 0
    }
}

impl From<&GoalChange> for GoalReport {
    fn from(change: &GoalChange) -> GoalReport {
        let (status, reason) = match &change.status {
            GoalStatus::Reached => ("reached", None),
            GoalStatus::Certain => ("certain", None),
            GoalStatus::Possible => ("possible", None),
            GoalStatus::AtRisk => ("at_risk", None),
            GoalStatus::Lost => ("lost", None),
            GoalStatus::Unknown(why) => ("unknown", Some(why.clone())),
        };
        GoalReport { goal: change.goal.clone(), status, reason }
    }
}

impl From<&FactChange> for FactReport {
    fn from(change: &FactChange) -> FactReport {
        let (truth, reason) = match &change.truth {
            Truth::Certain => ("certain", None),
            Truth::Possible => ("possible", None),
            Truth::Impossible => ("impossible", None),
            Truth::Unknown(why) => ("unknown", Some(why.clone())),
        };
        FactReport { property: change.property.clone(), truth, reason }
    }
}

impl ObligationReport {
    fn new(instance: &ObligationInstance, status: &'static str) -> ObligationReport {
        ObligationReport {
            obligation: instance.obligation.clone(),
            owes: instance.owes.clone(),
            bindings: Entries(instance.bindings.clone()),
            status,
        }
    }
}

impl From<&InstanceChange> for ObligationReport {
    fn from(change: &InstanceChange) -> ObligationReport {
        let status = match change.status {
            InstanceStatus::Owed => "owed",
            InstanceStatus::PerhapsOwed => "perhaps_owed",
            InstanceStatus::Met => "met",
            InstanceStatus::Discharged => "discharged",
            InstanceStatus::NeverDue => "never_due",
        };
        ObligationReport::new(&change.instance, status)
    }
}

impl From<&ObservedEvent> for ObservedReport {
    fn from(event: &ObservedEvent) -> ObservedReport {
        let kind = event.kind.and_then(|kind| {
            ObservedKind::WORDS.into_iter().find(|(_, known)| *known == kind).map(|(word, _)| word)
        });
        ObservedReport {
            kind,
            by: event.by.clone(),
            from: event.from.clone(),
            to: event.to.clone(),
            message: event.message.clone(),
            constraint: event.constraint.clone(),
            columns: Entries(event.columns.clone()),
        }
    }
}

impl MonitorStart {
    /// Adds what is known before the first event.
    pub fn with_status(mut self, status: &Status) -> MonitorStart {
        self.schema = MONITOR_SCHEMA;
        self.goals = status.goals.iter().map(GoalReport::from).collect();
        self.facts = status.facts.iter().map(FactReport::from).collect();
        self
    }
}

impl MonitorEvent {
    /// An event that was not judged.
    pub fn not_judged(
        line: u64,
        session: &Option<String>,
        event: &ObservedEvent,
        verdict: &'static str,
        reason: Option<String>,
    ) -> MonitorEvent {
        MonitorEvent {
            line,
            session: session.clone(),
            event: event.into(),
            verdict,
            decision: None,
            reason,
            instead: Vec::new(),
            because: Vec::new(),
            goals: Vec::new(),
            facts: Vec::new(),
            obligations: Vec::new(),
            states: None,
        }
    }

    /// An event that was judged.
    pub fn judged(
        line: u64,
        session: &Option<String>,
        event: &ObservedEvent,
        judgement: &Judgement,
        sources: &Sources,
    ) -> MonitorEvent {
        let mut report = MonitorEvent::not_judged(line, session, event, "possible", None);
        match &judgement.event {
            EventVerdict::Possible => {}
            EventVerdict::Violated(violation) => {
                report.verdict = "violated";
                report.instead.clone_from(&violation.instead);
                report.because =
                    violation.because.iter().map(|reason| BlameReport::new(reason, sources)).collect();
            }
            EventVerdict::Unknown(why) => (report.verdict, report.reason) = ("unknown", Some(why.clone())),
        }
        report.goals = judgement.goals.iter().map(GoalReport::from).collect();
        report.facts = judgement.facts.iter().map(FactReport::from).collect();
        report.obligations = judgement.obligations.iter().map(ObligationReport::from).collect();
        report.states = Some(judgement.n_states);
        report
    }

    /// Forgets what the event would change, because it is denied.
    pub fn forget_changes(&mut self) {
        self.goals.clear();
        self.facts.clear();
        self.obligations.clear();
    }

    /// Whether the event matters without `--verbose`: it is not simply possible, or a goal is lost or at risk.
    pub fn matters(&self) -> bool {
        self.verdict != "possible" && self.verdict != "after_violation"
            || ["lost", "at_risk", "unknown"].into_iter().any(|status| self.has_goal(status))
            || self.decision.is_some()
    }

    /// Whether a goal changed to this status.
    pub(crate) fn has_goal(&self, status: &str) -> bool {
        self.goals.iter().any(|goal| goal.status == status)
    }
}

impl BlameReport {
    /// Reports a reason; its rules are in the sources.
    pub fn new(reason: &Reason, sources: &Sources) -> BlameReport {
        let rule = |span: &masque_text::Span| RuleReport {
            file: sources.name(sources.file_of(*span)).to_string(),
            line: sources.locate(*span).0.line,
            rule: sources.slice(*span).split_whitespace().collect::<Vec<_>>().join(" "),
        };
        BlameReport { text: reason.text.clone(), rules: reason.rules.iter().map(rule).collect() }
    }
}

impl MonitorSession {
    /// A session that was closed for a reason, after some events.
    pub fn new(session: &Option<String>, reason: CloseReason, events: u64) -> MonitorSession {
        let reason = match reason {
            CloseReason::Over => "over",
            CloseReason::Ended => "ended",
            CloseReason::Idle => "idle",
            CloseReason::Violated => "violated",
            CloseReason::LogEnd => "log_end",
            CloseReason::TooMany => "too_many",
            CloseReason::Stopped => "stopped",
        };
        MonitorSession {
            session: session.clone(),
            reason,
            events,
            obligations: Vec::new(),
            goals: Vec::new(),
            unknown: None,
            history: Vec::new(),
            n_dropped: 0,
            violation: None,
        }
    }

    /// Adds what is left at the end.
    pub fn with_closing(mut self, closing: &Closing) -> MonitorSession {
        let open = closing.open.iter().map(|instance| ObligationReport::new(instance, "open"));
        let perhaps =
            closing.perhaps_open.iter().map(|instance| ObligationReport::new(instance, "perhaps_open"));
        self.obligations = open.chain(perhaps).collect();
        self.goals = closing.goals.iter().map(GoalReport::from).collect();
        self.unknown.clone_from(&closing.unknown);
        self
    }
}

impl MonitorLine {
    /// Writes the line as JSON.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        write_json_line(out, self)
    }
}
