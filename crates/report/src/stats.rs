//! Times and memory: the only part of a report that differs between identical checks.

use masque_driver::{Loaded, Model, Run, peak_resident_bytes};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Entries;

/// Time and memory of a check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunStats {
    /// Time for reading, parsing and type checking the file.
    pub load_seconds: f64,
    /// Time for deciding the properties.
    pub check_seconds: f64,
    /// Peak resident memory of the process so far; null on systems other than Linux.
    pub peak_memory_bytes: Option<u64>,
    /// `|S|`, for ISPL: number of combinations of local states and actions of all agents, in decimal; null if it has
    /// more than 60000 digits.
    pub possible_states: Option<String>,
    /// `|M| = |S| + |S|²`, for ISPL: size of the model as the papers count it, in decimal.
    pub model_size: Option<String>,
    /// Number of states found before a limit was exceeded, if the engine counts them.
    pub explored_states: Option<u64>,
    /// Engines that were used.
    pub engines: Vec<EngineStats>,
    /// Time and engine of each property.
    pub properties: Vec<PropertyStats>,
}

/// Time and memory of one engine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EngineStats {
    /// Name of the engine.
    pub name: String,
    /// Number of stored states, if the engine stores single states.
    pub states: Option<u64>,
    /// Number of stored transitions, if the engine stores single transitions.
    pub transitions: Option<u64>,
    /// Peak size of the engine's own data, in bytes.
    pub bytes: u64,
    /// Phases of its work.
    pub phases: Vec<PhaseStats>,
    /// Other counts: `bits`, `peak nodes`.
    pub figures: Entries<u64>,
    /// Remarks on how the engine worked.
    pub notes: Vec<String>,
}

/// The time of one phase of an engine's work.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PhaseStats {
    /// Name of the phase.
    pub name: String,
    /// Duration.
    pub seconds: f64,
}

/// The time of one property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PropertyStats {
    /// Name of the property.
    pub name: String,
    /// Engine that decided the property.
    pub engine: Option<String>,
    /// Duration.
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
        let size = loaded.system().and_then(|system| system.size());
        RunStats {
            possible_states: size.as_ref().map(|size| size.states.to_string()),
            model_size: size.as_ref().map(|size| size.model.to_string()),
            load_seconds: loaded.time.as_secs_f64(),
            check_seconds: run.time.as_secs_f64(),
            peak_memory_bytes: peak_resident_bytes(),
            explored_states: run.explored,
            engines: engines.collect(),
            properties: properties.collect(),
        }
    }
}
