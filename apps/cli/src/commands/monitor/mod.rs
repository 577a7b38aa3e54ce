//! `masque monitor`: compares a log with a model while agents interact.
//!
//! A thread with a large stack reads the log and judges its records; the thread of the handler writes. So a slow
//! reader of the output slows the work down, and a closed pipe ends it.
//!
//! | file | does |
//! |---|---|
//! | `mod` | the command, from its arguments to its exit |
//! | `model` | the model and the map |
//! | `input` | bytes from a file, a followed file or a stream |
//! | `run` | from bytes to lines of the result |

mod input;
mod model;
mod run;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread::Builder;

use anyhow::{Context as _, bail};
use masque_monitor::ispl::NotOpened;
use masque_report::{MonitorLine, MonitorPage, MonitorSummary, MonitorText};
use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::Stop;

use self::input::Input;
use self::model::{Opened, OpenedModel, open};
use self::run::{Run, watch};
use super::NO_THREAD;
use crate::args::{Format, MonitorArgs};
use crate::{Context, Exit};

/// Number of lines of the result that may wait to be written.
const MAX_WAITING_LINES: usize = 1000;
/// Stack size in bytes of the thread that judges records, because terms may be deeply nested.
const STACK_BYTES: usize = 64 << 20;

/// `monitor FILE.. --input LOG`: a line for each event that matters, and a summary.
pub fn monitor(
    args: &MonitorArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let is_input = |path: &Path| path == Path::new("-");
    if is_input(&args.input) && args.files.iter().any(|file| is_input(file)) {
        bail!("the model and the log cannot both be standard input; give a file for one of them");
    }
    let opened = match open(args, context, err)? {
        Ok(opened) => opened,
        Err(exit) => return Ok(exit),
    };
    // The page is created now, so that a folder that does not exist is not noticed at the end of a long log.
    let page = match &args.html {
        Some(path) => Some(File::create(path).with_context(|| format!("cannot write {}", path.display()))?),
        None => None,
    };
    let log = match Input::open(&args.input, args.follow) {
        Ok(log) => log,
        Err(error) => {
            let message = format!("the log {} cannot be read: {error}", args.input.display());
            return refused(context, err, "monitor/no-log", &message);
        }
    };
    let mut writer = Writer::new(args, context, page);
    if let Some(why) = judge_all(args, context, opened, log, &mut writer, out)? {
        writeln!(err, "stopped: {why}; no record was judged")?;
        return Ok(Exit::Inconclusive);
    }
    writer.finish(context, err)
}

/// Judges all records on a thread of its own, and writes what it finds. Returns the limit that was exceeded before the
/// first record, if one was.
fn judge_all(
    args: &MonitorArgs,
    context: &Context,
    opened: Opened,
    log: Input,
    writer: &mut Writer,
    out: &mut dyn Write,
) -> anyhow::Result<Option<Stop>> {
    let (sender, lines) = sync_channel(MAX_WAITING_LINES);
    // Set if the output cannot be written, so that the work ends.
    let is_closed = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let work = move || {
            let Opened { model, sources, map, names } = opened;
            let mut send = |line: MonitorLine| sender.send(line).is_ok();
            let run = Run { args, context, sources: &sources, names: &names, is_closed };
            match model {
                OpenedModel::Protocol(watched) => Ok(watch(run, *watched, map, log, &mut send).err()),
                OpenedModel::System(system) => match system.watched(&run) {
                    Ok(watched) => Ok(watch(run, watched, map, log, &mut send).err()),
                    Err(NotOpened::Stopped(stop)) => Ok(Some(stop)),
                    Err(NotOpened::Refused(message)) => Err(message),
                },
            }
        };
        let thread = Builder::new().name("monitor".to_string()).stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).context(NO_THREAD)?;
        let written = write_all(writer, &lines, out);
        is_closed.store(true, Ordering::Relaxed);
        drop(lines);
        match thread.join() {
            Ok(worked) => {
                written.map_err(anyhow::Error::from).and_then(|()| worked.map_err(anyhow::Error::msg))
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Writes lines until there are no more. What is written is flushed whenever none waits.
fn write_all(writer: &mut Writer, lines: &Receiver<MonitorLine>, out: &mut dyn Write) -> io::Result<()> {
    loop {
        let line = match lines.try_recv() {
            Ok(line) => line,
            Err(TryRecvError::Disconnected) => return out.flush(),
            Err(TryRecvError::Empty) => {
                out.flush()?;
                match lines.recv() {
                    Ok(line) => line,
                    Err(_) => return Ok(()),
                }
            }
        };
        writer.write(out, &line)?;
    }
}

/// Writes the result in its formats.
struct Writer {
    format: Format,
    is_verbose: bool,
    text: MonitorText,
    page: Option<(MonitorPage, File)>,
    summary: MonitorSummary,
}

impl Writer {
    fn new(args: &MonitorArgs, context: &Context, page: Option<File>) -> Writer {
        Writer {
            format: args.format,
            is_verbose: context.text.detail == masque_report::Detail::Verbose,
            text: MonitorText::new(context.text),
            page: page.map(|file| (MonitorPage::default(), file)),
            summary: MonitorSummary::default(),
        }
    }

    fn write(&mut self, out: &mut dyn Write, line: &MonitorLine) -> io::Result<()> {
        if let Some((page, _)) = &mut self.page {
            page.add(line);
        }
        match line {
            MonitorLine::Event(event) if !self.is_verbose && !event.matters() => return Ok(()),
            MonitorLine::Summary(summary) => self.summary = *summary,
            _ => {}
        }
        match self.format {
            Format::Text => self.text.write(out, line),
            Format::Json => line.write_json(out),
        }
    }

    /// Writes the page, and returns the exit.
    fn finish(self, context: &Context, err: &mut dyn Write) -> anyhow::Result<Exit> {
        if let Some((page, mut file)) = self.page {
            file.write_all(page.html().as_bytes()).context("cannot write the page")?;
        }
        let summary = self.summary;
        let mut exit = Exit::AllHold;
        if summary.is_inconclusive() {
            exit.raise(Exit::Inconclusive);
        }
        if summary.has_failure() {
            exit.raise(Exit::SomeFail);
        }
        if summary.has_bad_input() {
            exit.raise(Exit::BadInput);
        }
        if summary.lines == 0 {
            return refused(
                context,
                err,
                "monitor/empty-log",
                "the log has no records, so nothing was monitored",
            );
        }
        if summary.events == 0 && summary.bad_records == 0 {
            let message = format!(
                "none of the {} of the log is an event by the map, so nothing was monitored",
                masque_text::counted(summary.lines as usize, "record", "records")
            );
            return refused(context, err, "monitor/nothing-matched", &message);
        }
        Ok(exit)
    }
}

/// Reports an error that has no place in a text.
fn refused(
    context: &Context,
    err: &mut dyn Write,
    code: &'static str,
    message: &str,
) -> anyhow::Result<Exit> {
    let diagnostic = Diagnostic::nowhere(Severity::Error, code, message);
    context.text.diagnostics(err, &Sources::default(), [&diagnostic])?;
    Ok(Exit::BadInput)
}
