//! The [`Oracle`] from which evidence is built.
//!
//! Paths are found by rings: sets of states at the same distance ([`Steps`]). The rings around the initial
//! states are kept.

use masque_model::{Count, Deadlock, Formula, FormulaId};
use masque_verdict::{Budget, Literal, Oracle, PathLength, RegionPart, Route, State, StepKind, Stop, Why};

use crate::check::Checker;
use crate::fixpoint::{PathSearch, Steps, iterate};
use crate::reach::{least, least_and_singleton, singleton};
use crate::space::{Limited, Set, exact};
use crate::uniform::Wanted;

/// Results that are kept from question to question.
#[derive(Default)]
pub(crate) struct OracleCache {
    /// The reachable states by their distance from the initial states, as far as they were needed.
    rings: Vec<Set>,
    /// The union of all rings.
    ringed: Option<Set>,
    /// The last regions of infinite paths.
    regions: Vec<(RegionPart, Set)>,
    /// The last state in question, as a set.
    here: Option<(State, Set)>,
}

/// Number of regions of infinite paths that are kept: as many as the search for a loop needs.
const N_KEPT_REGIONS: usize = 2;

impl Oracle for Checker<'_> {
    fn is_true(&mut self, formula: FormulaId, state: &State, budget: &Budget) -> Result<bool, Stop> {
        self.encoder.space.set_budget(budget);
        let here = self.here(state)?;
        self.everywhere(&here, formula, false)
    }

    fn is_dead_end(&mut self, state: &State, budget: &Budget) -> Result<bool, Stop> {
        self.encoder.space.set_budget(budget);
        let here = self.here(state)?;
        Ok(!self.encoder.space.intersects(&here, &self.live)?)
    }

    fn least(&mut self, region: &[RegionPart], budget: &Budget) -> Result<Option<State>, Stop> {
        self.encoder.space.set_budget(budget);
        let states = self.region(region)?;
        if states.is_empty() { Ok(None) } else { least(&self.encoder, &states).map(Some) }
    }

    fn first(
        &mut self,
        region: &[RegionPart],
        max: usize,
        budget: &Budget,
    ) -> Result<(Vec<State>, Count), Stop> {
        self.encoder.space.set_budget(budget);
        let mut rest = self.region(region)?;
        let n_states = exact(&self.encoder.space.count(&rest, self.encoder.layout.n_current()));
        let mut first = Vec::new();
        while first.len() < max && !rest.is_empty() {
            let (state, singleton) = least_and_singleton(&self.encoder, &rest)?;
            rest = self.encoder.space.minus(&rest, &singleton)?;
            first.push(state);
        }
        Ok((first, n_states))
    }

    fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<State>>, Stop> {
        self.encoder.space.set_budget(budget);
        let to = self.region(&route.to)?;
        if to.is_empty() {
            return Ok(None);
        }
        let is_plain = route.from == [RegionPart::Initial] && route.through.is_empty();
        let (mut rings, mut regions) = (None, None);
        if is_plain && route.by == StepKind::Steps && route.length == PathLength::Any {
            rings = self.rings_to(&to)?;
        } else {
            regions = Some((self.region(&route.from)?, self.region(&route.through)?));
        }
        let steps = Steps {
            space: &self.encoder.space,
            after: |set: &Set| match route.by {
                StepKind::Steps => self.after(set),
                StepKind::Confusion(group) => self.confused_by_some(group, set),
            },
            before: |set: &Set| match route.by {
                StepKind::Steps => self.before(set),
                StepKind::Confusion(group) => self.confused_by_some(group, set),
            },
            least: |set: &Set| least_and_singleton(&self.encoder, set),
        };
        if let Some((from, through)) = &regions {
            let n_steps = match route.length {
                PathLength::Any => 0..=usize::MAX,
                PathLength::Some => 1..=usize::MAX,
                PathLength::One => 1..=1,
            };
            rings = steps.rings(&PathSearch { from, through, to: &to, n_steps })?;
        }
        let Some(rings) = rings else { return Ok(None) };
        let path = steps.least_path(rings, &to)?;
        Ok(Some(path.into_iter().map(|(state, _)| state).collect()))
    }
}

impl Checker<'_> {
    /// Returns the set of one state. The last one is kept: often several questions about one state follow
    /// each other.
    fn here(&mut self, state: &State) -> Limited<Set> {
        if let Some((known, here)) = &self.oracle_cache.here
            && known == state
        {
            return Ok(here.clone());
        }
        let here = singleton(&self.encoder, state)?;
        self.oracle_cache.here = Some((state.clone(), here.clone()));
        Ok(here)
    }

    /// Computes the states that meet all parts.
    fn region(&mut self, parts: &[RegionPart]) -> Limited<Set> {
        let mut states = self.domain().clone();
        for part in parts {
            let set = match part {
                RegionPart::Initial => self.initial.clone(),
                RegionPart::Is(state) => self.here(state)?,
                RegionPart::Literal(literal) => self.literal(*literal, &states)?,
                RegionPart::Green(agent) => self.green(&[*agent])?,
                RegionPart::Alike(agents, state) => {
                    let here = self.here(state)?;
                    self.confused(agents, &here)?
                }
                RegionPart::Constraint(index) => {
                    self.constraint(*index).cloned().ok_or(Stop::from(Why::Unsupported))?
                }
                RegionPart::Forever(_) | RegionPart::Recurrent(_) => self.infinite(part)?,
            };
            states = self.encoder.space.and(&states, &set)?;
        }
        Ok(states)
    }

    /// Computes where a literal is true, modulo the domain. States outside `among` may be wrong.
    fn literal(&mut self, literal: Literal, among: &Set) -> Limited<Set> {
        let is_known = self.world.known[literal.formula.index()].is_some();
        let phi = match self.system.formulas.get(literal.formula) {
            Formula::Enforces(group, strategies, path) if !is_known => {
                self.enforces(group, strategies, path, Wanted::Among(among))?
            }
            _ => self.truth(literal.formula)?,
        };
        if literal.holds { Ok(phi) } else { self.encoder.space.not(&phi) }
    }

    /// Computes a region of infinite paths. The last ones are kept: often several questions about the same
    /// region follow each other.
    fn infinite(&mut self, part: &RegionPart) -> Limited<Set> {
        if let Some((_, known)) = self.oracle_cache.regions.iter().find(|(known, _)| known == part) {
            return Ok(known.clone());
        }
        let states = match part {
            RegionPart::Forever(literals) => {
                let literals: Vec<RegionPart> =
                    literals.iter().map(|&literal| RegionPart::Literal(literal)).collect();
                let phi = self.region(&literals)?;
                self.exists_globally(&phi)?
            }
            RegionPart::Recurrent(parts) => {
                let inside = self.region(parts)?;
                // νZ. R ∩ post(Z)
                iterate(inside, |z| self.encoder.space.and(z, &self.after(z)?))?
            }
            _ => return Err(Why::Unsupported.into()),
        };
        if self.oracle_cache.regions.len() == N_KEPT_REGIONS {
            self.oracle_cache.regions.remove(0);
        }
        self.oracle_cache.regions.push((part.clone(), states.clone()));
        Ok(states)
    }

    /// Computes the successors of a set; under `stutter` a dead end is its own successor.
    fn after(&self, states: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let after = self.relation.post(&self.encoder, states)?;
        match self.system.meaning.deadlock {
            Deadlock::Stutter => space.or(&after, &space.minus(states, &self.live)?),
            Deadlock::Finite | Deadlock::Error => Ok(after),
        }
    }

    /// Computes the predecessors of a set; under `stutter` a dead end is its own predecessor.
    fn before(&self, states: &Set) -> Limited<Set> {
        let space = &self.encoder.space;
        let before = self.relation.pre(&self.encoder, states)?;
        match self.system.meaning.deadlock {
            Deadlock::Stutter => space.or(&before, &space.minus(states, &self.live)?),
            Deadlock::Finite | Deadlock::Error => Ok(before),
        }
    }

    /// Returns the rings from the initial states up to the first that intersects `to`; they are kept.
    fn rings_to(&mut self, to: &Set) -> Limited<Option<Vec<Set>>> {
        let mut n_rings = 0;
        loop {
            if n_rings == self.oracle_cache.rings.len() && !self.add_ring()? {
                return Ok(None);
            }
            n_rings += 1;
            if self.encoder.space.intersects(&self.oracle_cache.rings[n_rings - 1], to)? {
                return Ok(Some(self.oracle_cache.rings[..n_rings].to_vec()));
            }
        }
    }

    /// Adds the next ring. Returns whether there is one.
    fn add_ring(&mut self) -> Limited<bool> {
        let space = &self.encoder.space;
        let (ring, ringed) = match (self.oracle_cache.rings.last(), &self.oracle_cache.ringed) {
            (Some(last), Some(ringed)) => {
                let image = self.relation.post(&self.encoder, last)?;
                let new = space.minus(&image, ringed)?;
                let ringed = space.or(ringed, &new)?;
                (new, ringed)
            }
            _ => (self.initial.clone(), self.initial.clone()),
        };
        if ring.is_empty() {
            return Ok(false);
        }
        self.oracle_cache.rings.push(ring);
        self.oracle_cache.ringed = Some(ringed);
        Ok(true)
    }
}
