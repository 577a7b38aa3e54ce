//! `sat(C)` for an agent: all solutions of a constraint, each with the literals it used; and the policies.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::OutOfBounds;
use super::instance::Instance;
use super::term::{Canon, Subst, Term, text, unify};
use crate::options::Conflict;

/// A solution: a substitution and the literals it used.
pub(super) type Solution = (Subst, Vec<Term>);
pub(super) type Bounded<T> = Result<T, OutOfBounds>;

/// The knowledge of all agents, and the policies.
pub(super) struct Knowledge {
    pub(super) instance: Instance,
    pub(super) conflicts: RefCell<BTreeSet<String>>,
    pub(super) unknown: RefCell<BTreeSet<String>>,
    /// Next unused variable.
    pub(super) next: Cell<u32>,
    /// Number of roles entered in the current situation.
    pub(super) n_entered: Cell<u32>,
}

impl Knowledge {
    /// Renames the variables of terms to unused ones.
    pub(super) fn rename(&self, terms: &[&Term]) -> Vec<Term> {
        let base = self.next.get();
        let mut canon = Canon::default();
        let mut top = base;
        let renamed = terms
            .iter()
            .map(|term| {
                canon.term(term).map(&mut |number| {
                    top = top.max(base + number + 1);
                    Term::Var(base + number)
                })
            })
            .collect();
        self.next.set(top);
        renamed
    }

    fn fresh(&self) -> Term {
        self.next.set(self.next.get() + 1);
        Term::Var(self.next.get() - 1)
    }

    /// Returns all solutions of a constraint (section 5). Where `positive` is false, decisions count as
    /// refused.
    pub(super) fn sat(&self, agent: &str, c: &Term, theta: &Subst, positive: bool) -> Bounded<Vec<Solution>> {
        if let Some(("and", [left, right])) = c.as_op() {
            let mut solutions = Vec::new();
            for (theta, used) in self.sat(agent, left, theta, positive)? {
                for (theta, more) in self.sat(agent, right, &theta, positive)? {
                    solutions.push((theta, [used.clone(), more].concat()));
                }
            }
            return Ok(solutions);
        }
        if let Some(("or", [left, right])) = c.as_op() {
            let mut solutions = self.sat(agent, left, theta, positive)?;
            solutions.extend(self.sat(agent, right, theta, positive)?);
            return Ok(solutions);
        }
        let with_literal =
            |thetas: Vec<Subst>| thetas.into_iter().map(|theta| (theta, vec![c.clone()])).collect();
        let thetas = match c.as_op() {
            Some(("not", [inner])) => {
                if self.sat(agent, inner, theta, !positive)?.is_empty() {
                    vec![theta.clone()]
                } else {
                    Vec::new()
                }
            }
            Some(_) => self.common(c, theta, positive, 0)?,
            None => self.literal(agent, c, theta, positive)?,
        };
        Ok(with_literal(thetas))
    }

    /// Solves a literal of a guard from knowledge, by a decision, or because the policies regulate it; then
    /// the policies must allow it.
    fn literal(&self, agent: &str, c: &Term, theta: &Subst, positive: bool) -> Bounded<Vec<Subst>> {
        let thetas = match c.key() {
            Some(("true", 0)) => return Ok(vec![theta.clone()]),
            None | Some(("fail" | "false", 0)) => return Ok(Vec::new()),
            Some((name, arity)) => {
                if self.is_known(agent, c) {
                    self.known(agent, c, theta, positive, 0)?
                } else if self.is_choice(agent, c) {
                    if positive { vec![theta.clone()] } else { Vec::new() }
                } else if self.is_regulated(agent, c) {
                    vec![theta.clone()]
                } else {
                    self.unknown.borrow_mut().insert(format!("{agent}: {name}/{arity}"));
                    Vec::new()
                }
            }
        };
        let object = self.fresh();
        let mut allowed = Vec::new();
        for theta in thetas {
            allowed.extend(self.gate(agent, &object, c, &theta, positive)?);
        }
        Ok(allowed)
    }

    fn is_choice(&self, agent: &str, c: &Term) -> bool {
        self.instance.choices.iter().any(|(owner, name, arity)| {
            owner.as_deref().is_none_or(|owner| owner == agent) && c.key() == Some((name.as_str(), *arity))
        })
    }

    fn is_known(&self, agent: &str, c: &Term) -> bool {
        self.facts(agent).any(|fact| fact.head.key() == c.key())
    }

    fn facts<'k>(&'k self, agent: &'k str) -> impl Iterator<Item = &'k super::instance::Fact> {
        let own = self.instance.facts.iter().filter(move |fact| fact.owner.as_deref() == Some(agent));
        own.chain(self.instance.facts.iter().filter(|fact| fact.owner.is_none()))
    }

    /// Solves a literal from the facts of an agent and common facts.
    fn known(&self, agent: &str, c: &Term, theta: &Subst, positive: bool, depth: u32) -> Bounded<Vec<Subst>> {
        if depth > self.instance.options.sld {
            return Err(OutOfBounds);
        }
        let mut solutions = Vec::new();
        for fact in self.facts(agent).filter(|fact| fact.head.key() == c.key()) {
            let parts: Vec<&Term> = [&fact.head].into_iter().chain(&fact.body).collect();
            let renamed = self.rename(&parts);
            let Some(theta) = unify(c, &renamed[0], theta) else { continue };
            match renamed.get(1) {
                Some(body) => solutions.extend(self.body(agent, body, &theta, positive, depth + 1)?),
                None => solutions.push(theta),
            }
        }
        Ok(solutions)
    }

    /// Solves the body of an owner's fact or rule.
    fn body(&self, owner: &str, b: &Term, theta: &Subst, positive: bool, depth: u32) -> Bounded<Vec<Subst>> {
        match b.as_op() {
            Some(("and", [left, right])) => {
                let mut solutions = Vec::new();
                for theta in self.body(owner, left, theta, positive, depth)? {
                    solutions.extend(self.body(owner, right, &theta, positive, depth)?);
                }
                Ok(solutions)
            }
            Some(("or", [left, right])) => {
                let mut solutions = self.body(owner, left, theta, positive, depth)?;
                solutions.extend(self.body(owner, right, theta, positive, depth)?);
                Ok(solutions)
            }
            Some(("not", [inner])) => {
                if self.body(owner, inner, theta, !positive, depth)?.is_empty() {
                    Ok(vec![theta.clone()])
                } else {
                    Ok(Vec::new())
                }
            }
            Some(_) => self.common(b, theta, positive, depth),
            None => match b.key() {
                Some(("true", 0)) => Ok(vec![theta.clone()]),
                None | Some(("fail" | "false", 0)) => Ok(Vec::new()),
                _ if self.is_known(owner, b) => self.known(owner, b, theta, positive, depth),
                _ if self.is_choice(owner, b) && positive => Ok(vec![theta.clone()]),
                _ => Ok(Vec::new()),
            },
        }
    }

    /// Solves comparisons and questions to the policies, which mean the same in guards and bodies.
    fn common(&self, c: &Term, theta: &Subst, positive: bool, depth: u32) -> Bounded<Vec<Subst>> {
        let Some((op, args)) = c.as_op() else { return Ok(Vec::new()) };
        match (op, args) {
            ("permit", [s, o, a]) => self.permitted([s, o, a], theta, positive, depth),
            ("forbid", [s, o, a]) => self.derive(false, [s, o, a], theta, positive, depth),
            ("=", [left, right]) => Ok(unify(left, right, theta).into_iter().collect()),
            (_, [left, right]) => {
                let is_true = match op {
                    "\\=" => unify(left, right, theta).is_none(),
                    "==" => left.apply(theta) == right.apply(theta),
                    "\\==" => left.apply(theta) != right.apply(theta),
                    "is" => {
                        let value = value(right, theta);
                        return Ok(value.and_then(|value| unify(left, &value, theta)).into_iter().collect());
                    }
                    _ => compare(op, left, right, theta),
                };
                Ok(if is_true { vec![theta.clone()] } else { Vec::new() })
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Solves a triple with the rules, of all enforcers, that permit or forbid it.
    fn derive(
        &self,
        permits: bool,
        triple: [&Term; 3],
        theta: &Subst,
        positive: bool,
        depth: u32,
    ) -> Bounded<Vec<Subst>> {
        if depth > self.instance.options.sld {
            return Err(OutOfBounds);
        }
        let mut solutions = Vec::new();
        for rule in self.instance.rules.iter().filter(|rule| rule.permits == permits) {
            let parts: Vec<&Term> = rule.triple.iter().chain(&rule.body).collect();
            let renamed = self.rename(&parts);
            let unified =
                triple.iter().zip(&renamed).try_fold(theta.clone(), |theta, (x, y)| unify(x, y, &theta));
            let Some(theta) = unified else { continue };
            match renamed.get(3) {
                Some(body) => {
                    solutions.extend(self.body(&rule.enforcer, body, &theta, positive, depth + 1)?)
                }
                None => solutions.push(theta),
            }
        }
        Ok(solutions)
    }

    /// Solves a triple that must be permitted and, unless permissions take precedence, not forbidden.
    fn permitted(
        &self,
        triple: [&Term; 3],
        theta: &Subst,
        positive: bool,
        depth: u32,
    ) -> Bounded<Vec<Subst>> {
        let mut solutions = Vec::new();
        for theta in self.derive(true, triple, theta, positive, depth)? {
            let is_forbidden = !self.derive(false, triple, &theta, !positive, depth)?.is_empty();
            if is_forbidden {
                let mut canon = Canon::default();
                let [s, o, a] = triple.map(|term| text(&canon.term(&term.apply(&theta))));
                self.conflicts.borrow_mut().insert(format!("({s},{o},±{a})"));
            }
            if !is_forbidden || self.instance.options.conflict == Conflict::Permit {
                solutions.push(theta);
            }
        }
        Ok(solutions)
    }

    fn is_regulated(&self, agent: &str, action: &Term) -> bool {
        let id = Term::App(agent.to_string(), Vec::new());
        self.instance.rules.iter().any(|rule| {
            let subject = &self.rename(&[&rule.triple[0]])[0];
            rule.permits
                && rule.triple[2].key() == action.key()
                && unify(subject, &id, &Subst::new()).is_some()
        })
    }

    /// Solves the condition that the agent is allowed to perform the action towards the object.
    pub(super) fn gate(
        &self,
        agent: &str,
        object: &Term,
        action: &Term,
        theta: &Subst,
        positive: bool,
    ) -> Bounded<Vec<Subst>> {
        let id = Term::App(agent.to_string(), Vec::new());
        let triple = [&id, object, action];
        if self.is_regulated(agent, action) {
            return self.permitted(triple, theta, positive, 0);
        }
        if self.derive(false, triple, theta, !positive, 0)?.is_empty() {
            Ok(vec![theta.clone()])
        } else {
            Ok(Vec::new())
        }
    }
}

fn compare(op: &str, left: &Term, right: &Term, theta: &Subst) -> bool {
    let order = match (value(left, theta), value(right, theta)) {
        (Some(Term::Int(left)), Some(Term::Int(right))) => Some(left.cmp(&right)),
        (Some(left), Some(right)) => float(&left).partial_cmp(&float(&right)),
        _ => None,
    };
    order.is_some_and(|order| match op {
        "<" => order.is_lt(),
        ">" => order.is_gt(),
        "=<" => order.is_le(),
        _ => order.is_ge(),
    })
}

fn float(number: &Term) -> f64 {
    match number {
        Term::Int(value) => *value as f64,
        Term::Decimal(value) => *value,
        _ => f64::NAN,
    }
}

/// Computes the value of an arithmetic expression.
fn value(term: &Term, theta: &Subst) -> Option<Term> {
    match term.walk(theta) {
        Term::Var(_) => None,
        number @ (Term::Int(_) | Term::Decimal(_)) => Some(number.clone()),
        term => match term.as_op()? {
            ("neg", [inner]) => match value(inner, theta)? {
                Term::Int(inner) => inner.checked_neg().map(Term::Int),
                inner => Some(Term::Decimal(-float(&inner))),
            },
            (op, [left, right]) => operate(op, &value(left, theta)?, &value(right, theta)?),
            _ => None,
        },
    }
}

fn operate(op: &str, left: &Term, right: &Term) -> Option<Term> {
    if let (Term::Int(left), Term::Int(right)) = (left, right) {
        let whole = match op {
            "+" => left.checked_add(*right),
            "-" => left.checked_sub(*right),
            "*" => left.checked_mul(*right),
            "mod" => left
                .checked_rem_euclid(*right)
                .map(|rest| if *right < 0 && rest != 0 { rest + right } else { rest }),
            "/" if *right != 0 && left % right == 0 => left.checked_div(*right),
            "/" if *right != 0 => return Some(Term::Decimal(*left as f64 / *right as f64)),
            _ => None,
        };
        return whole.map(Term::Int);
    }
    let (left, right) = (float(left), float(right));
    let value = match op {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        _ => return None,
    };
    value.is_finite().then_some(Term::Decimal(value))
}
