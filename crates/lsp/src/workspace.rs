//! The files of the workspace, and which of them import which.
//!
//! Imports are found by a scan for `import "PATH"` rather than by the parsers: a file with errors still has
//! importers. A comment that looks like an import costs an analysis of one more file, and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use masque_driver::Language;

use crate::overlay::{Overlay, identity};

/// Maximum number of entries of folders that are visited in one workspace.
const MAX_ENTRIES: usize = 20_000;
/// Maximum depth of folders.
const MAX_DEPTH: usize = 12;
/// Maximum number of model files.
const MAX_MODEL_FILES: usize = 5_000;
/// Number of bytes at the beginning of a file that are searched for imports.
const SEARCHED_BYTES: usize = 256 << 10;
/// Maximum number of importers of one file that are analysed with it.
pub(crate) const MAX_ROOTS: usize = 8;

/// What the disk said about a file when it was scanned.
type Stamp = (u64, Option<SystemTime>);

/// The model files of the workspace with their imports.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// Imports of the files on the disk, with the stamps of the scan.
    scanned: BTreeMap<PathBuf, (Stamp, Vec<PathBuf>)>,
    /// Imports of the open documents.
    open: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Workspace {
    /// Scans folders again. Files that have not changed are not read.
    pub fn scan(&self, folders: &[PathBuf]) -> Workspace {
        let mut found = BTreeMap::new();
        let mut n_entries = 0;
        let mut waiting: Vec<(PathBuf, usize)> = folders.iter().map(|folder| (identity(folder), 0)).collect();
        while let Some((folder, depth)) = waiting.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                n_entries += 1;
                if n_entries > MAX_ENTRIES || found.len() >= MAX_MODEL_FILES {
                    return Workspace { scanned: found, open: self.open.clone() };
                }
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                let is_hidden = name.to_string_lossy().starts_with('.');
                if kind.is_dir()
                    && depth < MAX_DEPTH
                    && !is_hidden
                    && name != "node_modules"
                    && name != "target"
                {
                    waiting.push((entry.path(), depth + 1));
                } else if !kind.is_dir() && Language::of_path(&entry.path()).is_some() {
                    self.scan_file(&entry.path(), &mut found);
                }
            }
        }
        Workspace { scanned: found, open: self.open.clone() }
    }

    fn scan_file(&self, path: &Path, found: &mut BTreeMap<PathBuf, (Stamp, Vec<PathBuf>)>) {
        let path = identity(path);
        let Ok(metadata) = fs::metadata(&path) else { return };
        if !metadata.is_file() {
            return;
        }
        let stamp = (metadata.len(), metadata.modified().ok());
        let known = self.scanned.get(&path).filter(|(old, _)| *old == stamp).cloned();
        let scanned = known.unwrap_or_else(|| (stamp, imports_on_disk(&path)));
        found.insert(path, scanned);
    }

    /// Takes the files of a scan, which does not know documents that have changed since. Returns whether files have
    /// appeared, disappeared or changed.
    pub(crate) fn update(&mut self, scanned: Workspace) -> bool {
        let before = std::mem::replace(&mut self.scanned, scanned.scanned);
        before != self.scanned
    }

    /// Sets the imports of an open document from its text.
    pub(crate) fn set_open(&mut self, path: &Path, text: &str) {
        self.open.insert(path.to_path_buf(), imports(path, text));
    }

    /// Forgets an open document. Its imports are those of the file, if it exists.
    pub(crate) fn close(&mut self, path: &Path) {
        self.open.remove(path);
        let mut found = BTreeMap::new();
        self.scan_file(path, &mut found);
        self.scanned.remove(path);
        self.scanned.extend(found);
    }

    /// All model files of the workspace and all open documents.
    pub(crate) fn files(&self) -> BTreeSet<PathBuf> {
        self.scanned.keys().chain(self.open.keys()).cloned().collect()
    }

    /// The files that a file imports.
    fn imports_of(&self, path: &Path) -> &[PathBuf] {
        match self.open.get(path) {
            Some(imports) => imports,
            None => self.scanned.get(path).map_or(&[], |(_, imports)| imports),
        }
    }

    /// A file with all files that it imports, directly or indirectly.
    pub(crate) fn closure(&self, path: &Path) -> BTreeSet<PathBuf> {
        let mut seen = BTreeSet::from([path.to_path_buf()]);
        let mut waiting = vec![path.to_path_buf()];
        while let Some(path) = waiting.pop() {
            for import in self.imports_of(&path) {
                if seen.insert(import.clone()) {
                    waiting.push(import.clone());
                }
            }
        }
        seen
    }

    /// The files whose models contain a file: its importers that nothing imports, or the file itself. Files that
    /// import each other in a cycle are their own models.
    pub(crate) fn roots_of(&self, path: &Path) -> Vec<PathBuf> {
        let all = self.files();
        let mut importers: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
        for file in &all {
            for import in self.imports_of(file).iter().filter(|import| *import != file) {
                importers.entry(import).or_default().push(file);
            }
        }
        let (mut seen, mut waiting, mut roots) = (BTreeSet::from([path]), vec![path], BTreeSet::new());
        while let Some(file) = waiting.pop() {
            let above = importers.get(file).map_or(&[][..], Vec::as_slice);
            if above.is_empty() {
                roots.insert(file.to_path_buf());
            }
            waiting.extend(above.iter().map(|file| file.as_path()).filter(|file| seen.insert(file)));
        }
        if roots.is_empty() {
            roots.insert(path.to_path_buf());
        }
        roots.into_iter().take(MAX_ROOTS).collect()
    }
}

/// The imports of a file on the disk.
fn imports_on_disk(path: &Path) -> Vec<PathBuf> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(SEARCHED_BYTES as u64).read_to_end(&mut bytes));
    if read.is_ok() { imports(path, &String::from_utf8_lossy(&bytes)) } else { Vec::new() }
}

/// The paths that a text imports, joined with the folder of its file.
pub(crate) fn imports(path: &Path, text: &str) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = &text[..crate::lines::floor_boundary(text, SEARCHED_BYTES)];
    let mut found = Vec::new();
    for (at, _) in text.match_indices("import") {
        let is_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let rest = text[at + "import".len()..].trim_start();
        let Some(name) = rest.strip_prefix(['"', '\'']).filter(|_| is_word) else { continue };
        let Some(end) = name.find(['"', '\'', '\n']) else { continue };
        found.push(identity(&folder.join(&name[..end])));
    }
    found
}

/// The texts of a model: a file and what it imports, as far as they can be read.
pub(crate) fn model_texts(files: &BTreeSet<PathBuf>, overlay: &Overlay) -> Vec<(PathBuf, String)> {
    use masque_text::Library;
    files.iter().filter_map(|file| Some((file.clone(), overlay.read(file).ok()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importers_are_found_on_the_disk_and_in_documents() {
        let folder = tempfile::tempdir().unwrap();
        let root = identity(folder.path());
        let write = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        fs::create_dir(root.join("parts")).unwrap();
        write("main.ispl", "import \"parts/a.ispl\"; -- import nothing");
        write("parts/a.ispl", "import \"../b.ispl\";");
        write("b.ispl", "Agent A");
        write("alone.mu", "p : true;");
        let mut workspace = Workspace::default().scan(std::slice::from_ref(&root));
        let b = root.join("b.ispl");
        assert_eq!(workspace.roots_of(&b), [root.join("main.ispl")]);
        assert_eq!(workspace.closure(&root.join("main.ispl")).len(), 3);
        assert_eq!(workspace.roots_of(&root.join("alone.mu")), [root.join("alone.mu")]);
        // A document replaces its file, and a cycle has no importer that nothing imports.
        workspace.set_open(&root.join("parts/a.ispl"), "no longer");
        assert_eq!(workspace.roots_of(&b), std::slice::from_ref(&b));
        workspace.set_open(&b, "import \"b.ispl\"; import \"c.ispl\";");
        workspace.set_open(&root.join("c.ispl"), "import \"b.ispl\";");
        assert_eq!(workspace.roots_of(&b), std::slice::from_ref(&b));
        workspace.close(&root.join("parts/a.ispl"));
        workspace.close(&b);
        workspace.close(&root.join("c.ispl"));
        assert_eq!(workspace.roots_of(&b), [root.join("main.ispl")]);
    }
}
