//! Distributes the parts among the workers. [KLQ10 §4, Procedures 8, 14-16]
//!
//! ```text
//!          parts            a worker explores          and checks
//! SIMPLE   one per worker   its part                   its part
//! MERGE    any number       parts until none is left   all of its parts as one
//! FULL     any number       parts until none is left   each of its parts
//! SEMI     one per worker   its part                   everything (only the first worker)
//! ```

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use masque_verdict::{Budget, Early, Show, Stats};

use super::disjuncts;
use super::partition::Partition;
use super::team::run_workers;
use super::worker::Worker;
use super::{Parallel, SplitBy, SplitStrategy};
use crate::check::Checker;
use crate::early::EarlyReceiver;
use crate::encode::{Encoder, GrowthPolicy};
use crate::engine::{Built, OrderedSystem, encoder};
use crate::reach;
use crate::relation::Relation;
use crate::space::{DEFAULT_MEMORY, Limited, Parcel, Set};
use crate::world::Submodel;

/// Parts per worker, where a worker may take several: enough to balance the load.
const PARTS_PER_WORKER: usize = 4;
/// Maximum number of parts if InitStates has more disjuncts and the user gives no number. Each part costs
/// an exploration and a share of every exchange; the paper has up to 132.
const MAX_DEFAULT_PARTS: usize = 256;

/// An explored system: as a whole, or in parts.
pub(super) enum Explored<'s> {
    Whole(Box<Built<'s>>),
    Parts(Parts<'s>),
}

/// The results of all workers' explorations.
pub(super) struct Parts<'s> {
    /// At least one, each with at least one submodel.
    pub(super) workers: Vec<Worker<'s>>,
    /// All initial states, in the first worker's space.
    pub(super) initial: Set,
    /// Whether no state is in two submodels.
    pub(super) is_disjoint: bool,
    pub(super) n_parts: usize,
    /// Whether the workers share one store.
    pub(super) is_shared: bool,
}

/// Splits the initial states and explores what is reachable from each part.
pub(super) fn explore<'s>(
    parallel: &Parallel,
    mut ordered: OrderedSystem<'s, '_>,
    budget: &Budget,
    stats: &mut Stats,
) -> Limited<Explored<'s>> {
    let n_jobs = parallel.jobs.max(1);
    let memory = budget.memory().unwrap_or(DEFAULT_MEMORY);
    let share = budget.clone().with_memory(if parallel.shared { memory } else { memory / n_jobs as u64 });
    // No worker may sift a store that others use.
    if parallel.shared && !matches!(ordered.policy, GrowthPolicy::Abandon(_)) {
        ordered.policy = GrowthPolicy::Ignore;
    }
    // A bad order is abandoned after as many steps of all workers together as the whole would be given.
    if let GrowthPolicy::Abandon(max_steps) = ordered.policy {
        ordered.policy = GrowthPolicy::Abandon(max_steps / n_jobs as u64);
    }
    let start = Instant::now();
    let mut first = encoder(ordered, 1, &share)?;
    let divided = reach::initial(&mut first).and_then(|initial| {
        let partition = split(parallel, &mut first, &initial)?;
        Ok((initial, partition))
    });
    stats.spend("encode", start.elapsed());
    let (initial, (Partition { parts, is_disjoint }, description)) = divided?;
    if parts.len() < 2 {
        stats.notes.push("not split: there is one part".to_string());
        return Ok(Explored::Whole(Box::new(Built::new(
            ordered,
            n_jobs,
            &mut EarlyReceiver { evidence: Show::None, early: &mut Early::deaf(), budget },
            stats,
        )?)));
    }
    stats.notes.push(format!("split by {description}"));
    let start = Instant::now();
    let n_parts = parts.len();
    let mut encoders = Vec::with_capacity(n_jobs);
    for _ in 1..n_jobs.min(n_parts) {
        encoders.push(Some(if parallel.shared {
            Encoder::new(ordered.system, first.layout.clone(), first.space.share(), ordered.policy)
        } else {
            encoder(ordered, 1, &share)?
        }));
    }
    let parcels: Vec<Parcel> = parts.iter().map(|part| first.space.pack(part)).collect();
    encoders.insert(0, Some(first));
    // Each worker begins with a part of its own: there are at least as many parts as workers.
    let next = AtomicUsize::new(encoders.len());
    let tasks = Tasks { parcels, next, strategy: parallel.strategy };
    let explored = if parallel.strategy == SplitStrategy::Semi {
        stats.notes.push(format!("explored in {n_parts} parts"));
        tasks.explore_whole(&mut encoders, initial, budget).map(|whole| Explored::Whole(Box::new(whole)))
    } else {
        let is_shared = parallel.shared;
        let parts = |workers| Parts { workers, initial, is_disjoint, n_parts, is_shared };
        tasks.explore_parts(&mut encoders, budget).map(parts).map(Explored::Parts)
    };
    stats.spend("reach", start.elapsed());
    explored
}

/// Splits the initial states as the options say: into one part per worker if the strategy says so, else
/// into the requested number, else into one part for each class. Also returns a description of the classes.
pub(super) fn split(
    parallel: &Parallel,
    encoder: &mut Encoder<'_>,
    initial: &Set,
) -> Limited<(Partition, String)> {
    let takes_one = matches!(parallel.strategy, SplitStrategy::Simple | SplitStrategy::Semi);
    let n_jobs = parallel.jobs.max(1);
    let whole = Partition::whole(initial);
    let (partition, n_parts, description) = match &parallel.split {
        SplitBy::Classes { formulas, variables } => {
            let classes = whole.by_formulas(encoder, formulas)?.by_variables(encoder, variables)?;
            let n_classes = classes.parts.len();
            let given = match (formulas.is_empty(), variables.is_empty()) {
                (true, _) => "the values of the given variables",
                (false, true) => "the given formulas",
                (false, false) => "the given formulas and the values of the given variables",
            };
            (classes, parallel.parts.unwrap_or(n_classes), described(given, n_classes))
        }
        SplitBy::Automatic | SplitBy::ChosenBits => {
            let disjuncts = match parallel.split {
                SplitBy::Automatic => disjuncts::disjuncts(encoder.system).unwrap_or_default(),
                _ => Vec::new(),
            };
            let classes = whole.by_formulas(encoder, &disjuncts)?;
            let n_classes = classes.parts.len();
            let n_parts = parallel.parts.unwrap_or(match n_classes {
                1 if takes_one => n_jobs,
                1 => n_jobs * PARTS_PER_WORKER,
                _ => n_classes.clamp(n_jobs, MAX_DEFAULT_PARTS.max(n_jobs)),
            });
            let refined = classes.by_chosen_bits(encoder, initial, n_parts)?;
            let description = match (n_classes, refined.parts.len() > n_classes) {
                (1, _) => "chosen bits".to_string(),
                (_, false) => described("the disjuncts of InitStates", n_classes),
                (_, true) => {
                    format!("{}, then by chosen bits", described("the disjuncts of InitStates", n_classes))
                }
            };
            (refined, n_parts, description)
        }
    };
    let n_parts = if takes_one { n_parts.min(n_jobs) } else { n_parts };
    Ok((partition.merged(encoder, n_parts)?, description))
}

/// Describes what the initial states are split by, for `--stats`.
fn described(what: &str, n_classes: usize) -> String {
    format!("{what} ({n_classes} classes)")
}

/// The parts to be explored.
struct Tasks {
    parcels: Vec<Parcel>,
    /// `sp`, the index of the next part that no worker has taken.
    next: AtomicUsize,
    strategy: SplitStrategy,
}

/// The result of one worker's exploration.
struct WorkerResult<'s> {
    encoder: Encoder<'s>,
    relation: Relation,
    /// Initial and reachable states of each submodel.
    submodels: Vec<(Set, Set)>,
    n_steps: u32,
}

impl Tasks {
    /// `SIMPLE_PARA`, `MERGE_PARA` and `FULL_PARA`: workers with their submodels.
    fn explore_parts<'s>(
        &self,
        encoders: &mut [Option<Encoder<'s>>],
        budget: &Budget,
    ) -> Limited<Vec<Worker<'s>>> {
        let workers = run_workers(encoders, budget, set_budget, |index, slot, _| {
            let Some(reached) = self.reach(index, slot)? else { return Ok(None) };
            let WorkerResult { encoder, relation, submodels, n_steps } = reached;
            let none = encoder.space.none();
            let checker = Checker::new(encoder, relation, none.clone(), none)?;
            let submodel = |(initial, reachable)| Submodel::new(&checker.encoder, initial, reachable);
            let submodels = submodels.into_iter().map(submodel).collect();
            Ok(Some(Worker { checker, submodels, n_steps, n_asked: 0 }))
        })?;
        Ok(workers.into_iter().flatten().collect())
    }

    /// `SEMI_PARA`: the first worker collects the states that all have reached.
    ///
    /// ```text
    /// S = ⋃ S_j
    /// ```
    fn explore_whole<'s>(
        &self,
        encoders: &mut [Option<Encoder<'s>>],
        initial: Set,
        budget: &Budget,
    ) -> Limited<Built<'s>> {
        let reached = run_workers(encoders, budget, set_budget, |index, slot, _| self.reach(index, slot))?;
        let mut reached = reached.into_iter().flatten();
        let Some(first) = reached.next() else { return Err(masque_verdict::Why::Memory.into()) };
        let WorkerResult { encoder, relation, submodels, mut n_steps } = first;
        encoder.space.set_budget(budget);
        let mut all: Vec<Set> = submodels.into_iter().map(|(_, reachable)| reachable).collect();
        for other in reached {
            n_steps = n_steps.max(other.n_steps);
            for (_, reachable) in other.submodels {
                all.push(encoder.space.unpack(&other.encoder.space.pack(&reachable))?);
            }
        }
        let reachable = encoder.balanced(all, false)?;
        Ok(Built { encoder, relation, initial, reachable, n_steps })
    }

    /// Takes parts and explores them, one after the other. [Procedures 8, 14, 15]
    fn reach<'s>(&self, index: usize, slot: &mut Option<Encoder<'s>>) -> Limited<Option<WorkerResult<'s>>> {
        let Some(mut encoder) = slot.take() else { return Ok(None) };
        let Some(mut part) = self.parcels.get(index) else { return Ok(None) };
        let relation = Relation::new(&mut encoder)?;
        let mut submodels: Vec<(Set, Set)> = Vec::new();
        let mut n_steps = 0;
        loop {
            let initial = encoder.space.unpack(part)?;
            let (reachable, n_images) = reach::reachable(&encoder, &relation, &initial, |reached| {
                encoder.check_node_limit(reached.size)
            })?;
            n_steps += n_images;
            match submodels.last_mut() {
                // I'_k ← I'_k ∪ I_j    S'_k ← S'_k ∪ REACH(I_j)
                Some(merged) if self.strategy == SplitStrategy::Merge => {
                    merged.0 = encoder.space.or(&merged.0, &initial)?;
                    merged.1 = encoder.space.or(&merged.1, &reachable)?;
                }
                _ => submodels.push((initial, reachable)),
            }
            match self.take_part() {
                Some(next) => part = next,
                None => break,
            }
        }
        encoder.space.lift_step_limit();
        Ok(Some(WorkerResult { encoder, relation, submodels, n_steps }))
    }

    /// Takes the next part that no worker has taken, if workers take more than one.
    fn take_part(&self) -> Option<&Parcel> {
        match self.strategy {
            SplitStrategy::Simple | SplitStrategy::Semi => None,
            _ => self.parcels.get(self.next.fetch_add(1, Relaxed)),
        }
    }
}

fn set_budget(slot: &Option<Encoder<'_>>, budget: &Budget) {
    if let Some(encoder) = slot {
        encoder.space.set_budget(budget);
    }
}
