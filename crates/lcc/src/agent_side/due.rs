//! Obligations that are due. [ORW06 §1, §4.2]
//!
//! ```text
//! (S, O, !A) after P until Q        triggered by an event that matches P, met by one that matches A or Q
//! due(ben, 3, 2) rule hd: (S, O, !A) after P until Q.
//!                                   events of ben have triggered it 3 times, and 2 of these were met
//! ```
//!
//! A step is refused if it leaves an obligation due that no continuation meets. The property of an obligation says
//! more, that every continuation meets it; but some of these are choices that the agent need not make.
//!
//! A property of the current state does not say what happened before, so each agent counts the events that
//! trigger and meet obligations. The paper's tuple has no place for that: its P_S is the state of the clauses. Here
//! P_S may also have `due` statements, which agents that know no obligations omit and others read and pass on.
//!
//! Tuples may overtake each other. Both counts of an agent only grow, so two tuples are joined by their maxima,
//! and an old tuple does not make an obligation due again.

use std::collections::BTreeMap;

use masque_mu::tree::{FormulaKind, Modality, Pattern, Phi, Regular};
use masque_mu::{Formula, LabelId, Lts, PatternId, Vocabulary, resolve};
use masque_text::{Diagnostic, Sources, Span, on_one_line};

use crate::lexer::Token;
use crate::lower::Scope;
use crate::obligation::{Acts, WithActs};
use crate::parser::parse;
use crate::print::quoted;
use crate::session::Session;
use crate::symbol::Symbol;
use crate::term::Terms;
use crate::tree::{Due, Item, Obligation};

/// Maximum number of obligations that an agent counts, its own ones included.
const MAX_COUNTED_OBLIGATIONS: usize = 1000;

/// How often events of one agent have triggered an obligation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    triggered: u32,
    /// Number of these after which the obligation was met; at most `triggered`.
    met: u32,
}

/// The counts of all obligations, by their text and by the agent whose events triggered them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DueCounts(BTreeMap<String, BTreeMap<String, Counts>>);

impl DueCounts {
    /// Joins the counts of a tuple with these.
    pub(super) fn join(&mut self, view: &mut Session, due: &[Due]) -> Result<(), Diagnostic> {
        for Due { agent, triggered, met, obligation, span } in due {
            let text = rule_text(obligation, &view.sources, &mut view.space.lts().terms);
            if !self.0.contains_key(&text) && self.0.len() >= MAX_COUNTED_OBLIGATIONS {
                let message = format!("an agent counts at most {MAX_COUNTED_OBLIGATIONS} obligations");
                return Err(Diagnostic::error("lcc/too-many-obligations", *span, message)
                    .hint("remove `due` statements about rules that no agent has"));
            }
            let counts = self.0.entry(text).or_default().entry(agent.text.clone()).or_default();
            counts.triggered = counts.triggered.max(*triggered);
            counts.met = counts.met.max(*met).min(counts.triggered);
        }
        Ok(())
    }

    /// Writes the counts as `due` statements.
    pub(super) fn statements(&self) -> Vec<String> {
        let mut statements = Vec::new();
        for (text, agents) in &self.0 {
            for (agent, Counts { triggered, met }) in agents {
                statements.push(format!("due({}, {triggered}, {met}) {text}", quoted(agent, false)));
            }
        }
        statements
    }
}

/// The obligations of a view, ready to be counted.
#[derive(Clone, Debug)]
pub(super) struct Dues {
    counted: Vec<CountedObligation>,
    counts: DueCounts,
}

/// An obligation whose patterns have been resolved.
#[derive(Clone, Debug)]
struct CountedObligation {
    text: String,
    /// Name of the property that the agent's own rule demands; `None` for a rule of others.
    property: Option<String>,
    /// The events that trigger it.
    after: Events,
    /// The events that meet it.
    meets: Events,
    /// Whether it can be met: `<-* . {..}>tt` of the events that meet it.
    formula: Formula,
}

impl Dues {
    /// Resolves the obligations of a view, and those that have counts. Rules of others that concern no member of
    /// the team are passed on as they are.
    pub(super) fn read(view: &mut Session, counts: &DueCounts) -> Dues {
        let mut counted: Vec<CountedObligation> = Vec::new();
        for (index, obligation) in view.obligations.clone().iter().enumerate() {
            let name = format!("obligation_{}", index + 1);
            counted.extend(CountedObligation::read(view, obligation, Some(name)));
        }
        for text in counts.0.keys() {
            if counted.iter().any(|own| own.text == *text) {
                continue;
            }
            let Ok(file) = view.text("due obligation", text) else { continue };
            let items = parse(&view.sources, file).0.items;
            if let [Item::Obligation(obligation)] = items.as_slice() {
                counted.extend(CountedObligation::read(view, obligation, None));
            }
        }
        Dues { counted, counts: counts.clone() }
    }

    /// The obligations after an event of an agent.
    pub(super) fn after(&self, view: &mut Session, label: LabelId, agent: &str) -> Dues {
        let mut next = self.clone();
        for obligation in &self.counted {
            let system = view.space.lts();
            if obligation.meets.contains(system, label)
                && let Some(agents) = next.counts.0.get_mut(&obligation.text)
            {
                agents.values_mut().for_each(|counts| counts.met = counts.triggered);
            }
            if obligation.after.contains(system, label) {
                let agents = next.counts.0.entry(obligation.text.clone()).or_default();
                let counts = agents.entry(agent.to_string()).or_default();
                counts.triggered = counts.triggered.saturating_add(1);
            }
        }
        next
    }

    /// Whether a property is demanded by one of the agent's obligations.
    pub(super) fn is_obligation(&self, property: &str) -> bool {
        self.counted.iter().any(|one| one.property.as_deref() == Some(property))
    }

    /// The formula that must hold if the obligation of a property is due, and a key for its answers.
    pub(super) fn due_formula(&self, property: &str) -> Option<(String, Formula)> {
        let is_asked = |one: &&CountedObligation| one.property.as_deref() == Some(property);
        let obligation = self.counted.iter().find(is_asked)?;
        let mut agents = self.counts.0.get(&obligation.text)?.values();
        let is_due = agents.any(|counts| counts.triggered > counts.met);
        is_due.then(|| (format!("due {}", obligation.text), obligation.formula.clone()))
    }

    /// The counts alone.
    pub(super) fn into_counts(self) -> DueCounts {
        self.counts
    }
}

impl CountedObligation {
    fn read(
        view: &mut Session,
        obligation: &Obligation,
        property: Option<String>,
    ) -> Option<CountedObligation> {
        let Session { sources, space, .. } = view;
        let system = space.lts();
        let text = rule_text(obligation, sources, &mut system.terms);
        let mut acts = Acts::default();
        let (named, _) = acts.property_of(String::new(), obligation, sources, system);
        let FormulaKind::Response(after, meets) = named?.phi.kind else { return None };
        let mut words = WithActs { system, acts };
        let [after, events] = [&after, &meets].map(|pattern| Events::read(pattern, &mut words));
        let formula = resolve(&can_be_met(meets, obligation.span), &mut words).0?;
        Some(CountedObligation { text, property, after: after?, meets: events?, formula })
    }
}

/// The formula `<-* . P>tt`.
fn can_be_met(events: Pattern, span: Span) -> Phi {
    let any = Regular::Star(Box::new(Regular::Step(Pattern::Any)));
    let path = Regular::Sequence(vec![any, Regular::Step(events)]);
    let end = Phi { kind: FormulaKind::True, span };
    Phi { kind: FormulaKind::Modal(Modality::Diamond, path, Box::new(end)), span }
}

/// A set of events: a pattern of formulas whose action patterns are resolved.
#[derive(Clone, Debug)]
enum Events {
    Any,
    Not(Box<Events>),
    OneOf(Vec<Events>),
    Matching(PatternId),
}

impl Events {
    fn read(pattern: &Pattern, words: &mut dyn Vocabulary) -> Option<Events> {
        Some(match pattern {
            Pattern::Any => Events::Any,
            Pattern::Not(inner) => Events::Not(Box::new(Events::read(inner, words)?)),
            Pattern::Set(patterns) => {
                let each = patterns.iter().map(|pattern| Events::read(pattern, words));
                Events::OneOf(each.collect::<Option<_>>()?)
            }
            Pattern::Is(text, span) => Events::Matching(words.pattern(text, *span).ok()?),
        })
    }

    fn contains(&self, lts: &mut dyn Lts, label: LabelId) -> bool {
        match self {
            Events::Any => true,
            Events::Not(inner) => !inner.contains(lts, label),
            Events::OneOf(all) => all.iter().any(|events| events.contains(lts, label)),
            Events::Matching(pattern) => lts.matches(label, *pattern),
        }
    }
}

/// Writes an obligation as a rule on one line, with its enforcer in place of `self` and numbered variables, so that
/// the copies of two agents have the same text.
fn rule_text(obligation: &Obligation, sources: &Sources, terms: &mut Terms) -> String {
    let enforcer = Scope::default().term(terms, &obligation.enforcer);
    let mut scope = Scope::of(enforcer);
    let parts = [&obligation.subject, &obligation.object, &obligation.action];
    let parts = parts.map(|part| scope.term(terms, part));
    let whole = terms.app(Symbol::SET, &parts);
    let whole = terms.canonical(whole);
    let [subject, object, action] = [0, 1, 2].map(|index| terms.written(terms.arg(whole, index)));
    let one_line = |span| on_one_line::<Token>(sources.slice(span));
    let until = obligation.until.map_or(String::new(), |span| format!(" until {}", one_line(span)));
    let after = one_line(obligation.after);
    format!("rule {}: ({subject}, {object}, !{action}) after {after}{until}.", terms.written(enforcer))
}
