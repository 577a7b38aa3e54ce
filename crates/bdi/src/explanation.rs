//! Explanations of failed properties and of removed states, in terms of the model.

use masque_model::Count;

use crate::model::{Edge, FormulaId, Model, Question, State, VarId, WorldPath};
use crate::plan::WorldId;

/// Form of a part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A finite path.
    Path,
    /// A path that returns to one of its states.
    Lasso {
        /// Index of the state that follows the last.
        back_to: usize,
    },
    /// A path in the world below to a state that is accessible from here.
    Jump {
        /// Edge to that world.
        edge: Edge,
        /// Explicit attitudes of the edge that are true in the state where the jump begins.
        asserted: Vec<VarId>,
    },
}

/// A statement about a state.
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
    /// Root and edges that lead to the world.
    pub path: WorldPath,
    /// Form of the part.
    pub shape: Shape,
    /// Statement about the first state; for a jump and for the root part, about the last.
    pub statement: Statement,
    /// Whether the statement is true.
    pub holds: bool,
    /// States of the path. Unlike other states, they store the values of defined attitudes.
    pub states: Vec<State>,
    /// Difference between two worlds in the last state.
    pub difference: Option<Difference>,
    /// Parts that explain the last state; for a lasso, the first.
    pub next: Vec<Explanation>,
}

/// Difference that makes a world no sub-world of another. [BB04 Def. 2]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The other world does not have the state.
    State,
    /// The state is initial, but not in the other world.
    Initial,
    /// A defined attitude has another value in the other world.
    Label(VarId),
    /// The other world does not have the step to the last state.
    Step,
    /// Other states are accessible on an edge. The next part leads to one.
    Accessible {
        /// The edge.
        edge: Edge,
        /// Whether the state is accessible from the inner world only; otherwise from the outer world only.
        is_inner: bool,
    },
}

/// Reason why a state is incoherent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalReason {
    /// The state lacks an attitude whose argument holds in all accessible states.
    Lacks(VarId),
    /// No state is accessible on this edge.
    NothingAccessible(Edge),
}

/// States of a world that were removed for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Reason for the removal.
    pub reason: RemovalReason,
    /// Number of states.
    pub n_states: Count,
    /// Path to the nearest of them, with the values of defined attitudes; empty if it does not replay.
    pub example: Vec<State>,
}

impl Model {
    /// Returns a statement as text.
    pub fn statement_text(&self, statement: Statement) -> String {
        match statement {
            Statement::Property(index) => self.properties[index].text.clone(),
            Statement::Formula(formula) => self.formula_text(formula),
        }
    }

    /// Returns the difference between two worlds that a property compares, as a sentence.
    pub fn difference_text(&self, property: usize, difference: Difference) -> String {
        let Some(Question::Subworld(outer)) = self.properties.get(property).map(|p| &p.question) else {
            return String::new();
        };
        let outer = self.path_text(outer);
        match difference {
            Difference::State => format!("{outer} does not have the last state"),
            Difference::Initial => format!("in {outer} this state is not initial"),
            Difference::Label(var) => format!("{} has another value in {outer}", self.var(var).name),
            Difference::Step => format!("{outer} does not have the last step"),
            Difference::Accessible { edge, is_inner: true } => {
                format!("{} leads to a state that is not accessible in {outer}", self.edge_text(edge))
            }
            Difference::Accessible { edge, is_inner: false } => {
                format!("{} leads in {outer} to a state that is not accessible here", self.edge_text(edge))
            }
        }
    }

    /// Returns the attitude that removed states lack, or the edge on which nothing is accessible, as text.
    pub fn removal_text(&self, reason: RemovalReason) -> String {
        match reason {
            RemovalReason::Lacks(var) => self.var(var).name.clone(),
            RemovalReason::NothingAccessible(edge) => self.edge_text(edge),
        }
    }
}
