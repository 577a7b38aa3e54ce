//! Times of the travel example with N airlines: `cargo run --release -p masque-lcc --example
//! measure -- N..`. For each N: the whole space, then every property of `models/lcc/travel.mu` in a
//! system of its own.

use std::time::Instant;

use masque_lcc::{System, explore};
use masque_mu::{Space, check, read_properties};
use masque_text::Sources;
use masque_verdict::Budget;

#[path = "../tests/support/mod.rs"]
mod support;

fn system(n_airlines: usize) -> (System, Sources) {
    support::travel(n_airlines, &[("cap", "40"), ("depth", "60")])
}

fn main() {
    for n_airlines in std::env::args().skip(1).filter_map(|arg| arg.parse().ok()) {
        let start = Instant::now();
        let (mut whole, _) = system(n_airlines);
        let opened = start.elapsed();
        let counts = explore(&mut whole, &Budget::unlimited());
        let Ok(counts) = counts else { continue };
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "N={n_airlines}: opened {:.2} ms, explored {:.2} ms, {} states, {} transitions, {:.0} transitions/s, \
             {:.1} MB, {} situations",
            opened.as_secs_f64() * 1e3,
            seconds * 1e3,
            counts.states,
            counts.transitions,
            counts.transitions as f64 / seconds,
            whole.bytes() as f64 / 1e6,
            whole.n_situations(),
        );
        let start = Instant::now();
        let (mut system, mut sources) = system(n_airlines);
        let text = std::fs::read_to_string(support::models().join("travel.mu")).unwrap_or_default();
        let Ok(file) = sources.add("travel.mu", text) else { continue };
        let (properties, _) = read_properties(&sources, sources.span(file), &mut system);
        let mut space = Space::new(&mut system);
        for property in &properties {
            let before = Instant::now();
            let answer = check(&mut space, &property.formula, &Budget::unlimited());
            println!(
                "  {:20} {:8} {:9.3} ms, {} states",
                property.source.name.text,
                answer.verdict.to_string(),
                before.elapsed().as_secs_f64() * 1e3,
                answer.states
            );
        }
        println!("  all {} properties, cold: {:.3} ms", properties.len(), start.elapsed().as_secs_f64() * 1e3);
    }
}
