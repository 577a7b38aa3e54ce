//! Responses whose patterns share variables, compared with one response for each value.

use fastrand::Rng;
use masque_mu::{
    AtomId, BindingId, Completeness, Graph, LabelId, Lts, PatternId, PausedGame, Space, StateId, Vocabulary,
    explain, naive, parse_formula, parse_pattern, recheck, resolve_bound_response,
};
use masque_text::{Diagnostic, Sources, Span};
use masque_verdict::{Budget, Verdict};

/// A graph with the labels p1, p2, q1, q2 and r, and the patterns `p(V)`, `q(V)` and `r`, which share V.
struct Valued(Graph);

const PATTERNS: [&str; 3] = ["p", "q", "r"];

impl Valued {
    fn value(&self, label: LabelId) -> u32 {
        self.0.label(label)[1..].parse().unwrap_or(0)
    }
}

impl Lts for Valued {
    fn initial(&mut self) -> StateId {
        self.0.initial()
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        self.0.successors(state, step)
    }

    fn holds(&mut self, state: StateId, atom: AtomId) -> bool {
        self.0.holds(state, atom)
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        self.0.label(label).starts_with(PATTERNS[pattern.index()])
    }

    fn bindings(&mut self, label: LabelId, pattern: PatternId) -> Vec<BindingId> {
        if self.matches(label, pattern) { vec![BindingId(self.value(label))] } else { Vec::new() }
    }

    fn matches_bound(&mut self, label: LabelId, pattern: PatternId, binding: BindingId) -> bool {
        self.matches(label, pattern) && (pattern.index() == 2 || self.value(label) == binding.0)
    }
}

impl Vocabulary for Valued {
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic> {
        let index = PATTERNS.iter().position(|pattern| *pattern == text);
        index.map(|index| PatternId(index as u32)).ok_or(Diagnostic::error("test", span, "no such pattern"))
    }

    fn atom(&mut self, _: &str, span: Span) -> Result<AtomId, Diagnostic> {
        Err(Diagnostic::error("test", span, "no atoms"))
    }
}

fn graph(random: &mut Rng) -> Graph {
    let mut graph = Graph::new();
    let states: Vec<StateId> = (0..random.usize(1..=8)).map(|_| graph.state()).collect();
    let density = random.usize(1..=3);
    for &from in &states {
        for _ in 0..random.usize(0..=density) {
            let label = ["p1", "p2", "q1", "q2", "q1", "q2", "r"][random.usize(0..7)];
            graph.transition(from, label, states[random.usize(0..states.len())]);
        }
        if random.u8(0..12) == 0 {
            graph.cut(from, "cap");
        }
    }
    // An unreachable state has all labels, so that every label is known.
    let last = graph.state();
    ["p1", "p2", "q1", "q2", "r"].iter().for_each(|label| graph.transition(last, label, last));
    graph
}

/// The conjunction of one response for each value; a part of P that binds nothing leaves V open.
fn by_values(first: &str, second: &str) -> String {
    let with =
        |text: &str, value: &str| text.replace('p', &format!("p{value}")).replace('q', &format!("q{value}"));
    let open = second.replace('p', "{p1, p2}").replace('q', "{q1, q2}");
    let each = |pattern: &str| {
        let parts =
            ["1", "2"].map(|value| format!("resp({}, {})", with(pattern, value), with(second, value)));
        parts.join(" && ")
    };
    match first {
        "p" => each("p"),
        "r" => format!("resp(r, {open})"),
        "{p, r}" => format!("{} && resp(r, {open})", each("p")),
        "{p, q}" => format!("{} && {}", each("p"), each("q")),
        "-p" => format!("resp({{q1, q2, r}}, {open})"),
        _ => format!("resp(-, {open})"),
    }
}

#[test]
fn each_value_is_followed_separately() {
    let (mut verdicts, mut n_stronger) = ([0; 3], 0);
    for seed in 0..6000 {
        let mut random = Rng::with_seed(seed);
        let graph = graph(&mut random);
        let first = ["p", "p", "p", "{p, r}", "{p, q}", "-p", "r", "-"][random.usize(0..8)];
        let second = ["q", "q", "{q, r}", "-q", "-{p, q}", "-p"][random.usize(0..6)];
        let mut sources = Sources::default();
        let mut span = |text: &str| {
            let file = sources.add("text", text).unwrap();
            (sources.clone(), sources.span(file))
        };
        let [first_pattern, second_pattern] = [first, second].map(|text| {
            let (sources, span) = span(text);
            parse_pattern(&sources, span).0.unwrap()
        });
        let (sources, span) = span(&by_values(first, second));
        let phi = parse_formula(&sources, span).0.unwrap();
        let expected = |cut: bool| naive::holds(&mut graph.clone(), &phi, cut).unwrap();
        let expected = [expected(false), expected(true)];

        let mut valued = Valued(graph.clone());
        let formula = resolve_bound_response(&first_pattern, &second_pattern, &mut valued).unwrap();
        let mut space = Space::new(valued);
        let found = explain(&mut space, &formula, &Budget::unlimited());
        let what = format!("seed {seed}: {first}, {second} on {graph:#?}");
        match found.verdict {
            Verdict::Holds => assert_eq!(expected, [true, true], "{what}"),
            Verdict::Fails => assert_eq!(expected, [false, false], "{what}"),
            Verdict::Unknown(_) => assert_ne!(expected[0], expected[1], "{what}"),
        }
        assert_eq!(found.withheld, None, "{what}");
        if let Some(evidence) = &found.evidence {
            // The play is a path of the system itself.
            let mut at = evidence.play.start;
            for step in &evidence.play.steps {
                space.expand(at).unwrap();
                assert!(space.transitions(at).contains(&(step.label, step.to)), "{what}");
                at = step.to;
            }
        }
        let again = recheck(&mut space, &formula, &mut PausedGame::default(), false, &Budget::unlimited());
        assert_eq!(again.verdict, found.verdict, "{what}");
        let index = match found.verdict {
            Verdict::Holds => 0,
            Verdict::Fails => 1,
            Verdict::Unknown(_) => 2,
        };
        verdicts[index] += 1;
        // With independent variables, more systems have the property.
        let open = format!(
            "resp({}, {})",
            first.replace('p', "{p1, p2}").replace('q', "{q1, q2}"),
            second.replace('p', "{p1, p2}").replace('q', "{q1, q2}")
        );
        let mut sources = Sources::default();
        let file = sources.add("text", open).unwrap();
        let phi = parse_formula(&sources, sources.span(file)).0.unwrap();
        let is_open = naive::holds(&mut graph.clone(), &phi, true).unwrap();
        n_stronger += usize::from(is_open && found.verdict == Verdict::Fails);
    }
    assert!(verdicts.iter().all(|n| *n > 100) && n_stronger > 100, "{verdicts:?}, {n_stronger} differ");
}
