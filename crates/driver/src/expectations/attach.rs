//! The properties that an expectation belongs to.
//!
//! A comment belongs to the property in which it stands, or else to the property that ends before it on the same
//! line, or, if there is no code before it on its line, to the property that follows. Instances of one formula in a
//! `for` have the same span and share an expectation.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use masque_text::{Diagnostic, FileId, Sources, Span};

use super::comments::{CommentPlace, code_only, comment_spans, in_file};
use crate::load::{Loaded, Model};
use crate::property::PropertyText;
use crate::select;

/// The properties of a model, with their places in the text.
pub(super) struct Properties<'l> {
    loaded: &'l Loaded,
    pub(super) texts: Vec<PropertyText>,
    /// For each property, its file.
    files: Vec<FileId>,
    /// The places of properties, found on first use: most large files have no expectation.
    places: OnceCell<Vec<Place>>,
}

/// A place in the text with the properties that stand there: one, all instances of one formula in a `for`, or none if
/// the `for` has no instances.
type Place = (Extent, Vec<usize>);

/// The place of a property in the text.
#[derive(Clone, Copy, Debug)]
struct Extent {
    /// Span from the name or formula to the end of the formula.
    span: Span,
    /// Beginning of the statement: only comments are between it and the previous statement.
    statement: u32,
}

impl<'l> Properties<'l> {
    pub(super) fn new(loaded: &'l Loaded) -> Properties<'l> {
        let model = loaded.model.as_ref();
        let spans = model.map(Model::written_spans).unwrap_or_default();
        let files = spans.iter().map(|span| loaded.sources.file_of(*span)).collect();
        let texts = model.map(Model::properties).unwrap_or_default();
        Properties { loaded, texts, files, places: OnceCell::new() }
    }

    /// The places of properties, in the order of the text.
    fn places(&self) -> &[Place] {
        self.places
            .get_or_init(|| self.loaded.model.as_ref().map_or(Vec::new(), |model| places(self.loaded, model)))
    }

    /// The file of a property.
    pub(super) fn file(&self, index: usize) -> Option<FileId> {
        self.files.get(index).copied()
    }

    /// The properties that a name or pattern selects, and whether it is a pattern.
    pub(super) fn named(&self, name: &str) -> (Vec<usize>, bool) {
        (select::matching(&self.texts, name), select::is_glob(name))
    }

    /// The properties that a comment belongs to: one, all instances of one formula, or none if the formula has no
    /// instances. Returns `None` if there is no formula.
    pub(super) fn beside(&self, comment: &CommentPlace) -> Option<&[usize]> {
        let place = comment.span.start;
        // Formulas do not overlap.
        let places = self.places();
        let n_before = places.partition_point(|(extent, _)| extent.span.start <= place);
        let before = n_before.checked_sub(1).map(|index| &places[index]);
        let is_on_line = |extent: &Extent| comment.is_after_code && comment.before.start <= extent.span.end;
        let before = before.filter(|(extent, _)| place < extent.span.end || is_on_line(extent));
        let after =
            places.get(n_before).filter(|(extent, _)| !comment.is_after_code && extent.statement <= place);
        before.or(after).map(|(_, indices)| indices.as_slice())
    }

    /// The error about a name that no property has.
    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let found = select::unknown_property(&self.texts, name);
        Diagnostic::error("test/no-property", span, found.message).help(found.help)
    }
}

/// Finds the places of all properties.
fn places(loaded: &Loaded, model: &Model) -> Vec<Place> {
    let mut at: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    for (index, span) in model.written_spans().into_iter().enumerate() {
        at.entry(span).or_default().push(index);
    }
    let empty = loaded.diagnostics.iter().filter(|found| found.code == "ispl/empty-family");
    for label in empty.filter_map(|found| found.primary.as_ref()) {
        at.entry(label.span).or_default();
    }
    let sources = &loaded.sources;
    let mut codes: BTreeMap<FileId, Vec<u8>> = BTreeMap::new();
    let places = at.into_iter().map(|(span, indices)| {
        let file = sources.file_of(span);
        let code =
            codes.entry(file).or_insert_with(|| code_only(sources, file, &comment_spans(loaded, file)));
        (extent(sources, model, span, code), indices)
    });
    places.collect()
}

/// The error about an expectation without a property.
pub(super) fn no_property_beside(span: Span) -> Diagnostic {
    Diagnostic::error("test/no-property", span, "this expectation belongs to no property").hint(
        "write it after a property on the same line, or on a line of its own before the property, or with the \
         property's name: `expect NAME: holds`",
    )
}

impl Model {
    /// The spans of the properties: from the name or the formula to the end of the formula, or of the name only.
    fn written_spans(&self) -> Vec<Span> {
        let of_mu = |property: &masque_mu::Property| property.source.name.span.to(property.source.phi.span);
        match self {
            Model::Ispl(system) => system.properties.iter().map(|property| property.span).collect(),
            Model::Bdi(worlds) => worlds.programs.properties.iter().map(|property| property.span).collect(),
            Model::Lcc(instance) => instance.properties.iter().map(of_mu).collect(),
            Model::Aut(instance) => instance.properties.iter().map(of_mu).collect(),
        }
    }
}

/// The place of a property whose name or formula has this span.
fn extent(sources: &Sources, model: &Model, span: Span, code: &[u8]) -> Extent {
    let file = sources.file_of(span);
    let base = sources.span(file).start;
    let range = in_file(sources, span);
    // The span of a BDI property is its name; the property ends with a semicolon.
    let end = match model {
        Model::Bdi(_) => code[range.end..]
            .iter()
            .position(|byte| *byte == b';')
            .map_or(range.end, |length| range.end + length),
        _ => range.end,
    };
    let statement = statement_start(&code[..range.start], model);
    Extent { span: Span { start: span.start, end: base + end as u32 }, statement: base + statement as u32 }
}

/// The end of the statement before a property, given the code before the property's name or formula.
///
/// Between that end and the property there may be a keyword, a label, and the beginning of a `for` or of a rule.
fn statement_start(before: &[u8], model: &Model) -> usize {
    let after_last =
        |code: &[u8], signs: &[u8]| code.iter().rposition(|byte| signs.contains(byte)).map(|at| at + 1);
    if matches!(model, Model::Ispl(_)) {
        let semicolon = after_last(before, b";").unwrap_or(0);
        return semicolon + section_end(&before[semicolon..]);
    }
    let line = after_last(before, b"\n").unwrap_or(0);
    if let Some(end) = after_last(&before[line..], b".;") {
        return line + end;
    }
    // The keyword may be on the line before the name.
    let is_blank = before[line..].trim_ascii().is_empty();
    let rest = if is_blank { before } else { &before[..line] }.trim_ascii_end();
    let without_keyword = [&b"property"[..], b"check"].iter().find_map(|keyword| rest.strip_suffix(*keyword));
    without_keyword.filter(|_| is_blank).unwrap_or(rest).trim_ascii_end().len()
}

/// The end of the last section of an ISPL file: after its word `end`.
fn section_end(code: &[u8]) -> usize {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let is_end = |at: &usize| {
        code[*at..].starts_with(b"end") && !is_word(code.get(at + 3)) && !is_word(code[..*at].last())
    };
    (0..code.len()).rev().find(is_end).map_or(0, |at| at + 3)
}
