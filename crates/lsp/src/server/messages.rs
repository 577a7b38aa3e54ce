//! Messages of the client: the life of the server, requests, and changes of documents and settings.

use std::path::PathBuf;
use std::sync::Arc;

use gen_lsp_types as lsp;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Client, MAX_DOCUMENTS, Phase, Refusal, Server, to_value};
use crate::actions::{COMMANDS, log, notification};
use crate::check_process::Question;
use crate::document::Document;
use crate::lines::Encoding;
use crate::outline::{TOKEN_MODIFIERS, TOKEN_TYPES};
use crate::overlay::identity;
use crate::settings::Settings;
use crate::uri::{file_path, path_of};

impl Server {
    pub(super) fn handle_request(&mut self, request: Request) -> Vec<Message> {
        let Request { id, method, params } = request;
        let refuse = |code: ErrorCode, message: &str| {
            vec![Message::Response(Response::new_err(id.clone(), code as i32, message.to_string()))]
        };
        match (self.phase, method.as_str()) {
            (Phase::New, "initialize") => {
                let (result, mut messages) = self.initialize(&params);
                messages.insert(0, Message::Response(Response { id, response_result: Ok(result) }));
                messages
            }
            (Phase::New, _) => refuse(ErrorCode::ServerNotInitialized, "the server is not initialized"),
            (Phase::ShutDown, _) => refuse(ErrorCode::InvalidRequest, "the server is shut down"),
            (Phase::Running, "initialize") => refuse(ErrorCode::InvalidRequest, "the server is initialized"),
            (Phase::Running, "shutdown") => {
                self.phase = Phase::ShutDown;
                self.stop();
                let mut messages = self.cancel_all_diagnostics();
                messages.push(Message::Response(Response { id, response_result: Ok(Value::Null) }));
                messages
            }
            (Phase::Running, "textDocument/diagnostic") => self.diagnostics_asked(id, &params),
            (Phase::Running, _) => self.answer(id, &method, params),
        }
    }

    /// Answers a request. A panic becomes an error response, so that a bug does not end the server.
    fn answer(&mut self, id: RequestId, method: &str, params: Value) -> Vec<Message> {
        let dispatch = std::panic::AssertUnwindSafe(|| self.dispatch(method, params));
        let (result, mut messages) = match std::panic::catch_unwind(dispatch) {
            Ok(Ok((value, messages))) => (Ok(value), messages),
            Ok(Err(refusal)) => (Err((refusal.code, refusal.message)), Vec::new()),
            Err(_) => {
                let message = format!("`{method}` failed because of a bug in masque");
                (Err((ErrorCode::InternalError as i32, message)), Vec::new())
            }
        };
        let response = match result {
            Ok(value) => Response { id, response_result: Ok(value) },
            Err((code, message)) => Response::new_err(id, code, message),
        };
        messages.insert(0, Message::Response(response));
        messages
    }

    fn dispatch(&mut self, method: &str, params: Value) -> Result<(Value, Vec<Message>), Refusal> {
        let uri = || -> Result<lsp::Uri, Refusal> {
            let text = params.pointer("/textDocument/uri").and_then(Value::as_str);
            text.map(|uri| lsp::Uri(uri.to_string()))
                .ok_or_else(|| Refusal::invalid("there is no `textDocument.uri`"))
        };
        let value = match method {
            "textDocument/hover" => to_value(&self.hover(&read(&params)?)),
            "textDocument/definition" => to_value(&self.definition(&read(&params)?)),
            "textDocument/declaration" => to_value(&self.declaration(&read(&params)?)),
            "textDocument/references" => to_value(&self.references(&read(&params)?)),
            "textDocument/documentHighlight" => to_value(&self.highlights(&read(&params)?)),
            "textDocument/prepareRename" => self.prepare_rename(&read(&params)?)?,
            "textDocument/rename" => to_value(&self.rename(&read(&params)?)?),
            "textDocument/documentSymbol" => to_value(&self.document_symbols(&uri()?)),
            "workspace/symbol" => {
                let query = params.get("query").and_then(Value::as_str).unwrap_or("");
                to_value(&self.workspace_symbols(query))
            }
            "textDocument/foldingRange" => to_value(&self.folding(&uri()?)),
            "textDocument/semanticTokens/full" => to_value(&self.semantic_tokens(&uri()?)),
            "textDocument/completion" => to_value(&self.completion(&read(&params)?)),
            "textDocument/signatureHelp" => to_value(&self.signature_help(&read(&params)?)),
            "textDocument/formatting" => to_value(&self.format(&uri()?, None)?),
            "textDocument/rangeFormatting" => {
                let range = params.get("range").cloned().unwrap_or_default();
                to_value(&self.format(&uri()?, Some(read(&range)?))?)
            }
            "textDocument/codeLens" => to_value(&self.lenses(&uri()?)),
            "textDocument/codeAction" => to_value(&self.code_actions(&read(&params)?)),
            "textDocument/inlayHint" => to_value(&self.inlay_hints(&read(&params)?)),
            "workspace/executeCommand" => return self.execute(&read(&params)?),
            other => {
                let message = format!("there is no method `{other}`");
                return Err(Refusal { code: ErrorCode::MethodNotFound as i32, message });
            }
        };
        Ok((value, Vec::new()))
    }

    fn initialize(&mut self, params: &Value) -> (Value, Vec<Message>) {
        self.phase = Phase::Running;
        let has =
            |path: &str| params.pointer(&format!("/capabilities{path}")).is_some_and(|value| value != false);
        let option =
            |name: &str| params.pointer(&format!("/initializationOptions/{name}")) == Some(&json!(true));
        self.client = Client {
            has_progress: has("/window/workDoneProgress"),
            has_inlay_hints: has("/textDocument/inlayHint"),
            refreshes_hints: has("/workspace/inlayHint/refreshSupport"),
            refreshes_lenses: has("/workspace/codeLens/refreshSupport"),
            asks_for_diagnostics: has("/textDocument/diagnostic")
                && has("/workspace/diagnostics/refreshSupport"),
            shows_documents: has("/window/showDocument/support"),
            has_configuration: has("/workspace/configuration"),
            watches_files: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            has_snippets: has("/textDocument/completion/completionItem/snippetSupport"),
            has_terminal: option("terminal"),
            has_evidence_panel: option("evidencePanel"),
        };
        let encodings = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
        let offers_bytes = encodings.is_some_and(|encodings| encodings.iter().any(|name| name == "utf-8"));
        self.encoding = if offers_bytes { Encoding::Utf8 } else { Encoding::Utf16 };
        let folder = |value: &Value| file_path(&lsp::Uri(value.as_str()?.to_string()));
        let listed = params.get("workspaceFolders").and_then(Value::as_array).into_iter().flatten();
        self.folders = listed.filter_map(|listed| folder(listed.get("uri")?)).collect();
        if self.folders.is_empty() {
            self.folders.extend(params.get("rootUri").and_then(folder));
        }
        self.needs_scan = !self.folders.is_empty();
        let settings = params.pointer("/initializationOptions/settings").cloned().unwrap_or_default();
        let messages = self.set_settings(&settings);
        (self.capabilities(), messages)
    }

    fn capabilities(&self) -> Value {
        let encoding = if self.encoding == Encoding::Utf8 { "utf-8" } else { "utf-16" };
        let legend = json!({"tokenTypes": TOKEN_TYPES, "tokenModifiers": TOKEN_MODIFIERS});
        let mut capabilities = json!({
            "positionEncoding": encoding,
            "textDocumentSync": {"openClose": true, "change": 2, "save": {"includeText": false}},
            "hoverProvider": true,
            "definitionProvider": true,
            "declarationProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "renameProvider": {"prepareProvider": true},
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "foldingRangeProvider": true,
            "semanticTokensProvider": {"legend": legend, "full": true},
            "completionProvider": {"triggerCharacters": [".", "\""]},
            "signatureHelpProvider": {"triggerCharacters": ["("], "retriggerCharacters": [","]},
            "documentFormattingProvider": true,
            "documentRangeFormattingProvider": true,
            "codeLensProvider": {"resolveProvider": false},
            "codeActionProvider": {"codeActionKinds": ["quickfix", "source.masque"]},
            "inlayHintProvider": true,
            "executeCommandProvider": {"commands": COMMANDS},
            "workspace": {"workspaceFolders": {"supported": true, "changeNotifications": true}},
        });
        if self.client.asks_for_diagnostics {
            capabilities["diagnosticProvider"] =
                json!({"identifier": "masque", "interFileDependencies": true, "workspaceDiagnostics": false});
        }
        let version = env!("CARGO_PKG_VERSION");
        json!({"capabilities": capabilities, "serverInfo": {"name": "masque", "version": version}})
    }

    fn set_settings(&mut self, value: &Value) -> Vec<Message> {
        let (settings, problems) = Settings::read(value);
        self.settings = settings;
        problems.into_iter().map(|problem| crate::actions::show(2, problem)).collect()
    }

    pub(super) fn handle_response(&mut self, response: Response) -> Vec<Message> {
        if self.configuration_request.as_ref() != Some(&response.id) {
            return Vec::new();
        }
        self.configuration_request = None;
        match response.response_result {
            Ok(value) => match value.get(0).filter(|section| section.is_object()) {
                Some(section) => self.set_settings(&section.clone()),
                None => Vec::new(),
            },
            Err(_) => Vec::new(),
        }
    }

    pub(super) fn handle_notification(&mut self, notification: Notification) -> Vec<Message> {
        let Notification { method, params } = notification;
        if method == "exit" {
            self.exit_code = Some(i32::from(self.phase != Phase::ShutDown));
            self.stop();
            return Vec::new();
        }
        if self.phase != Phase::Running {
            return Vec::new();
        }
        let result = match method.as_str() {
            "initialized" => Ok(self.initialized()),
            // The text is not copied.
            "textDocument/didOpen" => serde_json::from_value(params)
                .map_err(|error| Refusal::invalid(error.to_string()))
                .map(|params| self.did_open(params)),
            "textDocument/didChange" => read(&params).map(|params| self.did_change(params)),
            "textDocument/didClose" => read(&params).map(|params| self.did_close(&params)),
            "textDocument/didSave" => read(&params).map(|params| self.did_save(&params)),
            "workspace/didChangeWatchedFiles" => Ok(self.disk_changed()),
            "workspace/didChangeConfiguration" => Ok(self.did_change_configuration(&params)),
            "workspace/didChangeWorkspaceFolders" => Ok(self.did_change_folders(&params)),
            "$/cancelRequest" => Ok(self.cancel_diagnostics(&match params.get("id") {
                Some(Value::String(id)) => id.clone().into(),
                id => (id.and_then(Value::as_i64).unwrap_or_default() as i32).into(),
            })),
            "window/workDoneProgress/cancel" => {
                self.cancel_progress(&params.get("token").cloned().unwrap_or_default());
                Ok(Vec::new())
            }
            _ => Ok(Vec::new()),
        };
        result.unwrap_or_else(|refusal: Refusal| {
            vec![log(format!("`{method}` is ignored: {}", refusal.message))]
        })
    }

    fn initialized(&mut self) -> Vec<Message> {
        let mut messages = Vec::new();
        if self.client.watches_files {
            let watchers = json!([{"globPattern": "**/*.{ispl,bdi,lcc,pol,mu,aut}"}]);
            let registration = json!({
                "id": "masque-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": {"watchers": watchers},
            });
            messages
                .push(self.request("client/registerCapability", json!({"registrations": [registration]})));
        }
        messages.extend(self.ask_configuration());
        messages
    }

    fn ask_configuration(&mut self) -> Option<Message> {
        if !self.client.has_configuration {
            return None;
        }
        let request = self.request("workspace/configuration", json!({"items": [{"section": "masque"}]}));
        if let Message::Request(request) = &request {
            self.configuration_request = Some(request.id.clone());
        }
        Some(request)
    }

    fn did_open(&mut self, params: lsp::DidOpenTextDocumentParams) -> Vec<Message> {
        let lsp::TextDocumentItem { uri, language_id, version, text } = params.text_document;
        if self.documents.len() >= MAX_DOCUMENTS {
            return vec![log(format!("`{}` is ignored: too many documents are open", uri.0))];
        }
        let path = identity(&path_of(&uri, &String::from(language_id)));
        self.workspace.set_open(&path, &text);
        self.documents.insert(path.clone(), Document::new(uri, path.clone(), version, text));
        self.needs_scan = !self.folders.is_empty();
        let messages = self.find_roots();
        self.text_changed(&path);
        messages
    }

    fn did_change(&mut self, params: lsp::DidChangeTextDocumentParams) -> Vec<Message> {
        let lsp::VersionedTextDocumentIdentifier { version, text_document_identifier } = params.text_document;
        let path = self.path(&text_document_identifier.uri);
        let encoding = self.encoding;
        let Some(document) = self.documents.get_mut(&path) else {
            return vec![log(format!(
                "a change of `{}` is ignored: it is not open",
                text_document_identifier.uri.0
            ))];
        };
        if version <= document.version {
            let known = document.version;
            return vec![log(format!(
                "a change of `{}` is ignored: it has version {version}, but version {known} is known",
                text_document_identifier.uri.0
            ))];
        }
        document.version = version;
        document.apply(params.content_changes, encoding);
        let text = Arc::clone(&document.text);
        let before = self.workspace.closure(&path);
        self.workspace.set_open(&path, &text);
        let is_same = self.workspace.closure(&path) == before;
        let messages = if is_same { Vec::new() } else { self.find_roots() };
        self.text_changed(&path);
        messages
    }

    fn did_close(&mut self, params: &lsp::DidCloseTextDocumentParams) -> Vec<Message> {
        let path = self.path(&params.text_document.uri);
        let Some(document) = self.documents.remove(&path) else { return Vec::new() };
        self.workspace.close(&path);
        self.text_changed(&path);
        let mut messages = self.find_roots();
        // The diagnostics of a file that is no longer part of an open model disappear.
        let is_shown = self.analyses.values().any(|analysis| analysis.files.contains_key(&path));
        if !is_shown {
            self.published.remove(&path);
            let params =
                lsp::PublishDiagnosticsParams { uri: document.uri, version: None, diagnostics: Vec::new() };
            messages.push(notification("textDocument/publishDiagnostics", to_value(&params)));
        }
        messages
    }

    fn did_save(&mut self, params: &lsp::DidSaveTextDocumentParams) -> Vec<Message> {
        let path = self.path(&params.text_document.uri);
        self.needs_scan = !self.folders.is_empty();
        if !self.settings.check.on_save || !self.documents.contains_key(&path) {
            return Vec::new();
        }
        let mut messages = Vec::new();
        for root in self.workspace.roots_of(&path) {
            let has_properties =
                self.analyses.get(&root).is_some_and(|analysis| !analysis.properties.is_empty());
            if has_properties {
                messages.extend(self.start_check(root, Vec::new(), Question::Check).unwrap_or_default());
            }
        }
        messages
    }

    fn disk_changed(&mut self) -> Vec<Message> {
        self.disk_revision += 1;
        self.needs_scan = !self.folders.is_empty();
        for verdicts in self.verdicts.values_mut() {
            verdicts.is_current = false;
        }
        self.analyse_all();
        Vec::new()
    }

    fn did_change_configuration(&mut self, params: &Value) -> Vec<Message> {
        let settings = params.get("settings").filter(|settings| settings.is_object());
        match settings.cloned() {
            Some(settings) if !self.client.has_configuration => self.set_settings(&settings),
            _ => self.ask_configuration().into_iter().collect(),
        }
    }

    fn did_change_folders(&mut self, params: &Value) -> Vec<Message> {
        let folders = |name: &str| -> Vec<PathBuf> {
            let listed =
                params.pointer(&format!("/event/{name}")).and_then(Value::as_array).into_iter().flatten();
            let uri = |folder: &Value| file_path(&lsp::Uri(folder.get("uri")?.as_str()?.to_string()));
            listed.filter_map(uri).collect()
        };
        let removed = folders("removed");
        self.folders.retain(|folder| !removed.contains(folder));
        self.folders.extend(folders("added"));
        self.needs_scan = true;
        Vec::new()
    }
}

/// Reads parameters.
fn read<T: DeserializeOwned>(params: &Value) -> Result<T, Refusal> {
    T::deserialize(params).map_err(|error| Refusal::invalid(error.to_string()))
}
