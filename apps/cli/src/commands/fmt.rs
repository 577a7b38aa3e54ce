//! `masque fmt`: formats files in the standard layout.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use masque_driver::{self as driver, Formatted, Limits};
use masque_report::Detail;

use crate::args::FmtArgs;
use crate::{Context, Exit};

/// `fmt FILE..`: rewrites files whose layout differs, or with `--check` prints their names. Messages go to `err`,
/// because standard output has the formatted text or the names.
pub fn fmt(
    args: &FmtArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let mut exit = Exit::AllHold;
    let limits = Limits { interrupt: Arc::clone(&context.interrupt), ..Limits::default() };
    for file in &args.files {
        let Formatted { sources, name, text, is_changed, stopped } = driver::format_file(file, &limits);
        let text = match text {
            Ok(text) => text,
            Err(diagnostics) => {
                context.text.diagnostics(err, &sources, &diagnostics)?;
                exit.raise(if stopped.is_some() { Exit::Inconclusive } else { Exit::BadInput });
                continue;
            }
        };
        if args.check {
            if is_changed {
                writeln!(out, "{name}")?;
                exit.raise(Exit::SomeFail);
            }
        } else if file == Path::new("-") {
            out.write_all(text.as_bytes())?;
        } else if is_changed {
            if let Err(diagnostic) = driver::replace_file(file, &text) {
                context.text.diagnostics(err, &sources, [&*diagnostic])?;
                exit.raise(Exit::BadInput);
            } else if context.text.detail == Detail::Verbose {
                writeln!(err, "formatted {name}")?;
            }
        }
    }
    Ok(exit)
}
