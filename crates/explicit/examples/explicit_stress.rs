//! Checks two models repeatedly with four threads: `explicit_stress [RUNS]`, ten thousand runs by default. Each run
//! must terminate with the same facts and outcomes as one thread.

use std::num::NonZeroUsize;
use std::time::Instant;

use masque_explicit::Explicit;
use masque_ispl::{Options, check, parse};
use masque_model::System;
use masque_text::Sources;
use masque_verdict::{Budget, Engine, Facts, Outcome, Show};

/// Returns a ring of `n` lamps, each initially on or off; a lamp takes the state of the next one.
fn lamps(n: usize) -> System {
    let text = format!(
        "param N = {n};
         Agent Lamp[i in 0..N-1]
           Vars: on : boolean; end Vars
           Actions = {{shine, rest}};
           Protocol: on : {{shine}}; Other : {{rest}}; end Protocol
           Evolution:
             on = true if Lamp[(i + 1) mod N].Action = shine;
             on = false if Lamp[(i + 1) mod N].Action = rest;
           end Evolution
         end Agent
         Evaluation dark if forall(i in 0..N-1 : !Lamp[i].on); first if Lamp[0].on; end Evaluation
         InitStates true; end InitStates
         Groups two = {{Lamp[0], Lamp[1]}}; end Groups
         Formulae AG(first -> AF !first); AG(first -> K(Lamp[0], !dark)); GCK(two, first); end Formulae"
    );
    let mut sources = Sources::default();
    let file = sources.add("lamps.ispl", text).expect("a short text");
    let (mut tree, errors) = parse(&sources, file);
    let checked = check(&sources, &mut tree, &Options::default());
    checked.system.unwrap_or_else(|| panic!("{errors:?} {:?}", checked.diagnostics))
}

fn facts_and_outcomes(system: &System, n_threads: usize) -> (Facts, Vec<Outcome>) {
    let budget = Budget::unlimited();
    let engine = Explicit { evidence: Show::All, jobs: NonZeroUsize::new(n_threads) };
    let mut encoded = engine.encode(system, &budget).expect("no limit");
    let facts = encoded.facts(&budget).expect("no limit");
    (facts, system.properties.iter().map(|property| encoded.decide(property, &budget)).collect())
}

fn main() {
    let n_runs: usize = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(10_000);
    // 2^11 states are explored by several threads; 2^15 states are also labelled by several threads.
    for (n_lamps, n_runs) in [(11, n_runs), (15, n_runs / 50)] {
        let system = lamps(n_lamps);
        let expected = facts_and_outcomes(&system, 1);
        let start = Instant::now();
        for run in 0..n_runs {
            assert!(facts_and_outcomes(&system, 4) == expected, "run {run} with {n_lamps} lamps");
        }
        println!("{n_runs} runs with {} states: {:.1?}", expected.0.states, start.elapsed());
    }
}
