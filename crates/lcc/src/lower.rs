//! Lowers syntax trees to a checked instance ([`Program`]) whose clauses, facts and rules are terms.

use std::sync::Arc;

use masque_text::{Diagnostic, OptionOverride, ReadLimits, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::entry::{Entry, MemberDef};
use crate::lint::BYTES_PER_DIAGNOSTIC;
use crate::names::Names;
use crate::options::Options;
use crate::program::{AgentDef, ClauseDef, FactDef, Owner, Program, RuleDef};
use crate::symbol::Symbol;
use crate::term::{TermId, Terms};
use crate::tree::{
    Agent, Clause, Constraint, ConstraintKind, Fact, Item, Mail, Member, Proc, ProcKind, RoleDecl, Rule,
    Setting, Term, TermKind, Tree,
};

/// The result of lowering a set of trees.
pub(crate) struct Lowered {
    pub(crate) program: Program,
    pub(crate) terms: Terms,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// Estimated bytes of a program per statement, without its terms.
const BYTES_PER_STATEMENT: u64 = 192;

/// Lowers several files to one instance; unless `is_whole`, the team may be incomplete or empty. If a limit is
/// exceeded, the rest of the statements is missing.
pub(crate) fn lower_part(
    trees: &[Tree],
    options: &[OptionOverride],
    is_whole: bool,
    limits: &ReadLimits,
) -> Lowered {
    lower_from(Lowering::within(limits), trees, options, is_whole)
}

/// Lowers several files. The lowering has no program yet, but may have terms.
pub(crate) fn lower_from(
    mut lowering: Lowering,
    trees: &[Tree],
    options: &[OptionOverride],
    is_whole: bool,
) -> Lowered {
    let items = || trees.iter().flat_map(|tree| &tree.items);
    let roles: Vec<&RoleDecl> =
        items().filter_map(|item| if let Item::Role(role) = item { Some(role) } else { None }).collect();
    let mut members: Vec<Member> = items()
        .filter_map(|item| if let Item::Member(member) = item { Some(member.clone()) } else { None })
        .collect();
    if members.is_empty() && is_whole {
        members = lowering.default_team(&roles);
    }
    for member in &members {
        if !lowering.may_continue() {
            break;
        }
        lowering.member(member);
    }
    let is_cyclic = |decl: &&&RoleDecl| decl.kind.text == "cyclic";
    let cyclic: FxHashSet<&str> =
        roles.iter().filter(is_cyclic).filter_map(|decl| role_name(&decl.role)).collect();
    for item in items() {
        if !lowering.may_continue() {
            break;
        }
        match item {
            Item::Clause(clause) => lowering.clause(clause, &cyclic),
            Item::Fact(_) | Item::Rule(_) | Item::Choice(_) => {
                if let Some(entry) = lowering.entry(item) {
                    lowering.program.add(entry);
                }
            }
            Item::Mail(mail) => lowering.mail(mail),
            Item::Setting(setting) => lowering.setting(setting),
            Item::Now(_)
            | Item::Member(_)
            | Item::Obligation(_)
            | Item::Role(_)
            | Item::Property(_)
            | Item::Import(_) => {}
        }
    }
    let nows: Vec<&Clause> =
        items().filter_map(|item| if let Item::Now(clause) = item { Some(clause) } else { None }).collect();
    lowering.now(&nows);
    // Given options override those in the files; neither kind may be given twice.
    lowering.given_options.clear();
    for OptionOverride { name, value, span } in options {
        lowering.option(name, value, *span);
    }
    if is_whole {
        lowering.team_sizes(&roles, &members);
    }
    if is_whole
        && lowering.program.agents.is_empty()
        && !lowering.diagnostics.iter().any(Diagnostic::is_error)
    {
        let message = "the team is empty: there is no `agent` or `server` statement";
        let diagnostic = match items().find_map(first_span) {
            Some(span) => Diagnostic::error("lcc/no-team", span, message),
            None => Diagnostic::nowhere(masque_text::Severity::Error, "lcc/no-team", message),
        };
        lowering
            .diagnostics
            .push(diagnostic.hint("name each agent and its first role, as in `agent a(buyer, b1).`"));
    }
    lowering.names(trees);
    Lowered { program: lowering.program, terms: lowering.terms, diagnostics: lowering.diagnostics }
}

fn first_span(item: &Item) -> Option<Span> {
    match item {
        Item::Clause(clause) => Some(clause.head.span),
        _ => None,
    }
}

/// The variables of one statement, by name.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    names: FxHashMap<String, u32>,
    n_vars: u32,
    /// The id that `self` stands for.
    this: Option<TermId>,
}

impl Scope {
    /// Makes the scope of a statement in which `self` stands for `this`.
    pub(crate) fn of(this: TermId) -> Scope {
        Scope { this: Some(this), ..Scope::default() }
    }

    /// Declares variables that the statement shares with others, in a scope without variables.
    pub(crate) fn share(&mut self, names: &[String]) {
        for name in names {
            let number = self.fresh();
            self.names.insert(name.clone(), number);
        }
    }

    /// Number of variables so far.
    pub(crate) fn n_vars(&self) -> u32 {
        self.n_vars
    }

    fn fresh(&mut self) -> u32 {
        self.n_vars += 1;
        self.n_vars - 1
    }

    /// Lowers a term.
    pub(crate) fn term(&mut self, terms: &mut Terms, term: &Term) -> TermId {
        match &term.kind {
            TermKind::Anonymous => {
                let number = self.fresh();
                terms.var(number)
            }
            TermKind::Var(name) => {
                let number = match self.names.get(name) {
                    Some(number) => *number,
                    None => {
                        let number = self.fresh();
                        self.names.insert(name.clone(), number);
                        number
                    }
                };
                terms.var(number)
            }
            TermKind::Int(value) => terms.int(*value),
            TermKind::Decimal(value) => terms.make(crate::term::Head::Decimal(*value), &[]),
            TermKind::App(name, args) if args.is_empty() => match self.this {
                Some(this) if name == "self" => this,
                _ => terms.constant(name),
            },
            TermKind::App(name, args) => {
                let args = self.terms(terms, args);
                let symbol = terms.symbols.intern(name);
                terms.app(symbol, &args)
            }
            TermKind::List(items, tail) => {
                let items = self.terms(terms, items);
                let tail = match tail {
                    Some(tail) => self.term(terms, tail),
                    None => terms.app(Symbol::EMPTY, &[]),
                };
                terms.list(&items, tail)
            }
            TermKind::Binary(op, left, right) => {
                let args = [self.term(terms, left), self.term(terms, right)];
                let symbol = match *op {
                    "+" => Symbol::PLUS,
                    "-" => Symbol::MINUS,
                    "*" => Symbol::TIMES,
                    "/" => Symbol::DIVIDE,
                    _ => Symbol::MOD,
                };
                terms.app(symbol, &args)
            }
            TermKind::Negative(inner) => {
                let inner = self.term(terms, inner);
                terms.app(Symbol::NEGATIVE, &[inner])
            }
        }
    }

    fn terms(&mut self, terms: &mut Terms, all: &[Term]) -> Vec<TermId> {
        all.iter().map(|term| self.term(terms, term)).collect()
    }

    fn agent(&mut self, terms: &mut Terms, agent: &Agent) -> [TermId; 2] {
        [self.term(terms, &agent.role), self.term(terms, &agent.id)]
    }

    /// Lowers a constraint to a term.
    pub(crate) fn constraint(&mut self, terms: &mut Terms, constraint: &Constraint) -> TermId {
        match &constraint.kind {
            ConstraintKind::And(parts) => self.chain(terms, parts, Symbol::AND, Self::constraint),
            ConstraintKind::Or(parts) => self.chain(terms, parts, Symbol::OR, Self::constraint),
            ConstraintKind::Not(inner) => {
                let inner = self.constraint(terms, inner);
                terms.app(Symbol::NOT, &[inner])
            }
            ConstraintKind::Atom(term) => self.term(terms, term),
            ConstraintKind::Compare(op, left, right) => {
                let args = [self.term(terms, left), self.term(terms, right)];
                let symbol = match *op {
                    "=" => Symbol::UNIFY,
                    "\\=" => Symbol::DIFFER,
                    "==" => Symbol::SAME,
                    "\\==" => Symbol::NOT_SAME,
                    "<" => Symbol::LESS,
                    ">" => Symbol::GREATER,
                    "=<" => Symbol::AT_MOST,
                    ">=" => Symbol::AT_LEAST,
                    _ => Symbol::IS,
                };
                terms.app(symbol, &args)
            }
            ConstraintKind::Triple(triple) => {
                let args = [
                    self.term(terms, &triple.subject),
                    self.term(terms, &triple.object),
                    self.term(terms, &triple.action),
                ];
                terms.app(if triple.permits { Symbol::PERMIT } else { Symbol::FORBID }, &args)
            }
        }
    }

    /// Lowers a flat chain to a term that nests to the right. Variables are numbered from left to right.
    fn chain<T>(
        &mut self,
        terms: &mut Terms,
        parts: &[T],
        symbol: Symbol,
        one: fn(&mut Self, &mut Terms, &T) -> TermId,
    ) -> TermId {
        let mut parts: Vec<TermId> = parts.iter().map(|part| one(self, terms, part)).collect();
        let last = parts.pop();
        match last {
            Some(last) => parts.into_iter().rev().fold(last, |right, left| terms.app(symbol, &[left, right])),
            None => terms.app(Symbol::NIL, &[]),
        }
    }

    /// Lowers a process to a term.
    pub(crate) fn process(&mut self, terms: &mut Terms, process: &Proc) -> TermId {
        match &process.kind {
            ProcKind::Nil => terms.app(Symbol::NIL, &[]),
            ProcKind::Null => terms.app(Symbol::NULL, &[]),
            ProcKind::Call(agent) => {
                let args = self.agent(terms, agent);
                terms.app(Symbol::CALL, &args)
            }
            ProcKind::Send(message, agent) | ProcKind::Receive(message, agent) => {
                let message = self.term(terms, message);
                let [role, id] = self.agent(terms, agent);
                let is_send = matches!(process.kind, ProcKind::Send(..));
                terms.app(if is_send { Symbol::SEND } else { Symbol::RECEIVE }, &[message, role, id])
            }
            ProcKind::Guarded(step, constraint) => {
                let args = [self.process(terms, step), self.constraint(terms, constraint)];
                terms.app(Symbol::GUARD, &args)
            }
            ProcKind::Then(parts) => self.chain(terms, parts, Symbol::THEN, Self::process),
            ProcKind::Par(parts) => self.chain(terms, parts, Symbol::PAR, Self::process),
            ProcKind::Or(parts) => self.chain(terms, parts, Symbol::EITHER, Self::process),
            ProcKind::Frame(agent, inner) => {
                let role = self.term(terms, &agent.role);
                let inner = self.process(terms, inner);
                terms.app(Symbol::FRAME, &[role, inner])
            }
        }
    }
}

/// A program to which statements are added one by one.
#[derive(Default)]
pub(crate) struct Lowering {
    pub(crate) program: Program,
    pub(crate) terms: Terms,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Locations of the options set so far, by name.
    given_options: FxHashMap<String, Span>,
    /// Indices of the members of the team, by id.
    team: FxHashMap<TermId, usize>,
    limits: ReadLimits,
    /// Bytes of the terms that have been counted.
    counted_bytes: u64,
}

impl Lowering {
    /// Collects the names of the protocol. The ids of default members occur in no statement, so they are
    /// added here.
    fn names(&mut self, trees: &[Tree]) {
        let mut names = Names::new(trees, &mut self.terms);
        for agent in &self.program.agents {
            self.terms.symbol(agent.id).into_iter().for_each(|id| names.add_id(id));
        }
        self.program.names = Arc::new(names);
    }

    /// Starts from nothing, within limits.
    pub(crate) fn within(limits: &ReadLimits) -> Lowering {
        Lowering { limits: limits.clone(), ..Lowering::default() }
    }

    /// Starts from an existing program.
    pub(crate) fn of(program: Program, terms: Terms, limits: &ReadLimits) -> Lowering {
        let team = program.agents.iter().enumerate().map(|(index, agent)| (agent.id, index)).collect();
        let counted_bytes = terms.bytes();
        let limits = limits.clone();
        Lowering { program, terms, team, limits, counted_bytes, ..Lowering::default() }
    }

    /// Counts the memory for one more statement. Returns whether it may be lowered.
    pub(crate) fn may_continue(&mut self) -> bool {
        let bytes = self.terms.bytes();
        let bytes = bytes + self.diagnostics.len() as u64 * BYTES_PER_DIAGNOSTIC;
        let more = bytes.saturating_sub(self.counted_bytes);
        self.counted_bytes = bytes;
        self.limits.charge(more + BYTES_PER_STATEMENT)
    }

    /// Lowers the id of an agent, which must be a constant.
    fn id(&mut self, id: &Term) -> Option<TermId> {
        let term = Scope::default().term(&mut self.terms, id);
        if self.terms.is_ground(term) {
            return Some(term);
        }
        let diagnostic =
            Diagnostic::error("lcc/no-id", id.span, "the id of a member of the team must be a constant")
                .hint("ids begin with a lowercase letter, or are quoted");
        self.diagnostics.push(diagnostic);
        None
    }

    /// Whether a member of the team has this id.
    pub(crate) fn is_member(&self, id: TermId) -> bool {
        self.team.contains_key(&id)
    }

    /// Adds a member to the team, or another first role to a member that is there already.
    pub(crate) fn member(&mut self, member: &Member) {
        let Some(id) = self.id(&member.agent.id) else { return };
        let owner = self.program.owner(id);
        let terms = &mut self.terms;
        let mut scope = Scope::default();
        let [role, _] = scope.agent(terms, &member.agent);
        let call = terms.app(Symbol::CALL, &[role, id]);
        // Several first roles run in parallel, each with variables of its own.
        if let Some(index) = self.team.get(&id) {
            let agent = &mut self.program.agents[*index];
            // The whole process is renumbered.
            self.limits.work(u64::from(terms.size(agent.start)));
            let call = terms.shift(call, terms.n_vars(agent.start));
            let start = terms.app(Symbol::PAR, &[agent.start, call]);
            let start = terms.canonical(start);
            (agent.start, agent.now) = (start, start);
            agent.is_server &= member.is_server;
            return;
        }
        let start = terms.canonical(call);
        let is_server = member.is_server;
        self.team.insert(id, self.program.agents.len());
        self.program.agents.push(AgentDef { id, owner, start, now: start, is_server });
    }

    /// Adds a clause of the protocol. In a cyclic role, the agent enters the role again after the clause.
    fn clause(&mut self, clause: &Clause, cyclic: &FxHashSet<&str>) {
        let Some(mut def) = self.clause_def(clause) else { return };
        let terms = &mut self.terms;
        let Some(functor) = terms.functor(def.role) else { return };
        if cyclic.contains(terms.symbols.name(functor.name)) {
            let call = terms.app(Symbol::CALL, &[def.role, def.id]);
            def.body = terms.app(Symbol::THEN, &[def.body, call]);
        }
        let number = self.program.clauses.len() as u32;
        self.program.by_role.entry(functor).or_default().push(number);
        self.program.clauses.push(def);
    }

    /// Lowers a clause as it is written; `None` if its role has no name.
    pub(crate) fn clause_def(&mut self, clause: &Clause) -> Option<ClauseDef> {
        let terms = &mut self.terms;
        let mut scope = Scope::default();
        let [role, id] = scope.agent(terms, &clause.head);
        let body = scope.process(terms, &clause.body);
        if terms.functor(role).is_none() {
            let diagnostic =
                Diagnostic::error("lcc/no-role", clause.head.role.span, "a role must have a name")
                    .hint("role names begin with a lowercase letter, as in `a(buyer(X), B) :: ..`");
            self.diagnostics.push(diagnostic);
            return None;
        }
        Some(ClauseDef { role, id, body, n_vars: scope.n_vars })
    }

    fn owner(&mut self, owner: &Term) -> Option<Owner> {
        let id = self.id(owner)?;
        Some(self.program.owner(id))
    }

    /// Makes the owner or enforcer of a statement known.
    pub(crate) fn declare_owner(&mut self, item: &Item) {
        let owner = match item {
            Item::Fact(fact) => fact.owner.as_ref(),
            Item::Rule(rule) => Some(&rule.enforcer),
            Item::Choice(choice) => choice.owner.as_ref(),
            Item::Member(member) => Some(&member.agent.id),
            _ => None,
        };
        let n_diagnostics = self.diagnostics.len();
        owner.and_then(|owner| self.owner(owner));
        // A mistake is reported when the statement is lowered.
        self.diagnostics.truncate(n_diagnostics);
    }

    /// Lowers a statement that a session may add and remove; `None` for other statements.
    pub(crate) fn entry(&mut self, item: &Item) -> Option<Entry> {
        match item {
            Item::Clause(clause) => self.clause_def(clause).map(Entry::Clause),
            Item::Member(member) => {
                let id = self.id(&member.agent.id)?;
                let role = Scope::default().term(&mut self.terms, &member.agent.role);
                Some(Entry::Member(MemberDef { role, id, is_server: member.is_server }))
            }
            Item::Fact(fact) => self.fact(fact),
            Item::Rule(rule) => self.rule(rule),
            Item::Choice(choice) => self.choice(choice),
            _ => None,
        }
    }

    fn fact(&mut self, fact: &Fact) -> Option<Entry> {
        let owner = match &fact.owner {
            Some(owner) => Some(self.owner(owner)?),
            None => None,
        };
        let terms = &mut self.terms;
        let mut scope = Scope::default();
        let head = scope.term(terms, &fact.head);
        let body = fact.body.as_ref().map(|body| scope.constraint(terms, body));
        let functor = terms.functor(head)?;
        Some(Entry::Fact(owner, functor, FactDef { head, body, n_vars: scope.n_vars, span: fact.span }))
    }

    fn rule(&mut self, rule: &Rule) -> Option<Entry> {
        let id = self.id(&rule.enforcer)?;
        let enforcer = self.program.owner(id);
        let terms = &mut self.terms;
        let mut scope = Scope::of(id);
        let subject = scope.term(terms, &rule.subject);
        let object = scope.term(terms, &rule.object);
        let action = scope.term(terms, &rule.action);
        let body = rule.body.as_ref().map(|body| scope.constraint(terms, body));
        let functor = terms.functor(action)?;
        let (permits, n_vars, span) = (rule.permits, scope.n_vars, rule.span);
        let rule = RuleDef { enforcer, number: 0, permits, subject, object, action, body, n_vars, span };
        Some(Entry::Rule(functor, rule))
    }

    fn choice(&mut self, choice: &crate::tree::Choice) -> Option<Entry> {
        let owner = match &choice.owner {
            Some(owner) => Some(self.owner(owner)?),
            None => None,
        };
        let name = self.terms.symbols.intern(&choice.name.text);
        Some(Entry::Choice(owner, crate::term::Functor { name, arity: choice.arity as u32 }))
    }

    pub(crate) fn mail(&mut self, mail: &Mail) {
        let terms = &mut self.terms;
        let mut scope = Scope::default();
        let [from_role, from] = scope.agent(terms, &mail.from);
        let [to_role, to] = scope.agent(terms, &mail.to);
        let message = scope.term(terms, &mail.message);
        let mail = terms.app(Symbol::MESSAGE, &[from_role, from, to_role, to, message]);
        let mail = terms.canonical(mail);
        self.program.mail.push(mail);
    }

    fn setting(&mut self, setting: &Setting) {
        self.option(&setting.name.text, &setting.value.text, setting.name.span.to(setting.value.span));
    }

    fn option(&mut self, name: &str, value: &str, span: Span) {
        if let Some(first) = self.given_options.get(name) {
            let message = format!("the option `{name}` is given twice");
            let diagnostic = Diagnostic::error("lcc/duplicate-option", span, message)
                .label("given again here")
                .also(*first, "first given here")
                .hint("remove one of them; `--option NAME=VALUE` overrides the files");
            return self.diagnostics.push(diagnostic);
        }
        self.given_options.insert(name.to_string(), span);
        let mut options: Options = self.program.options;
        match options.set(name, value) {
            Ok(()) => self.program.options = options,
            Err(bad) => {
                let code = if bad.is_name { "lcc/unknown-option" } else { "lcc/option-value" };
                self.diagnostics.push(Diagnostic::error(code, span, bad.message).hint(bad.help));
            }
        }
    }

    /// Sets what remains of the agents' clauses, where the check begins during an interaction.
    pub(crate) fn now(&mut self, nows: &[&Clause]) {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        for clause in nows {
            if !self.may_continue() {
                break;
            }
            let Some(id) = self.id(&clause.head.id) else { continue };
            let owner = self.program.owner(id);
            let terms = &mut self.terms;
            let mut scope = Scope::default();
            let [role, _] = scope.agent(terms, &clause.head);
            let body = scope.process(terms, &clause.body);
            let mut rest = match clause.head.role.kind {
                // The parts have roles of their own.
                TermKind::Anonymous if is_par_of_roles(terms, body) => body,
                _ => crate::step::frame(terms, role, body),
            };
            let is_first = seen.insert(id);
            let Some(agent) = self.team.get(&id).map(|index| &mut self.program.agents[*index]) else {
                let rest = terms.canonical(rest);
                self.team.insert(id, self.program.agents.len());
                self.program.agents.push(AgentDef { id, owner, start: rest, now: rest, is_server: false });
                continue;
            };
            if !is_first {
                self.limits.work(u64::from(terms.size(agent.now)));
                rest = terms.shift(rest, terms.n_vars(agent.now));
                rest = terms.app(Symbol::PAR, &[agent.now, rest]);
            }
            agent.now = terms.canonical(rest);
        }
    }

    /// Makes the members that role declarations ask for, where no file names members.
    fn default_team(&mut self, roles: &[&RoleDecl]) -> Vec<Member> {
        let mut members = Vec::new();
        for decl in roles {
            let Some(name) = role_name(&decl.role) else { continue };
            if !self.limits.charge(decl.n_members() * BYTES_PER_STATEMENT) {
                break;
            }
            for number in 1..=decl.n_members() {
                let id = TermKind::App(format!("{name}{number}"), Vec::new());
                let agent = Agent {
                    role: decl.role.clone(),
                    id: Term { kind: id, span: decl.span },
                    span: decl.span,
                };
                members.push(Member { agent, is_server: false, span: decl.span });
            }
        }
        members
    }

    /// Warns if the team has fewer or more agents in a role than its declaration allows.
    fn team_sizes(&mut self, roles: &[&RoleDecl], members: &[Member]) {
        let mut counts: FxHashMap<&str, u64> = FxHashMap::default();
        for name in members.iter().filter_map(|member| role_name(&member.agent.role)) {
            *counts.entry(name).or_default() += 1;
        }
        for decl in roles {
            let Some(name) = role_name(&decl.role) else { continue };
            let n = counts.get(name).copied().unwrap_or(0);
            let required = match (decl.min, decl.max) {
                (Some(min), _) if n < min => format!("at least {min}"),
                (_, Some(max)) if n > max => format!("at most {max}"),
                _ => continue,
            };
            let message = format!("role `{name}` requires {required} agents at the start, but has {n}");
            self.diagnostics.push(Diagnostic::warning("lcc/team-size", decl.span, message));
        }
    }
}

/// Returns the name of a role or id; `None` for a variable or a number.
pub(crate) fn role_name(role: &Term) -> Option<&str> {
    match &role.kind {
        TermKind::App(name, _) => Some(name),
        _ => None,
    }
}

/// Whether a process consists of roles in parallel, as that of an agent with several first roles does.
fn is_par_of_roles(terms: &Terms, process: TermId) -> bool {
    let (mut is_par, mut left) = (false, vec![process]);
    while let Some(part) = left.pop() {
        match terms.symbol(part) {
            Some(Symbol::PAR) => {
                is_par = true;
                left.extend(terms.args(part));
            }
            Some(Symbol::FRAME | Symbol::CALL) => {}
            _ => return false,
        }
    }
    is_par
}
