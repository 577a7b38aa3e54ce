//! Evidence for LTL, CTL*, ATL and the mu-calculus on random systems: both engines show the same, it
//! replays, every claim is true; and what replay confirms of evidence that was changed at random is
//! true.

use std::collections::BTreeMap;
use std::ops::Range;

use masque_explicit::Explicit;
use masque_model::semantics::explore;
use masque_model::{ActionId, Deadlock, System};
use masque_replay::replay;
use masque_symbolic::Symbolic;
use masque_testkit::{
    Reference, load, random_determined_model, random_fixpoint_model, random_game_model, random_path_model,
};
use masque_verdict::{Because, Budget, Engine, Evidence, Show, StateId, Support, Verdict};

/// Systems with more states are left to others: the definition is slow.
const MAX_STATES: usize = 64;

#[test]
fn paths() {
    let tally = run(random_path_model, 0..120);
    assert!(tally.shows("run", 100), "{tally:?}");
}

#[test]
fn determined_paths() {
    let tally = run(random_determined_model, 0..120);
    assert!(tally.shows("run", 100), "{tally:?}");
}

#[test]
fn games() {
    let tally = run(random_game_model, 0..450);
    assert!(tally.shows("strategy", 300) && tally.shows("answers", 300), "{tally:?}");
    assert!(tally.shows("fair strategy", 60) && tally.shows("fair answers", 60), "{tally:?}");
    assert!(tally.n_changed > 10_000 && tally.n_confirmed > 40, "{tally:?}");
    assert!(!tally.kinds.contains_key("TooMuch"), "{tally:?}");
}

#[test]
fn fixpoints() {
    let tally = run(random_fixpoint_model, 0..300);
    assert!(tally.shows("unfolded", 300), "{tally:?}");
    assert!(tally.n_changed > 5_000 && tally.n_confirmed > 20, "{tally:?}");
    assert!(!tally.kinds.contains_key("TooMuch"), "{tally:?}");
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    /// Reasons by kind, and claims that are not shown by what is missing.
    kinds: BTreeMap<String, usize>,
    /// Pieces of evidence that were changed, and of these confirmed without trust.
    n_changed: usize,
    n_confirmed: usize,
}

impl Tally {
    fn shows(&self, kind: &str, least: usize) -> bool {
        self.kinds.get(kind).is_some_and(|&n| n >= least)
    }

    fn count(&mut self, system: &System, evidence: &Evidence) {
        let fair = if system.fairness.is_empty() { "" } else { "fair " };
        for reason in &evidence.reasons {
            let kind = match &reason.because {
                Because::Run(_) => "run".to_string(),
                Because::Strategy(_) => format!("{fair}strategy"),
                Because::Answers(_) => format!("{fair}answers"),
                Because::Unfolded(_) => "unfolded".to_string(),
                Because::NotShown(missing) => format!("{missing:?}"),
                _ => continue,
            };
            *self.kinds.entry(kind).or_default() += 1;
        }
    }
}

fn run(model: fn(u64) -> String, seeds: Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let text = model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system = load(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        let mut dice = fastrand::Rng::with_seed(seed);
        if let Err(difference) = compare(&system, &mut tally, &mut dice) {
            panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{text}");
        }
    }
    println!("{tally:?}");
    tally
}

fn compare(system: &System, tally: &mut Tally, dice: &mut fastrand::Rng) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let budget = Budget::unlimited();
    let explicit = Explicit { evidence: Show::All, jobs: None };
    let symbolic = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let mut explicit = explicit.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut symbolic = symbolic.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        let outcome = explicit.decide(property, &budget);
        let text = system.formula_text(property.formula);
        if outcome != symbolic.decide(property, &budget) {
            return Err(format!("{text}: the engines show different things"));
        }
        let Some(evidence) = &outcome.evidence else { continue };
        if reference.truth(property.formula).is_none() {
            continue; // Too much for the definition.
        }
        reference.check(property, outcome.verdict, Some(evidence))?;
        tally.count(system, evidence);
        for _ in 0..8 {
            let mut changed = evidence.clone();
            change(system, &mut changed, dice);
            tally.n_changed += 1;
            let holds = changed.reasons[0].holds;
            let Ok(trusted) = replay(system, property, holds, &changed) else { continue };
            if trusted.is_empty() && changed != *evidence {
                tally.n_confirmed += 1;
                let checked = reference.check(property, Verdict::from(holds), Some(&changed));
                checked.map_err(|error| format!("{error}: {changed:?}"))?;
            }
        }
    }
    Ok(())
}

/// Changes something at random: a claim, a state, or what a reason says.
fn change(system: &System, evidence: &mut Evidence, dice: &mut fastrand::Rng) {
    let n_states = evidence.states.len() as u32;
    let n_actions = system.agents.iter().map(|agent| agent.actions.len()).max().unwrap_or(1) as u32;
    let reason = dice.usize(0..evidence.reasons.len());
    match dice.u8(0..10) {
        0 => evidence.reasons[reason].holds ^= true,
        1 => evidence.reasons[reason].state = StateId(dice.u32(0..n_states)),
        2 => {
            let (state, variable) = (dice.usize(0..n_states as usize), dice.usize(0..system.variables.len()));
            let domain = &system.variables[variable].domain;
            evidence.states[state][variable] = domain.value(dice.u64(0..domain.size() as u64));
        }
        _ => match &mut evidence.reasons[reason].because {
            Because::Strategy(strategy) if !strategy.rows.is_empty() => {
                let row = dice.usize(0..strategy.rows.len());
                match dice.u8(0..4) {
                    0 => _ = strategy.rows.remove(row),
                    1 => strategy.rows[row].state = StateId(dice.u32(0..n_states)),
                    2 if !strategy.claims.is_empty() => _ = strategy.claims.pop(),
                    _ => {
                        let actions = &mut strategy.rows[row].actions;
                        let place = dice.usize(0..actions.len());
                        actions[place] = ActionId(dice.u32(0..n_actions));
                    }
                }
            }
            Because::Answers(answers) if !answers.rows.is_empty() => {
                let row = dice.usize(0..answers.rows.len());
                match dice.u8(0..4) {
                    0 => _ = answers.rows.remove(row),
                    1 if !answers.claims.is_empty() => _ = answers.claims.pop(),
                    2 => answers.rows[row].next = Some(StateId(dice.u32(0..n_states))),
                    _ => {
                        let joint = &mut answers.rows[row].joint;
                        let place = dice.usize(0..joint.len());
                        joint[place] = ActionId(dice.u32(0..n_actions));
                    }
                }
            }
            Because::Unfolded(unfolding) if !unfolding.nodes.is_empty() => {
                let n_nodes = unfolding.nodes.len();
                let node = dice.usize(0..n_nodes);
                let node = &mut unfolding.nodes[node];
                match (dice.u8(0..3), &mut node.by) {
                    (0, _) => node.holds ^= true,
                    (1, _) => node.state = StateId(dice.u32(0..n_states)),
                    (_, Support::Nodes(list) | Support::Alike(list)) if !list.is_empty() => {
                        let place = dice.usize(0..list.len());
                        list[place] = dice.usize(0..n_nodes);
                    }
                    (_, Support::Steps(list)) if !list.is_empty() => {
                        let place = dice.usize(0..list.len());
                        match dice.bool() {
                            true => _ = list.remove(place),
                            false => list[place].1 = dice.usize(0..n_nodes),
                        }
                    }
                    _ => {}
                }
            }
            Because::Run(showing) => {
                let place = dice.usize(0..showing.run.states.len());
                showing.run.states[place] = StateId(dice.u32(0..n_states));
            }
            _ => {}
        },
    }
}
