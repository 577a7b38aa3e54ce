//! The results of the methods.

use crate::support::{ENDLESS, READER, Server, travel};
use masque_broker::Limits;
use serde_json::{Value, json};

fn verdicts(checked: &Value) -> Vec<(String, String)> {
    let word = |value: &Value| value.as_str().unwrap().to_string();
    let answers = checked["answers"].as_array().unwrap();
    answers.iter().map(|answer| (word(&answer["name"]), word(&answer["verdict"]))).collect()
}

#[test]
fn the_travel_example_has_the_verdicts_of_its_files() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let opened = client.ok("open", travel());
    assert_eq!(opened["agents"], json!(["c1", "br", "ta", "ba", "lh", "ritz", "visa"]));
    let checked = client.ok("check", json!({"session": opened["session"]}));
    let loaded =
        masque_driver::load(&["../../models/lcc/expected/t01_ok.lcc"], &masque_driver::Request::default());
    let properties = loaded.model.as_ref().unwrap().properties();
    let verdicts_expected = masque_driver::expectations(&loaded).verdicts;
    let expected: Vec<(String, String)> = properties
        .into_iter()
        .zip(verdicts_expected)
        .map(|(property, expected)| (property.name, expected.unwrap().value.to_string()))
        .collect();
    assert_eq!(expected.len(), 11);
    assert_eq!(verdicts(&checked), expected);
}

#[test]
fn rules_change_and_the_interaction_moves_on() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let session = client.open(READER);
    let ends = json!({"session": session, "property": "ends"});
    let verdict = |checked: Value| verdicts(&checked)[0].1.clone();
    assert_eq!(verdict(client.ok("check", ends.clone())), "holds");
    let member = ["know archive: member(rita)."];
    let updated = client.ok("update", json!({"session": session, "remove": member}));
    assert_eq!((&updated["added"], &updated["removed"]), (&json!(0), &json!(1)));
    assert_eq!(verdict(client.ok("check", ends.clone())), "fails");
    let shown = client.ok("explain", ends.clone());
    let blame = shown["blame"][0].as_str().unwrap();
    assert!(blame.ends_with("rule 1 of archive requires member(rita)"), "{blame}");
    let state = client.ok("state", json!({"session": session}));
    assert_eq!((&state["final"], &state["blame"]), (&json!(false), &shown["blame"]));
    // The diary has been opened by then.
    client.ok("update", json!({"session": session, "add": member}));
    let moves = client.ok("moves", json!({"session": session}));
    assert_eq!((moves["moves"].as_array().unwrap().len(), &moves["cut"]), (2, &Value::Null));
    let opened = client.ok("advance", json!({"session": session, "pattern": "#(open(diary))@rita"}));
    assert_eq!((&opened["event"]["kind"], &opened["final"]), (&json!("internal"), &json!(false)));
    client.ok("update", json!({"session": session, "remove": member}));
    assert_eq!(verdict(client.ok("check", ends)), "holds");
    let sent = json!({"session": session, "event": {"kind": "sent", "message": "opened(_)", "from": "rita"}});
    assert_eq!(client.ok("advance", sent)["event"]["message"], "opened(diary)");
    // The result of `state` can be used as parameter of `place`.
    let state = client.ok("state", json!({"session": session}));
    let taken = json!({"session": session, "number": 0});
    assert_eq!(client.ok("advance", taken.clone())["final"], true);
    let placed = client.ok("place", json!({"session": session, "statements": state["statements"]}));
    assert_eq!(placed, state);
    let label = client.ok("moves", json!({"session": session}))["moves"][0]["label"].take();
    assert_eq!(client.ok("advance", json!({"session": session, "label": label}))["final"], true);
    assert_eq!(client.ok("close", json!({"session": session})), json!({"closed": true}));
    assert_eq!(client.call("state", json!({"session": session}))["error"]["code"], -32001);
}

#[test]
fn evidence_is_returned_on_request() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let session = client.open(READER);
    let check = |evidence: bool| json!({"session": session, "formula": "[-]ff", "evidence": evidence});
    let answer = client.ok("check", check(false))["answers"][0].take();
    assert_eq!((&answer["verdict"], &answer["evidence"]), (&json!("fails"), &Value::Null));
    let answer = client.ok("check", check(true))["answers"][0].take();
    assert_eq!(answer["evidence"]["events"].as_array().unwrap().len(), 1);
    assert_eq!(answer["name"], "[-]ff");
    let shown = client.ok("explain", json!({"session": session, "formula": "[-]ff"}));
    assert!(shown["chart"].as_str().unwrap().contains("rita: open(diary)"), "{shown}");
}

#[test]
fn teams_are_found() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let shop = "a(buyer, B) :: ask => a(seller, S) then (yes <= a(seller, S) or no <= a(seller, S)).
        a(seller, S) :: ask <= a(buyer, B) then
            (yes => a(buyer, B) <- willing or no => a(buyer, B) <- not willing).
        agent a(buyer, ben).  property sold : inev(in(yes)) ;";
    let seller = |name: &str, knows: &str, cost: u32| json!({"name": name, "statements": format!("agent a(seller, {name}). {knows}"), "cost": cost});
    let candidates = [
        seller("sam", "", 0),
        seller("sue", "know sue: willing.", 9),
        seller("sid", "know sid: willing.", 5),
    ];
    let mut ask = |want: &str| {
        client.ok(
            "teams",
            json!({
                "files": [{"name": "shop.lcc", "text": shop}],
                "roles": [{"name": "seller", "candidates": candidates}],
                "questions": [{"property": "sold"}, {"formula": "AF final"}],
                "want": want,
            }),
        )
    };
    for (want, n_teams, chosen) in [("first", 2, 1), ("all", 3, 1), ("best", 3, 2)] {
        let found = ask(want);
        assert_eq!((found["teams"].as_array().unwrap().len(), &found["chosen"]), (n_teams, &json!(chosen)));
        assert_eq!(found["properties"], json!(["sold", "AF final"]));
        assert_eq!(found["teams"][0]["weakness"]["property"], "sold");
        assert_eq!(found["teams"][1]["candidates"], json!(["sue"]));
        assert_eq!(found["stopped"], Value::Null);
    }
}

#[test]
fn diagnostics_are_explained() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let page = client.ok("explain", json!({"code": "lcc/unknown-option"}));
    assert!(page["page"].as_str().unwrap().len() > 50);
    let answer = client.call("explain", json!({"code": "lcc/unknown-optoin"}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("lcc/unknown-option"), "{answer}");
    for params in [json!({}), json!({"session": "s1"}), json!({"code": "x", "session": "s1"})] {
        assert_eq!(client.call("explain", params)["error"]["code"], -32602);
    }
}

#[test]
fn a_limit_is_an_answer() {
    let server = Server::start(Limits { states: 5_000, ..Limits::default() });
    let mut client = server.connect();
    let session = client.open(ENDLESS);
    let mut reason = |limits: Value| {
        let answer = client.ok("check", json!({"session": session, "limits": limits}));
        answer["answers"][0]["reason"].as_str().unwrap().to_string()
    };
    assert_eq!(reason(json!({})), "states");
    assert_eq!(reason(json!({"states": 100_000_000})), "states", "no more than the service grants");
    assert_eq!(reason(json!({"seconds": 0})), "timeout");
    assert_eq!(reason(json!({"memory": 1})), "memory");
    let answer = client.call("check", json!({"session": session, "limits": {"seconds": -1}}));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn calls_are_cancelled() {
    let server = Server::start(Limits { states: u64::MAX, workers: 1, ..Limits::default() });
    let mut client = server.connect();
    let session = client.open(ENDLESS);
    let mut others: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for other in &mut others {
        let check = crate::support::message(7, "check", &json!({"session": session}));
        other.send("POST /rpc", &[], check.as_bytes());
    }
    server.wait("one runs, two wait", |now| (now.running, now.waiting) == (1, 2));
    let cancelled = client.ok("cancel", json!({"session": session}));
    assert_eq!(cancelled["cancelled"], 3);
    for other in &mut others {
        let (_, body) = other.receive();
        assert!(body.contains("-32007"), "{body}");
    }
    assert_eq!(client.ok("cancel", json!({"session": session}))["cancelled"], 0);
    // The session can still be used.
    assert_eq!(
        client.ok("check", json!({"session": session, "limits": {"states": 10}}))["answers"][0]["reason"],
        "states"
    );
    assert_eq!(
        client.call("cancel", json!({"id": 7}))["error"]["code"],
        -32602,
        "over HTTP ids name nothing"
    );
}

#[test]
fn a_call_is_cancelled_by_its_id() {
    let limits = Limits { states: u64::MAX, ..Limits::default() };
    let mut lines = crate::support::Lines::start(crate::support::service(limits));
    lines.call("open", json!({"files": [{"name": "a.lcc", "text": ENDLESS}]}));
    lines.send(&crate::support::message(77, "check", &json!({"session": "s1"})));
    lines.send(&crate::support::message(78, "cancel", &json!({"id": 77})));
    let mut answers = [lines.receive(), lines.receive()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["error"]["code"], -32007);
    assert_eq!(answers[1]["result"]["cancelled"], 1);
    lines.finish();
}

#[test]
fn the_schema_names_every_method() {
    let schema: Value = serde_json::from_str(&masque_broker::schema()).unwrap();
    insta::assert_snapshot!(masque_broker::schema());
    for method in masque_broker::Method::ALL {
        for part in ["params", "result"] {
            let reference = schema["methods"][method.name()][part]["$ref"].as_str().unwrap();
            assert!(schema.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
        }
    }
}
