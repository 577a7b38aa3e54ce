//! A protocol that is monitored, and the monitors of its sessions.

use std::mem::discriminant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use masque_lcc::tree::{Item, Obligation, Tree};
use masque_lcc::{OpenedInstance, System};
use masque_mu::Property;
use masque_text::{Diagnostic, Sources, Span};
use masque_verdict::{Budget, Stop, Why};

use super::belief::{BeliefId, Ended};
use super::engine::Engine;
use super::history::Instance;
use super::observation::Observation;
use super::spec::{Bounds, Reader};
use super::summary::{Past, Summary, beyond};
use crate::{
    Closing, EventVerdict, FactChange, GoalChange, GoalStatus, InstanceChange, InstanceStatus, Judgement,
    Monitor, ObligationInstance, Preview, Status, Violation,
};

/// A protocol that is monitored. Monitors of one model share what is computed, and may be used by different threads,
/// one at a time.
///
/// ```
/// use masque_lcc::{EventText, InstanceInput, open};
/// use masque_monitor::lcc::{Bounds, LccModel, Observation};
/// use masque_monitor::{EventVerdict, GoalStatus, Monitor};
/// use masque_verdict::Budget;
///
/// let text = "a(hen, H) :: egg => a(farmer, f) or cluck => a(farmer, f).
///     a(farmer, F) :: egg <= a(hen, _) or cluck <= a(hen, _).
///     agent a(hen, h).  agent a(farmer, f).  property fed : inev(in(egg)) ;";
/// let mut sources = masque_text::Sources::default();
/// let files = vec![sources.add("farm.lcc", text).unwrap()];
/// let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
/// let model = LccModel::new(&sources, opened, &[], Bounds::default()).unwrap();
///
/// let budget = Budget::unlimited();
/// let message = |text: &str| {
///     Observation::read(EventText { message: Some(text.to_string()), ..EventText::default() }).unwrap()
/// };
/// let mut monitor = model.open();
/// let moo = monitor.observe(&message("moo"), &budget).unwrap();
/// let EventVerdict::Violated(violation) = moo.event else { panic!("hens do not moo") };
/// assert_eq!(violation.instead, ["h -> f: cluck", "h -> f: egg"]);
/// let cluck = monitor.observe(&message("cluck"), &budget).unwrap();
/// assert_eq!(cluck.goals[0].status, GoalStatus::Lost);
/// ```
#[derive(Clone, Debug)]
pub struct LccModel {
    shared: Arc<Mutex<Shared>>,
}

/// What the monitors of a model share.
#[derive(Debug)]
struct Shared {
    engine: Engine,
    sessions: Vec<Session>,
    /// Indices of sessions that are closed.
    free: Vec<u32>,
    /// Size in bytes above which states and results that no session needs are discarded.
    max_bytes: u64,
}

/// The belief after an observation, and what it says.
type Next = (BeliefId, Arc<Summary>);

/// What is kept for a session.
#[derive(Clone, Debug, Default)]
struct Session {
    /// `None` before the first call.
    belief: Option<BeliefId>,
    /// For each goal, what the events so far say.
    past: Box<[Past]>,
}

/// The parts of a protocol that was opened without errors.
#[derive(Debug)]
pub struct ProtocolParts<'a> {
    /// The transition system.
    pub system: System,
    /// The properties, obligations included.
    pub properties: &'a [Property],
    /// The obligations, in the order of their properties.
    pub obligations: &'a [Obligation],
}

/// Returns the obligations in the files of a protocol.
pub fn obligations(trees: &[Tree]) -> Vec<Obligation> {
    let items = trees.iter().flat_map(|tree| &tree.items);
    let obligation = |item: &Item| match item {
        Item::Obligation(obligation) => Some(obligation.clone()),
        _ => None,
    };
    items.filter_map(obligation).collect()
}

impl LccModel {
    /// Makes a model that can be monitored. `observable` are the locations of patterns of observable steps, in the
    /// syntax of properties; without any, the observable steps are the messages that are sent.
    ///
    /// The instance must have been opened without errors from these sources.
    pub fn new(
        sources: &Sources,
        mut opened: OpenedInstance,
        observable: &[Span],
        bounds: Bounds,
    ) -> Result<LccModel, Vec<Diagnostic>> {
        let Some(system) = opened.system.take() else { return Err(opened.diagnostics) };
        let obligations = obligations(&opened.trees);
        let parts = ProtocolParts { system, properties: &opened.properties, obligations: &obligations };
        LccModel::of(sources, parts, observable, bounds)
    }

    /// Does what [`LccModel::new`] does for a protocol whose parts are known.
    pub fn of(
        sources: &Sources,
        parts: ProtocolParts<'_>,
        observable: &[Span],
        bounds: Bounds,
    ) -> Result<LccModel, Vec<Diagnostic>> {
        let ProtocolParts { mut system, properties, obligations } = parts;
        let mut reader = Reader { sources, system: &mut system, questions: Vec::new() };
        let spec = reader.spec(properties, obligations, observable, bounds)?;
        let questions = reader.questions;
        let shared = Shared {
            engine: Engine::new(system, Arc::new(spec), questions),
            sessions: Vec::new(),
            free: Vec::new(),
            max_bytes: bounds.cache,
        };
        Ok(LccModel { shared: Arc::new(Mutex::new(shared)) })
    }

    /// Opens a monitor for a new session.
    pub fn open(&self) -> LccMonitor {
        let mut shared = lock(&self.shared);
        let slot = match shared.free.pop() {
            Some(slot) => slot,
            None => {
                shared.sessions.push(Session::default());
                shared.sessions.len() as u32 - 1
            }
        };
        LccMonitor { shared: Arc::clone(&self.shared), slot }
    }

    /// Number of open monitors.
    pub fn n_open(&self) -> usize {
        let shared = lock(&self.shared);
        shared.sessions.len() - shared.free.len()
    }

    /// Estimated size in bytes.
    pub fn bytes(&self) -> u64 {
        lock(&self.shared).bytes()
    }

    /// Number of different sets of possible runs that are stored.
    pub fn n_beliefs(&self) -> usize {
        lock(&self.shared).engine.n_beliefs()
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    // What is shared is only replaced by complete results, so it is valid even if another thread has panicked.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn bytes(&self) -> u64 {
        let sessions = self.sessions.capacity() * size_of::<Session>() + self.free.capacity() * 4;
        let goals = self.sessions.len() * self.engine.spec.goals.len();
        self.engine.bytes() + (sessions + goals) as u64
    }

    /// Discards what no session needs.
    fn rebuild(&mut self) {
        let live = self.sessions.iter().filter_map(|session| session.belief);
        let moved = self.engine.rebuild(live);
        for belief in self.sessions.iter_mut().filter_map(|session| session.belief.as_mut()) {
            *belief = moved[belief];
        }
        self.max_bytes = self.engine.spec.bounds.cache.max(2 * self.engine.bytes());
    }

    /// Returns the belief of a session.
    fn belief(&mut self, slot: u32, budget: &Budget) -> Result<BeliefId, Stop> {
        if let Some(belief) = self.sessions[slot as usize].belief {
            return Ok(belief);
        }
        let initial = self.engine.initial(budget)?;
        let summary = self.engine.summary(initial, budget)?;
        let past = summary.goals.iter().map(|goal| goal.past(Past::default())).collect();
        self.sessions[slot as usize] = Session { belief: Some(initial), past };
        Ok(initial)
    }

    /// Judges an observation. Also returns the belief after it, and its summary.
    fn judge(
        &mut self,
        slot: u32,
        observation: &Observation,
        budget: &Budget,
    ) -> Result<(Judgement, Option<Next>), Stop> {
        let belief = self.belief(slot, budget)?;
        let before = self.engine.summary(belief, budget)?;
        let successor = self.engine.after(belief, observation, budget)?;
        let Some(next) = successor.belief else {
            let violation = self.engine.violation(belief, observation, budget);
            let violation = violation.unwrap_or_else(|_| Violation::unexplained());
            let judgement = Judgement {
                event: EventVerdict::Violated(violation),
                goals: Vec::new(),
                facts: Vec::new(),
                obligations: Vec::new(),
                n_states: before.n_states,
            };
            return Ok((judgement, None));
        };
        let after = self.engine.summary(next, budget)?;
        let event = match after.cut {
            Some(bound) if after.n_states == 0 => EventVerdict::Unknown(beyond(bound)),
            _ => EventVerdict::Possible,
        };
        let judgement = Judgement {
            event,
            goals: self.goal_changes(slot, &before, &after),
            facts: self.fact_changes(&before, &after),
            obligations: self.instance_changes(&before, &after, &successor.ended),
            n_states: after.n_states,
        };
        Ok((judgement, Some((next, after))))
    }

    fn goal_changes(&self, slot: u32, before: &Summary, after: &Summary) -> Vec<GoalChange> {
        let past = &self.sessions[slot as usize].past;
        let goals = self.engine.spec.goals.iter().enumerate();
        let change = |(index, goal): (usize, &super::spec::Goal)| {
            let [before, status] = [before, after].map(|summary| summary.goals[index].status(past[index]));
            // Another reason why it is unknown is no change.
            (discriminant(&before) != discriminant(&status))
                .then(|| GoalChange { goal: goal.name.clone(), status })
        };
        goals.filter_map(change).collect()
    }

    fn fact_changes(&self, before: &Summary, after: &Summary) -> Vec<FactChange> {
        let facts = self.engine.spec.facts.iter().zip(before.facts.iter().zip(&after.facts));
        facts
            .filter(|(_, (before, after))| discriminant(*before) != discriminant(*after))
            .map(|((name, _), (_, truth))| FactChange { property: name.clone(), truth: truth.clone() })
            .collect()
    }

    fn instance_changes(
        &self,
        before: &Summary,
        after: &Summary,
        ended: &[(Instance, Ended)],
    ) -> Vec<InstanceChange> {
        let was = |instance: Instance| {
            let index = before.owed.binary_search_by_key(&instance, |(other, _)| *other).ok()?;
            Some(before.owed[index].1)
        };
        let changed = after.owed.iter().filter(|(instance, is_sure)| was(*instance) != Some(*is_sure));
        let mut changes: Vec<(Instance, InstanceStatus)> =
            changed.map(|(instance, is_sure)| (*instance, owed_status(*is_sure))).collect();
        changes.extend(ended.iter().map(|(instance, ended)| {
            let status = match ended {
                Ended::Met => InstanceStatus::Met,
                Ended::Discharged => InstanceStatus::Discharged,
                Ended::NeverDue => InstanceStatus::NeverDue,
            };
            (*instance, status)
        }));
        self.written(changes)
    }

    /// Writes instances, in the order of the obligations and of their values.
    fn written(&self, instances: Vec<(Instance, InstanceStatus)>) -> Vec<InstanceChange> {
        let system = self.engine.space.system();
        let write = |((index, binding), status): (Instance, InstanceStatus)| {
            let obligation = &self.engine.spec.obligations[index as usize];
            let [subject, object, action] = obligation.owed(system, binding);
            let towards = if object == "_" { String::new() } else { format!(" to {object}") };
            let instance = ObligationInstance {
                obligation: obligation.name.clone(),
                owes: format!("{subject} owes {action}{towards}"),
                bindings: obligation.bindings(system, binding),
            };
            (index, InstanceChange { instance, status })
        };
        let mut written: Vec<(u32, InstanceChange)> = instances.into_iter().map(write).collect();
        written.sort_by(|left, right| (left.0, &left.1.instance).cmp(&(right.0, &right.1.instance)));
        written.into_iter().map(|(_, change)| change).collect()
    }

    fn goals(&self, slot: u32, summary: &Summary) -> Vec<GoalChange> {
        let past = &self.sessions[slot as usize].past;
        let goals = self.engine.spec.goals.iter().enumerate();
        let goal = |(index, goal): (usize, &super::spec::Goal)| GoalChange {
            goal: goal.name.clone(),
            status: summary.goals[index].status(past[index]),
        };
        goals.map(goal).collect()
    }

    fn status(&mut self, slot: u32, budget: &Budget) -> Result<Status, Stop> {
        let belief = self.belief(slot, budget)?;
        let summary = self.engine.summary(belief, budget)?;
        let facts = self.engine.spec.facts.iter().zip(&summary.facts);
        let owed =
            summary.owed.iter().map(|(instance, is_sure)| (*instance, owed_status(*is_sure))).collect();
        Ok(Status {
            n_states: summary.n_states,
            goals: self.goals(slot, &summary),
            facts: facts
                .map(|((name, _), truth)| FactChange { property: name.clone(), truth: truth.clone() })
                .collect(),
            obligations: self.written(owed),
            unknown: summary.cut.map(beyond),
        })
    }
}

fn owed_status(is_sure: bool) -> InstanceStatus {
    if is_sure { InstanceStatus::Owed } else { InstanceStatus::PerhapsOwed }
}

/// The monitor of one session. It takes a few bytes; the rest belongs to the model.
#[derive(Debug)]
pub struct LccMonitor {
    shared: Arc<Mutex<Shared>>,
    slot: u32,
}

impl Drop for LccMonitor {
    fn drop(&mut self) {
        let mut shared = lock(&self.shared);
        shared.sessions[self.slot as usize] = Session::default();
        shared.free.push(self.slot);
    }
}

impl LccMonitor {
    /// Returns the possible states as texts, sorted.
    pub fn states(&mut self, budget: &Budget) -> Result<Vec<String>, Stop> {
        self.within(budget, |shared, slot| {
            let belief = shared.belief(slot, budget)?;
            let system = shared.engine.space.system();
            let mut texts: Vec<String> =
                shared.engine.belief(belief).states().map(|state| system.state_text(state)).collect();
            texts.sort();
            Ok(texts)
        })
    }

    /// Calls `work` within a budget. If the memory does not suffice, discards what no session needs, and tries again.
    fn within<R>(
        &mut self,
        budget: &Budget,
        mut work: impl FnMut(&mut Shared, u32) -> Result<R, Stop>,
    ) -> Result<R, Stop> {
        let mut shared = lock(&self.shared);
        if shared.engine.bytes() > shared.max_bytes {
            shared.rebuild();
        }
        let mut attempt = |shared: &mut Shared| {
            budget.check()?;
            budget.check_memory(shared.bytes())?;
            work(shared, self.slot)
        };
        match attempt(&mut shared) {
            Err(stop) if stop.why == Why::Memory => {
                shared.rebuild();
                attempt(&mut shared)
            }
            done => done,
        }
    }
}

impl Monitor for LccMonitor {
    type Observation = Observation;

    fn observe(&mut self, observation: &Observation, budget: &Budget) -> Result<Judgement, Stop> {
        self.within(budget, |shared, slot| {
            let (judgement, next) = shared.judge(slot, observation, budget)?;
            if let Some((belief, summary)) = next {
                let session = &mut shared.sessions[slot as usize];
                session.belief = Some(belief);
                for (past, goal) in session.past.iter_mut().zip(&summary.goals) {
                    *past = goal.past(*past);
                }
            }
            Ok(judgement)
        })
    }

    fn preview(&mut self, observation: &Observation, budget: &Budget) -> Result<Preview, Stop> {
        self.within(budget, |shared, slot| {
            let (judgement, next) = shared.judge(slot, observation, budget)?;
            let goals = next.map_or(Vec::new(), |(_, summary)| shared.goals(slot, &summary));
            Ok(Preview { judgement, goals })
        })
    }

    fn status(&mut self, budget: &Budget) -> Result<Status, Stop> {
        self.within(budget, |shared, slot| shared.status(slot, budget))
    }

    fn is_over(&mut self, budget: &Budget) -> Result<bool, Stop> {
        self.within(budget, |shared, slot| {
            let belief = shared.belief(slot, budget)?;
            shared.engine.is_over(belief, budget)
        })
    }

    fn close(&mut self, budget: &Budget) -> Result<Closing, Stop> {
        let status = self.status(budget)?;
        let (open, perhaps_open): (Vec<_>, Vec<_>) =
            status.obligations.into_iter().partition(|change| change.status == InstanceStatus::Owed);
        let instances = |changes: Vec<InstanceChange>| {
            changes.into_iter().map(|change| change.instance).collect::<Vec<_>>()
        };
        let is_left = |goal: &GoalChange| goal.status != GoalStatus::Reached;
        Ok(Closing {
            open: instances(open),
            perhaps_open: instances(perhaps_open),
            goals: status.goals.into_iter().filter(is_left).collect(),
            unknown: status.unknown,
        })
    }
}
