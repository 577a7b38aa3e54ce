//! Solves a game: which positions are won, in which round, and which choice wins there.
//!
//! All goals are solved by one nested fixpoint. `pre(Z)` are the positions at which the group has a
//! choice that leads into `Z` for all actions of the others; with fairness also those without any choice,
//! because no path continues there.
//!
//! ```text
//! W = μZ. ⋁_c νY. bound ∧ (end ∨ ((¬c ∨ pre(Z)) ∧ pre(Y)))
//! ```
//!
//! The group stays inside `bound`, and ensures that the end comes or that some constraint `c` is met only
//! finitely often: whenever it is met, the play continues in an earlier round. With the single constraint
//! `true` the end must come, with the single constraint `false` it need not. With the constraints of the
//! system, `W` is the complement of the positions at which the others prevent the goal
//! (`semantics::strategies`). The objective is a Rabin condition with one pair per constraint, so the
//! strategy needs no memory [EJ91]: the pair of the round and the first constraint for which a position is
//! won never grows during a play, and while it stays the same the constraint is not met.

use masque_verdict::claims::{GoalKind, GroupChoice};

use crate::game::{Fixed, Game};

/// How the group may win. Each includes those before, and the first that is sufficient is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Means {
    /// The end, if it must come, comes within a bounded number of steps.
    Surely,
    /// The end comes on all fair paths, and the goal is never violated.
    Fairly,
    /// The goal may be violated, but then no fair path continues.
    Unfairly,
}

/// For each position, the round in which it is won (0 if it is not), and the first constraint for which it
/// is won in that round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rounds(Vec<(usize, usize)>);

impl Rounds {
    /// Whether a position is won.
    pub(crate) fn has(&self, at: usize) -> bool {
        self.0[at].0 > 0
    }

    /// The round of a position and its constraint: the greater, the longer the play may last.
    pub(crate) fn of(&self, at: usize) -> (usize, usize) {
        self.0[at]
    }
}

/// The solution of a game with perfect information in which some actions are fixed.
pub(crate) struct Solved {
    means: Means,
    goal: Rounds,
    /// Rounds of the positions at which the group can make every path unfair, for [`Means::Unfairly`].
    unfair: Option<Rounds>,
    /// Constraints of the fixpoint that was solved for the goal: for each, the positions at which it is met.
    constraints: Vec<Vec<bool>>,
}

impl Solved {
    /// Whether the group wins from a position.
    pub(crate) fn wins(&self, at: usize) -> bool {
        self.goal.has(at)
    }

    /// Whether the play may continue after the goal is violated.
    pub(crate) fn goes_on(&self) -> bool {
        self.means == Means::Unfairly
    }

    /// How long the others can delay the end from a position: the greater, the longer.
    pub(crate) fn distance(&self, at: usize) -> (usize, usize) {
        match &self.unfair {
            Some(unfair) if unfair.has(at) => unfair.of(at),
            _ => self.goal.of(at),
        }
    }
}

impl Game<'_> {
    /// Solves the game with the fixed actions.
    pub(crate) fn solve(&self, means: Means, fixed: &Fixed) -> Solved {
        let n = self.n_states();
        let all = vec![true; n];
        let none = vec![false; n];
        let unfair = (means == Means::Unfairly).then(|| self.recurring(&all, &none, &self.meets, fixed));
        let is_unfair = |at: usize| unfair.as_ref().is_some_and(|unfair| unfair.has(at));
        let bound: Vec<bool> =
            (0..n).map(|at| self.is_good[at] || !self.is_inside[at] || is_unfair(at)).collect();
        let constraints = match (self.goal.kind, means) {
            (GoalKind::Reach, Means::Surely) => vec![all],
            (GoalKind::Reach, _) => self.meets.clone(),
            (GoalKind::Next | GoalKind::Stay, _) => vec![none],
        };
        let goal = match self.goal.kind {
            GoalKind::Next => {
                let ends: Vec<bool> =
                    (0..n).map(|at| self.is_end[at] || !self.is_inside[at] || is_unfair(at)).collect();
                let wins = |at: usize| usize::from(self.leads(at, fixed, |target| ends[target]));
                Rounds((0..n).map(|at| (wins(at), 0)).collect())
            }
            GoalKind::Reach | GoalKind::Stay => self.recurring(&bound, &self.is_end, &constraints, fixed),
        };
        Solved { means, goal, unfair, constraints }
    }

    /// Computes the fixpoint of the module documentation.
    fn recurring(&self, bound: &[bool], end: &[bool], constraints: &[Vec<bool>], fixed: &Fixed) -> Rounds {
        let n = self.n_states();
        let mut rounds = Rounds(vec![(0, 0); n]);
        for round in 1.. {
            let z: Vec<bool> = (0..n).map(|at| rounds.has(at)).collect();
            let leads_back: Vec<bool> = (0..n).map(|at| self.leads(at, fixed, |t| z[t])).collect();
            let mut is_new = false;
            for (number, constraint) in constraints.iter().enumerate() {
                let may = |at: usize| bound[at] && (end[at] || !constraint[at] || leads_back[at]);
                let mut y: Vec<bool> = (0..n).map(may).collect();
                loop {
                    let n_before = y.iter().filter(|is_in| **is_in).count();
                    for at in (0..n).rev() {
                        y[at] = y[at] && (end[at] || self.leads(at, fixed, |t| y[t]));
                    }
                    if y.iter().filter(|is_in| **is_in).count() == n_before {
                        break;
                    }
                }
                for at in (0..n).filter(|&at| y[at] && !z[at]) {
                    if !rounds.has(at) {
                        rounds.0[at] = (round, number);
                        is_new = true;
                    }
                }
            }
            if !is_new {
                break;
            }
        }
        rounds
    }

    /// Whether the group can force the play into the positions of `is_good`.
    fn leads(&self, at: usize, fixed: &Fixed, is_good: impl Fn(usize) -> bool) -> bool {
        let is_over = self.is_fair() && self.choices[at].is_empty();
        is_over || self.first_choice(at, fixed, is_good).is_some()
    }

    /// The first choice that forces it. A position at which no fair path starts is always good.
    fn first_choice(
        &self,
        at: usize,
        fixed: &Fixed,
        is_good: impl Fn(usize) -> bool,
    ) -> Option<&GroupChoice> {
        let is_good = |target: &u32| !self.is_inside[*target as usize] || is_good(*target as usize);
        self.choices[at]
            .iter()
            .find(|choice| choice.targets.iter().all(is_good) && self.agrees(at, choice, fixed))
    }

    /// The first choice that keeps winning and agrees with the fixed actions.
    pub(crate) fn winning(&self, at: usize, solved: &Solved, fixed: &Fixed) -> Option<&GroupChoice> {
        if let Some(unfair) = solved.unfair.as_ref().filter(|unfair| unfair.has(at)) {
            return self.descending(at, unfair, &self.meets, fixed);
        }
        if self.goal.kind == GoalKind::Next {
            let unfair = |at: usize| solved.unfair.as_ref().is_some_and(|unfair| unfair.has(at));
            return self.first_choice(at, fixed, |target| self.is_end[target] || unfair(target));
        }
        self.descending(at, &solved.goal, &solved.constraints, fixed)
    }

    /// The first choice into earlier rounds, otherwise the first into no later ones.
    fn descending(
        &self,
        at: usize,
        rounds: &Rounds,
        constraints: &[Vec<bool>],
        fixed: &Fixed,
    ) -> Option<&GroupChoice> {
        let here = rounds.of(at);
        let earlier = self.first_choice(at, fixed, |target| (1..here.0).contains(&rounds.of(target).0));
        if earlier.is_some() || constraints[here.1][at] {
            return earlier;
        }
        self.first_choice(at, fixed, |target| rounds.has(target) && rounds.of(target) <= here)
    }

    /// The means to try, in order.
    pub(crate) fn means(&self) -> &'static [Means] {
        match (self.is_fair(), self.goal.kind) {
            (false, _) => &[Means::Surely],
            (true, GoalKind::Reach) => &[Means::Surely, Means::Fairly, Means::Unfairly],
            (true, GoalKind::Next | GoalKind::Stay) => &[Means::Surely, Means::Unfairly],
        }
    }
}
