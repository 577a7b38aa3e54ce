//! Canonical paths through a world: the least of the shortest.

use masque_symbolic::fixpoint::{PathSearch, Steps};
use masque_symbolic::space::{Bit, Limited, Set};

use super::Engine;
use crate::model::State;
use crate::plan::WorldId;

/// A path: each state, with the singleton set of it.
pub(super) type Path = Vec<(State, Set)>;

/// Maximum number of attempts to close a lasso.
const MAX_LASSO_ROUNDS: usize = 64;

impl Engine<'_> {
    /// Returns the least of the shortest paths in a world.
    pub(super) fn path(&self, world: WorldId, search: &PathSearch<'_>) -> Limited<Option<Path>> {
        let transitions = &self.world(world).transitions;
        let steps = Steps {
            space: &self.space,
            after: |set: &Set| self.post(transitions, set),
            before: |set: &Set| self.pre(transitions, set),
            least: |set: &Set| self.least(world, set),
        };
        steps.shortest_path(search)
    }

    /// Returns a lasso from a state through states of `within`, whose loop satisfies every fairness
    /// condition, and the index at which the loop begins. All states of `within` must start fair paths in
    /// it. [CGP99 §6.4]
    pub(super) fn lasso(
        &mut self,
        world: WorldId,
        state: &Set,
        within: &Set,
    ) -> Limited<Option<(Path, usize)>> {
        let mut goals = Vec::new();
        for condition in self.fairness(world)? {
            goals.push(self.space.and(&condition, within)?);
        }
        let mut path = vec![self.least(world, state)?];
        for _ in 0..MAX_LASSO_ROUNDS {
            let start = path.len() - 1;
            for goal in &goals {
                if !self.extend(world, &mut path, within, goal)? {
                    return Ok(None);
                }
            }
            let first = path[start].1.clone();
            if self.extend(world, &mut path, within, &first)? {
                // The last state is the first state of the loop again.
                path.pop();
                return Ok(Some((path, start)));
            }
            // Without fairness conditions, the next attempt begins one step later.
            if goals.is_empty() && !self.extend(world, &mut path, within, within)? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Extends a path by a shortest path of at least one step; returns whether there is one.
    fn extend(&self, world: WorldId, path: &mut Path, within: &Set, to: &Set) -> Limited<bool> {
        let Some((_, from)) = path.last() else { return Ok(false) };
        let search = PathSearch { from, through: within, to, n_steps: 1..=usize::MAX };
        let found = self.path(world, &search)?;
        let is_found = found.is_some();
        path.extend(found.into_iter().flatten().skip(1));
        Ok(is_found)
    }

    /// Returns the least state of a set that is not empty, and its singleton set. States are ordered by
    /// point, then by the values of the variables, then by action. Defined attitudes have the value 0.
    pub(super) fn least(&self, world: WorldId, set: &Set) -> Limited<(State, Set)> {
        let program = self.model.program(self.program_of(world));
        let layout = self.layout_of(world);
        let fields = program.vars.iter().map(|var| layout.vars.get(var));
        let variable_bits = fields.clone().flatten().flat_map(|field| &field.current);
        let bits = layout.point.current.iter().chain(variable_bits).chain(&layout.action.current);
        let order: Vec<Bit> = bits.copied().collect();
        let valuation = self.space.least(set, &order)?;
        let alone = self.space.valuation(order.into_iter().zip(valuation.iter().copied()).collect())?;
        let mut valuation = valuation.into_iter();
        let mut code = |bits: &[Bit]| {
            valuation.by_ref().take(bits.len()).fold(0, |code, bit| code << 1 | usize::from(bit))
        };
        let point = layout.points.get(code(&layout.point.current)).copied().unwrap_or(program.entry);
        let values = program.vars.iter().zip(fields).map(|(var, field)| match field {
            Some(field) => self.layout.value(self.model, *var, code(&field.current) as u64),
            None => 0,
        });
        let values = values.collect();
        let action = code(&layout.action.current).checked_sub(1);
        let action = action.and_then(|index| program.actions.get(index).copied());
        Ok((State { point, values, action }, alone))
    }
}
