//! `masque broker`: the examples in its documentation, the Python client, child processes, signals.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A service on standard input and output.
struct Broker {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Broker {
    fn start(args: &[&str]) -> Broker {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        command.arg("broker").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Broker { child, input, output }
    }

    fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?} is no answer"))
    }

    fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        self.receive()
    }

    /// Waits for the end. Returns the exit code and the standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let end = Instant::now() + Duration::from_secs(30);
        while self.child.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                self.child.kill().unwrap();
                panic!("it does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

/// Whether an answer is the one of the page, where `".."` is anything, and an object with a member
/// `".."` may have more.
fn fits(page: &Value, answer: &Value) -> bool {
    match (page, answer) {
        (Value::String(any), _) if any == ".." => true,
        (Value::Array(page), Value::Array(answer)) => {
            page.len() == answer.len() && page.iter().zip(answer).all(|(page, answer)| fits(page, answer))
        }
        (Value::Object(page), Value::Object(answer)) => {
            let known = page.iter().filter(|(name, _)| *name != "..");
            (page.contains_key("..") || page.len() == answer.len())
                && known.into_iter().all(|(name, value)| answer.get(name).is_some_and(|a| fits(value, a)))
        }
        _ => page == answer,
    }
}

#[test]
fn the_examples_of_the_page() {
    let page = fs::read_to_string("../../docs/broker.md").unwrap();
    let mut broker = Broker::start(&[]);
    let (mut answer, mut n_examples, mut methods) = (Value::Null, 0, Vec::new());
    for line in page.split("```rpc\n").skip(1).flat_map(|b| b.split("```").next().unwrap().lines()) {
        if let Some(message) = line.strip_prefix("-> ") {
            broker.send(message);
            let message: Value = serde_json::from_str(message).unwrap();
            methods.push(message["method"].as_str().unwrap().to_string());
            answer = broker.receive();
        } else if let Some(expected) = line.strip_prefix("<- ") {
            let expected: Value = serde_json::from_str(expected).unwrap();
            assert!(fits(&expected, &answer), "the page says\n{expected}\nbut it is\n{answer}");
            n_examples += 1;
        }
    }
    assert_eq!(n_examples, methods.len());
    for method in masque_broker::Method::ALL {
        assert!(methods.iter().any(|name| name == method.name()), "{} has no example", method.name());
    }
    let (code, said) = broker.end();
    assert_eq!((code, said.lines().last()), (Some(0), Some("masque broker: ended")), "{said}");
}

/// Every code of an error and every option of a limit is on the page.
#[test]
fn the_tables_of_the_page() {
    let page = fs::read_to_string("../../docs/broker.md").unwrap();
    for code in (-32012..=-32001).chain(-32603..=-32600).chain([-32700]) {
        assert!(page.contains(&format!("\n| {code} | ")), "{code}");
    }
    let help = Command::new(env!("CARGO_BIN_EXE_masque")).args(["broker", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let limits = help.split("Limits of a call:").nth(1).unwrap().split("Global options:").next().unwrap();
    let options = limits.lines().filter_map(|line| line.trim().strip_prefix("--"));
    let names: Vec<&str> = options.filter_map(|option| option.split(' ').next()).collect();
    assert_eq!(names.len(), 13, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("\n| `--{name}` | ")), "{name}");
    }
}

#[test]
fn the_broker_of_the_paper() {
    let Ok(version) = Command::new("python3").arg("--version").output() else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(version.status.success());
    let program = env!("CARGO_BIN_EXE_masque");
    let output = Command::new("python3").args(["../../examples/broker.py", program]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(said);
    // The page shows parts of it: each line is there, in this order.
    let page = fs::read_to_string("../../docs/broker.md").unwrap();
    let shown = page.split("$ python3 examples/broker.py\n").nth(1).unwrap().split("```").next().unwrap();
    let mut lines = said.lines();
    for line in shown.lines().filter(|line| line.trim() != "..") {
        assert!(lines.any(|said| said == line), "{line}");
    }
}

/// More states than can be found in a lifetime.
const ENDLESS: &str = include_str!("support/endless.ispl");

#[test]
fn models_in_child_processes() {
    let mut broker = Broker::start(&["--timeout", "60s"]);
    let model = |text: &str, more: Value| {
        let mut params = json!({"files": [{"name": "m.ispl", "text": text}]});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let light = fs::read_to_string("tests/models/light.ispl").unwrap();
    let answer = broker.call(1, "check_model", model(&light, json!({"properties": ["EF lit"]})));
    assert_eq!(answer["result"]["runs"][0]["properties"].as_array().unwrap().len(), 4, "{answer}");
    let answer = broker.call(2, "check_model", model("Agent", json!({})));
    assert_eq!(answer["result"]["runs"][0]["diagnostics"][0]["severity"], "error");
    let bdi = json!({"files": [{"name": "m.bdi", "text": "agent a is loop p := any endloop property f: AG (p | !p);"}]});
    let answer = broker.call(3, "check_model", bdi);
    assert_eq!(answer["result"]["runs"][0]["properties"][0]["verdict"], "holds", "{answer}");
    // A limit is an answer; a word that is not known is an error that says what is.
    let limited = json!({"engine": "explicit", "limits": {"seconds": 0.2}});
    let answer = broker.call(4, "check_model", model(ENDLESS, limited));
    assert_eq!(answer["result"]["runs"][0]["properties"][0]["reason"], "timeout", "{answer}");
    let answer = broker.call(5, "check_model", model(&light, json!({"engine": "steam"})));
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("explicit"), "{answer}");
    for name in ["../m.ispl", "/elsewhere/m.ispl", "-m.ispl", ""] {
        let answer = broker.call(6, "check_model", json!({"files": [{"name": name, "text": ""}]}));
        assert_eq!(answer["error"]["code"], -32602, "{name}");
    }
    // Cancelled, a process is ended at once.
    let endless = model(ENDLESS, json!({"engine": "explicit"}));
    broker.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "check_model", "params": endless}).to_string());
    wait_for_children(&broker.child, 1);
    broker.send(&json!({"jsonrpc": "2.0", "id": 8, "method": "cancel", "params": {"id": 7}}).to_string());
    let start = Instant::now();
    let codes = [broker.receive(), broker.receive()].map(|answer| answer["error"]["code"].as_i64());
    assert!(codes.contains(&Some(-32007)) && start.elapsed() < Duration::from_secs(10), "{codes:?}");
    wait_for_children(&broker.child, 0);
    assert_eq!(broker.end().0, Some(0));
}

/// The process that checks a model imports what a session would, and nothing else.
#[test]
fn imports_in_child_processes() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(outside.path().join("secret.lcc"), "common secret.").unwrap();
    let farm = "a(hen, H) :: egg => a(farmer, F). a(farmer, F) :: egg <= a(hen, H).";
    fs::write(root.join("farm.lcc"), farm).unwrap();
    let secret = outside.path().join("secret.lcc").display().to_string();
    let team = |path: &str| {
        format!("import \"{path}\". agent a(hen, h). agent a(farmer, f). property fed : inev(in(egg)) ;")
    };
    let file = |name: &str, text: &str| json!({"name": name, "text": text});
    let mut below = Broker::start(&["--root", root.to_str().unwrap()]);
    let mut alone = Broker::start(&[]);
    let both = json!({"files": [file("team.lcc", &team("here.lcc")), file("here.lcc", farm)]});
    for broker in [&mut below, &mut alone] {
        let answer = broker.call(1, "check_model", both.clone());
        assert_eq!(answer["result"]["runs"][0]["properties"][0]["verdict"], "holds", "{answer}");
        for path in [secret.as_str(), "../secret.lcc", "no_such.lcc"] {
            let answer = broker.call(2, "check_model", json!({"files": [file("team.lcc", &team(path))]}));
            let run = &answer["result"]["runs"][0];
            let code = run["diagnostics"][0]["code"].as_str().unwrap();
            let expected = if path == "no_such.lcc" { "lcc/import-not-found" } else { "file/outside-root" };
            assert_eq!((code, run["files"].as_array().unwrap().len()), (expected, 1), "{answer}");
        }
    }
    let from_root = json!({"files": [file("team.lcc", &team("farm.lcc"))]});
    let answer = below.call(3, "check_model", from_root.clone());
    assert_eq!(answer["result"]["runs"][0]["properties"][0]["verdict"], "holds", "{answer}");
    assert_eq!(answer["result"]["runs"][0]["files"], json!(["team.lcc", "farm.lcc"]));
    let answer = alone.call(3, "check_model", from_root);
    assert_eq!(answer["result"]["runs"][0]["diagnostics"][0]["code"], "lcc/import-not-found");
    assert_eq!((below.end().0, alone.end().0), (Some(0), Some(0)));
}

/// ISPL and BDI models import texts of the same call, and files below the root.
#[test]
fn imports_of_models_in_child_processes() {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("root");
    fs::create_dir(&root).unwrap();
    let file = |name: &str, text: &str| json!({"name": name, "text": text});
    let lamp =
        "Agent Lamp Vars: on : boolean; end Vars Actions = {switch}; Protocol: Other : {switch}; end Protocol
        Evolution: on = ~on if Action = switch; end Evolution end Agent InitStates !Lamp.on; end InitStates";
    let coin = "agent a is loop p := any endloop";
    let mut below = Broker::start(&["--root", root.to_str().unwrap()]);
    let mut alone = Broker::start(&[]);
    for (language, part, rest) in [
        ("ispl", lamp, "Formulae EF Lamp.on; end Formulae"),
        ("bdi", coin, "property possible initially: EF p;"),
    ] {
        fs::write(outside.path().join(format!("secret.{language}")), part).unwrap();
        fs::write(root.join(format!("stored.{language}")), part).unwrap();
        let [main, here] = ["main", "here"].map(|name| format!("{name}.{language}"));
        let importing = |name: &str| file(&main, &format!("import \"{name}.{language}\"; {rest}"));
        for broker in [&mut below, &mut alone] {
            let both = json!({"files": [file(&here, part), importing("here")]});
            let answer = broker.call(1, "check_model", both);
            let runs = answer["result"]["runs"].as_array().unwrap();
            assert_eq!((runs.len(), &runs[0]["properties"][0]["verdict"]), (1, &json!("holds")), "{answer}");
            let answer = broker.call(2, "check_model", json!({"files": [importing("../secret")]}));
            assert_eq!(
                answer["result"]["runs"][0]["diagnostics"][0]["code"], "file/outside-root",
                "{answer}"
            );
        }
        let from_root = json!({"files": [importing("stored")]});
        let answer = below.call(3, "check_model", from_root.clone());
        assert_eq!(answer["result"]["runs"][0]["properties"][0]["verdict"], "holds", "{answer}");
        let answer = alone.call(3, "check_model", from_root);
        let code = format!("{language}/import-not-found");
        assert_eq!(answer["result"]["runs"][0]["diagnostics"][0]["code"], code, "{answer}");
    }
    assert_eq!((below.end().0, alone.end().0), (Some(0), Some(0)));
}

/// Waits until a process has this many children, on systems with `/proc`.
fn wait_for_children(process: &Child, expected: usize) {
    let end = Instant::now() + Duration::from_secs(20);
    while let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", process.id())) {
        let of = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
        let n_children: usize = tasks.flatten().map(|task| of(task).split_whitespace().count()).sum();
        if n_children == expected {
            return;
        }
        assert!(Instant::now() < end, "there are {n_children} children, not {expected}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_it() {
    for signal in ["-INT", "-TERM"] {
        let mut broker =
            Broker::start(&["--timeout", "60s", "--grace", "100ms", "--states", "1000000000000"]);
        let endless = "a(counter(N), C) :: null <- M is N + 1 then a(counter(M), C).
            agent a(counter(0), c). option states = 1000000000. property never : AG !done(c) ;";
        broker.call(1, "open", json!({"files": [{"name": "a.lcc", "text": endless}]}));
        broker.send(r#"{"jsonrpc":"2.0","id":2,"method":"check","params":{"session":"s1"}}"#);
        // Lines are read in order: when this is answered, the check is under way.
        broker.call(3, "cancel", json!({"id": "nobody"}));
        let id = broker.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(broker.receive()["error"]["code"], -32007);
        let (code, said) = broker.end();
        assert_eq!(code, Some(0));
        assert!(said.contains("stopping on a signal") && said.contains("1 call(s) cancelled"), "{said}");
    }
}

#[rustfmt::skip]
#[test]
fn wrong_options_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("short").display().to_string();
    fs::write(&short, "secret").unwrap();
    let rows: [(&[&str], &str); 7] = [
        (&["--root", "no/such/folder"],                                     "is not a folder"),
        (&["--listen", "0.0.0.0:0"],                                        "give a token"),
        (&["--listen", "0.0.0.0:0", "--no-token"],                          "this machine only"),
        (&["--http", "--token-file", &short],                               "16 or more"),
        (&["--http", "--token-file", "no/such/file"],                       "cannot read"),
        (&["--no-token"],                                                   "--http"),
        (&["--listen", "192.0.2.1:1", "--token-file", "tests/models/token"], "cannot listen"),
    ];
    for (args, expected) in rows {
        let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
        let output = command.arg("broker").args(args).env_remove("MASQUE_TOKEN").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(expected), "{args:?}: {said}");
    }
}

/// The printed token is the one that requests need.
#[test]
fn over_http() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    command.args(["broker", "--listen", "127.0.0.1:0"]).env_remove("MASQUE_TOKEN");
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut after = |words: &str| {
        let line = said.next().unwrap().unwrap();
        line.split_once(words).unwrap_or_else(|| panic!("{line}")).1.to_string()
    };
    let (token, address) = (after("the token is "), after("listening on http://"));
    let post = |token: &str| {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let head = format!(
            "POST /rpc HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n"
        );
        write!(stream, "{head}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n[]").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let (inside, outside) = (post(&token), post("0123456789abcdef"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(inside.starts_with("HTTP/1.1 200 OK") && inside.contains("-32600"), "{inside}");
    assert!(outside.starts_with("HTTP/1.1 401 "), "{outside}");
}
