//! Arguments of `certify`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::values::{bytes, duration};

/// Arguments of `certify`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CERTIFY_EXAMPLES)]
pub struct CertifyArgs {
    /// Models, each given by its first file, and certificates, in any order.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Time limit for each certificate, with a unit, such as 90s or 5m.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Memory limit for the diagrams of a check, with a unit, such as 100M or 2G [default: 4G].
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub memory: Option<u64>,
}

const CERTIFY_EXAMPLES: &str = "\
Examples:
  masque check dc.ispl --certify proofs; masque certify dc.ispl proofs/*

Exit codes: 0 all confirmed, 1 some refused, 2 bad input, 3 a limit was reached.";
