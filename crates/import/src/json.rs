//! Reading JSON, with messages that name the file and the line.

use masque_text::without_place;
use serde::de::DeserializeOwned;

use crate::Refused;

/// Reads a value of a type. `expected` says what the file should be.
pub(crate) fn read<T: DeserializeOwned>(name: &str, text: &str, expected: &str) -> Result<T, Refused> {
    let text = text.trim_start_matches('\u{feff}');
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = masque_text::printable(without_place(&message, line, column));
        Refused(format!("{name}:{line}:{column}: {message}; expected {expected}"))
    })
}
