//! Evaluates path formulas on infinite paths with a loop.

use std::collections::{BTreeSet, HashMap};

use masque_model::{Formula, FormulaId, Formulas};

/// Evaluates a path formula on the path through positions `0..n` that continues at `back_to`, given the
/// truth of its state formulas by position.
///
/// Operands are evaluated first. The values of an operator solve its equation: `U` is iterated from all
/// false, `R` from all true. Two backward passes over the positions are enough.
pub(crate) fn truth_on_run(
    formulas: &Formulas,
    path: FormulaId,
    n: usize,
    back_to: usize,
    state_truth: &HashMap<(FormulaId, usize), bool>,
) -> Option<bool> {
    let is_path = formulas.path_formulas();
    let mut wanted = BTreeSet::new();
    formulas.each_part(path, |part| {
        wanted.insert(part);
        is_path[part.index()]
    });
    let next = |i: usize| if i + 1 < n { i + 1 } else { back_to };
    let mut known: HashMap<FormulaId, Vec<bool>> = HashMap::new();
    for id in wanted {
        let rest = |start: bool, step: &dyn Fn(usize, bool) -> bool| {
            let mut values = vec![start; n];
            for i in (0..n).rev().chain((0..n).rev()) {
                values[i] = step(i, values[next(i)]);
            }
            values
        };
        let values = match formulas.get(id) {
            Formula::Bool(value) => vec![value; n],
            _ if !is_path[id.index()] => {
                (0..n).map(|i| state_truth.get(&(id, i)).copied()).collect::<Option<Vec<bool>>>()?
            }
            Formula::Not(f) => known[&f].iter().map(|v| !v).collect(),
            Formula::And(list) => (0..n).map(|i| list.iter().all(|f| known[f][i])).collect(),
            Formula::Or(list) => (0..n).map(|i| list.iter().any(|f| known[f][i])).collect(),
            Formula::Implies(f, g) => (0..n).map(|i| !known[&f][i] || known[&g][i]).collect(),
            Formula::Iff(f, g) => (0..n).map(|i| known[&f][i] == known[&g][i]).collect(),
            Formula::Next(f) => (0..n).map(|i| known[&f][next(i)]).collect(),
            Formula::Finally(f) => rest(false, &|i, later| known[&f][i] || later),
            Formula::Globally(f) => rest(true, &|i, later| known[&f][i] && later),
            Formula::Until(f, g) => rest(false, &|i, later| known[&g][i] || known[&f][i] && later),
            Formula::WeakUntil(f, g) => rest(true, &|i, later| known[&g][i] || known[&f][i] && later),
            Formula::Release(f, g) => rest(true, &|i, later| known[&g][i] && (known[&f][i] || later)),
            _ => return None,
        };
        known.insert(id, values);
    }
    known[&path].first().copied()
}
