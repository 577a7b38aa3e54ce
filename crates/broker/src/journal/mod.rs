//! The journal of a service: its sessions survive a restart, even after `kill -9` or a power failure.
//!
//! ```text
//! call ─▶ session changes ─▶ record ─▶ thread of the journal: one write and one fsync for all that wait ─▶ response
//! start ─▶ index of the live records ─▶ sessions ─▶ rewrite without the dead records
//! ```
//!
//! A session is saved as the setup it was opened with, followed by its changes. When the changes are longer than
//! a snapshot would be, a snapshot replaces them. So the live records of a session are at most about twice as long
//! as its content, and the file is rewritten when more than half of it is dead.
//!
//! If a record cannot be written, the call is answered with an error, and the session is restored from the
//! records that are saved.
//!
//! | file | holds |
//! |---|---|
//! | `mod` | what calls do: save a change, or undo it |
//! | `record` | the records, and a session made from them |
//! | `imports` | imported files, as they were when the session was opened |
//! | `frames` | the file: header, checksums, torn and damaged ends |
//! | `index` | which records are live |
//! | `writer` | the thread that writes records and rewrites the file |
//! | `start` | the folder, its lock, and restoring all sessions |

mod frames;
mod imports;
mod index;
mod record;
mod start;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, sync_channel};

use masque_lcc::{Session, Setup};

pub(crate) use self::imports::RecordedImports;
pub(crate) use self::record::Change;
use self::record::{Opening, Record, RestoreLimits, restored};
pub(crate) use self::start::start;
use self::writer::{Order, Saved};
use crate::fault::Fault;
use crate::held::Held;
use crate::log::{Level, Log};

/// The journal of a service.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    orders: Sender<Order>,
    limits: RestoreLimits,
    log: Log,
}

/// Why a record is not saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unsaved {
    /// The session is closed.
    Closed,
    /// The file cannot be written.
    Failed(String),
}

impl fmt::Display for Unsaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsaved::Closed => f.write_str("the session is closed"),
            Unsaved::Failed(why) => f.write_str(why),
        }
    }
}

impl Journal {
    /// Saves a record, and returns when it is on the disk.
    fn save(&self, record: &Record) -> Result<Saved, Unsaved> {
        let line = record.line().map_err(Unsaved::Failed)?;
        let (done, saved) = sync_channel(1);
        let order = Order::Save { session: record.session().to_string(), kind: record.kind(), line, done };
        self.send(order, &saved)
    }

    /// Sends an order to the thread of the journal, and waits for the result.
    fn send<T>(&self, order: Order, result: &Receiver<Result<T, Unsaved>>) -> Result<T, Unsaved> {
        let ended = || Unsaved::Failed("the journal is closed".to_string());
        self.orders.send(order).map_err(|_| ended())?;
        result.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Records that a session is closed, without waiting: it was idle for too long, or a call panicked.
    pub(crate) fn forget(&self, session: &str) {
        // The thread has ended only if the service has.
        _ = self.orders.send(Order::Forget { session: session.to_string() });
    }

    /// Replaces the changes of a session by a snapshot. Without one, the changes remain.
    fn condense(&self, name: &str, session: &mut Session) {
        let Some(snapshot) = session.snapshot() else { return };
        if let Err(why) = self.save(&Record::snapshot(name, snapshot)) {
            let message = format!("session {name} has no snapshot: {why}");
            self.log.report(Level::Warning, "no-snapshot", &message, &[("session", name.into())]);
        }
    }

    /// The session that the saved records describe.
    fn reload(&self, name: &str) -> Result<Held, String> {
        let (done, lines) = sync_channel(1);
        let order = Order::Read { session: name.to_string(), done };
        let lines = self.send(order, &lines).map_err(|why| why.to_string())?;
        restored(&lines, self.limits)
    }
}

/// A session that is about to be opened, for the journal if there is one.
pub(crate) struct NewEntry(Option<(Journal, Opening, Option<Arc<RecordedImports>>)>);

impl NewEntry {
    /// Keeps what the session is opened with. Files that it imports are recorded.
    pub(crate) fn new(journal: Option<&Journal>, setup: &mut Setup) -> NewEntry {
        NewEntry(journal.map(|journal| {
            let imports = setup.library.take().map(|library| Arc::new(RecordedImports::new(library)));
            setup.library = imports.clone().map(|imports| imports as _);
            (journal.clone(), Opening::new(setup), imports)
        }))
    }

    /// Saves the opened session under its name.
    pub(crate) fn save(&self, name: &str) -> Result<(), Fault> {
        let Some((journal, opening, imports)) = &self.0 else { return Ok(()) };
        let mut opening = opening.clone();
        opening.imports = imports.as_ref().map(|imports| imports.files()).unwrap_or_default();
        let saved = journal.save(&Record::Open { session: name.to_string(), opening: Box::new(opening) });
        saved.map(drop).map_err(|why| Fault::unsaved(&why.to_string()))
    }
}

/// The entry of an open session in the journal, if there is one.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    journal: Option<Journal>,
    session: String,
}

impl Entry {
    /// The entry of a session.
    pub(crate) fn new(journal: Option<&Journal>, session: &str) -> Entry {
        Entry { journal: journal.cloned(), session: session.to_string() }
    }

    /// Saves a change that was made to the session. If that fails, the change is undone.
    ///
    /// # Panics
    ///
    /// If the saved records cannot be read either. This closes the session until the service is restarted.
    pub(crate) fn save(&self, session: &mut Session, change: impl FnOnce() -> Change) -> Result<(), Fault> {
        let Some(journal) = &self.journal else { return Ok(()) };
        match journal.save(&Record::Change { session: self.session.clone(), change: change() }) {
            Ok(Saved { is_long: true }) => journal.condense(&self.session, session),
            Ok(Saved { is_long: false }) => {}
            Err(Unsaved::Closed) => return Err(Fault::session(&self.session)),
            Err(Unsaved::Failed(why)) => {
                match journal.reload(&self.session) {
                    Ok(before) => *session = before.into_session(),
                    Err(why) => panic!("the session cannot be restored from the journal: {why}"),
                }
                return Err(Fault::unsaved(&why));
            }
        }
        Ok(())
    }

    /// Saves an event that was added to the log of a session. If that fails, it is removed again. Events are kept, so no
    /// snapshot replaces them.
    ///
    /// # Panics
    ///
    /// As [`Entry::save`].
    pub(crate) fn save_observed(
        &self,
        held: &mut Held,
        change: impl FnOnce() -> Change,
    ) -> Result<(), Fault> {
        let Some(journal) = &self.journal else { return Ok(()) };
        match journal.save(&Record::Change { session: self.session.clone(), change: change() }) {
            Ok(_) => Ok(()),
            Err(Unsaved::Closed) => Err(Fault::session(&self.session)),
            Err(Unsaved::Failed(why)) => {
                match journal.reload(&self.session) {
                    Ok(before) => *held = before,
                    Err(why) => panic!("the session cannot be restored from the journal: {why}"),
                }
                Err(Fault::unsaved(&why))
            }
        }
    }

    /// Saves that the session is closed.
    pub(crate) fn close(&self) -> Result<(), Fault> {
        let Some(journal) = &self.journal else { return Ok(()) };
        match journal.save(&Record::Close { session: self.session.clone() }) {
            Ok(_) | Err(Unsaved::Closed) => Ok(()),
            Err(Unsaved::Failed(why)) => Err(Fault::unsaved(&why)),
        }
    }
}
