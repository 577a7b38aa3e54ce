//! Checks with the distributed engine: how its workers are started, and how they load the model.
//!
//! A worker receives the text of the model and the request, and loads the model itself.

use std::path::Path;
use std::sync::Arc;

use masque_cluster::{Digest, Launch, read_hosts};
use masque_text::{ReadLimits, Sources, printable};

pub use masque_cluster::{
    Checkpoints, Cluster, Host, Placement, Plan, Supervisor, Token, WorkerFailure, Workers, work as work_on,
};

use crate::check::{Limits, Progress, Run};
use crate::engines::{CLUSTER, EngineChoice, EngineOptions};
use crate::sent_model::SentModel;
use crate::{Loaded, Refused, file, reading, supervise};

/// The version, and a hash of the sources that define what a checkpoint means. Supervisor, workers and
/// checkpoints must have the same.
pub const BUILD: &str = env!("MASQUE_BUILD");

/// Maximum size of a file with hosts, in bytes.
const MAX_HOSTS_BYTES: u64 = 1 << 20;

/// Reads a file with one host per line.
///
/// # Errors
///
/// If the file cannot be read, or has no valid hosts. If reading exceeds the limits, the only diagnostic is the
/// warning `load/stopped`.
pub fn hosts(path: &Path, limits: &Limits) -> Result<Vec<Host>, Box<Refused>> {
    let mut sources = Sources::default();
    let name = file::display_name(path);
    let read = {
        let (path, name) = (path.to_path_buf(), name.clone());
        move |reading: ReadLimits| file::bytes_at_most(&path, &name, MAX_HOSTS_BYTES, &reading)
    };
    let bytes = match reading::within(limits, read) {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(diagnostic)) => return Err(Refused { sources, diagnostics: vec![*diagnostic] }.into()),
        Err(why) => return Err(Refused { sources, diagnostics: vec![reading::stopped(why)] }.into()),
    };
    // A comment may be in any encoding; a host that is not UTF-8 is reported at its line.
    let text = String::from_utf8_lossy(&bytes);
    let Ok(file) = sources.add(name.as_str(), text.trim_start_matches('\u{feff}')) else {
        return Err(Refused { sources, diagnostics: vec![file::too_large(&name)] }.into());
    };
    let (hosts, diagnostics) = read_hosts(&sources, file);
    if diagnostics.is_empty() { Ok(hosts) } else { Err(Refused { sources, diagnostics }.into()) }
}

/// Checks a loaded system with the workers of the request's plan, and stops the workers.
pub(crate) fn check(loaded: &Loaded, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> Run {
    let (system, plan) = (loaded.system(), loaded.request.work.cluster.as_ref());
    let Some(((system, plan), model)) = system.zip(plan).zip(SentModel::new(loaded, &loaded.request)) else {
        return Run::default();
    };
    let cluster = engine(&model, plan);
    let options = EngineOptions { cluster: Some(cluster.clone()), ..loaded.engine_options.clone() };
    let options = EngineOptions { choice: EngineChoice::Named(CLUSTER), ..options };
    let run = supervise::check(system, &options, limits, observe);
    // Read the error before the workers stop: a check that was abandoned would report their end as an error.
    let cluster_error = cluster.failure().message().map(|message| printable(&message).into_owned());
    cluster.end();
    Run { cluster_error, ..run }
}

fn engine(model: &SentModel, plan: &Plan) -> Cluster {
    let launch = Launch {
        plan: plan.clone(),
        build: BUILD.to_string(),
        // A checkpoint may be resumed after a file was renamed.
        model: Digest::of(&model.content()),
        payload: model.to_json(),
    };
    Cluster::new(Workers::Processes(Arc::new(launch)))
}

/// Works for a supervisor until the check ends. An error is one line.
pub fn work(supervisor: &Supervisor) -> Result<(), String> {
    work_on(supervisor, BUILD, |payload| {
        let model = serde_json::from_str::<SentModel>(payload).map_err(|error| error.to_string())?;
        let loaded = model.load();
        loaded.system().cloned().ok_or_else(|| "the worker cannot load the model of the check".to_string())
    })
}
