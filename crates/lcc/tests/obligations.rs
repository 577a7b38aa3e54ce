//! Obligations: the properties made from them, and a comparison with the definition on random protocols.

use fastrand::Rng;
use masque_lcc::reference::{Kept, Reference};
use masque_lcc::{InstanceInput, OpenedInstance, check_all, check_reduced, open};
use masque_mu::{Space, check};
use masque_testkit::seeds;
use masque_text::Sources;
use masque_verdict::{Budget, Show, Verdict};

/// Maximum number of states of a protocol that is compared.
const MAX_STATES: usize = 80;

fn read(text: &str) -> (Sources, OpenedInstance) {
    let mut sources = Sources::default();
    let file = sources.add("text.lcc", text).unwrap();
    let opened = open(&mut sources, &InstanceInput { files: vec![file], ..InstanceInput::default() });
    (sources, opened)
}

/// Compares the verdicts of obligations with the definition; `None` if the text has errors or too many
/// states.
fn compare(text: &str) -> Option<Result<Vec<Kept>, String>> {
    let (sources, opened) = read(text);
    let mut system = opened.system?;
    let kept = Reference::new(&opened.trees).obligations(&opened.trees, &sources, MAX_STATES)?;
    assert_eq!(kept.len(), opened.properties.len());
    for (property, kept) in opened.properties.iter().zip(&kept) {
        let expected = Verdict::from(kept.holds);
        let whole = check(&mut Space::new(&mut system), &property.formula, &Budget::unlimited()).verdict;
        let reduced = check_reduced(&mut system, &property.formula, &Budget::unlimited());
        let reduced = reduced.map_or(whole, |answer| answer.verdict);
        if whole != expected || reduced != expected {
            let formula = &property.source.phi;
            return Some(Err(format!("{formula}: {whole}, reduced {reduced}, by definition {expected}")));
        }
    }
    Some(Ok(kept))
}

/// Numbers of protocols and obligations that were compared.
#[derive(Debug, Default)]
struct Tally {
    protocols: usize,
    kept: usize,
    broken: usize,
    never_due: usize,
}

fn compare_all(seeds: std::ops::Range<u64>, comm: &str) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let base = match seed % 6 {
            0 => crate::random::instance(seed),
            1 => crate::random::talkers(seed),
            2 => crate::exchanges::protocol(seed),
            _ => crate::exchanges::dialogue(seed),
        };
        let mut rng = Rng::with_seed(seed);
        let obligations: Vec<String> = (0..6).map(|_| crate::exchanges::obligation(&mut rng)).collect();
        let text = format!("{}\n{}", crate::exchanges::with_comm(&base, comm), obligations.join("\n"));
        match compare(&text) {
            None => {}
            Some(Ok(kept)) => {
                tally.protocols += 1;
                for kept in kept {
                    match (kept.is_due, kept.holds) {
                        (false, _) => tally.never_due += 1,
                        (true, true) => tally.kept += 1,
                        (true, false) => tally.broken += 1,
                    }
                }
            }
            Some(Err(_)) => {
                let fails = |text: &str| matches!(compare(text), Some(Err(_)));
                let shrunk = crate::random::shrink(&text, &fails);
                panic!("seed {seed}\n{shrunk}\n{:?}", compare(&shrunk));
            }
        }
    }
    tally
}

#[test]
fn obligations_are_those_of_the_definition() {
    for comm in ["mailbox", "sync"] {
        let tally = compare_all(0..900, comm);
        assert!(tally.protocols >= 300 && tally.kept >= 50 && tally.broken >= 300, "{comm}: {tally:?}");
    }
}

/// Compares more protocols:
/// `SEEDS=FROM..TO cargo test --release -p masque-lcc --test all obligations::more_seeds -- --nocapture`.
#[test]
fn more_seeds() {
    for comm in ["mailbox", "sync"] {
        println!("{comm}: {:?}", compare_all(seeds("100000..100020"), comm));
    }
}

/// rob receives a document from sam and answers; he may also forget to.
const REVIEW: &str = "a(reviewer, R) :: diff(X) <= a(author, S) then
        (verdict(X) => a(author, S) or null <- forget).
    a(author, S) :: diff(d1) => a(reviewer, rob) then verdict(_) <= a(reviewer, rob).
    agent a(reviewer, rob). agent a(author, sam). ";

/// Checks one obligation of the reviewers, with mailbox and with synchronous communication.
fn verdict(forget: bool, obligation: &str) -> [Verdict; 2] {
    ["mailbox", "sync"].map(|comm| {
        let forget = if forget { "common forget." } else { "" };
        let text = format!("{REVIEW}\n{forget}\n{obligation}\noption comm = {comm}.");
        let (_, opened) = read(&text);
        let mut system = opened.system.unwrap_or_else(|| panic!("{obligation}: {:?}", opened.diagnostics));
        check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {})[0].verdict
    })
}

#[rustfmt::skip]
#[test]
fn obligations_about_messages_mean_messages() {
    use Verdict::{Fails, Holds};
    let table = [
        // rob can forget, obligation, verdicts with mailbox and sync
        (false, "(rob, _, !send(verdict(_))) after in(diff(_))@rob",             [Holds, Holds]),
        (true,  "(rob, _, !send(verdict(_))) after in(diff(_))@rob",             [Fails, Fails]),
        (true,  "(rob, _, !send(verdict(_))) after in(diff(_))@rob until #(forget)", [Holds, Holds]),
        (false, "(rob, sam, !send(verdict(d1))) after in(diff(_))@rob",          [Holds, Holds]),
        (false, "(rob, sam, !send(verdict(d2))) after in(diff(_))@rob",          [Fails, Fails]),
        (false, "(rob, rob, !send(verdict(_))) after in(diff(_))@rob",           [Fails, Fails]),
        (false, "(sam, _, !send(verdict(_))) after in(diff(_))@rob",             [Fails, Fails]),
        (false, "(S, O, !send(verdict(_))) after in(diff(_))@rob",               [Holds, Holds]),
        (false, "(S, S, !send(verdict(_))) after in(diff(_))@rob",               [Fails, Fails]),
        (false, "(a(reviewer, _), _, !send(_)) after in(diff(_))",               [Holds, Holds]),
        (false, "(a(author, _), _, !send(_)) after in(diff(_))",                 [Fails, Fails]),
        (false, "(sam, rob, !receive(verdict(_))) after out(diff(_))",           [Holds, Holds]),
        (false, "(sam, self, !receive(verdict(_))) after out(diff(_))",          [Fails, Fails]),
        (false, "(rob, _, !receive(diff(_))) after out(diff(_))",                [Holds, Fails]),
        (false, "(rob, _, !send(verdict(_), now)) after in(diff(_))",            [Fails, Fails]),
    ];
    for (forget, obligation, expected) in table {
        assert_eq!(verdict(forget, &format!("rule boss: {obligation}.")), expected, "{obligation}");
    }
    // `self` is the enforcer.
    let own = "rule rob: (self, sam, !send(verdict(_))) after in(diff(_))@rob.";
    assert_eq!(verdict(false, own), [Holds, Holds]);
}

/// ann spends twice and reports in any order, reports another amount, or reports only once.
const SPENDING: [(&str, &str); 3] = [
    (
        "null <- spend(5) then null <- spend(6) then (report(6) => a(boss, bea) then report(5) => a(boss, bea))",
        "both",
    ),
    ("null <- spend(5) then report(7) => a(boss, bea) then report(6) => a(boss, bea)", "another amount"),
    (
        "null <- spend(5) then null <- spend(6) then report(6) => a(boss, bea) then report(6) => a(boss, bea)",
        "once",
    ),
];

#[rustfmt::skip]
#[test]
fn shared_variables_have_the_values_of_the_event() {
    use Verdict::{Fails, Holds};
    let table = [
        // obligation, verdicts for the three processes
        ("(ann, bea, !send(report(X))) after #(spend(X))@ann",                       [Holds, Fails, Fails]),
        ("(ann, bea, !send(report(X))) after #(spend(Y))@ann",                       [Holds, Holds, Holds]),
        ("(A, bea, !send(report(X))) after #(spend(X))@A",                           [Holds, Fails, Fails]),
        ("(bea, A, !receive(report(X))) after #(spend(X))@A",                        [Holds, Fails, Fails]),
        ("(A, A, !send(report(X))) after #(spend(X))@A",                             [Fails, Fails, Fails]),
        ("(ann, bea, !send(report(X))) after #(spend(X))@ann until out(report(_))",  [Holds, Holds, Holds]),
        ("(ann, bea, !send(never)) after #(spend(X))@ann until out(report(X))",      [Holds, Fails, Fails]),
        ("(ann, bea, !send(report(X))) after {#(spend(X)), in(report(X))}",          [Fails, Fails, Fails]),
        ("(ann, bea, !send(report(X))) after -{out(report(X)), in(report(X))}",      [Holds, Holds, Holds]),
    ];
    for (obligation, expected) in table {
        let found = SPENDING.map(|(steps, _)| {
            let text = format!("a(worker, W) :: {steps}. a(boss, B) :: report(_) <= a(worker, W) then report(_) <= a(worker, W).
                agent a(worker, ann). agent a(boss, bea). common spend(5). common spend(6). rule office: {obligation}.");
            let (_, opened) = read(&text);
            let mut system = opened.system.unwrap_or_else(|| panic!("{obligation}: {:?}", opened.diagnostics));
            let checked = check_all(&mut system, &opened.properties, Show::All, &Budget::unlimited(), &mut |_, _| {});
            assert_eq!(checked[0].withheld, None, "{obligation}");
            assert!(checked[0].trace.is_some() || checked[0].verdict == Holds, "{obligation}");
            checked[0].verdict
        });
        assert_eq!(found, expected, "{obligation}");
    }
}

/// The formula in a report can be parsed again and has the same verdict.
#[rustfmt::skip]
#[test]
fn acts_are_shown_as_patterns() {
    let table = [
        ("(rob, _, !send(verdict(_)))",     "out(verdict(_))@rob"),
        ("(S, sam, !send(verdict(_)))",     "out(verdict(_), a(_, sam))"),
        ("(S, S, !receive(f(S, _)))",       "in(f(_0,_1), a(_, _0))@_0"),
        ("(rob, a(author, _), !send(M))",   "out(_, a(author, _))@rob"),
        ("(rob, _, !send('Ok'))",           "out('Ok')@rob"),
        ("(rob, sam, !forget)",             "#(forget)@rob"),
    ];
    for (triple, act) in table {
        let (_, opened) = read(&format!("{REVIEW}\nrule boss: {triple} after in(_) until out(x)."));
        let formula = opened.properties[0].source.phi.to_string();
        assert_eq!(formula, format!("resp(in(_), {{{act}, out(x)}})"), "{triple}");
        let mut system = opened.system.unwrap();
        let mut sources = Sources::default();
        let file = sources.add("formula", formula).unwrap();
        let again = masque_mu::read_formula(&sources, sources.span(file), &mut system).0.unwrap();
        let verdicts = [&opened.properties[0].formula, &again]
            .map(|formula| check(&mut Space::new(&mut system), formula, &Budget::unlimited()).verdict);
        assert_eq!(verdicts[0], verdicts[1], "{triple}");
    }
}

/// The codes of the diagnostics about an obligation.
fn codes(obligation: &str) -> Vec<&'static str> {
    let (_, opened) = read(&format!("{REVIEW}\nrule boss: {obligation}."));
    opened.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[rustfmt::skip]
#[test]
fn probable_mistakes_in_obligations_are_reported() {
    let shared = "lcc/shared-variable";
    let table: [(&str, &[&str]); 12] = [
        ("(rob, _, !send(verdict(X))) after in(diff(X))@rob",                  &[]),
        ("(S, _, !send(verdict(_))) after in(diff(_))@S",                      &[]),
        ("(rob, O, !send(verdict(_))) after in(diff(_), a(_, O))",             &[]),
        ("(rob, _, !send(verdict(X))) after in(diff(_)) until #(p(X, X))",     &[shared, "lcc/no-such-action"]),
        ("(rob, _, !send(_)) after in(diff(X)) until out(X)",                  &[]),
        ("(S, _, !send(X)) after in(diff(_)) until {out(X)@S, in(X)@S}",       &[shared, shared]),
        ("(S, S, !send(verdict(S))) after in(diff(_))@rob",                    &[]),
        ("(rob, _, !send(verdict(_))) after in(diff(_))@rob",                  &[]),
        ("(rob, _, !verdict(_)) after in(diff(_))",                            &["lcc/obligation-message"]),
        ("(rob, _, !out(verdict(_), a(_, sam))) after in(diff(_))",            &["lcc/obligation-message"]),
        ("(rob, _, !forget) after in(diff(_))",                                &[]),
        ("(unknown, _, !forget) after in(diff(_))",                             &["lcc/unknown-agent"]),
    ];
    for (obligation, expected) in table {
        assert_eq!(codes(obligation), expected, "{obligation}");
    }
}
