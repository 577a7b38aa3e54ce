//! Writes and reads the state of a session as the tuple `(I, M, A, R, (P_F, P_S, K))`. [ORW06 §4.2]
//!
//! | part | content |
//! |---|---|
//! | I | id of the interaction |
//! | M | a message under way with its sender, `offer(10) <= a(buyer, ben)`; `null` if there is none |
//! | A, R | id and role of its receiver; `_` if there is no message |
//! | P_F | the clauses of the protocol |
//! | P_S | what remains of each agent's clauses, and the other messages under way |
//! | K | common knowledge: facts and choices |
//!
//! The paper's M has no sender, although clauses name it (`M <= a(Role, Id)`); §6.2 attaches it to the message,
//! and so does the tuple. What only one agent knows, and the rules, are not part of it.

use masque_text::{Diagnostic, FileId, ReadLimits, Span};
use rustc_hash::FxHashMap;

use super::Session;
use crate::lower::{Lowering, Scope};
use crate::parser::{is_tuple, parse_tuple};
use crate::program::{ClauseDef, FactDef, Program};
use crate::term::{Functor, TermId, Terms};
use crate::tree::{Item, Tuple};

/// Steps of work per statement of a tuple.
const STEPS_PER_STATEMENT: u64 = 64;

impl Session {
    /// Returns the current state as a tuple in one line, which [`Session::place`] reads. The id of the
    /// interaction is that of the last tuple that was placed, or else `default`.
    ///
    /// ```
    /// use masque_lcc::{Session, Setup, Text};
    ///
    /// let text = "a(hen, H) :: egg => a(farmer, F).  a(farmer, F) :: egg <= a(hen, H) then null <- fresh.
    ///     agent a(hen, h).  agent a(farmer, f).  common fresh.";
    /// let setup = Setup { files: vec![Text::new("farm.lcc", text)], ..Setup::default() };
    /// let mut session = Session::open(setup).unwrap();
    /// session.place("now a(hen, h) :: nil.  mail a(hen, h) -> a(farmer, f) : egg.").unwrap();
    /// let tuple = session.tuple("breakfast");
    /// assert_eq!(
    ///     tuple,
    ///     "(breakfast, egg <= a(hen, h), f, farmer, \
    ///      ({a(hen, V0) :: egg => a(farmer, V1). \
    ///      a(farmer, V0) :: egg <= a(hen, V1) then null <- fresh.}, \
    ///      {a(_, h) :: nil. a(farmer, f) :: a(farmer, f).}, {fresh.}))"
    /// );
    /// session.place("").unwrap();
    /// session.place(&tuple).unwrap();
    /// assert_eq!(session.tuple("breakfast"), tuple);
    /// ```
    pub fn tuple(&mut self, default: &str) -> String {
        let state = self.space.initial();
        let system = self.space.system();
        let (processes, mail) = system.parts(state);
        let mut under_way: Vec<(String, TermId)> =
            mail.iter().map(|message| (system.terms.mail(TermId(*message)), TermId(*message))).collect();
        under_way.sort_unstable();
        let now = processes.iter().zip(&system.program.agents);
        let now = now.flat_map(|(process, agent)| system.terms.now(agent.id, TermId(*process)));
        let mut rest: Vec<String> =
            now.map(|text| text.strip_prefix("now ").unwrap_or(&text).to_string()).collect();
        rest.extend(under_way.iter().skip(1).map(|(text, _)| text.clone()));
        let id = match &self.interaction {
            Some(id) => id.clone(),
            None => crate::print::quoted(default, false),
        };
        let head = TupleHead::new(&system.terms, under_way.first().map(|(_, message)| *message));
        head.tuple(&id, &framework_texts(system), &rest, &knowledge_texts(system))
    }

    /// Returns the id of the interaction, if a tuple gave it.
    pub fn interaction(&self) -> Option<&str> {
        self.interaction.as_deref()
    }

    /// Parses a tuple and checks that it is of this session's interaction and protocol. Returns the statements
    /// that describe its state, and the id of the interaction.
    pub(crate) fn tuple_items(
        &mut self,
        file: FileId,
        limits: &ReadLimits,
    ) -> Result<(Vec<Item>, String), Vec<Diagnostic>> {
        let tuple = parse_tuple(&self.sources, file)?;
        let known = self.interaction.clone();
        let system = self.space.lts();
        let mut lowering = Lowering::of(Program::default(), std::mem::take(&mut system.terms), limits);
        let interaction = interaction_id(&mut lowering, &tuple, known.as_deref());
        let protocol = other_protocol(&mut lowering, &system.program, &tuple, limits);
        std::mem::swap(&mut lowering.terms, &mut system.terms);
        let mut diagnostics = lowering.diagnostics;
        diagnostics.extend(protocol);
        match interaction {
            Ok(id) if diagnostics.is_empty() => Ok((tuple.into_state(), id)),
            Ok(_) => Err(diagnostics),
            Err(diagnostic) => Err(std::iter::once(diagnostic).chain(diagnostics).collect()),
        }
    }

    /// Parses the text of a state or of a tuple, without checks.
    pub(super) fn placed_items(&self, file: FileId) -> Result<Vec<Item>, Vec<Diagnostic>> {
        if is_tuple(&self.sources, file) {
            return parse_tuple(&self.sources, file).map(Tuple::into_state);
        }
        self.state_items(file)
    }
}

impl Tuple {
    /// The statements that describe the state: those of P_S, and the message.
    pub(crate) fn into_state(self) -> Vec<Item> {
        let message = self.message.map(Item::Mail);
        self.state.into_iter().chain(message).collect()
    }
}

/// M, A and R as text.
pub(crate) struct TupleHead {
    message: String,
    agent: String,
    role: String,
}

impl TupleHead {
    /// The head of a tuple with a message, or of one without.
    pub(crate) fn new(terms: &Terms, message: Option<TermId>) -> TupleHead {
        match message.map(|message| terms.args(message)) {
            Some(&[from_role, from, to_role, to, what]) => TupleHead {
                message: format!("{} <= {}", terms.written(what), terms.written_agent(from_role, from)),
                agent: terms.written(to),
                role: terms.written(to_role),
            },
            _ => TupleHead { message: "null".to_string(), agent: "_".to_string(), role: "_".to_string() },
        }
    }

    /// The whole tuple in one line.
    pub(crate) fn tuple(
        &self,
        interaction: &str,
        framework: &[String],
        state: &[String],
        knowledge: &[String],
    ) -> String {
        let TupleHead { message, agent, role } = self;
        let [framework, state, knowledge] = [framework, state, knowledge].map(|set| set.join(" "));
        format!(
            "({interaction}, {message}, {agent}, {role}, ({{{framework}}}, {{{state}}}, {{{knowledge}}}))"
        )
    }
}

/// P_F: the clauses of the protocol, in their order.
pub(crate) fn framework_texts(system: &crate::system::System) -> Vec<String> {
    system.program.clauses.iter().map(|clause| system.terms.clause(clause)).collect()
}

/// K: common facts in the order of the text, grouped by predicate, then common choices.
pub(crate) fn knowledge_texts(system: &crate::system::System) -> Vec<String> {
    let program = &system.program;
    let mut groups: Vec<&Vec<FactDef>> = program.common.values().filter(|facts| !facts.is_empty()).collect();
    groups.sort_by_key(|facts| facts[0].span.start);
    let facts = groups.into_iter().flatten().map(|fact| system.terms.fact(fact));
    let common = program.choices.iter().filter(|(owner, _)| owner.is_none());
    let mut choices: Vec<String> =
        common.map(|(_, functor)| format!("choice {}.", system.terms.predicate(*functor))).collect();
    choices.sort_unstable();
    facts.chain(choices).collect()
}

/// Returns the id of a tuple's interaction, as text.
pub(crate) fn interaction_id(
    lowering: &mut Lowering,
    tuple: &Tuple,
    known: Option<&str>,
) -> Result<String, Diagnostic> {
    let (term, span) = (&tuple.interaction, tuple.interaction.span);
    let id = Scope::default().term(&mut lowering.terms, term);
    if !lowering.terms.is_ground(id) {
        let message = "the id of an interaction must be a constant";
        return Err(Diagnostic::error("lcc/no-id", span, message)
            .hint("ids begin with a lowercase letter, or are quoted"));
    }
    let id = lowering.terms.written(id);
    match known {
        Some(known) if known != id => {
            let message = format!("this tuple belongs to the interaction `{id}`, not to `{known}`");
            Err(Diagnostic::error("lcc/other-interaction", span, message)
                .hint("a session or agent takes part in one interaction; open another one for this tuple"))
        }
        _ => Ok(id),
    }
}

/// Makes a diagnostic if a tuple has other clauses or other common knowledge than a program.
pub(crate) fn other_protocol(
    lowering: &mut Lowering,
    program: &Program,
    tuple: &Tuple,
    limits: &ReadLimits,
) -> Option<Diagnostic> {
    other_framework(lowering, program, tuple, limits)
        .or_else(|| other_knowledge(lowering, program, tuple, limits))
}

fn other_framework(
    lowering: &mut Lowering,
    program: &Program,
    tuple: &Tuple,
    limits: &ReadLimits,
) -> Option<Diagnostic> {
    let content = |clause: &ClauseDef| (clause.role, clause.id, clause.body);
    let mut left = Counted::new(program.clauses.iter().map(content));
    for item in &tuple.framework {
        if !limits.work(STEPS_PER_STATEMENT) || !lowering.may_continue() {
            return None;
        }
        let Item::Clause(clause) = item else { continue };
        let def = lowering.clause_def(clause)?;
        if !left.take(content(&def)) {
            return Some(not_shared(clause.span, "this clause is not a clause of the protocol"));
        }
    }
    let missing = program.clauses.iter().find(|clause| left.has(content(clause)))?;
    let head = lowering.terms.written_agent(missing.role, missing.id);
    Some(not_shared(tuple.framework_span, &format!("a clause of the protocol is missing: `{head} :: ..`")))
}

fn other_knowledge(
    lowering: &mut Lowering,
    program: &Program,
    tuple: &Tuple,
    limits: &ReadLimits,
) -> Option<Diagnostic> {
    let content = |fact: &FactDef| (fact.head, fact.body);
    let known = || program.common.values().flatten();
    let mut facts = Counted::new(known().map(content));
    let choices = program.choices.iter().filter(|(owner, _)| owner.is_none());
    let mut choices: Counted<Functor> = Counted::new(choices.map(|(_, functor)| *functor));
    for item in &tuple.knowledge {
        if !limits.work(STEPS_PER_STATEMENT) || !lowering.may_continue() {
            return None;
        }
        let is_shared = match lowering.entry(item)? {
            crate::entry::Entry::Fact(_, _, fact) => facts.take(content(&fact)),
            crate::entry::Entry::Choice(None, functor) => choices.take(functor),
            _ => false,
        };
        if !is_shared {
            return Some(not_shared(item.span(), "this is not common knowledge of the protocol"));
        }
    }
    let fact = known().find(|fact| facts.has(content(fact))).map(|fact| lowering.terms.fact(fact));
    let choice = choices.first_left().map(|functor| format!("choice {}.", lowering.terms.predicate(functor)));
    let missing = fact.or(choice)?;
    Some(not_shared(tuple.knowledge_span, &format!("common knowledge is missing: `{missing}`")))
}

fn not_shared(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error("lcc/other-protocol", span, message).hint(
        "clauses and common knowledge must be those with which the interaction began; only the names of \
         variables may differ",
    )
}

/// The statements of a program, with the number of copies that have not been found in a tuple.
struct Counted<T>(FxHashMap<T, usize>);

impl<T: Copy + Eq + std::hash::Hash + Ord> Counted<T> {
    fn new(all: impl Iterator<Item = T>) -> Counted<T> {
        let mut counts = FxHashMap::default();
        all.for_each(|one| *counts.entry(one).or_insert(0) += 1);
        Counted(counts)
    }

    /// Removes one copy. Returns whether there was one.
    fn take(&mut self, one: T) -> bool {
        let Some(count) = self.0.get_mut(&one) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(&one);
        }
        true
    }

    fn has(&self, one: T) -> bool {
        self.0.contains_key(&one)
    }

    fn first_left(&self) -> Option<T> {
        self.0.keys().copied().min()
    }
}
