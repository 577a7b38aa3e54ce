//! The addresses of the site, and what is done for each.
//!
//! | address | method | shows or does |
//! |---|---|---|
//! | `/` | GET | the overview |
//! | `/evidence`, `/evidence/N` | GET | all properties; the evidence of one |
//! | `/evidence/N/state/K` | GET | the inspector of a state, as a part of a page |
//! | `/simulate` | GET | the simulator |
//! | `/simulate/COMMAND` | POST | a command of the simulator, then the simulator |
//! | `/simulate/walk.itf.json` | GET | the walk as a file |
//! | `/graph` | GET | the state graph |
//! | `/worlds` | GET | the worlds of a BDI file |
//! | `/parameters`, `/check-again`, `/cancel-check`, `/cancel-question` | POST | the check |
//! | `/events` | GET | progress and changes, as server-sent events |

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{get, post};
use http_body_util::{BodyExt, Limited};
use masque_driver::warm::{Asked, PageRange};
use masque_report::EVIDENCE_STYLE;
use maud::{Markup, html};

use crate::child::NoReply;
use crate::events::events;
use crate::evidence::{self, Selected, nothing_selected};
use crate::overview::{Pages, overview};
use crate::page::{Place, empty, page};
use crate::protocol::{Ask, EvidenceInfo, FormulaTruth, Reply, Values};
use crate::server::plain;
use crate::simulator::{PAGE_LENGTH, SimulatorView, simulator};
use crate::state::App;
use crate::state_graph::{self, MAX_DRAWN_STATES};
use crate::walk::Command;
use crate::worlds;

/// Maximum bytes of the body of a request.
const MAX_BODY_BYTES: usize = 64 << 10;
/// Time in which a body must arrive.
const MAX_BODY_TIME: Duration = Duration::from_secs(10);

/// Maximum number of parts of a formula in the tree of the inspector, and of each formula in the simulator.
const MAX_TREE_PARTS: usize = 400;
const MAX_LISTED_PARTS: usize = 40;

const SCRIPT: &str = include_str!("assets/app.js");
const STYLE: &str = include_str!("assets/style.css");
const ICON: &str = include_str!("assets/icon.svg");

type Shared = State<Arc<App>>;

pub(crate) fn router(app: Arc<App>) -> Router {
    let at = |path: &str| format!("{}{path}", app.base);
    Router::new()
        .route(&app.base, get(|State(app): Shared| async move { see(&app, "/") }))
        .route(&at("/"), get(overview_page))
        .route(&at("/evidence"), get(evidence_list))
        .route(&at("/evidence/{property}"), get(evidence_page))
        .route(&at("/evidence/{property}/state/{state}"), get(inspector_part))
        .route(&at("/simulate"), get(simulator_page))
        .route(&at("/simulate/walk.itf.json"), get(walk_file))
        .route(&at("/simulate/{command}"), post(simulator_command))
        .route(&at("/graph"), get(graph_page))
        .route(&at("/worlds"), get(worlds_page))
        .route(&at("/parameters"), post(parameters))
        .route(&at("/check-again"), post(check_again))
        .route(&at("/cancel-check"), post(cancel_check))
        .route(&at("/cancel-question"), post(cancel_question))
        .route(&at("/events"), get(|State(app): Shared| async { events(app) }))
        .route(&at("/app.js"), get(|| async { asset(SCRIPT, "text/javascript; charset=utf-8") }))
        .route(&at("/style.css"), get(style))
        .route(&at("/icon.svg"), get(|| async { asset(ICON, "image/svg+xml") }))
        .fallback(|| async { plain(StatusCode::NOT_FOUND, "there is no such page".to_string()) })
        .with_state(app)
}

async fn style() -> Response {
    asset(&format!("{EVIDENCE_STYLE}\n{STYLE}"), "text/css; charset=utf-8")
}

fn asset(text: &str, kind: &'static str) -> Response {
    let mut response = Response::new(Body::from(text.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn html_page(markup: Markup) -> Response {
    asset(&markup.into_string(), "text/html; charset=utf-8")
}

/// Sends the browser to another page.
fn see(app: &App, path: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    if let Ok(location) = HeaderValue::from_str(&format!("{}{path}", app.base)) {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

async fn overview_page(State(app): Shared, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let pages = Pages { properties: query.number("properties"), agents: query.number("agents") };
    let model = app.model();
    html_page(page(&app.base, Place::Overview, &model, "Overview", &overview(&app.base, &model, pages)))
}

async fn evidence_list(State(app): Shared) -> Response {
    let model = app.model();
    let main = evidence::chooser(&app.base, &model);
    html_page(page(&app.base, Place::Evidence, &model, "Evidence", &main))
}

async fn evidence_page(State(app): Shared, Path(number): Path<usize>, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let index = number.saturating_sub(1);
    let model = app.model();
    let (info, error) = match app.evidence(index).await {
        Ok(info) => (info, None),
        Err(error) => (None, Some(message(error))),
    };
    let selected = query.find("state").and_then(|state| state.parse().ok());
    // Without a choice of the user, the first state of the first run is selected.
    let first = info.as_ref().and_then(|info| info.runs.first()?.states.first().copied());
    let inspector = match (&info, selected.or(first)) {
        (Some(info), Some(state)) => inspector(&app, index, info, state, query.find("before")).await,
        _ => nothing_selected(),
    };
    let main = html! {
        @if let Some(error) = error { p.note.fails { (error) } }
        (evidence::evidence(&app.base, &model, index, info.as_deref(), &inspector))
    };
    let title = model.model.properties.get(index).map_or("Evidence", |property| &property.title);
    html_page(page(&app.base, Place::Evidence, &model, title, &main))
}

/// The inspector of a state, which a script puts into the page.
async fn inspector_part(
    State(app): Shared,
    Path((number, state)): Path<(usize, usize)>,
    request: Request,
) -> Response {
    let query = Fields::of_query(&request);
    let index = number.saturating_sub(1);
    match app.evidence(index).await {
        Ok(Some(info)) => html_page(inspector(&app, index, &info, state, query.find("before")).await),
        Ok(None) => html_page(empty("There is no evidence.")),
        Err(error) => html_page(empty(&message(error))),
    }
}

async fn inspector(
    app: &Arc<App>,
    index: usize,
    info: &EvidenceInfo,
    state: usize,
    before: Option<&str>,
) -> Markup {
    let language = app.model().model.language.clone();
    let start = info.runs.iter().enumerate().find_map(|(nth, run)| {
        let position = run.states.iter().position(|&other| other == state)?;
        Some((nth, position))
    });
    let (truth, values) = match info.states.get(state) {
        Some(values) if language == "ispl" => (truth_of(app, index, values.clone()).await, None),
        _ => match truth_along(app, index, info, start).await {
            Ok((truth, values)) => (Ok(truth), Some(values)),
            Err(message) => (Err(message), None),
        },
    };
    // Only a run from an initial state can be walked.
    let start = start.filter(|(run, _)| *run == 0);
    let before = before.and_then(|before| before.parse().ok());
    evidence::inspector(&app.base, index, info, &Selected { state, before, truth, values, start })
}

/// The truth of a property at the state with these values.
async fn truth_of(app: &App, property: usize, values: Values) -> Result<FormulaTruth, String> {
    let mut asker = app.asker().await.map_err(message)?;
    let Reply::Found(Some(state)) = asker.ask(&Ask::Find { values }).await? else {
        return Err("the state is not one of the model".to_string());
    };
    truth_at(&mut asker, property, state).await
}

/// The truth of a property at a state of a run, which is followed from its start, and the values of the state.
async fn truth_along(
    app: &App,
    property: usize,
    info: &EvidenceInfo,
    start: Option<(usize, usize)>,
) -> Result<(FormulaTruth, Values), String> {
    let (run, position) = start.ok_or("this state is on no run")?;
    let mut run = info.runs[run].run.clone();
    run.states.truncate(position + 1);
    run.steps.truncate(position);
    let mut asker = app.asker().await.map_err(message)?;
    match asker.ask(&Ask::Follow { run }).await? {
        Reply::Followed { walk: Some(info), stopped: None } => {
            let state = info.walk.last();
            let page = PageRange { offset: 0, limit: 1 };
            let ask = Ask::State { state, fixed: Vec::new(), page };
            let Reply::State(found) = asker.ask(&ask).await? else {
                return Err("unexpected reply".to_string());
            };
            Ok((truth_at(&mut asker, property, state).await?, found.values))
        }
        _ => Err("the state could not be found in the model".to_string()),
    }
}

async fn truth_at(
    asker: &mut crate::state::Asker<'_>,
    property: usize,
    state: usize,
) -> Result<FormulaTruth, String> {
    let ask = Ask::Truths { state, formulas: vec![Asked::Property(property)], max_parts: MAX_TREE_PARTS };
    let Reply::Truths(mut truths) = asker.ask(&ask).await? else {
        return Err("unexpected reply".to_string());
    };
    truths.pop().ok_or("unexpected reply".to_string())
}

async fn simulator_page(State(app): Shared, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let model = app.model();
    let view = simulator_view(&app, &query).await;
    html_page(page(&app.base, Place::Simulator, &model, "Simulator", &simulator(&app.base, &model, &view)))
}

async fn simulator_view(app: &App, query: &Fields) -> SimulatorView {
    let page = PageRange { offset: query.number("offset"), limit: PAGE_LENGTH };
    let mut view = SimulatorView {
        walk: app.walk().clone(),
        initial: None,
        state: None,
        typed: Vec::new(),
        properties: Vec::new(),
        alike: None,
        chart: None,
        why: None,
        page,
        error: None,
    };
    if !app.model().model.has_model {
        view.error = Some("There is no model yet; the overview shows why.".to_string());
        return view;
    }
    if let Err(error) = fill_view(app, query, &mut view).await {
        view.error = Some(error);
    }
    view
}

async fn fill_view(app: &App, query: &Fields, view: &mut SimulatorView) -> Result<(), String> {
    let mut asker = app.asker().await.map_err(message)?;
    app.resume_walk(&mut asker).await?;
    view.walk = app.walk().clone();
    let Some((walk, fixed)) = app.walk_so_far() else {
        if let Reply::Initial(found) = asker.ask(&Ask::Initial { page: view.page }).await? {
            view.initial = Some(found);
        }
        return Ok(());
    };
    let state = walk.last();
    if let Reply::State(found) = asker.ask(&Ask::State { state, fixed, page: view.page }).await? {
        view.state = Some(found);
    }
    let typed = view.walk.formulas.iter().map(|text| Asked::Formula(text.clone()));
    let n_properties = app.model().model.properties.len().min(PAGE_LENGTH);
    let formulas: Vec<Asked> = typed.chain((0..n_properties).map(Asked::Property)).collect();
    if let Reply::Truths(mut truths) =
        asker.ask(&Ask::Truths { state, formulas: formulas.clone(), max_parts: MAX_LISTED_PARTS }).await?
    {
        view.properties = truths.split_off(view.walk.formulas.len().min(truths.len()));
        view.typed = truths;
    }
    if let Some(agent) = query.find("alike").filter(|agent| !agent.is_empty()) {
        let page = PageRange { offset: 0, limit: PAGE_LENGTH };
        let ask = Ask::Alike { state, agents: vec![agent.to_string()], page };
        let found = match asker.ask(&ask).await {
            Ok(Reply::Alike(found)) => Ok(found),
            Ok(_) => Err("unexpected reply".to_string()),
            Err(message) => Err(message),
        };
        view.alike = Some((agent.to_string(), found));
    }
    if app.model().model.language == "lcc"
        && let Reply::Chart(chart) = asker.ask(&Ask::Chart { walk: walk.clone() }).await?
    {
        view.chart = chart;
    }
    if query.find("why").is_some() {
        let n_typed = view.walk.formulas.len();
        let index = match (query.find("formula"), query.find("property")) {
            (Some(_), _) => Some(query.number("formula")).filter(|index| *index < n_typed),
            (None, Some(_)) => Some(n_typed + query.number("property")),
            (None, None) => None,
        };
        if let Some(asked) = index.and_then(|index| formulas.get(index)) {
            let title = match asked {
                Asked::Formula(text) => text.clone(),
                Asked::Property(index) => app.model().model.properties[*index].text.clone(),
            };
            let text = match asker.ask(&Ask::Why { formula: asked.clone(), walk }).await {
                Ok(Reply::Why(text)) => text,
                Ok(_) => "unexpected reply".to_string(),
                Err(message) => message,
            };
            view.why = Some((title, text));
        }
    }
    Ok(())
}

async fn simulator_command(State(app): Shared, Path(command): Path<String>, request: Request) -> Response {
    let fields = match Fields::of_body(request).await {
        Ok(fields) => fields,
        Err(response) => return response,
    };
    let text = |name: &str| fields.find(name).unwrap_or_default().to_string();
    let command = match command.as_str() {
        "reset" => Command::Reset,
        "begin" => Command::Begin(fields.number("index")),
        "step" => Command::Step(fields.number("index")),
        "go" => Command::Go(fields.number("position")),
        "random" => Command::Random(fields.number("steps").max(1)),
        "fix" => Command::Fix(text("agent"), text("action")),
        "formula" => Command::AddFormula(text("formula")),
        "forget" => Command::RemoveFormula(fields.number("index")),
        "path" => Command::PathTo(text("formula")),
        "follow" => {
            let run = fields.number("run");
            match app.evidence(fields.number("property")).await {
                Ok(Some(info)) if run < info.runs.len() => {
                    Command::Follow(info.runs[run].run.clone(), fields.number("position"))
                }
                _ => return see(&app, "/evidence"),
            }
        }
        "finding" => {
            let model = app.model();
            let finding = model.checked().and_then(|info| info.findings.get(fields.number("index")));
            match finding.and_then(|finding| finding.run.clone()) {
                Some(run) => Command::Follow(run, usize::MAX),
                None => return see(&app, "/"),
            }
        }
        _ => return plain(StatusCode::NOT_FOUND, "there is no such command".to_string()),
    };
    app.walk_command(command).await;
    see(&app, "/simulate")
}

async fn walk_file(State(app): Shared) -> Response {
    let walk = async {
        let mut asker = app.asker().await.map_err(message)?;
        app.resume_walk(&mut asker).await?;
        let walk = app.walk().walk.clone().ok_or("the walk has not begun")?;
        match asker.ask(&Ask::Trace { walk }).await? {
            Reply::Trace(text) => Ok(text),
            _ => Err("unexpected reply".to_string()),
        }
    };
    match walk.await {
        Ok(text) => asset(&text, "application/json"),
        Err(message) => plain(StatusCode::CONFLICT, message),
    }
}

async fn graph_page(State(app): Shared, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let model = app.model();
    let given = |name: &str| query.find(name).filter(|text| !text.trim().is_empty()).map(str::to_string);
    let options = state_graph::Options {
        formula: given("formula"),
        agent: given("agent"),
        selected: query.find("state").and_then(|state| state.parse().ok()),
        path: given("path"),
        is_shown: query.find("show").is_some(),
    };
    let found = if options.is_shown && model.model.has_model {
        Some(state_graph::find(&app, &options).await)
    } else {
        None
    };
    let main = state_graph::state_graph(&app.base, &model, &options, found.as_ref(), MAX_DRAWN_STATES);
    html_page(page(&app.base, Place::Graph, &model, "State graph", &main))
}

async fn worlds_page(State(app): Shared, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let model = app.model();
    let found = async {
        let mut asker = app.asker().await.map_err(message)?;
        match asker.ask(&Ask::Worlds { max_states: MAX_DRAWN_STATES }).await? {
            Reply::Worlds(info) => Ok(info),
            _ => Err("unexpected reply".to_string()),
        }
    };
    let main = match found.await {
        _ if !model.model.has_model => empty("There is no model yet; the overview shows why."),
        Err(message) => html! { h1 { "Worlds" } p.note.fails { (message) } },
        Ok(info) => {
            let selected = query.find("state").and_then(|state| state.parse().ok());
            worlds::worlds(&app.base, &info, selected)
        }
    };
    html_page(page(&app.base, Place::Worlds, &model, "Worlds", &main))
}

async fn parameters(State(app): Shared, request: Request) -> Response {
    match Fields::of_body(request).await {
        Err(response) => response,
        Ok(fields) => {
            let known: Vec<String> =
                app.model().model.parameters.iter().map(|(name, _)| name.clone()).collect();
            let is_known =
                |(name, value): &(String, String)| known.contains(name) && value.parse::<i64>().is_ok();
            app.define(fields.0.into_iter().filter(is_known).collect());
            see(&app, "/")
        }
    }
}

async fn check_again(State(app): Shared) -> Response {
    app.reload();
    see(&app, "/")
}

async fn cancel_check(State(app): Shared) -> Response {
    app.checker.cancel();
    see(&app, "/")
}

async fn cancel_question(State(app): Shared) -> Response {
    app.asker.cancel();
    see(&app, "/simulate")
}

/// Why a process gave no reply, for the user.
pub(crate) fn message(error: NoReply) -> String {
    match error {
        NoReply::Cancelled => "It was cancelled.".to_string(),
        NoReply::Failed(message) => message,
    }
}

/// The fields of a form or a query.
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    fn of_query(request: &Request) -> Fields {
        Fields::new(request.uri().query().unwrap_or_default())
    }

    async fn of_body(request: Request) -> Result<Fields, Response> {
        let body = Limited::new(request.into_body(), MAX_BODY_BYTES).collect();
        match tokio::time::timeout(MAX_BODY_TIME, body).await {
            Ok(Ok(body)) => Ok(Fields::new(&String::from_utf8_lossy(&body.to_bytes()))),
            Ok(Err(_)) => {
                let message =
                    format!("the request is too large or broken; the maximum is {MAX_BODY_BYTES} bytes");
                Err(plain(StatusCode::PAYLOAD_TOO_LARGE, message))
            }
            Err(_) => {
                Err(plain(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive".to_string()))
            }
        }
    }

    fn new(text: &str) -> Fields {
        let pair = |field: &str| match field.split_once('=') {
            Some((name, value)) => (decoded(name), decoded(value)),
            None => (decoded(field), String::new()),
        };
        Fields(text.split('&').filter(|field| !field.is_empty()).map(pair).collect())
    }

    /// The value of a field.
    fn find(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The value of a field that is a number; 0 if there is none.
    fn number(&self, name: &str) -> usize {
        self.find(name).and_then(|value| value.parse().ok()).unwrap_or(0)
    }
}

/// Decodes a part of a form: `+` is a blank, and `%41` is a byte.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        let hexadecimal = |digit: &u8| (*digit as char).to_digit(16);
        match (first, tail) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, after @ ..]) if hexadecimal(high).is_some() && hexadecimal(low).is_some() => {
                let code = hexadecimal(high).unwrap_or(0) * 16 + hexadecimal(low).unwrap_or(0);
                bytes.push(code as u8);
                rest = after;
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    #[test]
    fn fields_of_forms() {
        let check = |text: &str, expected: &[(&str, &str)]| {
            let found = Fields::new(text).0;
            let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("",                       &[]);
        check("a=1&b=x+y",              &[("a", "1"), ("b", "x y")]);
        check("f=%3Ca%3E%26&&g",        &[("f", "<a>&"), ("g", "")]);
        check("f=100%&g=%4&h=%zz",      &[("f", "100%"), ("g", "%4"), ("h", "%zz")]);
        check("f=%E2%9C%93",            &[("f", "✓")]);
        check("f=%+41&g=%ff",           &[("f", "% 41"), ("g", "\u{fffd}")]);
    }
}
