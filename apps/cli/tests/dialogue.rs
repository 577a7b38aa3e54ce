//! The simulator on a terminal: editing, history, the end of the input and signals.
#![cfg(unix)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;

const PROGRAM: &str = env!("CARGO_BIN_EXE_masque");

/// Time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A simulation on a terminal of its own.
struct Dialogue {
    child: Child,
    keyboard: File,
    /// The other side of the terminal, which keeps it open.
    terminal: OwnedFd,
    screen: Arc<Mutex<String>>,
    seen: usize,
}

impl Dialogue {
    fn start(args: &[&str], columns: u16, term: &str) -> Dialogue {
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let stdio = || Stdio::from(pty.slave.try_clone().unwrap());
        let mut command = Command::new(PROGRAM);
        command.arg("simulate").args(args).current_dir("tests").env("TERM", term).env_remove("NO_COLOR");
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
        let screen = Arc::new(Mutex::new(String::new()));
        let (mut output, sink) = (File::from(pty.master.try_clone().unwrap()), Arc::clone(&screen));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut bytes) {
                sink.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
            }
        });
        Dialogue { child, keyboard: File::from(pty.master), terminal: pty.slave, screen, seen: 0 }
    }

    fn type_keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a text that was not looked at before.
    fn wait_for(&mut self, part: &str) -> String {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            let screen = self.screen.lock().unwrap()[self.seen..].to_string();
            if let Some(at) = screen.find(part) {
                self.seen += at + part.len();
                return screen[..at + part.len()].to_string();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("no {part:?} in {:?}", self.screen.lock().unwrap());
    }

    fn end(&mut self) -> ExitStatus {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("still running: {:?}", self.screen.lock().unwrap());
    }

    /// Whether the terminal shows what is typed and reads whole lines, as a shell expects it.
    fn is_usual(&self) -> bool {
        let flags = tcgetattr(&self.terminal).unwrap().local_flags;
        flags.contains(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG)
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn lines_are_edited_and_remembered() {
    for columns in [80, 20] {
        let mut dialogue = Dialogue::start(&["models/blind.ispl", "--color", "never"], columns, "xterm");
        dialogue.wait_for("Environment: wait");
        // `stXate`, with the X deleted: three times left, then backspace.
        dialogue.type_keys("stXate\u{1b}[D\u{1b}[D\u{1b}[D\u{7f}\r");
        dialogue.wait_for("#0  Environment.on = false");
        dialogue.type_keys("path\r");
        dialogue.wait_for("  #0  Environment.on = false");
        // Twice up is the command before the last.
        dialogue.type_keys("\u{1b}[A\u{1b}[A\r");
        dialogue.wait_for("\n#0  Environment.on = false");
        dialogue.type_keys("exit\r");
        assert_eq!(dialogue.end().code(), Some(0));
        assert!(dialogue.is_usual());
    }
}

#[test]
fn a_mistake_does_not_end_the_dialogue() {
    let mut dialogue = Dialogue::start(&["models/blind.ispl", "--color", "never"], 100, "xterm");
    dialogue.wait_for("Environment: wait");
    dialogue.type_keys("? AG (lit\r");
    let shown = dialogue.wait_for("<command>:1:10");
    assert!(shown.contains("found the end of the formula"), "{shown}");
    dialogue.type_keys("? lit\r");
    dialogue.wait_for("false");
    dialogue.type_keys("\u{4}");
    assert_eq!(dialogue.end().code(), Some(0));
    assert!(dialogue.is_usual());
}

#[test]
fn interrupts_and_signals_leave_the_terminal_as_it_was() {
    let end = |act: &dyn Fn(&mut Dialogue), term: &str| {
        let mut dialogue = Dialogue::start(&["models/lamp.aut", "--color", "never"], 80, term);
        dialogue.wait_for("press");
        dialogue.wait_for("> ");
        act(&mut dialogue);
        let status = dialogue.end();
        assert!(dialogue.is_usual());
        status.code()
    };
    let signal = |signal| {
        move |dialogue: &mut Dialogue| kill(Pid::from_raw(dialogue.child.id() as i32), signal).unwrap()
    };
    assert_eq!(end(&|dialogue| dialogue.type_keys("\u{3}"), "xterm"), Some(0));
    assert_eq!(end(&|dialogue| dialogue.type_keys("1\u{3}"), "xterm"), Some(0));
    assert_eq!(end(&signal(Signal::SIGTERM), "xterm"), Some(0));
    assert_eq!(end(&signal(Signal::SIGHUP), "xterm"), Some(0));
    // A terminal without an editor.
    assert_eq!(end(&|dialogue| dialogue.type_keys("quit\n"), "dumb"), Some(0));
    assert_eq!(end(&|dialogue| dialogue.type_keys("\u{4}"), "dumb"), Some(0));
    assert_eq!(end(&signal(Signal::SIGTERM), "dumb"), Some(0));
}
