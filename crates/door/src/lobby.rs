//! Connections that have not shown the token yet.
//!
//! Anyone on the machine can connect, so a connection gets one of the seats of the service only after a request that
//! the access rules accept. Until then it waits in the lobby, for a short time. If the lobby is full, the connection
//! that has waited longest is closed: a flood of silent connections cannot keep out a client that sends its request
//! at once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::lock;

/// Maximum number of connections in the lobby.
const MAX_VISITORS: usize = 256;

/// All connections without a seat, and the free seats.
pub struct Lobby {
    waiting: Mutex<Waiting>,
    seats: Arc<Semaphore>,
    /// Time in which a connection must show the token.
    max_visit: Duration,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    /// The connections by the order of their arrival; notified when they must go.
    visitors: BTreeMap<u64, Arc<Notify>>,
}

impl Lobby {
    /// An empty lobby of a service with this many seats.
    pub fn new(n_seats: usize, max_visit: Duration) -> Arc<Lobby> {
        let seats = Arc::new(Semaphore::new(n_seats));
        Arc::new(Lobby { waiting: Mutex::default(), seats, max_visit })
    }

    /// Lets a connection in. If the lobby is full, the oldest visitor must go.
    pub fn enter(self: &Arc<Self>) -> Arc<Visitor> {
        let leave = Arc::new(Notify::new());
        let mut waiting = lock(&self.waiting);
        if waiting.visitors.len() >= MAX_VISITORS
            && let Some((_, oldest)) = waiting.visitors.pop_first()
        {
            oldest.notify_one();
        }
        let number = waiting.next;
        waiting.next += 1;
        waiting.visitors.insert(number, Arc::clone(&leave));
        Arc::new(Visitor { lobby: Arc::clone(self), number, leave, seat: Mutex::default() })
    }

    fn remove(&self, number: u64) -> bool {
        lock(&self.waiting).visitors.remove(&number).is_some()
    }
}

/// A connection, in the lobby or in a seat. Dropping it frees its place.
pub struct Visitor {
    lobby: Arc<Lobby>,
    number: u64,
    leave: Arc<Notify>,
    seat: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Visitor {
    /// Gives the connection a seat, after it has shown the token. Returns whether it has one now: not if all are
    /// taken, or if the connection had to leave the lobby.
    pub fn take_seat(&self) -> bool {
        let mut seat = lock(&self.seat);
        if seat.is_some() {
            return true;
        }
        let Ok(free) = Arc::clone(&self.lobby.seats).try_acquire_owned() else { return false };
        if self.lobby.remove(self.number) {
            *seat = Some(free);
        }
        seat.is_some()
    }

    /// Whether the connection has a seat.
    pub fn is_seated(&self) -> bool {
        lock(&self.seat).is_some()
    }

    /// Waits until the connection must leave the lobby; forever if it gets a seat in time.
    pub async fn must_leave(&self) {
        tokio::select! {
            () = tokio::time::sleep(self.lobby.max_visit) => {}
            () = self.leave.notified() => {}
        }
        if self.is_seated() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Visitor {
    fn drop(&mut self) {
        self.lobby.remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_visitor_leaves_a_full_lobby() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let lobby = Lobby::new(2, Duration::from_secs(60));
        let first = lobby.enter();
        let second = lobby.enter();
        assert!(second.take_seat() && second.is_seated());
        let others: Vec<_> = (0..MAX_VISITORS).map(|_| lobby.enter()).collect();
        runtime.block_on(first.must_leave());
        assert!(!first.take_seat() && !first.is_seated());
        assert!(others[0].take_seat() && others[0].take_seat() && !others[1].take_seat());
        drop(second);
        assert!(others[1].take_seat());
        drop((first, others));
        assert_eq!(lock(&lobby.waiting).visitors.len(), 0);
        assert_eq!(lobby.seats.available_permits(), 2);
    }
}
