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
use crate::printable_json::write_printable_json;
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
    /// One check per file, in the order of the command line; LCC files together are one check.
    pub runs: Vec<RunReport>,
}

/// The check of one file, or of several LCC files together.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunReport {
    /// Name of the file as given by the user; for LCC all files, those with properties last.
    pub files: Vec<String>,
    /// `ispl`, `bdi`, `lcc` or `aut`; null if the file could not be read and its name does not show the
    /// language.
    pub language: Option<String>,
    /// Requested engine.
    pub engine: String,
    /// Parameters of the file with the values used.
    pub parameters: Entries<i64>,
    /// Options that change the meaning of the file, where given.
    pub options: Entries<String>,
    /// Number of reachable states in decimal; null if they were not counted.
    pub states: Option<String>,
    /// Number of transitions in decimal; null if they were not counted, and for ISPL.
    pub transitions: Option<String>,
    /// For LCC: results other than verdicts.
    #[serde(flatten)]
    pub protocol: Option<ProtocolReport>,
    /// Verdicts; empty if the file has errors.
    pub properties: Vec<PropertyReport>,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<DiagnosticReport>,
    /// For BDI: the worlds by the paths to them; null for other languages.
    pub worlds: Option<Entries<WorldReport>>,
    /// Size of the model, if nothing else was requested.
    pub model: Option<ModelSize>,
    /// Times and memory, if requested.
    pub stats: Option<RunStats>,
    /// Whether nothing was decided, because of errors or of `--parse-only`.
    #[serde(skip)]
    pub is_unchecked: bool,
    /// Bugs of masque other than withheld evidence, for standard error.
    #[serde(skip)]
    pub bugs: Vec<String>,
}

/// The verdict on one property.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PropertyReport {
    /// Name, or number from 1. Only instances of one formula in a `for` share a name.
    pub name: String,
    /// For an instance of a formula in a `for`: the values of the loop variables, outermost first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<Entries<i64>>,
    /// Unique name in text reports.
    #[serde(skip)]
    pub title: String,
    /// Formula as it was parsed, in a form that `--property` accepts.
    pub formula: String,
    /// Formula as written in the file, on one line.
    pub text: String,
    /// `initial` or `reachable`: the states at which it must be true.
    #[serde(serialize_with = "at_name")]
    #[schemars(with = "String", extend("enum" = ["initial", "reachable"]))]
    pub at: At,
    /// `holds`, `fails` or `unknown`.
    #[serde(serialize_with = "verdict_word")]
    #[schemars(with = "String", extend("enum" = ["holds", "fails", "unknown"]))]
    pub verdict: Verdict,
    /// Reason for `unknown`: `timeout`, `memory`, `interrupted`, `unsupported`, `no-fair-path`, ..
    pub reason: Option<String>,
    /// Warnings about the verdict, as sentences: the property holds vacuously, or one of its patterns
    /// matches nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Evidence for the verdict, if there is any.
    pub evidence: Option<AnyEvidence>,
    /// Why evidence is withheld: replay refused it. That is a bug of masque; the verdict is not affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_withheld: Option<String>,
    /// True if another process has confirmed the certificate of the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified: Option<bool>,
    /// File with the certificate of the verdict, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
    /// Why the verdict has no certificate, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_certified: Option<String>,
    /// For BDI: the world in which the property is evaluated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// For BDI: `valid` or `initially`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// For BDI: number of states of the world at which it is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub satisfied: Option<CountReport>,
    /// For BDI: number of states of the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<CountReport>,
}

fn at_name<S: Serializer>(at: &At, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(at.name())
}

fn verdict_word<S: Serializer>(verdict: &Verdict, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(verdict.word())
}

/// The size of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelSize {
    /// Number of agents, including the Environment.
    pub agents: usize,
    /// Number of variables of all agents.
    pub variables: usize,
    /// Number of bits of a state.
    pub bits: u64,
    /// Number of formulas, including those of the command line.
    pub formulas: usize,
}

impl ModelSize {
    /// Computes the size of a system.
    pub fn new(system: &System) -> Self {
        ModelSize {
            agents: system.agents.len(),
            variables: system.variables.len(),
            bits: system.bits(),
            formulas: system.properties.len(),
        }
    }
}

/// A loaded file and its check.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Loaded file.
    pub loaded: &'a Loaded,
    /// Check; `None` if the file has errors or was only parsed.
    pub run: Option<&'a Run>,
}

impl<'a> Subject<'a> {
    /// Findings of the check other than verdicts.
    pub(crate) fn findings(self) -> &'a [Finding] {
        self.run.map_or(&[], |run| &run.findings)
    }

    /// The properties with their verdicts, if the model was checked.
    pub(crate) fn answers(self) -> Vec<(PropertyText, &'a Decision)> {
        match (&self.loaded.model, self.run) {
            (Some(model), Some(run)) => model.properties().into_iter().zip(&run.decisions).collect(),
            _ => Vec::new(),
        }
    }
}

/// Numbers of verdicts and diagnostics of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of properties that hold.
    pub hold: usize,
    /// Number of properties that fail.
    pub fail: usize,
    /// Number of undecided properties.
    pub unknown: usize,
    /// Number of errors.
    pub errors: usize,
    /// Number of warnings.
    pub warnings: usize,
    /// Number of bugs of masque that were detected.
    pub bugs: usize,
}

/// Builds the report on one check; `stats` requests times and memory.
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
        stats: if stats { run.map(|run| RunStats::new(loaded, run)) } else { None },
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
        text: text.text.clone(),
        at: text.at,
        verdict: decision.verdict,
        reason: decision.verdict.reason().map(str::to_string),
        evidence: decision.evidence.as_ref().and_then(|shown| AnyEvidence::new(model?, shown)),
        evidence_withheld: decision.withheld.clone(),
        certified: decision.certified.confirmed.then_some(true),
        certificate: decision.certified.file.as_ref().map(|file| file.display().to_string()),
        not_certified: decision.certified.why_not.clone(),
        remarks: decision.remarks.clone(),
        world: text.world.clone(),
        mode: text.mode.map(str::to_string),
        satisfied: decision.satisfied.as_ref().map(|(satisfied, _)| satisfied.into()),
        of: decision.satisfied.as_ref().map(|(_, of)| of.into()),
    }
}

impl PropertyReport {
    /// Returns the verdict for a text report: `holds`, `holds (certified)`, `unknown (timeout)`.
    pub(crate) fn verdict_text(&self) -> String {
        let certified = if self.certified == Some(true) { " (certified)" } else { "" };
        format!("{}{certified}", self.verdict)
    }
}

impl RunReport {
    /// Counts the verdicts and diagnostics of each kind.
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

    /// Returns the bugs of masque that were detected, one line each.
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
    write_printable_json(out, report)
}
