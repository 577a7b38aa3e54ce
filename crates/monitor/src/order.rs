//! Observations in the order of their times, although they arrive in another order.
//!
//! Spans are written when they end, so a record may be about an earlier time than those before it. An item waits until
//! a later one has come that is more than the *window* ahead of it. What arrives after a later item was used is late.

use std::collections::BTreeMap;

use crate::record::Time;

/// Items that wait for earlier ones.
#[derive(Debug)]
pub struct InOrder<T> {
    /// Items by time, and items with equal times in the order of their arrival, with their sizes in bytes.
    waiting: BTreeMap<(Time, u64), (T, usize)>,
    bytes: usize,
    n_arrived: u64,
    newest: Option<Time>,
    /// Time of the last item that was used.
    used: Option<Time>,
    window: Option<i128>,
    max_bytes: usize,
    /// Whether an item was used early because too many waited.
    is_cut: bool,
}

impl<T> InOrder<T> {
    /// No items. Without a window, items wait for the end of the input, or until their sizes exceed this bound.
    pub fn new(window: Option<i128>, max_bytes: usize) -> InOrder<T> {
        InOrder {
            waiting: BTreeMap::new(),
            bytes: 0,
            n_arrived: 0,
            newest: None,
            used: None,
            window,
            max_bytes,
            is_cut: false,
        }
    }

    /// Adds an item of this size, and returns it if it is late.
    pub fn push(&mut self, time: Time, item: T, bytes: usize) -> Option<T> {
        if self.used.is_some_and(|used| time < used) {
            return Some(item);
        }
        self.newest = self.newest.max(Some(time));
        self.n_arrived += 1;
        self.bytes += bytes;
        self.waiting.insert((time, self.n_arrived), (item, bytes));
        None
    }

    /// The next item that has waited long enough.
    pub fn next_ready(&mut self) -> Option<T> {
        let (first, _) = *self.waiting.keys().next()?;
        let is_old = self.window.zip(self.newest).is_some_and(|(window, newest)| newest.0 - first.0 > window);
        let is_full = self.bytes > self.max_bytes;
        self.is_cut |= is_full && !is_old;
        if is_old || is_full { self.next_waiting() } else { None }
    }

    /// The next item, whether or not an earlier one may still come.
    pub fn next_waiting(&mut self) -> Option<T> {
        let ((time, _), (item, bytes)) = self.waiting.pop_first()?;
        self.bytes -= bytes;
        self.used = Some(time);
        Some(item)
    }

    /// Time in nanoseconds for which items wait, if it is limited.
    pub fn window(&self) -> Option<i128> {
        self.window
    }

    /// Whether an item was used early because too many waited.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Number of items that wait.
    pub fn n_waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_wait_for_earlier_ones() {
        let mut items = InOrder::new(Some(10), 100);
        let mut used = Vec::new();
        let mut late = Vec::new();
        for (index, time) in [5, 3, 8, 14, 3, 16, 4, 100, 30].into_iter().enumerate() {
            late.extend(items.push(Time(time), (time, index), 1));
            used.extend(std::iter::from_fn(|| items.next_ready()));
        }
        // At 14 the first 3 is used (14 - 3 > 10); the second one is not earlier, so it is not late. At 16, 5 is used, so 4
        // is late.
        assert_eq!(used, [(3, 1), (3, 4), (5, 0), (8, 2), (14, 3), (16, 5), (30, 8)]);
        assert_eq!(late, [(4, 6)]);
        assert_eq!(std::iter::from_fn(|| items.next_waiting()).collect::<Vec<_>>(), [(100, 7)]);
    }

    #[test]
    fn the_size_of_waiting_items_is_limited() {
        let mut items = InOrder::new(None, 20);
        for time in [3, 1, 2] {
            assert_eq!(items.push(Time(time), time, 10), None);
        }
        assert_eq!((items.next_ready(), items.is_cut()), (Some(1), true));
        assert_eq!((items.next_ready(), items.n_waiting()), (None, 2));
        assert_eq!(items.push(Time(0), 0, 10), Some(0));
    }
}
