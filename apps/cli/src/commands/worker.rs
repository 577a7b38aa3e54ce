//! Distributed checks: `masque worker`, and how `masque check` starts workers.

use std::io::{IsTerminal, Write};
use std::path::Path;

use anyhow::{Context as _, bail};
use masque_driver::cluster::{Checkpoints, Host, Placement, Plan, Supervisor, Token};
use masque_driver::{self as driver, EngineChoice, Limits, Refused};

use super::token::{TOKEN_VARIABLE, read_token};
use crate::Exit;
use crate::args::{CheckArgs, ClusterArgs, MAX_WORKERS, WorkerArgs};

/// Maximum length of a host name.
const MAX_HOST_LENGTH: usize = 253;

/// Stack size in bytes of threads that libraries start. Successors are computed by recursion over the agents
/// that have a choice, and there may be thousands of agents.
const LIBRARY_STACK_SIZE: u64 = 64 << 20;
/// The least stack size of these threads in bytes, if the system limits the address space.
const LEAST_LIBRARY_STACK_SIZE: u64 = 8 << 20;
/// Divisor of the memory that the system allows this process, for one of these stacks.
const LIBRARY_STACK_SHARE: u64 = 32;

/// `worker`: works for a check in another process, which reports the verdicts.
pub fn worker(args: &WorkerArgs, err: &mut dyn Write) -> anyhow::Result<Exit> {
    refuse_token(args.token.as_ref())?;
    with_large_stacks();
    let supervisor = match &args.join {
        Some(address) => {
            if args.host.as_ref().is_some_and(|host| host.len() > MAX_HOST_LENGTH) {
                bail!("`--host` has more than {MAX_HOST_LENGTH} characters");
            }
            let Some(token) = token(args.token_file.as_deref())? else {
                bail!("a worker needs the token of the check: use `--token-file FILE` or {TOKEN_VARIABLE}");
            };
            Supervisor::At { address: address.clone(), token, host: args.host.clone() }
        }
        None if std::io::stdin().is_terminal() => {
            bail!("a worker needs the address of a check: `masque worker --join HOST:PORT --token-file FILE`")
        }
        None => Supervisor::Standard,
    };
    match driver::cluster::work(&supervisor) {
        Ok(()) => Ok(Exit::AllHold),
        Err(message) => {
            writeln!(err, "error: {message}")?;
            Ok(Exit::Inconclusive)
        }
    }
}

/// The machines of a check, if `--cluster` is given.
pub(super) fn hosts(args: &CheckArgs, limits: &Limits) -> Result<Vec<Host>, Box<Refused>> {
    args.cluster.cluster.as_ref().map_or(Ok(Vec::new()), |path| driver::cluster::hosts(path, limits))
}

/// How the workers of a check are started, on these machines if there are any; none if the check is not
/// distributed.
pub(super) fn plan(args: &CheckArgs, hosts: Vec<Host>) -> anyhow::Result<Option<Plan>> {
    let cluster = &args.cluster;
    refuse_token(cluster.token.as_ref())?;
    if !cluster.is_given() {
        return Ok(None);
    }
    match args.work.engine {
        EngineChoice::Auto => {}
        EngineChoice::Named("cluster") => {}
        other => bail!(
            "distributed checks use the engine `cluster`; they cannot be combined with `--engine {}`",
            other.name()
        ),
    }
    if cluster.checkpoint.is_some() && args.files.len() > 1 {
        bail!("`--checkpoint` is for one file; check the files one by one");
    }
    if cluster.checkpoint.as_ref().is_some_and(|directory| directory.to_str().is_none()) {
        bail!("the directory of `--checkpoint` must have a UTF-8 name, because it is sent to the workers");
    }
    let checkpoints = cluster.checkpoint.as_ref().map(|directory| Checkpoints {
        directory: directory.clone(),
        every: cluster.checkpoint_every,
        resume: cluster.resume,
    });
    Ok(Some(Plan {
        places: places(cluster, hosts)?,
        program: std::env::current_exe().context("cannot locate the `masque` executable")?,
        patience: cluster.start_within,
        silence: cluster.silence,
        checkpoints,
    }))
}

fn places(args: &ClusterArgs, hosts: Vec<Host>) -> anyhow::Result<Placement> {
    if let Some(processes) = args.processes {
        return Ok(Placement::Local(processes.into()));
    }
    if let Some(workers) = args.await_workers {
        let (listen, token) = (args.listen.clone(), token(args.token_file.as_deref())?);
        return Ok(Placement::Joining { workers: workers.into(), listen, token });
    }
    let launcher: Vec<String> = args.launcher.split_whitespace().map(str::to_string).collect();
    if launcher.is_empty() {
        bail!("`--launcher` is empty; give a command such as `ssh`");
    }
    if hosts.len() as i64 > MAX_WORKERS {
        bail!("the file of `--cluster` has {} hosts; at most {MAX_WORKERS} are possible", hosts.len());
    }
    Ok(Placement::Hosts { hosts, launcher })
}

/// Refuses a token on the command line, which other users of the machine can read.
fn refuse_token(token: Option<&String>) -> anyhow::Result<()> {
    if token.is_some() {
        bail!(
            "`--token` is not accepted, because other users can read command lines; give the token with \
             `--token-file FILE` or in the environment variable {TOKEN_VARIABLE}"
        );
    }
    Ok(())
}

fn token(path: Option<&Path>) -> anyhow::Result<Option<Token>> {
    read_token(path, Token::MIN_LENGTH, Token::new)
}

/// Replaces this process by a new one with large stacks for threads, because `RUST_MIN_STACK` must be set before
/// the first thread starts. If this is not possible, the process continues with the default stack size.
fn with_large_stacks() {
    #[cfg(unix)]
    let asked = std::env::var("RUST_MIN_STACK").ok().and_then(|size| size.parse::<u64>().ok());
    #[cfg(unix)]
    if asked.is_none_or(|size| size < LEAST_LIBRARY_STACK_SIZE)
        && let Ok(program) = std::env::current_exe()
    {
        let most = masque_memory::room().map_or(u64::MAX, |bytes| bytes / LIBRARY_STACK_SHARE);
        let size = LIBRARY_STACK_SIZE.min(most).max(LEAST_LIBRARY_STACK_SIZE);
        let mut again = std::process::Command::new(program);
        again.args(std::env::args_os().skip(1)).env("RUST_MIN_STACK", size.to_string());
        _ = std::os::unix::process::CommandExt::exec(&mut again);
    }
}
