//! Graphs that the langgraph package has exported (`data/export_graphs.py`), and graphs of all kinds.

use masque_driver::{Limits, Request, Show, check, format_text, load_text};
use masque_import::{Refused, Skeleton, langgraph};

/// Checks a skeleton: it has neither errors nor warnings, and the standard layout. Returns the verdicts.
pub(crate) fn verdicts(skeleton: &Skeleton) -> Vec<String> {
    let text = skeleton.text();
    let formatted = format_text("m.lcc", &text, &Limits::default());
    assert_eq!(formatted.as_deref(), Ok(text.as_str()));
    let mut request = Request::default();
    request.work.evidence = Show::Failed;
    let loaded = load_text("m.lcc", &text, &request);
    let diagnostics: Vec<String> = loaded.diagnostics.iter().map(|found| found.message.clone()).collect();
    assert!(loaded.model.is_some() && diagnostics.is_empty(), "{diagnostics:?}\n{text}");
    let n_listed = text
        .lines()
        .filter(|line| {
            line.starts_with("// ")
                && line[3..].split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok())
        })
        .count();
    let summary = skeleton.summary();
    let counted = masque_text::counted(n_listed, "assumption", "assumptions");
    assert!(summary.ends_with(&format!(", {counted}")), "{summary}\n{text}");
    assert!(text.lines().all(|line| !line.starts_with("//") || line.chars().count() <= 320), "{text}");
    let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap().unwrap();
    let names = loaded.model.as_ref().unwrap().properties();
    names
        .iter()
        .zip(&run.decisions)
        .map(|(name, decision)| format!("{}: {}", name.name, decision.verdict.word()))
        .collect()
}

fn exported(name: &str) -> Skeleton {
    let path = format!("{}/tests/import/data/langgraph_{name}.json", env!("CARGO_MANIFEST_DIR"));
    langgraph("graph.json", &std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_sequence_ends() {
    let skeleton = exported("sequence");
    assert_eq!(skeleton.summary(), "4 roles, 0 choices, 2 assumptions");
    let all = verdicts(&skeleton);
    assert!(all.len() == 6 && all.iter().all(|line| line.ends_with(": holds")), "{all:?}");
}

/// A loop may go on forever, but it can always end.
#[test]
fn a_handoff_loop_need_not_end() {
    for (name, summary) in
        [("tool_loop", "4 roles, 1 choice, 4 assumptions"), ("handoff", "5 roles, 3 choices, 5 assumptions")]
    {
        let skeleton = exported(name);
        assert_eq!(skeleton.summary(), summary, "{name}");
        let all = verdicts(&skeleton);
        assert_eq!(all[..3], ["ends: fails", "can_end: holds", "never_stuck: holds"], "{name}");
        assert!(all[3..].iter().all(|line| line.ends_with(": holds")), "{all:?}");
    }
}

#[test]
fn branches_in_parallel_end() {
    let skeleton = exported("fan_out");
    let all = verdicts(&skeleton);
    assert!(all.iter().all(|line| line.ends_with(": holds")), "{all:?}");
    assert!(skeleton.text().contains("judge runs once for each of the 3 nodes"), "{}", skeleton.text());
}

/// Names with other characters, keywords and labels are harmless.
#[test]
fn foreign_names_are_replaced() {
    let skeleton = exported("labels");
    let text = skeleton.text();
    let unbroken = text.replace("\n//    ", " ");
    for line in [
        "// then_2 is \"then\"",
        "// agent_3 is \"Agent\"",
        "// a_b_c is \"a\\nb // c\"",
        "// start_2 is \"start\"",
        "// pr_fer is \"prüfer\"",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}\n{text}");
    }
    assert!(unbroken.contains("\"yes, it is \"good\"\" leads"), "{text}");
    let all = verdicts(&skeleton);
    assert!(all.iter().all(|line| line.ends_with(": holds")), "{all:?}");
}

/// The skeleton of a graph with the nodes x, y and z, and these edges: source, target, whether it is conditional.
fn drawn(edges: &[(&str, &str, bool)]) -> Skeleton {
    let nodes = ["__start__", "x", "y", "z", "__end__"].map(|id| serde_json::json!({"id": id}));
    let edge = |(source, target, conditional): &(&str, &str, bool)| {
        let label = format!("a long reason to go to {target}, ").repeat(4);
        serde_json::json!({"source": source, "target": target, "conditional": conditional, "data": label})
    };
    let edges: Vec<_> = edges.iter().map(edge).collect();
    langgraph("g.json", &serde_json::json!({"nodes": nodes, "edges": edges}).to_string()).unwrap()
}

/// A node runs once, also if it is chosen although the node before it hands over to it in any case.
#[test]
fn fixed_and_conditional_edges_to_one_node() {
    let skeleton = drawn(&[("__start__", "x", false), ("x", "y", false), ("x", "y", true)]);
    assert_eq!(skeleton.summary(), "3 roles, 0 choices, 4 assumptions");
    let text = skeleton.text();
    assert!(text.contains("then run => a(y, y) then a(x, Self)."), "{text}");
    assert_eq!(text.matches("run => a(y, y)").count(), 1, "{text}");
    assert!(!text.contains("several nodes"), "{text}");
    verdicts(&skeleton);
    let edges = [
        ("__start__", "x", false),
        ("x", "y", false),
        ("x", "__end__", false),
        ("x", "y", true),
        ("x", "z", true),
        ("x", "__end__", true),
    ];
    let skeleton = drawn(&edges);
    let text = skeleton.text();
    assert!(text.contains("(run => a(z, z) or null)"), "{text}");
    assert_eq!(text.matches("run => a(y, y)").count(), 1, "{text}");
    assert!(text.contains("1 choice,") && text.contains("x chooses exactly one of 3 nodes"), "{text}");
    assert_eq!(verdicts(&skeleton)[..3], ["ends: holds", "can_end: holds", "never_stuck: holds"]);
}

/// Long assumptions continue on the next line, and long names and labels end with `..`.
#[test]
fn long_comments_are_complete() {
    let skeleton = drawn(&[("__start__", "x", false), ("x", "y", true), ("x", "z", true), ("x", "x", true)]);
    verdicts(&skeleton);
    let text = skeleton.text();
    let unbroken = text.replace("\n//    ", " ");
    for target in ["y", "z", "x"] {
        let label = format!("a long reason to go to {target}, ").repeat(4);
        assert!(unbroken.contains(&format!("\"{}..\" leads to {target}", &label[..60])), "{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let long = "x".repeat(300);
    let graph = serde_json::json!({"nodes": [{"id": "__start__"}, {"id": long}], "edges": [{"source": "__start__", "target": long}]});
    let text = langgraph("g.json", &graph.to_string()).unwrap().text();
    assert!(text.contains(&format!(" is \"{}..\"", &long[..200])), "{text}");
}

#[test]
fn what_is_no_graph_is_refused() {
    #[rustfmt::skip]
    let rows = [
        ("",                                              "g.json:1:0: EOF while parsing a value; expected a graph"),
        ("{\n \"nodes\": 7}",                             "g.json:2:11: invalid type: integer `7`, expected a sequence"),
        ("{\"nodes\": []}",                               "missing field `edges`"),
        ("{\"nodes\": [], \"edges\": []}",                "the graph has no node `__start__`"),
        (r#"{"nodes": [{"id": "__start__"}, {"id": "x"}, {"id": "x"}], "edges": []}"#,                      "two nodes have the id `x`"),
        (r#"{"nodes": [{"id": "__start__"}], "edges": [{"source": "__start__", "target": "b\u001b[2J"}]}"#, r"edges[0].target is `b\u{1b}[2J`, which is the id of no node"),
        (r#"{"nodes": [{"id": "__start__"}, {"id": "x"}], "edges": [{"source": "x", "target": "__start__"}]}"#, "edges[0] leads to `__start__`"),
    ];
    for (text, expected) in rows {
        let Refused(message) = langgraph("g.json", text).unwrap_err();
        assert!(message.contains(expected), "{text}: {message}");
    }
    let nodes: Vec<String> = (0..3_000).map(|n| format!(r#"{{"id": "n{n}"}}"#)).collect();
    let text = format!(r#"{{"nodes": [{}], "edges": []}}"#, nodes.join(","));
    assert!(langgraph("g.json", &text).unwrap_err().0.contains("too many"));
    assert!(langgraph("g.json", &"[".repeat(100_000)).unwrap_err().0.contains("recursion limit"));
}

/// Graphs with random nodes, names and edges are accepted without a warning; a graph whose edges lead only forward ends.
#[test]
fn random_graphs() {
    let seeds =
        std::env::var("SEEDS").ok().and_then(|range| range.rsplit("..").next()?.parse().ok()).unwrap_or(150);
    let alphabet: Vec<char> = "aAbB1_ -.é日\n\u{1b}\"'/*%\\\u{2028}\u{202e}".chars().collect();
    for seed in 0..seeds {
        let mut random = fastrand::Rng::with_seed(seed);
        let n = random.usize(1..5);
        let mut ids = vec!["__start__".to_string(), "__end__".to_string()];
        while ids.len() < n + 2 {
            let id: String =
                (0..random.usize(0..5)).map(|_| alphabet[random.usize(..alphabet.len())]).collect();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let has_loops = random.bool();
        // The order of a graph without loops: the start, the nodes, the end.
        let rank = |index: usize| if index == 1 { usize::MAX } else { index };
        let mut edges = Vec::new();
        for source in (0..ids.len()).filter(|source| *source != 1) {
            for target in 1..ids.len() {
                if random.u8(..3) == 0 && (has_loops || rank(source) < rank(target)) {
                    edges.push(serde_json::json!({"source": ids[source], "target": ids[target], "conditional": has_loops || random.bool()}));
                }
            }
        }
        let nodes: Vec<_> = ids.iter().map(|id| serde_json::json!({"id": id})).collect();
        let text = serde_json::json!({"nodes": nodes, "edges": edges}).to_string();
        let skeleton = langgraph("g.json", &text).unwrap();
        let all = verdicts(&skeleton);
        assert!(all[2] != "never_stuck: fails", "{seed}: {all:?}\n{}", skeleton.text());
        if !has_loops {
            assert!(
                all[0] == "ends: holds" || all[0] == "ends: unknown",
                "{seed}: {all:?}\n{}",
                skeleton.text()
            );
        }
    }
}
