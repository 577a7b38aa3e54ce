//! The simulator: the walk so far, the state, its steps, formulas at the state, and who cannot distinguish it.

use masque_driver::warm::{Listed, PageRange, PartTruth, WarmWalk};
use masque_text::counted;
use maud::{Markup, PreEscaped, html};

use crate::page::{empty, values_table};
use crate::protocol::{FormulaTruth, StateInfo, StateSteps, Values};
use crate::state::ModelState;
use crate::tab::WalkState;

/// Number of steps, and of states, on one page of a list.
pub(crate) const PAGE_LENGTH: usize = 24;
/// Number of steps of the walk that are listed around the current one.
const LISTED_STEPS: usize = 60;
/// Maximum number of agents with a choice of actions that are listed.
const MAX_LISTED_AGENTS: usize = 40;

/// What the page shows.
pub(crate) struct SimulatorView {
    pub(crate) walk: WalkState,
    /// Path of the page to which commands lead.
    pub(crate) place: &'static str,
    /// Initial states, if none is chosen.
    pub(crate) initial: Option<Listed<StateInfo>>,
    /// The current state, if the walk has begun.
    pub(crate) state: Option<StateSteps>,
    /// Truth of the typed formulas, then of the properties.
    pub(crate) typed: Vec<FormulaTruth>,
    pub(crate) properties: Vec<FormulaTruth>,
    /// States that an agent cannot distinguish from this one.
    pub(crate) alike: Option<(String, Result<Listed<StateInfo>, String>)>,
    /// Message chart of the walk, as SVG that `report` has written.
    pub(crate) chart: Option<String>,
    /// Why a formula is true or false here.
    pub(crate) why: Option<(String, String)>,
    /// Page of the list of steps or initial states.
    pub(crate) page: PageRange,
    /// Why the state could not be found.
    pub(crate) error: Option<String>,
}

pub(crate) fn simulator(base: &str, model: &ModelState, view: &SimulatorView) -> Markup {
    html! {
        div.title-line {
            h1 { "Simulator" }
            (controls(base, view))
        }
        @for note in view.walk.note.iter().chain(&view.error) { p.note.unknown role="status" { (note) } }
        div.simulator {
            div.choices { (choices(base, view)) }
            div.now {
                @match &view.state {
                    Some(state) => {
                        section aria-labelledby="state" {
                            h2 #state { "State " (view.walk.position) }
                            (values_table(&state.values, before(&view.walk)))
                        }
                        @if let Some(chart) = &view.chart {
                            section aria-labelledby="chart" {
                                h2 #chart { "Messages" }
                                div.drawing tabindex="0" role="region" aria-label="Message chart" { (PreEscaped(chart)) }
                            }
                        }
                        (formulas(base, model, view))
                        (alike(base, model, view))
                    }
                    None => (empty("Choose an initial state to begin. Keys: 1–9 choose, ← back, → forward, r random step.")),
                }
            }
            div.past { (path(base, view)) }
        }
    }
}

/// The values of the state before the current one.
fn before(walk: &WalkState) -> Option<&Values> {
    walk.position.checked_sub(1).and_then(|index| walk.named.states.get(index))
}

pub(crate) fn controls(base: &str, view: &SimulatorView) -> Markup {
    let n_steps = view.walk.walk.as_ref().map_or(0, |walk| walk.steps.len());
    let position = view.walk.position;
    html! {
        div.controls {
            (button(base, view.place, "go", &[("position", position.saturating_sub(1).to_string())], "‹ Back", position > 0, "ArrowLeft"))
            (button(base, view.place, "go", &[("position", (position + 1).to_string())], "Forward ›", position < n_steps, "ArrowRight"))
            (button(base, view.place, "random", &[("steps", "1".to_string())], "Random step", true, "r"))
            (button(base, view.place, "random", &[("steps", "20".to_string())], "20 random steps", true, ""))
            (button(base, view.place, "reset", &[], "Start again", view.walk.walk.is_some(), ""))
            @if view.walk.walk.is_some() {
                a.button href={ (base) "/simulate/walk.itf.json" } download="walk.itf.json" { "Save the walk" }
            }
        }
    }
}

/// A button that sends a command. `key` presses it.
fn button(
    base: &str,
    place: &str,
    command: &str,
    fields: &[(&str, String)],
    label: &str,
    is_possible: bool,
    key: &str,
) -> Markup {
    html! {
        form method="post" action={ (base) "/simulate/" (command) } data-swap {
            input type="hidden" name="to" value=(place);
            @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
            button disabled[!is_possible] data-key=[(!key.is_empty()).then_some(key)] { (label) }
        }
    }
}

pub(crate) fn choices(base: &str, view: &SimulatorView) -> Markup {
    html! {
        @if let Some(initial) = &view.initial {
            section aria-labelledby="choices" {
                h2 #choices { "Initial states" }
                (initial_states(base, view, initial))
            }
        }
        @if let Some(state) = &view.state {
            section aria-labelledby="choices" {
                h2 #choices { "Steps" }
                (agent_choices(base, view, state))
                (steps(base, view, state))
            }
        }
    }
}

fn initial_states(base: &str, view: &SimulatorView, initial: &Listed<StateInfo>) -> Markup {
    let first = initial.items.first().map(|state| &state.values);
    html! {
        @if initial.items.is_empty() { (empty("The model has no initial state.")) }
        ol.step-list start=(view.page.offset + 1) {
            @for (nth, state) in initial.items.iter().enumerate() {
                li {
                    form method="post" action={ (base) "/simulate/begin" } data-swap {
                        input type="hidden" name="to" value=(view.place);
                        input type="hidden" name="index" value=(view.page.offset + nth);
                        button.step data-key=[key_of(nth)] {
                            span.step-text { "Initial state " (view.page.offset + nth + 1) }
                            @let shown = if nth == 0 { state.values.clone() } else { differences(&state.values, first) };
                            span.changes { (assignments(&shown)) }
                        }
                    }
                }
            }
        }
        @if initial.items.len() > 1 { p.soft { "All but the first show only what differs from the first." } }
        (more(base, view, initial.has_more, initial.count.as_deref()))
    }
}

/// The key that presses the button with an index.
fn key_of(index: usize) -> Option<String> {
    (index < 9).then(|| (index + 1).to_string())
}

fn differences(values: &Values, first: Option<&Values>) -> Values {
    let Some(first) = first else { return values.clone() };
    values.iter().zip(first).filter(|(one, other)| one != other).map(|(one, _)| one.clone()).collect()
}

/// A few assignments, and how many more there are.
fn assignments(values: &Values) -> Markup {
    const MAX_SHOWN: usize = 12;
    html! {
        @for (nth, (name, value)) in values.iter().take(MAX_SHOWN).enumerate() {
            @if nth > 0 { ", " }
            span.assignment title=(value) { (name) " = " b { (shortened(value)) } }
        }
        @if values.len() > MAX_SHOWN { " and " (values.len() - MAX_SHOWN) " more" }
    }
}

/// The beginning of a text that may be long.
fn shortened(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A menu of actions for each agent that has a choice.
fn agent_choices(base: &str, view: &SimulatorView, state: &StateSteps) -> Markup {
    let choosing: Vec<_> = state.steps.agents.iter().filter(|(_, actions)| actions.len() > 1).collect();
    let fixed =
        |agent: &str| view.walk.fixed.iter().find(|(known, _)| known == agent).map(|(_, action)| action);
    html! {
        @if choosing.len() > 1 {
            div.agent-choices {
                @for (agent, actions) in choosing.iter().take(MAX_LISTED_AGENTS) {
                    form method="post" action={ (base) "/simulate/fix" } data-swap data-on-change {
                        input type="hidden" name="agent" value=(agent);
                        label { span { (agent) }
                            select name="action" id={ "action-of-" (agent) } {
                                option value="" { "any action" }
                                @for action in actions {
                                    option value=(action) selected[fixed(agent) == Some(action)] { (action) }
                                }
                            }
                        }
                        noscript { button { "Choose" } }
                    }
                }
                @if choosing.len() > MAX_LISTED_AGENTS { p.soft { "and " (choosing.len() - MAX_LISTED_AGENTS) " more agents with a choice" } }
            }
        }
    }
}

fn steps(base: &str, view: &SimulatorView, state: &StateSteps) -> Markup {
    let listed = &state.steps.steps;
    let choosing: Vec<&str> = state
        .steps
        .agents
        .iter()
        .filter(|(_, actions)| actions.len() > 1)
        .map(|(agent, _)| agent.as_str())
        .collect();
    html! {
        @if listed.items.is_empty() {
            div.note.unknown {
                @if state.steps.end.is_empty() { p { "No step is possible." } }
                @for reason in &state.steps.end { p { (reason) } }
            }
        }
        ol.step-list start=(view.page.offset + 1) {
            @for (nth, (step, changes)) in listed.items.iter().zip(&state.changes).enumerate() {
                li {
                    form method="post" action={ (base) "/simulate/step" } data-swap {
                        input type="hidden" name="to" value=(view.place);
                        input type="hidden" name="index" value=(view.page.offset + nth);
                        button.step data-key=[key_of(nth)] {
                            span.step-text { (step_text(&step.action, &step.text, &choosing)) }
                            span.changes {
                                @if changes.is_empty() { "nothing changes" } @else { (assignments(changes)) }
                            }
                        }
                    }
                }
            }
        }
        @if let Some(bound) = &state.steps.cut { p.soft { "There may be more steps: the bound " code { (bound) } " was reached." } }
        (more(base, view, listed.has_more, None))
        @if let (true, Some(count)) = (!state.steps.agents.is_empty(), &listed.count) {
            p.soft { (count) @if count == "1" { " joint action" } @else { " joint actions" } }
        }
    }
}

/// What happens in a step: of a joint action the agents that have a choice.
fn step_text(action: &masque_driver::trace::TraceAction, text: &str, choosing: &[&str]) -> Markup {
    use masque_driver::trace::TraceAction;
    html! {
        @match action {
            TraceAction::Joint(joint) => {
                @let shown: Vec<_> = joint.iter().filter(|(agent, _)| choosing.contains(&agent.as_str())).collect();
                @let shown = if shown.is_empty() { joint.iter().take(6).collect() } else { shown };
                @if shown.is_empty() { "the only step" }
                @for (nth, (agent, action)) in shown.iter().enumerate() {
                    @if nth > 0 { ", " }
                    span.act { span.soft { (agent) ": " } (action) }
                }
                @if choosing.is_empty() && joint.len() > shown.len() { span.soft { " …" } }
            },
            _ => (text),
        }
    }
}

/// Links to the other pages of a list of steps or states.
fn more(base: &str, view: &SimulatorView, has_more: bool, count: Option<&str>) -> Markup {
    let PageRange { offset, limit } = view.page;
    html! {
        @if offset > 0 || has_more {
            nav.pager aria-label="More choices" {
                @if offset > 0 { a href={ (base) (view.place) "?offset=" (offset.saturating_sub(limit)) } data-swap { "‹ previous" } }
                span { "from " (offset + 1) @if let Some(count) = count { " of " (count) } }
                @if has_more { a href={ (base) (view.place) "?offset=" (offset + limit) } data-swap { "next ›" } }
            }
        }
    }
}

fn formulas(base: &str, model: &ModelState, view: &SimulatorView) -> Markup {
    html! {
        section aria-labelledby="formulas" {
            h2 #formulas { "Formulas at this state" }
            form.ask method="post" action={ (base) "/simulate/formula" } data-swap {
                label.sr for="formula" { "A formula" }
                input #formula name="formula" type="text" autocomplete="off" spellcheck="false" placeholder="Type a formula, such as EF p";
                button { "Ask" }
                button formaction={ (base) "/simulate/path" } { "Walk to it" }
            }
            ul.truths {
                @for (nth, (text, truth)) in view.walk.formulas.iter().zip(&view.typed).enumerate() {
                    li {
                        (truth_line(text, truth))
                        div.truth-side {
                            (why_link(base, model, &format!("formula={nth}")))
                            form.inline method="post" action={ (base) "/simulate/forget" } data-swap {
                                input type="hidden" name="index" value=(nth);
                                button.link title="Remove this formula" { "remove" }
                            }
                        }
                    }
                }
                @for (nth, (property, truth)) in model.model.properties.iter().zip(&view.properties).enumerate() {
                    li {
                        (truth_line(&property.text, truth))
                        div.truth-side {
                            a.soft href={ (base) "/evidence/" (nth + 1) } { (property.title) }
                            (why_link(base, model, &format!("property={nth}")))
                        }
                    }
                }
            }
            @if let Some((title, text)) = &view.why {
                div.why { h3 { "Why? " code { (title) } } pre tabindex="0" { (text) } }
            }
        }
    }
}

fn why_link(base: &str, model: &ModelState, query: &str) -> Markup {
    html! {
        @if model.model.language == "ispl" { a.soft href={ (base) "/simulate?why&" (query) } data-swap { "why?" } }
    }
}

/// A formula with its truth, which opens to show its parts.
pub(crate) fn truth_line(text: &str, truth: &FormulaTruth) -> Markup {
    let whole = truth.parts.first();
    html! {
        @match (whole, &truth.error) {
            (Some(whole), _) if truth.parts.len() > 1 => {
                details.formula-tree {
                    summary { (truth_sign(whole.holds)) code { (text) } (unknown_why(whole.why.as_deref())) }
                    (formula_tree(&truth.parts[1..]))
                }
            },
            (Some(whole), _) => div.formula-line { (truth_sign(whole.holds)) code { (text) } (unknown_why(whole.why.as_deref())) },
            (None, error) => div.formula-line {
                (truth_sign(None)) code { (text) }
                @if let Some(error) = error { span.remark.error { (error) } }
            },
        }
    }
}

fn unknown_why(why: Option<&str>) -> Markup {
    html! { @if let Some(why) = why { span.soft { " " (why) } } }
}

/// The parts of a formula as a tree, coloured by their truth.
pub(crate) fn formula_tree(parts: &[PartTruth]) -> Markup {
    formula_tree_with(parts, |part| html! { code { (part.text) } })
}

/// The parts of a formula as a tree; `show` writes a part.
pub(crate) fn formula_tree_with(parts: &[PartTruth], show: impl Fn(&PartTruth) -> Markup) -> Markup {
    html! {
        ul.tree {
            @for part in parts {
                li style={ "--depth:" (part.depth) } class=[part.holds.map(|holds| if holds { "is-true" } else { "is-false" })] {
                    (truth_sign(part.holds)) (show(part))
                    @if part.is_repeated { span.soft { " as above" } }
                    (unknown_why(part.why.as_deref()))
                }
            }
        }
    }
}

/// A sign for true, false or unknown, which differs in shape, too.
pub(crate) fn truth_sign(holds: Option<bool>) -> Markup {
    html! {
        @match holds {
            Some(true) => span.truth.holds { span aria-hidden="true" { "✓" } span.sr { "true" } },
            Some(false) => span.truth.fails { span aria-hidden="true" { "✗" } span.sr { "false" } },
            None => span.truth.unknown { span aria-hidden="true" { "?" } span.sr { "unknown" } },
        }
    }
}

fn alike(base: &str, model: &ModelState, view: &SimulatorView) -> Markup {
    let agents = &model.model.agents;
    html! {
        @if model.model.language == "ispl" {
            section aria-labelledby="alike" {
                h2 #alike { "Who cannot distinguish this state?" }
                form.ask method="get" action={ (base) "/simulate" } data-swap data-on-change {
                    label { span.sr { "Agent" }
                        select name="alike" #alike-agent {
                            option value="" { "Choose an agent" }
                            @let chosen = view.alike.as_ref().map(|(agent, _)| agent.as_str());
                            @for agent in agents { option selected[chosen == Some(&agent.name)] { (agent.name) } }
                        }
                    }
                    noscript { button { "Show" } }
                }
                @match &view.alike {
                    None => {},
                    Some((_, Err(message))) => p.note.unknown { (message) },
                    Some((agent, Ok(found))) => (alike_states(agent, view, found)),
                }
            }
        }
    }
}

fn alike_states(agent: &str, view: &SimulatorView, found: &Listed<StateInfo>) -> Markup {
    let here = view.state.as_ref().map(|state| &state.values);
    html! {
        p {
            b { (agent) } " considers "
            b { (found.count.as_deref().unwrap_or("some")) }
            @if found.count.as_deref() == Some("1") { " state possible: this one." } @else { " states possible, this one included." }
        }
        ol.alike-states {
            @for state in &found.items {
                li {
                    @let differs = differences(&state.values, here);
                    @if differs.is_empty() { span.soft { "this state" } } @else { (assignments(&differs)) }
                }
            }
        }
        @if found.has_more { p.soft { "The first " (found.items.len()) " are shown." } }
    }
}

/// The walk so far.
fn path(base: &str, view: &SimulatorView) -> Markup {
    let Some(walk) = &view.walk.walk else { return html! {} };
    let WarmWalk { steps, .. } = walk;
    let position = view.walk.position;
    let first = position.saturating_sub(LISTED_STEPS / 2).min((steps.len() + 1).saturating_sub(LISTED_STEPS));
    let last = (first + LISTED_STEPS).min(steps.len() + 1);
    html! {
        section aria-labelledby="walk" {
            h2 #walk { "Walk" span.soft { " " (counted(steps.len(), "step", "steps")) } }
            ol.walk {
                @if first > 0 { li.soft { (counted(first, "state", "states")) " before" } }
                @for index in first..last {
                    li aria-current=[(index == position).then_some("step")] {
                        @if index > 0 { span.by { (short_step(&steps[index - 1])) } }
                        form method="post" action={ (base) "/simulate/go" } data-swap {
                            input type="hidden" name="position" value=(index);
                            button.place { "#" (index) }
                        }
                    }
                }
                @if last < steps.len() + 1 { li.soft { (counted(steps.len() + 1 - last, "state", "states")) " after" } }
            }
        }
    }
}

/// What happened in a step of the walk, in a few words.
fn short_step(step: &masque_driver::warm::WarmStep) -> String {
    const MAX_CHARS: usize = 120;
    let mut text: String = step.text.chars().take(MAX_CHARS).collect();
    if text.len() < step.text.len() {
        text.push('…');
    }
    text
}
