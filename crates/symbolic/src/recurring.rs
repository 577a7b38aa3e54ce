//! `E ⋀ paths` without a tableau, if each path formula says what is always true or what recurs.
//!
//! On a path with `G a` all states are inside `a`, and `G F b` is a fairness constraint. `b` may itself be a
//! path formula, if a finite segment of a path shows that it is true:
//!
//! ```text
//! p        p ∧ X segment        p ∧ (q U segment)        p and q state formulas
//! ```
//!
//! A fair path then passes one segment after the other. So the states that begin one are a greatest
//! fixpoint, as with conditions for constraints, and no bits for promises are needed:
//!
//! ```text
//! νZ. a ∧ ⋀_b EX E(a U start_b(Z))        start_b(Z): a segment for b begins here and ends inside Z
//! start_p(Z) = p ∧ Z    start_{p ∧ X s}(Z) = p ∧ EX start_s(Z)    start_{p ∧ (q U s)}(Z) = p ∧ E(q U start_s(Z))
//! ```

use crate::check::Checker;
use crate::fixpoint::globally_passing;
use crate::space::{Limited, Set};
use crate::tableau::{Literal, PathFormulas, Shape};

/// A conjunction of path formulas `G a` and `G F b`.
pub(crate) struct Recurring {
    /// The state formulas that are always true.
    always: Vec<Literal>,
    /// The segments that recur.
    segments: Vec<Segment<Vec<Literal>>>,
}

/// A finite part of a path that makes a path formula true. `S` stands for a conjunction of state formulas.
struct Segment<S> {
    /// True in its first state.
    now: S,
    rest: Rest<S>,
}

/// How a segment continues.
enum Rest<S> {
    /// Not at all.
    End,
    /// The next state begins the segment.
    Next(Box<Segment<S>>),
    /// The state formulas are true until the segment begins.
    Until(S, Box<Segment<S>>),
}

impl PathFormulas<'_> {
    /// Reads a conjunction as formulas about what is always true and what recurs, if all of them are.
    pub(crate) fn recurring(&self, paths: &[Literal]) -> Option<Recurring> {
        let mut recurring = Recurring { always: Vec::new(), segments: Vec::new() };
        for &path in paths {
            match self.shape(path) {
                Shape::Weak(a, None) => self.add_always(a, &mut recurring)?,
                _ => return None,
            }
        }
        Some(recurring)
    }

    /// Adds `G path`.
    fn add_always(&self, path: Literal, recurring: &mut Recurring) -> Option<()> {
        match self.shape(path) {
            Shape::State => recurring.always.push(path),
            Shape::And(parts) => parts.into_iter().try_for_each(|part| self.add_always(part, recurring))?,
            Shape::Weak(a, None) => self.add_always(a, recurring)?,
            Shape::Until(None, goal) => recurring.segments.push(self.segment(goal)?),
            _ => return None,
        }
        Some(())
    }

    /// Reads a conjunction as a segment.
    fn segment(&self, paths: Vec<Literal>) -> Option<Segment<Vec<Literal>>> {
        let (mut now, mut next, mut until) = (Vec::new(), Vec::new(), None);
        let mut open = paths;
        while let Some(path) = open.pop() {
            match self.shape(path) {
                Shape::State => now.push(path),
                Shape::And(parts) => open.extend(parts),
                Shape::Next(a) => next.push(a),
                Shape::Until(a, goal) if until.is_none() && a.is_none_or(|a| self.is_state(a)) => {
                    until = Some((a.into_iter().collect(), goal));
                }
                _ => return None,
            }
        }
        let rest = match (until, next.is_empty()) {
            (None, true) => Rest::End,
            (None, false) => Rest::Next(Box::new(self.segment(next)?)),
            (Some((kept, goal)), true) => Rest::Until(kept, Box::new(self.segment(goal)?)),
            (Some(_), false) => return None,
        };
        Some(Segment { now, rest })
    }
}

impl Checker<'_> {
    /// Computes `E ⋀ paths` for formulas about what is always true and what recurs.
    pub(crate) fn exists_recurring(&mut self, recurring: &Recurring) -> Limited<Set> {
        let always = self.all_true(&recurring.always)?;
        let inside = self.encoder.space.and(&always, self.domain())?;
        let segments = recurring.segments.iter().map(|segment| self.segment_sets(segment, &inside));
        let mut segments = segments.collect::<Limited<Vec<_>>>()?;
        for constraint in self.constraints() {
            let space = &self.encoder.space;
            let mut is_new = true;
            for segment in &segments {
                // A segment that begins inside the constraint includes it.
                is_new = is_new && !space.is_subset(&segment.now, constraint)?;
            }
            if is_new {
                let now = space.and(constraint, &inside)?;
                segments.push(Segment { now, rest: Rest::End });
            }
        }
        globally_passing(
            &self.encoder.space,
            &inside,
            segments.len(),
            |index, z| self.start(&segments[index], z),
            |z| self.exists_next(z),
            |z, goal| self.exists_until(z, goal),
        )
    }

    /// Computes the sets of the state formulas in a segment, inside a set.
    fn segment_sets(&mut self, segment: &Segment<Vec<Literal>>, inside: &Set) -> Limited<Segment<Set>> {
        let now = self.all_true(&segment.now)?;
        let now = self.encoder.space.and(&now, inside)?;
        let rest = match &segment.rest {
            Rest::End => Rest::End,
            Rest::Next(next) => Rest::Next(Box::new(self.segment_sets(next, inside)?)),
            Rest::Until(kept, goal) => {
                let kept = self.all_true(kept)?;
                let kept = self.encoder.space.and(&kept, inside)?;
                Rest::Until(kept, Box::new(self.segment_sets(goal, inside)?))
            }
        };
        Ok(Segment { now, rest })
    }

    /// Computes the states in which a segment begins that ends inside a set.
    fn start(&self, segment: &Segment<Set>, end: &Set) -> Limited<Set> {
        let begun = match &segment.rest {
            Rest::End => end.clone(),
            Rest::Next(next) => self.exists_next(&self.start(next, end)?)?,
            Rest::Until(kept, goal) => self.exists_until(kept, &self.start(goal, end)?)?,
        };
        self.encoder.space.and(&segment.now, &begun)
    }

    /// Computes the states in which all of some state formulas are true.
    fn all_true(&mut self, states: &[Literal]) -> Limited<Set> {
        let sets = states.iter().map(|&state| self.state(state)).collect::<Limited<Vec<_>>>()?;
        self.encoder.balanced(sets, true)
    }
}

#[cfg(test)]
mod tests {
    use masque_model::{Deadlock, Formula};
    use masque_testkit::load;

    use super::*;

    /// Returns for an LTL formula whether its negation is about what is always true and what recurs.
    fn is_recognised(formula: &str) -> bool {
        let text = format!(
            "Agent A Vars: x : boolean; end Vars Actions = {{go}}; Protocol: Other : {{go}}; end Protocol
             Evolution: x = true if x = false; x = false if x = true; end Evolution end Agent
             Evaluation p if A.x = true; q if A.x = false; end Evaluation
             InitStates A.x = true; end InitStates Formulae LTL {formula}; end Formulae"
        );
        let system = load(&text, Deadlock::Finite).expect("a valid model");
        let Formula::Forall(_, path) = system.formulas.get(system.properties[0].formula) else {
            panic!("{formula} is no path formula")
        };
        let paths = PathFormulas::new(&system.formulas);
        let conjuncts = match paths.shape(Literal::new(path, false)) {
            Shape::And(parts) => parts,
            _ => vec![Literal::new(path, false)],
        };
        paths.recurring(&conjuncts).is_some()
    }

    #[test]
    fn what_recurs_is_recognised() {
        for formula in [
            "(G F p) -> (F q)",
            "(G F (p and X (q and X p))) -> (F q)",
            "F G !(p and (q U (p and X q)))",
            "(G (p and F (q and F p))) -> (F G p)",
            "F G (p or X q)",
        ] {
            assert!(is_recognised(formula), "{formula}");
        }
        for formula in ["(G F p) -> (X q)", "(G F G p) -> (F q)", "G F p", "F (p U q)"] {
            assert!(!is_recognised(formula), "{formula}");
        }
    }
}
