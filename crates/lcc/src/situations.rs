//! What agents can do, found once per local situation, and for how long that stands.
//!
//! What an agent can do depends on its process, the message it is offered, and what was consulted
//! to find out; on nothing else. So an outcome is kept with a record of what was consulted and what
//! stood there, and serves wherever the record is true: in other global states, after a change of
//! rules that was taken back, in another team. These are the verifying traces of build systems.
//! [MMP18]

use masque_mu::LabelId;
use rustc_hash::FxHashMap;

use crate::entry::Entry;
use crate::program::{Owner, Program};
use crate::resolve::{Consulted, Findings};
use crate::step::{Situation, Steps};
use crate::store::Rows;
use crate::term::TermId;

/// So many outcomes of one situation are kept.
const MOST: usize = 32;

/// A step of an agent in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) label: LabelId,
    pub(crate) rest: TermId,
    pub(crate) sent: Option<TermId>,
}

/// What an agent can do in a situation.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) moves: Box<[Move]>,
    /// The bound beyond which there may be more.
    pub(crate) cut: Option<&'static str>,
    /// Whether the agent stands before a receipt, too.
    pub(crate) is_waiting: bool,
    pub(crate) findings: Option<Box<Findings>>,
    /// What was consulted, and the number of what stood there.
    record: Box<[(Consulted, u32)]>,
}

impl Outcome {
    fn is_same(&self, other: &Outcome) -> bool {
        (&self.moves, self.cut, self.is_waiting) == (&other.moves, other.cut, other.is_waiting)
    }
}

#[derive(Clone, Debug)]
struct Slot {
    at: Situation,
    now: Outcome,
    /// Outcomes under other rules and facts, the most recent last.
    others: Vec<Outcome>,
    /// Whether something that was consulted has changed since.
    is_stale: bool,
}

/// All situations that were looked into.
#[derive(Clone, Debug, Default)]
pub(crate) struct Situations {
    own: FxHashMap<(Owner, TermId), u32>,
    taken: FxHashMap<(Owner, TermId, TermId), u32>,
    slots: Vec<Slot>,
    stale: Vec<u32>,
    /// Those whose outcome is another than it was.
    changed: Vec<u32>,
    /// The number of what stands where something may be consulted, as far as that was asked for.
    versions: FxHashMap<Consulted, u32>,
    contents: Rows,
    /// How many outcomes were computed.
    pub(crate) n_computed: u64,
}

impl Situations {
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Forgets all situations, but not how many were looked into.
    pub(crate) fn clear(&mut self) {
        *self = Situations { n_computed: self.n_computed, ..Situations::default() };
    }

    /// The number of a situation, if it was looked into.
    pub(crate) fn find(&self, at: Situation) -> Option<u32> {
        match at.message {
            None => self.own.get(&(at.actor, at.process)).copied(),
            Some(message) => self.taken.get(&(at.actor, at.process, message)).copied(),
        }
    }

    pub(crate) fn situation(&self, number: u32) -> Situation {
        self.slots[number as usize].at
    }

    #[inline]
    pub(crate) fn outcome(&self, number: u32) -> &Outcome {
        &self.slots[number as usize].now
    }

    #[inline]
    pub(crate) fn is_stale(&self, number: u32) -> bool {
        self.slots[number as usize].is_stale
    }

    /// What is to be reported of all situations.
    pub(crate) fn findings(&self) -> impl Iterator<Item = &Findings> {
        self.slots.iter().filter_map(|slot| slot.now.findings.as_deref())
    }

    /// Of each situation, what was consulted.
    pub(crate) fn consulted(&self) -> impl Iterator<Item = impl Iterator<Item = Consulted>> {
        self.slots.iter().map(|slot| slot.now.record.iter().map(|(consulted, _)| *consulted))
    }

    /// Enters a situation and its outcome.
    pub(crate) fn insert(&mut self, at: Situation, now: Outcome) -> u32 {
        let number = self.slots.len() as u32;
        match at.message {
            None => self.own.insert((at.actor, at.process), number),
            Some(message) => self.taken.insert((at.actor, at.process, message), number),
        };
        self.slots.push(Slot { at, now, others: Vec::new(), is_stale: false });
        number
    }

    /// An outcome, with a record of what was consulted.
    pub(crate) fn record(
        &mut self,
        program: &Program,
        found: Steps,
        findings: Findings,
        label: impl FnMut(TermId) -> LabelId,
    ) -> Outcome {
        self.n_computed += 1;
        let mut label = label;
        let moves = found.steps.iter().map(|step| {
            let (rest, sent) = (step.rest, step.sent);
            Move { label: label(step.label), rest, sent }
        });
        let moves = moves.collect();
        let record = found.consulted.iter().map(|on| (*on, self.version(program, *on))).collect();
        let findings = (!findings.is_empty()).then(|| Box::new(findings));
        Outcome { moves, cut: found.cut, is_waiting: found.is_waiting, findings, record }
    }

    /// The number of what stands where something is consulted.
    fn version(&mut self, program: &Program, on: Consulted) -> u32 {
        if let Some(version) = self.versions.get(&on) {
            return *version;
        }
        let version = self.contents.insert(&content(program, on));
        self.versions.insert(on, version);
        version
    }

    /// Rules and facts have changed in these statements: how many situations depend on them.
    pub(crate) fn touch(&mut self, entries: &[Entry]) -> usize {
        let is_touched = |on: &Consulted| entries.iter().any(|entry| entry.touches(*on));
        self.versions.retain(|on, _| !is_touched(on));
        let mut n_touched = 0;
        for (number, slot) in self.slots.iter_mut().enumerate() {
            if slot.now.record.iter().any(|(on, _)| is_touched(on)) {
                n_touched += 1;
                if !std::mem::replace(&mut slot.is_stale, true) {
                    self.stale.push(number as u32);
                }
            }
        }
        n_touched
    }

    /// Everything may have changed.
    pub(crate) fn touch_all(&mut self) {
        self.versions.clear();
        self.changed.clear();
        self.stale.clear();
        self.stale.extend(0..self.slots.len() as u32);
        self.slots.iter_mut().for_each(|slot| slot.is_stale = true);
    }

    /// One of the situations whose outcome may have changed.
    pub(crate) fn next_stale(&mut self) -> Option<u32> {
        while let Some(number) = self.stale.last().copied() {
            if self.is_stale(number) {
                return Some(number);
            }
            self.stale.pop();
        }
        None
    }

    /// The situations whose outcome has changed since this was last asked.
    pub(crate) fn take_changed(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.changed)
    }

    /// Goes back to an outcome that was found before and is true again, if there is one.
    pub(crate) fn restore(&mut self, program: &Program, number: u32) -> bool {
        let n_others = self.slots[number as usize].others.len();
        // The present one first, then the most recent.
        for at in (0..=n_others).rev() {
            let n = self.record_of(number, at).len();
            let is_true = (0..n).all(|i| {
                let (on, version) = self.record_of(number, at)[i];
                self.version(program, on) == version
            });
            if is_true {
                let slot = &mut self.slots[number as usize];
                slot.is_stale = false;
                if at < n_others {
                    let outcome = slot.others.remove(at);
                    self.replace(number, outcome);
                }
                return true;
            }
        }
        false
    }

    fn record_of(&self, number: u32, at: usize) -> &[(Consulted, u32)] {
        let slot = &self.slots[number as usize];
        &slot.others.get(at).unwrap_or(&slot.now).record
    }

    /// The outcome of a situation is another one now.
    pub(crate) fn replace(&mut self, number: u32, outcome: Outcome) {
        let slot = &mut self.slots[number as usize];
        slot.is_stale = false;
        if !slot.now.is_same(&outcome) {
            self.changed.push(number);
        }
        let before = std::mem::replace(&mut slot.now, outcome);
        if slot.others.len() >= MOST {
            slot.others.remove(0);
        }
        slot.others.push(before);
    }

    /// The bytes this takes, roughly.
    pub(crate) fn bytes(&self) -> u64 {
        let of_outcome = |outcome: &Outcome| {
            size_of_val(&*outcome.moves) + size_of_val(&*outcome.record) + size_of::<Outcome>()
        };
        let of_slot = |slot: &Slot| {
            let outcomes = slot.others.iter().chain([&slot.now]).map(of_outcome);
            size_of::<Slot>() + outcomes.sum::<usize>()
        };
        let slots: usize = self.slots.iter().map(of_slot).sum();
        (slots + (self.own.capacity() + self.taken.capacity()) * 20) as u64 + self.contents.bytes()
    }
}

/// What stands where something is consulted, in numbers: equal if and only if the statements are.
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
                for rule in rules.iter().map(|number| &program.rules[*number as usize]) {
                    let terms = [rule.subject.0, rule.object.0, rule.action.0];
                    words.extend(terms.into_iter().chain([rule.enforcer.0, body(rule.body)]));
                }
            }
            words
        }
    }
}
