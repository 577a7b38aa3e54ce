//! Sessions of one model: values, bounds, limits, and what is discarded.

use masque_lcc::EventText;
use masque_monitor::lcc::{Bounds, LccModel, LccMonitor, Observation};
use masque_monitor::{EventVerdict, GoalStatus, InstanceStatus, Judgement, Monitor, Truth};
use masque_verdict::{Budget, Why};

use super::support::{message, model_within};

/// A shop whose model leaves open which number an order has.
const SHOP: &str = "a(buyer, B) :: order(N) => a(shop, s) <- number(N) then a(buyer, B).
    a(shop, S) :: order(N) <= a(buyer, B) then
        (confirm(N) => a(buyer, B) or sorry(N) => a(buyer, B)) then a(shop, S).
    server a(buyer, b).  server a(shop, s).  common number(_).
    rule s: (self, _, !send(confirm(N))) after out(order(N)) until out(sorry(N)).
    property sorry : <-* . out(sorry(7))>tt ;";

fn shop(bounds: Bounds) -> LccModel {
    model_within(&[("shop.lcc", SHOP.to_string())], &[], bounds)
}

fn order(number: &str) -> Observation {
    message("b", "s", &format!("order({number})"))
}

fn reply(word: &str, number: &str) -> Observation {
    message("s", "b", &format!("{word}({number})"))
}

fn observe(monitor: &mut LccMonitor, observation: &Observation) -> Judgement {
    monitor.observe(observation, &Budget::unlimited()).unwrap()
}

/// The instances that changed, and how.
fn instances(judgement: &Judgement) -> Vec<(String, InstanceStatus)> {
    judgement.obligations.iter().map(|change| (change.instance.owes.clone(), change.status)).collect()
}

/// The values of an observation are those of the event, although the model leaves them open.
#[test]
fn instances_have_the_values_that_were_observed() {
    for cache in [0, Bounds::default().cache] {
        let model = shop(Bounds { cache, ..Bounds::default() });
        let mut monitor = model.open();
        for number in ["1", "2", "f(x)"] {
            let owed = instances(&observe(&mut monitor, &order(number)));
            assert_eq!(owed, [(format!("s owes send(confirm({number}))"), InstanceStatus::Owed)]);
        }
        // The first instance ends, so the others have other numbers in a fresh system.
        let met = instances(&observe(&mut monitor, &reply("confirm", "1")));
        assert_eq!(met, [("s owes send(confirm(1))".to_string(), InstanceStatus::Met)]);
        // Another session neither sees these nor changes them.
        let mut other = model.open();
        observe(&mut other, &order("2"));
        assert!(instances(&observe(&mut other, &reply("sorry", "9"))).is_empty());
        drop(other);
        let ended = instances(&observe(&mut monitor, &reply("sorry", "f(x)")));
        assert_eq!(ended, [("s owes send(confirm(f(x)))".to_string(), InstanceStatus::Discharged)]);
        let status = monitor.status(&Budget::unlimited()).unwrap();
        assert_eq!(status.obligations.len(), 1);
        assert_eq!(status.obligations[0].instance.bindings, [("N".to_string(), "2".to_string())]);
        assert_eq!(status.goals[0].status, GoalStatus::Certain);
        let closing = monitor.close(&Budget::unlimited()).unwrap();
        assert_eq!((closing.open.len(), closing.perhaps_open.len(), closing.goals.len()), (1, 0, 1));
        // A goal, too, is reached by what was observed.
        observe(&mut monitor, &order("7"));
        assert_eq!(observe(&mut monitor, &reply("sorry", "7")).goals[0].status, GoalStatus::Reached);
    }
}

/// An observation that leaves the value open triggers the instance of any value.
#[test]
fn a_value_that_was_not_observed_may_be_any() {
    let mut monitor = shop(Bounds::default()).open();
    let owed = instances(&observe(&mut monitor, &order("_")));
    assert_eq!(owed, [("s owes send(confirm(_))".to_string(), InstanceStatus::Owed)]);
    let met = instances(&observe(&mut monitor, &reply("confirm", "3")));
    assert_eq!(met, [("s owes send(confirm(_))".to_string(), InstanceStatus::Met)]);
}

/// Parts of an observation share variables.
#[test]
fn a_variable_has_one_value_in_all_parts() {
    let mut monitor = shop(Bounds::default()).open();
    let text = |constraint: &str| EventText {
        message: Some("order(f(X))".to_string()),
        constraint: Some(constraint.to_string()),
        ..EventText::default()
    };
    let refused = Observation::read(text("number(X)")).unwrap();
    assert!(matches!(observe(&mut monitor, &refused).event, EventVerdict::Violated(_)));
    let fits = Observation::read(text("number(f(X))")).unwrap();
    assert_eq!(observe(&mut monitor, &fits).event, EventVerdict::Possible);
}

#[test]
fn too_many_instances_are_unknown() {
    let mut monitor = shop(Bounds { instances: 2, ..Bounds::default() }).open();
    observe(&mut monitor, &order("1"));
    observe(&mut monitor, &order("2"));
    let EventVerdict::Unknown(reason) = observe(&mut monitor, &order("3")).event else { panic!("a bound") };
    assert_eq!(reason, "what lies beyond the bound `instances` is not known");
    let status = monitor.status(&Budget::unlimited()).unwrap();
    assert_eq!((status.n_states, status.unknown), (0, Some(reason)));
    assert!(matches!(observe(&mut monitor, &order("_")).event, EventVerdict::Unknown(_)));
    let closing = monitor.close(&Budget::unlimited()).unwrap();
    assert!(closing.unknown.is_some() && closing.open.is_empty());
}

/// Clocks tick without being seen: the possible states are the products of their positions.
#[test]
fn too_many_runs_are_unknown() {
    let clock = |id: &str| format!("agent a(clock, {id}). ");
    let text = format!(
        "a(clock, C) :: null then null then null then null then ring => a(_, bell).
         a(bell, B) :: ring <= a(clock, _) then a(bell, B).  server a(bell, bell). {}
         property rung : EF final ;  property quiet : AG !final ;",
        ["c1", "c2", "c3", "c4"].map(clock).concat()
    );
    let of = |runs| model_within(&[("clocks.lcc", text.clone())], &[], Bounds { runs, ..Bounds::default() });
    let budget = Budget::unlimited();
    let mut whole = of(10_000).open();
    assert_eq!(whole.status(&budget).unwrap().n_states, 625);
    assert_eq!(whole.status(&budget).unwrap().goals[0].status, GoalStatus::Certain);
    let mut part = of(14).open();
    let status = part.status(&budget).unwrap();
    // All states after one tick: there are 10 after two.
    assert_eq!(status.n_states, 5);
    assert!(matches!(status.goals[0].status, GoalStatus::Unknown(_)));
    assert!(matches!(status.facts[0].truth, Truth::Unknown(_)));
    let rung = message("c1", "bell", "ring");
    assert!(matches!(observe(&mut part, &rung).event, EventVerdict::Unknown(_)));
    assert_eq!(observe(&mut whole, &rung).event, EventVerdict::Possible);
}

/// A bound of the model: what a full mailbox hides is unknown, and what is known stays known.
#[test]
fn bounds_of_the_model_are_unknown() {
    let text = "a(spam, S) :: junk => a(box, b) then a(spam, S).  a(box, B) :: stop <= a(spam, _).
        agent a(spam, s).  agent a(box, b).  option cap = 2.  property stops : <-* . in(stop)>tt ;";
    let mut monitor = model_within(&[("spam.lcc", text.to_string())], &[], Bounds::default()).open();
    let junk = message("s", "b", "junk");
    for _ in 0..2 {
        assert_eq!(observe(&mut monitor, &junk).event, EventVerdict::Possible);
    }
    assert!(matches!(observe(&mut monitor, &message("s", "b", "stop")).event, EventVerdict::Unknown(_)));
    let status = monitor.status(&Budget::unlimited()).unwrap();
    assert!(matches!(&status.goals[0].status, GoalStatus::Unknown(reason) if reason.contains("`cap`")));
    assert!(!monitor.is_over(&Budget::unlimited()).unwrap());
}

/// A call that a limit ends changes nothing and may be repeated.
#[test]
fn limits_end_calls_without_effect() {
    let model = shop(Bounds::default());
    let mut monitor = model.open();
    observe(&mut monitor, &order("1"));
    let before = monitor.status(&Budget::unlimited()).unwrap();
    let tight = [Budget::unlimited().with_memory(100), Budget::unlimited().with_steps(0)];
    for (budget, why) in tight.iter().zip([Why::Memory, Why::Timeout]) {
        assert_eq!(monitor.observe(&order("2"), budget).unwrap_err().why, why);
        assert_eq!(monitor.preview(&order("2"), budget).unwrap_err().why, why);
        assert_eq!(monitor.close(budget).unwrap_err().why, why);
    }
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    assert_eq!(monitor.observe(&order("2"), &cancelled).unwrap_err().why, Why::Interrupted);
    assert_eq!(monitor.status(&Budget::unlimited()).unwrap(), before);
    assert_eq!(observe(&mut monitor, &order("2")).event, EventVerdict::Possible);
}

/// Closed sessions leave nothing, and open ones keep what they know while the rest is discarded.
#[test]
fn memory_does_not_grow_with_sessions() {
    let cache = 1 << 19;
    let model = shop(Bounds { cache, ..Bounds::default() });
    let mut kept = model.open();
    observe(&mut kept, &order("first"));
    let mut most = 0;
    for session in 0..400 {
        let mut monitor = model.open();
        for event in 0..10 {
            let number = (10 * session + event).to_string();
            observe(&mut monitor, &order(&number));
            observe(&mut monitor, &reply("confirm", &number));
        }
        assert_eq!(model.n_open(), 2);
        most = most.max(model.bytes());
    }
    assert_eq!(model.n_open(), 1);
    // The size is compared before each call, and a call may double it.
    assert!(most < 4 * cache, "{most}");
    let met = instances(&observe(&mut kept, &reply("confirm", "first")));
    assert_eq!(met, [("s owes send(confirm(first))".to_string(), InstanceStatus::Met)]);
}

/// Monitors may be moved between threads, and their sessions stay apart.
#[test]
fn threads_share_a_model() {
    let model = shop(Bounds { cache: 1 << 16, ..Bounds::default() });
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let model = &model;
            scope.spawn(move || {
                for session in 0..20 {
                    let (mut monitor, number) = (model.open(), format!("n{thread}_{session}"));
                    let owed = instances(&observe(&mut monitor, &order(&number)));
                    let expected = format!("s owes send(confirm({number}))");
                    assert_eq!(owed, [(expected.clone(), InstanceStatus::Owed)]);
                    let met = instances(&observe(&mut monitor, &reply("confirm", &number)));
                    assert_eq!(met, [(expected, InstanceStatus::Met)]);
                }
            });
        }
    });
    assert_eq!(model.n_open(), 0);
}

#[test]
fn unreadable_parts_are_named() {
    let unreadable = |text: EventText| Observation::read(text).unwrap_err().part;
    let some = |text: &str| Some(text.to_string());
    assert_eq!(unreadable(EventText { message: some("order("), ..EventText::default() }), "message");
    assert_eq!(unreadable(EventText { message: some("a) then (b"), ..EventText::default() }), "message");
    assert_eq!(unreadable(EventText { from: some(""), ..EventText::default() }), "from");
    assert_eq!(unreadable(EventText { constraint: some("p(X), q"), ..EventText::default() }), "constraint");
}
