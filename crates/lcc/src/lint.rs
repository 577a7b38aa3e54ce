//! Errors and warnings about protocols: missing clauses, and messages that are probably not exchanged as
//! intended.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use masque_text::{Diagnostic, ReadLimits, Span, did_you_mean};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::lower::role_name;
use crate::names::{is_variable, signature};
use crate::tree::{Agent, Clause, Item, Proc, ProcKind, Term, TermKind, Tree};

/// Number of diagnostics that suggest a similar name. Each suggestion compares all names, so their number is
/// bounded to keep the time linear.
const MAX_SUGGESTIONS: u32 = 100;

/// Estimated bytes of the index per message that is sent or received.
const BYTES_PER_EXCHANGE: u64 = 320;
/// Estimated bytes of a diagnostic.
pub(crate) const BYTES_PER_DIAGNOSTIC: u64 = 640;

/// Name and number of arguments.
type Signature<'t> = (&'t str, usize);

/// A message that a clause sends or receives.
struct Exchange<'t> {
    /// The role of the clause.
    role: &'t str,
    /// Whether the clause sends the message; otherwise it receives it.
    sends: bool,
    message: Signature<'t>,
    partner: &'t Agent,
    span: Span,
}

impl<'t> Exchange<'t> {
    fn partner_role(&self) -> Option<&'t str> {
        role_name(&self.partner.role)
    }
}

/// The parts of an instance that the lints inspect.
struct Protocol<'t> {
    clauses: Vec<&'t Clause>,
    /// Clauses by role name.
    roles: BTreeMap<&'t str, Vec<&'t Clause>>,
    /// Roles with their numbers of arguments, as in the heads of clauses.
    signatures: FxHashSet<Signature<'t>>,
    exchanges: Vec<Exchange<'t>>,
    index: ExchangeIndex<'t>,
    /// Roles that send (`true`) or receive (`false`) a variable, which can stand for any message.
    open: BTreeSet<(&'t str, bool)>,
    /// Names of the roles that members of the team can be in.
    played: BTreeSet<&'t str>,
    /// Ids of the team.
    ids: BTreeSet<&'t str>,
    has_team: bool,
    suggestions_left: Cell<u32>,
}

/// The index of the first exchange of each kind.
#[derive(Default)]
struct ExchangeIndex<'t> {
    /// By role, message and direction.
    by_role: FxHashMap<(&'t str, Signature<'t>, bool), usize>,
    /// By role, message, direction and role of the partner; `None` if that is a variable.
    by_roles: FxHashMap<(&'t str, Signature<'t>, bool, Option<&'t str>), usize>,
    /// By message, direction and role of the partner.
    by_partner: FxHashMap<(Signature<'t>, bool, Option<&'t str>), usize>,
}

impl<'t> ExchangeIndex<'t> {
    fn new(exchanges: &[Exchange<'t>]) -> Self {
        let mut index = ExchangeIndex::default();
        for (number, exchange) in exchanges.iter().enumerate() {
            let Exchange { role, message, sends, .. } = *exchange;
            let partner = exchange.partner_role();
            index.by_role.entry((role, message, sends)).or_insert(number);
            index.by_roles.entry((role, message, sends, partner)).or_insert(number);
            index.by_partner.entry((message, sends, partner)).or_insert(number);
        }
        index
    }
}

/// Runs all lints on the files of one instance. If a limit is exceeded, some diagnostics are missing.
pub(crate) fn lint(trees: &[Tree], limits: &ReadLimits) -> Vec<Diagnostic> {
    let protocol = Protocol::new(trees);
    limits.charge(protocol.exchanges.len() as u64 * BYTES_PER_EXCHANGE);
    let mut diagnostics = Vec::new();
    let mut n_counted = 0;
    let mut may_continue = |diagnostics: &Vec<Diagnostic>| {
        let n_more = diagnostics.len() - std::mem::replace(&mut n_counted, diagnostics.len());
        limits.charge(n_more as u64 * BYTES_PER_DIAGNOSTIC)
    };
    for item in trees.iter().flat_map(|tree| &tree.items) {
        if let Item::Member(member) = item
            && may_continue(&diagnostics)
        {
            protocol.member(&member.agent, &mut diagnostics);
        }
    }
    for clause in protocol.clauses.iter().take_while(|_| limits.may_continue()) {
        protocol.calls(clause, &mut diagnostics);
        may_continue(&diagnostics);
    }
    for exchange in protocol.exchanges.iter().take_while(|_| limits.may_continue()) {
        protocol.exchange(exchange, &mut diagnostics);
        may_continue(&diagnostics);
    }
    diagnostics
}

impl<'t> Protocol<'t> {
    fn new(trees: &'t [Tree]) -> Self {
        let mut protocol = Protocol {
            clauses: Vec::new(),
            roles: BTreeMap::new(),
            signatures: FxHashSet::default(),
            exchanges: Vec::new(),
            index: ExchangeIndex::default(),
            open: BTreeSet::new(),
            played: BTreeSet::new(),
            ids: BTreeSet::new(),
            has_team: false,
            suggestions_left: Cell::new(MAX_SUGGESTIONS),
        };
        let mut start = Vec::new();
        for item in trees.iter().flat_map(|tree| &tree.items) {
            match item {
                Item::Clause(clause) => {
                    let Some(role) = role_name(&clause.head.role) else { continue };
                    protocol.clauses.push(clause);
                    protocol.signatures.extend(signature(&clause.head.role));
                    protocol.roles.entry(role).or_default().push(clause);
                }
                Item::Member(member) => {
                    protocol.has_team = true;
                    start.extend(role_name(&member.agent.role));
                    protocol.ids.extend(role_name(&member.agent.id));
                }
                Item::Now(clause) => {
                    protocol.has_team = true;
                    start.extend(role_name(&clause.head.role));
                    each_step(&clause.body, &mut |step| {
                        if let ProcKind::Call(agent) | ProcKind::Frame(agent, _) = &step.kind {
                            start.extend(role_name(&agent.role));
                        }
                    });
                    protocol.ids.extend(role_name(&clause.head.id));
                }
                _ => {}
            }
        }
        let clauses = protocol.clauses.clone();
        for clause in clauses {
            let Some(role) = role_name(&clause.head.role) else { continue };
            each_step(&clause.body, &mut |step| {
                protocol.exchanges.extend(exchange(role, step));
                match &step.kind {
                    ProcKind::Send(message, _) if is_variable(message) => protocol.open.insert((role, true)),
                    ProcKind::Receive(message, _) if is_variable(message) => {
                        protocol.open.insert((role, false))
                    }
                    _ => false,
                };
            });
        }
        protocol.index = ExchangeIndex::new(&protocol.exchanges);
        protocol.collect_played_roles(start);
        protocol
    }

    /// Collects the roles that can be reached from those the team starts in.
    fn collect_played_roles(&mut self, mut todo: Vec<&'t str>) {
        while let Some(role) = todo.pop() {
            if !self.played.insert(role) {
                continue;
            }
            for clause in self.roles.get(role).into_iter().flatten() {
                each_step(&clause.body, &mut |step| {
                    if let ProcKind::Call(agent) = &step.kind {
                        todo.extend(role_name(&agent.role));
                    }
                });
            }
        }
    }

    fn member(&self, agent: &Agent, diagnostics: &mut Vec<Diagnostic>) {
        if let Some((role, arity)) = signature(&agent.role)
            && !self.has_clause(role, arity)
        {
            diagnostics.push(self.no_clause(&agent.role, role, arity));
        }
    }

    fn has_clause(&self, role: &str, arity: usize) -> bool {
        self.signatures.contains(&(role, arity))
    }

    /// Suggests a similar name, unless there are [`MAX_SUGGESTIONS`] already.
    fn suggest<'n>(&self, used: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
        self.suggestions_left.set(self.suggestions_left.get().checked_sub(1)?);
        did_you_mean(used, names)
    }

    fn no_clause(&self, term: &Term, role: &str, arity: usize) -> Diagnostic {
        let message = format!("there is no clause for role `{role}/{arity}`");
        let diagnostic = Diagnostic::error("lcc/no-clause", term.span, message);
        match self.roles.get(role).and_then(|clauses| clauses.first()) {
            Some(clause) => diagnostic
                .also(clause.head.role.span, "here it has another number of arguments")
                .hint("write the role with as many arguments as its clause has"),
            None => diagnostic.help(self.suggest(role, self.roles.keys().copied())),
        }
    }

    /// Checks changes of role: the role must have a clause, and the agent must keep its id.
    fn calls(&self, clause: &Clause, diagnostics: &mut Vec<Diagnostic>) {
        each_step(&clause.body, &mut |step| {
            let ProcKind::Call(agent) = &step.kind else { return };
            if let Some((role, arity)) = signature(&agent.role)
                && !self.has_clause(role, arity)
            {
                diagnostics.push(self.no_clause(&agent.role, role, arity));
            }
            if !is_same_id(&clause.head.id, &agent.id) {
                let message = "an agent cannot become another agent";
                let diagnostic = Diagnostic::error("lcc/becomes-other", agent.id.span, message)
                    .label("not the agent of this clause")
                    .also(clause.head.id.span, "the agent is named here")
                    .hint("a change of role keeps the id of the clause's head");
                diagnostics.push(diagnostic);
            }
        });
    }

    fn exchange(&self, this: &Exchange, diagnostics: &mut Vec<Diagnostic>) {
        let Some(partner) = this.partner_role() else { return };
        let (name, _) = this.message;
        let Some(clauses) = self.roles.get(partner) else {
            let message = format!("there is no clause for role `{partner}`");
            let diagnostic = Diagnostic::warning("lcc/role-name", this.partner.role.span, message)
                .label(if this.sends { "no agent can receive this" } else { "no agent can send this" })
                .help(self.suggest(partner, self.roles.keys().copied()));
            return diagnostics.push(diagnostic);
        };
        if this.sends && self.has_team && !self.played.contains(partner) {
            let message = format!("no member of the team can be in role `{partner}`");
            let diagnostic = Diagnostic::warning("lcc/no-receiver", this.partner.span, message)
                .label(format!("`{name}` cannot be received"))
                .also(clauses[0].head.span, "no agent starts in this role or changes to it")
                .hint(format!("add a member, as in `agent a({partner}, id).`"));
            diagnostics.push(diagnostic);
        } else if this.sends
            && let Some(id) = self.unknown_id(&this.partner.id)
        {
            let message = format!("no member of the team is called `{id}`");
            let diagnostic = Diagnostic::warning("lcc/no-receiver", this.partner.id.span, message)
                .label(format!("`{name}` cannot be received"))
                .help(self.suggest(id, self.ids.iter().copied()));
            diagnostics.push(diagnostic);
        }
        diagnostics.extend(self.counterpart(this, partner));
    }

    /// Returns the id if it is a constant that no member of the team has.
    fn unknown_id<'a>(&self, id: &'a Term) -> Option<&'a str> {
        role_name(id).filter(|id| self.has_team && !self.ids.contains(id))
    }

    /// Warns if the partner has no counterpart of this message: a receipt for a sending, a sending for a
    /// receipt.
    fn counterpart(&self, this: &Exchange, partner: &str) -> Option<Diagnostic> {
        let (name, arity) = this.message;
        if self.open.contains(&(partner, !this.sends)) {
            return None;
        }
        // The first exchange of the partner with this role. A partner whose role is a variable may be in any.
        let with_this = |sends: bool| {
            let roles = [None, Some(this.role)].into_iter();
            let found = roles
                .filter_map(|role| self.index.by_roles.get(&(partner, this.message, sends, role)).copied());
            found.min().map(|index| &self.exchanges[index])
        };
        if with_this(!this.sends).is_some() {
            return None;
        }
        let (does, arrow) = if this.sends { ("receives", "<=") } else { ("sends", "=>") };
        // Both sides send, or both receive: the one that comes first in the text is reported.
        if let Some(other) = with_this(this.sends) {
            let is_first = (this.span.start, this.role) <= (other.span.start, other.role);
            let both = if this.sends { "send" } else { "receive" };
            let message = format!("`{}` and `{partner}` both {both} `{name}`", this.role);
            return is_first.then(|| {
                Diagnostic::warning("lcc/swapped-arrow", this.span, message)
                    .label(format!("role `{}` here", this.role))
                    .also(other.span, format!("role `{partner}` here"))
                    .hint(format!("one of the two needs `{arrow}`"))
            });
        }
        if let Some(&index) = self.index.by_role.get(&(partner, this.message, !this.sends)) {
            let other = &self.exchanges[index];
            let theirs = other.partner_role().unwrap_or_default();
            let message = format!(
                "`{partner}` {does} `{name}`, but there the partner is `{theirs}`, not `{}`",
                this.role
            );
            return this.sends.then(|| {
                Diagnostic::warning("lcc/role-name", this.span, message)
                    .label(format!("role `{}` here", this.role))
                    .also(other.partner.role.span, format!("role `{theirs}` here"))
                    .hint("the two must name the same role")
            });
        }
        // Another role does: then one of the two names the wrong role, which is reported for the sender.
        if let Some(&index) = self.index.by_partner.get(&(this.message, !this.sends, Some(this.role))) {
            let other = &self.exchanges[index];
            let message =
                format!("`{name}` is sent to role `{partner}`, but role `{}` receives it", other.role);
            return this.sends.then(|| {
                Diagnostic::warning("lcc/role-name", this.partner.role.span, message)
                    .label(format!("role `{partner}` here"))
                    .also(other.span, format!("role `{}` here", other.role))
                    .hint("the two must name the same role")
            });
        }
        let message = format!("role `{partner}` never {does} `{name}/{arity}`");
        let names = self.exchanges.iter().filter(|other| other.role == partner && other.sends != this.sends);
        Some(
            Diagnostic::warning("lcc/no-counterpart", this.span, message)
                .label(if this.sends { "no agent takes this" } else { "no agent sends this" })
                .help(self.suggest(name, names.map(|other| other.message.0))),
        )
    }
}

fn is_same_id(head: &Term, call: &Term) -> bool {
    match (&head.kind, &call.kind) {
        (_, TermKind::Anonymous) => true,
        (TermKind::Var(left), TermKind::Var(right)) => left == right,
        (TermKind::App(left, _), TermKind::App(right, _)) => left == right,
        _ => false,
    }
}

fn exchange<'t>(role: &'t str, step: &'t Proc) -> Option<Exchange<'t>> {
    let (message, partner, sends) = match &step.kind {
        ProcKind::Send(message, partner) => (message, partner, true),
        ProcKind::Receive(message, partner) => (message, partner, false),
        _ => return None,
    };
    Some(Exchange { role, sends, message: signature(message)?, partner, span: step.span })
}

/// Visits all steps of a process, and the frames around them, in the order of the text.
pub(crate) fn each_step<'t>(process: &'t Proc, visit: &mut dyn FnMut(&'t Proc)) {
    match &process.kind {
        ProcKind::Guarded(step, _) => visit(step),
        ProcKind::Then(parts) | ProcKind::Par(parts) | ProcKind::Or(parts) => {
            parts.iter().for_each(|part| each_step(part, visit));
        }
        ProcKind::Frame(_, inner) => {
            visit(process);
            each_step(inner, visit);
        }
        _ => visit(process),
    }
}
