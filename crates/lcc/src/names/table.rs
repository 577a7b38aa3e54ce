//! Names of one kind, and the warning about a name that is missing there.

use std::collections::BTreeMap;

use masque_text::{Diagnostic, Span, did_you_mean};
use rustc_hash::FxHashMap;

use super::{is_variable, signature};
use crate::term::{Functor, Terms};
use crate::tree::Term;

/// Names of one kind with their numbers of arguments, and where each is used first.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    first: FxHashMap<Functor, Span>,
    /// Where a variable stands in the place of a name: any other name may turn up at run time.
    open_at: Option<Span>,
}

impl Table {
    /// Adds a name, unless it is known.
    pub(super) fn add(&mut self, functor: Functor, span: Span) {
        self.first.entry(functor).or_insert(span);
    }

    /// Adds the name of a term; a variable may stand for any name.
    pub(super) fn add_term(&mut self, functor: Option<Functor>, term: &Term) {
        match functor {
            Some(functor) => self.add(functor, term.span),
            None if is_variable(term) => self.open(term.span),
            None => {}
        }
    }

    /// From now on any name is possible.
    pub(super) fn open(&mut self, span: Span) {
        self.open_at.get_or_insert(span);
    }

    /// Whether any name is possible.
    pub(super) fn is_open(&self) -> bool {
        self.open_at.is_some()
    }

    /// The first place of any name.
    pub(super) fn first_place(&self) -> Option<Span> {
        self.first.values().copied().chain(self.open_at).min()
    }

    /// Whether a name is possible here.
    pub(super) fn allows(&self, functor: Functor) -> bool {
        self.is_open() || self.first.contains_key(&functor)
    }

    /// Whether a name is used here.
    pub(super) fn has(&self, functor: Functor) -> bool {
        self.first.contains_key(&functor)
    }

    /// Whether the name of a term is possible here; a variable or a number has none.
    pub(super) fn allows_term(&self, terms: &Terms, term: &Term) -> bool {
        let Some((name, arity)) = signature(term) else { return true };
        self.is_open() || terms.find(name, arity).is_some_and(|functor| self.first.contains_key(&functor))
    }

    /// The names and where each is used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Functor, Span)> + '_ {
        self.first.iter().map(|(functor, span)| (*functor, *span))
    }
}

/// Names listed in a help line if none is similar to the one that was used.
const MAX_LISTED_NAMES: usize = 8;

/// The nearest name, or one of which the used name is a part, or if there are few, all names.
fn nearest(used: &str, mut names: Vec<&str>) -> Option<String> {
    names.sort_unstable();
    names.dedup();
    let is_part = |name: &&&str| used.len() >= 3 && (name.starts_with(used) || used.starts_with(**name));
    let part = || names.iter().filter(is_part).min_by_key(|name| name.len());
    did_you_mean(used, &names).or_else(|| part().map(|name| format!("did you mean `{name}`?"))).or_else(
        || {
            let is_short = !names.is_empty() && names.len() <= MAX_LISTED_NAMES;
            is_short.then(|| format!("the names here are `{}`", names.join("`, `")))
        },
    )
}

/// What is said about a name that does not exist.
pub(super) struct Missing<'a> {
    pub(super) code: &'static str,
    /// The term whose name it is.
    pub(super) name: &'a str,
    pub(super) arity: usize,
    pub(super) span: Span,
    pub(super) message: String,
    /// What follows from it, beside the name.
    pub(super) label: &'static str,
}

impl Missing<'_> {
    /// The warning, given the names that would be accepted: the nearest one, or if only the number of
    /// arguments differs, where it has which.
    pub(super) fn warning(
        self,
        terms: &Terms,
        accepted: impl Iterator<Item = (Functor, Span)>,
    ) -> Diagnostic {
        let (mut names, mut arities) = (Vec::new(), BTreeMap::new());
        for (functor, span) in accepted {
            let name = terms.symbols.name(functor.name);
            if name == self.name {
                let first = arities.entry(functor.arity).or_insert(span);
                *first = span.min(*first);
            } else if !functor.name.is_built_in() {
                names.push(name);
            }
        }
        let Some((_, place)) = arities.first_key_value() else {
            let help = nearest(self.name, names);
            return Diagnostic::warning(self.code, self.span, self.message).label(self.label).help(help);
        };
        let counts: Vec<String> = arities.keys().map(u32::to_string).collect();
        let counts = counts.join(" or ");
        let arguments = |n: &str| if n == "1" { "argument" } else { "arguments" };
        let message = format!(
            "`{}` has {counts} {}, not {}: {}",
            self.name,
            arguments(&counts),
            self.arity,
            self.message
        );
        let also = format!("here it has {}", arities.keys().next().copied().unwrap_or_default());
        Diagnostic::warning("lcc/other-arity", self.span, message)
            .label(self.label)
            .also(*place, also)
            .hint(format!("write it with {counts} {}", arguments(&counts)))
    }
}
