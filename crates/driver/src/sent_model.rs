//! A model as texts: the file of the model, its imports and its property files, and what is asked of it.
//!
//! It is sent to other `masque` processes, which load the texts themselves, so no engine's data structure is
//! sent and no file has to exist where they run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use masque_text::{Diagnostic, FileId, Library, NoFiles, ReadLimits, without_dots};
use serde::{Deserialize, Serialize};

use crate::check::Limits;
use crate::imports;
use crate::load::{Input, Loaded};
use crate::request::Request;

/// A text with its name.
pub(crate) type NamedText = (String, String);

/// The texts of a loaded model, among the sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelTexts {
    /// The first file of the model, then the files that belong to it.
    pub(crate) files: Vec<FileId>,
    /// Every imported path, joined with the folder of the importing file, and the index of its file.
    pub(crate) imports: Vec<(String, usize)>,
    /// The files of properties.
    pub(crate) properties: Vec<FileId>,
}

/// A model as texts, and what is asked of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentModel {
    /// The file of the model, then texts that it may import.
    files: Vec<NamedText>,
    /// Paths of imports and the indices of their files. Other imports find a text by its name.
    imports: Vec<(String, usize)>,
    /// Files of properties.
    properties: Vec<NamedText>,
    pub(crate) request: Request,
}

impl SentModel {
    /// The texts of a loaded model with another request; none if the model could not be read.
    pub(crate) fn new(loaded: &Loaded, request: &Request) -> Option<SentModel> {
        let ModelTexts { files, imports, properties } = &loaded.texts;
        let named =
            |file: &FileId| (loaded.sources.name(*file).to_string(), loaded.sources.text(*file).to_string());
        let named = |files: &[FileId]| files.iter().map(named).collect::<Vec<NamedText>>();
        // The texts are complete, so the receiver reads no files.
        let request = Request { property_files: Vec::new(), import_roots: Vec::new(), ..request.clone() };
        let (files, imports, properties) = (named(files), imports.clone(), named(properties));
        (!files.is_empty()).then_some(SentModel { files, imports, properties, request })
    }

    /// A text, and further texts that it may import by their names.
    pub(crate) fn of_texts(texts: &[(&str, &str)], request: &Request) -> SentModel {
        let owned = |(name, text): &(&str, &str)| (name.to_string(), text.to_string());
        SentModel {
            files: texts.iter().map(owned).collect(),
            imports: Vec::new(),
            properties: Vec::new(),
            request: request.clone(),
        }
    }

    /// The same texts with another request.
    pub(crate) fn with_request(&self, request: Request) -> SentModel {
        SentModel { request, ..self.clone() }
    }

    /// The name of the model: that of its first text.
    pub(crate) fn name(&self) -> &str {
        self.files.first().map_or("", |(name, _)| name)
    }

    /// The first text, which imports the others, the library that contains them, and the texts with properties.
    pub(crate) fn open(
        self,
        limits: &ReadLimits,
    ) -> Result<(NamedText, GivenTexts, Vec<NamedText>), Box<Diagnostic>> {
        let roots = &self.request.import_roots;
        let others: Box<dyn Library> =
            if roots.is_empty() { Box::new(NoFiles) } else { imports::library(roots, limits)? };
        let mut files = self.files;
        let first = if files.is_empty() { NamedText::default() } else { files.remove(0) };
        let names = files.iter().enumerate().map(|(index, (name, _))| (without_dots(Path::new(name)), index));
        let mut paths: HashMap<PathBuf, usize> = names.collect();
        // The first file has the index 0 in `imports`; nothing imports it.
        paths.extend(
            self.imports.into_iter().filter_map(|(path, index)| Some((path.into(), index.checked_sub(1)?))),
        );
        Ok((first, GivenTexts { files, paths, others }, self.properties))
    }

    /// A text that changes with everything that determines the meaning of the model: all texts, which of them
    /// each import names, and the request. A file may be renamed.
    pub(crate) fn content(&self) -> String {
        let texts = |texts: &[NamedText]| texts.iter().map(|(_, text)| text.clone()).collect::<Vec<String>>();
        let targets: Vec<usize> = self.imports.iter().map(|(_, index)| *index).collect();
        to_json(&(texts(&self.files), targets, texts(&self.properties), &self.request))
    }

    /// The model as JSON, for another process.
    pub(crate) fn to_json(&self) -> String {
        to_json(self)
    }

    /// Loads the model in the process that received it.
    pub(crate) fn load(self) -> Loaded {
        Input::Texts(self).load(ReadLimits::default())
    }

    /// Loads the model within limits.
    pub(crate) fn load_within(self, limits: &Limits) -> Loaded {
        Input::Texts(self).load_within(limits)
    }
}

fn to_json(value: &impl Serialize) -> String {
    // A model consists of texts and lists of texts, so writing it cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

/// Texts that are given together with the text that imports them, and then the files of another library.
#[derive(Debug)]
pub(crate) struct GivenTexts {
    files: Vec<NamedText>,
    /// Indices of the texts by the paths that name them.
    paths: HashMap<PathBuf, usize>,
    others: Box<dyn Library>,
}

impl GivenTexts {
    fn index(&self, path: &Path) -> Option<usize> {
        let index = self.paths.get(path).or_else(|| self.paths.get(&without_dots(path)));
        index.copied().filter(|index| *index < self.files.len())
    }
}

impl Library for GivenTexts {
    fn identity(&self, path: &Path) -> PathBuf {
        match self.index(path) {
            Some(index) => PathBuf::from(format!("<text {index}>")),
            None => self.others.identity(path),
        }
    }

    fn read(&self, path: &Path) -> Result<String, Box<Diagnostic>> {
        match self.index(path) {
            Some(index) => Ok(self.files[index].1.clone()),
            None => self.others.read(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_texts;

    const AGENTS: &str = "Agent Light Vars: on : boolean; end Vars Actions = {switch};
        Protocol: Other : {switch}; end Protocol
        Evolution: on = ~on if Action = switch; end Evolution end Agent
        InitStates !Light.on; end InitStates";
    const MAIN: &str = "import \"parts/agents.ispl\"; Formulae EF Light.on; end Formulae";

    fn sent(agents: &str, main: &str) -> SentModel {
        let texts = [("models/main.ispl", main), ("models/parts/agents.ispl", agents)];
        let loaded = load_texts(&texts, &Request::default());
        assert!(!loaded.has_errors(), "{:?}", loaded.diagnostics);
        SentModel::new(&loaded, &Request::default()).unwrap()
    }

    /// A process that receives the model loads the same files, without the disk.
    #[test]
    fn imports_are_sent() {
        let sent = sent(AGENTS, MAIN);
        let received: SentModel = serde_json::from_str(&sent.to_json()).unwrap();
        let loaded = received.load();
        assert_eq!(loaded.names, ["models/main.ispl", "models/parts/agents.ispl"]);
        assert_eq!(loaded.system().unwrap().properties.len(), 1);
    }

    /// Checkpoints are refused if an imported file has changed, and accepted if the folder was renamed.
    #[test]
    fn the_content_includes_imports() {
        let content = sent(AGENTS, MAIN).content();
        assert_eq!(content, sent(AGENTS, MAIN).content());
        assert_ne!(content, sent(&AGENTS.replace("!Light", "Light"), MAIN).content());
        let texts = [("main.ispl", MAIN), ("parts/agents.ispl", AGENTS)];
        let moved = load_texts(&texts, &Request::default());
        assert_eq!(content, SentModel::new(&moved, &Request::default()).unwrap().content());
    }
}
