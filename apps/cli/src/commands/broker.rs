//! `masque broker`: the service for programs that check protocols while agents interact.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context as _, anyhow, bail};
use masque_broker::{Config, Level, Listen, Log, LogDetail, LogFormat, Token, run_http, run_stdio};
use masque_report::Detail;

use super::token::{TOKEN_VARIABLE, read_token};
use crate::args::{self, BrokerArgs};
use crate::{Context, Exit};

/// `broker`: serves standard input and output, or HTTP, until it is stopped.
pub fn broker(args: &BrokerArgs, context: &Context, err: &mut dyn Write) -> anyhow::Result<Exit> {
    let log = log("masque broker", context, args.log_format);
    let program = std::env::current_exe().context("cannot locate the `masque` executable")?;
    if let Some(root) = args.root.as_ref().filter(|root| !root.is_dir()) {
        bail!("`--root {}` is not a folder", root.display());
    }
    let (limits, root, state_dir) = (args.limits(), args.root.clone(), args.state_dir.clone());
    let config = Config { limits, log, program: Some(program), root, owns_process: true, state_dir };
    let Some(address) = args.address() else {
        if !args.hosts.is_empty() || args.token_file.is_some() || args.no_token {
            bail!("options for HTTP require `--http` or `--listen ADDR:PORT`");
        }
        run_stdio(config).context("the service cannot start")?;
        return Ok(Exit::AllHold);
    };
    let token = token(args, address, log, err)?;
    let listen = Listen { address, hosts: args.hosts.clone(), token };
    run_http(config, listen, |_| {}).context("the service cannot start")?;
    Ok(Exit::AllHold)
}

/// The log of a service on standard error.
pub(super) fn log(command: &'static str, context: &Context, format: args::LogFormat) -> Log {
    let detail = match context.text.detail {
        Detail::Quiet => LogDetail::Silent,
        Detail::Normal => LogDetail::Events,
        Detail::Verbose => LogDetail::Calls,
    };
    let format = match format {
        args::LogFormat::Text => LogFormat::Text,
        args::LogFormat::Json => LogFormat::Json,
    };
    Log { command, detail, format }
}

/// The token: from a file, from the environment, or a random one. There is none only with `--no-token`, which
/// requires an address of this machine.
fn token(
    args: &BrokerArgs,
    address: SocketAddr,
    log: Log,
    err: &mut dyn Write,
) -> anyhow::Result<Option<Token>> {
    let is_local = address.ip().is_loopback();
    if args.no_token {
        if !is_local {
            bail!("`--no-token` requires an address of this machine only, but others can reach {address}");
        }
        return Ok(None);
    }
    let given = read_token(args.token_file.as_deref(), Token::MIN_LENGTH, |text| Token::new(text).ok())?;
    if given.is_some() {
        return Ok(given);
    }
    if !is_local {
        bail!(
            "other machines can reach {address}: give a token with `--token-file` or the variable {TOKEN_VARIABLE}"
        );
    }
    let token = Token::random().map_err(|error| anyhow!("cannot create a random token: {error}"))?;
    // This is printed even with `--quiet`: clients need the token.
    let message = format!("the token is {}", token.text());
    let line = log.line(Level::Info, "token", &message, &[("token", token.text().into())]);
    err.write_all(line.as_bytes())?;
    Ok(Some(token))
}
