//! The state of the server, and the dispatch of messages.
//!
//! [`Server::handle`] takes a message and returns the replies. What takes long is a [`Task`]: the caller takes it with
//! [`Server::next_task`], runs it on another thread, and returns its results with [`Server::finish`].

mod diagnostics;
mod messages;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Message, Request, RequestId};
use serde_json::Value;

use self::diagnostics::DiagnosticQuestion;
use crate::actions::{RunningCheck, log};
use crate::analysis::{Analysis, AnalysisTask};
use crate::check_process::{CheckDone, CheckTask};
use crate::document::Document;
use crate::explain_pages::ExplainPages;
use crate::lines::Encoding;
use crate::names::ModelNames;
use crate::overlay::{Overlay, identity};
use crate::settings::{Settings, VerdictDiagnostics, seconds};
use crate::uri::{path_of, uri_of};
use crate::verdicts::Verdicts;
use crate::workspace::Workspace;

/// Maximum number of documents that may be open.
const MAX_DOCUMENTS: usize = 10_000;

/// What the server needs from its surroundings.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The `masque` executable, which checks properties; without it there are no checks.
    pub program: Option<PathBuf>,
    /// Folder for pages about codes and for evidence; without it there are none.
    pub cache: Option<PathBuf>,
}

/// Work that takes long.
#[derive(Debug)]
pub enum Task {
    /// Finds the model files of the workspace.
    Scan(Workspace, Vec<PathBuf>),
    /// Loads a model.
    Analyse(Box<AnalysisTask>),
    /// Checks properties.
    Check(Box<CheckTask>),
}

/// A result of a task.
#[derive(Debug)]
pub enum Done {
    /// The model files of the workspace.
    Scanned(Workspace),
    /// A model was loaded.
    Analysed(Box<Analysis>),
    /// A result of a check.
    Checked(Box<CheckDone>),
}

impl Task {
    /// Runs the task and passes on its results.
    pub fn run(self, report: &mut dyn FnMut(Done)) {
        match self {
            Task::Scan(workspace, folders) => report(Done::Scanned(workspace.scan(&folders))),
            Task::Analyse(task) => report(Done::Analysed(Box::new(task.run()))),
            Task::Check(task) => task.run(&mut |done| report(Done::Checked(Box::new(done)))),
        }
    }

    /// Name of the thread that runs the task.
    pub fn name(&self) -> &'static str {
        match self {
            Task::Scan(..) => "scan",
            Task::Analyse(_) => "analysis",
            Task::Check(_) => "check",
        }
    }
}

/// What the client can do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    pub(crate) has_progress: bool,
    pub(crate) has_inlay_hints: bool,
    pub(crate) refreshes_hints: bool,
    pub(crate) refreshes_lenses: bool,
    /// Whether the client asks for diagnostics, and asks again on request of the server.
    pub(crate) asks_for_diagnostics: bool,
    pub(crate) shows_documents: bool,
    pub(crate) has_configuration: bool,
    pub(crate) watches_files: bool,
    pub(crate) has_snippets: bool,
    pub(crate) has_terminal: bool,
    pub(crate) has_evidence_panel: bool,
}

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    code: i32,
    message: String,
}

impl Refusal {
    /// The request is valid, but cannot be answered.
    pub(crate) fn failed(message: impl Into<String>) -> Refusal {
        Refusal { code: ErrorCode::RequestFailed as i32, message: message.into() }
    }

    /// The parameters are wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> Refusal {
        Refusal { code: ErrorCode::InvalidParams as i32, message: message.into() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    ShutDown,
}

/// The language server.
#[derive(Debug)]
pub struct Server {
    pub(crate) config: Config,
    phase: Phase,
    exit_code: Option<i32>,
    pub(crate) client: Client,
    pub(crate) encoding: Encoding,
    pub(crate) settings: Settings,
    folders: Vec<PathBuf>,
    /// Open documents by the identities of their paths.
    pub(crate) documents: HashMap<PathBuf, Document>,
    pub(crate) workspace: Workspace,
    needs_scan: bool,
    is_scanning: bool,
    /// The models of each open document, by their first files.
    roots: HashMap<PathBuf, Vec<PathBuf>>,
    /// Models to analyse.
    dirty: VecDeque<PathBuf>,
    in_flight: Option<(PathBuf, Arc<AtomicBool>)>,
    pub(crate) analyses: BTreeMap<PathBuf, Analysis>,
    /// Files with published diagnostics.
    published: BTreeSet<PathBuf>,
    /// Questions about diagnostics that wait for an analysis.
    diagnostic_questions: Vec<DiagnosticQuestion>,
    /// Number of changes of texts so far.
    revision: u64,
    /// Number of changes on the disk so far.
    disk_revision: u64,
    names: HashMap<PathBuf, (u64, Option<Arc<ModelNames>>)>,
    pages: Arc<ExplainPages>,
    pub(crate) verdicts: HashMap<PathBuf, Verdicts>,
    pub(crate) checks: HashMap<PathBuf, RunningCheck>,
    pub(crate) waiting_checks: VecDeque<CheckTask>,
    /// Hashes of the texts that running checks have got.
    pub(crate) checked_revisions: HashMap<i32, u64>,
    last_id: i32,
    /// Request for the configuration that the client has not answered.
    configuration_request: Option<RequestId>,
}

impl Server {
    /// A server that waits for `initialize`.
    pub fn new(config: Config) -> Server {
        let pages = Arc::new(ExplainPages::new(config.cache.as_deref()));
        Server {
            config,
            phase: Phase::New,
            exit_code: None,
            client: Client::default(),
            encoding: Encoding::default(),
            settings: Settings::default(),
            folders: Vec::new(),
            documents: HashMap::new(),
            workspace: Workspace::default(),
            needs_scan: false,
            is_scanning: false,
            roots: HashMap::new(),
            dirty: VecDeque::new(),
            in_flight: None,
            analyses: BTreeMap::new(),
            published: BTreeSet::new(),
            diagnostic_questions: Vec::new(),
            revision: 0,
            disk_revision: 0,
            names: HashMap::new(),
            pages,
            verdicts: HashMap::new(),
            checks: HashMap::new(),
            waiting_checks: VecDeque::new(),
            checked_revisions: HashMap::new(),
            last_id: 0,
            configuration_request: None,
        }
    }

    /// The exit code, once the client has sent `exit`: 0 after `shutdown`, otherwise 1.
    pub fn exit_code(&self) -> Option<i32> {
        self.exit_code
    }

    /// Takes a message and returns the messages to send.
    pub fn handle(&mut self, message: Message) -> Vec<Message> {
        match message {
            Message::Request(request) => self.handle_request(request),
            Message::Notification(notification) => {
                let mut messages = self.handle_notification(notification);
                messages.extend(self.answer_diagnostics());
                messages
            }
            Message::Response(response) => self.handle_response(response),
        }
    }

    /// Cancels all work, before the process ends.
    pub fn stop(&mut self) {
        if let Some((_, cancel)) = &self.in_flight {
            cancel.store(true, Ordering::Relaxed);
        }
        for (_, check) in self.checks.drain() {
            check.cancel.store(true, Ordering::Relaxed);
        }
        for task in self.waiting_checks.drain(..) {
            self.checked_revisions.remove(&task.id);
        }
        self.dirty.clear();
    }

    /// Whether checks have not ended yet.
    pub fn has_running_checks(&self) -> bool {
        !self.checked_revisions.is_empty()
    }

    /// The next work to run on another thread, if there is any. At most one scan and one analysis run at a time.
    pub fn next_task(&mut self) -> Option<Task> {
        if self.needs_scan && !self.is_scanning {
            (self.needs_scan, self.is_scanning) = (false, true);
            return Some(Task::Scan(self.workspace.clone(), self.folders.clone()));
        }
        if let Some(task) = self.waiting_checks.pop_front() {
            return Some(Task::Check(Box::new(task)));
        }
        if self.in_flight.is_some() || self.is_scanning {
            return None;
        }
        let root = self.dirty.pop_front()?;
        let cancel = Arc::new(AtomicBool::new(false));
        self.in_flight = Some((root.clone(), Arc::clone(&cancel)));
        Some(Task::Analyse(Box::new(AnalysisTask {
            root,
            overlay: self.overlay(),
            versions: self
                .documents
                .iter()
                .map(|(path, document)| (path.clone(), document.version))
                .collect(),
            lines: self.documents.values().map(Document::shared_lines).collect(),
            uris: self.uris(),
            encoding: self.encoding,
            time_limit: seconds(self.settings.load.time_limit),
            memory_limit: self.settings.load.memory_limit.saturating_mul(1 << 20),
            cancel,
            pages: Arc::clone(&self.pages),
        })))
    }

    /// Takes a result of a task and returns the messages to send.
    pub fn finish(&mut self, done: Done) -> Vec<Message> {
        let mut messages = match done {
            Done::Scanned(workspace) => {
                self.is_scanning = false;
                let is_changed = self.workspace.update(workspace);
                let messages = self.find_roots();
                if is_changed {
                    self.analyse_all();
                }
                messages
            }
            Done::Analysed(analysis) => self.analysed(*analysis),
            Done::Checked(done) => self.checked(*done),
        };
        messages.extend(self.answer_diagnostics());
        messages
    }

    fn analysed(&mut self, analysis: Analysis) -> Vec<Message> {
        self.in_flight = None;
        let root = analysis.root.clone();
        let is_wanted = self.wanted_roots().contains(&root);
        if !is_wanted || self.dirty.contains(&root) {
            return Vec::new();
        }
        let is_old = |file: &PathBuf| {
            let version = self.documents.get(file).map(|document| document.version);
            version.is_some() && version != analysis.versions.get(file).copied()
        };
        if analysis.is_cancelled || analysis.files.keys().any(is_old) {
            self.dirty.push_back(root);
            return Vec::new();
        }
        let mut messages = Vec::new();
        messages.extend(analysis.bug.clone().map(log));
        let before = self.analyses.insert(root, analysis.clone());
        let old_files = before.into_iter().flat_map(|analysis| analysis.files.into_keys());
        let files: BTreeSet<PathBuf> = old_files.chain(analysis.files.into_keys()).collect();
        for file in files {
            messages.extend(self.publish(&file));
        }
        messages.extend(self.refresh());
        messages
    }

    /// Whether verdicts are shown as diagnostics.
    pub(crate) fn verdicts_are_diagnostics(&self) -> bool {
        match self.settings.verdicts.diagnostics {
            VerdictDiagnostics::Always => true,
            VerdictDiagnostics::Never => false,
            VerdictDiagnostics::Auto => !self.client.has_inlay_hints,
        }
    }

    /// Requests that make the client ask again for hints, lenses and diagnostics.
    pub(crate) fn refresh(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        if self.client.refreshes_hints {
            messages.push(self.request("workspace/inlayHint/refresh", Value::Null));
        }
        if self.client.refreshes_lenses {
            messages.push(self.request("workspace/codeLens/refresh", Value::Null));
        }
        if self.client.asks_for_diagnostics {
            messages.push(self.request("workspace/diagnostic/refresh", Value::Null));
        }
        messages
    }

    /// A request to the client, whose answer is ignored unless its id is kept.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Message {
        let id = RequestId::from(self.next_id());
        Message::Request(Request { id, method: method.to_string(), params })
    }

    /// A number that was not used before.
    pub(crate) fn next_id(&mut self) -> i32 {
        self.last_id += 1;
        self.last_id
    }

    /// The path of a document or file.
    pub(crate) fn path(&self, uri: &lsp::Uri) -> PathBuf {
        let open = self.documents.values().find(|document| document.uri == *uri);
        open.map(|document| document.path.clone()).unwrap_or_else(|| identity(&path_of(uri, "ispl")))
    }

    /// The URI of a file, as the client calls it.
    pub(crate) fn uri(&self, path: &Path) -> lsp::Uri {
        self.documents.get(path).map_or_else(|| uri_of(path), |document| document.uri.clone())
    }

    /// The URIs of all documents.
    pub(crate) fn uris(&self) -> HashMap<PathBuf, lsp::Uri> {
        self.documents.iter().map(|(path, document)| (path.clone(), document.uri.clone())).collect()
    }

    /// An open document.
    pub(crate) fn document(&self, uri: &lsp::Uri) -> Option<&Document> {
        self.documents.get(&self.path(uri))
    }

    /// The texts of all documents, before the disk.
    pub(crate) fn overlay(&self) -> Overlay {
        let texts = self.documents.iter().map(|(path, document)| (path.clone(), Arc::clone(&document.text)));
        Overlay::new(texts.collect())
    }

    /// The names of all models that contain a file. They are found again after a change of a text.
    pub(crate) fn names_of(&mut self, path: &Path) -> Vec<Arc<ModelNames>> {
        let roots = self.roots.get(path).cloned().unwrap_or_else(|| self.workspace.roots_of(path));
        let mut found = Vec::new();
        for root in roots {
            let known = self.names.get(&root).filter(|(revision, _)| *revision == self.revision);
            let names = match known {
                Some((_, names)) => names.clone(),
                None => {
                    let names = ModelNames::new(&root, &self.overlay()).map(Arc::new);
                    self.names.insert(root, (self.revision, names.clone()));
                    names
                }
            };
            found.extend(names);
        }
        found
    }

    /// A number that changes with the texts of a model.
    pub(crate) fn text_hash(&self, root: &Path) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.disk_revision.hash(&mut hasher);
        for file in self.model_files(root) {
            if let Some(document) = self.documents.get(&file) {
                (&file, document.version).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// The files of a model: those of the last analysis, which may lie outside the workspace, and those that the
    /// texts import now.
    pub(crate) fn model_files(&self, root: &Path) -> BTreeSet<PathBuf> {
        let mut files = self.workspace.closure(root);
        files.extend(self.analyses.get(root).into_iter().flat_map(|analysis| analysis.files.keys().cloned()));
        files
    }

    fn wanted_roots(&self) -> BTreeSet<PathBuf> {
        self.roots.values().flatten().cloned().collect()
    }

    /// Finds the models of all open documents again, and analyses those that are new.
    fn find_roots(&mut self) -> Vec<Message> {
        let paths: Vec<PathBuf> = self.documents.keys().cloned().collect();
        self.roots = paths.into_iter().map(|path| (path.clone(), self.workspace.roots_of(&path))).collect();
        let wanted = self.wanted_roots();
        let unwanted: Vec<PathBuf> =
            self.analyses.keys().filter(|root| !wanted.contains(*root)).cloned().collect();
        let mut files = BTreeSet::new();
        for root in unwanted {
            files.extend(
                self.analyses.remove(&root).into_iter().flat_map(|analysis| analysis.files.into_keys()),
            );
        }
        self.names.retain(|root, _| wanted.contains(root));
        for root in wanted {
            let is_running = self.in_flight.as_ref().is_some_and(|(running, _)| *running == root);
            if !is_running && !self.analyses.contains_key(&root) {
                self.analyse(root);
            }
        }
        files.into_iter().filter_map(|file| self.publish(&file)).collect()
    }

    /// Analyses all models of open documents again, because files on the disk have changed.
    fn analyse_all(&mut self) {
        self.revision += 1;
        for root in self.wanted_roots() {
            self.analyse(root);
        }
    }

    /// Queues the analysis of a model, and cancels one that works on an older text.
    fn analyse(&mut self, root: PathBuf) {
        if let Some((_, cancel)) = self.in_flight.as_ref().filter(|(running, _)| *running == root) {
            cancel.store(true, Ordering::Relaxed);
        }
        if !self.dirty.contains(&root) {
            self.dirty.push_back(root);
        }
    }

    /// Notes that the text of a file has changed.
    fn text_changed(&mut self, path: &Path) {
        self.revision += 1;
        let affected: Vec<PathBuf> =
            self.wanted_roots().into_iter().filter(|root| self.model_files(root).contains(path)).collect();
        for root in affected {
            if let Some(verdicts) = self.verdicts.get_mut(&root) {
                verdicts.is_current = false;
            }
            self.analyse(root);
        }
    }
}

/// Writes a result. The types of the protocol always can be written.
pub(crate) fn to_value(value: &impl serde::Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
