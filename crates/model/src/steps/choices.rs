//! The joint actions and successors of a state, without enumerating all of them.
//!
//! A joint action has one action of each agent, a successor one choice of each unit (see `steps`). Both
//! are products of lists: their number is known, and the first ones are found at once, however many there
//! are.

use rustc_hash::FxHashSet;

use super::condition::holds;
use super::{JointAction, Moves, State, Unit, UnitLine, compare_states};
use crate::semantics::{enabled_actions, is_true};
use crate::{ActionId, Count, Expr, ExprId, System};

/// All choices of one item from each list, in lexicographic order of indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Product<T> {
    /// The lists to choose from.
    pub lists: Vec<Vec<T>>,
}

impl<T: Clone> Product<T> {
    /// Returns the number of choices.
    ///
    /// ```
    /// use masque_model::steps::Product;
    /// let product = Product { lists: vec![vec![0, 1]; 70] };
    /// assert_eq!(product.count().to_string(), "1180591620717411303424");
    /// assert_eq!(product.iter().next(), Some(vec![0; 70]));
    /// ```
    pub fn count(&self) -> Count {
        let mut count = Count::from(1_u64);
        self.lists.iter().for_each(|list| count.multiply(list.len() as u64));
        count
    }

    /// Returns whether there is no choice.
    pub fn is_empty(&self) -> bool {
        self.lists.iter().any(Vec::is_empty)
    }

    /// Returns the choices one by one.
    pub fn iter(&self) -> impl Iterator<Item = Vec<T>> + '_ {
        let mut next_indices = (!self.is_empty()).then(|| vec![0; self.lists.len()]);
        std::iter::from_fn(move || {
            let indices = next_indices.as_mut()?;
            let chosen = self.lists.iter().zip(&*indices).map(|(list, &i)| list[i].clone()).collect();
            let last = (0..indices.len()).rev().find(|&k| indices[k] + 1 < self.lists[k].len());
            match last {
                None => next_indices = None,
                Some(k) => {
                    indices[k] += 1;
                    indices[k + 1..].fill(0);
                }
            }
            Some(chosen)
        })
    }
}

/// Returns the joint actions that the protocols enable in a state.
pub fn joint_choices(system: &System, state: &[i64]) -> Product<ActionId> {
    Product { lists: system.agent_ids().map(|agent| enabled_actions(system, agent, state)).collect() }
}

impl Moves<'_> {
    /// Returns the successors under a joint action: for each unit the values that its variables may get,
    /// least first. There is no successor if all enabled lines of some unit overflow.
    pub fn successors(&self, state: &[i64], joint: &JointAction) -> Successors {
        let options = self.units.iter().map(|unit| self.options(unit, state, joint)).collect();
        let variables = self.units.iter().flat_map(|unit| unit.variables.iter().map(|v| v.index())).collect();
        Successors { state: state.to_vec(), variables, options: Product { lists: options } }
    }

    fn options(&self, unit: &Unit<'_>, state: &[i64], joint: &[ActionId]) -> Vec<Vec<i64>> {
        let kept: Vec<i64> = unit.variables.iter().map(|v| state[v.index()]).collect();
        let mut enabled =
            unit.lines.iter().filter(|line| holds(self.system, line.condition, state, joint)).peekable();
        if enabled.peek().is_none() {
            return vec![kept];
        }
        let mut options: Vec<Vec<i64>> = enabled
            .filter_map(|line| {
                let mut values = kept.clone();
                for &assignment in line.assignments {
                    let index = unit.variables.iter().position(|v| *v == assignment.0)?;
                    values[index] = UnitLine::assigned(self.system, assignment, state, joint)?;
                }
                Some(values)
            })
            .collect();
        let codes = |values: &Vec<i64>| -> Vec<Option<u64>> {
            let variables = unit.variables.iter().map(|v| self.system.variable(*v));
            variables.zip(values).map(|(variable, &value)| variable.domain.code(value)).collect()
        };
        options.sort_by_key(codes);
        options.dedup();
        options
    }
}

/// The successors of a state under one joint action.
#[derive(Clone, Debug)]
pub struct Successors {
    state: State,
    /// The variables of all units, one unit after another.
    variables: Vec<usize>,
    options: Product<Vec<i64>>,
}

impl Successors {
    /// Returns the number of successors.
    pub fn count(&self) -> Count {
        self.options.count()
    }

    /// Returns the successors one by one.
    pub fn iter(&self) -> impl Iterator<Item = State> + '_ {
        self.options.iter().map(|chosen| {
            let mut next = self.state.clone();
            let values = chosen.iter().flatten();
            self.variables.iter().zip(values).for_each(|(&variable, &value)| next[variable] = value);
            next
        })
    }

    /// Keeps the successors in which the variables with a wanted value have that value.
    pub fn restrict(&mut self, wanted: &[Option<i64>]) {
        self.each_unit(|variables, options| {
            options.retain(|values| n_differences(variables, values, wanted) == 0);
        });
    }

    /// Returns the successor in which the fewest variables differ from their wanted values, the first of
    /// several; `None` if there is no successor. Units choose independently, so nothing is enumerated.
    pub fn nearest(&self, wanted: &[Option<i64>]) -> Option<State> {
        let mut nearest = self.clone();
        nearest.each_unit(|variables, options| {
            let best = (0..options.len()).min_by_key(|&i| n_differences(variables, &options[i], wanted));
            *options = best.map(|i| options.swap_remove(i)).into_iter().collect();
        });
        nearest.iter().next()
    }

    /// Calls a function with the variables and the options of each unit.
    fn each_unit(&mut self, mut change: impl FnMut(&[usize], &mut Vec<Vec<i64>>)) {
        let mut rest = &self.variables[..];
        for options in &mut self.options.lists {
            // A unit without options makes the product empty, whatever the others do.
            let Some(n_variables) = options.first().map(Vec::len) else { return };
            let (variables, others) = rest.split_at(n_variables);
            change(variables, options);
            rest = others;
        }
    }

    /// Returns one successor; `None` if there is none. For each unit, `pick` gets the number of its choices
    /// and returns the index of one.
    pub fn pick(&self, mut pick: impl FnMut(usize) -> usize) -> Option<State> {
        let lists = self.options.lists.iter();
        let chosen = lists.map(|list| list.get(pick(list.len())).cloned()).collect::<Option<Vec<_>>>()?;
        let one = Product { lists: chosen.into_iter().map(|values| vec![values]).collect() };
        Successors { options: one, ..self.clone() }.iter().next()
    }
}

/// Returns the number of these variables whose value differs from the wanted one.
fn n_differences(variables: &[usize], values: &[i64], wanted: &[Option<i64>]) -> usize {
    let differs = |variable: usize, value: i64| wanted[variable].is_some_and(|wanted| wanted != value);
    variables.iter().zip(values).filter(|(variable, value)| differs(**variable, **value)).count()
}

/// Maximum number of values that are tried to find initial states.
const MAX_VALUES_TRIED: u32 = 1 << 14;

/// Whether there are more initial states than those found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// The states found are all.
    No,
    /// There are more.
    Yes,
    /// The search reached its limit, so there may be more.
    Unknown,
}

/// Returns the first `max` initial states in canonical order, found by trying values one after another,
/// and whether there are more.
pub fn first_initial_states(system: &System, max: usize) -> (Vec<State>, More) {
    first_initial_states_with(system, &vec![None; system.variables.len()], max)
}

/// Does what [`first_initial_states`] does, for the initial states in which the variables with a wanted value
/// have that value.
pub fn first_initial_states_with(system: &System, wanted: &[Option<i64>], max: usize) -> (Vec<State>, More) {
    // due[n]: the conjuncts that read the first n variables only, and not fewer.
    let mut due = vec![Vec::new(); system.variables.len() + 1];
    let mut open = vec![system.initial];
    while let Some(conjunct) = open.pop() {
        match system.exprs.get(conjunct) {
            Expr::And(list) => open.extend(list),
            _ => due[n_variables_read(system, conjunct)].push(conjunct),
        }
    }
    let mut found = Vec::new();
    let mut state = State::new();
    let mut codes: Vec<u64> = Vec::new();
    let mut n_tried = 0;
    loop {
        n_tried += 1;
        if n_tried > MAX_VALUES_TRIED {
            return (found, More::Unknown);
        }
        let is_good = due[state.len()].iter().all(|&conjunct| is_true(system, conjunct, &state, &[]));
        match system.variables.get(state.len()) {
            Some(variable) if is_good => {
                let first = wanted[state.len()].map_or(Some(0), |value| variable.domain.code(value));
                if let Some(code) = first {
                    codes.push(code);
                    state.push(variable.domain.value(code));
                    continue;
                }
            }
            None if is_good => {
                if found.len() == max {
                    return (found, More::Yes);
                }
                found.push(state.clone());
            }
            _ => {}
        }
        // Continue with the next value of the last variable that has one.
        loop {
            let (Some(code), Some(_)) = (codes.pop(), state.pop()) else {
                debug_assert!(found.is_sorted_by(|a, b| compare_states(system, a, b).is_lt()));
                return (found, More::No);
            };
            let domain = &system.variables[state.len()].domain;
            if wanted[state.len()].is_none() && u128::from(code) + 1 < domain.size() {
                codes.push(code + 1);
                state.push(domain.value(code + 1));
                break;
            }
        }
    }
}

/// Returns one more than the index of the last variable that an expression reads; 0 if it reads none.
fn n_variables_read(system: &System, root: ExprId) -> usize {
    let mut needed = 0;
    let mut seen = FxHashSet::from_iter([root]);
    let mut open = vec![root];
    while let Some(expr) = open.pop() {
        if let Expr::Variable(v) = system.exprs.get(expr) {
            needed = needed.max(v.index() + 1);
        }
        system.exprs.each_operand(expr, |operand| {
            if seen.insert(operand) {
                open.push(operand);
            }
        });
    }
    needed
}
