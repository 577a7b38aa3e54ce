//! `masque agent` and `masque state`: one agent's side of an interaction, and its state as text.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use masque_driver::lcc::{AgentSetup, AgentSide, AgentStatus, EventSelector, Played, Session};
use masque_driver::{self as driver, Limits, RefusedFiles};

use super::NO_THREAD;
use crate::args::{AgentArgs, StateArgs, StateFormat};
use crate::{Context, Exit};

/// Maximum size of a tuple in bytes, unless `--message` is given.
const MAX_TUPLE_BYTES: u64 = 4 << 20;
/// Time between two looks at the interrupt flag.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Maximum number of tuples that are reported as not played when an agent ends.
const MAX_UNREAD_TUPLES: usize = 100;

/// What is read from standard input.
enum Input {
    Line(String),
    TooLong,
    NoText,
    End,
}

/// `agent --id ID FILE..`: receives tuples line by line, plays one agent, and passes tuples on.
pub fn agent(
    args: &AgentArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let limits = Limits::new(args.timeout, None, &context.interrupt);
    let setup = match driver::protocol_setup("agent", &args.files, &[], &args.options, &limits) {
        Ok(setup) => setup,
        Err(refused) => return report_refusal(context, err, &refused),
    };
    let setup =
        AgentSetup { id: args.id.clone(), setup, properties: args.properties.clone(), max_steps: args.steps };
    let budget = || {
        let budget = driver::lcc::Budget::default().with_cancel(Arc::clone(&context.interrupt));
        args.timeout.map_or(budget.clone(), |timeout| budget.with_timeout(timeout))
    };
    let mut exit = Exit::AllHold;
    let mut side = match AgentSide::open_within(setup, &budget()) {
        Ok(side) => side,
        Err(refused) => return report_refusal(context, err, &refused.into()),
    };
    let mut status = AgentStatus::Waiting(Vec::new());
    if let Some(interaction) = &args.start {
        match side.start(interaction, &budget()) {
            Ok(played) => status = report_played(context, out, err, played)?,
            Err(refused) => return report_refusal(context, err, &refused.into()),
        }
    }
    let (sender, lines) = sync_channel(1);
    let max_bytes = args.message.unwrap_or(MAX_TUPLE_BYTES);
    let read = move || read_lines(max_bytes, &sender);
    Builder::new().name("input".to_string()).spawn(read).context(NO_THREAD)?;
    loop {
        if let Some(end) = ended(&args.id, &status, err)? {
            exit.raise(end);
            break;
        }
        let line = match next_line(&lines, args.timeout, context) {
            Some(Input::Line(line)) => line,
            Some(Input::TooLong) => {
                writeln!(err, "error: a tuple is longer than {max_bytes} bytes; it is ignored")?;
                exit.raise(Exit::BadInput);
                continue;
            }
            Some(Input::NoText) => {
                writeln!(err, "error: a line is not UTF-8 text; it is ignored")?;
                exit.raise(Exit::BadInput);
                continue;
            }
            Some(Input::End) => {
                exit.raise(unfinished(args, &status, "the input has ended", err)?);
                break;
            }
            None => {
                let is_interrupted = context.interrupt.load(Ordering::Relaxed);
                let why = if is_interrupted { "interrupted" } else { "no tuple has arrived in time" };
                exit.raise(unfinished(args, &status, why, err)?);
                break;
            }
        };
        match side.receive(&line, &budget()) {
            Ok(played) => status = report_played(context, out, err, played)?,
            Err(refused) => {
                let code = report_refusal(context, err, &refused.into())?;
                exit.raise(code);
                if code == Exit::Inconclusive {
                    // The agent is as it was before the tuple, which can be sent again.
                    writeln!(err, "not played: {}", line.trim_end())?;
                    break;
                }
            }
        }
    }
    report_unread(&lines, err)?;
    Ok(exit)
}

/// The exit of an agent that needs no more tuples, because it has finished or cannot go on. Writes why.
fn ended(id: &str, status: &AgentStatus, err: &mut dyn Write) -> io::Result<Option<Exit>> {
    Ok(match status {
        AgentStatus::Finished => Some(Exit::AllHold),
        AgentStatus::Blocked(reasons) => {
            for reason in reasons {
                writeln!(err, "blocked: {reason}")?;
            }
            Some(Exit::SomeFail)
        }
        AgentStatus::Limited(bound) => {
            writeln!(err, "{id}: stopped at the bound `{bound}`")?;
            Some(Exit::Inconclusive)
        }
        AgentStatus::Idle | AgentStatus::Waiting(_) => None,
    })
}

/// Writes tuples that were read from standard input and not played, so that none is lost.
fn report_unread(lines: &Receiver<Input>, err: &mut dyn Write) -> io::Result<()> {
    for input in lines.try_iter().take(MAX_UNREAD_TUPLES) {
        if let Input::Line(line) = input {
            writeln!(err, "not played: {}", line.trim_end())?;
        }
    }
    Ok(())
}

/// `state FILE..`: writes the state of an interaction after some events.
pub fn state(
    args: &StateArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let limits = Limits::new(None, None, &context.interrupt);
    let setup = driver::protocol_setup("state", &args.files, &[], &args.options, &limits);
    let mut session = match setup.and_then(|setup| Ok(Session::open(setup)?)) {
        Ok(session) => session,
        Err(refused) => return report_refusal(context, err, &refused),
    };
    for event in &args.events {
        if let Err(cannot) = session.advance(&EventSelector::Pattern(event.clone())) {
            bail!("`--after {event}`: {cannot}");
        }
    }
    match args.format {
        StateFormat::Statements => {
            for statement in session.state() {
                writeln!(out, "{statement}")?;
            }
        }
        StateFormat::Tuple => writeln!(out, "{}", session.tuple(&args.interaction))?,
    }
    Ok(Exit::AllHold)
}

/// Reads lines of at most `max_bytes` bytes until the end of standard input.
fn read_lines(max_bytes: u64, sender: &SyncSender<Input>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let n_bytes = input.by_ref().take(max_bytes + 1).read_until(b'\n', &mut line).unwrap_or(0);
        let read = if n_bytes == 0 {
            Input::End
        } else if line.len() as u64 > max_bytes && line.last() != Some(&b'\n') {
            skip_line(&mut input);
            Input::TooLong
        } else {
            String::from_utf8(line).map_or(Input::NoText, Input::Line)
        };
        let is_end = matches!(read, Input::End);
        let is_blank = matches!(&read, Input::Line(line) if line.trim().is_empty());
        if !is_blank && sender.send(read).is_err() || is_end {
            return;
        }
    }
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) {
    while let Ok(buffer) = input.fill_buf() {
        let (n_bytes, is_end) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(n_bytes);
        if is_end {
            return;
        }
    }
}

/// Waits for the next line; `None` after the time limit or an interrupt.
fn next_line(lines: &Receiver<Input>, timeout: Option<Duration>, context: &Context) -> Option<Input> {
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    loop {
        match lines.recv_timeout(POLL_INTERVAL) {
            Ok(input) => return Some(input),
            Err(RecvTimeoutError::Disconnected) => return Some(Input::End),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if context.interrupt.load(Ordering::Relaxed)
            || deadline.is_some_and(|deadline| Instant::now() >= deadline)
        {
            return None;
        }
    }
}

/// Writes the tuples and steps of an agent, and returns its status.
fn report_played(
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
    played: Played,
) -> anyhow::Result<AgentStatus> {
    let Played { steps, tuples, status, notes } = played;
    if context.text.detail == masque_report::Detail::Verbose {
        for step in steps {
            writeln!(err, "step: {step}")?;
        }
    }
    for note in notes {
        writeln!(err, "note: {note}")?;
    }
    for tuple in tuples {
        writeln!(out, "{tuple}")?;
    }
    out.flush()?;
    Ok(status)
}

/// Reports why a tuple or the agent's own files are refused.
fn report_refusal(context: &Context, err: &mut dyn Write, refused: &RefusedFiles) -> anyhow::Result<Exit> {
    if let Some(stop) = &refused.stopped {
        writeln!(err, "stopped: {stop}")?;
        return Ok(Exit::Inconclusive);
    }
    context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
    Ok(Exit::BadInput)
}

/// The exit of an agent that gets no more tuples.
fn unfinished(
    args: &AgentArgs,
    status: &AgentStatus,
    why: &str,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let AgentStatus::Waiting(reasons) = status else { return Ok(Exit::AllHold) };
    writeln!(err, "{}: {why}", args.id)?;
    for reason in reasons {
        writeln!(err, "  {reason}")?;
    }
    Ok(Exit::Inconclusive)
}
