//! Why properties fail and why states are removed, in terms of the model.

use masque_model::Count;

use crate::model::{Edge, FormulaId, Model, State, VarId, WorldPath};
use crate::plan::WorldId;

/// What a part of an explanation shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A finite path.
    Path,
    /// A path that comes back to one of its states.
    Lasso {
        /// Index of the state that follows the last.
        back_to: usize,
    },
    /// A state of the world below, accessible from here: the last of a path in that world.
    Jump {
        /// The edge to that world.
        edge: Edge,
        /// The explicit attitudes of the edge that were true where the jump began.
        asserted: Vec<VarId>,
    },
}

/// What is true or false in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statement {
    /// A property, by its index.
    Property(usize),
    /// A formula of the world's program.
    Formula(FormulaId),
}

/// A part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// World of the states.
    pub world: WorldId,
    /// The way to the world.
    pub path: WorldPath,
    /// What is shown.
    pub shape: Shape,
    /// What is true or false in the first state; of a jump, and of the whole, in the last.
    pub statement: Statement,
    /// Whether the statement is true.
    pub holds: bool,
    /// The states. Defined attitudes have their values here, which other states do not store.
    pub states: Vec<State>,
    /// What explains the last state; of a lasso, the first.
    pub next: Vec<Explanation>,
}

/// Why a state is incoherent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalReason {
    /// It lacks an attitude whose argument holds in all accessible states.
    Lacks(VarId),
    /// Nothing is accessible.
    NothingAccessible(Edge),
}

/// States of a world that were removed for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Why they were removed.
    pub reason: RemovalReason,
    /// Number of states.
    pub n_states: Count,
    /// Path to the nearest of them, with the values of defined attitudes; empty if it does not replay.
    pub example: Vec<State>,
}

impl Model {
    /// A statement as text.
    pub fn statement_text(&self, statement: Statement) -> String {
        match statement {
            Statement::Property(index) => self.properties[index].text.clone(),
            Statement::Formula(formula) => self.formula_text(formula),
        }
    }

    /// The attitude that removed states lack, or the edge on which nothing is accessible.
    pub fn removal_text(&self, reason: RemovalReason) -> String {
        match reason {
            RemovalReason::Lacks(var) => self.var(var).name.clone(),
            RemovalReason::NothingAccessible(edge) => self.edge_text(edge),
        }
    }
}
