//! Internal parts of the engine against the truth definition.

mod exprs;
mod jobs;
mod sets;

use std::rc::Rc;

use masque_ispl::{Options, check, parse};
use masque_model::System;
use masque_text::Sources;
use masque_verdict::{Budget, Early, Show, Stop};

use crate::early::Watch;
use crate::explore::{Space, explore};
use crate::jobs::Jobs;
use crate::steps::Steps;

/// Loads a text, which must be valid.
fn load(text: &str) -> System {
    let mut sources = Sources::default();
    let file = sources.add("test.ispl", text).unwrap();
    let (mut tree, errors) = parse(&sources, file);
    let checked = check(&sources, &mut tree, &Options::default());
    checked.system.unwrap_or_else(|| panic!("{errors:?} {:?}\n{text}", checked.diagnostics))
}

/// Explores without reporting early verdicts.
fn explore_all<'s>(
    system: &'s System,
    steps: &Rc<Steps<'s>>,
    with_graph: bool,
    jobs: &Jobs,
    budget: &Budget,
) -> Result<Space, Stop> {
    let mut early = Early::deaf();
    explore(&mut Watch::new(system, Rc::clone(steps), Show::None, &mut early), with_graph, jobs, budget)
}
