//! Explains why a state is stuck: what each unfinished agent waits for or is not allowed to do, and the messages
//! that no agent receives.
//!
//! With `comm=sync` a message is sent and received in one step, so a sending that is allowed is impossible if no
//! agent takes the message. If one waits for it but may not receive it, the explanation says why.

use masque_mu::StateId;

use crate::options::Comm;
use crate::step::{Obstacle, ObstacleKind, Situation, explain_stuck_agent};
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

impl System {
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
                obstacles.extend(stuck.obstacles.into_iter().map(|obstacle| obstacle.text));
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
            reasons.extend(stuck.obstacles.iter().map(|obstacle| obstacle.text.clone()));
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
            reasons.extend(
                refusals
                    .filter(|obstacle| obstacle.kind != ObstacleKind::NoMessage)
                    .map(|obstacle| obstacle.text),
            );
        }
        if reasons.is_empty() {
            reasons.push("no agent receives it".to_string());
        }
        let name = self.program.name(&self.terms, self.program.agents[sender].owner);
        let [what, to_role, to] = [what, to_role, to].map(|term| self.terms.shape(term));
        Some(format!("{name} could not send {what} to a({to_role}, {to}): {}", reasons.join("; ")))
    }
}
