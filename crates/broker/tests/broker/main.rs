//! Tests of the service from the view of its clients. They are one program, because linking takes longer than
//! running.

mod access;
mod bad;
mod crowd;
mod hostile;
mod imports;
mod methods;
mod rpc;
mod support;
