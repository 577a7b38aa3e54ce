//! A system made smaller, for one formula that cannot see the difference.

use masque_mu::{AtomId, Completeness, Formula, LabelId, Lts, PatternId, StateId};

use crate::eager::Eager;
use crate::symmetry::Symmetry;
use crate::system::System;

/// Which reductions may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Agents send at once what the formula does not see.
    pub eager: bool,
    /// Agents that can stand in for each other are not told apart.
    pub symmetry: bool,
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions { eager: true, symmetry: true }
    }
}

/// A system in which agents send at once and identical agents are not told apart, as far as a formula
/// cannot see it: the formula has the verdict that it has in the whole system.
///
/// Both reductions go together \[EJP97\]: what a step does not change it changes under no renaming. A loop
/// of representatives must contain a state that is fully expanded, so an internal step is taken at once
/// only if it leads to a representative not met before.
#[derive(Debug)]
pub struct Reduced<'s> {
    system: &'s mut System,
    eager: Option<Eager<'s>>,
    symmetry: Option<Symmetry>,
}

impl<'s> Reduced<'s> {
    /// The reduced system for a formula, if there is anything to reduce.
    pub fn new(system: &'s mut System, formula: &'s Formula) -> Option<Reduced<'s>> {
        Reduced::by(Reductions::default(), system, formula)
    }

    /// The same with some reductions only.
    pub fn by(which: Reductions, system: &'s mut System, formula: &'s Formula) -> Option<Reduced<'s>> {
        let eager = if which.eager { Eager::new(system, formula) } else { None };
        let symmetry = if which.symmetry { Symmetry::new(system, formula) } else { None };
        let is_reduced = eager.is_some() || symmetry.is_some();
        is_reduced.then_some(Reduced { system, eager, symmetry })
    }
}

impl Lts for Reduced<'_> {
    fn initial(&mut self) -> StateId {
        self.system.initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let Reduced { system, eager, symmetry } = self;
        if let Some(eager) = eager {
            eager.meet(state);
        }
        let ample = eager.as_mut().and_then(|eager| eager.ample(system, symmetry.as_mut(), state));
        if let Some((label, target)) = ample {
            step(label, target);
            return Completeness::Complete;
        }
        let mut steps = Vec::new();
        let complete = system.successors(state, &mut |label, target| steps.push((label, target)));
        for (label, target) in steps {
            let target = match symmetry {
                Some(symmetry) => symmetry.representative(system, target),
                None => target,
            };
            if let Some(eager) = eager {
                eager.meet(target);
            }
            step(label, target);
        }
        complete
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.system.holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.system.matches(label, pattern)
    }

    fn most_states(&self) -> u64 {
        self.system.most_states()
    }
}
