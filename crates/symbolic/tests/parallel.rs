//! Partitioned checking against sequential checking, which the truth definition stands behind: facts,
//! outcomes with their evidence, extents and vacuity are the same, whatever the strategy, the workers,
//! the parts and the store.

use masque_model::{Deadlock, FormulaId, System};
use masque_symbolic::{Order, Parallel, Reorder, Strategy, Symbolic};
use masque_testkit::{load, random_model, random_parameterised_model, shrink};
use masque_verdict::{Budget, Encoded, Engine, Show, Why, outside_ctl};

const STRATEGIES: [Strategy; 4] = [Strategy::Simple, Strategy::Merge, Strategy::Full, Strategy::Semi];

#[test]
fn random_models() {
    let tally = run(random_model, 0..1_500);
    assert!(tally.split >= 550 && tally.fallen_back >= 100, "{tally:?}");
}

#[test]
fn random_models_with_parameters() {
    let tally = run(random_parameterised_model, 0..1_500);
    assert!(tally.split >= 550 && tally.fallen_back >= 100, "{tally:?}");
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    systems: usize,
    /// Systems that were checked in at least two parts.
    split: usize,
    /// Systems that were not, and the statistics say so.
    fallen_back: usize,
    formulas: usize,
    pieces: usize,
}

fn run(model: fn(u64) -> String, seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system = load(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        // With fairness nothing is split: a few will do.
        if !system.fairness.is_empty() && seed % 16 > 0 {
            continue;
        }
        let engine = engine(seed);
        let Err(difference) = compare(&engine, &system, &mut tally) else { continue };
        let small = shrink(&text, |text| {
            load(text, deadlock).is_some_and(|s| compare(&engine, &s, &mut Tally::default()).is_err())
        });
        panic!("seed {seed}, {engine:?}, deadlock {deadlock:?}: {difference}\n{small}");
    }
    println!("{tally:?}");
    tally
}

/// Every combination comes up within a few hundred seeds.
fn engine(seed: u64) -> Symbolic {
    let strategy = STRATEGIES[(seed % 4) as usize];
    let jobs = match strategy {
        // One worker would have one part, but for once in a while.
        Strategy::Simple | Strategy::Semi if !seed.is_multiple_of(11) => [2, 3, 4][(seed / 4 % 3) as usize],
        _ => [1, 2, 4][(seed / 4 % 3) as usize],
    };
    let parts = [None, Some(1), Some(2), Some(3), Some(4), Some(6), Some(8)][(seed / 12 % 7) as usize];
    let parallel = Parallel { parts, shared: (seed / 60).is_multiple_of(3), ..Parallel::new(strategy, jobs) };
    let order = if seed.is_multiple_of(7) { Order::Declared } else { Order::Automatic };
    let reorder = if seed.is_multiple_of(5) { Reorder::Eager } else { Reorder::Auto };
    Symbolic { order, reorder, evidence: Show::All, parallel: Some(parallel), jobs: 1 }
}

/// Says where partitioned and sequential checking differ, if they do.
fn compare(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let budget = Budget::unlimited();
    let sequential = Symbolic { parallel: None, ..engine.clone() };
    let mut expected = sequential.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut found = engine.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let expected_facts = expected.facts(&budget);
    let facts = found.facts(&budget);
    if facts != expected_facts {
        return Err(format!("facts: {facts:?}, should be {expected_facts:?}"));
    }
    tally.systems += 1;
    let stats = found.stats();
    let is_split = !stats.notes.iter().any(|note| note.starts_with("not split"));
    tally.split += usize::from(is_split);
    tally.fallen_back += usize::from(!is_split);
    for property in &system.properties {
        if engine.supports(system, property).is_err() {
            continue;
        }
        tally.formulas += 1;
        let text = system.formula_text(property.formula);
        let (outcome, should_be) = (found.decide(property, &budget), expected.decide(property, &budget));
        if outcome != should_be {
            return Err(format!("{text}: {outcome:?}, should be {should_be:?}"));
        }
        tally.pieces += usize::from(outcome.evidence.is_some());
        let truths = |encoded: &mut dyn Encoded| truths(encoded, system, property.formula);
        let (truths, should_be) = (truths(&mut *found), truths(&mut *expected));
        if truths != should_be {
            return Err(format!("parts of {text}: {truths:?}, should be {should_be:?}"));
        }
    }
    Ok(())
}

/// Where the parts of a formula are true.
fn truths(encoded: &mut dyn Encoded, system: &System, formula: FormulaId) -> Vec<String> {
    let budget = Budget::unlimited();
    let mut operands = vec![formula];
    system.formulas.each_operand(formula, |operand| operands.push(operand));
    operands.retain(|&operand| outside_ctl(&system.formulas, operand).is_none());
    let truth = |f| format!("{:?} {:?}", encoded.is_true_somewhere(f, &budget), encoded.extent(f, &budget));
    operands.into_iter().map(truth).collect()
}

/// A ring of agents, each with a secret that nobody changes and a hand that everybody sees.
fn ring(n: usize) -> System {
    let mut text = String::from("Semantics = SingleAssignment;\n");
    for i in 1..=n {
        let next = i % n + 1;
        text += &format!(
            "Agent A{i} Vars: secret : boolean; hand : boolean; end Vars
             Actions = {{raise, rest}};
             Protocol: secret = true : {{raise, rest}}; Other : {{rest}}; end Protocol
             Evolution: hand = true if Action = raise and A{next}.Action = rest; end Evolution
             end Agent\n"
        );
    }
    let all = |f: &dyn Fn(usize) -> String| (1..=n).map(f).collect::<Vec<_>>();
    let hands = all(&|i| format!("A{i}.hand = false")).join(" and ");
    let agents = all(&|i| format!("A{i}")).join(", ");
    let knows = all(&|i| format!("AG(up -> K(A{i}, up))")).join("; ");
    text += &format!(
        "Evaluation up if A1.hand = true; own if A1.secret = true; end Evaluation
         InitStates {hands}; end InitStates
         Groups g = {{{agents}}}; end Groups
         Formulae {knows}; AG(up -> K(A1, own)); AG(GCK(g, own) -> up); EF DK(g, own); end Formulae"
    );
    load(&text, Deadlock::Finite).unwrap_or_else(|| panic!("not valid:\n{text}"))
}

/// Many short runs: whatever the threads' timing, nobody waits for ever and all answers are the same.
#[test]
fn stress() {
    let system = ring(3);
    let budget = Budget::unlimited();
    let answers = |engine: &Symbolic| {
        let mut encoded = engine.encode(&system, &budget).unwrap();
        let facts = encoded.facts(&budget).unwrap();
        let decide = |property| encoded.decide(property, &budget).verdict;
        (facts, system.properties.iter().map(decide).collect::<Vec<_>>())
    };
    let expected = answers(&Symbolic::default());
    for run in 0..400 {
        let strategy = STRATEGIES[run % 4];
        let parallel = Parallel {
            parts: Some(2 + run % 7),
            shared: run % 8 >= 4,
            ..Parallel::new(strategy, 2 + run % 3)
        };
        let engine = Symbolic { parallel: Some(parallel), ..Symbolic::default() };
        assert_eq!(answers(&engine), expected, "run {run}, {engine:?}");
    }
}

/// A budget that is at its end stops all workers, and a larger one lets them go on.
#[test]
fn limits_end_all_workers() {
    let system = ring(4);
    for (strategy, shared) in STRATEGIES.into_iter().flat_map(|s| [(s, false), (s, true)]) {
        let parallel = Parallel { shared, ..Parallel::new(strategy, 3) };
        let engine = Symbolic { parallel: Some(parallel), ..Symbolic::default() };
        let cancelled = Budget::unlimited();
        cancelled.cancel();
        let expired = Budget::unlimited().with_timeout(std::time::Duration::ZERO);
        for (budget, why) in [(cancelled, Why::Interrupted), (expired, Why::Timeout)] {
            let stop = engine.encode(&system, &budget).map(|_| ()).map_err(|stop| stop.why);
            assert_eq!(stop, Err(why), "{strategy:?}");
            if strategy == Strategy::Semi {
                // One worker checks, and may be done before it looks at the clock.
                continue;
            }
            let mut encoded = engine.encode(&system, &Budget::unlimited()).unwrap();
            let property = &system.properties[0];
            let outcome = encoded.decide(property, &budget);
            assert_eq!(outcome.verdict.to_string(), format!("unknown({})", why.word()), "{strategy:?}");
            let outcome = encoded.decide(property, &Budget::unlimited());
            let expected = Symbolic::default().encode(&system, &Budget::unlimited()).unwrap();
            let expected = { expected }.decide(property, &Budget::unlimited());
            assert_eq!(outcome, expected, "{strategy:?}");
        }
    }
}

/// Auto leaves alone what is small, and says so.
#[test]
fn auto_leaves_small_systems_whole() {
    let system = ring(3);
    let engine = Symbolic { parallel: Some(Parallel::new(Strategy::Auto, 2)), ..Symbolic::default() };
    let encoded = engine.encode(&system, &Budget::unlimited()).unwrap();
    assert_eq!(encoded.stats().notes, ["not split: small enough as a whole"]);
}
