//! Decision diagrams: an observation is an image and an intersection.

use masque_model::steps::SelectedSteps;
use masque_model::{ActionId, AgentId, ExprId, FormulaId, System, VarId};
use masque_symbolic::space::Set;
use masque_symbolic::{DiagramStates, Symbolic};
use masque_verdict::{Budget, State, Stop};

use super::sets::StateSets;

/// The states of a system as diagrams.
pub(super) struct Diagrams<'s>(DiagramStates<'s>);

impl<'s> Diagrams<'s> {
    /// Explores a system.
    pub(super) fn explore(
        engine: &Symbolic,
        system: &'s System,
        budget: &Budget,
    ) -> Result<Diagrams<'s>, Stop> {
        DiagramStates::explore(engine, system, budget).map(Diagrams)
    }

    /// Returns the states, to be used within a budget.
    fn within(&mut self, budget: &Budget) -> Result<&mut DiagramStates<'s>, Stop> {
        budget.check()?;
        self.0.set_budget(budget);
        Ok(&mut self.0)
    }
}

impl StateSets for Diagrams<'_> {
    type Set = Set;
    type Truth = Set;

    fn initial(&mut self, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.initial()
    }

    fn truth(&mut self, formula: FormulaId, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.truth(formula)
    }

    fn where_true(&mut self, condition: ExprId, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.where_true(condition)
    }

    fn complement(&mut self, truth: &Set, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.complement(truth)
    }

    fn can_reach(&mut self, through: &Set, targets: &Set, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.can_reach(through, targets)
    }

    fn domain(&mut self, budget: &Budget) -> Result<Set, Stop> {
        Ok(self.within(budget)?.domain().clone())
    }

    fn dead_ends(&mut self, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.dead_ends()
    }

    fn both(&mut self, a: &Set, b: &Set, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.and(a, b)
    }

    fn image(&mut self, set: &Set, selected: &SelectedSteps, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.image(set, selected)
    }

    fn leaves_domain(&mut self, set: &Set, selected: &SelectedSteps, budget: &Budget) -> Result<bool, Stop> {
        self.within(budget)?.leaves_domain(set, selected)
    }

    fn filter(&mut self, set: &Set, truth: &Set, holds: bool, budget: &Budget) -> Result<Set, Stop> {
        let states = self.within(budget)?;
        if holds { states.and(set, truth) } else { states.minus(set, truth) }
    }

    fn with_value(&mut self, set: &Set, variable: VarId, value: i64, budget: &Budget) -> Result<Set, Stop> {
        let states = self.within(budget)?;
        let with_value = states.where_value(variable, value)?;
        states.and(set, &with_value)
    }

    fn enabling(
        &mut self,
        set: &Set,
        agent: AgentId,
        action: ActionId,
        budget: &Budget,
    ) -> Result<Set, Stop> {
        self.within(budget)?.where_enabled(set, agent, action)
    }

    fn union(&mut self, a: &Set, b: &Set, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.or(a, b)
    }

    fn minus(&mut self, a: &Set, b: &Set, budget: &Budget) -> Result<Set, Stop> {
        self.within(budget)?.minus(a, b)
    }

    fn is_empty(&self, set: &Set) -> bool {
        set.is_empty()
    }

    fn count(&self, set: &Set) -> u64 {
        self.0.count(set)
    }

    fn least(&mut self, set: &Set, budget: &Budget) -> Result<Option<State>, Stop> {
        self.within(budget)?.least(set)
    }

    fn first(&mut self, set: &Set, max: usize, budget: &Budget) -> Result<Vec<State>, Stop> {
        let states = self.within(budget)?;
        let (mut rest, mut first) = (set.clone(), Vec::new());
        while first.len() < max
            && let Some(state) = states.least(&rest)?
        {
            let singleton = states.singleton(&state)?;
            rest = states.minus(&rest, &singleton)?;
            first.push(state);
        }
        Ok(first)
    }
}
