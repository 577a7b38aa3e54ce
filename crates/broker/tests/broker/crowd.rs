//! Many clients at the same time: no response is lost or confused. Also random messages.

use crate::support::{Lines, READER, SOON, Server, message, service};
use masque_broker::Limits;
use serde_json::{Value, json};

/// Eight clients, each with its own session, and many calls in progress.
#[test]
fn no_response_is_lost_or_confused() {
    const CALLS: u64 = 125;
    // The clients connect before they send anything.
    let server = Server::start(Limits { visit: SOON, ..Limits::default() });
    let threads: Vec<_> = (0..8_u64)
        .map(|own| {
            let mut clients: Vec<_> = (0..5).map(|_| server.connect()).collect();
            std::thread::spawn(move || {
                // The message that this client's hen sends names the client.
                let text = format!(
                    "a(hen, H) :: egg{own} => a(farmer, F). a(farmer, F) :: egg{own} <= a(hen, H).
                    agent a(hen, h{own}). agent a(farmer, f{own})."
                );
                let session = clients[0].open(&text);
                for (at, client) in clients.iter_mut().enumerate() {
                    let calls: Vec<String> = (0..CALLS / 5)
                        .map(|n| {
                            message(own * 1_000 + at as u64 * 100 + n, "moves", &json!({"session": session}))
                        })
                        .collect();
                    client.send("POST /rpc", &[], format!("[{}]", calls.join(",")).as_bytes());
                }
                let mut n_answers = 0;
                for (at, client) in clients.iter_mut().enumerate() {
                    let answers: Vec<Value> = serde_json::from_str(&client.receive().1).unwrap();
                    for (n, answer) in answers.iter().enumerate() {
                        assert_eq!(answer["id"], own * 1_000 + at as u64 * 100 + n as u64);
                        let first = &answer["result"]["moves"][0];
                        assert_eq!(first["message"], format!("egg{own}"), "{answer}");
                        assert_eq!(first["by"], format!("h{own}"));
                        n_answers += 1;
                    }
                }
                n_answers
            })
        })
        .collect();
    let n_answers: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(n_answers, 8 * CALLS);
}

/// Random changes to messages: each line gets a response, and none reports a bug.
#[test]
fn random_lines_are_handled() {
    let mut lines = Lines::start(service(Limits { states: 1_000, ..Limits::default() }));
    let mut random = fastrand::Rng::with_seed(17);
    lines.call("open", json!({"files": [{"name": "a.lcc", "text": READER}]}));
    for round in 0..2_000 {
        let line = mutated(&mut random);
        lines.send(&line);
        // The next message gets a response in any case.
        lines.send(&message(1_000_000 + round, "explain", &json!({"code": "lcc/unknown-option"})));
        loop {
            let answer = lines.receive();
            assert_ne!(answer["error"]["code"], -32603, "round {round}: {line}: {answer}");
            if answer["id"] == 1_000_000 + round {
                break;
            }
        }
    }
    lines.finish();
}

/// A message with some bytes changed, without a `shutdown` in it.
fn mutated(random: &mut fastrand::Rng) -> String {
    let statements = [
        "know rita: x.",
        "common y(Z) <- z(Z).",
        "rule archive: (S, _, -open(F)).",
        "now a(reader, rita) :: nil.",
    ];
    let session = json!({"session": "s1"});
    let some = |random: &mut fastrand::Rng| statements[random.usize(..statements.len())];
    let (method, params) = match random.u8(..9) {
        0 => ("check", json!({"session": "s1", "evidence": random.bool()})),
        1 => ("check", json!({"session": "s1", "formula": "nu X. <#(open(_))>tt || [-]X"})),
        2 => ("update", json!({"session": "s1", "add": [some(random)], "remove": [some(random)]})),
        3 => ("advance", json!({"session": "s1", "event": {"message": "opened(_)", "from": "rita"}})),
        4 => ("advance", json!({"session": "s1", "number": random.u8(..3)})),
        5 => ("place", json!({"session": "s1", "statements": [some(random)]})),
        6 => {
            ("open", json!({"files": [{"name": "b.lcc", "text": READER}], "options": {"cap": random.u8(..)}}))
        }
        7 => ("moves", session),
        _ => ("state", session),
    };
    let mut bytes = message(random.u64(..1_000), method, &params).into_bytes();
    for _ in 0..random.usize(..4) {
        let at = random.usize(..bytes.len());
        match random.u8(..4) {
            0 => bytes[at] = random.u8(32..127),
            1 => _ = bytes.remove(at),
            2 => bytes.insert(at, *random.choice(b"{}[]\",:\\0-.e()_").unwrap()),
            _ => {
                let end = (at + random.usize(..20)).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
        }
        if bytes.is_empty() {
            bytes.push(b' ');
        }
    }
    let text = String::from_utf8_lossy(&bytes).replace('\n', " ");
    if text.contains("shutdown") { "{}".to_string() } else { text }
}
