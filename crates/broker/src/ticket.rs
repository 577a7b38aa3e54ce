//! Calls under way: who may cancel what.
//!
//! A call has a ticket from the moment it is understood until it is answered. Cancelling sets a flag
//! that checks look at, and wakes whoever watches a child process. A call whose client goes away is
//! cancelled when its guard is dropped.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::lane::lock;
use crate::rpc::Id;

/// The right to go on with a call.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    flag: Arc<AtomicBool>,
    wake: Notify,
}

impl Ticket {
    /// Takes the right away.
    pub(crate) fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
        // The permit is kept if nobody waits yet.
        self.wake.notify_one();
    }

    /// Whether it was taken away.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// The flag, for a budget.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Waits until it is taken away; for one who waits.
    pub(crate) async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.wake.notified().await;
        }
    }
}

/// Whose call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientId(pub u64);

/// What a call is known by.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    /// The client.
    pub client: ClientId,
    /// The id it gave the call, unless it is a notification.
    pub id: Option<Id>,
    /// The session it is about.
    pub session: Option<String>,
}

/// All calls under way.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    calls: BTreeMap<u64, (Holder, Arc<Ticket>)>,
}

impl Tickets {
    /// A ticket for a call; it is given back when the guard is dropped.
    pub(crate) fn issue(self: &Arc<Self>, holder: Holder) -> Guard {
        let ticket = Arc::new(Ticket::default());
        let mut held = lock(&self.held);
        let number = held.next;
        held.next += 1;
        held.calls.insert(number, (holder, Arc::clone(&ticket)));
        Guard { tickets: Arc::clone(self), number, ticket }
    }

    /// Cancels the calls of which this is true; tells how many.
    pub(crate) fn cancel(&self, is_meant: impl Fn(&Holder) -> bool) -> usize {
        let held = lock(&self.held);
        let meant = held.calls.values().filter(|(holder, _)| is_meant(holder));
        meant.inspect(|(_, ticket)| ticket.cancel()).count()
    }

    /// The calls under way.
    pub(crate) fn count(&self) -> usize {
        lock(&self.held).calls.len()
    }
}

/// A call under way: gone with its client, it is cancelled.
#[derive(Debug)]
pub(crate) struct Guard {
    tickets: Arc<Tickets>,
    number: u64,
    /// The call's ticket.
    pub ticket: Arc<Ticket>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // After the answer this changes nothing.
        self.ticket.cancel();
        lock(&self.tickets.held).calls.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holder(client: u64, session: &str) -> Holder {
        Holder { client: ClientId(client), id: None, session: Some(session.to_string()) }
    }

    #[test]
    fn only_what_is_meant_is_cancelled() {
        let tickets = Arc::new(Tickets::default());
        let (one, two) = (tickets.issue(holder(1, "s1")), tickets.issue(holder(2, "s2")));
        assert_eq!(tickets.cancel(|holder| holder.session.as_deref() == Some("s2")), 1);
        assert_eq!((one.ticket.is_cancelled(), two.ticket.is_cancelled()), (false, true));
        assert_eq!(tickets.cancel(|holder| holder.client == ClientId(3)), 0);
    }

    #[test]
    fn a_dropped_guard_cancels_and_leaves_nothing() {
        let tickets = Arc::new(Tickets::default());
        let guard = tickets.issue(holder(1, "s1"));
        let ticket = Arc::clone(&guard.ticket);
        drop(guard);
        assert_eq!((ticket.is_cancelled(), tickets.count()), (true, 0));
    }

    #[test]
    fn who_waits_is_woken() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ticket = Arc::new(Ticket::default());
        let other = Arc::clone(&ticket);
        let thread = std::thread::spawn(move || other.cancel());
        runtime.block_on(ticket.cancelled());
        thread.join().unwrap();
    }
}
