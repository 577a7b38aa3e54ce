//! States read back from their text, and single steps between them. [BB04 §3]
//!
//! Nothing is enumerated: a step is confirmed by comparing the two states with what the program
//! does at the first.

use rustc_hash::{FxHashMap, FxHashSet};

use super::Replay;
use super::local::Facts;
use crate::model::{Assign, Domain, Point, PointId, State, Step, Value, VarId};
use crate::plan::WorldId;
use crate::symbolic::StateText;

/// A state of a world, as shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) state: State,
    /// The values of defined attitudes, which the state does not store.
    pub(super) shown: FxHashMap<VarId, bool>,
}

impl Replay<'_> {
    /// Reads a state; `None` if the program has none such, or a defined attitude has another value
    /// than its definition.
    pub(super) fn place(&self, world: WorldId, text: &StateText) -> Option<Place> {
        let program = self.program(world);
        program.points.get(text.point as usize)?;
        let name_of = |id: &crate::model::ActionId| &self.model.actions[id.index()].name;
        let action = match &text.action {
            Some(name) => Some(*program.actions.iter().find(|id| name_of(id) == name)?),
            None => None,
        };
        if program.vars.len() != text.values.len() {
            return None;
        }
        let (mut values, mut shown) = (Vec::new(), FxHashMap::default());
        for (&id, (name, value)) in program.vars.iter().zip(&text.values) {
            let var = self.model.var(id);
            let value = read(&var.domain, value).filter(|_| var.name == *name)?;
            match var.definition {
                Some(_) => {
                    shown.insert(id, value != 0);
                    values.push(0);
                }
                None => values.push(value),
            }
        }
        let place = Place { state: State { point: PointId(text.point), values, action }, shown };
        let is_defined_so = |(id, shown): (&VarId, &bool)| {
            let definition = self.model.var(*id).definition;
            let value = definition.and_then(|f| self.value(world, &place, &Facts::default(), f));
            value != Some(!shown)
        };
        place.shown.iter().all(is_defined_so).then_some(place)
    }

    /// Whether a state is initial: all is false or least, but for the initial assignments.
    pub(super) fn is_initial(&self, world: WorldId, place: &Place) -> bool {
        let program = self.program(world);
        let least = |var: &VarId| match self.model.var(*var).attitude {
            Some(_) => 0,
            None => self.model.var(*var).domain.bounds().0,
        };
        let values = program.vars.iter().map(least).collect();
        let blank = Place {
            state: State { point: program.entry, values, action: None },
            shown: FxHashMap::default(),
        };
        place.state.point == program.entry
            && place.state.action.is_none()
            && self.may_assign(world, &program.init, &blank, place)
    }

    /// Whether the program of a world may go from one state to another in one step. A test that the
    /// state does not decide may go either way.
    pub(super) fn may_step(&self, world: WorldId, from: &Place, to: &Place) -> bool {
        let points = &self.program(world).points;
        // Points reached while no time passes, each with the loops entered on the way.
        let mut open: Vec<(PointId, Vec<PointId>)> = vec![(from.state.point, Vec::new())];
        let mut seen = FxHashSet::default();
        while let Some((at, heads)) = open.pop() {
            if !seen.insert((at, heads.clone())) {
                continue;
            }
            match &points[at.index()] {
                Point::End => {
                    if self.may_idle(world, from, to, at) {
                        return true;
                    }
                }
                Point::Step(step, next) => {
                    if self.may_do(world, step, *next, from, to) {
                        return true;
                    }
                }
                Point::If(condition, then, otherwise) => {
                    let value = self.value(world, from, &Facts::default(), *condition);
                    if value != Some(false) {
                        open.push((*then, heads.clone()));
                    }
                    if value != Some(true) {
                        open.push((*otherwise, heads));
                    }
                }
                Point::Choice(alternatives) => {
                    open.extend(alternatives.iter().map(|&point| (point, heads.clone())));
                }
                // A body that takes no step: time passes at the head.
                Point::Loop(_) if heads.contains(&at) => {
                    if self.may_idle(world, from, to, at) {
                        return true;
                    }
                }
                Point::Loop(body) => {
                    let heads = heads.into_iter().chain([at]).collect();
                    open.push((*body, heads));
                }
            }
        }
        false
    }

    /// Nothing happens; control is then at the point.
    fn may_idle(&self, world: WorldId, from: &Place, to: &Place, point: PointId) -> bool {
        to.state.point == point && to.state.action.is_none() && self.may_assign(world, &[], from, to)
    }

    /// A step is taken, or an action that may be delayed is.
    fn may_do(&self, world: WorldId, step: &Step, next: PointId, from: &Place, to: &Place) -> bool {
        let may_wait = step
            .action
            .is_some_and(|action| self.model.options.may_delay(&self.model.actions[action.index()]));
        (to.state.point == next
            && to.state.action == step.action
            && self.may_assign(world, &step.assigns, from, to))
            || may_wait && self.may_idle(world, from, to, from.state.point)
    }

    /// Whether the values of a state come from those of another by assignments, all at once; of two
    /// to one variable the later counts.
    fn may_assign(&self, world: WorldId, assigns: &[Assign], from: &Place, to: &Place) -> bool {
        let values: FxHashMap<VarId, Value> = assigns.iter().map(|a| (a.var, a.value)).collect();
        let vars = self.program(world).vars.iter();
        let mut pairs = vars.zip(from.state.values.iter().zip(&to.state.values));
        pairs.all(|(var, (old, new))| match values.get(var) {
            None => old == new,
            Some(Value::Any) => true,
            Some(Value::Formula(formula)) => {
                self.value(world, from, &Facts::default(), *formula) != Some(*new == 0)
            }
            Some(Value::Expr(expr)) => self.number(world, from, *expr) == Some(*new),
        })
    }
}

/// A value from its text, if the domain has it.
fn read(domain: &Domain, text: &str) -> Option<i64> {
    match domain {
        Domain::Bool => text.parse::<bool>().ok().map(i64::from),
        Domain::Range(low, high) => text.parse().ok().filter(|value| (low..=high).contains(&value)),
        Domain::Enum(names) => names.iter().position(|name| name == text).map(|index| index as i64),
    }
}
