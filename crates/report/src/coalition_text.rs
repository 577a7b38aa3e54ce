//! Strategies of groups, and responses of the other agents, as text: tables, each with a play.

use std::io;

use masque_driver::{
    ActionId, AgentId, Formula, FormulaId, GroupStrategy, Reason, ReasonId, Response, Responses, StateId,
};

use crate::evidence::members;
use crate::evidence_text::{EvidenceWriter, number};
use crate::lines::{ACTION, PLAIN, Piece, STATE};

impl EvidenceWriter<'_, '_> {
    /// Writes a strategy as a table, and a play.
    pub(crate) fn strategy(
        &mut self,
        claim: &str,
        reason: &Reason,
        strategy: &GroupStrategy,
    ) -> io::Result<()> {
        let others = strategy.from.len() - 1;
        let also = match others {
            0 => String::new(),
            1 => " from there and from one indistinguishable state".to_string(),
            n => format!(" from there and from {n} indistinguishable states"),
        };
        let fair = if self.context.system.fairness.is_empty() { "" } else { " on all fair paths" };
        self.head(&format!("{claim} because this strategy enforces it{fair}{also}"))?;
        for row in strategy.rows.iter().take(self.limits.claims) {
            let actions = self.actions(&row.agents, &row.actions);
            let is_whole = row.sees.len() == self.context.system.variables.len();
            let seen = if is_whole && self.is_shown[row.state.index()] {
                vec![(STATE, number(row.state))]
            } else {
                self.assignments(row.sees.clone(), row.state)
            };
            if seen.is_empty() {
                self.lines.line(&[(PLAIN, "  always".to_string())])?;
            } else {
                let label = if is_whole { "  at     " } else { "  seeing " };
                self.lines.flow(&[(PLAIN, label.to_string())], "         ", &seen, ", ")?;
            }
            let indent = "           ";
            self.lines.flow(&[(PLAIN, indent.to_string())], indent, &actions, ", ")?;
        }
        self.left_out(strategy.rows.len().saturating_sub(self.limits.claims), "")?;
        let play = &strategy.play;
        if play.states.len() > 1 || play.back_to.is_some() {
            self.say(if self.has_end(reason.formula) {
                "a play in which the other agents delay the end as long as they can:"
            } else {
                "a possible play:"
            })?;
            self.run(play, &[])?;
        }
        let Some(&last) = play.states.last() else { return Ok(()) };
        match (strategy.unmet, play.back_to) {
            (Some(unmet), Some(begin)) => {
                let constraint = self.context.formula(self.context.system.fairness[unmet]);
                let from = number(play.states[begin]);
                self.say(&format!("this path is not fair: from {from} on, `{constraint}` is never true"))
            }
            (None, None) if !self.is_claimed(&strategy.claims, last) => {
                self.say(&format!("no fair path starts at {}", number(last)))
            }
            _ => Ok(()),
        }
    }

    /// Writes the response of the other agents to each choice of the group, and a play.
    pub(crate) fn answers(&mut self, claim: &str, reason: &Reason, answers: &Responses) -> io::Result<()> {
        let here = reason.state;
        let Responses { from, path, rows, claims, play, fair } = answers;
        if rows.is_empty() && play.back_to.is_none() {
            let claims = self.claims(claims);
            return self.head(&if claims.is_empty() {
                format!("{claim} because the group has no choice there")
            } else {
                format!("{claim} because {claims} there, which no choice of the group can change")
            });
        }
        let there = if *from == here {
            String::new()
        } else {
            let from = number(*from);
            let here = number(here);
            format!(" at {from}, which is indistinguishable from {here} and must be won together with it")
        };
        let keeps = if fair.is_empty() { "" } else { " and keep the path fair" };
        self.head(&format!(
            "{claim} because the other agents have a response to every choice of the group{there}{keeps}"
        ))?;
        if let Some(path) = path {
            self.reached(*from, path, false)?;
        }
        let members = members(self.context.system, reason.formula);
        let mut before: Option<&Response> = None;
        for row in rows.iter().take(self.limits.claims) {
            if before.is_none_or(|before| (before.state, before.stage) != (row.state, row.stage)) {
                self.stage(row)?;
            }
            before = Some(row);
            self.response(members, row)?;
        }
        self.left_out(rows.len().saturating_sub(self.limits.claims), "")?;
        if play.states.len() > 1 || play.back_to.is_some() {
            self.say("a play in which the group delays its defeat as long as it can:")?;
            self.run(play, fair)?;
        }
        Ok(())
    }

    /// Whether the goal of a coalition formula must be reached (`X`, `F`, `U`), not kept forever.
    fn has_end(&self, formula: FormulaId) -> bool {
        let formulas = &self.context.system.formulas;
        let Formula::Enforces(_, _, path) = formulas.get(formula) else { return false };
        matches!(formulas.get(path), Formula::Next(_) | Formula::Finally(_) | Formula::Until(..))
    }

    /// Whether one of the claims is about a state.
    fn is_claimed(&self, claims: &[ReasonId], state: StateId) -> bool {
        claims.iter().any(|&id| self.context.evidence.reason(id).state == state)
    }

    /// Writes the state and the stage of a response.
    fn stage(&mut self, row: &Response) -> io::Result<()> {
        let mut items = vec![(STATE, number(row.state))];
        if let Some(values) = self.unless_shown(row.state) {
            items = values;
            if let Some((_, text)) = items.first_mut() {
                *text = format!("{}  {text}", number(row.state));
            }
        }
        if row.stage.violated {
            items.push((PLAIN, "the goal is violated".to_string()));
        }
        if let Some(seeks) = row.stage.seeks {
            let constraint = self.context.formula(self.context.system.fairness[seeks]);
            items.push((PLAIN, format!("next fairness constraint: `{constraint}`")));
        }
        self.lines.flow(&[(PLAIN, "  at ".to_string())], "     ", &items, ", ")
    }

    /// Writes "if Thief: left", and below it "Guard: left -> #0".
    fn response(&mut self, members: &[AgentId], row: &Response) -> io::Result<()> {
        let mut choice = self.actions(members, &row.actions);
        if let Some((_, text)) = choice.first_mut() {
            *text = format!("if {text}");
        }
        let others: Vec<AgentId> = self.context.system.agent_ids().filter(|i| !members.contains(i)).collect();
        let joint: Vec<ActionId> = others.iter().map(|i| row.joint[i.index()]).collect();
        let mut response = self.actions(&others, &joint);
        let then = row.next.map_or("no successor".to_string(), number);
        match response.last_mut() {
            Some((_, text)) => *text += &format!(" -> {then}"),
            None => response.push((STATE, format!("-> {then}"))),
        }
        self.lines.flow(&[(PLAIN, "     ".to_string())], "       ", &choice, ", ")?;
        self.lines.flow(&[(PLAIN, "           ".to_string())], "             ", &response, ", ")
    }

    /// The actions of these agents; agents without actions are left out.
    pub(crate) fn actions(&self, agents: &[AgentId], actions: &[ActionId]) -> Vec<Piece> {
        let action = |(&agent, &action): (&AgentId, &ActionId)| {
            let agent = self.context.system.agent(agent);
            let name = &agent.actions.get(action.index())?.name;
            (!name.is_empty()).then(|| (ACTION, format!("{}: {name}", agent.name)))
        };
        agents.iter().zip(actions).filter_map(action).collect()
    }
}
