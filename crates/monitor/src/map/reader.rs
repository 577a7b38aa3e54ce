//! Reads a text from left to right, for paths and templates; mistakes have their place.

/// A mistake in a text, at a byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) at: usize,
    pub(super) message: String,
}

pub(super) fn mistake(at: usize, message: &str) -> Mistake {
    Mistake { at, message: message.to_string() }
}

/// A text and a position in it.
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
}

impl<'t> Reader<'t> {
    /// What is not read yet.
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Reads a sign if it comes next.
    pub(super) fn eat(&mut self, sign: char) -> bool {
        let is_there = self.rest().starts_with(sign);
        self.at += if is_there { sign.len_utf8() } else { 0 };
        is_there
    }

    /// Reads a sign that must come next.
    pub(super) fn expect(&mut self, sign: char) -> Result<(), Mistake> {
        if self.eat(sign) { Ok(()) } else { Err(self.mistake(&format!("expected `{sign}`"))) }
    }

    /// Reads characters as long as they pass a test.
    pub(super) fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let part = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        self.at += part.len();
        part
    }

    /// A mistake at the position.
    pub(super) fn mistake(&self, message: &str) -> Mistake {
        mistake(self.at, message)
    }
}
