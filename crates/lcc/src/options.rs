//! The options of an instance. They can change verdicts, so they are part of the instance, and reports name
//! those that are not at their defaults.

use masque_text::did_you_mean;

/// The kind of communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comm {
    /// Asynchronous: a message is under way until it is received, in any order.
    Mailbox,
    /// Synchronous: a message is sent and received in one step.
    Sync,
}

/// How a step `A <- C` with a constraint is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// Step and constraint are one transition.
    Lcc,
    /// As printed in Figure 9 of \[ORW06\]: the constraint may also be a step of its own.
    Fig9,
}

/// How a conflict between a permission and a prohibition is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The prohibition takes precedence.
    Deny,
    /// The permission takes precedence.
    Permit,
    /// As `Deny`. Conflicts are listed with every value of this option.
    Report,
}

/// When the role that a message is addressed to matches the role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// The names must be equal; arguments are unified if both roles have the same number of them.
    Lenient,
    /// The roles must unify.
    Strict,
}

/// The options of an instance.
///
/// ```
/// use masque_lcc::{Comm, Options};
/// let mut options = Options::default();
/// options.set("comm", "sync").unwrap();
/// assert_eq!(options.comm, Comm::Sync);
/// assert!(options.set("comm", "pigeon").is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The kind of communication. Default: `mailbox`.
    pub comm: Comm,
    /// How constraints are executed. Default: `lcc`.
    pub guards: Guards,
    /// How conflicts of rules are resolved. Default: `deny`.
    pub conflict: Conflict,
    /// How roles are matched. Default: `lenient`.
    pub roles: Roles,
    /// Maximum number of messages under way. Default: 8.
    pub cap: u32,
    /// Maximum depth of the term of a message. Default: 12.
    pub depth: u32,
    /// Maximum size of a process, in tree nodes. Default: 600.
    pub psize: u32,
    /// Maximum depth of a proof, in clauses and rules. Default: 400.
    pub sld: u32,
    /// Maximum number of states that are expanded. Default: 1,000,000.
    pub states: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            comm: Comm::Mailbox,
            guards: Guards::Lcc,
            conflict: Conflict::Deny,
            roles: Roles::Lenient,
            cap: 8,
            depth: 12,
            psize: 600,
            sld: 400,
            states: 1_000_000,
        }
    }
}

/// The error if an option cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOption {
    /// Whether the name is unknown; otherwise the value is not accepted.
    pub is_name: bool,
    /// The error message.
    pub message: String,
    /// Names or values that would be accepted.
    pub help: String,
}

const NAMES: [&str; 9] = ["comm", "guards", "conflict", "roles", "cap", "depth", "psize", "sld", "states"];

/// Returns the values of an option that are words, or the names of all options.
pub(crate) fn option_values(name: Option<&str>) -> Vec<&'static str> {
    match name {
        None => NAMES.to_vec(),
        Some("comm") => vec!["mailbox", "sync"],
        Some("guards") => vec!["lcc", "fig9"],
        Some("conflict") => vec!["deny", "permit", "report"],
        Some("roles") => vec!["lenient", "strict"],
        Some(_) => Vec::new(),
    }
}

/// Largest accepted value of a numeric option.
const MAX_BOUND: u32 = 1_000_000_000;

impl Options {
    /// Sets an option by name.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), BadOption> {
        match name {
            "comm" => self.comm = one_of(name, value, &[("mailbox", Comm::Mailbox), ("sync", Comm::Sync)])?,
            "guards" => self.guards = one_of(name, value, &[("lcc", Guards::Lcc), ("fig9", Guards::Fig9)])?,
            "conflict" => {
                let values =
                    [("deny", Conflict::Deny), ("permit", Conflict::Permit), ("report", Conflict::Report)];
                self.conflict = one_of(name, value, &values)?;
            }
            "roles" => {
                self.roles = one_of(name, value, &[("lenient", Roles::Lenient), ("strict", Roles::Strict)])?;
            }
            "cap" => self.cap = bound(name, value)?,
            "depth" => self.depth = bound(name, value)?,
            "psize" => self.psize = bound(name, value)?,
            "sld" => self.sld = bound(name, value)?,
            "states" => self.states = bound(name, value)?,
            _ => {
                let help = did_you_mean(name, NAMES)
                    .unwrap_or_else(|| format!("the options are {}", NAMES.join(", ")));
                return Err(BadOption {
                    is_name: true,
                    message: format!("there is no option `{name}`"),
                    help,
                });
            }
        }
        Ok(())
    }

    /// Returns the names and values of the options that differ from their defaults.
    pub fn changed(&self) -> Vec<(&'static str, String)> {
        let default = Options::default();
        let all = |options: &Options| {
            [
                ("comm", format!("{:?}", options.comm).to_lowercase()),
                ("guards", format!("{:?}", options.guards).to_lowercase()),
                ("conflict", format!("{:?}", options.conflict).to_lowercase()),
                ("roles", format!("{:?}", options.roles).to_lowercase()),
                ("cap", options.cap.to_string()),
                ("depth", options.depth.to_string()),
                ("psize", options.psize.to_string()),
                ("sld", options.sld.to_string()),
                ("states", options.states.to_string()),
            ]
        };
        all(self)
            .into_iter()
            .zip(all(&default))
            .filter(|(mine, usual)| mine != usual)
            .map(|(mine, _)| mine)
            .collect()
    }
}

fn one_of<T: Copy>(name: &str, value: &str, values: &[(&str, T)]) -> Result<T, BadOption> {
    let found = values.iter().find(|(word, _)| *word == value);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<String> = values.iter().map(|(word, _)| format!("`{word}`")).collect();
        BadOption {
            is_name: false,
            message: format!("`{value}` is not a value of the option `{name}`"),
            help: format!("it can be {}", words.join(" or ")),
        }
    })
}

fn bound(name: &str, value: &str) -> Result<u32, BadOption> {
    value.parse().ok().filter(|bound| (1..=MAX_BOUND).contains(bound)).ok_or_else(|| BadOption {
        is_name: false,
        message: format!("`{value}` is not a value of the option `{name}`"),
        help: format!("it is a number from 1 to {MAX_BOUND}"),
    })
}
