//! Rules and facts that come and go.
//!
//! A statement is there or it is not: adding one that is there changes nothing, and removing one
//! takes all copies of it. An update happens as a whole or not at all.

use masque_text::{Diagnostic, Span};

use super::{Session, too_large};
use crate::entry::Entry;
use crate::lower::Lowering;
use crate::names::in_statements;
use crate::parser::parse;
use crate::stratify::stratify;
use crate::tree::{Item, Term};

/// Statements that come and go: `common ..`, `know id: ..`, `rule id: ..` and `choice ..`. Each
/// text may have several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// What is true from now on.
    pub add: Vec<String>,
    /// What no longer is. Names of variables do not matter.
    pub remove: Vec<String>,
}

/// What an update came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Updated {
    /// Statements that were added, those that were there already not counted.
    pub added: usize,
    /// Statements that were removed.
    pub removed: usize,
    /// Local situations known so far whose outcome may depend on these statements.
    pub situations: usize,
    /// Warnings about names in the added statements that the instance does not know. Their texts are
    /// in [`Session::sources`] until the next question or update.
    pub warnings: Vec<Diagnostic>,
}

/// A statement of an update, where it stands, and whether it is to be added.
struct Change {
    entry: Entry,
    span: Span,
    is_added: bool,
}

impl Session {
    /// Changes rules and facts. If anything is wrong with the update, nothing is changed.
    ///
    /// Who knows or enforces something new must be somebody the instance names already: as a member
    /// of the team, or as one who knows or enforces something.
    pub fn update(&mut self, update: &Update) -> Result<Updated, Vec<Diagnostic>> {
        self.sources.truncate(self.n_texts);
        let mut items = self.items(&update.remove, "removed")?;
        let n_removed = items.len();
        items.extend(self.items(&update.add, "added")?);
        let mut lowering = Lowering::default();
        std::mem::swap(&mut lowering.terms, &mut self.space.lts().terms);
        lowering.program = self.space.system().program.clone();
        let changes = lower(&mut lowering, &items, n_removed);
        let mut diagnostics = std::mem::take(&mut lowering.diagnostics);
        diagnostics.extend(contradictions(&changes));
        let changes = if diagnostics.is_empty() { changes } else { Vec::new() };
        let mut updated = Updated::default();
        let mut made: Vec<Entry> = Vec::new();
        for Change { entry, span, is_added } in changes {
            let is_there = lowering.program.has(&entry);
            match (is_added, is_there) {
                (true, true) => continue,
                (true, false) => {
                    lowering.program.add(entry.clone());
                    updated.added += 1;
                }
                (false, true) => {
                    lowering.program.remove(&entry);
                    updated.removed += 1;
                }
                (false, false) => {
                    diagnostics.push(self.not_there(span));
                    continue;
                }
            }
            made.push(entry);
        }
        if diagnostics.is_empty() && made.iter().any(Entry::has_body) {
            diagnostics.extend(stratify(&lowering.program, &lowering.terms));
        }
        if diagnostics.is_empty() && items.len() > n_removed {
            let added = items[n_removed..].iter();
            updated.warnings = in_statements(&lowering.program, &lowering.terms, added);
        }
        let system = self.space.lts();
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        if !made.is_empty() {
            updated.situations = system.change(lowering.program, &made);
            self.has_past = true;
            if updated.added > 0 {
                self.n_texts = self.sources.len();
            }
        }
        Ok(updated)
    }

    /// The statements of some texts.
    fn items(&mut self, texts: &[String], what: &str) -> Result<Vec<Item>, Vec<Diagnostic>> {
        let mut items = Vec::new();
        let mut diagnostics = Vec::new();
        for text in texts {
            let name = format!("{what} statements");
            let file = self.sources.add(name, text.clone()).map_err(|_| vec![too_large()])?;
            let (tree, found) = parse(&self.sources, file);
            diagnostics.extend(found.into_iter().filter(Diagnostic::is_error));
            items.extend(tree.items);
        }
        if diagnostics.is_empty() { Ok(items) } else { Err(diagnostics) }
    }

    fn not_there(&self, span: Span) -> Diagnostic {
        let message = "this cannot be removed: there is no such statement";
        Diagnostic::error("lcc/not-there", span, message)
            .hint("it is removed by its text; only the names of its variables may differ")
    }
}

/// The statements as changes, those to be removed first.
fn lower(lowering: &mut Lowering, items: &[Item], n_removed: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let (owner, span) = match item {
            Item::Fact(fact) => (fact.owner.as_ref(), fact.span),
            Item::Rule(rule) => (Some(&rule.enforcer), rule.span),
            Item::Choice(choice) => (choice.owner.as_ref(), choice.span),
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
        changes.push(Change { entry, span, is_added: at >= n_removed });
    }
    changes
}

/// A statement of a kind that stays as it is.
fn fixed(item: &Item) -> Diagnostic {
    let what = match item {
        Item::Clause(_) => "a clause of the protocol",
        Item::Now(_) | Item::Mail(_) => "the state of the interaction",
        Item::Member(_) | Item::Role(_) => "the team",
        Item::Duty(_) => "an obligation",
        Item::Setting(_) => "an option",
        Item::Property(_) => "a property",
        Item::Import(_) => "an import",
        Item::Fact(_) | Item::Rule(_) | Item::Choice(_) => "this",
    };
    Diagnostic::error("lcc/fixed", item.span(), format!("{what} cannot be updated in a session"))
        .hint("updates are `common ..`, `know id: ..`, `rule id: (S, O, +act) ..` and `choice ..` statements")
}

fn unknown_owner(lowering: &mut Lowering, owner: &Term) -> Option<Diagnostic> {
    let id = crate::lower::Scope::default().term(&mut lowering.terms, owner);
    if lowering.program.owners.contains_key(&id) {
        return None;
    }
    let terms = &lowering.terms;
    let names: Vec<String> = lowering.program.ids.iter().map(|id| terms.text(*id)).collect();
    let name = terms.text(id);
    let help = masque_text::did_you_mean(&name, &names)
        .unwrap_or_else(|| format!("those who know or enforce something are {}", names.join(", ")));
    let message = format!("nobody in this session is called `{name}`");
    Some(Diagnostic::error("lcc/unknown-agent", owner.span, message).hint(help))
}

/// What is to be added and removed at once.
fn contradictions(changes: &[Change]) -> Vec<Diagnostic> {
    let (added, removed): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.is_added);
    let mut diagnostics = Vec::new();
    for change in added {
        if let Some(other) = removed.iter().find(|other| other.entry.is_same(&change.entry)) {
            let message = "this is to be added and removed at once";
            let diagnostic = Diagnostic::error("lcc/contradictory-update", change.span, message)
                .label("added here")
                .also(other.span, "and removed here")
                .hint("leave out one of them");
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}
