//! Measures the travel example with N airlines: `cargo run --release -p masque-lcc --example travel -- N..`.
//! For each N: exploring the whole space; checking every property of `models/lcc/travel.mu` in one system;
//! and checking each property in its own reduced system. `N:NAME` checks one property only, so that its
//! memory can be observed from outside.

use std::time::Instant;

use masque_lcc::{System, check_reduced, explore};
use masque_mu::{Property, Space, check, read_properties};
use masque_text::Sources;
use masque_verdict::Budget;

#[path = "../tests/support/mod.rs"]
mod support;

/// The system, with bounds that are never exceeded, and its properties.
fn load(n_airlines: usize) -> (System, Vec<Property>) {
    let (mut system, mut sources): (System, Sources) =
        support::travel(n_airlines, &[("cap", "40"), ("depth", "60"), ("psize", "5000")]);
    let text = std::fs::read_to_string(support::models().join("travel.mu")).unwrap_or_default();
    let mut properties = Vec::new();
    if let Ok(file) = sources.add("travel.mu", text) {
        properties = read_properties(&sources, sources.span(file), &mut system).0;
    }
    (system, properties)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Checks one property in the whole system.
fn measure_property(n_airlines: usize, name: &str) {
    let start = Instant::now();
    let (mut system, properties) = load(n_airlines);
    for property in properties.iter().filter(|property| property.source.name.text == name) {
        let answer = check(&mut Space::new(&mut system), &property.formula, &Budget::unlimited());
        println!(
            "N={n_airlines}: {name} {} in {:.2} ms, {} states",
            answer.verdict,
            milliseconds(start),
            answer.states
        );
    }
}

fn main() {
    for arg in std::env::args().skip(1) {
        if let Some((n_airlines, name)) = arg.split_once(':')
            && let Ok(n_airlines) = n_airlines.parse()
        {
            measure_property(n_airlines, name);
        }
    }
    for n_airlines in std::env::args().skip(1).filter_map(|arg| arg.parse().ok()) {
        let start = Instant::now();
        let (mut system, _) = load(n_airlines);
        let opened = milliseconds(start);
        let Ok(counts) = explore(&mut system, &Budget::unlimited()) else { continue };
        let explored = milliseconds(start);
        println!(
            "N={n_airlines}: opened {opened:.2} ms, explored {explored:.2} ms, {} states, {} transitions, \
             {:.0} transitions/s, {:.1} MB, {} situations",
            counts.states,
            counts.transitions,
            counts.transitions as f64 / explored * 1e3,
            system.bytes() as f64 / 1e6,
            system.n_situations(),
        );
        // With at most 6 airlines, the minimum of 30 measurements is reported, to reduce noise.
        let (mut best, mut best_time) = (Vec::new(), f64::INFINITY);
        for _ in 0..if n_airlines <= 6 { 30 } else { 1 } {
            let start = Instant::now();
            let (mut system, properties) = load(n_airlines);
            let mut space = Space::new(&mut system);
            let times: Vec<_> = properties
                .iter()
                .map(|property| {
                    let before = Instant::now();
                    let answer = check(&mut space, &property.formula, &Budget::unlimited());
                    (property.source.name.text.clone(), answer, milliseconds(before))
                })
                .collect();
            let time = milliseconds(start);
            if time < best_time {
                (best, best_time) = (times, time);
            }
        }
        for (name, answer, time) in &best {
            println!("  {name:20} {:8} {time:9.3} ms, {} states", answer.verdict.to_string(), answer.states);
        }
        println!("  all {} properties, cold: {best_time:.3} ms", best.len());
        for index in 0..best.len() {
            let before = Instant::now();
            let (mut system, properties) = load(n_airlines);
            let formula = &properties[index].formula;
            let Some(checked) = check_reduced(&mut system, formula, &Budget::unlimited()) else { continue };
            let (name, time) = (&properties[index].source.name.text, milliseconds(before));
            println!(
                "  eager {name:20} {:8} {time:9.3} ms, {} states",
                checked.verdict.to_string(),
                checked.states
            );
        }
    }
}
