//! The binary itself: exit codes, streams, signals.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

fn masque(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR").env("RUST_BACKTRACE", "0");
    command
}

fn output(args: &[&str]) -> Output {
    masque(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Runs a command and returns its exit code. The command must not panic.
fn exit_code(args: &[&str]) -> i32 {
    let output = output(args);
    let code = output.status.code().unwrap();
    assert!(!text(&output.stderr).contains("bug"), "{args:?}: {}", text(&output.stderr));
    code
}

/// A folder with a file of these bytes.
fn file(bytes: &[u8]) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("m.ispl");
    std::fs::write(&path, bytes).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

#[rustfmt::skip]
#[test]
fn exit_codes() {
    let check = |args: &[&str], expected| assert_eq!(exit_code(args), expected, "{args:?}");
    check(&["check", "tests/models/light.ispl"],                                    0);
    check(&["check", "tests/models/silent.ispl"],                                   0);
    check(&["check", "--parse-only", "tests/models/blind.ispl"],                    0);
    check(&["check", "tests/models/blind.ispl"],                                    1);
    check(&["check", "tests/models/unfair.ispl"],                                   3);
    check(&["check", "tests/models/light.ispl", "--timeout", "0s"],                 3);
    check(&["check", "tests/models/unfair.ispl", "tests/models/blind.ispl"],        1);
    check(&["check", "tests/models/blind.ispl", "tests/models/wrong.ispl"],         2);
    check(&["check", "tests/models/stop.ispl"],                                     0);
    check(&["check", "tests/models/stop.ispl", "--deny", "warnings"],               2);
    check(&["check", "tests/models/impossible.ispl"],                               2);
    check(&["check", "tests/models/missing.ispl"],                                  2);
    check(&["check", "tests/models"],                                               2);
    check(&["check", "tests/models/lamps.ispl", "-D", "N"],                         2);
    check(&["check", "tests/models/lamps.ispl", "-D", "N=x"],                       2);
    check(&["check", "tests/models/lamps.ispl", "-D", "M=1"],                       2);
    check(&["check", "tests/models/lamps.ispl", "-D", "N=0"],                       2);
    check(&["check", "tests/models/lamps.ispl", "-D", "N=99999999999999999999"],    2);
    check(&["check", "tests/models/light.ispl", "--property", "AG ("],              2);
    check(&["check"],                                                               2);
    check(&["check", "tests/models/light.ispl", "--timeout", "later"],              2);
    check(&["check", "tests/models/lamps.ispl", "--order", "tests/models/missing"],  2);
    check(&["check", "tests/models/blind.ispl", "--cross-check"],                   1);
    check(&["bench", "tests/models/lamps.ispl", "-D", "N=2,x"],                     2);
    check(&["bench", "-"],                                                          2);
    check(&["fmt", "--check", "tests/models/light.ispl"],                           1);
    check(&["fmt", "--check", "tests/models/broken.ispl"],                          2);
    check(&["explain", "no/such-code"],                                             2);
    check(&["explain"],                                                             0);
    check(&["--help"],                                                              0);
    check(&["--version"],                                                           0);
    check(&["schema"],                                                              0);
}

#[test]
fn bad_files_are_one_message_and_exit_2() {
    let brackets = format!("Formulae {}p{}; end Formulae", "(".repeat(100_000), ")".repeat(100_000));
    let letters = "x y ".repeat(12_500_000);
    let cases: [(&[u8], &str); 5] = [
        (b"", "file/empty"),
        (b"Agent \xc3(", "file/not-text"),
        (b"\x7fELF\x00\x01", "file/not-text"),
        (letters.as_bytes(), "ispl/unexpected-token"),
        (brackets.as_bytes(), "ispl/too-deep"),
    ];
    for (bytes, code) in cases {
        let (_folder, path) = file(bytes);
        for command in ["check", "fmt"] {
            let output = output(&[command, &path]);
            assert_eq!(output.status.code(), Some(2), "{command}: {code}");
            let (said, silent) = match command {
                "check" => (output.stdout, output.stderr),
                _ => (output.stderr, output.stdout),
            };
            assert!(silent.is_empty() && said.len() < 4_000, "{command}: {code}");
            assert!(text(&said).contains(code), "{command}: {code}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "left alone");
    }
}

#[test]
fn a_bench_has_a_row_for_each_size() {
    let run = output(&["bench", "tests/models/lamps.ispl", "-D", "N=2,4,8", "--engine", "symbolic"]);
    let table = text(&run.stdout);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(run.status.code(), Some(0), "{table}");
    assert!(rows[0].starts_with(&["all", "rows:", "file"]) && table.contains("answers 1 holds\n"), "{table}");
    assert!(rows[1].starts_with(&["N"]) && rows[1].contains(&"ratio"), "{table}");
    assert_eq!([rows[2][0], rows[3][0], rows[4][0]], ["2", "4", "8"]);
    assert!(rows[4].contains(&"256"), "{table}");
    let args = ["bench", "tests/models/lamps.ispl", "-D", "N=2,4", "--format", "json"];
    let report: serde_json::Value = serde_json::from_slice(&output(&args).stdout).unwrap();
    assert_eq!(report["schema"], "masque.bench/1");
    assert_eq!(report["rows"][1]["states"], "16");
    assert!(report["rows"][1]["exponent"].is_number() && report["rows"][0]["exponent"].is_null());
}

#[test]
fn a_bench_of_several_files_and_of_bad_ones() {
    let run = output(&["bench", "tests/models/light.ispl", "tests/models/blind.ispl"]);
    let table = text(&run.stdout);
    assert_eq!(run.status.code(), Some(0), "a property that fails is measured, too");
    assert!(table.contains("\nfile ") && table.contains("3 fail"), "{table}");
    let run = output(&["bench", "tests/models/light.ispl", "tests/models/wrong.ispl"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stdout).contains("error[ispl/unknown-action]"));
    let (_folder, path) = file(ENDLESS.as_bytes());
    let run = output(&["bench", &path, "-D", "N=1,40", "--engine", "explicit", "--timeout", "300ms"]);
    assert_eq!(run.status.code(), Some(3));
    assert!(text(&run.stdout).contains("1 unknown(timeout)\n"), "{}", text(&run.stdout));
}

#[test]
fn json_has_standard_output_for_itself() {
    let args = ["check", "tests/models/wrong.ispl", "tests/models/stop.ispl", "--format", "json", "-v"];
    let output = output(&args);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], "masque.check/1");
    assert_eq!(report["runs"].as_array().unwrap().len(), 2);
    assert!(output.stderr.is_empty(), "times are shown only on a terminal");
}

#[test]
fn standard_input_is_a_file() {
    let pipe = |args: &[&str]| {
        let mut child = masque(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let model = std::fs::read("tests/models/light.ispl").unwrap();
        child.stdin.take().unwrap().write_all(&model).unwrap();
        let output = child.wait_with_output().unwrap();
        (text(&output.stdout), output.status.code())
    };
    let (formatted, code) = pipe(&["fmt", "-"]);
    assert!(code == Some(0) && formatted.contains("Agent Lamp"), "{formatted}");
    assert_eq!(pipe(&["fmt", "--check", "-"]), ("<stdin>\n".to_string(), Some(1)));
    let (report, code) = pipe(&["check", "-"]);
    assert!(code == Some(0) && report.ends_with("<stdin>: 3 hold; 2 states\n"), "{report}");
}

#[test]
fn colours_are_used_on_terminals_or_on_request() {
    let has_colour = |command: &mut Command| command.output().unwrap().stdout.contains(&0x1b);
    let check = ["check", "tests/models/stop.ispl"];
    assert!(!has_colour(&mut masque(&check)));
    assert!(has_colour(masque(&check).args(["--color", "always"])));
    assert!(!has_colour(masque(&check).args(["--color", "never"])));
    assert!(!has_colour(masque(&check).env("NO_COLOR", "1")));
    assert!(has_colour(masque(&check).env("CLICOLOR_FORCE", "1")));
    assert!(!has_colour(masque(&check).env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1")));
}

/// A model with 10^40 states.
const ENDLESS: &str = "
    param N = 40;
    Agent Dial[i in 1..N]
      Vars: at : 0..9; end Vars
      Actions = {turn, stay};
      Protocol: Other : {turn, stay}; end Protocol
      Evolution: at = (at + 1) mod 10 if Action = turn; end Evolution
    end Agent
    Evaluation zero if Dial[1].at = 0; end Evaluation
    InitStates forall(i in 1..N : Dial[i].at = 0); end InitStates
    Formulae AG zero; end Formulae";

#[test]
fn a_timeout_is_kept() {
    let (_folder, path) = file(ENDLESS.as_bytes());
    let start = Instant::now();
    let output = output(&["check", &path, "--engine", "explicit", "--timeout", "500ms"]);
    assert!(start.elapsed() < Duration::from_millis(2_000), "{:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).starts_with("unknown(timeout)  1  AG zero\n"));
}

#[test]
fn a_memory_limit_is_kept() {
    let (_folder, path) = file(ENDLESS.as_bytes());
    let output = output(&["check", &path, "--engine", "explicit", "--memory", "20M", "--timeout", "60s"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).starts_with("unknown(memory)  1  AG zero\n"));
}

/// Checks a model whose second property needs diagrams of unbounded size. Returns the verdicts and the exit code.
/// The check must end within a minute.
fn check_rings(args: &[&str]) -> (Vec<String>, Option<i32>) {
    let mut child = masque(&["check", "tests/models/rings.ispl", "--engine", "symbolic"])
        .args(args)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let verdict = |line: &str| line.contains("  EF ").then(|| line.split("  ").next().unwrap().to_string());
    (text(&output.stdout).lines().filter_map(verdict).collect(), output.status.code())
}

#[rustfmt::skip]
#[test]
fn limits_of_diagrams_leave_what_is_decided() {
    let check = |args: &[&str], expected: &str, code| {
        let (verdicts, found) = check_rings(args);
        assert_eq!((verdicts.join(" "), found), (expected.to_string(), Some(code)), "{args:?}");
    };
    check(&["-D", "N=4"], "holds fails", 1);
    check(&["--memory", "4M"], "holds unknown(memory)", 3);
    check(&["--memory", "4M", "--property", "EF false"], "holds unknown(memory) fails", 1);
    check(&["-D", "N=40", "--timeout", "2s"], "holds unknown(timeout)", 3);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_what_is_known() {
    let (_folder, path) = file(ENDLESS.as_bytes());
    let child =
        masque(&["check", "--engine", "explicit", "tests/models/light.ispl", &path, "--timeout", "60s"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_millis(2_000));
    let said = text(&output.stdout);
    assert!(said.contains("holds  1  EF lit") && said.contains("unknown(interrupted)  1  AG zero"), "{said}");
    assert_eq!(output.status.code(), Some(3));
}

#[cfg(unix)]
#[test]
fn a_reader_may_stop_reading() {
    for (file, code) in [("light", 0), ("blind", 1)] {
        let model = format!("tests/models/{file}.ispl");
        let mut child = masque(&["check", &model, "--format", "json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((text(&output.stderr), output.status.code()), (String::new(), Some(code)));
    }
}

/// Help that is cut by a closed pipe ends without a message.
#[cfg(unix)]
#[test]
fn a_reader_of_help_may_stop_reading() {
    for args in [["help", "check"].as_slice(), &["check", "--help"], &["--version"]] {
        let mut child = masque(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // The pipe is closed before anything is written, or after at most one buffer.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{args:?}");
    }
}

/// Commands of a simulation from a pipe: the end of input ends it, a bad one is exit 2.
#[test]
fn a_simulation_reads_standard_input() {
    let simulate = |commands: &str| {
        let mut command = masque(&["simulate", "tests/models/stop.ispl"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (text(&output.stdout), output.status.code())
    };
    let (report, code) = simulate("1\n? full");
    assert!(code == Some(0) && report.contains("> ? full\nfalse\n"), "{report}");
    let (report, code) = simulate("1\n  jump\n");
    assert!(code == Some(2) && report.contains("<stdin>:2:3"), "{report}");
    // A question that is refused does not end the walk; a step that is refused does.
    let (report, code) = simulate("? ful\n1\n7\n1\n");
    assert!(code == Some(2) && report.contains("<stdin>:1:3") && report.contains("<stdin>:3:1"), "{report}");
    assert!(report.contains("#1  Counter.n = 1") && !report.contains("#2"), "{report}");
    assert_eq!(exit_code(&["simulate", "-"]), 2);
}
