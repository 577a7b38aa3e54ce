//! `--order FILE`: the variables in the order in which the symbolic engine is to have them.

use std::collections::HashMap;
use std::path::PathBuf;

use masque_model::{System, VarId};
use masque_text::{Diagnostic, FileId, Sources, did_you_mean};

use crate::engines::Order;
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
                    Err(diagnostic) => return self.refuse(vec![*diagnostic]),
                };
                let Ok(file) = self.sources.add(name.as_str(), text) else {
                    return self.refuse(vec![file::too_large(&name)]);
                };
                match read(&system, &self.sources, file) {
                    Ok(variables) => Order::Given(variables),
                    Err(diagnostics) => self.refuse(diagnostics),
                }
            }
        }
    }

    fn refuse(&mut self, diagnostics: Vec<Diagnostic>) -> Order {
        self.diagnostics.extend(diagnostics);
        self.system = None;
        Order::Automatic
    }
}

/// The variables of a file, from the top; blanks and what follows `--` do not count.
fn read(system: &System, sources: &Sources, file: FileId) -> Result<Vec<VarId>, Vec<Diagnostic>> {
    let squeezed = |text: &str| text.split_whitespace().collect::<String>();
    let known: HashMap<String, VarId> =
        system.variable_ids().map(|v| (squeezed(&system.full_name(v)), v)).collect();
    let (mut variables, mut diagnostics) = (Vec::new(), Vec::new());
    let mut start = 0;
    for line in sources.text(file).split_inclusive('\n') {
        let name = line.split("--").next().unwrap_or_default();
        let indent = name.len() - name.trim_start().len();
        let name = name.trim();
        match known.get(&squeezed(name)) {
            _ if name.is_empty() => {}
            Some(variable) => variables.push(*variable),
            None => {
                let from = start + indent as u32;
                let span = sources.span(file).slice(from, from + name.len() as u32);
                let names = system.variable_ids().map(|v| system.full_name(v));
                let diagnostic =
                    Diagnostic::error("cli/unknown-variable", span, format!("there is no variable `{name}`"))
                        .label("expected `Agent.variable`")
                        .help(did_you_mean(name, names));
                diagnostics.push(diagnostic);
            }
        }
        start += line.len() as u32;
    }
    if diagnostics.is_empty() { Ok(variables) } else { Err(diagnostics) }
}
