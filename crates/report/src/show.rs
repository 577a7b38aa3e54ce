//! What shows a verdict, as text: the run from an initial state first, then what its states do not
//! tell by themselves.

use std::io::{self, Write};

use crate::{BecauseReport, EvidenceReport, PathReport, ReasonReport, RunPath};

impl EvidenceReport {
    /// How far the state is that shows the verdict, in words.
    pub(crate) fn where_shown(&self) -> String {
        match self.first_run() {
            Some((_, run)) if run.back_to.is_some() => "on this run".to_string(),
            Some((_, run)) => self.path(run).end(),
            None => self.path(&self.start).end(),
        }
    }

    /// The first run, then the other reasons, each with its own.
    pub(crate) fn write_text(&self, out: &mut dyn Write, most: usize) -> io::Result<()> {
        let first = self.first_run();
        let (shown, run) = first.map_or((None, &self.start), |(reason, run)| (Some(reason), run));
        self.write_run(out, run, most)?;
        for (position, reason) in self.reasons.iter().enumerate() {
            if Some(position) != shown {
                self.write_reason(out, reason, most)?;
            }
        }
        Ok(())
    }

    /// The run that begins in the initial state where the property is looked at, with the position of
    /// its reason; none if the evidence begins otherwise.
    fn first_run(&self) -> Option<(usize, &RunPath)> {
        let begins = |run: &RunPath| self.start.states.len() == 1 && run.states[0] == self.start.states[0];
        self.reasons.iter().enumerate().find_map(|(position, reason)| match &reason.because {
            BecauseReport::Run { run, .. } if begins(run) => Some((position, run)),
            _ => None,
        })
    }

    fn write_reason(&self, out: &mut dyn Write, reason: &ReasonReport, most: usize) -> io::Result<()> {
        let truth = if reason.holds { "true" } else { "false" };
        let claim = format!("{} is {truth}", self.formulas[reason.formula]);
        match &reason.because {
            BecauseReport::Here | BecauseReport::Operands { .. } => Ok(()),
            BecauseReport::DeadEnd { .. } => writeln!(out, "  {claim}: the state has no successor"),
            BecauseReport::Run { run, .. } => {
                writeln!(out, "  {claim}:")?;
                self.write_run(out, run, most)
            }
            BecauseReport::Possible { path: None, .. } => Ok(()),
            BecauseReport::Possible { view, path: Some(path), .. } => {
                match view.join(", ") {
                    agents if agents.is_empty() => writeln!(out, "  {claim} because of")?,
                    agents => writeln!(out, "  {claim}: to {agents} it looks the same after")?,
                }
                self.write_run(out, path, most)
            }
            BecauseReport::Chain { links, .. } => {
                for link in links {
                    writeln!(out, "  {claim}: to {} it looks the same after", link.agent)?;
                    self.write_run(out, &link.path, most)?;
                }
                Ok(())
            }
            BecauseReport::NotShown { missing } => {
                let why = match *missing {
                    "all-paths" => "that is about all runs, and not shown",
                    "all-states" => "that is about all states that may be meant, and not shown",
                    _ => "that is not shown, it would be too much",
                };
                writeln!(out, "  {claim}: {why}")
            }
        }
    }

    fn write_run(&self, out: &mut dyn Write, run: &RunPath, most: usize) -> io::Result<()> {
        self.path(run).write_text(out, most)?;
        match run.back_to {
            None => Ok(()),
            Some(position) => writeln!(out, "  and again from {position}"),
        }
    }

    /// A run as a path of its own.
    fn path(&self, run: &RunPath) -> PathReport {
        PathReport {
            states: run.states.iter().map(|&state| self.states[state].clone()).collect(),
            actions: run.actions.iter().map(|actions| actions.clone().unwrap_or_default()).collect(),
        }
    }
}
