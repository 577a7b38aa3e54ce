//! Checks of loaded models in any language: verdicts, their evidence, and other findings.
//!
//! The work runs on a helper thread. If it does not end in time, the properties that are not yet decided are
//! unknown.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use masque_bdi::explanation::Explanation;
use masque_bdi::outcome::WorldResult;
use masque_lcc::Trace;
use masque_model::{Count, FormulaId};
use masque_verdict::{Budget, Evidence, Extent, NotCertified, Reached, Show, Verdict, Why};

use crate::compare::CrossCheck;
use crate::decide::Cost;
use crate::engines::{EngineChoice, EngineOptions};
use crate::findings::Finding;
use crate::helper_thread;
use crate::languages::aut::LabelledPath;
use crate::languages::lcc::ProtocolDetails;
use crate::languages::{aut, bdi, lcc};
use crate::load::{Loaded, Model};
use crate::{cluster, race, stopped, supervise};

/// Limits of a check. The default is unlimited.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Time at which the check stops.
    pub deadline: Option<Instant>,
    /// Maximum bytes of the model and of the engine's data.
    pub memory: Option<u64>,
    /// Bytes of this memory that the model holds already.
    pub model_bytes: u64,
    /// Flag that becomes true when the user wants to stop.
    pub interrupt: Arc<AtomicBool>,
    /// Number of checks that this process runs at the same time, each with these limits. 0 means 1.
    pub n_checks: u64,
}

impl Limits {
    /// Limits on the time from now and on the memory, and a flag by which the user stops the work.
    pub fn new(timeout: Option<Duration>, memory: Option<u64>, interrupt: &Arc<AtomicBool>) -> Limits {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Limits { deadline, memory, interrupt: Arc::clone(interrupt), ..Limits::default() }
    }

    /// The limits as a budget for engines. The interrupt flag is not part of it: the supervising thread checks
    /// the flag and cancels the budget.
    pub(crate) fn budget(&self) -> Budget {
        let mut budget = Budget::default();
        if let Some(deadline) = self.deadline {
            budget = budget.with_deadline(deadline);
        }
        match self.allowed_memory() {
            Some(memory) => budget.with_memory(memory),
            None => budget,
        }
    }

    /// The limits as a budget that also ends when the user interrupts, for work without a supervising thread.
    pub(crate) fn cancellable_budget(&self) -> Budget {
        self.budget().with_cancel(Arc::clone(&self.interrupt))
    }

    /// The memory that the model leaves, or what the system allows this process if that is less.
    pub(crate) fn allowed_memory(&self) -> Option<u64> {
        // The rest is for stacks, for fragments, and for what is not counted.
        let usable = masque_memory::room().map(|bytes| bytes / 16 * 9 / self.n_checks.max(1));
        let left = self.memory.map(|memory| memory.saturating_sub(self.model_bytes));
        left.into_iter().chain(usable).min()
    }

    /// Whether the process, if it belongs to Masque, uses more memory than the limit and what its counts may miss.
    pub(crate) fn is_memory_exceeded(&self) -> bool {
        let most = self.memory.map(masque_memory::watched_limit);
        let most = most.map(|most| most.saturating_mul(self.n_checks.max(1)));
        masque_memory::is_process_too_large(most)
    }
}

/// The progress of a check.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of properties decided so far.
    pub decided: usize,
    /// Number of all properties.
    pub total: usize,
    /// Whether all reachable states are known.
    pub is_explored: bool,
    /// How far the engine has come, if it says so.
    pub reached: Option<Reached>,
}

/// The results of one check of one model.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// One decision per property of the model; none if the findings include an error.
    pub decisions: Vec<Decision>,
    /// Deadlocks, overflows, vacuous properties and other findings.
    pub findings: Vec<Finding>,
    /// The number of reachable states, if they were counted.
    pub states: Option<Count>,
    /// The number of transitions, if they were counted.
    pub transitions: Option<Count>,
    /// Findings that only models of one language have.
    pub details: Details,
    /// The cost of each engine; nothing for an engine that was abandoned.
    pub costs: Vec<Cost>,
    /// Number of states found before a limit was hit, if the engine counts them.
    pub explored: Option<u64>,
    /// How far the engine came, if it says so.
    pub reached: Option<Reached>,
    /// Bugs in Masque besides withheld evidence: paths that do not replay and are not shown.
    pub bugs: Vec<String>,
    /// What went wrong with the workers of the distributed engine, if anything did.
    pub cluster_error: Option<String>,
    /// Duration of the check.
    pub time: Duration,
}

/// The result of one property.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Whether the property holds.
    pub verdict: Verdict,
    /// Counterexample or witness, if it was requested and exists.
    pub evidence: Option<Shown>,
    /// Why evidence is withheld: the replay error. This is a bug in Masque.
    pub withheld: Option<String>,
    /// The certificate of the verdict, if certificates were wanted and the verdict is known.
    pub certified: Certified,
    /// Remarks on the verdict, for example that the property holds for a trivial reason.
    pub remarks: Vec<String>,
    /// Name of the engine that decided the property, if one did.
    pub engine: Option<Cow<'static, str>>,
    /// Time spent on this property, without the work that serves all properties.
    pub time: Duration,
    /// For BDI: the number of the world's states in which the property is true, and the number of all.
    pub satisfied: Option<(Count, Count)>,
}

impl Default for Decision {
    fn default() -> Decision {
        Decision {
            verdict: Verdict::Unknown(Why::Timeout),
            evidence: None,
            withheld: None,
            certified: Certified::default(),
            remarks: Vec::new(),
            engine: None,
            time: Duration::ZERO,
            satisfied: None,
        }
    }
}

/// What became of the certificate of a verdict. Everything is empty if none was wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Certified {
    /// The text of the certificate, until it is written to a file.
    pub text: Option<String>,
    /// File with the certificate.
    pub file: Option<PathBuf>,
    /// Whether another process has confirmed it.
    pub confirmed: bool,
    /// Why the verdict has no certificate, or none that was confirmed.
    pub why_not: Option<String>,
}

/// Evidence for a verdict, in the form of the model's language.
#[derive(Clone, Debug)]
pub enum Shown {
    /// Reasons for claims about an interpreted system.
    Reasons(Box<Evidence>),
    /// A path through the worlds of a BDI file.
    Worlds(Box<Explanation>),
    /// A trace of a protocol.
    Trace(Box<Trace>),
    /// A path of a transition system.
    Run(Box<LabelledPath>),
}

/// Findings that only models of one language have.
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

/// Findings about an interpreted system besides verdicts.
#[derive(Clone, Debug, Default)]
pub struct SystemDetails {
    /// Which engine was used and why, if the user did not choose one.
    pub reason: Option<String>,
    /// The number of states in which the properties and their subformulas are true, as far as this was
    /// requested and found.
    pub extents: BTreeMap<FormulaId, Extent>,
    /// Whether the engines agree, if a cross-check was requested.
    pub cross_check: Option<CrossCheck>,
}

impl Run {
    /// The findings about an interpreted system, if the model is one.
    pub fn system_details(&self) -> Option<&SystemDetails> {
        match &self.details {
            Details::Ispl(details) => Some(details),
            _ => None,
        }
    }
}

/// Decides all properties of a model. Returns `None` if there is no model. `observe` is called after each
/// verdict, and many times a second in between.
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
/// If an engine panics.
pub fn check(loaded: &Loaded, limits: &Limits, observe: &mut dyn FnMut(Progress)) -> io::Result<Option<Run>> {
    check_showing(loaded, loaded.request.work.evidence, limits, observe)
}

/// Does what [`check()`] does, but collects evidence for the verdicts that `show` selects. A race and the
/// distributed engine ignore `show` and follow the request.
///
/// # Errors
///
/// If a process cannot be started.
///
/// # Panics
///
/// If an engine panics.
pub fn check_showing(
    loaded: &Loaded,
    show: Show,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
) -> io::Result<Option<Run>> {
    let Some(model) = &loaded.model else { return Ok(None) };
    let limits = &limits.after_loading(loaded);
    let work = &loaded.request.work;
    let total = model.n_properties();
    let mut run = match model {
        Model::Ispl(_) if work.engine == EngineChoice::Race => race::race(loaded, limits, observe)?,
        Model::Ispl(_) if work.cluster.is_some() => cluster::check(loaded, limits, observe),
        Model::Ispl(system) => {
            let options = EngineOptions { evidence: show, ..loaded.engine_options.clone() };
            supervise::check(system, &options, limits, observe)
        }
        Model::Bdi(worlds) => {
            let worlds = Arc::clone(worlds);
            let abandoned = |_| Run { details: Details::Bdi(None), ..Run::default() };
            let options = masque_bdi::RunOptions { show, lists_subworlds: work.lists_subworlds };
            in_time(total, abandoned, limits, observe, move |budget, report| {
                bdi::work(&worlds, options, budget, report)
            })
        }
        Model::Lcc(instance) => {
            let (instance, explore) = (lcc::Instance::clone(instance), work.explore);
            let abandoned = |why| Run {
                findings: if explore {
                    lcc::not_counted(&Err(why)).into_iter().map(Finding::from).collect()
                } else {
                    Vec::new()
                },
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
    };
    stopped::report(loaded, &mut run);
    if work.certify {
        say_what_is_not_certified(loaded, model, &mut run);
    }
    Ok(Some(run))
}

/// Adds the reason to verdicts for which nothing writes certificates.
fn say_what_is_not_certified(loaded: &Loaded, model: &Model, run: &mut Run) {
    let work = &loaded.request.work;
    let reason = match (model, loaded.language) {
        (Model::Ispl(_), _) if work.engine == EngineChoice::Race || work.cluster.is_some() => {
            NotCertified::Engine.to_string()
        }
        (Model::Ispl(_), _) | (_, None) => return,
        (_, Some(language)) => format!("certificates do not cover {} files", language.title()),
    };
    for decision in &mut run.decisions {
        if matches!(decision.verdict, Verdict::Holds | Verdict::Fails) {
            decision.certified.why_not = Some(reason.clone());
        }
    }
}

/// Runs work that decides properties one by one. If it does not end in time, the decisions so far are put into
/// the run that `abandoned` returns, and the other properties are unknown.
fn in_time(
    total: usize,
    abandoned: impl FnOnce(Why) -> Run,
    limits: &Limits,
    observe: &mut dyn FnMut(Progress),
    work: impl FnOnce(&Budget, &mut dyn FnMut(usize, Decision)) -> Run + Clone + Send + 'static,
) -> Run {
    enum Message {
        Decided(usize, Box<Decision>),
        Done(Box<Run>),
    }
    let start = Instant::now();
    let (mut decided, mut done): (Vec<Option<Decision>>, _) = (vec![None; total], None);
    let work = move |budget: &Budget, sender: &Sender<Message>| {
        let mut report = |index: usize, decision: Decision| {
            _ = sender.send(Message::Decided(index, Box::new(decision)));
        };
        let run = work(budget, &mut report);
        _ = sender.send(Message::Done(Box::new(run)));
    };
    let budget = limits.budget();
    let why = helper_thread::supervise(limits, &budget, work, &mut |message| {
        match message {
            Some(Message::Decided(index, decision)) => decided[index] = Some(*decision),
            Some(Message::Done(run)) => done = Some(*run),
            None => {}
        }
        let n_decided = decided.iter().flatten().count();
        observe(Progress {
            decided: n_decided,
            total,
            is_explored: n_decided > 0,
            reached: budget.meter().read(),
        });
    });
    let run = done.unwrap_or_else(|| {
        let why = why.unwrap_or(Why::Timeout);
        let verdict = Verdict::Unknown(why);
        let undecided = || Decision { verdict, ..Decision::default() };
        let decisions = decided.into_iter().map(|decision| decision.unwrap_or_else(undecided)).collect();
        Run { decisions, time: start.elapsed(), ..abandoned(why) }
    });
    Run { reached: budget.meter().read(), ..run }
}
