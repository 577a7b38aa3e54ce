//! From the bytes of a log to the lines of the result.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use masque_monitor::map::Map;
use masque_monitor::record::{DEFAULT_LINE_BYTES, Lines};
use masque_monitor::{Enforcement, Intake, IntakeOptions, SessionLimits, Sessions, Watched};
use masque_report::{MonitorHost, MonitorLine, MonitorLog, MonitorProblem, MonitorStart};
use masque_text::Sources;
use masque_verdict::{Budget, Stop};

use super::input::{Input, Next};
use crate::Context;
use crate::args::{Format, MonitorArgs, OnUnknown};

/// Number of events of a session that are kept for its chart.
const MAX_CHART_EVENTS: usize = 60;
/// Time for the summary after an interrupt.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// What a run is given.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) args: &'a MonitorArgs,
    pub(super) context: &'a Context,
    pub(super) sources: &'a Sources,
    /// Names of the files of the model.
    pub(super) names: &'a [String],
    /// Whether the output is closed.
    pub(super) is_closed: &'a AtomicBool,
}

/// Judges the records of a log, and sends the lines of the result. `send` returns false if the receiver is gone.
pub(super) fn watch<W: Watched>(
    run: Run<'_>,
    watched: W,
    map: Option<Map>,
    mut log: Input,
    send: &mut dyn FnMut(MonitorLine) -> bool,
) -> Result<(), Stop> {
    let args = run.args;
    let has_charts = args.html.is_some() || args.format == Format::Text;
    let limits = SessionLimits {
        open: args.sessions as usize,
        history: if has_charts { MAX_CHART_EVENTS } else { 0 },
        ..SessionLimits::default()
    };
    let allows_unknown = args.on_unknown == OnUnknown::Allow;
    let enforcement = args.enforce.then_some(Enforcement { allows_unknown });
    let mut options =
        IntakeOptions { is_followed: args.follow, decides: args.enforce, ..IntakeOptions::default() };
    if let Some(bytes) = args.memory {
        let half = usize::try_from(bytes / 2).unwrap_or(usize::MAX);
        options.max_waiting_bytes = options.max_waiting_bytes.min(half);
    }
    let intake = Intake::new(map, W::FORM, options);
    let max_bytes =
        args.line.map_or(DEFAULT_LINE_BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let mut lines = Lines::new(max_bytes);
    let sessions = Sessions::new(watched, limits, enforcement);
    let mut watch = Watch {
        log: MonitorLog::new(intake, sessions, enforcement, run.sources).with_idle(args.idle, args.follow),
        host: Host { run, last_arrival: Instant::now(), interrupted_at: None, send },
    };
    watch.begin()?;
    while !watch.host.is_stopped() {
        let next = log.next();
        if !watch.take(next, &mut lines) {
            break;
        }
    }
    let Watch { mut log, mut host } = watch;
    if host.is_interrupted() && lines.has_part() {
        host.problem("incomplete", "the last line of the log is incomplete so far; it is not used");
    }
    if run.is_closed.load(Ordering::Relaxed) {
        return Ok(());
    }
    log.finish(host.is_interrupted(), &mut host);
    Ok(())
}

impl Run<'_> {
    /// The budget of loading, and of judging one record.
    pub(super) fn budget(&self) -> Budget {
        let budget = Budget::unlimited().with_cancel(self.context.interrupt.clone());
        self.limited(budget)
    }

    fn limited(&self, mut budget: Budget) -> Budget {
        if let Some(time) = self.args.timeout {
            budget = budget.with_timeout(time);
        }
        match self.args.memory {
            Some(bytes) => budget.with_memory(bytes),
            None => budget,
        }
    }
}

/// What the log is judged with.
struct Host<'r, 's> {
    run: Run<'r>,
    /// Time at which the last bytes arrived.
    last_arrival: Instant,
    /// Time at which the user stopped the command.
    interrupted_at: Option<Instant>,
    send: &'s mut dyn FnMut(MonitorLine) -> bool,
}

impl MonitorHost for Host<'_, '_> {
    /// The budget of one record, or of the rest after an interrupt.
    fn budget(&mut self) -> Budget {
        if !self.is_interrupted() {
            return self.run.budget();
        }
        let since = *self.interrupted_at.get_or_insert_with(Instant::now);
        self.run.limited(Budget::unlimited().with_deadline(since + CLOSING_TIME))
    }

    fn arrival(&self) -> Instant {
        self.last_arrival
    }

    fn emit(&mut self, line: MonitorLine) {
        // If the output is closed, `is_stopped` ends the run.
        _ = (self.send)(line);
    }
}

impl Host<'_, '_> {
    fn is_stopped(&self) -> bool {
        self.is_interrupted() || self.run.is_closed.load(Ordering::Relaxed)
    }

    fn is_interrupted(&self) -> bool {
        self.run.context.interrupt.load(Ordering::Relaxed)
    }

    fn problem(&mut self, problem: &'static str, message: &str) {
        let message = message.to_string();
        self.emit(MonitorLine::Problem(MonitorProblem { problem, line: None, column: None, message }));
    }
}

struct Watch<'r, 's, W: Watched> {
    log: MonitorLog<'r, W>,
    host: Host<'r, 's>,
}

impl<W: Watched> Watch<'_, '_, W> {
    /// Sends what is known before the first record.
    fn begin(&mut self) -> Result<(), Stop> {
        let args = self.host.run.args;
        let start = MonitorStart {
            files: self.host.run.names.to_vec(),
            log: args.input.display().to_string(),
            map: args.map.clone(),
            agent: args.agent.clone(),
            enforce: args.enforce,
            ..MonitorStart::default()
        };
        self.log.begin(start, &mut self.host)
    }

    /// Uses what was read. Returns whether the log goes on.
    fn take(&mut self, next: io::Result<Next>, lines: &mut Lines) -> bool {
        match next {
            Ok(Next::Bytes(bytes)) => {
                self.host.last_arrival = Instant::now();
                lines.push(&bytes);
                while let Some(line) = lines.next_line() {
                    self.log.line(&line, &mut self.host);
                    if self.host.is_stopped() {
                        return false;
                    }
                }
            }
            Ok(Next::Nothing) => self.wait(),
            Ok(Next::End) => {
                if let Some(line) = lines.last_line() {
                    self.log.line(&line, &mut self.host);
                }
                return false;
            }
            Ok(Next::Rotated) => {
                self.restart(lines, "rotated", "another file has the name of the log; it is read now")
            }
            Ok(Next::Truncated) => {
                self.restart(
                    lines,
                    "truncated",
                    "the log was truncated or written again; it is read from its beginning",
                );
            }
            Ok(Next::Missing) => {
                self.host.problem(
                    "missing",
                    "the log has been removed or renamed; waiting for another file of this name",
                );
            }
            Err(error) => {
                self.log.add_bad_record();
                self.host.problem("bad_record", &format!("the log cannot be read any further: {error}"));
                return false;
            }
        }
        true
    }

    /// Begins a new file. An incomplete line at the end of the old one is reported.
    fn restart(&mut self, lines: &mut Lines, problem: &'static str, message: &str) {
        if lines.has_part() {
            self.log.add_bad_record();
            self.host.problem(
                "incomplete",
                "the last line of the log before it was replaced is incomplete; it is not used",
            );
        }
        lines.restart();
        self.host.problem(problem, message);
    }

    /// While nothing arrives: uses what waits for earlier records that will not come, and closes idle sessions.
    fn wait(&mut self) {
        if !self.host.run.args.follow {
            // Then the log is what it is, however fast it arrives.
            return;
        }
        let quiet = self.host.last_arrival.elapsed().as_nanos() as i128;
        let intake = self.log.intake();
        if intake.n_waiting() > 0 && intake.window().is_some_and(|window| quiet > window) {
            self.log.flush(&mut self.host);
        }
        self.log.close_idle(&mut self.host);
    }
}
