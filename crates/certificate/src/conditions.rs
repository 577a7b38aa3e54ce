//! The conditions of a certificate: the table of `docs/certificates.md`, row by row.
//!
//! The certificate gives sets; what must be true of them follows from the formula alone. `truth` walks over the
//! formula in negation normal form and returns `W(f)`, a set that lies inside the set of `f`. Letters are those
//! of the table: `C` contains the domain, `N` lies inside it, `D⁻` lies inside the states with a fair path.

use std::slice::from_ref;

use masque_model::{
    AgentId, At, Deadlock, ExprId, FixpointId, Fixpoints, Formula, FormulaId, Overflow, Paths, Strategies,
    System,
};
use rustc_hash::FxHashMap;

use crate::confirm::Failure;
use crate::encode::Encoded;
use crate::format::{Certificate, Claim, Piece, Ref};
use crate::kernel::Set;

type Checked<T> = Result<T, Failure>;

/// A part of a formula or of its negation, with the claim about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Part {
    formula: FormulaId,
    sign: bool,
    claim: Option<usize>,
}

/// A check in progress. While the fairness constraints are evaluated, the domain is that without fairness.
pub(crate) struct Conditions<'s> {
    system: &'s System,
    certificate: &'s Certificate,
    encoded: Encoded<'s>,
    /// The functions of the nodes of the certificate, by number.
    sets: Vec<Set>,
    everything: Set,
    nowhere: Set,
    dead: Set,
    c: Set,
    n: Set,
    d_minus: Set,
    /// For each fairness constraint where it is true and where it is false; none if paths need not be fair.
    constraints: Vec<[Set; 2]>,
    fixpoints: Fixpoints,
    /// The sets of fixpoint variables, with the sign of the fixpoint.
    bound: FxHashMap<FixpointId, (bool, Set)>,
    /// The sets of parts without free fixpoint variables.
    known: FxHashMap<Part, Set>,
    /// The part whose row is checked, for messages.
    part: Option<Part>,
}

/// A path formula after negations have been moved inwards, with the sets of its operands.
enum Path {
    Next(Set),
    Until(Set, Set),
    WeakUntil(Set, Set),
    Release(Set, Set),
}

impl<'s> Conditions<'s> {
    pub(crate) fn new(
        system: &'s System,
        certificate: &'s Certificate,
        encoded: Encoded<'s>,
        sets: Vec<Set>,
    ) -> Conditions<'s> {
        let everything = encoded.values.diagrams.constant(true);
        Conditions {
            system,
            certificate,
            sets,
            nowhere: everything.not(),
            dead: encoded.dead(),
            c: encoded.valid.clone(),
            n: everything.clone(),
            d_minus: everything.clone(),
            everything,
            encoded,
            constraints: Vec::new(),
            fixpoints: system.formulas.fixpoints(),
            bound: FxHashMap::default(),
            known: FxHashMap::default(),
            part: None,
        }
    }

    /// The rows holds and fails: whether a formula is true, or false somewhere, where `at` says.
    pub(crate) fn verdict(&mut self, formula: FormulaId, at: At) -> Checked<()> {
        self.reachable()?;
        self.fair_domain()?;
        let initial = self.encoded.initial.clone();
        if !self.constraints.is_empty() {
            self.not_empty(&initial.and(&self.d_minus), "Init ∩ D⁻ ≠ ∅")?;
        }
        let holds = self.certificate.holds;
        let truth = self.truth(Part { formula, sign: holds, claim: self.certificate.root })?;
        match (holds, at) {
            (true, At::Initial) => self.inside(&initial.and(&self.c), &truth, "holds: Init ∩ C ⊆ W(f)"),
            (true, At::Reachable) => self.inside(&self.c, &truth, "holds: C ⊆ W(f)"),
            (false, At::Initial) => {
                self.not_empty(&initial.and(&self.d_minus).and(&truth), "fails: Init ∩ D⁻ ∩ W(¬f) ≠ ∅")
            }
            (false, At::Reachable) => self.not_empty(&self.n.and(&truth), "fails: N ∩ W(¬f) ≠ ∅"),
        }
    }

    /// The rows Inv, R, `--deadlock error` and `--overflow error`.
    fn reachable(&mut self) -> Checked<()> {
        let encoded = &self.encoded;
        let inv = self.set(self.certificate.inv)?;
        self.inside(&encoded.initial, &inv, "Inv: Init ⊆ Inv")?;
        self.inside(&encoded.post(&inv), &inv, "Inv: post(Inv) ⊆ Inv")?;
        if self.system.meaning.deadlock == Deadlock::Error {
            self.inside(&inv.and(&self.dead), &self.nowhere, "--deadlock error: Inv has no dead end")?;
        }
        if self.system.meaning.overflow == Overflow::Error {
            let overflowing = inv.and(&encoded.overflowing());
            self.inside(&overflowing, &self.nowhere, "--overflow error: Inv has no overflowing step")?;
        }
        let (mut initial, mut post) =
            (Some(&encoded.initial), growing(&self.nowhere, |new| encoded.post(new)));
        let reached = self.layers(
            &self.certificate.reached,
            "R: first layer ⊆ Init, each further layer ⊆ post(L<)",
            |before| initial.take().map_or_else(|| post(before), Set::clone),
        )?;
        drop(post);
        (self.c, self.n) = (inv, reached);
        Ok(())
    }

    /// The rows D⁻ and D⁺, and the sets W° of the fairness constraints.
    fn fair_domain(&mut self) -> Checked<()> {
        if self.system.fairness.is_empty() {
            return Ok(());
        }
        let fair =
            self.certificate.fair.as_ref().ok_or(self.refusal("the sets for fairness are missing", None))?;
        let mut constraints = Vec::new();
        for (index, &formula) in self.system.fairness.iter().enumerate() {
            let mut truth = |sign, place| self.truth(Part { formula, sign, claim: claim_of(fair, place) });
            constraints.push([truth(true, 2 * index)?, truth(false, 2 * index + 1)?]);
        }
        self.constraints = constraints;
        self.known.clear();
        self.d_minus = self.globally(fair, &self.everything, "D⁻")?;
        let unfair = self.stages(fair, &self.nowhere, "D⁺")?;
        (self.c, self.n) = (self.c.minus(&unfair), self.n.and(&self.d_minus));
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
        let truth = match self.system.formulas.get(part.formula) {
            Formula::Not(f) => self.truth(Part { formula: f, sign: !part.sign, ..part })?,
            formula if formula.is_local_operator() => self.connective(formula, part.sign, claim)?,
            Formula::Bound(z) => match self.bound.get(&z) {
                Some((sign, set)) if *sign == part.sign => set.clone(),
                _ => return Err(Failure::Input("a fixpoint variable is free or negated".to_string())),
            },
            _ if part.claim.is_none() => return Err(self.refusal("a claim is missing", None)),
            formula => self.modal(formula, part, claim)?,
        };
        self.part = outer;
        if !self.fixpoints.is_open(part.formula) {
            self.known.insert(part, truth.clone());
        }
        Ok(truth)
    }

    /// The rows literal, and, or. Without a set, W is the largest one.
    fn connective(&mut self, formula: Formula<'s>, sign: bool, claim: &Claim) -> Checked<Set> {
        let largest = match formula {
            Formula::Bool(value) => self.signed(&self.everything, value == sign),
            Formula::Proposition(p) => self.literal(self.system.propositions[p.index()].condition, sign),
            Formula::Condition(condition) => self.literal(condition, sign),
            Formula::Green(i) => self.signed(&self.encoded.green(&[i]), sign),
            Formula::Red(i) => self.signed(&self.encoded.green(&[i]), !sign),
            Formula::And(list) => self.junction(claim, list.iter().map(|f| (*f, sign)), sign)?,
            Formula::Or(list) => self.junction(claim, list.iter().map(|f| (*f, sign)), !sign)?,
            Formula::Implies(f, g) => self.junction(claim, [(f, !sign), (g, sign)], !sign)?,
            Formula::Iff(f, g) => {
                let mut of =
                    |formula, sign, place| self.truth(Part { formula, sign, claim: claim_of(claim, place) });
                let (f_true, f_false) = (of(f, true, 0)?, of(f, false, 2)?);
                let (g_true, g_false) = (of(g, true, 1)?, of(g, false, 3)?);
                let (with, without) = if sign { (g_true, g_false) } else { (g_false, g_true) };
                f_true.and(&with).or(&f_false.and(&without))
            }
            _ => return Err(Failure::Input("this is not a connective".to_string())),
        };
        if claim.set.is_none() {
            Ok(largest)
        } else {
            self.within(claim.set, "literal, and, or", |_| largest)
        }
    }

    fn literal(&self, condition: ExprId, sign: bool) -> Set {
        self.signed(&self.encoded.values.condition(condition), sign)
    }

    fn signed(&self, set: &Set, sign: bool) -> Set {
        if sign { set.clone() } else { set.not() }
    }

    fn junction(
        &mut self,
        claim: &Claim,
        operands: impl IntoIterator<Item = (FormulaId, bool)>,
        is_and: bool,
    ) -> Checked<Set> {
        let start = self.signed(&self.everything, is_and);
        operands.into_iter().enumerate().try_fold(start, |all, (place, (formula, sign))| {
            let truth = self.truth(Part { formula, sign, claim: claim_of(claim, place) })?;
            Ok(if is_and { all.and(&truth) } else { all.or(&truth) })
        })
    }

    /// The rows of operators other than connectives.
    fn modal(&mut self, formula: Formula<'s>, part: Part, claim: &Claim) -> Checked<Set> {
        let (system, sign) = (self.system, part.sign);
        let operand = |formula| Part { formula, sign, claim: claim_of(claim, 0) };
        let members = |group: masque_model::GroupId| &system.groups[group.index()].agents[..];
        match formula {
            Formula::Exists(Paths::Ctl, path) | Formula::Forall(Paths::Ctl, path) => {
                let path = self.path(path, sign, claim)?;
                let is_some = matches!(formula, Formula::Exists(..)) == sign;
                if is_some { self.on_some_path(&path, claim) } else { self.on_all_paths(&path, claim) }
            }
            Formula::Knows(i, f) => self.knowledge(&[&[i]], &[], operand(f), claim),
            Formula::EveryoneKnows(group, f) => {
                self.knowledge(&one_by_one(members(group)), &[], operand(f), claim)
            }
            Formula::DistributedKnowledge(group, f) => {
                self.knowledge(&[members(group)], &[], operand(f), claim)
            }
            Formula::KnowsUnder(i, group, f) => self.knowledge(&[&[i]], members(group), operand(f), claim),
            Formula::CommonKnowledge(group, f) => {
                let (phi, views) = (self.truth(operand(f))?, one_by_one(members(group)));
                if !sign {
                    return self.layers(&claim.layers, "not GCK", |before| {
                        self.encoded.alike(&views, &self.n.and(&phi.or(before)))
                    });
                }
                let w = self.set(claim.set)?;
                self.inside(&self.encoded.alike(&views, &w).and(&self.c), &w.and(&phi), "GCK")?;
                Ok(w)
            }
            Formula::Correct(i, f) => {
                let (phi, green) = (self.truth(operand(f))?, self.encoded.green(&[i]));
                let is_met = match sign {
                    true => self.c.and(&green).minus(&phi).is_empty(),
                    false => !self.n.and(&green).and(&phi).is_empty(),
                };
                self.within(claim.set, "O", |_| self.signed(&self.everything, is_met))
            }
            Formula::ExistsStep(condition, f) | Formula::ForallStep(condition, f) => {
                let phi = self.truth(operand(f))?;
                let condition = self.encoded.values.condition(condition);
                let before = |z: &Set| self.encoded.before(z, Some(&condition));
                let bound = match matches!(formula, Formula::ExistsStep(..)) == sign {
                    true => before(&phi.and(&self.d_minus)),
                    false => before(&self.c.minus(&phi)).not(),
                };
                self.within(claim.set, "EX{c}, AX{c}", |_| bound)
            }
            Formula::Enforces(group, strategies, path) if self.constraints.is_empty() => {
                let path = self.path(path, sign, claim)?;
                self.enforces(members(group), strategies, &path, sign, claim)
            }
            Formula::Least(z, body) | Formula::Greatest(z, body) if self.fixpoints.is_sound(part.formula) => {
                let is_least = matches!(formula, Formula::Least(..)) == sign;
                self.fixpoint(z, is_least, Part { formula: body, sign, claim: None }, claim)
            }
            _ => Err(Failure::Input(format!("certificates do not cover {}", self.text(part)))),
        }
    }

    /// Moves negations inwards. `F f = true U f`, `G f = f W false`, `¬(f W g) = ¬g U (¬f ∧ ¬g)`.
    fn path(&mut self, path: FormulaId, sign: bool, claim: &Claim) -> Checked<Path> {
        let formula = self.system.formulas.get(path);
        let (everything, nowhere) = (self.everything.clone(), self.nowhere.clone());
        let mut operand = |formula, place| self.truth(Part { formula, sign, claim: claim_of(claim, place) });
        Ok(match (formula, sign) {
            (Formula::Next(f), _) => Path::Next(operand(f, 0)?),
            (Formula::Finally(f), true) | (Formula::Globally(f), false) => {
                Path::Until(everything, operand(f, 0)?)
            }
            (Formula::Globally(f), true) | (Formula::Finally(f), false) => {
                Path::WeakUntil(operand(f, 0)?, nowhere)
            }
            (Formula::Until(f, g), true) | (Formula::Release(f, g), false) => {
                Path::Until(operand(f, 0)?, operand(g, 1)?)
            }
            (Formula::Release(f, g), true) | (Formula::Until(f, g), false) => {
                Path::Release(operand(f, 0)?, operand(g, 1)?)
            }
            (Formula::WeakUntil(f, g), true) => Path::WeakUntil(operand(f, 0)?, operand(g, 1)?),
            (Formula::WeakUntil(f, g), false) => {
                let (phi, psi) = (operand(f, 0)?, operand(g, 1)?);
                Path::Until(psi.clone(), phi.and(&psi))
            }
            _ => return Err(Failure::Input("certificates do not cover this path formula".to_string())),
        })
    }

    /// The rows EX, E(f U g), EG, E(f W g), E(f R g).
    fn on_some_path(&self, path: &Path, claim: &Claim) -> Checked<Set> {
        match path {
            Path::Next(phi) => self.within(claim.set, "EX", |_| self.ex(&phi.and(&self.d_minus))),
            Path::Until(phi, psi) => self.exists_until(claim, phi, psi),
            Path::WeakUntil(phi, psi) => {
                Ok(self.exists_until(claim, phi, psi)?.or(&self.globally(claim, phi, "EG f, E(f W g)")?))
            }
            Path::Release(phi, psi) => {
                let until = self.exists_until(claim, psi, &phi.and(psi))?;
                Ok(until.or(&self.globally(claim, psi, "E(f R g)")?))
            }
        }
    }

    /// `E(f U g)`: layers `L ⊆ (W(g) ∩ D⁻) ∪ (W(f) ∩ ex(L<))`.
    fn exists_until(&self, claim: &Claim, phi: &Set, psi: &Set) -> Checked<Set> {
        let (psi, mut ex) = (psi.and(&self.d_minus), growing(&self.nowhere, |new| self.ex(new)));
        self.layers(&claim.layers, "E(f U g)", |before| psi.or(&phi.and(&ex(before))))
    }

    /// `EG f`: `W ⊆ W(f) ∩ ex(W)`; with fairness, for each constraint layers
    /// `M ⊆ W(f) ∩ ((W ∩ W°(c)) ∪ ex(M<))`, and `W ⊆ W(f) ∩ ex(M)`.
    fn globally(&self, claim: &Claim, phi: &Set, row: &str) -> Checked<Set> {
        let w = self.set(claim.set)?;
        if self.constraints.is_empty() {
            self.inside(&w, &phi.and(&self.ex(&w)), row)?;
        }
        for (index, [met, _]) in self.constraints.iter().enumerate() {
            let layers = claim.recur.get(index).map_or(&[][..], |layers| layers);
            let (now, mut ex) = (w.and(met), growing(&self.nowhere, |new| self.ex(new)));
            let leading = self.layers(layers, row, |before| phi.and(&now.or(&ex(before))))?;
            self.inside(&w, &phi.and(&ex(&leading)), row)?;
        }
        Ok(w)
    }

    /// The rows AX, A(f U g), A(f W g), A(f R g).
    fn on_all_paths(&self, path: &Path, claim: &Claim) -> Checked<Set> {
        match path {
            Path::Until(phi, psi) if !self.constraints.is_empty() => {
                let weak = Path::WeakUntil(phi.clone(), psi.clone());
                Ok(self.on_all_paths(&weak, claim)?.and(&self.stages(claim, psi, "A(f U g)")?))
            }
            _ => self.by_steps(path, claim.set, &claim.layers, |z| self.ax(z)),
        }
    }

    /// The rows of formulas that speak of single steps, on all paths or of a coalition: X, f U g, f W g, f R g with
    /// `ax`, `pre` or `opp` as `step`.
    fn by_steps(
        &self,
        path: &Path,
        set: Option<Ref>,
        layers: &[Ref],
        step: impl Fn(&Set) -> Set,
    ) -> Checked<Set> {
        match path {
            Path::Next(phi) => self.within(set, "W ⊆ step(W(f))", |_| step(phi)),
            Path::Until(phi, psi) => self.layers(layers, "L ⊆ W(g) ∪ (W(f) ∩ step(L<))", |before| {
                psi.or(&phi.and(&step(before)))
            }),
            Path::WeakUntil(phi, psi) => {
                self.within(set, "W ⊆ W(g) ∪ (W(f) ∩ step(W))", |w| psi.or(&phi.and(&step(w))))
            }
            Path::Release(phi, psi) => {
                self.within(set, "W ⊆ W(g) ∩ (W(f) ∪ step(W))", |w| psi.and(&phi.or(&step(w))))
            }
        }
    }

    /// Stages (c, P, V): `P ⊆ W(g) ∪ V< ∪ (W°(¬c) ∩ ax(P))`, `V ⊆ V< ∪ W(g) ∪ ax(P)`; returns the last `V`. With
    /// `W(g) = ∅` and `C = Inv` they lead to states without fair path.
    fn stages(&self, claim: &Claim, psi: &Set, row: &str) -> Checked<Set> {
        claim.stages.iter().try_fold(psi.clone(), |before, (constraint, p, v)| {
            let Some([_, unmet]) = self.constraints.get(*constraint) else {
                return Err(Failure::Input("there is no such fairness constraint".to_string()));
            };
            let (p, v) = (self.set(Some(*p))?, self.set(Some(*v))?);
            let ax = self.ax(&p);
            self.inside(&p, &before.or(&unmet.and(&ax)), &format!("{row}: P of a stage"))?;
            self.inside(&v, &before.or(&ax), &format!("{row}: V of a stage"))?;
            Ok(before.or(&v))
        })
    }

    /// The rows K, GK, DK and KH: every state of `C`, green for some agents, that one of the views confuses with a
    /// state of W is in `W(f)`; or, negated, every state of W is confused so with a state of `N ∩ W(¬f)`.
    fn knowledge(&mut self, views: &[&[AgentId]], green: &[AgentId], f: Part, claim: &Claim) -> Checked<Set> {
        let (phi, green) = (self.truth(f)?, self.encoded.green(green));
        if !f.sign {
            let confused = self.encoded.alike(views, &self.n.and(&green).and(&phi));
            return self.within(claim.set, "not K, GK, DK, KH", |_| confused);
        }
        let w = self.set(claim.set)?;
        let confused = self.encoded.alike(views, &w);
        self.inside(&confused.and(&self.c).and(&green), &phi, "K, GK, DK, KH")?;
        Ok(w)
    }

    /// The rows mu and nu.
    fn fixpoint(&mut self, z: FixpointId, is_least: bool, body: Part, claim: &Claim) -> Checked<Set> {
        let truth = |this: &mut Self, of_z: &Set, index| {
            this.bound.insert(z, (body.sign, of_z.clone()));
            let truth = this.truth(Part { claim: claim_of(claim, index), ..body });
            this.bound.remove(&z);
            truth
        };
        if !is_least {
            let w = self.set(claim.set)?;
            let bound = truth(self, &w, 0)?;
            return self.within(claim.set, "nu", |_| bound);
        }
        let mut before = self.nowhere.clone();
        for (index, layer) in claim.layers.iter().enumerate() {
            let (layer, bound) = (self.set(Some(*layer))?, truth(self, &before, index)?);
            self.inside(&layer, &bound, "mu")?;
            before = before.or(&layer);
        }
        Ok(before)
    }

    /// The rows of coalitions.
    fn enforces(
        &self,
        members: &[AgentId],
        strategies: Strategies,
        path: &Path,
        sign: bool,
        claim: &Claim,
    ) -> Checked<Set> {
        let forced = |outside: &Set| self.encoded.forced(members, &self.everything, outside, &self.dead);
        match (strategies, sign) {
            (Strategies::Perfect, true) => {
                self.by_steps(path, claim.set, &claim.layers, |z| forced(&self.c.minus(z)))
            }
            // opp(Z) is the complement of pre(complement of Z).
            (Strategies::Perfect, false) => {
                self.by_steps(path, claim.set, &claim.layers, |z| forced(z).not())
            }
            (_, true) => claim.pieces.iter().try_fold(self.nowhere.clone(), |w, piece| {
                Ok(w.or(&self.piece(members, strategies, path, piece)?))
            }),
            _ => Err(self.refusal("not <g, uniform>: no condition shows it", None)),
        }
    }

    /// A piece of a uniform strategy; returns its part.
    fn piece(&self, members: &[AgentId], strategies: Strategies, path: &Path, piece: &Piece) -> Checked<Set> {
        let choice = self.choice(members, piece)?;
        let won = self.by_steps(path, piece.set, &piece.layers, |z| {
            self.encoded.forced(members, &choice, &self.c.minus(z), &self.dead)
        })?;
        let part = self.set(piece.part)?;
        let starts = match strategies {
            Strategies::Uniform => self.encoded.alike(&one_by_one(members), &part),
            Strategies::UniformJoint => self.encoded.alike(&[members], &part),
            Strategies::UniformObjective | Strategies::Perfect => part.clone(),
        };
        self.inside(&starts.and(&self.c), &won, "<g, uniform>: every start is in the winning set")?;
        Ok(part)
    }

    /// Returns the joint choices of a group: each member a partial function from its own view to one action.
    fn choice(&self, members: &[AgentId], piece: &Piece) -> Checked<Set> {
        let mut joint = self.everything.clone();
        for (place, &member) in members.iter().enumerate() {
            let (mut taken, mut own) = (self.nowhere.clone(), self.nowhere.clone());
            for (_, action, states) in piece.choices.iter().filter(|choice| choice.0 == place) {
                let states = self.given(Some(*states))?.and(&self.encoded.valid);
                let alike = self.encoded.alike(&[&[member]], &states).and(&self.encoded.valid);
                let is_action = (*action as usize) < self.system.agent(member).actions.len();
                if alike != states || !is_action || !taken.and(&states).is_empty() {
                    return Err(self.refusal("<g, uniform>: one action for each view", None));
                }
                taken = taken.or(&states);
                own = own.or(&states.and(&self.encoded.values.action_is(member, *action)));
            }
            joint = joint.and(&own);
        }
        Ok(joint)
    }

    /// Checks layers, each given the union of the earlier ones, and returns their union.
    fn layers(&self, layers: &[Ref], row: &str, mut bound: impl FnMut(&Set) -> Set) -> Checked<Set> {
        layers.iter().try_fold(self.nowhere.clone(), |before, layer| {
            let layer = self.set(Some(*layer))?;
            self.inside(&layer, &bound(&before), row)?;
            Ok(before.or(&layer))
        })
    }

    /// `ex(Z)`: some successor in Z; under `--deadlock stutter` the loop of a dead end counts.
    fn ex(&self, z: &Set) -> Set {
        let before = self.encoded.before(z, None);
        match self.system.meaning.deadlock {
            Deadlock::Stutter => before.or(&z.and(&self.dead)),
            Deadlock::Finite | Deadlock::Error => before,
        }
    }

    /// `ax(Z)`: all successors in `C` are in Z. Successors of states in `Inv` are in `Inv`.
    fn ax(&self, z: &Set) -> Set {
        self.ex(&self.c.minus(z)).not()
    }

    /// Returns a given set, cut to `C`, once it lies inside a bound that may depend on it.
    fn within(&self, set: Option<Ref>, row: &str, bound: impl FnOnce(&Set) -> Set) -> Checked<Set> {
        let w = self.set(set)?;
        self.inside(&w, &bound(&w), row)?;
        Ok(w)
    }

    /// Returns a given set, cut to `C`: to all states until `Inv` is known. Codes that stand for no state do not matter.
    fn set(&self, set: Option<Ref>) -> Checked<Set> {
        Ok(self.given(set)?.and(&self.c))
    }

    fn given(&self, set: Option<Ref>) -> Checked<Set> {
        let Ref(set) = set.ok_or_else(|| self.refusal("a set is missing", None))?;
        Ok(self.signed(&self.sets[set as usize >> 1], set & 1 == 0))
    }

    /// Refuses unless one set lies inside another; the message names a state outside.
    fn inside(&self, set: &Set, bound: &Set, row: &str) -> Checked<()> {
        match self.encoded.some_state(&set.minus(bound)) {
            None => Ok(()),
            state => Err(self.refusal(row, state)),
        }
    }

    fn not_empty(&self, set: &Set, row: &str) -> Checked<()> {
        if set.is_empty() { Err(self.refusal(row, None)) } else { Ok(()) }
    }

    fn refusal(&self, row: &str, state: Option<String>) -> Failure {
        let part = self.part.map_or(String::new(), |part| format!(", for {}", self.text(part)));
        Failure::Refused { condition: format!("{row}{part}"), state }
    }

    fn text(&self, part: Part) -> String {
        let text = self.system.formula_text(part.formula);
        if part.sign { text } else { format!("!({text})") }
    }
}

/// Returns the claim about an operand.
fn claim_of(claim: &Claim, place: usize) -> Option<usize> {
    claim.of.get(place).copied().flatten()
}

/// Returns the views of agents, each on its own.
fn one_by_one(agents: &[AgentId]) -> Vec<&[AgentId]> {
    agents.iter().map(from_ref).collect()
}

/// Computes images of sets that grow: the image of a union is the union of the images.
fn growing(nowhere: &Set, image: impl Fn(&Set) -> Set) -> impl FnMut(&Set) -> Set {
    let (mut seen, mut images) = (nowhere.clone(), nowhere.clone());
    move |set| {
        images = images.or(&image(&set.minus(&seen)));
        seen = set.clone();
        images.clone()
    }
}
