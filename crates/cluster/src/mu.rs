//! The mu-calculus: fixpoints by iteration, and steps by what agents do.
//!
//! As the engine on one machine does it: a fixpoint's body is labelled again and again, with what the
//! variable stands for so far, until nothing changes anywhere; while an outer fixpoint of its own kind
//! goes on, an inner one goes on from its last value. [EL86 §4; CGP99 §7.4]

use std::rc::Rc;

use masque_explicit::parts::{Bitset, open_parts, other_kind};
use masque_model::{ExprId, Formula, FormulaId};
use masque_verdict::{Stop, Why};
use rustc_hash::FxHashMap;

use crate::backwards::each_source;
use crate::edges::find_edges;
use crate::graph::Graph;
use crate::shard::{Over, Shard};

/// What is known of open formulas for the moment. It is never stored, and is of no use beyond the
/// closed fixpoint that it is inside of.
#[derive(Default)]
pub(crate) struct Open {
    /// The sets of the formulas inside the fixpoints being computed, their variables among them.
    pub(crate) sets: FxHashMap<FormulaId, Rc<Bitset>>,
    /// The last value of each inner fixpoint, from which to go on.
    reached: FxHashMap<FormulaId, Rc<Bitset>>,
}

impl Shard<'_> {
    /// `⟦μZ. φ⟧` and `⟦νZ. φ⟧`, given the sets of all closed formulas inside.
    pub(crate) fn fixpoint(&mut self, formula: FormulaId, over: Over) -> Result<Bitset, Stop> {
        let formulas = &self.system.formulas;
        let (variable, body, is_least) = match formulas.get(formula) {
            Formula::Least(z, body) => (z, body, true),
            Formula::Greatest(z, body) => (z, body, false),
            _ => return Err(Why::Unsupported.into()),
        };
        let is_open = self.fixpoints.is_open(formula);
        if !is_open {
            self.open = Open::default();
        }
        let bound = formulas.ids().find(|&id| formulas.get(id) == Formula::Bound(variable));
        let parts = open_parts(formulas, &self.fixpoints, body);
        let reset = other_kind(formulas, &self.fixpoints, body, is_least);
        let mut set = match self.open.reached.get(&formula) {
            Some(reached) => Rc::clone(reached),
            None if is_least => Rc::new(Bitset::empty(self.n_states())),
            None => self.scope(over).0,
        };
        loop {
            self.net.budget.check()?;
            if let Some(bound) = bound {
                self.open.sets.insert(bound, Rc::clone(&set));
            }
            for inner in &reset {
                self.open.reached.remove(inner);
            }
            for &part in &parts {
                // The variables in scope have their sets.
                if !matches!(formulas.get(part), Formula::Bound(_)) {
                    let value = Rc::new(self.label_one(part, over)?);
                    self.check_memory(value.bytes())?;
                    self.open.sets.insert(part, value);
                }
            }
            let next = self.known(body, over)?;
            if !self.net.any(next != set)? {
                break;
            }
            set = next;
        }
        match is_open {
            true => _ = self.open.reached.insert(formula, Rc::clone(&set)),
            // All that was open is done with.
            false => self.open = Open::default(),
        }
        Ok((*set).clone())
    }

    /// `EX{c} φ`: some step with `c` leads to `φ`.
    pub(crate) fn exists_step(
        &mut self,
        condition: ExprId,
        phi: &Bitset,
        domain: &Bitset,
    ) -> Result<Bitset, Stop> {
        let graph = self.steps_with(condition)?;
        let mut before = Bitset::empty(self.n_states());
        each_source(&mut self.net, &graph, phi, |source| _ = before.insert(source))?;
        Ok(before.and(domain))
    }

    /// The transitions by steps with which a condition is true. They are found once.
    fn steps_with(&mut self, condition: ExprId) -> Result<Rc<Graph>, Stop> {
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
        self.check_memory(0)?;
        Ok(graph)
    }
}
