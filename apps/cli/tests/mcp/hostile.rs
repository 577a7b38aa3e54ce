//! Limits, cancellation, many calls at once, and messages of all kinds.

use std::time::{Duration, Instant};

use masque_broker::Limits;
use serde_json::{Value, json};

use super::client::{Client, file, hello};

/// A protocol with more states than can be found in a lifetime, and a property that depends on all of them.
fn slow() -> Value {
    let agents = 0..9;
    let clause =
        "a(c(N), C) :: null <- tick(C) and N > 0 and M is N - 1 then a(c(M), C) or null <- stop(C).\n";
    let team: String = agents.clone().map(|i| format!("agent a(c({}), x{i}).\n", 20 + i)).collect();
    let ticks: Vec<String> = agents.map(|i| format!("<#(tick(x{i}))>tt")).collect();
    let text = format!(
        "{clause}{team}common tick(_).\ncommon stop(_).\noption states = 1000000000.\n\
         property p : nu X. [-]X && ({} || <->tt || final) ;",
        ticks.join(" || ")
    );
    json!([file("m.lcc", &text)])
}

/// A call that exceeds its budget has a verdict, `unknown`, and says which limit was hit.
#[test]
fn budgets() {
    let mut client = Client::new();
    for (limits, why) in [(json!({"seconds": 0.5}), "timeout"), (json!({"memory": 20_000_000}), "memory")] {
        let called = client.call("check", json!({"files": slow(), "limits": limits}));
        assert!(!called.is_error, "{}", called.text);
        assert_eq!(called.verdicts(), ["p: unknown"], "{}", called.text);
        assert_eq!(called.data["report"]["runs"][0]["properties"][0]["reason"], why);
        let advice =
            format!("Not decided: 1 property, because of: {why}. Where that is a limit, raise `limits`");
        assert!(called.text.contains(&advice), "{}", called.text);
        let used = called.data["used"].as_object().unwrap();
        assert!(limits.as_object().unwrap().iter().all(|(name, value)| used[name] == *value), "{used:?}");
    }
    // A call cannot ask for more than the server allows.
    let called = client.call("check", json!({"files": [file("h.lcc", "a(h, H) :: null. agent a(h, h).")], "limits": {"seconds": 1e9, "memory": 1e15 as u64}}));
    assert_eq!(
        (&called.data["used"]["seconds"], &called.data["used"]["memory"]),
        (&json!(60.0), &json!(256 << 20))
    );
    client.end();
}

/// A cancelled call gets no answer, and its work ends at once: with one child process, the next call would wait for it.
#[test]
fn cancellation() {
    let mut client =
        Client::with(Limits { time: Duration::from_secs(100), children: 1, ..Limits::default() }, None);
    let arguments = json!({"files": slow()});
    let slow = client.begin("tools/call", json!({"name": "check", "arguments": arguments}));
    let queued = client.begin("tools/call", json!({"name": "check", "arguments": arguments}));
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    for id in [slow, queued] {
        client.notify("notifications/cancelled", json!({"requestId": id, "reason": "a test"}));
    }
    let hen = file("hen.lcc", "a(hen, H) :: null. agent a(hen, h). property ends : AF final ;");
    let called = client.call("check", json!({"files": [hen]}));
    assert_eq!(called.verdicts(), ["ends: holds"]);
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let late = client.lines_within(Duration::from_millis(300));
    assert!(late.is_empty(), "{late:?}");
    client.end();
}

/// All of many calls are answered, each with its own result.
#[test]
fn a_hundred_calls_at_once() {
    let mut client = Client::new();
    let ids: Vec<(u64, usize)> = (0..100)
        .map(|number| {
            let text = format!(
                "a(hen, H) :: null <- N = {number}. agent a(hen, h{number}). property p{number} : AF final ;"
            );
            let arguments = json!({"files": [file("hen.lcc", &text)]});
            (client.begin("tools/call", json!({"name": "check", "arguments": arguments})), number)
        })
        .collect();
    for (id, number) in ids.into_iter().rev() {
        assert_eq!(client.called(id).verdicts(), [format!("p{number}: holds")]);
    }
    client.end();
}

/// Messages that are no requests of the protocol; the server goes on.
#[test]
fn lines_that_are_no_messages() {
    let mut client = Client::silent(Limits { body: 100_000, ..Limits::default() }, None);
    // Before the first request, too.
    #[rustfmt::skip]
    let rows: [(&[u8], Option<i64>); 13] = [
        (b"{",                                                                   Some(-32700)),
        (b"\xff\xfe",                                                            Some(-32700)),
        (b"[]",                                                                  Some(-32600)),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",                Some(-32600)),
        (b"7",                                                                   Some(-32600)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}",                                      Some(-32600)),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":5}}", None),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",      None),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"$/unknown\"}",                      None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}",                        None),
        (b"",                                                                    None),
        (b"   ",                                                                 None),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/list\"}",        Some(-32602)),
    ];
    let send = |client: &mut Client, is_begun: bool| {
        for (line, code) in &rows {
            client.send(line);
            let Some(code) = code else { continue };
            let answer = client.line();
            let text = String::from_utf8_lossy(line);
            // After the beginning, the last one is a request like any other.
            if is_begun && text.contains("tools/list") {
                assert!(answer["result"]["tools"].is_array(), "{answer}");
            } else {
                assert_eq!(answer["error"]["code"], *code, "{text}: {answer}");
            }
        }
    };
    send(&mut client, false);
    let answer = client.request("initialize", hello());
    assert!(answer["result"].is_object(), "{answer}");
    send(&mut client, true);
    client
        .send(format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"{}\"}}", "x".repeat(200_000)).as_bytes());
    let answer = client.line();
    assert!(answer["error"]["message"].as_str().unwrap().contains("the maximum is 100000 bytes"), "{answer}");
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    client.send(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{deep}}}").as_bytes(),
    );
    assert!(client.line()["error"].is_object());
    // The id of an open request cannot be used again.
    let arguments = json!({"files": slow()});
    for _ in 0..2 {
        let call = json!({"jsonrpc": "2.0", "id": 70, "method": "tools/call", "params": {"name": "check", "arguments": arguments}});
        client.send(call.to_string().as_bytes());
    }
    let answer = client.line();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(70), &json!(-32600)), "{answer}");
    client.notify("notifications/cancelled", json!({"requestId": 70}));
    assert!(client.request("ping", json!({}))["result"].is_object());
    client.end();
}

/// Random changes of messages. `MESSAGES=100000` sends that many, and prints the memory of the server.
#[test]
fn random_messages() {
    let n_messages = std::env::var("MESSAGES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let mut client = Client::new();
    let mut random = fastrand::Rng::with_seed(26);
    let hen = file("hen.lcc", "a(hen, H) :: null. agent a(hen, h).");
    let bases = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "explain", "arguments": {"code": "lcc/no-team"}}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "chekc", "arguments": {"files": [hen]}}}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "resources/read", "params": {"uri": "masque://docs/mu"}}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "prompts/get", "params": {"name": "model-this-system", "arguments": {"system": "x"}}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"cursor": "x"}}),
        json!({"jsonrpc": "2.0", "id": 6, "method": "initialize", "params": hello()}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "x"}}),
        json!({"jsonrpc": "2.0", "id": 7, "method": "server/discover", "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}),
        json!({"jsonrpc": "2.0", "id": 8, "method": "tasks/get", "params": {"taskId": "x"}}),
        json!({"jsonrpc": "2.0", "id": 9, "result": {"roots": []}}),
        json!({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": {"name": "check", "arguments": {"files": [{"name": "../x"}]}}}),
        json!({"jsonrpc": "2.0", "id": 11, "method": "tools/call", "params": {"name": "monitor_open", "arguments": {"files": [hen]}}}),
        json!({"jsonrpc": "2.0", "id": 12, "method": "tools/call", "params": {"name": "observe", "arguments": {"session": "s1", "event": {"by": "h"}}}}),
        json!({"jsonrpc": "2.0", "id": 13, "method": "tools/call", "params": {"name": "may", "arguments": {"session": "s1", "event": {"from": "h", "message": "egg"}}}}),
        json!({"jsonrpc": "2.0", "id": 14, "method": "tools/call", "params": {"name": "monitor_close", "arguments": {"session": "s1"}}}),
    ];
    let mut memory = Vec::new();
    for number in 0..n_messages {
        let mut line = bases[random.usize(..bases.len())].to_string().into_bytes();
        for _ in 0..random.usize(..4) {
            change(&mut line, &mut random);
        }
        line.retain(|byte| *byte != b'\n');
        client.send(&line);
        // The answers are read from time to time, so the client does not block the server for long.
        if number % 50 == 0 {
            let ping = client.request("ping", json!({}));
            assert!(ping["result"].is_object() || ping["error"].is_object(), "{ping}");
            client.forget();
        }
        if number % 10_000 == 0 {
            memory.push(resident_kilobytes());
        }
    }
    assert_eq!(client.call("explain", json!({"code": "lcc/no-team"})).data["code"], "lcc/no-team");
    println!("memory of client and server in kilobytes, every 10000 messages: {memory:?}");
    client.end();
}

/// Changes a byte, removes a part, or repeats one.
fn change(line: &mut Vec<u8>, random: &mut fastrand::Rng) {
    if line.is_empty() {
        return;
    }
    let (from, length) = (random.usize(..line.len()), random.usize(..12));
    let to = (from + length).min(line.len());
    match random.u8(..4) {
        0 => line[from] = random.u8(32..),
        1 => _ = line.drain(from..to),
        2 => {
            let part = line[from..to].to_vec();
            line.splice(from..from, part);
        }
        _ => {
            let words: [&[u8]; 8] = [b"null", b"{}", b"[", b"-1", b"\"\"", b"true", b"\"id\":1,", b"1e999"];
            let word = words[random.usize(..words.len())].to_vec();
            line.splice(from..to, word);
        }
    }
}

/// The memory of this process.
fn resident_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
