//! Knowledge by quantification.
//!
//! What agent `i` considers possible is what agrees with the facts on the bits `i` sees: the other
//! bits are quantified away. No relation between states is ever built. Projections of the domain
//! are kept in a tree: to ask about a few bits far from each other, everything else is forgotten
//! first, half of the order at a time, so that a thousand questions about a thousand agents share
//! most of the work.

use masque_model::{AgentId, System};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::space::{Bit, Cube, Limited, Set};

/// A view: the agents whose bits are seen.
type View = Vec<AgentId>;

/// Projections of one domain.
#[derive(Default)]
pub(crate) struct Projections {
    /// By range of the order: the domain without the bits outside it, shared ones excepted.
    local: FxHashMap<(u32, u32), Set>,
    /// By view and range: the domain without the bits outside the range that the view hides.
    by_view: FxHashMap<(View, u32, u32), Set>,
    hidden: FxHashMap<View, Vec<Bit>>,
    /// Bits that every agent sees.
    shared: Option<Vec<Bit>>,
}

impl Projections {
    /// The bits of the current state that nobody in the view sees, in order.
    pub(crate) fn hidden(&mut self, encoder: &Encoder<'_>, view: &[AgentId]) -> Vec<Bit> {
        if let Some(hidden) = self.hidden.get(view) {
            return hidden.clone();
        }
        let hidden = hidden_bits(encoder.system, encoder, view);
        self.hidden.insert(view.to_vec(), hidden.clone());
        hidden
    }

    /// The states that somebody with this view confuses with a state of `domain` outside `phi`.
    ///
    /// ```text
    /// possible = ∃ hidden. (D ∖ φ) = ∃ hidden in R. (¬φ ∧ ∃ hidden outside R. D)
    /// ```
    ///
    /// where `R` is a range of the order that contains all bits φ speaks of. If it can contain what
    /// the view sees as well, the projection of `D` to it serves all agents there.
    pub(crate) fn possible(
        &mut self,
        encoder: &Encoder<'_>,
        domain: &Set,
        view: &[AgentId],
        not_phi: &Set,
    ) -> Limited<Set> {
        let space = &encoder.space;
        let hidden = self.hidden(encoder, view);
        let support = space.support(not_phi);
        let about = support.iter().copied().filter(|bit| hidden.binary_search(bit).is_ok());
        let about = range_of(about);
        let shared = self.shared(encoder);
        let seen = encoder.layout.current_bits().filter(|bit| hidden.binary_search(bit).is_err());
        let seen = range_of(seen.filter(|bit| shared.binary_search(bit).is_err()));
        let both = match (about, seen) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, other) => one.or(other),
        };
        if let Some((lo, hi)) = both.map(|(lo, hi)| dyadic(lo, hi))
            && (hi - lo) * 2 <= encoder.layout.n_bits
        {
            let projected = self.local(encoder, domain, (lo, hi))?;
            let inside = space.cube(hidden.iter().copied().filter(|bit| (lo..hi).contains(bit)))?;
            return space.and_exists(&projected, not_phi, &inside);
        }
        // φ may speak of what is seen only: then nothing hidden matters.
        let (lo, hi) = about.map_or((0, 0), |(lo, hi)| dyadic(lo, hi));
        let projected = self.by_view(encoder, domain, view, (lo, hi))?;
        let inside = space.cube(hidden.iter().copied().filter(|bit| (lo..hi).contains(bit)))?;
        space.and_exists(&projected, not_phi, &inside)
    }

    fn shared(&mut self, encoder: &Encoder<'_>) -> Vec<Bit> {
        let system = encoder.system;
        let shared = self.shared.get_or_insert_with(|| {
            let mut bits: Vec<Bit> = system
                .variable_ids()
                .filter(|v| {
                    let owner = system.variable(*v).owner;
                    system.environment == Some(owner)
                        && system.agents.iter().all(|agent| agent.sees.binary_search(v).is_ok())
                })
                .flat_map(|v| encoder.layout.variables[v.index()].current.iter().copied())
                .collect();
            bits.sort_unstable();
            bits
        });
        shared.clone()
    }

    /// The domain without the bits outside a range, but with what everybody sees.
    fn local(&mut self, encoder: &Encoder<'_>, domain: &Set, (lo, hi): (u32, u32)) -> Limited<Set> {
        if lo == 0 && hi >= encoder.layout.n_bits {
            return Ok(domain.clone());
        }
        if let Some(known) = self.local.get(&(lo, hi)) {
            return Ok(known.clone());
        }
        let around = around((lo, hi));
        let wider = self.local(encoder, domain, around)?;
        let shared = self.shared(encoder);
        let outside = (around.0..around.1.min(encoder.layout.n_bits))
            .filter(|bit| !(lo..hi).contains(bit) && shared.binary_search(bit).is_err());
        let set = encoder.space.exists(&wider, &encoder.space.cube(outside)?)?;
        self.local.insert((lo, hi), set.clone());
        Ok(set)
    }

    /// The domain without the hidden bits outside a range, by way of the ranges around it.
    fn by_view(
        &mut self,
        encoder: &Encoder<'_>,
        domain: &Set,
        view: &[AgentId],
        (lo, hi): (u32, u32),
    ) -> Limited<Set> {
        if lo == 0 && hi >= encoder.layout.n_bits {
            return Ok(domain.clone());
        }
        if let Some(known) = self.by_view.get(&(view.to_vec(), lo, hi)) {
            return Ok(known.clone());
        }
        let around = around((lo, hi));
        let wider = self.by_view(encoder, domain, view, around)?;
        let hidden = self.hidden(encoder, view);
        let outside = hidden
            .iter()
            .copied()
            .filter(|bit| (around.0..around.1).contains(bit) && !(lo..hi).contains(bit));
        let set = encoder.space.exists(&wider, &encoder.space.cube(outside)?)?;
        self.by_view.insert((view.to_vec(), lo, hi), set.clone());
        Ok(set)
    }
}

/// The first and the last of some bits.
fn range_of(bits: impl Iterator<Item = Bit>) -> Option<(Bit, Bit)> {
    bits.fold(None, |range, bit| {
        let (lo, hi) = range.unwrap_or((bit, bit));
        Some((lo.min(bit), hi.max(bit)))
    })
}

/// The dyadic range twice as wide around one.
fn around((lo, hi): (u32, u32)) -> (u32, u32) {
    match hi - lo {
        0 => (0, 1),
        width => {
            let lo = lo / (2 * width) * (2 * width);
            (lo, lo + 2 * width)
        }
    }
}

/// The smallest range `[k 2^w, (k+1) 2^w)` around two bits.
fn dyadic(lo: Bit, hi: Bit) -> (u32, u32) {
    let width = 32 - (lo ^ hi).leading_zeros();
    let lo = lo >> width << width;
    (lo, lo + (1 << width))
}

pub(crate) fn hidden_bits(system: &System, encoder: &Encoder<'_>, view: &[AgentId]) -> Vec<Bit> {
    let mut is_seen = vec![false; system.variables.len()];
    for agent in view {
        system.agent(*agent).sees.iter().for_each(|v| is_seen[v.index()] = true);
    }
    let mut hidden: Vec<Bit> = system
        .variable_ids()
        .filter(|v| !is_seen[v.index()])
        .flat_map(|v| encoder.layout.variables[v.index()].current.iter().copied())
        .collect();
    hidden.sort_unstable();
    hidden
}

/// Calls `visit` with each agent and what of each of two sets it sees, forgetting step by step what
/// only the other half of the agents sees.
pub(crate) fn each_view(
    encoder: &Encoder<'_>,
    agents: &[AgentId],
    (a, b): (&Set, &Set),
    visit: &mut dyn FnMut(AgentId, &Set, &Set) -> Limited<()>,
) -> Limited<()> {
    let cube: Cube = encoder.space.cube(hidden_bits(encoder.system, encoder, agents))?;
    let (a, b) = (encoder.space.exists(a, &cube)?, encoder.space.exists(b, &cube)?);
    match agents {
        [] => Ok(()),
        [agent] => visit(*agent, &a, &b),
        _ => {
            let (left, right) = agents.split_at(agents.len() / 2);
            each_view(encoder, left, (&a, &b), visit)?;
            each_view(encoder, right, (&a, &b), visit)
        }
    }
}
