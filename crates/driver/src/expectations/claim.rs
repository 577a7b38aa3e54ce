//! The text of one expectation: `expect: holds, SOURCE`, `expect NAME: fails`, `expect states: 160`,
//! `expect error: CODE`.

use masque_text::{Diagnostic, Severity, Sources, Span, did_you_mean};
use masque_verdict::Why;

use super::comments::CommentPlace;
use super::{ExpectedCount, ExpectedVerdict, Quantity};
use crate::explain::{explain, similar_code};

/// An expectation as it is written.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) kind: ClaimKind,
    /// Source of the result, or its reason.
    pub(super) source: Option<String>,
    /// Span of the expectation, without the comment sign.
    pub(super) span: Span,
    /// The comment; none in a separate file.
    pub(super) comment: Option<CommentPlace>,
}

/// What a claim is about.
#[derive(Clone, Debug)]
pub(super) enum ClaimKind {
    /// The verdict of the property beside the comment.
    Beside(ExpectedVerdict),
    /// The verdict of the properties with a name.
    Named(String, ExpectedVerdict),
    /// A number.
    Count(ExpectedCount),
    /// A diagnostic.
    Code(Severity, String),
}

/// The word at the beginning of an expectation.
const KEYWORD: &str = "expect";
/// Words of verdicts.
const VERDICTS: [&str; 3] = ["holds", "fails", "unknown"];
/// The accepted forms of a verdict, for messages.
const ACCEPTED: &str =
    "accepted are `holds`, `fails`, `unknown` and `unknown(REASON)`, then perhaps `, SOURCE`";

/// Reads a line of a comment. Returns `None` if it is no expectation.
pub(super) fn read(
    sources: &Sources,
    line: Span,
    comment: &CommentPlace,
) -> Option<Result<Claim, Box<Diagnostic>>> {
    let text = sources.slice(line);
    let Some(rest) = text.strip_prefix(KEYWORD).filter(|rest| !rest.starts_with(is_word_character)) else {
        return misspelt_keyword(text, line).map(|diagnostic| Err(Box::new(diagnostic)));
    };
    let after_keyword = from(line, text, rest);
    let read = match subject(rest) {
        Some("") => beside(sources, after_keyword),
        Some(_) => named(sources, after_keyword),
        None => {
            let first = rest.split(|c: char| !is_word_character(c)).find(|word| !word.is_empty())?;
            if !VERDICTS.contains(&first) {
                return None;
            }
            Err(Diagnostic::error("test/bad-expectation", line, "there is no `:` after `expect`")
                .hint(format!("write `expect:{rest}`")))
        }
    };
    let read = read.map(|(kind, source)| Claim { kind, source, span: line, comment: Some(comment.clone()) });
    Some(read.map_err(Box::new))
}

/// Reads a line of a separate file: `NAME: VERDICT`, `states: 160`. The word `expect` may stand before it.
pub(super) fn read_separate(sources: &Sources, line: Span) -> Result<Claim, Box<Diagnostic>> {
    let text = sources.slice(line);
    let rest = text.strip_prefix(KEYWORD).filter(|rest| rest.starts_with([' ', '\t'])).unwrap_or(text);
    let read = match subject(rest) {
        None | Some("") => Err(Diagnostic::error("test/bad-expectation", line, "this is no expectation")
            .hint("a line is `NAME: VERDICT`, `states: NUMBER`, `transitions: NUMBER` or `error: CODE`")),
        Some(_) => named(sources, from(line, text, rest)),
    };
    let claim = read.map(|(kind, source)| Claim { kind, source, span: line, comment: None });
    claim.map_err(Box::new)
}

/// The text before the colon, if it is one word, perhaps with brackets; empty for `expect: ..`.
fn subject(rest: &str) -> Option<&str> {
    let colon = rest.find(':')?;
    let subject = rest[..colon].trim();
    let mut depth = 0_i32;
    let is_one_word = subject.chars().all(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        !c.is_whitespace() || depth > 0
    });
    is_one_word.then_some(subject)
}

type Read = Result<(ClaimKind, Option<String>), Diagnostic>;

/// Reads `: VERDICT, SOURCE`.
fn beside(sources: &Sources, span: Span) -> Read {
    let (_, value, source) = parts(sources, span);
    Ok((ClaimKind::Beside(verdict(sources, value)?), source))
}

/// Reads `SUBJECT: VALUE, SOURCE`.
fn named(sources: &Sources, span: Span) -> Read {
    let (subject, value, source) = parts(sources, span);
    let (word, text) = (sources.slice(subject), sources.slice(value));
    let world = word.strip_prefix("states[").and_then(|rest| rest.strip_suffix(']'));
    let quantity = match (word, world) {
        ("states", _) => Some(Quantity::States),
        ("transitions", _) => Some(Quantity::Transitions),
        (_, Some(world)) => Some(Quantity::WorldStates(world.trim().to_string())),
        _ => None,
    };
    let severity = match word {
        "error" => Some(Severity::Error),
        "warning" => Some(Severity::Warning),
        "note" => Some(Severity::Note),
        _ => None,
    };
    let kind = match (quantity, severity) {
        // A property may have one of these names.
        _ if has_verdict(text) => ClaimKind::Named(word.to_string(), verdict(sources, value)?),
        (Some(quantity), _) => {
            let number = number(sources, value)?;
            ClaimKind::Count(ExpectedCount { quantity, number })
        }
        (_, Some(severity)) => ClaimKind::Code(severity, code(sources, value)?),
        _ => ClaimKind::Named(word.to_string(), verdict(sources, value)?),
    };
    Ok((kind, source))
}

/// Splits `SUBJECT: VALUE, SOURCE`.
fn parts(sources: &Sources, span: Span) -> (Span, Span, Option<String>) {
    let text = sources.slice(span);
    let colon = text.find(':').unwrap_or(text.len());
    let end = text[colon..].find(',').map_or(text.len(), |comma| colon + comma);
    let source =
        text.get(end + 1..).map(|source| source.trim().to_string()).filter(|source| !source.is_empty());
    let value_start = (colon + 1).min(end);
    (inner(span, text, 0, colon), inner(span, text, value_start, end), source)
}

/// The bytes `start..end` of a span, without white space around them.
fn inner(span: Span, text: &str, start: usize, end: usize) -> Span {
    let part = &text[start..end];
    let start = start + (part.len() - part.trim_start().len());
    span.slice(start as u32, (start + part.trim().len()) as u32)
}

/// The span of the end of a text.
fn from(span: Span, text: &str, rest: &str) -> Span {
    span.slice((text.len() - rest.len()) as u32, text.len() as u32)
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a text begins with the word of a verdict.
fn has_verdict(text: &str) -> bool {
    let word = text.split(|c: char| !is_word_character(c)).next().unwrap_or_default();
    VERDICTS.contains(&word)
}

fn verdict(sources: &Sources, span: Span) -> Result<ExpectedVerdict, Diagnostic> {
    let text = sources.slice(span);
    let error = |message: String| Diagnostic::error("test/unknown-verdict", span, message);
    match text {
        "holds" => return Ok(ExpectedVerdict::Holds),
        "fails" => return Ok(ExpectedVerdict::Fails),
        "unknown" => return Ok(ExpectedVerdict::Unknown(None)),
        "" => return Err(error("the verdict is missing".to_string()).hint(ACCEPTED)),
        _ => {}
    }
    let Some(reason) = text.strip_prefix("unknown(").and_then(|rest| rest.strip_suffix(')')) else {
        if has_verdict(text) && !text.contains('(') {
            return Err(error(format!("`{text}` is not a verdict")).hint("write a comma before the source"));
        }
        let guess = did_you_mean(text, VERDICTS).map(|guess| format!("{guess} {ACCEPTED}"));
        return Err(error(format!("`{text}` is not a verdict")).hint(guess.unwrap_or(ACCEPTED.to_string())));
    };
    match Why::from_word(reason.trim()) {
        Some(why) => Ok(ExpectedVerdict::Unknown(Some(why))),
        None => {
            let message = format!("`{}` is not a reason for `unknown`", reason.trim());
            let reasons = format!("the reasons are {}", Why::ALL.map(Why::word).join(", "));
            let guess = did_you_mean(reason.trim(), Why::ALL.iter().map(|why| why.word()));
            let help = guess.map_or(reasons.clone(), |guess| format!("{guess} {reasons}"));
            Err(Diagnostic::error("test/unknown-reason", span, message).hint(help))
        }
    }
}

/// A number in decimal, without leading zeros.
fn number(sources: &Sources, span: Span) -> Result<String, Diagnostic> {
    let text = sources.slice(span);
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!("`{text}` is not a number");
        return Err(Diagnostic::error("test/bad-expectation", span, message)
            .hint("a number has digits only: `expect states: 160`"));
    }
    let digits = text.trim_start_matches('0');
    Ok(if digits.is_empty() { "0" } else { digits }.to_string())
}

/// The code of a diagnostic that exists.
fn code(sources: &Sources, span: Span) -> Result<String, Diagnostic> {
    let text = sources.slice(span);
    if explain(text).is_some() {
        return Ok(text.to_string());
    }
    let message = if text.is_empty() {
        "the code is missing".to_string()
    } else {
        format!("there is no diagnostic with the code `{text}`")
    };
    let help = similar_code(text).unwrap_or("`masque explain` lists all codes".to_string());
    Err(Diagnostic::error("test/unknown-code", span, message).hint(help))
}

/// The error about a comment such as `expected: holds`, whose first word is probably meant as `expect`.
fn misspelt_keyword(text: &str, line: Span) -> Option<Diagnostic> {
    let word = text.split(|c: char| !is_word_character(c)).next()?;
    let rest = text[word.len()..].trim_start();
    let lower = word.to_lowercase();
    let is_similar = lower.starts_with(KEYWORD) || did_you_mean(&lower, [KEYWORD]).is_some();
    let value = rest.strip_prefix(':').map(str::trim)?;
    let is_claim = is_similar && (has_verdict(value) || value.starts_with(|c: char| c.is_ascii_digit()));
    is_claim.then(|| {
        let span = line.slice(0, word.len() as u32);
        let message = format!("`{word}` is not the word `expect`");
        Diagnostic::error("test/bad-expectation", span, message).hint(format!("write `expect{rest}`"))
    })
}
