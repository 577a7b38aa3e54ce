//! Observed events as text, and as traces for charts.

use masque_driver::{End, Event, EventAction, Trace};
use masque_monitor::map::ObservedEvent;

use crate::monitor::ObservedReport;

/// What stands for a part that the log does not give.
const NOT_GIVEN: &str = "?";

/// An observed event in one line: `pat -> cody: task(fix_login)`, `rex: merge(main)`, `Lamp.on = true`.
pub(crate) fn observed_text(event: &ObservedReport) -> String {
    let part = |text: &Option<String>| text.clone().unwrap_or_else(|| NOT_GIVEN.to_string());
    let mut text = if !event.columns.0.is_empty() {
        let columns: Vec<String> =
            event.columns.0.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        columns.join(", ")
    } else if event.to.is_some() || event.message.is_some() {
        let from = event.from.as_ref().or(event.by.as_ref()).cloned();
        format!("{} -> {}: {}", part(&from), part(&event.to), part(&event.message))
    } else {
        let by = event.by.as_ref().or(event.from.as_ref()).cloned();
        match &event.constraint {
            Some(constraint) => format!("{}: {constraint}", part(&by)),
            None => format!("{}: an internal step", part(&by)),
        }
    };
    if let (Some(constraint), true) = (&event.constraint, event.to.is_some() || event.message.is_some()) {
        text += &format!(" <- {constraint}");
    }
    if let Some(kind @ ("sent" | "taken")) = event.kind {
        text += if kind == "sent" { " (sent)" } else { " (received)" };
    }
    text
}

/// Observed events as a trace, whose agents are those of the events in the order in which they occur; none if no event
/// has agents.
pub(crate) fn observed_trace(history: &[ObservedEvent]) -> Option<Trace> {
    let events: Vec<Event> = history.iter().map(observed_event).collect();
    let mut agents: Vec<String> = Vec::new();
    for event in &events {
        let named = match &event.action {
            EventAction::Internal { by } => [by, by],
            EventAction::Exchanged { from, to, .. } => [from, to],
            EventAction::Sent { by, to, .. } => [by, to],
            EventAction::Taken { by, from, .. } => [from, by],
        };
        for agent in named {
            if !agents.contains(agent) {
                agents.push(agent.clone());
            }
        }
    }
    let has_columns = history.iter().any(|event| !event.columns.is_empty());
    if has_columns || agents.is_empty() {
        return None;
    }
    let n_agents = agents.len();
    Some(Trace {
        agents,
        roles: vec![String::new(); n_agents],
        rests: vec![false; n_agents],
        events,
        loop_at: None,
        end: End::Open,
        blame: Vec::new(),
    })
}

fn observed_event(event: &ObservedEvent) -> Event {
    let agent = |id: Option<&String>| id.cloned().unwrap_or_else(|| NOT_GIVEN.to_string());
    let because: Vec<String> = event.constraint.iter().cloned().collect();
    let action = if event.to.is_some() || event.message.is_some() {
        let message = event.message.clone().unwrap_or_else(|| NOT_GIVEN.to_string());
        let from = agent(event.from.as_ref().or(event.by.as_ref()));
        EventAction::Exchanged { from, to: agent(event.to.as_ref()), message }
    } else {
        EventAction::Internal { by: agent(event.by.as_ref().or(event.from.as_ref())) }
    };
    Event { action, because, sent: None, label: String::new() }
}
