//! The label of a handshake: a message that is sent and received in one step. [ORW06 Fig. 9]
//!
//! ```text
//! i, in role R:  out(M, a(S,j)), c   the message as sent      ┐
//! j, in role S:  in(M', a(R,i)), d   the message as received  ┘  tau(M', a(R,i), a(S,j)), cθ and d
//! ```
//!
//! The paper's rule requires the same message on both sides. A message is a copy, so the bindings that the
//! receiver adds to it (by matching, by the gate of a rule, by the constraint of the receipt) do not bind
//! variables of the sender's process. The label, however, describes the exchange: it has the message as
//! received, both roles and both ids. The sender's constraints are part of the label, so the bindings θ of
//! the exchange apply to them, too.
//!
//! Roles with different numbers of arguments match without binding (`roles=lenient`); the label has the
//! role that the receiver is in, not the one that the message was addressed to.
//!
//! A handshake of two parts of one agent is a step of that agent (`step.rs`): the parts share variables.

use crate::step::annotation;
use crate::symbol::Symbol;
use crate::term::{Bindings, TermId, Terms};

/// Returns the label of a sending after its message has been received, given the label of the receipt.
pub(crate) fn as_exchanged(terms: &mut Terms, sent: TermId, taken: TermId) -> TermId {
    with_exchange_of(terms, Symbol::SENT, sent, taken)
}

/// Returns one side of the label of a handshake, of this kind, with the message, roles and ids of the other side.
pub(crate) fn with_exchange_of(terms: &mut Terms, kind: Symbol, side: TermId, other: TermId) -> TermId {
    let [message, own_role, own, peer_role, peer] = [0, 1, 2, 3, 4].map(|index| terms.arg(other, index));
    let offset = terms.n_vars(other);
    let side = terms.shift(side, offset);
    let mut bindings = Bindings::default();
    bindings.reset(terms.n_vars(side).max(offset));
    let exchanged = [message, peer_role, peer, own_role, own];
    for (index, term) in exchanged.into_iter().enumerate() {
        let is_equal = terms.unify(terms.arg(side, index), term, &mut bindings);
        debug_assert!(is_equal || index == 1, "a receipt takes an instance of what was sent");
    }
    let constraints = terms.resolve(terms.arg(side, 5), &bindings);
    let used = terms.args(constraints).to_vec();
    let used = annotation(terms, &used);
    let label = terms.app(kind, &[message, peer_role, peer, own_role, own, used]);
    terms.canonical(label)
}
