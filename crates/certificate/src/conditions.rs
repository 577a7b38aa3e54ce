//! The conditions of a certificate: the table of `docs/certificates.md`, row by row.
//!
//! The certificate gives sets; what must be true of them follows from the formula alone. `truth` walks over the
//! formula in negation normal form and returns `W(f)`, a set that lies inside the set of `f`. Letters are those
//! of the table: `C` contains the domain, `N` lies inside it, `D⁻` lies inside the states with a fair path.

use masque_model::{
    AgentId, At, Deadlock, Fixpoints, Formula, FormulaId, Overflow, Paths, Strategies, System,
};
use rustc_hash::FxHashMap;

use crate::confirm::Failure;
use crate::encode::Encoded;
use crate::format::{Certificate, Claim, Piece, Ref};
use crate::kernel::Set;

type Checked<T> = Result<T, Failure>;

/// What the rows refer to: the domain of the property, or, while the fairness constraints are evaluated, all
/// reachable states.
#[derive(Clone)]
struct Domain {
    c: Set,
    n: Set,
    d_minus: Set,
    is_fair: bool,
}

/// A part of a formula or of its negation, with the claim about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Part {
    formula: FormulaId,
    sign: bool,
    claim: Option<usize>,
}

/// A check in progress.
pub(crate) struct Conditions<'s> {
    system: &'s System,
    certificate: &'s Certificate,
    encoded: Encoded<'s>,
    /// The functions of the nodes of the certificate, by number.
    sets: Vec<Set>,
    domain: Domain,
    /// For each fairness constraint where it is true and where it is false.
    constraints: Vec<[Set; 2]>,
    dead: Set,
    fixpoints: Fixpoints,
    /// The sets of fixpoint variables, with the sign of the fixpoint.
    bound: FxHashMap<usize, (bool, Set)>,
    /// The sets of parts without free fixpoint variables.
    known: FxHashMap<Part, Set>,
    /// The part whose row is checked, for messages.
    part: Option<Part>,
}

/// A path formula after negations have been moved inwards, with the sets of its operands.
enum Path {
    Next(Set),
    Until(Set, Set),
    Globally(Set),
    WeakUntil(Set, Set),
    Release(Set, Set),
}

impl<'s> Conditions<'s> {
    pub(crate) fn new(
        system: &'s System,
        certificate: &'s Certificate,
        mut encoded: Encoded<'s>,
        sets: Vec<Set>,
    ) -> Checked<Conditions<'s>> {
        let (dead, all) = (encoded.dead()?, encoded.values.diagrams.constant(true));
        let domain = Domain { c: all.clone(), n: all.clone(), d_minus: all, is_fair: false };
        Ok(Conditions {
            system,
            certificate,
            encoded,
            sets,
            domain,
            constraints: Vec::new(),
            dead,
            fixpoints: system.formulas.fixpoints(),
            bound: FxHashMap::default(),
            known: FxHashMap::default(),
            part: None,
        })
    }

    /// The rows holds and fails: whether a formula is true, or false somewhere, where `at` says.
    pub(crate) fn verdict(&mut self, formula: FormulaId, at: At) -> Checked<()> {
        self.reachable()?;
        self.fair_domain()?;
        let initial = self.encoded.initial.clone();
        let fair_initial = self.and(&initial, &self.domain.d_minus.clone())?;
        if self.domain.is_fair && fair_initial.is_empty() {
            return Err(Failure::refused("Init ∩ D⁻ ≠ ∅"));
        }
        let holds = self.certificate.holds;
        let truth = self.truth(Part { formula, sign: holds, claim: self.certificate.root })?;
        let Domain { c, n, .. } = self.domain.clone();
        match (holds, at) {
            (true, At::Initial) => {
                let asked = self.and(&initial, &c)?;
                self.inside(&asked, &truth, "holds: Init ∩ C ⊆ W(f)")
            }
            (true, At::Reachable) => self.inside(&c, &truth, "holds: C ⊆ W(f)"),
            (false, at) => {
                let found = self.and(if at == At::Initial { &fair_initial } else { &n }, &truth)?;
                if found.is_empty() {
                    Err(Failure::refused("fails: a required state is in W(¬f)"))
                } else {
                    Ok(())
                }
            }
        }
    }

    /// The rows Inv, R, `--deadlock error` and `--overflow error`.
    fn reachable(&mut self) -> Checked<()> {
        let (initial, nowhere) = (self.encoded.initial.clone(), self.constant(false));
        let inv = self.given(self.certificate.inv)?;
        self.inside(&initial, &inv, "Inv: Init ⊆ Inv")?;
        let after = self.encoded.post(&inv)?;
        self.inside(&after, &inv, "Inv: post(Inv) ⊆ Inv")?;
        if self.system.meaning.deadlock == Deadlock::Error {
            let dead = self.and(&inv, &self.dead.clone())?;
            self.inside(&dead, &nowhere, "--deadlock error: Inv has no dead end")?;
        }
        if self.system.meaning.overflow == Overflow::Error {
            let overflowing = self.encoded.overflowing()?;
            let overflowing = self.and(&inv, &overflowing)?;
            self.inside(&overflowing, &nowhere, "--overflow error: Inv has no overflowing step")?;
        }
        let (mut reached, mut bound) = (nowhere.clone(), initial);
        for (index, layer) in self.certificate.reached.iter().enumerate() {
            let layer = self.given(Some(*layer))?;
            self.inside(&layer, &bound, "R: first layer ⊆ Init, each further layer ⊆ post(L<)")?;
            reached = self.or(&reached, &layer)?;
            // The image of a union is the union of the images.
            let after = self.encoded.post(&layer)?;
            bound = self.or(if index == 0 { &nowhere } else { &bound }, &after)?;
        }
        (self.domain.c, self.domain.n) = (inv, reached);
        Ok(())
    }

    /// The rows D⁻ and D⁺, and the sets W° of the fairness constraints.
    fn fair_domain(&mut self) -> Checked<()> {
        let certificate = self.certificate;
        if self.system.fairness.is_empty() {
            return Ok(());
        }
        let fair = certificate.fair.as_ref().ok_or(Failure::refused("the sets for fairness are missing"))?;
        for (index, &formula) in self.system.fairness.iter().enumerate() {
            let met = self.truth(Part { formula, sign: true, claim: claim_of(fair, 2 * index) })?;
            let unmet = self.truth(Part { formula, sign: false, claim: claim_of(fair, 2 * index + 1) })?;
            self.constraints.push([met, unmet]);
        }
        self.known.clear();
        self.domain.is_fair = true;
        let (all, nowhere) = (self.constant(true), self.constant(false));
        let d_minus = self.globally(fair, &all, "D⁻")?;
        let unfair = self.stages(fair, &nowhere, "D⁺")?;
        let Domain { c, n, .. } = self.domain.clone();
        (self.domain.c, self.domain.n) = (self.minus(&c, &unfair)?, self.and(&n, &d_minus)?);
        self.domain.d_minus = d_minus;
        Ok(())
    }

    /// Returns `W(f)`.
    fn truth(&mut self, part: Part) -> Checked<Set> {
        if let Some(known) = self.known.get(&part) {
            return Ok(known.clone());
        }
        let outer = self.part.replace(part);
        let (certificate, none) = (self.certificate, Claim::default());
        let claim = part.claim.map_or(&none, |claim| &certificate.claims[claim]);
        let mut truth = match self.system.formulas.get(part.formula) {
            Formula::Not(f) => self.truth(Part { formula: f, sign: !part.sign, ..part })?,
            formula if formula.is_local_operator() => self.connective(part, claim)?,
            Formula::Bound(z) => match self.bound.get(&z.index()) {
                Some((sign, set)) if *sign == part.sign => set.clone(),
                _ => return Err(Failure::Input("a fixpoint variable is free or negated".to_string())),
            },
            _ if part.claim.is_none() => {
                return Err(Failure::refused(format!("a claim about {}", self.text(part))));
            }
            _ => self.modal(part, claim)?,
        };
        truth = self.and(&truth, &self.domain.c.clone())?;
        self.part = outer;
        if !self.fixpoints.is_open(part.formula) {
            self.known.insert(part, truth.clone());
        }
        Ok(truth)
    }

    /// The rows literal, and, or. Without a set, W is the largest one.
    fn connective(&mut self, part: Part, claim: &Claim) -> Checked<Set> {
        let sign = part.sign;
        let largest = match self.system.formulas.get(part.formula) {
            Formula::Bool(value) => self.constant(value == sign),
            Formula::Proposition(p) => self.literal(self.system.propositions[p.index()].condition, sign)?,
            Formula::Condition(condition) => self.literal(condition, sign)?,
            Formula::Green(i) => match self.system.agent(i).red {
                Some(red) => self.literal(red, !sign)?,
                None => self.constant(sign),
            },
            Formula::Red(i) => match self.system.agent(i).red {
                Some(red) => self.literal(red, sign)?,
                None => self.constant(!sign),
            },
            Formula::And(list) => self.junction(claim, list.iter().map(|f| (*f, sign)), sign)?,
            Formula::Or(list) => self.junction(claim, list.iter().map(|f| (*f, sign)), !sign)?,
            Formula::Implies(f, g) => self.junction(claim, [(f, !sign), (g, sign)].into_iter(), !sign)?,
            Formula::Iff(f, g) => {
                let mut sets = Vec::new();
                for (place, (formula, sign)) in
                    [(f, true), (g, true), (f, false), (g, false)].into_iter().enumerate()
                {
                    sets.push(self.truth(Part { formula, sign, claim: claim_of(claim, place) })?);
                }
                let both = self.and(&sets[0], &sets[if sign { 1 } else { 3 }])?;
                let neither = self.and(&sets[2], &sets[if sign { 3 } else { 1 }])?;
                self.or(&both, &neither)?
            }
            _ => return Err(Failure::Input("this is not a connective".to_string())),
        };
        if claim.set.is_none() { Ok(largest) } else { self.within(claim, &largest, "literal, and, or") }
    }

    fn literal(&mut self, condition: masque_model::ExprId, sign: bool) -> Checked<Set> {
        let set = self.encoded.values.condition(condition)?;
        Ok(if sign { set } else { self.not(&set) })
    }

    fn junction(
        &mut self,
        claim: &Claim,
        operands: impl Iterator<Item = (FormulaId, bool)>,
        is_and: bool,
    ) -> Checked<Set> {
        let mut all = self.constant(is_and);
        for (place, (formula, sign)) in operands.enumerate() {
            let truth = self.truth(Part { formula, sign, claim: claim_of(claim, place) })?;
            all = if is_and { self.and(&all, &truth)? } else { self.or(&all, &truth)? };
        }
        Ok(all)
    }

    /// The rows of operators other than connectives.
    fn modal(&mut self, part: Part, claim: &Claim) -> Checked<Set> {
        let sign = part.sign;
        let operand = |formula| Part { formula, sign, claim: claim_of(claim, 0) };
        let members = |group: masque_model::GroupId| &self.system.groups[group.index()].agents[..];
        let formula = self.system.formulas.get(part.formula);
        match formula {
            Formula::Exists(Paths::Ctl, path) | Formula::Forall(Paths::Ctl, path) => {
                let path = self.path(path, sign, claim)?;
                let is_some = matches!(formula, Formula::Exists(..)) == sign;
                if is_some { self.on_some_path(path, claim) } else { self.on_all_paths(path, claim) }
            }
            Formula::Knows(i, f) => self.knowledge(&[vec![i]], None, operand(f), claim),
            Formula::EveryoneKnows(group, f) => {
                let views: Vec<_> = members(group).iter().map(|i| vec![*i]).collect();
                self.knowledge(&views, None, operand(f), claim)
            }
            Formula::DistributedKnowledge(group, f) => {
                self.knowledge(&[members(group).to_vec()], None, operand(f), claim)
            }
            Formula::KnowsUnder(i, group, f) => {
                let green = self.encoded.green(members(group))?;
                self.knowledge(&[vec![i]], Some(green), operand(f), claim)
            }
            Formula::CommonKnowledge(group, f) => {
                let (phi, members) = (self.truth(operand(f))?, members(group));
                if sign {
                    let w = self.set(claim.set)?;
                    let (bound, alike) = (self.and(&w, &phi)?, self.alike_by_some(members, &w)?);
                    let alike = self.and(&alike, &self.domain.c.clone())?;
                    self.inside(&alike, &bound, "GCK")?;
                    return Ok(w);
                }
                let n = self.domain.n.clone();
                self.layers(&claim.layers, "not GCK", |this, before| {
                    let from = this.or(&phi, before)?;
                    let from = this.and(&n, &from)?;
                    this.alike_by_some(members, &from)
                })
            }
            Formula::Correct(i, f) => {
                let (phi, green, domain) =
                    (self.truth(operand(f))?, self.encoded.green(&[i])?, self.domain.clone());
                let green = self.and(&green, if sign { &domain.c } else { &domain.n })?;
                let deciding = if sign { self.minus(&green, &phi)? } else { self.and(&green, &phi)? };
                let bound = self.constant(deciding.is_empty() == sign);
                self.within(claim, &bound, "O")
            }
            Formula::ExistsStep(condition, f) | Formula::ForallStep(condition, f) => {
                let (phi, domain) = (self.truth(operand(f))?, self.domain.clone());
                let is_some = matches!(formula, Formula::ExistsStep(..)) == sign;
                let to =
                    if is_some { self.and(&phi, &domain.d_minus)? } else { self.minus(&domain.c, &phi)? };
                let before = self.encoded.before(&to, Some(condition))?;
                let bound = if is_some { before } else { self.not(&before) };
                self.within(claim, &bound, "EX{c}, AX{c}")
            }
            Formula::Enforces(group, strategies, path) if !self.domain.is_fair => {
                let path = self.path(path, sign, claim)?;
                self.enforces(members(group), strategies, &path, sign, claim)
            }
            Formula::Least(z, body) | Formula::Greatest(z, body) if self.fixpoints.is_sound(part.formula) => {
                let is_least = matches!(formula, Formula::Least(..)) == sign;
                self.fixpoint(z.index(), is_least, Part { formula: body, sign, claim: None }, claim)
            }
            _ => Err(Failure::Input(format!("certificates do not cover {}", self.text(part)))),
        }
    }

    /// Moves negations inwards. `F f = true U f`, `¬(f W g) = ¬g U (¬f ∧ ¬g)`.
    fn path(&mut self, path: FormulaId, sign: bool, claim: &Claim) -> Checked<Path> {
        let formula = self.system.formulas.get(path);
        let mut operand = |formula, place| self.truth(Part { formula, sign, claim: claim_of(claim, place) });
        let (phi, psi) = match formula {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => {
                let phi = operand(f, 0)?;
                (phi.clone(), phi)
            }
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => {
                (operand(f, 0)?, operand(g, 1)?)
            }
            _ => return Err(Failure::Input("certificates do not cover this path formula".to_string())),
        };
        Ok(match (formula, sign) {
            (Formula::Next(_), _) => Path::Next(phi),
            (Formula::Finally(_), true) | (Formula::Globally(_), false) => {
                Path::Until(self.constant(true), phi)
            }
            (Formula::Globally(_), true) | (Formula::Finally(_), false) => Path::Globally(phi),
            (Formula::Until(..), true) | (Formula::Release(..), false) => Path::Until(phi, psi),
            (Formula::Release(..), true) | (Formula::Until(..), false) => Path::Release(phi, psi),
            (_, true) => Path::WeakUntil(phi, psi),
            (_, false) => Path::Until(psi.clone(), self.and(&phi, &psi)?),
        })
    }

    /// The rows EX, E(f U g), EG, E(f W g), E(f R g).
    fn on_some_path(&mut self, path: Path, claim: &Claim) -> Checked<Set> {
        match path {
            Path::Next(phi) => {
                let targets = self.and(&phi, &self.domain.d_minus.clone())?;
                let bound = self.ex(&targets)?;
                self.within(claim, &bound, "EX")
            }
            Path::Until(phi, psi) => self.exists_until(claim, &phi, &psi),
            Path::Globally(phi) => self.globally(claim, &phi, "EG"),
            Path::WeakUntil(phi, psi) => {
                let (until, always) =
                    (self.exists_until(claim, &phi, &psi)?, self.globally(claim, &phi, "E(f W g)")?);
                self.or(&until, &always)
            }
            Path::Release(phi, psi) => {
                let both = self.and(&phi, &psi)?;
                let (until, always) =
                    (self.exists_until(claim, &psi, &both)?, self.globally(claim, &psi, "E(f R g)")?);
                self.or(&until, &always)
            }
        }
    }

    /// `E(f U g)`: layers `L ⊆ (W(g) ∩ D⁻) ∪ (W(f) ∩ ex(L<))`.
    fn exists_until(&mut self, claim: &Claim, phi: &Set, psi: &Set) -> Checked<Set> {
        let psi = self.and(psi, &self.domain.d_minus.clone())?;
        let (mut ex, mut seen) = (self.constant(false), self.constant(false));
        self.layers(&claim.layers, "E(f U g)", |this, before| {
            // The pre-image of a union is the union of the pre-images.
            let new = this.minus(before, &seen)?;
            let before_new = this.ex(&new)?;
            (ex, seen) = (this.or(&ex, &before_new)?, before.clone());
            this.step(&psi, phi, &ex)
        })
    }

    /// `EG f`: `W ⊆ W(f) ∩ ex(W)`; with fairness, for each constraint layers
    /// `M ⊆ W(f) ∩ ((W ∩ W°(c)) ∪ ex(M<))`, and `W ⊆ W(f) ∩ ex(M)`.
    fn globally(&mut self, claim: &Claim, phi: &Set, row: &str) -> Checked<Set> {
        let w = self.set(claim.set)?;
        if !self.domain.is_fair {
            let ex = self.ex(&w)?;
            let bound = self.and(phi, &ex)?;
            return self.within(claim, &bound, row);
        }
        for (index, [met, _]) in self.constraints.clone().into_iter().enumerate() {
            let now = self.and(&w, &met)?;
            let layers = claim.recur.get(index).map_or(&[][..], |layers| layers);
            let leading = self.layers(layers, row, |this, before| {
                let ex = this.ex(before)?;
                let either = this.or(&now, &ex)?;
                this.and(phi, &either)
            })?;
            let ex = self.ex(&leading)?;
            let bound = self.and(phi, &ex)?;
            self.inside(&w, &bound, row)?;
        }
        Ok(w)
    }

    /// The rows AX, A(f U g), A(f W g), A(f R g).
    fn on_all_paths(&mut self, path: Path, claim: &Claim) -> Checked<Set> {
        match path {
            Path::Next(phi) => {
                let bound = self.ax(&phi)?;
                self.within(claim, &bound, "AX")
            }
            Path::Until(phi, psi) if self.domain.is_fair => {
                let weak = self.weak_until(claim, &phi, &psi)?;
                let met = self.stages(claim, &psi, "A(f U g)")?;
                self.and(&weak, &met)
            }
            Path::Until(phi, psi) => self.layers(&claim.layers, "A(f U g)", |this, before| {
                let ax = this.ax(before)?;
                this.step(&psi, &phi, &ax)
            }),
            Path::Globally(phi) => {
                let nowhere = self.constant(false);
                self.weak_until(claim, &phi, &nowhere)
            }
            Path::WeakUntil(phi, psi) => self.weak_until(claim, &phi, &psi),
            Path::Release(phi, psi) => {
                let w = self.set(claim.set)?;
                let ax = self.ax(&w)?;
                let either = self.or(&phi, &ax)?;
                let bound = self.and(&psi, &either)?;
                self.within(claim, &bound, "A(f R g)")
            }
        }
    }

    /// `A(f W g)`: `W ⊆ W(g) ∪ (W(f) ∩ ax(W))`.
    fn weak_until(&mut self, claim: &Claim, phi: &Set, psi: &Set) -> Checked<Set> {
        let w = self.set(claim.set)?;
        let ax = self.ax(&w)?;
        let bound = self.step(psi, phi, &ax)?;
        self.within(claim, &bound, "A(f W g)")
    }

    /// Stages (c, P, V): `P ⊆ W(g) ∪ V< ∪ (W°(¬c) ∩ ax(P))`, `V ⊆ V< ∪ W(g) ∪ ax(P)`; returns the last `V`. With
    /// `W(g) = ∅` and `C = Inv` they lead to states without fair path.
    fn stages(&mut self, claim: &Claim, psi: &Set, row: &str) -> Checked<Set> {
        let mut before = psi.clone();
        for (constraint, p, v) in &claim.stages {
            let Some([_, unmet]) = self.constraints.get(*constraint).cloned() else {
                return Err(Failure::Input(
                    "a stage names a fairness constraint that does not exist".to_string(),
                ));
            };
            let (p, v) = (self.set(Some(*p))?, self.set(Some(*v))?);
            let ax = self.ax(&p)?;
            let bound = self.step(&before, &unmet, &ax)?;
            self.inside(&p, &bound, &format!("{row}: P of a stage"))?;
            let bound = self.or(&before, &ax)?;
            self.inside(&v, &bound, &format!("{row}: V of a stage"))?;
            before = self.or(&before, &v)?;
        }
        Ok(before)
    }

    /// The rows K, GK, DK and KH: every state of `C` (green ones only, if `green` is given) that some of the views
    /// confuses with a state of W is in `W(f)`; or, negated, every state of W is confused so with a state of
    /// `N ∩ W(¬f)`.
    fn knowledge(
        &mut self,
        views: &[Vec<AgentId>],
        green: Option<Set>,
        f: Part,
        claim: &Claim,
    ) -> Checked<Set> {
        let (phi, w, domain) = (self.truth(f)?, self.set(claim.set)?, self.domain.clone());
        let green = green.unwrap_or(self.constant(true));
        let within = self.and(if f.sign { &domain.c } else { &domain.n }, &green)?;
        let from = if f.sign { w.clone() } else { self.and(&phi, &within)? };
        let mut confused = self.constant(false);
        for view in views {
            let alike = self.encoded.alike(view, &from)?;
            confused = self.or(&confused, &alike)?;
        }
        if !f.sign {
            return self.within(claim, &confused, "not K, GK, DK, KH");
        }
        let confused = self.and(&confused, &within)?;
        self.inside(&confused, &phi, "K, GK, DK, KH")?;
        Ok(w)
    }

    /// The rows mu and nu.
    fn fixpoint(&mut self, z: usize, is_least: bool, body: Part, claim: &Claim) -> Checked<Set> {
        let mut index = 0;
        let mut truth = |this: &mut Self, of_z: &Set| {
            this.bound.insert(z, (body.sign, of_z.clone()));
            let truth = this.truth(Part { claim: claim_of(claim, index), ..body });
            this.bound.remove(&z);
            index += 1;
            truth
        };
        if is_least {
            return self.layers(&claim.layers, "mu", truth);
        }
        let w = self.set(claim.set)?;
        let bound = truth(self, &w)?;
        self.within(claim, &bound, "nu")
    }

    /// The rows of coalitions.
    fn enforces(
        &mut self,
        members: &[AgentId],
        strategies: Strategies,
        path: &Path,
        sign: bool,
        claim: &Claim,
    ) -> Checked<Set> {
        let sets = (claim.set, &claim.layers[..]);
        match (strategies, sign) {
            (Strategies::Perfect, true) => self.wins(path, sets, |this, z| this.pre(members, None, z)),
            (Strategies::Perfect, false) => self.wins(path, sets, |this, z| {
                // opp(Z) is the complement of pre(complement of Z).
                let forced = this.encoded.forced(members, None, z, &this.dead)?;
                Ok(this.not(&forced))
            }),
            (_, true) => {
                let mut w = self.constant(false);
                for piece in &claim.pieces {
                    let part = self.piece(members, strategies, path, piece)?;
                    w = self.or(&w, &part)?;
                }
                Ok(w)
            }
            (_, false) => Err(self.refusal("not <g, uniform>: no condition shows it", None)),
        }
    }

    /// `pre(Z)`, where the group chooses as `choice` allows.
    fn pre(&mut self, members: &[AgentId], choice: Option<&Set>, z: &Set) -> Checked<Set> {
        let outside = self.minus(&self.domain.c.clone(), z)?;
        Ok(self.encoded.forced(members, choice, &outside, &self.dead)?)
    }

    /// Checks a winning set against the row of its operator, with a given `pre`.
    fn wins(
        &mut self,
        path: &Path,
        (set, layers): (Option<Ref>, &[Ref]),
        mut pre: impl FnMut(&mut Self, &Set) -> Checked<Set>,
    ) -> Checked<Set> {
        if let Path::Until(phi, psi) = path {
            return self.layers(layers, "<g> F, U", |this, before| {
                let pre = pre(this, before)?;
                this.step(psi, phi, &pre)
            });
        }
        let w = self.set(set)?;
        let pre = pre(self, if let Path::Next(phi) = path { phi } else { &w })?;
        let bound = match path {
            Path::Next(_) | Path::Until(..) => pre,
            Path::Globally(phi) => self.and(phi, &pre)?,
            Path::WeakUntil(phi, psi) => self.step(psi, phi, &pre)?,
            Path::Release(phi, psi) => {
                let either = self.or(phi, &pre)?;
                self.and(psi, &either)?
            }
        };
        self.inside(&w, &bound, "<g> X, G, W, R")?;
        Ok(w)
    }

    /// A piece of a uniform strategy; returns its part.
    fn piece(
        &mut self,
        members: &[AgentId],
        strategies: Strategies,
        path: &Path,
        piece: &Piece,
    ) -> Checked<Set> {
        let choice = self.choice(members, piece)?;
        let won =
            self.wins(path, (piece.set, &piece.layers), |this, z| this.pre(members, Some(&choice), z))?;
        let part = self.set(piece.part)?;
        let starts = match strategies {
            Strategies::Uniform => self.alike_by_some(members, &part)?,
            Strategies::UniformJoint => self.encoded.alike(members, &part)?,
            Strategies::UniformObjective | Strategies::Perfect => part.clone(),
        };
        let starts = self.and(&starts, &self.domain.c.clone())?;
        self.inside(&starts, &won, "<g, uniform>: every start is in the winning set")?;
        Ok(part)
    }

    /// Returns the joint choices of a group: each member a partial function from its own view to one action.
    fn choice(&mut self, members: &[AgentId], piece: &Piece) -> Checked<Set> {
        let mut joint = self.constant(true);
        for (place, &member) in members.iter().enumerate() {
            let (mut taken, mut own) = (self.constant(false), self.constant(false));
            for (_, action, states) in piece.choices.iter().filter(|choice| choice.0 == place) {
                let states = self.given(Some(*states))?;
                let alike = self.encoded.alike(&[member], &states)?;
                let is_own_view = self.and(&alike, &self.encoded.valid.clone())? == states;
                let is_action = (*action as usize) < self.system.agent(member).actions.len();
                if !is_own_view || !is_action || !self.and(&taken, &states)?.is_empty() {
                    return Err(Failure::refused("<g, uniform>: one action for each view"));
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

    fn alike_by_some(&mut self, members: &[AgentId], set: &Set) -> Checked<Set> {
        let alike = members.iter().map(|member| self.encoded.alike(&[*member], set));
        let alike = alike.collect::<Result<Vec<Set>, _>>()?;
        Ok(self.encoded.values.diagrams.union(alike)?)
    }

    /// Checks layers, each given the union of the earlier ones, and returns their union.
    fn layers(
        &mut self,
        layers: &[Ref],
        row: &str,
        mut bound: impl FnMut(&mut Self, &Set) -> Checked<Set>,
    ) -> Checked<Set> {
        let mut before = self.constant(false);
        for layer in layers {
            let layer = self.set(Some(*layer))?;
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
    fn ax(&mut self, z: &Set) -> Checked<Set> {
        let outside = self.minus(&self.domain.c.clone(), z)?;
        let violated = self.ex(&outside)?;
        Ok(self.not(&violated))
    }

    /// Returns the set of a claim, cut to `C`, once it lies inside a bound.
    fn within(&mut self, claim: &Claim, bound: &Set, row: &str) -> Checked<Set> {
        let w = self.set(claim.set)?;
        self.inside(&w, bound, row)?;
        Ok(w)
    }

    /// Returns a given set, cut to `C`.
    fn set(&mut self, set: Option<Ref>) -> Checked<Set> {
        let set = self.given(set)?;
        self.and(&set, &self.domain.c.clone())
    }

    /// Returns the states of a given set. A code that stands for no state does not matter.
    fn given(&mut self, set: Option<Ref>) -> Checked<Set> {
        let Some(set) = set else { return Err(self.refusal("a set is missing", None)) };
        let positive = self.sets[set.0 as usize >> 1].clone();
        let set = if set.0 & 1 == 1 { self.not(&positive) } else { positive };
        self.and(&set, &self.encoded.valid.clone())
    }

    /// Refuses unless one set lies inside another; the message names a state outside.
    fn inside(&mut self, set: &Set, bound: &Set, row: &str) -> Checked<()> {
        let outside = self.minus(set, bound)?;
        match self.encoded.some_state(&outside) {
            None => Ok(()),
            state => Err(self.refusal(row, state)),
        }
    }

    fn refusal(&self, row: &str, state: Option<String>) -> Failure {
        let part = self.part.map_or(String::new(), |part| format!(", for {}", self.text(part)));
        Failure::Refused { condition: format!("{row}{part}"), state }
    }

    fn text(&self, part: Part) -> String {
        let text = self.system.formula_text(part.formula);
        if part.sign { text } else { format!("!({text})") }
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

/// Returns the claim about an operand.
fn claim_of(claim: &Claim, place: usize) -> Option<usize> {
    claim.of.get(place).copied().flatten()
}
