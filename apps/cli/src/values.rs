//! Parsers for the values of options: durations, sizes, counts and words.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Parses a duration: `500ms`, `1s`, `1.5s`, `2m`, `1h`. A plain number is in seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    const UNITS: [(&str, f64); 5] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let seconds = scaled(text, &UNITS).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number with `ms`, `s`, `m` or `h`, such as 500ms or 2m".to_string())
}

/// Parses a size in bytes: `100M`, `2G`, `64k`, `1.5GiB`, `4096B`. K is 1024. A number without a unit is refused,
/// because it could mean bytes or megabytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    const UNITS: [(&str, f64); 5] =
        [("k", 1024.0), ("m", 1_048_576.0), ("g", 1_073_741_824.0), ("t", 1_099_511_627_776.0), ("b", 1.0)];
    let lower = text.to_lowercase();
    let short =
        lower.strip_suffix("ib").or(lower.strip_suffix('b').filter(|t| t.ends_with(['k', 'm', 'g', 't'])));
    let bytes = scaled(short.unwrap_or(&lower), &UNITS).filter(|b| *b < u64::MAX as f64);
    bytes.map(|b| b as u64).ok_or_else(|| {
        "expected a number with a unit, `B`, `K`, `M`, `G` or `T`, such as 100M or 2G".to_string()
    })
}

/// Maximum number of parts; more would have only a few states each.
const MAX_PARTS: usize = 4096;
/// Maximum number of threads, more than current machines can use.
const MAX_JOBS: usize = 1024;

/// Parses a number of threads.
pub(crate) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    count(text, MAX_JOBS)
}

/// Parses a number of parts.
pub(crate) fn parts(text: &str) -> Result<NonZeroUsize, String> {
    count(text, MAX_PARTS)
}

fn count(text: &str, max: usize) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|number: &NonZeroUsize| number.get() <= max);
    number.ok_or_else(|| format!("expected a number from 1 to {max}"))
}

/// Parses a number that is not negative, multiplied by the first unit that matches.
fn scaled(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let (number, factor) =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let is_plain = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: f64 = is_plain.then(|| number.trim().parse().ok())??;
    Some(number * factor)
}

/// A parser for certain words, each with its value and its help text.
pub(crate) fn word<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = words.iter().map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).map(|name| {
        let found = words.iter().find(|(word, ..)| *word == name);
        found.map(|(_, value, _)| *value).expect("clap accepts these words only")
    })
}

/// Reads `NAME=VALUE`.
pub(crate) fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_string(), value.trim().to_string())),
        None => Err("expected NAME=VALUE such as comm=sync".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn durations() {
        let check = |text, milliseconds: Option<u64>| {
            assert_eq!(duration(text).ok(), milliseconds.map(Duration::from_millis), "{text}");
        };
        check("1s",    Some(1_000));
        check("500ms", Some(500));
        check("2m",    Some(120_000));
        check("1h",    Some(3_600_000));
        check("1.5s",  Some(1_500));
        check("3",     Some(3_000));
        check("0s",    Some(0));
        for bad in ["", "s", "-1s", "1 s", "1d", "1e9s", "nan", "inf", ".", "1..2s", "99999999999999999999999h"] {
            check(bad, None);
        }
    }

    #[test]
    fn numbers_of_threads() {
        let check = |text, expected| assert_eq!(jobs(text).ok().map(NonZeroUsize::get), expected, "{text}");
        check("1", Some(1));
        check("1024", Some(1024));
        for bad in ["", "0", "-1", "1025", "2.5", "two"] {
            check(bad, None);
        }
    }

    #[test]
    fn numbers_of_parts() {
        let check = |text, expected| assert_eq!(parts(text).ok().map(NonZeroUsize::get), expected, "{text}");
        check("1", Some(1));
        check("4096", Some(4096));
        for bad in ["", "0", "-1", "4097", "1.5", "many"] {
            check(bad, None);
        }
    }

    #[rustfmt::skip]
    #[test]
    fn sizes() {
        let check = |text, expected| assert_eq!(bytes(text).ok(), expected, "{text}");
        check("100M",   Some(100 << 20));
        check("2G",     Some(2 << 30));
        check("64k",    Some(64 << 10));
        check("64KiB",  Some(64 << 10));
        check("64kb",   Some(64 << 10));
        check("1.5g",   Some(3 << 29));
        check("1234B",  Some(1234));
        check("0B",     Some(0));
        check("7b",     Some(7));
        for bad in ["", "M", "-1M", "1X", "1 M", "99999999999T", "iB", "1234", "2.5", "0", "5iB"] {
            check(bad, None);
        }
    }
}
