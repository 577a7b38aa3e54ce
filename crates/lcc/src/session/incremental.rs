//! Incremental checking: keeps the results that a change does not affect.
//!
//! ```text
//! update      the local situations that consulted a changed predicate or action become stale
//! next check  each stale situation is computed again; if the agent's steps have changed, the states
//!             with this situation forget their successors
//!             answers and truth values are discarded in all states that can reach such a state
//! ```
//!
//! All other results are kept.

use masque_mu::{Lts, PausedGame, StateId, recheck};
use masque_verdict::{Budget, Show, Stop, Verdict, Why};

use super::Session;
use crate::check::Checked;
use crate::explore::Counts;
use crate::resolve::Findings;

/// Maximum size, in bytes, of the truth values that are kept for one formula.
const MAX_KEPT_BYTES: u64 = 1 << 26;

impl Session {
    /// Recomputes stale situations, and discards the results that depend on changed ones.
    pub(super) fn refresh_situations(&mut self, budget: &Budget) -> Result<(), Stop> {
        let situations = self.space.lts().refresh(budget)?;
        if situations.is_empty() {
            return Ok(());
        }
        let mut states = self.space.system().states_with(&situations);
        states.retain(|state| self.space.is_expanded(*state));
        self.answers.revise(&states, &self.space.leading_to(&states));
        states.into_iter().for_each(|state| self.space.forget(state));
        Ok(())
    }

    /// Returns the budget for a question: the given one, limited by what the session may hold.
    pub(super) fn allowed(&self, budget: &Budget) -> Budget {
        let least = |left: Option<u64>, right: Option<u64>| left.into_iter().chain(right).min();
        let mut allowed = budget.clone();
        if let Some(bytes) = least(budget.memory(), self.limits.memory) {
            allowed = allowed.with_memory(bytes);
        }
        if let Some(states) = least(budget.states(), self.limits.states) {
            allowed = allowed.with_states(states);
        }
        allowed
    }

    /// Discards all states and situations if there are more than the session may hold. Once the session has
    /// moved on, also if there are more states than one question may expand.
    pub(super) fn enforce_limits(&mut self) {
        let too_many = |limit: Option<u64>, held: u64| limit.is_some_and(|limit| held > limit);
        let max_states = self.has_past.then(|| self.space.system().max_states());
        let is_full = too_many(self.limits.states, self.n_states() as u64)
            || too_many(max_states, self.n_states() as u64)
            || too_many(self.limits.memory, self.bytes());
        if is_full && self.n_states() > 1 {
            self.forget();
        }
    }

    /// Discards all results, so that the next answer is computed from scratch.
    pub fn forget(&mut self) {
        self.space.lts().forget();
        self.space.clear();
        self.answers.clear();
        self.has_past = false;
    }

    /// Computes the answer to a question, using truth values that are kept. A run that shows the verdict is
    /// searched for without them, so that it does not depend on earlier questions.
    pub(super) fn solve(&mut self, index: usize, evidence: bool, budget: &Budget) -> Checked {
        let question = self.answers.question(index);
        let mut new_game = PausedGame::default();
        let standing = if evidence { &mut new_game } else { &mut question.standing };
        let answer = recheck(&mut self.space, &question.formula, standing, evidence, budget);
        if new_game.bytes() > question.standing.bytes() {
            question.standing = new_game;
        }
        if question.standing.bytes() > MAX_KEPT_BYTES {
            question.standing = PausedGame::default();
        }
        let show = if evidence { Show::All } else { Show::None };
        Checked::of_answer(self.space.lts(), answer, show)
    }

    /// Whether the verdict is unknown because of a limit that also counts the results of earlier questions.
    /// The question may then succeed after these have been discarded.
    pub(super) fn is_limited_by_old_results(&self, verdict: Verdict, was_empty: bool) -> bool {
        !was_empty && matches!(verdict, Verdict::Unknown(Why::Memory | Why::States))
    }

    /// Whether there are no results yet.
    pub(super) fn is_empty(&self) -> bool {
        self.space.n_expanded() == 0 && self.n_states() <= 1
    }

    /// Counts the states that are reachable from the current one. The result names a bound that was exceeded.
    pub fn explore(&mut self, budget: &Budget) -> Result<Counts, Stop> {
        self.enforce_limits();
        self.refresh_situations(budget)?;
        let was_empty = self.is_empty();
        let counts = self.count(&self.allowed(budget));
        if was_empty || !matches!(&counts, Err(stop) if stop.why == Why::Memory) {
            return counts;
        }
        self.forget();
        self.count(&self.allowed(budget))
    }

    fn count(&mut self, budget: &Budget) -> Result<Counts, Stop> {
        let states = self.within(budget, |session| session.space.explore(budget))??;
        let mut counts = Counts { states: states.len() as u64, ..Counts::default() };
        let max_states = self.space.system().max_states();
        for (index, state) in states.into_iter().enumerate() {
            if index as u64 >= max_states {
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

    /// Collects the findings of the states that are reachable from the current one, as far as they have been
    /// explored.
    pub(super) fn findings(&mut self, budget: &Budget) -> Findings {
        // Most protocols have no findings, and then no state need be visited.
        if self.refresh_situations(budget).is_err() || self.space.system().has_no_findings() {
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
