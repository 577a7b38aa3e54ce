//! Checks and extensions of the language on small systems, with verdicts found by hand.

use masque_bdi::run;
use masque_verdict::{Budget, Show};

/// Returns the verdicts of the properties of a file, in order.
fn verdicts(text: &str) -> String {
    let (model, plan) = crate::support::model(text, &[]);
    let run = run(&model, &plan, Show::Failed, &Budget::default(), &mut |_, _| {});
    let words: Vec<String> = run.properties.iter().map(|p| p.verdict.to_string()).collect();
    words.join(" ")
}

/// By its definitions `b` believes the truth about its own `p`; in its view of itself `p` is arbitrary.
const KNOWS_ITSELF: &str = "
    agent b is
      var p;
      bdi B(b, p) = p, B(b, !p) = !p;
      init p := any;
      loop p := any endloop
    view b in b is var p; init p := any; loop p := any endloop
";

#[test]
fn introspection() {
    let positive = "init B(b, p) := true; loop skip endloop";
    let open = "init B(b, p) := any; loop skip endloop";
    let decided = "bdi B(b, p) = x, B(b, !p) = !x; init x := any; loop skip endloop";
    let check = |program: &str, expected: &str, because: &str| {
        let text = format!("agent a is {program} {KNOWS_ITSELF} check introspection B(b) in a;\ntop a;");
        assert_eq!(verdicts(&text), expected, "{because}");
    };
    check(positive, "holds", "where p is believed, only states are accessible in which b believes p");
    check(open, "fails", "a state without belief in p does not believe that b does not believe p");
    check(decided, "holds", "either belief decides what b believes");
}

#[test]
fn seriality_and_realism() {
    let b = "agent b is init p := any; loop skip endloop";
    let check = |init: &str, question: &str, expected: &str| {
        let text = format!("agent a is init {init}; loop skip endloop {b} check {question};\ntop a;");
        assert_eq!(verdicts(&text), expected, "{init}: {question}");
    };
    check("B(b, p) := true, B(b, !p) := true", "serial B(b)", "fails");
    check("B(b, p) := true, B(b, !p) := false", "serial B(b)", "holds");
    check("B(b, p) := true, B(b, !p) := true", "serial D(b)", "holds");
    // Believed {p}, desired and intended everything.
    check("B(b, p) := true", "realism strong b", "holds");
    check("B(b, p) := true", "realism plain b", "fails");
    check("I(b, p) := true", "realism plain b", "holds");
    check("I(b, p) := true", "realism strong b", "fails");
    check("B(b, p) := true, D(b, p) := true, I(b, p) := true", "realism strong b", "holds");
    check("B(b, p) := true, D(b, !p) := true", "realism weak b", "fails");
    check("B(b, p) := true, I(b, p) := true", "realism weak b", "holds");
}

#[test]
fn fairness_of_a_choice() {
    let text = |fair: &str| {
        format!(
            "agent a is {fair} loop {{ p := true }} | {{ p := false }} endloop
             property eventually: AF p; property again: AG AF p; property stuck: EG !p;"
        )
    };
    assert_eq!(verdicts(&text("")), "fails fails fails");
    assert_eq!(verdicts(&text("fair p;")), "holds holds fails");
    assert_eq!(verdicts(&text("fair p & !p;")), ["unknown(no-fair-path)"; 3].join(" "));
}

#[test]
fn attitudes_about_numbers_and_values() {
    let text = "
        agent a is
          init B(b, n > 2) := true;
          loop skip endloop
        agent b is
          var n : 0..5, m : {low, high};
          init n := any;
          loop if n > 2 then m := high else m := low; n := any endloop
        property stronger: B(b, n >= 3 & n != 2);
        property weaker: B(b, n > 3);
        property sums: B(b, n + n - 1 > 4);
        property later: B(b, AX (n <= 2 | m = high));
        property next in b: n > 2 -> AX m = high;
        property other in b: n <= 2 -> EX m = high;";
    assert_eq!(verdicts(text), "holds fails holds holds holds fails");
}

/// If nesting is cyclic, the message points at an attitude, even if no attitude is explicit.
#[test]
fn cyclic_nesting_points_at_the_attitude() {
    let agents = |condition: &str| {
        format!(
            "agent a is loop if {condition} then p := any endloop agent b is loop if B(a, p) then q := any endloop"
        )
    };
    for (condition, attitude) in [
        ("B(b, q)", "B(b, q)"),
        ("p & !D(b, EF q)", "D(b, EF q)"),
        ("p | PI(b, q)", "PI(b, q)"),
        ("B_b q", "B_b q"),
    ] {
        let read = crate::support::read(&agents(condition), &[]);
        let found: Vec<_> = read
            .diagnostics
            .iter()
            .map(|d| (d.code, read.sources.slice(d.primary.as_ref().unwrap().span)))
            .collect();
        assert_eq!(found, [("bdi/cyclic-nesting", attitude)], "{condition}\n{}", read.drawn());
    }
    let own = "agent a is loop if B(a, EF p) then p := any endloop";
    let read = crate::support::read(own, &[]);
    assert_eq!(
        read.sources.slice(read.diagnostics[0].primary.as_ref().unwrap().span),
        "B(a, EF p)",
        "{}",
        read.drawn()
    );
    let defined = "agent a is bdi B(b, p) = D(b, q); loop p := any endloop agent b is init p := any; loop if B(a, p) then q := any endloop";
    let read = crate::support::read(defined, &[]);
    assert!(
        ["B(b, p)", "D(b, q)"]
            .contains(&read.sources.slice(read.diagnostics[0].primary.as_ref().unwrap().span)),
        "{}",
        read.drawn()
    );
}
