//! Signals: a command that is interrupted, terminated or killed leaves no process behind.
#![cfg(target_os = "linux")]

use std::process::{Child, Stdio};

use crate::spread::*;

/// A command that takes long, with its child processes. It is killed if the test fails.
struct Running {
    process: Child,
    children: Vec<u32>,
}

impl Drop for Running {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

impl Running {
    /// Starts a command and waits until it has this many children.
    fn start(args: &[&str], n_children: usize) -> Running {
        let mut command = masque(args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().unwrap();
        let mut running = Running { process, children: Vec::new() };
        wait_for("the children", || {
            running.children = children(running.process.id());
            running.children.len() == n_children
        });
        running
    }

    /// Sends signals to the process alone, waits until no process is left, and returns the exit code.
    fn end(mut self, signals: &[&str]) -> Option<i32> {
        for name in signals {
            signal(name, &[self.process.id().into()]);
        }
        let code = self.process.wait().unwrap().code();
        wait_for("the end of the children", || self.children.iter().all(is_gone));
        code
    }
}

/// Commands that take minutes, with their numbers of child processes.
fn commands(model: &str) -> [(Vec<&str>, usize); 2] {
    [(vec!["bench", model], 1), (vec!["check", model, "--engine", "race", "--jobs", "3"], 3)]
}

#[test]
fn interrupts_end_the_children() {
    let folder = tempfile::tempdir().unwrap();
    for (args, n_children) in commands(&hard_model(&folder)) {
        for signals in [&["INT"][..], &["TERM"], &["HUP"]] {
            let code = Running::start(&args, n_children).end(signals);
            // A race may have found a property that fails.
            assert!(matches!(code, Some(1 | 3)), "{signals:?} to {args:?}: {code:?}");
        }
    }
}

/// No process can act on this signal: the children notice that their parent is gone.
#[test]
fn a_killed_process_leaves_no_child() {
    let folder = tempfile::tempdir().unwrap();
    for (args, n_children) in commands(&hard_model(&folder)) {
        assert_eq!(Running::start(&args, n_children).end(&["KILL"]), None, "{args:?}");
    }
}

/// A race sends its children a model that takes long to load.
#[test]
fn children_that_load_a_model_end_too() {
    let folder = tempfile::tempdir().unwrap();
    let lines: String = (0..200_000).map(|i| format!("x = {} if x = {};\n", (i + 1) % 8, i % 8)).collect();
    let model = format!(
        "Agent A Vars: x : 0..7; end Vars Actions = {{a}}; Protocol: Other : {{a}}; end Protocol
         Evolution: {lines} end Evolution end Agent Evaluation p if A.x = 1; end Evaluation
         InitStates A.x = 0; end InitStates Formulae AG EF p; end Formulae"
    );
    let path = file(&folder, "lines.ispl", &model);
    let args = ["check", &path, "--engine", "race", "--jobs", "3"];
    for name in ["KILL", "TERM"] {
        Running::start(&args, 3).end(&[name]);
    }
}

/// A process of a race leaves the signals of a terminal to its parent, and ends when that does.
#[test]
fn a_contender_ends_with_its_parent_only() {
    let folder = tempfile::tempdir().unwrap();
    let model = hard_model(&folder);
    let [_, (args, n_children)] = commands(&model);
    let running = Running::start(&args, n_children);
    let child = running.children[0];
    wait_for("the handler", || handles_interrupts(child));
    signal("INT", &[child.into()]);
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(!is_gone(&child));
    assert!(matches!(running.end(&["TERM"]), Some(1 | 3)));
}
