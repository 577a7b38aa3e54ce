//! Warnings about the names in obligations, at the places of their statements.

use masque_mu::tree::{Kind, Pattern, Phi};
use masque_text::{Diagnostic, Sources, Span};

use super::signature;
use crate::system::System;
use crate::tree::{Duty, Term, TermKind};

impl System {
    /// Warnings about the property that an obligation has become: patterns that match nothing, and an
    /// action that looks like a message.
    pub(crate) fn duty_warnings(&self, duty: &Duty, phi: &Phi, sources: &Sources) -> Vec<Diagnostic> {
        let is_in_pattern = |span: Span| {
            let mut patterns = [Some(duty.after), duty.until].into_iter().flatten();
            patterns.any(|pattern| pattern.start <= span.start && span.end <= pattern.end)
        };
        let mistaken = self.mistaken_message(duty, sources);
        let mut warnings = Vec::new();
        for mut warning in self.name_warnings(phi) {
            if let Some(label) = &mut warning.primary
                && !is_in_pattern(label.span)
            {
                // One warning about the act is enough.
                if mistaken.is_some() {
                    continue;
                }
                label.span = place_in_statement(label.span, duty, phi, sources);
            }
            warnings.push(warning);
        }
        warnings.extend(mistaken);
        warnings
    }

    /// A warning if the action of an obligation is no constraint of the protocol, but looks like a message.
    fn mistaken_message(&self, duty: &Duty, sources: &Sources) -> Option<Diagnostic> {
        let names = &self.program.names;
        let (name, arity) = signature(&duty.action)?;
        if names.literals.allows_term(&self.terms, &duty.action) {
            return None;
        }
        let is_message = [&names.sent, &names.received]
            .iter()
            .any(|table| !table.is_open() && table.allows_term(&self.terms, &duty.action));
        let text = |term: &Term| sources.slice(term.span).to_string();
        let (message, help) = match (name, &duty.action.kind) {
            ("out" | "in", TermKind::App(_, args)) if !args.is_empty() => {
                let word = if name == "out" { "send" } else { "receive" };
                let message = format!("`{name}(..)` is a pattern of formulas, not an action");
                (message, format!("write `!{word}({})`", text(&args[0])))
            }
            _ if is_message => {
                let message = format!("`{name}/{arity}` is a message, but this demands a constraint");
                let action = text(&duty.action);
                (message, format!("write `!send({action})` or `!receive({action})`"))
            }
            _ => return None,
        };
        let warning = Diagnostic::warning("lcc/obligation-message", duty.action.span, message);
        Some(warning.label("no step has this constraint").hint(help))
    }
}

/// Where the statement says what stands at a place of the act. The text of the act is not part of any
/// file: its places count from the obligation's action.
fn place_in_statement(place: Span, duty: &Duty, phi: &Phi, sources: &Sources) -> Span {
    let own = duty.action.span;
    let range = place.start.saturating_sub(own.start) as usize..place.end.saturating_sub(own.start) as usize;
    let named = act(phi, own).and_then(|act| act.get(range)).unwrap_or_default();
    let parts = [own, duty.object.span, duty.subject.span];
    let found = parts.into_iter().filter(|_| !named.is_empty()).find_map(|part| {
        let start = part.start + sources.slice(part).find(named)? as u32;
        Some(Span { start, end: start + named.len() as u32 })
    });
    found.unwrap_or(own)
}

/// The text of the act in the property of an obligation.
fn act(phi: &Phi, own: Span) -> Option<&str> {
    let Kind::Response(_, due) = &phi.kind else { return None };
    let parts = match due {
        Pattern::Set(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    parts.iter().find_map(|part| match part {
        Pattern::Is(text, span) if *span == own => Some(text.as_str()),
        _ => None,
    })
}
