//! The reachable states of a system with the formulas that are true in them, for monitors.
//!
//! A monitor follows the states that are possible after a log. It asks for the successors of a few states by some
//! joint actions, and for the states where a formula is true.

use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::rc::Rc;

use masque_model::steps::SelectedSteps;
use masque_model::{ActionId, AgentId, Deadlock, ExprId, FormulaId, System, VarId};
use masque_verdict::{Budget, Early, Show, State, Stop, Why, outside_logic};

use crate::bitset::Bitset;
use crate::engine::{Explicit, Explored};
use crate::jobs::Jobs;
use crate::label::Labeller;
use crate::labelling::{Labelling, StoredStates};
use crate::mu::StepsWith;
use crate::successors::Stepper;

/// Number of states that are expanded between two checks of the budget.
const STATES_PER_CHECK: usize = 256;

/// All reachable states of a system, by index.
///
/// ```
/// use masque_explicit::LabelledStates;
/// use masque_ispl::{Options, check, parse};
/// use masque_model::ActionId;
/// use masque_model::steps::SelectedSteps;
/// use masque_text::Sources;
/// use masque_verdict::Budget;
///
/// let mut sources = Sources::default();
/// let text = "
///     Agent Light
///       Vars: on : boolean; end Vars
///       Actions = {wait, switch};
///       Protocol: Other : {wait, switch}; end Protocol
///       Evolution: on = ~on if Action = switch; end Evolution
///     end Agent
///     Evaluation lit if Light.on; end Evaluation
///     InitStates !Light.on; end InitStates
///     Formulae AG EF lit; AF lit; end Formulae";
/// let file = sources.add("light.ispl", text).unwrap();
/// let (mut tree, _) = parse(&sources, file);
/// let system = check(&sources, &mut tree, &Options::default()).system.unwrap();
///
/// let budget = Budget::unlimited();
/// let mut states = LabelledStates::explore(&system, 10, None, &budget).unwrap();
/// let initial: Vec<u32> = states.initial(&budget).unwrap().iter().map(|state| state as u32).collect();
/// let light = system.agent_ids().next().unwrap();
/// let switch = SelectedSteps::By(vec![(light, ActionId(1))]);
/// let mut lit = Vec::new();
/// states.each_successors(&initial, &switch, &budget, |_, successors| lit.extend_from_slice(successors)).unwrap();
/// assert_eq!(states.state(lit[0]), [1]);
/// ```
pub struct LabelledStates<'s> {
    labeller: Labeller<'s>,
}

impl<'s> LabelledStates<'s> {
    /// Explores a system with at most this number of states.
    pub fn explore(
        system: &'s System,
        max_states: u64,
        jobs: Option<NonZeroUsize>,
        budget: &Budget,
    ) -> Result<LabelledStates<'s>, Stop> {
        let budget = budget.clone().with_states(budget.states().unwrap_or(u64::MAX).min(max_states));
        let engine = Explicit { evidence: Show::None, jobs };
        match Explored::new(engine, system, Jobs::new(jobs), &mut Early::deaf(), &budget) {
            Ok(explored) => Ok(LabelledStates { labeller: explored.into_labeller() }),
            Err((stop, _)) => Err(stop),
        }
    }

    /// Returns the number of reachable states.
    pub fn n_states(&self) -> usize {
        self.labeller.space.n_states()
    }

    /// Returns `D`: the reachable states, or with fairness constraints those at which a fair path starts.
    pub fn domain(&mut self, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        self.labeller.domain(budget)
    }

    /// Returns the initial states in `D`.
    pub fn initial(&mut self, budget: &Budget) -> Result<Bitset, Stop> {
        self.labeller.initial(budget)
    }

    /// Returns the states of `D` where a formula is true.
    pub fn truth(&mut self, formula: FormulaId, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        if outside_logic(&self.labeller.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        self.labeller.truth(formula, budget)
    }

    /// Returns the states of `D` where the condition of a proposition is true.
    pub fn where_true(&mut self, condition: ExprId, budget: &Budget) -> Result<Bitset, Stop> {
        let domain = self.labeller.domain(budget)?;
        self.labeller.where_true(condition, &domain, budget)
    }

    /// Returns the states from which a path leads through some states of `D` to a target in `D`.
    pub fn can_reach(&mut self, through: &Bitset, targets: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        self.labeller.exists_until(through, targets, budget)
    }

    /// Returns the states of `D` without successors; under `stutter` there are none.
    pub fn dead_ends(&mut self, budget: &Budget) -> Result<Bitset, Stop> {
        let domain = self.labeller.domain(budget)?;
        let alive = self.labeller.exists_next(&domain, &domain, budget)?;
        Ok((*domain).clone().minus(&alive))
    }

    /// Returns a state.
    pub fn state(&self, index: u32) -> State {
        self.labeller.steps.layout.unpack(self.labeller.system, self.row(index))
    }

    /// Returns the value of a variable in a state.
    pub fn value(&self, index: u32, variable: VarId) -> i64 {
        self.labeller.steps.layout.value(self.labeller.system, variable, self.row(index))
    }

    /// Compares two states in the canonical order ([`masque_verdict::compare_states`]).
    pub fn compare(&self, a: u32, b: u32) -> Ordering {
        self.row(a).cmp(self.row(b))
    }

    /// Calls `found` with each of some states and its successors by the selected steps, each once.
    ///
    /// The loop that `stutter` adds to a dead end has no actions: it is selected only if all steps are.
    pub fn each_successors(
        &self,
        states: &[u32],
        selected: &SelectedSteps,
        budget: &Budget,
        mut found: impl FnMut(u32, &[u32]),
    ) -> Result<(), Stop> {
        let mut finder = Finder::new(&self.labeller, selected, budget);
        let mut successors = Vec::new();
        for (count, &state) in states.iter().enumerate() {
            if count % STATES_PER_CHECK == 0 {
                budget.check()?;
            }
            successors.clear();
            finder.find(&self.labeller, state, &mut successors)?;
            successors.sort_unstable();
            successors.dedup();
            found(state, &successors);
        }
        Ok(())
    }

    fn row(&self, index: u32) -> &[u64] {
        self.labeller.space.store.row(index as usize)
    }
}

/// Finds successors by the selected steps.
enum Finder<'a> {
    By { stepper: Stepper<'a>, actions: &'a [(AgentId, ActionId)], stutters: bool },
    With(StepsWith<'a>),
}

impl<'a> Finder<'a> {
    fn new(labeller: &'a Labeller<'_>, selected: &'a SelectedSteps, budget: &'a Budget) -> Finder<'a> {
        match selected {
            SelectedSteps::By(actions) => Finder::By {
                stepper: Stepper::new(&labeller.steps, budget),
                actions,
                stutters: actions.is_empty() && labeller.system.meaning.deadlock == Deadlock::Stutter,
            },
            SelectedSteps::With(condition) => {
                Finder::With(StepsWith::new(labeller.system, &labeller.steps, *condition, budget))
            }
        }
    }

    /// Appends the successors of a state; one may be appended twice.
    fn find(&mut self, labeller: &Labeller<'_>, state: u32, found: &mut Vec<u32>) -> Result<(), Stop> {
        let store = &labeller.space.store;
        let row = store.row(state as usize);
        let add = |next: &[u64]| {
            found.push(store.find(next).ok_or(Stop::from(Why::Unsupported))?);
            Ok(())
        };
        match self {
            Finder::With(steps) => steps.expand(row, add),
            Finder::By { stepper, actions, stutters } => {
                if !select(stepper, row, actions) {
                    return Ok(());
                }
                if stepper.expand(row, add)?.is_dead && *stutters {
                    found.push(state);
                }
                Ok(())
            }
        }
    }
}

/// Restricts agents to one action each. Returns whether these actions are enabled in a packed state, and differ for
/// no agent.
fn select(stepper: &mut Stepper<'_>, row: &[u64], actions: &[(AgentId, ActionId)]) -> bool {
    if actions.is_empty() {
        return true;
    }
    actions.iter().for_each(|(agent, _)| stepper.only(agent.index(), None));
    let enabled = stepper.enabled_actions(row);
    let mut chosen = vec![None; enabled.len()];
    let are_possible = actions.iter().all(|(agent, action)| {
        let before = chosen[agent.index()].replace(action.0);
        before.is_none_or(|before| before == action.0) && enabled[agent.index()].contains(&action.0)
    });
    if are_possible {
        actions.iter().for_each(|(agent, action)| stepper.only(agent.index(), Some(action.0)));
    }
    are_possible
}
