//! Names in observed events that the protocol does not know.

use masque_text::did_you_mean;

use crate::event_pattern::Wanted;
use crate::system::System;
use crate::term::TermId;

impl System {
    /// Explains which names of an event cannot occur in a label: ids that are not in the team, and messages that no
    /// clause has.
    pub(crate) fn unknown_names(&self, event: &Wanted) -> Vec<String> {
        let is_stranger = |id: &TermId| self.terms.is_ground(*id) && self.agent_index(*id).is_none();
        let team = self.team();
        let mut found: Vec<String> = Vec::new();
        for id in event.ids().filter(is_stranger) {
            let name = match self.terms.functor(id) {
                Some(functor) if functor.arity == 0 => self.terms.symbols.name(functor.name).to_string(),
                _ => self.terms.text(id),
            };
            let help = did_you_mean(&name, team.iter().map(String::as_str));
            let help = help.unwrap_or_else(|| format!("the team is {}", team.join(", ")));
            let text = format!("no member of the team is called `{name}`: {help}");
            if !found.contains(&text) {
                found.push(text);
            }
        }
        if let Some(functor) = event.message.and_then(|message| self.terms.functor(message)) {
            let (names, symbols) = (&self.program.names, &self.terms.symbols);
            if !names.sent.allows(functor) && !names.received.allows(functor) {
                let name = symbols.name(functor.name);
                let known: Vec<&str> =
                    names.sent.iter().map(|(functor, _)| symbols.name(functor.name)).collect();
                let help = did_you_mean(name, known.iter().copied().filter(|other| *other != name));
                let help = help.map_or(String::new(), |help| format!(": {help}"));
                found.push(format!("no agent sends a message `{name}/{}`{help}", functor.arity));
            }
        }
        found
    }
}
