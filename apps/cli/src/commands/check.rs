//! `masque check`: decides every property of every file.

use std::io::Write;
use std::time::{Duration, Instant};

use masque_driver::{self as driver, Limits, Loaded, Run};
use masque_report::{self as report, Settings, Subject};

use crate::args::{CheckArgs, Format};
use crate::progress::Display;
use crate::{Context, Exit};

/// `check FILE..`: a run per file, then the gravest exit of all.
pub fn check(args: &CheckArgs, context: &Context, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let request = args.request();
    let settings = Settings { request: &request, engine: args.engine, stats: args.stats };
    let is_several = args.files.len() > 1;
    let mut exit = Exit::AllHold;
    let mut reports = Vec::new();
    for (position, file) in args.files.iter().enumerate() {
        let start = Instant::now();
        let loaded = driver::load(file, &request);
        let run = decide(args, context, &loaded, start);
        let subject = Subject { loaded: &loaded, run: run.as_ref() };
        let report = report::run_report(subject, settings);
        exit.raise(Exit::of(report.counts(), args.deny.is_some()));
        if args.format == Format::Text {
            context.text.run(out, &report, subject, is_several.then_some(position))?;
            out.flush()?;
        }
        if context.progress && !args.stats {
            _ = writeln!(std::io::stderr(), "{}", time(&loaded.name, start.elapsed()));
        }
        reports.push(report);
    }
    match args.format {
        Format::Json => report::json(out, reports)?,
        Format::Text if is_several => context.text.total(out, &reports)?,
        Format::Text => {}
    }
    Ok(exit)
}

/// Decides the properties, if there are any to decide.
fn decide(args: &CheckArgs, context: &Context, loaded: &Loaded, start: Instant) -> Option<Run> {
    let system = loaded.system.as_ref().filter(|_| !args.parse_only)?;
    let limits = Limits {
        deadline: args.timeout.and_then(|timeout| start.checked_add(timeout)),
        memory: args.memory,
        interrupt: context.interrupt.clone(),
    };
    let mut display = context.progress.then(|| Display::new(&loaded.name));
    let mut observe = |progress| {
        if let Some(display) = &mut display {
            display.show(progress);
        }
    };
    Some(driver::check(system, args.engine, &limits, &mut observe))
}

fn time(name: &str, time: Duration) -> String {
    format!("{name}: {:.3} s", time.as_secs_f64())
}
