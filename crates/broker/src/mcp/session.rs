//! `monitor_open`, `observe`, `may` and `monitor_close`: sessions of the service that follow a log.

use std::sync::Arc;

use serde_json::value::to_raw_value;
use serde_json::{Map, Value, json};

use super::answers::{CloseAnswer, ObserveAnswer, OpenAnswer, SessionUsed};
use super::call::{holder, outcome, properties_and_others, read, texts};
use super::parameters::MonitorOpen;
use super::work::{Answer, cut};
use crate::fault::Fault;
use crate::protocol::{File, Method, Observe, SessionParams};
use crate::service::{Client, Service};

/// Opens a session.
pub(super) async fn open(service: &Arc<Service>, client: Client, parameters: Value) -> Result<Answer, Fault> {
    let MonitorOpen { files, options } = read(&parameters)?;
    let (properties, files) = properties_and_others(texts(service, files)?);
    let given = |files: Vec<File>| -> Vec<Value> {
        files.into_iter().map(|File { name, text }| json!({"name": name, "text": text})).collect()
    };
    let options: Map<String, Value> =
        options.into_iter().map(|(name, value)| (name, json!(value.to_string()))).collect();
    let opening = json!({"files": given(files), "properties": given(properties), "options": options});
    let report = call(service, client, Method::Open, &opening).await?;
    let session = report["session"].as_str().unwrap_or_default().to_string();
    let goals = names(&report["properties"], "name");
    let mut text = format!("session: {session}\nagents: {}\n", words(&report["agents"]));
    text.push_str(&format!("goals and properties: {goals}\n"));
    for found in report["diagnostics"].as_array().into_iter().flatten() {
        let part = |name: &str| found[name].as_str().unwrap_or_default().to_string();
        text.push_str(&format!("{}[{}]: {}\n", part("severity"), part("code"), part("message")));
    }
    let structured = json!(OpenAnswer { used: used(service, session), report });
    Ok(Answer { structured, text: cut(text), is_error: false })
}

/// Judges an event: `observe` also adds it to the log.
pub(super) async fn judge(
    service: &Arc<Service>,
    client: Client,
    method: Method,
    parameters: Value,
) -> Result<Answer, Fault> {
    let observed: Observe = read(&parameters)?;
    let report = call(service, client, method, &parameters).await?;
    let text = judgement(&report);
    let structured = json!(ObserveAnswer { used: used(service, observed.session), report });
    Ok(Answer { structured, text: cut(text), is_error: false })
}

/// Closes a session.
pub(super) async fn close(
    service: &Arc<Service>,
    client: Client,
    parameters: Value,
) -> Result<Answer, Fault> {
    let SessionParams { session } = read(&parameters)?;
    let report = call(service, client, Method::Close, &parameters).await?;
    let text = format!("closed: {session}\n");
    let structured = json!(CloseAnswer { used: used(service, session), report });
    Ok(Answer { structured, text, is_error: false })
}

/// Calls a method of the service.
async fn call(
    service: &Arc<Service>,
    client: Client,
    method: Method,
    parameters: &Value,
) -> Result<Value, Fault> {
    let raw = to_raw_value(parameters).map_err(|error| Fault::internal(&error.to_string()))?;
    outcome(service.dispatch(client, method, Some(&*raw), holder(client))).await
}

fn used(service: &Service, session: String) -> SessionUsed {
    SessionUsed { session, seconds: service.limits.time.as_secs_f64(), memory: service.limits.memory }
}

/// The texts in a list.
fn words(list: &Value) -> String {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

/// The members of this name of the objects in a list.
fn names(list: &Value, member: &str) -> String {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item[member].as_str()).collect::<Vec<_>>().join(", ")
}

/// A judgement in words.
fn judgement(report: &Value) -> String {
    let verdict = report["verdict"].as_str().unwrap_or_default();
    let reason = report["reason"].as_str().map_or(String::new(), |reason| format!(" ({reason})"));
    let mut text = format!("{verdict}{reason}\n");
    for item in report["because"].as_array().into_iter().flatten() {
        text.push_str(&format!("because: {}\n", item["text"].as_str().unwrap_or_default()));
    }
    let instead = words(&report["instead"]);
    if !instead.is_empty() {
        text.push_str(&format!("possible instead: {instead}\n"));
    }
    for goal in report["goals"].as_array().into_iter().flatten() {
        let part = |name: &str| goal[name].as_str().unwrap_or_default().to_string();
        text.push_str(&format!("goal {}: {}\n", part("goal"), part("status")));
    }
    for obligation in report["obligations"].as_array().into_iter().flatten() {
        let part = |name: &str| obligation[name].as_str().unwrap_or_default().to_string();
        text.push_str(&format!("{}: {}\n", part("owes"), part("status")));
    }
    text
}
