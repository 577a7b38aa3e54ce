//! Which labels are still of use.
//!
//! A label is the set of states where a formula is true, and a file may have hundreds of properties:
//! all their labels together would outgrow the states. So what only decided properties speak of is
//! dropped, but not before the next property is asked: evidence comes back to the parts of the last
//! one.

use std::collections::HashSet;

use masque_model::{FormulaId, Formulas, System};

/// The properties of a system that are yet to be decided, and what they speak of.
#[derive(Debug)]
pub struct Ahead {
    /// For each formula the number of properties ahead, the current one included, that it is part of.
    n_users: Vec<u32>,
    /// The formulas of the properties ahead.
    ahead: HashSet<FormulaId>,
    current: Option<FormulaId>,
}

impl Ahead {
    /// All properties of a system.
    pub fn new(system: &System) -> Ahead {
        let mut n_users = vec![0; system.formulas.len()];
        let ahead: HashSet<FormulaId> = system.properties.iter().map(|property| property.formula).collect();
        for &formula in &ahead {
            each_part(&system.formulas, formula, |part| n_users[part.index()] += 1);
        }
        Ahead { n_users, ahead, current: None }
    }

    /// The current property was stopped before it was decided and may be asked again: what is known of
    /// its parts is kept until then.
    pub fn put_off(&mut self) {
        self.current = None;
    }

    /// Property after property: calls `drop` for each part of the one before that no property ahead
    /// has any use for.
    pub fn turn_to(&mut self, formulas: &Formulas, property: FormulaId, mut drop: impl FnMut(FormulaId)) {
        let before = self.current.replace(property);
        if let Some(before) = before.filter(|&before| before != property && self.ahead.remove(&before)) {
            each_part(formulas, before, |part| {
                let n_users = &mut self.n_users[part.index()];
                *n_users -= 1;
                if *n_users == 0 {
                    drop(part);
                }
            });
        }
    }
}

/// Calls `visit` for a formula and all its parts, each once.
pub(crate) fn each_part(formulas: &Formulas, root: FormulaId, mut visit: impl FnMut(FormulaId)) {
    let mut seen = HashSet::from([root]);
    let mut open = vec![root];
    while let Some(part) = open.pop() {
        visit(part);
        formulas.each_operand(part, |operand| {
            if seen.insert(operand) {
                open.push(operand);
            }
        });
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
    fn what_nobody_speaks_of_any_more_is_dropped() {
        let system = system();
        let mut ahead = Ahead::new(&system);
        let dropped = |ahead: &mut Ahead, number: usize| {
            let mut names = Vec::new();
            ahead.turn_to(&system.formulas, system.properties[number].formula, |part| {
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
        // Asked again: nothing is ahead of it that was not there.
        assert_eq!(dropped(&mut ahead, 1), ["AG(q)", "q"]);
        assert_eq!(dropped(&mut ahead, 0), [""; 0]);
    }

    #[test]
    fn what_is_put_off_is_kept() {
        let system = system();
        let mut ahead = Ahead::new(&system);
        let formula = |number: usize| system.properties[number].formula;
        let mut is_dropped = |next: usize| {
            let mut is_dropped = false;
            ahead.turn_to(&system.formulas, formula(next), |part| is_dropped |= part == formula(0));
            ahead.put_off();
            is_dropped
        };
        // `AG p` is stopped and asked again later: nothing of it is dropped meanwhile.
        assert!(!is_dropped(0) && !is_dropped(2) && !is_dropped(0));
        ahead.turn_to(&system.formulas, formula(0), |_| {});
        let mut dropped = Vec::new();
        ahead.turn_to(&system.formulas, formula(1), |part| dropped.push(part));
        assert!(dropped.contains(&formula(0)));
    }
}
