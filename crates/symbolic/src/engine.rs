//! The engine: from a checked system to verdicts.
//!
//! [`Symbolic`] chooses the order of the variables, encodes and explores the system, and answers
//! questions about it with a [`Checker`].

use std::time::Instant;

use masque_model::{FormulaId, Property, System, VarId};
use masque_verdict::{
    Budget, CertificateRequest, DiagramPhase, Early, Encoded, Engine, Extent, Facts, FairInitial,
    NotCertified, Oracle, Outcome, Show, Stats, Stop, Unsupported, Verdict, Why, inside_logic, outside_logic,
};
use serde::{Deserialize, Serialize};

use crate::check::Checker;
use crate::early::EarlyReceiver;
use crate::encode::{Encoder, GrowthPolicy};
use crate::growing::Growing;
use crate::layout::{Item, Layout};
use crate::order;
use crate::parallel::{self, Parallel};
use crate::reach;
use crate::relation::Relation;
use crate::space::{Limited, Set, Space};
use crate::trial;

/// The engine's name.
pub(crate) const NAME: &str = "symbolic";

/// Diagram steps per level after which the first order is abandoned.
const FIRST_ORDER_STEPS: u64 = 40_000;
/// Diagram steps per level after which an order that was found by trial is abandoned.
const TRIAL_ORDER_STEPS: u64 = 80_000;
/// Diagram steps per level after which an order is abandoned while the model is encoded. The limit stays
/// in force during exploration, so it also bounds the two limits above.
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
    /// Order of the variables.
    pub order: Order,
    /// Whether the order may change during the check.
    pub reorder: Reorder,
    /// Verdicts for which evidence is produced.
    pub evidence: Show,
    /// How the initial states are split among workers; `None`: they are not split.
    pub parallel: Option<Parallel>,
    /// Maximum number of threads per operation on large diagrams. 0 means 1.
    pub jobs: usize,
}

/// A system, an order of its variables, and the reaction to large diagrams in this order.
#[derive(Clone, Copy)]
pub(crate) struct OrderedSystem<'s, 'i> {
    pub(crate) system: &'s System,
    pub(crate) items: &'i [Item],
    pub(crate) policy: GrowthPolicy,
}

/// The order of the variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Variables that are read or written together are neighbours.
    #[default]
    Automatic,
    /// The order of declaration.
    Declared,
    /// These variables from the top, then all others in the order of declaration.
    Given(Vec<VarId>),
}

/// Whether the order may change during the check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reorder {
    /// The order never changes.
    Never,
    /// The order is improved by sifting when the diagrams grow beyond what the model's size explains.
    #[default]
    Auto,
    /// The order is sifted as early as possible, however small the diagrams are: for tests.
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
        Growing::explore(self, system, early, budget)
    }
}

impl Symbolic {
    /// Explores a system in spaces that have the memory of this budget.
    pub(crate) fn explore_within<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        if let Some(parallel) = &self.parallel {
            return parallel::encode(self, parallel, system, early, budget);
        }
        let mut stats = Stats::default();
        let built = self.build(system, early, budget, &mut stats)?;
        self.diagrams(built, stats)
    }

    /// Encodes a system and explores it, in an order chosen by these options.
    pub(crate) fn build<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        self.build_in_order(system, budget, stats, |ordered, stats| {
            let mut receiver = EarlyReceiver { evidence: self.evidence, early, budget };
            Built::new(ordered, self.jobs, &mut receiver, stats)
        })
    }

    /// Calls `build` with an order chosen by these options, with several if the first ones are abandoned.
    ///
    /// The first order is good for most systems. Where it leads to large diagrams, the time for trying
    /// others is well spent; the declared order, good for many of these systems, is tried first.
    pub(crate) fn build_in_order<'s, T>(
        &self,
        system: &'s System,
        budget: &Budget,
        stats: &mut Stats,
        mut build: impl FnMut(OrderedSystem<'s, '_>, &mut Stats) -> Limited<T>,
    ) -> Limited<T> {
        let start = Instant::now();
        let items = match &self.order {
            Order::Automatic => order::by_affinity(system),
            Order::Declared => order::declared(system),
            Order::Given(variables) => order::given(system, variables),
        };
        stats.spend("order", start.elapsed());
        let policy = match (self.reorder, &self.order) {
            (Reorder::Never, _) => GrowthPolicy::Ignore,
            (Reorder::Eager, _) => GrowthPolicy::SiftAlways,
            (Reorder::Auto, Order::Given(_)) => GrowthPolicy::SiftLate,
            (Reorder::Auto, Order::Declared) => GrowthPolicy::Sift,
            (Reorder::Auto, Order::Automatic) => {
                return self.build_by_trial(system, items, budget, stats, build);
            }
        };
        build(OrderedSystem { system, items: &items, policy }, stats)
    }

    /// Calls `build` with the given order. If that is abandoned, calls it with the best orders found by
    /// trial, and finally with the best of these without a limit.
    fn build_by_trial<'s, T>(
        &self,
        system: &'s System,
        items: Vec<Item>,
        budget: &Budget,
        stats: &mut Stats,
        mut build: impl FnMut(OrderedSystem<'s, '_>, &mut Stats) -> Limited<T>,
    ) -> Limited<T> {
        let n_bits = Layout::new(system, &items).n_bits;
        let mut attempt = |items: &[Item], steps_per_level: u64, stats: &mut Stats| {
            let start = Instant::now();
            let mut own = stats.clone();
            let policy = GrowthPolicy::Abandon(trial::total_steps(n_bits, steps_per_level));
            match build(OrderedSystem { system, items, policy }, &mut own) {
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
        if let Some(built) = attempt(&items, FIRST_ORDER_STEPS, stats)? {
            return Ok(built);
        }
        let start = Instant::now();
        let declared = order::declared(system);
        let mut orders = order::alternatives(system);
        orders.retain(|order| *order != declared);
        orders.insert(0, declared);
        budget.meter().begin(DiagramPhase::Ordering);
        let best = trial::best(system, &orders, budget);
        stats.spend("trials", start.elapsed());
        let best = best?;
        stats.notes.push(format!("the order of the variables was chosen among {} by trial", orders.len()));
        for order in &best {
            if let Some(built) = attempt(order, TRIAL_ORDER_STEPS, stats)? {
                return Ok(built);
            }
        }
        build(OrderedSystem { system, items: best[0], policy: GrowthPolicy::SiftLate }, stats)
    }

    /// Prepares an explored system for questions.
    pub(crate) fn diagrams<'s>(
        &self,
        built: Built<'s>,
        mut stats: Stats,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        let Built { encoder, mut relation, initial, reachable, n_steps } = built;
        let start = Instant::now();
        relation.restrict_to_reachable(&encoder, &reachable)?;
        stats.spend("settle", start.elapsed());
        let start = Instant::now();
        let checker = Checker::new(encoder, relation, initial, reachable)?;
        stats.spend("fairness", start.elapsed());
        Ok(Box::new(Diagrams { evidence: self.evidence, n_steps, checker, stats }))
    }
}

/// An encoded system and its reachable states.
pub(crate) struct Built<'s> {
    pub(crate) encoder: Encoder<'s>,
    pub(crate) relation: Relation,
    pub(crate) initial: Set,
    pub(crate) reachable: Set,
    /// Images computed to find all reachable states.
    pub(crate) n_steps: u32,
}

impl<'s> Built<'s> {
    /// Encodes a system in an order and explores it.
    pub(crate) fn new(
        ordered: OrderedSystem<'s, '_>,
        n_threads: usize,
        receiver: &mut EarlyReceiver<'_, '_>,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        receiver.budget.meter().begin(DiagramPhase::Encoding);
        let mut encoder = encoder(ordered, n_threads, receiver.budget)?;
        let start = Instant::now();
        let initial = reach::initial(&mut encoder);
        stats.spend("encode", start.elapsed());
        Built::from_initial(encoder, initial?, receiver, stats)
    }

    /// Prepares the explored system for questions about states and steps.
    pub(crate) fn into_checker(self) -> Limited<Checker<'s>> {
        let Built { encoder, mut relation, initial, reachable, .. } = self;
        relation.restrict_to_reachable(&encoder, &reachable)?;
        Checker::new(encoder, relation, initial, reachable)
    }

    /// Encodes the relation and explores what is reachable from the initial states.
    pub(crate) fn from_initial(
        mut encoder: Encoder<'s>,
        initial: Set,
        receiver: &mut EarlyReceiver<'_, '_>,
        stats: &mut Stats,
    ) -> Limited<Built<'s>> {
        let start = Instant::now();
        let relation = Relation::new(&mut encoder);
        stats.spend("encode", start.elapsed());
        let relation = relation?;
        let start = Instant::now();
        let meter = receiver.budget.meter().clone();
        meter.begin(DiagramPhase::Exploring);
        let mut evaluation = receiver.begin(&mut encoder, &relation, &initial)?;
        let reached = reach::reachable(&encoder, &relation, &initial, |reached| {
            meter.round();
            evaluation.step(&encoder, reached)?;
            encoder.check_node_limit(reached.size)
        });
        stats.spend("reach", start.elapsed());
        let (reachable, n_steps) = reached?;
        encoder.lift_limits();
        Ok(Built { encoder, relation, initial, reachable, n_steps })
    }
}

/// Makes an encoder of a system with nothing encoded yet.
pub(crate) fn encoder<'s>(
    ordered: OrderedSystem<'s, '_>,
    n_threads: usize,
    budget: &Budget,
) -> Limited<Encoder<'s>> {
    let OrderedSystem { system, items, policy } = ordered;
    let layout = Layout::new(system, items);
    let max_steps = match policy {
        GrowthPolicy::Abandon(_) => trial::total_steps(layout.n_bits, ENCODING_STEPS),
        _ => u64::MAX,
    };
    let space = Space::with_threads(layout.n_bits, budget, max_steps, n_threads)?;
    Ok(Encoder::new(system, layout, space, policy))
}

/// An explored system that answers questions.
struct Diagrams<'s> {
    evidence: Show,
    /// Images computed to find all reachable states.
    n_steps: u32,
    checker: Checker<'s>,
    stats: Stats,
}

impl Diagrams<'_> {
    fn set_budget(&self, budget: &Budget) {
        budget.meter().begin(DiagramPhase::Deciding);
        self.checker.encoder.space.set_budget(budget);
    }

    /// Computes the verdict on a property.
    fn judge(&mut self, property: &Property, budget: &Budget) -> Verdict {
        self.set_budget(budget);
        let start = Instant::now();
        self.checker.begin_property(property.formula);
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
        // The same question may be asked again with more time.
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

    fn certificate(
        &mut self,
        request: &CertificateRequest<'_>,
        budget: &Budget,
    ) -> Result<String, NotCertified> {
        self.checker.certificate(request, budget)
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
