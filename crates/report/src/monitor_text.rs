//! The result of `masque monitor` as text: a line for each event that matters, charts, and a summary.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use masque_driver::{ChartRow as Row, chart};

use crate::lines::{Lines, PLAIN, STRONG};
use crate::monitor::{
    GoalReport, MonitorEvent, MonitorLine, MonitorProblem, MonitorSession, MonitorStart, MonitorSummary,
    ObligationReport,
};
use crate::monitor_events::{observed_text, observed_trace};
use crate::text::{Detail, Text};
use crate::wording::{nonzero, plural, shortened};

/// Maximum number of possible events that are shown instead of an impossible one.
const MAX_SHOWN_INSTEAD: usize = 10;
/// Maximum number of charts.
const MAX_CHARTS: u64 = 5;
/// Maximum number of problems of one kind that are shown.
const MAX_SHOWN_PROBLEMS: u64 = 20;
/// Maximum number of rows of a chart.
const MAX_CHART_ROWS: usize = 40;
/// Maximum number of characters of a rule or an event.
const MAX_CHARS: usize = 160;
/// Code of a line of the log that cannot be used.
const BAD_RECORD: &str = "monitor/bad-record";
/// Style of what is wrong.
const BAD: Style = AnsiColor::Red.on_default().bold();
/// Style of what is fine.
const GOOD: Style = AnsiColor::Green.on_default();
/// Style of what is not known.
const OPEN: Style = AnsiColor::Yellow.on_default().bold();

/// Writes lines of a result as text.
#[derive(Clone, Debug)]
pub struct MonitorText {
    text: Text,
    /// Name of the log.
    log: String,
    is_enforcing: bool,
    n_charts: u64,
    n_problems: u64,
}

impl MonitorText {
    /// Nothing is written yet.
    pub fn new(text: Text) -> MonitorText {
        MonitorText { text, log: String::new(), is_enforcing: false, n_charts: 0, n_problems: 0 }
    }

    /// Names the log, for lines without a first line before them.
    #[must_use]
    pub fn with_log(mut self, name: &str) -> MonitorText {
        self.log = name.to_string();
        self
    }

    /// Writes a line of the result.
    ///
    /// # Errors
    ///
    /// If the output cannot be written.
    pub fn write(&mut self, out: &mut dyn Write, line: &MonitorLine) -> io::Result<()> {
        let mut lines = Lines { out, width: self.text.width, color: self.text.color };
        match line {
            MonitorLine::Start(start) => self.start(&mut lines, start),
            MonitorLine::Event(event) => self.event(&mut lines, event),
            MonitorLine::Problem(problem) => self.problem(&mut lines, problem),
            MonitorLine::Session(session) => self.session(&mut lines, session),
            MonitorLine::Summary(summary) => self.summary(&mut lines, summary),
        }
    }

    fn start(&mut self, lines: &mut Lines<'_>, start: &MonitorStart) -> io::Result<()> {
        self.log = if start.log == "-" { "<stdin>".to_string() } else { start.log.clone() };
        self.is_enforcing = start.enforce;
        if self.text.detail < Detail::Verbose {
            return Ok(());
        }
        let map = start.map.as_ref().map(|map| format!(" with the map {map}")).unwrap_or_default();
        lines.sentence(
            PLAIN,
            "",
            &format!("{} is compared with {}{map}", self.log, start.files.join(", ")),
        )?;
        for goal in &start.goals {
            lines.sentence(PLAIN, "  ", &format!("goal {}", goal_text(goal)))?;
        }
        for fact in &start.facts {
            lines.sentence(PLAIN, "  ", &format!("{} is {}", fact.property, truth_text(fact.truth)))?;
        }
        Ok(())
    }

    fn event(&self, lines: &mut Lines<'_>, event: &MonitorEvent) -> io::Result<()> {
        let (word, style) = match (event.decision, event.verdict) {
            (Some("allow"), _) => ("allow", GOOD),
            (Some(_), _) => ("deny", BAD),
            (None, "possible") if event.has_goal("lost") => ("LOST", BAD),
            (None, "possible") if event.has_goal("at_risk") => ("at risk", OPEN),
            (None, "possible") if event.has_goal("unknown") => ("unknown", OPEN),
            (None, "possible") => ("ok", GOOD),
            (None, "violated" | "after_end") => ("VIOLATED", BAD),
            (None, "after_violation") => ("not judged", PLAIN),
            (None, _) => ("unknown", OPEN),
        };
        let place = format!("{}:{}: ", self.log, event.line);
        let session = session_text(event.session.as_ref());
        let what = match event.verdict {
            "ignored" => "a record in which nothing matches the map".to_string(),
            "ended" => "the end of a session".to_string(),
            "bad_record" => "a record that cannot be used".to_string(),
            _ => shortened(observed_text(&event.event), MAX_CHARS),
        };
        lines.line(&[(PLAIN, place), (style, word.to_string()), (PLAIN, format!("  {what}{session}"))])?;
        if event.verdict == "after_end" {
            lines.sentence(PLAIN, "  ", "the session was over before: no step was possible any more")?;
        }
        if let Some(reason) = &event.reason {
            lines.sentence(PLAIN, "  ", &format!("not decided: {reason}"))?;
        }
        self.violation(lines, event)?;
        self.changes(lines, event)
    }

    /// Writes why an event is not possible, and what was.
    fn violation(&self, lines: &mut Lines<'_>, event: &MonitorEvent) -> io::Result<()> {
        if event.verdict != "violated" {
            return Ok(());
        }
        for reason in &event.because {
            lines.sentence(PLAIN, "  ", &reason.text)?;
            for rule in &reason.rules {
                let text = shortened(rule.rule.clone(), MAX_CHARS);
                lines.sentence(PLAIN, "    ", &format!("{}:{}: {text}", rule.file, rule.line))?;
            }
        }
        if event.instead.is_empty() {
            return lines.sentence(PLAIN, "  ", "no other event was possible");
        }
        lines.sentence(PLAIN, "  ", "possible instead:")?;
        for instead in event.instead.iter().take(MAX_SHOWN_INSTEAD) {
            lines.sentence(PLAIN, "    ", &shortened(instead.clone(), MAX_CHARS))?;
        }
        match event.instead.len().saturating_sub(MAX_SHOWN_INSTEAD) {
            0 => Ok(()),
            n => lines.sentence(PLAIN, "    ", &format!("and {n} more")),
        }
    }

    /// Writes what an event changed.
    fn changes(&self, lines: &mut Lines<'_>, event: &MonitorEvent) -> io::Result<()> {
        let is_verbose = self.text.detail == Detail::Verbose;
        for goal in &event.goals {
            if is_verbose || matches!(goal.status, "lost" | "at_risk" | "unknown") {
                lines.sentence(PLAIN, "  ", &format!("goal {}", goal_text(goal)))?;
            }
        }
        if !is_verbose {
            return Ok(());
        }
        for obligation in &event.obligations {
            lines.sentence(PLAIN, "  ", &obligation_text(obligation))?;
        }
        for fact in &event.facts {
            lines.sentence(PLAIN, "  ", &format!("{} is now {}", fact.property, truth_text(fact.truth)))?;
        }
        Ok(())
    }

    fn problem(&mut self, lines: &mut Lines<'_>, problem: &MonitorProblem) -> io::Result<()> {
        self.n_problems += 1;
        if self.n_problems > MAX_SHOWN_PROBLEMS && self.text.detail < Detail::Verbose {
            return match self.n_problems - 1 {
                MAX_SHOWN_PROBLEMS => {
                    lines.sentence(PLAIN, "", ".. further problems are counted in the summary")
                }
                _ => Ok(()),
            };
        }
        let place = match (problem.line, problem.column) {
            (Some(line), Some(column)) => format!("{}:{line}:{column}: ", self.log),
            (Some(line), None) => format!("{}:{line}: ", self.log),
            (None, _) => format!("{}: ", self.log),
        };
        let (word, style) = match problem.problem {
            "bad_record" => (format!("error[{BAD_RECORD}]"), BAD),
            "late_record" | "incomplete" => ("warning".to_string(), OPEN),
            _ => ("note".to_string(), PLAIN),
        };
        let message = shortened(problem.message.clone(), 4 * MAX_CHARS);
        lines.line(&[(PLAIN, place), (style, word), (PLAIN, format!(": {message}"))])
    }

    fn session(&mut self, lines: &mut Lines<'_>, session: &MonitorSession) -> io::Result<()> {
        let is_verbose = self.text.detail == Detail::Verbose;
        let shows_goals = is_verbose || (session.session.is_none() && session.reason != "violated");
        let is_open = !session.obligations.is_empty();
        // A goal that is certain needs no attention.
        let unreached = session.goals.iter().filter(|goal| is_verbose || goal.status != "certain");
        let goals: Vec<&GoalReport> = unreached.filter(|_| shows_goals).collect();
        let has_lost = session.goals.iter().any(|goal| goal.status == "lost");
        let has_heading = is_open || session.unknown.is_some() || !goals.is_empty();
        if has_heading || (has_lost && session.reason != "violated") {
            let name = match &session.session {
                Some(key) => format!("session {key}"),
                None => self.log.clone(),
            };
            let why = match session.reason {
                "over" => "no further step is possible",
                "ended" => "the log says that the session ends",
                "idle" => "the session was idle for too long",
                "too_many" => "too many sessions are open",
                "stopped" => "a limit was reached",
                _ => "end of the log",
            };
            lines.line(&[(STRONG, format!("{name}: {why}"))])?;
        }
        for obligation in &session.obligations {
            let style = if obligation.status == "open" { BAD } else { OPEN };
            lines.sentence(style, "  ", &obligation_text(obligation))?;
        }
        for goal in goals {
            lines.sentence(PLAIN, "  ", &format!("goal {}", goal_text(goal)))?;
        }
        if let Some(unknown) = &session.unknown {
            lines.sentence(OPEN, "  ", &format!("not decided: {unknown}"))?;
        }
        let deserves_chart = session.reason == "violated" || is_open || has_lost;
        if deserves_chart && self.text.detail > Detail::Quiet && self.n_charts < MAX_CHARTS {
            self.n_charts += 1;
            self.chart(lines, session)?;
        }
        Ok(())
    }

    /// Writes the last events of a session as a message chart, and marks an impossible one.
    fn chart(&self, lines: &mut Lines<'_>, session: &MonitorSession) -> io::Result<()> {
        let Some(trace) = observed_trace(&session.history) else { return Ok(()) };
        let mut chart = chart(&trace);
        if session.reason == "violated" {
            let column = match chart.rows.last() {
                Some(Row::Arrow { from, .. }) => Some(*from),
                Some(Row::Mark { column, .. }) => Some(*column),
                _ => None,
            };
            let mark = "^^^ VIOLATED: not possible here".to_string();
            chart.rows.extend(column.map(|column| Row::Mark { column, text: mark }));
        }
        let n_cut = chart.rows.len().saturating_sub(MAX_CHART_ROWS);
        chart.rows.drain(..n_cut);
        let Some(text) = chart.text_within(self.text.width.saturating_sub(2)) else { return Ok(()) };
        lines.empty()?;
        let n_before = session.n_dropped + n_cut as u64;
        if n_before > 0 {
            lines.sentence(PLAIN, "  ", &format!(".. {} before", plural(n_before, "event", "events")))?;
        }
        for row in text.lines() {
            let style = if row.contains("^^^ VIOLATED") { BAD } else { PLAIN };
            lines.line(&[(style, format!("  {row}"))])?;
        }
        lines.empty()
    }

    fn summary(&self, lines: &mut Lines<'_>, summary: &MonitorSummary) -> io::Result<()> {
        let MonitorSummary { events, sessions, .. } = summary;
        let count = format!(
            "{}: {} in {}",
            self.log,
            plural(events, "event", "events"),
            plural(sessions, "session", "sessions")
        );
        let bad = nonzero(&[
            (summary.violated, "session violated", "sessions violated"),
            (summary.denied, "event denied", "events denied"),
            (summary.lost, "goal lost", "goals lost"),
            (summary.open, "obligation open", "obligations open"),
            (summary.perhaps_open, "obligation perhaps open", "obligations perhaps open"),
            (summary.unknown, "unknown", "unknown"),
        ]);
        let notes = nonzero(&[
            (summary.bad_records, "line could not be used", "lines could not be used"),
            (summary.late_records, "event arrived too late", "events arrived too late"),
            (summary.not_judged, "event after a violation not judged", "events after a violation not judged"),
            (summary.ignored, "record ignored by the map", "records ignored by the map"),
        ]);
        let verdict = match (bad.is_empty(), summary.bad_records) {
            (true, _) if *events == 0 => "nothing was judged".to_string(),
            (true, 0) => "all are possible, no goal is lost, and nothing is owed".to_string(),
            (true, _) => {
                "those that could be judged are possible, no goal is lost, and nothing is owed".to_string()
            }
            (false, _) => bad.join(", "),
        };
        let style = match (summary.has_failure(), summary.is_inconclusive()) {
            (true, _) => BAD,
            (false, true) => OPEN,
            (false, false) => GOOD,
        };
        lines.line(&[(PLAIN, format!("{count}: ")), (style, verdict)])?;
        if !notes.is_empty() && self.text.detail > Detail::Quiet {
            lines.sentence(PLAIN, "  ", &notes.join(", "))?;
        }
        if summary.out_of_order > 0 {
            let n = plural(summary.out_of_order, "record has", "records have");
            let advice =
                "an earlier time than the one before; `order = \"time\"` in a map puts them in order";
            lines.sentence(PLAIN, "  ", &format!("{n} {advice}"))?;
        }
        if summary.interrupted {
            lines.sentence(PLAIN, "  ", "interrupted: this is the result so far")?;
        }
        Ok(())
    }
}

fn session_text(session: Option<&String>) -> String {
    session.map(|key| format!("   (session {key})")).unwrap_or_default()
}

/// A goal and its status in words.
pub(crate) fn goal_text(goal: &GoalReport) -> String {
    let status = match goal.status {
        "reached" => "is reached",
        "certain" => "is certain",
        "possible" => "is possible, but not certain",
        "at_risk" => "is at risk: it was certain, and now is only possible",
        "lost" => "is lost: it cannot be reached any more",
        _ => "is not decided",
    };
    let reason = goal.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} {status}{reason}", goal.goal)
}

fn truth_text(truth: &str) -> &'static str {
    match truth {
        "certain" => "true",
        "possible" => "possibly true",
        "impossible" => "false",
        _ => "not decided",
    }
}

/// An obligation and its status in words.
pub(crate) fn obligation_text(obligation: &ObligationReport) -> String {
    let status = match obligation.status {
        "owed" => "now",
        "perhaps_owed" => "perhaps",
        "met" => "met:",
        "discharged" => "discharged:",
        "never_due" => "never due:",
        "perhaps_open" => "perhaps open:",
        _ => "open:",
    };
    format!("{status} {} ({})", obligation.owes, obligation.obligation)
}
