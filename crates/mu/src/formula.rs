//! Formulas in the form in which they are solved: positive normal form, as equations.
//!
//! Only atoms are negated, regular modalities and abbreviations are expanded, and each fixpoint is an
//! equation `X = body`, least or greatest. A reference to the body of the equation replaces a variable, so
//! formulas are graphs, not trees, and no function recurses over them.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxBuildHasher;

use crate::bound_response::BoundResponse;
use crate::levels::{Level, levels, priorities};
use crate::tree::{Modality, Sign};
use crate::{AtomId, PatternId};

/// Id of a node of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaNodeId(pub(crate) u32);

/// An equation of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EquationId(pub(crate) u32);

/// A set of labels in a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(pub(crate) u32);

impl FormulaNodeId {
    /// Returns the index in [`Formula::nodes`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of a formula.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FormulaNode {
    /// `tt` or `ff`.
    Constant(bool),
    /// An atom and the truth value that it must have.
    Atom(AtomId, bool),
    /// Conjunction.
    And(Vec<FormulaNodeId>),
    /// Disjunction.
    Or(Vec<FormulaNodeId>),
    /// After some step (`<A>`) or after all steps (`[A]`) with a label in the set.
    Modal(Modality, ActionId, FormulaNodeId),
    /// The variable of an equation whose body is a variable itself. The body replaces any other variable.
    Variable(EquationId),
}

/// A set of labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// All labels.
    Any,
    /// Labels that match a pattern of the language.
    Is(PatternId),
    /// Labels that are not in a set.
    Not(ActionId),
    /// The union of sets.
    Either(Vec<ActionId>),
}

/// `name = body`, least or greatest.
#[derive(Clone, Debug)]
pub struct Equation {
    /// Name of the variable, for display.
    pub name: String,
    /// Least or greatest fixpoint.
    pub sign: Sign,
    /// Right side of the equation.
    pub body: FormulaNodeId,
    /// Priority: even for `nu`, odd for `mu`. The largest that occurs infinitely often decides a play.
    pub priority: u32,
}

/// A closed formula in positive normal form.
#[derive(Clone, Debug)]
pub struct Formula {
    nodes: Vec<FormulaNode>,
    actions: Vec<Action>,
    equations: Vec<Equation>,
    root: FormulaNodeId,
    priority_of: Vec<u32>,
    level_of: Vec<u32>,
    levels: Vec<Level>,
    /// For a response whose patterns share variables: its sets of labels. The nodes are then those of the
    /// formula for the larger system.
    response: Option<Box<BoundResponse>>,
}

impl Formula {
    /// Returns the node of the whole formula.
    pub fn root(&self) -> FormulaNodeId {
        self.root
    }

    /// Returns a node.
    pub fn node(&self, id: FormulaNodeId) -> &FormulaNode {
        &self.nodes[id.index()]
    }

    /// Returns all nodes.
    pub fn nodes(&self) -> &[FormulaNode] {
        &self.nodes
    }

    /// Returns an equation.
    pub fn equation(&self, id: EquationId) -> &Equation {
        &self.equations[id.0 as usize]
    }

    /// Returns all equations, outer ones first.
    pub fn equations(&self) -> &[Equation] {
        &self.equations
    }

    /// Returns a set of labels.
    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id.0 as usize]
    }

    /// Returns all sets of labels, operands first.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns the atoms of the formula, sorted.
    pub fn atoms(&self) -> Vec<AtomId> {
        let atoms = self.nodes.iter().filter_map(|node| match node {
            FormulaNode::Atom(atom, _) => Some(*atom),
            _ => None,
        });
        let mut atoms: Vec<AtomId> = atoms.collect();
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Returns the primitive patterns of the formula, sorted.
    pub fn patterns(&self) -> Vec<PatternId> {
        let mut patterns: Vec<PatternId> = Vec::new();
        match &self.response {
            Some(response) => {
                [&response.first, &response.second].iter().for_each(|set| set.patterns(&mut patterns));
            }
            None => patterns.extend(self.actions.iter().filter_map(|action| match action {
                Action::Is(pattern) => Some(*pattern),
                _ => None,
            })),
        }
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }

    /// Whether no least fixpoint depends on a greatest fixpoint that depends on it. Such formulas are solved in
    /// linear time.
    pub fn is_alternation_free(&self) -> bool {
        !self.levels.contains(&Level::Mixed)
    }

    /// Whether this is a response whose patterns share variables. Its nodes and actions then do not refer to the
    /// labels of the system.
    pub fn is_bound_response(&self) -> bool {
        self.response.is_some()
    }

    /// Returns the sets of labels of a response whose patterns share variables.
    pub(crate) fn response(&self) -> Option<&BoundResponse> {
        self.response.as_deref()
    }

    /// Makes this the formula of a response.
    pub(crate) fn with_response(self, response: BoundResponse) -> Formula {
        Formula { response: Some(Box::new(response)), ..self }
    }

    /// Returns the level of a node. Nodes that depend on each other have the same level, and a node depends
    /// only on nodes of its own and of lower levels.
    pub(crate) fn level_of(&self, id: FormulaNodeId) -> u32 {
        self.level_of[id.index()]
    }

    /// Returns all levels, lowest first.
    pub(crate) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the priority of a node in a play: that of the equation whose body it is, or 0.
    pub(crate) fn priority(&self, id: FormulaNodeId) -> u32 {
        self.priority_of[id.index()]
    }
}

/// Items that are stored once each.
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
                // The text of a formula is too short for 2^32 nodes.
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
    nodes: Pool<FormulaNode>,
    actions: Pool<Action>,
    equations: Vec<Equation>,
}

impl Builder {
    pub(crate) fn new() -> Self {
        Builder { nodes: Pool::new(), actions: Pool::new(), equations: Vec::new() }
    }

    pub(crate) fn node(&mut self, node: FormulaNode) -> FormulaNodeId {
        FormulaNodeId(self.nodes.intern(node))
    }

    pub(crate) fn action(&mut self, action: Action) -> ActionId {
        ActionId(self.actions.intern(action))
    }

    pub(crate) fn constant(&mut self, value: bool) -> FormulaNodeId {
        self.node(FormulaNode::Constant(value))
    }

    /// Adds `phi && psi`.
    pub(crate) fn and(&mut self, operands: Vec<FormulaNodeId>) -> FormulaNodeId {
        self.node(FormulaNode::And(operands))
    }

    /// Adds `phi || psi`.
    pub(crate) fn or(&mut self, operands: Vec<FormulaNodeId>) -> FormulaNodeId {
        self.node(FormulaNode::Or(operands))
    }

    /// Adds `<A>phi` or `[A]phi`.
    pub(crate) fn modal(
        &mut self,
        modality: Modality,
        action: ActionId,
        phi: FormulaNodeId,
    ) -> FormulaNodeId {
        self.node(FormulaNode::Modal(modality, action, phi))
    }

    /// Adds `<->phi` or `[-]phi`.
    pub(crate) fn after_any(&mut self, modality: Modality, phi: FormulaNodeId) -> FormulaNodeId {
        let any = self.action(Action::Any);
        self.modal(modality, any, phi)
    }

    /// Begins an equation, whose body is not known yet. Outer equations begin before inner ones.
    pub(crate) fn open(&mut self, sign: Sign, name: &str) -> (EquationId, FormulaNodeId) {
        let equation = EquationId(self.equations.len() as u32);
        let variable = self.node(FormulaNode::Variable(equation));
        self.equations.push(Equation { name: name.to_string(), sign, body: variable, priority: 0 });
        (equation, variable)
    }

    /// Sets the body of an equation.
    pub(crate) fn close(&mut self, equation: EquationId, body: FormulaNodeId) {
        self.equations[equation.0 as usize].body = body;
    }

    /// Returns the formula with this root.
    pub(crate) fn finish(self, root: FormulaNodeId) -> Formula {
        let Builder { nodes, actions, mut equations } = self;
        let mut nodes = nodes.items;
        let (level_of, levels) = levels(&nodes, &equations);
        for (i, priority) in priorities(&nodes, &equations).into_iter().enumerate() {
            equations[i].priority = priority;
        }
        // The body replaces a variable and gets its priority. If the body is a variable itself, the node
        // stays, because a play must pass the priorities of both.
        let is_variable: Vec<bool> =
            nodes.iter().map(|node| matches!(node, FormulaNode::Variable(_))).collect();
        let mut priority_of = vec![0; nodes.len()];
        let mut taken: Vec<FormulaNodeId> = (0..nodes.len() as u32).map(FormulaNodeId).collect();
        for (id, node) in nodes.iter().enumerate() {
            let FormulaNode::Variable(equation) = node else { continue };
            let Equation { body, priority, .. } = equations[equation.0 as usize];
            let head = if is_variable[body.index()] { FormulaNodeId(id as u32) } else { body };
            taken[id] = head;
            // The body of an unused variable may also be part of other equations.
            if level_of[id] == level_of[head.index()] {
                priority_of[head.index()] = priority;
            }
        }
        let replace = |id: &mut FormulaNodeId| *id = taken[id.index()];
        for node in &mut nodes {
            match node {
                FormulaNode::And(operands) | FormulaNode::Or(operands) => {
                    operands.iter_mut().for_each(replace)
                }
                FormulaNode::Modal(_, _, inner) => replace(inner),
                FormulaNode::Constant(_) | FormulaNode::Atom(..) | FormulaNode::Variable(_) => {}
            }
        }
        equations.iter_mut().for_each(|equation| replace(&mut equation.body));
        let root = taken[root.index()];
        let actions = actions.items;
        Formula { nodes, actions, equations, root, priority_of, level_of, levels, response: None }
    }
}

/// Calls `visit` with the operands of a node.
pub(crate) fn operands(node: &FormulaNode, equations: &[Equation], mut visit: impl FnMut(FormulaNodeId)) {
    match node {
        FormulaNode::Constant(_) | FormulaNode::Atom(..) => {}
        FormulaNode::And(operands) | FormulaNode::Or(operands) => operands.iter().copied().for_each(visit),
        FormulaNode::Modal(_, _, inner) => visit(*inner),
        FormulaNode::Variable(equation) => visit(equations[equation.0 as usize].body),
    }
}
