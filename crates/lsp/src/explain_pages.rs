//! Pages about the codes of diagnostics, as files that editors open.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use gen_lsp_types::Uri;

use crate::cache_limits;
use crate::uri::uri_of;

/// Writes the page of a code, as `masque explain` prints it, when a diagnostic first needs it.
#[derive(Debug, Default)]
pub(crate) struct ExplainPages {
    folder: Option<PathBuf>,
    /// The pages that exist; none for a code without a page, or one that could not be written.
    written: Mutex<HashMap<&'static str, Option<Uri>>>,
}

impl ExplainPages {
    /// Pages in a folder of the user's cache; no pages without one.
    pub(crate) fn new(cache: Option<&Path>) -> ExplainPages {
        ExplainPages { folder: cache.map(|cache| cache.join("explain")), written: Mutex::default() }
    }

    /// The page of a code.
    pub(crate) fn page(&self, code: &'static str) -> Option<Uri> {
        let mut written = self.written.lock().ok()?;
        if let (true, Some(folder)) = (written.is_empty(), &self.folder) {
            cache_limits::EXPLANATIONS.enforce(folder);
        }
        written.entry(code).or_insert_with(|| self.write(code)).clone()
    }

    fn write(&self, code: &str) -> Option<Uri> {
        let page = masque_driver::explain(code)?;
        let folder = self.folder.as_ref()?;
        let path = folder.join(format!("{}.md", code.replace('/', "-")));
        let text = format!("# {code}\n\n{page}\n");
        // The page of an older version of Masque is replaced.
        if fs::read_to_string(&path).is_ok_and(|old| old == text) {
            // A page that is used stays.
            let now = SystemTime::now();
            _ = fs::File::options().append(true).open(&path).and_then(|file| file.set_modified(now));
            return Some(uri_of(&path));
        }
        fs::create_dir_all(folder).ok()?;
        let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
        std::io::Write::write_all(&mut file, text.as_bytes()).ok()?;
        file.persist(&path).ok()?;
        Some(uri_of(&path))
    }
}

/// The folder of Masque in the cache of the user.
pub fn user_cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = if cfg!(windows) {
        variable("LOCALAPPDATA")?
    } else if cfg!(target_os = "macos") {
        variable("HOME")?.join("Library/Caches")
    } else {
        variable("XDG_CACHE_HOME")
            .filter(|path| path.is_absolute())
            .or_else(|| Some(variable("HOME")?.join(".cache")))?
    };
    Some(folder.join("masque"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_what_explain_prints() {
        let folder = tempfile::tempdir().unwrap();
        let pages = ExplainPages::new(Some(folder.path()));
        let uri = pages.page("file/not-found").unwrap();
        let text = fs::read_to_string(crate::uri::file_path(&uri).unwrap()).unwrap();
        assert!(text.contains(masque_driver::explain("file/not-found").unwrap()));
        assert_eq!(pages.page("file/no-such-code"), None);
        // Another server finds the page, and removes one that was not used for a long time.
        let old = folder.path().join("explain/old-code.md");
        let age = cache_limits::EXPLANATIONS.max_age * 2;
        fs::File::create(&old).unwrap().set_modified(SystemTime::now() - age).unwrap();
        let path = crate::uri::file_path(&uri).unwrap();
        fs::File::options()
            .append(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::now() - age / 4)
            .unwrap();
        assert_eq!(ExplainPages::new(Some(folder.path())).page("file/not-found"), Some(uri));
        assert!(!old.exists());
        let used = fs::metadata(&path).unwrap().modified().unwrap();
        assert!(used > SystemTime::now() - age / 8);
        assert_eq!(ExplainPages::new(None).page("file/not-found"), None);
    }
}
