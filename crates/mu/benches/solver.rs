//! Speed of the solver on a system whose successors are cheap to compute: a few processes, each of which
//! moves around a ring.
//!
//! `cargo bench -p masque-mu` measures; under `cargo test` each benchmark runs once.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use masque_mu::{
    AtomId, Completeness, Formula, LabelId, Lts, PatternId, Space, StateId, Vocabulary, check, explain,
    read_formula,
};
use masque_text::{Diagnostic, Sources, Span};
use masque_verdict::{Budget, Verdict};

/// A state is the number whose digits are the positions of the processes; a label is the process that moves.
struct Rings {
    size: u32,
    processes: u32,
}

impl Rings {
    fn n_transitions(&self) -> u64 {
        u64::from(self.size.pow(self.processes) * self.processes)
    }
}

impl Lts for Rings {
    fn initial(&mut self) -> StateId {
        StateId(0)
    }

    fn successors(&mut self, state: StateId, step: &mut dyn FnMut(LabelId, StateId)) -> Completeness {
        let mut unit = 1;
        for process in 0..self.processes {
            let digit = state.0 / unit % self.size;
            let next = (digit + 1) % self.size;
            step(LabelId(process), StateId(state.0 - digit * unit + next * unit));
            unit *= self.size;
        }
        Completeness::Complete
    }

    /// Whether all processes are at their start.
    fn holds(&mut self, state: StateId, _: AtomId) -> bool {
        state.0 == 0
    }

    fn matches(&mut self, label: LabelId, pattern: PatternId) -> bool {
        label.0 == pattern.0
    }
}

impl Vocabulary for Rings {
    /// `p3` is a step of process 3.
    fn pattern(&mut self, text: &str, span: Span) -> Result<PatternId, Diagnostic> {
        let number = text.strip_prefix('p').and_then(|number| number.parse().ok());
        number.map(PatternId).ok_or_else(|| Diagnostic::error("bench/pattern", span, "no such process"))
    }

    fn atom(&mut self, _: &str, _: Span) -> Result<AtomId, Diagnostic> {
        Ok(AtomId(0))
    }
}

fn formula(text: &str, rings: &mut Rings) -> Formula {
    let mut sources = Sources::default();
    let file = sources.add("formula", text).expect("the text is short");
    read_formula(&sources, sources.span(file), rings).0.expect("the formula has no errors")
}

/// Formulas that need all states, with their verdicts.
const FORMULAS: [(&str, &str, Verdict); 6] = [
    ("safety", "AG !deadlock", Verdict::Holds),
    ("reachability", "<-* . p0 . p1 . p0>ff", Verdict::Fails),
    ("home again", "AG EF final", Verdict::Holds),
    ("inevitability", "AG inev({p0, p1, p2, p3, p4})", Verdict::Holds),
    ("always again and again", "AG nu X. mu Y. <p0>X || <-p0>Y", Verdict::Holds),
    ("again and again", "nu X. mu Y. [p0]X && [-p0]Y", Verdict::Fails),
];

fn solve(c: &mut Criterion) {
    let mut group = c.benchmark_group("mu");
    group.sample_size(10);
    let mut rings = Rings { size: 10, processes: 5 };
    group.throughput(Throughput::Elements(rings.n_transitions()));
    for (name, text, expected) in FORMULAS {
        let formula = formula(text, &mut rings);
        group.bench_function(name, |b| {
            b.iter(|| {
                let answer = check(&mut Space::new(&mut rings), black_box(&formula), &Budget::unlimited());
                assert_eq!(answer.verdict, expected);
            });
        });
    }
    let formula = formula("AG EF final", &mut rings);
    group.bench_function("home again, with evidence", |b| {
        b.iter(|| explain(&mut Space::new(&mut rings), black_box(&formula), &Budget::unlimited()));
    });
    group.finish();
}

/// Cost for a small system, as in a run-time checker: reading and solving all formulas from scratch.
fn fixed_cost(c: &mut Criterion) {
    c.bench_function("mu/small, all formulas with evidence", |b| {
        b.iter(|| {
            let mut space = Space::new(Rings { size: 5, processes: 3 });
            for (_, text, expected) in FORMULAS {
                let formula = formula(black_box(text), space.lts());
                assert_eq!(explain(&mut space, &formula, &Budget::unlimited()).verdict, expected);
            }
        });
    });
}

criterion_group!(benches, solve, fixed_cost);
criterion_main!(benches);
