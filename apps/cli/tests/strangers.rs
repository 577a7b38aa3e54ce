//! Connections to a distributed check: strangers, what an observer sees, and networks that lose packets.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::spread::*;

const TOKEN: &str = "open-sesame-open-sesame";

fn with_token(mut command: Command) -> Command {
    command.env("MASQUE_TOKEN", TOKEN);
    command
}

fn join(address: &str) -> Child {
    with_token(masque(&["worker", "--join", address])).spawn().unwrap()
}

/// Peak resident memory of a process in MB.
fn peak_megabytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// Sends a byte from time to time until the connection is closed or the test is over.
fn drip(mut stream: TcpStream, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) && stream.write_all(&[1]).is_ok() {
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// Silent, dripping and verbose strangers take neither the time nor the memory of a check.
#[test]
fn strangers_do_not_delay_workers() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 6);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let args = ["check", &model, "--format", "json", "--await-workers", "2", "--start-within", "100s"];
    let (child, line) = awaiting(with_token(masque(&args)));
    let address = address(&line);
    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let (found, memory) = std::thread::scope(|scope| {
        let stranger = || TcpStream::connect(&address).unwrap();
        let _silent: Vec<TcpStream> = (0..100).map(|_| stranger()).collect();
        for _ in 0..5 {
            let (stream, is_over) = (stranger(), &is_over);
            scope.spawn(move || drip(stream, is_over));
        }
        let mut verbose = stranger();
        _ = verbose.write_all(&(1_u32 << 30).to_le_bytes());
        for _ in 0..256 {
            _ = verbose.write_all(&vec![b' '; 1 << 20]);
        }
        let memory = peak_megabytes(child.id());
        let workers = [join(&address), join(&address)];
        let found = finish_report(child);
        is_over.store(true, Ordering::Relaxed);
        for worker in workers {
            assert_eq!(finish(worker).2, 0);
        }
        (found, memory)
    });
    assert!(found == expected);
    // Each silent connection used to take five seconds, one after the other.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(memory < 200, "{memory} MB");
}

#[test]
fn the_time_to_start_is_obeyed_with_strangers() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let args = ["check", &model, "--await-workers", "1", "--start-within", "2s"];
    let start = Instant::now();
    let (child, line) = awaiting(masque(&args));
    let address = address(&line);
    let is_over = AtomicBool::new(false);
    let (said, code) = std::thread::scope(|scope| {
        for opening in [&b""[..], &[200, 0, 0, 0], b"GET / HTTP/1.1\r\n"] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.write_all(opening).unwrap();
            let is_over = &is_over;
            scope.spawn(move || drip(stream, is_over));
        }
        let (_, said, code) = finish(child);
        is_over.store(true, Ordering::Relaxed);
        (said, code)
    });
    assert_eq!((said.lines().count(), code), (1, 3), "{said}");
    assert!(said.starts_with("error: only 0 of 1 workers have joined at "), "{said}");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

/// A message with its length.
fn read_frame(stream: &mut TcpStream) -> Vec<u8> {
    let mut frame = vec![0; 4];
    stream.read_exact(&mut frame).unwrap();
    let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]);
    stream.take(length.into()).read_to_end(&mut frame).unwrap();
    frame
}

/// A worker does not obey a supervisor that does not know the token, and does not show it the token.
#[test]
fn a_false_supervisor_learns_nothing() {
    let nonce = "0".repeat(64);
    // The greeting of the right version comes from a real check.
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 4);
    let (child, line) = awaiting(with_token(masque(&["check", &model, "--await-workers", "1"])));
    let greeting = read_frame(&mut TcpStream::connect(address(&line)).unwrap());
    signal("INT", &[child.id().into()]);
    finish(child);
    let frame = |text: String| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let setup = frame(format!("{{\"Setup\":{{\"payload\":\"{}\"}}}}", "x".repeat(10_000)));
    //   first message, second message, said
    let cases = [
        (greeting.clone(), frame(format!("{{\"Accepted\":\"{nonce}\"}}")), "it does not know the token"),
        (greeting, setup.clone(), "it is not a check of masque"),
        (setup, Vec::new(), "it is not a check of masque"),
        (
            frame(format!("{{\"protocol\":\"masque 9\",\"nonce\":\"{nonce}\"}}")),
            Vec::new(),
            "it speaks `masque 9`",
        ),
    ];
    for (first, second, expected) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let worker = join(&listener.local_addr().unwrap().to_string());
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(&first).unwrap();
        let mut received = Vec::new();
        if !second.is_empty() {
            received.extend(read_frame(&mut stream));
            _ = stream.write_all(&second);
        }
        _ = stream.read_to_end(&mut received);
        let (_, said, code) = finish(worker);
        assert_eq!((said.lines().count(), code), (1, 3), "{said}");
        assert!(said.contains(expected), "{said}\nshould have {expected}");
        assert!(!String::from_utf8_lossy(&received).contains(TOKEN));
    }
}

/// A connection between a worker and its supervisor through a process that forwards all bytes, until it stops
/// forwarding without closing anything: what a network does whose packets vanish.
struct Proxy {
    address: String,
    is_stopped: Arc<AtomicBool>,
    /// All bytes in both directions.
    seen: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    fn new(to: &str) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (to, is_stopped, seen) = (to.to_string(), Arc::default(), Arc::default());
        let proxy = Proxy { address, is_stopped, seen };
        let (is_stopped, seen) = (Arc::clone(&proxy.is_stopped), Arc::clone(&proxy.seen));
        std::thread::spawn(move || {
            for inside in listener.incoming().flatten() {
                let Ok(outside) = TcpStream::connect(&to) else { continue };
                for (from, to) in [(&inside, &outside), (&outside, &inside)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (is_stopped, seen) = (Arc::clone(&is_stopped), Arc::clone(&seen));
                    std::thread::spawn(move || forward(from, to, &is_stopped, &seen));
                }
            }
        });
        proxy
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, is_stopped: &AtomicBool, seen: &Mutex<Vec<u8>>) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        let n_bytes = from.read(&mut bytes).unwrap_or(0);
        while is_stopped.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
        }
        seen.lock().unwrap().extend_from_slice(&bytes[..n_bytes]);
        if n_bytes == 0 || to.write_all(&bytes[..n_bytes]).is_err() {
            _ = to.shutdown(Shutdown::Both);
            return;
        }
    }
}

/// The token is neither on a command line nor on the network.
#[test]
fn an_observer_does_not_see_the_token() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 14);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let args = ["check", &model, "--format", "json", "--await-workers", "2"];
    let (child, line) = awaiting(with_token(masque(&args)));
    assert!(!line.contains(TOKEN), "{line}");
    let proxy = Proxy::new(&address(&line));
    let workers = [join(&proxy.address), join(&proxy.address)];
    for process in [child.id(), workers[0].id(), workers[1].id()] {
        let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains("sesame"));
    }
    assert!(finish_report(child) == expected);
    for worker in workers {
        assert_eq!(finish(worker).2, 0);
    }
    let seen = String::from_utf8_lossy(&proxy.seen.lock().unwrap()).into_owned();
    assert!(seen.contains("Setup") && seen.contains("proof"), "nothing seen");
    assert!(!seen.contains("sesame"));
}

/// Both ends notice that nothing arrives, although their connection is open.
#[test]
fn packets_that_vanish_are_noticed_at_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 22);
    let args = ["check", &model, "--await-workers", "1", "--silence", "3s"];
    let (child, line) = awaiting(with_token(masque(&args)));
    let proxy = Proxy::new(&address(&line));
    let worker = join(&proxy.address);
    wait_for_work(worker.id());
    proxy.is_stopped.store(true, Ordering::Relaxed);
    let start = Instant::now();
    let (said, errors, code) = finish(child);
    assert_eq!((errors.lines().count(), code), (1, 3), "{errors}");
    assert!(errors.ends_with(" is lost: it has sent nothing for 3 s\n"), "{errors}");
    assert_eq!(said.matches("unknown(workers)").count(), N_LONG, "{said}");
    let (_, errors, code) = finish(worker);
    assert_eq!((errors.as_str(), code), ("error: the supervisor has sent nothing for 3 s\n", 3));
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
}

/// Ctrl-Z for longer than workers wait for their supervisor: they were informed.
#[test]
fn a_suspended_supervisor_keeps_its_workers() {
    let folder = tempfile::tempdir().unwrap();
    let model = long_model(&folder, 16);
    let expected = report(&["check", &model, "--format", "json", "--engine", "explicit"]);
    let checkpoint = folder.path().join("checkpoint");
    let mut check = masque(&["check", &model, "--format", "json", "--await-workers", "1", "--silence", "2s"]);
    check.arg("--checkpoint").arg(&checkpoint).args(["--checkpoint-every", "0s"]);
    let (child, line) = awaiting(with_token(check));
    let worker = join(&address(&line));
    wait_for("the exploration", || checkpoint.join("manifest.json").exists());
    signal("TSTP", &[child.id().into()]);
    let stat = format!("/proc/{}/stat", child.id());
    wait_for("the stop", || fs::read_to_string(&stat).unwrap().contains(") T "));
    std::thread::sleep(Duration::from_secs(5));
    signal("CONT", &[child.id().into()]);
    assert!(finish_report(child) == expected);
    assert_eq!(finish(worker).2, 0);
}
