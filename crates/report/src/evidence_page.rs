//! The part of a page about one model: the overview, and the evidence of each property as drawings and tables.

use std::fmt::{self, Write};
use std::io;

use masque_driver::{Because, Decision, EvidencePath, Model, PropertyText, Shown, System, Trace};

use crate::chart_layout::{Chart, EVENTS_AT_EACH_END, Fate, event_text};
use crate::chart_svg::write_chart;
use crate::evidence_context::EvidenceContext;
use crate::evidence_text::number;
use crate::folded::folded;
use crate::graph::{AlikeKind, Graph, GraphLimits, Mark};
use crate::graph_svg::{N_COLOURS, escaped, write_svg};
use crate::html::{ModelPart, Page, Section};
use crate::html_strategy::write_coalitions;
use crate::html_tables::{TableView, has_table, write_run_table};
use crate::run_table::RunTable;
use crate::summary::{size, summary};
use crate::text::{Text, after};
use crate::wording::{plural, shortened};
use crate::{DiagnosticReport, ExplanationReport, PathReport, RunReport, Subject, run_report};

/// Maximum number of characters of a formula in a heading.
const MAX_FORMULA_CHARS: usize = 1000;
/// Maximum number of events in the description of a chart for screen readers.
const MAX_DESCRIBED_EVENTS: usize = 200;
/// Limits of the whole drawing, which is drawn below a cut one. Tables have no limits.
const WHOLE_DRAWING: GraphLimits = GraphLimits { at_each_end: 250, cards: 600, ..GraphLimits::NONE };
/// Number of events at each end of a chart in the whole drawing.
const EVENTS_OF_WHOLE_CHART: usize = 500;
/// Maximum number of runs of one property that are shown as tables. The words below them have all.
const MAX_TABLES: usize = 24;

/// Adds the part of a model to a page.
pub(crate) fn add_model(page: &mut Page, text: Text, subject: Subject<'_>) -> io::Result<()> {
    let report = run_report(subject, false);
    let mut part = ModelPart {
        name: subject.loaded.name(),
        summary: summary(&report, subject.loaded),
        facts: facts(&report, subject),
        messages: messages(&report, subject.loaded.system().map(|system| &**system)),
        ..ModelPart::default()
    };
    if let Some(model) = &subject.loaded.model {
        for (property, decision) in &subject.answers() {
            let about = (property, *decision);
            let body = property_section(page, &mut part.legend, text, (model, &part.name), about)?;
            part.sections.push(Section {
                word: decision.verdict.word(),
                verdict: decision.verdict.to_string(),
                name: property.title.clone(),
                formula: shortened(property.text.clone(), MAX_FORMULA_CHARS),
                body,
                is_bare: decision.evidence.is_none(),
            });
        }
    }
    page.add(part);
    Ok(())
}

/// Writes the evidence of a property as drawings, tables and words. Drawings that are on the page already are
/// linked.
pub(crate) fn property_section(
    page: &mut Page,
    legend: &mut Vec<String>,
    text: Text,
    (model, file): (&Model, &str),
    (property, decision): (&PropertyText, &Decision),
) -> io::Result<String> {
    let mut writer = SectionWriter { page, model, body: String::new(), legend };
    writer.evidence(property, decision, file).map_err(io::Error::other)?;
    if let Some(shown) = &decision.evidence {
        let mut words = Vec::new();
        text.shown(&mut words, model, shown)?;
        writer.in_words(&String::from_utf8_lossy(&words)).map_err(io::Error::other)?;
    }
    Ok(writer.body)
}

/// Facts about a model and its check.
fn facts(report: &RunReport, subject: Subject<'_>) -> Vec<(&'static str, String)> {
    let list = |entries: Vec<String>| {
        let items: Vec<String> =
            entries.iter().map(|entry| format!("<code>{}</code>", escaped(entry))).collect();
        items.join(", ")
    };
    let mut facts = Vec::new();
    if report.files.len() > 1 {
        facts.push(("Files", list(report.files.clone())));
    }
    facts.extend(report.language.iter().map(|language| ("Language", escaped(&language.to_uppercase()))));
    facts.extend(subject.loaded.model.iter().map(|model| ("Model", escaped(&size(model)))));
    if !report.parameters.0.is_empty() {
        let all = report.parameters.0.iter().map(|(name, value)| format!("{name} = {value}"));
        facts.push(("Parameters", list(all.collect())));
    }
    if !report.options.0.is_empty() {
        let all = report.options.0.iter().map(|(name, value)| format!("{name} = {value}"));
        facts.push(("Options", list(all.collect())));
    }
    facts.extend(report.states.iter().map(|states| ("Reachable states", escaped(states))));
    if subject.run.is_none() {
        facts.push(("Check", "The file was not checked.".to_string()));
    }
    facts
}

/// The errors, warnings and notes, each an item of a list.
fn messages(report: &RunReport, system: Option<&System>) -> Vec<String> {
    let mut paths: Vec<(&str, &PathReport)> = Vec::new();
    let mut items = Vec::new();
    for diagnostic in &report.diagnostics {
        let mut item = message(diagnostic);
        if let (Some(path), Some(_)) = (&diagnostic.path, system) {
            match paths.iter().find(|(_, known)| known.states == path.states) {
                Some((code, _)) => _ = write!(item, "<br>The path is the same as for <code>{code}</code>."),
                None => {
                    let table = RunTable::of_report(path);
                    if has_table(&table, TableView::Variables) {
                        _ = write!(item, "<details><summary>A path to it: {}</summary>", table.size());
                        _ = write_run_table(&mut item, &table, TableView::Variables, "Path");
                        item += "</details>";
                    }
                    paths.push((&diagnostic.code, path));
                }
            }
        }
        items.push(format!("{item}</li>"));
    }
    items
}

/// The start of an item: severity, code, message, place and help.
fn message(diagnostic: &DiagnosticReport) -> String {
    let DiagnosticReport { code, severity, message, help, spans, .. } = diagnostic;
    let place = spans.iter().find(|span| span.primary).map_or(String::new(), |span| {
        format!(" ({}:{}:{})", escaped(&span.file), span.start.line, span.start.column)
    });
    let help = help.as_ref().map_or(String::new(), |help| format!("<br>{}", escaped(help)));
    let message = escaped(message);
    format!(
        r#"<li class="{severity}"><span class="severity">{severity}</span> <code>{code}</code>: {message}{place}{help}"#
    )
}

/// Writes the section of a property.
struct SectionWriter<'a> {
    page: &'a mut Page,
    model: &'a Model,
    body: String,
    legend: &'a mut Vec<String>,
}

impl SectionWriter<'_> {
    /// Writes drawings and tables of the evidence for a verdict.
    fn evidence(&mut self, property: &PropertyText, decision: &Decision, file: &str) -> fmt::Result {
        for remark in &decision.remarks {
            writeln!(self.body, "<p>Note: {}</p>", escaped(remark))?;
        }
        if let Some(why) = &decision.withheld {
            writeln!(self.body, "<p>Evidence withheld: {}</p>", escaped(why))?;
        }
        let Some(shown) = &decision.evidence else {
            return writeln!(self.body, "<p>There is no evidence.</p>");
        };
        let (title, verdict) = (&property.title, decision.verdict);
        writeln!(self.body, "<p>{} {verdict}{}.</p>", escaped(title), escaped(&after(self.model, shown)))?;
        let formula = shortened(property.text.clone(), MAX_FORMULA_CHARS);
        let caption = format!("{file}: {title} {verdict}: {formula}");
        match (shown, self.model) {
            (Shown::Reasons(evidence), Model::Ispl(system)) => {
                let context = EvidenceContext::new(system, evidence);
                self.reasons(&context, &caption)
            }
            (Shown::Trace(trace), _) => self.trace(trace, &caption),
            (Shown::Worlds(explanation), Model::Bdi(worlds)) => {
                self.worlds(&ExplanationReport::new(worlds, explanation), &caption)
            }
            (Shown::Run(path), _) => {
                let draw = |limits| Graph::of_labels(path, limits);
                let table = RunTable::of_labels(path);
                self.pair(&draw, &caption, |writer| writer.tables(&table, "Path", true))
            }
            _ => Ok(()),
        }
    }

    fn reasons(&mut self, context: &EvidenceContext<'_>, caption: &str) -> fmt::Result {
        let draw = |limits| Graph::new(context, limits);
        let runs = runs(context);
        self.pair(&draw, caption, |writer| {
            for (nth, (name, path)) in runs.iter().take(MAX_TABLES).enumerate() {
                let table = RunTable::of_path(context.system, context.evidence, path);
                writer.tables(&table, name, nth == 0)?;
            }
            match runs.len().saturating_sub(MAX_TABLES) {
                0 => Ok(()),
                n => writeln!(writer.body, "<p>{n} more runs are written in words below.</p>"),
            }
        })?;
        write_coalitions(&mut self.body, context)
    }

    fn worlds(&mut self, explanation: &ExplanationReport, caption: &str) -> fmt::Result {
        let draw = |limits| Graph::of_worlds(explanation, limits);
        self.pair(&draw, caption, |writer| writer.world_tables(explanation, true))
    }

    fn world_tables(&mut self, part: &ExplanationReport, is_open: bool) -> fmt::Result {
        self.tables(&RunTable::of_world(part), &format!("World {}", part.world), is_open)?;
        part.next.iter().try_for_each(|next| self.world_tables(next, false))
    }

    /// Writes a drawing, and beside it what `beside` writes if it writes something.
    fn pair(
        &mut self,
        draw: &dyn Fn(GraphLimits) -> Graph,
        caption: &str,
        beside: impl FnOnce(&mut Self) -> fmt::Result,
    ) -> fmt::Result {
        let graph = draw(GraphLimits::OVERVIEW).wrapped();
        self.add_graph_legend(&graph);
        writeln!(self.body, r#"<div class="pair">"#)?;
        if !graph.cards.is_empty() {
            self.figure(&graph, caption)?;
        }
        let mut whole = std::mem::take(&mut self.body);
        beside(self)?;
        let beside = std::mem::take(&mut self.body);
        if !beside.is_empty() {
            writeln!(whole, "<div class=\"beside\">\n{beside}</div>")?;
        }
        self.body = whole;
        writeln!(self.body, "</div>")?;
        if graph.is_abridged {
            self.whole_drawing(&draw(WHOLE_DRAWING).wrapped(), caption)?;
        }
        Ok(())
    }

    fn figure(&mut self, graph: &Graph, caption: &str) -> fmt::Result {
        let mut svg = String::new();
        write_svg(&mut svg, graph, caption)?;
        let mut notes = String::new();
        for note in &graph.notes {
            writeln!(notes, "<p>{}</p>", escaped(note))?;
        }
        self.drawing(&svg, &notes)
    }

    /// Writes a drawing, or a link to an equal one.
    fn drawing(&mut self, svg: &str, after: &str) -> fmt::Result {
        // The title of a drawing names the property; equal drawings differ in it.
        let key = svg.split_once("</title>").map_or(svg, |(_, rest)| rest);
        let content = format!(
            "<div class=\"drawing\" tabindex=\"0\" role=\"region\" aria-label=\"Drawing\">\n{svg}</div>\n{after}"
        );
        self.page.write_once(&mut self.body, ("<figure", "</figure>"), key, &content, "The drawing")
    }

    fn whole_drawing(&mut self, graph: &Graph, caption: &str) -> fmt::Result {
        let n_states = graph.cards.iter().filter(|card| card.state.is_some()).count();
        writeln!(
            self.body,
            r#"<details class="more"><summary>Show the whole drawing: {}, all variables</summary>"#,
            plural(n_states, "state", "states")
        )?;
        self.figure(graph, caption)?;
        if graph.is_abridged {
            writeln!(self.body, "<p>The drawing would be too large; the tables have all states.</p>")?;
        }
        writeln!(self.body, "</details>")
    }

    /// Writes a run as tables; `is_open` shows the first without being opened.
    fn tables(&mut self, table: &RunTable, name: &str, is_open: bool) -> fmt::Result {
        let views =
            [(TableView::Variables, "steps by variables"), (TableView::Lanes, "what agents do and see")];
        let has_lanes = table.lanes.len() > 1;
        for (nth, (view, what)) in views.into_iter().enumerate() {
            let is_shown = view == TableView::Variables || has_lanes;
            if !is_shown || !has_table(table, view) {
                continue;
            }
            let mut content = String::new();
            write_run_table(&mut content, table, view, &format!("{name}: {what}"))?;
            let open = if is_open && nth == 0 { "<details open" } else { "<details" };
            let summary = format!("<summary>{}: {what} ({})</summary>\n", escaped(name), table.size());
            let what = format!("{}, {what},", escaped(name));
            let both = format!("{summary}{content}");
            self.page.write_once(&mut self.body, (open, "</details>"), &content, &both, &what)?;
        }
        Ok(())
    }

    fn trace(&mut self, trace: &Trace, caption: &str) -> fmt::Result {
        let chart = Chart::new(trace, EVENTS_AT_EACH_END);
        self.add_chart_legend(&chart);
        let description = description(trace);
        let mut svg = String::new();
        write_chart(&mut svg, &chart, caption, &description)?;
        writeln!(self.body, r#"<div class="pair">"#)?;
        self.drawing(&svg, "")?;
        writeln!(self.body, r#"<div class="beside">"#)?;
        let table = RunTable::of_trace(trace);
        if has_table(&table, TableView::Lanes) {
            let mut content = String::new();
            write_run_table(&mut content, &table, TableView::Lanes, "Events by agents")?;
            let both = format!("<summary>Events by agents ({})</summary>\n{content}", table.size());
            let tags = ("<details", "</details>");
            self.page.write_once(&mut self.body, tags, &content, &both, "The list of events")?;
        }
        writeln!(self.body, "</div></div>")?;
        if !chart.left_out.is_empty() {
            let whole = Chart::new(trace, EVENTS_OF_WHOLE_CHART);
            let mut svg = String::new();
            write_chart(&mut svg, &whole, caption, &description)?;
            let n = trace.events.len();
            writeln!(
                self.body,
                r#"<details class="more"><summary>Show the whole chart: {n} events</summary>"#
            )?;
            self.drawing(&svg, "")?;
            writeln!(self.body, "</details>")?;
        }
        Ok(())
    }

    fn in_words(&mut self, text: &str) -> fmt::Result {
        let text = escaped(text);
        writeln!(
            self.body,
            "<details><summary>In words</summary><pre tabindex=\"0\" role=\"region\" aria-label=\"In words\">{text}</pre></details>"
        )
    }

    /// Adds an item to the legend of the model, once.
    fn add_key(&mut self, html: String) {
        if !self.legend.contains(&html) {
            self.legend.push(html);
        }
    }

    fn add_graph_legend(&mut self, graph: &Graph) {
        let line = |class: &str| {
            format!(
                r#"<svg width="34" height="10" aria-hidden="true"><path class="{class}" d="M1 5 H33"/></svg>"#
            )
        };
        if !graph.steps.is_empty() {
            self.add_key(r#"<span class="key">a solid arrow is a step</span>"#.to_string());
        }
        for agent in &graph.agents {
            let dots = line(&format!("alike agent-{}", agent.colour % N_COLOURS));
            let name = escaped(&agent.name);
            self.add_key(format!(r#"<span class="key">{dots} {name} cannot distinguish</span>"#));
        }
        let has = |is_it: fn(&AlikeKind) -> bool| graph.alike.iter().any(|alike| is_it(&alike.kind));
        if has(|kind| *kind == AlikeKind::Admitted) {
            self.add_key(format!(r#"<span class="key">{} a state that norms admit</span>"#, line("norm")));
        }
        if has(|kind| matches!(kind, AlikeKind::Edge(_))) {
            self.add_key(format!(r#"<span class="key">{} an edge to another world</span>"#, line("norm")));
        }
        for (mark, text) in [
            (Mark::Seen, "green: seen, and equal in both states"),
            (Mark::Differs, "red and bold: differs, and occurs in the formula"),
        ] {
            if graph.cards.iter().flat_map(|card| &card.lines).any(|line| line.mark == mark) {
                self.add_key(format!(r#"<span class="key {}">{text}</span>"#, mark.word()));
            }
        }
    }

    fn add_chart_legend(&mut self, chart: &Chart) {
        let is_open = |fate: Fate| fate.note().is_some();
        let keys = [
            (
                !chart.messages.is_empty(),
                "an arrow is a message, from where it is sent to where it is received",
            ),
            (!chart.steps.is_empty(), "a box is an internal step of an agent, with its constraints"),
            (
                chart.messages.iter().any(|message| is_open(message.fate)),
                "an open dot is an end outside the trace",
            ),
        ];
        for (_, text) in keys.iter().filter(|(is_there, _)| *is_there) {
            self.add_key(format!(r#"<span class="key">{text}</span>"#));
        }
    }
}

/// The events of a trace in words, for screen readers.
fn description(trace: &Trace) -> String {
    let mut events: Vec<String> = trace.events.iter().take(MAX_DESCRIBED_EVENTS).map(event_text).collect();
    let n_more = trace.events.len() - events.len();
    events.extend((n_more > 0).then(|| format!("and {n_more} more events")));
    events.extend(trace.loop_at.map(|at| format!("repeated forever from event {}", at + 1)));
    events.extend(trace.blame.iter().map(|reason| format!("stuck: {reason}")));
    events.join(";\n")
}

/// The runs of the evidence that have a step, each with a name. A run that is the beginning of another is left
/// out.
pub(crate) fn runs(context: &EvidenceContext<'_>) -> Vec<(String, EvidencePath)> {
    let mut found: Vec<(String, EvidencePath)> = Vec::new();
    let mut add = |name: String, path: &EvidencePath| {
        let is_there = |(_, known): &(String, EvidencePath)| {
            *known == *path
                || (path.back_to.is_none()
                    && known.states.starts_with(&path.states)
                    && known.actions.starts_with(&path.actions))
        };
        if (path.states.len() > 1 || path.back_to.is_some()) && !found.iter().any(is_there) {
            found.push((name, path.clone()));
        }
    };
    let to = |path: &EvidencePath| match (path.states.first(), path.states.last()) {
        (Some(first), Some(last)) => format!("Run from {} to {}", number(*first), number(*last)),
        _ => "Run".to_string(),
    };
    let start = &context.evidence.start;
    add(to(start), start);
    for id in context.order() {
        match &context.evidence.reason(id).because {
            Because::Path(showing) => {
                let run = folded(showing).run;
                let name = match (run.back_to, run.states.first()) {
                    (Some(_), Some(first)) => format!("Infinite run from {}", number(*first)),
                    _ => to(&run),
                };
                add(name, &run);
            }
            Because::Possible(possible) => possible.path.iter().for_each(|path| add(to(path), path)),
            Because::Chain(chain) => chain.links.iter().for_each(|link| add(to(&link.path), &link.path)),
            Because::Strategy(strategy) => add("A play of the strategy".to_string(), &strategy.play),
            Because::Responses(answers) => {
                answers.path.iter().for_each(|path| add(to(path), path));
                add("A play against the responses".to_string(), &answers.play);
            }
            _ => {}
        }
    }
    found
}
