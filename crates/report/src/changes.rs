//! Differences between two checks of the same files: verdicts that changed, and diagnostics that came or went.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use masque_driver::Verdict;

use crate::{RunReport, Text};

/// A difference between two checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Name of the file, or of the first file of a model.
    pub file: String,
    /// Property or diagnostic that changed.
    pub subject: String,
    /// Verdict or message before; none if it is new.
    pub before: Option<String>,
    /// Verdict or message now; none if it is gone.
    pub now: Option<String>,
    /// Whether the change is for the better; none if neither.
    is_better: Option<bool>,
}

/// The differences, file by file: properties in the order of the reports, then diagnostics. Diagnostics are
/// compared without their places, because an edit moves lines.
pub fn changes(before: &[RunReport], now: &[RunReport]) -> Vec<Change> {
    let key = |run: &RunReport| run.files.first().cloned().unwrap_or_default();
    let mut changes = Vec::new();
    for run in now {
        let old = before.iter().find(|old| key(old) == key(run));
        of_run(&key(run), old, Some(run), &mut changes);
    }
    for old in before.iter().filter(|old| now.iter().all(|run| key(run) != key(old))) {
        of_run(&key(old), Some(old), None, &mut changes);
    }
    changes
}

fn of_run(file: &str, before: Option<&RunReport>, now: Option<&RunReport>, changes: &mut Vec<Change>) {
    let [before_verdicts, now_verdicts] = [before, now].map(verdicts);
    for (title, verdict) in &now_verdicts {
        let old = before_verdicts.iter().find(|(old, _)| old == title).map(|(_, verdict)| *verdict);
        if old != Some(*verdict) {
            changes.push(Change {
                file: file.to_string(),
                subject: title.clone(),
                before: old.map(|verdict| verdict.to_string()),
                now: Some(verdict.to_string()),
                is_better: is_better(old, *verdict),
            });
        }
    }
    for (title, verdict) in &before_verdicts {
        if now_verdicts.iter().all(|(now, _)| now != title) {
            let (file, subject) = (file.to_string(), title.clone());
            changes.push(Change {
                file,
                subject,
                before: Some(verdict.to_string()),
                now: None,
                is_better: None,
            });
        }
    }
    let [before_messages, now_messages] = [before, now].map(messages);
    let count = |messages: &BTreeMap<_, usize>, message: &(String, String)| messages.get(message).copied();
    for (message @ (subject, text), n) in &now_messages {
        for _ in count(&before_messages, message).unwrap_or_default()..*n {
            let (file, subject) = (file.to_string(), subject.clone());
            let now = Some(text.clone());
            changes.push(Change { file, subject, before: None, now, is_better: Some(false) });
        }
    }
    for (message @ (subject, text), n) in &before_messages {
        for _ in count(&now_messages, message).unwrap_or_default()..*n {
            let (file, subject) = (file.to_string(), subject.clone());
            let before = Some(text.clone());
            changes.push(Change { file, subject, before, now: None, is_better: Some(true) });
        }
    }
}

fn verdicts(run: Option<&RunReport>) -> Vec<(String, Verdict)> {
    let properties = run.map_or(&[][..], |run| &run.properties);
    properties.iter().map(|property| (property.title.clone(), property.verdict)).collect()
}

/// The diagnostics, as `error[ispl/unknown-action]` and the message, and how often each occurs.
fn messages(run: Option<&RunReport>) -> BTreeMap<(String, String), usize> {
    let mut messages = BTreeMap::new();
    for diagnostic in run.map_or(&[][..], |run| &run.diagnostics) {
        let subject = format!("{}[{}]", diagnostic.severity, diagnostic.code);
        *messages.entry((subject, diagnostic.message.clone())).or_insert(0) += 1;
    }
    messages
}

/// Whether a verdict is better than another: what holds is better than what is unknown, and that than what fails.
fn is_better(before: Option<Verdict>, now: Verdict) -> Option<bool> {
    let rank = |verdict| match verdict {
        Verdict::Fails => 0,
        Verdict::Unknown(_) => 1,
        Verdict::Holds => 2,
    };
    let before = before?;
    (rank(before) != rank(now)).then(|| rank(now) > rank(before))
}

impl Text {
    /// Writes the differences since the last check, one per line. Files are named if there are `several`.
    pub fn changes(self, out: &mut dyn Write, changes: &[Change], several: bool) -> io::Result<()> {
        if changes.is_empty() {
            return writeln!(out, "no change since the last check");
        }
        writeln!(out, "changes since the last check:")?;
        for change in changes {
            let file = if several { format!("{}: ", change.file) } else { String::new() };
            let what = match (&change.before, &change.now) {
                (Some(before), Some(now)) => format!("{before} -> {now}"),
                (None, Some(now)) => format!("new: {now}"),
                (Some(before), None) => format!("gone: {before}"),
                (None, None) => continue,
            };
            let style = match change.is_better {
                Some(true) => AnsiColor::Green.on_default(),
                Some(false) => AnsiColor::Red.on_default(),
                None => Style::new(),
            };
            let style = if self.color { style } else { Style::new() };
            writeln!(out, "  {file}{}  {style}{what}{style:#}", change.subject)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use masque_driver::{Limits, Request, check, load_text};

    use super::*;
    use crate::{Subject, run_report};

    fn report(name: &str, text: &str) -> RunReport {
        let loaded = load_text(name, text, &Request::default());
        let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap();
        run_report(Subject { loaded: &loaded, run: run.as_ref() }, false)
    }

    fn text(before: &[RunReport], now: &[RunReport], several: bool) -> String {
        let mut out = Vec::new();
        Text::default().changes(&mut out, &changes(before, now), several).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn verdicts_and_diagnostics_are_compared() {
        let model =
            "agent a is loop p := any endloop property one initially: EF p; property two initially: AG p;";
        let before = report("a.bdi", model);
        assert_eq!(
            text(std::slice::from_ref(&before), std::slice::from_ref(&before), false),
            "no change since the last check\n"
        );
        let other = model
            .replace("two initially: AG", "three initially: EF")
            .replace("EF p; property t", "AG p; property t");
        let now = report("a.bdi", &other);
        let expected =
            "changes since the last check:\n  one  holds -> fails\n  three  new: holds\n  two  gone: fails\n";
        assert_eq!(text(std::slice::from_ref(&before), std::slice::from_ref(&now), false), expected);
        let broken = report("a.bdi", &model.replace("endloop", "endlop"));
        let shown = text(&[now], std::slice::from_ref(&broken), true);
        assert!(
            shown.contains("  a.bdi: one  gone: fails\n") && shown.contains("  a.bdi: error[bdi/"),
            "{shown}"
        );
        // Moving lines is no change.
        let moved = report("a.bdi", &format!("\n\n{}", model.replace("endloop", "endlop")));
        assert_eq!(text(std::slice::from_ref(&broken), &[moved], false), "no change since the last check\n");
        let shown = text(&[broken], &[before], false);
        assert!(shown.contains("  one  new: holds\n") && shown.contains("gone: "), "{shown}");
    }
}
