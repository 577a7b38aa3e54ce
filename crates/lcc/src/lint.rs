//! Errors and warnings about protocols: missing clauses, and messages that are probably not exchanged as
//! intended.

use std::collections::{BTreeMap, BTreeSet};

use masque_text::{Diagnostic, Span, did_you_mean};

use crate::lower::role_name;
use crate::names::{is_variable, signature};
use crate::tree::{Agent, Clause, Item, Proc, ProcKind, Term, TermKind, Tree};

/// A message that a clause sends or receives.
struct Exchange<'t> {
    /// The role of the clause.
    role: &'t str,
    /// Whether the clause sends the message; otherwise it receives it.
    sends: bool,
    /// Name and number of arguments.
    message: (&'t str, usize),
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
    exchanges: Vec<Exchange<'t>>,
    /// Roles that send (`true`) or receive (`false`) a variable, which can stand for any message.
    open: BTreeSet<(&'t str, bool)>,
    /// Names of the roles that members of the team can be in.
    played: BTreeSet<&'t str>,
    /// Ids of the team.
    ids: BTreeSet<&'t str>,
    has_team: bool,
}

/// Runs all lints on the files of one instance.
pub(crate) fn lint(trees: &[Tree]) -> Vec<Diagnostic> {
    let protocol = Protocol::new(trees);
    let mut diagnostics = Vec::new();
    for tree in trees {
        for item in &tree.items {
            if let Item::Member(member) = item {
                protocol.member(&member.agent, &mut diagnostics);
            }
        }
    }
    for clause in &protocol.clauses {
        protocol.calls(clause, &mut diagnostics);
    }
    for exchange in &protocol.exchanges {
        protocol.exchange(exchange, &mut diagnostics);
    }
    diagnostics
}

impl<'t> Protocol<'t> {
    fn new(trees: &'t [Tree]) -> Self {
        let mut protocol = Protocol {
            clauses: Vec::new(),
            roles: BTreeMap::new(),
            exchanges: Vec::new(),
            open: BTreeSet::new(),
            played: BTreeSet::new(),
            ids: BTreeSet::new(),
            has_team: false,
        };
        let mut start = Vec::new();
        for item in trees.iter().flat_map(|tree| &tree.items) {
            match item {
                Item::Clause(clause) => {
                    let Some(role) = role_name(&clause.head.role) else { continue };
                    protocol.clauses.push(clause);
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
        let clauses = self.roles.get(role).into_iter().flatten();
        clauses
            .into_iter()
            .any(|clause| signature(&clause.head.role).is_some_and(|(_, found)| found == arity))
    }

    fn no_clause(&self, term: &Term, role: &str, arity: usize) -> Diagnostic {
        let message = format!("there is no clause for role `{role}/{arity}`");
        let diagnostic = Diagnostic::error("lcc/no-clause", term.span, message);
        match self.roles.get(role).and_then(|clauses| clauses.first()) {
            Some(clause) => diagnostic
                .also(clause.head.role.span, "here it has another number of arguments")
                .hint("write the role with as many arguments as its clause has"),
            None => diagnostic.help(did_you_mean(role, self.roles.keys().copied())),
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
                .help(did_you_mean(partner, self.roles.keys().copied()));
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
                .help(did_you_mean(id, self.ids.iter().copied()));
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
        let of_partner = || {
            self.exchanges.iter().filter(move |other| other.role == partner && other.message == this.message)
        };
        // A partner whose role is a variable may be in any role.
        let is_mine = |other: &&Exchange| other.partner_role().is_none_or(|role| role == this.role);
        if of_partner().any(|other| other.sends != this.sends && is_mine(&other)) {
            return None;
        }
        let (does, arrow) = if this.sends { ("receives", "<=") } else { ("sends", "=>") };
        // Both sides send, or both receive: the one that comes first in the text is reported.
        if let Some(other) = of_partner().find(|other| other.sends == this.sends && is_mine(other)) {
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
        if let Some(other) = of_partner().find(|other| other.sends != this.sends) {
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
        let is_partner =
            |other: &&Exchange| other.message == this.message && other.partner_role() == Some(this.role);
        if let Some(other) = self.exchanges.iter().filter(is_partner).find(|other| other.sends != this.sends)
        {
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
                .help(did_you_mean(name, names.map(|other| other.message.0))),
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
