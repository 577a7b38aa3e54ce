//! The conditions on states that formulas use, compiled together: propositions, conditions in formulas, red
//! states.

use masque_model::{ExprId, Formula, FormulaId, System};
use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::bitset::Bitset;
use crate::code::{Code, Memory, Program};
use crate::compile::Compiler;
use crate::jobs::Jobs;
use crate::layout::Layout;
use crate::temporal::Clock;

/// All conditions on states that the formulas of a system use.
pub(crate) struct Atoms<'s> {
    code: Code<'s>,
    programs: FxHashMap<ExprId, Program>,
}

/// Packed states, by index.
pub(crate) struct Rows<'a, F> {
    pub(crate) layout: &'a Layout,
    /// Returns the row of a state.
    pub(crate) row: F,
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

    /// Returns the states of `domain` where a condition is true.
    pub(crate) fn where_true<'r, F: Fn(usize) -> &'r [u64] + Sync>(
        &self,
        condition: ExprId,
        rows: Rows<'_, F>,
        domain: &Bitset,
        jobs: &Jobs,
        budget: &Budget,
    ) -> Result<Bitset, Stop> {
        let program = &self.programs[&condition];
        let start = || (Memory::new(&self.code), Clock::new(budget));
        domain.filter_shared(jobs, start, |(memory, clock), state| {
            clock.tick()?;
            memory.change_state();
            Ok(self.code.is_true(program, rows.layout, (rows.row)(state), memory))
        })
    }
}

/// Evaluates conditions on one state after the other.
pub struct Reader<'a, 's> {
    atoms: &'a Atoms<'s>,
    layout: &'a Layout,
    memory: Memory,
    row: Vec<u64>,
}

impl<'a, 's> Reader<'a, 's> {
    pub(crate) fn new(atoms: &'a Atoms<'s>, layout: &'a Layout) -> Reader<'a, 's> {
        Reader { atoms, layout, memory: Memory::new(&atoms.code), row: Vec::new() }
    }

    /// Selects the state on which conditions are evaluated next.
    pub fn turn_to(&mut self, row: &[u64]) {
        self.row.clear();
        self.row.extend_from_slice(row);
        self.memory.change_state();
    }

    /// Whether a formula is true at the selected state. The formula must be a condition on single states:
    /// temporal and epistemic operators count as false.
    pub fn is_true(&mut self, system: &System, formula: FormulaId) -> bool {
        match system.formulas.get(formula) {
            Formula::Bool(value) => value,
            Formula::Proposition(p) => self.meets(system.propositions[p.index()].condition),
            Formula::Condition(condition) => self.meets(condition),
            Formula::Green(agent) => system.agent(agent).red.is_none_or(|red| !self.meets(red)),
            Formula::Red(agent) => system.agent(agent).red.is_some_and(|red| self.meets(red)),
            Formula::Not(f) => !self.is_true(system, f),
            Formula::And(list) => list.iter().all(|&f| self.is_true(system, f)),
            Formula::Or(list) => list.iter().any(|&f| self.is_true(system, f)),
            Formula::Implies(f, g) => !self.is_true(system, f) || self.is_true(system, g),
            Formula::Iff(f, g) => self.is_true(system, f) == self.is_true(system, g),
            _ => false,
        }
    }

    fn meets(&mut self, condition: ExprId) -> bool {
        self.atoms.code.is_true(&self.atoms.programs[&condition], self.layout, &self.row, &mut self.memory)
    }
}
