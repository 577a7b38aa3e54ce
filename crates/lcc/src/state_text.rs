//! Returns states and labels as text.

use masque_mu::{LabelId, StateId};

use crate::symbol::Symbol;
use crate::system::{LabelTerm, System};
use crate::term::TermId;

impl System {
    /// Returns a state as text: the processes of the agents in the order of the team, then the messages under
    /// way in the order of their text.
    pub fn state_text(&self, state: StateId) -> String {
        let (processes, mail) = self.parts(state);
        let processes: Vec<String> =
            processes.iter().map(|process| self.terms.text(TermId(*process))).collect();
        let mut mail: Vec<String> = mail.iter().map(|message| self.terms.text(TermId(*message))).collect();
        mail.sort_unstable();
        format!("{} | {}", processes.join(" ; "), mail.join(" ; "))
    }

    /// Returns the parts of a state: the id and the process of each agent, and the messages under way.
    pub fn state_parts(&self, state: StateId) -> Vec<(String, String)> {
        let (processes, mail) = self.parts(state);
        let text = |term: &u32| self.terms.text(TermId(*term));
        let mut parts: Vec<(String, String)> =
            self.team().into_iter().zip(processes.iter().map(text)).collect();
        if !mail.is_empty() {
            let mut mail: Vec<String> = mail.iter().map(text).collect();
            mail.sort_unstable();
            parts.push(("under way".to_string(), mail.join("; ")));
        }
        parts
    }

    /// Returns a label as text: the action, the other party, the acting agent, and the constraints that
    /// allowed the action, as in `out(offer(1), a(buyer,b))@a(seller,s) {willing}`. A slash separates the two
    /// sides of a handshake.
    pub fn label_text(&self, label: LabelId) -> String {
        match self.label_term(label) {
            LabelTerm::Own(label) => self.side_text(label),
            LabelTerm::Tau(sent, taken) => format!("{} / {}", self.side_text(sent), self.side_text(taken)),
        }
    }

    fn side_text(&self, label: TermId) -> String {
        let texts: Vec<String> = self.terms.args(label).iter().map(|arg| self.terms.text(*arg)).collect();
        let [what, peer_role, peer, role, id, annotation] = texts.as_slice() else { return String::new() };
        match self.terms.symbol(label) {
            Some(Symbol::SENT) => format!("out({what}, a({peer_role},{peer}))@a({role},{id}) {annotation}"),
            Some(Symbol::TAKEN) => format!("in({what}, a({peer_role},{peer}))@a({role},{id}) {annotation}"),
            _ => format!("#@a({role},{id}) {annotation}"),
        }
    }
}
