//! Counters, in the text format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::protocol::Method;

/// The upper bounds of the histogram of times, in seconds.
const BOUNDS: [f64; 8] = [0.001, 0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0];

/// Counters since the start.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    methods: [PerMethod; Method::ALL.len()],
    /// Messages in which no call could be read.
    pub misread: AtomicU64,
    /// Requests that were refused.
    pub refused: AtomicU64,
    /// Connections that were accepted.
    pub connections: AtomicU64,
    /// Connections that were closed because they did not show the token in time.
    pub dismissed: AtomicU64,
    /// Sessions that were closed because they were idle.
    pub expired: AtomicU64,
    /// Calls that ended in a bug in Masque.
    pub bugs: AtomicU64,
}

#[derive(Debug, Default)]
struct PerMethod {
    ok: AtomicU64,
    failed: AtomicU64,
    times: [AtomicU64; BOUNDS.len()],
    micros: AtomicU64,
}

/// The current state of the service in numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gauges {
    /// Open sessions.
    pub sessions: usize,
    /// Bytes that they and the calls in progress hold.
    pub session_bytes: u64,
    /// Calls that wait for a thread.
    pub waiting: usize,
    /// Calls in progress.
    pub running: usize,
    /// Calls in progress that have become long.
    pub long: usize,
    /// Calls without a response.
    pub calls: usize,
    /// Child processes.
    pub children: usize,
    /// Open connections.
    pub connections: usize,
}

impl Metrics {
    /// Records the result of a call.
    pub(crate) fn answered(&self, method: Method, is_ok: bool, time: Duration) {
        let row = &self.methods[method as usize];
        if is_ok { &row.ok } else { &row.failed }.fetch_add(1, Relaxed);
        row.micros.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Relaxed);
        if let Some(index) = BOUNDS.iter().position(|bound| time.as_secs_f64() <= *bound) {
            row.times[index].fetch_add(1, Relaxed);
        }
    }

    /// All metrics as text.
    pub(crate) fn text(&self, gauges: Gauges) -> String {
        let mut out = String::new();
        let mut single = |name: &str, kind: &str, help: &str, value: u64| {
            _ = writeln!(
                out,
                "# HELP masque_{name} {help}\n# TYPE masque_{name} {kind}\nmasque_{name} {value}"
            );
        };
        single("sessions", "gauge", "Open sessions.", gauges.sessions as u64);
        single("session_bytes", "gauge", "Bytes held by sessions and calls.", gauges.session_bytes);
        single("calls_waiting", "gauge", "Calls that wait for a thread.", gauges.waiting as u64);
        single("calls_running", "gauge", "Calls in progress.", gauges.running as u64);
        single("calls_long", "gauge", "Calls in progress that have become long.", gauges.long as u64);
        single("calls_open", "gauge", "Calls without a response.", gauges.calls as u64);
        single("children", "gauge", "Child processes.", gauges.children as u64);
        single("connections", "gauge", "Open connections.", gauges.connections as u64);
        let load = |counter: &AtomicU64| counter.load(Relaxed);
        single("connections_total", "counter", "Connections accepted.", load(&self.connections));
        let help = "Connections closed before they showed the token.";
        single("connections_dismissed_total", "counter", help, load(&self.dismissed));
        single("misread_total", "counter", "Messages without a call.", load(&self.misread));
        single("refused_total", "counter", "Requests refused.", load(&self.refused));
        single("sessions_expired_total", "counter", "Idle sessions closed.", load(&self.expired));
        single("bugs_total", "counter", "Calls that ended in a bug.", load(&self.bugs));
        self.calls(&mut out);
        out
    }

    fn calls(&self, out: &mut String) {
        *out += "# HELP masque_calls_total Calls answered.\n# TYPE masque_calls_total counter\n";
        for (method, row) in Method::ALL.iter().zip(&self.methods) {
            for (outcome, counter) in [("ok", &row.ok), ("error", &row.failed)] {
                let n = counter.load(Relaxed);
                let method = method.name();
                _ = writeln!(out, "masque_calls_total{{method=\"{method}\",outcome=\"{outcome}\"}} {n}");
            }
        }
        *out += "# HELP masque_call_seconds From reading a call to its answer.\n";
        *out += "# TYPE masque_call_seconds histogram\n";
        for (method, row) in Method::ALL.iter().zip(&self.methods) {
            let (method, mut n) = (method.name(), 0);
            for (bound, counter) in BOUNDS.iter().zip(&row.times) {
                n += counter.load(Relaxed);
                _ = writeln!(out, "masque_call_seconds_bucket{{method=\"{method}\",le=\"{bound}\"}} {n}");
            }
            let all = row.ok.load(Relaxed) + row.failed.load(Relaxed);
            let seconds = row.micros.load(Relaxed) as f64 / 1e6;
            _ = writeln!(out, "masque_call_seconds_bucket{{method=\"{method}\",le=\"+Inf\"}} {all}");
            _ = writeln!(out, "masque_call_seconds_sum{{method=\"{method}\"}} {seconds}");
            _ = writeln!(out, "masque_call_seconds_count{{method=\"{method}\"}} {all}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_times() {
        let metrics = Metrics::default();
        metrics.answered(Method::Check, true, Duration::from_micros(1_500));
        metrics.answered(Method::Check, false, Duration::from_secs(100));
        let text = metrics.text(Gauges { sessions: 7, ..Gauges::default() });
        let has = |line: &str| assert!(text.lines().any(|l| l == line), "{line} in {text}");
        has("masque_sessions 7");
        has("masque_calls_total{method=\"check\",outcome=\"ok\"} 1");
        has("masque_calls_total{method=\"check\",outcome=\"error\"} 1");
        has("masque_call_seconds_bucket{method=\"check\",le=\"0.001\"} 0");
        has("masque_call_seconds_bucket{method=\"check\",le=\"0.005\"} 1");
        has("masque_call_seconds_bucket{method=\"check\",le=\"60\"} 1");
        has("masque_call_seconds_bucket{method=\"check\",le=\"+Inf\"} 2");
        has("masque_call_seconds_sum{method=\"check\"} 100.0015");
        has("masque_calls_total{method=\"open\",outcome=\"ok\"} 0");
    }
}
