//! Strict readings on random systems: the formulas that express them mean what the definition says, and
//! both engines make the same remarks, exactly where the definition asks for one.

use std::collections::BTreeMap;

use masque_explicit::Explicit;
use masque_model::semantics::{Structure, Truth, domain, explore, holds_in, strict_truth_set, truth_set};
use masque_model::{At, Deadlock, Property, System, Vacuity};
use masque_symbolic::Symbolic;
use masque_testkit::{
    load, random_fair_game_model, random_game_model, random_model, random_path_model, shrink,
};
use masque_verdict::{Budget, Encoded, Engine, Show, remarks};

/// Systems with more states are passed over: the definition is slow.
const MAX_STATES: usize = 100;

/// `SEEDS=FROM..TO cargo test --release -p masque-symbolic --test strict` asks for more.
#[test]
fn strict_readings() {
    let seeds = std::env::var("SEEDS").unwrap_or("0..150".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    let mut tally = Tally::default();
    for seed in from.parse::<u64>().expect("a number")..to.parse().expect("a number") {
        for model in [random_model, random_game_model, random_fair_game_model, random_path_model] {
            check(&model(seed), if seed % 5 == 0 { Deadlock::Stutter } else { Deadlock::Finite }, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.properties >= 2500 && tally.sets >= 1500, "{tally:?}");
    for kind in ["NothingGreen", "PathsEnd", "NoFairPath"] {
        assert!(tally.remarks.get(kind).is_some_and(|&n| n >= 10), "{kind}: {tally:?}");
    }
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    properties: usize,
    /// Readings compared state by state.
    sets: usize,
    /// Properties that hold, but not when they are read strictly in this respect.
    remarks: BTreeMap<String, usize>,
}

fn check(text: &str, deadlock: Deadlock, tally: &mut Tally) {
    let system = read(text, deadlock).unwrap_or_else(|| panic!("not valid:\n{text}"));
    let Err(difference) = compare(&system, tally) else { return };
    let differs = |text: &str| read(text, deadlock).and_then(|s| compare(&s, &mut Tally::default()).err());
    let small = shrink(text, |text| differs(text).is_some());
    let difference = differs(&small).unwrap_or(difference);
    panic!("deadlock {deadlock:?}: {difference}\n{small}");
}

fn read(text: &str, deadlock: Deadlock) -> Option<System> {
    let mut system = load(text, deadlock)?;
    system.add_strict_readings();
    Some(system)
}

/// Says what is wrong with the strict readings of some property, if anything is.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let budget = Budget::unlimited();
    let explicit = Explicit { evidence: Show::None, jobs: None };
    let symbolic = Symbolic { evidence: Show::None, ..Symbolic::default() };
    let mut explicit = explicit.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut symbolic = symbolic.encode(system, &budget).map_err(|stop| stop.to_string())?;
    for property in &system.properties {
        tally.properties += 1;
        let text = system.formula_text(property.formula);
        let mut expected = Some(Vec::new());
        if let Some(reading) = system.readings.of(property.formula) {
            let respects: Vec<Vacuity> = reading.by.iter().map(|(vacuity, _)| *vacuity).collect();
            for &(vacuity, strict) in &reading.by {
                let fails = compare_sets(&structure, system, property, (&[vacuity], strict))
                    .map_err(|error| format!("{text}, {vacuity:?}: {error}"))?;
                if tally_failure(tally, vacuity, fails) {
                    expected.iter_mut().for_each(|expected| expected.push(vacuity));
                }
                if fails.is_none() {
                    expected = None;
                }
            }
            let fails =
                compare_sets(&structure, system, property, (&respects, reading.all.ok_or("no reading")?))
                    .map_err(|error| format!("{text}, all: {error}"))?;
            tally.sets += reading.by.len() + 1;
            // A remark is made iff the property fails when it is read strictly in every respect.
            let is_remarkable = fails.zip(expected.as_ref());
            if holds_in(&structure, system, property) == Truth::Holds
                && let Some((fails, alone)) = is_remarkable
            {
                let found = both(system, property, [&mut *explicit, &mut *symbolic])?;
                let n_expected = if alone.is_empty() { usize::from(fails) } else { alone.len() };
                if found.len() != n_expected {
                    return Err(format!("{text}: {n_expected} remarks are expected, not {found:?}"));
                }
            }
        } else if holds_in(&structure, system, property) == Truth::Holds {
            let found = both(system, property, [&mut *explicit, &mut *symbolic])?;
            if !found.is_empty() {
                return Err(format!("{text}: no remark is expected, not {found:?}"));
            }
        }
    }
    Ok(())
}

fn tally_failure(tally: &mut Tally, vacuity: Vacuity, fails: Option<bool>) -> bool {
    let fails = fails == Some(true);
    *tally.remarks.entry(format!("{vacuity:?}")).or_default() += usize::from(fails);
    fails
}

/// The remarks of two engines, which must be the same.
fn both(system: &System, property: &Property, engines: [&mut dyn Encoded; 2]) -> Result<Vec<String>, String> {
    let [one, other] = engines.map(|encoded| {
        remarks(encoded, system, property, &Budget::unlimited()).map_err(|stop| stop.to_string())
    });
    let (one, other) = (one?, other?);
    if one != other {
        return Err(format!("{}: {one:?}, but {other:?}", system.formula_text(property.formula)));
    }
    Ok(one)
}

/// Compares a reading with its definition at every state; says whether the property holds and the
/// reading does not, or nothing if the definition cannot tell.
fn compare_sets(
    structure: &Structure,
    system: &System,
    property: &Property,
    (respects, strict): (&[Vacuity], masque_model::FormulaId),
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
