//! Partitioned checking against sequential checking, which other tests compare with the truth definition:
//! facts, outcomes with their evidence, extents and vacuity do not depend on the strategy, the number of
//! workers, the number of parts or the store.

use std::ops::Range;

use masque_model::semantics::{explore, holds_in};
use masque_model::{ExprId, FormulaId, Protocol, System};
use masque_symbolic::{Order, Parallel, Reorder, SplitBy, SplitStrategy, Symbolic};
use masque_testkit::{
    Deadlocks, Generator, Tally, compare_facts, compare_outcomes, differential, encode, random_model,
    random_old_model, random_parameterised_model, seeds, system,
};
use masque_verdict::{Budget, Encoded, Engine, Show, Verdict, Why, outside_ctl};

const STRATEGIES: [SplitStrategy; 4] =
    [SplitStrategy::Simple, SplitStrategy::Merge, SplitStrategy::Full, SplitStrategy::Semi];

#[test]
fn random_models() {
    run(random_model, 0..1_500).assert_at_least(&[("split", 550), ("not split", 100)]);
}

#[test]
fn random_models_with_parameters() {
    run(random_parameterised_model, 0..1_500).assert_at_least(&[("split", 550), ("not split", 100)]);
}

/// Splits by disjuncts of InitStates and by formulas, in both dialects, and compares with sequential
/// checking and with the truth definition:
/// `SEEDS=0..10000 cargo test --release -p masque-symbolic --test all parallel::disjuncts`.
#[test]
fn disjuncts_and_formulas() {
    for generator in [random_model, random_old_model] as [Generator; 2] {
        let tally =
            differential(&[generator], seeds("0..700"), Deadlocks::StutterEvery(3), |system, seed, tally| {
                if !system.fairness.is_empty() {
                    return Ok(());
                }
                let conditions = conditions(&system);
                if conditions.is_empty() {
                    return Ok(());
                }
                let mut system = system;
                let mut engine = engine(seed);
                let chosen = |k: u64| conditions[((seed / 3 + 7 * k) % conditions.len() as u64) as usize];
                let chosen: Vec<ExprId> = (0..2 + seed % 5).map(chosen).collect();
                let parallel = engine.parallel.as_mut().ok_or("no options")?;
                if seed.is_multiple_of(2) {
                    // e and (e1 or .. or em), with an `em` that adds the remaining states of `e`.
                    let not_first = system.exprs.not(chosen[0]);
                    let disjuncts = system.exprs.or([&chosen[..], &[not_first]].concat());
                    let either = if seed.is_multiple_of(4) { system.exprs.or(chosen) } else { disjuncts };
                    system.initial = system.exprs.and(vec![system.initial, either]);
                } else {
                    let variables = system.variable_ids().take((seed % 3) as usize).collect();
                    parallel.split = SplitBy::Classes { formulas: chosen, variables };
                }
                compare(&engine, &system, tally)
                    .and_then(|()| compare_with_definition(&engine, &system, tally))
                    .map_err(|difference| format!("{engine:?}: {difference}"))
            });
        tally.assert_at_least(&[("split", 200), ("by formulas", 60), ("verdicts", 200)]);
    }
}

/// Returns the conditions of propositions and protocols, which are about states.
fn conditions(system: &System) -> Vec<ExprId> {
    let mut conditions: Vec<ExprId> = system.propositions.iter().map(|p| p.condition).collect();
    for agent in &system.agents {
        if let Protocol::Lines { lines, .. } = &agent.protocol {
            conditions.extend(lines.iter().map(|line| line.condition));
        }
    }
    conditions
}

/// Returns where partitioned checking differs from the truth definition, if it does.
fn compare_with_definition(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, 300).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let mut encoded = encode(engine, system)?;
    let notes = encoded.stats().notes;
    tally.add("by formulas", usize::from(notes.iter().any(|note| note.contains("formulas"))));
    tally.add("by disjuncts", usize::from(notes.iter().any(|note| note.contains("disjuncts"))));
    for property in system.properties.iter().filter(|p| engine.supports(system, p).is_ok()) {
        let verdict = encoded.decide(property, &Budget::unlimited()).verdict;
        let expected = Verdict::from(holds_in(&structure, system, property));
        if verdict != expected {
            return Err(format!(
                "{}: {verdict}, should be {expected}",
                system.formula_text(property.formula)
            ));
        }
        tally.count("verdicts");
    }
    Ok(())
}

/// A FALSE of one part ends the evaluation of the others: one worker with eight parts evaluates the formula
/// in one of them only if it is false there. The outcome is that of sequential checking.
#[test]
fn the_first_false_ends_the_check() {
    let system = ring(3);
    let budget = Budget::unlimited();
    let sequential = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let mut expected = sequential.encode(&system, &budget).unwrap();
    for (jobs, strategy) in [(1, SplitStrategy::Full), (3, SplitStrategy::Full), (3, SplitStrategy::Simple)] {
        let parallel = Parallel { parts: Some(8), ..Parallel::new(strategy, jobs) };
        let engine = Symbolic { parallel: Some(parallel), ..sequential.clone() };
        let mut encoded = engine.encode(&system, &budget).unwrap();
        let n_asked = |encoded: &dyn Encoded| {
            let figures = encoded.stats().figures;
            figures.into_iter().find(|(name, _)| name == "submodels asked").map(|(_, n)| n).unwrap()
        };
        let (mut n_holds, mut n_fails) = (0, 0);
        for property in &system.properties {
            let before = n_asked(&*encoded);
            let outcome = encoded.decide(property, &budget);
            assert_eq!(outcome, expected.decide(property, &budget));
            let n_asked = n_asked(&*encoded) - before;
            let n_submodels = if strategy == SplitStrategy::Full { 8 } else { 3 };
            if outcome.verdict == Verdict::Holds {
                n_holds += 1;
                assert_eq!(n_asked, n_submodels, "{strategy:?}");
            } else {
                n_fails += 1;
                assert!(n_asked <= n_submodels, "{strategy:?}");
                // `up` becomes true in every part in which agent 1 has a secret.
                assert!(jobs > 1 || n_asked < n_submodels, "{n_asked} of {n_submodels}");
            }
        }
        assert!(n_holds > 0 && n_fails > 0, "{n_holds} {n_fails}");
    }
}

fn run(generator: Generator, seeds: Range<u64>) -> Tally {
    differential(&[generator], seeds, Deadlocks::StutterEvery(3), |system, seed, tally| {
        // Systems with fairness are never split: a sixteenth of them is enough.
        if !system.fairness.is_empty() && seed % 16 > 0 {
            return Ok(());
        }
        let engine = engine(seed);
        compare(&engine, &system, tally).map_err(|difference| format!("{engine:?}: {difference}"))
    })
}

/// Returns an engine with options chosen by the seed; every combination occurs within a few hundred seeds.
fn engine(seed: u64) -> Symbolic {
    let strategy = STRATEGIES[(seed % 4) as usize];
    let jobs = match strategy {
        // One worker has only one part, so that is tried for one seed in eleven.
        SplitStrategy::Simple | SplitStrategy::Semi if !seed.is_multiple_of(11) => {
            [2, 3, 4][(seed / 4 % 3) as usize]
        }
        _ => [1, 2, 4][(seed / 4 % 3) as usize],
    };
    let parts = [None, Some(1), Some(2), Some(3), Some(4), Some(6), Some(8)][(seed / 12 % 7) as usize];
    let parallel = Parallel { parts, shared: (seed / 60).is_multiple_of(3), ..Parallel::new(strategy, jobs) };
    let order = if seed.is_multiple_of(7) { Order::Declared } else { Order::Automatic };
    let reorder = if seed.is_multiple_of(5) { Reorder::Eager } else { Reorder::Auto };
    Symbolic { order, reorder, evidence: Show::All, parallel: Some(parallel), jobs: 1 }
}

/// Returns where partitioned and sequential checking differ, if they do.
///
/// Counts systems that were checked in at least two parts (`split`) and systems that were `not split`,
/// which the statistics say.
fn compare(engine: &Symbolic, system: &System, tally: &mut Tally) -> Result<(), String> {
    let sequential = Symbolic { parallel: None, ..engine.clone() };
    let mut expected = encode(&sequential, system)?;
    let mut found = encode(engine, system)?;
    compare_facts(&mut *found, &mut *expected)?;
    let is_split = !found.stats().notes.iter().any(|note| note.starts_with("not split"));
    tally.count(if is_split { "split" } else { "not split" });
    for property in &system.properties {
        if engine.supports(system, property).is_err() {
            continue;
        }
        tally.count("formulas");
        let outcome = compare_outcomes(system, property, &mut *found, &mut *expected)?;
        tally.add("evidence", usize::from(outcome.evidence.is_some()));
        let truths = |encoded: &mut dyn Encoded| truths(encoded, system, property.formula);
        let (truths, should_be) = (truths(&mut *found), truths(&mut *expected));
        if truths != should_be {
            let text = system.formula_text(property.formula);
            return Err(format!("parts of {text}: {truths:?}, should be {should_be:?}"));
        }
    }
    Ok(())
}

/// Returns where a formula and its direct operands are true.
fn truths(encoded: &mut dyn Encoded, system: &System, formula: FormulaId) -> Vec<String> {
    let budget = Budget::unlimited();
    let mut operands = vec![formula];
    system.formulas.each_operand(formula, |operand| operands.push(operand));
    operands.retain(|&operand| outside_ctl(&system.formulas, operand).is_none());
    let truth = |f| format!("{:?} {:?}", encoded.is_true_somewhere(f, &budget), encoded.extent(f, &budget));
    operands.into_iter().map(truth).collect()
}

/// Returns a ring of `n` agents, each with a secret that never changes and a hand that every agent sees.
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
    system(&text)
}

/// Many short runs, because threads interleave differently in each: none deadlocks, and all give the same
/// facts and verdicts.
#[test]
fn repeated_runs_agree() {
    let system = ring(3);
    let budget = Budget::unlimited();
    let decide_all = |engine: &Symbolic| {
        let mut encoded = engine.encode(&system, &budget).unwrap();
        let facts = encoded.facts(&budget).unwrap();
        let decide = |property| encoded.decide(property, &budget).verdict;
        (facts, system.properties.iter().map(decide).collect::<Vec<_>>())
    };
    let expected = decide_all(&Symbolic::default());
    for run in 0..400 {
        let strategy = STRATEGIES[run % 4];
        let parallel = Parallel {
            parts: Some(2 + run % 7),
            shared: run % 8 >= 4,
            ..Parallel::new(strategy, 2 + run % 3)
        };
        let engine = Symbolic { parallel: Some(parallel), ..Symbolic::default() };
        assert_eq!(decide_all(&engine), expected, "run {run}, {engine:?}");
    }
}

/// An exhausted budget stops all workers; afterwards the same encoding answers with a larger budget.
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
            if strategy == SplitStrategy::Semi {
                // A single worker checks the property, and may finish before it reads the clock.
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

/// `SplitStrategy::Auto` does not split a system of few nodes, nor with one worker, nor in an order that may be
/// changed, and the statistics say so.
#[test]
fn auto_leaves_small_systems_whole() {
    let system = ring(3);
    for (reorder, jobs, note) in [
        (Reorder::Never, 2, "not split: small enough as a whole"),
        (Reorder::Never, 1, "not split: there is one worker"),
        (Reorder::Auto, 2, "not split: the order of the variables may be changed instead"),
    ] {
        let parallel = Some(Parallel::new(SplitStrategy::Auto, jobs));
        let engine = Symbolic { parallel, reorder, ..Symbolic::default() };
        let encoded = engine.encode(&system, &Budget::unlimited()).unwrap();
        assert_eq!(encoded.stats().notes, [note]);
    }
}
