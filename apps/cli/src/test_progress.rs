//! Progress of `masque test`, on standard error if that is a terminal.

use std::cell::OnceCell;
use std::time::Instant;

use indicatif::ProgressBar;
use masque_driver::TestProgress;

use crate::progress::{DISPLAY_DELAY, spinner};

/// The progress of a test; disappears when dropped.
pub(crate) struct TestDisplay {
    start: Instant,
    bar: OnceCell<ProgressBar>,
}

impl TestDisplay {
    pub(crate) fn new() -> TestDisplay {
        TestDisplay { start: Instant::now(), bar: OnceCell::new() }
    }

    /// Shows the number of tested models, and the one that takes longest.
    pub(crate) fn show(&self, progress: TestProgress<'_>) {
        if self.start.elapsed() < DISPLAY_DELAY {
            return;
        }
        let bar = self.bar.get_or_init(spinner);
        bar.set_message(message(progress));
        bar.tick();
    }

    /// Writes a part of the report while no progress is on the terminal.
    pub(crate) fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        match self.bar.get() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for TestDisplay {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// `tested 3 of 40 models; models/dc.ispl`.
fn message(progress: TestProgress<'_>) -> String {
    let TestProgress { n_done, n_models, current } = progress;
    let file = current
        .and_then(<[_]>::first)
        .map(|path| masque_text::printable(&path.display().to_string()).into_owned());
    let file = file.map(|file| format!("; {file}")).unwrap_or_default();
    format!("tested {n_done} of {n_models} models{file}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn the_message_names_the_model() {
        let current = [PathBuf::from("a\n.ispl")];
        let progress = TestProgress { n_done: 1, n_models: 2, current: Some(&current) };
        assert_eq!(message(progress), "tested 1 of 2 models; a\\n.ispl");
        assert_eq!(message(TestProgress { current: None, ..progress }), "tested 1 of 2 models");
    }
}
