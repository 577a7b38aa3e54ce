//! From the records of a log to the lines of the result of monitoring.

use std::time::{Duration, Instant};

use masque_monitor::map::ObservedEvent;
use masque_monitor::record::{Line, Time};
use masque_monitor::{
    BadLine, CloseReason, ClosedSession, Enforcement, Intake, Intaken, Item, Seen, SessionStep, Sessions,
    StepOutcome, Watched,
};
use masque_text::Sources;
use masque_verdict::{Budget, Stop};

use crate::monitor::{
    MonitorEvent, MonitorLine, MonitorProblem, MonitorSession, MonitorStart, MonitorSummary,
};

/// What a [`MonitorLog`] needs of its caller.
pub trait MonitorHost {
    /// The budget of the next record.
    fn budget(&mut self) -> Budget;

    /// The time at which the last record arrived, by the clock.
    fn arrival(&self) -> Instant;

    /// Receives a line of the result.
    fn emit(&mut self, line: MonitorLine);
}

/// The records of a log, judged in their sessions.
pub struct MonitorLog<'s, W: Watched> {
    intake: Intake,
    judge: Judge<'s, W>,
}

/// The sessions of a log, and what was found in them.
struct Judge<'s, W: Watched> {
    sessions: Sessions<W>,
    /// The texts that the rules in explanations are in.
    sources: &'s Sources,
    enforcement: Option<Enforcement>,
    /// Time after which a session in which nothing was observed is closed.
    idle: Option<Duration>,
    /// Whether the log goes on, so that time passes by the clock.
    is_followed: bool,
    summary: MonitorSummary,
    /// Newest time of a record.
    newest: Option<Time>,
    /// The last line with a denied event, which ends no session.
    denied_line: Option<u64>,
}

impl<'s, W: Watched> MonitorLog<'s, W> {
    /// No record was judged yet. `sessions` and `enforcement` agree on what is denied.
    pub fn new(
        intake: Intake,
        sessions: Sessions<W>,
        enforcement: Option<Enforcement>,
        sources: &'s Sources,
    ) -> MonitorLog<'s, W> {
        let judge = Judge {
            sessions,
            sources,
            enforcement,
            idle: None,
            is_followed: false,
            summary: MonitorSummary::default(),
            newest: None,
            denied_line: None,
        };
        MonitorLog { intake, judge }
    }

    /// Closes sessions in which nothing was observed for this time: by the times of records, and if the log is followed
    /// also by the clock.
    pub fn with_idle(mut self, idle: Option<Duration>, is_followed: bool) -> MonitorLog<'s, W> {
        (self.judge.idle, self.judge.is_followed) = (idle, is_followed);
        self
    }

    /// The sessions.
    pub fn sessions(&mut self) -> &mut Sessions<W> {
        &mut self.judge.sessions
    }

    /// The reader of records.
    pub fn intake(&mut self) -> &mut Intake {
        &mut self.intake
    }

    /// The numbers so far.
    pub fn summary(&self) -> MonitorSummary {
        let counts = self.intake.counts;
        MonitorSummary {
            lines: counts.lines,
            events: counts.observed,
            ignored: counts.ignored,
            late_records: counts.late,
            out_of_order: counts.out_of_order,
            sessions: self.judge.sessions.n_opened(),
            ..self.judge.summary
        }
    }

    /// Emits what is known before the first record.
    ///
    /// # Errors
    ///
    /// If a limit is exceeded.
    pub fn begin(&mut self, start: MonitorStart, host: &mut dyn MonitorHost) -> Result<(), Stop> {
        let status = self.judge.sessions.initial_status(&host.budget())?;
        let start = start.with_status(&status);
        self.judge.summary.lost += n_lost(&start.goals);
        host.emit(MonitorLine::Start(start));
        Ok(())
    }

    /// Judges the records of a line.
    pub fn line(&mut self, line: &Line, host: &mut dyn MonitorHost) {
        let MonitorLog { intake, judge } = self;
        let before = intake.counts;
        intake.line(line, &mut |taken| judge.arrived(taken, host));
        // Each record has a decision, so that a program can wait for it.
        let counts = intake.counts;
        if judge.enforcement.is_some() && counts.observed == before.observed && counts.bad == before.bad {
            let verdict = if counts.ends > before.ends { "ended" } else { "ignored" };
            host.emit(decided_without_event(line.number, verdict, true));
        }
    }

    /// Judges an observation as it would be judged now, without adding it to its log.
    ///
    /// # Errors
    ///
    /// If it does not fit the model or is the end of a session; the message says what would be accepted.
    pub fn preview(&mut self, item: &Item, budget: &Budget) -> Result<MonitorEvent, String> {
        let Some(event) = &item.observed.event else {
            return Err("the record ends its session, so there is no event to judge".to_string());
        };
        let outcome = self.judge.sessions.preview(&item.observed.session, event, budget);
        self.judge.event(item, event, outcome)
    }

    /// Judges what waits for earlier records.
    pub fn flush(&mut self, host: &mut dyn MonitorHost) {
        let MonitorLog { intake, judge } = self;
        intake.flush(&mut |taken| judge.arrived(taken, host));
    }

    /// Closes idle sessions.
    pub fn close_idle(&mut self, host: &mut dyn MonitorHost) {
        self.judge.close_idle(host);
    }

    /// Ends a session. Returns whether it was open.
    pub fn end(&mut self, key: &Option<String>, host: &mut dyn MonitorHost) -> bool {
        let closed = self.judge.sessions.end(key, &host.budget()).closed;
        let is_open = closed.is_some();
        closed.into_iter().for_each(|closed| self.judge.closed(closed, None, host));
        is_open
    }

    /// What an open session would report if its log ended here.
    pub fn session_so_far(&mut self, key: &Option<String>, budget: &Budget) -> Option<MonitorSession> {
        Some(session_report(self.judge.sessions.so_far(key, budget)?))
    }

    /// Counts a problem with the log that makes a record useless.
    pub fn add_bad_record(&mut self) {
        self.judge.summary.bad_records += 1;
    }

    /// Judges what waits, closes all sessions, and emits the summary.
    pub fn finish(&mut self, is_interrupted: bool, host: &mut dyn MonitorHost) {
        self.flush(host);
        self.close_all(host);
        if let Some(message) = self.judge.sessions.remark() {
            let (line, column) = (None, None);
            host.emit(MonitorLine::Problem(MonitorProblem { problem: "gaps", line, column, message }));
        }
        let summary = MonitorSummary { interrupted: is_interrupted, ..self.summary() };
        host.emit(MonitorLine::Summary(summary));
    }

    /// Closes all sessions because the log ends.
    fn close_all(&mut self, host: &mut dyn MonitorHost) {
        let budget = host.budget();
        while let Some(closed) = self.judge.sessions.close_next(&budget) {
            self.judge.closed(closed, None, host);
        }
    }
}

fn n_lost(goals: &[crate::GoalReport]) -> u64 {
    goals.iter().filter(|goal| goal.status == "lost").count() as u64
}

impl<W: Watched> Judge<'_, W> {
    fn close_idle(&mut self, host: &mut dyn MonitorHost) {
        let Some(idle) = self.idle else { return };
        let budget = host.budget();
        if let Some(Time(newest)) = self.newest {
            let since = Time(newest - idle.as_nanos() as i128);
            while let Some(closed) = self.sessions.close_before(since, &budget) {
                self.closed(closed, None, host);
            }
        }
        let since = Instant::now().checked_sub(idle).filter(|_| self.is_followed);
        while let Some(closed) = since.and_then(|since| self.sessions.close_quiet(since, &budget)) {
            self.closed(closed, None, host);
        }
    }

    fn arrived(&mut self, taken: Intaken, host: &mut dyn MonitorHost) {
        match taken {
            Intaken::Bad(bad) => self.bad(bad, host),
            Intaken::Late { item, is_cut } => {
                let option = if is_cut { "--memory`, because too many waited" } else { "window_seconds`" };
                let message = format!(
                    "this record arrived after later ones were used, and is not used; raise `{option}"
                );
                let (problem, line) = ("late_record", Some(item.line));
                host.emit(MonitorLine::Problem(MonitorProblem { problem, line, column: None, message }));
            }
            Intaken::Item(item) => self.item(&item, host),
        }
    }

    fn bad(&mut self, BadLine { line, column, message }: BadLine, host: &mut dyn MonitorHost) {
        self.summary.bad_records += 1;
        let problem = MonitorProblem { problem: "bad_record", line: Some(line), column, message };
        host.emit(MonitorLine::Problem(problem));
        if self.enforcement.is_some() {
            host.emit(decided_without_event(line, "bad_record", false));
        }
    }

    fn item(&mut self, item: &Item, host: &mut dyn MonitorHost) {
        self.newest = self.newest.max(item.observed.time);
        let (key, budget) = (&item.observed.session, host.budget());
        let Some(event) = &item.observed.event else {
            // What is denied does not happen, and ends no session either.
            if self.denied_line != Some(item.line)
                && let Some(closed) = self.sessions.end(key, &budget).closed
            {
                self.closed(closed, None, host);
            }
            return;
        };
        let seen = Seen { time: item.observed.time, arrival: host.arrival() };
        let SessionStep { outcome, closed } = self.sessions.observe(key, event, seen, &budget);
        let report = match self.event(item, event, outcome) {
            Ok(report) => report,
            Err(message) => return self.bad(BadLine { line: item.line, column: None, message }, host),
        };
        self.count(&report);
        if report.decision == Some("deny") {
            self.denied_line = Some(item.line);
        }
        let report = Box::new(report);
        host.emit(MonitorLine::Event(report.clone()));
        if let Some(closed) = closed {
            self.closed(closed, Some(report), host);
        }
        while let Some(closed) = self.sessions.close_excess(&budget) {
            self.closed(closed, None, host);
        }
        self.close_idle(host);
    }

    /// Reports what became of an observation; for one that does not fit the model, what is wrong.
    fn event(
        &self,
        item: &Item,
        event: &ObservedEvent,
        outcome: StepOutcome,
    ) -> Result<MonitorEvent, String> {
        let (line, key) = (item.line, &item.observed.session);
        let (verdict, reason) = match outcome {
            StepOutcome::Judged(judgement) => {
                let mut report = MonitorEvent::judged(line, key, event, &judgement, self.sources);
                report.decision = self.enforcement.map(|it| decision(it.allows(&judgement)));
                if report.decision == Some("deny") {
                    report.forget_changes();
                }
                return Ok(report);
            }
            StepOutcome::Unreadable(message) => return Err(message),
            StepOutcome::AfterEnd => ("after_end", None),
            StepOutcome::Stopped(stop) => ("unknown", Some(stop.to_string())),
            StepOutcome::AfterStop(reason) => ("unknown", Some(unknown_after(reason).to_string())),
            StepOutcome::AfterViolation | StepOutcome::Ended => ("after_violation", None),
        };
        let mut report = MonitorEvent::not_judged(line, key, event, verdict, reason);
        report.decision = self.enforcement.map(|it| decision(verdict == "unknown" && it.allows_unknown));
        Ok(report)
    }

    /// Counts an event in the summary.
    fn count(&mut self, report: &MonitorEvent) {
        match report.verdict {
            // What is denied has not happened.
            "violated" | "after_end" => self.summary.violated += u64::from(self.enforcement.is_none()),
            "unknown" => self.summary.unknown += 1,
            "after_violation" => self.summary.not_judged += 1,
            _ => {}
        }
        self.summary.denied += u64::from(report.decision == Some("deny"));
        self.summary.lost += n_lost(&report.goals);
    }

    /// Reports a session that was closed.
    fn closed(&mut self, closed: ClosedSession, last: Option<Box<MonitorEvent>>, host: &mut dyn MonitorHost) {
        if let Ok(closing) = &closed.closing {
            self.summary.open += closing.open.len() as u64;
            self.summary.perhaps_open += closing.perhaps_open.len() as u64;
        }
        let is_violated = closed.reason == CloseReason::Violated;
        let mut session = session_report(closed);
        let n_unknown = session.goals.iter().filter(|goal| goal.status == "unknown").count();
        self.summary.unknown += n_unknown as u64 + u64::from(session.unknown.is_some());
        session.violation = last.filter(|_| is_violated);
        host.emit(MonitorLine::Session(session));
    }
}

fn decision(is_allowed: bool) -> &'static str {
    if is_allowed { "allow" } else { "deny" }
}

/// Why nothing is known about a session that was closed for this reason.
fn unknown_after(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::TooMany => "too many sessions were open; raise `--sessions`, or end sessions in the map",
        _ => "a limit was reached, so later events are not judged",
    }
}

/// The decision about a record without an event.
fn decided_without_event(line: u64, verdict: &'static str, is_allowed: bool) -> MonitorLine {
    let mut event = MonitorEvent::not_judged(line, &None, &Default::default(), verdict, None);
    event.decision = Some(decision(is_allowed));
    MonitorLine::Event(Box::new(event))
}

/// A closed session as data.
fn session_report(closed: ClosedSession) -> MonitorSession {
    let ClosedSession { key, reason, closing, history, n_events } = closed;
    let mut session = MonitorSession::new(&key, reason, n_events);
    match closing {
        Ok(closing) => session = session.with_closing(&closing),
        Err(Some(stop)) => session.unknown = Some(stop.to_string()),
        Err(None) if reason == CloseReason::Violated => {}
        Err(None) => session.unknown = Some(unknown_after(reason).to_string()),
    }
    session.history = history.events.into();
    session.n_dropped = history.n_dropped;
    session
}
