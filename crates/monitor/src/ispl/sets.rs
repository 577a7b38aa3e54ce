//! What a monitor needs of an engine.

use masque_model::steps::SelectedSteps;
use masque_model::{ActionId, AgentId, ExprId, FormulaId, VarId};
use masque_verdict::{Budget, State, Stop};

/// Sets of states of one explored system.
///
/// All sets are subsets of the domain `D`: the reachable states, or with fairness constraints those at which a fair
/// path starts.
pub(super) trait StateSets {
    /// States that are possible after a log: usually few.
    type Set: Clone;

    /// States where a formula is true: often many.
    type Truth: Clone;

    /// Initial states.
    fn initial(&mut self, budget: &Budget) -> Result<Self::Set, Stop>;

    /// States where a formula is true.
    fn truth(&mut self, formula: FormulaId, budget: &Budget) -> Result<Self::Truth, Stop>;

    /// States where the condition of a proposition is true.
    fn where_true(&mut self, condition: ExprId, budget: &Budget) -> Result<Self::Truth, Stop>;

    /// States where a formula is false.
    fn complement(&mut self, truth: &Self::Truth, budget: &Budget) -> Result<Self::Truth, Stop>;

    /// States from which a path leads through some states to a target, which need not be one of them.
    fn can_reach(
        &mut self,
        through: &Self::Truth,
        targets: &Self::Truth,
        budget: &Budget,
    ) -> Result<Self::Truth, Stop>;

    /// All states.
    fn domain(&mut self, budget: &Budget) -> Result<Self::Truth, Stop>;

    /// States without successors.
    fn dead_ends(&mut self, budget: &Budget) -> Result<Self::Truth, Stop>;

    /// States where both are true.
    fn both(&mut self, a: &Self::Truth, b: &Self::Truth, budget: &Budget) -> Result<Self::Truth, Stop>;

    /// Successors by the selected steps.
    fn image(
        &mut self,
        set: &Self::Set,
        selected: &SelectedSteps,
        budget: &Budget,
    ) -> Result<Self::Set, Stop>;

    /// Whether a selected step leads out of the domain, to a state at which no fair path starts.
    fn leaves_domain(
        &mut self,
        set: &Self::Set,
        selected: &SelectedSteps,
        budget: &Budget,
    ) -> Result<bool, Stop>;

    /// Members where a formula has a truth value.
    fn filter(
        &mut self,
        set: &Self::Set,
        truth: &Self::Truth,
        holds: bool,
        budget: &Budget,
    ) -> Result<Self::Set, Stop>;

    /// Members where a variable has a value.
    fn with_value(
        &mut self,
        set: &Self::Set,
        variable: VarId,
        value: i64,
        budget: &Budget,
    ) -> Result<Self::Set, Stop>;

    /// Members in which the protocol of an agent enables an action.
    fn enabling(
        &mut self,
        set: &Self::Set,
        agent: AgentId,
        action: ActionId,
        budget: &Budget,
    ) -> Result<Self::Set, Stop>;

    /// Union of two sets.
    fn union(&mut self, a: &Self::Set, b: &Self::Set, budget: &Budget) -> Result<Self::Set, Stop>;

    /// Members of the first set that are not in the second.
    fn minus(&mut self, a: &Self::Set, b: &Self::Set, budget: &Budget) -> Result<Self::Set, Stop>;

    /// Whether a set has no member.
    fn is_empty(&self, set: &Self::Set) -> bool;

    /// Number of members; `u64::MAX` if there are more.
    fn count(&self, set: &Self::Set) -> u64;

    /// Least member in the canonical order of states; `None` if there is none.
    fn least(&mut self, set: &Self::Set, budget: &Budget) -> Result<Option<State>, Stop>;

    /// First members in the canonical order of states.
    fn first(&mut self, set: &Self::Set, max: usize, budget: &Budget) -> Result<Vec<State>, Stop>;
}
