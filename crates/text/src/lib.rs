//! Source files, spans, diagnostics and tokens, shared by all languages of Masque.
//!
//! A [`Diagnostic`] is data; [`render`] turns it into text, and the report crate serialises it.
//! A [`Cursor`] reads the [`Tokens`] of a [`Language`] and collects diagnostics.
//!
//! ```
//! use masque_text::{Diagnostic, Sources, render};
//!
//! let mut sources = Sources::default();
//! let file = sources.add("tiny.ispl", "Agent Alise\n").unwrap();
//! let span = sources.span(file).slice(6, 11);
//! let diagnostic = Diagnostic::error("ispl/unknown-agent", span, "there is no agent `Alise`")
//!     .hint("did you mean `Alice`?");
//! let text = render(&sources, &diagnostic, false);
//! assert!(text.contains("tiny.ispl:1:7"));
//! ```
#![forbid(unsafe_code)]

mod cursor;
mod diagnostic;
mod editing;
mod ids;
mod imports;
mod layout;
mod memory_pool;
mod names;
mod pieces;
mod printable;
mod read_limits;
mod render;
mod sentence;
mod sign_fix;
mod source;
mod suggest;
#[cfg(test)]
mod tiny;
mod tokens;

pub use cursor::{Codes, Cursor, ERROR_LIMIT, Language, Parsed, Reported};
pub use diagnostic::{Diagnostic, Fix, Label, Severity};
pub use editing::{Completion, CompletionKind, Highlight, HighlightKind, Operator, OperatorCall, TextBefore};
pub use imports::{
    FILE_NOT_FOUND, FollowedImports, ImportPath, ImportRules, JoinedFiles, Library, MAX_FILES, NoFiles,
    ParsedFile, follow_imports, in_text_order, without_dots,
};
pub use layout::{Break, Doc, Indent, LayoutWriter, LinePlace};
pub use memory_pool::{MemoryPool, MemoryShare};
pub use names::{Declaration, NameIndex, NameKind, NameUse, Section};
pub use pieces::{OneLine, Piece, for_each_piece, on_one_line};
pub use printable::{first_unprintable, is_printable, printable};
pub use read_limits::{ReadLimit, ReadLimits};
pub use render::render;
pub use sentence::{counted, first_and_others, first_names, without_place};
pub use source::{FileId, Location, OptionOverride, Sources, Span, TooLarge};
pub use suggest::did_you_mean;
pub use tokens::{Comment, Kind, LONGEST_NAME, Tokens};
