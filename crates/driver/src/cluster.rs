//! The distributed engine, from a loaded file: what its workers are told, and what they make of it.
//!
//! A worker reads the model's text itself, with the same request; so nothing but text and words of
//! options travels, and no engine's data structure.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use masque_cluster::{Launch, read_hosts};
use masque_text::Sources;
use serde::{Deserialize, Serialize};

pub use masque_cluster::{Checkpoints, Cluster, Host, Places, Supervisor, Trouble, Workers, work as work_on};

use crate::check::{Limits, Progress, Run};
use crate::engines::{CLUSTER, EngineChoice, EngineOptions};
use crate::{Loaded, Refused, Request, file, load_text, supervise};

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

/// Checks a loaded system with the processes of the request's plan, and ends them.
pub(crate) fn check(loaded: &Loaded, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> Run {
    let (system, plan) = (loaded.system(), loaded.request.work.cluster.as_ref());
    let Some(((system, plan), text)) = system.zip(plan).zip(loaded.text()) else { return Run::default() };
    let cluster = engine(&Sent { name: loaded.name(), text, request: &loaded.request }, plan);
    let options = EngineOptions { cluster: Some(cluster.clone()), ..loaded.engine_options.clone() };
    let options = EngineOptions { choice: EngineChoice::Named(CLUSTER), ..options };
    let run = supervise::check(system, &options, limits, observe);
    // Once the workers have ended, a check that was left behind has nothing true to say.
    let trouble = cluster.trouble().message();
    cluster.end();
    Run { trouble, ..run }
}

fn engine(model: &Sent<'_>, plan: &Plan) -> Cluster {
    // The name of a file is no part of what it says.
    let fingerprint = fingerprint(&Sent { name: String::new(), ..model.clone() }.to_json());
    let launch = Launch {
        places: plan.places.clone(),
        program: plan.program.clone(),
        patience: plan.patience,
        silence: plan.silence,
        checkpoints: plan.checkpoints.clone(),
        model: fingerprint,
        payload: model.to_json(),
    };
    Cluster::new(Workers::Processes(Arc::new(launch)))
}

/// Works for a supervisor until it needs nothing more. An error is one line.
pub fn work(supervisor: &Supervisor) -> Result<(), String> {
    work_on(supervisor, |payload| {
        let model = serde_json::from_str::<Received>(payload).map_err(|error| error.to_string())?;
        let loaded = load_text(&model.name, &model.text, &model.request);
        loaded.system().cloned().ok_or_else(|| "the model does not load here as it does there".to_string())
    })
}

/// A model and what is asked of it, as they are sent.
#[derive(Clone, Serialize)]
struct Sent<'a> {
    name: String,
    text: &'a str,
    request: &'a Request,
}

impl Sent<'_> {
    fn to_json(&self) -> String {
        // Texts and lists of texts: there is nothing that could not be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A model and what is asked of it, as they arrive.
#[derive(Deserialize)]
struct Received {
    name: String,
    text: String,
    request: Request,
}

/// A number for a text, to tell models apart. [FNV-1a]
fn fingerprint(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
