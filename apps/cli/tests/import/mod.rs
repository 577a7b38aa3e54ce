//! `masque import`: descriptions of agents by other programs become protocols that check.

mod cards;
mod command;
mod graphs;
