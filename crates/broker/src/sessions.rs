//! The open sessions: their number, their memory, and the time since their last call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use masque_lcc::Session;

use crate::fault::Fault;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::session_queue::{SessionQueue, lock};

/// An open session.
pub(crate) struct OpenSession {
    /// The session and the calls that wait for it.
    pub queue: Arc<SessionQueue<Session>>,
    /// Bytes that it held after its last call.
    bytes: AtomicU64,
}

/// All open sessions.
pub(crate) struct Sessions {
    limits: Limits,
    table: Mutex<Table>,
    bytes: AtomicU64,
    /// Where closed sessions are recorded, once the service has started.
    pub(crate) journal: OnceLock<Journal>,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// Number of sessions that are about to be added.
    reserved: usize,
    open: BTreeMap<String, Arc<OpenSession>>,
}

impl Sessions {
    /// No sessions.
    pub(crate) fn new(limits: Limits) -> Sessions {
        let (table, bytes) = (Mutex::default(), AtomicU64::new(0));
        Sessions { limits, table, bytes, journal: OnceLock::new() }
    }

    /// Checks that one more session may be opened, after idle ones are closed.
    pub(crate) fn check_room(&self) -> Result<(), Fault> {
        self.check_room_in(&mut lock(&self.table))
    }

    fn check_room_in(&self, table: &mut Table) -> Result<(), Fault> {
        let Limits { sessions, total_memory, .. } = self.limits;
        if table.open.len() + table.reserved >= sessions {
            self.sweep_table(table);
        }
        if table.open.len() + table.reserved >= sessions {
            let message = format!("the maximum number of sessions, {sessions}, is open; close some");
            return Err(Fault::limit("sessions", message));
        }
        if self.bytes.load(Relaxed) >= total_memory {
            let message =
                format!("all sessions together have reached the limit of {total_memory} bytes; close some");
            return Err(Fault::limit("memory", message));
        }
        Ok(())
    }

    /// Adds a session and returns its name.
    #[cfg(test)]
    pub(crate) fn add(&self, session: Session) -> Result<String, Fault> {
        self.add_saved(session, |_| Ok(()))
    }

    /// Adds a session after it has been saved under its name, and returns the name.
    pub(crate) fn add_saved(
        &self,
        session: Session,
        save: impl FnOnce(&str) -> Result<(), Fault>,
    ) -> Result<String, Fault> {
        let name = {
            let mut table = lock(&self.table);
            self.check_room_in(&mut table)?;
            table.next += 1;
            table.reserved += 1;
            format!("s{}", table.next)
        };
        let saved = save(&name);
        let mut table = lock(&self.table);
        table.reserved -= 1;
        saved?;
        self.insert(&mut table, &name, session);
        Ok(name)
    }

    fn insert(&self, table: &mut Table, name: &str, session: Session) {
        let bytes = session.bytes();
        let open = OpenSession { queue: SessionQueue::new(Some(session)), bytes: AtomicU64::new(bytes) };
        self.bytes.fetch_add(bytes, Relaxed);
        table.open.insert(name.to_string(), Arc::new(open));
    }

    /// Adds a session that was saved, under its name.
    pub(crate) fn restore(&self, name: &str, session: Session) -> Result<(), Fault> {
        let mut table = lock(&self.table);
        self.check_room_in(&mut table)?;
        self.insert(&mut table, name, session);
        Ok(())
    }

    /// Sets the number of sessions that were opened before.
    pub(crate) fn set_count(&self, opened: u64) {
        lock(&self.table).next = opened;
    }

    /// Records that a session is closed.
    fn forget(&self, name: &str) {
        if let Some(journal) = self.journal.get() {
            journal.forget(name);
        }
    }

    /// The session with a name.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<OpenSession>, Fault> {
        lock(&self.table).open.get(name).cloned().ok_or_else(|| Fault::session(name))
    }

    /// Removes a session. Calls that still wait for it get an error.
    pub(crate) fn remove(&self, name: &str) {
        if let Some(session) = lock(&self.table).open.remove(name) {
            self.forget(name);
            self.bytes.fetch_sub(session.bytes.swap(0, Relaxed), Relaxed);
        }
    }

    /// Records the bytes that a session holds now.
    pub(crate) fn set_bytes(&self, session: &OpenSession, bytes: u64) {
        let before = session.bytes.swap(bytes, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.bytes.fetch_sub(before, Relaxed);
    }

    /// The bytes that a session may hold, given those that all others hold.
    pub(crate) fn allowance(&self, session: &OpenSession) -> u64 {
        let others = self.bytes.load(Relaxed).saturating_sub(session.bytes.load(Relaxed));
        self.limits.memory.min(self.limits.total_memory.saturating_sub(others))
    }

    /// The number of sessions, and the bytes they hold.
    pub(crate) fn size(&self) -> (usize, u64) {
        (lock(&self.table).open.len(), self.bytes.load(Relaxed))
    }

    /// Closes sessions that have been idle for too long, and returns their number.
    pub(crate) fn sweep(&self) -> usize {
        self.sweep_table(&mut lock(&self.table))
    }

    fn sweep_table(&self, table: &mut Table) -> usize {
        let now = Instant::now();
        let before = table.open.len();
        table.open.retain(|name, session| {
            let idle = session.queue.idle_since().map(|since| now.saturating_duration_since(since));
            let is_kept = idle.is_none_or(|idle| idle < self.limits.idle);
            if !is_kept {
                self.forget(name);
                self.bytes.fetch_sub(session.bytes.swap(0, Relaxed), Relaxed);
            }
            is_kept
        });
        before - table.open.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use masque_lcc::{Setup, Text};

    use super::*;

    fn session() -> Session {
        let text = "a(hen, H) :: null. agent a(hen, h).";
        Session::open(Setup { files: vec![Text::new("hen.lcc", text)], ..Setup::default() }).unwrap()
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let sessions = Sessions::new(Limits { sessions: 3, ..Limits::default() });
        let names: Vec<String> = (0..3).map(|_| sessions.add(session()).unwrap()).collect();
        assert_eq!(names, ["s1", "s2", "s3"]);
        assert_eq!(sessions.add(session()).unwrap_err().code, Fault::LIMIT);
        sessions.remove("s2");
        assert_eq!(sessions.add(session()).unwrap(), "s4");
        assert_eq!(sessions.get("s2").err().map(|fault| fault.code), Some(Fault::SESSION));
    }

    #[test]
    fn idle_sessions_are_closed_to_make_room() {
        let limits = Limits { sessions: 1, idle: Duration::ZERO, ..Limits::default() };
        let sessions = Sessions::new(limits);
        assert_eq!(sessions.add(session()).unwrap(), "s1");
        assert_eq!(sessions.add(session()).unwrap(), "s2");
        assert_eq!(sessions.sweep(), 1);
        assert_eq!(sessions.size(), (0, 0));
    }

    #[test]
    fn the_memory_of_all_sessions_is_limited() {
        let limits = Limits { memory: 1_000_000, total_memory: 2_500_000, ..Limits::default() };
        let sessions = Sessions::new(limits);
        let open: Vec<_> = (0..3).map(|_| sessions.get(&sessions.add(session()).unwrap()).unwrap()).collect();
        open.iter().take(2).for_each(|session| sessions.set_bytes(session, 1_000_000));
        sessions.set_bytes(&open[2], 100_000);
        assert_eq!(sessions.allowance(&open[2]), 500_000);
        sessions.set_bytes(&open[2], 500_000);
        assert_eq!(sessions.add(session()).unwrap_err().code, Fault::LIMIT);
        sessions.remove("s1");
        assert_eq!(sessions.size(), (2, 1_500_000));
        assert!(sessions.add(session()).is_ok());
    }
}
