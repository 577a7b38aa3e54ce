//! The states of one explored system, all in memory, and the operators on them.

use std::rc::Rc;

use masque_model::{AgentId, ExprId, FormulaId, GroupId, System};
use masque_verdict::{Automaton, Bounds, BoundsCache, Budget, State, Stop, Why};

use crate::atoms::{Atoms, Rows};
use crate::bitset::Bitset;
use crate::explore::{Space, transitions};
use crate::games::Game;
use crate::graph::Graph;
use crate::jobs::Jobs;
use crate::knowledge::Classes;
use crate::labelling::{Enforcement, StoredStates};
use crate::labels::{Domain, Labels};
use crate::product::Product;
use crate::region::is_same;
use crate::steps::Steps;
use crate::temporal::Paths;

/// Labels the states of one explored system.
pub(crate) struct Labeller<'s> {
    pub(crate) system: &'s System,
    pub(crate) steps: Rc<Steps<'s>>,
    pub(crate) space: Space,
    /// Results of evaluating formulas on a partial exploration.
    pub(crate) noted: BoundsCache<Rc<Bitset>>,
    atoms: Rc<Atoms<'s>>,
    pub(crate) labels: Labels,
    /// Recently used classes of states by view (mask of visible bits), the latest last.
    views: Vec<(Vec<u64>, Rc<Classes>)>,
    /// The transitions by joint actions that satisfy a condition, for the conditions used so far.
    pub(crate) steps_with: Vec<(ExprId, Rc<Graph>)>,
    /// Recently used games of groups, the latest last.
    pub(crate) games: Vec<(GroupId, Rc<Game>)>,
    pub(crate) peak_bytes: u64,
    pub(crate) jobs: Jobs,
}

/// Compiled steps and conditions of a system.
#[derive(Clone)]
pub(crate) struct Compiled<'s> {
    pub(crate) steps: Rc<Steps<'s>>,
    pub(crate) atoms: Rc<Atoms<'s>>,
}

/// Maximum number of views that are kept. Each takes four bytes per state.
const MAX_KEPT_VIEWS: usize = 2;

impl<'s> Labeller<'s> {
    pub(crate) fn new(system: &'s System, compiled: Compiled<'s>, space: Space, jobs: Jobs) -> Labeller<'s> {
        let Compiled { steps, atoms } = compiled;
        Labeller {
            system,
            steps,
            noted: BoundsCache::default(),
            atoms,
            labels: Labels::new(system, space.n_states()),
            views: Vec::new(),
            steps_with: Vec::new(),
            games: Vec::new(),
            peak_bytes: space.bytes(),
            space,
            jobs,
        }
    }

    /// Returns the number of bytes that the engine holds.
    pub(crate) fn bytes(&self) -> u64 {
        let views: u64 = self.views.iter().map(|(_, classes)| classes.bytes()).sum();
        let steps: u64 = self.steps_with.iter().map(|(_, graph)| graph.bytes()).sum();
        let games: u64 = self.games.iter().map(|(_, game)| game.bytes()).sum();
        let noted: u64 = self.noted.sets().map(|set| set.bytes()).sum();
        self.space.bytes() + noted + self.labels.bytes() + views + steps + games
    }

    /// Returns the transitions, which are computed on first use.
    pub(crate) fn graph(&mut self, budget: &Budget) -> Result<&Graph, Stop> {
        if self.space.graph.is_none() {
            let graph = transitions(&mut self.space, self.system, &self.steps, &self.jobs, budget)?;
            self.space.graph = Some(graph);
            self.check_memory(0, budget)?;
        }
        self.space.graph.as_ref().ok_or(Stop::from(Why::Unsupported))
    }

    fn paths<'a>(&'a mut self, budget: &'a Budget) -> Result<Paths<'a>, Stop> {
        self.graph(budget)?;
        // The counters of EG and the indices of Tarjan's algorithm.
        budget.check_memory(self.bytes() + self.space.n_states() as u64 * 8)?;
        Ok(Paths { graph: self.graph(budget)?, budget })
    }

    /// Returns the classes of states that are connected by chains inside `domain`; the two states of each
    /// link are indistinguishable for some member of the group.
    pub(crate) fn connected(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        budget: &Budget,
    ) -> Result<Classes, Stop> {
        let agents = &self.system.groups[group.index()].agents;
        let mask = |&agent: &AgentId| self.steps.layout.seen_by(self.system, &[agent]);
        let masks: Vec<Vec<u64>> = agents.iter().map(mask).collect();
        self.views.clear();
        self.check_memory(self.space.n_states() as u64 * 14, budget)?;
        Classes::connected(&self.space.store, &masks, domain, &self.jobs, budget)
    }

    /// Returns the classes of states that agents who combine what they see cannot distinguish.
    pub(crate) fn view(&mut self, agents: &[AgentId], budget: &Budget) -> Result<Rc<Classes>, Stop> {
        let mask = self.steps.layout.seen_by(self.system, agents);
        if let Some(index) = self.views.iter().position(|(known, _)| *known == mask) {
            let view = self.views.remove(index);
            self.views.push(view);
        } else {
            if self.views.len() == MAX_KEPT_VIEWS {
                self.views.remove(0);
            }
            self.check_memory(self.space.n_states() as u64 * 14, budget)?;
            let classes = Classes::by_view(&self.space.store, &mask, &self.jobs, budget)?;
            self.views.push((mask, Rc::new(classes)));
        }
        Ok(Rc::clone(&self.views[self.views.len() - 1].1))
    }
}

impl<'s> StoredStates<'s> for Labeller<'s> {
    const KEEPS_DECISIVE_LABELS: bool = false;

    fn system(&self) -> &'s System {
        self.system
    }

    fn labels(&mut self) -> &mut Labels {
        &mut self.labels
    }

    fn n_states(&self) -> usize {
        self.space.n_states()
    }

    fn n_initial(&self) -> usize {
        self.space.n_initial()
    }

    fn any(&mut self, is_true_here: bool) -> Result<bool, Stop> {
        Ok(is_true_here)
    }

    fn count(&mut self, states: &Bitset) -> Result<u64, Stop> {
        Ok(states.count() as u64)
    }

    fn check_memory(&mut self, more: u64, budget: &Budget) -> Result<(), Stop> {
        let bytes = self.bytes() + more;
        self.peak_bytes = self.peak_bytes.max(bytes);
        budget.check_memory(bytes)
    }

    fn where_true(&mut self, condition: ExprId, states: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        let rows = Rows { layout: &self.steps.layout, row: |state| self.space.store.row(state) };
        self.atoms.where_true(condition, rows, states, &self.jobs, budget)
    }

    fn exists_next(&mut self, phi: &Bitset, domain: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        self.paths(budget)?.exists_next(phi, domain)
    }

    fn exists_until(&mut self, phi: &Bitset, psi: &Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        self.paths(budget)?.exists_until(phi, psi)
    }

    fn exists_globally(
        &mut self,
        phi: &Bitset,
        constraints: &[Bitset],
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.paths(budget)?.exists_globally(phi, constraints)
    }

    fn exists_step(
        &mut self,
        condition: ExprId,
        phi: &Bitset,
        domain: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        Paths { graph: &*self.steps_with(condition, budget)?, budget }.exists_next(phi, domain)
    }

    fn exists_accepted_path(
        &mut self,
        automaton: &Automaton,
        meeting: Vec<Bitset>,
        constraints: &[Bitset],
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.check_memory(Product::bytes(self.space.n_states(), automaton), budget)?;
        Product { graph: self.graph(budget)?, automaton, meeting, constraints }.starts(budget)
    }

    fn knows(
        &mut self,
        agents: &[AgentId],
        domain: &Bitset,
        not_phi: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.view(agents, budget)?.untouched(domain, not_phi, &self.jobs)
    }

    /// Computed without iteration: `s` is in the fixpoint iff `φ` is true at all states that are connected
    /// to `s` by a chain inside `D`; the two states of each link are indistinguishable for some member.
    fn common_knowledge(
        &mut self,
        group: GroupId,
        domain: &Bitset,
        not_phi: &Bitset,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        self.connected(group, domain, budget)?.untouched(domain, not_phi, &self.jobs)
    }

    fn enforces(&mut self, question: Enforcement<'_>, budget: &Budget) -> Result<Bitset, Stop> {
        self.enforced(&question, budget)
    }

    fn find_state(&self, state: &State) -> Result<Option<usize>, Stop> {
        Ok(self.state_index(state))
    }

    fn alike(&self, agents: &[AgentId], state: &State, among: &Bitset) -> Result<Bitset, Stop> {
        let mask = self.steps.layout.seen_by(self.system, agents);
        let row = self.space.store.row(self.state_index(state).ok_or(Stop::from(Why::Unsupported))?);
        Ok(among.filter(|other| is_same(row, self.space.store.row(other), &mask)))
    }

    fn recurrent(&mut self, inside: Bitset, budget: &Budget) -> Result<Bitset, Stop> {
        self.recurrent_states(inside, budget)
    }

    fn partial_bounds(
        &mut self,
        formula: FormulaId,
        budget: &Budget,
    ) -> Result<Option<Bounds<Rc<Bitset>>>, Stop> {
        if self.space.is_part() { self.look(budget).fairly(formula).map(Some) } else { Ok(None) }
    }

    fn partial_fair_domain(&mut self, budget: &Budget) -> Result<Option<Domain>, Stop> {
        if !self.space.is_part() {
            return Ok(None);
        }
        let (states, constraints) = self.look(budget).fair()?;
        Ok(Some(Domain::new(states, constraints.iter().map(|set| (**set).clone()).collect())))
    }
}
