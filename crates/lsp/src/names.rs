//! The names of a model, from the index that its language builds on the half-good syntax tree.
//!
//! [`index`] is the only place that calls the languages.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gen_lsp_types as lsp;
use masque_driver::Sources;
use masque_text::{Declaration, FileId, Library, NameIndex, ReadLimits, Span};

use crate::analysis::Places;
use crate::lines::Encoding;
use crate::overlay::{Overlay, identity};
use crate::words::Tongue;

/// Largest file whose names are found, in bytes.
pub(crate) const MAX_INDEXED_BYTES: usize = 4 << 20;
/// Time that finding names may take.
const MAX_INDEX_TIME: Duration = Duration::from_secs(2);

/// Builds the index of a file and its imports. The path shows the language.
fn index(path: &Path, sources: &mut Sources, file: FileId, library: &dyn Library) -> NameIndex {
    match Tongue::of(path) {
        Tongue::Ispl => masque_ispl::names(sources, file, library),
        Tongue::Bdi => masque_bdi::names(sources, file, library),
        Tongue::Lcc => masque_lcc::names(sources, file, library),
        Tongue::Mu => masque_mu::names(sources, file, library),
        Tongue::Aut => NameIndex::default(),
    }
}

/// The names of one model, with the texts that they lie in.
#[derive(Debug)]
pub(crate) struct ModelNames {
    pub(crate) sources: Sources,
    pub(crate) index: NameIndex,
    /// Files by their identities.
    files: HashMap<PathBuf, FileId>,
}

impl ModelNames {
    /// Finds the names of a model; none if its file cannot be read or is too large.
    pub(crate) fn new(root: &Path, overlay: &Overlay) -> Option<ModelNames> {
        let text = overlay.read(root).ok().filter(|text| text.len() <= MAX_INDEXED_BYTES)?;
        let limits = ReadLimits::default().with_deadline(Instant::now().checked_add(MAX_INDEX_TIME));
        let mut sources = Sources::with_limits(limits);
        let file = sources.add(root.display().to_string(), text).ok()?;
        let index = index(root, &mut sources, file, overlay);
        let mut files = HashMap::new();
        for (name, file) in sources.names().zip(sources.files()) {
            files.entry(identity(Path::new(name))).or_insert(file);
        }
        (sources.limits().exceeded().is_none()).then_some(ModelNames { sources, index, files })
    }

    /// The position in the sources of an offset in a file.
    pub(crate) fn position(&self, file: &Path, offset: usize) -> Option<u32> {
        let span = self.sources.span(*self.files.get(file)?);
        Some((span.start + offset as u32).min(span.end))
    }

    /// The file of the sources with this path.
    pub(crate) fn file(&self, path: &Path) -> Option<FileId> {
        self.files.get(path).copied()
    }

    /// The declaration at an offset of a file, as its place in the index, and the location of the name there.
    pub(crate) fn at(&self, file: &Path, offset: usize) -> Option<(u32, Span)> {
        let found = self.index.at(self.position(file, offset)?)?;
        ((found.declaration as usize) < self.index.declarations.len())
            .then_some((found.declaration, found.span))
    }

    /// A declaration.
    pub(crate) fn declaration(&self, place: u32) -> &Declaration {
        &self.index.declarations[place as usize]
    }

    /// The declarations of a file, with their places in the index.
    pub(crate) fn declared_in(&self, path: &Path) -> impl Iterator<Item = (u32, &Declaration)> {
        let span = self.file(path).map(|file| self.sources.span(file));
        let is_inside = move |declaration: &Declaration| {
            span.is_some_and(|span| span.start <= declaration.span.start && declaration.span.end <= span.end)
        };
        (0u32..).zip(&self.index.declarations).filter(move |(_, declaration)| is_inside(declaration))
    }

    /// Positions in the sources of this model.
    pub(crate) fn places<'a>(
        &'a self,
        encoding: Encoding,
        uris: &'a HashMap<PathBuf, lsp::Uri>,
    ) -> Places<'a> {
        Places::of(&self.sources, encoding, uris)
    }
}

/// All occurrences of the name at an offset of a file, in all models that contain the file. A declaration is the same
/// in two models if it has the same location.
pub(crate) fn occurrences(
    models: &[std::sync::Arc<ModelNames>],
    file: &Path,
    offset: usize,
    encoding: Encoding,
    uris: &HashMap<PathBuf, lsp::Uri>,
) -> Option<Occurrences> {
    let mut found: Option<Occurrences> = None;
    for model in models {
        let Some((declaration, here)) = model.at(file, offset) else { continue };
        let places = model.places(encoding, uris);
        let name = model.declaration(declaration);
        let declared = places.location(name.span);
        let all = found.get_or_insert_with(|| Occurrences {
            name: name.name.clone(),
            here: places.range(here),
            declared: declared.clone(),
            whole: places.location(name.whole),
            uses: BTreeSet::new(),
        });
        if all.declared != declared {
            continue;
        }
        for span in model.index.uses_of(declaration) {
            let path = places.path(model.sources.file_of(span));
            let range = places.range(span);
            all.uses.insert((path, ranged(range)));
        }
    }
    found
}

/// A range that can be sorted: lines and characters of its start and its end.
pub(crate) type SortedRange = (u32, u32, u32, u32);

/// The range as numbers.
pub(crate) fn ranged(range: lsp::Range) -> SortedRange {
    (range.start.line, range.start.character, range.end.line, range.end.character)
}

/// The range of numbers.
pub(crate) fn unranged((line, character, end_line, end_character): SortedRange) -> lsp::Range {
    lsp::Range {
        start: lsp::Position { line, character },
        end: lsp::Position { line: end_line, character: end_character },
    }
}

/// A name, its declaration and all its occurrences.
#[derive(Debug)]
pub(crate) struct Occurrences {
    pub(crate) name: String,
    /// Range of the name at the position that was asked about.
    pub(crate) here: lsp::Range,
    /// Location of the name in its declaration.
    pub(crate) declared: lsp::Location,
    /// Location of the whole declaration.
    pub(crate) whole: lsp::Location,
    /// Files and ranges, that of the declaration included.
    pub(crate) uses: BTreeSet<(PathBuf, SortedRange)>,
}
