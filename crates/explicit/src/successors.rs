//! The successors of a state.
//!
//! ```text
//! P_i(s) = ⋃ {actions of l | l a protocol line of i that holds in s}, or Other's if none holds
//! s → t  iff  t ∈ ∏_u U_u(s, α)  for some α ∈ ∏_i P_i(s)
//! ```
//!
//! `U_u(s, α)` is what unit `u` may become. The product over joint actions is never enumerated as
//! such: a [`Plan`] says which choices depend on which.

use masque_model::AgentId;
use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashMap;

use crate::code::Memory;
use crate::plan::{Component, Plan};
use crate::steps::{Choices, Enabling, Steps, Unit};
use crate::tables::Table;

mod led;
use led::LedPlans;
pub(crate) use led::Listed;

/// Enumerates successors; holds what is needed from state to state.
pub(crate) struct Stepper<'a> {
    steps: &'a Steps<'a>,
    budget: &'a Budget,
    memory: Memory,
    /// The state and the actions chosen so far.
    row: Vec<u64>,
    /// The enabled actions of agents that have a choice, and where each agent's are.
    enabled: Vec<u32>,
    choices: Vec<(u32, u32)>,
    /// The agents that have a choice and whose action is read.
    choosing: Vec<u32>,
    /// For each agent its least enabled action, or what it has chosen as a member of a group.
    chosen: Vec<u32>,
    /// What is known of each agent's enabled actions: `ONLY` and the action, or a list.
    enabled_tables: Vec<Table>,
    enabled_lists: Vec<Box<[u32]>>,
    /// What is known of each unit's choices: `OVERFLOWS`, and `NO_CHOICE`, `MANY_CHOICES` or the
    /// place of its bits.
    unit_tables: Vec<Table>,
    unit_bits: Vec<u64>,
    /// The plans made so far, by the agents that have a choice, and the one in use.
    plans: Vec<Plan>,
    plan_of: FxHashMap<Box<[u32]>, usize>,
    plan: usize,
    planned_for: Vec<u32>,
    /// Plans for the moves of a group.
    led: LedPlans,
    /// Parts of states, to be combined: `parts[k]` are the choices of one of several factors.
    parts: Vec<Vec<u64>>,
    /// Vectors to be used again.
    spare: Vec<Vec<u64>>,
    spare_lists: Vec<Vec<u32>>,
    /// The bits of the row that are fixed: the state's, and those of actions that are chosen.
    known: Vec<u64>,
    /// For each agent the only action it may perform, if it is held to one.
    only: Vec<Option<u32>>,
    overflow: bool,
    n_produced: u32,
}

/// In a table of enabled actions: there is only one, and the other bits say which.
const ONLY: u32 = 1 << 31;
/// In a table of choices: some enabled line overflows.
const OVERFLOWS: u32 = 1 << 31;
const NO_CHOICE: u32 = 1;
const MANY_CHOICES: u32 = 2;
const FIRST_PLACE: u32 = 3;
/// So many plans are kept, and one more is in use. Plans are small, but there may be exponentially
/// many sets of agents.
const MOST_PLANS: usize = 4096;

/// With fewer enabled actions than this, none is left out.
const FEW_ACTIONS: usize = if cfg!(test) { 1 } else { 3 };
/// With more evolution lines for each enabled action than this, looking at all of them costs too much.
const MOST_LINES_PER_ACTION: usize = 32;

/// What there is to say of a state besides its successors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// Some agent has no action, or no joint action leads anywhere.
    pub is_dead: bool,
    /// Some enabled joint action has a choice removed by an overflow.
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
            led: LedPlans::default(),
            parts: Vec::new(),
            spare: Vec::new(),
            spare_lists: Vec::new(),
            known: vec![u64::MAX; steps.layout.n_row_words],
            only: vec![None; steps.protocols.len()],
            overflow: false,
            n_produced: 0,
        }
    }

    /// Calls `found` for each successor of a packed state. The same one may be found twice.
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
        // The plan is lent out while it is followed.
        let plan = std::mem::take(&mut self.plans[self.plan]);
        let is_dead = self.follow(&plan, state, &mut found);
        self.plans[self.plan] = plan;
        Ok(Expansion { is_dead: is_dead?, overflows: self.overflow })
    }

    /// Puts a packed state into the row, without actions. What was computed for the same state stays:
    /// the moves of a group are expanded one after the other.
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

    /// Does what a plan says. Answers whether there is no successor.
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

    /// The part of a state that is kept. No agent that has a choice has chosen.
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

    /// From now on an agent performs nothing but this action, which must be enabled; anything
    /// enabled if there is none.
    pub(crate) fn only(&mut self, agent: usize, action: Option<u32>) {
        self.only[agent] = action;
    }

    /// The actions enabled in a packed state, for each agent, in increasing order.
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

    /// Finds the enabled actions; false if some agent has none.
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
            Some((_, entry)) if entry & ONLY != 0 => return self.enabled.push(entry & !ONLY),
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
                [only] => ONLY | only,
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
        if self.plan_of.len() < MOST_PLANS {
            self.plan_of.insert(self.choosing.as_slice().into(), self.plans.len());
        } else {
            self.plans.truncate(MOST_PLANS);
        }
        self.plan = self.plans.len();
        self.plans.push(plan);
    }

    /// Lets units evolve whose actions are all chosen. Answers whether some unit has no choice.
    fn settle(&mut self, units: &[u32], base: &mut [u64]) -> bool {
        // All units are asked, also after one without a choice: they may overflow.
        units.iter().fold(false, |is_dead, &unit| is_dead | (self.evolve(unit, base) == Choices::None))
    }

    /// Lets a unit evolve whose actions are all chosen: into `base`, where its bits are zero, if it
    /// has one choice, and as one more factor if it has several.
    #[inline]
    fn evolve(&mut self, number: u32, base: &mut [u64]) -> Choices {
        let unit = &self.steps.units[number as usize];
        let known = self.unit_tables[number as usize].look_up(unit.gather.as_ref(), &self.row);
        if let Some((_, entry)) = known {
            self.overflow |= entry & OVERFLOWS != 0;
            match entry & !OVERFLOWS {
                0 | MANY_CHOICES => {}
                NO_CHOICE => return Choices::None,
                place => {
                    let bits = &self.unit_bits[(place - FIRST_PLACE) as usize..];
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
                    let place = self.unit_bits.len() as u32 + FIRST_PLACE;
                    self.unit_bits.extend(unit.bits.iter().map(|(word, bits)| base[*word as usize] & bits));
                    place
                }
            };
            self.unit_tables[number as usize].set(
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

    /// Pushes, as one factor, all that a component can do. Answers whether that is nothing.
    fn choose_in(&mut self, component: &Component) -> Result<bool, Stop> {
        let n_words = self.steps.layout.n_words;
        let (begin, end) = self.choices[component.agent as usize];
        let mut usual = self.spare.pop().unwrap_or_default();
        let mut special = self.spare_lists.pop().unwrap_or_default();
        self.do_the_usual(component, &mut usual, &mut special);
        let mut results = self.spare.pop().unwrap_or_default();
        results.clear();
        let mut base = self.spare.pop().unwrap_or_default();
        let telling = self.telling_actions(component);
        self.set_known(component.agent, true);
        let mut is_other_done = false;
        for choice in begin..end {
            let action = self.enabled[choice as usize];
            if telling.as_ref().is_some_and(|telling| telling.binary_search(&action).is_err())
                && std::mem::replace(&mut is_other_done, true)
            {
                continue;
            }
            self.perform(component.agent, action);
            base.clear();
            base.extend_from_slice(&usual);
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
        self.spare_lists.extend(telling);
        dedup_rows(&mut results, n_words);
        let is_dead = results.is_empty();
        self.parts.push(results);
        self.spare.extend([base, usual]);
        self.spare_lists.push(special);
        Ok(is_dead)
    }

    /// The enabled actions of a component's agent that some unit can still tell from others, in increasing
    /// order: all others have the same effect. `None` if finding them may cost more than it saves.
    ///
    /// Where five agents synchronise, each with ten actions, most of the 10^5 joint actions do nothing. Once
    /// one agent has chosen, few lines are still possible, and all actions that they do not name are alike.
    fn telling_actions(&mut self, component: &Component) -> Option<Vec<u32>> {
        let (begin, end) = self.choices[component.agent as usize];
        let n_actions = (end - begin) as usize;
        let units = component.units.iter().map(|&unit| &self.steps.units[unit as usize]);
        let is_fast = component.components.is_empty() && units.clone().all(|unit| unit.gather.is_some());
        if is_fast || n_actions < FEW_ACTIONS {
            return None;
        }
        if units.clone().map(Unit::n_lines).sum::<usize>() > n_actions * MOST_LINES_PER_ACTION {
            return None;
        }
        let mut actions = self.spare_lists.pop().unwrap_or_default();
        actions.clear();
        let field = self.steps.layout.action(AgentId(component.agent));
        for unit in units {
            unit.telling_actions(&self.row, &self.known, (component.agent, field), &mut actions);
        }
        sort_and_dedup_from(&mut actions, 0);
        Some(actions)
    }

    /// From now on the bits of an agent's action are fixed, or they are not.
    fn set_known(&mut self, agent: u32, is_known: bool) {
        let field = self.steps.layout.action(AgentId(agent));
        if field.mask != 0 {
            let word = &mut self.known[field.word as usize];
            *word = if is_known { *word | field.bits() } else { *word & !field.bits() };
        }
    }

    /// Lets the units evolve that an agent's choice settles: those that test the action, over what they do
    /// usually, and those that do nothing usual. Answers whether one has no choice.
    fn evolve_chosen(
        &mut self,
        component: &Component,
        action: u32,
        special: &[u32],
        base: &mut [u64],
    ) -> bool {
        let mut is_dead = false;
        for position in component.testing(action) {
            if special.binary_search(&position).is_err() {
                let (unit, _) = component.settled[position as usize];
                self.steps.units[unit as usize].clear(base);
                is_dead |= self.evolve(unit, base) == Choices::None;
            }
        }
        for &position in special {
            is_dead |= self.evolve(component.settled[position as usize].0, base) == Choices::None;
        }
        is_dead
    }

    /// What the settled units of a component become when its agent does something they do not test,
    /// into `usual`; and the positions of those that then have no choice or several, in `special`.
    /// A unit that tests all that is enabled has nothing usual, and is asked for every action.
    fn do_the_usual(&mut self, component: &Component, usual: &mut Vec<u64>, special: &mut Vec<u32>) {
        usual.clear();
        usual.resize(self.steps.layout.n_words, 0);
        special.clear();
        let (begin, end) = self.choices[component.agent as usize];
        let mut current = None;
        for (position, (unit, tested)) in (0..).zip(&component.settled) {
            let enabled = &self.enabled[begin as usize..end as usize];
            let Some(&action) = enabled.iter().find(|action| tested.binary_search(action).is_err()) else {
                continue;
            };
            if current != Some(action) {
                self.perform(component.agent, action);
                current = Some(action);
            }
            match self.evolve(*unit, usual) {
                Choices::One => {}
                Choices::None => special.push(position),
                Choices::Many => {
                    self.drop_parts(self.parts.len() - 1);
                    special.push(position);
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
                // The common case: no need to count up.
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

    /// One state may have very many successors: looks at the clock, and at memory, now and then.
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

/// Sorts the end of a list, from a position on, and keeps each number there once.
pub(crate) fn sort_and_dedup_from(list: &mut Vec<u32>, begin: usize) {
    list[begin..].sort_unstable();
    let mut kept = begin;
    for position in begin..list.len() {
        if position == begin || list[position] != list[kept - 1] {
            list[kept] = list[position];
            kept += 1;
        }
    }
    list.truncate(kept);
}

/// Sorts rows of equal length and keeps each once.
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
