//! What groups can enforce and what they cannot, as text: tables, each with a play.

use std::io;

use masque_driver::{
    ActionId, AgentId, Answer, Answers, Formula, FormulaId, GroupStrategy, Reason, ReasonId, StateId,
};

use crate::evidence::members;
use crate::lines::{ACTION, PLAIN, Piece, STATE};
use crate::show::{MOST_TOLD, Teller, number};

impl Teller<'_, '_> {
    /// What is done where, and a play.
    pub(crate) fn strategy(
        &mut self,
        claim: &str,
        reason: &Reason,
        strategy: &GroupStrategy,
    ) -> io::Result<()> {
        let others = strategy.from.len() - 1;
        let also = match others {
            0 => String::new(),
            1 => ", from there and from one state that looks the same".to_string(),
            n => format!(", from there and from {n} states that look the same"),
        };
        let fair = if self.frame.system.fairness.is_empty() { "" } else { " on all fair runs" };
        self.head(&format!("{claim}, for this strategy enforces it{fair}{also}"))?;
        for row in strategy.rows.iter().take(MOST_TOLD) {
            let actions = self.actions(&row.agents, &row.actions);
            let is_whole = row.sees.len() == self.frame.system.variables.len();
            let place = if is_whole && self.is_shown[row.state.index()] {
                vec![(STATE, number(row.state))]
            } else {
                self.assignments(row.sees.clone(), row.state)
            };
            if place.is_empty() {
                self.lines.line(&[(PLAIN, "  always".to_string())])?;
            } else {
                let label = if is_whole { "  at     " } else { "  seeing " };
                self.lines.flow(&[(PLAIN, label.to_string())], "         ", &place, ", ")?;
            }
            let indent = "           ";
            self.lines.flow(&[(PLAIN, indent.to_string())], indent, &actions, ", ")?;
        }
        self.left_out(strategy.rows.len().saturating_sub(MOST_TOLD), "")?;
        let play = &strategy.play;
        if play.states.len() > 1 || play.back_to.is_some() {
            self.say(if self.has_end(reason.formula) {
                "played against others who put off the end as long as they can:"
            } else {
                "played, for instance, like this:"
            })?;
            self.run(play, &[])?;
        }
        let Some(&last) = play.states.last() else { return Ok(()) };
        match (strategy.unmet, play.back_to) {
            (Some(unmet), Some(begin)) => {
                let constraint = self.frame.formula(self.frame.system.fairness[unmet]);
                let from = number(play.states[begin]);
                self.say(&format!("this run is not fair: from {from} on `{constraint}` is never true"))
            }
            (None, None) if !self.is_claimed(&strategy.claims, last) => {
                self.say(&format!("no fair run goes on from {}", number(last)))
            }
            _ => Ok(()),
        }
    }

    /// What the others answer to each choice, and a play.
    pub(crate) fn answers(&mut self, claim: &str, reason: &Reason, answers: &Answers) -> io::Result<()> {
        let here = reason.state;
        let Answers { from, path, rows, claims, play, fair } = answers;
        if rows.is_empty() && play.back_to.is_none() {
            let claims = self.claims(claims);
            return self.head(&if claims.is_empty() {
                format!("{claim}, for the group has nothing to choose there")
            } else {
                format!("{claim}, for {claims} there, and no choice of the group can mend it")
            });
        }
        let there = if *from == here {
            String::new()
        } else {
            let from = number(*from);
            format!(" at {from}, which looks the same and must be won together with {}", number(here))
        };
        let keeps = if fair.is_empty() { "" } else { " and keep the run fair" };
        self.head(&format!(
            "{claim}, for the others have an answer to every choice of the group{there}{keeps}"
        ))?;
        if let Some(path) = path {
            self.reached(*from, path, false)?;
        }
        let members = members(self.frame.system, reason.formula);
        let mut before: Option<&Answer> = None;
        for row in rows.iter().take(MOST_TOLD) {
            if before.is_none_or(|before| (before.state, before.stage) != (row.state, row.stage)) {
                self.place(row)?;
            }
            before = Some(row);
            self.answer(members, row)?;
        }
        self.left_out(rows.len().saturating_sub(MOST_TOLD), "")?;
        if play.states.len() > 1 || play.back_to.is_some() {
            self.say("played by a group that puts off its defeat as long as it can:")?;
            self.run(play, fair)?;
        }
        Ok(())
    }

    /// Whether a coalition's formula says that something must come.
    fn has_end(&self, formula: FormulaId) -> bool {
        let formulas = &self.frame.system.formulas;
        let Formula::Enforces(_, _, path) = formulas.get(formula) else { return false };
        matches!(formulas.get(path), Formula::Next(_) | Formula::Finally(_) | Formula::Until(..))
    }

    /// Whether something is claimed at a state.
    fn is_claimed(&self, claims: &[ReasonId], state: StateId) -> bool {
        claims.iter().any(|&id| self.frame.evidence.reason(id).state == state)
    }

    /// Where and when a choice is answered.
    fn place(&mut self, row: &Answer) -> io::Result<()> {
        let mut place = vec![(STATE, number(row.state))];
        if let Some(values) = self.unless_shown(row.state) {
            place = values;
            if let Some((_, text)) = place.first_mut() {
                *text = format!("{}  {text}", number(row.state));
            }
        }
        if row.stage.violated {
            place.push((PLAIN, "the goal is missed".to_string()));
        }
        if let Some(seeks) = row.stage.seeks {
            let constraint = self.frame.formula(self.frame.system.fairness[seeks]);
            place.push((PLAIN, format!("on the way to `{constraint}`")));
        }
        self.lines.flow(&[(PLAIN, "  at ".to_string())], "     ", &place, ", ")
    }

    /// "to Thief: left", and below it "Guard: left -> #0"
    fn answer(&mut self, members: &[AgentId], row: &Answer) -> io::Result<()> {
        let mut choice = self.actions(members, &row.actions);
        if let Some((_, text)) = choice.first_mut() {
            *text = format!("to {text}");
        }
        let others: Vec<AgentId> = self.frame.system.agent_ids().filter(|i| !members.contains(i)).collect();
        let joint: Vec<ActionId> = others.iter().map(|i| row.joint[i.index()]).collect();
        let mut answer = self.actions(&others, &joint);
        let then = row.next.map_or("no step follows".to_string(), number);
        match answer.last_mut() {
            Some((_, text)) => *text += &format!(" -> {then}"),
            None => answer.push((STATE, format!("-> {then}"))),
        }
        self.lines.flow(&[(PLAIN, "     ".to_string())], "       ", &choice, ", ")?;
        self.lines.flow(&[(PLAIN, "           ".to_string())], "             ", &answer, ", ")
    }

    /// What each of these agents does; agents without actions are left out.
    pub(crate) fn actions(&self, agents: &[AgentId], actions: &[ActionId]) -> Vec<Piece> {
        let action = |(&agent, &action): (&AgentId, &ActionId)| {
            let agent = self.frame.system.agent(agent);
            let name = &agent.actions.get(action.index())?.name;
            (!name.is_empty()).then(|| (ACTION, format!("{}: {name}", agent.name)))
        };
        agents.iter().zip(actions).filter_map(action).collect()
    }
}
