//! Distributed checks: the same reports as from one process, and one line of output for each error.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::spread::*;
use masque_testkit::{random_fixpoint_model, random_game_model, random_model, random_path_model};

fn models() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let mut paths = Vec::new();
    for folder in ["ispl", "scale"] {
        paths.extend(fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ispl"));
    paths.sort();
    paths
}

#[test]
fn reports_are_those_of_one_process() {
    let models = models();
    assert!(models.len() >= 25, "{}", models.len());
    for model in models {
        let model = model.display().to_string();
        let common = ["check", &model, "--format", "json", "--evidence", "all"];
        let with = |more: [&'static str; 2]| report(&[&common[..], &more].concat());
        let expected = with(["--engine", "explicit"]);
        assert!(!expected.0.contains("\"unsupported\""), "{model}");
        for more in
            [["--processes", "1"], ["--processes", "2"], ["--processes", "3"], ["--engine", "cluster"]]
        {
            assert!(with(more) == expected, "{model}, {more:?}");
        }
    }
}

/// Random systems with formulas of every logic; each starts six processes. `SEEDS=0..300` checks more of them.
#[test]
fn reports_on_random_systems_are_those_of_one_process() {
    let seeds = std::env::var("SEEDS").unwrap_or("0..60".to_string());
    let (from, to) = seeds.split_once("..").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let kinds = [random_model, random_path_model, random_game_model, random_fixpoint_model];
    for seed in from.parse::<u64>().unwrap()..to.parse().unwrap() {
        let model = file(&folder, "random.ispl", &kinds[seed as usize % kinds.len()](seed));
        let common = ["check", &model, "--format", "json", "--evidence", "all"];
        let with = |more: [&'static str; 2]| report(&[&common[..], &more].concat());
        let expected = with(["--engine", "explicit"]);
        for processes in ["1", "2", "3"] {
            assert!(with(["--processes", processes]) == expected, "seed {seed}, {processes} processes");
        }
    }
}

#[test]
fn a_lost_worker_is_reported_and_the_check_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 15);
    let checkpoint = folder.path().join("checkpoint").display().to_string();
    let spread = ["check", &model, "--format", "json", "--processes", "3", "--checkpoint", &checkpoint];
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);

    let child = masque(&[&spread[..], &["--checkpoint-every", "0s"]].concat()).spawn().unwrap();
    let manifest = folder.path().join("checkpoint/manifest.json");
    wait_for("a checkpoint", || manifest.exists());
    let workers = children(child.id());
    assert_eq!(workers.len(), 3);
    let lost = Instant::now();
    signal("KILL", &[workers[1].into()]);
    let (_, said, code) = finish(child);
    assert!(lost.elapsed() < Duration::from_secs(5), "{:?}", lost.elapsed());
    assert_eq!((said.lines().count(), code), (1, 3), "{said}");
    assert!(said.starts_with("error: worker "), "{said}");
    assert!(said.contains(&format!("(process {}) is lost: signal: 9", workers[1])), "{said}");

    let resumed = [&spread[..], &["--resume"]].concat();
    assert!(report(&resumed) == expected);
    // The complete exploration is stored, too, and can be resumed again.
    assert!(report(&resumed) == expected);

    let nowhere = folder.path().join("nowhere").display().to_string();
    for (directory, processes, formula, expected) in [
        (&checkpoint, "3", "EF last", "is of another model or question"),
        (&checkpoint, "2", "", "was made by 3 workers, not 2"),
        (&nowhere, "3", "", "there is no checkpoint in"),
        (&model, "3", "", "cannot be written"),
    ] {
        let mut args = vec!["check", &model, "--processes", processes, "--checkpoint", directory, "--resume"];
        if !formula.is_empty() {
            args.extend(["--property", formula]);
        }
        let output = output(&args);
        let said = text(&output.stderr);
        assert_eq!((said.lines().count(), output.status.code()), (1, Some(3)), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn workers_end_with_their_check() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 18);
    let mut child = masque(&["check", &model, "--processes", "2"]).spawn().unwrap();
    wait_for("two workers", || children(child.id()).len() == 2);
    let workers = children(child.id());
    signal("KILL", &[child.id().into()]);
    child.wait().unwrap();
    wait_for("the end of the workers", || workers.iter().all(is_gone));
}

/// The error about workers that do not start is one line.
#[test]
fn workers_that_do_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let taken = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let local = "shift; exec \"$@\"";
    let unknown = "echo 'ssh: Could not resolve hostname lab9: Name or service not known' >&2; exit 255";
    //  launcher                       hosts                        said
    let cases = [
        ("exec sleep 60", "127.0.0.1".to_string(), "has not started within 0.5 s"),
        (unknown, "lab9".to_string(), "worker 1 of 1 (lab9) could not start: ssh: Could not resolve"),
        ("exit 7", "lab9".to_string(), "worker 1 of 1 (lab9) could not start: exit status: 7"),
        (local, format!("127.0.0.1:{port}"), "could not start: it cannot listen at 0.0.0.0:"),
        ("echo nonsense; sleep 60", "127.0.0.1".to_string(), "worker 1 of 1 (127.0.0.1) could not start"),
    ];
    for (body, hosts, expected) in cases {
        let launcher = launcher(&folder, body);
        let hosts = file(&folder, "hosts.txt", &hosts);
        let within = if expected.contains("within") { "0.5s" } else { "30s" };
        let output = output(&[
            "check",
            &model,
            "--cluster",
            &hosts,
            "--launcher",
            &launcher,
            "--start-within",
            within,
        ]);
        let said = text(&output.stderr);
        assert_eq!((said.lines().count(), output.status.code()), (1, Some(3)), "{said}");
        assert!(said.contains(expected), "{said}\nshould have {expected}");
    }
}

#[test]
fn mistakes_are_bad_input() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let missing = folder.path().join("missing").display().to_string();
    //  arguments                                                     said
    let refused = "give the token with `--token-file FILE` or in the environment variable MASQUE_TOKEN";
    let short = file(&folder, "short", "sesame");
    let cases: [(&[&str], &str); 9] = [
        (&["--processes", "0"], "0 is not in 1..=256"),
        (&["--processes", "100000000"], "100000000 is not in 1..=256"),
        (&["--await-workers", "2", "--token", "open-sesame-open-sesame"], refused),
        (&["--await-workers", "2", "--token-file", &missing], "cannot read the token in"),
        (
            &["--await-workers", "2", "--token-file", &short],
            "must have 16 or more printable ASCII characters",
        ),
        (&["--cluster", &missing], "error[file/not-found]: there is no file"),
        (&["--processes", "2", "--engine", "symbolic"], "distributed checks use the engine `cluster`"),
        (&["--checkpoint", "x"], "--processes"),
        (&["--processes", "2", "--checkpoint", "x", &model], "`--checkpoint` is for one file"),
    ];
    for (options, expected) in cases {
        let output = output(&[&["check", &model], options].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(expected), "{said}\nshould have {expected}");
    }
}

#[test]
fn workers_that_join() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 6);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let (token, other) = ("open-sesame-open-sesame", "open-sesame-shut-sesame");
    let token_file = file(&folder, "token", &format!("{token}\n"));
    let args = ["check", &model, "--format", "json", "--await-workers", "2", "--token-file", &token_file];
    let (child, line) = awaiting(masque(&args));
    assert!(line.starts_with("waiting for 2 workers: masque worker --join 127.0.0.1:"), "{line}");
    let address = address(&line);
    let join = |name: &str, value: &str| {
        let mut worker = masque(&["worker", "--join", &address]);
        match name {
            "MASQUE_TOKEN" => worker.env(name, value),
            _ => worker.args([name, value]),
        };
        worker.spawn().unwrap()
    };
    // A process with a wrong token is not accepted as a worker.
    let (_, errors, code) = finish(join("MASQUE_TOKEN", other));
    let refused = format!("error: the supervisor at {address} cannot be joined: it has another token\n");
    assert_eq!((errors, code), (refused, 3));
    let workers = [join("MASQUE_TOKEN", token), join("--token-file", &token_file)];
    assert!(finish_report(child) == expected);
    for worker in workers {
        assert_eq!(finish(worker).2, 0);
    }
    for args in [&["--token", token][..], &[]] {
        let output = output(&[&["worker", "--join", &address], args].concat());
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("--token-file FILE") && said.contains("MASQUE_TOKEN"), "{said}");
    }
}

/// Without a token, a random one is printed with the command that starts a worker.
#[test]
fn a_random_token() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let (child, line) = awaiting(masque(&["check", &model, "--await-workers", "1"]));
        let token = line.split_whitespace().find_map(|word| word.strip_prefix("MASQUE_TOKEN=")).unwrap();
        assert!(token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
        let worker = masque(&["worker", "--join", &address(&line)]).env("MASQUE_TOKEN", token).spawn();
        assert_eq!(finish(child).2, 1);
        assert_eq!(finish(worker.unwrap()).2, 0);
        tokens.push(token.to_string());
    }
    assert_ne!(tokens[0], tokens[1]);
}

/// Two hosts, simulated by network namespaces with a virtual cable between them.
#[test]
fn two_hosts() {
    let Some(hosts) = Namespaces::new() else {
        println!("network namespaces are not available here: two hosts were not tested");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 10);
    let launcher = launcher(&folder, &hosts.launcher());
    let list = file(&folder, "hosts.txt", "# two machines\n10.231.77.1\n10.231.77.2:9117\n");
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let args = ["check", &model, "--format", "json", "--cluster", &list, "--launcher", &launcher];
    assert!(report(&args) == expected);
}

/// Two workers that reach the supervisor, but no longer each other.
#[test]
fn packets_between_two_workers_vanish() {
    let Some(hosts) = Namespaces::new() else {
        println!("network namespaces are not available here: vanishing packets were not tested");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let launcher = launcher(&folder, &hosts.launcher());
    let list = file(&folder, "hosts.txt", "10.231.77.1\n10.231.77.2\n");
    let args = ["check", &model, "--cluster", &list, "--launcher", &launcher, "--silence", "5s"];
    let child = masque(&args).spawn().unwrap();
    wait_for("two workers", || children(child.id()).len() == 2);
    children(child.id()).into_iter().for_each(wait_for_work);
    let [_, second] = &hosts.names;
    assert!(ip(&format!("-n {second} link set {} down", hosts.wires[1])));
    let lost = Instant::now();
    let (said, errors, code) = finish(child);
    assert_eq!((errors.lines().count(), code), (1, 3), "{errors}");
    assert!(errors.ends_with(" is lost: its connection to another worker has broken\n"), "{errors}");
    assert_eq!(said.matches("unknown(workers)").count(), N_LONG, "{said}");
    // 5 s until the connection is closed, and 5 s until that is reported.
    assert!(lost.elapsed() < Duration::from_secs(60), "{:?}", lost.elapsed());
}

/// Two network namespaces, which are removed on drop.
struct Namespaces {
    names: [String; 2],
    wires: [String; 2],
}

fn ip(args: &str) -> bool {
    let status = Command::new("ip").args(args.split_whitespace()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

impl Namespaces {
    fn new() -> Option<Namespaces> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let (id, number) = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let names = ["a", "b"].map(|end| format!("masque-{id}-{number}{end}"));
        let wires = ["a", "b"].map(|end| format!("mq{id}{number}{end}"));
        if !ip(&format!("netns add {}", names[0])) {
            return None;
        }
        let hosts = Namespaces { names, wires };
        let [first, second] = &hosts.names;
        let mut is_made = ip(&format!("netns add {second}"));
        is_made &= ip(&format!(
            "link add {} netns {first} type veth peer name {} netns {second}",
            hosts.wires[0], hosts.wires[1]
        ));
        for (number, (name, wire)) in hosts.names.iter().zip(&hosts.wires).enumerate() {
            is_made &= ip(&format!("-n {name} addr add 10.231.77.{}/24 dev {wire}", number + 1));
            is_made &= ip(&format!("-n {name} link set {wire} up"));
            is_made &= ip(&format!("-n {name} link set lo up"));
        }
        is_made.then_some(hosts)
    }

    /// The body of a launcher that starts a program in the namespace of its address.
    fn launcher(&self) -> String {
        let [first, second] = &self.names;
        format!(
            "case $1 in 10.231.77.1) host={first};; *) host={second};; esac; shift\nexec ip netns exec $host \"$@\""
        )
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            ip(&format!("netns delete {name}"));
        }
    }
}
