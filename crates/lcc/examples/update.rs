//! Measures updates of the travel example with N airlines: `cargo run --release -p masque-lcc --example
//! update -- N..`. For each N all properties are checked once. Then each of several changes is made and
//! reverted repeatedly, with a question after each. Times are means: CPU times on Linux, elapsed times
//! elsewhere.

use std::time::Instant;

use masque_lcc::{Question, Session, Update};
use masque_verdict::Budget;

#[path = "../tests/support/mod.rs"]
mod support;

/// Number of times that each change is made and reverted.
const ROUNDS: u32 = 50;

/// CPU time of this thread in milliseconds, or the time since `start` where the system does not provide it.
fn cpu_time(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |nanoseconds| nanoseconds / 1e6)
}

/// Checks one property, or all of them if `None`.
fn ask(session: &mut Session, name: Option<&str>) {
    let budget = Budget::unlimited();
    match name {
        Some(name) => drop(session.check(&Question::Property(name.to_string()), false, &budget)),
        None => drop(session.check_all(false, &budget)),
    }
}

fn main() {
    let start = Instant::now();
    let text = |text: &str| vec![text.to_string()];
    let added = |what: &str| Update { add: text(what), ..Update::default() };
    let removed = |what: &str| Update { remove: text(what), ..Update::default() };
    let changes = [
        ("a rule about nothing", added("rule hd: (A, _, -nothing(A)) <- unheard_of(A).")),
        ("blacklisted", added("rule hd: (A, self, -access) <- blacklisted(A).  know hd: blacklisted(ta).")),
        ("no member", removed("know hd: member(ta, syta).")),
        ("card always valid", added("know visa: valid(_).")),
    ];
    for n_airlines in std::env::args().skip(1).filter_map(|arg| arg.parse().ok()) {
        let before = cpu_time(start);
        let Ok(mut session) = Session::open(support::travel_setup(n_airlines)) else { continue };
        let opened = cpu_time(start);
        ask(&mut session, None);
        println!(
            "N={n_airlines}: opened {:.2} ms, all properties {:.2} ms, {} states, {:.1} MB",
            opened - before,
            cpu_time(start) - opened,
            session.n_states(),
            session.bytes() as f64 / 1e6
        );
        for (what, update) in &changes {
            let back = Update { add: update.remove.clone(), remove: update.add.clone() };
            for name in [Some("deadlock_free"), Some("p1"), None] {
                let (effort, before) = (session.effort(), cpu_time(start));
                for _ in 0..ROUNDS {
                    for change in [update, &back] {
                        if session.update(change).is_err() {
                            return println!("{what}: the update is refused");
                        }
                        ask(&mut session, name);
                    }
                }
                let (n, after) = (f64::from(2 * ROUNDS), session.effort());
                println!(
                    "  {what:20} {:13} {:8.3} ms, {:.2} situations, {:.2} lists",
                    name.unwrap_or("all"),
                    (cpu_time(start) - before) / n,
                    (after.situations - effort.situations) as f64 / n,
                    (after.lists - effort.lists) as f64 / n,
                );
            }
        }
    }
}
