//! Computes the steps of one agent: the rules of Figure 9, corrected. [ORW06 Fig. 9]
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
//! P par Q         --tau,c d--> P' par Q'    comm=sync, see below; nil par Q' is Q'
//! ```
//!
//! The gate is the condition that the policies allow the action.
//!
//! The last rule is the paper's rule for τ, and its mirror image. P sends M to a(R,j), in role S; then, with
//! the bindings of that sending, Q receives it, in role T: j is the agent itself, R matches T, and M and the
//! sender a(S,i) unify with what the receipt awaits. Both parts belong to one agent and share its variables,
//! so nothing is copied or renamed, unlike in a handshake of two agents (`handshake.rs`).
//!
//! The paper gives two rules for `A <- C`, which together give every guarded message two different
//! behaviours. `guards=fig9` uses them; by default there is one rule per form. Frames `{R: P}` are our
//! addition: the paper's rule for `A :: B` drops the role, but messages are addressed to roles.

use crate::event_pattern::Wanted;
use crate::obstacle::{Obstacle, ObstacleKind};
use crate::options::{Comm, Guards};
use crate::program::{Owner, Program};
use crate::resolve::{Consulted, Findings, Goal, Resolver, Solution};
use crate::symbol::Symbol;
use crate::system::LabelTerm;
use crate::term::{TermId, Terms};

/// Maximum nesting of operators and role changes in one derivation.
const MAX_NESTING: u32 = 600;
/// Maximum number of nested role changes before a step.
const MAX_NESTED_ROLE_CHANGES: usize = 50;
/// Maximum number of role changes in one situation, all branches together.
const MAX_ROLE_CHANGES: u32 = 1_000;

/// One transition of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Step {
    /// The label, as terms with canonical variables.
    pub(crate) label: LabelTerm,
    /// The message that is sent.
    pub(crate) sent: Option<TermId>,
    /// What remains of the process.
    pub(crate) rest: TermId,
}

/// The transitions of an agent in one local situation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Steps {
    pub(crate) steps: Vec<Step>,
    /// Name of the bound that was exceeded, if any; there may then be more steps.
    pub(crate) cut: Option<&'static str>,
    /// Whether the agent can also receive a message, if a suitable one is under way.
    pub(crate) is_waiting: bool,
    pub(crate) consulted: Box<[Consulted]>,
}

/// A local situation: an agent, its process, and the message that is offered to it, if its receipts are asked
/// for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) actor: Owner,
    pub(crate) process: TermId,
    pub(crate) message: Option<TermId>,
}

/// Computes all transitions of an agent in a situation, each once, in a fixed order.
pub(crate) fn steps(
    program: &Program,
    terms: &mut Terms,
    findings: &mut Findings,
    situation: Situation,
) -> Steps {
    let mut walk = Walk::new(program, terms, findings, situation);
    let no_role = walk.nil();
    walk.process(situation.process, no_role);
    let Walk { resolver, mut found, .. } = walk;
    found.consulted = resolver.consulted.into_iter().collect();
    found
}

/// Puts a process into the frame of a role, unless it is finished, a frame, or a role change (a tail call).
pub(crate) fn frame(terms: &mut Terms, role: TermId, process: TermId) -> TermId {
    match terms.symbol(process) {
        Some(Symbol::NIL | Symbol::FRAME | Symbol::CALL) => process,
        _ => terms.app(Symbol::FRAME, &[role, process]),
    }
}

/// One layer of the process around the part that makes a step.
#[derive(Clone, Copy, Debug)]
enum Context {
    /// The part is followed by this process.
    Then(TermId),
    /// The part is the left operand of `par`; this is the right one.
    ParLeft(TermId),
    /// The part is the right operand of `par`; this is the left one.
    ParRight(TermId),
    /// The part is in this role.
    Frame(TermId),
}

/// The part of a `par` that is offered what the other part sends.
#[derive(Clone, Copy, Debug)]
struct Partner {
    process: TermId,
    role: TermId,
    /// Whether the partner is the left operand of `par`.
    is_left: bool,
    /// Number of layers around the `par`.
    n_layers: usize,
    /// Number of role calls being unfolded around the `par`.
    n_entered: usize,
}

/// Traverses a process and collects its steps.
pub(crate) struct Walk<'a> {
    pub(crate) resolver: Resolver<'a>,
    pub(crate) id: TermId,
    /// The message that is offered. Only its receipts are collected.
    message: Option<TermId>,
    /// The other part of a `par` whose first part is traversed. Only sendings are collected, and each of them
    /// is offered to the partner.
    partner: Option<Partner>,
    /// The constraints of the sending, as a set, if the offered message comes from another part of the agent.
    pub(crate) own_sending: Option<TermId>,
    /// The layers around the current part, the outermost first.
    path: Vec<Context>,
    /// The role calls being unfolded. A role call is not unfolded within itself.
    entered: Vec<TermId>,
    /// Number of role changes so far, all branches together.
    n_entered: u32,
    pub(crate) found: Steps,
    depth: u32,
    /// Whether internal steps are left out, as after the constraint of a role change in Figure 9.
    only_messages: bool,
    /// Why each impossible step cannot be made, if that is asked for.
    pub(crate) obstacles: Option<Vec<Obstacle>>,
    /// The event that the steps must match which are explained.
    pub(crate) event: Option<Wanted>,
}

/// A step whose constraint has not been solved yet.
pub(crate) struct Draft {
    pub(crate) kind: Symbol,
    /// Message, peer's role and peer's id; `nil` for internal steps.
    pub(crate) what: [TermId; 3],
    pub(crate) role: TermId,
    rest: TermId,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        program: &'a Program,
        terms: &'a mut Terms,
        findings: &'a mut Findings,
        situation: Situation,
    ) -> Walk<'a> {
        let id = program.ids[situation.actor.0 as usize];
        let mut resolver = Resolver::new(program, terms, findings, situation.actor);
        resolver.bindings.reset(resolver.terms.n_vars(situation.process));
        let message = situation.message.map(|message| {
            let offset = resolver.bindings.fresh(resolver.terms.n_vars(message));
            resolver.terms.shift(message, offset)
        });
        Walk {
            resolver,
            id,
            message,
            partner: None,
            own_sending: None,
            path: Vec::new(),
            entered: Vec::new(),
            n_entered: 0,
            found: Steps::default(),
            depth: 0,
            only_messages: false,
            obstacles: None,
            event: None,
        }
    }
}

impl Walk<'_> {
    fn terms(&mut self) -> &mut Terms {
        self.resolver.terms
    }

    /// Records that a bound was exceeded.
    fn cut(&mut self, bound: &'static str) {
        self.found.cut.get_or_insert(bound);
    }

    pub(crate) fn nil(&mut self) -> TermId {
        self.terms().app(Symbol::NIL, &[])
    }

    /// Collects the steps of a process in a role.
    pub(crate) fn process(&mut self, process: TermId, role: TermId) {
        if self.depth >= MAX_NESTING {
            return self.cut("unfold");
        }
        self.depth += 1;
        self.process_within(process, role);
        self.depth -= 1;
    }

    fn process_within(&mut self, mut process: TermId, role: TermId) {
        // Alternatives nest to the right and may be numerous, so a loop handles that side.
        while self.resolver.terms.symbol(process) == Some(Symbol::EITHER) {
            let (left, right) = (self.resolver.terms.arg(process, 0), self.resolver.terms.arg(process, 1));
            self.process(left, role);
            process = right;
        }
        let terms = &self.resolver.terms;
        let Some(symbol) = terms.symbol(process) else { return };
        match *terms.args(process) {
            [] if symbol == Symbol::NULL => self.internal(None, role),
            [role, id] if symbol == Symbol::CALL => self.call(role, id),
            [_, _, _] if symbol == Symbol::SEND => self.send(process, None, role),
            [_, _, _] if symbol == Symbol::RECEIVE => self.receive(process, None, role),
            [step, constraint] if symbol == Symbol::GUARD => self.guarded(step, constraint, role),
            [left, right] if symbol == Symbol::THEN => self.within(Context::Then(right), left, role),
            [left, right] if symbol == Symbol::PAR => {
                self.within(Context::ParLeft(right), left, role);
                self.within(Context::ParRight(left), right, role);
                self.exchanges(left, right, role);
            }
            [role, inner] if symbol == Symbol::FRAME => self.within(Context::Frame(role), inner, role),
            _ => {}
        }
    }

    /// Collects the steps of a process inside one more layer.
    fn within(&mut self, context: Context, process: TermId, role: TermId) {
        self.path.push(context);
        self.process(process, role);
        self.path.pop();
    }

    /// Returns what remains of the whole process when the current part becomes `part`.
    fn rest(&mut self, part: TermId) -> TermId {
        self.rest_within(0, part)
    }

    /// Returns what remains of the process inside the outermost `n_layers` layers when the current part becomes
    /// `part`.
    fn rest_within(&mut self, n_layers: usize, part: TermId) -> TermId {
        let nil = self.nil();
        let Walk { resolver, path, .. } = self;
        let terms = &mut *resolver.terms;
        path[n_layers..].iter().rev().fold(part, |part, context| match *context {
            Context::Then(next) if part == nil => next,
            Context::Then(next) => terms.app(Symbol::THEN, &[part, next]),
            Context::ParLeft(other) | Context::ParRight(other) if part == nil => other,
            Context::ParLeft(right) => terms.app(Symbol::PAR, &[part, right]),
            Context::ParRight(left) => terms.app(Symbol::PAR, &[left, part]),
            Context::Frame(role) => frame(terms, role, part),
        })
    }

    /// Collects the steps of `A <- C`.
    fn guarded(&mut self, step: TermId, constraint: TermId, role: TermId) {
        let symbol = self.resolver.terms.symbol(step);
        if self.resolver.program.options.guards == Guards::Fig9 {
            self.fig9_constraint_step(step, constraint, role);
        }
        match symbol {
            Some(Symbol::SEND) => self.send(step, Some(constraint), role),
            Some(Symbol::RECEIVE) => self.receive(step, Some(constraint), role),
            _ if self.resolver.program.options.guards == Guards::Fig9 => {
                self.fig9_role_change(step, constraint, role)
            }
            Some(Symbol::CALL) => {
                let rest = self.rest(step);
                self.guarded_internal(constraint, role, rest);
            }
            _ => self.internal(Some(constraint), role),
        }
    }

    /// Applies the paper's first rule for `A <- C`: an internal step to A, once for each literal of C.
    fn fig9_constraint_step(&mut self, step: TermId, constraint: TermId, role: TermId) {
        if !self.collects_internal_steps() {
            return;
        }
        let rest = self.rest(step);
        let draft = self.internal_draft(role, rest);
        let (solutions, is_complete) = self.solve(&draft, &[Goal::Guard(constraint)]);
        for solution in solutions {
            for literal in &solution.used {
                let one = Solution { payload: solution.payload, used: vec![*literal] };
                self.add_step(draft.kind, &one);
            }
        }
        self.record_completeness(is_complete);
    }

    /// Applies the paper's second rule for `A <- C` to a role change A: if C holds, `A <- C` has the sendings
    /// and receipts of A.
    fn fig9_role_change(&mut self, step: TermId, constraint: TermId, role: TermId) {
        if self.resolver.terms.symbol(step) != Some(Symbol::CALL) {
            return;
        }
        let before = std::mem::replace(&mut self.only_messages, true);
        self.for_each_solution(&[Goal::Guard(constraint)], |walk, _| walk.process(step, role));
        self.only_messages = before;
    }

    /// Calls `visit` with the literals used by each solution of the goals, while its bindings are in place.
    fn for_each_solution(&mut self, goals: &[Goal], mut visit: impl FnMut(&mut Self, &[TermId])) {
        let n_vars = self.resolver.bindings.fresh(0);
        let vars: Vec<TermId> = (0..n_vars).map(|number| self.terms().var(number)).collect();
        let tuple = self.terms().app(Symbol::SET, &vars);
        let (solutions, is_complete) = self.resolver.solutions(goals, tuple);
        self.record_completeness(is_complete);
        for Solution { payload, used } in solutions {
            let mark = self.resolver.bindings.mark();
            let n_needed = used.iter().chain([&payload]).map(|term| self.resolver.terms.n_vars(*term)).max();
            self.resolver.bindings.fresh(n_needed.unwrap_or(0).saturating_sub(n_vars));
            if self.resolver.terms.unify(tuple, payload, &mut self.resolver.bindings) {
                visit(self, &used);
            }
            self.resolver.bindings.undo(mark);
        }
    }

    /// Collects the handshakes of the two parts of a `par`.
    fn exchanges(&mut self, left: TermId, right: TermId, role: TermId) {
        if self.resolver.program.options.comm != Comm::Sync
            || self.message.is_some()
            || self.partner.is_some()
        {
            return;
        }
        for (sender, process, is_left) in [(left, right, false), (right, left, true)] {
            let (n_layers, n_entered) = (self.path.len(), self.entered.len());
            self.partner = Some(Partner { process, role, is_left, n_layers, n_entered });
            self.process(sender, role);
            self.partner = None;
        }
    }

    /// Offers each solution of a sending to the other part of a `par`.
    fn offer(&mut self, partner: Partner, draft: &Draft, goals: &[Goal]) {
        let path = self.path.split_off(partner.n_layers);
        let entered = self.entered.split_off(partner.n_entered);
        let nil = self.nil();
        if draft.rest != nil {
            let context = if partner.is_left { Context::ParLeft } else { Context::ParRight };
            self.path.push(context(draft.rest));
        }
        self.partner = None;
        let [message, to_role, to] = draft.what;
        let message = [draft.role, self.id, to_role, to, message];
        self.message = Some(self.terms().app(Symbol::MESSAGE, &message));
        self.for_each_solution(goals, |walk, used| {
            let is_shown = walk.resolver.program.options.guards != Guards::Fig9;
            let used = if is_shown { used } else { &[] };
            walk.own_sending = Some(walk.terms().app(Symbol::SET, used));
            walk.process(partner.process, partner.role);
        });
        (self.message, self.own_sending, self.partner) = (None, None, Some(partner));
        self.path.truncate(partner.n_layers);
        self.path.extend(path);
        self.entered.extend(entered);
    }

    /// Adds the step of `null`, with or without a constraint.
    fn internal(&mut self, constraint: Option<TermId>, role: TermId) {
        if !self.collects_internal_steps() {
            return;
        }
        let nil = self.nil();
        let rest = self.rest(nil);
        match constraint {
            Some(constraint) => self.guarded_internal(constraint, role, rest),
            None => {
                let draft = self.internal_draft(role, rest);
                self.finish(&draft, &[]);
            }
        }
    }

    /// Adds an internal step that a constraint allows.
    fn guarded_internal(&mut self, constraint: TermId, role: TermId, rest: TermId) {
        if self.collects_internal_steps() {
            let draft = self.internal_draft(role, rest);
            self.finish(&draft, &[Goal::Guard(constraint)]);
        }
    }

    /// Whether internal steps are collected.
    fn collects_internal_steps(&self) -> bool {
        self.message.is_none() && self.partner.is_none() && !self.only_messages
    }

    fn internal_draft(&mut self, role: TermId, rest: TermId) -> Draft {
        let nil = self.nil();
        Draft { kind: Symbol::INTERNAL, what: [nil; 3], role, rest }
    }

    /// Adds the sending of a message.
    fn send(&mut self, step: TermId, constraint: Option<TermId>, role: TermId) {
        if self.message.is_some() {
            return;
        }
        let what = self.exchange(step);
        let nil = self.nil();
        let rest = self.rest_within(self.partner.map_or(0, |partner| partner.n_layers), nil);
        let name = self.terms().symbols.intern("send");
        let action = self.terms().app(name, &what[..1]);
        let gate = Goal::Allowed(what[2], action);
        let draft = Draft { kind: Symbol::SENT, what, role, rest };
        let goals: Vec<Goal> = constraint.map(Goal::Guard).into_iter().chain([gate]).collect();
        match self.partner {
            Some(partner) => self.offer(partner, &draft, &goals),
            None => self.finish(&draft, &goals),
        }
    }

    /// Returns the message, the role and the id of a sending or receipt.
    fn exchange(&self, step: TermId) -> [TermId; 3] {
        let terms = &self.resolver.terms;
        [0, 1, 2].map(|index| terms.arg(step, index))
    }

    /// Adds the receipt of the offered message, if it matches.
    fn receive(&mut self, step: TermId, constraint: Option<TermId>, role: TermId) {
        if self.partner.is_some() {
            return;
        }
        self.found.is_waiting = true;
        if self.obstacles.is_some() && self.own_sending.is_none() {
            let [message, role, peer] = self
                .exchange(step)
                .map(|term| self.resolver.terms.resolve(term, &self.resolver.bindings))
                .map(|term| self.resolver.terms.shape(term));
            let who = self.resolver.program.name(self.resolver.terms, self.resolver.actor);
            let text = format!("{who} waits for {message} from a({role}, {peer})");
            self.add_obstacle(Obstacle { kind: ObstacleKind::NoMessage, text, rules: Vec::new() });
        }
        let Some(offered) = self.message else { return };
        let [message, peer_role, peer] = self.exchange(step);
        let terms = &self.resolver.terms;
        let [from_role, from, to_role, to, content] = [0, 1, 2, 3, 4].map(|index| terms.arg(offered, index));
        let mark = self.resolver.bindings.mark();
        if self.resolver.terms.unify(to, self.id, &mut self.resolver.bindings)
            && self.resolver.match_roles(to_role, role)
            && self.resolver.terms.unify(peer, from, &mut self.resolver.bindings)
            && self.resolver.match_roles(peer_role, from_role)
            && self.resolver.terms.unify(message, content, &mut self.resolver.bindings)
        {
            let nil = self.nil();
            let rest = self.rest(nil);
            let name = self.terms().symbols.intern("receive");
            let action = self.terms().app(name, &[message]);
            let gate = Goal::Allowed(peer, action);
            let draft = Draft { kind: Symbol::TAKEN, what: [message, from_role, from], role, rest };
            match constraint {
                Some(constraint) => self.finish(&draft, &[gate, Goal::Guard(constraint)]),
                None => self.finish(&draft, &[gate]),
            }
        }
        self.resolver.bindings.undo(mark);
    }

    /// Enters a role. Each of its clauses is an alternative.
    fn call(&mut self, role: TermId, id: TermId) {
        let before = self.resolver.bindings.mark();
        if !self.resolver.terms.unify(id, self.id, &mut self.resolver.bindings) {
            return self.resolver.bindings.undo(before);
        }
        let resolved = self.resolver.terms.resolve(role, &self.resolver.bindings);
        let variant = self.resolver.terms.canonical(resolved);
        if self.entered.len() >= MAX_NESTED_ROLE_CHANGES || self.n_entered >= MAX_ROLE_CHANGES {
            self.cut("unfold");
        } else if !self.entered.contains(&variant) {
            self.entered.push(variant);
            self.n_entered += 1;
            let program = self.resolver.program;
            let all: Vec<u32>;
            let clauses: &[u32] = match self.resolver.terms.functor(resolved) {
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
        self.resolver.bindings.undo(before);
    }

    /// Collects the steps of one clause of a role.
    fn enter(&mut self, clause: u32, role: TermId) {
        let clause = &self.resolver.program.clauses[clause as usize];
        let mark = self.resolver.bindings.mark();
        let offset = self.resolver.bindings.fresh(clause.n_vars);
        let head = self.terms().shift(clause.role, offset);
        let id = self.terms().shift(clause.id, offset);
        let own = self.id;
        if self.resolver.terms.unify(head, role, &mut self.resolver.bindings)
            && self.resolver.terms.unify(id, own, &mut self.resolver.bindings)
        {
            let body = self.terms().shift(clause.body, offset);
            self.within(Context::Frame(role), body, role);
        }
        self.resolver.bindings.undo(mark);
    }

    fn solve(&mut self, draft: &Draft, goals: &[Goal]) -> (Vec<Solution>, bool) {
        let [what, peer_role, peer] = draft.what;
        let nil = self.nil();
        let own_sending = self.own_sending.unwrap_or(nil);
        let parts = [what, peer_role, peer, draft.role, draft.rest, own_sending];
        let payload = self.terms().app(Symbol::SET, &parts);
        self.resolver.solutions(goals, payload)
    }

    /// Records an exceeded bound if the solutions are not complete.
    fn record_completeness(&mut self, is_complete: bool) {
        if !is_complete {
            self.cut("sld");
        }
    }

    /// Adds a step for each solution of the goals, or the reason why there is none.
    fn finish(&mut self, draft: &Draft, goals: &[Goal]) {
        let (solutions, is_complete) = self.solve(draft, goals);
        self.record_completeness(is_complete);
        if self.obstacles.is_some() {
            self.explain_draft(draft, goals, solutions.is_empty());
        }
        for mut solution in solutions {
            // In Figure 9, the label of a guarded step does not show its constraint.
            if self.resolver.program.options.guards == Guards::Fig9 {
                solution.used.clear();
            }
            self.add_step(draft.kind, &solution);
        }
    }

    /// Adds a step, unless it exceeds a bound or is there already.
    fn add_step(&mut self, kind: Symbol, solution: &Solution) {
        let id = self.id;
        let is_handshake = self.own_sending.is_some();
        let options = &self.resolver.program.options;
        let terms = &mut *self.resolver.terms;
        let [what, peer_role, peer, role, rest, own_sending] =
            [0, 1, 2, 3, 4, 5].map(|index| terms.arg(solution.payload, index));
        let rest = terms.canonical(rest);
        let mut cut = (terms.size(rest) > options.psize).then_some("psize");
        if (kind == Symbol::SENT || is_handshake) && terms.depth(what) > options.depth {
            cut = Some("depth");
        }
        if let Some(bound) = cut {
            return self.cut(bound);
        }
        let sent = (kind == Symbol::SENT).then(|| {
            let message = terms.app(Symbol::MESSAGE, &[role, id, peer_role, peer, what]);
            terms.canonical(message)
        });
        let used = annotation(terms, &solution.used);
        let label = terms.app(kind, &[what, peer_role, peer, role, id, used]);
        let label = terms.canonical(label);
        let label = if is_handshake {
            let used = terms.args(own_sending).to_vec();
            let used = annotation(terms, &used);
            let sending = terms.app(Symbol::SENT, &[what, role, id, peer_role, peer, used]);
            LabelTerm::Tau(terms.canonical(sending), label)
        } else {
            LabelTerm::Own(label)
        };
        let step = Step { label, sent, rest };
        if !self.found.steps.contains(&step) {
            self.found.steps.push(step);
        }
    }
}

/// Returns the literals of a guard as a set: in the order of their text, without duplicates.
pub(crate) fn annotation(terms: &mut Terms, used: &[TermId]) -> TermId {
    let mut literals: Vec<(String, TermId)> = used.iter().map(|term| (terms.shape(*term), *term)).collect();
    literals.sort_by(|left, right| left.0.cmp(&right.0));
    let mut set: Vec<TermId> = literals.into_iter().map(|(_, term)| term).collect();
    set.dedup();
    terms.app(Symbol::SET, &set)
}
