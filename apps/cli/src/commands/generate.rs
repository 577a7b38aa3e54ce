//! Output that is generated from the definitions of the program: completions, manual pages, JSON schemas.

use std::io::Write;

use anyhow::bail;
use clap::CommandFactory;

use crate::Exit;
use crate::args::{Cli, CompletionsArgs, ManArgs, SchemaArgs, SchemaOf};

/// `completions SHELL`: prints a completion script for a shell.
pub fn completions(args: &CompletionsArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    // clap_complete panics if writing fails, so it writes to a buffer.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "masque", &mut script);
    out.write_all(&script)?;
    Ok(Exit::AllHold)
}

/// `man [COMMAND]`: prints a manual page in roff.
pub fn man(args: &ManArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut command = Cli::command();
    command.build();
    let page = match &args.command {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => {
                let names: Vec<_> = command
                    .get_subcommands()
                    .filter(|command| !command.is_hide_set())
                    .map(|command| command.get_name())
                    .collect();
                bail!("there is no command `{name}`; the commands are {}", names.join(", "));
            }
        },
    };
    let version = concat!("masque ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(page).source(version).manual("Masque").render(out)?;
    Ok(Exit::AllHold)
}

/// `schema [COMMAND]`: prints the JSON schema of a command's output.
pub fn schema(args: &SchemaArgs, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let text = match args.command {
        SchemaOf::Check => masque_report::schema(),
        SchemaOf::Broker => masque_broker::schema(),
        SchemaOf::Bench => masque_report::bench_schema(),
        SchemaOf::Test => masque_report::test_schema(),
        SchemaOf::Monitor => masque_report::monitor_schema(),
        SchemaOf::Export => masque_report::graph_schema(),
        SchemaOf::Teams => masque_report::teams_schema(),
        SchemaOf::Why => masque_report::why_schema(),
    };
    out.write_all(text.as_bytes())?;
    Ok(Exit::AllHold)
}
