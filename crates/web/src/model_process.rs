//! The process that holds a model: it loads it once, checks it, and answers questions about it.
//!
//! Requests come as lines of JSON on standard input, one at a time, and each is answered by lines on standard output.
//! The line `cancel` stops the current request within its budget. When the input ends, the process ends: so it never
//! outlives the server, even if that is killed.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use masque_driver::trace::{TraceRun, TraceState, TraceStep, TraceValue};
use masque_driver::warm::{
    Answer, Asked, Listed, PageRange, PartTruth, ProtocolSwitches, Unanswered, WarmModel, WarmWalk,
};
use masque_driver::{self as driver, Limits, Loaded, Progress, RandomChoices, Refused, Request, Run, Show};
use masque_report::{Subject, Text, event_text, evidence_view, message_chart, progress_text, write_walk};

use crate::model_info::{check_info, model_info, request_limits};
use crate::protocol::{
    Ask, EvidenceInfo, FormulaTruth, GraphInfo, Line, NamedRun, ProgressInfo, Reply, RunInfo, StandingInfo,
    StateInfo, StateSteps, SwitchInfo, Values, WalkInfo, WorldState, WorldsInfo,
};

/// Time limit of a question if the command line gives none.
const DEFAULT_QUESTION_TIME: Duration = Duration::from_secs(60);
/// Maximum number of states of BDI worlds that are listed.
const MAX_WORLD_STATES: usize = 20_000;
/// Time between two messages about progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);
/// The line that stops the current request.
pub(crate) const CANCEL: &str = "cancel";

/// What the process does: the files of the model, and what the command line asks of it.
#[derive(Clone, Debug, Default)]
pub struct ModelSetup {
    /// Files that form the model.
    pub files: Vec<PathBuf>,
    /// Parameters, properties and engine options.
    pub request: Request,
    /// Time limit of a check, and of a question.
    pub timeout: Option<Duration>,
    /// Memory limit of the data of engines, in bytes.
    pub memory: Option<u64>,
}

/// Answers the requests on standard input until it ends, then ends the process.
///
/// # Errors
///
/// If an answer cannot be written.
pub fn serve_model(setup: ModelSetup, out: &mut dyn Write) -> io::Result<()> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let requests = read_requests(&interrupt)?;
    let limits = Limits { memory: setup.memory, interrupt, ..Limits::default() };
    let mut process = ModelProcess { setup, limits, loaded: None, run: None, warm: None, switches: None };
    for request in requests {
        let reply = process.answer(request, out)?;
        write_line(out, &Line::Reply(Box::new(reply)))?;
    }
    Ok(())
}

/// Reads requests on a thread of its own, so that a running one can be cancelled.
fn read_requests(interrupt: &Arc<AtomicBool>) -> io::Result<Receiver<Ask>> {
    let (sender, requests) = sync_channel(1);
    let interrupt = Arc::clone(interrupt);
    let read = move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            if line == CANCEL {
                interrupt.store(true, Ordering::Relaxed);
            } else if let Ok(ask) = serde_json::from_str(&line) {
                // There is one request at a time, so nothing else runs that an interrupt was meant for.
                interrupt.store(false, Ordering::Relaxed);
                if sender.send(ask).is_err() {
                    break;
                }
            }
        }
        std::process::exit(0);
    };
    std::thread::Builder::new().name("requests".to_string()).spawn(read)?;
    Ok(requests)
}

fn write_line(out: &mut dyn Write, line: &Line) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")?;
    out.flush()
}

struct ModelProcess {
    setup: ModelSetup,
    limits: Limits,
    loaded: Option<Rc<Loaded>>,
    run: Option<Run>,
    warm: Option<WarmModel>,
    switches: Option<ProtocolSwitches>,
}

impl ModelProcess {
    fn answer(&mut self, ask: Ask, out: &mut dyn Write) -> io::Result<Reply> {
        match ask {
            Ask::Load { defines } => {
                self.load(defines);
                let info = self.loaded.as_ref().map(|loaded| model_info(loaded)).unwrap_or_default();
                Ok(Reply::Loaded(info))
            }
            Ask::Check => self.check(out),
            Ask::Evidence { property } => Ok(Reply::Evidence(self.evidence(property)?)),
            Ask::Worlds { max_states } => {
                Ok(self.worlds(max_states).map_or_else(|why| Reply::Refused(explained(why)), Reply::Worlds))
            }
            Ask::Switch { off } => {
                Ok(self.switch(&off).map_or_else(|why| Reply::Refused(explained(why)), Reply::Switched))
            }
            question => Ok(self.question(question).unwrap_or_else(|why| Reply::Refused(explained(why)))),
        }
    }

    fn load(&mut self, defines: Vec<String>) {
        let mut request = self.setup.request.clone();
        let name = |define: &str| define.split('=').next().unwrap_or_default().trim().to_string();
        let new: Vec<String> = defines.iter().map(|define| name(define)).collect();
        request.defines.retain(|define| !new.contains(&name(define)));
        request.defines.extend(defines);
        let limits = request_limits(&self.limits, self.setup.timeout);
        let loaded = match driver::runs(&self.setup.files, false, &request, &limits) {
            Err(why) => driver::not_loaded(&self.setup.files, &request, why),
            Ok(mut runs) => {
                let n_runs = runs.len();
                let first = if runs.is_empty() { Vec::new() } else { runs.swap_remove(0).files };
                let mut loaded = driver::load_within(&first, &request, &limits);
                if n_runs > 1 {
                    let message =
                        format!("these files are {n_runs} models, and one can be explored at a time");
                    let severity = driver::Severity::Error;
                    let diagnostic = driver::Diagnostic::nowhere(severity, "cli/mixed-languages", message);
                    loaded.refuse([diagnostic]);
                }
                loaded
            }
        };
        (self.loaded, self.run, self.warm) = (Some(Rc::new(loaded)), None, None);
        self.switches = None;
    }

    fn check(&mut self, out: &mut dyn Write) -> io::Result<Reply> {
        let Some(loaded) = self.loaded.clone() else { return Ok(no_model()) };
        let limits = request_limits(&self.limits, self.setup.timeout);
        let start = Instant::now();
        let mut last: Option<Instant> = None;
        let mut written = Ok(());
        let mut observe = |progress: Progress| {
            if last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) || written.is_err() {
                return;
            }
            last = Some(Instant::now());
            let info = ProgressInfo {
                decided: progress.decided,
                total: progress.total,
                is_explored: progress.is_explored,
                reached: Some(progress_text(progress, (start.elapsed(), 0))),
            };
            written = write_line(out, &Line::Progress(info));
        };
        let run = driver::check_showing(&loaded, Show::All, &limits, &mut observe)?;
        written?;
        let Some(run) = run else { return Ok(no_model()) };
        let info = check_info(&loaded, &run);
        self.run = Some(run);
        Ok(Reply::Checked(info))
    }

    fn evidence(&self, property: usize) -> io::Result<Option<EvidenceInfo>> {
        let (Some(loaded), Some(run)) = (&self.loaded, &self.run) else { return Ok(None) };
        let Some(view) = evidence_view(Subject { loaded, run: Some(run) }, property)? else {
            return Ok(None);
        };
        let runs = view.runs.into_iter().map(|run| RunInfo {
            name: run.name,
            states: run.states,
            steps: run.steps,
            back_to: run.back_to,
            run: named_run(&run.run),
        });
        let runs = runs.collect();
        Ok(Some(EvidenceInfo { html: view.html, legend: view.legend, states: view.states, runs }))
    }

    /// The rules and facts of a protocol, and the verdicts without those with these texts.
    fn switch(&mut self, off: &[String]) -> Answer<SwitchInfo> {
        let time = self.setup.timeout.unwrap_or(DEFAULT_QUESTION_TIME);
        let limits = request_limits(&self.limits, Some(time));
        if self.switches.is_none() {
            let loaded = self.loaded.as_ref().ok_or(Unanswered::Impossible("there is no model"))?;
            self.switches = Some(ProtocolSwitches::new(loaded, &limits)?);
        }
        let switches = self.switches.as_mut().ok_or(Unanswered::Impossible("there is no model"))?;
        let statements = switches.statements().to_vec();
        let numbered = statements.iter().enumerate();
        let off = numbered.filter(|(_, known)| off.contains(&known.text)).map(|(index, _)| index).collect();
        let (verdicts, error) = match switches.switch(&off, &limits) {
            Ok(verdicts) => (verdicts, None),
            Err(why) => (Vec::new(), Some(explained(why))),
        };
        Ok(SwitchInfo { statements, verdicts, error })
    }

    /// The worlds of a BDI file.
    fn worlds(&self, max_states: usize) -> Answer<WorldsInfo> {
        let loaded = self.loaded.as_ref().ok_or(Unanswered::Impossible("there is no model"))?;
        if loaded.language != Some(driver::Language::Bdi) {
            return Err(Unanswered::Impossible("only BDI files have worlds"));
        }
        let time = self.setup.timeout.unwrap_or(DEFAULT_QUESTION_TIME);
        let limits = request_limits(&self.limits, Some(time)).after_loading(loaded);
        let explorer = loaded.explorer_with_removed(max_states, Some(max_states / 4), &limits)?;
        let mut explorer = explorer.ok_or(Unanswered::Impossible("there is no model"))?;
        let (graph, removed) = driver::state_graph(&mut *explorer, max_states, &limits)?;
        Ok(worlds_info(graph, removed))
    }

    /// The model that stays warm, made for the first question.
    fn warm(&mut self) -> Answer<(&mut WarmModel, Limits)> {
        let time = self.setup.timeout.unwrap_or(DEFAULT_QUESTION_TIME);
        let limits = request_limits(&self.limits, Some(time));
        if self.warm.is_none() {
            let loaded = self.loaded.clone().ok_or(Unanswered::Impossible("there is no model"))?;
            self.warm = WarmModel::new(loaded, MAX_WORLD_STATES, &limits)?;
        }
        let warm = self.warm.as_mut().ok_or(Unanswered::Impossible("there is no model"))?;
        let limits = limits.after_loading(warm.loaded());
        Ok((warm, limits))
    }

    fn question(&mut self, ask: Ask) -> Answer<Reply> {
        let (warm, limits) = self.warm()?;
        let limits = &limits;
        Ok(match ask {
            Ask::Initial { page } => {
                let found = warm.initial(page, limits)?;
                Reply::Initial(with_values(warm, found))
            }
            Ask::State { state, fixed, page } => Reply::State(state_steps(warm, state, &fixed, page)?),
            Ask::Truths { state, formulas, max_parts } => {
                let truth = |asked: &Asked| formula_truth(warm.truth(asked, state, max_parts, limits));
                Reply::Truths(formulas.iter().map(truth).collect())
            }
            Ask::Find { values } => Reply::Found(warm.find(&values)?),
            Ask::Alike { state, agents, page } => {
                let found = warm.alike(&agents, state, page, limits)?;
                Reply::Alike(with_values(warm, found))
            }
            Ask::PathTo { formula, from } => {
                let walk = warm.path_to(&formula, from, limits)?;
                Reply::Path(walk.map(|walk| WalkInfo { walk: in_words(walk) }))
            }
            Ask::Why { formula, walk } => {
                let (system, truth) = warm.explain(&formula, &walk, limits)?;
                let mut text = Vec::new();
                // Writing to memory does not fail.
                _ = Text::default().answer(&mut text, &system, &truth);
                Reply::Why(String::from_utf8_lossy(&text).into_owned())
            }
            Ask::Random { state, n_steps, seed } => {
                let walk = random_walk(warm, state, n_steps, seed, limits)?;
                Reply::Walk(WalkInfo { walk: in_words(walk) })
            }
            Ask::Follow { run } => match warm.follow(&trace_run(run))? {
                None => {
                    let stopped = Some("its first state is not an initial state of the model".to_string());
                    Reply::Followed { walk: None, stopped }
                }
                Some((walk, stopped)) => Reply::Followed {
                    walk: Some(WalkInfo { walk: in_words(walk) }),
                    stopped: stopped.map(str::to_string),
                },
            },
            Ask::Named { walk } => Reply::Named(named_run(&warm.run(&walk))),
            Ask::Trace { walk } => {
                let mut text = Vec::new();
                let run = warm.run(&walk);
                // Writing to memory does not fail.
                _ = write_walk(&mut text, warm.loaded(), run);
                Reply::Trace(String::from_utf8_lossy(&text).into_owned())
            }
            Ask::Chart { walk } => {
                Reply::Chart(warm.trace(&walk).map(|trace| message_chart(&trace, "Messages of the walk")))
            }
            Ask::Standings { state } => {
                let standing = |found: driver::lcc::Standing| StandingInfo {
                    id: found.id,
                    process: found.process,
                    is_done: found.is_done,
                    is_idle: found.is_idle,
                    obstacles: found.obstacles,
                };
                Reply::Standings(warm.standings(state)?.into_iter().map(standing).collect())
            }
            Ask::Graph { max_states, formula, agent } => {
                Reply::Graph(graph(warm, max_states, formula.as_ref(), agent.as_deref(), limits)?)
            }
            Ask::Switch { .. }
            | Ask::Load { .. }
            | Ask::Check
            | Ask::Evidence { .. }
            | Ask::Worlds { .. } => no_model(),
        })
    }
}

fn no_model() -> Reply {
    Reply::Refused("there is no model".to_string())
}

fn with_values(warm: &WarmModel, found: Listed<usize>) -> Listed<StateInfo> {
    let state = |number: usize| StateInfo { number, values: warm.values(number) };
    Listed {
        items: found.items.into_iter().map(state).collect(),
        has_more: found.has_more,
        count: found.count,
    }
}

fn state_steps(warm: &mut WarmModel, state: usize, fixed: &Values, page: PageRange) -> Answer<StateSteps> {
    let mut steps = warm.steps(state, fixed, page)?;
    let values = warm.values(state);
    let changed = |to: usize| {
        let after = warm.values(to).into_iter();
        after.zip(&values).filter(|(new, old)| new != *old).map(|(new, _)| new).collect()
    };
    let changes = steps.steps.items.iter().map(|step| changed(step.to)).collect();
    for step in &mut steps.steps.items {
        if let Some(event) = &step.event {
            step.text = event_text(event);
        }
    }
    Ok(StateSteps { values, steps, changes })
}

/// A walk whose steps are described by the events of a protocol, where there are any.
fn in_words(mut walk: WarmWalk) -> WarmWalk {
    for step in &mut walk.steps {
        if let Some(event) = &step.event {
            step.text = event_text(event);
        }
    }
    walk
}

fn formula_truth(truth: Answer<Vec<PartTruth>>) -> FormulaTruth {
    match truth {
        Ok(parts) => FormulaTruth { parts, error: None },
        Err(unanswered) => FormulaTruth { parts: Vec::new(), error: Some(explained(unanswered)) },
    }
}

fn random_walk(
    warm: &mut WarmModel,
    start: usize,
    n_steps: usize,
    seed: u64,
    limits: &Limits,
) -> Answer<WarmWalk> {
    let mut choices = RandomChoices::new(seed);
    let mut roll = |n: usize| choices.below(n);
    let mut walk = WarmWalk { start, steps: Vec::new() };
    let is_over = || {
        limits.interrupt.load(Ordering::Relaxed)
            || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    };
    while walk.steps.len() < n_steps && !is_over() {
        match warm.random_step(walk.last(), &mut roll)? {
            Some(step) => walk.steps.push(step),
            None => break,
        }
    }
    Ok(walk)
}

fn graph(
    warm: &mut WarmModel,
    max_states: usize,
    formula: Option<&Asked>,
    agent: Option<&str>,
    limits: &Limits,
) -> Answer<GraphInfo> {
    let graph = warm.graph(max_states, limits)?;
    let values: Vec<Values> = graph.states.iter().map(|&state| warm.values(state)).collect();
    let (mut truths, mut error) = (Vec::new(), None);
    if let Some(formula) = formula {
        match warm.truth_at_each(formula, &graph.states, limits) {
            Ok(found) => truths = found,
            Err(unanswered) => error = Some(explained(unanswered)),
        }
    }
    let classes = match (agent, warm.loaded().system()) {
        (Some(agent), Some(system)) => classes(system, agent, &values),
        _ => Vec::new(),
    };
    Ok(GraphInfo { graph, values, truths, classes, error })
}

fn worlds_info(graph: driver::StateGraph, removed: driver::RemovedGraph) -> WorldsInfo {
    let state = |mut values: Values, is_initial: bool, removed: Option<Vec<String>>| {
        let world = values.iter().position(|(name, _)| name == "world");
        let world = world.map(|index| values.remove(index).1).unwrap_or_default();
        WorldState { world, values, is_initial, removed }
    };
    let n_initial = graph.n_initial;
    let kept = graph.states.into_iter().enumerate();
    let mut states: Vec<WorldState> =
        kept.map(|(index, values)| state(values, index < n_initial, None)).collect();
    states.extend(removed.states.into_iter().map(|node| state(node.values, node.is_initial, Some(node.why))));
    let mut info = WorldsInfo { summary: removed.summary, ..WorldsInfo::default() };
    for ((from, to), labels) in graph.edges.into_iter().chain(removed.edges) {
        if states[from].world == states[to].world {
            info.steps.push((from, to, labels));
        } else {
            info.access.extend(labels.into_iter().map(|label| (from, to, label)));
        }
    }
    info.states = states;
    info.cut = graph.cut.map(|_| "There are more states than are shown.".to_string());
    info
}

/// The classes of states that an agent cannot distinguish, as a number per state.
fn classes(system: &driver::System, agent: &str, values: &[Values]) -> Vec<usize> {
    let Some(id) = system.agent_ids().find(|id| system.agent(*id).name == agent) else { return Vec::new() };
    let sees: Vec<usize> = system.agent(id).sees.iter().map(|var| var.index()).collect();
    let mut known = std::collections::HashMap::new();
    let class = |values: &Values| {
        let seen: Vec<&str> = sees.iter().filter_map(|&index| Some(values.get(index)?.1.as_str())).collect();
        let next = known.len();
        *known.entry(seen.join("\u{1f}")).or_insert(next)
    };
    values.iter().map(class).collect()
}

fn named_run(run: &TraceRun) -> NamedRun {
    let named =
        |state: &TraceState| state.values.iter().map(|(name, value)| (name.clone(), value.text())).collect();
    NamedRun {
        states: run.states.iter().map(named).collect(),
        steps: run.steps.iter().map(|step| step.action.clone()).collect(),
    }
}

fn trace_run(run: NamedRun) -> TraceRun {
    let state = |values: Values| TraceState {
        values: values.into_iter().map(|(name, value)| (name, TraceValue::Written(value))).collect(),
        ..TraceState::default()
    };
    TraceRun {
        states: run.states.into_iter().map(state).collect(),
        steps: run.steps.into_iter().map(|action| TraceStep { place: Default::default(), action }).collect(),
        ..TraceRun::default()
    }
}

/// Why a question has no answer, for the user.
fn explained(unanswered: Unanswered) -> String {
    match unanswered {
        Unanswered::Impossible(message) => message.to_string(),
        Unanswered::Stopped(why) => match why {
            driver::Why::Timeout => "the time limit was reached".to_string(),
            driver::Why::Memory => "the memory limit was reached".to_string(),
            driver::Why::States => "there are too many states".to_string(),
            driver::Why::Interrupted => "it was cancelled".to_string(),
            driver::Why::Unsupported => "no engine decides this formula at single states".to_string(),
            driver::Why::NoFairPath => {
                "no fair path starts at this state, so formulas have no truth here".to_string()
            }
            other => format!("it is unknown: {}", other.word()),
        },
        Unanswered::Refused(refused) => {
            let Refused { diagnostics, .. } = &*refused;
            let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            let Some(first) = first else { return "the formula cannot be read".to_string() };
            match &first.help {
                Some(help) => format!("{} ({help})", first.message),
                None => first.message.clone(),
            }
        }
    }
}
