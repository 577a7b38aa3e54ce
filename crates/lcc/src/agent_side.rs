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
//! made only if every property that was asked for can hold afterwards.

use masque_mu::{LabelId, StateId};
use masque_text::{Diagnostic, FileId, ReadLimits, Severity, Sources, Span};
use masque_verdict::{Budget, Stop, Verdict};
use rustc_hash::FxHashSet;

use crate::options::Comm;
use crate::parser::{parse, parse_tuple};
use crate::session::{
    Question, Refused, RefusedTexts, Session, Setup, Text, TupleHead, Update, framework_texts,
    knowledge_texts, too_large,
};
use crate::step::{Situation, explain_stuck_agent};
use crate::symbol::Symbol;
use crate::system::LabelTerm;
use crate::term::TermId;
use crate::tree::{Item, Term, Tuple};

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
}

impl AgentSide {
    /// Reads the texts of an agent. If they have no clauses, the protocol comes with the first tuple.
    pub fn open(setup: AgentSetup) -> Result<AgentSide, RefusedTuple> {
        let mut side = AgentSide { setup, view: None, has_begun: false };
        let mut sources = Sources::default();
        let mut has_clauses = false;
        for Text { name, text } in &side.setup.setup.files {
            let file = sources.add(name, text.as_str()).map_err(|_| nowhere(too_large()))?;
            let (tree, found) = parse(&sources, file);
            let errors: Vec<Diagnostic> = found.into_iter().filter(Diagnostic::is_error).collect();
            if !errors.is_empty() {
                return Err(RefusedTuple { sources, diagnostics: errors, stopped: None });
            }
            has_clauses |= tree.items.iter().any(|item| matches!(item, Item::Clause(_) | Item::Import(_)));
        }
        if has_clauses {
            side.view = Some(side.open_view(side.setup.setup.clone())?);
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
        let taken = self.take(&mut view, tuple, budget);
        let played = match taken {
            Ok(()) => self.play(&mut view, budget),
            Err(refused) => Err(refusal(&view, refused)),
        };
        self.view = Some(view);
        played
    }

    /// Opens the view, and checks that the agent can take part in it.
    fn open_view(&self, setup: Setup) -> Result<Session, RefusedTuple> {
        let view = Session::open(setup)?;
        if view.options().comm == Comm::Sync {
            let message = "agents that pass tuples cannot exchange messages in one step";
            return Err(nowhere(
                Diagnostic::nowhere(Severity::Error, "lcc/no-handshake", message)
                    .hint("remove `option comm = sync`: a tuple is a message under way"),
            ));
        }
        if !view.team().contains(&self.setup.id) {
            let message = format!("no member of the team is called `{}`", self.setup.id);
            let help = masque_text::did_you_mean(&self.setup.id, view.team())
                .unwrap_or_else(|| format!("the team consists of {}", view.team().join(", ")));
            return Err(nowhere(
                Diagnostic::nowhere(Severity::Error, "lcc/unknown-agent", message).hint(help),
            ));
        }
        Ok(view)
    }

    /// Opens the view with the protocol of a tuple.
    fn view_of(&self, text: &str, budget: &Budget) -> Result<Session, RefusedTuple> {
        let mut sources = Sources::with_limits(budget.read_limits());
        let file = sources.add("tuple", text).map_err(|_| nowhere(too_large()))?;
        let tuple = match parse_tuple(&sources, file) {
            Ok(tuple) => tuple,
            Err(diagnostics) => return Err(RefusedTuple { stopped: None, diagnostics, sources }),
        };
        if let Some(diagnostic) = self.other_receiver(&sources, &tuple) {
            return Err(RefusedTuple { stopped: None, diagnostics: vec![diagnostic], sources });
        }
        let mut statements: Vec<String> =
            tuple.framework.iter().map(|item| format!("{}.", sources.slice(item.span()))).collect();
        statements.extend(tuple.knowledge.iter().map(|item| match item {
            Item::Fact(_) => format!("common {}", sources.slice(item.span())),
            _ => sources.slice(item.span()).to_string(),
        }));
        let mut ids: FxHashSet<String> = self.members();
        let agents = tuple.state.iter().filter_map(|item| match item {
            Item::Now(clause) => Some(&clause.head),
            _ => None,
        });
        for agent in agents.chain([&tuple.to]) {
            let id = sources.slice(agent.id.span).to_string();
            let is_receiver = agent.span == tuple.to.span;
            if is_receiver && ids.contains(&self.setup.id) || !is_receiver && !ids.insert(id.clone()) {
                continue;
            }
            let id = if is_receiver { crate::print::quoted(&self.setup.id, false) } else { id };
            statements.push(format!("agent a({}, {id}).", sources.slice(agent.role.span)));
        }
        let mut setup = self.setup.setup.clone();
        setup.files.insert(0, Text::new("protocol of the tuple", statements.join("\n")));
        self.open_view(setup)
    }

    /// The ids that the agent's own texts name as members of the team.
    fn members(&self) -> FxHashSet<String> {
        let mut ids = FxHashSet::default();
        let mut sources = Sources::default();
        for Text { name, text } in &self.setup.setup.files {
            let Ok(file) = sources.add(name, text.as_str()) else { continue };
            for item in parse(&sources, file).0.items {
                if let Item::Member(member) = item {
                    ids.insert(sources.slice(member.agent.id.span).to_string());
                }
            }
        }
        ids
    }

    /// Makes a diagnostic if a tuple is addressed to another agent.
    fn other_receiver(&self, sources: &Sources, tuple: &Tuple) -> Option<Diagnostic> {
        let Term { kind, span } = &tuple.to.id;
        let is_own = match kind {
            crate::tree::TermKind::App(name, args) => args.is_empty() && *name == self.setup.id,
            kind => matches!(kind, crate::tree::TermKind::Var(_) | crate::tree::TermKind::Anonymous),
        };
        (!is_own).then(|| {
            let message =
                format!("this tuple is for `{}`, not for `{}`", sources.slice(*span), self.setup.id);
            Diagnostic::error("lcc/other-agent", *span, message)
                .hint("the third part of a tuple is the id of the agent that receives it, or `_`")
        })
    }

    /// Takes the state of the others and the message of a tuple into the view.
    fn take(&mut self, view: &mut Session, text: &str, budget: &Budget) -> Result<(), Refused> {
        budget.check()?;
        let limits = view.read_limits(budget);
        let file = view.text("tuple", text)?;
        view.sources.set_limits(limits.clone());
        let taken = self.take_within(view, file, &limits);
        view.sources.lift_limits();
        match limits.exceeded() {
            Some(limit) => Err(Refused::Stopped(limit.into())),
            None => taken.map_err(Refused::Invalid),
        }
    }

    fn take_within(
        &mut self,
        view: &mut Session,
        file: FileId,
        limits: &ReadLimits,
    ) -> Result<(), Vec<Diagnostic>> {
        let tuple = parse_tuple(&view.sources, file)?;
        if let Some(diagnostic) = self.other_receiver(&view.sources, &tuple) {
            return Err(vec![diagnostic]);
        }
        let (items, interaction) = view.tuple_items(file, limits)?;
        let file = self.join(view, &tuple, file)?;
        // Other messages under way travel in tuples of their own.
        let own_message = tuple.message.as_ref().map(|mail| mail.span);
        let items = if file == tuple_file(view, &tuple) {
            items
        } else {
            parse_tuple(&view.sources, file)?.into_state()
        };
        let n_items = items.len();
        let keep = |(index, item): (usize, Item)| match item {
            Item::Mail(_) if own_message.is_none() || index + 1 < n_items => None,
            item => Some(item),
        };
        let items: Vec<Item> = items.into_iter().enumerate().filter_map(keep).collect();
        let mut placed = view.read_state(items, limits)?;
        let me = self.index(view);
        let state = view.space.initial();
        let (processes, mail) = view.space.system().parts(state);
        if self.has_begun {
            placed.processes[me] = TermId(processes[me]);
            placed.mail.extend(mail.iter().map(|message| TermId(*message)));
        }
        view.set_parts(&placed);
        view.interaction = Some(interaction);
        Ok(())
    }

    /// Adds agents of a tuple to the view's team that are not in it. Returns the file of the tuple.
    fn join(&self, view: &mut Session, tuple: &Tuple, file: FileId) -> Result<FileId, Vec<Diagnostic>> {
        let team = view.team();
        let text = |span: Span| view.sources.slice(span).to_string();
        let heads = tuple.state.iter().filter_map(|item| match item {
            Item::Now(clause) => Some((text(clause.head.role.span), text(clause.head.id.span))),
            _ => None,
        });
        let mut add: Vec<String> = heads
            .filter(|(_, id)| !team.contains(id))
            .map(|(role, id)| format!("agent a({role}, {id})."))
            .collect();
        add.sort();
        add.dedup();
        if add.is_empty() {
            return Ok(file);
        }
        let whole = view.sources.text(file).to_string();
        view.update(&Update { add, remove: Vec::new() })?;
        view.text("tuple", &whole)
    }

    fn index(&self, view: &Session) -> usize {
        view.team().iter().position(|id| *id == self.setup.id).unwrap_or(0)
    }

    /// Makes the agent's steps while one is possible.
    fn play(&mut self, view: &mut Session, budget: &Budget) -> Result<Played, RefusedTuple> {
        let me = self.index(view);
        let before = view.space.initial();
        let (mut steps, mut sent, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        let status = loop {
            if steps.len() >= self.setup.max_steps {
                break AgentStatus::Limited("steps");
            }
            let (own, cut) = match view.within(budget, |view| own_steps(view, me)) {
                Ok(found) => found,
                Err(stop) => return Err(stopped(view, stop)),
            };
            let mut refused = Vec::new();
            let chosen = own.iter().find(|step| {
                let reasons = self.objections(view, **step, &mut notes, budget);
                let is_good = reasons.is_empty();
                refused.extend(reasons);
                is_good
            });
            match chosen {
                Some((label, target)) => {
                    steps.push(view.space.system().label_text(*label));
                    sent.extend(self.make(view, me, *label, *target));
                }
                None if !refused.is_empty() => break AgentStatus::Blocked(refused),
                None => break status(view, me, cut),
            }
        };
        notes.sort();
        notes.dedup();
        if matches!(status, AgentStatus::Blocked(_)) {
            // The agent goes back to where it was, and nothing is passed on.
            view.space.lts().set_initial(before);
            return Ok(Played { steps: Vec::new(), tuples: Vec::new(), status, notes });
        }
        self.has_begun = true;
        let tuples = self.tuples(view, &sent);
        Ok(Played { steps, tuples, status, notes })
    }

    /// Returns the properties that fail after a step.
    fn objections(
        &self,
        view: &mut Session,
        (label, target): (LabelId, StateId),
        notes: &mut Vec<String>,
        budget: &Budget,
    ) -> Vec<String> {
        if self.setup.properties.is_empty() {
            return Vec::new();
        }
        let before = view.space.initial();
        view.space.lts().set_initial(target);
        let names: Vec<String> = view.properties().into_iter().map(|property| property.name).collect();
        let mut reasons = Vec::new();
        for property in &self.setup.properties {
            let question = if names.contains(property) {
                Question::Property(property.clone())
            } else {
                Question::Formula(property.clone())
            };
            let label = view.space.system().label_text(label);
            match view.check(&question, false, budget) {
                Ok(reply) if reply.checked.verdict == Verdict::Fails => {
                    _ = view.explore(budget);
                    let own = format!("{}: ", self.setup.id);
                    let unknown: Vec<String> =
                        view.unknown_constraints().into_iter().filter(|one| !one.starts_with(&own)).collect();
                    if unknown.is_empty() {
                        reasons.push(format!("`{property}` would fail after {label}"));
                    } else {
                        notes.push(format!(
                            "`{property}` is not decided: nothing is known about {}",
                            unknown.join(", ")
                        ));
                    }
                }
                Ok(_) => {}
                Err(found) => reasons.extend(found.into_iter().map(|one| one.message)),
            }
        }
        view.space.lts().set_initial(before);
        reasons
    }

    /// Makes a step. Returns the message that leaves the agent.
    fn make(&self, view: &mut Session, me: usize, label: LabelId, target: StateId) -> Option<TermId> {
        let before = view.space.initial();
        let system = view.space.lts();
        let (processes, mail) = system.parts(target);
        let processes: Vec<TermId> = processes.iter().map(|process| TermId(*process)).collect();
        let mut mail: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
        let mut sent = None;
        if kind(system, label) == Some(Symbol::SENT) {
            let mut old: Vec<u32> = system.parts(before).1.to_vec();
            let is_new = |message: &TermId| match old.iter().position(|other| *other == message.0) {
                Some(index) => {
                    old.swap_remove(index);
                    false
                }
                None => true,
            };
            let index = mail.iter().position(is_new);
            // A message to itself stays in its list of incoming messages.
            let id = system.program.agents[me].id;
            sent =
                index.filter(|index| system.terms.arg(mail[*index], 3) != id).map(|index| mail.remove(index));
        }
        system.set_initial_parts(&processes, &mail);
        view.has_past = true;
        sent
    }

    /// Writes the tuples for messages that were sent.
    fn tuples(&self, view: &mut Session, sent: &[TermId]) -> Vec<String> {
        let state = view.space.initial();
        let system = view.space.system();
        let (processes, _) = system.parts(state);
        let now = processes.iter().zip(&system.program.agents);
        let now = now.flat_map(|(process, agent)| system.terms.now(agent.id, TermId(*process)));
        let rest: Vec<String> =
            now.map(|text| text.strip_prefix("now ").unwrap_or(&text).to_string()).collect();
        let (framework, knowledge) = (framework_texts(system), knowledge_texts(system));
        let interaction = view.interaction.clone().unwrap_or_default();
        let tuple = |message: &TermId| {
            TupleHead::new(&system.terms, Some(*message)).tuple(&interaction, &framework, &rest, &knowledge)
        };
        sent.iter().map(tuple).collect()
    }

    /// Returns the id of the interaction, once there is one.
    pub fn interaction(&self) -> Option<&str> {
        self.view.as_ref().and_then(Session::interaction)
    }
}

/// The file of a tuple.
fn tuple_file(view: &Session, tuple: &Tuple) -> FileId {
    view.sources.file_of(tuple.framework_span)
}

/// The agent's steps in the current state, receipts first, and the bound that was exceeded, if any.
fn own_steps(view: &mut Session, me: usize) -> (Vec<(LabelId, StateId)>, Option<&'static str>) {
    let (steps, cut) = view.steps();
    let system = view.space.system();
    let id = system.program.agents[me].id;
    let is_own = |(label, _): &(LabelId, StateId)| match system.label_term(*label) {
        LabelTerm::Own(label) => system.terms.arg(label, 4) == id,
        LabelTerm::Tau(..) => false,
    };
    let mut own: Vec<(LabelId, StateId)> = steps.into_iter().filter(is_own).collect();
    own.sort_by_key(|(label, _)| kind(system, *label) != Some(Symbol::TAKEN));
    (own, cut)
}

fn kind(system: &crate::system::System, label: LabelId) -> Option<Symbol> {
    match system.label_term(label) {
        LabelTerm::Own(label) => system.terms.symbol(label),
        LabelTerm::Tau(..) => None,
    }
}

/// The status of an agent without steps.
fn status(view: &mut Session, me: usize, cut: Option<&'static str>) -> AgentStatus {
    let state = view.space.initial();
    let system = view.space.lts();
    if system.is_done(state, me) {
        return AgentStatus::Finished;
    }
    if let Some(bound) = cut {
        return AgentStatus::Limited(bound);
    }
    let (processes, mail) = system.parts(state);
    let mail: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
    let (actor, process) = (system.program.agents[me].owner, TermId(processes[me]));
    let mut reasons = Vec::new();
    for message in std::iter::once(None).chain(mail.into_iter().map(Some)) {
        let situation = Situation { actor, process, message };
        let found = explain_stuck_agent(&system.program, &mut system.terms, situation);
        reasons.extend(found.into_iter().filter(|reason| !reasons.contains(reason)).collect::<Vec<_>>());
    }
    let waits = format!("{} waits for ", system.program.name(&system.terms, actor));
    let (waiting, blocked): (Vec<String>, Vec<String>) =
        reasons.into_iter().partition(|reason| reason.starts_with(&waits));
    let takes_nothing = blocked.iter().any(|reason| reason.contains(" receive("));
    if waiting.is_empty() || takes_nothing {
        AgentStatus::Blocked(blocked)
    } else if system.is_idle(state, me) {
        AgentStatus::Idle
    } else {
        AgentStatus::Waiting(waiting)
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
