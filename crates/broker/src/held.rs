//! A session, and the log that it follows if events were observed.
//!
//! The log begins at the state of the session at its first event. From then on the session changes only by further
//! events: the possible states after a log under some rules say nothing about other rules.

use std::ops::{Deref, DerefMut};

use masque_lcc::{EventKind, EventText, Session};
use masque_monitor::lcc::{Bounds, LccModel, LccMonitor, Observation, ProtocolParts};
use masque_monitor::{EventVerdict, Judgement, Monitor};
use masque_report::{BlameReport, FactReport, GoalReport, ObligationReport};
use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::Budget;

use crate::ask::reports;
use crate::fault::Fault;
use crate::journal::{Change, Entry};
use crate::protocol::{Observe, Observed, ObservedLike, Owed};
use crate::service::{Outcome, result};

/// Maximum number of events of a log. A restart judges all of them again.
const MAX_EVENTS: u64 = 100_000;

/// A session and its log.
pub(crate) struct Held {
    session: Session,
    log: Option<FollowedLog>,
}

/// The log that a session follows.
struct FollowedLog {
    model: LccModel,
    monitor: LccMonitor,
    /// Patterns of observable steps; none for the default.
    observable: Option<Vec<String>>,
    /// The texts that messages about the patterns and rules refer to.
    sources: Sources,
    n_events: u64,
}

impl Deref for Held {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl From<Session> for Held {
    fn from(session: Session) -> Held {
        Held { session, log: None }
    }
}

impl Held {
    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.session.bytes() + self.log.as_ref().map_or(0, |log| log.model.bytes())
    }

    /// The session without a log.
    pub(crate) fn into_session(self) -> Session {
        self.session
    }

    /// The session, to be changed in another way than by an event. Fails if it follows a log.
    pub(crate) fn unfollowed(&mut self) -> Result<&mut Session, Fault> {
        match &self.log {
            Some(log) if log.n_events > 0 => Err(Fault::followed(log.n_events)),
            _ => {
                // A log without events is begun again with the changed session.
                self.log = None;
                Ok(&mut self.session)
            }
        }
    }

    /// Adds an event to the log, and saves that. An event that is not possible is not added.
    pub(crate) fn observe(&mut self, params: &Observe, entry: &Entry, budget: &Budget) -> Outcome {
        let judgement = self.add(params, budget)?;
        let observed = observed(self, &judgement, None);
        if !matches!(judgement.event, EventVerdict::Violated(_)) {
            let (event, observable) = (params.event.clone(), params.observable.clone());
            let verdict = observed.verdict.to_string();
            entry.save_observed(self, || Change::Observe { event, observable, verdict })?;
        }
        result(&observed)
    }

    /// Adds an event to the log, unless it is not possible.
    pub(crate) fn add(&mut self, params: &Observe, budget: &Budget) -> Result<Judgement, Fault> {
        let observation = read(&params.event)?;
        let log = self.follow(params.observable.as_ref())?;
        if log.n_events >= MAX_EVENTS {
            let message =
                format!("the log of this session has {MAX_EVENTS} events, the maximum; open another session");
            return Err(Fault::limit("events", message));
        }
        let judgement = log.monitor.observe(&observation, budget).map_err(Fault::stopped)?;
        log.n_events += u64::from(!matches!(judgement.event, EventVerdict::Violated(_)));
        Ok(judgement)
    }

    /// Judges an event without adding it to the log.
    pub(crate) fn may(&mut self, params: &Observe, budget: &Budget) -> Outcome {
        let observation = read(&params.event)?;
        let log = self.follow(params.observable.as_ref())?;
        let preview = log.monitor.preview(&observation, budget).map_err(Fault::stopped)?;
        let goals = preview.goals.iter().map(GoalReport::from).collect();
        result(&observed(self, &preview.judgement, Some(goals)))
    }

    /// Returns what is known after the log.
    pub(crate) fn obligations(&mut self, budget: &Budget) -> Outcome {
        let log = self.follow(None)?;
        let status = log.monitor.status(budget).map_err(Fault::stopped)?;
        result(&Owed {
            obligations: status.obligations.iter().map(ObligationReport::from).collect(),
            goals: status.goals.iter().map(GoalReport::from).collect(),
            facts: status.facts.iter().map(FactReport::from).collect(),
            states: status.n_states,
            events: log.n_events,
            unknown: status.unknown,
        })
    }

    /// The log, which begins here if there is none.
    fn follow(&mut self, observable: Option<&Vec<String>>) -> Result<&mut FollowedLog, Fault> {
        let is_other = |log: &FollowedLog| observable.is_some() && observable != log.observable.as_ref();
        let log = match self.log.take() {
            Some(log) if is_other(&log) && log.n_events > 0 => {
                self.log = Some(log);
                return Err(Fault::params("`observable` is fixed by the first event of the log"));
            }
            Some(log) if !is_other(&log) => log,
            _ => FollowedLog::begin(&self.session, observable)?,
        };
        Ok(self.log.insert(log))
    }
}

impl FollowedLog {
    /// Begins a log at the state of a session.
    fn begin(session: &Session, observable: Option<&Vec<String>>) -> Result<FollowedLog, Fault> {
        let mut sources = session.sources().clone();
        let mut spans = Vec::new();
        for pattern in observable.into_iter().flatten() {
            let file = sources.add("observable", pattern.as_str()).map_err(|_| too_large())?;
            spans.push(sources.span(file));
        }
        let (system, properties, obligations) = session.protocol();
        let parts = ProtocolParts { system, properties: &properties, obligations: &obligations };
        let model = LccModel::of(&sources, parts, &spans, Bounds::default())
            .map_err(|diagnostics| Fault::text(reports(&sources, &diagnostics)))?;
        let monitor = model.open();
        Ok(FollowedLog { model, monitor, observable: observable.cloned(), sources, n_events: 0 })
    }
}

fn too_large() -> Fault {
    let message = "the texts of this session together are larger than 4 GB";
    let diagnostic = Diagnostic::nowhere(Severity::Error, "lcc/too-large", message);
    Fault::text(reports(&Sources::default(), &[diagnostic]))
}

/// Reads an observed event.
fn read(event: &ObservedLike) -> Result<Observation, Fault> {
    let ObservedLike { kind, from, to, by, message, constraint } = event.clone();
    let kind = kind.map(EventKind::from);
    Observation::read(EventText { kind, from, to, by, message, constraint }).map_err(|unreadable| {
        let message = &unreadable.diagnostic.message;
        Fault::params(format!("`{}` of the event cannot be read: {message}", unreadable.part))
    })
}

/// A judgement as data. `goals` are all goals, if they are given instead of those that changed.
fn observed(held: &Held, judgement: &Judgement, goals: Option<Vec<GoalReport>>) -> Observed {
    let sources = held.log.as_ref().map_or(held.session.sources(), |log| &log.sources);
    let (verdict, reason, instead, because) = match &judgement.event {
        EventVerdict::Possible => ("possible", None, Vec::new(), Vec::new()),
        EventVerdict::Unknown(why) => ("unknown", Some(why.clone()), Vec::new(), Vec::new()),
        EventVerdict::Violated(violation) => {
            let because = violation.because.iter().map(|reason| BlameReport::new(reason, sources));
            ("violated", None, violation.instead.clone(), because.collect())
        }
    };
    Observed {
        verdict,
        reason,
        instead,
        because,
        goals: goals.unwrap_or_else(|| judgement.goals.iter().map(GoalReport::from).collect()),
        facts: judgement.facts.iter().map(FactReport::from).collect(),
        obligations: judgement.obligations.iter().map(ObligationReport::from).collect(),
        states: judgement.n_states,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::protocol::Method;
    use crate::service::{Begun, Client, Config, Service};
    use crate::ticket::{ClientId, Holder};

    const N_SESSIONS: usize = 1000;

    /// A protocol in which the message of a session is its own.
    fn protocol(own: usize) -> Value {
        let text = format!(
            "a(hen, H) :: egg({own}) => a(farmer, f) or cluck => a(farmer, f).
             a(farmer, F) :: egg(_) <= a(hen, _) or cluck <= a(hen, _).
             agent a(hen, h). agent a(farmer, f). property fed : <-* . in(egg({own}))>tt ;"
        );
        json!({"files": [{"name": "farm.lcc", "text": text}]})
    }

    struct Calls {
        service: Arc<Service>,
        runtime: tokio::runtime::Runtime,
    }

    impl Calls {
        fn new() -> Calls {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            Calls { service: Service::new(Config::default()).unwrap(), runtime }
        }

        fn begin(&self, method: Method, params: &Value) -> Begun {
            let raw = serde_json::value::to_raw_value(params).unwrap();
            let client = Client { id: ClientId(0), is_only: true };
            let holder = Holder { client: ClientId(0), id: None, session: None };
            self.service.dispatch(client, method, Some(&raw), holder)
        }

        fn result(&self, begun: Begun) -> Value {
            let outcome = match begun {
                Begun::Done(outcome) => outcome,
                Begun::Waiting(receiver, _guard) => self.runtime.block_on(receiver).unwrap(),
            };
            serde_json::from_str(outcome.map_err(|fault| fault.message).unwrap().get()).unwrap()
        }

        /// Makes many calls at the same time, and returns their results.
        fn all(&self, method: Method, params: impl Fn(usize) -> Value) -> Vec<Value> {
            let begun: Vec<Begun> = (0..N_SESSIONS).map(|index| self.begin(method, &params(index))).collect();
            begun.into_iter().map(|begun| self.result(begun)).collect()
        }
    }

    /// Sessions that are asked at the same time answer for themselves, and `may` adds nothing to their logs.
    #[test]
    fn a_thousand_sessions_are_not_crossed() {
        let calls = Calls::new();
        let opened = calls.all(Method::Open, protocol);
        let names: Vec<&str> = opened.iter().map(|opened| opened["session"].as_str().unwrap()).collect();
        let egg = |of: usize, number: usize| json!({"session": names[of], "event": {"from": "h", "message": format!("egg({number})")}});
        for round in 0..2 {
            let own = calls.all(Method::May, |index| egg(index, index));
            let others = calls.all(Method::May, |index| egg(index, (index + 1) % N_SESSIONS));
            for index in 0..N_SESSIONS {
                assert_eq!(own[index]["verdict"], "possible", "session {index}");
                // The message is on its way, so the goal is still possible or certain.
                assert_ne!(own[index]["goals"][0]["status"], "lost", "session {index}");
                assert_eq!(others[index]["verdict"], "violated", "session {index}");
                let instead = json!(["h -> f: cluck", format!("h -> f: egg({index})")]);
                assert_eq!(others[index]["instead"], instead, "session {index}, round {round}");
            }
        }
        // In half of the sessions the goal is lost, and only there.
        let observed = calls.all(Method::Observe, |index| match index % 2 {
            0 => egg(index, index),
            _ => json!({"session": names[index], "event": {"message": "cluck"}}),
        });
        let owed = calls.all(Method::Obligations, |index| json!({"session": names[index]}));
        for index in 0..N_SESSIONS {
            assert_eq!(observed[index]["verdict"], "possible");
            assert_eq!(owed[index]["events"], 1);
            assert_eq!(owed[index]["goals"][0]["status"] == "lost", index % 2 == 1, "{}", owed[index]);
        }
    }
}
