//! The reduced system for one formula: fewer states, the same verdict.

use masque_mu::{AtomId, Completeness, Formula, LabelId, Lts, PatternId, StateId};
use masque_verdict::Stop;

use crate::eager::Eager;
use crate::symmetry::Symmetry;
use crate::system::System;

/// The reductions that may be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Agents send at once messages that the formula does not see (partial-order reduction).
    pub eager: bool,
    /// States that differ only in interchangeable agents are merged (symmetry reduction).
    pub symmetry: bool,
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions { eager: true, symmetry: true }
    }
}

/// A system in which agents send at once and interchangeable agents are not distinguished, as far as one
/// formula cannot see the difference. The formula has the same verdict as in the whole system.
///
/// Both reductions can be combined \[EJP97\]: an atom that a step does not change is not changed under any
/// renaming of agents either. A cycle of representatives must contain a state that is fully expanded, so
/// an internal step is taken at once only if it leads to a representative that was not reached before.
#[derive(Debug)]
pub struct Reduced<'s> {
    system: &'s mut System,
    eager: Option<Eager<'s>>,
    symmetry: Option<Symmetry>,
}

impl<'s> Reduced<'s> {
    /// Builds the reduced system for a formula; `None` if no reduction applies.
    pub fn new(system: &'s mut System, formula: &'s Formula) -> Option<Reduced<'s>> {
        Reduced::with(Reductions::default(), system, formula)
    }

    /// Builds the reduced system with the given reductions only.
    pub fn with(reductions: Reductions, system: &'s mut System, formula: &'s Formula) -> Option<Reduced<'s>> {
        // Such a formula distinguishes values, which both reductions would have to follow.
        if formula.is_bound_response() {
            return None;
        }
        let eager = if reductions.eager { Eager::new(system, formula) } else { None };
        let symmetry = if reductions.symmetry { Symmetry::new(system, formula) } else { None };
        if eager.is_none() && symmetry.is_none() {
            return None;
        }
        Some(Reduced { system, eager, symmetry })
    }
}

impl Lts for Reduced<'_> {
    fn initial(&mut self) -> StateId {
        self.system.initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let Reduced { system, eager, symmetry } = self;
        if let Some(eager) = eager {
            eager.mark_reached(state);
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
                eager.mark_reached(target);
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

    fn max_states(&self) -> u64 {
        self.system.max_states()
    }

    fn bytes(&self) -> u64 {
        Lts::bytes(self.system)
    }

    fn stopped(&self) -> Option<Stop> {
        self.system.stopped()
    }
}
