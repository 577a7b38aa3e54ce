//! The table of `masque bench` as data (schema `masque.bench/1`).

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
    /// Names of the parameters that change from row to row.
    pub swept: &'a [String],
    /// One per file, engine and combination of parameter values.
    pub rows: &'a [BenchRow],
}

/// Time and memory of one file at one size.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BenchRow {
    /// Name of the file as given by the user.
    pub file: String,
    /// Parameters of the file with the values used.
    pub parameters: Entries<i64>,
    /// Value of the parameter that changes from row to row, if only one does.
    pub size: Option<i64>,
    /// Values of all parameters that change from row to row.
    pub sizes: Entries<i64>,
    /// Requested engine.
    pub engine: String,
    /// Engines that decided the properties, joined by `+`; null if none did.
    pub decided_by: Option<String>,
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
    /// Number of times that the row was measured.
    pub repeats: usize,
    /// Time from the start of the process to its end, the median of all measurements; null if the process was
    /// killed or reported an error.
    pub total_seconds: Option<f64>,
    /// Shortest of these times.
    pub min_seconds: Option<f64>,
    /// Longest of these times.
    pub max_seconds: Option<f64>,
    /// Number of reachable states in decimal.
    pub states: Option<String>,
    /// Peak number of nodes of decision diagrams.
    pub peak_nodes: Option<u64>,
    /// Peak resident memory of the process; null on systems other than Linux.
    pub peak_memory_bytes: Option<u64>,
    /// Growth of the time, by the parameter that changes: in comparison with the row with its previous value and
    /// the same values of all other parameters, if the same engine decided both.
    pub growth: Entries<Growth>,
    /// If only one parameter changes: the ratio of its growth.
    pub ratio: Option<f64>,
    /// If only one parameter changes: the exponent of its growth.
    pub exponent: Option<f64>,
}

/// Growth of the time between two rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Growth {
    /// Total time divided by that of the other row.
    pub ratio: f64,
    /// Exponent k such that the total time grew like the k-th power of the parameter; null unless both values
    /// are positive and differ.
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
        let is_unloaded = items(&run["diagnostics"]).any(|d| d["code"] == "load/stopped");
        let stopped = stopped.or(is_unloaded.then(|| "not loaded".to_string()));
        Some(BenchRow {
            file: word(run["files"].get(0)?).to_string(),
            parameters: parameters.filter_map(|(n, v)| Some((n.clone(), v.as_i64()?))).collect(),
            size: None,
            sizes: Entries::default(),
            engine: word(&run["engine"]).to_string(),
            decided_by: decided_by(stats),
            hold: verdicts("holds"),
            fail: verdicts("fails"),
            unknown: verdicts("unknown"),
            stopped,
            load_seconds: stats["load_seconds"].as_f64(),
            phases: phases(&engines),
            repeats: 1,
            total_seconds: error.is_none().then_some(total_seconds),
            min_seconds: error.is_none().then_some(total_seconds),
            max_seconds: error.is_none().then_some(total_seconds),
            error,
            states: text(&run["states"]),
            peak_nodes,
            peak_memory_bytes: stats["peak_memory_bytes"].as_u64(),
            growth: Entries::default(),
            ratio: None,
            exponent: None,
        })
    }

    /// The row for several measurements of the same check: the one with the median time, with the least and the
    /// greatest time of all. If a limit ended one of them, that one.
    pub fn median(mut rows: Vec<BenchRow>) -> Option<BenchRow> {
        let n_rows = rows.len();
        if let Some(stopped) = rows.iter().position(|row| row.time().is_none()) {
            return Some(BenchRow { repeats: n_rows, ..rows.swap_remove(stopped) });
        }
        let mut times: Vec<f64> = rows.iter().filter_map(BenchRow::time).collect();
        times.sort_by(f64::total_cmp);
        rows.sort_by(|a, b| a.time().unwrap_or_default().total_cmp(&b.time().unwrap_or_default()));
        let middle = n_rows.checked_sub(1)? / 2;
        let median = f64::midpoint(times[middle], times[n_rows / 2]);
        Some(BenchRow {
            repeats: n_rows,
            total_seconds: Some(median),
            min_seconds: times.first().copied(),
            max_seconds: times.last().copied(),
            ..rows.swap_remove(middle)
        })
    }

    /// The total time, if no limit ended the check.
    pub(crate) fn time(&self) -> Option<f64> {
        if self.stopped.is_none() { self.total_seconds } else { None }
    }

    /// `3 hold, 1 fails`, or the error.
    pub(crate) fn answers(&self) -> String {
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

/// The engines that decided the properties, each once.
fn decided_by(stats: &Value) -> Option<String> {
    let mut names: Vec<&str> = items(&stats["properties"]).filter_map(|p| p["engine"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| names.join("+"))
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

/// Computes how the total time grows from row to row: for each parameter, between rows with neighbouring values of
/// it, if everything else is equal: the file, the other parameters, and the engine that decided.
///
/// ```text
/// ratio = t2 / t1        exponent = log(t2 / t1) / log(n2 / n1)
/// ```
pub fn grow(rows: &mut [BenchRow], swept: &[String]) {
    for (index, name) in swept.iter().enumerate() {
        let mut values: Vec<i64> = rows.iter().filter_map(|row| Some(row.sizes.0.get(index)?.1)).collect();
        values.sort_unstable();
        values.dedup();
        for current in 0..rows.len() {
            let growth = neighbour(rows, current, index, &values)
                .and_then(|before| growth(&rows[before], &rows[current], index));
            rows[current].growth.0.extend(growth.map(|growth| (name.clone(), growth)));
        }
    }
    if swept.len() == 1 {
        for row in rows {
            let growth = row.growth.0.first().map(|(_, growth)| *growth);
            (row.ratio, row.exponent) = (growth.map(|g| g.ratio), growth.and_then(|g| g.exponent));
        }
    }
}

/// The row with the previous value of a parameter and everything else equal.
fn neighbour(rows: &[BenchRow], current: usize, index: usize, values: &[i64]) -> Option<usize> {
    let row = &rows[current];
    let value = row.sizes.0.get(index)?.1;
    let before = *values.get(values.binary_search(&value).ok()?.checked_sub(1)?)?;
    let mut sizes = row.sizes.clone();
    sizes.0[index].1 = before;
    let key = |row: &BenchRow| (row.file.clone(), row.engine.clone());
    rows.iter().position(|other| key(other) == key(row) && other.sizes == sizes)
}

fn growth(before: &BenchRow, row: &BenchRow, index: usize) -> Option<Growth> {
    let ratio = row.time()? / before.time()?;
    if !ratio.is_finite() || before.decided_by != row.decided_by {
        return None;
    }
    let (n1, n2) = (before.sizes.0[index].1, row.sizes.0[index].1);
    let exponent = (n1 > 0 && n2 > 0 && n1 != n2).then(|| ratio.ln() / (n2 as f64 / n1 as f64).ln());
    Some(Growth { ratio, exponent })
}

/// Writes the table as one JSON object.
pub fn bench_json(out: &mut dyn Write, rows: &[BenchRow], swept: &[String]) -> io::Result<()> {
    write_json(out, &BenchReport { schema: BENCH_SCHEMA, swept, rows })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A row as a check with these values reports it.
    pub(crate) fn row(sizes: &[(&str, i64)], total: f64) -> BenchRow {
        let n = sizes[0].1;
        let report = format!(
            r#"{{"runs": [{{"files": ["a.ispl"], "engine": "auto", "parameters": {{"N": {n}}},
                "states": "{}", "diagnostics": [], "properties": [{{"verdict": "holds"}}, {{"verdict": "fails"}}],
                "stats": {{"load_seconds": 0.001, "peak_memory_bytes": 12000000,
                    "properties": [{{"engine": "symbolic"}}, {{"engine": "symbolic"}}], "engines": [{{"name": "symbolic",
                    "figures": {{"peak nodes": 77}}, "phases": [{{"name": "reach", "seconds": 0.25}}]}}]}}}}]}}"#,
            "1".repeat(n as usize)
        );
        let sizes: Entries<i64> = sizes.iter().copied().collect();
        let size = (sizes.0.len() == 1).then_some(n);
        BenchRow { size, sizes, ..BenchRow::read(report.as_bytes(), total).unwrap() }
    }

    /// A row whose check was stopped.
    pub(crate) fn stopped(sizes: &[(&str, i64)]) -> BenchRow {
        BenchRow { sizes: sizes.iter().copied().collect(), ..BenchRow::stopped("a.ispl", "auto", "timeout") }
    }

    #[test]
    fn growth_is_between_neighbours() {
        let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let mut rows = vec![
            row(&[("N", 4)], 0.5),
            row(&[("N", 8)], 2.0),
            stopped(&[("N", 12)]),
            row(&[("N", 16)], 8.0),
            row(&[("N", 18)], 9.0),
        ];
        rows[4].decided_by = Some("explicit".to_string());
        grow(&mut rows, &names(&["N"]));
        assert_eq!((rows[1].ratio, rows[1].exponent), (Some(4.0), Some(2.0)));
        assert_eq!((rows[2].ratio, rows[3].ratio), (None, None), "nothing to compare with");
        assert_eq!(rows[4].ratio, None, "another engine decided");
        let mut rows: Vec<BenchRow> = [(1, 2, 1.0), (1, 4, 2.0), (3, 2, 6.0), (3, 4, 4.0)]
            .map(|(n, k, time)| row(&[("N", n), ("K", k)], time))
            .to_vec();
        grow(&mut rows, &names(&["N", "K"]));
        let ratios = |row: &BenchRow| -> Vec<(String, f64)> {
            row.growth.0.iter().map(|(name, growth)| (name.clone(), growth.ratio)).collect()
        };
        assert_eq!(ratios(&rows[0]), []);
        assert_eq!(ratios(&rows[1]), [("K".to_string(), 2.0)]);
        assert_eq!(ratios(&rows[2]), [("N".to_string(), 6.0)]);
        assert_eq!(ratios(&rows[3]), [("N".to_string(), 2.0), ("K".to_string(), 4.0 / 6.0)]);
        assert_eq!(rows[3].ratio, None, "two parameters change");
    }

    #[test]
    fn the_median_of_repeated_measurements() {
        let times = |times: &[f64]| times.iter().map(|&time| row(&[("N", 2)], time)).collect::<Vec<_>>();
        let median = BenchRow::median(times(&[5.0, 1.0, 2.0])).unwrap();
        assert_eq!(
            (median.total_seconds, median.min_seconds, median.max_seconds),
            (Some(2.0), Some(1.0), Some(5.0))
        );
        let median = BenchRow::median(times(&[4.0, 1.0, 2.0, 3.0])).unwrap();
        assert_eq!((median.total_seconds, median.repeats), (Some(2.5), 4));
        let mut rows = times(&[4.0, 1.0]);
        rows.push(stopped(&[("N", 2)]));
        assert_eq!(BenchRow::median(rows).unwrap().stopped.as_deref(), Some("timeout"));
        assert_eq!(BenchRow::median(Vec::new()), None);
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
