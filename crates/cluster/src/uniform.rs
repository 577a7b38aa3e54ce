//! Imperfect information: uniform strategies.
//!
//! A group that wins with a uniform strategy also wins with perfect information; all workers together
//! compute that upper bound. Only the states that it leaves undecided need a search, which is the one of
//! the explicit engine: it solves a sequence of games with different allowed moves and learns from each
//! one. So the first worker collects all rows, keeps the game of one group, and searches while the
//! others wait. This is the only operator for which a single process needs the memory of the whole
//! system.

use masque_explicit::parts::{Bitset, Enforcement, Goal, Scope, StoredStates, UniformSearch, WholeGame};
use masque_model::{AgentId, GroupId, Strategies};
use masque_verdict::{Budget, Stop, Why};

use crate::net::{Outbox, STATES_PER_ROUND, STATES_PER_STRIDE, Task};
use crate::shard::Shard;
use crate::store::Store;

/// The game of a group on the states of all workers, which the first worker keeps.
pub(crate) struct CollectedGame<'s> {
    group: GroupId,
    /// Index of each worker's first state among all states, then the number of all states.
    begins: Vec<usize>,
    /// The game; `None` except at the first worker.
    game: Option<WholeGame<'s>>,
}

impl CollectedGame<'_> {
    pub(crate) fn bytes(&self) -> u64 {
        self.game.as_ref().map_or(0, WholeGame::bytes)
    }
}

impl Shard<'_> {
    /// Computes the states for which one tuple of uniform strategies reaches the goal from all states that
    /// must be won together, given the states that the group wins with perfect information. States
    /// outside `asked` may be missing.
    pub(crate) fn enforced_uniformly(
        &mut self,
        question: Enforcement<'_>,
        win: Bitset,
    ) -> Result<Bitset, Stop> {
        let Enforcement { group, strategies, goal, scope: Scope { domain, constraints }, asked } = question;
        let lost = (*domain).clone().minus(&win);
        let mut open = win;
        for mask in self.joint_masks(group, strategies) {
            open = open.and(&self.known_through(&mask, &domain, &lost)?);
        }
        if let Some(asked) = asked {
            open = open.and(asked);
        }
        if !self.net.any(!open.is_empty())? {
            return Ok(open);
        }
        self.collect_game(group)?;
        let mut sets: Vec<&Bitset> = vec![&domain, &open];
        match &goal {
            Goal::Next(phi) => sets.push(phi),
            Goal::Reach(phi, psi) | Goal::Stay(phi, psi) => sets.extend([phi, psi]),
        }
        sets.extend(constraints.iter());
        let words = sets.iter().flat_map(|set| set.words()).copied().collect();
        let gathered = self.net.gather(words)?;
        let budget: Budget = self.net.budget.clone();
        let Some(CollectedGame { begins, game, .. }) = &self.collected else {
            return Err(Why::Unsupported.into());
        };
        let truth = match game {
            None => Vec::new(),
            Some(game) => {
                let mut sets = join(&gathered, sets.len(), begins).into_iter();
                let mut next = || sets.next().ok_or(Stop::from(Why::Unsupported));
                let (domain, asked) = (next()?, next()?);
                let goal = match goal {
                    Goal::Next(_) => Goal::Next(next()?),
                    Goal::Reach(..) => Goal::Reach(next()?, next()?),
                    Goal::Stay(..) => Goal::Stay(next()?, next()?),
                };
                let search = UniformSearch { strategies, goal, domain, constraints: sets.collect(), asked };
                game.enforces_uniformly(&search, &budget)?.words().to_vec()
            }
        };
        let (begin, n_states) = (begins[self.net.index()], begins[begins.len() - 1]);
        // The first worker sends the result to all.
        let words = self.net.gather(truth)?.into_iter().next().unwrap_or_default();
        let truth = Bitset::from_words(words, n_states).ok_or(Stop::from(Why::Unsupported))?;
        Ok(Bitset::full(self.n_states()).filter(|state| truth.contains(begin + state)))
    }

    /// Returns masks of visible bits; states that are equal under any of them must be won together.
    fn joint_masks(&self, group: GroupId, strategies: Strategies) -> Vec<Vec<u64>> {
        let members: &[AgentId] = &self.system.groups[group.index()].agents;
        match strategies {
            Strategies::Uniform => self.masks(group),
            Strategies::UniformJoint => vec![self.machine.seen_by(members)],
            Strategies::UniformObjective | Strategies::Perfect => Vec::new(),
        }
    }

    /// Collects the game of a group on all states at the first worker, unless it is there already.
    fn collect_game(&mut self, group: GroupId) -> Result<(), Stop> {
        if self.collected.as_ref().is_some_and(|collected| collected.group == group) {
            return Ok(());
        }
        self.collected = None;
        let mut begins = vec![0];
        for n_states in self.net.gather(vec![self.n_states() as u64])?.iter().flatten() {
            begins.push(begins[begins.len() - 1] + *n_states as usize);
        }
        let (me, width) = (self.net.index(), self.space.store.width());
        let is_first = me == 0;
        let n_words = if is_first { begins[begins.len() - 1] * width } else { 0 };
        // The received rows, and once more in the store of the game.
        self.check_bytes(n_words as u64 * 8 * 3)?;
        let store = &self.space.store;
        let mut task =
            Collecting { store, begins: &begins, rows: vec![0; n_words], is_first, next: 0, until: 0 };
        self.net.run_until_done(&mut task)?;
        let rows = task.rows;
        let budget = self.net.budget.clone();
        let machine = self.machine;
        let game = if is_first { Some(machine.whole_game(group, rows, &budget)?) } else { None };
        self.collected = Some(CollectedGame { group, begins, game });
        self.check_bytes(0)
    }
}

/// Joins the sets of each worker into sets of all states.
fn join(gathered: &[Vec<u64>], n_sets: usize, begins: &[usize]) -> Vec<Bitset> {
    let n_states = begins[begins.len() - 1];
    let mut sets = vec![Bitset::empty(n_states); n_sets];
    for (words, range) in gathered.iter().zip(begins.windows(2)) {
        let n_here = range[1] - range[0];
        let pieces = words.chunks_exact(n_here.div_ceil(64).max(1));
        for (set, piece) in sets.iter_mut().zip(pieces) {
            let here = Bitset::from_words(piece.to_vec(), n_here);
            here.iter().flat_map(Bitset::iter).for_each(|state| _ = set.insert(range[0] + state));
        }
    }
    sets
}

/// Sends all rows to the first worker.
struct Collecting<'a> {
    store: &'a Store,
    begins: &'a [usize],
    /// All rows at the first worker, empty at the others.
    rows: Vec<u64>,
    is_first: bool,
    next: usize,
    until: usize,
}

impl Collecting<'_> {
    fn put(&mut self, from: usize, state: usize, row: &[u64]) {
        let width = row.len();
        self.rows[(self.begins[from] + state) * width..][..width].copy_from_slice(row);
    }
}

impl Task for Collecting<'_> {
    fn begin(&mut self) {
        self.until = self.store.len().min(self.next + STATES_PER_ROUND);
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        let end = self.until.min(self.next + STATES_PER_STRIDE);
        let store = self.store;
        for state in self.next..end {
            if self.is_first {
                self.put(0, state, store.row(state));
            } else {
                out.send_two(0, store.row(state), &[state as u64]);
            }
        }
        self.next = end;
        Ok(self.next < self.until)
    }

    fn receive(&mut self, from: usize, words: &[u64]) -> Result<(), Stop> {
        let width = self.store.width();
        for record in words.chunks_exact(width + 1) {
            self.put(from, record[width] as usize, &record[..width]);
        }
        Ok(())
    }

    /// Number of states not sent yet.
    fn vote(&self) -> Vec<u64> {
        vec![(self.store.len() - self.next) as u64]
    }
}
