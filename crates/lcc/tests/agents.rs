//! Agents that pass tuples, without any shared state: their steps together are runs of the whole system.

use std::collections::{BTreeSet, VecDeque};

use masque_lcc::{AgentSetup, AgentSide, AgentStatus, EventSelector, Session, Setup, Text};
use masque_verdict::Budget;

fn setup(text: &str) -> Setup {
    Setup { files: vec![Text::new("agent.lcc", text)], ..Setup::default() }
}

fn side(id: &str, text: &str) -> Option<AgentSide> {
    let setup = AgentSetup { id: id.to_string(), setup: setup(text), max_steps: 12, properties: Vec::new() };
    AgentSide::open(setup).ok()
}

/// Replays steps in a session of the whole system. Of several states with one label, all are followed.
fn replay(text: &str, labels: &[String]) -> Result<Vec<Session>, String> {
    let mut states: Vec<Vec<String>> = vec![Session::open(setup(text)).unwrap().state()];
    for label in labels {
        let mut next: Vec<Vec<String>> = Vec::new();
        for state in &states {
            let mut session = Session::open(setup(text)).unwrap();
            session.place(&state.join("\n")).unwrap();
            for event in session.possible_events().next {
                if event.event.label == *label {
                    let mut other = Session::open(setup(text)).unwrap();
                    other.place(&state.join("\n")).unwrap();
                    other.advance(&EventSelector::Index(event.number)).unwrap();
                    let state = other.state();
                    if !next.contains(&state) {
                        next.push(state);
                    }
                }
            }
        }
        if next.is_empty() {
            return Err(format!("{label} is not possible in {states:#?}"));
        }
        states = next;
    }
    let session = |state: Vec<String>| {
        let mut session = Session::open(setup(text)).unwrap();
        session.place(&state.join("\n")).unwrap();
        session
    };
    Ok(states.into_iter().map(session).collect())
}

/// Plays random protocols with one side per agent and replays the steps.
#[test]
fn the_steps_of_all_sides_are_a_run_of_the_whole_system() {
    let (mut n_protocols, mut n_steps, mut n_tuples, mut n_ended) = (0, 0, 0, 0);
    let seeds = std::env::var("SEEDS").ok().and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    for seed in seeds.clone().unwrap_or(0..1_500_u64) {
        let text = if seed % 2 == 0 {
            crate::random::talkers(seed)
        } else {
            crate::random::instance(seed + 800_000)
        };
        // Tuples are under way one by one, so a bound on them would hide runs.
        let lines = text.lines().filter(|line| !line.starts_with("option cap") && !line.contains("comm"));
        let text = format!("{}\noption cap = 5000.", lines.collect::<Vec<_>>().join("\n"));
        let Ok(session) = Session::open(setup(&text)) else { continue };
        let team = session.team();
        let budget = Budget::unlimited();
        let Some(mut sides) = team.iter().map(|id| side(id, &text)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        n_protocols += 1;
        let (mut queue, mut labels) = (VecDeque::new(), Vec::new());
        for side in &mut sides {
            let played = side.start("i1", &budget).unwrap();
            labels.extend(played.steps);
            queue.extend(played.tuples);
        }
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..20 {
            if queue.is_empty() {
                break;
            }
            let tuple: String = queue.remove(rng.usize(0..queue.len())).unwrap();
            n_tuples += 1;
            let receiver = tuple.split(", (").next().unwrap();
            let taken = sides.iter_mut().zip(&team).find(|(_, id)| receiver.contains(&format!("), {id}, ")));
            let Some((side, _)) = taken else { continue };
            let played = side
                .receive(&tuple, &budget)
                .unwrap_or_else(|found| panic!("{text}\n{tuple}\n{:#?}", found.diagnostics));
            labels.extend(played.steps);
            queue.extend(played.tuples);
        }
        n_steps += labels.len();
        let ends =
            replay(&text, &labels).unwrap_or_else(|what| panic!("seed {seed}\n{text}\n{labels:#?}\n{what}"));
        n_ended += usize::from(ends.into_iter().any(|mut end| end.is_final()));
    }
    println!("{n_protocols} protocols, {n_steps} steps, {n_tuples} tuples, {n_ended} ended");
    if seeds.is_none() {
        assert!(
            n_protocols > 1_000 && n_steps > 3_000 && n_tuples > 500 && n_ended > 20,
            "{n_protocols} {n_steps} {n_tuples} {n_ended}"
        );
    }
}

const SHOP: &str = "a(buyer, B) :: offer(10) => a(seller, sue) then (ok <= a(seller, S) or no <= a(seller, S)).
    a(seller, S) :: offer(P) <= a(buyer, B) then (ok => a(buyer, B) <- fair(P) or no => a(buyer, B) <- not fair(P)).
    agent a(buyer, ben). agent a(seller, sue).";

/// An agent whose rules forbid its step names the rule, and passes nothing on.
#[test]
fn rules_and_properties_block_steps() {
    let budget = Budget::unlimited();
    let mut ben = side("ben", SHOP).unwrap();
    let offer = ben.start("deal", &budget).unwrap().tuples.remove(0);
    // The agent's own texts, the steps, and what blocks it.
    #[rustfmt::skip]
    let rows = [
        ("know sue: fair(10).",                                  2, ""),
        ("",                                                     2, ""),
        ("know sue: fair(10). rule sue: (self, _, -send(ok)).",  0, "sue could not send(ok): rule 1 of sue forbids it"),
        ("rule sue: (_, ben, -receive(offer(_))).",              0, "sue could not receive(offer(10)): rule 1 of sue forbids it"),
    ];
    for (text, n_steps, blame) in rows {
        let played = side("sue", text).unwrap().receive(&offer, &budget).unwrap();
        assert_eq!(played.steps.len(), n_steps, "{text} {played:?}");
        match &played.status {
            AgentStatus::Blocked(reasons) => {
                assert!(
                    !blame.is_empty() && reasons.iter().any(|reason| reason.starts_with(blame)),
                    "{reasons:?}"
                );
                assert!(played.tuples.is_empty());
            }
            status => assert_eq!((status, blame), (&AgentStatus::Finished, ""), "{text}"),
        }
    }
    let asked = |property: &str| {
        let properties = vec![property.to_string()];
        let setup = AgentSetup {
            id: "sue".to_string(),
            setup: setup("know sue: fair(10)."),
            max_steps: 9,
            properties,
        };
        AgentSide::open(setup).unwrap().receive(&offer, &budget).unwrap()
    };
    assert_eq!(asked("AF final").status, AgentStatus::Finished);
    let blocked = asked("EF <in(no)>tt");
    let AgentStatus::Blocked(reasons) = &blocked.status else { panic!("{blocked:?}") };
    assert!(reasons[0].starts_with("`EF <in(no)>tt` would fail after in(offer(10)"), "{reasons:?}");
}

/// Tuples that an agent refuses; its state stays as it was.
#[test]
fn foreign_tuples_are_refused() {
    let budget = Budget::unlimited();
    let mut ben = side("ben", SHOP).unwrap();
    let offer = ben.start("deal", &budget).unwrap().tuples.remove(0);
    let answer = side("sue", "").unwrap().receive(&offer, &budget).unwrap().tuples.remove(0);
    let rows = [
        (offer.clone(), "lcc/other-agent"),
        (answer.replacen("(deal", "(steal", 1), "lcc/other-interaction"),
        (answer.replacen("offer(10) =>", "offer(1) =>", 1), "lcc/other-protocol"),
        (answer.replacen("{}))", "{rich(ben).}))", 1), "lcc/other-protocol"),
        (answer[..answer.len() / 2].to_string(), "lcc/unbalanced"),
        ("hello".to_string(), "lcc/syntax"),
        (String::new(), "lcc/syntax"),
    ];
    for (tuple, code) in rows {
        let refused = ben.receive(&tuple, &budget).unwrap_err();
        assert_eq!(refused.diagnostics[0].code, code, "{tuple}");
        drop(masque_text::render(&refused.sources, &refused.diagnostics[0], false));
    }
    let ended = ben.receive(&answer, &budget).unwrap();
    assert_eq!((ended.status, ended.steps.len()), (AgentStatus::Finished, 1));
    assert!(side("sue", "know sue: fair(10).").unwrap().start("deal", &budget).is_err());
    assert!(side("sam", SHOP).is_none());
    assert!(side("sue", &format!("{SHOP} option comm = sync.")).is_none());
}

const CLERKS: &str = "a(buyer, B) :: order => a(shop, sue) then (no <= a(shop, S) or ok <= a(shop, S)).
    a(shop, S) :: order <= a(buyer, B) then ask => a(store, tom) then have <= a(store, T)
        then (no => a(buyer, B) or ok => a(buyer, B)).
    a(store, T) :: ask <= a(shop, S) then have => a(shop, S).
    agent a(buyer, ben). agent a(shop, sue). agent a(store, tom).";

/// Plays `CLERKS` to its end, each agent with its own rules and properties. Returns all steps, the last status of
/// sue, and all tuples.
fn play(rules: [&str; 3], properties: [&[&str]; 3]) -> (Vec<String>, AgentStatus, Vec<String>) {
    play_in(CLERKS, rules, properties)
}

/// Does this in another protocol between the same agents.
fn play_in(
    protocol: &str,
    rules: [&str; 3],
    properties: [&[&str]; 3],
) -> (Vec<String>, AgentStatus, Vec<String>) {
    let budget = Budget::unlimited();
    let mut sides: Vec<(&str, AgentSide)> = Vec::new();
    for (index, id) in ["ben", "sue", "tom"].into_iter().enumerate() {
        let setup = AgentSetup {
            id: id.to_string(),
            setup: setup(&format!("{protocol} {}", rules[index])),
            max_steps: 12,
            properties: properties[index].iter().map(|name| name.to_string()).collect(),
        };
        sides.push((id, AgentSide::open(setup).unwrap()));
    }
    let first = sides[0].1.start("i1", &budget).unwrap();
    let (mut steps, mut queue, mut tuples) = (first.steps, VecDeque::from(first.tuples), Vec::new());
    let mut status = AgentStatus::Idle;
    while let Some(tuple) = queue.pop_front() {
        let (_, side) =
            sides.iter_mut().find(|(id, _)| tuple.contains(&format!("), {id}, "))).expect("a receiver");
        let played = side.receive(&tuple, &budget).unwrap_or_else(|found| panic!("{tuple}\n{found:?}"));
        if tuple.contains("), sue, ") {
            status = played.status;
        }
        tuples.push(tuple);
        steps.extend(played.steps);
        queue.extend(played.tuples);
    }
    (steps, status, tuples)
}

/// An obligation that was triggered before the last tuple is remembered: sue, who would refuse, must agree.
#[test]
fn due_obligations_are_remembered() {
    let rule = "rule sue: (self, _, !send(ok)) after in(order)@sue.";
    let (steps, status, _) = play(["", "", ""], [&[], &[], &[]]);
    assert_eq!((status, steps.iter().any(|step| step.starts_with("out(no,"))), (AgentStatus::Finished, true));
    let (steps, status, tuples) = play(["", rule, ""], [&[], &["obligation_1"], &[]]);
    assert_eq!(status, AgentStatus::Finished, "{steps:#?}");
    assert!(steps.iter().any(|step| step.starts_with("out(ok,")), "{steps:#?}");
    // Tom, who does not know the rule, passes it on; in the end it is met.
    let text = "rule sue: (sue, V0, !send(ok)) after in(order)@sue.";
    let due: Vec<&str> =
        tuples.iter().filter_map(|tuple| Some(tuple.split_once("due(")?.1.split_once(text)?.0)).collect();
    assert_eq!(due, ["sue, 1, 0) ", "sue, 1, 0) ", "sue, 1, 1) "], "{tuples:#?}");
}

/// An event with a value makes an instance of an obligation due, which only an answer with that value meets.
#[test]
fn instances_of_obligations_are_due_separately() {
    let protocol = CLERKS.replace("order =>", "order(5) =>").replace("order <=", "order(N) <=");
    let protocol =
        protocol.replace("ok <=", "ok(_) <=").replace("or ok =>", "or ok(7) => a(buyer, B) or ok(N) =>");
    let rule = |shared: &str| format!("rule sue: (self, _, !send(ok({shared}))) after in(order(N))@sue.");
    for (shared, expected) in [("M", "out(ok(7),"), ("N", "out(ok(5),")] {
        let (steps, status, tuples) =
            play_in(&protocol, ["", &rule(shared), ""], [&[], &["obligation_1"], &[]]);
        assert_eq!(status, AgentStatus::Finished, "{steps:#?}");
        assert!(steps.iter().any(|step| step.starts_with(expected)), "{shared}: {steps:#?}");
        if shared == "N" {
            let text = "rule sue: (sue, V0, !send(ok(5))) after in(order(5))@sue.";
            assert!(tuples[1].contains(&format!("due(sue, 1, 0) {text}")), "{tuples:#?}");
            assert!(tuples[3].contains(&format!("due(sue, 1, 1) {text}")), "{tuples:#?}");
        }
    }
}

/// The event of one agent makes an obligation of another due. The copies of the rule may be spelt differently.
#[test]
fn an_obligation_travels_with_the_tuple() {
    let copies = [
        "rule hd: (sue, O, !send(ok)) after out(order)@ben.",
        "enforced by hd: (sue, Any, !send(ok)) after out(order)@ben /* Ben asked */ .",
        "",
    ];
    let (steps, status, _) = play(copies, [&[], &["obligation_1"], &[]]);
    assert_eq!(status, AgentStatus::Finished);
    assert!(steps.iter().any(|step| step.starts_with("out(ok,")), "{steps:#?}");
    // Until: the answer of tom settles it.
    let until = copies.map(|rule| rule.replace("@ben", "@ben until out(have)@tom"));
    let (steps, ..) = play([&until[0], &until[1], &until[0]], [&[], &["obligation_1"], &[]]);
    assert!(steps.iter().any(|step| step.starts_with("out(no,")), "{steps:#?}");
    // An obligation that cannot be met blocks the step that makes it due.
    let late = "rule sue: (self, _, !send(bill)) after in(order)@sue.";
    let (steps, status, _) = play(["", late, ""], [&[], &["obligation_1"], &[]]);
    let AgentStatus::Blocked(reasons) = status else { panic!("{status:?}") };
    assert!(
        reasons[0].starts_with("`obligation_1` is due and could not be met after in(order,"),
        "{reasons:?}"
    );
    assert_eq!(steps.len(), 1);
}

/// Tuples of the paper's form have no `due` statements. Old counts do not make an obligation due again.
#[test]
fn counts_of_tuples_are_joined() {
    let rule = "rule sue: (self, _, !send(ok)) after in(order)@sue.";
    let open = || {
        let properties = vec!["obligation_1".to_string()];
        let setup = AgentSetup {
            id: "sue".to_string(),
            setup: setup(&format!("{CLERKS} {rule}")),
            max_steps: 12,
            properties,
        };
        AgentSide::open(setup).unwrap()
    };
    let budget = Budget::unlimited();
    let mut ben = side("ben", CLERKS).unwrap();
    let order = ben.start("i1", &budget).unwrap().tuples.remove(0);
    let due =
        |counts: &str, rule: &str| order.replacen("}, {", &format!("}}, {{due(sue, {counts}) {rule} "), 1);
    for (counts, next) in [("1, 0", "2, 0"), ("4, 4", "5, 4"), ("2, 9", "3, 2")] {
        let played = open().receive(&due(counts, rule), &budget).unwrap();
        assert!(played.tuples[0].contains(&format!("due(sue, {next}) rule sue:")), "{}", played.tuples[0]);
    }
    // What cannot be read is refused, and the state is unchanged.
    let mut sue = open();
    let many: String = (0..1001)
        .map(|number| format!("due(ben, 1, 0) rule ben: (ben, _, !act{number}) after out(order). "))
        .collect();
    let refused = sue.receive(&order.replacen("}, {", &format!("}}, {{{many}"), 1), &budget).unwrap_err();
    assert_eq!(refused.diagnostics[0].code, "lcc/too-many-obligations");
    for (counts, rule, code) in [
        ("1, 0", "rule sue: (self, _, +send(ok)).", "lcc/no-obligation"),
        ("1", rule, "lcc/syntax"),
        ("x, 0", rule, "lcc/syntax"),
        ("1, 0", "agent a(buyer, bob).", "lcc/no-obligation"),
    ] {
        let refused = sue.receive(&due(counts, rule), &budget).unwrap_err();
        assert_eq!(refused.diagnostics[0].code, code, "{counts} {rule}");
    }
    assert_eq!(sue.receive(&order, &budget).unwrap().steps.len(), 2);
}

/// The index of the agent that a tuple is for.
fn receiver(team: &[String], tuple: &str) -> Option<usize> {
    let head = tuple.split(", (").next().unwrap_or_default();
    team.iter().position(|id| head.contains(&format!("), {id}, ")))
}

/// An event of one of the sides, and the events before it that the agent knew.
struct KnownEvent {
    agent: usize,
    label: String,
    past: BTreeSet<usize>,
}

/// What a tuple says about one agent and one obligation, transcribed from the definition: of the events in the
/// tuple's past, those of the agent that trigger the obligation, and those of these that are in the past of an
/// event that meets it.
fn expected_counts(
    events: &[KnownEvent],
    past: &BTreeSet<usize>,
    agent: usize,
    rule: &Rule,
) -> (usize, usize) {
    let label = |event: usize| events[event].label.as_str();
    let is_trigger = |event: &usize| events[*event].agent == agent && label(*event).starts_with(rule.trigger);
    let triggers: Vec<usize> = past.iter().copied().filter(is_trigger).collect();
    let meets = |event: usize| rule.meets.iter().any(|start| label(event).starts_with(start));
    let is_met = |one: &&usize| past.iter().any(|other| meets(*other) && events[*other].past.contains(*one));
    (triggers.len(), triggers.iter().filter(is_met).count())
}

/// An obligation, with the beginnings of the labels that trigger and meet it.
struct Rule {
    text: &'static str,
    trigger: &'static str,
    meets: &'static [&'static str],
}

/// The counts in the tuples of random protocols are those of the events that each agent knows.
#[test]
fn counts_are_those_of_the_known_events() {
    #[rustfmt::skip]
    const RULES: [Rule; 3] = [
        Rule { text: "(_, _, !receive(m1(_))) after out(m0).", trigger: "out(m0,", meets: &["in(m1("] },
        Rule { text: "(_, _, !send(m0)) after in(m0) until out(m1(_)).", trigger: "in(m0,", meets: &["out(m0,", "out(m1("] },
        Rule { text: "(_, _, !send(_)) after #.", trigger: "#@", meets: &["out("] },
    ];
    let (mut n_protocols, mut n_tuples, mut n_due, mut n_met) = (0, 0, 0, 0);
    for seed in masque_testkit::seeds("0..600") {
        let rule = &RULES[seed as usize % 3];
        let protocol =
            format!("{}\nrule boss: {}\noption cap = 5000.", crate::random::talkers(seed), rule.text);
        let Ok(session) = Session::open(setup(&protocol)) else { continue };
        let team = session.team();
        let Some(mut sides) = team.iter().map(|id| side(id, &protocol)).collect::<Option<Vec<_>>>() else {
            continue;
        };
        n_protocols += 1;
        let budget = Budget::unlimited();
        let mut events: Vec<KnownEvent> = Vec::new();
        let mut known: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); team.len()];
        let mut queue: Vec<(String, BTreeSet<usize>)> = Vec::new();
        let mut rng = fastrand::Rng::with_seed(seed);
        for turn in 0..team.len() + 12 {
            let (agent, played) = if turn < team.len() {
                (turn, sides[turn].start("i1", &budget).unwrap())
            } else {
                if queue.is_empty() {
                    break;
                }
                let (tuple, past) = queue.swap_remove(rng.usize(0..queue.len()));
                let Some(agent) = receiver(&team, &tuple) else { continue };
                known[agent].extend(past);
                (agent, sides[agent].receive(&tuple, &budget).unwrap())
            };
            for label in played.steps {
                events.push(KnownEvent { agent, label, past: known[agent].clone() });
                known[agent].insert(events.len() - 1);
            }
            for tuple in played.tuples {
                n_tuples += 1;
                for (other, id) in team.iter().enumerate() {
                    let expected = expected_counts(&events, &known[agent], other, rule);
                    let found = tuple.split(&format!("due({id}, ")).nth(1).map_or((0, 0), |rest| {
                        let mut numbers = rest.split([',', ')']).map(|word| word.trim().parse().unwrap_or(0));
                        (numbers.next().unwrap(), numbers.next().unwrap())
                    });
                    assert_eq!(found, expected, "seed {seed} {id}\n{protocol}\n{tuple}");
                    n_due += usize::from(found.0 > found.1);
                    n_met += usize::from(found.1 > 0);
                }
                queue.push((tuple, known[agent].clone()));
            }
        }
    }
    println!("{n_protocols} protocols, {n_tuples} tuples, {n_due} due, {n_met} met");
    assert!(
        n_protocols > 400 && n_tuples > 400 && n_due > 100 && n_met > 50,
        "{n_protocols} {n_tuples} {n_due} {n_met}"
    );
}

/// Texts of an agent, and the protocol of a tuple, that are longer than the limits allow.
#[test]
fn loading_obeys_the_budget() {
    let choices: Vec<String> = (0..20_000).map(|i| format!("m{i} => a(y, B)")).collect();
    let clauses = format!("a(x, A) :: {}. a(y, B) :: m0 <= a(x, A).", choices.join(" or "));
    let own =
        |text: &str| AgentSetup { id: "b".to_string(), setup: setup(text), max_steps: 9, properties: vec![] };
    let small = Budget::unlimited().with_memory(4 << 20);
    let protocol = format!("{clauses} agent a(x, a). agent a(y, b).");
    let refused = AgentSide::open_within(own(&protocol), &small).unwrap_err();
    assert!(refused.stopped.is_some() && refused.diagnostics.is_empty(), "{refused:?}");

    let tuple = format!("(one, m0 <= a(x, a), b, y, ({{{clauses}}}, {{}}, {{}}))");
    let mut side = AgentSide::open(own("know b: f.")).unwrap();
    let refused = side.receive(&tuple, &small).unwrap_err();
    assert!(refused.stopped.is_some() && refused.diagnostics.is_empty(), "{refused:?}");
    assert_eq!(side.receive(&tuple, &Budget::unlimited()).unwrap().status, AgentStatus::Finished);
}
