//! Labelling: for each formula the set of states where it is true, operands first.
//!
//! Connectives and conditions are each worker's own business; paths, knowledge and what groups can
//! do are exchanged (`temporal`, `product`, `views`, `games`).

use std::rc::Rc;

use masque_explicit::parts::{Bitset, Goal};
use masque_model::{Formula, FormulaId, Paths, Strategies};
use masque_verdict::{Stop, Why, outside_logic};
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

    /// Where a formula is true among the states `asked`; of other states nothing is said.
    ///
    /// What a group can do with uniform strategies is searched for state by state, so it matters
    /// that most properties ask at the initial states only.
    pub(crate) fn truth_among(&mut self, formula: FormulaId, asked: &Bitset) -> Result<Rc<Bitset>, Stop> {
        self.domain()?;
        let over = Over::FairPaths;
        let is_known = self.over(over).known.contains_key(&formula);
        match self.system.formulas.get(formula) {
            Formula::Not(f) if !is_known => {
                let truth = self.truth_among(f, asked)?;
                Ok(Rc::new((*self.scope(over).0).clone().minus(&truth)))
            }
            Formula::Enforces(_, strategies, path) if strategies != Strategies::Perfect && !is_known => {
                let partly = self.over(over).partly.get(&formula);
                let is_new = partly.is_none_or(|(known, _)| !asked.is_subset(known));
                if self.net.any(is_new)? {
                    for operand in self.system.formulas.operands(path) {
                        self.truth(operand)?;
                    }
                    let truth = self.enforces(formula, over, Some(asked))?;
                    let nowhere = Bitset::empty(self.n_states());
                    let (known, all) =
                        self.over(over).partly.remove(&formula).unwrap_or((nowhere.clone(), nowhere));
                    let partly = (known.or(asked).or(&truth), all.or(&truth));
                    self.over(over).partly.insert(formula, partly);
                }
                let partly = self.over(over).partly.get(&formula);
                partly.map(|(_, truth)| Rc::new(truth.clone())).ok_or(Stop::from(Why::Unsupported))
            }
            _ => self.truth(formula),
        }
    }

    /// Labels a formula, all its parts first.
    pub(crate) fn label(&mut self, root: FormulaId, over: Over) -> Result<Rc<Bitset>, Stop> {
        if outside_logic(&self.system.formulas, root).is_some() {
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
        let is_path = formulas.path_formulas();
        let known = &self.over(over).known;
        let mut stack = vec![root];
        let mut parts = FxHashSet::default();
        while let Some(id) = stack.pop() {
            if !known.contains_key(&id) && parts.insert(id) {
                formulas.each_operand(id, |operand| stack.push(operand));
            }
        }
        let mut parts: Vec<FormulaId> = parts.into_iter().collect();
        // Only the state formulas below a path formula have sets, and only the closed ones sets that
        // last.
        parts.retain(|&id| !is_path[id.index()] && !self.fixpoints.is_open(id));
        parts.sort_unstable();
        parts
    }

    pub(crate) fn known(&mut self, formula: FormulaId, over: Over) -> Result<Rc<Bitset>, Stop> {
        let open = self.open.sets.get(&formula).map(Rc::clone);
        let known = open.or_else(|| self.over(over).known.get(&formula).map(Rc::clone));
        known.ok_or(Stop::from(Why::Unsupported))
    }

    /// Labels a formula whose operands are labelled.
    pub(crate) fn label_one(&mut self, formula: FormulaId, over: Over) -> Result<Bitset, Stop> {
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
            Formula::Exists(Paths::Ctl, path) => self.exists(path, over)?,
            Formula::Forall(Paths::Ctl, path) => not(&self.violated(path, over)?),
            Formula::Exists(Paths::Infinite, path) => self.some_path(path, true, over)?,
            // `A φ = ¬E ¬φ`
            Formula::Forall(Paths::Infinite, path) => not(&self.some_path(path, false, over)?),
            Formula::Enforces(..) => self.enforces(formula, over, None)?,
            Formula::ExistsStep(condition, f) => {
                let phi = self.known(f, over)?;
                self.exists_step(condition, &phi, &domain)?
            }
            Formula::ForallStep(condition, f) => {
                let not_phi = not(&*self.known(f, over)?);
                not(&self.exists_step(condition, &not_phi, &domain)?)
            }
            Formula::Least(..) | Formula::Greatest(..) => self.fixpoint(formula, over)?,
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

    /// What a group is to enforce.
    pub(crate) fn goal(&mut self, path: FormulaId, over: Over) -> Result<Goal, Stop> {
        let path = self.system.formulas.get(path);
        let (left, right) = self.operands(path, over)?;
        Goal::new(path, &left, &right, &self.scope(over).0)
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
