//! The bits that a diagram tests.

use oxidd_core::function::Function as _;
use oxidd_core::util::Ref;
use oxidd_core::{HasLevel as _, InnerNode as _, LevelNo, Manager as _, Node, NodeID};
use rustc_hash::FxHashSet;

use super::Bit;
use crate::kernel::{Diagram, Edge, Manager};

/// Returns the bits that some node of a diagram tests, in increasing order. Every node is visited once.
pub(super) fn bits_tested(diagram: &Diagram) -> Vec<Bit> {
    diagram.with_manager_shared(|manager, root| {
        let mut found =
            Found { seen: FxHashSet::default(), is_tested: vec![false; manager.num_levels() as usize] };
        found.visit(manager, root);
        let levels = (0..).zip(&found.is_tested).filter(|(_, is_tested)| **is_tested);
        let mut bits: Vec<Bit> = levels.map(|(level, _)| manager.level_to_var(level)).collect();
        bits.sort_unstable();
        bits
    })
}

struct Found {
    seen: FxHashSet<NodeID>,
    /// For each level, whether some node seen so far is on it.
    is_tested: Vec<bool>,
}

impl Found {
    /// Visits the nodes below an edge. The depth is at most the number of levels.
    fn visit<'id>(&mut self, manager: &Manager<'id>, edge: Ref<'_, Edge<'id>>) {
        if let Node::Inner(node) = manager.get_node(edge)
            && self.seen.insert(edge.node_id())
        {
            let level: LevelNo = node.level();
            self.is_tested[level as usize] = true;
            node.children().for_each(|child| self.visit(manager, child));
        }
    }
}
