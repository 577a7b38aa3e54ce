//! Rendering of diagnostics as text, with `annotate-snippets`.
//!
//! Only the lines that carry labels are rendered, in one window per cluster of labels, so the cost of
//! a message does not grow with the file.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Diagnostic, FileId, Label, Severity, Sources, Span};

/// Number of lines between two labels from which on they are shown in separate windows.
const WINDOW_GAP: u32 = 12;
/// Maximum number of lines of a span; of a longer one the first line is shown.
const MAX_SPAN_LINES: u32 = 4;
/// Maximum number of bytes shown of a span on one line.
const MAX_SPAN_BYTES: u32 = 100;

/// Renders a diagnostic as text that ends with a newline, with ANSI colours if `color`.
pub fn render(sources: &Sources, diagnostic: &Diagnostic, color: bool) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let windows = windows(sources, diagnostic);
    let mut group = Group::with_title(title);
    for window in &windows {
        group = window.draw(sources, group);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
    text.push('\n');
    text
}

/// A cluster of labels of one file.
struct Window<'d> {
    file: FileId,
    lines: Range<u32>,
    labels: Vec<(bool, Span, &'d str)>,
}

/// Clusters the labels. The window of the primary label comes first, the others follow in text order.
fn windows<'d>(sources: &Sources, diagnostic: &'d Diagnostic) -> Vec<Window<'d>> {
    let mut windows: Vec<Window> = Vec::new();
    let secondary = diagnostic.secondary.iter().map(|label| (false, label));
    for (is_primary, Label { span, text }) in
        diagnostic.primary.iter().map(|label| (true, label)).chain(secondary)
    {
        let file = sources.file_of(*span);
        let span = shorten(sources, *span);
        let (start, end) = sources.locate(span);
        let close = windows.iter_mut().find(|w| {
            w.file == file && start.line < w.lines.end + WINDOW_GAP && w.lines.start < end.line + WINDOW_GAP
        });
        let label = (is_primary, span, text.as_str());
        match close {
            Some(window) => {
                window.lines = window.lines.start.min(start.line)..window.lines.end.max(end.line + 1);
                window.labels.push(label);
            }
            None => windows.push(Window { file, lines: start.line..end.line + 1, labels: vec![label] }),
        }
    }
    windows
}

/// The span, or its beginning if it has too many lines or bytes.
fn shorten(sources: &Sources, span: Span) -> Span {
    let (start, end) = sources.locate(span);
    let text = sources.slice(span);
    let length = match (end.line - start.line > MAX_SPAN_LINES, span.end - span.start > MAX_SPAN_BYTES) {
        (true, _) => text.lines().next().unwrap_or_default().trim_end().len(),
        (_, true) if start.line == end.line => text.len(),
        _ => return span,
    };
    span.slice(0, text.floor_char_boundary(length.min(MAX_SPAN_BYTES as usize)) as u32)
}

impl Window<'_> {
    fn draw<'a>(&'a self, sources: &'a Sources, group: Group<'a>) -> Group<'a> {
        let first = self.labels.iter().map(|l| l.1.start).min().unwrap_or_default();
        let last = self.labels.iter().map(|l| l.1.end).max().unwrap_or_default();
        let (line, bytes) = sources.lines_of(Span { start: first, end: last });
        let text = &sources.text(self.file)[bytes.clone()];
        group.element(self.snippet(sources, line, bytes.start, text).path(sources.name(self.file)))
    }

    fn snippet<'a>(
        &'a self,
        sources: &Sources,
        line: u32,
        offset: usize,
        text: &'a str,
    ) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
        let annotations = self.labels.iter().map(|(is_primary, span, label)| {
            let kind = if *is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(to_window(sources, *span, offset));
            if label.is_empty() { annotation } else { annotation.label(*label) }
        });
        Snippet::source(text).line_start(line as usize).annotations(annotations)
    }
}

fn to_window(sources: &Sources, span: Span, offset: usize) -> Range<usize> {
    let range = sources.in_file(span);
    range.start - offset..range.end - offset
}
