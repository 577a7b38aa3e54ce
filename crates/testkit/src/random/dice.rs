//! Random choices.

/// A source of random choices.
pub(super) struct Dice(fastrand::Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(fastrand::Rng::with_seed(seed))
    }

    /// Returns true with this probability, in percent.
    pub(super) fn chance(&mut self, percent: u32) -> bool {
        self.0.u32(0..100) < percent
    }

    /// Returns a number in `lo..=hi`.
    pub(super) fn between(&mut self, lo: i64, hi: i64) -> i64 {
        self.0.i64(lo..=hi)
    }

    /// Returns a count in `lo..=hi`.
    pub(super) fn count(&mut self, lo: usize, hi: usize) -> usize {
        self.0.usize(lo..=hi)
    }

    /// Returns a random item; there must be at least one.
    pub(super) fn pick<'a, T: ?Sized + 'a>(&mut self, items: &'a [&'a T]) -> &'a T {
        items[self.0.usize(0..items.len())]
    }

    /// Returns a random item; there must be at least one.
    pub(super) fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.0.usize(0..items.len())]
    }

    /// Returns `n` of the items, or all if there are fewer, in random order.
    pub(super) fn some_of<T: Clone>(&mut self, items: &[T], n: usize) -> Vec<T> {
        let mut items = items.to_vec();
        self.0.shuffle(&mut items);
        items.truncate(n);
        items
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        self.0.shuffle(items);
    }
}
