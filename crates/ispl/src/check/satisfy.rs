//! Satisfiability.
