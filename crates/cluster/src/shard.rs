//! A worker's share of a system: its states, and what is known of them.
//!
//! All workers do the same in the same order, each with its own states; where an operator looks from
//! state to state, they exchange. Every set is a subset of the domain `D`, cut to the states kept
//! here, and a complement is taken inside it.

use std::rc::Rc;

use masque_explicit::parts::{Bitset, Machine};
use masque_model::{AgentId, ExprId, Fixpoints, FormulaId, GroupId, System, VarId};
use masque_verdict::{Ahead, Part, Stop, Why};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::explore::{Space, transitions};
use crate::games::Game;
use crate::graph::Graph;
use crate::mu::Open;
use crate::net::Net;
use crate::uniform::Whole;

/// A worker's share.
pub(crate) struct Shard<'s> {
    pub(crate) system: &'s System,
    pub(crate) machine: &'s Machine<'s>,
    pub(crate) net: Net,
    pub(crate) space: Space,
    /// Without fairness: over all reachable states.
    pub(crate) plain: Domain,
    /// With fairness: over the states at which a fair path starts, once they are known.
    pub(crate) fair: Option<Domain>,
    pub(crate) fixpoints: Fixpoints,
    /// What is inside the fixpoint being computed.
    pub(crate) open: Open,
    /// The transitions by steps that meet a condition, as far as somebody asked.
    pub(crate) steps_with: Vec<(ExprId, Rc<Graph>)>,
    /// The game of a group asked for last.
    pub(crate) game: Option<(GroupId, Rc<Game>)>,
    /// The game of a group searched last, all in one place.
    pub(crate) whole: Option<Whole<'s>>,
    /// The regions of infinite runs asked for last.
    pub(crate) asked: Vec<(Part, Rc<Bitset>)>,
    /// The properties that are yet to be decided.
    ahead: Ahead,
    /// The formulas whose labels have decided properties. These are kept: a run that is resumed decides
    /// the same properties again.
    pub(crate) decisive: FxHashSet<FormulaId>,
    /// Of formulas whose labels were dropped: whether they are true at any state kept here.
    occurs: FxHashMap<FormulaId, bool>,
    /// Whether a limit was hit, so that one worker may have come farther than another.
    is_torn: bool,
    pub(crate) peak_bytes: u64,
}

/// A domain and what is known over it.
pub(crate) struct Domain {
    pub(crate) states: Rc<Bitset>,
    /// Where each fairness constraint is true; none if fairness does not matter here.
    pub(crate) constraints: Rc<[Bitset]>,
    pub(crate) known: FxHashMap<FormulaId, Rc<Bitset>>,
    /// What is known of formulas at some states only: where they were asked, and where they are true.
    pub(crate) partly: FxHashMap<FormulaId, (Bitset, Bitset)>,
}

impl Domain {
    /// Nothing is known yet.
    pub(crate) fn new(states: Rc<Bitset>, constraints: Rc<[Bitset]>) -> Domain {
        Domain { states, constraints, known: FxHashMap::default(), partly: FxHashMap::default() }
    }

    fn all(n_states: usize) -> Domain {
        Domain::new(Rc::new(Bitset::full(n_states)), Rc::new([]))
    }

    fn bytes(&self) -> u64 {
        let known: u64 = self.known.values().map(|set| set.bytes()).sum();
        let partly: u64 = self.partly.values().map(|(asked, truth)| asked.bytes() + truth.bytes()).sum();
        known + partly
    }
}

/// Which domain a formula is about.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    AllPaths,
    FairPaths,
}

impl<'s> Shard<'s> {
    pub(crate) fn new(system: &'s System, machine: &'s Machine<'s>, net: Net, space: Space) -> Shard<'s> {
        Shard {
            system,
            machine,
            net,
            plain: Domain::all(space.n_states()),
            fair: None,
            fixpoints: system.formulas.fixpoints(),
            open: Open::default(),
            steps_with: Vec::new(),
            game: None,
            whole: None,
            asked: Vec::new(),
            ahead: Ahead::new(system),
            decisive: FxHashSet::default(),
            occurs: FxHashMap::default(),
            is_torn: false,
            peak_bytes: space.bytes(),
            space,
        }
    }

    /// Takes the place of the states so far.
    pub(crate) fn set_space(&mut self, space: Space) {
        self.plain = Domain::all(space.n_states());
        self.fair = None;
        self.forget_aids();
        self.peak_bytes = self.peak_bytes.max(space.bytes());
        self.space = space;
    }

    /// Forgets what can be had again.
    fn forget_aids(&mut self) {
        self.open = Open::default();
        self.steps_with.clear();
        (self.game, self.whole) = (None, None);
        self.asked.clear();
        self.ahead = Ahead::new(self.system);
        self.occurs.clear();
        self.plain.partly.clear();
        self.fair.iter_mut().for_each(|fair| fair.partly.clear());
    }

    /// A property is to be decided: labels of no further use are dropped. Of each it is remembered
    /// whether it was empty here, which is asked when all properties are decided.
    pub(crate) fn turn_to(&mut self, property: FormulaId) {
        let Shard { system, ahead, decisive, occurs, plain, fair, .. } = self;
        let domain = match fair {
            Some(fair) => fair,
            None if system.fairness.is_empty() => plain,
            // Nothing is labelled but constraints.
            None => return ahead.turn_to(&system.formulas, property, |_| {}),
        };
        ahead.turn_to(&system.formulas, property, |part| {
            if !decisive.contains(&part) {
                domain.partly.remove(&part);
                if let Some(states) = domain.known.remove(&part) {
                    occurs.insert(part, !states.is_empty());
                }
            }
        });
    }

    /// Whether a formula is true at some state of `D`, kept anywhere.
    pub(crate) fn is_true_somewhere(&mut self, formula: FormulaId) -> Result<bool, Stop> {
        let occurs = match self.occurs.get(&formula) {
            Some(&occurs) => occurs,
            None => !self.truth(formula)?.is_empty(),
        };
        self.net.any(occurs)
    }

    /// A limit was hit somewhere.
    pub(crate) fn tear(&mut self) {
        self.is_torn = true;
    }

    /// After a limit, makes all workers know the same again.
    ///
    /// One that stops between two rounds is heard of in the next one only; until then another may have
    /// labelled a formula more. What not all know is forgotten: what is known decides what workers do
    /// next, and they must do the same.
    pub(crate) fn mend(&mut self) -> Result<(), Stop> {
        if !self.is_torn {
            return Ok(());
        }
        self.forget_aids();
        let known = |domain: &Domain| {
            let mut ids: Vec<u64> = domain.known.keys().map(|formula| formula.index() as u64).collect();
            ids.sort_unstable();
            ids
        };
        let graph = vec![u64::from(self.space.graph.is_some())];
        let (plain, fair) = (known(&self.plain), self.fair.as_ref().map(known));
        let all = |held: Vec<Vec<u64>>| {
            move |id: &FormulaId| held.iter().all(|ids| ids.binary_search(&(id.index() as u64)).is_ok())
        };
        if self.net.gather(graph)?.concat().contains(&0) {
            self.space.graph = None;
        }
        let is_plain = all(self.net.gather(plain)?);
        self.plain.known.retain(|formula, _| is_plain(formula));
        let has_fair = !self.net.any(fair.is_none())?;
        let is_fair = all(self.net.gather(fair.unwrap_or_default())?);
        match &mut self.fair {
            Some(fair) if has_fair => fair.known.retain(|formula, _| is_fair(formula)),
            fair => *fair = None,
        }
        self.is_torn = false;
        Ok(())
    }

    pub(crate) fn n_states(&self) -> usize {
        self.space.n_states()
    }

    /// `D`: the reachable states, or with fairness constraints those at which a fair path starts.
    ///
    /// ```text
    /// D = ⟦E_fair G true⟧ over all reachable states
    /// ```
    ///
    /// The constraints themselves are labelled without fairness.
    pub(crate) fn domain(&mut self) -> Result<Rc<Bitset>, Stop> {
        if self.system.fairness.is_empty() {
            return Ok(Rc::clone(&self.plain.states));
        }
        if let Some(fair) = &self.fair {
            return Ok(Rc::clone(&fair.states));
        }
        let mut constraints = Vec::new();
        for &constraint in &self.system.fairness {
            constraints.push((*self.label(constraint, Over::AllPaths)?).clone());
        }
        let constraints: Rc<[Bitset]> = constraints.into();
        let all = Rc::clone(&self.plain.states);
        let states = Rc::new(self.exists_globally_fair(&all, &constraints)?);
        self.fair = Some(Domain::new(Rc::clone(&states), constraints));
        Ok(states)
    }

    /// The initial states in `D`.
    pub(crate) fn initial(&mut self) -> Result<Bitset, Stop> {
        let domain = self.domain()?;
        Ok(Bitset::first(self.space.n_initial(), self.n_states()).and(&domain))
    }

    /// The domain of formulas about fair paths, and its constraints.
    pub(crate) fn scope(&mut self, over: Over) -> (Rc<Bitset>, Rc<[Bitset]>) {
        let domain = self.over(over);
        (Rc::clone(&domain.states), Rc::clone(&domain.constraints))
    }

    pub(crate) fn over(&mut self, over: Over) -> &mut Domain {
        match (over, &mut self.fair) {
            (Over::FairPaths, Some(fair)) => fair,
            _ => &mut self.plain,
        }
    }

    /// Where a fairness constraint is true.
    pub(crate) fn constraint(&mut self, number: usize) -> Result<Bitset, Stop> {
        self.domain()?;
        let (domain, constraints) = self.scope(Over::FairPaths);
        let constraint = constraints.get(number).ok_or(Stop::from(Why::Unsupported))?;
        Ok(constraint.clone().and(&domain))
    }

    pub(crate) fn where_true(&mut self, condition: ExprId, domain: &Bitset) -> Result<Bitset, Stop> {
        let store = &self.space.store;
        self.machine.where_true(condition, domain, |state| store.row(state), &self.net.budget)
    }

    /// The states of a set that are green for an agent: its RedStates is false there.
    pub(crate) fn green(&mut self, agent: AgentId, states: &Bitset) -> Result<Bitset, Stop> {
        match self.system.agent(agent).red {
            None => Ok(states.clone()),
            Some(red) => Ok(states.clone().minus(&self.where_true(red, states)?)),
        }
    }

    /// The bits that agents see together.
    pub(crate) fn mask(&self, agents: &[AgentId]) -> Vec<u64> {
        let sees = |&agent: &AgentId| self.system.agent(agent).sees.iter().copied();
        let seen: Vec<VarId> = agents.iter().flat_map(sees).collect();
        self.machine.mask(seen)
    }

    /// Makes sure that the transitions are there.
    pub(crate) fn make_graph(&mut self) -> Result<(), Stop> {
        if self.space.graph.is_none() {
            let graph = transitions(&mut self.net, self.system, self.machine, &self.space)?;
            self.space.graph = Some(graph);
            self.check_memory(0)?;
        }
        Ok(())
    }

    /// What this worker holds.
    pub(crate) fn bytes(&self) -> u64 {
        let labels = self.plain.bytes() + self.fair.as_ref().map_or(0, Domain::bytes);
        let open: u64 = self.open.sets.values().map(|set| set.bytes()).sum();
        let steps: u64 = self.steps_with.iter().map(|(_, graph)| graph.bytes()).sum();
        let game = self.game.as_ref().map_or(0, |(_, game)| game.bytes());
        let whole = self.whole.as_ref().map_or(0, Whole::bytes);
        let asked: u64 = self.asked.iter().map(|(_, states)| states.bytes()).sum();
        self.space.bytes() + labels + open + steps + game + whole + asked
    }

    /// Whether so many bytes may be held besides.
    pub(crate) fn check_memory(&mut self, more: u64) -> Result<(), Stop> {
        let bytes = self.bytes() + more;
        self.peak_bytes = self.peak_bytes.max(bytes);
        self.net.budget.check_memory(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use masque_testkit::{one_agent, system};

    use super::*;
    use crate::explore::explore;
    use crate::net::tests::workers;

    /// One worker has not come as far as the others. If they went on like that, it would wait for
    /// answers to questions that nobody hears.
    #[test]
    fn after_a_limit_all_know_the_same_again() {
        let text = one_agent("MultiAssignment", "n : 0..99;", "", "n = n + 1 if n < 99;", "A.n = 0");
        let text = text.replace("Evaluation end", "Evaluation far if A.n > 60; end");
        let system = Arc::new(system(&text.replace("Formulae end", "Formulae AG EF far; EX far; end")));
        let counts = workers(3, move |mut net| {
            let machine = Machine::new(&system);
            let mut space = Space::initial(&net, &machine, true).unwrap();
            explore(&mut net, &system, &machine, &mut space, None, &mut |_, _, _| Ok(true)).unwrap();
            let mut shard = Shard::new(&system, &machine, net, space);
            let [first, second] = [0, 1].map(|number: usize| system.properties[number].formula);
            let counts = [first, second].map(|formula| shard.truth(formula).unwrap().count());
            if shard.net.index() == 1 {
                shard.plain.known.remove(&first);
                shard.space.graph = None;
            }
            shard.tear();
            shard.mend().unwrap();
            assert!(!shard.plain.known.contains_key(&first) && shard.plain.known.contains_key(&second));
            assert!(shard.space.graph.is_none());
            assert_eq!([first, second].map(|formula| shard.truth(formula).unwrap().count()), counts);
            counts
        });
        let sum = |number: usize| counts.iter().map(|counts| counts[number]).sum::<usize>();
        assert_eq!([sum(0), sum(1)], [100, 40]);
    }
}
