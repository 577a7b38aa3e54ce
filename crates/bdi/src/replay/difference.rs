//! Differences between two worlds. The path to the difference and, below, the path to a state that only one of
//! them accesses are confirmed; that the other world lacks it is trusted.

use super::steps::ReplayState;
use super::{Flaw, Refusal, Replay};
use crate::explanation::{Difference, Explanation, Shape, Statement};
use crate::model::{Edge, Question, State};

impl Replay<'_> {
    /// Confirms the difference at the end of a path that was confirmed.
    pub(super) fn difference(&self, index: usize, part: &Explanation) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let Some(difference) = part.difference else { return refuse(Flaw::WrongForm) };
        let has_form = match difference {
            Difference::State | Difference::Accessible { .. } => true,
            Difference::Initial => part.states.len() == 1,
            Difference::Step => part.states.len() >= 2,
            Difference::Label(var) => {
                let is_one_program = self.plan.outer_worlds[index]
                    .is_some_and(|outer| self.plan.program(outer) == self.plan.program(part.world));
                is_one_program && self.model.var(var).definition.is_some()
            }
        };
        match (difference, &part.next[..], part.states.last()) {
            _ if !has_form => refuse(Flaw::WrongForm),
            (Difference::Accessible { edge, is_inner }, [below], Some(last)) => {
                self.accessed(index, below, edge, is_inner.then_some(last))
            }
            (Difference::Accessible { .. }, ..) => refuse(Flaw::WrongForm),
            (_, [], _) => Ok(()),
            _ => refuse(Flaw::Unrelated),
        }
    }

    /// Confirms the path to a state below that one of the worlds accesses: the inner one from the state `source`, or the
    /// outer one, whose state is not shown.
    fn accessed(
        &self,
        index: usize,
        part: &Explanation,
        edge: Edge,
        source: Option<&State>,
    ) -> Result<(), Refusal> {
        let refuse = |flaw| Err(self.refusal(part, flaw));
        let property = &self.model.properties[index];
        let (world, path) = match (source, &property.question, self.plan.outer_worlds[index]) {
            (Some(_), ..) => (self.plan.properties[index], &property.path),
            (None, Question::Subworld(path), Some(outer)) => (outer, path),
            _ => return refuse(Flaw::WrongForm),
        };
        let mut path = path.clone();
        path.edges.push(edge);
        let is_below = Some(part.world) == self.plan.child(world, edge) && part.path == path;
        let is_about = part.statement == Statement::Property(index) && part.next.is_empty();
        let Shape::Jump { edge: taken, asserted } = &part.shape else { return refuse(Flaw::WrongForm) };
        if !is_below || !is_about || *taken != edge {
            return refuse(Flaw::Unrelated);
        }
        let (first, last) = self.walk(part)?;
        if !self.is_initial(part.world, first) {
            return refuse(Flaw::NotInitial);
        }
        if source.is_some_and(|source| !self.knows_itself(world, edge, source, last)) {
            return refuse(Flaw::Inaccessible);
        }
        for &var in &self.program(world).vars {
            let Some(attitude) = self.model.var(var).attitude.filter(|attitude| attitude.edge == edge) else {
                continue;
            };
            let is_listed = asserted.contains(&var);
            let label = source.and_then(|state| self.label(world, ReplayState::shown(state), var));
            if label.is_some_and(|label| label != is_listed) {
                return refuse(Flaw::WrongAttitudes);
            }
            let last = ReplayState::shown(last);
            if is_listed
                && self.value(part.world, last, &super::Facts::default(), attitude.arg) == Some(false)
            {
                return refuse(Flaw::Inaccessible);
            }
        }
        Ok(())
    }
}
