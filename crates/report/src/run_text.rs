//! A run as text in columns: steps by variables, or a lane for each agent.
//!
//! Columns that do not fit into the width are written as further blocks below the first.

use std::io;

use crate::limits::Limits;
use crate::lines::{ACTION, Lines, PLAIN, Piece, STATE, STRONG, columns};
use crate::long_paths::Shown;
use crate::run_table::{RowKind, RunTable, Step};
use crate::wording::{plural, shortened};

/// How the runs of the evidence are written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum View {
    /// One state below the other, each with what changes; a chart for a protocol.
    #[default]
    Steps,
    /// A table of steps by variables.
    Table,
    /// A column for each agent, with its actions and what it sees.
    Lanes,
}

/// Number of columns between two columns of a table.
const GAP: usize = 2;
/// Maximum width of a lane that could be narrower.
const MAX_LANE_WIDTH: usize = 28;
/// Minimum width of a lane.
const MIN_LANE_WIDTH: usize = 8;

/// A run, and which of its rows are written.
pub(crate) struct RunText<'a> {
    pub(crate) table: &'a RunTable,
    pub(crate) shown: &'a [Shown],
    pub(crate) limits: Limits,
}

/// A column of text.
struct TextColumn {
    /// Heading above the title, which neighbours may share: an agent.
    group: String,
    title: String,
    width: usize,
    /// For each row of the run, the lines of its cell.
    cells: Vec<Vec<Piece>>,
}

impl TextColumn {
    fn new(group: String, title: String, cells: Vec<Vec<Piece>>) -> Self {
        let widest = cells.iter().flatten().map(|(_, text)| columns(text)).max().unwrap_or(0);
        let width = widest.max(columns(&title));
        TextColumn { group, title, width, cells }
    }
}

impl RunText<'_> {
    /// Writes the run in this view.
    pub(crate) fn write(&self, lines: &mut Lines<'_>, view: View) -> io::Result<()> {
        let columns = match view {
            View::Lanes => self.lanes(lines.width),
            View::Steps | View::Table => self.variables(),
        };
        if view == View::Table {
            self.constants(lines)?;
        }
        if columns.is_empty() {
            return self.block(lines, &[]);
        }
        let room = lines.width.saturating_sub(self.left_width());
        for (nth, block) in blocks(&columns, room).into_iter().enumerate() {
            if nth > 0 {
                lines.empty()?;
            }
            self.block(lines, block)?;
        }
        let marks = view == View::Table && self.table.columns.iter().any(|column| column.changes);
        if marks { lines.sentence(PLAIN, "  ", "* changed by the step before") } else { Ok(()) }
    }

    /// Writes the variables that never change, with their values.
    fn constants(&self, lines: &mut Lines<'_>) -> io::Result<()> {
        let Some(first) = self.table.rows.first() else { return Ok(()) };
        let constant = self.table.columns.iter().zip(&first.values).filter(|(column, _)| !column.changes);
        let mut items: Vec<Piece> =
            constant.map(|(column, value)| (PLAIN, format!("{} = {value}", column.name))).collect();
        let n_more = items.len().saturating_sub(self.limits.variables);
        items.truncate(self.limits.variables);
        items.extend((n_more > 0).then(|| (PLAIN, format!("and {n_more} more (--full shows them)"))));
        if items.is_empty() {
            return Ok(());
        }
        lines.flow(&[(PLAIN, "  unchanged: ".to_string())], "    ", &items, ", ")
    }

    /// The variables that change, by the agents that own them, each agent with its actions.
    fn variables(&self) -> Vec<TextColumn> {
        let table = self.table;
        let changing = |owner: Option<usize>| {
            (0..table.columns.len())
                .filter(move |&at| table.columns[at].changes && table.columns[at].owner == owner)
        };
        let mut found: Vec<TextColumn> = changing(None).map(|at| self.variable(at, None)).collect();
        for lane in 0..table.lanes.len() {
            found.extend(changing(Some(lane)).map(|at| self.variable(at, Some(lane))));
            let is_forced = !table.lanes[lane].has_choice && !self.limits.shows_forced_actions;
            if table.acts(lane) && !is_forced {
                found.push(self.actions(lane));
            }
        }
        found
    }

    fn variable(&self, at: usize, owner: Option<usize>) -> TextColumn {
        let group = owner.map_or(String::new(), |lane| self.table.lanes[lane].name.clone());
        let title = format!(" {}", self.table.short_name(at, owner));
        let cell = |row: &crate::run_table::Row| {
            let (mark, style) = if row.changed[at] { ("*", STRONG) } else { (" ", PLAIN) };
            vec![(style, format!("{mark}{}", row.values[at]))]
        };
        TextColumn::new(group, title, self.table.rows.iter().map(cell).collect())
    }

    fn actions(&self, lane: usize) -> TextColumn {
        let cell = |row: &crate::run_table::Row| match (&row.step, row.step.action(lane)) {
            (_, Some(action)) => vec![(ACTION, action.to_string())],
            (Step::Stutter, _) => vec![(ACTION, "-".to_string())],
            _ => Vec::new(),
        };
        let name = self.table.lanes[lane].name.clone();
        // The program of a BDI world and the labels of a transition system are the only lane.
        let group = if self.table.kind == RowKind::States { name } else { String::new() };
        TextColumn::new(group, "does".to_string(), self.table.rows.iter().map(cell).collect())
    }

    /// A column for each agent that acts or sees something.
    fn lanes(&self, width: usize) -> Vec<TextColumn> {
        let is_shown = |lane: &usize| self.table.acts(*lane) || !self.table.lanes[*lane].sees.is_empty();
        let room = width.saturating_sub(self.left_width() + GAP).max(MIN_LANE_WIDTH);
        (0..self.table.lanes.len()).filter(is_shown).map(|lane| self.lane(lane, room)).collect()
    }

    /// The lane of an agent: at the first state all that it sees, then what changes, and its actions.
    fn lane(&self, lane: usize, room: usize) -> TextColumn {
        let table = self.table;
        let mut cells: Vec<Vec<Piece>> = Vec::new();
        for (position, row) in table.rows.iter().enumerate() {
            let seen = table.lanes[lane].sees.iter().filter(|&&at| position == 0 || row.changed[at]);
            let mut cell: Vec<Piece> = seen
                .map(|&at| (PLAIN, format!("{} = {}", table.short_name(at, Some(lane)), row.values[at])))
                .collect();
            cell.extend(row.step.action(lane).map(|action| (ACTION, format!("> {action}"))));
            cells.push(cell);
        }
        let widest = cells.iter().flatten().map(|(_, text)| columns(text)).max().unwrap_or(0);
        let title = table.lanes[lane].name.clone();
        let limit = widest.max(columns(&title)).clamp(MIN_LANE_WIDTH, MAX_LANE_WIDTH.min(room));
        let cells =
            cells.into_iter().map(|cell| cell.iter().flat_map(|piece| broken(piece, limit)).collect());
        TextColumn::new(String::new(), shortened(title, limit.saturating_sub(2)), cells.collect())
    }

    /// Width of what stands left of the first column: the indent, the bar of a loop, and the row's name.
    fn left_width(&self) -> usize {
        let bar = if self.table.back_to.is_some() { 4 } else { 0 };
        2 + bar + self.label_width()
    }

    fn label_width(&self) -> usize {
        let heading = if self.table.kind == RowKind::Events { 0 } else { columns("state") };
        (0..self.table.rows.len()).map(|row| columns(&self.table.label(row))).max().unwrap_or(0).max(heading)
    }

    /// Writes some columns of all shown rows.
    fn block(&self, lines: &mut Lines<'_>, block: &[TextColumn]) -> io::Result<()> {
        self.headings(lines, block)?;
        let mut last = None;
        for shown in self.shown {
            match *shown {
                Shown::Position(position) => {
                    self.row(lines, block, position)?;
                    last = Some(position);
                }
                Shown::LeftOut(n) => {
                    let what = match self.table.kind {
                        RowKind::Events => plural(n, "event", "events"),
                        _ => plural(n, "state", "states"),
                    };
                    let bar = self.bars(last.map_or(0, |last| last + 1)).1;
                    let text = format!("  {bar}.. {what} left out (--full shows all)");
                    lines.line(&[(PLAIN, text)])?;
                }
            }
        }
        match self.table.back_to {
            None => Ok(()),
            Some(start) => {
                let text = format!("  '-- back to {}", self.table.label(start));
                lines.line(&[(STATE, text)])
            }
        }
    }

    fn headings(&self, lines: &mut Lines<'_>, block: &[TextColumn]) -> io::Result<()> {
        let gap = " ".repeat(GAP);
        let left = self.left_width();
        if block.iter().any(|column| !column.group.is_empty()) {
            let mut text = " ".repeat(left);
            let mut at = 0;
            while let Some(column) = block.get(at) {
                let same = block[at..].iter().take_while(|other| other.group == column.group);
                let widths: Vec<usize> = same.map(|column| column.width).collect();
                let width = widths.iter().sum::<usize>() + GAP * (widths.len() - 1);
                // Values have a column for their mark.
                let name = format!(" {}", shortened(column.group.clone(), width.saturating_sub(3).max(1)));
                text += &format!("{gap}{name:width$}");
                at += widths.len();
            }
            lines.line(&[(STRONG, text)])?;
        }
        let state = if self.table.kind == RowKind::Events { "" } else { "state" };
        let mut text = format!("{:left$}", format!("{}{state}", " ".repeat(left - self.label_width())));
        for column in block {
            text += &format!("{gap}{:width$}", column.title, width = column.width);
        }
        lines.line(&[(STRONG, text)])
    }

    /// The bar of a loop beside the first and beside further lines of a row.
    fn bars(&self, position: usize) -> (&'static str, &'static str) {
        match self.table.back_to {
            None => ("", ""),
            Some(start) if position == start => (",-> ", "|   "),
            Some(start) if position > start => ("|   ", "|   "),
            Some(_) => ("    ", "    "),
        }
    }

    fn row(&self, lines: &mut Lines<'_>, block: &[TextColumn], position: usize) -> io::Result<()> {
        let height = block.iter().map(|column| column.cells[position].len()).max().unwrap_or(0).max(1);
        let (first_bar, bar) = self.bars(position);
        let width = self.label_width();
        for line in 0..height {
            let (bar, label) =
                if line == 0 { (first_bar, self.table.label(position)) } else { (bar, String::new()) };
            let mut pieces = vec![(PLAIN, format!("  {bar}")), (STATE, format!("{label:width$}"))];
            for column in block {
                let (style, text) = column.cells[position].get(line).cloned().unwrap_or_default();
                pieces.push((PLAIN, " ".repeat(GAP)));
                pieces.push((style, format!("{text:width$}", width = column.width)));
            }
            lines.line(&pieces)?;
        }
        Ok(())
    }
}

/// Divides columns into blocks that fit into `room`; each block has at least one column. Columns of one group
/// stay together if they fit into a block.
fn blocks(columns: &[TextColumn], room: usize) -> Vec<&[TextColumn]> {
    let mut blocks = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, column) in columns.iter().enumerate() {
        let needed = GAP + column.width;
        let is_first = at == 0 || column.group.is_empty() || columns[at - 1].group != column.group;
        let rest = columns[at..].iter().take_while(|other| is_first && other.group == column.group);
        let group: usize = rest.map(|column| GAP + column.width).sum();
        let wants_new_block = is_first && !column.group.is_empty() && used + group > room && group <= room;
        if at > start && (used + needed > room || wants_new_block) {
            blocks.push(&columns[start..at]);
            (start, used) = (at, 0);
        }
        used += needed;
    }
    blocks.push(&columns[start..]);
    blocks
}

/// Breaks text into lines of at most `width` columns, between words where possible. Further lines are
/// indented.
pub(crate) fn broken((style, text): &Piece, width: usize) -> Vec<Piece> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let n_lines = lines.len();
            let line = &mut lines[n_lines - 1];
            let gap = usize::from(!line.trim().is_empty());
            let room = width.saturating_sub(columns(line) + gap);
            if word.len() <= room {
                line.push_str(&" ".repeat(gap));
                line.extend(word.drain(..));
            } else if gap == 0 {
                line.extend(word.drain(..room.clamp(1, word.len())));
            } else {
                lines.push("  ".to_string());
            }
            if gap == 0 && !word.is_empty() {
                lines.push("  ".to_string());
            }
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    lines.into_iter().map(|line| (*style, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_table::{Column, Lane, Row};

    /// Two agents that count: `A.n` changes at every step, `B.m` at every second, `B.c` never.
    fn table(n_rows: u64, back_to: Option<usize>) -> RunTable {
        let names = [("A.n", 0, true), ("B.m", 1, true), ("B.c", 1, false)];
        let column = |(name, owner, changes): (&str, usize, bool)| Column {
            name: name.to_string(),
            owner: Some(owner),
            changes,
        };
        let lane = |name: &str, sees: &[usize], has_choice| Lane {
            name: name.to_string(),
            sees: sees.to_vec(),
            has_choice,
        };
        let row = |k: u64| Row {
            state: k,
            values: vec![k.to_string(), (k / 2).to_string(), "high".to_string()],
            changed: vec![k > 0, k > 0 && k.is_multiple_of(2), false],
            step: if k + 1 == n_rows && back_to.is_none() {
                Step::None
            } else {
                Step::Actions(vec![Some("up".to_string()), Some("none".to_string())])
            },
        };
        RunTable {
            columns: names.map(column).to_vec(),
            lanes: vec![lane("A", &[0], true), lane("B", &[0, 1, 2], false)],
            rows: (0..n_rows).map(row).collect(),
            back_to,
            ..RunTable::default()
        }
    }

    fn text(table: &RunTable, view: View, limits: Limits, width: usize) -> String {
        let shown = crate::long_paths::cut(table.rows.len(), limits.at_each_end, &[]);
        let mut out = Vec::new();
        let mut lines = Lines { out: &mut out, width, color: false };
        RunText { table, shown: &shown, limits }.write(&mut lines, view).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_table_marks_changes_and_lists_constants() {
        insta::assert_snapshot!(text(&table(3, None), View::Table, Limits::NORMAL, 80));
        insta::assert_snapshot!(text(&table(3, Some(1)), View::Table, Limits::VERBOSE, 80));
    }

    #[test]
    fn lanes_show_what_agents_see() {
        insta::assert_snapshot!(text(&table(3, Some(1)), View::Lanes, Limits::NORMAL, 80));
    }

    #[test]
    fn narrow_terminals_get_blocks_and_no_line_is_wider() {
        for (view, width) in [(View::Table, 24), (View::Lanes, 24), (View::Lanes, 40), (View::Table, 15)] {
            let found = text(&table(60, Some(1)), view, Limits::NONE, width);
            assert!(found.lines().all(|line| columns(line) <= width.max(30)), "{width}:\n{found}");
            for row in 0..60 {
                assert!(found.contains(&format!("#{row} ")), "{row} is missing:\n{found}");
            }
        }
    }

    #[test]
    fn long_runs_are_cut_unless_all_is_asked_for() {
        let cut = text(&table(60, None), View::Table, Limits::NORMAL, 80);
        assert!(cut.contains("  .. 50 states left out (--full shows all)\n"), "{cut}");
        let full = text(&table(60, None), View::Table, Limits::NONE, 80);
        assert!(!full.contains("left out") && full.contains("  #30    *30"), "{full}");
    }

    #[test]
    fn texts_are_broken_between_words() {
        let check = |text: &str, width, expected: &[&str]| {
            let found: Vec<String> =
                broken(&(PLAIN, text.to_string()), width).into_iter().map(|piece| piece.1).collect();
            assert_eq!(found, expected, "{text} in {width}");
        };
        check("one two three", 20, &["one two three"]);
        check("one two three", 9, &["one two", "  three"]);
        check("abcdefghijkl m", 6, &["abcdef", "  ghij", "  kl m"]);
        check("", 6, &[]);
    }
}
