//! The names an instance knows, and warnings about names it does not know.
//!
//! Nothing in LCC declares a message, an action or a predicate: a name exists because it is used. A
//! misspelt name is therefore not an error. It is a pattern that matches no label, a rule that applies to no
//! action, or a fact that nothing consults, and a property may hold only because of it. This module
//! collects the names of a protocol and warns wherever a statement or a formula uses another one.
//!
//! A warning is given only if the name can match nothing at run time. Where a message, a role or a constraint
//! is a variable, any name may occur there at run time, and names of that kind are not checked
//! ([`Table::is_open`]). Constants other than ids are never checked.
//!
//! | file | defines |
//! |---|---|
//! | `mod` | the names of a protocol, collected from its clauses and run-time states |
//! | `table` | names of one kind, and the warning about a name that is missing there |
//! | `consulted` | the predicates and actions that guards, rules and facts ask for |
//! | `statements` | warnings about facts, rules and choices |
//! | `formulas` | warnings about action patterns and state atoms, and remarks beside verdicts |
//! | `events` | names in observed events that the protocol does not have |
//! | `obligations` | the same for obligations, with the locations of their statements |

mod consulted;
mod events;
mod formulas;
mod obligations;
mod statements;
mod table;

use masque_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::statements::check_statements;
use self::table::Table;
use crate::program::Program;
use crate::symbol::Symbol;
use crate::term::{Functor, TermId, Terms};
use crate::tree::{
    Agent, Constraint, ConstraintKind, Item, Mail, Proc, ProcKind, Term, TermKind, Tree, Triple,
};

/// A question to the policies in a guard: `(S, O, +act)`.
#[derive(Clone, Copy, Debug)]
struct Question {
    action: Functor,
    /// The functor of the message, if the action is `send(M)` or `receive(M)`.
    message: Option<Functor>,
    permits: bool,
    span: Span,
}

impl Question {
    /// Whether another question asks for the same, perhaps at another location.
    fn is_same(&self, other: &Question) -> bool {
        (self.action, self.message, self.permits) == (other.action, other.message, other.permits)
    }
}

/// The names of a protocol: those that clauses, members and run-time states use. Names of facts and rules
/// are not included, because sessions add and remove these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Messages that an agent sends, or that are in transit at the start.
    sent: Table,
    /// Messages that an agent receives.
    received: Table,
    /// Literals of guards at any depth, including those below `not`: the actions that rules can be
    /// about.
    literals: Table,
    /// Literals that can occur in a label's annotation unnegated.
    annotated: Table,
    /// Literals that can occur in a label's annotation below one `not`.
    negated: Table,
    /// Questions to the policies in guards.
    questions: Vec<Question>,
    /// Roles that an agent can be in.
    played: Table,
    /// Roles that messages are addressed to or expected from.
    addressed: Table,
    /// Whether a message may be addressed to a role and no particular agent: its label then matches every id.
    has_open_address: bool,
    /// Ids that enforce an obligation.
    enforcers: FxHashSet<Symbol>,
    /// Ids of the team, and of the senders of messages that are in transit at the start.
    ids: FxHashSet<Symbol>,
    /// Constants anywhere in the protocol. Any of them may become an id at run time.
    constants: FxHashSet<Symbol>,
}

impl Names {
    /// Collects the names of some files.
    pub(crate) fn new(trees: &[Tree], terms: &mut Terms) -> Names {
        let mut collector = Collector { names: Names::default(), terms };
        trees.iter().flat_map(|tree| &tree.items).for_each(|item| collector.item(item));
        collector.names
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let tables = [&self.sent, &self.received, &self.literals, &self.annotated, &self.negated]
            .into_iter()
            .chain([&self.played, &self.addressed]);
        let symbols = self.enforcers.capacity() + self.ids.capacity() + self.constants.capacity();
        let questions = self.questions.capacity() * size_of::<Question>();
        (tables.map(Table::bytes).sum::<usize>() + symbols * 5 + questions) as u64
    }

    /// Adds the names of more statements, such as those of a candidate.
    pub(crate) fn extend(&mut self, items: &[Item], terms: &mut Terms) {
        let mut collector = Collector { names: std::mem::take(self), terms };
        items.iter().for_each(|item| collector.item(item));
        *self = collector.names;
    }

    /// Adds the names of statements that describe a run-time state. Returns whether some were new.
    pub(crate) fn learn(&mut self, items: &[Item], terms: &mut Terms) -> bool {
        let (size, n_questions) = (self.size(), self.questions.len());
        self.extend(items, terms);
        let mut asked = self.questions.split_off(n_questions);
        asked.retain(|question| !self.questions.iter().any(|known| known.is_same(question)));
        self.questions.append(&mut asked);
        self.size() != size
    }

    /// Number of names of all kinds.
    fn size(&self) -> usize {
        let tables = [
            &self.sent,
            &self.received,
            &self.literals,
            &self.annotated,
            &self.negated,
            &self.played,
            &self.addressed,
        ];
        let sets = self.enforcers.len() + self.ids.len() + self.constants.len();
        let open_address = usize::from(self.has_open_address);
        tables.map(Table::size).iter().sum::<usize>() + sets + self.questions.len() + open_address
    }

    /// Adds the constants of facts and rules that only some teams have.
    pub(crate) fn add_constants(&mut self, items: &[Item], terms: &mut Terms) {
        let mut collector = Collector { names: std::mem::take(self), terms };
        for item in items {
            match item {
                Item::Fact(fact) => collector.constants(&fact.head),
                Item::Rule(rule) => {
                    for term in [&rule.subject, &rule.object, &rule.action] {
                        collector.constants(term);
                    }
                }
                _ => {}
            }
        }
        *self = collector.names;
    }

    /// Adds the id of a member of the team.
    pub(crate) fn add_id(&mut self, id: Symbol) {
        self.ids.insert(id);
    }
}

/// Collects names from statements.
struct Collector<'t> {
    names: Names,
    terms: &'t mut Terms,
}

impl Collector<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Clause(clause) => {
                self.play(&clause.head);
                self.process(&clause.body);
            }
            Item::Member(member) => {
                self.play(&member.agent);
                self.id(&member.agent.id);
            }
            Item::Now(clause) => {
                self.play(&clause.head);
                self.id(&clause.head.id);
                self.process(&clause.body);
            }
            Item::Mail(mail) => self.mail(mail),
            Item::Role(decl) => {
                let functor = self.functor(&decl.role);
                self.names.addressed.add_term(functor, &decl.role);
            }
            Item::Obligation(obligation) => {
                let enforcer = constant(&obligation.enforcer).map(|name| self.terms.symbols.intern(name));
                self.names.enforcers.extend(enforcer);
            }
            Item::Fact(_)
            | Item::Rule(_)
            | Item::Choice(_)
            | Item::Setting(_)
            | Item::Property(_)
            | Item::Import(_) => {}
        }
    }

    fn mail(&mut self, Mail { from, to, message, .. }: &Mail) {
        self.play(from);
        self.id(&from.id);
        self.address(to);
        let functor = self.functor(message);
        self.names.sent.add_term(functor, message);
        self.constants(message);
    }

    /// Adds an agent that is, or comes to be, in a role.
    fn play(&mut self, agent: &Agent) {
        let functor = self.functor(&agent.role);
        self.names.played.add_term(functor, &agent.role);
        self.constants(&agent.role);
        self.constants(&agent.id);
    }

    /// Adds the other party of a message.
    fn address(&mut self, agent: &Agent) {
        let functor = self.functor(&agent.role);
        self.names.addressed.add_term(functor, &agent.role);
        self.constants(&agent.role);
        self.constants(&agent.id);
    }

    fn process(&mut self, process: &Proc) {
        match &process.kind {
            ProcKind::Nil | ProcKind::Null => {}
            ProcKind::Call(agent) => self.play(agent),
            ProcKind::Send(message, partner) => {
                let functor = self.functor(message);
                self.names.sent.add_term(functor, message);
                self.constants(message);
                self.address(partner);
                self.names.has_open_address |= is_variable(&partner.id);
            }
            ProcKind::Receive(message, partner) => {
                let functor = self.functor(message);
                self.names.received.add_term(functor, message);
                self.constants(message);
                self.address(partner);
            }
            ProcKind::Guarded(step, constraint) => {
                self.process(step);
                self.guard(constraint, 0);
            }
            ProcKind::Then(parts) | ProcKind::Par(parts) | ProcKind::Or(parts) => {
                parts.iter().for_each(|part| self.process(part));
            }
            ProcKind::Frame(agent, inner) => {
                self.play(agent);
                self.process(inner);
            }
        }
    }

    /// Adds the literals of a guard that is below `n_negations` negations. Annotations do not split
    /// conjunctions below `not`, so their literals count as deeper than one negation.
    fn guard(&mut self, constraint: &Constraint, n_negations: u32) {
        match &constraint.kind {
            ConstraintKind::And(parts) | ConstraintKind::Or(parts) => {
                let depth = if n_negations == 0 { 0 } else { n_negations + 1 };
                parts.iter().for_each(|part| self.guard(part, depth));
            }
            ConstraintKind::Not(inner) => self.guard(inner, n_negations + 1),
            ConstraintKind::Compare(_, left, right) => {
                self.constants(left);
                self.constants(right);
            }
            ConstraintKind::Triple(triple) => self.question(triple, constraint.span),
            ConstraintKind::Atom(term) => {
                self.constants(term);
                let functor = self.functor(term);
                self.names.literals.add_term(functor, term);
                match n_negations {
                    0 => self.names.annotated.add_term(functor, term),
                    1 => self.names.negated.add_term(functor, term),
                    _ => {}
                }
                // A goal that is a variable can stand for any literal, even a negated one.
                if functor.is_none() {
                    self.names.annotated.open(term.span);
                    self.names.negated.open(term.span);
                }
            }
        }
    }

    fn question(&mut self, triple: &Triple, span: Span) {
        for term in [&triple.subject, &triple.object, &triple.action] {
            self.constants(term);
        }
        let Some(action) = self.functor(&triple.action) else { return };
        let message = exchanged(&triple.action).and_then(|(_, message)| self.functor(message));
        self.names.questions.push(Question { action, message, permits: triple.permits, span });
    }

    fn id(&mut self, id: &Term) {
        let symbol = constant(id).map(|name| self.terms.symbols.intern(name));
        self.names.ids.extend(symbol);
    }

    fn functor(&mut self, term: &Term) -> Option<Functor> {
        let (name, arity) = signature(term)?;
        Some(Functor { name: self.terms.symbols.intern(name), arity: arity as u32 })
    }

    /// Adds all constants of a term.
    fn constants(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Var(_) | TermKind::Anonymous | TermKind::Int(_) | TermKind::Decimal(_) => {}
            TermKind::App(name, args) if args.is_empty() => {
                let symbol = self.terms.symbols.intern(name);
                self.names.constants.insert(symbol);
            }
            TermKind::App(_, args) => args.iter().for_each(|arg| self.constants(arg)),
            TermKind::List(items, tail) => {
                items.iter().for_each(|item| self.constants(item));
                tail.iter().for_each(|tail| self.constants(tail));
            }
            TermKind::Binary(_, left, right) => {
                self.constants(left);
                self.constants(right);
            }
            TermKind::Negative(inner) => self.constants(inner),
        }
    }
}

/// Returns the name and number of arguments of a term; `None` for variables, numbers and lists.
pub(crate) fn signature(term: &Term) -> Option<(&str, usize)> {
    match &term.kind {
        TermKind::App(name, args) => Some((name, args.len())),
        _ => None,
    }
}

/// Whether a term is a variable, named or anonymous.
pub(crate) fn is_variable(term: &Term) -> bool {
    matches!(term.kind, TermKind::Var(_) | TermKind::Anonymous)
}

/// Whether a message is sent or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Sent,
    Received,
}

/// Returns the direction and the message of the actions `send(M)` and `receive(M)`.
fn exchanged(action: &Term) -> Option<(Direction, &Term)> {
    match &action.kind {
        TermKind::App(name, args) if args.len() == 1 => match name.as_str() {
            "send" => Some((Direction::Sent, &args[0])),
            "receive" => Some((Direction::Received, &args[0])),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the name of a term that is a constant.
fn constant(term: &Term) -> Option<&str> {
    match signature(term) {
        Some((name, 0)) => Some(name),
        _ => None,
    }
}

/// Whether a constant occurs in the protocol, or in a fact or rule.
fn is_mentioned(program: &Program, terms: &Terms, name: &str) -> bool {
    let Some(symbol) = terms.symbols.find(name) else { return false };
    program.names.constants.contains(&symbol)
        || each_term(program).any(|(term, _)| each_constant(terms, term, &mut |found| found == symbol))
}

/// The constants of facts and rules, each with the first statement that has it.
struct MentionedConstants(FxHashMap<Symbol, Mention>);

/// Where a constant occurs.
struct Mention {
    statement: Span,
    /// Whether another statement has the constant, too.
    is_elsewhere: bool,
}

impl MentionedConstants {
    fn new(program: &Program, terms: &Terms) -> MentionedConstants {
        let mut found: FxHashMap<Symbol, Mention> = FxHashMap::default();
        for (term, statement) in each_term(program) {
            each_constant(terms, term, &mut |symbol| {
                let mention = found.entry(symbol).or_insert(Mention { statement, is_elsewhere: false });
                mention.is_elsewhere |= mention.statement != statement;
                false
            });
        }
        MentionedConstants(found)
    }

    /// Whether a statement other than this one has a constant.
    fn has_elsewhere(&self, symbol: Symbol, statement: Span) -> bool {
        let mention = self.0.get(&symbol);
        mention.is_some_and(|mention| mention.is_elsewhere || mention.statement != statement)
    }
}

/// Iterates over the terms of all facts and rules, each with the location of its statement.
fn each_term(program: &Program) -> impl Iterator<Item = (TermId, Span)> + '_ {
    let known = std::iter::once(&program.common).chain(&program.known);
    let facts = known.flat_map(|known| known.values()).flatten();
    let facts = facts.flat_map(|fact| {
        let terms = std::iter::once(fact.head).chain(fact.body);
        terms.map(|term| (term, fact.span))
    });
    let rules = program.rules.iter().flat_map(|rule| {
        let terms = [rule.subject, rule.object, rule.action].into_iter().chain(rule.body);
        terms.map(|term| (term, rule.span))
    });
    facts.chain(rules)
}

/// Visits the constants of a term until `visit` returns true. Returns whether it did.
fn each_constant(terms: &Terms, term: TermId, visit: &mut dyn FnMut(Symbol) -> bool) -> bool {
    let mut stack = vec![term];
    while let Some(term) = stack.pop() {
        let args = terms.args(term);
        if args.is_empty() && terms.symbol(term).is_some_and(&mut *visit) {
            return true;
        }
        stack.extend(args);
    }
    false
}
