//! Monitors of interpreted systems.

mod differential;
mod examples;
mod gallery;
mod logs;
mod transcription;
mod views;
