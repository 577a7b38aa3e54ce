//! Tests of the fixes of diagnostics: each suggestion is a fix, and a text with the fix is better.

use masque_text::{Diagnostic, Sources};

/// A help line that suggests a text to write.
fn suggests(help: &str) -> bool {
    let begins =
        ["did you mean `", "insert `", "close it with `"].iter().any(|start| help.starts_with(start));
    begins || [" written `", "write `"].iter().any(|word| help.contains(word))
}

/// Applies each fix of the diagnostics of a text, and checks that the diagnostic disappears and that the number of
/// errors does not grow. Returns the suggestions without a fix, one per line: the code and the help line.
pub fn suggestions_without_fix(
    text: &str,
    diagnose: impl Fn(&str) -> (Sources, Vec<Diagnostic>),
) -> Vec<String> {
    let (sources, found) = diagnose(text);
    let mut without_fix = Vec::new();
    for diagnostic in &found {
        let help = diagnostic.help.as_deref().unwrap_or_default();
        match fixed(text, &sources, diagnostic) {
            Some(fixed) => check(text, &fixed, diagnostic, &found, &diagnose(&fixed).1),
            None if suggests(help) && diagnostic.fix_in(&sources).is_none() => {
                without_fix.push(format!("{}: {help}", diagnostic.code))
            }
            None => {}
        }
    }
    without_fix
}

/// The text with the fix of a diagnostic.
fn fixed(text: &str, sources: &Sources, diagnostic: &Diagnostic) -> Option<String> {
    let fix = diagnostic.fix_in(sources)?;
    let file = sources.file_of(fix.edits.first()?.0);
    let (old, base) = (sources.text(file), sources.span(file).start);
    let mut new = old.to_string();
    for (span, replacement) in fix.edits.iter().rev() {
        new.replace_range((span.start - base) as usize..(span.end - base) as usize, replacement);
    }
    // The text may consist of several files.
    text.contains(old).then(|| text.replacen(old, &new, 1))
}

fn check(text: &str, fixed: &str, diagnostic: &Diagnostic, before: &[Diagnostic], after: &[Diagnostic]) {
    let n_same = |all: &[Diagnostic]| {
        all.iter().filter(|one| (one.code, &one.message) == (diagnostic.code, &diagnostic.message)).count()
    };
    let n_errors = |all: &[Diagnostic]| all.iter().filter(|one| one.is_error()).count();
    let is_better = n_same(after) < n_same(before) && n_errors(after) <= n_errors(before);
    let code = diagnostic.code;
    assert!(
        is_better,
        "the fix of {code} makes nothing better\n{text}\n-->\n{fixed}\n{before:#?}\n-->\n{after:#?}"
    );
}
