//! Infinite paths with a loop that meets every fairness constraint. [CGMZ95 §4]
//!
//! Let `E` be the states at which a path of the required kind starts. Walk from the given state to the
//! nearest state of `E` that has an infinite backward path inside `E`; there is no loop before it. From
//! there, the *head*, walk inside `E` to the nearest state that meets the first constraint, from it to the
//! nearest that meets the second, and so on, then back to the head. If no path leads back, the last state
//! becomes the head, and the walk starts again.
//!
//! This terminates: if no path leads back, the new head lies in a strictly later strongly connected
//! component of `E` than the old one, and inside a last component a path leads back from every state. Each
//! walk is canonical, so the result is; it need not be the shortest lasso.
//!
//! Differs from the paper, which also restarts from the successors of the given state: the first walk, to
//! where loops are possible, saves one failed attempt for each state of a long prefix.

use masque_verdict::{PathLength, RegionPart, Route, State, StepKind, Stop, Why};

use crate::explain::Explainer;

/// An infinite path: after the last state it continues at index `back_to`.
pub(crate) struct Lasso {
    pub(crate) states: Vec<State>,
    pub(crate) back_to: usize,
    /// For each fairness constraint, a position on the loop at which it is true.
    pub(crate) fair: Vec<usize>,
}

/// Finds the canonical lasso from a state inside `region`, the states at which an infinite path of the
/// required kind starts. There must be one.
pub(crate) fn lasso(explainer: &mut Explainer<'_>, region: RegionPart, state: &State) -> Result<Lasso, Stop> {
    let inside = [region];
    let n_constraints = explainer.system.fairness.len();
    let mut walk = |from: &State, to: &[RegionPart], length: PathLength| {
        let (from, through, to) = (vec![RegionPart::Is(from.clone())], inside.to_vec(), to.to_vec());
        explainer.path(&Route { from, through, to, by: StepKind::Steps, length })
    };
    // An engine that reports such a path and then finds none contradicts itself.
    let lost = || Stop::from(Why::Unsupported);
    let mut states =
        walk(state, &[RegionPart::Recurrent(inside.to_vec())], PathLength::Any)?.ok_or_else(lost)?;
    loop {
        let back_to = states.len() - 1;
        let head = states[back_to].clone();
        let mut fair = Vec::new();
        for constraint in 0..n_constraints {
            let to = [inside[0].clone(), RegionPart::Constraint(constraint)];
            let found = walk(&states[states.len() - 1], &to, PathLength::Any)?.ok_or_else(lost)?;
            states.extend(found.into_iter().skip(1));
            fair.push(states.len() - 1);
        }
        let last = states.len() - 1;
        if last > back_to && states[last] == head {
            // The walk is back at the head already: the constraints met here are met there.
            states.pop();
            fair.iter_mut().filter(|position| **position == last).for_each(|position| *position = back_to);
            return Ok(Lasso { states, back_to, fair });
        }
        if let Some(back) = walk(&states[last], &[RegionPart::Is(head)], PathLength::Some)? {
            // The first state of `back` is the last one so far, its last state is the head.
            states.extend(back.into_iter().skip(1));
            states.pop();
            return Ok(Lasso { states, back_to, fair });
        }
        if last == back_to {
            let found = walk(&states[last], &inside, PathLength::One)?.ok_or_else(lost)?;
            states.extend(found.into_iter().skip(1));
        }
    }
}
