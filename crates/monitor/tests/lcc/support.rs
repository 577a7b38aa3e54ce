//! Opens models and writes observations.

use std::path::{Path, PathBuf};

use masque_lcc::{EventText, InstanceInput, OpenedInstance, open_with};
use masque_monitor::lcc::{Bounds, LccModel, Observation};
use masque_testkit::OpenFiles;
use masque_text::{Sources, Span};

/// Returns the folder of the LCC models.
fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/lcc")
}

/// Opens texts as one instance; `None` if there are errors.
pub(crate) fn try_open(texts: &[(&str, String)]) -> Option<(Sources, OpenedInstance)> {
    let mut sources = Sources::default();
    let mut input = InstanceInput::default();
    for (name, text) in texts {
        let file = sources.add(*name, text.clone()).unwrap();
        if name.ends_with(".mu") { input.properties.push(file) } else { input.files.push(file) }
    }
    let opened = open_with(&mut sources, &input, &OpenFiles::default());
    opened.system.is_some().then_some((sources, opened))
}

/// Makes a model from texts. Without patterns, the observable steps are the messages that are sent.
pub(crate) fn model_within(texts: &[(&str, String)], observable: &[&str], bounds: Bounds) -> LccModel {
    let (mut sources, opened) = try_open(texts).unwrap();
    let span = |pattern: &&str| {
        let file = sources.add("observable", pattern.to_string()).unwrap();
        sources.span(file)
    };
    let observable: Vec<Span> = observable.iter().map(span).collect();
    LccModel::new(&sources, opened, &observable, bounds).unwrap()
}

/// Returns the text of a file of `models/lcc`.
pub(crate) fn gallery_text(file: &str) -> String {
    std::fs::read_to_string(models().join(file)).unwrap()
}

/// A message from one agent to another.
pub(crate) fn message(from: &str, to: &str, message: &str) -> Observation {
    let text = EventText {
        from: Some(from.to_string()),
        to: Some(to.to_string()),
        message: Some(message.to_string()),
        ..EventText::default()
    };
    Observation::read(text).unwrap()
}

/// A step of an agent that used a constraint.
pub(crate) fn step(by: &str, constraint: &str) -> Observation {
    let text = EventText {
        by: Some(by.to_string()),
        constraint: Some(constraint.to_string()),
        ..EventText::default()
    };
    Observation::read(text).unwrap()
}
