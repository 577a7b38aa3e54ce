//! The steps of a program as guarded moves between points.
//!
//! From each point at which a state may be, tests, choices and loops are followed with the
//! condition under which they lead on. Paths that meet again are merged, so the work is linear in
//! the program, not in its paths. A loop is never left, so a path that meets a head again has gone
//! once round the innermost loop without a step: what distinguishes paths at a point is only the
//! head that was passed last.

use masque_symbolic::space::{Limited, Set, Space};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{FormulaId, Point, PointId, Program, Step};

/// A step that may be taken from a point, and the condition.
pub(super) struct Move<'m> {
    pub(super) guard: Set,
    /// `None`: nothing happens.
    pub(super) step: Option<&'m Step>,
    pub(super) to: PointId,
}

/// A point on a silent path, and the loop head that was passed last on the way.
type Place = (PointId, Option<PointId>);

/// All moves from a point.
pub(super) fn moves<'m>(
    space: &Space,
    program: &'m Program,
    from: PointId,
    mut condition: impl FnMut(FormulaId) -> Limited<Set>,
) -> Limited<Vec<Move<'m>>> {
    let mut guards: FxHashMap<Place, Set> = FxHashMap::default();
    guards.insert((from, None), space.all());
    let mut moves = Vec::new();
    for place in order(program, (from, None)) {
        let Some(guard) = guards.remove(&place).filter(|guard| !guard.is_empty()) else { continue };
        let (at, _) = place;
        let next = followers(program, place);
        match &program.points[at.index()] {
            Point::Step(step, next) => moves.push(Move { guard, step: Some(step), to: *next }),
            Point::If(test, ..) => {
                let test = condition(*test)?;
                let branches = [space.and(&guard, &test)?, space.minus(&guard, &test)?];
                for (place, guard) in next.into_iter().zip(branches) {
                    lead(space, &mut guards, place, guard)?;
                }
            }
            _ if next.is_empty() => moves.push(Move { guard, step: None, to: at }),
            _ => {
                for place in next {
                    lead(space, &mut guards, place, guard.clone())?;
                }
            }
        }
    }
    Ok(moves)
}

/// One more way to a place.
fn lead(space: &Space, guards: &mut FxHashMap<Place, Set>, to: Place, guard: Set) -> Limited<()> {
    let guard = match guards.remove(&to) {
        Some(known) => space.or(&known, &guard)?,
        None => guard,
    };
    guards.insert(to, guard);
    Ok(())
}

/// Where a place leads without a step: nowhere from a step, from the end, and from a loop head that
/// is met again.
fn followers(program: &Program, (at, passed): Place) -> Vec<Place> {
    match &program.points[at.index()] {
        Point::End | Point::Step(..) => Vec::new(),
        Point::Loop(_) if passed == Some(at) => Vec::new(),
        Point::Loop(body) => vec![(*body, Some(at))],
        Point::If(_, then, otherwise) => vec![(*then, passed), (*otherwise, passed)],
        Point::Choice(points) => points.iter().map(|&point| (point, passed)).collect(),
    }
}

/// All places that a place leads to, each after those that lead to it.
fn order(program: &Program, start: Place) -> Vec<Place> {
    let mut seen: FxHashSet<Place> = FxHashSet::from_iter([start]);
    let mut finished = Vec::new();
    let mut open = vec![(start, followers(program, start))];
    while let Some((place, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => {
                let followers = followers(program, next);
                open.push((next, followers));
            }
            Some(_) => {}
            None => {
                finished.push(*place);
                open.pop();
            }
        }
    }
    finished.reverse();
    finished
}
