//! A call of a tool, from its parameters to its answer.
//!
//! A mistake in the parameters or in a text is an answer that says so, because the client's model can correct it. Only
//! an unknown tool is an error of the protocol.

use std::path::Path;
use std::sync::Arc;

use masque_driver as driver;
use masque_text::Library as _;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::answers::{Explanation, Resolved, TeamsAnswer};
use super::parameters::{self, ModelFile, OnFiles};
use super::session;
use super::tools::Tool;
use super::work::{Answer, CALL_FILE, Job, TRACE_FILE, cut};
use crate::child::{ChildWork, Ended};
use crate::fault::{Fault, brief};
use crate::methods::check_name;
use crate::protocol::{File, Method};
use crate::service::{Begun, Client, Service};
use crate::team;
use crate::ticket::Holder;

/// Maximum number of files in a call.
const MAX_FILES: usize = 200;
/// Maximum number of nested folders in the name of a file.
const MAX_FOLDERS: usize = 16;

/// Runs a tool. Dropping the future ends its work.
pub(super) async fn run(
    service: &Arc<Service>,
    client: Client,
    tool: Tool,
    parameters: Value,
) -> CallToolResult {
    let answer = match tool {
        Tool::Check => in_child::<parameters::Check>(service, client, tool, parameters).await,
        Tool::Why => in_child::<parameters::Why>(service, client, tool, parameters).await,
        Tool::Format => in_child::<parameters::Format>(service, client, tool, parameters).await,
        Tool::Simulate => in_child::<parameters::Simulate>(service, client, tool, parameters).await,
        Tool::Replay => in_child::<parameters::Replay>(service, client, tool, parameters).await,
        Tool::Explain => explain(parameters),
        Tool::Teams => teams(service, client, parameters).await,
        Tool::MonitorOpen => session::open(service, client, parameters).await,
        Tool::Observe => session::judge(service, client, Method::Observe, parameters).await,
        Tool::May => session::judge(service, client, Method::May, parameters).await,
        Tool::MonitorClose => session::close(service, client, parameters).await,
    };
    answer.map_or_else(|fault| refused(tool, &fault), result)
}

/// An answer in the form of the protocol.
fn result(Answer { structured, text, is_error }: Answer) -> CallToolResult {
    let content = vec![ContentBlock::text(text)];
    let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(structured);
    result
}

/// A fault as an answer that a model can act on.
fn refused(tool: Tool, fault: &Fault) -> CallToolResult {
    let mut text = format!("{}: {}\n", tool.name(), fault.message);
    if let Some(details) = &fault.data {
        for found in &details.diagnostics {
            let place = found.spans.first();
            let place =
                place.map(|span| format!("{}:{}:{}: ", span.file, span.start.line, span.start.column));
            let help = found.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
            let place = place.unwrap_or_default();
            text.push_str(&format!("{place}{}[{}]: {}{help}\n", found.severity, found.code, found.message));
        }
    }
    match fault.code {
        Fault::LIMIT => {
            text.push_str("Use a smaller model or parameter, or raise `limits` up to those of the server.\n")
        }
        Fault::PARAMS => text.push_str("The input schema of the tool has all parameters.\n"),
        _ => {}
    }
    CallToolResult::error(vec![ContentBlock::text(cut(text))])
}

/// Reads the parameters of a tool.
pub(super) fn read<P: serde::de::DeserializeOwned>(parameters: &Value) -> Result<P, Fault> {
    P::deserialize(parameters).map_err(|error| Fault::params(error.to_string()))
}

/// The holder of the ticket of a call.
pub(super) fn holder(client: Client) -> Holder {
    Holder { client: client.id, id: None, session: None }
}

/// Runs a tool in a child process.
async fn in_child<P: OnFiles>(
    service: &Arc<Service>,
    client: Client,
    tool: Tool,
    mut parameters: Value,
) -> Result<Answer, Fault> {
    let mut own = read::<P>(&parameters)?;
    let (files, limits) = own.files();
    let mut files = texts(service, files)?;
    // The process reads the texts from its files.
    for file in parameters["files"].as_array_mut().into_iter().flatten() {
        file["text"] = Value::Null;
    }
    if let Some(text) = own.trace() {
        parameters["trace"] = Value::Null;
        files.push(File { name: TRACE_FILE.to_string(), text });
    }
    let time = service.time(limits)?;
    let memory = limits.memory.unwrap_or(u64::MAX).min(service.limits.memory);
    let roots = service.root.as_ref().map(|root| root.folders().to_vec()).unwrap_or_default();
    let job = Job { tool: tool.name().to_string(), parameters, seconds: time.as_secs_f64(), memory, roots };
    let text = serde_json::to_string(&job).map_err(|error| Fault::internal(&error.to_string()))?;
    files.push(File { name: CALL_FILE.to_string(), text });
    let arguments =
        |folder: &Path| vec!["mcp".into(), "--answer-call".into(), folder.as_os_str().to_os_string()];
    let guard = service.tickets.issue(holder(client));
    let work = ChildWork { files, arguments: Box::new(arguments), time, memory };
    let Ended { status, output, errors } = service.children.run(work, &guard.ticket).await?;
    serde_json::from_str(&output).map_err(|_| {
        let message = format!("the call ended with {status}: {}", brief(errors.trim()));
        Fault::new(Fault::CHILD, message)
    })
}

/// The texts of files: those of the call, or files below the root.
pub(super) fn texts(service: &Service, files: Vec<ModelFile>) -> Result<Vec<File>, Fault> {
    if files.is_empty() {
        return Err(Fault::params(
            "`files` must have at least one file, such as {\"name\": \"a.lcc\", \"text\": \"..\"}",
        ));
    }
    if files.len() > MAX_FILES {
        return Err(Fault::params(format!("a call has at most {MAX_FILES} files")));
    }
    let root = service.root.as_ref().map(|root| root.again(service.limits.body as u64));
    let mut texts: Vec<File> = Vec::new();
    for ModelFile { name, text } in files {
        check_path(&name)?;
        if texts.iter().any(|other| other.name.eq_ignore_ascii_case(&name)) {
            return Err(Fault::params(format!("two files are called `{name}`")));
        }
        let text = match (text, &root) {
            (Some(text), _) => text,
            (None, Some(root)) => root.read(Path::new(&name)).map_err(|found| {
                Fault::params(format!("the file `{name}` cannot be read: {}", found.message))
            })?,
            (None, None) => {
                return Err(Fault::params(format!(
                    "the file `{name}` has no `text`, and this server reads no files: give the text, or start the server with `--root DIR`"
                )));
            }
        };
        texts.push(File { name, text });
    }
    let names: Vec<&str> = texts.iter().map(|file| file.name.as_str()).collect();
    let is_folder = |name: &&str| {
        names.iter().any(|other| other.strip_prefix(*name).is_some_and(|rest| rest.starts_with('/')))
    };
    match names.iter().find(|name| is_folder(name)) {
        Some(name) => Err(Fault::params(format!("`{name}` is both a file and a folder"))),
        None => Ok(texts),
    }
}

/// The files with properties of a protocol (`.mu`), and its other files.
pub(super) fn properties_and_others(files: Vec<File>) -> (Vec<File>, Vec<File>) {
    files.into_iter().partition(|file| file.name.ends_with(".mu"))
}

/// Checks that a name is a path of plain names, which leads nowhere else.
fn check_path(name: &str) -> Result<(), Fault> {
    if name.split('/').count() > MAX_FOLDERS {
        return Err(Fault::params(format!("a file is in at most {MAX_FOLDERS} nested folders")));
    }
    name.split('/').try_for_each(check_name)
}

/// The page of a code, or all codes.
fn explain(parameters: Value) -> Result<Answer, Fault> {
    let parameters::Explain { code } = read(&parameters)?;
    let page = match &code {
        Some(code) => driver::explain(code).map(str::to_string).ok_or_else(|| {
            let hint =
                driver::similar_code(code).unwrap_or_else(|| "without a code, all are listed".to_string());
            Fault::params(format!("no diagnostic has the code `{}`; {hint}", brief(code)))
        })?,
        None => driver::codes().map(|(code, summary)| format!("{code}: {summary}\n")).collect(),
    };
    let structured = json!(Explanation { code, page: page.clone() });
    Ok(Answer { structured, text: cut(page), is_error: false })
}

/// Finds teams, on a thread of the service.
async fn teams(service: &Arc<Service>, client: Client, parameters: Value) -> Result<Answer, Fault> {
    let parameters::Teams { files, options, roles, questions, want, limits } = read(&parameters)?;
    let names = files.iter().map(|file| file.name.clone()).collect();
    let (properties, files) = properties_and_others(texts(service, files)?);
    let used = Resolved {
        files: names,
        language: Some("lcc".to_string()),
        options: options.iter().map(|(name, value)| (name.clone(), value.to_string())).collect(),
        seconds: service.time(limits)?.as_secs_f64(),
        memory: limits.memory.unwrap_or(u64::MAX).min(service.limits.memory),
        ..Resolved::default()
    };
    let search = team::Teams { files, properties, options, roles, questions, want, limits };
    let report = outcome(service.teams(search, holder(client))?).await?;
    let text = teams_text(&report);
    Ok(Answer { structured: json!(TeamsAnswer { used, report }), text: cut(text), is_error: false })
}

/// Waits for a call of the service. Dropping the future cancels it.
pub(super) async fn outcome(begun: Begun) -> Result<Value, Fault> {
    let raw = match begun {
        Begun::Done(outcome) => outcome?,
        Begun::Waiting(receiver, _guard) => {
            receiver.await.unwrap_or_else(|_| Err(Fault::internal("the work ended without a result")))?
        }
    };
    serde_json::from_str(raw.get()).map_err(|error| Fault::internal(&error.to_string()))
}

/// Teams in words: who works, and what fails for the others.
fn teams_text(report: &Value) -> String {
    let words = |value: &Value| {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::new();
    for team in report["teams"].as_array().into_iter().flatten() {
        let state =
            if team["works"] == json!(true) { "all properties hold" } else { "not all properties hold" };
        text.push_str(&format!("{} (cost {}): {state}\n", words(&team["candidates"]), team["cost"]));
        if let Some(property) = team["weakness"]["property"].as_str() {
            text.push_str(&format!("  {property} fails: {}\n", words(&team["weakness"]["blame"])));
        }
    }
    match report["chosen"].as_u64().and_then(|index| report["teams"].get(usize::try_from(index).ok()?)) {
        Some(team) => text.push_str(&format!("chosen: {}\n", words(&team["candidates"]))),
        None => text.push_str("No team was chosen.\n"),
    }
    if let Some(why) = report["stopped"].as_str() {
        text.push_str(&format!("A limit was hit before all teams were checked: {why}.\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_folders() {
        for good in ["a.lcc", "shops/a.lcc", "a/b/c.ispl"] {
            assert!(check_path(good).is_ok(), "{good}");
        }
        for bad in ["", "/a", "a/", "a//b", "../a", "a/../b", "a/.hidden", ".call.json", "a\\b"] {
            assert!(check_path(bad).is_err(), "{bad}");
        }
        assert!(check_path(&"a/".repeat(20)).is_err());
    }
}
