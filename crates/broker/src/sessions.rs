//! The sessions that are open: how many, how much they hold, since when nobody has used them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use masque_lcc::Session;

use crate::fault::Fault;
use crate::lane::{Lane, lock};
use crate::limits::Limits;

/// An open session.
pub(crate) struct Seat {
    /// The session and the calls that wait for it.
    pub lane: Arc<Lane<Session>>,
    /// What it held after its last call.
    bytes: AtomicU64,
}

/// All open sessions.
pub(crate) struct Sessions {
    limits: Limits,
    table: Mutex<Table>,
    bytes: AtomicU64,
}

#[derive(Default)]
struct Table {
    next: u64,
    seats: BTreeMap<String, Arc<Seat>>,
}

impl Sessions {
    /// No sessions.
    pub(crate) fn new(limits: Limits) -> Sessions {
        Sessions { limits, table: Mutex::default(), bytes: AtomicU64::new(0) }
    }

    /// Whether there is room for one more, once those that nobody uses are gone.
    pub(crate) fn has_room(&self) -> Result<(), Fault> {
        self.has_room_in(&mut lock(&self.table))
    }

    fn has_room_in(&self, table: &mut Table) -> Result<(), Fault> {
        let Limits { sessions, total_memory, .. } = self.limits;
        if table.seats.len() >= sessions {
            self.sweep_table(table);
        }
        if table.seats.len() >= sessions {
            let message = format!("{sessions} sessions are open, and no more may be; close some");
            return Err(Fault::limit("sessions", message));
        }
        if self.bytes.load(Relaxed) >= total_memory {
            let message = format!("all sessions together hold {total_memory} bytes or more; close some");
            return Err(Fault::limit("memory", message));
        }
        Ok(())
    }

    /// Gives a session a name and a place.
    pub(crate) fn add(&self, session: Session) -> Result<String, Fault> {
        let bytes = session.bytes();
        let mut table = lock(&self.table);
        self.has_room_in(&mut table)?;
        table.next += 1;
        let name = format!("s{}", table.next);
        let seat = Seat { lane: Lane::new(Some(session)), bytes: AtomicU64::new(bytes) };
        self.bytes.fetch_add(bytes, Relaxed);
        table.seats.insert(name.clone(), Arc::new(seat));
        Ok(name)
    }

    /// The session of a name.
    pub(crate) fn get(&self, name: &str) -> Result<Arc<Seat>, Fault> {
        lock(&self.table).seats.get(name).cloned().ok_or_else(|| Fault::session(name))
    }

    /// Forgets a session; calls that still wait for it find nothing.
    pub(crate) fn remove(&self, name: &str) {
        if let Some(seat) = lock(&self.table).seats.remove(name) {
            self.bytes.fetch_sub(seat.bytes.swap(0, Relaxed), Relaxed);
        }
    }

    /// Notes what a session holds now.
    pub(crate) fn weigh(&self, seat: &Seat, bytes: u64) {
        let before = seat.bytes.swap(bytes, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.bytes.fetch_sub(before, Relaxed);
    }

    /// What a session may hold, beside all the others.
    pub(crate) fn allowance(&self, seat: &Seat) -> u64 {
        let others = self.bytes.load(Relaxed).saturating_sub(seat.bytes.load(Relaxed));
        self.limits.memory.min(self.limits.total_memory.saturating_sub(others))
    }

    /// How many there are, and the bytes they hold.
    pub(crate) fn size(&self) -> (usize, u64) {
        (lock(&self.table).seats.len(), self.bytes.load(Relaxed))
    }

    /// Closes those that nobody has used for too long; tells how many.
    pub(crate) fn sweep(&self) -> usize {
        self.sweep_table(&mut lock(&self.table))
    }

    fn sweep_table(&self, table: &mut Table) -> usize {
        let now = Instant::now();
        let before = table.seats.len();
        table.seats.retain(|_, seat| {
            let idle = seat.lane.idle_since().map(|since| now.saturating_duration_since(since));
            let is_kept = idle.is_none_or(|idle| idle < self.limits.idle);
            if !is_kept {
                self.bytes.fetch_sub(seat.bytes.swap(0, Relaxed), Relaxed);
            }
            is_kept
        });
        before - table.seats.len()
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
    fn there_is_room_for_so_many() {
        let sessions = Sessions::new(Limits { sessions: 3, ..Limits::default() });
        let names: Vec<String> = (0..3).map(|_| sessions.add(session()).unwrap()).collect();
        assert_eq!(names, ["s1", "s2", "s3"]);
        assert_eq!(sessions.add(session()).unwrap_err().code, Fault::LIMIT);
        sessions.remove("s2");
        assert_eq!(sessions.add(session()).unwrap(), "s4");
        assert_eq!(sessions.get("s2").err().map(|fault| fault.code), Some(Fault::SESSION));
    }

    #[test]
    fn who_is_idle_makes_room() {
        let limits = Limits { sessions: 1, idle: Duration::ZERO, ..Limits::default() };
        let sessions = Sessions::new(limits);
        assert_eq!(sessions.add(session()).unwrap(), "s1");
        assert_eq!(sessions.add(session()).unwrap(), "s2");
        assert_eq!(sessions.sweep(), 1);
        assert_eq!(sessions.size(), (0, 0));
    }

    #[test]
    fn all_together_hold_so_much() {
        let limits = Limits { memory: 1_000_000, total_memory: 2_500_000, ..Limits::default() };
        let sessions = Sessions::new(limits);
        let seats: Vec<_> =
            (0..3).map(|_| sessions.get(&sessions.add(session()).unwrap()).unwrap()).collect();
        seats.iter().take(2).for_each(|seat| sessions.weigh(seat, 1_000_000));
        sessions.weigh(&seats[2], 100_000);
        assert_eq!(sessions.allowance(&seats[2]), 500_000);
        sessions.weigh(&seats[2], 500_000);
        assert_eq!(sessions.add(session()).unwrap_err().code, Fault::LIMIT);
        sessions.remove("s1");
        assert_eq!(sessions.size(), (2, 1_500_000));
        assert!(sessions.add(session()).is_ok());
    }
}
