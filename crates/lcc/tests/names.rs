//! Warnings about unknown names: each unknown name causes one, and no other name does.

use masque_lcc::{
    Candidate, InstanceInput, OpenedInstance, Question, Request, Role, Session, Setup, TeamSelection, Text,
    Update, explore, open, teams,
};
use masque_mu::{Space, check, read_formula};
use masque_testkit::seeds;
use masque_text::{Diagnostic, Sources, render};
use masque_verdict::{Budget, Verdict};

/// Codes of the warnings about names.
const CODES: [&str; 6] = [
    "lcc/no-such-action",
    "lcc/no-such-message",
    "lcc/no-such-predicate",
    "lcc/no-such-role",
    "lcc/nobody",
    "lcc/other-arity",
];

fn opened(text: &str) -> (OpenedInstance, Sources) {
    let mut sources = Sources::default();
    let files = vec![sources.add("random.lcc", text).unwrap()];
    let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
    (opened, sources)
}

fn drawn(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| render(sources, diagnostic, false)).collect()
}

/// A protocol without mistakes causes no warning. With one wrong name, a warning suggests the intended one.
#[test]
fn one_wrong_name_is_found() {
    let (mut n_cases, mut false_alarms, mut missed) = (0, 0, 0);
    let mut examples = String::new();
    for seed in seeds("0..300") {
        let marked = crate::misspelt::protocol(seed);
        let text = crate::misspelt::plain(&marked);
        let (right, sources) = opened(&text);
        n_cases += 1;
        if !right.diagnostics.is_empty() {
            false_alarms += 1;
            examples += &format!("seed {seed}:\n{}{text}\n\n", drawn(&sources, &right.diagnostics));
            continue;
        }
        let changed = crate::misspelt::misspell_one(&marked, seed);
        let (wrong, sources) = opened(&changed.text);
        let intended = format!("`{}", changed.intended);
        let names_intended = |diagnostic: &Diagnostic| {
            let says = |text: &str| text.contains(&intended);
            let is_about_names = CODES.contains(&diagnostic.code) || diagnostic.code == "lcc/unknown-agent";
            is_about_names && (says(&diagnostic.message) || diagnostic.help.as_deref().is_some_and(says))
        };
        if !wrong.diagnostics.iter().any(names_intended) {
            missed += 1;
            examples += &format!(
                "seed {seed}: {} `{}` as `{}`, arity {}:\n{}{}\n\n",
                changed.kind,
                changed.intended,
                changed.written,
                changed.is_arity,
                drawn(&sources, &wrong.diagnostics),
                changed.text
            );
        }
    }
    println!("{n_cases} protocols, {false_alarms} false alarms, {missed} misspelt names not found");
    let shown: String = examples.chars().take(6_000).collect();
    assert!(examples.is_empty(), "{n_cases} cases, {false_alarms} false alarms, {missed} missed\n{shown}");
}

/// A pattern that a warning says matches nothing does not match, in protocols with variables in all
/// positions.
#[test]
fn patterns_reported_as_dead_match_nothing() {
    const PATTERNS: [&str; 28] = [
        "out(_, a(_, unknown))",
        "in(_, a(_, unknown))",
        "out(m0, a(unknown, _))",
        "in(m0, a(unknown, _))",
        "in(m0)",
        "out(m0)",
        "in(m1(_))",
        "out(m1(_))",
        "in(m2(_, _))",
        "out(m2(_, _))",
        "in(m3)",
        "out(m1)",
        "#(p(_))",
        "#(not p(_))",
        "#(q(_, _))",
        "#(not q(_, _))",
        "#(w)",
        "#(not w)",
        "#(v(_))",
        "#(act(_))",
        "#((_, _, +act(_)))",
        "#((_, _, -act(_)))",
        "tau(m0)",
        "tau(m1(_), a(p1(_), _))",
        "out(_, a(q0, _))",
        "out(_, a(p1(_, _), _))",
        "in(_, a(q1(_), _))",
        "#@a(q1(_), x)",
    ];
    let mut n_dead = 0;
    for seed in seeds("0..300") {
        let text = match seed % 3 {
            0 => crate::random::talkers(seed),
            1 => crate::random::twins(seed),
            _ => crate::random::instance(seed),
        };
        let (found, mut sources) = opened(&format!("{text}\noption states = 2000."));
        let Some(mut system) = found.system else { continue };
        for pattern in PATTERNS {
            let formula = format!("<-* . {pattern}>tt");
            let file = sources.add("formula", formula.as_str()).unwrap();
            let (phi, _) = masque_mu::parse_formula(&sources, sources.span(file));
            let (Some(phi), (Some(formula), _)) =
                (phi, read_formula(&sources, sources.span(file), &mut system))
            else {
                continue;
            };
            let warnings = system.name_warnings(&phi);
            if system.remarks(&phi).is_empty() {
                continue;
            }
            n_dead += 1;
            let verdict = check(&mut Space::new(&mut system), &formula, &Budget::unlimited()).verdict;
            assert_ne!(
                verdict,
                Verdict::Holds,
                "seed {seed}, {pattern}\n{}{text}",
                drawn(&sources, &warnings)
            );
        }
    }
    println!("{n_dead} patterns were reported to match nothing");
    assert!(n_dead > 0);
}

/// A statement that a warning says has no effect has none: without it, the numbers of states, transitions and
/// deadlocks and the conflicts are the same.
#[test]
fn statements_reported_as_ineffective_have_no_effect() {
    let mut n_ineffective = 0;
    for seed in seeds("0..300") {
        let text = crate::random::instance(seed);
        let text = format!("option states = 300.\n{text}");
        let (found, _) = opened(&text);
        let Some(mut system) = found.system else { continue };
        // These warnings are excluded: the object of a rule is ignored if the action has no object, a
        // condition that is never met may be negated, and a rule that permits no message still makes messages
        // regulated.
        let ineffective = found.diagnostics.iter().filter(|diagnostic| {
            CODES.contains(&diagnostic.code)
                && !diagnostic.message.contains("nothing else in this instance")
                && !diagnostic.message.contains("no fact or choice is about")
                && !diagnostic.message.contains("no rule is about")
                && !diagnostic.primary.as_ref().is_some_and(|label| label.text.contains("permits no message"))
        });
        // The text is the first file, so spans are offsets into it.
        let line = |d: &Diagnostic| text[..d.primary.as_ref().unwrap().span.start as usize].lines().count();
        let lines: Vec<usize> = ineffective.map(line).collect();
        for line in lines {
            n_ineffective += 1;
            let fewer: Vec<&str> = text
                .lines()
                .enumerate()
                .filter(|(index, _)| index + 1 != line)
                .map(|(_, line)| line)
                .collect();
            let (without, _) = opened(&fewer.join("\n"));
            let Some(mut other) = without.system else { continue };
            let budget = Budget::unlimited();
            let counts = [&mut system, &mut other].map(|system| {
                let counts = explore(system, &budget).unwrap();
                (counts, system.conflicts())
            });
            assert_eq!(counts[0], counts[1], "seed {seed}, line {line}\n{text}");
        }
    }
    println!("{n_ineffective} statements were reported to have no effect");
    assert!(n_ineffective > 0);
}

const SHOP: &str = "a(buyer, B) :: request(tea) => a(seller, S) then reply(_) <= a(seller, S).
    a(seller, S) :: request(X) <= a(buyer, B) then reply(X) => a(buyer, B) <- stocked(X).
    agent a(buyer, ben).  agent a(seller, susan).  know susan: stocked(tea).
    rule guild: (S, _, +stocked(_)) <- licensed(S).  know guild: licensed(susan).
    property never : [-* . out(requst(_))]ff ;";

fn codes(diagnostics: &[Diagnostic]) -> Vec<&str> {
    diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// A session warns when it is opened, about added statements, and about formulas each time they are asked.
#[test]
fn sessions_warn_about_names() {
    let setup = Setup { files: vec![Text::new("shop.lcc", SHOP)], ..Setup::default() };
    let mut session = Session::open(setup).unwrap();
    assert_eq!(codes(session.warnings()), ["lcc/no-such-message"]);
    let rows: [(&str, &[&str]); 8] = [
        ("know susan: stocked(milk).", &[]),
        ("know susan: stoked(milk).", &["lcc/no-such-predicate"]),
        ("common stocked(milk, 2).", &["lcc/other-arity"]),
        ("rule guild: (susann, _, -stocked(_)).", &["lcc/nobody"]),
        ("rule guild: (_, _, -stokced(_)).", &["lcc/no-such-action"]),
        ("rule guild: (_, _, -send(repply(_))).", &["lcc/no-such-message"]),
        ("rule guild: (_, _, -stocked(X)) <- banned(X).  know guild: banned(gin).", &[]),
        ("choice susan: stockd/1.", &["lcc/no-such-predicate"]),
    ];
    for (added, expected) in rows {
        let summary = session.update(&Update { add: vec![added.to_string()], remove: Vec::new() }).unwrap();
        assert_eq!(codes(&summary.warnings), expected, "{added}");
        drop(drawn(session.sources(), &summary.warnings));
    }
    let ask = |session: &mut Session, question: &Question| {
        session.check(question, false, &Budget::unlimited()).unwrap()
    };
    let never = ask(&mut session, &Question::Property("never".to_string()));
    assert_eq!(never.remarks, ["the pattern `out(requst(_))` matches nothing"]);
    assert!(never.warnings.is_empty());
    for _ in 0..2 {
        let reply = ask(&mut session, &Question::Formula("AG !at(ben, bayer)".to_string()));
        assert_eq!(reply.remarks, ["`at(ben, bayer)` is never true"]);
        assert_eq!(codes(&reply.warnings), ["lcc/no-such-role"]);
        drop(drawn(session.sources(), &reply.warnings));
        let reply = ask(&mut session, &Question::Formula("EF <in(reply(_))>tt".to_string()));
        assert!(reply.remarks.is_empty() && reply.warnings.is_empty());
    }
}

/// The statements of a state add names.
#[test]
fn a_state_adds_its_names() {
    let setup = Setup { files: vec![Text::new("shop.lcc", SHOP)], ..Setup::default() };
    let mut session = Session::open(setup).unwrap();
    let gift = Question::Formula("<in(gift, a(postman, pete))>tt".to_string());
    let ask = |session: &mut Session| session.check(&gift, false, &Budget::unlimited()).unwrap();
    assert_eq!(ask(&mut session).warnings.len(), 3);
    let state = "now a(buyer, ben) :: gift <= a(postman, P).  mail a(postman, pete) -> a(buyer, ben) : gift.";
    session.place(state).unwrap();
    let reply = ask(&mut session);
    assert_eq!((reply.checked.verdict, reply.warnings.len()), (Verdict::Holds, 0));
}

/// Statements of candidates are checked, and their names are known to the instance.
#[test]
fn names_of_candidates_are_checked() {
    let text =
        SHOP.replace("agent a(seller, susan).  know susan: stocked(tea).", "know susan: stocked(tea).");
    let candidate = |statements: &str| Candidate {
        name: "seller".to_string(),
        statements: statements.to_string(),
        ..Candidate::default()
    };
    let request = Request {
        setup: Setup { files: vec![Text::new("shop.lcc", text)], ..Setup::default() },
        roles: vec![Role {
            name: "seller".to_string(),
            candidates: vec![
                candidate("agent a(seller, susan)."),
                candidate("agent a(seller, sam). know sam: stoked(tea). common licensed(sam)."),
            ],
        }],
        questions: vec![Question::Formula(
            "EF <out(_, a(_, sam))>tt || EF <out(_, a(buyr, _))>tt".to_string(),
        )],
        want: TeamSelection::All,
    };
    let found = teams(&request, &Budget::unlimited()).unwrap();
    let expected = ["lcc/no-such-predicate", "lcc/no-such-message", "lcc/no-such-role"];
    assert_eq!(codes(&found.warnings), expected, "{}", drawn(&found.sources, &found.warnings));
}

/// Where a variable is used instead of a name, any name may occur at run time.
#[test]
fn variables_stand_for_any_name() {
    // A relay forwards any message; a role that is a variable can be any role.
    let relay = "a(source, S) :: wrapped(ping) => a(relay, R).
        a(relay, R) :: wrapped(M) <= a(source, S) then M => a(sink, K).
        a(sink, K) :: ping <= a(relay, R).
        agent a(source, s).  agent a(relay, r).  agent a(sink, k).
        rule boss: (_, _, -send(other(_))).
        property relayed : inev(out(ping)) && [-* . in(anything)]ff ;";
    let role = "a(actor(R), A) :: a(R, A).
        a(hero, A) :: null.
        agent a(actor(hero), ann).
        property p : AG !at(ann, villain) ;";
    for (text, expected) in [(relay, &["lcc/no-such-message"][..]), (role, &[])] {
        let (found, sources) = opened(text);
        assert_eq!(codes(&found.diagnostics), expected, "{}", drawn(&sources, &found.diagnostics));
    }
}
