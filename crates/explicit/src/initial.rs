//! The initial states, by constraint propagation.
//!
//! InitStates is a condition on states, and there may be 10^20 states and few that satisfy it. So the
//! search works as a constraint solver: it keeps for each variable the codes still possible, bounds
//! every part of the condition bottom-up (`bounds`), propagates what must be true down to the variables
//! (`narrow`), and when that settles nothing more, branches on a variable that matters. Once the
//! condition is true for all remaining choices, all of these are initial states, and are
//! enumerated as a product. On `dc 14 sum` that is 15 leaves for 245 760 states.

use masque_model::{Expr, ExprId, System, VarId};
use masque_verdict::{Budget, Stop};

use crate::bounds::{self, Bounds, parts};
use crate::domains::{self, Codes};
use crate::exact::Exact;
use crate::layout::Layout;
use crate::narrow::{Conflict, Narrower};

/// Calls `found` for each initial state, packed, each once.
///
/// ```text
/// I = {g | g(v) in the domain of v for all v, g ⊨ InitStates}
/// ```
pub(crate) fn each_initial_state(
    system: &System,
    layout: &Layout,
    budget: &Budget,
    mut found: impl FnMut(&[u64]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut search = InitialSearch::new(system);
    let everything: Vec<Codes> = system.variables.iter().map(|v| Codes::all(&v.domain)).collect();
    let mut open = vec![everything];
    let mut n_steps = 0_u32;
    while let Some(mut domains) = open.pop() {
        n_steps = n_steps.wrapping_add(1);
        if n_steps.is_multiple_of(16) {
            budget.check()?;
        }
        match search.settle(layout, &mut domains) {
            Settled::Never => {}
            Settled::Always => each_choice(layout, &domains, budget, &mut found)?,
            Settled::BranchOn(variable) => branch(variable, &domains, &mut open),
        }
        // Conjuncts that are settled before the first branch stay settled.
        if n_steps == 1 {
            search.keep_unsettled();
        }
    }
    Ok(())
}

/// Pushes one copy of the domains for each value of the variable, or for each half of them.
fn branch(variable: VarId, domains: &[Codes], open: &mut Vec<Vec<Codes>>) {
    let codes = domains[variable.index()];
    let mut push = |part: Codes| {
        let mut narrower = domains.to_vec();
        narrower[variable.index()] = part;
        open.push(narrower);
    };
    if codes.count() > 64 {
        let (low, high) = codes.halves();
        push(high);
        push(low);
        return;
    }
    let mut parts: Vec<Codes> = std::iter::successors(Some(codes.first()), |&c| codes.after(c))
        .filter_map(|code| codes.within(code, code))
        .collect();
    while let Some(part) = parts.pop() {
        push(part);
    }
}

/// Calls `found` for each way to pick a code from every domain.
fn each_choice(
    layout: &Layout,
    domains: &[Codes],
    budget: &Budget,
    found: &mut impl FnMut(&[u64]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let mut row = vec![0; layout.n_words];
    let mut free = Vec::new();
    for (variable, codes) in (0..).map(VarId).zip(domains) {
        layout.variable(variable).set(&mut row, codes.first());
        if codes.only().is_none() {
            free.push((layout.variable(variable), *codes));
        }
    }
    let mut n_found = 0_u32;
    loop {
        n_found = n_found.wrapping_add(1);
        if n_found.is_multiple_of(4096) {
            budget.check()?;
        }
        found(&row)?;
        // Count up, the last variable fastest.
        let mut index = free.len();
        loop {
            let Some(previous) = index.checked_sub(1) else { return Ok(()) };
            index = previous;
            let (field, codes) = free[index];
            match codes.after(field.get(&row)) {
                Some(code) => {
                    field.set(&mut row, code);
                    break;
                }
                None => field.set(&mut row, codes.first()),
            }
        }
    }
}

/// Truth of the condition, given the domains.
enum Settled {
    /// True for all choices.
    Always,
    /// False for all choices.
    Never,
    /// It depends on this variable, and perhaps others.
    BranchOn(VarId),
}

/// A candidate for branching; the least is best. A condition on one variable is settled by branching
/// on it, while two variables that only bound each other may shrink in very many steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct BranchCandidate {
    /// Number of variables that keep its conjunct open.
    n_open: usize,
    n_codes: u128,
    variable: VarId,
}

struct InitialSearch<'s> {
    system: &'s System,
    /// The conjuncts not yet known to be true.
    conjuncts: Vec<ExprId>,
    /// All their parts, operands before users.
    parts: Vec<ExprId>,
    /// Bounds by expression; those of `parts` are current.
    bounds: Vec<Bounds>,
}

/// Maximum number of rounds of narrowing before branching: narrowing may remove one value per round from
/// a large domain.
const MAX_ROUNDS: usize = 32;

impl<'s> InitialSearch<'s> {
    fn new(system: &'s System) -> InitialSearch<'s> {
        let conjuncts = match system.exprs.get(system.initial) {
            Expr::And(list) => list.to_vec(),
            _ => vec![system.initial],
        };
        let parts = parts(&system.exprs, conjuncts.iter().copied());
        InitialSearch { system, conjuncts, parts, bounds: vec![Bounds::BOOLEAN; system.exprs.len()] }
    }

    /// Narrows the domains as far as the condition allows.
    fn settle(&mut self, layout: &Layout, domains: &mut [Codes]) -> Settled {
        for _ in 0..MAX_ROUNDS {
            self.evaluate(domains);
            let mut narrower =
                Narrower { system: self.system, layout, bounds: &self.bounds, domains, has_changed: false };
            for &conjunct in &self.conjuncts {
                if let Err(Conflict) = narrower.require(conjunct) {
                    return Settled::Never;
                }
            }
            if !narrower.has_changed {
                break;
            }
        }
        self.evaluate(domains);
        let mut choice: Option<BranchCandidate> = None;
        for &conjunct in &self.conjuncts {
            match self.bounds[conjunct.index()].as_truth() {
                Some(true) => continue,
                Some(false) => return Settled::Never,
                None => {}
            }
            match self.open_variable(conjunct, domains) {
                Some(open) => choice = choice.into_iter().chain([open]).min(),
                // All its variables have a single value, so any row with these values decides.
                None if self.is_true_exactly(conjunct, layout, domains) => {}
                None => return Settled::Never,
            }
        }
        choice.map_or(Settled::Always, |open| Settled::BranchOn(open.variable))
    }

    /// Drops the conjuncts that are true for all choices.
    fn keep_unsettled(&mut self) {
        let bounds = &self.bounds;
        self.conjuncts.retain(|conjunct| bounds[conjunct.index()].as_truth() != Some(true));
        self.parts = parts(&self.system.exprs, self.conjuncts.iter().copied());
    }

    fn evaluate(&mut self, domains: &[Codes]) {
        for &part in &self.parts {
            let known = &self.bounds;
            let variable = |v: VarId| domains::bounds(self.system, v, domains[v.index()]);
            let value = bounds::of_expr(self.system.exprs.get(part), variable, |e| known[e.index()]);
            let value = match value.as_truth() {
                None => self.by_membership(part, domains).unwrap_or(value),
                Some(_) => value,
            };
            self.bounds[part.index()] = value;
        }
    }

    /// Settles `v = c` and `v <> c` if `c` is no longer possible, because bounds are weak on enumerations.
    fn by_membership(&self, part: ExprId, domains: &[Codes]) -> Option<Bounds> {
        let exprs = &self.system.exprs;
        let Expr::Compare(relation, a, b) = exprs.get(part) else { return None };
        let (variable, constant) = match (exprs.get(a), exprs.get(b)) {
            (Expr::Variable(v), constant) | (constant, Expr::Variable(v)) => (v, constant),
            _ => return None,
        };
        let value = match constant {
            Expr::Symbol(s) => i64::from(s.0),
            Expr::Number(n) => n,
            Expr::Bool(b) => i64::from(b),
            _ => return None,
        };
        let code = self.system.variable(variable).domain.code(value);
        if code.is_some_and(|code| domains[variable.index()].contains(code)) {
            return None;
        }
        match relation {
            masque_model::Relation::Equal => Some(Bounds::exactly(0)),
            masque_model::Relation::Unequal => Some(Bounds::exactly(1)),
            _ => None,
        }
    }

    /// Returns the variable with the fewest codes among those that keep an expression open.
    fn open_variable(&self, root: ExprId, domains: &[Codes]) -> Option<BranchCandidate> {
        let exprs = &self.system.exprs;
        let mut stack = vec![root];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut n_open = 0;
        let mut narrowest: Option<(u128, VarId)> = None;
        while let Some(expr) = stack.pop() {
            if let Expr::Variable(v) = exprs.get(expr) {
                let codes = domains[v.index()];
                if codes.only().is_none() {
                    n_open += 1;
                    narrowest = narrowest.into_iter().chain([(codes.count(), v)]).min();
                }
                continue;
            }
            exprs.each_operand(expr, |operand| {
                let bounds = self.bounds[operand.index()];
                let is_settled = bounds.lo == bounds.hi && bounds.is_whole && bounds.is_defined;
                if !is_settled && seen.insert(operand) {
                    stack.push(operand);
                }
            });
        }
        narrowest.map(|(n_codes, variable)| BranchCandidate { n_open, n_codes, variable })
    }

    fn is_true_exactly(&self, conjunct: ExprId, layout: &Layout, domains: &[Codes]) -> bool {
        let mut row = vec![0; layout.n_row_words];
        for (variable, codes) in (0..).map(VarId).zip(domains) {
            layout.variable(variable).set(&mut row, codes.first());
        }
        Exact::new(self.system, conjunct).is_true(layout, &row)
    }
}
