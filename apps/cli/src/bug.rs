//! Bugs in Masque: one line asks the user to report them, and the exit code is 101.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::Write;
use std::panic::{PanicHookInfo, set_hook};

use masque_report::RunReport;

/// Makes a panic print one line, and with `RUST_BACKTRACE=1` the backtrace.
pub(crate) fn install_hook() {
    set_hook(Box::new(|info| {
        if masque_memory::is_refusal_expected() {
            return;
        }
        let mut err = std::io::stderr().lock();
        _ = writeln!(err, "{}", line(info));
        let backtrace = Backtrace::capture();
        if backtrace.status() == BacktraceStatus::Captured {
            _ = writeln!(err, "{backtrace}");
        }
    }));
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
    let location = info.location().map(|l| format!(" ({}:{})", l.file(), l.line())).unwrap_or_default();
    report(&format!("{message}{location}"))
}

/// The line that asks for a report.
fn report(what: &str) -> String {
    format!("masque: this is a bug; please report it together with the input that shows it: {what}")
}

/// Writes the bugs of a run that cost evidence, but not verdicts.
pub(crate) fn write_bugs(err: &mut dyn Write, run: &RunReport) -> std::io::Result<()> {
    run.bugs().try_for_each(|bug| write_bug(err, &bug))
}

/// Writes one bug.
pub(crate) fn write_bug(err: &mut dyn Write, bug: &str) -> std::io::Result<()> {
    writeln!(err, "{}", report(bug))
}
