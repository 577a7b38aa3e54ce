//! `masque watch`: checks files again whenever they change.
//!
//! A check runs on a thread of its own, while this one waits for changes (`changed_files`).

use std::io::{self, IsTerminal, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context as _, bail};
use masque_driver::OrderChoice;
use masque_report::{RunReport, changes};

use super::NO_THREAD;
use super::changed_files::ChangedFiles;
use super::check::{Checked, check_files};
use crate::args::{CheckArgs, CheckFormat, EvidenceAs, WatchArgs};
use crate::safe_writer::SafeWriter;
use crate::{Context, Exit};

/// Stack of the thread that runs a check, in bytes.
const STACK_BYTES: usize = 16 << 20;
/// Clears the screen and its history, and moves the cursor to its beginning.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J\u{1b}[3J";

/// `watch FILE..`: checks, and waits for a change, until it is interrupted.
pub fn watch(
    args: &WatchArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let args = &args.check;
    refuse(args)?;
    let mut files = ChangedFiles::new(named_files(args));
    let mut last: Option<Vec<RunReport>> = None;
    loop {
        files.look();
        let Some(done) = check_until_changed(args, context, &mut files)? else {
            if context.interrupt.load(Ordering::Relaxed) {
                return Ok(Exit::Interrupted);
            }
            files.settle();
            continue;
        };
        let Finished { report, errors, result } = done;
        if io::stdout().is_terminal() {
            write!(out, "{CLEAR}")?;
        }
        out.write_all(&report)?;
        err.write_all(&errors)?;
        let out: &mut dyn Write = &mut SafeWriter::new(out, context.text.color);
        match result {
            // The arguments stay as they are, so an error that is there from the beginning would never go away.
            Err(error) if last.is_none() => return Err(error),
            Err(error) => writeln!(out, "error: {error:#}")?,
            Ok(checked) => {
                files.add(&checked.files);
                if let Some(last) = &last {
                    writeln!(out)?;
                    let is_several = checked.reports.len() > 1;
                    context.text.changes(out, &changes(last, &checked.reports), is_several)?;
                }
                last = Some(checked.reports);
            }
        }
        writeln!(out, "watching {}; Ctrl-C ends", masque_text::counted(files.len(), "file", "files"))?;
        out.flush()?;
        if !files.wait(&context.interrupt) {
            return Ok(Exit::Interrupted);
        }
    }
}

/// Refuses options of `check` that do not suit a report that is written again and again.
fn refuse(args: &CheckArgs) -> anyhow::Result<()> {
    if args.files.iter().any(|path| path == Path::new("-")) {
        bail!("standard input cannot be watched; give a file");
    }
    if args.format != CheckFormat::Text {
        bail!("`masque watch` writes its report as text; `masque check` has other formats");
    }
    if args.evidence_format != EvidenceAs::Text && args.evidence_out.is_none() {
        bail!(
            "`masque watch` writes evidence in other formats than text only to a file: add `--evidence-out FILE`"
        );
    }
    Ok(())
}

/// The files that the command line names.
pub(super) fn named_files(args: &CheckArgs) -> Vec<PathBuf> {
    let model = &args.question.model;
    let mut files = [args.files.as_slice(), model.property_files.as_slice()].concat();
    if let OrderChoice::File(path) = &args.work.order {
        files.push(path.clone());
    }
    files
}

/// A check that ended, with its output.
struct Finished {
    report: Vec<u8>,
    errors: Vec<u8>,
    result: anyhow::Result<Checked>,
}

/// Checks the files. Returns nothing if a file changed meanwhile, or after an interrupt; then the check is stopped.
fn check_until_changed(
    args: &CheckArgs,
    context: &Context,
    files: &mut ChangedFiles,
) -> anyhow::Result<Option<Finished>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let inner = Context { interrupt: Arc::clone(&cancel), ..context.clone() };
    thread::scope(|scope| {
        let work = || check_quietly(args, &inner);
        let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
        let thread = thread.context(NO_THREAD)?;
        let is_stopped = !files.wait_beside(&thread, &context.interrupt);
        cancel.store(is_stopped, Ordering::Relaxed);
        let finished = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok((!is_stopped).then_some(finished))
    })
}

/// Checks the files and keeps the output.
fn check_quietly(args: &CheckArgs, context: &Context) -> Finished {
    let (mut report, mut errors) = (Vec::new(), Vec::new());
    let has_color = context.text.color;
    let (out, err) =
        (&mut SafeWriter::new(&mut report, has_color), &mut SafeWriter::new(&mut errors, has_color));
    let result = check_files(args, context, out, err);
    Finished { report, errors, result }
}
