//! Calls in progress, and their cancellation.
//!
//! A call has a ticket from the moment it is parsed until its response. Cancelling it sets a flag that checks
//! read, and wakes the task that watches a child process. If the client disconnects, the guard of the call is
//! dropped, which cancels the call.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::rpc::Id;
use crate::session_queue::lock;

/// The flags by which a call is stopped: for good, if it is cancelled, or until a thread for long calls is free.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    /// Whether the work is to stop.
    flag: Arc<AtomicBool>,
    is_cancelled: AtomicBool,
    wake: Notify,
}

impl Ticket {
    /// Cancels the call.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::SeqCst);
        self.flag.store(true, Ordering::SeqCst);
        // The permit is kept if no task waits yet.
        self.wake.notify_one();
    }

    /// Whether the call is cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::SeqCst)
    }

    /// Stops the work of the call, which will be run again.
    pub(crate) fn interrupt(&self) {
        self.flag.store(true, Ordering::SeqCst);
    }

    /// Allows the work to run again, unless the call is cancelled. Returns whether it is allowed.
    pub(crate) fn resume(&self) -> bool {
        self.flag.store(false, Ordering::SeqCst);
        if self.is_cancelled() {
            self.flag.store(true, Ordering::SeqCst);
        }
        !self.is_cancelled()
    }

    /// The flag, for a budget.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }

    /// Waits until the call is cancelled. Only one task may wait.
    pub(crate) async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.wake.notified().await;
        }
    }
}

/// The id of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientId(pub u64);

/// The data by which a call is selected for cancellation.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    /// The client that made the call.
    pub client: ClientId,
    /// The id of the call, unless it is a notification.
    pub id: Option<Id>,
    /// The session of the call, if it has one.
    pub session: Option<String>,
}

/// All calls in progress.
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
    /// Issues a ticket for a call. It is removed when the guard is dropped.
    pub(crate) fn issue(self: &Arc<Self>, holder: Holder) -> Guard {
        let ticket = Arc::new(Ticket::default());
        let mut held = lock(&self.held);
        let number = held.next;
        held.next += 1;
        held.calls.insert(number, (holder, Arc::clone(&ticket)));
        Guard { tickets: Arc::clone(self), number, ticket }
    }

    /// Cancels the selected calls and returns their number.
    pub(crate) fn cancel(&self, is_selected: impl Fn(&Holder) -> bool) -> usize {
        let held = lock(&self.held);
        let selected = held.calls.values().filter(|(holder, _)| is_selected(holder));
        selected.inspect(|(_, ticket)| ticket.cancel()).count()
    }

    /// The number of calls in progress.
    pub(crate) fn count(&self) -> usize {
        lock(&self.held).calls.len()
    }
}

/// A call in progress. Dropping the guard cancels the call.
#[derive(Debug)]
pub(crate) struct Guard {
    tickets: Arc<Tickets>,
    number: u64,
    /// The call's ticket.
    pub ticket: Arc<Ticket>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // This has no effect after the response.
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
    fn only_selected_calls_are_cancelled() {
        let tickets = Arc::new(Tickets::default());
        let (one, two) = (tickets.issue(holder(1, "s1")), tickets.issue(holder(2, "s2")));
        assert_eq!(tickets.cancel(|holder| holder.session.as_deref() == Some("s2")), 1);
        assert_eq!((one.ticket.is_cancelled(), two.ticket.is_cancelled()), (false, true));
        assert_eq!(tickets.cancel(|holder| holder.client == ClientId(3)), 0);
    }

    #[test]
    fn an_interrupted_call_may_run_again() {
        let ticket = Ticket::default();
        ticket.interrupt();
        assert!(ticket.flag().load(Ordering::Relaxed) && !ticket.is_cancelled());
        assert!(ticket.resume() && !ticket.flag().load(Ordering::Relaxed));
        ticket.cancel();
        assert!(!ticket.resume() && ticket.flag().load(Ordering::Relaxed));
    }

    #[test]
    fn dropping_a_guard_cancels_and_removes_the_call() {
        let tickets = Arc::new(Tickets::default());
        let guard = tickets.issue(holder(1, "s1"));
        let ticket = Arc::clone(&guard.ticket);
        drop(guard);
        assert_eq!((ticket.is_cancelled(), tickets.count()), (true, 0));
    }

    #[test]
    fn cancelling_wakes_the_waiting_task() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ticket = Arc::new(Ticket::default());
        let other = Arc::clone(&ticket);
        let thread = std::thread::spawn(move || other.cancel());
        runtime.block_on(ticket.cancelled());
        thread.join().unwrap();
    }
}
