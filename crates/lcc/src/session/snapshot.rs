//! What has changed in a session since it was opened, so that it can be restored later.
//!
//! Statements form a set, and an added statement comes after all others. So the program of a session follows
//! from the texts it was opened with, the statements of these texts that were removed, and the added
//! statements in their order. Its length does not depend on the number of updates: a statement that was added
//! and removed again has left no trace.

use masque_text::{Diagnostic, FileId, ReadLimits, Sources, Span};
use masque_verdict::Budget;

use super::restructure::Demands;
use super::update::{Update, lower};
use super::{Refused, Session};
use crate::entry::Entry;
use crate::lower::Lowering;
use crate::program::Owner;

/// The difference between a session and one that was just opened with the same setup.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Statements that were removed.
    pub removed: Vec<String>,
    /// Texts with the statements that were added, in their order. Other parts of the texts are blanks, so that
    /// each statement has its line and column.
    pub added: Vec<String>,
    /// Texts of earlier states with names that no other text has.
    pub learned: Vec<String>,
    /// The current state, as `now` and `mail` statements.
    pub state: Vec<String>,
    /// Id of the interaction, if a tuple gave it.
    pub interaction: Option<String>,
}

/// The changes since a session was opened.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Statements of the first program that were removed, with their text.
    removed: Vec<(Entry, String)>,
    /// Statements that were added and not removed since, in their order, with their location.
    added: Vec<(Entry, Span)>,
    /// Texts of earlier states with new names.
    learned: Vec<FileId>,
}

impl History {
    /// Records an update that removed and added these statements.
    pub(super) fn record(&mut self, sources: &Sources, removed: &[(Entry, Span)], added: &[(Entry, Span)]) {
        for (entry, span) in removed {
            if let Some(index) = self.added.iter().rposition(|(other, _)| other.is_same(entry)) {
                self.added.remove(index);
            } else if !self.removed.iter().any(|(other, _)| other.is_same(entry)) {
                self.removed.push((entry.clone(), sources.slice(*span).to_string()));
            }
        }
        self.added.extend_from_slice(added);
    }

    /// Records that the text of a state has new names.
    pub(super) fn learn(&mut self, file: FileId) {
        self.learned.push(file);
    }

    /// Removes and returns the texts of earlier states with new names.
    pub(super) fn forget_learned(&mut self) -> Vec<FileId> {
        std::mem::take(&mut self.learned)
    }

    /// Iterates over the texts of earlier states with new names.
    pub(super) fn learned(&self) -> impl Iterator<Item = FileId> {
        self.learned.iter().copied()
    }

    /// Gives each text of an earlier state its new id.
    pub(super) fn renumber_learned(&mut self, id: impl Fn(FileId) -> Option<FileId>) {
        self.learned = self.learned.iter().filter_map(|file| id(*file)).collect();
    }

    /// Iterates over the statements of the first program that were removed.
    pub(super) fn removed_entries(&self) -> impl Iterator<Item = &Entry> {
        self.removed.iter().map(|(entry, _)| entry)
    }

    /// Iterates over the locations of the statements that were added and not removed since.
    pub(super) fn added_spans(&self) -> impl Iterator<Item = Span> {
        self.added.iter().map(|(_, span)| *span)
    }

    /// Gives each owner a new number.
    pub(super) fn renumber(&mut self, mut number: impl FnMut(Owner) -> Owner) {
        let removed = self.removed.iter_mut().map(|(entry, _)| entry);
        for entry in removed.chain(self.added.iter_mut().map(|(entry, _)| entry)) {
            match entry {
                Entry::Fact(Some(owner), ..) | Entry::Choice(Some(owner), _) => *owner = number(*owner),
                Entry::Rule(_, rule) => rule.enforcer = number(rule.enforcer),
                Entry::Fact(None, ..) | Entry::Choice(None, _) | Entry::Clause(_) | Entry::Member(_) => {}
            }
        }
    }
}

impl Session {
    /// Returns what has changed since the session was opened; `None` if the changes cannot be written as text,
    /// because a term of the state is nested too deeply for the parser.
    ///
    /// Verdicts, states and events of the restored session are the same. Results of earlier questions are
    /// not part of the snapshot.
    ///
    /// ```
    /// use masque_lcc::{EventSelector, Session, Setup, Text};
    ///
    /// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H).
    ///     agent a(hen, h).  agent a(farmer, f).";
    /// let setup = Setup { files: vec![Text::new("farm.lcc", text)], ..Setup::default() };
    /// let mut session = Session::open(setup.clone()).unwrap();
    /// session.advance(&EventSelector::Index(0)).unwrap();
    /// let mut other = Session::open(setup).unwrap();
    /// other.restore(&session.snapshot().unwrap()).unwrap();
    /// assert_eq!(other.state(), session.state());
    /// ```
    pub fn snapshot(&mut self) -> Option<Snapshot> {
        let snapshot = Snapshot {
            removed: self.history.removed.iter().map(|(_, text)| text.clone()).collect(),
            added: added_texts(&self.sources, &self.history.added),
            learned: self.history.learned.iter().map(|file| self.sources.text(*file).to_string()).collect(),
            state: self.state(),
            interaction: self.interaction.clone(),
        };
        (self.is_state(&snapshot.state) && self.has_changes(&snapshot)).then_some(snapshot)
    }

    /// Restores a snapshot in a session that was just opened with the same setup.
    ///
    /// # Errors
    ///
    /// If the snapshot is of another setup; the session is then partly changed.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Vec<Diagnostic>> {
        self.restore_within(snapshot, &Budget::unlimited()).map_err(Refused::into_diagnostics)
    }

    /// Does what [`Session::restore`] does, within the time and memory of a budget.
    ///
    /// # Errors
    ///
    /// If the snapshot is of another setup, or a limit is exceeded; the session is then partly changed.
    pub fn restore_within(&mut self, snapshot: &Snapshot, budget: &Budget) -> Result<(), Refused> {
        let update = Update { remove: snapshot.removed.clone(), add: snapshot.added.clone() };
        self.restructure(&update, Demands::Repeated, budget)?;
        for text in &snapshot.learned {
            budget.check()?;
            let file = self.text("state", text)?;
            let items = self.placed_items(file)?;
            self.learn(file, &items);
        }
        self.interaction = snapshot.interaction.clone();
        Ok(self.set_state(&snapshot.state.join("\n"))?)
    }

    /// Whether statements describe the current state.
    fn is_state(&mut self, statements: &[String]) -> bool {
        let (state, has_past) = (self.space.initial(), self.has_past);
        let is_same = self.set_state(&statements.join("\n")).is_ok() && self.space.initial() == state;
        self.space.lts().start_at(state);
        self.has_past = has_past;
        is_same
    }

    /// Whether the texts of a snapshot have exactly the recorded statements.
    fn has_changes(&mut self, snapshot: &Snapshot) -> bool {
        self.sources.truncate(self.n_texts);
        let Ok(mut items) = self.items(&snapshot.removed, "removed") else { return false };
        let n_removed = items.len();
        let Ok(added) = self.items(&snapshot.added, "added") else { return false };
        items.extend(added);
        let system = self.space.lts();
        let terms = std::mem::take(&mut system.terms);
        let mut lowering = Lowering::of(system.program.clone(), terms, &ReadLimits::default());
        items.iter().for_each(|item| lowering.declare_owner(item));
        let changes = lower(&mut lowering, &items, n_removed);
        std::mem::swap(&mut lowering.terms, &mut self.space.lts().terms);
        let History { removed, added, .. } = &self.history;
        let recorded = removed.iter().map(|(entry, _)| entry).chain(added.iter().map(|(entry, _)| entry));
        lowering.diagnostics.is_empty()
            && (n_removed, changes.len()) == (removed.len(), removed.len() + added.len())
            && changes.iter().zip(recorded).all(|(change, entry)| change.entry.is_same(entry))
    }
}

/// Returns texts that have these statements at their locations, and blanks elsewhere.
fn added_texts(sources: &Sources, added: &[(Entry, Span)]) -> Vec<String> {
    let file = |added: &(Entry, Span)| sources.file_of(added.1);
    let texts = added.chunk_by(|left, right| file(left) == file(right));
    texts.map(|added| text_with(sources, file(&added[0]), added)).collect()
}

fn text_with(sources: &Sources, file: FileId, added: &[(Entry, Span)]) -> String {
    let (text, base) = (sources.text(file), sources.span(file).start);
    let mut shown = String::new();
    let mut position = 0;
    for (_, span) in added {
        let (start, end) = ((span.start - base) as usize, (span.end - base) as usize);
        shown.extend(text[position..start].chars().map(|c| if c == '\n' { c } else { ' ' }));
        shown.push_str(&text[start..end]);
        position = end;
    }
    shown
}
