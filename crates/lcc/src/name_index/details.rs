//! What an editor shows about a name: its declaration on one line, and sentences about its uses.

use std::collections::{BTreeMap, BTreeSet};

use masque_text::{NameKind, Sources, Span};

use crate::lexer::Token;
use crate::tree::{Term, TermKind};

/// Maximum number of characters of a declaration on one line.
const MAX_SHOWN_CHARACTERS: usize = 160;
/// Maximum number of names in one sentence.
const MAX_LISTED_NAMES: usize = 8;

/// What is known about the names of an instance.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Numbers of arguments.
    arities: BTreeMap<(NameKind, String), BTreeSet<usize>>,
    n_clauses: BTreeMap<String, usize>,
    /// Kinds of roles in role declarations.
    role_kinds: BTreeMap<String, String>,
    /// For each role, the agents that start in it.
    starters: BTreeMap<String, BTreeSet<String>>,
    /// For each agent, its first roles.
    first_roles: BTreeMap<String, BTreeSet<String>>,
    servers: BTreeSet<String>,
    /// For each predicate, the number of facts and the agents that know them; an empty id stands for all.
    facts: BTreeMap<String, (usize, BTreeSet<String>)>,
    choosers: BTreeMap<String, BTreeSet<String>>,
    /// For each predicate, the enforcers of rules about it.
    enforcers: BTreeMap<String, BTreeSet<String>>,
    n_rules: BTreeMap<String, usize>,
    n_known: BTreeMap<String, usize>,
    /// For each message, the roles that send it and those that receive it.
    senders: BTreeMap<String, BTreeSet<String>>,
    receivers: BTreeMap<String, BTreeSet<String>>,
    /// The role whose clause is visited.
    role: Option<String>,
}

/// The name of a term, if it has one.
fn name(term: &Term) -> Option<String> {
    match &term.kind {
        TermKind::App(name, _) => Some(name.clone()),
        _ => None,
    }
}

/// Adds a name to the set of another.
fn relate(sets: &mut BTreeMap<String, BTreeSet<String>>, from: Option<String>, to: Option<String>) {
    if let (Some(from), Some(to)) = (from, to) {
        sets.entry(from).or_default().insert(to);
    }
}

/// Adds one to the count of a name.
fn count(counts: &mut BTreeMap<String, usize>, name: Option<String>) {
    if let Some(name) = name {
        *counts.entry(name).or_default() += 1;
    }
}

/// Recording.
impl Facts {
    pub(super) fn arity(&mut self, kind: NameKind, name: &str, arity: usize) {
        self.arities.entry((kind, name.to_string())).or_default().insert(arity);
    }

    pub(super) fn clause(&mut self, role: &Term) {
        count(&mut self.n_clauses, name(role));
    }

    pub(super) fn enter(&mut self, role: &Term) {
        self.role = name(role);
    }

    pub(super) fn leave(&mut self) {
        self.role = None;
    }

    pub(super) fn role_kind(&mut self, role: &Term, kind: &str) {
        if let Some(role) = name(role) {
            self.role_kinds.insert(role, kind.to_string());
        }
    }

    pub(super) fn member(&mut self, role: &Term, id: &Term, is_server: bool) {
        relate(&mut self.starters, name(role), name(id));
        relate(&mut self.first_roles, name(id), name(role));
        if is_server {
            self.servers.extend(name(id));
        }
    }

    pub(super) fn fact(&mut self, owner: Option<&Term>, head: &Term) {
        let owner = owner.and_then(name);
        count(&mut self.n_known, owner.clone());
        let Some(predicate) = name(head) else { return };
        let (n_facts, owners) = self.facts.entry(predicate).or_default();
        *n_facts += 1;
        owners.insert(owner.unwrap_or_default());
    }

    pub(super) fn choice(&mut self, owner: Option<&Term>, predicate: &str) {
        let owner = owner.and_then(name).unwrap_or_default();
        self.choosers.entry(predicate.to_string()).or_default().insert(owner);
    }

    pub(super) fn rule(&mut self, enforcer: &Term, action: &Term) {
        count(&mut self.n_rules, name(enforcer));
        relate(&mut self.enforcers, name(action), name(enforcer));
    }

    pub(super) fn exchange(&mut self, message: &Term, is_sent: bool) {
        let roles = if is_sent { &mut self.senders } else { &mut self.receivers };
        relate(roles, name(message), self.role.clone());
    }
}

/// Writing.
impl Facts {
    /// Returns sentences about a name.
    pub(super) fn details(&self, kind: NameKind, name: &str) -> Vec<String> {
        match kind {
            NameKind::Role => self.role_details(name),
            NameKind::Agent => self.agent_details(name),
            NameKind::Message => [
                self.arguments(kind, name),
                self.senders.get(name).map(|roles| format!("sent in role {}", listed(roles))),
                self.receivers.get(name).map(|roles| format!("received in role {}", listed(roles))),
                (!self.receivers.contains_key(name)).then(|| "no clause receives it".to_string()),
            ]
            .into_iter()
            .flatten()
            .collect(),
            NameKind::Predicate => self.predicate_details(name),
            NameKind::Value => vec!["a constant".to_string()],
            _ => Vec::new(),
        }
    }

    fn arguments(&self, kind: NameKind, name: &str) -> Option<String> {
        let arities = self.arities.get(&(kind, name.to_string()))?;
        let numbers: Vec<String> = arities.iter().map(usize::to_string).collect();
        Some(format!("number of arguments: {}", numbers.join(", ")))
    }

    fn role_details(&self, name: &str) -> Vec<String> {
        let n_clauses = match self.n_clauses.get(name) {
            None => "a role without a clause".to_string(),
            Some(1) => "a role with one clause".to_string(),
            Some(n) => format!("a role with {n} clauses"),
        };
        let arguments = self.arguments(NameKind::Role, name);
        let kind = self.role_kinds.get(name).map(|kind| format!("declared as {kind}"));
        let starters = self.starters.get(name).map(|ids| format!("agents that start in it: {}", listed(ids)));
        [Some(n_clauses), arguments, kind, starters].into_iter().flatten().collect()
    }

    fn agent_details(&self, name: &str) -> Vec<String> {
        let what = if self.servers.contains(name) { "a server" } else { "an agent" };
        let starts = match self.first_roles.get(name) {
            Some(roles) => format!("{what} that starts in role {}", listed(roles)),
            None => "an id that is not a member of the team".to_string(),
        };
        let known = self.n_known.get(name).map(|n| format!("number of its facts: {n}"));
        let rules = self.n_rules.get(name).map(|n| format!("number of rules that it enforces: {n}"));
        [Some(starts), known, rules].into_iter().flatten().collect()
    }

    fn predicate_details(&self, name: &str) -> Vec<String> {
        let facts = self.facts.get(name).map(|(n_facts, owners)| {
            format!("number of facts: {n_facts}, known to {}", all_or(owners, "all agents"))
        });
        let choice =
            self.choosers.get(name).map(|owners| format!("a choice of {}", all_or(owners, "each agent")));
        let rules =
            self.enforcers.get(name).map(|ids| format!("an action regulated by rules of {}", listed(ids)));
        [self.arguments(NameKind::Predicate, name), facts, choice, rules].into_iter().flatten().collect()
    }
}

/// The owners of facts or choices. An empty id stands for all.
fn all_or(owners: &BTreeSet<String>, all: &str) -> String {
    if owners.contains("") { all.to_string() } else { listed(owners) }
}

fn listed(names: &BTreeSet<String>) -> String {
    masque_text::first_names(names, MAX_LISTED_NAMES)
}

/// The text at a location on one line, shortened if it is long.
pub(super) fn on_one_line(sources: &Sources, span: Span) -> String {
    // The end of a long text is not shown.
    let text = sources.slice(span);
    let long = text.char_indices().nth(4 * MAX_SHOWN_CHARACTERS).map_or(text, |(end, _)| &text[..end]);
    let line = masque_text::on_one_line::<Token>(long);
    match line.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{} ..", &line[..end]),
        None if long.len() < text.len() => format!("{line} .."),
        None => line,
    }
}

/// A sentence about the statement that a variable belongs to.
pub(super) fn scope(sources: &Sources, whole: Span) -> String {
    format!("a variable of `{}`", on_one_line(sources, whole))
}
