//! The maps that are part of the program. Their files are in the folder `maps` of this crate.

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
