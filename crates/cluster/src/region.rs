//! Regions: the sets of states that evidence asks about.

use std::rc::Rc;

use masque_explicit::parts::{Bitset, Successors};
use masque_model::Deadlock;
use masque_verdict::{Budget, Literal, Part, State, Stop, Why};

use crate::net::{Outbox, Task};
use crate::shard::{Over, Shard};
use crate::store::{Store, owner};

/// So many regions of infinite runs are kept: what a loop needs.
const N_ASKED: usize = 2;
/// States looked at between two looks at what has come in.
const STRIDE: usize = 1024;
/// States looked at by a worker in a round.
const ROUND: usize = 1 << 16;

impl Shard<'_> {
    /// A state's words.
    pub(crate) fn pack(&self, state: &State) -> Result<Vec<u64>, Stop> {
        self.machine.pack(state).ok_or(Stop::from(Why::Unsupported))
    }

    /// The number of a row, if it is kept here.
    pub(crate) fn number(&self, row: &[u64]) -> Option<usize> {
        self.space.store.find(row).map(|number| number as usize)
    }

    /// The states that meet all parts.
    pub(crate) fn region(&mut self, parts: &[Part]) -> Result<Bitset, Stop> {
        let mut states = (*self.domain()?).clone();
        for part in parts {
            states = match part {
                Part::Initial => states.and(&self.initial()?),
                Part::Is(state) => {
                    let mut one = Bitset::empty(self.n_states());
                    let number = self.number(&self.pack(state)?);
                    if let Some(number) = number.filter(|&number| states.contains(number)) {
                        one.insert(number);
                    }
                    one
                }
                Part::Literal(literal) => self.select(states, *literal)?,
                Part::Green(agent) => self.green(*agent, &states)?,
                Part::Alike(agents, state) => {
                    let (mask, row) = (self.mask(agents), self.pack(state)?);
                    states.filter(|other| is_same(&row, self.space.store.row(other), &mask))
                }
                Part::Constraint(number) => states.and(&self.constraint(*number)?),
                Part::Forever(_) | Part::Recurrent(_) => states.and(&*self.asked(part)?),
            };
        }
        Ok(states)
    }

    /// The states where a literal is so.
    fn select(&mut self, states: Bitset, literal: Literal) -> Result<Bitset, Stop> {
        let phi = self.truth_among(literal.formula, &states)?;
        Ok(if literal.holds { states.and(&phi) } else { states.minus(&phi) })
    }

    /// A region of infinite runs. The last ones are kept: questions about them come in rows.
    fn asked(&mut self, part: &Part) -> Result<Rc<Bitset>, Stop> {
        if let Some((_, known)) = self.asked.iter().find(|(known, _)| known == part) {
            return Ok(Rc::clone(known));
        }
        let states = match part {
            Part::Forever(literals) => {
                let mut phi = (*self.domain()?).clone();
                for &literal in literals {
                    phi = self.select(phi, literal)?;
                }
                let (_, constraints) = self.scope(Over::FairPaths);
                self.exists_globally_fair(&phi, &constraints)?
            }
            Part::Recurrent(parts) => {
                let inside = self.region(parts)?;
                self.recurrent(inside)?
            }
            _ => return Err(Why::Unsupported.into()),
        };
        let states = Rc::new(states);
        if self.asked.len() == N_ASKED {
            self.asked.remove(0);
        }
        self.asked.push((part.clone(), Rc::clone(&states)));
        Ok(states)
    }

    /// `νZ. R ∩ post(Z)`: count for each state of `R` its predecessors in `R`, remove the states that
    /// have none, and each that is left with none by that.
    ///
    /// Predecessors are counted from the other side: successors are not stored, so each state is
    /// expanded once to count, and once more if it is removed.
    fn recurrent(&mut self, inside: Bitset) -> Result<Bitset, Stop> {
        self.check_memory(self.n_states() as u64 * 9)?;
        let mut n_before = vec![0_u32; self.n_states()];
        let mut recurrent = inside.clone();
        let all = inside.iter().map(|state| state as u32).collect();
        self.forwards(all, |next| {
            n_before[next] += 1;
            false
        })?;
        let mut removed = Vec::new();
        for state in inside.iter().filter(|&state| n_before[state] == 0) {
            recurrent.remove(state);
            removed.push(state as u32);
        }
        self.forwards(removed, |next| {
            n_before[next] -= 1;
            let is_removed = n_before[next] == 0 && inside.contains(next);
            if is_removed {
                recurrent.remove(next);
            }
            is_removed
        })?;
        Ok(recurrent)
    }

    /// Searches forwards from the states `open`: `take` says, of each successor found where it is
    /// kept, whether to go on from there. It is told of every step once.
    fn forwards(&mut self, open: Vec<u32>, take: impl FnMut(usize) -> bool) -> Result<(), Stop> {
        let budget: Budget = self.net.budget.clone();
        let mut task = Forwards {
            me: self.net.index(),
            peers: self.net.peers(),
            store: &self.space.store,
            successors: self.machine.successors(&budget),
            stutters: self.system.meaning.deadlock == Deadlock::Stutter,
            open,
            take,
            rows: Vec::new(),
            n_looked: 0,
        };
        self.net.run(&mut task)
    }
}

/// A search forwards among the known states.
struct Forwards<'a, F> {
    me: usize,
    peers: usize,
    store: &'a Store,
    successors: Successors<'a>,
    stutters: bool,
    open: Vec<u32>,
    take: F,
    /// The successors of one state.
    rows: Vec<Vec<u64>>,
    /// In this round.
    n_looked: usize,
}

impl<F: FnMut(usize) -> bool> Task for Forwards<'_, F> {
    fn begin(&mut self) {
        self.n_looked = 0;
    }

    fn work(&mut self, out: &mut Outbox) -> Result<bool, Stop> {
        if self.n_looked >= ROUND {
            return Ok(false);
        }
        for _ in 0..STRIDE {
            let Some(state) = self.open.pop() else { return Ok(false) };
            self.n_looked += 1;
            self.rows.clear();
            let row = self.store.row(state as usize);
            let expansion = self.successors.expand(row, |next| {
                self.rows.push(next.to_vec());
                Ok(())
            })?;
            if expansion.is_dead && self.stutters {
                self.rows.push(row.to_vec());
            }
            self.rows.sort_unstable();
            self.rows.dedup();
            for next in std::mem::take(&mut self.rows) {
                match owner(&next, self.peers) {
                    to if to != self.me => out.send(to, &next),
                    _ => self.find(&next),
                }
            }
        }
        Ok(!self.open.is_empty())
    }

    fn receive(&mut self, _: usize, words: &[u64]) -> Result<(), Stop> {
        words.chunks_exact(self.store.width()).for_each(|row| self.find(row));
        Ok(())
    }

    fn vote(&self) -> Vec<u64> {
        vec![self.open.len() as u64]
    }
}

impl<F: FnMut(usize) -> bool> Forwards<'_, F> {
    fn find(&mut self, row: &[u64]) {
        if let Some(number) = self.store.find(row)
            && (self.take)(number as usize)
        {
            self.open.push(number);
        }
    }
}

/// Whether two rows agree on the bits of a mask.
pub(crate) fn is_same(left: &[u64], right: &[u64], mask: &[u64]) -> bool {
    left.iter().zip(right).zip(mask).all(|((left, right), mask)| (left ^ right) & mask == 0)
}
