//! Confirms that states which agents cannot distinguish, or which norms admit, refute knowledge.

use masque_model::semantics::is_green;
use masque_verdict::claims::{KnowledgeScope, looks_same};
use masque_verdict::{Chain, EvidencePath, Literal, Possibility, StateId};

use crate::fault::{Fault, ReplayError, Trusted};
use crate::reason::Case;
use crate::replay::Replayer;

/// Whether a finite path leads to `there`. No path is needed if that is the state `here` of the claim.
pub(crate) fn leads_to(path: Option<&EvidencePath>, here: StateId, there: StateId) -> bool {
    match path {
        None => there == here,
        Some(path) => path.back_to.is_none() && path.last() == Some(there),
    }
}

impl Replayer<'_> {
    /// For knowledge and norms: the operand must be false at one of the states that the formula is about.
    pub(crate) fn possible(
        &self,
        case: Case<'_>,
        possibility: &Possibility,
        trusted: &mut Trusted,
    ) -> Result<Option<Fault>, ReplayError> {
        let scope = KnowledgeScope::of(self.system, case.reason.formula).filter(|_| !case.reason.holds);
        let Some((KnowledgeScope::Views { views, green }, operand)) = scope else {
            return Ok(Some(Fault::Kind));
        };
        if let Some(path) = &possibility.path {
            self.run(case.evidence, path, true)?;
        }
        if !views.contains(&possibility.view) || green != possibility.green {
            return Ok(Some(Fault::Kind));
        }
        let operand = Literal { formula: operand, holds: false };
        Ok(self.is_possible(case, possibility, operand, trusted))
    }

    /// Checks that a state is possible at the state of the claim, and that the operand is false there.
    fn is_possible(
        &self,
        case: Case<'_>,
        possibility: &Possibility,
        operand: Literal,
        trusted: &mut Trusted,
    ) -> Option<Fault> {
        let Possibility { view, green, state, path, reason: why } = possibility;
        let (here, there) = (case.state(), case.evidence.state(*state));
        if !leads_to(path.as_ref(), case.reason.state, *state) {
            return Some(Fault::Ends);
        }
        if !view.iter().all(|&agent| looks_same(self.system, agent, here, there)) {
            return Some(Fault::Seen);
        }
        if !green.iter().all(|&agent| is_green(self.system, agent, there)) {
            return Some(Fault::Red);
        }
        if case.evidence.claim(*why) != (operand, *state) {
            return Some(Fault::Claims);
        }
        self.trust_fair_run(*state, trusted);
        None
    }

    /// For common knowledge: a chain must lead from the claim's state to one where the operand is
    /// false, each link by a member of the group that cannot distinguish the two states.
    pub(crate) fn chain(
        &self,
        case: Case<'_>,
        chain: &Chain,
        trusted: &mut Trusted,
    ) -> Result<Option<Fault>, ReplayError> {
        let scope = KnowledgeScope::of(self.system, case.reason.formula).filter(|_| !case.reason.holds);
        let Some((KnowledgeScope::Chain(group), operand)) = scope else { return Ok(Some(Fault::Kind)) };
        for link in &chain.links {
            self.run(case.evidence, &link.path, true)?;
        }
        let members = &self.system.groups[group.index()].agents;
        let mut at = case.reason.state;
        for link in &chain.links {
            if !leads_to(Some(&link.path), at, link.state) {
                return Ok(Some(Fault::Ends));
            }
            let (here, there) = (case.evidence.state(at), case.evidence.state(link.state));
            if !members.contains(&link.agent) || !looks_same(self.system, link.agent, here, there) {
                return Ok(Some(Fault::Seen));
            }
            at = link.state;
            self.trust_fair_run(at, trusted);
        }
        let operand = Literal { formula: operand, holds: false };
        Ok((case.evidence.claim(chain.reason) != (operand, at)).then_some(Fault::Claims))
    }
}
