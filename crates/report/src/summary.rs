//! The summary of a report in one line: how many properties hold, which fail, and which are unknown.

use std::io::{self, Write};

use masque_driver::{At, Loaded, Model};

use crate::lines::columns;
use crate::text::{Detail, Text};
use crate::wording::{nonzero, plural, shortened};
use crate::{Counts, ModelSize, PropertyReport, ProtocolReport, RunReport};

/// Maximum number of properties or files named for each verdict.
const MAX_NAMES: usize = 8;
/// Maximum number of characters of all names of a verdict together.
const MAX_NAMES_CHARS: usize = 100;
/// Maximum number of characters of one name.
const MAX_NAME_CHARS: usize = 60;

impl Text {
    /// Writes the last line of a report on several files.
    pub fn total(self, out: &mut dyn Write, reports: &[RunReport]) -> io::Result<()> {
        if self.detail == Detail::Quiet {
            return Ok(());
        }
        let mut all = Counts::default();
        for counts in reports.iter().map(RunReport::counts) {
            all.hold += counts.hold;
            all.fail += counts.fail;
            all.unknown += counts.unknown;
            all.errors += counts.errors;
            all.warnings += counts.warnings;
            all.bugs += counts.bugs;
        }
        let files = |verdict: &str| {
            let has = |report: &&RunReport| report.properties.iter().any(|p| p.verdict.word() == verdict);
            let name = |report: &RunReport| masque_text::first_and_others(&report.files);
            reports.iter().filter(has).map(name).collect()
        };
        let parts: Vec<String> = [verdicts(all, files), problems(all)].into_iter().flatten().collect();
        let what = if parts.is_empty() { "nothing wrong".to_string() } else { parts.join("; ") };
        writeln!(out, "\n{} files: {what}", reports.len())
    }
}

/// The summary of a file, in one line.
pub(crate) fn summary(report: &RunReport, loaded: &Loaded) -> String {
    let counts = report.counts();
    let mut parts = Vec::new();
    if let (true, Some(model)) = (report.is_unchecked, &loaded.model) {
        parts.push(size(model));
    } else if let Some(verdicts) = verdicts(counts, |verdict| names(report, verdict)) {
        // A BDI property names the states itself.
        let is_everywhere = report.properties.iter().any(|p| p.at == At::Reachable && p.world.is_none());
        parts.push(if is_everywhere { format!("{verdicts} (at all reachable states)") } else { verdicts });
    } else if loaded.stopped.is_some() {
        parts.push("not loaded".to_string());
    } else if counts.errors == 0 {
        parts.push("no formulas".to_string());
    }
    parts.extend(space(report));
    parts.extend(certificates(report));
    parts.extend(problems(counts));
    parts.join("; ")
}

/// `3 certified, 1 not certified` or `3 certificates written`, if certificates were requested.
fn certificates(report: &RunReport) -> Option<String> {
    let count = |is_it: fn(&PropertyReport) -> bool| report.properties.iter().filter(|p| is_it(p)).count();
    let confirmed = count(|property| property.certified == Some(true));
    let written = count(|property| property.certificate.is_some());
    let missing = count(|property| property.not_certified.is_some());
    let mut parts = Vec::new();
    parts.extend((written > 0).then(|| plural(written, "certificate written", "certificates written")));
    parts.extend((confirmed > 0).then(|| format!("{confirmed} certified")));
    parts.extend((missing > 0).then(|| format!("{missing} not certified")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// `2 states`, or `2 states, 1 transition, 0 deadlocks, 1 final state`: the numbers that are known.
fn space(report: &RunReport) -> Option<String> {
    let mut parts: Vec<String> = report.states.iter().map(|n| plural(n, "state", "states")).collect();
    parts.extend(report.transitions.iter().map(|n| plural(n, "transition", "transitions")));
    if let Some(ProtocolReport { deadlocks: Some(deadlocks), finals: Some(finals), .. }) = &report.protocol {
        parts.push(plural(deadlocks, "deadlock", "deadlocks"));
        parts.push(plural(finals, "final state", "final states"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The size of a model, in the units of its language.
pub(crate) fn size(model: &Model) -> String {
    let n_properties = model.n_properties();
    let parts = match model {
        Model::Ispl(system) => {
            let ModelSize { agents, variables, bits, formulas } = ModelSize::new(system);
            vec![
                plural(agents, "agent", "agents"),
                plural(variables, "variable", "variables"),
                plural(bits, "bit", "bits"),
                plural(formulas, "formula", "formulas"),
            ]
        }
        Model::Bdi(worlds) => vec![
            plural(worlds.plan.worlds.len(), "world", "worlds"),
            plural(n_properties, "property", "properties"),
        ],
        Model::Lcc(protocol) => vec![
            plural(protocol.system.team().len(), "agent", "agents"),
            plural(n_properties, "property", "properties"),
        ],
        Model::Aut(transitions) => vec![
            plural(transitions.graph.n_states(), "state", "states"),
            plural(transitions.graph.n_transitions(), "transition", "transitions"),
            plural(n_properties, "property", "properties"),
        ],
    };
    parts.join(", ")
}

/// `2 hold; 1 fails: live; 1 unknown: safe`. `names` lists what has a verdict.
fn verdicts(counts: Counts, names: impl Fn(&str) -> Vec<String>) -> Option<String> {
    let all = [
        (counts.hold, "holds", "hold", Vec::new()),
        (counts.fail, "fails", "fail", names("fails")),
        (counts.unknown, "unknown", "unknown", names("unknown")),
    ];
    let mut parts = Vec::new();
    for (n, one, many, names) in all.iter().filter(|(n, ..)| *n > 0) {
        let names = listed(names);
        let colon = if names.is_empty() { "" } else { ": " };
        parts.push(format!("{}{colon}{names}", plural(n, one, many)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The properties of a report with this verdict.
fn names(report: &RunReport, verdict: &str) -> Vec<String> {
    let found = report.properties.iter().filter(|property| property.verdict.word() == verdict);
    found.map(|property| property.title.clone()).collect()
}

/// `a, b and 3 more`: as many names as fit into a line, at least one.
fn listed(names: &[String]) -> String {
    let mut text = String::new();
    for (position, name) in names.iter().enumerate() {
        let name = shortened(name.clone(), MAX_NAME_CHARS);
        if position > 0 && (position >= MAX_NAMES || columns(&text) + columns(&name) > MAX_NAMES_CHARS) {
            return format!("{text} and {} more", names.len() - position);
        }
        text += if position > 0 { ", " } else { "" };
        text += &name;
    }
    text
}

/// `1 error, 2 warnings`
fn problems(counts: Counts) -> Option<String> {
    list(&[(counts.errors as u64, "error", "errors"), (counts.warnings as u64, "warning", "warnings")])
}

fn list(counts: &[(u64, &str, &str)]) -> Option<String> {
    let parts = nonzero(counts);
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shortened() {
        let check = |names: &[&str], expected: &str| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            assert_eq!(listed(&names), expected);
        };
        check(&[], "");
        check(&["a", "b", "4"], "a, b, 4");
        check(&["1", "2", "3", "4", "5", "6", "7", "8"], "1, 2, 3, 4, 5, 6, 7, 8");
        check(&["1", "2", "3", "4", "5", "6", "7", "8", "9"], "1, 2, 3, 4, 5, 6, 7, 8 and 1 more");
        let long = "x".repeat(80);
        check(&[&long, &long, &long], &format!("{0}.. and 2 more", "x".repeat(60)));
    }

    #[test]
    fn verdicts_name_what_fails_and_what_is_unknown() {
        let counts = Counts { hold: 2, fail: 1, unknown: 1, ..Counts::default() };
        let names = |verdict: &str| vec![format!("the-one-that-{verdict}")];
        let expected = "2 hold; 1 fails: the-one-that-fails; 1 unknown: the-one-that-unknown";
        assert_eq!(verdicts(counts, names).as_deref(), Some(expected));
        assert_eq!(verdicts(Counts::default(), names), None);
    }
}
