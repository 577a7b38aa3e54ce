//! Tests of the command line inside this process or with short runs of the binary. `processes` has the others.

#[macro_use]
mod support;
mod bdi;
mod binary;
mod browser;
mod certificates;
mod ci;
mod commands;
mod gallery;
mod import;
mod json_schema;
mod languages;
mod lcc;
mod long_runs;
mod modules;
mod monitor;
mod old_documents;
mod pages;
mod parallel;
mod quick;
mod regress;
mod teams;
mod test_command;
mod traces;
mod xsd;
