//! Benchmarks of the parts of the engine on models that take milliseconds: encoding (with the reachable
//! states), the number of states, knowledge, and a bad order with and without sifting.
//!
//! `cargo bench -p masque-symbolic` measures; under `cargo test` each part runs once.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use masque_ispl::{Define, Options, check, parse};
use masque_model::System;
use masque_symbolic::{Order, Reorder, Symbolic};
use masque_text::{Sources, Span};
use masque_verdict::{Budget, Encoded, Engine, Show};

/// A gallery model, the value of its parameter, and the index of a property about knowledge.
struct Sample {
    name: &'static str,
    text: &'static str,
    size: Option<(&'static str, i64)>,
    property: usize,
}

const SAMPLES: [Sample; 4] = [
    Sample {
        name: "dining cryptographers",
        text: include_str!("../../../models/ispl/dining_cryptographers.ispl"),
        size: Some(("N", 10)),
        property: 0,
    },
    Sample {
        name: "muddy children",
        text: include_str!("../../../models/ispl/muddy_children.ispl"),
        size: Some(("N", 8)),
        property: 0,
    },
    Sample {
        name: "trains",
        text: include_str!("../../../models/ispl/trains.ispl"),
        size: Some(("N", 10)),
        property: 0,
    },
    Sample {
        name: "card rounds",
        text: include_str!("../../../models/ispl/card_rounds.ispl"),
        size: Some(("C", 6)),
        property: 0,
    },
];

impl Sample {
    fn system(&self) -> System {
        let mut sources = Sources::default();
        let file = sources.add(self.name, self.text).expect("a small text");
        let (mut tree, diagnostics) = parse(&sources, file);
        assert!(!diagnostics.iter().any(|d| d.is_error()), "{}: {diagnostics:?}", self.name);
        let define =
            |(name, value): (&str, i64)| Define { name: name.to_string(), value, span: Span::default() };
        let options = Options { defines: self.size.into_iter().map(define).collect(), ..Options::default() };
        check(&sources, &mut tree, &options).system.unwrap_or_else(|| panic!("{} has errors", self.name))
    }
}

fn encoded<'s>(engine: &Symbolic, system: &'s System) -> Box<dyn Encoded + 's> {
    engine.encode(system, &Budget::unlimited()).unwrap_or_else(|stop| panic!("{stop}"))
}

/// Measures the order, the transition relation and the reachable states.
fn encode(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("encode");
    for sample in &SAMPLES {
        let system = sample.system();
        group.bench_function(sample.name, |b| {
            b.iter(|| black_box(encoded(&Symbolic::default(), &system)));
        });
    }
}

/// Measures deadlocks, overflows and the exact number of states, after the reachable states are computed.
fn facts(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("facts");
    for sample in &SAMPLES {
        let system = sample.system();
        let mut encoded = encoded(&Symbolic::default(), &system);
        group.bench_function(sample.name, |b| {
            b.iter(|| black_box(encoded.facts(&Budget::unlimited())).map_err(|stop| panic!("{stop}")));
        });
    }
}

/// Measures one property about knowledge, each time on a fresh encoding, because an encoding caches results.
fn knowledge(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("knowledge");
    for sample in &SAMPLES {
        let system = sample.system();
        let property = &system.properties[sample.property];
        group.bench_function(sample.name, |b| {
            b.iter_batched_ref(
                || encoded(&Symbolic::default(), &system),
                |encoded| black_box(encoded.decide(property, &Budget::unlimited())),
                criterion::BatchSize::PerIteration,
            );
        });
    }
}

/// Measures a declared order, with and without dynamic reordering.
fn sifting(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sifting");
    for reorder in [Reorder::Never, Reorder::Auto] {
        let engine =
            Symbolic { order: Order::Declared, reorder, evidence: Show::None, ..Symbolic::default() };
        let sample = Sample { size: Some(("N", 8)), ..SAMPLES[0] };
        let system = sample.system();
        group.bench_function(BenchmarkId::new(sample.name, format!("{reorder:?}")), |b| {
            b.iter(|| black_box(encoded(&engine, &system)));
        });
    }
}

criterion_group! {
    name = diagrams;
    config = Criterion::default().sample_size(10);
    targets = encode, facts, knowledge, sifting
}
criterion_main!(diagrams);
