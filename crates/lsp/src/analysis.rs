//! The analysis of one model: its diagnostics and the locations of its properties.
//!
//! An analysis works on a snapshot of the open documents, so that it can run on another thread. Its result names the
//! versions of the documents it has read; the server publishes it only if they are still current.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gen_lsp_types as lsp;
use masque_driver::{Diagnostic, Limits, Loaded, Request, Severity, Sources, load_from_library};
use masque_text::{FileId, Span};

use crate::explain_pages::ExplainPages;
use crate::lines::{Encoding, LineStarts};
use crate::overlay::{Overlay, identity};
use crate::uri::uri_of;

/// Maximum number of diagnostics of one file that are sent.
const MAX_DIAGNOSTICS: usize = 500;
/// Maximum number of properties with lenses.
const MAX_PLACES: usize = 2_000;
/// Largest model that an analysis frees itself, in bytes of text.
const MAX_BYTES_FREED_AT_ONCE: usize = 1 << 20;
/// Name of the program in diagnostics.
pub(crate) const SOURCE: &str = "masque";

/// What an analysis needs.
#[derive(Clone, Debug)]
pub struct AnalysisTask {
    /// First file of the model.
    pub(crate) root: PathBuf,
    /// Texts of the open documents.
    pub(crate) overlay: Overlay,
    /// Versions of the open documents.
    pub(crate) versions: HashMap<PathBuf, i32>,
    /// Lines of the open documents, with the lengths of their texts.
    pub(crate) lines: HashMap<PathBuf, (usize, Arc<LineStarts>)>,
    /// URIs of the open documents.
    pub(crate) uris: HashMap<PathBuf, lsp::Uri>,
    /// Unit of positions.
    pub(crate) encoding: Encoding,
    /// Time that loading may take.
    pub(crate) time_limit: Duration,
    /// Bytes that loading may use.
    pub(crate) memory_limit: u64,
    /// Flag that becomes true when the texts have changed.
    pub(crate) cancel: Arc<AtomicBool>,
    /// Pages about codes.
    pub(crate) pages: Arc<ExplainPages>,
}

/// A diagnostic in the form of the protocol, with the change that removes it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) diagnostic: lsp::Diagnostic,
    pub(crate) fix: Option<FoundFix>,
}

/// A change of texts, by file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoundFix {
    pub(crate) title: String,
    pub(crate) edits: Vec<(PathBuf, lsp::TextEdit)>,
}

/// The location of a property, or of a formula that stands for several.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PropertyPlace {
    pub(crate) file: PathBuf,
    pub(crate) range: lsp::Range,
    /// Positions of the properties in the report, from 1.
    pub(crate) positions: Vec<usize>,
}

/// The result of an analysis.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub(crate) root: PathBuf,
    /// Files of the model, and their diagnostics.
    pub(crate) files: BTreeMap<PathBuf, Vec<Found>>,
    pub(crate) properties: Vec<PropertyPlace>,
    pub(crate) versions: HashMap<PathBuf, i32>,
    /// Whether the analysis was cancelled.
    pub(crate) is_cancelled: bool,
    /// A bug of Masque that ended the analysis.
    pub(crate) bug: Option<String>,
}

impl AnalysisTask {
    /// Loads the model. A panic of the loader becomes a message.
    pub fn run(&self) -> Analysis {
        let work = std::panic::AssertUnwindSafe(|| self.analyse());
        std::panic::catch_unwind(work).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            let bug =
                Some(format!("loading `{}` failed because of a bug in masque: {text}", self.root.display()));
            Analysis { bug, ..self.empty() }
        })
    }

    fn empty(&self) -> Analysis {
        Analysis {
            root: self.root.clone(),
            files: BTreeMap::from([(self.root.clone(), Vec::new())]),
            properties: Vec::new(),
            versions: self.versions.clone(),
            is_cancelled: false,
            bug: None,
        }
    }

    fn analyse(&self) -> Analysis {
        let limits = Limits::new(Some(self.time_limit), Some(self.memory_limit), &self.cancel);
        let library = Arc::new(self.overlay.clone());
        let loaded = load_from_library(&self.root, library, &Request::default(), &limits);
        let is_cancelled = self.cancel.load(std::sync::atomic::Ordering::Relaxed);
        if is_cancelled {
            return Analysis { is_cancelled, ..self.empty() };
        }
        let places = Places::new(&loaded.sources, self);
        let mut files: BTreeMap<PathBuf, Vec<Found>> = BTreeMap::from([(self.root.clone(), Vec::new())]);
        for file in loaded.sources.files() {
            files.entry(places.path(file)).or_default();
        }
        for diagnostic in &loaded.diagnostics {
            let file =
                diagnostic.primary.as_ref().map(|label| places.path(loaded.sources.file_of(label.span)));
            let found = files.entry(file.unwrap_or_else(|| self.root.clone())).or_default();
            if found.len() < MAX_DIAGNOSTICS {
                found.push(places.found(diagnostic));
            }
        }
        let properties = property_places(&loaded, &places);
        drop(places);
        discard(loaded);
        Analysis { files, properties, ..self.empty() }
    }
}

/// Frees a loaded model. That of a large one takes a noticeable time, so another thread does it.
fn discard(loaded: Loaded) {
    let n_bytes: usize = loaded.sources.files().map(|file| loaded.sources.text(file).len()).sum();
    if n_bytes > MAX_BYTES_FREED_AT_ONCE {
        // Without a thread, the model is freed here.
        _ = std::thread::Builder::new().name("lsp-discard".to_string()).spawn(move || drop(loaded));
    }
}

/// Locations of properties; those with the same location are one.
fn property_places(loaded: &Loaded, places: &Places<'_>) -> Vec<PropertyPlace> {
    let spans = loaded.model.as_ref().map(|model| model.property_spans()).unwrap_or_default();
    let mut by_span: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    for (index, span) in spans.into_iter().enumerate() {
        if by_span.len() < MAX_PLACES || by_span.contains_key(&span) {
            by_span.entry(span).or_default().push(index + 1);
        }
    }
    let place = |(span, positions): (Span, Vec<usize>)| PropertyPlace {
        file: places.path(loaded.sources.file_of(span)),
        range: places.range(span),
        positions,
    };
    by_span.into_iter().map(place).collect()
}

/// Spans of sources as positions in files.
pub(crate) struct Places<'s> {
    sources: &'s Sources,
    encoding: Encoding,
    uris: &'s HashMap<PathBuf, lsp::Uri>,
    pages: Option<&'s ExplainPages>,
    /// Identities of the files, in the order of the sources.
    paths: Vec<PathBuf>,
    lines: Vec<std::cell::OnceCell<Arc<LineStarts>>>,
}

impl<'s> Places<'s> {
    fn new(sources: &'s Sources, task: &'s AnalysisTask) -> Places<'s> {
        let places = Places::of(sources, task.encoding, &task.uris);
        for ((path, lines), file) in places.paths.iter().zip(&places.lines).zip(sources.files()) {
            let known = task.lines.get(path).filter(|(length, _)| *length == sources.text(file).len());
            if let Some((_, known)) = known {
                _ = lines.set(Arc::clone(known));
            }
        }
        Places { pages: Some(&task.pages), ..places }
    }

    /// Positions in these sources.
    pub(crate) fn of(
        sources: &'s Sources,
        encoding: Encoding,
        uris: &'s HashMap<PathBuf, lsp::Uri>,
    ) -> Places<'s> {
        let paths = sources.names().map(|name| identity(Path::new(name))).collect();
        let lines = sources.files().map(|_| std::cell::OnceCell::new()).collect();
        Places { sources, encoding, uris, pages: None, paths, lines }
    }

    fn index(&self, file: FileId) -> usize {
        self.sources.files().position(|other| other == file).unwrap_or(0)
    }

    /// The path of a file.
    pub(crate) fn path(&self, file: FileId) -> PathBuf {
        self.paths[self.index(file)].clone()
    }

    /// The URI of a path, as the client calls it.
    pub(crate) fn uri(&self, path: &Path) -> lsp::Uri {
        self.uris.get(path).cloned().unwrap_or_else(|| uri_of(path))
    }

    /// The range of a span in its file.
    pub(crate) fn range(&self, span: Span) -> lsp::Range {
        let file = self.sources.file_of(span);
        let text = self.sources.text(file);
        let base = self.sources.span(file).start;
        let lines = self.lines[self.index(file)].get_or_init(|| Arc::new(LineStarts::new(text)));
        lines.range(text, (span.start - base) as usize, (span.end - base) as usize, self.encoding)
    }

    /// The location of a span.
    pub(crate) fn location(&self, span: Span) -> lsp::Location {
        let path = self.path(self.sources.file_of(span));
        lsp::Location { uri: self.uri(&path), range: self.range(span) }
    }

    /// A diagnostic in the form of the protocol.
    fn found(&self, diagnostic: &Diagnostic) -> Found {
        let range = diagnostic.primary.as_ref().map(|label| self.range(label.span)).unwrap_or_default();
        let mut message = diagnostic.message.clone();
        if let Some(label) = diagnostic.primary.as_ref().filter(|label| !label.text.is_empty()) {
            message.push_str(&format!(" ({})", label.text));
        }
        if let Some(help) = &diagnostic.help {
            message.push_str(&format!("\nhelp: {help}"));
        }
        let related = |label: &masque_text::Label| lsp::DiagnosticRelatedInformation {
            location: self.location(label.span),
            message: if label.text.is_empty() { "see here".to_string() } else { label.text.clone() },
        };
        let related: Vec<_> = diagnostic.secondary.iter().map(related).collect();
        let is_unused = diagnostic.code.contains("unused") || diagnostic.code.contains("unreachable");
        let href = self.pages.and_then(|pages| pages.page(diagnostic.code));
        Found {
            diagnostic: lsp::Diagnostic {
                range,
                severity: Some(severity(diagnostic.severity)),
                code: Some(lsp::Code::String(diagnostic.code.to_string())),
                code_description: href.map(|href| lsp::CodeDescription { href }),
                source: Some(SOURCE.to_string()),
                message: lsp::Message::String(message),
                tags: is_unused.then(|| vec![lsp::DiagnosticTag::Unnecessary]),
                related_information: (!related.is_empty()).then_some(related),
                data: None,
            },
            fix: self.fix(diagnostic),
        }
    }

    /// The fix of a diagnostic.
    fn fix(&self, diagnostic: &Diagnostic) -> Option<FoundFix> {
        let fix = diagnostic.fix_in(self.sources)?;
        let edit = |(span, text): &(Span, String)| {
            let path = self.path(self.sources.file_of(*span));
            (path, lsp::TextEdit { range: self.range(*span), new_text: text.clone() })
        };
        Some(FoundFix { title: fix.title.clone(), edits: fix.edits.iter().map(edit).collect() })
    }
}

fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::Error,
        Severity::Warning => lsp::DiagnosticSeverity::Warning,
        Severity::Note => lsp::DiagnosticSeverity::Information,
    }
}

/// The diagnostics of a file in several models, each once, those of the first model first.
pub(crate) fn merged<'a>(all: impl Iterator<Item = &'a Analysis>, file: &Path) -> Vec<&'a Found> {
    let mut merged: Vec<&Found> = Vec::new();
    let mut seen: BTreeSet<(u32, u32, String, String)> = BTreeSet::new();
    for found in all.filter_map(|analysis| analysis.files.get(file)).flatten() {
        let lsp::Diagnostic { range, code, message, .. } = &found.diagnostic;
        let key = (range.start.line, range.start.character, format!("{code:?}"), format!("{message:?}"));
        if seen.insert(key) {
            merged.push(found);
        }
    }
    merged
}
