//! Sifting: a better order found by trying each block of variables everywhere. [Rudell93]
//!
//! A block is moved through the whole order, level by level, and left where the diagrams were
//! smallest. Blocks are the bits of one variable, current and next together: torn apart they would
//! make every image large. It is a remedy for real trouble only; left on, it ruins good orders
//! (300 dining cryptographers: 0.6 s became 22 s).
//!
//! The library swaps neighbouring levels through an unsafe function; this module is the only one
//! that calls it.
#![allow(unsafe_code)]

use oxidd_core::{HasLevel, LevelNo, LevelView, Manager};

/// A block is not pushed on once the diagrams have grown by this factor.
const GROWTH: f64 = 1.2;

/// Moves each block to its best place, the largest first, while there is effort left and `goes_on`
/// says so. `widths` are the numbers of levels of the blocks from the top. The effort is counted in
/// nodes on the levels swapped, so that the order found does not depend on the machine.
pub(crate) fn sift<M: Manager>(manager: &mut M, widths: &[u32], effort: u64, goes_on: &dyn Fn() -> bool)
where
    M::InnerNode: HasLevel,
{
    debug_assert_eq!(widths.iter().sum::<u32>(), manager.num_levels());
    manager.reorder(|manager| {
        let order: Vec<(usize, u32)> = widths.iter().copied().enumerate().collect();
        let mut sifter = Sifter { manager, order, size: 0, effort, goes_on };
        sifter.size = (0..sifter.manager.num_levels()).map(|level| sifter.nodes_at(level)).sum();
        let mut by_size: Vec<(std::cmp::Reverse<i64>, usize)> = Vec::new();
        let mut level = 0;
        for (block, &width) in widths.iter().enumerate() {
            let nodes = (level..level + width).map(|l| sifter.nodes_at(l)).sum();
            by_size.push((std::cmp::Reverse(nodes), block));
            level += width;
        }
        by_size.sort_unstable();
        for (_, block) in by_size {
            if sifter.is_over() {
                return;
            }
            sifter.place(block);
        }
    });
}

/// The order as blocks, inside a manager that is being reordered.
struct Sifter<'m, M> {
    manager: &'m mut M,
    /// From the top, each block with its number of levels.
    order: Vec<(usize, u32)>,
    /// Nodes on all levels.
    size: i64,
    /// Nodes that may still be on levels swapped.
    effort: u64,
    goes_on: &'m dyn Fn() -> bool,
}

impl<M: Manager> Sifter<'_, M>
where
    M::InnerNode: HasLevel,
{
    fn nodes_at(&self, level: LevelNo) -> i64 {
        self.manager.level(level).len() as i64
    }

    fn is_over(&self) -> bool {
        self.effort == 0 || !(self.goes_on)()
    }

    /// Tries a block everywhere, the nearer end first, and leaves it where it is best.
    fn place(&mut self, block: usize) {
        let Some(start) = self.order.iter().position(|(b, _)| *b == block) else { return };
        let last = self.order.len() - 1;
        let (mut best, mut best_size) = (start, self.size);
        let down_first = last - start <= start;
        let mut at = start;
        for goes_down in [down_first, !down_first] {
            while (if goes_down { at < last } else { at > 0 })
                && (self.size as f64) <= best_size as f64 * GROWTH
                && !self.is_over()
            {
                at = self.step(at, goes_down);
                if self.size < best_size {
                    (best, best_size) = (at, self.size);
                }
            }
            // Back to the best place so far, from where the other direction is tried.
            while at != best {
                at = self.step(at, at < best);
            }
        }
    }

    /// Swaps the block at a position with its neighbour; its new position.
    fn step(&mut self, at: usize, goes_down: bool) -> usize {
        let upper = if goes_down { at } else { at - 1 };
        let start: u32 = self.order[..upper].iter().map(|(_, width)| *width).sum();
        let (above, below) = (self.order[upper].1, self.order[upper + 1].1);
        for moved in 0..below {
            for level in (start + moved..start + moved + above).rev() {
                self.swap_levels(level);
            }
        }
        self.order.swap(upper, upper + 1);
        if goes_down { at + 1 } else { at - 1 }
    }

    fn swap_levels(&mut self, level: LevelNo) {
        let before = self.nodes_at(level) + self.nodes_at(level + 1);
        // SAFETY: a `Sifter` lives only inside the closure of `Manager::reorder`, it holds the only
        // `&mut` to the manager, and one thread swaps one pair of levels at a time.
        unsafe { oxidd_reorder::level_down(&*self.manager, level) };
        self.size += self.nodes_at(level) + self.nodes_at(level + 1) - before;
        self.effort = self.effort.saturating_sub(before.unsigned_abs());
    }
}
