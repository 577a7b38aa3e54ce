//! Suggestions for a command that does not exist: `masque model.ispl`, `masque verify model.ispl`.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use masque_driver::Language;

/// Words that users of other programs try, and the command that does what they mean.
const SYNONYMS: [(&str, &str); 17] = [
    ("verify", "check"),
    ("run", "check"),
    ("analyze", "check"),
    ("analyse", "check"),
    ("solve", "check"),
    ("mc", "check"),
    ("model-check", "check"),
    ("lint", "check --parse-only"),
    ("parse", "check --parse-only"),
    ("validate", "check --parse-only"),
    ("format", "fmt"),
    ("sim", "simulate"),
    ("walk", "simulate"),
    ("explore", "simulate"),
    ("graph", "export"),
    ("serve", "broker"),
    ("benchmark", "bench"),
];

/// Adds to the error about an unknown command what was probably meant.
pub(crate) fn add_suggestion(error: &mut clap::Error, args: &[String]) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return };
    let command = if is_file(word) {
        Some(format!("masque check {}", quoted(word)))
    } else {
        let meant = SYNONYMS.iter().find(|(synonym, _)| synonym.eq_ignore_ascii_case(word));
        let behind =
            args.iter().skip_while(|arg| *arg != word).skip(1).map(|arg| format!(" {}", quoted(arg)));
        meant.map(|(_, command)| format!("masque {command}{}", behind.collect::<String>()))
    };
    if let Some(command) = command {
        let tip = StyledStr::from(format!("did you mean `{command}`?"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
        error.remove(ContextKind::SuggestedSubcommand);
    }
}

/// Whether a word is a file, or looks like the name of a model.
fn is_file(word: &str) -> bool {
    let path = Path::new(word);
    path.is_file() || (Language::of_path(path).is_some() && path.extension().is_some())
}

/// An argument as a shell reads it.
fn quoted(arg: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    if !arg.is_empty() && arg.chars().all(is_plain) {
        arg.to_string()
    } else {
        format!("'{}'", arg.replace('\'', r"'\''"))
    }
}
