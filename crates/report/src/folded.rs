//! Infinite paths in their shortest form.
//!
//! The path of an LTL or CTL\* formula is found in a product with an automaton, so it may go around a loop
//! of the system more than once. A reader needs each state of the loop once.

use masque_driver::PathReason;

/// Returns the same infinite path with the shortest loop that begins as early as possible. A finite path is
/// returned as it is. Claims at positions that become one are merged.
pub(crate) fn folded(showing: &PathReason) -> PathReason {
    let mut folded = showing.clone();
    let Some(start) = folded.run.back_to else { return folded };
    let (states, actions) = (&folded.run.states, &folded.run.actions);
    if states.len() <= start || actions.len() != states.len() {
        return folded;
    }
    let period = period(states.len() - start, |one, other| {
        states[start + one] == states[start + other] && actions[start + one] == actions[start + other]
    });
    let (mut start, mut end) = (start, start + period);
    // The last step of the loop is also the step before it: begin the loop there.
    while start > 0 && states[start - 1] == states[end - 1] && actions[start - 1] == actions[end - 1] {
        (start, end) = (start - 1, end - 1);
    }
    folded.run.states.truncate(end);
    folded.run.actions.truncate(end);
    folded.run.back_to = Some(start);
    let place = |position: usize| match position.checked_sub(start) {
        None => position,
        Some(inside) => start + inside % period,
    };
    folded.claims.iter_mut().for_each(|(position, _)| *position = place(*position));
    folded.claims.sort_by_key(|(position, _)| *position);
    let mut seen = std::collections::HashSet::new();
    folded.claims.retain(|&(position, reason)| seen.insert((position, reason.index())));
    folded.fair.iter_mut().for_each(|position| *position = place(*position));
    folded
}

/// The least `p` that divides `length` such that positions that differ by `p` are equal.
fn period(length: usize, is_equal: impl Fn(usize, usize) -> bool) -> usize {
    let repeats = |p: &usize| length.is_multiple_of(*p) && (*p..length).all(|at| is_equal(at, at - p));
    (1..length).find(repeats).unwrap_or(length)
}

#[cfg(test)]
mod tests {
    use masque_driver::{EvidencePath, ReasonId, StateId};

    use super::*;

    /// A path by the numbers of its states, all steps by the same action.
    fn path(states: &[u32], back_to: usize) -> PathReason {
        PathReason {
            run: EvidencePath {
                states: states.iter().map(|&state| StateId(state)).collect(),
                actions: vec![Some(Vec::new()); states.len()],
                back_to: Some(back_to),
            },
            // The reason of a position is the state there.
            claims: states.iter().enumerate().map(|(at, &state)| (at, ReasonId(state))).collect(),
            fair: (back_to..states.len()).collect(),
        }
    }

    #[test]
    fn loops_are_shortest_and_begin_early() {
        let check = |states: &[u32], back_to, expected: &[u32], expected_back_to| {
            let found = folded(&path(states, back_to));
            let numbers: Vec<u32> = found.run.states.iter().map(|state| state.0).collect();
            assert_eq!((&numbers[..], found.run.back_to), (expected, Some(expected_back_to)), "{states:?}");
            for (position, reason) in &found.claims {
                assert_eq!(found.run.states[*position].0, reason.0, "{states:?}: claims follow their states");
            }
            let places = found.claims.iter().map(|claim| claim.0);
            assert_eq!(places.collect::<Vec<_>>(), (0..expected.len()).collect::<Vec<_>>());
            assert!(found.fair.iter().all(|at| (expected_back_to..expected.len()).contains(at)), "{found:?}");
        };
        check(&[0, 1, 1], 2, &[0, 1], 1);
        check(&[0, 1, 2, 1, 2], 3, &[0, 1, 2], 1);
        check(&[0, 1, 2, 1, 2, 1], 4, &[0, 1, 2], 1);
        check(&[0, 1, 2, 1, 2, 1, 2], 1, &[0, 1, 2], 1);
        check(&[3, 3, 3], 1, &[3], 0);
        check(&[0, 1, 2], 0, &[0, 1, 2], 0);
        check(&[0, 1, 2], 2, &[0, 1, 2], 2);
    }

    /// The states of an infinite path, one after the other.
    fn unrolled(showing: &PathReason) -> Vec<u32> {
        let (states, start) = (&showing.run.states, showing.run.back_to.unwrap());
        let at = |k: usize| if k < start { k } else { start + (k - start) % (states.len() - start) };
        (0..40).map(|k| states[at(k)].0).collect()
    }

    /// Random lassos of at most 8 states: the same infinite path, and no shorter lasso has it.
    #[test]
    fn folding_keeps_the_path_and_is_minimal() {
        let mut seed = 1_u64;
        let mut random = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        for _ in 0..500 {
            let n = 1 + random(8) as usize;
            let states: Vec<u32> = (0..n).map(|_| random(2) as u32).collect();
            let original = path(&states, random(n as u64) as usize);
            let found = folded(&original);
            assert_eq!(unrolled(&found), unrolled(&original), "{states:?}");
            for shorter in 1..found.run.states.len() {
                let lassos = (0..shorter).map(|start| path(&unrolled(&original)[..shorter], start));
                let mut same = lassos.filter(|lasso| unrolled(lasso) == unrolled(&original));
                assert_eq!(same.next(), None, "{states:?}");
            }
        }
    }

    #[test]
    fn finite_paths_stay() {
        let mut finite = path(&[0, 1, 1], 1);
        finite.run.back_to = None;
        finite.run.actions.pop();
        assert_eq!(folded(&finite), finite);
    }
}
