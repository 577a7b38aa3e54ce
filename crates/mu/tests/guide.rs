//! The properties of the language guide have the verdicts that it states.

use masque_mu::{Graph, Space, explain, read_aut, read_formula, read_properties};
use masque_text::{Sources, render};
use masque_verdict::{Budget, Verdict};

const GUIDE: &str = include_str!("../../../docs/mu.md");

/// The code blocks of the page, each with its language.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    let parts = GUIDE.split("\n```").skip(1).step_by(2);
    parts.map(|part| part.split_once('\n').unwrap())
}

fn graph(text: &str) -> Graph {
    let mut sources = Sources::default();
    let file = sources.add("guide.aut", text).unwrap();
    let (graph, diagnostics) = read_aut(&sources, sources.span(file));
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    graph.unwrap()
}

#[test]
fn properties_get_their_verdicts() {
    let mut system = None;
    let mut n_properties = 0;
    for (mark, text) in blocks() {
        match mark {
            "aut" => system = Some(graph(text)),
            "mu" => n_properties += check_block(text, system.as_mut().unwrap()),
            _ => assert_eq!(mark, "text"),
        }
    }
    assert!(n_properties > 30, "{n_properties}");
}

/// Compares the verdicts of the properties of a block with the comments beside them.
fn check_block(text: &str, graph: &mut Graph) -> usize {
    let mut sources = Sources::default();
    let file = sources.add("guide.mu", text).unwrap();
    let (properties, diagnostics) = read_properties(&sources, sources.span(file), graph);
    let messages: String = diagnostics.iter().map(|d| render(&sources, d, false)).collect();
    assert!(messages.is_empty(), "{messages}");
    let lines: Vec<&str> = text.lines().filter(|line| line.contains(" : ")).collect();
    assert_eq!(properties.len(), lines.len(), "{text}");
    for (property, line) in properties.iter().zip(lines) {
        let answer = explain(&mut Space::new(&mut *graph), &property.formula, &Budget::unlimited());
        let comment = line.rsplit(['/', '*']).find(|part| part.contains("s")).unwrap().trim();
        let expected = comment.split([':', ' ']).next().unwrap();
        assert_eq!(answer.verdict.word(), expected, "{line}");
    }
    properties.len()
}

/// The table of abbreviations is right on random systems.
#[test]
fn abbreviations_are_what_the_table_says() {
    let table = GUIDE.split("| written | means | is short for |").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().skip(2).take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let row = row.replace("\\|\\|", "or");
        let cells: Vec<&str> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let mut seen = [false; 2];
        for seed in 0..200 {
            let mut graph = random(seed);
            let [short, long] = [cells[1], cells[3]].map(|text| holds(text, &mut graph));
            assert_eq!(short, long, "seed {seed}: {row}");
            seen[usize::from(short)] = true;
        }
        assert_eq!(seen, [true; 2], "{row}");
    }
}

/// A system with steps `P`, `Q`, `R` and an atom `f`.
fn random(seed: u64) -> Graph {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut graph = Graph::new();
    let states: Vec<_> = (0..5).map(|_| graph.state()).collect();
    for &from in &states {
        for _ in 0..random.usize(0..3) {
            graph.transition(from, ["P", "Q", "R"][random.usize(0..3)], states[random.usize(0..5)]);
        }
        if random.bool() {
            graph.mark(from, "f");
        }
    }
    let odd = graph.state();
    graph.mark(odd, "f");
    graph
}

fn holds(text: &str, graph: &mut Graph) -> bool {
    let mut sources = Sources::default();
    let file = sources.add("table", text).unwrap();
    let (formula, diagnostics) = read_formula(&sources, sources.span(file), graph);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
    explain(&mut Space::new(&mut *graph), &formula.unwrap(), &Budget::unlimited()).verdict == Verdict::Holds
}
