//! The report as text: one line per property, the evidence, the diagnostics, and a summary.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use masque_driver::{
    Because, CrossCheck, Decision, Diagnostic, Evidence, LabelledPath, Model, Severity, Shown, Sources,
    System, Verdict,
};
use masque_text::render;

use crate::bench_table::short;
use crate::evidence_context::EvidenceContext;
use crate::evidence_text::EvidenceWriter;
use crate::lcc_text::findings;
use crate::limits::Limits;
use crate::lines::{Lines, STRONG, WIDTH};
use crate::path::{PathReport, assignment};
use crate::run_text::View;
use crate::stats::RunStats;
use crate::summary::{size, summary};
use crate::{ExplanationReport, PropertyReport, RunReport, Subject};

/// Maximum number of warnings and notes shown per code. The others are counted.
const MAX_SHOWN_PER_CODE: usize = 8;
/// Maximum number of transitions shown of a path of a transition system.
const MAX_SHOWN_TRANSITIONS: usize = 60;

/// Amount of detail in the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Verdicts and errors.
    Quiet,
    /// Also warnings, notes, evidence and a summary.
    #[default]
    Normal,
    /// Also every diagnostic, every variable, and the language, size and options of the model.
    Verbose,
}

/// Options of the text report.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Whether to use colours.
    pub color: bool,
    /// Amount of detail.
    pub detail: Detail,
    /// Width of a line in columns, for texts that can be wrapped.
    pub width: usize,
    /// Whether evidence is part of the report; false if it is written to a file of its own.
    pub evidence: bool,
    /// Whether evidence is shown whole, however long it is.
    pub full: bool,
    /// How the runs of the evidence are written.
    pub view: View,
}

impl Default for Text {
    fn default() -> Self {
        Text {
            color: false,
            detail: Detail::Normal,
            width: WIDTH,
            evidence: true,
            full: false,
            view: View::Steps,
        }
    }
}

impl Text {
    /// Writes the report on one check; `position` is its index among several.
    pub fn run(
        self,
        out: &mut dyn Write,
        report: &RunReport,
        subject: Subject<'_>,
        position: Option<usize>,
    ) -> io::Result<()> {
        let name = subject.loaded.name();
        if let Some(position) = position {
            let is_long = !report.properties.is_empty() || !report.diagnostics.is_empty();
            if position > 0 && is_long && self.detail > Detail::Quiet {
                writeln!(out)?;
            }
            if !report.properties.is_empty() || self.detail == Detail::Verbose {
                writeln!(out, "{name}:")?;
            }
        }
        if self.detail == Detail::Verbose {
            self.preamble(out, report, subject)?;
        }
        self.properties(out, &report.properties)?;
        if self.detail > Detail::Quiet {
            if self.evidence {
                self.run_evidence(out, subject)?;
            }
            if !report.properties.is_empty() && !report.diagnostics.is_empty() {
                writeln!(out)?;
            }
        }
        self.all_diagnostics(out, subject)?;
        if self.detail > Detail::Quiet {
            let has_evidence = report.properties.iter().any(|p| p.evidence.is_some());
            if self.evidence && has_evidence && report.diagnostics.is_empty() {
                writeln!(out)?;
            }
            report.protocol.as_ref().map_or(Ok(()), |protocol| findings(out, protocol))?;
            writeln!(out, "{name}: {}", summary(report, subject.loaded))?;
            let details = subject.run.and_then(|run| run.system_details());
            if let Some(found) = details.and_then(|details| details.cross_check.as_ref()) {
                self.cross_check(out, found)?;
            }
        }
        if let Some(stats) = &report.stats {
            write_stats(out, stats)?;
        }
        Ok(())
    }

    /// Writes diagnostics of a file with excerpts of its text.
    pub fn diagnostics<'d>(
        self,
        out: &mut dyn Write,
        sources: &Sources,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    ) -> io::Result<()> {
        let mut shown = ShownCounts::default();
        for diagnostic in diagnostics {
            self.diagnostic(out, sources, diagnostic, &mut shown)?;
        }
        shown.rest(out)
    }

    fn preamble(self, out: &mut dyn Write, report: &RunReport, subject: Subject<'_>) -> io::Result<()> {
        let list =
            |entries: &[(String, String)]| entries.iter().map(assignment).collect::<Vec<_>>().join(", ");
        writeln!(out, "language: {}", report.language.as_deref().unwrap_or("unknown"))?;
        if subject.loaded.names.len() > 1 {
            writeln!(out, "files: {}", subject.loaded.names.join(", "))?;
        }
        if let Some(model) = &subject.loaded.model {
            writeln!(out, "model: {}", size(model))?;
        }
        if !report.parameters.0.is_empty() {
            let parameters: Vec<_> =
                report.parameters.0.iter().map(|(n, v)| (n.clone(), v.to_string())).collect();
            writeln!(out, "parameters: {}", list(&parameters))?;
        }
        if !report.options.0.is_empty() {
            writeln!(out, "options: {}", list(&report.options.0))?;
        }
        let details = subject.run.and_then(|run| run.system_details());
        match details.and_then(|details| details.reason.as_ref()) {
            None => writeln!(out, "engine: {}", report.engine),
            Some(reason) => writeln!(out, "engine: {} ({reason})", report.engine),
        }
    }

    /// Writes the result of the cross-check: with `-v`, or if engines were not compared.
    fn cross_check(self, out: &mut dyn Write, found: &CrossCheck) -> io::Result<()> {
        if found.is_complete() && self.detail < Detail::Verbose {
            return Ok(());
        }
        writeln!(out, "  cross-check: {found}")
    }

    /// The formula of a property: as written, or as parsed in a verbose report.
    fn formula(self, property: &PropertyReport) -> &str {
        if self.detail == Detail::Verbose { &property.formula } else { &property.text }
    }

    /// Writes one line per property: the verdict, the name, the formula.
    pub(crate) fn properties(self, out: &mut dyn Write, properties: &[PropertyReport]) -> io::Result<()> {
        let verdicts: Vec<String> = properties.iter().map(PropertyReport::verdict_text).collect();
        let verdict_width = verdicts.iter().map(String::len).max().unwrap_or_default();
        let name_width = properties.iter().map(|p| p.title.chars().count()).max().unwrap_or_default();
        for (property, verdict) in properties.iter().zip(&verdicts) {
            let style = match property.verdict {
                Verdict::Holds => AnsiColor::Green.on_default(),
                Verdict::Fails => AnsiColor::Red.on_default().bold(),
                Verdict::Unknown(_) => AnsiColor::Yellow.on_default(),
            };
            let style = if self.color { style } else { Style::new() };
            let PropertyReport { title, .. } = property;
            let formula = self.formula(property);
            let verdict = format!("{verdict:verdict_width$}");
            writeln!(out, "{style}{verdict}{style:#}  {title:>name_width$}  {formula}")?;
            for remark in &property.remarks {
                writeln!(out, "  note: {remark}")?;
            }
            if let Some(why) = &property.evidence_withheld {
                writeln!(out, "  evidence withheld: {why}")?;
            }
            if let Some(why) = &property.not_certified {
                writeln!(out, "  not certified: {why}")?;
            }
        }
        Ok(())
    }

    /// Writes the evidence for all verdicts of a check.
    pub(crate) fn run_evidence(self, out: &mut dyn Write, subject: Subject<'_>) -> io::Result<()> {
        for (property, decision) in subject.answers() {
            self.property_evidence(out, subject.loaded.model.as_ref(), &property.title, decision)?;
        }
        Ok(())
    }

    /// Writes the evidence for the verdict of a property, if there is any.
    pub(crate) fn property_evidence(
        self,
        out: &mut dyn Write,
        model: Option<&Model>,
        title: &str,
        decision: &Decision,
    ) -> io::Result<()> {
        let (Some(shown), Some(model)) = (&decision.evidence, model) else { return Ok(()) };
        let head = format!("{title} {}{}:", decision.verdict, after(model, shown));
        let mut lines = Lines { out, width: self.width, color: self.color };
        lines.empty()?;
        lines.line(&[(STRONG, head)])?;
        self.shown(out, model, shown)
    }

    /// Writes evidence as sentences, or as a chart for a protocol.
    pub(crate) fn shown(self, out: &mut dyn Write, model: &Model, shown: &Shown) -> io::Result<()> {
        match (shown, model) {
            (Shown::Reasons(evidence), Model::Ispl(system)) => self.claims(out, system, evidence),
            (Shown::Worlds(explanation), Model::Bdi(worlds)) => {
                self.explanation(out, &ExplanationReport::new(worlds, explanation), 1)
            }
            _ => self.run_shown(out, shown),
        }
    }

    /// Writes evidence that is a path of a protocol or of a transition system.
    pub fn run_shown(self, out: &mut dyn Write, shown: &Shown) -> io::Result<()> {
        match shown {
            Shown::Trace(trace) => self.trace(out, trace),
            Shown::Run(run) => self.labelled_run(out, run),
            Shown::Reasons(_) | Shown::Worlds(_) => Ok(()),
        }
    }

    /// Writes evidence about an interpreted system.
    pub(crate) fn claims(self, out: &mut dyn Write, system: &System, evidence: &Evidence) -> io::Result<()> {
        let mut context = EvidenceContext::new(system, evidence);
        if self.detail == Detail::Verbose {
            context = context.with_parsed_formulas();
        }
        let mut lines = Lines { out, width: self.width, color: self.color };
        EvidenceWriter::new(&context, &mut lines, self.limits(), self.view).write()
    }

    /// Writes a path of a transition system, one transition per line.
    fn labelled_run(self, out: &mut dyn Write, run: &LabelledPath) -> io::Result<()> {
        let n_shown = if self.full { usize::MAX } else { MAX_SHOWN_TRANSITIONS };
        let after_loop = run.back_to.and_then(|at| run.states.get(at));
        let mut targets = run.states.iter().skip(1).chain(after_loop);
        for (from, label) in run.states.iter().zip(&run.labels).take(n_shown) {
            let to = targets.next().copied().unwrap_or_default();
            writeln!(out, "  {from} --{label}--> {to}")?;
        }
        if run.labels.len() > n_shown {
            writeln!(out, "  .. {} more transitions (--full shows them all)", run.labels.len() - n_shown)?;
        }
        match (run.back_to, run.states.last()) {
            (Some(at), _) => {
                writeln!(out, "  repeated forever from state {}", run.states.get(at).unwrap_or(&0))
            }
            (None, Some(last)) if run.is_stuck => writeln!(out, "  state {last} has no transitions"),
            _ => Ok(()),
        }
    }

    pub(crate) fn all_diagnostics(self, out: &mut dyn Write, subject: Subject<'_>) -> io::Result<()> {
        let Subject { loaded, .. } = subject;
        let mut shown = ShownCounts::default();
        for diagnostic in &loaded.diagnostics {
            self.diagnostic(out, &loaded.sources, diagnostic, &mut shown)?;
        }
        let mut paths: Vec<(&str, PathReport)> = Vec::new();
        for finding in subject.findings() {
            let is_shown = self.diagnostic(out, &loaded.sources, &finding.diagnostic, &mut shown)?;
            let path = loaded.system().and_then(|system| PathReport::of_finding(system, finding));
            if let (true, Some(path)) = (is_shown, path) {
                let known = paths.iter().find(|(_, known)| known.states == path.states);
                self.path(out, &path, known)?;
                paths.push((finding.diagnostic.code, path));
            }
        }
        shown.rest(out)
    }

    /// Writes a path, or that it is the same as one that was written with a code before.
    fn path(
        self,
        out: &mut dyn Write,
        path: &PathReport,
        known: Option<&(&str, PathReport)>,
    ) -> io::Result<()> {
        match known {
            None => path.write_text(out, self.limits(), self.width)?,
            Some((code, known)) => path.write_reference(out, code, known, self.limits(), self.width)?,
        }
        writeln!(out)
    }

    /// Writes one diagnostic and an empty line. Returns whether the diagnostic was shown.
    pub(crate) fn diagnostic(
        self,
        out: &mut dyn Write,
        sources: &Sources,
        diagnostic: &Diagnostic,
        shown: &mut ShownCounts,
    ) -> io::Result<bool> {
        let is_shown = match (diagnostic.severity, self.detail) {
            (Severity::Error, _) | (_, Detail::Verbose) => true,
            (_, Detail::Quiet) => false,
            (_, Detail::Normal) => shown.has_room(diagnostic.code),
        };
        if is_shown {
            writeln!(out, "{}", render(sources, diagnostic, self.color))?;
        }
        Ok(is_shown)
    }

    pub(crate) fn limits(self) -> Limits {
        match self.detail {
            _ if self.full => Limits::NONE,
            Detail::Verbose => Limits::VERBOSE,
            Detail::Quiet | Detail::Normal => Limits::NORMAL,
        }
    }
}

/// The kind of the evidence, in words that follow the verdict.
pub(crate) fn after(model: &Model, shown: &Shown) -> String {
    match (shown, model) {
        (Shown::Reasons(evidence), _) => after_steps(evidence),
        (Shown::Worlds(explanation), Model::Bdi(worlds)) => {
            format!(" in {}", worlds.programs.path_text(&explanation.path))
        }
        _ => String::new(),
    }
}

/// The length of the first path of the evidence, in words that follow the verdict.
fn after_steps(evidence: &Evidence) -> String {
    let run = match &evidence.root().because {
        Because::Path(showing) if evidence.start.states.len() == 1 => &showing.run,
        _ => &evidence.start,
    };
    let holds = evidence.root().holds;
    match (run.back_to, run.states.len().saturating_sub(1)) {
        (Some(_), _) if holds => ", as this infinite path shows".to_string(),
        (Some(_), _) => " on this infinite path".to_string(),
        (None, 0) if holds => ", as this initial state shows".to_string(),
        (None, 0) => " at this initial state".to_string(),
        (None, 1) if holds => ", as one step shows".to_string(),
        (None, 1) => " after one step".to_string(),
        (None, n) if holds => format!(", as {n} steps show"),
        (None, n) => format!(" after {n} steps"),
    }
}

/// Number of diagnostics per code.
#[derive(Default)]
pub(crate) struct ShownCounts(BTreeMap<&'static str, usize>);

impl ShownCounts {
    fn has_room(&mut self, code: &'static str) -> bool {
        let count = self.0.entry(code).or_default();
        *count += 1;
        *count <= MAX_SHOWN_PER_CODE
    }

    /// Writes how many diagnostics of each code were not shown.
    pub(crate) fn rest(&self, out: &mut dyn Write) -> io::Result<()> {
        for (code, count) in self.0.iter().filter(|(_, count)| **count > MAX_SHOWN_PER_CODE) {
            writeln!(out, "and {} more of {code} (-v shows them all)\n", count - MAX_SHOWN_PER_CODE)?;
        }
        Ok(())
    }
}

pub(crate) fn write_stats(out: &mut dyn Write, stats: &RunStats) -> io::Result<()> {
    write!(out, "  loaded in {:.3} s, checked in {:.3} s", stats.load_seconds, stats.check_seconds)?;
    if let Some(bytes) = stats.peak_memory_bytes {
        write!(out, ", peak memory {}", megabytes(bytes))?;
    }
    writeln!(out)?;
    if let (Some(states), Some(model)) = (&stats.possible_states, &stats.model_size) {
        writeln!(out, "  |S| = {}, |M| = |S| + |S|² = {}", short(states), short(model))?;
    }
    for engine in &stats.engines {
        write!(out, "  {}: ", engine.name)?;
        for phase in &engine.phases {
            write!(out, "{} {:.3} s, ", phase.name, phase.seconds)?;
        }
        if let Some(states) = engine.states {
            write!(out, "{states} states, ")?;
        }
        if let Some(transitions) = engine.transitions {
            write!(out, "{transitions} transitions, ")?;
        }
        writeln!(out, "{}", megabytes(engine.bytes))?;
        if !engine.figures.0.is_empty() {
            let figures: Vec<String> =
                engine.figures.0.iter().map(|(name, n)| format!("{n} {name}")).collect();
            writeln!(out, "    {}", figures.join(", "))?;
        }
        for note in &engine.notes {
            writeln!(out, "    {note}")?;
        }
    }
    if let Some(states) = stats.explored_states {
        writeln!(out, "  stopped after {states} states")?;
    }
    for property in stats.properties.iter().filter(|p| p.engine.is_some()) {
        let engine = property.engine.as_deref().unwrap_or_default();
        writeln!(out, "  property {}: {engine}, {:.3} s", property.name, property.seconds)?;
    }
    Ok(())
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
