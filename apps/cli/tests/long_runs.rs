//! Long runs: cut by default, whole with `--full`, and the same run in every view and on the page.

use std::collections::BTreeMap;

use crate::support::outcome;
use masque_cli::{Context, Exit};
use masque_report::Text;
use serde_json::Value;

/// Sixty steps, 25 variables, 11 agents.
const RELAY: &str = "tests/models/relay.ispl";

/// What a command prints, in lines of this width.
fn printed(words: &[&str], width: usize) -> String {
    let context = Context { text: Text { width, ..Text::default() }, ..Context::default() };
    let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
    let (text, exit) = outcome(&words, &context);
    assert_eq!(exit, Exit::SomeFail, "{words:?}:\n{text}");
    text
}

fn relay(more: &[&str]) -> String {
    printed(&[&["check", RELAY], more].concat(), 100)
}

/// The values of all variables at all states of the counterexample, from the JSON report.
fn expected() -> Vec<BTreeMap<String, String>> {
    let report: Value = serde_json::from_str(&relay(&["--format", "json"])).unwrap();
    let states = report["runs"][0]["properties"][0]["evidence"]["states"].as_array().unwrap().clone();
    let values = |state: &Value| {
        let entries = state.as_object().unwrap().iter();
        entries.map(|(name, value)| (name.clone(), value.as_str().unwrap().to_string())).collect()
    };
    states.iter().map(values).collect()
}

#[test]
fn the_counterexample_is_as_large_as_it_should_be() {
    let states = expected();
    assert_eq!((states.len(), states[0].len()), (61, 25));
}

#[test]
fn long_runs_are_cut_and_the_line_names_the_option() {
    for view in ["steps", "table", "lanes"] {
        let text = relay(&["--view", view]);
        assert!(text.contains(".. 51 states left out (--full shows all)"), "{view}:\n{text}");
        let full = relay(&["--view", view, "--full"]);
        assert!(!full.contains("left out") && !full.contains(" more (--full"), "{view}:\n{full}");
    }
}

/// Reads the steps of a whole run: each state has the values of the one before, unless it says otherwise.
#[test]
fn the_whole_run_is_in_the_steps() {
    let text = relay(&["--full"]);
    let mut states: Vec<BTreeMap<String, String>> = Vec::new();
    let mut n_actions = 0;
    for line in text.lines().skip_while(|line| !line.contains("because")).skip(1) {
        if line.is_empty() {
            break;
        }
        if line.trim_start().starts_with('#') {
            states.push(states.last().cloned().unwrap_or_default());
        }
        for item in line.trim_start().trim_start_matches(|c: char| c == '#' || c.is_ascii_digit()).split(", ")
        {
            let item = item.trim().trim_end_matches(',');
            match item.split_once(" = ") {
                Some((name, value)) => _ = states.last_mut().unwrap().insert(name.into(), value.into()),
                None => n_actions += usize::from(item.contains(": ")),
            }
        }
    }
    assert_eq!(states, expected());
    assert_eq!(n_actions, 60 * 11, "every action of every agent, also of the one that has no choice");
}

/// Reads the table by the positions of its headings, block by block.
#[test]
fn the_whole_run_is_in_the_table() {
    let expected = expected();
    for width in [60, 100, 1000] {
        let text = printed(&["check", RELAY, "--full", "--view", "table"], width);
        let mut states: Vec<BTreeMap<String, String>> = vec![BTreeMap::new(); 61];
        let (mut groups, mut titles) = (words(""), words(""));
        let mut before = "";
        for line in text.lines() {
            if let Some(constants) = line.trim_start().strip_prefix("unchanged: ") {
                for (name, value) in constants.split(", ").filter_map(|item| item.split_once(" = ")) {
                    states.iter_mut().for_each(|state| _ = state.insert(name.into(), value.into()));
                }
            } else if line.trim_start().starts_with("state ") {
                (groups, titles) = (words(before), words(line)[1..].to_vec());
            } else if let Some(label) = line.trim_start().strip_prefix('#') {
                let number: usize = label.split(' ').next().unwrap().parse().unwrap();
                for (at, title) in titles.iter().filter(|(_, title)| title != "does") {
                    let group = groups.iter().rev().find(|(start, _)| start <= at).unwrap();
                    let cell: String = line.chars().skip(at - 1).collect();
                    let is_marked = cell.starts_with('*');
                    let value = cell[1..].split(' ').next().unwrap().to_string();
                    let name = format!("{}.{title}", group.1);
                    let has_changed = number > 0 && expected[number][&name] != expected[number - 1][&name];
                    assert_eq!(is_marked, has_changed, "{name} at #{number} in {width} columns");
                    states[number].insert(name, value);
                }
            }
            before = line;
        }
        assert_eq!(states, expected, "{width} columns");
    }
}

/// The words of a line with their positions.
fn words(line: &str) -> Vec<(usize, String)> {
    let mut words = Vec::new();
    let mut start = 0;
    for part in line.split(' ') {
        if !part.is_empty() {
            words.push((start, part.to_string()));
        }
        start += part.chars().count() + 1;
    }
    words
}

/// Checks the lanes of a whole run: an agent knows the last value it saw of each variable it observes.
#[test]
fn lanes_show_what_agents_see() {
    let text = printed(&["check", RELAY, "--full", "--view", "lanes", "-D", "N=1", "-D", "STEPS=30"], 100);
    let station: Vec<&str> =
        text.lines().filter_map(|line| line.get(26..)).filter(|cell| !cell.is_empty()).collect();
    let clocks = station.iter().filter(|cell| cell.contains("Environment.clock = ")).count();
    assert_eq!(clocks, 31, "{text}");
    assert!(
        !station.iter().any(|cell| cell.contains("weather")),
        "a station does not see the weather: {text}"
    );
    assert_eq!(station.iter().filter(|cell| cell.contains("> relay")).count(), 30, "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let ring = ["check", "../../models/lcc/contract_net.lcc", "--property", "AG !final"];
    for width in [40, 60, 80, 100, 140, 200] {
        for view in ["steps", "table", "lanes"] {
            for model in [&["check", RELAY][..], &ring, &["check", "tests/models/ticks.lcc"]] {
                let text = printed(&[model, &["--view", view, "--full"]].concat(), width);
                let evidence = text.lines().skip_while(|line| !line.is_empty()).skip(2);
                let evidence =
                    evidence.take_while(|line| !line.contains(" --> ") && !line.starts_with("warning"));
                for line in evidence.filter(|line| line.starts_with("  ")) {
                    let is_one_word = line.trim().split(' ').count() <= 2;
                    assert!(
                        line.chars().count() <= width || is_one_word,
                        "{model:?} {view} {width}:\n{line}"
                    );
                }
            }
        }
    }
}

/// The text of each cell of the whole table on the page, by rows.
fn page_table(page: &str) -> Vec<Vec<String>> {
    let whole = page.split_once("steps by variables, whole</caption>").unwrap().1;
    let body = whole.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let cell = |html: &str| {
        let mut text = String::new();
        let mut is_tag = false;
        for c in html.chars() {
            match c {
                '<' => is_tag = true,
                '>' => is_tag = false,
                c if !is_tag => text.push(c),
                _ => {}
            }
        }
        text
    };
    let row = |row: &str| row.split("</th>").flat_map(|part| part.split("</td>")).map(cell).collect();
    body.lines().filter(|line| line.starts_with("<tr")).map(row).collect()
}

#[test]
fn the_whole_run_is_on_the_page_and_in_dot() {
    let expected = expected();
    let page = relay(&["--evidence-format", "html"]);
    let head = page.split_once("steps by variables, whole</caption>").unwrap().1;
    let head = head.split_once("</thead>").unwrap().0;
    let columns: Vec<&str> = head
        .split_once("</tr>\n<tr>")
        .unwrap()
        .1
        .split(r#"<th scope="col">"#)
        .skip(1)
        .map(|part| part.split_once('<').unwrap().0)
        .collect();
    let groups = head.split("<th colspan=\"").skip(1).flat_map(|part| {
        let n: usize = part.split_once('"').unwrap().0.parse().unwrap();
        let name = part.split_once('>').unwrap().1.split_once('<').unwrap().0;
        std::iter::repeat_n(name, n)
    });
    let names: Vec<String> = groups.zip(&columns).map(|(group, title)| format!("{group}.{title}")).collect();
    let rows = page_table(&page);
    assert_eq!(rows.len(), 61);
    for (row, state) in rows.iter().zip(&expected) {
        for (name, value) in names.iter().zip(&row[1..]).filter(|(name, _)| !name.ends_with(".does")) {
            assert_eq!(value, &state[name], "{name} at {}", row[0]);
        }
    }
    assert_eq!(names.iter().filter(|name| !name.ends_with(".does")).count(), 24);
    assert!(page.contains("<p>Unchanged: <code>Environment.power = true</code>"), "the 25th variable");
    let dot = relay(&["--evidence-format", "dot"]);
    assert_eq!(dot.matches(" [shape=box").count(), 61);
    assert!(!dot.contains("left out") && !dot.contains("more variables"), "{dot}");
}

#[test]
fn the_page_has_an_overview() {
    let page = relay(&["--evidence-format", "html", "-D", "STEPS=12"]);
    for part in [
        "<title>tests/models/relay.ispl: 1 fails: 1; ",
        "<code>N = 10</code>, <code>STEPS = 12</code>",
        r##"<a href="#m1-p1">1</a>"##,
        "ispl/unread-variable",
        concat!("masque ", env!("CARGO_PKG_VERSION")),
        r#"<html lang="en">"#,
        "<main id=\"main\">",
    ] {
        assert!(page.contains(part), "{part} is missing");
    }
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("<link"));
}

#[test]
fn strategies_are_drawn() {
    let page = printed(
        &["check", "../../models/ispl/horse_race.ispl", "--evidence", "all", "--evidence-format", "html"],
        100,
    );
    let strategy = page.split_once(r#"class="drawing strategy""#).unwrap().1;
    let drawing = strategy.split_once("</svg>").unwrap().0;
    assert!(drawing.matches(r#"<g class="state""#).count() == 25, "{drawing}");
    assert_eq!(drawing.matches("goal reached").count() / 2, 3, "once on the card, once in its title");
    assert!(page.contains("<th scope=\"col\">choice</th><th scope=\"col\">may lead to</th>"));
    let page = printed(&["check", "tests/models/bridge.ispl", "--evidence-format", "html"], 100);
    assert!(page.contains("How the others prevent it"), "{page}");
}

#[test]
fn equal_charts_are_drawn_once() {
    let model = "../../models/lcc/m02_or.lcc";
    let two = ["--property", "AG !deadlock", "--property", "AG (!deadlock)"];
    let page = printed(&[&["check", model, "--evidence-format", "html"], &two[..]].concat(), 100);
    assert_eq!(page.matches("role=\"img\"").count(), 1, "one drawing");
    assert!(page.contains("The drawing is <a href=\"#e1\">the same as above</a>"), "{page}");
}

#[test]
fn the_summary_names_what_fails() {
    let text = printed(&["check", "../../models/ispl/horse_race.ispl", "tests/models/blind.ispl"], 100);
    assert!(text.contains("horse_race.ispl: 4 hold; 2 fail: 3, 4; 85 states\n"), "{text}");
    let last = text.lines().last().unwrap();
    assert!(
        last.starts_with("2 files: ") && last.contains("fail: ../../models/ispl/horse_race.ispl, "),
        "{last}"
    );
}
