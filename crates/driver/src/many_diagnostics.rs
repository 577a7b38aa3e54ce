//! A bound on the diagnostics of one run. A generated file can cause a warning on every line; nobody reads them all,
//! and a report with all of them takes longer to write than the check.

use std::collections::BTreeMap;

use masque_text::{Diagnostic, Severity, counted};

/// Maximum number of errors in a run, and of other diagnostics.
const MAX_DIAGNOSTICS: usize = 1000;

/// Keeps the first errors and the first other diagnostics. If there are more, a note counts them by code.
pub(crate) fn shorten(diagnostics: &mut Vec<Diagnostic>) {
    if diagnostics.len() <= MAX_DIAGNOSTICS {
        return;
    }
    let mut n_errors = 0;
    let mut n_others = 0;
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    diagnostics.retain(|diagnostic| {
        let n_kept = if diagnostic.is_error() { &mut n_errors } else { &mut n_others };
        *n_kept += 1;
        let is_kept = *n_kept <= MAX_DIAGNOSTICS;
        if !is_kept {
            *left_out.entry(diagnostic.code).or_default() += 1;
        }
        is_kept
    });
    let n_left_out = left_out.values().sum::<usize>();
    if n_left_out == 0 {
        return;
    }
    let by_code: Vec<String> = left_out.iter().map(|(code, count)| format!("{count} of `{code}`")).collect();
    let n_left_out = counted(n_left_out, "more diagnostic", "more diagnostics");
    let message = format!("{n_left_out} left out: {}", by_code.join(", "));
    let note = Diagnostic::nowhere(Severity::Note, "load/more-diagnostics", message);
    diagnostics.push(note.hint("fix the first ones and check again"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(severity: Severity, code: &'static str, n: usize) -> Vec<Diagnostic> {
        (0..n).map(|index| Diagnostic::nowhere(severity, code, index.to_string())).collect()
    }

    #[test]
    fn no_error_is_lost_among_warnings() {
        let warnings = many(Severity::Warning, "lcc/no-receiver", 2500);
        let mut diagnostics = [warnings, many(Severity::Error, "lcc/atom", 3)].concat();
        shorten(&mut diagnostics);
        assert_eq!(diagnostics.len(), MAX_DIAGNOSTICS + 4);
        assert_eq!(diagnostics[MAX_DIAGNOSTICS - 1].message, "999");
        let note = diagnostics.pop().unwrap();
        assert_eq!(note.message, "1500 more diagnostics left out: 1500 of `lcc/no-receiver`");
        assert!(diagnostics[MAX_DIAGNOSTICS..].iter().all(Diagnostic::is_error));
    }

    #[test]
    fn as_many_as_allowed_stay() {
        let warnings = many(Severity::Warning, "lcc/no-receiver", MAX_DIAGNOSTICS);
        let mut diagnostics = [warnings, many(Severity::Error, "lcc/atom", MAX_DIAGNOSTICS)].concat();
        shorten(&mut diagnostics);
        assert_eq!(diagnostics.len(), 2 * MAX_DIAGNOSTICS);
    }
}
