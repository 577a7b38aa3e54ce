//! The open sessions: their number, their memory, and the time since their last call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use masque_lcc::Session;
use masque_text::{MemoryPool, MemoryShare};

use crate::fault::Fault;
use crate::held::Held;
use crate::journal::Journal;
use crate::limits::Limits;
use crate::session_queue::{SessionQueue, lock};

/// An open session.
pub(crate) struct OpenSession {
    /// The session and the calls that wait for it.
    pub queue: Arc<SessionQueue<Held>>,
    /// Bytes that it and its running call hold.
    pub memory: Arc<MemoryShare>,
}

/// Bytes that every session holds, so that a small session can be used even if all memory is in use.
const MIN_SESSION_BYTES: u64 = 512 << 10;

/// Records the bytes that a session holds now.
pub(crate) fn set_bytes(memory: &MemoryShare, session: &Held) {
    memory.set(session.bytes().max(MIN_SESSION_BYTES));
}

/// All open sessions.
pub(crate) struct Sessions {
    limits: Limits,
    table: Mutex<Table>,
    /// Memory of all sessions and calls.
    memory: Arc<MemoryPool>,
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
    pub(crate) fn new(limits: Limits, memory: Arc<MemoryPool>) -> Sessions {
        Sessions { limits, table: Mutex::default(), memory, journal: OnceLock::new() }
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
        if self.memory.used() >= total_memory {
            let message = format!(
                "all sessions and calls together have reached the limit of {total_memory} bytes; close some"
            );
            return Err(Fault::limit("memory", message));
        }
        Ok(())
    }

    /// Adds a session and the memory it holds, after it has been saved under its name. Returns the name.
    pub(crate) fn add(
        &self,
        session: Session,
        memory: Arc<MemoryShare>,
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
        insert(&mut table, &name, session.into(), memory);
        Ok(name)
    }

    /// Adds a session that was saved, under its name.
    pub(crate) fn restore(&self, name: &str, session: Held) -> Result<(), Fault> {
        let mut table = lock(&self.table);
        self.check_room_in(&mut table)?;
        insert(&mut table, name, session, Arc::new(MemoryShare::new(&self.memory)));
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
            session.memory.set(0);
        }
    }

    /// The number of sessions, and the bytes that they and all calls hold.
    pub(crate) fn size(&self) -> (usize, u64) {
        (lock(&self.table).open.len(), self.memory.used())
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
                session.memory.set(0);
            }
            is_kept
        });
        before - table.open.len()
    }
}

fn insert(table: &mut Table, name: &str, session: Held, memory: Arc<MemoryShare>) {
    set_bytes(&memory, &session);
    let open = OpenSession { queue: SessionQueue::new(Some(session)), memory };
    table.open.insert(name.to_string(), Arc::new(open));
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

    fn sessions(limits: Limits) -> Sessions {
        let memory = MemoryPool::new(limits.total_memory);
        Sessions::new(limits, memory)
    }

    /// Adds a session.
    fn add(sessions: &Sessions) -> Result<String, Fault> {
        sessions.add(session(), Arc::new(MemoryShare::new(&sessions.memory)), |_| Ok(()))
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let sessions = sessions(Limits { sessions: 3, ..Limits::default() });
        let names: Vec<String> = (0..3).map(|_| add(&sessions).unwrap()).collect();
        assert_eq!(names, ["s1", "s2", "s3"]);
        assert_eq!(add(&sessions).unwrap_err().code, Fault::LIMIT);
        sessions.remove("s2");
        assert_eq!(add(&sessions).unwrap(), "s4");
        assert_eq!(sessions.get("s2").err().map(|fault| fault.code), Some(Fault::SESSION));
    }

    #[test]
    fn idle_sessions_are_closed_to_make_room() {
        let limits = Limits { sessions: 1, idle: Duration::ZERO, ..Limits::default() };
        let sessions = sessions(limits);
        assert_eq!(add(&sessions).unwrap(), "s1");
        assert_eq!(add(&sessions).unwrap(), "s2");
        assert_eq!(sessions.sweep(), 1);
        assert_eq!(sessions.size(), (0, 0));
    }

    #[test]
    fn the_memory_of_all_sessions_is_limited() {
        let limits = Limits { total_memory: 2_500_000, ..Limits::default() };
        let sessions = sessions(limits);
        let open: Vec<_> = (0..3).map(|_| sessions.get(&add(&sessions).unwrap()).unwrap()).collect();
        open.iter().take(2).for_each(|session| session.memory.set(1_000_000));
        open[2].memory.set(100_000);
        assert!(!open[2].memory.hold(500_001) && open[2].memory.hold(500_000));
        assert_eq!(add(&sessions).unwrap_err().code, Fault::LIMIT);
        sessions.remove("s1");
        assert_eq!(sessions.size(), (2, 1_500_000));
        assert!(add(&sessions).is_ok());
    }
}
