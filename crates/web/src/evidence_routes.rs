//! The pages of evidence, and the inspector of a state.

use axum::extract::{Path, Request};
use axum::response::Response;
use masque_driver::warm::{Asked, PageRange, WarmWalk};
use maud::{Markup, html};

use crate::evidence::{self, Selected, nothing_selected};
use crate::form_fields::Fields;
use crate::page::{Place, empty, page};
use crate::protocol::{AgentInfo, Ask, EvidenceInfo, FormulaTruth, Reply, Values};
use crate::responses::{html_page, message};
use crate::state::App;
use crate::tab::Tab;

/// Maximum number of parts of a formula in the tree of the inspector.
const MAX_TREE_PARTS: usize = 400;
/// Agent that stands for the surroundings of the others. What it knows is of interest only if the formula names it.
const ENVIRONMENT: &str = "Environment";

pub(crate) async fn evidence_list(tab: Tab) -> Response {
    let model = tab.app.model();
    let main = evidence::chooser(&tab.base, &model);
    html_page(page(&tab.base, Place::Evidence, &model, "Evidence", &main))
}

pub(crate) async fn evidence_page(
    tab: Tab,
    Path((_, number)): Path<(u64, usize)>,
    request: Request,
) -> Response {
    let query = Fields::of_query(&request);
    let index = number.saturating_sub(1);
    let model = tab.app.model();
    let (info, error) = match tab.app.evidence(index).await {
        Ok(info) => (info, None),
        Err(error) => (None, Some(message(error))),
    };
    let selected = query.find("state").and_then(|state| state.parse().ok());
    // Without a choice of the user, the first state of the first run is selected.
    let first = info.as_ref().and_then(|info| info.runs.first()?.states.first().copied());
    let inspector = match (&info, selected.or(first)) {
        (Some(info), Some(state)) => inspector(&tab, index, info, state, &query).await,
        _ => nothing_selected(),
    };
    let main = html! {
        @if let Some(error) = error { p.note.fails { (error) } }
        (evidence::evidence(&tab.base, &model, index, info.as_deref(), &inspector))
    };
    let title = model.model.properties.get(index).map_or("Evidence", |property| &property.title);
    html_page(page(&tab.base, Place::Evidence, &model, title, &main))
}

/// The inspector of a state, which a script puts into the page.
pub(crate) async fn inspector_part(
    tab: Tab,
    Path((_, number, state)): Path<(u64, usize, usize)>,
    request: Request,
) -> Response {
    let query = Fields::of_query(&request);
    let index = number.saturating_sub(1);
    match tab.app.evidence(index).await {
        Ok(Some(info)) => html_page(inspector(&tab, index, &info, state, &query).await),
        Ok(None) => html_page(empty("There is no evidence.")),
        Err(error) => html_page(empty(&message(error))),
    }
}

async fn inspector(tab: &Tab, index: usize, info: &EvidenceInfo, state: usize, query: &Fields) -> Markup {
    let model = tab.app.model();
    let has_reasons = model.model.language == "ispl";
    let start = info.runs.iter().enumerate().find_map(|(nth, run)| {
        let position = run.states.iter().position(|&other| other == state)?;
        Some((nth, position))
    });
    let (truth, values) = match info.states.get(state) {
        Some(values) if has_reasons => (truth_of(&tab.app, index, values.clone()).await, None),
        _ => match truth_along(&tab.app, index, info, start).await {
            Ok((truth, values)) => (Ok(truth), Some(values)),
            Err(message) => (Err(message), None),
        },
    };
    let why = match (query.find("why"), info.states.get(state)) {
        (Some(text), Some(values)) if has_reasons => {
            let found = reason(&tab.app, text, values.clone()).await;
            Some((text.to_string(), found.unwrap_or_else(|message| message)))
        }
        _ => None,
    };
    // Only a run from an initial state can be walked.
    let start = start.filter(|(run, _)| *run == 0);
    let before = query.find("before").and_then(|before| before.parse().ok());
    let text = model.model.properties.get(index).map_or("", |property| property.text.as_str());
    let is_about_knowledge = ["K(", "KH("].iter().any(|operator| text.contains(operator));
    let named = |agent: &&AgentInfo| agent.name != ENVIRONMENT || text.contains(ENVIRONMENT);
    let agents: Vec<AgentInfo> = model.model.agents.iter().filter(named).cloned().collect();
    let selected = Selected { state, before, truth, values, start, why, is_about_knowledge, has_reasons };
    evidence::inspector(&tab.base, index, (info, &agents), &selected)
}

/// Why a formula is true or false at the state with these values.
async fn reason(app: &App, formula: &str, values: Values) -> Result<String, String> {
    let mut asker = app.asker().await.map_err(message)?;
    let Reply::Found(Some(start)) = asker.ask(&Ask::Find { values }).await? else {
        return Err("the state is not one of the model".to_string());
    };
    let walk = WarmWalk { start, steps: Vec::new() };
    match asker.ask(&Ask::Why { formula: Asked::Formula(formula.to_string()), walk }).await? {
        Reply::Why(text) => Ok(text),
        _ => Err("unexpected reply".to_string()),
    }
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
