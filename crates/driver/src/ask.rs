//! Questions about single states, each answered on a helper thread within its limits.
//!
//! A question may use a formula that the system did not have before, so the system is encoded again for each
//! question. That is simple, and fast enough for interactive use.

use std::sync::Arc;

use masque_evidence::explain_at;
use masque_model::{AgentId, At, Count, Property, System};
use masque_verdict::{
    Budget, Early, Encoded, Evidence, Literal, Oracle, Outcome, Path, RegionPart, State, Stop, Verdict, Why,
};

use crate::check::Limits;
use crate::decide::{ReplayedOutcome, replayed};
use crate::engines::choose;
use crate::helper_thread::on_large_stack;
use crate::{AnyEngine, EngineOptions};

/// The truth value of a formula at a state, with evidence.
#[derive(Clone, Debug)]
pub struct Truth {
    /// Whether the formula is true.
    pub holds: bool,
    /// The evidence for that, which has been replayed.
    pub evidence: Option<Evidence>,
    /// Why evidence is withheld: the replay error. This is a bug in Masque.
    pub withheld: Option<String>,
}

/// Decides whether the last property of a system is true at the end of a path from an initial state.
///
/// [`Why::NoFairPath`] means that no fair path starts at that state, so no formula has a meaning there.
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
        if oracle.least(&[RegionPart::Is(state.clone())], budget)?.is_none() {
            return Err(Why::NoFairPath.into());
        }
        let holds = oracle.is_true(property.formula, state, budget)?;
        let literal = Literal { formula: property.formula, holds };
        // If the budget ends here, the evidence is missing, but the truth value is known.
        let evidence = explain_at(oracle, system, literal, &path, budget).ok().flatten();
        let outcome = Outcome { verdict: Verdict::from(holds), evidence };
        let ReplayedOutcome { outcome, withheld } = replayed(system, &property, outcome);
        Ok(Truth { holds, evidence: outcome.evidence, withheld })
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
    first(system, vec![RegionPart::Alike(agents.to_vec(), state.clone())], max_states, options, limits)
}

/// Returns the first `max_states` initial states and the number of all. With fairness constraints only
/// initial states that start a fair path count.
pub(crate) fn initial_states(
    system: &Arc<System>,
    max_states: usize,
    options: &EngineOptions,
    limits: &Limits,
) -> Result<(Vec<State>, Count), Why> {
    first(system, vec![RegionPart::Initial], max_states, options, limits)
}

fn first(
    system: &Arc<System>,
    region: Vec<RegionPart>,
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
