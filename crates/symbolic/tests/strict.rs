//! Strict readings on random systems: the formulas that express them agree with the definition, and
//! both engines make the same remarks, exactly where the definition requires one.

use masque_explicit::Explicit;
use masque_model::semantics::{Structure, Truth, domain, explore, holds_in, strict_truth_set, truth_set};
use masque_model::{At, FormulaId, Property, System, Vacuity};
use masque_symbolic::Symbolic;
use masque_testkit::{
    Deadlocks, Tally, compare_remarks, differential, encode, random_fair_game_model, random_game_model,
    random_model, random_path_model, seeds,
};
use masque_verdict::Show;

/// Maximum number of states of a compared system, because the definition is slow.
const MAX_STATES: usize = 100;

/// For long tests: `SEEDS=FROM..TO cargo test --release -p masque-symbolic --test all strict`.
#[test]
fn strict_readings() {
    let generators = [random_model, random_game_model, random_fair_game_model, random_path_model];
    let deadlocks = Deadlocks::StutterEvery(5);
    let tally = differential(&generators, seeds("0..250"), deadlocks, |mut system, _, tally| {
        system.add_strict_readings();
        compare(&system, tally)
    });
    tally.assert_at_least(&[("properties", 2500), ("sets", 1500)]);
    tally.assert_at_least(&[("NothingGreen", 5), ("PathsEnd", 10), ("NoFairPath", 10)]);
}

/// Returns what is wrong with the strict readings of some property, if anything is.
///
/// Counts properties, readings compared state by state (`sets`), and, by kind of vacuity, properties that
/// hold but fail in their strict reading.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let mut explicit = encode(&Explicit { evidence: Show::None, jobs: None }, system)?;
    let mut symbolic = encode(&Symbolic { evidence: Show::None, ..Symbolic::default() }, system)?;
    for property in &system.properties {
        tally.count("properties");
        let text = system.formula_text(property.formula);
        let mut expected = Some(Vec::new());
        if let Some(reading) = system.readings.of(property.formula) {
            let respects: Vec<Vacuity> = reading.by.iter().map(|(vacuity, _)| *vacuity).collect();
            for &(vacuity, strict) in &reading.by {
                let fails = compare_sets(&structure, system, property, &[vacuity], strict)
                    .map_err(|error| format!("{text}, {vacuity:?}: {error}"))?;
                match (fails, &mut expected) {
                    (None, _) => expected = None,
                    (Some(true), expected) => {
                        tally.count(format!("{vacuity:?}"));
                        expected.iter_mut().for_each(|expected| expected.push(vacuity));
                    }
                    (Some(false), _) => {}
                }
            }
            let fails =
                compare_sets(&structure, system, property, &respects, reading.all.ok_or("no reading")?)
                    .map_err(|error| format!("{text}, all: {error}"))?;
            tally.add("sets", reading.by.len() + 1);
            // A remark is made iff the property fails when it is read strictly in every respect.
            let is_remarkable = fails.zip(expected.as_ref());
            if holds_in(&structure, system, property) == Truth::Holds
                && let Some((fails, alone)) = is_remarkable
            {
                let found = compare_remarks(system, property, &mut *symbolic, &mut *explicit)?;
                let n_expected = if alone.is_empty() { usize::from(fails) } else { alone.len() };
                if found.len() != n_expected {
                    return Err(format!("{text}: {n_expected} remarks are expected, not {found:?}"));
                }
            }
        } else if holds_in(&structure, system, property) == Truth::Holds {
            let found = compare_remarks(system, property, &mut *symbolic, &mut *explicit)?;
            if !found.is_empty() {
                return Err(format!("{text}: no remark is expected, not {found:?}"));
            }
        }
    }
    Ok(())
}

/// Compares a strict reading with its definition at every state. Returns whether the property holds and its
/// strict reading fails, or `None` if the definition has no truth sets.
fn compare_sets(
    structure: &Structure,
    system: &System,
    property: &Property,
    respects: &[Vacuity],
    strict: FormulaId,
) -> Result<Option<bool>, String> {
    let expected = strict_truth_set(structure, system, property.formula, respects);
    let found = truth_set(structure, system, strict);
    let (Some(expected), Some(found), Some(domain)) = (expected, found, domain(structure, system)) else {
        return Ok(None);
    };
    if expected != found {
        return Err(format!("{found:?}, should be {expected:?}"));
    }
    let is_asked = |state: usize| domain[state] && (property.at == At::Reachable || structure.initial[state]);
    let fails = (0..expected.len()).any(|state| is_asked(state) && !expected[state]);
    Ok(Some(fails && holds_in(structure, system, property) == Truth::Holds))
}
