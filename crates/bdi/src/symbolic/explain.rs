//! Why a property fails: a tree of paths through worlds.

use masque_symbolic::space::{Limited, Set};

use super::Engine;
use crate::plan::WorldId;

/// What a part of an explanation shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// A finite path.
    Path,
    /// A path that comes back to one of its states.
    Lasso,
    /// A state of the world below, accessible from here, and the path by which it is reached there.
    Jump,
}

/// A state, as a person reads it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct StateText {
    /// The point of the program.
    pub point: u32,
    /// The action just performed.
    pub action: Option<String>,
    /// Variables and their values, in the order of the program.
    pub values: Vec<(String, String)>,
}

/// A part of an explanation.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Explanation {
    /// The world.
    pub world: String,
}

impl Engine<'_> {
    #[allow(dead_code)]
    fn nothing(&mut self, _w: WorldId, _s: &Set) -> Limited<()> {
        Ok(())
    }
}
