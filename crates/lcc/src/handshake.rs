//! What a handshake shows: the label of a message that is sent and taken in one step. [ORW06 Fig. 9]
//!
//! ```text
//! i, in role R:  out(M, a(S,j)), c   the message as sent      ┐
//! j, in role S:  in(M', a(R,i)), d   the message as received  ┘  tau(M', a(R,i), a(S,j)), cθ and d
//! ```
//!
//! The paper's rule requires the same message on both sides. A message is a copy, so what the receiver
//! makes of it (by matching, by the gate of a rule, by the constraint of the receipt) binds no variable
//! of the sender's process. The label is about the exchange, though: it has the message as received, both
//! roles and both ids. The sender's constraints are part of the label, so what the exchange says about
//! their variables (θ) applies to them, too.
//!
//! Roles with different numbers of arguments match without binding (`roles=lenient`); the label has the
//! role that the receiver is in, not the one that the message was addressed to.

use crate::step::annotation;
use crate::symbol::Symbol;
use crate::term::{Bindings, TermId, Terms};

/// The label of a sending once its message is taken, given the label of the receipt.
pub(crate) fn as_exchanged(terms: &mut Terms, sent: TermId, taken: TermId) -> TermId {
    let [message, from_role, from, to_role, to] = [0, 1, 2, 3, 4].map(|at| terms.arg(taken, at));
    let offset = terms.n_vars(taken);
    let sent = terms.shift(sent, offset);
    let mut bindings = Bindings::default();
    bindings.reset(terms.n_vars(sent).max(offset));
    let exchanged = [message, to_role, to, from_role, from];
    for (at, term) in exchanged.into_iter().enumerate() {
        let is_equal = terms.unify(terms.arg(sent, at), term, &mut bindings);
        debug_assert!(is_equal || at == 1, "a receipt takes an instance of what was sent");
    }
    let constraints = terms.resolve(terms.arg(sent, 5), &bindings);
    let used = terms.args(constraints).to_vec();
    let used = annotation(terms, &used);
    let label = terms.app(Symbol::SENT, &[message, to_role, to, from_role, from, used]);
    terms.canonical(label)
}
