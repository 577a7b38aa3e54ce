//! Explains why an agent cannot make a step: what prevents each step that it could make next, or each of them that
//! matches an event.
//!
//! The traversal that finds the steps (`step.rs`) calls this module for each of them.

use crate::blame::explain_failure;
use crate::event_pattern::Wanted;
use crate::program::Program;
use crate::resolve::{Findings, Goal};
use crate::step::{Draft, Situation, Walk};
use crate::symbol::Symbol;
use crate::term::{TermId, Terms};

/// Why a step that an agent could make next is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Obstacle {
    pub(crate) kind: ObstacleKind,
    /// The explanation for readers.
    pub(crate) text: String,
    /// Indices of the rules that the explanation names.
    pub(crate) rules: Vec<u32>,
}

/// The kinds of obstacles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObstacleKind {
    /// The step receives a message.
    NoMessage,
    /// The rules do not allow the receipt of a message that is there.
    ForbiddenReceipt,
    /// The constraint has no solution, or the rules do not allow the step.
    Constraint,
    /// Another part of the agent cannot take the message that it offers.
    OwnReceipt,
}

/// Why an agent has no steps by itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct StuckAgent {
    /// What is missing for each step that it could make next.
    pub(crate) obstacles: Vec<Obstacle>,
    /// The messages that it could send if another agent received them in the same step.
    pub(crate) sendings: Vec<TermId>,
}

/// Explains why an agent has no steps.
pub(crate) fn explain_stuck_agent(program: &Program, terms: &mut Terms, situation: Situation) -> StuckAgent {
    explain_agent(program, terms, situation, None)
}

/// Explains why an agent has no steps that match an event, or no steps at all.
pub(crate) fn explain_agent(
    program: &Program,
    terms: &mut Terms,
    situation: Situation,
    event: Option<Wanted>,
) -> StuckAgent {
    let mut findings = Findings::default();
    let mut walk = Walk::new(program, terms, &mut findings, situation);
    walk.obstacles = Some(Vec::new());
    walk.event = event.map(|event| {
        let offset = walk.resolver.bindings.fresh(event.n_vars);
        event.shifted(walk.resolver.terms, offset)
    });
    let no_role = walk.nil();
    walk.process(situation.process, no_role);
    let sendings = walk.found.steps.iter().filter_map(|step| step.sent).collect();
    StuckAgent { obstacles: walk.obstacles.unwrap_or_default(), sendings }
}

impl Walk<'_> {
    /// Explains why a step cannot be made, or why no step that matches the event can.
    pub(crate) fn explain_draft(&mut self, draft: &Draft, goals: &[Goal], is_impossible: bool) {
        match self.event {
            Some(event) => self.explain_event(draft, goals, &event),
            None if is_impossible => self.explain(draft, goals),
            None => {}
        }
    }

    /// Explains why a step that matches the event has no solution.
    fn explain_event(&mut self, draft: &Draft, goals: &[Goal], event: &Wanted) {
        let [message, peer_role, peer] = draft.what;
        let Some(pairs) = event.pairs(draft.kind, [message, peer_role, peer, draft.role, self.id]) else {
            return;
        };
        let literals: Vec<Option<(TermId, TermId)>> = match event.constraint {
            None => vec![None],
            Some(wanted) => self.guard_literals(goals).into_iter().map(|own| Some((wanted, own))).collect(),
        };
        for literal in literals {
            let mark = self.resolver.bindings.mark();
            let is_it =
                pairs.iter().copied().chain(literal).all(|(wanted, found)| {
                    self.resolver.terms.unify(wanted, found, &mut self.resolver.bindings)
                });
            if is_it {
                self.explain(draft, goals);
            }
            self.resolver.bindings.undo(mark);
        }
    }

    /// Explains why goals have no solution, if they have none.
    fn explain(&mut self, draft: &Draft, goals: &[Goal]) {
        let Some((goal, text)) = explain_failure(&mut self.resolver, goals) else { return };
        let kind = match &goals[goal] {
            _ if self.own_sending.is_some() => ObstacleKind::OwnReceipt,
            Goal::Allowed(..) if draft.kind == Symbol::TAKEN => ObstacleKind::ForbiddenReceipt,
            _ => ObstacleKind::Constraint,
        };
        let rules = std::mem::take(&mut self.resolver.named_rules);
        self.add_obstacle(Obstacle { kind, text, rules });
    }

    /// Returns the literals of guards.
    fn guard_literals(&self, goals: &[Goal]) -> Vec<TermId> {
        let mut literals = Vec::new();
        for goal in goals {
            let Goal::Guard(mut rest) = *goal else { continue };
            while self.resolver.terms.symbol(rest) == Some(Symbol::AND) {
                literals.push(self.resolver.terms.arg(rest, 0));
                rest = self.resolver.terms.arg(rest, 1);
            }
            literals.push(rest);
        }
        literals
    }

    pub(crate) fn add_obstacle(&mut self, obstacle: Obstacle) {
        if let Some(obstacles) = &mut self.obstacles
            && !obstacles.contains(&obstacle)
        {
            obstacles.push(obstacle);
        }
    }
}
