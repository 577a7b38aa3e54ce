//! The walk over a formula in negation normal form: a claim for each part.

use masque_certificate::Certificate;
use masque_certificate::format::{Claim, Ref};
use masque_model::{
    AgentId, At, ExprId, Fixpoints, Formula, FormulaId, GroupId, Paths, Property, Strategies, System,
};
use masque_verdict::{CertificateRequest, NotCertified};
use rustc_hash::FxHashMap;

use crate::part_order::part_orders;
use crate::prune::prune;
use crate::sets::ProofSets;
use crate::text::NodeTable;

pub(crate) type Proved<T> = Result<T, NotCertified>;

/// A claim, if one is needed, and the set of the part that it is about.
pub(crate) type Found<Set> = (Option<usize>, Set);

/// States of which some view must confuse each with a reachable state of another set; without views, that set must
/// have a reachable state.
pub(crate) struct Need<Set> {
    pub(crate) claimed: Set,
    pub(crate) views: Vec<Vec<AgentId>>,
    pub(crate) from: Set,
}

/// A certificate that is being written.
pub(crate) struct Writer<'w, 's, S: ProofSets<'s>> {
    pub(crate) sets: &'w mut S,
    pub(crate) system: &'s System,
    pub(crate) nodes: NodeTable,
    claims: Vec<Claim>,
    /// The domain: all reachable states, or those with a fair path.
    pub(crate) domain: S::Set,
    /// For each fairness constraint the states in which it is true; none while the constraints are evaluated.
    pub(crate) constraints: Vec<S::Set>,
    /// What states that are shown to be reachable are needed for.
    pub(crate) needs: Vec<Need<S::Set>>,
    /// The initial states, if the property is about them only.
    pub(crate) asked: Option<S::Set>,
    /// Whether the formula in question is outside all operators but connectives, so that its truth matters in the
    /// states of `asked` only.
    pub(crate) is_outermost: bool,
    /// The parts that are done: formula, sign, and whether it was outermost.
    known: FxHashMap<(FormulaId, bool, bool), Found<S::Set>>,
    fixpoints: Fixpoints,
    /// The sets of fixpoint variables.
    bound: FxHashMap<usize, S::Set>,
}

/// Makes the certificate of a verdict.
///
/// # Errors
///
/// If the property is outside what certificates cover, a limit is reached, or the verdict does not follow from the
/// sets of the engine.
pub fn prove<'s, S: ProofSets<'s>>(
    sets: &mut S,
    request: &CertificateRequest<'_>,
) -> Result<Certificate, NotCertified> {
    let CertificateRequest { property, holds, model, parameters } = *request;
    let system = sets.system();
    let reachable = sets.reachable()?;
    let mut writer = Writer {
        sets,
        system,
        nodes: NodeTable::default(),
        claims: Vec::new(),
        domain: reachable.clone(),
        constraints: Vec::new(),
        needs: Vec::new(),
        asked: None,
        is_outermost: false,
        known: FxHashMap::default(),
        fixpoints: system.formulas.fixpoints(),
        bound: FxHashMap::default(),
    };
    let fair = if system.fairness.is_empty() { None } else { Some(writer.fairness()?) };
    writer.asked = match property.at {
        At::Initial => Some(writer.sets.initial()?),
        At::Reachable => None,
    };
    writer.is_outermost = true;
    let (root, truth) = writer.truth(property.formula, holds)?;
    writer.check_verdict(&truth, property, holds)?;
    let inv = writer.sets.write(&reachable, None, &mut writer.nodes)?;
    if !holds && property.at == At::Reachable {
        writer.need(&reachable, Vec::new(), &truth);
    }
    let reached = writer.reached()?;
    let (forward, backward) = part_orders(system);
    let meaning = system.meaning;
    let options = [
        property.at.name(),
        meaning.deadlock.name(),
        meaning.overflow.name(),
        system.default_strategies.name(),
    ];
    let mut certificate = Certificate {
        model: model.to_string(),
        parameters: parameters.to_vec(),
        options: options.map(str::to_string),
        holds,
        title: one_line(&property.title),
        formula: system.formula_text(property.formula),
        order: writer.sets.places(),
        forward,
        backward,
        inv: Some(inv),
        reached,
        fair,
        root,
        claims: writer.claims,
        nodes: writer.nodes.nodes,
    };
    prune(&mut certificate);
    Ok(certificate)
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

impl<'s, S: ProofSets<'s>> Writer<'_, 's, S> {
    /// Compares the sets with the verdict.
    fn check_verdict(&mut self, truth: &S::Set, property: &Property, holds: bool) -> Proved<()> {
        let initial = self.sets.initial()?;
        let initial = self.sets.and(&initial, &self.domain.clone())?;
        let asked = if property.at == At::Initial { initial } else { self.domain.clone() };
        let is_shown = if holds {
            let outside = self.sets.minus(&asked, truth)?;
            self.sets.is_empty(&outside)
        } else {
            let found = self.sets.and(&asked, truth)?;
            !self.sets.is_empty(&found)
        };
        if is_shown { Ok(()) } else { Err(NotCertified::NotShown) }
    }

    pub(crate) fn need(&mut self, claimed: &S::Set, views: Vec<Vec<AgentId>>, from: &S::Set) {
        self.needs.push(Need { claimed: claimed.clone(), views, from: from.clone() });
    }

    /// Returns layers that show states to be reachable, as many as are needed.
    fn reached(&mut self) -> Proved<Vec<Ref>> {
        let mut needs = std::mem::take(&mut self.needs);
        let mut frontier = self.sets.initial()?;
        let mut reached = frontier.clone();
        let mut layers = Vec::new();
        needs.retain(|need| !self.sets.is_empty(&need.claimed));
        while !needs.is_empty() && !self.sets.is_empty(&frontier) {
            layers.push(self.sets.write(&frontier, None, &mut self.nodes)?);
            for need in &mut needs {
                let from = self.sets.and(&need.from, &frontier)?;
                if need.views.is_empty() && !self.sets.is_empty(&from) {
                    need.claimed = self.sets.nothing();
                }
                for view in &need.views {
                    let alike = self.sets.alike(view, &from)?;
                    need.claimed = self.sets.minus(&need.claimed, &alike)?;
                }
            }
            needs.retain(|need| !self.sets.is_empty(&need.claimed));
            let after = self.sets.after(&frontier)?;
            frontier = self.sets.minus(&after, &reached)?;
            reached = self.sets.or(&reached, &frontier)?;
        }
        Ok(layers)
    }

    /// Restricts the domain to the states with a fair path, and returns the sets that show them.
    fn fairness(&mut self) -> Proved<Claim> {
        let mut claim = Claim::default();
        let mut constraints = Vec::new();
        for &constraint in &self.system.fairness {
            let (met, set) = self.truth(constraint, true)?;
            let (unmet, _) = self.truth(constraint, false)?;
            claim.of.extend([met, unmet]);
            constraints.push(set);
        }
        self.constraints = constraints;
        let nowhere = self.sets.nothing();
        let unfair = self.stages(&mut claim, &nowhere)?;
        let all = self.domain.clone();
        let fair = self.globally(&mut claim, &all)?;
        // Both are the domain, if the engine is right.
        let inner = self.sets.minus(&all, &unfair)?;
        self.domain = self.sets.and(&fair, &inner)?;
        self.known.clear();
        Ok(claim)
    }

    /// Adds a claim.
    fn add(&mut self, claim: Claim, set: S::Set) -> Found<S::Set> {
        self.claims.push(claim);
        (Some(self.claims.len() - 1), set)
    }

    /// Computes the set of a formula, or of its negation, inside the domain, with the claim about it.
    pub(crate) fn truth(&mut self, formula: FormulaId, sign: bool) -> Proved<Found<S::Set>> {
        let key = (formula, sign, self.is_outermost);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let found = self.new_truth(formula, sign)?;
        self.is_outermost = key.2;
        if !self.fixpoints.is_open(formula) {
            self.known.insert(key, found.clone());
        }
        Ok(found)
    }

    fn new_truth(&mut self, formula: FormulaId, sign: bool) -> Proved<Found<S::Set>> {
        let system = self.system;
        let literal = |set: S::Set| (None, set);
        Ok(match system.formulas.get(formula) {
            Formula::Bool(value) if value == sign => literal(self.domain.clone()),
            Formula::Bool(_) => literal(self.sets.nothing()),
            Formula::Proposition(p) => {
                literal(self.condition(system.propositions[p.index()].condition, sign)?)
            }
            Formula::Condition(condition) => literal(self.condition(condition, sign)?),
            Formula::Green(i) | Formula::Red(i) => {
                let is_red = matches!(system.formulas.get(formula), Formula::Red(_)) == sign;
                match system.agent(i).red {
                    Some(red) => literal(self.condition(red, is_red)?),
                    None if is_red => literal(self.sets.nothing()),
                    None => literal(self.domain.clone()),
                }
            }
            Formula::Not(f) => self.truth(f, !sign)?,
            Formula::And(list) | Formula::Or(list) => {
                let is_and = matches!(system.formulas.get(formula), Formula::And(_)) == sign;
                let operands: Vec<_> = list.iter().map(|f| (*f, sign)).collect();
                self.junction(&operands, is_and)?
            }
            Formula::Implies(f, g) => self.junction(&[(f, !sign), (g, sign)], !sign)?,
            Formula::Iff(f, g) => {
                let mut found = Vec::new();
                for (operand, operand_sign) in [(f, true), (g, true), (f, false), (g, false)] {
                    found.push(self.truth(operand, operand_sign)?);
                }
                let (with, without) = if sign { (1, 3) } else { (3, 1) };
                let both = self.sets.and(&found[0].1, &found[with].1)?;
                let neither = self.sets.and(&found[2].1, &found[without].1)?;
                let set = self.sets.or(&both, &neither)?;
                self.connective(found.into_iter().map(|(claim, _)| claim).collect(), set)
            }
            _ => {
                let mut claim = Claim::default();
                let set = self.modal(&mut claim, formula, sign)?;
                self.add(claim, set)
            }
        })
    }

    fn junction(&mut self, operands: &[(FormulaId, bool)], is_and: bool) -> Proved<Found<S::Set>> {
        let mut claims = Vec::new();
        let mut set = if is_and { self.domain.clone() } else { self.sets.nothing() };
        for &(operand, sign) in operands {
            let (claim, truth) = self.truth(operand, sign)?;
            set = if is_and { self.sets.and(&set, &truth)? } else { self.sets.or(&set, &truth)? };
            claims.push(claim);
        }
        Ok(self.connective(claims, set))
    }

    /// A connective needs a claim only if some operand has one.
    fn connective(&mut self, of: Vec<Option<usize>>, set: S::Set) -> Found<S::Set> {
        if of.iter().all(Option::is_none) {
            return (None, set);
        }
        self.add(Claim { of, ..Claim::default() }, set)
    }

    fn condition(&mut self, condition: ExprId, sign: bool) -> Proved<S::Set> {
        let set = self.sets.condition(condition)?;
        let domain = self.domain.clone();
        Ok(if sign { self.sets.and(&set, &domain)? } else { self.sets.minus(&domain, &set)? })
    }

    /// Computes the set of an operand and adds its claim.
    fn operand(&mut self, claim: &mut Claim, formula: FormulaId, sign: bool) -> Proved<S::Set> {
        let (of, set) = self.truth(formula, sign)?;
        claim.of.push(of);
        Ok(set)
    }

    /// Operators other than connectives.
    fn modal(&mut self, claim: &mut Claim, formula: FormulaId, sign: bool) -> Proved<S::Set> {
        let system = self.system;
        let members = |group: GroupId| &system.groups[group.index()].agents[..];
        let is_outermost = std::mem::replace(&mut self.is_outermost, false);
        match system.formulas.get(formula) {
            Formula::Exists(Paths::Ctl, path) => {
                let operands = self.path_operands(claim, path, sign)?;
                self.path(claim, sign, operands)
            }
            Formula::Forall(Paths::Ctl, path) => {
                let operands = self.path_operands(claim, path, sign)?;
                self.path(claim, !sign, operands)
            }
            Formula::Knows(i, f) => {
                let phi = self.operand(claim, f, sign)?;
                self.knowledge(claim, &[vec![i]], &phi, None, sign)
            }
            Formula::EveryoneKnows(group, f) => {
                let phi = self.operand(claim, f, sign)?;
                let views: Vec<_> = members(group).iter().map(|i| vec![*i]).collect();
                self.knowledge(claim, &views, &phi, None, sign)
            }
            Formula::DistributedKnowledge(group, f) => {
                let phi = self.operand(claim, f, sign)?;
                self.knowledge(claim, &[members(group).to_vec()], &phi, None, sign)
            }
            Formula::KnowsUnder(i, group, f) => {
                let phi = self.operand(claim, f, sign)?;
                let green = self.green(members(group))?;
                self.knowledge(claim, &[vec![i]], &phi, Some(green), sign)
            }
            Formula::CommonKnowledge(group, f) => {
                let phi = self.operand(claim, f, sign)?;
                self.common_knowledge(claim, members(group), &phi, sign)
            }
            Formula::Correct(i, f) => {
                let phi = self.operand(claim, f, sign)?;
                let green = self.green(&[i])?;
                self.correct(claim, &phi, &green, sign)
            }
            Formula::ExistsStep(condition, f) | Formula::ForallStep(condition, f) => {
                let exists = matches!(system.formulas.get(formula), Formula::ExistsStep(..)) == sign;
                let phi = self.operand(claim, f, sign)?;
                let outside = self.outside(&phi)?;
                let before = self.sets.before_by(condition, if exists { &phi } else { &outside })?;
                let set = if exists { self.inside(&before)? } else { self.outside(&before)? };
                self.set(claim, set)
            }
            Formula::Enforces(..) if !self.constraints.is_empty() => {
                Err(NotCertified::Uncovered("coalitions with fairness"))
            }
            Formula::Enforces(group, Strategies::Perfect, path) => {
                let operands = self.path_operands(claim, path, sign)?;
                self.enforces(claim, group, operands, sign)
            }
            Formula::Enforces(group, strategies, path) if sign => {
                let asked = self.asked.clone().filter(|_| is_outermost);
                self.enforces_uniformly(claim, (group, strategies, path), asked.as_ref())
            }
            Formula::Enforces(..) => Err(NotCertified::Uncovered("claims that no uniform strategy exists")),
            Formula::Least(z, body) | Formula::Greatest(z, body) if self.fixpoints.is_sound(formula) => {
                let is_least = matches!(system.formulas.get(formula), Formula::Least(..)) == sign;
                self.fixpoint(claim, z.index(), (body, sign), is_least)
            }
            Formula::Bound(z) => {
                let set = self.bound.get(&z.index()).cloned();
                set.ok_or(NotCertified::Uncovered("formulas with free variables"))
            }
            Formula::Exists(..) | Formula::Forall(..) => {
                Err(NotCertified::Uncovered("path formulas of LTL and CTL*"))
            }
            _ => Err(NotCertified::Uncovered("formulas of this kind")),
        }
    }

    /// `mu Z`: the layers of the iteration, each with its own claims; `nu Z`: the fixpoint.
    fn fixpoint(
        &mut self,
        claim: &mut Claim,
        z: usize,
        (body, sign): (FormulaId, bool),
        is_least: bool,
    ) -> Proved<S::Set> {
        let mut set = if is_least { self.sets.nothing() } else { self.domain.clone() };
        loop {
            self.bound.insert(z, set.clone());
            let found = self.truth(body, sign);
            self.bound.remove(&z);
            let (of, next) = found?;
            let (new, gone) = (self.sets.minus(&next, &set)?, self.sets.minus(&set, &next)?);
            let is_fixed = self.sets.is_empty(if is_least { &new } else { &gone });
            if is_fixed && is_least {
                return Ok(set);
            }
            if is_least {
                claim.of.push(of);
                let layer = self.write(&new)?;
                claim.layers.push(layer);
                set = self.sets.or(&set, &new)?;
            } else if is_fixed {
                claim.of.push(of);
                return self.set(claim, set);
            } else {
                set = next;
            }
        }
    }
}
