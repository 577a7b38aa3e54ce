//! Uniform strategies: pieces, each with a strategy, the states from which it wins, and the states that it is for.

use masque_certificate::format::{Claim, Piece};
use masque_model::{AgentId, FormulaId, GroupId, Strategies};

use crate::sets::{Choice, ProofSets, UniformGoal};
use crate::write::{Proved, Writer};

impl<'s, S: ProofSets<'s>> Writer<'_, 's, S> {
    /// `<g, uniform ..>`, without fairness. The set is the union of the parts of the pieces. If `asked` is given,
    /// states outside it may be missing.
    pub(crate) fn enforces_uniformly(
        &mut self,
        claim: &mut Claim,
        (group, strategies, path): (GroupId, Strategies, FormulaId),
        asked: Option<&S::Set>,
    ) -> Proved<S::Set> {
        let members = &self.system.groups[group.index()].agents[..];
        let (phi, psi) = self.path_sets(claim, path, true)?;
        let goal = UniformGoal { group, strategies, path, phi: &phi, psi: &psi, asked };
        let found = self.sets.uniform(&goal)?;
        let operands = self.operands(path, true, phi, psi)?;
        let mut set = self.sets.nothing();
        for strategy in found {
            let won = self.winning(&operands, |w, z| {
                let forced = w.sets.forced(group, Some(&strategy), z)?;
                w.inside(&forced)
            })?;
            let part = self.won_together(members, strategies, &won.states)?;
            let new = self.sets.minus(&part, &set)?;
            if self.sets.is_empty(&new) {
                continue;
            }
            set = self.sets.or(&set, &part)?;
            let mut piece = Piece { set: won.set, layers: won.layers, ..Piece::default() };
            for Choice { member, action, states } in &strategy {
                if !self.sets.is_empty(states) {
                    let states = self.sets.write_view(members[*member], states, &mut self.nodes)?;
                    piece.choices.push((*member, *action, states));
                }
            }
            piece.part = Some(self.write(&part)?);
            claim.pieces.push(piece);
        }
        Ok(set)
    }

    /// The states for which all states that must be won together with them are in a set.
    fn won_together(&mut self, members: &[AgentId], strategies: Strategies, won: &S::Set) -> Proved<S::Set> {
        let lost = self.outside(won)?;
        let alike = match strategies {
            Strategies::Uniform => {
                let mut alike = self.sets.nothing();
                for member in members {
                    let confused = self.sets.alike(&[*member], &lost)?;
                    alike = self.sets.or(&alike, &confused)?;
                }
                alike
            }
            Strategies::UniformJoint => self.sets.alike(members, &lost)?,
            Strategies::UniformObjective | Strategies::Perfect => lost,
        };
        self.outside(&alike)
    }
}
