//! Opening, checking, explaining and finding teams: results of `masque-lcc` in the form of the protocol.

use masque_lcc::{Question, RefusedTexts, Reply, Request, Session, Setup, chart};
use masque_report::{DiagnosticReport, TeamReport, TraceReport};
use masque_text::{Diagnostic, Sources};
use masque_verdict::{Budget, Verdict, Why};

use crate::fault::Fault;
use crate::log::{Level, Log};
use crate::protocol::{Answer, Checked, Explained, Opened, PropertyName, Shown};
use crate::service::{Outcome, result};
use crate::team::{self, Found, Role, TeamSelection};

/// Opens a session. The caller fills in its name.
pub(crate) fn open(setup: &Setup, budget: &Budget) -> Result<(Session, Opened), Fault> {
    let session = Session::open_within(setup, budget).map_err(|refused| refusal(&refused))?;
    let stated = session.properties().into_iter();
    let opened = Opened {
        session: String::new(),
        agents: session.team(),
        properties: stated.map(|p| PropertyName { name: p.name, formula: p.formula }).collect(),
        options: session.options().changed().into_iter().collect(),
        diagnostics: reports(session.sources(), session.warnings()),
    };
    Ok((session, opened))
}

/// Decides one question, or all properties.
pub(crate) fn check(
    session: &mut Session,
    question: Option<&Question>,
    evidence: bool,
    budget: &Budget,
    log: Log,
) -> Outcome {
    let replies = match question {
        Some(question) => vec![reply(session, question, evidence, budget)?],
        None => session.check_all(evidence, budget),
    };
    let answers = replies.iter().map(|reply| answer(reply, log)).collect::<Result<_, _>>()?;
    let diagnostics = replies.iter().flat_map(|reply| reports(session.sources(), &reply.warnings)).collect();
    let conflicts = session.conflicts_within(budget);
    let unknown_constraints = session.unknown_constraints_within(budget);
    check_cancelled(budget)?;
    result(&Checked { answers, conflicts, unknown_constraints, diagnostics })
}

/// Shows why a property holds or fails.
pub(crate) fn explain(session: &mut Session, question: &Question, budget: &Budget, log: Log) -> Outcome {
    let reply = reply(session, question, true, budget)?;
    let trace = reply.checked.trace.as_ref();
    let shown = Shown {
        answer: answer(&reply, log)?,
        chart: trace.filter(|trace| !trace.events.is_empty()).map(|trace| chart(trace).text()),
        blame: trace.map(|trace| trace.blame.clone()).unwrap_or_default(),
    };
    check_cancelled(budget)?;
    result(&Explained::Verdict(Box::new(shown)))
}

/// Returns an error if the call was cancelled or interrupted. Then parts of its result may be missing.
fn check_cancelled(budget: &Budget) -> Result<(), Fault> {
    match budget.check() {
        Err(stop) if stop.why == Why::Interrupted => Err(Fault::cancelled()),
        _ => Ok(()),
    }
}

fn reply(
    session: &mut Session,
    question: &Question,
    evidence: bool,
    budget: &Budget,
) -> Result<Reply, Fault> {
    let reply = session.check(question, evidence, budget);
    reply.map_err(|diagnostics| Fault::text(reports(session.sources(), &diagnostics)))
}

/// The answer to a question; an error if the call was cancelled. Withheld evidence is a bug in Masque, which is
/// logged; the client gets the verdict.
fn answer(reply: &Reply, log: Log) -> Result<Answer, Fault> {
    let checked = &reply.checked;
    if let Some(refused) = &checked.withheld {
        let message = format!("this is a bug: the evidence for `{}` does not replay: {refused}", reply.name);
        log.report(Level::Error, "evidence-withheld", &message, &[]);
    }
    if checked.verdict == Verdict::Unknown(Why::Interrupted) {
        return Err(Fault::cancelled());
    }
    Ok(Answer {
        name: reply.name.clone(),
        verdict: checked.verdict.word().to_string(),
        reason: checked.verdict.reason().map(str::to_string),
        remarks: reply.remarks.clone(),
        evidence: checked.trace.as_ref().map(TraceReport::from),
        evidence_withheld: checked.withheld.clone(),
        states: checked.states,
        positions: checked.positions,
        kept: reply.work.is_kept,
        lists: reply.work.lists,
    })
}

/// The request of `teams` in the form of the library.
pub(crate) fn request(
    setup: Setup,
    roles: Vec<Role>,
    questions: Vec<team::Question>,
    want: TeamSelection,
) -> Request {
    let candidate = |candidate: team::Candidate| masque_lcc::Candidate {
        name: candidate.name,
        statements: candidate.statements,
        cost: candidate.cost,
    };
    let role = |role: Role| masque_lcc::Role {
        name: role.name,
        candidates: role.candidates.into_iter().map(candidate).collect(),
    };
    let question = |question| match question {
        team::Question::Property(name) => Question::Property(name),
        team::Question::Formula(text) => Question::Formula(text),
    };
    Request {
        setup,
        roles: roles.into_iter().map(role).collect(),
        questions: questions.into_iter().map(question).collect(),
        want: match want {
            TeamSelection::First => masque_lcc::TeamSelection::First,
            TeamSelection::All => masque_lcc::TeamSelection::All,
            TeamSelection::Best => masque_lcc::TeamSelection::Best,
        },
    }
}

/// Finds teams that work.
pub(crate) fn teams(request: &Request, budget: &Budget) -> Outcome {
    let found = masque_lcc::teams(request, budget).map_err(|refused| refusal(&refused))?;
    check_cancelled(budget)?;
    result(&Found {
        properties: found.properties.clone(),
        teams: found.teams.iter().map(TeamReport::from).collect(),
        chosen: found.chosen,
        stopped: found.stopped.map(|stop| stop.why.to_string()),
        diagnostics: reports(&found.sources, &found.warnings),
    })
}

fn refusal(refused: &RefusedTexts) -> Fault {
    if let Some(stop) = refused.stopped {
        return Fault::stopped(stop);
    }
    Fault::text(reports(&refused.sources, &refused.diagnostics))
}

/// Maximum number of diagnostics in a response. A text of a few megabytes may cause hundreds of thousands.
const MAX_DIAGNOSTICS: usize = 1_000;

/// Diagnostics as data. Errors come before warnings if there are too many to report all.
pub(crate) fn reports(sources: &Sources, diagnostics: &[Diagnostic]) -> Vec<DiagnosticReport> {
    let report = |diagnostic: &Diagnostic| DiagnosticReport::new(sources, diagnostic);
    if diagnostics.len() <= MAX_DIAGNOSTICS {
        return diagnostics.iter().map(report).collect();
    }
    let (errors, others): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|diagnostic| diagnostic.is_error());
    errors.into_iter().chain(others).take(MAX_DIAGNOSTICS).map(report).collect()
}

#[cfg(test)]
mod tests {
    use masque_lcc::Text;

    use super::*;

    /// A client gets the verdict without evidence that does not replay.
    #[test]
    fn withheld_evidence_leaves_the_verdict() {
        let text = "a(hen, H) :: null. agent a(hen, h). property never : AG !done(h) ;";
        let setup = Setup { files: vec![Text::new("hen.lcc", text)], ..Setup::default() };
        let mut session = Session::open(setup).unwrap();
        let question = Question::Property("never".to_string());
        let mut reply = session.check(&question, true, &Budget::unlimited()).unwrap();
        assert!(reply.checked.trace.is_some());
        (reply.checked.trace, reply.checked.withheld) = (None, Some("made up".to_string()));
        let answer = answer(&reply, Log::silent()).unwrap();
        assert_eq!(
            (answer.verdict.as_str(), answer.evidence_withheld.as_deref()),
            ("fails", Some("made up"))
        );
        assert!(answer.evidence.is_none());
    }
}
