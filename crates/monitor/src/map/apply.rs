//! The observations of a record.

use super::path::Path;
use super::template::{TermTemplate, TextTemplate, Unfilled};
use super::values::Values;
use super::{EventRule, Map, Observed, ObservedEvent};
use crate::record::{Json, Time};

/// What a line gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MappedRecord {
    /// Observations, in the order of the map.
    pub observed: Vec<Observed>,
    /// Number of records in the line that make no observation.
    pub n_ignored: u64,
}

/// Why a record cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// What is wrong, and what would be accepted.
    pub message: String,
}

impl BadRecord {
    pub(super) fn new(message: impl Into<String>) -> BadRecord {
        BadRecord { message: message.into() }
    }
}

impl Map {
    /// The observations of a line. If one of its records is bad, none of them is used.
    ///
    /// # Errors
    ///
    /// If a record satisfies a condition, but lacks a value that the map needs there.
    pub fn apply(&self, line: &Json) -> Result<MappedRecord, BadRecord> {
        let mut mapped = MappedRecord::default();
        match self.records.as_ref().map(|path| path.find_all(line)) {
            Some(records) if !records.is_empty() => {
                records.into_iter().try_for_each(|record| self.apply_to(record, &mut mapped))?;
            }
            _ => self.apply_to(line, &mut mapped)?,
        }
        Ok(mapped)
    }

    fn apply_to(&self, record: &Json, mapped: &mut MappedRecord) -> Result<(), BadRecord> {
        let values = Values::of(record, &self.named);
        let n_before = mapped.observed.len();
        for rule in self.events.iter().filter(|rule| rule.when.holds(&values)) {
            match &rule.each {
                None => mapped.observed.push(self.observed(rule, &values)?),
                Some(list) => {
                    for item in values.find_all(list) {
                        mapped.observed.push(self.observed(rule, &values.with_item(item))?);
                    }
                }
            }
        }
        mapped.n_ignored += u64::from(mapped.observed.len() == n_before);
        Ok(())
    }

    fn observed(&self, rule: &EventRule, values: &Values<'_>) -> Result<Observed, BadRecord> {
        let session = match &self.session {
            Some(template) => text(template, values)?,
            None => None,
        };
        let time = match rule.time.as_ref().or(self.time.as_ref()) {
            Some(path) => Some(self.time_of(path, values)?),
            None => None,
        };
        let event = if rule.is_end { None } else { Some(rule.event(values)?) };
        Ok(Observed { session, time, event })
    }

    fn time_of(&self, path: &Path, values: &Values<'_>) -> Result<Time, BadRecord> {
        let Some(value) = values.find(path) else {
            return Err(BadRecord::new("the record has no time where the map expects one"));
        };
        Time::of(value, self.time_unit).map_err(|found| BadRecord::new(format!("the time is {found}")))
    }
}

impl EventRule {
    fn event(&self, values: &Values<'_>) -> Result<ObservedEvent, BadRecord> {
        let optional_text = |template: &Option<TextTemplate>| match template {
            Some(template) => text(template, values),
            None => Ok(None),
        };
        let optional_term = |template: &Option<TermTemplate>| match template {
            Some(template) => or_absent(template.fill(values)),
            None => Ok(None),
        };
        let texts = |templates: &[(String, TextTemplate)]| -> Result<Vec<(String, String)>, BadRecord> {
            let mut all = Vec::new();
            for (name, template) in templates {
                all.extend(text(template, values)?.map(|text| (name.clone(), text)));
            }
            Ok(all)
        };
        Ok(ObservedEvent {
            kind: self.kind,
            by: optional_text(&self.by)?,
            from: optional_text(&self.from)?,
            to: optional_text(&self.to)?,
            message: optional_term(&self.message)?,
            constraint: optional_term(&self.constraint)?,
            columns: texts(&self.columns)?,
        })
    }
}

/// The text of a template; none if an optional value is missing.
fn text(template: &TextTemplate, values: &Values<'_>) -> Result<Option<String>, BadRecord> {
    or_absent(template.fill(values))
}

/// A filled template; none if an optional value is missing.
fn or_absent(filled: Result<String, Unfilled>) -> Result<Option<String>, BadRecord> {
    match filled {
        Ok(text) => Ok(Some(text)),
        Err(Unfilled::Absent) => Ok(None),
        Err(Unfilled::Missing(path)) => Err(BadRecord::new(format!(
            "the record has no value at `{path}`, which the map needs here; write `{{{path}?}}` if it may be missing"
        ))),
        Err(Unfilled::Unusable(path, found, accepted)) => {
            Err(BadRecord::new(format!("the value at `{path}` is {found}; {accepted}")))
        }
    }
}
