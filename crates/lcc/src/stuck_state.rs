//! Explains why a state is stuck: what each unfinished agent waits for or is not allowed to do, and the messages
//! that no agent receives.
//!
//! With `comm=sync` a message is sent and received in one step, so a sending that is allowed is impossible if no
//! agent takes the message. If one waits for it but may not receive it, the explanation says why.

use masque_mu::StateId;
use masque_text::Span;

use crate::event_pattern::{EventPattern, Wanted};
use crate::obstacle::{Obstacle, ObstacleKind, explain_agent, explain_stuck_agent};
use crate::options::Comm;
use crate::step::Situation;
use crate::system::System;
use crate::term::TermId;
use crate::watch::STEPS_PER_SITUATION;

/// What an agent is doing in a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Id of the agent.
    pub id: String,
    /// What remains of its clause.
    pub process: String,
    /// Whether it has finished.
    pub is_done: bool,
    /// Whether it is a server in its first state.
    pub is_idle: bool,
    /// What each step needs that the agent cannot make now by itself: a message, a fact, or the consent of a rule.
    pub obstacles: Vec<String>,
}

/// Why an event is impossible in a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Impediment {
    /// Whether the agents could make the step if a rule or a fact did not prevent it. Otherwise they are elsewhere in
    /// their clauses.
    pub is_refusal: bool,
    /// The explanation.
    pub text: String,
    /// Locations of the rules that the explanation names.
    pub rules: Vec<Span>,
}

/// Returns the texts of obstacles, each once.
fn texts(obstacles: impl IntoIterator<Item = Obstacle>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for obstacle in obstacles {
        if !texts.contains(&obstacle.text) {
            texts.push(obstacle.text);
        }
    }
    texts
}

impl System {
    /// Explains why an event is impossible in a state: what prevents the steps of the agents that match it, or else
    /// what these agents are doing.
    pub fn impediments(&mut self, state: StateId, event: &EventPattern) -> Vec<Impediment> {
        let mark = self.terms.mark();
        let (processes, mail) = self.parts(state);
        let processes: Vec<TermId> = processes.iter().map(|process| TermId(*process)).collect();
        let mut mail: Vec<Option<TermId>> = mail.iter().map(|message| Some(TermId(*message))).collect();
        mail.dedup();
        if self.program.options.comm == Comm::Sync {
            mail.clear();
        }
        let wanted = self.wanted(event);
        let unknown = self.unknown_names(&wanted).into_iter();
        let refusal = |text| Impediment { is_refusal: true, text, rules: Vec::new() };
        let (mut refusals, mut elsewhere): (Vec<Impediment>, _) =
            (unknown.map(refusal).collect(), Vec::new());
        for agent in 0..processes.len() {
            if !self.may_act(&wanted, agent) {
                continue;
            }
            for message in std::iter::once(None).chain(mail.iter().copied()) {
                let (refused, waits) = self.agent_impediments(&processes, agent, message, wanted);
                refusals.extend(refused);
                if message.is_none() {
                    elsewhere.extend(waits);
                }
            }
            if self.is_done(state, agent) {
                let name = self.program.name(&self.terms, self.program.agents[agent].owner);
                let text = format!("{name} has finished");
                elsewhere.push(Impediment { is_refusal: false, text, rules: Vec::new() });
            }
        }
        self.terms.reset(mark);
        let mut found = if refusals.is_empty() { elsewhere } else { refusals };
        found.sort();
        found.dedup();
        found
    }

    /// Returns what prevents the steps of an agent that match an event, and the messages that it waits for.
    fn agent_impediments(
        &mut self,
        processes: &[TermId],
        agent: usize,
        message: Option<TermId>,
        wanted: Wanted,
    ) -> (Vec<Impediment>, Vec<Impediment>) {
        if !self.may_continue(STEPS_PER_SITUATION) {
            return (Vec::new(), Vec::new());
        }
        let actor = self.program.agents[agent].owner;
        let situation = Situation { actor, process: processes[agent], message };
        let stuck = explain_agent(&self.program, &mut self.terms, situation, Some(wanted));
        let (mut refusals, mut waits) = (Vec::new(), Vec::new());
        for obstacle in stuck.obstacles {
            let is_refusal = obstacle.kind != ObstacleKind::NoMessage;
            let found = if is_refusal { &mut refusals } else { &mut waits };
            found.push(self.impediment(is_refusal, obstacle));
        }
        if self.program.options.comm == Comm::Sync {
            for sent in stuck.sendings {
                if wanted.matches_message(&mut self.terms, sent)
                    && let Some(text) = self.not_received(processes, agent, sent, &[])
                {
                    refusals.push(Impediment { is_refusal: true, text, rules: Vec::new() });
                }
            }
        }
        (refusals, waits)
    }

    /// Whether an agent may be the one that acts in an event.
    fn may_act(&self, wanted: &Wanted, agent: usize) -> bool {
        let id = self.program.agents[agent].id;
        wanted.actors().any(|actor| actor.is_none_or(|actor| actor == id || !self.terms.is_ground(actor)))
    }

    fn impediment(&self, is_refusal: bool, obstacle: Obstacle) -> Impediment {
        let mut rules: Vec<Span> =
            obstacle.rules.iter().map(|index| self.program.rules[*index as usize].span).collect();
        rules.sort_unstable_by_key(|span| (span.start, span.end));
        rules.dedup();
        Impediment { is_refusal, text: obstacle.text, rules }
    }

    /// Returns what each agent is doing in a state, in the order of the team.
    pub fn standings(&mut self, state: StateId) -> Vec<Standing> {
        let (processes, _) = self.parts(state);
        let processes: Vec<TermId> = processes.iter().map(|process| TermId(*process)).collect();
        let mut standings = Vec::new();
        for (agent, process) in processes.into_iter().enumerate() {
            let (is_done, is_idle) = (self.is_done(state, agent), self.is_idle(state, agent));
            let mut obstacles = Vec::new();
            if !is_done && self.may_continue(STEPS_PER_SITUATION) {
                let situation = Situation { actor: self.program.agents[agent].owner, process, message: None };
                let stuck = explain_stuck_agent(&self.program, &mut self.terms, situation);
                obstacles = texts(stuck.obstacles);
            }
            let id = self.program.name(&self.terms, self.program.agents[agent].owner);
            let process = self.terms.text(process);
            standings.push(Standing { id, process, is_done, is_idle, obstacles });
        }
        standings
    }

    /// Explains why a state is stuck.
    pub fn blame(&mut self, state: StateId) -> Vec<String> {
        let (processes, mail) = self.parts(state);
        let processes: Vec<TermId> = processes.iter().map(|process| TermId(*process)).collect();
        let mail: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
        let mut reasons = Vec::new();
        for agent in 0..processes.len() {
            if self.is_done(state, agent) || self.is_idle(state, agent) {
                continue;
            }
            if !self.may_continue(STEPS_PER_SITUATION) {
                break;
            }
            let actor = self.program.agents[agent].owner;
            let situation = Situation { actor, process: processes[agent], message: None };
            let stuck = explain_stuck_agent(&self.program, &mut self.terms, situation);
            reasons.extend(texts(stuck.obstacles.clone()));
            if self.program.options.comm == Comm::Sync {
                for message in stuck.sendings {
                    let reason = self.not_received(&processes, agent, message, &stuck.obstacles);
                    reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
                }
            }
        }
        reasons.extend(mail.iter().map(|message| format!("no agent takes {}", self.terms.text(*message))));
        reasons
    }

    /// Explains why a message that an agent could send is not received in the same step. `None` if the
    /// agent's own obstacles say it.
    fn not_received(
        &mut self,
        processes: &[TermId],
        sender: usize,
        message: TermId,
        own: &[Obstacle],
    ) -> Option<String> {
        let [to_role, to, what] = [2, 3, 4].map(|index| self.terms.arg(message, index));
        let is_own = to == self.program.agents[sender].id;
        if is_own && own.iter().any(|obstacle| obstacle.kind == ObstacleKind::OwnReceipt) {
            return None;
        }
        let mut reasons: Vec<String> = Vec::new();
        for (agent, process) in processes.iter().enumerate() {
            if agent == sender || !self.may_continue(STEPS_PER_SITUATION) {
                continue;
            }
            let actor = self.program.agents[agent].owner;
            let situation = Situation { actor, process: *process, message: Some(message) };
            let receiver = explain_stuck_agent(&self.program, &mut self.terms, situation);
            let refusals = receiver.obstacles.into_iter();
            reasons.extend(texts(refusals.filter(|obstacle| obstacle.kind != ObstacleKind::NoMessage)));
        }
        if reasons.is_empty() {
            reasons.push("no agent receives it".to_string());
        }
        let name = self.program.name(&self.terms, self.program.agents[sender].owner);
        let [what, to_role, to] = [what, to_role, to].map(|term| self.terms.shape(term));
        Some(format!("{name} could not send {what} to a({to_role}, {to}): {}", reasons.join("; ")))
    }
}
