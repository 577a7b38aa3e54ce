//! Protocols and interpreted systems whose sessions are watched.

use std::collections::BTreeSet;

use masque_lcc::{EventKind, EventText};
use masque_text::first_names;
use masque_verdict::{Budget, Stop};

use crate::ispl::{BadEntry, IsplModel, IsplMonitor, IsplObservation, Vocabulary};
use crate::lcc::{LccModel, LccMonitor, Observation};
use crate::map::{ObservedEvent, ObservedKind, RecordForm};
use crate::record::text_constant;
use crate::sessions::Watched;

/// Number of names in a message.
const MAX_SHOWN_GAPS: usize = 5;
/// Number of bytes of a text in a message.
const MAX_SHOWN_BYTES: usize = 100;

/// A protocol.
#[derive(Clone, Debug)]
pub struct WatchedProtocol(pub LccModel);

impl Watched for WatchedProtocol {
    type Monitor = LccMonitor;

    const FORM: RecordForm = RecordForm::Event;

    fn open(&mut self, _: &Budget) -> Result<LccMonitor, Stop> {
        Ok(self.0.open())
    }

    fn observation(&mut self, event: &ObservedEvent) -> Result<Observation, String> {
        if let Some((name, _)) = event.columns.first() {
            return Err(format!(
                "a protocol has no columns such as `{name}`; expected `from`, `to`, `message`, .."
            ));
        }
        Observation::read(event_text(event)).map_err(|unreadable| {
            let text = match unreadable.part {
                "message" => event.message.as_deref(),
                "constraint" => event.constraint.as_deref(),
                _ => None,
            };
            let (part, message) = (unreadable.part, &unreadable.diagnostic.message);
            let help = unreadable.diagnostic.help.map(|help| format!("; {help}")).unwrap_or_default();
            let text = text.unwrap_or_default();
            let shown = &text[..text.floor_char_boundary(MAX_SHOWN_BYTES)];
            let rest = if shown.len() < text.len() { ".." } else { "" };
            format!("`{part}` is `{shown}{rest}`, which is not a term: {message}{help}")
        })
    }
}

/// An observed event as the texts of its parts. Ids are constants, whatever characters they have.
pub fn event_text(event: &ObservedEvent) -> EventText {
    // Logs do not tell the number 7 from the text `7`, and protocols have numbers as ids, but hardly such texts.
    let is_number = |text: &str| text.parse::<i64>().is_ok_and(|number| number.to_string() == text);
    let constant = |text: &str| if is_number(text) { text.to_string() } else { text_constant(text) };
    let id = |text: &Option<String>| text.as_deref().map(constant);
    let kind = |kind: ObservedKind| match kind {
        ObservedKind::Internal => EventKind::Internal,
        ObservedKind::Sent => EventKind::Sent,
        ObservedKind::Taken => EventKind::Taken,
        ObservedKind::Exchanged => EventKind::Exchanged,
    };
    EventText {
        kind: event.kind.map(kind),
        from: id(&event.from),
        to: id(&event.to),
        by: id(&event.by),
        message: event.message.clone(),
        constraint: event.constraint.clone(),
    }
}

/// An interpreted system.
pub struct WatchedSystem<'s> {
    /// The explored system.
    pub model: IsplModel<'s>,
    /// The names that records may use.
    pub vocabulary: Vocabulary<'s>,
    /// What the viewing agent sees, and a record did not mention.
    gaps: BTreeSet<String>,
}

impl<'s> WatchedSystem<'s> {
    /// A system without records yet.
    pub fn new(model: IsplModel<'s>, vocabulary: Vocabulary<'s>) -> WatchedSystem<'s> {
        WatchedSystem { model, vocabulary, gaps: BTreeSet::new() }
    }
}

impl<'s> Watched for WatchedSystem<'s> {
    type Monitor = IsplMonitor<'s>;

    const FORM: RecordForm = RecordForm::Columns;

    fn open(&mut self, _: &Budget) -> Result<IsplMonitor<'s>, Stop> {
        Ok(self.model.monitor())
    }

    fn observation(&mut self, event: &ObservedEvent) -> Result<IsplObservation, String> {
        let parts = [&event.from, &event.to, &event.by, &event.message, &event.constraint];
        if event.kind.is_some() || parts.into_iter().any(Option::is_some) {
            return Err("an interpreted system has no messages; expected `columns`, such as `Lamp.Action`"
                .to_string());
        }
        let columns = event.columns.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let observation = self.vocabulary.observation(columns).map_err(|bad| {
            let BadEntry { message, help } = bad;
            help.map_or(message.clone(), |help| format!("{message}; {help}"))
        })?;
        self.gaps.extend(self.vocabulary.gaps(&observation));
        Ok(observation)
    }

    fn remark(&self) -> Option<String> {
        if self.gaps.is_empty() {
            return None;
        }
        let gaps = first_names(&self.gaps, MAX_SHOWN_GAPS);
        Some(format!(
            "some records do not mention what the agent sees: {gaps}; it may know more than is certain here"
        ))
    }
}
