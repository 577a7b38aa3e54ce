//! Renaming of bits in a diagram.
//!
//! The library substitutes arbitrary functions for bits. Each time, it prepares a function for every level
//! above the lowest renamed bit, and combines the results of each node with if-then-else. An event renames a
//! few of thousands of bits, mostly to the level just above, so with many small events preparing took far
//! longer than renaming. Here a node whose new level is above those of its children is made directly.

use oxidd_core::function::{BooleanFunction as _, Function as _};
use oxidd_core::util::{AllocResult, EdgeDropGuard, Own, Ref, new_substitution_id};
use oxidd_core::{
    ApplyCache as _, DiagramRules as _, HasApplyCache as _, HasLevel as _, LevelNo, Manager as _, Node,
};
use oxidd_rules_bdd::complement_edge::{BCDDOp, BCDDRules};

use crate::kernel::{Diagram, Edge, Manager};
use crate::space::Bit;

/// A renaming of bits, made once and kept: results are cached by its identity.
pub struct Renaming {
    /// The bits to rename, and their new names.
    pairs: Vec<(Bit, Bit)>,
    id: u32,
}

impl Renaming {
    /// Makes a renaming of the first bit of each pair to the second.
    pub(crate) fn new(pairs: Vec<(Bit, Bit)>) -> Renaming {
        Renaming { pairs, id: new_substitution_id() }
    }

    /// Renames the bits of a diagram.
    pub(crate) fn apply(&self, diagram: &Diagram) -> AllocResult<Diagram> {
        diagram.with_manager_shared(|manager, edge| {
            let levels = NewLevels::new(manager, &self.pairs);
            let renamed = rename(manager, edge, &levels, self.id)?;
            Ok(Diagram::from_edge(manager, renamed))
        })
    }
}

/// The new level of each level, in the current order.
struct NewLevels {
    /// Topmost renamed level.
    first: LevelNo,
    /// New levels from `first` to the lowest renamed level.
    levels: Vec<LevelNo>,
}

impl NewLevels {
    fn new(manager: &Manager<'_>, pairs: &[(Bit, Bit)]) -> NewLevels {
        let old = pairs.iter().map(|(old, _)| manager.var_to_level(*old));
        let (first, end) = (old.clone().min().unwrap_or(0), old.clone().max().map_or(0, |last| last + 1));
        let mut levels: Vec<LevelNo> = (first..end).collect();
        for (old, (_, new)) in old.zip(pairs) {
            levels[(old - first) as usize] = manager.var_to_level(*new);
        }
        NewLevels { first, levels }
    }

    /// Returns the new level; `None` from the first level on below which nothing is renamed.
    fn get(&self, level: LevelNo) -> Option<LevelNo> {
        match level.checked_sub(self.first) {
            None => Some(level),
            Some(index) => self.levels.get(index as usize).copied(),
        }
    }
}

fn rename<'id>(
    manager: &Manager<'id>,
    f: Ref<'_, Edge<'id>>,
    levels: &NewLevels,
    id: u32,
) -> AllocResult<Own<Edge<'id>>> {
    let Node::Inner(node) = manager.get_node(f) else { return Ok(manager.clone_edge(f)) };
    let Some(level) = levels.get(node.level()) else { return Ok(manager.clone_edge(f)) };
    let cache = manager.apply_cache();
    if let Some(([known], [])) = cache.get_extended(manager, BCDDOp::Substitute, (&[f], &[id])) {
        return Ok(known);
    }
    let [high, low] = [0, 1].map(|child| {
        let cofactor = BCDDRules::cofactor(f.tag(), node, child);
        rename(manager, cofactor, levels, id).map(|edge| EdgeDropGuard::new(manager, edge))
    });
    let (high, low) = (high?, low?);
    let is_above = |edge: Ref<'_, Edge<'id>>| match manager.get_node(edge) {
        Node::Inner(node) => level < node.level(),
        Node::Terminal(_) => true,
    };
    let renamed = if is_above(high.borrowed()) && is_above(low.borrowed()) {
        let children = [high.into_edge(), low.into_edge()];
        BCDDRules::reduce(manager, level, children).then_insert(manager, level)?
    } else {
        let bit = EdgeDropGuard::new(manager, Diagram::var_edge(manager, manager.level_to_var(level))?);
        Diagram::ite_edge(manager, bit.borrowed(), high.borrowed(), low.borrowed())?
    };
    cache.add_extended(manager, BCDDOp::Substitute, (&[f], &[id]), (&[renamed.borrowed()], &[]));
    Ok(renamed)
}

#[cfg(test)]
mod tests {
    use masque_verdict::Budget;

    use crate::space::{Set, Space};

    /// Returns the set of some random valuations of the bits.
    fn random_set(space: &Space, bits: &[u32], random: &mut fastrand::Rng) -> Set {
        let mut set = space.none();
        for _ in 0..random.u32(0..12) {
            let literals: Vec<_> = bits.iter().map(|&bit| (bit, random.u32(0..3))).collect();
            let literals = literals.into_iter().filter(|(_, value)| *value < 2);
            let cube = literals.fold(space.all(), |cube, (bit, value)| {
                space.and(&cube, &space.bit(bit, value == 1).unwrap()).unwrap()
            });
            set = space.xor(&set, &cube).unwrap();
        }
        set
    }

    #[test]
    fn bits_of_random_sets_in_any_order() {
        const N: u32 = 12;
        for seed in 0..400 {
            let mut random = fastrand::Rng::with_seed(seed);
            let space = Space::new(N, &Budget::unlimited()).unwrap();
            let mut bits: Vec<u32> = (0..N).collect();
            random.shuffle(&mut bits);
            let n_renamed = random.usize(0..=5);
            let (renamed, rest) = bits.split_at(n_renamed);
            let (new, kept) = rest.split_at(n_renamed);
            let used = [renamed, kept].concat();
            let set = random_set(&space, &used, &mut random);
            let pairs = renamed.iter().copied().zip(new.iter().copied());
            let result = space.rename(&set, &space.renaming(pairs.clone())).unwrap();
            // By the definition: there is a valuation of the old bits, equal to that of the new ones.
            let equal = pairs.fold(space.all(), |all, (old, new)| {
                let [old, new] = [old, new].map(|bit| space.bit(bit, true).unwrap());
                space.and(&all, &space.iff(&old, &new).unwrap()).unwrap()
            });
            let cube = space.cube(renamed.iter().copied()).unwrap();
            assert!(result == space.and_exists(&set, &equal, &cube).unwrap(), "seed {seed}");
        }
    }
}
