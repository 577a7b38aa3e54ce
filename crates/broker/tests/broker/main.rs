//! The service as its clients see it. One program, since linking it takes longer than running it.

mod bad;
mod crowd;
mod door;
mod imports;
mod methods;
mod rpc;
mod support;
