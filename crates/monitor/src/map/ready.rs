//! The maps that are part of the program. Their files are in the folder `maps` of this crate.

use masque_text::{Diagnostic, Severity, did_you_mean};

/// A map that is part of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyMap {
    /// Name, as `--map` takes it.
    pub name: &'static str,
    /// Text of the file.
    pub text: &'static str,
}

/// The maps by name.
pub const READY_MAPS: [ReadyMap; 4] = [
    ReadyMap { name: "a2a", text: include_str!("../../maps/a2a.toml") },
    ReadyMap { name: "coding-agent-hooks", text: include_str!("../../maps/coding-agent-hooks.toml") },
    ReadyMap { name: "mcp", text: include_str!("../../maps/mcp.toml") },
    ReadyMap { name: "otel-genai", text: include_str!("../../maps/otel-genai.toml") },
];

/// The error about a name that is neither that of a map nor that of a file.
pub fn no_map(name: &str) -> Diagnostic {
    let names = READY_MAPS.iter().map(|map| map.name);
    let listed: Vec<&str> = names.clone().collect();
    let message = format!("there is no map `{name}`; expected a file, or one of {}", listed.join(", "));
    Diagnostic::nowhere(Severity::Error, "monitor/no-map", message).help(did_you_mean(name, names))
}
