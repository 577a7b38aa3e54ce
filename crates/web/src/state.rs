//! What the server knows: the model as it was loaded last, and its check.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, broadcast};

use crate::child::{ModelChild, NoReply, Program, Ready};
use crate::protocol::{Ask, CheckInfo, EvidenceInfo, ModelInfo, ProgressInfo, Reply};
use crate::state_graph::KnownGraph;
use crate::tab::Tabs;

/// Maximum number of requests that wait for the process of the model.
const MAX_WAITING: usize = 32;
/// Number of events that a slow browser may lag behind. It then gets a newer one instead.
const MAX_EVENTS: usize = 64;
/// Maximum number of properties whose evidence is kept.
const MAX_KEPT_EVIDENCE: usize = 16;

/// The state of the server.
pub(crate) struct App {
    /// The first part of every path.
    pub(crate) base: String,
    model: Mutex<ModelState>,
    pub(crate) tabs: Mutex<Tabs>,
    /// The state graph that was drawn last.
    pub(crate) graph: Mutex<Option<KnownGraph>>,
    /// The process that checks the model and has its evidence.
    pub(crate) checker: ModelChild,
    /// The process that answers questions about states.
    pub(crate) asker: ModelChild,
    waiting: Semaphore,
    pub(crate) events: broadcast::Sender<Event>,
}

/// An event that is sent to browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The pages have changed.
    Changed,
    /// The check has made progress.
    Progress,
}

/// The model as it was loaded last.
#[derive(Clone, Default)]
pub(crate) struct ModelState {
    /// Number of times that the model was loaded.
    pub(crate) version: u64,
    /// Number of times that pages had to change.
    pub(crate) revision: u64,
    /// Values of parameters that the user has changed on the page.
    pub(crate) defines: Vec<(String, String)>,
    pub(crate) model: Arc<ModelInfo>,
    pub(crate) check: CheckState,
    /// Evidence by property.
    evidence: HashMap<usize, Arc<EvidenceInfo>>,
}

/// The state of the check.
#[derive(Clone, Debug, Default)]
pub(crate) enum CheckState {
    /// The files are being read.
    #[default]
    Loading,
    /// There is no model to check.
    NotChecked,
    /// The check runs.
    Running(ProgressInfo),
    /// It has ended; `is_cancelled` says whether the user ended it.
    Done { info: Arc<CheckInfo>, is_cancelled: bool },
    /// It was cancelled before it had a result.
    Cancelled,
    /// The process failed: a message.
    Failed(String),
}

impl ModelState {
    /// The results of the check, if it has ended.
    pub(crate) fn checked(&self) -> Option<&Arc<CheckInfo>> {
        match &self.check {
            CheckState::Done { info, .. } => Some(info),
            _ => None,
        }
    }
}

impl App {
    pub(crate) fn new(base: String, program: &Program) -> App {
        App {
            base,
            model: Mutex::default(),
            tabs: Mutex::default(),
            graph: Mutex::default(),
            checker: ModelChild::new(program),
            asker: ModelChild::new(program),
            waiting: Semaphore::new(MAX_WAITING),
            events: broadcast::channel(MAX_EVENTS).0,
        }
    }

    /// The model as it was loaded last.
    pub(crate) fn model(&self) -> ModelState {
        lock(&self.model).clone()
    }

    fn send(&self, event: Event) {
        // There is no receiver if no page is open.
        _ = self.events.send(event);
    }

    /// The request that loads the model.
    fn load(&self) -> Ask {
        let defines =
            lock(&self.model).defines.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ask::Load { defines }
    }

    /// Changes parameters, and loads and checks the model again.
    pub(crate) fn define(self: &Arc<Self>, defines: Vec<(String, String)>) {
        let mut model = lock(&self.model);
        for (name, value) in defines {
            model.defines.retain(|(known, _)| *known != name);
            model.defines.push((name, value));
        }
        drop(model);
        self.reload();
    }

    /// Loads and checks the model again, in new processes.
    pub(crate) fn reload(self: &Arc<Self>) {
        let version = {
            let mut model = lock(&self.model);
            model.version += 1;
            model.revision += 1;
            model.check = CheckState::Loading;
            model.evidence.clear();
            model.version
        };
        self.send(Event::Changed);
        let app = Arc::clone(self);
        tokio::spawn(async move {
            app.checker.stop().await;
            app.asker.stop().await;
            app.load_and_check(version).await;
        });
    }

    /// Changes what is known, if the version is still the newest.
    fn update(&self, version: u64, event: Event, change: impl FnOnce(&mut ModelState)) -> bool {
        let mut model = lock(&self.model);
        let is_current = model.version == version;
        if is_current {
            change(&mut model);
            model.revision += u64::from(event == Event::Changed);
        }
        drop(model);
        if is_current {
            self.send(event);
        }
        is_current
    }

    async fn load_and_check(&self, version: u64) {
        let load = self.load();
        let fail = |error: NoReply| {
            let check = match error {
                NoReply::Cancelled => CheckState::Cancelled,
                NoReply::Failed(message) => CheckState::Failed(message),
            };
            self.update(version, Event::Changed, |model| model.check = check);
        };
        let mut child = match self.checker.ready(None).await {
            Ok(child) => child,
            Err(error) => return fail(error),
        };
        let info = match child.ask(&load, &mut |_| {}).await {
            Ok(Reply::Loaded(info)) => Arc::new(info),
            Ok(_) => return fail(NoReply::Failed("unexpected reply".to_string())),
            Err(error) => return fail(error),
        };
        let has_model = info.has_model;
        let check =
            if has_model { CheckState::Running(ProgressInfo::default()) } else { CheckState::NotChecked };
        let is_current = self.update(version, Event::Changed, |model| {
            model.model = info;
            model.check = check;
        });
        if !is_current || !has_model {
            return;
        }
        let mut progress = |info: ProgressInfo| {
            self.update(version, Event::Progress, |model| model.check = CheckState::Running(info));
        };
        match child.ask(&Ask::Check, &mut progress).await {
            Ok(Reply::Checked(info)) => {
                let is_stopped =
                    |verdict: &crate::protocol::VerdictInfo| verdict.reason.as_deref() == Some("interrupted");
                let is_cancelled = info.verdicts.iter().any(is_stopped);
                let check = CheckState::Done { info: Arc::new(info), is_cancelled };
                self.update(version, Event::Changed, |model| model.check = check);
            }
            Ok(Reply::Refused(message)) => fail(NoReply::Failed(message)),
            Ok(_) => fail(NoReply::Failed("unexpected reply".to_string())),
            Err(error) => fail(error),
        }
    }

    /// The evidence of a property, if the check has ended.
    pub(crate) async fn evidence(&self, property: usize) -> Result<Option<Arc<EvidenceInfo>>, NoReply> {
        let (version, known, is_checked) = {
            let model = lock(&self.model);
            (model.version, model.evidence.get(&property).cloned(), model.checked().is_some())
        };
        if known.is_some() || !is_checked {
            return Ok(known);
        }
        let Ok(_permit) = self.waiting.try_acquire() else { return Err(busy()) };
        let mut child = self.checker.ready(Some(&self.load())).await?;
        let Reply::Evidence(Some(info)) = child.ask(&Ask::Evidence { property }, &mut |_| {}).await? else {
            return Ok(None);
        };
        let info = Arc::new(info);
        let mut model = lock(&self.model);
        if model.version == version {
            if model.evidence.len() >= MAX_KEPT_EVIDENCE {
                model.evidence.clear();
            }
            model.evidence.insert(property, Arc::clone(&info));
        }
        Ok(Some(info))
    }

    /// The process that answers questions, locked for several of them.
    pub(crate) async fn asker(&self) -> Result<Asker<'_>, NoReply> {
        let Ok(permit) = self.waiting.try_acquire() else { return Err(busy()) };
        let ready = self.asker.ready(Some(&self.load())).await?;
        Ok(Asker { ready, _permit: permit })
    }

    /// Ends all processes.
    pub(crate) async fn stop(&self) {
        self.checker.stop().await;
        self.asker.stop().await;
    }
}

/// The process that answers questions.
pub(crate) struct Asker<'a> {
    ready: Ready<'a>,
    _permit: tokio::sync::SemaphorePermit<'a>,
}

impl Asker<'_> {
    /// The number of the process.
    pub(crate) fn generation(&self) -> u64 {
        self.ready.generation()
    }

    /// Asks a question. The message is for the user.
    pub(crate) async fn ask(&mut self, ask: &Ask) -> Result<Reply, String> {
        match self.ready.ask(ask, &mut |_| {}).await {
            Ok(Reply::Refused(message)) | Err(NoReply::Failed(message)) => Err(message),
            Ok(reply) => Ok(reply),
            Err(NoReply::Cancelled) => Err("it was cancelled".to_string()),
        }
    }
}

fn busy() -> NoReply {
    NoReply::Failed(format!("more than {MAX_WAITING} requests wait for the model"))
}

/// Locks a mutex. What it protects is valid even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
