//! The replay of a run on a loaded model, within limits.

use std::sync::Arc;

use masque_symbolic::space::in_growing_stores;
use masque_text::Diagnostic;
use masque_verdict::Budget;

use super::json_node::{Fault, Place};
use super::label_walk::{LabelRun, LabelWalk, graph_variables, protocol_variables};
use super::system_walk::{self, SystemWalk};
use super::track::{Replayed, track};
use super::world_walk::{self, WorldRun, WorldWalk, find_world};
use super::{TraceFile, TraceRun, TraceValue};
use crate::check::Limits;
use crate::explorer::Explorer;
use crate::helper_thread::on_large_stack;
use crate::load::Model;
use crate::world_explorer::{build, is_out_of_memory};

/// A variable of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceVariable {
    /// Name: `Agent.variable` for ISPL, the name in the program for BDI, the id of an agent for LCC.
    pub name: String,
    /// Type of its values.
    pub kind: VariableKind,
}

/// The type of a variable's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableKind {
    /// Booleans.
    Boolean,
    /// Integers.
    Integer,
    /// Names or other texts.
    Text,
}

impl VariableKind {
    fn words(self) -> &'static str {
        match self {
            VariableKind::Boolean => "a boolean",
            VariableKind::Integer => "an integer",
            VariableKind::Text => "a string",
        }
    }
}

/// The variables of a run, in the order of the model. `world` is the world of a run of a BDI file.
pub fn trace_variables(model: &Model, world: Option<&str>) -> Vec<TraceVariable> {
    match model {
        Model::Ispl(system) => system_walk::variables(system),
        Model::Bdi(worlds) => {
            find_world(worlds, world).map_or(Vec::new(), |world| world_walk::variables(worlds, world))
        }
        Model::Lcc(instance) => protocol_variables(instance.system.team()),
        Model::Aut(_) => graph_variables(),
    }
}

/// The code of a value of a variable, or the fault that it has the wrong type or lies outside the domain.
pub(super) fn value_code(
    state: &Place,
    variable: &TraceVariable,
    value: &TraceValue,
    parse: impl Fn(&str) -> Option<i64>,
) -> Result<i64, Fault> {
    let TraceVariable { name, kind } = variable;
    let is_right = matches!(
        (value, kind),
        (TraceValue::Written(_), _)
            | (TraceValue::Boolean(_), VariableKind::Boolean)
            | (TraceValue::Integer(_), VariableKind::Integer)
            | (TraceValue::Text(_) | TraceValue::List(_), VariableKind::Text)
    );
    let text = value.text();
    if !is_right {
        let message = format!("`{name}` needs {}, and `{text}` is of another type", kind.words());
        return Err(Fault::new(state.field(name), message));
    }
    parse(&text)
        .ok_or_else(|| Fault::new(state.field(name), format!("`{name}` cannot have the value `{text}`")))
}

impl TraceFile {
    /// Replays a run of the file on a model.
    ///
    /// # Errors
    ///
    /// If the run has names or values that the model does not have.
    pub fn replay(
        &self,
        model: &Model,
        run: &TraceRun,
        limits: &Limits,
    ) -> Result<Replayed, Box<Diagnostic>> {
        replay_within(model, run, limits).map_err(|fault| Box::new(self.diagnostic(&fault)))
    }
}

/// Replays a run on a model.
///
/// # Errors
///
/// A message if the run has names or values that the model does not have.
pub fn replay_run(model: &Model, run: &TraceRun, limits: &Limits) -> Result<Replayed, String> {
    replay_within(model, run, limits).map_err(|fault| format!("{}: {}", fault.place, fault.message))
}

fn replay_within(model: &Model, run: &TraceRun, limits: &Limits) -> Result<Replayed, Fault> {
    let (n_states, back_to) = (run.states.len(), run.back_to);
    if n_states == 0 {
        return Err(Fault::new(Place::default(), "the run has no states"));
    }
    let stopped = |why| Replayed::Stopped { why, n_followed: 0 };
    match model {
        Model::Ispl(system) => {
            let (system, run) = (Arc::clone(system), run.clone());
            let work = move |budget: &Budget| {
                Ok(SystemWalk::new(&system, &run, budget).map(|mut walk| track(&mut walk, n_states, back_to)))
            };
            on_large_stack(limits, work).unwrap_or_else(|why| Ok(stopped(why)))
        }
        Model::Bdi(worlds) => {
            let run = WorldRun::new(worlds, run)?;
            let worlds = Arc::clone(worlds);
            let work = move |budget: &Budget| {
                in_growing_stores(1, budget, is_out_of_memory, |budget| {
                    let mut engine = build(&worlds, budget)?;
                    engine.set_budget(budget);
                    let mut walk = WorldWalk { engine: &mut engine, worlds: &worlds, run: &run };
                    Ok(track(&mut walk, n_states, back_to))
                })
            };
            Ok(on_large_stack(limits, work).unwrap_or_else(stopped))
        }
        Model::Lcc(instance) => labelled(instance.system.clone(), &trace_variables(model, None), run, limits),
        Model::Aut(instance) => labelled(instance.graph.clone(), &trace_variables(model, None), run, limits),
    }
}

/// Replays a run on a model with labelled steps.
fn labelled(
    explorer: impl Explorer + Clone + Send + 'static,
    variables: &[TraceVariable],
    run: &TraceRun,
    limits: &Limits,
) -> Result<Replayed, Fault> {
    let (n_states, back_to) = (run.states.len(), run.back_to);
    let run = LabelRun::new(variables, run)?;
    let work = move |budget: &Budget| {
        let mut explorer = explorer;
        Ok(track(&mut LabelWalk { explorer: &mut explorer, run: &run, budget }, n_states, back_to))
    };
    Ok(on_large_stack(limits, work).unwrap_or_else(|why| Replayed::Stopped { why, n_followed: 0 }))
}
