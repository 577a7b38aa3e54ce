//! The successors of a state.
//!
//! ```text
//! P_i(s) = ⋃ {actions of l | l a protocol line of i that holds in s}, or Other's if none holds
//! s → t  iff  t ∈ ∏_u U_u(s, α)  for some α ∈ ∏_i P_i(s)
//! ```
//!
//! `U_u(s, α)` is the set of next values of unit `u`. The product over joint actions is never enumerated as
//! such: a [`Plan`] describes which choices depend on which.

use masque_model::AgentId;
use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::code::Memory;
use crate::plan::{Component, Plan};
use crate::steps::{Choices, Enabling, Steps, Unit};
use crate::tables::Table;

mod group_moves;
use group_moves::GroupPlans;
pub(crate) use group_moves::MoveList;

/// Enumerates successors of one state after the other, with caches that are shared between states.
pub(crate) struct Stepper<'a> {
    steps: &'a Steps<'a>,
    budget: &'a Budget,
    memory: Memory,
    /// The state and the actions chosen so far.
    row: Vec<u64>,
    /// The enabled actions of agents that have a choice.
    enabled: Vec<u32>,
    /// Start and end of each agent's actions in `enabled`.
    choices: Vec<(u32, u32)>,
    /// The agents that have a choice and whose action is read.
    choosing: Vec<u32>,
    /// Least enabled action of each agent, or the action that it has chosen as a member of a group.
    chosen: Vec<u32>,
    /// Cached enabled actions of each agent: `SINGLE_ACTION` and the action, or 1 plus the index of a list.
    enabled_tables: Vec<Table>,
    enabled_lists: Vec<Box<[u32]>>,
    /// Cached choices of each unit: `OVERFLOWS`, and `NO_CHOICE`, `MANY_CHOICES`, or `FIRST_BITS` plus the
    /// index of its bits in `unit_bits`.
    unit_tables: Vec<Table>,
    unit_bits: Vec<u64>,
    /// The plans made so far.
    plans: Vec<Plan>,
    /// Index of the plan for a set of agents that have a choice.
    plan_of: FxHashMap<Box<[u32]>, usize>,
    /// Index of the current plan.
    plan: usize,
    /// The agents of the current plan.
    planned_for: Vec<u32>,
    /// Plans for the moves of a group.
    group_plans: GroupPlans,
    /// Parts of states, to be combined: `parts[k]` has the choices of one of several factors.
    parts: Vec<Vec<u64>>,
    /// Vectors to be reused.
    spare: Vec<Vec<u64>>,
    spare_lists: Vec<Vec<u32>>,
    /// The bits of the row that are fixed: those of the state, and those of chosen actions.
    known: Vec<u64>,
    /// The only action that each agent may perform, if it is restricted to one.
    only: Vec<Option<u32>>,
    overflow: bool,
    n_produced: u32,
}

/// Flag in a table of enabled actions: the other bits are the only enabled action.
const SINGLE_ACTION: u32 = 1 << 31;
/// Flag in a table of choices: some enabled line overflows.
const OVERFLOWS: u32 = 1 << 31;
const NO_CHOICE: u32 = 1;
const MANY_CHOICES: u32 = 2;
const FIRST_BITS: u32 = 3;
/// Maximum number of plans that are kept, in addition to the current one. There may be exponentially many
/// sets of agents.
const MAX_PLANS: usize = 4096;

/// Minimum number of enabled actions for which actions with the same effect are searched for.
const MIN_ACTIONS_TO_MERGE: usize = if cfg!(test) { 1 } else { 3 };
/// Maximum number of evolution lines per enabled action for which that search pays.
const MAX_LINES_PER_ACTION: usize = 32;

/// Facts about a state that its expansion has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// Whether the state has no successor: some agent has no action, or all choices overflow.
    pub is_dead: bool,
    /// Whether an overflow removes a choice of some enabled joint action.
    pub overflows: bool,
}

impl<'a> Stepper<'a> {
    pub(crate) fn new(steps: &'a Steps<'a>, budget: &'a Budget) -> Stepper<'a> {
        let settled = Plan::new(&[], steps.units.iter().map(|unit| &*unit.tests));
        Stepper {
            steps,
            budget,
            memory: Memory::new(&steps.code),
            row: vec![0; steps.layout.n_row_words],
            enabled: Vec::new(),
            choices: vec![(0, 0); steps.protocols.len()],
            choosing: Vec::new(),
            chosen: vec![0; steps.protocols.len()],
            enabled_tables: vec![Table::default(); steps.protocols.len()],
            enabled_lists: Vec::new(),
            unit_tables: vec![Table::default(); steps.units.len()],
            unit_bits: Vec::new(),
            plans: vec![settled],
            plan_of: std::iter::once((Box::default(), 0)).collect(),
            plan: 0,
            planned_for: Vec::new(),
            group_plans: GroupPlans::default(),
            parts: Vec::new(),
            spare: Vec::new(),
            spare_lists: Vec::new(),
            known: vec![u64::MAX; steps.layout.n_row_words],
            only: vec![None; steps.protocols.len()],
            overflow: false,
            n_produced: 0,
        }
    }

    /// Calls `found` for each successor of a packed state. A successor may be found twice.
    pub(crate) fn expand(
        &mut self,
        state: &[u64],
        mut found: impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<Expansion, Stop> {
        self.enter(state);
        self.overflow = false;
        if !self.choose() {
            return Ok(Expansion { is_dead: true, overflows: false });
        }
        self.make_plan();
        // The plan is taken out while it is followed, because `self` is borrowed mutably.
        let plan = std::mem::take(&mut self.plans[self.plan]);
        let is_dead = self.follow(&plan, state, &mut found);
        self.plans[self.plan] = plan;
        Ok(Expansion { is_dead: is_dead?, overflows: self.overflow })
    }

    /// Puts a packed state into the row, without actions. Cells that were computed for the same state stay
    /// valid, because the moves of a group are expanded one after the other.
    fn enter(&mut self, state: &[u64]) {
        let (own, actions) = self.row.split_at_mut(self.steps.layout.n_words);
        actions.fill(0);
        if own == state {
            self.memory.change_actions();
        } else {
            own.copy_from_slice(state);
            self.memory.change_state();
        }
    }

    /// Enumerates the successors according to a plan. Returns whether there are none.
    fn follow(
        &mut self,
        plan: &Plan,
        state: &[u64],
        found: &mut impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<bool, Stop> {
        let mut base = self.begin(state);
        let mut is_dead = self.settle(&plan.settled, &mut base);
        for component in &plan.components {
            is_dead |= self.choose_in(component)?;
        }
        if !is_dead {
            self.each_combination(0, &mut base, found)?;
        }
        self.spare.push(base);
        self.drop_parts(0);
        Ok(is_dead)
    }

    /// Returns the frozen part of a state, and marks the actions of all agents that have a choice as
    /// unknown.
    fn begin(&mut self, state: &[u64]) -> Vec<u64> {
        self.known.fill(u64::MAX);
        for agent in 0..self.choosing.len() {
            self.set_known(self.choosing[agent], false);
        }
        let mut base = self.spare.pop().unwrap_or_default();
        base.clear();
        base.extend(state.iter().zip(&self.steps.frozen).map(|(word, frozen)| word & frozen));
        base
    }

    /// Restricts an agent to one action, which must be enabled. `None` lifts the restriction.
    pub(crate) fn only(&mut self, agent: usize, action: Option<u32>) {
        self.only[agent] = action;
    }

    /// Returns the actions enabled in a packed state, for each agent, in increasing order.
    pub(crate) fn enabled_actions(&mut self, state: &[u64]) -> Vec<Vec<u32>> {
        let steps = self.steps;
        self.enter(state);
        let mut lists = Vec::with_capacity(steps.protocols.len());
        for (agent, enabling) in steps.protocols.iter().enumerate() {
            self.enabled.clear();
            self.find_enabled(agent, enabling);
            lists.push(self.enabled.clone());
        }
        lists
    }

    /// Finds the enabled actions; returns false if some agent has none.
    fn choose(&mut self) -> bool {
        let steps = self.steps;
        self.enabled.clear();
        self.choosing.clear();
        for (agent, enabling) in steps.protocols.iter().enumerate() {
            let begin = self.enabled.len();
            match self.only[agent] {
                Some(only) => self.enabled.push(only),
                None => self.find_enabled(agent, enabling),
            }
            let n_actions = self.enabled.len() - begin;
            if n_actions == 0 {
                return false;
            }
            self.chosen[agent] = self.enabled[begin];
            steps.layout.action(AgentId(agent as u32)).set(&mut self.row, self.enabled[begin].into());
            if n_actions == 1 || !steps.is_read[agent] {
                self.enabled.truncate(begin);
            } else {
                self.choices[agent] = (begin as u32, self.enabled.len() as u32);
                self.choosing.push(agent as u32);
            }
        }
        true
    }

    /// Appends the enabled actions of an agent, in increasing order.
    #[inline]
    fn find_enabled(&mut self, agent: usize, enabling: &Enabling) {
        let Enabling::Lines { guards, actions, gather } = enabling else {
            if let Enabling::Fixed(actions) = enabling {
                self.enabled.extend(actions);
            }
            return;
        };
        let known = self.enabled_tables[agent].look_up(gather.as_ref(), &self.row);
        match known {
            Some((_, entry)) if entry & SINGLE_ACTION != 0 => {
                return self.enabled.push(entry & !SINGLE_ACTION);
            }
            Some((_, entry)) if entry != 0 => {
                return self.enabled.extend(&self.enabled_lists[entry as usize - 1]);
            }
            _ => {}
        }
        let Steps { code, layout, .. } = self.steps;
        let begin = self.enabled.len();
        let enabled = &mut self.enabled;
        let mut n_lines = 0;
        guards.each_enabled(code, layout, &self.row, &mut self.memory, |line, _| {
            n_lines += 1;
            enabled.extend(&actions[line as usize]);
        });
        if n_lines == 0 {
            enabled.extend(&actions[actions.len() - 1]);
        } else if n_lines > 1 {
            sort_and_dedup_from(enabled, begin);
        }
        if let Some((index, _)) = known
            && let Some(gather) = gather
        {
            let entry = match enabled[begin..] {
                [only] => SINGLE_ACTION | only,
                _ => {
                    self.enabled_lists.push(enabled[begin..].into());
                    self.enabled_lists.len() as u32
                }
            };
            self.enabled_tables[agent].set(gather, index, entry);
        }
    }

    fn make_plan(&mut self) {
        if self.choosing == self.planned_for {
            return;
        }
        self.planned_for.clone_from(&self.choosing);
        if let Some(&plan) = self.plan_of.get(&*self.choosing) {
            self.plan = plan;
            return;
        }
        let plan = Plan::new(&self.choosing, self.steps.units.iter().map(|unit| &*unit.tests));
        if self.plan_of.len() < MAX_PLANS {
            self.plan_of.insert(self.choosing.as_slice().into(), self.plans.len());
        } else {
            self.plans.truncate(MAX_PLANS);
        }
        self.plan = self.plans.len();
        self.plans.push(plan);
    }

    /// Evolves units whose actions are all chosen. Returns whether some unit has no choice.
    fn settle(&mut self, units: &[u32], base: &mut [u64]) -> bool {
        // All units are evolved, even after one without a choice, because they may overflow.
        units.iter().fold(false, |is_dead, &unit| is_dead | (self.evolve(unit, base) == Choices::None))
    }

    /// Evolves a unit whose actions are all chosen: into `base`, where its bits are zero, if it
    /// has one choice, and as a further factor if it has several.
    #[inline]
    fn evolve(&mut self, unit_index: u32, base: &mut [u64]) -> Choices {
        let unit = &self.steps.units[unit_index as usize];
        let known = self.unit_tables[unit_index as usize].look_up(unit.gather.as_ref(), &self.row);
        if let Some((_, entry)) = known {
            self.overflow |= entry & OVERFLOWS != 0;
            match entry & !OVERFLOWS {
                0 | MANY_CHOICES => {}
                NO_CHOICE => return Choices::None,
                begin => {
                    let bits = &self.unit_bits[(begin - FIRST_BITS) as usize..];
                    for ((word, _), bits) in unit.bits.iter().zip(bits) {
                        base[*word as usize] |= bits;
                    }
                    return Choices::One;
                }
            }
        }
        let mut more = self.spare.pop().unwrap_or_default();
        more.clear();
        let mut overflows = false;
        let choices = unit.evolve(self.steps, &self.row, &mut self.memory, base, &mut more, &mut overflows);
        self.overflow |= overflows;
        if let Some((index, 0)) = known
            && let Some(gather) = &unit.gather
        {
            let entry = match choices {
                Choices::None => NO_CHOICE,
                Choices::Many => MANY_CHOICES,
                Choices::One => {
                    let begin = self.unit_bits.len() as u32 + FIRST_BITS;
                    self.unit_bits.extend(unit.bits.iter().map(|(word, bits)| base[*word as usize] & bits));
                    begin
                }
            };
            self.unit_tables[unit_index as usize].set(
                gather,
                index,
                entry | if overflows { OVERFLOWS } else { 0 },
            );
        }
        if choices == Choices::Many {
            unit.clear(base);
            dedup_rows(&mut more, base.len());
            self.parts.push(more);
        } else {
            self.spare.push(more);
        }
        choices
    }

    /// Pushes, as one factor, all results of a component. Returns whether there are none.
    fn choose_in(&mut self, component: &Component) -> Result<bool, Stop> {
        let n_words = self.steps.layout.n_words;
        let (begin, end) = self.choices[component.agent as usize];
        let mut untested = self.spare.pop().unwrap_or_default();
        let mut special = self.spare_lists.pop().unwrap_or_default();
        self.evolve_untested(component, &mut untested, &mut special);
        let mut results = self.spare.pop().unwrap_or_default();
        results.clear();
        let mut base = self.spare.pop().unwrap_or_default();
        let distinguished = self.distinguished_actions(component);
        self.set_known(component.agent, true);
        let mut is_other_done = false;
        for choice in begin..end {
            let action = self.enabled[choice as usize];
            if distinguished.as_ref().is_some_and(|actions| actions.binary_search(&action).is_err())
                && std::mem::replace(&mut is_other_done, true)
            {
                continue;
            }
            self.perform(component.agent, action);
            base.clear();
            base.extend_from_slice(&untested);
            let first_part = self.parts.len();
            let mut is_dead = self.evolve_chosen(component, action, &special, &mut base);
            for below in &component.components {
                is_dead |= self.choose_in(below)?;
            }
            if !is_dead {
                self.each_combination(first_part, &mut base, &mut |row: &[u64]| {
                    results.extend_from_slice(row);
                    Ok(())
                })?;
            }
            self.drop_parts(first_part);
            self.tick()?;
        }
        self.set_known(component.agent, false);
        self.spare_lists.extend(distinguished);
        dedup_rows(&mut results, n_words);
        let is_dead = results.is_empty();
        self.parts.push(results);
        self.spare.extend([base, untested]);
        self.spare_lists.push(special);
        Ok(is_dead)
    }

    /// Returns the enabled actions of a component's agent that some unit can still distinguish from others,
    /// in increasing order: all others have the same effect. `None` if finding them may cost more than it
    /// saves.
    ///
    /// When five agents synchronise, each with ten actions, most of the 10^5 joint actions do nothing. Once
    /// one agent has chosen, few lines are still possible, and all actions that they do not name have the
    /// same effect.
    fn distinguished_actions(&mut self, component: &Component) -> Option<Vec<u32>> {
        let (begin, end) = self.choices[component.agent as usize];
        let n_actions = (end - begin) as usize;
        let units = component.units.iter().map(|&unit| &self.steps.units[unit as usize]);
        let is_fast = component.components.is_empty() && units.clone().all(|unit| unit.gather.is_some());
        if is_fast || n_actions < MIN_ACTIONS_TO_MERGE {
            return None;
        }
        if units.clone().map(Unit::n_lines).sum::<usize>() > n_actions * MAX_LINES_PER_ACTION {
            return None;
        }
        let mut actions = self.spare_lists.pop().unwrap_or_default();
        actions.clear();
        let field = self.steps.layout.action(AgentId(component.agent));
        for unit in units {
            unit.distinguished_actions(&self.row, &self.known, component.agent, field, &mut actions);
        }
        sort_and_dedup_from(&mut actions, 0);
        Some(actions)
    }

    /// Marks the bits of an agent's action as fixed, or as not fixed.
    fn set_known(&mut self, agent: u32, is_known: bool) {
        let field = self.steps.layout.action(AgentId(agent));
        if field.mask != 0 {
            let word = &mut self.known[field.word as usize];
            *word = if is_known { *word | field.bits() } else { *word & !field.bits() };
        }
    }

    /// Evolves the units that an agent's choice settles and whose values are not yet in `base`: those that
    /// test the action, whose values for untested actions are replaced, and the `special` ones of
    /// [`Stepper::evolve_untested`]. Returns whether one has no choice.
    fn evolve_chosen(
        &mut self,
        component: &Component,
        action: u32,
        special: &[u32],
        base: &mut [u64],
    ) -> bool {
        let mut is_dead = false;
        for index in component.testing(action) {
            if special.binary_search(&index).is_err() {
                let (unit, _) = component.settled[index as usize];
                self.steps.units[unit as usize].clear(base);
                is_dead |= self.evolve(unit, base) == Choices::None;
            }
        }
        for &index in special {
            is_dead |= self.evolve(component.settled[index as usize].0, base) == Choices::None;
        }
        is_dead
    }

    /// Evolves the settled units of a component for an action of its agent that they do not test, into
    /// `next`. `special` gets the indices of the units that then have no choice or several; these are
    /// evolved for every action. A unit that tests all enabled actions is skipped, because it is evolved for
    /// each of them.
    fn evolve_untested(&mut self, component: &Component, next: &mut Vec<u64>, special: &mut Vec<u32>) {
        next.clear();
        next.resize(self.steps.layout.n_words, 0);
        special.clear();
        let (begin, end) = self.choices[component.agent as usize];
        let mut current = None;
        for (index, (unit, tested)) in (0..).zip(&component.settled) {
            let enabled = &self.enabled[begin as usize..end as usize];
            let Some(&action) = enabled.iter().find(|action| tested.binary_search(action).is_err()) else {
                continue;
            };
            if current != Some(action) {
                self.perform(component.agent, action);
                current = Some(action);
            }
            match self.evolve(*unit, next) {
                Choices::One => {}
                Choices::None => special.push(index),
                Choices::Many => {
                    self.drop_parts(self.parts.len() - 1);
                    special.push(index);
                }
            }
        }
    }

    /// Puts an action into the row.
    fn perform(&mut self, agent: u32, action: u32) {
        self.steps.layout.action(AgentId(agent)).set(&mut self.row, u64::from(action));
        self.memory.change_actions();
    }

    /// Calls `found` for `base` combined with one choice of each factor from `first_part` on.
    fn each_combination(
        &mut self,
        first_part: usize,
        base: &mut [u64],
        found: &mut impl FnMut(&[u64]) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let n_words = base.len();
        let n_parts = self.parts.len() - first_part;
        match n_parts {
            0 => return found(base),
            1 => {
                // The common case of a single factor.
                let part = std::mem::take(&mut self.parts[first_part]);
                let mut row = self.spare.pop().unwrap_or_default();
                for choice in part.chunks_exact(n_words) {
                    row.clear();
                    row.extend(base.iter().zip(choice).map(|(a, b)| a | b));
                    found(&row)?;
                    self.tick()?;
                }
                self.spare.push(row);
                self.parts[first_part] = part;
                return Ok(());
            }
            _ => {}
        }
        // prefixes[k] is the base with the current choices of the first k factors.
        let mut prefixes = self.spare.pop().unwrap_or_default();
        prefixes.clear();
        prefixes.extend_from_slice(base);
        prefixes.resize((n_parts + 1) * n_words, 0);
        let mut positions = vec![0_usize; n_parts];
        let mut depth = 0;
        loop {
            while depth < n_parts {
                let choice = &self.parts[first_part + depth][positions[depth] * n_words..][..n_words];
                let (below, above) = prefixes.split_at_mut((depth + 1) * n_words);
                let below = &below[depth * n_words..];
                for (word, target) in above[..n_words].iter_mut().enumerate() {
                    *target = below[word] | choice[word];
                }
                depth += 1;
            }
            found(&prefixes[n_parts * n_words..])?;
            self.tick()?;
            loop {
                if depth == 0 {
                    self.spare.push(prefixes);
                    return Ok(());
                }
                depth -= 1;
                positions[depth] += 1;
                if positions[depth] * n_words < self.parts[first_part + depth].len() {
                    break;
                }
                positions[depth] = 0;
            }
        }
    }

    fn drop_parts(&mut self, first_part: usize) {
        while self.parts.len() > first_part {
            if let Some(mut part) = self.parts.pop() {
                part.clear();
                self.spare.push(part);
            }
        }
    }

    /// Checks the budget every 4096 calls, because one state may have very many successors.
    fn tick(&mut self) -> Result<(), Stop> {
        self.n_produced = self.n_produced.wrapping_add(1);
        if self.n_produced.is_multiple_of(4096) {
            self.budget.check()?;
            let bytes: usize = self.parts.iter().chain(&self.spare).map(|part| part.capacity() * 8).sum();
            self.budget.check_memory(bytes as u64)?;
        }
        Ok(())
    }
}

/// Sorts the end of a list, from the index `begin` on, and removes duplicates there.
pub(crate) fn sort_and_dedup_from(list: &mut Vec<u32>, begin: usize) {
    list[begin..].sort_unstable();
    let mut kept = begin;
    for index in begin..list.len() {
        if index == begin || list[index] != list[kept - 1] {
            list[kept] = list[index];
            kept += 1;
        }
    }
    list.truncate(kept);
}

/// Sorts rows of equal length and removes duplicates.
fn dedup_rows(rows: &mut Vec<u64>, width: usize) {
    let n_rows = rows.len() / width;
    if n_rows < 2 {
        return;
    }
    if width == 1 {
        rows.sort_unstable();
        rows.dedup();
        return;
    }
    let row = |i: usize| &rows[i * width..][..width];
    let mut order: Vec<usize> = (0..n_rows).collect();
    order.sort_unstable_by(|&a, &b| row(a).cmp(row(b)));
    order.dedup_by(|a, b| row(*a) == row(*b));
    *rows = order.iter().flat_map(|&i| row(i)).copied().collect();
}
