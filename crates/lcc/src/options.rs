//! What changes the meaning of an instance: part of it, and named in reports.

use masque_text::did_you_mean;

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comm {
    /// Through a bag of messages under way.
    Mailbox,
    /// Sent and received in one step.
    Sync,
}

/// What a constraint does to the step it stands behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guards {
    /// One transition for both.
    Lcc,
    /// Figure 9 to the letter: the constraint may be a step of its own.
    Fig9,
}

/// What is done when a rule permits what another forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The prohibition counts.
    Deny,
    /// The permission counts.
    Permit,
    /// As `Deny`; conflicts are always listed.
    Report,
}

/// When a message addressed to a role reaches an agent in a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roles {
    /// The names are the same; arguments are unified if there are equally many.
    Lenient,
    /// The roles unify.
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
    /// How messages travel.
    pub comm: Comm,
    /// What a constraint does.
    pub guards: Guards,
    /// Permission against prohibition.
    pub conflict: Conflict,
    /// How roles are matched.
    pub roles: Roles,
    /// At most so many messages under way.
    pub cap: u32,
    /// Messages are at most so deep.
    pub depth: u32,
    /// A process has at most so many nodes.
    pub psize: u32,
    /// Proofs are at most so deep.
    pub sld: u32,
    /// At most so many states are looked into.
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

/// Why an option cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOption {
    /// Whether the name is unknown; else it is the value that will not do.
    pub is_name: bool,
    /// What is wrong.
    pub message: String,
    /// What would be accepted.
    pub help: String,
}

const NAMES: [&str; 9] = ["comm", "guards", "conflict", "roles", "cap", "depth", "psize", "sld", "states"];

/// The largest value of a bound.
const LARGEST: u32 = 1_000_000_000;

impl Options {
    /// Sets an option by its name.
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

    /// Those that are not as they are by default, by name.
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
            message: format!("`{value}` is no value of the option `{name}`"),
            help: format!("it can be {}", words.join(" or ")),
        }
    })
}

fn bound(name: &str, value: &str) -> Result<u32, BadOption> {
    value.parse().ok().filter(|bound| (1..=LARGEST).contains(bound)).ok_or_else(|| BadOption {
        is_name: false,
        message: format!("`{value}` is no value of the option `{name}`"),
        help: format!("it is a number from 1 to {LARGEST}"),
    })
}
