//! The vocabulary of formulas about protocols: action patterns and state atoms.

use masque_mu::{AtomId, BindingId, PatternId, Vocabulary};
use masque_text::{Diagnostic, Span, did_you_mean};

use crate::lower::Scope;
use crate::parser::parse_action;
use crate::symbol::Symbol;
use crate::system::{LabelTerm, System};
use crate::term::{Bindings, Functor, TermId};
use crate::tree::Term;

/// The kind of labels that a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    Sent,
    Taken,
    Internal,
    /// Any label whose annotation contains a literal.
    Literal,
    Tau,
}

/// A primitive action pattern. The variables of all parts are numbered together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    about: About,
    /// Message, then peer's role and id; or the literal; or message, sender and receiver.
    terms: Vec<Option<TermId>>,
    /// Role of the acting agent, if given.
    by_role: Option<TermId>,
    /// Id of the acting agent, if given.
    by: Option<TermId>,
    n_vars: u32,
    /// Number of variables that the pattern shares with others, which have the lowest numbers.
    n_shared: u32,
}

impl Pattern {
    /// Makes the pattern of the act of an obligation: `out(..)`, `in(..)` or `#(..)` with these terms. The
    /// acting agent is given by its role and id, by its id alone, or not at all.
    pub(crate) fn of_act(
        word: &str,
        terms: &[TermId],
        by: &[TermId],
        [n_vars, n_shared]: [u32; 2],
    ) -> Pattern {
        let about = match word {
            "out" => About::Sent,
            "in" => About::Taken,
            _ => About::Literal,
        };
        let (by_role, by) = match by {
            [role, id] => (Some(*role), Some(*id)),
            [id] => (None, Some(*id)),
            _ => (None, None),
        };
        Pattern { about, terms: terms.iter().copied().map(Some).collect(), by_role, by, n_vars, n_shared }
    }

    /// Whether only receipts match.
    pub(crate) fn is_receipt(&self) -> bool {
        self.about == About::Taken
    }

    /// Iterates over all terms of the pattern.
    pub(crate) fn all_terms(&self) -> impl Iterator<Item = TermId> + '_ {
        self.terms.iter().copied().chain([self.by_role, self.by]).flatten()
    }

    /// Returns the literal of a pattern `#(..)`.
    pub(crate) fn literal(&self) -> Option<TermId> {
        if self.about == About::Literal { self.terms.first().copied().flatten() } else { None }
    }
}

/// A proposition about states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Atom {
    /// No message is under way, and each agent is done or idle.
    Final,
    /// The agent has finished.
    Done(u32),
    /// The agent is a server in its first process.
    Idle(u32),
    /// The agent is in a role.
    At(u32, TermId),
}

impl Vocabulary for System {
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic> {
        let pattern = self.read_pattern(text, span, &[])?;
        Ok(self.pattern_id(pattern))
    }

    fn atom(&mut self, text: &str, span: Span) -> Result<AtomId, Diagnostic> {
        let action = parse_action(text, span.start)?;
        // When a limit on reading is exceeded, the formula is discarded.
        if !self.reading.work((self.atoms.len() + self.program.agents.len()) as u64) {
            return Ok(AtomId(0));
        }
        let n_terms = action.terms.len();
        let atom = match (action.word.as_str(), n_terms) {
            ("final", 0) => Atom::Final,
            ("done", 1) => Atom::Done(self.member(&action.terms[0])?),
            ("idle", 1) => Atom::Idle(self.member(&action.terms[0])?),
            ("at", 2) => {
                let agent = self.member(&action.terms[0])?;
                Atom::At(agent, Scope::default().term(&mut self.terms, &action.terms[1]))
            }
            (word, _) => {
                let atoms = ["final", "done", "idle", "at"];
                let similar = if atoms.contains(&word) {
                    None
                } else {
                    did_you_mean(word, ["final", "deadlock", "done", "idle", "at"])
                };
                let all =
                    "the state atoms are `final`, `deadlock`, `done(id)`, `idle(id)` and `at(id, role)`";
                let help = similar.unwrap_or(all.to_string());
                let message = format!("there is no state atom `{text}`");
                return Err(Diagnostic::error("lcc/atom", span, message).hint(help));
            }
        };
        if action.by.is_some() {
            return Err(Diagnostic::error(
                "lcc/atom",
                span,
                "a state atom has no acting agent: `@` belongs to action patterns",
            ));
        }
        if let Some(index) = self.atoms.iter().position(|known| *known == atom) {
            return Ok(AtomId(index as u32));
        }
        self.atoms.push(atom);
        Ok(AtomId(self.atoms.len() as u32 - 1))
    }
}

impl System {
    /// Returns the id of a pattern, which is added if it is new.
    pub(crate) fn pattern_id(&mut self, pattern: Pattern) -> PatternId {
        // When a limit on reading is exceeded, the formula is discarded.
        let may_continue = self.reading.work(self.patterns.len() as u64) || self.patterns.is_empty();
        let known = self.patterns.iter().position(|known| !may_continue || *known == pattern);
        let index = known.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        });
        PatternId(index as u32)
    }

    /// Parses and lowers a pattern, which may share these variables with others.
    pub(crate) fn read_pattern(
        &mut self,
        text: &str,
        span: Span,
        shared: &[String],
    ) -> Result<Pattern, Diagnostic> {
        let action = parse_action(text, span.start)?;
        let mut scope = Scope::default();
        scope.share(shared);
        let about = match action.word.as_str() {
            "in" => About::Taken,
            "out" => About::Sent,
            "#" if action.literal.is_some() => About::Literal,
            "#" => About::Internal,
            "tau" => About::Tau,
            word => {
                let help = did_you_mean(word, ["in", "out", "tau"]);
                return Err(Diagnostic::error("lcc/pattern", span, format!("there is no action `{word}`"))
                    .help(
                        help.or(Some("actions are `in(..)`, `out(..)`, `#(..)`, `#` and `tau`".to_string())),
                    ));
            }
        };
        let max_terms = match about {
            About::Tau => 3,
            About::Sent | About::Taken => 2,
            About::Internal | About::Literal => 0,
        };
        if action.terms.len() > max_terms {
            let message = format!("`{}` takes at most {max_terms} arguments", action.word);
            return Err(Diagnostic::error("lcc/pattern", span, message).hint(
                "write `in(message, a(role, id))@agent`; the other party and the agent may be omitted",
            ));
        }
        let mut terms = Vec::new();
        if let Some(literal) = &action.literal {
            terms.push(Some(scope.constraint(&mut self.terms, literal)));
        }
        for (index, term) in action.terms.iter().enumerate() {
            match index {
                0 => terms.push(Some(scope.term(&mut self.terms, term))),
                _ => terms.extend(self.party(&mut scope, term)?),
            }
        }
        let by = match &action.by {
            Some(by) => self.actor(&mut scope, by)?,
            None => [None, None],
        };
        let (n_vars, n_shared) = (scope.n_vars(), shared.len() as u32);
        Ok(Pattern { about, terms, by_role: by[0], by: by[1], n_vars, n_shared })
    }

    /// Lowers a party of an exchange: `a(role, id)`, or a wildcard.
    fn party(&mut self, scope: &mut Scope, term: &Term) -> Result<[Option<TermId>; 2], Diagnostic> {
        let lowered = scope.term(&mut self.terms, term);
        let a = self.terms.symbols.intern("a");
        match self.terms.functor(lowered) {
            None => Ok([None, None]),
            Some(functor) if functor == (Functor { name: a, arity: 2 }) => {
                Ok([Some(self.terms.arg(lowered, 0)), Some(self.terms.arg(lowered, 1))])
            }
            Some(_) => Err(Diagnostic::error("lcc/pattern", term.span, "the other party must be an agent")
                .hint("write `a(role, id)`, where either may be `_`")),
        }
    }

    /// Lowers the acting agent: an id, or `a(role, id)`.
    fn actor(&mut self, scope: &mut Scope, term: &Term) -> Result<[Option<TermId>; 2], Diagnostic> {
        let lowered = scope.term(&mut self.terms, term);
        self.known_actor(lowered, term.span)
    }

    /// Returns the role and the id of the acting agent. An id that is a constant must be in the team.
    pub(crate) fn known_actor(&self, term: TermId, span: Span) -> Result<[Option<TermId>; 2], Diagnostic> {
        let [role, id] = self.actor_parts(term);
        match id {
            Some(id) if self.terms.is_ground(id) && self.agent_index(id).is_none() => {
                Err(self.no_member(id, span))
            }
            _ => Ok([role, id]),
        }
    }

    /// Returns the role and the id of `a(role, id)`, or of an id alone.
    pub(crate) fn actor_parts(&self, term: TermId) -> [Option<TermId>; 2] {
        match self.terms.functor(term) {
            Some(Functor { name, arity: 2 }) if self.terms.symbols.name(name) == "a" => {
                [Some(self.terms.arg(term, 0)), Some(self.terms.arg(term, 1))]
            }
            _ => [None, Some(term)],
        }
    }

    fn member(&mut self, term: &Term) -> Result<u32, Diagnostic> {
        let id = Scope::default().term(&mut self.terms, term);
        self.agent_index(id).ok_or_else(|| self.no_member(id, term.span))
    }

    pub(crate) fn no_member(&self, id: TermId, span: Span) -> Diagnostic {
        let name = self.terms.text(id);
        let names: Vec<String> = self.program.agents.iter().map(|agent| self.terms.text(agent.id)).collect();
        let help = did_you_mean(&name, names.iter().map(String::as_str))
            .unwrap_or_else(|| format!("the team is {}", names.join(", ")));
        Diagnostic::error("lcc/unknown-agent", span, format!("no member of the team is called `{name}`"))
            .hint(help)
    }

    /// Whether a label matches a pattern, that is, they unify after their variables have been renamed apart. The
    /// shared variables of the pattern have the given values, if any.
    pub(crate) fn label_matches(&mut self, label: LabelTerm, pattern: &Pattern, values: &[TermId]) -> bool {
        let mut found = false;
        self.for_each_match(label, pattern, values, &mut |_, _| {
            found = true;
            false
        });
        found
    }

    /// Calls `visit` with each way in which a label matches a pattern, until it returns `false`.
    pub(crate) fn for_each_match(
        &mut self,
        label: LabelTerm,
        pattern: &Pattern,
        values: &[TermId],
        visit: &mut dyn FnMut(&mut System, &Bindings) -> bool,
    ) {
        match label {
            LabelTerm::Own(label) => {
                self.for_each_side_match(label, pattern, values, visit);
            }
            LabelTerm::Tau(_, taken) if pattern.about == About::Tau => {
                // The receiver's side has the message, the sender and the receiver, in this order.
                let exchanged = self.terms.args(taken)[..5].to_vec();
                if let Some(bindings) = self.unifier(pattern, values, &exchanged, [None, None]) {
                    visit(self, &bindings);
                }
            }
            LabelTerm::Tau(sent, taken) => {
                if self.for_each_side_match(sent, pattern, values, visit) {
                    self.for_each_side_match(taken, pattern, values, visit);
                }
            }
        }
    }

    /// Does this for one side of a label. Returns whether `visit` asked for more.
    fn for_each_side_match(
        &mut self,
        label: TermId,
        pattern: &Pattern,
        values: &[TermId],
        visit: &mut dyn FnMut(&mut System, &Bindings) -> bool,
    ) -> bool {
        let kind = self.terms.symbol(label);
        let args: Vec<TermId> = self.terms.args(label).to_vec();
        let by = [Some(args[3]), Some(args[4])];
        let whole = match (pattern.about, kind) {
            (About::Sent, Some(Symbol::SENT)) | (About::Taken, Some(Symbol::TAKEN)) => Some(&args[..3]),
            (About::Internal, Some(Symbol::INTERNAL)) => Some(&args[..0]),
            (About::Literal, _) => {
                let literals = self.terms.args(args[5]).to_vec();
                return literals.iter().all(|literal| {
                    let bindings = self.unifier(pattern, values, &[*literal], by);
                    bindings.is_none_or(|bindings| visit(self, &bindings))
                });
            }
            _ => None,
        };
        let bindings = whole.and_then(|found| self.unifier(pattern, values, found, by));
        bindings.is_none_or(|bindings| visit(self, &bindings))
    }

    /// Unifies a pattern with the terms of a label; the shared variables of the pattern have the given values.
    fn unifier(
        &mut self,
        pattern: &Pattern,
        values: &[TermId],
        found: &[TermId],
        by: [Option<TermId>; 2],
    ) -> Option<Bindings> {
        let wanted = pattern.terms.iter().copied().zip(found.iter().copied().map(Some));
        let wanted = wanted.chain([(pattern.by_role, by[0]), (pattern.by, by[1])]);
        let pairs: Vec<(TermId, TermId)> = wanted.filter_map(|(wanted, found)| wanted.zip(found)).collect();
        let mut bindings = Bindings::default();
        bindings.reset(pattern.n_vars);
        // The variables of a label are numbered together, so they are shifted together. So are those of values.
        let mut n_vars = 0;
        for (_, found) in &pairs {
            n_vars = n_vars.max(self.terms.n_vars(*found));
        }
        let of_label = bindings.fresh(n_vars);
        let n_vars = values.iter().map(|value| self.terms.n_vars(*value)).max().unwrap_or(0);
        let of_values = bindings.fresh(n_vars);
        for (number, value) in (0..pattern.n_shared).zip(values) {
            let variable = self.terms.var(number);
            let value = self.terms.shift(*value, of_values);
            if !self.terms.unify(variable, value, &mut bindings) {
                return None;
            }
        }
        let unify = |(wanted, found): (TermId, TermId)| {
            let found = self.terms.shift(found, of_label);
            self.terms.unify(wanted, found, &mut bindings)
        };
        pairs.into_iter().all(unify).then_some(bindings)
    }

    /// Returns the values of the shared variables with which a label matches a pattern, as bindings.
    pub(crate) fn label_bindings(&mut self, label: LabelTerm, pattern: &Pattern) -> Vec<BindingId> {
        let mut found = Vec::new();
        self.for_each_match(label, pattern, &[], &mut |system, bindings| {
            found.push(system.bound_instance(pattern.n_shared, bindings));
            true
        });
        found
    }

    /// Returns the binding of shared variables, which have the lowest numbers.
    pub(crate) fn bound_instance(&mut self, n_shared: u32, bindings: &Bindings) -> BindingId {
        let values: Vec<TermId> = (0..n_shared)
            .map(|number| {
                let variable = self.terms.var(number);
                self.terms.resolve(variable, bindings)
            })
            .collect();
        self.bound_values.number(&mut self.terms, &values)
    }

    /// Whether a process is in a role: that of the innermost frame, or that of a role call which has not been
    /// entered yet.
    pub(crate) fn is_in_role(&mut self, process: TermId, role: TermId) -> bool {
        let n_vars = self.terms.n_vars(role);
        self.roles_of(process).into_iter().any(|found| {
            let mut bindings = Bindings::default();
            bindings.reset(n_vars + self.terms.n_vars(found));
            let found = self.terms.shift(found, n_vars);
            self.terms.unify(role, found, &mut bindings)
        })
    }

    /// Returns the roles of a process, including those it is about to enter, in the order of parallel parts.
    pub(crate) fn roles_of(&self, process: TermId) -> Vec<TermId> {
        let mut stack = vec![(process, None)];
        let mut roles = Vec::new();
        while let Some((process, current)) = stack.pop() {
            let args = self.terms.args(process);
            match self.terms.symbol(process) {
                Some(Symbol::FRAME) => stack.push((args[1], Some(args[0]))),
                Some(Symbol::CALL) => roles.push(args[0]),
                Some(Symbol::THEN) => stack.push((args[0], current)),
                Some(Symbol::PAR) => stack.extend([(args[1], current), (args[0], current)]),
                _ => roles.extend(current),
            }
        }
        roles
    }
}
