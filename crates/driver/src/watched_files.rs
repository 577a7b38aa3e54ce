//! The files that a loaded model depends on.

use std::path::{Path, PathBuf};

use masque_text::Diagnostic;

use crate::load::Loaded;
use crate::order::OrderChoice;

impl Loaded {
    /// The files that the model was read from: those that the user named, their imports, and imports that
    /// could not be found. If one of them changes, the result of loading may change.
    pub fn watched_files(&self) -> Vec<PathBuf> {
        let named = self.names.iter().map(String::as_str).chain(self.sources.names());
        let mut files: Vec<PathBuf> = named.filter(|name| !is_no_file(name)).map(PathBuf::from).collect();
        files.extend(self.diagnostics.iter().filter_map(|diagnostic| self.missing_import(diagnostic)));
        files.extend(self.request.property_files.iter().cloned());
        if let OrderChoice::File(path) = &self.request.work.order {
            files.push(path.into());
        }
        files.sort_unstable();
        files.dedup();
        files
    }

    /// The file that an import names, if the diagnostic says that it does not exist.
    fn missing_import(&self, diagnostic: &Diagnostic) -> Option<PathBuf> {
        let primary =
            diagnostic.primary.as_ref().filter(|_| diagnostic.code.ends_with("/import-not-found"))?;
        let importing = Path::new(self.sources.name(self.sources.file_of(primary.span)));
        let path = self.sources.slice(primary.span).trim_matches('"');
        Some(importing.parent()?.join(path))
    }
}

/// Whether a name of a text is not that of a file: `<stdin>`, `<--property>`.
fn is_no_file(name: &str) -> bool {
    name.starts_with('<') && name.ends_with('>')
}

#[cfg(test)]
mod tests {
    use crate::{Request, load};

    #[test]
    fn imports_are_watched_even_if_they_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let team = folder.path().join("team.lcc");
        let text =
            "import \"lib/there.pol\". import \"lib/missing.pol\". a(hen, H) :: null. agent a(hen, h).";
        std::fs::create_dir(folder.path().join("lib")).unwrap();
        std::fs::write(&team, text).unwrap();
        std::fs::write(folder.path().join("lib/there.pol"), "common fed.").unwrap();
        let request = Request { properties: vec!["AF final".to_string()], ..Request::default() };
        let files = load(&[&team], &request).watched_files();
        let expected = ["lib/missing.pol", "lib/there.pol", "team.lcc"].map(|name| folder.path().join(name));
        assert_eq!(files, expected);
    }
}
