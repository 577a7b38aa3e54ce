//! The pages of evidence, and the inspector of a state.

use axum::extract::{Path, Request};
use axum::response::Response;
use masque_driver::warm::{Asked, PageRange, WarmWalk};
use maud::{Markup, html};

use crate::evidence::{self, InitialState, Selected, initial_inspector, nothing_selected};
use crate::form_fields::Fields;
use crate::page::{Place, empty, page};
use crate::protocol::{AgentInfo, Ask, EvidenceInfo, FormulaTruth, Reply, RunInfo, Values};
use crate::responses::{html_page, message};
use crate::state::App;
use crate::tab::Tab;

/// Maximum number of parts of a formula in the tree of the inspector.
const MAX_TREE_PARTS: usize = 400;
/// Maximum number of initial states that are offered for a verdict without evidence.
const MAX_INITIAL_STATES: usize = 24;
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
    let selected = selected.or(first);
    let found = model.checked().and_then(|info| info.verdicts.get(index));
    let inspector = match (&info, selected) {
        (Some(info), Some(state)) if !info.states.is_empty() => {
            inspector(&tab, index, info, state, &query).await
        }
        (Some(info), _) if info.states.is_empty() => match found.map(|found| found.word.as_str()) {
            Some(word @ ("holds" | "fails")) => {
                let chosen = query.find("initial").and_then(|position| position.parse().ok());
                let shown = initial_state(&tab.app, index, chosen, word == "holds").await;
                shown.map_or_else(|message| empty(&message), |s| initial_inspector(&tab.base, index, &s))
            }
            _ => html! {},
        },
        _ => nothing_selected(),
    };
    let main = html! {
        @if let Some(error) = error { p.note.fails { (error) } }
        (evidence::evidence(&tab.base, &model, index, info.as_deref(), (selected, &inspector)))
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
    let language = model.model.language.as_str();
    let has_reasons = language == "ispl";
    let start = info.run_with(state);
    let (truth, values) = match info.states.get(state) {
        Some(values) if has_reasons || language == "bdi" => {
            (truth_of(&tab.app, index, values.clone()).await, None)
        }
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
    let given = query.find("before").and_then(|before| before.parse().ok());
    let before = given.or_else(|| {
        let (run, position) = start?;
        info.runs[run].states.get(position.checked_sub(1)?).copied()
    });
    // Only a run from an initial state can be walked.
    let start = match start {
        Some((run, _)) if language == "bdi" && !begins_in_top_world(&tab.app, &info.runs[run]).await => None,
        Some((run, _)) if has_reasons && run != 0 => None,
        other => other,
    };
    let text = model.model.properties.get(index).map_or("", |property| property.text.as_str());
    let is_about_knowledge = ["K(", "KH("].iter().any(|operator| text.contains(operator));
    let named = |agent: &&AgentInfo| agent.name != ENVIRONMENT || text.contains(ENVIRONMENT);
    let agents: Vec<AgentInfo> = model.model.agents.iter().filter(named).cloned().collect();
    let selected = Selected { state, before, truth, values, start, why, is_about_knowledge, has_reasons };
    evidence::inspector(&tab.base, index, (info, &agents), &selected)
}

/// An initial state with the truth of a property: the chosen one, or else the first at which the property is as the
/// verdict says.
async fn initial_state(
    app: &App,
    property: usize,
    chosen: Option<usize>,
    verdict: bool,
) -> Result<InitialState, String> {
    let mut asker = app.asker().await.map_err(message)?;
    let page = PageRange { offset: 0, limit: MAX_INITIAL_STATES };
    let Reply::Initial(found) = asker.ask(&Ask::Initial { page }).await? else {
        return Err("unexpected reply".to_string());
    };
    let mut best: Option<(usize, Result<FormulaTruth, String>)> = None;
    let candidates = found.items.iter().enumerate();
    for (position, state) in candidates.filter(|(position, _)| chosen.is_none_or(|it| it == *position)) {
        let truth = truth_at(&mut asker, property, state.number).await;
        let value = truth.as_ref().ok().and_then(|truth| truth.parts.first()?.holds);
        let is_undecidable = truth.is_err();
        if best.is_none() || value == Some(verdict) {
            best = Some((position, truth));
        }
        // What cannot be decided at one state takes as long at the next.
        if value == Some(verdict) || is_undecidable {
            break;
        }
    }
    let (position, truth) = best.ok_or("there is no such initial state")?;
    let values = found.items[position].values.clone();
    Ok(InitialState { position, n_listed: found.items.len(), values, truth })
}

/// Whether the first state of a run is in the world in which walks begin.
async fn begins_in_top_world(app: &App, run: &RunInfo) -> bool {
    let world = |values: &Values| values.iter().find(|(name, _)| name == "world").cloned();
    let Ok(mut asker) = app.asker().await else { return false };
    let page = PageRange { offset: 0, limit: 1 };
    match (asker.ask(&Ask::Initial { page }).await, run.run.states.first()) {
        (Ok(Reply::Initial(found)), Some(first)) => {
            found.items.first().is_some_and(|initial| world(&initial.values) == world(first))
        }
        _ => false,
    }
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
