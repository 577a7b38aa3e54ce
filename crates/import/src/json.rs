//! Reading JSON, with messages that name the file and the line.

use serde::de::DeserializeOwned;

use crate::Refused;

/// Reads a value of a type. `expected` says what the file should be.
pub(crate) fn read<T: DeserializeOwned>(name: &str, text: &str, expected: &str) -> Result<T, Refused> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        let message = masque_text::printable(message);
        Refused(format!("{name}:{line}:{column}: {message}; expected {expected}"))
    })
}

/// A name of another program in a message: in one line, and not too long.
pub(crate) fn shown(name: &str) -> String {
    const MAX_CHARS: usize = 60;
    let short: String = name.chars().take(MAX_CHARS).collect();
    let rest = if short.len() < name.len() { ".." } else { "" };
    format!("`{}{rest}`", masque_text::printable(&short))
}
