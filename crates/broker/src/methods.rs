//! From a call to work: what is checked at once, what waits for its session, what has a process.

use std::sync::Arc;
use std::time::Duration;

use masque_driver as driver;
use masque_lcc::{Question, Session, Setup, Text};
use masque_verdict::Budget;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::child::Task;
use crate::fault::{Fault, brief};
use crate::lane::Lane;
use crate::protocol::{
    Allowed, Cancel, Cancelled, Check, CheckModel, Closed, Explain, Explained, File, Method, NoParams, Open,
    OptionValue, Page, SessionParams, Stopping,
};
use crate::rpc::Id;
use crate::service::{Begun, Client, Outcome, Service, params, result};
use crate::team::Teams;
use crate::ticket::{Holder, Ticket};
use crate::{ask, interact};

/// Of the characters of a file's name for a child process so many are taken.
const LONGEST_NAME: usize = 100;

impl Service {
    /// Begins a call, or says why not.
    pub(crate) fn dispatch(
        self: &Arc<Self>,
        client: Client,
        method: Method,
        raw: Option<&RawValue>,
        holder: Holder,
    ) -> Begun {
        let begun = match method {
            Method::Open => params(raw).and_then(|params| self.open(params, holder)),
            Method::Check => params(raw).and_then(|params: Check| {
                let questions = questions(params.property, params.formula)?;
                let (evidence, limits) = (params.evidence, params.limits);
                let log = self.log;
                self.on_session(&params.session, limits, holder, move |session, budget| {
                    ask::check(session, questions.as_ref(), evidence, (budget, log))
                })
            }),
            Method::Update => params(raw).and_then(|params: crate::protocol::Update| {
                let update = masque_lcc::Update { add: params.add, remove: params.remove };
                self.on_session(&params.session, Allowed::default(), holder, move |session, _| {
                    interact::update(session, &update)
                })
            }),
            Method::Moves => self.simply(raw, holder, interact::moves),
            Method::Advance => params(raw).and_then(|params: crate::protocol::Advance| {
                let name = params.session.clone();
                let happened = interact::happened(params)?;
                self.on_session(&name, Allowed::default(), holder, move |session, _| {
                    interact::advance(session, &happened)
                })
            }),
            Method::Place => params(raw).and_then(|params: crate::protocol::Place| {
                let statements = params.statements.join("\n");
                self.on_session(&params.session, Allowed::default(), holder, move |session, _| {
                    interact::place(session, &statements)
                })
            }),
            Method::State => self.simply(raw, holder, interact::state),
            Method::Teams => params(raw).and_then(|params| self.teams(params, holder)),
            Method::Explain => params(raw).and_then(|params| self.explain(params, holder)),
            Method::Close => params(raw).and_then(|params| self.close(params, holder)),
            Method::Cancel => params(raw).and_then(|params| self.cancel(client, params)),
            Method::CheckModel => params(raw).and_then(|params| self.check_model(params, holder)),
            Method::Shutdown => params(raw).and_then(|NoParams {}| self.shutdown(client)),
        };
        begun.unwrap_or_else(|fault| Begun::Done(Err(fault)))
    }

    /// A method that takes a session and nothing else.
    fn simply(
        self: &Arc<Self>,
        raw: Option<&RawValue>,
        holder: Holder,
        work: impl FnOnce(&mut Session) -> Outcome + Send + 'static,
    ) -> Result<Begun, Fault> {
        let SessionParams { session } = params(raw)?;
        self.on_session(&session, Allowed::default(), holder, move |session, _| work(session))
    }

    /// Work that waits for its turn on a session, within a budget.
    fn on_session(
        self: &Arc<Self>,
        name: &str,
        allowed: Allowed,
        mut holder: Holder,
        work: impl FnOnce(&mut Session, &Budget) -> Outcome + Send + 'static,
    ) -> Result<Begun, Fault> {
        let seat = self.sessions.get(name)?;
        let time = self.time(allowed)?;
        let states = allowed.states.unwrap_or(u64::MAX).min(self.limits.states);
        let (service, name) = (Arc::clone(self), name.to_string());
        holder.session = Some(name.clone());
        let lane = Arc::clone(&seat.lane);
        Ok(self.submit(&lane, holder, move |value, ticket| {
            // Closed while this waited, or broken by a bug in a call before.
            let Some(session) = value else { return Err(Fault::session(&name)) };
            let memory = allowed.memory.unwrap_or(u64::MAX).min(service.sessions.allowance(&seat));
            let budget = budget(time, states, memory, ticket);
            let broken = Broken { service: &service, name: &name, is_armed: true };
            let outcome = work(session, &budget);
            broken.disarm();
            service.sessions.weigh(&seat, session.bytes());
            outcome
        }))
    }

    fn open(self: &Arc<Self>, params: Open, holder: Holder) -> Result<Begun, Fault> {
        // Said before the texts are read, and seen to again when they have been.
        self.sessions.has_room()?;
        let setup = self.setup(params.files, params.properties, params.options);
        let service = Arc::clone(self);
        Ok(self.submit(&Lane::new(Some(())), holder, move |_, ticket| {
            let (session, mut opened) = ask::open(setup)?;
            if ticket.is_cancelled() {
                return Err(Fault::cancelled());
            }
            opened.session = service.sessions.add(session)?;
            result(&opened)
        }))
    }

    fn setup(
        &self,
        files: Vec<File>,
        properties: Vec<File>,
        options: impl IntoIterator<Item = (String, OptionValue)>,
    ) -> Setup {
        let text = |file: File| Text::new(file.name, file.text);
        let (states, memory) = (self.limits.states, self.limits.memory);
        Setup {
            files: files.into_iter().map(text).collect(),
            properties: properties.into_iter().map(text).collect(),
            options: options.into_iter().map(|(name, value)| (name, value.to_string())).collect(),
            limits: masque_lcc::Limits { states: Some(states), memory: Some(memory) },
            library: self.root.as_ref().map(|root| Arc::new(root.again(self.limits.body as u64)) as _),
        }
    }

    fn teams(self: &Arc<Self>, params: Teams, holder: Holder) -> Result<Begun, Fault> {
        let (time, allowed) = (self.time(params.limits)?, params.limits);
        let states = allowed.states.unwrap_or(u64::MAX).min(self.limits.states);
        let memory = allowed.memory.unwrap_or(u64::MAX).min(self.limits.memory);
        let setup = self.setup(params.files, params.properties, params.options);
        let request = ask::request(setup, params.roles, params.questions, params.want);
        Ok(self.submit(&Lane::new(Some(())), holder, move |_, ticket| {
            ask::teams(&request, &budget(time, states, memory, ticket))
        }))
    }

    fn explain(self: &Arc<Self>, params: Explain, holder: Holder) -> Result<Begun, Fault> {
        let questions = questions(params.property, params.formula)?;
        match (params.session, questions, params.code) {
            (Some(session), Some(question), None) => {
                let log = self.log;
                self.on_session(&session, params.limits, holder, move |session, budget| {
                    ask::explain(session, &question, (budget, log))
                })
            }
            (None, None, Some(code)) => {
                let page = driver::explain(&code).ok_or_else(|| {
                    let hint = driver::similar_code(&code).unwrap_or_default();
                    Fault::params(format!("no diagnostic has the code `{}`; {hint}", brief(&code)))
                })?;
                let page = page.to_string();
                Ok(Begun::Done(result(&Explained::Page(Page { code, page }))))
            }
            _ => Err(Fault::params("give `session` with `property` or `formula`, or give `code` alone")),
        }
    }

    fn close(self: &Arc<Self>, params: SessionParams, mut holder: Holder) -> Result<Begun, Fault> {
        let SessionParams { session: name } = params;
        let seat = self.sessions.get(&name)?;
        let service = Arc::clone(self);
        holder.session = Some(name.clone());
        Ok(self.submit(&seat.lane, holder, move |value, _| {
            // A second `close` that waited behind the first finds nothing.
            let session = value.take().ok_or_else(|| Fault::session(&name))?;
            service.sessions.remove(&name);
            drop(session);
            result(&Closed { closed: true })
        }))
    }

    fn cancel(&self, client: Client, params: Cancel) -> Result<Begun, Fault> {
        let cancelled = match (params.session, params.id) {
            (Some(session), None) => {
                self.sessions.get(&session)?;
                self.tickets.cancel(|holder| holder.session.as_ref() == Some(&session))
            }
            (None, Some(raw)) if client.is_only => {
                let id = Id::read(&raw).ok_or_else(|| Fault::params("`id` is a string or a number"))?;
                self.tickets.cancel(|holder| holder.client == client.id && holder.id.as_ref() == Some(&id))
            }
            (None, Some(_)) => {
                let message = "over HTTP ids do not name calls: give `session`, or hang up to cancel a call";
                return Err(Fault::params(message));
            }
            _ => return Err(Fault::params("give `session` or `id`")),
        };
        Ok(Begun::Done(result(&Cancelled { cancelled })))
    }

    fn check_model(self: &Arc<Self>, model: CheckModel, holder: Holder) -> Result<Begun, Fault> {
        if model.files.is_empty() {
            return Err(Fault::params("`files` has no file"));
        }
        for (at, file) in model.files.iter().enumerate() {
            check_name(&file.name)?;
            if model.files[..at].iter().any(|other| other.name.eq_ignore_ascii_case(&file.name)) {
                return Err(Fault::params(format!("there are two files called `{}`", file.name)));
            }
        }
        let time = self.time(model.limits)?;
        let memory = model.limits.memory.unwrap_or(u64::MAX).min(self.limits.memory);
        let guard = self.tickets.issue(holder);
        let (sender, receiver) = oneshot::channel();
        let work = Arc::clone(&self.children).check(Task { model, time, memory }, Arc::clone(&guard.ticket));
        // It ends by its ticket when the client goes away.
        tokio::spawn(async move { sender.send(work.await) });
        Ok(Begun::Waiting(receiver, guard))
    }

    fn shutdown(&self, client: Client) -> Result<Begun, Fault> {
        if !client.is_only {
            return Err(Fault::params("`shutdown` is for standard input; over HTTP, end the process"));
        }
        self.stop();
        Ok(Begun::Done(result(&Stopping {})))
    }

    /// The time that a call may take.
    fn time(&self, allowed: Allowed) -> Result<Duration, Fault> {
        let Some(seconds) = allowed.seconds else { return Ok(self.limits.time) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) => Ok(time.min(self.limits.time)),
            // More than any clock counts is as good as no limit.
            Err(_) if seconds > 0.0 => Ok(self.limits.time),
            Err(_) => Err(Fault::params("`seconds` is a number that is not negative")),
        }
    }
}

/// Takes a session off the table if the work on it panics.
struct Broken<'s> {
    service: &'s Service,
    name: &'s str,
    is_armed: bool,
}

impl Broken<'_> {
    fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for Broken<'_> {
    fn drop(&mut self) {
        if self.is_armed {
            self.service.sessions.remove(self.name);
            self.service.log.event(&format!("session {} is closed: a call ended in a bug", self.name));
        }
    }
}

fn budget(time: Duration, states: u64, memory: u64, ticket: &Ticket) -> Budget {
    let budget = Budget::default().with_timeout(time).with_states(states).with_memory(memory);
    budget.with_cancel(ticket.flag())
}

/// The question of a call; none means all properties.
fn questions(property: Option<String>, formula: Option<String>) -> Result<Option<Question>, Fault> {
    match (property, formula) {
        (None, None) => Ok(None),
        (Some(name), None) => Ok(Some(Question::Property(name))),
        (None, Some(text)) => Ok(Some(Question::Formula(text))),
        (Some(_), Some(_)) => Err(Fault::params("give `property` or `formula`, not both")),
    }
}

/// Whether a name is that of a file in its folder, and nothing else.
fn check_name(name: &str) -> Result<(), Fault> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '+' | '(' | ')');
    let is_good = name.chars().all(is_plain)
        && name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    match is_good {
        true => Ok(()),
        false => Err(Fault::params(format!(
            "`{}` is no name for a file: letters, digits, `_`, `-`, `.` and spaces are, without folders",
            brief(name)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::Config;
    use crate::ticket::ClientId;

    /// A bug in a call is answered, takes its session off the table, and leaves the others alone.
    #[test]
    fn a_panic_closes_its_session() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let service = Service::new(Config::default()).unwrap();
        let text = "a(hen, H) :: null. agent a(hen, h).";
        for _ in 0..2 {
            let setup = Setup { files: vec![Text::new("hen.lcc", text)], ..Setup::default() };
            service.sessions.add(Session::open(setup).unwrap()).unwrap();
        }
        let holder = || Holder { client: ClientId(0), id: None, session: None };
        let work = |name: &str, is_bad: bool| {
            let begun = service.on_session(name, Allowed::default(), holder(), move |_, _| match is_bad {
                true => panic!("a test of panics"),
                false => result(&Closed { closed: true }),
            });
            begun.map(|begun| match begun {
                Begun::Done(outcome) => outcome.map_err(|fault| fault.code).map(|_| ()),
                Begun::Waiting(receiver, _guard) => {
                    runtime.block_on(receiver).map_err(|_| Fault::INTERNAL).map(|_| ())
                }
            })
        };
        assert_eq!(work("s1", true).unwrap(), Err(Fault::INTERNAL));
        assert_eq!(work("s1", false).unwrap_err().code, Fault::SESSION);
        assert_eq!(work("s2", false).unwrap(), Ok(()));
        assert_eq!(service.sessions.size().0, 1);
    }

    #[rustfmt::skip]
    #[test]
    fn names_of_files() {
        for good in ["dc.ispl", "a b (2).lcc", "_x", "zwölf.bdi"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\\b", "-x", "--engine", ".hidden", "a\0b", "c:x"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
        assert!(check_name(&"x".repeat(101)).is_err());
    }
}
