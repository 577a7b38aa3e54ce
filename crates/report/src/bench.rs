//! The table of `masque bench` as data (schema `masque.bench/1`) and as text.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::Entries;
use crate::check::write_json;
use crate::wording::nonzero;

/// The name and version of the format.
pub const BENCH_SCHEMA: &str = "masque.bench/1";

/// What `masque bench --format json` prints.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(title = "masque.bench/1")]
pub struct BenchReport<'a> {
    /// The name of this format: `masque.bench/1`.
    #[schemars(extend("const" = BENCH_SCHEMA))]
    pub schema: &'static str,
    /// One per file and size.
    pub rows: &'a [BenchRow],
}

/// Time and memory of one file at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BenchRow {
    /// Name of the file as given by the user.
    pub file: String,
    /// Parameters of the file with the values used.
    pub parameters: Entries<i64>,
    /// Value of the parameter that changes from row to row.
    pub size: Option<i64>,
    /// Requested engine.
    pub engine: String,
    /// Number of properties that hold.
    pub hold: u64,
    /// Number of properties that fail.
    pub fail: u64,
    /// Number of undecided properties.
    pub unknown: u64,
    /// Limit that ended the check: `timeout`, `memory`, ..
    pub stopped: Option<String>,
    /// First error of the file, if it has errors.
    pub error: Option<String>,
    /// Time for reading, parsing and type checking the file.
    pub load_seconds: Option<f64>,
    /// Seconds of each phase of the engine, in order; with the engine's name if there are several engines.
    pub phases: Entries<f64>,
    /// Time from the start of the process to its end; null if the process was killed or reported an error.
    pub total_seconds: Option<f64>,
    /// Number of reachable states in decimal.
    pub states: Option<String>,
    /// Peak number of nodes of decision diagrams.
    pub peak_nodes: Option<u64>,
    /// Peak resident memory of the process; null on systems other than Linux.
    pub peak_memory_bytes: Option<u64>,
    /// Total time divided by that of the row before.
    pub ratio: Option<f64>,
    /// Exponent k such that the total time grew like size^k since the row before.
    pub exponent: Option<f64>,
}

impl BenchRow {
    /// Returns a row for a process that ended without a report.
    pub fn stopped(file: &str, engine: &str, why: &str) -> BenchRow {
        let (file, engine, stopped) = (file.to_string(), engine.to_string(), Some(why.to_string()));
        BenchRow { file, engine, stopped, ..BenchRow::default() }
    }

    /// Reads the report of `masque check --format json --stats` on one file.
    pub fn read(report: &[u8], total_seconds: f64) -> Option<BenchRow> {
        let report: Value = serde_json::from_slice(report).ok()?;
        let run = report["runs"].get(0)?;
        let text = |value: &Value| value.as_str().map(str::to_string);
        let verdicts = |word: &str| items(&run["properties"]).filter(|p| p["verdict"] == word).count() as u64;
        let mut reasons = items(&run["properties"]).filter_map(|p| text(&p["reason"]));
        let error = items(&run["diagnostics"])
            .find(|d| d["severity"] == "error")
            .map(|d| format!("error[{}]: {}", word(&d["code"]), word(&d["message"])));
        let stats = &run["stats"];
        let engines: Vec<&Value> = items(&stats["engines"]).collect();
        let peak_nodes = engines.iter().filter_map(|e| e["figures"]["peak nodes"].as_u64()).max();
        let parameters = run["parameters"].as_object().into_iter().flatten();
        // An unsupported property costs no time; one that a limit stopped does.
        let stopped = reasons.find(|r| !["unsupported", "no-fair-path"].contains(&r.as_str()));
        Some(BenchRow {
            file: word(run["files"].get(0)?).to_string(),
            parameters: parameters.filter_map(|(n, v)| Some((n.clone(), v.as_i64()?))).collect(),
            size: None,
            engine: word(&run["engine"]).to_string(),
            hold: verdicts("holds"),
            fail: verdicts("fails"),
            unknown: verdicts("unknown"),
            stopped,
            load_seconds: stats["load_seconds"].as_f64(),
            phases: phases(&engines),
            total_seconds: error.is_none().then_some(total_seconds),
            error,
            states: text(&run["states"]),
            peak_nodes,
            peak_memory_bytes: stats["peak_memory_bytes"].as_u64(),
            ratio: None,
            exponent: None,
        })
    }

    /// The total time, if no limit ended the check.
    fn time(&self) -> Option<f64> {
        if self.stopped.is_none() { self.total_seconds } else { None }
    }

    /// `3 hold, 1 fails`, or the error.
    fn answers(&self) -> String {
        if let Some(error) = &self.error {
            return error.clone();
        }
        let mut parts = nonzero(&[(self.hold, "holds", "hold"), (self.fail, "fails", "fail")]);
        match (&self.stopped, self.unknown) {
            (Some(why), 0) => parts.push(why.clone()),
            (Some(why), n) => parts.push(format!("{n} unknown({why})")),
            (None, 0) => {}
            (None, n) => parts.push(format!("{n} unknown")),
        }
        parts.join(", ")
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn phases(engines: &[&Value]) -> Entries<f64> {
    let name = |engine: &Value, phase: &Value| match engines.len() {
        1 => word(&phase["name"]).to_string(),
        _ => format!("{} {}", word(&engine["name"]), word(&phase["name"])),
    };
    let all = engines.iter().flat_map(|engine| {
        items(&engine["phases"])
            .filter_map(move |phase| Some((name(engine, phase), phase["seconds"].as_f64()?)))
    });
    all.collect()
}

/// Computes how the total time grows from row to row of one family.
///
/// ```text
/// ratio = t2 / t1        exponent = log(t2 / t1) / log(n2 / n1)
/// ```
pub fn grow(rows: &mut [BenchRow]) {
    for i in 1..rows.len() {
        let (Some(before), Some(now)) = (rows[i - 1].time(), rows[i].time()) else { continue };
        let ratio = now / before;
        if !ratio.is_finite() {
            continue;
        }
        rows[i].ratio = Some(ratio);
        if let (Some(n1 @ 1..), Some(n2 @ 1..)) = (rows[i - 1].size, rows[i].size)
            && n1 != n2
        {
            rows[i].exponent = Some(ratio.ln() / (n2 as f64 / n1 as f64).ln());
        }
    }
}

/// Writes the table as one JSON object.
pub fn bench_json(out: &mut dyn Write, rows: &[BenchRow]) -> io::Result<()> {
    write_json(out, &BenchReport { schema: BENCH_SCHEMA, rows })
}

/// Writes the table as text with aligned columns. `size` is the name of the parameter that changes.
pub fn bench_text(out: &mut dyn Write, size: Option<&str>, rows: &[BenchRow]) -> io::Result<()> {
    let seconds = |time: Option<f64>| time.map_or("-".to_string(), |time| format!("{time:.3}"));
    let mut phases: Vec<&String> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.phases.0) {
        if !phases.contains(&name) {
            phases.push(name);
        }
    }
    let mut head: Vec<String> = Vec::new();
    let has_files = size.is_none() || rows.iter().any(|row| row.file != rows[0].file);
    if has_files {
        head.push("file".to_string());
    }
    head.extend(size.map(str::to_string));
    head.push("load".to_string());
    head.extend(phases.iter().map(|name| name.to_string()));
    head.extend(
        ["total s", "states", "peak nodes", "MB", "ratio", "exponent", "answers"].map(str::to_string),
    );
    let mut table = vec![head];
    for row in rows {
        let mut cells = Vec::new();
        if has_files {
            cells.push(row.file.clone());
        }
        cells.extend(size.map(|_| row.size.map_or("-".to_string(), |n| n.to_string())));
        cells.push(seconds(row.load_seconds));
        for phase in &phases {
            cells.push(seconds(row.phases.0.iter().find(|(name, _)| name == *phase).map(|(_, time)| *time)));
        }
        cells.push(seconds(row.total_seconds));
        cells.push(row.states.as_deref().map_or("-".to_string(), short));
        cells.push(row.peak_nodes.map_or("-".to_string(), |n| n.to_string()));
        cells.push(row.peak_memory_bytes.map_or("-".to_string(), |b| format!("{:.0}", b as f64 / 1e6)));
        cells.push(row.ratio.map_or("-".to_string(), |r| format!("{r:.2}")));
        cells.push(row.exponent.map_or("-".to_string(), |k| format!("{k:.2}")));
        cells.push(row.answers());
        table.push(cells);
    }
    let n_columns = table[0].len();
    let width = |column: usize| table.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    for cells in &table {
        let mut line = String::new();
        for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
            // Words are left-aligned, numbers right-aligned.
            let is_word = column + 1 == n_columns || (has_files && column == 0);
            line += &if is_word { format!("{cell:width$}") } else { format!("{cell:>width$}") };
            line += "  ";
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// A number of at most 12 digits in full, a longer one as `1.23e45`.
pub(crate) fn short(digits: &str) -> String {
    match digits.len() {
        ..=12 => digits.to_string(),
        n => format!("{}.{}e{}", &digits[..1], &digits[1..3], n - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(size: i64, total: f64) -> BenchRow {
        let report = format!(
            r#"{{"runs": [{{"files": ["a.ispl"], "engine": "auto", "parameters": {{"N": {size}}},
                "states": "{}", "diagnostics": [], "properties": [{{"verdict": "holds"}}, {{"verdict": "fails"}}],
                "stats": {{"load_seconds": 0.001, "peak_memory_bytes": 12000000, "engines": [{{"name": "symbolic",
                    "figures": {{"peak nodes": 77}}, "phases": [{{"name": "reach", "seconds": 0.25}}]}}]}}}}]}}"#,
            "1".repeat(size as usize)
        );
        BenchRow { size: Some(size), ..BenchRow::read(report.as_bytes(), total).unwrap() }
    }

    #[test]
    fn tables() {
        let mut rows =
            vec![row(4, 0.5), row(8, 2.0), BenchRow::stopped("a.ispl", "auto", "timeout"), row(16, 8.0)];
        rows[2].size = Some(12);
        grow(&mut rows);
        assert_eq!((rows[1].ratio, rows[1].exponent), (Some(4.0), Some(2.0)));
        assert_eq!((rows[2].ratio, rows[3].ratio), (None, None), "nothing to compare with");
        let mut out = Vec::new();
        bench_text(&mut out, Some("N"), &rows).unwrap();
        rows[3].file = "b.ispl".to_string();
        bench_text(&mut out, None, &rows).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    #[test]
    fn rows_are_read_from_reports_only() {
        assert_eq!(BenchRow::read(b"", 1.0), None);
        assert_eq!(BenchRow::read(b"{}", 1.0), None);
        let wrong = br#"{"runs": [{"files": ["a"], "diagnostics": [{"severity": "error", "code": "x/y", "message": "no"}]}]}"#;
        let row = BenchRow::read(wrong, 1.0).unwrap();
        assert_eq!((row.answers(), row.total_seconds), ("error[x/y]: no".to_string(), None));
    }
}
