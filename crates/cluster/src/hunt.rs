//! Search, during exploration, for a state that decides a property.

use masque_explicit::parts::Reader;
use masque_model::{FormulaId, System};
use masque_verdict::{DecidingState, Stop};

use crate::explore::Space;
use crate::net::Net;
use crate::shard::Shard;

/// One worker's search among the states it stores.
pub(crate) struct Hunters<'s> {
    system: &'s System,
    reader: Reader<'s, 's>,
    /// Index of each hunt, its formula, and the truth value searched for.
    deciding_states: Vec<(usize, FormulaId, bool)>,
    /// Number of states already examined.
    n_looked: usize,
}

impl<'s> Hunters<'s> {
    pub(crate) fn new(
        shard: &mut Shard<'s>,
        space: &Space,
        hunted: &[DecidingState],
    ) -> Result<Hunters<'s>, Stop> {
        let (system, reader) = (shard.system, shard.machine.reader());
        let mut deciding_states = Vec::new();
        if !hunted.is_empty() {
            let has_one_initial = shard.net.sum(space.n_initial() as u64)? == 1;
            for (index, hunt) in hunted.iter().enumerate().filter(|(_, h)| has_one_initial || !h.verdict) {
                deciding_states.push((index, hunt.formula, hunt.holds));
            }
        }
        Ok(Hunters { system, reader, deciding_states, n_looked: 0 })
    }

    /// Returns the first hunt with a matching state on any worker. All workers must call it together.
    pub(crate) fn look(&mut self, net: &mut Net, space: &Space) -> Result<Option<usize>, Stop> {
        if self.deciding_states.is_empty() {
            return Ok(None);
        }
        let mut found: Option<usize> = None;
        for state in self.n_looked..space.n_states() {
            self.reader.turn_to(space.store.row(state));
            for &(index, formula, holds) in &self.deciding_states {
                if found.is_none_or(|found| index < found)
                    && self.reader.is_true(self.system, formula) == holds
                {
                    found = Some(index);
                }
            }
        }
        self.n_looked = space.n_states();
        let found = net.gather(found.into_iter().map(|index| index as u64).collect())?;
        Ok(found.into_iter().flatten().min().map(|index| index as usize))
    }
}
