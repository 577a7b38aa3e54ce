//! The transitions of one agent: section 6.1, rule by rule.

use super::OutOfBounds;
use super::sat::{Bounded, Knowledge};
use super::term::{Canon, Process, Subst, Term, text, unify};
use crate::options::{Comm, Guards, Roles};

/// Maximum number of nested role changes in one derivation.
const MAX_NESTED_ROLE_CHANGES: usize = 60;
/// Maximum number of role changes in one situation, all branches together.
const MAX_ROLE_CHANGES: u32 = 2_000;

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Internal,
    Sent,
    Taken,
    /// A sending and its receipt by two parts of the agent: Figure 9, τ.
    Exchanged,
}

/// A transition whose substitution has not been applied yet.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) theta: Subst,
    pub(super) kind: Kind,
    /// Message, and the peer's role and id; empty for an internal step.
    pub(super) what: Vec<Term>,
    pub(super) role: Term,
    pub(super) used: Vec<Term>,
    /// For an exchange within the agent, the constraints of the sending; the other fields are those of the
    /// receipt.
    pub(super) sender_used: Vec<Term>,
    pub(super) rest: Process,
}

/// A message: sender's role and id, receiver's role and id, content.
pub(super) type Message = [Term; 5];

/// An agent, and the message that is offered to it, if its receipts are asked for.
#[derive(Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) id: &'a str,
    pub(super) offered: Option<&'a Message>,
}

impl Knowledge {
    /// Returns all transitions of a process in a role: internal steps and sendings, or the receipts of the
    /// offered message.
    pub(super) fn steps(
        &self,
        actor: Actor<'_>,
        process: &Process,
        role: &Term,
        theta: &Subst,
        entered: &[String],
    ) -> Bounded<Vec<Step>> {
        let is_own = actor.offered.is_none();
        let internal = |theta: &Subst, used: Vec<Term>, rest: Process| Step {
            theta: theta.clone(),
            kind: Kind::Internal,
            what: Vec::new(),
            role: role.clone(),
            used,
            sender_used: Vec::new(),
            rest,
        };
        let within = |inner: &Process, wrap: &dyn Fn(Process) -> Process| -> Bounded<Vec<Step>> {
            let mut steps = self.steps(actor, inner, role, theta, entered)?;
            for step in &mut steps {
                step.rest = wrap(step.rest.clone());
            }
            Ok(steps)
        };
        match process {
            Process::Nil => Ok(Vec::new()),
            Process::Null if is_own => Ok(vec![internal(theta, Vec::new(), Process::Nil)]),
            Process::Send(m, r, j) if is_own => self.send(actor, [m, r, j], role, theta, Vec::new()),
            Process::Receive(m, r, j) if !is_own => self.receive(actor, [m, r, j], role, theta),
            Process::Null | Process::Send(..) | Process::Receive(..) => Ok(Vec::new()),
            Process::Call(r, j) => self.call(actor, r, j, theta, entered),
            Process::Or(p, q) => {
                let mut steps = self.steps(actor, p, role, theta, entered)?;
                steps.extend(self.steps(actor, q, role, theta, entered)?);
                Ok(steps)
            }
            Process::Then(p, q) => within(p, &|rest| match rest {
                Process::Nil => (**q).clone(),
                rest => Process::Then(Box::new(rest), q.clone()),
            }),
            Process::Par(p, q) => self.parallel(actor, [p, q], role, theta, entered),
            Process::Frame(r, p) => {
                let mut steps = self.steps(actor, p, r, theta, entered)?;
                for step in &mut steps {
                    step.rest = in_role(r, step.rest.clone());
                }
                Ok(steps)
            }
            Process::Guard(step, c) if self.instance.options.guards == Guards::Fig9 => {
                self.fig9(actor, step, c, role, theta, entered)
            }
            Process::Guard(step, c) => match &**step {
                Process::Null | Process::Call(..) if is_own => {
                    let rest = if **step == Process::Null { Process::Nil } else { (**step).clone() };
                    let solutions = self.sat(actor.id, c, theta, true)?;
                    Ok(solutions
                        .into_iter()
                        .map(|(theta, used)| internal(&theta, used, rest.clone()))
                        .collect())
                }
                Process::Send(m, r, j) if is_own => {
                    let mut steps = Vec::new();
                    for (theta, used) in self.sat(actor.id, c, theta, true)? {
                        steps.extend(self.send(actor, [m, r, j], role, &theta, used)?);
                    }
                    Ok(steps)
                }
                Process::Receive(m, r, j) if !is_own => {
                    let mut steps = Vec::new();
                    for taken in self.receive(actor, [m, r, j], role, theta)? {
                        for (theta, used) in self.sat(actor.id, c, &taken.theta, true)? {
                            steps.push(Step { theta, used, ..taken.clone() });
                        }
                    }
                    Ok(steps)
                }
                _ => Ok(Vec::new()),
            },
        }
    }

    /// Applies the rules for `P par Q`: a step of either part or, with `comm = sync`, an exchange of both.
    fn parallel(
        &self,
        actor: Actor<'_>,
        [p, q]: [&Process; 2],
        role: &Term,
        theta: &Subst,
        entered: &[String],
    ) -> Bounded<Vec<Step>> {
        let of_p = self.steps(actor, p, role, theta, entered)?;
        let of_q = self.steps(actor, q, role, theta, entered)?;
        let mut steps = Vec::new();
        if actor.offered.is_none() && self.instance.options.comm == Comm::Sync {
            for sending in &of_p {
                for taken in self.receipts(actor.id, sending, q, role, entered)? {
                    steps.push(exchanged(sending, &taken, par(sending.rest.clone(), taken.rest.clone())));
                }
            }
            for sending in &of_q {
                for taken in self.receipts(actor.id, sending, p, role, entered)? {
                    steps.push(exchanged(sending, &taken, par(taken.rest.clone(), sending.rest.clone())));
                }
            }
        }
        steps.extend(of_p.into_iter().map(|step| Step { rest: par(step.rest.clone(), q.clone()), ..step }));
        steps.extend(of_q.into_iter().map(|step| Step { rest: par(p.clone(), step.rest.clone()), ..step }));
        Ok(steps)
    }

    /// Returns the receipts, by one part of an agent, of what another part sends: Figure 9, τ. The parts
    /// share the variables of the agent, so the message is not renamed.
    fn receipts(
        &self,
        id: &str,
        sending: &Step,
        receiver: &Process,
        role: &Term,
        entered: &[String],
    ) -> Bounded<Vec<Step>> {
        let (Kind::Sent, [m, r, j]) = (sending.kind, sending.what.as_slice()) else { return Ok(Vec::new()) };
        let from = Term::App(id.to_string(), Vec::new());
        let offered = [sending.role.clone(), from, r.clone(), j.clone(), m.clone()];
        self.steps(Actor { id, offered: Some(&offered) }, receiver, role, &sending.theta, entered)
    }

    /// Applies the two rules for `A <- C` as printed in the paper.
    fn fig9(
        &self,
        actor: Actor<'_>,
        step: &Process,
        c: &Term,
        role: &Term,
        theta: &Subst,
        entered: &[String],
    ) -> Bounded<Vec<Step>> {
        let mut steps = Vec::new();
        if actor.offered.is_none() {
            for (theta, used) in self.sat(actor.id, c, theta, true)? {
                for literal in used {
                    let (what, role, rest) = (Vec::new(), role.clone(), step.clone());
                    let (used, sender_used) = (vec![literal], Vec::new());
                    let theta = theta.clone();
                    steps.push(Step { theta, kind: Kind::Internal, what, role, used, sender_used, rest });
                }
            }
        }
        // The message is bound before the constraint of a receipt is tried, as in our own rule.
        if let Process::Receive(..) = step {
            for taken in self.steps(actor, step, role, theta, entered)? {
                for (theta, _) in self.sat(actor.id, c, &taken.theta, true)? {
                    steps.push(Step { theta, ..taken.clone() });
                }
            }
            return Ok(steps);
        }
        for (theta, _) in self.sat(actor.id, c, theta, true)? {
            let own = self.steps(actor, step, role, &theta, entered)?;
            steps.extend(own.into_iter().filter(|step| step.kind != Kind::Internal));
        }
        Ok(steps)
    }

    fn send(
        &self,
        actor: Actor<'_>,
        [m, r, j]: [&Term; 3],
        role: &Term,
        theta: &Subst,
        used: Vec<Term>,
    ) -> Bounded<Vec<Step>> {
        let action = Term::App("send".to_string(), vec![m.clone()]);
        let thetas = self.gate(actor.id, j, &action, theta, true)?;
        let step = |theta| Step {
            theta,
            kind: Kind::Sent,
            what: vec![m.clone(), r.clone(), j.clone()],
            role: role.clone(),
            used: used.clone(),
            sender_used: Vec::new(),
            rest: Process::Nil,
        };
        Ok(thetas.into_iter().map(step).collect())
    }

    fn receive(
        &self,
        actor: Actor<'_>,
        [m, r, j]: [&Term; 3],
        role: &Term,
        theta: &Subst,
    ) -> Bounded<Vec<Step>> {
        let Some([from_role, from, to_role, to, content]) = actor.offered else { return Ok(Vec::new()) };
        let id = Term::App(actor.id.to_string(), Vec::new());
        let theta = unify(to, &id, theta)
            .and_then(|theta| self.same_role(to_role, role, &theta))
            .and_then(|theta| unify(j, from, &theta))
            .and_then(|theta| self.same_role(r, from_role, &theta))
            .and_then(|theta| unify(m, content, &theta));
        let Some(theta) = theta else { return Ok(Vec::new()) };
        let action = Term::App("receive".to_string(), vec![m.clone()]);
        let thetas = self.gate(actor.id, j, &action, &theta, true)?;
        let step = |theta| Step {
            theta,
            kind: Kind::Taken,
            what: vec![m.clone(), from_role.clone(), from.clone()],
            role: role.clone(),
            used: Vec::new(),
            sender_used: Vec::new(),
            rest: Process::Nil,
        };
        Ok(thetas.into_iter().map(step).collect())
    }

    /// Matches the roles of sender and receiver: section 6.1, D16.
    fn same_role(&self, left: &Term, right: &Term, theta: &Subst) -> Option<Subst> {
        match (left.walk(theta), right.walk(theta)) {
            (Term::App(f, xs), Term::App(g, ys))
                if self.instance.options.roles == Roles::Lenient && f == g && xs.len() != ys.len() =>
            {
                Some(theta.clone())
            }
            (left, right) => unify(left, right, theta),
        }
    }

    /// Enters a role, unless it is being entered in this derivation already.
    fn call(
        &self,
        actor: Actor<'_>,
        r: &Term,
        j: &Term,
        theta: &Subst,
        entered: &[String],
    ) -> Bounded<Vec<Step>> {
        let id = Term::App(actor.id.to_string(), Vec::new());
        let Some(theta) = unify(j, &id, theta) else { return Ok(Vec::new()) };
        let variant = text(&Canon::default().term(&r.apply(&theta)));
        if entered.contains(&variant) {
            return Ok(Vec::new());
        }
        self.n_entered.set(self.n_entered.get() + 1);
        if entered.len() >= MAX_NESTED_ROLE_CHANGES || self.n_entered.get() >= MAX_ROLE_CHANGES {
            return Err(OutOfBounds);
        }
        let entered = [entered, &[variant]].concat();
        let mut steps = Vec::new();
        for clause in &self.instance.clauses {
            let base = self.next.get();
            let mut top = base;
            let mut rename = |term: &Term| {
                term.map(&mut |number| {
                    top = top.max(base + number + 1);
                    Term::Var(base + number)
                })
            };
            let (role, head, body) = (rename(&clause.role), rename(&clause.id), clause.body.map(&mut rename));
            self.next.set(top);
            let Some(theta) = unify(&role, r, &theta).and_then(|theta| unify(&head, &id, &theta)) else {
                continue;
            };
            for mut step in self.steps(actor, &body, r, &theta, &entered)? {
                step.rest = in_role(r, step.rest);
                steps.push(step);
            }
        }
        Ok(steps)
    }
}

/// Returns `P par Q`, where `nil` is left out.
fn par(p: Process, q: Process) -> Process {
    match (p, q) {
        (Process::Nil, rest) | (rest, Process::Nil) => rest,
        (p, q) => Process::Par(Box::new(p), Box::new(q)),
    }
}

/// Returns the step in which one part of an agent receives what another part sends.
fn exchanged(sending: &Step, taken: &Step, rest: Process) -> Step {
    Step { kind: Kind::Exchanged, sender_used: sending.used.clone(), rest, ..taken.clone() }
}

/// Returns `{R: P}`, or P itself if it is finished, a frame, or a role call.
fn in_role(role: &Term, process: Process) -> Process {
    match process {
        Process::Nil | Process::Frame(..) | Process::Call(..) => process,
        process => Process::Frame(role.clone(), Box::new(process)),
    }
}
