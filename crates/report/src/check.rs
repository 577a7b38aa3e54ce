//! The report of `masque check` as data: schema `masque.check/1`.
//!
//! Fields may be added, never renamed without a new schema name.

use std::io::{self, Write};

use masque_driver::{Decided, EngineChoice, Finding, Loaded, Property, Request, Run, System};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AnyEvidence, CountReport, DiagnosticReport, Entries, EvidenceReport, ProtocolReport, RunStats,
    WorldReport,
};

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
    /// `ispl`, `bdi` or `lcc`; null if a file could not be read and its name does not tell.
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
    #[schemars(extend("enum" = ["initial", "reachable"]))]
    pub at: String,
    /// `holds`, `fails` or `unknown`.
    #[schemars(extend("enum" = ["holds", "fails", "unknown"]))]
    pub verdict: String,
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

/// What was asked for, as far as reports show it.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Options and parameters.
    pub request: &'a Request,
    /// The engine.
    pub engine: EngineChoice,
    /// Whether times and memory are to be told.
    pub stats: bool,
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

/// The report on one file.
pub fn run_report(subject: Subject<'_>, settings: Settings<'_>) -> RunReport {
    let Subject { loaded, run } = subject;
    let system = loaded.system.as_deref();
    let mut diagnostics: Vec<_> =
        loaded.diagnostics.iter().map(|d| DiagnosticReport::new(&loaded.sources, d)).collect();
    let (mut properties, mut stats) = (Vec::new(), None);
    if let (Some(system), Some(run)) = (system, run) {
        let findings = run.findings.iter();
        diagnostics.extend(findings.map(|f| DiagnosticReport::of_finding(&loaded.sources, system, f)));
        properties.extend(system.properties.iter().zip(&run.decided).map(|(p, d)| property(system, p, d)));
        stats = settings.stats.then(|| RunStats::new(loaded, system, run));
    }
    RunReport {
        files: vec![loaded.name.clone()],
        language: loaded.language.map(|l| l.name().to_string()),
        engine: settings.engine.name().to_string(),
        parameters: loaded.parameters.iter().cloned().collect(),
        options: settings.request.options().into_iter().map(|(n, v)| (n, v.to_string())).collect(),
        states: run.and_then(|run| run.states.clone()),
        transitions: None,
        protocol: None,
        properties,
        diagnostics,
        worlds: None,
        model: if run.is_none() { system.map(ModelSize::new) } else { None },
        stats,
        bugs: run.map(|run| run.bugs.clone()).unwrap_or_default(),
    }
}

fn property(system: &System, property: &Property, decided: &Decided) -> PropertyReport {
    let outcome = &decided.outcome;
    PropertyReport {
        name: property.name.clone(),
        index: (!property.index.is_empty()).then(|| property.index.iter().cloned().collect()),
        title: property.title.clone(),
        formula: system.formula_text(property.formula),
        at: property.at.name().to_string(),
        verdict: outcome.verdict.word().to_string(),
        reason: outcome.verdict.reason().map(str::to_string),
        evidence: outcome.evidence.as_ref().map(|e| AnyEvidence::Reasons(EvidenceReport::new(system, e))),
        evidence_withheld: decided.withheld.clone(),
        remarks: decided.remarks.clone(),
        world: None,
        mode: None,
        satisfied: None,
        of: None,
    }
}

impl RunReport {
    /// How many answers and messages of each kind there are.
    pub fn counts(&self) -> Counts {
        let verdicts = |word| self.properties.iter().filter(|p| p.verdict == word).count();
        let severities = |word| self.diagnostics.iter().filter(|d| d.severity == word).count();
        Counts {
            hold: verdicts("holds"),
            fail: verdicts("fails"),
            unknown: verdicts("unknown"),
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
    let report = CheckReport { schema: CHECK_SCHEMA, runs };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}
