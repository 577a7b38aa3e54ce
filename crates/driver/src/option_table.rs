//! The languages of each option, in one table for all front ends.

use masque_text::{Diagnostic, Severity};

use crate::engines::{EngineChoice, Reorder, SYMBOLIC};
use crate::order::OrderChoice;
use crate::{Language, Request};

/// An option, the languages that have it, and whether a request gives it. An option with its default value does
/// not count as given.
struct Row {
    name: &'static str,
    languages: &'static [Language],
    is_given: fn(&Request) -> bool,
}

const ISPL: &[Language] = &[Language::Ispl];
const WITH_OPTIONS: &[Language] = &[Language::Bdi, Language::Lcc];
const LOCALLY_CHECKED: &[Language] = &[Language::Lcc, Language::Aut];
const SYMBOLIC_ONLY: &[Language] = &[Language::Ispl, Language::Bdi];

#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { name: "-D",            languages: ISPL,                is_given: |r| !r.defines.is_empty() },
    Row { name: "--at",          languages: ISPL,                is_given: |r| r.at.is_some() },
    Row { name: "--deadlock",    languages: ISPL,                is_given: |r| r.deadlock.is_some() },
    Row { name: "--overflow",    languages: ISPL,                is_given: |r| r.overflow.is_some() },
    Row { name: "--strategies",  languages: ISPL,                is_given: |r| r.strategies.is_some() },
    Row { name: "--cross-check", languages: ISPL,                is_given: |r| r.work.cross_check },
    Row { name: "--quick",       languages: ISPL,                is_given: |r| r.work.quick },
    Row { name: "--processes",   languages: ISPL,                is_given: |r| r.work.cluster.is_some() },
    Row { name: "--option",      languages: WITH_OPTIONS,        is_given: |r| !r.options.is_empty() },
    Row { name: "--explore",     languages: LOCALLY_CHECKED,     is_given: |r| r.work.explore },
    Row { name: "--engine",      languages: SYMBOLIC_ONLY,       is_given: |r| r.work.engine == EngineChoice::Named(SYMBOLIC) },
    Row { name: "--engine",      languages: ISPL,                is_given: |r| !matches!(r.work.engine, EngineChoice::Auto | EngineChoice::Named(SYMBOLIC)) },
    Row { name: "--order",       languages: ISPL,                is_given: |r| r.work.order != OrderChoice::Auto },
    Row { name: "--reorder",     languages: ISPL,                is_given: |r| r.work.reorder != Reorder::Auto },
    Row { name: "--jobs",        languages: ISPL,                is_given: |r| r.work.jobs.is_some() },
    Row { name: "--parallel",    languages: ISPL,                is_given: |r| r.work.parallel.is_some() },
];

/// The error about the first option of a request that a language does not have.
pub(crate) fn misplaced(request: &Request, language: Language) -> Option<Diagnostic> {
    let is_misplaced = |row: &&Row| !row.languages.contains(&language) && (row.is_given)(request);
    let row = TABLE.iter().find(is_misplaced)?;
    Some(wrong_language(row.name, row.languages, help(row.name, language)))
}

/// The error about an option or a command that only other languages have.
pub fn wrong_language(option: &str, languages: &[Language], help: &str) -> Diagnostic {
    let titles: Vec<&str> = languages.iter().map(|language| language.title()).collect();
    let kind = if option.starts_with('-') { "an option" } else { "a command" };
    let titles = match titles.as_slice() {
        [others @ .., last] if others.len() > 1 => format!("{} and {last}", others.join(", ")),
        titles => titles.join(" and "),
    };
    let message = format!("`{option}` is {kind} for {titles} files");
    Diagnostic::nowhere(Severity::Error, "cli/wrong-language", message).hint(help)
}

/// The hint for an option that a language does not have.
fn help(option: &str, language: Language) -> &'static str {
    let is_work = matches!(option, "--engine" | "--order" | "--reorder" | "--jobs" | "--parallel");
    match language {
        Language::Bdi if is_work => {
            "BDI files have one engine, which orders its variables itself; `--timeout` and `--memory` limit it"
        }
        Language::Bdi => "options of BDI files are set with `--option NAME=VALUE`",
        Language::Lcc => "options of LCC files are set with `--option NAME=VALUE`",
        Language::Ispl => "check files of different languages one by one",
        Language::Aut => "AUT files have no options; `--properties FILE` adds properties",
    }
}
