//! Labelling: for each formula the set of states where it is true, operands first.
//!
//! Connectives and conditions are each worker's own business; paths and knowledge are exchanged
//! (`temporal`, `views`).

use std::rc::Rc;

use masque_explicit::parts::Bitset;
use masque_model::{Formula, FormulaId};
use masque_verdict::{Stop, Why, outside_ctl};
use rustc_hash::FxHashSet;

use crate::shard::{Over, Shard};

impl Shard<'_> {
    /// `⟦φ⟧ = {s ∈ D | s ⊨ φ}`
    pub(crate) fn truth(&mut self, formula: FormulaId) -> Result<Rc<Bitset>, Stop> {
        if self.system.fairness.is_empty() {
            return self.label(formula, Over::AllPaths);
        }
        self.domain()?;
        self.label(formula, Over::FairPaths)
    }

    /// Labels a formula, all its parts first.
    pub(crate) fn label(&mut self, root: FormulaId, over: Over) -> Result<Rc<Bitset>, Stop> {
        if outside_ctl(&self.system.formulas, root).is_some() {
            return Err(Why::Unsupported.into());
        }
        for formula in self.unknown_parts(root, over) {
            self.net.budget.check()?;
            let set = self.label_one(formula, over)?;
            self.check_memory(set.bytes())?;
            self.over(over).known.insert(formula, Rc::new(set));
        }
        self.known(root, over)
    }

    /// The state formulas inside `root` that are not labelled yet, operands before users.
    fn unknown_parts(&mut self, root: FormulaId, over: Over) -> Vec<FormulaId> {
        let formulas = &self.system.formulas;
        let known = &self.over(over).known;
        let mut stack = vec![root];
        let mut parts = FxHashSet::default();
        while let Some(id) = stack.pop() {
            if known.contains_key(&id) || !parts.insert(id) {
                continue;
            }
            match formulas.get(id) {
                // Only the state formulas below a path formula have sets.
                Formula::Exists(_, path) | Formula::Forall(_, path) => {
                    formulas.each_operand(path, |operand| stack.push(operand));
                }
                _ => formulas.each_operand(id, |operand| stack.push(operand)),
            }
        }
        let mut parts: Vec<FormulaId> = parts.into_iter().collect();
        parts.sort_unstable();
        parts
    }

    fn known(&mut self, formula: FormulaId, over: Over) -> Result<Rc<Bitset>, Stop> {
        let known = self.over(over).known.get(&formula).map(Rc::clone);
        known.ok_or(Stop::from(Why::Unsupported))
    }

    /// Labels a formula whose operands are labelled.
    fn label_one(&mut self, formula: FormulaId, over: Over) -> Result<Bitset, Stop> {
        let system = self.system;
        let domain = Rc::clone(&self.over(over).states);
        let not = |phi: &Bitset| (*domain).clone().minus(phi);
        Ok(match system.formulas.get(formula) {
            Formula::Bool(true) => (*domain).clone(),
            Formula::Bool(false) => Bitset::empty(self.n_states()),
            Formula::Proposition(p) => self.where_true(system.propositions[p.index()].condition, &domain)?,
            Formula::Condition(condition) => self.where_true(condition, &domain)?,
            Formula::Green(agent) => self.green(agent, &domain)?,
            Formula::Red(agent) => not(&self.green(agent, &domain)?),
            Formula::Not(f) => not(&*self.known(f, over)?),
            Formula::And(list) => {
                let mut all = (*domain).clone();
                for &f in list {
                    all = all.and(&*self.known(f, over)?);
                }
                all
            }
            Formula::Or(list) => {
                let mut some = Bitset::empty(self.n_states());
                for &f in list {
                    some = some.or(&*self.known(f, over)?);
                }
                some
            }
            Formula::Implies(f, g) => not(&*self.known(f, over)?).or(&*self.known(g, over)?),
            Formula::Iff(f, g) => {
                let differ = (*self.known(f, over)?).clone().xor(&*self.known(g, over)?);
                not(&differ)
            }
            Formula::Exists(_, path) => self.exists(path, over)?,
            Formula::Forall(_, path) => not(&self.violated(path, over)?),
            Formula::Knows(agent, f) => {
                let not_phi = not(&*self.known(f, over)?);
                self.knows(&self.mask(&[agent]), &domain, &not_phi)?
            }
            Formula::EveryoneKnows(group, f) => {
                let not_phi = not(&*self.known(f, over)?);
                let mut all = (*domain).clone();
                for &agent in &system.groups[group.index()].agents {
                    all = all.and(&self.knows(&self.mask(&[agent]), &domain, &not_phi)?);
                }
                all
            }
            Formula::DistributedKnowledge(group, f) => {
                let not_phi = not(&*self.known(f, over)?);
                self.knows(&self.mask(&system.groups[group.index()].agents), &domain, &not_phi)?
            }
            Formula::CommonKnowledge(group, f) => {
                let not_phi = not(&*self.known(f, over)?);
                self.common_knowledge(group, &domain, not_phi)?
            }
            Formula::Correct(agent, f) => {
                let phi = self.known(f, over)?;
                // `O_i φ`: φ at every state of D that is green for i, wherever we stand.
                let is_violated = !self.green(agent, &domain)?.is_subset(&phi);
                match self.net.any(is_violated)? {
                    false => (*domain).clone(),
                    true => Bitset::empty(self.n_states()),
                }
            }
            Formula::KnowsUnder(agent, group, f) => {
                let mut bad = not(&*self.known(f, over)?);
                // `KH(i, Γ, φ)`: as K, but only states green for all of Γ count.
                for &member in &system.groups[group.index()].agents {
                    bad = self.green(member, &bad)?;
                }
                self.knows(&self.mask(&[agent]), &domain, &bad)?
            }
            Formula::Next(_)
            | Formula::Finally(_)
            | Formula::Globally(_)
            | Formula::Until(..)
            | Formula::WeakUntil(..)
            | Formula::Release(..)
            | Formula::Enforces(..)
            | Formula::ExistsStep(..)
            | Formula::ForallStep(..)
            | Formula::Least(..)
            | Formula::Greatest(..)
            | Formula::Bound(_) => return Err(Why::Unsupported.into()),
        })
    }

    /// `E path`, where the path formula is one operator on state formulas.
    ///
    /// ```text
    /// EF φ = E(true U φ)     E(φ W ψ) = E(φ U ψ) ∨ EG φ     E(φ R ψ) = E(ψ U (φ ∧ ψ)) ∨ EG ψ
    /// ```
    fn exists(&mut self, path: FormulaId, over: Over) -> Result<Bitset, Stop> {
        let path = self.system.formulas.get(path);
        let (left, right) = self.operands(path, over)?;
        let (domain, constraints) = self.scope(over);
        match path {
            Formula::Next(_) => self.exists_next(&left, &domain),
            Formula::Finally(_) => self.exists_until(&domain, &left),
            Formula::Globally(_) => self.exists_globally_fair(&left, &constraints),
            Formula::Until(..) => self.exists_until(&left, &right),
            Formula::WeakUntil(..) => {
                let until = self.exists_until(&left, &right)?;
                Ok(until.or(&self.exists_globally_fair(&left, &constraints)?))
            }
            Formula::Release(..) => {
                let both = (*left).clone().and(&right);
                let until = self.exists_until(&right, &both)?;
                Ok(until.or(&self.exists_globally_fair(&right, &constraints)?))
            }
            _ => Err(Why::Unsupported.into()),
        }
    }

    /// Where `A path` is false: each `A` is the dual of an `E`.
    ///
    /// ```text
    /// AX φ = ¬EX ¬φ     AF φ = ¬EG ¬φ     AG φ = ¬EF ¬φ
    /// A(φ U ψ) = ¬(E(¬ψ U (¬φ ∧ ¬ψ)) ∨ EG ¬ψ)
    /// A(φ W ψ) = ¬E(¬ψ U (¬φ ∧ ¬ψ))
    /// A(φ R ψ) = ¬E(¬φ U ¬ψ)
    /// ```
    fn violated(&mut self, path: FormulaId, over: Over) -> Result<Bitset, Stop> {
        let path = self.system.formulas.get(path);
        let (left, right) = self.operands(path, over)?;
        let (domain, constraints) = self.scope(over);
        let not_left = (*domain).clone().minus(&left);
        let not_right = (*domain).clone().minus(&right);
        match path {
            Formula::Next(_) => self.exists_next(&not_left, &domain),
            Formula::Finally(_) => self.exists_globally_fair(&not_left, &constraints),
            Formula::Globally(_) => self.exists_until(&domain, &not_left),
            Formula::Until(..) => {
                let neither = not_left.and(&not_right);
                let until = self.exists_until(&not_right, &neither)?;
                Ok(until.or(&self.exists_globally_fair(&not_right, &constraints)?))
            }
            Formula::WeakUntil(..) => self.exists_until(&not_right, &not_left.and(&not_right)),
            Formula::Release(..) => self.exists_until(&not_left, &not_right),
            _ => Err(Why::Unsupported.into()),
        }
    }

    /// The sets of a temporal operator's operands; the same twice if there is one.
    fn operands(&mut self, path: Formula<'_>, over: Over) -> Result<(Rc<Bitset>, Rc<Bitset>), Stop> {
        match path {
            Formula::Next(f) | Formula::Finally(f) | Formula::Globally(f) => {
                let phi = self.known(f, over)?;
                Ok((Rc::clone(&phi), phi))
            }
            Formula::Until(f, g) | Formula::WeakUntil(f, g) | Formula::Release(f, g) => {
                Ok((self.known(f, over)?, self.known(g, over)?))
            }
            _ => Err(Why::Unsupported.into()),
        }
    }
}
