//! Knowledge by quantification.
//!
//! Agent `i` considers the states possible that agree with the actual state on the bits `i` sees: the
//! other bits are quantified, and no relation between states is built. SAT_K and SAT_D of [JAL05 §3] take the
//! pre-image of the states outside φ under a relation `R_i^K` over two copies of the bits; the set is the
//! same, and half of the bits suffice.
//!
//! Projections of the domain are kept in a tree: for a question about a few bits, all other bits are quantified
//! first, half of the order in each step, so that a thousand questions about a thousand agents share most of
//! the work.

use masque_model::{AgentId, System};
use rustc_hash::FxHashMap;

use crate::encode::Encoder;
use crate::space::{Cube, Level, Limited, Set};

/// The agents that see something together.
type Viewers = Vec<AgentId>;

/// Projections of one domain.
#[derive(Default)]
pub(crate) struct Projections {
    /// For each range of levels, the domain with all bits outside it quantified, except shared ones.
    local: FxHashMap<(Level, Level), Set>,
    /// For each view and range, the domain with those bits outside the range quantified that are hidden.
    by_view: FxHashMap<(Viewers, Level, Level), Set>,
    /// For each view, the levels of the hidden bits.
    hidden: FxHashMap<Viewers, Vec<Level>>,
    /// Levels of bits that every agent sees.
    shared: Option<Vec<Level>>,
}

impl Projections {
    /// Returns the cube of all bits of the current state that no agent in the view sees.
    pub(crate) fn hidden_cube(&mut self, encoder: &Encoder<'_>, view: &[AgentId]) -> Limited<Cube> {
        let hidden = self.hidden(encoder, view);
        cube_at(encoder, hidden)
    }

    /// Returns the levels of the bits of the current state that no agent in the view sees, in order.
    fn hidden(&mut self, encoder: &Encoder<'_>, view: &[AgentId]) -> Vec<Level> {
        if let Some(hidden) = self.hidden.get(view) {
            return hidden.clone();
        }
        let hidden = hidden_levels(encoder.system, encoder, view);
        self.hidden.insert(view.to_vec(), hidden.clone());
        hidden
    }

    /// Computes the states that the agents of this view together cannot distinguish from some state of
    /// `domain` outside φ.
    ///
    /// ```text
    /// possible = ∃ hidden. (D ∖ φ) = ∃ hidden in R. (¬φ ∧ ∃ hidden outside R. D)
    /// ```
    ///
    /// where `R` is a range of the order that contains all hidden bits that φ depends on. If a range of at
    /// most half of the order also contains what the view sees, the projection of `D` to it is shared by
    /// all agents in it.
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
        let about =
            support.iter().map(|&bit| space.level(bit)).filter(|level| hidden.binary_search(level).is_ok());
        let about = range_of(about);
        let shared = self.shared(encoder);
        let current = encoder.layout.current_bits().map(|bit| space.level(bit));
        let seen = current.filter(|level| hidden.binary_search(level).is_err());
        let seen = range_of(seen.filter(|level| shared.binary_search(level).is_err()));
        let both = match (about, seen) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, other) => one.or(other),
        };
        if let Some((lo, hi)) = both.map(|(lo, hi)| dyadic(lo, hi))
            && (hi.0 - lo.0) * 2 <= encoder.layout.n_bits
        {
            let projected = self.local(encoder, domain, (lo, hi))?;
            let inside = cube_at(encoder, hidden.into_iter().filter(|level| (lo..hi).contains(level)))?;
            return space.and_exists(&projected, not_phi, &inside);
        }
        // If φ depends on seen bits only, the range is empty.
        let (lo, hi) = about.map_or((Level(0), Level(0)), |(lo, hi)| dyadic(lo, hi));
        let projected = self.by_view(encoder, domain, view, (lo, hi))?;
        let inside = cube_at(encoder, hidden.into_iter().filter(|level| (lo..hi).contains(level)))?;
        space.and_exists(&projected, not_phi, &inside)
    }

    /// Returns the levels of the environment's bits that every agent sees.
    fn shared(&mut self, encoder: &Encoder<'_>) -> Vec<Level> {
        let system = encoder.system;
        let shared = self.shared.get_or_insert_with(|| {
            let mut levels: Vec<Level> = system
                .variable_ids()
                .filter(|v| {
                    let owner = system.variable(*v).owner;
                    system.environment == Some(owner)
                        && system.agents.iter().all(|agent| agent.sees.binary_search(v).is_ok())
                })
                .flat_map(|v| encoder.layout.variables[v.index()].current.iter())
                .map(|&bit| encoder.space.level(bit))
                .collect();
            levels.sort_unstable();
            levels
        });
        shared.clone()
    }

    /// Returns the domain with all bits outside a range quantified, except those that every agent sees.
    fn local(&mut self, encoder: &Encoder<'_>, domain: &Set, (lo, hi): (Level, Level)) -> Limited<Set> {
        if is_everything(encoder, (lo, hi)) {
            return Ok(domain.clone());
        }
        if let Some(known) = self.local.get(&(lo, hi)) {
            return Ok(known.clone());
        }
        let around = around((lo, hi));
        let wider = self.local(encoder, domain, around)?;
        let shared = self.shared(encoder);
        let outside = (around.0.0..around.1.0.min(encoder.layout.n_bits))
            .map(Level)
            .filter(|level| !(lo..hi).contains(level) && shared.binary_search(level).is_err());
        let set = encoder.space.exists(&wider, &cube_at(encoder, outside)?)?;
        self.local.insert((lo, hi), set.clone());
        Ok(set)
    }

    /// Returns the domain with the hidden bits outside a range quantified, computed from wider ranges.
    fn by_view(
        &mut self,
        encoder: &Encoder<'_>,
        domain: &Set,
        view: &[AgentId],
        (lo, hi): (Level, Level),
    ) -> Limited<Set> {
        if is_everything(encoder, (lo, hi)) {
            return Ok(domain.clone());
        }
        if let Some(known) = self.by_view.get(&(view.to_vec(), lo, hi)) {
            return Ok(known.clone());
        }
        // Few questions share a view, so a narrow range is computed from a quarter of the order at once.
        let width = (encoder.layout.n_bits / 4).next_power_of_two();
        let around = if hi.0 - lo.0 < width {
            (Level(lo.0 / width * width), Level(lo.0 / width * width + width))
        } else {
            around((lo, hi))
        };
        let wider = self.by_view(encoder, domain, view, around)?;
        let hidden = self.hidden(encoder, view);
        let is_outside = |level: &Level| (around.0..around.1).contains(level) && !(lo..hi).contains(level);
        let outside = cube_at(encoder, hidden.into_iter().filter(is_outside))?;
        let set = encoder.space.exists(&wider, &outside)?;
        self.by_view.insert((view.to_vec(), lo, hi), set.clone());
        Ok(set)
    }
}

/// Returns the cube of the bits at some levels.
fn cube_at(encoder: &Encoder<'_>, levels: impl IntoIterator<Item = Level>) -> Limited<Cube> {
    encoder.space.cube(levels.into_iter().map(|level| encoder.space.bit_at(level)))
}

/// Returns the first and the last of some levels.
fn range_of(levels: impl Iterator<Item = Level>) -> Option<(Level, Level)> {
    levels.fold(None, |range, level| {
        let (lo, hi) = range.unwrap_or((level, level));
        Some((lo.min(level), hi.max(level)))
    })
}

/// Returns whether a range is the whole order.
fn is_everything(encoder: &Encoder<'_>, (lo, hi): (Level, Level)) -> bool {
    lo == Level(0) && hi.0 >= encoder.layout.n_bits
}

/// Returns the dyadic range that is twice as wide and contains this one.
fn around((lo, hi): (Level, Level)) -> (Level, Level) {
    match hi.0 - lo.0 {
        0 => (Level(0), Level(1)),
        width => {
            let lo = lo.0 / (2 * width) * (2 * width);
            (Level(lo), Level(lo + 2 * width))
        }
    }
}

/// Returns the smallest range `[k 2^w, (k+1) 2^w)` that contains two levels.
fn dyadic(lo: Level, hi: Level) -> (Level, Level) {
    let width = 32 - (lo.0 ^ hi.0).leading_zeros();
    let lo = lo.0 >> width << width;
    (Level(lo), Level(lo + (1 << width)))
}

/// Returns the levels of the bits of the current state that no agent in the view sees, in order.
fn hidden_levels(system: &System, encoder: &Encoder<'_>, view: &[AgentId]) -> Vec<Level> {
    let mut is_seen = vec![false; system.variables.len()];
    for agent in view {
        system.agent(*agent).sees.iter().for_each(|v| is_seen[v.index()] = true);
    }
    let mut hidden: Vec<Level> = system
        .variable_ids()
        .filter(|v| !is_seen[v.index()])
        .flat_map(|v| encoder.layout.variables[v.index()].current.iter())
        .map(|&bit| encoder.space.level(bit))
        .collect();
    hidden.sort_unstable();
    #[cfg(feature = "planted-bugs")]
    if crate::planted::has(crate::planted::Bug::KeptHiddenBit) {
        hidden.pop();
    }
    hidden
}

/// Returns the cube of all bits of the current state that some of these agents do not see.
pub(crate) fn unshared_cube(encoder: &Encoder<'_>, agents: &[AgentId]) -> Limited<Cube> {
    let system = encoder.system;
    let mut n_seeing = vec![0; system.variables.len()];
    for &agent in agents {
        system.agent(agent).sees.iter().for_each(|v| n_seeing[v.index()] += 1);
    }
    let unshared = system.variable_ids().filter(|v| n_seeing[v.index()] < agents.len());
    let bits = unshared.flat_map(|v| encoder.layout.variables[v.index()].current.iter().copied());
    let mut levels: Vec<Level> = bits.map(|bit| encoder.space.level(bit)).collect();
    levels.sort_unstable();
    cube_at(encoder, levels)
}

/// Calls `visit` for each agent with the projections of two sets to what it sees. The agents are split in
/// halves, and the bits that no agent of a half sees are quantified for the whole half.
pub(crate) fn each_view(
    encoder: &Encoder<'_>,
    agents: &[AgentId],
    a: &Set,
    b: &Set,
    visit: &mut dyn FnMut(&Set, &Set) -> Limited<()>,
) -> Limited<()> {
    let cube = cube_at(encoder, hidden_levels(encoder.system, encoder, agents))?;
    let (a, b) = (encoder.space.exists(a, &cube)?, encoder.space.exists(b, &cube)?);
    match agents {
        [] => Ok(()),
        [_] => visit(&a, &b),
        _ => {
            let (left, right) = agents.split_at(agents.len() / 2);
            each_view(encoder, left, &a, &b, visit)?;
            each_view(encoder, right, &a, &b, visit)
        }
    }
}
