//! Strategies of a group with perfect information: games solved in time linear in the moves.
//! [AHK02 §4; GTW02 §2]
//!
//! | | the group wins if |
//! |---|---|
//! | without fairness | each of its moves has a successor, and the goal is met |
//! | with fairness | the goal is met on every fair path: the others cannot enforce one that violates it |

use masque_model::Formula;
use masque_verdict::{Budget, Stop, Why};

use crate::bitset::Bitset;
use crate::games::Game;
use crate::temporal::Clock;

/// The goal that a group has to enforce.
#[derive(Clone, Debug)]
pub enum Goal {
    /// `X φ`
    Next(Bitset),
    /// `φ U ψ`, as `through` and `to`.
    Reach(Bitset, Bitset),
    /// Stay in the first set forever, or until the second is reached: `G φ`, `φ W ψ`, and `φ R ψ` as
    /// `ψ W (φ ∧ ψ)`.
    Stay(Bitset, Bitset),
}

impl Goal {
    /// Creates the goal of a temporal operator, given the states of a domain where its operands are true.
    /// If there is only one operand, `phi` and `psi` are the same.
    pub fn new(path: Formula<'_>, phi: &Bitset, psi: &Bitset, domain: &Bitset) -> Result<Goal, Stop> {
        let nowhere = || domain.clone().minus(domain);
        Ok(match path {
            Formula::Next(_) => Goal::Next(phi.clone()),
            Formula::Finally(_) => Goal::Reach(domain.clone(), phi.clone()),
            Formula::Until(..) => Goal::Reach(phi.clone(), psi.clone()),
            Formula::Globally(_) => Goal::Stay(phi.clone(), nowhere()),
            Formula::WeakUntil(..) => Goal::Stay(phi.clone(), psi.clone()),
            Formula::Release(..) => Goal::Stay(psi.clone(), phi.clone().and(psi)),
            _ => return Err(Why::Unsupported.into()),
        })
    }
}

/// A game with some of its moves.
pub(crate) struct Arena<'a> {
    pub(crate) game: &'a Game,
    /// The moves that the group may make. `None` means all.
    pub(crate) allowed: Option<&'a Bitset>,
    /// `D`, which contains all sets.
    pub(crate) domain: &'a Bitset,
    /// The states where each fairness constraint is true.
    pub(crate) constraints: &'a [Bitset],
    pub(crate) budget: &'a Budget,
}

/// The solution of a game.
#[derive(Clone, Debug)]
pub(crate) struct Solved {
    /// The states at which the group wins.
    pub(crate) win: Bitset,
    /// Rank of each state; empty under fairness. A winning state of [`Goal::Reach`] has some move all of
    /// whose targets have a smaller rank. A losing state of [`Goal::Stay`] has rank 0 if it is outside;
    /// otherwise each of its moves has a target of smaller rank.
    pub(crate) order: Vec<u32>,
}

impl Arena<'_> {
    pub(crate) fn solve(&self, goal: &Goal) -> Result<Solved, Stop> {
        if !self.constraints.is_empty() {
            let mut others = self;
            let win = self.domain.clone().minus(&spoiled(&mut others, goal)?);
            return Ok(Solved { win, order: Vec::new() });
        }
        match goal {
            Goal::Next(phi) => Ok(Solved { win: self.enforce_next(phi)?, order: Vec::new() }),
            Goal::Reach(through, to) => self.reach(through, to),
            Goal::Stay(inside, until) => self.stay(inside, until),
        }
    }

    #[inline]
    pub(crate) fn may(&self, index: u32) -> bool {
        self.allowed.is_none_or(|allowed| allowed.contains(index as usize))
    }

    /// Whether the group may make a move and the move has a successor for every choice of the others.
    #[inline]
    fn is_good(&self, index: u32) -> bool {
        self.game.is_total(index) && self.may(index)
    }

    /// `pre(φ)`: all targets of some move are in `φ`.
    fn enforce_next(&self, phi: &Bitset) -> Result<Bitset, Stop> {
        let mut clock = Clock::new(self.budget);
        let mut found = Bitset::empty(self.game.n_states());
        for state in self.domain.iter() {
            clock.tick()?;
            let leads = |index: u32| {
                self.is_good(index) && self.game.targets(index).iter().all(|&t| phi.contains(t as usize))
            };
            if self.game.moves(state).any(leads) {
                found.insert(state);
            }
        }
        Ok(found)
    }

    /// `μZ. to ∨ (through ∧ pre(Z))`: each move counts its targets that are not yet in `Z`.
    fn reach(&self, through: &Bitset, to: &Bitset) -> Result<Solved, Stop> {
        let game = self.game;
        let mut clock = Clock::new(self.budget);
        let mut missing: Vec<u32> =
            (0..game.n_moves() as u32).map(|index| game.targets(index).len() as u32).collect();
        let mut win = to.clone();
        let mut order = vec![0; game.n_states()];
        let mut queue: Vec<u32> = to.iter().map(|state| state as u32).collect();
        let mut next = 0;
        // Breadth first, so ranks do not decrease with the distance.
        while let Some(&state) = queue.get(next) {
            order[state as usize] = next as u32;
            next += 1;
            clock.tick()?;
            for &index in game.into(state as usize) {
                missing[index as usize] -= 1;
                let owner = game.owner(index);
                if missing[index as usize] == 0
                    && self.is_good(index)
                    && through.contains(owner as usize)
                    && win.insert(owner as usize)
                {
                    queue.push(owner);
                }
            }
        }
        Ok(Solved { win, order })
    }

    /// `νZ. until ∨ (inside ∧ pre(Z))`: each state counts its moves that lead only into `Z`.
    fn stay(&self, inside: &Bitset, until: &Bitset) -> Result<Solved, Stop> {
        let game = self.game;
        let mut clock = Clock::new(self.budget);
        let mut win = inside.clone().or(until);
        let mut order = vec![0; game.n_states()];
        let mut left = vec![0_u32; game.n_states()];
        let mut broken = Bitset::empty(game.n_moves());
        let mut removed: Vec<u32> = Vec::new();
        for state in self.domain.iter() {
            left[state] = game.moves(state).filter(|&index| self.is_good(index)).count() as u32;
            if !win.contains(state) {
                removed.push(state as u32);
            }
        }
        let n_outside = removed.len();
        for state in self.domain.iter() {
            if left[state] == 0 && win.contains(state) && !until.contains(state) {
                win.remove(state);
                removed.push(state as u32);
            }
        }
        let mut next = 0;
        while let Some(&state) = removed.get(next) {
            if next >= n_outside {
                order[state as usize] = 1 + next as u32;
            }
            next += 1;
            clock.tick()?;
            for &index in game.into(state as usize) {
                let owner = game.owner(index) as usize;
                if !self.is_good(index) || !broken.insert(index as usize) {
                    continue;
                }
                left[owner] -= 1;
                if left[owner] == 0 && win.contains(owner) && !until.contains(owner) {
                    win.remove(owner);
                    removed.push(owner as u32);
                }
            }
        }
        Ok(Solved { win, order })
    }
}

/// The operators of the other agents in a game with fairness constraints.
pub trait Opponents {
    /// `D`, which contains all sets.
    fn domain(&self) -> &Bitset;

    /// States where each fairness constraint is true.
    fn constraints(&self) -> &[Bitset];

    /// Whether a claim is true here or, if other workers store states too, at any of them.
    fn any(&mut self, is_true_here: bool) -> Result<bool, Stop>;

    /// `opp(Z)`: there are moves, and each may lead into `Z`.
    fn spoil_next(&mut self, z: &Bitset) -> Result<Bitset, Stop>;

    /// `μY. now ∨ (through ∧ opp(Y))`
    fn spoil_until(&mut self, through: &Bitset, now: Bitset) -> Result<Bitset, Stop>;
}

/// Returns the states where the others can enforce a fair path that violates the goal.
///
/// This is a generalised Büchi game. The equations are those of the truth definition.
pub fn spoiled(others: &mut impl Opponents, goal: &Goal) -> Result<Bitset, Stop> {
    let domain = others.domain().clone();
    let nowhere = Bitset::empty(domain.len());
    let not = |set: &Bitset| domain.clone().minus(set);
    match goal {
        Goal::Next(phi) => {
            let fair = recurring(others, &domain, &nowhere)?;
            others.spoil_next(&not(phi).and(&fair))
        }
        Goal::Reach(through, to) => {
            let mut too_early = not(through).minus(to);
            if others.any(!too_early.is_empty())? {
                too_early = too_early.and(&recurring(others, &domain, &nowhere)?);
            }
            recurring(others, &not(to), &too_early)
        }
        Goal::Stay(inside, until) => {
            let outside = not(inside).minus(until);
            let fair = recurring(others, &domain, &nowhere)?;
            others.spoil_until(&not(until), outside.and(&fair))
        }
    }
}

/// `νZ. ⋀_c μY. now ∨ (through ∧ ((c ∧ opp(Z)) ∨ opp(Y)))`: the others reach `now`, or stay inside
/// `through` forever and meet every constraint infinitely often.
fn recurring(others: &mut impl Opponents, through: &Bitset, now: &Bitset) -> Result<Bitset, Stop> {
    let mut z = others.domain().clone();
    loop {
        let again = others.spoil_next(&z)?.and(through);
        let mut next = others.domain().clone();
        for index in 0..others.constraints().len() {
            let recurs = again.clone().and(&others.constraints()[index]).or(now);
            next = next.and(&others.spoil_until(through, recurs)?);
        }
        if !others.any(next != z)? {
            return Ok(z);
        }
        z = next;
    }
}

impl Opponents for &Arena<'_> {
    fn domain(&self) -> &Bitset {
        self.domain
    }

    fn constraints(&self) -> &[Bitset] {
        self.constraints
    }

    fn any(&mut self, is_true_here: bool) -> Result<bool, Stop> {
        Ok(is_true_here)
    }

    fn spoil_next(&mut self, z: &Bitset) -> Result<Bitset, Stop> {
        let mut clock = Clock::new(self.budget);
        let mut found = Bitset::empty(self.game.n_states());
        for state in self.domain.iter() {
            clock.tick()?;
            let mut moves = self.game.moves(state).filter(|&index| self.may(index)).peekable();
            let hits = |index: u32| self.game.targets(index).iter().any(|&t| z.contains(t as usize));
            if moves.peek().is_some() && moves.all(hits) {
                found.insert(state);
            }
        }
        Ok(found)
    }

    /// Each state counts its moves that do not yet lead into `Y`.
    fn spoil_until(&mut self, through: &Bitset, now: Bitset) -> Result<Bitset, Stop> {
        let game = self.game;
        let mut clock = Clock::new(self.budget);
        let mut left = vec![0_u32; game.n_states()];
        for state in self.domain.iter() {
            left[state] = game.moves(state).filter(|&index| self.may(index)).count() as u32;
        }
        let mut hit = Bitset::empty(game.n_moves());
        let mut open: Vec<u32> = now.iter().map(|state| state as u32).collect();
        let mut reached = now;
        while let Some(state) = open.pop() {
            clock.tick()?;
            for &index in game.into(state as usize) {
                let owner = game.owner(index) as usize;
                if !self.domain.contains(owner) || !self.may(index) || !hit.insert(index as usize) {
                    continue;
                }
                left[owner] -= 1;
                if left[owner] == 0 && through.contains(owner) && reached.insert(owner) {
                    open.push(owner as u32);
                }
            }
        }
        Ok(reached)
    }
}
