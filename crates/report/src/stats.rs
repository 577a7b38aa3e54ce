//! Times and memory: the part of a report that is not the same on every run.

use masque_driver::{Loaded, Model, Run};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;

/// What a run has cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunStats {
    /// Reading, parsing and checking the file.
    pub load_seconds: f64,
    /// Deciding its properties.
    pub check_seconds: f64,
    /// The most memory the process has used so far, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// States found before a limit was hit, where the engine counts them.
    pub explored_states: Option<u64>,
    /// The engines used.
    pub engines: Vec<EngineStats>,
    /// Which engine answered what.
    pub properties: Vec<PropertyStats>,
}

/// What one engine has cost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EngineStats {
    /// Its name.
    pub name: String,
    /// States it stored one by one.
    pub states: Option<u64>,
    /// Transitions it stored one by one.
    pub transitions: Option<u64>,
    /// The most memory its own data took.
    pub bytes: u64,
    /// Its steps.
    pub phases: Vec<PhaseStats>,
    /// What else it counts: `bits`, `peak nodes`.
    pub figures: Entries<u64>,
    /// What there is to say about how it went about it.
    pub notes: Vec<String>,
}

/// The time one part of an engine's work took.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseStats {
    /// What was done.
    pub name: String,
    /// How long it took.
    pub seconds: f64,
}

/// The time one property took.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PropertyStats {
    /// The property's name.
    pub name: String,
    /// The engine that answered.
    pub engine: Option<String>,
    /// How long it took.
    pub seconds: f64,
}

impl RunStats {
    pub(crate) fn new(loaded: &Loaded, run: &Run) -> Self {
        let engines = run.costs.iter().map(|cost| EngineStats {
            name: cost.engine.to_string(),
            states: cost.stats.states,
            transitions: cost.stats.transitions,
            bytes: cost.stats.bytes,
            phases: (cost.stats.phases.iter())
                .map(|phase| PhaseStats { name: phase.name.to_string(), seconds: phase.time.as_secs_f64() })
                .collect(),
            figures: cost.stats.figures.iter().map(|(name, figure)| (name.clone(), *figure)).collect(),
            notes: cost.stats.notes.clone(),
        });
        let texts = loaded.model.as_ref().map(Model::properties).unwrap_or_default();
        let properties = texts.into_iter().zip(&run.decisions).map(|(text, decision)| PropertyStats {
            name: text.title,
            engine: decision.engine.as_ref().map(ToString::to_string),
            seconds: decision.time.as_secs_f64(),
        });
        RunStats {
            load_seconds: loaded.time.as_secs_f64(),
            check_seconds: run.time.as_secs_f64(),
            peak_memory_bytes: peak_memory(),
            explored_states: run.explored,
            engines: engines.collect(),
            properties: properties.collect(),
        }
    }
}

/// The peak of resident memory as Linux tells it; elsewhere unknown.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
