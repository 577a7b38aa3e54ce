//! The pages and commands of the simulator.

use axum::extract::{Path, Request};
use axum::http::StatusCode;
use axum::response::Response;
use masque_driver::warm::{Asked, PageRange};

use crate::form_fields::Fields;
use crate::page::{Place, page};
use crate::protocol::{Ask, Reply};
use crate::responses::{asset, html_page, message, see};
use crate::server::plain;
use crate::simulator::{PAGE_LENGTH, SimulatorView, simulator};
use crate::tab::Tab;
use crate::walk::Command;

/// Maximum number of parts of each formula that are listed.
const MAX_LISTED_PARTS: usize = 40;

pub(crate) async fn simulator_page(tab: Tab, request: Request) -> Response {
    let query = Fields::of_query(&request);
    let model = tab.app.model();
    let view = simulator_view(&tab, &query, "/simulate").await;
    html_page(page(&tab.base, Place::Simulator, &model, "Simulator", &simulator(&tab.base, &model, &view)))
}

pub(crate) async fn simulator_view(tab: &Tab, query: &Fields, place: &'static str) -> SimulatorView {
    let page = PageRange { offset: query.number("offset"), limit: PAGE_LENGTH };
    let mut view = SimulatorView {
        walk: tab.walk().clone(),
        place,
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
    if !tab.app.model().model.has_model {
        view.error = Some("There is no model yet; the overview shows why.".to_string());
        return view;
    }
    if let Err(error) = fill_view(tab, query, &mut view).await {
        view.error = Some(error);
    }
    view
}

pub(crate) async fn fill_view(tab: &Tab, query: &Fields, view: &mut SimulatorView) -> Result<(), String> {
    let mut asker = tab.app.asker().await.map_err(message)?;
    tab.resume_walk(&mut asker).await?;
    view.walk = tab.walk().clone();
    let Some((walk, fixed)) = tab.walk_so_far() else {
        if let Reply::Initial(found) = asker.ask(&Ask::Initial { page: view.page }).await? {
            view.initial = Some(found);
        }
        return Ok(());
    };
    let state = walk.last();
    if let Reply::State(found) = asker.ask(&Ask::State { state, fixed, page: view.page }).await? {
        view.state = Some(found);
    }
    let typed: Vec<Asked> = view.walk.formulas.iter().map(|text| Asked::Formula(text.clone())).collect();
    let n_properties = tab.app.model().model.properties.len().min(PAGE_LENGTH);
    let properties: Vec<Asked> = (0..n_properties).map(Asked::Property).collect();
    // With labelled steps, each part of a formula is checked by itself.
    let n_parts_of_properties = if tab.app.model().model.language == "ispl" { MAX_LISTED_PARTS } else { 1 };
    let ask = Ask::Truths { state, formulas: typed.clone(), max_parts: MAX_LISTED_PARTS };
    if let Reply::Truths(truths) = asker.ask(&ask).await? {
        view.typed = truths;
    }
    let ask = Ask::Truths { state, formulas: properties.clone(), max_parts: n_parts_of_properties };
    if let Reply::Truths(truths) = asker.ask(&ask).await? {
        view.properties = truths;
    }
    let formulas: Vec<Asked> = typed.into_iter().chain(properties).collect();
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
    if tab.app.model().model.language == "lcc"
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
                Asked::Property(index) => tab.app.model().model.properties[*index].text.clone(),
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

pub(crate) async fn simulator_command(
    tab: Tab,
    Path((_, command)): Path<(u64, String)>,
    request: Request,
) -> Response {
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
            match tab.app.evidence(fields.number("property")).await {
                Ok(Some(info)) if run < info.runs.len() => {
                    Command::Follow(info.runs[run].run.clone(), fields.number("position"))
                }
                _ => return see(&tab.base, "/evidence"),
            }
        }
        "finding" => {
            let model = tab.app.model();
            let finding = model.checked().and_then(|info| info.findings.get(fields.number("index")));
            match finding.and_then(|finding| finding.run.clone()) {
                Some(run) => Command::Follow(run, usize::MAX),
                None => return see(&tab.base, "/"),
            }
        }
        _ => return plain(StatusCode::NOT_FOUND, "there is no such command".to_string()),
    };
    tab.walk_command(command).await;
    see(&tab.base, if fields.find("to") == Some("/protocol") { "/protocol" } else { "/simulate" })
}

pub(crate) async fn walk_file(tab: Tab) -> Response {
    let walk = async {
        let mut asker = tab.app.asker().await.map_err(message)?;
        tab.resume_walk(&mut asker).await?;
        let walk = tab.walk().walk.clone().ok_or("the walk has not begun")?;
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
