//! ATL: the goals that a group can enforce with perfect information, with and without fairness.

use masque_model::{Deadlock, Formula, FormulaId, GroupId, Strategies};
use masque_verdict::{Stop, Why};

use crate::check::Checker;
use crate::fixpoint::iterate;
use crate::moves::Coalition;
use crate::space::{Limited, Set};
use crate::turns::Players;
use crate::uniform::{Requested, UniformGroup, Wanted};

/// The goal of a group: a path formula with one temporal operator.
pub(crate) struct Goal<'p> {
    pub(crate) path: Formula<'p>,
    /// The states in which the first operand is true.
    pub(crate) phi: Set,
    /// The states in which the second operand is true; equal to `phi` if there is one operand.
    pub(crate) psi: Set,
}

impl Checker<'_> {
    /// `<Γ> path`: the group has a strategy that enforces the path formula. [AHK02 §4.1]
    ///
    /// With `pre` for [`enforce_next`](Self::enforce_next):
    ///
    /// ```text
    /// X φ      pre(φ)
    /// F φ      μZ. φ ∨ pre(Z)               G φ      νZ. φ ∧ pre(Z)
    /// φ U ψ    μZ. ψ ∨ (φ ∧ pre(Z))         φ W ψ    νZ. ψ ∨ (φ ∧ pre(Z))
    /// φ R ψ    νZ. ψ ∧ (φ ∨ pre(Z))
    /// ```
    ///
    /// With fairness it is enough that every fair path meets the goal: the complement of the states in
    /// which the opponents can [violate](Self::spoiled) it.
    ///
    /// Uniform strategies are searched for one state or set of states after the other, so `wanted` says
    /// for which states the truth is needed.
    pub(crate) fn enforces(
        &mut self,
        group: GroupId,
        strategies: Strategies,
        path_id: FormulaId,
        wanted: Wanted<'_>,
    ) -> Limited<Set> {
        let system = self.system;
        let members = &system.groups[group.index()].agents[..];
        let path = system.formulas.get(path_id);
        let (phi, psi) = match path {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => (self.truth(f)?, self.truth(f)?),
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => {
                (self.truth(f)?, self.truth(g)?)
            }
            _ => return Err(Stop::from(Why::Unsupported)),
        };
        let goal = Goal { path, phi: self.inside(&phi)?, psi: self.inside(&psi)? };
        let upper = self.enforced_perfectly(group, path_id, &goal)?;
        match strategies {
            Strategies::Perfect => Ok(upper),
            strategies => {
                let requested = Requested { states: wanted, strategies: None };
                self.enforces_uniformly(UniformGroup { members, strategies }, &goal, &upper, requested)
            }
        }
    }

    /// Returns the states in which a group enforces a goal with perfect information; computed once.
    fn enforced_perfectly(&mut self, group: GroupId, path: FormulaId, goal: &Goal<'_>) -> Limited<Set> {
        if let Some(known) = self.world.enforced.get(&(group, path)) {
            return Ok(known.clone());
        }
        let system = self.system;
        let coalition = self.coalition(&system.groups[group.index()].agents)?;
        let set = self.enforced(&coalition, goal)?;
        if !self.is_open(path) {
            self.world.enforced.insert((group, path), set.clone());
        }
        Ok(set)
    }

    /// Computes the states in which a group enforces its goal with the actions its members may choose.
    pub(crate) fn enforced(&mut self, group: &Coalition<'_>, goal: &Goal<'_>) -> Limited<Set> {
        if !self.constraints().is_empty() {
            let spoiled = self.spoiled(group, goal)?;
            return self.outside(&spoiled);
        }
        let Goal { path, phi, psi } = goal;
        let (none, all) = (self.encoder.space.none(), self.domain().clone());
        match path {
            Formula::Next(_) => self.enforce_next(group, phi),
            Formula::Finally(_) => self.attracted(phi, &all, group),
            Formula::Until(..) => self.attracted(psi, phi, group),
            Formula::Globally(_) => self.kept(&none, phi, group),
            Formula::WeakUntil(..) => self.kept(psi, phi, group),
            Formula::Release(..) => {
                let both = self.encoder.space.and(phi, psi)?;
                self.kept(&both, psi, group)
            }
            _ => Err(Stop::from(Why::Unsupported)),
        }
    }

    pub(crate) fn inside(&self, set: &Set) -> Limited<Set> {
        self.encoder.space.and(set, self.domain())
    }

    /// `D ∖ set`
    pub(crate) fn outside(&self, set: &Set) -> Limited<Set> {
        self.encoder.space.minus(self.domain(), set)
    }

    /// `μY. now ∨ (through ∧ before(Y))`
    fn reached(
        &mut self,
        now: &Set,
        through: &Set,
        mut before: impl FnMut(&mut Self, &Set) -> Limited<Set>,
    ) -> Limited<Set> {
        iterate(now.clone(), |y| {
            let next = before(self, y)?;
            let space = &self.encoder.space;
            space.or(y, &space.and(through, &next)?)
        })
    }

    /// `μZ. now ∨ (through ∧ pre(Z))`
    ///
    /// If the group chooses the turns, `pre(Z) = ⋃_t pre_t(Z)`, and each turn is applied to the set that
    /// the turns before have enlarged.
    fn attracted(&mut self, now: &Set, through: &Set, group: &Coalition<'_>) -> Limited<Set> {
        let players = match self.players(group)? {
            Some(players) if players.choose_turns() => players,
            _ => return self.reached(now, through, |c, z| c.enforce_next(group, z)),
        };
        let (encoder, space) = (&self.encoder, &self.encoder.space);
        // The loop of a dead end adds nothing to a least fixpoint.
        let inside = space.and(&space.and(through, self.domain())?, &self.relation.alive)?;
        iterate(now.clone(), |z| {
            let mut z = z.clone();
            for turn in 0..players.n_turns() {
                let spoiled = players.spoiled_in(encoder, turn, &space.not(&z)?)?;
                let safe = players.chosen_in(encoder, turn, &spoiled)?;
                z = space.or(&z, &space.and(&safe, &inside)?)?;
            }
            Ok(z)
        })
    }

    /// `νZ. now ∨ (through ∧ pre(Z))`
    ///
    /// If the group has no choice, `pre(Z) = ⋂_t pre_t(Z)`, and each turn is applied to the set that the
    /// turns before have reduced.
    fn kept(&mut self, now: &Set, through: &Set, group: &Coalition<'_>) -> Limited<Set> {
        if group.is_idle()
            && let Some(players) = self.players(group)?
        {
            return self.kept_by_all(now, through, &players);
        }
        iterate(self.encoder.space.or(now, through)?, |z| {
            let next = self.enforce_next(group, z)?;
            let space = &self.encoder.space;
            space.and(z, &space.or(now, &space.and(through, &next)?)?)
        })
    }

    fn kept_by_all(&self, now: &Set, through: &Set, players: &Players<'_>) -> Limited<Set> {
        let (encoder, space) = (&self.encoder, &self.encoder.space);
        // Where some agent has no action there is no step, except the loops of dead ends.
        let staying = match self.system.meaning.deadlock {
            Deadlock::Stutter => space.minus(through, &self.live)?,
            Deadlock::Finite | Deadlock::Error => space.none(),
        };
        let moving = space.and(through, &self.relation.alive)?;
        let now = space.or(now, &staying)?;
        iterate(space.or(&now, &moving)?, |z| {
            let mut z = z.clone();
            for turn in 0..players.n_turns() {
                let spoiled = players.spoiled_in(encoder, turn, &space.not(&z)?)?;
                z = space.minus(&z, &space.minus(&spoiled, &now)?)?;
            }
            Ok(z)
        })
    }

    /// Computes the states in which the opponents can enforce a fair path that violates the goal: a
    /// generalised Büchi game.
    ///
    /// With `opp` for [`spoil_next`](Self::spoil_next):
    ///
    /// ```text
    /// fair   = νZ. ⋀_c μY. (c ∧ opp(Z)) ∨ opp(Y)                      they can enforce a fair path
    /// X φ      opp(¬φ ∧ fair)
    /// G φ      μY. (¬φ ∧ fair) ∨ opp(Y)
    /// φ W ψ    μY. (¬φ ∧ ¬ψ ∧ fair) ∨ (¬ψ ∧ opp(Y))
    /// φ R ψ    μY. (¬ψ ∧ fair) ∨ (¬φ ∧ opp(Y))
    /// φ U ψ    νZ. ⋀_c μY. (¬φ ∧ ¬ψ ∧ fair) ∨ (¬ψ ∧ ((c ∧ opp(Z)) ∨ opp(Y)))
    /// F φ      as true U φ
    /// ```
    fn spoiled(&mut self, group: &Coalition<'_>, goal: &Goal<'_>) -> Limited<Set> {
        let (none, all) = (self.encoder.space.none(), self.domain().clone());
        let (not_phi, not_psi) = (self.outside(&goal.phi)?, self.outside(&goal.psi)?);
        if let Formula::Finally(_) = goal.path {
            return self.recurring(group, &none, &not_phi);
        }
        let fair = self.recurring(group, &none, &all)?;
        let space = &self.encoder.space;
        let neither = space.and(&space.and(&not_phi, &not_psi)?, &fair)?;
        match goal.path {
            Formula::Next(_) => self.spoil_next(group, &neither),
            Formula::Globally(_) => self.spoil_reached(&neither, &all, group),
            Formula::WeakUntil(..) => self.spoil_reached(&neither, &not_psi, group),
            Formula::Until(..) => self.recurring(group, &neither, &not_psi),
            Formula::Release(..) => {
                let violated = self.encoder.space.and(&not_psi, &fair)?;
                self.spoil_reached(&violated, &not_phi, group)
            }
            _ => Err(Stop::from(Why::Unsupported)),
        }
    }

    /// `μY. now ∨ (through ∧ opp(Y))`; against a group without a choice this is `E(through U now)`.
    fn spoil_reached(&mut self, now: &Set, through: &Set, group: &Coalition<'_>) -> Limited<Set> {
        if group.is_idle() {
            return self.exists_until(through, now);
        }
        self.reached(now, through, |c, y| c.spoil_next(group, y))
    }

    /// `νZ. ⋀_c μY. now ∨ (through ∧ ((c ∧ opp(Z)) ∨ opp(Y)))`
    fn recurring(&mut self, group: &Coalition<'_>, now: &Set, through: &Set) -> Limited<Set> {
        iterate(self.encoder.space.or(now, through)?, |z| {
            let mut next = z.clone();
            for index in 0..self.constraints().len() {
                let again = self.spoil_next(group, &next)?;
                let space = &self.encoder.space;
                let again = space.and(&space.and(&again, &self.constraints()[index])?, through)?;
                let met = space.or(now, &again)?;
                let reached = self.spoil_reached(&met, through, group)?;
                next = self.encoder.space.and(&next, &reached)?;
            }
            Ok(next)
        })
    }
}
