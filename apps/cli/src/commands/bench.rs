//! `masque bench`: measures how the cost of checking grows with the size of a model.
//!
//! Each row is a `masque check --stats --format json` in its own process, so that its peak memory can be
//! measured, and it can be stopped without affecting other rows.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use masque_driver::{self as driver, EngineChoice, OrderChoice, Reorder, SweepRow};
use masque_report::{self as report, BenchRow};

use super::{NO_THREAD, trace_output};
use crate::args::{BenchArgs, BenchFormat};
use crate::{Context, Exit};

/// Time after its timeout that a child may take to write its report.
const MAX_REPORT_DELAY: Duration = Duration::from_secs(2);
/// Time between two looks at the state of a child.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// `bench FILE.. -D N=1,2,4`: a row per file, engine and combination of parameter values.
pub fn bench(
    args: &BenchArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.files.iter().any(|file| file == Path::new("-")) {
        bail!("`bench` cannot use standard input, because each row reads the model again; give a file");
    }
    if args.engines.contains(&EngineChoice::Race) {
        bail!(
            "`--engines race` is refused, because engines in a race take time from each other; measure them one by one"
        );
    }
    trace_output::refuse_folder(args.plot.as_deref())?;
    let sweep = match driver::sweep(&args.defines) {
        Ok(sweep) => sweep,
        Err(refused) => {
            context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
            return Ok(Exit::BadInput);
        }
    };
    if args.plot.is_some() && sweep.rows.len() < 2 {
        bail!("{}", report::PlotError::NoParameter);
    }
    let engines = if args.engines.is_empty() { vec![args.work.engine] } else { args.engines.clone() };
    let mut rows = Vec::new();
    for file in &args.files {
        for &engine in &engines {
            for row in &sweep.rows {
                if context.interrupt.load(Ordering::Relaxed) {
                    break;
                }
                let measured = measure_repeatedly(args, &RowCheck { file, engine, row }, &context.interrupt)?;
                let sizes = sweep.names.iter().cloned().zip(row.sizes.iter().copied()).collect();
                let size = if let [size] = row.sizes[..] { Some(size) } else { None };
                rows.extend(measured.map(|measured| BenchRow { size, sizes, ..measured }));
            }
        }
    }
    report::grow(&mut rows, &sweep.names);
    match args.format {
        BenchFormat::Text => report::bench_text(out, &rows, &sweep.names)?,
        BenchFormat::Json => report::bench_json(out, &rows, &sweep.names)?,
        BenchFormat::Csv => report::bench_csv(out, &rows, &sweep.names)?,
    }
    let is_interrupted = context.interrupt.load(Ordering::Relaxed);
    let mut exit = if is_interrupted { Exit::Inconclusive } else { Exit::AllHold };
    rows.iter().for_each(|row| exit.raise(exit_of(row)));
    if let Some(path) = &args.plot {
        exit.raise(plot(path, args, &rows, &sweep.names, err)?);
    }
    Ok(exit)
}

/// Draws the rows. Rows of which nothing can be drawn are reported; the table is complete without a plot.
fn plot(
    path: &Path,
    args: &BenchArgs,
    rows: &[BenchRow],
    names: &[String],
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let timeout = args.work.timeout.map(|timeout| timeout.as_secs_f64());
    match report::bench_plot(rows, names, timeout) {
        Ok(svg) => std::fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))?,
        Err(error) => {
            writeln!(err, "error: {error}")?;
            return Ok(Exit::BadInput);
        }
    }
    Ok(Exit::AllHold)
}

/// The check of one row.
struct RowCheck<'a> {
    file: &'a Path,
    engine: EngineChoice,
    row: &'a SweepRow,
}

/// Measures a row as often as requested, or until a measurement is stopped. Returns none if the user interrupts first.
fn measure_repeatedly(
    args: &BenchArgs,
    check: &RowCheck<'_>,
    interrupt: &AtomicBool,
) -> anyhow::Result<Option<BenchRow>> {
    let mut measured = Vec::new();
    for _ in 0..args.repeat {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        let row = measure(args, check, interrupt)?;
        let is_last = row.stopped.is_some() || row.error.is_some();
        measured.push(row);
        if is_last {
            break;
        }
    }
    Ok(BenchRow::median(measured))
}

fn exit_of(row: &BenchRow) -> Exit {
    match (&row.error, &row.stopped) {
        (Some(_), _) => Exit::BadInput,
        (None, Some(_)) => Exit::Inconclusive,
        (None, None) => Exit::AllHold,
    }
}

/// Checks one row in a child process, until it ends, its time is over, or the user interrupts.
fn measure(args: &BenchArgs, check: &RowCheck<'_>, interrupt: &AtomicBool) -> anyhow::Result<BenchRow> {
    let program = std::env::current_exe().context("cannot locate the `masque` executable")?;
    let (name, engine) = (check.file.display().to_string(), check.engine.name());
    let start = Instant::now();
    let mut child = command(&program, args, check).spawn().context("cannot start a process")?;
    let Some(mut stdout) = child.stdout.take() else { bail!("the process has no output") };
    // The report may be longer than the buffer of a pipe, so another thread reads it.
    let read = move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).map(|_| bytes)
    };
    let reader = match Builder::new().name("report".to_string()).spawn(read) {
        Ok(reader) => reader,
        Err(error) => {
            child.kill()?;
            child.wait()?;
            return Err(error).context(NO_THREAD);
        }
    };
    let timeout = args.work.timeout;
    let deadline = timeout.and_then(|timeout| start.checked_add(timeout)?.checked_add(MAX_REPORT_DELAY));
    let stopped = wait(&mut child, deadline, interrupt)?;
    let time = start.elapsed();
    let status = child.wait()?;
    let bytes = reader.join().ok().and_then(Result::ok).unwrap_or_default();
    if let Some(reason) = stopped {
        return Ok(BenchRow::stopped(&name, engine, reason));
    }
    Ok(match BenchRow::read(&bytes, time.as_secs_f64()) {
        Some(row) => row,
        // The operating system killed the process, most likely for its memory use, or it hit a bug.
        None => BenchRow::stopped(&name, engine, &format!("ended with {status}")),
    })
}

/// Waits for the end of a process. Kills it and returns the reason if the deadline passes or the user interrupts.
fn wait(
    child: &mut Child,
    deadline: Option<Instant>,
    interrupt: &AtomicBool,
) -> std::io::Result<Option<&'static str>> {
    while child.try_wait()?.is_none() {
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let is_interrupted = interrupt.load(Ordering::Relaxed);
        if is_late || is_interrupted {
            child.kill()?;
            return Ok(Some(if is_interrupted { "interrupted" } else { "timeout" }));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(None)
}

fn command(program: &Path, args: &BenchArgs, check: &RowCheck<'_>) -> Command {
    let mut command = Command::new(program);
    // The child ends when its input does, so that it does not outlive this process.
    command.args(["check", "--end-with-input", "--format", "json", "--stats"]);
    command.args(["--engine", check.engine.name()]);
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
        command.arg("--memory").arg(format!("{memory}B"));
    }
    for define in &check.row.defines {
        command.arg("-D").arg(define);
    }
    for path in &args.property_files {
        command.arg("--properties").arg(path);
    }
    command.arg("--").arg(check.file).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}
