//! Encodes conditions as sets of states (and joint actions), and checks the size of the diagrams.
//!
//! The [`Encoder`] keeps the set of every condition that it has encoded. While diagrams are built,
//! [`check_node_limit`](Encoder::check_node_limit) compares their size with what a good variable order
//! would need, and follows the [`GrowthPolicy`] where they are larger.

use std::cell::Cell;

use masque_model::{ActionId, AgentId, Domain, Expr, ExprId, Protocol, Relation, System, VarId};
use masque_verdict::Why;
use rustc_hash::FxHashMap;

use crate::cubes::{self, Cube};
use crate::layout::Layout;
use crate::parts::Part;
use crate::shared_lists::SharedLists;
use crate::space::{Bit, Limited, Set, Space};

/// Nodes per level of the order above which a [`GrowthPolicy`] applies.
const NODES_PER_LEVEL: usize = 800;
/// Minimum node limit: below it, another order is not worth the effort, however few levels there are.
const MIN_NODE_LIMIT: usize = 20_000;
/// [`GrowthPolicy::SiftLate`] sifts only when the diagrams exceed this many times the usual limit.
const LATE_SIFT_FACTOR: usize = 16;
/// Node moves that one sifting may always make: a few seconds.
const MIN_SIFT_MOVES: u64 = 20_000_000;
/// Steps taken so far that allow one more node move: sifting takes at most half the time spent so far.
const STEPS_PER_SIFT_MOVE: u64 = 4;
/// Maximum number of siftings.
const MAX_SIFTS: u32 = 2;

/// The reaction to diagrams that grow larger than a good order would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrowthPolicy {
    /// Continues.
    Ignore,
    /// Stops as soon as the diagrams exceed the node limit, or exploration takes this many steps beyond
    /// those that encoding took.
    Abandon(u64),
    /// Improves the order by sifting.
    Sift,
    /// Improves the order, but only far above the node limit: the user or a trial has chosen it.
    SiftLate,
    /// Improves the order at every check, however small the diagrams are: for tests.
    SiftAlways,
}

/// Nodes above which diagrams are larger than a good order would need.
pub(crate) fn node_limit(n_bits: u32) -> usize {
    (n_bits as usize * NODES_PER_LEVEL).max(MIN_NODE_LIMIT)
}

/// An agent's actions as sets.
#[derive(Clone)]
pub(crate) struct Choice {
    /// For each action, the states in which the protocol enables it.
    pub(crate) enabled: Vec<Set>,
    /// Whether no state enables two actions. The state then determines the action, and no action
    /// variable is needed.
    pub(crate) is_determined: bool,
}

/// The encoding of one system's expressions.
pub(crate) struct Encoder<'s> {
    pub(crate) system: &'s System,
    pub(crate) space: Space,
    pub(crate) layout: Layout,
    /// For each condition its set, once it has been encoded.
    memo: Vec<Option<Set>>,
    /// The sets in which one number is less than another.
    pub(crate) less: FxHashMap<(ExprId, ExprId), Set>,
    pub(crate) choices: Vec<Option<Choice>>,
    /// The parts of the relation, kept if a formula needs the actions of steps.
    pub(crate) parts: Option<Vec<Part>>,
    /// What conjunctions and disjunctions have in common, once a long one is encoded.
    pub(crate) shared_lists: Option<Box<SharedLists>>,
    policy: GrowthPolicy,
    /// Siftings that are still allowed.
    sifts_left: Cell<u32>,
}

impl<'s> Encoder<'s> {
    pub(crate) fn new(system: &'s System, layout: Layout, space: Space, policy: GrowthPolicy) -> Self {
        Encoder {
            system,
            space,
            layout,
            memo: vec![None; system.exprs.len()],
            less: FxHashMap::default(),
            choices: vec![None; system.agents.len()],
            parts: None,
            shared_lists: None,
            policy,
            sifts_left: Cell::new(MAX_SIFTS),
        }
    }

    /// Compares the number of nodes of what is being built with the node limit, and follows the policy
    /// if it is larger.
    pub(crate) fn check_node_limit(&self, size: usize) -> Limited<()> {
        let limit = node_limit(self.layout.n_bits);
        match self.policy {
            GrowthPolicy::Ignore => {}
            GrowthPolicy::Abandon(_) if size > limit => return Err(Why::Memory.into()),
            GrowthPolicy::Sift if size > limit => self.sift(),
            GrowthPolicy::SiftLate if size > limit * LATE_SIFT_FACTOR => self.sift(),
            GrowthPolicy::SiftAlways => self.sift(),
            GrowthPolicy::Abandon(_) | GrowthPolicy::Sift | GrowthPolicy::SiftLate => {}
        }
        Ok(())
    }

    /// Improves a declared order when the relation could not be merged into one cluster, before the
    /// order leads to large sets. Returns whether it did.
    pub(crate) fn sift_split_relation(&self) -> bool {
        let sifts = self.policy == GrowthPolicy::Sift;
        if sifts {
            self.sift();
        }
        sifts
    }

    /// Removes the limits on steps and nodes that serve to abandon an order: from now on no other order
    /// would be tried.
    pub(crate) fn lift_limits(&mut self) {
        self.space.lift_step_limit();
        if matches!(self.policy, GrowthPolicy::Abandon(_)) {
            self.policy = GrowthPolicy::Ignore;
        }
    }

    /// Limits the steps of exploration, once the model is encoded, if the policy says so: as many steps
    /// as encoding took, and those of the policy. Some models take many steps to encode in any order.
    pub(crate) fn limit_exploration(&self) {
        if let GrowthPolicy::Abandon(max_steps) = self.policy {
            self.space.limit_steps(self.space.steps().saturating_add(max_steps));
        }
    }

    /// Returns the number of conditions encoded so far.
    pub(crate) fn n_encoded(&self) -> usize {
        self.memo.iter().filter(|set| set.is_some()).count()
    }

    fn sift(&self) {
        let left = self.sifts_left.get();
        if left == 0 {
            return;
        }
        let max_moves = self.space.steps() / STEPS_PER_SIFT_MOVE + MIN_SIFT_MOVES;
        let (before, after) = self.space.sift(&self.layout.blocks(), max_moves);
        // If sifting saved less than a tenth of the nodes, sifting again would not help either.
        self.sifts_left.set(if after * 10 < before * 9 { left - 1 } else { 0 });
    }

    /// Returns the set in which a condition is true.
    pub(crate) fn condition(&mut self, id: ExprId) -> Limited<Set> {
        if let Some(known) = &self.memo[id.index()] {
            return Ok(known.clone());
        }
        let set = match self.system.exprs.get(id) {
            Expr::Bool(value) => self.space.constant(value),
            Expr::Variable(v) => self.space.bit(self.layout.variables[v.index()].current[0], true)?,
            Expr::ActionIs(agent, action) => self.action_is(agent, action)?,
            Expr::Not(a) => {
                let a = self.condition(a)?;
                self.space.not(&a)?
            }
            Expr::And(list) => {
                let sets = list.iter().map(|&a| self.condition(a)).collect::<Limited<Vec<_>>>()?;
                match self.set_of_shared(id, true)? {
                    Some(set) => set,
                    None => self.balanced(sets, true)?,
                }
            }
            Expr::Or(list) => self.disjunction(list, Some(id))?,
            Expr::Xor(list) => {
                let mut result = self.space.none();
                for &a in list {
                    let a = self.condition(a)?;
                    result = self.space.xor(&result, &a)?;
                }
                result
            }
            Expr::Compare(relation, a, b) => self.comparison(relation, a, b)?,
            // The type checker has excluded numbers.
            _ => self.space.none(),
        };
        self.memo[id.index()] = Some(set.clone());
        Ok(set)
    }

    /// Computes a conjunction or disjunction pairwise, as a balanced tree: no intermediate result goes
    /// through a long chain of operations.
    pub(crate) fn balanced(&self, mut sets: Vec<Set>, is_and: bool) -> Limited<Set> {
        if sets.is_empty() {
            return Ok(self.space.constant(is_and));
        }
        while sets.len() > 1 {
            let mut halves = Vec::with_capacity(sets.len().div_ceil(2));
            for pair in sets.chunks(2) {
                halves.push(match pair {
                    [a, b] if is_and => self.space.and(a, b)?,
                    [a, b] => self.space.or(a, b)?,
                    _ => pair[0].clone(),
                });
            }
            sets = halves;
        }
        Ok(sets.swap_remove(0))
    }

    /// Encodes a disjunction. `S = 0 or S = 2 or ..` is encoded as membership of `S` in one set, and
    /// conditions that compare the same variables with constants are united in one pass. If the list is
    /// that of an expression, its sets may be shared with other expressions.
    fn disjunction(&mut self, list: &[ExprId], whole: Option<ExprId>) -> Limited<Set> {
        let mut targets: FxHashMap<ExprId, Vec<i128>> = FxHashMap::default();
        let mut tables: FxHashMap<Vec<u32>, Vec<(ExprId, Cube)>> = FxHashMap::default();
        let mut sets = Vec::new();
        for &id in list {
            if let Some((sum, value)) = self.sum_is(id) {
                targets.entry(sum).or_default().push(value);
            } else if self.memo[id.index()].is_some() {
                sets.push(self.condition(id)?);
            } else {
                match self.literals_of(id)? {
                    None => {}
                    Some((cube, rest)) if rest.is_empty() => {
                        let levels = cube.iter().map(|literal| literal / 2).collect();
                        tables.entry(levels).or_default().push((id, cube));
                    }
                    Some(_) => sets.push(self.condition(id)?),
                }
            }
        }
        if let Some(id) = whole
            && targets.is_empty()
            && tables.is_empty()
            && let Some(set) = self.set_of_shared(id, false)?
        {
            return Ok(set);
        }
        for (sum, values) in targets {
            sets.push(self.is_one_of(sum, values)?);
        }
        for table in tables.into_values() {
            if table.len() >= cubes::MIN_CUBES {
                let all = table.into_iter().map(|(_, cube)| cube).collect();
                sets.push(cubes::union(self, all)?);
            } else {
                for (id, _) in table {
                    sets.push(self.condition(id)?);
                }
            }
        }
        self.balanced(sets, false)
    }

    /// Returns the sum and the value if a condition says that a sum equals a constant.
    fn sum_is(&self, id: ExprId) -> Option<(ExprId, i128)> {
        let Expr::Compare(Relation::Equal, sum, value) = self.system.exprs.get(id) else { return None };
        match (self.system.exprs.get(sum), self.system.exprs.get(value)) {
            (Expr::Sum(_), Expr::Number(value)) => Some((sum, value.into())),
            _ => None,
        }
    }

    /// Returns the set in which a variable has a value; empty if the value is outside its domain.
    pub(crate) fn has_value(&self, v: VarId, bits: &[Bit], value: i64) -> Limited<Set> {
        match self.system.variable(v).domain.code(value) {
            Some(code) => self.space.has_code(bits, code),
            None => Ok(self.space.none()),
        }
    }

    /// Returns the set in which two vectors of bits are equal.
    pub(crate) fn equal_bits(&self, a: &[Bit], b: &[Bit]) -> Limited<Set> {
        let mut set = self.space.all();
        for (&a, &b) in a.iter().zip(b).rev() {
            let equal = self.space.iff(&self.space.bit(a, true)?, &self.space.bit(b, true)?)?;
            set = self.space.and(&equal, &set)?;
        }
        Ok(set)
    }

    /// Returns the set in which the bits hold a code of the domain: if the domain's size is not a power
    /// of two, some codes are unused.
    pub(crate) fn valid_code(&self, v: VarId, bits: &[Bit]) -> Limited<Set> {
        self.space.has_code_below(bits, self.system.variable(v).domain.size())
    }

    fn comparison(&mut self, relation: Relation, a: ExprId, b: ExprId) -> Limited<Set> {
        let (left, right) = (self.system.exprs.get(a), self.system.exprs.get(b));
        let equality = match relation {
            Relation::Equal => Some(true),
            Relation::Unequal => Some(false),
            _ => None,
        };
        let Some(is_equal) = equality else { return self.compare_numbers(relation, a, b) };
        let equal = match (left, right) {
            (Expr::Variable(v), Expr::Number(n)) | (Expr::Number(n), Expr::Variable(v)) => {
                self.has_value(v, &self.layout.variables[v.index()].current, n)?
            }
            (Expr::Variable(v), Expr::Symbol(s)) | (Expr::Symbol(s), Expr::Variable(v)) => {
                self.has_value(v, &self.layout.variables[v.index()].current, s.0.into())?
            }
            (Expr::Variable(v), Expr::Variable(w)) => {
                let bits = self.layout.variables[w.index()].current.clone();
                self.variable_is(v, &self.layout.variables[v.index()].current.clone(), w, &bits)?
            }
            _ if self.system.is_boolean(a) => {
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                self.space.iff(&a, &b)?
            }
            _ => return self.compare_numbers(relation, a, b),
        };
        if is_equal { Ok(equal) } else { self.space.not(&equal) }
    }

    /// Returns the set in which two variables, read from the given bits, are equal.
    pub(crate) fn variable_is(&self, v: VarId, v_bits: &[Bit], w: VarId, w_bits: &[Bit]) -> Limited<Set> {
        let (a, b) = (&self.system.variable(v).domain, &self.system.variable(w).domain);
        let is_same_code = match (a, b) {
            (Domain::Boolean, Domain::Boolean) => true,
            (Domain::Integers(lo, _), Domain::Integers(other, _)) => {
                lo == other && v_bits.len() == w_bits.len()
            }
            (Domain::Values(x), Domain::Values(y)) => x == y,
            _ => false,
        };
        if is_same_code {
            return self.equal_bits(v_bits, w_bits);
        }
        let mut sets = Vec::new();
        let (small, large) = if a.size() <= b.size() { (a, b) } else { (b, a) };
        let (small_bits, large_bits) = if a.size() <= b.size() { (v_bits, w_bits) } else { (w_bits, v_bits) };
        for code in 0..small.size() as u64 {
            if let Some(other) = large.code(small.value(code)) {
                sets.push(self.space.and(
                    &self.space.has_code(small_bits, code)?,
                    &self.space.has_code(large_bits, other)?,
                )?);
            }
        }
        self.balanced(sets, false)
    }
}

/// Actions.
impl Encoder<'_> {
    /// Returns the set in which an agent performs an action: the states in which it is enabled if the
    /// protocol leaves no choice, otherwise the valuations of the action variable.
    fn action_is(&mut self, agent: AgentId, action: ActionId) -> Limited<Set> {
        if self.is_determined(agent)? {
            let choice = self.choices[agent.index()].as_ref();
            return Ok(choice.map_or_else(|| self.space.none(), |c| c.enabled[action.index()].clone()));
        }
        self.space.has_code(&self.layout.actions[agent.index()], action.0.into())
    }

    /// Returns whether the state determines an agent's action.
    pub(crate) fn is_determined(&mut self, agent: AgentId) -> Limited<bool> {
        match &self.choices[agent.index()] {
            Some(choice) => Ok(choice.is_determined),
            None => Ok(self.choice(agent)?.is_determined),
        }
    }

    /// Returns an agent's actions, encoded from its protocol.
    pub(crate) fn choice(&mut self, agent: AgentId) -> Limited<Choice> {
        if let Some(choice) = &self.choices[agent.index()] {
            return Ok(choice.clone());
        }
        let n_actions = self.system.agent(agent).actions.len();
        let mut enabled = vec![self.space.none(); n_actions];
        match &self.system.agent(agent).protocol {
            Protocol::Unconstrained => enabled.fill(self.space.all()),
            Protocol::Lines { lines, other } => {
                let mut by_action: Vec<Vec<ExprId>> = vec![Vec::new(); n_actions];
                for line in lines {
                    line.actions.iter().for_each(|action| by_action[action.index()].push(line.condition));
                }
                for (set, conditions) in enabled.iter_mut().zip(by_action) {
                    *set = self.disjunction(&conditions, None)?;
                }
                if let Some(other) = other {
                    let conditions: Vec<ExprId> = lines.iter().map(|line| line.condition).collect();
                    let anywhere = self.disjunction(&conditions, None)?;
                    let rest = self.space.not(&anywhere)?;
                    for action in other {
                        let set = &mut enabled[action.index()];
                        *set = self.space.or(set, &rest)?;
                    }
                }
            }
        }
        let is_determined = self.are_disjoint(&enabled)?;
        let choice = Choice { enabled, is_determined };
        self.choices[agent.index()] = Some(choice.clone());
        Ok(choice)
    }

    fn are_disjoint(&self, sets: &[Set]) -> Limited<bool> {
        let mut union = self.space.none();
        for set in sets {
            if self.space.intersects(&union, set)? {
                return Ok(false);
            }
            union = self.space.or(&union, set)?;
        }
        Ok(true)
    }
}
