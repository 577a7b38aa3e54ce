//! Times and sizes of families of growing size: `cargo run --release -p masque-bdi --example scale`.

#[allow(unreachable_pub, reason = "tests use the file, too")]
mod families;

use std::time::Instant;

use masque_bdi::{check, parse, run};
use masque_text::Sources;
use masque_verdict::Budget;

fn main() {
    println!("{:<16} {:>9} {:>10}  worlds and verdicts", "family", "seconds", "nodes");
    for n in [5, 10, 20, 40, 80] {
        measure(&format!("attitudes {n}"), &families::attitudes(n));
    }
    for n in [5, 10, 20, 40, 80] {
        measure(&format!("entangled {n}"), &families::entangled(n));
    }
    for depth in [2, 4, 6, 8, 12] {
        measure(&format!("chain {depth} of 20"), &families::chain(depth, 20));
    }
    for side in [10, 32, 100] {
        measure(&format!("grid {side}"), &families::grid(side));
    }
    for n in [1000, 10_000, 100_000] {
        measure(&format!("counter {n}"), &families::counter(n));
    }
}

fn measure(name: &str, text: &str) {
    let start = Instant::now();
    let mut sources = Sources::default();
    let Ok(file) = sources.add(name, text) else { return };
    let (tree, diagnostics) = parse(&sources, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let Some((model, plan)) = check(&tree, &[]).model else { panic!("{text}") };
    let run = run(&model, &plan, masque_verdict::Show::Failed, &Budget::default(), &mut |_, _| {});
    let seconds = start.elapsed().as_secs_f64();
    let worlds: Vec<String> = run.worlds.iter().flatten().take(2).map(|w| w.kept.to_string()).collect();
    let verdicts: Vec<&str> = run.properties.iter().map(|p| p.verdict.word()).collect();
    println!("{name:<16} {seconds:>9.3} {:>10}  {} {}", run.peak_nodes, worlds.join(" "), verdicts.join(" "));
}
