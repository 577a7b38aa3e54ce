//! The work of a tool call, in a child process of its own (`masque mcp --answer-call`).
//!
//! The process finds the files of the model and the call in its working folder. It writes one line of JSON to its
//! standard output: the structured answer, a text for the client's model, and whether the call failed.

mod check;
mod format;
mod replay;
mod simulate;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use masque_driver::{self as driver, Language, Limits, Loaded, Request};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::replay::TRACE_FILE;
use super::answers::{Marked, Resolved};
use super::parameters::{ModelFile, Settings};

/// Name of the file with the call. Files of models cannot have it.
pub(crate) const CALL_FILE: &str = ".call.json";

/// Maximum number of bytes of the text of an answer.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// A tool call, as the service passes it to a child process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Name of the tool.
    pub tool: String,
    /// Its parameters, which the service has read without an error.
    pub parameters: Value,
    /// Time limit in seconds.
    pub seconds: f64,
    /// Memory limit in bytes.
    pub memory: u64,
    /// Folders that imports are read from, besides the working folder.
    pub roots: Vec<PathBuf>,
}

/// The answer to a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The structured answer.
    pub structured: Value,
    /// What a model needs to continue, in a few lines.
    pub text: String,
    /// Whether the call failed: its texts or its parameters have errors.
    pub is_error: bool,
}

/// Answers the call in the working folder.
///
/// # Errors
///
/// If the call cannot be read, or the answer cannot be written.
pub fn answer_call(out: &mut dyn Write) -> io::Result<()> {
    let job: Job = serde_json::from_slice(&std::fs::read(CALL_FILE)?)?;
    let answer = match job.tool.as_str() {
        "check" => check::check(&job, job.parameters()?)?,
        "why" => check::why(&job, job.parameters()?)?,
        "fmt" => format::format(&job, job.parameters()?)?,
        "simulate" => simulate::simulate(&job, job.parameters()?)?,
        "replay" => replay::replay(&job, job.parameters()?)?,
        other => return Err(io::Error::other(format!("no tool `{other}` is run in a child process"))),
    };
    serde_json::to_writer(&mut *out, &answer)?;
    writeln!(out)
}

impl Job {
    fn parameters<P: DeserializeOwned>(&self) -> io::Result<P> {
        Ok(serde_json::from_value(self.parameters.clone())?)
    }

    /// The limits of the call, from now on.
    fn limits(&self) -> Limits {
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or(Duration::ZERO);
        Limits::new(Some(time), Some(self.memory), &Arc::default())
    }

    /// Loads a model: its first file, or all files of a protocol.
    fn load(&self, files: &[ModelFile], request: Request, limits: &Limits) -> Loaded {
        let names: Vec<PathBuf> = files.iter().map(|file| PathBuf::from(&file.name)).collect();
        let language = names.first().and_then(|first| Language::of_path(first));
        let is_whole = matches!(language, Some(Language::Lcc | Language::Aut));
        let is_part = |name: &PathBuf| {
            matches!(Language::of_path(name), Some(Language::Lcc | Language::Aut))
                || Some(name) == names.first()
        };
        let model: Vec<PathBuf> = if is_whole {
            names.iter().filter(|name| is_part(name)).cloned().collect()
        } else {
            names.into_iter().take(1).collect()
        };
        let roots = std::iter::once(PathBuf::from(".")).chain(self.roots.iter().cloned());
        driver::load_within(&model, &Request { import_roots: roots.collect(), ..request }, limits)
    }

    /// What the call used.
    fn used(&self, files: &[ModelFile], settings: &Settings, loaded: Option<&Loaded>) -> Resolved {
        let given = settings.options.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let mut options: std::collections::BTreeMap<_, _> = given.collect();
        if let Some(loaded) = loaded {
            options.extend(loaded.options.iter().map(|(name, value)| ((*name).to_string(), value.clone())));
        }
        let language = loaded.and_then(|loaded| loaded.language);
        let language = language.or_else(|| Language::of_path(Path::new(&files.first()?.name)));
        Resolved {
            files: files.iter().map(|file| file.name.clone()).collect(),
            language: language.map(|language| language.name().to_string()),
            parameters: loaded.map(|loaded| loaded.parameters.iter().cloned().collect()).unwrap_or_default(),
            options,
            seconds: self.seconds,
            memory: self.memory,
        }
    }
}

/// An answer, with its text cut to a length that a model can read.
fn answer(structured: &impl Serialize, text: String, is_error: bool) -> io::Result<Answer> {
    Ok(Answer { structured: serde_json::to_value(structured)?, text: cut(text), is_error })
}

/// The beginning of a long text, and a note that it is cut.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT_BYTES {
        text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
        text.push_str("\n.. (this text is cut; the structured content has the rest)\n");
    }
    text
}

/// The text about a model that could not be loaded: its messages, and how to continue.
fn refused(loaded: &Loaded, marked: &[Marked]) -> String {
    if let Some(why) = loaded.stopped {
        return format!("The model was not loaded: {}. Ask for less, or raise `limits`.\n", why.word());
    }
    let mut text: String = marked.iter().map(|found| format!("{}\n", found.excerpt)).collect();
    let n_errors = loaded.diagnostics.iter().filter(|found| found.is_error()).count();
    let n_listed = marked.iter().filter(|found| found.severity == "error").count();
    let errors = masque_text::counted(n_errors, "error", "errors");
    let listed =
        if n_listed < n_errors { format!(" (the first {n_listed} are above)") } else { String::new() };
    text.push_str(&format!("The model has {errors}{listed}, so nothing was checked. "));
    let fix = |found: &Marked| {
        let (file, line, fix) = (found.file.as_ref()?, found.line?, found.fix.as_ref()?);
        Some(format!("{file}:{line}: {}", fix.title))
    };
    let fixes: Vec<String> = marked.iter().filter_map(fix).collect();
    if !fixes.is_empty() {
        text.push_str(&format!("Suggested: {}. ", fixes.join("; ")));
    }
    text.push_str("The tool `explain` has a page about each code.\n");
    text
}
