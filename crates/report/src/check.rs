//! The report of `masque check` as data: schema `masque.check/1`.
//!
//! Fields may be added, never renamed without a new schema name.

use std::io::{self, Write};

use masque_driver::{
    At, Count, Decision, Details, Finding, Language, Loaded, Model, PropertyText, Run, System, Verdict,
};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::bdi::world_reports;
use crate::{AnyEvidence, CountReport, DiagnosticReport, Entries, ProtocolReport, RunStats, WorldReport};

/// The name and version of the format.
pub const CHECK_SCHEMA: &str = "masque.check/1";

/// What `masque check --format json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.check/1")]
pub struct CheckReport {
    /// The name of this format: `masque.check/1`.
    #[schemars(extend("const" = CHECK_SCHEMA))]
    pub schema: &'static str,
    /// One per file, in the order of the command line; LCC files together are one.
    pub runs: Vec<RunReport>,
}

/// What became of one file; of LCC files, what became of all of them together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunReport {
    /// The file, as it was named; for LCC all files, those of properties last.
    pub files: Vec<String>,
    /// `ispl`, `bdi`, `lcc` or `aut`; null if a file could not be read and its name does not tell.
    pub language: Option<String>,
    /// The engine that was asked for.
    pub engine: String,
    /// The file's parameters with the values used.
    pub parameters: Entries<i64>,
    /// Options that change the meaning of the file, where given.
    pub options: Entries<String>,
    /// The number of reachable states in decimal; null if they were not counted.
    pub states: Option<String>,
    /// The number of transitions in decimal; null if they were not counted, and for ISPL.
    pub transitions: Option<String>,
    /// For LCC: what else was found.
    #[serde(flatten)]
    pub protocol: Option<ProtocolReport>,
    /// The answers; none if the file has errors.
    pub properties: Vec<PropertyReport>,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<DiagnosticReport>,
    /// For BDI: the worlds by the way to them; null for ISPL.
    pub worlds: Option<Entries<WorldReport>>,
    /// The size of the model, if only that was asked for.
    pub model: Option<ModelSize>,
    /// Times and memory, if asked for.
    pub stats: Option<RunStats>,
    /// Whether nothing was decided: the files have errors, or were only to be read.
    #[serde(skip)]
    pub is_unchecked: bool,
    /// Bugs of masque besides withheld evidence; they go to standard error.
    #[serde(skip)]
    pub bugs: Vec<String>,
}

/// The answer to one property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PropertyReport {
    /// Its name, or its position from 1. Only instances of one formula in a `for` share a name.
    pub name: String,
    /// For an instance of a formula in a `for`: the values of the loop variables, outermost first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Entries<i64>>,
    /// The name in text reports, which no other property has.
    #[serde(skip)]
    pub title: String,
    /// The formula as it was read; given to `--property`, it is read as the same formula.
    pub formula: String,
    /// `initial` or `reachable`: where it must be true.
    #[serde(serialize_with = "at_name")]
    #[schemars(with = "String", extend("enum" = ["initial", "reachable"]))]
    pub at: At,
    /// `holds`, `fails` or `unknown`.
    #[serde(serialize_with = "verdict_word")]
    #[schemars(with = "String", extend("enum" = ["holds", "fails", "unknown"]))]
    pub verdict: Verdict,
    /// Why it is unknown: `timeout`, `memory`, `interrupted`, `unsupported`, `no-fair-path`, ..
    pub reason: Option<String>,
    /// Remarks beside the verdict, in plain sentences: the property holds for the wrong reason, or a
    /// pattern in it matches nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What shows the verdict, where there is something to show.
    pub evidence: Option<AnyEvidence>,
    /// Why evidence is withheld: it does not replay. That is a bug of masque; the verdict stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_withheld: Option<String>,
    /// For BDI: the world in which it is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// For BDI: `valid` or `initially`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// For BDI: in how many of the world's states it is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<CountReport>,
    /// For BDI: how many states the world has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<CountReport>,
}

fn at_name<S: Serializer>(at: &At, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(at.name())
}

fn verdict_word<S: Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.word())
}

/// How large a model is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelSize {
    /// Agents, the Environment included.
    pub agents: usize,
    /// Variables of all agents.
    pub variables: usize,
    /// Bits of one state.
    pub bits: u64,
    /// Formulas, those of the command line included.
    pub formulas: usize,
}

impl ModelSize {
    /// The size of a system.
    pub fn new(system: &System) -> Self {
        ModelSize {
            agents: system.agents.len(),
            variables: system.variables.len(),
            bits: system.bits(),
            formulas: system.properties.len(),
        }
    }
}

/// A file and what was done with it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The file.
    pub loaded: &'a Loaded,
    /// The check, unless there are errors or only the size was asked for.
    pub run: Option<&'a Run>,
}

impl<'a> Subject<'a> {
    /// What the check found besides verdicts.
    pub(crate) fn findings(self) -> &'a [Finding] {
        self.run.map_or(&[], |run| &run.findings)
    }

    /// The properties with their answers, if the model was checked.
    pub(crate) fn answers(self) -> Vec<(PropertyText, &'a Decision)> {
        match (&self.loaded.model, self.run) {
            (Some(model), Some(run)) => model.properties().into_iter().zip(&run.decisions).collect(),
            _ => Vec::new(),
        }
    }
}

/// How many answers and messages of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Properties that hold.
    pub hold: usize,
    /// Properties that fail.
    pub fail: usize,
    /// Properties not decided.
    pub unknown: usize,
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Bugs of masque that cost evidence.
    pub bugs: usize,
}

/// The report on one run; `stats` asks for times and memory.
pub fn run_report(subject: Subject<'_>, stats: bool) -> RunReport {
    let Subject { loaded, run } = subject;
    let system = loaded.system().map(|system| &**system);
    let mut diagnostics: Vec<_> =
        loaded.diagnostics.iter().map(|d| DiagnosticReport::new(&loaded.sources, d)).collect();
    let findings = subject.findings().iter();
    diagnostics
        .extend(findings.map(|finding| DiagnosticReport::of_finding(&loaded.sources, system, finding)));
    let (mut worlds, mut protocol) = (None, None);
    match (run.map(|run| &run.details), &loaded.model) {
        (Some(Details::Bdi(results)), Some(Model::Bdi(model))) => {
            worlds = results.as_ref().map(|results| world_reports(model, results));
        }
        (Some(Details::Lcc(details)), _) => protocol = Some(ProtocolReport::new(details)),
        _ => {}
    }
    if loaded.language == Some(Language::Lcc) {
        protocol.get_or_insert_default();
    }
    RunReport {
        files: loaded.names.clone(),
        language: loaded.language.map(|l| l.name().to_string()),
        engine: loaded.request.work.engine.name().to_string(),
        parameters: loaded.parameters.iter().cloned().collect(),
        options: loaded.options.iter().cloned().collect(),
        states: run.and_then(|run| run.states.as_ref()).map(Count::to_string),
        transitions: run.and_then(|run| run.transitions.as_ref()).map(Count::to_string),
        protocol,
        properties: subject
            .answers()
            .iter()
            .map(|(text, decision)| property(loaded.model.as_ref(), text, decision))
            .collect(),
        diagnostics,
        worlds,
        model: if run.is_none() { system.map(ModelSize::new) } else { None },
        stats: run.filter(|_| stats).map(|run| RunStats::new(loaded, run)),
        is_unchecked: run.is_none(),
        bugs: run.map(|run| run.bugs.clone()).unwrap_or_default(),
    }
}

fn property(model: Option<&Model>, text: &PropertyText, decision: &Decision) -> PropertyReport {
    PropertyReport {
        name: text.name.clone(),
        index: (!text.index.is_empty()).then(|| text.index.iter().cloned().collect()),
        title: text.title.clone(),
        formula: text.formula.clone(),
        at: text.at,
        verdict: decision.verdict,
        reason: decision.verdict.reason().map(str::to_string),
        evidence: decision.evidence.as_ref().and_then(|shown| AnyEvidence::new(model?, shown)),
        evidence_withheld: decision.withheld.clone(),
        remarks: decision.remarks.clone(),
        world: text.world.clone(),
        mode: text.mode.map(str::to_string),
        satisfied: decision.satisfied.as_ref().map(|(satisfied, _)| satisfied.into()),
        of: decision.satisfied.as_ref().map(|(_, of)| of.into()),
    }
}

impl RunReport {
    /// How many answers and messages of each kind there are.
    pub fn counts(&self) -> Counts {
        let verdicts =
            |is_it: fn(Verdict) -> bool| self.properties.iter().filter(|p| is_it(p.verdict)).count();
        let severities = |word| self.diagnostics.iter().filter(|d| d.severity == word).count();
        Counts {
            hold: verdicts(|verdict| verdict == Verdict::Holds),
            fail: verdicts(|verdict| verdict == Verdict::Fails),
            unknown: verdicts(|verdict| matches!(verdict, Verdict::Unknown(_))),
            errors: severities("error"),
            warnings: severities("warning"),
            bugs: self.bugs().count(),
        }
    }

    /// Bugs of masque that cost evidence, one line each: what does not replay, and why.
    pub fn bugs(&self) -> impl Iterator<Item = String> + '_ {
        let withheld = self.properties.iter().filter_map(|property| {
            let why = property.evidence_withheld.as_ref()?;
            Some(format!("the evidence for property {} does not replay: {why}", property.name))
        });
        withheld.chain(self.bugs.iter().cloned())
    }
}

/// Writes the report on all files as one JSON object.
pub fn json(out: &mut dyn Write, runs: Vec<RunReport>) -> io::Result<()> {
    write_json(out, &CheckReport { schema: CHECK_SCHEMA, runs })
}

/// Writes a report as JSON with a newline at its end.
pub(crate) fn write_json(out: &mut dyn Write, report: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}
