//! Regions: the sets of states that evidence asks about.

use std::rc::Rc;

use masque_verdict::{Bounds, Budget, Literal, RegionPart, Stop, Why};

use crate::bitset::Bitset;
use crate::labelling::{Labelling, StoredStates};

/// Maximum number of regions of infinite paths that are kept: those that evidence of one lasso needs.
const MAX_KEPT_PATH_REGIONS: usize = 2;

/// Returns the states that meet all parts.
pub(crate) fn region<'s>(
    states: &mut impl StoredStates<'s>,
    parts: &[RegionPart],
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let domain = states.domain(budget)?;
    let mut region = (*domain).clone();
    for part in parts {
        region = match part {
            RegionPart::Initial => region.and(&states.initial(budget)?),
            RegionPart::Is(state) => {
                let mut one = Bitset::empty(region.len());
                if let Some(index) = states.find_state(state)?.filter(|&index| region.contains(index)) {
                    one.insert(index);
                }
                one
            }
            RegionPart::Literal(literal) => select(states, region, *literal, budget)?,
            RegionPart::Green(agent) => states.green(*agent, &region, budget)?,
            RegionPart::Alike(agents, state) => states.alike(agents, state, &region)?,
            RegionPart::Constraint(index) => {
                let constraints = states.labels().scope().constraints;
                region.and(constraints.get(*index).ok_or(Stop::from(Why::Unsupported))?)
            }
            RegionPart::Forever(_) | RegionPart::Recurrent(_) => {
                region.and(&*path_region(states, part, budget)?)
            }
        };
    }
    Ok(region)
}

/// Returns the states of a set where a literal is true.
fn select<'s>(
    states: &mut impl StoredStates<'s>,
    among: Bitset,
    literal: Literal,
    budget: &Budget,
) -> Result<Bitset, Stop> {
    let Literal { formula, holds } = literal;
    let (surely, possibly) = match states.partial_bounds(formula, budget)? {
        Some(Bounds { surely, possibly }) => (surely, possibly),
        None => {
            let phi = states.truth_among(formula, &among, budget)?;
            (Rc::clone(&phi), phi)
        }
    };
    Ok(if holds { among.and(&surely) } else { among.minus(&possibly) })
}

/// Returns a region of infinite paths. The last ones are kept because evidence asks about the same region
/// several times in a row.
fn path_region<'s>(
    states: &mut impl StoredStates<'s>,
    part: &RegionPart,
    budget: &Budget,
) -> Result<Rc<Bitset>, Stop> {
    if let Some((_, known)) = states.labels().path_regions.iter().find(|(known, _)| known == part) {
        return Ok(Rc::clone(known));
    }
    let found = match part {
        RegionPart::Forever(literals) => {
            let mut phi = (*states.domain(budget)?).clone();
            for &literal in literals {
                phi = select(states, phi, literal, budget)?;
            }
            let constraints = states.labels().scope().constraints;
            states.exists_globally(&phi, &constraints, budget)?
        }
        RegionPart::Recurrent(parts) => {
            let inside = region(states, parts, budget)?;
            states.recurrent(inside, budget)?
        }
        _ => return Err(Why::Unsupported.into()),
    };
    let found = Rc::new(found);
    let kept = &mut states.labels().path_regions;
    if kept.len() == MAX_KEPT_PATH_REGIONS {
        kept.remove(0);
    }
    kept.push((part.clone(), Rc::clone(&found)));
    Ok(found)
}

/// Whether two rows agree on the bits of a mask.
pub fn is_same(left: &[u64], right: &[u64], mask: &[u64]) -> bool {
    left.iter().zip(right).zip(mask).all(|((left, right), mask)| (left ^ right) & mask == 0)
}
