//! `masque broker`: the service for those who check while agents interact.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context as _, anyhow, bail};
use masque_broker::{Config, Listen, Log, Token, run_http, run_stdio};
use masque_report::Detail;

use crate::args::BrokerArgs;
use crate::{Context, Exit};

/// The variable of the environment with the token.
const TOKEN: &str = "MASQUE_TOKEN";

/// `broker`: serves standard input and output, or HTTP, until it is asked to end.
pub fn broker(args: &BrokerArgs, context: &Context, err: &mut dyn Write) -> anyhow::Result<Exit> {
    let log = match context.text.detail {
        Detail::Quiet => Log::Silent,
        Detail::Normal => Log::Events,
        Detail::Verbose => Log::Calls,
    };
    let program = std::env::current_exe().context("the program does not find itself")?;
    if let Some(root) = args.root.as_ref().filter(|root| !root.is_dir()) {
        bail!("`--root {}` is not a folder", root.display());
    }
    let config = Config { limits: args.limits(), log, program: Some(program), root: args.root.clone() };
    let Some(address) = args.address() else {
        if !args.hosts.is_empty() || args.token_file.is_some() || args.no_token {
            bail!("options of HTTP need `--http` or `--listen ADDR:PORT`");
        }
        run_stdio(config).context("the service cannot begin")?;
        return Ok(Exit::AllHold);
    };
    let token = token(args, address, err)?;
    let listen = Listen { address, hosts: args.hosts.clone(), token };
    run_http(config, listen, |_| {}).with_context(|| format!("cannot listen on {address}"))?;
    Ok(Exit::AllHold)
}

/// The token: from a file, from the environment, or a new one. None only on this machine, and only if
/// that was asked for.
fn token(args: &BrokerArgs, address: SocketAddr, err: &mut dyn Write) -> anyhow::Result<Option<Token>> {
    let read = |text: &str, from: &str| {
        let shortest = Token::SHORTEST;
        Token::new(text)
            .map_err(|_| anyhow!("the token in {from} must be {shortest} or more letters and digits"))
    };
    let is_local = address.ip().is_loopback();
    if args.no_token {
        if !is_local {
            bail!("`--no-token` is for this machine only, and {address} can be reached from others");
        }
        return Ok(None);
    }
    if let Some(path) = &args.token_file {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
        return read(&text, &name).map(Some);
    }
    match std::env::var(TOKEN) {
        Ok(text) => return read(&text, TOKEN).map(Some),
        Err(std::env::VarError::NotUnicode(_)) => bail!("the token in {TOKEN} is no text"),
        Err(std::env::VarError::NotPresent) => {}
    }
    if !is_local {
        bail!("{address} can be reached from other machines: give a token by `--token-file` or {TOKEN}");
    }
    let token = Token::random().map_err(|error| anyhow!("no token can be made: {error}"))?;
    // Whoever started this must know it, however quiet it is to be.
    writeln!(err, "masque broker: the token is {}", token.text())?;
    Ok(Some(token))
}
