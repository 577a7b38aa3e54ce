//! Explanations of stuck states, which name the rule and the fact; and runs drawn as charts.

use crate::support::models;
use masque_lcc::{InstanceInput, chart, check_all, open};
use masque_mu::Lts;
use masque_text::{Sources, render};
use masque_verdict::{Budget, Show};

/// Checks a formula about some model files and a text. Returns the verdict and the run as text.
fn show(files: &[&str], more: &str, formula: &str) -> String {
    let mut sources = Sources::default();
    let mut ids = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(models().join(file)).unwrap();
        ids.push(sources.add(*file, text).unwrap());
    }
    ids.push(sources.add("more.lcc", format!("{more}\nproperty p : {formula} ;")).unwrap());
    let opened = open(&mut sources, &InstanceInput { files: ids, ..InstanceInput::default() });
    let drawn: String = opened.diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    let mut system = opened.system.unwrap_or_else(|| panic!("{drawn}"));
    let checked = check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
    let mut out = format!("{}\n", checked[0].verdict);
    if let Some(trace) = &checked[0].trace {
        out += &chart(trace).text();
        for reason in &trace.blame {
            out += &format!("{reason}\n");
        }
    }
    out
}

const TRAVEL: [&str; 3] = ["travel.lcc", "travel_team.lcc", "rules.pol"];

#[test]
fn a_stuck_state_names_the_rule_and_the_fact() {
    let rows = [
        ("know hd: member(other, syta). common customer(c1, visa). common payment_encryption(visa, openpgp).
          know visa: authenticate('X.509').",
         "ta could not query hd: rule 2 of hd requires member(ta, syta)"),
        ("know hd: member(ta, syta). common customer(c9, visa). common payment_encryption(visa, openpgp).
          know visa: authenticate('X.509').",
         "c1 could not get_payment_details(visa, card1234): rule 3 of br requires customer(c1, visa)"),
        ("know hd: member(ta, syta). common customer(c1, visa). common payment_encryption(visa, des).
          know visa: authenticate('X.509').",
         "c1 could not encrypt(des): rule 5 of c1 forbids it"),
        ("know hd: member(ta, syta). common customer(c1, visa). know visa: authenticate('X.509').",
         "c1 needs payment_encryption(visa, _), but has no facts about payment_encryption/2"),
        ("know hd: member(ta, syta). common customer(c1, visa). common payment_encryption(visa, openpgp).
          know visa: authenticate(pgp).",
         "visa could not authenticate(pgp): no rule permits it"),
    ];
    for (facts, reason) in rows {
        let shown = show(&TRAVEL, facts, "AG !deadlock");
        assert!(shown.lines().any(|line| line == reason), "{reason}\n{shown}");
    }
}

/// What each agent is doing: before the fact lets the reader act, when the clerk waits, and at the end.
#[test]
fn standings_say_what_each_agent_needs() {
    const ARCHIVE: &str = "a(reader, R) :: null <- open(F) then opened(F) => a(clerk, C).
        a(clerk, C) :: opened(F) <= a(reader, R).
        agent a(reader, rita).  agent a(clerk, carl).
        rule archive: (S, _, +open(_)) <- member(S).";
    let open_text = |facts: &str| {
        let mut sources = Sources::default();
        let file = sources.add("archive.lcc", format!("{ARCHIVE}\n{facts}")).unwrap();
        open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() }).system.unwrap()
    };
    let mut stuck = open_text("know rita: open(diary).");
    let initial = Lts::initial(&mut stuck);
    let found = stuck.standings(initial);
    assert_eq!(found.iter().map(|agent| agent.id.as_str()).collect::<Vec<_>>(), ["rita", "carl"]);
    assert!(found.iter().all(|agent| !agent.is_done && !agent.obstacles.is_empty()), "{found:?}");
    assert!(found[0].obstacles.iter().any(|text| text.contains("archive")), "{found:?}");

    let mut free = open_text("know rita: open(diary).  know archive: member(rita).");
    let mut state = Lts::initial(&mut free);
    let found = free.standings(state);
    assert!(found[0].obstacles.is_empty(), "{found:?}");
    assert!(found[1].obstacles.iter().any(|text| text.contains("carl waits for")), "{found:?}");
    // Each state has one step, until both agents have finished.
    loop {
        let mut next = None;
        Lts::successors(&mut free, state, &mut |_, to| next = Some(to));
        let Some(to) = next else { break };
        state = to;
    }
    let found = free.standings(state);
    assert!(found.iter().all(|agent| agent.is_done && agent.obstacles.is_empty()), "{found:?}");
}

/// A fact leaves a variable open, and a rule is asked about it.
#[test]
fn variables_of_facts_are_distinct_from_those_of_rules() {
    let rows = [
        ("rule boss: (A, B, +send(n(f(A, B, C, c)))).", "send(n(g(_, _))): no rule permits it"),
        ("rule boss: (A, B, +send(n(C))) <- e(A, C).", "send y: rule 1 of boss requires e(x, g(_, _))"),
    ];
    for (rule, reason) in rows {
        let protocol = "a(p, x) :: n(g(U, V)) => a(q, y) <- open(U) and open(V).  a(q, y) :: n(_) <= a(p, x).
            agent a(p, x). agent a(q, y). common open(_).";
        let shown = show(&[], &format!("{protocol}\n{rule}"), "AG !deadlock");
        let expected = format!("x could not {reason}");
        assert!(shown.lines().any(|line| line == expected), "{expected}\n{shown}");
    }
}

#[test]
fn runs_are_drawn_as_charts() {
    let all = [
        show(&["m02_or.lcc"], "", "AG !deadlock"),
        show(&["m02_or.lcc"], "option comm = sync.", "EF final"),
        show(&["m05_constraint.lcc"], "", "AG !deadlock"),
        show(&["m03_par.lcc"], "", "[-* . in(y)]ff"),
        show(
            &TRAVEL,
            "know hd: member(ta, syta). common customer(c1, visa). common payment_encryption(visa, openpgp).
             know visa: authenticate('X.509').",
            "inev({in(confirm_booking(_,_)), in(quit)})",
        ),
    ];
    insta::assert_snapshot!("charts", all.join("\n"));
}
