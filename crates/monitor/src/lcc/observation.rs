//! Observations: partial descriptions of steps.

use masque_lcc::{EventPattern, EventText, UnreadableEvent};

/// An observation: a pattern on the labels of steps that are observable.
#[derive(Clone, Debug)]
pub struct Observation {
    text: EventText,
    pattern: EventPattern,
    /// The texts of all parts, for looking up what the observation leads to.
    key: Box<str>,
}

impl Observation {
    /// Reads the parts of an observation, which are terms in the syntax of the language. A name from elsewhere becomes
    /// a term by [`masque_lcc::constant`].
    ///
    /// ```
    /// use masque_lcc::EventText;
    /// use masque_monitor::lcc::Observation;
    ///
    /// let text = EventText { from: Some("ann".into()), message: Some("order(_)".into()), ..EventText::default() };
    /// assert!(Observation::read(text).is_ok());
    /// ```
    pub fn read(text: EventText) -> Result<Observation, UnreadableEvent> {
        let EventText { kind, from, to, by, message, constraint } = &text;
        // The length of each part separates it from the next.
        let part = |text: &Option<String>| match text {
            Some(text) => format!("{}:{text}", text.len()),
            None => "-".to_string(),
        };
        let [from, to, by, message, constraint] = [from, to, by, message, constraint].map(part);
        let kind = kind.map_or(9, |kind| kind as u8);
        let key = format!("{kind}{from}{to}{by}{message}{constraint}").into();
        Ok(Observation { pattern: EventPattern::read(&text)?, text, key })
    }

    /// Returns the texts of the parts.
    pub fn text(&self) -> &EventText {
        &self.text
    }

    pub(super) fn key(&self) -> &str {
        &self.key
    }

    pub(super) fn pattern(&self) -> &EventPattern {
        &self.pattern
    }
}
