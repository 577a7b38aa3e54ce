//! A checked instance: clauses, team, knowledge and policies as terms.

use std::sync::Arc;

use masque_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::Names;
use crate::options::Options;
use crate::term::{Functor, TermId, Terms};

/// Somebody who knows something, enforces something or acts: an id of the instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner(pub(crate) u32);

/// A clause of the protocol. Its variables are numbered from 0, in body and head together.
#[derive(Clone, Debug)]
pub(crate) struct ClauseDef {
    pub(crate) role: TermId,
    pub(crate) id: TermId,
    pub(crate) body: TermId,
    pub(crate) n_vars: u32,
}

/// A member of the team.
#[derive(Clone, Debug)]
pub(crate) struct AgentDef {
    pub(crate) id: TermId,
    pub(crate) owner: Owner,
    /// The process in which a server may rest.
    pub(crate) start: TermId,
    /// Where it is when the check begins.
    pub(crate) now: TermId,
    pub(crate) is_server: bool,
}

/// A fact, or a clause of somebody's knowledge.
#[derive(Clone, Debug)]
pub(crate) struct FactDef {
    pub(crate) head: TermId,
    pub(crate) body: Option<TermId>,
    pub(crate) n_vars: u32,
    pub(crate) span: Span,
}

/// A rule of a policy.
#[derive(Clone, Debug)]
pub(crate) struct RuleDef {
    pub(crate) enforcer: Owner,
    /// Its place among the rules of all policies, from 1.
    pub(crate) number: u32,
    pub(crate) permits: bool,
    pub(crate) subject: TermId,
    pub(crate) object: TermId,
    pub(crate) action: TermId,
    pub(crate) body: Option<TermId>,
    pub(crate) n_vars: u32,
    pub(crate) span: Span,
}

/// Facts and clauses by name and number of arguments.
pub(crate) type Known = FxHashMap<Functor, Vec<FactDef>>;

/// A checked instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) options: Options,
    pub(crate) clauses: Vec<ClauseDef>,
    pub(crate) by_role: FxHashMap<Functor, Vec<u32>>,
    pub(crate) agents: Vec<AgentDef>,
    pub(crate) ids: Vec<TermId>,
    pub(crate) owners: FxHashMap<TermId, Owner>,
    pub(crate) common: Known,
    /// By owner.
    pub(crate) known: Vec<Known>,
    pub(crate) rules: Vec<RuleDef>,
    /// The rules for an action, permitting or forbidding.
    pub(crate) by_action: FxHashMap<(Functor, bool), Vec<u32>>,
    pub(crate) choices: FxHashSet<(Option<Owner>, Functor)>,
    pub(crate) mail: Vec<TermId>,
    /// The names of the protocol, against which others are checked.
    pub(crate) names: Arc<Names>,
}

impl Program {
    /// The owner with an id, new or not.
    pub(crate) fn owner(&mut self, id: TermId) -> Owner {
        let next = Owner(self.ids.len() as u32);
        let owner = *self.owners.entry(id).or_insert(next);
        if owner == next {
            self.ids.push(id);
            self.known.push(Known::default());
        }
        owner
    }

    /// What an owner and everybody know of a predicate, the owner's own first.
    pub(crate) fn facts(&self, owner: Owner, functor: Functor) -> impl Iterator<Item = &FactDef> {
        let own = self.known[owner.0 as usize].get(&functor).into_iter().flatten();
        own.chain(self.common.get(&functor).into_iter().flatten())
    }

    /// Whether the outcome of a predicate is the owner's own decision.
    pub(crate) fn is_choice(&self, owner: Owner, functor: Functor) -> bool {
        !self.choices.is_empty()
            && (self.choices.contains(&(Some(owner), functor)) || self.choices.contains(&(None, functor)))
    }

    /// The rules of a sign for an action.
    pub(crate) fn rules_for(&self, functor: Functor, permits: bool) -> &[u32] {
        self.by_action.get(&(functor, permits)).map_or(&[], Vec::as_slice)
    }

    /// The text of an owner's id.
    pub(crate) fn name(&self, terms: &Terms, owner: Owner) -> String {
        terms.text(self.ids[owner.0 as usize])
    }
}
