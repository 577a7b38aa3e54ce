//! Broken texts, which parsers must survive.
//!
//! A broken text is a valid one after one to four random changes to its tokens or its bytes. It is
//! determined by its number, so a failure can be reproduced.

use std::iter::repeat_n;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use masque_text::{Diagnostic, FileId, Sources};

use crate::seeds;

const N_THREADS: u64 = 2;

/// Generator of broken texts of a language.
#[derive(Clone, Copy, Debug)]
pub struct Breaker<'a> {
    /// Valid texts. Short ones, so that most changes hit a part that matters.
    pub seeds: &'a [&'a str],
    /// Splits a text into tokens and comments.
    pub pieces: fn(&str) -> Vec<&str>,
    /// Words that are inserted between tokens or replace them.
    pub words: &'a [&'a str],
    /// Sets of tokens that may replace each other, which often leaves a valid text.
    pub like: &'a [&'a [&'a str]],
    /// Pairs of brackets that are put around some tokens, mostly up to three times, sometimes hundreds of
    /// times.
    pub around: &'a [(&'a str, &'a str)],
    /// Start of a comment that ends with its line.
    pub comment: &'a str,
}

impl<'a> Breaker<'a> {
    /// Checks that `survives` panics on no broken text. The numbers of the texts are those of `SEEDS`, or `numbers`.
    /// More than one text in `share` must be valid, so that the changes are not all too coarse.
    ///
    /// # Panics
    ///
    /// If `survives` panics, or if too few texts are valid.
    pub fn nothing_panics(&self, numbers: &str, share: u64, survives: fn(&str) -> bool) {
        let numbers = seeds(numbers);
        let n_valid = self.run(numbers.clone(), survives);
        assert!(n_valid > (numbers.end - numbers.start) / share, "{n_valid}");
    }

    /// Calls `survives` on the broken texts with these numbers, in two threads. It must not panic, and returns
    /// whether its text is valid. Prints and returns the number of valid texts.
    ///
    /// # Panics
    ///
    /// If `survives` panics, after the text has been printed.
    pub fn run(&self, numbers: Range<u64>, survives: fn(&str) -> bool) -> u64 {
        let n_good = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..N_THREADS {
                let n_good = &n_good;
                let numbers = numbers.start + thread..numbers.end;
                scope.spawn(move || {
                    for number in numbers.step_by(N_THREADS as usize) {
                        let current = Current { number, text: self.text(number) };
                        n_good.fetch_add(u64::from(survives(&current.text)), Ordering::Relaxed);
                    }
                });
            }
        });
        let n_good = n_good.into_inner();
        println!("{n_good} of {} inputs are syntactically correct", numbers.end - numbers.start);
        n_good
    }

    /// Returns the text with this number.
    pub fn text(&self, number: u64) -> String {
        let rng = &mut Rng::with_seed(number);
        let seed = pick(self.seeds, rng);
        let n_changes = 1 + rng.usize(..4);
        if rng.u8(..4) == 0 {
            let mut bytes = seed.as_bytes().to_vec();
            for _ in 0..n_changes {
                self.change_bytes(&mut bytes, rng);
            }
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        let mut tokens = (self.pieces)(seed);
        // In half of these texts, tokens are replaced only by tokens of the same set.
        let keeps_sets = rng.bool();
        for _ in 0..n_changes {
            if keeps_sets {
                self.replace_within_set(&mut tokens, rng);
            } else {
                self.change_tokens(&mut tokens, rng);
            }
        }
        self.write(&tokens, rng)
    }

    /// Joins tokens with random white space.
    fn write(&self, tokens: &[&str], rng: &mut Rng) -> String {
        let mut text = String::new();
        for token in tokens {
            text.push_str(token);
            let is_comment = token.starts_with(self.comment);
            match rng.u8(..) {
                0..4 => text.push_str("\r\n"),
                4..8 => text.push_str("\n\n\n"),
                8..24 => text.push('\n'),
                24..26 => text.extend([self.comment, " a comment\n"]),
                _ if is_comment => text.push('\n'),
                26..30 => text.push_str("\t  "),
                // Two tokens may become one.
                30 => {}
                _ => text.push(' '),
            }
        }
        text
    }

    /// Replaces the first token after a random index that is in one of the sets.
    fn replace_within_set(&self, tokens: &mut [&'a str], rng: &mut Rng) {
        let start = rng.usize(..tokens.len());
        for token in &mut tokens[start..] {
            if let Some(like) = self.like.iter().find(|like| like.contains(token)) {
                *token = pick(like, rng);
                return;
            }
        }
    }

    fn change_tokens(&self, tokens: &mut Vec<&'a str>, rng: &mut Rng) {
        let at = rng.usize(..=tokens.len());
        let end = (at + 1 + rng.usize(..6)).min(tokens.len());
        match rng.u8(..10) {
            _ if at >= end => tokens.push(pick(self.words, rng)),
            0 => drop(tokens.remove(at)),
            1 => drop(tokens.drain(at..end)),
            2 => tokens.insert(at, tokens[at]),
            3 => tokens.splice(at..at, tokens[at..end].to_vec()).for_each(drop),
            4 => {
                let other = rng.usize(..tokens.len());
                tokens.swap(at, other);
            }
            5 => tokens.insert(at, pick(self.words, rng)),
            6 => tokens[at] = pick(self.words, rng),
            7 if rng.u8(..4) == 0 => tokens.truncate(at),
            7 => {
                let other = (self.pieces)(pick(self.seeds, rng));
                let from = rng.usize(..other.len());
                let to = (from + rng.usize(..12)).min(other.len());
                tokens.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let (before, after) = pick(self.around, rng);
                let depth = if rng.u8(..) == 0 { 300 + rng.usize(..400) } else { 1 + rng.usize(..3) };
                tokens.splice(end..end, repeat_n(after, depth));
                tokens.splice(at..at, repeat_n(before, depth));
            }
        }
    }

    fn change_bytes(&self, bytes: &mut Vec<u8>, rng: &mut Rng) {
        let at = rng.usize(..=bytes.len());
        let end = (at + 1 + rng.usize(..20)).min(bytes.len());
        match rng.u8(..8) {
            _ if at >= end => bytes.push(rng.u8(..)),
            0 => drop(bytes.remove(at)),
            1 => drop(bytes.drain(at..end)),
            2 => bytes.insert(at, rng.u8(..)),
            3 => bytes[at] = rng.u8(..),
            4 => bytes[at] ^= 1 << rng.u8(..8),
            5 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            6 if rng.u8(..4) == 0 => bytes.truncate(at),
            6 => drop(bytes.splice(at..at, self.comment.bytes())),
            _ => {
                const ODD: [&str; 8] = ["é", "\u{feff}", "\0", "\r", "\n", "∧", "\u{2028}", "🂡"];
                drop(bytes.splice(at..at, pick(&ODD, rng).bytes()));
            }
        }
    }
}

fn pick<T: Copy>(from: &[T], rng: &mut Rng) -> T {
    from[rng.usize(..from.len())]
}

/// The current text, which is printed if it makes its thread panic.
struct Current {
    number: u64,
    text: String,
}

impl Drop for Current {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("broken text {}:\n{}\n{:?}", self.number, self.text, self.text);
        }
    }
}

/// Splits a text of any language into approximate tokens: words, single brackets, and sequences of
/// other signs. A comment from `//` to the end of its line is one piece.
///
/// ```
/// assert_eq!(masque_testkit::approximate_tokens("a(r, X1) :: 'b c'. // d e"), [
///     "a", "(", "r", ",", "X1", ")", "::", "'", "b", "c", "'.", "// d e",
/// ]);
/// ```
pub fn approximate_tokens(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        _ if c.is_whitespace() => 0,
        _ if c.is_alphanumeric() || c == '_' => 1,
        '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' => 2,
        _ => 3,
    };
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let kind = class(first);
        let end = match kind {
            2 => first.len_utf8(),
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ => rest.find(|c| class(c) != kind).unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at(end);
        if kind != 0 {
            pieces.push(piece);
        }
        rest = after;
    }
    pieces
}

/// Asserts that every diagnostic has a code of the language and points into the text, at character
/// boundaries.
///
/// # Panics
///
/// If one does not.
pub fn assert_points_into(sources: &Sources, file: FileId, language: &str, diagnostics: &[Diagnostic]) {
    let (whole, text) = (sources.span(file), sources.text(file));
    for diagnostic in diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let span = label.span;
            let is_inside = whole.start <= span.start && span.start <= span.end && span.end <= whole.end;
            assert!(is_inside, "{diagnostic:?} points out of {whole:?}");
            let (start, end) = ((span.start - whole.start) as usize, (span.end - whole.start) as usize);
            assert!(text.is_char_boundary(start) && text.is_char_boundary(end), "{diagnostic:?}");
        }
        assert!(!diagnostic.message.is_empty() && diagnostic.code.starts_with(language), "{diagnostic:?}");
    }
}
