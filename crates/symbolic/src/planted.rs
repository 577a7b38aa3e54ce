//! Bugs that tests plant into this engine, to show that certificates of wrong verdicts are refused. They exist only
//! with the feature `planted-bugs`, and do nothing until a test asks for one on its thread.

use std::cell::Cell;

/// A bug of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Each image of several states lacks one of them.
    ForgottenSuccessor,
    /// What an agent cannot see is quantified except for one bit.
    KeptHiddenBit,
    /// The cache answers wrongly once in a number of lookups.
    WrongCache {
        /// The number of lookups.
        period: u32,
        /// Number of lookups of the first period that are skipped.
        offset: u32,
    },
}

thread_local! {
    static BUG: Cell<Option<Bug>> = const { Cell::new(None) };
    static LOOKUPS: Cell<u64> = const { Cell::new(0) };
}

/// Plants a bug into all work of this thread, or removes it.
pub fn plant(bug: Option<Bug>) {
    BUG.set(bug);
    LOOKUPS.set(match bug {
        Some(Bug::WrongCache { offset, .. }) => offset.into(),
        _ => 0,
    });
}

/// Number of lookups of this thread since a bug was planted, if it is one of the cache.
pub fn lookups() -> u64 {
    LOOKUPS.get()
}

pub(crate) fn has(bug: Bug) -> bool {
    BUG.get() == Some(bug)
}

/// Whether the next answer of the cache is wrong.
pub(crate) fn is_cache_wrong() -> bool {
    let Some(Bug::WrongCache { period, .. }) = BUG.get() else { return false };
    LOOKUPS.set(LOOKUPS.get() + 1);
    LOOKUPS.get().is_multiple_of(period.into())
}
