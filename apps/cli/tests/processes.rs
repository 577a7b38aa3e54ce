//! Tests that start services, workers and interrupted runs of the binary, and wait for them.

mod agents;
mod attack;
mod broker;
mod checkpoints;
mod cluster;
mod dialogue;
mod explore;
mod faults;
mod hosts;
mod interrupts;
mod journal;
mod json_schema;
mod leftovers;
mod lsp;
mod mcp;
mod memory;
mod race;
mod reading;
mod signals;
mod spread;
mod strangers;
mod terminal;
mod watch;
