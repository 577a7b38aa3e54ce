//! `--order FILE`: the variables in the order in which the symbolic engine is to have them.

use std::path::PathBuf;

use masque_model::{System, VarId};
use masque_text::{Diagnostic, FileId, Sources};

use crate::engines::Order;
use crate::file;
use crate::variables::Variables;

/// The order that `--order` asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OrderChoice {
    /// By what is read and written together.
    #[default]
    Auto,
    /// As the variables are declared.
    Declared,
    /// As they stand in a file, one `Agent.name` in a line; the others after them.
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

/// The order for a system. What is wrong with a file of variables is said in diagnostics, which point into
/// the sources.
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
            let text = file::read(path).map_err(|diagnostic| vec![*diagnostic])?;
            let file = sources.add(name.as_str(), text).map_err(|_| vec![file::too_large(&name)])?;
            read(system, sources, file).map(Order::Given)
        }
    }
}

/// The variables of a file, from the top; blanks and what follows `--` do not count.
fn read(system: &System, sources: &Sources, file: FileId) -> Result<Vec<VarId>, Vec<Diagnostic>> {
    let known = Variables::new(system);
    let (mut variables, mut diagnostics) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in sources.text(file).split_inclusive('\n') {
        let name = line.split("--").next().unwrap_or_default();
        let indent = name.len() - name.trim_start().len();
        let name = name.trim();
        if !name.is_empty() {
            let from = start + indent as u32;
            let span = sources.span(file).slice(from, from + name.len() as u32);
            match known.find(name, span) {
                Ok(variable) => variables.push(variable),
                Err(diagnostic) => diagnostics.push(diagnostic),
            }
        }
        start += line.len() as u32;
    }
    if diagnostics.is_empty() { Ok(variables) } else { Err(diagnostics) }
}
