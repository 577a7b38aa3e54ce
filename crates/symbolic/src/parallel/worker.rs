//! A worker: some submodels on diagrams of its own, and the satisfaction procedures on them.
//! [KLQ10 §4, Procedures 9-13]
//!
//! The truth of temporal operators depends on successors only, which are in the same submodel, so each
//! worker evaluates them alone (`check.rs`). The truth of epistemic operators depends on all reachable
//! states: for each such subformula, the inner ones first, all workers exchange messages. A worker with
//! several submodels (Procedure 15) evaluates a subformula in each of them before the exchange. When all
//! epistemic subformulas are known in all submodels, each worker evaluates the formula itself alone.

use masque_model::{AgentId, Formula, FormulaId, GroupId};
use masque_verdict::{Stop, Why};

use super::team::{Message, Team};
use crate::check::Checker;
use crate::space::{Limited, Natural, Set};
use crate::world::Submodel;

/// The process `PP k` of the paper.
pub(crate) struct Worker<'s> {
    pub(crate) checker: Checker<'s>,
    pub(crate) submodels: Vec<Submodel>,
    /// Images computed.
    pub(crate) n_steps: u32,
    /// Number of evaluations of a formula in a submodel that were begun.
    pub(crate) n_asked: u64,
}

/// A worker while it runs in its team.
pub(crate) struct Member<'t, 's> {
    pub(crate) worker: &'t mut Worker<'s>,
    pub(crate) index: usize,
    pub(crate) team: &'t Team,
}

impl<'s> Worker<'s> {
    /// Asks the checker once for each submodel.
    pub(crate) fn each<T>(&mut self, mut ask: impl FnMut(&mut Checker<'s>) -> Limited<T>) -> Limited<Vec<T>> {
        let mut results = Vec::with_capacity(self.submodels.len());
        for submodel in &mut self.submodels {
            self.checker.swap(submodel);
            let result = ask(&mut self.checker);
            // Swapped back even if the checker was stopped.
            self.checker.swap(submodel);
            results.push(result?);
        }
        Ok(results)
    }

    /// `CHECK_p(M_k, φ)` for one submodel after the other: returns whether the answer for one of them is
    /// `decisive`. Ends at the first such answer, and when another worker has found one. [Procedures 7, 9]
    ///
    /// ```text
    /// I_k ⊆ P_SAT_φ
    /// ```
    pub(crate) fn finds(
        &mut self,
        decisive: bool,
        team: &Team,
        mut ask: impl FnMut(&mut Checker<'s>) -> Limited<bool>,
    ) -> Limited<bool> {
        for submodel in &mut self.submodels {
            if team.is_answered() {
                return Ok(false);
            }
            self.n_asked += 1;
            self.checker.swap(submodel);
            let answer = ask(&mut self.checker);
            self.checker.swap(submodel);
            match answer {
                Ok(answer) if answer == decisive => {
                    team.answer();
                    return Ok(true);
                }
                Ok(_) => {}
                // Interrupted, because the answer is no longer needed.
                Err(_) if team.is_answered() => return Ok(false),
                Err(stop) => return Err(stop),
            }
        }
        Ok(false)
    }

    /// Returns whether some state has no successors, or some value may leave its domain.
    pub(crate) fn is_faulty(&mut self) -> Limited<bool> {
        let faulty =
            self.each(|checker| Ok(!checker.dead_ends()?.is_empty() || !checker.overflowing()?.is_empty()))?;
        Ok(faulty.into_iter().any(|is_faulty| is_faulty))
    }

    /// Returns the sum of the submodels' numbers of states.
    pub(crate) fn n_states(&self) -> Natural {
        let Checker { encoder, .. } = &self.checker;
        let counts = self.submodels.iter();
        let counts = counts.map(|part| encoder.space.count(&part.reachable, encoder.layout.n_current()));
        counts.fold(Natural::from(0u32), |sum, count| sum + count)
    }

    fn union(&self, sets: Vec<Set>) -> Limited<Set> {
        self.checker.encoder.balanced(sets, false)
    }
}

impl Member<'_, '_> {
    /// Computes where epistemic formulas are true; each must come after those inside it.
    pub(crate) fn satisfy(&mut self, formulas: &[FormulaId]) -> Limited<()> {
        formulas.iter().try_for_each(|&formula| self.epistemic(formula))
    }

    fn epistemic(&mut self, formula: FormulaId) -> Limited<()> {
        let system = self.worker.checker.system;
        match system.formulas.get(formula) {
            Formula::Knows(agent, f) => self.knows(formula, &[agent], |checker| checker.truth(f)),
            Formula::DistributedKnowledge(group, f) => {
                let agents = &system.groups[group.index()].agents;
                self.knows(formula, agents, |checker| checker.truth(f))
            }
            Formula::KnowsUnder(agent, group, f) => {
                self.knows(formula, &[agent], |checker| checker.unless_red(group, f))
            }
            Formula::EveryoneKnows(group, f) => self.everyone_knows(formula, group, f),
            Formula::CommonKnowledge(group, f) => self.common_knowledge(formula, group, f),
            Formula::Correct(agent, f) => self.correct(formula, agent, f),
            _ => Err(Stop::from(Why::Unsupported)),
        }
    }

    /// `P_SAT_K` and `P_SAT_D`: one agent, or several together, know φ. [Procedures 10, 12]
    ///
    /// ```text
    /// X_k = S_k ∖ φ    X = ⋃ X_j    Y = {s ∈ S_k | ∃ s' ∈ X. s ~ s'}    K φ = S_k ∖ Y
    /// ```
    ///
    /// Differs from the paper: workers exchange the projection `∃ hidden. X_j` to what the agents see, and
    /// not `X_j` itself. It depends on fewer bits, and the union of the projections is the projection of
    /// the union.
    fn knows(
        &mut self,
        formula: FormulaId,
        view: &[AgentId],
        mut phi: impl FnMut(&mut Checker<'_>) -> Limited<Set>,
    ) -> Limited<()> {
        let doubtful = self.worker.each(|checker| {
            let phi = phi(checker)?;
            checker.doubtful(view, &phi)
        })?;
        let doubtful = self.union_of_all(doubtful, true)?.0;
        self.learn(formula, |checker| checker.encoder.space.not(&doubtful))
    }

    /// `P_SAT_E`: everyone in a group knows φ. [Procedure 11]
    ///
    /// ```text
    /// X_k = S_k ∖ φ    X = ⋃ X_j    Y = {s ∈ S_k | ∃ s' ∈ X, i ∈ Γ. s ~_i s'}    E_Γ φ = S_k ∖ Y
    /// ```
    fn everyone_knows(&mut self, formula: FormulaId, group: GroupId, f: FormulaId) -> Limited<()> {
        let outside = self.outside(f)?;
        let outside = self.union_of_all(outside, true)?.0;
        self.learn(formula, |checker| {
            let confused = checker.confused_by_some(group, &outside)?;
            checker.encoder.space.not(&confused)
        })
    }

    /// `P_SAT_C`: φ is common knowledge in a group. [Procedure 13]
    ///
    /// Each worker follows chains of confusions through its own states to the end, then sends the others
    /// the states reached. The loop ends when no worker has found a new state.
    ///
    /// Differs from the paper: `Y_k` and `F_k` are sent in one message, so that a round is one exchange;
    /// and states of other workers stay in `Y`, which modulo `S_k` changes nothing.
    fn common_knowledge(&mut self, formula: FormulaId, group: GroupId, f: FormulaId) -> Limited<()> {
        let mut reached = self.outside(f)?;
        let mut is_stable = false;
        loop {
            let (everywhere, are_stable) = self.union_of_all(reached.clone(), is_stable)?;
            if are_stable {
                return self.learn(formula, |checker| checker.encoder.space.not(&everywhere));
            }
            let next = self.worker.each(|checker| {
                let chains = checker.confused_by_chains(group, everywhere.clone())?;
                checker.encoder.space.and(&chains, checker.domain())
            })?;
            is_stable = next == reached;
            reached = next;
        }
    }

    /// `O_i φ`: φ in all states in which agent `i` is green; true everywhere or nowhere.
    fn correct(&mut self, formula: FormulaId, agent: AgentId, f: FormulaId) -> Limited<()> {
        let holds = self.worker.each(|checker| checker.holds_where_green(agent, f))?;
        let flag = holds.into_iter().all(|holds| holds);
        let messages = self.team.exchange(self.index, Message { states: None, flag })?;
        let holds = messages.iter().all(|message| message.flag);
        self.learn(formula, |checker| Ok(checker.encoder.space.constant(holds)))
    }

    /// Returns for each submodel the states where a formula is not true.
    fn outside(&mut self, f: FormulaId) -> Limited<Vec<Set>> {
        self.worker.each(|checker| {
            let phi = checker.truth(f)?;
            checker.encoder.space.minus(checker.domain(), &phi)
        })
    }

    /// Returns the union of all workers' sets, and whether all workers have set their flag.
    fn union_of_all(&mut self, sets: Vec<Set>, flag: bool) -> Limited<(Set, bool)> {
        let own = self.worker.union(sets)?;
        let space = &self.worker.checker.encoder.space;
        let message = Message { states: Some(space.pack(&own)), flag };
        let messages = self.team.exchange(self.index, message)?;
        let mut all = vec![own];
        let others = messages.iter().enumerate().filter(|(index, _)| *index != self.index);
        for states in others.filter_map(|(_, message)| message.states.as_ref()) {
            all.push(space.unpack(states)?);
        }
        Ok((self.worker.union(all)?, messages.iter().all(|message| message.flag)))
    }

    /// Stores where a formula is true in each submodel.
    fn learn(
        &mut self,
        formula: FormulaId,
        mut truth: impl FnMut(&mut Checker<'_>) -> Limited<Set>,
    ) -> Limited<()> {
        self.worker.each(|checker| {
            let truth = truth(checker)?;
            checker.learn(formula, truth);
            Ok(())
        })?;
        Ok(())
    }
}
