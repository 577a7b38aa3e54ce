//! The engine: from a checked system to verdicts.

use std::time::Instant;

use masque_model::{FormulaId, Property, System, VarId};
use masque_verdict::{
    Budget, Early, Encoded, Engine, Extent, Facts, FairInitial, Oracle, Outcome, Show, Stats, Stop,
    Unsupported, Verdict, Why, inside_logic, outside_logic,
};
use serde::{Deserialize, Serialize};

use crate::check::Checker;
use crate::early::Watch;
use crate::encode::{Encoder, OnTrouble, trouble};
use crate::layout::{Item, Layout};
use crate::order;
use crate::parallel::{self, Parallel};
use crate::reach;
use crate::relation::Relation;
use crate::space::{Limited, Set, Space};
use crate::trial;

/// The engine's name.
pub(crate) const NAME: &str = "symbolic";

/// Steps that mean trouble, for each node that does.
const STEPS_PER_NODE: u64 = 120;
/// Steps for each level that the first orders may take, and those found by trial.
const FIRST_STEPS: u64 = 40_000;
const LAST_STEPS: u64 = 80_000;
/// Steps for each level that encoding the model may take.
const ENCODING_STEPS: u64 = 48_000;

/// Decides CTL, LTL, CTL*, ATL and the mu-calculus, all with knowledge and norms, on decision
/// diagrams.
///
/// ```
/// use masque_symbolic::Symbolic;
/// use masque_verdict::Engine;
/// assert_eq!(Symbolic::default().name(), "symbolic");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Symbolic {
    /// How the variables are ordered.
    pub order: Order,
    /// Whether the order may change on the way.
    pub reorder: Reorder,
    /// Which verdicts get evidence.
    pub evidence: Show,
    /// Whether the initial states are split among workers, and how.
    pub parallel: Option<Parallel>,
    /// How many threads may work on one operation, where diagrams are large; none is one.
    pub jobs: usize,
}

/// A system, the order of its variables, and what to do when that leads to trouble.
pub(crate) type Ordered<'s, 'i> = (&'s System, &'i [Item], OnTrouble);

/// How the variables are ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported> {
        inside_logic(system, property)
    }

    fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        if let Some(parallel) = &self.parallel {
            return parallel::encode(self, parallel, system, early, budget);
        }
        let mut stats = Stats::default();
        let built = self.built(system, early, budget, &mut stats)?;
        self.diagrams(built, stats)
    }
}

impl Symbolic {
    /// Encodes a system and explores it, in the order that these options lead to.
    pub(crate) fn built<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        self.in_order(system, budget, stats, |items, on_trouble, stats| {
            let mut watch = Watch { evidence: self.evidence, early, budget };
            Built::new((system, items, on_trouble), self.jobs, &mut watch, stats)
        })
    }

    /// Builds something in the order that these options lead to.
    ///
    /// The first order is good for most systems. Where it leads to trouble, the time for trying others
    /// is well spent; the declared one, good for many of them, is the first that is tried.
    pub(crate) fn in_order<T>(
        &self,
        system: &System,
        budget: &Budget,
        stats: &mut Stats,
        mut build: impl FnMut(&[Item], OnTrouble, &mut Stats) -> Limited<T>,
    ) -> Limited<T> {
        let start = Instant::now();
        let items = match &self.order {
            Order::Automatic => order::by_affinity(system),
            Order::Declared => order::declared(system),
            Order::Given(variables) => order::given(system, variables),
        };
        stats.spend("order", start.elapsed());
        let on_trouble = match (self.reorder, &self.order) {
            (Reorder::Never, _) => OnTrouble::GoOn,
            (Reorder::Eager, _) => OnTrouble::SiftAnyway,
            (Reorder::Auto, Order::Given(_)) => OnTrouble::SiftLate,
            (Reorder::Auto, Order::Declared) => OnTrouble::Sift,
            (Reorder::Auto, Order::Automatic) => return self.by_trial(system, items, budget, stats, build),
        };
        build(&items, on_trouble, stats)
    }

    /// Builds something in an order that does not lead to trouble, if there is one.
    fn by_trial<T>(
        &self,
        system: &System,
        items: Vec<Item>,
        budget: &Budget,
        stats: &mut Stats,
        mut build: impl FnMut(&[Item], OnTrouble, &mut Stats) -> Limited<T>,
    ) -> Limited<T> {
        let n_bits = Layout::new(system, &items).n_bits;
        let mut attempt = |items: &[Item], per_level: u64, stats: &mut Stats| {
            let start = Instant::now();
            let mut own = stats.clone();
            match build(items, OnTrouble::GiveUp(trial::allowance(n_bits, per_level)), &mut own) {
                Err(stop) if stop.why == Why::Memory => {
                    stats.spend("trials", start.elapsed());
                    Ok(None)
                }
                done => {
                    *stats = own;
                    done.map(Some)
                }
            }
        };
        if let Some(built) = attempt(&items, FIRST_STEPS, stats)? {
            return Ok(built);
        }
        let start = Instant::now();
        let declared = order::declared(system);
        let mut orders = order::alternatives(system);
        orders.retain(|order| *order != declared);
        orders.insert(0, declared);
        let best = trial::best(system, &orders, budget);
        stats.spend("trials", start.elapsed());
        let best = best?;
        stats.notes.push(format!("the order of the variables was chosen among {} by trial", orders.len()));
        for order in &best {
            if let Some(built) = attempt(order, LAST_STEPS, stats)? {
                return Ok(built);
            }
        }
        build(best[0], OnTrouble::SiftLate, stats)
    }

    /// What was built, ready for questions.
    pub(crate) fn diagrams<'s>(
        &self,
        built: Built<'s>,
        mut stats: Stats,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        let Built { encoder, mut relation, initial, reachable, n_steps } = built;
        let start = Instant::now();
        relation.settle(&encoder, &reachable)?;
        stats.spend("settle", start.elapsed());
        let start = Instant::now();
        let checker = Checker::new(encoder, relation, initial, reachable)?;
        stats.spend("fairness", start.elapsed());
        Ok(Box::new(Diagrams { evidence: self.evidence, n_steps, checker, stats }))
    }
}

/// Everything up to the reachable states.
pub(crate) struct Built<'s> {
    pub(crate) encoder: Encoder<'s>,
    pub(crate) relation: Relation,
    pub(crate) initial: Set,
    pub(crate) reachable: Set,
    /// Images taken to find all reachable states.
    pub(crate) n_steps: u32,
}

impl<'s> Built<'s> {
    /// Encodes a system in an order and explores it.
    pub(crate) fn new(
        ordered: Ordered<'s, '_>,
        n_threads: usize,
        watch: &mut Watch<'_, '_>,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        let mut encoder = encoder(ordered, n_threads, watch.budget);
        let start = Instant::now();
        let initial = reach::initial(&mut encoder);
        stats.spend("encode", start.elapsed());
        Built::from_initial(encoder, initial?, watch, stats)
    }

    /// Explores what can be reached from the initial states.
    pub(crate) fn from_initial(
        mut encoder: Encoder<'s>,
        initial: Set,
        watch: &mut Watch<'_, '_>,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        let start = Instant::now();
        let relation = Relation::new(&mut encoder);
        stats.spend("encode", start.elapsed());
        let relation = relation?;
        let start = Instant::now();
        let mut looking = watch.begin(&mut encoder, &relation, &initial)?;
        let reached = reach::reachable(&encoder, &relation, &initial, |reached| {
            looking.step(&encoder, reached)?;
            encoder.mind_size(reached.size)
        });
        stats.spend("reach", start.elapsed());
        let (reachable, n_steps) = reached?;
        encoder.take_your_time();
        Ok(Built { encoder, relation, initial, reachable, n_steps })
    }
}

/// The steps that mean trouble.
pub(crate) fn steps_of_trouble(n_bits: u32) -> u64 {
    trouble(n_bits) as u64 * STEPS_PER_NODE
}

/// An empty encoding of a system, its variables in an order.
pub(crate) fn encoder<'s>(
    (system, items, on_trouble): Ordered<'s, '_>,
    n_threads: usize,
    budget: &Budget,
) -> Encoder<'s> {
    let layout = Layout::new(system, items);
    let most_steps = match on_trouble {
        OnTrouble::GiveUp(_) => trial::allowance(layout.n_bits, ENCODING_STEPS),
        _ => u64::MAX,
    };
    let space = Space::on_threads(layout.n_bits, budget, most_steps, n_threads);
    Encoder::new(system, layout, space, on_trouble)
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

    /// The verdict on a property.
    fn judge(&mut self, property: &Property, budget: &Budget) -> Verdict {
        self.set_budget(budget);
        let start = Instant::now();
        self.checker.turn_to(property.formula);
        let is_outside = outside_logic(&self.checker.system.formulas, property.formula).is_some();
        let verdict = match self.checker.fair_initial {
            FairInitial::Unsupported => Verdict::Unknown(Why::Unsupported),
            FairInitial::None => Verdict::Unknown(Why::NoFairPath),
            FairInitial::All | FairInitial::Some if is_outside => Verdict::Unknown(Why::Unsupported),
            FairInitial::All | FairInitial::Some => match self.checker.holds(property) {
                Ok(holds) => holds.into(),
                Err(stop) => Verdict::Unknown(stop.why),
            },
        };
        self.stats.spend("decide", start.elapsed());
        verdict
    }
}

impl Encoded for Diagrams<'_> {
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
        self.set_budget(budget);
        let start = Instant::now();
        let facts = self.checker.facts(budget)?;
        self.stats.spend("facts", start.elapsed());
        Ok(facts)
    }

    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
        let mut outcome = Outcome::from(self.judge(property, budget));
        if let Some(holds) = self.evidence.wanted(outcome.verdict) {
            let start = Instant::now();
            outcome.evidence = self.checker.evidence(property, holds, budget);
            self.stats.spend("evidence", start.elapsed());
        }
        // It may be asked again with more time.
        if budget.is_over() {
            self.checker.ahead.put_off();
        }
        outcome
    }

    fn verdict(&mut self, property: &Property, budget: &Budget) -> Verdict {
        let verdict = self.judge(property, budget);
        self.checker.ahead.put_off();
        verdict
    }

    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        self.set_budget(budget);
        self.checker.is_true_somewhere(formula)
    }

    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
        self.set_budget(budget);
        let is_outside = outside_logic(&self.checker.system.formulas, formula).is_some();
        if is_outside || self.checker.fair_initial == FairInitial::Unsupported {
            return Err(Why::Unsupported.into());
        }
        self.checker.extent(formula)
    }

    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        Some(&mut self.checker)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        let Checker { encoder, relation, reachable, .. } = &self.checker;
        let space = &encoder.space;
        stats.bytes = space.peak_bytes();
        stats.figures = vec![
            ("bits".into(), encoder.layout.n_bits.into()),
            ("events".into(), relation.events.len() as u64),
            (
                "clusters".into(),
                relation.in_use().iter().map(|event| event.n_clusters() as u64).max().unwrap_or(0),
            ),
            ("relation nodes".into(), relation.largest(encoder) as u64),
            ("reachable nodes".into(), space.size(reachable) as u64),
            ("live nodes".into(), space.nodes() as u64),
            ("peak nodes".into(), space.peak_nodes() as u64),
            ("steps".into(), self.n_steps.into()),
            ("diagram steps".into(), space.steps()),
            ("spread".into(), space.n_spread()),
        ];
        stats
    }
}
