//! Monitors of interpreted systems.

mod differential;
mod logs;
