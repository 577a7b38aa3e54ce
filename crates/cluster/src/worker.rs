//! The main loop of a worker: it receives commands, carries them out together with the other workers, and
//! replies.

use masque_explicit::parts::{Bitset, Labelling, Machine, StoredStates};
use masque_model::System;
use masque_verdict::{DecidingState, State, Stop, Verdict, Why, outside_logic};

use crate::checkpoint::CheckpointStore;
use crate::command::{Answer, Command, Costs, Reply};
use crate::explore::{Progress, Space, explore};
use crate::hunt::Hunters;
use crate::net::Net;
use crate::shard::Shard;

/// Stack size of the thread that compiles the system, in bytes.
const COMPILER_STACK_BYTES: usize = 256 << 20;

/// The source of a worker's commands.
pub(crate) trait Orders {
    /// Waits for the next command; returns `None` if there will be no more.
    fn next(&mut self) -> Option<Command>;

    /// Sends the reply to the last command. Returns false if the supervisor is gone.
    fn reply(&mut self, reply: Reply) -> bool;
}

/// Carries out commands until there are no more.
pub(crate) fn serve(
    system: &System,
    net: Net,
    mut checkpoints: Option<CheckpointStore>,
    orders: &mut dyn Orders,
) {
    let machine = compile(system);
    let space = Space::empty(machine.width());
    let mut shard = Shard::new(system, &machine, net, space);
    while let Some(command) = orders.next() {
        let result =
            shard.make_consistent().and_then(|()| execute(&mut shard, checkpoints.as_mut(), &command));
        let result = shard.net.agree(result);
        if result.is_err() {
            shard.mark_inconsistent();
        }
        let failure = checkpoints.as_mut().and_then(CheckpointStore::take_failure);
        let reply = match (result, failure) {
            (_, Some(message)) => Reply::Failed(message),
            (Ok(answer), None) => Reply::Answer(answer, costs(&shard)),
            (Err(stop), None) => Reply::stopped(stop),
        };
        if !orders.reply(reply) {
            return;
        }
    }
}

/// Compiles a system on a thread of its own, because compilation is recursive over conditions, and the
/// stacks of timely's threads are too short for deep ones.
fn compile(system: &System) -> Machine<'_> {
    let compiled = std::thread::scope(|scope| {
        let builder =
            std::thread::Builder::new().name("compile".to_string()).stack_size(COMPILER_STACK_BYTES);
        builder.spawn_scoped(scope, || Machine::new(system)).ok()?.join().ok()
    });
    compiled.unwrap_or_else(|| Machine::new(system))
}

fn execute(
    shard: &mut Shard<'_>,
    checkpoints: Option<&mut CheckpointStore>,
    command: &Command,
) -> Result<Answer, Stop> {
    if !command.is_about(shard.system) {
        return Err(Why::Unsupported.into());
    }
    let budget = &shard.net.budget.clone();
    Ok(match command {
        Command::Explore { transitions, max_states, hunted } => {
            let exploration = Exploration { transitions: *transitions, max_states: *max_states, hunted };
            match explore_or_resume(shard, checkpoints, exploration)? {
                None => Answer::Explored { states: shard.space.n_everywhere },
                Some(hunt) => Answer::Found { hunt, path: path_to(shard, hunted[hunt])? },
            }
        }
        Command::Facts => Answer::Facts {
            deadlock: nearest(shard, |space| &space.nearest_deadlocks)?,
            overflow: nearest(shard, |space| &space.nearest_overflows)?,
        },
        Command::Initial => {
            let here = shard.space.n_initial() as u64;
            let all = shard.net.sum(here)?;
            let fair = shard.initial(budget)?;
            Answer::Initial { all, fair: shard.count(&fair)? }
        }
        Command::Verdict { formula, at } => match shard.verdict(*formula, *at, budget)? {
            Verdict::Holds => Answer::Truth(true),
            Verdict::Fails => Answer::Truth(false),
            Verdict::Unknown(_) => Answer::NoFairPath,
        },
        Command::Somewhere(formula) => Answer::Truth(shard.is_true_somewhere(*formula, budget)?),
        Command::Extent(formula) => {
            let formula = *formula;
            if outside_logic(&shard.system.formulas, formula).is_some() {
                return Err(Why::Unsupported.into());
            }
            let phi = shard.truth(formula, budget)?;
            let (domain, initial) = (shard.domain(budget)?, shard.initial(budget)?);
            let both = initial.clone().and(&phi);
            Answer::Extent {
                states: shard.count(&phi)?,
                of_states: shard.count(&domain)?,
                of_initial: shard.count(&initial)?,
                initial: shard.count(&both)?,
            }
        }
        Command::IsTrue(formula, state) => {
            let index = shard.state_index(&shard.pack(state)?);
            let mut one = Bitset::empty(shard.n_states());
            index.into_iter().for_each(|index| _ = one.insert(index));
            let phi = shard.truth_among(*formula, &one, budget)?;
            // At most one worker keeps the state.
            let here = index.map(|index| u64::from(phi.contains(index)));
            let truth = shard.net.gather(here.into_iter().collect())?.into_iter().flatten().next();
            Answer::Truth(truth.ok_or(Stop::from(Why::Unsupported))? == 1)
        }
        Command::IsDeadEnd(state) => {
            let row = shard.pack(state)?;
            let mut successors = shard.machine.successors(budget);
            Answer::Truth(successors.expand(&row, |_| Ok(()))?.is_dead)
        }
        Command::Least(parts) => {
            let states = shard.region(parts, budget)?;
            let least = shard.least(&states)?;
            Answer::State(least.map(|row| shard.machine.unpack(&row)))
        }
        Command::First(parts, most) => {
            let states = shard.region(parts, budget)?;
            let (rows, n_states) = shard.first(&states, *most)?;
            Answer::States(unpack(shard, rows), n_states)
        }
        Command::Path(route) => {
            let rows = shard.path(route, budget)?;
            Answer::Path(rows.map(|rows| unpack(shard, rows)))
        }
        Command::Store => {
            if let Some(checkpoints) = checkpoints {
                checkpoints.store_labels(shard)?;
            }
            Answer::Done
        }
    })
}

/// Returns the costs of this worker so far.
fn costs(shard: &Shard<'_>) -> Costs {
    Costs {
        states: shard.n_states() as u64,
        transitions: shard.space.graph.as_ref().map(|graph| graph.n_edges() as u64),
        bytes: shard.peak_bytes.max(shard.bytes()),
        words: shard.net.n_sent,
        ..Costs::default()
    }
}

/// The parameters of an exploration.
struct Exploration<'a> {
    /// Whether transitions are stored.
    transitions: bool,
    /// Maximum number of states.
    max_states: Option<u64>,
    /// States that decide a property. Exploration pauses when one is found.
    hunted: &'a [DecidingState],
}

/// Finds all reachable states, starting from those of a paused exploration or a checkpoint. Pauses at the
/// end of a layer with a state that matches a hunt, and returns the index of the hunt.
fn explore_or_resume(
    shard: &mut Shard<'_>,
    mut checkpoints: Option<&mut CheckpointStore>,
    exploration: Exploration<'_>,
) -> Result<Option<usize>, Stop> {
    let Exploration { transitions, max_states, hunted } = exploration;
    let (system, machine) = (shard.system, shard.machine);
    let mut space = match shard.space.frontier {
        Some(_) => std::mem::replace(&mut shard.space, Space::empty(machine.width())),
        None => {
            let stored = match &mut checkpoints {
                Some(checkpoints) => checkpoints.resume_space(&mut shard.net, machine.width())?,
                None => None,
            };
            match stored {
                Some(space) => space,
                None => Space::initial(&shard.net, machine, transitions)?,
            }
        }
    };
    let mut found = None;
    let mut hunters = Hunters::new(shard, &space, hunted)?;
    if space.frontier.is_some() {
        found = hunters.look(&mut shard.net, &space)?;
    }
    if space.frontier.is_some() && found.is_none() {
        let mut between = |net: &mut Net, space: &Space, progress: Progress| {
            match &mut checkpoints {
                Some(checkpoints) if progress == Progress::Complete => checkpoints.store_whole(net, space)?,
                Some(checkpoints) => checkpoints.store_if_due(net, space)?,
                None => {}
            }
            if progress == Progress::EndOfLayer {
                found = hunters.look(net, space)?;
            }
            Ok(found.is_none())
        };
        let result = explore(&mut shard.net, system, machine, &mut space, max_states, &mut between);
        result.map_err(|stop| stop.after_states(space.n_everywhere))?;
    }
    let is_paused = space.frontier.is_some();
    shard.set_space(space);
    if let Some(checkpoints) = checkpoints
        && !is_paused
    {
        checkpoints.resume_labels(shard)?;
    }
    Ok(found)
}

/// Returns the path to the nearest state that matches a hunt.
fn path_to(shard: &mut Shard<'_>, hunt: DecidingState) -> Result<Vec<State>, Stop> {
    let mut reader = shard.machine.reader();
    let (system, store) = (shard.system, &shard.space.store);
    let targets = Bitset::full(shard.n_states()).filter(|state| {
        reader.turn_to(store.row(state));
        reader.is_true(system, hunt.formula) == hunt.holds
    });
    let rows = shard.path_from_initial(&targets)?.ok_or(Stop::from(Why::Workers))?;
    Ok(unpack(shard, rows))
}

/// Returns the path to the nearest of the states that `found` selects at all workers.
fn nearest(shard: &mut Shard<'_>, found: impl Fn(&Space) -> &Vec<u32>) -> Result<Option<Vec<State>>, Stop> {
    let mut targets = Bitset::empty(shard.n_states());
    found(&shard.space).iter().for_each(|&state| _ = targets.insert(state as usize));
    let rows = shard.path_from_initial(&targets)?;
    Ok(rows.map(|rows| unpack(shard, rows)))
}

fn unpack(shard: &Shard<'_>, rows: Vec<Vec<u64>>) -> Vec<State> {
    rows.iter().map(|row| shard.machine.unpack(row)).collect()
}
