//! Explanations are confirmed before they are shown, and false ones are refused.

mod support;

use masque_bdi::model::Model;
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::Reference;
use masque_bdi::replay::{Flaw, replay, replay_removal};
use masque_bdi::symbolic::{Engine, Explanation, Shape, StateText};
use masque_verdict::Budget;
use support::random;

/// The explanations of the properties that fail, by their index.
fn explanations(engine: &mut Engine<'_>, model: &Model) -> Vec<(usize, Explanation)> {
    let failing = (0..model.properties.len()).filter_map(|p| {
        let fails = engine.property(p).verdict.word() == "fails";
        fails.then(|| (p, engine.explain(p).unwrap().unwrap()))
    });
    failing.collect()
}

fn n_parts(part: &Explanation, kind: Shape) -> usize {
    usize::from(part.kind == kind) + part.next.iter().map(|next| n_parts(next, kind)).sum::<usize>()
}

/// Whether the reference has these states, from an initial one, each a step after the other.
fn is_path(reference: &Reference<'_>, model: &Model, world: WorldId, states: &[StateText]) -> bool {
    let built = reference.world(world);
    let is_state = |s: usize, text: &StateText| {
        let state = &built.states[s];
        let action = state.action.map(|action| model.actions[action.index()].name.as_str());
        let is_value = |(value, (name, text)): (&i64, &(String, String))| {
            let var = model.vars.iter().find(|v| v.name == *name && v.domain.text(*value) == *text);
            model.vars.iter().any(|v| v.name == *name && v.definition.is_some()) || var.is_some()
        };
        (state.point.0, action) == (text.point, text.action.as_deref())
            && state.values.iter().zip(&text.values).all(is_value)
    };
    let mut at: Vec<usize> = (0..built.states.len()).filter(|&s| built.initial[s]).collect();
    for (i, text) in states.iter().enumerate() {
        if i > 0 {
            at = at.iter().flat_map(|&s| built.next[s].clone()).collect();
        }
        at.retain(|&s| built.kept[s] && is_state(s, text));
    }
    !at.is_empty()
}

/// A changed value, a changed action, a dropped step, a step that is taken twice.
fn corruptions(whole: &Explanation) -> Vec<Explanation> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Vec<StateText>)| {
        let mut corrupt = whole.clone();
        change(&mut corrupt.states);
        all.push(corrupt);
    };
    for at in 0..whole.states.len() {
        for (slot, (_, value)) in whole.states[at].values.iter().enumerate() {
            let other = match value.as_str() {
                "true" => "false",
                "false" => "true",
                _ => continue,
            };
            add(&|states| states[at].values[slot].1 = other.to_owned());
        }
        add(&|states| states[at].action = Some("nothing of the kind".to_owned()));
        add(&|states| states[at].point += 1);
        add(&|states| _ = states.remove(at));
        add(&|states| states.insert(at, states[at].clone()));
    }
    all
}

#[derive(Debug, Default)]
struct Tally {
    whole: usize,
    jumps: usize,
    lassos: usize,
    removals: usize,
    refused: usize,
    still_true: usize,
    missed: usize,
}

fn tally(seeds: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let (text, options) = random::system(seed);
        let read = support::read(&text, &options);
        let Some((model, plan)) = &read.model else { continue };
        let Ok(mut engine) = Engine::new(model, plan, &Budget::default()) else { continue };
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let reference = Reference::new(model, plan).unwrap();
        for (index, whole) in explanations(&mut engine, model) {
            let replayed = replay(model, plan, index, &whole);
            assert_eq!(replayed, Ok(()), "{whole:#?}\n{what}");
            tally.whole += 1;
            tally.jumps += n_parts(&whole, Shape::Jump);
            tally.lassos += n_parts(&whole, Shape::Lasso);
            for corrupt in corruptions(&whole) {
                match replay(model, plan, index, &corrupt) {
                    Err(_) => tally.refused += 1,
                    Ok(()) if is_path(&reference, model, plan.properties[index], &corrupt.states) => {
                        tally.still_true += 1;
                    }
                    Ok(()) => tally.missed += 1,
                }
            }
        }
        for world in (0..plan.worlds.len() as u32).map(WorldId) {
            for removal in engine.removals(world).unwrap() {
                let replayed = replay_removal(model, plan, world, &removal);
                assert_eq!(replayed, Ok(()), "{removal:#?}\n{what}");
                tally.removals += 1;
            }
        }
    }
    tally
}

/// Every explanation replays. A corrupted one is refused unless its path is another true one, or
/// hangs on what only whole worlds decide: a removed state, a test of an attitude.
#[test]
fn explanations_replay_and_corrupted_ones_do_not() {
    let tally = tally(0..1500);
    eprintln!("{tally:?}");
    assert!(
        tally.whole > 1000 && tally.jumps > 100 && tally.lassos > 50 && tally.removals > 100,
        "{tally:?}"
    );
    assert!(tally.refused > 5000 && tally.missed * 20 < tally.refused, "{tally:?}");
}

const TWO: &str = "
    agent a is
        var x, y;
        init B(b, p) := true;
        x := true;
        y := true;
        loop skip endloop
    agent b is
        var p, q;
        init p := any, q := any;
        loop skip endloop
    property jump: AG (y -> B(b, q));
    property stay: AF (y & !x);
    property until: A[!y U (x & y & B(b, q))];
    property start initially: x;
";

fn two() -> (Model, Plan) {
    support::model(TWO, &[])
}

/// Sets a variable of a state.
fn set(state: &mut StateText, name: &str, value: &str) {
    state.values.iter_mut().find(|(n, _)| n == name).unwrap().1 = value.to_owned();
}

/// Replays the explanation of a property of [`TWO`] after a change.
fn after(name: &str, change: impl Fn(&mut Explanation)) -> Result<(), Flaw> {
    let (model, plan) = two();
    let mut engine = Engine::new(&model, &plan, &Budget::default()).unwrap();
    let index = model.properties.iter().position(|p| p.name == name).unwrap();
    let mut whole = engine.explain(index).unwrap().unwrap();
    assert_eq!(replay(&model, &plan, index, &whole), Ok(()), "{whole:#?}");
    change(&mut whole);
    replay(&model, &plan, index, &whole).map_err(|refusal| refusal.flaw)
}

/// The jump below the path below the start.
fn jump(whole: &mut Explanation) -> &mut Explanation {
    let jump = &mut whole.next[0].next[0];
    assert_eq!(jump.kind, Shape::Jump);
    jump
}

#[rustfmt::skip]
#[test]
fn wrong_paths_are_refused() {
    //                property  change                                                       flaw
    assert_eq!(after("jump",    |_| {}),                                                     Ok(()));
    assert_eq!(after("jump",    |e| e.holds = true),                                         Err(Flaw::Stranger));
    assert_eq!(after("jump",    |e| e.states.clear()),                                       Err(Flaw::Form));
    assert_eq!(after("jump",    |e| set(&mut e.states[0], "x", "true")),                     Err(Flaw::NotInitial));
    assert_eq!(after("jump",    |e| set(&mut e.states[0], "x", "2")),                        Err(Flaw::NoState(0)));
    assert_eq!(after("jump",    |e| e.states[0].action = Some("go".into())),                 Err(Flaw::NoState(0)));
    assert_eq!(after("jump",    |e| e.states[0].point = 99),                                 Err(Flaw::NoState(0)));
    assert_eq!(after("jump",    |e| _ = e.next[0].states.remove(1)),                         Err(Flaw::NoStep(0)));
    assert_eq!(after("jump",    |e| _ = e.next[0].states.remove(0)),                         Err(Flaw::ElsewhereFrom));
    assert_eq!(after("jump",    |e| _ = e.next[0].states.pop()),                             Err(Flaw::Value(1)));
    assert_eq!(after("jump",    |e| set(&mut e.next[0].states[2], "y", "false")),            Err(Flaw::NoStep(1)));
    assert_eq!(after("jump",    |e| e.next[0].formula = "AG x".into()),                      Err(Flaw::Stranger));
    assert_eq!(after("jump",    |e| e.next[0].holds = true),                                 Err(Flaw::Stranger));
    assert_eq!(after("jump",    |e| e.next[0].kind = Shape::Lasso),                          Err(Flaw::Form));
    assert_eq!(after("jump",    |e| e.next[0].world = "b".into()),                           Err(Flaw::Stranger));
    assert_eq!(after("stay",    |e| e.next[0].back_to = Some(0)),                            Err(Flaw::NoLoop));
    assert_eq!(after("stay",    |e| e.next[0].back_to = Some(9)),                            Err(Flaw::NoLoop));
    assert_eq!(after("stay",    |e| e.next[0].back_to = None),                               Err(Flaw::Form));
    assert_eq!(after("stay",    |e| _ = e.next[0].states.pop()),                             Err(Flaw::NoLoop));
    assert_eq!(after("start",   |e| set(&mut e.states[0], "x", "true")),                     Err(Flaw::NotInitial));
}

#[rustfmt::skip]
#[test]
fn wrong_jumps_are_refused() {
    //                property  change                                                       flaw
    assert_eq!(after("jump",    |e| set(&mut jump(e).states[0], "p", "false")),              Err(Flaw::Inaccessible));
    assert_eq!(after("jump",    |e| set(&mut jump(e).states[0], "q", "true")),               Err(Flaw::Value(0)));
    assert_eq!(after("jump",    |e| jump(e).states[0].point = 0),                            Err(Flaw::NotInitial));
    assert_eq!(after("jump",    |e| jump(e).asserted.clear()),                               Err(Flaw::Asserted));
    assert_eq!(after("jump",    |e| jump(e).asserted.push("B(b, q)".into())),                Err(Flaw::Asserted));
    assert_eq!(after("jump",    |e| jump(e).edge = Some("D(b)".into())),                     Err(Flaw::Stranger));
    assert_eq!(after("jump",    |e| jump(e).world = "b".into()),                             Err(Flaw::Stranger));
    assert_eq!(after("jump",    |e| jump(e).formula = "p".into()),                           Err(Flaw::Stranger));
    assert_eq!(after("jump",    |e| jump(e).kind = Shape::Path),                             Err(Flaw::Form));
}
