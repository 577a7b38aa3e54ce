//! Benchmarks of monitors: events per second of the travel example, without and with its eleven properties. Sessions
//! share what is computed: `warm` is after the logs have been seen, `first` while they are seen for the first time.
//!
//! `cargo bench -p masque-monitor` measures; under `cargo test` each benchmark runs once.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use masque_monitor::lcc::{LccModel, Observation};
use masque_monitor::{EventVerdict, Monitor};
use masque_verdict::Budget;

mod support;

/// Follows each log in a session of its own.
fn follow(model: &LccModel, logs: &[Vec<Observation>]) {
    let budget = Budget::unlimited();
    for log in logs {
        let mut monitor = model.open();
        for observation in log {
            let judgement = monitor.observe(observation, &budget).expect("no limit");
            assert_eq!(judgement.event, EventVerdict::Possible);
        }
    }
}

fn travel(c: &mut Criterion) {
    let mut group = c.benchmark_group("monitor/travel");
    group.sample_size(10);
    for (name, has_properties) in [("without goals", false), ("all properties", true)] {
        let (mut system, model) = support::travel(has_properties);
        let logs = support::logs(&mut system, 1_000);
        let n_events: usize = logs.iter().map(Vec::len).sum();
        group.throughput(Throughput::Elements(n_events as u64));
        group.bench_function(format!("{name}, warm"), |b| b.iter(|| follow(&model, &logs)));
        group.bench_function(format!("{name}, first"), |b| {
            b.iter_batched(
                || support::travel(has_properties).1,
                |model| follow(&model, &logs),
                BatchSize::PerIteration,
            );
        });
        let first = &logs[..1];
        group.throughput(Throughput::Elements(first[0].len() as u64));
        group.bench_function(format!("{name}, one session"), |b| {
            b.iter_batched(
                || support::travel(has_properties).1,
                |model| follow(&model, first),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, travel);
criterion_main!(benches);
