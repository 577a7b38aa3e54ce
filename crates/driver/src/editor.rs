//! Loading and formatting of texts that an editor holds, which may differ from the files on the disk.

use std::path::Path;
use std::sync::Arc;

use masque_text::{Diagnostic, FileId, Library, ReadLimits, Sources, TooLarge};

use crate::check::Limits;
use crate::load::{Input, Loaded};
use crate::{Language, Request, is_properties};

/// Loads a file and its imports, whose texts a library supplies, within limits. A file of properties (`.mu`) is only
/// parsed, because nothing shows which protocol it belongs to.
///
/// ```
/// use std::{path::Path, sync::Arc};
/// use masque_driver::{Disk, Limits, Request, load_from_library};
///
/// let file = Path::new("no/such/file.ispl");
/// let loaded = load_from_library(file, Arc::new(Disk::default()), &Request::default(), &Limits::default());
/// assert_eq!(loaded.diagnostics[0].code, "file/not-found");
/// ```
pub fn load_from_library(
    file: &Path,
    library: Arc<dyn Library>,
    request: &Request,
    limits: &Limits,
) -> Loaded {
    Input::Library(file.to_path_buf(), library, request.clone()).load_within(limits)
}

/// Parses a file of properties.
pub(crate) fn read_properties_alone(loaded: &mut Loaded, text: String) -> Result<(), TooLarge> {
    let file = loaded.sources.add(loaded.name(), text)?;
    let (_, diagnostics) = masque_mu::parse_properties(&loaded.sources, loaded.sources.span(file));
    loaded.diagnostics.extend(diagnostics);
    loaded.texts.files = vec![file];
    Ok(())
}

/// Formats a text in the language of its name, within limits.
///
/// # Errors
///
/// The diagnostics that prevent formatting. AUT files have a fixed layout, and are refused with an empty list, as is
/// a text whose formatting exceeds the limits.
pub fn format_text(name: &str, text: &str, limits: &Limits) -> Result<String, Vec<Diagnostic>> {
    let (name, text) = (name.to_string(), text.to_string());
    crate::reading::within(limits, move |reading| format_read(&name, text, reading))
        .unwrap_or(Err(Vec::new()))
}

fn format_read(name: &str, text: String, limits: ReadLimits) -> Result<String, Vec<Diagnostic>> {
    let mut sources = Sources::with_limits(limits);
    let file: FileId = sources.add(name, text).map_err(|_| Vec::new())?;
    let path = Path::new(name);
    let formatted = match Language::of_path(path) {
        Some(Language::Aut) => return Err(Vec::new()),
        Some(Language::Bdi) => masque_bdi::format(&sources, file),
        Some(Language::Lcc) if is_properties(path) => masque_mu::format(&sources, file),
        Some(Language::Lcc) => masque_lcc::format(&sources, file),
        _ => masque_ispl::format(&sources, file),
    };
    if sources.limits().exceeded().is_some() { Err(Vec::new()) } else { formatted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_texts;

    /// A library of one text.
    #[derive(Debug)]
    struct One(&'static str);

    impl Library for One {
        fn identity(&self, path: &Path) -> std::path::PathBuf {
            path.to_path_buf()
        }

        fn read(&self, _: &Path) -> Result<String, Box<Diagnostic>> {
            Ok(self.0.to_string())
        }
    }

    fn codes(name: &str, text: &'static str) -> Vec<&'static str> {
        let loaded =
            load_from_library(Path::new(name), Arc::new(One(text)), &Request::default(), &Limits::default());
        loaded.diagnostics.iter().map(|found| found.code).collect()
    }

    #[test]
    fn a_text_is_loaded_as_from_a_file() {
        let text = "agent a is loop p := any endloop property possible initially: EF q;";
        let expected: Vec<_> = load_texts(&[("a.bdi", text)], &Request::default())
            .diagnostics
            .iter()
            .map(|found| found.code)
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(codes("a.bdi", text), expected);
    }

    #[test]
    fn properties_alone_are_only_parsed() {
        assert!(codes("a.mu", "p : nu Z . <anything> Z;").is_empty());
        assert_eq!(codes("a.mu", "p : nu Z . <anything Z;").len(), 1);
    }

    #[test]
    fn texts_are_formatted_by_name() {
        let limits = Limits::default();
        assert_eq!(format_text("a.mu", "p:true;", &limits).unwrap(), "p : true ;\n");
        assert!(format_text("a.mu", "p:", &limits).is_err());
        assert!(format_text("a.aut", "des (0,0,1)", &limits).is_err_and(|found| found.is_empty()));
    }
}
