//! `masque simulate`: a walk through a model.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use masque_driver::{
    self as driver, Diagnostic, Limits, Loaded, Model, RandomChoices, Simulation, Sources, Unread,
};
use masque_report::{Detail, Text};

use super::NO_THREAD;
use super::follow::{Followed, first_run};
use super::joint_walk::JointWalk;
use super::prompt::Prompt;
use super::step_walk::StepWalk;
use super::walk::{Next, Refused, Walk};
use crate::args::SimulateArgs;
use crate::{Context, Exit};

/// Maximum number of states of BDI worlds that are listed before the walk begins.
const MAX_WALKED_STATES: usize = 20_000;

/// Maximum size of a script in bytes.
const MAX_SCRIPT_BYTES: u64 = 16 << 20;
/// Names of the text of a formula in its diagnostics.
const FORMULA_NAMES: [&str; 2] = ["<--property>", "<formula>"];
/// Time after which the steps of a random walk are written at the latest.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

/// `simulate FILE`: commands from a terminal, a script or standard input, or random steps.
pub fn simulate(args: &SimulateArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let request = args.model.request(&args.work);
    let reads_stdin = args.script.is_none() && args.random.is_none();
    if reads_stdin && args.files == [Path::new("-")] {
        bail!("standard input cannot have both the model and the commands; give `--script` or `--random`");
    }
    let limits = args.work.limits(&context.interrupt);
    let loaded = driver::load_within(&args.files, &request, &limits);
    let Some(model) = &loaded.model else {
        context.loading(out, &loaded, Detail::Quiet)?;
        return Ok(Exit::without_model(&loaded));
    };
    let script = match read_script(args, context) {
        Ok(script) => script,
        Err(Unread::Refused(diagnostic)) => {
            context.text.diagnostics(out, &loaded.sources, [&*diagnostic])?;
            return Ok(Exit::BadInput);
        }
        Err(Unread::Stopped(why)) => {
            writeln!(out, "the script could not be read: {}", why.word())?;
            return Ok(Exit::Inconclusive);
        }
    };
    let mut walk = match begin(args, context, &loaded, model, out)? {
        Ok(walk) => walk,
        Err(exit) => return Ok(exit),
    };
    let (walk, text) = (&mut *walk, context.text);
    if let Some(trace) = &args.from {
        let limits = args.work.limits(&context.interrupt);
        let run = match first_run(trace, &limits) {
            Ok(run) => run,
            Err((message, Exit::Inconclusive)) => {
                writeln!(out, "{message}")?;
                return Ok(Exit::Inconclusive);
            }
            Err((message, _)) => bail!(message),
        };
        let Followed { n_steps, stopped } = walk.follow(&run);
        walk.path(out)?;
        if let Some(reason) = stopped {
            writeln!(out, "the trace is followed for {n_steps} steps only: {reason}")?;
        }
    }
    match (script, args.random) {
        (_, Some(n_steps)) => random(walk, (n_steps, args.seed), &context.interrupt, out),
        (Some(script), None) => {
            let name = args.script.as_deref().map_or("<stdin>".into(), |path| path.display().to_string());
            let commands = Commands { name: &name, text: &script, offset: 0 };
            run_script(walk, text, &commands, &context.interrupt, out)
        }
        (None, None) => interact(walk, text, &context.interrupt, out),
    }
}

/// Reads the commands of a script or of standard input; none if there are random steps or a terminal.
fn read_script(args: &SimulateArgs, context: &Context) -> Result<Option<String>, Unread> {
    if args.random.is_some() || (args.script.is_none() && io::stdin().is_terminal()) {
        return Ok(None);
    }
    let limits = args.work.limits(&context.interrupt);
    match &args.script {
        Some(path) => driver::read_text_within(path, MAX_SCRIPT_BYTES, &limits).map(Some),
        None => {
            // The time limit is for questions; a program may take its time to write commands.
            let limits = Limits { deadline: None, ..limits };
            driver::read_text_within(Path::new("-"), MAX_SCRIPT_BYTES, &limits).map(Some)
        }
    }
}

/// A walk before its first step, or the exit code if there is none.
fn begin<'a>(
    args: &'a SimulateArgs,
    context: &'a Context,
    loaded: &'a Loaded,
    model: &Model,
    out: &mut dyn Write,
) -> anyhow::Result<Result<Box<dyn Walk + 'a>, Exit>> {
    let limits = args.work.limits(&context.interrupt).after_loading(loaded);
    if let Model::Ispl(system) = model {
        let (options, request) = (loaded.engine_options.clone(), args.model.request(&args.work));
        let simulation = match Simulation::new(system, &options, &limits) {
            Ok(simulation) => simulation,
            Err(why) => {
                writeln!(out, "the initial states could not be found: {}", why.word())?;
                return Ok(Err(Exit::Inconclusive));
            }
        };
        if simulation.initial.is_empty() {
            let message = "no state satisfies InitStates, so the walk cannot begin";
            let diagnostic = Diagnostic::error("ispl/no-initial-state", system.initial_span, message);
            context.text.diagnostics(out, &loaded.sources, [&diagnostic])?;
            return Ok(Err(Exit::BadInput));
        }
        let (work, text, exit, n_random) = (&args.work, context.text, Exit::AllHold, 0);
        let mut walk =
            JointWalk { simulation, loaded, text, context, work, options, request, exit, n_random };
        // Random steps write the initial state as the first step.
        if args.random.is_none() && walk.has_one_initial_state() {
            walk.simulation.begin(0);
        }
        return Ok(Ok(Box::new(walk)));
    }
    let explorer = match loaded.explorer(MAX_WALKED_STATES, &limits) {
        Ok(explorer) => explorer,
        Err(why) => {
            writeln!(out, "the states could not be found: {}", why.word())?;
            return Ok(Err(Exit::Inconclusive));
        }
    };
    match explorer.and_then(|explorer| StepWalk::new(explorer, context, &args.work)) {
        Some(walk) => Ok(Ok(Box::new(walk))),
        None if matches!(loaded.model, Some(Model::Bdi(_))) => {
            bail!("{}: all states of the first world are removed; `masque worlds` shows why", loaded.name())
        }
        None => bail!("{}: the model has no initial state", loaded.name()),
    }
}

/// A text with commands, and the byte offset of the current one.
struct Commands<'c> {
    name: &'c str,
    text: &'c str,
    offset: usize,
}

/// Takes random steps, which depend only on the seed, and writes each when it is taken.
fn random(
    walk: &mut dyn Walk,
    (n_steps, seed): (usize, u64),
    interrupt: &AtomicBool,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut choices = RandomChoices::new(seed);
    let mut roll = |n: usize| choices.below(n);
    let n_digits = n_steps.to_string().len();
    let mut is_stuck = false;
    let mut last_flush = Instant::now();
    for _ in 0..=n_steps {
        if interrupt.load(Ordering::Relaxed) {
            walk.end_path(out)?;
            writeln!(out, "interrupted")?;
            return Ok(Exit::Inconclusive);
        }
        if !walk.random_step(&mut roll, n_digits, out)? {
            is_stuck = true;
            break;
        }
        if last_flush.elapsed() > FLUSH_INTERVAL {
            out.flush()?;
            last_flush = Instant::now();
        }
    }
    walk.end_path(out)?;
    if is_stuck {
        writeln!(out, "no step is possible here")?;
    }
    Ok(walk.exit())
}

/// Runs the commands of a script. After a question that is refused, the next command is run: the walk is where it
/// would have been. Any other command that is refused ends the script, because the following steps would lead
/// elsewhere. The exit code reports both.
fn run_script(
    walk: &mut dyn Walk,
    text: Text,
    script: &Commands<'_>,
    interrupt: &AtomicBool,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    walk.start(out)?;
    let mut exit = Exit::AllHold;
    let mut offset = 0;
    for line in script.text.split_inclusive('\n') {
        if interrupt.load(Ordering::Relaxed) {
            writeln!(out, "interrupted")?;
            return Ok(Exit::Inconclusive);
        }
        let command = line.trim_end_matches(['\n', '\r']);
        if !command.trim().is_empty() {
            writeln!(out, "> {}", command.trim())?;
        }
        match walk.command(command, out) {
            Ok(Next::Continue) => {}
            Ok(Next::Quit) => break,
            Err(refused) => {
                report_refusal(text, &Commands { offset, ..*script }, refused, out)?;
                exit = Exit::BadInput;
                if !command.trim_start().starts_with(['?', '~']) {
                    break;
                }
            }
        }
        offset += line.len();
    }
    exit.raise(walk.exit());
    Ok(exit)
}

/// Runs commands from a terminal, until `quit` or the end of the input. Ctrl-C stops a question, and at the prompt
/// it ends the walk.
fn interact(
    walk: &mut dyn Walk,
    text: Text,
    interrupt: &AtomicBool,
    out: &mut dyn Write,
) -> anyhow::Result<Exit> {
    walk.start(out)?;
    let mut prompt = Prompt::new().context(NO_THREAD)?;
    while let Some(line) = prompt.line(interrupt, out)? {
        match walk.command(&line, out) {
            Ok(Next::Continue) => {}
            Ok(Next::Quit) => break,
            Err(refused) => {
                let command = Commands { name: "<command>", text: &line, offset: 0 };
                report_refusal(text, &command, refused, out)?;
            }
        }
        interrupt.store(false, Ordering::Relaxed);
    }
    Ok(walk.exit())
}

/// Writes why a command was refused, with its position in the text.
fn report_refusal(
    text: Text,
    command: &Commands<'_>,
    refused: Refused,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let Commands { name, text: commands, offset } = *command;
    match refused {
        Refused::Io(error) => Err(error.into()),
        Refused::Command { from, to, message, hint } => {
            let mut sources = Sources::default();
            let Ok(file) = sources.add(name, commands) else { bail!("{message}") };
            let span = sources.span(file).slice((offset + from) as u32, (offset + to) as u32);
            let diagnostic = Diagnostic::error("cli/bad-command", span, message).help(hint);
            Ok(text.diagnostics(out, &sources, [&diagnostic])?)
        }
        Refused::Formula { from, mistakes } => {
            let driver::Refused { mut sources, mut diagnostics } = *mistakes;
            diagnostics.retain(Diagnostic::is_error);
            if let Ok(file) = sources.add(name, commands) {
                let start = sources.span(file).start + (offset + from) as u32;
                diagnostics.iter_mut().for_each(|diagnostic| move_to_command(&sources, diagnostic, start));
            }
            Ok(text.diagnostics(out, &sources, &diagnostics)?)
        }
    }
}

/// Moves the places of a diagnostic about a formula to the command that contains the formula, which begins at the
/// position `start`. Places in files stay as they are.
fn move_to_command(sources: &Sources, diagnostic: &mut Diagnostic, start: u32) {
    for label in diagnostic.primary.iter_mut().chain(&mut diagnostic.secondary) {
        let file = sources.file_of(label.span);
        if FORMULA_NAMES.contains(&sources.name(file)) {
            let base = sources.span(file).start;
            label.span.start = label.span.start - base + start;
            label.span.end = label.span.end - base + start;
        }
    }
    diagnostic.message = diagnostic.message.replace("the end of the file", "the end of the formula");
}
