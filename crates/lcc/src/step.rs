//! What one agent can do next: the rules of Figure 9, corrected. [ORW06 Fig. 9]
//!
//! ```text
//! null <- C       --#,c-->   nil            (θ,c) in sat(C)
//! (M=>A) <- C     --out,c--> nil            (θ,c) in sat(C), then the gate on Mθ
//! (M<=A) <- C     --in,c-->  nil            the message first, then (θ,c) in sat(C)
//! a(R,i) <- C     --#,c-->   a(R,i)         (θ,c) in sat(C): a commitment
//! a(R,i)          --x,c-->   E              if {R: B} --x,c--> E for a clause a(R,i)::B
//! {R: P}          --x,c-->   {R: P'}        nil if P'=nil; P' if it is a frame or a role call
//! P then Q        --x,c-->   Q or P' then Q
//! P or Q, P par Q                           either side
//! ```
//!
//! The paper gives two rules for `A <- C`, which together make every guarded message two different
//! behaviours; `guards=fig9` has them, by default there is one rule per form. Frames are ours: the
//! paper's rule for `A :: B` forgets the role, but messages are addressed to roles.

use crate::blame::why_not;
use crate::options::Guards;
use crate::program::{Owner, Program};
use crate::resolve::{Answer, Consulted, Findings, Goal, Machine};
use crate::symbol::Symbol;
use crate::term::{TermId, Terms};

/// Operators and role changes may nest this deep in one derivation.
const DEEPEST: u32 = 600;
/// Role changes within role changes, before any step.
const UNFOLDINGS: usize = 50;
/// Role changes in one situation: they may branch.
const ENTRIES: u32 = 1_000;

/// One transition of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// The label, as a term with canonical variables.
    pub(crate) label: TermId,
    /// The message that is sent.
    pub(crate) sent: Option<TermId>,
    /// What remains of the process.
    pub(crate) rest: TermId,
}

/// The transitions of an agent in one local situation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    /// The bound beyond which there may be more.
    pub(crate) cut: Option<&'static str>,
    /// Whether the agent stands before a receipt, too.
    pub(crate) is_waiting: bool,
    pub(crate) consulted: Box<[Consulted]>,
}

/// The agent, its process, and the message that is offered to it, if its receipts are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) actor: Owner,
    pub(crate) process: TermId,
    pub(crate) message: Option<TermId>,
}

/// All transitions of an agent in a situation, each once, in a fixed order.
pub(crate) fn steps(program: &Program, terms: &mut Terms, findings: &mut Findings, at: Situation) -> Steps {
    let mut walk = Walk::new(program, terms, findings, at);
    let nowhere = walk.nil();
    walk.process(at.process, nowhere);
    let Walk { machine, mut found, .. } = walk;
    found.consulted = machine.consulted.into_iter().collect();
    found
}

/// Why an agent can do nothing by itself: for each step it stands before, what is missing.
pub(crate) fn why_stuck(program: &Program, terms: &mut Terms, at: Situation) -> Vec<String> {
    let mut findings = Findings::default();
    let mut walk = Walk::new(program, terms, &mut findings, at);
    walk.reasons = Some(Vec::new());
    let nowhere = walk.nil();
    walk.process(at.process, nowhere);
    walk.reasons.unwrap_or_default()
}

/// The process in a role: a finished one has none, and a role change is a tail call.
pub(crate) fn frame(terms: &mut Terms, role: TermId, process: TermId) -> TermId {
    match terms.symbol(process) {
        Some(Symbol::NIL | Symbol::FRAME | Symbol::CALL) => process,
        _ => terms.app(Symbol::FRAME, &[role, process]),
    }
}

/// What stands around the part of a process that makes a step.
#[derive(Clone, Copy, Debug)]
enum Around {
    Then(TermId),
    ParWith(TermId),
    BesidePar(TermId),
    Frame(TermId),
}

struct Walk<'a> {
    machine: Machine<'a>,
    id: TermId,
    message: Option<TermId>,
    path: Vec<Around>,
    /// The role calls being unfolded: none is unfolded within itself.
    entered: Vec<TermId>,
    n_entered: u32,
    found: Steps,
    depth: u32,
    /// Internal steps do not count: behind a constraint that counts as none (Figure 9).
    only_messages: bool,
    /// What stands in the way of each step that cannot be made, if that is asked for.
    reasons: Option<Vec<String>>,
}

/// A step as it is being made: variables are replaced when its constraint is solved.
struct Draft {
    kind: Symbol,
    /// Message, peer's role and peer's id; for internal steps nothing.
    what: [TermId; 3],
    role: TermId,
    rest: TermId,
}

impl<'a> Walk<'a> {
    fn new(
        program: &'a Program,
        terms: &'a mut Terms,
        findings: &'a mut Findings,
        at: Situation,
    ) -> Walk<'a> {
        let id = program.ids[at.actor.0 as usize];
        let mut machine = Machine::new(program, terms, findings, at.actor);
        machine.bindings.reset(machine.terms.n_vars(at.process));
        let message = at.message.map(|message| {
            let offset = machine.bindings.fresh(machine.terms.n_vars(message));
            machine.terms.shift(message, offset)
        });
        Walk {
            machine,
            id,
            message,
            path: Vec::new(),
            entered: Vec::new(),
            n_entered: 0,
            found: Steps::default(),
            depth: 0,
            only_messages: false,
            reasons: None,
        }
    }
}

impl Walk<'_> {
    fn terms(&mut self) -> &mut Terms {
        self.machine.terms
    }

    fn cut(&mut self, bound: &'static str) {
        self.found.cut.get_or_insert(bound);
    }

    fn nil(&mut self) -> TermId {
        self.terms().app(Symbol::NIL, &[])
    }

    /// The steps of a process in a role.
    fn process(&mut self, process: TermId, role: TermId) {
        if self.depth >= DEEPEST {
            return self.cut("unfold");
        }
        self.depth += 1;
        self.process_within(process, role);
        self.depth -= 1;
    }

    fn process_within(&mut self, mut process: TermId, role: TermId) {
        // Alternatives nest to the right and may be many: that side is a loop.
        while self.machine.terms.symbol(process) == Some(Symbol::EITHER) {
            let (left, right) = (self.machine.terms.arg(process, 0), self.machine.terms.arg(process, 1));
            self.process(left, role);
            process = right;
        }
        let terms = &self.machine.terms;
        let Some(symbol) = terms.symbol(process) else { return };
        match *terms.args(process) {
            [] if symbol == Symbol::NULL => self.internal(None, role),
            [role, id] if symbol == Symbol::CALL => self.call(role, id),
            [_, _, _] if symbol == Symbol::SEND => self.send(process, None, role),
            [_, _, _] if symbol == Symbol::RECEIVE => self.receive(process, None, role),
            [step, constraint] if symbol == Symbol::GUARD => self.guarded(step, constraint, role),
            [left, right] if symbol == Symbol::THEN => self.within(Around::Then(right), left, role),
            [left, right] if symbol == Symbol::PAR => {
                self.within(Around::ParWith(right), left, role);
                self.within(Around::BesidePar(left), right, role);
            }
            [role, inner] if symbol == Symbol::FRAME => self.within(Around::Frame(role), inner, role),
            _ => {}
        }
    }

    fn within(&mut self, around: Around, process: TermId, role: TermId) {
        self.path.push(around);
        self.process(process, role);
        self.path.pop();
    }

    /// What remains of the whole process when the part at hand becomes `part`.
    fn rest(&mut self, part: TermId) -> TermId {
        let nil = self.nil();
        let Walk { machine, path, .. } = self;
        let terms = &mut *machine.terms;
        path.iter().rev().fold(part, |part, around| match *around {
            Around::Then(next) if part == nil => next,
            Around::Then(next) => terms.app(Symbol::THEN, &[part, next]),
            Around::ParWith(other) | Around::BesidePar(other) if part == nil => other,
            Around::ParWith(right) => terms.app(Symbol::PAR, &[part, right]),
            Around::BesidePar(left) => terms.app(Symbol::PAR, &[left, part]),
            Around::Frame(role) => frame(terms, role, part),
        })
    }

    fn guarded(&mut self, step: TermId, constraint: TermId, role: TermId) {
        let symbol = self.machine.terms.symbol(step);
        if self.machine.program.options.guards == Guards::Fig9 {
            self.constraint_alone(step, constraint, role);
        }
        match symbol {
            Some(Symbol::SEND) => self.send(step, Some(constraint), role),
            Some(Symbol::RECEIVE) => self.receive(step, Some(constraint), role),
            _ if self.machine.program.options.guards == Guards::Fig9 => {
                self.call_behind(step, constraint, role)
            }
            Some(Symbol::CALL) => {
                let rest = self.rest(step);
                self.commit(constraint, role, rest);
            }
            _ => self.internal(Some(constraint), role),
        }
    }

    /// `A <- C` becomes A, by each literal of C in turn: the paper's first rule.
    fn constraint_alone(&mut self, step: TermId, constraint: TermId, role: TermId) {
        if self.message.is_some() || self.only_messages {
            return;
        }
        let rest = self.rest(step);
        let draft = self.internal_draft(role, rest);
        let (answers, is_complete) = self.solve(&draft, &[Goal::Guard(constraint)]);
        for answer in answers {
            for literal in &answer.used {
                let one = Answer { payload: answer.payload, used: vec![*literal] };
                self.add(draft.kind, &one);
            }
        }
        self.bounded(is_complete);
    }

    /// `A <- C` does what A does, if C holds and it is a message: the paper's second rule, for a
    /// change of role.
    fn call_behind(&mut self, step: TermId, constraint: TermId, role: TermId) {
        if self.machine.terms.symbol(step) != Some(Symbol::CALL) {
            return;
        }
        let n_vars = self.machine.bindings.fresh(0);
        let vars: Vec<TermId> = (0..n_vars).map(|number| self.terms().var(number)).collect();
        let tuple = self.terms().app(Symbol::SET, &vars);
        let (answers, is_complete) = self.machine.answers(&[Goal::Guard(constraint)], tuple);
        self.bounded(is_complete);
        let before = std::mem::replace(&mut self.only_messages, true);
        for answer in answers {
            let mark = self.machine.bindings.mark();
            let needed = self.machine.terms.n_vars(answer.payload).saturating_sub(n_vars);
            self.machine.bindings.fresh(needed);
            if self.machine.terms.unify(tuple, answer.payload, &mut self.machine.bindings) {
                self.process(step, role);
            }
            self.machine.bindings.undo(mark);
        }
        self.only_messages = before;
    }

    /// `null`, with or without a constraint.
    fn internal(&mut self, constraint: Option<TermId>, role: TermId) {
        if self.message.is_some() || self.only_messages {
            return;
        }
        let nil = self.nil();
        let rest = self.rest(nil);
        match constraint {
            Some(constraint) => self.commit(constraint, role, rest),
            None => {
                let draft = self.internal_draft(role, rest);
                self.finish(&draft, &[]);
            }
        }
    }

    /// An internal step that a constraint allows.
    fn commit(&mut self, constraint: TermId, role: TermId, rest: TermId) {
        if self.message.is_none() && !self.only_messages {
            let draft = self.internal_draft(role, rest);
            self.finish(&draft, &[Goal::Guard(constraint)]);
        }
    }

    fn internal_draft(&mut self, role: TermId, rest: TermId) -> Draft {
        let nil = self.nil();
        Draft { kind: Symbol::INTERNAL, what: [nil; 3], role, rest }
    }

    fn send(&mut self, step: TermId, constraint: Option<TermId>, role: TermId) {
        if self.message.is_some() {
            return;
        }
        let what = self.exchange(step);
        let nil = self.nil();
        let rest = self.rest(nil);
        let name = self.terms().symbols.intern("send");
        let action = self.terms().app(name, &what[..1]);
        let gate = Goal::Gate(what[2], action);
        let draft = Draft { kind: Symbol::SENT, what, role, rest };
        match constraint {
            Some(constraint) => self.finish(&draft, &[Goal::Guard(constraint), gate]),
            None => self.finish(&draft, &[gate]),
        }
    }

    fn exchange(&self, step: TermId) -> [TermId; 3] {
        let terms = &self.machine.terms;
        [0, 1, 2].map(|at| terms.arg(step, at))
    }

    /// Takes the message that is offered, if it fits.
    fn receive(&mut self, step: TermId, constraint: Option<TermId>, role: TermId) {
        self.found.is_waiting = true;
        if self.reasons.is_some() {
            let [message, role, peer] = self
                .exchange(step)
                .map(|term| self.machine.terms.resolve(term, &self.machine.bindings))
                .map(|term| self.machine.terms.shape(term));
            let who = self.machine.program.name(self.machine.terms, self.machine.actor);
            self.note(Some(format!("{who} waits for {message} from a({role}, {peer})")));
        }
        let Some(offered) = self.message else { return };
        let [message, peer_role, peer] = self.exchange(step);
        let terms = &self.machine.terms;
        let [from_role, from, to_role, to, content] = [0, 1, 2, 3, 4].map(|at| terms.arg(offered, at));
        let mark = self.machine.bindings.mark();
        if self.machine.terms.unify(to, self.id, &mut self.machine.bindings)
            && self.machine.match_roles(to_role, role)
            && self.machine.terms.unify(peer, from, &mut self.machine.bindings)
            && self.machine.match_roles(peer_role, from_role)
            && self.machine.terms.unify(message, content, &mut self.machine.bindings)
        {
            let nil = self.nil();
            let rest = self.rest(nil);
            let name = self.terms().symbols.intern("receive");
            let action = self.terms().app(name, &[message]);
            let gate = Goal::Gate(peer, action);
            let draft = Draft { kind: Symbol::TAKEN, what: [message, from_role, from], role, rest };
            match constraint {
                Some(constraint) => self.finish(&draft, &[gate, Goal::Guard(constraint)]),
                None => self.finish(&draft, &[gate]),
            }
        }
        self.machine.bindings.undo(mark);
    }

    /// Enters a role: each clause for it is an alternative.
    fn call(&mut self, role: TermId, id: TermId) {
        let before = self.machine.bindings.mark();
        if !self.machine.terms.unify(id, self.id, &mut self.machine.bindings) {
            return self.machine.bindings.undo(before);
        }
        let resolved = self.machine.terms.resolve(role, &self.machine.bindings);
        let variant = self.machine.terms.canonical(resolved);
        if self.entered.len() >= UNFOLDINGS || self.n_entered >= ENTRIES {
            self.cut("unfold");
        } else if !self.entered.contains(&variant) {
            self.entered.push(variant);
            self.n_entered += 1;
            let program = self.machine.program;
            let all: Vec<u32>;
            let clauses: &[u32] = match self.machine.terms.functor(resolved) {
                Some(functor) => program.by_role.get(&functor).map_or(&[], Vec::as_slice),
                None => {
                    all = (0..program.clauses.len() as u32).collect();
                    &all
                }
            };
            for number in clauses {
                self.enter(*number, role);
            }
            self.entered.pop();
        }
        self.machine.bindings.undo(before);
    }

    fn enter(&mut self, clause: u32, role: TermId) {
        let clause = &self.machine.program.clauses[clause as usize];
        let mark = self.machine.bindings.mark();
        let offset = self.machine.bindings.fresh(clause.n_vars);
        let head = self.terms().shift(clause.role, offset);
        let id = self.terms().shift(clause.id, offset);
        let own = self.id;
        if self.machine.terms.unify(head, role, &mut self.machine.bindings)
            && self.machine.terms.unify(id, own, &mut self.machine.bindings)
        {
            let body = self.terms().shift(clause.body, offset);
            self.within(Around::Frame(role), body, role);
        }
        self.machine.bindings.undo(mark);
    }

    fn solve(&mut self, draft: &Draft, goals: &[Goal]) -> (Vec<Answer>, bool) {
        let [what, peer_role, peer] = draft.what;
        let payload = self.terms().app(Symbol::SET, &[what, peer_role, peer, draft.role, draft.rest]);
        self.machine.answers(goals, payload)
    }

    fn bounded(&mut self, is_complete: bool) {
        if !is_complete {
            self.cut("sld");
        }
    }

    /// Adds a step for each answer to the goals.
    fn finish(&mut self, draft: &Draft, goals: &[Goal]) {
        let (answers, is_complete) = self.solve(draft, goals);
        self.bounded(is_complete);
        if answers.is_empty() && self.reasons.is_some() {
            let reason = why_not(&mut self.machine, goals);
            self.note(reason);
        }
        for mut answer in answers {
            // To the letter of Figure 9, what happens behind a constraint shows nothing of it.
            if self.machine.program.options.guards == Guards::Fig9 {
                answer.used.clear();
            }
            self.add(draft.kind, &answer);
        }
    }

    fn note(&mut self, reason: Option<String>) {
        if let (Some(reasons), Some(reason)) = (&mut self.reasons, reason)
            && !reasons.contains(&reason)
        {
            reasons.push(reason);
        }
    }

    fn add(&mut self, kind: Symbol, answer: &Answer) {
        let id = self.id;
        let terms = &mut *self.machine.terms;
        let [what, peer_role, peer, role, rest] = [0, 1, 2, 3, 4].map(|at| terms.arg(answer.payload, at));
        let rest = terms.canonical(rest);
        let options = &self.machine.program.options;
        let mut cut = None;
        if terms.size(rest) > options.psize {
            cut = Some("psize");
        }
        let mut sent = None;
        if kind == Symbol::SENT {
            let message = terms.app(Symbol::MESSAGE, &[role, id, peer_role, peer, what]);
            let message = terms.canonical(message);
            if terms.depth(terms.arg(message, 4)) > options.depth {
                cut = Some("depth");
            }
            sent = Some(message);
        }
        if let Some(bound) = cut {
            return self.cut(bound);
        }
        let annotation = annotation(terms, &answer.used);
        let label = terms.app(kind, &[what, peer_role, peer, role, id, annotation]);
        let step = Step { label: terms.canonical(label), sent, rest };
        if !self.found.steps.contains(&step) {
            self.found.steps.push(step);
        }
    }
}

/// The literals of a guard as a set: in the order of their text, each once.
pub(crate) fn annotation(terms: &mut Terms, used: &[TermId]) -> TermId {
    let mut literals: Vec<(String, TermId)> = used.iter().map(|term| (terms.shape(*term), *term)).collect();
    literals.sort_by(|left, right| left.0.cmp(&right.0));
    let mut set: Vec<TermId> = literals.into_iter().map(|(_, term)| term).collect();
    set.dedup();
    terms.app(Symbol::SET, &set)
}
