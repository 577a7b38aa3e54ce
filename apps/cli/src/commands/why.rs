//! `masque why`: what properties are made of, and what shows their verdicts.

use std::io::Write;
use std::time::Instant;

use masque_driver::{self as driver, EngineOptions, Show};
use masque_report::{self as report, Settings, Subject};

use super::check::watched;
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
    let request = args.question.request();
    let mut loaded = driver::load(&args.file, &request);
    loaded.keep_properties(&args.names);
    let options = args.work.engine_options(&mut loaded);
    let options = EngineOptions { evidence: Show::All, extents: true, ..options };
    let limits = args.work.limits(start, &context.interrupt);
    let run = loaded.system.as_ref().map(|system| watched(context, &loaded, system, &options, &limits));
    let subject = Subject { loaded: &loaded, run: run.as_ref() };
    let settings = Settings { request: &request, engine: args.work.engine, stats: false };
    let report = report::why_report(subject, settings);
    match args.format {
        Format::Text => context.text.why(out, &report, subject)?,
        Format::Json => report::why_json(out, &report)?,
    }
    bug::tell(err, &report.run)?;
    Ok(Exit::of(report.run.counts(), false))
}
