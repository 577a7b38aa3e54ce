//! Sessions: checking while agents interact. [ORW06 §6]
//!
//! A session is an instance that stays open: its rules and facts may change, the interaction may
//! move on, and properties are checked repeatedly.
//!
//! ```text
//! open ─▶ check ─▶ update(add rule, remove fact) ─▶ check ─▶ advance(event) ─▶ check ..
//! ```
//!
//! | file | defines |
//! |---|---|
//! | `mod` | opening a session and asking questions |
//! | `setup` | the texts, options and limits from which a session is opened |
//! | `update` | adding and removing rules and facts |
//! | `restructure` | adding and removing clauses and members of the team |
//! | `advance` | the possible events, and advancing by one of them |
//! | `incremental`, `answer_cache` | results that remain valid after a change |
//! | `state` | reading and setting the state as `now` and `mail` statements |
//! | `tuple` | the same as the paper's tuple |
//! | `snapshot` | what has changed since the session was opened, to restore it |

mod advance;
mod answer_cache;
mod incremental;
mod restructure;
mod setup;
mod snapshot;
mod state;
mod tuple;
mod update;

use masque_mu::{Formula, Lts, Property, Space, parse_formula, resolve};
use masque_text::{Diagnostic, FileId, OptionOverride, ReadLimits, Severity, Sources, did_you_mean};
use masque_verdict::{Budget, Stop, Verdict, Why, run_in_shares};

pub use advance::{CannotAdvance, EventDescription, EventKind, EventSelector, PossibleEvent, PossibleEvents};
use answer_cache::AnswerCache;
pub use setup::{Limits, RefusedTexts, Setup, Text};
pub(crate) use setup::{parts, too_large};
use snapshot::History;
pub use snapshot::Snapshot;
pub(crate) use tuple::{TupleHead, framework_texts, knowledge_texts};
pub use update::{Update, UpdateSummary};

use crate::check::Checked;
use crate::instance::{BYTES_PER_FORMULA_BYTE, BYTES_PER_PROPERTY, OpenedInstance, open_with};
use crate::lint::BYTES_PER_DIAGNOSTIC;
use crate::options::Options;
use crate::system::System;
use crate::tree::{Item, Obligation};

/// Estimated bytes of a session without its program, states and answers.
const BYTES_PER_SESSION: u64 = 16 << 10;

/// The error if a session refuses a text. The session is unchanged.
#[derive(Clone, Debug)]
pub enum Refused {
    /// The text is not valid.
    Invalid(Vec<Diagnostic>),
    /// A limit was exceeded.
    Stopped(Stop),
}

impl From<Vec<Diagnostic>> for Refused {
    fn from(diagnostics: Vec<Diagnostic>) -> Refused {
        Refused::Invalid(diagnostics)
    }
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Refused {
        Refused::Stopped(stop)
    }
}

impl Refused {
    /// The diagnostics, for a caller without limits.
    fn into_diagnostics(self) -> Vec<Diagnostic> {
        match self {
            Refused::Invalid(diagnostics) => diagnostics,
            Refused::Stopped(stop) => {
                let message = format!("reading was stopped: {stop}");
                vec![Diagnostic::nowhere(Severity::Error, "load/stopped", message)]
            }
        }
    }
}

/// A question to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// A property of the instance, by name.
    Property(String),
    /// A formula.
    Formula(String),
}

/// The reply to a question.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Name of the property, or text of the formula.
    pub name: String,
    /// The verdict, and a run that shows it.
    pub checked: Checked,
    /// Patterns and atoms of the formula that match nothing because of a name.
    pub remarks: Vec<String>,
    /// Warnings about these names, if a formula was asked; warnings about properties are in
    /// [`Session::warnings`].
    pub warnings: Vec<Diagnostic>,
    /// Work spent on the reply.
    pub work: Work,
}

/// The work spent on a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Whether an earlier answer was reused without further work.
    pub is_kept: bool,
    /// Number of local situations computed: the steps of one agent, alone or with one message.
    pub situations: u64,
    /// Number of states whose list of successors was computed.
    pub lists: u64,
}

/// A formula that is asked: its index in the cache, and remarks and warnings about its names.
#[derive(Debug, Default)]
struct AskedFormula {
    index: usize,
    remarks: Vec<String>,
    warnings: Vec<Diagnostic>,
}

/// A property of the instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFormula {
    /// Name of the property.
    pub name: String,
    /// Its formula, as text.
    pub formula: String,
}

/// Number of texts of updates that a session keeps before it looks for those that can be removed.
const MIN_UPDATE_TEXTS: usize = 4;

/// An instance that stays open while agents interact.
///
/// ```
/// use masque_lcc::{EventSelector, Question, Session, Setup, Text, Update};
/// use masque_verdict::{Budget, Verdict};
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
/// // Rita is no longer a member: she is stuck, and the reply says why.
/// let leave = Update { remove: vec!["know archive: member(rita).".to_string()], ..Update::default() };
/// session.update(&leave).unwrap();
/// let reply = session.check(&ends, true, &budget).unwrap();
/// assert_eq!(reply.checked.verdict, Verdict::Fails);
/// let blame = reply.checked.trace.unwrap().blame;
/// assert!(blame[0].ends_with("rule 1 of archive requires member(rita)"), "{blame:?}");
///
/// // If she had opened the diary before she left, nothing would prevent her from finishing.
/// session.update(&Update { add: leave.remove.clone(), ..Update::default() }).unwrap();
/// session.advance(&EventSelector::Pattern("#(open(diary))@rita".to_string())).unwrap();
/// session.update(&leave).unwrap();
/// assert_eq!(session.check(&ends, false, &budget).unwrap().checked.verdict, Verdict::Holds);
/// ```
#[derive(Debug)]
pub struct Session {
    pub(crate) sources: Sources,
    warnings: Vec<Diagnostic>,
    properties: Vec<Property>,
    pub(crate) space: Space<System>,
    answers: AnswerCache,
    limits: Limits,
    /// Number of texts that are kept; later ones are removed with the next question or update.
    n_texts: usize,
    /// Number of texts with which the session was opened.
    n_opened_texts: usize,
    /// Number of texts at which those without statements are removed.
    max_texts: usize,
    /// Whether some states may be unreachable from the current one.
    pub(crate) has_past: bool,
    /// Estimated bytes of what never changes.
    fixed_bytes: u64,
    /// What has changed since the session was opened.
    history: History,
    /// Id of the interaction, as text, if a tuple gave it.
    pub(crate) interaction: Option<String>,
    /// The texts and options with which the session was opened.
    read: ReadTexts,
    /// The obligations of the texts, in the order of their properties.
    pub(crate) obligations: Vec<Obligation>,
}

/// The texts and options with which a session was opened. The texts are in its sources.
#[derive(Clone, Debug, Default)]
struct ReadTexts {
    /// Files with statements.
    files: Vec<FileId>,
    /// For each of these, the indices of the files that it imports.
    imports: Vec<Vec<usize>>,
    /// Files with properties.
    property_files: Vec<FileId>,
    options: Vec<OptionOverride>,
}

impl Session {
    /// Opens a session. Warnings do not prevent that; they are available as [`Session::warnings`].
    pub fn open(setup: Setup) -> Result<Session, Box<RefusedTexts>> {
        Session::open_within(&setup, &Budget::unlimited())
    }

    /// Opens a session within the time and memory of a budget.
    pub fn open_within(setup: &Setup, budget: &Budget) -> Result<Session, Box<RefusedTexts>> {
        let mut sources = Sources::with_limits(budget.read_limits());
        let parts = match parts(&mut sources, setup) {
            Ok(parts) => parts,
            Err(diagnostic) => return Err(RefusedTexts::new(sources, vec![diagnostic])),
        };
        let OpenedInstance { system, properties, diagnostics, files, property_files, imports, trees, .. } =
            open_with(&mut sources, &parts, setup.library());
        match system {
            Some(system) => {
                sources.lift_limits();
                let (space, limits, n_texts) = (Space::new(system), setup.limits, sources.len());
                let answers = AnswerCache::new(properties.iter().map(|property| property.formula.clone()));
                let warnings = diagnostics;
                let fixed_bytes = fixed_bytes(&warnings, &properties);
                let obligations =
                    trees.into_iter().flat_map(|tree| tree.items).filter_map(|item| match item {
                        Item::Obligation(obligation) => Some(obligation),
                        _ => None,
                    });
                Ok(Session {
                    fixed_bytes,
                    sources,
                    warnings,
                    properties,
                    space,
                    answers,
                    limits,
                    n_texts,
                    n_opened_texts: n_texts,
                    max_texts: n_texts + MIN_UPDATE_TEXTS,
                    has_past: false,
                    history: History::default(),
                    interaction: None,
                    read: ReadTexts { files, imports, property_files, options: parts.options },
                    obligations: obligations.collect(),
                })
            }
            None => Err(RefusedTexts::new(sources, diagnostics)),
        }
    }

    /// Returns the texts that diagnostics of this session refer to. The text of a question or of a refused
    /// update is available until the next one.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the warnings about the texts with which the session was opened.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Returns the properties of the instance: those in its texts, obligations included, then those of the
    /// property texts.
    pub fn properties(&self) -> Vec<NamedFormula> {
        let named = |property: &Property| NamedFormula {
            name: property.source.name.text.clone(),
            formula: property.source.phi.to_string(),
        };
        self.properties.iter().map(named).collect()
    }

    /// Returns the transition system with the current state as its first, the properties, and the obligations, so that
    /// a log can be followed from here.
    pub fn protocol(&self) -> (System, Vec<Property>, Vec<Obligation>) {
        (self.space.system().clone(), self.properties.clone(), self.obligations.clone())
    }

    /// Returns the ids of the team.
    pub fn team(&self) -> Vec<String> {
        self.space.system().team()
    }

    /// Returns the options of the instance.
    pub fn options(&self) -> &Options {
        self.space.system().options()
    }

    /// Returns the limits on what the session keeps.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Estimated size in bytes.
    pub fn bytes(&self) -> u64 {
        let texts = self.sources.bytes() + self.fixed_bytes;
        self.space.system().bytes() + self.space.bytes() + self.answers.bytes() + texts
    }

    /// Number of states found so far.
    pub fn n_states(&self) -> usize {
        self.space.system().n_states()
    }

    /// Answers a question about the current state, with a run that shows the verdict if `evidence` is wanted
    /// and there is one. Returns diagnostics if the question is not valid.
    ///
    /// If a limit is exceeded, the verdict is `unknown` with the limit as its reason. The session is
    /// unchanged, and the question may be asked again.
    pub fn check(
        &mut self,
        question: &Question,
        evidence: bool,
        budget: &Budget,
    ) -> Result<Reply, Vec<Diagnostic>> {
        let (name, index, remarks, warnings) = match question {
            Question::Property(name) => {
                let found = self.properties.iter().position(|property| property.source.name.text == *name);
                let index = found.ok_or_else(|| vec![no_property(&self.properties, name)])?;
                let remarks = self.space.system().remarks(&self.properties[index].source.phi);
                (name.clone(), index, remarks, Vec::new())
            }
            Question::Formula(text) => match self.formula(text, budget) {
                Ok(AskedFormula { index, remarks, warnings }) => (text.clone(), index, remarks, warnings),
                Err(Refused::Invalid(diagnostics)) => return Err(diagnostics),
                Err(Refused::Stopped(stop)) => return Ok(Reply::unread(text, stop)),
            },
        };
        self.enforce_limits();
        let before = self.effort();
        let mut work = Work::default();
        let checked = match self.refresh_situations(budget) {
            Err(stop) => Checked::verdict(Verdict::Unknown(stop.why), 0, 0),
            Ok(()) => {
                let state = self.space.initial();
                let kept = self.answers.question(index).answer(state, evidence);
                work.is_kept = kept.is_some();
                kept.unwrap_or_else(|| self.answer(index, evidence, budget))
            }
        };
        let after = self.effort();
        (work.situations, work.lists) = (after.situations - before.situations, after.lists - before.lists);
        Ok(Reply { name, checked, remarks, warnings, work })
    }

    /// Answers a question about the current state whose formula is resolved. `key` identifies it among the
    /// answers that are kept.
    pub(crate) fn check_resolved(&mut self, key: &str, formula: Formula, budget: &Budget) -> Verdict {
        let index = match self.answers.find(key) {
            Some(index) => index,
            None => self.answers.add(key.to_string(), formula),
        };
        self.enforce_limits();
        if let Err(stop) = self.refresh_situations(budget) {
            return Verdict::Unknown(stop.why);
        }
        let state = self.space.initial();
        let kept = self.answers.question(index).answer(state, false);
        kept.unwrap_or_else(|| self.answer(index, false, budget)).verdict
    }

    /// Computes the answer to a question, and keeps it.
    fn answer(&mut self, index: usize, evidence: bool, budget: &Budget) -> Checked {
        let was_empty = self.is_empty();
        let allowed = self.allowed(budget);
        self.space.lts().set_budget(&allowed);
        let mut checked = self.solve(index, evidence, &allowed);
        if self.is_limited_by_old_results(checked.verdict, was_empty) {
            self.forget();
            self.space.lts().set_budget(&allowed);
            checked = self.solve(index, evidence, &allowed);
        }
        self.space.lts().set_budget(&Budget::unlimited());
        // Evidence may be missing because the time was over.
        let is_whole = !evidence || checked.trace.is_some() || budget.check().is_ok();
        if is_whole && !matches!(checked.verdict, Verdict::Unknown(_)) {
            let state = self.space.initial();
            self.answers.question(index).keep(state, evidence, &checked);
        }
        checked
    }

    /// Returns the work spent on all replies so far.
    pub fn effort(&self) -> Work {
        let situations = self.space.system().situations.n_computed;
        Work { is_kept: false, situations, lists: self.space.n_expansions() }
    }

    /// Parses and resolves a formula, unless it was asked before and caused no warnings.
    fn formula(&mut self, text: &str, budget: &Budget) -> Result<AskedFormula, Refused> {
        let known = self.answers.find(text);
        if let Some(index) = known
            && !self.answers.question(index).has_unknown_names
        {
            return Ok(AskedFormula { index, ..AskedFormula::default() });
        }
        let file = self.text("formula", text)?;
        let limits = self.read_limits(budget);
        self.sources.set_limits(limits.clone());
        self.space.lts().reading = limits.clone();
        let read = self.read_formula(file, known, text);
        self.sources.lift_limits();
        self.space.lts().reading = ReadLimits::default();
        match limits.exceeded() {
            Some(limit) => {
                self.sources.truncate(self.n_texts);
                Err(Refused::Stopped(limit.into()))
            }
            None => read.map_err(Refused::Invalid),
        }
    }

    /// Parses and resolves a formula that is one of the texts.
    fn read_formula(
        &mut self,
        file: FileId,
        known: Option<usize>,
        text: &str,
    ) -> Result<AskedFormula, Vec<Diagnostic>> {
        let (phi, diagnostics) = parse_formula(&self.sources, self.sources.span(file));
        let Some(phi) = phi else { return Err(diagnostics) };
        let (resolved, diagnostics) = match known {
            Some(_) => (None, Vec::new()),
            None => resolve(&phi, self.space.lts()),
        };
        let system = self.space.system();
        let (remarks, warnings) = (system.remarks(&phi), system.name_warnings(&phi));
        if !self.sources.limits().may_continue() {
            // The caller discards the result.
            return Err(Vec::new());
        }
        let index = match known {
            Some(index) => index,
            None => self.answers.add(text.to_string(), resolved.ok_or(diagnostics)?),
        };
        self.answers.question(index).has_unknown_names = !warnings.is_empty();
        Ok(AskedFormula { index, remarks, warnings })
    }

    /// Returns the limits on reading a text: what the budget leaves besides the session itself.
    pub(crate) fn read_limits(&self, budget: &Budget) -> ReadLimits {
        let limits = budget.read_limits();
        match budget.memory() {
            Some(bytes) => limits.with_memory(bytes.saturating_sub(self.bytes())),
            None => limits,
        }
    }

    /// Removes the temporary texts. From time to time, also removes texts of updates that no statement, state or
    /// warning of the session comes from, so that changing statements for a long time does not fill the memory.
    fn remove_old_texts(&mut self) {
        self.sources.truncate(self.n_texts);
        if self.n_texts < self.max_texts {
            return;
        }
        let labels =
            self.warnings.iter().flat_map(|warning| warning.primary.iter().chain(&warning.secondary));
        let spans = self.history.added_spans().chain(labels.map(|label| label.span));
        let mut is_used = vec![false; self.sources.len()];
        let files = spans.map(|span| self.sources.file_of(span)).chain(self.history.learned());
        files.for_each(|file| is_used[file.index()] = true);
        is_used[..self.n_opened_texts].fill(true);
        let ids = self.sources.retain(|file| is_used[file.index()]);
        self.history.renumber_learned(|file| ids[file.index()]);
        self.n_texts = self.sources.len();
        self.max_texts = 2 * self.n_texts + MIN_UPDATE_TEXTS;
    }

    /// Adds a temporary text, and removes the previous one.
    pub(crate) fn text(&mut self, name: &str, text: &str) -> Result<FileId, Vec<Diagnostic>> {
        self.sources.truncate(self.n_texts);
        self.sources.add(name, text).map_err(|_| vec![too_large()])
    }

    /// Checks all properties of the instance, in their order, each within its share of the time limit.
    pub fn check_all(&mut self, evidence: bool, budget: &Budget) -> Vec<Reply> {
        let names: Vec<String> = self.properties().into_iter().map(|property| property.name).collect();
        let mut replies: Vec<Option<Reply>> = vec![None; names.len()];
        run_in_shares(names.len(), budget, |index, share| {
            let reply = self.check(&Question::Property(names[index].clone()), evidence, share).ok();
            replies[index] = reply;
            let is_open = |reply: &Reply| reply.checked.verdict == Verdict::Unknown(Why::Timeout);
            !replies[index].as_ref().is_some_and(is_open)
        });
        replies.into_iter().flatten().collect()
    }

    /// Returns the actions that are both permitted and forbidden, as `(subject,object,±action)`, in the
    /// explored states that are reachable from the current one. After [`Session::explore`] these are all
    /// reachable states.
    pub fn conflicts(&mut self) -> Vec<String> {
        self.conflicts_within(&Budget::unlimited())
    }

    /// Does what [`Session::conflicts`] does. There are none if the budget is over.
    pub fn conflicts_within(&mut self, budget: &Budget) -> Vec<String> {
        self.findings(budget).conflicts.into_iter().collect()
    }

    /// Returns the constraints about which an agent has no facts, choices or rules, as `agent: name/arity`,
    /// in the explored states that are reachable from the current one.
    pub fn unknown_constraints(&mut self) -> Vec<String> {
        self.unknown_constraints_within(&Budget::unlimited())
    }

    /// Does what [`Session::unknown_constraints`] does. There are none if the budget is over.
    pub fn unknown_constraints_within(&mut self, budget: &Budget) -> Vec<String> {
        self.findings(budget).unknown.into_iter().collect()
    }

    /// Whether the current state is final: no message is under way, and each agent has finished or is an idle
    /// server.
    pub fn is_final(&mut self) -> bool {
        let state = self.space.initial();
        self.space.system().is_final(state)
    }

    /// Explains for each agent why it is stuck; empty unless the current state is a deadlock.
    pub fn blame(&mut self) -> Vec<String> {
        self.blame_within(&Budget::unlimited()).unwrap_or_default()
    }

    /// Does what [`Session::blame`] does, within the time and memory of a budget.
    pub fn blame_within(&mut self, budget: &Budget) -> Result<Vec<String>, Stop> {
        let state = self.space.initial();
        self.within(budget, |session| {
            let system = session.space.lts();
            if system.is_stuck(state) { system.blame(state) } else { Vec::new() }
        })
    }

    /// Runs work on the system within a budget.
    pub(crate) fn within<R>(
        &mut self,
        budget: &Budget,
        work: impl FnOnce(&mut Session) -> R,
    ) -> Result<R, Stop> {
        budget.check()?;
        self.space.lts().set_budget(budget);
        let done = work(self);
        let stopped = self.space.system().stopped();
        self.space.lts().set_budget(&Budget::unlimited());
        stopped.map_or(Ok(done), Err)
    }
}

impl Reply {
    /// The reply to a formula that was not read because a limit was exceeded.
    fn unread(text: &str, stop: Stop) -> Reply {
        Reply {
            name: text.to_string(),
            checked: Checked::verdict(Verdict::Unknown(stop.why), 0, 0),
            remarks: Vec::new(),
            warnings: Vec::new(),
            work: Work::default(),
        }
    }
}

/// Estimated bytes of a session's warnings and properties.
fn fixed_bytes(warnings: &[Diagnostic], properties: &[Property]) -> u64 {
    BYTES_PER_SESSION
        + warnings.len() as u64 * BYTES_PER_DIAGNOSTIC
        + properties.iter().map(property_bytes).sum::<u64>()
}

/// Estimated bytes of a property.
fn property_bytes(property: &Property) -> u64 {
    let span = property.source.phi.span;
    BYTES_PER_PROPERTY + u64::from(span.end.saturating_sub(span.start)) * BYTES_PER_FORMULA_BYTE
}

/// Makes the diagnostic about a property that does not exist.
pub(crate) fn no_property(properties: &[Property], name: &str) -> Diagnostic {
    let names: Vec<&str> = properties.iter().map(|property| property.source.name.text.as_str()).collect();
    let help = did_you_mean(name, &names).unwrap_or_else(|| {
        if names.is_empty() {
            "the instance has no properties; ask for a formula".to_string()
        } else {
            format!("the properties are {}", names.join(", "))
        }
    });
    let message = format!("there is no property called `{name}`");
    Diagnostic::nowhere(Severity::Error, "lcc/unknown-property", message).hint(help)
}
