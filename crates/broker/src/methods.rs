//! The methods: a call is done at once, waits in the queue of its session, or starts a child process.

use std::sync::Arc;
use std::time::Duration;

use masque_driver as driver;
use masque_lcc::{Question, Setup, Text};
use masque_text::MemoryShare;
use masque_verdict::Budget;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use crate::ask;
use crate::child::Task;
use crate::fault::{Fault, brief};
use crate::held::Held;
use crate::interact::{self, Happened};
use crate::journal::{Entry, NewEntry};
use crate::log::Level;
use crate::protocol::{
    Allowed, Cancel, Cancelled, Check, CheckModel, Closed, Explain, Explained, File, GetState, Method,
    NoParams, Observe, Open, OptionValue, Page, SessionParams, StateFormat, Stopping,
};
use crate::rpc::Id;
use crate::service::{Begun, Client, Outcome, Service, params, result};
use crate::session_queue::SessionQueue;
use crate::sessions::set_bytes;
use crate::team::Teams;
use crate::ticket::{Holder, Ticket};

/// Maximum length in bytes of a file's name for a child process.
const MAX_NAME_BYTES: usize = 100;

impl Service {
    /// Begins a call. Errors in its parameters are its result.
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
                    ask::check(session, questions.as_ref(), evidence, budget, log)
                })
            }),
            Method::Update => params(raw).and_then(|params: crate::protocol::Update| {
                let update = masque_lcc::Update { add: params.add, remove: params.remove };
                let entry = Entry::new(self.journal.as_ref(), &params.session);
                self.on_session(&params.session, Allowed::default(), holder, move |session, budget| {
                    interact::update(session.unfollowed()?, &update, &entry, budget)
                })
            }),
            Method::Moves => {
                self.without_params(raw, holder, |session, budget| interact::moves(session, budget))
            }
            Method::Advance => params(raw).and_then(|params: crate::protocol::Advance| {
                let name = params.session.clone();
                let (happened, entry) = (Happened::new(params)?, Entry::new(self.journal.as_ref(), &name));
                self.on_session(&name, Allowed::default(), holder, move |session, budget| {
                    interact::advance(session.unfollowed()?, &happened, &entry, budget)
                })
            }),
            Method::Place => params(raw).and_then(|params: crate::protocol::Place| {
                let name = params.session;
                let (state, is_tuple) = match (params.statements, params.tuple) {
                    (Some(statements), None) => (statements.join("\n"), false),
                    (None, Some(tuple)) => (tuple, true),
                    _ => return Err(Fault::params("expected `statements` or `tuple`")),
                };
                let entry = Entry::new(self.journal.as_ref(), &name);
                self.on_session(&name.clone(), Allowed::default(), holder, move |session, budget| {
                    let tuple_of = is_tuple.then_some(name.as_str());
                    interact::place(session.unfollowed()?, &state, tuple_of, &entry, budget)
                })
            }),
            Method::State => params(raw).and_then(|params: GetState| {
                let (name, is_tuple) = (params.session, params.format == StateFormat::Tuple);
                self.on_session(&name.clone(), Allowed::default(), holder, move |session, budget| {
                    interact::state(session, is_tuple.then_some(name.as_str()), budget)
                })
            }),
            Method::Teams => params(raw).and_then(|params| self.teams(params, holder)),
            Method::Explain => params(raw).and_then(|params| self.explain(params, holder)),
            Method::Observe => params(raw).and_then(|params: Observe| {
                let entry = Entry::new(self.journal.as_ref(), &params.session);
                self.on_session(
                    &params.session.clone(),
                    Allowed::default(),
                    holder,
                    move |session, budget| session.observe(&params, &entry, budget),
                )
            }),
            Method::May => params(raw).and_then(|params: Observe| {
                self.on_session(
                    &params.session.clone(),
                    Allowed::default(),
                    holder,
                    move |session, budget| session.may(&params, budget),
                )
            }),
            Method::Obligations => self.without_params(raw, holder, Held::obligations),
            Method::Close => params(raw).and_then(|params| self.close(params, holder)),
            Method::Cancel => params(raw).and_then(|params| self.cancel(client, params)),
            Method::CheckModel => params(raw).and_then(|params| self.check_model(params, holder)),
            Method::Shutdown => params(raw).and_then(|NoParams {}| self.shutdown(client)),
        };
        begun.unwrap_or_else(|fault| Begun::Done(Err(fault)))
    }

    /// Begins a method whose only parameter is the session.
    fn without_params(
        self: &Arc<Self>,
        raw: Option<&RawValue>,
        holder: Holder,
        work: impl FnMut(&mut Held, &Budget) -> Outcome + Send + 'static,
    ) -> Result<Begun, Fault> {
        let SessionParams { session } = params(raw)?;
        self.on_session(&session, Allowed::default(), holder, work)
    }

    /// Begins work that waits in the queue of a session and runs within a budget.
    fn on_session(
        self: &Arc<Self>,
        name: &str,
        allowed: Allowed,
        mut holder: Holder,
        mut work: impl FnMut(&mut Held, &Budget) -> Outcome + Send + 'static,
    ) -> Result<Begun, Fault> {
        let open = self.sessions.get(name)?;
        let limits = self.call_limits(allowed)?;
        let (service, name) = (Arc::clone(self), name.to_string());
        holder.session = Some(name.clone());
        let queue = Arc::clone(&open.queue);
        Ok(self.submit(&queue, holder, move |value, ticket| {
            // The session was closed while the call waited, or an earlier call panicked.
            let Some(session) = value else { return Err(Fault::session(&name)) };
            let budget = limits.budget(ticket, &open.memory);
            let guard = RemoveOnPanic { service: &service, name: &name, is_armed: true };
            let outcome = work(session, &budget);
            guard.disarm();
            set_bytes(&open.memory, session);
            outcome
        }))
    }

    fn open(self: &Arc<Self>, params: Open, holder: Holder) -> Result<Begun, Fault> {
        // Checked before the texts are parsed, and again when the session is added.
        self.sessions.check_room()?;
        let limits = self.call_limits(Allowed::default())?;
        let mut setup = self.setup(params.files, params.properties, params.options);
        let entry = NewEntry::new(self.journal.as_ref(), &mut setup);
        let service = Arc::clone(self);
        Ok(self.submit(&SessionQueue::new(Some(())), holder, move |_, ticket| {
            let memory = Arc::new(MemoryShare::new(&service.memory));
            let budget = limits.budget(ticket, &memory);
            let (session, mut opened) = ask::open(&setup, &budget)?;
            budget.check().map_err(Fault::stopped)?;
            opened.session = service.sessions.add(session, memory, |name| entry.save(name))?;
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

    /// Searches for teams.
    pub(crate) fn teams(self: &Arc<Self>, params: Teams, holder: Holder) -> Result<Begun, Fault> {
        let limits = self.call_limits(params.limits)?;
        let setup = self.setup(params.files, params.properties, params.options);
        let request = ask::request(setup, params.roles, params.questions, params.want);
        let service = Arc::clone(self);
        Ok(self.submit(&SessionQueue::new(Some(())), holder, move |_, ticket| {
            let memory = Arc::new(MemoryShare::new(&service.memory));
            ask::teams(&request, &limits.budget(ticket, &memory))
        }))
    }

    fn explain(self: &Arc<Self>, params: Explain, holder: Holder) -> Result<Begun, Fault> {
        let questions = questions(params.property, params.formula)?;
        match (params.session, questions, params.code) {
            (Some(session), Some(question), None) => {
                let log = self.log;
                self.on_session(&session, params.limits, holder, move |session, budget| {
                    ask::explain(session, &question, budget, log)
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
            _ => Err(Fault::params("expected `session` with `property` or `formula`, or `code` alone")),
        }
    }

    fn close(self: &Arc<Self>, params: SessionParams, mut holder: Holder) -> Result<Begun, Fault> {
        let SessionParams { session: name } = params;
        let open = self.sessions.get(&name)?;
        let service = Arc::clone(self);
        holder.session = Some(name.clone());
        Ok(self.submit(&open.queue, holder, move |value, _| {
            // There is no session if an earlier `close` was waiting, too.
            if value.is_some() {
                Entry::new(service.journal.as_ref(), &name).close()?;
            }
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
                let id = Id::read(&raw).ok_or_else(|| Fault::params("`id` must be a string or a number"))?;
                self.tickets.cancel(|holder| holder.client == client.id && holder.id.as_ref() == Some(&id))
            }
            (None, Some(_)) => {
                let message =
                    "over HTTP calls cannot be cancelled by `id`: give `session`, or close the connection";
                return Err(Fault::params(message));
            }
            _ => return Err(Fault::params("expected `session` or `id`")),
        };
        Ok(Begun::Done(result(&Cancelled { cancelled })))
    }

    fn check_model(self: &Arc<Self>, model: CheckModel, holder: Holder) -> Result<Begun, Fault> {
        if model.files.is_empty() {
            return Err(Fault::params("`files` must have at least one file"));
        }
        for (index, file) in model.files.iter().enumerate() {
            check_name(&file.name)?;
            if model.files[..index].iter().any(|other| other.name.eq_ignore_ascii_case(&file.name)) {
                return Err(Fault::params(format!("two files are called `{}`", file.name)));
            }
        }
        let time = self.time(model.limits)?;
        let memory = model.limits.memory.unwrap_or(u64::MAX).min(self.limits.memory);
        let guard = self.tickets.issue(holder);
        let (sender, receiver) = oneshot::channel();
        let work = Arc::clone(&self.children).check(Task { model, time, memory }, Arc::clone(&guard.ticket));
        // If the client disconnects, the ticket is cancelled, which ends this task.
        tokio::spawn(async move { sender.send(work.await) });
        Ok(Begun::Waiting(receiver, guard))
    }

    fn shutdown(&self, client: Client) -> Result<Begun, Fault> {
        if !client.is_only {
            return Err(Fault::params("`shutdown` is not available over HTTP; end the process instead"));
        }
        self.stop();
        Ok(Begun::Done(result(&Stopping {})))
    }

    /// The limits of a call: its own ones, if they are below those of the service.
    fn call_limits(&self, allowed: Allowed) -> Result<CallLimits, Fault> {
        Ok(CallLimits {
            time: self.time(allowed)?,
            states: allowed.states.unwrap_or(u64::MAX).min(self.limits.states),
            memory: allowed.memory.unwrap_or(u64::MAX).min(self.limits.memory),
        })
    }

    /// The time limit of a call.
    pub(crate) fn time(&self, allowed: Allowed) -> Result<Duration, Fault> {
        let Some(seconds) = allowed.seconds else { return Ok(self.limits.time) };
        match Duration::try_from_secs_f64(seconds) {
            Ok(time) => Ok(time.min(self.limits.time)),
            // The value is too large for a duration.
            Err(_) if seconds > 0.0 => Ok(self.limits.time),
            Err(_) => Err(Fault::params("`seconds` must not be negative")),
        }
    }
}

/// Removes a session if the work on it panics.
struct RemoveOnPanic<'s> {
    service: &'s Service,
    name: &'s str,
    is_armed: bool,
}

impl RemoveOnPanic<'_> {
    fn disarm(mut self) {
        self.is_armed = false;
    }
}

impl Drop for RemoveOnPanic<'_> {
    fn drop(&mut self) {
        if self.is_armed {
            self.service.sessions.remove(self.name);
            let message = format!("session {} is closed: a call panicked", self.name);
            self.service.log.report(Level::Error, "panic", &message, &[("session", self.name.into())]);
        }
    }
}

/// The limits of a call.
#[derive(Clone, Copy, Debug)]
struct CallLimits {
    time: Duration,
    states: u64,
    memory: u64,
}

impl CallLimits {
    /// The budget of a call that begins now and holds memory in a share.
    fn budget(self, ticket: &Ticket, share: &Arc<MemoryShare>) -> Budget {
        let budget = Budget::default().with_timeout(self.time).with_states(self.states);
        budget.with_memory(self.memory).with_share(Arc::clone(share)).with_cancel(ticket.flag())
    }
}

/// The question of a call; none means all properties.
fn questions(property: Option<String>, formula: Option<String>) -> Result<Option<Question>, Fault> {
    match (property, formula) {
        (None, None) => Ok(None),
        (Some(name), None) => Ok(Some(Question::Property(name))),
        (None, Some(text)) => Ok(Some(Question::Formula(text))),
        (Some(_), Some(_)) => Err(Fault::params("expected `property` or `formula`, not both")),
    }
}

/// Checks that a name is a plain file name, without folders.
pub(crate) fn check_name(name: &str) -> Result<(), Fault> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '+' | '(' | ')');
    let is_good = name.chars().all(is_plain)
        && name.len() <= MAX_NAME_BYTES
        && name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if is_good {
        return Ok(());
    }
    Err(Fault::params(format!(
        "`{}` is not a file name: it may have letters, digits, `_`, `-`, `.`, `+`, parentheses and spaces, but no folders",
        brief(name)
    )))
}

#[cfg(test)]
mod tests {
    use masque_lcc::Session;

    use super::*;
    use crate::service::Config;
    use crate::ticket::ClientId;

    /// A call that panics gets an error as its result; its session is removed, and others are not affected.
    #[test]
    fn a_panic_closes_its_session() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let service = Service::new(Config::default()).unwrap();
        let text = "a(hen, H) :: null. agent a(hen, h).";
        for _ in 0..2 {
            let setup = Setup { files: vec![Text::new("hen.lcc", text)], ..Setup::default() };
            let memory = Arc::new(MemoryShare::new(&service.memory));
            service.sessions.add(Session::open(setup).unwrap(), memory, |_| Ok(())).unwrap();
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
