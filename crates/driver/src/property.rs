//! Properties of a model in any language, as reports show them.

use masque_model::At;
use masque_mu::Property;

use crate::load::Model;

/// A property as reports show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyText {
    /// Name of the property, or its position from 1. Instances of one formula in a `for` share a name.
    pub name: String,
    /// Unique name in text reports.
    pub title: String,
    /// For an instance of a formula in a `for`: the values of the loop variables, outermost first.
    pub index: Vec<(String, i64)>,
    /// The formula in a form that reads back as the same formula.
    pub formula: String,
    /// The formula as its author wrote it, on one line.
    pub text: String,
    /// The states at which it must be true.
    pub at: At,
    /// For BDI: the world in which it is decided.
    pub world: Option<String>,
    /// For BDI: `valid` or `initially`.
    pub mode: Option<&'static str>,
}

impl PropertyText {
    fn new(name: &str, formula: String, text: String, at: At) -> PropertyText {
        let (name, title) = (name.to_string(), name.to_string());
        PropertyText { name, title, index: Vec::new(), formula, text, at, world: None, mode: None }
    }

    fn of_mu(property: &Property) -> PropertyText {
        let source = &property.source;
        PropertyText::new(&source.name.text, source.phi.to_string(), source.text(), At::Initial)
    }
}

impl Model {
    /// The number of properties.
    pub fn n_properties(&self) -> usize {
        match self {
            Model::Ispl(system) => system.properties.len(),
            Model::Bdi(worlds) => worlds.programs.properties.len(),
            Model::Lcc(instance) => instance.properties.len(),
            Model::Aut(instance) => instance.properties.len(),
        }
    }

    /// The properties, in the order of the report.
    pub fn properties(&self) -> Vec<PropertyText> {
        match self {
            Model::Ispl(system) => {
                let text = |property: &masque_model::Property| {
                    let (formula, text) =
                        (system.formula_text(property.formula), system.property_text(property));
                    PropertyText {
                        title: property.title.clone(),
                        index: property.index.clone(),
                        ..PropertyText::new(&property.name, formula, text, property.at)
                    }
                };
                system.properties.iter().map(text).collect()
            }
            Model::Bdi(worlds) => {
                let text = |property: &masque_bdi::model::Property| {
                    let (at, mode) = if property.initially {
                        (At::Initial, "initially")
                    } else {
                        (At::Reachable, "valid")
                    };
                    PropertyText {
                        world: Some(worlds.programs.path_text(&property.path)),
                        mode: Some(mode),
                        ..PropertyText::new(
                            &property.name,
                            property.text.clone(),
                            worlds.programs.written_text(property),
                            at,
                        )
                    }
                };
                worlds.programs.properties.iter().map(text).collect()
            }
            Model::Lcc(instance) => instance.properties.iter().map(PropertyText::of_mu).collect(),
            Model::Aut(instance) => instance.properties.iter().map(PropertyText::of_mu).collect(),
        }
    }
}
