//! The secret token of a distributed check or of the broker.

use std::env::VarError;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context as _, bail};

/// The environment variable with the token.
pub(super) const TOKEN_VARIABLE: &str = "MASQUE_TOKEN";
/// Maximum number of bytes that are read from a file with a token.
const MAX_TOKEN_FILE: u64 = 4096;

/// The token from a file, or else from the environment; none if neither is given. `parse` accepts a text of
/// `min` or more characters.
pub(super) fn read_token<T>(
    path: Option<&Path>,
    min: usize,
    parse: impl FnOnce(&str) -> Option<T>,
) -> anyhow::Result<Option<T>> {
    let (text, from) = match path {
        Some(path) => {
            let mut text = String::new();
            let file = File::open(path).and_then(|file| file.take(MAX_TOKEN_FILE).read_to_string(&mut text));
            file.with_context(|| format!("cannot read the token in {}", path.display()))?;
            (text, path.display().to_string())
        }
        None => match std::env::var(TOKEN_VARIABLE) {
            Ok(text) => (text, TOKEN_VARIABLE.to_string()),
            Err(VarError::NotPresent) => return Ok(None),
            Err(VarError::NotUnicode(_)) => bail!("the token in {TOKEN_VARIABLE} is not UTF-8 text"),
        },
    };
    parse(&text).map(Some).with_context(|| {
        format!("the token in {from} must have {min} or more printable ASCII characters, without blanks")
    })
}
