//! Fixpoints and shortest paths on sets of states, for any step relation.
//!
//! The caller provides images and pre-images as functions, so the same code serves interpreted systems,
//! products with a tableau, states that are explored only in part, and the worlds of BDI programs.

use std::ops::RangeInclusive;

use crate::space::{Limited, Set, Space};

/// `μZ. from ∨ (inside ∧ step(Z))`, where `step` distributes over unions: only the states found last are
/// expanded. With pre-images it is `E(inside U from)`, with images the states reachable inside a set.
/// Ends as soon as everything inside has been reached.
pub fn reach(
    space: &Space,
    from: &Set,
    inside: &Set,
    mut step: impl FnMut(&Set) -> Limited<Set>,
) -> Limited<Set> {
    let mut reached = from.clone();
    let mut frontier = from.clone();
    while !frontier.is_empty() && reached != *inside {
        let next = space.and(&step(&frontier)?, inside)?;
        frontier = space.minus(&next, &reached)?;
        reached = space.or(&reached, &frontier)?;
    }
    Ok(reached)
}

/// Iterates a function from a set until the set does not change any more.
pub fn iterate(from: Set, mut step: impl FnMut(&Set) -> Limited<Set>) -> Limited<Set> {
    let mut set = from;
    loop {
        let next = step(&set)?;
        if next == set {
            return Ok(set);
        }
        set = next;
    }
}

/// `EG φ` on paths that meet every constraint infinitely often. [EL86; CGP99 §6.3]
///
/// ```text
/// νZ. φ ∧ ⋀_c EX E(φ U (Z ∧ c))          without constraints  νZ. φ ∧ EX Z
/// ```
///
/// `before` is `EX`. `until` gets the current `Z` and a goal inside it and returns `E(φ U goal)`, or
/// `E(Z U goal)` where that is cheaper; the fixpoint is the same.
pub fn globally(
    space: &Space,
    phi: &Set,
    constraints: &[Set],
    before: impl FnMut(&Set) -> Limited<Set>,
    until: impl FnMut(&Set, &Set) -> Limited<Set>,
) -> Limited<Set> {
    globally_passing(
        space,
        phi,
        constraints.len(),
        |index, z| space.and(z, &constraints[index]),
        before,
        until,
    )
}

/// As [`globally`], but a constraint may need several states of a path. `passes` gets the index of a
/// constraint and the current `Z`, and returns where a part of a path inside φ begins that meets the
/// constraint and ends inside `Z`.
pub fn globally_passing(
    space: &Space,
    phi: &Set,
    n_constraints: usize,
    mut passes: impl FnMut(usize, &Set) -> Limited<Set>,
    mut before: impl FnMut(&Set) -> Limited<Set>,
    mut until: impl FnMut(&Set, &Set) -> Limited<Set>,
) -> Limited<Set> {
    iterate(phi.clone(), |z| {
        if n_constraints == 0 {
            return space.and(z, &before(z)?);
        }
        let mut next = z.clone();
        for constraint in 0..n_constraints {
            let goal = passes(constraint, &next)?;
            let recurring = until(&next, &goal)?;
            next = space.and(&next, &before(&recurring)?)?;
        }
        Ok(next)
    })
}

/// The start, the end and the length of the shortest paths to be found.
pub struct PathSearch<'s> {
    /// States in which a path may begin.
    pub from: &'s Set,
    /// States that a path may pass before its last state.
    pub through: &'s Set,
    /// States in which a path may end.
    pub to: &'s Set,
    /// Number of steps; the minimum is 0 or 1.
    pub n_steps: RangeInclusive<usize>,
}

/// A step relation, and an order on its states.
pub struct Steps<'s, After, Before, Least> {
    /// Space of the sets.
    pub space: &'s Space,
    /// Image of a set.
    pub after: After,
    /// Pre-image of a set.
    pub before: Before,
    /// Least state of a set that is not empty, and the set of that state alone.
    pub least: Least,
}

impl<After, Before, Least, State> Steps<'_, After, Before, Least>
where
    After: Fn(&Set) -> Limited<Set>,
    Before: Fn(&Set) -> Limited<Set>,
    Least: Fn(&Set) -> Limited<(State, Set)>,
{
    /// Returns the least of the shortest paths, each state with the set of that state alone.
    pub fn shortest_path(&self, search: &PathSearch<'_>) -> Limited<Option<Vec<(State, Set)>>> {
        match self.rings(search)? {
            Some(rings) => self.least_path(rings, search.to).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the states by their distance from `from`, up to the first distance at which a path may end.
    /// All but the last ring are inside `through`.
    pub fn rings(&self, search: &PathSearch<'_>) -> Limited<Option<Vec<Set>>> {
        let PathSearch { from, through, to, n_steps } = search;
        let space = self.space;
        let mut rings = vec![(*from).clone()];
        // A path of at least one step may return to where it began.
        let mut seen = space.none();
        if *n_steps.start() == 0 {
            if space.intersects(from, to)? {
                return Ok(Some(rings));
            }
            seen = (*from).clone();
        }
        for last in 0..*n_steps.end() {
            rings[last] = space.and(&rings[last], through)?;
            let new = space.minus(&(self.after)(&rings[last])?, &seen)?;
            if new.is_empty() {
                break;
            }
            let is_met = space.intersects(&new, to)?;
            seen = space.or(&seen, &new)?;
            rings.push(new);
            if is_met {
                return Ok(Some(rings));
            }
        }
        Ok(None)
    }

    /// Returns the least path from ring to ring that ends in `to`, which the last ring meets.
    ///
    /// Each ring is first reduced to the states from which `to` can be reached in the steps that are left.
    /// Then every path from ring to ring is a shortest path, and choosing the least state of each ring
    /// gives the least.
    pub fn least_path(&self, mut rings: Vec<Set>, to: &Set) -> Limited<Vec<(State, Set)>> {
        let last = rings.len() - 1;
        rings[last] = self.space.and(&rings[last], to)?;
        for i in (0..last).rev() {
            let before = (self.before)(&rings[i + 1])?;
            rings[i] = self.space.and(&rings[i], &before)?;
        }
        let mut path = vec![(self.least)(&rings[0])?];
        for ring in &rings[1..] {
            let after = (self.after)(&path[path.len() - 1].1)?;
            path.push((self.least)(&self.space.and(&after, ring)?)?);
        }
        Ok(path)
    }
}
