//! The steps of a program as guarded moves between points.
//!
//! From each point at which a state may be, this module follows tests, choices and loops and collects
//! the conditions. Paths that meet are merged, so the time is linear in the program, not in the number of
//! its paths. A loop is never left, so a path that reaches a loop head again has gone once around the
//! innermost loop without a step. Paths at a point therefore differ only in the last loop head they
//! passed.

use masque_symbolic::space::{Limited, Set, Space};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{FormulaId, Point, PointId, Program, Step};

/// A step that may be taken from a point.
pub(super) struct Move<'m> {
    /// States in which it may be taken.
    pub(super) guard: Set,
    /// The step; `None` if nothing happens.
    pub(super) step: Option<&'m Step>,
    pub(super) to: PointId,
}

/// A point on a path without steps, and the last loop head on that path.
type SilentPoint = (PointId, Option<PointId>);

/// Returns all moves from a point.
pub(super) fn moves<'m>(
    space: &Space,
    program: &'m Program,
    from: PointId,
    mut condition: impl FnMut(FormulaId) -> Limited<Set>,
) -> Limited<Vec<Move<'m>>> {
    let mut guards: FxHashMap<SilentPoint, Set> = FxHashMap::default();
    guards.insert((from, None), space.all());
    let mut moves = Vec::new();
    for silent in order(program, (from, None)) {
        let Some(guard) = guards.remove(&silent).filter(|guard| !guard.is_empty()) else { continue };
        let (point, _) = silent;
        let next = silent_successors(program, silent);
        match &program.points[point.index()] {
            Point::Step(step, next) => moves.push(Move { guard, step: Some(step), to: *next }),
            Point::If(test, ..) => {
                let test = condition(*test)?;
                let branches = [space.and(&guard, &test)?, space.minus(&guard, &test)?];
                for (silent, guard) in next.into_iter().zip(branches) {
                    add_path(space, &mut guards, silent, guard)?;
                }
            }
            _ if next.is_empty() => moves.push(Move { guard, step: None, to: point }),
            _ => {
                for silent in next {
                    add_path(space, &mut guards, silent, guard.clone())?;
                }
            }
        }
    }
    Ok(moves)
}

/// Adds another path to a point.
fn add_path(
    space: &Space,
    guards: &mut FxHashMap<SilentPoint, Set>,
    to: SilentPoint,
    guard: Set,
) -> Limited<()> {
    let guard = match guards.remove(&to) {
        Some(known) => space.or(&known, &guard)?,
        None => guard,
    };
    guards.insert(to, guard);
    Ok(())
}

/// Returns the successors without a step. A step, the end, and a loop head that is reached again have none.
fn silent_successors(program: &Program, (at, passed): SilentPoint) -> Vec<SilentPoint> {
    match &program.points[at.index()] {
        Point::End | Point::Step(..) => Vec::new(),
        Point::Loop(_) if passed == Some(at) => Vec::new(),
        Point::Loop(body) => vec![(*body, Some(at))],
        Point::If(_, then, otherwise) => vec![(*then, passed), (*otherwise, passed)],
        Point::Choice(points) => points.iter().map(|&point| (point, passed)).collect(),
    }
}

/// Returns all points that are reachable without a step, each after its predecessors.
fn order(program: &Program, start: SilentPoint) -> Vec<SilentPoint> {
    let mut seen: FxHashSet<SilentPoint> = FxHashSet::from_iter([start]);
    let mut finished = Vec::new();
    let mut open = vec![(start, silent_successors(program, start))];
    while let Some((silent, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => {
                let silent_successors = silent_successors(program, next);
                open.push((next, silent_successors));
            }
            Some(_) => {}
            None => {
                finished.push(*silent);
                open.pop();
            }
        }
    }
    finished.reverse();
    finished
}
