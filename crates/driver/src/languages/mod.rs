//! The parts that differ between languages: how a text becomes a model, and how the model is checked.

pub(crate) mod aut;
pub(crate) mod bdi;
mod formulas;
pub(crate) mod ispl;
pub(crate) mod lcc;
mod options;
