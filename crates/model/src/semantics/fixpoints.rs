//! The mu-calculus over interpreted systems: fixpoints, and steps with conditions on actions.

use super::is_true;
use super::step::{joint_actions, step};
use super::truth::{States, Truths};
use crate::{ExprId, FixpointId, FormulaId};

impl Truths<'_> {
    /// `μZ. φ`, `νZ. φ`: the least and the greatest fixpoint. [Kozen83 §2]
    ///
    /// ```text
    /// ⟦μZ. φ⟧ = ⋂ {S ⊆ D | ⟦φ⟧[Z := S] ⊆ S}     ⟦νZ. φ⟧ = ⋃ {S ⊆ D | S ⊆ ⟦φ⟧[Z := S]}
    /// ```
    ///
    /// `φ` is monotone in `Z`, which occurs under an even number of negations; so iterating
    /// `S ↦ ⟦φ⟧[Z := S]` from the empty set, or from `D`, reaches the fixpoint. [CGP99 §6.1]
    pub(super) fn fixpoint(&mut self, z: FixpointId, body: FormulaId, is_least: bool) -> Option<States> {
        let mut set = if is_least { self.nowhere() } else { self.domain.clone() };
        loop {
            self.bound[z.index()] = Some(set.clone());
            let next = self.of(body);
            self.bound[z.index()] = None;
            match next? {
                next if next == set => return Some(set),
                next => set = next,
            }
        }
    }

    /// `EX{c} φ`: some step with `c` leads to `φ`. [Kozen83 §2, with conditions on steps for labels]
    ///
    /// ```text
    /// g ⊨ EX{c} φ   iff   g —α→ g', (g, α) ⊨ c and g' ⊨ φ for some joint action α and g' ∈ D
    /// AX{c} φ = ¬EX{c} ¬φ
    /// ```
    ///
    /// The loop that [`Deadlock::Stutter`] adds to a dead end is not a joint action: `EX{c}` is false
    /// there and `AX{c}` true, for every `c`.
    ///
    /// [`Deadlock::Stutter`]: crate::Deadlock::Stutter
    pub(super) fn exists_step(&self, condition: ExprId, phi: &States) -> States {
        let leads = |g: &super::State| {
            joint_actions(self.system, g).into_iter().any(|joint| {
                is_true(self.system, condition, g, &joint)
                    && step(self.system, g, &joint)
                        .successors
                        .iter()
                        .any(|next| self.structure.index_of(next).is_some_and(|next| phi[next]))
            })
        };
        self.where_true(leads)
    }
}
