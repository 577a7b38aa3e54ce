//! The log of the service on standard error: one line for each event of the service, and at a higher level one
//! for each call. The lines are text, or objects of JSON.
//!
//! Text of clients in a line cannot begin another line, control a terminal, or add a member to an object.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, SystemTime};

use masque_text::{is_printable, printable};
use serde::Serialize;
use serde_json::Value;

/// Which events are logged, and in which format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Log {
    /// The command that runs the service, which begins each line of text.
    pub command: &'static str,
    /// Which events are logged.
    pub detail: LogDetail,
    /// The format of a line.
    pub format: LogFormat,
}

/// Which events are logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogDetail {
    /// None.
    Silent,
    /// The start, the end, and other events that matter to an operator.
    #[default]
    Events,
    /// All events and every call.
    Calls,
}

/// The format of a line of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// The command and the message: `masque broker: the service runs`.
    #[default]
    Text,
    /// An object with the members `time`, `level`, `event` and `message`, and those of the event.
    Json,
}

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The service does not do what it should, for example save changes.
    Error,
    /// Something that an operator should look at.
    Warning,
    /// A usual event.
    Info,
    /// A call.
    Debug,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }
}

/// Members of an event in JSON.
pub type Fields<'f> = &'f [(&'static str, Value)];

impl Default for Log {
    fn default() -> Log {
        Log { command: "masque broker", detail: LogDetail::default(), format: LogFormat::default() }
    }
}

impl Log {
    /// A log without any lines.
    pub fn silent() -> Log {
        Log { detail: LogDetail::Silent, ..Log::default() }
    }

    /// Logs an event of the service.
    pub fn report(self, level: Level, event: &'static str, message: &str, fields: Fields<'_>) {
        if self.detail >= LogDetail::Events {
            self.write(level, event, message, fields);
        }
    }

    /// Logs a usual event of the service that has no fields.
    pub fn event(self, event: &'static str, message: &str) {
        self.report(Level::Info, event, message, &[]);
    }

    /// Logs a call: its message and its fields.
    pub fn call<const N: usize>(self, call: impl FnOnce() -> (String, [(&'static str, Value); N])) {
        if self.detail >= LogDetail::Calls {
            let (message, fields) = call();
            self.write(Level::Debug, "call", &message, &fields);
        }
    }

    /// Writes one line. Errors are ignored: the service works without its log.
    fn write(self, level: Level, event: &str, message: &str, fields: Fields<'_>) {
        // One write per line: lines of several threads do not mix.
        _ = std::io::stderr().write_all(self.line(level, event, message, fields).as_bytes());
    }

    /// The line of an event, with its line break.
    pub fn line(self, level: Level, event: &str, message: &str, fields: Fields<'_>) -> String {
        match self.format {
            LogFormat::Text => format!("{}: {}\n", self.command, printable(message)),
            LogFormat::Json => json(SystemTime::now(), level, event, message, fields),
        }
    }
}

/// A line in JSON.
#[derive(Serialize)]
struct Line<'l> {
    time: String,
    level: &'l str,
    event: &'l str,
    message: &'l str,
    #[serde(flatten)]
    fields: BTreeMap<&'l str, &'l Value>,
}

/// An event as an object in one line.
fn json(time: SystemTime, level: Level, event: &str, message: &str, fields: Fields<'_>) -> String {
    let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let fields = fields.iter().map(|(name, value)| (*name, value)).collect();
    let line = Line { time: timestamp(since_epoch), level: level.name(), event, message, fields };
    format!("{}\n", escaped(&serde_json::to_string(&line).unwrap_or_default()))
}

/// JSON in which all characters that are not printable are escaped. JSON itself escapes only those below U+0020,
/// but a terminal obeys others, too. They occur only in strings.
fn escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match is_printable(c) {
            true => out.push(c),
            // All of these are below U+10000.
            false => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    out
}

/// A time in UTC as RFC 3339 with milliseconds.
fn timestamp(since_epoch: Duration) -> String {
    let seconds = since_epoch.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    let millis = since_epoch.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// Year, month and day of a day, counted from 1 January 1970, in the Gregorian calendar.
fn date(day: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that a leap day is the last day of its year; 400 years have 146 097 days.
    let days = day + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months from March on, five of which have 153 days.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year_of_era + carry, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn times() {
        let rows = [
            (0,              "1970-01-01T00:00:00.000Z"),
            (951_782_399,    "2000-02-28T23:59:59.000Z"),
            (951_782_400,    "2000-02-29T00:00:00.000Z"),
            (1_709_251_199,  "2024-02-29T23:59:59.000Z"),
            (4_107_542_400,  "2100-03-01T00:00:00.000Z"),
        ];
        for (seconds, expected) in rows {
            assert_eq!(timestamp(Duration::from_secs(seconds)), expected);
        }
        assert_eq!(timestamp(Duration::from_millis(1_234_567)), "1970-01-01T00:20:34.567Z");
    }

    #[test]
    fn a_message_stays_in_its_line_and_member() {
        let message = "a\n\"level\":\"error\",\u{1b}[31m\u{9b}2K\u{202e}\u{2028}é🐔\\";
        let line = json(SystemTime::UNIX_EPOCH, Level::Info, "x", message, &[("session", "s1\r\n".into())]);
        assert_eq!(line.matches('\n').count(), 1);
        assert!(
            line.trim_end().chars().all(|c| !c.is_control() && c != '\u{202e}' && c != '\u{2028}'),
            "{line}"
        );
        let object: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(object["message"], message);
        assert_eq!((&object["level"], &object["session"]), (&"info".into(), &"s1\r\n".into()));
        assert_eq!(object.as_object().unwrap().len(), 5);
    }
}
