//! Which properties are goals.

use masque_monitor::lcc::{Bounds, goals};
use masque_monitor::{EventVerdict, GoalStatus, Monitor};
use masque_verdict::Budget;

use super::support::{gallery_text, message, model_within, try_open};

/// The names of the goals among formulas, which are named by their index.
fn recognised(formulas: &[&str]) -> Vec<String> {
    let properties = formulas.iter().enumerate();
    let text: String =
        properties.map(|(index, formula)| format!("property f{index} : {formula} ;\n")).collect();
    let base = "a(p, x) :: m => a(q, y).  a(q, y) :: m <= a(p, x).  agent a(p, x).  agent a(q, y).
        rule y: (x, y, !send(m)) after out(m).";
    let (_, opened) = try_open(&[("goals.lcc", format!("{base}\n{text}"))]).unwrap();
    goals(&opened.properties).into_iter().map(str::to_string).collect()
}

#[test]
fn goals_are_recognised_by_their_form() {
    let are_goals = [
        "EF final",
        "AF (done(x) && !final)",
        "inev(in(m))",
        "inev(-out(m))",
        "<-* . in(m)>tt",
        "<-*>final",
        "mu Z. final || <->Z",
        "mu Z. <out(m)>tt || done(y) || <->Z",
        "mu Z. final || (<->tt && [-]Z)",
        "mu Y. <->tt && [-in(m)]Y",
        "mu Y. <->tt && [-{in(m), out(m)}]Y",
    ];
    let names: Vec<String> = (0..are_goals.len()).map(|index| format!("f{index}")).collect();
    assert_eq!(recognised(&are_goals), names);
    let others = [
        "AG !deadlock",
        "AG EF final",
        "!AG !final",
        "<-* . in(m) . -* . out(m)>tt",
        "<-* . in(m)>final",
        "<out(m)* . in(m)>tt",
        "[-* . in(m)]ff",
        "nu Z. final || <->Z",
        "mu Z. final || <out(m)>Z",
        "mu Z. final || [-]Z",
        "mu Z. (final && <->Z) || <->Z",
        "mu Y. <->tt && [in(m)]Y",
        "mu Y. [-in(m)]Y && final",
        "nu X. mu Y. <out(m)>X || <->Y",
        "resp(out(m), in(m))",
        "EF final && AF final",
    ];
    assert_eq!(recognised(&others), Vec::<String>::new());
}

#[test]
fn the_travel_example_has_three_goals() {
    let files = ["travel.lcc", "travel_team.lcc", "rules.pol", "travel.mu"];
    let texts: Vec<(&str, String)> = files.iter().map(|file| (*file, gallery_text(file))).collect();
    let (_, opened) = try_open(&texts).unwrap();
    assert_eq!(goals(&opened.properties), ["p2", "can_confirm", "inev_end"]);
}

/// An abbreviation and the fixpoint for which it stands are the same goal.
#[test]
fn fixpoints_are_the_goals_that_they_abbreviate() {
    let pairs = [
        ("AF final", "mu Z. final || (<->tt && [-]Z)"),
        ("AF <in(n)>tt", "mu Z. <in(n)>tt || (<->tt && [-]Z)"),
        ("EF <in(n)>tt", "mu Z. <in(n)>tt || <->Z"),
        ("EF done(x)", "<-*>done(x)"),
        ("inev(in(n))", "mu Y. <->tt && [-in(n)]Y"),
        ("inev(in(m))", "mu Y. <->tt && [-in(m)]Y"),
    ];
    let properties = pairs.iter().enumerate().map(|(index, (one, other))| {
        format!("property one{index} : {one} ; property other{index} : {other} ;\n")
    });
    let protocol = "a(p, x) :: m => a(q, y) then (n => a(q, y) or m => a(q, y)).
        a(q, y) :: m <= a(p, x) then (n <= a(p, x) or m <= a(p, x)).  agent a(p, x).  agent a(q, y).";
    let text = format!("{protocol}\n{}", properties.collect::<String>());
    let budget = Budget::unlimited();
    for last in ["n", "m"] {
        let mut monitor = model_within(&[("goals.lcc", text.clone())], &[], Bounds::default()).open();
        for sent in ["m", last] {
            let status = monitor.status(&budget).unwrap().goals;
            assert_eq!(status.len(), 2 * pairs.len());
            for both in status.chunks(2) {
                assert_eq!(both[0].status, both[1].status, "{}", both[0].goal);
            }
            let judgement = monitor.observe(&message("x", "y", sent), &budget).unwrap();
            assert_eq!(judgement.event, EventVerdict::Possible);
        }
        // A message that is sent will be received.
        let status = monitor.status(&budget).unwrap().goals;
        let expected = if last == "n" { GoalStatus::Certain } else { GoalStatus::Lost };
        assert_eq!([&status[8].status, &status[9].status], [&expected; 2]);
    }
}
