//! The measurements of `masque bench` as a table: text with aligned columns, or CSV.

use std::io::{self, Write};

use crate::bench::BenchRow;
use crate::csv::write_record;
use crate::lines::WIDTH;

/// Rank of the columns with details, which are not mentioned if they are equal in all rows.
const DETAIL_RANK: u8 = 4;

/// A column of the text table.
struct TableColumn {
    name: String,
    /// One cell per row; empty if the row has no such value.
    cells: Vec<String>,
    /// Whether the cells are words, which are left-aligned.
    is_word: bool,
    /// Columns with a higher rank are left out first if the table is too wide.
    rank: u8,
}

impl TableColumn {
    fn new(name: &str, rows: &[BenchRow], cell: impl Fn(&BenchRow) -> Option<String>) -> TableColumn {
        let cells = rows.iter().map(|row| cell(row).unwrap_or_default()).collect();
        TableColumn { name: name.to_string(), cells, is_word: false, rank: 0 }
    }

    fn word(mut self) -> TableColumn {
        self.is_word = true;
        self
    }

    fn rank(mut self, rank: u8) -> TableColumn {
        self.rank = rank;
        self
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| cell.chars().count().max(1));
        cells.chain([self.name.chars().count()]).max().unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        self.cells.iter().all(String::is_empty)
    }

    /// The value that all of several rows share.
    fn common(&self) -> Option<&String> {
        let first = self.cells.first().filter(|cell| !cell.is_empty())?;
        (self.cells.len() > 1 && self.cells.iter().all(|cell| cell == first)).then_some(first)
    }
}

/// Writes the table as text of at most [`WIDTH`] columns, unless the values themselves need more. Values that all rows
/// share are in a line above the table.
pub fn bench_text(out: &mut dyn Write, rows: &[BenchRow], swept: &[String]) -> io::Result<()> {
    let mut columns = columns(rows, swept);
    columns.retain(|column| !column.is_empty());
    let common: Vec<String> =
        (columns.iter()).filter_map(|column| Some(format!("{} {}", column.name, column.common()?))).collect();
    if !common.is_empty() {
        writeln!(out, "all rows: {}", common.join(", "))?;
    }
    columns.retain(|column| column.common().is_none());
    let mut left_out = Vec::new();
    while columns.iter().map(|column| column.width() + 2).sum::<usize>() > WIDTH + 2 {
        let Some(rank) = columns.iter().map(|column| column.rank).max().filter(|rank| *rank > 0) else {
            break;
        };
        let (kept, dropped) = columns.into_iter().partition(|column| column.rank < rank);
        columns = kept;
        left_out.extend(dropped.into_iter().map(|column: TableColumn| column.name));
    }
    write_lines(out, &columns, rows.len())?;
    if !left_out.is_empty() {
        writeln!(out, "columns left out for width: {} (`--format csv` has them)", left_out.join(", "))?;
    }
    Ok(())
}

fn write_lines(out: &mut dyn Write, columns: &[TableColumn], n_rows: usize) -> io::Result<()> {
    if columns.is_empty() {
        return Ok(());
    }
    let line = |cell: &dyn Fn(&TableColumn) -> String| {
        let padded = columns.iter().map(|column| {
            let (text, width) = (cell(column), column.width());
            if column.is_word { format!("{text:width$}") } else { format!("{text:>width$}") }
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    writeln!(out, "{}", line(&|column| column.name.clone()))?;
    for row in 0..n_rows {
        let cell = |column: &TableColumn| match &column.cells[row] {
            cell if cell.is_empty() => "-".to_string(),
            cell => cell.clone(),
        };
        writeln!(out, "{}", line(&cell))?;
    }
    Ok(())
}

fn columns(rows: &[BenchRow], swept: &[String]) -> Vec<TableColumn> {
    let seconds = |time: Option<f64>| time.map(|time| format!("{time:.3}"));
    let mut columns = vec![TableColumn::new("file", rows, |row| Some(row.file.clone())).word()];
    for (index, name) in swept.iter().enumerate() {
        let size = |row: &BenchRow| row.sizes.0.get(index).map(|(_, value)| value.to_string());
        columns.push(TableColumn::new(name, rows, size));
    }
    columns.push(TableColumn::new("engine", rows, |row| Some(row.engine.clone())).word());
    let is_new = |row: &BenchRow| row.decided_by.clone().filter(|by| *by != row.engine);
    columns.push(TableColumn::new("decided by", rows, is_new).word());
    columns.push(TableColumn::new("load", rows, |row| seconds(row.load_seconds)).rank(DETAIL_RANK));
    for phase in phases(rows) {
        let time =
            |row: &BenchRow| row.phases.0.iter().find(|(name, _)| *name == phase).map(|(_, time)| *time);
        columns.push(TableColumn::new(&phase, rows, |row| seconds(time(row))).rank(DETAIL_RANK + 1));
    }
    let is_repeated = rows.iter().any(|row| row.repeats > 1);
    columns.push(TableColumn::new(if is_repeated { "median s" } else { "total s" }, rows, |row| {
        seconds(row.total_seconds)
    }));
    if is_repeated {
        columns.push(TableColumn::new("min s", rows, |row| seconds(row.min_seconds)).rank(2));
        columns.push(TableColumn::new("max s", rows, |row| seconds(row.max_seconds)).rank(2));
        columns.push(TableColumn::new("repeats", rows, |row| Some(row.repeats.to_string())).rank(3));
    }
    columns.push(TableColumn::new("states", rows, |row| row.states.as_deref().map(short)));
    columns.push(TableColumn::new("peak nodes", rows, |row| row.peak_nodes.map(|n| n.to_string())).rank(3));
    let megabytes = |row: &BenchRow| row.peak_memory_bytes.map(|bytes| format!("{:.0}", bytes as f64 / 1e6));
    columns.push(TableColumn::new("MB", rows, megabytes));
    for name in swept {
        let growth =
            |row: &BenchRow| row.growth.0.iter().find(|(known, _)| known == name).map(|(_, growth)| *growth);
        let title = |word: &str| if swept.len() == 1 { word.to_string() } else { format!("{name} {word}") };
        let ratio = |row: &BenchRow| growth(row).map(|growth| format!("{:.2}", growth.ratio));
        let exponent = |row: &BenchRow| Some(format!("{:.2}", growth(row)?.exponent?));
        columns.push(TableColumn::new(&title("ratio"), rows, ratio).rank(1));
        columns.push(TableColumn::new(&title("exponent"), rows, exponent).rank(1));
    }
    columns.push(TableColumn::new("answers", rows, |row| Some(row.answers())).word());
    columns
}

/// The phases of all rows, each once, in the order of their first occurrence.
fn phases(rows: &[BenchRow]) -> Vec<String> {
    let mut phases: Vec<String> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.phases.0) {
        if !phases.contains(name) {
            phases.push(name.clone());
        }
    }
    phases
}

/// A number of at most 12 digits in full, a longer one as `1.23e45`.
pub(crate) fn short(digits: &str) -> String {
    match digits.len() {
        ..=12 => digits.to_string(),
        n => format!("{}.{}e{}", &digits[..1], &digits[1..3], n - 1),
    }
}

/// Writes the table as CSV, with all columns.
pub fn bench_csv(out: &mut dyn Write, rows: &[BenchRow], swept: &[String]) -> io::Result<()> {
    let mut parameters: Vec<String> = swept.to_vec();
    for (name, _) in rows.iter().flat_map(|row| &row.parameters.0) {
        if !parameters.contains(name) {
            parameters.push(name.clone());
        }
    }
    let phases = phases(rows);
    let mut head: Vec<String> = vec!["file".to_string()];
    head.extend(parameters.iter().cloned());
    head.extend(["engine", "decided_by", "hold", "fail", "unknown", "stopped", "error"].map(String::from));
    head.extend(["repeats", "total_seconds", "min_seconds", "max_seconds", "load_seconds"].map(String::from));
    head.extend(phases.iter().map(|phase| format!("phase {phase} seconds")));
    head.extend(["states", "peak_nodes", "peak_memory_bytes"].map(String::from));
    head.extend(swept.iter().flat_map(|name| [format!("{name} ratio"), format!("{name} exponent")]));
    write_record(out, head)?;
    let text = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for row in rows {
        let mut fields = vec![row.file.clone()];
        let sizes = || row.sizes.0.iter().chain(&row.parameters.0);
        let value =
            |name: &String| sizes().find(|(known, _)| known == name).map(|(_, value)| value.to_string());
        fields.extend(parameters.iter().map(|name| value(name).unwrap_or_default()));
        fields.extend([row.engine.clone(), row.decided_by.clone().unwrap_or_default()]);
        fields.extend([row.hold, row.fail, row.unknown].map(|n| n.to_string()));
        fields.extend([row.stopped.clone().unwrap_or_default(), row.error.clone().unwrap_or_default()]);
        fields.push(row.repeats.to_string());
        fields.extend([row.total_seconds, row.min_seconds, row.max_seconds, row.load_seconds].map(text));
        let phase =
            |name: &String| row.phases.0.iter().find(|(known, _)| known == name).map(|(_, time)| *time);
        fields.extend(phases.iter().map(|name| text(phase(name))));
        fields.push(row.states.clone().unwrap_or_default());
        fields.extend(
            [row.peak_nodes, row.peak_memory_bytes].map(|n| n.map_or(String::new(), |n| n.to_string())),
        );
        for name in swept {
            let growth = row.growth.0.iter().find(|(known, _)| known == name).map(|(_, growth)| *growth);
            fields.extend([text(growth.map(|g| g.ratio)), text(growth.and_then(|g| g.exponent))]);
        }
        write_record(out, fields)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::grow;
    use crate::bench::tests::{row, stopped};

    #[test]
    fn tables() {
        let swept = ["N".to_string()];
        let mut rows =
            vec![row(&[("N", 4)], 0.5), row(&[("N", 8)], 2.0), stopped(&[("N", 12)]), row(&[("N", 16)], 8.0)];
        grow(&mut rows, &swept);
        let mut out = Vec::new();
        bench_text(&mut out, &rows, &swept).unwrap();
        rows[3].file = "b.ispl".to_string();
        rows[3].repeats = 3;
        bench_text(&mut out, &rows, &[]).unwrap();
        bench_text(&mut out, &rows[..1], &swept).unwrap();
        bench_csv(&mut out, &rows, &swept).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap().replace("\r\n", "\\r\\n\n"));
    }

    /// Columns are left out until the table fits.
    #[test]
    fn wide_tables_fit() {
        let swept = ["N".to_string(), "K".to_string()];
        let mut rows: Vec<BenchRow> = (1..4).map(|n| row(&[("N", n), ("K", 7 - n)], n as f64)).collect();
        for row in &mut rows {
            row.phases = (0..20).map(|phase| (format!("phase {phase}"), row.sizes.0[0].1 as f64)).collect();
        }
        let mut out = Vec::new();
        bench_text(&mut out, &rows, &swept).unwrap();
        let text = String::from_utf8(out).unwrap();
        let table = text.lines().filter(|line| !line.starts_with("columns") && !line.starts_with("all rows"));
        assert!(table.clone().count() == 4 && table.clone().all(|line| line.len() <= WIDTH), "{text}");
        assert!(text.contains("columns left out for width: phase 0, "), "{text}");
    }
}
