//! Decides the properties of ISPL files: `symbolic_measure [--evidence] FILE..`, with the time of each and the
//! steps in diagrams, which do not depend on what else the machine does.

use std::time::Instant;

use masque_ispl::{Options, check, parse};
use masque_symbolic::Symbolic;
use masque_text::Sources;
use masque_verdict::{Budget, Engine, Show, Stats};

/// Operations on diagrams recurse, level by level.
const STACK: usize = 1 << 30;

fn main() {
    let mut paths: Vec<String> = std::env::args().skip(1).collect();
    let has_evidence = paths.first().is_some_and(|arg| arg == "--evidence");
    if has_evidence {
        paths.remove(0);
    }
    let evidence = if has_evidence { Show::Failed } else { Show::None };
    let work = std::thread::Builder::new().stack_size(STACK);
    let work = work.spawn(move || paths.iter().for_each(|path| measure(path, evidence)));
    work.expect("a thread").join().expect("an end");
}

fn measure(path: &str, evidence: Show) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let mut sources = Sources::default();
    let start = Instant::now();
    let file = sources.add(path.to_string(), text).expect("a file of reasonable size");
    let (mut tree, _) = parse(&sources, file);
    let Some(system) = check(&sources, &mut tree, &Options::default()).system else {
        println!("{path}: not a valid model");
        return;
    };
    println!("{path}: parse {:.2?}", start.elapsed());
    let budget = Budget::unlimited();
    let start = Instant::now();
    let mut encoded = match (Symbolic { evidence, ..Symbolic::default() }).encode(&system, &budget) {
        Ok(encoded) => encoded,
        Err(stop) => {
            println!("{path}: {stop}");
            return;
        }
    };
    println!("  encode and explore {:>10.2?}", start.elapsed());
    for property in &system.properties {
        let (start, before) = (Instant::now(), n_steps(&encoded.stats()));
        let verdict = encoded.decide(property, &budget).verdict;
        let steps = n_steps(&encoded.stats()) - before;
        println!("  {:<18} {:>10.2?} {steps:>12} steps  {verdict}", property.name, start.elapsed());
    }
    let stats = encoded.stats();
    for phase in &stats.phases {
        println!("  {:<18} {:>10.2?}", phase.name, phase.time);
    }
    println!("  {:?}", stats.figures);
}

fn n_steps(stats: &Stats) -> u64 {
    stats.figures.iter().find(|(name, _)| *name == "diagram steps").map_or(0, |(_, n)| *n)
}
