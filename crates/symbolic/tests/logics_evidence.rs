//! Evidence for LTL, CTL*, ATL and the mu-calculus on random systems: both engines give the same, it
//! replays, and every claim is true. If replay confirms evidence that was changed at random, its claims
//! are true as well.

use std::ops::Range;

use masque_explicit::Explicit;
use masque_model::semantics::explore;
use masque_model::{ActionId, System};
use masque_replay::replay;
use masque_symbolic::Symbolic;
use masque_testkit::{
    Deadlocks, Generator, Reference, Tally, compare_outcomes, differential, encode, random_determined_model,
    random_fixpoint_model, random_game_model, random_path_model,
};
use masque_verdict::{Because, DecidedBy, Evidence, Show, StateId, Verdict};

/// Maximum number of states of a compared system, because the definition is slow.
const MAX_STATES: usize = 64;

#[test]
fn paths() {
    run(random_path_model, 0..120).assert_at_least(&[("run", 100)]);
}

#[test]
fn determined_paths() {
    run(random_determined_model, 0..120).assert_at_least(&[("run", 100)]);
}

#[test]
fn games() {
    let tally = run(random_game_model, 0..450);
    tally.assert_at_least(&[("strategy", 300), ("answers", 300)]);
    tally.assert_at_least(&[("fair strategy", 60), ("fair answers", 60)]);
    tally.assert_at_least(&[("changed", 10_001), ("confirmed", 41)]);
    assert_eq!(tally.get("TooMuch"), 0, "{tally:?}");
}

#[test]
fn fixpoints() {
    let tally = run(random_fixpoint_model, 0..300);
    tally.assert_at_least(&[("unfolded", 300), ("changed", 5_001), ("confirmed", 21)]);
    assert_eq!(tally.get("TooMuch"), 0, "{tally:?}");
}

/// Counts the reasons of a piece of evidence by kind, and claims that are not shown by what is missing.
fn count(tally: &mut Tally, system: &System, evidence: &Evidence) {
    let fair = if system.fairness.is_empty() { "" } else { "fair " };
    for reason in &evidence.reasons {
        match &reason.because {
            Because::Path(_) => tally.count("run"),
            Because::Strategy(_) => tally.count(format!("{fair}strategy")),
            Because::Responses(_) => tally.count(format!("{fair}answers")),
            Because::Unfolded(_) => tally.count("unfolded"),
            Because::NotShown(missing) => tally.count(format!("{missing:?}")),
            _ => {}
        }
    }
}

fn run(generator: Generator, seeds: Range<u64>) -> Tally {
    differential(&[generator], seeds, Deadlocks::StutterEvery(3), |system, seed, tally| {
        compare(&system, tally, &mut fastrand::Rng::with_seed(seed))
    })
}

/// Returns what is wrong with the evidence for some property, if anything is. Counts also how many pieces
/// of evidence were `changed`, and how many of these replay `confirmed` without trusting any claim.
fn compare(system: &System, tally: &mut Tally, dice: &mut fastrand::Rng) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let mut explicit = encode(&Explicit { evidence: Show::All, jobs: None }, system)?;
    let mut symbolic = encode(&Symbolic { evidence: Show::All, ..Symbolic::default() }, system)?;
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        let outcome = compare_outcomes(system, property, &mut *symbolic, &mut *explicit)?;
        let Some(evidence) = &outcome.evidence else { continue };
        if reference.truth(property.formula).is_none() {
            continue; // The definition would take too long.
        }
        reference.check(property, outcome.verdict, Some(evidence))?;
        count(tally, system, evidence);
        for _ in 0..8 {
            let mut changed = evidence.clone();
            change(system, &mut changed, dice);
            tally.count("changed");
            let holds = changed.reasons[0].holds;
            let Ok(trusted) = replay(system, property, holds, &changed) else { continue };
            if trusted.is_empty() && changed != *evidence {
                tally.count("confirmed");
                let checked = reference.check(property, Verdict::from(holds), Some(&changed));
                checked.map_err(|error| format!("{error}: {changed:?}"))?;
            }
        }
    }
    Ok(())
}

/// Changes one part of the evidence at random: a claim, a state, or a detail of a reason.
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
                        let index = dice.usize(0..actions.len());
                        actions[index] = ActionId(dice.u32(0..n_actions));
                    }
                }
            }
            Because::Responses(answers) if !answers.rows.is_empty() => {
                let row = dice.usize(0..answers.rows.len());
                match dice.u8(0..4) {
                    0 => _ = answers.rows.remove(row),
                    1 if !answers.claims.is_empty() => _ = answers.claims.pop(),
                    2 => answers.rows[row].next = Some(StateId(dice.u32(0..n_states))),
                    _ => {
                        let joint = &mut answers.rows[row].joint;
                        let index = dice.usize(0..joint.len());
                        joint[index] = ActionId(dice.u32(0..n_actions));
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
                    (_, DecidedBy::Nodes(list) | DecidedBy::Alike(list)) if !list.is_empty() => {
                        let index = dice.usize(0..list.len());
                        list[index] = dice.usize(0..n_nodes);
                    }
                    (_, DecidedBy::Steps(list)) if !list.is_empty() => {
                        let index = dice.usize(0..list.len());
                        if dice.bool() {
                            list.remove(index);
                        } else {
                            list[index].1 = dice.usize(0..n_nodes);
                        }
                    }
                    _ => {}
                }
            }
            Because::Path(showing) => {
                let index = dice.usize(0..showing.run.states.len());
                showing.run.states[index] = StateId(dice.u32(0..n_states));
            }
            _ => {}
        },
    }
}
