//! `--order FILE`: the variables in the order in which the symbolic engine is to have them.

use std::path::PathBuf;

use masque_model::{System, VarId};
use masque_text::{Diagnostic, FileId, Sources};

use crate::engines::Order;
use crate::variables::Variables;
use crate::{Loaded, file};

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

impl Loaded {
    /// The order for this model. What is wrong with a file of variables is said among the model's
    /// diagnostics, and then there is no model to check.
    pub fn order(&mut self, choice: &OrderChoice) -> Order {
        match choice {
            OrderChoice::Auto => Order::Automatic,
            OrderChoice::Declared => Order::Declared,
            OrderChoice::File(path) => {
                let Some(system) = self.system.clone() else { return Order::Automatic };
                let name = file::display_name(path);
                let text = match file::read(path) {
                    Ok(text) => text,
                    Err(diagnostic) => {
                        self.refuse(vec![*diagnostic]);
                        return Order::Automatic;
                    }
                };
                let Ok(file) = self.sources.add(name.as_str(), text) else {
                    self.refuse(vec![file::too_large(&name)]);
                    return Order::Automatic;
                };
                match read(&system, &self.sources, file) {
                    Ok(variables) => Order::Given(variables),
                    Err(diagnostics) => {
                        self.refuse(diagnostics);
                        Order::Automatic
                    }
                }
            }
        }
    }

    /// There is no model to check, for these reasons.
    pub(crate) fn refuse(&mut self, diagnostics: Vec<Diagnostic>) {
        self.diagnostics.extend(diagnostics);
        self.system = None;
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
