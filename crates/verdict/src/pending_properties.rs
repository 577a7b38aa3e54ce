//! Which labels undecided properties still need.
//!
//! A label is the set of states at which a formula is true. A file may have hundreds of properties, and
//! all their labels together would need more memory than the states. A label that occurs only in decided
//! properties is therefore dropped, but not before the next property begins, because the evidence for a
//! property uses the labels of its parts.

use std::collections::HashSet;

use masque_model::{FormulaId, Formulas, System};

/// The undecided properties of a system, and their subformulas.
#[derive(Debug)]
pub struct PendingProperties {
    /// For each formula, the number of undecided properties that contain it, including the current one.
    n_users: Vec<u32>,
    /// Formulas of the undecided properties.
    ahead: HashSet<FormulaId>,
    /// Formula of the property that is being decided.
    current: Option<FormulaId>,
}

impl PendingProperties {
    /// Starts with all properties of a system undecided.
    pub fn new(system: &System) -> PendingProperties {
        let mut n_users = vec![0; system.formulas.len()];
        let ahead: HashSet<FormulaId> = system.properties.iter().map(|property| property.formula).collect();
        for &formula in &ahead {
            system.formulas.each_part(formula, |part| {
                n_users[part.index()] += 1;
                true
            });
        }
        PendingProperties { n_users, ahead, current: None }
    }

    /// Keeps the labels of the current property, which a limit stopped and which may be tried again.
    pub fn put_off(&mut self) {
        self.current = None;
    }

    /// Begins the next property. Calls `drop` for each part of the previous one that no undecided
    /// property contains.
    pub fn turn_to(&mut self, formulas: &Formulas, property: FormulaId, mut drop: impl FnMut(FormulaId)) {
        let before = self.current.replace(property);
        if let Some(before) = before
            && before != property
            && self.ahead.remove(&before)
        {
            formulas.each_part(before, |part| {
                let n_users = &mut self.n_users[part.index()];
                *n_users -= 1;
                if *n_users == 0 {
                    drop(part);
                }
                true
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use masque_ispl::{Options, check, parse};
    use masque_model::Formula;
    use masque_text::Sources;

    use super::*;

    fn system() -> System {
        let text = "Agent A Vars: x : boolean; y : boolean; end Vars Actions = {a}; Protocol: Other : {a}; end Protocol
            Evolution: end Evolution end Agent Evaluation p if A.x; q if A.y; end Evaluation
            InitStates A.x; end InitStates Formulae AG p; EF p and AG q; AG q; EF p and AG q; end Formulae";
        let mut sources = Sources::default();
        let file = sources.add("test.ispl", text).unwrap();
        let (mut tree, _) = parse(&sources, file);
        check(&sources, &mut tree, &Options::default()).system.unwrap()
    }

    #[test]
    fn labels_that_no_undecided_property_needs_are_dropped() {
        let system = system();
        let mut ahead = PendingProperties::new(&system);
        let dropped = |ahead: &mut PendingProperties, index: usize| {
            let mut names = Vec::new();
            ahead.turn_to(&system.formulas, system.properties[index].formula, |part| {
                if !matches!(system.formulas.get(part), Formula::Globally(_) | Formula::Finally(_)) {
                    names.push(system.formula_text(part));
                }
            });
            names.sort();
            names
        };
        assert_eq!(dropped(&mut ahead, 0), [""; 0]);
        assert_eq!(dropped(&mut ahead, 1), ["AG(p)"]);
        assert_eq!(dropped(&mut ahead, 2), ["EF(p)", "EF(p) and AG(q)", "p"]);
        // Decided a second time: the property is no longer counted.
        assert_eq!(dropped(&mut ahead, 1), ["AG(q)", "q"]);
        assert_eq!(dropped(&mut ahead, 0), [""; 0]);
    }

    #[test]
    fn labels_of_a_postponed_property_are_kept() {
        let system = system();
        let mut ahead = PendingProperties::new(&system);
        let formula = |index: usize| system.properties[index].formula;
        let mut is_dropped = |next: usize| {
            let mut is_dropped = false;
            ahead.turn_to(&system.formulas, formula(next), |part| is_dropped |= part == formula(0));
            ahead.put_off();
            is_dropped
        };
        // `AG p` is stopped and tried again later: none of its labels is dropped in between.
        assert!(!is_dropped(0) && !is_dropped(2) && !is_dropped(0));
        ahead.turn_to(&system.formulas, formula(0), |_| {});
        let mut dropped = Vec::new();
        ahead.turn_to(&system.formulas, formula(1), |part| dropped.push(part));
        assert!(dropped.contains(&formula(0)));
    }
}
