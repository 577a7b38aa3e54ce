//! `masque replay`: confirms traces on a model.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use masque_driver::trace::{
    Alternative, Departure, PropertyRuns, Replayed, TraceFile, TraceRun, TracedModel, UnreadTrace,
    read_traces,
};
use masque_driver::{self as driver, Limits, Loaded, Model};
use masque_report::Detail;
use masque_text::did_you_mean;

use crate::args::ReplayArgs;
use crate::{Context, Exit};

/// Maximum number of differing variables that are shown for each alternative.
const MAX_SHOWN_DIFFERENCES: usize = 8;

/// Maximum number of characters that are shown of a value.
const MAX_SHOWN_CHARS: usize = 80;

/// `replay FILE TRACE`: a line for each run, and for a run that leaves the model what was possible there.
pub fn replay(
    args: &ReplayArgs,
    context: &Context,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Exit> {
    let is_input = |path: &Path| path == Path::new("-");
    if is_input(&args.trace) && args.files.iter().any(|file| is_input(file)) {
        bail!("the model and the trace cannot both be standard input; give a file for one of them");
    }
    let limits = args.work.limits(&context.interrupt);
    let loaded = driver::load_within(&args.files, &args.model.request(&args.work), &limits);
    context.loading(err, &loaded, Detail::Verbose)?;
    let Some(model) = &loaded.model else { return Ok(Exit::without_model(&loaded)) };
    let limits = limits.after_loading(&loaded);
    let file = match read_traces(&args.trace, &limits) {
        Ok(file) => file,
        Err(UnreadTrace::Refused(refused)) => {
            context.text.diagnostics(err, &refused.sources, &refused.diagnostics)?;
            return Ok(Exit::BadInput);
        }
        Err(UnreadTrace::Stopped(why)) => {
            writeln!(err, "the trace could not be read: {}", why.word())?;
            return Ok(Exit::Inconclusive);
        }
    };
    let traced = select_model(&file, &loaded)?;
    refuse_parameters(traced, &loaded)?;
    let properties = select_properties(traced, &args.property)?;
    let mut exit = Exit::AllHold;
    for property in properties {
        let replayed = Property { context, file: &file, model, property, limits: &limits };
        exit.raise(replayed.report(out, err)?);
    }
    Ok(exit)
}

/// The runs of the model among those of a report, which may be about several models.
fn select_model<'f>(file: &'f TraceFile, loaded: &Loaded) -> anyhow::Result<&'f TracedModel> {
    if let [only] = &file.models[..] {
        return Ok(only);
    }
    let base = |name: &str| Path::new(name).file_name().map(|name| name.to_os_string());
    let is_of = |model: &&TracedModel| {
        let first = model.files.first();
        first.is_some_and(|name| loaded.names.iter().any(|own| own == name || base(own) == base(name)))
    };
    match file.models.iter().find(is_of) {
        Some(model) => Ok(model),
        None if file.models.is_empty() => bail!("the report has no runs"),
        None => {
            let names: Vec<String> = file.models.iter().map(|model| model.files.join(", ")).collect();
            bail!("the report is about {}, and not about {}", names.join("; "), loaded.name())
        }
    }
}

/// Refuses a trace that was made with other values of the parameters.
fn refuse_parameters(traced: &TracedModel, loaded: &Loaded) -> anyhow::Result<()> {
    for (name, value) in &traced.parameters {
        match loaded.parameters.iter().find(|(known, _)| known == name) {
            Some((_, own)) if own == value => {}
            Some((_, own)) => {
                bail!(
                    "the trace was made with {name} = {value}, and the model has {name} = {own}: add `-D {name}={value}`"
                )
            }
            None => bail!("the trace has a parameter `{name}`, and the model has none of this name"),
        }
    }
    Ok(())
}

/// The properties with these names, or all.
fn select_properties<'f>(traced: &'f TracedModel, names: &[String]) -> anyhow::Result<Vec<&'f PropertyRuns>> {
    if traced.properties.is_empty() {
        bail!("the report has no evidence; `--evidence all` shows also why properties hold");
    }
    let is_named = |property: &PropertyRuns, name: &String| {
        property.name == *name || sorted_index(&property.title) == sorted_index(name)
    };
    for name in names {
        if !traced.properties.iter().any(|property| is_named(property, name)) {
            let guess = did_you_mean(name, traced.properties.iter().map(|property| &property.title));
            let guess = guess.map_or(String::new(), |guess| format!("; {guess}"));
            bail!("the trace has no evidence for a property `{name}`{guess}");
        }
    }
    let is_selected =
        |property: &&PropertyRuns| names.is_empty() || names.iter().any(|name| is_named(property, name));
    Ok(traced.properties.iter().filter(is_selected).collect())
}

/// The parts of a name such as `safe[j=1,i=2]`; JSON does not keep the order of the loop variables.
fn sorted_index(title: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = title.trim_end_matches(']').split(['[', ',']).collect();
    parts[1..].sort_unstable();
    parts
}

/// The runs of a property, to be replayed.
struct Property<'a> {
    context: &'a Context,
    file: &'a TraceFile,
    model: &'a Model,
    property: &'a PropertyRuns,
    limits: &'a Limits,
}

impl Property<'_> {
    /// Replays and reports each run.
    fn report(&self, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<Exit> {
        let mut exit = Exit::AllHold;
        for (index, run) in self.property.runs.iter().enumerate() {
            let replayed = match self.file.replay(self.model, run, self.limits) {
                Ok(replayed) => replayed,
                Err(diagnostic) => {
                    self.context.text.diagnostics(err, &self.file.sources, [&*diagnostic])?;
                    return Ok(Exit::BadInput);
                }
            };
            let name = self.name(index);
            match replayed {
                Replayed::Confirmed(_) => writeln!(out, "{name}: confirmed, {}", length(run))?,
                Replayed::Refused(departure) => {
                    write_departure(out, &name, run, &departure)?;
                    exit.raise(Exit::SomeFail);
                }
                Replayed::Stopped { why, n_followed } => {
                    let n_states = run.states.len();
                    let reason = why.word();
                    writeln!(out, "{name}: unknown({reason}) after {n_followed} of {n_states} states")?;
                    exit.raise(Exit::Inconclusive);
                }
            }
        }
        let left_out = self.property.left_out.words();
        if !left_out.is_empty() && self.context.text.detail > Detail::Quiet {
            let title = &self.property.title;
            writeln!(err, "{title}: not replayed, because no run shows it: {}", left_out.join(", "))?;
        }
        Ok(exit)
    }

    fn name(&self, index: usize) -> String {
        let title = if self.property.title.is_empty() { "trace" } else { &self.property.title };
        match self.property.runs.len() {
            1 => title.to_string(),
            n => format!("{title} (run {} of {n})", index + 1),
        }
    }
}

/// The length of a run in words.
fn length(run: &TraceRun) -> String {
    let states = masque_text::counted(run.states.len(), "state", "states");
    match run.back_to {
        None => states,
        Some(start) => format!("{states}, then forever from state {start}"),
    }
}

/// Writes where a run leaves the model, and what was possible there.
fn write_departure(out: &mut dyn Write, name: &str, run: &TraceRun, departure: &Departure) -> io::Result<()> {
    let Departure { step, back_to, reason, enabled, alternatives } = departure;
    let place = match (step, back_to) {
        (0, _) => "state 0 is not an initial state".to_string(),
        (step, Some(start)) => format!("no step leads from state {} back to state {start}", step - 1),
        (step, None) => format!("no step leads from state {} to state {step}", step - 1),
    };
    writeln!(out, "{name}: leaves the model at step {step} of {}: {place}", run.steps.len())?;
    if let Some(reason) = reason {
        writeln!(out, "  {reason}")?;
    }
    if !enabled.is_empty() {
        writeln!(out, "  enabled: {}", enabled.join("; "))?;
    }
    if alternatives.is_empty() && *step > 0 {
        writeln!(out, "  no step is possible from state {}", step - 1)?;
    }
    for (index, alternative) in alternatives.iter().enumerate() {
        writeln!(
            out,
            "  {}{}",
            if index == 0 { "nearest: " } else { "         " },
            alternative_text(alternative)
        )?;
    }
    Ok(())
}

/// An alternative with the variables that differ from the run.
fn alternative_text(alternative: &Alternative) -> String {
    let Alternative { differences, action } = alternative;
    let mut parts: Vec<String> = (differences.iter().take(MAX_SHOWN_DIFFERENCES))
        .map(|d| format!("{} = {} (the trace has {})", d.variable, cut(&d.possible), cut(&d.given)))
        .collect();
    let n_more = differences.len().saturating_sub(MAX_SHOWN_DIFFERENCES);
    parts.extend((n_more > 0).then(|| format!("and {n_more} more differences")));
    let state = if parts.is_empty() { "this state".to_string() } else { parts.join(", ") };
    if action.is_empty() { state } else { format!("{action} -> {state}") }
}

/// The beginning of a long value, such as the process of a protocol.
fn cut(value: &str) -> String {
    match value.char_indices().nth(MAX_SHOWN_CHARS) {
        None if value.is_empty() => "nothing".to_string(),
        None => value.to_string(),
        Some((end, _)) => format!("{}..", &value[..end]),
    }
}
