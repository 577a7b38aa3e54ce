//! Keeping what a change does not touch.
//!
//! ```text
//! update      the local situations that consulted a predicate or an action of it are stale
//! next check  each of these is looked into again; where the agent can do something else now, the
//!             states that have this situation forget their successors
//!             answers and truth values are forgotten in states from which one of these can be reached
//! ```
//!
//! Everything else stands.

use masque_mu::{Lts, Standing, StateId, recheck};
use masque_verdict::{Budget, Show, Stop, Verdict, Why};

use super::Session;
use crate::check::Checked;
use crate::explore::Counts;
use crate::resolve::Findings;

/// What is known of one formula is not kept if it takes more bytes than this.
const LARGEST: u64 = 1 << 26;

impl Session {
    /// Looks again into what may have changed, and forgets what depends on what has.
    pub(super) fn catch_up(&mut self, budget: &Budget) -> Result<(), Stop> {
        let situations = self.space.lts().refresh(budget)?;
        if situations.is_empty() {
            return Ok(());
        }
        let mut states = self.space.system().states_with(&situations);
        states.retain(|state| self.space.is_expanded(*state));
        self.memory.revise(&states, &self.space.leading_to(&states));
        states.into_iter().for_each(|state| self.space.forget(state));
        Ok(())
    }

    /// What a question may use: what it is allowed, and what the session may hold.
    pub(super) fn allowed(&self, budget: &Budget) -> Budget {
        let least = |left: Option<u64>, right: Option<u64>| left.into_iter().chain(right).min();
        let rest = self.limits.memory.map(|bytes| bytes.saturating_sub(self.space.system().bytes()));
        let mut allowed = budget.clone();
        if let Some(bytes) = least(budget.memory(), rest) {
            allowed = allowed.with_memory(bytes);
        }
        if let Some(states) = least(budget.states(), self.limits.states) {
            allowed = allowed.with_states(states);
        }
        allowed
    }

    /// Forgets what is known of states and situations, if that is more than the session may hold. States
    /// of the past are held as long as there are no more of them than a question may look into.
    pub(super) fn make_room(&mut self) {
        let too_many = |limit: Option<u64>, held: u64| limit.is_some_and(|limit| held > limit);
        let most_states = self.has_past.then(|| self.space.system().most_states());
        let is_full = too_many(self.limits.states, self.n_states() as u64)
            || too_many(most_states, self.n_states() as u64)
            || too_many(self.limits.memory, self.bytes());
        if is_full && self.n_states() > 1 {
            self.forget();
        }
    }

    /// Forgets all that was found out; the next answer is computed from scratch.
    pub fn forget(&mut self) {
        self.space.lts().forget();
        self.space.clear();
        self.memory.clear();
        self.has_past = false;
    }

    /// Solves a question that has no answer yet.
    pub(super) fn solve(&mut self, asked: usize, evidence: bool, budget: &Budget) -> Checked {
        let asked = self.memory.asked(asked);
        let answer = recheck(&mut self.space, &asked.formula, &mut asked.standing, evidence, budget);
        if asked.standing.bytes() > LARGEST {
            asked.standing = Standing::default();
        }
        let show = if evidence { Show::All } else { Show::None };
        Checked::of_answer(self.space.lts(), answer, show)
    }

    /// Whether a limit was hit that counts what earlier questions have left behind: there may be room
    /// without it.
    pub(super) fn is_crowded(&self, verdict: Verdict, was_empty: bool) -> bool {
        !was_empty && matches!(verdict, Verdict::Unknown(Why::Memory | Why::States))
    }

    /// Whether nothing was found out yet.
    pub(super) fn is_empty(&self) -> bool {
        self.space.n_expanded() == 0 && self.n_states() <= 1
    }

    /// Counts all states that can be reached from here. A bound that was met is in the answer.
    pub fn explore(&mut self, budget: &Budget) -> Result<Counts, Stop> {
        self.make_room();
        self.catch_up(budget)?;
        let was_empty = self.is_empty();
        let allowed = self.allowed(budget);
        let counts = self.count(&allowed);
        if was_empty || !matches!(&counts, Err(stop) if stop.why == Why::Memory) {
            return counts;
        }
        self.forget();
        let allowed = self.allowed(budget);
        self.count(&allowed)
    }

    fn count(&mut self, budget: &Budget) -> Result<Counts, Stop> {
        let states = self.space.explore(budget)?;
        let mut counts = Counts { states: states.len() as u64, ..Counts::default() };
        let most_states = self.space.system().most_states();
        for (at, state) in states.into_iter().enumerate() {
            if at as u64 >= most_states {
                counts.cut.get_or_insert("states");
                break;
            }
            let n_steps = self.space.transitions(state).len();
            counts.transitions += n_steps as u64;
            let cut = self.space.cut(state);
            match (n_steps, cut, self.space.system().is_final(state)) {
                (0, None, true) => counts.finals += 1,
                (0, None, false) => counts.deadlocks += 1,
                _ => {}
            }
            counts.cut = counts.cut.or(cut);
        }
        Ok(counts)
    }

    /// What is to be reported of the states that can be reached from here, as far as they were
    /// looked into.
    pub(super) fn findings(&mut self) -> Findings {
        // Most protocols have nothing to report, and then no state need be looked at.
        if self.catch_up(&Budget::unlimited()).is_err() || self.space.system().has_no_findings() {
            return Findings::default();
        }
        let mut states = vec![self.space.initial()];
        let mut seen = vec![false; self.n_states()];
        seen[states[0].index()] = true;
        let mut done = 0;
        while let Some(&state) = states.get(done) {
            done += 1;
            for (_, to) in self.space.transitions(state) {
                if !std::mem::replace(&mut seen[to.index()], true) {
                    states.push(*to);
                }
            }
        }
        states.retain(|state: &StateId| self.space.is_expanded(*state));
        self.space.system().findings_of(&states)
    }
}
