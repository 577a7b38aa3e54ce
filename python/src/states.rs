//! Questions about states.

use std::collections::HashMap;
use std::sync::Arc;

use masque::{Check, Model, StateList, States, StatesError};
use pyo3::prelude::*;

use crate::errors::{check_error, load_error};
use crate::waiting::{CallLimits, run};

/// Numbers of states, whether there are more, and the number of all in decimal.
type Listed = (Vec<usize>, bool, Option<String>);
/// Steps (label, actions, number of the next state), whether there are more, and reasons for the end.
type Steps = (Vec<(String, Vec<(String, String)>, usize)>, bool, Vec<String>);

/// The states of a model. A thread answers the questions, so after a fork the child must open its own.
#[pyclass(name = "States", module = "masque_mc._native", frozen)]
pub(crate) struct NativeStates {
    states: Arc<States>,
    limits: CallLimits,
}

fn listed(StateList { states, has_more, count }: StateList) -> Listed {
    (states, has_more, count)
}

fn raise(py: Python<'_>, error: &StatesError) -> PyErr {
    match error {
        StatesError::Formula(error) => load_error(py, error),
        other => check_error(py, other.to_string()),
    }
}

impl NativeStates {
    pub(crate) fn open(py: Python<'_>, model: Model, limits: CallLimits) -> PyResult<NativeStates> {
        let states = run(py, limits, None, move |check| model.states(&check))?;
        let states = states.map_err(|error| raise(py, &error))?;
        Ok(NativeStates { states: Arc::new(states), limits })
    }

    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&States, &Check<'_>) -> Result<T, StatesError> + Send,
    ) -> PyResult<T> {
        let states = Arc::clone(&self.states);
        let answer = run(py, self.limits, None, move |check| question(&states, &check))?;
        answer.map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl NativeStates {
    fn initial(&self, py: Python<'_>, start: usize, end: usize) -> PyResult<Listed> {
        self.ask(py, move |states, check| states.initial(start..end, check)).map(listed)
    }

    fn listed(&self, py: Python<'_>, formula: Option<String>, start: usize, end: usize) -> PyResult<Listed> {
        self.ask(py, move |states, check| states.listed(formula.as_deref(), start..end, check)).map(listed)
    }

    fn values(&self, py: Python<'_>, numbers: Vec<usize>) -> PyResult<Vec<Vec<(String, String)>>> {
        self.ask(py, move |states, _| states.values_of(numbers))
    }

    fn steps(&self, py: Python<'_>, number: usize, start: usize, end: usize) -> PyResult<Steps> {
        let found = self.ask(py, move |states, check| states.steps(number, start..end, check))?;
        let steps = found.steps.into_iter().map(|step| (step.label, step.actions, step.to));
        Ok((steps.collect(), found.has_more, found.end))
    }

    fn is_true(&self, py: Python<'_>, formula: String, number: usize) -> PyResult<Option<bool>> {
        self.ask(py, move |states, check| states.is_true(&formula, number, check))
    }

    fn indistinguishable(
        &self,
        py: Python<'_>,
        agents: Vec<String>,
        number: usize,
        start: usize,
        end: usize,
    ) -> PyResult<Listed> {
        let found = self.ask(py, move |states, check| {
            let agents: Vec<&str> = agents.iter().map(String::as_str).collect();
            states.indistinguishable(&agents, number, start..end, check)
        });
        found.map(listed)
    }

    fn find(&self, py: Python<'_>, values: HashMap<String, String>) -> PyResult<Option<usize>> {
        self.ask(py, move |states, _| states.find(values))
    }
}
