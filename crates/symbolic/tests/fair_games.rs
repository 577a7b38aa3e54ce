//! Evidence about coalitions under fairness: on random systems, replay refuses none of it, all of its
//! claims are true, and both engines show the same.

use masque_explicit::Explicit;
use masque_model::semantics::explore;
use masque_model::{Deadlock, Formula, Property, System};
use masque_symbolic::Symbolic;
use masque_testkit::{Reference, load, random_fair_game_model, shrink};
use masque_verdict::{Because, Budget, Engine, Evidence, Show, Verdict};

/// Systems with more states are passed over: the truth definition is slow.
const MAX_STATES: usize = 64;

/// `SEEDS=FROM..TO cargo test --release -p masque-symbolic --test fair_games` asks for more; 24 000 seeds
/// are about 100 000 formulas.
#[test]
fn evidence_replays() {
    let seeds = std::env::var("SEEDS").unwrap_or("0..500".to_string());
    let (from, to) = seeds.split_once("..").expect("a range of seeds");
    let mut tally = Tally::default();
    for seed in from.parse::<u64>().expect("a number")..to.parse().expect("a number") {
        let text = random_fair_game_model(seed);
        let deadlock = if seed % 3 == 0 { Deadlock::Stutter } else { Deadlock::Finite };
        let system =
            both_ways(&text, deadlock).unwrap_or_else(|| panic!("seed {seed} is not valid:\n{text}"));
        let Err(difference) = compare(&system, &mut tally) else { continue };
        let differs =
            |text: &str| both_ways(text, deadlock).and_then(|s| compare(&s, &mut Tally::default()).err());
        let small = shrink(&text, |text| differs(text).is_some());
        let difference = differs(&small).unwrap_or(difference);
        panic!("seed {seed}, deadlock {deadlock:?}: {difference}\n{small}");
    }
    println!("{tally:?}");
    assert!(tally.formulas >= 2000 && tally.strategies >= 500 && tally.answers >= 250, "{tally:?}");
    assert!(tally.leaving >= 30, "{tally:?}");
}

/// How much was compared.
#[derive(Debug, Default)]
struct Tally {
    formulas: usize,
    pieces: usize,
    strategies: usize,
    answers: usize,
    /// Strategies with a play that ends before the goal is met.
    leaving: usize,
}

impl Tally {
    fn count(&mut self, evidence: &Evidence) {
        self.pieces += 1;
        for reason in &evidence.reasons {
            match &reason.because {
                Because::Answers(_) => self.answers += 1,
                Because::Strategy(strategy) => {
                    self.strategies += 1;
                    let last = strategy.play.states.last();
                    let is_end = strategy.claims.iter().any(|&id| last == Some(&evidence.reason(id).state));
                    self.leaving += usize::from(strategy.play.back_to.is_none() && !is_end);
                }
                _ => {}
            }
        }
    }
}

/// The system of a text, with every property and its negation.
fn both_ways(text: &str, deadlock: Deadlock) -> Option<System> {
    let mut system = load(text, deadlock)?;
    for property in system.properties.clone() {
        let formula = system.formulas.add(Formula::Not(property.formula));
        system.properties.push(Property { name: format!("not {}", property.name), formula, ..property });
    }
    Some(system)
}

/// Says what is wrong with the evidence for some property, if anything is.
fn compare(system: &System, tally: &mut Tally) -> Result<(), String> {
    let Some(structure) = explore(system, MAX_STATES).filter(|s| s.n_states() > 0) else { return Ok(()) };
    let budget = Budget::unlimited();
    let explicit = Explicit { evidence: Show::All, jobs: None };
    let symbolic = Symbolic { evidence: Show::All, ..Symbolic::default() };
    let mut explicit = explicit.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut symbolic = symbolic.encode(system, &budget).map_err(|stop| stop.to_string())?;
    let mut reference = Reference::new(&structure, system);
    for property in &system.properties {
        let outcome = explicit.decide(property, &budget);
        if outcome != symbolic.decide(property, &budget) {
            let text = system.formula_text(property.formula);
            return Err(format!("{text}: the engines show different things"));
        }
        if matches!(outcome.verdict, Verdict::Unknown(_)) || reference.truth(property.formula).is_none() {
            continue; // No fair path, or too much for the definition.
        }
        tally.formulas += 1;
        reference.check(property, outcome.verdict, outcome.evidence.as_ref())?;
        outcome.evidence.iter().for_each(|evidence| tally.count(evidence));
    }
    Ok(())
}
