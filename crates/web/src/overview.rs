//! The overview: properties with their verdicts, messages, parameters, agents, and the source text.

use masque_text::counted;
use maud::{Markup, html};

use crate::page::{empty, time, verdict};
use crate::protocol::{AgentInfo, DiagnosticInfo, PropertyInfo};
use crate::source_view::{line_address, sources};
use crate::state::{CheckState, ModelState};

/// Number of properties, and of agents, on one page of a list.
pub(crate) const PAGE_LENGTH: usize = 50;

/// Which part of each list is shown: the number of a page, from 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pages {
    pub(crate) properties: usize,
    pub(crate) agents: usize,
}

pub(crate) fn overview(base: &str, model: &ModelState, pages: Pages) -> Markup {
    html! {
        div.columns {
            div.left {
                h1 { "Overview" }
                p.size {
                    @if !model.model.language.is_empty() { (model.model.language.to_uppercase()) }
                    @if !model.model.size.is_empty() { " · " (model.model.size) }
                    @if let Some(states) = model.checked().and_then(|info| info.states.as_ref()) { " · " (states) " reachable states" }
                }
                div #progress { (progress(model)) }
                (properties(base, model, pages))
                (messages(base, model))
                (parameters(base, model))
                (agents(base, model, pages))
            }
            div.right {
                h2 { "Source" }
                (sources(base, model))
            }
        }
    }
}

/// The state of the check, with a button that cancels it.
pub(crate) fn progress(model: &ModelState) -> Markup {
    html! {
        @match &model.check {
            CheckState::Loading => p.note.busy { "Reading the files…" },
            CheckState::NotChecked => {
                @if model.model.diagnostics.iter().any(|found| found.severity == "error") {
                    p.note.fails { "The model has errors. Fix them and save: the page follows." }
                }
            },
            CheckState::Running(info) => {
                div.note.busy {
                    progress max=(info.total.max(1)) value=[info.is_explored.then_some(info.decided)] {}
                    p { (info.reached.as_deref().unwrap_or("starting")) }
                    form method="post" action="cancel-check" data-quiet { button { "Cancel" } }
                }
            },
            CheckState::Cancelled => {
                div.note.unknown { p { "The check was cancelled." } (check_again()) }
            },
            CheckState::Failed(message) => div.note.fails { p { (message) } (check_again()) },
            CheckState::Done { is_cancelled: true, .. } => {
                div.note.unknown { p { "The check was cancelled. What was decided by then is shown." } (check_again()) }
            },
            CheckState::Done { info, .. } => {
                @if info.verdicts.iter().any(|verdict| verdict.reason.as_deref() == Some("timeout")) {
                    div.note.unknown {
                        p { "The time limit was reached. Give more with " code { "--timeout" } "." }
                        (check_again())
                    }
                }
                @for bug in &info.bugs { p.note.fails { "This is a bug in Masque, please report it: " (bug) } }
            },
        }
    }
}

fn check_again() -> Markup {
    html! { form method="post" action="check-again" { button { "Check again" } } }
}

fn properties(base: &str, model: &ModelState, pages: Pages) -> Markup {
    let all = &model.model.properties;
    let first = pages.properties * PAGE_LENGTH;
    html! {
        section aria-labelledby="properties" {
            h2 #properties { "Properties" }
            @if all.is_empty() && model.model.has_model {
                (empty("The model has no properties. Add some to the file, or use --property."))
            }
            @if !all.is_empty() {
                ul.properties {
                    @for (index, property) in all.iter().enumerate().skip(first).take(PAGE_LENGTH) {
                        (property_row(base, model, index, property))
                    }
                }
                (pager(base, "properties", pages.properties, all.len()))
            }
            @if let Some(info) = model.checked() { p.soft { "Checked in " (time(info.milliseconds)) "." } }
        }
    }
}

fn property_row(base: &str, model: &ModelState, index: usize, property: &PropertyInfo) -> Markup {
    let found = model.checked().and_then(|info| info.verdicts.get(index));
    let line = property.place.as_ref().and_then(|place| line_address(base, model, place));
    html! {
        li.property {
            div.verdict-cell {
                @match found {
                    Some(found) => (verdict(&found.word, found.reason.as_deref())),
                    None => span.verdict.open { "open" },
                }
            }
            div.property-text {
                a.property-name href={ (base) "/evidence/" (index + 1) } { (property.title) }
                @if let Some(world) = &property.world { span.soft { " in " code { (world) } } }
                code.formula { (property.text) }
                @if let Some(found) = found {
                    @for remark in &found.remarks { p.remark.warning { (remark) } }
                }
            }
            div.property-side {
                @if let Some(found) = found { span.soft { (time(found.milliseconds)) } }
                @if let (Some((_, number)), Some(line)) = (&property.place, &line) {
                    a.soft href=(line) { "line " (number) }
                }
            }
        }
    }
}

fn messages(base: &str, model: &ModelState) -> Markup {
    let findings = model.checked().map(|info| info.findings.as_slice()).unwrap_or_default();
    let all: Vec<&DiagnosticInfo> = findings.iter().chain(&model.model.diagnostics).collect();
    html! {
        @if !all.is_empty() {
            section aria-labelledby="messages" {
                h2 #messages { "Messages" }
                ul.messages {
                    @for (nth, found) in all.iter().enumerate().take(4 * PAGE_LENGTH) {
                        li class=(found.severity) {
                            p { span.severity { (found.severity) } " " (found.message) }
                            @if let Some(help) = &found.help { p.soft { (help) } }
                            p.soft {
                                code { (found.code) }
                                @if let Some(place) = &found.place {
                                    " · "
                                    @match line_address(base, model, place) {
                                        Some(line) => a href=(line) { (place.0) ":" (place.1) },
                                        None => span { (place.0) ":" (place.1) },
                                    }
                                }
                                @if found.run.is_some() && nth < findings.len() {
                                    " · "
                                    form.inline method="post" action={ (base) "/simulate/finding" } {
                                        input type="hidden" name="index" value=(nth);
                                        button.link { "walk there in the simulator" }
                                    }
                                }
                            }
                        }
                    }
                }
                @if all.len() > 4 * PAGE_LENGTH { (empty("There are more messages than are shown.")) }
            }
        }
    }
}

fn parameters(base: &str, model: &ModelState) -> Markup {
    let info = &model.model;
    html! {
        @if !info.parameters.is_empty() || !info.options.is_empty() {
            section aria-labelledby="parameters" {
                h2 #parameters { "Parameters" }
                @if !info.parameters.is_empty() {
                    form.parameters method="post" action={ (base) "/parameters" } {
                        @for (name, value) in &info.parameters {
                            label { code { (name) } input name=(name) type="number" step="1" value=(value) id={ "parameter-" (name) }; }
                        }
                        button { "Check with these values" }
                    }
                }
                @if !info.options.is_empty() {
                    dl.facts { @for (name, value) in &info.options { dt { (name) } dd { code { (value) } } } }
                }
            }
        }
    }
}

fn agents(base: &str, model: &ModelState, pages: Pages) -> Markup {
    let all = &model.model.agents;
    let first = pages.agents * PAGE_LENGTH;
    html! {
        @if !all.is_empty() {
            section aria-labelledby="agents" {
                h2 #agents { "Agents" }
                @for agent in all.iter().skip(first).take(PAGE_LENGTH) { (agent_row(agent, all.len() <= 8)) }
                (pager(base, "agents", pages.agents, all.len()))
            }
        }
    }
}

fn agent_row(agent: &AgentInfo, is_open: bool) -> Markup {
    html! {
        details.agent open[is_open] id={ "agent-" (agent.name) } {
            summary {
                strong { (agent.name) }
                span.soft {
                    @if !agent.variables.is_empty() { " " (counted(agent.variables.len(), "variable", "variables")) }
                    @if !agent.actions.is_empty() { " · " (counted(agent.actions.len(), "action", "actions")) }
                }
            }
            @if !agent.variables.is_empty() {
                dl.facts { @for (name, domain) in &agent.variables { dt { code { (name) } } dd { (domain) } } }
            }
            @if !agent.actions.is_empty() {
                p { span.soft { "Actions: " } @for (nth, action) in agent.actions.iter().enumerate() { @if nth > 0 { ", " } code { (action) } } }
            }
            @if !agent.sees.is_empty() {
                p { span.soft { "Sees also: " } @for (nth, name) in agent.sees.iter().enumerate() { @if nth > 0 { ", " } code { (name) } } }
            }
        }
    }
}

/// Links to the other pages of a list.
fn pager(base: &str, list: &str, current: usize, n_items: usize) -> Markup {
    let n_pages = n_items.div_ceil(PAGE_LENGTH);
    html! {
        @if n_pages > 1 {
            nav.pager aria-label={ "Pages of " (list) } {
                @if current > 0 { a href={ (base) "/?" (list) "=" (current - 1) } data-swap { "‹ previous" } }
                span { (current * PAGE_LENGTH + 1) "–" (n_items.min((current + 1) * PAGE_LENGTH)) " of " (n_items) }
                @if current + 1 < n_pages { a href={ (base) "/?" (list) "=" (current + 1) } data-swap { "next ›" } }
            }
        }
    }
}
