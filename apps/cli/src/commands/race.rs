//! `--engine race`: the process of one contender, and which commands can race.

use std::io::{self, Write};

use anyhow::bail;
use masque_driver::{self as driver, EngineChoice};

use crate::Exit;
use crate::args::{CheckArgs, Command};

/// Runs one engine of a race. The task is the first line of standard input. When standard input closes, the
/// race is over, and the process ends.
pub(crate) fn contender(out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut task = String::new();
    if io::stdin().read_line(&mut task)? == 0 {
        bail!("`masque contender` has no task on standard input; `masque check --engine race` starts it");
    }
    let watch = || {
        _ = io::copy(&mut io::stdin(), &mut io::sink());
        std::process::exit(Exit::Inconclusive.code().into());
    };
    std::thread::Builder::new().name("watch".to_string()).spawn(watch)?;
    driver::run_contender(&task, out)?;
    Ok(Exit::AllHold)
}

/// Refuses `--engine race` for commands other than `check`, and together with `--cross-check`.
pub(crate) fn refuse_elsewhere(command: &Command) -> anyhow::Result<()> {
    if command.work().is_none_or(|work| work.engine != EngineChoice::Race) {
        return Ok(());
    }
    match command {
        Command::Check(CheckArgs { cross_check: true, .. }) => {
            bail!("`--engine race` uses the first result, and `--cross-check` compares all: choose one")
        }
        Command::Check(_) => Ok(()),
        Command::Bench(_) => {
            bail!(
                "`--engine race` cannot be measured, because its engines compete for processors; measure them one by one"
            )
        }
        _ => {
            bail!(
                "`--engine race` is for `masque check`; this command accepts `auto`, `explicit` and `symbolic`"
            )
        }
    }
}
