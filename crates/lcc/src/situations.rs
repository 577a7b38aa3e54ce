//! Caches what agents can do in each local situation.
//!
//! What an agent can do depends only on its process, on the message it is offered, and on the facts and rules
//! that were consulted. So each outcome is stored with a record of what was consulted and of its content at
//! that time. The outcome is reused wherever the record is still correct: in other global states, after a
//! change of rules that was reverted, or in another team. Build systems call such records verifying traces.
//! [MMP18]

use masque_mu::LabelId;
use rustc_hash::FxHashMap;

use crate::entry::{ChangedNames, Entry};
use crate::program::{Owner, Program};
use crate::resolve::{Consulted, Findings};
use crate::rows::Rows;
use crate::step::{Situation, Steps};
use crate::system::LabelTerm;
use crate::term::TermId;

/// Maximum number of earlier outcomes kept per situation.
const MAX_OLD_OUTCOMES: usize = 32;

/// A step of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) label: LabelId,
    /// What remains of the process.
    pub(crate) rest: TermId,
    /// The message that is sent.
    pub(crate) sent: Option<TermId>,
}

/// The steps of an agent in a situation.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) moves: Box<[Move]>,
    /// Name of the bound that was exceeded, if any; there may then be more steps.
    pub(crate) cut: Option<&'static str>,
    /// Whether the agent can also receive a message, if a suitable one is under way.
    pub(crate) is_waiting: bool,
    pub(crate) findings: Option<Box<Findings>>,
    /// What was consulted, and the version of its content.
    record: Box<[(Consulted, u32)]>,
}

impl Outcome {
    /// Estimated size in bytes.
    fn bytes(&self) -> usize {
        let findings = self.findings.as_ref().map_or(0, |findings| findings.bytes());
        size_of_val(&*self.moves) + size_of_val(&*self.record) + size_of::<Outcome>() + findings
    }

    fn is_same(&self, other: &Outcome) -> bool {
        (&self.moves, self.cut, self.is_waiting) == (&other.moves, other.cut, other.is_waiting)
    }
}

/// A situation and its outcomes.
#[derive(Clone, Debug)]
struct Slot {
    situation: Situation,
    /// The current outcome.
    now: Outcome,
    /// Earlier outcomes, under other rules and facts, the most recent last.
    others: Vec<Outcome>,
    /// Whether something that was consulted has changed since `now` was computed.
    is_stale: bool,
}

/// The situations computed so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Situations {
    /// Index of a situation without a message, by agent and process.
    own: FxHashMap<(Owner, TermId), u32>,
    /// Index of a situation with a message, by agent, process and message.
    taken: FxHashMap<(Owner, TermId, TermId), u32>,
    slots: Vec<Slot>,
    /// Indices of situations that may be stale.
    stale: Vec<u32>,
    /// Indices of situations whose outcome has changed.
    changed: Vec<u32>,
    /// The version of the content of each consulted part of the program, as far as it is known.
    versions: FxHashMap<Consulted, u32>,
    /// The content of each version.
    contents: Rows,
    /// Number of outcomes computed.
    pub(crate) n_computed: u64,
    /// Estimated size in bytes of the slots and their outcomes.
    slot_bytes: usize,
}

impl Situations {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Removes all situations, but keeps the number of outcomes computed.
    pub(crate) fn clear(&mut self) {
        *self = Situations { n_computed: self.n_computed, ..Situations::default() };
    }

    /// Returns the index of a situation, if it has been computed.
    pub(crate) fn find(&self, situation: Situation) -> Option<u32> {
        match situation.message {
            None => self.own.get(&(situation.actor, situation.process)).copied(),
            Some(message) => self.taken.get(&(situation.actor, situation.process, message)).copied(),
        }
    }

    pub(crate) fn situation(&self, index: u32) -> Situation {
        self.slots[index as usize].situation
    }

    #[inline]
    pub(crate) fn outcome(&self, index: u32) -> &Outcome {
        &self.slots[index as usize].now
    }

    #[inline]
    pub(crate) fn is_stale(&self, index: u32) -> bool {
        self.slots[index as usize].is_stale
    }

    /// Iterates over the findings of all situations.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Findings> {
        self.slots.iter().filter_map(|slot| slot.now.findings.as_deref())
    }

    /// Iterates over what was consulted for each situation.
    pub(crate) fn consulted(&self) -> impl Iterator<Item = impl Iterator<Item = Consulted>> {
        self.slots.iter().map(|slot| slot.now.record.iter().map(|(consulted, _)| *consulted))
    }

    /// Adds a situation and its outcome, and returns its index.
    pub(crate) fn insert(&mut self, situation: Situation, now: Outcome) -> u32 {
        let index = self.slots.len() as u32;
        match situation.message {
            None => self.own.insert((situation.actor, situation.process), index),
            Some(message) => self.taken.insert((situation.actor, situation.process, message), index),
        };
        self.slot_bytes += size_of::<Slot>() + now.bytes();
        self.slots.push(Slot { situation, now, others: Vec::new(), is_stale: false });
        index
    }

    /// Makes an outcome with a record of what was consulted.
    pub(crate) fn record(
        &mut self,
        program: &Program,
        found: Steps,
        findings: Findings,
        mut label: impl FnMut(LabelTerm) -> LabelId,
    ) -> Outcome {
        self.n_computed += 1;
        let moves = found.steps.iter().map(|step| {
            let (rest, sent) = (step.rest, step.sent);
            Move { label: label(step.label), rest, sent }
        });
        let moves = moves.collect();
        let record = found.consulted.iter().map(|on| (*on, self.version(program, *on))).collect();
        let findings = (!findings.is_empty()).then(|| Box::new(findings));
        Outcome { moves, cut: found.cut, is_waiting: found.is_waiting, findings, record }
    }

    /// Returns the version of the content of a consulted part of the program.
    fn version(&mut self, program: &Program, on: Consulted) -> u32 {
        if let Some(version) = self.versions.get(&on) {
            return *version;
        }
        let version = self.contents.insert(&content(program, on));
        self.versions.insert(on, version);
        version
    }

    /// Marks the situations as stale that depend on changed statements. Returns their number.
    pub(crate) fn mark_stale(&mut self, entries: &[Entry]) -> usize {
        let changed = ChangedNames::new(entries);
        let is_affected = |on: &Consulted| changed.affect(*on);
        self.versions.retain(|on, _| !is_affected(on));
        let mut n_affected = 0;
        for (index, slot) in self.slots.iter_mut().enumerate() {
            if slot.now.record.iter().any(|(on, _)| is_affected(on)) {
                n_affected += 1;
                if !std::mem::replace(&mut slot.is_stale, true) {
                    self.stale.push(index as u32);
                }
            }
        }
        n_affected
    }

    /// Marks all situations as stale.
    pub(crate) fn mark_all_stale(&mut self) {
        self.versions.clear();
        self.changed.clear();
        self.stale.clear();
        self.stale.extend(0..self.slots.len() as u32);
        self.slots.iter_mut().for_each(|slot| slot.is_stale = true);
    }

    /// Returns the index of a stale situation, if there is one.
    pub(crate) fn next_stale(&mut self) -> Option<u32> {
        while let Some(index) = self.stale.last().copied() {
            if self.is_stale(index) {
                return Some(index);
            }
            self.stale.pop();
        }
        None
    }

    /// Returns the indices of the situations whose outcome has changed since the last call.
    pub(crate) fn take_changed(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.changed)
    }

    /// Restores an earlier outcome whose record is correct again. Returns whether there is one.
    pub(crate) fn restore(&mut self, program: &Program, index: u32) -> bool {
        let n_others = self.slots[index as usize].others.len();
        // The current outcome is tried first, then the earlier ones from the most recent on.
        for outcome_index in (0..=n_others).rev() {
            let n = self.record_of(index, outcome_index).len();
            let is_correct = (0..n).all(|i| {
                let (on, version) = self.record_of(index, outcome_index)[i];
                self.version(program, on) == version
            });
            if is_correct {
                let slot = &mut self.slots[index as usize];
                slot.is_stale = false;
                if outcome_index < n_others {
                    let outcome = slot.others.remove(outcome_index);
                    self.slot_bytes -= outcome.bytes();
                    self.replace(index, outcome);
                }
                return true;
            }
        }
        false
    }

    /// Returns the record of an earlier outcome, or of the current one if the index is past the last.
    fn record_of(&self, index: u32, outcome_index: usize) -> &[(Consulted, u32)] {
        let slot = &self.slots[index as usize];
        &slot.others.get(outcome_index).unwrap_or(&slot.now).record
    }

    /// Replaces the current outcome of a situation, and keeps the old one.
    pub(crate) fn replace(&mut self, index: u32, outcome: Outcome) {
        let slot = &mut self.slots[index as usize];
        slot.is_stale = false;
        if !slot.now.is_same(&outcome) {
            self.changed.push(index);
        }
        self.slot_bytes += outcome.bytes();
        let before = std::mem::replace(&mut slot.now, outcome);
        if slot.others.len() >= MAX_OLD_OUTCOMES {
            self.slot_bytes -= slot.others.remove(0).bytes();
        }
        slot.others.push(before);
    }

    /// Estimated size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let spare = (self.slots.capacity() - self.slots.len()) * size_of::<Slot>();
        let tables = (self.own.capacity() + self.taken.capacity()) * 20 + self.versions.capacity() * 24;
        (self.slot_bytes + spare + tables) as u64 + self.contents.bytes()
    }
}

/// Encodes the content of a consulted part of the program. Encodings are equal if and only if the statements
/// are.
fn content(program: &Program, on: Consulted) -> Vec<u32> {
    let body = |body: Option<TermId>| body.map_or(u32::MAX, |body| body.0);
    match on {
        Consulted::Known(owner, functor) => {
            let is_choice = u32::from(program.is_choice(owner, functor));
            let mut words = vec![0, owner.0, functor.name.0, functor.arity, is_choice];
            words.extend(program.facts(owner, functor).flat_map(|fact| [fact.head.0, body(fact.body)]));
            words
        }
        Consulted::Policy(functor) => {
            let mut words = vec![1, functor.name.0, functor.arity];
            for permits in [true, false] {
                let rules = program.rules_for(functor, permits);
                words.push(rules.len() as u32);
                for rule in rules.iter().map(|index| &program.rules[*index as usize]) {
                    let terms = [rule.subject.0, rule.object.0, rule.action.0];
                    words.extend(terms.into_iter().chain([rule.enforcer.0, body(rule.body)]));
                }
            }
            words
        }
    }
}
