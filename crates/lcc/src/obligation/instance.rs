//! The instances of obligations, for those who follow an interaction.

use masque_mu::tree::{FormulaKind, Pattern};
use masque_mu::{BindingId, LabelId, LabelSet};
use masque_text::{Sources, Span, for_each_piece, on_one_line};

use super::{Acts, WithActs};
use crate::lexer::Token;
use crate::system::System;
use crate::term::{Bindings, TermId};
use crate::tree::Obligation;

/// An obligation whose instances are followed. An instance is given by the values of the variables that `after`
/// shares with the rest of the statement: a [`BindingId`].
#[derive(Clone, Debug)]
pub struct FollowedObligation {
    /// Name of its property, such as `obligation_1`.
    pub name: String,
    /// Location of the statement.
    pub span: Span,
    after: LabelSet,
    act: LabelSet,
    until: Option<LabelSet>,
    shared: Vec<String>,
    /// Subject, object and action.
    owed: [Template; 3],
    /// The whole statement.
    statement: Template,
}

impl FollowedObligation {
    /// Reads the obligations of an instance, in the order of the text; those with errors are left out.
    pub fn read_all(
        obligations: &[Obligation],
        sources: &Sources,
        system: &mut System,
    ) -> Vec<FollowedObligation> {
        let numbered = obligations.iter().enumerate();
        let read = |(index, obligation)| {
            FollowedObligation::read(format!("obligation_{}", index + 1), obligation, sources, system)
        };
        numbered.filter_map(read).collect()
    }

    /// Reads an obligation; `None` if it has errors.
    pub(crate) fn read(
        name: String,
        obligation: &Obligation,
        sources: &Sources,
        system: &mut System,
    ) -> Option<FollowedObligation> {
        let mut acts = Acts::default();
        let (named, _) = acts.property_of(name.clone(), obligation, sources, system);
        let FormulaKind::Response(after, due) = named?.phi.kind else { return None };
        let shared = acts.0.first()?.shared.clone();
        let (act, until) = match due {
            Pattern::Set(parts) if obligation.until.is_some() => {
                let [act, until] = <[Pattern; 2]>::try_from(parts).ok()?;
                (act, Some(until))
            }
            act => (act, None),
        };
        let mut words = WithActs { system, acts };
        let mut set = |pattern: &Pattern| LabelSet::read(pattern, &mut words).ok();
        let (after, act) = (set(&after)?, set(&act)?);
        let until = match &until {
            Some(until) => Some(set(until)?),
            None => None,
        };
        let Obligation { enforcer, subject, object, action, span, .. } = obligation;
        let part = |span: Span| on_one_line::<Token>(sources.slice(span));
        let owed = [subject.span, object.span, action.span].map(part);
        let until_text = obligation.until.map_or(String::new(), |until| format!(" until {}", part(until)));
        let statement = format!(
            "rule {}: ({}, {}, !{}) after {}{until_text}.",
            part(enforcer.span),
            owed[0],
            owed[1],
            owed[2],
            part(obligation.after)
        );
        let statement = Template::new(&statement, &shared);
        let enforcer = part(enforcer.span);
        let owed = owed.map(|text| Template::new(&with_enforcer(&text, &enforcer), &shared));
        Some(FollowedObligation { name, span: *span, after, act, until, shared, owed, statement })
    }

    /// Whether variables are shared, so that there may be several instances.
    pub(crate) fn has_instances(&self) -> bool {
        !self.shared.is_empty()
    }

    /// Returns the instances that a label makes due.
    pub fn triggered(&self, system: &mut System, label: LabelId) -> Vec<BindingId> {
        self.after.bindings(system, label)
    }

    /// Whether a label performs the act that an instance demands.
    pub fn is_met(&self, system: &mut System, instance: BindingId, label: LabelId) -> bool {
        self.act.contains_bound(system, label, instance)
    }

    /// Whether a label ends an instance by `until`.
    pub fn is_discharged(&self, system: &mut System, instance: BindingId, label: LabelId) -> bool {
        self.until.as_ref().is_some_and(|until| until.contains_bound(system, label, instance))
    }

    /// Returns who must act, towards whom, and the act of an instance, as in the statement, with the enforcer in place of
    /// `self`.
    pub fn owed(&self, system: &System, instance: BindingId) -> [String; 3] {
        let values = self.values(system, instance);
        self.owed.each_ref().map(|part| part.fill(&values))
    }

    /// Returns the statement of an instance: an obligation without shared variables.
    pub(crate) fn statement(&self, system: &System, instance: BindingId) -> String {
        self.statement.fill(&self.values(system, instance))
    }

    /// Returns the shared variables and their values in an instance, as texts.
    pub fn bindings(&self, system: &System, instance: BindingId) -> Vec<(String, String)> {
        self.shared.iter().cloned().zip(self.values(system, instance)).collect()
    }

    fn values(&self, system: &System, instance: BindingId) -> Vec<String> {
        let values = system.bound_values.values(&system.terms, instance);
        values.iter().map(|value| system.terms.shape(*value)).collect()
    }

    /// Returns the values with which the `after` of this obligation becomes that of another one.
    pub(crate) fn instance_with_after_of(
        &self,
        system: &mut System,
        other: &FollowedObligation,
    ) -> Option<BindingId> {
        let mut pairs = Vec::new();
        if !zip(system, &self.after, &other.after, &mut pairs) {
            return None;
        }
        let mut bindings = Bindings::default();
        let n_vars = |pick: fn(&(TermId, TermId)) -> TermId, system: &System| {
            pairs.iter().map(|pair| system.terms.n_vars(pick(pair))).max().unwrap_or(0)
        };
        let n_own = n_vars(|pair| pair.0, system).max(self.shared.len() as u32);
        bindings.reset(n_own + n_vars(|pair| pair.1, system));
        for (own, others) in pairs {
            let others = system.terms.shift(others, n_own);
            if !system.terms.unify(own, others, &mut bindings) {
                return None;
            }
        }
        Some(system.bound_instance(self.shared.len() as u32, &bindings))
    }
}

/// Collects the terms at the same places in the patterns of two sets of labels. Returns whether the sets differ only
/// in terms.
fn zip(system: &System, left: &LabelSet, right: &LabelSet, pairs: &mut Vec<(TermId, TermId)>) -> bool {
    match (left, right) {
        (LabelSet::Any, LabelSet::Any) => true,
        (LabelSet::Is(left), LabelSet::Is(right)) => {
            let [left, right] = [left, right].map(|pattern| &system.patterns[pattern.index()]);
            pairs.extend(left.all_terms().zip(right.all_terms()));
            left.all_terms().count() == right.all_terms().count()
        }
        (LabelSet::Not(left), LabelSet::Not(right)) => zip(system, left, right, pairs),
        (LabelSet::Either(left), LabelSet::Either(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| zip(system, l, r, pairs))
        }
        _ => false,
    }
}

/// Replaces `self` in a text by the enforcer.
fn with_enforcer(text: &str, enforcer: &str) -> String {
    let mut replaced = String::new();
    for_each_piece::<Token>(text, &mut |piece| {
        if piece.follows_gap && !replaced.is_empty() {
            replaced.push(' ');
        }
        replaced.push_str(if piece.text == "self" { enforcer } else { piece.text });
    });
    replaced
}

/// A text with places for the values of variables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    /// The text without the variables.
    text: String,
    /// The places in the text, and the index of the variable of each.
    places: Vec<(usize, usize)>,
}

impl Template {
    /// Takes these variables out of a text, which is put on one line.
    pub(crate) fn new(text: &str, variables: &[String]) -> Template {
        let mut template = Template::default();
        for_each_piece::<Token>(text, &mut |piece| {
            if piece.follows_gap && !(template.text.is_empty() && template.places.is_empty()) {
                template.text.push(' ');
            }
            match variables.iter().position(|name| name == piece.text) {
                Some(index) => template.places.push((template.text.len(), index)),
                None => template.text.push_str(piece.text),
            }
        });
        template
    }

    /// Returns the text with the values of the variables.
    pub(crate) fn fill(&self, values: &[String]) -> String {
        let (mut text, mut done) = (String::new(), 0);
        for (place, index) in &self.places {
            text.push_str(&self.text[done..*place]);
            text.push_str(values.get(*index).map_or("_", String::as_str));
            done = *place;
        }
        text.push_str(&self.text[done..]);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_place_of_variables_only() {
        let template =
            Template::new("X = #(spend(X, 'X',\n  Y))@X // X", &["X".to_string(), "Y".to_string()]);
        let text = template.fill(&["w1".to_string(), "f(5)".to_string()]);
        assert_eq!(text, "w1 = #(spend(w1, 'X', f(5)))@w1");
    }
}
