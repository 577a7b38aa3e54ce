//! `--order`: the variable order of the symbolic engine.

use std::ops::Range;
use std::path::PathBuf;

use masque_model::System;
use masque_text::{Diagnostic, Sources};

use crate::engines::Order;
use crate::file;
use crate::variables::find_variables;

/// The variable order that `--order` requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OrderChoice {
    /// Variables that are read and written together are close to each other.
    #[default]
    Auto,
    /// The order of declaration.
    Declared,
    /// The order in a file with one `Agent.variable` per line; other variables follow.
    File(PathBuf),
}

impl From<&str> for OrderChoice {
    /// `auto`, `declared`, or a path.
    fn from(text: &str) -> OrderChoice {
        match text {
            "auto" => OrderChoice::Auto,
            "declared" => OrderChoice::Declared,
            path => OrderChoice::File(path.into()),
        }
    }
}

/// Determines the order for a system. Errors in the file are diagnostics that point into the sources.
pub(crate) fn resolve(
    choice: &OrderChoice,
    system: &System,
    sources: &mut Sources,
) -> Result<Order, Vec<Diagnostic>> {
    match choice {
        OrderChoice::Auto => Ok(Order::Automatic),
        OrderChoice::Declared => Ok(Order::Declared),
        OrderChoice::File(path) => {
            let name = file::display_name(path);
            let text = file::read_within(path, sources.limits()).map_err(|diagnostic| vec![*diagnostic])?;
            let file = sources.add(name.as_str(), text).map_err(|_| vec![file::too_large(&name)])?;
            find_variables(system, sources, file, names(sources.text(file))).map(Order::Given)
        }
    }
}

/// The byte ranges of the names in a file, one per line. Comments begin with `--`.
fn names(text: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut start) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let name = line.split("--").next().unwrap_or_default();
        let from = start + name.len() - name.trim_start().len();
        if !name.trim().is_empty() {
            ranges.push(from..from + name.trim().len());
        }
        start += line.len();
    }
    ranges
}
