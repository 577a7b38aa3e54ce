//! One agent's side of an interaction that has no centre: clause expansion. [ORW06 §4.2, Fig. 8, Fig. 9]
//!
//! ```text
//! receive (I, M, A, R, (P_F, P_S, K))
//!   1  find the agent's clause: its own copy, else the one in P_S, else that of role R in P_F
//!   2  add M to its incoming messages
//!   3  apply the transition rules while one applies
//!   4  pass on (I, M', A', R', (P_F, P_S', K)) for each message M' that it has sent
//! ```
//!
//! The agent has a session of its own, its *view*: the protocol, its own knowledge and rules, and the state of
//! the others as the last tuple described it. Only its own steps are made there. What an agent can do depends on
//! its own process, its messages, and what it knows, so these are steps of the whole system if the agent has all
//! rules that concern it.
//!
//! Of several possible steps, receipts come first; otherwise the first in the order of the text is made. A step is
//! made only if every property that was asked for can hold afterwards, and every obligation that is due can be met.
//!
//! | file | defines |
//! |---|---|
//! | `mod` | opening a side, and receiving a tuple |
//! | `view` | the view, and how a tuple changes it |
//! | `play` | the agent's steps, the check before each, and the tuples to be passed on |
//! | `status` | whether an agent without steps has finished, waits or is blocked |
//! | `due` | obligations that are due, which travel in the tuples |

mod due;
mod play;
mod status;
mod view;

use masque_text::{Diagnostic, Severity, Sources};
use masque_verdict::{Budget, Stop};

use self::due::DueCounts;
use crate::parser::parse;
use crate::session::{Refused, RefusedTexts, Session, Setup, Text, too_large};
use crate::tree::Item;

/// The input from which an agent's side is opened.
#[derive(Clone, Debug, Default)]
pub struct AgentSetup {
    /// Id of the agent.
    pub id: String,
    /// Its texts: what it knows and which rules it obeys, and optionally the protocol and the team.
    pub setup: Setup,
    /// Names of properties or formulas that must not fail after a step of the agent.
    pub properties: Vec<String>,
    /// Maximum number of steps after one tuple.
    pub max_steps: usize,
}

/// The state of an agent that waits for the next tuple, or has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentStatus {
    /// Nothing remains of its clause.
    Finished,
    /// It is a server in its first state.
    Idle,
    /// It waits for messages; what it waits for.
    Waiting(Vec<String>),
    /// It can do nothing; for each step it could make, the rule, fact or property that prevents it.
    Blocked(Vec<String>),
    /// The bound that prevents further steps.
    Limited(&'static str),
}

/// What an agent did with a tuple.
#[derive(Clone, Debug)]
pub struct Played {
    /// Labels of its steps, in their order.
    pub steps: Vec<String>,
    /// The tuples to be passed on, each in one line.
    pub tuples: Vec<String>,
    /// The agent's state afterwards. If it is blocked, no tuple is passed on.
    pub status: AgentStatus,
    /// Properties that fail only because of what the agent does not know about others.
    pub notes: Vec<String>,
}

/// The error if an agent refuses a tuple. Its state is unchanged.
#[derive(Debug)]
pub struct RefusedTuple {
    /// The texts that the diagnostics refer to.
    pub sources: Sources,
    /// The errors; empty if a limit was exceeded.
    pub diagnostics: Vec<Diagnostic>,
    /// The limit that was exceeded, if one was.
    pub stopped: Option<Stop>,
}

impl From<Box<RefusedTexts>> for RefusedTuple {
    fn from(refused: Box<RefusedTexts>) -> RefusedTuple {
        let RefusedTexts { sources, diagnostics, stopped } = *refused;
        RefusedTuple { sources, diagnostics, stopped }
    }
}

/// One agent's side of an interaction.
///
/// ```
/// use masque_lcc::{AgentSetup, AgentSide, AgentStatus, Setup, Text};
/// use masque_verdict::Budget;
///
/// let protocol = "a(buyer, B) :: offer(10) => a(seller, sue) then ok <= a(seller, S).
///     a(seller, S) :: offer(P) <= a(buyer, B) then ok => a(buyer, B) <- fair(P).
///     agent a(buyer, ben). agent a(seller, sue).";
/// let side = |id: &str, text: &str| {
///     let setup = Setup { files: vec![Text::new(id, text)], ..Setup::default() };
///     AgentSide::open(AgentSetup { id: id.to_string(), setup, max_steps: 100, ..AgentSetup::default() }).unwrap()
/// };
/// // Sue has no copy of the protocol: it comes with the message.
/// let (mut ben, mut sue) = (side("ben", protocol), side("sue", "know sue: fair(10)."));
/// let begun = ben.start("deal", &Budget::unlimited()).unwrap();
/// let answered = sue.receive(&begun.tuples[0], &Budget::unlimited()).unwrap();
/// let ended = ben.receive(&answered.tuples[0], &Budget::unlimited()).unwrap();
/// assert_eq!((answered.status, ended.status), (AgentStatus::Finished, AgentStatus::Finished));
/// ```
#[derive(Debug)]
pub struct AgentSide {
    setup: AgentSetup,
    /// The interaction as the agent sees it, once it knows the protocol.
    view: Option<Session>,
    /// Whether the agent has its own copy of its clause.
    has_begun: bool,
    /// How often obligations were triggered and met, as far as the agent knows.
    due: DueCounts,
}

impl AgentSide {
    /// Reads the texts of an agent. If they have no clauses, the protocol comes with the first tuple.
    pub fn open(setup: AgentSetup) -> Result<AgentSide, RefusedTuple> {
        AgentSide::open_within(setup, &Budget::unlimited())
    }

    /// Reads the texts of an agent within the time and memory of a budget.
    pub fn open_within(setup: AgentSetup, budget: &Budget) -> Result<AgentSide, RefusedTuple> {
        let mut side = AgentSide { setup, view: None, has_begun: false, due: DueCounts::default() };
        let mut sources = Sources::with_limits(budget.read_limits());
        let mut has_clauses = false;
        for Text { name, text } in &side.setup.setup.files {
            let file = sources.add(name, text.as_str()).map_err(|_| nowhere(too_large()))?;
            let (tree, found) = parse(&sources, file);
            if let Some(limit) = sources.limits().exceeded() {
                return Err(RefusedTuple { sources, diagnostics: Vec::new(), stopped: Some(limit.into()) });
            }
            let errors: Vec<Diagnostic> = found.into_iter().filter(Diagnostic::is_error).collect();
            if !errors.is_empty() {
                return Err(RefusedTuple { sources, diagnostics: errors, stopped: None });
            }
            has_clauses |= tree.items.iter().any(|item| matches!(item, Item::Clause(_) | Item::Import(_)));
        }
        if has_clauses {
            side.view = Some(side.open_view(&side.setup.setup, budget)?);
        }
        Ok(side)
    }

    /// Begins an interaction without a message.
    pub fn start(&mut self, interaction: &str, budget: &Budget) -> Result<Played, RefusedTuple> {
        let Some(mut view) = self.view.take() else {
            let message = "an agent that begins an interaction needs the clauses of the protocol";
            return Err(nowhere(
                Diagnostic::nowhere(Severity::Error, "lcc/no-protocol", message)
                    .hint("name the files with the protocol and the team"),
            ));
        };
        view.interaction = Some(crate::print::quoted(interaction, false));
        let played = self.play(&mut view, budget);
        self.view = Some(view);
        played
    }

    /// Receives a tuple, makes all steps that are possible, and returns the tuples to be passed on.
    pub fn receive(&mut self, tuple: &str, budget: &Budget) -> Result<Played, RefusedTuple> {
        let mut view = match self.view.take() {
            Some(view) => view,
            None => self.view_of(tuple, budget)?,
        };
        let due = self.due.clone();
        let played = match self.take(&mut view, tuple, budget) {
            Ok(before) => self.play(&mut view, budget).inspect_err(|_| view.space.lts().start_at(before)),
            Err(refused) => Err(refusal(&view, refused)),
        };
        if played.is_err() {
            self.due = due;
        }
        self.view = Some(view);
        played
    }

    /// Returns the id of the interaction, once there is one.
    pub fn interaction(&self) -> Option<&str> {
        self.view.as_ref().and_then(Session::interaction)
    }
}

/// The error without a location.
fn nowhere(diagnostic: Diagnostic) -> RefusedTuple {
    RefusedTuple { sources: Sources::default(), diagnostics: vec![diagnostic], stopped: None }
}

fn stopped(view: &Session, stop: Stop) -> RefusedTuple {
    refusal(view, Refused::Stopped(stop))
}

fn refusal(view: &Session, refused: Refused) -> RefusedTuple {
    let (diagnostics, stopped) = match refused {
        Refused::Invalid(diagnostics) => (diagnostics, None),
        Refused::Stopped(stop) => (Vec::new(), Some(stop)),
    };
    // Spans refer to positions in all texts of the view.
    let mut sources = Sources::default();
    for file in view.sources.files() {
        _ = sources.add(view.sources.name(file), view.sources.text(file));
    }
    RefusedTuple { sources, diagnostics, stopped }
}
