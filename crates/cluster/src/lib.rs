//! The distributed engine: the reachable states of a system, spread over workers.
//!
//! It is for systems that outgrow one machine's memory. A supervising process sends commands; workers,
//! which are processes on one or many machines, carry out every command together, each on the states that
//! it keeps, and exchange messages through timely dataflow.
//!
//! | files | do |
//! |---|---|
//! | `net` | rounds of communication between workers; the only use of dataflow |
//! | `store`, `graph`, `explore`, `edges`, `hunt` | find and store states and transitions |
//! | `backwards` | backward search along transitions |
//! | `shard`, `label`, `temporal`, `views` | the operators with which `masque-explicit` labels states |
//! | `product` | LTL and CTL*: the product with an automaton |
//! | `games`, `strategic`, `uniform` | ATL: games, with perfect and with imperfect information |
//! | `mu` | the mu-calculus: steps restricted by the agents' actions |
//! | `region`, `paths` | the questions of evidence |
//! | `word_file`, `checkpoint_parts`, `manifest`, `checkpoint_directory`, `checkpoint` | checkpoints |
//! | `command`, `worker` | commands to workers, and how a worker carries them out |
//! | `worker_set`, `engine` | the supervisor: sends commands to all workers and combines their answers |
//! | `threads` | workers that are threads |
//! | `hosts`, `launch`, `joining`, `worker_process`, `protocol`, `peers`, `process` | workers that are processes |
//! | `token`, `introduction` | how a connection begins: both ends prove that they belong to the run |
//! | `connection`, `supervisor_watch`, `suspension` | how lost connections are noticed, and Ctrl-Z |
#![forbid(unsafe_code)]

mod backwards;
mod checkpoint;
mod checkpoint_directory;
mod checkpoint_parts;
mod command;
mod connection;
mod edges;
mod engine;
mod explore;
mod games;
mod graph;
mod hosts;
mod hunt;
mod introduction;
mod joining;
mod label;
mod launch;
mod manifest;
mod memory_watch;
mod mu;
mod net;
mod paths;
mod peers;
mod process;
mod product;
mod protocol;
mod region;
mod shard;
mod store;
mod strategic;
mod supervisor_watch;
#[cfg(unix)]
mod suspension;
mod temporal;
mod threads;
mod token;
mod uniform;
mod views;
mod word_file;
mod worker;
mod worker_process;
mod worker_set;

pub use checkpoint::Checkpoints;
pub use engine::{Cluster, WorkerFailure, Workers};
pub use hosts::{Host, read_hosts};
pub use launch::{Launch, Placement, Plan};
pub use process::{Supervisor, work};
pub use token::{Bytes, Digest, Token};
