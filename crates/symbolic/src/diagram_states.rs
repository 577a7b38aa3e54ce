//! The reachable states of a system as sets with operations, for monitors.
//!
//! A monitor follows the states that are possible after a log: an observation is an image and an intersection. It
//! selects steps by actions, so the relation must keep the actions of some agents ([`turns`](crate::turns)).

use masque_model::steps::SelectedSteps;
use masque_model::{ActionId, AgentId, Deadlock, ExprId, FormulaId, System, VarId};
use masque_verdict::{Budget, Early, FairInitial, State, Stats, Stop, Why, outside_logic};
use rustc_hash::FxHashMap;

use crate::check::Checker;
use crate::engine::Symbolic;
use crate::reach;
use crate::space::{Limited, Set, exact, in_growing_stores};
use crate::stages::Event;

/// All reachable states of a system, as diagrams.
///
/// Each operation works within the budget that was set last.
pub struct DiagramStates<'s> {
    checker: Checker<'s>,
    /// Relations that keep the actions of some agents, where there are no turns.
    part_by_part: FxHashMap<Vec<AgentId>, Event>,
}

impl<'s> DiagramStates<'s> {
    /// Explores a system. Its store of nodes has a part of the memory of the budget first, and all of it if that
    /// does not suffice to explore the system.
    pub fn explore(engine: &Symbolic, system: &'s System, budget: &Budget) -> Limited<DiagramStates<'s>> {
        let is_full = |result: &Limited<_>| matches!(result, Err(Stop { why: Why::Memory, .. }));
        let checker = in_growing_stores(1, budget, is_full, |attempt| {
            let built = engine.build(system, &mut Early::deaf(), attempt, &mut Stats::default())?;
            built.into_checker()
        })?;
        if checker.fair_initial == FairInitial::Unsupported {
            return Err(Why::Unsupported.into());
        }
        Ok(DiagramStates { checker, part_by_part: FxHashMap::default() })
    }

    /// Replaces the budget.
    pub fn set_budget(&mut self, budget: &Budget) {
        self.checker.encoder.space.set_budget(budget);
    }

    /// Returns the domain: the reachable states, or with fairness constraints those at which a fair path starts.
    pub fn domain(&self) -> &Set {
        self.checker.domain()
    }

    /// Returns the initial states in the domain.
    pub fn initial(&self) -> Limited<Set> {
        self.checker.encoder.space.and(&self.checker.initial, self.checker.domain())
    }

    /// Returns the states of the domain where a formula is true.
    pub fn truth(&mut self, formula: FormulaId) -> Limited<Set> {
        if outside_logic(&self.checker.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        let truth = self.checker.truth(formula)?;
        self.checker.encoder.space.and(&truth, self.checker.domain())
    }

    /// Returns the states of the domain where a condition on states is true.
    pub fn where_true(&mut self, condition: ExprId) -> Limited<Set> {
        let truth = self.checker.encoder.condition(condition)?;
        self.checker.encoder.space.and(&truth, self.checker.domain())
    }

    /// Returns the valuations in which a variable has a value; none if it does not belong to its domain.
    pub fn where_value(&self, variable: VarId, value: i64) -> Limited<Set> {
        let encoder = &self.checker.encoder;
        encoder.has_value(variable, &encoder.layout.variables[variable.index()].current, value)
    }

    /// Returns the states of the domain that are not in a set.
    pub fn complement(&self, set: &Set) -> Limited<Set> {
        self.checker.encoder.space.minus(self.checker.domain(), set)
    }

    /// Returns the states from which a path leads through some states of the domain to a target in the domain.
    pub fn can_reach(&self, through: &Set, targets: &Set) -> Limited<Set> {
        self.checker.exists_until(through, targets)
    }

    /// Returns the states of the domain without successors; under `stutter` there are none.
    pub fn dead_ends(&mut self) -> Limited<Set> {
        match self.checker.system.meaning.deadlock {
            Deadlock::Stutter => Ok(self.checker.encoder.space.none()),
            Deadlock::Finite | Deadlock::Error => {
                let dead = self.checker.dead_ends()?;
                self.checker.encoder.space.and(&dead, self.checker.domain())
            }
        }
    }

    /// Computes the intersection.
    pub fn and(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.checker.encoder.space.and(a, b)
    }

    /// Computes the union.
    pub fn or(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.checker.encoder.space.or(a, b)
    }

    /// Computes the difference `a ∖ b`.
    pub fn minus(&self, a: &Set, b: &Set) -> Limited<Set> {
        self.checker.encoder.space.minus(a, b)
    }

    /// Returns the number of states in a set; `u64::MAX` if there are more.
    pub fn count(&self, set: &Set) -> u64 {
        let count = self.checker.encoder.space.count(set, self.checker.encoder.layout.n_current());
        exact(&count).to_u64().unwrap_or(u64::MAX)
    }

    /// Returns the least state of a set in the canonical order; `None` if it is empty.
    pub fn least(&self, set: &Set) -> Limited<Option<State>> {
        if set.is_empty() { Ok(None) } else { reach::least(&self.checker.encoder, set).map(Some) }
    }

    /// Returns the set of one state.
    pub fn singleton(&self, state: &State) -> Limited<Set> {
        reach::singleton(&self.checker.encoder, state)
    }

    /// Returns the states of a set in which an agent's protocol enables an action.
    pub fn where_enabled(&mut self, set: &Set, agent: AgentId, action: ActionId) -> Limited<Set> {
        let enabled = self.checker.encoder.choice(agent)?.enabled[action.index()].clone();
        self.checker.encoder.space.and(set, &enabled)
    }

    /// Computes the successors in the domain of some reachable states by the selected steps.
    pub fn image(&mut self, states: &Set, selected: &SelectedSteps) -> Limited<Set> {
        let after = self.successors(states, selected)?;
        self.checker.encoder.space.and(&after, self.checker.domain())
    }

    /// Returns whether a selected step leads from some reachable states out of the domain.
    pub fn leaves_domain(&mut self, states: &Set, selected: &SelectedSteps) -> Limited<bool> {
        let after = self.successors(states, selected)?;
        Ok(!self.checker.encoder.space.is_subset(&after, self.checker.domain())?)
    }

    /// Computes the successors of some reachable states by the selected steps.
    fn successors(&mut self, states: &Set, selected: &SelectedSteps) -> Limited<Set> {
        let (states, condition) = match selected {
            SelectedSteps::By(actions) if actions.is_empty() => return self.all_successors(states),
            SelectedSteps::By(actions) => self.performing(states, actions)?,
            SelectedSteps::With(condition) => (states.clone(), self.checker.encoder.condition(*condition)?),
        };
        self.checker.successors_with(&states, &condition, &mut self.part_by_part)
    }

    fn all_successors(&self, states: &Set) -> Limited<Set> {
        let space = &self.checker.encoder.space;
        let mut after = self.checker.relation.post(&self.checker.encoder, states)?;
        if self.checker.system.meaning.deadlock == Deadlock::Stutter {
            after = space.or(&after, &space.minus(states, &self.checker.live)?)?;
        }
        Ok(after)
    }

    /// Returns the states of a set that enable some actions, and the condition that these are performed.
    ///
    /// An agent without action bits has no choice, or no step depends on its choice.
    fn performing(&mut self, states: &Set, actions: &[(AgentId, ActionId)]) -> Limited<(Set, Set)> {
        let encoder = &mut self.checker.encoder;
        let mut states = states.clone();
        let mut condition = encoder.space.all();
        let mut chosen: FxHashMap<AgentId, ActionId> = FxHashMap::default();
        for &(agent, action) in actions {
            if chosen.insert(agent, action).is_some_and(|other| other != action) {
                return Ok((encoder.space.none(), condition));
            }
            let choice = encoder.choice(agent)?;
            states = encoder.space.and(&states, &choice.enabled[action.index()])?;
            let bits = &encoder.layout.actions[agent.index()];
            if !choice.is_determined && !bits.is_empty() {
                let performed = encoder.space.has_code(bits, action.0.into())?;
                condition = encoder.space.and(&condition, &performed)?;
            }
        }
        Ok((states, condition))
    }
}

impl Checker<'_> {
    /// Computes the successors of some reachable states by steps that meet a condition on states and actions.
    fn successors_with(
        &mut self,
        states: &Set,
        condition: &Set,
        part_by_part: &mut FxHashMap<Vec<AgentId>, Event>,
    ) -> Limited<Set> {
        let states = self.encoder.space.and(states, &self.relation.alive)?;
        let kept = self.encoder.acting_agents(condition);
        let moves = self.moves()?;
        let mut from = self.encoder.space.and(&states, condition)?;
        for &agent in &kept {
            // An event mentions the protocols of those agents only whose actions it reads.
            from = moves.where_enabled(&self.encoder, &from, agent)?;
        }
        let after = match self.turns_from(&from, &kept)? {
            Some(after) => after,
            None => {
                if !part_by_part.contains_key(&kept) {
                    let parts = self.encoder.parts()?;
                    let event = Event::of_clusters(&self.encoder, parts, &kept)?;
                    part_by_part.insert(kept.clone(), event);
                }
                let event = &part_by_part[&kept];
                event.post(&self.encoder, &from)?
            }
        };
        self.without_actions(&after, &kept)
    }

    /// Quantifies the actions of some agents.
    fn without_actions(&self, set: &Set, agents: &[AgentId]) -> Limited<Set> {
        let bits = agents.iter().flat_map(|agent| self.encoder.layout.actions[agent.index()].iter().copied());
        let cube = self.encoder.space.cube(bits)?;
        self.encoder.space.exists(set, &cube)
    }
}
