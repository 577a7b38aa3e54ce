//! Helpers for tests of distributed checks.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_masque");

pub(crate) fn masque(args: &[&str]) -> Command {
    program(Path::new(PROGRAM), args)
}

/// A command line for any copy of the program.
pub(crate) fn program(path: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(path);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env("RUST_BACKTRACE", "0").env_remove("MASQUE_TOKEN");
    command
}

pub(crate) fn output(args: &[&str]) -> Output {
    masque(args).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The report, without the name of the engine, and the exit code.
pub(crate) fn report(args: &[&str]) -> (String, i32) {
    let output = output(args);
    assert_eq!(text(&output.stderr), "", "{args:?}");
    (without_engine(&text(&output.stdout)), output.status.code().unwrap())
}

/// A report without the name of the engine.
pub(crate) fn without_engine(report: &str) -> String {
    let kept: Vec<&str> = report.lines().filter(|line| !line.contains("\"engine\":")).collect();
    kept.join("\n")
}

/// Number of properties of [`long_model`].
pub(crate) const N_LONG: usize = 7;

/// A model with 2^bits states. With some hundred thousand states, a distributed check takes a few seconds.
pub(crate) fn long_model(folder: &TempDir, bits: usize) -> String {
    let variables: String = (0..bits).map(|i| format!("b{i} : boolean; ")).collect();
    let lines: String = (0..bits)
        .map(|i| format!("b{i} = true if Action = set{i}; b{i} = false if Action = reset; "))
        .collect();
    let actions: Vec<String> = (0..bits).map(|i| format!("set{i}")).chain(["reset".to_string()]).collect();
    let initial: Vec<String> = (0..bits).map(|i| format!("!A.b{i}")).collect();
    let actions = actions.join(", ");
    let model = format!(
        "Semantics = SingleAssignment;
         Agent A
           Vars: {variables} end Vars
           Actions = {{{actions}}};
           Protocol: Other : {{{actions}}}; end Protocol
           Evolution: {lines} end Evolution
         end Agent
         Evaluation first if A.b0; last if A.b{}; end Evaluation
         InitStates {}; end InitStates
         Formulae
           AG EF last; EF(first and AX last); K(A, !first); AF last;
           LTL G F last; <A>F last; nu Z. mu Y. EX(last and Z or Y);
         end Formulae",
        bits - 1,
        initial.join(" and "),
    );
    let path = folder.path().join("long.ispl");
    fs::write(&path, model).unwrap();
    path.display().to_string()
}

/// A model that no engine finishes within minutes. Its third property is found to fail at once by engines that
/// store states.
pub(crate) fn hard_model(folder: &TempDir) -> String {
    let all = |item: &dyn Fn(usize) -> String, with: &str| (0..6).map(item).collect::<Vec<_>>().join(with);
    let variables = all(&|i| format!("v{i} : 0..1023;"), " ");
    let actions = all(&|i| format!("a{i}"), ", ");
    let initial = all(&|i| format!("A.v{i} = {i}"), " and ");
    let line = |i| {
        let (j, k, c) = ((i + 1) % 6, (i + 2) % 6, 7 * i + 1);
        format!("v{i} = (v{i} * 5 + v{j} * v{k} + {c}) mod 1021 if Action = a{i};")
    };
    let lines = all(&line, " ");
    let model = format!(
        "Semantics = SingleAssignment;
         Agent A
           Vars: {variables} end Vars
           Actions = {{{actions}}};
           Protocol: Other : {{{actions}}}; end Protocol
           Evolution: {lines} end Evolution
         end Agent
         Evaluation p if A.v0 = A.v1; q if A.v2 = 0; end Evaluation
         InitStates {initial}; end InitStates
         Formulae AG EF p; EF (p and q); AF q; end Formulae"
    );
    file(folder, "hard.ispl", &model)
}

/// A script that is used in place of `ssh`.
pub(crate) fn launcher(folder: &TempDir, body: &str) -> String {
    let path = folder.path().join("launcher");
    executable(&path, &format!("#!/bin/sh\n{body}\n"));
    path.display().to_string()
}

/// Writes a script. Another process writes the file: a child that another test starts at the same time might
/// inherit a file that is open for writing here, and then the script could not be executed.
pub(crate) fn executable(path: &Path, script: &str) {
    let mut tee = Command::new("tee").arg(path).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    tee.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(tee.wait().unwrap().success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

pub(crate) fn file(folder: &TempDir, name: &str, content: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    path.display().to_string()
}

/// The processes that a process has started.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let mut all: Vec<u32> =
        list.unwrap_or_default().split_whitespace().map(|word| word.parse().unwrap()).collect();
    // Those started by another thread of it.
    for task in fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten() {
        let list = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        all.extend(list.split_whitespace().map(|word| word.parse::<u32>().unwrap()));
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// Sends a signal, to a whole process group if a number is negative.
pub(crate) fn signal(name: &str, processes: &[i64]) {
    let numbers = processes.iter().map(i64::to_string);
    let status = Command::new("kill").args([&format!("-{name}"), "--"]).args(numbers).status();
    assert!(status.unwrap().success(), "{name} to {processes:?}");
}

/// Whether a process handles SIGINT.
pub(crate) fn handles_interrupts(process: u32) -> bool {
    const SIGINT: u64 = 2;
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim();
    u64::from_str_radix(caught, 16).unwrap() >> (SIGINT - 1) & 1 == 1
}

pub(crate) fn is_gone(process: &u32) -> bool {
    match fs::read_to_string(format!("/proc/{process}/stat")) {
        Err(_) => true,
        // A zombie: its parent has not collected its exit code yet.
        Ok(stat) => stat.contains(") Z "),
    }
}

pub(crate) fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn finish(child: Child) -> (String, String, i32) {
    let output = child.wait_with_output().unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

/// Starts a check that waits for workers. Returns the line that it prints, and the rest of its standard error
/// with the process.
pub(crate) fn awaiting(mut check: Command) -> (Child, String) {
    let mut child = check.spawn().unwrap();
    let mut line = Vec::new();
    let errors = child.stderr.as_mut().unwrap();
    // One byte at a time, so that nothing after the line is read.
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        errors.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    (child, text(&line))
}

/// The address in the line that a check prints when it waits for workers.
pub(crate) fn address(line: &str) -> String {
    line.split_whitespace().skip_while(|word| *word != "--join").nth(1).unwrap().to_string()
}

/// The report of a running check without the name of the engine, and the exit code. It must print no error.
pub(crate) fn finish_report(child: Child) -> (String, i32) {
    let (report, errors, code) = finish(child);
    assert_eq!(errors, "");
    (without_engine(&report), code)
}

/// Waits until a worker has used half a second of processor time: then it is connected, and explores.
pub(crate) fn wait_for_work(process: u32) {
    wait_for("work", || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        // User and system time, in hundredths of a second, are fields 14 and 15; the name may contain spaces.
        let fields = stat.rsplit_once(')').unwrap().1.split_whitespace().skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>() >= 50
    });
}
