//! A protocol: the messages so far, what each agent is doing, and its rules and facts with the verdicts that depend
//! on them.

use masque_driver::warm::{Statement, StatementKind, SwitchedVerdict};
use masque_text::counted;
use maud::{Markup, PreEscaped, html};

use crate::page::{empty, verdict};
use crate::protocol::{StandingInfo, SwitchInfo};
use crate::simulator::{SimulatorView, choices, controls};
use crate::state::ModelState;

/// Maximum number of rules and facts that are listed.
const MAX_LISTED_STATEMENTS: usize = 500;

/// What the page shows.
pub(crate) struct ProtocolView {
    /// The walk, its messages and its next steps.
    pub(crate) simulator: SimulatorView,
    pub(crate) standings: Vec<StandingInfo>,
    pub(crate) switches: Result<SwitchInfo, String>,
}

pub(crate) fn protocol(base: &str, model: &ModelState, view: &ProtocolView) -> Markup {
    let simulator = &view.simulator;
    html! {
        div.title-line {
            h1 { "Protocol" }
            (controls(base, simulator))
        }
        @for note in simulator.walk.note.iter().chain(&simulator.error) { p.note.unknown role="status" { (note) } }
        div.protocol {
            div.choices { (choices(base, simulator)) }
            div.now {
                @if simulator.state.is_none() {
                    (empty("Choose the initial state, or press r for a random step, to see messages and agents."))
                }
                @if let Some(chart) = &simulator.chart {
                    section aria-labelledby="chart" {
                        h2 #chart { "Messages" span.soft { " after " (counted(simulator.walk.position, "step", "steps")) } }
                        div.drawing tabindex="0" role="region" aria-label="Message chart" { (PreEscaped(chart)) }
                    }
                }
                @if !view.standings.is_empty() { (agents(view)) }
            }
            div.switches { (switches(base, model, view)) }
        }
    }
}

/// What each agent is doing: its place in its clause, and what its next steps need.
fn agents(view: &ProtocolView) -> Markup {
    let steps =
        view.simulator.state.as_ref().map(|state| state.steps.steps.items.as_slice()).unwrap_or_default();
    let can_act = |id: &str| steps.iter().any(|step| acts(&step.action, id));
    html! {
        section aria-labelledby="agents" {
            h2 #agents { "Agents" }
            ul.standings {
                @for agent in &view.standings {
                    li.standing {
                        p {
                            strong { (agent.id) } " "
                            @if agent.is_done { span.chip.holds { "finished" } }
                            @else if can_act(&agent.id) { span.chip.ready { "can act" } }
                            @else if agent.is_idle { span.chip { "idle server" } }
                            @else { span.chip.unknown { "waits" } }
                        }
                        @if !agent.is_done { code.place { (agent.process) } }
                        @if !agent.is_done && !agent.obstacles.is_empty() {
                            ul.obstacles { @for obstacle in &agent.obstacles { li { (obstacle) } } }
                        }
                    }
                }
            }
        }
    }
}

/// Whether an agent takes part in a step, by the label: `..@a(role,id) ..`.
fn acts(action: &masque_driver::trace::TraceAction, id: &str) -> bool {
    let masque_driver::trace::TraceAction::Label(label) = action else { return false };
    let end = format!(",{id})");
    label
        .split('@')
        .skip(1)
        .any(|part| part.split([' ', '/']).next().is_some_and(|agent| agent.ends_with(&end)))
}

fn switches(base: &str, model: &ModelState, view: &ProtocolView) -> Markup {
    let (off, can_undo) = (&view.simulator.walk.off, !view.simulator.walk.undo.is_empty());
    html! {
        @match &view.switches {
            Err(message) => p.note.fails { (message) },
            Ok(info) => {
                section aria-labelledby="verdicts" {
                    h2 #verdicts { "Properties" }
                    @if let Some(error) = &info.error { p.note.fails { (error) } }
                    (verdicts(base, model, &info.verdicts))
                }
                section aria-labelledby="statements" {
                    h2 #statements { "Rules and facts" }
                    p.soft { "Switch one off to see which verdicts depend on it. The file and the walk stay as they are." }
                    div.controls {
                        form method="post" action={ (base) "/protocol/undo" } data-swap { button data-key="u" disabled[!can_undo] { "Undo" } }
                        form method="post" action={ (base) "/protocol/all" } data-swap { button disabled[off.is_empty()] { "All on" } }
                        @if !off.is_empty() { span.soft { (off.len()) " off" } }
                    }
                    @for (kind, title) in [(StatementKind::Rule, "Rules"), (StatementKind::Fact, "Facts and choices")] {
                        @if info.statements.iter().any(|statement| statement.kind == kind) {
                            h3 { (title) }
                            ul.statements {
                                @for statement in info.statements.iter().filter(|statement| statement.kind == kind).take(MAX_LISTED_STATEMENTS) {
                                    (switch(base, statement, off.contains(&statement.text)))
                                }
                            }
                        }
                    }
                }
            },
        }
    }
}

fn switch(base: &str, statement: &Statement, is_off: bool) -> Markup {
    html! {
        li {
            form method="post" action={ (base) "/protocol/switch" } data-swap {
                input type="hidden" name="statement" value=(statement.text);
                button.switch.off[is_off] role="switch" aria-checked=(!is_off) title={ (statement.place.0) ":" (statement.place.1) } {
                    span.knob aria-hidden="true" {} code { (statement.text) }
                }
            }
        }
    }
}

fn verdicts(base: &str, model: &ModelState, verdicts: &[SwitchedVerdict]) -> Markup {
    let word = |text: &str| text.split(' ').next().unwrap_or_default().to_string();
    html! {
        ul.switched {
            @for (index, (property, found)) in model.model.properties.iter().zip(verdicts).enumerate() {
                li.changed[found.now != found.before] {
                    (verdict(&word(&found.now), None))
                    a href={ (base) "/evidence/" (index + 1) } title=(property.text) { (property.title) }
                    @if found.now != found.before { span.soft { "was " (found.before) } }
                    @else if found.now != word(&found.now) { span.soft { (found.now) } }
                }
            }
        }
    }
}
