//! Logs of small systems, judged by hand.

use masque_model::{ActionId, At, Deadlock, Formula, Property, PropositionId, System};
use masque_monitor::ispl::{
    BadEntry, Goal, IsplModel, IsplMonitor, IsplObservation, IsplOptions, NotOpened, StateStore, Vocabulary,
    goal_of,
};
use masque_monitor::{EventVerdict, GoalStatus, Judgement, Monitor, Truth, Violation};
use masque_testkit::{load, system};
use masque_verdict::{Budget, Why};

/// A lift with two floors. Bob does not see the light.
const LIFT: &str = "
    Agent Environment
      Obsvars: floor : 0..2; end Obsvars
      Vars: light : {red, green}; end Vars
      Actions = {up, down, hold};
      Protocol: Other : {up, down, hold}; end Protocol
      Evolution:
        floor = floor + 1 if Action = up and floor < 2 and light = green;
        floor = floor - 1 if Action = down and floor > 0;
        light = red if Action = hold;
      end Evolution
    end Agent
    Agent Bob
      Vars: inside : boolean; end Vars
      Actions = {enter, wait};
      Protocol: inside = false : {enter, wait}; Other : {wait}; end Protocol
      Evolution: inside = true if Action = enter and Environment.floor = 0; end Evolution
    end Agent
    Evaluation
      top if Environment.floor = 2;
      go if Environment.light = green;
      inside if Bob.inside = true;
    end Evaluation
    InitStates Environment.floor = 0 and Environment.light = green and Bob.inside = false; end InitStates
    Formulae
      reach : EF top;
      sure : AF top;
      both : !AG !(top and inside);
      lit : go;
      known : K(Bob, go);
    end Formulae";

/// A log with both implementations.
struct Logs<'s> {
    vocabulary: Vocabulary<'s>,
    monitors: Vec<IsplMonitor<'s>>,
}

impl<'s> Logs<'s> {
    fn new(system: &'s System, options: &IsplOptions) -> Logs<'s> {
        let open =
            |store| IsplModel::open(system, &IsplOptions { store, ..options.clone() }, &Budget::unlimited());
        let stores = [StateStore::Stored, StateStore::Diagrams];
        let monitors = stores.map(|store| open(store).unwrap().monitor()).to_vec();
        Logs { vocabulary: Vocabulary::new(system, options.viewer), monitors }
    }

    /// Adds a record such as `Bob.Action=wait inside=false`, and returns its judgement.
    #[track_caller]
    fn add(&mut self, record: &str) -> Judgement {
        let record = observation(&self.vocabulary, record).unwrap();
        let judged = self.monitors.iter_mut().map(|m| m.observe(&record, &Budget::unlimited()).unwrap());
        let judged: Vec<Judgement> = judged.collect();
        assert_eq!(judged[0], judged[1]);
        judged[0].clone()
    }

    #[track_caller]
    fn violation(&mut self, record: &str) -> Violation {
        match self.add(record).event {
            EventVerdict::Violated(violation) => violation,
            event => panic!("{record}: {event:?}"),
        }
    }

    fn goal(&mut self, name: &str) -> GoalStatus {
        let goals = self.monitors[0].status(&Budget::unlimited()).unwrap().goals;
        goals.into_iter().find(|goal| goal.goal == name).unwrap().status
    }

    fn fact(&mut self, name: &str) -> Truth {
        let facts = self.monitors[0].status(&Budget::unlimited()).unwrap().facts;
        facts.into_iter().find(|fact| fact.property == name).unwrap().truth
    }
}

fn observation(vocabulary: &Vocabulary<'_>, record: &str) -> Result<IsplObservation, BadEntry> {
    vocabulary.observation(record.split_whitespace().filter_map(|entry| entry.split_once('=')))
}

#[test]
fn goals_are_reached_at_risk_and_lost() {
    let lift = system(LIFT);
    let mut logs = Logs::new(&lift, &IsplOptions::default());
    assert_eq!((logs.goal("reach"), logs.goal("sure")), (GoalStatus::Certain, GoalStatus::Possible));
    // The first record has no action, so it describes an initial state.
    assert_eq!(logs.add("Environment.light=green").n_states, 1);
    let up = logs.add("Environment.Action=up Bob.Action=wait");
    assert_eq!((up.event, up.goals.len()), (EventVerdict::Possible, 0));
    // Nothing is said of the Environment: it may have held, and then the light is red.
    let step = logs.add("Bob.Action=wait");
    assert_eq!((step.n_states, logs.goal("reach")), (3, GoalStatus::AtRisk));
    assert_eq!(logs.fact("lit"), Truth::Possible);
    logs.add("Environment.floor=2");
    assert_eq!(logs.goal("reach"), GoalStatus::Reached);
    // Bob did not enter on floor 0. He may go down, enter and go up, unless the Environment has held.
    assert_eq!(logs.goal("both"), GoalStatus::AtRisk);
    logs.add("Environment.light=red");
    assert_eq!((logs.goal("reach"), logs.goal("both")), (GoalStatus::Reached, GoalStatus::Lost));
    assert_eq!(logs.fact("lit"), Truth::Impossible);
    assert_eq!(logs.monitors[0].close(&Budget::unlimited()).unwrap().goals.len(), 1);
}

#[test]
fn violations_say_what_was_possible() {
    let lift = system(LIFT);
    let mut logs = Logs::new(&lift, &IsplOptions::default());
    logs.add("Bob.inside=false");
    logs.add("Bob.Action=enter Environment.Action=hold");
    let again = logs.violation("Bob.Action=enter");
    assert_eq!(again.instead, ["Bob.Action = wait"]);
    assert_eq!(again.because[0].text, "the protocol of `Bob` does not allow `enter` in any possible state");
    assert_eq!(again.because[0].rules.len(), 1);
    let up = logs.violation("Environment.Action=up Environment.floor=1 Bob.inside=true");
    assert_eq!(up.instead, ["Environment.floor = 0, Bob.inside = true"]);
    assert_eq!(up.because[0].text, "no possible step leads to `Environment.floor = 1`");
    // The log continues after a violation, from where it was.
    let next = logs.violation("Environment.Action=down go=true");
    assert_eq!(
        (next.instead, &next.because[0].text[..]),
        (vec!["!go".to_string()], "no possible step leads to `go`")
    );
    assert_eq!(logs.add("Environment.Action=down Environment.floor=0").event, EventVerdict::Possible);
    let mut first = Logs::new(&lift, &IsplOptions::default());
    let start = first.violation("Environment.floor=1 Bob.inside=true");
    assert_eq!(start.because[0].text, "no initial state has `Environment.floor = 1` and `Bob.inside = true`");
}

#[test]
fn unseen_steps_meet_a_condition() {
    let mut lift = system(LIFT);
    let (environment, hold) = (lift.environment.unwrap(), ActionId(2));
    let holds = lift.exprs.action_is(environment, hold);
    let unseen = lift.exprs.not(holds);
    let mut logs = Logs::new(&lift, &IsplOptions { unseen: Some(unseen), ..IsplOptions::default() });
    // Any number of steps without `hold` may have happened before.
    let two = logs.add("Environment.Action=up Environment.floor=2");
    assert_eq!(two.event, EventVerdict::Possible);
    assert_eq!(logs.goal("reach"), GoalStatus::Reached);
    logs.add("Environment.Action=hold inside=true");
    assert_eq!(logs.fact("lit"), Truth::Impossible);
    // The light is red: the lift can only go down without a record.
    let mut logs = Logs::new(&lift, &IsplOptions { unseen: Some(unseen), ..IsplOptions::default() });
    logs.add("Environment.Action=hold Environment.floor=1");
    let up = logs.violation("Environment.Action=hold Environment.floor=2");
    assert_eq!(up.instead, ["Environment.floor = 0", "Environment.floor = 1"]);
}

#[test]
fn a_view_is_remembered() {
    let lift = system(LIFT);
    let vocabulary = Vocabulary::new(&lift, None);
    let bob = vocabulary.agent("Bob").unwrap();
    let options = IsplOptions { viewer: Some(bob), ..IsplOptions::default() };
    let mut logs = Logs::new(&lift, &options);
    logs.add("Environment.floor=0 Bob.inside=false");
    assert_eq!((logs.fact("lit"), logs.fact("known")), (Truth::Certain, Truth::Impossible));
    logs.add("Environment.floor=1 Bob.inside=false");
    // Bob remembers that the lift went up, so the light is green; from what he sees now alone he would not know.
    assert_eq!((logs.fact("lit"), logs.fact("known")), (Truth::Certain, Truth::Impossible));
    logs.add("Environment.floor=1 Bob.inside=false");
    // The lift has stayed where it was, so the Environment has held.
    assert_eq!((logs.fact("lit"), logs.fact("known")), (Truth::Impossible, Truth::Impossible));
    assert_eq!(logs.vocabulary.gaps(&IsplObservation::default()), ["Environment.floor", "Bob.inside"]);
    let refused = |record: &str| observation(&logs.vocabulary, record).unwrap_err().to_string();
    assert_eq!(
        refused("Environment.light=red"),
        "agent `Bob` does not see `Environment.light`; its view has `Environment.floor`, `Bob.inside`, `Bob.Action`"
    );
    assert!(
        refused("Environment.Action=up").starts_with("agent `Bob` does not see the actions of other agents")
    );
    assert!(refused("go=true").contains("does not see `Environment.light`, on which `go` depends"));
    assert!(observation(&logs.vocabulary, "top=true inside=false Bob.Action=wait").is_ok());
    let both = IsplOptions { unseen: Some(lift.initial), ..options };
    let refusal = IsplModel::open(&lift, &both, &Budget::unlimited()).err();
    assert!(matches!(refusal, Some(NotOpened::Refused(message)) if message.contains("view of `Bob`")));
}

#[rustfmt::skip]
#[test]
fn unknown_names() {
    let lift = system(LIFT);
    let vocabulary = Vocabulary::new(&lift, None);
    let rows = [
        ("Bib.inside=true",          "there is no agent `Bib`",                               "did you mean `Bob`?"),
        ("Catherine.x=1",            "there is no agent `Catherine`",                         "the agents are `Environment`, `Bob`"),
        ("Bob.insid=true",           "agent `Bob` has no variable `insid`",                   "did you mean `inside`?"),
        ("Bob.weight=3",             "agent `Bob` has no variable `weight`",                  "a log may mention its `inside`, `Action`"),
        ("Bob.Action=jump",          "agent `Bob` has no action `jump`",                      "its actions are `enter`, `wait`"),
        ("Bob.Action=entr",          "agent `Bob` has no action `entr`",                      "did you mean `enter`?"),
        ("Bob.inside=maybe",         "variable `Bob.inside` has no value `maybe`",            "its values are true and false"),
        ("Environment.floor=3",      "variable `Environment.floor` has no value `3`",         "its values are 0..2"),
        ("Environment.floor=one",    "variable `Environment.floor` has no value `one`",       "its values are 0..2"),
        ("Environment.light=blue",   "variable `Environment.light` has no value `blue`",      "its values are `red`, `green`"),
        ("tip=true",                 "there is no proposition `tip`",                         "did you mean `top`?"),
        ("weather=true",             "there is no proposition `weather`",                     "expected `Agent.variable`, `Agent.Action` or a proposition"),
        ("top=yes",                  "proposition `top` has no value `yes`",                  "its values are true and false"),
    ];
    for (record, message, help) in rows {
        let bad = observation(&vocabulary, record).unwrap_err();
        assert_eq!((&bad.message[..], bad.help.as_deref()), (message, Some(help)), "{record}");
    }
    assert_eq!(vocabulary.agent("Bbo").unwrap_err().help.as_deref(), Some("did you mean `Bob`?"));
}

#[test]
fn goals_are_recognised() {
    let rows = [
        ("EF p", Some((true, false))),
        ("AF p", Some((true, true))),
        ("E(true U p)", Some((true, false))),
        ("A(true U !p)", Some((false, true))),
        ("!AG p", Some((false, false))),
        ("!AG !p", Some((true, false))),
        ("!EG !p", Some((true, true))),
        ("!!EF !!p", Some((true, false))),
        ("CTL* E(F p)", Some((true, false))),
        ("LTL F p", Some((true, true))),
        ("LTL F (G p)", None),
        ("AG p", None),
        ("E(p U p)", None),
        ("p", None),
        ("EX p", None),
        ("!EF p", None),
        ("EF p and EF !p", None),
    ];
    for (text, expected) in rows {
        let model = LIFT.split("Formulae").next().unwrap().replace("top if", "p if");
        let system = load(&format!("{model} Formulae {text}; end Formulae"), Deadlock::Finite);
        let system = system.unwrap_or_else(|| panic!("{text}"));
        let goal = goal_of(&system.formulas, system.properties[0].formula);
        let found = goal.map(|Goal { holds, on_all_paths, .. }| (holds, on_all_paths));
        assert_eq!(found, expected, "{text}");
    }
}

/// A run that ends has not reached a goal, although `AF` says nothing about it.
#[test]
fn ended_runs_lose_their_goals() {
    let text = "
        Agent A
          Vars: n : 0..3; end Vars
          Actions = {step, jump};
          Protocol: n = 0 : {step, jump}; n = 1 : {step}; end Protocol
          Evolution: n = n + 1 if Action = step; n = 3 if Action = jump; end Evolution
        end Agent
        Evaluation two if A.n = 2; end Evaluation
        InitStates A.n = 0; end InitStates
        Formulae sure : AF two; end Formulae";
    let system = system(text);
    let mut logs = Logs::new(&system, &IsplOptions::default());
    assert_eq!(logs.goal("sure"), GoalStatus::Possible);
    logs.add("A.Action=jump");
    assert_eq!(logs.goal("sure"), GoalStatus::Lost);
    assert_eq!(logs.monitors[0].is_over(&Budget::unlimited()), Ok(true));
    let over = logs.violation("A.Action=step");
    assert_eq!(over.because[0].text, "no possible state has a successor: the run is over");
    assert_eq!(over.instead, [""; 0]);
    let mut logs = Logs::new(&system, &IsplOptions::default());
    logs.add("A.Action=step");
    assert_eq!(logs.goal("sure"), GoalStatus::Certain);
}

#[test]
fn models_without_runs_are_refused() {
    let without = LIFT.replace(
        "InitStates Environment.floor = 0 and",
        "InitStates Environment.floor = 0 and Environment.floor = 1 and",
    );
    let lift = system(&without);
    let refusal = IsplModel::open(&lift, &IsplOptions::default(), &Budget::unlimited()).err();
    assert!(matches!(refusal, Some(NotOpened::Refused(message)) if message.contains("InitStates")));
    let unfair = LIFT.replace("Formulae\n", "Fairness top and !top; end Fairness\nFormulae\n");
    let lift = system(&unfair);
    let refusal = IsplModel::open(&lift, &IsplOptions::default(), &Budget::unlimited()).err();
    assert_eq!(refusal, Some(NotOpened::Stopped(Why::NoFairPath.into())));
}

#[test]
fn unfair_steps_are_impossible() {
    let fair = LIFT.replace("Formulae\n", "Fairness top; !top; end Fairness\nFormulae\n");
    let lift = system(&fair);
    let mut logs = Logs::new(&lift, &IsplOptions::default());
    logs.add("Environment.floor=0");
    // With a red light the lift cannot go up again and again.
    let hold = logs.violation("Environment.Action=hold");
    assert_eq!(hold.because[0].text, "no fair path continues after a step with `Environment.Action = hold`");
    assert_eq!(hold.instead, ["Environment.Action = up", "Environment.Action = down"]);
    assert_eq!(logs.fact("lit"), Truth::Certain);
}

/// If one agent chooses who moves, the relation consists of events, which mention few protocols. A condition on the
/// action of an agent that an event does not mention still requires that its protocol allows the action.
#[test]
fn a_scheduler_does_not_hide_protocols() {
    let agents: String = (1..=6)
        .map(|i| {
            let protocol = if i == 2 { "x = 0 : {a}; Other : {a, b};" } else { "Other : {a};" };
            format!(
                "Agent A{i}
                   Vars: x : 0..2; end Vars
                   Actions = {{a, b}};
                   Protocol: {protocol} end Protocol
                   Evolution:
                     x = x + 1 if Environment.Action = turn{i} and Action = a and x < 2;
                     x = 0 if Environment.Action = turn{i} and Action = b;
                   end Evolution
                 end Agent "
            )
        })
        .collect();
    let text = format!(
        "Agent Environment
           Actions = {{turn1, turn2, turn3, turn4, turn5, turn6}};
           Protocol: Other : {{turn1, turn2, turn3, turn4, turn5, turn6}}; end Protocol
         end Agent
         {agents}
         Evaluation top if A1.x = 2; end Evaluation
         InitStates A1.x = 0 and A2.x = 0 and A3.x = 0 and A4.x = 0 and A5.x = 0 and A6.x = 0; end InitStates
         Formulae AF top; EF top; end Formulae"
    );
    let mut system = system(&text);
    let environment = system.environment.unwrap();
    let vocabulary = Vocabulary::new(&system, None);
    let second = vocabulary.agent("A2").unwrap();
    let turn = system.exprs.action_is(environment, ActionId(0));
    let plays_b = system.exprs.action_is(second, ActionId(1));
    let unseen = system.exprs.and(vec![turn, plays_b]);
    let mut logs = Logs::new(&system, &IsplOptions { unseen: Some(unseen), ..IsplOptions::default() });
    for monitor in &mut logs.monitors {
        // A2 cannot play b at x = 0, so no step is unseen.
        assert_eq!(monitor.status(&Budget::unlimited()).unwrap().n_states, 1);
    }
    let b = logs.violation("Environment.Action=turn1 A2.Action=b");
    assert_eq!(
        b.instead,
        (1..=6).map(|i| format!("Environment.Action = turn{i}, A2.Action = a")).collect::<Vec<_>>()
    );
    // At x = 1 it can, while A1 moves up to x = 2.
    assert_eq!(logs.add("Environment.Action=turn2 A2.x=1").n_states, 3);
    assert_eq!(logs.add("Environment.Action=turn1 A2.Action=b A1.x=2").n_states, 1);
}

/// A call that runs out of budget changes nothing and can be repeated.
#[test]
fn limits_leave_the_log_as_it_was() {
    let mut lift = system(LIFT);
    let unseen = lift.exprs.bool(true);
    for store in [StateStore::Stored, StateStore::Diagrams] {
        let options = IsplOptions { unseen: Some(unseen), store, ..IsplOptions::default() };
        let vocabulary = Vocabulary::new(&lift, None);
        let record = observation(&vocabulary, "Bob.Action=enter inside=true").unwrap();
        let unlimited = Budget::unlimited();
        let model = IsplModel::open(&lift, &options, &unlimited).unwrap();
        let mut patient = model.monitor();
        let expected = patient.observe(&record, &unlimited).unwrap();
        // Another model, because successors that are known take no steps.
        let model = IsplModel::open(&lift, &options, &unlimited).unwrap();
        let mut log = model.monitor();
        let before = log.status(&unlimited).unwrap();
        let mut n_stops = 0;
        let judgement = loop {
            match log.observe(&record, &unlimited.clone().with_steps(n_stops)) {
                Ok(judgement) => break judgement,
                Err(stop) => assert_eq!(stop.why, Why::Timeout),
            }
            assert_eq!(log.status(&unlimited).unwrap(), before);
            n_stops += 1;
        };
        assert!(n_stops > 5, "{n_stops}");
        assert_eq!(judgement, expected);
        let opened = |steps| IsplModel::open(&lift, &options, &unlimited.clone().with_steps(steps));
        assert!(matches!(opened(0), Err(NotOpened::Stopped(stop)) if stop.why == Why::Timeout));
    }
}

/// Stored states get a part of the budget only. What they lack, diagrams may have.
#[test]
fn large_models_become_diagrams() {
    let agents: String = (1..=13)
        .map(|i| {
            format!(
                "Agent A{i}
                   Vars: x : 0..2; end Vars
                   Actions = {{up, wait}};
                   Protocol: Other : {{up, wait}}; end Protocol
                   Evolution: x = x + 1 if Action = up and x < 2; end Evolution
                 end Agent "
            )
        })
        .collect();
    let start: Vec<String> = (1..=13).map(|i| format!("A{i}.x = 0")).collect();
    let text = format!(
        "{agents}
         Evaluation top if A1.x = 2 and A13.x = 2; end Evaluation
         InitStates {}; end InitStates
         Formulae EF top; AF top; !top; end Formulae",
        start.join(" and ")
    );
    let system = system(&text);
    let budget = Budget::unlimited();
    let model = IsplModel::open(&system, &IsplOptions::default(), &budget).unwrap();
    assert!(!model.is_stored(), "there are 1 594 323 states");
    let mut log = model.monitor();
    let vocabulary = Vocabulary::new(&system, None);
    let record = observation(&vocabulary, "A1.Action=up A13.Action=up").unwrap();
    let once = log.observe(&record, &budget).unwrap();
    // The other eleven agents moved or waited.
    assert_eq!((once.n_states, once.goals.len()), (1 << 11, 0));
    let twice = log.observe(&record, &budget).unwrap();
    assert_eq!(twice.n_states, 3_u64.pow(11));
    let reached: Vec<&GoalStatus> = twice.goals.iter().map(|goal| &goal.status).collect();
    assert_eq!(reached, [&GoalStatus::Reached; 2]);
    let few = IsplOptions { store: StateStore::Auto { max_stored: 2_000_000 }, ..IsplOptions::default() };
    let little = Budget::unlimited().with_memory(64 << 20);
    assert!(
        !IsplModel::open(&system, &few, &little).unwrap().is_stored(),
        "a quarter of the memory is too little"
    );
}

/// A property that is not decided is unknown in all judgements; the others are judged.
#[test]
fn undecided_properties_are_unknown() {
    let mut lift = system(LIFT);
    let top = lift.formulas.add(Formula::Proposition(PropositionId(0)));
    // A path formula in place of a state formula, and a goal about one.
    let finally = lift.formulas.add(Formula::Finally(top));
    let odd = lift.formulas.add(Formula::Not(finally));
    lift.properties.push(Property::new("odd", odd, At::Initial, Default::default()));
    let mut logs = Logs::new(&lift, &IsplOptions::default());
    logs.add("go=true");
    assert_eq!(logs.fact("odd"), Truth::Unknown("unsupported".to_string()));
    assert_eq!((logs.fact("lit"), logs.goal("reach")), (Truth::Certain, GoalStatus::Certain));
}
