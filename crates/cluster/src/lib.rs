//! The distributed engine: the reachable states of a system, spread over workers.
//!
//! It is for systems that outgrow one machine's memory. A supervising process asks; workers, which
//! are processes on one or many machines, carry out every command together, each on the states that
//! it keeps, and exchange what crosses between them through timely dataflow.
//!
//! | files | do |
//! |---|---|
//! | `net` | rounds: how workers talk; the only use of dataflow |
//! | `store`, `graph`, `explore`, `edges` | keep states and transitions, and find them |
//! | `backwards` | walk transitions backwards |
//! | `shard`, `label`, `temporal`, `views` | the operators with which `masque-explicit` labels states |
//! | `product` | LTL and CTL*: the product with an automaton |
//! | `games`, `strategic`, `uniform` | ATL: games, with perfect and with imperfect information |
//! | `mu` | the mu-calculus: steps by what agents do |
//! | `region`, `paths` | answer what evidence asks |
//! | `file`, `stored`, `keep` | checkpoints |
//! | `command`, `worker` | what workers are asked, and how they do it |
//! | `crew`, `engine` | the supervisor: asks all, puts the answers together |
//! | `threads` | workers that are threads |
//! | `hosts`, `launch`, `joining`, `started`, `link`, `peers`, `process` | workers that are processes |
#![forbid(unsafe_code)]

mod backwards;
mod command;
mod crew;
mod edges;
mod engine;
mod explore;
mod file;
mod games;
mod graph;
mod hosts;
mod hunt;
mod joining;
mod keep;
mod label;
mod launch;
mod link;
mod mu;
mod net;
mod paths;
mod peers;
mod process;
mod product;
mod region;
mod shard;
mod started;
mod store;
mod stored;
mod strategic;
mod temporal;
mod threads;
mod uniform;
mod views;
mod worker;

pub use engine::{Cluster, Trouble, Workers};
pub use hosts::{Host, read_hosts};
pub use keep::Checkpoints;
pub use launch::{Launch, Places};
pub use process::{Supervisor, work};
