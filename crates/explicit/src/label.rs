//! Labelling: for each formula the set of states where it is true, operands first.
//!
//! Formulas are hash-consed, so equal subformulas, also of different properties, are labelled once.
//! Every set is a subset of the domain `D`, and a complement is taken inside it.

use std::rc::Rc;

use masque_model::{
    AgentId, ExprId, Fixpoints, Formula, FormulaId, GroupId, Paths as Ranging, Strategies, System, VarId,
};
use masque_verdict::{Ahead, Budget, Part, Stop, Why};
use rustc_hash::FxHashMap;

use crate::atoms::Atoms;
use crate::bitset::Bitset;
use crate::explore::{Space, transitions};
use crate::games::Game;
use crate::graph::Graph;
use crate::jobs::Jobs;
use crate::knowledge::Classes;
use crate::mu::Open;
use crate::steps::Steps;
use crate::temporal::Paths;

/// Labels the states of one explored system.
pub(crate) struct Labeller<'s> {
    pub(crate) system: &'s System,
    pub(crate) steps: Steps<'s>,
    pub(crate) space: Space,
    atoms: Atoms<'s>,
    /// Without fairness: over all reachable states.
    plain: Domain,
    /// With fairness: over the states at which a fair path starts, once they are known.
    fair: Option<Domain>,
    /// Views used lately, the latest last.
    views: Vec<(Vec<u64>, Rc<Classes>)>,
    pub(crate) fixpoints: Fixpoints,
    /// What is inside the fixpoint being computed.
    pub(crate) open: Open,
    /// The transitions by steps that meet a condition, as far as somebody asked.
    pub(crate) steps_with: Vec<(ExprId, Rc<Graph>)>,
    /// The games of groups, the latest last.
    pub(crate) games: Vec<(GroupId, Rc<Game>)>,
    /// The properties that are yet to be decided.
    ahead: Ahead,
    /// Of formulas whose labels were dropped: whether they are true anywhere.
    occurs: FxHashMap<FormulaId, bool>,
    /// The regions of infinite runs asked for last.
    pub(crate) asked: Vec<(Part, Rc<Bitset>)>,
    pub(crate) peak_bytes: u64,
    pub(crate) jobs: Jobs,
}

/// A domain and what is known over it.
struct Domain {
    states: Rc<Bitset>,
    /// Where each fairness constraint is true; none if fairness does not matter here.
    constraints: Rc<[Bitset]>,
    known: FxHashMap<FormulaId, Rc<Bitset>>,
    /// What is known of formulas at some states only: where they were asked, and where they are true.
    partly: FxHashMap<FormulaId, (Bitset, Bitset)>,
}

impl Domain {
    fn new(states: Rc<Bitset>, constraints: Rc<[Bitset]>) -> Domain {
        Domain { states, constraints, known: FxHashMap::default(), partly: FxHashMap::default() }
    }
}

/// Which domain a formula is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    AllPaths,
    FairPaths,
}

/// So many views are kept; each costs four bytes a state.
const N_VIEWS: usize = 2;

impl<'s> Labeller<'s> {
    pub(crate) fn new(system: &'s System, steps: Steps<'s>, space: Space, jobs: Jobs) -> Labeller<'s> {
        let atoms = Atoms::new(system, &steps.layout);
        let plain = Domain::new(Rc::new(Bitset::full(space.n_states())), Rc::new([]));
        let peak_bytes = space.bytes();
        Labeller {
            system,
            steps,
            space,
            atoms,
            plain,
            fair: None,
            views: Vec::new(),
            fixpoints: system.formulas.fixpoints(),
            open: Open::default(),
            steps_with: Vec::new(),
            games: Vec::new(),
            ahead: Ahead::new(system),
            occurs: FxHashMap::default(),
            asked: Vec::new(),
            peak_bytes,
            jobs,
        }
    }

    /// A property is to be decided: labels of no further use are dropped. Of each it is remembered
    /// whether it was empty, which is asked when all properties are decided.
    pub(crate) fn turn_to(&mut self, property: FormulaId) {
        let Labeller { system, ahead, plain, fair, occurs, .. } = self;
        let domain = match fair {
            Some(fair) => fair,
            None if system.fairness.is_empty() => plain,
            // Nothing is labelled but constraints.
            None => return ahead.turn_to(&system.formulas, property, |_| {}),
        };
        ahead.turn_to(&system.formulas, property, |part| {
            domain.partly.remove(&part);
            if let Some(states) = domain.known.remove(&part) {
                occurs.insert(part, !states.is_empty());
            }
        });
    }

    /// The property that is being decided was stopped: its labels are kept until it is asked again.
    pub(crate) fn put_off(&mut self) {
        self.ahead.put_off();
    }

    /// Whether a formula is true at some state of `D`.
    pub(crate) fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        match self.occurs.get(&formula) {
            Some(&occurs) => Ok(occurs),
            None => Ok(!self.truth(formula, budget)?.is_empty()),
        }
    }

    /// `D`: the reachable states, or with fairness constraints those at which a fair path starts.
    ///
    /// ```text
    /// D = ⟦E_fair G true⟧ over all reachable states
    /// ```
    ///
    /// The constraints themselves are labelled without fairness.
    pub(crate) fn domain(&mut self, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        if self.system.fairness.is_empty() {
            return Ok(Rc::clone(&self.plain.states));
        }
        if let Some(fair) = &self.fair {
            return Ok(Rc::clone(&fair.states));
        }
        let mut constraints = Vec::new();
        for &constraint in &self.system.fairness {
            constraints.push((*self.label(constraint, Over::AllPaths, budget)?).clone());
        }
        self.make_graph(budget)?;
        let all = Rc::clone(&self.plain.states);
        let paths = self.paths(&all, &constraints, budget)?;
        let states = Rc::new(paths.exists_globally(&all)?);
        self.fair = Some(Domain::new(Rc::clone(&states), constraints.into()));
        Ok(states)
    }

    /// `⟦φ⟧ = {s ∈ D | s ⊨ φ}`
    pub(crate) fn truth(&mut self, formula: FormulaId, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        if self.system.fairness.is_empty() {
            return self.label(formula, Over::AllPaths, budget);
        }
        self.domain(budget)?;
        self.label(formula, Over::FairPaths, budget)
    }

    /// Where a formula is true among the states `asked`; of other states nothing is said.
    ///
    /// What a group can do with uniform strategies is searched for state by state, so it matters
    /// that most properties ask at the initial states only.
    pub(crate) fn truth_among(
        &mut self,
        formula: FormulaId,
        asked: &Bitset,
        budget: &Budget,
    ) -> Result<Rc<Bitset>, Stop> {
        self.domain(budget)?;
        let over = Over::FairPaths;
        let is_known = self.over(over).known.contains_key(&formula);
        match self.system.formulas.get(formula) {
            Formula::Not(f) if !is_known => {
                let truth = self.truth_among(f, asked, budget)?;
                Ok(Rc::new((*self.domain_of(over)).clone().minus(&truth)))
            }
            Formula::Enforces(_, strategies, path) if strategies != Strategies::Perfect && !is_known => {
                if let Some((known, truth)) = self.over(over).partly.get(&formula)
                    && asked.is_subset(known)
                {
                    return Ok(Rc::new(truth.clone()));
                }
                for operand in self.system.formulas.operands(path) {
                    self.truth(operand, budget)?;
                }
                let truth = self.enforces(formula, over, Some(asked), budget)?;
                let none = (Bitset::empty(asked.len()), Bitset::empty(asked.len()));
                let partly = self.over(over).partly.entry(formula).or_insert(none);
                partly.0 = partly.0.clone().or(asked).or(&truth);
                partly.1 = partly.1.clone().or(&truth);
                Ok(Rc::new(partly.1.clone()))
            }
            _ => self.truth(formula, budget),
        }
    }

    /// The initial states in `D`.
    pub(crate) fn initial(&mut self, budget: &Budget) -> Result<Bitset, Stop> {
        let domain = self.domain(budget)?;
        Ok(Bitset::first(self.space.n_initial(), self.space.n_states()).and(&domain))
    }

    /// What the engine holds.
    pub(crate) fn bytes(&self) -> u64 {
        let sets = |domain: &Domain| domain.known.values().map(|set| set.bytes()).sum::<u64>();
        let views: u64 = self.views.iter().map(|(_, classes)| classes.bytes()).sum();
        let asked: u64 = self.asked.iter().map(|(_, states)| states.bytes()).sum();
        let open: u64 = self.open.sets.values().map(|set| set.bytes()).sum();
        let steps: u64 = self.steps_with.iter().map(|(_, graph)| graph.bytes()).sum();
        let games: u64 = self.games.iter().map(|(_, game)| game.bytes()).sum();
        let labels = sets(&self.plain) + self.fair.as_ref().map_or(0, sets);
        self.space.bytes() + labels + views + asked + open + steps + games
    }

    pub(crate) fn check_memory(&mut self, more: u64, budget: &Budget) -> Result<(), Stop> {
        let bytes = self.bytes() + more;
        self.peak_bytes = self.peak_bytes.max(bytes);
        budget.check_memory(bytes)
    }

    /// Labels a formula, all its parts first.
    fn label(&mut self, root: FormulaId, over: Over, budget: &Budget) -> Result<Rc<Bitset>, Stop> {
        if masque_verdict::outside_logic(&self.system.formulas, root).is_some() {
            return Err(Why::Unsupported.into());
        }
        for formula in self.unknown_parts(root, over) {
            budget.check()?;
            let set = self.label_one(formula, over, budget)?;
            self.check_memory(set.bytes(), budget)?;
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
        let mut parts = rustc_hash::FxHashSet::default();
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

    fn over(&mut self, over: Over) -> &mut Domain {
        match (over, &mut self.fair) {
            (Over::FairPaths, Some(fair)) => fair,
            _ => &mut self.plain,
        }
    }

    /// `D`, or the part of it in question.
    pub(crate) fn domain_of(&mut self, over: Over) -> Rc<Bitset> {
        Rc::clone(&self.over(over).states)
    }

    pub(crate) fn known(&mut self, formula: FormulaId, over: Over) -> Result<Rc<Bitset>, Stop> {
        let open = self.open.sets.get(&formula).map(Rc::clone);
        let known = open.or_else(|| self.over(over).known.get(&formula).map(Rc::clone));
        known.ok_or(Stop::from(Why::Unsupported))
    }

    /// Labels a formula whose operands are labelled.
    pub(crate) fn label_one(
        &mut self,
        formula: FormulaId,
        over: Over,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let system = self.system;
        let domain = Rc::clone(&self.over(over).states);
        let not = |phi: &Bitset| (*domain).clone().minus(phi);
        Ok(match system.formulas.get(formula) {
            Formula::Bool(true) => (*domain).clone(),
            Formula::Bool(false) => Bitset::empty(self.space.n_states()),
            Formula::Proposition(p) => {
                self.where_true(system.propositions[p.index()].condition, &domain, budget)?
            }
            Formula::Condition(condition) => self.where_true(condition, &domain, budget)?,
            Formula::Green(agent) => self.green(agent, &domain, budget)?,
            Formula::Red(agent) => not(&self.green(agent, &domain, budget)?),
            Formula::Not(f) => not(&*self.known(f, over)?),
            Formula::And(list) => {
                let mut all = (*domain).clone();
                for &f in list {
                    all = all.and(&*self.known(f, over)?);
                }
                all
            }
            Formula::Or(list) => {
                let mut some = Bitset::empty(self.space.n_states());
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
            Formula::Exists(Ranging::Ctl, path) => self.exists(path, over, budget)?,
            Formula::Forall(Ranging::Ctl, path) => not(&self.violated(path, over, budget)?),
            Formula::Exists(Ranging::Infinite, path) => self.some_path(path, true, over, budget)?,
            // `A φ = ¬E ¬φ`
            Formula::Forall(Ranging::Infinite, path) => not(&self.some_path(path, false, over, budget)?),
            Formula::Enforces(..) => self.enforces(formula, over, None, budget)?,
            Formula::ExistsStep(condition, f) => {
                let phi = self.known(f, over)?;
                self.exists_step(condition, &phi, over, budget)?
            }
            Formula::ForallStep(condition, f) => {
                let not_phi = not(&*self.known(f, over)?);
                not(&self.exists_step(condition, &not_phi, over, budget)?)
            }
            Formula::Least(..) | Formula::Greatest(..) => self.fixpoint(formula, over, budget)?,
            Formula::Knows(agent, f) => {
                let phi = self.known(f, over)?;
                self.knows(agent, &domain, &not(&phi), budget)?
            }
            Formula::EveryoneKnows(group, f) => {
                let not_phi = not(&*self.known(f, over)?);
                let mut all = (*domain).clone();
                for &agent in &system.groups[group.index()].agents {
                    all = all.and(&self.knows(agent, &domain, &not_phi, budget)?);
                }
                all
            }
            Formula::DistributedKnowledge(group, f) => {
                let not_phi = not(&*self.known(f, over)?);
                let agents = &system.groups[group.index()].agents;
                let seen = agents.iter().flat_map(|&agent| system.agent(agent).sees.iter().copied());
                self.view(seen, budget)?.untouched(&domain, &not_phi, &self.jobs)?
            }
            Formula::CommonKnowledge(group, f) => {
                let not_phi = not(&*self.known(f, over)?);
                self.common_knowledge(group, &domain, &not_phi, budget)?
            }
            Formula::Correct(agent, f) => {
                let phi = self.known(f, over)?;
                // `O_i φ`: φ at every state of D that is green for i, wherever we stand.
                if self.green(agent, &domain, budget)?.is_subset(&phi) {
                    (*domain).clone()
                } else {
                    Bitset::empty(self.space.n_states())
                }
            }
            Formula::KnowsUnder(agent, group, f) => {
                let mut bad = not(&*self.known(f, over)?);
                // `KH(i, Γ, φ)`: as K, but only states green for all of Γ count.
                for &member in &system.groups[group.index()].agents {
                    bad = bad.and(&self.green(member, &domain, budget)?);
                }
                self.knows(agent, &domain, &bad, budget)?
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

    fn where_true(
        &mut self,
        condition: masque_model::ExprId,
        domain: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let row = |state| self.space.store.row(state);
        self.atoms.where_true(condition, (&self.steps.layout, row), domain, &self.jobs, budget)
    }

    /// The states of `D` that are green for an agent: its RedStates is false there.
    pub(crate) fn green(&mut self, agent: AgentId, domain: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        match self.system.agent(agent).red {
            None => Ok(domain.clone()),
            Some(red) => Ok(domain.clone().minus(&self.where_true(red, domain, budget)?)),
        }
    }

    /// `E path`, where the path formula is one operator on state formulas.
    ///
    /// ```text
    /// EF φ = E(true U φ)     E(φ W ψ) = E(φ U ψ) ∨ EG φ     E(φ R ψ) = E(ψ U (φ ∧ ψ)) ∨ EG ψ
    /// ```
    fn exists(&mut self, path: FormulaId, over: Over, budget: &Budget) -> Result<Bitset, Stop> {
        self.make_graph(budget)?;
        let path = self.system.formulas.get(path);
        let (left, right) = self.operands(path, over)?;
        let (domain, constraints) = self.scope(over);
        let paths = self.paths(&domain, &constraints, budget)?;
        match path {
            Formula::Next(_) => paths.exists_next(&left),
            Formula::Finally(_) => paths.exists_until(&domain, &left),
            Formula::Globally(_) => paths.exists_globally(&left),
            Formula::Until(..) => paths.exists_until(&left, &right),
            Formula::WeakUntil(..) => {
                Ok(paths.exists_until(&left, &right)?.or(&paths.exists_globally(&left)?))
            }
            Formula::Release(..) => {
                let both = (*left).clone().and(&right);
                Ok(paths.exists_until(&right, &both)?.or(&paths.exists_globally(&right)?))
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
    fn violated(&mut self, path: FormulaId, over: Over, budget: &Budget) -> Result<Bitset, Stop> {
        self.make_graph(budget)?;
        let path = self.system.formulas.get(path);
        let (left, right) = self.operands(path, over)?;
        let (domain, constraints) = self.scope(over);
        let not_left = (*domain).clone().minus(&left);
        let not_right = (*domain).clone().minus(&right);
        let paths = self.paths(&domain, &constraints, budget)?;
        match path {
            Formula::Next(_) => paths.exists_next(&not_left),
            Formula::Finally(_) => paths.exists_globally(&not_left),
            Formula::Globally(_) => paths.exists_until(&domain, &not_left),
            Formula::Until(..) => {
                let neither = not_left.and(&not_right);
                Ok(paths.exists_until(&not_right, &neither)?.or(&paths.exists_globally(&not_right)?))
            }
            Formula::WeakUntil(..) => paths.exists_until(&not_right, &not_left.and(&not_right)),
            Formula::Release(..) => paths.exists_until(&not_left, &not_right),
            _ => Err(Why::Unsupported.into()),
        }
    }

    /// The sets of a temporal operator's operands; the same twice if there is one.
    pub(crate) fn operands(
        &mut self,
        path: Formula<'_>,
        over: Over,
    ) -> Result<(Rc<Bitset>, Rc<Bitset>), Stop> {
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

    pub(crate) fn scope(&mut self, over: Over) -> (Rc<Bitset>, Rc<[Bitset]>) {
        let domain = self.over(over);
        (Rc::clone(&domain.states), Rc::clone(&domain.constraints))
    }

    pub(crate) fn paths<'a>(
        &'a self,
        domain: &'a Bitset,
        constraints: &'a [Bitset],
        budget: &'a Budget,
    ) -> Result<Paths<'a>, Stop> {
        let graph = self.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))?;
        // The counts of EG and the numbers of Tarjan's algorithm.
        budget.check_memory(self.bytes() + self.space.n_states() as u64 * 8)?;
        Ok(Paths { graph, domain, constraints, budget })
    }

    /// `⟦EG φ⟧` over the domain, given where `φ` is true there.
    pub(crate) fn exists_globally(&mut self, phi: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        self.make_graph(budget)?;
        self.domain(budget)?;
        let (domain, constraints) = self.scope(Over::FairPaths);
        self.paths(&domain, &constraints, budget)?.exists_globally(phi)
    }

    /// Where a fairness constraint is true.
    pub(crate) fn constraint(&mut self, number: usize, budget: &Budget) -> Result<Bitset, Stop> {
        self.domain(budget)?;
        let (domain, constraints) = self.scope(Over::FairPaths);
        let constraint = constraints.get(number).ok_or(Stop::from(Why::Unsupported))?;
        Ok(constraint.clone().and(&domain))
    }

    /// Makes sure that the transitions are there.
    pub(crate) fn make_graph(&mut self, budget: &Budget) -> Result<(), Stop> {
        if self.space.graph.is_none() {
            let graph = transitions(&mut self.space, self.system, &self.steps, &self.jobs, budget)?;
            self.space.graph = Some(graph);
            self.check_memory(0, budget)?;
        }
        Ok(())
    }

    /// `K_i φ`: agent `i` knows `φ`, given where `φ` is false.
    ///
    /// ```text
    /// ⟦K_i φ⟧ = D ∖ {s | some t ∈ D ∖ ⟦φ⟧ has l_i(t) = l_i(s)}
    /// ```
    fn knows(
        &mut self,
        agent: AgentId,
        domain: &Bitset,
        not_phi: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let seen = self.system.agent(agent).sees.iter().copied();
        self.view(seen, budget)?.untouched(domain, not_phi, &self.jobs)
    }

    /// `C_Γ φ = νZ. E_Γ(φ ∧ Z)`, given where `φ` is false.
    ///
    /// The fixpoint is reached at once: `s` is in it iff `φ` is true wherever a chain of steps from
    /// `s`, each inside `D` and unseen by some member, can lead. These chains connect `D`.
    fn common_knowledge(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        not_phi: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let agents = &self.system.groups[group.index()].agents;
        let mask = |&agent: &AgentId| self.steps.layout.mask(self.system.agent(agent).sees.iter().copied());
        let masks: Vec<Vec<u64>> = agents.iter().map(mask).collect();
        self.views.clear();
        self.check_memory(self.space.n_states() as u64 * 14, budget)?;
        let classes = Classes::connected(&self.space.store, &masks, domain, &self.jobs, budget)?;
        classes.untouched(domain, not_phi, &self.jobs)
    }

    /// The classes of states that agree on the variables `seen`.
    pub(crate) fn view(
        &mut self,
        seen: impl Iterator<Item = VarId>,
        budget: &Budget,
    ) -> Result<Rc<Classes>, Stop> {
        let mask = self.steps.layout.mask(seen);
        if let Some(position) = self.views.iter().position(|(known, _)| *known == mask) {
            let view = self.views.remove(position);
            self.views.push(view);
        } else {
            if self.views.len() == N_VIEWS {
                self.views.remove(0);
            }
            self.check_memory(self.space.n_states() as u64 * 14, budget)?;
            let classes = Classes::by_view(&self.space.store, &mask, &self.jobs, budget)?;
            self.views.push((mask, Rc::new(classes)));
        }
        Ok(Rc::clone(&self.views[self.views.len() - 1].1))
    }
}
