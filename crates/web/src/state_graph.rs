//! The state graph: states in columns by distance, coloured by a formula or by what an agent sees.

use std::sync::Arc;

use maud::{Markup, html};

use masque_driver::warm::Asked;
use masque_text::counted;

use crate::graph_layout::{Layout, layout};
use crate::page::{empty, values_table};
use crate::protocol::{Ask, GraphInfo, Reply};
use crate::responses::message;
use crate::state::{App, ModelState, lock};

/// Maximum number of states that are drawn.
pub(crate) const MAX_DRAWN_STATES: usize = 2000;
/// Radius of a state in the drawing, in pixels.
pub(crate) const RADIUS: f64 = 11.0;
/// Number of colours for classes.
pub(crate) const N_COLOURS: usize = 8;

/// What the user asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Formula that colours states.
    pub(crate) formula: Option<String>,
    /// Agent whose classes are shown.
    pub(crate) agent: Option<String>,
    /// Index of the selected state.
    pub(crate) selected: Option<usize>,
    /// Formula to which a shortest path is drawn.
    pub(crate) path: Option<String>,
    /// Whether the graph is asked for.
    pub(crate) is_shown: bool,
}

/// What a found graph depends on, besides the version of the model: the formula, the agent and the path.
type Asking = (Option<String>, Option<String>, Option<String>);

/// The graph that was found last. A click on a state needs no other.
pub(crate) struct KnownGraph {
    version: u64,
    asking: Asking,
    found: Arc<Found>,
}

/// The graph, and what was asked about it.
pub(crate) struct Found {
    graph: Result<GraphInfo, String>,
    /// Places of the states of the graph.
    layout: Layout,
    /// Indices of the states of the path.
    path: Vec<usize>,
    note: Option<String>,
}

/// Finds what the page shows. The last result is kept, so that a click on a state asks nothing.
pub(crate) async fn find(app: &App, options: &Options) -> Arc<Found> {
    let version = app.model().version;
    let asking = (options.formula.clone(), options.agent.clone(), options.path.clone());
    if let Some(known) = &*lock(&app.graph)
        && (known.version, &known.asking) == (version, &asking)
    {
        return Arc::clone(&known.found);
    }
    let found = Arc::new(ask(app, options).await);
    if found.graph.as_ref().is_ok_and(|graph| graph.error.is_none()) {
        *lock(&app.graph) = Some(KnownGraph { version, asking, found: Arc::clone(&found) });
    }
    found
}

async fn ask(app: &App, options: &Options) -> Found {
    let mut found =
        Found { graph: Err(String::new()), layout: Layout::default(), path: Vec::new(), note: None };
    let mut asker = match app.asker().await {
        Ok(asker) => asker,
        Err(error) => return Found { graph: Err(message(error)), ..found },
    };
    let ask = Ask::Graph {
        max_states: MAX_DRAWN_STATES,
        formula: options.formula.clone().map(Asked::Formula),
        agent: options.agent.clone(),
    };
    found.graph = match asker.ask(&ask).await {
        Ok(Reply::Graph(graph)) => Ok(graph),
        Ok(_) => Err("unexpected reply".to_string()),
        Err(message) => Err(message),
    };
    if let Ok(GraphInfo { graph, .. }) = &found.graph {
        let steps: Vec<(usize, usize)> = graph.edges.iter().map(|(from, to, _)| (*from, *to)).collect();
        found.layout = layout(graph.states.len(), graph.n_initial, &steps);
    }
    if let (Ok(graph), Some(goal)) = (&found.graph, &options.path) {
        let ask = Ask::PathTo { formula: Asked::Formula(goal.clone()), from: None };
        match asker.ask(&ask).await {
            Ok(Reply::Path(Some(info))) => {
                let steps = info.walk.steps.iter().map(|step| step.to);
                let index = |state: usize| graph.graph.states.iter().position(|&other| other == state);
                found.path = std::iter::once(info.walk.start).chain(steps).filter_map(index).collect();
                let n_steps = info.walk.steps.len();
                found.note = Some(match n_steps {
                    0 => "The formula is true at an initial state.".to_string(),
                    n => format!("A shortest path has {}.", counted(n, "step", "steps")),
                });
            }
            Ok(_) => found.note = Some("No reachable state satisfies the formula.".to_string()),
            Err(message) => found.note = Some(message),
        }
    }
    found
}

pub(crate) fn state_graph(
    base: &str,
    model: &ModelState,
    options: &Options,
    found: Option<&Found>,
    max_states: usize,
) -> Markup {
    html! {
        h1 { "State graph" }
        @if !model.model.has_model { (empty("There is no model yet; the overview shows why.")) }
        @else {
            form.graph-options method="get" action={ (base) "/graph" } data-swap {
                input type="hidden" name="show" value="1";
                label { "Colour by formula" input name="formula" id="graph-formula" type="text" autocomplete="off" spellcheck="false" value=[options.formula.as_deref()] placeholder="any formula"; }
                @if model.model.language == "ispl" {
                    label { "Classes of agent"
                        select name="agent" id="graph-agent" {
                            option value="" { "none" }
                            @for agent in &model.model.agents { option selected[options.agent.as_deref() == Some(&agent.name)] { (agent.name) } }
                        }
                    }
                }
                label { "Shortest path to" input name="path" id="graph-path" type="text" autocomplete="off" spellcheck="false" value=[options.path.as_deref()] placeholder="any formula"; }
                button { "Draw" }
            }
            @match found {
                None => p.empty { "The graph is searched for when you press Draw: at most " (max_states) " states, nearest to the initial states first." },
                Some(Found { graph: Err(message), .. }) => p.note.fails { (message) },
                Some(Found { graph: Ok(graph), path, note, layout }) => {
                    @for text in note.iter().chain(&graph.error) { p.note.unknown { (text) } }
                    p.soft {
                        (counted(graph.graph.states.len(), "state", "states")) ", " (counted(graph.graph.edges.len(), "edge", "edges")) ". "
                        @if let Some(cut) = &graph.graph.cut { (cut) " The drawing has at most " (max_states) "." }
                        @if !graph.classes.is_empty() {
                            " " (counted(graph.classes.iter().max().map_or(0, |last| last + 1), "class", "classes")) " of states that " (options.agent.as_deref().unwrap_or_default()) " cannot distinguish."
                        }
                    }
                    div.graph-view {
                        (drawing(base, options, graph, (path, layout)))
                        aside.inspector #graph-state { (selected(options, graph)) }
                    }
                },
            }
        }
    }
}

/// The address of this page with another selected state.
fn address(base: &str, options: &Options, state: usize) -> String {
    let mut address = format!("{base}/graph?show=1&state={state}");
    for (name, value) in [("formula", &options.formula), ("agent", &options.agent), ("path", &options.path)] {
        if let Some(value) = value {
            address += &format!("&{name}={}", encoded(value));
        }
    }
    address
}

/// A text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => out.push(byte as char),
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

fn drawing(base: &str, options: &Options, info: &GraphInfo, (path, places): (&[usize], &Layout)) -> Markup {
    let on_path = |from: usize, to: usize| path.windows(2).any(|pair| pair == [from, to]);
    let size = format!("0 0 {:.0} {:.0}", places.width, places.height);
    html! {
        div.drawing.graph-drawing tabindex="0" role="region" aria-label="State graph" {
            svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox=(size) width=(format!("{:.0}", places.width)) height=(format!("{:.0}", places.height)) {
                title { "State graph" }
                @for (from, to, labels) in &info.graph.edges {
                    path class={ "edge" @if on_path(*from, *to) { " on-path" } } d=(edge(places, *from, *to)) marker-end="url(#arrow)" {
                        title { (labels.iter().take(5).cloned().collect::<Vec<_>>().join("\n")) }
                    }
                }
                @for index in 0..info.graph.states.len() {
                    a href=(address(base, options, index)) data-state=(index) {
                        (node(options, info, index, places.places[index], path.contains(&index)))
                    }
                }
            }
        }
    }
}

fn node(options: &Options, info: &GraphInfo, index: usize, (x, y): (f64, f64), is_on_path: bool) -> Markup {
    let truth = match info.truths.get(index) {
        Some(Some(true)) => " is-true",
        Some(Some(false)) => " is-false",
        _ => "",
    };
    let class =
        info.classes.get(index).map_or(String::new(), |class| format!(" agent-{}", class % N_COLOURS));
    let flags = [
        (index < info.graph.n_initial, " initial"),
        (options.selected == Some(index), " selected"),
        (is_on_path, " on-path"),
        (!info.graph.expanded.get(index).copied().unwrap_or(true), " unexpanded"),
    ];
    let flags: String = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, name)| name).collect();
    let values = info.values[index].iter().take(40).map(|(name, value)| format!("{name} = {value}"));
    html! {
        g class={ "node" (truth) (class) (flags) } {
            title { "#" (index) "\n" (values.collect::<Vec<_>>().join("\n")) }
            circle cx=(format!("{x:.1}")) cy=(format!("{y:.1}")) r=(RADIUS) {}
            text x=(format!("{x:.1}")) y=(format!("{:.1}", y + 3.5)) { (index) }
        }
    }
}

fn edge(layout: &Layout, from: usize, to: usize) -> String {
    line_between(layout.places[from], layout.places[to])
}

/// The line of a step between two states, from border to border.
pub(crate) fn line_between((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    if (x1, y1) == (x2, y2) {
        let (left, right, top) = (x1 - 6.0, x1 + 6.0, y1 - RADIUS + 1.5);
        return format!(
            "M{left:.1} {top:.1} C{:.1} {:.1} {:.1} {:.1} {right:.1} {top:.1}",
            left - 8.0,
            top - 18.0,
            right + 8.0,
            top - 18.0
        );
    }
    let (dx, dy) = (x2 - x1, y2 - y1);
    let length = dx.hypot(dy).max(1.0);
    let (ux, uy) = (dx / length, dy / length);
    let (sx, sy) = (x1 + ux * RADIUS, y1 + uy * RADIUS);
    let (ex, ey) = (x2 - ux * (RADIUS + 1.0), y2 - uy * (RADIUS + 1.0));
    // A step back, or within a column, is bent so that it does not hide the step in the other direction.
    let bend = if dx > 1.0 { 0.0 } else { (length / 4.0).min(40.0) };
    let (mx, my) = ((sx + ex) / 2.0 - uy * bend, (sy + ey) / 2.0 + ux * bend);
    format!("M{sx:.1} {sy:.1} Q{mx:.1} {my:.1} {ex:.1} {ey:.1}")
}

/// The selected state, as a part of the page.
pub(crate) fn selected_part(options: &Options, found: &Found) -> Markup {
    match &found.graph {
        Ok(graph) => selected(options, graph),
        Err(message) => empty(message),
    }
}

fn selected(options: &Options, info: &GraphInfo) -> Markup {
    let Some(index) = options.selected.filter(|index| *index < info.values.len()) else {
        return empty("Click a state to see its variables and its steps.");
    };
    let steps: Vec<_> = info.graph.edges.iter().filter(|(from, ..)| *from == index).collect();
    html! {
        h2 { "State #" (index) }
        (values_table(&info.values[index], None))
        h3 { "Steps" }
        ul.graph-steps {
            @for (_, to, labels) in steps.iter().take(40) {
                li { "to #" (to) @if let Some(label) = labels.first() { span.soft { " " (label) @if labels.len() > 1 { " and " (labels.len() - 1) " more" } } } }
            }
        }
        @if steps.is_empty() { (empty("none")) }
    }
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn addresses_have_plain_characters_only() {
        assert_eq!(encoded("EF (a & b)<script>"), "EF%20%28a%20%26%20b%29%3Cscript%3E");
    }
}
