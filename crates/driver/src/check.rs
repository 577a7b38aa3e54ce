//! Checking a loaded model, in any language: verdicts, what shows them, and what else is found.
//!
//! The work runs on a thread of its own. If it does not end in time, what is decided by then is the
//! answer, and the rest is unknown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_bdi::explanation::Explanation;
use masque_bdi::outcome::WorldResult;
use masque_lcc::Trace;
use masque_model::{Count, FormulaId};
use masque_verdict::{Budget, Evidence, Extent, Found, Show, Verdict, Why};

use crate::compare::CrossCheck;
use crate::decide::Cost;
use crate::engines::{EngineChoice, EngineOptions};
use crate::findings::Finding;
use crate::languages::aut::LabelledRun;
use crate::languages::lcc::ProtocolDetails;
use crate::languages::{aut, bdi, lcc};
use crate::load::{Loaded, Model};
use crate::worker::listen;
use crate::{cluster, race, supervise};

/// What a check may use. The default is unlimited.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// When to stop.
    pub deadline: Option<Instant>,
    /// How many bytes the engine's data may take.
    pub memory: Option<u64>,
    /// Becomes true when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
}

impl Limits {
    /// The same limits as engines see them. Interrupts are left to the thread that watches the work.
    pub(crate) fn budget(&self) -> Budget {
        let mut budget = Budget::default();
        if let Some(deadline) = self.deadline {
            budget = budget.with_deadline(deadline);
        }
        match self.memory {
            Some(memory) => budget.with_memory(memory),
            None => budget,
        }
    }
}

/// How far a check has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Properties decided.
    pub decided: usize,
    /// Properties in all.
    pub total: usize,
    /// Whether the reachable states are known.
    pub is_explored: bool,
    /// How many of them are known, if they are found one by one.
    pub found: Option<Found>,
}

/// What became of a check.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// One per property of the model; none if the findings include an error.
    pub decisions: Vec<Decision>,
    /// Deadlocks, overflows, vacuity and whatever else is worth saying.
    pub findings: Vec<Finding>,
    /// The number of reachable states, if they were counted.
    pub states: Option<Count>,
    /// The number of transitions, if they were counted.
    pub transitions: Option<Count>,
    /// What is found in models of one language only.
    pub details: Details,
    /// What the engines have cost; nothing from an engine that was left behind.
    pub costs: Vec<Cost>,
    /// The states found before a limit was hit, if the engine counts them.
    pub explored: Option<u64>,
    /// Bugs of Masque besides evidence that is withheld: paths that do not replay, and so are not shown.
    pub bugs: Vec<String>,
    /// What went wrong with the processes of the distributed engine, if anything did.
    pub trouble: Option<String>,
    /// How long it took.
    pub time: Duration,
}

/// The answer to one property.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Whether it holds.
    pub verdict: Verdict,
    /// What shows the verdict, if it was asked for and there is something to show.
    pub evidence: Option<Shown>,
    /// Why evidence is withheld: it does not replay. That is a bug in Masque.
    pub withheld: Option<String>,
    /// Sentences beside the verdict: that the property holds for the wrong reason, for example.
    pub remarks: Vec<String>,
    /// The engine that answered, if one did.
    pub engine: Option<Cow<'static, str>>,
    /// How long it took, after what serves all properties.
    pub time: Duration,
    /// For BDI: in how many of the world's states the property is true, and how many there are.
    pub satisfied: Option<(Count, Count)>,
}

impl Default for Decision {
    fn default() -> Decision {
        Decision {
            verdict: Verdict::Unknown(Why::Timeout),
            evidence: None,
            withheld: None,
            remarks: Vec::new(),
            engine: None,
            time: Duration::ZERO,
            satisfied: None,
        }
    }
}

/// What shows a verdict, in the form of the model's language.
#[derive(Clone, Debug)]
pub enum Shown {
    /// Reasons for claims about an interpreted system.
    Reasons(Box<Evidence>),
    /// A path through worlds.
    Worlds(Box<Explanation>),
    /// A run of a protocol.
    Trace(Box<Trace>),
    /// A run of a transition system.
    Run(Box<LabelledRun>),
}

/// What is found in models of one language only.
#[derive(Clone, Debug)]
pub enum Details {
    /// Interpreted systems.
    Ispl(SystemDetails),
    /// BDI programs: the worlds of the plan, unless a limit was hit before all were built.
    Bdi(Option<Vec<WorldResult>>),
    /// Protocols.
    Lcc(ProtocolDetails),
    /// Transition systems.
    Aut,
}

impl Default for Details {
    fn default() -> Details {
        Details::Ispl(SystemDetails::default())
    }
}

/// What is found in an interpreted system besides verdicts.
#[derive(Clone, Debug, Default)]
pub struct SystemDetails {
    /// Which engine was asked first and why, if that was left to us.
    pub reason: Option<String>,
    /// In how many states the properties and their subformulas are true, as far as that was asked for
    /// and found.
    pub extents: BTreeMap<FormulaId, Extent>,
    /// Whether the engines agree, if that was asked for.
    pub cross_check: Option<CrossCheck>,
}

impl Run {
    /// What was found in an interpreted system, if that is what was checked.
    pub fn system_details(&self) -> Option<&SystemDetails> {
        match &self.details {
            Details::Ispl(details) => Some(details),
            _ => None,
        }
    }
}

/// Decides all properties of a model; none if there is no model. `observe` is called whenever something
/// is decided, and many times a second in between.
///
/// ```
/// use masque_driver::{Limits, check, load_text};
/// let text = "a(hen, H) :: null. agent a(hen, h). property ends : AF final ;";
/// let loaded = load_text("farm.lcc", text, &Default::default());
/// let run = check(&loaded, &Limits::default(), &mut |_| {}).unwrap().unwrap();
/// assert_eq!(run.decisions[0].verdict.word(), "holds");
/// ```
///
/// # Errors
///
/// If a process cannot be started.
///
/// # Panics
///
/// If an engine does: its bug is handed on.
pub fn check(loaded: &Loaded, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> io::Result<Option<Run>> {
    check_showing(loaded, loaded.request.work.evidence, limits, observe)
}

/// Does what [`check()`] does, and shows other verdicts than the request says. A race and the distributed
/// engine show what the request says.
///
/// # Errors
///
/// If a process cannot be started.
///
/// # Panics
///
/// If an engine does: its bug is handed on.
pub fn check_showing(
    loaded: &Loaded,
    show: Show,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
) -> io::Result<Option<Run>> {
    let Some(model) = &loaded.model else { return Ok(None) };
    let work = &loaded.request.work;
    let total = model.n_properties();
    Ok(Some(match model {
        Model::Ispl(_) if work.engine == EngineChoice::Race => race::race(loaded, limits, observe)?,
        Model::Ispl(_) if work.cluster.is_some() => cluster::check(loaded, limits, observe),
        Model::Ispl(system) => {
            let options = EngineOptions { evidence: show, ..loaded.engine_options.clone() };
            supervise::check(system, &options, limits, observe)
        }
        Model::Bdi(worlds) => {
            let worlds = Arc::clone(worlds);
            let abandoned = |_| Run { details: Details::Bdi(None), ..Run::default() };
            in_time(total, abandoned, limits, observe, move |budget, report| {
                bdi::work(&worlds, show, budget, report)
            })
        }
        Model::Lcc(instance) => {
            let (instance, explore) = (lcc::Instance::clone(instance), work.explore);
            let abandoned = |why| Run {
                findings: lcc::not_counted(&Err(why))
                    .filter(|_| explore)
                    .map(Finding::from)
                    .into_iter()
                    .collect(),
                details: Details::Lcc(ProtocolDetails::default()),
                ..Run::default()
            };
            in_time(total, abandoned, limits, observe, move |budget, report| {
                lcc::work(instance, explore, show, budget, report)
            })
        }
        Model::Aut(instance) => {
            let instance = aut::Instance::clone(instance);
            let abandoned = |_| Run { details: Details::Aut, ..Run::default() };
            in_time(total, abandoned, limits, observe, move |budget, report| {
                aut::work(instance, show, budget, report)
            })
        }
    }))
}

/// Runs work that answers properties one by one. If it has to be left behind, the answers given so far
/// are put into the run that `abandoned` makes, and the rest is unknown.
fn in_time(
    total: usize,
    abandoned: impl FnOnce(Why) -> Run,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
    work: impl FnOnce(&Budget, &mut dyn FnMut(usize, Decision)) -> Run + Clone + Send + 'static,
) -> Run {
    enum Event {
        Decided(usize, Box<Decision>),
        Done(Box<Run>),
    }
    let start = Instant::now();
    let (mut decided, mut done): (Vec<Option<Decision>>, _) = (vec![None; total], None);
    let work = move |budget: &Budget, sender: &Sender<Event>| {
        let mut report = |index: usize, decision: Decision| {
            _ = sender.send(Event::Decided(index, Box::new(decision)));
        };
        let run = work(budget, &mut report);
        _ = sender.send(Event::Done(Box::new(run)));
    };
    let why = listen(limits, &limits.budget(), work, &mut |event| {
        match event {
            Some(Event::Decided(index, decision)) => decided[index] = Some(*decision),
            Some(Event::Done(run)) => done = Some(*run),
            None => {}
        }
        let n_decided = decided.iter().flatten().count();
        observe(Progress { decided: n_decided, total, is_explored: n_decided > 0, found: None });
    });
    done.unwrap_or_else(|| {
        let why = why.unwrap_or(Why::Timeout);
        let verdict = Verdict::Unknown(why);
        let undecided = || Decision { verdict, ..Decision::default() };
        let decisions = decided.into_iter().map(|decision| decision.unwrap_or_else(undecided)).collect();
        Run { decisions, time: start.elapsed(), ..abandoned(why) }
    })
}
