//! Diagnostics of a file: published after each analysis, or returned to clients that ask for them.
//!
//! A client that asks (`textDocument/diagnostic`) and that can be told to ask again gets the diagnostics of open
//! documents only as answers, because it would show published ones a second time. Its question waits until the newest
//! text is analysed.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Message, RequestId, Response};
use serde_json::{Value, json};

use super::{Server, to_value};
use crate::actions::notification;
use crate::analysis::merged;

/// Maximum number of questions that wait for an analysis.
const MAX_WAITING: usize = 1_000;

/// A question about the diagnostics of a document, which waits for their analysis.
#[derive(Debug)]
pub(super) struct DiagnosticQuestion {
    id: RequestId,
    path: PathBuf,
    /// Identity of the diagnostics that the client has.
    known: Option<String>,
}

impl Server {
    /// All diagnostics of a file.
    fn diagnostics_of(&self, file: &Path) -> Vec<lsp::Diagnostic> {
        let found = merged(self.analyses.values(), file);
        let mut diagnostics: Vec<lsp::Diagnostic> =
            found.into_iter().map(|found| found.diagnostic.clone()).collect();
        diagnostics.extend(self.findings_in(file).into_iter().map(|found| found.diagnostic));
        if self.verdicts_are_diagnostics() {
            diagnostics.extend(self.verdict_diagnostics(file));
        }
        diagnostics
    }

    /// The notification with all diagnostics of a file.
    pub(crate) fn publish(&mut self, file: &Path) -> Option<Message> {
        if self.client.asks_for_diagnostics && self.documents.contains_key(file) {
            return self.unpublish(file);
        }
        let diagnostics = self.diagnostics_of(file);
        let document = self.documents.get(file);
        if diagnostics.is_empty() && document.is_none() && !self.published.contains(file) {
            return None;
        }
        if diagnostics.is_empty() {
            self.published.remove(file);
        } else {
            self.published.insert(file.to_path_buf());
        }
        let version = document.map(|document| document.version);
        let params = lsp::PublishDiagnosticsParams { uri: self.uri(file), version, diagnostics };
        Some(notification("textDocument/publishDiagnostics", to_value(&params)))
    }

    /// Removes the published diagnostics of a file that the client now asks about.
    fn unpublish(&mut self, file: &Path) -> Option<Message> {
        let params = json!({"uri": self.uri(file), "diagnostics": []});
        self.published.remove(file).then(|| notification("textDocument/publishDiagnostics", params))
    }

    /// Answers a question about diagnostics, or lets it wait for the analysis of the newest text.
    pub(super) fn diagnostics_asked(&mut self, id: RequestId, params: &Value) -> Vec<Message> {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str).map(str::to_string);
        let Some(uri) = text("/textDocument/uri") else {
            let message = "there is no `textDocument.uri`".to_string();
            return vec![Message::Response(Response::new_err(id, ErrorCode::InvalidParams as i32, message))];
        };
        let path = self.path(&lsp::Uri(uri));
        self.diagnostic_questions.push(DiagnosticQuestion { id, path, known: text("/previousResultId") });
        let n_waiting = self.diagnostic_questions.len();
        let mut messages = self.answer_diagnostics();
        if n_waiting > MAX_WAITING && messages.is_empty() {
            messages.extend(self.diagnostic_questions.pop().map(|question| cancelled(question.id)));
        }
        messages
    }

    /// Answers the questions about diagnostics that are known now.
    pub(super) fn answer_diagnostics(&mut self) -> Vec<Message> {
        let questions = std::mem::take(&mut self.diagnostic_questions);
        let (waiting, known) = questions.into_iter().partition(|question| self.is_analysing(&question.path));
        self.diagnostic_questions = waiting;
        known.into_iter().map(|question: DiagnosticQuestion| self.diagnostics_answer(question)).collect()
    }

    fn diagnostics_answer(&self, question: DiagnosticQuestion) -> Message {
        let items = to_value(&self.diagnostics_of(&question.path));
        let mut hasher = DefaultHasher::new();
        items.to_string().hash(&mut hasher);
        let identity = format!("{:016x}", hasher.finish());
        let result = if question.known.as_ref() == Some(&identity) {
            json!({"kind": "unchanged", "resultId": identity})
        } else {
            json!({"kind": "full", "resultId": identity, "items": items})
        };
        Message::Response(Response { id: question.id, response_result: Ok(result) })
    }

    /// Whether the diagnostics of an open document are not those of its newest text.
    fn is_analysing(&self, path: &Path) -> bool {
        if !self.documents.contains_key(path) {
            return false;
        }
        let is_waiting = |root: &PathBuf| {
            let is_running = self.in_flight.as_ref().is_some_and(|(running, _)| running == root);
            is_running || self.dirty.contains(root) || !self.analyses.contains_key(root)
        };
        self.needs_scan
            || self.is_scanning
            || self.roots.get(path).is_some_and(|roots| roots.iter().any(is_waiting))
    }

    /// Cancels the question with this id, if it waits.
    pub(super) fn cancel_diagnostics(&mut self, id: &RequestId) -> Vec<Message> {
        let questions = std::mem::take(&mut self.diagnostic_questions);
        let (cancelled_ones, waiting): (Vec<_>, Vec<_>) =
            questions.into_iter().partition(|question| question.id == *id);
        self.diagnostic_questions = waiting;
        cancelled_ones.into_iter().map(|question| cancelled(question.id)).collect()
    }

    /// Cancels all questions that wait.
    pub(super) fn cancel_all_diagnostics(&mut self) -> Vec<Message> {
        let questions = std::mem::take(&mut self.diagnostic_questions);
        questions.into_iter().map(|question| cancelled(question.id)).collect()
    }
}

fn cancelled(id: RequestId) -> Message {
    let message = "the diagnostics are not known yet".to_string();
    Message::Response(Response::new_err(id, ErrorCode::RequestCanceled as i32, message))
}
