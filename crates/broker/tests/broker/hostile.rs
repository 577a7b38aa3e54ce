//! Clients that try to stop the service: calls that never end, texts that need too much time or memory, and
//! connections that stay silent.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use masque_broker::Limits;
use serde_json::{Value, json};

use crate::support::{ENDLESS, Lines, READER, SOON, Server, message, service};

/// One agent in very many first roles. The time to load this is quadratic.
fn many_roles() -> String {
    format!("a(r(X), R) :: null. {}", "agent a(r(X), one). ".repeat(100_000))
}

/// Recursion through negation that each of many owners extends. The memory to load this is quadratic.
fn many_owners() -> String {
    let n = 4_000;
    let common = (0..n).map(|i| format!("common q <- r{i}. common r{i} <- p. "));
    let owners = (0..n).map(|i| format!("know o{i}: q <- p. "));
    let text: String = common.chain(owners).collect();
    format!("a(x, A) :: null. agent a(x, a1). common p <- not q. {text}")
}

fn open_params(text: &str) -> Value {
    json!({"files": [{"name": "hostile.lcc", "text": text}]})
}

/// The limit that a call exceeded.
fn limit(answer: &Value) -> &str {
    assert_eq!(answer["error"]["code"], -32005, "{answer}");
    answer["error"]["data"]["limit"].as_str().unwrap_or_default()
}

/// An `open` that needs more than its time or memory is an error, leaves no session, and holds no memory.
#[test]
fn open_obeys_its_limits() {
    let limits = Limits { time: Duration::from_millis(500), ..Limits::default() };
    let server = Server::start(limits);
    let mut client = server.connect();
    let start = Instant::now();
    assert_eq!(limit(&client.call("open", open_params(&many_roles()))), "time");
    assert!(start.elapsed() < SOON);
    let answer = client.call("open", open_params(&many_owners()));
    assert!(["time", "memory"].contains(&limit(&answer)), "{answer}");
    server.wait("nothing is held", |gauges| gauges.sessions == 0 && gauges.session_bytes == 0);
    client.open(READER);
}

/// The total memory includes the calls in progress.
#[test]
fn open_obeys_the_total_memory() {
    let limits = Limits { time: SOON * 3, total_memory: 32 << 20, ..Limits::default() };
    let server = Server::start(limits);
    let mut client = server.connect();
    assert_eq!(limit(&client.call("open", open_params(&many_owners()))), "memory");
    let session = client.open(READER);
    assert!(server.service.gauges().session_bytes > 0);
    client.ok("close", json!({"session": session}));
    assert_eq!(server.service.gauges().session_bytes, 0);
}

/// A client that cancels an `open`, or disconnects, ends it.
#[test]
fn open_can_be_cancelled() {
    let limits = || Limits { time: SOON * 3, ..Limits::default() };
    let mut lines = Lines::start(service(limits()));
    lines.send(&message(1, "open", &open_params(&many_roles())));
    lines.send(&message(2, "cancel", &json!({"id": 1})));
    let mut answers = [lines.receive(), lines.receive()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["error"]["code"], -32007, "{answers:?}");
    assert_eq!(answers[1]["result"]["cancelled"], 1);
    lines.finish();

    let server = Server::start(limits());
    let mut client = server.connect();
    client.send("POST /rpc", &[], message(1, "open", &open_params(&many_roles())).as_bytes());
    server.wait("the call runs", |gauges| gauges.running == 1);
    drop(client);
    server.wait("the call has ended", |gauges| gauges.running == 0 && gauges.session_bytes == 0);
}

/// An update that is stopped leaves the session as before.
#[test]
fn a_stopped_update_changes_nothing() {
    let memory = 4 << 30;
    let limits =
        Limits { time: Duration::from_millis(500), memory, total_memory: memory, ..Limits::default() };
    let server = Server::start(limits);
    let mut client = server.connect();
    let session = client.open(READER);
    let before = client.ok("check", json!({"session": session}));
    let bytes = server.service.gauges().session_bytes;
    let facts: String = (0..150_000).map(|i| format!("know rita: open({i}). ")).collect();
    let update = json!({"session": session, "add": [facts]});
    assert_eq!(limit(&client.call("update", update)), "time");
    let answer = client.call("update", json!({"session": session, "remove": ["know rita: open(1)."]}));
    assert_eq!(answer["error"]["data"]["diagnostics"][0]["code"], "lcc/not-there");
    let after = client.ok("check", json!({"session": session}));
    let verdicts = |checked: &Value| -> Vec<Value> {
        checked["answers"].as_array().unwrap().iter().map(|answer| answer["verdict"].clone()).collect()
    };
    assert_eq!(verdicts(&after), verdicts(&before));
    assert!(server.service.gauges().session_bytes <= 2 * bytes);
    let added = client.ok("update", json!({"session": session, "add": ["know rita: open(1)."]}));
    assert_eq!(added["added"], 1);
}

/// Many calls that do not end leave threads for short calls, whatever the number of threads is.
#[test]
fn long_calls_leave_threads_for_short_ones() {
    for workers in [1, 2, 4] {
        let limits = Limits { time: SOON * 3, states: u64::MAX, workers, ..Limits::default() };
        let server = Server::start(limits);
        let mut honest = server.connect();
        let session = honest.open(READER);
        let mut hostile = Vec::new();
        for _ in 0..8 {
            let mut client = server.connect();
            let endless = client.open(ENDLESS);
            client.send("POST /rpc", &[], message(1, "check", &json!({"session": endless})).as_bytes());
            hostile.push(client);
        }
        server.wait("long calls run", |gauges| gauges.long == workers.saturating_sub(1).max(1));
        for _ in 0..5 {
            honest.ok("moves", json!({"session": session}));
            honest.ok("check", json!({"session": session}));
        }
        assert!(server.service.gauges().calls >= 8, "the long calls have not ended");
    }
}

/// A long call that had to wait for a thread is run again, and its result is complete.
#[test]
fn interrupted_calls_are_run_again() {
    let limits = Limits { workers: 1, time: SOON, states: 200_000, ..Limits::default() };
    let server = Server::start(limits);
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for client in &mut clients {
        let session = client.open(ENDLESS);
        let params = json!({"session": session, "limits": {"states": 60_000}});
        client.send("POST /rpc", &[], message(1, "check", &params).as_bytes());
    }
    for client in &mut clients {
        let answer: Value = serde_json::from_str(&client.receive().1).unwrap();
        assert_eq!(answer["result"]["answers"][0]["reason"], "states", "{answer}");
    }
}

/// Silent connections take no seats.
#[test]
fn silent_connections_keep_no_client_out() {
    let server = Server::start(Limits { connections: 4, ..Limits::default() });
    let silent: Vec<_> = (0..300).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    let start = Instant::now();
    let session = server.connect().open(READER);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    server.wait("they have to go", |gauges| gauges.connections <= 1);
    server.connect().ok("close", json!({"session": session}));
    drop(silent);
}

/// A connection that has shown the token keeps its seat, and too many such connections are refused.
#[test]
fn seats_are_for_those_with_the_token() {
    let server = Server::start(Limits { connections: 2, ..Limits::default() });
    let (mut first, mut second) = (server.connect(), server.connect());
    first.open(READER);
    second.open(READER);
    let mut third = server.connect();
    third.send("GET /metrics", &[], b"");
    let (status, body) = third.receive();
    assert_eq!(status, 503, "{body}");
    assert!(body.contains("\"limit\":\"connections\""), "{body}");
    std::thread::sleep(Duration::from_millis(1_500));
    first.open(READER);
    drop(second);
    server.wait("a seat is free", |gauges| gauges.connections == 1);
    server.connect().open(READER);
}
