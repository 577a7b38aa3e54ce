//! Monitors of LCC protocols.

mod agent_team;
mod support;
