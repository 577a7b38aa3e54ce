//! The result of `masque monitor` as a page: sessions with their charts, events and obligations.

use std::collections::VecDeque;
use std::fmt::Write;

use crate::evidence_view::observed_chart;
use crate::graph_svg::escaped;
use crate::html::{ModelPart, Page, Section};
use crate::monitor::{MonitorEvent, MonitorLine, MonitorProblem, MonitorSession, MonitorSummary};
use crate::monitor_events::{observed_text, observed_trace};
use crate::monitor_text::{goal_text, obligation_text};
use crate::wording::{plural, shortened};

/// Maximum number of sessions on a page. Those in which something is wrong come first.
const MAX_SESSIONS: usize = 50;
/// Maximum number of problems on a page.
const MAX_PROBLEMS: usize = 100;
/// Maximum number of characters of an event in a message.
const MAX_EVENT_CHARS: usize = 160;

/// Collects the lines of a result for a page. The memory in use is bounded.
#[derive(Clone, Debug, Default)]
pub struct MonitorPage {
    files: Vec<String>,
    log: String,
    map: Option<String>,
    /// Sessions in which something is wrong or not known.
    bad: Vec<MonitorSession>,
    /// Other sessions, the last ones.
    fine: VecDeque<MonitorSession>,
    /// Number of sessions that are not on the page.
    n_left_out: u64,
    problems: Vec<MonitorProblem>,
    summary: MonitorSummary,
}

impl MonitorPage {
    /// Adds a line of the result.
    pub fn add(&mut self, line: &MonitorLine) {
        match line {
            MonitorLine::Start(start) => {
                self.files.clone_from(&start.files);
                self.log.clone_from(&start.log);
                self.map.clone_from(&start.map);
            }
            MonitorLine::Event(event) if event.verdict == "after_end" => self.after_end(event),
            MonitorLine::Event(_) => {}
            MonitorLine::Problem(problem) if self.problems.len() < MAX_PROBLEMS => {
                self.problems.push(problem.clone());
            }
            MonitorLine::Problem(_) => {}
            MonitorLine::Session(session) => self.session(session),
            MonitorLine::Summary(summary) => self.summary = *summary,
        }
    }

    /// The section of the session is complete, so an event after its end is a message of its own.
    fn after_end(&mut self, event: &MonitorEvent) {
        let session = event.session.as_ref().map(|key| format!(" (session {key})")).unwrap_or_default();
        let event_text = shortened(observed_text(&event.event), MAX_EVENT_CHARS);
        let message = format!("{event_text}{session}: the session was over before, so no step was possible");
        if self.problems.len() < MAX_PROBLEMS {
            let line = Some(event.line);
            self.problems.push(MonitorProblem { problem: "after_end", line, column: None, message });
        }
    }

    fn session(&mut self, session: &MonitorSession) {
        if is_fine(session) {
            if self.fine.len() == MAX_SESSIONS {
                self.fine.pop_front();
                self.n_left_out += 1;
            }
            self.fine.push_back(session.clone());
        } else if self.bad.len() < MAX_SESSIONS {
            self.bad.push(session.clone());
        } else {
            self.n_left_out += 1;
        }
    }

    /// The page as HTML, without scripts.
    pub fn html(&self) -> String {
        let mut part = ModelPart {
            name: self.log.clone(),
            summary: summary(&self.summary),
            facts: vec![("model", escaped(&self.files.join(", "))), ("log", escaped(&self.log))],
            headings: Some(["session", "events"]),
            ..ModelPart::default()
        };
        part.facts.extend(self.map.as_ref().map(|map| ("map", escaped(map))));
        part.messages.extend(self.problems.iter().map(problem));
        let room = MAX_SESSIONS.saturating_sub(self.bad.len());
        let fine = self.fine.iter().skip(self.fine.len().saturating_sub(room));
        let n_left_out = self.n_left_out + self.fine.len().saturating_sub(room) as u64;
        part.sections = self.bad.iter().chain(fine).map(section).collect();
        if n_left_out > 0 {
            let text = plural(n_left_out, "more session is", "more sessions are");
            part.facts.push(("left out", format!("{text} not on this page")));
        }
        let mut page = Page::default();
        page.add(part);
        page.html()
    }
}

/// Whether nothing is wrong in a session.
fn is_fine(session: &MonitorSession) -> bool {
    session.violation.is_none()
        && session.obligations.is_empty()
        && session.unknown.is_none()
        && !matches!(session.reason, "violated" | "too_many")
        && session.goals.iter().all(|goal| !matches!(goal.status, "lost" | "unknown"))
}

fn summary(summary: &MonitorSummary) -> String {
    let verdict = match (summary.has_failure(), summary.is_inconclusive()) {
        (true, _) => format!(
            "{} violated, {} lost, {} open",
            plural(summary.violated, "session", "sessions"),
            plural(summary.lost, "goal", "goals"),
            plural(summary.open, "obligation", "obligations")
        ),
        (false, true) => "something is not known".to_string(),
        (false, false) => "nothing is wrong".to_string(),
    };
    let (events, sessions) =
        (plural(summary.events, "event", "events"), plural(summary.sessions, "session", "sessions"));
    format!("{events} in {sessions}: {verdict}")
}

fn problem(problem: &MonitorProblem) -> String {
    let place = problem.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let class = if matches!(problem.problem, "bad_record" | "after_end") { "error" } else { "warning" };
    format!(
        r#"<li class="{class}"><span class="severity">{class}</span> {}{}</li>"#,
        place,
        escaped(&problem.message)
    )
}

fn section(session: &MonitorSession) -> Section {
    let has_lost = session.goals.iter().any(|goal| goal.status == "lost");
    let is_open = session.obligations.iter().any(|obligation| obligation.status == "open");
    let (word, verdict) = if session.reason == "violated" {
        ("fails", "violated")
    } else if has_lost {
        ("fails", "lost")
    } else if is_open {
        ("fails", "open")
    } else if is_fine(session) {
        ("holds", "fine")
    } else {
        ("unknown", "unknown")
    };
    let name = session.session.clone().unwrap_or_else(|| "the session".to_string());
    let mut body = String::new();
    // Writing to a string does not fail.
    _ = write_body(&mut body, session, &name);
    Section {
        word,
        verdict: verdict.to_string(),
        name,
        formula: plural(session.events, "event", "events"),
        body,
        is_bare: false,
    }
}

fn write_body(out: &mut String, session: &MonitorSession, name: &str) -> std::fmt::Result {
    if let Some(violation) = &session.violation {
        write_violation(out, violation)?;
    }
    let lines = session.obligations.iter().map(obligation_text);
    let goals = session.goals.iter().map(|goal| format!("goal {}", goal_text(goal)));
    let unknown = session.unknown.iter().map(|why| format!("not decided: {why}"));
    let items: Vec<String> = lines.chain(goals).chain(unknown).collect();
    if !items.is_empty() {
        writeln!(out, "<ul>")?;
        items.iter().try_for_each(|item| writeln!(out, "<li>{}</li>", escaped(item)))?;
        writeln!(out, "</ul>")?;
    }
    if session.n_dropped > 0 {
        writeln!(out, "<p>The chart begins after {}.</p>", plural(session.n_dropped, "event", "events"))?;
    }
    if let Some(trace) = observed_trace(&session.history) {
        let violated = (session.reason == "violated").then(|| trace.events.len() - 1);
        let title = format!("events of {name}");
        write!(out, r#"<div class="drawing">{}</div>"#, observed_chart(&trace, &title, violated))?;
    } else if !session.history.is_empty() {
        writeln!(out, "<ol>")?;
        for event in &session.history {
            writeln!(out, "<li><code>{}</code></li>", escaped(&observed_text(&event.into())))?;
        }
        writeln!(out, "</ol>")?;
    }
    Ok(())
}

fn write_violation(out: &mut String, event: &MonitorEvent) -> std::fmt::Result {
    writeln!(
        out,
        "<p>Line {}: <code>{}</code> is not possible.</p>\n<ul>",
        event.line,
        escaped(&observed_text(&event.event))
    )?;
    for reason in &event.because {
        write!(out, "<li>{}", escaped(&reason.text))?;
        for rule in &reason.rules {
            write!(out, "<br><code>{}:{}: {}</code>", escaped(&rule.file), rule.line, escaped(&rule.rule))?;
        }
        writeln!(out, "</li>")?;
    }
    for instead in &event.instead {
        writeln!(out, "<li>possible instead: <code>{}</code></li>", escaped(instead))?;
    }
    writeln!(out, "</ul>")
}
