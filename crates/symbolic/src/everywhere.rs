//! Decides whether a formula is true in all of some states, without computing where else it is true.

use masque_model::{AgentId, Formula, FormulaId, Paths, Strategies};

use crate::check::Checker;
use crate::space::{Limited, Set};
use crate::tableau::Literal;
use crate::uniform::Wanted;

impl Checker<'_> {
    /// Returns whether a formula is true in all of `context`, a subset of the domain.
    ///
    /// For many operators this is the same question about the operand in a larger context, and their own
    /// set is not needed: `K_i φ` is true in all of X iff φ is true in all states that `i` confuses with
    /// a state in X. `covers`: whether all of the domain is reachable from the context along the domain.
    pub(crate) fn everywhere(&mut self, context: &Set, formula: FormulaId, covers: bool) -> Limited<bool> {
        if context.is_empty() {
            return Ok(true);
        }
        if self.world.known[formula.index()].is_some() {
            let phi = self.truth(formula)?;
            return self.encoder.space.is_subset(context, &phi);
        }
        let system = self.system;
        match system.formulas.get(formula) {
            Formula::And(list) => {
                let (plain, rest): (Vec<FormulaId>, Vec<FormulaId>) =
                    list.iter().partition(|&&f| self.system.formulas.is_local(f) || self.is_set(f));
                for f in rest {
                    if !self.everywhere(context, f, covers)? {
                        return Ok(false);
                    }
                }
                let sets = plain.iter().map(|&f| self.truth(f)).collect::<Limited<Vec<_>>>()?;
                let phi = self.encoder.balanced(sets, true)?;
                self.encoder.space.is_subset(context, &phi)
            }
            Formula::Implies(..) if self.is_set(formula) => self.subset_of_truth(context, formula),
            Formula::Implies(f, g) => {
                let phi = self.truth(f)?;
                let narrower = self.encoder.space.and(context, &phi)?;
                self.everywhere(&narrower, g, covers && narrower == *context)
            }
            Formula::Forall(Paths::Ctl, path) if covers => match system.formulas.get(path) {
                // All of the domain is on paths from the context.
                Formula::Globally(f) => {
                    let domain = self.world.domain.clone();
                    self.everywhere(&domain, f, true)
                }
                _ => self.subset_of_truth(context, formula),
            },
            Formula::Forall(Paths::Infinite, path) if covers => match system.formulas.get(path) {
                // All states of the domain that start an infinite path are on infinite paths from the
                // context.
                Formula::Globally(f) if !self.paths.is_path(f) => {
                    let endless = self.endless()?;
                    let endless = self.encoder.space.and(&endless, &self.world.domain)?;
                    self.everywhere(&endless, f, false)
                }
                // `A G ψ = AG A ψ`
                Formula::Globally(f) => {
                    let endless = self.endless()?;
                    let endless = self.encoder.space.and(&endless, &self.world.domain)?;
                    let violated = self.exists_path(Literal::new(f, false))?;
                    Ok(!self.encoder.space.intersects(&endless, &violated)?)
                }
                _ => self.subset_of_truth(context, formula),
            },
            Formula::Exists(Paths::Ctl, path) if covers && self.has_one_initial => {
                match system.formulas.get(path) {
                    // There is one initial state, and all of the domain is reachable from it.
                    Formula::Finally(f) if *context == self.initial => {
                        let phi = self.truth(f)?;
                        self.encoder.space.intersects(&self.world.domain, &phi)
                    }
                    _ => self.subset_of_truth(context, formula),
                }
            }
            // `¬K_i φ` in all of the context: what the agent sees of the context is never what it sees
            // of a state in which it knows φ.
            Formula::Not(f) => match system.formulas.get(f) {
                Formula::Knows(agent, _) => {
                    let known = self.truth(f)?;
                    let seen = self.seen(agent, context)?;
                    Ok(!self.encoder.space.intersects(&seen, &known)?)
                }
                _ => self.subset_of_truth(context, formula),
            },
            Formula::Knows(agent, f) => {
                let confused = self.confused(&[agent], context)?;
                self.everywhere(&confused, f, covers)
            }
            Formula::DistributedKnowledge(group, f) => {
                let confused = self.confused(&system.groups[group.index()].agents, context)?;
                self.everywhere(&confused, f, covers)
            }
            Formula::EveryoneKnows(group, f) => {
                let reached = self.confused_by_some(group, context)?;
                self.everywhere(&reached, f, covers)
            }
            Formula::CommonKnowledge(group, f) => {
                // C_Γ φ in X iff φ in all states that chains of confusions lead to from X.
                let reached = self.confused_by_chains(group, context.clone())?;
                self.everywhere(&reached, f, covers)
            }
            Formula::Correct(agent, f) => {
                let green = self.green(&[agent])?;
                let green = self.encoder.space.and(&green, &self.world.domain)?;
                self.everywhere(&green, f, false)
            }
            Formula::KnowsUnder(agent, group, f) => {
                let green = self.green(&system.groups[group.index()].agents)?;
                let confused = self.confused(&[agent], context)?;
                let confused = self.encoder.space.and(&confused, &green)?;
                self.everywhere(&confused, f, false)
            }
            Formula::Enforces(group, strategies, path) if strategies != Strategies::Perfect => {
                let truth = self.enforces(group, strategies, path, Wanted::Every(context))?;
                self.encoder.space.is_subset(context, &truth)
            }
            _ => self.subset_of_truth(context, formula),
        }
    }

    /// Returns whether the set of a formula has to be computed, because there is no better way to decide
    /// it. Such sets are often small diagrams because they are not restricted to the context, so they are
    /// combined before they are compared with it.
    fn is_set(&self, formula: FormulaId) -> bool {
        let formulas = &self.system.formulas;
        match formulas.get(formula) {
            Formula::Bool(_)
            | Formula::Proposition(_)
            | Formula::Condition(_)
            | Formula::Green(_)
            | Formula::Red(_)
            | Formula::Or(_)
            | Formula::Iff(..) => true,
            Formula::Not(f) => !matches!(formulas.get(f), Formula::Knows(..)),
            Formula::Implies(_, g) => self.is_set(g),
            _ => self.world.known[formula.index()].is_some(),
        }
    }

    fn subset_of_truth(&mut self, context: &Set, formula: FormulaId) -> Limited<bool> {
        let phi = self.truth(formula)?;
        self.encoder.space.is_subset(context, &phi)
    }

    /// Returns what an agent sees of a set. The last result is kept: often several questions about one
    /// agent in one context follow each other.
    fn seen(&mut self, agent: AgentId, context: &Set) -> Limited<Set> {
        if let Some((of, in_context, seen)) = &self.last_seen
            && *of == agent
            && in_context == context
        {
            return Ok(seen.clone());
        }
        let hidden = self.world.projections.hidden_cube(&self.encoder, &[agent])?;
        let seen = self.encoder.space.exists(context, &hidden)?;
        self.last_seen = Some((agent, context.clone(), seen.clone()));
        Ok(seen)
    }
}
