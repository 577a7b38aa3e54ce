//! Warnings about the names in facts, rules and choices.

use std::cell::Cell;

use masque_text::{Diagnostic, ReadLimits, Span, did_you_mean};
use rustc_hash::FxHashSet;

use super::consulted::{ConsultedNames, Topic};
use super::table::{Missing, Table};
use super::{MentionedConstants, constant, exchanged, signature};
use crate::lint::BYTES_PER_DIAGNOSTIC;
use crate::program::Program;
use crate::symbol::Symbol;
use crate::term::{Functor, Terms};
use crate::tree::{Choice, Constraint, ConstraintKind, Fact, Item, Obligation, Rule, Term, Triple};

/// Minimum length, in characters, of a name that is reported as a misspelling of another one in a condition,
/// where it may refer to a statement that is added later. Short names are often similar on purpose.
const MIN_MISSPELT_LENGTH: usize = 4;
/// Steps of work to check one statement.
const STEPS_PER_STATEMENT: u64 = 64;

/// Maximum number of names for which similar ones are searched. Each search compares all names, so their number
/// is bounded to keep the time linear.
const MAX_SEARCHES: u32 = 100;

/// Returns warnings about the names in statements, which must have been added to the program. A name that
/// is wrong in several statements is reported once. If a limit is exceeded, some warnings are missing.
pub(crate) fn check_statements<'i>(
    program: &Program,
    terms: &Terms,
    items: impl Iterator<Item = &'i Item>,
    limits: &ReadLimits,
) -> Vec<Diagnostic> {
    let consulted = ConsultedNames::new(program, terms, limits);
    let mut check = Check {
        program,
        terms,
        consulted,
        enforcers: enforcers(program, terms),
        reported: FxHashSet::default(),
        reported_ids: FxHashSet::default(),
        mentioned: None,
        searches_left: Cell::new(MAX_SEARCHES),
        limits,
        diagnostics: Vec::new(),
    };
    let mut n_counted = 0;
    for item in items {
        let n_more = check.diagnostics.len() - std::mem::replace(&mut n_counted, check.diagnostics.len());
        if !limits.charge(n_more as u64 * BYTES_PER_DIAGNOSTIC) || !limits.work(STEPS_PER_STATEMENT) {
            break;
        }
        check.item(item);
    }
    check.diagnostics
}

/// Returns the ids that enforce a rule or an obligation.
fn enforcers(program: &Program, terms: &Terms) -> FxHashSet<Symbol> {
    let of_rules = program.rules.iter().map(|rule| program.ids[rule.enforcer.0 as usize]);
    let of_rules = of_rules.filter_map(|id| terms.symbol(id));
    of_rules.chain(program.names.enforcers.iter().copied()).collect()
}

struct Check<'a> {
    program: &'a Program,
    terms: &'a Terms,
    consulted: ConsultedNames,
    enforcers: FxHashSet<Symbol>,
    /// Topics that have been reported.
    reported: FxHashSet<Topic>,
    /// Ids that have been reported.
    reported_ids: FxHashSet<String>,
    /// The constants of the instance. Computed on first use.
    mentioned: Option<MentionedConstants>,
    searches_left: Cell<u32>,
    limits: &'a ReadLimits,
    diagnostics: Vec<Diagnostic>,
}

impl Check<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Fact(fact) => self.fact(fact),
            Item::Rule(rule) => self.rule(rule),
            Item::Obligation(obligation) => self.obligation(obligation),
            Item::Choice(choice) => self.choice(choice),
            _ => {}
        }
    }

    fn fact(&mut self, fact: &Fact) {
        self.owner(fact.owner.as_ref(), "no agent knows this fact");
        let Some((name, arity)) = signature(&fact.head) else { return };
        self.predicate(name, arity, fact.head.span, "this fact has no effect");
        self.body(fact.body.as_ref(), fact.span);
    }

    fn choice(&mut self, choice: &Choice) {
        self.owner(choice.owner.as_ref(), "no agent makes this choice");
        self.predicate(&choice.name.text, choice.arity, choice.name.span, "this choice is never made");
    }

    fn rule(&mut self, rule: &Rule) {
        self.subject(rule);
        self.object(&rule.object, rule.span);
        self.action(&rule.action, rule.permits);
        self.body(rule.body.as_ref(), rule.span);
    }

    /// Checks the object of an obligation. Its subject, action and patterns are checked in the property made
    /// from it.
    fn obligation(&mut self, obligation: &Obligation) {
        self.object(&obligation.object, obligation.span);
    }

    /// Checks the owner in `know paula:` and `choice paula:`.
    fn owner(&mut self, owner: Option<&Term>, label: &'static str) {
        let Some(owner) = owner else { return };
        if let Some(name) = constant(owner).filter(|name| !self.is_known_id(name)) {
            let message = format!("`{name}` is neither in the team nor enforces a rule");
            self.warn_unknown_id(name, owner.span, message, label);
        }
    }

    /// Whether an id is in the team or enforces a rule.
    fn is_known_id(&self, name: &str) -> bool {
        let symbol = self.terms.symbols.find(name);
        symbol.is_some_and(|id| self.program.names.ids.contains(&id) || self.enforcers.contains(&id))
    }

    /// Warns about an unknown id, once for each id.
    fn warn_unknown_id(&mut self, name: &str, span: Span, message: String, label: &'static str) {
        if self.reported_ids.insert(name.to_string()) {
            let ids = self.program.names.ids.iter().chain(&self.enforcers);
            let help =
                self.may_search().then(|| did_you_mean(name, ids.map(|id| self.terms.symbols.name(*id))));
            let help = help.flatten();
            let diagnostic = Diagnostic::warning("lcc/nobody", span, message).label(label).help(help);
            self.diagnostics.push(diagnostic);
        }
    }

    /// Checks the subject of a rule, which must be in the team or enforce a rule. If a condition asks for the
    /// rule, any constant that occurs elsewhere is accepted.
    fn subject(&mut self, rule: &Rule) {
        let Some(name) = constant(&rule.subject).filter(|name| *name != "self") else { return };
        let is_asked = signature(&rule.action)
            .and_then(|(name, arity)| self.terms.find(name, arity))
            .is_some_and(|action| self.consulted.asked_actions.contains(&action));
        if self.is_known_id(name) || (is_asked && self.is_mentioned(name, rule.span)) {
            return;
        }
        let message = format!("no member of the team is called `{name}`");
        self.warn_unknown_id(name, rule.subject.span, message, "this rule applies to no agent");
    }

    /// Checks an object, which may be any constant that occurs elsewhere in the instance.
    fn object(&mut self, object: &Term, statement: Span) {
        let Some(name) = constant(object).filter(|name| *name != "self") else { return };
        if !self.is_known_id(name) && !self.is_mentioned(name, statement) {
            let message = format!("nothing else in this instance is called `{name}`");
            self.warn_unknown_id(
                name,
                object.span,
                message,
                "neither an agent nor a constant of this instance",
            );
        }
    }

    /// Whether a constant occurs in the protocol, or in a statement other than this one.
    fn is_mentioned(&mut self, name: &str, statement: Span) -> bool {
        let (program, terms) = (self.program, self.terms);
        let mentioned = self.mentioned.get_or_insert_with(|| MentionedConstants::new(program, terms));
        let symbol = terms.symbols.find(name);
        symbol.is_some_and(|symbol| {
            program.names.constants.contains(&symbol) || mentioned.has_elsewhere(symbol, statement)
        })
    }

    /// Whether one more message may be compared with all others.
    fn may_compare_messages(&self) -> bool {
        let names = &self.program.names;
        self.limits.work((names.sent.len() + names.received.len()) as u64)
    }

    /// Whether similar names may be searched for one more name.
    fn may_search(&self) -> bool {
        let left = self.searches_left.get();
        self.searches_left.set(left.saturating_sub(1));
        left > 0 && self.limits.may_continue()
    }

    /// Checks the predicate that a fact or a choice is about.
    fn predicate(&mut self, name: &str, arity: usize, span: Span, label: &'static str) {
        let Some(functor) = self.terms.find(name, arity) else { return };
        let topic = Topic::Predicate(functor);
        if !self.consulted.is_unconsulted(topic) || !self.reported.insert(topic) {
            return;
        }
        let is_search = self.may_search();
        let message = format!("no constraint or condition asks for `{name}/{arity}`");
        let missing = Missing { code: "lcc/no-such-predicate", name, arity, span, message, label };
        let accepted = self.consulted.predicates.iter().filter(|_| is_search);
        self.diagnostics.push(missing.warning(self.terms, accepted));
    }

    /// Checks the action that a rule is about.
    fn action(&mut self, action: &Term, permits: bool) {
        let Some((name, arity)) = signature(action) else { return };
        let Some(functor) = self.terms.find(name, arity) else { return };
        let topic = Topic::Action(functor);
        if self.consulted.is_unconsulted(topic) {
            if self.reported.insert(topic) {
                let message = format!("no agent performs `{name}/{arity}`, and no condition asks for it");
                let label = "this rule applies to no action";
                let span = action.span;
                let missing = Missing { code: "lcc/no-such-action", name, arity, span, message, label };
                let is_search = self.may_search();
                let accepted = self.consulted.actions.iter().filter(|_| is_search);
                let diagnostic = missing.warning(self.terms, accepted);
                self.diagnostics.push(self.add_message_hint(diagnostic, name, arity));
            }
            return;
        }
        // A permission that nothing uses still makes the action one that needs a permission.
        let label = if permits {
            "this permits no message of the protocol"
        } else {
            "this rule applies to no message"
        };
        self.exchange(functor, action, label);
    }

    /// Adds a hint if the unknown action of a rule is a message.
    fn add_message_hint(&self, diagnostic: Diagnostic, name: &str, arity: usize) -> Diagnostic {
        let names = &self.program.names;
        let functor = self.terms.find(name, arity);
        let is_in = |table: &Table| functor.is_some_and(|functor| table.has(functor));
        if !is_in(&names.sent) && !is_in(&names.received) {
            return diagnostic;
        }
        diagnostic.hint(format!(
            "`{name}` is a message: a rule about it is about `send({name}..)` or `receive({name}..)`"
        ))
    }

    /// Checks the message of `send(M)` and `receive(M)`.
    fn exchange(&mut self, action: Functor, term: &Term, label: &'static str) {
        let Some((direction, message)) = exchanged(term) else { return };
        let Some((name, arity)) = signature(message) else { return };
        let functor = self.terms.find(name, arity);
        // A literal of the protocol may have the same name; then its arguments are constants.
        let is_literal = self.program.names.literals.allows(action);
        let questions = &self.consulted.messages;
        let is_asked = questions.contains(&(action, None)) || questions.contains(&(action, functor));
        if is_literal || is_asked || !self.may_compare_messages() {
            return;
        }
        self.diagnostics.extend(self.program.names.message(self.terms, direction, message, label));
    }
}

/// The bodies of facts and rules.
impl Check<'_> {
    fn body(&mut self, body: Option<&Constraint>, statement: Span) {
        let Some(body) = body else { return };
        match &body.kind {
            ConstraintKind::And(parts) | ConstraintKind::Or(parts) => {
                parts.iter().for_each(|part| self.body(Some(part), statement));
            }
            ConstraintKind::Not(inner) => self.body(Some(inner), statement),
            ConstraintKind::Compare(..) => {}
            ConstraintKind::Atom(term) => self.goal(term),
            ConstraintKind::Triple(triple) => self.question(triple, statement),
        }
    }

    /// Checks a predicate that is asked for. Facts about it may be added later, so it is reported only if its
    /// name resembles that of another predicate.
    fn goal(&mut self, goal: &Term) {
        let Some((name, arity)) = signature(goal) else { return };
        let Some(functor) = self.terms.find(name, arity) else { return };
        if matches!((name, arity), ("true" | "fail" | "false", 0)) || self.consulted.is_known(functor) {
            return;
        }
        let accepted = self.consulted.predicates.iter();
        let accepted = accepted.filter(|(functor, _)| self.consulted.is_known(*functor));
        let accepted = self.similar(name, accepted);
        let message = format!("no fact or choice is about `{name}/{arity}`");
        self.misspelt("lcc/no-such-predicate", goal, message, accepted);
    }

    /// Checks a question to the policies. Rules may be added later, so only similar names are reported.
    fn question(&mut self, triple: &Triple, statement: Span) {
        for party in [&triple.subject, &triple.object] {
            self.object(party, statement);
        }
        let Some((name, arity)) = signature(&triple.action) else { return };
        let Some(functor) = self.terms.find(name, arity) else { return };
        let has_rule = |functor: Functor| {
            [true, false].into_iter().any(|permits| !self.program.rules_for(functor, permits).is_empty())
        };
        if !has_rule(functor) {
            let accepted = self.consulted.actions.iter().filter(|(functor, _)| has_rule(*functor));
            let accepted = self.similar(name, accepted);
            let message = format!("no rule is about `{name}/{arity}`");
            return self.misspelt("lcc/no-such-action", &triple.action, message, accepted);
        }
        if let Some((direction, message)) = exchanged(&triple.action)
            && self.may_compare_messages()
        {
            let label = "no rule can be about this message";
            self.diagnostics.extend(self.program.names.message(self.terms, direction, message, label));
        }
    }

    /// Returns the names that a misspelt one may stand for. Names that differ only in digits are assumed to
    /// be different on purpose.
    fn similar(&self, used: &str, names: impl Iterator<Item = (Functor, Span)>) -> Vec<(Functor, Span)> {
        let letters = |name: &str| name.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        let name_of = |functor: Functor| self.terms.symbols.name(functor.name);
        if !self.may_search() {
            return Vec::new();
        }
        let is_similar = |name: &str| {
            name == used
                || (used.chars().count() >= MIN_MISSPELT_LENGTH
                    && letters(name) != letters(used)
                    && did_you_mean(used, [name]).is_some())
        };
        names.filter(|(functor, _)| is_similar(name_of(*functor))).collect()
    }

    /// Warns about a term in a condition if there are similar names that would be accepted.
    fn misspelt(&mut self, code: &'static str, term: &Term, message: String, accepted: Vec<(Functor, Span)>) {
        let Some((name, arity)) = signature(term) else { return };
        if !accepted.is_empty() {
            let (span, label) = (term.span, "this condition is never met");
            let missing = Missing { code, name, arity, span, message, label };
            self.diagnostics.push(missing.warning(self.terms, accepted.into_iter()));
        }
    }
}
