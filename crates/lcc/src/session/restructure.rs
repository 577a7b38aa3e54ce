//! Adds and removes clauses of the protocol and members of the team. [ORW06 §1, §8]
//!
//! ```text
//! update(S)  =  open(texts of S with the update); place(state of S without the agents that leave)
//! ```
//!
//! This definition is carried out: all statements are parsed and checked again, so an update has the errors that
//! the new texts have, and properties refer to the new team. Terms are kept, so the state needs no translation:
//! what remains of a clause is a term of its own, and an agent in the middle of a clause continues with the body
//! that it has entered. Results of earlier checks are discarded.

use std::sync::Arc;

use masque_mu::Space;
use masque_text::{Diagnostic, FileId, ReadLimits, Span};
use masque_verdict::{Budget, Stop, Why};

use super::answer_cache::AnswerCache;
use super::update::{Change, Changed, Update, UpdateSummary, contradictions, lower, not_there};
use super::{Refused, Session, fixed_bytes};
use crate::entry::{Entry, MemberDef};
use crate::instance::OpenedInstance;
use crate::lower::Lowering;
use crate::parser::parse;
use crate::program::Program;
use crate::system::System;
use crate::term::TermId;
use crate::tree::{Item, Tree};

/// Maximum number of characters of an agent's work that a diagnostic shows.
const MAX_SHOWN_WORK: usize = 120;
/// Steps of work to compare a statement with a change.
const STEPS_PER_COMPARISON: u64 = 2;

/// Which demands on an update are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Demands {
    /// Those on an update by a client.
    All,
    /// None: the changes were made before, and are repeated in a session that was just opened.
    Repeated,
}

/// A statement of the session: where it is, and its content if it may change.
struct Statement {
    /// Index of its tree.
    tree: usize,
    item: Item,
    entry: Option<Entry>,
}

/// An update and all statements of a session, lowered.
struct LoweredStatements {
    changes: Vec<Change>,
    statements: Vec<Statement>,
    /// The id of each owner in them.
    owner_ids: Vec<TermId>,
}

/// A session's new content, which has been checked.
struct Rebuilt {
    opened: OpenedInstance,
    system: System,
    summary: UpdateSummary,
    removed: Vec<(Entry, Span)>,
    added: Vec<(Entry, Span)>,
    /// The id of each owner in the statements above and in the history.
    owner_ids: Vec<TermId>,
}

impl Session {
    /// Makes an update that changes clauses or the team, within the time and memory of a budget.
    pub(super) fn restructure(
        &mut self,
        update: &Update,
        demands: Demands,
        budget: &Budget,
    ) -> Result<UpdateSummary, Refused> {
        match self.try_restructure(update, demands, budget) {
            // The results of earlier checks are not needed afterwards.
            Err(Refused::Stopped(Stop { why: Why::Memory, .. })) => {
                self.forget();
                self.try_restructure(update, demands, budget)
            }
            done => done,
        }
    }

    fn try_restructure(
        &mut self,
        update: &Update,
        demands: Demands,
        budget: &Budget,
    ) -> Result<UpdateSummary, Refused> {
        budget.check()?;
        let limits = self.read_limits(budget);
        let mark = self.space.system().terms.mark();
        self.remove_old_texts();
        self.sources.set_limits(limits.clone());
        let rebuilt = self.rebuild(update, demands, &limits);
        self.sources.lift_limits();
        let stopped = limits.exceeded();
        match rebuilt {
            Ok(rebuilt) if stopped.is_none() => Ok(self.replace(rebuilt)),
            rebuilt => {
                self.space.lts().terms.reset(mark);
                match (stopped, rebuilt) {
                    (Some(limit), _) => {
                        self.sources.truncate(self.n_texts);
                        Err(Refused::Stopped(limit.into()))
                    }
                    (None, Err(diagnostics)) => Err(Refused::Invalid(diagnostics)),
                    (None, Ok(_)) => Err(Refused::Invalid(Vec::new())),
                }
            }
        }
    }

    /// Reads the update and all statements, and makes the new system. The session is unchanged except for its
    /// terms.
    fn rebuild(
        &mut self,
        update: &Update,
        demands: Demands,
        limits: &ReadLimits,
    ) -> Result<Rebuilt, Vec<Diagnostic>> {
        let mut items = self.items(&update.remove, "removed")?;
        let n_removed = items.len();
        items.extend(self.items(&update.add, "added")?);
        let LoweredStatements { changes, statements, owner_ids } =
            self.lowered(&items, n_removed, demands, limits)?;
        let mut diagnostics = Vec::new();
        if demands == Demands::All {
            diagnostics.extend(contradictions(&changes, limits));
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let has = |statement: &Statement, change: &Change| {
            statement.entry.as_ref().is_some_and(|entry| entry.is_same(&change.entry))
        };
        let (mut removed, mut added) = (Changed::new(), Changed::new());
        let is_removed = |statement: &Statement, removed: &[(Entry, Span)]| {
            statement
                .entry
                .as_ref()
                .is_some_and(|entry| removed.iter().any(|(other, _)| other.is_same(entry)))
        };
        for change in &changes {
            if !limits.work(statements.len() as u64 * STEPS_PER_COMPARISON) {
                return Err(Vec::new());
            }
            let mut copies = statements.iter().filter(|statement| has(statement, change));
            let one = (change.entry.clone(), change.span);
            let is_repeated =
                |all: &[(Entry, Span)]| all.iter().any(|(other, _)| other.is_same(&change.entry));
            if change.is_added {
                if !copies.any(|copy| !is_removed(copy, &removed)) && !is_repeated(&added) {
                    added.push(one);
                }
            } else if copies.next().is_none() {
                diagnostics.push(not_there(change.span));
            } else if !is_repeated(&removed) {
                removed.push(one);
            }
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let kept = statements.into_iter().filter(|statement| !is_removed(statement, &removed)).collect();
        let opened = self.reopened(kept, &items[n_removed..], &added, limits);
        let OpenedInstance { system: Some(_), .. } = &opened else {
            return Err(opened.diagnostics.into_iter().filter(Diagnostic::is_error).collect());
        };
        let rebuilt = self.with_state(opened, removed, added, demands)?;
        Ok(Rebuilt { owner_ids, ..rebuilt })
    }

    /// Lowers an update and all statements of the session.
    fn lowered(
        &mut self,
        items: &[Item],
        n_removed: usize,
        demands: Demands,
        limits: &ReadLimits,
    ) -> Result<LoweredStatements, Vec<Diagnostic>> {
        let statements = self.statements();
        let system = self.space.lts();
        limits.charge(system.program.bytes());
        let terms = std::mem::take(&mut system.terms);
        let mut lowering = Lowering::of(system.program.clone(), terms, limits);
        if demands == Demands::Repeated {
            // Owners may be agents that came and left.
            items.iter().for_each(|item| lowering.declare_owner(item));
        }
        let changes = lower(&mut lowering, items, n_removed);
        let diagnostics = std::mem::take(&mut lowering.diagnostics);
        let mut all = Vec::new();
        for (tree, item) in statements {
            if !lowering.may_continue() {
                break;
            }
            let entry = lowering.entry(&item);
            all.push(Statement { tree, item, entry });
        }
        let removed: Vec<Entry> = self.history.removed_entries().cloned().collect();
        let n_files = self.read.files.len();
        all.retain(|statement| {
            let is_removed = |entry: &Entry| removed.iter().any(|other| other.is_same(entry));
            statement.tree >= n_files || !statement.entry.as_ref().is_some_and(is_removed)
        });
        std::mem::swap(&mut lowering.terms, &mut self.space.lts().terms);
        let owner_ids = lowering.program.ids;
        let lowered = LoweredStatements { changes, statements: all, owner_ids };
        if diagnostics.is_empty() { Ok(lowered) } else { Err(diagnostics) }
    }

    /// Parses all statements of the session, each with the index of its tree: those of the files, among them the
    /// ones that were removed, then the added ones.
    fn statements(&self) -> Vec<(usize, Item)> {
        let mut statements = Vec::new();
        for (tree, file) in self.read.files.iter().enumerate() {
            let (parsed, _) = parse(&self.sources, *file);
            statements.extend(parsed.items.into_iter().map(|item| (tree, item)));
        }
        let spans: Vec<Span> = self.history.added_spans().collect();
        let of_files =
            spans.chunk_by(|left, right| self.sources.file_of(*left) == self.sources.file_of(*right));
        for (of_file, tree) in of_files.zip(self.read.files.len()..) {
            let (parsed, _) = parse(&self.sources, self.sources.file_of(of_file[0]));
            let is_added = |item: &Item| of_file.contains(&item.statement_span());
            statements.extend(parsed.items.into_iter().filter(is_added).map(|item| (tree, item)));
        }
        statements
    }

    /// Opens the instance that consists of the kept statements and the added ones.
    fn reopened(
        &self,
        kept: Vec<Statement>,
        items: &[Item],
        added: &[(Entry, Span)],
        limits: &ReadLimits,
    ) -> OpenedInstance {
        let mut trees: Vec<Tree> = vec![Tree::default(); self.read.files.len()];
        for statement in kept {
            trees.resize_with(trees.len().max(statement.tree + 1), Tree::default);
            trees[statement.tree].items.push(statement.item);
        }
        let is_added = |item: &&Item| added.iter().any(|(_, span)| *span == item.statement_span());
        trees.push(Tree { items: items.iter().filter(is_added).cloned().collect(), ..Tree::default() });
        let mut opened = OpenedInstance {
            files: self.read.files.clone(),
            property_files: self.read.property_files.clone(),
            trees,
            system: None,
            properties: Vec::new(),
            diagnostics: Vec::new(),
            imports: self.read.imports.clone(),
        };
        let terms = &self.space.system().terms;
        if limits.charge(terms.bytes()) {
            opened.check(&self.sources, &self.read.options, terms.clone());
        }
        opened
    }

    /// Puts the agents that stay into their current state.
    fn with_state(
        &mut self,
        mut opened: OpenedInstance,
        removed: Vec<(Entry, Span)>,
        added: Vec<(Entry, Span)>,
        demands: Demands,
    ) -> Result<Rebuilt, Vec<Diagnostic>> {
        let Some(mut system) = opened.system.take() else { return Err(opened.diagnostics) };
        let state = self.space.initial();
        let old = self.space.system();
        let leaving = leaving(&old.program, &system.program, &removed);
        if demands == Demands::All {
            let mut diagnostics: Vec<Diagnostic> =
                leaving.iter().filter_map(|(agent, span)| busy(old, state, *agent, *span)).collect();
            diagnostics.extend(present(&old.program, &leaving, &added));
            if !diagnostics.is_empty() {
                return Err(diagnostics);
            }
        }
        let (processes, mail) = old.parts(state);
        let stays = |id: TermId| {
            let index = old.agent_index(id)? as usize;
            (!leaving.iter().any(|(agent, _)| *agent == index)).then(|| TermId(processes[index]))
        };
        let processes: Vec<TermId> =
            system.program.agents.iter().map(|agent| stays(agent.id).unwrap_or(agent.start)).collect();
        let mail: Vec<TermId> = mail.iter().map(|message| TermId(*message)).collect();
        system.start_in(&processes, &mail);
        system.situations.n_computed = old.situations.n_computed;
        let is_new = |warning: &Diagnostic| {
            !self
                .warnings
                .iter()
                .any(|other| (other.code, &other.message) == (warning.code, &warning.message))
        };
        let summary = UpdateSummary {
            added: added.len(),
            removed: removed.len(),
            situations: old.n_situations(),
            warnings: opened.diagnostics.iter().filter(|warning| is_new(warning)).cloned().collect(),
        };
        Ok(Rebuilt { opened, system, summary, removed, added, owner_ids: Vec::new() })
    }

    /// Replaces the content of the session.
    fn replace(&mut self, rebuilt: Rebuilt) -> UpdateSummary {
        let Rebuilt { opened, mut system, summary, removed, added, owner_ids } = rebuilt;
        if removed.is_empty() && added.is_empty() {
            return UpdateSummary::default();
        }
        let OpenedInstance { properties, diagnostics, .. } = opened;
        self.history.record(&self.sources, &removed, &added);
        // Owners have other numbers in the new program.
        self.history.renumber(|owner| system.program.owner(owner_ids[owner.0 as usize]));
        self.space = Space::new(system);
        self.answers = AnswerCache::new(properties.iter().map(|property| property.formula.clone()));
        self.properties = properties;
        self.fixed_bytes = fixed_bytes(&diagnostics, &self.properties);
        self.warnings = diagnostics;
        self.has_past = false;
        if !added.is_empty() {
            self.n_texts = self.sources.len();
        }
        self.learn_again();
        summary
    }

    /// Adds the names of earlier states, and those of the current one, as placing it would.
    fn learn_again(&mut self) {
        let learned: Vec<FileId> = self.history.forget_learned();
        for file in learned {
            let Ok(items) = self.placed_items(file) else { continue };
            let system = self.space.lts();
            // The names of a text may be those of a new clause now.
            if Arc::make_mut(&mut system.program.names).learn(&items, &mut system.terms) {
                self.history.learn(file);
            }
        }
        let n_texts = self.sources.len();
        let state = self.state().join("\n");
        let Ok(file) = self.sources.add("state", state) else { return };
        match self.state_items(file) {
            Ok(items) => self.learn(file, &items),
            // A state that is nested too deeply for the parser has no names of its own.
            Err(_) => self.sources.truncate(n_texts),
        }
    }
}

/// The agents that leave, by their indices in the old team, with the statement that removes them: those with a
/// removed `agent` or `server` statement. If they have another one in the new texts, they start anew.
fn leaving(old: &Program, new: &Program, removed: &[(Entry, Span)]) -> Vec<(usize, Option<Span>)> {
    let members =
        || removed.iter().filter_map(|(entry, span)| as_member(entry).map(|member| (member, *span)));
    let mut leaving = Vec::new();
    for (index, agent) in old.agents.iter().enumerate() {
        let span = members().find(|(member, _)| member.id == agent.id).map(|(_, span)| span);
        let is_gone = !new.agents.iter().any(|other| other.id == agent.id);
        if is_gone || span.is_some() {
            leaving.push((index, span));
        }
    }
    leaving
}

fn as_member(entry: &Entry) -> Option<MemberDef> {
    match entry {
        Entry::Member(member) => Some(*member),
        _ => None,
    }
}

/// Makes a diagnostic if an agent that leaves has work or mail.
fn busy(system: &System, state: masque_mu::StateId, agent: usize, span: Option<Span>) -> Option<Diagnostic> {
    let (processes, mail) = system.parts(state);
    let (id, process) = (system.program.agents[agent].id, TermId(processes[agent]));
    let name = system.terms.written(id);
    let clip = |text: String| match text.char_indices().nth(MAX_SHOWN_WORK) {
        Some((at, _)) => format!("{}..", &text[..at]),
        None => text,
    };
    let mut waiting: Vec<String> = mail
        .iter()
        .map(|message| TermId(*message))
        .filter(|message| system.terms.arg(*message, 3) == id)
        .map(|message| system.terms.mail(message))
        .collect();
    waiting.sort_unstable();
    let has_work = !system.is_done(state, agent) && !system.is_idle(state, agent);
    let why = match (has_work, waiting.into_iter().next()) {
        (true, _) => format!("has work: `{}`", clip(system.terms.now(id, process).join(" "))),
        (false, Some(message)) => format!("has mail: `{}`", clip(message)),
        (false, None) => return None,
    };
    let message = format!("`{name}` cannot leave the team: it {why}");
    let hint = "an agent can leave when it has finished, or is a server in its first state, and no message to it \
                is under way";
    Some(match span {
        Some(span) => Diagnostic::error("lcc/busy-agent", span, message).hint(hint),
        None => Diagnostic::nowhere(masque_text::Severity::Error, "lcc/busy-agent", message).hint(hint),
    })
}

/// Makes diagnostics about first roles of agents that stay.
fn present(old: &Program, leaving: &[(usize, Option<Span>)], added: &[(Entry, Span)]) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for (entry, span) in added {
        let Some(member) = as_member(entry) else { continue };
        let stays = |(index, agent): (usize, &crate::program::AgentDef)| {
            agent.id == member.id && !leaving.iter().any(|(other, _)| *other == index)
        };
        if old.agents.iter().enumerate().any(stays) {
            let message =
                "this agent is in the team already, and its first roles cannot change while it stays";
            diagnostics.push(
                Diagnostic::error("lcc/present-agent", *span, message)
                    .hint("once it has finished, remove its `agent` statement in the same update"),
            );
        }
    }
    diagnostics
}
