//! `masque agent` as real processes that share nothing but the tuples they pass, and `masque state`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A protocol of two agents with several messages in both directions.
const SHOP: &str = "
a(buyer, B) :: ask(X) => a(seller, sue) <- wants(X) then price(X, P) <= a(seller, S) then
  ( buy(X, P) => a(seller, S) <- P =< 5 then sold(X) <= a(seller, S) or no(X) => a(seller, S) <- P > 5 ).
a(seller, S) :: ask(X) <= a(buyer, B) then price(X, P) => a(buyer, B) <- cost(X, P) then
  ( buy(X, P) <= a(buyer, B) then sold(X) => a(buyer, B) or no(X) <= a(buyer, B) ).
agent a(buyer, ben). agent a(seller, sue).
";
const BEN: &str = "know ben: wants(tea).\n";
const SUE: &str = "know sue: cost(tea, 3).\n";

struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Agent {
    fn start(args: &[&str]) -> Agent {
        let mut child = Command::new(env!("CARGO_BIN_EXE_masque"))
            .arg("agent")
            .args(args)
            .args(["--timeout", "20s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Agent { child, input, output }
    }

    fn send(&mut self, line: &str) {
        // An agent that has ended reads nothing.
        _ = self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes());
    }

    /// The next tuple; `None` if the agent has ended.
    fn tuple(&mut self) -> Option<String> {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        (!line.is_empty()).then(|| line.trim_end().to_string())
    }

    /// Closes its input. Returns the exit code and what it wrote to standard error.
    fn end(mut self) -> (i32, String) {
        self.input.take();
        let out = self.child.wait_with_output().unwrap();
        (out.status.code().unwrap(), String::from_utf8(out.stderr).unwrap())
    }
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path: PathBuf = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Steps of a log of `--verbose`.
fn steps(log: &str) -> Vec<String> {
    log.lines().filter_map(|line| line.strip_prefix("step: ")).map(str::to_string).collect()
}

#[test]
fn two_processes_play_a_protocol_to_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let ben_file = write(folder.path(), "ben.lcc", &format!("{SHOP}{BEN}"));
    // Sue's file has no clauses: the protocol comes with the first tuple.
    let sue_file = write(folder.path(), "sue.lcc", SUE);
    let mut ben = Agent::start(&["--id", "ben", &ben_file, "--start", "deal", "--verbose"]);
    let mut sue = Agent::start(&["--id", "sue", &sue_file, "--verbose"]);
    let mut passed = Vec::new();
    for turn in 0.. {
        let (from, to) = if turn % 2 == 0 { (&mut ben, &mut sue) } else { (&mut sue, &mut ben) };
        let Some(tuple) = from.tuple() else { break };
        to.send(&tuple);
        passed.push(tuple);
    }
    let (ben, sue) = (ben.end(), sue.end());
    assert_eq!((ben.0, sue.0), (0, 0), "{}\n{}", ben.1, sue.1);
    let heads: Vec<&str> = passed.iter().map(|tuple| tuple.split(", ({").next().unwrap()).collect();
    assert_eq!(
        heads,
        [
            "(deal, ask(tea) <= a(buyer, ben), sue, seller",
            "(deal, price(tea, 3) <= a(seller, sue), ben, buyer",
            "(deal, buy(tea, 3) <= a(buyer, ben), sue, seller",
            "(deal, sold(tea) <= a(seller, sue), ben, buyer",
        ]
    );
    // The steps of both, in the order of the messages, are a run of the whole system.
    let whole = write(folder.path(), "whole.lcc", &format!("{SHOP}{BEN}{SUE}"));
    let (mut of_ben, mut of_sue) = (steps(&ben.1).into_iter(), steps(&sue.1).into_iter());
    let mut patterns = Vec::new();
    for event in ["out ben", "in sue", "out sue", "in ben", "out ben", "in sue", "out sue", "in ben"] {
        let step = if event.ends_with("ben") { of_ben.next() } else { of_sue.next() };
        let step = step.unwrap();
        assert!(step.starts_with(event.split(' ').next().unwrap()), "{event}: {step}");
        patterns.extend(["--after".to_string(), step.split(" {").next().unwrap().to_string()]);
    }
    assert_eq!((of_ben.next(), of_sue.next()), (None, None));
    let state =
        Command::new(env!("CARGO_BIN_EXE_masque")).arg("state").arg(&whole).args(&patterns).output().unwrap();
    let text = String::from_utf8_lossy(&state.stdout).into_owned();
    assert_eq!(
        text,
        "now a(_, ben) :: nil.\nnow a(_, sue) :: nil.\n",
        "{}",
        String::from_utf8_lossy(&state.stderr)
    );
}

#[test]
fn a_forbidden_step_is_refused_with_its_rule() {
    let folder = tempfile::tempdir().unwrap();
    let ben_file = write(folder.path(), "ben.lcc", &format!("{SHOP}{BEN}"));
    let sue_file =
        write(folder.path(), "sue.lcc", &format!("{SUE}rule sue: (self, ben, -send(price(_, _))).\n"));
    let mut ben = Agent::start(&["--id", "ben", &ben_file, "--start", "deal"]);
    let mut sue = Agent::start(&["--id", "sue", &sue_file]);
    sue.send(&ben.tuple().unwrap());
    assert_eq!(sue.tuple(), None);
    let (code, log) = sue.end();
    assert_eq!(code, 1);
    assert!(log.contains("blocked: sue could not send(price(tea, 3)): rule 1 of sue forbids it"), "{log}");
    let (code, log) = ben.end();
    assert_eq!(code, 3);
    assert!(log.contains("ben: the input has ended\n  ben waits for price("), "{log}");
}

#[test]
fn bad_tuples_are_reported_and_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let ben_file = write(folder.path(), "ben.lcc", &format!("{SHOP}{BEN}"));
    let sue_file = write(folder.path(), "sue.lcc", SUE);
    let mut ben = Agent::start(&["--id", "ben", &ben_file, "--start", "deal"]);
    let mut sue = Agent::start(&["--id", "sue", &sue_file, "--message", "5K"]);
    let ask = ben.tuple().unwrap();
    sue.send("hello");
    sue.send(&"(".repeat(10_000));
    sue.send(&ask.replacen("sue, seller", "sam, seller", 1));
    sue.send(&ask);
    let price = sue.tuple().unwrap();
    sue.send(&price.replacen("(deal", "(steal", 1).replacen("ben, buyer", "sue, seller", 1));
    sue.send(&ask.replacen("P =< 5", "P =< 9", 1).replacen("=< 5", "=< 9", 1));
    ben.send(&price);
    sue.send(&ben.tuple().unwrap());
    ben.send(&sue.tuple().unwrap());
    assert_eq!(ben.end().0, 0);
    let (code, log) = sue.end();
    assert_eq!(code, 2);
    for part in [
        "error[lcc/syntax]",
        "longer than 5",
        "error[lcc/other-agent]",
        "lcc/other-interaction",
        "lcc/other-protocol",
    ] {
        assert!(log.contains(part), "{part}\n{log}");
    }
}

#[test]
fn limits_and_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let shop = write(folder.path(), "shop.lcc", &format!("{SHOP}{BEN}{SUE}"));
    let wait = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(["agent", "--id", "sue", &shop, "--timeout", "200ms"])
        .stdin(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(wait.status.code(), Some(3));
    let endless = write(folder.path(), "endless.lcc", "a(hen, H) :: null then a(hen, H). agent a(hen, h).");
    let rows: [(&[&str], i32, &str); 5] = [
        (&["--id", "sam", &shop, "--start", "x"], 2, "no member of the team is called `sam`"),
        (&["--id", "ben", &shop, "--start", "x", "--option", "comm=sync"], 2, "lcc/no-handshake"),
        (&["--id", "ben", "--start", "x"], 2, "lcc/no-protocol"),
        (&["--id", "h", &endless, "--start", "x", "--steps", "50"], 3, "stopped at the bound `steps`"),
        (&["--id", "ben", "nowhere.lcc"], 2, "error[file/not-found]: there is no file `nowhere.lcc`"),
    ];
    for (args, code, message) in rows {
        let (found, log) = Agent::start(args).end();
        assert_eq!(found, code, "{args:?}\n{log}");
        assert!(log.contains(message), "{args:?}\n{log}");
    }
}

#[test]
fn a_state_as_a_tuple() {
    let folder = tempfile::tempdir().unwrap();
    let shop = write(folder.path(), "shop.lcc", &format!("{SHOP}{BEN}{SUE}"));
    let args = ["state", &shop, "--after", "out(ask(_))@ben", "--format", "tuple", "--interaction", "deal"];
    let out = Command::new(env!("CARGO_BIN_EXE_masque")).args(args).output().unwrap();
    let tuple = String::from_utf8(out.stdout).unwrap();
    assert!(
        tuple.starts_with("(deal, ask(tea) <= a(buyer, ben), sue, seller, ({a(buyer, V0) :: "),
        "{tuple}"
    );
    // The tuple starts an agent.
    let sue_file = write(folder.path(), "sue.lcc", SUE);
    let mut sue = Agent::start(&["--id", "sue", &sue_file]);
    sue.send(tuple.trim_end());
    assert!(sue.tuple().unwrap().starts_with("(deal, price(tea, 3) <= a(seller, sue), ben, buyer, "));
    sue.end();
    let bad = Command::new(env!("CARGO_BIN_EXE_masque"))
        .args(["state", &shop, "--after", "in(ask(_))"])
        .output()
        .unwrap();
    assert_eq!(bad.status.code(), Some(2));
}

/// Sends Ctrl-C to an agent.
#[cfg(unix)]
fn interrupt(agent: &Agent) {
    let id = agent.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// Ctrl-C ends a waiting agent with exit code 3. What it has passed on is whole.
#[cfg(unix)]
#[test]
fn an_interrupt_of_a_waiting_agent_loses_no_tuple() {
    let folder = tempfile::tempdir().unwrap();
    let shop = write(folder.path(), "shop.lcc", &format!("{SHOP}{BEN}{SUE}"));
    let mut ben = Agent::start(&["--id", "ben", &shop, "--start", "deal"]);
    let asked = ben.tuple().unwrap();
    // Its input stays open, so it waits.
    interrupt(&ben);
    let input = ben.input.take();
    let (code, log) = ben.end();
    drop(input);
    assert_eq!(code, 3, "{log}");
    assert!(log.starts_with("ben: interrupted\n  ben waits for price(tea, _) from a(seller, "), "{log}");
    // The tuple is whole: sue answers.
    let mut sue = Agent::start(&["--id", "sue", &shop]);
    sue.send(&asked);
    assert!(sue.tuple().unwrap().starts_with("(deal, price(tea, 3) <= a(seller, sue), ben, buyer"));
    interrupt(&sue);
    assert_eq!(sue.end().0, 3);
}

/// An agent that is interrupted while it plays passes nothing on, and names the tuples that it has not played.
#[cfg(unix)]
#[test]
fn an_interrupt_of_a_playing_agent_loses_no_tuple() {
    let folder = tempfile::tempdir().unwrap();
    let text = "a(cook, C) :: egg => a(hen, h) then egg => a(hen, h).
        a(hen, H) :: egg <= a(cook, C) then a(walk(0), H).
        a(walk(N), H) :: null <- M is N + 1 then a(walk(M), H).
        agent a(cook, c). agent a(hen, h).";
    let file = write(folder.path(), "walk.lcc", text);
    let mut cook = Agent::start(&["--id", "c", &file, "--start", "walk"]);
    let tuples = [cook.tuple().unwrap(), cook.tuple().unwrap()];
    assert_eq!(cook.end().0, 0);
    let mut hen = Agent::start(&["--id", "h", &file, "--steps", "1000000000"]);
    tuples.iter().for_each(|tuple| hen.send(tuple));
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&hen);
    assert_eq!(hen.tuple(), None);
    let (code, log) = hen.end();
    assert_eq!(code, 3, "{log}");
    for tuple in tuples {
        assert!(log.contains(&format!("not played: {tuple}")), "{log}");
    }
}
