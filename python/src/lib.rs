//! The native part of the Python package `masque_mc`. It is private: Python code in `python/masque_mc` wraps it.
//!
//! | file | contents |
//! |---|---|
//! | `model` | loading and checking, and the results of a check |
//! | `states` | questions about states |
//! | `session` | sessions of LCC protocols |
//! | `monitor` | monitors of protocols and interpreted systems |
//! | `waiting` | work without the interpreter lock that Python can interrupt |
//! | `errors` | errors as exceptions of the package |
#![forbid(unsafe_code)]

mod errors;
mod model;
mod monitor;
mod session;
mod states;
mod waiting;

use std::alloc::System;

use masque_memory::GuardedAllocator;
use pyo3::prelude::pymodule;

/// A check whose memory the system refuses ends with `unknown` instead of ending the interpreter.
#[global_allocator]
static ALLOCATOR: GuardedAllocator<System> = GuardedAllocator(System);

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::model::{NativeModel, NativeReport, load, loads, own_process};
    #[pymodule_export]
    use crate::monitor::NativeMonitor;
    #[pymodule_export]
    use crate::session::NativeSession;
    #[pymodule_export]
    use crate::states::NativeStates;
}
