//! `masque mcp`: the server for coding agents and agent platforms.

use std::io::Write;

use anyhow::{Context as _, bail};
use masque_broker::{Config, answer_call, run_mcp};

use super::NO_THREAD;
use super::broker::log;
use crate::args::{LogFormat, McpArgs};
use crate::{Context, Exit, interrupt};

/// `mcp`: serves standard input and output until the input ends; or answers one call of a server.
pub fn mcp(args: &McpArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if let Some(folder) = &args.answer_call {
        interrupt::end_with_input(Some(folder.clone())).context(NO_THREAD)?;
        answer_call(out)?;
        return Ok(Exit::AllHold);
    }
    if let Some(root) = args.root.as_ref().filter(|root| !root.is_dir()) {
        bail!("`--root {}` is not a folder", root.display());
    }
    let program = std::env::current_exe().context("cannot locate the `masque` executable")?;
    let config = Config {
        limits: args.limits(),
        log: log("masque mcp", context, LogFormat::Text),
        program: Some(program),
        root: args.root.clone(),
        owns_process: true,
        state_dir: None,
    };
    run_mcp(config).context("the server cannot start")?;
    Ok(Exit::AllHold)
}
