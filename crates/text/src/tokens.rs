//! The tokens of a text: a table of kinds and spans, comments on the side.

use std::ops::Range;

use crate::Span;

/// Names longer than this are no tokens: messages quote names, and nobody could read them.
pub const LONGEST_NAME: usize = 255;

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
    /// A name or a keyword: the parser tells them apart.
    const WORD: Self;
    /// What is no token, or a name that is too long.
    const UNKNOWN: Self;
    /// After the last token.
    const END: Self;

    /// Cuts a text into pieces; blanks may be left out.
    fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, Range<usize>)>;

    /// Whether this is a comment, which stands beside the tokens and is none of them.
    fn is_comment(self) -> bool {
        false
    }

    /// Whether this is a name, of at most [`LONGEST_NAME`] bytes.
    fn is_name(self) -> bool {
        self == Self::WORD
    }
}

/// Makes an enum with the variants `Word`, `Unknown` and `End`, cut by `logos`, the kinds of token of a
/// language, and gives its table of tokens the name `Tokens`. `comment` is the variant of comments, `names`
/// a pattern of the variants that are names.
#[macro_export]
macro_rules! token_kinds {
    ($token:ident $(, comment: $comment:ident)? $(, names: $names:pat)? $(,)?) => {
        /// The tokens of one text with their spans. The last one is `End`.
        pub(crate) type Tokens = $crate::Tokens<$token>;

        impl $crate::Kind for $token {
            const WORD: Self = $token::Word;
            const UNKNOWN: Self = $token::Unknown;
            const END: Self = $token::End;

            fn cut(text: &str) -> impl Iterator<Item = (Result<Self, ()>, std::ops::Range<usize>)> {
                $token::lexer(text).spanned()
            }

            $(fn is_comment(self) -> bool {
                self == $token::$comment
            })?

            $(fn is_name(self) -> bool {
                matches!(self, $names)
            })?
        }
    };
}

/// The length of a block comment's rest, given the text after its `/*`, and whether it ends.
pub fn block_comment(rest: &str) -> (usize, bool) {
    match rest.find("*/") {
        Some(end) => (end + 2, true),
        None => (rest.len(), false),
    }
}

/// A comment, and the token it stands before.
#[derive(Clone, Copy, Debug)]
pub struct Comment {
    /// Where it stands.
    pub span: Span,
    /// The index of the next token.
    pub before: u32,
}

/// The tokens of one text with their spans. The last one is [`Kind::END`].
#[derive(Debug)]
pub struct Tokens<K> {
    kinds: Vec<K>,
    spans: Vec<Span>,
    comments: Vec<Comment>,
}

impl<K: Kind> Tokens<K> {
    /// Cuts `text`, whose first byte is at position `base`.
    pub fn new(text: &str, base: u32) -> Self {
        let mut tokens = Tokens { kinds: Vec::new(), spans: Vec::new(), comments: Vec::new() };
        for (kind, range) in K::cut(text) {
            let span = Span { start: base + range.start as u32, end: base + range.end as u32 };
            match kind {
                Ok(kind) if kind.is_comment() => {
                    tokens.comments.push(Comment { span, before: tokens.kinds.len() as u32 });
                }
                Ok(kind) if kind.is_name() && range.len() > LONGEST_NAME => tokens.push(K::UNKNOWN, span),
                Ok(kind) => tokens.push(kind, span),
                // A run of garbage is one token, and so one message.
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

    /// How many tokens there are, `END` not counted.
    pub fn len(&self) -> usize {
        self.kinds.len() - 1
    }

    /// Whether there are none, `END` not counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first token at or after a position.
    pub fn at(&self, position: u32) -> usize {
        self.spans.partition_point(|span| span.start < position)
    }

    /// Two tokens in a row with nothing between them: what another language may take for one.
    pub fn pair(&self, first: usize) -> Option<(K, K)> {
        let touch = self.span(first).end == self.span(first + 1).start;
        touch.then(|| (self.kind(first), self.kind(first + 1)))
    }

    /// The comments, in the order of the text.
    pub fn comments(&self) -> &[Comment] {
        &self.comments
    }
}
