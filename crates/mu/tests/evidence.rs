//! Evidence for verdicts, and replay that refuses tampered evidence.

use crate::support::{alternating, formula, graph, read};
use fastrand::Rng;
use masque_mu::{
    AtomId, Completeness, Evidence, Graph, LabelId, Lts, PatternId, Play, Space, StateId, explain, read_aut,
};
use masque_text::Sources;
use masque_verdict::{Budget, Verdict};

/// A shop: customers browse, ask and pay; the card may be declined any number of times; state 5 may lead to
/// a dead end.
const SHOP: &str = r#"des (0, 9, 7)
(0, browse, 0)
(0, ask, 1)
(1, offer, 2)
(2, pay, 3)
(3, decline, 2)
(3, accept, 4)
(2, leave, 5)
(5, wait, 6)
(5, wait, 5)
"#;

fn shop() -> Graph {
    let mut sources = Sources::default();
    let file = sources.add("shop.aut", SHOP).unwrap();
    let mut graph = read_aut(&sources, sources.span(file)).0.unwrap();
    // States are numbered in the order of the file, which here is the order of their numbers in it.
    graph.mark(StateId(4), "final");
    graph
}

/// Returns a play as text: steps, the loop in brackets, dots where the loser has a choice.
fn shown(graph: &Graph, play: &Play) -> String {
    let mut words: Vec<String> = Vec::new();
    for (i, step) in play.steps.iter().enumerate() {
        let open = if play.loop_at == Some(i) { "(" } else { "" };
        words.push(format!("{open}{}", graph.label(step.label)));
    }
    let mut text = words.join(" ");
    text += if play.loop_at.is_some() { ")" } else { "" };
    text += if play.is_closed { "" } else { " .." };
    text.trim().to_string()
}

#[rustfmt::skip]
#[test]
fn plays_are_shortest_and_conclusive() {
    let table = [
        // formula                              verdict          play
        ("tt",                                  Verdict::Holds,  ""),
        ("EF final",                            Verdict::Holds,  "ask offer pay accept"),
        ("AG !deadlock",                        Verdict::Fails,  "ask offer leave wait"),
        ("<-* . decline>tt",                    Verdict::Holds,  "ask offer pay decline"),
        ("[-* . decline . -* . accept]ff",      Verdict::Fails,  "ask offer pay decline pay accept"),
        ("inev(ask)",                           Verdict::Fails,  "(browse)"),
        ("AF final",                            Verdict::Fails,  "(browse)"),
        ("[-browse]AF final",                   Verdict::Fails,  "ask offer leave wait"),
        ("[-browse*]inev({ask, browse})",       Verdict::Fails,  "ask offer pay accept"),
        ("AG EF final",                         Verdict::Fails,  "ask offer leave wait"),
        ("AG EF <browse>tt",                    Verdict::Fails,  "ask offer pay accept"),
        ("EF AG EF <pay>tt",                    Verdict::Fails,  "ask offer pay accept"),
        ("AG EF <-* . wait | browse>tt",        Verdict::Fails,  "ask offer leave wait"),
        ("AG EX tt && EF final || EF final",    Verdict::Holds,  "ask offer pay accept"),
        ("resp(pay, accept)",                   Verdict::Fails,  "ask offer pay (decline pay)"),
        ("resp(leave, pay)",                    Verdict::Fails,  "ask offer leave wait"),
        ("nu X. mu Y. <pay>X || <-pay>Y",       Verdict::Holds,  "ask offer (pay decline)"),
        ("EG !final",                           Verdict::Holds,  "(browse)"),
        ("[ask . offer . leave]EG <wait>tt",    Verdict::Holds,  "ask offer leave wait"),
        ("<pay>tt || <ask>tt",                  Verdict::Holds,  "ask"),
        ("[ask]AG EX tt",                       Verdict::Fails,  "ask offer pay accept"),
        ("<ask . offer>(AX tt && AG !<ask>tt)", Verdict::Holds,  "ask offer .."),
        ("AG (!final || [-]ff)",                Verdict::Holds,  ".."),
        ("<pay>tt",                             Verdict::Fails,  ""),
        ("nu X. X",                             Verdict::Holds,  ""),
    ];
    for (text, verdict, play) in table {
        let mut graph = shop();
        let (_, formula) = read(text, &mut graph);
        let answer = explain(&mut Space::new(&mut graph), &formula, &Budget::unlimited());
        assert_eq!(answer.verdict, verdict, "{text}");
        let found = shown(&graph, &answer.evidence.unwrap().play);
        assert_eq!(found, play, "{text}");
    }
}

#[test]
fn evidence_is_a_part_of_the_system() {
    let mut graph = shop();
    let (_, formula) = read("resp(pay, accept)", &mut graph);
    let answer = explain(&mut Space::new(&mut graph), &formula, &Budget::unlimited());
    let evidence = answer.evidence.unwrap();
    let shown: Vec<String> = evidence
        .transitions()
        .iter()
        .map(|(from, label, to)| format!("{} {} {}", from.0, graph.label(*label), to.0))
        .collect();
    assert_eq!(shown, ["0 ask 1", "1 offer 2", "2 pay 3", "3 decline 2"]);
    assert_eq!(evidence.play.end(), StateId(3));
}

/// A system that returns the transitions of each state only once.
struct Forgetful<'g> {
    graph: &'g mut Graph,
    asked: Vec<StateId>,
}

impl Lts for Forgetful<'_> {
    fn initial(&mut self) -> StateId {
        self.graph.initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        if self.asked.contains(&state) {
            return Completeness::Complete;
        }
        self.asked.push(state);
        self.graph.successors(state, step)
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.graph.holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.graph.matches(label, pattern)
    }
}

/// If evidence does not replay, the verdict is reported without it.
#[test]
fn refused_evidence_is_withheld() {
    let mut graph = shop();
    let (_, formula) = read("resp(pay, accept)", &mut graph);
    let mut forgetful = Forgetful { graph: &mut graph, asked: Vec::new() };
    let answer = explain(&mut Space::new(&mut forgetful), &formula, &Budget::unlimited());
    assert_eq!((answer.verdict, answer.evidence.is_none()), (Verdict::Fails, true));
    let why = answer.withheld.unwrap();
    assert!(why.contains("of the evidence"), "{why}");
}

/// Replay refuses evidence after any of several changes.
#[test]
fn tampered_evidence_does_not_replay() {
    let mut n_tampered = 0;
    for seed in 0..1500 {
        let mut random = Rng::with_seed(seed);
        let mut graph = graph(&mut random, 8, seed % 3 == 0);
        let text = if seed % 2 == 0 { formula(&mut random) } else { alternating(&mut random) };
        let (_, formula) = read(&text, &mut graph);
        let answer = explain(&mut Space::new(&mut graph), &formula, &Budget::unlimited());
        let Some(evidence) = answer.evidence else { continue };
        let mut tampered: Vec<Evidence> = Vec::new();
        let mut change = |f: &dyn Fn(&mut Evidence)| {
            let mut copy = evidence.clone();
            f(&mut copy);
            tampered.push(copy);
        };
        change(&|e| e.holds = !e.holds);
        change(&|e| e.positions[0].state = StateId(e.positions[0].state.0 + 1));
        change(&|e| e.play.steps.push(masque_mu::Step { label: LabelId(0), to: StateId(0) }));
        if let Some(i) = evidence.positions.iter().position(|position| !position.moves.is_empty()) {
            change(&|e| {
                e.positions[i].moves.pop();
            });
            change(&|e| e.positions[i].moves[0].to = u32::MAX);
            change(&|e| {
                let one = &mut e.positions[i].moves[0];
                one.label = one.label.map_or(Some(LabelId(0)), |_| None);
            });
        }
        for tampered in tampered {
            n_tampered += 1;
            assert!(tampered.replay(&mut graph, &formula).is_err(), "seed {seed}: {text}, {tampered:?}");
        }
    }
    assert!(n_tampered > 6000, "{n_tampered}");
}

/// Replay refuses a loop that the loser wins, although each of its moves is legal.
#[test]
fn a_loop_of_the_loser_is_no_proof() {
    let mut graph = shop();
    let (_, formula) = read("mu X. <accept>tt || <->X", &mut graph);
    let answer = explain(&mut Space::new(&mut graph), &formula, &Budget::unlimited());
    let mut evidence = answer.evidence.unwrap();
    // Change a strategy that asks into one that browses forever.
    let browse =
        evidence.positions.iter_mut().find(|position| position.moves.iter().any(|one| one.label.is_some()));
    let step = &mut browse.unwrap().moves[0];
    assert_eq!(graph.label(step.label.unwrap()), "ask");
    (step.label, step.to) = (Some(LabelId(0)), 0);
    let error = evidence.replay(&mut graph, &formula).unwrap_err();
    assert_eq!(error.what, "the loser wins a loop");
}
