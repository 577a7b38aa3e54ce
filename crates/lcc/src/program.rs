//! A checked instance: clauses, team, knowledge and policies as terms.

use std::sync::Arc;

use masque_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::names::Names;
use crate::options::Options;
use crate::term::{Functor, TermId, Terms};

/// An id of the instance that acts, owns facts or enforces rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Owner(pub(crate) u32);

/// A clause of the protocol. The variables of head and body are numbered together, from 0.
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
    /// The first process. A server may remain in it in a final state.
    pub(crate) start: TermId,
    /// The process in the initial state of the check.
    pub(crate) now: TermId,
    pub(crate) is_server: bool,
}

/// A fact, with conditions if it has a body.
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
    /// Number among the rules of all policies, counted from 1.
    pub(crate) number: u32,
    pub(crate) permits: bool,
    pub(crate) subject: TermId,
    pub(crate) object: TermId,
    pub(crate) action: TermId,
    pub(crate) body: Option<TermId>,
    pub(crate) n_vars: u32,
    pub(crate) span: Span,
}

/// Facts by predicate.
pub(crate) type Known = FxHashMap<Functor, Vec<FactDef>>;

/// A checked instance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    pub(crate) options: Options,
    pub(crate) clauses: Vec<ClauseDef>,
    /// For each role, the indices of its clauses.
    pub(crate) by_role: FxHashMap<Functor, Vec<u32>>,
    pub(crate) agents: Vec<AgentDef>,
    /// The id of each owner.
    pub(crate) ids: Vec<TermId>,
    pub(crate) owners: FxHashMap<TermId, Owner>,
    /// Facts that every owner knows.
    pub(crate) common: Known,
    /// Facts of each owner.
    pub(crate) known: Vec<Known>,
    pub(crate) rules: Vec<RuleDef>,
    /// For each action, the indices of the rules that permit (`true`) or forbid (`false`) it.
    pub(crate) by_action: FxHashMap<(Functor, bool), Vec<u32>>,
    /// Predicates whose outcome is a decision of an owner, or of each agent if `None`.
    pub(crate) choices: FxHashSet<(Option<Owner>, Functor)>,
    /// Messages under way in the initial state.
    pub(crate) mail: Vec<TermId>,
    /// The names of the protocol, for warnings about unknown names.
    pub(crate) names: Arc<Names>,
}

impl Program {
    /// Returns the owner with this id, which is added if it is new.
    pub(crate) fn owner(&mut self, id: TermId) -> Owner {
        let next = Owner(self.ids.len() as u32);
        let owner = *self.owners.entry(id).or_insert(next);
        if owner == next {
            self.ids.push(id);
            self.known.push(Known::default());
        }
        owner
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let of_known = |known: &Known| {
            let facts: usize = known.values().map(Vec::capacity).sum();
            size_of::<Known>()
                + known.capacity() * (size_of::<(Functor, Vec<FactDef>)>() + 1)
                + facts * size_of::<FactDef>()
        };
        let facts: usize = std::iter::once(&self.common).chain(&self.known).map(of_known).sum();
        let clauses = self.clauses.capacity() * (size_of::<ClauseDef>() + 4) + self.by_role.capacity() * 40;
        let team = self.agents.capacity() * size_of::<AgentDef>() + self.mail.capacity() * 4;
        let owners = self.ids.capacity() * 4 + self.owners.capacity() * 12;
        let rules = self.rules.capacity() * (size_of::<RuleDef>() + 8) + self.by_action.capacity() * 48;
        let choices = self.choices.capacity() * 20;
        (facts + clauses + team + owners + rules + choices) as u64 + self.names.bytes()
    }

    /// Iterates over the facts about a predicate that an owner knows: its own first, then common ones.
    pub(crate) fn facts(&self, owner: Owner, functor: Functor) -> impl Iterator<Item = &FactDef> {
        let own = self.known[owner.0 as usize].get(&functor).into_iter().flatten();
        own.chain(self.common.get(&functor).into_iter().flatten())
    }

    /// Whether the outcome of a predicate is a decision of the owner.
    pub(crate) fn is_choice(&self, owner: Owner, functor: Functor) -> bool {
        !self.choices.is_empty()
            && (self.choices.contains(&(Some(owner), functor)) || self.choices.contains(&(None, functor)))
    }

    /// Returns the indices of the rules that permit, or forbid, an action.
    pub(crate) fn rules_for(&self, functor: Functor, permits: bool) -> &[u32] {
        self.by_action.get(&(functor, permits)).map_or(&[], Vec::as_slice)
    }

    /// Returns the text of an owner's id.
    pub(crate) fn name(&self, terms: &Terms, owner: Owner) -> String {
        terms.text(self.ids[owner.0 as usize])
    }
}
