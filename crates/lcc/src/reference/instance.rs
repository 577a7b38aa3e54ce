//! The statements of an instance, as plain trees.

use std::collections::BTreeMap;

use super::term::{Process, Term};
use crate::options::Options;
use crate::tree::{self, ConstraintKind, Item, ProcKind, TermKind, Tree};

pub(super) struct Clause {
    pub(super) role: Term,
    pub(super) id: Term,
    pub(super) body: Process,
}

pub(super) struct Fact {
    /// Id of the owner; `None` for common knowledge.
    pub(super) owner: Option<String>,
    pub(super) head: Term,
    pub(super) body: Option<Term>,
}

pub(super) struct Rule {
    pub(super) enforcer: String,
    pub(super) permits: bool,
    pub(super) triple: [Term; 3],
    pub(super) body: Option<Term>,
}

pub(super) struct Member {
    pub(super) id: String,
    pub(super) start: Process,
    pub(super) is_server: bool,
}

#[derive(Default)]
pub(super) struct Instance {
    pub(super) options: Options,
    pub(super) clauses: Vec<Clause>,
    pub(super) facts: Vec<Fact>,
    pub(super) rules: Vec<Rule>,
    pub(super) members: Vec<Member>,
    pub(super) choices: Vec<(Option<String>, String, usize)>,
}

impl Instance {
    /// Reads trees that have no errors. `now` and `mail` statements are ignored.
    pub(super) fn new(trees: &[Tree]) -> Instance {
        let mut instance = Instance::default();
        for item in trees.iter().flat_map(|tree| &tree.items) {
            let mut scope = Scope::default();
            match item {
                Item::Clause(clause) => {
                    let role = scope.term(&clause.head.role);
                    let id = scope.term(&clause.head.id);
                    let body = scope.process(&clause.body);
                    instance.clauses.push(Clause { role, id, body });
                }
                Item::Member(member) => instance.member(member),
                Item::Fact(fact) => {
                    let owner = fact.owner.as_ref().map(|owner| super::term::text(&scope.term(owner)));
                    let head = scope.term(&fact.head);
                    let body = fact.body.as_ref().map(|body| scope.constraint(body));
                    instance.facts.push(Fact { owner, head, body });
                }
                Item::Rule(rule) => {
                    let enforcer = super::term::text(&scope.term(&rule.enforcer));
                    scope.this = Some(enforcer.clone());
                    let triple = [&rule.subject, &rule.object, &rule.action].map(|term| scope.term(term));
                    let body = rule.body.as_ref().map(|body| scope.constraint(body));
                    instance.rules.push(Rule { enforcer, permits: rule.permits, triple, body });
                }
                Item::Choice(choice) => {
                    let owner = choice.owner.as_ref().map(|owner| super::term::text(&scope.term(owner)));
                    instance.choices.push((owner, choice.name.text.clone(), choice.arity));
                }
                Item::Setting(setting) => {
                    // The checker has reported invalid settings as errors.
                    let _ = instance.options.set(&setting.name.text, &setting.value.text);
                }
                _ => {}
            }
        }
        instance
    }

    fn member(&mut self, member: &tree::Member) {
        let mut scope = Scope::default();
        let id = scope.term(&member.agent.id);
        let name = super::term::text(&id);
        let role = scope.term(&member.agent.role);
        match self.members.iter_mut().find(|other| other.id == name) {
            Some(other) => {
                let role = role.map(&mut |number| Term::Var(number + 1000));
                let call = Process::Call(role, id);
                other.start = Process::Par(Box::new(other.start.clone()), Box::new(call));
                other.is_server &= member.is_server;
            }
            None => {
                let start = Process::Call(role, id);
                self.members.push(Member { id: name, start, is_server: member.is_server });
            }
        }
    }
}

/// The variables of one statement, by name.
#[derive(Default)]
pub(super) struct Scope {
    names: BTreeMap<String, u32>,
    n_vars: u32,
    /// The id that `self` stands for.
    pub(super) this: Option<String>,
}

impl Scope {
    fn fresh(&mut self) -> Term {
        self.n_vars += 1;
        Term::Var(self.n_vars - 1)
    }

    /// Gives the lowest numbers to these variables.
    pub(super) fn share(&mut self, names: &[String]) {
        for name in names {
            self.names.insert(name.clone(), self.n_vars);
            self.fresh();
        }
    }

    pub(super) fn term(&mut self, term: &tree::Term) -> Term {
        match &term.kind {
            TermKind::Anonymous => self.fresh(),
            TermKind::Var(name) => match self.names.get(name) {
                Some(number) => Term::Var(*number),
                None => {
                    self.names.insert(name.clone(), self.n_vars);
                    self.fresh()
                }
            },
            TermKind::Int(value) => Term::Int(*value),
            TermKind::Decimal(value) => Term::Decimal(*value),
            TermKind::App(name, args) if args.is_empty() && name == "self" && self.this.is_some() => {
                Term::App(self.this.clone().unwrap_or_default(), Vec::new())
            }
            TermKind::App(name, args) => {
                Term::App(name.clone(), args.iter().map(|arg| self.term(arg)).collect())
            }
            TermKind::List(items, tail) => {
                let items: Vec<Term> = items.iter().map(|item| self.term(item)).collect();
                let tail = tail.as_ref().map_or(Term::op("[]", Vec::new()), |tail| self.term(tail));
                items.into_iter().rev().fold(tail, |tail, item| Term::op("[|]", vec![item, tail]))
            }
            TermKind::Binary(op, left, right) => {
                let left = self.term(left);
                Term::op(op, vec![left, self.term(right)])
            }
            TermKind::Negative(inner) => Term::op("neg", vec![self.term(inner)]),
        }
    }

    pub(super) fn constraint(&mut self, constraint: &tree::Constraint) -> Term {
        match &constraint.kind {
            ConstraintKind::And(parts) => self.chain("and", parts),
            ConstraintKind::Or(parts) => self.chain("or", parts),
            ConstraintKind::Not(inner) => Term::op("not", vec![self.constraint(inner)]),
            ConstraintKind::Atom(term) => self.term(term),
            ConstraintKind::Compare(op, left, right) => {
                let left = self.term(left);
                Term::op(op, vec![left, self.term(right)])
            }
            ConstraintKind::Triple(triple) => {
                let op = if triple.permits { "permit" } else { "forbid" };
                let terms = [&triple.subject, &triple.object, &triple.action].map(|term| self.term(term));
                Term::op(op, terms.into())
            }
        }
    }

    fn chain(&mut self, op: &str, parts: &[tree::Constraint]) -> Term {
        let parts: Vec<Term> = parts.iter().map(|part| self.constraint(part)).collect();
        let join = |right: Term, left: Term| Term::op(op, vec![left, right]);
        parts.into_iter().rev().reduce(join).unwrap_or(Term::op("true", Vec::new()))
    }

    fn process(&mut self, process: &tree::Proc) -> Process {
        let all =
            |scope: &mut Scope, parts: &[tree::Proc], join: fn(Box<Process>, Box<Process>) -> Process| {
                let parts: Vec<Process> = parts.iter().map(|part| scope.process(part)).collect();
                let parts = parts.into_iter().rev();
                parts.reduce(|right, left| join(Box::new(left), Box::new(right))).unwrap_or(Process::Nil)
            };
        match &process.kind {
            ProcKind::Nil => Process::Nil,
            ProcKind::Null => Process::Null,
            ProcKind::Call(agent) => {
                let role = self.term(&agent.role);
                Process::Call(role, self.term(&agent.id))
            }
            ProcKind::Send(message, agent) | ProcKind::Receive(message, agent) => {
                let message = self.term(message);
                let role = self.term(&agent.role);
                let id = self.term(&agent.id);
                match process.kind {
                    ProcKind::Send(..) => Process::Send(message, role, id),
                    _ => Process::Receive(message, role, id),
                }
            }
            ProcKind::Guarded(step, constraint) => {
                let step = self.process(step);
                Process::Guard(Box::new(step), self.constraint(constraint))
            }
            ProcKind::Then(parts) => all(self, parts, Process::Then),
            ProcKind::Par(parts) => all(self, parts, Process::Par),
            ProcKind::Or(parts) => all(self, parts, Process::Or),
            ProcKind::Frame(agent, inner) => {
                let role = self.term(&agent.role);
                Process::Frame(role, Box::new(self.process(inner)))
            }
        }
    }
}
