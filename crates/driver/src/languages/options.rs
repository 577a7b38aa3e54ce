//! `--option NAME=VALUE`, for BDI and LCC files.

use masque_text::{Diagnostic, OptionOverride, TooLarge};

use crate::load::Loaded;

/// Reads the options of a request. A text of another form becomes a diagnostic with an example.
pub(crate) fn read_options(loaded: &mut Loaded, example: &str) -> Result<Vec<OptionOverride>, TooLarge> {
    let mut options = Vec::new();
    for text in loaded.request.options.clone() {
        let file = loaded.sources.add("<--option>", text.as_str())?;
        let span = loaded.sources.span(file);
        match text.split_once('=') {
            Some((name, value)) => {
                let (name, value) = (name.trim().to_string(), value.trim().to_string());
                options.push(OptionOverride { name, value, span });
            }
            None => {
                let message = format!("`{text}` is not of the form `NAME=VALUE`");
                let diagnostic = Diagnostic::error("cli/bad-option", span, message);
                loaded.diagnostics.push(diagnostic.hint(format!("for example `--option {example}`")));
            }
        }
    }
    Ok(options)
}
