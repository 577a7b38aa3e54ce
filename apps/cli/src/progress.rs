//! How far a check has come, on a terminal's standard error.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget};
use masque_driver::Progress;

/// A check shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

/// The progress of one file; disappears when dropped.
pub(crate) struct Display<'a> {
    name: &'a str,
    start: Instant,
    bar: Option<ProgressBar>,
}

impl<'a> Display<'a> {
    pub(crate) fn new(name: &'a str) -> Self {
        Display { name, start: Instant::now(), bar: None }
    }

    pub(crate) fn show(&mut self, progress: Progress) {
        if self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            bar
        });
        bar.set_message(message(self.name, self.start.elapsed(), progress));
        bar.tick();
    }
}

impl Drop for Display<'_> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn message(name: &str, time: Duration, progress: Progress) -> String {
    let Progress { decided, total, is_explored } = progress;
    let doing = match is_explored {
        false => "finding the reachable states".to_string(),
        true => format!("{decided} of {total} properties decided"),
    };
    format!("{name}: {doing}, {} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        let at = |is_explored| {
            let progress = Progress { decided: 1, total: 3, is_explored };
            message("a.ispl", Duration::from_secs(2), progress)
        };
        assert_eq!(at(false), "a.ispl: finding the reachable states, 2 s");
        assert_eq!(at(true), "a.ispl: 1 of 3 properties decided, 2 s");
    }
}
