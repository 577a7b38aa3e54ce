//! Measures the search for teams: `cargo run --release -p masque-lcc --example teams`. Five candidates for
//! each of three roles of the travel example make 125 teams. All properties of all teams are checked with
//! explanations of failures, for all teams together and for each team alone, and without explanations for
//! each team alone. Times are CPU times on Linux, elapsed times elsewhere.

use std::time::Instant;

use masque_lcc::{Request, Role, Session, TeamSelection, Text, teams};
use masque_verdict::Budget;

#[path = "../tests/support/mod.rs"]
mod support;

/// Number of repetitions of each measurement.
const ROUNDS: u32 = 20;

/// CPU time of this thread in milliseconds, or the time since `start` where the system does not provide it.
fn cpu_time(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = text.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64() * 1e3, |nanoseconds| nanoseconds / 1e6)
}

fn main() {
    let start = Instant::now();
    let (setup, roles) = support::travel_roles();
    let budget = Budget::unlimited();
    let request = Request { setup, roles, want: TeamSelection::All, ..Request::default() };
    let before = cpu_time(start);
    let mut together = None;
    for _ in 0..ROUNDS {
        together = teams(&request, &budget).ok();
    }
    let shared = (cpu_time(start) - before) / f64::from(ROUNDS);
    let Some(found) = together else { return };
    // Each team alone with explanations, then each team alone with verdicts only.
    let before = cpu_time(start);
    for _ in 0..ROUNDS {
        for team in &found.teams {
            let only = |(role, index): (&Role, &usize)| Role {
                candidates: vec![role.candidates[*index].clone()],
                ..role.clone()
            };
            let roles = request.roles.iter().zip(&team.candidates).map(only).collect();
            drop(teams(&Request { roles, ..request.clone() }, &budget));
        }
    }
    let alone = (cpu_time(start) - before) / f64::from(ROUNDS);
    let (before, mut situations, mut n_equal) = (cpu_time(start), 0, 0);
    for _ in 0..ROUNDS {
        (situations, n_equal) = (0, 0);
        for team in &found.teams {
            let mut setup = request.setup.clone();
            let members =
                request.roles.iter().zip(&team.candidates).map(|(role, index)| &role.candidates[*index]);
            setup
                .files
                .extend(members.map(|member| Text::new(member.name.clone(), member.statements.clone())));
            let Ok(mut session) = Session::open(setup) else { return };
            let replies = session.check_all(false, &budget);
            let verdicts = replies.iter().map(|reply| reply.checked.verdict);
            n_equal += usize::from(verdicts.eq(team.verdicts.iter().copied()));
            situations += session.effort().situations;
        }
    }
    let checks = (cpu_time(start) - before) / f64::from(ROUNDS);
    let n_working = found.teams.iter().filter(|team| team.works()).count();
    println!("{} teams, {n_working} work, {n_equal} answered as alone", found.teams.len());
    println!("together        {shared:8.1} ms, {} situations", found.work.situations);
    println!("one by one      {alone:8.1} ms; {:.1} times as much", alone / shared);
    println!(
        "verdicts only   {checks:8.1} ms, {situations} situations; {:.1} times as much",
        checks / shared
    );
}
