//! Decides whether splitting saves time: [`SplitStrategy::Auto`].
//!
//! Most systems are explored so fast that splitting is not worth it. In an order that suits the system a part is
//! hardly smaller than the whole. What remains is a bad order that must not be changed: there the busiest of two
//! workers took 0.55 to 0.92 of the steps of the whole, on all models that were measured (docs/parallel.md). Nodes
//! are counted, not seconds, so the choice is the same on every machine.

use masque_verdict::{Budget, Early, Show, Stats, Why};

use super::strategy::{self, Explored};
use super::{Parallel, SplitStrategy};
use crate::early::EarlyReceiver;
use crate::encode::GrowthPolicy;
use crate::engine::{Built, OrderedSystem};
use crate::space::Limited;

/// Explores the whole. If the order must not be changed and there are several workers, the whole is given up
/// where it exceeds the node limit (`encode.rs`), and explored in parts.
pub(super) fn explore<'s>(
    parallel: &Parallel,
    ordered: OrderedSystem<'s, '_>,
    budget: &Budget,
    stats: &mut Stats,
) -> Limited<Explored<'s>> {
    let may_split = matches!(ordered.policy, GrowthPolicy::Ignore) && parallel.jobs > 1;
    let policy = if may_split { GrowthPolicy::Abandon(u64::MAX) } else { ordered.policy };
    let mut receiver = EarlyReceiver { evidence: Show::None, early: &mut Early::deaf(), budget };
    match Built::new(OrderedSystem { policy, ..ordered }, parallel.jobs, &mut receiver, stats) {
        Err(stop) if stop.why == Why::Memory && may_split => {
            let simple = Parallel { strategy: SplitStrategy::Simple, ..parallel.clone() };
            strategy::explore(&simple, ordered, budget, stats)
        }
        built => {
            let why = match (may_split, parallel.jobs) {
                (true, _) => "small enough as a whole",
                (false, 0..=1) => "there is one worker",
                (false, _) => "the order of the variables may be changed instead",
            };
            stats.notes.push(format!("not split: {why}"));
            Ok(Explored::Whole(Box::new(built?)))
        }
    }
}
