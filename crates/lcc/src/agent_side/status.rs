//! The state of an agent that can make no step: it has finished, waits for messages, or is blocked.

use crate::agent_side::AgentStatus;
use crate::obstacle::{Obstacle, ObstacleKind, explain_stuck_agent};
use crate::session::Session;
use crate::step::Situation;
use crate::term::TermId;

/// The status of an agent without steps.
pub(super) fn status(view: &mut Session, me: usize, cut: Option<&'static str>) -> AgentStatus {
    let state = view.space.initial();
    let system = view.space.lts();
    if system.is_done(state, me) {
        return AgentStatus::Finished;
    }
    if let Some(bound) = cut {
        return AgentStatus::Limited(bound);
    }
    let (processes, mail) = system.parts(state);
    let mail: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
    let (actor, process) = (system.program.agents[me].owner, TermId(processes[me]));
    let mut obstacles: Vec<Obstacle> = Vec::new();
    for message in std::iter::once(None).chain(mail.into_iter().map(Some)) {
        let situation = Situation { actor, process, message };
        for obstacle in explain_stuck_agent(&system.program, &mut system.terms, situation).obstacles {
            if !obstacles.contains(&obstacle) {
                obstacles.push(obstacle);
            }
        }
    }
    let takes_nothing = obstacles.iter().any(|obstacle| obstacle.kind == ObstacleKind::ForbiddenReceipt);
    let (waiting, blocked): (Vec<Obstacle>, Vec<Obstacle>) =
        obstacles.into_iter().partition(|obstacle| obstacle.kind == ObstacleKind::NoMessage);
    let texts = |obstacles: Vec<Obstacle>| obstacles.into_iter().map(|obstacle| obstacle.text).collect();
    if waiting.is_empty() || takes_nothing {
        AgentStatus::Blocked(texts(blocked))
    } else if system.is_idle(state, me) {
        AgentStatus::Idle
    } else {
        AgentStatus::Waiting(texts(waiting))
    }
}
