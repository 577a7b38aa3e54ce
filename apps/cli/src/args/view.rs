//! Arguments of all commands that show evidence: how much of it, and how its runs are written.

use clap::{Args, ValueEnum};
use masque_report::{Text, View};

/// How evidence is written as text.
#[derive(Clone, Copy, Debug, Args)]
pub struct ViewArgs {
    /// Show evidence whole: every state of long runs, every variable, every action and every claim.
    #[arg(long, help_heading = "Output")]
    pub full: bool,
    /// How runs are written in the text of the evidence.
    #[arg(long, value_name = "VIEW", default_value = "steps", help_heading = "Output")]
    pub view: ViewAs,
}

/// How runs are written in the text of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ViewAs {
    /// One state below the other, each with what changes; a chart or a list of events for LCC.
    Steps,
    /// A table of steps by variables, with changes marked; a list of events for LCC.
    Table,
    /// A column for each agent, with its actions and what it sees (ISPL, LCC); otherwise a table.
    Lanes,
}

impl ViewArgs {
    /// Returns the options of a text with these arguments.
    pub fn of(self, text: Text) -> Text {
        let view = match self.view {
            ViewAs::Steps => View::Steps,
            ViewAs::Table => View::Table,
            ViewAs::Lanes => View::Lanes,
        };
        Text { full: self.full, view, ..text }
    }
}
