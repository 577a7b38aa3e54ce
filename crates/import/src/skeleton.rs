//! The skeleton: an LCC protocol whose agents hand over to each other.

use std::fmt::Write as _;

use masque_lcc::format;
use masque_text::{Sources, printable};

use crate::names::brief;

/// Maximum number of characters of a name of another program in a comment.
const MAX_NAME_CHARS: usize = 200;
/// Number of characters of a line at which a comment continues on the next one.
const MAX_LINE_CHARS: usize = 118;

/// A protocol, and what was assumed to write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skeleton {
    /// What the protocol was made from, in a few words.
    pub(crate) origin: &'static str,
    /// Names of roles, and the names of other programs that they stand for.
    pub(crate) names: Vec<(String, String)>,
    /// The clauses, one per role.
    pub(crate) clauses: Vec<String>,
    /// Statements about the team and its knowledge.
    pub(crate) team: Vec<String>,
    /// Names and formulas of properties, each with a comment.
    pub(crate) properties: Vec<Property>,
    /// Number of choices that the description leaves open.
    pub(crate) n_choices: usize,
    /// What was assumed, one sentence each.
    pub(crate) assumptions: Vec<String>,
}

/// A property with the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Property {
    pub(crate) comment: &'static str,
    pub(crate) name: String,
    pub(crate) formula: String,
}

impl Property {
    pub(crate) fn new(
        comment: &'static str,
        name: impl Into<String>,
        formula: impl Into<String>,
    ) -> Property {
        Property { comment, name: name.into(), formula: formula.into() }
    }

    /// The properties of every skeleton.
    pub(crate) fn usual() -> [Property; 3] {
        [
            Property::new("Every run ends.", "ends", "AF final"),
            Property::new("Every run can still end.", "can_end", "AG EF final"),
            Property::new("No run gets stuck.", "never_stuck", "AG !deadlock"),
        ]
    }
}

impl Skeleton {
    /// What the protocol has, in one line.
    pub fn summary(&self) -> String {
        let counted = masque_text::counted;
        format!(
            "{}, {}, {}",
            counted(self.clauses.len(), "role", "roles"),
            counted(self.n_choices, "choice", "choices"),
            counted(self.assumptions.len(), "assumption", "assumptions"),
        )
    }

    /// The protocol as LCC, in the standard layout.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        _ = writeln!(text, "// A skeleton made from {}: {}.", self.origin, self.summary());
        _ = writeln!(text, "// Complete it with messages, knowledge and rules.\n//\n// Assumptions:");
        for (index, assumption) in self.assumptions.iter().enumerate() {
            comment(&mut text, &format!("{}.", index + 1), assumption);
        }
        _ = writeln!(text, "//\n// Names:");
        for (name, foreign) in &self.names {
            _ = writeln!(text, "// {name} is \"{}\"", brief(foreign, MAX_NAME_CHARS));
        }
        for clause in &self.clauses {
            _ = writeln!(text, "\n{clause}");
        }
        _ = writeln!(text);
        for statement in &self.team {
            _ = writeln!(text, "{statement}");
        }
        for Property { comment, name, formula } in &self.properties {
            _ = writeln!(text, "\n// {comment}\nproperty {name} : {formula} ;");
        }
        formatted(text)
    }
}

/// The text in the standard layout.
fn formatted(text: String) -> String {
    let mut sources = Sources::default();
    let Ok(file) = sources.add("skeleton.lcc", text.as_str()) else { return text };
    format(&sources, file).unwrap_or(text)
}

/// Writes an item of a list as a comment of as many lines as it needs.
fn comment(out: &mut String, number: &str, item: &str) {
    let item = printable(item);
    let mut line = format!("// {number}");
    for word in item.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > MAX_LINE_CHARS {
            out.push_str(&line);
            // Lines after the first are indented by the number.
            line = format!("\n// {:1$}", "", number.len());
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}
