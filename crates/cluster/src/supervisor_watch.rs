//! How a worker notices that its supervisor is lost although their connection is not closed: the packets
//! vanish, or the machine of the supervisor has gone down.

use std::io::Write;
use std::process::exit;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::connection::{Heard, LastHeard};

/// Time between two checks.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// If more time than this passes between two checks, this process itself was suspended, and the messages of
/// the supervisor are still unread.
const SUSPENSION_THRESHOLD: Duration = Duration::from_secs(2);
/// Time after an announcement in which the supervisor may still send orders before it stops.
const SUSPENSION_DELAY: Duration =
    if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(1) };
/// Exit code of a worker whose supervisor is lost.
const LOST_SUPERVISOR_EXIT: i32 = 3;

/// Watches the connection to the supervisor. Clones share the state.
#[derive(Clone)]
pub(crate) struct SupervisorWatch {
    heard: LastHeard,
    /// Time without a message after which the supervisor is lost. `None` means that it is not watched.
    limit: Arc<Mutex<Option<Duration>>>,
    /// When the supervisor announced that it will be silent, if it did.
    announced: Arc<Mutex<Option<Instant>>>,
}

impl SupervisorWatch {
    /// Starts to watch.
    pub(crate) fn new(limit: Option<Duration>) -> SupervisorWatch {
        let limit = Arc::new(Mutex::new(limit));
        SupervisorWatch { heard: LastHeard::now(), limit, announced: Arc::default() }
    }

    /// Returns a reader that records what arrives from the supervisor.
    pub(crate) fn listen<R>(&self, input: R) -> Heard<R> {
        Heard { input, last: self.heard.clone() }
    }

    /// Sets the time without a message after which the supervisor is lost.
    pub(crate) fn set_limit(&self, limit: Option<Duration>) {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = limit;
    }

    /// Records an order of the supervisor: that it will be silent, or any other, which shows that it goes on.
    pub(crate) fn receive(&self, is_announcement: bool) {
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        if is_announcement {
            *announced = Some(Instant::now());
        } else if announced.is_some_and(|time| time.elapsed() > SUSPENSION_DELAY) {
            *announced = None;
        }
    }

    fn is_suspended(&self) -> bool {
        self.announced.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Ends the process when the supervisor has been silent for too long.
    pub(crate) fn end_when_silent(&self) {
        let mut resumed = Instant::now();
        loop {
            let slept = Instant::now();
            std::thread::sleep(CHECK_INTERVAL);
            if slept.elapsed() > SUSPENSION_THRESHOLD {
                resumed = Instant::now();
            }
            if let Some(limit) = self.exceeded_limit(resumed) {
                let message = format!("the supervisor has sent nothing for {} s", limit.as_secs_f64());
                _ = writeln!(std::io::stderr(), "error: {message}");
                exit(LOST_SUPERVISOR_EXIT);
            }
        }
    }

    /// Returns the limit if the supervisor has been silent for longer, since `start` or later.
    fn exceeded_limit(&self, start: Instant) -> Option<Duration> {
        let limit = (*self.limit.lock().unwrap_or_else(PoisonError::into_inner))?;
        let is_silent = self.heard.get().max(start).elapsed() > limit;
        (is_silent && !self.is_suspended()).then_some(limit)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn silence_counts_unless_it_was_announced() {
        let start = Instant::now();
        let watch = SupervisorWatch::new(None);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(watch.exceeded_limit(start), None);
        let limit = Some(Duration::from_millis(10));
        watch.set_limit(limit);
        assert_eq!(watch.exceeded_limit(start), limit);
        assert_eq!(watch.exceeded_limit(Instant::now()), None);
        watch.receive(true);
        // An order that was sent before the stop.
        watch.receive(false);
        assert_eq!(watch.exceeded_limit(start), None);
        std::thread::sleep(SUSPENSION_DELAY * 2);
        assert_eq!(watch.exceeded_limit(start), None);
        watch.receive(false);
        assert_eq!(watch.exceeded_limit(start), limit);
        watch.set_limit(Some(Duration::from_secs(60)));
        assert_eq!(watch.exceeded_limit(start), None);
        let before = watch.heard.get();
        assert_eq!(watch.listen(&b"x"[..]).read(&mut [0; 4]).unwrap(), 1);
        assert!(watch.heard.get() > before);
    }
}
