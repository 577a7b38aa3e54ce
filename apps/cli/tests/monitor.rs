//! `masque monitor`: the logs of the agent team, text and JSON, bad input, enforcement, and exit codes.

use std::path::{Path, PathBuf};

use masque_cli::{Context, Exit};
use masque_report::{Detail, Text};
use serde_json::Value;

use crate::support::outcome;

/// The folder of this repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn context(detail: Detail) -> Context {
    Context { text: Text { detail, ..Text::default() }, ..Context::default() }
}

/// Runs `masque monitor` on the agent team and one of its logs.
fn team(log: &str, words: &[&str], detail: Detail) -> (String, Exit) {
    // Relative, because the length of a path decides where lines are wrapped.
    let path = |name: &str| format!("../../{name}");
    let (model, goals) = (path("models/lcc/llm_team.lcc"), path("examples/monitor/goals.mu"));
    let (map, log) = (path("examples/monitor/team.toml"), path(&format!("examples/monitor/{log}")));
    let all = ["monitor", &model, &goals, "--map", &map, "--input", &log];
    let words: Vec<&str> = all.into_iter().chain(words.iter().copied()).collect();
    let (text, exit) = outcome(&words, &context(detail));
    (text.replace("../../", ""), exit)
}

macro_rules! logs {
    ($($name:ident: $log:literal, $detail:ident, $exit:ident;)*) => {$(
        #[test]
        fn $name() {
            let (text, exit) = team($log, &[], Detail::$detail);
            insta::with_settings!({ description => concat!("masque monitor .. --input ", $log), omit_expression => true }, {
                insta::assert_snapshot!(text);
            });
            assert_eq!(exit, Exit::$exit);
        }
    )*};
}

logs! {
    a_good_log: "good.jsonl", Normal, AllHold;
    a_good_log_in_detail: "good.jsonl", Verbose, AllHold;
    a_merge_without_review: "unreviewed.jsonl", Normal, SomeFail;
    a_goal_is_lost: "given_up.jsonl", Normal, SomeFail;
    an_obligation_is_open: "unlogged.jsonl", Normal, SomeFail;
}

#[test]
fn the_page_shows_what_is_printed() {
    let page = std::fs::read_to_string(root().join("docs/monitor.md")).unwrap();
    let block = page.split("$ masque monitor ").nth(1).unwrap().split("\n```").next().unwrap();
    // The command takes two lines.
    let shown = block.splitn(3, '\n').nth(2).unwrap();
    assert_eq!(format!("{shown}\n"), team("unreviewed.jsonl", &[], Detail::Normal).0);
}

/// A shop whose seller must answer each question, in sessions of one question each.
const SHOP: &str =
    "a(buyer, B) :: ask(X) => a(seller, sue) then (yes(X) <= a(seller, S) or no(X) <= a(seller, S)).
    a(seller, S) :: ask(X) <= a(buyer, B) then
      (yes(X) => a(buyer, B) <- willing(X) or no(X) => a(buyer, B) <- not willing(X)).
    agent a(buyer, ben). agent a(seller, sue). choice sue: willing/1.
    rule sue: (sue, ben, !send(yes(X))) after out(ask(X))@ben until out(no(X))@sue.
    property sold : <-* . out(yes(_))>tt ;";

/// Files for the tests below.
struct Shop(tempfile::TempDir);

impl Shop {
    fn new() -> Shop {
        let shop = Shop(tempfile::tempdir().unwrap());
        shop.write("shop.lcc", SHOP);
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Runs `masque monitor shop.lcc --input log` with further words.
    fn monitor(&self, log: &str, words: &[&str]) -> (String, Exit) {
        self.write("log.jsonl", log);
        self.run(words, &context(Detail::Normal))
    }

    fn run(&self, words: &[&str], context: &Context) -> (String, Exit) {
        let path = |name: &str| self.path(name).display().to_string();
        let (model, log) = (path("shop.lcc"), path("log.jsonl"));
        let all = ["monitor", &model, "--input", &log];
        let words: Vec<String> = all
            .into_iter()
            .map(str::to_string)
            .chain(words.iter().map(|word| word.replace("DIR/", &path(""))))
            .collect();
        let (text, exit) = outcome(&words, context);
        (text.replace(&path(""), ""), exit)
    }
}

const ASK: &str = r#"{"from": "ben", "to": "sue", "message": "ask(tea)"}"#;
const YES: &str = r#"{"from": "sue", "to": "ben", "message": "yes(tea)"}"#;

#[test]
fn records_need_no_map() {
    let (text, exit) = Shop::new().monitor(&format!("{ASK}\n{YES}\n"), &[]);
    assert_eq!(exit, Exit::AllHold);
    assert!(
        text.ends_with("2 events in 1 session: all are possible, no goal is lost, and nothing is owed\n"),
        "{text}"
    );
}

#[test]
fn the_last_line_needs_no_line_break() {
    let (_, exit) = Shop::new().monitor(&format!("{ASK}\n{YES}"), &[]);
    assert_eq!(exit, Exit::AllHold);
}

#[test]
fn an_empty_log_and_one_that_matches_nothing_are_errors() {
    let shop = Shop::new();
    for log in ["", "\n\n"] {
        let (text, exit) = shop.monitor(log, &[]);
        assert!(text.contains("error[monitor/empty-log]"), "{text}");
        assert_eq!(exit, Exit::BadInput);
    }
    let (text, exit) = shop.monitor(&format!("{ASK}\n"), &["--map", "mcp"]);
    assert!(text.contains("error[monitor/nothing-matched]: none of the 1 record of the log"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    let (text, exit) = shop.run(&["--map", "otel-gena"], &context(Detail::Normal));
    assert!(text.contains("error[monitor/no-map]") && text.contains("did you mean"), "{text}");
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn bad_records_are_named_and_the_others_are_judged() {
    let log = format!(
        "{ASK}\n{{\"from\": \n{{\"form\": 1}}\n[1]\n{{\"from\": \"sue\", \"message\": \"yes(\"}}\n{YES}\n"
    );
    let (text, exit) = Shop::new().monitor(&log, &["--line", "200B"]);
    insta::assert_snapshot!(text);
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn a_bad_map_has_its_mistake_underlined() {
    let shop = Shop::new();
    shop.write("map.toml", "observable = [\"out(_)\", \"#(pay(\"]\n[[event]]\nmessage = \"ask({a)\"\n");
    let (text, exit) = shop.monitor(ASK, &["--map", "DIR/map.toml"]);
    assert!(text.contains("error[monitor/map-value]: expected `}`\n --> map.toml:3:18"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    // Patterns are read with the model.
    shop.write("map.toml", "observable = [\"out(_)\", \"#(pay(\"]\n[[event]]\nmessage = \"ask({a})\"\n");
    let (text, exit) = shop.monitor(ASK, &["--map", "DIR/map.toml"]);
    assert!(text.contains("--> map.toml:1:"), "{text}");
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn sessions_are_separate() {
    let line = |session: &str, from: &str, to: &str, message: &str| {
        format!(
            "{{\"session\": \"{session}\", \"from\": \"{from}\", \"to\": \"{to}\", \"message\": \"{message}\"}}\n"
        )
    };
    let ask = |session: &str| line(session, "ben", "sue", "ask(tea)");
    let answer = |session: &str, what: &str| line(session, "sue", "ben", what);
    let shop = Shop::new();
    let all = [ask("a"), ask("b"), ask("c"), ask("d")].concat()
        + &[
            answer("b", "yes(ale)"),
            answer("a", "yes(tea)"),
            answer("c", "no(tea)"),
            answer("b", "yes(tea)"),
        ]
        .concat();
    let (text, exit) = shop.monitor(&all, &[]);
    insta::assert_snapshot!(text);
    assert_eq!(exit, Exit::SomeFail);
    // Beyond the maximum, the end of a session is unknown.
    let (text, exit) =
        shop.monitor(&[ask("a"), ask("b"), answer("b", "yes(tea)")].concat(), &["--sessions", "1"]);
    assert!(text.contains("session a: too many sessions are open"), "{text}");
    assert_eq!(exit, Exit::Inconclusive);
    // It does not begin again: its next event is unknown, and no violation.
    let log = [ask("a"), ask("b"), answer("a", "yes(tea)"), answer("b", "yes(tea)")].concat();
    let (text, exit) = shop.monitor(&log, &["--sessions", "1"]);
    assert!(text.contains("log.jsonl:3: unknown  sue -> ben: yes(tea)   (session a)"), "{text}");
    assert_eq!(exit, Exit::Inconclusive);
}

/// Logs write numbers as numbers and as texts; both are the id.
#[test]
fn ids_may_be_numbers() {
    let shop = Shop::new();
    shop.write(
        "num.lcc",
        "a(node, N) :: ping(1) => a(sink, _). a(sink, S) :: ping(1) <= a(node, _). agent a(node, 1). agent a(sink, 2).",
    );
    let model = shop.path("num.lcc").display().to_string();
    for (record, expected) in [
        (r#"{"from": 1, "to": 2, "message": "ping(1)"}"#, Exit::AllHold),
        (r#"{"from": "1", "to": "2", "message": "ping(1)"}"#, Exit::AllHold),
        (r#"{"from": "01", "to": 2, "message": "ping(1)"}"#, Exit::SomeFail),
    ] {
        shop.write("num.jsonl", record);
        let log = shop.path("num.jsonl").display().to_string();
        let (text, exit) = outcome(&["monitor", &model, "--input", &log], &context(Detail::Normal));
        assert_eq!(exit, expected, "{text}");
    }
}

/// A step that the agents could make, but that no record is expected to be about, is not explained by other agents.
#[test]
fn steps_that_are_not_observable_are_named() {
    let shop = Shop::new();
    let record =
        |kind: &str| format!("{{\"kind\": \"{kind}\", \"by\": \"sue\", \"message\": \"ask(tea)\"}}\n");
    let (text, exit) = shop.monitor(&format!("{ASK}\n{}", record("taken")), &[]);
    assert!(text.contains("VIOLATED  ? -> sue: ask(tea) (received)"), "{text}");
    assert!(
        text.contains("the step is possible here (`sue receives ask(_) from ben`), but steps of this"),
        "{text}"
    );
    assert_eq!(exit, Exit::SomeFail);
    let exchanged = r#"{"kind": "exchanged", "from": "ben", "to": "sue", "message": "ask(tea)"}"#;
    let (text, _) = shop.monitor(exchanged, &[]);
    assert!(text.contains("(`ben -> sue: ask(_)`), but it has another `kind`"), "{text}");
}

#[test]
fn a_session_that_is_idle_ends() {
    let at = |time: u32, session: &str| {
        format!(
            "{{\"time\": {time}, \"session\": \"{session}\", \"from\": \"ben\", \"to\": \"sue\", \"message\": \"ask(1)\"}}\n"
        )
    };
    let (text, exit) = Shop::new().monitor(&(at(0, "a") + &at(100, "b")), &["--idle", "60s"]);
    assert!(text.contains("session a: the session was idle for too long\n  open: sue owes"), "{text}");
    assert!(text.contains("session b: end of the log\n  open: sue owes"), "{text}");
    assert_eq!(exit, Exit::SomeFail);
    // A record without a time is neither older nor newer than others.
    let (text, exit) = Shop::new().monitor(&format!("{ASK}\n{}{YES}\n", at(100, "b")), &["--idle", "60s"]);
    assert!(!text.contains("idle") && !text.contains("VIOLATED"), "{text}");
    assert_eq!(exit, Exit::SomeFail);
}

/// A page says what was observed after the end of a session, too.
#[test]
fn the_page_has_events_after_the_end() {
    let shop = Shop::new();
    let log = format!("{ASK}\n{YES}\n{ASK}\n");
    let (text, exit) = shop.monitor(&log, &["--option", "comm=sync", "--html", "DIR/page.html"]);
    assert!(text.contains("the session was over before"), "{text}");
    assert_eq!(exit, Exit::SomeFail);
    let page = std::fs::read_to_string(shop.path("page.html")).unwrap();
    assert!(page.contains("ben -&gt; sue: ask(tea): the session was over before"), "{page}");
}

#[test]
fn records_are_put_in_the_order_of_their_times() {
    let shop = Shop::new();
    let map = |order: &str| {
        format!(
            "time = \"at\"\n{order}\n[[event]]\nfrom = \"{{from}}\"\nto = \"{{to}}\"\nmessage = \"'{{what}}'({{about}})\"\n"
        )
    };
    let record = |at: u32, from: &str, to: &str, what: &str| {
        format!(
            "{{\"at\": {at}, \"from\": \"{from}\", \"to\": \"{to}\", \"what\": \"{what}\", \"about\": \"tea\"}}\n"
        )
    };
    let log = record(2, "sue", "ben", "yes") + &record(1, "ben", "sue", "ask");
    shop.write("map.toml", &map("order = \"time\""));
    assert_eq!(shop.monitor(&log, &["--map", "DIR/map.toml"]).1, Exit::AllHold);
    shop.write("map.toml", &map("order = \"arrival\""));
    let (text, exit) = shop.monitor(&log, &["--map", "DIR/map.toml"]);
    assert_eq!(exit, Exit::SomeFail);
    shop.write("map.toml", &map("order = \"time\"\nwindow_seconds = 5"));
    let late = record(1, "ben", "sue", "ask") + &record(20, "x", "y", "z") + &record(0, "sue", "ben", "yes");
    let (late, exit) = shop.monitor(&late, &["--map", "DIR/map.toml"]);
    assert!(late.contains("log.jsonl:3: warning: this record arrived after later ones were used"), "{late}");
    assert!(late.contains("1 event arrived too late"), "{late}");
    assert_eq!(exit, Exit::SomeFail);
    assert!(text.contains("VIOLATED  sue -> ben: yes(tea)"), "{text}");
}

/// Each record has a decision, and what is denied has not happened.
#[test]
fn impossible_records_are_denied() {
    let log = format!("{YES}\n{ASK}\n{ASK}\n{{\"from\"\n{YES}\n");
    let shop = Shop::new();
    let (text, exit) = shop.monitor(&log, &["--enforce"]);
    let decisions: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("log.jsonl:")?.split_once(": ")?.1.split_once("  "))
        .map(|(word, _)| word)
        .collect();
    assert_eq!(decisions, ["deny", "allow", "deny", "deny", "allow"], "{text}");
    assert_eq!(exit, Exit::BadInput);
    shop.write("map.toml", "order = \"time\"\ntime = \"at\"\n[[event]]\nmessage = \"m\"\n");
    assert_eq!(shop.monitor(&log, &["--enforce", "--map", "DIR/map.toml"]).1, Exit::BadInput);
}

/// Each record has exactly one decision, also if it ends a session or would be several events.
#[test]
fn each_record_has_one_decision() {
    let shop = Shop::new();
    let event =
        "[[event]]\nwhen = { n = { exists = true } }\nfrom = \"ben\"\nto = \"sue\"\nmessage = \"ask(tea)\"\n";
    let twice = event.replace("{ n = { exists = true } }", "{ n = 2 }");
    let end = "[[event]]\nwhen = { over = true }\nend = true\n";
    shop.write("map.toml", &format!("session = \"{{s}}\"\n{event}{twice}{end}"));
    let log = "{\"s\": 1, \"n\": 2}\n{\"s\": 1, \"n\": 1}\n{\"s\": 1, \"n\": 1, \"over\": true}\n{\"s\": 1, \"over\": true}\n{\"s\": 1}\n";
    let (text, exit) = shop.monitor(log, &["--enforce", "--map", "DIR/map.toml", "--format", "json"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let decisions: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            Some(format!("{} {} {}", line["line"], line["verdict"].as_str()?, line["decision"].as_str()?))
        })
        .collect();
    assert_eq!(
        decisions,
        ["1 bad_record deny", "2 possible allow", "3 violated deny", "4 ended allow", "5 ignored allow"]
    );
    assert_eq!(exit, Exit::BadInput);
    // Without enforcement, a record may be several events; one that only ends sessions is no event.
    shop.write("log.jsonl", "{\"s\": 1, \"over\": true}\n");
    let (text, exit) = shop.run(&["--map", "DIR/map.toml"], &context(Detail::Normal));
    assert!(text.contains("none of the 1 record of the log is an event"), "{text}");
    assert_eq!(exit, Exit::BadInput);
}

/// Keys of a map that the model has no use for are errors, as the options are.
#[test]
fn maps_are_for_one_kind_of_model() {
    let shop = Shop::new();
    shop.write("lamps.ispl", LAMPS);
    let model = shop.path("lamps.ispl").display().to_string();
    let of_system = "[[event]]\ncolumns = { lit = \"{lit}\" }\n";
    shop.write("map.toml", &format!("unseen = \"Bob.Action = switch\"\n{of_system}"));
    let (text, exit) = shop.monitor(ASK, &["--map", "DIR/map.toml"]);
    assert!(text.contains("`unseen` and `conditions` in a map are for interpreted systems"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    shop.write("log.jsonl", "{}\n");
    shop.write("map.toml", &format!("observable = [\"out(_)\"]\n{of_system}"));
    let (map, log) =
        (shop.path("map.toml").display().to_string(), shop.path("log.jsonl").display().to_string());
    let (text, exit) =
        outcome(&["monitor", &model, "--input", &log, "--map", &map], &context(Detail::Normal));
    assert!(text.contains("patterns in `observable` in a map are for protocols"), "{text}");
    assert_eq!(exit, Exit::BadInput);
}

#[test]
fn json_has_a_line_for_each_event() {
    let (text, exit) = Shop::new().monitor(&format!("{ASK}\n{YES}\n{YES}\n"), &["--format", "json"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(lines[0]["schema"], "masque.monitor/1");
    assert_eq!(types[1..], ["event", "session", "summary"], "{text}");
    assert_eq!((&lines[1]["verdict"], &lines[1]["line"]), (&Value::from("violated"), &Value::from(3)));
    assert_eq!(lines.last().unwrap()["violated"], 1);
    assert_eq!(exit, Exit::SomeFail);
}

/// Foreign text moves no cursor, and on the page it is text.
#[test]
fn foreign_text_is_shown_and_not_interpreted() {
    let shop = Shop::new();
    let log =
        r#"{"from": "<script>alert(1)</script>\u001b[2J", "to": "sue", "message": {"a\u202eb": ["\u0007"]}}"#;
    let (text, exit) = shop.monitor(log, &["--html", "DIR/page.html"]);
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
    assert_eq!(exit, Exit::SomeFail);
    let page = std::fs::read_to_string(shop.path("page.html")).unwrap();
    assert!(page.contains("Content-Security-Policy") && !page.contains("<script"), "{page}");
    assert!(page.contains("&lt;script&gt;") && page.contains(r#"class="violated""#), "{page}");
}

/// A log that is followed: half a line waits, a truncated and a rotated file are read again, and Ctrl-C gives the
/// summary.
#[test]
fn a_log_is_followed() {
    let shop = Shop::new();
    let record = |session: u32, half: &str| {
        format!("{{\"session\": {session}, \"from\": \"ben\", \"to\": \"sue\", \"message\": \"ask({half}")
    };
    let append = |text: &str| {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().append(true).create(true).open(shop.path("log.jsonl"));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    };
    append(&(record(1, "1)\"}\n") + &record(2, "")));
    let context = context(Detail::Verbose);
    let interrupt = std::sync::Arc::clone(&context.interrupt);
    let (text, exit) = std::thread::scope(|scope| {
        let wait = || std::thread::sleep(std::time::Duration::from_millis(400));
        let command = scope.spawn(|| shop.run(&["--follow"], &context));
        wait();
        append("2)\"}\n");
        wait();
        std::fs::write(shop.path("log.jsonl"), record(3, "3)\"}\n")).unwrap();
        wait();
        append("half a line");
        wait();
        std::fs::rename(shop.path("log.jsonl"), shop.path("old.jsonl")).unwrap();
        wait();
        append(&record(4, "4)\"}\n"));
        wait();
        interrupt.store(true, std::sync::atomic::Ordering::Relaxed);
        command.join().unwrap()
    });
    for expected in [
        "log.jsonl:1: ok  ben -> sue: ask(1)",
        "log.jsonl:2: ok  ben -> sue: ask(2)",
        "log.jsonl: note: the log was truncated",
        "log.jsonl:1: ok  ben -> sue: ask(3)",
        "log.jsonl: warning: the last line of the log before it was replaced is incomplete",
        "log.jsonl: note: another file has the name of the log",
        "log.jsonl:1: ok  ben -> sue: ask(4)",
        "4 events in 4 sessions: 4 obligations open",
        "interrupted: this is the result so far",
    ] {
        assert!(text.contains(expected), "without `{expected}`:\n{text}");
    }
    assert_eq!(exit, Exit::BadInput);
}

/// Two lamps; Ann sees only hers.
const LAMPS: &str = "Agent Ann Vars: on : boolean; end Vars Actions = {wait, switch};
    Protocol: Other : {wait, switch}; end Protocol
    Evolution: on = true if Action = switch and on = false; on = false if Action = switch and on = true; end Evolution
    end Agent
    Agent Bob Vars: on : boolean; end Vars Actions = {wait, switch};
    Protocol: on = true : {wait}; Other : {wait, switch}; end Protocol
    Evolution: on = true if Action = switch; end Evolution
    end Agent
    Evaluation dark if Ann.on = false and Bob.on = false; lit if Bob.on = true; end Evaluation
    InitStates Ann.on = false and Bob.on = false; end InitStates
    Formulae EF lit; end Formulae";

#[test]
fn logs_of_interpreted_systems() {
    let shop = Shop::new();
    shop.write("lamps.ispl", LAMPS);
    let model = shop.path("lamps.ispl").display().to_string();
    let run = |log: &str, words: &[&str]| {
        shop.write("lamps.jsonl", log);
        let log = shop.path("lamps.jsonl").display().to_string();
        let all: Vec<&str> =
            ["monitor", &model, "--input", &log].into_iter().chain(words.iter().copied()).collect();
        let (text, exit) = outcome(&all, &context(Detail::Normal));
        (text.replace(&shop.path("").display().to_string(), ""), exit)
    };
    let log = "{\"Bob.Action\": \"switch\", \"lit\": true}\n{\"Bob.Action\": \"switch\"}\n";
    let (text, exit) = run(log, &[]);
    assert!(text.contains("lamps.jsonl:2: VIOLATED  Bob.Action = switch"), "{text}");
    assert!(text.contains("the protocol of `Bob` does not allow `switch`"), "{text}");
    assert_eq!(exit, Exit::SomeFail);
    let (text, exit) = run("{\"Bob.Action\": \"swich\"}\n", &[]);
    assert!(text.contains("agent `Bob` has no action `swich`; did you mean `switch`?"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    // In the view of Ann, Bob's lamp is not visible.
    let (text, exit) = run("{\"Bob.on\": true}\n", &["--as", "Ann"]);
    assert!(text.contains("agent `Ann` does not see `Bob.on`"), "{text}");
    assert_eq!(exit, Exit::BadInput);
    let (_, exit) = run("{\"Ann.Action\": \"wait\", \"Ann.on\": false}\n", &["--as", "Ann"]);
    assert_eq!(exit, Exit::AllHold);
    // A record without `Ann.on` says less than Ann saw.
    let (text, exit) = run("{\"Ann.Action\": \"wait\"}\n", &["--as", "Ann"]);
    assert!(text.contains("what the agent sees: Ann.on; it may know more"), "{text}");
    assert_eq!(exit, Exit::AllHold);
    // Bob's step may be unseen.
    let ann = "{\"Ann.Action\": \"switch\", \"Ann.on\": true, \"lit\": false}\n";
    assert_eq!(
        run(&format!("{ann}{{\"Ann.Action\": \"wait\", \"lit\": true, \"Bob.Action\": \"wait\"}}\n"), &[]).1,
        Exit::SomeFail
    );
    let seen = format!("{ann}{{\"Ann.Action\": \"wait\", \"lit\": true, \"Bob.Action\": \"wait\"}}\n");
    assert_eq!(run(&seen, &["--unseen", "Bob.Action = switch and Ann.Action = wait"]).1, Exit::AllHold);
}

/// The spans of the SDK, with the map for them, against a protocol of the agent that they are about.
#[test]
fn spans_are_compared_with_a_protocol() {
    let shop = Shop::new();
    shop.write(
        "research.lcc",
        "a(user, U) :: invoke => a(researcher, researcher) then (done <= a(_, R) or failed(_) <= a(_, R)).
         a(researcher, R) :: invoke <= a(user, U) then a(working(U), R).
         a(working(U), R) ::
           (chat => a(model, model) then reply <= a(model, M) then a(working(U), R))
           or
           (call(T, A) => a(tools, tools) <- tool(T, A) then
             (result(T) <= a(tools, X) or failed(T, _) <= a(tools, X)) then a(working(U), R))
           or done => a(user, U).
         a(model, M) :: chat <= a(_, R) then reply => a(working(_), R) then a(model, M).
         a(tools, X) :: call(T, A) <= a(_, R) then
           (result(T) => a(working(_), R) or failed(T, timeout) => a(working(_), R)) then a(tools, X).
         agent a(user, user). agent a(researcher, researcher). server a(model, model). server a(tools, tools).
         know researcher: tool(web_search, _). know researcher: tool(write_file, _).",
    );
    let model = shop.path("research.lcc").display().to_string();
    for file in ["otel-genai.jsonl", "otel-genai-otlp.jsonl"] {
        let log = root().join("crates/monitor/maps/records").join(file).display().to_string();
        let (text, exit) =
            outcome(&["monitor", &model, "--input", &log, "--map", "otel-genai"], &context(Detail::Normal));
        assert_eq!(exit, Exit::AllHold, "{text}");
        assert!(text.contains("20 events in 2 sessions: all are possible"), "{text}");
        assert!(text.contains("2 records ignored by the map"), "{text}");
    }
}

/// A writer whose other side is closed.
struct Closed;

impl std::io::Write for Closed {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A command that follows a log ends when its output is closed.
#[test]
fn a_closed_output_ends_the_command() {
    let shop = Shop::new();
    shop.write("log.jsonl", &format!("{ASK}\n"));
    let path = |name: &str| shop.path(name).display().to_string();
    let words = [
        "masque",
        "monitor",
        &path("shop.lcc"),
        "--input",
        &path("log.jsonl"),
        "--follow",
        "--format",
        "json",
    ];
    let cli = masque_cli::parse(words.map(std::ffi::OsString::from)).unwrap();
    let run = masque_cli::run(&cli.command, &context(Detail::Normal), &mut Closed, &mut Vec::new());
    let error = run.unwrap_err();
    assert_eq!(
        error.downcast_ref::<std::io::Error>().map(std::io::Error::kind),
        Some(std::io::ErrorKind::BrokenPipe)
    );
}
