//! LCC instances in the report: counts, findings, and runs as lists of events.

use masque_driver::{Deed, Event, ProtocolDetails, Trace};
use schemars::JsonSchema;
use serde::Serialize;

/// What is found in an LCC instance besides verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProtocolReport {
    /// For LCC: states where nothing can happen and that are not final; null if the space was not
    /// explored.
    pub deadlocks: Option<u64>,
    /// For LCC: final states where nothing can happen; null if the space was not explored.
    pub finals: Option<u64>,
    /// For LCC: what was both permitted and forbidden, as `(subject,object,±action)`, in what was
    /// looked at.
    pub conflicts: Vec<String>,
    /// For LCC: constraints of which an agent knows nothing, as `agent: name/arity`, in what was
    /// looked at.
    pub unknown_constraints: Vec<String>,
}

/// A run of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceReport {
    /// The agents, in the order of the team.
    pub agents: Vec<String>,
    /// The role in which each agent begins; several are set apart by `par`.
    pub roles: Vec<String>,
    /// What happens.
    pub events: Vec<EventReport>,
    /// Of a run that goes on for ever: the event that follows the last, from 0.
    pub back_to: Option<usize>,
    /// How it ends: `final`, `stuck`, `loop`, `decided` (the last event decides, however it goes on)
    /// or `open` (from here on several runs together decide).
    #[schemars(extend("enum" = ["final", "stuck", "loop", "decided", "open"]))]
    pub end: String,
    /// Of a run that ends in a deadlock: why each agent is stuck.
    pub blame: Vec<String>,
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct EventReport {
    /// `internal`, `sent`, `taken`, or `exchanged`: sent and taken in one step.
    #[schemars(extend("enum" = ["internal", "sent", "taken", "exchanged"]))]
    pub kind: String,
    /// The agent that does it; of an exchange, the sender.
    pub by: String,
    /// The other agent; null for an internal step, and for a message to whoever is in the role.
    pub peer: Option<String>,
    /// The message; null for an internal step.
    pub message: Option<String>,
    /// The constraints that allowed it.
    pub because: Vec<String>,
    /// Of a message that is taken: the event that sent it, from 0; null if it was under way at the
    /// start.
    pub sent: Option<usize>,
    /// The whole label, as the patterns of formulas see it.
    pub label: String,
}

/// The parts of an event by their names in the report: its kind, the agent that does it, the other
/// agent, and the message.
pub(crate) fn deed_parts(deed: &Deed) -> (&'static str, &String, Option<&String>, Option<&String>) {
    match deed {
        Deed::Internal { by } => ("internal", by, None, None),
        Deed::Sent { by, to, message } => ("sent", by, Some(to), Some(message)),
        Deed::Taken { by, from, message } => ("taken", by, Some(from), Some(message)),
        Deed::Exchanged { from, to, message } => ("exchanged", from, Some(to), Some(message)),
    }
}

impl From<&Event> for EventReport {
    fn from(event: &Event) -> Self {
        let (kind, by, peer, message) = deed_parts(&event.deed);
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
        // A lower bound is no count.
        let counts = details.counts.as_ref().filter(|counts| counts.cut.is_none());
        ProtocolReport {
            deadlocks: counts.map(|counts| counts.deadlocks),
            finals: counts.map(|counts| counts.finals),
            conflicts: details.conflicts.clone(),
            unknown_constraints: details.unknown_constraints.clone(),
        }
    }
}
