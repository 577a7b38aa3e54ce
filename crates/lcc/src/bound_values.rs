//! The values of variables that several patterns share, by number.

use masque_mu::BindingId;
use rustc_hash::FxHashMap;

use crate::symbol::Symbol;
use crate::term::{Head, TermId, Terms};

/// Numbered tuples of values. The values of a tuple may contain variables, which it numbers together; a variable
/// stands for any term. Tuples keep their numbers as long as the system exists, because its terms do, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundValues {
    /// The tuple of each binding but [`BindingId::NONE`].
    tuples: Vec<TermId>,
    numbers: FxHashMap<TermId, BindingId>,
}

impl BoundValues {
    /// Returns the binding with these values. If each of them may be any term, independently of the others, nothing is
    /// bound.
    pub(crate) fn number(&mut self, terms: &mut Terms, values: &[TermId]) -> BindingId {
        let tuple = terms.app(Symbol::SET, values);
        let tuple = terms.canonical(tuple);
        let mut numbered = terms.args(tuple).iter().zip(0..);
        if numbered.all(|(value, number)| terms.head(*value) == Head::Var(number)) {
            return BindingId::NONE;
        }
        *self.numbers.entry(tuple).or_insert_with(|| {
            self.tuples.push(tuple);
            BindingId(self.tuples.len() as u32)
        })
    }

    /// Returns the values of a binding; none for [`BindingId::NONE`].
    pub(crate) fn values<'t>(&self, terms: &'t Terms, binding: BindingId) -> &'t [TermId] {
        match binding.index().checked_sub(1) {
            Some(index) => terms.args(self.tuples[index]),
            None => &[],
        }
    }

    /// Returns the memory in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.tuples.capacity() * 4 + self.numbers.capacity() * 9) as u64
    }
}
