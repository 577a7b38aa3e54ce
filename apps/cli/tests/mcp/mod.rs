//! `masque mcp`: every tool, resource and prompt, limits, cancellation, and input of all kinds.

mod client;
mod commit;
mod hostile;
mod pages;
mod schema;
mod tools;
