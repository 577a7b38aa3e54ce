//! Conditions on states, compiled together: propositions, conditions in formulas, red states.

use masque_model::{ExprId, Formula, System};
use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::bitset::Bitset;
use crate::code::{Code, Memory, Program};
use crate::compile::Compiler;
use crate::jobs::Jobs;
use crate::layout::Layout;
use crate::temporal::Clock;

/// All conditions that formulas of a system may be about.
pub(crate) struct Atoms<'s> {
    code: Code<'s>,
    programs: FxHashMap<ExprId, Program>,
}

impl<'s> Atoms<'s> {
    pub(crate) fn new(system: &'s System, layout: &Layout) -> Atoms<'s> {
        let mut conditions: Vec<ExprId> = system.propositions.iter().map(|p| p.condition).collect();
        conditions.extend(system.agents.iter().filter_map(|agent| agent.red));
        conditions.extend(system.formulas.ids().filter_map(|id| match system.formulas.get(id) {
            Formula::Condition(condition) => Some(condition),
            _ => None,
        }));
        conditions.sort_unstable();
        conditions.dedup();
        let mut compiler = Compiler::new(system, layout, &conditions);
        let programs = conditions.iter().map(|&c| (c, compiler.condition(c))).collect();
        Atoms { code: compiler.code, programs }
    }

    /// The states of `domain` where a condition is true; `row` gives a state's words.
    pub(crate) fn where_true<'r>(
        &self,
        condition: ExprId,
        (layout, row): (&Layout, impl Fn(usize) -> &'r [u64] + Sync),
        domain: &Bitset,
        jobs: &Jobs,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let program = &self.programs[&condition];
        let start = || (Memory::new(&self.code), Clock::new(budget));
        domain.filter_shared(jobs, start, |(memory, clock), state| {
            clock.tick()?;
            memory.change_state();
            Ok(self.code.is_true(program, layout, row(state), memory))
        })
    }
}
