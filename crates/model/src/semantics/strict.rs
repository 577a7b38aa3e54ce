//! Strict readings by their definition: the reference for [`System::add_strict_readings`].
//!
//! A subformula is read strictly under an even number of negations, and leniently under an odd number.
//! Read strictly, an operator also requires, so that it is not vacuously true:
//!
//! ```text
//! O(i, φ)   KH(i, Γ, φ)    some relevant state is green
//! AX φ                     there is a step
//! AF φ      A(φ U ψ)       φ, or ψ, becomes true on every path, also on one that ends
//! A φ  (LTL, CTL*)         some infinite path starts
//! <Γ> goal  (fairness)     Γ can win so that a fair path that meets the goal always remains
//! ```
//!
//! Read leniently, it is the dual of the strict reading of its dual.
//!
//! [`System::add_strict_readings`]: crate::System::add_strict_readings

use super::truth::{States, Truths, and, or};
use super::{Structure, is_green};
use crate::{Deadlock, Formula, FormulaId, Paths, System, Vacuity};

/// Computes the states in which a formula is true if it is read strictly for some reasons. Returns `None`
/// where a verdict would be unsupported, for fixpoints, and for path formulas whose subformulas have
/// different readings.
pub fn strict_truth_set(
    structure: &Structure,
    system: &System,
    formula: FormulaId,
    reasons: &[Vacuity],
) -> Option<Vec<bool>> {
    let truths = Truths::new(structure, system)?;
    Strict { truths, reasons }.of(formula, true)
}

struct Strict<'a, 'r> {
    truths: Truths<'a>,
    reasons: &'r [Vacuity],
}

impl Strict<'_, '_> {
    fn reads(&self, vacuity: Vacuity) -> bool {
        self.reasons.contains(&vacuity)
    }

    /// Computes the states in which a formula is true, read strictly or leniently.
    fn of(&mut self, id: FormulaId, strictly: bool) -> Option<States> {
        let system = self.truths.system;
        Some(match system.formulas.get(id) {
            Formula::Not(f) => self.not(f, strictly)?,
            Formula::And(list) => {
                let sets = list.iter().map(|&f| self.of(f, strictly)).collect::<Option<Vec<_>>>()?;
                sets.iter().fold(self.truths.domain.clone(), |all, phi| and(&all, phi))
            }
            Formula::Or(list) => {
                let sets = list.iter().map(|&f| self.of(f, strictly)).collect::<Option<Vec<_>>>()?;
                sets.iter().fold(self.truths.nowhere(), |some, phi| or(&some, phi))
            }
            Formula::Implies(f, g) => or(&self.not(f, strictly)?, &self.of(g, strictly)?),
            Formula::Iff(f, g) => {
                let [f_true, g_true] = [self.of(f, true)?, self.of(g, true)?];
                let [f_false, g_false] = [self.not(f, true)?, self.not(g, true)?];
                if strictly {
                    or(&and(&f_true, &g_true), &and(&f_false, &g_false))
                } else {
                    self.truths.not(&or(&and(&f_true, &g_false), &and(&f_false, &g_true)))
                }
            }
            Formula::Forall(Paths::Ctl, path) => self.forall(path, strictly)?,
            Formula::Exists(Paths::Ctl, path) => self.exists(path, strictly)?,
            Formula::Forall(Paths::Infinite, path) => {
                self.require_unchanged(path)?;
                let phi = self.truths.of(id)?;
                if strictly && self.reads_ends() { and(&phi, &self.starts_infinite_path()) } else { phi }
            }
            Formula::Exists(Paths::Infinite, path) => {
                self.require_unchanged(path)?;
                let phi = self.truths.of(id)?;
                let ends = self.truths.not(&self.starts_infinite_path());
                if !strictly && self.reads_ends() { or(&phi, &ends) } else { phi }
            }
            Formula::Knows(i, f) => {
                let phi = self.of(f, strictly)?;
                self.truths.knows(i, &phi)
            }
            Formula::EveryoneKnows(group, f) => {
                let phi = self.of(f, strictly)?;
                self.truths.everyone_knows(group, &phi)
            }
            Formula::DistributedKnowledge(group, f) => {
                let phi = self.of(f, strictly)?;
                self.truths.distributed_knowledge(group, &phi)
            }
            Formula::CommonKnowledge(group, f) => {
                let phi = self.of(f, strictly)?;
                self.truths.common_knowledge(group, &phi)
            }
            Formula::Correct(i, f) => {
                let phi = self.of(f, strictly)?;
                let green = self.truths.where_true(|g| is_green(system, i, g));
                if strictly && self.reads(Vacuity::NothingGreen) && !green.contains(&true) {
                    self.truths.nowhere()
                } else {
                    self.truths.correct(i, &phi)
                }
            }
            Formula::KnowsUnder(i, group, f) => {
                let phi = self.of(f, strictly)?;
                let members = &system.groups[group.index()].agents;
                let green = self.truths.where_true(|g| members.iter().all(|&j| is_green(system, j, g)));
                let possible = self.truths.agreeing_on(&system.agent(i).sees, &green);
                let plain = self.truths.knows_under(i, group, &phi);
                if strictly && self.reads(Vacuity::NothingGreen) { and(&plain, &possible) } else { plain }
            }
            Formula::Enforces(group, strategies, path) => {
                let (f, g) = operands(system, path)?;
                let (phi, psi) = (self.of(f, strictly)?, self.of(g, strictly)?);
                let is_read = strictly && self.reads(Vacuity::NoFairPath) && !system.fairness.is_empty();
                let plain = self.truths.enforces_sets(group, strategies, path, &phi, &psi)?;
                if is_read {
                    and(&plain, &self.truths.enforces_honestly(group, path, &phi, &psi)?)
                } else {
                    plain
                }
            }
            Formula::ExistsStep(condition, f) => {
                let phi = self.of(f, strictly)?;
                self.truths.exists_step(condition, &phi)
            }
            Formula::ForallStep(condition, f) => {
                let phi = self.of(f, strictly)?;
                self.truths.not(&self.truths.exists_step(condition, &self.truths.not(&phi)))
            }
            Formula::Least(..) | Formula::Greatest(..) | Formula::Bound(_) => return None,
            _ => self.truths.of(id)?,
        })
    }

    /// Computes the states in which the negation of a formula is true, read strictly or leniently.
    fn not(&mut self, f: FormulaId, strictly: bool) -> Option<States> {
        let phi = self.of(f, !strictly)?;
        Some(self.truths.not(&phi))
    }

    /// Returns `None` if some subformula of a path formula may have a different reading.
    fn require_unchanged(&mut self, path: FormulaId) -> Option<()> {
        let mut open = vec![path];
        while let Some(id) = open.pop() {
            match self.truths.system.formulas.get(id) {
                Formula::Forall(..)
                | Formula::Exists(..)
                | Formula::Correct(..)
                | Formula::KnowsUnder(..)
                | Formula::Enforces(..) => return None,
                _ => self.truths.system.formulas.each_operand(id, |operand| open.push(operand)),
            }
        }
        Some(())
    }

    /// Returns whether formulas are read strictly because paths may end.
    fn reads_ends(&self) -> bool {
        let system = self.truths.system;
        self.reads(Vacuity::PathsEnd)
            && system.fairness.is_empty()
            && system.meaning.deadlock != Deadlock::Stutter
    }

    /// Computes the states at which an infinite path starts.
    fn starts_infinite_path(&self) -> States {
        self.truths.exists_globally(&self.truths.domain)
    }

    /// `AX Z`, but false where there is no step.
    fn next(&self, z: &States) -> States {
        let all = self.truths.not(&self.truths.exists_next(&self.truths.not(z)));
        and(&all, &self.truths.exists_next(&self.truths.domain))
    }

    /// `μZ. ψ ∨ (φ ∧ AX Z)`: on every path `ψ` becomes true, and `φ` is true until then.
    fn until_on_all_paths(&self, phi: &States, psi: &States) -> States {
        let mut z = self.truths.nowhere();
        loop {
            let next = or(psi, &and(phi, &self.next(&z)));
            if next == z {
                return z;
            }
            z = next;
        }
    }

    /// `A path`, where `F` and `U` must be satisfied on paths that end too.
    fn forall(&mut self, path: FormulaId, strictly: bool) -> Option<States> {
        let (f, g) = operands(self.truths.system, path)?;
        let (phi, psi) = (self.of(f, strictly)?, self.of(g, strictly)?);
        let is_read = strictly && self.reads_ends();
        Some(match self.truths.system.formulas.get(path) {
            Formula::Next(_) if is_read => self.next(&phi),
            Formula::Finally(_) if is_read => self.until_on_all_paths(&self.truths.domain, &phi),
            Formula::Until(..) if is_read => self.until_on_all_paths(&phi, &psi),
            _ => self.truths.forall_sets(path, &phi, &psi)?,
        })
    }

    /// `E path`, the dual of `A path`.
    fn exists(&mut self, path: FormulaId, strictly: bool) -> Option<States> {
        let (f, g) = operands(self.truths.system, path)?;
        let (phi, psi) = (self.of(f, strictly)?, self.of(g, strictly)?);
        let (not_phi, not_psi) = (self.truths.not(&phi), self.truths.not(&psi));
        let is_read = !strictly && self.reads_ends();
        let all = match self.truths.system.formulas.get(path) {
            Formula::Next(_) if is_read => self.next(&not_phi),
            Formula::Globally(_) if is_read => self.until_on_all_paths(&self.truths.domain, &not_phi),
            Formula::WeakUntil(..) if is_read => self.until_on_all_paths(&not_psi, &and(&not_phi, &not_psi)),
            Formula::Release(..) if is_read => self.until_on_all_paths(&not_phi, &not_psi),
            _ => return self.truths.exists_sets(path, &phi, &psi),
        };
        Some(self.truths.not(&all))
    }
}

/// Returns the operands of a temporal operator; the same twice if there is one.
fn operands(system: &System, path: FormulaId) -> Option<(FormulaId, FormulaId)> {
    match system.formulas.get(path) {
        Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => Some((f, f)),
        Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => Some((f, g)),
        _ => None,
    }
}
