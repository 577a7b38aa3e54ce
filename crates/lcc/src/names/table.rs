//! A table of the names of one kind, and the warning about a name that is missing in it.

use std::collections::BTreeMap;

use masque_text::{Diagnostic, Span, did_you_mean};
use rustc_hash::FxHashMap;

use super::{is_variable, signature};
use crate::term::{Functor, Terms};
use crate::tree::Term;

/// Names of one kind with their numbers of arguments.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    /// Where each name is used first.
    first: FxHashMap<Functor, Span>,
    /// Where a variable is used instead of a name, if anywhere: any name may then occur at run time.
    open_at: Option<Span>,
}

impl Table {
    /// Adds a name, unless the table has it already.
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

    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.first.len()
    }

    /// Estimated size in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.first.capacity() * (size_of::<(Functor, Span)>() + 1)
    }

    /// Number of names; an open table counts as one more.
    pub(super) fn size(&self) -> usize {
        self.first.len() + usize::from(self.open_at.is_some())
    }

    /// Marks the table as open: any name is possible.
    pub(super) fn open(&mut self, span: Span) {
        self.open_at.get_or_insert(span);
    }

    /// Whether any name is possible.
    pub(super) fn is_open(&self) -> bool {
        self.open_at.is_some()
    }

    /// Returns the location that comes first in the text among all entries.
    pub(super) fn first_span(&self) -> Option<Span> {
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

    /// Whether the name of a term is possible here; also `true` for variables and numbers, which have no
    /// name.
    pub(super) fn allows_term(&self, terms: &Terms, term: &Term) -> bool {
        let Some((name, arity)) = signature(term) else { return true };
        self.is_open() || terms.find(name, arity).is_some_and(|functor| self.first.contains_key(&functor))
    }

    /// Iterates over the names and where each is used first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Functor, Span)> + '_ {
        self.first.iter().map(|(functor, span)| (*functor, *span))
    }
}

/// Maximum number of names listed in a help line if none is similar to the one that was used.
const MAX_LISTED_NAMES: usize = 8;

/// Makes a help line: the most similar name, or a name that begins like the used one, or all names if there
/// are at most [`MAX_LISTED_NAMES`].
fn nearest(used: &str, mut names: Vec<&str>) -> Option<String> {
    names.sort_unstable();
    names.dedup();
    let shares_prefix =
        |name: &&&str| used.len() >= 3 && (name.starts_with(used) || used.starts_with(**name));
    let part = || names.iter().filter(shares_prefix).min_by_key(|name| name.len());
    did_you_mean(used, &names).or_else(|| part().map(|name| format!("did you mean `{name}`?"))).or_else(
        || {
            let is_listed = !names.is_empty() && names.len() <= MAX_LISTED_NAMES;
            is_listed.then(|| format!("the names here are `{}`", names.join("`, `")))
        },
    )
}

/// A warning about a name that does not exist.
pub(super) struct Missing<'a> {
    pub(super) code: &'static str,
    /// The name as written.
    pub(super) name: &'a str,
    pub(super) arity: usize,
    pub(super) span: Span,
    pub(super) message: String,
    /// The consequence, shown beside the name.
    pub(super) label: &'static str,
}

impl Missing<'_> {
    /// Makes the warning, given the names that would be accepted. It suggests the most similar name or, if
    /// only the number of arguments differs, shows where the name has another number of arguments.
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
        let Some((_, span)) = arities.first_key_value() else {
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
            .also(*span, also)
            .hint(format!("write it with {counts} {}", arguments(&counts)))
    }
}
