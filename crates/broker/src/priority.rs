//! Priorities of threads: long calls leave the processors to short ones.
//!
//! On Linux each thread has a priority (its *nice* value) of its own. On other systems nothing happens, and the
//! scheduler treats all threads alike.

/// The nice value of threads with long calls. Beside a thread with the usual value 0, such a thread gets about a
/// tenth of a processor.
#[cfg(target_os = "linux")]
const LONG_CALL_NICE: i32 = 10;

/// A thread of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadId {
    #[cfg(target_os = "linux")]
    id: rustix::thread::Pid,
}

#[cfg(target_os = "linux")]
impl ThreadId {
    /// The current thread.
    pub(crate) fn current() -> ThreadId {
        ThreadId { id: rustix::thread::gettid() }
    }

    /// Gives the thread a low priority. Nothing happens if that is not allowed.
    pub(crate) fn lower_priority(self) {
        _ = rustix::process::setpriority_process(Some(self.id), LONG_CALL_NICE);
    }

    /// Whether threads have priorities.
    pub(crate) fn has_priority(self) -> bool {
        true
    }
}

#[cfg(not(target_os = "linux"))]
impl ThreadId {
    /// The current thread.
    pub(crate) fn current() -> ThreadId {
        ThreadId {}
    }

    /// Gives the thread a low priority.
    pub(crate) fn lower_priority(self) {}

    /// Whether threads have priorities.
    pub(crate) fn has_priority(self) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_priority_of_one_thread_is_lowered() {
        let nice = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
        let before = nice();
        let lowered = std::thread::spawn(move || {
            ThreadId::current().lower_priority();
            nice()
        });
        assert_eq!((lowered.join().unwrap(), nice()), (before.max(LONG_CALL_NICE), before));
    }
}
