//! A worker's life: it gets commands, carries them out with all others, and answers.

use masque_explicit::parts::{Bitset, Labelling, Machine, StoredStates};
use masque_model::System;
use masque_verdict::{Hunt, State, Stop, Verdict, Why, outside_logic};

use crate::command::{Answer, Command, Costs, Reply};
use crate::explore::{Moment, Space, explore};
use crate::hunt::Hunters;
use crate::keep::Keeper;
use crate::net::Net;
use crate::shard::Shard;

/// The stack of the thread that compiles.
const STACK: usize = 256 << 20;

/// Where a worker's commands come from.
pub(crate) trait Orders {
    /// The next command; none if there will be no more.
    fn next(&mut self) -> Option<Command>;

    /// Answers it. False if nobody listens any more.
    fn reply(&mut self, reply: Reply) -> bool;
}

/// Carries out commands until there are no more.
pub(crate) fn serve(system: &System, net: Net, mut keeper: Option<Keeper>, orders: &mut dyn Orders) {
    let machine = compile(system);
    let space = Space::empty(machine.width());
    let mut shard = Shard::new(system, &machine, net, space);
    while let Some(command) = orders.next() {
        let result = shard.mend().and_then(|()| execute(&mut shard, keeper.as_mut(), &command));
        let result = shard.net.agree(result);
        if result.is_err() {
            shard.tear();
        }
        let trouble = keeper.as_mut().and_then(Keeper::take_trouble);
        let reply = match (result, trouble) {
            (_, Some(trouble)) => Reply::Failed(trouble),
            (Ok(answer), None) => Reply::Answer(answer, costs(&shard)),
            (Err(stop), None) => Reply::stopped(stop),
        };
        if !orders.reply(reply) {
            return;
        }
    }
}

/// Timely's threads have small stacks, and conditions may be deep.
fn compile(system: &System) -> Machine<'_> {
    let compiled = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("compile".to_string()).stack_size(STACK);
        builder.spawn_scoped(scope, || Machine::new(system)).ok()?.join().ok()
    });
    compiled.unwrap_or_else(|| Machine::new(system))
}

fn execute(shard: &mut Shard<'_>, keeper: Option<&mut Keeper>, command: &Command) -> Result<Answer, Stop> {
    if !command.is_about(shard.system) {
        return Err(Why::Unsupported.into());
    }
    let budget = &shard.net.budget.clone();
    Ok(match command {
        Command::Explore { transitions, most_states, hunted } => {
            let plan = Exploration { transitions: *transitions, most_states: *most_states, hunted };
            match explore_or_resume(shard, keeper, plan)? {
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
            let number = shard.number(&shard.pack(state)?);
            let mut one = Bitset::empty(shard.n_states());
            number.into_iter().for_each(|number| _ = one.insert(number));
            let phi = shard.truth_among(*formula, &one, budget)?;
            // At most one worker has it.
            let here = number.map(|number| u64::from(phi.contains(number)));
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
            if let Some(keeper) = keeper {
                keeper.store_labels(shard)?;
            }
            Answer::Done
        }
    })
}

/// What this worker has cost so far.
fn costs(shard: &Shard<'_>) -> Costs {
    Costs {
        states: shard.n_states() as u64,
        transitions: shard.space.graph.as_ref().map(|graph| graph.n_edges() as u64),
        bytes: shard.peak_bytes.max(shard.bytes()),
        words: shard.net.n_sent,
        ..Costs::default()
    }
}

/// What to explore.
struct Exploration<'a> {
    /// Whether transitions are stored.
    transitions: bool,
    /// Maximum number of states.
    most_states: Option<u64>,
    /// States that decide a property. Exploration pauses when one is found.
    hunted: &'a [Hunt],
}

/// Finds all reachable states; what is stored of them is not looked for again. Pauses at the end of a
/// layer in which a state was hunted down, and tells which hunt that is.
fn explore_or_resume(
    shard: &mut Shard<'_>,
    mut keeper: Option<&mut Keeper>,
    plan: Exploration<'_>,
) -> Result<Option<usize>, Stop> {
    let Exploration { transitions, most_states, hunted } = plan;
    let (system, machine) = (shard.system, shard.machine);
    let mut space = match shard.space.open {
        Some(_) => std::mem::replace(&mut shard.space, Space::empty(machine.width())),
        None => {
            let stored = match &mut keeper {
                Some(keeper) => keeper.resume_space(&mut shard.net, machine.width())?,
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
    if space.open.is_some() {
        found = hunters.look(&mut shard.net, &space)?;
    }
    if space.open.is_some() && found.is_none() {
        let mut between = |net: &mut Net, space: &Space, moment: Moment| {
            match &mut keeper {
                Some(keeper) if moment == Moment::Whole => keeper.store_whole(net, space)?,
                Some(keeper) => keeper.store_if_due(net, space)?,
                None => {}
            }
            if moment == Moment::Layer {
                found = hunters.look(net, space)?;
            }
            Ok(found.is_none())
        };
        let result = explore(&mut shard.net, system, machine, &mut space, most_states, &mut between);
        result.map_err(|stop| stop.after_states(space.n_everywhere))?;
    }
    let is_paused = space.open.is_some();
    shard.set_space(space);
    if let Some(keeper) = keeper.filter(|_| !is_paused) {
        keeper.resume_labels(shard)?;
    }
    Ok(found)
}

/// The path to the nearest state that a hunt is for.
fn path_to(shard: &mut Shard<'_>, hunt: Hunt) -> Result<Vec<State>, Stop> {
    let mut reader = shard.machine.reader();
    let (system, store) = (shard.system, &shard.space.store);
    let targets = Bitset::full(shard.n_states()).filter(|state| {
        reader.turn_to(store.row(state));
        reader.is_true(system, hunt.formula) == hunt.holds
    });
    let rows = shard.path_from_initial(&targets)?.ok_or(Stop::from(Why::Workers))?;
    Ok(unpack(shard, rows))
}

/// The path to the nearest of the states that some worker has found.
fn nearest(shard: &mut Shard<'_>, found: impl Fn(&Space) -> &Vec<u32>) -> Result<Option<Vec<State>>, Stop> {
    let mut targets = Bitset::empty(shard.n_states());
    found(&shard.space).iter().for_each(|&state| _ = targets.insert(state as usize));
    let rows = shard.path_from_initial(&targets)?;
    Ok(rows.map(|rows| unpack(shard, rows)))
}

fn unpack(shard: &Shard<'_>, rows: Vec<Vec<u64>>) -> Vec<State> {
    rows.iter().map(|row| shard.machine.unpack(row)).collect()
}
