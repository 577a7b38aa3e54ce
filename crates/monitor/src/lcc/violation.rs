//! What was possible instead of an impossible observation, and what prevented it.

use masque_lcc::{Event, EventAction, Impediment};
use masque_verdict::{Budget, Stop};

use super::belief::BeliefId;
use super::engine::Engine;
use super::observation::Observation;
use crate::{Reason, Violation};

/// Maximum number of possible states that are asked for reasons.
const MAX_ASKED_STATES: usize = 16;
/// Maximum number of steps and of reasons that are listed.
const MAX_LISTED: usize = 50;

/// Describes an event in one line.
fn describe(event: &Event) -> String {
    let reasons = event.informative_reasons().join(", ");
    let any = |id: &String| if id.is_empty() { "any agent".to_string() } else { id.clone() };
    match &event.action {
        EventAction::Internal { by } if reasons.is_empty() => format!("{by}: internal step"),
        EventAction::Internal { by } => format!("{by}: {reasons}"),
        EventAction::Sent { by, to, message } => format!("{by} -> {}: {message}", any(to)),
        EventAction::Taken { by, from, message } => {
            format!("{by} receives {message} from {}", any(from))
        }
        EventAction::Exchanged { from, to, message } => format!("{from} -> {to}: {message}"),
    }
}

impl Engine {
    /// Explains why an observation is impossible after a belief.
    pub(super) fn violation(
        &mut self,
        belief: BeliefId,
        observation: &Observation,
        budget: &Budget,
    ) -> Result<Violation, Stop> {
        let belief = self.belief(belief).clone();
        let labels = self.observable_labels(&belief.pairs, budget)?;
        let mut instead: Vec<String> =
            labels.iter().map(|label| describe(&self.space.system().event(*label))).collect();
        instead.sort();
        instead.dedup();
        instead.truncate(MAX_LISTED);
        let mut found: Vec<Impediment> = Vec::new();
        // States are numbered as they are found, so they are put into the order of their texts.
        let mut states: Vec<_> =
            belief.states().map(|state| (self.space.system().state_text(state), state)).collect();
        states.sort();
        for (_, state) in states.into_iter().take(MAX_ASKED_STATES) {
            budget.check()?;
            self.space.lts().set_budget(budget);
            found.extend(self.space.lts().impediments(state, observation.pattern()));
            let stopped = masque_mu::Lts::stopped(self.space.system());
            self.space.lts().set_budget(&Budget::unlimited());
            stopped.map_or(Ok(()), Err)?;
        }
        if found.iter().any(|one| one.is_refusal) {
            found.retain(|one| one.is_refusal);
        }
        found.sort();
        found.dedup_by(|next, before| next.text == before.text);
        found.truncate(MAX_LISTED);
        let because = found.into_iter().map(|one| Reason { text: one.text, rules: one.rules }).collect();
        Ok(Violation { instead, because })
    }
}
