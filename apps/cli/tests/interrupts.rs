//! Ctrl-C at random moments: in every phase of loading, in every engine and in every command the process ends soon,
//! with the exit code and the report of what was decided.
//!
//! `INTERRUPTS=200 cargo test -p masque-cli --test processes interrupts -- --nocapture` tries more moments and prints the
//! times; `SEED` chooses other moments.
#![cfg(target_os = "linux")]

use std::fs;
use std::ops::Range;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::spread::*;
use serde_json::Value;
use tempfile::TempDir;

/// Maximum time from Ctrl-C to the end of the process on a busy machine; a tenth of it is expected.
const MAX_END_TIME: Duration = Duration::from_secs(10);
/// Range of the time in milliseconds from the start of a command to Ctrl-C.
const DELAY_MILLIS: Range<u64> = 0..1500;

/// What a command writes to standard output.
#[derive(Clone, Copy, PartialEq)]
enum Writes {
    /// A report whose verdicts determine the exit code.
    Report(&'static str),
    /// A graph in JSON, or nothing.
    Graph,
    /// Text.
    Text,
}

/// A command that takes longer than the delay.
struct Long {
    name: &'static str,
    args: Vec<String>,
    writes: Writes,
}

const CHECK: Writes = Writes::Report("masque.check/1");

fn long(name: &'static str, writes: Writes, args: &[&str]) -> Long {
    let args = args.iter().map(|arg| arg.to_string()).collect();
    Long { name, args, writes }
}

/// Files that take long to load or to check, in a folder of their own.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Files {
        let files = Files { folder: tempfile::tempdir().unwrap() };
        files.write("lines.ispl", &long_ispl(400_000));
        files.write("negations.lcc", &(PROTOCOL.to_string() + &negations(60_000)));
        files.write("choices.lcc", &(PROTOCOL.to_string() + &choices(60_000)));
        files.write("programs.bdi", &many_agents(12_000));
        files.write("adder.bdi", ADDER);
        files.write("graph.aut", &graph(400_000));
        files.write("graph.mu", "mu_nu : nu X. mu Y. (<a>X || <b>Y) && AG EF <c>tt ;\n");
        files.write("long.mu", &format!("p : {} ;\n", vec!["<a>tt"; 400_000].join(" && ")));
        files.write("clocks.lcc", &clocks(6));
        fs::copy("tests/models/ring.lcc", files.path("ring.lcc")).unwrap();
        files.write("questions.txt", "1\n? AG EF p\n? AG (q -> EF p)\n".repeat(1000).as_str());
        for index in 0..20 {
            let importing = format!("import \"choices.lcc\". agent a(x, a{index}).\n");
            files.write(&format!("each{index}.lcc"), &importing);
        }
        assert!(Command::new("mkfifo").arg(files.path("pipe.ispl")).status().unwrap().success());
        long_model(&files.folder, 22);
        hard_model(&files.folder);
        files
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Commands in every phase of loading, in every engine, and other commands.
    fn commands(&self) -> Vec<Long> {
        let path = |name: &str| self.path(name);
        let model = |name: &str| format!("{}/../../models/ispl/{name}", env!("CARGO_MANIFEST_DIR"));
        let check = |name: &'static str, args: &[&str]| {
            long(name, CHECK, &[&["check", "--format", "json"], args].concat())
        };
        let engine = |name: &'static str, options: &[&str]| {
            check(name, &[&[path("hard.ispl").as_str()], options].concat())
        };
        let each: Vec<String> = (0..20).map(|index| path(&format!("each{index}.lcc"))).collect();
        let mut each: Vec<&str> = each.iter().map(String::as_str).collect();
        each.push("--each");
        vec![
            check("reading a pipe", &[&path("pipe.ispl")]),
            engine("explicit", &["--engine", "explicit"]),
            check("parsing ISPL", &[&path("lines.ispl")]),
            engine("symbolic", &["--engine", "symbolic"]),
            check("stratifying LCC", &[&path("negations.lcc")]),
            engine("race", &["--engine", "race"]),
            check("expanding", &[&model("trains.ispl"), "-D", "N=100000"]),
            engine("cluster", &["--processes", "2"]),
            check("BDI engine", &[&path("adder.bdi")]),
            check("LCC engine", &[&path("clocks.lcc"), "--explore"]),
            check("AUT engine", &[&path("graph.aut"), &path("graph.mu")]),
            long("fmt of a pipe", Writes::Text, &["fmt", "--check", &path("pipe.ispl")]),
            long("random walk", Writes::Text, &["simulate", &path("long.ispl"), "--random", "1000000000"]),
            check("reading standard input", &["-"]),
            check("parsing LCC", &[&path("choices.lcc")]),
            check("parsing BDI", &[&path("programs.bdi")]),
            check("parsing properties", &[&path("graph.aut"), &path("long.mu")]),
            check("loops", &[&model("card_game.ispl"), "-D", "N=1000"]),
            check("LCC files each", &each),
            engine("auto", &[]),
            engine("cross-check", &["--cross-check", "--jobs", "2"]),
            long("why", Writes::Report("masque.why/1"), &["why", &path("hard.ispl"), "--format", "json"]),
            check("many states", &[&path("long.ispl"), "--engine", "explicit", "--jobs", "2"]),
            long(
                "export",
                Writes::Graph,
                &["export", &path("long.ispl"), "--format", "json", "--max-states", "10000000"],
            ),
            long(
                "export of LCC",
                Writes::Graph,
                &["export", &path("clocks.lcc"), "--format", "json", "--max-states", "10000000"],
            ),
            long("export of a diagram", Writes::Text, &["export", &path("hard.ispl"), "--format", "dddmp"]),
            long(
                "questions",
                Writes::Text,
                &["simulate", &path("hard.ispl"), "--script", &path("questions.txt")],
            ),
            long("walk of LCC", Writes::Text, &["simulate", &path("ring.lcc"), "--random", "1000000000"]),
            long("worlds", Writes::Text, &["worlds", &path("adder.bdi")]),
            long("fmt of ISPL", Writes::Text, &["fmt", "--check", &path("lines.ispl")]),
            long("bench", Writes::Text, &["bench", &model("card_game.ispl"), "-D", "N=1000,2000"]),
        ]
    }
}

const PROTOCOL: &str = "a(x, A) :: m => a(y, B). a(y, B) :: m <= a(x, A). agent a(x, a1). agent a(y, b1). property e : AF final ;\n";

fn negations(n: usize) -> String {
    (0..n).map(|i| format!("common p{i} <- not p{}.\n", i + 1)).collect()
}

fn choices(n: usize) -> String {
    let all: Vec<String> = (0..n).map(|i| format!("m{i} => a(y, B)")).collect();
    format!("a(z, A) :: {}.\n", all.join(" or\n"))
}

fn long_ispl(n: usize) -> String {
    let lines: String = (0..n).map(|i| format!("x = {} if x = {};\n", (i + 1) % 8, i % 8)).collect();
    format!(
        "Agent A Vars: x : 0..7; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
         Evolution: {lines} end Evolution end Agent Evaluation p if A.x = 1; end Evaluation
         InitStates A.x = 0; end InitStates Formulae AG EF p; end Formulae"
    )
}

fn many_agents(n: usize) -> String {
    let agent = |i| format!("agent a{i} is var p, q; loop p := !q; do act{i}(p); q := any endloop\n");
    let agents: String = (0..n).map(agent).collect();
    let properties: String = (0..n).map(|i| format!("property p{i} in a{i}: AG EF p;\n")).collect();
    agents + &properties
}

/// Worlds whose diagrams are large.
const ADDER: &str = "agent a is
  var w : 0..8191, x : 0..8191, y : 0..8191, z : 0..8191;
  loop
    w := any; x := any; y := any;
    if w + x < 8192 then z := w + x;
    if y + z < 8192 & w < y then x := y + z;
    if z < w + y then y := x
  endloop
property p: EF (w + x = y + z & w < z);
property q: AG (w + x < 16000 -> EF (z < w));
";

/// A transition system in which every state leads to two others.
fn graph(n: u64) -> String {
    let mut text = format!("des (0, {}, {n})\n", 2 * n);
    for i in 0..n {
        let (one, other) = ((i * 7919 + 13) % n, (i * 104_729 + 7) % n);
        text += &format!("({i}, a, {one})\n({i}, {}, {other})\n", ["b", "c"][(i % 2) as usize]);
    }
    text
}

/// Pairs of a clock and its listener that do not influence each other.
fn clocks(n: usize) -> String {
    let pair = |i: usize| {
        format!(
            "a(clock{i}(N), C) :: (tick(N) => a(ear{i}, E) <- N < 100 then heard <= a(ear{i}, E) then
               a(next{i}(N), C)) or null <- N = 100.
             a(next{i}(N), C) :: null <- M is N + 1 then a(clock{i}(M), C).
             a(ear{i}, E) :: tick(N) <= a(clock{i}(_), C) then heard => a(clock{i}(_), C) then a(ear{i}, E).
             agent a(clock{i}(0), c{i}). server a(ear{i}, e{i}).\n"
        )
    };
    (0..n).map(pair).collect::<String>() + "property p : AG EF <in(tick(99))>tt ;\n"
}

/// How a command ended.
struct Ended {
    /// Time from Ctrl-C to the end of the process.
    time: Duration,
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a command and sends Ctrl-C after a delay; none if the command ends before that.
fn interrupt(command: &Long, delay: Duration, folder: &TempDir) -> Option<Ended> {
    // Output to files, because a pipe that is not read would block the command.
    let files = ["stdout", "stderr"].map(|name| folder.path().join(name));
    let [stdout, stderr] = files.clone().map(|path| Stdio::from(fs::File::create(path).unwrap()));
    let mut process: Child = Command::new(PROGRAM)
        .args(&command.args)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .unwrap();
    wait_for("the handler", || handles_interrupts(process.id()) || process.try_wait().unwrap().is_some());
    std::thread::sleep(delay);
    if process.try_wait().unwrap().is_some() {
        return None;
    }
    let all = children(process.id());
    signal("INT", &[process.id().into()]);
    let start = Instant::now();
    while process.try_wait().unwrap().is_none() {
        if start.elapsed() > MAX_END_TIME {
            process.kill().unwrap();
            process.wait().unwrap();
            panic!("{}: does not end, {delay:?} after its start", command.name);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let time = start.elapsed();
    let code = process.wait().unwrap().code();
    wait_for("the end of the children", || all.iter().all(is_gone));
    let [stdout, stderr] = files.map(|path| fs::read_to_string(path).unwrap());
    Some(Ended { time, code, stdout, stderr })
}

/// The exit code that a report requires.
fn code_of(report: &Value) -> i32 {
    let runs = report["runs"].as_array().cloned().unwrap_or_else(|| vec![report["run"].clone()]);
    assert!(!runs.is_empty() && runs.iter().all(Value::is_object), "{report}");
    let all =
        |list: &str| runs.iter().flat_map(|run| run[list].as_array().unwrap().clone()).collect::<Vec<_>>();
    let verdicts: Vec<Value> = all("properties").iter().map(|property| property["verdict"].clone()).collect();
    let diagnostics = all("diagnostics");
    let is_stopped = |d: &Value| ["load/stopped", "cli/not-counted"].contains(&d["code"].as_str().unwrap());
    assert!(
        verdicts.iter().all(|v| ["holds", "fails", "unknown"].contains(&v.as_str().unwrap())),
        "{report}"
    );
    if diagnostics.iter().any(|d| d["severity"] == "error") {
        2
    } else if verdicts.iter().any(|v| v == "fails") {
        1
    } else if verdicts.iter().any(|v| v == "unknown") || diagnostics.iter().any(is_stopped) {
        3
    } else {
        0
    }
}

fn assert_sound(command: &Long, delay: Duration, ended: &Ended) {
    let Ended { code, stdout, stderr, .. } = ended;
    let what = format!("{} after {delay:?}: exit {code:?}\n{stdout:.2000}\n{stderr:.2000}", command.name);
    assert!(!stderr.contains("bug") && !stderr.contains("panicked"), "{what}");
    match command.writes {
        Writes::Text => assert!(matches!(code, Some(3 | 0)), "{what}"),
        Writes::Graph => {
            assert!(matches!(code, Some(3 | 0)), "{what}");
            let graph = if stdout.is_empty() { Ok(Value::Null) } else { serde_json::from_str(stdout) };
            assert!(graph.is_ok(), "{what}");
        }
        Writes::Report(schema) => {
            let report: Value =
                serde_json::from_str(stdout).unwrap_or_else(|error| panic!("{error}: {what}"));
            assert_eq!(report["schema"], schema, "{what}");
            assert_eq!(*code, Some(code_of(&report)), "{what}");
            assert_ne!(*code, Some(2), "{what}");
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |value| value.parse().unwrap())
}

/// SplitMix: a fixed seed gives the same moments.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 16
}

#[test]
fn ctrl_c_ends_every_phase() {
    let (n_moments, mut seed) = (number("INTERRUPTS", 13), number("SEED", 1));
    let files = Files::new();
    let commands = files.commands();
    let mut times: Vec<(Duration, &str, Duration)> = Vec::new();
    let mut n_early = 0;
    for command in commands.iter().cycle().take(n_moments as usize) {
        let delay = DELAY_MILLIS.start + random(&mut seed) % (DELAY_MILLIS.end - DELAY_MILLIS.start);
        let delay = Duration::from_millis(delay);
        match interrupt(command, delay, &files.folder) {
            None => {
                println!("{}: ended before {delay:?}", command.name);
                n_early += 1;
            }
            Some(ended) => {
                assert_sound(command, delay, &ended);
                times.push((ended.time, command.name, delay));
            }
        }
    }
    times.sort_unstable();
    for (time, name, delay) in times.iter().rev().take(20) {
        println!("{:5} ms  {name}, interrupted after {} ms", time.as_millis(), delay.as_millis());
    }
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].0.as_millis();
    println!(
        "{} moments, {n_early} too late; times in ms: median {}, 90 % {}, 99 % {}, maximum {}",
        times.len(),
        at(50),
        at(90),
        at(99),
        at(100)
    );
    assert!(n_early < n_moments / 2, "most commands take long enough");
}
