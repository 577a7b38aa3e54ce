//! Warnings about the names in obligations, with the locations of their statements.

use masque_mu::tree::{FormulaKind, Pattern, Phi};
use masque_text::{Diagnostic, Sources, Span};

use super::signature;
use crate::system::System;
use crate::tree::{Obligation, Term, TermKind};

impl System {
    /// Returns warnings about the property made from an obligation: patterns that match nothing, and an
    /// action that looks like a message.
    pub(crate) fn obligation_warnings(
        &self,
        obligation: &Obligation,
        phi: &Phi,
        sources: &Sources,
    ) -> Vec<Diagnostic> {
        let is_in_pattern = |span: Span| {
            let mut patterns = [Some(obligation.after), obligation.until].into_iter().flatten();
            patterns.any(|pattern| pattern.start <= span.start && span.end <= pattern.end)
        };
        let mistaken = self.mistaken_message(obligation, sources);
        let mut warnings = Vec::new();
        for mut warning in self.name_warnings(phi) {
            if let Some(label) = &mut warning.primary
                && !is_in_pattern(label.span)
            {
                // One warning about the act is enough.
                if mistaken.is_some() {
                    continue;
                }
                label.span = span_in_statement(label.span, obligation, phi, sources);
            }
            warnings.push(warning);
        }
        warnings.extend(mistaken);
        warnings
    }

    /// Returns a warning if the action of an obligation is not a constraint of the protocol, but looks like a
    /// message.
    fn mistaken_message(&self, obligation: &Obligation, sources: &Sources) -> Option<Diagnostic> {
        let names = &self.program.names;
        let (name, arity) = signature(&obligation.action)?;
        if names.literals.allows_term(&self.terms, &obligation.action) {
            return None;
        }
        let is_message = [&names.sent, &names.received]
            .iter()
            .any(|table| !table.is_open() && table.allows_term(&self.terms, &obligation.action));
        let text = |term: &Term| sources.slice(term.span).to_string();
        let (message, help) = match (name, &obligation.action.kind) {
            ("out" | "in", TermKind::App(_, args)) if !args.is_empty() => {
                let word = if name == "out" { "send" } else { "receive" };
                let message = format!("`{name}(..)` is a pattern of formulas, not an action");
                (message, format!("write `!{word}({})`", text(&args[0])))
            }
            _ if is_message => {
                let message = format!("`{name}/{arity}` is a message, but this demands a constraint");
                let action = text(&obligation.action);
                (message, format!("write `!send({action})` or `!receive({action})`"))
            }
            _ => return None,
        };
        let warning = Diagnostic::warning("lcc/obligation-message", obligation.action.span, message);
        Some(warning.label("no step has this constraint").hint(help))
    }
}

/// Finds the part of the statement that corresponds to a span in the text of the act. That text is not part
/// of any file: its spans are counted from the start of the obligation's action.
fn span_in_statement(span: Span, obligation: &Obligation, phi: &Phi, sources: &Sources) -> Span {
    let own = obligation.action.span;
    let range = span.start.saturating_sub(own.start) as usize..span.end.saturating_sub(own.start) as usize;
    let named = act(phi, own).and_then(|act| act.get(range)).unwrap_or_default();
    if named.is_empty() {
        return own;
    }
    let parts = [own, obligation.object.span, obligation.subject.span];
    let found = parts.into_iter().find_map(|part| {
        let start = part.start + sources.slice(part).find(named)? as u32;
        Some(Span { start, end: start + named.len() as u32 })
    });
    found.unwrap_or(own)
}

/// Returns the text of the act in the property of an obligation.
fn act(phi: &Phi, own: Span) -> Option<&str> {
    let FormulaKind::Response(_, due) = &phi.kind else { return None };
    let parts = match due {
        Pattern::Set(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    parts.iter().find_map(|part| match part {
        Pattern::Is(text, span) if *span == own => Some(text.as_str()),
        _ => None,
    })
}
