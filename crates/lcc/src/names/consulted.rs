//! The predicates and actions that guards, rules and facts ask for.
//!
//! A guard asks for predicates, and rules decide whether its action is allowed. A rule about such an action
//! asks for the names in its body, and so does a fact that is asked for. Every predicate and action reached
//! in this way is *consulted*. A statement about any other name has no effect.

use masque_text::{ReadLimits, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Names;
use super::table::Table;
use crate::program::{FactDef, Program};
use crate::symbol::Symbol;
use crate::term::{Functor, TermId, Terms};

/// Estimated bytes that are needed per topic of a statement.
const BYTES_PER_TOPIC: u64 = 160;

/// The name that a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    Predicate(Functor),
    Action(Functor),
}

/// A question about a message, as in `(A, B, +send(M))`: the functor of the action and that of M, unless M
/// is a variable.
pub(super) type AboutMessage = (Functor, Option<Functor>);

/// All predicates and actions that are consulted.
pub(super) struct ConsultedNames {
    /// Predicates, and where each is asked for first.
    pub(super) predicates: Table,
    /// Actions, and where each occurs first.
    pub(super) actions: Table,
    /// Questions about messages.
    pub(super) messages: FxHashSet<AboutMessage>,
    /// The actions of these questions.
    pub(super) asked_actions: FxHashSet<Functor>,
    /// The topics to report: those of statements that are not consulted, except topics that other such
    /// statements ask for, because these follow from the same mistake.
    unconsulted: FxHashSet<Topic>,
    /// Predicates about which an owner has a fact, or which an owner decides.
    known: FxHashSet<Functor>,
}

impl ConsultedNames {
    pub(super) fn new(program: &Program, terms: &Terms, limits: &ReadLimits) -> ConsultedNames {
        let n_facts: usize = std::iter::once(&program.common).chain(&program.known).map(|k| k.len()).sum();
        limits.charge((n_facts + program.rules.len()) as u64 * BYTES_PER_TOPIC);
        let mut facts: FxHashMap<Functor, Vec<&FactDef>> = FxHashMap::default();
        for (functor, of_functor) in std::iter::once(&program.common).chain(&program.known).flatten() {
            facts.entry(*functor).or_default().extend(of_functor);
        }
        let known =
            facts.keys().copied().chain(program.choices.iter().map(|(_, functor)| *functor)).collect();
        let mut walk = Walk { program, terms, facts, reached: FxHashMap::default(), open_at: None };
        let names = &program.names;
        let mut messages: FxHashSet<AboutMessage> = FxHashSet::default();
        messages.extend(names.questions.iter().map(|question| (question.action, question.message)));
        walk.reach(first_topics(names, terms));
        let reached = std::mem::take(&mut walk.reached);
        let literals = if names.literals.is_open() { names.literals.first_span() } else { None };
        let open_at = walk.open_at.or(literals);
        let unconsulted = match open_at {
            Some(_) => FxHashSet::default(),
            None => walk.topics_to_report(&reached),
        };
        let (mut predicates, mut actions) = (Table::default(), Table::default());
        for (topic, span) in reached {
            match topic {
                Topic::Predicate(functor) => predicates.add(functor, span),
                Topic::Action(functor) => actions.add(functor, span),
            }
        }
        if let Some(span) = open_at {
            predicates.open(span);
            actions.open(span);
        }
        for body in bodies(program) {
            each_goal(terms, body, &mut |goal| {
                if let Goal::Question(action) = goal {
                    let message = terms.args(action).first().and_then(|message| terms.functor(*message));
                    messages.extend(terms.functor(action).map(|functor| (functor, message)));
                }
            });
        }
        let asked_actions = messages.iter().map(|(action, _)| *action).collect();
        ConsultedNames { predicates, actions, messages, asked_actions, unconsulted, known }
    }

    /// Whether an owner has a fact about a predicate, or decides it.
    pub(super) fn is_known(&self, functor: Functor) -> bool {
        self.known.contains(&functor)
    }

    /// Whether a statement about this topic is to be reported.
    pub(super) fn is_unconsulted(&self, topic: Topic) -> bool {
        self.unconsulted.contains(&topic)
    }
}

/// Returns what guards ask for, and the actions `send` and `receive` if agents exchange messages.
fn first_topics(names: &Names, terms: &Terms) -> Vec<(Topic, Span)> {
    let mut topics = Vec::new();
    for (functor, span) in names.literals.iter() {
        topics.extend([(Topic::Predicate(functor), span), (Topic::Action(functor), span)]);
    }
    topics.extend(names.questions.iter().map(|question| (Topic::Action(question.action), question.span)));
    for (word, table) in [("send", &names.sent), ("receive", &names.received)] {
        let first = table.first_span();
        let functor = terms.find(word, 1);
        topics.extend(functor.zip(first).map(|(functor, span)| (Topic::Action(functor), span)));
    }
    topics
}

/// Iterates over the bodies of all facts and rules.
pub(super) fn bodies(program: &Program) -> impl Iterator<Item = TermId> + '_ {
    let facts = std::iter::once(&program.common).chain(&program.known).flat_map(|known| known.values());
    let facts = facts.flatten().filter_map(|fact| fact.body);
    facts.chain(program.rules.iter().filter_map(|rule| rule.body))
}

/// A goal in the body of a fact or rule.
pub(super) enum Goal {
    Predicate(Functor),
    /// The action that the policies are asked about.
    Question(TermId),
    /// A variable: the goal is known at run time only.
    Anything,
}

/// Visits all goals of a body.
pub(super) fn each_goal(terms: &Terms, body: TermId, visit: &mut dyn FnMut(Goal)) {
    let mut stack = vec![body];
    while let Some(part) = stack.pop() {
        let Some(functor) = terms.functor(part) else {
            visit(Goal::Anything);
            continue;
        };
        match (functor.name, terms.args(part)) {
            (Symbol::AND | Symbol::OR, parts) => stack.extend(parts.iter().rev()),
            (Symbol::NOT, inner) => stack.extend(inner),
            (Symbol::PERMIT | Symbol::FORBID, [_, _, action]) => visit(Goal::Question(*action)),
            (name, _) if name.is_built_in() => {}
            _ => visit(Goal::Predicate(functor)),
        }
    }
}

struct Walk<'a> {
    program: &'a Program,
    terms: &'a Terms,
    /// Facts of all owners, by predicate.
    facts: FxHashMap<Functor, Vec<&'a FactDef>>,
    /// Topics reached so far, and where each is asked for first.
    reached: FxHashMap<Topic, Span>,
    /// Location of a statement in which a goal is a variable.
    open_at: Option<Span>,
}

impl Walk<'_> {
    /// Adds topics and, transitively, the topics that statements about them ask for.
    fn reach(&mut self, mut todo: Vec<(Topic, Span)>) {
        while let Some((topic, span)) = todo.pop() {
            if let Some(first) = self.reached.get_mut(&topic) {
                *first = span.min(*first);
                continue;
            }
            self.reached.insert(topic, span);
            todo.extend(self.asked_by(topic));
        }
    }

    /// Returns the topics that the statements about a topic ask for.
    fn asked_by(&mut self, topic: Topic) -> Vec<(Topic, Span)> {
        let mut asked = Vec::new();
        let (terms, program) = (self.terms, self.program);
        let mut visit = |body: Option<TermId>, span: Span| {
            let Some(body) = body else { return };
            each_goal(terms, body, &mut |goal| match goal {
                Goal::Predicate(functor) => asked.push((Topic::Predicate(functor), span)),
                Goal::Question(action) => {
                    asked.extend(terms.functor(action).map(|functor| (Topic::Action(functor), span)));
                }
                Goal::Anything => self.open_at = Some(span),
            });
        };
        match topic {
            Topic::Predicate(functor) => {
                let facts = self.facts.get(&functor).into_iter().flatten();
                facts.for_each(|fact| visit(fact.body, fact.span));
            }
            Topic::Action(functor) => {
                for permits in [true, false] {
                    for rule_index in program.rules_for(functor, permits) {
                        let rule = &program.rules[*rule_index as usize];
                        visit(rule.body, rule.span);
                    }
                }
            }
        }
        asked
    }

    /// Returns the topics of unreached statements that are to be reported: first those that no other
    /// unreached statement asks for, then one topic of each group whose members ask only for each other, in
    /// the order of the text.
    fn topics_to_report(&mut self, reached: &FxHashMap<Topic, Span>) -> FxHashSet<Topic> {
        let mut unreached: Vec<(Span, Topic)> = self.topics();
        unreached.retain(|(_, topic)| !reached.contains_key(topic));
        unreached.sort_by_key(|(span, _)| *span);
        // Several owners may have facts about one predicate.
        let mut seen: FxHashSet<Topic> = FxHashSet::default();
        unreached.retain(|(_, topic)| seen.insert(*topic));
        let mut asked: FxHashSet<Topic> = FxHashSet::default();
        for (_, topic) in &unreached {
            asked.extend(self.asked_by(*topic).into_iter().map(|(to, _)| to).filter(|to| to != topic));
        }
        let (mut topics_to_report, mut others) = (FxHashSet::default(), Vec::new());
        for (span, topic) in unreached {
            if asked.contains(&topic) {
                others.push((span, topic));
            } else {
                topics_to_report.insert(topic);
                self.reach(vec![(topic, span)]);
            }
        }
        for (span, topic) in others {
            if !self.reached.contains_key(&topic) {
                topics_to_report.insert(topic);
                self.reach(vec![(topic, span)]);
            }
        }
        topics_to_report
    }

    /// Returns the topics of all statements of the program.
    fn topics(&self) -> Vec<(Span, Topic)> {
        let program = self.program;
        let all = std::iter::once(&program.common).chain(&program.known);
        let facts = all.flat_map(|known| known.iter()).filter_map(|(functor, facts)| {
            facts.iter().map(|fact| fact.span).min().map(|span| (span, Topic::Predicate(*functor)))
        });
        // Choices ask for nothing, so their position in the order does not matter.
        let nowhere = Span { start: u32::MAX, end: u32::MAX };
        let choices = program.choices.iter().map(|(_, functor)| (nowhere, Topic::Predicate(*functor)));
        let rules = program.rules.iter().filter_map(|rule| {
            self.terms.functor(rule.action).map(|functor| (rule.span, Topic::Action(functor)))
        });
        facts.chain(choices).chain(rules).collect()
    }
}
