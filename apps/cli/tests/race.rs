//! `--engine race` and `--jobs`: the report does not depend on the winner or the number of threads, and no process
//! outlives a race.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn masque(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_masque"));
    command.args(args).stdin(Stdio::null()).env_remove("NO_COLOR").env("RUST_BACKTRACE", "0");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Number of random systems. Each check starts several processes.
const N_RANDOM: u64 = 60;

/// All models of the gallery and of the tests, except for two that engines cannot finish.
fn models() -> Vec<String> {
    let folders = ["../../models/ispl", "../../models/scale", "tests/models"];
    let mut files: Vec<String> = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path().display().to_string())
        .filter(|path| path.ends_with(".ispl") && !path.contains("rings") && !path.contains("wide"))
        .collect();
    files.sort();
    files
}

/// The report on a file, and the exit code.
fn report(file: &str, options: &[&str]) -> (String, Option<i32>) {
    let mut command = masque(&["check", file, "--format", "json", "--evidence", "all"]);
    let Output { status, stdout, stderr } = command.args(options).output().unwrap();
    assert!(!text(&stderr).contains("bug"), "{file} {options:?}: {}", text(&stderr));
    (text(&stdout), status.code())
}

#[test]
fn a_race_reports_what_its_engines_report() {
    let mut n_models = 0;
    for file in models() {
        let (alone, code) = report(&file, &["--engine", "explicit"]);
        for options in [&["--engine", "race"][..], &["--engine", "race", "--jobs", "3"]] {
            let (raced, raced_code) = report(&file, options);
            let raced = raced.replace(r#""engine": "race""#, r#""engine": "explicit""#);
            assert!(raced == alone && raced_code == code, "{file} {options:?}: {raced}\n{alone}");
        }
        n_models += 1;
    }
    assert!(n_models >= 35, "{n_models}");
}

#[test]
fn races_on_random_systems() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("random.ispl").display().to_string();
    for seed in 0..N_RANDOM {
        fs::write(&file, masque_testkit::random_model(seed)).unwrap();
        let (alone, code) = report(&file, &["--engine", "explicit"]);
        let (raced, raced_code) = report(&file, &["--engine", "race"]);
        let raced = raced.replace(r#""engine": "race""#, r#""engine": "explicit""#);
        assert!(raced == alone && raced_code == code, "seed {seed}: {raced}\n{alone}");
    }
}

#[test]
fn the_number_of_jobs_does_not_change_the_report() {
    for file in models() {
        let alone = report(&file, &["--engine", "explicit", "--jobs", "1"]);
        for jobs in ["2", "4"] {
            let together = report(&file, &["--engine", "explicit", "--jobs", jobs]);
            assert!(together == alone, "{file} {jobs}: {together:?}\n{alone:?}");
        }
    }
}

#[test]
fn a_race_supports_options_and_standard_input() {
    let model = fs::read("tests/models/lamps.ispl").unwrap();
    let options = [
        "-D",
        "N=3",
        "--property",
        "EF all",
        "--at",
        "reachable",
        "--deadlock",
        "stutter",
        "--format",
        "json",
    ];
    let read = |engine: &str| {
        let mut command = masque(&["check", "-", "--engine", engine]);
        let mut child = command.args(options).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&model).unwrap();
        let output = child.wait_with_output().unwrap();
        (text(&output.stdout).replace(engine, "ENGINE"), output.status.code())
    };
    assert_eq!(read("race"), read("symbolic"));
}

/// Only `check` without `--cross-check` can be a race.
#[rustfmt::skip]
#[test]
fn races_are_refused_elsewhere() {
    let check = |args: &[&str], message: &str| {
        let output = masque(args).args(["--engine", "race"]).output().unwrap();
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(output.status.code() == Some(2) && said.contains(message), "{args:?}: {said}");
    };
    check(&["check", "tests/models/light.ispl", "--cross-check"],        "compares all: choose one");
    check(&["bench", "tests/models/light.ispl"],                         "measure them one by one");
    check(&["why", "tests/models/light.ispl"],                           "is for `masque check`");
    check(&["simulate", "tests/models/light.ispl", "--random", "1"],     "is for `masque check`");
    check(&["export", "tests/models/light.ispl"],                        "is for `masque check`");
    check(&["worlds", "../../models/bdi/robot.bdi"],                     "is for `masque check`");
    check(&["check", "../../models/bdi/robot.bdi"],                      "is an option for ISPL files");
    check(&["check", "../../models/lcc/travel.lcc"],                     "is an option for ISPL files");
}

#[cfg(target_os = "linux")]
mod processes {
    use std::time::{Duration, Instant};

    use super::*;

    /// Both engines decide one property at once, and neither decides the other.
    const HARD: &[&str] = &["check", "tests/models/rings.ispl", "-D", "N=40", "--engine", "race"];

    /// The processes whose parent is this one, by `/proc/PID/stat`: `PID (name) state parent ..`.
    fn children(parent: u32) -> Vec<u32> {
        let parent_of = |pid: u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let mut rest = stat.rsplit_once(") ")?.1.split(' ');
            (rest.next()? != "Z").then_some(())?;
            rest.next()?.parse::<u32>().ok()
        };
        let processes = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
        processes.filter(|&pid| parent_of(pid) == Some(parent)).collect()
    }

    fn lives(pid: u32) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    }

    fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !condition() {
            assert!(Instant::now() < end, "{what}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn signal(name: &str, pid: u32) {
        assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
    }

    /// A running race and its two contenders, after enough time to decide one property.
    fn start() -> (std::process::Child, Vec<u32>) {
        let race = masque(HARD)
            .args(["--jobs", "2", "--timeout", "120s"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut contenders = Vec::new();
        wait_until("two contenders start", || {
            contenders = children(race.id());
            contenders.len() == 2
        });
        std::thread::sleep(Duration::from_millis(1_500));
        (race, contenders)
    }

    #[test]
    fn an_interrupt_ends_all_processes_of_a_race() {
        let (race, contenders) = start();
        signal("-INT", race.id());
        let output = race.wait_with_output().unwrap();
        let said = text(&output.stdout);
        assert!(said.contains("holds") && said.contains("unknown(interrupted)"), "{said}");
        assert_eq!(output.status.code(), Some(3));
        assert!(!contenders.iter().any(|&contender| lives(contender)));
    }

    #[test]
    fn no_contender_outlives_a_race_that_is_killed() {
        let (mut race, contenders) = start();
        race.kill().unwrap();
        race.wait().unwrap();
        wait_until("the contenders end", || !contenders.iter().any(|&contender| lives(contender)));
    }

    /// Verdicts of a contender that is killed count.
    #[test]
    fn a_race_keeps_verdicts_of_killed_contenders() {
        let (race, contenders) = start();
        contenders.iter().for_each(|&contender| signal("-KILL", contender));
        let output = race.wait_with_output().unwrap();
        let said = text(&output.stdout);
        assert!(said.contains("holds") && said.contains("unknown(memory)"), "{said}");
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn a_race_respects_its_time_limit() {
        let start = Instant::now();
        let output = masque(HARD).args(["--timeout", "2s"]).output().unwrap();
        let said = text(&output.stdout);
        assert!(said.contains("holds") && said.contains("unknown(timeout)"), "{said}");
        assert_eq!(output.status.code(), Some(3));
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}

#[test]
fn a_contender_without_a_task_is_refused() {
    let output = masque(&["contender"]).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), String::new()));
    assert!(text(&output.stderr).contains("`masque check --engine race` starts it"), "{output:?}");
}
