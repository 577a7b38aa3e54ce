//! The worlds of a BDI file: a box for each, with its states and steps, dotted lines for what an attitude makes
//! accessible, and the states that synthesis removed with their reasons.

use masque_text::counted;
use maud::{Markup, html};

use crate::graph_layout::{Layout, layout};
use crate::page::{empty, values_table};
use crate::protocol::{WorldState, WorldsInfo};
use crate::state_graph::{N_COLOURS, RADIUS, line_between};

/// Maximum number of accessibility lines that are drawn without a selected state.
const MAX_LINES: usize = 160;
/// Height of the title of a world, in pixels.
const TITLE_HEIGHT: f64 = 30.0;
/// Minimum width of a world, in pixels.
const MIN_WIDTH: f64 = 240.0;
/// Distance between two worlds, in pixels.
const GAP: f64 = 44.0;

/// A world in the drawing.
struct Panel<'i> {
    name: &'i str,
    /// Indices of its states.
    states: Vec<usize>,
    layout: Layout,
    /// Upper edge, in pixels.
    top: f64,
}

pub(crate) fn worlds(base: &str, info: &WorldsInfo, selected: Option<usize>) -> Markup {
    let selected = selected.filter(|index| *index < info.states.len());
    let panels = panels(info);
    let attitudes = attitudes(info);
    let is_all_drawn = info.access.len() <= MAX_LINES;
    html! {
        h1 { "Worlds" }
        p.soft {
            (counted(panels.len(), "world", "worlds")) ", " (counted(info.states.len(), "state", "states")) ". "
            @if let Some(cut) = &info.cut { (cut) }
        }
        @for sentence in &info.summary { p.note.unknown { (sentence) } }
        p.legend {
            @for (nth, attitude) in attitudes.iter().enumerate() {
                @if nth > 0 { " · " }
                span class={ "key agent-" (nth % N_COLOURS) } {
                    svg width="34" height="10" aria-hidden="true" { path class={ "alike agent-" (nth % N_COLOURS) } d="M1 5 H33" {} }
                    " accessible by " code { (attitude) }
                }
            }
            " · a thick border is an initial state, a dashed red one was removed"
            @if !is_all_drawn { " · accessible states are drawn for the selected state only" }
        }
        div.graph-view {
            (drawing(base, info, &panels, &attitudes, selected, is_all_drawn))
            aside.inspector { (inspector(info, selected)) }
        }
    }
}

/// The names of the attitudes that make states accessible, in the order of their first line.
fn attitudes(info: &WorldsInfo) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for (_, _, label) in &info.access {
        if !found.contains(&label.as_str()) {
            found.push(label);
        }
    }
    found
}

/// The worlds in the order in which they are reached, one below the other.
fn panels(info: &WorldsInfo) -> Vec<Panel<'_>> {
    let mut panels: Vec<Panel<'_>> = Vec::new();
    for (index, WorldState { world, .. }) in info.states.iter().enumerate() {
        match panels.iter_mut().find(|panel| panel.name == world) {
            Some(panel) => panel.states.push(index),
            None => {
                panels.push(Panel { name: world, states: vec![index], layout: Layout::default(), top: 0.0 })
            }
        }
    }
    let is_first = first_states(info);
    let mut top = 10.0;
    for panel in &mut panels {
        panel.states.sort_by_key(|index| (!is_first[*index], *index));
        let n_first = panel.states.iter().filter(|index| is_first[**index]).count().max(1);
        let local = |state: usize| panel.states.iter().position(|&other| other == state);
        let inside = |(from, to, _): &(usize, usize, Vec<String>)| Some((local(*from)?, local(*to)?));
        let steps: Vec<(usize, usize)> = info.steps.iter().filter_map(inside).collect();
        panel.layout = layout(panel.states.len(), n_first, &steps);
        panel.layout.width = panel.layout.width.max(MIN_WIDTH);
        panel.top = top;
        top += panel.layout.height + TITLE_HEIGHT + GAP;
    }
    panels
}

/// For each state, whether its world begins there: it is initial, or it is the first state of a world that another
/// world makes accessible.
fn first_states(info: &WorldsInfo) -> Vec<bool> {
    let mut is_first: Vec<bool> = info.states.iter().map(|state| state.is_initial).collect();
    let mut begun: Vec<&str> =
        info.states.iter().filter(|state| state.is_initial).map(|state| state.world.as_str()).collect();
    let mut accessible: Vec<usize> = info.access.iter().map(|(_, to, _)| *to).collect();
    accessible.sort_unstable();
    for state in accessible {
        let world = info.states[state].world.as_str();
        if !begun.contains(&world) {
            begun.push(world);
            is_first[state] = true;
        }
    }
    is_first
}

/// The place of a state in the whole drawing.
fn place(panels: &[Panel<'_>], state: usize) -> (f64, f64) {
    for panel in panels {
        if let Some(local) = panel.states.iter().position(|&other| other == state) {
            let (x, y) = panel.layout.places[local];
            return (x + 16.0, y + panel.top + TITLE_HEIGHT);
        }
    }
    (0.0, 0.0)
}

fn drawing(
    base: &str,
    info: &WorldsInfo,
    panels: &[Panel<'_>],
    attitudes: &[&str],
    selected: Option<usize>,
    is_all_drawn: bool,
) -> Markup {
    let places: Vec<(f64, f64)> = (0..info.states.len()).map(|state| place(panels, state)).collect();
    let width = panels.iter().map(|panel| panel.layout.width).fold(200.0, f64::max) + 40.0;
    let height = panels.last().map_or(100.0, |last| last.top + last.layout.height + TITLE_HEIGHT + 10.0);
    let is_drawn = |from: usize, to: usize| is_all_drawn || selected == Some(from) || selected == Some(to);
    let colour = |label: &str| attitudes.iter().position(|known| *known == label).unwrap_or(0) % N_COLOURS;
    html! {
        div.drawing.graph-drawing tabindex="0" role="region" aria-label="Worlds" {
            svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox=(format!("0 0 {width:.0} {height:.0}")) width=(format!("{width:.0}")) height=(format!("{height:.0}")) {
                title { "Worlds" }
                @for panel in panels {
                    rect.world x="6" y=(format!("{:.1}", panel.top)) width=(format!("{:.1}", panel.layout.width + 20.0)) height=(format!("{:.1}", panel.layout.height + TITLE_HEIGHT)) rx="10" {}
                    text.number x="18" y=(format!("{:.1}", panel.top + 20.0)) { (panel.name) }
                }
                @for (from, to, label) in info.access.iter().filter(|(from, to, _)| is_drawn(*from, *to)) {
                    path class={ "alike agent-" (colour(label)) } d=(line_between(places[*from], places[*to])) { title { (label) } }
                }
                @for (from, to, labels) in &info.steps {
                    path.edge d=(line_between(places[*from], places[*to])) marker-end="url(#arrow)" { title { (labels.join("\n")) } }
                }
                @for (index, state) in info.states.iter().enumerate() {
                    a href={ (base) "/worlds?state=" (index) } data-swap { (node(state, index, places[index], selected == Some(index))) }
                }
            }
        }
    }
}

fn node(state: &WorldState, index: usize, (x, y): (f64, f64), is_selected: bool) -> Markup {
    let flags =
        [(state.is_initial, " initial"), (state.removed.is_some(), " removed"), (is_selected, " selected")];
    let flags: String = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect();
    let values = state.values.iter().map(|(name, value)| format!("{name} = {value}"));
    let lines: Vec<String> = values.chain(state.removed.iter().flatten().cloned()).collect();
    html! {
        g class={ "node" (flags) } {
            title { "#" (index) "\n" (lines.join("\n")) }
            circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r=(RADIUS) {}
            text x=(format!("{x:.1}")) y=(format!("{:.1}", y + 3.5)) { (index) }
        }
    }
}

fn inspector(info: &WorldsInfo, selected: Option<usize>) -> Markup {
    let Some(index) = selected else {
        return empty(
            "Click a state to see its values, what is accessible from it, and why it was removed if it was.",
        );
    };
    let state = &info.states[index];
    let accessible: Vec<_> = info.access.iter().filter(|(from, ..)| *from == index).collect();
    let steps: Vec<_> = info.steps.iter().filter(|(from, ..)| *from == index).collect();
    html! {
        h2 { "State #" (index) " of " code { (state.world) } }
        @if let Some(why) = &state.removed {
            div.note.fails { p { "Removed by synthesis." } @for reason in why { p { (reason) } } }
        }
        (values_table(&state.values, None))
        @if !steps.is_empty() {
            h3 { "Steps" }
            ul.graph-steps { @for (_, to, labels) in steps.iter().take(40) { li { "to #" (to) span.soft { " " (labels.join(", ")) } } } }
        }
        @if !accessible.is_empty() {
            h3 { "Accessible" }
            ul.graph-steps { @for (_, to, label) in accessible.iter().take(60) { li { code { (label) } " #" (to) } } }
            @if accessible.len() > 60 { p.soft { "and " (accessible.len() - 60) " more" } }
        }
    }
}
