//! Strongly connected components, and what lies on circles.

/// The strongly connected component of each node, by the number of one of its members.
/// [Tarjan72 §4], without recursion.
pub fn components(edges: &[Vec<usize>]) -> Vec<usize> {
    const OPEN: usize = usize::MAX;
    let mut component = vec![OPEN; edges.len()];
    let mut order = vec![0; edges.len()];
    let mut low = vec![0; edges.len()];
    let (mut stack, mut calls, mut n_visited) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        if order[root] > 0 {
            continue;
        }
        calls.push((root, 0));
        while let Some((node, position)) = calls.pop() {
            if position == 0 {
                n_visited += 1;
                (order[node], low[node]) = (n_visited, n_visited);
                stack.push(node);
            }
            match edges[node].get(position) {
                Some(&next) => {
                    calls.push((node, position + 1));
                    if order[next] == 0 {
                        calls.push((next, 0));
                    } else if component[next] == OPEN {
                        low[node] = low[node].min(order[next]);
                    }
                }
                None => {
                    if low[node] == order[node] {
                        while let Some(member) = stack.pop() {
                            component[member] = node;
                            if member == node {
                                break;
                            }
                        }
                    }
                    if let Some(&(caller, _)) = calls.last() {
                        low[caller] = low[caller].min(low[node]);
                    }
                }
            }
        }
    }
    component
}

/// Whether the edges lead round in a circle that meets every one of these sets of nodes. Without
/// sets: whether they lead round in a circle at all.
pub fn has_circle(edges: &[Vec<usize>], sets: &[Vec<bool>]) -> bool {
    let component = components(edges);
    let mut is_circle = vec![false; edges.len()];
    let mut meets = vec![vec![false; edges.len()]; sets.len()];
    for (node, targets) in edges.iter().enumerate() {
        is_circle[component[node]] |= targets.iter().any(|&next| component[next] == component[node]);
        for (set, meets) in sets.iter().zip(&mut meets) {
            meets[component[node]] |= set[node];
        }
    }
    (0..edges.len()).any(|head| is_circle[head] && meets.iter().all(|meets| meets[head]))
}
