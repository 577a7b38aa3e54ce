//! Replay confirms the explanations of the engine and refuses false ones.

use crate::support::{explanations, random};
use masque_bdi::explanation::{Explanation, Shape, Statement};
use masque_bdi::model::{ActionId, Domain, FormulaId, Model, PointId, State, VarId};
use masque_bdi::plan::{Plan, WorldId};
use masque_bdi::reference::Reference;
use masque_bdi::replay::{Flaw, replay, replay_removal};
use masque_bdi::symbolic::Engine;
use masque_bdi::tree::Op;
use masque_verdict::Budget;

fn n_parts(part: &Explanation, is_counted: fn(&Shape) -> bool) -> usize {
    let below = part.next.iter().map(|next| n_parts(next, is_counted));
    usize::from(is_counted(&part.shape)) + below.sum::<usize>()
}

/// Whether these states are a path of the reference from an initial state.
fn is_path(reference: &Reference<'_>, model: &Model, plan: &Plan, world: WorldId, states: &[State]) -> bool {
    let built = reference.world(world);
    let vars = &model.program(plan.worlds[world.index()].program).vars;
    let is_state = |s: usize, shown: &State| {
        let state = &built.states[s];
        let is_value = |(slot, value): (usize, &i64)| {
            model.var(vars[slot]).definition.is_some() || state.values[slot] == *value
        };
        (state.point, state.action) == (shown.point, shown.action)
            && shown.values.iter().enumerate().all(is_value)
    };
    let mut at: Vec<usize> = (0..built.states.len()).filter(|&s| built.initial[s]).collect();
    for (i, state) in states.iter().enumerate() {
        if i > 0 {
            at = at.iter().flat_map(|&s| built.next[s].clone()).collect();
        }
        at.retain(|&s| built.kept[s] && is_state(s, state));
    }
    !at.is_empty()
}

/// Returns corrupted copies: a changed value, action or point, a state removed or repeated.
fn corruptions(model: &Model, plan: &Plan, whole: &Explanation) -> Vec<Explanation> {
    let vars = &model.program(plan.worlds[whole.world.index()].program).vars;
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Vec<State>)| {
        let mut corrupt = whole.clone();
        change(&mut corrupt.states);
        all.push(corrupt);
    };
    for at in 0..whole.states.len() {
        let flags = (0..vars.len()).filter(|&slot| model.var(vars[slot]).domain == Domain::Bool);
        for slot in flags {
            add(&|states| states[at].values[slot] = 1 - states[at].values[slot]);
        }
        add(&|states| states[at].action = Some(ActionId(u32::MAX)));
        add(&|states| states[at].point.0 += 1);
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
        let read = crate::support::read(&text, &options);
        let Some((model, plan)) = &read.model else { continue };
        let Ok(mut engine) = Engine::new(model, plan, &Budget::default()) else { continue };
        let what = format!("seed {seed}, options {options:?}\n{text}");
        let reference = Reference::new(model, plan).unwrap();
        for (index, whole) in explanations(&mut engine, model) {
            let replayed = replay(model, plan, index, &whole);
            assert_eq!(replayed, Ok(()), "{whole:#?}\n{what}");
            tally.whole += 1;
            tally.jumps += n_parts(&whole, |shape| matches!(shape, Shape::Jump { .. }));
            tally.lassos += n_parts(&whole, |shape| matches!(shape, Shape::Lasso { .. }));
            for corrupt in corruptions(model, plan, &whole) {
                match replay(model, plan, index, &corrupt) {
                    Err(_) => tally.refused += 1,
                    Ok(()) if is_path(&reference, model, plan, plan.properties[index], &corrupt.states) => {
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

/// Every explanation replays. A corrupted one is refused unless its path is another path of the world, or
/// depends on what only whole worlds decide: a removed state, a test of an attitude.
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
    crate::support::model(TWO, &[])
}

/// The slots of the variables of [`TWO`] in states of their worlds.
const X: usize = 0;
const Y: usize = 1;
const P: usize = 0;
const Q: usize = 1;

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

/// Returns the jump below the path below the root part.
fn jump(whole: &mut Explanation) -> &mut Explanation {
    let jump = &mut whole.next[0].next[0];
    assert!(matches!(jump.shape, Shape::Jump { .. }));
    jump
}

/// Returns the attitudes that the jump lists.
fn asserted(whole: &mut Explanation) -> &mut Vec<VarId> {
    let Shape::Jump { asserted, .. } = &mut jump(whole).shape else { unreachable!() };
    asserted
}

/// Lets the jump follow desires.
fn follow_desires(whole: &mut Explanation) {
    let Shape::Jump { edge, .. } = &mut jump(whole).shape else { unreachable!() };
    edge.op = Op::D;
}

#[rustfmt::skip]
#[test]
fn wrong_paths_are_refused() {
    let other = Statement::Formula(FormulaId(0));
    //                property  change                                                       flaw
    assert_eq!(after("jump",    |_| {}),                                                     Ok(()));
    assert_eq!(after("jump",    |e| e.holds = true),                                         Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| e.statement = Statement::Property(1)),                   Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| e.shape = Shape::Lasso { back_to: 0 }),                  Err(Flaw::WrongForm));
    assert_eq!(after("jump",    |e| e.states.clear()),                                       Err(Flaw::WrongForm));
    assert_eq!(after("jump",    |e| e.states[0].values[X] = 1),                              Err(Flaw::NotInitial));
    assert_eq!(after("jump",    |e| e.states[0].values[X] = 2),                              Err(Flaw::NotAState(0)));
    assert_eq!(after("jump",    |e| _ = e.states[0].values.pop()),                           Err(Flaw::NotAState(0)));
    assert_eq!(after("jump",    |e| e.states[0].action = Some(ActionId(0))),                 Err(Flaw::NotAState(0)));
    assert_eq!(after("jump",    |e| e.states[0].point = PointId(99)),                        Err(Flaw::NotAState(0)));
    assert_eq!(after("jump",    |e| _ = e.next[0].states.remove(1)),                         Err(Flaw::NoStep(0)));
    assert_eq!(after("jump",    |e| _ = e.next[0].states.remove(0)),                         Err(Flaw::WrongStart));
    assert_eq!(after("jump",    |e| _ = e.next[0].states.pop()),                             Err(Flaw::WrongValue(1)));
    assert_eq!(after("jump",    |e| e.next[0].states[2].values[Y] = 0),                      Err(Flaw::NoStep(1)));
    assert_eq!(after("jump",    |e| e.next[0].statement = other),                            Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| e.next[0].holds = true),                                 Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| e.next[0].shape = Shape::Lasso { back_to: 0 }),          Err(Flaw::WrongForm));
    assert_eq!(after("jump",    |e| e.next[0].path.root.0 += 1),                             Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| e.next[0].world.0 += 1),                                 Err(Flaw::Unrelated));
    assert_eq!(after("stay",    |e| e.next[0].shape = Shape::Lasso { back_to: 0 }),          Err(Flaw::NoLoop));
    assert_eq!(after("stay",    |e| e.next[0].shape = Shape::Lasso { back_to: 9 }),          Err(Flaw::NoLoop));
    assert_eq!(after("stay",    |e| e.next[0].shape = Shape::Path),                          Err(Flaw::WrongForm));
    assert_eq!(after("stay",    |e| _ = e.next[0].states.pop()),                             Err(Flaw::NoLoop));
    assert_eq!(after("start",   |e| e.states[0].values[X] = 1),                              Err(Flaw::NotInitial));
}

#[rustfmt::skip]
#[test]
fn wrong_jumps_are_refused() {
    //                property  change                                                       flaw
    assert_eq!(after("jump",    |e| jump(e).states[0].values[P] = 0),                        Err(Flaw::Inaccessible));
    assert_eq!(after("jump",    |e| jump(e).states[0].values[Q] = 1),                        Err(Flaw::WrongValue(0)));
    assert_eq!(after("jump",    |e| jump(e).states[0].point = PointId(0)),                   Err(Flaw::NotInitial));
    assert_eq!(after("jump",    |e| asserted(e).clear()),                                    Err(Flaw::WrongAttitudes));
    assert_eq!(after("jump",    |e| asserted(e).push(VarId(0))),                             Err(Flaw::WrongAttitudes));
    assert_eq!(after("jump",    follow_desires),                                             Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| jump(e).path.edges.clear()),                             Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| jump(e).world = WorldId(0)),                             Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| jump(e).statement = Statement::Formula(FormulaId(0))),   Err(Flaw::Unrelated));
    assert_eq!(after("jump",    |e| jump(e).shape = Shape::Path),                            Err(Flaw::Unrelated));
}
