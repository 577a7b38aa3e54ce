//! Where the properties of a model are written.

use masque_text::Span;

use crate::load::Model;

impl Model {
    /// The span of each property, in the order of the report: of its formula in ISPL, of its name elsewhere.
    pub fn property_spans(&self) -> Vec<Span> {
        match self {
            Model::Ispl(system) => system.properties.iter().map(|property| property.span).collect(),
            Model::Bdi(worlds) => worlds.programs.properties.iter().map(|property| property.span).collect(),
            Model::Lcc(instance) => instance.properties.iter().map(|p| p.source.name.span).collect(),
            Model::Aut(instance) => instance.properties.iter().map(|p| p.source.name.span).collect(),
        }
    }
}
