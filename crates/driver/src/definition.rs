//! Verdicts by the definition, for tests of programs that use this crate.

use masque_model::semantics::{Truth as DefinedTruth, explore, holds_in};

use crate::load::Loaded;

/// The reachable states and the verdicts of an interpreted system, computed by the truth definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByDefinition {
    /// Number of reachable states.
    pub states: usize,
    /// For each property whether it holds; none if the definition gives it no truth value.
    pub verdicts: Vec<Option<bool>>,
}

impl Loaded {
    /// Computes states and verdicts by the definition (`masque_model::semantics`), which is slow. None if the model is
    /// not an interpreted system, or has more than `max_states` states.
    ///
    /// ```
    /// use masque_driver::load_text;
    /// let text = "
    ///     Agent A Vars: x : boolean; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
    ///       Evolution: x = true if Action = a; end Evolution end Agent
    ///     InitStates A.x = false; end InitStates Formulae AF A.x; AG A.x; end Formulae";
    /// let found = load_text("x.ispl", text, &Default::default()).by_definition(100).unwrap();
    /// assert_eq!((found.states, found.verdicts), (2, vec![Some(true), Some(false)]));
    /// ```
    pub fn by_definition(&self, max_states: usize) -> Option<ByDefinition> {
        let system = self.system()?;
        let structure = explore(system, max_states)?;
        let verdict = |property| match holds_in(&structure, system, property) {
            DefinedTruth::Holds => Some(true),
            DefinedTruth::Fails => Some(false),
            DefinedTruth::Unsupported | DefinedTruth::NoFairPath => None,
        };
        let verdicts = system.properties.iter().map(verdict).collect();
        Some(ByDefinition { states: structure.n_states(), verdicts })
    }
}
