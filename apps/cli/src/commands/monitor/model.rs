//! The model that a log is compared with, and the map.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use masque_driver::{
    self as driver, Diagnostic, ExprId, Limits, Loaded, LogConditions, Model, Request, Severity, Sources,
    System, Work,
};
use masque_monitor::WatchedProtocol;
use masque_monitor::WatchedSystem;
use masque_monitor::ispl::{IsplModel, IsplOptions, NotOpened, Vocabulary};
use masque_monitor::lcc::{Bounds, LccModel, ProtocolParts, obligations};
use masque_monitor::map::{Map, Order, READY_MAPS, no_map, read_map};
use masque_report::Detail;

use super::run::Run;
use crate::args::MonitorArgs;
use crate::{Context, Exit};

/// What records are compared with.
pub(super) struct Opened {
    pub(super) model: OpenedModel,
    pub(super) sources: Sources,
    pub(super) map: Option<Map>,
    /// Names of the files.
    pub(super) names: Vec<String>,
}

/// A model in one of the languages that can be monitored.
pub(super) enum OpenedModel {
    Protocol(Box<WatchedProtocol>),
    System(OpenedSystem),
}

/// An interpreted system that is not explored yet.
pub(super) struct OpenedSystem {
    system: Arc<System>,
    viewer: Option<driver::AgentId>,
    unseen: Option<ExprId>,
}

/// The text of a map.
struct MapText {
    name: String,
    text: String,
}

/// Reads the model and the map. Without them, returns the exit after the messages are written.
pub(super) fn open(
    args: &MonitorArgs,
    context: &Context,
    err: &mut dyn Write,
) -> anyhow::Result<Result<Opened, Exit>> {
    let limits = Limits::new(args.timeout, args.memory, &context.interrupt);
    let (mut sources, mut diagnostics) = (Sources::default(), Vec::new());
    let text = map_text(args, &limits, &mut diagnostics);
    // The conditions of the map are read with the model, so the map is read before it.
    let map = text.as_ref().and_then(|text| read(text, &mut sources, &mut diagnostics));
    if let Some(map) = &map {
        diagnostics.extend(unordered(args, map));
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        context.text.diagnostics(err, &sources, &diagnostics)?;
        return Ok(Err(Exit::BadInput));
    }
    let mut loaded = driver::load_within(&args.files, &request(args, map), &limits);
    context.loading(err, &loaded, Detail::Verbose)?;
    let Some(model) = loaded.model.take() else { return Ok(Err(Exit::without_model(&loaded))) };
    let Loaded { mut sources, names, unseen, .. } = loaded;
    // The patterns of observable steps are read among the texts of the model.
    let map = text.as_ref().and_then(|text| read(text, &mut sources, &mut diagnostics));
    let opened = match model {
        Model::Lcc(instance) => {
            let found = protocol(args, *instance, map.as_ref(), &mut sources);
            found.map_err(|found| diagnostics.extend(found)).ok()
        }
        Model::Ispl(system) => {
            interpreted(args, map.as_ref(), system, unseen).map_err(|found| diagnostics.push(*found)).ok()
        }
        Model::Bdi(_) | Model::Aut(_) => {
            let help = "BDI files and transition systems have no agents whose steps a log could describe";
            let languages = [driver::Language::Lcc, driver::Language::Ispl];
            diagnostics.push(driver::wrong_language("monitor", &languages, help));
            None
        }
    };
    context.text.diagnostics(err, &sources, &diagnostics)?;
    Ok(match opened {
        Some(model) => Ok(Opened { model, sources, map, names }),
        None => Err(Exit::BadInput),
    })
}

/// What is loaded: the files, and the conditions of the map.
fn request(args: &MonitorArgs, map: Option<Map>) -> Request {
    let map = map.unwrap_or_default();
    Request {
        properties: args.properties.clone(),
        defines: args.model.defines.clone(),
        deadlock: args.model.deadlock,
        overflow: args.model.overflow,
        options: args.model.options.clone(),
        property_files: args.model.property_files.clone(),
        import_roots: args.model.import_roots.clone(),
        log: LogConditions { unseen: args.unseen.clone().or(map.unseen), named: map.conditions },
        work: Work::default(),
        ..Request::default()
    }
}

fn protocol(
    args: &MonitorArgs,
    instance: driver::Protocol,
    map: Option<&Map>,
    sources: &mut Sources,
) -> Result<OpenedModel, Vec<Diagnostic>> {
    let misplaced = [("--as", args.agent.is_some()), ("--unseen", args.unseen.is_some())];
    if let Some((option, _)) = misplaced.iter().find(|(_, is_given)| *is_given) {
        let help = "`--observe PATTERN` says which steps of a protocol a log has";
        return Err(vec![driver::wrong_language(option, &[driver::Language::Ispl], help)]);
    }
    if map.is_some_and(|map| map.unseen.is_some() || !map.conditions.is_empty()) {
        let help = "`observable` says which steps of a protocol a log has";
        return Err(vec![foreign_key("`unseen` and `conditions`", "interpreted systems", help)]);
    }
    let mut observable = Vec::new();
    for pattern in &args.observable {
        let file = sources.add("<--observe>", pattern.as_str()).map_err(|_| vec![too_large()])?;
        observable.push(sources.span(file));
    }
    if observable.is_empty() {
        observable.extend(map.iter().flat_map(|map| map.observable.iter().copied()));
    }
    let obligations = obligations(&instance.trees);
    let parts = ProtocolParts {
        system: instance.system,
        properties: &instance.properties,
        obligations: &obligations,
    };
    let model = LccModel::of(sources, parts, &observable, Bounds::default())?;
    Ok(OpenedModel::Protocol(Box::new(WatchedProtocol(model))))
}

/// An error about keys of a map that the model does not have a use for.
fn foreign_key(keys: &str, models: &str, help: &str) -> Diagnostic {
    let message = format!("{keys} in a map are for {models}");
    Diagnostic::nowhere(Severity::Error, "monitor/map-key", message).hint(help)
}

fn interpreted(
    args: &MonitorArgs,
    map: Option<&Map>,
    system: Arc<System>,
    unseen: Option<ExprId>,
) -> Result<OpenedModel, Box<Diagnostic>> {
    if !args.observable.is_empty() {
        let help = "the records of an ISPL log have one step each; `--unseen CONDITION` allows others";
        return Err(Box::new(driver::wrong_language("--observe", &[driver::Language::Lcc], help)));
    }
    if map.is_some_and(|map| !map.observable.is_empty()) {
        let help = "the records of an ISPL log have one step each; `unseen` allows others";
        return Err(Box::new(foreign_key("patterns in `observable`", "protocols", help)));
    }
    let viewer = match &args.agent {
        Some(name) => Some(driver::find_agent(&system, name)?),
        None => None,
    };
    Ok(OpenedModel::System(OpenedSystem { system, viewer, unseen }))
}

impl OpenedSystem {
    /// Explores the system.
    pub(super) fn watched(&self, run: &Run<'_>) -> Result<WatchedSystem<'_>, NotOpened> {
        let options = IsplOptions { viewer: self.viewer, unseen: self.unseen, ..IsplOptions::default() };
        let model = IsplModel::open(&self.system, &options, &run.budget())?;
        Ok(WatchedSystem::new(model, Vocabulary::new(&self.system, self.viewer)))
    }
}

/// The text of the map: a file, or a map that is part of the program.
fn map_text(args: &MonitorArgs, limits: &Limits, diagnostics: &mut Vec<Diagnostic>) -> Option<MapText> {
    let name = args.map.as_ref()?;
    if let Some(map) = READY_MAPS.iter().find(|map| map.name == *name) {
        return Some(MapText { name: format!("{}.toml", map.name), text: map.text.to_string() });
    }
    if !name.contains(['.', '/', '\\']) && !Path::new(name).exists() {
        diagnostics.push(no_map(name));
        return None;
    }
    match driver::read_text_within(Path::new(name), driver::MAX_BYTES, limits) {
        Ok(text) => return Some(MapText { name: name.clone(), text }),
        Err(driver::Unread::Refused(diagnostic)) => diagnostics.push(*diagnostic),
        Err(driver::Unread::Stopped(why)) => {
            let message = format!("the map `{name}` could not be read: {}", why.word());
            diagnostics.push(Diagnostic::nowhere(Severity::Error, "load/stopped", message));
        }
    }
    None
}

/// Reads a map, whose text is added to the sources.
fn read(text: &MapText, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Option<Map> {
    let Ok(file) = sources.add(text.name.as_str(), text.text.as_str()) else {
        diagnostics.push(too_large());
        return None;
    };
    let (map, found) = read_map(sources, file);
    diagnostics.extend(found);
    Some(map)
}

/// The error about a map that waits for earlier records where each is decided when it arrives.
fn unordered(args: &MonitorArgs, map: &Map) -> Option<Diagnostic> {
    if !args.enforce || map.order == Order::Arrival {
        return None;
    }
    let message = "`--enforce` decides each record when it arrives, and the map waits for earlier ones";
    let diagnostic = Diagnostic::nowhere(Severity::Error, "monitor/map-value", message);
    Some(diagnostic.hint("remove `order = \"time\"` from the map"))
}

fn too_large() -> Diagnostic {
    Diagnostic::nowhere(Severity::Error, "file/too-large", "the texts together are larger than 4 GB")
}
