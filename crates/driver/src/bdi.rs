//! BDI files: from a path to worlds and verdicts.
//!
//! As for ISPL, a file becomes something whatever is wrong with it, and the work runs on a thread
//! of its own that is left behind when its time is up.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_bdi::Override;
use masque_bdi::plan::Plan;
use masque_text::{Diagnostic, FileId, Sources};
use masque_verdict::{Budget, Why};

use crate::file;
use crate::supervise::{Limits, Progress};
use crate::worker::listen;

pub use masque_bdi::model::Model;
pub use masque_bdi::symbolic::{Explanation, Removal, Shape, StateText};
pub use masque_bdi::{PropertyReport, Run, WorldReport, worlds_dot};

/// What is asked of a BDI file besides its text.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// `NAME=VALUE` texts that take the place of the file's options.
    pub options: Vec<String>,
    /// More formulas: in the top world, or `PATH : FORMULA`.
    pub properties: Vec<String>,
}

/// What became of a BDI file.
#[derive(Debug)]
pub struct Loaded {
    /// All texts that diagnostics point at.
    pub sources: Sources,
    /// The file's name as it was given.
    pub name: String,
    /// The model and its worlds, unless there are errors.
    pub model: Option<Arc<(Model, Plan)>>,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// How long it took.
    pub time: Duration,
}

/// Whether a file is one of BDI, by its name.
pub fn is_bdi(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bdi"))
}

/// Reads, parses and checks a BDI file. A file that cannot be read is one with a diagnostic.
pub fn load(path: &Path, request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new(file::display_name(path));
    match file::read(path) {
        Err(diagnostic) => loaded.diagnostics.push(*diagnostic),
        Ok(text) => loaded.read(text, request),
    }
    loaded.time = start.elapsed();
    loaded
}

/// Parses and checks a BDI text that has been read already.
///
/// ```
/// let text = "agent a is loop p := any endloop";
/// let loaded = masque_driver::bdi::load_text("tiny.bdi", text, &Default::default());
/// assert!(loaded.model.is_some());
/// ```
pub fn load_text(name: &str, text: &str, request: &Request) -> Loaded {
    let start = Instant::now();
    let mut loaded = Loaded::new(name.to_string());
    loaded.read(text.to_string(), request);
    loaded.time = start.elapsed();
    loaded
}

impl Loaded {
    fn new(name: String) -> Loaded {
        Loaded {
            sources: Sources::default(),
            name,
            model: None,
            diagnostics: Vec::new(),
            time: Duration::ZERO,
        }
    }

    /// Whether anything is wrong with the file, so that there is no model.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The options in force that are not at their default.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        self.model.as_ref().map(|model| model.0.options.entries()).unwrap_or_default()
    }

    fn read(&mut self, text: String, request: &Request) {
        let Ok(file) = self.sources.add(self.name.as_str(), text) else {
            self.diagnostics.push(file::too_large(&self.name));
            return;
        };
        if self.elaborate(file, request).is_none() {
            let message = "the texts of the options `--option` and `--property` are too large".to_string();
            self.diagnostics.push(file::error("file/too-large", message));
        }
    }

    /// `None` if the texts outgrow the sources.
    fn elaborate(&mut self, file: FileId, request: &Request) -> Option<()> {
        let (mut tree, diagnostics) = masque_bdi::parse(&self.sources, file);
        self.diagnostics = diagnostics;
        let mut overrides = Vec::new();
        for text in &request.options {
            let given = self.sources.add("<--option>", text.as_str()).ok()?;
            let span = self.sources.span(given);
            match text.split_once('=') {
                Some((name, value)) => {
                    let (name, value) = (name.trim().to_string(), value.trim().to_string());
                    overrides.push(Override { name, value, span });
                }
                None => {
                    let message = format!("`{text}` is not of the form `NAME=VALUE`");
                    let diagnostic = Diagnostic::error("cli/bad-option", span, message);
                    self.diagnostics.push(diagnostic.hint("for example `--option condition2=infer`"));
                }
            }
        }
        for property in &request.properties {
            let file = self.sources.add("<--property>", property.as_str()).ok()?;
            self.diagnostics.extend(masque_bdi::parse_property(&self.sources, file, &mut tree));
        }
        if self.has_errors() {
            return Some(());
        }
        let checked = masque_bdi::check(&tree, &overrides);
        self.diagnostics.extend(checked.diagnostics);
        self.model = checked.model.map(Arc::new);
        Some(())
    }
}

/// What the work tells.
enum Event {
    Decided(usize, Box<PropertyReport>),
    Done(Run),
}

/// Builds the worlds of a file and decides its properties; what is not decided in time is unknown.
///
/// # Panics
///
/// If the work does: its bug is handed on.
pub fn check(model: &Arc<(Model, Plan)>, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> Run {
    let total = model.0.properties.len();
    let (mut decided, mut done): (Vec<Option<PropertyReport>>, _) = (vec![None; total], None);
    let on_thread = Arc::clone(model);
    let work = move |budget: &Budget, sender: &Sender<Event>| {
        let mut decided = |index: usize, report: &PropertyReport| {
            _ = sender.send(Event::Decided(index, Box::new(report.clone())));
        };
        let run = masque_bdi::run(&on_thread.0, &on_thread.1, budget, &mut decided);
        _ = sender.send(Event::Done(run));
    };
    let why = listen(limits, &limits.budget(), work, &mut |event| {
        match event {
            Some(Event::Decided(index, report)) => decided[index] = Some(*report),
            Some(Event::Done(run)) => done = Some(run),
            None => {}
        }
        let n_decided = decided.iter().flatten().count();
        observe(Progress { decided: n_decided, total, is_explored: n_decided > 0, found: None });
    });
    done.unwrap_or_else(|| abandoned(&model.0, decided, why.unwrap_or(Why::Timeout)))
}

/// What is known when the work is left behind.
fn abandoned(model: &Model, decided: Vec<Option<PropertyReport>>, why: Why) -> Run {
    let properties = decided
        .into_iter()
        .enumerate()
        .map(|(index, report)| report.unwrap_or_else(|| PropertyReport::undecided(model, index, why)))
        .collect();
    Run { properties, ..Run::default() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    /// A counter that takes longer than anyone waits.
    const LONG: &str = "agent a is var n : 0..16777215; loop if n < 16777215 then n := n + 1 endloop
        property p: EF n = 16777215;";

    fn verdicts(run: &Run) -> Vec<String> {
        run.properties.iter().map(|p| p.verdict.to_string()).collect()
    }

    #[test]
    fn a_file_is_checked() {
        let text = "agent a is loop p := any endloop property q initially: EF p;";
        let request = Request { options: vec![], properties: vec!["a : AF p".to_string()] };
        let loaded = load_text("a.bdi", text, &request);
        let run = check(&loaded.model.unwrap(), &Limits::default(), &mut |_| {});
        assert_eq!(verdicts(&run), ["holds", "fails"]);
    }

    #[test]
    fn a_deadline_is_kept() {
        let loaded = load_text("a.bdi", LONG, &Request::default());
        let start = Instant::now();
        let deadline = Some(start + Duration::from_millis(100));
        let limits = Limits { deadline, ..Limits::default() };
        let run = check(&loaded.model.unwrap(), &limits, &mut |_| {});
        assert_eq!(verdicts(&run), ["unknown(timeout)"]);
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn an_interrupt_is_heard() {
        let loaded = load_text("a.bdi", LONG, &Request::default());
        let limits = Limits::default();
        limits.interrupt.store(true, Ordering::Relaxed);
        let run = check(&loaded.model.unwrap(), &limits, &mut |_| {});
        assert_eq!(verdicts(&run), ["unknown(interrupted)"]);
    }

    #[test]
    fn options_from_outside_win_and_are_checked() {
        let text = "agent a is loop p := any endloop option delay = none;";
        let load = |option: &str| {
            let request = Request { options: vec![option.to_string()], properties: vec![] };
            load_text("a.bdi", text, &request)
        };
        assert_eq!(load("delay=all").options(), [("delay", "all".to_string())]);
        assert_eq!(load("delay").diagnostics[0].code, "cli/bad-option");
        assert_eq!(load("dealy=all").diagnostics[0].code, "bdi/unknown-option");
        assert_eq!(load("nesting=-1").diagnostics[0].code, "bdi/bad-option");
    }
}
