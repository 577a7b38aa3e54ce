//! `--engine race`: the process of one engine, and where a race can be asked for.

use std::io::{self, Write};

use anyhow::bail;
use masque_driver::{self as driver, EngineChoice};

use crate::Exit;
use crate::args::{CheckArgs, Command};

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
