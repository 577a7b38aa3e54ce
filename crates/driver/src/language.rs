//! The languages of models, and how a file's language is recognised.

use std::path::Path;

use masque_text::{Diagnostic, Sources};

use crate::file;

/// The language of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Interpreted systems, in either dialect of ISPL.
    Ispl,
    /// Programs of agents with beliefs, desires and intentions.
    Bdi,
    /// Protocols of interacting agents under deontic policies.
    Lcc,
    /// A labelled transition system, state by state, in the Aldebaran format.
    Aut,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 4] = [Language::Ispl, Language::Bdi, Language::Lcc, Language::Aut];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Language::Ispl => "ispl",
            Language::Bdi => "bdi",
            Language::Lcc => "lcc",
            Language::Aut => "aut",
        }
    }

    /// The name used in sentences.
    pub fn title(self) -> &'static str {
        match self {
            Language::Ispl => "ISPL",
            Language::Bdi => "BDI",
            Language::Lcc => "LCC",
            Language::Aut => "AUT",
        }
    }

    /// The language of a file, by the extension of its name.
    ///
    /// ```
    /// use std::path::Path;
    /// use masque_driver::Language;
    /// assert_eq!(Language::of_path(Path::new("rules.pol")), Some(Language::Lcc));
    /// assert_eq!(Language::of_path(Path::new("notes.txt")), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<Language> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "ispl" => Some(Language::Ispl),
            "bdi" => Some(Language::Bdi),
            "lcc" | "pol" | "mu" => Some(Language::Lcc),
            "aut" => Some(Language::Aut),
            _ => None,
        }
    }

    /// The language of a text, if it contains words that only one language has, or imports a file whose name shows
    /// the language.
    pub fn of_text(text: &str) -> Option<Language> {
        match recognise(text) {
            Some(Known::Ours(language)) => Some(language),
            Some(Known::Foreign(_)) => None,
            None => text.lines().find_map(of_import),
        }
    }
}

/// Whether a file holds mu-calculus properties, by its name.
pub fn is_properties(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("mu"))
}

/// A language that is recognised by its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// A language that Masque reads.
    Ours(Language),
    /// The name of a language of another tool.
    Foreign(&'static str),
}

impl Known {
    /// The name used in sentences.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Known::Ours(language) => language.title(),
            Known::Foreign(name) => name,
        }
    }
}

/// Number of bytes at the beginning of a text that are examined.
const EXAMINED_BYTES: usize = 64 << 10;

/// The error that a text with errors is in another language than `expected`, if its words show that.
pub(crate) fn other_language(name: &str, text: &str, expected: Language) -> Option<Diagnostic> {
    let known = recognise(text).filter(|known| *known != Known::Ours(expected))?;
    let message = format!("`{name}` is not {} but looks like {}", expected.title(), known.title());
    let help = match known {
        Known::Ours(other) => {
            format!("a file whose name ends in `.{}` is read as {}", other.name(), other.title())
        }
        Known::Foreign(_) => {
            "masque reads ISPL (.ispl), BDI programs (.bdi), LCC protocols (.lcc, .pol, .mu) \
                              and transition systems (.aut)"
                .to_string()
        }
    };
    Some(file::error("file/wrong-language", message).hint(help))
}

/// Returns the errors in texts of one language, or one error that names the language of the first text with errors
/// if its words show another language.
pub(crate) fn name_language(
    sources: &Sources,
    errors: Vec<Diagnostic>,
    expected: Language,
) -> Vec<Diagnostic> {
    let first = errors
        .iter()
        .filter(|diagnostic| diagnostic.is_error())
        .find_map(|error| Some(error.primary.as_ref()?.span));
    let other = first.and_then(|span| {
        let file = sources.file_of(span);
        other_language(sources.name(file), sources.text(file), expected)
    });
    other.map_or(errors, |error| vec![error])
}

/// Recognises the language of a text by words that only one language has, outside of comments.
///
/// It is used for texts whose name does not show the language, and for texts with errors. The language of a
/// text without errors is never changed.
pub(crate) fn recognise(text: &str) -> Option<Known> {
    let end = (0..=EXAMINED_BYTES.min(text.len())).rev().find(|&end| text.is_char_boundary(end))?;
    let mut lines = text[..end].lines().map(str::trim).filter(|line| !is_comment(line) && !line.is_empty());
    let first = lines.clone().next()?;
    if first.strip_prefix("des").is_some_and(|rest| rest.trim_start().starts_with('(')) {
        return Some(Known::Ours(Language::Aut));
    }
    lines.find_map(of_line)
}

fn is_comment(line: &str) -> bool {
    ["--", "//", "%", "#", "\\*", "(*"].iter().any(|sign| line.starts_with(sign))
        && !line.contains(" MODULE ")
}

fn of_line(line: &str) -> Option<Known> {
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let has = |word: &str| words.contains(&word);
    match words.as_slice() {
        _ if line.starts_with("----") && has("MODULE") => Some(Known::Foreign("TLA+")),
        ["EXTENDS", ..] | ["VARIABLES", ..] | ["CONSTANTS", ..] => Some(Known::Foreign("TLA+")),
        ["MODULE", ..] | ["LTLSPEC", ..] | ["CTLSPEC", ..] | ["INVARSPEC", ..] => Some(Known::Foreign("SMV")),
        ["dtmc" | "mdp" | "ctmc" | "pta" | "smg" | "nondeterministic" | "probabilistic"] => {
            Some(Known::Foreign("PRISM"))
        }
        ["endmodule"] => Some(Known::Foreign("PRISM")),
        ["proctype" | "active" | "mtype", ..] => Some(Known::Foreign("Promela")),
        ["act" | "proc", ..] if line.ends_with(';') => Some(Known::Foreign("mCRL2")),
        ["Agent", ..] | ["Semantics", ..] | ["Evaluation"] | ["InitStates"] | ["Formulae"] => {
            Some(Known::Ours(Language::Ispl))
        }
        ["agent" | "view", _, "is", ..] => Some(Known::Ours(Language::Bdi)),
        ["a", ..] if line.starts_with("a(") && line.contains("::") => Some(Known::Ours(Language::Lcc)),
        ["agent", "a", ..] if line.contains("a(") => Some(Known::Ours(Language::Lcc)),
        _ => None,
    }
}

/// The language of a line `import "FILE"`, by the name of the file.
fn of_import(line: &str) -> Option<Language> {
    let path = line.trim().strip_prefix("import")?.trim_start().strip_prefix('"')?.split('"').next()?;
    Language::of_path(Path::new(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn languages_by_their_words() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(recognise(text).map(Known::title), expected, "{text}");
        };
        check("",                                                     None);
        check("-- no model",                                          None);
        check("-- a comment\nAgent Environment\n  Obsvars:",          Some("ISPL"));
        check("Semantics = SingleAssignment;",                        Some("ISPL"));
        check("% farm\na(hen, H) :: null.",                           Some("LCC"));
        check("agent a(hen, h).",                                     Some("LCC"));
        check("agent rcv is\n loop",                                  Some("BDI"));
        check("view robot is loop skip endloop",                      Some("BDI"));
        check("des (0, 3, 2)\n(0, a, 1)",                             Some("AUT"));
        check("MODULE main\nVAR x : boolean;",                        Some("SMV"));
        check("-- SMV\nMODULE main",                                  Some("SMV"));
        check("// die\ndtmc\nmodule die",                             Some("PRISM"));
        check("---- MODULE Clock ----\nEXTENDS Naturals",             Some("TLA+"));
        check("byte n;\nproctype P() { skip }",                       Some("Promela"));
        check("act a, b;\nproc P = a . P;",                           Some("mCRL2"));
        check("hello world",                                          None);
    }
    #[rustfmt::skip]
    #[test]
    fn languages_by_their_imports() {
        let check = |text: &str, expected: Option<Language>| assert_eq!(Language::of_text(text), expected, "{text}");
        check("import \"agents.bdi\";\nproperty p : AG q;",            Some(Language::Bdi));
        check("-- all\n  import \"a/defs.ispl\"; import \"x.bdi\";",   Some(Language::Ispl));
        check("import \"x.bdi\";\nAgent A",                           Some(Language::Ispl));
        check("import os",                                            None);
        check("import \"notes\";",                                    None);
    }
}
