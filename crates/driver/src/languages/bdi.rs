//! BDI: a text becomes programs and their worlds, which are checked.

use std::sync::Arc;
use std::time::Duration;

use masque_bdi::RunOptions;
use masque_bdi::model::Model as Programs;
use masque_bdi::outcome::PropertyResult;
use masque_bdi::plan::Plan;
use masque_text::{Library, TooLarge};
use masque_verdict::{Budget, Phase, Stats};

use super::options::read_options;
use crate::check::{Certified, Decision, Details, Run, Shown};
use crate::decide::Cost;
use crate::load::{Loaded, Model};
use crate::sent_model::NamedText;

/// The programs of a BDI file and their worlds.
#[derive(Clone, Debug)]
pub struct Worlds {
    /// The agents' programs and the properties.
    pub programs: Programs,
    /// The worlds, in the order in which they are built.
    pub plan: Plan,
}

/// Reads a BDI file and its imports with the options and properties of the request. Fails if the texts are too
/// large.
pub(crate) fn read(
    loaded: &mut Loaded,
    model: NamedText,
    properties: Vec<NamedText>,
    library: &dyn Library,
) -> Result<(), TooLarge> {
    let request = loaded.request.clone();
    let file = loaded.add_texts(model, properties)?;
    let system = masque_bdi::parse_system(&mut loaded.sources, file, library);
    let is_part = system.tree.is_part();
    let masque_bdi::System { mut tree, files, imports, diagnostics } = system;
    loaded.diagnostics = diagnostics;
    loaded.set_files(files, imports);
    for file in &loaded.texts.properties {
        loaded.diagnostics.extend(masque_bdi::parse_properties(&loaded.sources, *file, &mut tree));
    }
    let overrides = read_options(loaded, "condition2=infer")?;
    for property in &request.properties {
        let file = loaded.sources.add("<--property>", property.as_str())?;
        loaded.diagnostics.extend(masque_bdi::parse_property(&loaded.sources, file, &mut tree));
    }
    if loaded.has_errors() || loaded.sources.limits().exceeded().is_some() {
        return Ok(());
    }
    let checked = masque_bdi::check_within(&tree, &overrides, loaded.sources.limits());
    loaded.diagnostics.extend(checked.diagnostics);
    loaded.note_part(is_part);
    if let Some((programs, plan)) = checked.model {
        loaded.options = programs.options.entries();
        loaded.model = Some(Model::Bdi(Arc::new(Worlds { programs, plan })));
    }
    Ok(())
}

/// Builds the worlds and decides the properties.
pub(crate) fn work(
    worlds: &Worlds,
    options: RunOptions,
    budget: &Budget,
    report: &mut dyn FnMut(usize, Decision),
) -> Run {
    let mut on_verdict = |index: usize, property: &PropertyResult| report(index, decision(property));
    let run = masque_bdi::run_with(&worlds.programs, &worlds.plan, options, budget, &mut on_verdict);
    let phase = |name: &'static str, time: Duration| Phase { name: name.into(), time };
    let stats = Stats {
        bytes: run.peak_bytes,
        phases: vec![phase("worlds", run.building), phase("properties", run.deciding)],
        figures: vec![("bits".into(), u64::from(run.bits)), ("peak nodes".into(), run.peak_nodes as u64)],
        ..Stats::default()
    };
    Run {
        decisions: run.properties.iter().map(decision).collect(),
        findings: run.diagnostics.into_iter().map(Into::into).collect(),
        costs: vec![Cost { engine: "symbolic".into(), stats }],
        bugs: run.bugs,
        time: run.building + run.deciding,
        details: Details::Bdi(run.worlds),
        ..Run::default()
    }
}

fn decision(property: &PropertyResult) -> Decision {
    Decision {
        verdict: property.verdict,
        evidence: property.evidence.clone().map(|explanation| Shown::Worlds(Box::new(explanation))),
        withheld: property.withheld.clone(),
        certified: Certified::default(),
        satisfied: property.satisfied.clone(),
        ..Decision::default()
    }
}
