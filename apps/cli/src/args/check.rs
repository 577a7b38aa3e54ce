//! Arguments of `check`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use masque_driver::cluster::Plan;
use masque_driver::{EngineChoice, Request, Show, Work};

use super::options::Words;
use super::{CheckFormat, ClusterArgs, QuestionArgs, SelectArgs, ViewArgs, WorkArgs};
use crate::values::word;

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
#[command(after_help = CHECK_EXAMPLES, override_usage = "masque check [OPTIONS] <FILE>...")]
pub struct CheckArgs {
    /// Model files; `-` is standard input. All LCC files (.lcc, .pol, .mu) together form one model,
    /// unless `--each` is given.
    #[arg(required_unless_present_any = ["only", "skip"], value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Only read the model: report errors and its size, but do not decide properties.
    #[arg(long)]
    pub parse_only: bool,
    /// End the process when standard input ends.
    #[arg(long, hide = true)]
    pub end_with_input: bool,
    /// Temporary folder of the service that started this process, to be removed when standard input
    /// ends.
    #[arg(long, hide = true, value_name = "DIR", requires = "end_with_input")]
    pub remove_folder: Option<PathBuf>,

    /// The properties to decide.
    #[command(flatten)]
    pub question: QuestionArgs,
    /// Which properties are decided.
    #[command(flatten)]
    pub select: SelectArgs,
    /// Check each LCC file that declares a team separately, with its imports. Property files (.mu)
    /// apply to each of them. Other files without a team are left out, and a note names them.
    #[arg(long, help_heading = "Properties")]
    pub each: bool,
    /// Also count all states and transitions of LCC files.
    #[arg(long, help_heading = "Properties")]
    pub explore: bool,

    /// Engines and limits.
    #[command(flatten)]
    pub work: WorkArgs,
    /// Decide each property with every engine that supports it, and compare the results. This is a
    /// test of Masque itself; it is slow.
    #[arg(long, help_heading = "Engines and limits")]
    pub cross_check: bool,
    /// Stop as soon as every property is decided. States are not counted, and deadlocks, overflows
    /// and vacuous properties are not reported.
    #[arg(long, help_heading = "Engines and limits")]
    pub quick: bool,

    /// Write a certificate for each verdict to a file of this folder, for `masque certify`.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["quick", "cross_check"], help_heading = "Certificates")]
    pub certify: Option<PathBuf>,
    /// Confirm the certificate of each verdict in a process of its own, which does not use the engines.
    #[arg(long, conflicts_with_all = ["quick", "cross_check"], help_heading = "Certificates")]
    pub certified: bool,

    /// Several processes.
    #[command(flatten)]
    pub cluster: Box<ClusterArgs>,

    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub format: CheckFormat,
    /// Also report times, memory and sizes of decision diagrams.
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Verdicts for which evidence is shown: counterexamples or witnesses.
    #[arg(long, value_name = "WHICH", value_parser = word(SHOW), default_value = "failed", help_heading = "Output")]
    pub evidence: Show,
    /// Format of the evidence. Text is part of the report unless --evidence-out is given. Other
    /// formats are written to the file of --evidence-out; without it, they are written to standard
    /// output, and the report is written to standard error.
    #[arg(long, value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    pub evidence_format: EvidenceAs,
    /// Write the evidence of all files to this file, not into the report.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub evidence_out: Option<PathBuf>,
    /// How evidence is written as text.
    #[command(flatten)]
    pub view: ViewArgs,
    /// Messages to treat as errors: exit with 2 if there are any.
    #[arg(long, value_name = "WHAT", help_heading = "Output")]
    pub deny: Option<Deny>,
}

const CHECK_EXAMPLES: &str = "\
Examples:
  masque check dc.ispl
  masque check dc.ispl -D N=10 --timeout 1m
  masque check protocol.lcc team.lcc rules.pol --properties travel.mu
  masque check --each *.lcc
  masque check dc.ispl --property 'AG(odd -> GK({Crypt1, Crypt2}, odd))'
  masque check dc.ispl --only anonymous 'safe*' --skip safe_for_now
  masque check *.ispl --format json > report.json
  masque check *.ispl --format sarif > masque.sarif
  masque check huge.ispl --quick
  masque check dc.ispl --certified
  masque check big.ispl --processes 3
  masque check big.ispl --cluster hosts.txt --checkpoint /scratch/big
  masque check dc.ispl --full --view table
  masque check dc.ispl --evidence all --evidence-format html --evidence-out dc.html
  masque check travel.lcc team.lcc --evidence-format html --evidence-out charts.html

Exit codes, the most severe of all files:
  2  a file cannot be read or has errors
  1  some property fails
  3  some property is unknown: a limit was hit, or no engine decides it
  0  all properties hold";

impl CheckArgs {
    /// The request for each run. `plan` says how workers of the distributed engine are started.
    pub fn request(&self, plan: Option<Plan>) -> Request {
        let request = self.select.select(self.question.request(&self.work));
        let engine = if plan.is_some() { EngineChoice::Named("cluster") } else { request.work.engine };
        let work = Work {
            engine,
            cross_check: self.cross_check,
            quick: self.quick,
            certify: self.certify.is_some() || self.certified,
            evidence: self.evidence,
            explore: self.explore,
            cluster: plan,
            ..request.work
        };
        Request { work, ..request }
    }
}

/// Formats of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EvidenceAs {
    /// For reading; long paths are abridged.
    Text,
    /// The report of `--format json`, with the complete evidence.
    Json,
    /// A graph for Graphviz.
    Dot,
    /// A page with drawings, for a browser.
    Html,
    /// Runs in the Informal Trace Format of Apalache and Quint, one per file.
    Itf,
    /// Runs as Mermaid diagrams, one per file.
    Mermaid,
    /// Runs as a table: states by variables.
    Csv,
}

/// Messages to treat as errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// All warnings.
    Warnings,
}

const SHOW: Words<Show> = &[
    ("all", Show::All, "Counterexamples, and witnesses of properties that hold if a path or state shows it"),
    ("failed", Show::Failed, "Counterexamples of properties that fail"),
    ("none", Show::None, "None"),
];
