//! `masque bench`: how cost grows with the size of a model.
//!
//! Each row is a `masque check --stats --format json` in a process of its own: the peak of its
//! memory is that of this size alone, and a row that must be ended takes nothing with it.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use masque_driver::{self as driver, OrderChoice, Reorder};
use masque_report::{self as report, BenchRow};

use crate::args::{BenchArgs, Format};
use crate::{Context, Exit};

/// How long after its timeout a child may take to tell what it knows.
const GRACE: Duration = Duration::from_secs(2);
/// How often a child is looked at.
const PULSE: Duration = Duration::from_millis(2);

/// `bench FILE.. -D N=1,2,4`: a row per file and size.
pub fn bench(
    args: &BenchArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.files.iter().any(|file| file == Path::new("-")) {
        bail!("standard input can be read once, and a row is a process of its own; give a file");
    }
    let sweep = match driver::sweep(&args.defines) {
        Ok(sweep) => sweep,
        Err(refused) => {
            context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
            return Ok(Exit::BadInput);
        }
    };
    let mut rows = Vec::new();
    for file in &args.files {
        let mut family = Vec::new();
        for (size, defines) in &sweep.rows {
            if context.interrupt.load(Ordering::Relaxed) {
                break;
            }
            let mut row = measure(args, file, defines)?;
            row.size = *size;
            family.push(row);
        }
        report::grow(&mut family);
        rows.extend(family);
    }
    match args.format {
        Format::Text => report::bench_text(out, sweep.name.as_deref(), &rows)?,
        Format::Json => report::bench_json(out, &rows)?,
    }
    let mut exit = Exit::AllHold;
    rows.iter().for_each(|row| exit.raise(exit_of(row)));
    Ok(exit)
}

fn exit_of(row: &BenchRow) -> Exit {
    match (&row.error, &row.stopped) {
        (Some(_), _) => Exit::BadInput,
        (None, Some(_)) => Exit::Inconclusive,
        (None, None) => Exit::AllHold,
    }
}

/// Runs one size to its end, or to the end of its time.
fn measure(args: &BenchArgs, file: &Path, defines: &[String]) -> anyhow::Result<BenchRow> {
    let program = std::env::current_exe().context("the program does not find itself")?;
    let name = file.display().to_string();
    let start = Instant::now();
    let mut child = command(&program, args, file, defines).spawn().context("a process cannot be started")?;
    let Some(mut stdout) = child.stdout.take() else { bail!("a process has no output") };
    // Its report may be longer than a pipe holds, so it is read while we watch the clock.
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    });
    let deadline = args.work.timeout.and_then(|timeout| start.checked_add(timeout)?.checked_add(GRACE));
    let is_finished = wait(&mut child, deadline)?;
    let time = start.elapsed();
    let status = child.wait()?;
    let bytes = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    if !is_finished {
        return Ok(BenchRow::stopped(&name, args.work.engine.name(), "timeout"));
    }
    Ok(match BenchRow::read(&bytes, time.as_secs_f64()) {
        Some(row) => row,
        // A process that was ended by the system, for its memory most likely, or by a bug of ours.
        None => BenchRow::stopped(&name, args.work.engine.name(), &format!("ended with {status}")),
    })
}

/// Waits for the end of a process (true); ends it itself when the time is up.
fn wait(child: &mut Child, deadline: Option<Instant>) -> std::io::Result<bool> {
    while child.try_wait()?.is_none() {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            child.kill()?;
            return Ok(false);
        }
        std::thread::sleep(PULSE);
    }
    Ok(true)
}

fn command(program: &Path, args: &BenchArgs, file: &Path, defines: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(["check", "--format", "json", "--stats", "--engine", args.work.engine.name()]);
    command.args(["--reorder", if args.work.reorder == Reorder::Never { "never" } else { "auto" }]);
    match &args.work.order {
        OrderChoice::Auto => {}
        OrderChoice::Declared => _ = command.args(["--order", "declared"]),
        OrderChoice::File(path) => _ = command.arg("--order").arg(path),
    }
    if let Some(jobs) = args.work.jobs {
        command.arg("--jobs").arg(jobs.to_string());
    }
    if let Some(strategy) = args.work.parallel_word() {
        command.args(["--parallel", strategy]);
        command.args(args.work.split.iter().flat_map(|names| ["--split", names]));
        command.args(args.work.shared.then_some("--shared"));
        command.args(args.work.parts.iter().flat_map(|parts| ["--parts".to_string(), parts.to_string()]));
    }
    if let Some(timeout) = args.work.timeout {
        command.arg("--timeout").arg(format!("{}ms", timeout.as_millis()));
    }
    if let Some(memory) = args.work.memory {
        command.arg("--memory").arg(memory.to_string());
    }
    for define in defines {
        command.arg("-D").arg(define);
    }
    command.arg("--").arg(file).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}
