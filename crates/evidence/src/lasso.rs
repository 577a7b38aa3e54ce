//! Infinite runs with a loop that meets every fairness constraint. [CGMZ95 §4]
//!
//! Let `E` be the states from which the run can go on for ever as asked. Walk from the given state
//! to the nearest state of `E` that has a past without beginning; before it there can be no loop.
//! From there, the *head*, walk inside `E` to the nearest state that meets the first constraint,
//! from it to the nearest that meets the second, and so on, then back to the head. If there is no
//! way back, the last state reached becomes the head, and we try again.
//!
//! It ends: without a way back the new head lies in a strictly later strongly connected component
//! of `E` than the old one, and in a last one there is a way back from everywhere. Each walk is
//! canonical, so the whole is; it need not be the shortest of all.
//!
//! The paper restarts from the given state's successors as well; here the walk to where loops are
//! possible saves one failed attempt for each state of a long approach.

use masque_verdict::{By, Length, Part, Route, State, Stop, Why};

use crate::explain::Explainer;

/// An infinite run: after the last state it goes on at `back_to`.
pub(crate) struct Lasso {
    pub(crate) states: Vec<State>,
    pub(crate) back_to: usize,
    /// For each fairness constraint a position on the loop.
    pub(crate) fair: Vec<usize>,
}

/// The canonical lasso from a state inside `region`, the states from which the run can go on for ever
/// as asked. There must be one.
pub(crate) fn lasso(explainer: &mut Explainer<'_>, region: Part, state: &State) -> Result<Lasso, Stop> {
    let inside = [region];
    let n_constraints = explainer.system.fairness.len();
    let mut walk = |from: &State, to: &[Part], length: Length| {
        let (from, through, to) = (vec![Part::Is(from.clone())], inside.to_vec(), to.to_vec());
        explainer.path(&Route { from, through, to, by: By::Steps, length })
    };
    // An engine that says there is a run and then finds none contradicts itself.
    let lost = || Stop::from(Why::Unsupported);
    let mut states = walk(state, &[Part::Recurrent(inside.to_vec())], Length::Any)?.ok_or_else(lost)?;
    loop {
        let back_to = states.len() - 1;
        let head = states[back_to].clone();
        let mut fair = Vec::new();
        for constraint in 0..n_constraints {
            let to = [inside[0].clone(), Part::Constraint(constraint)];
            let found = walk(&states[states.len() - 1], &to, Length::Any)?.ok_or_else(lost)?;
            states.extend(found.into_iter().skip(1));
            fair.push(states.len() - 1);
        }
        let last = states.len() - 1;
        if last > back_to && states[last] == head {
            // Back already: what is met here is met at the head.
            states.pop();
            fair.iter_mut().filter(|position| **position == last).for_each(|position| *position = back_to);
            return Ok(Lasso { states, back_to, fair });
        }
        if let Some(back) = walk(&states[last], &[Part::Is(head)], Length::Some)? {
            // The first is where we are, the last is the head.
            states.extend(back.into_iter().skip(1));
            states.pop();
            return Ok(Lasso { states, back_to, fair });
        }
        if last == back_to {
            let found = walk(&states[last], &inside, Length::One)?.ok_or_else(lost)?;
            states.extend(found.into_iter().skip(1));
        }
    }
}
