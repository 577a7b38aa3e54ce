//! Strategies and responses on a page: a drawing of where a strategy leads, and tables of choices.

use std::fmt::{self, Write};

use masque_driver::{ActionId, AgentId, Because, GroupStrategy, Reason, Responses, VarId};

use crate::evidence::members;
use crate::evidence_context::EvidenceContext;
use crate::evidence_text::number;
use crate::graph_svg::{escaped, write_svg};
use crate::html_tables::{close_table, open_table};
use crate::strategy_graph::{MAX_DRAWN_STATES, StrategyGraph, action_texts, choice_texts};
use crate::wording::plural;

/// Number of rows of a table that is shown without being opened.
const MAX_OPEN_ROWS: usize = 30;

/// Writes all strategies and responses of the evidence.
pub(crate) fn write_coalitions(out: &mut String, context: &EvidenceContext<'_>) -> fmt::Result {
    for id in context.order() {
        let reason = context.evidence.reason(id);
        match &reason.because {
            Because::Strategy(strategy) => write_strategy(out, context, reason, strategy)?,
            Because::Responses(answers) if !answers.rows.is_empty() => {
                write_responses(out, context, reason, answers)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn write_strategy(
    out: &mut String,
    context: &EvidenceContext<'_>,
    reason: &Reason,
    strategy: &GroupStrategy,
) -> fmt::Result {
    let graph = StrategyGraph::new(context, reason, strategy);
    let who = escaped(&context.agents(members(context.system, reason.formula)));
    let claim = escaped(&context.claim_of(reason_id(context, reason)));
    writeln!(out, "<p>Strategy of {who}: {claim} at {}.</p>", number(reason.state))?;
    let n_states = plural(graph.nodes.len(), "state", "states");
    if graph.is_complete && graph.nodes.len() <= MAX_DRAWN_STATES {
        writeln!(out, "<details open><summary>Where the strategy leads: {n_states}</summary>")?;
        writeln!(
            out,
            r#"<figure><div class="drawing strategy" tabindex="0" role="region" aria-label="Strategy">"#
        )?;
        let drawing = graph.graph(context, strategy).wrapped();
        write_svg(
            out,
            &drawing,
            &format!("Strategy of {}", context.agents(members(context.system, reason.formula))),
        )?;
        writeln!(
            out,
            "</div><figcaption>Each card is a state with what changed and the choice of the group (\u{25b8}); arrows are the responses of the other agents.</figcaption></figure></details>"
        )?;
    }
    let n_rows = strategy.rows.len();
    let open = if n_rows <= MAX_OPEN_ROWS { "<details open>" } else { "<details>" };
    writeln!(
        out,
        "{open}<summary>The strategy as a table: {}</summary>",
        plural(n_rows, "choice", "choices")
    )?;
    strategy_table(out, context, strategy, &graph)?;
    writeln!(out, "</details>")
}

/// The id of a reason of the evidence.
fn reason_id(context: &EvidenceContext<'_>, reason: &Reason) -> masque_driver::ReasonId {
    let at = context.evidence.reasons.iter().position(|other| std::ptr::eq(other, reason));
    masque_driver::ReasonId(at.unwrap_or(0) as u32)
}

/// Writes a row for each view of the strategy: what is seen, the choice, and the states that may follow.
fn strategy_table(
    out: &mut String,
    context: &EvidenceContext<'_>,
    strategy: &GroupStrategy,
    graph: &StrategyGraph,
) -> fmt::Result {
    let system = context.system;
    let is_seen = |v: &VarId| strategy.rows.iter().any(|row| row.sees.contains(v));
    let value = |row: usize, v: VarId| {
        let row = &strategy.rows[row];
        row.sees.contains(&v).then(|| context.evidence.state(row.state)[v.index()])
    };
    let varies = |v: &VarId| (1..strategy.rows.len()).any(|row| value(row, *v) != value(0, *v));
    let (columns, constant): (Vec<VarId>, Vec<VarId>) =
        system.variable_ids().filter(is_seen).partition(varies);
    if !constant.is_empty() {
        let texts: Vec<String> = (constant.iter())
            .filter_map(|&v| {
                Some(format!("{} = {}", system.full_name(v), system.value_text(v, value(0, v)?)))
            })
            .map(|text| format!("<code>{}</code>", escaped(&text)))
            .collect();
        writeln!(out, "<p>Always: {}</p>", texts.join(", "))?;
    }
    open_table(out, "Strategy")?;
    write!(out, r#"<thead><tr><th scope="col">at</th>"#)?;
    for &v in &columns {
        write!(out, r#"<th scope="col">{}</th>"#, escaped(&system.full_name(v)))?;
    }
    writeln!(out, r#"<th scope="col">choice</th><th scope="col">may lead to</th></tr></thead><tbody>"#)?;
    for at in 0..strategy.rows.len() {
        let (here, next) = (graph.at(at).join(", "), graph.after(at).join(", "));
        let here = if here.is_empty() { number(strategy.rows[at].state) } else { here };
        write!(out, r#"<tr><th scope="row">{}</th>"#, escaped(&here))?;
        for &v in &columns {
            let text = value(at, v).map_or(String::new(), |value| system.value_text(v, value));
            write!(out, "<td>{}</td>", escaped(&text))?;
        }
        let choice = choice_texts(context, strategy, at).join(", ");
        writeln!(out, "<td><b>{}</b></td><td>{}</td></tr>", escaped(&choice), escaped(&next))?;
    }
    close_table(out)
}

/// Writes the response of the other agents to each choice of the group.
fn write_responses(
    out: &mut String,
    context: &EvidenceContext<'_>,
    reason: &Reason,
    answers: &Responses,
) -> fmt::Result {
    let group = members(context.system, reason.formula);
    let others: Vec<AgentId> = context.system.agent_ids().filter(|agent| !group.contains(agent)).collect();
    let n_rows = answers.rows.len();
    let open = if n_rows <= MAX_OPEN_ROWS { "<details open>" } else { "<details>" };
    let what = plural(n_rows, "response", "responses");
    writeln!(out, "{open}<summary>How the others prevent it: {what}</summary>")?;
    open_table(out, "Responses of the other agents")?;
    let heads = ["state", "values", "if the group chooses", "the others respond", "leads to"];
    write!(out, "<thead><tr>")?;
    heads.iter().try_for_each(|head| write!(out, r#"<th scope="col">{head}</th>"#))?;
    writeln!(out, "</tr></thead><tbody>")?;
    let mut before = None;
    for row in &answers.rows {
        let joint: Vec<ActionId> = others.iter().map(|agent| row.joint[agent.index()]).collect();
        let choice = action_texts(context, group, &row.actions).join(", ");
        let response = action_texts(context, &others, &joint).join(", ");
        let next = row.next.map_or("no successor".to_string(), number);
        let is_new = before != Some((row.state, row.stage));
        before = Some((row.state, row.stage));
        let mut values: Vec<String> = Vec::new();
        if is_new {
            let differs = context.differing(answers.from, row.state);
            let all =
                context.system.variable_ids().filter(|v| row.state == answers.from || differs.contains(v));
            values.extend(all.map(|v| context.assignment(v, row.state)));
            if row.stage.violated {
                values.push("the goal is violated".to_string());
            }
            if let Some(seeks) = row.stage.seeks {
                let constraint = context.formula(context.system.fairness[seeks]);
                values.push(format!("next fairness constraint: {constraint}"));
            }
        }
        let values: Vec<String> = values.iter().map(|value| escaped(value)).collect();
        writeln!(
            out,
            r#"<tr><th scope="row">{}</th><td>{}</td><td><b>{}</b></td><td>{}</td><td>{}</td></tr>"#,
            number(row.state),
            values.join("<br>"),
            escaped(&choice),
            escaped(&response),
            escaped(&next)
        )?;
    }
    close_table(out)?;
    writeln!(out, "</details>")
}
