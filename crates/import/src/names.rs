//! Names of other programs as names of LCC.
//!
//! A name of LCC begins with a lower-case letter of ASCII and continues with letters, digits and `_`. Other characters
//! become `_`. A name that would be a keyword, or that is taken, gets a suffix, so different names stay different.

use std::collections::BTreeSet;

use masque_text::printable;

/// Maximum number of characters of a name, without a suffix.
const MAX_CHARS: usize = 40;
/// Words of formulas, which are no keywords of LCC.
const FORMULA_WORDS: [&str; 24] = [
    "mu", "nu", "inev", "resp", "in", "out", "tau", "done", "idle", "at", "tt", "ff", "true", "false",
    "final", "deadlock", "send", "receive", "due", "clause", "act", "not", "and", "or",
];

/// A name of another program on one line; `..` stands for what exceeds this many characters.
pub(crate) fn brief(foreign: &str, max_chars: usize) -> String {
    let end = foreign.char_indices().nth(max_chars).map(|(end, _)| end);
    let rest = if end.is_some() { ".." } else { "" };
    format!("{}{rest}", printable(&foreign[..end.unwrap_or(foreign.len())]))
}

/// A name of another program in a message.
pub(crate) fn shown(foreign: &str) -> String {
    format!("`{}`", brief(foreign, 60))
}

/// Names that were given.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: BTreeSet<String>,
}

impl Names {
    /// A new name for a name of another program.
    pub(crate) fn give(&mut self, foreign: &str) -> String {
        let base = plain(foreign);
        let mut name = base.clone();
        let mut number = 1;
        while is_reserved(&name) || self.taken.contains(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.taken.insert(name.clone());
        name
    }
}

/// A name without other characters, which may be reserved or taken.
fn plain(foreign: &str) -> String {
    let mut name = String::new();
    for c in foreign.chars() {
        let c = if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
        // A row of other characters becomes one `_`.
        if (c != '_' || !name.ends_with('_')) && name.len() < MAX_CHARS {
            name.push(c);
        }
    }
    let name = name.trim_matches('_');
    match name.chars().next() {
        None => "agent_x".to_string(),
        Some(c) if c.is_ascii_digit() => format!("n{name}"),
        Some(_) => name.to_string(),
    }
}

fn is_reserved(name: &str) -> bool {
    masque_lcc::keywords().any(|word| word == name) || FORMULA_WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn foreign_names() {
        let mut names = Names::default();
        let rows = [
            ("coder",           "coder"),
            ("Coder agent",     "coder_agent"),
            ("coder_agent",     "coder_agent_2"),
            ("coder-agent",     "coder_agent_3"),
            ("coder_agent_2",   "coder_agent_2_2"),
            ("then",            "then_2"),
            ("agent",           "agent_2"),
            ("Agent",           "agent_3"),
            ("in",              "in_2"),
            ("a",               "a_2"),
            ("1st",             "n1st"),
            ("prüfer",          "pr_fer"),
            ("日本",            "agent_x"),
            ("",                "agent_x_2"),
            ("a\nb // c",       "a_b_c"),
            ("_x_",             "x"),
            ("\u{202e}evil",    "evil"),
        ];
        for (foreign, expected) in rows {
            assert_eq!(names.give(foreign), expected, "{foreign:?}");
        }
        assert_eq!(names.give(&"x".repeat(10_000)).len(), MAX_CHARS);
    }
}
