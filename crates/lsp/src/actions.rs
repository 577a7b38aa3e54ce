//! Code lenses, code actions, inlay hints and commands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gen_lsp_types as lsp;
use lsp_server::Message;
use masque_driver::Language;
use serde_json::{Value, json};

use crate::analysis::{Found, PropertyPlace, merged};
use crate::check_process::{CheckDone, CheckResult, CheckTask, Question};
use crate::findings::Finding;
use crate::server::{Refusal, Server};
use crate::settings::seconds;
use crate::verdicts::{PropertyVerdict, Verdicts};
use crate::workspace::model_texts;

/// The commands of the server.
pub const COMMANDS: [&str; 5] =
    ["masque.check", "masque.checkAll", "masque.why", "masque.simulate", "masque.cancel"];

/// Kind of the code actions that run commands.
const ACTION_KIND: &str = "source.masque";

/// A check that runs.
#[derive(Debug)]
pub(crate) struct RunningCheck {
    pub(crate) id: i32,
    pub(crate) cancel: Arc<AtomicBool>,
}

impl Server {
    /// The properties of a document in the models that contain it, each with the first file of its model.
    fn properties_in(&self, path: &Path) -> Vec<(PathBuf, PropertyPlace)> {
        let mut found: Vec<(PathBuf, PropertyPlace)> = Vec::new();
        for (root, analysis) in &self.analyses {
            for place in analysis.properties.iter().filter(|place| place.file == path) {
                if !found.iter().any(|(_, other)| other.range == place.range) {
                    found.push((root.clone(), place.clone()));
                }
            }
        }
        found
    }

    /// The verdict on the property at a position, for hover.
    pub(crate) fn verdict_at(&self, path: &Path, position: lsp::Position) -> Option<String> {
        let at = |position: lsp::Position| (position.line, position.character);
        let is_here = |range: &lsp::Range| at(range.start) <= at(position) && at(position) <= at(range.end);
        let properties = self.properties_in(path);
        let (root, place) = properties.iter().find(|(_, place)| is_here(&place.range))?;
        self.verdicts.get(root)?.hover(place)
    }

    /// Lenses above properties, and above the file.
    pub(crate) fn lenses(&mut self, uri: &lsp::Uri) -> Option<Vec<lsp::CodeLens>> {
        let path = self.document(uri)?.path.clone();
        if !self.settings.lenses.0 {
            return Some(Vec::new());
        }
        let mut lenses = Vec::new();
        let properties = self.properties_in(&path);
        if !properties.is_empty() {
            let command = command("check all", "masque.checkAll", json!({"uri": uri}));
            lenses.push(lsp::CodeLens { range: lsp::Range::default(), command: Some(command), data: None });
        }
        for (root, place) in properties {
            for command in self.commands_of(uri, &root, &place) {
                let range = lsp::Range { start: place.range.start, end: place.range.start };
                lenses.push(lsp::CodeLens { range, command: Some(command), data: None });
            }
        }
        Some(lenses)
    }

    /// The commands of a property; the simulation only if there may be a counterexample.
    fn commands_of(&self, uri: &lsp::Uri, root: &Path, place: &PropertyPlace) -> Vec<lsp::Command> {
        let positions: Vec<String> = place.positions.iter().map(usize::to_string).collect();
        let argument = json!({"uri": uri, "root": self.uri(root), "property": positions.join(",")});
        let line = self.verdicts.get(root).and_then(|verdicts| verdicts.line(place));
        let title = line.map_or("check".to_string(), |line| format!("check ({line})"));
        let mut commands = vec![
            command(&title, "masque.check", argument.clone()),
            command("why", "masque.why", argument.clone()),
        ];
        let holds = self.verdicts.get(root).is_some_and(|verdicts| {
            verdicts.at(place).next().is_some()
                && verdicts.at(place).all(|verdict| verdict.verdict == "holds")
        });
        if !holds {
            commands.push(command("simulate from the counterexample", "masque.simulate", argument));
        }
        commands
    }

    /// Quick fixes of the diagnostics in a range, and the commands of lenses as actions.
    pub(crate) fn code_actions(&mut self, params: &lsp::CodeActionParams) -> Option<Vec<lsp::CodeAction>> {
        let uri = &params.text_document.uri;
        let path = self.document(uri)?.path.clone();
        let wanted = |kind: &str| {
            params.context.only.as_ref().is_none_or(|only| {
                only.iter()
                    .map(|only| String::from(only.clone()))
                    .any(|only| only.is_empty() || kind == only || kind.starts_with(&format!("{only}.")))
            })
        };
        let mut actions = Vec::new();
        if wanted("quickfix") {
            let behaviour = self.findings_in(&path);
            let found = merged(self.analyses.values(), &path);
            let here = found
                .into_iter()
                .chain(&behaviour)
                .filter(|found| overlap(found.diagnostic.range, params.range));
            actions.extend(here.filter_map(|found| self.quick_fix(found)));
        }
        if wanted(ACTION_KIND) {
            let properties = self.properties_in(&path);
            let has_properties = !properties.is_empty();
            for (root, place) in properties {
                let lines = lsp::Range {
                    start: lsp::Position { line: place.range.start.line, character: 0 },
                    end: lsp::Position { line: place.range.end.line, character: u32::MAX },
                };
                if overlap(lines, params.range) {
                    actions.extend(self.commands_of(uri, &root, &place).into_iter().map(action_of));
                }
            }
            if has_properties {
                actions.push(action_of(command("check all", "masque.checkAll", json!({"uri": uri}))));
            }
        }
        Some(actions)
    }

    fn quick_fix(&self, found: &Found) -> Option<lsp::CodeAction> {
        let fix = found.fix.as_ref()?;
        let mut changes: HashMap<lsp::Uri, Vec<lsp::TextEdit>> = HashMap::new();
        for (file, edit) in &fix.edits {
            changes.entry(self.uri(file)).or_default().push(edit.clone());
        }
        Some(lsp::CodeAction {
            title: fix.title.clone(),
            kind: Some(lsp::CodeActionKind::QuickFix),
            diagnostics: Some(vec![found.diagnostic.clone()]),
            is_preferred: Some(true),
            edit: Some(lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() }),
            ..lsp::CodeAction::default()
        })
    }

    /// Verdicts behind the properties of a range.
    pub(crate) fn inlay_hints(&mut self, params: &lsp::InlayHintParams) -> Option<Vec<lsp::InlayHint>> {
        let path = self.document(&params.text_document.uri)?.path.clone();
        if !self.settings.verdicts.inlay_hints {
            return Some(Vec::new());
        }
        let properties = self.properties_in(&path).into_iter();
        let hint = |(root, place): (PathBuf, PropertyPlace)| {
            self.verdicts.get(&root)?.hint(&place).filter(|_| overlap(place.range, params.range))
        };
        Some(properties.filter_map(hint).collect())
    }

    /// The messages of checks about a file, with their fixes, while the text is the one that was checked.
    pub(crate) fn findings_in(&self, path: &Path) -> Vec<Found> {
        let Some(document) = self.documents.get(path) else { return Vec::new() };
        let mut found = Vec::new();
        for (root, verdicts) in self.verdicts.iter().filter(|(_, verdicts)| verdicts.is_current) {
            let Some(analysis) = self.analyses.get(root) else { continue };
            let files: Vec<PathBuf> = analysis.files.keys().cloned().collect();
            let here = verdicts.findings.iter().filter(|finding| finding.file(root, &files) == path);
            found.extend(here.map(|finding| Found {
                diagnostic: finding.diagnostic(&document.text, &document.lines, self.encoding),
                fix: finding.fix(path, &document.text, &document.lines, self.encoding),
            }));
        }
        found
    }

    /// Verdicts as diagnostics of a file.
    pub(crate) fn verdict_diagnostics(&self, path: &Path) -> Vec<lsp::Diagnostic> {
        let properties = self.properties_in(path).into_iter();
        properties.filter_map(|(root, place)| self.verdicts.get(&root)?.diagnostic(&place)).collect()
    }

    /// Starts what a command asks for.
    pub(crate) fn execute(
        &mut self,
        params: &lsp::ExecuteCommandParams,
    ) -> Result<(Value, Vec<Message>), Refusal> {
        let question = match params.command.as_str() {
            "masque.check" | "masque.checkAll" => Some(Question::Check),
            "masque.why" => Some(Question::Why),
            "masque.simulate" => Some(Question::Simulate),
            "masque.cancel" => None,
            other => return Err(Refusal::invalid(format!("there is no command `{other}`"))),
        };
        let argument = params.arguments.as_ref().and_then(|arguments| arguments.first());
        let text = |name: &str| argument.and_then(|argument| argument.get(name)).and_then(Value::as_str);
        let uri =
            text("uri").ok_or_else(|| Refusal::invalid("the command needs an argument `{\"uri\": ..}`"))?;
        let path = self.path(&lsp::Uri(uri.to_string()));
        let root = match text("root") {
            Some(root) => self.path(&lsp::Uri(root.to_string())),
            None => self.workspace.roots_of(&path).into_iter().next().unwrap_or_else(|| path.clone()),
        };
        let Some(question) = question else {
            let n_cancelled = self.cancel_check(&root);
            return Ok((json!({"cancelled": n_cancelled}), Vec::new()));
        };
        let positions = match text("property").filter(|_| params.command != "masque.checkAll") {
            Some(property) => self.positions(&root, property)?,
            None => Vec::new(),
        };
        let messages = self.start_check(root, positions, question)?;
        Ok((json!({"started": true}), messages))
    }

    /// Positions of properties, from their names or positions.
    fn positions(&self, root: &Path, property: &str) -> Result<Vec<usize>, Refusal> {
        let by_name = |name: &str| {
            let verdicts = self.verdicts.get(root)?;
            verdicts
                .by_position
                .iter()
                .find(|(_, verdict)| verdict.name == name)
                .map(|(position, _)| *position)
        };
        let parts = property.split(',').map(str::trim);
        parts
            .map(|part| {
                let position = part.parse().ok().filter(|position| *position > 0);
                position.or_else(|| by_name(part)).ok_or_else(|| {
                    Refusal::invalid(format!(
                        "`{part}` is neither the position nor the name of a checked property"
                    ))
                })
            })
            .collect()
    }

    /// Starts a check of a model. A check of the same model that still runs is cancelled.
    pub(crate) fn start_check(
        &mut self,
        root: PathBuf,
        positions: Vec<usize>,
        question: Question,
    ) -> Result<Vec<Message>, Refusal> {
        let program =
            self.config.program.clone().ok_or_else(|| Refusal::failed("this server cannot check models"))?;
        let texts = model_texts(&self.model_files(&root), &self.overlay());
        if !texts.iter().any(|(path, _)| *path == root) {
            return Err(Refusal::failed(format!("`{}` cannot be read", root.display())));
        }
        self.cancel_check(&root);
        let id = self.next_id();
        let cancel = Arc::new(AtomicBool::new(false));
        let check = &self.settings.check;
        let is_ispl = Language::of_path(&root) == Some(Language::Ispl);
        self.waiting_checks.push_back(CheckTask {
            id,
            root: root.clone(),
            texts,
            positions,
            question,
            program,
            time_limit: seconds(check.time_limit),
            memory_limit: check.memory_limit,
            engine: is_ispl.then(|| check.engine.clone()),
            evidence_folder: self.evidence_folder(),
            cancel: Arc::clone(&cancel),
        });
        self.checks.insert(root.clone(), RunningCheck { id, cancel });
        self.checked_revisions.insert(id, self.text_hash(&root));
        Ok(self.begin_progress(id, &root))
    }

    fn begin_progress(&mut self, id: i32, root: &Path) -> Vec<Message> {
        if !self.client.has_progress {
            return Vec::new();
        }
        let token = progress_token(id);
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let begin = json!({"kind": "begin", "title": format!("Checking {name}"), "cancellable": true});
        vec![
            self.request("window/workDoneProgress/create", json!({"token": token})),
            notification("$/progress", json!({"token": token, "value": begin})),
        ]
    }

    /// Cancels the check of a model; returns whether one was running.
    pub(crate) fn cancel_check(&mut self, root: &Path) -> bool {
        let running = self.checks.remove(root);
        if let Some(running) = &running {
            running.cancel.store(true, Ordering::Relaxed);
        }
        running.is_some()
    }

    /// Cancels the check whose progress has this token.
    pub(crate) fn cancel_progress(&mut self, token: &Value) {
        let root = self
            .checks
            .iter()
            .find(|(_, check)| *token == progress_token(check.id))
            .map(|(root, _)| root.clone());
        if let Some(root) = root {
            self.cancel_check(&root);
        }
    }

    /// Takes a result of a check.
    pub(crate) fn checked(&mut self, done: CheckDone) -> Vec<Message> {
        let CheckDone { id, root, question, positions, result } = done;
        let is_latest = self.checks.get(&root).is_some_and(|check| check.id == id);
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match result {
            CheckResult::End => {
                if is_latest {
                    self.checks.remove(&root);
                }
                self.checked_revisions.remove(&id);
                let end = json!({"token": progress_token(id), "value": {"kind": "end"}});
                if self.client.has_progress { vec![notification("$/progress", end)] } else { Vec::new() }
            }
            CheckResult::Cancelled => vec![log(format!("{name}: the check was cancelled"))],
            _ if !is_latest => Vec::new(),
            CheckResult::Failed(message) => vec![show(1, format!("{name}: {message}"))],
            CheckResult::Errors(errors) => {
                let first = errors.first().cloned().unwrap_or_default();
                vec![show(2, format!("{name}: the model has errors: {first}"))]
            }
            CheckResult::Extents(extents) => {
                let verdicts = self.verdicts.entry(root.clone()).or_default();
                for (position, states) in numbered(&positions, extents) {
                    if let Some(verdict) = verdicts.by_position.get_mut(&position) {
                        verdict.states = states.or(verdict.states.take());
                    }
                }
                vec![self.verdicts_notification(&root)].into_iter().chain(self.refresh()).collect()
            }
            CheckResult::Verdicts { verdicts, findings, page, report } => {
                let is_current = self.checked_revisions.get(&id) == Some(&self.text_hash(&root));
                let mut messages = self.take_verdicts(
                    &root,
                    (&positions, verdicts, page.clone(), findings),
                    is_current,
                    &name,
                );
                messages.extend(self.show_evidence(question, &root, (page, report), &positions));
                messages
            }
        }
    }

    fn take_verdicts(
        &mut self,
        root: &Path,
        (positions, found, page, findings): (&[usize], Vec<PropertyVerdict>, Option<PathBuf>, Vec<Finding>),
        is_current: bool,
        name: &str,
    ) -> Vec<Message> {
        let line = Verdicts::summary(&found.iter().collect::<Vec<_>>());
        let verdicts = self.verdicts.entry(root.to_path_buf()).or_default();
        // Verdicts on an older text do not stand beside those on this one.
        if positions.is_empty() || !verdicts.is_current {
            verdicts.by_position.clear();
        }
        verdicts.by_position.extend(numbered(positions, found));
        verdicts.is_current = is_current;
        verdicts.findings = findings;
        verdicts.page = page.or(verdicts.page.take());
        let mut messages = vec![self.verdicts_notification(root), show(3, format!("{name}: {line}"))];
        messages.extend(self.refresh());
        let files =
            self.analyses.get(root).map(|analysis| analysis.files.keys().cloned().collect::<Vec<_>>());
        for file in files.unwrap_or_default() {
            messages.extend(self.publish(&file));
        }
        messages
    }

    /// The notification `masque/verdicts`.
    fn verdicts_notification(&self, root: &Path) -> Message {
        let places =
            self.analyses.get(root).map(|analysis| analysis.properties.as_slice()).unwrap_or_default();
        let verdicts = self.verdicts.get(root);
        let property = |(position, verdict): (&usize, &PropertyVerdict)| {
            let place = places.iter().find(|place| place.positions.contains(position));
            json!({
                "name": verdict.name,
                "position": position,
                "verdict": verdict.verdict,
                "reason": verdict.reason,
                "text": verdict.text,
                "states": verdict.states,
                "uri": place.map(|place| self.uri(&place.file)),
                "range": place.map(|place| place.range),
            })
        };
        let properties: Vec<Value> =
            verdicts.into_iter().flat_map(|verdicts| verdicts.by_position.iter().map(property)).collect();
        let page = verdicts.and_then(|verdicts| verdicts.page.as_ref()).map(|page| crate::uri::uri_of(page));
        let version = self.documents.get(root).map(|document| document.version);
        let params =
            json!({"uri": self.uri(root), "version": version, "properties": properties, "evidence": page});
        notification("masque/verdicts", params)
    }

    /// Opens the page with evidence, or starts a simulation.
    fn show_evidence(
        &mut self,
        question: Question,
        root: &Path,
        (page, report): (Option<PathBuf>, Option<PathBuf>),
        positions: &[usize],
    ) -> Vec<Message> {
        let fails = self.verdicts.get(root).is_some_and(|verdicts| {
            let is_asked = |position: &usize| positions.is_empty() || positions.contains(position);
            verdicts
                .by_position
                .iter()
                .any(|(position, verdict)| is_asked(position) && verdict.verdict == "fails")
        });
        match question {
            Question::Simulate if fails => match report {
                Some(report) => self.simulate(root, &report),
                None => vec![show(2, "the counterexample could not be written".to_string())],
            },
            Question::Simulate => vec![show(3, "there is no counterexample to start from".to_string())],
            // After a check of all properties, pages would cover each other.
            Question::Check if !fails || positions.is_empty() => Vec::new(),
            Question::Check | Question::Why => match page {
                Some(page) => vec![self.show_page(root, &page)],
                None if question == Question::Why => {
                    vec![show(3, "there is no evidence to show".to_string())]
                }
                None => Vec::new(),
            },
        }
    }

    fn show_page(&mut self, root: &Path, page: &Path) -> Message {
        let uri = crate::uri::uri_of(page);
        if self.client.has_evidence_panel {
            notification("masque/evidence", json!({"uri": self.uri(root), "path": page}))
        } else if self.client.shows_documents {
            self.request("window/showDocument", json!({"uri": uri, "external": true}))
        } else {
            show(3, format!("evidence: {}", page.display()))
        }
    }

    /// Starts the simulator in a terminal of the client, or says how to start it.
    fn simulate(&mut self, root: &Path, report: &Path) -> Vec<Message> {
        let program = self.config.program.clone().unwrap_or_else(|| "masque".into());
        let words = [
            program.display().to_string(),
            "simulate".to_string(),
            "--from".to_string(),
            report.display().to_string(),
            root.display().to_string(),
        ];
        let folder = root.parent().unwrap_or(Path::new("")).display().to_string();
        if self.client.has_terminal {
            let params = json!({"title": "masque simulate", "cwd": folder, "command": words});
            vec![notification("masque/terminal", params)]
        } else {
            vec![show(3, format!("run in a terminal: {}", words.join(" ")))]
        }
    }

    fn evidence_folder(&self) -> Option<PathBuf> {
        let folder = self.config.cache.as_ref()?.join("evidence");
        Some(folder.join(std::process::id().to_string()))
    }
}

/// The results of the asked properties by position; of all properties if none is named.
fn numbered<T>(positions: &[usize], results: Vec<T>) -> Vec<(usize, T)> {
    if positions.is_empty() {
        return (1..).zip(results).collect();
    }
    let mut positions = positions.to_vec();
    positions.sort_unstable();
    positions.dedup();
    positions.into_iter().zip(results).collect()
}

fn progress_token(id: i32) -> Value {
    json!(format!("masque-check-{id}"))
}

fn command(title: &str, command: &str, argument: Value) -> lsp::Command {
    lsp::Command {
        title: title.to_string(),
        tooltip: None,
        command: command.to_string(),
        arguments: Some(vec![argument]),
    }
}

fn action_of(command: lsp::Command) -> lsp::CodeAction {
    lsp::CodeAction {
        title: command.title.clone(),
        kind: Some(lsp::CodeActionKind::Custom(ACTION_KIND.into())),
        command: Some(command),
        ..lsp::CodeAction::default()
    }
}

fn overlap(a: lsp::Range, b: lsp::Range) -> bool {
    let at = |position: lsp::Position| (position.line, position.character);
    at(a.start) <= at(b.end) && at(b.start) <= at(a.end)
}

/// A notification to the client.
pub(crate) fn notification(method: &str, params: Value) -> Message {
    Message::Notification(lsp_server::Notification { method: method.to_string(), params })
}

/// A message to the user: 1 is an error, 2 a warning, 3 information.
pub(crate) fn show(kind: u32, message: String) -> Message {
    notification("window/showMessage", json!({"type": kind, "message": message}))
}

/// A line in the log of the client.
pub(crate) fn log(message: String) -> Message {
    notification("window/logMessage", json!({"type": 3, "message": message}))
}
