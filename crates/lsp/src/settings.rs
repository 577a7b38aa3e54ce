//! Settings of the server, from the section `masque` of the editor's configuration.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// All settings. A value of the wrong type leaves the default.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct Settings {
    /// Checks of properties.
    pub check: CheckSettings,
    /// Loading of models for diagnostics.
    pub load: LoadSettings,
    /// Where verdicts appear.
    pub verdicts: VerdictSettings,
    /// Whether there are code lenses.
    pub lenses: Lenses,
}

/// Whether there are code lenses above properties.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(transparent)]
pub struct Lenses(pub bool);

impl Default for Lenses {
    fn default() -> Self {
        Lenses(true)
    }
}

/// Settings of checks.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct CheckSettings {
    /// Seconds that a check may take.
    pub time_limit: f64,
    /// Megabytes that a check may use.
    pub memory_limit: u64,
    /// Engine for ISPL files.
    pub engine: String,
    /// Whether all properties are checked when a file is saved.
    pub on_save: bool,
}

impl Default for CheckSettings {
    fn default() -> Self {
        CheckSettings { time_limit: 60.0, memory_limit: 2048, engine: "auto".to_string(), on_save: false }
    }
}

/// Settings of loading.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct LoadSettings {
    /// Seconds that the diagnostics of a file may take.
    pub time_limit: f64,
    /// Megabytes that the diagnostics of a file may use.
    pub memory_limit: u64,
}

impl Default for LoadSettings {
    fn default() -> Self {
        LoadSettings { time_limit: 10.0, memory_limit: 2048 }
    }
}

/// Where verdicts appear.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
pub struct VerdictSettings {
    /// Whether they are inlay hints.
    pub inlay_hints: bool,
    /// Whether they are diagnostics, too.
    pub diagnostics: VerdictDiagnostics,
}

impl Default for VerdictSettings {
    fn default() -> Self {
        VerdictSettings { inlay_hints: true, diagnostics: VerdictDiagnostics::Auto }
    }
}

/// Whether verdicts are diagnostics.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum VerdictDiagnostics {
    /// If the client has no inlay hints.
    Auto,
    /// In every client.
    Always,
    /// In no client.
    Never,
}

/// Longest time limit, in seconds.
const MAX_SECONDS: f64 = 86_400.0;

/// A number of seconds as a duration, at least a tenth of a second.
pub(crate) fn seconds(value: f64) -> Duration {
    if value.is_finite() {
        Duration::from_secs_f64(value.clamp(0.1, MAX_SECONDS))
    } else {
        Duration::from_secs(60)
    }
}

impl Settings {
    /// Reads the section `masque`, or an object that contains it. Each part that cannot be read has its default.
    pub fn read(value: &Value) -> (Settings, Vec<String>) {
        let section = value.get("masque").unwrap_or(value);
        let mut problems = Vec::new();
        let settings = Settings {
            check: part(section, "check", &mut problems),
            load: part(section, "load", &mut problems),
            verdicts: part(section, "verdicts", &mut problems),
            lenses: part(section, "lenses", &mut problems),
        };
        (settings, problems)
    }
}

fn part<T: Default + serde::de::DeserializeOwned>(
    section: &Value,
    name: &str,
    problems: &mut Vec<String>,
) -> T {
    match section.get(name) {
        None | Some(Value::Null) => T::default(),
        Some(value) => serde_json::from_value(value.clone()).unwrap_or_else(|error| {
            problems.push(format!("the setting `masque.{name}` is not valid: {error}"));
            T::default()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn wrong_values_leave_the_default() {
        let value =
            json!({"masque": {"check": {"timeLimit": 3, "onSave": true}, "load": 7, "lenses": false}});
        let (settings, problems) = Settings::read(&value);
        assert_eq!((settings.check.time_limit, settings.check.on_save), (3.0, true));
        assert_eq!(settings.check.memory_limit, 2048);
        assert_eq!((settings.load, settings.lenses), (LoadSettings::default(), Lenses(false)));
        assert_eq!(problems.len(), 1);
        assert_eq!(Settings::read(&Value::Null).0, Settings::default());
        assert_eq!(seconds(f64::NAN), Duration::from_secs(60));
    }
}
