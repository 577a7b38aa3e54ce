//! Checking while agents interact. [ORW06 §6]
//!
//! A session is an instance that stays open: its rules and facts may change, the interaction may
//! move on, and properties are asked again and again.
//!
//! ```text
//! open ─▶ check ─▶ update(add rule, remove fact) ─▶ check ─▶ advance(what happened) ─▶ check ..
//! ```
//!
//! | file | defines |
//! |---|---|
//! | `mod` | opening a session, and asking |
//! | `update` | rules and facts that come and go |
//! | `advance` | what can happen now, and following what did |
//! | `incremental`, `memory` | what stands after a change, and what is remembered |
//! | `place` | the state as `now` and `mail` statements |

mod advance;
mod incremental;
mod memory;
mod place;
mod update;

use std::sync::Arc;

use masque_mu::{Property, Space, parse_formula, resolve};
use masque_text::{Diagnostic, FileId, Severity, Sources, did_you_mean};
use masque_verdict::{Budget, Verdict, Why, in_shares};

pub use advance::{CannotAdvance, Happened, Kind, Like, Moves, Next};
use memory::Memory;
pub use update::{Update, Updated};

use crate::check::Checked;
use crate::import::{Library, NoFiles};
use crate::instance::{Given, Opened, Parts, open_with};
use crate::options::Options;
use crate::system::System;

/// A text, with the name that messages show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Where it comes from, such as a file's name.
    pub name: String,
    /// What it says.
    pub text: String,
}

impl Text {
    /// A text with a name.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Text {
        Text { name: name.into(), text: text.into() }
    }
}

/// What a session may hold, whatever each question is allowed to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// At most so many states.
    pub states: Option<u64>,
    /// At most so many bytes.
    pub memory: Option<u64>,
}

/// What a session is opened with.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Texts with statements: protocol, team, knowledge, rules.
    pub files: Vec<Text>,
    /// Texts with properties, `name : formula ;` repeated.
    pub properties: Vec<Text>,
    /// Options by name and value, which override those in the texts.
    pub options: Vec<(String, String)>,
    /// What the session may hold.
    pub limits: Limits,
    /// Where imports are looked for that name none of the texts; nowhere if `None`.
    pub library: Option<Arc<dyn Library>>,
}

impl Setup {
    /// Where imports are looked for.
    pub(crate) fn library(&self) -> &dyn Library {
        self.library.as_deref().unwrap_or(&NoFiles)
    }
}

/// Texts that are no instance.
#[derive(Debug)]
pub struct Refused {
    /// The texts, which the diagnostics refer to.
    pub sources: Sources,
    /// What is wrong, and what else is to be said.
    pub diagnostics: Vec<Diagnostic>,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// A property of the instance, by name.
    Property(String),
    /// A formula.
    Formula(String),
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The property's name, or the formula's text.
    pub name: String,
    /// The verdict, what was looked at, and a run that shows it.
    pub checked: Checked,
    /// Patterns and atoms of the formula that match nothing because of a name.
    pub remarks: Vec<String>,
    /// Warnings about these names, if a formula was asked; those about properties are in
    /// [`Session::warnings`].
    pub warnings: Vec<Diagnostic>,
    /// What it took.
    pub work: Work,
}

/// What an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Whether an earlier answer still stands; then nothing else was done.
    pub is_kept: bool,
    /// Local situations that were looked into: what one agent can do, alone or with one message.
    pub situations: u64,
    /// States that were asked for their successors.
    pub lists: u64,
}

/// A formula that is asked: its number among all that are, and what is to be said of its names.
#[derive(Debug, Default)]
struct Asking {
    number: usize,
    remarks: Vec<String>,
    warnings: Vec<Diagnostic>,
}

/// A property as stated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stated {
    /// Its name.
    pub name: String,
    /// Its formula.
    pub formula: String,
}

/// An instance that stays open while agents interact.
///
/// ```
/// use masque_lcc::{Happened, Question, Session, Setup, Text, Update};
/// use masque_verdict::{Budget, Verdict, Why, in_shares};
///
/// let text = "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
///     a(clerk, C) :: opened(F) <= a(reader, R).
///     agent a(reader, rita).  agent a(clerk, carl).  know rita: open(diary).
///     rule archive: (S, _, +open(_)) <- member(S).  know archive: member(rita).
///     property ends : AF final ;";
/// let setup = Setup { files: vec![Text::new("archive.lcc", text)], ..Setup::default() };
/// let mut session = Session::open(setup).unwrap();
/// let ends = Question::Property("ends".to_string());
/// let budget = Budget::unlimited();
/// assert_eq!(session.check(&ends, false, &budget).unwrap().checked.verdict, Verdict::Holds);
///
/// // Rita is no longer a member: she is stuck, and the answer says why.
/// let leave = Update { remove: vec!["know archive: member(rita).".to_string()], ..Update::default() };
/// session.update(&leave).unwrap();
/// let reply = session.check(&ends, true, &budget).unwrap();
/// assert_eq!(reply.checked.verdict, Verdict::Fails);
/// let blame = reply.checked.trace.unwrap().blame;
/// assert!(blame[0].ends_with("rule 1 of archive requires member(rita)"), "{blame:?}");
///
/// // She had opened the diary by then, as it turns out, so nothing stands in the way.
/// session.update(&Update { add: leave.remove.clone(), ..Update::default() }).unwrap();
/// session.advance(&Happened::Pattern("#(open(diary))@rita".to_string())).unwrap();
/// session.update(&leave).unwrap();
/// assert_eq!(session.check(&ends, false, &budget).unwrap().checked.verdict, Verdict::Holds);
/// ```
#[derive(Debug)]
pub struct Session {
    sources: Sources,
    warnings: Vec<Diagnostic>,
    properties: Vec<Property>,
    space: Space<System>,
    memory: Memory,
    limits: Limits,
    /// How many of the texts will be needed again.
    n_texts: usize,
    /// Whether there may be states that can no longer be reached.
    has_past: bool,
}

impl Session {
    /// Opens an instance. Warnings do not prevent that: [`Session::warnings`] has them.
    pub fn open(setup: Setup) -> Result<Session, Box<Refused>> {
        let mut sources = Sources::default();
        let parts = match parts(&mut sources, &setup) {
            Ok(parts) => parts,
            Err(diagnostic) => return Err(Box::new(Refused { sources, diagnostics: vec![diagnostic] })),
        };
        let Opened { system, properties, diagnostics, .. } = open_with(&mut sources, &parts, setup.library());
        match system {
            Some(system) => {
                let (space, limits, n_texts) = (Space::new(system), setup.limits, sources.len());
                let memory = Memory::new(properties.iter().map(|property| property.formula.clone()));
                let warnings = diagnostics;
                Ok(Session { sources, warnings, properties, space, memory, limits, n_texts, has_past: false })
            }
            None => Err(Box::new(Refused { sources, diagnostics })),
        }
    }

    /// All texts that diagnostics of this session refer to. Those of a question or of an update
    /// that was refused are here until the next one.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// What was to be said of the texts when the session was opened.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The properties of the instance: those in its texts, what its obligations demand, then those
    /// of the property texts.
    pub fn properties(&self) -> Vec<Stated> {
        let stated = |property: &Property| Stated {
            name: property.source.name.text.clone(),
            formula: property.source.phi.to_string(),
        };
        self.properties.iter().map(stated).collect()
    }

    /// The ids of the team.
    pub fn team(&self) -> Vec<String> {
        self.space.system().team()
    }

    /// What changes the meaning of the instance.
    pub fn options(&self) -> &Options {
        self.space.system().options()
    }

    /// What the session may hold.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The bytes this takes, roughly.
    pub fn bytes(&self) -> u64 {
        let texts = self.sources.bytes();
        self.space.system().bytes() + self.space.bytes() + self.memory.bytes() + texts
    }

    /// How many states are known.
    pub fn n_states(&self) -> usize {
        self.space.system().n_states()
    }

    /// Answers a question about the state the interaction is in, with a run that shows the answer
    /// if `evidence` is wanted and there is one. What cannot be asked is told by diagnostics.
    ///
    /// An answer within limits is `unknown`, with the limit as its reason, and the session is as it
    /// was: the question may be asked again.
    pub fn check(
        &mut self,
        question: &Question,
        evidence: bool,
        budget: &Budget,
    ) -> Result<Reply, Vec<Diagnostic>> {
        let (name, asked, remarks, warnings) = match question {
            Question::Property(name) => {
                let found = self.properties.iter().position(|property| property.source.name.text == *name);
                let asked = found.ok_or_else(|| vec![no_property(&self.properties, name)])?;
                let remarks = self.space.system().remarks(&self.properties[asked].source.phi);
                (name.clone(), asked, remarks, Vec::new())
            }
            Question::Formula(text) => {
                let Asking { number, remarks, warnings } = self.formula(text)?;
                (text.clone(), number, remarks, warnings)
            }
        };
        self.make_room();
        let before = self.effort();
        let mut work = Work::default();
        let checked = match self.catch_up(budget) {
            Err(stop) => Checked::verdict(Verdict::Unknown(stop.why), 0, 0),
            Ok(()) => {
                let state = self.space.initial();
                let kept = self.memory.asked(asked).answer(state, evidence);
                work.is_kept = kept.is_some();
                kept.unwrap_or_else(|| self.answer(asked, evidence, budget))
            }
        };
        let after = self.effort();
        (work.situations, work.lists) = (after.situations - before.situations, after.lists - before.lists);
        Ok(Reply { name, checked, remarks, warnings, work })
    }

    /// Answers a question anew, and remembers the answer.
    fn answer(&mut self, asked: usize, evidence: bool, budget: &Budget) -> Checked {
        let was_empty = self.is_empty();
        let mut checked = self.solve(asked, evidence, &self.allowed(budget));
        if self.is_crowded(checked.verdict, was_empty) {
            self.forget();
            checked = self.solve(asked, evidence, &self.allowed(budget));
        }
        if !matches!(checked.verdict, Verdict::Unknown(_)) {
            let state = self.space.initial();
            self.memory.asked(asked).keep(state, evidence, &checked);
        }
        checked
    }

    /// What all answers so far have taken together.
    pub fn effort(&self) -> Work {
        let situations = self.space.system().situations.n_computed;
        Work { is_kept: false, situations, lists: self.space.n_asked() }
    }

    /// Reads a formula, unless it was asked before and nothing was to be said about it.
    fn formula(&mut self, text: &str) -> Result<Asking, Vec<Diagnostic>> {
        let known = self.memory.find(text);
        if let Some(number) = known.filter(|number| !self.memory.asked(*number).is_doubtful) {
            return Ok(Asking { number, ..Asking::default() });
        }
        let file = self.text("formula", text)?;
        let (phi, diagnostics) = parse_formula(&self.sources, self.sources.span(file));
        let Some(phi) = phi else { return Err(diagnostics) };
        let number = match known {
            Some(number) => number,
            None => {
                let (formula, diagnostics) = resolve(&phi, self.space.lts());
                self.memory.add(text.to_string(), formula.ok_or(diagnostics)?)
            }
        };
        let system = self.space.system();
        let (remarks, warnings) = (system.remarks(&phi), system.name_warnings(&phi));
        self.memory.asked(number).is_doubtful = !warnings.is_empty();
        Ok(Asking { number, remarks, warnings })
    }

    /// Adds a text that is needed until the next one is added, unless it is kept.
    fn text(&mut self, name: &str, text: &str) -> Result<FileId, Vec<Diagnostic>> {
        self.sources.truncate(self.n_texts);
        self.sources.add(name, text).map_err(|_| vec![too_large()])
    }

    /// Answers all properties of the instance, in their order, each within its share of the time.
    pub fn check_all(&mut self, evidence: bool, budget: &Budget) -> Vec<Reply> {
        let names: Vec<String> = self.properties().into_iter().map(|stated| stated.name).collect();
        let mut replies: Vec<Option<Reply>> = vec![None; names.len()];
        in_shares(names.len(), budget, |number, share| {
            let reply = self.check(&Question::Property(names[number].clone()), evidence, share).ok();
            replies[number] = reply;
            let is_open = |reply: &Reply| reply.checked.verdict == Verdict::Unknown(Why::Timeout);
            !replies[number].as_ref().is_some_and(is_open)
        });
        replies.into_iter().flatten().collect()
    }

    /// What is both permitted and forbidden, as `(subject,object,±action)`, in what has been looked
    /// into of what can be reached from here. After [`Session::explore`] that is everything.
    pub fn conflicts(&mut self) -> Vec<String> {
        self.findings().conflicts.into_iter().collect()
    }

    /// The constraints of which an agent knows nothing, as `agent: name/arity`, in what has been
    /// looked into of what can be reached from here.
    pub fn unknown_constraints(&mut self) -> Vec<String> {
        self.findings().unknown.into_iter().collect()
    }

    /// Whether no message is under way, and everybody has finished or is a server at rest.
    pub fn is_final(&mut self) -> bool {
        let state = self.space.initial();
        self.space.system().is_final(state)
    }

    /// Why nothing can happen, agent by agent; empty if something can, or if the state is final.
    pub fn blame(&mut self) -> Vec<String> {
        let state = self.space.initial();
        let system = self.space.lts();
        match system.is_stuck(state) {
            true => system.blame(state),
            false => Vec::new(),
        }
    }
}

/// A property that does not exist.
pub(crate) fn no_property(properties: &[Property], name: &str) -> Diagnostic {
    let names: Vec<&str> = properties.iter().map(|property| property.source.name.text.as_str()).collect();
    let help = did_you_mean(name, &names).unwrap_or_else(|| match names.is_empty() {
        true => "the instance has no properties; ask for a formula".to_string(),
        false => format!("the properties are {}", names.join(", ")),
    });
    let message = format!("there is no property called `{name}`");
    Diagnostic::nowhere(Severity::Error, "lcc/unknown-property", message).hint(help)
}

/// The texts of a setup as files.
pub(crate) fn parts(sources: &mut Sources, setup: &Setup) -> Result<Parts, Diagnostic> {
    let mut add = |name: &str, text: &str| sources.add(name, text).map_err(|_| too_large());
    let mut parts = Parts::default();
    for Text { name, text } in &setup.files {
        parts.files.push(add(name, text)?);
    }
    for Text { name, text } in &setup.properties {
        parts.properties.push(add(name, text)?);
    }
    for (name, value) in &setup.options {
        let file = sources.add("option", format!("{name}={value}")).map_err(|_| too_large())?;
        let span = sources.span(file);
        parts.options.push(Given { name: name.clone(), value: value.clone(), span });
    }
    Ok(parts)
}

/// The texts of a session outgrow the space of positions.
pub(crate) fn too_large() -> Diagnostic {
    let message = "the texts of this session together are larger than 4 GB";
    Diagnostic::nowhere(Severity::Error, "lcc/too-large", message)
}
