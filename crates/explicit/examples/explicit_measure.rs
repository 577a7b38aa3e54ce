//! Explores ISPL files, decides their properties, and prints times and memory for each of the given
//! numbers of threads: `explicit_measure [--jobs N,..] FILE..`.

use std::time::Instant;

use masque_explicit::Explicit;
use masque_ispl::{Options, check, parse};
use masque_text::Sources;
use masque_verdict::{Budget, Engine};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut jobs = vec![None];
    if args.first().is_some_and(|arg| arg == "--jobs") && args.len() > 1 {
        jobs = args[1].split(',').map(|n| n.parse().ok()).collect();
        args.drain(..2);
    }
    for path in args {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let mut sources = Sources::default();
        let start = Instant::now();
        let file = sources.add(path.clone(), text).expect("a file of reasonable size");
        let (mut tree, _) = parse(&sources, file);
        let Some(system) = check(&sources, &mut tree, &Options::default()).system else {
            println!("{path}: not a valid model");
            continue;
        };
        let parsed = start.elapsed();
        for &jobs in &jobs {
            let budget = Budget::unlimited();
            let start = Instant::now();
            let mut encoded = match (Explicit { jobs, ..Explicit::default() }).encode(&system, &budget) {
                Ok(encoded) => encoded,
                Err(stop) => {
                    println!("{path}: {stop}");
                    continue;
                }
            };
            let verdicts: Vec<String> =
                system.properties.iter().map(|p| encoded.decide(p, &budget).verdict.to_string()).collect();
            let facts = encoded.facts(&budget);
            let total = start.elapsed();
            let stats = encoded.stats();
            let n_states = stats.states.unwrap_or(0);
            let n_jobs = jobs.map_or("all".to_string(), |jobs| jobs.to_string());
            println!(
                "{path}, jobs {n_jobs}: {n_states} states, parse {parsed:.2?}, check {total:.2?}, {:.1} bytes/state",
                { stats.bytes as f64 / n_states.max(1) as f64 }
            );
            for phase in &stats.phases {
                let rate = n_states as f64 / phase.time.as_secs_f64();
                println!("  {:<9} {:>10.2?}  {:>12.0} states/s", phase.name, phase.time, rate);
            }
            println!("  transitions {:?}, verdicts {}", stats.transitions, verdicts.join(" "));
            if let Ok(facts) = facts {
                let length = |path: Option<&masque_verdict::Path>| path.map(|p| p.actions.len());
                println!(
                    "  deadlock after {:?}, overflow after {:?}, fair initial {:?}",
                    length(facts.deadlock.as_ref()),
                    length(facts.overflow.as_ref().map(|o| &o.path)),
                    facts.fair_initial
                );
            }
        }
    }
}
