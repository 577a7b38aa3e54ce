//! The last events of a session, for its chart.

use std::collections::VecDeque;

use crate::map::ObservedEvent;

/// Maximum length in bytes of a text in an event that is kept. Charts show less.
const MAX_TEXT_BYTES: usize = 200;

/// The last events of a session.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Events, the oldest first. Long texts are cut.
    pub events: VecDeque<ObservedEvent>,
    /// Number of events before these.
    pub n_dropped: u64,
    bytes: usize,
}

impl History {
    /// Adds an event, and drops the oldest ones so that at most `max` are left.
    pub(crate) fn add(&mut self, event: &ObservedEvent, max: usize) {
        if max > 0 {
            let event = shortened(event);
            self.bytes += event.bytes();
            self.events.push_back(event);
        } else {
            self.n_dropped += 1;
        }
        while self.events.len() > max {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.bytes();
            self.n_dropped += 1;
        }
    }

    /// Size of the events in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

fn shortened(event: &ObservedEvent) -> ObservedEvent {
    let cut = |text: &String| {
        if text.len() <= MAX_TEXT_BYTES {
            return text.clone();
        }
        format!("{}..", &text[..text.floor_char_boundary(MAX_TEXT_BYTES)])
    };
    let part = |text: &Option<String>| text.as_ref().map(cut);
    ObservedEvent {
        kind: event.kind,
        by: part(&event.by),
        from: part(&event.from),
        to: part(&event.to),
        message: part(&event.message),
        constraint: part(&event.constraint),
        columns: event.columns.iter().map(|(name, value)| (cut(name), cut(value))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_events_are_kept() {
        let event =
            |message: &str| ObservedEvent { message: Some(message.to_string()), ..ObservedEvent::default() };
        let mut history = History::default();
        ["a", "b", "c"].into_iter().for_each(|text| history.add(&event(text), 2));
        let kept: Vec<_> = history.events.iter().flat_map(|event| event.message.as_deref()).collect();
        assert_eq!((kept, history.n_dropped), (vec!["b", "c"], 1));
        history.add(&event(&"\u{e9}".repeat(1000)), 2);
        assert_eq!(history.events[1].message.as_ref().map(|text| text.chars().count()), Some(102));
        // Without room, no event is kept: the last one would be taken for this one.
        history.add(&event("d"), 0);
        assert_eq!((history.events.len(), history.n_dropped, history.bytes()), (0, 5, 0));
    }
}
