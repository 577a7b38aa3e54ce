//! `check` and `why`: verdicts with evidence, and subformulas with the number of states in which they are true.

use std::collections::BTreeSet;
use std::io;

use masque_driver::{self as driver, Show, Work};
use masque_report::{self as report, RunReport, Subject, Text};
use serde_json::Value;

use super::super::answers::{Checked, Marked, WhyAnswer};
use super::super::parameters::{Check, Why};
use super::{Answer, Job, answer, refused};

/// Maximum number of bytes of a report; a longer one gets no evidence.
const MAX_REPORT_BYTES: usize = 1 << 20;

/// Decides the properties of a model.
pub(super) fn check(job: &Job, asked: Check) -> io::Result<Answer> {
    let limits = job.limits();
    let mut request = asked.settings.request();
    request.work.evidence = asked.evidence.map_or(Show::Failed, Show::from);
    (request.properties, request.only) = (asked.properties, asked.only);
    let loaded = job.load(&asked.files, request, &limits);
    let run = driver::check(&loaded, &limits.after_loading(&loaded), &mut |_| {})?;
    let subject = Subject { loaded: &loaded, run: run.as_ref() };
    let data = report::run_report(subject, false);
    let marked = Marked::all(&loaded.sources, &loaded.diagnostics);
    let mut text = Vec::new();
    if loaded.model.is_none() {
        text.extend(refused(&loaded, &marked).into_bytes());
    } else {
        Text::default().run(&mut text, &data, subject, None)?;
        advise(&mut text, &data);
    }
    let is_error = loaded.has_errors();
    let (report, evidence_removed) = short_report(|out| report::json(out, vec![data]))?;
    let used = job.used(&asked.files, &asked.settings, Some(&loaded));
    let structured = Checked { used, diagnostics: marked, evidence_removed, report };
    answer(&structured, String::from_utf8_lossy(&text).into_owned(), is_error)
}

/// Explains the verdicts of a model.
pub(super) fn why(job: &Job, asked: Why) -> io::Result<Answer> {
    let limits = job.limits();
    let mut request = asked.settings.request();
    request.work = Work { evidence: Show::All, extents: true, ..request.work };
    (request.properties, request.only) = (asked.properties, asked.only);
    let loaded = job.load(&asked.files, request, &limits);
    let run = driver::check(&loaded, &limits.after_loading(&loaded), &mut |_| {})?;
    let subject = Subject { loaded: &loaded, run: run.as_ref() };
    let data = report::why_report(subject);
    let marked = Marked::all(&loaded.sources, &loaded.diagnostics);
    let mut text = Vec::new();
    if loaded.model.is_none() {
        text.extend(refused(&loaded, &marked).into_bytes());
    } else {
        Text::default().why(&mut text, &data, subject)?;
        advise(&mut text, &data.run);
    }
    let (report, evidence_removed) = short_report(|out| report::why_json(out, &data))?;
    let used = job.used(&asked.files, &asked.settings, Some(&loaded));
    let structured = WhyAnswer { used, diagnostics: marked, evidence_removed, report };
    answer(&structured, String::from_utf8_lossy(&text).into_owned(), loaded.has_errors())
}

/// Adds what to do next, where the verdicts do not say so themselves.
fn advise(text: &mut Vec<u8>, data: &RunReport) {
    let counts = data.counts();
    if counts.unknown > 0 {
        let reasons: BTreeSet<&str> = data.properties.iter().filter_map(|p| p.reason.as_deref()).collect();
        let reasons: Vec<&str> = reasons.into_iter().collect();
        let line = format!(
            "Not decided: {}, because of: {}. Where that is a limit, raise `limits`, use smaller parameters, or ask \
             with `only` for fewer properties.\n",
            masque_text::counted(counts.unknown, "property", "properties"),
            reasons.join(", ")
        );
        text.extend(line.into_bytes());
    }
    if data.properties.is_empty() && counts.errors == 0 {
        text.extend(b"The files have no properties: add some, or give formulas in `properties`.\n");
    }
}

/// A report as a value; without evidence if it would be too long.
fn short_report(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> io::Result<(Value, bool)> {
    let mut text = Vec::new();
    write(&mut text)?;
    let mut value: Value = serde_json::from_slice(&text)?;
    let is_long = text.len() > MAX_REPORT_BYTES;
    if is_long {
        remove_evidence(&mut value);
    }
    Ok((value, is_long))
}

/// Replaces the evidence of each property by null.
fn remove_evidence(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if name == "evidence" { *member = Value::Null } else { remove_evidence(member) }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(remove_evidence),
        _ => {}
    }
}
