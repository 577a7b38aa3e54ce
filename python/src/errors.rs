//! Errors as exceptions of the package.

use masque::{LoadError, Message};
use pyo3::prelude::*;

/// A message as Python receives it: severity, code, text, help, and the place (file, line, column).
pub(crate) type MessageParts = (String, String, String, Option<String>, Option<(String, u32, u32)>);

pub(crate) fn message_parts(message: &Message) -> MessageParts {
    let Message { severity, code, text, help, place } = message;
    ((*severity).to_string(), (*code).to_string(), text.clone(), help.clone(), place.clone())
}

/// The exception `masque_mc.LoadError` with the messages and the text that shows them.
pub(crate) fn load_error(py: Python<'_>, error: &LoadError) -> PyErr {
    let messages: Vec<MessageParts> = error.messages.iter().map(message_parts).collect();
    exception(py, "LoadError", (error.to_string(), messages))
}

/// The exception `masque_mc.CheckError` with a sentence.
pub(crate) fn check_error(py: Python<'_>, message: String) -> PyErr {
    exception(py, "CheckError", (message,))
}

/// An exception of the module `masque_mc._errors`. If it cannot be made, the error that occurred.
fn exception<'py>(py: Python<'py>, class: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    let made = py
        .import("masque_mc._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1(arguments));
    match made {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}
