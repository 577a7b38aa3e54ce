//! What changes cost in the travel example with N airlines: `cargo run --release -p masque-lcc
//! --example update -- N..`. For each N all properties are asked once. Then each of several changes
//! is made and taken back again and again, with a question after each; times are means, of the
//! processor where the system tells them (Linux), else of the clock.

use std::time::Instant;

use masque_lcc::{Question, Session, Update};
use masque_verdict::Budget;

#[path = "../tests/support/mod.rs"]
mod support;

/// Changes are made and taken back so often.
const ROUNDS: u32 = 50;

/// Milliseconds that this thread has spent on the processor.
fn now(start: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    told.map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |nanoseconds| nanoseconds / 1e6)
}

/// A question, or all of them.
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
        let before = now(start);
        let Ok(mut session) = Session::open(support::travel_setup(n_airlines)) else { continue };
        let opened = now(start);
        ask(&mut session, None);
        println!(
            "N={n_airlines}: opened {:.2} ms, all properties {:.2} ms, {} states, {:.1} MB",
            opened - before,
            now(start) - opened,
            session.n_states(),
            session.bytes() as f64 / 1e6
        );
        for (what, update) in &changes {
            let back = Update { add: update.remove.clone(), remove: update.add.clone() };
            for name in [Some("deadlock_free"), Some("p1"), None] {
                let (effort, before) = (session.effort(), now(start));
                for _ in 0..ROUNDS {
                    for change in [update, &back] {
                        if session.update(change).is_err() {
                            return println!("{what} is refused");
                        }
                        ask(&mut session, name);
                    }
                }
                let (n, after) = (f64::from(2 * ROUNDS), session.effort());
                println!(
                    "  {what:20} {:13} {:8.3} ms, {:.2} situations, {:.2} lists",
                    name.unwrap_or("all"),
                    (now(start) - before) / n,
                    (after.situations - effort.situations) as f64 / n,
                    (after.lists - effort.lists) as f64 / n,
                );
            }
        }
    }
}
