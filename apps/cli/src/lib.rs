//! The command line of Masque: arguments, handlers, exit codes.
//!
//! A handler takes its arguments and a [`Context`] and writes to `out`, so tests can call it directly.
//! Progress, times, usage errors and the messages of `fmt` go to standard error.
#![forbid(unsafe_code)]

pub mod args;
mod bug;
pub mod commands;
mod exit;
mod github;
mod interrupt;
mod progress;
mod safe_writer;
mod suggest;
mod terminal;
mod test_progress;
mod values;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use args::{CheckFormat, Cli, Command, Format, Global};
use clap::{Args, CommandFactory, FromArgMatches};
use masque_driver::{Diagnostic, Loaded, Severity};
use masque_report::{Detail, Text};
use safe_writer::SafeWriter;

pub use exit::Exit;

/// The environment of a handler.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// How text is written.
    pub text: Text,
    /// Whether progress is shown on standard error.
    pub progress: bool,
    /// Whether problems are also written as annotations of GitHub Actions, to standard error.
    pub github: bool,
    /// Flag that becomes true when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
}

impl Context {
    /// Writes the errors of loading, and its warnings if the user wants `detail` or more. Why loading was stopped
    /// is always written.
    fn loading(&self, out: &mut dyn Write, loaded: &Loaded, detail: Detail) -> io::Result<()> {
        let is_shown = |d: &&Diagnostic| {
            d.is_error()
                || d.severity == Severity::Warning && self.text.detail >= detail
                || d.code == "load/stopped"
        };
        self.text.diagnostics(out, &loaded.sources, loaded.diagnostics.iter().filter(is_shown))
    }
}

/// The program: parses the arguments of the process, runs a command, and returns the exit code.
pub fn main() -> ExitCode {
    bug::install_hook();
    interrupt::refuse_large_files();
    let cli = match parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return refused(&error).into(),
    };
    let context = context(&cli);
    match &cli.command {
        Command::Check(_)
        | Command::Teams(_)
        | Command::Test(_)
        | Command::Why(_)
        | Command::Bench(_)
        | Command::Replay(_)
        | Command::Monitor(_)
        | Command::Worlds(_)
        | Command::Agent(_)
        | Command::Watch(_)
        | Command::Fmt(_) => {
            interrupt::install(&context.interrupt);
        }
        Command::Simulate(_) | Command::Export(_) => {
            interrupt::install(&context.interrupt);
            interrupt::end_soon(&context.interrupt);
        }
        // Ctrl-C reaches all processes of a terminal; these end with the process that started them.
        Command::Explore(args) if args.serve_model => interrupt::ignore(),
        Command::Explore(_) => interrupt::install(&context.interrupt),
        Command::Contender => interrupt::ignore(),
        Command::Mcp(args) if args.answer_call.is_some() => interrupt::ignore(),
        _ => {}
    }
    let mut out = match &cli.command {
        Command::Monitor(_) => terminal::stdout_while_open(context.text.color),
        _ => terminal::stdout(context.text.color),
    };
    let mut err = std::io::stderr();
    let result = run(&cli.command, &context, &mut out, &mut err);
    match result.and_then(|exit| Ok(out.flush().map(|()| exit)?)) {
        Ok(exit) => exit.into(),
        // The reader of the output is gone, so a message would not belong to what it has read.
        Err(error) if is_closed_pipe(&error) => Exit::Inconclusive.into(),
        Err(error) => {
            _ = writeln!(SafeWriter::new(&mut err, false), "error: {error:#}");
            Exit::BadInput.into()
        }
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Prints the message about a command line that was not accepted, or help or the version if it asks for them.
/// A closed pipe (`masque help check | head -1`) ends the text without a message, as for commands.
fn refused(error: &clap::Error) -> Exit {
    let printed = error.print();
    if let Err(error) = printed
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        _ = writeln!(std::io::stderr(), "error: cannot write: {error}");
        return Exit::BadInput;
    }
    if error.use_stderr() { Exit::BadInput } else { Exit::AllHold }
}

/// Parses a command line that begins with the program's name.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    if let Some(mut cli) = parse_one_command(&args) {
        cli.command.separate_files()?;
        return Ok(cli);
    }
    let command = Cli::command().color(terminal::clap_color(&args));
    let words: Vec<String> = args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
    let matches = command.try_get_matches_from(args).map_err(|mut error| {
        suggest::add_suggestion(&mut error, &words);
        error
    })?;
    let mut cli = Cli::from_arg_matches(&matches)?;
    cli.command.separate_files()?;
    Ok(cli)
}

/// Parses a command line with the grammar of the command that is its first word. To build the grammar of all commands
/// takes longer than to check a small model. Returns nothing if the command line has an error or asks for help: the
/// messages need all commands.
fn parse_one_command(args: &[OsString]) -> Option<Cli> {
    let (name, add_arguments) = Command::grammar(args.get(1)?.to_str()?)?;
    let command = Global::augment_args(clap::Command::new("masque"));
    let command = command.subcommand(add_arguments(clap::Command::new(name)));
    Cli::from_arg_matches(&command.try_get_matches_from(args).ok()?).ok()
}

/// Runs a command.
pub fn run(
    command: &Command,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    commands::race::refuse_elsewhere(command)?;
    let text = command.view().map_or(context.text, |view| view.of(context.text));
    let context = &Context { text, ..context.clone() };
    let has_color = context.text.color;
    // Source text and messages between processes pass unchanged. `watch` clears the screen, and escapes its
    // reports itself.
    let is_raw =
        matches!(command, Command::Fmt(_) | Command::Contender | Command::Watch(_) | Command::Mcp(_))
            || matches!(command, Command::Explore(args) if args.serve_model);
    let mut safe_out;
    let out: &mut dyn Write = if is_raw {
        out
    } else {
        safe_out = SafeWriter::new(out, has_color);
        &mut safe_out
    };
    let err: &mut dyn Write = &mut SafeWriter::new(err, has_color);
    match command {
        Command::Check(args) => commands::check(args, context, out, err),
        Command::Teams(args) => commands::teams(args, context, out, err),
        Command::Test(args) => commands::test(args, context, out, err),
        Command::New(args) => commands::new(args, context, out, err),
        Command::Watch(args) => commands::watch(args, context, out, err),
        Command::Why(args) => commands::why(args, context, out, err),
        Command::Explore(args) => commands::explore(args, context, out),
        Command::Simulate(args) => commands::simulate(args, context, out),
        Command::Monitor(args) => commands::monitor(args, context, out, err),
        Command::Export(args) => commands::export(args, context, out, err),
        Command::Import(args) => commands::import(args, context, out, err),
        Command::Bench(args) => commands::bench(args, context, out, err),
        Command::Replay(args) => commands::replay(args, context, out, err),
        Command::Certify(args) => commands::certify(args, out, err),
        Command::Worlds(args) => commands::worlds(args, context, out, err),
        Command::Worker(args) => commands::worker(args, err),
        Command::Broker(args) => commands::broker(args, context, err),
        Command::Lsp(args) => commands::lsp(args),
        Command::Mcp(args) => commands::mcp(args, context, out),
        Command::Agent(args) => commands::agent(args, context, out, err),
        Command::State(args) => commands::state(args, context, out, err),
        Command::Fmt(args) => commands::fmt(args, context, out, err),
        Command::Explain(args) => commands::explain(args, context, out),
        Command::Completions(args) => commands::completions(args, out),
        Command::Man(args) => commands::man(args, out),
        Command::Schema(args) => commands::schema(args, out),
        Command::Contender => commands::race::contender(out),
    }
}

fn context(cli: &Cli) -> Context {
    let detail = match (cli.global.quiet, cli.global.verbose) {
        (true, _) => Detail::Quiet,
        (_, true) => Detail::Verbose,
        _ => Detail::Normal,
    };
    // `fmt` writes its messages to standard error, every other command to standard output.
    let is_fmt = matches!(cli.command, Command::Fmt(_));
    let text = Text {
        color: terminal::wants_color(cli.global.color, is_fmt),
        detail,
        width: terminal::width(),
        ..Text::default()
    };
    // JSON is read by programs, so no progress is shown even if standard error is a terminal.
    let is_json = match &cli.command {
        Command::Check(args) => args.format != CheckFormat::Text,
        Command::Why(args) => args.format == Format::Json,
        Command::Test(args) => args.format == Format::Json,
        _ => false,
    };
    let progress = detail > Detail::Quiet && !is_json && terminal::shows_progress();
    Context { text, progress, github: github::is_active(), ..Context::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ids of the arguments of a command, without those of all commands.
    fn own_arguments(command: &clap::Command) -> Vec<String> {
        let is_own = |arg: &&clap::Arg| !arg.is_global_set() && arg.get_id() != "help";
        command.get_arguments().filter(is_own).map(|arg| arg.get_id().to_string()).collect()
    }

    #[test]
    fn the_grammar_of_one_command_is_that_of_all_commands() {
        for command in Cli::command().get_subcommands() {
            let name = command.get_name();
            let Some((_, add_arguments)) = Command::grammar(name) else {
                assert_eq!(name, "contender");
                continue;
            };
            let alone = add_arguments(clap::Command::new("masque"));
            assert_eq!(own_arguments(&alone), own_arguments(command), "{name}");
        }
        assert!(Command::grammar("verify").is_none());
    }

    /// Command lines that one grammar accepts mean the same in the other; the others are refused by both.
    #[test]
    fn both_grammars_accept_the_same() {
        let whole = |args: &[OsString]| {
            let matches = Cli::command().try_get_matches_from(args).ok()?;
            Cli::from_arg_matches(&matches).ok()
        };
        for (line, is_accepted) in [
            ("check m.ispl -D N=3 --timeout 1s --memory 200M --format json -q", true),
            ("check m.ispl --only a b --color always", true),
            ("check", false),
            ("check m.ispl --quiet --verbose", false),
            ("check m.ispl --no-such-option", false),
            ("check --help", false),
            ("test models --strict", true),
            ("watch m.ispl --engine symbolic", true),
            ("bench m.ispl -D N=1,2 --repeat 3", true),
            ("worker --join host:1 --token-file f", true),
            ("broker --workers 4 --state-dir d", true),
            ("import a2a card.json -o m.lcc", true),
            ("mcp --root models --timeout 10s", true),
            ("explain ispl/deadlock", true),
            ("fmt --check a.lcc", true),
            ("man check", true),
        ] {
            let args: Vec<OsString> = format!("masque {line}").split(' ').map(OsString::from).collect();
            let (one, all) = (parse_one_command(&args), whole(&args));
            assert_eq!(one.is_some(), is_accepted, "{line}");
            assert_eq!(format!("{one:?}"), format!("{all:?}"), "{line}");
        }
        let flag_first = ["masque", "-q", "check", "m.ispl"].map(OsString::from);
        assert!(parse_one_command(&flag_first).is_none() && parse(flag_first).is_ok());
    }
}
