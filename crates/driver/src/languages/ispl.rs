//! ISPL: a text becomes an interpreted system.

use std::sync::Arc;

use masque_certificate::digest;
use masque_ispl::{Options, SplitClasses};
use masque_model::System;
use masque_text::{Library, TooLarge};

use crate::engines::{CertificateHeader, EngineOptions};
use crate::load::{Loaded, Model};
use crate::parallel::ParallelChoice;
use crate::sent_model::NamedText;
use crate::{define, order, parallel};

/// Reads an ISPL file and its imports with the parameters and properties of the request. The tree is checked only
/// if there are no syntax errors, because a missing declaration would cause further errors wherever its name is
/// used. Fails if the texts are too large.
pub(crate) fn read(
    loaded: &mut Loaded,
    model: NamedText,
    properties: Vec<NamedText>,
    library: &dyn Library,
) -> Result<(), TooLarge> {
    let request = loaded.request.clone();
    let file = loaded.add_texts(model, properties)?;
    let model = masque_ispl::parse_model(&mut loaded.sources, file, library);
    let is_part = model.tree.is_part();
    let masque_ispl::Model { mut tree, files, imports, diagnostics } = model;
    loaded.diagnostics = diagnostics;
    loaded.set_files(files, imports);
    for file in &loaded.texts.properties {
        loaded.diagnostics.extend(masque_ispl::parse_properties(&loaded.sources, *file, &mut tree));
    }
    let (defines, diagnostics) = define::read(&request.defines, &mut loaded.sources)?;
    loaded.diagnostics.extend(diagnostics);
    for property in &request.properties {
        let file = loaded.sources.add("<--property>", property.as_str())?;
        loaded.diagnostics.extend(masque_ispl::parse_property(&loaded.sources, file, &mut tree));
    }
    for text in request.work.parallel.iter().flat_map(ParallelChoice::classes) {
        let file = loaded.sources.add("<--split>", text)?;
        loaded.diagnostics.extend(masque_ispl::parse_split(&loaded.sources, file, &mut tree));
    }
    let condition_files = request.log.parse(loaded, &mut tree)?;
    let header = request.work.certify.then(|| CertificateHeader {
        model: digest(loaded.texts.files.iter().map(|file| loaded.sources.text(*file))),
        parameters: defines.iter().map(|define| format!("{}={}", define.name, define.value)).collect(),
    });
    loaded.options = request.meaning();
    if loaded.has_errors() || loaded.sources.limits().exceeded().is_some() {
        return Ok(());
    }
    let options = Options {
        defines,
        at: request.at,
        deadlock: request.deadlock,
        overflow: request.overflow,
        strategies: request.strategies,
    };
    let checked = masque_ispl::check(&loaded.sources, &mut tree, &options);
    loaded.diagnostics.extend(checked.diagnostics);
    loaded.parameters = checked.parameters;
    loaded.note_part(is_part);
    if let Some(mut system) = checked.system {
        request.log.apply(loaded, &mut system, &checked.conditions, &condition_files);
        if loaded.has_errors() {
            return Ok(());
        }
        finish(loaded, system, checked.split);
        loaded.engine_options.certify = header;
    }
    Ok(())
}

/// Makes a system the model, and resolves the names of variables in the engine options.
fn finish(loaded: &mut Loaded, mut system: System, split: SplitClasses) {
    system.add_strict_readings();
    let work = loaded.request.work.clone();
    let order = order::resolve(&work.order, &system, &mut loaded.sources);
    let parallel = parallel::resolve(work.parallel.as_ref(), work.engine, split);
    loaded.model = Some(Model::Ispl(Arc::new(system)));
    match (order, parallel) {
        (Ok(order), Ok(parallel)) => {
            loaded.engine_options = EngineOptions {
                choice: work.engine,
                order,
                reorder: work.reorder,
                parallel,
                jobs: work.jobs,
                cross_check: work.cross_check,
                evidence: work.evidence,
                extents: work.extents,
                quick: work.quick,
                certify: None,
                cluster: None,
            };
        }
        (order, parallel) => {
            loaded.refuse(order.err().into_iter().flatten().chain(parallel.err().map(|refusal| *refusal)));
        }
    }
}
