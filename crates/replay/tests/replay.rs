//! Replay refuses evidence with any kind of error, and steps follow the definition.

use std::cmp::Ordering;

use masque_ispl::{Options, check, parse};
use masque_model::{ActionId, AgentId, Assignment, Formula, Protocol, System, VarId};
use masque_replay::ReplayError::{
    NotASuccessor, NotEnabled, NotInDomain, NotInitial, OtherProperty, Refused, Shape,
};
use masque_replay::{Fault, ReplayError, replay, replay_path};
use masque_text::Sources;
use masque_verdict::{
    Because, Budget, Evidence, EvidencePath, Moves, NotShownReason, Path, PathReason, Reason, ReasonId,
    StateId, compare_states, leads_to, least_joint_action, least_overflow,
};

/// A lamp that can be switched on, and a counter whose step is 1, or 2 if the lamp is switched on with it.
const LAMP: &str = "
    Agent Lamp
      Vars: on : boolean; end Vars
      Actions = {wait, switch};
      Protocol: on : {wait}; !on : {wait, switch}; end Protocol
      Evolution: on = true if Action = switch; end Evolution
    end Agent
    Agent Counter
      Vars: n : 0..2; mood : {good, bad}; end Vars
      Actions = {rest, count};
      Protocol: Other : {rest, count}; end Protocol
      Evolution:
        n = n + 1 if Action = count and Lamp.Action = wait;
        n = n + 2 and mood = bad if Action = count and Lamp.Action = switch;
        mood = good if Action = rest and mood = bad;
      end Evolution
    end Agent
    Evaluation two if Counter.n = 2; on if Lamp.on; end Evaluation
    InitStates !Lamp.on and Counter.n = 0 and Counter.mood = good; end InitStates
    Formulae AG !two; !two; AG(two -> AX on); two or AG on; end Formulae";

fn system() -> System {
    let mut sources = Sources::default();
    let file = sources.add("lamp.ispl", LAMP).unwrap();
    let (mut tree, errors) = parse(&sources, file);
    assert!(errors.is_empty());
    check(&sources, &mut tree, &Options::default()).system.unwrap()
}

const GOOD: i64 = 0;
const BAD: i64 = 1;

fn joint(actions: &[u32]) -> Vec<ActionId> {
    actions.iter().map(|&a| ActionId(a)).collect()
}

fn path(states: &[&[i64]], actions: &[&[u32]]) -> Path {
    Path {
        states: states.iter().map(|s| s.to_vec()).collect(),
        actions: actions.iter().map(|a| joint(a)).collect(),
    }
}

#[rustfmt::skip]
#[test]
fn paths() {
    let system = system();
    assert_eq!(system.symbols, ["good", "bad"]);
    let check = |states: &[&[i64]], actions: &[&[u32]], expected: Result<(), ReplayError>| {
        assert_eq!(replay_path(&system, &path(states, actions)), expected, "{states:?} {actions:?}");
    };
    const START: &[i64] = &[0, 0, GOOD];
    //    states                                      actions             expected
    check(&[START],                                   &[],                Ok(()));
    check(&[START, &[0, 1, GOOD]],                    &[&[0, 1]],         Ok(()));
    check(&[START, &[1, 2, BAD], &[1, 2, GOOD]],      &[&[1, 1], &[0, 0]], Ok(()));
    check(&[START, START],                            &[&[0, 0]],         Ok(()));
    check(&[],                                        &[],                Err(Shape));
    check(&[START],                                   &[&[0, 0]],         Err(Shape));
    check(&[START, START],                            &[&[0]],            Err(Shape));
    check(&[&[0, 0]],                                 &[],                Err(Shape));
    check(&[START, &[0, 3, GOOD]],                    &[&[0, 1]],         Err(NotInDomain { state: 1, variable: VarId(1) }));
    check(&[&[0, 0, 7]],                              &[],                Err(NotInDomain { state: 0, variable: VarId(2) }));
    check(&[&[1, 0, GOOD]],                           &[],                Err(NotInitial));
    check(&[START, &[1, 2, BAD], &[1, 2, BAD]],       &[&[1, 1], &[1, 1]], Err(NotEnabled { step: 1, agent: AgentId(0) }));
    check(&[START, &[0, 2, GOOD]],                    &[&[0, 1]],         Err(NotASuccessor { step: 0 }));
    check(&[START, &[0, 1, BAD]],                     &[&[0, 1]],         Err(NotASuccessor { step: 0 }));
    // At 2 counting overflows, so there is no such step and the values are not kept.
    check(&[START, &[1, 2, BAD], &[1, 2, BAD]],       &[&[1, 1], &[0, 1]], Err(NotASuccessor { step: 1 }));
}

/// Handwritten evidence for the first property, `AG !two`: a path to a state where `two` is true.
fn to_two(system: &System) -> Evidence {
    let property = system.properties[0].formula;
    let Formula::Forall(_, always) = system.formulas.get(property) else { panic!("not AG") };
    let Formula::Globally(not_two) = system.formulas.get(always) else { panic!("not AG") };
    let run = EvidencePath {
        states: vec![StateId(0), StateId(1)],
        actions: vec![Some(joint(&[1, 1]))],
        back_to: None,
    };
    let at_end = Reason { formula: not_two, holds: false, state: StateId(1), because: Because::Here };
    let showing = PathReason { run, claims: vec![(1, ReasonId(1))], fair: vec![] };
    let root = Reason { formula: property, holds: false, state: StateId(0), because: Because::Path(showing) };
    let start = EvidencePath { states: vec![StateId(0)], actions: vec![], back_to: None };
    Evidence { states: vec![vec![0, 0, GOOD], vec![1, 2, BAD]], start, reasons: vec![root, at_end] }
}

/// A change that makes evidence invalid.
type Change = fn(&mut Evidence);

fn showing(evidence: &mut Evidence) -> &mut PathReason {
    let Because::Path(showing) = &mut evidence.reasons[0].because else { panic!("not a run") };
    showing
}

#[rustfmt::skip]
#[test]
fn a_handwritten_path() {
    let system = system();
    let check = |change: Change, expected: Result<(), ReplayError>| {
        let mut evidence = to_two(&system);
        change(&mut evidence);
        let replayed = replay(&system, &system.properties[0], false, &evidence);
        assert_eq!(replayed.map(|trusted| assert!(trusted.is_empty())), expected);
    };
    let refused = |reason, fault| Err(Refused { reason: ReasonId(reason), fault });
    check(|_| {},                                                Ok(()));
    check(|e| e.reasons[0].holds = true,                         Err(OtherProperty));
    check(|e| e.start.states[0] = StateId(1),                    Err(NotInitial));
    check(|e| e.reasons[0].state = StateId(1),                   Err(OtherProperty));
    check(|e| e.reasons.truncate(1),                             Err(Shape));
    check(|e| e.reasons.clear(),                                 Err(Shape));
    check(|e| e.reasons.push(e.reasons[1].clone()),              Err(Shape));
    check(|e| showing(e).claims[0].1 = ReasonId(0),              Err(Shape));
    check(|e| showing(e).claims.clear(),                         Err(Shape));
    check(|e| showing(e).run.states[1] = StateId(7),             Err(Shape));
    check(|e| showing(e).run.back_to = Some(1),                  Err(Shape));
    check(|e| e.states[1][1] = 3,                                Err(NotInDomain { state: 1, variable: VarId(1) }));
    check(|e| e.states[1][1] = 1,                                Err(NotASuccessor { step: 0 }));
    check(|e| showing(e).run.actions[0] = None,                  Err(NotASuccessor { step: 0 }));
    check(|e| showing(e).run.actions[0] = Some(joint(&[5, 1])),  Err(NotEnabled { step: 0, agent: AgentId(0) }));
    check(|e| showing(e).run.actions[0] = Some(joint(&[1])),     Err(Shape));
    check(|e| showing(e).claims[0].0 = 0,                        refused(0, Fault::Claims));
    check(|e| showing(e).fair.push(1),                           refused(0, Fault::Unfair));
    check(|e| e.reasons[1].holds = true,                         refused(0, Fault::Claims));
    check(|e| e.reasons[1].state = StateId(0),                   refused(0, Fault::Claims));
    check(|e| e.reasons[1].because = Because::NotShown(NotShownReason::TooMuch), refused(1, Fault::Kind));
    check(|e| e.reasons[1].because = Because::Operands(vec![]),  refused(1, Fault::Kind));
    // The path ends at another state, where `two` is false.
    check(|e| { e.states[1] = vec![0, 1, GOOD]; showing(e).run.actions[0] = Some(joint(&[0, 1])) }, refused(1, Fault::Truth));
}

#[test]
fn the_order_of_states() {
    let system = system();
    let order = |a: [i64; 3], b: [i64; 3]| compare_states(&system, &a, &b);
    assert_eq!(order([0, 2, BAD], [1, 0, GOOD]), Ordering::Less);
    assert_eq!(order([1, 0, BAD], [1, 0, GOOD]), Ordering::Greater);
    assert_eq!(order([1, 0, BAD], [1, 0, BAD]), Ordering::Equal);
}

#[test]
fn the_least_joint_action() {
    let mut system = system();
    let budget = Budget::unlimited();
    let find = |system: &System, from: [i64; 3], to: [i64; 3]| {
        let found = least_joint_action(system, &from, &to, &budget).unwrap();
        if let Some(joint) = &found {
            assert!(leads_to(system, &from, joint, &to));
        }
        found.map(|joint| joint.iter().map(|a| a.0).collect::<Vec<_>>())
    };
    assert_eq!(find(&system, [0, 0, GOOD], [0, 0, GOOD]), Some(vec![0, 0]));
    assert_eq!(find(&system, [0, 0, GOOD], [1, 2, BAD]), Some(vec![1, 1]));
    assert_eq!(find(&system, [1, 0, BAD], [1, 1, BAD]), Some(vec![0, 1]));
    assert_eq!(find(&system, [1, 0, BAD], [0, 1, BAD]), None);
    assert_eq!(
        find(&system, [0, 0, BAD], [0, 0, BAD]),
        None,
        "resting improves the mood, counting changes the count"
    );
    // Each variable changes on its own: counting does not change the mood unless the lamp is switched.
    system.meaning.assignment = Assignment::Single;
    assert_eq!(find(&system, [0, 0, GOOD], [1, 2, BAD]), Some(vec![1, 1]));
    assert_eq!(find(&system, [0, 0, GOOD], [1, 2, GOOD]), None);
}

#[test]
fn dead_ends() {
    let system = system();
    let moves = Moves::new(&system);
    let has_successor = |state: [i64; 3]| moves.has_successor(&state).unwrap();
    assert!(has_successor([0, 0, GOOD]));
    assert!(has_successor([1, 2, BAD]), "counting overflows, resting does not");
    let mut system = system.clone();
    // Only `count` is left to the counter.
    system.agents[1].protocol = Protocol::Lines { lines: vec![], other: Some(vec![ActionId(1)]) };
    let moves = Moves::new(&system);
    assert_eq!(moves.has_successor(&[1, 2, GOOD]), Some(false));
    assert_eq!(moves.has_successor(&[1, 1, GOOD]), Some(true));
    system.agents[0].protocol = Protocol::Lines { lines: vec![], other: None };
    assert_eq!(Moves::new(&system).has_successor(&[1, 1, GOOD]), Some(false));
}

#[test]
fn the_least_overflow() {
    let system = system();
    let budget = Budget::unlimited();
    let overflow = |state: [i64; 3]| least_overflow(&system, path(&[&state], &[]), &budget).unwrap();
    assert_eq!(overflow([0, 0, GOOD]), None);
    let found = overflow([0, 1, GOOD]).expect("1 + 2 is out of range");
    assert_eq!((found.joint_action, found.line, found.variable), (joint(&[1, 1]), 1, VarId(1)));
    let found = overflow([1, 2, GOOD]).expect("2 + 1 is out of range");
    assert_eq!((found.agent, found.joint_action, found.line), (AgentId(1), joint(&[0, 1]), 0));
}
