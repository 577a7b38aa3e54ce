//! Terms, constraints and processes as trees.

use std::collections::BTreeMap;
use std::fmt::Write;

/// A term.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A variable.
    Var(u32),
    /// An integer.
    Int(i64),
    /// A number with a fraction.
    Decimal(f64),
    /// A constant, or a name with arguments. The names of operators begin with a control character, so they
    /// differ from all names in files.
    App(String, Vec<Term>),
}

/// A process.
#[derive(Clone, Debug, PartialEq)]
pub enum Process {
    /// Nothing left to do.
    Nil,
    /// An internal step.
    Null,
    /// A change of role: role and id.
    Call(Term, Term),
    /// A message, the receiver's role and id.
    Send(Term, Term, Term),
    /// A message, the sender's role and id.
    Receive(Term, Term, Term),
    /// A step with a constraint.
    Guard(Box<Process>, Term),
    /// Sequence.
    Then(Box<Process>, Box<Process>),
    /// Parallel composition.
    Par(Box<Process>, Box<Process>),
    /// Choice.
    Or(Box<Process>, Box<Process>),
    /// A process in a role.
    Frame(Term, Box<Process>),
}

/// A substitution: the values of variables.
pub(super) type Subst = BTreeMap<u32, Term>;

impl Term {
    pub(super) fn walk<'t>(&'t self, theta: &'t Subst) -> &'t Term {
        match self {
            Term::Var(number) => theta.get(number).map_or(self, |value| value.walk(theta)),
            _ => self,
        }
    }

    /// Replaces each variable by the result of `by`.
    pub(super) fn map(&self, by: &mut dyn FnMut(u32) -> Term) -> Term {
        match self {
            Term::Var(number) => by(*number),
            Term::App(name, args) => Term::App(name.clone(), args.iter().map(|arg| arg.map(by)).collect()),
            _ => self.clone(),
        }
    }

    pub(super) fn apply(&self, theta: &Subst) -> Term {
        self.map(&mut |number| match theta.get(&number) {
            Some(value) => value.apply(theta),
            None => Term::Var(number),
        })
    }

    fn has(&self, variable: u32, theta: &Subst) -> bool {
        match self.walk(theta) {
            Term::Var(number) => *number == variable,
            Term::App(_, args) => args.iter().any(|arg| arg.has(variable, theta)),
            _ => false,
        }
    }

    pub(super) fn depth(&self) -> u32 {
        match self {
            Term::App(_, args) => args.iter().map(|arg| arg.depth() + 1).max().unwrap_or(0),
            _ => 0,
        }
    }

    fn size(&self) -> u32 {
        match self {
            Term::App(_, args) => 1 + args.iter().map(Term::size).sum::<u32>(),
            _ => 1,
        }
    }

    /// Returns the name and number of arguments.
    pub(super) fn key(&self) -> Option<(&str, usize)> {
        match self {
            Term::App(name, args) => Some((name, args.len())),
            _ => None,
        }
    }

    pub(super) fn op(name: &str, args: Vec<Term>) -> Term {
        Term::App(format!("\u{1}{name}"), args)
    }

    /// Returns the operator and its arguments, if the term is an operation.
    pub(super) fn as_op(&self) -> Option<(&str, &[Term])> {
        match self {
            Term::App(name, args) => name.strip_prefix('\u{1}').map(|op| (op, args.as_slice())),
            _ => None,
        }
    }
}

/// Computes the most general unifier with occurs check, as an extension of a substitution.
pub(super) fn unify(left: &Term, right: &Term, theta: &Subst) -> Option<Subst> {
    let (left, right) = (left.walk(theta).clone(), right.walk(theta).clone());
    match (&left, &right) {
        (Term::Var(a), Term::Var(b)) if a == b => Some(theta.clone()),
        (Term::Var(number), other) | (other, Term::Var(number)) => {
            if other.has(*number, theta) {
                return None;
            }
            let mut theta = theta.clone();
            theta.insert(*number, other.clone());
            Some(theta)
        }
        (Term::App(f, xs), Term::App(g, ys)) if f == g && xs.len() == ys.len() => {
            xs.iter().zip(ys).try_fold(theta.clone(), |theta, (x, y)| unify(x, y, &theta))
        }
        _ if left == right => Some(theta.clone()),
        _ => None,
    }
}

impl Process {
    /// Applies `by` to all terms of the process.
    pub(super) fn map(&self, by: &mut dyn FnMut(&Term) -> Term) -> Process {
        match self {
            Process::Nil => Process::Nil,
            Process::Null => Process::Null,
            Process::Call(role, id) => Process::Call(by(role), by(id)),
            Process::Send(m, role, id) => Process::Send(by(m), by(role), by(id)),
            Process::Receive(m, role, id) => Process::Receive(by(m), by(role), by(id)),
            Process::Guard(step, c) => {
                let step = step.map(by);
                Process::Guard(Box::new(step), by(c))
            }
            Process::Then(p, q) => {
                let p = p.map(by);
                Process::Then(Box::new(p), Box::new(q.map(by)))
            }
            Process::Par(p, q) => {
                let p = p.map(by);
                Process::Par(Box::new(p), Box::new(q.map(by)))
            }
            Process::Or(p, q) => {
                let p = p.map(by);
                Process::Or(Box::new(p), Box::new(q.map(by)))
            }
            Process::Frame(role, p) => {
                let role = by(role);
                Process::Frame(role, Box::new(p.map(by)))
            }
        }
    }

    /// Number of tree nodes.
    pub(super) fn size(&self) -> u32 {
        match self {
            Process::Nil | Process::Null => 1,
            Process::Call(role, id) => 1 + role.size() + id.size(),
            Process::Send(m, role, id) | Process::Receive(m, role, id) => {
                1 + m.size() + role.size() + id.size()
            }
            Process::Guard(step, c) => 1 + step.size() + c.size(),
            Process::Then(p, q) | Process::Par(p, q) | Process::Or(p, q) => 1 + p.size() + q.size(),
            Process::Frame(role, p) => 1 + role.size() + p.size(),
        }
    }
}

/// Numbers variables from 0 in the order of their first occurrence.
#[derive(Default)]
pub(super) struct Canon(BTreeMap<u32, u32>);

impl Canon {
    pub(super) fn term(&mut self, term: &Term) -> Term {
        term.map(&mut |number| {
            let next = self.0.len() as u32;
            Term::Var(*self.0.entry(number).or_insert(next))
        })
    }
}

/// Returns a term as text.
pub(super) fn text(term: &Term) -> String {
    let mut out = String::new();
    write(&mut out, term);
    out
}

/// Returns a term as text with every variable written `_`.
pub(super) fn shape(term: &Term) -> String {
    text(&term.map(&mut |_| Term::App("\u{1}_".to_string(), Vec::new())))
}

fn write(out: &mut String, term: &Term) {
    let _ = match term {
        Term::Var(number) => write!(out, "_{number}"),
        Term::Int(value) => write!(out, "{value}"),
        Term::Decimal(value) => write!(out, "{value:?}"),
        Term::App(name, args) => match (name.strip_prefix('\u{1}'), args.as_slice()) {
            (Some("[|]"), _) => return list(out, term),
            (Some(op @ ("permit" | "forbid")), [s, o, a]) => {
                let sign = if op == "permit" { '+' } else { '-' };
                write!(out, "({},{},{sign}{})", text(s), text(o), text(a))
            }
            (Some("not"), [inner]) => write!(out, "not {}", text(inner)),
            (Some("neg"), [inner]) => write!(out, "-({})", text(inner)),
            (Some(op @ ("+" | "-" | "*" | "/")), [l, r]) => write!(out, "({}{op}{})", text(l), text(r)),
            (Some(op @ ("and" | "or" | "mod")), [l, r]) => write!(out, "({} {op} {})", text(l), text(r)),
            (Some(op), [l, r]) => write!(out, "{} {op} {}", text(l), text(r)),
            (Some(op), _) => write!(out, "{op}"),
            (None, []) => write!(out, "{name}"),
            (None, _) => write!(out, "{name}({})", args.iter().map(text).collect::<Vec<_>>().join(",")),
        },
    };
}

fn list(out: &mut String, mut term: &Term) {
    let mut items = Vec::new();
    while let Some(("[|]", [head, tail])) = term.as_op() {
        items.push(text(head));
        term = tail;
    }
    let rest = if term.as_op() == Some(("[]", &[])) { String::new() } else { format!("|{}", text(term)) };
    let _ = write!(out, "[{}{rest}]", items.join(","));
}

/// Returns a process as text.
pub(super) fn process_text(process: &Process) -> String {
    match process {
        Process::Nil => "nil".to_string(),
        Process::Null => "null".to_string(),
        Process::Call(role, id) => format!("a({},{})", text(role), text(id)),
        Process::Send(m, role, id) => format!("{} => a({},{})", text(m), text(role), text(id)),
        Process::Receive(m, role, id) => format!("{} <= a({},{})", text(m), text(role), text(id)),
        Process::Guard(step, c) => format!("{} <- {}", process_text(step), text(c)),
        Process::Then(p, q) => format!("({} then {})", process_text(p), process_text(q)),
        Process::Par(p, q) => format!("({} par {})", process_text(p), process_text(q)),
        Process::Or(p, q) => format!("({} or {})", process_text(p), process_text(q)),
        Process::Frame(role, p) => format!("{{{}: {}}}", text(role), process_text(p)),
    }
}
