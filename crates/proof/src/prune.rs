//! Drops the claims and nodes that a certificate does not use.

use masque_certificate::Certificate;
use masque_certificate::format::{Claim, Node, Ref};

/// Drops the claims that the root does not lead to, and the nodes of no set in use.
pub(crate) fn prune(certificate: &mut Certificate) {
    let Certificate { claims, root, fair, nodes, inv, reached, .. } = certificate;
    let mut is_used = vec![false; claims.len()];
    let fair_claims = fair.iter().flat_map(|fair| fair.of.iter().flatten());
    root.iter().chain(fair_claims).for_each(|claim| is_used[*claim] = true);
    for index in (0..claims.len()).rev() {
        if is_used[index] {
            claims[index].of.iter().flatten().for_each(|operand| is_used[*operand] = true);
        }
    }
    let new_numbers = numbers(&is_used);
    let mut kept: Vec<Claim> = std::mem::take(claims);
    let mut index = 0;
    kept.retain(|_| {
        index += 1;
        is_used[index - 1]
    });
    *claims = kept;
    let operands = claims.iter_mut().chain(fair.iter_mut()).flat_map(|claim| &mut claim.of);
    operands.flatten().chain(root).for_each(|claim| *claim = new_numbers[*claim]);

    let mut refs: Vec<&mut Ref> = inv.iter_mut().chain(reached).collect();
    claims.iter_mut().chain(fair).for_each(|claim| each_ref(claim, &mut refs));
    let mut is_used = vec![false; nodes.len()];
    refs.iter().for_each(|set| mark(&mut is_used, **set));
    for index in (0..nodes.len()).rev() {
        if is_used[index] {
            let Node { low, high, .. } = nodes[index];
            mark(&mut is_used, low);
            mark(&mut is_used, high);
        }
    }
    let new_numbers = numbers(&is_used);
    let moved = |set: Ref| match (set.0 as usize >> 1).checked_sub(1) {
        None => set,
        Some(index) => Ref((new_numbers[index] as u32 + 1) << 1 | set.0 & 1),
    };
    refs.into_iter().for_each(|set| *set = moved(*set));
    let kept = nodes.iter().zip(&is_used).filter(|(_, is_used)| **is_used);
    *nodes =
        kept.map(|(node, _)| Node { bit: node.bit, low: moved(node.low), high: moved(node.high) }).collect();
}

fn mark(is_used: &mut [bool], set: Ref) {
    if let Some(index) = (set.0 as usize >> 1).checked_sub(1) {
        is_used[index] = true;
    }
}

/// Returns for each place the number of places in use before it.
fn numbers(is_used: &[bool]) -> Vec<usize> {
    let count = |n: &mut usize, is_used: &bool| {
        let number = *n;
        *n += usize::from(*is_used);
        Some(number)
    };
    is_used.iter().scan(0, count).collect()
}

fn each_ref<'c>(claim: &'c mut Claim, refs: &mut Vec<&'c mut Ref>) {
    let Claim { set, layers, recur, stages, pieces, .. } = claim;
    refs.extend(set.iter_mut().chain(layers).chain(recur.iter_mut().flatten()));
    refs.extend(stages.iter_mut().flat_map(|(_, p, v)| [p, v]));
    for piece in pieces {
        refs.extend(piece.set.iter_mut().chain(&mut piece.layers).chain(&mut piece.part));
        refs.extend(piece.choices.iter_mut().map(|(.., states)| states));
    }
}
