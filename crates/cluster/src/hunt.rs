//! Looking, while states are still being found, for one that decides a property.

use masque_explicit::parts::Reader as StateReader;
use masque_model::{FormulaId, System};
use masque_verdict::Stop;

use crate::command::{Reader, WireHunt};
use crate::explore::Space;
use crate::net::Net;
use crate::shard::Shard;

/// What a worker looks for among the states it keeps.
pub(crate) struct Hunters<'s> {
    system: &'s System,
    reader: StateReader<'s, 's>,
    /// The position of each hunt, its formula, and whether that is to be true.
    hunts: Vec<(usize, FormulaId, bool)>,
    /// So many states have been looked at.
    n_looked: usize,
}

impl<'s> Hunters<'s> {
    pub(crate) fn new(
        shard: &mut Shard<'s>,
        space: &Space,
        hunted: &[WireHunt],
    ) -> Result<Hunters<'s>, Stop> {
        let (system, reader) = (shard.system, shard.machine.reader());
        let mut hunts = Vec::new();
        if !hunted.is_empty() {
            let has_one_initial = shard.net.sum(space.n_initial() as u64)? == 1;
            for (position, hunt) in hunted.iter().enumerate().filter(|(_, h)| has_one_initial || !h.from_one)
            {
                hunts.push((position, Reader(system).formula(hunt.formula)?, hunt.holds));
            }
        }
        Ok(Hunters { system, reader, hunts, n_looked: 0 })
    }

    /// The first hunt that has found its state at some worker. All workers look at the same time.
    pub(crate) fn look(&mut self, net: &mut Net, space: &Space) -> Result<Option<usize>, Stop> {
        if self.hunts.is_empty() {
            return Ok(None);
        }
        let mut found: Option<usize> = None;
        for state in self.n_looked..space.n_states() {
            self.reader.turn_to(space.store.row(state));
            for &(position, formula, holds) in &self.hunts {
                if found.is_none_or(|found| position < found)
                    && self.reader.is_true(self.system, formula) == holds
                {
                    found = Some(position);
                }
            }
        }
        self.n_looked = space.n_states();
        let found = net.gather(found.into_iter().map(|position| position as u64).collect())?;
        Ok(found.into_iter().flatten().min().map(|position| position as usize))
    }
}
