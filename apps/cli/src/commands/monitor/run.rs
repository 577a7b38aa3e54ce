//! From the bytes of a log to the lines of the result.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use masque_monitor::map::Map;
use masque_monitor::record::{DEFAULT_LINE_BYTES, Lines, Time};
use masque_monitor::{
    BadLine, CloseReason, ClosedSession, Enforcement, EventVerdict, Intake, Intaken, Item, SessionLimits,
    SessionStep, Sessions, StepOutcome, Watched,
};
use masque_report::{
    MonitorEvent, MonitorLine, MonitorProblem, MonitorSession, MonitorStart, MonitorSummary,
};
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
    let mut intake = Intake::new(map, W::FORM, args.follow);
    let max_bytes =
        args.line.map_or(DEFAULT_LINE_BYTES, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let mut lines = Lines::new(max_bytes);
    let mut watch = Watch {
        run,
        sessions: Sessions::new(watched, limits, enforcement),
        enforcement,
        summary: MonitorSummary::default(),
        start: Instant::now(),
        newest: None,
        interrupted_at: None,
        last_arrival: Instant::now(),
        send,
    };
    watch.begin()?;
    while !watch.is_stopped() {
        let next = log.next();
        if !watch.take(next, &mut lines, &mut intake) {
            break;
        }
    }
    watch.finish(&mut intake);
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

struct Watch<'r, 's, W: Watched> {
    run: Run<'r>,
    sessions: Sessions<W>,
    enforcement: Option<Enforcement>,
    summary: MonitorSummary,
    start: Instant,
    /// Newest time of a record.
    newest: Option<Time>,
    /// Time at which the user stopped the command.
    interrupted_at: Option<Instant>,
    /// Time at which the last bytes arrived.
    last_arrival: Instant,
    send: &'s mut dyn FnMut(MonitorLine) -> bool,
}

impl<W: Watched> Watch<'_, '_, W> {
    fn is_stopped(&self) -> bool {
        self.is_interrupted() || self.run.is_closed.load(Ordering::Relaxed)
    }

    fn is_interrupted(&self) -> bool {
        self.run.context.interrupt.load(Ordering::Relaxed)
    }

    /// The budget of one record, or of the rest after an interrupt.
    fn budget(&mut self) -> Budget {
        if !self.is_interrupted() {
            return self.run.budget();
        }
        let since = *self.interrupted_at.get_or_insert_with(Instant::now);
        self.run.limited(Budget::unlimited().with_deadline(since + CLOSING_TIME))
    }

    fn emit(&mut self, line: MonitorLine) {
        // If the output is closed, `is_stopped` ends the run.
        _ = (self.send)(line);
    }

    /// Sends what is known before the first record.
    fn begin(&mut self) -> Result<(), Stop> {
        let args = self.run.args;
        let budget = self.budget();
        let status = self.sessions.initial_status(&budget)?;
        let start = MonitorStart {
            files: self.run.names.to_vec(),
            log: args.input.display().to_string(),
            map: args.map.clone(),
            agent: args.agent.clone(),
            enforce: args.enforce,
            ..MonitorStart::default()
        };
        let start = start.with_status(&status);
        self.summary.lost += start.goals.iter().filter(|goal| goal.status == "lost").count() as u64;
        self.emit(MonitorLine::Start(start));
        Ok(())
    }

    /// Uses what was read. Returns whether the log goes on.
    fn take(&mut self, next: io::Result<Next>, lines: &mut Lines, intake: &mut Intake) -> bool {
        match next {
            Ok(Next::Bytes(bytes)) => {
                self.last_arrival = Instant::now();
                lines.push(&bytes);
                while let Some(line) = lines.next_line() {
                    self.line(intake, &line);
                    if self.is_stopped() {
                        return false;
                    }
                }
            }
            Ok(Next::Nothing) => self.wait(intake),
            Ok(Next::End) => {
                if let Some(line) = lines.last_line() {
                    self.line(intake, &line);
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
                self.problem(
                    "missing",
                    "the log has been removed or renamed; waiting for another file of this name",
                );
            }
            Err(error) => {
                self.summary.bad_records += 1;
                self.problem("bad_record", &format!("the log cannot be read any further: {error}"));
                return false;
            }
        }
        true
    }

    fn line(&mut self, intake: &mut Intake, line: &masque_monitor::record::Line) {
        let ignored = intake.counts.ignored;
        intake.line(line, &mut |taken| self.use_it(taken));
        self.copy_counts(intake);
        // Each record has a decision, so that a program can wait for it.
        if self.enforcement.is_some() && intake.counts.ignored > ignored {
            let mut event =
                MonitorEvent::not_judged(line.number, &None, &Default::default(), "ignored", None);
            event.decision = Some("allow");
            self.emit(MonitorLine::Event(Box::new(event)));
        }
    }

    fn copy_counts(&mut self, intake: &Intake) {
        let counts = intake.counts;
        self.summary.lines = counts.lines;
        self.summary.events = counts.observed;
        self.summary.ignored = counts.ignored;
        self.summary.late_records = counts.late;
        self.summary.out_of_order = counts.out_of_order;
    }

    /// Begins a new file. An incomplete line at the end of the old one is reported.
    fn restart(&mut self, lines: &mut Lines, problem: &'static str, message: &str) {
        if lines.has_part() {
            self.summary.bad_records += 1;
            self.problem(
                "incomplete",
                "the last line of the log before it was replaced is incomplete; it is not used",
            );
        }
        lines.restart();
        self.problem(problem, message);
    }

    fn problem(&mut self, problem: &'static str, message: &str) {
        let message = message.to_string();
        self.emit(MonitorLine::Problem(MonitorProblem { problem, line: None, column: None, message }));
    }

    /// While nothing arrives: uses what waits for earlier records that will not come, and closes idle sessions.
    fn wait(&mut self, intake: &mut Intake) {
        let quiet = self.last_arrival.elapsed().as_nanos() as i128;
        if intake.n_waiting() > 0 && intake.window().is_some_and(|window| quiet > window) {
            intake.flush(&mut |taken| self.use_it(taken));
            self.copy_counts(intake);
        }
        self.close_idle();
    }

    /// The time by which idle sessions are found: that of the records, or the clock for a log that is followed.
    fn now(&self) -> i128 {
        self.newest.map_or(self.start.elapsed().as_nanos() as i128, |Time(newest)| newest)
    }

    fn close_idle(&mut self) {
        let Some(idle) = self.run.args.idle else { return };
        if self.newest.is_none() && !self.run.args.follow {
            return;
        }
        let since = self.now() - idle.as_nanos() as i128;
        let budget = self.budget();
        while let Some(closed) = self.sessions.close_idle(since, &budget) {
            self.closed(closed, None);
        }
    }

    fn use_it(&mut self, taken: Intaken) {
        match taken {
            Intaken::Bad(bad) => self.bad(bad),
            Intaken::Late(Item { line, .. }) => {
                let message =
                    "this record arrived after later ones were used, and is not used; raise `window_seconds`";
                let line = Some(line);
                let (problem, message) = ("late_record", message.to_string());
                self.emit(MonitorLine::Problem(MonitorProblem { problem, line, column: None, message }));
            }
            Intaken::Item(item) => self.item(&item),
        }
    }

    fn bad(&mut self, BadLine { line, column, message }: BadLine) {
        self.summary.bad_records += 1;
        let problem = MonitorProblem { problem: "bad_record", line: Some(line), column, message };
        self.emit(MonitorLine::Problem(problem));
        if self.enforcement.is_some() {
            let mut event = MonitorEvent::not_judged(line, &None, &Default::default(), "bad_record", None);
            event.decision = Some("deny");
            self.emit(MonitorLine::Event(Box::new(event)));
        }
    }

    fn item(&mut self, item: &Item) {
        self.newest = self.newest.max(item.observed.time);
        let (key, budget) = (&item.observed.session, self.budget());
        let Some(event) = &item.observed.event else {
            if let Some(closed) = self.sessions.end(key, &budget).closed {
                self.closed(closed, None);
            }
            return;
        };
        let now = self.now();
        let SessionStep { is_new: _, outcome, closed } = self.sessions.observe(key, event, now, &budget);
        let report = match outcome {
            StepOutcome::Judged(judgement) => {
                self.summary.violated += u64::from(
                    matches!(judgement.event, EventVerdict::Violated(_)) && self.enforcement.is_none(),
                );
                self.summary.unknown += u64::from(matches!(judgement.event, EventVerdict::Unknown(_)));
                let mut report = MonitorEvent::judged(item.line, key, event, &judgement, self.run.sources);
                report.decision =
                    self.enforcement.map(|it| if it.allows(&judgement) { "allow" } else { "deny" });
                report
            }
            StepOutcome::Unreadable(message) => {
                return self.bad(BadLine { line: item.line, column: None, message });
            }
            other => self.not_judged(item, event, other),
        };
        self.summary.denied += u64::from(report.decision == Some("deny"));
        self.summary.lost += report.goals.iter().filter(|goal| goal.status == "lost").count() as u64;
        let report = Box::new(report);
        self.emit(MonitorLine::Event(report.clone()));
        if let Some(closed) = closed {
            self.closed(closed, Some(report));
        }
        while let Some(closed) = self.sessions.close_excess(&budget) {
            self.closed(closed, None);
        }
        self.close_idle();
    }

    /// Reports an observation that was not judged.
    fn not_judged(
        &mut self,
        item: &Item,
        event: &masque_monitor::map::ObservedEvent,
        outcome: StepOutcome,
    ) -> MonitorEvent {
        let (verdict, reason) = match outcome {
            StepOutcome::AfterEnd => {
                self.summary.violated += u64::from(self.enforcement.is_none());
                ("after_end", None)
            }
            StepOutcome::Stopped(stop) => {
                self.summary.unknown += 1;
                ("unknown", Some(stop.to_string()))
            }
            _ => {
                self.summary.not_judged += 1;
                ("after_violation", None)
            }
        };
        let mut report = MonitorEvent::not_judged(item.line, &item.observed.session, event, verdict, reason);
        report.decision = self.enforcement.map(|enforcement| {
            if verdict == "unknown" && enforcement.allows_unknown { "allow" } else { "deny" }
        });
        report
    }

    /// Reports a session that was closed.
    fn closed(&mut self, closed: ClosedSession, last: Option<Box<MonitorEvent>>) {
        let ClosedSession { key, reason, closing, history, n_events } = closed;
        let mut session = MonitorSession::new(&key, reason, n_events);
        match closing {
            Ok(closing) => {
                session = session.with_closing(&closing);
                self.summary.open += closing.open.len() as u64;
                self.summary.perhaps_open += closing.perhaps_open.len() as u64;
                let n_unknown = session.goals.iter().filter(|goal| goal.status == "unknown").count();
                self.summary.unknown += n_unknown as u64 + u64::from(closing.unknown.is_some());
            }
            Err(Some(stop)) => {
                self.summary.unknown += 1;
                session.unknown = Some(stop.to_string());
            }
            Err(None) if reason == CloseReason::Violated => {}
            Err(None) => {
                self.summary.unknown += 1;
                session.unknown = Some(match reason {
                    CloseReason::Stopped => "a limit was reached, so later events are not judged".to_string(),
                    _ => "too many sessions were open; raise `--sessions`, or end sessions in the map"
                        .to_string(),
                });
            }
        }
        if reason == CloseReason::Violated {
            session.violation = last;
        }
        session.history = history.events.into();
        session.n_dropped = history.n_dropped;
        self.emit(MonitorLine::Session(session));
    }

    fn finish(&mut self, intake: &mut Intake) {
        intake.flush(&mut |taken| self.use_it(taken));
        self.copy_counts(intake);
        let budget = self.budget();
        while let Some(closed) = self.sessions.close_next(&budget) {
            self.closed(closed, None);
        }
        if let Some(remark) = self.sessions.remark() {
            self.problem("gaps", &remark);
        }
        self.summary.sessions = self.sessions.n_opened();
        self.summary.interrupted = self.is_interrupted();
        let summary = self.summary;
        self.emit(MonitorLine::Summary(summary));
    }
}
