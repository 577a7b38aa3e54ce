//! Follows many sessions whose events have new values, and prints events per second and memory.
//!
//! `cargo run --release -p masque-monitor --example sessions -- 1000000 100000 1000`: events, sessions, and sessions that
//! are open at the same time.

use std::time::Instant;

use masque_lcc::{EventText, InstanceInput, open};
use masque_monitor::lcc::{Bounds, LccModel, LccMonitor, Observation};
use masque_monitor::{EventVerdict, InstanceStatus, Monitor};
use masque_text::Sources;
use masque_verdict::Budget;

/// A shop that confirms orders. The model leaves the number of an order open.
const SHOP: &str = "a(buyer, B) :: order(N) => a(shop, s) <- number(N) then
        confirm(N) <= a(shop, s) then a(buyer, B).
    a(shop, S) :: order(N) <= a(buyer, B) then confirm(N) => a(buyer, B) then a(shop, S).
    agent a(buyer, b).  server a(shop, s).  common number(_).
    rule s: (self, _, !send(confirm(N))) after out(order(N)).
    property orders : EF <out(order(_))>tt ;  property ends : AF final ;";

fn message(from: &str, to: &str, name: &str, number: usize) -> Observation {
    let text = EventText {
        from: Some(from.to_string()),
        to: Some(to.to_string()),
        message: Some(format!("{name}(n{number})")),
        ..EventText::default()
    };
    Observation::read(text).expect("a term")
}

/// Peak and current size of this process in megabytes, where the system reports them.
fn memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
    };
    match (field("VmHWM"), field("VmRSS")) {
        (Some(peak), Some(now)) => format!("peak {peak} MB, now {now} MB"),
        _ => "size of the process unknown".to_string(),
    }
}

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let [n_events, n_sessions, n_open] = <[usize; 3]>::try_from(args).unwrap_or([100_000, 10_000, 1_000]);
    let mut sources = Sources::default();
    let files = vec![sources.add("shop.lcc", SHOP).expect("a short text")];
    let opened = open(&mut sources, &InstanceInput { files, ..InstanceInput::default() });
    let model = LccModel::new(&sources, opened, &[], Bounds::default()).expect("a model without errors");
    let budget = Budget::unlimited();
    let per_session = (n_events / n_sessions).max(1);
    let mut open: Vec<(LccMonitor, usize)> = Vec::new();
    let (mut number, mut n_closed, mut n_owed) = (0, 0, 0);
    let start = Instant::now();
    let marks = [n_events / 10, n_events / 2, n_events];
    for event in 1..=n_events {
        if open.len() < n_open {
            open.push((model.open(), 0));
        }
        // The sessions take turns.
        let index = event % open.len();
        let (monitor, done) = &mut open[index];
        let observation = if *done % 2 == 0 {
            number += 1;
            message("b", "s", "order", number)
        } else {
            // The order of this session that is not confirmed yet.
            let owed = monitor.status(&budget).expect("no limit").obligations;
            let value = owed[0].instance.bindings[0].1[1..].parse().expect("a number");
            message("s", "b", "confirm", value)
        };
        let judgement = monitor.observe(&observation, &budget).expect("no limit");
        assert_eq!(judgement.event, EventVerdict::Possible);
        n_owed += judgement.obligations.iter().filter(|change| change.status == InstanceStatus::Owed).count();
        *done += 1;
        if *done == per_session {
            open.swap_remove(index);
            n_closed += 1;
        }
        if marks.contains(&event) {
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{event} events, {n_closed} sessions closed, {} open, {n_owed} instances: {:.0} events/s, {}, model {} MB",
                model.n_open(),
                event as f64 / seconds,
                memory(),
                model.bytes() >> 20,
            );
        }
    }
}
