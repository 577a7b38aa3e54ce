//! Monitors of LCC protocols.

mod agent_team;
mod differential;
#[path = "../../../lcc/tests/exchanges/mod.rs"]
#[allow(dead_code, reason = "the tests of `masque-lcc` use all of it")]
mod exchanges;
mod goals;
mod graph;
#[path = "../../../lcc/tests/random/mod.rs"]
#[allow(dead_code, reason = "the tests of `masque-lcc` use all of it")]
mod random;
mod random_logs;
mod sessions;
mod support;
mod transcription;
