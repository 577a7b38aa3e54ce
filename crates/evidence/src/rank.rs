//! How much of a claim evidence can show, by the form of its formula alone.

use masque_model::{Formula, FormulaId, Strategies, System};
use masque_verdict::Literal;
use masque_verdict::claims::{
    CoalitionGoal, KnowledgeScope, Needs, PathGoal, local_formulas, path_of, state_parts, why_not_shown,
};

/// How much of a claim can be shown, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The claim is local: the state itself shows it.
    Here,
    /// All of the claim.
    Whole,
    /// Some of the claim.
    Part,
    /// Nothing: the claim is about all paths, or about all states of some kind.
    Nothing,
}

impl Rank {
    /// The rank of a claim that is not local.
    fn new(can_be_shown: bool, is_whole: bool) -> Rank {
        match (can_be_shown, is_whole) {
            (false, _) => Rank::Nothing,
            (true, true) => Rank::Whole,
            (true, false) => Rank::Part,
        }
    }
}

/// The rank of each part of a formula, for the claim that it is false (index 0) and that it is true.
pub(crate) struct Ranks(Vec<[Rank; 2]>);

impl Ranks {
    /// Computes the ranks of all parts of `root`, operands first. Other formulas get [`Rank::Nothing`].
    pub(crate) fn new(system: &System, root: FormulaId) -> Ranks {
        let formulas = &system.formulas;
        // Users have larger ids than operands, so one pass from the top reaches all of the formula.
        let mut is_part = vec![false; root.index() + 1];
        is_part[root.index()] = true;
        for id in formulas.ids().rev().filter(|id| *id <= root) {
            if is_part[id.index()] {
                formulas.each_operand(id, |operand| is_part[operand.index()] = true);
            }
        }
        let is_local = local_formulas(formulas);
        let mut ranks = Ranks(vec![[Rank::Nothing; 2]; root.index() + 1]);
        for formula in formulas.ids().filter(|id| *id <= root && is_part[id.index()]) {
            ranks.0[formula.index()] = if is_local[formula.index()] {
                [Rank::Here; 2]
            } else {
                [false, true].map(|holds| ranks.by_form(system, Literal { formula, holds }))
            };
        }
        ranks
    }

    /// The rank of a claim.
    pub(crate) fn of(&self, literal: Literal) -> Rank {
        self.0[literal.formula.index()][usize::from(literal.holds)]
    }

    /// Whether a formula is local.
    pub(crate) fn is_local(&self, formula: FormulaId) -> bool {
        self.0[formula.index()][0] == Rank::Here
    }

    fn by_form(&self, system: &System, literal: Literal) -> Rank {
        let Literal { formula, holds } = literal;
        match Needs::of(&system.formulas, literal) {
            Some(Needs::All(list) | Needs::One(list)) => return self.of_several(&list),
            Some(Needs::Same(f, g, _)) => {
                let literals = [f, g].map(|formula| [false, true].map(|holds| Literal { formula, holds }));
                return self.of_several(literals.as_flattened());
            }
            None => {}
        }
        if let Some(goal) = PathGoal::of(&system.formulas, formula) {
            let is_whole = goal.literals().all(|literal| self.of(literal) <= Rank::Whole);
            return Rank::new(goal.holds == holds, is_whole);
        }
        if let Some((path, truth)) = path_of(&system.formulas, formula) {
            let parts = state_parts(&system.formulas, path);
            let mut literals = parts.iter().flat_map(|&part| [false, true].map(|holds| (part, holds)));
            let is_whole =
                literals.all(|(formula, holds)| self.of(Literal { formula, holds }) <= Rank::Whole);
            return Rank::new(truth == holds, is_whole);
        }
        if let Some(goal) = CoalitionGoal::of(system, formula) {
            let mut literals = goal.before.iter().chain(goal.end.iter().flatten());
            let needed = |literal: &Literal| if holds { *literal } else { literal.negated() };
            let is_whole = literals.all(|literal| self.of(needed(literal)) <= Rank::Whole);
            // That no uniform strategy wins is shown only if no strategy at all does.
            let is_sure = holds || goal.strategies == Strategies::Perfect;
            return Rank::new(why_not_shown(system, literal).is_none(), is_whole && is_sure);
        }
        match system.formulas.get(formula) {
            Formula::ExistsStep(_, operand) | Formula::ForallStep(_, operand) => {
                let is_whole = self.of(Literal { formula: operand, holds }) <= Rank::Whole;
                return Rank::new(why_not_shown(system, literal).is_none(), is_whole);
            }
            // How much of its closed parts can be shown is known only when it is unfolded.
            Formula::Least(..) | Formula::Greatest(..) => {
                return Rank::new(why_not_shown(system, literal).is_none(), false);
            }
            _ => {}
        }
        match KnowledgeScope::of(system, formula) {
            Some((_, operand)) if !holds => {
                let is_whole = self.of(Literal { formula: operand, holds: false }) <= Rank::Whole;
                Rank::new(true, is_whole)
            }
            _ => Rank::Nothing,
        }
    }

    fn of_several(&self, literals: &[Literal]) -> Rank {
        let ranks = || literals.iter().map(|&literal| self.of(literal)).filter(|rank| *rank != Rank::Here);
        match (ranks().all(|rank| rank == Rank::Whole), ranks().all(|rank| rank == Rank::Nothing)) {
            (true, _) => Rank::Whole,
            (_, true) => Rank::Nothing,
            _ => Rank::Part,
        }
    }
}
