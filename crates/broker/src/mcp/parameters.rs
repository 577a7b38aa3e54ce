//! The parameters of tools, as clients give them.

use std::collections::BTreeMap;

use masque_driver::{self as driver, Request, Show};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::protocol::{Allowed, OptionValue, each_once};
use crate::team;

/// A file of a model.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelFile {
    /// Name of the file; its ending gives the language: `.ispl`, `.bdi`, `.lcc` and `.pol`, `.aut`, or `.mu` for
    /// properties.
    pub name: String,
    /// Text of the file. Without it, the file is read from the folder of `--root`, if the server has one.
    pub text: Option<String>,
}

/// What changes the meaning of a model. Everything is optional.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Values for the parameters of an ISPL file.
    #[serde(default, deserialize_with = "each_once")]
    pub define: BTreeMap<String, i64>,
    /// Options of BDI and LCC files, such as `comm` for LCC; they override those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
    /// ISPL: the states at which a formula must be true.
    pub at: Option<At>,
    /// ISPL: the meaning of a state without successors.
    pub deadlock: Option<Deadlock>,
    /// ISPL: the meaning of an assignment outside the range of a variable.
    pub overflow: Option<Overflow>,
    /// ISPL: the strategies of `<group>` operators that do not name theirs.
    pub strategies: Option<Strategies>,
}

impl Settings {
    /// The request with these settings.
    pub(crate) fn request(&self) -> Request {
        Request {
            defines: self.define.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            options: self.options.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            at: self.at.map(Into::into),
            deadlock: self.deadlock.map(Into::into),
            overflow: self.overflow.map(Into::into),
            strategies: self.strategies.map(Into::into),
            ..Request::default()
        }
    }
}

/// Declares an enumeration of the words of an option, each with the value it stands for.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $type:ty { $($(#[$own:meta])* $variant:ident => $value:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $name {
            $($(#[$own])* $variant,)*
        }

        impl From<$name> for $type {
            fn from(word: $name) -> $type {
                match word {
                    $($name::$variant => $value,)*
                }
            }
        }
    };
}

words! {
    /// States at which a formula must be true to hold in the model.
    At: driver::At {
        /// All initial states.
        Initial => driver::At::Initial,
        /// All reachable states.
        Reachable => driver::At::Reachable,
    }
}
words! {
    /// Meaning of a state without successors.
    Deadlock: driver::Deadlock {
        /// Paths end there, with a warning.
        Finite => driver::Deadlock::Finite,
        /// It gets a step to itself.
        Stutter => driver::Deadlock::Stutter,
        /// It is an error of the model.
        Error => driver::Deadlock::Error,
    }
}
words! {
    /// Meaning of an assignment of a value outside the range of the variable.
    Overflow: driver::Overflow {
        /// The step is removed, with a warning.
        Drop => driver::Overflow::Drop,
        /// It is an error of the model.
        Error => driver::Overflow::Error,
    }
}
words! {
    /// Strategies of groups.
    Strategies: driver::Strategies {
        /// Agents see the whole state.
        Perfect => driver::Strategies::Perfect,
        /// Agents act on what they see, and each member knows that the strategy succeeds.
        Uniform => driver::Strategies::Uniform,
        /// Agents act on what they see, and the group together knows that the strategy succeeds.
        UniformJoint => driver::Strategies::UniformJoint,
        /// Agents act on what they see, and the strategy succeeds.
        UniformObjective => driver::Strategies::UniformObjective,
    }
}
words! {
    /// Verdicts that are shown with evidence.
    Evidence: Show {
        /// Only verdicts.
        None => Show::None,
        /// Counterexamples of properties that fail.
        Failed => Show::Failed,
        /// Also witnesses of properties that hold, where one run shows it.
        All => Show::All,
    }
}

/// Parameters of `check`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpCheck")]
pub(crate) struct Check {
    /// The model: its first file, which may import the others. LCC files (`.lcc`, `.pol`, `.mu`) are one protocol.
    pub files: Vec<ModelFile>,
    /// Formulas to decide in addition to those in the files.
    #[serde(default)]
    pub properties: Vec<String>,
    /// Decide only these, of all properties: names, positions from 1, or patterns with `*`. Those given in `properties`
    /// come last.
    #[serde(default)]
    pub only: Vec<String>,
    /// Verdicts that are shown with evidence: `failed` if this is missing.
    pub evidence: Option<Evidence>,
    /// What changes the meaning of the model.
    #[serde(default)]
    pub settings: Settings,
    /// Limits of the call, below those of the server.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of `why`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpWhy")]
pub(crate) struct Why {
    /// The model, as for `check`.
    pub files: Vec<ModelFile>,
    /// Explain only these properties: names, positions from 1, or patterns with `*`.
    #[serde(default)]
    pub only: Vec<String>,
    /// Formulas to explain in addition to those in the files.
    #[serde(default)]
    pub properties: Vec<String>,
    /// What changes the meaning of the model.
    #[serde(default)]
    pub settings: Settings,
    /// Limits of the call, below those of the server.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of `explain`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpExplain")]
pub(crate) struct Explain {
    /// The code of a diagnostic, such as `lcc/no-team`; without it, all codes are listed.
    pub code: Option<String>,
}

/// Parameters of `fmt`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpFormat")]
pub(crate) struct Format {
    /// The files to format. No file on the disk is changed.
    pub files: Vec<ModelFile>,
    /// Limits of the call, below those of the server.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of `simulate`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpSimulate")]
pub(crate) struct Simulate {
    /// The model, as for `check`.
    pub files: Vec<ModelFile>,
    /// The choices to take from the beginning: numbers from 1, as the answer lists them, or their whole labels. Where
    /// there are several initial states, the first choice is one of these.
    #[serde(default)]
    pub steps: Vec<Choice>,
    /// Number of random steps to take after them.
    #[serde(default)]
    pub random: u32,
    /// Seed of the random steps: the same seed gives the same steps.
    #[serde(default)]
    pub seed: u64,
    /// What changes the meaning of the model.
    #[serde(default)]
    pub settings: Settings,
    /// Limits of the call, below those of the server.
    #[serde(default)]
    pub limits: Allowed,
}

/// A choice in a walk.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Choice {
    /// The number of the choice, from 1.
    Number(usize),
    /// The label of the choice.
    Label(String),
}

/// Parameters of `replay`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpReplay")]
pub(crate) struct Replay {
    /// The model, as for `check`.
    pub files: Vec<ModelFile>,
    /// The trace: the report of `check` (its member `report`), or a trace in the Informal Trace Format; as an object
    /// or as a text.
    pub trace: Value,
    /// Replay only the evidence for this property.
    pub property: Option<String>,
    /// What changes the meaning of the model.
    #[serde(default)]
    pub settings: Settings,
    /// Limits of the call, below those of the server.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of `teams`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpTeams")]
pub(crate) struct Teams {
    /// Protocol, the rest of the team, knowledge, rules and properties.
    pub files: Vec<ModelFile>,
    /// Options that override those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
    /// The roles to fill.
    pub roles: Vec<team::Role>,
    /// Properties that must hold for a team, the most important first; all properties if there are none.
    #[serde(default)]
    pub questions: Vec<team::Question>,
    /// Which teams are searched for.
    #[serde(default)]
    pub want: team::TeamSelection,
    /// Limits of the call, below those of the server.
    #[serde(default)]
    pub limits: Allowed,
}

/// Parameters of `monitor_open`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "McpMonitorOpen")]
pub(crate) struct MonitorOpen {
    /// A protocol with its team, knowledge, rules and properties.
    pub files: Vec<ModelFile>,
    /// Options that override those in the files.
    #[serde(default, deserialize_with = "each_once")]
    pub options: BTreeMap<String, OptionValue>,
}

/// The parameters of a tool that works on files in a child process.
pub(crate) trait OnFiles: serde::de::DeserializeOwned {
    /// The files, and the limits of the call.
    fn files(&mut self) -> (Vec<ModelFile>, Allowed);

    /// The trace, as text, if the tool has one.
    fn trace(&self) -> Option<String> {
        None
    }
}

/// Implements [`OnFiles`] for structures with these two members.
macro_rules! on_files {
    ($($name:ident $({ $trace:item })?),*) => {
        $(impl OnFiles for $name {
            fn files(&mut self) -> (Vec<ModelFile>, Allowed) {
                (std::mem::take(&mut self.files), self.limits)
            }

            $($trace)?
        })*
    };
}

on_files!(Check, Why, Format, Simulate, Replay {
    fn trace(&self) -> Option<String> {
        Some(self.trace.as_str().map_or_else(|| self.trace.to_string(), str::to_string))
    }
});
