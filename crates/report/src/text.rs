//! The report as text: a line per property, what shows the failures, the diagnostics, a summary.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use masque_driver::{
    Because, CrossCheck, Diagnostic, Evidence, Outcome, Property, Severity, Sources, System,
};
use masque_text::render;

use crate::compare::Limits;
use crate::frame::Frame;
use crate::lines::{Lines, STRONG, WIDTH};
use crate::path::PathReport;
use crate::show::Teller;
use crate::stats::RunStats;
use crate::{Counts, ModelSize, PropertyReport, ProtocolReport, RunReport, Subject};

/// Of warnings and notes with one code so many are shown; the others are counted.
const MOST_OF_A_CODE: usize = 8;
/// Of a state and of a step so much is shown.
const LIMITS: Limits = Limits { variables: 24, actions: 12, rows: 12 };
/// All of it.
const NO_LIMITS: Limits = Limits { variables: usize::MAX, actions: usize::MAX, rows: usize::MAX };

/// How much is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// Verdicts and errors.
    Quiet,
    /// Warnings, notes, what shows the failures, and a summary.
    #[default]
    Normal,
    /// Every diagnostic, every variable, and what the file was taken to be.
    Verbose,
}

/// How the report is written.
#[derive(Clone, Copy, Debug)]
pub struct Text {
    /// Whether to use colours.
    pub color: bool,
    /// How much to tell.
    pub detail: Detail,
    /// Columns of a line, for what can be broken.
    pub width: usize,
    /// Whether what shows a verdict is part of the report; if not, it goes elsewhere.
    pub evidence: bool,
}

impl Default for Text {
    fn default() -> Self {
        Text { color: false, detail: Detail::Normal, width: WIDTH, evidence: true }
    }
}

impl Text {
    /// The report on one file; `position` is its place among several.
    pub fn run(
        self,
        out: &mut dyn Write,
        report: &RunReport,
        subject: Subject<'_>,
        position: Option<usize>,
    ) -> io::Result<()> {
        if let Some(position) = position {
            let is_long = !report.properties.is_empty() || !report.diagnostics.is_empty();
            if position > 0 && is_long && self.detail > Detail::Quiet {
                writeln!(out)?;
            }
            if !report.properties.is_empty() || self.detail == Detail::Verbose {
                writeln!(out, "{}:", subject.loaded.name)?;
            }
        }
        if self.detail == Detail::Verbose {
            self.preamble(out, report, subject)?;
        }
        self.properties(out, &report.properties)?;
        if self.detail > Detail::Quiet {
            self.run_evidence(out, subject)?;
            if !report.properties.is_empty() && !report.diagnostics.is_empty() {
                writeln!(out)?;
            }
        }
        self.all_diagnostics(out, report, subject)?;
        if self.detail > Detail::Quiet {
            let has_evidence = report.properties.iter().any(|p| p.evidence.is_some());
            if self.evidence && has_evidence && report.diagnostics.is_empty() {
                writeln!(out)?;
            }
            writeln!(out, "{}: {}", subject.loaded.name, summary(report))?;
            if let Some(found) = subject.run.and_then(|run| run.cross_check.as_ref()) {
                self.cross_check(out, found)?;
            }
        }
        if let Some(stats) = &report.stats {
            write_stats(out, stats)?;
        }
        Ok(())
    }

    /// The last line of a report on several files.
    pub fn total(self, out: &mut dyn Write, reports: &[RunReport]) -> io::Result<()> {
        if self.detail == Detail::Quiet {
            return Ok(());
        }
        let mut all = Counts::default();
        for counts in reports.iter().map(RunReport::counts) {
            all.hold += counts.hold;
            all.fail += counts.fail;
            all.unknown += counts.unknown;
            all.errors += counts.errors;
            all.warnings += counts.warnings;
            all.bugs += counts.bugs;
        }
        let parts: Vec<String> = [verdicts(all), problems(all)].into_iter().flatten().collect();
        let what = if parts.is_empty() { "nothing wrong".to_string() } else { parts.join("; ") };
        writeln!(out, "\n{} files: {what}", reports.len())
    }

    /// Diagnostics of a file, drawn in their text.
    pub fn diagnostics<'d>(
        self,
        out: &mut dyn Write,
        sources: &Sources,
        diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    ) -> io::Result<()> {
        let mut shown = Shown::default();
        for diagnostic in diagnostics {
            self.diagnostic(out, sources, diagnostic, &mut shown)?;
        }
        shown.rest(out)
    }

    fn preamble(self, out: &mut dyn Write, report: &RunReport, subject: Subject<'_>) -> io::Result<()> {
        let list = |entries: &[(String, String)]| {
            entries.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
        };
        writeln!(out, "language: {}", report.language.as_deref().unwrap_or("unknown"))?;
        if let Some(system) = subject.loaded.system.as_deref() {
            writeln!(out, "model: {}", size(ModelSize::new(system)))?;
        }
        if !report.parameters.0.is_empty() {
            let parameters: Vec<_> =
                report.parameters.0.iter().map(|(n, v)| (n.clone(), v.to_string())).collect();
            writeln!(out, "parameters: {}", list(&parameters))?;
        }
        if !report.options.0.is_empty() {
            writeln!(out, "options: {}", list(&report.options.0))?;
        }
        match subject.run.and_then(|run| run.reason.as_ref()) {
            None => writeln!(out, "engine: {}", report.engine),
            Some(reason) => writeln!(out, "engine: {} ({reason})", report.engine),
        }
    }

    /// That the engines agree, for those who want to know; that they were not compared, for all.
    fn cross_check(self, out: &mut dyn Write, found: &CrossCheck) -> io::Result<()> {
        match found.is_complete() && self.detail < Detail::Verbose {
            true => Ok(()),
            false => writeln!(out, "  cross-check: {found}"),
        }
    }

    /// One line each: the verdict, the name, the formula.
    pub(crate) fn properties(self, out: &mut dyn Write, properties: &[PropertyReport]) -> io::Result<()> {
        let verdicts: Vec<String> = properties.iter().map(verdict).collect();
        let verdict_width = verdicts.iter().map(String::len).max().unwrap_or_default();
        let name_width = properties.iter().map(|p| p.title.chars().count()).max().unwrap_or_default();
        for (property, verdict) in properties.iter().zip(&verdicts) {
            let style = match property.verdict.as_str() {
                "holds" => AnsiColor::Green.on_default(),
                "fails" => AnsiColor::Red.on_default().bold(),
                _ => AnsiColor::Yellow.on_default(),
            };
            let style = if self.color { style } else { Style::new() };
            let PropertyReport { title, formula, .. } = property;
            let verdict = format!("{verdict:verdict_width$}");
            writeln!(out, "{style}{verdict}{style:#}  {title:>name_width$}  {formula}")?;
            for remark in &property.remarks {
                writeln!(out, "  note: {remark}")?;
            }
            if let Some(why) = &property.evidence_withheld {
                writeln!(out, "  evidence withheld: {why}")?;
            }
        }
        Ok(())
    }

    /// What shows the verdicts of a file, where it is part of the report.
    pub(crate) fn run_evidence(
        self,
        out: &mut dyn Write,
        Subject { loaded, run }: Subject<'_>,
    ) -> io::Result<()> {
        let (Some(system), Some(run)) = (loaded.system.as_deref(), run.filter(|_| self.evidence)) else {
            return Ok(());
        };
        for (property, decided) in system.properties.iter().zip(&run.decided) {
            self.property_evidence(out, system, property, &decided.outcome)?;
        }
        Ok(())
    }

    /// What shows the verdict of a property, if anything does.
    pub(crate) fn property_evidence(
        self,
        out: &mut dyn Write,
        system: &System,
        property: &Property,
        outcome: &Outcome,
    ) -> io::Result<()> {
        let Some(evidence) = &outcome.evidence else { return Ok(()) };
        let frame = Frame::new(system, evidence);
        let mut lines = Lines { out, width: self.width, color: self.color };
        let head = format!("{} {}{}:", property.title, outcome.verdict, after(evidence));
        lines.empty()?;
        lines.line(&[(STRONG, head)])?;
        Teller::new(&frame, &mut lines, self.limits()).tell()
    }

    pub(crate) fn all_diagnostics(
        self,
        out: &mut dyn Write,
        report: &RunReport,
        Subject { loaded, run }: Subject<'_>,
    ) -> io::Result<()> {
        let mut shown = Shown::default();
        for diagnostic in &loaded.diagnostics {
            self.diagnostic(out, &loaded.sources, diagnostic, &mut shown)?;
        }
        let paths = report.diagnostics[loaded.diagnostics.len()..].iter().map(|d| d.path.as_ref());
        let findings = Subject { loaded, run }.findings();
        for (finding, path) in findings.iter().zip(paths) {
            let is_shown = self.diagnostic(out, &loaded.sources, &finding.diagnostic, &mut shown)?;
            if let (true, Some(path)) = (is_shown, path) {
                self.path(out, path)?;
            }
        }
        shown.rest(out)
    }

    fn path(self, out: &mut dyn Write, path: &PathReport) -> io::Result<()> {
        path.write_text(out, self.limits().variables, self.width)?;
        writeln!(out)
    }

    /// One diagnostic, followed by an empty line; says whether it was shown.
    pub(crate) fn diagnostic(
        self,
        out: &mut dyn Write,
        sources: &Sources,
        diagnostic: &Diagnostic,
        shown: &mut Shown,
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
        if self.detail == Detail::Verbose { NO_LIMITS } else { LIMITS }
    }
}

/// How far from an initial state the first run of evidence leads, in words.
pub(crate) fn after(evidence: &Evidence) -> String {
    let run = match &evidence.root().because {
        Because::Run(showing) if evidence.start.states.len() == 1 => &showing.run,
        _ => &evidence.start,
    };
    let holds = evidence.root().holds;
    match (run.back_to, run.states.len().saturating_sub(1)) {
        (Some(_), _) if holds => ", as a run that goes on for ever shows".to_string(),
        (Some(_), _) => ", on a run that goes on for ever".to_string(),
        (None, 0) if holds => ", as this initial state shows".to_string(),
        (None, 0) => " in this initial state".to_string(),
        (None, 1) if holds => ", as one step shows".to_string(),
        (None, 1) => " after one step".to_string(),
        (None, n) if holds => format!(", as {n} steps show"),
        (None, n) => format!(" after {n} steps"),
    }
}

/// How many diagnostics of each code there were.
#[derive(Default)]
pub(crate) struct Shown(BTreeMap<&'static str, usize>);

impl Shown {
    fn has_room(&mut self, code: &'static str) -> bool {
        let count = self.0.entry(code).or_default();
        *count += 1;
        *count <= MOST_OF_A_CODE
    }

    /// Counts what was not shown.
    pub(crate) fn rest(&self, out: &mut dyn Write) -> io::Result<()> {
        for (code, count) in self.0.iter().filter(|(_, count)| **count > MOST_OF_A_CODE) {
            writeln!(out, "and {} more of {code} (-v shows them all)\n", count - MOST_OF_A_CODE)?;
        }
        Ok(())
    }
}

/// The verdict with its reason: `holds`, `unknown(timeout)`.
fn verdict(property: &PropertyReport) -> String {
    match &property.reason {
        None => property.verdict.clone(),
        Some(reason) => format!("{}({reason})", property.verdict),
    }
}

/// What there is to say about a file in one line.
pub(crate) fn summary(report: &RunReport) -> String {
    let counts = report.counts();
    let mut parts = Vec::new();
    if let Some(model) = report.model {
        parts.push(size(model));
    } else if let Some(verdicts) = verdicts(counts) {
        // A BDI property says itself where it is asked.
        let is_everywhere = report.properties.iter().any(|p| p.at == "reachable" && p.world.is_none());
        parts.push(if is_everywhere { format!("{verdicts} (at all reachable states)") } else { verdicts });
    } else if counts.errors == 0 {
        parts.push("no formulas".to_string());
    }
    parts.extend(space(report));
    parts.extend(problems(counts));
    parts.join("; ")
}

/// `2 states`, or `2 states, 1 transition, 0 deadlocks, 1 final state`, as far as they were counted.
fn space(report: &RunReport) -> Option<String> {
    let counted = |n: &String, one, many| format!("{n} {}", if n == "1" { one } else { many });
    let mut parts: Vec<String> = report.states.iter().map(|n| counted(n, "state", "states")).collect();
    parts.extend(report.transitions.iter().map(|n| counted(n, "transition", "transitions")));
    if let Some(ProtocolReport { deadlocks: Some(deadlocks), finals: Some(finals), .. }) = &report.protocol {
        parts.push(counted(&deadlocks.to_string(), "deadlock", "deadlocks"));
        parts.push(counted(&finals.to_string(), "final state", "final states"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn size(model: ModelSize) -> String {
    let ModelSize { agents, variables, bits, formulas } = model;
    [
        plural(agents, "agent", "agents"),
        plural(variables, "variable", "variables"),
        plural(bits as usize, "bit", "bits"),
        plural(formulas, "formula", "formulas"),
    ]
    .join(", ")
}

/// `2 hold, 1 fails`
fn verdicts(counts: Counts) -> Option<String> {
    list([
        (counts.hold, "holds", "hold"),
        (counts.fail, "fails", "fail"),
        (counts.unknown, "unknown", "unknown"),
    ])
}

/// `1 error, 2 warnings`
fn problems(counts: Counts) -> Option<String> {
    list([(counts.errors, "error", "errors"), (counts.warnings, "warning", "warnings")])
}

fn list<const N: usize>(counts: [(usize, &str, &str); N]) -> Option<String> {
    let parts: Vec<String> =
        counts.iter().filter(|(n, ..)| *n > 0).map(|(n, one, many)| plural(*n, one, many)).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

pub(crate) fn write_stats(out: &mut dyn Write, stats: &RunStats) -> io::Result<()> {
    write!(out, "  loaded in {:.3} s, checked in {:.3} s", stats.load_seconds, stats.check_seconds)?;
    if let Some(bytes) = stats.peak_memory_bytes {
        write!(out, ", peak memory {}", megabytes(bytes))?;
    }
    writeln!(out)?;
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
