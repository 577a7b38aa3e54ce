//! Progress of a check, on standard error if that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use masque_driver::{Progress, Reached};
use masque_report::progress_text;

/// Time after which progress is shown.
pub(crate) const DISPLAY_DELAY: Duration = Duration::from_millis(400);

/// A line with a spinner and a message. A message that is too long for the line is cut.
pub(crate) fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// The progress of one file; disappears when dropped.
pub(crate) struct Display<'a> {
    name: &'a str,
    start: Instant,
    /// The first number of states received, and the last one that differs from its predecessor, each with its
    /// time.
    counted: Option<[(Instant, u64); 2]>,
    bar: Option<ProgressBar>,
}

impl<'a> Display<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        Display { name, start: Instant::now(), counted: None, bar: None }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        let span = match progress.reached {
            Some(Reached::States(found)) => Some(self.count(now, found.states)),
            _ => None,
        };
        if now - self.start < DISPLAY_DELAY {
            return;
        }
        let bar = self.bar.get_or_insert_with(spinner);
        bar.set_message(message(self.name, now - self.start, progress, span.unwrap_or_default()));
        bar.tick();
    }

    /// The time for which states have been counted, and the number of new states in that time. States that
    /// were known at the beginning are not included: after `--resume` there are many.
    fn count(&mut self, now: Instant, states: u64) -> (Duration, u64) {
        let [first, last] = self.counted.get_or_insert([(now, states); 2]);
        if states != last.1 {
            *last = (now, states);
        }
        (last.0 - first.0, last.1.saturating_sub(first.1))
    }
}

impl Drop for Display<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// The message in one line. `span` is the time for which states have been counted, and the number of new states
/// in that time.
fn message(name: &str, time: Duration, progress: Progress, span: (Duration, u64)) -> String {
    let is_decided = !progress.is_explored && progress.decided == progress.total && progress.total > 0;
    let hint = if is_decided { " (Ctrl-C shows verdicts)" } else { "" };
    format!("{name}{hint}: {}, {} s", progress_text(progress, span), time.as_secs())
}

#[cfg(test)]
mod tests {
    use masque_driver::{DiagramPhase, DiagramProgress, Found};

    use super::*;

    #[test]
    fn messages() {
        let after = |decided, is_explored, reached, since| {
            let progress = Progress { decided, total: 3, is_explored, reached };
            message("a.ispl", Duration::from_secs(2), progress, (Duration::from_millis(since), 1_233_567))
        };
        let at = |is_explored, reached, since| after(usize::from(is_explored), is_explored, reached, since);
        let found = |workers| Some(Reached::States(Found { states: 1_234_567, layer: 17, workers }));
        assert_eq!(at(false, None, 0), "a.ispl: finding the reachable states, 2 s");
        assert_eq!(at(true, found(3), 0), "a.ispl: 1 of 3 properties decided, 2 s");
        assert_eq!(at(false, found(1), 999), "a.ispl: 1 234 567 states found, layer 17, 2 s");
        let early = |decided| after(decided, false, found(1), 0);
        assert_eq!(early(2), "a.ispl: 2 of 3 properties decided, 1 234 567 states found, layer 17, 2 s");
        let all =
            "a.ispl (Ctrl-C shows verdicts): all properties decided, 1 234 567 states found, layer 17, 2 s";
        assert_eq!(early(3), all);
        let long = "a.ispl: 1 234 567 states found, 616 783 a second, layer 17, 3 workers, 2 s";
        assert_eq!(at(false, found(3), 2000), long);
        let diagrams = |phase, rounds| {
            Some(Reached::Diagrams(DiagramProgress { phase, rounds, nodes: 12_345, bytes: 444_420_000 }))
        };
        let check = |is_explored, phase, rounds, text| {
            let line = format!("a.ispl: {text}, 12 345 nodes, 444 MB, 2 s");
            assert_eq!(at(is_explored, diagrams(phase, rounds), 0), line);
        };
        check(false, DiagramPhase::Encoding, 0, "encoding the model");
        check(false, DiagramPhase::Ordering, 0, "trying variable orders");
        check(false, DiagramPhase::Exploring, 7, "finding the reachable states, round 7");
        check(true, DiagramPhase::Deciding, 7, "1 of 3 properties decided");
    }
}
