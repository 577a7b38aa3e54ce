//! Bad input and misbehaving clients: each gets an error, and the service and other sessions are not affected.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::support::{ENDLESS, Lines, READER, Server, message, service};
use masque_broker::Limits;
use serde_json::{Value, json};

/// Checks that the service accepts calls, and that a session is unchanged.
fn lives(server: &Server, session: &str) {
    let mut client = server.connect();
    let checked = client.ok("check", json!({"session": session}));
    assert_eq!(checked["answers"][0]["verdict"], "holds");
}

#[test]
fn errors_in_texts_have_locations() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let session = client.open(READER);
    let mut code = |method: &str, params: Value| {
        let answer = client.call(method, params);
        let error = &answer["error"];
        assert_eq!(error["code"], -32002, "{answer}");
        let first = &error["data"]["diagnostics"][0];
        assert!(first["message"].as_str().unwrap().len() > 5);
        first["code"].as_str().unwrap().to_string()
    };
    let open = |text: &str| json!({"files": [{"name": "a.lcc", "text": text}]});
    assert_eq!(code("open", open("a(hen, H) :: egg.")), "lcc/syntax");
    assert_eq!(code("open", json!({"files": []})), "lcc/no-team");
    let on = |key: &str, value: Value| json!({"session": session, key: value});
    assert_eq!(code("check", on("property", json!("nobody"))), "lcc/unknown-property");
    assert_eq!(code("check", on("formula", json!("mu X. !X"))), "mu/negative-variable");
    assert_eq!(code("advance", on("pattern", json!("in((")))[..3], *"lcc");
    assert_eq!(code("place", on("statements", json!(["common a."]))), "lcc/no-state");
    assert_eq!(code("update", on("add", json!(["agent a(hen, h)."]))), "lcc/no-clause");
    assert_eq!(code("update", on("add", json!(["option cap = 2."]))), "lcc/fixed");
    assert_eq!(code("update", on("add", json!(["know nobody: a."]))), "lcc/unknown-agent");
    assert_eq!(code("update", on("remove", json!(["know rita: tired."]))), "lcc/not-there");
    let both = json!({"session": session, "add": ["know rita: x."], "remove": ["know rita: x."]});
    assert_eq!(code("update", both), "lcc/contradictory-update");
    lives(&server, &session);
}

#[test]
fn locations_refer_to_the_files() {
    let server = Server::start(Limits::default());
    let text = "a(hen, H) :: null.\nagent a(cock, c).";
    let files = json!([{"name": "x.lcc", "text": ""}, {"name": "hen.lcc", "text": text}]);
    let answer = server.connect().call("open", json!({"files": files}));
    let span = &answer["error"]["data"]["diagnostics"][0]["spans"][0];
    assert_eq!((&span["file"], &span["start"]["line"]), (&json!("hen.lcc"), &json!(2)), "{answer}");
}

#[test]
fn impossible_events_are_refused() {
    let server = Server::start(Limits::default());
    let mut client = server.connect();
    let session = client.open(READER);
    let before = client.ok("state", json!({"session": session}));
    for happened in [
        json!({"session": session, "label": "in(nothing)"}),
        json!({"session": session, "number": 99}),
        json!({"session": session, "event": {"kind": "taken"}}),
    ] {
        let answer = client.call("advance", happened);
        assert_eq!(answer["error"]["code"], -32003);
        let moves = answer["error"]["data"]["moves"].as_array().unwrap();
        assert_eq!((moves.len(), &moves[1]["number"]), (2, &json!(1)), "{answer}");
    }
    let answer = client.call("advance", json!({"session": session, "event": {"from": "rita"}}));
    assert_eq!(answer["error"]["code"], -32004);
    assert_eq!(answer["error"]["data"]["moves"].as_array().unwrap().len(), 2);
    for params in [json!({"session": session}), json!({"session": session, "number": 0, "label": "x"})] {
        assert_eq!(client.call("advance", params)["error"]["code"], -32602);
    }
    assert_eq!(client.ok("state", json!({"session": session})), before);
}

/// 100 MB are read and discarded, or refused before they are sent.
#[test]
fn messages_that_are_too_large() {
    const PART: usize = 1 << 20;
    let server = Server::start(Limits::default());
    let session = server.connect().open(READER);
    let before = resident();
    for headers in [
        vec![("Content-Length", "104857600")],
        vec![("Content-Length", ""), ("Transfer-Encoding", "chunked")],
    ] {
        let mut client = server.connect();
        client.send("POST /rpc", &headers, b"");
        let part = vec![b'x'; PART];
        let is_chunked = headers.len() == 2;
        for _ in 0..100 {
            let stream = client.stream.get_mut();
            let framed = match is_chunked {
                true => [format!("{PART:x}\r\n").as_bytes(), &part, b"\r\n"].concat(),
                false => part.clone(),
            };
            // The service may close the connection while the body is being sent.
            if stream.write_all(&framed).is_err() && is_chunked {
                break;
            }
        }
        if !is_chunked {
            let (status, body) = client.receive();
            assert_eq!(status, 413);
            assert!(body.contains("\"limit\":\"body\""), "{body}");
        }
    }
    let mut client = server.connect();
    client.send("POST /rpc", &[("Content-Length", "104857600"), ("Expect", "100-continue")], b"");
    assert_eq!(client.receive().0, 413, "before anything is sent");
    let grown = resident().saturating_sub(before);
    // Other tests of this program use some memory, too.
    assert!(grown < 90 << 20, "{grown} bytes more");
    lives(&server, &session);
}

#[test]
fn lines_that_are_too_long() {
    let mut lines = Lines::start(service(Limits { body: 10_000, ..Limits::default() }));
    let writer = lines.input.as_mut().unwrap();
    let part = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        writer.write_all(&part).unwrap();
    }
    writer.write_all(b"\n").unwrap();
    assert_eq!(lines.receive()["error"]["data"]["limit"], "body");
    assert_eq!(
        lines.call("state", json!({"session": "s1"}))["error"]["code"],
        -32001,
        "the next line is read"
    );
    lines.finish();
}

/// The bytes that this process uses, on systems with `/proc`.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

#[test]
fn disconnecting_cancels_the_call() {
    let server = Server::start(Limits { states: u64::MAX, workers: 1, ..Limits::default() });
    let mut client = server.connect();
    let (endless, session) = (client.open(ENDLESS), client.open(READER));
    for _ in 0..20 {
        let mut other = server.connect();
        let check = message(1, "check", &json!({"session": endless}));
        other.send("POST /rpc", &[], check.as_bytes());
        server.wait("the call runs", |now| now.running == 1);
        drop(other);
        server.wait("the call is cancelled", |now| (now.running, now.calls) == (0, 0));
    }
    // The same in the middle of a request.
    for sent in [
        "",
        "POST",
        "POST /rpc HTTP/1.1\r\nHost: loc",
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
    ] {
        let mut other = server.connect();
        other.stream.get_mut().write_all(sent.as_bytes()).unwrap();
    }
    lives(&server, &session);
    drop(client);
    server.wait("no connection is left", |now| now.connections == 0);
}

/// Writing a response times out if the client does not read it.
#[test]
fn a_client_that_never_reads() {
    let limits = Limits { patience: Duration::from_secs(1), ..Limits::default() };
    let server = Server::start(limits);
    let session = server.connect().open(READER);
    let mut other = server.connect();
    // Responses of some megabytes each, which do not fit into the buffers of the operating system.
    let call = message(1, "explain", &json!({"code": "lcc/unknown-option"}));
    let batch = format!("[{}]", vec![call; 1_000].join(","));
    other.stream.get_ref().set_write_timeout(Some(Duration::from_millis(100))).unwrap();
    let request = format!(
        "POST /rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{batch}",
        crate::support::TOKEN,
        batch.len()
    );
    let end = Instant::now() + crate::support::SOON;
    while other.stream.get_mut().write_all(request.as_bytes()).is_ok() {
        assert!(Instant::now() < end, "it must stop reading");
    }
    lives(&server, &session);
    server.wait("it is given up", |now| now.connections == 0);
}

/// A connection is closed if the client sends nothing, or only a part of a request.
#[test]
fn a_client_that_never_sends() {
    let server = Server::start(Limits { patience: Duration::from_millis(1_000), ..Limits::default() });
    let mut clients: Vec<_> = (0..4).map(|_| server.connect()).collect();
    // A client that has received a response and sends nothing more.
    assert_eq!(clients[3].post("{}").0, 200);
    clients[2].send("POST /rpc", &[("Content-Length", "100")], b"{");
    clients[1].stream.get_mut().write_all(b"POST /rpc HTTP/1.1\r\nHost: loc").unwrap();
    assert_eq!(clients[2].receive().0, 408);
    server.wait("all are hung up on", |now| now.connections == 0);
}

#[test]
fn a_client_that_never_reads_blocks_its_own_input() {
    let mut lines = Lines::start(service(Limits::default()));
    let mut input = lines.input.take().unwrap();
    // The writer blocks when all buffers are full, and continues when the client reads.
    let writer = std::thread::spawn(move || {
        for id in 0..10_000 {
            let line = message(id, "explain", &json!({"code": "lcc/unknown-option"}));
            input.write_all(line.as_bytes()).unwrap();
            input.write_all(b"\n").unwrap();
        }
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(!writer.is_finished(), "it cannot send more than is answered");
    let mut ids: Vec<u64> = (0..10_000).map(|_| lines.receive()["id"].as_u64().unwrap()).collect();
    writer.join().unwrap();
    ids.sort_unstable();
    assert_eq!(ids, (0..10_000).collect::<Vec<_>>());
    lines.finish();
}

#[test]
fn ten_thousand_sessions() {
    let limits = Limits::default();
    let most = limits.sessions;
    let server = Server::start(limits);
    let mut client = server.connect();
    let hen = "a(hen, H) :: null. agent a(hen, h).";
    let open = json!({"jsonrpc": "2.0", "id": 1, "method": "open", "params": {"files": [{"name": "h", "text": hen}]}});
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..10 {
        let (_, body) = client.post(&Value::from(vec![open.clone(); 1_000]).to_string());
        for answer in serde_json::from_str::<Vec<Value>>(&body).unwrap() {
            match answer["error"]["data"]["limit"].as_str() {
                None => opened += 1,
                limit => {
                    assert_eq!(limit, Some("sessions"));
                    refused += 1;
                }
            }
        }
    }
    assert_eq!((opened, refused), (most, 10_000 - most));
    client.ok("close", json!({"session": "s1"}));
    assert_eq!(client.open(hen), format!("s{}", most + 1));
    client.ok("state", json!({"session": "s2"}));
}

#[test]
fn too_much_work_is_refused() {
    let limits = Limits { states: u64::MAX, workers: 1, queue: 5, ..Limits::default() };
    let server = Server::start(limits);
    let mut client = server.connect();
    let (endless, session) = (client.open(ENDLESS), client.open(READER));
    let mut others: Vec<_> = (0..6).map(|_| server.connect()).collect();
    for (at, other) in others.iter_mut().enumerate() {
        let check = message(1, "check", &json!({"session": endless}));
        other.send("POST /rpc", &[], check.as_bytes());
        server.wait("it runs or waits", |now| now.running + now.waiting == at + 1);
    }
    let answer = client.call("check", json!({"session": session}));
    assert_eq!(answer["error"]["code"], -32006);
    assert_eq!(answer["error"]["data"]["limit"], "queue");
    client.ok("cancel", json!({"session": endless}));
    others.iter_mut().for_each(|other| _ = other.receive());
    lives(&server, &session);
}

#[test]
fn idle_sessions_are_closed() {
    let server = Server::start(Limits { idle: Duration::from_millis(100), ..Limits::default() });
    let mut client = server.connect();
    let session = client.open(READER);
    lives(&server, &session);
    std::thread::sleep(Duration::from_millis(150));
    server.service.sweep();
    assert_eq!(client.call("state", json!({"session": session}))["error"]["code"], -32001);
    assert!(server.service.metrics().contains("masque_sessions_expired_total 1\n"));
}

/// After the grace time, calls are cancelled and get their responses, and the service ends.
#[test]
fn stopping_with_calls_in_progress() {
    let limits = Limits {
        states: u64::MAX,
        time: Duration::from_secs(60),
        grace: Duration::from_millis(100),
        ..Limits::default()
    };
    let server = Server::start(limits);
    let mut client = server.connect();
    let session = client.open(ENDLESS);
    // The response to a call may arrive a moment before its ticket is removed.
    server.wait("the session is open", |now| now.running == 0);
    client.send("POST /rpc", &[], message(1, "check", &json!({"session": session})).as_bytes());
    server.wait("the call runs", |now| now.running == 1);
    let start = Instant::now();
    server.service.stop();
    let (_, body) = client.receive();
    assert!(body.contains("-32007"), "{body}");
    let mut rest = Vec::new();
    client.stream.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty() && start.elapsed() < Duration::from_secs(5));
    drop(server);
}
