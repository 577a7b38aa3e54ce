//! The view of an agent: a session with the protocol, the agent's own texts, and the state of the others as the
//! last tuple described it.

use masque_mu::StateId;
use masque_text::{Diagnostic, FileId, ReadLimits, Severity, Sources, Span};
use masque_verdict::{Budget, Stop};
use rustc_hash::FxHashSet;

use super::{AgentSide, RefusedTuple, nowhere};
use crate::options::Comm;
use crate::parser::{parse, parse_tuple};
use crate::session::{Refused, Session, Setup, Text, Update, too_large};
use crate::term::TermId;
use crate::tree::{Item, Term, TermKind, Tuple};

impl AgentSide {
    /// Opens the view, and checks that the agent can take part in it.
    pub(super) fn open_view(&self, setup: &Setup, budget: &Budget) -> Result<Session, RefusedTuple> {
        let view = Session::open_within(setup, budget)?;
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
    pub(super) fn view_of(&self, text: &str, budget: &Budget) -> Result<Session, RefusedTuple> {
        let mut sources = Sources::with_limits(budget.read_limits());
        let file = sources.add("tuple", text).map_err(|_| nowhere(too_large()))?;
        let tuple = match parse_tuple(&sources, file) {
            Ok(tuple) => tuple,
            Err(diagnostics) => {
                let stopped = sources.limits().exceeded().map(Stop::from);
                let diagnostics = if stopped.is_some() { Vec::new() } else { diagnostics };
                return Err(RefusedTuple { stopped, diagnostics, sources });
            }
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
        self.open_view(&setup, budget)
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
            TermKind::App(name, args) => args.is_empty() && *name == self.setup.id,
            kind => matches!(kind, TermKind::Var(_) | TermKind::Anonymous),
        };
        (!is_own).then(|| {
            let message =
                format!("this tuple is for `{}`, not for `{}`", sources.slice(*span), self.setup.id);
            Diagnostic::error("lcc/other-agent", *span, message)
                .hint("the third part of a tuple is the id of the agent that receives it, or `_`")
        })
    }

    /// Takes the state of the others and the message of a tuple into the view. Returns the state before.
    pub(super) fn take(
        &mut self,
        view: &mut Session,
        text: &str,
        budget: &Budget,
    ) -> Result<StateId, Refused> {
        budget.check()?;
        let limits = view.read_limits(budget);
        let file = view.text("tuple", text)?;
        view.sources.set_limits(limits.clone());
        let taken = self.take_within(view, file, &limits);
        view.sources.lift_limits();
        match limits.exceeded() {
            Some(limit) => {
                if let Ok(before) = taken {
                    view.space.lts().start_at(before);
                }
                Err(Refused::Stopped(limit.into()))
            }
            None => taken.map_err(Refused::Invalid),
        }
    }

    /// Does what [`AgentSide::take`] does with a text of the view.
    fn take_within(
        &mut self,
        view: &mut Session,
        file: FileId,
        limits: &ReadLimits,
    ) -> Result<StateId, Vec<Diagnostic>> {
        let tuple = parse_tuple(&view.sources, file)?;
        if let Some(diagnostic) = self.other_receiver(&view.sources, &tuple) {
            return Err(vec![diagnostic]);
        }
        let (items, interaction) = view.tuple_items(file, limits)?;
        // The texts of the obligations are read before another text replaces the tuple.
        let mut due = self.due.clone();
        due.join(view, &tuple.due).map_err(|diagnostic| vec![diagnostic])?;
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
        self.due = due;
        view.interaction = Some(interaction);
        Ok(state)
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

    /// The index of the agent in the team of its view.
    pub(super) fn index(&self, view: &Session) -> usize {
        view.team().iter().position(|id| *id == self.setup.id).unwrap_or(0)
    }
}

/// The file of a tuple.
fn tuple_file(view: &Session, tuple: &Tuple) -> FileId {
    view.sources.file_of(tuple.framework_span)
}
