//! Formulas as they are solved: in positive form, as equations.
//!
//! Negation stands at atoms only, regular modalities and abbreviations are gone, and each fixpoint
//! is an equation `X = body`, least or greatest. Where a variable stood, the node refers to its
//! equation's body: formulas are graphs, not trees, and every walk over one is a loop.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::levels::{Level, levels, priorities};
use crate::tree::{Modality, Sign};
use crate::{AtomId, PatternId};

/// A node of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

/// An equation of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EquationId(pub(crate) u32);

/// A set of labels that a formula speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(pub(crate) u32);

impl NodeId {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// `tt` or `ff`.
    Constant(bool),
    /// An atom, which must have this truth value.
    Atom(AtomId, bool),
    /// All of these.
    And(Vec<NodeId>),
    /// One of these.
    Or(Vec<NodeId>),
    /// After one step (`<A>`), or after all steps (`[A]`), with a label in the set.
    Modal(Modality, ActionId, NodeId),
    /// The variable of an equation whose body is a variable itself; all others are replaced by their
    /// bodies.
    Variable(EquationId),
}

/// A set of labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// All labels.
    Any,
    /// Those that match a pattern of the language.
    Is(PatternId),
    /// Those not in a set.
    Not(ActionId),
    /// The union of sets.
    Either(Vec<ActionId>),
}

/// `name = body`, least or greatest.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The variable's name, for people.
    pub name: String,
    /// Least or greatest.
    pub sign: Sign,
    /// What the variable is equal to.
    pub body: NodeId,
    /// Even for `nu`, odd for `mu`; on an infinite play the largest that recurs decides.
    pub priority: u32,
}

/// A closed formula in positive form.
#[derive(Clone, Debug)]
pub struct Formula {
    nodes: Vec<Node>,
    actions: Vec<Action>,
    equations: Vec<Equation>,
    root: NodeId,
    priority_of: Vec<u32>,
    level_of: Vec<u32>,
    levels: Vec<Level>,
}

impl Formula {
    /// The whole formula.
    pub fn root(&self) -> NodeId {
        self.root
    }

    /// What a node says.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// An equation.
    pub fn equation(&self, id: EquationId) -> &Equation {
        &self.equations[id.0 as usize]
    }

    /// All equations, outer ones first.
    pub fn equations(&self) -> &[Equation] {
        &self.equations
    }

    /// A set of labels.
    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id.0 as usize]
    }

    /// All sets of labels, operands first.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The atoms that occur, in order.
    pub fn atoms(&self) -> Vec<AtomId> {
        let atoms = self.nodes.iter().filter_map(|node| match node {
            Node::Atom(atom, _) => Some(*atom),
            _ => None,
        });
        let mut atoms: Vec<AtomId> = atoms.collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// The primitive patterns that occur, in order.
    pub fn patterns(&self) -> Vec<PatternId> {
        let patterns = self.actions.iter().filter_map(|action| match action {
            Action::Is(pattern) => Some(*pattern),
            _ => None,
        });
        let mut patterns: Vec<PatternId> = patterns.collect();
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }

    /// Whether no least fixpoint depends on a greatest one that depends on it: the fast fragment.
    pub fn is_alternation_free(&self) -> bool {
        !self.levels.contains(&Level::Mixed)
    }

    /// The level of a node: nodes that depend on each other share one, and a node depends on nodes
    /// of its own and lower levels only.
    pub(crate) fn level_of(&self, id: NodeId) -> u32 {
        self.level_of[id.index()]
    }

    /// All levels, lowest first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// The priority of a node in a play: that of the equation which begins there, or the lowest.
    pub(crate) fn priority(&self, id: NodeId) -> u32 {
        self.priority_of[id.index()]
    }
}

/// Nodes and actions stored once each.
#[derive(Debug)]
struct Pool<T> {
    items: Vec<T>,
    index: HashTable<u32>,
}

impl<T: Eq + Hash> Pool<T> {
    fn new() -> Self {
        Pool { items: Vec::new(), index: HashTable::new() }
    }

    fn intern(&mut self, item: T) -> u32 {
        let hash = |item: &T| FxBuildHasher.hash_one(item);
        let items = &mut self.items;
        let same = |&i: &u32| items[i as usize] == item;
        match self.index.entry(hash(&item), same, |&i| hash(&items[i as usize])) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                // A formula's text has fewer than 2^32 bytes, and a few nodes for each at most.
                let id = items.len() as u32;
                items.push(item);
                entry.insert(id);
                id
            }
        }
    }
}

/// Builds a formula bottom-up.
#[derive(Debug)]
pub(crate) struct Builder {
    nodes: Pool<Node>,
    actions: Pool<Action>,
    equations: Vec<Equation>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Builder { nodes: Pool::new(), actions: Pool::new(), equations: Vec::new() }
    }

    pub(crate) fn node(&mut self, node: Node) -> NodeId {
        NodeId(self.nodes.intern(node))
    }

    pub(crate) fn action(&mut self, action: Action) -> ActionId {
        ActionId(self.actions.intern(action))
    }

    pub(crate) fn constant(&mut self, value: bool) -> NodeId {
        self.node(Node::Constant(value))
    }

    /// `phi && psi`.
    pub(crate) fn and(&mut self, operands: Vec<NodeId>) -> NodeId {
        self.node(Node::And(operands))
    }

    /// `phi || psi`.
    pub(crate) fn or(&mut self, operands: Vec<NodeId>) -> NodeId {
        self.node(Node::Or(operands))
    }

    /// `<A>phi` or `[A]phi`.
    pub(crate) fn modal(&mut self, modality: Modality, action: ActionId, phi: NodeId) -> NodeId {
        self.node(Node::Modal(modality, action, phi))
    }

    /// `<->phi` or `[-]phi`.
    pub(crate) fn after_any(&mut self, modality: Modality, phi: NodeId) -> NodeId {
        let any = self.action(Action::Any);
        self.modal(modality, any, phi)
    }

    /// Begins an equation, whose body is not known yet. Outer equations begin before inner ones.
    pub(crate) fn open(&mut self, sign: Sign, name: &str) -> (EquationId, NodeId) {
        let equation = EquationId(self.equations.len() as u32);
        let variable = self.node(Node::Variable(equation));
        self.equations.push(Equation { name: name.to_string(), sign, body: variable, priority: 0 });
        (equation, variable)
    }

    /// Ends an equation.
    pub(crate) fn close(&mut self, equation: EquationId, body: NodeId) {
        self.equations[equation.0 as usize].body = body;
    }

    /// The formula with this root.
    pub(crate) fn finish(self, root: NodeId) -> Formula {
        let Builder { nodes, actions, mut equations } = self;
        let mut nodes = nodes.items;
        let (level_of, levels) = levels(&nodes, &equations);
        for (i, priority) in priorities(&nodes, &equations).into_iter().enumerate() {
            equations[i].priority = priority;
        }
        // A variable's place is taken by its body, which then has its priority. Only where the body
        // is again a variable must a play be seen to pass both.
        let is_variable: Vec<bool> = nodes.iter().map(|node| matches!(node, Node::Variable(_))).collect();
        let mut priority_of = vec![0; nodes.len()];
        let mut taken: Vec<NodeId> = (0..nodes.len() as u32).map(NodeId).collect();
        for (id, node) in nodes.iter().enumerate() {
            let Node::Variable(equation) = node else { continue };
            let Equation { body, priority, .. } = equations[equation.0 as usize];
            let head = if is_variable[body.index()] { NodeId(id as u32) } else { body };
            taken[id] = head;
            // The body of a variable that is not used may be a part of other equations as well.
            if level_of[id] == level_of[head.index()] {
                priority_of[head.index()] = priority;
            }
        }
        let replace = |id: &mut NodeId| *id = taken[id.index()];
        for node in &mut nodes {
            match node {
                Node::And(operands) | Node::Or(operands) => operands.iter_mut().for_each(replace),
                Node::Modal(_, _, inner) => replace(inner),
                Node::Constant(_) | Node::Atom(..) | Node::Variable(_) => {}
            }
        }
        equations.iter_mut().for_each(|equation| replace(&mut equation.body));
        let root = taken[root.index()];
        Formula { nodes, actions: actions.items, equations, root, priority_of, level_of, levels }
    }
}

/// Calls `visit` with the nodes that a node leads to.
pub(crate) fn operands(node: &Node, equations: &[Equation], mut visit: impl FnMut(NodeId)) {
    match node {
        Node::Constant(_) | Node::Atom(..) => {}
        Node::And(operands) | Node::Or(operands) => operands.iter().copied().for_each(visit),
        Node::Modal(_, _, inner) => visit(*inner),
        Node::Variable(equation) => visit(equations[equation.0 as usize].body),
    }
}
