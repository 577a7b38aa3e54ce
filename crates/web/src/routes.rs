//! The addresses of the site, and what is done for each. Each follows the token and the number of a tab.
//!
//! | address | method | shows or does |
//! |---|---|---|
//! | `/` | GET | the overview |
//! | `/evidence`, `/evidence/N` | GET | all properties; the evidence of one |
//! | `/evidence/N/state/K` | GET | the inspector of a state, as a part of a page |
//! | `/simulate` | GET | the simulator |
//! | `/simulate/COMMAND` | POST | a command of the simulator, then the simulator |
//! | `/simulate/walk.itf.json` | GET | the walk as a file |
//! | `/graph`, `/graph/state` | GET | the state graph; a state of it, as a part of a page |
//! | `/protocol` | GET | a protocol: its agents, messages, rules and facts |
//! | `/protocol/COMMAND` | POST | switches rules and facts, then the protocol |
//! | `/worlds` | GET | the worlds of a BDI file |
//! | `/parameters`, `/check-again`, `/cancel-check`, `/cancel-question` | POST | the check |
//! | `/copy` | GET | a page in a new tab with the same walk |
//! | `/events` | GET | progress and changes, as server-sent events |

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use masque_report::EVIDENCE_STYLE;
use maud::html;

use crate::events::events;
use crate::evidence_routes::{evidence_list, evidence_page, inspector_part};
use crate::form_fields::Fields;
use crate::overview::{Pages, overview};
use crate::page::{Place, empty, page};
use crate::protocol::{Ask, Reply};
use crate::protocol_routes::{protocol_command, protocol_page};
use crate::responses::{asset, html_page, message, see};
use crate::server::plain;
use crate::simulator_routes::{simulator_command, simulator_page, walk_file};
use crate::state::App;
use crate::state_graph::{self, MAX_DRAWN_STATES};
use crate::tab::Tab;
use crate::worlds;

const SCRIPT: &str = include_str!("assets/app.js");
const STYLE: &str = include_str!("assets/style.css");
const ICON: &str = include_str!("assets/icon.svg");

type Shared = State<Arc<App>>;

pub(crate) fn router(app: Arc<App>) -> Router {
    let at = |path: &str| format!("{}/{{tab}}{path}", app.base);
    let new_tab = |State(app): Shared| async move { see(&Tab::open(&app, None).base, "/") };
    Router::new()
        .route(&app.base, get(new_tab))
        .route(&format!("{}/", app.base), get(new_tab))
        .route(&at(""), get(|tab: Tab| async move { see(&tab.base, "/") }))
        .route(&at("/"), get(overview_page))
        .route(&at("/evidence"), get(evidence_list))
        .route(&at("/evidence/{property}"), get(evidence_page))
        .route(&at("/evidence/{property}/state/{state}"), get(inspector_part))
        .route(&at("/simulate"), get(simulator_page))
        .route(&at("/simulate/walk.itf.json"), get(walk_file))
        .route(&at("/simulate/{command}"), post(simulator_command))
        .route(&at("/graph"), get(graph_page))
        .route(&at("/graph/state"), get(graph_part))
        .route(&at("/protocol"), get(protocol_page))
        .route(&at("/protocol/{command}"), post(protocol_command))
        .route(&at("/worlds"), get(worlds_page))
        .route(&at("/parameters"), post(parameters))
        .route(&at("/check-again"), post(check_again))
        .route(&at("/cancel-check"), post(cancel_check))
        .route(&at("/cancel-question"), post(cancel_question))
        .route(&at("/copy"), get(copy))
        .route(&at("/events"), get(|tab: Tab| async move { events(tab.app) }))
        .route(&at("/app.js"), get(|| async { asset(SCRIPT, "text/javascript; charset=utf-8") }))
        .route(&at("/style.css"), get(style))
        .route(&at("/icon.svg"), get(|| async { asset(ICON, "image/svg+xml") }))
        .fallback(|| async { plain(StatusCode::NOT_FOUND, "there is no such page".to_string()) })
        .with_state(app)
}

async fn style() -> Response {
    asset(&format!("{EVIDENCE_STYLE}\n{STYLE}"), "text/css; charset=utf-8")
}

/// Shows a page in a new tab that continues the walk of this one.
async fn copy(tab: Tab, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let path = query.find("to").filter(|path| path.starts_with('/')).unwrap_or("/");
    see(&Tab::open(&tab.app, Some(&tab)).base, path)
}

async fn overview_page(tab: Tab, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let pages = Pages { properties: query.number("properties"), agents: query.number("agents") };
    let model = tab.app.model();
    html_page(page(&tab.base, Place::Overview, &model, "Overview", &overview(&tab.base, &model, pages)))
}

async fn graph_page(tab: Tab, request: Request) -> Response {
    let model = tab.app.model();
    let options = graph_options(&request);
    let found = if options.is_shown && model.model.has_model {
        Some(state_graph::find(&tab.app, &options).await)
    } else {
        None
    };
    let main = state_graph::state_graph(&tab.base, &model, &options, found.as_deref(), MAX_DRAWN_STATES);
    html_page(page(&tab.base, Place::Graph, &model, "State graph", &main))
}

/// The selected state, which a script puts into the page.
async fn graph_part(tab: Tab, request: Request) -> Response {
    let options = graph_options(&request);
    let found = state_graph::find(&tab.app, &options).await;
    html_page(state_graph::selected_part(&options, &found))
}

fn graph_options(request: &Request) -> state_graph::Options {
    let query = Fields::of_query(request);
    let given = |name: &str| query.find(name).filter(|text| !text.trim().is_empty()).map(str::to_string);
    state_graph::Options {
        formula: given("formula"),
        agent: given("agent"),
        selected: query.find("state").and_then(|state| state.parse().ok()),
        path: given("path"),
        is_shown: query.find("show").is_some(),
    }
}

async fn worlds_page(tab: Tab, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let model = tab.app.model();
    let found = async {
        let mut asker = tab.app.asker().await.map_err(message)?;
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
            worlds::worlds(&tab.base, &info, selected)
        }
    };
    html_page(page(&tab.base, Place::Worlds, &model, "Worlds", &main))
}

async fn parameters(tab: Tab, request: Request) -> Response {
    match Fields::of_body(request).await {
        Err(response) => response,
        Ok(fields) => {
            let known: Vec<String> =
                tab.app.model().model.parameters.iter().map(|(name, _)| name.clone()).collect();
            let is_known =
                |(name, value): &(String, String)| known.contains(name) && value.parse::<i64>().is_ok();
            tab.app.define(fields.0.into_iter().filter(is_known).collect());
            see(&tab.base, "/")
        }
    }
}

async fn check_again(tab: Tab) -> Response {
    tab.app.reload();
    see(&tab.base, "/")
}

async fn cancel_check(tab: Tab) -> Response {
    tab.app.checker.cancel();
    see(&tab.base, "/")
}

async fn cancel_question(tab: Tab) -> Response {
    tab.app.asker.cancel();
    see(&tab.base, "/simulate")
}
