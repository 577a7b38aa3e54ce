//! Invariants of every system: totality, Condition 2 as enumerated in the paper, round trips of formulas
//! through text, and true explanations.

use crate::support::nnf::nnf;
use crate::support::random;
use masque_bdi::explanation::{Explanation, Shape};
use masque_bdi::model::{Condition2, Model, Question, VarId};
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::{Reference, State};
use masque_bdi::symbolic::Engine;
use masque_bdi::tree::{self, Tree};
use masque_bdi::{check, formula_text, parse, parse_property};
use masque_text::Sources;
use masque_verdict::Budget;

/// Runs a check on the random systems that have a model.
fn on_systems(seeds: std::ops::Range<u64>, mut check: impl FnMut(&Model, &Plan, &mut Reference<'_>, &str)) {
    for seed in seeds {
        let (text, options) = random::system(seed);
        let read = crate::support::read(&text, &options);
        let Some((model, plan)) = &read.model else { continue };
        let Ok(mut reference) = Reference::new(model, plan) else { continue };
        check(model, plan, &mut reference, &format!("seed {seed}, options {options:?}\n{text}"));
    }
}

#[test]
fn worlds_are_total_and_their_numbers_add_up() {
    let mut n_kept = 0;
    on_systems(10_000..10_500, |_, plan, reference, what| {
        for index in 0..plan.worlds.len() {
            let world = reference.world(WorldId(index as u32)).clone();
            let n_states = world.states.len();
            for s in (0..n_states).filter(|&s| world.kept[s]) {
                assert!(world.next[s].iter().any(|&t| world.kept[t]), "{what}");
                assert!(!world.bad[s] && !world.dead[s], "{what}");
                n_kept += 1;
            }
            assert!((0..n_states).all(|s| !world.next[s].is_empty()), "{what}");
            let result = reference.world_result(WorldId(index as u32));
            let parts = [&result.bad, &result.dead, &result.unreachable, &result.kept];
            let sum: u64 = parts.iter().map(|part| part.to_u64().unwrap()).sum();
            assert_eq!(result.built.to_u64(), Some(sum), "{what}");
        }
    });
    assert!(n_kept > 5_000);
}

/// `BadStates` of the paper, read with membership where it prints inclusion: enumerates all sets of
/// attitudes, finds those that imply another attitude, and removes the states with exactly such a set.
#[test]
fn incoherent_states_are_those_of_the_power_set() {
    let (mut n_sets, mut n_bad) = (0, 0);
    on_systems(20_000..20_600, |model, plan, reference, what| {
        if model.options.condition2 == Condition2::Infer || model.options.consistency {
            return;
        }
        for (index, planned) in plan.worlds.iter().enumerate().filter(|(_, world)| !world.is_leaf) {
            let id = WorldId(index as u32);
            let world = reference.world(id).clone();
            let mut bad = vec![false; world.states.len()];
            for (edge, vars) in model.edges(planned.program) {
                let child = planned.children[&edge];
                let args: Vec<Vec<bool>> =
                    vars.iter().map(|v| reference.sat(child, model.var(*v).attitude.unwrap().arg)).collect();
                let kept = reference.world(child).kept.clone();
                for (j, _) in vars.iter().enumerate() {
                    for subset in (0..1u32 << vars.len()).filter(|subset| subset >> j & 1 == 0) {
                        n_sets += 1;
                        let of_all = |t: usize| (0..vars.len()).all(|k| subset >> k & 1 == 0 || args[k][t]);
                        let implies = (0..kept.len()).all(|t| !(kept[t] && of_all(t)) || args[j][t]);
                        if !implies {
                            continue;
                        }
                        for (s, state) in world.states.iter().enumerate() {
                            let has =
                                |k: usize, v: VarId| reference.label(id, state, v) == (subset >> k & 1 == 1);
                            let mut has = has;
                            bad[s] |= vars.iter().enumerate().all(|(k, v)| has(k, *v));
                        }
                    }
                }
            }
            n_bad += bad.iter().filter(|b| **b).count();
            assert_eq!(world.bad, bad, "{what}");
        }
    });
    assert!(n_sets > 1_000 && n_bad > 200, "{n_sets} {n_bad}");
}

fn tree_of(text: &str) -> (Sources, Tree) {
    let mut sources = Sources::default();
    let file = sources.add("test.bdi", text).unwrap();
    let (tree, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty(), "{text}");
    (sources, tree)
}

fn formulas(tree: &Tree) -> Vec<String> {
    let texts = tree.properties.iter().filter_map(|property| match &property.question {
        tree::Question::Formula(expr) => Some(formula_text(expr)),
        _ => None,
    });
    texts.collect()
}

/// Printing and parsing again gives the same text.
#[test]
fn printed_formulas_parse_to_the_same_text() {
    for seed in 30_000..30_400 {
        let (text, _) = random::system(seed);
        let printed = formulas(&tree_of(&text).1);
        let again: String =
            printed.iter().enumerate().map(|(i, f)| format!("property p{i}: {f};\n")).collect();
        assert_eq!(formulas(&tree_of(&again).1), printed, "seed {seed}");
    }
}

#[test]
fn negations_are_pushed_inwards() {
    let (_, tree) = tree_of("property p: !(x -> AG B(b, !(y & z)));");
    let tree::Question::Formula(formula) = &tree.properties[0].question else { unreachable!() };
    assert_eq!(formula_text(&nnf(formula)), "x & EF !B(b, !y | !z)");
}

/// Negation normal form does not change verdicts or numbers of states.
#[test]
fn normal_forms_mean_the_same() {
    let mut n_formulas = 0;
    for seed in 40_000..40_400 {
        let (text, options) = random::system(seed);
        let (mut sources, tree) = tree_of(&text);
        let mut normal = tree.clone();
        for property in &mut normal.properties {
            if let tree::Question::Formula(expr) = &mut property.question {
                let negated =
                    tree::Expr { kind: tree::ExprKind::Not(Box::new(expr.clone())), span: expr.span };
                // Twice, so that negation is pushed through the whole formula.
                *expr =
                    nnf(&tree::Expr { kind: tree::ExprKind::Not(Box::new(nnf(&negated))), span: expr.span });
                n_formulas += 1;
            }
        }
        let overrides = crate::support::overrides(&options, &mut sources);
        let [Some(first), Some(second)] = [&tree, &normal].map(|tree| check(tree, &overrides).model) else {
            continue;
        };
        let results = [&first, &second].map(|(model, plan)| {
            let mut reference = Reference::new(model, plan).ok()?;
            let results = (0..model.properties.len()).map(|p| reference.property(p));
            Some(results.map(|r| (r.verdict, r.satisfied)).collect::<Vec<_>>())
        });
        assert_eq!(results[0], results[1], "seed {seed}\n{text}");
    }
    assert!(n_formulas > 1000);
}

/// Returns a state of the reference as explanations show it, with the values of defined attitudes.
fn shown_state(
    reference: &mut Reference<'_>,
    model: &Model,
    plan: &Plan,
    world: WorldId,
    state: &State,
) -> State {
    let program = model.program(plan.worlds[world.index()].program);
    let mut shown = state.clone();
    for (&var, value) in program.vars.iter().zip(&mut shown.values) {
        if model.var(var).definition.is_some() {
            *value = i64::from(reference.label(world, state, var));
        }
    }
    shown
}

fn parts<'e>(explanation: &'e Explanation, out: &mut Vec<&'e Explanation>) {
    out.push(explanation);
    explanation.next.iter().for_each(|next| parts(next, out));
}

/// The reference confirms every part of every explanation: its states exist, its steps are possible, and
/// its formula, parsed again from its text, has the claimed value.
#[test]
fn explanations_are_true() {
    let (mut n_parts, mut n_jumps, mut n_lassos) = (0, 0, 0);
    for seed in 50_000..50_600 {
        let (text, options) = random::system(seed);
        let read = crate::support::read(&text, &options);
        let Some((model, plan)) = &read.model else { continue };
        let Ok(mut engine) = Engine::new(model, plan, &Budget::default()) else { continue };
        let mut found = crate::support::explanations(&mut engine, model);
        found.retain(|(p, _)| matches!(model.properties[*p].question, Question::Formula(_)));
        let found: Vec<Explanation> = found.into_iter().map(|(_, explanation)| explanation).collect();
        let mut all = Vec::new();
        found.iter().for_each(|explanation| parts(explanation, &mut all));
        // The same file, with a property for each part.
        let (mut sources, mut tree) = tree_of(&text);
        let n_own = tree.properties.len();
        for part in &all {
            let (world, formula) = (model.path_text(&part.path), model.statement_text(part.statement));
            let asked = sources.add("part", format!("{world} : {formula}")).unwrap();
            assert!(parse_property(&sources, asked, &mut tree).is_empty(), "seed {seed}: {formula}");
        }
        let overrides = crate::support::overrides(&options, &mut sources);
        let (model, plan) = check(&tree, &overrides).model.unwrap_or_else(|| panic!("seed {seed}\n{text}"));
        let mut reference = Reference::new(&model, &plan).unwrap();
        for (index, part) in all.iter().enumerate() {
            let what = format!("seed {seed}, options {options:?}, {part:#?}\n{text}");
            let id = plan.properties[n_own + index];
            let Question::Formula(formula) = model.properties[n_own + index].question else { panic!() };
            let holds = reference.sat(id, formula);
            let world = reference.world(id).clone();
            let shown: Vec<State> =
                world.states.iter().map(|s| shown_state(&mut reference, &model, &plan, id, s)).collect();
            let states: Vec<usize> = part
                .states
                .iter()
                .map(|state| {
                    shown.iter().position(|s| s == state).unwrap_or_else(|| panic!("no state: {what}"))
                })
                .collect();
            assert!(states.iter().all(|&s| world.kept[s]), "{what}");
            assert!(states.windows(2).all(|pair| world.next[pair[0]].contains(&pair[1])), "{what}");
            let is_jump = matches!(part.shape, Shape::Jump { .. });
            let starts_at_initial = is_jump || found.iter().any(|f| std::ptr::eq(f, *part));
            let judged = if starts_at_initial { states[states.len() - 1] } else { states[0] };
            assert!(!starts_at_initial || world.initial[states[0]], "{what}");
            assert_eq!(holds[judged], part.holds, "{what}");
            if let Shape::Lasso { back_to } = part.shape {
                assert!(world.next[states[states.len() - 1]].contains(&states[back_to]), "{what}");
                n_lassos += 1;
            }
            n_jumps += usize::from(is_jump);
            n_parts += 1;
        }
    }
    assert!(n_parts > 1000 && n_jumps > 100 && n_lassos > 50, "{n_parts} {n_jumps} {n_lassos}");
}
