//! Evidence that is wrong in any way is refused, and steps are explained as the definition says.

use std::cmp::Ordering;

use masque_ispl::{Options, check, parse};
use masque_model::{ActionId, AgentId, Assignment, System, VarId};
use masque_text::Sources;
use masque_verdict::ReplayError::{NotASuccessor, NotEnabled, NotInDomain, NotInitial, Shape, ShowsNothing};
use masque_verdict::{
    Budget, Evidence, Path, ReplayError, Why, compare_states, leads_to, least_joint_action, least_overflow,
    replay, replay_path,
};

/// A lamp that is switched on, and a counter that counts while it is on, or while nobody counts.
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
    // At 2 the only enabled choice overflows: the values are not kept.
    check(&[START, &[1, 2, BAD], &[1, 2, BAD]],       &[&[1, 1], &[0, 1]], Err(NotASuccessor { step: 1 }));
}

#[rustfmt::skip]
#[test]
fn what_a_path_shows() {
    let system = system();
    let to_two = path(&[&[0, 0, GOOD], &[1, 2, BAD]], &[&[1, 1]]);
    let start = path(&[&[0, 0, GOOD]], &[]);
    let check = |property: usize, path: &Path, expected: Result<(), ReplayError>| {
        let evidence = Evidence::Path(path.clone());
        assert_eq!(replay(&system, &system.properties[property], &evidence), expected, "property {property}");
    };
    check(0, &to_two, Ok(()));
    check(0, &start, Err(ShowsNothing));
    // A property that is no AG must fail where the path begins.
    check(1, &to_two, Err(ShowsNothing));
    check(1, &start, Err(ShowsNothing));
    // What AX says of the last state is taken on trust, what `two ->` says is not.
    check(2, &to_two, Ok(()));
    check(2, &start, Err(ShowsNothing));
    check(3, &start, Ok(()));
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
    assert_eq!(find(&system, [0, 0, BAD], [0, 0, BAD]), None, "resting mends the mood, counting counts");
    // Each variable by itself: counting leaves the mood alone unless the lamp is switched.
    system.meaning.assignment = Assignment::Single;
    assert_eq!(find(&system, [0, 0, GOOD], [1, 2, BAD]), Some(vec![1, 1]));
    assert_eq!(find(&system, [0, 0, GOOD], [1, 2, GOOD]), None);
}

#[test]
fn the_least_overflow() {
    let system = system();
    let budget = Budget::unlimited();
    let overflow = |state: [i64; 3]| least_overflow(&system, path(&[&state], &[]), &budget).unwrap();
    assert_eq!(overflow([0, 0, GOOD]), None);
    let found = overflow([0, 1, GOOD]).expect("1 + 2 is too much");
    assert_eq!((found.joint_action, found.line, found.variable), (joint(&[1, 1]), 1, VarId(1)));
    let found = overflow([1, 2, GOOD]).expect("so is 2 + 1");
    assert_eq!((found.agent, found.joint_action, found.line), (AgentId(1), joint(&[0, 1]), 0));
}

#[test]
fn a_stop_says_how_far_it_came() {
    let stop = masque_verdict::Stop::from(Why::Memory).after_states(12);
    assert_eq!(stop.to_string(), "memory after 12 states");
    assert_eq!(masque_verdict::Outcome::from(stop).verdict.to_string(), "unknown(memory)");
}
