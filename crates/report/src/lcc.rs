//! LCC protocols in the report: counts, findings, and traces as lists of events.

use masque_driver::{Event, EventAction, ProtocolDetails, Trace};
use schemars::JsonSchema;
use serde::Serialize;

/// Results on an LCC protocol other than verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProtocolReport {
    /// For LCC: number of states that have no successor and are not final; null if the state space was not
    /// explored.
    pub deadlocks: Option<u64>,
    /// For LCC: number of final states without successors; null if the state space was not explored.
    pub finals: Option<u64>,
    /// For LCC: actions that were both permitted and forbidden in the explored states, as
    /// `(subject,object,±action)`.
    pub conflicts: Vec<String>,
    /// For LCC: constraints in the explored states that are unknown to an agent, as `agent: name/arity`.
    pub unknown_constraints: Vec<String>,
}

/// A trace of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceReport {
    /// Agents, in the order of the team.
    pub agents: Vec<String>,
    /// Initial role of each agent; several roles are separated by `par`.
    pub roles: Vec<String>,
    /// Events.
    pub events: Vec<EventReport>,
    /// For an infinite trace: index of the event that follows the last.
    pub back_to: Option<usize>,
    /// How the trace ends: `final`, `stuck`, `loop`, `decided` (the last event decides, for every
    /// continuation) or `open` (from here on, several paths together decide).
    #[schemars(extend("enum" = ["final", "stuck", "loop", "decided", "open"]))]
    pub end: String,
    /// For a trace that ends in a deadlock: why each agent is stuck.
    pub blame: Vec<String>,
}

/// An event of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventReport {
    /// `internal`, `sent`, `taken` (received), or `exchanged` (sent and received in one step).
    #[schemars(extend("enum" = ["internal", "sent", "taken", "exchanged"]))]
    pub kind: String,
    /// Agent that acts; for an exchange, the sender.
    pub by: String,
    /// Other agent; null for an internal step, and for a message to any agent in the role.
    pub peer: Option<String>,
    /// Message; null for an internal step.
    pub message: Option<String>,
    /// Constraints that allowed the event.
    pub because: Vec<String>,
    /// For a message that is received: index of the event that sent it; null if it was in transit at the
    /// start.
    pub sent: Option<usize>,
    /// Whole label, which the patterns of formulas match.
    pub label: String,
}

/// The parts of an event by their names in the report: its kind, the agent that does it, the other
/// agent, and the message.
pub(crate) fn deed_parts(action: &EventAction) -> (&'static str, &String, Option<&String>, Option<&String>) {
    match action {
        EventAction::Internal { by } => ("internal", by, None, None),
        EventAction::Sent { by, to, message } => ("sent", by, Some(to), Some(message)),
        EventAction::Taken { by, from, message } => ("taken", by, Some(from), Some(message)),
        EventAction::Exchanged { from, to, message } => ("exchanged", from, Some(to), Some(message)),
    }
}

impl From<&Event> for EventReport {
    fn from(event: &Event) -> Self {
        let (kind, by, peer, message) = deed_parts(&event.action);
        EventReport {
            kind: kind.to_string(),
            by: by.clone(),
            peer: peer.filter(|peer| !peer.is_empty()).cloned(),
            message: message.cloned(),
            because: event.because.clone(),
            sent: event.sent,
            label: event.label.clone(),
        }
    }
}

impl From<&Trace> for TraceReport {
    fn from(trace: &Trace) -> Self {
        TraceReport {
            agents: trace.agents.clone(),
            roles: trace.roles.clone(),
            events: trace.events.iter().map(EventReport::from).collect(),
            back_to: trace.loop_at,
            end: trace.end.word().to_string(),
            blame: trace.blame.clone(),
        }
    }
}

impl ProtocolReport {
    pub(crate) fn new(details: &ProtocolDetails) -> Self {
        // If a bound cut the exploration, the numbers are only lower bounds and are left out.
        let counts = details.counts.as_ref().filter(|counts| counts.cut.is_none());
        ProtocolReport {
            deadlocks: counts.map(|counts| counts.deadlocks),
            finals: counts.map(|counts| counts.finals),
            conflicts: details.conflicts.clone(),
            unknown_constraints: details.unknown_constraints.clone(),
        }
    }
}
