//! The engine: sends commands to all workers and combines their answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use masque_evidence::{explain, explain_found};
use masque_explicit::parts::needs_transitions;
use masque_model::{At, Count, Formula, FormulaId, Property, System};
use masque_verdict::{
    Budget, DecidingState, Early, Encoded, Engine, Extent, Facts, FairInitial, JointAction, Moves, Oracle,
    Outcome, Path, RegionPart, Route, Show, State, Stats, Stop, Unsupported, Verdict, Why, deciding_states,
    inside_logic, least_overflow,
};

use crate::command::{Answer, Command, Costs};
use crate::launch::Launch;
use crate::threads;
use crate::worker_process::Processes;
use crate::worker_set::{CommandError, WorkerSet};

/// The engine's name.
const NAME: &str = "cluster";

/// The workers of a run.
#[derive(Clone, Debug)]
pub enum Workers {
    /// Threads of this process.
    Threads(usize),
    /// Processes, here or on other machines.
    Processes(Arc<Launch>),
}

/// The distributed engine: the reachable states are spread over workers.
///
/// It decides the same properties as the explicit engine, with the same facts and the same evidence.
///
/// ```
/// use masque_cluster::{Cluster, Workers};
/// use masque_ispl::{Options, check, parse};
/// use masque_text::Sources;
/// use masque_verdict::{Budget, Engine, Verdict};
///
/// let mut sources = Sources::default();
/// let text = "
///     Agent Light
///       Vars: on : boolean; end Vars
///       Actions = {wait, switch};
///       Protocol: Other : {wait, switch}; end Protocol
///       Evolution: on = ~on if Action = switch; end Evolution
///     end Agent
///     Evaluation lit if Light.on; end Evaluation
///     InitStates !Light.on; end InitStates
///     Formulae AG EF lit; AF lit; end Formulae";
/// let file = sources.add("light.ispl", text).unwrap();
/// let (mut tree, _) = parse(&sources, file);
/// let system = check(&sources, &mut tree, &Options::default()).system.unwrap();
///
/// let budget = Budget::unlimited();
/// let mut encoded = Cluster::new(Workers::Threads(2)).encode(&system, &budget).unwrap();
/// assert_eq!(encoded.facts(&budget).unwrap().states.to_string(), "2");
/// let verdicts: Vec<Verdict> = system.properties.iter().map(|p| encoded.decide(p, &budget).verdict).collect();
/// assert_eq!(verdicts, [Verdict::Holds, Verdict::Fails]);
/// ```
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The verdicts that get evidence.
    pub evidence: Show,
    workers: Workers,
    failure: WorkerFailure,
    processes: Processes,
}

/// The failure of a worker of a run, as a message of one line. Clones share the message.
#[derive(Clone, Debug, Default)]
pub struct WorkerFailure(Arc<Mutex<Option<String>>>);

impl WorkerFailure {
    /// Returns the message, if a worker has failed.
    pub fn message(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records the message of an error; returns the limit for the verdict.
    fn record(&self, error: CommandError) -> Stop {
        let (message, why) = match error {
            CommandError::Stop(stop) => return stop,
            CommandError::Failed(message) => (message, Why::Workers),
            CommandError::OutOfMemory(message) => (message, Why::Memory),
        };
        // The first failure is the cause of the following ones.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
        why.into()
    }
}

impl Cluster {
    /// Creates an engine with these workers, and evidence for properties that fail.
    pub fn new(workers: Workers) -> Cluster {
        Cluster {
            evidence: Show::default(),
            workers,
            failure: WorkerFailure::default(),
            processes: Processes::default(),
        }
    }

    /// Returns the holder of the message about a failed worker.
    pub fn failure(&self) -> WorkerFailure {
        self.failure.clone()
    }

    /// Ends all worker processes of this engine, including those of an abandoned check. Later commands get
    /// no answer.
    pub fn end(&self) {
        self.processes.end();
    }

    fn start(&self, system: &System, budget: &Budget) -> Result<WorkerSet, CommandError> {
        match &self.workers {
            Workers::Threads(workers) => threads::start(&Arc::new(system.clone()), *workers, budget)
                .map_err(|error| CommandError::OutOfMemory(format!("a worker cannot be started: {error}"))),
            Workers::Processes(launch) => launch.start(budget, &self.processes),
        }
    }

    fn keeps_checkpoints(&self) -> bool {
        matches!(&self.workers, Workers::Processes(launch) if launch.plan.checkpoints.is_some())
    }
}

impl Engine for Cluster {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, system: &System, property: &Property) -> Result<(), Unsupported> {
        inside_logic(system, property)
    }

    fn explore<'s>(
        &self,
        system: &'s System,
        early: &mut Early<'_>,
        budget: &Budget,
    ) -> Result<Box<dyn Encoded + 's>, Stop> {
        budget.check()?;
        let mut stats = Stats::default();
        let start = Instant::now();
        let workers = self.start(system, budget).map_err(|error| self.failure.record(error))?;
        stats.spend("start", start.elapsed());
        let mut spread =
            Distributed { engine: self.clone(), system, workers, stats, costs: Vec::new(), n_states: 0 };
        let start = Instant::now();
        spread.n_states = spread.find_states(early, budget)?;
        spread.stats.spend("explore", start.elapsed());
        Ok(Box::new(spread))
    }
}

/// A system whose states are spread over workers.
struct Distributed<'s> {
    engine: Cluster,
    system: &'s System,
    workers: WorkerSet,
    stats: Stats,
    /// Costs of each worker at its last answer.
    costs: Vec<Costs>,
    n_states: u64,
}

impl Distributed<'_> {
    /// Sends a command to all workers; returns their common answer.
    fn ask(&mut self, command: &Command, budget: &Budget) -> Result<Answer, Stop> {
        let answers = self.workers.ask(command, budget).map_err(|error| self.engine.failure.record(error))?;
        self.costs = answers.iter().map(|(_, costs)| *costs).collect();
        let mut answers = answers.into_iter().map(|(answer, _)| answer);
        let first = answers.next().ok_or(Stop::from(Why::Workers))?;
        assert!(answers.all(|answer| answer == first), "the workers disagree on {command:?}");
        Ok(first)
    }

    /// Explores all states. Reports a property's verdict as soon as a state decides it.
    fn find_states(&mut self, early: &mut Early<'_>, budget: &Budget) -> Result<u64, Stop> {
        let mut wanted = self.deciding_states(early);
        loop {
            let explore = Command::Explore {
                transitions: needs_transitions(self.system),
                max_states: budget.states(),
                hunted: wanted.iter().map(|(_, hunt)| *hunt).collect(),
            };
            match self.ask(&explore, budget)? {
                Answer::Explored { states } => return Ok(states),
                Answer::Found { hunt, path } => {
                    let Some(&(index, hunt)) = wanted.get(hunt) else { return Err(Why::Workers.into()) };
                    let property = &self.system.properties[index];
                    let verdict = Verdict::from(hunt.verdict);
                    let mut outcome = Outcome::from(verdict);
                    if self.engine.evidence.wanted(verdict).is_some() {
                        let shown = explain_found(self.system, property, hunt.verdict, path, budget);
                        outcome.evidence = shown.ok().flatten();
                    }
                    early.decided(index, NAME, outcome);
                    early.enough()?;
                    wanted.retain(|(other, _)| *other != index);
                }
                _ => return Err(Why::Workers.into()),
            }
        }
    }

    /// Returns the conditions on single states that decide an undecided property, each with the index of the
    /// property. The list is empty under fairness, where one state is not enough.
    fn deciding_states(&self, early: &Early<'_>) -> Vec<(usize, DecidingState)> {
        let System { formulas, properties, fairness, .. } = self.system;
        let of_property = |index: usize| {
            let property = &properties[index];
            let is_single = !matches!(formulas.get(property.formula), Formula::And(_));
            let decides = move |hunt: &DecidingState| {
                formulas.is_local(hunt.formula)
                    && (!hunt.verdict || (is_single && property.at == At::Initial))
            };
            let deciding_states = deciding_states(formulas, property.formula).into_iter();
            deciding_states.filter(decides).map(move |hunt| (index, hunt))
        };
        if fairness.is_empty() { early.open().flat_map(of_property).collect() } else { Vec::new() }
    }

    fn truth(&mut self, command: &Command, budget: &Budget) -> Result<bool, Stop> {
        match self.ask(command, budget)? {
            Answer::Truth(truth) => Ok(truth),
            _ => Err(Why::Workers.into()),
        }
    }

    fn try_decide(&mut self, property: &Property, budget: &Budget) -> Result<Outcome, Stop> {
        if self.engine.supports(self.system, property).is_err() {
            return Err(Why::Unsupported.into());
        }
        let start = Instant::now();
        let command = Command::Verdict { formula: property.formula, at: property.at };
        let answer = self.ask(&command, budget);
        self.stats.spend("label", start.elapsed());
        let verdict = match answer? {
            Answer::Truth(truth) => Verdict::from(truth),
            Answer::NoFairPath => Verdict::Unknown(Why::NoFairPath),
            _ => return Err(Why::Workers.into()),
        };
        let mut outcome = Outcome::from(verdict);
        if let Some(holds) = self.engine.evidence.wanted(verdict) {
            let start = Instant::now();
            let system = self.system;
            // If the budget ends here, the evidence is missing, but the verdict stands.
            outcome.evidence = explain(self, system, property, holds, budget).ok().flatten();
            self.stats.spend("evidence", start.elapsed());
        }
        if self.engine.keeps_checkpoints() {
            let start = Instant::now();
            // The verdict stands even if the labels cannot be stored.
            _ = self.ask(&Command::Store, budget);
            self.stats.spend("store", start.elapsed());
        }
        Ok(outcome)
    }

    fn fair_initial(&mut self, budget: &Budget) -> Result<(u64, FairInitial), Stop> {
        match self.ask(&Command::Initial, budget) {
            Ok(Answer::Initial { all, fair }) => Ok((
                all,
                match fair {
                    n if n == all => FairInitial::All,
                    0 => FairInitial::None,
                    _ => FairInitial::Some,
                },
            )),
            Ok(_) => Err(Why::Workers.into()),
            Err(stop) => Err(stop),
        }
    }

    /// Adds the least joint action of each step to a path.
    fn with_actions(&self, states: Vec<State>, budget: &Budget) -> Result<Path, Stop> {
        let moves = Moves::new(self.system);
        let mut actions: Vec<JointAction> = Vec::new();
        for step in states.windows(2) {
            let joint = moves.least_joint_action(&step[0], &step[1], budget)?;
            actions.push(joint.expect("a step of the engine is a step of the system"));
        }
        Ok(Path { states, actions })
    }
}

impl Encoded for Distributed<'_> {
    fn facts(&mut self, budget: &Budget) -> Result<Facts, Stop> {
        let start = Instant::now();
        let Answer::Facts { deadlock, overflow } = self.ask(&Command::Facts, budget)? else {
            return Err(Why::Workers.into());
        };
        let deadlock = deadlock.map(|states| self.with_actions(states, budget)).transpose()?;
        let overflow = match overflow {
            Some(states) => least_overflow(self.system, self.with_actions(states, budget)?, budget)?,
            None => None,
        };
        self.stats.spend("evidence", start.elapsed());
        let (no_initial_state, fair_initial) = match self.fair_initial(budget) {
            Ok((all, fair)) => (all == 0, fair),
            Err(stop) if stop.why == Why::Unsupported => (self.n_states == 0, FairInitial::Unsupported),
            Err(stop) => return Err(stop),
        };
        Ok(Facts { states: self.n_states.into(), no_initial_state, deadlock, overflow, fair_initial })
    }

    fn decide(&mut self, property: &Property, budget: &Budget) -> Outcome {
        self.try_decide(property, budget).unwrap_or_else(Outcome::from)
    }

    fn is_true_somewhere(&mut self, formula: FormulaId, budget: &Budget) -> Result<bool, Stop> {
        self.truth(&Command::Somewhere(formula), budget)
    }

    fn extent(&mut self, formula: FormulaId, budget: &Budget) -> Result<Extent, Stop> {
        match self.ask(&Command::Extent(formula), budget)? {
            Answer::Extent { states, of_states, initial, of_initial } => {
                let [states, of_states, initial, of_initial] =
                    [states, of_states, initial, of_initial].map(Count::from);
                Ok(Extent { states, of_states, initial, of_initial })
            }
            _ => Err(Why::Workers.into()),
        }
    }

    fn oracle(&mut self) -> Option<&mut dyn Oracle> {
        Some(self)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        let states = || self.costs.iter().map(|costs| costs.states);
        let bytes = || self.costs.iter().map(|costs| costs.bytes);
        stats.states = Some(self.n_states);
        stats.transitions = self.costs.iter().map(|costs| costs.transitions).sum();
        stats.bytes = bytes().sum();
        stats.figures = vec![
            ("workers".into(), self.costs.len() as u64),
            ("most states of a worker".into(), states().max().unwrap_or(0)),
            ("fewest states of a worker".into(), states().min().unwrap_or(0)),
            ("most bytes of a worker".into(), bytes().max().unwrap_or(0)),
            ("words sent".into(), self.costs.iter().map(|costs| costs.words).sum()),
        ];
        if let Some(resident) = self.costs.iter().map(|costs| costs.resident).max().filter(|&n| n > 0) {
            stats.figures.push(("most resident bytes of a worker".into(), resident));
            stats.figures.push(("busy milliseconds".into(), self.costs.iter().map(|costs| costs.busy).sum()));
        }
        stats
    }
}

impl Oracle for Distributed<'_> {
    fn is_true(&mut self, formula: FormulaId, state: &State, budget: &Budget) -> Result<bool, Stop> {
        self.truth(&Command::IsTrue(formula, state.clone()), budget)
    }

    fn is_dead_end(&mut self, state: &State, budget: &Budget) -> Result<bool, Stop> {
        self.truth(&Command::IsDeadEnd(state.clone()), budget)
    }

    fn least(&mut self, region: &[RegionPart], budget: &Budget) -> Result<Option<State>, Stop> {
        match self.ask(&Command::Least(region.to_vec()), budget)? {
            Answer::State(state) => Ok(state),
            _ => Err(Why::Workers.into()),
        }
    }

    fn first(
        &mut self,
        region: &[RegionPart],
        most: usize,
        budget: &Budget,
    ) -> Result<(Vec<State>, Count), Stop> {
        match self.ask(&Command::First(region.to_vec(), most), budget)? {
            Answer::States(states, n_states) => Ok((states, n_states.into())),
            _ => Err(Why::Workers.into()),
        }
    }

    fn path(&mut self, route: &Route, budget: &Budget) -> Result<Option<Vec<State>>, Stop> {
        match self.ask(&Command::Path(route.clone()), budget)? {
            Answer::Path(states) => Ok(states),
            _ => Err(Why::Workers.into()),
        }
    }
}
