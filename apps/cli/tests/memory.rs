//! Memory limits: those of the system end in a report, and `--memory` limits the whole process.

#![cfg(target_os = "linux")]

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs `masque` with a limit on its address space, in MiB.
fn masque_within(mebibytes: u64, args: &[&str]) -> Output {
    let script = format!("ulimit -v {}; exec \"$@\"", mebibytes * 1024);
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_masque")]).args(args);
    command.current_dir("../..").stdin(Stdio::null()).output().unwrap()
}

/// A chain of counters with more states than memory, of which a symbolic engine needs large diagrams, too.
fn large_model(folder: &Path) -> String {
    let product = (0..16).map(|i| format!("v{i} : 0..63;")).collect::<String>();
    let lines: String = (0..16)
        .map(|i| {
            let (j, k) = ((i * 7 + 3) % 16, (i * 5 + 1) % 16);
            format!(
                "v{i} = v{j} if v{j} < v{k} and Action = go;\n v{i} = v{k} if v{j} >= v{k} and Action = go;\n"
            )
        })
        .collect();
    let start = (1..16).map(|i| format!("W.v{i} = {}", i * 4 - 1)).collect::<Vec<_>>().join(" and ");
    let text = format!(
        "Agent W\n Vars: {product} bad : boolean; end Vars\n Actions = {{go, rest}};\n Protocol: Other : {{go, rest}}; end Protocol\n \
         Evolution:\n {lines} v0 = v0 + 1 if v0 < 63 and Action = rest;\n end Evolution\nend Agent\n\
         Evaluation bad if W.bad; end Evaluation\nInitStates !W.bad and {start}; end InitStates\n\
         Formulae AG !bad; AG AF !bad; end Formulae\n"
    );
    let path = folder.join("large.ispl");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// Limits on the address space, in MiB.
const LIMITS: [u64; 6] = [256, 512, 1024, 2048, 4096, 8192];

/// Models that every engine decides at once, with options that choose the engine.
const SMALL: [&[&str]; 18] = [
    &["models/ispl/trains.ispl", "--engine", "explicit"],
    &["models/ispl/trains.ispl", "--engine", "explicit", "--jobs", "8"],
    &["models/ispl/trains.ispl", "--engine", "symbolic"],
    &["models/ispl/trains.ispl", "--engine", "symbolic", "--jobs", "8"],
    &["models/ispl/trains.ispl", "--engine", "auto"],
    &["models/ispl/trains.ispl", "--engine", "race"],
    &["models/ispl/trains.ispl", "--engine", "cluster", "--jobs", "2"],
    &["models/ispl/trains.ispl", "--processes", "2"],
    &["models/ispl/trains.ispl", "--cross-check"],
    &["models/ispl/trains.ispl", "--parallel", "merge", "--jobs", "2"],
    &["models/ispl/dining_cryptographers.ispl", "--engine", "auto"],
    &["models/ispl/dining_cryptographers.ispl", "--engine", "race"],
    &["models/ispl/dining_cryptographers.ispl", "--parallel", "full", "--jobs", "4"],
    &["models/ispl/dining_cryptographers.ispl", "--parallel", "auto", "--shared", "--jobs", "2"],
    &["models/bdi/news_repaired.bdi"],
    &["models/lcc/two_phase_commit.lcc"],
    &["models/lcc/two_phase_commit.lcc", "--explore"],
    &["apps/cli/tests/models/lamp.aut", "apps/cli/tests/models/lamp.mu"],
];

/// Options for a model with more states than memory.
const ENGINES: [&[&str]; 10] = [
    &["--engine", "explicit"],
    &["--engine", "symbolic", "--jobs", "8"],
    &["--engine", "explicit", "--jobs", "8"],
    &["--engine", "symbolic"],
    &["--engine", "auto"],
    &["--engine", "race"],
    &["--engine", "cluster", "--jobs", "2"],
    &["--processes", "2"],
    &["--cross-check"],
    &["--parallel", "merge", "--jobs", "2"],
];

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
";

/// Pairs of a clock and its listener that do not influence each other.
fn clocks() -> String {
    let pair = |i: usize| {
        format!(
            "a(clock{i}(N), C) :: (tick(N) => a(ear{i}, E) <- N < 100 then a(next{i}(N), C)) or null <- N = 100.
             a(next{i}(N), C) :: null <- M is N + 1 then a(clock{i}(M), C).
             a(ear{i}, E) :: tick(N) <= a(clock{i}(_), C) then a(ear{i}, E).
             agent a(clock{i}(0), c{i}). server a(ear{i}, e{i}).\n"
        )
    };
    (0..6).map(pair).collect::<String>() + "property p : AG EF <in(tick(99))>tt ;\n"
}

/// A transition system in which every state leads to two others, and the file of its property.
fn graph(n: u64) -> (String, &'static str) {
    let mut text = format!("des (0, {}, {n})\n", 2 * n);
    for i in 0..n {
        let (one, other) = ((i * 7919 + 13) % n, (i * 104_729 + 7) % n);
        text += &format!("({i}, a, {one})\n({i}, {}, {other})\n", ["b", "c"][(i % 2) as usize]);
    }
    (text, "p : nu X. mu Y. (<a>X || <b>Y) && AG EF <c>tt ;\n")
}

/// Checks within a limit on the address space, and that the exit code and the report are sound: complete JSON, and
/// `unknown` wherever something is not decided.
#[track_caller]
fn assert_sound_within(mebibytes: u64, args: &[&str]) {
    let args = [&["check", "--format", "json", "--evidence", "none"], args].concat();
    let output = masque_within(mebibytes, &args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let shown = format!("{mebibytes} MiB, {args:?}: {:?} {said}", output.status);
    assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{shown}");
    assert!(!said.contains("this is a bug") && !said.contains("panicked"), "{shown}");
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {shown}"));
    let run = &report["runs"][0];
    let properties = run["properties"].as_array().unwrap();
    let is_unloaded = run["diagnostics"].as_array().unwrap().iter().any(|d| d["code"] == "load/stopped");
    assert_eq!(properties.is_empty(), is_unloaded, "{shown}");
    let has_unknown = properties.iter().any(|property| property["verdict"] == "unknown");
    let is_open = has_unknown || is_unloaded;
    assert!(is_open || output.status.code() != Some(3), "{shown}: {properties:?}");
    assert!(!is_open || output.status.code() != Some(0), "{shown}: {properties:?}");
}

/// `ulimit -v` for every engine and language: never a crash, and always a complete report. `TABLE=whole` runs the large
/// models with all limits.
#[test]
fn a_limit_on_the_address_space_is_never_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let is_whole = std::env::var("TABLE").is_ok_and(|table| table == "whole");
    let large = large_model(folder.path());
    let (graph, property) = graph(if is_whole { 400_000 } else { 40_000 });
    let (graph, property) = (write("graph.aut", &graph), write("graph.mu", property));
    let (adder, clocks) = (write("adder.bdi", ADDER), write("clocks.lcc", &clocks()));
    let mut n_runs = 0;
    for mebibytes in LIMITS {
        for args in SMALL {
            assert_sound_within(mebibytes, args);
        }
        n_runs += SMALL.len();
        let n_engines = match mebibytes {
            _ if is_whole => ENGINES.len(),
            256 | 1024 => 2,
            _ => continue,
        };
        for options in &ENGINES[..n_engines] {
            assert_sound_within(mebibytes, &[&[large.as_str(), "--timeout", "2s"], *options].concat());
        }
        for files in [&[adder.as_str()][..], &[&clocks, "--explore"], &[&clocks], &[&graph, &property]] {
            assert_sound_within(mebibytes, &[files, &["--timeout", "2s"]].concat());
        }
        n_runs += n_engines + 4;
    }
    println!("{n_runs} runs");
}

/// Runs `masque` with a limit on the number of processes and threads, and ends it by a signal after two seconds. The
/// limit does not hold for root, so root runs it as another user; none if that is not possible.
fn masque_with_threads(n_threads: u32, args: &[&str]) -> Option<Output> {
    let limit = format!("--nproc={n_threads}");
    let mut command = Command::new("timeout");
    command.args(["-k", "20", "2", "prlimit", &limit]);
    if std::fs::metadata("/proc/self").ok()?.uid() == 0 {
        command.args(["setpriv", "--reuid", "65534", "--clear-groups"]);
    }
    command.arg(env!("CARGO_BIN_EXE_masque")).args(args);
    command.current_dir("../..").stdin(Stdio::null()).output().ok()
}

/// The system refuses threads: this is an error, or the reason why something is not known, but no bug.
#[test]
fn refused_threads_are_no_bug() {
    let trains = "models/ispl/trains.ispl";
    if !masque_with_threads(1, &["--version"]).is_some_and(|output| output.status.success()) {
        println!("skipped: no limit on threads can be set");
        return;
    }
    for n_threads in 1..=5 {
        for args in [
            &["check", trains, "--quiet"][..],
            &["check", trains, "--end-with-input"],
            &["check", trains, "--engine", "race", "--quiet"],
            &["check", trains, "--engine", "symbolic", "--quiet"],
            &["check", trains, "--engine", "explicit", "--jobs", "4", "--quiet"],
            &["check", trains, "--cross-check", "--quiet"],
            &["check", trains, "--parallel", "merge", "--jobs", "2", "--quiet"],
            &["check", trains, "--processes", "2", "--quiet"],
            &["why", trains],
            &["export", trains],
            &["simulate", trains],
            &["simulate", trains, "--random", "3"],
            &["test", trains],
            &["bench", trains, "-D", "N=2"],
            &["fmt", "--check", trains],
            &["worlds", "models/bdi/news_repaired.bdi"],
            &["agent", "--id", "p1", "models/lcc/two_phase_commit.lcc"],
            &["state", "models/lcc/two_phase_commit.lcc"],
            &["watch", trains],
            &["explore", "--no-open", trains],
            &["broker", "--workers", "1"],
            &["broker", "--workers", "1", "--listen", "127.0.0.1:0"],
            &["lsp"],
        ] {
            let output = masque_with_threads(n_threads, args).unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let shown = format!("{n_threads} threads, {args:?}: {:?} {said}", output.status);
            // 124 is the code of `timeout` for a service that started, and ended after the signal.
            assert!(matches!(output.status.code(), Some(0..=3 | 124)), "{shown}");
            assert!(!said.contains("this is a bug"), "{shown}");
        }
    }
}

/// A limit on the size of files is an error of the command that writes, and no signal ends it.
#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.dot");
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "ulimit -f 1; exec \"$0\" export models/ispl/needham_schroeder.ispl --format dot > \"$1\"",
    ]);
    command.arg(env!("CARGO_BIN_EXE_masque")).arg(&file).current_dir("../..").stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{:?} {said}", output.status);
    assert!(said.contains("error: "), "{said}");
}

/// Without a limit on the engine, the system refuses memory in the middle of the work.
#[test]
fn refused_memory_is_unknown_memory() {
    let folder = tempfile::tempdir().unwrap();
    let large = large_model(folder.path());
    let args = ["check", &large, "--engine", "explicit", "--format", "json", "--evidence", "none"];
    let output = masque_within(256, &args);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["runs"][0]["properties"][0]["reason"], "memory");
}

#[test]
fn the_process_stays_near_its_memory_limit() {
    const LIMIT_MB: u64 = 128;
    // Pages of the program itself that a debug build has in memory, and a release build has not.
    const DEBUG_PAGES: u64 = if cfg!(debug_assertions) { 16 << 20 } else { 0 };
    let folder = tempfile::tempdir().unwrap();
    let large = large_model(folder.path());
    for engine in ["explicit", "symbolic"] {
        let limit = format!("{LIMIT_MB}M");
        let args = ["check", &large, "--engine", engine, "--memory", &limit, "--timeout", "12s", "--stats"];
        let args = [&args[..], &["--format", "json", "--evidence", "none"]].concat();
        let output = masque_within(1 << 20, &args);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let peak = report["runs"][0]["stats"]["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak <= (LIMIT_MB << 20) / 4 * 5 + DEBUG_PAGES, "{engine}: {peak} bytes");
    }
}
