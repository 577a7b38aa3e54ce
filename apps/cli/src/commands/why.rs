//! `masque why`: what properties are made of, and what shows their verdicts.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use masque_driver::{self as driver, Language, Show, Work};
use masque_report::{self as report, Subject};

use super::check::check_watched;
use crate::args::{Format, WhyArgs};
use crate::{Context, Exit, bug};

/// `why FILE [NAME..]`: the file is checked with all evidence there is, and surveyed.
pub fn why(
    args: &WhyArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let mut request = args.question.request(&args.work);
    request.work = Work { evidence: Show::All, extents: true, ..request.work };
    let (files, names) = files_and_names(&args.file, &args.names);
    request.only = names;
    let loaded = driver::load(&files, &request);
    let run = check_watched(context, &loaded, &args.work.limits(start, &context.interrupt))?;
    let subject = Subject { loaded: &loaded, run: run.as_ref() };
    let report = report::why_report(subject);
    match args.format {
        Format::Text => context.text.why(out, &report, subject)?,
        Format::Json => report::why_json(out, &report)?,
    }
    bug::tell(err, &report.run)?;
    Ok(Exit::of(report.run.counts(), false))
}

/// The files of the model, and the names of properties: after the first file of a protocol or a transition
/// system, whatever ends like a file of one is another file.
fn files_and_names(file: &Path, names: &[String]) -> (Vec<PathBuf>, Vec<String>) {
    let has_files = matches!(Language::of_path(file), Some(Language::Lcc | Language::Aut));
    let is_file = |name: &&String| {
        has_files && matches!(Language::of_path(Path::new(name)), Some(Language::Lcc | Language::Aut))
    };
    let (files, names): (Vec<&String>, Vec<&String>) = names.iter().partition(is_file);
    let files = std::iter::once(file.to_path_buf()).chain(files.into_iter().map(PathBuf::from)).collect();
    (files, names.into_iter().cloned().collect())
}
