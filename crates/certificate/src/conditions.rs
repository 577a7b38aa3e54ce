//! The conditions of a certificate: the table of `docs/certificates.md`, row by row.
//!
//! The certificate gives sets; what must be true of them follows from the formula alone. `truth` walks over the
//! formula in negation normal form and returns `W(f)`, a set that lies inside the set of `f`. Letters are those
//! of the table: `C` contains the domain, `N` lies inside it, `D⁻` lies inside the states with a fair path.

use masque_model::{At, Deadlock, Formula, FormulaId, Overflow, Paths, Strategies, System};
use rustc_hash::FxHashMap;

use crate::confirm::Failure;
use crate::encode::Encoded;
use crate::format::{Certificate, Claim, Ref};
use crate::kernel::Set;

type Checked<T> = Result<T, Failure>;

/// What the rows refer to: the domain of a property, or of the fairness constraints, which are evaluated over all
/// reachable states.
#[derive(Clone)]
pub(crate) struct Domain {
    /// `C`
    outer: Set,
    /// `N`
    inner: Set,
    /// `D⁻`
    fair_inner: Set,
    is_fair: bool,
}

/// A part of a formula, with the claim about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Goal {
    pub(crate) formula: FormulaId,
    /// Whether the claim is about the formula rather than its negation.
    pub(crate) sign: bool,
    pub(crate) claim: Option<usize>,
}

/// A check in progress.
pub(crate) struct Conditions<'s> {
    pub(crate) system: &'s System,
    pub(crate) certificate: &'s Certificate,
    pub(crate) encoded: Encoded<'s>,
    /// The sets of the certificate that are used outside other sets.
    sets: FxHashMap<u32, Set>,
    fixpoints: masque_model::Fixpoints,
    /// The sets of fixpoint variables, with the sign of the fixpoint.
    bound: FxHashMap<usize, (bool, Set)>,
    /// The sets of parts without free fixpoint variables, and whether they belong to the fairness constraints.
    known: FxHashMap<(Goal, bool), Set>,
    pub(crate) dead: Set,
    /// For each fairness constraint the sets in which it is true and false.
    constraints: Vec<[Set; 2]>,
}

/// The operators of CTL after negations have been moved inwards.
enum Operator {
    Next,
    Until,
    Globally,
    WeakUntil,
    Release,
}

impl<'s> Conditions<'s> {
    pub(crate) fn new(
        system: &'s System,
        certificate: &'s Certificate,
        mut encoded: Encoded<'s>,
        sets: FxHashMap<u32, Set>,
    ) -> Checked<Conditions<'s>> {
        let dead = encoded.dead()?;
        let fixpoints = system.formulas.fixpoints();
        let (bound, known, constraints) = (FxHashMap::default(), FxHashMap::default(), Vec::new());
        Ok(Conditions { system, certificate, encoded, sets, fixpoints, bound, known, dead, constraints })
    }

    /// Checks that a formula holds, or fails, where `at` says. The rows `holds`, `fails`, `error`.
    pub(crate) fn verdict(&mut self, formula: FormulaId, at: At) -> Checked<()> {
        let reachable = self.reachable()?;
        let domain = self.domain(reachable)?;
        let initial = self.encoded.initial.clone();
        let fair_initial = self.and(&initial, &domain.fair_inner)?;
        if domain.is_fair && fair_initial.is_empty() {
            return Err(Failure::refused("some initial state has a fair path (Init ∩ D⁻ ≠ ∅)"));
        }
        let holds = self.certificate.holds;
        let goal = Goal { formula, sign: holds, claim: self.certificate.root };
        let truth = self.truth(goal, &domain)?;
        match (holds, at) {
            (true, At::Initial) => {
                let asked = self.and(&initial, &domain.outer)?;
                self.inside(&asked, &truth, "holds: Init ∩ C ⊆ W(f)")
            }
            (true, At::Reachable) => self.inside(&domain.outer, &truth, "holds: C ⊆ W(f)"),
            (false, at) => {
                let asked = if at == At::Initial { fair_initial } else { domain.inner };
                match self.and(&asked, &truth)?.is_empty() {
                    true => Err(Failure::refused("fails: some required state is in W(¬f)")),
                    false => Ok(()),
                }
            }
        }
    }

    /// The rows Inv, R and error: returns `Inv` and `R`.
    fn reachable(&mut self) -> Checked<(Set, Set)> {
        let inv = self.given(self.certificate.inv.unwrap_or(Ref::ALL))?;
        let initial = self.encoded.initial.clone();
        self.inside(&initial, &inv, "Inv: Init ⊆ Inv")?;
        let after = self.encoded.post(&inv)?;
        self.inside(&after, &inv, "Inv: post(Inv) ⊆ Inv")?;
        let meaning = self.system.meaning;
        let nowhere = self.constant(false);
        if meaning.deadlock == Deadlock::Error {
            let dead = self.and(&inv, &self.dead.clone())?;
            self.inside(&dead, &nowhere, "--deadlock error: Inv has no dead end")?;
        }
        if meaning.overflow == Overflow::Error {
            let overflowing = self.encoded.overflowing()?;
            let overflowing = self.and(&inv, &overflowing)?;
            self.inside(&overflowing, &nowhere, "--overflow error: Inv has no overflowing step")?;
        }
        let mut reached = nowhere;
        for (index, layer) in self.certificate.reached.iter().enumerate() {
            let layer = self.given(*layer)?;
            let bound = if index == 0 { initial.clone() } else { self.encoded.post(&reached)? };
            self.inside(&layer, &bound, "R: first layer ⊆ Init, each further layer ⊆ post(L<)")?;
            reached = self.or(&reached, &layer)?;
        }
        Ok((inv, reached))
    }

    /// The rows D⁻ and D⁺: returns the domain of the property.
    fn domain(&mut self, (inv, reached): (Set, Set)) -> Checked<Domain> {
        let all = self.constant(true);
        let plain = Domain { outer: inv.clone(), inner: reached, fair_inner: all.clone(), is_fair: false };
        if self.system.fairness.is_empty() {
            return Ok(plain);
        }
        let certificate = self.certificate;
        let fair = certificate.fair.as_ref().ok_or(Failure::refused("the sets for fairness are missing"))?;
        for (index, &formula) in self.system.fairness.iter().enumerate() {
            let claim = |place: usize| fair.of.get(2 * index + place).copied().flatten();
            let met = self.truth(Goal { formula, sign: true, claim: claim(0) }, &plain)?;
            let unmet = self.truth(Goal { formula, sign: false, claim: claim(1) }, &plain)?;
            self.constraints.push([met, unmet]);
        }
        let fair_inner = self.globally(fair, &all, &Domain { is_fair: true, ..plain.clone() }, "D⁻")?;
        let nowhere = self.constant(false);
        let unfair = self.stages(fair, &nowhere, &plain, "D⁺")?;
        let outer = self.minus(&inv, &unfair)?;
        let inner = self.and(&plain.inner, &fair_inner)?;
        Ok(Domain { outer, inner, fair_inner, is_fair: true })
    }

    /// Returns `W(f)`.
    pub(crate) fn truth(&mut self, goal: Goal, domain: &Domain) -> Checked<Set> {
        let Goal { formula, sign, claim } = goal;
        let is_closed = !self.fixpoints.is_open(formula);
        if is_closed && let Some(known) = self.known.get(&(goal, domain.is_fair)) {
            return Ok(known.clone());
        }
        let certificate = self.certificate;
        let empty = Claim::default();
        let given = claim.map_or(&empty, |claim| &certificate.claims[claim]);
        let operand = |place: usize| given.of.get(place).copied().flatten();
        let truth = match self.system.formulas.get(formula) {
            Formula::Bool(value) => self.constant(value == sign),
            Formula::Proposition(p) => {
                let condition = self.system.propositions[p.index()].condition;
                self.literal(sign, |encoded| encoded.values.condition(condition))?
            }
            Formula::Condition(condition) => self.literal(sign, |e| e.values.condition(condition))?,
            Formula::Green(i) => self.literal(sign, |encoded| encoded.green(&[i]))?,
            Formula::Red(i) => self.literal(!sign, |encoded| encoded.green(&[i]))?,
            Formula::Not(f) => return self.truth(Goal { formula: f, sign: !sign, claim }, domain),
            Formula::And(list) | Formula::Or(list) => {
                let is_and = matches!(self.system.formulas.get(formula), Formula::And(_)) == sign;
                let mut sets = Vec::new();
                for (place, &formula) in list.iter().enumerate() {
                    sets.push(self.truth(Goal { formula, sign, claim: operand(place) }, domain)?);
                }
                self.junction(sets, is_and)?
            }
            Formula::Implies(f, g) => {
                let left = self.truth(Goal { formula: f, sign: !sign, claim: operand(0) }, domain)?;
                let right = self.truth(Goal { formula: g, sign, claim: operand(1) }, domain)?;
                self.junction(vec![left, right], !sign)?
            }
            Formula::Iff(f, g) => {
                let mut sets = Vec::new();
                for (place, (formula, sign)) in
                    [(f, true), (g, true), (f, false), (g, false)].into_iter().enumerate()
                {
                    sets.push(self.truth(Goal { formula, sign, claim: operand(place) }, domain)?);
                }
                let (with, without) = if sign { (1, 3) } else { (3, 1) };
                let both = self.and(&sets[0], &sets[with])?;
                let neither = self.and(&sets[2], &sets[without])?;
                self.or(&both, &neither)?
            }
            _ if claim.is_none() && !matches!(self.system.formulas.get(formula), Formula::Bound(_)) => {
                return Err(Failure::refused(format!("there is no claim about {}", self.text(goal))));
            }
            _ => self.modal(goal, given, domain)?,
        };
        let truth = self.and(&truth, &domain.outer)?;
        let is_connective = self.system.formulas.get(formula).is_local_operator();
        let truth = match given.set {
            // Literals and connectives need no set: without one, W is the largest set that meets the row.
            Some(set) if is_connective => {
                let set = self.cut(set, domain)?;
                self.inside(&set, &truth, &format!("literal, and, or: {}", self.text(goal)))?;
                set
            }
            _ => truth,
        };
        if is_closed {
            self.known.insert((goal, domain.is_fair), truth.clone());
        }
        Ok(truth)
    }

    /// The rows of operators other than connectives.
    fn modal(&mut self, goal: Goal, given: &Claim, domain: &Domain) -> Checked<Set> {
        let Goal { formula, sign, .. } = goal;
        let name = self.text(goal);
        let first = given.of.first().copied().flatten();
        let operand = |formula| Goal { formula, sign, claim: first };
        let groups = &self.system.groups;
        match self.system.formulas.get(formula) {
            Formula::Exists(Paths::Ctl, path) => self.path(path, sign, goal, given, domain),
            Formula::Forall(Paths::Ctl, path) => self.path(path, !sign, goal, given, domain),
            Formula::Knows(i, f) => self.knowledge(&[vec![i]], None, operand(f), given, domain, &name),
            Formula::EveryoneKnows(group, f) => {
                let members: Vec<_> = groups[group.index()].agents.iter().map(|i| vec![*i]).collect();
                self.knowledge(&members, None, operand(f), given, domain, &name)
            }
            Formula::DistributedKnowledge(group, f) => {
                let members = groups[group.index()].agents.clone();
                self.knowledge(&[members], None, operand(f), given, domain, &name)
            }
            Formula::KnowsUnder(i, group, f) => {
                let green = self.encoded.green(&groups[group.index()].agents)?;
                self.knowledge(&[vec![i]], Some(green), operand(f), given, domain, &name)
            }
            Formula::CommonKnowledge(group, f) => {
                let phi = self.truth(operand(f), domain)?;
                let members = groups[group.index()].agents.clone();
                if sign {
                    let w = self.set(given, domain, &name)?;
                    let bound = self.and(&w, &phi)?;
                    for member in members {
                        let alike = self.encoded.alike(&[member], &w)?;
                        let alike = self.and(&alike, &domain.outer)?;
                        self.inside(&alike, &bound, &format!("GCK: {name}"))?;
                    }
                    return Ok(w);
                }
                self.layers(&given.layers, domain, &format!("not GCK: {name}"), |conditions, before| {
                    let from = conditions.or(&phi, before)?;
                    let from = conditions.and(&domain.inner, &from)?;
                    conditions.alike_by_some(&members, &from)
                })
            }
            Formula::Correct(i, f) => {
                let phi = self.truth(operand(f), domain)?;
                let w = self.set(given, domain, &name)?;
                let green = self.encoded.green(&[i])?;
                let is_met = if sign {
                    let green = self.and(&green, &domain.outer)?;
                    self.minus(&green, &phi)?.is_empty()
                } else {
                    let green = self.and(&green, &domain.inner)?;
                    !self.and(&green, &phi)?.is_empty()
                };
                let bound = self.constant(is_met);
                self.inside(&w, &bound, &format!("O: {name}"))?;
                Ok(w)
            }
            Formula::ExistsStep(condition, f) | Formula::ForallStep(condition, f) => {
                let phi = self.truth(operand(f), domain)?;
                let w = self.set(given, domain, &name)?;
                let exists = matches!(self.system.formulas.get(formula), Formula::ExistsStep(..)) == sign;
                let bound = if exists {
                    let targets = self.and(&phi, &domain.fair_inner)?;
                    self.encoded.before(&targets, Some(condition))?
                } else {
                    let outside = self.minus(&domain.outer, &phi)?;
                    let violated = self.encoded.before(&outside, Some(condition))?;
                    self.not(&violated)
                };
                self.inside(&w, &bound, &format!("EX{{c}}, AX{{c}}: {name}"))?;
                Ok(w)
            }
            Formula::Enforces(group, strategies, path) if !domain.is_fair => {
                self.enforces((group, strategies, path), goal, given, domain)
            }
            Formula::Least(z, body) | Formula::Greatest(z, body) if self.fixpoints.is_sound(formula) => {
                let is_least = matches!(self.system.formulas.get(formula), Formula::Least(..)) == sign;
                self.fixpoint((z.index(), is_least), Goal { formula: body, ..goal }, given, domain, &name)
            }
            Formula::Bound(z) => match self.bound.get(&z.index()) {
                Some((of, set)) if *of == sign => Ok(set.clone()),
                _ => {
                    Err(Failure::Input("a fixpoint variable is not bound, or with another sign".to_string()))
                }
            },
            _ => Err(Failure::Input(format!("certificates do not cover {name}"))),
        }
    }

    /// The rows of CTL. `exists`: whether the quantifier is `E` after negations have been moved inwards.
    fn path(
        &mut self,
        path: FormulaId,
        exists: bool,
        goal: Goal,
        given: &Claim,
        domain: &Domain,
    ) -> Checked<Set> {
        let sign = goal.sign;
        let name = self.text(goal);
        let (operator, phi, psi) = self.path_operands(path, sign, given, domain)?;
        let row = |text: &str| format!("{text}: {name}");
        match (exists, operator) {
            (true, Operator::Next) => {
                let targets = self.and(&phi, &domain.fair_inner)?;
                let bound = self.ex(&targets)?;
                self.bounded(given, &bound, domain, &row("EX"))
            }
            (false, Operator::Next) => {
                let bound = self.ax(&phi, domain)?;
                self.bounded(given, &bound, domain, &row("AX"))
            }
            (true, Operator::Until) => self.exists_until(given, &phi, &psi, domain, &row("E(f U g)")),
            (true, Operator::Globally) => self.globally(given, &phi, domain, &row("EG")),
            (true, Operator::WeakUntil) => {
                let until = self.exists_until(given, &phi, &psi, domain, &row("E(f W g)"))?;
                let always = self.globally(given, &phi, domain, &row("E(f W g)"))?;
                self.or(&until, &always)
            }
            (true, Operator::Release) => {
                let both = self.and(&phi, &psi)?;
                let until = self.exists_until(given, &psi, &both, domain, &row("E(f R g)"))?;
                let always = self.globally(given, &psi, domain, &row("E(f R g)"))?;
                self.or(&until, &always)
            }
            (false, Operator::Until) if domain.is_fair => {
                let weak = self.weak_until(given, &phi, &psi, domain, &row("A(f U g)"))?;
                let met = self.stages(given, &psi, domain, &row("A(f U g)"))?;
                self.and(&weak, &met)
            }
            (false, Operator::Until) => {
                self.layers(&given.layers, domain, &row("A(f U g)"), |conditions, before| {
                    let ax = conditions.ax(before, domain)?;
                    conditions.step(&psi, &phi, &ax)
                })
            }
            (false, Operator::Globally) => {
                let none = self.constant(false);
                self.weak_until(given, &phi, &none, domain, &row("A(f W g)"))
            }
            (false, Operator::WeakUntil) => self.weak_until(given, &phi, &psi, domain, &row("A(f W g)")),
            (false, Operator::Release) => {
                let w = self.set(given, domain, &name)?;
                let ax = self.ax(&w, domain)?;
                let either = self.or(&phi, &ax)?;
                let bound = self.and(&psi, &either)?;
                self.inside(&w, &bound, &row("A(f R g)"))?;
                Ok(w)
            }
        }
    }

    /// Returns the operator of a path formula after negations have been moved inwards, and its operands; the same
    /// twice if there is one. `F f = true U f`.
    fn path_operands(
        &mut self,
        path: FormulaId,
        sign: bool,
        given: &Claim,
        domain: &Domain,
    ) -> Checked<(Operator, Set, Set)> {
        let (f, g) = match self.system.formulas.get(path) {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => (f, None),
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => (f, Some(g)),
            _ => return Err(Failure::Input("certificates do not cover this path formula".to_string())),
        };
        let claim = |place: usize| given.of.get(place).copied().flatten();
        let phi = self.truth(Goal { formula: f, sign, claim: claim(0) }, domain)?;
        let psi = match g {
            Some(g) => self.truth(Goal { formula: g, sign, claim: claim(1) }, domain)?,
            None => phi.clone(),
        };
        let all = self.constant(true);
        Ok(match (self.system.formulas.get(path), sign) {
            (Formula::Next(_), _) => (Operator::Next, phi, psi),
            (Formula::Finally(_), true) | (Formula::Globally(_), false) => (Operator::Until, all, phi),
            (Formula::Globally(_), true) | (Formula::Finally(_), false) => (Operator::Globally, phi, psi),
            (Formula::Until(..), true) | (Formula::Release(..), false) => (Operator::Until, phi, psi),
            (Formula::Release(..), true) | (Formula::Until(..), false) => (Operator::Release, phi, psi),
            (_, true) => (Operator::WeakUntil, phi, psi),
            // ¬(f W g) = ¬g U (¬f ∧ ¬g)
            (_, false) => {
                let both = self.and(&phi, &psi)?;
                (Operator::Until, psi, both)
            }
        })
    }

    /// `E(f U g)`: layers `L ⊆ (W(g) ∩ D⁻) ∪ (W(f) ∩ ex(L<))`.
    fn exists_until(
        &mut self,
        given: &Claim,
        phi: &Set,
        psi: &Set,
        domain: &Domain,
        row: &str,
    ) -> Checked<Set> {
        let psi = self.and(psi, &domain.fair_inner)?;
        self.layers(&given.layers, domain, row, |conditions, before| {
            let ex = conditions.ex(before)?;
            conditions.step(&psi, phi, &ex)
        })
    }

    /// `EG f`: `W ⊆ W(f) ∩ ex(W)`; with fairness, for each constraint layers
    /// `M ⊆ W(f) ∩ ((W ∩ W°(c)) ∪ ex(M<))`, and `W ⊆ W(f) ∩ ex(M)`.
    fn globally(&mut self, given: &Claim, phi: &Set, domain: &Domain, row: &str) -> Checked<Set> {
        let w = self.set(given, domain, row)?;
        if !domain.is_fair {
            let ex = self.ex(&w)?;
            let bound = self.and(phi, &ex)?;
            self.inside(&w, &bound, row)?;
            return Ok(w);
        }
        for (index, [met, _]) in self.constraints.clone().into_iter().enumerate() {
            let now = self.and(&w, &met)?;
            let layers = given.recur.get(index).map_or(&[][..], |layers| layers);
            let leading = self.layers(layers, domain, row, |conditions, before| {
                let ex = conditions.ex(before)?;
                let either = conditions.or(&now, &ex)?;
                conditions.and(phi, &either)
            })?;
            let ex = self.ex(&leading)?;
            let bound = self.and(phi, &ex)?;
            self.inside(&w, &bound, row)?;
        }
        Ok(w)
    }

    /// `A(f W g)`: `W ⊆ W(g) ∪ (W(f) ∩ ax(W))`.
    fn weak_until(
        &mut self,
        given: &Claim,
        phi: &Set,
        psi: &Set,
        domain: &Domain,
        row: &str,
    ) -> Checked<Set> {
        let w = self.set(given, domain, row)?;
        let ax = self.ax(&w, domain)?;
        let bound = self.step(psi, phi, &ax)?;
        self.inside(&w, &bound, row)?;
        Ok(w)
    }

    /// Stages (c, P, V): `P ⊆ W(g) ∪ V< ∪ (W°(¬c) ∩ ax(P))`, `V ⊆ V< ∪ W(g) ∪ ax(P)`; returns the last `V`. With
    /// `W(g) = ∅` and `C = Inv` they lead to states without fair path.
    fn stages(&mut self, given: &Claim, psi: &Set, domain: &Domain, row: &str) -> Checked<Set> {
        let mut before = psi.clone();
        for (constraint, p, v) in &given.stages {
            let Some([_, unmet]) = self.constraints.get(*constraint).cloned() else {
                return Err(Failure::Input(
                    "a stage names a fairness constraint that does not exist".to_string(),
                ));
            };
            let (p, v) = (self.cut(*p, domain)?, self.cut(*v, domain)?);
            let ax = self.ax(&p, domain)?;
            let bound = self.step(&before, &unmet, &ax)?;
            self.inside(&p, &bound, &format!("{row}, P of a stage"))?;
            let bound = self.or(&before, &ax)?;
            self.inside(&v, &bound, &format!("{row}, V of a stage"))?;
            before = self.or(&before, &v)?;
        }
        Ok(before)
    }

    /// The rows K, GK, DK and KH: every state of `C` (green ones only, if `green` is given) that some of the views
    /// confuses with a state of W is in `W(f)`; or, negated, every state of W is confused so with a state of
    /// `N ∩ W(¬f)`.
    fn knowledge(
        &mut self,
        views: &[Vec<masque_model::AgentId>],
        green: Option<Set>,
        operand: Goal,
        given: &Claim,
        domain: &Domain,
        name: &str,
    ) -> Checked<Set> {
        let phi = self.truth(operand, domain)?;
        let w = self.set(given, domain, name)?;
        let green = green.unwrap_or(self.constant(true));
        let mut confused = Vec::new();
        for view in views {
            if operand.sign {
                let alike = self.encoded.alike(view, &w)?;
                let alike = self.and(&alike, &green)?;
                let alike = self.and(&alike, &domain.outer)?;
                self.inside(&alike, &phi, &format!("K, GK, DK, KH: {name}"))?;
            } else {
                let from = self.and(&phi, &green)?;
                let from = self.and(&from, &domain.inner)?;
                confused.push(self.encoded.alike(view, &from)?);
            }
        }
        if !operand.sign {
            let bound = self.junction(confused, false)?;
            self.inside(&w, &bound, &format!("not K, GK, DK, KH: {name}"))?;
        }
        Ok(w)
    }

    /// The rows mu and nu.
    fn fixpoint(
        &mut self,
        (variable, is_least): (usize, bool),
        body: Goal,
        given: &Claim,
        domain: &Domain,
        name: &str,
    ) -> Checked<Set> {
        let claim = |place: usize| given.of.get(place).copied().flatten();
        if !is_least {
            let w = self.set(given, domain, name)?;
            self.bound.insert(variable, (body.sign, w.clone()));
            let truth = self.truth(Goal { claim: claim(0), ..body }, domain);
            self.bound.remove(&variable);
            self.inside(&w, &truth?, &format!("nu: {name}"))?;
            return Ok(w);
        }
        let mut index = 0;
        self.layers(&given.layers, domain, &format!("mu: {name}"), |conditions, before| {
            conditions.bound.insert(variable, (body.sign, before.clone()));
            let truth = conditions.truth(Goal { claim: claim(index), ..body }, domain);
            conditions.bound.remove(&variable);
            index += 1;
            truth
        })
    }

    /// The rows of coalitions.
    fn enforces(
        &mut self,
        (group, strategies, path): (masque_model::GroupId, Strategies, FormulaId),
        goal: Goal,
        given: &Claim,
        domain: &Domain,
    ) -> Checked<Set> {
        let (operator, phi, psi) = self.path_operands(path, goal.sign, given, domain)?;
        let members = &self.system.groups[group.index()].agents;
        let name = self.text(goal);
        if strategies != Strategies::Perfect {
            return match goal.sign {
                true => self.uniform((members, strategies), (operator, &phi, &psi), given, domain, &name),
                false => Err(Failure::Input(format!("certificates do not cover {name}"))),
            };
        }
        if goal.sign {
            return self.wins((&given.set, &given.layers), (&operator, &phi, &psi), domain, &name, |c, z| {
                let outside = c.minus(&domain.outer, z)?;
                Ok(c.encoded.forced(members, None, &outside, &c.dead)?)
            });
        }
        // The dual operators, with opp(Z), the complement of pre(complement of Z).
        self.wins((&given.set, &given.layers), (&operator, &phi, &psi), domain, &name, |c, z| {
            let forced = c.encoded.forced(members, None, z, &c.dead)?;
            Ok(c.not(&forced))
        })
    }

    /// Checks a winning set against the row of its operator, with a given `pre`.
    fn wins(
        &mut self,
        (set, layers): (&Option<Ref>, &[Ref]),
        (operator, phi, psi): (&Operator, &Set, &Set),
        domain: &Domain,
        name: &str,
        mut pre: impl FnMut(&mut Self, &Set) -> Checked<Set>,
    ) -> Checked<Set> {
        let row = format!("<g>: {name}");
        if let Operator::Until = operator {
            return self.layers(layers, domain, &row, |conditions, before| {
                let pre = pre(conditions, before)?;
                conditions.step(psi, phi, &pre)
            });
        }
        let set = set.ok_or_else(|| Failure::refused(format!("there is no set for {name}")))?;
        let w = self.cut(set, domain)?;
        let z = if let Operator::Next = operator { phi } else { &w };
        let pre = pre(self, z)?;
        let bound = match operator {
            Operator::Next | Operator::Until => pre,
            Operator::Globally => self.and(phi, &pre)?,
            Operator::WeakUntil => self.step(psi, phi, &pre)?,
            Operator::Release => {
                let either = self.or(phi, &pre)?;
                self.and(psi, &either)?
            }
        };
        self.inside(&w, &bound, &row)?;
        Ok(w)
    }

    /// The row of uniform strategies: pieces, each with choices, a winning set and a part.
    fn uniform(
        &mut self,
        (members, strategies): (&[masque_model::AgentId], Strategies),
        (operator, phi, psi): (Operator, &Set, &Set),
        given: &Claim,
        domain: &Domain,
        name: &str,
    ) -> Checked<Set> {
        let mut w = self.constant(false);
        for piece in &given.pieces {
            let choice = self.choice(members, &piece.choices)?;
            let won =
                self.wins((&piece.set, &piece.layers), (&operator, phi, psi), domain, name, |c, z| {
                    let outside = c.minus(&domain.outer, z)?;
                    Ok(c.encoded.forced(members, Some(&choice), &outside, &c.dead)?)
                })?;
            let part = self.cut(piece.part.unwrap_or(Ref::NONE), domain)?;
            let starts = match strategies {
                Strategies::Uniform => self.alike_by_some(members, &part)?,
                Strategies::UniformJoint => self.encoded.alike(members, &part)?,
                Strategies::UniformObjective | Strategies::Perfect => part.clone(),
            };
            let starts = self.and(&starts, &domain.outer)?;
            self.inside(&starts, &won, &format!("<g, uniform>: {name}"))?;
            w = self.or(&w, &part)?;
        }
        Ok(w)
    }

    /// Returns the joint choices of a group: each member a partial function from its own view to one action.
    fn choice(&mut self, members: &[masque_model::AgentId], choices: &[(usize, u32, Ref)]) -> Checked<Set> {
        let mut joint = self.constant(true);
        for (place, &member) in members.iter().enumerate() {
            let (mut taken, mut own) = (self.constant(false), self.constant(false));
            for (_, action, states) in choices.iter().filter(|choice| choice.0 == place) {
                let states = self.given(*states)?;
                let alike = self.encoded.alike(&[member], &states)?;
                if self.and(&alike, &self.encoded.valid.clone())? != states {
                    return Err(Failure::refused(
                        "a choice of a uniform strategy depends on what its agent sees",
                    ));
                }
                if !self.and(&taken, &states)?.is_empty()
                    || *action as usize >= self.system.agent(member).actions.len()
                {
                    return Err(Failure::refused("a uniform strategy chooses one action for each view"));
                }
                taken = self.or(&taken, &states)?;
                let is_action = self.encoded.values.action_is(member, *action)?;
                let states = self.and(&states, &is_action)?;
                own = self.or(&own, &states)?;
            }
            joint = self.and(&joint, &own)?;
        }
        Ok(joint)
    }

    fn alike_by_some(&mut self, members: &[masque_model::AgentId], set: &Set) -> Checked<Set> {
        let mut sets = Vec::new();
        for member in members {
            sets.push(self.encoded.alike(&[*member], set)?);
        }
        self.junction(sets, false)
    }

    /// Checks layers, each given the union of the earlier ones, and returns their union.
    fn layers(
        &mut self,
        layers: &[Ref],
        domain: &Domain,
        row: &str,
        mut bound: impl FnMut(&mut Self, &Set) -> Checked<Set>,
    ) -> Checked<Set> {
        let mut before = self.constant(false);
        for layer in layers {
            let layer = self.cut(*layer, domain)?;
            let bound = bound(self, &before)?;
            self.inside(&layer, &bound, row)?;
            before = self.or(&before, &layer)?;
        }
        Ok(before)
    }

    /// `now ∪ (through ∩ next)`
    fn step(&mut self, now: &Set, through: &Set, next: &Set) -> Checked<Set> {
        let then = self.and(through, next)?;
        self.or(now, &then)
    }

    /// `ex(Z)`: some successor in Z; under `--deadlock stutter` the loop of a dead end counts.
    fn ex(&mut self, z: &Set) -> Checked<Set> {
        let before = self.encoded.before(z, None)?;
        if self.system.meaning.deadlock != Deadlock::Stutter {
            return Ok(before);
        }
        let staying = self.and(z, &self.dead.clone())?;
        self.or(&before, &staying)
    }

    /// `ax(Z)`: all successors in `C` are in Z. Successors of states in `Inv` are in `Inv`.
    fn ax(&mut self, z: &Set, domain: &Domain) -> Checked<Set> {
        let outside = self.minus(&domain.outer, z)?;
        let violated = self.ex(&outside)?;
        Ok(self.not(&violated))
    }

    /// Returns the set of a claim, cut to `C`, once it lies inside a bound.
    fn bounded(&mut self, given: &Claim, bound: &Set, domain: &Domain, row: &str) -> Checked<Set> {
        let w = self.set(given, domain, row)?;
        self.inside(&w, bound, row)?;
        Ok(w)
    }

    /// Returns the set of a claim, cut to `C`.
    fn set(&mut self, given: &Claim, domain: &Domain, name: &str) -> Checked<Set> {
        let set = given.set.ok_or_else(|| Failure::refused(format!("there is no set for {name}")))?;
        self.cut(set, domain)
    }

    fn cut(&mut self, set: Ref, domain: &Domain) -> Checked<Set> {
        let set = self.given(set)?;
        self.and(&set, &domain.outer)
    }

    /// Returns the states of a set. A code that stands for no state does not matter.
    fn given(&mut self, set: Ref) -> Checked<Set> {
        let positive = match self.sets.get(&(set.0 >> 1)) {
            _ if set.0 >> 1 == 0 => self.constant(true),
            Some(positive) => positive.clone(),
            None => return Err(Failure::Input("a set of the certificate is missing".to_string())),
        };
        let set = if set.0 & 1 == 1 { self.not(&positive) } else { positive };
        self.and(&set, &self.encoded.valid.clone())
    }

    fn literal(
        &mut self,
        sign: bool,
        set: impl FnOnce(&mut Encoded<'s>) -> crate::kernel::Limited<Set>,
    ) -> Checked<Set> {
        let set = set(&mut self.encoded)?;
        Ok(if sign { set } else { self.not(&set) })
    }

    fn junction(&mut self, sets: Vec<Set>, is_and: bool) -> Checked<Set> {
        let mut sets = sets.into_iter();
        let first = sets.next().unwrap_or(self.constant(is_and));
        sets.try_fold(first, |all, set| if is_and { self.and(&all, &set) } else { self.or(&all, &set) })
    }

    /// Refuses unless one set lies inside another; the message names a state outside.
    fn inside(&mut self, set: &Set, bound: &Set, row: &str) -> Checked<()> {
        let outside = self.minus(set, bound)?;
        match self.encoded.some_state(&outside) {
            None => Ok(()),
            Some(state) => Err(Failure::Refused { condition: row.to_string(), state: Some(state) }),
        }
    }

    fn text(&self, goal: Goal) -> String {
        let text = self.system.formula_text(goal.formula);
        if goal.sign { text } else { format!("!({text})") }
    }

    fn constant(&mut self, value: bool) -> Set {
        self.encoded.values.diagrams.constant(value)
    }

    fn not(&mut self, a: &Set) -> Set {
        self.encoded.values.diagrams.not(a)
    }

    fn and(&mut self, a: &Set, b: &Set) -> Checked<Set> {
        Ok(self.encoded.values.diagrams.and(a, b)?)
    }

    fn or(&mut self, a: &Set, b: &Set) -> Checked<Set> {
        Ok(self.encoded.values.diagrams.or(a, b)?)
    }

    fn minus(&mut self, a: &Set, b: &Set) -> Checked<Set> {
        Ok(self.encoded.values.diagrams.minus(a, b)?)
    }
}
