//! Runs as tables of a page: steps by variables, and a lane for each agent.

use std::fmt::{self, Write};

use crate::graph_svg::escaped;
use crate::long_paths::{Shown, cut};
use crate::run_table::{RowKind, RunTable, Step};
use crate::wording::plural;

/// Number of rows shown at each end of a long table before it is opened.
const ROWS_AT_EACH_END: usize = 5;

/// A table of a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableView {
    /// Steps by variables.
    Variables,
    /// A column for each agent.
    Lanes,
}

/// Writes the table of a run. A long one is cut; below it, a part that can be opened has the whole table.
pub(crate) fn write_run_table(
    out: &mut String,
    table: &RunTable,
    view: TableView,
    caption: &str,
) -> fmt::Result {
    let important: Vec<usize> = table.back_to.into_iter().collect();
    let shown = cut(table.rows.len(), ROWS_AT_EACH_END, &important);
    let is_cut = shown.iter().any(|shown| matches!(shown, Shown::LeftOut(_)));
    HtmlTable::new(table, view).write(out, &shown, caption)?;
    if !is_cut {
        return Ok(());
    }
    let all: Vec<Shown> = (0..table.rows.len()).map(Shown::Position).collect();
    writeln!(out, r#"<details class="more"><summary>Show all {}</summary>"#, table.size())?;
    HtmlTable::new(table, view).write(out, &all, &format!("{caption}, whole"))?;
    writeln!(out, "</details>")
}

/// Whether a table has anything to show in this view.
pub(crate) fn has_table(table: &RunTable, view: TableView) -> bool {
    table.rows.len() > 1 && !HtmlTable::new(table, view).columns.is_empty()
}

/// Writes the start of a table that scrolls in its own box.
pub(crate) fn open_table(out: &mut String, caption: &str) -> fmt::Result {
    let caption = escaped(caption);
    writeln!(out, r#"<div class="scroll" tabindex="0" role="region" aria-label="{caption}">"#)?;
    writeln!(out, "<table><caption>{caption}</caption>")
}

/// Writes the end of such a table.
pub(crate) fn close_table(out: &mut String) -> fmt::Result {
    writeln!(out, "</tbody></table></div>")
}

/// A column of a table on a page.
enum HtmlColumn {
    /// The values of a variable.
    Variable(usize),
    /// The actions of an agent.
    Actions(usize),
    /// The actions of an agent, and what it sees.
    Lane(usize),
}

struct HtmlTable<'a> {
    table: &'a RunTable,
    columns: Vec<HtmlColumn>,
}

impl<'a> HtmlTable<'a> {
    fn new(table: &'a RunTable, view: TableView) -> Self {
        let lanes = 0..table.lanes.len();
        let mut columns = Vec::new();
        match view {
            TableView::Lanes => {
                let is_shown = |lane: &usize| table.acts(*lane) || !table.lanes[*lane].sees.is_empty();
                columns.extend(lanes.filter(is_shown).map(HtmlColumn::Lane));
            }
            TableView::Variables => {
                let changing = |owner: Option<usize>| {
                    let is_it =
                        move |at: &usize| table.columns[*at].changes && table.columns[*at].owner == owner;
                    (0..table.columns.len()).filter(is_it).map(HtmlColumn::Variable)
                };
                columns.extend(changing(None));
                for lane in lanes {
                    columns.extend(changing(Some(lane)));
                    let is_shown = table.acts(lane) && table.lanes[lane].has_choice;
                    columns.extend(is_shown.then_some(HtmlColumn::Actions(lane)));
                }
            }
        }
        HtmlTable { table, columns }
    }

    /// The agent to which a column belongs.
    fn owner(&self, column: &HtmlColumn) -> Option<usize> {
        match column {
            HtmlColumn::Variable(at) => self.table.columns[*at].owner,
            HtmlColumn::Actions(lane) | HtmlColumn::Lane(lane) => Some(*lane),
        }
    }

    fn write(&self, out: &mut String, shown: &[Shown], caption: &str) -> fmt::Result {
        let is_variables = self.columns.iter().any(|column| !matches!(column, HtmlColumn::Lane(_)));
        if is_variables {
            self.constants(out)?;
        }
        open_table(out, caption)?;
        self.head(out, is_variables)?;
        writeln!(out, "<tbody>")?;
        for shown in shown {
            match *shown {
                Shown::Position(position) => self.row(out, position)?,
                Shown::LeftOut(n) => {
                    let what = match self.table.kind {
                        RowKind::Events => plural(n, "event", "events"),
                        _ => plural(n, "state", "states"),
                    };
                    let text = format!("{what} left out; all are below");
                    self.wide_row(out, "left-out", "..", &text)?;
                }
            }
        }
        if let Some(start) = self.table.back_to {
            let text = format!("back to {}, forever", self.table.label(start));
            self.wide_row(out, "back", "\u{21a9}", &text)?;
        }
        close_table(out)
    }

    /// Writes the variables that never change.
    fn constants(&self, out: &mut String) -> fmt::Result {
        let Some(first) = self.table.rows.first() else { return Ok(()) };
        let constant = self.table.columns.iter().zip(&first.values).filter(|(column, _)| !column.changes);
        let mut items: Vec<String> =
            constant.map(|(column, value)| format!("{} = {value}", column.name)).collect();
        for (at, lane) in self.table.lanes.iter().enumerate().filter(|(_, lane)| !lane.has_choice) {
            items.extend(first.step.action(at).map(|action| format!("{}: {action}", lane.name)));
        }
        let items: Vec<String> = items.iter().map(|item| format!("<code>{}</code>", escaped(item))).collect();
        if items.is_empty() {
            return Ok(());
        }
        writeln!(out, "<p>Unchanged: {}</p>", items.join(", "))
    }

    fn head(&self, out: &mut String, is_variables: bool) -> fmt::Result {
        let state = if self.table.kind == RowKind::Events { "event" } else { "state" };
        writeln!(out, "<thead>")?;
        let lane_name = |lane: usize| escaped(&self.table.lanes[lane].name);
        let has_groups = is_variables && self.table.kind == RowKind::States;
        if has_groups {
            write!(out, r#"<tr><th rowspan="2" scope="col">{state}</th>"#)?;
            let mut at = 0;
            while let Some(owner) = self.columns.get(at).map(|column| self.owner(column)) {
                let n = self.columns[at..].iter().take_while(|other| self.owner(other) == owner).count();
                let name = owner.map_or(String::new(), lane_name);
                write!(out, r#"<th colspan="{n}" scope="colgroup">{name}</th>"#)?;
                at += n;
            }
            write!(out, "</tr>\n<tr>")?;
        } else {
            write!(out, r#"<tr><th scope="col">{state}</th>"#)?;
        }
        for column in &self.columns {
            let name = match column {
                HtmlColumn::Variable(at) => {
                    escaped(self.table.short_name(*at, self.table.columns[*at].owner))
                }
                HtmlColumn::Actions(_) if self.table.kind == RowKind::LabelledStates => "label".to_string(),
                HtmlColumn::Actions(_) => "does".to_string(),
                HtmlColumn::Lane(lane) => lane_name(*lane),
            };
            write!(out, r#"<th scope="col">{name}</th>"#)?;
        }
        writeln!(out, "</tr></thead>")
    }

    fn row(&self, out: &mut String, position: usize) -> fmt::Result {
        let row = &self.table.rows[position];
        let is_on_loop = self.table.back_to.is_some_and(|start| position >= start);
        let class = if is_on_loop { r#" class="loop""# } else { "" };
        write!(out, r#"<tr{class}><th scope="row">{}</th>"#, self.table.label(position))?;
        let mut owner = None;
        for column in &self.columns {
            let is_first = self.owner(column) != owner;
            owner = self.owner(column);
            let class = if is_first { r#" class="first""# } else { "" };
            write!(out, "<td{class}>")?;
            match column {
                HtmlColumn::Variable(at) => value(out, &row.values[*at], row.changed[*at])?,
                HtmlColumn::Actions(lane) => self.action(out, position, *lane)?,
                HtmlColumn::Lane(lane) => self.lane(out, position, *lane)?,
            }
            write!(out, "</td>")?;
        }
        writeln!(out, "</tr>")
    }

    fn action(&self, out: &mut String, position: usize, lane: usize) -> fmt::Result {
        let row = &self.table.rows[position];
        match (&row.step, row.step.action(lane)) {
            (_, Some(action)) => write!(out, r#"<span class="does">{}</span>"#, escaped(action)),
            (Step::Stutter, _) => write!(out, "-"),
            _ => Ok(()),
        }
    }

    /// Writes what an agent sees at a state, all of it at the first one and then what changes, and its action.
    fn lane(&self, out: &mut String, position: usize, lane: usize) -> fmt::Result {
        let row = &self.table.rows[position];
        let mut before = "";
        for &at in &self.table.lanes[lane].sees {
            if position > 0 && !row.changed[at] {
                continue;
            }
            let name = self.table.short_name(at, Some(lane));
            write!(out, "{before}")?;
            value(out, &format!("{name} = {}", row.values[at]), row.changed[at])?;
            before = "<br>";
        }
        if row.step.action(lane).is_some() {
            write!(out, "{before}")?;
        }
        self.action(out, position, lane)
    }

    fn wide_row(&self, out: &mut String, class: &str, head: &str, text: &str) -> fmt::Result {
        let n = self.columns.len();
        writeln!(out, r#"<tr class="{class}"><th scope="row">{head}</th><td colspan="{n}">{text}</td></tr>"#)
    }
}

/// Writes a value, marked if it has changed.
fn value(out: &mut String, text: &str, is_changed: bool) -> fmt::Result {
    let text = escaped(text);
    if is_changed { write!(out, "<mark>{text}</mark>") } else { write!(out, "{text}") }
}
