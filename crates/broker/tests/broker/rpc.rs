//! JSON-RPC according to the standard: ids, notifications, batches, errors.

use crate::support::{Lines, READER, Server, message, service};
use masque_broker::Limits;
use serde_json::{Value, json};

#[rustfmt::skip]
#[test]
fn messages_that_are_no_calls() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let rows = [
        ("",                                                            "null", -32700),
        ("{\"jsonrpc\": \"2.0\", \"method\": \"state\", \"params\": \"x", "null", -32700),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"state\"}, {",      "null", -32700),
        ("\u{feff}{}",                                                  "null", -32700),
        ("[]",                                                          "null", -32600),
        ("{}",                                                          "null", -32600),
        ("3",                                                           "null", -32600),
        (r#"{"jsonrpc":"2.0","id":4,"method":"no_such"}"#,              "4",    -32601),
        (r#"{"jsonrpc":"2.0","id":4,"method":""}"#,                     "4",    -32601),
        (r#"{"jsonrpc":"2.0","id":"x","method":"Open"}"#,               "\"x\"", -32601),
        (r#"{"jsonrpc":"2.0","id":4,"method":"open","params":[1]}"#,    "4",    -32602),
        (r#"{"jsonrpc":"2.0","id":4,"method":"open"}"#,                 "4",    -32602),
        (r#"{"jsonrpc":"2.0","id":4,"method":"state","params":{"session":"s1","more":1}}"#, "4", -32602),
        (r#"{"jsonrpc":"2.0","id":4,"method":"state","params":{"session":7}}"#, "4", -32602),
        (r#"{"jsonrpc":"2.0","id":0.5,"method":"state","params":{"session":"s9"}}"#, "0.5", -32001),
    ];
    for (text, id, code) in rows {
        let (status, body) = client.post(text);
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(status, 200, "{text}");
        assert_eq!(answer["error"]["code"], json!(code), "{text}: {body}");
        assert_eq!(answer["id"], serde_json::from_str::<Value>(id).unwrap(), "{text}: {body}");
        assert!(answer["error"]["message"].as_str().is_some_and(|message| message.len() > 3));
    }
}

#[test]
fn ids_are_returned_unchanged() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    for id in ["1", "1.0", "-0", "1e400", "123456789012345678901234567890", "\"a\\u0041\\n\"", "null", "\"\""]
    {
        let (_, body) = client.post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#));
        assert!(body.contains(&format!("\"id\":{id},")), "{id}: {body}");
    }
}

#[test]
fn notifications_get_no_response() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let session = client.open(READER);
    let update = |add: &str| json!({"jsonrpc": "2.0", "method": "update", "params": {"session": session, "add": [add]}});
    let (status, body) = client.post(&update("know rita: tired.").to_string());
    assert_eq!((status, body.as_str()), (204, ""));
    // A notification with an error gets no response, either.
    let (status, body) = client.post(r#"{"jsonrpc":"2.0","method":"no_such"}"#);
    assert_eq!((status, body.as_str()), (204, ""));
    let again = client.ok("update", json!({"session": session, "add": ["know rita: tired."]}));
    assert_eq!(again["added"], 0, "it is there already");
    // A batch of notifications gets no response; in a mixed batch, the calls with an id do.
    let (status, _) = client.post(&json!([update("know rita: x."), update("know rita: y.")]).to_string());
    assert_eq!(status, 204);
    let state = json!({"jsonrpc": "2.0", "id": "s", "method": "state", "params": {"session": session}});
    let (status, body) = client.post(&json!([update("know rita: z."), 5, state]).to_string());
    let answers: Vec<Value> = serde_json::from_str(&body).unwrap();
    assert_eq!((status, answers.len()), (200, 2));
    assert_eq!((&answers[0]["error"]["code"], &answers[1]["id"]), (&json!(-32600), &json!("s")));
}

#[test]
fn a_batch_is_answered_in_order() {
    let server = Server::start(Limits { batch: 50, ..Limits::default() });
    let mut client = server.connect();
    let session = client.open(READER);
    let calls: Vec<Value> = (0..50)
        .map(|id| match id % 3 {
            0 => json!({"jsonrpc": "2.0", "id": id, "method": "check", "params": {"session": session}}),
            1 => json!({"jsonrpc": "2.0", "id": id, "method": "explain", "params": {"code": "lcc/unknown-option"}}),
            _ => json!({"jsonrpc": "2.0", "id": id, "method": "moves", "params": {"session": "s0"}}),
        })
        .collect();
    let (_, body) = client.post(&Value::from(calls.clone()).to_string());
    let answers: Vec<Value> = serde_json::from_str(&body).unwrap();
    for (id, answer) in answers.iter().enumerate() {
        assert_eq!(answer["id"], id);
        assert_eq!(answer["error"].is_null(), id % 3 != 2, "{answer}");
    }
    assert_eq!(answers.len(), 50);
    let (_, body) = client.post(&Value::from([calls.clone(), calls].concat()).to_string());
    let refused: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(refused["error"]["data"]["limit"], "batch");
}

#[test]
fn lines_are_messages() {
    let mut lines = Lines::start(service(Limits::default()));
    lines.send("");
    lines.send("   \r");
    let files = json!({"files": [{"name": "a.lcc", "text": READER}]});
    lines.send(&message(1, "open", &files));
    assert_eq!(lines.receive()["result"]["session"], "s1");
    lines.send("{]");
    assert_eq!(lines.receive()["error"]["code"], -32700);
    lines.send(&format!(
        "[{}, {}]\r",
        message(2, "state", &json!({"session": "s1"})),
        message(3, "x", &json!({}))
    ));
    let answers = lines.receive();
    assert_eq!((&answers[0]["id"], &answers[1]["id"]), (&json!(2), &json!(3)));
    // Calls on one session run in the order of their lines.
    for id in 0..100 {
        let (add, remove) = if id % 2 == 0 { ("add", "remove") } else { ("remove", "add") };
        let params = json!({"session": "s1", add: ["know rita: tired."], remove: []});
        lines.send(&message(id, "update", &params));
    }
    let mut done: Vec<(u64, bool)> = (0..100)
        .map(|_| lines.receive())
        .map(|answer| {
            let changes = &answer["result"];
            (answer["id"].as_u64().unwrap(), changes["added"] == 1 || changes["removed"] == 1)
        })
        .collect();
    done.sort_unstable();
    assert_eq!(done, (0..100).map(|id| (id, true)).collect::<Vec<_>>());
    assert_eq!(lines.finish(), Vec::<Value>::new());
}

/// A file of requests gets all its responses, and then the service ends.
#[test]
fn the_service_finishes_all_calls_at_the_end_of_the_input() {
    let mut lines = Lines::start(service(Limits::default()));
    for id in 0..200 {
        lines.send(&message(id, "open", &json!({"files": [{"name": "a.lcc", "text": READER}]})));
    }
    let mut ids: Vec<u64> = lines.finish().iter().map(|answer| answer["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
}

#[test]
fn shutdown_ends_the_service() {
    let mut lines = Lines::start(service(Limits::default()));
    assert_eq!(lines.call("shutdown", json!({}))["result"], json!({}));
    assert_eq!(lines.finish(), Vec::<Value>::new());
    let server = Server::start(Limits::default());
    assert_eq!(server.connect().call("shutdown", json!({}))["error"]["code"], -32602, "not over HTTP");
}
