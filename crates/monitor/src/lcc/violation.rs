//! What was possible instead of an impossible observation, and what prevented it.

use masque_lcc::{Event, EventAction, EventPattern, EventText, Impediment};
use masque_verdict::{Budget, Stop};

use super::belief::{BeliefId, Pair};
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
        let labels = self.labels(&belief.pairs, true, budget)?;
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
        let found = found.into_iter().map(|one| Reason { text: one.text, rules: one.rules });
        let because = self.nearly(&belief.pairs, observation, budget)?.into_iter().chain(found).collect();
        Ok(Violation { instead, because })
    }

    /// If the step is possible, but not as an observable one or not with this kind, says so.
    fn nearly(
        &mut self,
        pairs: &[Pair],
        observation: &Observation,
        budget: &Budget,
    ) -> Result<Option<Reason>, Stop> {
        let reason = |text: String| Some(Reason { text, rules: Vec::new() });
        let hidden = self.labels(pairs, false, budget)?;
        let matching = self.space.lts().event_instances(observation.pattern(), &hidden);
        let mut events = matching.iter().map(|(index, _)| self.space.system().event(hidden[*index]));
        // The message of a record without a kind was sent: that it can be received is no near miss.
        let is_near = |event: &Event| {
            observation.text().kind.is_some() || !matches!(event.action, EventAction::Taken { .. })
        };
        if let Some(step) = events.find(is_near).as_ref().map(describe) {
            return Ok(reason(format!(
                "the step is possible here (`{step}`), but steps of this kind are not observable, so records of them are \
                 not expected; patterns of observable steps are `out(_)`, `in(_)` and, for constraints, `#(name(_))`"
            )));
        }
        let any_kind = EventText { kind: None, ..observation.text().clone() };
        let Ok(pattern) = EventPattern::read(&any_kind) else { return Ok(None) };
        let seen = self.labels(pairs, true, budget)?;
        let Some((index, _)) = self.space.lts().event_instances(&pattern, &seen).first().copied() else {
            return Ok(None);
        };
        let step = describe(&self.space.system().event(seen[index]));
        Ok(reason(format!("the step is possible here (`{step}`), but it has another `kind`")))
    }
}
