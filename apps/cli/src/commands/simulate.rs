//! `masque simulate`: a walk through a model.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use masque_driver::{self as driver, Diagnostic, Loaded, Severity, Simulation, Sources};

use super::session::{Next, Refused, Session};
use crate::args::SimulateArgs;
use crate::{Context, Exit};

/// `simulate FILE`: commands from a terminal, a script or standard input, or random steps.
pub fn simulate(args: &SimulateArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let request = args.model.request(&args.work);
    let reads_stdin = args.script.is_none() && args.random.is_none();
    if reads_stdin && args.files == [Path::new("-")] {
        bail!("standard input cannot be both the model and the commands; give `--script` or `--random`");
    }
    let loaded = driver::load(&args.files, &request);
    let options = loaded.engine_options.clone();
    let is_shown = |d: &&Diagnostic| d.is_error() || d.severity == Severity::Warning;
    let Some(system) = loaded.system().cloned() else {
        context.text.diagnostics(out, &loaded.sources, loaded.diagnostics.iter().filter(is_shown))?;
        return Ok(Exit::BadInput);
    };
    let script = match &args.script {
        None => None,
        Some(path) => match driver::read_text(path) {
            Ok(text) => Some(text),
            Err(diagnostic) => {
                context.text.diagnostics(out, &loaded.sources, [&*diagnostic])?;
                return Ok(Exit::BadInput);
            }
        },
    };
    let limits = args.work.limits(Instant::now(), &context.interrupt);
    let simulation = match Simulation::new(&system, &options, &limits) {
        Ok(simulation) => simulation,
        Err(why) => {
            writeln!(out, "the initial states could not be found: {}", why.word())?;
            return Ok(Exit::Inconclusive);
        }
    };
    let exit = Exit::AllHold;
    let (work, text) = (&args.work, context.text);
    let mut session = Session { simulation, loaded: &loaded, text, context, work, options, request, exit };
    if session.simulation.initial.is_empty() {
        let message = "no state satisfies InitStates, so there is nowhere to begin";
        let diagnostic = Diagnostic::error("ispl/no-initial-state", system.initial_span, message);
        text.diagnostics(out, &loaded.sources, [&diagnostic])?;
        return Ok(Exit::BadInput);
    }
    match (script, args.random) {
        (_, Some(n_steps)) => random(&mut session, n_steps, args.seed, out)?,
        (Some(script), None) => {
            let name = args.script.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
            return run_script(&mut session, &name, &script, out);
        }
        (None, None) if io::stdin().is_terminal() => interact(&mut session, out)?,
        (None, None) => {
            let script = io::read_to_string(io::stdin())?;
            return run_script(&mut session, "<stdin>", &script, out);
        }
    }
    Ok(session.exit)
}

/// Steps at random, the same for the same seed.
fn random(session: &mut Session<'_>, n_steps: usize, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut state = seed;
    // SplitMix [SLF14]: small, and good enough to choose steps.
    let mut roll = |n: usize| {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    };
    let mut is_stuck = false;
    for _ in 0..=n_steps {
        if !session.simulation.random_step(&mut roll) {
            is_stuck = true;
            break;
        }
    }
    let path = session.simulation.path();
    session.text.run_so_far(out, &session.simulation.system, path)?;
    if is_stuck {
        writeln!(out, "nothing leads on from here")?;
    }
    Ok(())
}

/// All commands of a script; the first that cannot be done ends it.
fn run_script(
    session: &mut Session<'_>,
    name: &str,
    script: &str,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    session.list(out)?;
    let mut offset = 0;
    for line in script.split_inclusive('\n') {
        let command = line.trim_end_matches(['\n', '\r']);
        if !command.trim().is_empty() {
            writeln!(out, "> {}", command.trim())?;
        }
        match session.command(command, out) {
            Ok(Next::Go) => {}
            Ok(Next::Quit) => break,
            Err(refused) => {
                say(session, (name, script, offset), refused, out)?;
                return Ok(Exit::BadInput);
            }
        }
        offset += line.len();
    }
    Ok(session.exit)
}

/// Commands from a terminal, until `quit` or the end of input.
fn interact(session: &mut Session<'_>, out: &mut dyn Write) -> anyhow::Result<()> {
    session.list(out)?;
    let mut lines = io::stdin().lock().lines();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next().transpose()? else {
            writeln!(out)?;
            return Ok(());
        };
        match session.command(&line, out) {
            Ok(Next::Go) => {}
            Ok(Next::Quit) => return Ok(()),
            Err(refused) => say(session, ("<command>", &line, 0), refused, out)?,
        }
    }
}

/// Says why a command was not done, at its place in the text that begins at `offset`.
fn say(
    session: &Session<'_>,
    (name, text, offset): (&str, &str, usize),
    refused: Refused,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    match refused {
        Refused::Io(error) => return Err(error.into()),
        Refused::Formula(asked) => {
            let Loaded { sources, diagnostics, .. } = &*asked;
            let errors = diagnostics.iter().filter(|d| d.is_error());
            session.text.diagnostics(out, sources, errors)?;
            let mut sources = Sources::default();
            if let Ok(file) = sources.add(name, text) {
                let line = text[offset..].lines().next().unwrap_or_default();
                let span = sources.span(file).slice(offset as u32, (offset + line.len()) as u32);
                let message = "this formula cannot be asked";
                session.text.diagnostics(
                    out,
                    &sources,
                    [&Diagnostic::error("cli/bad-command", span, message)],
                )?;
            }
        }
        Refused::Command { from, to, message, hint } => {
            let mut sources = Sources::default();
            let Ok(file) = sources.add(name, text) else { bail!("{message}") };
            let span = sources.span(file).slice((offset + from) as u32, (offset + to) as u32);
            let diagnostic = Diagnostic::error("cli/bad-command", span, message).help(hint);
            session.text.diagnostics(out, &sources, [&diagnostic])?;
        }
    }
    Ok(())
}
