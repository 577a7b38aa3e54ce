//! Simplifies a diagram where only some valuations matter. [CM90]
//!
//! Where an image is computed of a set of states, often other sets would do as well: those that differ
//! in states that are not reachable, or that are known to have been expanded before. One of them may have
//! far fewer nodes.

use oxidd_core::function::{BooleanFunction, Function};
use oxidd_core::util::{AllocResult, EdgeDropGuard, Own, Ref};
use oxidd_core::{ApplyCache, DiagramRules, HasApplyCache, HasLevel, Manager as _, Node};
use oxidd_rules_bdd::complement_edge::{BCDDOp, BCDDRules, BCDDTerminal, EdgeTag};

use crate::kernel::{Diagram, Edge, Manager};

/// A number among the operands. By it the cache distinguishes these results from those of the library's
/// own operation on the same operands.
const CACHE_MARK: u32 = 0;

/// Returns a function that equals `f` where `care` is true, usually one with fewer nodes. `care` must be
/// satisfiable.
///
/// Bits on which only `care` depends are quantified in it. Where `care` excludes one value of a bit, the
/// bit is skipped in `f`.
pub(crate) fn simplify(f: &Diagram, care: &Diagram) -> AllocResult<Diagram> {
    f.with_manager_shared(|manager, edge| {
        let result = recurse(manager, edge, care.as_edge(manager))?;
        Ok(Diagram::from_edge(manager, result))
    })
}

fn recurse<'id>(
    manager: &Manager<'id>,
    f: Ref<'_, Edge<'id>>,
    care: Ref<'_, Edge<'id>>,
) -> AllocResult<Own<Edge<'id>>> {
    // The result for the complement is the complement of the result.
    let tag = f.tag();
    let f = f.with_tag(EdgeTag::None);
    let signed = |edge: Own<Edge<'id>>| {
        let own = edge.tag();
        edge.with_tag(own ^ tag)
    };
    let (Node::Inner(f_node), Node::Inner(care_node)) = (manager.get_node(f), manager.get_node(care)) else {
        return Ok(signed(manager.clone_edge(f)));
    };
    if f == care.with_tag(EdgeTag::None) {
        return Ok(signed(manager.get_terminal(BCDDTerminal)?.with_tag(care.tag())));
    }
    let mark = &[CACHE_MARK][..];
    if let Some(([known], [])) =
        manager.apply_cache().get_extended(manager, BCDDOp::Restrict, (&[f, care], mark))
    {
        return Ok(signed(known));
    }
    let (f_level, care_level) = (f_node.level(), care_node.level());
    let result = if care_level < f_level {
        let [high, low] = cofactors(care.tag(), care_node);
        let either = EdgeDropGuard::new(manager, Diagram::or_edge(manager, high, low)?);
        recurse(manager, f, either.borrowed())?
    } else {
        let [f_high, f_low] = cofactors(f.tag(), f_node);
        let [high, low] = if care_level == f_level { cofactors(care.tag(), care_node) } else { [care, care] };
        if is_false(manager, high) {
            recurse(manager, f_low, low)?
        } else if is_false(manager, low) {
            recurse(manager, f_high, high)?
        } else {
            let on_high = EdgeDropGuard::new(manager, recurse(manager, f_high, high)?);
            let on_low = recurse(manager, f_low, low)?;
            let children = [on_high.into_edge(), on_low];
            BCDDRules::reduce(manager, f_level, children).then_insert(manager, f_level)?
        }
    };
    manager.apply_cache().add_extended(
        manager,
        BCDDOp::Restrict,
        (&[f, care], mark),
        (&[result.borrowed()], &[]),
    );
    Ok(signed(result))
}

/// Returns the functions in which the bit of a node is 1 and 0.
fn cofactors<'n, 'id>(tag: EdgeTag, node: &'n crate::kernel::Node<'id>) -> [Ref<'n, Edge<'id>>; 2] {
    use oxidd_core::InnerNode;
    [0, 1].map(|child| {
        let child = node.child(child);
        child.with_tag(child.tag() ^ tag)
    })
}

fn is_false<'id>(manager: &Manager<'id>, edge: Ref<'_, Edge<'id>>) -> bool {
    edge.tag() == EdgeTag::Complemented && manager.get_node(edge).is_any_terminal()
}
