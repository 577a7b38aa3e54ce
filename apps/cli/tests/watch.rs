//! `masque watch`: a change is noticed, and what it changes is reported.
#![cfg(unix)]

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const PROGRAM: &str = env!("CARGO_BIN_EXE_masque");

/// Time after which a test fails. What it waits for takes less than a second on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);

const HOLDS: &str = "agent a is loop p := any endloop property one initially: EF p;\n";
const FAILS: &str = "agent a is loop p := any endloop property one initially: AG p;\n";

/// A running `masque watch`, and what it has written so far.
struct Watch {
    child: Child,
    output: Arc<Mutex<String>>,
    /// Number of bytes of the output that were looked at.
    seen: usize,
}

impl Watch {
    fn start(folder: &Path, args: &[&str]) -> Watch {
        let mut child = Command::new(PROGRAM)
            .arg("watch")
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .env_remove("GITHUB_ACTIONS")
            .spawn()
            .unwrap();
        let output = Arc::new(Mutex::new(String::new()));
        let (mut pipe, sink) = (child.stdout.take().unwrap(), Arc::clone(&output));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = pipe.read(&mut bytes) {
                sink.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        Watch { child, output, seen: 0 }
    }

    /// Waits until a check is reported, and returns its report.
    fn report(&mut self) -> String {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let output = self.output.lock().unwrap()[self.seen..].to_string();
            if let Some(end) = output.find("Ctrl-C ends\n") {
                self.seen += end + "Ctrl-C ends\n".len();
                return output[..end].to_string();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("no report in {:?}", self.output.lock().unwrap());
    }

    /// Reports until one satisfies a condition: a slow machine may see a file between two steps of an editor.
    fn report_with(&mut self, part: &str) -> String {
        loop {
            let report = self.report();
            if report.contains(part) {
                return report;
            }
        }
    }

    /// Sends a signal and returns the exit code.
    fn end(mut self, signal: Signal) -> Option<i32> {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        None
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn an_edit_is_checked_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.bdi");
    fs::write(&file, HOLDS).unwrap();
    let mut watch = Watch::start(folder.path(), &["a.bdi"]);
    let first = watch.report();
    assert!(first.starts_with("holds  one  EF p\n") && first.ends_with("watching 1 file; "), "{first}");
    assert!(!first.contains("since the last check") && !first.contains('\u{1b}'), "{first}");

    fs::write(&file, FAILS).unwrap();
    let report = watch.report_with("fails");
    assert!(report.contains("\nchanges since the last check:\n  one  holds -> fails\n"), "{report}");

    // A broken file shows its diagnostics and does not end the command.
    fs::write(&file, "agent a is loop p := any").unwrap();
    let report = watch.report_with("error[bdi/");
    assert!(report.contains("  one  gone: fails\n") && report.contains("  error[bdi/"), "{report}");

    // An editor that saves by renaming.
    fs::write(folder.path().join("a.bdi.tmp"), HOLDS.replace("one", "two")).unwrap();
    fs::rename(folder.path().join("a.bdi.tmp"), &file).unwrap();
    let report = watch.report_with("two");
    assert!(report.contains("  two  new: holds\n") && report.contains("  gone: "), "{report}");

    // A file that is deleted and created again.
    fs::remove_file(&file).unwrap();
    let report = watch.report_with("file/not-found");
    assert!(report.contains("  two  gone: holds\n"), "{report}");
    fs::write(&file, HOLDS).unwrap();
    watch.report_with("  one  new: holds\n");

    // Another file in the folder is none of its business, but a further edit is.
    fs::write(folder.path().join("other.bdi"), FAILS).unwrap();
    thread::sleep(Duration::from_millis(700));
    fs::write(&file, format!("\n{HOLDS}")).unwrap();
    assert!(watch.report().contains("no change since the last check\n"));
    assert_eq!(watch.end(Signal::SIGINT), Some(130));
}

#[test]
fn imports_are_watched() {
    let folder = tempfile::tempdir().unwrap();
    let team = "import \"lib/protocol.lcc\". agent a(hen, h). property p : AF final ;";
    fs::create_dir(folder.path().join("lib")).unwrap();
    fs::write(folder.path().join("team.lcc"), team).unwrap();
    let mut watch = Watch::start(folder.path(), &["team.lcc"]);
    assert!(watch.report().contains("error[lcc/import-not-found]"));
    let protocol = folder.path().join("lib/protocol.lcc");
    fs::write(&protocol, "a(hen, H) :: null.").unwrap();
    watch.report_with("  p  new: holds\n");
    fs::write(&protocol, "a(hen, H) :: null <- fed.").unwrap();
    watch.report_with("  p  holds -> fails\n");
    assert_eq!(watch.end(Signal::SIGTERM), Some(130));
}

/// A check that would take hours is stopped by an edit.
#[test]
fn an_edit_stops_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.lcc");
    let endless = "option states = 1000000000. a(n(N), C) :: null <- M is N + 1 then a(n(M), C).
        agent a(n(0), c). property p : AG !done(c) ;";
    fs::write(&file, endless).unwrap();
    let mut watch = Watch::start(folder.path(), &["a.lcc", "--memory", "4G"]);
    thread::sleep(Duration::from_secs(1));
    assert_eq!(*watch.output.lock().unwrap(), "");
    fs::write(&file, "a(n, C) :: null. agent a(n, c). property p : AF final ;").unwrap();
    assert!(watch.report().starts_with("holds  p  "));
    fs::write(&file, endless).unwrap();
    thread::sleep(Duration::from_secs(1));
    assert_eq!(watch.end(Signal::SIGINT), Some(130));
}

#[test]
fn several_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.bdi"), HOLDS).unwrap();
    fs::write(folder.path().join("b.bdi"), HOLDS).unwrap();
    let mut watch = Watch::start(folder.path(), &["a.bdi", "b.bdi", "--quiet"]);
    assert!(watch.report().ends_with("watching 2 files; "));
    fs::write(folder.path().join("b.bdi"), FAILS).unwrap();
    watch.report_with("  b.bdi: one  holds -> fails\n");
    assert_eq!(watch.end(Signal::SIGHUP), Some(130));
}

#[test]
fn what_cannot_be_watched_is_refused() {
    for (args, message) in [
        (&["-"][..], "standard input cannot be watched"),
        (&["a.ispl", "--format", "json"], "writes its report as text"),
        (&["a.ispl", "--evidence-format", "html"], "--evidence-out FILE"),
        (&["a.ispl", "--quick", "--cross-check"], "choose one"),
    ] {
        let output = Command::new(PROGRAM).arg("watch").args(args).stdin(Stdio::null()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(message), "{error}");
    }
}
