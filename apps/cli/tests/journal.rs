//! `masque broker --state-dir`: sessions survive `kill -9` and full disks.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A service on standard input and output.
struct Broker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Broker {
    fn start(args: &[&str]) -> Broker {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        command.arg("broker").args(args);
        Broker::of(command)
    }

    fn of(mut command: Command) -> Broker {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Broker { child, input, output, next: 0 }
    }

    /// Sends a call and returns its id. If the service is gone, the call is lost.
    fn send(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let call = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        _ = self.input.write_all(format!("{call}\n").as_bytes());
        self.next
    }

    /// The next answer; none if the service is gone.
    fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }

    /// Makes a call of a service that is not killed.
    fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        let answer = self.receive().unwrap_or_else(|| panic!("{method} has no answer"));
        assert_eq!(answer["id"], id);
        answer
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A shop with several customers, so that many events are possible.
const SHOP: &str = "a(buyer, B) :: ask(X) => a(seller, S) <- wants(X) then
        (yes(X, P) <= a(seller, S) then a(buyer, B) or no(X) <= a(seller, S) then a(buyer, B)).
    a(seller, S) :: ask(X) <= a(buyer, B) then
        (yes(X, P) => a(buyer, B) <- price(X, P) then a(seller, S)
         or no(X) => a(buyer, B) <- not price(X, _) then a(seller, S)).
    agent a(buyer, ben). agent a(buyer, bea). agent a(seller, sam).
    know ben: wants(tea). know bea: wants(salt). know sam: price(tea, 3).
    rule shop: (S, _, +price(_, _)) <- licensed(S). know shop: licensed(sam).
    option cap = 2.
    property sold : EF <in(yes(_, _))>tt ;
    property refused : EF <in(no(salt))>tt ;
    property deadlock_free : AG <->tt ;";

const STATEMENTS: [&str; 10] = [
    "know ben: wants(salt).",
    "know bea: wants(tea). know bea: wants(rum).",
    "know sam: price(salt, 5).",
    "know sam: price(rum, N) <- wants(N).",
    "know shop: licensed(sam).",
    "rule shop: (S, _, -price(rum, _)) <- licensed(S).",
    "rule shop: (_, _, +ask(_)) <- licensed(sam).",
    "common wants(ale).",
    "know sam: wants(9).\nknow sam: price(ale, 1).",
    "choice sam: price/2.",
];

/// Statements that change the team or the protocol.
const STRUCTURE: [&str; 8] = [
    "a(waiter, W) :: bell <= a(buyer, B). server a(waiter, wes).",
    "server a(waiter, wes).",
    "agent a(guest, gus). a(guest, G) :: null.",
    "agent a(guest, gus).",
    "a(guest, G) :: null.",
    "a(seller, S) :: ask(X) <= a(buyer, B) then no(X) => a(buyer, B).",
    "agent a(buyer, bob). know bob: wants(salt).",
    "a(waiter, W) :: bell <= a(buyer, B).",
];

/// A random change of the team or the protocol. Agents with work and clauses that are needed are refused.
fn random_restructuring(rng: &mut fastrand::Rng, session: &str) -> (&'static str, Value) {
    let statements = STRUCTURE[rng.usize(0..STRUCTURE.len())];
    let which = if rng.bool() { "add" } else { "remove" };
    let mut params = json!({"session": session});
    params[which] = json!([statements]);
    ("update", params)
}

/// A random change of a session, or a question.
fn random_call(rng: &mut fastrand::Rng, session: &str) -> (&'static str, Value) {
    let statement = STATEMENTS[rng.usize(0..STATEMENTS.len())];
    // Long texts make the journal long, so that snapshots are made and the file is rewritten.
    let padding = " ".repeat(if rng.u32(0..4) == 0 { rng.usize(0..40_000) } else { 0 });
    match rng.u32(0..15) {
        12.. => random_restructuring(rng, session),
        0..=2 => ("update", json!({"session": session, "add": [format!("{padding}{statement}")]})),
        3..=4 => {
            let first = statement.split_inclusive('.').next().unwrap();
            ("update", json!({"session": session, "remove": [first]}))
        }
        5..=8 => ("advance", json!({"session": session, "number": rng.usize(0..3)})),
        9 => {
            let mail = format!("mail a(buyer, ben) -> a(seller, sam) : ask(gift{}).", rng.u32(0..3));
            ("place", json!({"session": session, "statements": [mail]}))
        }
        10 => ("check", json!({"session": session, "property": "sold", "evidence": true})),
        _ => ("check", json!({"session": session, "formula": "AG <->tt"})),
    }
}

/// Removes the members that depend on the work of earlier calls, which a restart forgets.
fn without_work(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            let counts = ["kept", "lists", "situations", "states", "positions"];
            for name in counts.into_iter().chain(["id", "conflicts", "unknown_constraints"]) {
                members.remove(name);
            }
            members.values_mut().for_each(|member| *member = without_work(member.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = without_work(item.take())),
        _ => {}
    }
    value
}

/// Everything that a client can ask about a session.
fn answers(broker: &mut Broker, session: &str) -> Vec<Value> {
    let mut answers = Vec::new();
    for (method, more) in [
        ("state", json!({})),
        ("moves", json!({})),
        ("check", json!({"evidence": true})),
        ("explain", json!({"property": "deadlock_free"})),
        ("check", json!({"formula": "[-]<->tt && EF <out(gift1)>tt"})),
        // A refused update names the rule by its number and location.
        (
            "update",
            json!({"add": ["rule shop: (S, _, +price(_, _)) <- not licensed(S). know shop: licensed(X) <- (X, _, +price(_, _))."]}),
        ),
    ] {
        let mut params = more;
        params["session"] = session.into();
        answers.push(without_work(broker.call(method, &params)));
    }
    answers
}

/// A service that is killed again and again, and one that never is.
struct Pair {
    state: tempfile::TempDir,
    killed: Broker,
    model: Broker,
    sessions: Vec<String>,
    rng: fastrand::Rng,
    n_changes: usize,
    n_unanswered: usize,
}

impl Pair {
    fn new(seed: u64) -> Pair {
        let state = tempfile::tempdir().unwrap();
        let killed = Broker::start(&["--state-dir", state.path().to_str().unwrap()]);
        let (sessions, rng) = (Vec::new(), fastrand::Rng::with_seed(seed));
        let model = Broker::start(&[]);
        Pair { state, killed, model, sessions, rng, n_changes: 0, n_unanswered: 0 }
    }

    /// Makes calls on some sessions at once. Returns false if the service was killed meanwhile.
    fn step(&mut self) -> bool {
        match self.rng.u32(0..12) {
            0 if self.sessions.len() < 4 => return self.open(),
            1 if self.sessions.len() > 2 => return self.close(),
            _ if self.sessions.is_empty() => return self.open(),
            _ => {}
        }
        let mut names = self.sessions.clone();
        self.rng.shuffle(&mut names);
        names.truncate(self.rng.usize(1..4));
        let calls: Vec<_> = names.iter().map(|name| random_call(&mut self.rng, name)).collect();
        let ids: Vec<u64> = calls.iter().map(|(method, params)| self.killed.send(method, params)).collect();
        let mut received = BTreeMap::new();
        while received.len() < ids.len() {
            let Some(answer) = self.killed.receive() else { break };
            received.insert(answer["id"].as_u64().unwrap(), answer);
        }
        let is_alive = received.len() == ids.len();
        if !is_alive {
            self.restart();
        }
        for ((id, (method, params)), name) in ids.iter().zip(&calls).zip(&names) {
            match received.remove(id) {
                Some(answer) => {
                    let expected = without_work(self.model.call(method, params));
                    assert_eq!(without_work(answer), expected, "{method} {params}");
                    self.n_changes += usize::from(*method != "check");
                }
                None => self.unanswered(method, params, name),
            }
        }
        is_alive
    }

    /// A call without an answer has been made completely, or not at all. The model does the same.
    fn unanswered(&mut self, method: &str, params: &Value, session: &str) {
        self.n_unanswered += 1;
        let state =
            |broker: &mut Broker| broker.call("state", &json!({"session": session}))["result"].clone();
        match method {
            "advance" if state(&mut self.killed) != state(&mut self.model) => {
                self.model.call(method, params);
            }
            // These can be repeated.
            "update" | "place" => {
                self.killed.call(method, params);
                self.model.call(method, params);
            }
            _ => {}
        }
    }

    fn has(&mut self, session: &str) -> bool {
        self.killed.call("state", &json!({"session": session}))["error"].is_null()
    }

    fn open(&mut self) -> bool {
        let params = json!({"files": [{"name": "shop.lcc", "text": SHOP}]});
        let id = self.killed.send("open", &params);
        let answer = self.killed.receive();
        if let Some(answer) = &answer {
            assert_eq!(answer["id"], id);
            let expected = self.model.call("open", &params);
            assert_eq!(without_work(answer.clone()), without_work(expected.clone()));
            self.sessions.push(answer["result"]["session"].as_str().unwrap().to_string());
            return true;
        }
        self.restart();
        self.n_unanswered += 1;
        // The next name is free, unless the session was opened.
        let last = self.model.call("open", &params)["result"]["session"].as_str().unwrap().to_string();
        if !self.has(&last) {
            assert_eq!(self.killed.call("open", &params)["result"]["session"], last.as_str());
        }
        self.sessions.push(last);
        false
    }

    fn close(&mut self) -> bool {
        let session = self.sessions.remove(self.rng.usize(0..self.sessions.len()));
        let params = json!({"session": session});
        self.killed.send("close", &params);
        let answer = self.killed.receive();
        if answer.is_none() {
            self.restart();
            self.n_unanswered += 1;
            if self.has(&session) {
                self.killed.call("close", &params);
            }
            assert!(!self.has(&session));
        }
        self.model.call("close", &params);
        answer.is_some()
    }

    /// Starts the service again. Sometimes it is killed while it starts.
    fn restart(&mut self) {
        self.killed.kill();
        let folder = self.state.path().to_str().unwrap().to_string();
        while self.rng.u32(0..3) == 0 {
            let mut early = Broker::start(&["--state-dir", &folder]);
            std::thread::sleep(Duration::from_micros(self.rng.u64(0..40_000)));
            early.kill();
        }
        self.killed = Broker::start(&["--state-dir", &folder]);
    }

    /// Makes calls until the service is killed, at a random moment.
    fn round(&mut self) {
        let id = self.killed.child.id().to_string();
        let delay = Duration::from_micros(self.rng.u64(0..300_000));
        let killer = std::thread::spawn(move || {
            std::thread::sleep(delay);
            Command::new("kill").args(["-9", &id]).status().unwrap();
        });
        while self.step() {}
        killer.join().unwrap();
        for session in self.sessions.clone() {
            let (found, expected) = (answers(&mut self.killed, &session), answers(&mut self.model, &session));
            assert_eq!(found, expected, "{session}");
        }
    }
}

/// `ROUNDS=100 cargo test --test processes journal::killed` repeats it more often.
#[test]
fn a_killed_service_loses_no_answered_call() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let seed = std::env::var("SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut pair = Pair::new(seed);
    for _ in 0..rounds {
        pair.round();
    }
    println!("{rounds} rounds, {} changes, {} calls without an answer", pair.n_changes, pair.n_unanswered);
    assert!(pair.n_changes > 0);
}

/// A service that is killed after each change of the team and the protocol answers as one that never is.
#[test]
fn changes_of_the_structure_survive_a_kill() {
    let state = tempfile::tempdir().unwrap();
    let args = ["--state-dir", state.path().to_str().unwrap()];
    let (mut killed, mut model) = (Broker::start(&args), Broker::start(&[]));
    let open = json!({"files": [{"name": "shop.lcc", "text": SHOP}]});
    for broker in [&mut killed, &mut model] {
        assert_eq!(broker.call("open", &open)["result"]["session"], "s1");
    }
    let waiter = "a(waiter, W) :: bell <= a(buyer, B). server a(waiter, wes).";
    let guest = "a(guest, G) :: hello => a(waiter, wes). agent a(guest, gus).";
    let changes = [
        ("update", json!({"add": [waiter]}), true),
        ("advance", json!({"pattern": "out(ask(tea))@ben"}), true),
        ("update", json!({"add": [guest], "remove": ["know sam: price(tea, 3)."]}), true),
        // Gus has work.
        ("update", json!({"remove": ["agent a(guest, gus)."]}), false),
        ("update", json!({"add": ["a(waiter, W) :: hello <= a(guest, G)."]}), true),
        ("advance", json!({"pattern": "out(hello)@gus"}), true),
        // Wes has mail.
        ("update", json!({"remove": ["server a(waiter, wes)."]}), false),
        ("advance", json!({"pattern": "in(hello)@wes"}), true),
        ("update", json!({"remove": [guest]}), true),
        (
            "update",
            json!({"remove": ["server a(waiter, wes).", "a(waiter, W) :: bell <= a(buyer, B)."]}),
            true,
        ),
        ("update", json!({"add": ["agent a(guest, gus)."]}), false),
        ("update", json!({"add": ["agent a(buyer, bob). know bob: wants(tea)."]}), true),
    ];
    for (method, change, is_accepted) in changes {
        let mut params = change;
        params["session"] = "s1".into();
        let [answer, expected] =
            [&mut killed, &mut model].map(|broker| without_work(broker.call(method, &params)));
        assert_eq!(answer, expected, "{params}");
        assert_eq!(answer["error"].is_null(), is_accepted, "{params}: {answer}");
        killed.kill();
        killed = Broker::start(&args);
        assert_eq!(answers(&mut killed, "s1"), answers(&mut model, "s1"), "after {params}");
    }
}

/// Imported files are saved with their session: later changes of the files do not concern it.
#[test]
fn imports_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (root, state) = (folder.path().join("root"), folder.path().join("state"));
    fs::create_dir(&root).unwrap();
    fs::write(root.join("facts.lcc"), "know h: has(1).").unwrap();
    let args = ["--root", root.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
    let mut broker = Broker::start(&args);
    let text = "import \"facts.lcc\". import \"./facts.lcc\". a(hen, H) :: null <- has(X). agent a(hen, h). property one : <->tt ;";
    let opened = broker.call("open", &json!({"files": [{"name": "hen.lcc", "text": text}]}));
    assert_eq!(opened["result"]["session"], "s1", "{opened}");
    broker.kill();
    fs::remove_dir_all(&root).unwrap();
    fs::create_dir(&root).unwrap();
    let mut broker = Broker::start(&args);
    let checked = broker.call("check", &json!({"session": "s1"}));
    assert_eq!(checked["result"]["answers"][0]["verdict"], "holds", "{checked}");
}

fn broker_output(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    let output = command.arg("broker").args(args).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_folder_is_private_and_has_one_service() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("a/b");
    let mut broker = Broker::start(&["--state-dir", state.to_str().unwrap()]);
    broker.call("open", &json!({"files": [{"name": "shop.lcc", "text": SHOP}]}));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    for file in ["journal", "lock"] {
        assert_eq!(mode(&state.join(file)), 0o600, "{file}");
    }
    let (code, said) = broker_output(&["--state-dir", state.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("another `masque broker` uses the folder"), "{said}");
    drop(broker);
    fs::write(state.join("journal"), "something else").unwrap();
    let (code, said) = broker_output(&["--state-dir", state.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("is not a journal of `masque broker`"), "{said}");
}

/// A change that finds no space is an error, and is not made. All others are there after a restart.
#[test]
fn a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    // The size of a file is limited, and the signal that goes with the limit is ignored.
    let script = "trap '' XFSZ; ulimit -f 24; exec \"$0\" broker --state-dir \"$1\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_masque"), state]);
    let mut broker = Broker::of(command);
    broker.call("open", &json!({"files": [{"name": "shop.lcc", "text": SHOP}]}));
    let fact = |n: usize| format!("know sam: price(item{n},{}1).", " ".repeat(500));
    let add = |n: usize| json!({"session": "s1", "add": [fact(n)]});
    let n_added = (0..100).position(|n| !broker.call("update", &add(n))["error"].is_null()).unwrap();
    assert!(n_added > 2);
    for n in n_added..n_added + 3 {
        let refused = broker.call("update", &add(n));
        assert_eq!(refused["error"]["code"], -32011, "{refused}");
    }
    let refused = broker.call(
        "open",
        &json!({"files": [{"name": "shop.lcc", "text": SHOP.to_string() + &" ".repeat(20_000)}]}),
    );
    assert_eq!(refused["error"]["code"], -32011, "{refused}");
    let answered = answers(&mut broker, "s1");
    broker.kill();
    let mut broker = Broker::start(&["--state-dir", state]);
    assert_eq!(answers(&mut broker, "s1"), answered);
    // Only the facts of answered calls are there.
    for n in 0..n_added + 3 {
        let removed = broker.call("update", &json!({"session": "s1", "remove": [fact(n)]}));
        assert_eq!(removed["error"].is_null(), n < n_added, "{n}: {removed}");
    }
}

/// Every line of the log is an object, whatever a client sends.
#[test]
fn the_log_in_json() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    command.args(["broker", "--verbose", "--log-format", "json"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let forged = "s1\n{\"level\": \"error\"}\u{1b}[31m\u{9b}";
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "state", "params": {"session": forged}});
    writeln!(child.stdin.take().unwrap(), "{call}\nnonsense").unwrap();
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.chars().all(|c| c == '\n' || !c.is_control()), "{log:?}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &lines {
        assert!(["time", "level", "event", "message"].iter().all(|name| line[name].is_string()), "{line}");
        assert!(line["level"] != "error", "{line}");
    }
    let call = lines.iter().find(|line| line["method"] == "state").unwrap();
    assert_eq!((&call["event"], &call["code"]), (&json!("call"), &json!(-32001)));
    assert!(call["message"].as_str().unwrap().contains(forged) && call["ms"].is_number(), "{call}");
    let events: Vec<&str> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert!(events.contains(&"ready") && events.last() == Some(&"ended"), "{events:?}");
}

/// The log of a session survives: the same events are possible, and the same is owed.
#[test]
fn a_log_survives() {
    const OFFICE: &str = "a(worker, W) :: null <- spend(5) then (report(5) => a(boss, bo) or null <- forget).
        a(boss, B) :: report(_) <= a(worker, W) or null <- forget.
        agent a(worker, w). agent a(boss, bo). know w: spend(5). common forget.
        rule office: (w, bo, !send(report(X))) after #(spend(X))@w.";
    let state = tempfile::tempdir().unwrap();
    let args = ["--state-dir", state.path().to_str().unwrap()];
    let mut broker = Broker::start(&args);
    broker.call("open", &json!({"files": [{"name": "office.lcc", "text": OFFICE}]}));
    let spend = json!({"session": "s1", "event": {"by": "w", "constraint": "spend(5)"}, "observable": ["out(_)", "#(spend(_))"]});
    assert_eq!(broker.call("observe", &spend)["result"]["verdict"], "possible");
    // What is not possible and what is only asked are no part of the log.
    assert_eq!(broker.call("observe", &spend)["result"]["verdict"], "violated");
    let report = json!({"session": "s1", "event": {"from": "w", "message": "report(_)"}});
    assert_eq!(broker.call("may", &report)["result"]["verdict"], "possible");
    let owed = broker.call("obligations", &json!({"session": "s1"}))["result"].clone();
    assert_eq!((&owed["events"], &owed["obligations"][0]["status"]), (&json!(1), &json!("owed")));
    broker.kill();

    let mut broker = Broker::start(&args);
    assert_eq!(broker.call("obligations", &json!({"session": "s1"}))["result"], owed);
    assert_eq!(
        broker.call("update", &json!({"session": "s1", "add": ["common late."]}))["error"]["code"],
        -32012
    );
    assert_eq!(broker.call("observe", &report)["result"]["obligations"][0]["status"], "met");
    broker.kill();
    let mut broker = Broker::start(&args);
    assert_eq!(broker.call("obligations", &json!({"session": "s1"}))["result"]["obligations"], json!([]));
}
