//! LCC: the files of a protocol, its team, rules and properties become one instance, which is checked.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use masque_lcc::{Checked, Counts, InstanceInput, OpenedInstance, System, check_all, explore};
use masque_mu::Property;
use masque_text::{Diagnostic, Library, Severity, TooLarge};
use masque_verdict::{Budget, Phase, Show, Stats, Why};

use super::formulas::add_formulas;
use super::options::read_options;
use crate::check::{Certified, Decision, Details, Run, Shown};
use crate::decide::Cost;
use crate::file;
use crate::load::{Loaded, Model};
use crate::sent_model::NamedText;

/// Name of the engine that decides protocols and transition systems, in reports.
pub(crate) const LOCAL: &str = "local";

/// A protocol with its team, and its properties.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The transition system of the protocol, discovered while it is checked.
    pub system: System,
    /// The properties, in the order of the report.
    pub properties: Vec<Property>,
    /// The syntax trees of the files with statements.
    pub trees: Arc<Vec<masque_lcc::tree::Tree>>,
}

/// Findings about an LCC instance besides verdicts.
#[derive(Clone, Debug, Default)]
pub struct ProtocolDetails {
    /// Numbers of states and transitions, if counting was requested and no limit was hit. They are lower
    /// bounds if a bound of the model was reached.
    pub counts: Option<Counts>,
    /// Actions that were both permitted and forbidden, in the explored states.
    pub conflicts: Vec<String>,
    /// Constraints about which an agent has no facts, in the explored states.
    pub unknown_constraints: Vec<String>,
}

/// Reads files. A file that is named twice is read once.
pub(crate) fn read_once(files: &[PathBuf], library: &dyn Library, loaded: &mut Loaded) -> Vec<NamedText> {
    let (mut texts, mut seen) = (Vec::new(), BTreeSet::new());
    for path in files {
        if !seen.insert(library.identity(path)) {
            continue;
        }
        let name = file::display_name(path);
        loaded.names.push(name.clone());
        match file::read_within(path, loaded.sources.limits()) {
            Err(diagnostic) => loaded.diagnostics.push(*diagnostic),
            Ok(text) => texts.push((name, text)),
        }
    }
    texts
}

/// Reads the texts of protocols and rules, and of properties, as one instance. Fails if the texts are too large
/// together.
pub(crate) fn read(
    loaded: &mut Loaded,
    files: Vec<NamedText>,
    properties: Vec<NamedText>,
    library: &dyn Library,
) -> Result<(), TooLarge> {
    if files.is_empty() {
        let message = "there are properties, but no protocol to check them on".to_string();
        let help = "name the protocol and its team, too: `masque check protocol.lcc travel.mu`";
        loaded.diagnostics.push(file::error("cli/no-protocol", message).hint(help));
        return Ok(());
    }
    let mut parts = InstanceInput::default();
    for (name, text) in files {
        parts.files.push(loaded.sources.add(name, text)?);
    }
    loaded.texts.files = parts.files.clone();
    for (name, text) in properties {
        parts.properties.push(loaded.sources.add(name, text)?);
    }
    parts.options = read_options(loaded, "comm=sync")?;
    let OpenedInstance { system, mut properties, diagnostics, files, property_files, trees, .. } =
        masque_lcc::open_with(&mut loaded.sources, &parts, library);
    loaded.diagnostics.extend(diagnostics);
    let all = files.iter().chain(&property_files);
    loaded.names = all.map(|file| loaded.sources.name(*file).to_string()).collect();
    let Some(mut system) = system else { return Ok(()) };
    add_formulas(loaded, &mut system, &mut properties, System::name_warnings)?;
    loaded.options = system.options().changed();
    if !loaded.has_errors() {
        loaded.model = Some(Model::Lcc(Box::new(Instance { system, properties, trees: Arc::new(trees) })));
    }
    Ok(())
}

/// Decides the properties and, if `counts_states`, counts all states and transitions.
pub(crate) fn work(
    instance: Instance,
    counts_states: bool,
    show: Show,
    budget: &Budget,
    report: &mut dyn FnMut(usize, Decision),
) -> Run {
    let Instance { mut system, properties, .. } = instance;
    let start = Instant::now();
    let remarks: Vec<Vec<String>> =
        properties.iter().map(|property| system.remarks(&property.source.phi)).collect();
    let mut on_verdict =
        |index: usize, checked: &Checked| report(index, decision(checked, remarks[index].clone()));
    let checked = check_all(&mut system, &properties, show, budget, &mut on_verdict);
    let decisions = checked.iter().zip(&remarks).map(|(checked, remarks)| decision(checked, remarks.clone()));
    let decisions: Vec<Decision> = decisions.collect();
    let mut phases = vec![Phase { name: "properties".into(), time: start.elapsed() }];
    let mut findings = Vec::new();
    let mut counts = None;
    if counts_states {
        let before = Instant::now();
        let counted = explore(&mut system, budget).map_err(|stop| stop.why);
        findings.extend(not_counted(&counted).map(Into::into));
        counts = counted.ok();
        phases.push(Phase { name: "counting".into(), time: before.elapsed() });
    }
    let (states, bytes) = (Some(system.n_states() as u64), system.bytes());
    let exact = counts.as_ref().filter(|counts| counts.cut.is_none());
    Run {
        states: exact.map(|counts| counts.states.into()),
        transitions: exact.map(|counts| counts.transitions.into()),
        decisions,
        findings,
        costs: vec![Cost {
            engine: LOCAL.into(),
            stats: Stats { states, bytes, phases, ..Stats::default() },
        }],
        details: Details::Lcc(ProtocolDetails {
            counts,
            conflicts: system.conflicts(),
            unknown_constraints: system.unknown_constraints(),
        }),
        time: start.elapsed(),
        ..Run::default()
    }
}

/// The warning that not all states were counted; none if they were.
pub(crate) fn not_counted(counted: &Result<Counts, Why>) -> Option<Diagnostic> {
    let message = match counted {
        Err(why) => format!("the states could not be counted: {why}"),
        Ok(counts) => {
            let bound = counts.cut?;
            format!("not all states could be counted: {} within the bound `{bound}`", counts.states)
        }
    };
    let diagnostic = Diagnostic::nowhere(Severity::Warning, "cli/not-counted", message);
    Some(diagnostic.hint("raise a bound with `--option NAME=VALUE`, a limit with `--timeout` or `--memory`"))
}

fn decision(checked: &Checked, remarks: Vec<String>) -> Decision {
    Decision {
        verdict: checked.verdict,
        evidence: checked.trace.clone().map(|trace| Shown::Trace(Box::new(trace))),
        withheld: checked.withheld.clone(),
        certified: Certified::default(),
        remarks,
        engine: Some(LOCAL.into()),
        time: checked.time,
        satisfied: None,
    }
}
