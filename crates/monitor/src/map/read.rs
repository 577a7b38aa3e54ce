//! Reads a map from its text.

use masque_lcc::{EventPattern, EventText};
use masque_text::{Diagnostic, FileId, Sources, Span};
use toml::de::{DeTable, DeValue};

use super::condition::{Condition, Scalar, Test};
use super::path::Path;
use super::reader::Mistake;
use super::table::{File, Table, Value};
use super::template::{TermTemplate, TextTemplate};
use super::values::{ITEM, NamedValue};
use super::{EventRule, Map, ObservedKind, Order};
use crate::record::TimeUnit;

/// Nanoseconds per second.
const SECOND: f64 = 1e9;
/// Maximum window in seconds: a year.
const MAX_WINDOW_SECONDS: f64 = 31_622_400.0;

/// Reads a map. Without errors among the diagnostics, the map is complete.
pub fn read_map(sources: &Sources, file: FileId) -> (Map, Vec<Diagnostic>) {
    let (text, span) = (sources.text(file), sources.span(file));
    let mut file = File { text, base: span.start, diagnostics: Vec::new() };
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let at = error.span().unwrap_or(0..0);
            // A mistake at the end of a line is shown there, not on the next line.
            let at = at.start.min(text.len())..at.end.min(text.len());
            let message = format!("this is not TOML: {}", error.message());
            return (Map::default(), vec![Diagnostic::error("monitor/map-syntax", file.span(at), message)]);
        }
    };
    let map = map(Table::new(table.get_ref(), "a map", span), &mut file);
    (map, file.diagnostics)
}

fn map(mut top: Table<'_, '_>, file: &mut File<'_>) -> Map {
    top.string("description", file);
    let named = named_values(&mut top, file);
    let mut map = Map {
        records: items(&mut top, "records", file),
        session: text_template(&mut top, "session", file),
        time: top.string("time", file).and_then(|value| path(value, file)),
        time_unit: top.word("time_unit", &TimeUnit::WORDS, file).unwrap_or_default(),
        order: Order::Arrival,
        named,
        observable: observable(&mut top, file),
        unseen: top.string("unseen", file).and_then(|value| value.get_ref().as_str()).map(str::to_string),
        conditions: conditions(&mut top, file),
        events: Vec::new(),
    };
    map.order = order(&mut top, file);
    match top.take("event") {
        Some(value) => match tables(value, "`event`", file) {
            Some(events) => {
                map.events = events.into_iter().map(|(table, value)| event(table, value, file)).collect()
            }
            None => file.unexpected(value, "`event`", "tables `[[event]]`"),
        },
        None => {
            let message = "this map has no `[[event]]`, so no record would be an observation";
            let span = top.span().slice(0, 0);
            file.diagnostics.push(Diagnostic::error("monitor/map-missing", span, message));
        }
    }
    let has_no_time = map.time.is_none() && map.events.iter().any(|event| event.time.is_none());
    if map.order != Order::Arrival && has_no_time && file.diagnostics.is_empty() {
        let message = "`order = \"time\"` needs `time`, the path of the time in a record";
        let span = top.take("order").map_or(top.span(), |value| file.span(value.span()));
        file.diagnostics.push(Diagnostic::error("monitor/map-missing", span, message));
    }
    top.finish(file);
    map
}

fn named_values(top: &mut Table<'_, '_>, file: &mut File<'_>) -> Vec<NamedValue> {
    let Some(value) = top.take("values") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        file.unexpected(value, "`values`", "a table with the paths of named values");
        return Vec::new();
    };
    let mut all = Vec::new();
    for (name, value) in table.iter() {
        let name = name.get_ref().to_string();
        if name == ITEM {
            file.unexpected(
                value,
                "`item` is the item of `each` and cannot be a named value, and its value",
                "another name",
            );
        }
        all.extend(named_value(name, value, file));
    }
    all
}

/// A path, a list of paths, or a table that has these as `paths` and a value as `otherwise`.
fn named_value(name: String, value: &Value<'_>, file: &mut File<'_>) -> Option<NamedValue> {
    let DeValue::Table(fields) = value.get_ref() else {
        let paths = paths(&name, value, file)?;
        return Some(NamedValue { name, paths, otherwise: None });
    };
    let mut table = Table::new(fields, "a named value", file.span(value.span()));
    let paths = match table.take("paths") {
        Some(value) => paths("paths", value, file),
        None => {
            let message = format!("`{name}` has no `paths`");
            file.diagnostics.push(Diagnostic::error("monitor/map-missing", table.span(), message));
            None
        }
    };
    let otherwise = table.take("otherwise").and_then(|value| {
        let scalar = scalar(value);
        if scalar.is_none() {
            file.unexpected(value, "`otherwise`", "a string, an integer or a truth value");
        }
        scalar.map(Scalar::into_json)
    });
    table.finish(file);
    Some(NamedValue { name, paths: paths?, otherwise })
}

/// A path, or a list of paths.
fn paths(name: &str, value: &Value<'_>, file: &mut File<'_>) -> Option<Vec<Path>> {
    let texts: Vec<&Value<'_>> = match value.get_ref() {
        DeValue::String(_) => vec![value],
        DeValue::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    if texts.is_empty() || texts.iter().any(|text| text.get_ref().as_str().is_none()) {
        let expected = "a path, or a list of paths of which the first with a value counts";
        file.unexpected(value, &format!("`{name}`"), expected);
        return None;
    }
    Some(texts.into_iter().filter_map(|text| path(text, file)).collect())
}

/// Patterns, as the places of their texts, which are read with the model.
fn observable(top: &mut Table<'_, '_>, file: &mut File<'_>) -> Vec<Span> {
    let Some(value) = top.take("observable") else { return Vec::new() };
    let DeValue::Array(items) = value.get_ref() else {
        file.unexpected(value, "`observable`", "a list of patterns such as [\"out(_)\", \"#(pay(_))\"]");
        return Vec::new();
    };
    let mut spans = Vec::new();
    for item in items.iter() {
        match (item.get_ref().as_str(), item.span()) {
            (Some(text), range) if range.len() == text.len() + 2 => {
                spans.push(file.span(range.start + 1..range.end - 1));
            }
            (Some(_), _) => file.mistake(item, 0, "a pattern is written without escapes, on one line"),
            (None, _) => file.unexpected(item, "this pattern", "a string"),
        }
    }
    spans
}

fn conditions(top: &mut Table<'_, '_>, file: &mut File<'_>) -> Vec<(String, String)> {
    let Some(value) = top.take("conditions") else { return Vec::new() };
    let DeValue::Table(table) = value.get_ref() else {
        file.unexpected(value, "`conditions`", "a table with a condition for each name");
        return Vec::new();
    };
    let mut all = Vec::new();
    for (name, value) in table.iter() {
        match value.get_ref().as_str() {
            Some(condition) => all.push((name.get_ref().to_string(), condition.to_string())),
            None => file.unexpected(value, &format!("`{}`", name.get_ref()), "a string"),
        }
    }
    all
}

fn order(top: &mut Table<'_, '_>, file: &mut File<'_>) -> Order {
    const WORDS: [(&str, bool); 2] = [("arrival", false), ("time", true)];
    let is_by_time = top.word("order", &WORDS, file).unwrap_or(false);
    let window = top.take("window_seconds").and_then(|value| {
        let seconds = match value.get_ref() {
            DeValue::Integer(number) => {
                i64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n as f64)
            }
            DeValue::Float(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let seconds = seconds.filter(|seconds: &f64| (0.0..=MAX_WINDOW_SECONDS).contains(seconds));
        if seconds.is_none() {
            file.unexpected(value, "`window_seconds`", "a number from 0 to 31622400");
        } else if !is_by_time {
            let message = "`window_seconds` has a meaning only with `order = \"time\"`";
            let span = file.span(value.span());
            file.diagnostics.push(Diagnostic::error("monitor/map-value", span, message));
        }
        seconds.map(|seconds| (seconds * SECOND) as i128)
    });
    if is_by_time { Order::Time { window } } else { Order::Arrival }
}

fn event(table: &DeTable<'_>, value: &Value<'_>, file: &mut File<'_>) -> EventRule {
    let mut table = Table::new(table, "an `[[event]]`", file.span(value.span()));
    let when = match table.take("when") {
        Some(value) => condition(value, file),
        None => Condition::default(),
    };
    let rule = EventRule {
        when,
        each: items(&mut table, "each", file),
        time: table.string("time", file).and_then(|value| path(value, file)),
        is_end: table.flag("end", file),
        kind: table.word("kind", &ObservedKind::WORDS, file),
        by: text_template(&mut table, "by", file),
        from: text_template(&mut table, "from", file),
        to: text_template(&mut table, "to", file),
        message: term_template(&mut table, "message", file),
        constraint: term_template(&mut table, "constraint", file),
        columns: templates(&mut table, "columns", file),
    };
    let is_about_step = rule.by.is_some()
        || rule.from.is_some()
        || rule.to.is_some()
        || rule.message.is_some()
        || rule.constraint.is_some()
        || rule.kind.is_some()
        || !rule.columns.is_empty();
    if is_about_step == rule.is_end && file.diagnostics.is_empty() {
        let message = if rule.is_end {
            "this event ends a session, so it has no other parts"
        } else {
            "this event has no parts: expected some of `kind`, `by`, `from`, `to`, `message`, `constraint`, \
             `columns`, or `end = true`"
        };
        file.diagnostics.push(Diagnostic::error("monitor/map-missing", table.span(), message));
    }
    table.finish(file);
    rule
}

fn condition(value: &Value<'_>, file: &mut File<'_>) -> Condition {
    let DeValue::Table(table) = value.get_ref() else {
        file.unexpected(value, "`when`", "a table such as `{ method = \"tools/call\" }`");
        return Condition::default();
    };
    let mut tests = Vec::new();
    for (key, value) in table.iter() {
        match Path::parse(key.get_ref()) {
            Ok(path) => tests.extend(test(value, file).map(|test| (path, test))),
            Err(mistake) => {
                let message = format!("`{}` is not a path to one value: {}", key.get_ref(), mistake.message);
                let help = "a key with other characters than letters, digits and `_` is in double quotes: \
                            'attributes.\"gen_ai.tool.name\"'";
                let span = file.span(key.span());
                let found = Diagnostic::error("monitor/map-value", span, message);
                let has_items = Path::parse_items(key.get_ref()).is_ok();
                file.diagnostics.push(if has_items { found } else { found.hint(help) });
            }
        }
    }
    Condition(tests)
}

fn test(value: &Value<'_>, file: &mut File<'_>) -> Option<Test> {
    const EXPECTED: &str = "a string, an integer, a truth value, a list of these, or one of `{ exists = true }`, `{ not = .. }` and \
         `{ starts_with = \"..\" }`";
    if let Some(scalars) = scalars(value) {
        return Some(Test::OneOf(scalars));
    }
    let found = match value.get_ref() {
        DeValue::Table(table) if table.len() == 1 => {
            let (key, operand) = table.iter().next()?;
            match (key.get_ref().as_ref(), operand.get_ref()) {
                ("exists", DeValue::Boolean(exists)) => Some(Test::Exists(*exists)),
                ("not", _) => scalars(operand).map(Test::NoneOf),
                ("starts_with", DeValue::String(text)) => Some(Test::StartsWith(text.to_string())),
                _ => None,
            }
        }
        _ => None,
    };
    if found.is_none() {
        file.unexpected(value, "this test", EXPECTED);
    }
    found
}

fn scalars(value: &Value<'_>) -> Option<Vec<Scalar>> {
    match value.get_ref() {
        DeValue::Array(items) => items.iter().map(scalar).collect(),
        _ => scalar(value).map(|scalar| vec![scalar]),
    }
}

fn scalar(value: &Value<'_>) -> Option<Scalar> {
    match value.get_ref() {
        DeValue::String(text) => Some(Scalar::Text(text.to_string())),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).ok().map(Scalar::Int)
        }
        DeValue::Boolean(value) => Some(Scalar::Bool(*value)),
        _ => None,
    }
}

/// The text of a string as something that is parsed. `context` begins the message about a mistake.
fn parsed<T>(
    value: &Value<'_>,
    context: &str,
    parse: impl Fn(&str) -> Result<T, Mistake>,
    file: &mut File<'_>,
) -> Option<T> {
    match parse(value.get_ref().as_str()?) {
        Ok(found) => Some(found),
        Err(mistake) => {
            file.mistake(value, mistake.at, &format!("{context}{}", mistake.message));
            None
        }
    }
}

/// A path to one value.
fn path(value: &Value<'_>, file: &mut File<'_>) -> Option<Path> {
    parsed(value, "this is not a path to one value: ", Path::parse, file)
}

/// The path with `[*]` of a key.
fn items(table: &mut Table<'_, '_>, key: &'static str, file: &mut File<'_>) -> Option<Path> {
    let value = table.string(key, file)?;
    parsed(value, &format!("`{key}` is not a path with `[*]`: "), Path::parse_items, file)
}

fn text_template(table: &mut Table<'_, '_>, key: &'static str, file: &mut File<'_>) -> Option<TextTemplate> {
    let value = table.string(key, file)?;
    parsed(value, "", TextTemplate::parse, file)
}

/// A template of a message or a constraint, which must be a term when it is filled.
fn term_template(table: &mut Table<'_, '_>, key: &'static str, file: &mut File<'_>) -> Option<TermTemplate> {
    let value = table.string(key, file)?;
    let template = parsed(value, "", TermTemplate::parse, file)?;
    let sample = Some(template.sample());
    let event = match key {
        "message" => EventText { message: sample, ..EventText::default() },
        _ => EventText { constraint: sample, ..EventText::default() },
    };
    if let Err(unreadable) = EventPattern::read(&event) {
        let message = format!("`{key}` is not a term: {}", unreadable.diagnostic.message);
        let help = unreadable.diagnostic.help.clone();
        let span = file.span(value.span());
        file.diagnostics.push(Diagnostic::error("monitor/map-value", span, message).help(help).without_fix());
    }
    Some(template)
}

/// A table of text templates.
fn templates(
    table: &mut Table<'_, '_>,
    key: &'static str,
    file: &mut File<'_>,
) -> Vec<(String, TextTemplate)> {
    let Some(value) = table.take(key) else { return Vec::new() };
    let DeValue::Table(fields) = value.get_ref() else {
        file.unexpected(value, &format!("`{key}`"), "a table of strings");
        return Vec::new();
    };
    let mut all = Vec::new();
    for (name, value) in fields.iter() {
        if value.get_ref().as_str().is_none() {
            file.unexpected(value, &format!("`{}`", name.get_ref()), "a string");
        }
        let parsed = parsed(value, "", TextTemplate::parse, file);
        all.extend(parsed.map(|template| (name.get_ref().to_string(), template)));
    }
    all
}

/// The tables of a list `[[name]]`.
fn tables<'v, 't>(
    value: &'v Value<'t>,
    what: &str,
    file: &mut File<'_>,
) -> Option<Vec<(&'v DeTable<'t>, &'v Value<'t>)>> {
    let DeValue::Array(items) = value.get_ref() else { return None };
    let mut all = Vec::new();
    for item in items.iter() {
        match item.get_ref() {
            DeValue::Table(table) => all.push((table, item)),
            _ => file.unexpected(item, what, "a table"),
        }
    }
    Some(all)
}
