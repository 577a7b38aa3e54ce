//! Initialisation, shutdown, and messages that make no sense.

use crate::support::Editor;
use lsp_server::{Message, Notification, Request};
use masque_lsp::{Config, Server};
use serde_json::{Value, json};

const NOT_INITIALIZED: i32 = -32002;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

fn error_code(server: &mut Server, method: &str) -> i32 {
    let request = Request { id: 7.into(), method: method.to_string(), params: Value::Null };
    match server.handle(Message::Request(request)).remove(0) {
        Message::Response(response) => response.response_result.map_or_else(|error| error.code, |_| 0),
        other => panic!("{other:?}"),
    }
}

fn exit(server: &mut Server) -> Option<i32> {
    let exit = Notification { method: "exit".to_string(), params: Value::Null };
    assert!(server.handle(Message::Notification(exit)).is_empty());
    server.exit_code()
}

#[test]
fn requests_need_a_running_server() {
    let mut server = Server::new(Config::default());
    assert_eq!(error_code(&mut server, "textDocument/hover"), NOT_INITIALIZED);
    assert_eq!(error_code(&mut server, "initialize"), 0);
    assert_eq!(error_code(&mut server, "initialize"), INVALID_REQUEST);
    assert_eq!(error_code(&mut server, "no/such/method"), METHOD_NOT_FOUND);
    assert_eq!(error_code(&mut server, "textDocument/hover"), INVALID_PARAMS);
    assert_eq!(error_code(&mut server, "shutdown"), 0);
    assert_eq!(error_code(&mut server, "shutdown"), INVALID_REQUEST);
    assert_eq!(exit(&mut server), Some(0));
    // Without `shutdown`, the exit is a failure.
    assert_eq!(exit(&mut Server::new(Config::default())), Some(1));
}

#[test]
fn the_encoding_is_negotiated() {
    let encoding = |capabilities: Value| {
        let mut server = Server::new(Config::default());
        let params = json!({"capabilities": capabilities});
        let request = Request { id: 1.into(), method: "initialize".to_string(), params };
        match server.handle(Message::Request(request)).remove(0) {
            Message::Response(response) => {
                response.response_result.unwrap()["capabilities"]["positionEncoding"].clone()
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(encoding(json!({})), "utf-16");
    assert_eq!(encoding(json!({"general": {"positionEncodings": ["utf-16"]}})), "utf-16");
    assert_eq!(encoding(json!({"general": {"positionEncodings": ["utf-16", "utf-8"]}})), "utf-8");
}

/// The capabilities can be read by clients that know the types of the protocol.
#[test]
fn capabilities_are_well_formed() {
    let mut server = Server::new(Config::default());
    let request =
        Request { id: 1.into(), method: "initialize".to_string(), params: json!({"capabilities": {}}) };
    let Message::Response(response) = server.handle(Message::Request(request)).remove(0) else { panic!() };
    let result: gen_lsp_types::InitializeResult =
        serde_json::from_value(response.response_result.unwrap()).unwrap();
    let capabilities = result.capabilities;
    assert!(capabilities.rename_provider.is_some() && capabilities.semantic_tokens_provider.is_some());
    assert_eq!(capabilities.execute_command_provider.unwrap().commands, masque_lsp::COMMANDS);
}

#[test]
fn malformed_notifications_are_logged() {
    let mut editor = Editor::new(&[]);
    editor.notify("textDocument/didChange", json!({"textDocument": 7}));
    editor.notify("textDocument/didOpen", Value::Null);
    editor.notify("no/such/notification", json!([]));
    assert_eq!(editor.all("window/logMessage").len(), 2);
    editor.change_as("never_opened.ispl", 4, json!([{"text": ""}]));
    assert_eq!(editor.all("window/logMessage").len(), 3);
}
