//! `masque why`: the subformulas of properties, and the evidence for their verdicts.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use masque_driver::{self as driver, Language, Show, Work};
use masque_report::{self as report, Subject};

use super::NO_THREAD;
use super::check::check_with_progress;
use crate::args::{Format, WhyArgs};
use crate::{Context, Exit, bug, interrupt};

/// `why FILE [NAME..]`: checks a file with all evidence, and counts the states in which subformulas are true.
pub fn why(
    args: &WhyArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    if args.end_with_input {
        interrupt::end_with_input(None).context(NO_THREAD)?;
    }
    let mut request = args.select.select(args.question.request(&args.work));
    request.work = Work { evidence: Show::All, extents: true, ..request.work };
    let (files, names) = files_and_names(&args.file, &args.names);
    request.only.extend(names);
    let limits = args.work.limits(&context.interrupt);
    let loaded = driver::load_within(&files, &request, &limits);
    let run = check_with_progress(context, &loaded, &limits)?;
    let subject = Subject { loaded: &loaded, run: run.as_ref() };
    let report = report::why_report(subject);
    match args.format {
        Format::Text => context.text.why(out, &report, subject)?,
        Format::Json => report::why_json(out, &report)?,
    }
    bug::write_bugs(err, &report.run)?;
    let mut exit = Exit::of(report.run.counts(), false);
    if loaded.stopped.is_some() {
        exit.raise(Exit::Inconclusive);
    }
    Ok(exit)
}

/// Separates the arguments into files of the model and names of properties. After an LCC or AUT file, an
/// argument with an extension of these languages is another file.
fn files_and_names(file: &Path, names: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let has_files = matches!(Language::of_path(file), Some(Language::Lcc | Language::Aut));
    let is_file = |name: &&String| {
        has_files && matches!(Language::of_path(Path::new(name)), Some(Language::Lcc | Language::Aut))
    };
    let (files, names): (Vec<&String>, Vec<&String>) = names.iter().partition(is_file);
    let files = std::iter::once(file.to_path_buf()).chain(files.into_iter().map(PathBuf::from)).collect();
    (files, names.into_iter().cloned().collect())
}
