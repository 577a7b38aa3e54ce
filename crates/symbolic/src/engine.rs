//! The engine: from a checked system to verdicts.

use std::time::Instant;

use masque_model::{FormulaId, Property, System, VarId};
use masque_verdict::{
    Budget, Encoded, Engine, Extent, Facts, FairInitial, Oracle, Outcome, Show, Stats, Stop, Unsupported,
    Verdict, Why, explain, inside_logic, least_overflow, outside_logic,
};

use crate::check::Checker;
use crate::encode::{Encoder, OnTrouble, trouble};
use crate::layout::{Item, Layout};
use crate::order;
use crate::reach;
use crate::relation::Relation;
use crate::space::{Limited, Set, Space};
use crate::trial;

/// Steps that mean trouble, for each node that does.
const STEPS_PER_NODE: u64 = 120;

/// Decides CTL, LTL, CTL*, ATL and the mu-calculus, all with knowledge and norms, on decision
/// diagrams.
///
/// ```
/// use masque_symbolic::Symbolic;
/// use masque_verdict::Engine;
/// assert_eq!(Symbolic::default().name(), "symbolic");
/// ```
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// How the variables are ordered.
    pub order: Order,
    /// Whether the order may change on the way.
    pub reorder: Reorder,
    /// Which verdicts get evidence.
    pub evidence: Show,
}

impl Default for Symbolic {
    fn default() -> Self {
        Symbolic { order: Order::Automatic, reorder: Reorder::Auto, evidence: Show::default() }
    }
}

/// How the variables are ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By what is read and written together.
    #[default]
    Automatic,
    /// As they are declared.
    Declared,
    /// These first, from the top; the others after them, as they are declared.
    Given(Vec<VarId>),
}

/// Whether the order may change on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reorder {
    /// It stays.
    Never,
    /// It is improved by sifting when the diagrams grow beyond what the model's size explains.
    #[default]
    Auto,
    /// It is sifted at the first chances, however small the diagrams: for tests.
    Eager,
}

impl Engine for Symbolic {
    fn name(&self) -> &'static str {
        "symbolic"
    }

    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported> {
        inside_logic(system, property)
    }

    fn encode<'s>(&self, system: &'s System, budget: &Budget) -> Result<Box<dyn Encoded + 's>, Stop> {
        let mut stats = Stats::default();
        let built = self.built(system, budget, &mut stats)?;
        let Built { encoder, relation, initial, reachable, n_steps } = built;
        let start = Instant::now();
        let checker = Checker::new(encoder, relation, initial, reachable)?;
        stats.spend("fairness", start.elapsed());
        Ok(Box::new(Diagrams { evidence: self.evidence, n_steps, checker, stats }))
    }
}

impl Symbolic {
    /// Encodes a system and explores it, in the order that these options lead to.
    pub(crate) fn built<'s>(
        &self,
        system: &'s System,
        budget: &Budget,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        let start = Instant::now();
        let on_trouble = match self.reorder {
            Reorder::Never => OnTrouble::GoOn,
            Reorder::Auto if matches!(self.order, Order::Given(_)) => OnTrouble::SiftLate,
            Reorder::Auto => OnTrouble::Sift,
            Reorder::Eager => OnTrouble::SiftAnyway,
        };
        let items = match &self.order {
            Order::Automatic => order::by_affinity(system),
            Order::Declared => order::declared(system),
            Order::Given(variables) => order::given(system, variables),
        };
        stats.spend("order", start.elapsed());
        match (&self.order, self.reorder) {
            (Order::Automatic, Reorder::Auto) => in_best_order(system, &items, budget, stats),
            _ => Built::new(system, &items, on_trouble, budget, stats),
        }
    }
}

/// The first order is good for most systems. Where it leads to trouble, the time for trying others
/// is well spent.
fn in_best_order<'s>(
    system: &'s System,
    first: &[Item],
    budget: &Budget,
    stats: &mut Stats,
) -> Limited<Built<'s>> {
    match Built::new(system, first, OnTrouble::GiveUp, budget, stats) {
        Err(stop) if stop.why == Why::Memory => {}
        done => return done,
    }
    let start = Instant::now();
    let orders = order::alternatives(system);
    let best = trial::best(system, &orders, budget);
    stats.spend("trials", start.elapsed());
    Built::new(system, best?, OnTrouble::SiftLate, budget, stats)
}

/// Everything up to the reachable states.
pub(crate) struct Built<'s> {
    pub(crate) encoder: Encoder<'s>,
    relation: Relation,
    initial: Set,
    pub(crate) reachable: Set,
    n_steps: u32,
}

impl<'s> Built<'s> {
    /// Encodes a system in an order and explores it.
    fn new(
        system: &'s System,
        items: &[Item],
        on_trouble: OnTrouble,
        budget: &Budget,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        let start = Instant::now();
        let layout = Layout::new(system, items);
        let space = match on_trouble {
            OnTrouble::GiveUp => {
                let most_steps = trouble(layout.n_bits) as u64 * STEPS_PER_NODE;
                Space::for_steps(layout.n_bits, budget, most_steps)
            }
            _ => Space::new(layout.n_bits, budget),
        };
        let mut encoder = Encoder::new(system, layout, space, on_trouble);
        let made =
            reach::initial(&mut encoder).and_then(|initial| Ok((initial, Relation::new(&mut encoder)?)));
        stats.spend("encode", start.elapsed());
        let (initial, relation) = made?;
        let start = Instant::now();
        let reached = reach::reachable(&encoder, &relation, &initial, |size| encoder.mind_size(size));
        stats.spend("reach", start.elapsed());
        let (reachable, n_steps) = reached?;
        encoder.space.take_your_time();
        Ok(Built { encoder, relation, initial, reachable, n_steps })
    }
}

struct Diagrams<'s> {
    evidence: Show,
    /// Images taken to find all reachable states.
    n_steps: u32,
    checker: Checker<'s>,
    stats: Stats,
}

impl Diagrams<'_> {
    fn set_budget(&self, budget: &Budget) {
        self.checker.encoder.space.set_budget(budget);
    }
}

impl Encoded for Diagrams<'_> {
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
        self.set_budget(budget);
        let start = Instant::now();
        let checker = &mut self.checker;
        let states = checker.encoder.space.count(&checker.reachable, checker.encoder.layout.n_current());
        let dead = checker.encoder.space.minus(&checker.reachable, &checker.live)?;
        let overflowing = checker.encoder.overflowing(&checker.relation.alive)?;
        let overflowing = checker.encoder.space.and(&overflowing, &checker.reachable)?;
        let path = |targets| match crate::space::Set::is_empty(targets) {
            true => Ok(None),
            false => reach::path_to(&checker.encoder, &checker.relation, &checker.initial, targets, budget),
        };
        let deadlock = path(&dead)?;
        let overflow = match path(&overflowing)? {
            Some(path) => least_overflow(checker.system, path, budget)?,
            None => None,
        };
        let facts = Facts {
            states: states.to_string(),
            no_initial_state: checker.initial.is_empty(),
            deadlock,
            overflow,
            fair_initial: checker.fair_initial,
        };
        self.stats.spend("facts", start.elapsed());
        Ok(facts)
    }

    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
        self.set_budget(budget);
        let start = Instant::now();
        let verdict = match self.checker.fair_initial {
            FairInitial::Unsupported => Verdict::Unknown(Why::Unsupported),
            FairInitial::None => Verdict::Unknown(Why::NoFairPath),
            FairInitial::All | FairInitial::Some => {
                if outside_logic(&self.checker.system.formulas, property.formula).is_some() {
                    Verdict::Unknown(Why::Unsupported)
                } else {
                    match self.checker.holds(property) {
                        Ok(holds) => holds.into(),
                        Err(stop) => Verdict::Unknown(stop.why),
                    }
                }
            }
        };
        self.stats.spend("decide", start.elapsed());
        let mut outcome = Outcome::from(verdict);
        if let Some(holds) = self.evidence.wanted(verdict) {
            let start = Instant::now();
            let system = self.checker.system;
            // A budget that ends here costs the evidence, not the verdict.
            let evidence = explain(&mut self.checker, system, property, holds, budget);
            outcome.evidence = evidence.ok().flatten();
            self.stats.spend("evidence", start.elapsed());
        }
        outcome
    }

    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        self.set_budget(budget);
        if outside_logic(&self.checker.system.formulas, formula).is_some() {
            return Err(Why::Unsupported.into());
        }
        let phi = self.checker.truth(formula)?;
        self.checker.encoder.space.intersects(self.checker.domain(), &phi)
    }

    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
        self.set_budget(budget);
        let is_outside = outside_logic(&self.checker.system.formulas, formula).is_some();
        if is_outside || self.checker.fair_initial == FairInitial::Unsupported {
            return Err(Why::Unsupported.into());
        }
        let phi = self.checker.truth(formula)?;
        let Checker { encoder, initial, .. } = &self.checker;
        let (space, domain) = (&encoder.space, self.checker.domain());
        let count = |set: &Set| space.count(set, encoder.layout.n_current()).to_string();
        let phi = space.and(domain, &phi)?;
        let initial = space.and(domain, initial)?;
        Ok(Extent {
            states: count(&phi),
            of_states: count(domain),
            initial: count(&space.and(&initial, &phi)?),
            of_initial: count(&initial),
        })
    }

    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        Some(&mut self.checker)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        let Checker { encoder, relation, reachable, .. } = &self.checker;
        let space = &encoder.space;
        stats.bytes = space.peak_bytes();
        let largest = relation.events.iter().map(|event| space.size(&event.relation)).max();
        stats.figures = vec![
            ("bits", encoder.layout.n_bits.into()),
            ("events", relation.events.len() as u64),
            ("relation nodes", largest.unwrap_or(0) as u64),
            ("reachable nodes", space.size(reachable) as u64),
            ("live nodes", space.nodes() as u64),
            ("peak nodes", space.peak_nodes() as u64),
            ("steps", self.n_steps.into()),
            ("diagram steps", space.steps()),
        ];
        stats
    }
}
