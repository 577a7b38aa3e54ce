//! Transitions restricted by a condition on the agents' actions, for the mu-calculus.

use std::rc::Rc;

use masque_model::ExprId;
use masque_verdict::Stop;

use crate::edges::find_edges;
use crate::graph::Graph;
use crate::shard::Shard;

impl Shard<'_> {
    /// Returns the transitions by joint actions that satisfy a condition. They are computed once and kept.
    pub(crate) fn steps_with(&mut self, condition: ExprId) -> Result<Rc<Graph>, Stop> {
        if let Some((_, graph)) = self.steps_with.iter().find(|(known, _)| *known == condition) {
            return Ok(Rc::clone(graph));
        }
        let (budget, held) = (self.net.budget.clone(), self.bytes());
        let mut finder = self.machine.steps_with(condition, &budget);
        let store = &self.space.store;
        let graph = find_edges(&mut self.net, store, held, |state, sink| {
            finder.expand(store.row(state as usize), |next| sink.add(state, next))
        })?;
        let graph = Rc::new(graph);
        self.steps_with.push((condition, Rc::clone(&graph)));
        self.check_bytes(0)?;
        Ok(graph)
    }
}
