//! Questions about single states, each answered on a thread of its own within its limits.
//!
//! A question may bring a formula that the system did not have, so the system is encoded anew for
//! each: simple, and fast enough for someone who types.

use std::sync::Arc;

use masque_evidence::explain_at;
use masque_model::{AgentId, At, Count, Property, System};
use masque_replay::replay;
use masque_verdict::{Budget, Early, Encoded, Evidence, Literal, Oracle, Part, Path, State, Stop, Why};

use crate::check::Limits;
use crate::engines::choose;
use crate::worker::on_large_stack;
use crate::{AnyEngine, EngineOptions};

/// Whether a formula is true at a state, and what shows it.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Whether it is.
    pub holds: bool,
    /// What shows it; it is replayed.
    pub evidence: Option<Evidence>,
    /// Why evidence is withheld: it does not replay. That is a bug of ours.
    pub withheld: Option<String>,
}

/// Whether the last property of a system is true at the end of a path from an initial state.
///
/// [`Why::NoFairPath`] says that no fair path starts there, so that no formula has a meaning there.
pub fn truth_at(
    system: &Arc<System>,
    path: &Path,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<Truth, Why> {
    let property = system.properties.last().cloned().ok_or(Why::Unsupported)?;
    let property = Property { at: At::Reachable, ..property };
    let path = path.clone();
    let candidates = options.candidates();
    let engine = choose(&candidates, system, &property).map_err(|_| Why::Unsupported)?;
    with_encoded(system, options, &candidates[engine], limits, move |system, encoded, budget| {
        let oracle = encoded.oracle().ok_or(Stop::from(Why::Unsupported))?;
        let state = path.states.last().ok_or(Stop::from(Why::Unsupported))?;
        if oracle.least(&[Part::Is(state.clone())], budget)?.is_none() {
            return Err(Why::NoFairPath.into());
        }
        let holds = oracle.is_true(property.formula, state, budget)?;
        let literal = Literal { formula: property.formula, holds };
        // A budget that ends here costs the evidence, not the answer.
        let evidence = explain_at(oracle, system, literal, &path, budget).ok().flatten();
        let replayed = evidence.as_ref().map(|evidence| replay(system, &property, holds, evidence));
        let withheld = replayed.and_then(Result::err).map(|error| error.to_string());
        Ok(Truth { holds, evidence: evidence.filter(|_| withheld.is_none()), withheld })
    })
}

/// Returns the reachable states that the agents, combining what they see, cannot distinguish from `state`:
/// the first `max_states` of them, `state` included, and the number of all.
pub fn alike(
    system: &Arc<System>,
    agents: &[AgentId],
    state: &State,
    max_states: usize,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<(Vec<State>, Count), Why> {
    first(system, vec![Part::Alike(agents.to_vec(), state.clone())], max_states, options, limits)
}

/// Returns the first `max_states` initial states and the number of all. With fairness constraints only
/// initial states that start a fair path count.
pub(crate) fn initial_states(
    system: &Arc<System>,
    max_states: usize,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<(Vec<State>, Count), Why> {
    first(system, vec![Part::Initial], max_states, options, limits)
}

fn first(
    system: &Arc<System>,
    region: Vec<Part>,
    max_states: usize,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<(Vec<State>, Count), Why> {
    let candidates = options.candidates();
    let engine = candidates.first().ok_or(Why::Unsupported)?;
    with_encoded(system, options, engine, limits, move |_, encoded, budget| {
        let oracle: &mut dyn Oracle = encoded.oracle().ok_or(Stop::from(Why::Unsupported))?;
        oracle.first(&region, max_states, budget)
    })
}

/// Encodes a system and asks it a question, on a helper thread. The system is encoded by this engine, or by
/// the portfolio if the options leave the choice open.
fn with_encoded<T: Send + 'static>(
    system: &Arc<System>,
    options: &EngineOptions,
    engine: &AnyEngine,
    limits: &Limits,
    ask: impl Fn(&System, &mut dyn Encoded, &Budget) -> Result<T, Stop> + Clone + Send + 'static,
) -> Result<T, Why> {
    let (system, engine, portfolio) = (Arc::clone(system), Arc::clone(engine), options.portfolio());
    on_large_stack(limits, move |budget| {
        let mut encoded = match &portfolio {
            None => engine.encode(&system, budget)?,
            Some(portfolio) => portfolio.explore(&system, &[], &mut Early::deaf(), budget)?.encoded,
        };
        ask(&system, &mut *encoded, budget)
    })
}
