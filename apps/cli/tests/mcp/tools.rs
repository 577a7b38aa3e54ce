//! Every tool with good and bad input.

use std::fs;

use masque_broker::Limits;
use serde_json::json;

use super::client::{Client, file, gallery};

/// A protocol whose buyer may wait forever, because the seller does not answer one question.
const SHOP: &str = "\
a(buyer, B) :: ask(price) => a(seller, S) <- shop(S) then price(P) <= a(seller, S).
a(seller, S) :: ask(Q) <= a(buyer, B) then (price(3) => a(buyer, B) <- willing(Q) or null <- not willing(Q)).
agent a(buyer, ben).
agent a(seller, sue).
common shop(sue).
choice sue: willing/1.
property possible : <-* . in(price(_))>tt ;
property ends : AF final ;
";

#[test]
fn a_failing_property_is_a_result() {
    let mut client = Client::new();
    let called = client.call("check", json!({"files": [file("shop.lcc", SHOP)]}));
    assert!(!called.is_error, "{}", called.text);
    assert_eq!(called.verdicts(), ["possible: holds", "ends: fails"]);
    assert!(called.text.contains("ben waits for price(_) from a(seller, sue)"), "{}", called.text);
    assert_eq!(called.data["used"]["language"], "lcc");
    assert_eq!(called.data["used"]["seconds"], 60.0);
    let one = client.call(
        "check",
        json!({"files": [file("shop.lcc", SHOP)], "evidence": "all", "properties": ["EF final"],
            "settings": {"options": {"comm": "sync"}}, "limits": {"seconds": 5}}),
    );
    assert_eq!(one.verdicts().len(), 3, "{}", one.text);
    assert!(one.verdicts()[2].ends_with(": holds"), "{}", one.text);
    let selected = client.call("check", json!({"files": [file("shop.lcc", SHOP)], "only": ["poss*"]}));
    assert_eq!(selected.verdicts(), ["possible: holds"], "{}", selected.text);
    assert_eq!(one.data["used"]["seconds"], 5.0);
    assert_eq!(one.data["used"]["options"]["comm"], "sync");
    client.end();
}

#[test]
fn errors_have_line_caret_code_and_fix() {
    let mut client = Client::new();
    let text = gallery("ispl/card_game.ispl").replacen("Evolution:", "Evolutoin:", 1);
    let called = client.call("check", json!({"files": [file("card.ispl", &text)]}));
    assert!(called.is_error);
    let found = &called.data["diagnostics"][0];
    let line = text.lines().position(|line| line.contains("Evolutoin")).unwrap() + 1;
    assert_eq!(found["line"], line, "{found}");
    let excerpt = found["excerpt"].as_str().unwrap();
    assert!(excerpt.contains('^') && excerpt.contains("error[ispl/"), "{excerpt}");
    assert!(called.text.contains(excerpt), "{}", called.text);
    // A misspelt name has a fix, whose edits give the corrected text.
    let text = "a(r, X) :: null. agent a(r, x). property p : AG !doen(x) ;";
    let called = client.call("check", json!({"files": [file("m.lcc", text)]}));
    let fix = &called.data["diagnostics"][0]["fix"];
    assert_eq!(fix["edits"][0]["text"], "done", "{}", called.text);
    let (from, to) =
        (fix["edits"][0]["column"].as_u64().unwrap(), fix["edits"][0]["end_column"].as_u64().unwrap());
    assert_eq!(&text[from as usize - 1..to as usize - 1], "doen");
    client.end();
}

#[test]
fn why_counts_and_shows_witnesses() {
    let mut client = Client::new();
    let game = file("card.ispl", &gallery("ispl/card_game.ispl"));
    let called = client.call("why", json!({"files": [game], "only": ["1"]}));
    assert!(!called.is_error, "{}", called.text);
    assert_eq!(called.data["report"]["schema"], "masque.why/1");
    assert!(!called.data["report"]["parts"][0]["parts"][0]["states"].is_null(), "{}", called.data);
    client.end();
}

#[test]
fn explain_has_a_page_for_each_code() {
    let mut client = Client::new();
    let page = client.call("explain", json!({"code": "lcc/no-team"}));
    assert!(!page.is_error && page.data["code"] == "lcc/no-team" && page.text.len() > 100, "{}", page.text);
    let all = client.call("explain", json!({}));
    assert!(all.text.contains("ispl/deadlock: "), "{}", all.text);
    let wrong = client.call("explain", json!({"code": "lcc/no-taem"}));
    assert!(wrong.is_error && wrong.text.contains("did you mean `lcc/no-team`?"), "{}", wrong.text);
    client.end();
}

#[test]
fn formatting_changes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hen.lcc");
    fs::write(&path, "a(hen,H)::null.agent a(hen,h).").unwrap();
    let mut client = Client::with(Limits::default(), Some(folder.path().to_path_buf()));
    let called = client.call("fmt", json!({"files": [{"name": "hen.lcc"}, file("bad.bdi", "agent a is (")]}));
    assert!(called.is_error, "{}", called.text);
    let files = &called.data["files"];
    assert_eq!((&files[0]["changed"], &files[1]["text"]), (&json!(true), &json!(null)));
    assert_eq!(files[0]["text"], "a(hen, H) :: null.\nagent a(hen, h).\n");
    assert_eq!(called.data["diagnostics"][0]["file"], "bad.bdi");
    assert_eq!(fs::read_to_string(&path).unwrap(), "a(hen,H)::null.agent a(hen,h).");
    client.end();
}

#[test]
fn a_walk_repeats_its_steps() {
    let mut client = Client::new();
    let first = client.call("simulate", json!({"files": [file("shop.lcc", SHOP)]}));
    assert!(!first.is_error && first.data["n_taken"] == 0, "{}", first.text);
    let label = first.data["choices"][0]["label"].clone();
    let second = client.call("simulate", json!({"files": [file("shop.lcc", SHOP)], "steps": [label, 1]}));
    assert_eq!(second.data["n_taken"], 2, "{}", second.text);
    assert_eq!(second.data["taken"][0]["label"], label);
    let wrong = client.call("simulate", json!({"files": [file("shop.lcc", SHOP)], "steps": [1, 9]}));
    assert!(wrong.is_error && wrong.text.contains("step 2: there is no choice 9"), "{}", wrong.text);
    assert_eq!(wrong.data["n_taken"], 1);
    for (name, path) in
        [("m.ispl", "ispl/bit_transmission.ispl"), ("m.bdi", "bdi/robot.bdi"), ("m.lcc", "lcc/llm_team.lcc")]
    {
        let files = json!([file(name, &gallery(path))]);
        let walk = |client: &mut Client, seed| {
            client.call("simulate", json!({"files": files, "random": 5, "seed": seed})).data["taken"].clone()
        };
        let (one, same) = (walk(&mut client, 7), walk(&mut client, 7));
        assert_eq!((one.as_array().unwrap().len(), &one), (5, &same), "{path}");
    }
    client.end();
}

#[test]
fn a_trace_is_confirmed_or_leaves_the_model() {
    let mut client = Client::new();
    let text = gallery("ispl/card_game.ispl");
    let checked = client.call("check", json!({"files": [file("m.ispl", &text)], "evidence": "all"}));
    let trace = checked.data["report"].clone();
    let same = client.call("replay", json!({"files": [file("m.ispl", &text)], "trace": trace}));
    assert!(!same.is_error, "{}", same.text);
    let runs = same.data["runs"].as_array().unwrap();
    assert!(!runs.is_empty() && runs.iter().all(|run| run["verdict"] == "confirmed"), "{}", same.text);
    let as_text =
        client.call("replay", json!({"files": [file("m.ispl", &text)], "trace": trace.to_string()}));
    assert_eq!(as_text.data["runs"], same.data["runs"]);
    // The counterexample of the shop is not a run of a shop in which sue always answers.
    let checked = client.call("check", json!({"files": [file("shop.lcc", SHOP)]}));
    let willing = SHOP.replace("choice sue: willing/1.", "know sue: willing(_).");
    let trace = checked.data["report"].clone();
    let other = client.call("replay", json!({"files": [file("shop.lcc", &willing)], "trace": trace}));
    assert_eq!(other.data["runs"][0]["verdict"], "leaves", "{}", other.text);
    assert!(!other.is_error && other.text.contains("possible: "), "{}", other.text);
    for bad in [json!("no trace"), json!(7), json!({"schema": "masque.check/1", "runs": []}), json!(null)] {
        let called = client.call("replay", json!({"files": [file("shop.lcc", SHOP)], "trace": bad}));
        assert!(called.is_error && !called.text.is_empty(), "{bad}: {}", called.text);
    }
    client.end();
}

/// All errors are counted, also those that are not listed, and a fix is for a line of a file.
#[test]
fn errors_are_counted_and_fixes_have_their_file() {
    let mut client = Client::new();
    let team = file("team.lcc", "agent a(r, x).\na(r, X) :: null.\n");
    let wrong =
        |from: usize| -> String { (from..from + 19).map(|n| format!("p{n} : AG !doen(x) ;\n")).collect() };
    let goals = |name, from| file(name, &wrong(from));
    let files = [team, goals("a.mu", 0), goals("b.mu", 20), goals("c.mu", 40)];
    let called = client.call("check", json!({"files": files}));
    assert_eq!(called.data["diagnostics"].as_array().unwrap().len(), 50);
    let count =
        "The model has 57 errors (the first 50 are above), so nothing was checked. Suggested: a.mu:1: ";
    assert!(called.text.contains(count) && called.text.contains("; b.mu:1: "), "{}", called.text);
    client.end();
}

/// An unknown property has another message than a trace without runs, and a limit on the runs is for the whole answer.
#[test]
fn properties_of_a_trace() {
    let mut client = Client::new();
    let shop = json!([file("shop.lcc", SHOP)]);
    let trace = client.call("check", json!({"files": shop})).data["report"].clone();
    let replay = |client: &mut Client, trace: &serde_json::Value, property: Option<&str>| {
        client.call("replay", json!({"files": shop, "trace": trace, "property": property}))
    };
    let one = replay(&mut client, &trace, Some("ends"));
    assert_eq!((one.is_error, &one.data["runs"][0]["verdict"]), (false, &json!("confirmed")), "{}", one.text);
    let unknown = replay(&mut client, &trace, Some("end"));
    let message = "has a property `end`; the properties are possible, ends; did you mean `ends`?";
    assert!(unknown.is_error && unknown.text.contains(message), "{}", unknown.text);
    let without = replay(&mut client, &trace, Some("possible"));
    assert!(
        without.is_error && without.text.contains("ask `check` for `evidence`: `all`"),
        "{}",
        without.text
    );
    let mut many = trace.clone();
    let properties = many["runs"][0]["properties"].as_array_mut().unwrap();
    let ends = properties.pop().unwrap();
    properties.extend(vec![ends; 1_002]);
    let cut = replay(&mut client, &many, None);
    assert_eq!(cut.data["runs"].as_array().map(Vec::len), Some(1_000), "{}", cut.text);
    assert_eq!(cut.data["runs_left_out"], 2);
    client.end();
}

#[test]
fn teams_say_who_fails_and_why() {
    let mut client = Client::new();
    let shop = "a(buyer, B) :: ask => a(seller, S) then (yes <= a(seller, S) or no <= a(seller, S)). \
        a(seller, S) :: ask <= a(buyer, B) then (yes => a(buyer, B) <- willing or no => a(buyer, B) <- not willing). \
        agent a(buyer, ben). property sold : inev(in(yes)) ;";
    let roles = json!([{"name": "seller", "candidates": [
        {"name": "sam", "statements": "agent a(seller, sam)."},
        {"name": "sue", "statements": "agent a(seller, sue). know sue: willing."}]}]);
    let called = client.call("teams", json!({"files": [file("shop.lcc", shop)], "roles": roles}));
    assert!(!called.is_error && called.data["report"]["chosen"] == 1, "{}", called.text);
    assert!(called.text.contains("chosen: sue"), "{}", called.text);
    let bad = json!([{"name": "seller", "candidates": [{"name": "sam", "statements": "agent a(seler"}]}]);
    let called = client.call("teams", json!({"files": [file("shop.lcc", shop)], "roles": bad}));
    assert!(called.is_error && called.text.contains("error[lcc/"), "{}", called.text);
    client.end();
}

/// Parameters that no tool takes are answers that say what would be accepted.
#[test]
fn wrong_parameters() {
    let mut client = Client::new();
    let hen = file("hen.lcc", "a(hen, H) :: null. agent a(hen, h).");
    #[rustfmt::skip]
    let rows = [
        (json!({}),                                              "missing field `files`"),
        (json!({"files": []}),                                   "at least one file"),
        (json!({"files": [{"name": "a.lcc"}]}),                  "has no `text`, and this server reads no files"),
        (json!({"files": [file("../a.lcc", "")]}),               "`..` is not a file name"),
        (json!({"files": [file("/etc/passwd", "")]}),            "is not a file name"),
        (json!({"files": [file(".call.json", "")]}),             "is not a file name"),
        (json!({"files": [hen, hen]}),                           "two files are called `hen.lcc`"),
        (json!({"files": [file("a", ""), file("a/b.lcc", "")]}), "`a` is both a file and a folder"),
        (json!({"files": [hen], "propertys": ["x"]}),            "unknown field `propertys`"),
        (json!({"files": [hen], "evidence": "some"}),            "unknown variant `some`"),
        (json!({"files": [hen], "limits": {"seconds": -1}}),     "`seconds` must not be negative"),
        (json!({"files": [hen], "settings": {"at": "noon"}}),    "unknown variant `noon`"),
        (json!({"files": [hen], "properties": ["AG("]}),         "error[mu/"),
        (json!({"files": [hen], "only": ["nothing"]}),           "nothing"),
        (json!({"files": [file("a.lcc", "")]}),                  "empty"),
    ];
    for (arguments, expected) in rows {
        let called = client.call("check", arguments.clone());
        assert!(called.is_error && called.text.contains(expected), "{arguments}: {}", called.text);
    }
    let unknown = client.request("tools/call", json!({"name": "chekc", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("did you mean `check`?"), "{unknown}");
    client.end();
}

/// Files are read below the root, with their imports; nothing else is.
#[test]
fn files_below_the_root() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    fs::create_dir_all(root.join("models/parts")).unwrap();
    fs::write(
        root.join("models/shop.lcc"),
        format!("import \"parts/facts.lcc\".\n{}", SHOP.replace("common shop(sue).", "")),
    )
    .unwrap();
    fs::write(root.join("models/parts/facts.lcc"), "common shop(sue).").unwrap();
    fs::write(folder.path().join("secret.lcc"), "secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path().join("secret.lcc"), root.join("link.lcc")).unwrap();
    let mut client = Client::with(Limits::default(), Some(root));
    let called = client.call("check", json!({"files": [{"name": "models/shop.lcc"}]}));
    assert_eq!(called.verdicts(), ["possible: holds", "ends: fails"], "{}", called.text);
    for outside in ["link.lcc", "models/none.lcc", "models"] {
        let called = client.call("check", json!({"files": [{"name": outside}]}));
        assert!(called.is_error && !called.text.contains("secret\n"), "{outside}: {}", called.text);
    }
    let import = format!("import \"{}\".", folder.path().join("secret.lcc").display());
    let called = client.call("check", json!({"files": [file("a.lcc", &import)]}));
    assert!(called.is_error && called.text.contains("leads out of"), "{}", called.text);
    client.end();
}

/// A session follows a log: an event that no rule permits is refused before and after it happens.
#[test]
fn agents_are_watched() {
    let mut client = Client::new();
    let office = "a(worker, W) :: null <- spend(5) then (report(5) => a(boss, bo) or null <- forget). \
        a(boss, B) :: report(_) <= a(worker, W) or null <- forget. \
        agent a(worker, w). agent a(boss, bo). know w: spend(5). common forget. \
        rule office: (w, bo, !send(report(X))) after #(spend(X))@w. \
        rule office: (w, bo, -send(report(7))). \
        property told : <-* . out(report(_))>tt ;";
    let opened = client.call("monitor_open", json!({"files": [file("office.lcc", office)]}));
    assert!(!opened.is_error, "{}", opened.text);
    let session = opened.data["used"]["session"].clone();
    let observable = json!(["out(_)", "#(spend(_))"]);
    let spend =
        json!({"session": session, "event": {"by": "w", "constraint": "spend(5)"}, "observable": observable});
    let wrong =
        json!({"session": session, "event": {"from": "w", "message": "report(7)"}, "observable": observable});
    let may = client.call("may", spend.clone());
    assert_eq!(may.data["report"]["verdict"], "possible", "{}", may.text);
    let observed = client.call("observe", spend.clone());
    assert!(observed.text.contains("w owes send(report(5)) to bo: owed"), "{}", observed.text);
    for tool in ["may", "observe"] {
        let refused = client.call(tool, wrong.clone());
        assert!(!refused.is_error && refused.data["report"]["verdict"] == "violated", "{}", refused.text);
        assert!(refused.text.contains("possible instead: w -> bo: report(5)"), "{}", refused.text);
    }
    for (arguments, expected) in [
        (json!({"session": "s99", "event": {}}), "there is no session `s99`"),
        (json!({"session": session}), "missing field `event`"),
        (json!({"session": session, "event": {"sender": "w"}}), "unknown field `sender`"),
    ] {
        let called = client.call("observe", arguments);
        assert!(called.is_error && called.text.contains(expected), "{}", called.text);
    }
    let closed = client.call("monitor_close", json!({"session": session}));
    assert!(!closed.is_error && closed.data["report"]["closed"] == true, "{}", closed.text);
    for (tool, arguments) in [("may", spend), ("monitor_close", json!({"session": session}))] {
        let called = client.call(tool, arguments);
        assert!(called.is_error && called.text.contains("there is no session"), "{}", called.text);
    }
    client.end();
}
