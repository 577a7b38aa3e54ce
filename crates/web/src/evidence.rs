//! Evidence: the drawing, its runs step by step, and the formula at the selected state.

use maud::{Markup, PreEscaped, html};

use crate::page::{empty, values_table, verdict};
use crate::protocol::{AgentInfo, EvidenceInfo, FormulaTruth, RunInfo, Values};
use crate::simulator::{formula_tree_with, truth_sign};
use crate::state::{CheckState, ModelState};
use crate::state_comparison::comparison;
use crate::state_graph::encoded;

/// The list of properties, if none is chosen.
pub(crate) fn chooser(base: &str, model: &ModelState) -> Markup {
    html! {
        h1 { "Evidence" }
        @match model.checked() {
            None => (waiting(model)),
            Some(info) => {
                ul.properties {
                    @for (index, (property, found)) in model.model.properties.iter().zip(&info.verdicts).enumerate().take(1000) {
                        li.property {
                            div.verdict-cell { (verdict(&found.word, found.reason.as_deref())) }
                            div.property-text {
                                a.property-name href={ (base) "/evidence/" (index + 1) } { (property.title) }
                                code.formula { (property.text) }
                            }
                            div.property-side { @if !found.has_evidence { span.soft { "no evidence" } } }
                        }
                    }
                }
            }
        }
    }
}

fn waiting(model: &ModelState) -> Markup {
    match model.check {
        CheckState::Loading | CheckState::Running(_) => {
            empty("The check is running. The page follows when it ends.")
        }
        CheckState::NotChecked => empty("There is no model to check; the overview shows why."),
        _ => empty("There is no result; check again from the overview."),
    }
}

/// The evidence of a property.
pub(crate) fn evidence(
    base: &str,
    model: &ModelState,
    index: usize,
    info: Option<&EvidenceInfo>,
    (selected, inspector): (Option<usize>, &Markup),
) -> Markup {
    let (Some(property), found) =
        (model.model.properties.get(index), model.checked().and_then(|info| info.verdicts.get(index)))
    else {
        return empty("There is no property with this number.");
    };
    let n_properties = model.model.properties.len();
    html! {
        nav.pager.top-pager aria-label="Properties" {
            @if index > 0 { a href={ (base) "/evidence/" (index) } data-key="p" { "‹ previous" } }
            a href={ (base) "/evidence" } { "all properties" }
            @if index + 1 < n_properties { a href={ (base) "/evidence/" (index + 2) } data-key="n" { "next ›" } }
        }
        h1.property-title {
            @if let Some(found) = found { (verdict(&found.word, found.reason.as_deref())) " " }
            (property.title)
        }
        code.formula.large { (property.text) }
        @match (found, info) {
            (None, _) => (waiting(model)),
            (Some(_), None) => (empty("There is no evidence for this property.")),
            (Some(_), Some(info)) if info.runs.is_empty() && info.states.is_empty() => {
                div.evidence {
                    div.evidence-body { (PreEscaped(&info.html)) }
                    aside.inspector aria-label="Initial state" { (inspector) }
                }
            },
            (Some(_), Some(info)) => {
                div.evidence data-property=(index + 1) {
                    div.evidence-body data-keep={ "evidence-" (model.version) "-" (index) } {
                        @if !info.legend.is_empty() {
                            p.legend { @for (nth, item) in info.legend.iter().enumerate() { @if nth > 0 { " · " } (PreEscaped(item)) } }
                        }
                        (PreEscaped(&info.html))
                    }
                    aside.inspector aria-label="Selected state" {
                        (runs(base, index, info, selected))
                        div #inspector data-selected=[selected] { (inspector) }
                    }
                }
            },
        }
    }
}

/// A slider for each run, at the step of the selected state if the run has it.
fn runs(base: &str, index: usize, info: &EvidenceInfo, selected: Option<usize>) -> Markup {
    let current = selected.and_then(|state| info.run_with(state));
    html! {
        @for (nth, run) in info.runs.iter().enumerate().take(24) {
            @if run.states.len() > 1 {
                @let step = run.states.iter().position(|&state| Some(state) == selected).unwrap_or(0);
                @let is_current = current.is_some_and(|(current, _)| current == nth);
                div.run data-run=(nth) data-states=(list(&run.states)) data-current[is_current] {
                    label for={ "run-" (nth) } { (run.name) }
                    input id={ "run-" (nth) } type="range" min="0" max=(run.states.len() - 1) value=(step) step="1" list={ "ticks-" (nth) };
                    output for={ "run-" (nth) } { "step " (step) " of " (run.states.len() - 1) }
                    (plain_steps(base, index, run))
                }
            }
        }
    }
}

fn list(states: &[usize]) -> String {
    states.iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}

/// Links to the states of a run, for browsers without scripts.
fn plain_steps(base: &str, index: usize, run: &RunInfo) -> Markup {
    html! {
        noscript {
            p { @for state in run.states.iter().take(200) { a href={ (base) "/evidence/" (index + 1) "?state=" (state) } { "#" (state) } " " } }
        }
    }
}

/// What is known about the selected state.
pub(crate) struct Selected {
    /// Number of the state in the evidence.
    pub(crate) state: usize,
    /// Number of the state before it on a run.
    pub(crate) before: Option<usize>,
    pub(crate) truth: Result<FormulaTruth, String>,
    /// Values that the evidence does not list, from the model.
    pub(crate) values: Option<Values>,
    /// Run and position at which the simulator can begin.
    pub(crate) start: Option<(usize, usize)>,
    /// A part of the formula, and why it is true or false here.
    pub(crate) why: Option<(String, String)>,
    /// Whether the formula says what an agent knows.
    pub(crate) is_about_knowledge: bool,
    /// Whether parts of formulas have reasons in this language.
    pub(crate) has_reasons: bool,
}

/// The selected state: its variables, and the formula coloured by truth.
pub(crate) fn inspector(
    base: &str,
    index: usize,
    (info, agents): (&EvidenceInfo, &[AgentInfo]),
    selected: &Selected,
) -> Markup {
    let Some(listed) = info.states.get(selected.state) else { return empty("There is no such state.") };
    let values = selected.values.as_ref().filter(|_| listed.is_empty()).unwrap_or(listed);
    let before = selected.before.and_then(|before| info.states.get(before));
    html! {
        h2 { "State #" (selected.state) }
        @if let Some((run, position)) = selected.start {
            form.inline method="post" action={ (base) "/simulate/follow" } {
                input type="hidden" name="property" value=(index);
                input type="hidden" name="run" value=(run);
                input type="hidden" name="position" value=(position);
                button { "Simulate from here" }
            }
        }
        @match &selected.truth {
            Ok(truth) => {
                h3 { "The formula here" }
                @match &truth.error {
                    Some(error) => p.note.unknown { (error) },
                    None => (formula_tree_with(&truth.parts, |part| part_link(base, index, selected, &part.text))),
                }
            },
            Err(message) => p.soft { (message) },
        }
        @if let Some((text, why)) = &selected.why {
            div.why { h3 { "Why? " code { (text) } } pre tabindex="0" { (why) } }
        }
        @if selected.is_about_knowledge { (comparison(base, index, (info, agents), selected.state)) }
        h3 { "Variables" }
        @if values.is_empty() { (empty("The evidence does not list the values of this state.")) }
        (values_table(values, before))
    }
}

/// An initial state, for a verdict without evidence.
pub(crate) struct InitialState {
    /// Position of the state in the list of initial states.
    pub(crate) position: usize,
    /// Number of initial states that can be chosen.
    pub(crate) n_listed: usize,
    pub(crate) values: Values,
    pub(crate) truth: Result<FormulaTruth, String>,
}

/// The variables of an initial state, and the formula coloured by truth there.
pub(crate) fn initial_inspector(base: &str, index: usize, shown: &InitialState) -> Markup {
    html! {
        h2 { "Initial state" @if shown.n_listed > 1 { " " (shown.position + 1) } }
        @if shown.n_listed > 1 {
            p { @for other in 0..shown.n_listed {
                a href={ (base) "/evidence/" (index + 1) "?initial=" (other) } aria-current=[(other == shown.position).then_some("true")] { (other + 1) } " "
            } }
        }
        form.inline method="post" action={ (base) "/simulate/begin" } {
            input type="hidden" name="index" value=(shown.position);
            button { "Simulate from here" }
        }
        @match &shown.truth {
            Ok(truth) => {
                h3 { "The formula here" }
                @match &truth.error {
                    Some(error) => p.note.unknown { (error) },
                    None => (formula_tree_with(&truth.parts, |part| html! { code { (part.text) } })),
                }
            },
            Err(message) => p.soft { (message) },
        }
        h3 { "Variables" }
        (values_table(&shown.values, None))
    }
}

/// A part of the formula, which leads to the reason for its truth.
fn part_link(base: &str, index: usize, selected: &Selected, text: &str) -> Markup {
    html! {
        @if selected.has_reasons {
            a.reason href={ (base) "/evidence/" (index + 1) "?state=" (selected.state) "&why=" (encoded(text)) } data-inspect title="Why?" { code { (text) } }
        } @else { code { (text) } }
    }
}

/// The inspector before a state is selected.
pub(crate) fn nothing_selected() -> Markup {
    html! {
        p.empty {
            "Click a state in the drawing, or move the slider, to see its variables and which parts of the formula are true "
            (truth_sign(Some(true))) " or false " (truth_sign(Some(false))) " there. Keys: ← and →."
        }
    }
}
