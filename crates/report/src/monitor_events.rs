//! Observed events as text, and as traces for charts.

use masque_driver::{End, Event, EventAction, Trace};
use masque_monitor::map::{ObservedEvent, ObservedKind};

use crate::monitor::ObservedReport;

/// What stands for a part that the log does not give.
const NOT_GIVEN: &str = "?";

/// An observed event in one line: `pat -> cody: task(fix_login)`, `rex: merge(main)`, `Lamp.on = true`.
pub(crate) fn observed_text(event: &ObservedReport) -> String {
    let part = |text: Option<&String>| text.map_or(NOT_GIVEN, String::as_str).to_string();
    if !event.columns.0.is_empty() {
        let columns: Vec<String> =
            event.columns.0.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        return columns.join(", ");
    }
    let [by, from, to] = [&event.by, &event.from, &event.to].map(Option::as_ref);
    if event.message.is_none() && to.is_none() {
        let by = part(by.or(from));
        return match (&event.constraint, event.kind) {
            (Some(constraint), _) => format!("{by}: {constraint}"),
            (None, Some("internal")) => format!("{by}: an internal step"),
            (None, _) => format!("{by}: a step"),
        };
    }
    // The agent that acts receives what is taken, and otherwise sends.
    let [from, to] = if event.kind == Some("taken") { [from, to.or(by)] } else { [from.or(by), to] };
    let mut text = format!("{} -> {}: {}", part(from), part(to), part(event.message.as_ref()));
    text.extend(event.constraint.iter().map(|constraint| format!(" <- {constraint}")));
    text += match event.kind {
        Some("sent") => " (sent)",
        Some("taken") => " (received)",
        _ => "",
    };
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
            if !agent.is_empty() && !agents.contains(agent) {
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
    let [by, from, to] = [&event.by, &event.from, &event.to].map(Option::as_ref);
    let message = event.message.clone().unwrap_or_else(|| NOT_GIVEN.to_string());
    let action = if event.message.is_none() && to.is_none() {
        EventAction::Internal { by: agent(by.or(from)) }
    } else {
        let [from, to] =
            if event.kind == Some(ObservedKind::Taken) { [from, to.or(by)] } else { [from.or(by), to] };
        match (from, to) {
            // Two agents that are not given need not be the same one.
            (None, None) => EventAction::Sent { by: NOT_GIVEN.to_string(), to: String::new(), message },
            _ => EventAction::Exchanged { from: agent(from), to: agent(to), message },
        }
    };
    Event { action, because, sent: None, label: String::new() }
}
