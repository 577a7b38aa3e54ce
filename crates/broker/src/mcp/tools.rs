//! The tools: names, descriptions, and the schemas of parameters and structured answers.

use std::sync::Arc;

use masque_text::did_you_mean;
use rmcp::model::{JsonObject, Tool as Description, ToolAnnotations};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{answers, parameters};
use crate::protocol::{Observe, SessionParams};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Check,
    Why,
    Explain,
    Format,
    Simulate,
    Replay,
    Teams,
    MonitorOpen,
    Observe,
    May,
    MonitorClose,
}

impl Tool {
    /// All tools, in the order in which clients see them.
    pub(crate) const ALL: [Tool; 11] = [
        Tool::Check,
        Tool::Why,
        Tool::Explain,
        Tool::Format,
        Tool::Simulate,
        Tool::Replay,
        Tool::Teams,
        Tool::MonitorOpen,
        Tool::Observe,
        Tool::May,
        Tool::MonitorClose,
    ];

    /// The name in calls.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Check => "check",
            Tool::Why => "why",
            Tool::Explain => "explain",
            Tool::Format => "fmt",
            Tool::Simulate => "simulate",
            Tool::Replay => "replay",
            Tool::Teams => "teams",
            Tool::MonitorOpen => "monitor_open",
            Tool::Observe => "observe",
            Tool::May => "may",
            Tool::MonitorClose => "monitor_close",
        }
    }

    /// The tool with a name, or a message about the name.
    pub(crate) fn named(name: &str) -> Result<Tool, String> {
        let names = || Tool::ALL.map(Tool::name);
        Tool::ALL.into_iter().find(|tool| tool.name() == name).ok_or_else(|| {
            let hint = did_you_mean(name, names())
                .unwrap_or_else(|| format!("the tools are {}", names().join(", ")));
            format!("there is no tool `{}`; {hint}", crate::fault::brief(name))
        })
    }

    fn title(self) -> &'static str {
        match self {
            Tool::Check => "Check a model",
            Tool::Why => "Explain verdicts",
            Tool::Explain => "Explain a diagnostic",
            Tool::Format => "Format files",
            Tool::Simulate => "Walk through a model",
            Tool::Replay => "Confirm a trace",
            Tool::Teams => "Find a team",
            Tool::MonitorOpen => "Begin to watch agents",
            Tool::Observe => "Report what has happened",
            Tool::May => "Ask before a step",
            Tool::MonitorClose => "End watching agents",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Tool::Check => {
                "Decides the properties of a model: each holds, fails with a counterexample, or is unknown because a \
                 limit was hit. Errors in the files come with line, caret, code and a suggested fix. Languages: ISPL \
                 (interpreted systems: knowledge, time, strategies), BDI, LCC (protocols of agents with rules), AUT. \
                 Read the resource masque://docs/cheat-sheet before you write a model."
            }
            Tool::Why => {
                "Explains verdicts: how many states satisfy each part of a property, and evidence also for properties \
                 that hold. Use it after `check`, with `only` for one property."
            }
            Tool::Explain => {
                "The page about the code of a diagnostic, such as `lcc/no-team`: what it means, an example, what to do."
            }
            Tool::Format => "The files in the standard layout. Files on the disk are not changed.",
            Tool::Simulate => {
                "Walks through a model: takes the given steps from the beginning, then random ones, and returns the \
                 state and the next choices. Nothing is kept between calls: repeat the steps and add one."
            }
            Tool::Replay => {
                "Confirms that a model has the runs of a trace: a report of `check`, or a trace in ITF. If a run leaves \
                 the model, the answer says at which step and what was possible there."
            }
            Tool::Teams => {
                "Finds, among candidates for the roles of an LCC protocol, a team for which all properties hold, and \
                 says for the others what fails and who is stuck at which rule."
            }
            Tool::MonitorOpen => {
                "Opens a session that watches agents at work: an LCC protocol with its team, rules and goals. Report each \
                 event with `observe`, and ask `may` before a step."
            }
            Tool::Observe => {
                "Adds an event to the log of a session. The answer says whether any run of the protocol continues with \
                 it; if not, what was possible instead and which rule or agent prevents it, and it is not added. Also \
                 which goals are now reached or lost, and what is owed."
            }
            Tool::May => {
                "Judges an event without adding it: may this agent do that now, and which goals would still be possible?"
            }
            Tool::MonitorClose => {
                "Closes a session of `monitor_open`. Sessions that are not used for a while close by themselves."
            }
        }
    }

    /// The tool for clients.
    pub(crate) fn describe(self) -> Description {
        let (input, output) = match self {
            Tool::Check => (input::<parameters::Check>(), output::<answers::Checked>()),
            Tool::Why => (input::<parameters::Why>(), output::<answers::WhyAnswer>()),
            Tool::Explain => (input::<parameters::Explain>(), output::<answers::Explanation>()),
            Tool::Format => (input::<parameters::Format>(), output::<answers::FormatAnswer>()),
            Tool::Simulate => (input::<parameters::Simulate>(), output::<answers::Walked>()),
            Tool::Replay => (input::<parameters::Replay>(), output::<answers::ReplayAnswer>()),
            Tool::Teams => (input::<parameters::Teams>(), output::<answers::TeamsAnswer>()),
            Tool::MonitorOpen => (input::<parameters::MonitorOpen>(), output::<answers::OpenAnswer>()),
            Tool::Observe | Tool::May => (input::<Observe>(), output::<answers::ObserveAnswer>()),
            Tool::MonitorClose => (input::<SessionParams>(), output::<answers::CloseAnswer>()),
        };
        let has_effect = matches!(self, Tool::MonitorOpen | Tool::Observe | Tool::MonitorClose);
        let hints = ToolAnnotations::with_title(self.title());
        let hints = hints.read_only(!has_effect).destructive(false).idempotent(!has_effect).open_world(false);
        Description::new(self.name(), self.description(), Arc::new(input))
            .with_title(self.title())
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(hints)
    }
}

/// The schema of parameters, which have optional members.
fn input<T: JsonSchema>() -> JsonObject {
    object(
        SchemaSettings::draft2020_12()
            .for_deserialize()
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

/// The schema of an answer, which has all its members.
fn output<T: JsonSchema>() -> JsonObject {
    object(
        SchemaSettings::draft2020_12()
            .for_serialize()
            .into_generator()
            .into_root_schema_for::<T>()
            .to_value(),
    )
}

fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(members) => members,
        // The types above are structures, so their schemas are objects.
        _ => JsonObject::default(),
    }
}
