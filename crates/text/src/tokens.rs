//! The tokens of a text: a table of kinds and spans, comments on the side.

use std::ops::Range;

use crate::{FileId, ReadLimits, Sources, Span};

/// Maximum length of a name in bytes. Messages quote names, so they must stay readable; a longer
/// name becomes [`Kind::UNKNOWN`].
pub const LONGEST_NAME: usize = 255;

/// Estimate of the bytes of text per token; where there are more tokens, their vectors grow.
const BYTES_OF_TEXT_PER_TOKEN: usize = 6;
/// Number of tokens for which memory is counted at once.
const TOKENS_PER_CHARGE: usize = 1024;
/// Estimate of the memory for a token and the syntax tree above it, in bytes.
const BYTES_PER_TOKEN: u64 = 80;

/// The kinds of token of one language.
///
/// ```
/// use std::ops::Range;
///
/// use masque_text::{Kind, Tokens};
///
/// /// Letters are words, and `-` is a comment.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Token { Word, Comment, Unknown, End }
///
/// impl Kind for Token {
///     const WORD: Self = Token::Word;
///     const UNKNOWN: Self = Token::Unknown;
///     const END: Self = Token::End;
///
///     fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, Range<usize>)> {
///         text.char_indices().map(|(at, c)| {
///             let kind = match c {
///                 'a'..='z' => Ok(Token::Word),
///                 '-' => Ok(Token::Comment),
///                 _ => Err(()),
///             };
///             (kind, at..at + c.len_utf8())
///         })
///     }
///
///     fn is_comment(self) -> bool {
///         self == Token::Comment
///     }
/// }
///
/// let tokens: Tokens<Token> = Tokens::new("a-??b", 0);
/// assert_eq!(tokens.kinds(), [Token::Word, Token::Unknown, Token::Word]);
/// assert_eq!(tokens.kind(3), Token::End);
/// assert_eq!((tokens.span(1).start, tokens.span(1).end), (2, 4));
/// assert_eq!(tokens.comments()[0].before, 1);
/// ```
pub trait Kind: Copy + PartialEq {
    /// A name or a keyword; the parser distinguishes them.
    const WORD: Self;
    /// Text that is no token, or a name that is too long.
    const UNKNOWN: Self;
    /// The end of the text, after the last token.
    const END: Self;

    /// Splits a text into tokens and comments. White space may be left out.
    fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, Range<usize>)>;

    /// Whether this is a comment. Comments are kept beside the tokens.
    fn is_comment(self) -> bool {
        false
    }

    /// Whether this is a name, whose length is limited to [`LONGEST_NAME`].
    fn is_name(self) -> bool {
        self == Self::WORD
    }
}

/// Defines the kinds of token of a language with `logos`, and `Tokens` as its table of tokens. The signs that
/// all languages share need not be listed. `comment` names the variant of comments, `names` is a pattern of
/// the variants that are names. With `unclosed`, the variant of a comment that is not closed, it also defines
/// `block_comment`, the callback of the token `/*`.
#[macro_export]
macro_rules! token_kinds {
    (
        comment: $comment:ident, $(unclosed: $unclosed:ident,)? $(names: $names:pat,)?
        $(#[$attribute:meta])*
        enum $token:ident { $($variants:tt)* }
    ) => {
        /// A kind of token.
        #[derive(logos::Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $(#[$attribute])*
        pub(crate) enum $token {
            #[token("(")]
            Open,
            #[token(")")]
            Close,
            #[token("{")]
            OpenBrace,
            #[token("}")]
            CloseBrace,
            #[token("[")]
            OpenBracket,
            #[token("]")]
            CloseBracket,
            #[token(",")]
            Comma,
            #[token(":")]
            Colon,
            #[token(";")]
            Semicolon,
            #[token("+")]
            Plus,
            #[token("|")]
            Bar,
            $($variants)*
            /// Text that is no token, or a name that is too long. The grammar never produces it.
            Unknown,
            /// The end of the text, after the last token.
            End,
        }

        /// The tokens of one text with their spans. The last one is `End`.
        pub(crate) type Tokens<'t> = $crate::Tokens<'t, $token>;

        /// The spans of all comments of a file, in the order of the text.
        pub fn comments(sources: &$crate::Sources, file: $crate::FileId) -> Vec<$crate::Span> {
            let tokens = Tokens::new(sources.text(file), sources.span(file).start);
            tokens.comments().iter().map(|comment| comment.span).collect()
        }

        $(/// Reads the rest of a comment after `/*`.
        fn block_comment(lexer: &mut logos::Lexer<'_, $token>) -> $token {
            let rest = lexer.remainder();
            let end = rest.find("*/");
            lexer.bump(end.map_or(rest.len(), |end| end + 2));
            if end.is_some() { $token::$comment } else { $token::$unclosed }
        })?

        impl $crate::Kind for $token {
            const WORD: Self = $token::Word;
            const UNKNOWN: Self = $token::Unknown;
            const END: Self = $token::End;

            fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, std::ops::Range<usize>)> {
                <$token as logos::Logos>::lexer(text).spanned()
            }

            fn is_comment(self) -> bool {
                self == $token::$comment
            }

            $(fn is_name(self) -> bool {
                matches!(self, $names)
            })?
        }
    };
}

/// A comment, and the token that follows it.
#[derive(Clone, Copy, Debug)]
pub struct Comment {
    /// Span of the comment.
    pub span: Span,
    /// Index of the next token.
    pub before: u32,
}

/// The tokens of one text with their spans. The last one is [`Kind::END`].
#[derive(Debug)]
pub struct Tokens<'t, K> {
    text: &'t str,
    /// Position of the first byte of `text`.
    base: u32,
    kinds: Vec<K>,
    spans: Vec<Span>,
    comments: Vec<Comment>,
}

/// Maximum number of bytes before a position that an editor's question about it looks at.
const MAX_BYTES_BEFORE: usize = 4096;

impl<'t, K: Kind> Tokens<'t, K> {
    /// Splits `text`, whose first byte is at position `base`.
    pub fn new(text: &'t str, base: u32) -> Self {
        Tokens::within(text, base, &ReadLimits::default())
    }

    /// Splits the text of a file before a position: from the beginning of the file, or of a line that begins at most
    /// [`MAX_BYTES_BEFORE`] bytes earlier, because a line begins outside of a comment.
    pub fn before(sources: &'t Sources, file: FileId, position: u32) -> Self {
        let (text, base) = (sources.text(file), sources.span(file).start);
        let end = text.floor_char_boundary((position - base) as usize);
        let mut start = text.floor_char_boundary(end.saturating_sub(MAX_BYTES_BEFORE));
        if start > 0 {
            start = text[start..end].find('\n').map_or(start, |line| start + line + 1);
        }
        Tokens::new(&text[start..end], base + start as u32)
    }

    /// Splits `text` within limits. If one is exceeded, the tokens after that point are missing.
    pub(crate) fn within(text: &'t str, base: u32, limits: &ReadLimits) -> Self {
        let n_tokens = text.len() / BYTES_OF_TEXT_PER_TOKEN + 1;
        let (kinds, spans) = (Vec::with_capacity(n_tokens), Vec::with_capacity(n_tokens));
        let mut tokens = Tokens { text, base, kinds, spans, comments: Vec::new() };
        let mut next_charge = 0;
        for (kind, range) in K::cut(text) {
            if tokens.kinds.len() >= next_charge {
                let n_tokens = TOKENS_PER_CHARGE.min(text.len() - range.start);
                if !limits.charge(n_tokens as u64 * BYTES_PER_TOKEN) {
                    break;
                }
                next_charge += TOKENS_PER_CHARGE;
            }
            let span = Span { start: base + range.start as u32, end: base + range.end as u32 };
            match kind {
                Ok(kind) if kind.is_comment() => {
                    tokens.comments.push(Comment { span, before: tokens.kinds.len() as u32 });
                }
                Ok(kind) if kind.is_name() && range.len() > LONGEST_NAME => tokens.push(K::UNKNOWN, span),
                Ok(kind) => tokens.push(kind, span),
                // Adjacent unknown characters form one token, so that they give one message.
                Err(()) => match tokens.spans.last_mut() {
                    Some(last) if tokens.kinds.last() == Some(&K::UNKNOWN) && last.end == span.start => {
                        last.end = span.end;
                    }
                    _ => tokens.push(K::UNKNOWN, span),
                },
            }
        }
        let end = base + text.len() as u32;
        tokens.push(K::END, Span { start: end, end });
        tokens
    }

    fn push(&mut self, kind: K, span: Span) {
        self.kinds.push(kind);
        self.spans.push(span);
    }

    /// The kind of a token; `END` from the end on.
    pub fn kind(&self, index: usize) -> K {
        self.kinds.get(index).copied().unwrap_or(K::END)
    }

    /// The kinds of all tokens, `END` not included.
    pub fn kinds(&self) -> &[K] {
        &self.kinds[..self.len()]
    }

    /// The span of a token; that of `END` from the end on.
    pub fn span(&self, index: usize) -> Span {
        self.spans[index.min(self.spans.len() - 1)]
    }

    /// Number of tokens, `END` not counted.
    pub fn len(&self) -> usize {
        self.kinds.len() - 1
    }

    /// Whether there are no tokens, `END` not counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Index of the first token at or after a position.
    pub fn at(&self, position: u32) -> usize {
        self.spans.partition_point(|span| span.start < position)
    }

    /// The kinds of a token and the next one, if they touch: another language may have them as one sign.
    pub fn pair(&self, first: usize) -> Option<(K, K)> {
        let touch = self.span(first).end == self.span(first + 1).start;
        touch.then(|| (self.kind(first), self.kind(first + 1)))
    }

    /// The comments, in the order of the text.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }

    /// The comments before some tokens.
    pub fn comments_within(&self, tokens: Range<usize>) -> &[Comment] {
        let before = |token: usize| self.comments.partition_point(|c| (c.before as usize) < token);
        &self.comments[before(tokens.start)..before(tokens.end)]
    }

    /// The position of the first byte of the text.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// The text that a span covers.
    pub fn slice(&self, span: Span) -> &'t str {
        &self.text[(span.start - self.base) as usize..(span.end - self.base) as usize]
    }

    /// The text of a token.
    pub fn text(&self, index: usize) -> &'t str {
        self.slice(self.span(index))
    }

    /// What stands between a token and the one before it: white space and comments.
    pub fn gap(&self, index: usize) -> &'t str {
        let start = index.checked_sub(1).map_or(self.base, |before| self.span(before).end);
        self.slice(Span { start, end: self.span(index).start })
    }
}
