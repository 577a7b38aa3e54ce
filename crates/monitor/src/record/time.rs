//! Times in records: RFC 3339 texts, and numbers since the beginning of 1970.

use super::Json;

/// A time in nanoseconds since the beginning of 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i128);

/// The unit of times that are numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, possibly with a fraction.
    #[default]
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

/// Nanoseconds per second.
const SECOND: i128 = 1_000_000_000;
/// Seconds per day.
const DAY_SECONDS: i64 = 86_400;

impl TimeUnit {
    /// The units by the words that maps use.
    pub const WORDS: [(&'static str, TimeUnit); 4] = [
        ("s", TimeUnit::Seconds),
        ("ms", TimeUnit::Milliseconds),
        ("us", TimeUnit::Microseconds),
        ("ns", TimeUnit::Nanoseconds),
    ];

    fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "seconds",
            TimeUnit::Milliseconds => "milliseconds",
            TimeUnit::Microseconds => "microseconds",
            TimeUnit::Nanoseconds => "nanoseconds",
        }
    }

    fn nanoseconds(self) -> i128 {
        match self {
            TimeUnit::Seconds => SECOND,
            TimeUnit::Milliseconds => 1_000_000,
            TimeUnit::Microseconds => 1_000,
            TimeUnit::Nanoseconds => 1,
        }
    }
}

impl Time {
    /// The time that a value gives: an RFC 3339 text such as `2026-11-19T20:01:23.5Z`, or a number in this unit, which
    /// may also be written as a string of digits.
    ///
    /// # Errors
    ///
    /// What the value is instead, and what would be accepted.
    pub fn of(value: &Json, unit: TimeUnit) -> Result<Time, String> {
        let time = match value {
            Json::Int(number) => Some(Time(i128::from(*number) * unit.nanoseconds())),
            Json::Decimal(number) => {
                // Split, because a floating-point number of nanoseconds would not be exact.
                let (whole, scale) = (number.floor(), unit.nanoseconds());
                Some(Time(whole as i128 * scale + ((number - whole) * scale as f64).round() as i128))
            }
            Json::Text(text) if is_number(text) => {
                let number = text.parse::<i64>().ok();
                number.map(|number| Time(i128::from(number) * unit.nanoseconds()))
            }
            Json::Text(text) => rfc3339(text).map(Time),
            _ => None,
        };
        time.ok_or_else(|| {
            let found = match value {
                Json::Text(text) if is_number(text) => Json::TooLarge.kind().to_string(),
                Json::Text(text) => quoted(text),
                other => other.kind().to_string(),
            };
            format!(
                "{found}; expected a text such as `2026-11-19T20:01:23.5Z`, or a number of {} since 1970",
                unit.name()
            )
        })
    }
}

/// Whether a text is a number without a sign.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The beginning of a text, in a message.
fn quoted(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let end = text.char_indices().nth(MAX_CHARS).map(|(end, _)| end);
    format!("`{}{}`", &text[..end.unwrap_or(text.len())], if end.is_some() { ".." } else { "" })
}

/// Nanoseconds since the beginning of 1970 of a text such as `2026-11-19T20:01:23.5+01:00`.
fn rfc3339(text: &str) -> Option<i128> {
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        if part.bytes().all(|byte| byte.is_ascii_digit()) { part.parse().ok() } else { None }
    };
    let sign = |at: usize, signs: &[u8]| text.as_bytes().get(at).is_some_and(|byte| signs.contains(byte));
    let has_signs = [(4, "-"), (7, "-"), (10, "Tt "), (13, ":"), (16, ":")]
        .iter()
        .all(|(at, signs)| sign(*at, signs.as_bytes()));
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    let (hour, minute, second) = (digits(11, 13)?, digits(14, 16)?, digits(17, 19)?);
    let is_valid = has_signs
        && (1..=12).contains(&month)
        && (1..=days_of_month(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second <= 60;
    if !is_valid {
        return None;
    }
    let (fraction, zone) = fraction(text.get(19..)?)?;
    let offset = zone_seconds(zone)?;
    let seconds = days(year, month, day) * DAY_SECONDS + hour * 3600 + minute * 60 + second - offset;
    Some(i128::from(seconds) * SECOND + fraction)
}

/// The nanoseconds of `.5Z`, and the rest of the text. Digits beyond nanoseconds are ignored.
fn fraction(text: &str) -> Option<(i128, &str)> {
    let Some(behind) = text.strip_prefix('.') else { return Some((0, text)) };
    let n_digits = behind.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, zone) = behind.split_at(n_digits);
    if digits.is_empty() {
        return None;
    }
    let nanoseconds: String = digits.chars().chain(std::iter::repeat('0')).take(9).collect();
    Some((nanoseconds.parse().ok()?, zone))
}

/// Seconds by which a zone is ahead of UTC.
fn zone_seconds(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let factor = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let is_number = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    Some(factor * (hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60))
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Number of days from the beginning of 1970 to a date of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap_days = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    // The same number for 1969, the year before 1970.
    const LEAP_DAYS_UNTIL_1969: i64 = 477;
    let of_months: i64 = (1..month).map(|month| days_of_month(year, month)).sum();
    (year - 1970) * 365 + leap_days - LEAP_DAYS_UNTIL_1969 + of_months + day - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn times() {
        let check = |json: &str, unit, expected: Option<i128>| {
            assert_eq!(Time::of(&Json::parse(json).unwrap(), unit).ok(), expected.map(Time), "{json}");
        };
        let s = TimeUnit::Seconds;
        check("\"1970-01-01T00:00:00Z\"",             s, Some(0));
        check("\"1969-12-31T23:59:59Z\"",             s, Some(-SECOND));
        check("\"2026-11-19T20:01:23.25Z\"",          s, Some(1_795_118_483_250_000_000));
        check("\"2026-11-19 21:01:23.25+01:00\"",     s, Some(1_795_118_483_250_000_000));
        check("\"2000-02-29T12:00:00-00:30\"",        s, Some(951_827_400 * SECOND));
        check("\"2100-03-01T00:00:00z\"",             s, Some(4_107_542_400 * SECOND));
        check("\"2026-11-19T20:01:23.1234567891Z\"",  s, Some(1_795_118_483_123_456_789));
        check("1.5",                                  s, Some(1_500_000_000));
        check("-0.25",                                s, Some(-250_000_000));
        check("1795118483250",                        TimeUnit::Milliseconds, Some(1_795_118_483_250_000_000));
        check("\"1795118483250000000\"",              TimeUnit::Nanoseconds,  Some(1_795_118_483_250_000_000));
        for bad in ["\"\"", "\"noon\"", "\"2025-02-29T00:00:00Z\"", "\"2026-11-19T24:00:00Z\"", "\"2026-11-19T20:01:23\"",
            "\"2026-11-19T20:01:23.Z\"", "\"2026-11-19T20:01:23+1:00\"", "\"+026-11-19T20:01:23Z\"", "null", "[]", "true"] {
            check(bad, s, None);
        }
    }

    #[rustfmt::skip]
    #[test]
    fn what_is_no_time_is_named() {
        let check = |json: &str, unit, found: &str| {
            let message = Time::of(&Json::parse(json).unwrap(), unit).unwrap_err();
            assert!(message.starts_with(&format!("{found}; expected a text such as")), "{json}: {message}");
        };
        let too_large = "a number that is too large (integers have 64 bits, decimals are below 2^53)";
        check("1e17",                       TimeUnit::Seconds,     too_large);
        check("18446744073709551615",       TimeUnit::Nanoseconds, too_large);
        check("\"18446744073709551615\"",   TimeUnit::Nanoseconds, too_large);
        check("\"noon\"",                   TimeUnit::Seconds,     "`noon`");
        check("\"\"",                       TimeUnit::Seconds,     "``");
        check("true",                       TimeUnit::Seconds,     "a truth value");
        check(&format!("\"{}\"", "é".repeat(99)), TimeUnit::Seconds, &format!("`{}..`", "é".repeat(60)));
        let message = Time::of(&Json::Null, TimeUnit::Milliseconds).unwrap_err();
        assert!(message.ends_with("or a number of milliseconds since 1970"), "{message}");
    }
}
