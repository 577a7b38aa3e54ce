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
//! An obligation whose patterns share variables is counted by instance: the event `in(order(5))` makes
//! `rule hd: (S, O, !ok(5)) after in(order(5)).` due.
//!
//! Tuples may overtake each other. Both counts of an agent only grow, so two tuples are joined by their maxima,
//! and an old tuple does not make an obligation due again.

use std::collections::BTreeMap;

use masque_mu::tree::{FormulaKind, Modality, Pattern, Phi, Regular};
use masque_mu::{BindingId, Formula, LabelId, resolve};
use masque_text::{Diagnostic, Sources, Span, on_one_line};

use crate::lexer::Token;
use crate::lower::Scope;
use crate::obligation::{Acts, FollowedObligation, WithActs};
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
    events: FollowedObligation,
    /// Whether it can be met: `<-* . {..}>tt` of the events that meet it.
    formula: Formula,
}

impl Dues {
    /// Resolves the obligations of a view, and those that have counts. Rules of others that concern no member of
    /// the team are passed on as they are.
    pub(super) fn read(view: &mut Session, counts: &DueCounts) -> Dues {
        let mut dues = Dues { counted: Vec::new(), counts: counts.clone() };
        for (index, obligation) in view.obligations.clone().iter().enumerate() {
            let name = format!("obligation_{}", index + 1);
            dues.counted.extend(CountedObligation::read(view, obligation, Some(name)));
        }
        for text in counts.0.keys() {
            dues.add(view, text, None);
        }
        dues
    }

    /// Adds an obligation without shared variables, unless it is known, and returns its text. Without a property, it
    /// may be an instance of one of the agent's own.
    fn add(&mut self, view: &mut Session, statement: &str, property: Option<String>) -> Option<String> {
        if self.counted.iter().any(|own| own.text == *statement) {
            return Some(statement.to_string());
        }
        let file = view.text("due obligation", statement).ok()?;
        let items = parse(&view.sources, file).0.items;
        let [Item::Obligation(obligation)] = items.as_slice() else { return None };
        let mut added = CountedObligation::read(view, obligation, property)?;
        let text = added.text.clone();
        if self.counted.iter().any(|own| own.text == text) {
            return Some(text);
        }
        if added.property.is_none() {
            let mut own = self.counted.iter().filter(|own| own.events.has_instances());
            added.property = own.find_map(|own| own.property_of(view, &added));
        }
        self.counted.push(added);
        Some(text)
    }

    /// The obligations after an event of an agent.
    pub(super) fn after(&self, view: &mut Session, label: LabelId, agent: &str) -> Dues {
        let mut next = self.clone();
        for general in self.counted.iter().filter(|obligation| obligation.events.has_instances()) {
            for instance in general.events.triggered(view.space.lts(), label) {
                let statement = general.events.statement(view.space.system(), instance);
                next.add(view, &statement, general.property.clone());
            }
        }
        let system = view.space.lts();
        for obligation in next.counted.iter().filter(|obligation| !obligation.events.has_instances()) {
            let is_met = obligation.events.is_met(system, BindingId::NONE, label)
                || obligation.events.is_discharged(system, BindingId::NONE, label);
            if is_met && let Some(agents) = next.counts.0.get_mut(&obligation.text) {
                agents.values_mut().for_each(|counts| counts.met = counts.triggered);
            }
            if !obligation.events.triggered(system, label).is_empty() {
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

    /// The formulas that must hold if the obligation of a property is due, one for each instance, and keys for their
    /// answers.
    pub(super) fn due_formulas(&self, property: &str) -> Vec<(String, Formula)> {
        let is_due = |obligation: &&CountedObligation| {
            let agents = self.counts.0.get(&obligation.text);
            let mut counts = agents.into_iter().flat_map(BTreeMap::values);
            counts.any(|counts| counts.triggered > counts.met)
        };
        let asked = self.counted.iter().filter(|one| one.property.as_deref() == Some(property));
        let due = asked.filter(is_due);
        due.map(|obligation| (format!("due {}", obligation.text), obligation.formula.clone())).collect()
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
        let events = FollowedObligation::read(String::new(), obligation, sources, system)?;
        let mut acts = Acts::default();
        let (named, _) = acts.property_of(String::new(), obligation, sources, system);
        let FormulaKind::Response(_, meets) = named?.phi.kind else { return None };
        let mut words = WithActs { system, acts };
        let formula = resolve(&can_be_met(meets, obligation.span), &mut words).0?;
        Some(CountedObligation { text, property, events, formula })
    }

    /// The property of this obligation if another one is an instance of it.
    fn property_of(&self, view: &mut Session, other: &CountedObligation) -> Option<String> {
        let system = view.space.lts();
        let instance = self.events.instance_with_after_of(system, &other.events)?;
        let statement = self.events.statement(system, instance);
        let file = view.text("due obligation", &statement).ok()?;
        let items = parse(&view.sources, file).0.items;
        let [Item::Obligation(obligation)] = items.as_slice() else { return None };
        let text = rule_text(obligation, &view.sources, &mut view.space.lts().terms);
        if text == other.text { self.property.clone() } else { None }
    }
}

/// The formula `<-* . P>tt`.
fn can_be_met(events: Pattern, span: Span) -> Phi {
    let any = Regular::Star(Box::new(Regular::Step(Pattern::Any)));
    let path = Regular::Sequence(vec![any, Regular::Step(events)]);
    let end = Phi { kind: FormulaKind::True, span };
    Phi { kind: FormulaKind::Modal(Modality::Diamond, path, Box::new(end)), span }
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
