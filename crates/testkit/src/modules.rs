//! Models of several files: texts that can be imported, and random divisions of a model into modules.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use masque_text::{Diagnostic, Library, NoFiles, without_dots};

/// Texts that can be imported, by name.
#[derive(Debug, Default)]
pub struct TextLibrary(pub BTreeMap<PathBuf, String>);

impl TextLibrary {
    /// The library of these texts, each given with its name.
    pub fn new(texts: &[(&str, &str)]) -> TextLibrary {
        TextLibrary(
            texts.iter().map(|(name, text)| (without_dots(Path::new(name)), text.to_string())).collect(),
        )
    }
}

impl Library for TextLibrary {
    fn identity(&self, path: &Path) -> PathBuf {
        without_dots(path)
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        self.0.get(&without_dots(path)).cloned().map_or_else(|| NoFiles.read(path), Ok)
    }
}

/// The files of the disk, with other texts in place of some: the buffers of an editor.
#[derive(Debug, Default)]
pub struct OpenFiles(pub BTreeMap<PathBuf, String>);

impl Library for OpenFiles {
    fn identity(&self, path: &Path) -> PathBuf {
        without_dots(path)
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        match self.0.get(&without_dots(path)) {
            Some(text) => Ok(text.clone()),
            None => std::fs::read_to_string(path).or_else(|_| NoFiles.read(path)),
        }
    }
}

/// Writes files below a folder, each with its path there and its text, and creates their folders.
///
/// # Panics
///
/// If a file cannot be written.
pub fn write_files(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(folder)).expect("a folder is created");
        std::fs::write(path, text).expect("a file is written");
    }
}

/// The files of an example in a document: one, which is called `name`, or several that begin with `sign` and the
/// name of the file.
///
/// ```
/// let text = "-- file: a.ispl\nimport \"b.ispl\";\n-- file: b.ispl\nparam N;\n";
/// let files = masque_testkit::example_files(text, "-- file: ", "example.ispl");
/// assert_eq!(files, [("a.ispl", "import \"b.ispl\";\n"), ("b.ispl", "param N;\n")]);
/// ```
pub fn example_files<'t>(text: &'t str, sign: &str, name: &'t str) -> Vec<(&'t str, &'t str)> {
    match text.strip_prefix(sign) {
        Some(text) => text.split(sign).filter_map(|file| file.split_once('\n')).collect(),
        None => vec![(name, text)],
    }
}

/// Words that begin a section of an ISPL file.
const HEADINGS: [&str; 8] =
    ["param", "Semantics", "Agent", "Evaluation", "InitStates", "Groups", "Fairness", "Formulae"];

/// Divides an ISPL model into two to five modules with imports, or a few more where definitions or formulas are
/// divided. The sections keep their order, so that the modules
/// mean the same model, agent by agent. Some modules are imported several times. The first file is the one to
/// check. A seed determines the division.
///
/// The text must have headings at the beginning of a line, as generators print them.
pub fn split_into_modules(text: &str, seed: u64) -> Vec<(String, String)> {
    let mut rng = Rng::with_seed(seed);
    let mut splitter = Splitter {
        n_modules: rng.usize(2..=5),
        params: text.lines().filter_map(param).map(str::to_string).collect(),
        semantics: text.lines().find(|line| line.starts_with("Semantics")).map(str::to_string),
        complete: Vec::new(),
        files: vec![(String::new(), String::new())],
        rng,
    };
    let name = splitter.name(0);
    let sections: Vec<Section> =
        sections(text).into_iter().flat_map(|section| halves(section, &mut splitter.rng)).collect();
    splitter.files[0] = (name.clone(), String::new());
    let body = splitter.module(&name, &sections);
    splitter.files[0].1 = body;
    splitter.files
}

/// The name of the parameter that a line declares.
fn param(line: &str) -> Option<&str> {
    line.strip_prefix("param ")?.split([' ', '=', ';']).next()
}

/// The sections of a text; lines before a heading belong to the section before it.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut position = 0;
    for line in text.split_inclusive('\n') {
        let word = line.split([' ', ':', '\n']).next().unwrap_or_default();
        if HEADINGS.contains(&word) {
            starts.push(position);
        }
        position += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// A section of a file.
#[derive(Clone, Debug)]
struct Section {
    text: String,
    /// Whether another section of the same kind precedes it, so that it needs a file of its own.
    is_second: bool,
}

/// Divides the definitions or formulas of a section into two sections, if they are one per line; or returns the
/// section.
fn halves(section: &str, rng: &mut Rng) -> Vec<Section> {
    let lines: Vec<&str> = section.lines().collect();
    let is_statement = |line: &&str| line.trim_end().ends_with(';') && !line.trim_start().starts_with("for ");
    let whole = Section { text: section.to_string(), is_second: false };
    match lines[..] {
        [heading @ ("Evaluation" | "Formulae"), ref statements @ .., end]
            if statements.len() >= 2 && statements.iter().all(is_statement) && rng.bool() =>
        {
            let (first, second) = statements.split_at(rng.usize(1..statements.len()));
            let part = |lines: &[&str], is_second| {
                let text = format!("{heading}\n{}\n{end}\n", lines.join("\n"));
                Section { text, is_second }
            };
            vec![part(first, false), part(second, true)]
        }
        _ => vec![whole],
    }
}

struct Splitter {
    rng: Rng,
    /// Number of files to make.
    n_modules: usize,
    /// Names of the parameters of the model.
    params: Vec<String>,
    /// The line that declares the semantics.
    semantics: Option<String>,
    /// Names of modules whose sections all stand before the current place: importing them again adds nothing.
    complete: Vec<String>,
    files: Vec<(String, String)>,
}

impl Splitter {
    fn name(&mut self, number: usize) -> String {
        let folder = ["", "parts/", "parts/deep/", "other/"][self.rng.usize(..4)];
        format!("{folder}m{number}.ispl")
    }

    /// The text of a module with these sections. Some of them go into further modules.
    fn module(&mut self, name: &str, sections: &[Section]) -> String {
        let mut text = String::new();
        let mut index = 0;
        while index < sections.len() {
            self.repeat(name, &mut text);
            let n_sections = self.rng.usize(1..=sections.len() - index);
            let has_room = self.files.len() < self.n_modules;
            if sections[index].is_second {
                let alone = Section { is_second: false, ..sections[index].clone() };
                self.import_new(name, &[alone], &mut text);
                index += 1;
            } else if has_room && self.rng.u8(..3) > 0 {
                self.import_new(name, &sections[index..index + n_sections], &mut text);
                index += n_sections;
            } else {
                text += &sections[index].text;
                index += 1;
            }
        }
        self.repeat(name, &mut text);
        text
    }

    /// Puts sections into a new module, and imports it.
    fn import_new(&mut self, importer: &str, sections: &[Section], text: &mut String) {
        let name = self.name(self.files.len());
        let place = self.files.len();
        self.files.push((name.clone(), String::new()));
        let mut body = self.module(&name, sections);
        // A module may say again what holds for the whole model.
        let declared: Vec<&str> = body.lines().filter_map(param).collect();
        let more: Vec<String> =
            self.params.iter().filter(|name| !declared.contains(&name.as_str())).cloned().collect();
        for param in more.iter().filter(|_| self.rng.bool()) {
            body = format!("param {param};\n{body}");
        }
        if let Some(semantics) = self.semantics.clone().filter(|line| !body.contains(line.as_str()))
            && self.rng.bool()
        {
            body += &format!("\n{semantics}\n");
        }
        if !body.contains("InitStates") && self.rng.bool() {
            body += "InitStates\n  true;\nend InitStates\n";
        }
        self.files[place].1 = body;
        _ = writeln!(text, "import \"{}\";", relative(importer, &name));
        self.complete.push(name);
    }

    /// Imports a module again, perhaps.
    fn repeat(&mut self, importer: &str, text: &mut String) {
        if !self.complete.is_empty() && self.rng.u8(..4) == 0 {
            let again = self.rng.usize(..self.complete.len());
            _ = writeln!(text, "import \"{}\";", relative(importer, &self.complete[again]));
        }
    }
}

/// The path of a file, seen from the folder of another one.
fn relative(from: &str, to: &str) -> String {
    "../".repeat(from.matches('/').count()) + to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_of_all_kinds() {
        let all: Vec<_> = (0..50).map(|seed| split_into_modules(&crate::random_model(seed), seed)).collect();
        for n_files in 2..=5 {
            assert!(all.iter().any(|files| files.len() == n_files), "{n_files}");
        }
        let is_diamond = |files: &Vec<(String, String)>| {
            let imports = files.iter().flat_map(|(_, text)| text.lines()).filter(|l| l.starts_with("import"));
            imports.count() >= files.len()
        };
        assert!(all.iter().filter(|files| is_diamond(files)).count() >= 5);
    }
}
