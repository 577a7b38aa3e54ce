//! Reads and sets the state of a session as `now` and `mail` statements. `tuple` does the same with tuples.

use std::sync::Arc;

use masque_mu::StateId;
use masque_text::{Diagnostic, FileId, ReadLimits};
use masque_verdict::Budget;

use super::{Refused, Session};
use crate::lower::Lowering;
use crate::parser::{is_tuple, parse};
use crate::program::Program;
use crate::system::System;
use crate::term::{TermId, Terms};
use crate::tree::{Clause, Item};

impl System {
    /// Returns a state as statements: what remains of each agent's clauses, in the order of the team, and the
    /// messages under way, in the order of their text.
    pub(crate) fn statements(&self, state: StateId) -> Vec<String> {
        let (processes, mail) = self.parts(state);
        let now = processes.iter().zip(&self.program.agents);
        let mut statements: Vec<String> =
            now.flat_map(|(process, agent)| self.terms.now(agent.id, TermId(*process))).collect();
        let mut mail: Vec<String> = mail.iter().map(|message| self.terms.mail(TermId(*message))).collect();
        mail.sort_unstable();
        statements.extend(mail);
        statements
    }

    /// Returns `now` statements for the agents whose processes differ between two states, as in the second.
    pub(crate) fn changed(&self, before: StateId, state: StateId) -> Vec<String> {
        let (processes, _) = self.parts(state);
        let both = processes.iter().zip(self.parts(before).0).zip(&self.program.agents);
        both.filter(|((process, other), _)| process != other)
            .flat_map(|((process, _), agent)| self.terms.now(agent.id, TermId(*process)))
            .collect()
    }
}

impl Session {
    /// Returns the current state as statements: `now a(role, id) :: rest.` for each agent, with
    /// `nil` for one that has finished, and `mail ..` for each message under way. [`Session::place`]
    /// reads them, and so does [`Session::open`] among the files of an instance.
    pub fn state(&mut self) -> Vec<String> {
        let state = self.space.initial();
        self.space.system().statements(state)
    }

    /// Sets the state to the one that `now` and `mail` statements describe, or a tuple as [`Session::tuple`]
    /// writes it. An agent without a `now` statement is in its first role, as when an instance is opened. If
    /// the text has errors, the state is unchanged.
    ///
    /// ```
    /// use masque_lcc::{Session, Setup, Text};
    ///
    /// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H).
    ///     agent a(hen, h).  agent a(farmer, f).";
    /// let setup = Setup { files: vec![Text::new("farm.lcc", text)], ..Setup::default() };
    /// let mut session = Session::open(setup).unwrap();
    /// session.place("now a(hen, h) :: nil.  mail a(hen, h) -> a(farmer, f) : egg.").unwrap();
    /// assert_eq!(session.possible_events().next[0].event.label, "in(egg, a(hen,h))@a(farmer,f) {}");
    /// assert_eq!(session.state()[1], "now a(farmer, f) :: a(farmer, f).");
    /// ```
    pub fn place(&mut self, statements: &str) -> Result<(), Vec<Diagnostic>> {
        self.place_within(statements, &Budget::unlimited()).map_err(Refused::into_diagnostics)
    }

    /// Adds the names of statements, whose text is the last one. The text is kept if some are new, because
    /// warnings refer to it.
    pub(super) fn learn(&mut self, file: FileId, items: &[Item]) {
        let system = self.space.lts();
        if Arc::make_mut(&mut system.program.names).learn(items, &mut system.terms) {
            self.history.learn(file);
            self.n_texts = self.sources.len();
        }
    }

    /// Sets the state without adding the names of the statements.
    pub(super) fn set_state(&mut self, statements: &str) -> Result<(), Vec<Diagnostic>> {
        let file = self.text("state", statements)?;
        let items = self.state_items(file)?;
        let placed = self.read_state(items, &ReadLimits::default())?;
        self.set_parts(&placed);
        Ok(())
    }

    /// Does what [`Session::place`] does, within the time and memory of a budget.
    pub fn place_within(&mut self, statements: &str, budget: &Budget) -> Result<(), Refused> {
        let limits = self.read_limits(budget);
        let mark = self.space.system().terms.mark();
        let file = self.text("state", statements)?;
        self.sources.set_limits(limits.clone());
        let placed = self.read_place(file, &limits);
        self.sources.lift_limits();
        if placed.is_err() || !limits.may_continue() {
            self.space.lts().terms.reset(mark);
        }
        match limits.exceeded() {
            Some(limit) => {
                self.sources.truncate(self.n_texts);
                Err(Refused::Stopped(limit.into()))
            }
            None => {
                let (placed, interaction) = placed?;
                self.set_parts(&placed);
                self.learn(file, &placed.items);
                self.interaction = interaction.or_else(|| self.interaction.take());
                Ok(())
            }
        }
    }

    /// Makes a state that was read the current one.
    pub(crate) fn set_parts(&mut self, placed: &PlacedState) {
        self.space.lts().set_initial_parts(&placed.processes, &placed.mail);
        self.has_past = true;
    }

    /// Reads a state, and the id of the interaction if the text is a tuple.
    fn read_place(
        &mut self,
        file: FileId,
        limits: &ReadLimits,
    ) -> Result<(PlacedState, Option<String>), Vec<Diagnostic>> {
        let (items, interaction) = if is_tuple(&self.sources, file) {
            let (items, interaction) = self.tuple_items(file, limits)?;
            (items, Some(interaction))
        } else {
            (self.state_items(file)?, None)
        };
        Ok((self.read_state(items, limits)?, interaction))
    }

    /// Parses the statements of a state.
    pub(super) fn state_items(&self, file: FileId) -> Result<Vec<Item>, Vec<Diagnostic>> {
        let (tree, diagnostics) = parse(&self.sources, file);
        let errors: Vec<Diagnostic> = diagnostics.into_iter().filter(Diagnostic::is_error).collect();
        if errors.is_empty() { Ok(tree.items) } else { Err(errors) }
    }

    /// Reads the statements of a state.
    pub(crate) fn read_state(
        &mut self,
        items: Vec<Item>,
        limits: &ReadLimits,
    ) -> Result<PlacedState, Vec<Diagnostic>> {
        let mut diagnostics = Vec::new();
        let system = self.space.lts();
        let team = Program { agents: system.program.agents.clone(), ..Program::default() };
        let mut lowering = Lowering::of(team, Terms::default(), limits);
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        let mut nows: Vec<&Clause> = Vec::new();
        for item in &items {
            if !limits.work(STEPS_PER_STATEMENT + system.program.agents.len() as u64 / 8) {
                break;
            }
            match item {
                Item::Now(clause) => {
                    let id = crate::lower::Scope::default().term(&mut lowering.terms, &clause.head.id);
                    std::mem::swap(&mut lowering.terms, &mut system.terms);
                    match system.agent_index(id) {
                        Some(_) => nows.push(clause),
                        None => diagnostics.push(system.no_member(id, clause.head.id.span)),
                    }
                    std::mem::swap(&mut lowering.terms, &mut system.terms);
                }
                Item::Mail(mail) => lowering.mail(mail),
                other => diagnostics.push(no_state(other)),
            }
        }
        lowering.program.agents.iter_mut().for_each(|agent| agent.now = agent.start);
        lowering.now(&nows);
        diagnostics.append(&mut lowering.diagnostics);
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let processes = lowering.program.agents.iter().map(|agent| agent.now).collect();
        Ok(PlacedState { items, processes, mail: lowering.program.mail })
    }
}

/// Steps of work per statement of a state.
const STEPS_PER_STATEMENT: u64 = 64;

/// A state as it was read: its statements, the process of each agent, and the messages under way.
pub(crate) struct PlacedState {
    items: Vec<Item>,
    pub(crate) processes: Vec<TermId>,
    pub(crate) mail: Vec<TermId>,
}

/// Makes the diagnostic about a statement that does not describe a state.
fn no_state(item: &Item) -> Diagnostic {
    Diagnostic::error(
        "lcc/no-state",
        item.span(),
        "this statement does not describe the state of an interaction",
    )
    .hint("a state is given by `now a(role, id) :: rest.` and `mail a(r, i) -> a(s, j) : message.`")
}
