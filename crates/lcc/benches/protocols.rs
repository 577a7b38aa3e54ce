//! Benchmarks of exploring and checking: the travel example with N airlines, and clients of a lock.
//!
//! `cargo bench -p masque-lcc` measures; under `cargo test` each benchmark runs once.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use masque_lcc::{Reduced, Reductions, System, check_reduced, explore};
use masque_mu::{Property, Space, check, read_properties};
use masque_verdict::{Budget, Verdict};

#[path = "../tests/support/mod.rs"]
mod support;

/// The travel example with `n_airlines` airlines, read from its files, and its eleven properties.
fn travel(n_airlines: usize) -> (System, Vec<Property>) {
    let bounds = [("cap", "40"), ("depth", "60"), ("psize", "5000")];
    let (mut system, mut sources) = support::travel(n_airlines, &bounds);
    let text = std::fs::read_to_string(support::models().join("travel.mu")).expect("a model");
    let file = sources.add("travel.mu", text).expect("a short text");
    let properties = read_properties(&sources, sources.span(file), &mut system).0;
    (system, properties)
}

/// Explores the whole state space of an opened instance.
fn whole_space(c: &mut Criterion) {
    let mut group = c.benchmark_group("explore");
    group.sample_size(10);
    for (n_airlines, transitions) in [(2, 234), (6, 15_050)] {
        group.throughput(Throughput::Elements(transitions));
        let (system, _) = travel(n_airlines);
        group.bench_function(format!("travel {n_airlines}"), |b| {
            b.iter(|| {
                let counts = explore(&mut black_box(&system).clone(), &Budget::unlimited());
                assert_eq!(counts.map(|counts| counts.transitions), Ok(transitions));
            });
        });
    }
    group.finish();
}

/// Opens the files and checks all eleven properties in one system.
fn all_properties(c: &mut Criterion) {
    let mut group = c.benchmark_group("all properties, cold");
    group.sample_size(10);
    for n_airlines in [2, 6] {
        group.bench_function(format!("travel {n_airlines}"), |b| {
            b.iter(|| {
                let (mut system, properties) = travel(black_box(n_airlines));
                let mut space = Space::new(&mut system);
                for property in &properties {
                    let answer = check(&mut space, &property.formula, &Budget::unlimited());
                    assert!(!matches!(answer.verdict, Verdict::Unknown(_)));
                }
            });
        });
    }
    group.finish();
}

/// Checks all eleven properties, each in its own reduced system.
fn eager(c: &mut Criterion) {
    let (system, properties) = travel(6);
    c.bench_function("lcc/eager, travel 6", |b| {
        b.iter(|| {
            for property in &properties {
                check_reduced(&mut black_box(&system).clone(), &property.formula, &Budget::unlimited());
            }
        });
    });
}

/// Checks a protocol with and without merging interchangeable clients.
fn symmetry(c: &mut Criterion) {
    let mut group = c.benchmark_group("lock 6");
    group.sample_size(10);
    let (system, formulas) = support::read(&support::lock(6), &["AG EF final"]);
    for (name, symmetry) in [("whole", false), ("symmetric", true)] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut system = black_box(&system).clone();
                let reductions = Reductions { eager: false, symmetry };
                let answer = match Reduced::with(reductions, &mut system, &formulas[0]) {
                    Some(mut reduced) => {
                        check(&mut Space::new(&mut reduced), &formulas[0], &Budget::unlimited())
                    }
                    None => check(&mut Space::new(&mut system), &formulas[0], &Budget::unlimited()),
                };
                assert_eq!(answer.verdict, Verdict::Holds);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, whole_space, all_properties, eager, symmetry);
criterion_main!(benches);
