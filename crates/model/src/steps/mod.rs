//! Single steps, checked and explained by the definition, without enumerating joint actions or
//! successors.
//!
//! A *unit* is an agent (MultiAssignment) or one of its variables (SingleAssignment): it chooses its next
//! values independently of the others. A joint action leads from one state to another iff each unit can
//! get its next values. Hence a step is checked unit by unit. The joint action of a step is found by a
//! depth-first search that checks a unit as soon as all actions that it reads are chosen, and before
//! that whether the actions chosen so far contradict all of its lines.

use std::cell::Cell;
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::semantics::{Ratio, enabled_actions, value};
use crate::{ActionId, AgentId, Assignment, Expr, ExprId, System, VarId};

mod choices;
mod condition;
mod neighbourhood;
mod selected;
mod state;

use condition::holds;

pub use choices::{
    More, Product, Successors, first_initial_states, first_initial_states_with, joint_choices,
};
pub use neighbourhood::{Neighbourhood, Step};
pub use selected::SelectedSteps;
pub use state::{JointAction, State, compare_states};

/// A limit on a search. It is checked every 1024 steps.
pub trait Limit {
    /// The reason why the search stops.
    type Stop;

    /// Fails if the search must stop.
    fn check(&self) -> Result<(), Self::Stop>;
}

/// Returns whether the joint action leads from `state` to `next`. The caller must check that its actions
/// are enabled.
///
/// ```text
/// s -a-> t   iff   each unit u keeps its variables and no line of u is enabled in (s, a),
///                  or assigns t's values by a line enabled in (s, a)
/// ```
pub fn leads_to(system: &System, state: &[i64], joint: &[ActionId], next: &[i64]) -> bool {
    Moves::new(system).leads_to(state, joint, next)
}

/// Returns the least joint action, in lexicographic order of action ids, that leads from `state` to
/// `next`.
pub fn least_joint_action<L: Limit>(
    system: &System,
    state: &[i64],
    next: &[i64],
    limit: &L,
) -> Result<Option<JointAction>, L::Stop> {
    Moves::new(system).least_joint_action(state, next, limit)
}

/// Maximum number of choices that are tried to find out whether a state has a successor.
pub const MAX_CHOICES_TRIED: u32 = 1 << 20;

/// The units of a system, prepared once for questions about many steps.
pub struct Moves<'s> {
    system: &'s System,
    units: Vec<Unit<'s>>,
}

impl<'s> Moves<'s> {
    /// Prepares the units of a system.
    pub fn new(system: &'s System) -> Moves<'s> {
        Moves { system, units: units(system) }
    }

    /// As [`leads_to`].
    pub fn leads_to(&self, state: &[i64], joint: &[ActionId], next: &[i64]) -> bool {
        self.units.iter().all(|unit| unit.leads_to(self.system, state, joint, next))
    }

    /// As [`least_joint_action`].
    pub fn least_joint_action<L: Limit>(
        &self,
        state: &[i64],
        next: &[i64],
        limit: &L,
    ) -> Result<Option<JointAction>, L::Stop> {
        // For each unit the lines that lead to `next` with suitable actions, and whether it may get there
        // without a line.
        let lines: Vec<(Vec<&UnitLine<'_>>, bool)> = self
            .units
            .iter()
            .map(|unit| {
                let fitting =
                    unit.lines.iter().filter(|line| line.may_lead_to(self.system, unit, state, next));
                (fitting.collect(), unit.variables.iter().all(|v| next[v.index()] == state[v.index()]))
            })
            .collect();
        let approves = |unit: &Unit<'_>, joint: &[ActionId]| unit.leads_to(self.system, state, joint, next);
        let may_approve = |unit: usize, chosen: &[ActionId]| {
            let (fitting, may_keep) = &lines[unit];
            *may_keep || fitting.iter().any(|line| line.admits(chosen))
        };
        self.first_joint_action(state, limit, approves, may_approve)
    }

    /// Returns whether the state has a successor; `None` if trying [`MAX_CHOICES_TRIED`] choices does not
    /// decide it.
    ///
    /// ```text
    /// s → t for some t   iff   for some enabled joint action a each unit has no line enabled in
    ///                          (s, a), or one that does not overflow
    /// ```
    pub fn has_successor(&self, state: &[i64]) -> Option<bool> {
        let tried = Tried(Cell::new(0));
        let approves = |unit: &Unit<'_>, joint: &[ActionId]| {
            tried.0.set(tried.0.get() + 1);
            unit.has_next(self.system, state, joint)
        };
        let found = self.first_joint_action(state, &tried, approves, |_, _| true).ok()?;
        Some(found.is_some())
    }

    /// Returns the least enabled joint action that every unit approves. `may_approve` gets the index of a
    /// unit and the actions chosen so far, and returns false if the unit cannot approve any completion.
    fn first_joint_action<L: Limit>(
        &self,
        state: &[i64],
        limit: &L,
        approves: impl Fn(&Unit<'_>, &[ActionId]) -> bool,
        may_approve: impl Fn(usize, &[ActionId]) -> bool,
    ) -> Result<Option<JointAction>, L::Stop> {
        let enabled: Vec<_> =
            self.system.agent_ids().map(|i| enabled_actions(self.system, i, state)).collect();
        // Once the first n agents have chosen, due[n] has the units to check, and early[n] the units that
        // are checked for whether they may still approve.
        let mut due: Vec<Vec<&Unit<'_>>> = vec![Vec::new(); enabled.len() + 1];
        let mut early: Vec<Vec<usize>> = vec![Vec::new(); enabled.len() + 1];
        for (index, unit) in self.units.iter().enumerate() {
            let mut choosing: Vec<usize> =
                unit.reads.iter().map(|i| i.index()).filter(|&i| enabled[i].len() > 1).collect();
            due[choosing.pop().map_or(0, |last| last + 1)].push(unit);
            choosing.into_iter().for_each(|agent| early[agent + 1].push(index));
        }
        search(&enabled, limit, |n_chosen, joint| {
            early[n_chosen].iter().all(|&unit| may_approve(unit, &joint[..n_chosen]))
                && due[n_chosen].iter().all(|unit| approves(unit, joint))
        })
    }
}

/// Number of choices tried to find out whether a state has a successor.
struct Tried(Cell<u32>);

impl Limit for Tried {
    type Stop = ();

    fn check(&self) -> Result<(), ()> {
        if self.0.get() > MAX_CHOICES_TRIED { Err(()) } else { Ok(()) }
    }
}

/// An assignment whose value lies outside its variable's domain, in one step.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OverflowingStep {
    /// Joint action that makes the assignment overflow.
    pub joint_action: JointAction,
    /// Agent whose evolution line has the assignment.
    pub agent: AgentId,
    /// Index of the line among the agent's lines.
    pub line: usize,
    /// Variable that would leave its domain.
    pub variable: VarId,
}

/// Returns the least joint action enabled in a state that makes an assignment overflow there, with the
/// first such assignment; `None` if no joint action does.
pub fn least_overflowing_step<L: Limit>(
    system: &System,
    state: &[i64],
    limit: &L,
) -> Result<Option<OverflowingStep>, L::Stop> {
    let enabled: Vec<_> = system.agent_ids().map(|i| enabled_actions(system, i, state)).collect();
    let mut least: Option<OverflowingStep> = None;
    for unit in units(system) {
        // Agents that the unit does not read choose their least action.
        let choices: Vec<_> = (enabled.iter().enumerate())
            .map(|(i, actions)| {
                let n_choices = if unit.reads.contains(&AgentId(i as u32)) { actions.len() } else { 1 };
                actions.iter().copied().take(n_choices).collect::<Vec<_>>()
            })
            .collect();
        let n_agents = choices.len();
        let found = search(&choices, limit, |n_chosen, joint| {
            n_chosen < n_agents || unit.overflow(system, state, joint).is_some()
        })?;
        if let Some(joint_action) = found
            && let Some((line, variable)) = unit.overflow(system, state, &joint_action)
        {
            let candidate = OverflowingStep { joint_action, agent: unit.agent, line, variable };
            if least.as_ref().is_none_or(|least| candidate < *least) {
                least = Some(candidate);
            }
        }
    }
    Ok(least)
}

/// Returns the first choice of one item per list, in lexicographic order, all of whose prefixes are good.
///
/// `is_good` gets the number of items chosen so far, and all items; those not chosen yet are the first of
/// their lists.
fn search<L: Limit>(
    choices: &[Vec<ActionId>],
    limit: &L,
    mut is_good: impl FnMut(usize, &[ActionId]) -> bool,
) -> Result<Option<JointAction>, L::Stop> {
    let Some(mut chosen) = choices.iter().map(|c| c.first().copied()).collect::<Option<JointAction>>() else {
        return Ok(None);
    };
    if !is_good(0, &chosen) {
        return Ok(None);
    }
    let mut positions = vec![0; choices.len()];
    let mut depth = 0;
    let mut n_steps = 0_u64;
    while depth < choices.len() {
        n_steps += 1;
        if n_steps.is_multiple_of(1024) {
            limit.check()?;
        }
        chosen[depth] = choices[depth][positions[depth]];
        if is_good(depth + 1, &chosen) {
            depth += 1;
            continue;
        }
        // Back to the deepest list with another choice.
        loop {
            positions[depth] += 1;
            if positions[depth] < choices[depth].len() {
                break;
            }
            positions[depth] = 0;
            chosen[depth] = choices[depth][0];
            if depth == 0 {
                return Ok(None);
            }
            depth -= 1;
        }
    }
    Ok(Some(chosen))
}

/// An agent or a variable that chooses its next values independently of the others in a step.
struct Unit<'s> {
    agent: AgentId,
    variables: Vec<VarId>,
    lines: Vec<UnitLine<'s>>,
    /// The agents whose actions its lines read, in increasing order.
    reads: Vec<AgentId>,
}

struct UnitLine<'s> {
    /// Its index among the agent's lines.
    index: usize,
    condition: ExprId,
    assignments: &'s [(VarId, ExprId)],
    /// The actions that are conjuncts of its condition.
    demands: Vec<(AgentId, ActionId)>,
    /// Other conjuncts of its condition that read no action.
    on_state: Vec<ExprId>,
    /// Whether its assignments read no action.
    assigns_by_state: bool,
}

impl UnitLine<'_> {
    /// Returns false only if the line leads to `next` for no actions; checks what does not depend on
    /// actions.
    fn may_lead_to(&self, system: &System, unit: &Unit<'_>, state: &[i64], next: &[i64]) -> bool {
        let fits = |variable: &VarId| {
            let index = variable.index();
            match self.assignments.iter().find(|(target, _)| target == variable) {
                None => next[index] == state[index],
                Some(&assignment) => {
                    !self.assigns_by_state
                        || UnitLine::assigned(system, assignment, state, &[]) == Some(next[index])
                }
            }
        };
        self.on_state.iter().all(|&part| holds(system, part, state, &[])) && unit.variables.iter().all(fits)
    }

    /// Returns whether none of these actions, those of the first agents, contradicts the demanded actions.
    fn admits(&self, chosen: &[ActionId]) -> bool {
        self.demands.iter().all(|(agent, action)| chosen.get(agent.index()).is_none_or(|a| a == action))
    }

    /// Returns the value of an assignment; `None` if it overflows.
    fn assigned(
        system: &System,
        (target, expr): (VarId, ExprId),
        state: &[i64],
        joint: &[ActionId],
    ) -> Option<i64> {
        let assigned = value(system, expr, state, joint).and_then(Ratio::as_integer)?;
        system.variable(target).domain.contains(assigned).then_some(assigned)
    }
}

impl Unit<'_> {
    fn leads_to(&self, system: &System, state: &[i64], joint: &[ActionId], next: &[i64]) -> bool {
        let mut is_enabled = false;
        for line in &self.lines {
            if !holds(system, line.condition, state, joint) {
                continue;
            }
            is_enabled = true;
            let assigns_next = |variable: &VarId| {
                let index = variable.index();
                match line.assignments.iter().find(|(target, _)| target == variable) {
                    None => next[index] == state[index],
                    Some(&assignment) => {
                        UnitLine::assigned(system, assignment, state, joint) == Some(next[index])
                    }
                }
            };
            if self.variables.iter().all(assigns_next) {
                return true;
            }
        }
        !is_enabled && self.variables.iter().all(|v| next[v.index()] == state[v.index()])
    }

    /// Returns whether the unit has a next value: no line is enabled, or some enabled line does not
    /// overflow.
    fn has_next(&self, system: &System, state: &[i64], joint: &[ActionId]) -> bool {
        let mut is_enabled = false;
        for line in self.lines.iter().filter(|line| holds(system, line.condition, state, joint)) {
            is_enabled = true;
            if line.assignments.iter().all(|&a| UnitLine::assigned(system, a, state, joint).is_some()) {
                return true;
            }
        }
        !is_enabled
    }

    /// Returns the first assignment of an enabled line that overflows: the line's index and the variable.
    fn overflow(&self, system: &System, state: &[i64], joint: &[ActionId]) -> Option<(usize, VarId)> {
        self.lines.iter().filter(|line| holds(system, line.condition, state, joint)).find_map(|line| {
            let overflows = |a: &&(VarId, ExprId)| UnitLine::assigned(system, **a, state, joint).is_none();
            line.assignments.iter().find(overflows).map(|(variable, _)| (line.index, *variable))
        })
    }
}

/// Returns the units of a system, in the order of agents and variables.
fn units(system: &System) -> Vec<Unit<'_>> {
    let mut reader = Reader { system, reads_action: FxHashMap::default() };
    let mut units = Vec::new();
    for (agent, owner) in system.agent_ids().zip(&system.agents) {
        let lines = owner.evolution.iter().enumerate();
        match system.meaning.assignment {
            Assignment::Multi => units.push(Unit {
                agent,
                variables: owner.variables.clone(),
                lines: lines
                    .map(|(index, line)| reader.line(index, line.condition, &line.assignments))
                    .collect(),
                reads: Vec::new(),
            }),
            Assignment::Single => {
                let mut lines_of: BTreeMap<VarId, Vec<UnitLine<'_>>> =
                    owner.variables.iter().map(|&variable| (variable, Vec::new())).collect();
                for (index, line) in lines {
                    for assignment in &line.assignments {
                        let line = reader.line(index, line.condition, std::slice::from_ref(assignment));
                        lines_of.entry(assignment.0).or_default().push(line);
                    }
                }
                units.extend(lines_of.into_iter().map(|(variable, lines)| Unit {
                    agent,
                    variables: vec![variable],
                    lines,
                    reads: Vec::new(),
                }));
            }
        }
    }
    for unit in &mut units {
        unit.reads = agents_read(system, unit);
    }
    units
}

/// Maximum number of conjuncts of a condition that are examined: many lines may share a long condition.
const MAX_CONJUNCTS: usize = 256;

/// Examines conditions.
struct Reader<'s> {
    system: &'s System,
    /// For the expressions examined so far, whether they read an action.
    reads_action: FxHashMap<ExprId, bool>,
}

impl<'s> Reader<'s> {
    fn line(&mut self, index: usize, condition: ExprId, assignments: &'s [(VarId, ExprId)]) -> UnitLine<'s> {
        let (mut demands, mut on_state) = (Vec::new(), Vec::new());
        let mut open = vec![condition];
        let mut n_examined = 0;
        while n_examined < MAX_CONJUNCTS
            && let Some(conjunct) = open.pop()
        {
            n_examined += 1;
            match self.system.exprs.get(conjunct) {
                Expr::And(list) => open.extend(list),
                Expr::ActionIs(agent, action) => demands.push((agent, action)),
                _ if !self.reads_action(conjunct) => on_state.push(conjunct),
                _ => {}
            }
        }
        let assigns_by_state = !assignments.iter().any(|(_, value)| self.reads_action(*value));
        UnitLine { index, condition, assignments, demands, on_state, assigns_by_state }
    }

    fn reads_action(&mut self, root: ExprId) -> bool {
        let mut open = vec![(root, false)];
        while let Some((expr, are_operands_known)) = open.pop() {
            if self.reads_action.contains_key(&expr) {
                continue;
            }
            if !are_operands_known {
                open.push((expr, true));
                self.system.exprs.each_operand(expr, |operand| open.push((operand, false)));
                continue;
            }
            let mut reads = matches!(self.system.exprs.get(expr), Expr::ActionIs(..));
            self.system.exprs.each_operand(expr, |operand| reads |= self.reads_action[&operand]);
            self.reads_action.insert(expr, reads);
        }
        self.reads_action[&root]
    }
}

/// Returns the agents whose actions a unit's lines read, in increasing order.
fn agents_read(system: &System, unit: &Unit<'_>) -> Vec<AgentId> {
    let mut stack: Vec<ExprId> = Vec::new();
    for line in &unit.lines {
        stack.push(line.condition);
        stack.extend(line.assignments.iter().map(|(_, expr)| *expr));
    }
    let mut seen = FxHashSet::default();
    let mut reads = std::collections::BTreeSet::new();
    while let Some(expr) = stack.pop() {
        if !seen.insert(expr) {
            continue;
        }
        if let Expr::ActionIs(agent, _) = system.exprs.get(expr) {
            reads.insert(agent);
        }
        system.exprs.each_operand(expr, |operand| stack.push(operand));
    }
    reads.into_iter().collect()
}
