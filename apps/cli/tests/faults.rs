//! Faults of distributed checks: the check is stopped, a limit is hit, a worker stops responding, a disk is full.
//! The verdicts known so far are reported, and all workers end.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::spread::*;
use serde_json::Value;

/// Properties that together take much longer than the tests wait.
fn many_properties(bits: usize) -> Vec<String> {
    let pairs = (0..bits).flat_map(|i| (0..bits).filter(move |j| i != *j).map(move |j| (i, j)));
    pairs.map(|(i, j)| format!("E(!(A.b{i}=true) U (A.b{j}=true and K(A, A.b{j}=true)))")).collect()
}

/// Waits until all workers of a check have started, and returns them.
fn workers(child: &Child, number: usize) -> Vec<u32> {
    wait_for("workers", || children(child.id()).len() == number);
    children(child.id())
}

/// Checks that all workers end soon after their check.
fn assert_workers_end(workers: &[u32]) {
    let start = Instant::now();
    wait_for("the end of the workers", || workers.iter().all(is_gone));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

/// Ctrl-C reaches the process group of a terminal, `kill` a single process, and a job system all processes.
#[test]
fn a_stopped_check_reports_the_verdicts_known_so_far() {
    //   signal, and the processes that receive it
    for (name, to) in [("INT", "group"), ("TERM", "supervisor"), ("TERM", "all")] {
        let folder = tempfile::tempdir().unwrap();
        let model = long_model(&folder, 17);
        let checkpoint = folder.path().join("checkpoint");
        let mut command = masque(&["check", &model, "--processes", "2", "--evidence", "none"]);
        for property in many_properties(17) {
            command.args(["--property", &property]);
        }
        command.arg("--checkpoint").arg(&checkpoint).process_group(0);
        let start = Instant::now();
        let child = command.spawn().unwrap();
        let workers = workers(&child, 2);
        wait_for("the end of exploration", || checkpoint.join("manifest.json").exists());
        // A property takes a twentieth of the time of exploration, all of them ten times as long.
        std::thread::sleep(start.elapsed() / 2);
        let start = Instant::now();
        match to {
            "group" => signal(name, &[-i64::from(child.id())]),
            "supervisor" => signal(name, &[child.id().into()]),
            _ => signal(name, &[workers[0], child.id(), workers[1]].map(i64::from)),
        }
        let (said, errors, code) = finish(child);
        assert_eq!((errors.as_str(), code), ("", 1), "{name} to {to}: {said}");
        assert!(said.contains("\nholds  "), "{name} to {to}: {said}");
        assert!(said.contains("unknown(interrupted)"), "{name} to {to}: {said}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name} to {to}: {:?}", start.elapsed());
        assert_workers_end(&workers);
    }
}

/// A limit or interrupt during the exploration leaves all properties unknown.
#[test]
fn limits_and_interrupts_end_in_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    //   options                                 signal   said
    for (options, name, reason) in [
        (&["--timeout", "2s"][..], None, "timeout"),
        (&["--memory", "1M"][..], None, "memory"),
        (&[][..], Some("INT"), "interrupted"),
    ] {
        let start = Instant::now();
        let child = masque(&[&["check", &model, "--processes", "2"], options].concat()).spawn().unwrap();
        let workers = workers(&child, 2);
        if let Some(name) = name {
            std::thread::sleep(Duration::from_millis(500));
            signal(name, &[child.id().into()]);
        }
        let (said, errors, code) = finish(child);
        assert_eq!((errors.as_str(), code), ("", 3), "{reason}: {said}");
        assert_eq!(said.matches(&format!("unknown({reason})")).count(), N_LONG, "{said}");
        assert!(start.elapsed() < Duration::from_secs(20));
        assert_workers_end(&workers);
    }
}

#[test]
fn a_worker_that_stops_responding_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let child = masque(&["check", &model, "--processes", "2", "--silence", "3s"]).spawn().unwrap();
    let workers = workers(&child, 2);
    std::thread::sleep(Duration::from_millis(500));
    signal("STOP", &[workers[1].into()]);
    let (said, errors, code) = finish(child);
    assert_eq!((errors.lines().count(), code), (1, 3), "{errors}");
    let lost = format!("(process {}) is lost: it has sent nothing for 3 s\n", workers[1]);
    assert!(errors.starts_with("error: worker ") && errors.ends_with(&lost), "{errors}");
    assert_eq!(said.matches("unknown(workers)").count(), N_LONG, "{said}");
    assert_workers_end(&workers);
}

/// The exit code is that of the verdicts: 1 if one of them is `fails`, although others are unknown.
#[test]
fn a_lost_worker_after_a_property_has_failed() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let properties = ["--property", "AG !(A.b0=true)", "--property", "AG EF A.b1=true"];
    let child = masque(&[&["check", &model, "--processes", "2"], &properties[..]].concat()).spawn().unwrap();
    let workers = workers(&child, 2);
    // The first property is decided in the first layer.
    workers.iter().copied().for_each(wait_for_work);
    signal("KILL", &[workers[0].into()]);
    let (said, errors, code) = finish(child);
    assert_eq!((errors.lines().count(), code), (1, 1), "{errors}{said}");
    assert!(errors.contains(" is lost: signal: 9"), "{errors}");
    assert!(said.contains("fails  ") && said.contains("unknown(workers)"), "{said}");
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cluster.md")).unwrap();
    assert!(page.contains("the exit code is 1 if a property has failed by then, and otherwise 3"));
}

/// A check that was itself suspended for longer than `--silence` has lost no worker.
#[test]
fn a_suspended_check_continues() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 18);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let args = ["check", &model, "--format", "json", "--processes", "2", "--silence", "2s"];
    let child = masque(&args).spawn().unwrap();
    workers(&child, 2);
    std::thread::sleep(Duration::from_millis(200));
    signal("STOP", &[child.id().into()]);
    std::thread::sleep(Duration::from_millis(3500));
    signal("CONT", &[child.id().into()]);
    let (said, errors, code) = finish(child);
    assert_eq!(errors, "");
    assert!((without_engine(&said), code) == expected);
}

/// A launcher that does not read its input counts as not started: a large model does not fit into a pipe.
#[test]
fn a_launcher_that_does_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let padded = fs::read_to_string(&model).unwrap() + &"-- padding, padding, padding\n".repeat(20_000);
    let model = file(&folder, "padded.ispl", &padded);
    let launcher = launcher(&folder, "exec sleep 60");
    let hosts = file(&folder, "hosts.txt", "127.0.0.1");
    let args = ["--cluster", &hosts, "--launcher", &launcher, "--start-within", "0.5s"];
    let start = Instant::now();
    let output = output(&[&["check", &model], &args[..]].concat());
    let said = text(&output.stderr);
    assert_eq!((said.lines().count(), output.status.code()), (1, Some(3)), "{said}");
    assert!(said.contains("worker 1 of 1 (127.0.0.1) has not started within 0.5 s"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// Runs a script with a small file system mounted at a folder; none where mounting is not allowed.
fn in_a_small_disk(folder: &Path, script: &str) -> Option<Output> {
    let mut probe = Command::new("unshare");
    let mount = format!("mount -t tmpfs -o size=1m none '{}'", folder.display());
    let is_allowed = probe.args(["-Urm", "sh", "-c", &mount]).stderr(Stdio::null()).status();
    if !is_allowed.is_ok_and(|status| status.success()) {
        return None;
    }
    let script = format!("{mount} && {script}");
    Some(Command::new("unshare").args(["-Urm", "sh", "-c", &script]).output().unwrap())
}

#[test]
fn a_full_disk_is_reported_and_the_last_complete_checkpoint_is_usable() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().join("disk");
    fs::create_dir(&disk).unwrap();
    let model = long_model(&folder, 15);
    let checkpoint = disk.join("checkpoint").display().to_string();
    let check =
        format!("'{PROGRAM}' check '{model}' --format json --processes 2 --checkpoint '{checkpoint}'");
    let larger = format!("mount -o remount,size=100m '{}'", disk.display());
    // Every round is stored, until one does not fit; then there is room again.
    let script = format!(
        "{check} --checkpoint-every 0s >&2; echo exit $?; ls '{checkpoint}'; cat '{checkpoint}/manifest.json'; echo; {larger} && {check} --resume"
    );
    let Some(output) = in_a_small_disk(&disk, &script) else {
        println!("mounts are not available here: a full disk was not tested");
        return;
    };
    let (output_text, errors) = (text(&output.stdout), text(&output.stderr));
    let (before, resumed) = output_text.split_at(output_text.find("{\n").unwrap_or(output_text.len()));
    let line = errors.lines().filter(|line| line.starts_with("error: ")).collect::<Vec<_>>();
    let [line] = line[..] else { panic!("one line of:\n{errors}") };
    assert!(line.starts_with("error: worker "), "{line}");
    let full = format!(": the checkpoint in {checkpoint} cannot be written: No space left on device");
    assert!(line.ends_with(&full), "{line}");
    assert_eq!(errors.matches("\"reason\": \"workers\"").count(), N_LONG, "{errors}");
    // Nothing is there that does not belong to the last whole checkpoint.
    let before: Vec<&str> = before.lines().collect();
    let ["exit 3", "manifest.json", "masque-worker-0.lock", "masque-worker-1.lock", files @ .., manifest] =
        &before[..]
    else {
        panic!("{before:?}")
    };
    let manifest: Value = serde_json::from_str(manifest).unwrap();
    let numbers = manifest["states"].as_array().unwrap();
    assert!(numbers.len() > 1, "{manifest}");
    let named = |worker| numbers.iter().map(move |number| format!("states-{worker}-{number}.part"));
    let mut expected: Vec<String> = named(0).chain(named(1)).collect();
    expected.sort();
    assert_eq!(files, expected);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    assert!((without_engine(resumed), output.status.code().unwrap()) == expected, "{errors}");
}

/// Two running workers whose connection to each other breaks.
#[test]
fn a_broken_connection_between_workers_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let child = masque(&["check", &model, "--processes", "2"]).spawn().unwrap();
    let workers = workers(&child, 2);
    let mut port = None;
    wait_for("a connection", || {
        port = connection_of(workers[1]);
        port.is_some() || !has_sockets_tool()
    });
    let cut = port.map(|port| Command::new("ss").args(["-KHtn", "sport", "=", &format!(":{port}")]).output());
    let is_cut = cut.is_some_and(|cut| cut.is_ok_and(|cut| cut.status.success() && !cut.stdout.is_empty()));
    if !is_cut {
        println!("connections cannot be cut here: a broken one was not tested");
        signal("INT", &[child.id().into()]);
        finish(child);
        return;
    }
    let (said, errors, code) = finish(child);
    assert_eq!((errors.lines().count(), code), (1, 3), "{errors}");
    assert!(errors.ends_with(" is lost: its connection to another worker has broken\n"), "{errors}");
    assert_eq!(said.matches("unknown(workers)").count(), N_LONG, "{said}");
    assert_workers_end(&workers);
}

fn has_sockets_tool() -> bool {
    Command::new("ss").arg("-V").output().is_ok()
}

/// The port at which a process has a connection.
fn connection_of(process: u32) -> Option<u16> {
    let list = Command::new("ss").args(["-Htnp", "state", "established"]).output().ok()?;
    let list = text(&list.stdout);
    let line = list.lines().find(|line| line.contains(&format!("pid={process},")))?;
    line.split_whitespace().nth(2)?.rsplit(':').next()?.parse().ok()
}

/// Threads of workers need large stacks. Conditions and formulas are nested as deeply as files may be, and are
/// otherwise long and flat.
#[test]
fn deep_conditions_and_formulas() {
    let folder = tempfile::tempdir().unwrap();
    let nested = |x: &str, y: &str| format!("{}{x}{}", format!("({y} or !(").repeat(150), "))".repeat(150));
    let flat: Vec<String> = (0..5000).map(|i| format!("(x and n = {})", i % 7)).collect();
    let model = format!(
        "Agent A
           Vars: x : boolean; y : boolean; n : 0..6; end Vars
           Actions = {{a, b}};
           Protocol: Other : {{a, b}}; end Protocol
           Evolution:
             x = !x if ({}) and Action = a;
             y = x if ({}) and Action = b;
             n = n + 1 if n < 6 and Action = b;
           end Evolution
         end Agent
         Evaluation p if {}; q if A.n = 3; end Evaluation
         InitStates A.x = true and A.y = false and A.n = 0; end InitStates
         Formulae {} p; {}p{}; {} q; {}; end Formulae",
        nested("x", "y"),
        flat.join(" or "),
        nested("A.x", "A.y"),
        "AX ".repeat(200),
        "K(A, ".repeat(200),
        ")".repeat(200),
        "AG EF ".repeat(200),
        ["(p -> EF AX q)"; 2000].join(" and "),
    );
    let model = file(&folder, "deep.ispl", &model);
    let common = ["check", &model, "--format", "json", "--evidence", "all"];
    let expected = report(&[&common[..], &["--engine", "explicit"]].concat());
    assert!(expected.0.contains("\"verdict\": \"holds\""), "{}", expected.0);
    for stack in [None, Some("16384")] {
        let mut command = masque(&[&common[..], &["--processes", "2"]].concat());
        // The user may have set a small stack size.
        command.envs(stack.map(|size| ("RUST_MIN_STACK", size)));
        let output = command.output().unwrap();
        assert_eq!(text(&output.stderr), "");
        assert!((without_engine(&text(&output.stdout)), output.status.code().unwrap()) == expected);
    }
}

/// Each layer is stored in a new file; from time to time all layers are merged into one file.
#[test]
fn many_checkpoints_are_few_files() {
    let folder = tempfile::tempdir().unwrap();
    let model = "
        Agent Clock
          Vars: n : 0..150; end Vars
          Actions = {tick};
          Protocol: Other : {tick}; end Protocol
          Evolution: n = n + 1 if n < 150; end Evolution
        end Agent
        Evaluation late if Clock.n = 150; end Evaluation
        InitStates Clock.n = 0; end InitStates
        Formulae AF AG late; K(Clock, !late); end Formulae";
    let model = file(&folder, "clock.ispl", model);
    let checkpoint = folder.path().join("checkpoint");
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let directory = checkpoint.display().to_string();
    let spread = ["check", &model, "--format", "json", "--processes", "2", "--checkpoint", &directory];
    assert!(report(&[&spread[..], &["--checkpoint-every", "0s"]].concat()) == expected);
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(checkpoint.join("manifest.json")).unwrap()).unwrap();
    let n_parts = manifest["states"].as_array().unwrap().len();
    // 151 layers and the end: 64 parts, again 64, and the rest.
    assert!((1..64).contains(&n_parts) && manifest["whole"] == true, "{manifest}");
    let n_states = || {
        let names = fs::read_dir(&checkpoint).unwrap().map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_str().unwrap().starts_with("states-")).count()
    };
    assert_eq!(n_states(), 2 * n_parts);
    // What a killed run leaves is swept up, and what is whole is not stored again.
    fs::write(checkpoint.join("states-1-9999.tmp"), "half").unwrap();
    assert!(report(&[&spread[..], &["--resume"]].concat()) == expected);
    assert_eq!(n_states(), 2 * n_parts);
}
