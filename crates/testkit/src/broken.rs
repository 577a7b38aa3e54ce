//! Broken texts, for parsers that must survive them.
//!
//! A broken text is a good one after a handful of random changes to its tokens or its bytes. It is
//! known by its number, so a failure can be run again.

use std::iter::repeat_n;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use masque_text::{Diagnostic, FileId, Sources};

const N_THREADS: u64 = 2;

/// How the texts of a language are broken.
#[derive(Clone, Copy, Debug)]
pub struct Breaker<'a> {
    /// Good texts: small ones, so that changes hit what matters.
    pub seeds: &'a [&'a str],
    /// Cuts a text into tokens and comments.
    pub pieces: fn(&str) -> Vec<&str>,
    /// What is put between and in place of tokens.
    pub words: &'a [&'a str],
    /// Tokens that may take each other's place, which often leaves a correct text.
    pub like: &'a [&'a [&'a str]],
    /// What is put around some tokens, mostly a few times, sometimes far too often.
    pub around: &'a [(&'a str, &'a str)],
    /// How a comment begins that ends with its line.
    pub comment: &'a str,
}

impl<'a> Breaker<'a> {
    /// Breaks `n` texts and looks whether each is survived, by threads that share the work. Says how
    /// many of them were good: `survives` says so of one.
    ///
    /// # Panics
    ///
    /// If `survives` does, after the text has been shown.
    pub fn run(&self, n: u64, survives: fn(&str) -> bool) -> u64 {
        let n_good = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..N_THREADS {
                let n_good = &n_good;
                scope.spawn(move || {
                    for number in (thread..n).step_by(N_THREADS as usize) {
                        let current = Current { number, text: self.text(number) };
                        n_good.fetch_add(u64::from(survives(&current.text)), Ordering::Relaxed);
                    }
                });
            }
        });
        n_good.into_inner()
    }

    /// The text of a number.
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
        // Half of the time tokens are replaced by their like.
        let is_gentle = rng.bool();
        for _ in 0..n_changes {
            match is_gentle {
                true => self.replace_by_its_like(&mut tokens, rng),
                false => self.change_tokens(&mut tokens, rng),
            }
        }
        self.write(&tokens, rng)
    }

    /// Tokens as text, with random white space.
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

    fn replace_by_its_like(&self, tokens: &mut [&'a str], rng: &mut Rng) {
        // Some token near a random place is like something.
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

/// The text at hand, shown if it makes its thread panic.
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

/// Cuts a text of any language into what are about its tokens: words, single brackets, and runs of
/// other signs. A comment from `//` to the end of its line is one piece.
///
/// ```
/// assert_eq!(masque_testkit::roughly_tokens("a(r, X1) :: 'b c'. // d e"), [
///     "a", "(", "r", ",", "X1", ")", "::", "'", "b", "c", "'.", "// d e",
/// ]);
/// ```
pub fn roughly_tokens(text: &str) -> Vec<&str> {
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

/// Every message has a code of the language and points into the text, at whole characters.
///
/// # Panics
///
/// If one does not.
pub fn points_into(sources: &Sources, file: FileId, language: &str, diagnostics: &[Diagnostic]) {
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
