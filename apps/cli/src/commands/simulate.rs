//! `masque simulate`: a walk through a model.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use masque_driver::{self as driver, Diagnostic, Model, Severity, Simulation, Sources};
use masque_report::Text;

use super::joint_walk::JointWalk;
use super::step_walk::StepWalk;
use super::walk::{Next, Refused, Walk};
use crate::args::SimulateArgs;
use crate::{Context, Exit};

/// Maximum number of states of BDI worlds that are listed before the walk begins.
const MAX_WALKED_STATES: usize = 20_000;

/// `simulate FILE`: commands from a terminal, a script or standard input, or random steps.
pub fn simulate(args: &SimulateArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let request = args.model.request(&args.work);
    let reads_stdin = args.script.is_none() && args.random.is_none();
    if reads_stdin && args.files == [Path::new("-")] {
        bail!("standard input cannot have both the model and the commands; give `--script` or `--random`");
    }
    let limits = args.work.limits(Instant::now(), &context.interrupt);
    let loaded = driver::load_within(&args.files, &request, &limits);
    let options = loaded.engine_options.clone();
    let is_shown = |d: &&Diagnostic| d.is_error() || d.severity == Severity::Warning;
    let Some(model) = &loaded.model else {
        context.text.diagnostics(out, &loaded.sources, loaded.diagnostics.iter().filter(is_shown))?;
        return Ok(Exit::without_model(&loaded));
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
    let mut walk: Box<dyn Walk> = match model {
        Model::Ispl(system) => {
            let simulation = match Simulation::new(system, &options, &limits) {
                Ok(simulation) => simulation,
                Err(why) => {
                    writeln!(out, "the initial states could not be found: {}", why.word())?;
                    return Ok(Exit::Inconclusive);
                }
            };
            if simulation.initial.is_empty() {
                let message = "no state satisfies InitStates, so the walk cannot begin";
                let diagnostic = Diagnostic::error("ispl/no-initial-state", system.initial_span, message);
                context.text.diagnostics(out, &loaded.sources, [&diagnostic])?;
                return Ok(Exit::BadInput);
            }
            let (work, text, exit) = (&args.work, context.text, Exit::AllHold);
            Box::new(JointWalk { simulation, loaded: &loaded, text, context, work, options, request, exit })
        }
        _ => {
            let explorer = match loaded.explorer(MAX_WALKED_STATES, &limits) {
                Ok(explorer) => explorer,
                Err(why) => {
                    writeln!(out, "the states could not be found: {}", why.word())?;
                    return Ok(Exit::Inconclusive);
                }
            };
            match explorer.and_then(|explorer| StepWalk::new(explorer, context, &args.work)) {
                Some(walk) => Box::new(walk),
                None => bail!("{}: the model has no initial state", loaded.name()),
            }
        }
    };
    let (walk, text) = (&mut *walk, context.text);
    match (script, args.random) {
        (_, Some(n_steps)) => random(walk, n_steps, args.seed, out)?,
        (Some(script), None) => {
            let name = args.script.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
            return run_script(walk, text, &Commands { name: &name, text: &script, offset: 0 }, out);
        }
        (None, None) if io::stdin().is_terminal() => interact(walk, text, out)?,
        (None, None) => {
            let script = io::read_to_string(io::stdin())?;
            return run_script(walk, text, &Commands { name: "<stdin>", text: &script, offset: 0 }, out);
        }
    }
    Ok(walk.exit())
}

/// A text with commands, and the byte offset of the current one.
struct Commands<'c> {
    name: &'c str,
    text: &'c str,
    offset: usize,
}

/// Takes random steps, which depend only on the seed.
fn random(walk: &mut dyn Walk, n_steps: usize, seed: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut state = seed;
    // SplitMix [SLF14]: short, and good enough to choose steps.
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
        if !walk.random_step(&mut roll) {
            is_stuck = true;
            break;
        }
    }
    walk.path(out)?;
    if is_stuck {
        writeln!(out, "no step is possible here")?;
    }
    Ok(())
}

/// Runs the commands of a script, up to the first one that is refused.
fn run_script(
    walk: &mut dyn Walk,
    text: Text,
    script: &Commands<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    walk.list(out)?;
    let mut offset = 0;
    for line in script.text.split_inclusive('\n') {
        let command = line.trim_end_matches(['\n', '\r']);
        if !command.trim().is_empty() {
            writeln!(out, "> {}", command.trim())?;
        }
        match walk.command(command, out) {
            Ok(Next::Continue) => {}
            Ok(Next::Quit) => break,
            Err(refused) => {
                report_refusal(text, &Commands { offset, ..*script }, refused, out)?;
                return Ok(Exit::BadInput);
            }
        }
        offset += line.len();
    }
    Ok(walk.exit())
}

/// Runs commands from a terminal, until `quit` or the end of the input.
fn interact(walk: &mut dyn Walk, text: Text, out: &mut dyn Write) -> anyhow::Result<()> {
    walk.list(out)?;
    let mut lines = io::stdin().lock().lines();
    loop {
        write!(out, "> ")?;
        out.flush()?;
        let Some(line) = lines.next().transpose()? else {
            writeln!(out)?;
            return Ok(());
        };
        match walk.command(&line, out) {
            Ok(Next::Continue) => {}
            Ok(Next::Quit) => return Ok(()),
            Err(refused) => {
                let command = Commands { name: "<command>", text: &line, offset: 0 };
                report_refusal(text, &command, refused, out)?;
            }
        }
    }
}

/// Writes why a command was refused, with its position in the text.
fn report_refusal(
    text: Text,
    command: &Commands<'_>,
    refused: Refused,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let Commands { name, text: commands, offset } = *command;
    let line = commands[offset..].lines().next().unwrap_or_default();
    let (from, to, message, hint) = match refused {
        Refused::Io(error) => return Err(error.into()),
        Refused::Formula(mistakes) => {
            let errors = mistakes.diagnostics.iter().filter(|d| d.is_error());
            text.diagnostics(out, &mistakes.sources, errors)?;
            (0, line.len(), "this formula has errors".to_string(), None)
        }
        Refused::Command { from, to, message, hint } => (from, to, message, hint),
    };
    let mut sources = Sources::default();
    let Ok(file) = sources.add(name, commands) else { bail!("{message}") };
    let span = sources.span(file).slice((offset + from) as u32, (offset + to) as u32);
    let diagnostic = Diagnostic::error("cli/bad-command", span, message).help(hint);
    Ok(text.diagnostics(out, &sources, [&diagnostic])?)
}
