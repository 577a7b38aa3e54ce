//! Adds and removes rules, facts and choices. `restructure` does so with clauses and members of the team.
//!
//! Statements form a set: adding one that exists changes nothing, and removing one removes all copies of it.
//! An update is applied as a whole or not at all.

use masque_text::{Diagnostic, ReadLimits, Span};
use masque_verdict::{Budget, Stop, Why};

use super::restructure::Demands;
use super::{Refused, Session, too_large};
use crate::entry::Entry;
use crate::lower::Lowering;
use crate::names::check_statements;
use crate::parser::parse;
use crate::program::Program;
use crate::stratify::stratify;
use crate::tree::{Item, Term};

/// Statements to be added and removed: `common ..`, `know id: ..`, `rule id: ..`, `choice ..`, `agent ..`,
/// `server ..` and clauses. Each text may have several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Statements to be added.
    pub add: Vec<String>,
    /// Statements to be removed. The names of variables do not matter.
    pub remove: Vec<String>,
}

/// The result of an update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateSummary {
    /// Number of statements that were added, without those that existed already.
    pub added: usize,
    /// Number of statements that were removed.
    pub removed: usize,
    /// Number of known local situations whose outcome may depend on these statements.
    pub situations: usize,
    /// Warnings about names in the added statements that the instance does not know. Their texts are
    /// in [`Session::sources`] until the next question or update.
    pub warnings: Vec<Diagnostic>,
}

/// A statement of an update.
pub(super) struct Change {
    pub(super) entry: Entry,
    pub(super) span: Span,
    /// Whether the statement is added; otherwise it is removed.
    pub(super) is_added: bool,
}

impl Session {
    /// Adds and removes statements. If the update has errors, nothing is changed.
    ///
    /// If it adds or removes clauses, or agents join or leave, the session is afterwards as if it had been opened
    /// with the new texts and its state had been placed: an agent that joins is in its first role, an agent in the
    /// middle of a clause continues with the body that it has entered, and an agent with work or mail cannot leave.
    ///
    /// ```
    /// use masque_lcc::{Session, Setup, Text, Update};
    ///
    /// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H) then a(farmer, F).
    ///     agent a(hen, h1).  server a(farmer, f).";
    /// let setup = Setup { files: vec![Text::new("farm.lcc", text)], ..Setup::default() };
    /// let mut session = Session::open(setup).unwrap();
    /// let join = Update { add: vec!["agent a(hen, h2).".to_string()], ..Update::default() };
    /// assert_eq!(session.update(&join).unwrap().added, 1);
    /// assert_eq!(session.team(), ["h1", "f", "h2"]);
    /// let leave = Update { remove: join.add, ..Update::default() };
    /// let refused = session.update(&leave).unwrap_err();
    /// assert_eq!(refused[0].message,
    ///     "`h2` cannot leave the team: it has work: `now a(hen, h2) :: a(hen, h2).`");
    /// ```
    ///
    /// The owner of an added fact or choice, and the enforcer of an added rule, must be known to the
    /// instance: as a member of the team, or as the owner or enforcer of another statement.
    pub fn update(&mut self, update: &Update) -> Result<UpdateSummary, Vec<Diagnostic>> {
        self.update_within(update, &Budget::unlimited()).map_err(Refused::into_diagnostics)
    }

    /// Does what [`Session::update`] does, within the time and memory of a budget. An update that is stopped
    /// changes nothing.
    pub fn update_within(&mut self, update: &Update, budget: &Budget) -> Result<UpdateSummary, Refused> {
        self.make_room(update, budget)?;
        let limits = self.read_limits(budget);
        let mark = self.space.system().terms.mark();
        self.remove_old_texts();
        self.sources.set_limits(limits.clone());
        let prepared = self.prepare(update, &limits);
        self.sources.lift_limits();
        if let Some(limit) = limits.exceeded() {
            self.space.lts().terms.reset(mark);
            self.sources.truncate(self.n_texts);
            return Err(Refused::Stopped(limit.into()));
        }
        match prepared {
            Ok(Some(prepared)) => Ok(self.apply(prepared)),
            Ok(None) => self.restructure(update, Demands::All, budget),
            Err(diagnostics) => {
                self.space.lts().terms.reset(mark);
                Err(Refused::Invalid(diagnostics))
            }
        }
    }

    /// Discards results if the session has reached the memory limit, so that statements can be added.
    fn make_room(&mut self, update: &Update, budget: &Budget) -> Result<(), Stop> {
        budget.check()?;
        let is_full = |session: &Session| budget.memory().is_some_and(|bytes| session.bytes() >= bytes);
        if is_full(self) {
            self.forget();
        }
        if !update.add.is_empty() && is_full(self) { Err(Why::Memory.into()) } else { Ok(()) }
    }

    /// Reads an update and makes the new program, without changing the session except for its terms;
    /// `None` if the protocol or the team changes.
    fn prepare(
        &mut self,
        update: &Update,
        limits: &ReadLimits,
    ) -> Result<Option<PreparedUpdate>, Vec<Diagnostic>> {
        let mut items = self.items(&update.remove, "removed")?;
        let n_removed = items.len();
        items.extend(self.items(&update.add, "added")?);
        if items.iter().any(|item| matches!(item, Item::Clause(_) | Item::Member(_))) {
            return Ok(None);
        }
        let system = self.space.lts();
        // The program is copied.
        limits.charge(system.program.bytes());
        let terms = std::mem::take(&mut system.terms);
        let mut lowering = Lowering::of(system.program.clone(), terms, limits);
        let prepared = prepare_changes(&mut lowering, &items, n_removed, limits);
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        let (summary, changed) = prepared?;
        Ok(Some(PreparedUpdate { program: lowering.program, changed, summary }))
    }

    /// Replaces the program.
    fn apply(&mut self, prepared: PreparedUpdate) -> UpdateSummary {
        let PreparedUpdate { program, changed, mut summary } = prepared;
        if !changed.is_empty() {
            let (removed, added) = changed.split_at(changed.len() - summary.added);
            self.history.record(&self.sources, removed, added);
            let changed: Vec<Entry> = changed.into_iter().map(|(entry, _)| entry).collect();
            summary.situations = self.space.lts().set_program(program, &changed);
            self.has_past = true;
            if summary.added > 0 {
                self.n_texts = self.sources.len();
            }
        }
        summary
    }

    /// Parses the statements of some texts.
    pub(super) fn items(&mut self, texts: &[String], what: &str) -> Result<Vec<Item>, Vec<Diagnostic>> {
        let mut items = Vec::new();
        let mut diagnostics = Vec::new();
        for text in texts {
            let name = format!("{what} statements");
            if !self.sources.limits().charge(text.len() as u64 + BYTES_PER_TEXT) {
                break;
            }
            let file = self.sources.add(name, text.clone()).map_err(|_| vec![too_large()])?;
            let (tree, found) = parse(&self.sources, file);
            diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
            items.extend(tree.items);
        }
        if diagnostics.is_empty() { Ok(items) } else { Err(diagnostics) }
    }
}

/// Estimated bytes of a text besides its characters.
const BYTES_PER_TEXT: u64 = 160;

/// The statements that were removed, then those that were added, with their locations.
pub(super) type Changed = Vec<(Entry, Span)>;

/// An update of facts, rules and choices that has been checked.
struct PreparedUpdate {
    program: Program,
    changed: Changed,
    summary: UpdateSummary,
}

/// Adds and removes statements in the program of `lowering`, and checks the result.
fn prepare_changes(
    lowering: &mut Lowering,
    items: &[Item],
    n_removed: usize,
    limits: &ReadLimits,
) -> Result<(UpdateSummary, Changed), Vec<Diagnostic>> {
    let changes = lower(lowering, items, n_removed);
    let mut diagnostics = std::mem::take(&mut lowering.diagnostics);
    diagnostics.extend(contradictions(&changes, limits));
    let changes = if diagnostics.is_empty() { changes } else { Vec::new() };
    let (mut summary, mut changed) = (UpdateSummary::default(), Vec::new());
    for Change { entry, span, is_added } in changes {
        if !limits.work(STEPS_PER_CHANGE + lowering.program.n_like(&entry) as u64) {
            break;
        }
        match (is_added, lowering.program.has(&entry)) {
            (true, true) => continue,
            (true, false) => {
                lowering.program.add(entry.clone());
                summary.added += 1;
            }
            (false, true) => {
                lowering.program.remove(&entry);
                summary.removed += 1;
            }
            (false, false) => {
                diagnostics.push(not_there(span));
                continue;
            }
        }
        changed.push((entry, span));
    }
    if diagnostics.is_empty() && changed.iter().any(|(entry, _)| entry.has_body()) {
        diagnostics.extend(stratify(&lowering.program, &lowering.terms, limits));
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    if items.len() > n_removed {
        let added = items[n_removed..].iter();
        summary.warnings = check_statements(&lowering.program, &lowering.terms, added, limits);
    }
    Ok((summary, changed))
}

/// Steps of work to add or remove one statement.
const STEPS_PER_CHANGE: u64 = 64;

pub(super) fn not_there(span: Span) -> Diagnostic {
    let message = "this cannot be removed: there is no such statement";
    Diagnostic::error("lcc/not-there", span, message)
        .hint("it is removed by its text; only the names of its variables may differ")
}

/// Lowers statements to changes. The first `n_removed` statements are to be removed.
pub(super) fn lower(lowering: &mut Lowering, items: &[Item], n_removed: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    // An agent that joins may own statements of the same update.
    items[n_removed..]
        .iter()
        .filter(|item| matches!(item, Item::Member(_)))
        .for_each(|item| lowering.declare_owner(item));
    for (index, item) in items.iter().enumerate() {
        if !lowering.may_continue() {
            break;
        }
        let (owner, span) = match item {
            Item::Fact(fact) => (fact.owner.as_ref(), fact.span),
            Item::Rule(rule) => (Some(&rule.enforcer), rule.span),
            Item::Choice(choice) => (choice.owner.as_ref(), choice.span),
            Item::Clause(_) | Item::Member(_) => (None, item.statement_span()),
            _ => {
                lowering.diagnostics.push(fixed(item));
                continue;
            }
        };
        if let Some(diagnostic) = owner.and_then(|owner| unknown_owner(lowering, owner)) {
            lowering.diagnostics.push(diagnostic);
            continue;
        }
        let Some(entry) = lowering.entry(item) else { continue };
        changes.push(Change { entry, span, is_added: index >= n_removed });
    }
    changes
}

/// Makes the diagnostic about a statement of a kind that cannot be updated.
fn fixed(item: &Item) -> Diagnostic {
    let what = match item {
        Item::Now(_) | Item::Mail(_) => "the state of the interaction",
        Item::Role(_) => "the declaration of a role",
        Item::Obligation(_) => "an obligation",
        Item::Setting(_) => "an option",
        Item::Property(_) => "a property",
        Item::Import(_) => "an import",
        Item::Fact(_) | Item::Rule(_) | Item::Choice(_) | Item::Clause(_) | Item::Member(_) => "this",
    };
    Diagnostic::error("lcc/fixed", item.span(), format!("{what} cannot be updated in a session")).hint(
        "updates are `common ..`, `know id: ..`, `rule id: (S, O, +act) ..`, `choice ..`, `agent ..` and \
             `server ..` statements and clauses",
    )
}

/// Makes a diagnostic if an owner or enforcer is not known to the instance.
fn unknown_owner(lowering: &mut Lowering, owner: &Term) -> Option<Diagnostic> {
    let id = crate::lower::Scope::default().term(&mut lowering.terms, owner);
    if lowering.program.owners.contains_key(&id) {
        return None;
    }
    let terms = &lowering.terms;
    let names: Vec<String> = lowering.program.ids.iter().map(|id| terms.text(*id)).collect();
    let name = terms.text(id);
    let help = masque_text::did_you_mean(&name, &names)
        .unwrap_or_else(|| format!("the known ids are {}", names.join(", ")));
    let message = format!("no agent in this session is called `{name}`");
    Some(Diagnostic::error("lcc/unknown-agent", owner.span, message).hint(help))
}

/// Makes diagnostics about statements that are both added and removed.
pub(super) fn contradictions(changes: &[Change], limits: &ReadLimits) -> Vec<Diagnostic> {
    let (added, removed): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.is_added);
    let mut diagnostics = Vec::new();
    for change in added {
        if !limits.work(removed.len() as u64) {
            break;
        }
        if let Some(other) = removed.iter().find(|other| other.entry.is_same(&change.entry)) {
            let message = "this statement is both added and removed";
            let diagnostic = Diagnostic::error("lcc/contradictory-update", change.span, message)
                .label("added here")
                .also(other.span, "and removed here")
                .hint("remove one of the two from the update");
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}
