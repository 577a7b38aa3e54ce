//! Conditions as sets of states (and joint actions).

use std::cell::Cell;

use masque_model::{ActionId, AgentId, Domain, Expr, ExprId, Protocol, Relation, System, VarId};
use masque_verdict::Why;
use rustc_hash::FxHashMap;

use crate::cubes::{self, Cube};
use crate::layout::Layout;
use crate::parts::Part;
use crate::space::{Bit, Limited, Set, Space};

/// Diagrams of more nodes than this for each level of the order mean trouble.
const NODES_PER_LEVEL: usize = 800;
/// Whatever the levels, this many nodes are not worth the effort.
const SMALL: usize = 20_000;
/// Great trouble is so much more.
const LATE: usize = 16;
/// Sifting may move this many nodes, and one more for so many steps taken before: a few seconds, or
/// half the time spent so far.
const LEAST_EFFORT: u64 = 20_000_000;
const STEPS_PER_MOVE: u64 = 4;
/// How often the order is improved at most.
const SIFTS: u32 = 2;

/// What to do when diagrams grow larger than a good order would need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnTrouble {
    /// Nothing.
    GoOn,
    /// Stop, as soon as the diagrams are too large or so many steps have been taken after encoding.
    GiveUp(u64),
    /// Improve the order.
    Sift,
    /// Improve the order, but only when the trouble is great: it has been chosen with care.
    SiftLate,
    /// Improve the order even if there is no trouble.
    SiftAnyway,
}

/// The nodes that mean trouble.
pub(crate) fn trouble(n_bits: u32) -> usize {
    (n_bits as usize * NODES_PER_LEVEL).max(SMALL)
}

/// An agent's actions as sets.
#[derive(Clone)]
pub(crate) struct Choice {
    /// For each action, where the protocol enables it.
    pub(crate) enabled: Vec<Set>,
    /// No state enables two: the state tells the action, and no action variable is needed.
    pub(crate) is_determined: bool,
}

/// The encoding of one system's expressions.
pub(crate) struct Encoder<'s> {
    pub(crate) system: &'s System,
    pub(crate) space: Space,
    pub(crate) layout: Layout,
    memo: Vec<Option<Set>>,
    /// Where one number is less than another.
    pub(crate) less: FxHashMap<(ExprId, ExprId), Set>,
    pub(crate) choices: Vec<Option<Choice>>,
    /// What the relation is made of, where it is asked for again.
    pub(crate) parts: Option<Vec<Part>>,
    on_trouble: OnTrouble,
    /// How often the order may still be improved.
    sifts_left: Cell<u32>,
}

impl<'s> Encoder<'s> {
    pub(crate) fn new(system: &'s System, layout: Layout, space: Space, on_trouble: OnTrouble) -> Self {
        Encoder {
            system,
            space,
            layout,
            memo: vec![None; system.exprs.len()],
            less: FxHashMap::default(),
            choices: vec![None; system.agents.len()],
            parts: None,
            on_trouble,
            sifts_left: Cell::new(SIFTS),
        }
    }

    /// Looks at the size of what is being built, and does something about it if it is more than a
    /// good order would need.
    pub(crate) fn mind_size(&self, size: usize) -> Limited<()> {
        let large = trouble(self.layout.n_bits);
        match self.on_trouble {
            OnTrouble::GoOn => {}
            OnTrouble::GiveUp(_) if size > large => return Err(Why::Memory.into()),
            OnTrouble::Sift if size > large => self.sift(),
            OnTrouble::SiftLate if size > large * LATE => self.sift(),
            OnTrouble::SiftAnyway => self.sift(),
            OnTrouble::GiveUp(_) | OnTrouble::Sift | OnTrouble::SiftLate => {}
        }
        Ok(())
    }

    /// The relation does not go together. A declared order may be to blame, and is improved before it
    /// makes large sets. Says whether it was.
    pub(crate) fn mind_clusters(&self) -> bool {
        let is_to_blame = self.on_trouble == OnTrouble::Sift;
        if is_to_blame {
            self.sift();
        }
        is_to_blame
    }

    /// From now on nobody would try another order, so nothing is given up for the sake of one.
    pub(crate) fn take_your_time(&mut self) {
        self.space.take_your_time();
        if matches!(self.on_trouble, OnTrouble::GiveUp(_)) {
            self.on_trouble = OnTrouble::GoOn;
        }
    }

    /// The model is encoded: where steps are counted, as many again and the allowance are left. Some
    /// models take many steps to be encoded, whatever the order.
    pub(crate) fn is_encoded(&self) {
        if let OnTrouble::GiveUp(most_steps) = self.on_trouble {
            self.space.limit(self.space.steps().saturating_add(most_steps));
        }
    }

    /// How many conditions are encoded.
    pub(crate) fn n_encoded(&self) -> usize {
        self.memo.iter().filter(|set| set.is_some()).count()
    }

    fn sift(&self) {
        let left = self.sifts_left.get();
        if left == 0 {
            return;
        }
        let effort = self.space.steps() / STEPS_PER_MOVE + LEAST_EFFORT;
        let (before, after) = self.space.sift(&self.layout.blocks(), effort);
        // What sifting could not mend, it will not mend the next time.
        self.sifts_left.set(if after * 10 < before * 9 { left - 1 } else { 0 });
    }

    /// Where a condition is true.
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
                self.balanced(sets, true)?
            }
            Expr::Or(list) => self.disjunction(list)?,
            Expr::Xor(list) => {
                let mut result = self.space.none();
                for &a in list {
                    let a = self.condition(a)?;
                    result = self.space.xor(&result, &a)?;
                }
                result
            }
            Expr::Compare(relation, a, b) => self.comparison(relation, a, b)?,
            // Numbers are no conditions: the checker has seen to it.
            _ => self.space.none(),
        };
        self.memo[id.index()] = Some(set.clone());
        Ok(set)
    }

    /// Conjunction or disjunction by halves, so that no operand is carried through a long chain.
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

    /// A disjunction, in which `S = 0 or S = 2 or ..` is one question about S, and conditions that
    /// compare the same variables with constants are united at once.
    pub(crate) fn disjunction(&mut self, list: &[ExprId]) -> Limited<Set> {
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
        for (sum, values) in targets {
            sets.push(self.is_one_of(sum, values)?);
        }
        for table in tables.into_values() {
            if table.len() >= cubes::FEWEST_CUBES {
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

    /// The sum and the value, if a condition says that a sum has a value.
    fn sum_is(&self, id: ExprId) -> Option<(ExprId, i128)> {
        let Expr::Compare(Relation::Equal, sum, value) = self.system.exprs.get(id) else { return None };
        match (self.system.exprs.get(sum), self.system.exprs.get(value)) {
            (Expr::Sum(_), Expr::Number(value)) => Some((sum, value.into())),
            _ => None,
        }
    }

    /// Where a variable has a value; nowhere if its domain does not contain it.
    pub(crate) fn has_value(&self, v: VarId, bits: &[Bit], value: i64) -> Limited<Set> {
        match self.system.variable(v).domain.code(value) {
            Some(code) => self.space.has_code(bits, code),
            None => Ok(self.space.none()),
        }
    }

    /// Where two vectors of bits are equal.
    pub(crate) fn equal_bits(&self, a: &[Bit], b: &[Bit]) -> Limited<Set> {
        let mut set = self.space.all();
        for (&a, &b) in a.iter().zip(b).rev() {
            let equal = self.space.iff(&self.space.bit(a, true)?, &self.space.bit(b, true)?)?;
            set = self.space.and(&equal, &set)?;
        }
        Ok(set)
    }

    /// Where the bits hold a code of the domain: the spare codes of a domain whose size is no power
    /// of two stand for nothing.
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

    /// Where two variables are equal, each read from bits of its own.
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
    /// Where an agent performs an action: where its protocol says so, if that leaves no choice.
    fn action_is(&mut self, agent: AgentId, action: ActionId) -> Limited<Set> {
        if self.is_determined(agent)? {
            let choice = self.choices[agent.index()].as_ref();
            return Ok(choice.map_or_else(|| self.space.none(), |c| c.enabled[action.index()].clone()));
        }
        self.space.has_code(&self.layout.actions[agent.index()], action.0.into())
    }

    /// Whether the state determines an agent's action.
    pub(crate) fn is_determined(&mut self, agent: AgentId) -> Limited<bool> {
        match &self.choices[agent.index()] {
            Some(choice) => Ok(choice.is_determined),
            None => Ok(self.choice(agent)?.is_determined),
        }
    }

    /// An agent's actions, from its protocol.
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
                    *set = self.disjunction(&conditions)?;
                }
                if let Some(other) = other {
                    let conditions: Vec<ExprId> = lines.iter().map(|line| line.condition).collect();
                    let anywhere = self.disjunction(&conditions)?;
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
