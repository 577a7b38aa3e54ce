//! The sets of one operator, largest fixpoints and smallest ones with their layers. Each function adds to a claim
//! what its row in `docs/certificates.md` asks for, and returns `W`.

use masque_certificate::format::{Claim, Ref};
use masque_model::{AgentId, Formula, FormulaId, GroupId};
use masque_verdict::NotCertified;

use crate::sets::ProofSets;
use crate::write::{Proved, Writer};

/// An operator after negations have been moved inwards, with the sets of its operands.
pub(crate) struct Operands<Set> {
    operator: Operator,
    phi: Set,
    psi: Set,
}

/// The states from which a goal is met, and how a claim or a piece names them.
pub(crate) struct Won<Set> {
    pub(crate) states: Set,
    /// The set, unless it is a union of layers.
    pub(crate) set: Option<Ref>,
    pub(crate) layers: Vec<Ref>,
}

enum Operator {
    Next,
    Until,
    Globally,
    WeakUntil,
    Release,
}

impl<'s, S: ProofSets<'s>> Writer<'_, 's, S> {
    /// Writes a set; what it has outside the domain does not matter.
    pub(crate) fn write(&mut self, set: &S::Set) -> Proved<Ref> {
        let domain = self.domain.clone();
        Ok(self.sets.write(set, Some(&domain), &mut self.nodes)?)
    }

    /// Makes a set the set of a claim.
    pub(crate) fn set(&mut self, claim: &mut Claim, set: S::Set) -> Proved<S::Set> {
        claim.set = Some(self.write(&set)?);
        Ok(set)
    }

    pub(crate) fn inside(&mut self, set: &S::Set) -> Proved<S::Set> {
        let domain = self.domain.clone();
        Ok(self.sets.and(set, &domain)?)
    }

    pub(crate) fn outside(&mut self, set: &S::Set) -> Proved<S::Set> {
        let domain = self.domain.clone();
        Ok(self.sets.minus(&domain, set)?)
    }

    fn ex(&mut self, set: &S::Set) -> Proved<S::Set> {
        let before = self.sets.before(set)?;
        self.inside(&before)
    }

    fn ax(&mut self, set: &S::Set) -> Proved<S::Set> {
        let outside = self.outside(set)?;
        if self.sets.is_empty(&outside) {
            return Ok(self.domain.clone());
        }
        let before = self.sets.before(&outside)?;
        self.outside(&before)
    }

    /// `now ∪ (through ∩ next)`
    fn step(&mut self, now: &S::Set, through: &S::Set, next: &S::Set) -> Proved<S::Set> {
        let then = self.sets.and(through, next)?;
        Ok(self.sets.or(now, &then)?)
    }

    /// Iterates a function downwards from a set.
    fn greatest(
        &mut self,
        mut set: S::Set,
        mut next: impl FnMut(&mut Self, &S::Set) -> Proved<S::Set>,
    ) -> Proved<S::Set> {
        loop {
            let smaller = next(self, &set)?;
            let gone = self.sets.minus(&set, &smaller)?;
            if self.sets.is_empty(&gone) {
                return Ok(set);
            }
            set = self.sets.and(&set, &smaller)?;
        }
    }

    /// Iterates a function upwards from the empty set, and writes what each step adds. The function gets all
    /// states found so far, and the newest.
    fn layers(
        &mut self,
        layers: &mut Vec<Ref>,
        mut next: impl FnMut(&mut Self, &S::Set, &S::Set) -> Proved<S::Set>,
    ) -> Proved<S::Set> {
        let (mut all, mut new) = (self.sets.nothing(), self.sets.nothing());
        loop {
            let larger = next(self, &all, &new)?;
            new = self.sets.minus(&larger, &all)?;
            if self.sets.is_empty(&new) {
                return Ok(all);
            }
            // Earlier states may be in a layer again.
            let outside = self.outside(&all)?;
            layers.push(self.sets.write(&new, Some(&outside), &mut self.nodes)?);
            all = self.sets.or(&all, &new)?;
        }
    }

    /// Adds the claims about the operands of a path formula, and moves negations inwards.
    pub(crate) fn path_operands(
        &mut self,
        claim: &mut Claim,
        path: FormulaId,
        sign: bool,
    ) -> Proved<Operands<S::Set>> {
        let (phi, psi) = self.path_sets(claim, path, sign)?;
        self.operands(path, sign, phi, psi)
    }

    /// Adds the claims about the operands of a path formula, and returns their sets; the same one twice if there is
    /// one operand.
    pub(crate) fn path_sets(
        &mut self,
        claim: &mut Claim,
        path: FormulaId,
        sign: bool,
    ) -> Proved<(S::Set, S::Set)> {
        let (f, g) = match self.system.formulas.get(path) {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => (f, None),
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => (f, Some(g)),
            _ => return Err(NotCertified::Uncovered("path formulas of LTL and CTL*")),
        };
        let (of, phi) = self.truth(f, sign)?;
        claim.of.push(of);
        let psi = match g {
            Some(g) => {
                let (of, psi) = self.truth(g, sign)?;
                claim.of.push(of);
                psi
            }
            None => phi.clone(),
        };
        Ok((phi, psi))
    }

    /// Moves the negation of a path formula inwards, given the sets of its operands.
    pub(crate) fn operands(
        &mut self,
        path: FormulaId,
        sign: bool,
        phi: S::Set,
        psi: S::Set,
    ) -> Proved<Operands<S::Set>> {
        let (operator, phi, psi) = match (self.system.formulas.get(path), sign) {
            (Formula::Next(_), _) => (Operator::Next, phi, psi),
            (Formula::Finally(_), true) | (Formula::Globally(_), false) => {
                (Operator::Until, self.domain.clone(), phi)
            }
            (Formula::Globally(_), true) | (Formula::Finally(_), false) => (Operator::Globally, phi, psi),
            (Formula::Until(..), true) | (Formula::Release(..), false) => (Operator::Until, phi, psi),
            (Formula::Release(..), true) | (Formula::Until(..), false) => (Operator::Release, phi, psi),
            (_, true) => (Operator::WeakUntil, phi, psi),
            (_, false) => {
                let both = self.sets.and(&phi, &psi)?;
                (Operator::Until, psi, both)
            }
        };
        Ok(Operands { operator, phi, psi })
    }

    /// The operators of CTL; `exists`: whether the quantifier is `E`.
    pub(crate) fn path(
        &mut self,
        claim: &mut Claim,
        exists: bool,
        operands: Operands<S::Set>,
    ) -> Proved<S::Set> {
        let Operands { operator, phi, psi } = operands;
        match (exists, operator) {
            (true, Operator::Next) => {
                let set = self.ex(&phi)?;
                self.set(claim, set)
            }
            (false, Operator::Next) => {
                let set = self.ax(&phi)?;
                self.set(claim, set)
            }
            (true, Operator::Until) => self.exists_until(claim, &phi, &psi),
            (true, Operator::Globally) => self.globally(claim, &phi),
            (true, Operator::WeakUntil) => {
                let until = self.exists_until(claim, &phi, &psi)?;
                let always = self.globally(claim, &phi)?;
                Ok(self.sets.or(&until, &always)?)
            }
            (true, Operator::Release) => {
                let both = self.sets.and(&phi, &psi)?;
                let until = self.exists_until(claim, &psi, &both)?;
                let always = self.globally(claim, &psi)?;
                Ok(self.sets.or(&until, &always)?)
            }
            (false, Operator::Until) if self.constraints.is_empty() => {
                let mut layers = Vec::new();
                let set = self.layers(&mut layers, |w, all, _| {
                    let ax = w.ax(all)?;
                    w.step(&psi, &phi, &ax)
                });
                claim.layers = layers;
                set
            }
            (false, Operator::Until) => {
                let weak = self.weak_until(claim, &phi, &psi)?;
                let met = self.stages(claim, &psi)?;
                Ok(self.sets.and(&weak, &met)?)
            }
            (false, Operator::Globally) => {
                let nowhere = self.sets.nothing();
                self.weak_until(claim, &phi, &nowhere)
            }
            (false, Operator::WeakUntil) => self.weak_until(claim, &phi, &psi),
            (false, Operator::Release) => {
                let set = self.greatest(psi.clone(), |w, z| {
                    let ax = w.ax(z)?;
                    let either = w.sets.or(&phi, &ax)?;
                    Ok(w.sets.and(&psi, &either)?)
                })?;
                self.set(claim, set)
            }
        }
    }

    fn exists_until(&mut self, claim: &mut Claim, phi: &S::Set, psi: &S::Set) -> Proved<S::Set> {
        let mut layers = Vec::new();
        let set = self.until(&mut layers, phi, psi);
        claim.layers = layers;
        set
    }

    /// `E(f U g)`, where only the newest states are expanded.
    fn until(&mut self, layers: &mut Vec<Ref>, phi: &S::Set, psi: &S::Set) -> Proved<S::Set> {
        self.layers(layers, |w, all, new| {
            if w.sets.is_empty(all) {
                return Ok(psi.clone());
            }
            let ex = w.ex(new)?;
            Ok(w.sets.and(phi, &ex)?)
        })
    }

    /// `EG f`, on fair paths if there are constraints.
    pub(crate) fn globally(&mut self, claim: &mut Claim, phi: &S::Set) -> Proved<S::Set> {
        let constraints = self.constraints.clone();
        let set = self.greatest(phi.clone(), |w, z| {
            if constraints.is_empty() {
                let ex = w.ex(z)?;
                return Ok(w.sets.and(phi, &ex)?);
            }
            let mut next = z.clone();
            for c in &constraints {
                let goal = w.sets.and(&next, c)?;
                let leading = w.without_layers(|w, layers| w.until(layers, phi, &goal))?;
                let ex = w.ex(&leading)?;
                next = w.sets.and(&next, &ex)?;
            }
            Ok(next)
        })?;
        for c in &constraints {
            let goal = self.sets.and(&set, c)?;
            let mut layers = Vec::new();
            self.until(&mut layers, phi, &goal)?;
            claim.recur.push(layers);
        }
        self.set(claim, set)
    }

    /// Computes something whose layers are not part of the certificate.
    fn without_layers<T>(
        &mut self,
        compute: impl FnOnce(&mut Self, &mut Vec<Ref>) -> Proved<T>,
    ) -> Proved<T> {
        let nodes = std::mem::take(&mut self.nodes);
        let result = compute(self, &mut Vec::new());
        self.nodes = nodes;
        result
    }

    fn weak_until(&mut self, claim: &mut Claim, phi: &S::Set, psi: &S::Set) -> Proved<S::Set> {
        let from = self.sets.or(phi, psi)?;
        let set = self.greatest(from, |w, z| {
            let ax = w.ax(z)?;
            w.step(psi, phi, &ax)
        })?;
        self.set(claim, set)
    }

    /// The states from which every fair path meets a set, with the stages that show it.
    pub(crate) fn stages(&mut self, claim: &mut Claim, psi: &S::Set) -> Proved<S::Set> {
        let mut met = psi.clone();
        let mut n_unchanged = 0;
        for constraint in (0..self.constraints.len()).cycle() {
            let unmet = self.outside(&self.constraints[constraint].clone())?;
            let from = self.sets.or(&met, &unmet)?;
            let p = self.greatest(from, |w, z| {
                let ax = w.ax(z)?;
                w.step(&met, &unmet, &ax)
            })?;
            let ax = self.ax(&p)?;
            let new = self.sets.minus(&ax, &met)?;
            n_unchanged = if self.sets.is_empty(&new) { n_unchanged + 1 } else { 0 };
            if n_unchanged == self.constraints.len() {
                break;
            }
            if n_unchanged == 0 {
                met = self.sets.or(&met, &ax)?;
                let stage = (constraint, self.write(&p)?, self.write(&met)?);
                claim.stages.push(stage);
            }
        }
        Ok(met)
    }

    /// `K`, `GK`, `DK` and `KH`, given the set of the operand, and the states that are green for all of the group.
    pub(crate) fn knowledge(
        &mut self,
        claim: &mut Claim,
        views: &[Vec<AgentId>],
        phi: &S::Set,
        green: Option<S::Set>,
        sign: bool,
    ) -> Proved<S::Set> {
        let mut doubts = if sign { self.outside(phi)? } else { phi.clone() };
        if let Some(green) = green {
            doubts = self.sets.and(&doubts, &green)?;
        }
        let mut confused = self.sets.nothing();
        for view in views {
            let alike = self.sets.alike(view, &doubts)?;
            confused = self.sets.or(&confused, &alike)?;
        }
        if sign {
            let set = self.outside(&confused)?;
            return self.set(claim, set);
        }
        let set = self.inside(&confused)?;
        self.need(&set, views.to_vec(), &doubts);
        self.set(claim, set)
    }

    pub(crate) fn common_knowledge(
        &mut self,
        claim: &mut Claim,
        group: &[AgentId],
        phi: &S::Set,
        sign: bool,
    ) -> Proved<S::Set> {
        let doubts = if sign { self.outside(phi)? } else { phi.clone() };
        let views: Vec<_> = group.iter().map(|member| vec![*member]).collect();
        let spread = |w: &mut Self, layers: &mut Vec<Ref>| {
            w.layers(layers, |w, all, new| {
                let from = if w.sets.is_empty(all) { doubts.clone() } else { new.clone() };
                let mut confused = w.sets.nothing();
                for view in &views {
                    let alike = w.sets.alike(view, &from)?;
                    confused = w.sets.or(&confused, &alike)?;
                }
                let next = w.inside(&confused)?;
                if !sign {
                    let layer = w.sets.minus(&next, all)?;
                    w.need(&layer, views.clone(), &from);
                }
                Ok(next)
            })
        };
        if sign {
            let confused = self.without_layers(spread)?;
            let set = self.outside(&confused)?;
            return self.set(claim, set);
        }
        let mut layers = Vec::new();
        let set = spread(self, &mut layers);
        claim.layers = layers;
        set
    }

    /// `O`: everywhere or nowhere.
    pub(crate) fn correct(
        &mut self,
        claim: &mut Claim,
        phi: &S::Set,
        green: &S::Set,
        sign: bool,
    ) -> Proved<S::Set> {
        let violated = if sign { self.sets.minus(green, phi)? } else { self.sets.and(green, phi)? };
        let is_true = self.sets.is_empty(&violated) == sign;
        let set = if is_true { self.domain.clone() } else { self.sets.nothing() };
        if !sign {
            self.need(&set, Vec::new(), &violated);
        }
        self.set(claim, set)
    }

    /// The states of the domain that are green for all of some agents.
    pub(crate) fn green(&mut self, agents: &[AgentId]) -> Proved<S::Set> {
        let mut green = self.domain.clone();
        for agent in agents {
            if let Some(red) = self.system.agent(*agent).red {
                let red = self.sets.condition(red)?;
                green = self.sets.minus(&green, &red)?;
            }
        }
        Ok(green)
    }

    /// `<g>` with perfect information, without fairness.
    pub(crate) fn enforces(
        &mut self,
        claim: &mut Claim,
        group: GroupId,
        operands: Operands<S::Set>,
        sign: bool,
    ) -> Proved<S::Set> {
        self.wins(claim, operands, |w, z| {
            if sign {
                let forced = w.sets.forced(group, None, z)?;
                return w.inside(&forced);
            }
            let outside = w.outside(z)?;
            let forced = w.sets.forced(group, None, &outside)?;
            w.outside(&forced)
        })
    }

    /// The states from which a goal is met, given what is met in one step.
    fn wins(
        &mut self,
        claim: &mut Claim,
        operands: Operands<S::Set>,
        pre: impl FnMut(&mut Self, &S::Set) -> Proved<S::Set>,
    ) -> Proved<S::Set> {
        let won = self.winning(&operands, pre)?;
        (claim.set, claim.layers) = (won.set, won.layers);
        Ok(won.states)
    }

    /// As [`wins`](Self::wins); returns what a claim or a piece needs.
    pub(crate) fn winning(
        &mut self,
        operands: &Operands<S::Set>,
        mut pre: impl FnMut(&mut Self, &S::Set) -> Proved<S::Set>,
    ) -> Proved<Won<S::Set>> {
        let Operands { operator, phi, psi } = operands;
        let states = match operator {
            Operator::Until => {
                let mut layers = Vec::new();
                let states = self.layers(&mut layers, |w, all, _| {
                    let pre = pre(w, all)?;
                    w.step(psi, phi, &pre)
                })?;
                return Ok(Won { states, set: None, layers });
            }
            Operator::Next => pre(self, phi)?,
            Operator::Globally => self.greatest(phi.clone(), |w, z| {
                let pre = pre(w, z)?;
                Ok(w.sets.and(phi, &pre)?)
            })?,
            Operator::WeakUntil => {
                let from = self.sets.or(phi, psi)?;
                self.greatest(from, |w, z| {
                    let pre = pre(w, z)?;
                    w.step(psi, phi, &pre)
                })?
            }
            Operator::Release => self.greatest(psi.clone(), |w, z| {
                let pre = pre(w, z)?;
                let either = w.sets.or(phi, &pre)?;
                Ok(w.sets.and(psi, &either)?)
            })?,
        };
        Ok(Won { set: Some(self.write(&states)?), states, layers: Vec::new() })
    }
}
