//! `masque explore`: a page in the browser to see, step through and question a model.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context as _, bail};
use masque_web::{Explorer, ModelSetup, Program, Setup};

use super::changed_files::ChangedFiles;
use super::watch::named_files;
use crate::args::{CheckFormat, EvidenceAs, ExploreArgs};
use crate::{Context, Exit};

/// `explore FILE`: serves a page until Ctrl-C, or holds the model for such a page.
pub fn explore(args: &ExploreArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if args.serve_model {
        let request = args.check.request(None);
        let setup = ModelSetup {
            files: args.check.files.clone(),
            request,
            timeout: args.check.work.timeout,
            memory: args.check.work.memory,
        };
        masque_web::serve_model(setup, out)?;
        return Ok(Exit::AllHold);
    }
    refuse(args)?;
    let path = std::env::current_exe().context("cannot locate the `masque` executable")?;
    let program = Program { path, args: model_arguments(std::env::args_os().skip(1).collect()) };
    let setup = Setup { program, port: args.port, interrupt: Arc::clone(&context.interrupt) };
    let files = named_files(&args.check);
    let mut said = Ok(());
    masque_web::run(setup, |explorer| {
        said = say(&explorer, args.no_open, out);
        if said.is_err() {
            // Without the address the pages cannot be opened.
            context.interrupt.store(true, Ordering::Relaxed);
        }
        let interrupt = Arc::clone(&context.interrupt);
        let watch = move || follow_changes(&explorer, ChangedFiles::new(files), &interrupt);
        _ = thread::Builder::new().name("watch".to_string()).spawn(watch);
    })
    .context("the page cannot be served")?;
    said?;
    Ok(Exit::AllHold)
}

/// The arguments of the process that holds the model: those of this one, and the option that says so.
fn model_arguments(mut own: Vec<OsString>) -> Vec<OsString> {
    let command = own.iter().position(|argument| argument == "explore").map_or(own.len(), |at| at + 1);
    own.insert(command, "--serve-model".into());
    own
}

/// Refuses options of `check` that do not suit a page.
fn refuse(args: &ExploreArgs) -> anyhow::Result<()> {
    let check = &args.check;
    if check.files.iter().any(|path| path == Path::new("-")) {
        bail!("standard input cannot be explored; give a file");
    }
    if check.format != CheckFormat::Text
        || check.evidence_format != EvidenceAs::Text
        || check.evidence_out.is_some()
    {
        bail!("`masque explore` shows reports and evidence on its page; `masque check` writes them to files");
    }
    if check.certify.is_some() || check.certified {
        bail!("`masque explore` writes and confirms no certificates; `masque check` does");
    }
    if check.parse_only || check.each {
        bail!("`masque explore` checks one model; `--parse-only` and `--each` are for `masque check`");
    }
    if check.cluster.is_given() {
        bail!("`masque explore` checks in one process; options for several are for `masque check`");
    }
    Ok(())
}

/// Opens the browser, or prints the address.
fn say(explorer: &Explorer, no_open: bool, out: &mut dyn Write) -> std::io::Result<()> {
    let address = &explorer.address;
    if no_open || !open(address) {
        writeln!(out, "open {address}")?;
    } else {
        writeln!(out, "the page is open in your browser: {address}")?;
    }
    writeln!(out, "Ctrl-C ends")?;
    out.flush()
}

/// Opens an address in the browser. Returns whether a program for that could be started.
fn open(address: &str) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(target_os = "windows") {
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    let started =
        command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    // The program ends by itself; waiting for it on a thread leaves no zombie.
    let wait = |mut child: Child| _ = thread::Builder::new().spawn(move || child.wait());
    started.map(wait).is_ok()
}

/// Loads the model again whenever one of its files changes.
fn follow_changes(explorer: &Explorer, mut files: ChangedFiles, interrupt: &AtomicBool) {
    files.look();
    while !interrupt.load(Ordering::Relaxed) {
        // The imports are known only when the model is loaded, so they are asked for again and again.
        files.add(&explorer.watched_files());
        if files.wait_for_a_while(interrupt) {
            files.look();
            explorer.reload();
        }
    }
}
