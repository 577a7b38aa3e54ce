//! Finds the names in statements.

use masque_text::{NameKind, Span};

use super::{Collector, Place, Rank, Statement};
use crate::tree::{
    Agent, Choice, Clause, Constraint, ConstraintKind, Fact, Item, Mail, Member, Obligation, Proc, ProcKind,
    PropertyText, RoleDecl, Rule, Term, TermKind, Tree, Triple,
};

impl Collector<'_> {
    /// Visits a file.
    pub(super) fn tree(&mut self, tree: &Tree) {
        tree.items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Clause(clause) => self.clause(clause, Rank::Definition),
            Item::Now(clause) => self.clause(clause, Rank::Use),
            Item::Member(member) => self.member(member),
            Item::Fact(fact) => self.fact(fact),
            Item::Rule(rule) => self.rule(rule),
            Item::Obligation(obligation) => self.obligation(obligation),
            Item::Choice(choice) => self.choice(choice),
            Item::Mail(mail) => self.mail(mail),
            Item::Role(role) => self.role_declaration(role),
            Item::Property(property) => self.property(property),
            Item::Setting(_) | Item::Import(_) => {}
        }
    }

    fn clause(&mut self, clause: &Clause, rank: Rank) {
        let Clause { head, body, span } = clause;
        let about = Some(head.role.span);
        self.begin(Statement { whole: *span, shown: head.span, about, has_self: false });
        if rank == Rank::Definition {
            self.facts.clause(&head.role);
        }
        self.role(&head.role, rank);
        self.id(&head.id, Rank::Use);
        self.facts.enter(&head.role);
        self.process(body);
        self.facts.leave();
    }

    fn member(&mut self, member: &Member) {
        let Member { agent, is_server, span } = member;
        self.begin(Statement { whole: *span, shown: *span, about: Some(agent.id.span), has_self: false });
        self.facts.member(&agent.role, &agent.id, *is_server);
        self.role(&agent.role, Rank::Use);
        self.id(&agent.id, Rank::Definition);
    }

    fn fact(&mut self, fact: &Fact) {
        let Fact { owner, head, body, span } = fact;
        self.begin(Statement {
            whole: *span,
            shown: *span,
            about: Some(head.span),
            has_self: owner.is_some(),
        });
        if let Some(owner) = owner {
            self.id(owner, Rank::Use);
        }
        self.facts.fact(owner.as_ref(), head);
        self.predicate(head, Rank::Definition);
        if let Some(body) = body {
            self.constraint(body);
        }
    }

    fn rule(&mut self, rule: &Rule) {
        let Rule { enforcer, subject, object, action, body, span, .. } = rule;
        self.begin(Statement { whole: *span, shown: *span, about: Some(enforcer.span), has_self: true });
        self.id(enforcer, Rank::Use);
        self.facts.rule(enforcer, action);
        self.party(subject, true);
        self.party(object, false);
        self.action(action);
        if let Some(body) = body {
            self.constraint(body);
        }
    }

    /// An obligation is one statement for its reader: its patterns share its variables here, although the events
    /// that match do not bind them.
    fn obligation(&mut self, obligation: &Obligation) {
        let Obligation { enforcer, subject, object, action, after, until, span } = obligation;
        self.begin(Statement { whole: *span, shown: *span, about: Some(enforcer.span), has_self: true });
        self.id(enforcer, Rank::Use);
        self.facts.rule(enforcer, action);
        self.party(subject, true);
        self.party(object, false);
        self.action(action);
        self.statement.has_self = false;
        for pattern in [Some(*after), *until].into_iter().flatten() {
            self.pattern_text(pattern);
        }
    }

    fn choice(&mut self, choice: &Choice) {
        let Choice { owner, name, span, .. } = choice;
        self.begin(Statement { whole: *span, shown: *span, about: Some(name.span), has_self: false });
        if let Some(owner) = owner {
            self.id(owner, Rank::Use);
        }
        self.facts.choice(owner.as_ref(), &name.text);
        self.add(Place::Of(NameKind::Predicate), &name.text, name.span, Rank::Announcement);
    }

    fn mail(&mut self, mail: &Mail) {
        let Mail { from, to, message, span } = mail;
        self.begin(Statement { whole: *span, shown: *span, about: None, has_self: false });
        self.agent(from);
        self.agent(to);
        self.message(message);
    }

    fn role_declaration(&mut self, decl: &RoleDecl) {
        let RoleDecl { role, kind, span, .. } = decl;
        self.begin(Statement { whole: *span, shown: *span, about: Some(role.span), has_self: false });
        self.facts.role_kind(role, &kind.text);
        self.role(role, Rank::Announcement);
    }

    fn property(&mut self, property: &PropertyText) {
        let PropertyText { name, formula } = property;
        let whole = name.span.to(*formula);
        self.begin(Statement { whole, shown: whole, about: Some(name.span), has_self: false });
        self.property_name(&name.text, name.span);
        self.formula_text(*formula);
    }

    /// Visits a process.
    fn process(&mut self, process: &Proc) {
        let before = std::mem::replace(&mut self.statement.shown, process.span);
        match &process.kind {
            ProcKind::Nil | ProcKind::Null => {}
            ProcKind::Call(agent) => self.agent(agent),
            ProcKind::Send(message, agent) | ProcKind::Receive(message, agent) => {
                self.facts.exchange(message, matches!(process.kind, ProcKind::Send(..)));
                self.message(message);
                self.agent(agent);
            }
            ProcKind::Guarded(step, constraint) => {
                self.process(step);
                self.constraint(constraint);
            }
            ProcKind::Then(parts) | ProcKind::Par(parts) | ProcKind::Or(parts) => {
                parts.iter().for_each(|part| self.process(part));
            }
            ProcKind::Frame(agent, inner) => {
                self.agent(agent);
                self.process(inner);
            }
        }
        self.statement.shown = before;
    }

    /// Visits a constraint.
    pub(super) fn constraint(&mut self, constraint: &Constraint) {
        match &constraint.kind {
            ConstraintKind::And(parts) | ConstraintKind::Or(parts) => {
                parts.iter().for_each(|part| self.constraint(part));
            }
            ConstraintKind::Not(inner) => self.constraint(inner),
            ConstraintKind::Atom(term) => {
                let before = std::mem::replace(&mut self.statement.shown, constraint.span);
                self.predicate(term, Rank::Use);
                self.statement.shown = before;
            }
            ConstraintKind::Compare(_, left, right) => {
                self.argument(left);
                self.argument(right);
            }
            ConstraintKind::Triple(triple) => {
                let Triple { subject, object, action, .. } = &**triple;
                self.party(subject, true);
                self.party(object, false);
                self.action(action);
            }
        }
    }

    /// Visits `a(Role, Id)`.
    fn agent(&mut self, agent: &Agent) {
        self.role(&agent.role, Rank::Use);
        self.id(&agent.id, Rank::Use);
    }

    pub(super) fn role(&mut self, role: &Term, rank: Rank) {
        self.named(NameKind::Role, role, rank);
    }

    pub(super) fn message(&mut self, message: &Term) {
        self.named(NameKind::Message, message, Rank::Use);
    }

    /// Visits the id of an agent. An id has no arguments.
    pub(super) fn id(&mut self, id: &Term, rank: Rank) {
        match &id.kind {
            TermKind::App(name, args) if args.is_empty() && !self.is_self(name) => {
                self.add(Place::Of(NameKind::Agent), name, id.span, rank);
            }
            _ => self.argument(id),
        }
    }

    fn predicate(&mut self, literal: &Term, rank: Rank) {
        match &literal.kind {
            TermKind::App(name, args)
                if args.is_empty() && matches!(name.as_str(), "true" | "fail" | "false") => {}
            _ => self.named(NameKind::Predicate, literal, rank),
        }
    }

    /// Visits the action of a rule: `send(M)`, `receive(M)` or a predicate.
    fn action(&mut self, action: &Term) {
        match &action.kind {
            TermKind::App(name, args) if args.len() == 1 && matches!(name.as_str(), "send" | "receive") => {
                self.message(&args[0]);
            }
            TermKind::App(name, args) => {
                self.add(Place::Action, name, action.span, Rank::Rule);
                self.facts.arity(NameKind::Predicate, name, args.len());
                args.iter().for_each(|arg| self.argument(arg));
            }
            _ => self.argument(action),
        }
    }

    /// Visits the subject or object of a rule, or an agent in a pattern: `a(Role, Id)` or an id.
    pub(super) fn party(&mut self, party: &Term, is_agent: bool) {
        match &party.kind {
            TermKind::App(name, args) if name == "a" && args.len() == 2 => {
                self.role(&args[0], Rank::Use);
                self.id(&args[1], Rank::Use);
            }
            _ if is_agent => self.id(party, Rank::Use),
            // An object may be a thing.
            _ => self.argument(party),
        }
    }

    /// Visits a term whose functor has a kind.
    fn named(&mut self, kind: NameKind, term: &Term, rank: Rank) {
        match &term.kind {
            TermKind::App(name, args) => {
                self.add(Place::Of(kind), name, term.span, rank);
                self.facts.arity(kind, name, args.len());
                args.iter().for_each(|arg| self.argument(arg));
            }
            _ => self.argument(term),
        }
    }

    /// Visits a term in an argument.
    fn argument(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Var(name) => self.variable(name, term.span),
            TermKind::Anonymous | TermKind::Int(_) | TermKind::Decimal(_) => {}
            TermKind::App(name, args) => {
                if args.is_empty() && self.is_self(name) {
                    return;
                }
                let place = if args.is_empty() { Place::Constant } else { Place::Functor };
                self.add(place, name, term.span, Rank::Use);
                args.iter().for_each(|arg| self.argument(arg));
            }
            TermKind::List(items, tail) => {
                items.iter().for_each(|item| self.argument(item));
                if let Some(tail) = tail {
                    self.argument(tail);
                }
            }
            TermKind::Binary(_, left, right) => {
                self.argument(left);
                self.argument(right);
            }
            TermKind::Negative(inner) => self.argument(inner),
        }
    }

    fn is_self(&self, name: &str) -> bool {
        self.statement.has_self && name == "self"
    }

    /// Adds the name of a property.
    pub(super) fn property_name(&mut self, name: &str, span: Span) {
        self.add(Place::Of(NameKind::Property), name, span, Rank::Definition);
    }
}
