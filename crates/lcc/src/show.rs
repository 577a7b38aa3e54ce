//! States and labels as text.

use masque_mu::{LabelId, StateId};

use crate::symbol::Symbol;
use crate::system::{LabelTerm, System};
use crate::term::TermId;

impl System {
    /// A state: the processes of the agents in the order of the team, then the messages under way
    /// in the order of their text.
    pub fn state_text(&self, state: StateId) -> String {
        let (processes, mail) = self.parts(state);
        let processes: Vec<String> =
            processes.iter().map(|process| self.terms.text(TermId(*process))).collect();
        let mut mail: Vec<String> = mail.iter().map(|message| self.terms.text(TermId(*message))).collect();
        mail.sort_unstable();
        format!("{} | {}", processes.join(" ; "), mail.join(" ; "))
    }

    /// What a state is made of: the process of each agent, by its id, and the messages under way.
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

    /// A label: what is done, with whom, by whom, and the constraints that allowed it, as in
    /// `out(offer(1), a(buyer,b))@a(seller,s) {willing}`. The two sides of a synchronous exchange
    /// are set apart by a slash.
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
