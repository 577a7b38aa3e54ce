//! The distributed engine, from a loaded file: what its workers are told, and what they make of it.
//!
//! A worker reads the model's text itself, with the same request; so nothing but text and words of
//! options travels, and no engine's data structure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use masque_cluster::{Launch, read_hosts};
use masque_model::{At, Deadlock, Overflow, Strategies, System};
use masque_text::Sources;
use serde::{Deserialize, Serialize};

pub use masque_cluster::{Checkpoints, Cluster, Host, Places, Supervisor, Trouble, Workers, work as work_on};

use crate::{Loaded, Refused, Request, file, load_text};

/// How the workers of a run are started.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where they are.
    pub places: Places,
    /// The program that they are: this one, as a rule.
    pub program: PathBuf,
    /// How long they may take to start.
    pub patience: Duration,
    /// How long one may say nothing before it is taken for lost.
    pub silence: Duration,
    /// Where checkpoints are kept, if they are.
    pub checkpoints: Option<Checkpoints>,
}

/// The hosts of a file, one in a line.
pub fn hosts(path: &Path) -> Result<Vec<Host>, Box<Refused>> {
    let mut sources = Sources::default();
    let name = file::display_name(path);
    let bytes = match file::read_bytes(path, &name) {
        Ok(bytes) => bytes,
        Err(diagnostic) => return Err(Refused { sources, diagnostics: vec![*diagnostic] }.into()),
    };
    // A comment may be in any encoding; in a host what is no text is shown where it stands.
    let text = String::from_utf8_lossy(&bytes);
    let Ok(file) = sources.add(name.as_str(), text.trim_start_matches('\u{feff}')) else {
        return Err(Refused { sources, diagnostics: vec![file::too_large(&name)] }.into());
    };
    let (hosts, diagnostics) = read_hosts(&sources, file);
    match diagnostics.is_empty() {
        true => Ok(hosts),
        false => Err(Refused { sources, diagnostics }.into()),
    }
}

/// The engine for a file; none if the file could not be read.
pub fn engine(loaded: &Loaded, request: &Request, plan: &Plan) -> Option<Cluster> {
    let model = Model::new("", loaded.text()?, request);
    // The name of a file is no part of what it says.
    let number = fingerprint(&model.write());
    let launch = Launch {
        places: plan.places.clone(),
        program: plan.program.clone(),
        patience: plan.patience,
        silence: plan.silence,
        checkpoints: plan.checkpoints.clone(),
        model: number,
        payload: Model { name: loaded.name.clone(), ..model }.write(),
    };
    Some(Cluster::new(Workers::Processes(Arc::new(launch))))
}

/// Works for a supervisor until it needs nothing more. An error is one line.
pub fn work(supervisor: &Supervisor) -> Result<(), String> {
    work_on(supervisor, |payload| {
        let model = serde_json::from_str::<Model>(payload).map_err(|error| error.to_string())?;
        model.load().ok_or_else(|| "the model does not load here as it does there".to_string())
    })
}

/// A model and what is asked of it, as they travel.
#[derive(Debug, Serialize, Deserialize)]
struct Model {
    name: String,
    text: String,
    defines: Vec<String>,
    properties: Vec<String>,
    /// The options that change its meaning, by name.
    options: Vec<(String, String)>,
}

impl Model {
    fn new(name: &str, text: &str, request: &Request) -> Model {
        let options = request.options().into_iter();
        Model {
            name: name.to_string(),
            text: text.to_string(),
            defines: request.defines.clone(),
            properties: request.properties.clone(),
            options: options.map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        }
    }

    fn write(&self) -> String {
        // Strings and lists of strings: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn load(self) -> Option<Arc<System>> {
        let request = self.request()?;
        load_text(&self.name, &self.text, &request).system
    }

    /// The request that made the options; none if it is from another version.
    fn request(&self) -> Option<Request> {
        let mut request = Request {
            defines: self.defines.clone(),
            properties: self.properties.clone(),
            ..Request::default()
        };
        for (name, value) in &self.options {
            match name.as_str() {
                "at" => request.at = Some(among([At::Initial, At::Reachable], At::name, value)?),
                "deadlock" => {
                    let all = [Deadlock::Finite, Deadlock::Stutter, Deadlock::Error];
                    request.deadlock = Some(among(all, Request::deadlock_word, value)?);
                }
                "overflow" => {
                    let all = [Overflow::Drop, Overflow::Error];
                    request.overflow = Some(among(all, Request::overflow_word, value)?);
                }
                "strategies" => {
                    let all = [
                        Strategies::Perfect,
                        Strategies::Uniform,
                        Strategies::UniformJoint,
                        Strategies::UniformObjective,
                    ];
                    request.strategies = Some(among(all, Strategies::name, value)?);
                }
                _ => return None,
            }
        }
        Some(request)
    }
}

/// The value of a word.
fn among<T: Copy, const N: usize>(all: [T; N], word: fn(T) -> &'static str, value: &str) -> Option<T> {
    all.into_iter().find(|&candidate| word(candidate) == value)
}

/// A number for a text, to tell models apart. [FNV-1a]
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back() {
        let full = Request {
            defines: vec!["N=3".to_string()],
            properties: vec!["EF lit".to_string()],
            at: Some(At::Reachable),
            deadlock: Some(Deadlock::Stutter),
            overflow: Some(Overflow::Error),
            strategies: Some(Strategies::UniformJoint),
        };
        for request in [Request::default(), full] {
            let text = Model::new("m.ispl", "-- \"text\"", &request).write();
            let model: Model = serde_json::from_str(&text).unwrap();
            assert_eq!(format!("{:?}", model.request()), format!("{:?}", Some(request)));
            assert_eq!(model.text, "-- \"text\"");
        }
        let strange = Model {
            options: vec![("at".to_string(), "noon".to_string())],
            ..Model::new("", "", &Request::default())
        };
        assert!(strange.request().is_none());
    }
}
