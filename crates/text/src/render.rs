//! Diagnostics drawn for people, by `annotate-snippets`.
//!
//! Only the lines a diagnostic speaks of are handed over, in one window for each cluster of
//! labels: the cost of a message does not grow with the file.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::{Diagnostic, FileId, Label, Severity, Sources, Span};

/// Labels farther apart than this many lines are shown in windows of their own.
const WINDOW: u32 = 12;
/// A span over more lines than this is shown by its first line.
const TALL: u32 = 4;
/// A span wider than this is shown by its beginning.
const WIDE: u32 = 100;

/// The diagnostic as text, with a newline at its end; with colours if `color`.
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

/// Labels of one file that lie near each other.
struct Window<'d> {
    file: FileId,
    lines: Range<u32>,
    labels: Vec<(bool, Span, &'d str)>,
}

/// The primary label's window first, then the others in the order of the text.
fn windows<'d>(sources: &Sources, diagnostic: &'d Diagnostic) -> Vec<Window<'d>> {
    let mut windows: Vec<Window> = Vec::new();
    let secondary = diagnostic.secondary.iter().map(|label| (false, label));
    for (is_primary, Label { span, text }) in
        diagnostic.primary.iter().map(|label| (true, label)).chain(secondary)
    {
        let file = sources.file_of(*span);
        let span = shorten(sources, *span);
        let (start, end) = sources.locate(span);
        let near = windows.iter_mut().find(|w| {
            w.file == file && start.line < w.lines.end + WINDOW && w.lines.start < end.line + WINDOW
        });
        let label = (is_primary, span, text.as_str());
        match near {
            Some(window) => {
                window.lines = window.lines.start.min(start.line)..window.lines.end.max(end.line + 1);
                window.labels.push(label);
            }
            None => windows.push(Window { file, lines: start.line..end.line + 1, labels: vec![label] }),
        }
    }
    windows
}

/// The span itself, or its beginning if it is tall or wide.
fn shorten(sources: &Sources, span: Span) -> Span {
    let (start, end) = sources.locate(span);
    let text = sources.slice(span);
    let length = match (end.line - start.line > TALL, span.end - span.start > WIDE) {
        (true, _) => text.lines().next().unwrap_or_default().trim_end().len(),
        (_, true) if start.line == end.line => text.len(),
        _ => return span,
    };
    span.slice(0, text.floor_char_boundary(length.min(WIDE as usize)) as u32)
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
