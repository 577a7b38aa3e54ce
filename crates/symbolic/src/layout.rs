//! Assigns bits to the variables, in the current and in the next state, and to the actions.

use masque_model::{ActionId, AgentId, Expr, ExprId, Protocol, System, VarId};
use rustc_hash::FxHashSet;

use crate::space::Bit;
use crate::tableau::max_promises;

/// An item in the order: a variable with its bits, or an agent's choice of action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Item {
    /// A variable, current and next bits side by side.
    Variable(VarId),
    /// An agent's action in a step.
    Action(AgentId),
}

impl Item {
    fn variable(&self) -> Option<VarId> {
        match self {
            Item::Variable(v) => Some(*v),
            Item::Action(_) => None,
        }
    }
}

/// The bits of a variable, most significant first.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableBits {
    pub(crate) current: Vec<Bit>,
    /// Empty for a frozen variable, which no line assigns: its next value is its current value.
    pub(crate) next: Vec<Bit>,
}

/// The bits of all variables, actions and promises.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) variables: Vec<VariableBits>,
    /// The bits of each agent's action; empty if no condition reads it or there is no choice.
    pub(crate) actions: Vec<Vec<Bit>>,
    /// Two bits, `now` and `then`, for each promise of a path formula; at the top of the order.
    pub(crate) promises: Vec<(Bit, Bit)>,
    pub(crate) n_bits: u32,
    frozen: Vec<bool>,
    /// The variables, those whose bits are interleaved together.
    interleaved: Vec<Vec<VarId>>,
}

impl Layout {
    /// Assigns bits to the items from the top of the order down.
    pub(crate) fn new(system: &System, order: &[Item]) -> Layout {
        let frozen = frozen(system);
        let mut layout = Layout {
            variables: vec![VariableBits::default(); system.variables.len()],
            actions: vec![Vec::new(); system.agents.len()],
            promises: Vec::new(),
            n_bits: 0,
            frozen,
            interleaved: Vec::new(),
        };
        for _ in 0..max_promises(system) {
            let promise = (layout.fresh(), layout.fresh());
            layout.promises.push(promise);
        }
        for group in interleaved(system, order) {
            layout.place(system, group);
            layout.interleaved.push(group.iter().filter_map(Item::variable).collect());
        }
        layout
    }

    /// Assigns bits to a group of items with equally many bits: the first bits of all, then the second
    /// ones, and so on.
    fn place(&mut self, system: &System, group: &[Item]) {
        for _ in 0..n_bits(system, group[0]) {
            for &item in group {
                match item {
                    Item::Variable(v) => {
                        let current = self.fresh();
                        self.variables[v.index()].current.push(current);
                        if !self.frozen[v.index()] {
                            let next = self.fresh();
                            self.variables[v.index()].next.push(next);
                        }
                    }
                    Item::Action(agent) => {
                        let bit = self.fresh();
                        self.actions[agent.index()].push(bit);
                    }
                }
            }
        }
    }

    fn fresh(&mut self) -> Bit {
        self.n_bits += 1;
        self.n_bits - 1
    }

    /// Returns the bits of the current state.
    pub(crate) fn current_bits(&self) -> impl Iterator<Item = Bit> + '_ {
        self.variables.iter().flat_map(|v| v.current.iter().copied())
    }

    /// Returns the blocks of bits that stay together when the order changes: those of a variable or of
    /// interleaved variables, an action, or a promise.
    pub(crate) fn blocks(&self) -> Vec<Vec<Bit>> {
        let bits = |v: &VarId| {
            [&self.variables[v.index()].current[..], &self.variables[v.index()].next[..]].concat()
        };
        let variables = self.interleaved.iter().map(|group| group.iter().flat_map(bits).collect());
        let promises = self.promises.iter().map(|&(now, then)| vec![now, then]);
        let others = self.actions.iter().cloned().chain(promises);
        variables.chain(others).filter(|bits| !bits.is_empty()).collect()
    }

    pub(crate) fn n_current(&self) -> u32 {
        self.variables.iter().map(|v| v.current.len() as u32).sum()
    }

    pub(crate) fn is_frozen(&self, v: VarId) -> bool {
        self.frozen[v.index()]
    }
}

/// Groups neighbours in the order whose bits are interleaved: variables of which one is copied to the next.
///
/// A step relates each bit of the one to the same bit of the other. With all bits of one variable above
/// those of the other, the relation would have a node for each value at the levels between.
fn interleaved<'o>(system: &System, order: &'o [Item]) -> impl Iterator<Item = &'o [Item]> {
    let copies = copies(system);
    order.chunk_by(move |a, b| match (a, b) {
        (Item::Variable(v), Item::Variable(w)) => copies.contains(&(*v, *w)) || copies.contains(&(*w, *v)),
        _ => false,
    })
}

/// Returns the pairs of variables with equally many bits, at least two, of which some line assigns the
/// second to the first.
fn copies(system: &System) -> FxHashSet<(VarId, VarId)> {
    let n_bits = |v| system.variable(v).domain.bits();
    let lines = system.agents.iter().flat_map(|agent| &agent.evolution);
    let copied = lines.flat_map(|line| &line.assignments).filter_map(|&(v, value)| {
        let Expr::Variable(w) = system.exprs.get(value) else { return None };
        (w != v && n_bits(v) > 1 && n_bits(v) == n_bits(w)).then_some((v, w))
    });
    copied.collect()
}

/// Returns the number of bits of an item.
fn n_bits(system: &System, item: Item) -> u32 {
    match item {
        Item::Variable(v) => system.variable(v).domain.bits(),
        Item::Action(agent) => {
            let n_actions = system.agent(agent).actions.len() as u64;
            64 - (n_actions - 1).leading_zeros()
        }
    }
}

/// Returns for each variable whether no evolution line assigns it.
pub(crate) fn frozen(system: &System) -> Vec<bool> {
    let mut frozen = vec![true; system.variables.len()];
    for agent in &system.agents {
        for line in &agent.evolution {
            for (v, _) in &line.assignments {
                frozen[v.index()] = false;
            }
        }
    }
    frozen
}

/// Returns for each agent the actions that some condition tests.
pub(crate) fn actions_read(system: &System) -> Vec<Vec<ActionId>> {
    let mut read = vec![Vec::new(); system.agents.len()];
    for id in system.exprs.ids() {
        if let Expr::ActionIs(agent, action) = system.exprs.get(id) {
            read[agent.index()].push(action);
        }
    }
    read
}

/// Returns whether an agent's protocol may leave it a choice: it has more than one action in some line,
/// or more than one line. Whether there is a state with a choice shows only when it is encoded.
pub(crate) fn may_choose(system: &System, agent: AgentId) -> bool {
    let agent = system.agent(agent);
    match &agent.protocol {
        _ if agent.actions.len() == 1 => false,
        Protocol::Unconstrained => true,
        Protocol::Lines { lines, other } => {
            lines.len() > 1
                || lines.iter().any(|line| line.actions.len() > 1)
                || other.as_ref().is_some_and(|other| other.len() > 1)
        }
    }
}

/// Returns the variables and agents' actions that expressions read; `None` if there are more than
/// `limit`.
pub(crate) fn support(system: &System, roots: &[ExprId], limit: usize) -> Option<Vec<Item>> {
    let mut items = Vec::new();
    let mut seen: FxHashSet<ExprId> = roots.iter().copied().collect();
    let mut open = roots.to_vec();
    while let Some(id) = open.pop() {
        match system.exprs.get(id) {
            Expr::Variable(v) => items.push(Item::Variable(v)),
            Expr::ActionIs(agent, _) => items.push(Item::Action(agent)),
            _ => system.exprs.each_operand(id, |a| {
                if seen.insert(a) {
                    open.push(a);
                }
            }),
        }
        if seen.len() > 16 * limit + 64 {
            return None;
        }
    }
    items.sort_unstable();
    items.dedup();
    (items.len() <= limit).then_some(items)
}
