//! `--engine race`: the program starts itself once for each engine.

use std::io::{self, Write};

use anyhow::{Context as _, bail};
use masque_driver::{self as driver, EngineChoice, EngineOptions, Limits, Loaded, Request, Run};

use super::check::observer;
use crate::args::{CheckArgs, Command};
use crate::{Context, Exit};

/// The command that a lane is started with.
const LANE: &[&str] = &["lane"];

/// Decides all properties by a race.
pub(super) fn check(
    context: &Context,
    (loaded, request): (&Loaded, &Request),
    options: &EngineOptions,
    limits: &Limits,
) -> anyhow::Result<Run> {
    let program = std::env::current_exe().context("the program does not find itself")?;
    let mut observe = observer(context, loaded);
    driver::race((&program, LANE), (loaded, request), options, limits, &mut observe)
        .context("a process cannot be started")
}

/// Runs one engine of a race. The task is the first line of standard input; when that closes, nobody
/// waits for an answer any more, and the process ends.
pub(crate) fn lane(out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut task = String::new();
    if io::stdin().read_line(&mut task)? == 0 {
        bail!("`masque lane` does nothing by itself: `masque check --engine race` starts it");
    }
    let watch = || {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(Exit::Inconclusive.code().into());
    };
    std::thread::Builder::new().name("watch".to_string()).spawn(watch)?;
    driver::lane(&task, out)?;
    Ok(Exit::AllHold)
}

/// Only `check` races, and only where one answer is asked for.
pub(crate) fn refuse_elsewhere(command: &Command) -> anyhow::Result<()> {
    if command.work().is_none_or(|work| work.engine != EngineChoice::Race) {
        return Ok(());
    }
    match command {
        Command::Check(CheckArgs { cross_check: true, .. }) => {
            bail!("`--engine race` takes the first answer, and `--cross-check` compares all: choose one")
        }
        Command::Check(_) => Ok(()),
        Command::Bench(_) => {
            bail!(
                "`--engine race` measures nothing: its engines take time from each other; measure them one by one"
            )
        }
        _ => {
            bail!("`--engine race` is for `masque check`; here `auto`, `explicit` and `symbolic` can be used")
        }
    }
}
