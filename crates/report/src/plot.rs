//! A plot of the times of `masque bench`, as SVG.
//!
//! The parameter with the most values is the horizontal axis; every combination of the file, the engine and the
//! other parameters is a series. Times are on a logarithmic axis, because they usually grow by a factor.

use std::fmt;
use std::ops::Range;

use plotters::coord::combinators::BindKeyPoints;
use plotters::prelude::*;

use crate::bench::BenchRow;

/// Width and height of the drawing in pixels; it scales to any size.
const SIZE: (u32, u32) = (960, 600);
/// Maximum number of labels of the horizontal axis.
const MAX_LABELS: usize = 16;
/// Maximum number of series.
const MAX_SERIES: usize = 16;
/// Ratio of the largest to the smallest value of the parameter from which its axis is logarithmic, too.
const LOGARITHMIC_SPAN: i64 = 32;
/// Smallest time that is drawn, in seconds: the start of a process takes longer.
const MIN_SECONDS: f64 = 1e-4;
/// Distinguishable colours [Okabe and Ito, Color Universal Design, 2008], without yellow.
const COLORS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(80, 80, 80),
];

/// Why measurements cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlotError {
    /// No parameter has several values.
    NoParameter,
    /// There are more series than can be distinguished.
    TooManySeries(usize),
    /// No row was measured.
    NothingMeasured,
    /// The drawing failed.
    Drawing(String),
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlotError::NoParameter => {
                write!(f, "a plot needs a parameter with several values, as in `-D N=2..6`")
            }
            PlotError::TooManySeries(n) => {
                write!(f, "a plot shows at most {MAX_SERIES} series, and these measurements have {n}")
            }
            PlotError::NothingMeasured => write!(f, "no row was measured, so there is nothing to draw"),
            PlotError::Drawing(message) => write!(f, "the plot could not be drawn: {message}"),
        }
    }
}

impl std::error::Error for PlotError {}

/// Rows that differ in the parameter of the horizontal axis only.
struct PlotSeries<'r> {
    name: String,
    rows: Vec<(i64, &'r BenchRow)>,
}

/// Draws the median times of rows as an SVG text. `timeout` is the time limit of each row in seconds, at which rows
/// that hit it are marked.
///
/// # Errors
///
/// If there is nothing to draw, or too much.
pub fn bench_plot(rows: &[BenchRow], swept: &[String], timeout: Option<f64>) -> Result<String, PlotError> {
    let (axis, name) = axis(rows, swept).ok_or(PlotError::NoParameter)?;
    let all = series(rows, swept, axis);
    if all.len() > MAX_SERIES {
        return Err(PlotError::TooManySeries(all.len()));
    }
    let times = times(rows, timeout).ok_or(PlotError::NothingMeasured)?;
    let mut values: Vec<i64> = all.iter().flat_map(|series| series.rows.iter().map(|(x, _)| *x)).collect();
    values.sort_unstable();
    values.dedup();
    let title = title(rows);
    let plot = Plot { name, title: &title, series: &all, values: &values, times, timeout };
    let mut svg = String::new();
    let drawn = {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let (first, last) = (values[0], values[values.len() - 1]);
        if first > 0 && last / first >= LOGARITHMIC_SPAN {
            plot.draw_logarithmic(&area)
        } else {
            plot.draw_linear(&area)
        }
    };
    drawn.map_err(|error| PlotError::Drawing(error.to_string()))?;
    Ok(svg)
}

/// The parameter with the most values, the first of several: its index and name.
fn axis<'s>(rows: &[BenchRow], swept: &'s [String]) -> Option<(usize, &'s str)> {
    let n_values = |index: usize| {
        let mut values: Vec<i64> = rows.iter().filter_map(|row| Some(row.sizes.0.get(index)?.1)).collect();
        values.sort_unstable();
        values.dedup();
        values.len()
    };
    let best = (0..swept.len()).rev().max_by_key(|&index| n_values(index))?;
    (n_values(best) > 1).then(|| (best, swept[best].as_str()))
}

/// The file and the engine, if all rows share them.
fn title(rows: &[BenchRow]) -> String {
    let common = |of: fn(&BenchRow) -> &String| {
        let first = of(rows.first()?);
        rows.iter().all(|row| of(row) == first).then(|| first.clone())
    };
    let file = common(|row| &row.file).map(|file| {
        let name = std::path::Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned());
        name.unwrap_or(file)
    });
    let engine = common(|row| &row.engine).map(|engine| format!("engine {engine}"));
    file.into_iter().chain(engine).collect::<Vec<_>>().join(", ")
}

fn series<'r>(rows: &'r [BenchRow], swept: &[String], axis: usize) -> Vec<PlotSeries<'r>> {
    let differs = |of: fn(&BenchRow) -> &String| rows.iter().any(|row| of(row) != of(&rows[0]));
    let (has_files, has_engines) = (differs(|row| &row.file), differs(|row| &row.engine));
    let mut all: Vec<PlotSeries<'r>> = Vec::new();
    for row in rows {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(has_files.then(|| row.file.clone()));
        parts.extend(has_engines.then(|| row.engine.clone()));
        let others = row.sizes.0.iter().enumerate().filter(|(index, _)| *index != axis);
        parts.extend(others.map(|(_, (name, value))| format!("{name} = {value}")));
        let Some((_, x)) = row.sizes.0.get(axis) else { continue };
        let name = if parts.is_empty() { swept[axis].clone() } else { parts.join(", ") };
        match all.iter_mut().find(|series| series.name == name) {
            Some(series) => series.rows.push((*x, row)),
            None => all.push(PlotSeries { name, rows: vec![(*x, row)] }),
        }
    }
    all.iter_mut().for_each(|series| series.rows.sort_by_key(|(x, _)| *x));
    all
}

/// The range of times: whole decades that include those of the rows.
fn times(rows: &[BenchRow], timeout: Option<f64>) -> Option<Range<f64>> {
    let measured = rows.iter().filter_map(BenchRow::time).flat_map(|time| {
        let spread = rows.iter().filter(move |row| row.time() == Some(time));
        spread.flat_map(|row| [row.min_seconds, row.max_seconds]).flatten().chain([time])
    });
    let is_stopped = rows.iter().any(|row| row.time().is_none() && row.error.is_none());
    let all: Vec<f64> = measured.chain(timeout.filter(|_| is_stopped)).map(|t| t.max(MIN_SECONDS)).collect();
    let least = all.iter().copied().reduce(f64::min)?;
    let greatest = all.iter().copied().reduce(f64::max)?;
    // Whole decades, so that the ends of the axis have labels; marks of stopped rows lie below the end.
    let end = greatest * if is_stopped { 1.5 } else { 1.0 };
    let (first, last) = (least.log10().floor(), end.log10().ceil());
    // A little more, because rounding could put the first label outside.
    Some(10_f64.powf(first) * 0.999..10_f64.powf(last.max(first + 1.0)) * 1.001)
}

struct Plot<'p> {
    name: &'p str,
    title: &'p str,
    series: &'p [PlotSeries<'p>],
    /// Values of the parameter, in increasing order.
    values: &'p [i64],
    times: Range<f64>,
    timeout: Option<f64>,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type DrawingError = DrawingAreaErrorKind<std::io::Error>;

impl Plot<'_> {
    fn chart<'a, 'b>(
        &self,
        area: &'a Area<'b>,
    ) -> Result<ChartBuilder<'a, 'b, SVGBackend<'b>>, DrawingError> {
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area);
        chart.margin(16).x_label_area_size(56).y_label_area_size(88);
        chart.caption(self.title, ("sans-serif", 20));
        Ok(chart)
    }

    fn bounds(&self) -> (f64, f64) {
        (self.values[0] as f64, self.values[self.values.len() - 1] as f64)
    }

    /// The values of the parameter that have labels.
    fn labelled(&self) -> Vec<f64> {
        let every = self.values.len().div_ceil(MAX_LABELS);
        self.values.iter().step_by(every).map(|&value| value as f64).collect()
    }

    fn draw_linear(&self, area: &Area<'_>) -> Result<(), DrawingError> {
        let (first, last) = self.bounds();
        let margin = ((last - first) / 30.0).max(0.1);
        let mut chart = self.chart(area)?;
        let range = first - margin..last + margin;
        self.draw(chart.build_cartesian_2d(range, self.times.clone().log_scale())?)
    }

    fn draw_logarithmic(&self, area: &Area<'_>) -> Result<(), DrawingError> {
        let (first, last) = self.bounds();
        let mut chart = self.chart(area)?;
        let range = (first / 1.1..last * 1.1).log_scale().with_key_points(self.labelled());
        self.draw(chart.build_cartesian_2d(range, self.times.clone().log_scale())?)
    }

    fn draw<'a, 'b: 'a, X: Ranged<ValueType = f64> + plotters::coord::ranged1d::ValueFormatter<f64>>(
        &self,
        mut chart: ChartContext<'a, SVGBackend<'b>, Cartesian2d<X, LogCoord<f64>>>,
    ) -> Result<(), DrawingError> {
        let is_repeated = self.series.iter().flat_map(|series| &series.rows).any(|(_, row)| row.repeats > 1);
        let text = ("sans-serif", 17).into_font().color(&BLACK);
        chart
            .configure_mesh()
            .x_desc(self.name)
            .y_desc(if is_repeated { "median time in seconds" } else { "time in seconds" })
            .x_labels(self.values.len().min(MAX_LABELS))
            .x_max_light_lines(1)
            .y_labels(6)
            .x_label_formatter(&|x| if x.fract() == 0.0 { format!("{x}") } else { String::new() })
            .y_label_formatter(&|y| seconds(*y))
            .label_style(text.clone())
            .axis_desc_style(("sans-serif", 19))
            .bold_line_style(BLACK.mix(0.15))
            .light_line_style(BLACK.mix(0.05))
            .draw()?;
        let mut has_stopped = false;
        for (index, series) in self.series.iter().enumerate() {
            let color = COLORS[index % COLORS.len()];
            // Series that share a colour differ in their marks.
            let is_filled = index < COLORS.len();
            for part in series.measured() {
                chart.draw_series(LineSeries::new(part.iter().copied(), color.stroke_width(2)))?;
            }
            let points: Vec<(f64, f64)> = series.measured().concat();
            let mark = if is_filled { color.filled() } else { color.stroke_width(2) };
            let marks = points.into_iter().map(move |point| Circle::new(point, 4, mark));
            chart.draw_series(marks)?.label(series.name.clone()).legend(move |(x, y)| {
                EmptyElement::at((x, y))
                    + PathElement::new(vec![(0, 0), (24, 0)], color.stroke_width(2))
                    + Circle::new((12, 0), 4, mark)
            });
            let spreads = series.rows.iter().filter_map(|(x, row)| {
                let (least, greatest) = (row.min_seconds?, row.max_seconds?);
                let x = *x as f64;
                (row.time().is_some() && row.repeats > 1).then(|| {
                    PathElement::new(vec![(x, least.max(MIN_SECONDS)), (x, greatest)], color.stroke_width(1))
                })
            });
            chart.draw_series(spreads)?;
            let stopped: Vec<(f64, f64)> = self.stopped(series);
            has_stopped |= !stopped.is_empty();
            chart
                .draw_series(stopped.into_iter().map(|point| Cross::new(point, 6, color.stroke_width(3))))?;
        }
        if has_stopped {
            let none: Vec<Cross<(f64, f64), u32>> = Vec::new();
            chart
                .draw_series(none)?
                .label("stopped by a limit")
                .legend(|(x, y)| EmptyElement::at((x, y)) + Cross::new((12, 0), 6, BLACK.stroke_width(3)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK.mix(0.3))
            .label_font(text)
            .legend_area_size(32)
            .draw()
    }

    /// The marks of rows that a limit stopped: at the time limit, or at the top without one.
    fn stopped(&self, series: &PlotSeries<'_>) -> Vec<(f64, f64)> {
        let top = self.times.end / 1.2;
        let at = |row: &BenchRow| match self.timeout {
            Some(timeout) if row.stopped.as_deref() == Some("timeout") => {
                timeout.clamp(self.times.start, top)
            }
            _ => top,
        };
        let is_stopped = |row: &BenchRow| row.time().is_none() && row.error.is_none();
        series.rows.iter().filter(|(_, row)| is_stopped(row)).map(|(x, row)| (*x as f64, at(row))).collect()
    }
}

impl PlotSeries<'_> {
    /// The measured points, in parts between rows that were not measured.
    fn measured(&self) -> Vec<Vec<(f64, f64)>> {
        let mut parts = vec![Vec::new()];
        for (x, row) in &self.rows {
            match (row.time(), parts.last_mut()) {
                (Some(time), Some(part)) => part.push((*x as f64, time.max(MIN_SECONDS))),
                _ => parts.push(Vec::new()),
            }
        }
        parts
    }
}

/// A time with its unit.
fn seconds(time: f64) -> String {
    match time {
        time if time >= 1.0 => format!("{} s", rounded(time)),
        time if time >= 1e-3 => format!("{} ms", rounded(time * 1e3)),
        time => format!("{} µs", rounded(time * 1e6)),
    }
}

fn rounded(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::tests::{row, stopped};

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn series_are_combinations_of_the_other_parameters() {
        let mut rows: Vec<BenchRow> = Vec::new();
        for n in 1..5 {
            rows.push(row(&[("N", n), ("K", 1)], n as f64));
            rows.push(row(&[("N", n), ("K", 2)], (n * n) as f64));
        }
        rows.push(stopped(&[("N", 5), ("K", 2)]));
        let svg = bench_plot(&rows, &names(&["N", "K"]), Some(60.0)).unwrap();
        for text in ["K = 1", "K = 2", "stopped by a limit", "time in seconds", "\nN\n", "viewBox"] {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 8 + 2, "a mark for each row, and for each series");
    }

    #[test]
    fn what_cannot_be_drawn() {
        let rows = vec![row(&[("N", 4)], 0.5)];
        assert_eq!(bench_plot(&rows, &names(&["N"]), None), Err(PlotError::NoParameter));
        assert_eq!(bench_plot(&rows, &[], None), Err(PlotError::NoParameter));
        let rows = vec![stopped(&[("N", 4)]), stopped(&[("N", 5)])];
        assert_eq!(bench_plot(&rows, &names(&["N"]), None), Err(PlotError::NothingMeasured));
        let many: Vec<BenchRow> = (0..60).map(|i| row(&[("N", 1 + i % 20), ("K", i / 3)], 1.0)).collect();
        assert!(matches!(bench_plot(&many, &names(&["N", "K"]), None), Err(PlotError::TooManySeries(20))));
    }

    /// Names of files are text, not markup.
    #[test]
    fn names_are_escaped() {
        let mut rows = vec![row(&[("N", 1)], 0.5), row(&[("N", 2)], 0.5), row(&[("N", 3)], 0.5)];
        rows[0].file = "<script>&.ispl".to_string();
        let svg = bench_plot(&rows, &names(&["N"]), None).unwrap();
        assert!(svg.contains("&lt;script&gt;&amp;.ispl") && !svg.contains("<script"), "{svg}");
    }
}
